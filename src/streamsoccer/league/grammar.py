"""Phrases to sentences: a small grammar whose choices depend on what happened, and whose people stay known.

A phrase file holds rules. `@name` opens one, each line below it is one way to say it:

    ~ [how=header,K] *2 {K} saves the {fine} header

`~` keeps the line for the test world; conditions in brackets must hold (`key`, `!key`, `key=a/b`, `key>=2`; a name of
somebody holds where he is known); `*2` makes it twice as likely. In the text `{P}` is a player with his team behind
him, `{p}` he alone, `{Q}` `{K}` `{X}` ... others by name alone, `{T}` and `{O}` teams; `{corners:th}` a fact as an
ordinal, `{corners:n}` as a number in words, `{score}` a fact as it is, and any other name a rule; (a|b) is a choice.
Lines at the top of a rule are said more often than those below: real writers have favourites too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from numpy.random import Generator

from streamsoccer.errors import DataError
from streamsoccer.league.phrases import bench, chances, defence, discipline, flow, goals, set_pieces

__all__ = ["Grammar", "Line", "Person", "Sentence", "load", "polish"]

_LINE = re.compile(r"(?P<new>~ )?(?:\[(?P<when>[^\]]*)\] )?(?:\*(?P<weight>\d+) )?(?P<text>.+)")
_CONDITION = re.compile(r"(?P<no>!?)(?P<key>[A-Za-z0-9 ]+?)(?:(?P<op>=|>=|<=)(?P<value>.+))?")
_SLOT = re.compile(r"\{([^{}]+)\}|\(([^()|]*(?:\|[^()|]*)+)\)")
_FAVOURITE = 1.1  # how much rarer a line is for standing below others: the weight is 1 / (1 + place) ** _FAVOURITE
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_NUMBERS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_MARK = re.compile("\x01([^\x02]*)\x02")
_START = re.compile(r"(?:^|(?<=[.!?] ))([a-z])")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody or some team that a sentence can name: how each of the three texts writes it."""

    token: str  # PLAYER, TEAM, COACH or REFEREE
    name: str
    hash: str = ""

    def mark(self) -> str:
        return f"\x01{self.token}\x03{self.name}\x03{self.hash}\x02"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One text three times: with names, with hashes, and with placeholders alone."""

    description: str
    identified: str
    anonymized: str


@dataclass(frozen=True, slots=True)
class Line:
    """One way to say something."""

    text: str
    new: bool  # for the test world alone
    when: tuple[tuple[bool, str, str, str], ...]
    weight: float


class Grammar:
    """Rules by name."""

    def __init__(self, rules: Mapping[str, tuple[Line, ...]]) -> None:
        self.rules = dict(rules)

    def tell(
        self,
        rule: str,
        facts: Mapping[str, object],
        people: Mapping[str, Person],
        rng: Generator,
        *,
        everything: bool,
    ) -> str | None:
        """A text with its people marked, or nothing where no line holds; `everything` adds the test world's lines."""
        lines = self.rules.get(rule)
        if lines is None:
            raise DataError(f"the phrases have no rule {rule!r}", remedy="add it, or correct the name in braces")
        weights = [
            line.weight if (everything or not line.new) and _holds(line, facts, people) else 0.0 for line in lines
        ]
        while (total := sum(weights)) > 0.0:
            at, left = 0, float(rng.random()) * total
            while at < len(weights) - 1 and (left >= weights[at] or weights[at] == 0.0):
                left -= weights[at]
                at += 1
            made = self._fill(lines[at].text, facts, people, rng, everything)
            if made is not None:
                return made
            weights[at] = 0.0  # something inside it has no way to be said
        return None

    def _fill(
        self,
        text: str,
        facts: Mapping[str, object],
        people: Mapping[str, Person],
        rng: Generator,
        everything: bool,
    ) -> str | None:
        parts: list[str] = []
        here = 0
        for slot in _SLOT.finditer(text):
            parts.append(text[here : slot.start()])
            here = slot.end()
            if slot[2] is not None:
                options = slot[2].split("|")
                made: str | None = options[int(rng.integers(len(options)))]
            else:
                made = self._slot(slot[1], facts, people, rng, everything)
            if made is None:
                return None
            parts.append(made)
        return "".join(parts) + text[here:]

    def _slot(
        self,
        name: str,
        facts: Mapping[str, object],
        people: Mapping[str, Person],
        rng: Generator,
        everything: bool,
    ) -> str | None:
        if name in people:
            who = people[name].mark()
            return f"{who} ({people['P of'].mark()})" if name == "P" else who
        if name == "p":
            return people["P"].mark() if "P" in people else None
        if name in self.rules:
            return self.tell(name, facts, people, rng, everything=everything)
        key, _, form = name.partition(":")
        value = facts.get(key)
        if value is None:
            return None
        if form.startswith(("th", "n")):
            words = _ORDINALS if form == "th" else _NUMBERS
            if not isinstance(value, int) or not 1 <= value <= len(words):
                return None
            word = words[value - 1]
            return word.capitalize() if form.endswith("cap") else word
        return str(value)


def _holds(line: Line, facts: Mapping[str, object], people: Mapping[str, Person]) -> bool:
    return all(_true(*each, facts, people) for each in line.when)


def _true(no: bool, key: str, op: str, value: str, facts: Mapping[str, object], people: Mapping[str, Person]) -> bool:
    if key in people:
        return not no
    known = facts.get(key)
    if not op:
        return bool(known) is not no
    if op == "=":
        return (known is not None and str(known) in value.split("/")) is not no
    if not isinstance(known, int):
        return False
    return known >= int(value) if op == ">=" else known <= int(value)


@cache
def load() -> Grammar:
    """All phrase files together."""
    rules: dict[str, tuple[Line, ...]] = {}
    for text in (each.TEXT for each in (bench, chances, defence, discipline, flow, goals, set_pieces)):
        for name, lines in _rules(text):
            if name in rules:
                raise DataError(f"the phrases have two rules {name!r}", remedy="rename one of them")
            rules[name] = lines
    return Grammar(rules)


def _rules(text: str) -> Iterable[tuple[str, tuple[Line, ...]]]:
    for block in text.strip().split("\n@"):
        name, *lines = block.removeprefix("@").split("\n")
        made: list[Line] = []
        for each in lines:
            if not each.strip():
                continue
            match = _LINE.fullmatch(each)
            if match is None:
                raise DataError(f"not a phrase: {each!r}", where=f"rule {name}")
            place = len(made)
            made.append(
                Line(
                    text=match["text"],
                    new=match["new"] is not None,
                    when=tuple(_condition(part, name) for part in (match["when"] or "").split(",") if part),
                    weight=float(match["weight"] or 1) / (1.0 + place) ** _FAVOURITE,
                )
            )
        yield name, tuple(made)


def _condition(text: str, rule: str) -> tuple[bool, str, str, str]:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise DataError(f"not a condition: {text!r}", where=f"rule {rule}")
    return bool(match["no"]), match["key"], match["op"] or "", match["value"] or ""


def polish(marked: str) -> Sentence:
    """The three texts of what the grammar made: capitals at the start of sentences, 'an' before vowels."""
    text = re.sub(r"\s+", " ", marked).strip()
    text = _START.sub(lambda found: found[1].upper(), text)
    text = re.sub(r"\b([Aa]) (?=([a-z]+))", _article, text)
    return Sentence(*(_MARK.sub(partial(_write, form), text) for form in ("name", "identified", "anonymized")))


def _article(found: re.Match[str]) -> str:
    vowel = found[2][0] in "aeiou" and not found[2].startswith(("one", "uni", "use", "eu"))
    return f"{found[1]}n " if vowel else f"{found[1]} "


def _write(form: str, mark: re.Match[str]) -> str:
    token, name, hashed = mark[1].split("\x03")
    return {"name": name, "identified": f"[{token}_{hashed}]", "anonymized": f"[{token}]"}[form]

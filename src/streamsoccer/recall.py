"""What a line tells of earlier: 'another corner', 'their third of the match', 'about six minutes after an earlier one'.

Such words are about a thing that stands elsewhere in the text, so they are read over the whole of it: `another` names
the thing and whose it is, what follows counts it and says how long ago the one before was. Lists of what a side has
done ('a shot on target and two throw-ins') are read here too, thing by thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamsoccer.actions import Label
from streamsoccer.domain import Side
from streamsoccer.reading import NUMBER, ORDINAL, Sentence, value
from streamsoccer.wording import SINCE, THIS_HALF, Act, Outcome

__all__ = ["Recalled", "Way", "recalled"]


class Way(StrEnum):
    """What of a thing is told."""

    NOW = "now"  # it happens
    COUNT = "count"  # so often, with this one
    EARLIER = "earlier"  # and one came before, so many minutes ago where that is told


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    """A thing that can be counted: which act with which outcome, and SoccerNet's own label where the words name one."""

    act: Act
    outcome: Outcome | None = None
    label: Label | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """One thing told; `span` is in the source text."""

    way: Way
    span: tuple[int, int]
    thing: Thing
    side: Side
    count: int | None = None
    minutes: float | None = None
    half: int | None = None


_THINGS: tuple[tuple[Thing, str], ...] = (
    (
        Thing(act=Act.SHOT, outcome=Outcome.ON_TARGET, label=Label.SHOT_ON_TARGET),
        r"(?:shots?|efforts?|attempts?) on target",
    ),
    (
        Thing(act=Act.SHOT, outcome=Outcome.OFF_TARGET, label=Label.SHOT_OFF_TARGET),
        r"(?:shots?|efforts?|attempts?) off target",
    ),
    (Thing(act=Act.FREE_KICK, label=Label.INDIRECT_FREE_KICK), r"indirect free[- ]kicks?"),
    (Thing(act=Act.FREE_KICK, label=Label.DIRECT_FREE_KICK), r"direct free[- ]kicks?"),
    (Thing(act=Act.YELLOW), r"(?:yellow cards?|bookings?|yellows?)"),
    (Thing(act=Act.RED), r"red cards?"),
    (Thing(act=Act.CARD), r"cards?"),
    (Thing(act=Act.THROW_IN), r"throw-ins?"),
    (Thing(act=Act.SUBSTITUTION), r"(?:substitutions?|changes?)"),
    (Thing(act=Act.CLEARANCE, label=Label.CLEARANCE), r"clearances?"),
    (Thing(act=Act.PENALTY, label=Label.PENALTY), r"(?:penalt(?:y|ies)|penalty kicks?)"),
    (Thing(act=Act.CORNER), r"corners?(?: kicks?)?"),
    (Thing(act=Act.GOAL, outcome=Outcome.GOAL), r"goals?(?! ?-?(?:kick|keep|mouth|post|line))"),
    (Thing(act=Act.FOUL), r"fouls?"),
    (Thing(act=Act.OFFSIDE), r"offsides?"),
)
_THING = "|".join(f"(?P<t{place}>{words})" for place, (_, words) in enumerate(_THINGS))
_TEAM = "\ue001"
_ANOTHER = re.compile(rf"\b(?:another|yet another|one more)(?: {_TEAM})? (?:{_THING})\b")
_OWN = r"\b(?:their|the|his)"
_FOR_THEM = r"for (?:them|him)"
_NTH = re.compile(
    rf"{_OWN} (?P<n>{ORDINAL})(?: {_FOR_THEM})? (?:of|in) (?:the|this) (?:match|game|evening|afternoon|day)"
    rf"|{_OWN} (?P<n2>{ORDINAL})(?: {_FOR_THEM}| so far| today)\b"
)
_MAKES = re.compile(rf"\b(?:makes|made) (?:it )?(?P<n>{NUMBER}) (?:{_THING})?")
_BEFORE = r"(?:an|the|their|his) (?:earlier|last|previous) one"
_AGO = re.compile(
    rf"\b(?P<n>{NUMBER}) minutes? (?:after|on from|since) {_BEFORE}\b"
    rf"|\b{_BEFORE} (?:came|was) (?:about |around |some )?(?P<n2>{NUMBER}) minutes? (?:ago|earlier|before)"
)
_LISTED = re.compile(rf"\b(?:(?P<n>{NUMBER})|an?) (?:{_THING})\b")
_DONE = re.compile(r"\b(?:have|has) (?:also |now |already )?(?:had|been shown|committed|made|taken|won|scored)\b")


def _thing(match: re.Match[str]) -> Thing | None:
    for place, (thing, _) in enumerate(_THINGS):
        if match[f"t{place}"]:
            return thing
    return None


def recalled(text: Sequence[Sentence]) -> Iterator[Recalled]:
    """All of it, in the order of the text."""
    last: tuple[Thing, Side] | None = None
    dated = any(_AGO.search(each.text) for each in text)
    for sentence in text:
        words = sentence.text
        found: list[tuple[int, Recalled]] = []
        for match in _ANOTHER.finditer(words):
            thing, main = _thing(match), sentence.main(match.start())
            side = Side.NONE if main is None else main.side
            if thing is None or side is Side.NONE:
                continue
            last = thing, side
            span = sentence.span(*match.span())
            found.append((match.start(), Recalled(way=Way.NOW, span=span, thing=thing, side=side)))
            if not dated:
                found.append((match.start() + 1, Recalled(way=Way.EARLIER, span=span, thing=thing, side=side)))
        if last is not None:
            found.extend(_of_it(sentence, *last))
        elif _DONE.search(words):
            found.extend(_listed(sentence))
        for _, each in sorted(found, key=lambda pair: pair[0]):
            yield each


def _of_it(sentence: Sentence, thing: Thing, side: Side) -> Iterator[tuple[int, Recalled]]:
    """Its number in the match, and how long ago the one before came."""
    words = sentence.text
    for match in _NTH.finditer(words):
        number = value(match["n"] or match["n2"])
        span = sentence.span(*match.span())
        yield match.start(), Recalled(way=Way.COUNT, span=span, thing=thing, side=side, count=number)
    for match in _MAKES.finditer(words):
        named = _thing(match) or thing
        span = sentence.span(*match.span())
        yield match.start(), Recalled(way=Way.COUNT, span=span, thing=named, side=side, count=value(match["n"]))
    for match in _AGO.finditer(words):
        minutes = float(value(match["n"] or match["n2"]))
        span = sentence.span(*match.span())
        yield match.start(), Recalled(way=Way.EARLIER, span=span, thing=thing, side=side, minutes=minutes)


def _listed(sentence: Sentence) -> Iterator[tuple[int, Recalled]]:
    """What a side has done in some minutes: one of a thing is that it happened, more of it a count."""
    words = sentence.text
    since, half = SINCE.search(words), THIS_HALF.search(words)
    if since is None and half is None and not re.search(r"\b(?:last|past) minute\b", words):
        return
    minutes = None if half is not None and since is None else 1.0 if since is None else float(value(since["m"]))
    for match in _LISTED.finditer(words):
        thing, main = _thing(match), sentence.main(match.start())
        if thing is None or main is None or main.side is Side.NONE:
            continue
        number = value(match["n"]) if match["n"] else 1
        span = sentence.span(*match.span())
        if number == 1:
            yield match.start(), Recalled(way=Way.NOW, span=span, thing=thing, side=main.side)
        else:
            yield (
                match.start(),
                Recalled(
                    way=Way.COUNT,
                    span=span,
                    thing=thing,
                    side=main.side,
                    count=number,
                    minutes=minutes,
                    half=0 if minutes is None else None,
                ),
            )

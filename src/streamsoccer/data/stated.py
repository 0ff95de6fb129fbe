"""What a sentence states, read back from its words alone: who did what how often, the score, an ordinal, minutes.

The reader knows football's words and English numbers, not the sentences that the rules are made of, so that it can
judge those and any rephrasing of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from streamsoccer.actions import Label
from streamsoccer.domain import Placeholder, Side

__all__ = ["PLACEHOLDER", "Stated", "kind_of", "loosely", "read"]

PLACEHOLDER = re.compile(r"\[[A-Z]+\]")
_CARDINALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
             "twelfth")  # fmt: skip
_NUMBER = {**{word: value for value, word in enumerate(_CARDINALS)}, "a": 1, "an": 1, "single": 1}
_TIMES = {"once": 1, "twice": 2}
_ORDINAL = {word: value for value, word in enumerate(_ORDINALS, start=1)}
_COUNT = rf"(?P<count>{'|'.join((*_CARDINALS, 'a', 'an', 'single'))}|\d+)"
_RANK = re.compile(rf"\b(?:(?P<word>{'|'.join(_ORDINALS)})|(?P<digits>\d+)(?:st|nd|rd|th))\b")
_SCORE = re.compile(r"\b(\d+)\s?[-–:]\s?(\d+)\b")
_MINUTES = re.compile(rf"\b{_COUNT} minutes?\b")
_LAST_MINUTE = re.compile(r"\b(?:last|past) minute\b")
_MAKES = re.compile(rf"\b(?:makes|made) (?:it )?{_COUNT}\b")
_CARD = "card"

# In this order: a phrase is taken out of the text as it is found, so the longer ones stand first. A player sent off
# after a second booking is one phrase, or 'second' would be an ordinal.
_NOUNS: tuple[tuple[str, str], ...] = (
    (Label.SECOND_YELLOW_CARD, r"players? sent off (?:after|for) (?:a )?second (?:bookings?|yellows?)"),
    (Label.SHOT_ON_TARGET, r"(?:shots?|efforts?|attempts?) on target"),
    (Label.SHOT_OFF_TARGET, r"(?:shots?|efforts?|attempts?) off target"),
    (Label.INDIRECT_FREE_KICK, r"indirect free[ -]kicks?"),
    (Label.DIRECT_FREE_KICK, r"direct free[ -]kicks?"),
    (Label.YELLOW_CARD, r"yellow cards?"),
    (Label.RED_CARD, r"red cards?"),
    (Label.THROW_IN, r"throw-ins?"),
    (Label.SUBSTITUTION, r"substitutions?"),
    (Label.CLEARANCE, r"clearances?"),
    (Label.PENALTY, r"penalt(?:y|ies)"),
    (Label.CORNER, r"corners?(?: kicks?)?"),
    (Label.GOAL, r"goals?"),
    (Label.FOUL, r"fouls?"),
    (Label.OFFSIDE, r"offsides?"),
    (_CARD, r"cards?"),
)
_COUNTED = tuple((label, re.compile(rf"\b{_COUNT} (?:more |further )?(?:{nouns})\b")) for label, nouns in _NOUNS)
_NAMED = tuple((label, re.compile(rf"\b(?:{nouns})\b")) for label, nouns in _NOUNS)
# Words that say an action without its noun.
_VERBS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (Label.SHOT_ON_TARGET, re.compile(r"\bon target\b")),
    (Label.SHOT_OFF_TARGET, re.compile(r"\b(?:off|wide of the) target\b")),
    (Label.GOAL, re.compile(r"\bscor(?:e|es|ed|ing)\b(?! is\b)")),
    (Label.CLEARANCE, re.compile(r"\bclear(?:s|ed)?\b")),
)
_OFFSIDE = re.compile(rf"\boffside (?:(?P<times>once|twice)|{_COUNT} times)\b|(?<=\bbeen caught )offside\b(?! again)")


def kind_of(label: Label) -> str:
    """What a sentence would call it: any card is a card."""
    return _CARD if label in (Label.YELLOW_CARD, Label.RED_CARD, Label.SECOND_YELLOW_CARD) else label.value


@dataclass(slots=True)
class Stated:
    """What was read. A fact is (place of the placeholder before it, label or 'card', number); place -1 is none."""

    facts: list[tuple[int, str, int]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)  # all kinds of action that the words name, with a number or without
    scores: list[tuple[int, int, int]] = field(default_factory=list)  # place of the placeholder behind it, and goals
    ranks: list[int] = field(default_factory=list)  # 'third', 'that makes three'
    minutes: list[int] = field(default_factory=list)

    def by_side(self, placeholders: Sequence[Placeholder]) -> dict[tuple[Side, str], int]:
        """The facts by the side that the placeholder before them stands for; what stands twice is added up."""
        counts: Counter[tuple[Side, str]] = Counter()
        for place, label, number in self.facts:
            side = placeholders[place].side if 0 <= place < len(placeholders) else Side.NONE
            counts[side, label] += number
        return dict(counts)


def _value(found: re.Match[str]) -> int:
    word = found["count"]
    return int(word) if word.isdigit() else _NUMBER[word]


def read(text: str) -> Stated:
    """What this sentence states. Placeholders are counted from 0 in the order of the text."""
    stated = Stated()
    places = [each.start() for each in PLACEHOLDER.finditer(text)]
    rest = PLACEHOLDER.sub(lambda each: " " * len(each[0]), text).lower()

    def before(position: int) -> int:
        return sum(place < position for place in places) - 1

    def take(pattern: re.Pattern[str]) -> list[re.Match[str]]:
        nonlocal rest
        found = list(pattern.finditer(rest))
        rest = pattern.sub(lambda each: "#" * len(each[0]), rest)
        return found

    for each in take(_SCORE):
        behind = before(each.start()) + 1
        stated.scores.append((behind if behind < len(places) else -1, int(each[1]), int(each[2])))
    stated.minutes += [*(_value(each) for each in take(_MINUTES)), *(1 for _ in take(_LAST_MINUTE))]
    facts: list[tuple[int, int, str, int]] = []
    for each in take(_OFFSIDE):
        number = _TIMES[each["times"]] if each["times"] else _value(each) if each["count"] else 1
        facts.append((each.start(), before(each.start()), Label.OFFSIDE.value, number))
    makes = [(each.start(), _value(each)) for each in _MAKES.finditer(rest)]
    for label, pattern in _COUNTED:
        for each in take(pattern):
            number = _value(each)
            if any(start < each.start() <= start + 12 for start, _ in makes) and "match" in rest[each.end() :]:
                stated.named.add(str(label))  # 'that makes three corners in the match' numbers the last of them
                continue
            facts.append((each.start(), before(each.start()), str(label), number))
    if "match" in rest:
        stated.ranks += [number for _, number in makes]
    stated.facts = [fact[1:] for fact in sorted(facts)]
    for label, pattern in (*_NAMED, *_VERBS):
        if take(pattern):
            stated.named.add(str(label))
    stated.named |= {label for _, label, _ in stated.facts}
    for each in take(_RANK):
        stated.ranks.append(_ORDINAL[each["word"]] if each["word"] else int(each["digits"]))
    return stated


# --- a looser reading, for sentences that a model wrote --------------------------------------------------------------

_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
_LOOSE_NUMBER = {word: value for value, word in enumerate((*_CARDINALS, *_TEENS))} | _ORDINAL
_LOOSE_NUMBER |= {"once": 1, "twice": 2, "thrice": 3, "pair": 2, "couple": 2, "brace": 2, "double": 2, "trio": 3}
_LOOSE_NUMBER |= {"triple": 3, "hat-trick": 3, "dozen": 12, "no": 1}  # 'no' is a negation more often than a number
_LOOSE_WORD = re.compile(r"hat-trick|[a-z]+|\d+")
_STEMS = tuple(
    (kind, re.compile(stem))
    for kind, stem in (
        ("goal", r"\bgoals?\b(?! ?-?(?:kick|keep|mouth|post|line))|\bscor(?:e|es|ed|er|ing)\b|\bnet(?:s|ted)?\b"),
        ("on target", r"\bon[- ]target\b"),
        ("corner", r"\bcorners?\b"),
        ("foul", r"\bfoul"),
        ("offside", r"\boff-?\s?side"),
        ("penalty", r"\bpenalt|\bspot[- ]kick"),
        ("throw-in", r"\bthrow[- ]?in"),
        ("free kick", r"\bfree[- ]kick"),
    )
)


def loosely(text: str) -> Counter[str]:
    """Numbers above one (as often as they stand), scores and kinds of action (once each), however they are worded."""
    words = PLACEHOLDER.sub(" ", text).lower()
    found = Counter(f"score {each[1]}-{each[2]}" for each in _SCORE.finditer(words))
    words = _SCORE.sub(" ", words)
    for word in _LOOSE_WORD.findall(words):
        value = int(word) if word.isdigit() else _LOOSE_NUMBER.get(word, 1)
        if value != 1:
            found[f"number {value}"] += 1
    found.update({kind: 1 for kind, stem in _STEMS if stem.search(words)})
    return found

"""Deterministic targets: plain sentences that state what the labels say and no more, with placeholders for names.

A sentence is chosen among equals by a hash of the sample's ID, so that a corpus varies and a rebuild does not. The
fields that a sentence states go beside it, and nothing that rephrases it may change them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamsoccer.actions import CARDS, Label
from streamsoccer.data.placeholders import TOKEN, fill
from streamsoccer.domain import MatchSheet, Placeholder, Side, Tally

__all__ = ["Counts", "Text", "current", "historical", "in_words", "ordinal", "recent"]

Counts = Mapping[tuple[Side, Label], int]
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MOST_FACTS = 4  # a sentence that lists more is no commentary


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A sentence with placeholders, the same with the names that are known, and the placeholders in order."""

    target: str
    named: str
    placeholders: tuple[Placeholder, ...]


def in_words(number: int) -> str:
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def ordinal(number: int) -> str:
    """'third', '12th', '21st'."""
    if 0 < number < len(_ORDINALS):
        return _ORDINALS[number]
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _choose(key: str, options: Sequence[str]) -> str:
    return options[int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % len(options)]


def _finish(sentence: str, sides: Sequence[Side], sheet: MatchSheet) -> Text:
    """The sentence starts with a capital, and each of its [TEAM]s in order is of the side given for it."""
    sentence = sentence[0].upper() + sentence[1:]
    placeholders = tuple(
        Placeholder(token=token, side=side, name=sheet.team(side))
        for token, side in zip(TOKEN.findall(sentence), sides, strict=True)
    )
    return Text(target=sentence, named=fill(sentence, placeholders), placeholders=placeholders)


def current(anonymized: str, description: str, placeholders: tuple[Placeholder, ...]) -> Text:
    """The aligned caption itself, its spaces put in order: it was written after the event, as this track wants."""
    target = " ".join((anonymized or description).split())
    return Text(target=target, named=" ".join((description or anonymized).split()), placeholders=placeholders)


# --- recent ----------------------------------------------------------------------------------------------------------


def _some(number: int, one: str, many: str) -> str:
    article = "an" if one[0] in "aeiou" else "a"
    return f"{article} {one}" if number == 1 else f"{in_words(number)} {many}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{in_words(number)} times")


# In order of what a summary would not leave out: verb (after 'have'), and what stands behind it.
_FACTS: tuple[tuple[Label, str, str, str], ...] = (
    (Label.GOAL, "scored", "goal", "goals"),
    (Label.PENALTY, "had", "penalty", "penalties"),
    (Label.RED_CARD, "been shown", "red card", "red cards"),
    (
        Label.SECOND_YELLOW_CARD,
        "had",
        "player sent off after a second booking",
        "players sent off after second bookings",
    ),
    (Label.SHOT_ON_TARGET, "had", "shot on target", "shots on target"),
    (Label.SHOT_OFF_TARGET, "had", "shot off target", "shots off target"),
    (Label.CORNER, "had", "corner", "corners"),
    (Label.YELLOW_CARD, "been shown", "yellow card", "yellow cards"),
    (Label.SUBSTITUTION, "made", "substitution", "substitutions"),
    (Label.OFFSIDE, "been caught offside", "", ""),
    (Label.DIRECT_FREE_KICK, "had", "direct free kick", "direct free kicks"),
    (Label.FOUL, "committed", "foul", "fouls"),
    (Label.INDIRECT_FREE_KICK, "had", "indirect free kick", "indirect free kicks"),
    (Label.CLEARANCE, "made", "clearance", "clearances"),
    (Label.THROW_IN, "had", "throw-in", "throw-ins"),
)
_RANK = {fact[0]: rank for rank, fact in enumerate(_FACTS)}
NAMEABLE = frozenset(_RANK)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _clause(facts: Sequence[tuple[Label, int]]) -> str:
    """What one side has done: 'had two shots on target and a corner and committed a foul'."""
    by_verb: dict[str, list[str]] = {}
    for label, number in facts:
        _, verb, one, many = _FACTS[_RANK[label]]
        by_verb.setdefault(verb, []).append(_some(number, one, many) if one else _times(number))
    return _joined([f"{verb} {_joined(things)}" for verb, things in by_verb.items()])


def chosen_facts(counts: Counts) -> list[tuple[Side, Label, int]]:
    """The facts that the summary states: the weightiest first, at most four, each side's own if both did something."""
    facts = sorted(
        (
            (side, label, number)
            for (side, label), number in counts.items()
            if label in NAMEABLE and side is not Side.NONE
        ),
        key=lambda fact: (_RANK[fact[1]], -fact[2], fact[0]),
    )
    chosen: list[tuple[Side, Label, int]] = [*facts[:_MOST_FACTS]]
    if len({fact[0] for fact in chosen}) == 1:
        chosen += [fact for fact in facts[_MOST_FACTS:] if fact[0] is not chosen[0][0]][:1]
    return chosen


_TWO_SIDES = (
    "{when}, [TEAM] have {first}, while [TEAM] have {second}.",
    "[TEAM] have {first} {when}; [TEAM] have {second}.",
    "{when} it is [TEAM] who have {first}; [TEAM] for their part have {second}.",
    "[TEAM] have {first}, and [TEAM] have {second}, all {when}.",
    "{when}, [TEAM] have {first}. [TEAM], meanwhile, have {second}.",
)
_ONE_SIDE = (
    "{when}, [TEAM] have {first}.",
    "[TEAM] have {first} {when}.",
    "{when} it is [TEAM] who have {first}.",
    "It is [TEAM] who have {first} {when}.",
)
_WHEN = ("in the last {time}", "within the last {time}", "in the past {time}")
_WHEN_EARLY = ("since the start of the half", "since this half began")


def recent(
    sample: str, facts: Sequence[tuple[Side, Label, int]], minutes: int, state: Tally, sheet: MatchSheet
) -> Text:
    """A summary of the last minutes, or of the half so far where they are 0; with the score if there was a goal."""
    first = facts[0][0]
    mine = [(label, number) for side, label, number in facts if side is first]
    theirs = [(label, number) for side, label, number in facts if side is not first]
    time = "minute" if minutes == 1 else f"{in_words(minutes)} minutes"
    when = _choose(sample + "when", _WHEN if minutes else _WHEN_EARLY).format(time=time)
    sides = [first]
    if theirs:
        also = "also " if mine == theirs else ""
        sentence = _choose(sample, _TWO_SIDES).format(when=when, first=_clause(mine), second=also + _clause(theirs))
        sides.append(first.other)
    else:
        sentence = _choose(sample, _ONE_SIDE).format(when=when, first=_clause(mine))
    if any(label is Label.GOAL for _, label, _ in facts):
        home, away = state.score
        if home == away:
            sentence += f" It is {home}-{away}."
        else:
            sentence += f" It is {max(home, away)}-{min(home, away)} to [TEAM]."
            sides.append(Side.HOME if home > away else Side.AWAY)
    return _finish(sentence, sides, sheet)


# --- historical ------------------------------------------------------------------------------------------------------

# What happens now, in words that hold for the second time and every later one.
_AGAIN: dict[Label, tuple[str, tuple[str, ...]]] = {
    Label.CORNER: ("corners", ("[TEAM] take another corner", "another corner for [TEAM]")),
    Label.GOAL: ("goals", ("[TEAM] score another goal", "another goal for [TEAM]")),
    Label.SHOT_ON_TARGET: (
        "shots on target",
        ("[TEAM] have another shot on target", "another shot on target from [TEAM]"),
    ),
    Label.SHOT_OFF_TARGET: (
        "shots off target",
        ("[TEAM] have another shot off target", "another shot off target from [TEAM]"),
    ),
    Label.FOUL: ("fouls", ("[TEAM] commit another foul", "another foul by [TEAM]")),
    Label.OFFSIDE: ("offsides", ("another offside against [TEAM]", "the flag is up for another [TEAM] offside")),
    Label.SUBSTITUTION: ("substitutions", ("[TEAM] make another substitution", "another substitution for [TEAM]")),
    Label.PENALTY: ("penalties", ("[TEAM] have another penalty", "another penalty for [TEAM]")),
    Label.CLEARANCE: ("clearances", ("[TEAM] make another clearance", "another clearance by [TEAM]")),
    Label.THROW_IN: ("throw-ins", ("[TEAM] take another throw-in", "another throw-in for [TEAM]")),
    Label.DIRECT_FREE_KICK: (
        "direct free kicks",
        ("[TEAM] take another direct free kick", "another direct free kick for [TEAM]"),
    ),
    Label.INDIRECT_FREE_KICK: (
        "indirect free kicks",
        ("[TEAM] take another indirect free kick", "another indirect free kick for [TEAM]"),
    ),
}
_CARD = ("cards", ("another card for [TEAM]", "[TEAM] are shown another card"))
_RELATED = (
    "{now}, {minutes} after an earlier one; it is their {ordinal} of the match.",
    "{now}: their {ordinal} of the match, {minutes} after an earlier one.",
    "{now}. It is their {ordinal} of the match, and an earlier one came {minutes} ago.",
    "{now}, and that makes {count} in the match; an earlier one came {minutes} ago.",
    "{now}, the {ordinal} for them in this match, {minutes} on from an earlier one.",
)
RELATABLE = frozenset(_AGAIN) | CARDS


def historical(sample: str, label: Label, side: Side, count: int, minutes: int, sheet: MatchSheet) -> Text:
    """What happens now as the next of its kind: its number in the match, and minutes since the earlier record's own."""
    nouns, openings = _CARD if label in CARDS else _AGAIN[label]
    sentence = _choose(sample, _RELATED).format(
        now=_choose(sample + "now", openings),
        minutes=f"about {in_words(minutes)} minutes",
        ordinal=ordinal(count),
        count=f"{in_words(count)} {nouns}",
    )
    return _finish(sentence, [side], sheet)

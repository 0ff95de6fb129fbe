"""What is held back before it is said: a line that contradicts a sure fact, and one that was said already.

Sure is what the event feed tells: score, cards, substitutions, goals; with it they are complete as of the cutoff. What
is predicted is unsure and never blocks. Everything else that a line claims cannot be told at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from streamsoccer.actions import Label
from streamsoccer.claims import Act, Claim, Kind, claims
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Action, Placeholder, Track
from streamsoccer.feed import FeedLine, tally_of
from streamsoccer.settle import Fact, Finding, Truth, check, facts_of

__all__ = ["contradictions", "normal", "repeated"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SURE_ACTS = frozenset({Act.GOAL, Act.YELLOW, Act.SECOND_YELLOW, Act.RED, Act.SUBSTITUTION})
_SECONDS_BEFORE = 30.0  # the times of a feed and of a video are not the same to the second


def normal(text: str) -> str:
    """A sentence as it is compared for repetition: letter case and spaces say nothing."""
    return " ".join(text.casefold().split())


def repeated(sentence: str, said: Iterable[str], alike: float) -> str | None:
    """The first of these sentences that says the same: as a set of words, so much of both is common (Jaccard)."""
    words = set(_WORD.findall(sentence))
    for each in said:
        other = set(_WORD.findall(each))
        if sentence == each or len(words & other) >= alike * len(words | other) > 0:
            return each
    return None


def contradictions(
    text: str,
    placeholders: Sequence[Placeholder],
    *,
    track: Track,
    at: MatchTime,
    since: MatchTime,
    lines: Iterable[FeedLine],
) -> list[Claim]:
    """The claims of a sentence that the feed's lines, all that are known, contradict; `since`: its event's start."""
    lines = list(lines)
    gone = {each.cancels for each in lines if each.cancels}
    actions = [
        Action(label=each.label, side=each.side, at=each.at, available_at=each.available_at)
        for each in lines
        if each.label is not None and each.id not in gone
    ]
    facts = _facts(actions)
    begin = MatchTime(since.half, max(0.0, since.seconds - _SECONDS_BEFORE))
    near = tuple(each for each in facts if MatchTime(each.half, each.second) >= begin)
    truth = Truth(
        facts=near if track is Track.CURRENT else facts,
        tally=tally_of(lines),
        past=facts,
        complete=True,
        at=(at.half, at.seconds),
    )
    found = claims(text, placeholders=placeholders)
    return [each for each in found if _settled(each) and _against(each, truth)]


def _facts(actions: Sequence[Action]) -> tuple[Fact, ...]:
    """In order of time; a second yellow card sends off."""
    ordered = sorted(actions, key=lambda each: each.at)
    red = [
        Fact(act=Act.RED, side=each.side, half=each.at.half, second=each.at.seconds)
        for each in ordered
        if each.label is Label.SECOND_YELLOW_CARD
    ]
    return tuple(sorted([*facts_of(ordered), *red], key=lambda each: (each.half, each.second)))


def _against(claim: Claim, truth: Truth) -> bool:
    """Whether it is not so. A feed is whole from the start: where it has told nothing yet, nothing came before."""
    if not truth.past and (claim.kind is Kind.EARLIER or (claim.kind is Kind.ACTION and claim.past)):
        return True
    return check(claim, truth) is Finding.CONTRADICTS


def _settled(claim: Claim) -> bool:
    """Whether a feed can tell it at all; a player's own count needs names, which stand in no generated sentence."""
    match claim.kind:
        case Kind.SCORE | Kind.MARGIN:
            return True
        case Kind.COUNT:
            return claim.act in _SURE_ACTS and not claim.by_player
        case Kind.ACTION | Kind.EARLIER:
            return claim.act in _SURE_ACTS
        case Kind.MEMBER:
            return False

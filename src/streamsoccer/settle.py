"""A claim against what is known: it agrees, contradicts, or cannot be told.

`check` compares one claim with a `Truth` made of core nouns, so that it serves annotated matches as well as a live one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamsoccer.actions import Label
from streamsoccer.claims import Claim, Kind
from streamsoccer.domain import Action, Side, Tally
from streamsoccer.wording import CARDS, Act, Outcome

__all__ = ["Fact", "Finding", "Truth", "check", "facts_of"]


class Finding(StrEnum):
    """What the truth says of a claim."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One thing that is known to have happened."""

    act: Act
    side: Side = Side.NONE
    outcome: Outcome | None = None
    player: str = ""
    other: str = ""
    half: int = 0
    second: float = 0.0
    count: int | None = None
    label: Label | None = None  # SoccerNet's, where it is such an action


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """What a sentence is checked against: what it is about, the state after that, and all that happened up to then."""

    facts: tuple[Fact, ...] = ()
    tally: Tally | None = None
    past: tuple[Fact, ...] = ()  # from the start of the match, `facts` included
    complete: bool = False  # nothing but `facts` happened: an act that is not among them is a contradiction
    at: tuple[int, float] | None = None  # half and second that it is said; else the last of what happened


_LABEL_FACTS: dict[Label, tuple[Act, Outcome | None]] = {
    Label.GOAL: (Act.GOAL, Outcome.GOAL),
    Label.SHOT_ON_TARGET: (Act.SHOT, Outcome.ON_TARGET),
    Label.SHOT_OFF_TARGET: (Act.SHOT, Outcome.OFF_TARGET),
    Label.CORNER: (Act.CORNER, None),
    Label.DIRECT_FREE_KICK: (Act.FREE_KICK, None),
    Label.INDIRECT_FREE_KICK: (Act.FREE_KICK, None),
    Label.THROW_IN: (Act.THROW_IN, None),
    Label.PENALTY: (Act.PENALTY, None),
    Label.FOUL: (Act.FOUL, None),
    Label.OFFSIDE: (Act.OFFSIDE, None),
    Label.YELLOW_CARD: (Act.YELLOW, None),
    Label.SECOND_YELLOW_CARD: (Act.SECOND_YELLOW, None),
    Label.RED_CARD: (Act.RED, None),
    Label.SUBSTITUTION: (Act.SUBSTITUTION, None),
    Label.CLEARANCE: (Act.CLEARANCE, None),
}


def facts_of(actions: Iterable[Action]) -> tuple[Fact, ...]:
    """The facts that annotated actions give."""
    found = []
    for action in actions:
        if (known := _LABEL_FACTS.get(action.label)) is not None:
            act, outcome = known
            half, second = action.at.half, action.at.seconds
            found.append(Fact(act=act, side=action.side, outcome=outcome, half=half, second=second, label=action.label))
    return tuple(found)


_COUNTED: dict[Act, tuple[Label, ...]] = {
    Act.CORNER: (Label.CORNER,),
    Act.OFFSIDE: (Label.OFFSIDE,),
    Act.FOUL: (Label.FOUL,),
    Act.THROW_IN: (Label.THROW_IN,),
    Act.PENALTY: (Label.PENALTY,),
    Act.YELLOW: (Label.YELLOW_CARD, Label.SECOND_YELLOW_CARD),
    Act.RED: (Label.RED_CARD, Label.SECOND_YELLOW_CARD),
    Act.CARD: (Label.YELLOW_CARD, Label.SECOND_YELLOW_CARD, Label.RED_CARD),
}
# Which acts a claim of one can mean, besides that one.
_SAME: dict[Act, frozenset[Act]] = {
    Act.SHOT: frozenset({Act.GOAL}),
    Act.YELLOW: frozenset({Act.SECOND_YELLOW}),
    Act.RED: frozenset({Act.SECOND_YELLOW}),
    Act.CARD: frozenset({Act.YELLOW, Act.SECOND_YELLOW, Act.RED}),
    Act.CLEARANCE: frozenset({Act.INTERCEPTION}),
    Act.INTERCEPTION: frozenset({Act.CLEARANCE}),
}
_OPEN = frozenset({Act.CROSS, Act.PASS, Act.POSSESSION, Act.INTERCEPTION, Act.KEEPER, Act.GOAL_KICK, Act.INJURY})
_ON = frozenset({Outcome.ON_TARGET, Outcome.SAVED, Outcome.GOAL})
_OFF = frozenset({Outcome.OFF_TARGET, Outcome.WIDE, Outcome.OVER, Outcome.WOODWORK})


def check(claim: Claim, truth: Truth) -> Finding:
    """What the truth says of one claim."""
    match claim.kind:
        case Kind.MEMBER:
            return Finding.CONTRADICTS
        case Kind.COUNT:
            return _check_count(claim, truth)
        case Kind.SCORE | Kind.MARGIN:
            return _check_score(claim, truth)
        case Kind.ACTION:
            return _check_action(claim, truth)
        case Kind.EARLIER:
            return _check_earlier(claim, truth)


def _found(right: bool) -> Finding:
    return Finding.AGREES if right else Finding.CONTRADICTS


def _check_action(claim: Claim, truth: Truth) -> Finding:
    assert claim.act is not None
    pool = truth.past if claim.past else truth.facts
    wanted = {claim.act} | _SAME.get(claim.act, frozenset())
    alike = [each for each in pool if each.act in wanted] + _implied(claim.act, pool)
    if not alike:
        certain = truth.complete if not claim.past else bool(truth.past)
        return Finding.CONTRADICTS if certain and claim.act not in _OPEN else Finding.UNKNOWN
    if claim.side is not Side.NONE and any(each.side is not Side.NONE for each in alike):
        alike = [each for each in alike if each.side is claim.side]
        if not alike:
            return Finding.CONTRADICTS
    if claim.act in CARDS | {Act.OFFSIDE} and claim.player and any(each.player for each in alike):
        alike = [each for each in alike if each.player == claim.player]
        if not alike:
            return Finding.CONTRADICTS
    if claim.half is not None and any(each.half for each in alike):
        return _found(any(each.half == claim.half for each in alike))
    if claim.count is not None and any(each.count is not None for each in alike):
        return _found(any(each.count == claim.count for each in alike))
    if claim.outcome is None:
        return Finding.AGREES
    findings = {_compare(claim.outcome, each.outcome) for each in alike}
    for best in (Finding.AGREES, Finding.UNKNOWN):
        if best in findings:
            return best
    return Finding.CONTRADICTS


def _compare(said: Outcome, known: Outcome | None) -> Finding:
    if known is None or (
        (said is Outcome.BLOCKED) != (known is Outcome.BLOCKED) and known in (Outcome.ON_TARGET, Outcome.OFF_TARGET)
    ):
        return Finding.UNKNOWN  # SoccerNet calls a blocked shot either
    if said is known:
        return Finding.AGREES
    if known is Outcome.ON_TARGET:
        return _found(said in _ON)
    if known is Outcome.OFF_TARGET:
        return _found(said in _OFF)
    if said in (Outcome.ON_TARGET, Outcome.OFF_TARGET):
        return _found(known in (_ON if said is Outcome.ON_TARGET else _OFF))
    return Finding.CONTRADICTS


def _implied(act: Act, pool: Sequence[Fact]) -> list[Fact]:
    """What follows: a foul or an offside gives the others a free kick, and what a keeper saved he has or had."""
    if act is Act.FREE_KICK:
        return [replace(each, act=act, side=each.side.other) for each in pool if each.act in (Act.FOUL, Act.OFFSIDE)]
    if act is Act.KEEPER:
        stopped = [each for each in pool if each.act is Act.SHOT and each.outcome is Outcome.SAVED]
        return [replace(each, act=act, side=each.side.other, outcome=None) for each in stopped]
    return []


def _check_count(claim: Claim, truth: Truth) -> Finding:
    assert claim.act is not None and claim.count is not None
    if claim.by_player or claim.minutes is not None or claim.half is not None:
        if not truth.past or (claim.by_player and not any(each.player for each in truth.past)):
            return Finding.UNKNOWN
        return _found(_number(claim, truth) == claim.count)
    sides = (Side.HOME, Side.AWAY) if claim.side is Side.NONE else (claim.side,)
    if truth.tally is not None:
        if claim.act is Act.GOAL:
            return _found(sum(truth.tally.of(side).goals for side in sides) == claim.count)
        if claim.act is Act.SUBSTITUTION:
            return _found(sum(truth.tally.of(side).substitutions for side in sides) == claim.count)
        if (labels := _COUNTED.get(claim.act) if claim.label is None else (claim.label,)) is not None:
            counts = [truth.tally.of(side).counts.get(label, 0) for side in sides for label in labels]
            return _found(sum(counts) == claim.count)
    if truth.complete and truth.past:
        return _found(_number(claim, truth) == claim.count)
    return Finding.UNKNOWN


def _number(claim: Claim, truth: Truth) -> int:
    """How often it happened, by the player or side that the claim names, since when it says."""
    at = truth.at or (truth.past[-1].half, truth.past[-1].second)
    half = at[0] if claim.half == 0 or claim.minutes is not None else claim.half
    since = at[1] - claim.minutes * 60 if claim.minutes is not None else 0.0
    return sum(
        (not claim.by_player or not claim.player or each.player == claim.player)
        and (half is None or each.half == half)
        and each.second >= since
        for each in _alike(claim, truth.past)
    )


def _alike(claim: Claim, past: Sequence[Fact]) -> list[Fact]:
    """What happened of the kind that is counted; a goal is one, not the shot that it came from."""
    assert claim.act is not None
    wanted = {claim.act} | (_SAME[claim.act] if claim.act in CARDS | {Act.CARD} else frozenset())
    return [
        each
        for each in past
        if (each.act in wanted if claim.label is None else each.label is claim.label)
        and (claim.side is Side.NONE or each.side is claim.side)
    ]


def _check_earlier(claim: Claim, truth: Truth) -> Finding:
    """Whether one came before the last: at about that time, to the minute either way, where a time is told."""
    if not truth.past:
        return Finding.UNKNOWN
    half, second = truth.at or (truth.past[-1].half, truth.past[-1].second)
    earlier = _alike(claim, truth.past)[:-1]
    if claim.minutes is None:
        return _found(bool(earlier))
    return _found(any(each.half == half and abs(second - each.second - 60 * claim.minutes) <= 60 for each in earlier))


def _check_score(claim: Claim, truth: Truth) -> Finding:
    if truth.tally is None:
        return Finding.UNKNOWN
    home, away = truth.tally.score
    own, foreign = (away, home) if claim.side is Side.AWAY else (home, away)
    if claim.score is not None:
        if claim.relative and claim.side is not Side.NONE:
            return _found(claim.score == (own, foreign))
        return _found(claim.score in ((home, away), (own, foreign)))
    assert claim.margin is not None
    low, high = claim.margin
    if claim.side is Side.NONE:
        return _found(home == away)
    return _found(low <= own - foreign <= high)

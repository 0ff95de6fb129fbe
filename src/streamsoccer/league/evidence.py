"""Deeds as the facts that claims are checked against: what a simulated match knows, in the core's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamsoccer.claims import Act, Fact, Outcome, Truth
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Action, Coach, MatchSheet, Player, Side, Tally
from streamsoccer.league.scene import awarded
from streamsoccer.league.telling import Told
from streamsoccer.league.truth import Deed, DeedKind, Trace
from streamsoccer.league.truth import Outcome as Ended
from streamsoccer.league.world import Fixture

__all__ = ["facts", "sheet", "truth"]

_OUTCOMES = {
    Ended.GOAL: Outcome.GOAL,
    Ended.SAVED: Outcome.SAVED,
    Ended.WIDE: Outcome.WIDE,
    Ended.OVER: Outcome.OVER,
    Ended.POST: Outcome.WOODWORK,
    Ended.BLOCKED: Outcome.BLOCKED,
}
_PLAIN = {
    DeedKind.CROSS: Act.CROSS,
    DeedKind.CORNER: Act.CORNER,
    DeedKind.FREE_KICK: Act.FREE_KICK,
    DeedKind.THROW_IN: Act.THROW_IN,
    DeedKind.GOAL_KICK: Act.GOAL_KICK,
    DeedKind.PENALTY: Act.PENALTY,
    DeedKind.FOUL: Act.FOUL,
    DeedKind.YELLOW: Act.YELLOW,
    DeedKind.SECOND_YELLOW: Act.SECOND_YELLOW,
    DeedKind.RED: Act.RED,
    DeedKind.SUBSTITUTION: Act.SUBSTITUTION,
    DeedKind.INJURY: Act.INJURY,
    DeedKind.CLEARANCE: Act.CLEARANCE,
    DeedKind.INTERCEPTION: Act.INTERCEPTION,
    DeedKind.CLAIM: Act.KEEPER,
}
_RESTARTS = {DeedKind.CORNER: Act.CORNER, DeedKind.GOAL_KICK: Act.GOAL_KICK, DeedKind.THROW_IN: Act.THROW_IN}


def sheet(fixture: Fixture) -> MatchSheet:
    """The match sheet, with the names that sentences use."""
    sides = (Side.HOME, Side.AWAY)
    return MatchSheet(
        home=fixture.home.name,
        away=fixture.away.name,
        venue=fixture.stadium.name,
        referee=fixture.referee.name,
        players=tuple(
            Player(hash=each.hash, name=each.name, side=side) for side in sides for each in fixture.club(side).squad
        ),
        coaches=tuple(Coach(name=fixture.club(side).coach, side=side) for side in sides),
    )


def facts(fixture: Fixture, trace: Trace, deed: Deed) -> Iterator[Fact]:
    """What a deed says in the core's words; a ball that is out says to whom it goes."""

    def fact(act: Act, side: Side = deed.side, outcome: Outcome | None = None, count: int | None = None) -> Fact:
        return Fact(
            act=act,
            side=side,
            outcome=outcome,
            player=_name(fixture, deed.side, deed.player) if side is deed.side else "",
            other=_name(fixture, deed.other_side, deed.other),
            half=trace.half,
            second=deed.at,
            count=count,
        )

    match deed.kind:
        case DeedKind.SHOT:
            yield fact(Act.SHOT, outcome=_OUTCOMES.get(deed.outcome))
        case DeedKind.GOAL:
            own = bool(deed.detail.get("own_goal"))
            made = fact(Act.GOAL, outcome=Outcome.GOAL)
            yield (
                made
                if not own
                else Fact(act=made.act, side=made.side, outcome=made.outcome, half=made.half, second=made.second)
            )
        case DeedKind.SAVE:
            yield Fact(act=Act.SHOT, side=deed.side.other, outcome=Outcome.SAVED, half=trace.half, second=deed.at)
        case DeedKind.BLOCK:
            yield fact(Act.INTERCEPTION)  # of a pass, a cross or a shot; that a shot was blocked is said by the shot
        case DeedKind.TACKLE if deed.outcome is Ended.WON:
            yield fact(Act.INTERCEPTION)
        case DeedKind.PASS if deed.outcome is Ended.COMPLETE:
            yield fact(Act.POSSESSION)
            yield fact(Act.PASS)
        case DeedKind.PASS:
            yield fact(Act.PASS)
        case DeedKind.BALL_OUT if not deed.detail.get("stopped"):
            restart, side = awarded(trace, deed)
            yield fact(_RESTARTS[restart], side)
        case DeedKind.OFFSIDE:
            yield fact(Act.OFFSIDE)
            if deed.other is not None and deed.other != deed.player:  # whose pass it was
                passer = _name(fixture, deed.other_side, deed.other)
                yield Fact(act=Act.PASS, side=deed.side, player=passer, half=trace.half, second=deed.at)
        case DeedKind.KICK_OFF if deed is trace.deeds[0]:
            yield fact(Act.HALF_START)
        case DeedKind.PERIOD_END:
            yield fact(Act.HALF_END, Side.NONE)
        case DeedKind.ADDED_TIME:
            yield fact(Act.ADDED_TIME, Side.NONE, count=int(deed.detail.get("minutes", 0)))
        case kind if kind in _PLAIN:
            yield fact(_PLAIN[kind])
            if kind is DeedKind.FOUL and deed.detail.get("penalty"):
                yield fact(Act.PENALTY, deed.side.other)


def truth(fixture: Fixture, halves: Sequence[Trace], told: Told) -> Truth:
    """What a sentence is checked against: the deeds that it is about, and all that happened up to the last of them."""
    now: list[Fact] = []
    past: list[Fact] = []
    tally = Tally()
    last = max(told.moment.deeds)
    for trace in halves:
        if trace.half > told.half:
            break
        deeds = trace.deeds if trace.half < told.half else trace.deeds[: last + 1]
        for place, deed in enumerate(deeds):
            found = list(facts(fixture, trace, deed))
            if trace.half == told.half and place in told.moment.deeds:
                now.extend(found)
            if deed.kind is not DeedKind.BALL_OUT:  # a restart counts when it is taken
                past.extend(found)
            if deed.label is not None:
                at = MatchTime(trace.half, deed.at)
                tally = tally.plus(Action(label=deed.label, side=deed.label_side, at=at, available_at=at))
    return Truth(facts=tuple(now), tally=tally, past=tuple(past), complete=True)


def _name(fixture: Fixture, side: Side, player: int | None) -> str:
    return "" if player is None or side is Side.NONE else fixture.club(side).squad[player].name

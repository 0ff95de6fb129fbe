"""Deeds as the facts that claims are checked against: what a simulated match knows, in the core's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamsoccer.clock import MatchTime
from streamsoccer.deeds import Deed as Plain
from streamsoccer.deeds import facts_of_deed
from streamsoccer.domain import Action, Coach, MatchSheet, Player, Side, Tally
from streamsoccer.league.scene import awarded
from streamsoccer.league.telling import Told
from streamsoccer.league.truth import Deed, DeedKind, Trace
from streamsoccer.league.world import Fixture
from streamsoccer.settle import Fact, Truth

__all__ = ["facts", "sheet", "truth"]


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
    restart = None
    if deed.kind is DeedKind.BALL_OUT and not deed.detail.get("stopped"):
        kind, side = awarded(trace, deed)
        restart = kind.value, side
    yield from facts_of_deed(_plain(fixture, trace, deed), first=deed is trace.deeds[0], restart=restart)


def _plain(fixture: Fixture, trace: Trace, deed: Deed) -> Plain:
    """A deed as a row of a truth file has it, with the names that sentences use."""
    return Plain(
        half=trace.half,
        at=deed.at,
        kind=deed.kind.value,
        side=deed.side,
        player=_name(fixture, deed.side, deed.player),
        other=_name(fixture, deed.other_side, deed.other),
        other_side=deed.other_side,
        outcome=deed.outcome.value,
        detail=deed.detail,
        label=deed.label,
        label_side=deed.label_side,
    )


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

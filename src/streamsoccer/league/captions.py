"""Labels-caption.json of a match, as SoccerNet and MatchTime have it: the sheet of the match and its live text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from numpy.random import Generator

from streamsoccer.actions import CaptionClass
from streamsoccer.clock import MatchTime, format_seconds
from streamsoccer.domain import Side
from streamsoccer.league.telling import Told, tell
from streamsoccer.league.truth import DeedKind, Trace
from streamsoccer.league.world import Fixture, stream

__all__ = ["Played", "write"]

_C = CaptionClass
_LABELS: dict[CaptionClass, str] = {
    _C.CORNER: "corner",
    _C.SUBSTITUTION: "substitution",
    _C.YELLOW_CARD: "y-card",
    _C.SECOND_YELLOW_CARD: "yr-card",
    _C.RED_CARD: "r-card",
    _C.GOAL: "soccer-ball",
    _C.OWN_GOAL: "soccer-ball-own",
    _C.INJURY: "injury",
    _C.PENALTY: "penalty",
    _C.PENALTY_MISSED: "penalty-missed",
    _C.START: "whistle",
    _C.END: "whistle",
}
_IMPORTANT = frozenset({_C.GOAL, _C.OWN_GOAL, _C.RED_CARD, _C.SECOND_YELLOW_CARD, _C.PENALTY, _C.PENALTY_MISSED})
_CLASSES = {_C.PENALTY_MISSED: _C.PENALTY}  # as the real files count it
_FACTS = {DeedKind.GOAL: "1", DeedKind.YELLOW: "2", DeedKind.RED: "3", DeedKind.SECOND_YELLOW: "3"}


class Played(Protocol):
    """A match that has been played: what the words need of it."""

    @property
    def fixture(self) -> Fixture: ...

    @property
    def halves(self) -> tuple[Trace, ...]: ...


def write(match: Played) -> dict[str, Any]:
    """The whole file as an object."""
    fixture, halves = match.fixture, match.halves
    final = halves[-1].deeds[-1].score if halves and halves[-1].deeds else (0, 0)
    rows = [_row(fixture, halves, number, each) for number, each in enumerate(tell(fixture, halves))]
    rows.sort(key=lambda row: MatchTime.parse(row["gameTime"]))
    return {
        "UrlLocal": f"{fixture.league}/{fixture.season}/{_folder(fixture, final)}/",
        "timestamp": fixture.date,
        "score": [str(each) for each in final],
        "round": str(fixture.round),
        "teams": [fixture.home.name, fixture.away.name],
        "gameDate": fixture.date,
        "gameHomeTeam": fixture.home.name,
        "gameAwayTeam": fixture.away.name,
        "referee": [fixture.referee.name],
        "venue": [fixture.stadium.name],
        "lineup": {
            "home": _lineup(fixture, halves, Side.HOME),
            "away": _lineup(fixture, halves, Side.AWAY),
        },
        "annotations": rows,
    }


def _folder(fixture: Fixture, final: tuple[int, int]) -> str:
    return f"{fixture.date} {fixture.home.name} {final[0]} - {final[1]} {fixture.away.name}"


def _row(fixture: Fixture, halves: Sequence[Trace], number: int, told: Told) -> dict[str, Any]:
    trace = next(each for each in halves if each.half == told.half)
    moment = told.moment
    first = trace.deeds[moment.deeds[0]].step
    rng = stream(
        fixture.seed, "timing", fixture.world.value, fixture.index, told.half, first, moment.kind.value, number
    )
    written = _within(moment.known + _delay(rng), trace)
    near = _within(moment.at + _miss(rng), trace)
    row: dict[str, Any] = {
        "important": str(moment.kind in _IMPORTANT).lower(),
        "gameTime": _game_time(told.half, written),
        "contrastive_aligned_gameTime": _game_time(told.half, near),
        "label": _LABELS.get(moment.kind, ""),
        "class": _CLASSES.get(moment.kind, moment.kind).value,
        "description": told.sentence.description,
        "identified": told.sentence.identified,
        "anonymized": told.sentence.anonymized,
        "visibility": "visible",
        "position": str(int(written) * 1000),
    }
    if rng.random() < 0.8:
        row["event_aligned_gameTime"] = _game_time(told.half, _within(moment.at + float(rng.normal(0.0, 1.5)), trace))
    return row


def _delay(rng: Generator) -> float:
    """Live text comes late, at times very late, and now and then its clock runs ahead."""
    if rng.random() < 0.12:
        return float(rng.uniform(-25.0, 0.0))
    return float(rng.gamma(1.6, 9.0))


def _miss(rng: Generator) -> float:
    """How far an aligned time lies from its action: mostly seconds, at times the wrong action."""
    return float(rng.normal(0.0, 2.5)) if rng.random() < 0.8 else float(rng.normal(0.0, 20.0))


def _within(seconds: float, trace: Trace) -> float:
    return min(max(0.0, seconds), max(0.0, trace.seconds - 1.0))


def _game_time(half: int, seconds: float) -> str:
    return f"{half} - {format_seconds(float(int(seconds)))}"


def _lineup(fixture: Fixture, halves: Sequence[Trace], side: Side) -> dict[str, Any]:
    club = fixture.club(side)
    facts = _facts(fixture, halves, side)
    return {
        "tactic": club.formation,
        "players": [
            {
                "hash": player.hash,
                "name": player.name,
                "short_name": player.short_name,
                "long_name": player.long_name,
                "shirt_number": str(player.number),
                "captain": player.captain,
                "country": player.country,
                "facts": facts.get(number, []),
            }
            for number, player in enumerate(club.squad)
        ],
        "coach": [{"name": club.coach, "hash": "", "country": ""}],
    }


def _facts(fixture: Fixture, halves: Sequence[Trace], side: Side) -> Mapping[int, list[dict[str, str]]]:
    """What the sheet says of each player after the match: goals, cards and changes, with their minute."""
    found: dict[int, list[dict[str, str]]] = {}
    club = fixture.club(side)
    for trace in halves:
        for deed in trace.deeds:
            if deed.side is not side or deed.player is None or deed.detail.get("own_goal"):
                continue
            minute = f"{int((trace.clock_start + deed.at) // 60) + 1}'"
            if deed.kind is DeedKind.SUBSTITUTION and deed.other is not None:
                on, off = club.squad[deed.player], club.squad[deed.other]
                found.setdefault(deed.other, []).append(
                    {"type": "4", "time": minute, "description": f"Replaced by {on.name}"}
                )
                found.setdefault(deed.player, []).append(
                    {"type": "5", "time": minute, "description": f"Came on for {off.name}"}
                )
            elif (kind := _FACTS.get(deed.kind)) is not None:
                text = {"1": "Goal", "2": "Yellow Card", "3": "Red Card"}[kind]
                found.setdefault(deed.player, []).append({"type": kind, "time": minute, "description": text})
    return found

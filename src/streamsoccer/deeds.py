"""A truth file, and what it says as facts: JSON Lines, one deed a line, as `<game>/<half>_truth.jsonl`.

A row names what was done (`kind`), when (`half`, `at` seconds), by whom (`side`, `player`, `other`, `other_side`), how
it ended (`outcome`, `detail`), and the SoccerNet action that it is, if it is one (`label`, `label_side`). Whoever has
such a file, from a simulation or from a careful annotator, can have lines settled against it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamsoccer.actions import Label, label
from streamsoccer.domain import Side
from streamsoccer.errors import DataError
from streamsoccer.settle import Fact
from streamsoccer.wording import Act, Outcome

__all__ = ["RESTARTS", "Deed", "facts_of_deed", "read_truth", "restart_after"]

_OUTCOMES = {
    "goal": Outcome.GOAL,
    "saved": Outcome.SAVED,
    "wide": Outcome.WIDE,
    "over": Outcome.OVER,
    "post": Outcome.WOODWORK,
    "blocked": Outcome.BLOCKED,
}
_PLAIN = {
    "cross": Act.CROSS,
    "corner": Act.CORNER,
    "free_kick": Act.FREE_KICK,
    "throw_in": Act.THROW_IN,
    "goal_kick": Act.GOAL_KICK,
    "penalty": Act.PENALTY,
    "foul": Act.FOUL,
    "yellow": Act.YELLOW,
    "second_yellow": Act.SECOND_YELLOW,
    "red": Act.RED,
    "substitution": Act.SUBSTITUTION,
    "injury": Act.INJURY,
    "clearance": Act.CLEARANCE,
    "interception": Act.INTERCEPTION,
    "claim": Act.KEEPER,
    "block": Act.INTERCEPTION,  # of a pass, a cross or a shot; that a shot was blocked is said by the shot
}
RESTARTS = {"corner": Act.CORNER, "goal_kick": Act.GOAL_KICK, "throw_in": Act.THROW_IN}


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """One row of a truth file."""

    half: int
    at: float
    kind: str
    side: Side = Side.NONE
    player: str = ""
    other: str = ""
    other_side: Side = Side.NONE
    outcome: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    label: Label | None = None
    label_side: Side = Side.NONE


def read_truth(path: Path) -> list[Deed]:
    """The deeds of one half, in order of time."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError("there is no truth file", where=path, remedy="name the folder that holds the games") from error
    deeds = []
    for number, line in enumerate(lines, start=1):
        try:
            deeds.append(_deed(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, DataError) as error:
            raise DataError(f"no deed: {error}", where=f"{path}:{number}") from error
    if any(later.at < earlier.at for earlier, later in pairwise(deeds)):
        raise DataError("its deeds are not in order of time", where=path)
    return deeds


def _deed(row: Mapping[str, Any]) -> Deed:
    return Deed(
        half=int(row["half"]),
        at=float(row["at"]),
        kind=str(row["kind"]),
        side=Side(row.get("side", Side.NONE)),
        player=_name(row.get("player")),
        other=_name(row.get("other")),
        other_side=Side(row.get("other_side", Side.NONE)),
        outcome=str(row.get("outcome", "")),
        detail=row.get("detail") or {},
        label=None if row.get("label") is None else label(row["label"]),
        label_side=Side(row.get("label_side", Side.NONE)),
    )


def _name(person: Mapping[str, Any] | None) -> str:
    return "" if person is None else str(person["name"])


def restart_after(deeds: Sequence[Deed], place: int) -> tuple[str, Side] | None:
    """Which restart follows a ball that is out, and whose: as the row's own words say, else as it is then taken."""
    deed = deeds[place]
    if deed.detail.get("line") != "goal":
        return "throw_in", deed.side.other
    following = next((each for each in deeds[place + 1 :] if each.kind in RESTARTS or each.kind == "ball_out"), None)
    return None if following is None or following.kind == "ball_out" else (following.kind, following.side)


def facts_of_deed(deed: Deed, *, first: bool = False, restart: tuple[str, Side] | None = None) -> Iterator[Fact]:
    """What a deed says; `first`: nothing was before it in its half; `restart`: what a ball that is out leads to."""

    def fact(act: Act, side: Side = deed.side, outcome: Outcome | None = None, count: int | None = None) -> Fact:
        return Fact(
            act=act,
            side=side,
            outcome=outcome,
            player=deed.player if side is deed.side else "",
            other=deed.other,
            half=deed.half,
            second=deed.at,
            count=count,
            label=deed.label,
        )

    def bare(act: Act, side: Side, outcome: Outcome | None = None, player: str = "") -> Fact:
        return Fact(act=act, side=side, outcome=outcome, player=player, half=deed.half, second=deed.at)

    match deed.kind:
        case "shot":
            yield fact(Act.SHOT, outcome=_OUTCOMES.get(deed.outcome))
        case "goal" if deed.detail.get("own_goal"):  # a player of the other side shot
            yield replace(bare(Act.GOAL, deed.side, Outcome.GOAL), label=deed.label)
        case "goal":
            yield fact(Act.GOAL, outcome=Outcome.GOAL)
        case "save":
            yield bare(Act.SHOT, deed.side.other, Outcome.SAVED)
        case "tackle" if deed.outcome == "won":
            yield fact(Act.INTERCEPTION)
        case "pass":
            if deed.outcome == "complete":
                yield fact(Act.POSSESSION)
            yield fact(Act.PASS)
        case "ball_out" if restart is not None and not deed.detail.get("stopped"):
            yield fact(RESTARTS[restart[0]], restart[1])
        case "offside":
            yield fact(Act.OFFSIDE)
            if deed.other and deed.other != deed.player:  # whose pass it was
                yield bare(Act.PASS, deed.side, player=deed.other)
        case "kick_off" if first:
            yield fact(Act.HALF_START)
        case "period_end":
            yield fact(Act.HALF_END, Side.NONE)
        case "added_time":
            yield fact(Act.ADDED_TIME, Side.NONE, count=int(deed.detail.get("minutes", 0)))
        case kind if kind in _PLAIN:
            yield fact(_PLAIN[kind])
            if kind == "foul" and deed.detail.get("penalty"):
                yield bare(Act.PENALTY, deed.side.other)

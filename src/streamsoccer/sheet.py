"""A match sheet as a YAML file: who plays whom.

    home: Alder Town
    away: Brook Rovers
    referee: A. Name
    coaches: {home: B. Name, away: C. Name}
    players: {home: [D. Name, E. Name], away: [F. Name]}

All of it is optional. Nothing else may stand there: a score in a match sheet would be from the future.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamsoccer.config import load_yaml
from streamsoccer.domain import Coach, MatchSheet, Player, Side
from streamsoccer.errors import UsageError

__all__ = ["read_sheet", "sheet_of", "sheet_state"]

_WORDS = ("home", "away", "date", "venue", "referee")
_SIDES = (Side.HOME, Side.AWAY)


def read_sheet(path: Path) -> MatchSheet:
    """The sheet in a file."""
    return sheet_of(load_yaml(path), path)


def sheet_of(data: Mapping[str, Any], where: Path | str) -> MatchSheet:
    """The sheet of plain values, as in a file or in a journal's header."""
    if wrong := sorted({*data} - {*_WORDS, "coaches", "players"}):
        raise UsageError(
            f"{wrong[0]} is not known", where=where, remedy=f"use {', '.join((*_WORDS, 'coaches', 'players'))}"
        )
    for name in _WORDS:
        if isinstance(data.get(name), Mapping | list | bool):
            raise UsageError(f"{name} is {data[name]!r}, no text", where=where, remedy="write it in quotes")
    return MatchSheet(
        **{name: str(data.get(name) or "").strip() for name in _WORDS},
        coaches=tuple(Coach(name=name, side=side) for side, name in _people(data, "coaches", where)),
        players=tuple(Player(hash="", name=name, side=side) for side, name in _people(data, "players", where)),
    )


def sheet_state(sheet: MatchSheet) -> dict[str, Any]:
    """As plain values that `sheet_of` reads; nothing where nothing is known."""
    people = {
        kind: {side.value: found for side in _SIDES if (found := [each.name for each in given if each.side is side])}
        for kind, given in (("coaches", sheet.coaches), ("players", sheet.players))
    }
    words = {name: getattr(sheet, name) for name in _WORDS}
    return {name: value for name, value in {**words, **people}.items() if value}


def _people(data: Mapping[str, Any], kind: str, where: Path | str) -> Sequence[tuple[Side, str]]:
    given = data.get(kind) or {}
    if not isinstance(given, Mapping) or not {*given} <= {each.value for each in _SIDES}:
        raise UsageError(f"{kind} must be given for home and away", where=where)
    found = []
    for side in _SIDES:
        names = given.get(side.value) or []
        for name in [names] if isinstance(names, str) else names:
            if not isinstance(name, str) or not name.strip():
                raise UsageError(f"{kind}: {name!r} is no name", where=where)
            found.append((side, name.strip()))
    return found

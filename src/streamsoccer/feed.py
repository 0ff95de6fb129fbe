"""The event feed of a match: goals, cards and substitutions with their times, as somebody in the ground sends them.

A feed is JSON Lines or CSV, one event a line, and may grow while the match runs:

    {"at": "1 - 23:10", "kind": "goal", "side": "home", "player": "A. Name", "available": "1 - 23:45"}
    at,kind,side,player,out,available,id,cancels

`at` is the half and the time of its video; `available` says when the line was there (by default at once); a line that
is read later than that is known from then on. `side` may be the team's name. Lines come late and in any order; the same
line may come twice; `cancels` takes back the line of that id. An own goal has the side that it counts for.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamsoccer.actions import Label
from streamsoccer.clock import Cutoff, MatchTime, parse_seconds
from streamsoccer.domain import Action, MatchSheet, Side, Tally
from streamsoccer.errors import DataError, UsageError

__all__ = ["FED", "Feed", "FeedLine", "tally_of"]

_KINDS: dict[str, Label] = {
    "goal": Label.GOAL,
    "own goal": Label.GOAL,
    "penalty goal": Label.GOAL,
    "soccer-ball": Label.GOAL,
    "yellow": Label.YELLOW_CARD,
    "yellow card": Label.YELLOW_CARD,
    "y-card": Label.YELLOW_CARD,
    "second yellow": Label.SECOND_YELLOW_CARD,
    "second yellow card": Label.SECOND_YELLOW_CARD,
    "yellow->red card": Label.SECOND_YELLOW_CARD,
    "yr-card": Label.SECOND_YELLOW_CARD,
    "red": Label.RED_CARD,
    "red card": Label.RED_CARD,
    "r-card": Label.RED_CARD,
    "substitution": Label.SUBSTITUTION,
    "sub": Label.SUBSTITUTION,
}
FED = frozenset(_KINDS.values())  # what a feed is believed to tell whole
_CANCEL = "cancel"


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedLine:
    """One line: what happened, when, and since when that is known."""

    id: str
    label: Label | None  # nothing: it takes back the line that `cancels` names
    side: Side
    at: MatchTime
    available_at: MatchTime
    player: str = ""
    out: str = ""  # who went off
    cancels: str = ""

    def state(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "label": None if self.label is None else self.label.value,
            "side": self.side.value,
            "at": [self.at.half, self.at.seconds],
            "available_at": [self.available_at.half, self.available_at.seconds],
            "player": self.player,
            "out": self.out,
            "cancels": self.cancels,
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> FeedLine:
        return cls(
            id=state["id"],
            label=None if state["label"] is None else Label(state["label"]),
            side=Side(state["side"]),
            at=MatchTime(*state["at"]),
            available_at=MatchTime(*state["available_at"]),
            player=state["player"],
            out=state["out"],
            cancels=state["cancels"],
        )


def tally_of(lines: Iterable[FeedLine]) -> Tally:
    """The score, cards and substitutions that these lines leave standing."""
    lines = list(lines)
    gone = {each.cancels for each in lines if each.cancels}
    tally = Tally()
    for each in lines:
        if each.label is not None and each.id not in gone:
            tally = tally.plus(Action(label=each.label, side=each.side, at=each.at, available_at=each.available_at))
    return tally


class Feed:
    """A feed's lines. A file is read whole at first, where every mistake is an error, and then as it grows, where a bad
    line is told and passed over: the match goes on."""

    def __init__(self, path: Path, sheet: MatchSheet | None = None) -> None:
        self.path = path
        self.problems: list[str] = []  # of lines that came while the match ran, until somebody takes them
        self._sheet = sheet or MatchSheet()
        self._known: dict[str, FeedLine] = {}
        self._columns: list[str] | None = None
        self._taken = 0  # bytes of the file that are read
        self._count = 0
        for line in self._lines(self._new(whole=True)):
            self._known.setdefault(line.id, line)

    def until(self, cutoff: Cutoff) -> list[FeedLine]:
        """The lines that are available at the cutoff, in the order in which they became so."""
        known = [each for each in self._known.values() if each.available_at <= cutoff.at]
        return sorted((cutoff.admit(each) for each in known), key=lambda each: (each.available_at, each.at, each.id))

    def obey(self, known: Iterable[FeedLine], reached: MatchTime) -> None:
        """A match goes on that has come this far: what it knew it knew then; all else is known from now on."""
        before = {each.id: each for each in known}
        for name, line in self._known.items():
            late = replace(line, available_at=max(line.available_at, reached))
            self._known[name] = before.get(name, late)

    def look(self, cutoff: Cutoff) -> None:
        """Read what has been added to the file; none of that was known before this moment."""
        try:
            text = self._new()
        except DataError as error:
            self.problems.append(error.problem)
            return
        for raw in text:
            try:
                for line in self._lines([raw]):
                    late = replace(line, available_at=max(line.available_at, cutoff.at))
                    self._known.setdefault(line.id, late)
            except DataError as error:
                self.problems.append(error.problem)

    def _new(self, *, whole: bool = False) -> list[str]:
        """Whole lines that were not read yet; the last one of a file may lack its end where nothing is to follow."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._taken)
                data = file.read()
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", where=self.path, remedy="see --feed") from error
        if not whole:
            data = data[: data.rfind(b"\n") + 1]
        self._taken += len(data)
        try:
            return data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"is no text in UTF-8: {error.reason}", where=self.path) from error

    def _lines(self, text: Iterable[str]) -> Iterable[FeedLine]:
        for raw in text:
            self._count += 1
            if not raw.strip():
                continue
            where = f"line {self._count}"
            row = self._row(raw, where)
            if row is not None:
                yield self._line(row, where)

    def _row(self, raw: str, where: str) -> dict[str, Any] | None:
        """A line's fields; nothing for the head of a table."""
        if raw.lstrip().startswith("{"):
            try:
                return dict(json.loads(raw))
            except ValueError as error:
                raise self._wrong(where, f"is no JSON: {error}") from error
        cells = next(csv.reader(io.StringIO(raw)))
        if self._columns is None:
            self._columns = [each.strip().lower() for each in cells]
            if "at" not in self._columns or "kind" not in self._columns:
                raise self._wrong(where, "is neither JSON nor a table's head with the columns at and kind")
            return None
        return {name: cell.strip() for name, cell in zip(self._columns, cells, strict=False) if cell.strip()}

    def _line(self, row: Mapping[str, Any], where: str) -> FeedLine:
        kind = str(row.get("kind", "")).strip().lower()
        cancels = str(row.get("cancels", "") or "")
        if kind not in _KINDS and not (kind in (_CANCEL, "") and cancels):
            raise self._wrong(where, f"kind {kind!r} is not known", f"use {', '.join(_KINDS)}, or {_CANCEL}")
        at = self._time(row.get("at"), where, "at")
        available = self._time(row["available"], where, "available") if row.get("available") else at
        label = _KINDS.get(kind)
        side = Side.NONE if label is None else self._side(row, where)
        player, out = str(row.get("player", "") or "").strip(), str(row.get("out", "") or "").strip()
        name = str(row.get("id", "") or "") or "/".join(
            [f"{at.half}-{at.seconds:g}", kind, side.value, player, out, cancels]
        )
        return FeedLine(
            id=name,
            label=label,
            side=side,
            at=at,
            available_at=max(at, available),
            player=player,
            out=out,
            cancels=cancels,
        )

    def _side(self, row: Mapping[str, Any], where: str) -> Side:
        given = str(row.get("side") or row.get("team") or "").strip().lower()
        for side in (Side.HOME, Side.AWAY):
            if given and given in (side.value, self._sheet.team(side).lower()):
                return side
        raise self._wrong(where, f"side {given!r} is neither home nor away, nor a team of the match sheet")

    def _time(self, value: Any, where: str, name: str) -> MatchTime:
        """'1 - 23:10', or [half, seconds or a time]."""
        try:
            if isinstance(value, list) and len(value) == 2:
                seconds = parse_seconds(value[1]) if isinstance(value[1], str) else float(value[1])
                return MatchTime(int(value[0]), seconds)
            return MatchTime.parse(str(value))
        except (UsageError, TypeError, ValueError) as error:
            raise self._wrong(where, f"{name} {value!r} is no time", "write half and time as in '2 - 07:45'") from error

    def _wrong(self, where: str, problem: str, remedy: str | None = None) -> DataError:
        return DataError(f"{where}: {problem}", where=self.path, remedy=remedy)

"""What a run said, kept as files, so that a machine with a GPU generates and another one scores.

    replay.json                          which run, data and split; scope, representation, seed; what was asked for
    <condition>.jsonl                    one line an anchor, in order; without a text where there was no context
    <condition>.<change>.jsonl           the same anchors under one named change
    <condition>.retrieval.jsonl          what the retrieval heads ranked, best first

condition   `own`: from the model's own run; `taught`: with the paper's oracle interventions
change      what alone is different from the condition's own file (interventions.py)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer.clock import MatchTime
from streamsoccer.domain import Placeholder, Side
from streamsoccer.errors import DataError

__all__ = [
    "HEADER",
    "OWN",
    "RECORD",
    "TAUGHT",
    "Prediction",
    "ReplayHeader",
    "Retrieved",
    "name_of",
    "read_header",
    "read_predictions",
    "read_retrieved",
    "replay_files",
    "write_header",
    "write_rows",
]

HEADER = "replay.json"
OWN, TAUGHT = "own", "taught"
RECORD = "record"  # stands beside the three tracks
_RETRIEVAL = "retrieval"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """One anchor: what was said there, what from, and what was to be said."""

    id: str  # of the sample or of the record
    match: str
    track: str  # current, recent, historical or record
    cutoff: MatchTime
    anchor: float  # when the labels' event starts
    reference: str
    reference_placeholders: tuple[Placeholder, ...] = ()
    text: str = ""  # with the field's plain placeholders
    placeholders: tuple[Placeholder, ...] = ()
    covered: bool = True  # false where there was no context to speak from
    start: float | None = None  # when the event starts that it was said from
    on_event: bool = True  # whether that event shares a clip with the labels' own
    events: tuple[str, ...] = ()  # whose memories stood in the soft prefix
    records: tuple[tuple[str, str], ...] = ()  # ID and text of those in the prompt, best first

    def row(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "match": self.match,
            "track": self.track,
            "cutoff": [self.cutoff.half, self.cutoff.seconds],
            "anchor": self.anchor,
            "start": self.start,
            "covered": self.covered,
            "on_event": self.on_event,
            "text": self.text,
            "placeholders": _plain(self.placeholders),
            "reference": self.reference,
            "reference_placeholders": _plain(self.reference_placeholders),
            "events": list(self.events),
            "records": [list(each) for each in self.records],
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Prediction:
        half, seconds = row["cutoff"]
        return cls(
            id=row["id"],
            match=row["match"],
            track=row["track"],
            cutoff=MatchTime(int(half), seconds),
            anchor=float(row["anchor"]),
            start=row["start"],
            covered=bool(row["covered"]),
            on_event=bool(row["on_event"]),
            text=row["text"],
            placeholders=_placeholders(row["placeholders"]),
            reference=row["reference"],
            reference_placeholders=_placeholders(row["reference_placeholders"]),
            events=tuple(row["events"]),
            records=tuple((name, text) for name, text in row["records"]),
        )


def _plain(placeholders: Sequence[Placeholder]) -> list[list[str]]:
    return [[each.token, each.side.value] for each in placeholders]


def _placeholders(rows: Iterable[Sequence[str]]) -> tuple[Placeholder, ...]:
    return tuple(Placeholder(token=token, side=Side(side)) for token, side in rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieved:
    """One query of the retrieval heads: every eligible candidate, best first, and which of them are right."""

    id: str
    match: str
    ranked: tuple[str, ...]
    positives: tuple[str, ...]  # those of the manifest, or the own records of their events
    related: tuple[str, ...] = ()  # any record in which the anchor's side did what it does now
    null_won: bool = False

    def row(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "match": self.match,
            "ranked": list(self.ranked),
            "positives": list(self.positives),
            "related": list(self.related),
            "null_won": self.null_won,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Retrieved:
        lists = {name: tuple(row[name]) for name in ("ranked", "positives", "related")}
        return cls(id=row["id"], match=row["match"], null_won=bool(row["null_won"]), **lists)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayHeader:
    """What the files of a folder were made with."""

    stage: str  # records or commentary
    split: str
    run: Mapping[str, str]  # hashes of the weights, by part
    data: Mapping[str, str]  # hashes of the manifests
    scope: str = ""
    representation: str = ""
    seed: int = 0
    step: int = 0
    train_matches: int = 0
    limit: int | None = None  # anchors of a track, where not all were asked for
    anchors: Mapping[str, int] = field(default_factory=dict)  # by track
    seconds: Mapping[str, float] = field(default_factory=dict)  # by what took them
    commit: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in ((name, getattr(self, name)) for name in self.__slots__)
        }


def name_of(condition: str, change: str = "") -> str:
    """The file of a condition, or of one change to it."""
    return f"{condition}.{change}.jsonl" if change else f"{condition}.jsonl"


def replay_files(folder: Path) -> dict[tuple[str, str], Path]:
    """The prediction files of a folder by condition and change; nothing of retrieval."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        condition, _, change = path.stem.partition(".")
        if change != _RETRIEVAL and condition in (OWN, TAUGHT):
            found[condition, change] = path
    return found


def write_rows(folder: Path, name: str, rows: Iterable[Prediction | Retrieved]) -> int:
    """Write a file whole; says how many lines it has."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(each.row(), ensure_ascii=False) + "\n" for each in rows]
    part = folder / f"{name}.part"
    part.write_text("".join(lines), encoding="utf-8")
    part.replace(folder / name)
    return len(lines)


def write_header(folder: Path, header: ReplayHeader) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER).write_text(json.dumps(header.row(), indent=2) + "\n", encoding="utf-8")


def read_header(folder: Path) -> ReplayHeader:
    try:
        return ReplayHeader(**json.loads((folder / HEADER).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"holds no replay: {error}",
            where=folder,
            remedy="run `streamsoccer evaluate records` or `streamsoccer evaluate commentary` first",
        ) from error


def read_predictions(path: Path) -> list[Prediction]:
    """The lines of a file in order; an ID that stands twice or a broken line is an error."""
    found = [Prediction.of_row(row) for row in _rows(path)]
    _once(path, [each.id for each in found])
    return found


def read_retrieved(folder: Path, condition: str) -> list[Retrieved]:
    path = folder / name_of(condition, _RETRIEVAL)
    if not path.is_file():
        return []
    found = [Retrieved.of_row(row) for row in _rows(path)]
    _once(path, [each.id for each in found])
    return found


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path) from error
    if not lines:
        raise DataError("holds no line", where=path)
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            yield _Named(row, f"{path}:{number}")
        except ValueError as error:
            raise DataError(f"is no JSON: {error}", where=f"{path}:{number}") from error


class _Named(dict[str, Any]):
    """A row that says which file and line lack a value."""

    def __init__(self, row: Mapping[str, Any], where: str) -> None:
        super().__init__(row)
        self.where = where

    def __missing__(self, name: str) -> Any:
        raise DataError(f"has no {name!r}", where=self.where, remedy="write the file anew with this version")


def _once(path: Path, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(f"the anchor {name} stands twice", where=f"{path}:{number}")
        seen.add(name)

"""The manifests as training reads them: each half's clips as arrays, its events, and the rows that go with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.data.manifests import MANIFESTS, read_clips, read_events, read_records, read_samples, read_summary
from streamsoccer.domain import ClipRow, EventRow, RecordRow, SampleRow, Split
from streamsoccer.errors import DataError
from streamsoccer.heads import ACTIONS

__all__ = ["Corpus", "Half"]

_PLACE = {label: index for index, label in enumerate(ACTIONS)}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Half:
    """One half: T clips with their stage 1 targets, and its events in order."""

    split: Split
    match: str
    half: int
    transition: NDArray[np.bool_]  # [T] the target of b_t
    learn: NDArray[np.bool_]  # [T] false where the target is masked
    reset: NDArray[np.bool_]  # [T] the labels' own resets: true on the first clip of each event
    actions: NDArray[np.bool_]  # [T, A]
    events: tuple[EventRow, ...]

    @property
    def clips(self) -> int:
        return len(self.transition)

    @property
    def name(self) -> str:
        return f"{self.match}#{self.half}"

    def window(self, first: int, last: int) -> tuple[EventRow, ...]:
        """The events that lie whole within clips [first, last)."""
        return tuple(each for each in self.events if each.first >= first and each.first + each.clips <= last)


class Corpus:
    """A build of `streamsoccer data build`, read once: halves in order, records and samples by ID."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = read_summary(folder)
        self.fingerprint = _checked(folder, self.summary)
        self.halves = _halves(folder)
        self.events: dict[str, EventRow] = {each.id: each for half in self.halves.values() for each in half.events}
        self.records: dict[str, RecordRow] = {each.id: each for each in read_records(folder)}
        self.samples: dict[str, SampleRow] = {each.id: each for each in read_samples(folder)}

    def of(self, split: Split) -> list[Half]:
        """The halves of a split; none is an error, for nothing could be learnt or chosen on it."""
        found = [each for each in self.halves.values() if each.split is split]
        if not found:
            raise DataError(
                f"holds no half of the {split} split",
                where=self.folder,
                remedy="build more matches or name a split file",
            )
        return found

    def half(self, match: str, half: int) -> Half:
        if (found := self.halves.get((match, half))) is None:
            raise DataError(f"has no clips of {match}, half {half}", where=self.folder / "clips.jsonl")
        return found

    def event(self, identity: str, named_by: str) -> EventRow:
        if (found := self.events.get(identity)) is None:
            raise DataError(f"{named_by} names the event {identity!r}, which is not there", where=self.folder)
        return found

    def record(self, identity: str, named_by: str) -> RecordRow:
        if (found := self.records.get(identity)) is None:
            raise DataError(f"{named_by} names the record {identity!r}, which is not there", where=self.folder)
        return found


def _checked(folder: Path, summary: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each manifest by name, once it is sure that the files are those that the build wrote."""
    found: dict[str, str] = {}
    for name in MANIFESTS:
        path = folder / f"{name}.jsonl"
        known = summary.get("manifests", {}).get(path.name, {}).get("sha256")
        try:
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError("cannot be read", where=path, remedy="run `streamsoccer data build` first") from error
        if found[name] != known:
            raise DataError(
                "is not the manifest that the build wrote: its hash is not the one in build.json",
                where=path,
                remedy="run `streamsoccer data build` again, or copy the whole folder",
            )
    return found


def _halves(folder: Path) -> dict[tuple[str, int], Half]:
    events: dict[tuple[str, int], list[EventRow]] = {}
    for event in read_events(folder):
        events.setdefault((event.match, event.half), []).append(event)
    made: dict[tuple[str, int], Half] = {}
    for key, rows in _grouped(read_clips(folder)):
        mine = events.get(key, [])
        count = len(rows)
        if [each.index for each in rows] != list(range(count)):
            raise DataError(f"the clips of {key[0]}, half {key[1]}, are not in order", where=folder / "clips.jsonl")
        if sum(each.clips for each in mine) != count:
            raise DataError(
                f"{key[0]}, half {key[1]}: {count} clips, but its events hold {sum(each.clips for each in mine)}",
                where=folder / "events.jsonl",
                remedy=f"run `streamsoccer data build` again; {', '.join(MANIFESTS)} belong together",
            )
        actions = np.zeros((count, len(ACTIONS)), dtype=bool)
        for index, row in enumerate(rows):
            for label in row.actions:
                actions[index, _PLACE[label]] = True
        reset = np.zeros(count, dtype=bool)
        reset[[each.first for each in mine]] = True
        made[key] = Half(
            split=rows[0].split,
            match=key[0],
            half=key[1],
            transition=np.array([row.transition == 1 for row in rows]),
            learn=np.array([row.mask is None for row in rows]),
            reset=reset,
            actions=actions,
            events=tuple(mine),
        )
    return made


def _grouped(rows: Iterator[ClipRow]) -> Iterator[tuple[tuple[str, int], list[ClipRow]]]:
    held: list[ClipRow] = []
    for row in rows:
        if held and (held[0].match, held[0].half) != (row.match, row.half):
            yield (held[0].match, held[0].half), held
            held = []
        held.append(row)
    if held:
        yield (held[0].match, held[0].half), held

"""One match as its rows in five manifests say, and what follows from its clips and its events' actions alone."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from streamsoccer.actions import Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.findings import Check, Findings
from streamsoccer.data.manifests import MANIFESTS, decode
from streamsoccer.domain import (
    CLIP_SECONDS,
    Action,
    CaptionRow,
    ClipRow,
    EventRow,
    RecordRow,
    SampleRow,
    Side,
    SideTally,
    Tally,
)
from streamsoccer.errors import DataError

__all__ = ["FILES", "At", "Course", "Known", "MatchView", "differs", "read_matches"]

FILES = {name: f"{name}.jsonl" for name in MANIFESTS}
R = TypeVar("R", bound=ClipRow | EventRow | CaptionRow | RecordRow | SampleRow)


@dataclass(frozen=True, slots=True)
class At(Generic[R]):
    """A row and the line on which it stands."""

    line: int
    row: R


@dataclass(frozen=True, slots=True)
class Known:
    """Something that a context names, and from when on it may: what the door is shown."""

    name: str
    available_at: MatchTime


@dataclass(frozen=True, slots=True)
class Course:
    """An event's course in seconds of its half: first clip arrived, last clip over, and known to be complete."""

    name: str
    begun: float
    ended: float
    settled: float


@dataclass(frozen=True, slots=True)
class _Span:
    """A run of lines of one match in a manifest."""

    offset: int
    line: int
    lines: int


def read_matches(
    out: Path, findings: Findings, progress: Callable[[int, int], None] = lambda done, total: None
) -> Iterator[MatchView]:
    """Each match with all its rows, wherever in the manifests they stand; what cannot be read is a DataError."""
    spans = {name: _spans(out / FILES[name], kind, findings) for name, kind in MANIFESTS.items()}
    matches = sorted(set().union(*spans.values()))
    with ExitStack() as stack:
        files = {name: stack.enter_context((out / FILES[name]).open("rb")) for name in MANIFESTS}
        for place, match in enumerate(matches):
            progress(place, len(matches))
            rows = {
                name: list(_rows(files[name], out / FILES[name], kind, spans[name].get(match, [])))
                for name, kind in MANIFESTS.items()
            }
            yield MatchView(match=match, **rows)
        progress(len(matches), len(matches))


def _spans(path: Path, kind: type, findings: Findings) -> dict[str, list[_Span]]:
    """Where each match's rows stand in a manifest."""
    spans: dict[str, list[_Span]] = {}
    offset, latest, started = 0, "", (0, 1)
    number = 0

    def end(match: str, stop: int) -> None:
        if stop > started[1]:
            spans.setdefault(match, []).append(_Span(started[0], started[1], stop - started[1]))

    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                match = _match_of(line, kind, f"{path}:{number}")
                if match != latest or number == 1:
                    end(latest, number)
                    started = (offset, number)
                    if match < latest or match in spans:
                        findings.add(Check.ORDER, path.name, number, match, f"stands after {latest!r}")
                    latest = match
                offset += len(line)
            end(latest, number + 1)
    except OSError as error:
        raise DataError("cannot be read", where=path, remedy="run `streamsoccer data build` first") from error
    findings.looked(Check.ORDER, number)
    return spans


_MATCH = re.compile(rb'"match"\s*:\s*("(?:[^"\\]|\\.)*")')


def _match_of(line: bytes, kind: type, where: str) -> str:
    """The match of a row; a line that says "match" once only need not be parsed whole for it."""
    match: object = None
    try:
        found = _MATCH.search(line) if line.count(b'"match"') == 1 else None
        match = json.loads(line)["match"] if found is None else json.loads(found[1])
    except (ValueError, LookupError, TypeError, RecursionError):
        match = None
    if not isinstance(match, str):
        row: Any = decode(kind, line.decode(errors="replace"), where)  # raises: no row is without a match
        return str(row.match)
    return match


def _rows(file: BinaryIO, path: Path, kind: type, spans: list[_Span]) -> Iterator[At[Any]]:
    for span in spans:
        file.seek(span.offset)
        for number in range(span.line, span.line + span.lines):
            where = f"{path}:{number}"
            try:
                text = file.readline().decode()
            except UnicodeDecodeError as error:
                raise DataError(f"is not UTF-8: {error.reason}", where=where) from error
            yield At(number, decode(kind, text, where))


@dataclass(kw_only=True, slots=True)
class MatchView:
    """The rows of one match; the first row stands where an ID is there twice."""

    match: str
    clips: list[At[ClipRow]]
    events: list[At[EventRow]]
    captions: list[At[CaptionRow]]
    records: list[At[RecordRow]]
    samples: list[At[SampleRow]]
    # what follows: length and number of clips of each half, rows by place or ID, and every action with its moment
    ends: dict[int, float] = field(init=False)
    sizes: dict[int, int] = field(init=False)
    clip: dict[tuple[int, int], At[ClipRow]] = field(init=False)
    event: dict[str, At[EventRow]] = field(init=False)
    caption: dict[str, At[CaptionRow]] = field(init=False)
    record: dict[str, At[RecordRow]] = field(init=False)
    halves: dict[int, list[At[EventRow]]] = field(init=False)
    courses: dict[int, list[Course]] = field(init=False)
    _known: list[tuple[MatchTime, Action]] = field(init=False)
    _moments: list[MatchTime] = field(init=False)

    def __post_init__(self) -> None:
        self.ends, self.sizes, self.clip, self.halves = {}, {}, {}, {}
        for at in self.clips:
            half = at.row.half
            self.ends[half] = max(self.ends.get(half, 0.0), at.row.end)
            self.sizes[half] = max(self.sizes.get(half, 0), at.row.index + 1)
            self.clip.setdefault((half, at.row.index), at)
        self.event, self.caption, self.record = {}, {}, {}
        for event in self.events:
            self.event.setdefault(event.row.id, event)
        for event in self.event.values():
            self.halves.setdefault(event.row.half, []).append(event)
        for each in self.halves.values():
            each.sort(key=lambda event: (event.row.first, event.row.id))
        for caption in self.captions:
            self.caption.setdefault(caption.row.id, caption)
        for record in self.records:
            self.record.setdefault(record.row.id, record)
        self.courses = {half: [self.course(at.row) for at in each] for half, each in self.halves.items()}
        self._known = sorted(
            (
                (self.arrival(event.row.half, self.clip_of(event.row.half, action.at.seconds)), action)
                for event in self.event.values()
                for action in event.row.actions
            ),
            key=lambda known: known[0],
        )
        self._moments = [moment for moment, _ in self._known]

    # --- time --------------------------------------------------------------------------------------------------------

    def clip_of(self, half: int, seconds: float) -> int:
        """The clip that owns this second; the last clip of a half owns what comes after it too."""
        return max(0, min(int(seconds // CLIP_SECONDS), self.sizes.get(half, 1) - 1))

    def arrival(self, half: int, index: int) -> MatchTime:
        """When this clip has arrived whole; past the last clip, the end of the half."""
        return MatchTime(half, min((index + 1) * CLIP_SECONDS, self.ends.get(half, float("1e9"))))

    def settled(self, event: EventRow) -> MatchTime:
        """When a stream knows that this event is complete: the clip after its last has arrived and closes it."""
        return self.arrival(event.half, event.first + event.clips)

    def course(self, event: EventRow) -> Course:
        end, stop = self.ends.get(event.half, float("1e9")), event.first + event.clips
        begun, ended, settled = (min(CLIP_SECONDS * clips, end) for clips in (event.first + 1, stop, stop + 1))
        return Course(event.id, begun, ended, settled)

    def known(self, event: EventRow) -> Known:
        return Known(event.id, self.settled(event))

    # --- the fold ----------------------------------------------------------------------------------------------------

    def actions_by(self, cutoff: MatchTime) -> list[Action]:
        """All actions of the match that are known at the cutoff, complete event or not."""
        return [action for _, action in self._known[: bisect_right(self._moments, cutoff)]]

    def counts_at(self, cutoff: MatchTime) -> Counter[tuple[Side, Label]]:
        """How often each side did what by then, counted from the rows alone."""
        return Counter((each.side, each.label) for each in self.actions_by(cutoff) if each.side is not Side.NONE)

    def score_at(self, cutoff: MatchTime) -> tuple[int, int]:
        counts = self.counts_at(cutoff)
        return counts[Side.HOME, Label.GOAL], counts[Side.AWAY, Label.GOAL]

    def moments_after(self, cutoff: MatchTime) -> Iterator[MatchTime]:
        """The later moments at which an action becomes known."""
        last = cutoff
        for moment in self._moments[bisect_right(self._moments, cutoff) :]:
            if moment > last:
                last = moment
                yield moment


def differs(state: Tally, counts: Mapping[tuple[Side, Label], int]) -> str | None:
    """In what a stored match state is not the state that these counts make."""
    for side in (Side.HOME, Side.AWAY):
        mine: SideTally = state.of(side)
        made = {label: number for (whose, label), number in counts.items() if whose is side}
        second = made.get(Label.SECOND_YELLOW_CARD, 0)
        for name, stored, right in (
            ("goals", mine.goals, made.get(Label.GOAL, 0)),
            ("yellow cards", mine.yellow_cards, made.get(Label.YELLOW_CARD, 0) + second),
            ("red cards", mine.red_cards, made.get(Label.RED_CARD, 0) + second),
            ("substitutions", mine.substitutions, made.get(Label.SUBSTITUTION, 0)),
        ):
            if stored != right:
                return f"{side} {name} {stored}, the actions known by then make {right}"
        for label in sorted({*mine.counts, *made}):
            if mine.counts.get(label, 0) != made.get(label, 0):
                return (
                    f"{side} {label} {mine.counts.get(label, 0)}, the actions known by then make {made.get(label, 0)}"
                )
    return None

"""What stands in a journal: one frozen row type a table (journal_tables.py has their columns).

Every row carries `seq`, one growing number over all tables: whoever follows a match asks for what came after the last
one seen. `step` is the step that wrote it. Times are seconds of the row's half; an ID is that of domain.py.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from streamsoccer.actions import EventType, Label
from streamsoccer.clip import FPS, Clip, Gap
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Placeholder, Side, Track
from streamsoccer.record import Record
from streamsoccer.schedule import Decision

if TYPE_CHECKING:
    from streamsoccer.buffer import CompletedMemory
    from streamsoccer.commentary import ActiveMemory

__all__ = [
    "JOURNAL_SCHEMA",
    "ClosedBy",
    "Closure",
    "Correction",
    "CorrectionKind",
    "Count",
    "Decided",
    "Evidence",
    "EvidenceKind",
    "Header",
    "Latency",
    "Line",
    "Note",
    "NoteKind",
    "Progress",
    "Ranked",
    "Row",
    "Segment",
    "Status",
    "StepKind",
    "Written",
    "utterance_id",
]

JOURNAL_SCHEMA = 1


class StepKind(StrEnum):
    """What a step takes in."""

    CLIP = "clip"
    GAP = "gap"
    HALF_END = "half_end"


class ClosedBy(StrEnum):
    """What ended an event at run time."""

    LEARNED = "learned"  # b_t
    ROLLOVER = "rollover"  # rho_t: 24 s
    GAP = "gap"
    HALF_END = "half_end"


class Status(StrEnum):
    """What became of a sentence."""

    SAID = "said"
    HELD = "held"  # it contradicts a sure fact, repeats what was said, or a person holds it
    FAILED = "failed"  # the generator gave nothing, or broke


class EvidenceKind(StrEnum):
    """What a sentence was said from."""

    ACTIVE = "active"  # the memory of the event that is going on
    EVENT = "event"  # a completed memory in the soft prefix
    RECORD = "record"  # a record in the prompt
    FEED = "feed"  # a fact of the event feed that a name or a check was taken from


class NoteKind(StrEnum):
    """What a note tells of."""

    GAP = "gap"  # the stream is not continuous
    FAULT = "fault"  # something failed, and the match goes on
    NOTICE = "notice"  # something that a person who watches should know
    DROPPED = "dropped"  # work that there was no time for


class CorrectionKind(StrEnum):
    """What a person changes about a sentence that stands in the journal."""

    HIDE = "hide"
    SHOW = "show"  # takes back a hiding, or lets a held sentence out
    CORRECT = "correct"


class Segment(StrEnum):
    """The parts of a sentence's delay, in their order; they add up to the whole."""

    CLOSING = "closing"  # from the event's end to the end of the clip that closed it: structural, in media time
    ARRIVAL = "arrival"  # until that clip was in hand: capture, network, decoding
    WAITING = "waiting"  # behind clips that came before
    VISION = "vision"
    MEMORY = "memory"  # encoder, transition, heads, buffer, decision
    RECORDS = "records"  # captions that had to be written first
    GENERATION = "generation"
    CHECKS = "checks"  # claims, names, outputs


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """A delay in seconds by segment, and what of it no machine could take away."""

    segments: Mapping[Segment, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.segments.values())

    @property
    def structural(self) -> float:
        return self.segments.get(Segment.CLOSING, 0.0)

    @property
    def machine(self) -> float:
        return self.total - self.structural

    def state(self) -> dict[str, float]:
        return {each.value: self.segments[each] for each in Segment if each in self.segments}

    @classmethod
    def of_state(cls, state: Mapping[str, float]) -> Latency:
        return cls(segments={each: float(state[each.value]) for each in Segment if each.value in state})


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """What the whole match has in common, written once."""

    match: str
    source: str
    model: str = ""  # fingerprint of the weights
    profile: str = ""  # fingerprint of the prompt profile
    pace: str = "fast"
    started: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    sheet: Mapping[str, Any] = field(default_factory=dict)  # teams and line-ups, where a match sheet was given
    # where each half lies in what film, {"1": ["film.mp4", 12.0]}: its file's name and the second at which the half
    # starts in it; a half that is not named here is a film of its own, from its first second
    films: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    schema: int = JOURNAL_SCHEMA


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """steps: a clip, a gap or the end of a half that has been taken in whole, and what the memory was then."""

    step: int
    kind: StepKind
    half: int
    clip: int | None  # its place in the half
    start: float
    end: float
    active: str | None = None  # the ID that the event going on will have
    active_start: float | None = None
    transition: float | None = None  # b_t's probability
    pending: int = 0  # caption jobs that wait
    facts: Mapping[str, Any] = field(default_factory=dict)  # score and cards as known then, and whether they are sure
    timing: Mapping[str, float] = field(default_factory=dict)  # wall seconds by part, lag; not compared on a second run

    @property
    def cutoff(self) -> MatchTime:
        return MatchTime(self.half, self.end)

    @classmethod
    def of(cls, item: Clip | Gap, step: int) -> Progress:
        """The row of a clip or a gap before anything else is known of it."""
        if isinstance(item, Gap):
            return cls(step=step, kind=StepKind.GAP, half=item.half, clip=None, start=item.start, end=item.end)
        return cls(step=step, kind=StepKind.CLIP, half=item.half, clip=item.index, start=item.start, end=item.end)

    @classmethod
    def half_end(cls, at: MatchTime, step: int = 0) -> Progress:
        """The row of a half's end."""
        return cls(step=step, kind=StepKind.HALF_END, half=at.half, clip=None, start=at.seconds, end=at.seconds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Closure:
    """events: a completed memory without its tokens and key, which `JournalReader.memory` reads."""

    id: str
    half: int
    start: float
    end: float
    available_at: float
    type: EventType
    actions: tuple[Label, ...]
    side: Side
    confidence: float
    closed_by: ClosedBy


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """The records that a decision looked at, best first, and how the NULL candidate fared."""

    records: tuple[tuple[str, float], ...]
    null: float
    null_won: bool
    threshold: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """decisions: what the scheduler decided with all three gates, and what retrieval offered it."""

    decision: Decision
    ranking: Ranked | None = None

    @property
    def available_at(self) -> MatchTime:
        return self.decision.cutoff


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """evidence: one thing that a sentence was said from, and where it lies in the film."""

    kind: EvidenceKind
    ref: str  # an event's, record's or feed entry's ID
    half: int
    start: float
    end: float
    frames: int = 0  # pictures that were looked at for it
    score: float | None = None  # of a retrieved record

    @classmethod
    def of_active(cls, memory: ActiveMemory) -> Evidence:
        """The event that is going on, from its start to the last clip that the memory has taken in."""
        start, end = memory.start, memory.available_at
        return cls(kind=EvidenceKind.ACTIVE, ref=memory.event, **_interval(start, end))

    @classmethod
    def of_memory(cls, memory: CompletedMemory) -> Evidence:
        return cls(kind=EvidenceKind.EVENT, ref=memory.event, **_interval(memory.start, memory.end))

    @classmethod
    def of_record(cls, record: Record, score: float | None = None) -> Evidence:
        score = None if score is None else float(score)
        return cls(kind=EvidenceKind.RECORD, ref=record.id, score=score, **_interval(record.start, record.end))


def _interval(start: MatchTime, end: MatchTime) -> dict[str, Any]:
    frames = max(0, round((end.seconds - start.seconds) * FPS))
    return {"half": start.half, "start": start.seconds, "end": end.seconds, "frames": frames}


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """utterances: a sentence with placeholders and with names, what became of it, its delay and its evidence."""

    id: str
    track: Track
    cutoff: MatchTime
    text: str
    said: str
    status: Status
    reason: str = ""
    placeholders: tuple[Placeholder, ...] = ()
    dropped: int = 0  # retrieved records that the prompt had no room for
    event: str | None = None  # the event that had just closed, for the current track
    latency: Latency = Latency()
    evidence: tuple[Evidence, ...] = ()

    @property
    def available_at(self) -> MatchTime:
        return self.cutoff


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """notes: a gap, a fault, a notice, or work that was let go."""

    kind: NoteKind
    code: str  # a word for programs
    text: str
    half: int
    start: float
    end: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """counters: a total after a step that changed it."""

    name: str
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """corrections: a later row that names the sentence it changes; the old row stays."""

    target: str
    kind: CorrectionKind
    text: str = ""
    why: str = ""


Row = Progress | Closure | Record | Decided | Line | Note | Count | Correction


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A row as it was read: its place among all rows, its step, its table and the row itself."""

    seq: int
    step: int
    table: str
    row: Row


def utterance_id(match: str, cutoff: MatchTime, place: int = 0) -> str:
    """The ID of the sentence of this cutoff; a letter follows where one second has more than one."""
    letters = string.ascii_lowercase
    tail = "" if place == 0 else letters[place] if place < len(letters) else f"z{place}"
    return f"{match}#{cutoff.half}-u{int(cutoff.seconds):04d}{tail}"

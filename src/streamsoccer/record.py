"""Memory-to-record consolidation after the caption is generated (paper eq. memory_to_record and its caption queue).

    p(c_j | P(M_j^c), x_j^ctx),    R_j = Assemble(metadata_j, c_j)

A closure enqueues a caption job. Jobs are drained in batches of at most four: when a batch is full, before a pending
record's memory would leave the local buffer, at the end of a half, or at once (`drain: immediate`, as the paper's
raw-video runtime does). Only a non-empty caption makes a record, and only an inserted record is in the ledger L_t, from
its `ready_at` on. Nothing here generates: the caller turns jobs into captions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory, EventBuffer, OutOfOrder
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import Placeholder, RecordRow, Side, SideTally, Tally, record_id
from streamsoccer.errors import DataError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CaptionJob",
    "CaptionQueue",
    "Drain",
    "Ledger",
    "MatchContext",
    "Record",
    "RecordConfig",
    "assemble",
    "from_row",
]


class Drain(StrEnum):
    """When caption jobs are done: in batches, as the paper's cached replay, or at once, as its raw-video runtime."""

    BATCH = "batch"
    IMMEDIATE = "immediate"


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordConfig:
    """The paper's batch and caption length; the backlog is ours: a slow generator drops the oldest jobs beyond it."""

    batch: int = 4
    drain: Drain = Drain.BATCH
    caption_tokens: int = 64
    backlog: int = 64

    def __post_init__(self) -> None:
        if self.batch < 1 or self.caption_tokens < 1:
            raise UsageError("batch and caption_tokens must be 1 or more")
        if self.backlog < self.batch:
            raise UsageError(f"a backlog of {self.backlog} can never fill a batch of {self.batch}")


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchContext:
    """x_j^ctx: what is known of the match at a moment. Names are not in it: they are filled in after generation."""

    at: MatchTime
    tally: Tally | None = None  # score, cards and counts; nothing where they are not known
    sure: bool = True  # from labels or a feed; otherwise predicted

    @property
    def available_at(self) -> MatchTime:
        return self.at

    def state(self) -> dict[str, Any]:
        return {
            "at": [self.at.half, self.at.seconds],
            "tally": None if self.tally is None else [_side_state(each) for each in (self.tally.home, self.tally.away)],
            "sure": self.sure,
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> MatchContext:
        sides = state["tally"]
        tally = None if sides is None else Tally(home=_side_of_state(sides[0]), away=_side_of_state(sides[1]))
        return cls(at=MatchTime(*state["at"]), tally=tally, sure=bool(state["sure"]))


def _side_state(side: SideTally) -> dict[str, Any]:
    return {
        "goals": side.goals,
        "yellow_cards": side.yellow_cards,
        "red_cards": side.red_cards,
        "substitutions": side.substitutions,
        "counts": {label.value: number for label, number in side.counts.items()},
    }


def _side_of_state(state: Mapping[str, Any]) -> SideTally:
    counts = {Label(label): int(number) for label, number in state["counts"].items()}
    return SideTally(**{**state, "counts": counts})


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Record:
    """R_j: a completed event in words, with the deterministic fields of its identity, time, action, type and match."""

    id: str
    event: str
    match: str
    half: int
    start: MatchTime
    end: MatchTime
    ready_at: MatchTime  # from when on it may be retrieved
    type: EventType
    actions: tuple[Label, ...]
    side: Side
    context: MatchContext  # the match when the event closed
    text: str  # the caption c_j, with plain placeholders
    placeholders: tuple[Placeholder, ...] = ()  # those of the text in order, where their sides are known
    key: NDArray[np.float32]  # [d_r]

    @property
    def available_at(self) -> MatchTime:
        return self.ready_at

    def state(self) -> dict[str, Any]:
        """Plain values; the key is not among them, the ledger saves all keys as one matrix."""
        return {
            "id": self.id,
            "event": self.event,
            "match": self.match,
            "half": self.half,
            "start": self.start.seconds,
            "end": self.end.seconds,
            "ready_at": [self.ready_at.half, self.ready_at.seconds],
            "type": self.type.value,
            "actions": [each.value for each in self.actions],
            "side": self.side.value,
            "context": self.context.state(),
            "text": self.text,
            "placeholders": [[each.token, each.side.value, each.name] for each in self.placeholders],
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any], key: NDArray[np.float32]) -> Record:
        half = int(state["half"])
        return cls(
            id=state["id"],
            event=state["event"],
            match=state["match"],
            half=half,
            start=MatchTime(half, state["start"]),
            end=MatchTime(half, state["end"]),
            ready_at=MatchTime(*state["ready_at"]),
            type=EventType(state["type"]),
            actions=tuple(Label(each) for each in state["actions"]),
            side=Side(state["side"]),
            context=MatchContext.of_state(state["context"]),
            text=state["text"],
            placeholders=tuple(
                Placeholder(token=token, side=Side(side), name=name) for token, side, name in state["placeholders"]
            ),
            key=key,
        )


def assemble(
    memory: CompletedMemory,
    caption: str,
    context: MatchContext,
    ready_at: MatchTime,
    placeholders: tuple[Placeholder, ...] = (),
) -> Record | None:
    """R_j of a memory and its caption; nothing where the caption says nothing, which the caller counts.

    The context must be of the closure or before, and the record cannot be ready before the memory is there.
    """
    Cutoff(memory.available_at).admit(context)
    Cutoff(ready_at).admit(memory)
    text = " ".join(caption.split())
    if not any(each.isalnum() for each in text):
        return None
    match, mark, _ = memory.event.rpartition("#")
    if not mark:
        raise DataError(f"{memory.event!r} is not an event ID", remedy="make it with domain.event_id")
    return Record(
        id=record_id(match, memory.half, memory.start.seconds),
        event=memory.event,
        match=match,
        half=memory.half,
        start=memory.start,
        end=memory.end,
        ready_at=ready_at,
        type=memory.type,
        actions=memory.actions,
        side=memory.side,
        context=context,
        text=text,
        placeholders=placeholders,
        key=memory.key,
    )


def from_row(row: RecordRow, key: NDArray[np.float32]) -> Record:
    """The data-side reference record of an aligned event, ready as soon as its event is available."""
    return Record(
        id=row.id,
        event=row.event,
        match=row.match,
        half=row.half,
        start=row.start,
        end=row.end,
        ready_at=row.available_at,
        type=row.type,
        actions=row.actions,
        side=row.side,
        context=MatchContext(at=row.available_at, tally=row.state, sure=True),
        text=" ".join(row.text.split()),
        placeholders=row.placeholders,
        key=key,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CaptionJob:
    """A memory that waits for its caption, with the match as it stood at the closure."""

    memory: CompletedMemory
    context: MatchContext

    def __post_init__(self) -> None:
        Cutoff(self.memory.available_at).admit(self.context)

    @property
    def available_at(self) -> MatchTime:
        return self.memory.available_at


class CaptionQueue:
    """Caption jobs in order of closure; a job holds its own memory, so it outlives the memory's stay in the buffer."""

    def __init__(self, config: RecordConfig | None = None) -> None:
        self.config = config or RecordConfig()
        self.dropped = 0  # jobs that the backlog had no room for, in the whole match
        self._pending: deque[CaptionJob] = deque()

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def pending(self) -> tuple[CaptionJob, ...]:
        return tuple(self._pending)

    def push(self, job: CaptionJob) -> CaptionJob | None:
        """Enqueue a job; a full backlog drops its oldest, which is counted and given back to be journalled."""
        lost = self._pending.popleft() if len(self._pending) >= self.config.backlog else None
        self.dropped += lost is not None
        self._pending.append(job)
        return lost

    def due(self, cutoff: Cutoff, buffer: EventBuffer, half_over: bool = False) -> list[CaptionJob]:
        """The next batch that is to be captioned now, oldest first, and out of the queue; empty when none is due.

        Ask again until it is empty: at the end of a half, or after a pause, more than one batch may be due.
        """
        if not self._pending:
            return []
        full = len(self._pending) >= self.config.batch
        if not (full or half_over or self.config.drain is Drain.IMMEDIATE or self._ageing(cutoff, buffer)):
            return []
        size = min(self.config.batch, len(self._pending))
        return [cutoff.admit(self._pending.popleft()) for _ in range(size)]

    def take(self, events: Collection[str]) -> list[CaptionJob]:
        """The jobs of these events, oldest first, and out of the queue: for a replay that is told when."""
        taken = [each for each in self._pending if each.memory.event in events]
        self._pending = deque(each for each in self._pending if each.memory.event not in events)
        return taken

    def _ageing(self, cutoff: Cutoff, buffer: EventBuffer) -> bool:
        """Whether a pending job's memory leaves the buffer with the next clip, or has left it."""
        leaving = {each.event for each in buffer.leaving(cutoff)}
        staying = {each.event for each in buffer.completed(cutoff)} - leaving
        return any(job.memory.event not in staying for job in self._pending)

    def state(self) -> dict[str, Any]:
        """Jobs and the count of those dropped; plain values with tensors and arrays as leaves."""
        return {
            "pending": [{"memory": each.memory.state(), "context": each.context.state()} for each in self._pending],
            "dropped": self.dropped,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._pending = deque(
            CaptionJob(memory=CompletedMemory.of_state(each["memory"]), context=MatchContext.of_state(each["context"]))
            for each in state["pending"]
        )
        self.dropped = int(state["dropped"])


class Ledger:
    """L_t of one half: records in order of insertion. Nothing in it changes; the end of a half clears it whole."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._records)

    def append(self, record: Record) -> None:
        """Insert a record once; another record of the same event is refused."""
        if record.id in self._ids:
            raise OutOfOrder("this record is in the ledger already", where=record.id)
        if self._records and record.half != self._records[-1].half:
            raise OutOfOrder(
                f"a record of half {record.half} is added to those of half {self._records[-1].half}",
                where=record.id,
                remedy="clear the ledger at the end of a half",
            )
        if self._records and record.key.shape != self._records[-1].key.shape:
            raise DataError(
                f"its key has shape {record.key.shape}, others {self._records[-1].key.shape}", where=record.id
            )
        self._records.append(record)
        self._ids.add(record.id)

    def ready(self, cutoff: Cutoff) -> tuple[Record, ...]:
        """The records that are ready at the cutoff, in order of insertion; one still being written is not."""
        return tuple(cutoff.admit(each) for each in self._records if each.ready_at <= cutoff.at)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All keys as one matrix [N, d_r], in order of insertion."""
        if not self._records:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([each.key for each in self._records]).astype(np.float32, copy=False)

    def clear(self) -> None:
        """The half is over: history is of the same half."""
        self._records.clear()
        self._ids.clear()

    def state(self) -> dict[str, Any]:
        return {"records": [each.state() for each in self._records], "keys": self.vectors}

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        for row, key in zip(state["records"], state["keys"], strict=True):
            self.append(Record.of_state(row, key))

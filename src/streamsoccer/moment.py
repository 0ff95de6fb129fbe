"""What one step of a match brought: a clip, a gap or the end of a half, with everything that came of it.

A moment is complete in itself: it can be written to a journal, shown to a person, or compared with another run's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamsoccer.clip import Gap
from streamsoccer.clock import MatchTime
from streamsoccer.journal_rows import ClosedBy, Evidence, Latency, NoteKind, Progress, Status

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.buffer import CompletedMemory
    from streamsoccer.commentary import Utterance
    from streamsoccer.journal import Step
    from streamsoccer.record import Record
    from streamsoccer.retrieval import Ranking
    from streamsoccer.schedule import Decision

__all__ = ["Moment", "Said", "Told"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A note on the side: what failed, what was let go, what a person should know."""

    kind: NoteKind
    code: str  # a word for programs
    text: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Said:
    """A sentence, what became of it, and what it was said from."""

    utterance: Utterance
    said: str = ""  # with names
    status: Status
    reason: str = ""
    event: str | None = None
    latency: Latency
    evidence: tuple[Evidence, ...] = ()
    active: Tensor | None = None  # M_t, where it was said from that

    @property
    def at(self) -> MatchTime:
        return self.utterance.cutoff


@dataclass(kw_only=True, slots=True, eq=False)
class Moment:
    """One step; filled while it runs, and not changed after it."""

    item: Progress | Gap
    at: MatchTime
    closed: list[tuple[CompletedMemory, ClosedBy]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    decision: Decision | None = None
    ranking: Ranking | None = None
    said: list[Said] = field(default_factory=list)
    notes: list[Told] = field(default_factory=list)
    # what the memory is after it
    active: str | None = None
    active_start: float | None = None
    transition: float | None = None
    pending: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    state: Mapping[str, Any] | None = None  # a snapshot, where one is due

    def tell(self, kind: NoteKind, code: str, text: str) -> None:
        self.notes.append(Told(kind=kind, code=code, text=text))

    def write(self, step: Step) -> list[str]:
        """Put it into a journal's step; gives the IDs of its sentences."""
        step.progress(
            active=self.active,
            active_start=self.active_start,
            transition=self.transition,
            pending=self.pending,
            facts=self.facts,
            timing=self.timing,
        )
        for memory, closed_by in self.closed:
            step.event(memory, closed_by)
        for record in self.records:
            step.record(record)
        if self.decision is not None:
            step.decision(self.decision, self.ranking)
        names = [
            step.utterance(
                each.utterance,
                said=each.said,
                status=each.status,
                reason=each.reason,
                event=each.event,
                latency=each.latency,
                evidence=each.evidence,
                active=each.active,
            )
            for each in self.said
        ]
        for note in self.notes:
            step.note(note.kind, note.code, note.text)
        step.counts(self.counts)
        if self.state is not None:
            step.snapshot(self.state)
        return names

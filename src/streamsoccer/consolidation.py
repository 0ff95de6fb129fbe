"""Memory-to-record consolidation in a match: M_j^c into B_t and the queue, c_j when it is due, R_j into L_t.

    p(c_j | P(M_j^c), x_j^ctx),    R_j = Assemble(metadata_j, c_j)

The captions of all matches of a step are generated together, after what was to be said: a record is ready for the next
step at the earliest.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamsoccer.arrival import Row
from streamsoccer.clock import MatchTime
from streamsoccer.domain import EVENT_SECONDS
from streamsoccer.journal_rows import NoteKind
from streamsoccer.mind import Mind
from streamsoccer.record import CaptionJob, assemble
from streamsoccer.voice import Asked, Given

__all__ = ["consolidate", "enqueue"]


def enqueue(mind: Mind, row: Row) -> None:
    """M_j^c is in B_t at once; its caption is a job, with the match as it stands at the closure."""
    if not row.moment.closed:
        return
    state, memory = row.state, row.moment.closed[0][0]
    state.counts["events"] += 1
    state.fold(memory)
    state.buffer.evict(row.cutoff)
    state.buffer.add(memory)
    lost = state.queue.push(CaptionJob(memory=memory, context=row.context(show_predicted=mind.config.show_predicted)))
    if lost is not None:
        state.counts["captions_dropped"] += 1
        row.moment.tell(NoteKind.DROPPED, "caption", f"no time for the caption of {lost.memory.event}")
    late = row.moment.at.seconds - memory.end.seconds
    row.completed = memory if late <= EVENT_SECONDS else None  # after a long gap it is no news


def consolidate(mind: Mind, rows: Sequence[Row], begun: float) -> None:
    """c_j of the jobs that are due, R_j into L_t: batch by batch, those of all matches side by side."""
    while due := [(row, job) for row in rows for job in _due(mind, row)]:
        asked = [
            Asked(
                memories=(job.memory.tokens.to(mind.device),),
                prompt=mind.prompter.record(job.context),
                max_tokens=mind.record.caption_tokens,
            )
            for _, job in due
        ]
        for (row, job), given in zip(due, mind.voice.say(asked), strict=True):
            _insert(mind, row, job, given, begun)


def _insert(mind: Mind, row: Row, job: CaptionJob, given: Given, begun: float) -> None:
    """R_j of a caption that says something."""
    state = row.state
    if given.problem:
        state.counts["captions_failed"] += 1
        row.moment.tell(NoteKind.FAULT, "caption", f"no caption of {job.memory.event}: {given.problem}")
        return
    text, placeholders = mind.prompter.unsided(given.text)
    record = assemble(job.memory, text, job.context, _ready(row, begun), placeholders)
    state.counts["captions"] += 1
    if record is None:
        state.counts["captions_empty"] += 1
        return
    if row.item is not None:
        state.ledger.append(record)
    row.moment.records.append(record)


def _due(mind: Mind, row: Row) -> list[CaptionJob]:
    """The next batch of captions that are due, or, where the match is behind, none."""
    queue, over = row.state.queue, row.item is None
    if row.given.captions is not None:
        return queue.take(row.given.captions)
    if row.stream.real and row.lag > mind.config.late_seconds and not over:
        return []
    return queue.due(row.cutoff, row.state.buffer, half_over=over)


def _ready(row: Row, begun: float) -> MatchTime:
    """Media time: that of the step, or at real pace where the clock stands by now."""
    if row.given.ready_at is not None:
        return row.given.ready_at
    passed = row.lag + row.stream.clock.now() - begun if row.stream.real else 0.0
    return MatchTime(row.moment.at.half, row.moment.at.seconds + passed)

"""MatchStream: a match as it runs. `step` is the paper's section 4: encode, adapt, transition, step the memory, buffer,
enqueue, decide, speak.

    V_t = F_vis(C_t), E_t = A(V_t), r_t = b_t or rho_t, M_t; M_j^c <- M_{t-1} where r_t = 1
    M_j^c -> B_t and the caption queue -> R_j -> L_t
    delta_t, Z_t = P_theta(...) -> y_t

Any number of matches step together (`step_together`); what one says never depends on which others are there. A clip may
come as frames or as cached visual tokens. A sentence is asked for before captions are: readiness is of the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from streamsoccer.advance import advance, close, encode
from streamsoccer.arrival import Arrival, Intervention, Row
from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import Clock, Cutoff, MatchTime, MediaClock
from streamsoccer.commentary import MemoryGate, Scope
from streamsoccer.consolidation import consolidate, enqueue
from streamsoccer.domain import MatchSheet, event_id
from streamsoccer.errors import UsageError
from streamsoccer.familiarity import look
from streamsoccer.feed import Feed, FeedLine
from streamsoccer.heads import TRACKS
from streamsoccer.journal_rows import NoteKind, Progress, Segment, Status, StepKind
from streamsoccer.mind import Mind
from streamsoccer.moment import Moment
from streamsoccer.retrieval import Ranking, eligible, rank
from streamsoccer.schedule import Seen
from streamsoccer.speaking import Wanted, speak
from streamsoccer.state import MatchState

__all__ = ["MatchStream", "reach", "recall", "step_together"]


class MatchStream:
    """One match: a state that changes over weights that do not."""

    def __init__(
        self,
        mind: Mind,
        match: str,
        *,
        sheet: MatchSheet | None = None,
        feed: Feed | None = None,
        clock: Clock | None = None,
        real: bool = False,
    ) -> None:
        """`clock` is what delays are measured with. `real`: a record is ready when its caption was written on that
        clock; otherwise at the media time of the step that wrote it."""
        self.mind, self.feed, self.real = mind, feed, real
        self.clock = clock or MediaClock()
        self.sheet = sheet or MatchSheet()
        settings = mind.model.config
        self.state = MatchState(
            match=match,
            model=mind.fingerprint,
            encoder=mind.model.encoder.start(),
            buffer=settings.buffer,
            record=mind.record,
            schedule=mind.config.schedule,
        )
        if feed is not None:
            self.state.feed = {}

    def step(
        self, item: Clip | Gap | Arrival, *, lag: float = 0.0, intervention: Intervention | None = None
    ) -> list[Moment]:
        """Take in one clip or gap; where it belongs to another half, the half before it ends first."""
        (moments,) = step_together([self], [item], lags=[lag], interventions=[intervention])
        return moments

    def end(self, *, intervention: Intervention | None = None) -> list[Moment]:
        """The half is over, and with the last one the match: close, say, drain, forget."""
        if not self.state.position.open:
            return []
        (moments,) = step_together([self], [None], interventions=[intervention])
        return moments

    def feed_problems(self) -> list[str]:
        """What was wrong with lines of the feed that have come since the last step."""
        if self.feed is None:
            return []
        problems = list(self.feed.problems)
        self.feed.problems.clear()
        return problems


def step_together(
    streams: Sequence[MatchStream],
    items: Sequence[Clip | Gap | Arrival | None],
    *,
    lags: Sequence[float] | None = None,
    interventions: Sequence[Intervention | None] | None = None,
) -> list[list[Moment]]:
    """One item for each match, all matches over the same weights; nothing stands for the end of its half."""
    if len({id(each.mind) for each in streams}) > 1:
        raise UsageError("matches that step together share one Mind")
    lags, given = lags or [0.0] * len(streams), interventions or [None] * len(streams)
    moments: list[list[Moment]] = [[] for _ in streams]
    ending = [
        place
        for place, (stream, item) in enumerate(zip(streams, items, strict=True))
        if stream.state.position.open and (item is None or item.half != stream.state.position.half)
    ]
    for places in (ending, [place for place, item in enumerate(items) if item is not None]):
        rows = [
            _row(streams[place], None if places is ending else items[place], lags[place], given[place])
            for place in places
        ]
        if rows:
            _step(rows)
        for place, row in zip(places, rows, strict=True):
            moments[place].append(row.moment)
    return moments


def _row(stream: MatchStream, item: Clip | Gap | Arrival | None, lag: float, given: Intervention | None) -> Row:
    state, at = stream.state, stream.state.position
    if item is None:
        what: Progress | Gap = Progress.half_end(at.at)
        cutoff = at.at
    else:
        if at.open and item.half == at.half and item.end < at.end and not isinstance(item, Gap):
            raise UsageError(
                f"a clip that ends at {item.available_at} comes after {at.at}: clips come in order of time"
            )
        reached = at.end if item.half == at.half else 0.0
        cutoff = MatchTime(item.half, max(item.end, reached))
        if isinstance(item, Gap):
            what = item
        else:
            what = Progress(step=0, kind=StepKind.CLIP, half=item.half, clip=item.index, start=item.start, end=item.end)
    state.step += 1
    fed: list[FeedLine] = []
    if stream.feed is not None and state.feed is not None:
        fed = [each for each in stream.feed.until(Cutoff(cutoff)) if each.id not in state.feed]
        state.feed.update((each.id, each) for each in fed)
        stream.feed.look(Cutoff(cutoff))
    moment = Moment(item=what, at=cutoff)
    return Row(stream=stream, item=item, moment=moment, lag=lag, given=given or Intervention(), fed=tuple(fed))


def _step(rows: Sequence[Row]) -> None:
    """The paper's section 4, for all of these matches."""
    mind, clock = rows[0].stream.mind, rows[0].stream.clock
    begun = clock.now()
    with torch.inference_mode():
        encode(mind, rows)
        seen = clock.now()
        advance(mind, rows)
        close(mind, rows)
        for row in rows:
            look(mind, row)
            enqueue(mind, row)
            _decide(mind, row)
    decided = clock.now()
    _speak(mind, rows, {Segment.VISION: seen - begun, Segment.MEMORY: decided - seen})
    spoken = clock.now()
    consolidate(mind, rows, begun)
    parts = {"vision": seen - begun, "memory": decided - seen, "generation": spoken - decided}
    for row in rows:
        row.moment.timing = {**parts, "records": clock.now() - spoken, "lag": row.lag, "together": len(rows)}
        _finish(mind, row)


def _decide(mind: Mind, row: Row) -> None:
    """delta_t, from what is there now; records are ranked only where that could open a mode."""
    state, cutoff = row.state, row.cutoff
    state.buffer.evict(cutoff)
    if row.given.silent:
        return
    seen = Seen(
        cutoff=cutoff,
        completed=row.completed,
        window=state.buffer.window(cutoff),
        ready=state.ledger.ready(cutoff),
    )
    if state.scheduler.recalls(seen):
        row.moment.ranking = recall(mind, state, cutoff)
        seen = replace(seen, ranking=row.moment.ranking)
    row.moment.decision = state.scheduler.decide(seen)


def recall(mind: Mind, state: MatchState, cutoff: Cutoff) -> Ranking | None:
    """R_t: the eligible records, ranked by what M_t and B_t^sel are about."""
    records = eligible(state.ledger.ready(cutoff), cutoff, mind.model.config.retrieval)
    about = _about(mind, state, cutoff)
    if about is None:
        return None
    with torch.inference_mode():
        query = mind.model.context.query(about)
        null = float(mind.model.context.null_score(query)[0])
    return rank(query[0].float().cpu().numpy(), null, records, mind.model.config.retrieval)


def reach(mind: Mind, state: MatchState, cutoff: Cutoff) -> Scope:
    """How far a line may look back: as far as the model was trained to, of that what a learned gate opens."""
    if mind.gate is MemoryGate.RULE or (about := _about(mind, state, cutoff)) is None:
        return mind.scope
    with torch.inference_mode():
        needed = int(mind.model.context.routes(about)[0].argmax())
    return mind.scope.within(TRACKS[needed])


def _about(mind: Mind, state: MatchState, cutoff: Cutoff) -> Tensor | None:
    """What M_t and B_t^sel are about [1, D], newest first; nothing where neither is there."""
    active = state.active(cutoff)
    memories = [] if active is None else [active.tokens]
    memories.extend(each.tokens for each in reversed(state.buffer.select(cutoff)))
    if not memories:
        return None
    with torch.inference_mode():
        stacked = torch.stack([each.to(mind.device) for each in memories])[None]
        mask = torch.ones(1, len(memories), dtype=torch.bool, device=mind.device)
        found: Tensor = mind.model.context.summary(stacked, mask)
    return found


def _speak(mind: Mind, rows: Sequence[Row], spent: Mapping[Segment, float]) -> None:
    """y_t of every match that is to speak; its mode's cooldown starts whatever becomes of the sentence."""
    chosen: list[Row] = []
    wanted: list[Wanted] = []
    for row in rows:
        decision = row.moment.decision
        if decision is None or decision.track is None:
            continue
        chosen.append(row)
        wanted.append(
            Wanted(
                state=row.state,
                sheet=row.stream.sheet,
                cutoff=row.cutoff,
                track=decision.track,
                completed=row.completed,
                ranking=row.moment.ranking,
                match=row.context(show_predicted=mind.config.show_predicted),
                scope=reach(mind, row.state, row.cutoff),
                spent={Segment.WAITING: row.lag, **spent},
            )
        )
    for row, said in zip(
        chosen, speak(wanted, mind.voice, mind.prompter, mind.config, rows[0].stream.clock), strict=True
    ):
        assert row.moment.decision is not None
        row.state.scheduler.note(row.moment.decision)
        row.moment.said.append(said)
        if said.status is Status.FAILED:
            row.moment.tell(NoteKind.FAULT, "generation", f"no {said.utterance.track} sentence: {said.reason}")


def _finish(mind: Mind, row: Row) -> None:
    """What stands after the step, and a snapshot of it where one is due."""
    moment, state = row.moment, row.state
    for problem in row.stream.feed_problems():
        moment.tell(NoteKind.FAULT, "feed", problem)
        state.counts["feed_lines_refused"] += 1
    if row.item is None:
        state.end_half()
    elif state.open is not None:
        moment.active_start = state.open.start
        moment.active = event_id(state.match, state.position.half, state.open.start)
    moment.pending = len(state.queue)
    moment.facts = row.context(show_predicted=mind.config.show_predicted).state()
    if row.fed:
        moment.facts = {**moment.facts, "feed": [each.state() for each in row.fed]}
    moment.counts = dict(state.counts)
    # what need not come out the same a second time is never run a second time
    chance = row.stream.real or any(each.kind is NoteKind.FAULT for each in moment.notes)
    if chance or row.item is None or state.step % mind.config.snapshot_clips == 0:
        moment.state = state.save()

"""What a sample of stage 3 may see: its teacher-forced context, or the one that the runtime would have had.

taught  memories under the labels' resets; for the historical track reference records, its latest positive among them
own     memories of the model's own run, selected by the runtime's own buffer; generated records of its own ledger,
        which the retrieval heads rank as they stand at that step

A scene names memories by their place and holds no tensors: the cache path reads them from the memory cache, the joint
path computes them. Everything comes through `Cutoff.admit` in `build_context`.

K slots, D = d_m
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.actions import CARDS
from streamsoccer.buffer import BufferConfig, CompletedMemory, EventBuffer
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import ActiveMemory, Context, Scope, build_context
from streamsoccer.domain import CLIP_SECONDS, EventRow, SampleRow, Tally, Track
from streamsoccer.prompt import Prompter
from streamsoccer.record import Ledger, MatchContext, Record, from_row
from streamsoccer.retrieval import RetrievalConfig, eligible
from streamsoccer.training.corpus import Corpus, Half
from streamsoccer.training.memory_cache import LABELS, OWN, Run
from streamsoccer.training.own_run import OwnEvent, OwnRecords
from streamsoccer.training.recipe import CommentaryStage

__all__ = ["Contexts", "Place", "Scene", "Seen", "clip_at"]

_NO_KEY: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
_NO_TOKENS = torch.zeros(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Whose memory: clips first .. last of an event under one run's resets, `last` being the newest it has taken in."""

    match: str
    half: int
    first: int
    last: int
    run: Run = LABELS


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Seen:
    """A completed event of a context: where its memory is, and the memory without its tokens."""

    place: Place
    memory: CompletedMemory


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scene:
    """One sample's context, and what its ranking losses compare; whatever stands here is available at the cutoff."""

    sample: SampleRow
    own: bool  # the runtime's context
    cutoff: Cutoff
    match: MatchContext
    active: tuple[Place, MatchTime] | None  # and when its event began
    completed: Seen | None
    selected: tuple[Seen, ...]  # oldest first
    records: tuple[Record, ...] = ()  # taught: those in the prompt, best first
    ranked: tuple[tuple[Record, Place], ...] = ()  # own: the eligible ones, which retrieval ranks
    local: tuple[tuple[Place, bool], ...] = ()  # candidates of L_local, and which the target speaks of
    recalled: tuple[tuple[Place, bool], ...] = ()  # candidates of L_retr, and which are positive

    @property
    def about(self) -> tuple[Place, ...]:
        """[M_t; B_t^sel], newest first: what route, local and retrieval scores are asked with, on every track."""
        active = [] if self.active is None else [self.active[0]]
        found = [*active, *(each.place for each in reversed(self.selected))]
        return tuple(found) or (() if self.completed is None else (self.completed.place,))

    def places(self, *, local: bool = True, recall: bool = True) -> tuple[Place, ...]:
        """All memories that are needed, those of each ranking where it is wanted."""
        found = list(self.about)
        if self.completed is not None:
            found.append(self.completed.place)
        if local:
            found += [place for place, _ in self.local]
        if recall:
            found += [place for place, _ in self.recalled]
            found += [place for _, place in self.ranked]
        return tuple(dict.fromkeys(found))

    def context(
        self, tokens: Callable[[Place], Tensor], records: Sequence[Record], prompter: Prompter, scope: Scope
    ) -> Context:
        """Z_t's memories and the prompt, as in a match."""

        def filled(seen: Seen) -> CompletedMemory:
            return replace(seen.memory, tokens=tokens(seen.place))

        active = None
        if self.active is not None:
            place, start = self.active
            active = ActiveMemory(tokens=tokens(place), start=start, available_at=self.cutoff.at)
        return build_context(
            self.sample.track,
            self.cutoff,
            active=active,
            completed=None if self.completed is None else filled(self.completed),
            selected=[filled(each) for each in self.selected],
            records=records,
            context=self.match,
            prompter=prompter,
            scope=scope,
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Course:
    """The events of a half in order of closure, as a scene takes them; what is known at a time is a beginning of it."""

    seen: tuple[Seen, ...]
    known: tuple[float, ...]  # seconds from when on each is available

    @classmethod
    def of(cls, events: Sequence[tuple[Place, CompletedMemory]]) -> _Course:
        return cls(
            seen=tuple(Seen(place=place, memory=memory) for place, memory in events),
            known=tuple(memory.available_at.seconds for _, memory in events),
        )

    def until(self, at: MatchTime) -> int:
        """How many are available."""
        return bisect_right(self.known, at.seconds)


class Contexts:
    """Scenes of samples; threads may ask at the same time."""

    def __init__(
        self,
        corpus: Corpus,
        stage: CommentaryStage,
        buffer: BufferConfig,
        retrieval: RetrievalConfig,
        own: OwnRecords | None = None,
    ) -> None:
        self.corpus, self.stage, self.buffer, self.retrieval, self.own_records = corpus, stage, buffer, retrieval, own
        self._ledgers: dict[tuple[str, int], Ledger] = {}
        self._courses: dict[tuple[str, int, Run], _Course] = {}

    # --- teacher-forced ---

    def taught(self, sample: SampleRow, chance: np.random.Generator | None = None) -> Scene:
        """The context that the labels give; `chance` varies what training varies, without it nothing is drawn."""
        cutoff, half = Cutoff(sample.cutoff), self.corpus.half(sample.match, sample.half)
        anchor = self.corpus.event(sample.event, sample.id)
        course = self._course(half)
        many = course.until(sample.cutoff)
        following = None if sample.active is None else self.corpus.event(sample.active, sample.id)
        active = None
        if following is not None:
            arrived = clip_at(half, sample.cutoff)
            place = Place(match=sample.match, half=sample.half, first=following.first, last=arrived)
            active = (place, following.start)
        return Scene(
            sample=sample,
            own=False,
            cutoff=cutoff,
            match=self._match(sample, chance),
            active=active,
            completed=course.seen[anchor.index],
            selected=self._selected(course, many, cutoff),
            records=self._reference(sample, chance),
            local=self._local(sample),
            recalled=self._recalled(sample, half.events[:many], chance),
        )

    def _course(self, half: Half) -> _Course:
        key = (half.match, half.half, LABELS)
        if (known := self._courses.get(key)) is None:
            known = self._courses[key] = _Course.of([(_label_place(each), _bare(each)) for each in half.events])
        return known

    def _match(self, sample: SampleRow, chance: np.random.Generator | None) -> MatchContext:
        dropped, unsure = (chance.random(), chance.random()) if chance is not None else (1.0, 1.0)
        return MatchContext(
            at=sample.cutoff,
            tally=None if dropped < self.stage.context_dropout else sample.state,
            sure=unsure >= self.stage.context_unsure,
        )

    def _reference(self, sample: SampleRow, chance: np.random.Generator | None) -> tuple[Record, ...]:
        """Reference records: the latest positive, and others up to the top k; in training in any order."""
        if sample.track is not Track.HISTORICAL:
            return ()
        latest, others = sample.positives[-1], [*sample.hard_negatives, *reversed(sample.positives[:-1])]
        if chance is not None:
            others = [others[place] for place in chance.permutation(len(others))]
        chosen = [latest, *others][: self.retrieval.top]
        if chance is not None:
            chosen = [chosen[place] for place in chance.permutation(len(chosen))]
        return tuple(from_row(self.corpus.record(each, sample.id), _NO_KEY) for each in chosen)

    def _local(self, sample: SampleRow) -> tuple[tuple[Place, bool], ...]:
        """All completed events of the window; the newest and the positives where there are too many."""
        positive = set(sample.local_positives)
        others = [each for each in sample.local_candidates if each not in positive]
        room = max(0, self.stage.local_candidates - len(positive))
        kept = [*sample.local_positives, *others[len(others) - min(room, len(others)) :]]
        return tuple((self._candidate(each, sample), each in positive) for each in kept)

    def _candidate(self, identity: str, sample: SampleRow) -> Place:
        """A label event that a ranking compares; it may not be of the future."""
        return _label_place(Cutoff(sample.cutoff).admit(self.corpus.event(identity, sample.id)))

    def _recalled(
        self, sample: SampleRow, known: Sequence[EventRow], chance: np.random.Generator | None
    ) -> tuple[tuple[Place, bool], ...]:
        """Positives, hard negatives, other records, and events without a caption: in a match they have records too."""
        most = self.stage.recalled
        positives = list(sample.positives[-max(1, most // 3) :])
        pools = [list(sample.hard_negatives), self._others(sample, known)]
        if not positives:
            return ()
        if chance is not None:
            pools = [[pool[place] for place in chance.permutation(len(pool))] for pool in pools]
        half = (most - len(positives) + 1) // 2
        hard, others = pools[0][:half], pools[1]
        chosen = [*hard, *others[: most - len(positives) - len(hard)]]
        events = [(self.corpus.record(each, sample.id).event, True) for each in positives]
        for name in chosen:
            found = self.corpus.records.get(name)
            events.append((name if found is None else found.event, False))
        return tuple((self._candidate(name, sample), right) for name, right in events)

    def _others(self, sample: SampleRow, known: Sequence[EventRow]) -> list[str]:
        """Eligible events, with a record or without, in which the anchor's side did not do what it does now."""
        named = {self.corpus.record(each, sample.id).event for each in (*sample.candidates, *sample.hard_negatives)}
        label, side = sample.fields.get("action"), sample.fields.get("side")
        kind = CARDS if label in CARDS else {label}
        gap = self.retrieval.gap_seconds
        plain = [
            each.id
            for each in known
            if each.id not in named
            and sample.cutoff.seconds - each.end.seconds >= gap
            and not any(done.label in kind and done.side == side for done in each.actions)
        ]
        taken = {*sample.positives, *sample.hard_negatives}
        return [*(each for each in sample.candidates if each not in taken), *plain]

    # --- the runtime's own ---

    def own(self, sample: SampleRow, chance: np.random.Generator | None = None) -> Scene | None:
        """The context that a match would have had at this cutoff; none where it had no memory to speak from."""
        if self.own_records is None:
            return None
        cutoff = Cutoff(sample.cutoff)
        events = self.own_records.events(sample.match)
        known = bisect_right(events, sample.cutoff, key=lambda each: each.available_at)
        tally = events[known - 1].tally if known else Tally()
        course = self._own_course(sample.match, sample.half)
        many = course.until(sample.cutoff)
        active = self._active(sample, events, known)
        completed = course.seen[many - 1] if many else None
        if (completed is None) if sample.track is Track.CURRENT else (active is None and completed is None):
            return None
        ranked: tuple[tuple[Record, Place], ...] = ()
        if sample.track is Track.HISTORICAL:
            places = {each.memory.event: each.place for each in course.seen[:many]}
            ready = eligible(self._ledger(sample.match, sample.half).ready(cutoff), cutoff, self.retrieval)
            ranked = tuple((each, places[each.event]) for each in ready)
        return replace(
            self.taught(sample, chance),
            own=True,
            match=MatchContext(at=sample.cutoff, tally=tally, sure=False),
            active=active,
            completed=completed,
            selected=self._selected(course, many, cutoff),
            records=(),
            ranked=ranked,
        )

    def _own_course(self, match: str, half: int) -> _Course:
        if (known := self._courses.get((match, half, OWN))) is None:
            assert self.own_records is not None
            events = [each for each in self.own_records.events(match) if each.half == half]
            known = _Course.of([(_own_place(each), each.completed(_NO_TOKENS, _NO_KEY)) for each in events])
            self._courses[match, half, OWN] = known
        return known

    def _active(self, sample: SampleRow, events: Sequence[OwnEvent], known: int) -> tuple[Place, MatchTime] | None:
        """M_t of the own run at the cutoff: the event that has begun and not closed."""
        if known == len(events) or events[known].half != sample.half:
            return None
        going = events[known]
        arrived = clip_at(self.corpus.half(sample.match, sample.half), sample.cutoff)
        place = Place(match=sample.match, half=sample.half, first=going.first, last=arrived, run=OWN)
        return place, going.start

    def _ledger(self, match: str, half: int) -> Ledger:
        """All records of a half's own run; what is ready at a cutoff it says itself."""
        if (known := self._ledgers.get((match, half))) is None and self.own_records is not None:
            known = Ledger()
            for each in self.own_records.events(match):
                record = each.record(_NO_KEY) if each.half == half else None
                if record is not None:
                    known.append(record)
            self._ledgers[match, half] = known
        return known or Ledger()

    def _selected(self, course: _Course, many: int, cutoff: Cutoff) -> tuple[Seen, ...]:
        """B_t^sel, by the runtime's buffer, which has long let go of what ended before its horizon."""
        begin = many
        while begin and cutoff.at.seconds - course.seen[begin - 1].memory.end.seconds <= self.buffer.seconds:
            begin -= 1
        near = course.seen[begin:many]
        buffer = EventBuffer(self.buffer)
        for each in near:
            buffer.add(each.memory)
        chosen = {each.event for each in buffer.select(cutoff)}
        return tuple(each for each in near if each.memory.event in chosen)


def clip_at(half: Half, at: MatchTime) -> int:
    """The clip that ends at this moment."""
    return min(half.clips, math.ceil(at.seconds / CLIP_SECONDS)) - 1


def _label_place(event: EventRow) -> Place:
    return Place(match=event.match, half=event.half, first=event.first, last=event.first + event.clips - 1)


def _own_place(event: OwnEvent) -> Place:
    return Place(match=event.match, half=event.half, first=event.first, last=event.last, run=OWN)


def _bare(event: EventRow) -> CompletedMemory:
    """A label event as the buffer takes it, without tokens."""
    return CompletedMemory(
        event=event.id,
        half=event.half,
        start=event.start,
        end=event.end,
        available_at=event.available_at,
        tokens=_NO_TOKENS,
        key=_NO_KEY,
        type=event.type,
        actions=tuple(each.label for each in event.actions),
        side=event.side,
    )

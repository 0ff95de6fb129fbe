"""A match again from its journal, without its video: what was decided and said is decided and said anew, and compared.

The journal holds what the video brought: closed memories, the active memory where a line was said from it, the feed's
lines, and since when each record was ready. From these and the same weights follow the state of the match, every
decision, every caption and every sentence. Where one comes out otherwise, the replay says so and goes on with what the
journal has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MediaClock
from streamsoccer.config import from_mapping
from streamsoccer.domain import EVENT_SECONDS
from streamsoccer.encoder import StreamState
from streamsoccer.feed import FeedLine
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import Closure, Decided, Line, Progress, Ranked, StepKind
from streamsoccer.mind import Mind
from streamsoccer.moment import Said
from streamsoccer.record import Record
from streamsoccer.retrieval import Ranking
from streamsoccer.runtime import RuntimeConfig
from streamsoccer.schedule import Seen
from streamsoccer.sheet import sheet_of
from streamsoccer.speaking import Wanted, speak
from streamsoccer.state import Open, Position
from streamsoccer.stream import MatchStream, reach, recall
from streamsoccer.voice import Asked

__all__ = ["Difference", "Replayed", "replay", "runtime_of"]

_SCORES = 1e-3  # a score that was computed elsewhere may differ by so much


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What came out otherwise than the journal has it."""

    what: str  # facts, decision, ranking, record, sentence, status
    where: str  # an ID, or a time of the match
    there: str
    now: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """One step again: the journal's line with what was said now, and all that differs."""

    progress: Progress
    line: Line | None = None
    said: Said | None = None
    records: int = 0
    decisions: int = 0
    differences: tuple[Difference, ...] = ()


@dataclass(slots=True)
class _Step:
    """The rows of one step."""

    progress: Progress | None = None
    closures: list[Closure] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    decided: Decided | None = None
    lines: list[Line] = field(default_factory=list)


def runtime_of(reader: JournalReader) -> RuntimeConfig | None:
    """The settings that the match was run with."""
    held = reader.header.options.get("runtime")
    return None if held is None else from_mapping(RuntimeConfig, held, reader.path, "runtime")


def replay(reader: JournalReader, mind: Mind) -> Iterator[Replayed]:
    """Step by step; `mind` has the weights and, from `runtime_of`, the settings of the match."""
    sheet = sheet_of(reader.header.sheet, reader.path)
    stream = MatchStream(mind, reader.header.match, sheet=sheet)
    if reader.header.options.get("feed"):
        stream.state.feed = {}
    for step in _steps(reader):
        yield _Again(reader, stream, step).run()


def _steps(reader: JournalReader) -> Iterator[_Step]:
    rows = (each for each in reader.since(0, limit=1 << 40) if each.step)
    for _, group in groupby(rows, key=lambda each: each.step):
        step = _Step()
        for each in group:
            match each.row:
                case Progress():
                    step.progress = each.row
                case Closure():
                    step.closures.append(each.row)
                case Record():
                    step.records.append(each.row)
                case Decided():
                    step.decided = each.row
                case Line():
                    step.lines.append(each.row)
                case _:
                    pass
        if step.progress is not None:
            yield step


class _Again:
    """One step run again, in the order of stream.py."""

    def __init__(self, reader: JournalReader, stream: MatchStream, step: _Step) -> None:
        assert step.progress is not None
        self.reader, self.stream, self.step, self.progress = reader, stream, step, step.progress
        self.mind, self.state = stream.mind, stream.state
        self.cutoff = Cutoff(self.progress.cutoff)
        self.found: list[Difference] = []

    def run(self) -> Replayed:
        completed = self._arrive()
        said = self._decide_and_speak(completed)
        self._consolidate()
        if self.progress.kind is StepKind.HALF_END:
            self.state.end_half()
        return Replayed(
            progress=self.progress,
            line=next(iter(self.step.lines), None),
            said=said,
            records=len(self.step.records),
            decisions=self.step.decided is not None,
            differences=tuple(self.found),
        )

    def _arrive(self) -> CompletedMemory | None:
        """What the video brought; gives the event that has just closed, where that is news."""
        state, at = self.state, self.progress.cutoff
        state.step += 1
        if state.feed is not None:
            lines = map(FeedLine.of_state, self.progress.facts.get("feed", ()))
            state.feed.update((each.id, each) for each in lines)
        state.open = None if self.progress.active_start is None else Open(start=self.progress.active_start, frames=0)
        state.position = Position(half=at.half, start=self.progress.start, end=at.seconds, open=True)
        completed = None
        for closure in self.step.closures:
            memory = self.reader.memory(closure.id)
            state.fold(memory)
            state.buffer.evict(self.cutoff)
            state.buffer.add(memory)
            completed = memory if at.seconds - memory.end.seconds <= EVENT_SECONDS else None
        facts = state.context(at, show_predicted=self.mind.config.show_predicted).state()
        there = {name: value for name, value in self.progress.facts.items() if name != "feed"}
        self._compare("facts", str(at), there, facts)
        return completed

    def _decide_and_speak(self, completed: CompletedMemory | None) -> Said | None:
        decided, state = self.step.decided, self.state
        if decided is None:
            return None
        state.buffer.evict(self.cutoff)
        ready = state.ledger.ready(self.cutoff)
        ranking = self._ranking(decided.ranking, ready)
        seen = Seen(
            cutoff=self.cutoff,
            completed=completed,
            window=state.buffer.window(self.cutoff),
            ready=ready,
            ranking=ranking,
        )
        now = state.scheduler.decide(seen)
        told = [f"{each.track.value}: {each.reason.value} {each.detail}".strip() for each in now.gates]
        before = [f"{each.track.value}: {each.reason.value} {each.detail}".strip() for each in decided.decision.gates]
        self._compare("decision", str(self.progress.cutoff), before, told)
        decision = decided.decision
        if decision.track is None:
            return None
        self._active()
        if ranking is not None:
            self._compare_ranking(ranking)
        wanted = Wanted(
            state=state,
            sheet=self.stream.sheet,
            cutoff=self.cutoff,
            track=decision.track,
            completed=completed,
            ranking=ranking,
            match=state.context(self.progress.cutoff, show_predicted=self.mind.config.show_predicted),
            scope=reach(self.mind, state, self.cutoff),
        )
        (said,) = speak([wanted], self.mind.voice, self.mind.prompter, self.mind.config, MediaClock())
        state.scheduler.note(decision)
        for line in self.step.lines:
            self._compare("sentence", line.id, line.text, said.utterance.text)
            self._compare("status", line.id, f"{line.status.value} {line.reason}", f"{said.status.value} {said.reason}")
            if line.text == said.utterance.text:
                self._compare("names", line.id, line.said, said.said)
        return said

    def _active(self) -> None:
        """M_t as the journal's line was said from it."""
        for line in self.step.lines:
            tokens = self.reader.active(line.id)
            if tokens is not None:
                held = self.state.encoder.tensors()
                self.state.encoder = StreamState.of({**held, "memory": tokens.to(held["memory"])[None]})

    def _ranking(self, ranked: Ranked | None, ready: Sequence[Record]) -> Ranking | None:
        """What retrieval offered: the active memory stands in the journal only where something was said from it."""
        if ranked is None:
            return None
        held = {each.id: each for each in ready}
        return Ranking(
            records=tuple((held[name], score) for name, score in ranked.records if name in held),
            null=ranked.null,
            null_won=ranked.null_won,
            threshold=ranked.threshold,
        )

    def _compare_ranking(self, ranking: Ranking) -> None:
        if self.state.open is not None and not any(self.reader.active(each.id) is not None for each in self.step.lines):
            return  # it was made with an active memory that the journal does not have
        now = recall(self.mind, self.state, self.cutoff)
        there = [(record.id, score) for record, score in ranking.records]
        again = [] if now is None else [(record.id, score) for record, score in now.records]
        near = len(there) == len(again) and all(
            one == other and abs(a - b) <= _SCORES for (one, a), (other, b) in zip(there, again, strict=True)
        )
        if not near:
            self._compare("ranking", str(self.progress.cutoff), there, again)

    def _consolidate(self) -> None:
        """The captions of this step's records again, and the records as the journal has them into L_t."""
        prompter = self.mind.prompter
        asked = [
            Asked(
                memories=(self.reader.memory(each.event).tokens.to(self.mind.device),),
                prompt=prompter.record(each.context),
                max_tokens=self.mind.record.caption_tokens,
            )
            for each in self.step.records
        ]
        for record, given in zip(self.step.records, self.mind.voice.say(asked), strict=True):
            text = " ".join(prompter.unsided(given.text)[0].split())
            self._compare("record", record.id, record.text, given.problem or text)
            if self.progress.kind is not StepKind.HALF_END:
                self.state.ledger.append(record)

    def _compare(self, what: str, where: str, there: object, now: object) -> None:
        if there != now:
            self.found.append(Difference(what=what, where=where, there=str(there), now=str(now)))

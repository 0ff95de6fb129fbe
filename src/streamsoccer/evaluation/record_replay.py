"""What a trained stage 2 writes of the events that records are of: the labels' own, and the own run's in their place.

`taught`  the labels' closure and the labels' state, as in training
`own`     the event of the model's own run that shares most clips with the labels' one, where there is any; its own
          memory at its own closure, and the state that the heads predict
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from streamsoccer.checkpoint import Pretrained
from streamsoccer.clock import MatchTime
from streamsoccer.config import from_mapping
from streamsoccer.domain import Placeholder, RecordRow, Split
from streamsoccer.errors import DataError
from streamsoccer.evaluation.baselines.reference_lines import Asked, TrainingLines
from streamsoccer.evaluation.frontend import Span, pair_spans
from streamsoccer.evaluation.interventions import Change, partners
from streamsoccer.evaluation.memories import gather, label_place, mean_memory, train_matches
from streamsoccer.evaluation.predictions import OWN, RECORD, TAUGHT, Prediction, ReplayHeader, name_of
from streamsoccer.evaluation.writing import Writer, load_run
from streamsoccer.language import Request
from streamsoccer.model import stack_memories
from streamsoccer.perception import Perceived, PerceptionConfig, perceive
from streamsoccer.prompt import unsided
from streamsoccer.record import MatchContext
from streamsoccer.training.contexts import Place
from streamsoccer.training.corpus import Corpus, Half
from streamsoccer.training.foundation import commit, machine
from streamsoccer.training.memory_cache import OWN as OWN_RUN
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.own_run import OwnEvent, closed
from streamsoccer.training.recipe import RecordStage
from streamsoccer.training.records import records_of, spread

__all__ = ["RecordReplay"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Asked:
    """A record's event with the memory and the state that it is to be told from."""

    row: RecordRow
    place: Place
    start: MatchTime
    known: MatchContext
    kind: str


class RecordReplay:
    """One stage 2 run over the records of a split."""

    def __init__(
        self,
        data: Path,
        memory: Path,
        run: Path,
        *,
        split: Split = Split.TEST,
        limit: int | None = None,
        backbone: Path | None = None,
        device: str = "cpu",
    ) -> None:
        self.loaded, self.line = load_run(run, ("encoder", "projector"), backbone=backbone, device=device)
        self.corpus, self.split, self.limit = Corpus(data), split, limit
        hashes = self.loaded.checkpoint.hashes
        self.cache = MemoryCache(memory, encoder=hashes["encoder"], clips=self.corpus.fingerprint["clips"])
        self.stage = from_mapping(RecordStage, self.line["recipe"], self.loaded.folder, "recipe")
        rows = records_of(self.corpus, split, legacy=self.stage.legacy_split)
        self.rows: list[RecordRow] = rows if limit is None else spread(rows, limit)
        self.cache.require((each.match, each.half) for each in self.rows)

    @cached_property
    def training(self) -> TrainingLines:
        return TrainingLines(self.corpus, legacy=self.stage.legacy_split)

    def header(self) -> ReplayHeader:
        return ReplayHeader(
            stage="records",
            split=self.split.value,
            run=dict(self.loaded.checkpoint.hashes),
            data=self.corpus.fingerprint,
            representation=self.stage.representation.value,
            seed=self.stage.loop.seed,
            step=int(self.line.get("step", 0)),
            train_matches=train_matches(self.corpus),
            limit=self.limit,
            anchors={RECORD: len(self.rows)},
            commit=commit(),
            machine=machine(),
        )

    def write(
        self,
        out: Path,
        *,
        conditions: Sequence[str] = (OWN, TAUGHT),
        changes: Sequence[Change] = (Change.NONE,),
        progress: Callable[[str], None] = lambda line: None,
    ) -> dict[str, int]:
        """Write what is not there yet, one file a condition and change; says how many lines each has."""
        writer = Writer(out, self.header())
        for condition in conditions:
            wanted = [
                each for each in changes if not each.of_records and not writer.has(name_of(condition, each.value))
            ]
            if wanted:
                self._condition(condition, wanted, writer, progress)
        return writer.finish()

    @torch.inference_mode()
    def _condition(
        self, condition: str, changes: Sequence[Change], writer: Writer, progress: Callable[[str], None]
    ) -> None:
        since = writer.clock.now()
        asked = self._own() if condition == OWN else [self._taught(row) for row in self.rows]
        found = [each for each in asked if each is not None]
        if not found:
            raise DataError(f"no record of the {self.split} split has an event to be told from")
        where, memories = gather(self.cache, [each.place for each in found], self.stage.representation)
        memories = memories.to(self.loaded.model.device)[[where[each.place] for each in found]]
        told = {row.id: _unsaid(row, self.corpus) for row in self.rows}
        for each in found:
            told[each.row.id] = replace(told[each.row.id], covered=True, on_event=True, start=each.start.seconds)
        progress(f"{condition}: {len(found)} of {len(self.rows)} records have an event")
        for change in changes:
            began = writer.clock.now() if change else since
            if change.wordless:
                texts = self._found(change, found, memories)
            else:
                known = [each.known for each in found]
                if change is Change.BLIND and condition == OWN:
                    known = [MatchContext(at=each.at, tally=None, sure=False) for each in known]
                texts = self._said(self._changed(change, found, memories), known)
            said = {
                each.row.id: replace(told[each.row.id], text=text, placeholders=placeholders)
                for each, (text, placeholders) in zip(found, texts, strict=True)
            }
            writer.add(name_of(condition, change.value), [said.get(row.id, told[row.id]) for row in self.rows], began)
            progress(f"{name_of(condition, change.value)}: {len(said)} lines, {writer.clock.now() - began:.1f} s")

    def _taught(self, row: RecordRow) -> _Asked:
        event = self.corpus.event(row.event, row.id)
        known = MatchContext(at=row.available_at, tally=row.state, sure=True)
        return _Asked(row=row, place=label_place(event), start=row.start, known=known, kind=row.spoken.label.value)

    def _own(self) -> list[_Asked | None]:
        """For each record the own event in its event's place."""
        found: dict[str, _Asked] = {}
        rows: dict[str, list[RecordRow]] = {}
        for row in self.rows:
            rows.setdefault(row.match, []).append(row)
        for match, mine in rows.items():
            halves = [half for half in self.corpus.halves.values() if half.match == match]
            self.cache.require((half.match, half.half) for half in halves)
            events = closed(halves, self.cache, lambda memories: _perceived(self.loaded, memories))
            for half in halves:
                partner = _partners(half, [each for each in events if each.half == half.half])
                for row in mine:
                    if row.half == half.half and (event := partner.get(row.event)) is not None:
                        kind = event.perceived.actions[0].value if event.perceived.actions else ""
                        place = Place(match=match, half=half.half, first=event.first, last=event.last, run=OWN_RUN)
                        found[row.id] = _Asked(row=row, place=place, start=event.start, known=event.context, kind=kind)
        return [found.get(row.id) for row in self.rows]

    def _changed(self, change: Change, asked: Sequence[_Asked], memories: Tensor) -> Tensor:
        if change is Change.BLIND:
            mean = mean_memory(self.cache, self.corpus, self.stage.representation).to(memories)
            return mean.expand_as(memories)
        if change is Change.SHUFFLED:
            return memories[partners([each.row.id for each in asked], [each.row.match for each in asked])]
        return memories

    def _found(
        self, change: Change, asked: Sequence[_Asked], memories: Tensor
    ) -> list[tuple[str, tuple[Placeholder, ...]]]:
        wanted = [
            Asked(id=each.row.id, track=RECORD, kind=each.kind, memory=memory)
            for each, memory in zip(asked, memories, strict=True)
        ]
        if change is Change.RANDOM:
            return self.training.random(wanted)
        return self.training.nearest(wanted, self.cache, self.stage.representation)

    def _said(self, memories: Tensor, known: Sequence[MatchContext]) -> list[tuple[str, tuple[Placeholder, ...]]]:
        most, prompter = self.loaded.checkpoint.model.record.caption_tokens, self.loaded.prompter
        found: list[tuple[str, tuple[Placeholder, ...]]] = []
        together = self.loaded.language.at_once
        for begin in range(0, len(known), together):
            mine = memories[begin : begin + together]
            prefix = self.loaded.model.projector(*stack_memories([[each] for each in mine]))
            requests = [
                Request(prefix=one, prompt=prompter.record(context), max_tokens=most)
                for one, context in zip(prefix, known[begin : begin + together], strict=True)
            ]
            found += [unsided(prompter.text(ids)) for ids in self.loaded.language.generate(requests)]
        return found


def _unsaid(row: RecordRow, corpus: Corpus) -> Prediction:
    return Prediction(
        id=row.id,
        match=row.match,
        track=RECORD,
        cutoff=row.available_at,
        anchor=corpus.event(row.event, row.id).start.seconds,
        reference=row.text,
        reference_placeholders=row.placeholders,
        covered=False,
        on_event=False,
    )


def _perceived(loaded: Pretrained, memories: Tensor) -> list[Perceived]:
    return perceive(loaded.model, memories.to(loaded.model.device), PerceptionConfig())


def _partners(half: Half, events: Sequence[OwnEvent]) -> dict[str, OwnEvent]:
    """The own event that stands for each of the labels' events."""
    own = [Span(first=each.first, last=each.last, type=each.perceived.type) for each in events]
    told = [Span(first=each.first, last=each.first + each.clips - 1, type=each.type) for each in half.events]
    return {half.events[other].id: events[mine] for mine, other in pair_spans(own, told)}

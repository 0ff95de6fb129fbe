"""Reference-anchored replay: at every sample's cutoff, the line that a trained stage 3 says from its context.

`own` contexts are those of the model's own run: its events, its buffer, its ledger of generated records, ranked by its
own heads, the state of the match as it predicts it. `taught` contexts have the paper's oracle interventions: the
labels' closures, reference records, the labels' state. training/contexts.py makes both, where all passes `Cutoff`.

n distinct memories, K slots, D = d_m
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from streamsoccer.commentary import Context, MemoryGate, Scope
from streamsoccer.config import from_mapping
from streamsoccer.domain import Placeholder, SampleRow, Split, Track
from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.baselines.reference_lines import Asked, TrainingLines, class_of
from streamsoccer.evaluation.frontend import Span, pair_spans
from streamsoccer.evaluation.interventions import Change, partners, retold
from streamsoccer.evaluation.memories import gather, label_place, mean_memory, train_matches
from streamsoccer.evaluation.predictions import (
    OWN,
    TAUGHT,
    Prediction,
    ReplayHeader,
    Retrieved,
    name_of,
)
from streamsoccer.evaluation.writing import Writer, load_run
from streamsoccer.heads import TRACKS
from streamsoccer.language import Request
from streamsoccer.model import stack_memories
from streamsoccer.record import MatchContext, Record, from_row
from streamsoccer.retrieval import rank
from streamsoccer.training.contexts import Contexts, Place, Scene
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import commit, machine
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.own_run import OwnRecords
from streamsoccer.training.recipe import CommentaryStage, Path3

__all__ = ["CommentaryReplay", "limited", "unsaid"]

_NO_KEY = np.zeros(0, dtype=np.float32)
_SCENES = 512  # whose memories are summed up in one go


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Told:
    """A context with what its line is compared with."""

    sample: SampleRow
    context: Context


def unsaid(sample: SampleRow, anchor: float, **said: Any) -> Prediction:
    """A sample's line before anything is said, or with what was."""
    return Prediction(
        id=sample.id,
        match=sample.match,
        track=sample.track.value,
        cutoff=sample.cutoff,
        anchor=anchor,
        reference=sample.target,
        reference_placeholders=sample.placeholders,
        covered=bool(said),
        on_event=bool(said),
        **said,
    )


class CommentaryReplay:
    """One stage 3 run over the samples of a split."""

    def __init__(
        self,
        data: Path,
        memory: Path,
        own: Path | None,
        run: Path,
        *,
        split: Split = Split.TEST,
        limit: int | None = None,
        backbone: Path | None = None,
        device: str = "cpu",
    ) -> None:
        """`limit` keeps so many anchors of each track, spread over the matches."""
        parts = ("encoder", "projector", "context")
        self.loaded, self.line = load_run(run, parts, backbone=backbone, device=device)
        self.corpus, self.split, self.limit = Corpus(data), split, limit
        hashes = self.loaded.checkpoint.hashes
        self.cache = MemoryCache(memory, encoder=hashes["encoder"], clips=self.corpus.fingerprint["clips"])
        self.stage = from_mapping(CommentaryStage, self.line["recipe"], self.loaded.folder, "recipe")
        if self.stage.path is Path3.VIDEO:
            raise UsageError(
                "speaks from video, without a memory", where=run, remedy="run `streamsoccer evaluate video`"
            )
        held = None
        if own is not None:
            held = OwnRecords(own, encoder=hashes["encoder"], clips=self.corpus.fingerprint["clips"])
        self.own_records = held
        config = self.loaded.checkpoint.model
        self.contexts = Contexts(self.corpus, self.stage, config.buffer, config.retrieval, held)
        self.samples = limited([each for each in self.corpus.samples.values() if each.split is split], limit)
        if not self.samples:
            raise DataError(f"holds no sample of the {split} split", where=data, remedy="build the data with captions")
        self.cache.require((each.match, each.half) for each in self.samples)

    @cached_property
    def training(self) -> TrainingLines:
        """The training lines that reference lines are drawn from."""
        return TrainingLines(self.corpus)

    @cached_property
    def mean(self) -> Tensor:
        return mean_memory(self.cache, self.corpus, self.stage.representation).to(self.loaded.model.device)

    def write(
        self,
        out: Path,
        *,
        conditions: Sequence[str] = (OWN, TAUGHT),
        changes: Sequence[Change] = (Change.NONE,),
        progress: Callable[[str], None] = lambda line: None,
    ) -> dict[str, int]:
        """Write what is not there yet, one file a condition and change; says how many lines each has."""
        if OWN in conditions and self.own_records is None:
            raise DataError(
                "the own contexts need the records of an own run", remedy="name the folder of `train own-records`"
            )
        writer = Writer(out, self.header())
        for condition in conditions:
            wanted = [
                each
                for each in changes
                if not (each.of_records and self.stage.scope is not Scope.FULL)
                and not writer.has(name_of(condition, each.value))
            ]
            if wanted:
                self._condition(condition, wanted, writer, progress)
        return writer.finish()

    def header(self) -> ReplayHeader:
        anchors: dict[str, int] = defaultdict(int)
        for each in self.samples:
            anchors[each.track.value] += 1
        return ReplayHeader(
            stage="commentary",
            split=self.split.value,
            run=dict(self.loaded.checkpoint.hashes),
            data=self.corpus.fingerprint,
            scope=self.stage.scope.value,
            representation=self.stage.representation.value,
            seed=self.stage.loop.seed,
            step=int(self.line.get("step", 0)),
            train_matches=train_matches(self.corpus),
            limit=self.limit,
            anchors=dict(anchors),
            commit=commit(),
            machine=machine(),
        )

    # --- a condition ---

    @torch.inference_mode()
    def _condition(
        self, condition: str, changes: Sequence[Change], writer: Writer, progress: Callable[[str], None]
    ) -> None:
        since = writer.clock.now()
        told = {each.id: unsaid(each, self._start(each)) for each in self.samples}
        scenes: list[Scene] = []
        for each in self.samples:
            scene = self.contexts.own(each) if condition == OWN else self._taught(each)
            if scene is not None:
                scenes.append(scene)
                told[each.id] = self._spoken_from(told[each.id], scene)
        wanted = [place for each in scenes for place in each.places(local=False)]
        where, memories = gather(self.cache, wanted, self.stage.representation)
        memories = memories.to(self.loaded.model.device)

        def tokens(place: Place) -> Tensor:
            return memories[where[place]]

        opened = self._opened(scenes, where, memories)
        ranked = self._ranked(scenes, where, memories)
        if ranked:
            queries = [self._retrieved(each, ranked[each.sample.id]) for each in scenes if each.sample.id in ranked]
            writer.add(name_of(condition, "retrieval"), queries, since)
        top = self.loaded.checkpoint.model.retrieval.top
        first = {name: tuple(each.records[:top]) for name, each in ranked.items()}
        plain = Change.RANKED if condition == OWN else Change.REFERENCE  # what the condition itself gives
        base = {each.sample.id: self._records(each, plain, first, ()) for each in scenes}
        strangers = tuple(each for records in base.values() for each in records)
        progress(f"{condition}: {len(scenes)} of {len(self.samples)} anchors have a context")
        unchanged: list[Prediction] = []
        for change in changes:
            began = writer.clock.now() if change else since
            mine = [each for each in scenes if each.sample.track is Track.HISTORICAL or not change.of_records]
            said: list[Prediction] = []
            if change is plain and unchanged:
                said = unchanged  # the very same requests
            elif change.wordless:
                for scene, (text, placeholders) in zip(mine, self._found(change, mine, tokens), strict=True):
                    said.append(replace(told[scene.sample.id], text=text, placeholders=placeholders))
            else:
                spoken = []
                for scene in mine:
                    kept = base[scene.sample.id]
                    if change.of_records:
                        kept = self._records(scene, change, first, strangers, kept)
                    context = self._context(scene, kept, change, tokens, opened[scene.sample.id])
                    spoken.append(_Told(sample=scene.sample, context=context))
                said = self._said(self._changed(spoken, change), told)
            if change is Change.NONE:
                unchanged = said
            named = {each.id: each for each in said}
            lines = [
                named.get(each.id, told[each.id])
                for each in self.samples
                if each.track is Track.HISTORICAL or not change.of_records
            ]
            if lines:
                writer.add(name_of(condition, change.value), lines, began)
            progress(f"{name_of(condition, change.value)}: {len(lines)} lines, {writer.clock.now() - began:.1f} s")

    def _start(self, sample: SampleRow) -> float:
        return self.corpus.event(sample.event, sample.id).start.seconds

    def _taught(self, sample: SampleRow) -> Scene:
        """The labels' context, and its eligible reference records, which the heads can rank."""
        scene = self.contexts.taught(sample)
        if sample.track is not Track.HISTORICAL:
            return scene
        candidates = []
        for name in sample.candidates:
            row = self.corpus.record(name, sample.id)
            candidates.append((from_row(row, _NO_KEY), label_place(self.corpus.event(row.event, name))))
        return replace(scene, ranked=tuple(candidates))

    def _spoken_from(self, told: Prediction, scene: Scene) -> Prediction:
        """Which event the line is of, and whether it is the labels' own."""
        if scene.completed is None:
            return replace(told, covered=True, start=None, on_event=False)
        place = scene.completed.place
        anchor = self.corpus.event(scene.sample.event, scene.sample.id)
        shares = place.first < anchor.first + anchor.clips and anchor.first <= place.last
        return replace(told, covered=True, start=scene.completed.memory.start.seconds, on_event=shares)

    def _summary(self, scenes: Sequence[Scene], where: Mapping[Place, int], memories: Tensor) -> Tensor:
        """What these scenes are about [B, D]."""
        about = [each.about if self.stage.scope is not Scope.CURRENT else each.about[:1] for each in scenes]
        stacked, mask = stack_memories([[memories[where[place]] for place in each] for each in about])
        found: Tensor = self.loaded.model.context.summary(stacked, mask)
        return found

    def _opened(self, scenes: Sequence[Scene], where: Mapping[Place, int], memories: Tensor) -> dict[str, Scope]:
        """How far each line may look back: the run's scope, of that what a learned gate opens."""
        scope = self.stage.scope
        if self.stage.memory_gate is MemoryGate.RULE:
            return {each.sample.id: scope for each in scenes}
        found: dict[str, Scope] = {}
        for begin in range(0, len(scenes), _SCENES):
            group = scenes[begin : begin + _SCENES]
            needed = self.loaded.model.context.routes(self._summary(group, where, memories)).argmax(-1).tolist()
            found |= {one.sample.id: scope.within(TRACKS[each]) for one, each in zip(group, needed, strict=True)}
        return found

    # --- records ---

    def _ranked(self, scenes: Sequence[Scene], where: Mapping[Place, int], memories: Tensor) -> dict[str, _Ranked]:
        """Every eligible record by the retrieval heads, for the scenes that have any."""
        found: dict[str, _Ranked] = {}
        asked = [each for each in scenes if each.ranked]
        heads, everything = self.loaded.model.context, replace(self.loaded.checkpoint.model.retrieval, top=10_000)
        for begin in range(0, len(asked), _SCENES):
            group = asked[begin : begin + _SCENES]
            query = heads.query(self._summary(group, where, memories).float())
            nulls = heads.null_score(query).float().cpu().tolist()
            asking = query.float().cpu().numpy()
            places = list(dict.fromkeys(place for each in group for _, place in each.ranked))
            index = torch.tensor([where[each] for each in places], device=memories.device)
            keys = torch.cat([heads.key(memories[part].float()) for part in index.split(2048)]).float().cpu().numpy()
            key_of = {place: keys[at] for at, place in enumerate(places)}
            for row, each in enumerate(group):
                known = [replace(record, key=key_of[place]) for record, place in each.ranked]
                order = rank(asking[row], nulls[row], known, everything)
                found[each.sample.id] = _Ranked(records=order.chosen, null_won=order.null_won)
        return found

    def _records(
        self,
        scene: Scene,
        change: Change,
        first: Mapping[str, tuple[Record, ...]],
        strangers: Sequence[Record],
        base: tuple[Record, ...] = (),
    ) -> tuple[Record, ...]:
        """The records of a scene's prompt under a change."""
        sample = scene.sample
        if sample.track is not Track.HISTORICAL or change is Change.NO_RECORDS:
            return ()
        if change is Change.RANKED:
            return first.get(sample.id, ())
        if change is Change.OTHER:
            return retold(base, strangers, sample.id)
        if change is Change.HARD:
            names = sample.hard_negatives[: self.loaded.checkpoint.model.retrieval.top]
            return tuple(from_row(self.corpus.record(each, sample.id), _NO_KEY) for each in names)
        return scene.records if not scene.own else self.contexts.taught(sample).records

    def _retrieved(self, scene: Scene, ranked: _Ranked) -> Retrieved:
        """The query as it is scored: positives of the manifest, and whatever else is related."""
        sample = scene.sample
        names = tuple(each.id for each in ranked.records)
        if not scene.own:
            positives = sample.positives
            return Retrieved(
                id=sample.id, match=sample.match, ranked=names, positives=positives, null_won=ranked.null_won
            )
        pairs = self._pairs(sample.match, sample.half)
        events = [self.corpus.record(each, sample.id).event for each in sample.positives]
        related = [each for each in self._related(sample) if each not in events]
        return Retrieved(
            id=sample.id,
            match=sample.match,
            ranked=names,
            positives=tuple(dict.fromkeys(pairs.get(each, f"unseen {each}") for each in events)),
            related=tuple(dict.fromkeys(pairs[each] for each in related if each in pairs)),
            null_won=ranked.null_won,
        )

    def _related(self, sample: SampleRow) -> list[str]:
        """The labels' events of the half, far enough back, in which the anchor's side did what it does now."""
        gap = self.loaded.checkpoint.model.retrieval.gap_seconds
        return [
            each.id
            for each in self.corpus.half(sample.match, sample.half).events
            if sample.cutoff.seconds - each.end.seconds >= gap
            and any(
                done.label.value == sample.fields.get("action") and done.side.value == sample.fields.get("side")
                for done in each.actions
            )
        ]

    def _pairs(self, match: str, half: int) -> dict[str, str]:
        """The own record that stands for each of the labels' events, by its event's ID."""
        if self.own_records is None:
            return {}
        if (match, half) not in self._paired:
            mine = [each for each in self.own_records.events(match) if each.half == half]
            told = self.corpus.half(match, half).events
            spans = [Span(first=each.first, last=each.last, type=each.perceived.type) for each in mine]
            theirs = [Span(first=each.first, last=each.first + each.clips - 1, type=each.type) for each in told]
            pairs = {}
            for one, other in pair_spans(spans, theirs):
                record = mine[one].record(_NO_KEY)
                if record is not None:
                    pairs[told[other].id] = record.id
            self._paired[match, half] = pairs
        return self._paired[match, half]

    @cached_property
    def _paired(self) -> dict[tuple[str, int], dict[str, str]]:
        return {}

    # --- contexts and texts ---

    def _context(
        self, scene: Scene, records: Sequence[Record], change: Change, tokens: Callable[[Place], Tensor], scope: Scope
    ) -> Context:
        if change is Change.BLIND:
            records = ()
            if scene.own:  # what video gave; the labels' state is a feed's
                scene = replace(scene, match=MatchContext(at=scene.match.at, tally=None, sure=False))
        return scene.context(tokens, records, self.loaded.prompter, scope)

    def _found(
        self, change: Change, scenes: Sequence[Scene], tokens: Callable[[Place], Tensor]
    ) -> list[tuple[str, tuple[Placeholder, ...]]]:
        """Lines of the training set for these scenes."""
        asked = []
        for each in scenes:
            kind = class_of(each.sample, self.corpus.event(each.sample.event, each.sample.id))
            if each.own:
                seen = () if each.completed is None else each.completed.memory.actions
                kind = seen[0].value if seen else ""
            place = each.about[0] if each.completed is None else each.completed.place
            asked.append(Asked(id=each.sample.id, track=each.sample.track.value, kind=kind, memory=tokens(place)))
        if change is Change.RANDOM:
            return self.training.random(asked)
        return self.training.nearest(asked, self.cache, self.stage.representation)

    def _changed(self, told: Sequence[_Told], change: Change) -> list[_Told]:
        """The same contexts with other memories, where the change is about those."""
        if change is Change.BLIND:
            return [
                replace(each, context=replace(each.context, memories=tuple(self.mean for _ in each.context.memories)))
                for each in told
            ]
        if change is not Change.SHUFFLED:
            return list(told)
        found = list(told)
        for track in Track:
            mine = [place for place, each in enumerate(told) if each.sample.track is track]
            if len(mine) < 2:
                continue
            others = partners([told[at].sample.id for at in mine], [told[at].sample.match for at in mine])
            for at, other in zip(mine, others, strict=True):
                swapped = replace(told[at].context, memories=told[mine[other]].context.memories)
                found[at] = replace(told[at], context=swapped)
        return found

    def _said(self, told: Sequence[_Told], lines: Mapping[str, Prediction]) -> list[Prediction]:
        """The text of every context."""
        found: list[Prediction] = []
        most = self.loaded.checkpoint.model.prompt.generated_tokens
        together = self.loaded.language.at_once
        for begin in range(0, len(told), together):
            group = told[begin : begin + together]
            prefix = torch.cat(
                [
                    self.loaded.model.projector(*stack_memories([each.context.memories for each in part]))
                    for part in (group[at : at + _SCENES] for at in range(0, len(group), _SCENES))
                ]
            )
            requests = [
                Request(prefix=mine, prompt=each.context.prompt, max_tokens=most)
                for mine, each in zip(prefix, group, strict=True)
            ]
            for each, ids in zip(group, self.loaded.language.generate(requests), strict=True):
                made = each.context.utterance(self.loaded.prompter.text(ids))
                found.append(
                    replace(
                        lines[each.sample.id],
                        text="" if made is None else made.text,
                        placeholders=() if made is None else made.placeholders,
                        events=each.context.events,
                        records=tuple((one.id, one.text) for one in each.context.records),
                    )
                )
        return found


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Ranked:
    """Every eligible record, best first."""

    records: tuple[Record, ...]
    null_won: bool


def limited(samples: Sequence[SampleRow], limit: int | None) -> list[SampleRow]:
    """At most so many of each track, evenly spread."""
    if limit is None:
        return list(samples)
    kept: set[str] = set()
    for track in Track:
        mine = [each.id for each in samples if each.track is track]
        kept |= {mine[place * len(mine) // limit] for place in range(limit)} if len(mine) > limit else set(mine)
    return [each for each in samples if each.id in kept]

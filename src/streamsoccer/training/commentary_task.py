"""The run of stage 3: samples of three tracks in equal shares, the curriculum of contexts, what validation looks at.

Which sample comes at a place, and whether its context is the labels' or the runtime's own, follows from the seed, the
place and the step. A checkpoint holds all parts: stage 1's as they were in the cache path, which reads its memories
from the memory cache, trained on in the joint one, which makes them anew from the token cache at every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsoccer.checkpoint import load_weights, read_checkpoint, save_pretrained
from streamsoccer.config import to_mapping
from streamsoccer.domain import SampleRow, Split, Track
from streamsoccer.errors import DataError, UsageError
from streamsoccer.heads import TRACKS
from streamsoccer.runtime import write_runtime
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.training.bank import Bank
from streamsoccer.training.commentary import CommentaryBatch, CommentaryObjective, Composer, Source
from streamsoccer.training.contexts import Contexts, Scene
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import Parent, Speaker, device, fresh, provenance
from streamsoccer.training.loop import Group, Outcome, Trainer
from streamsoccer.training.measures import best_ranks, token_f1
from streamsoccer.training.memory import MemoryObjective, type_weights
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.narrator import Narrator
from streamsoccer.training.own_run import OwnRecords
from streamsoccer.training.recipe import CommentaryStage, LoopConfig, Path3, Recipe, Representation
from streamsoccer.training.records import spread, write_samples
from streamsoccer.training.stretches import Stretches
from streamsoccer.training.visual import VisualTokens
from streamsoccer.training.windows import Shuffled, shares

__all__ = ["CommentaryTask", "Turns", "train_commentary"]

_PARTS = ("encoder", "projector", "context")


class Turns:
    """The tracks in turn, each over its own samples in shuffled epochs: equal shares however many samples each has."""

    def __init__(self, samples: Mapping[Track, Sequence[SampleRow]], seed: int) -> None:
        self.samples = samples
        self._orders = {track: Shuffled(len(samples[track]), seed + place) for place, track in enumerate(TRACKS)}

    def at(self, place: int) -> SampleRow:
        turn, track = place // len(TRACKS), TRACKS[place % len(TRACKS)]
        return self.samples[track][self._orders[track].at(turn)]


class CommentaryTask:
    """Stage 3 for the loop."""

    name = "commentary"

    def __init__(
        self,
        recipe: Recipe,
        corpus: Corpus,
        stage2: Path,
        out: Path,
        *,
        memory: Path | None = None,
        tokens: TokenCache | None = None,
        own: Path | None = None,
    ) -> None:
        """`memory` is of the cache path, `tokens` of the joint one."""
        stage = recipe.stage3
        self.recipe, self.stage, self.corpus, self.out = recipe, stage, corpus, out
        self.joint = stage.path is Path3.JOINT
        self.parent = Parent.read(stage2, "encoder", "projector")
        _same_representation(recipe, self.parent, stage2)
        hashes, clips = self.parent.checkpoint.hashes, corpus.fingerprint["clips"]
        memory, tokens = _of_the_path(stage, memory, tokens)
        self.cache = None if memory is None else MemoryCache(memory, encoder=hashes["encoder"], clips=clips)
        self.own = None if own is None else OwnRecords(own, encoder=hashes["encoder"], clips=clips)
        if self.own is None and stage.curriculum.ratio(stage.loop.steps - 1) > 0:
            raise UsageError(
                f"from step {stage.curriculum.begin} on the curriculum shows contexts of the own run; none are given",
                remedy="run `streamsoccer train own-records` and name its folder, or set stage3.curriculum.begin to"
                " stage3.loop.steps",
            )
        found = _by_track(corpus, Split.TRAIN)
        if missing := [track.value for track in TRACKS if not found[track]]:
            raise DataError(
                f"holds no {' and no '.join(missing)} sample of the train split",
                where=corpus.folder,
                remedy="build more matches, or longer ones",
            )
        self.turns = Turns(found, stage.loop.seed)
        watched = _by_track(corpus, Split.VALIDATION)
        self.watched = [
            each for track in TRACKS for each in spread(watched[track], stage.validation_samples // len(TRACKS))
        ]
        if not self.watched:
            raise DataError("holds no sample of the validation split", where=corpus.folder, remedy="build more matches")

        self.speaker = Speaker(recipe, self.parent, stage.loop.seed)
        self.model = fresh(recipe.model, self.speaker.widths, stage.loop.seed)
        if (lora := self.parent.into(self.model, "encoder", "projector")) is not None:
            self.speaker.language.load_lora(lora)
        halves = [*corpus.of(Split.TRAIN), *corpus.of(Split.VALIDATION)]
        source: Source
        if self.cache is not None:
            held = self.own is not None
            source = Bank(self.cache, halves, representation=stage.representation, own=held, device=device())
        else:
            assert tokens is not None
            self.parent.checkpoint.require(fingerprint=tokens.header.fingerprint)
            source = Stretches(corpus, VisualTokens(tokens, halves, device()), recipe.model.buffer.seconds)
        self.contexts = Contexts(corpus, stage, recipe.model.buffer, recipe.model.retrieval, self.own)
        self.composer = Composer(source, self.speaker.prompter, stage.scope)
        self.objective = CommentaryObjective(self.model, self.speaker.language, self.speaker.prompter, stage)
        if self.joint:
            weights = type_weights(corpus.of(Split.TRAIN), recipe.stage1.type_balance)
            self.objective.retains(MemoryObjective(self.model.encoder, recipe.stage1, weights))
        self.narrator = Narrator(self.objective, self.composer, self.contexts)

    def groups(self) -> list[Group]:
        stage, loop = self.stage, self.stage.loop

        def group(name: str, parameters: Any, rate: float) -> Group:
            return Group(name=name, parameters=list(parameters), rate=lambda step: rate * loop.rate(step))

        encoder = [group("encoder", self.model.encoder.named_parameters(), stage.encoder_rate)] if self.joint else []
        return [
            *encoder,
            group("lora", self.speaker.language.lora_parameters(), stage.lora_rate),
            group("projector", self.model.projector.named_parameters(), stage.projector_rate),
            group("heads", self.model.context.named_parameters(), stage.heads_rate),
        ]

    def batch(self, step: int, micro: int, rank: int, world: int) -> CommentaryBatch:
        loop = self.stage.loop
        places = shares(step, micro, accumulation=loop.accumulation, batch=loop.batch, rank=rank, world=world)
        return self.composer.batch([self.scene(place, step) for place in places])

    def scene(self, place: int, step: int) -> Scene:
        """The sample at a place with the context that it has at this step."""
        sample = self.turns.at(place)
        chance = np.random.default_rng([self.stage.loop.seed, place])
        if chance.random() < self.stage.curriculum.ratio(step) and (own := self.contexts.own(sample, chance)):
            return own
        return self.contexts.taught(sample, chance)

    # --- validation ---

    def validate(self, step: int) -> dict[str, float]:
        """Losses by track, what the heads choose, and the sentences of some: OUT/samples/step-000500.jsonl."""
        scenes = [self.contexts.taught(each) for each in self.watched]
        found = self._looked(scenes)
        if self.own is not None:
            own = [scene for each in self.watched if (scene := self.contexts.own(each)) is not None]
            found |= {f"own/{name}": value for name, value in self._looked(own).items()} if own else {}
            found |= {"own_loss": found["own/loss"]} if own else {}
        return found | self._written(scenes, step)

    def _looked(self, scenes: Sequence[Scene]) -> dict[str, float]:
        many = max(self.stage.loop.batch, 16)
        losses: dict[Track, list[float]] = {track: [] for track in TRACKS}
        routed: list[bool] = []
        local: list[int] = []
        recalled: list[int] = []
        for begin in range(0, len(scenes), many):
            part = scenes[begin : begin + many]
            batch = self.composer.batch(part).to(device())
            read = self.objective.read(batch)
            for each, loss in zip(part, self.objective.losses(batch, read).tolist(), strict=True):
                losses[each.sample.track].append(loss)
            routed += (self.model.context.routes(read.summary).argmax(-1) == batch.tracks).tolist()
            for rows, scores, into in (
                (batch.local, self.objective.local_scores(batch, read), local),
                (batch.recalled, self.objective.recall_scores(batch, read), recalled),
            ):
                if rows is not None and scores is not None:
                    mine = scores[:, : rows.there.shape[1]]
                    into += best_ranks(*(each.cpu().numpy() for each in (mine.float(), rows.right, rows.there)))
        by_track = {track: float(np.mean(values)) for track, values in losses.items() if values}
        found = {"loss": float(np.mean(list(by_track.values()))), "route_accuracy": float(np.mean(routed))}
        found |= {f"loss/{track.value}": value for track, value in by_track.items()}
        for name, ranks in (("local", local), ("retrieval", recalled)):
            if ranks:
                found[f"{name}_mrr"] = float(np.mean([1 / each for each in ranks]))
                found[f"{name}_r3"] = float(np.mean([each <= 3 for each in ranks]))
        return found

    def _written(self, scenes: Sequence[Scene], step: int) -> dict[str, float]:
        tracks = {track: [each for each in scenes if each.sample.track is track] for track in TRACKS}
        shown = [each for mine in tracks.values() for each in spread(mine, self.stage.validation_texts // len(TRACKS))]
        said = self.narrator.generate(shown)
        rows = [
            {
                "id": scene.sample.id,
                "track": scene.sample.track.value,
                "generated": each.text,
                "reference": scene.sample.target,
                "records": list(each.records),
            }
            for scene, each in zip(shown, said, strict=True)
        ]
        write_samples(self.out, step, rows)
        shared: dict[str, list[float]] = {}
        for row in rows:
            value = token_f1(str(row["generated"]).split(), str(row["reference"]).split())
            shared.setdefault(str(row["track"]), []).append(value)
        found = {f"token_f1/{track}": float(np.mean(values)) for track, values in shared.items()}
        return {"token_f1": float(np.mean(list(found.values()))), **found} if found else {}

    # --- what is kept ---

    def describe(self) -> Mapping[str, Any]:
        hashes = self.parent.checkpoint.hashes
        return {
            "stage": to_mapping(replace(self.stage, loop=LoopConfig(steps=1))),
            "model": to_mapping(self.recipe.model),
            "backbone": self.speaker.backbone.fingerprint,
            **{name: hashes.get(name, "") for name in ("encoder", "projector", "lora")},
            "threshold": self._threshold,
            "own": {} if self.own is None else dict(self.own.header),
            **{name: self.corpus.fingerprint[name] for name in ("events", "records", "samples")},
        }

    @property
    def _threshold(self) -> str:
        """Of b_t in the own run."""
        return repr(self.recipe.model.transition.threshold) if self.cache is None else self.cache.header.threshold

    def save(self, folder: Path, step: int) -> None:
        save_pretrained(
            folder,
            self.model,
            backbone=self.speaker.name,
            prompt=self.speaker.prompter.fingerprint,
            parts=_PARTS,
            lora=self.speaker.language.lora_state(),
            provenance=provenance("commentary", step, self.stage, self.corpus, self.parent.line),
        )
        write_runtime(folder, self.recipe.runtime)

    def load(self, folder: Path) -> None:
        lora = load_weights(read_checkpoint(folder), self.model, _PARTS)
        if lora is not None:
            self.speaker.language.load_lora(lora)


def _by_track(corpus: Corpus, split: Split) -> dict[Track, list[SampleRow]]:
    found: dict[Track, list[SampleRow]] = {track: [] for track in TRACKS}
    for each in corpus.samples.values():
        if each.split is split:
            found[each.track].append(each)
    return found


def _of_the_path(
    stage: CommentaryStage, memory: Path | None, tokens: TokenCache | None
) -> tuple[Path | None, TokenCache | None]:
    """What the path reads its memories from, and nothing of the other's."""
    if stage.path is Path3.VIDEO:
        raise UsageError(
            "stage3.path video has no memories", remedy="run `streamsoccer train video`, or set it to cache or joint"
        )
    if stage.path is Path3.JOINT:
        if stage.representation is not Representation.RECURRENT:
            raise UsageError(
                f"the joint path trains the recurrent memory; stage3.representation is {stage.representation.value}",
                remedy="set stage3.path to cache",
            )
        if tokens is None:
            raise UsageError("the joint path reads visual tokens; none are given", remedy="name the folder of `encode`")
        return None, tokens
    if memory is None:
        raise UsageError(
            "the cache path reads memories; none are given", remedy="name the folder of `train cache-memory`"
        )
    return memory, None


def _same_representation(recipe: Recipe, parent: Parent, where: Path) -> None:
    """What stands for an event is learned by the projector in stage 2: another one would be read as noise."""
    for line in reversed(parent.line):
        if line.get("stage") == "records":
            theirs = line["recipe"].get("representation")
            if theirs != recipe.stage3.representation.value:
                raise UsageError(
                    f"stage 2 was trained on {theirs}, stage 3 asks for {recipe.stage3.representation.value}",
                    where=where,
                    remedy="use one representation in stage2 and stage3 of the recipe",
                )
            return


def train_commentary(
    recipe: Recipe,
    data: Path,
    stage2: Path,
    out: Path,
    *,
    memory: Path | None = None,
    tokens: Path | None = None,
    own: Path | None = None,
    until: int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> Outcome:
    """Stage 3 from a stage 2 run and its memory cache, or a token cache on the joint path, into a run's folder; called
    again, it goes on.

    It stops at the recipe's last step, at step `until`, or after so many seconds, with a checkpoint wherever that is.
    """
    seen = None if tokens is None else TokenCache(tokens)
    task = CommentaryTask(recipe, Corpus(data), stage2, out, memory=memory, tokens=seen, own=own)
    return Trainer(task, recipe.stage3.loop, out, progress=progress).run(until, seconds)

"""Stage 2: memory to record (equation 4). The loss is on the caption's tokens alone.

    p(c_j | P(M_j^c), x_j^ctx)

The projector aligns first while LoRA stands still, then LoRA's rate grows, then both train.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamsoccer.checkpoint import load_weights, read_checkpoint, save_pretrained
from streamsoccer.config import to_mapping
from streamsoccer.domain import RecordRow, Split
from streamsoccer.errors import DataError
from streamsoccer.language import Language, Prompt, Request
from streamsoccer.model import StreamSoccer, stack_memories
from streamsoccer.prompt import Prompter, unsided
from streamsoccer.record import MatchContext
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import Parent, Speaker, device, fresh, provenance, seeded
from streamsoccer.training.loop import Group, Outcome, Trainer
from streamsoccer.training.measures import token_f1
from streamsoccer.training.memory_cache import LABELS, MemoryCache
from streamsoccer.training.recipe import LoopConfig, Recipe, RecordStage
from streamsoccer.training.windows import Shuffled, shares

__all__ = ["RecordBatch", "RecordObjective", "RecordTask", "record_batch", "records_of", "train_records"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecordBatch:
    """B completed memories [B, 1, K, D] with their prompts and captions."""

    names: tuple[str, ...]
    memories: Tensor
    mask: Tensor  # [B, 1]
    prompts: tuple[Prompt, ...]
    targets: tuple[tuple[int, ...], ...]

    def to(self, device: torch.device) -> RecordBatch:
        return RecordBatch(
            names=self.names,
            memories=self.memories.to(device, non_blocking=True),
            mask=self.mask.to(device, non_blocking=True),
            prompts=self.prompts,
            targets=self.targets,
        )


def records_of(corpus: Corpus, split: Split, *, legacy: bool) -> list[RecordRow]:
    """The stage 2 rows of a split, or of the representation benchmark's own split."""
    found = [each for each in corpus.records.values() if (each.legacy_split if legacy else each.split) is split]
    if not found:
        raise DataError(
            f"holds no record of the {'legacy ' if legacy else ''}{split} split",
            where=corpus.folder,
            remedy="build the data with captions",
        )
    return found


def record_batch(
    rows: Sequence[RecordRow],
    corpus: Corpus,
    cache: MemoryCache,
    prompter: Prompter,
    stage: RecordStage,
    *,
    chances: Sequence[np.random.Generator] | None = None,
) -> RecordBatch:
    """The memories of these records' events; `chances` vary each match context, as training does."""
    memories, prompts, targets = [], [], []
    for place, row in enumerate(rows):
        event = corpus.event(row.event, row.id)
        last = event.first + event.clips - 1
        memories.append(
            [cache.memory(row.match, row.half, event.first, last, run=LABELS, representation=stage.representation)]
        )
        dropped, unsure = (1.0, 1.0) if chances is None else (chances[place].random(), chances[place].random())
        known = MatchContext(
            at=row.available_at,
            tally=None if dropped < stage.context_dropout else row.state,
            sure=unsure >= stage.context_unsure,
        )
        prompts.append(prompter.record(known))
        targets.append(prompter.target(row.text, row.placeholders, caption=True))
    stacked, mask = stack_memories(memories)
    return RecordBatch(
        names=tuple(row.id for row in rows),
        memories=stacked,
        mask=mask,
        prompts=tuple(prompts),
        targets=tuple(targets),
    )


class RecordObjective(nn.Module):
    """L_Stage2: the mean over the captions of each one's mean over its tokens."""

    def __init__(self, model: StreamSoccer, language: Language) -> None:
        super().__init__()
        self.projector, self.language = model.projector, language

    def forward(self, batch: RecordBatch) -> dict[str, Tensor]:
        prefix = self.projector(batch.memories, batch.mask)
        return {"loss": self.language.loss(prefix, batch.prompts, batch.targets).mean()}


# --- the run ---------------------------------------------------------------------------------------------------------


class RecordTask:
    """Stage 2 for the loop: aligned events in shuffled epochs; what validation writes stands beside the log."""

    name = "records"

    def __init__(self, recipe: Recipe, corpus: Corpus, memory: Path, stage1: Path, out: Path) -> None:
        stage = recipe.stage2
        self.recipe, self.stage, self.corpus, self.out = recipe, stage, corpus, out
        self.parent = Parent.read(stage1, "encoder")
        self.cache = MemoryCache(
            memory, encoder=self.parent.checkpoint.hashes["encoder"], clips=corpus.fingerprint["clips"]
        )
        self.rows = records_of(corpus, Split.TRAIN, legacy=stage.legacy_split)
        watched = records_of(corpus, Split.TEST if stage.legacy_split else Split.VALIDATION, legacy=stage.legacy_split)
        self.watched = spread(watched, stage.validation_samples)
        self.cache.require((each.match, each.half) for each in (*self.rows, *self.watched))
        self.speaker = Speaker(recipe, self.parent, stage.loop.seed)
        self.model = fresh(recipe.model, self.speaker.widths, stage.loop.seed)
        with seeded(stage.loop.seed):
            self.model.projector.match_scale(self.speaker.embeddings)
        self.parent.into(self.model, "encoder")
        self.speaker.language.requires_grad_(stage.lora)
        self.objective = RecordObjective(self.model, self.speaker.language)
        self.order = Shuffled(len(self.rows), stage.loop.seed)

    def groups(self) -> list[Group]:
        stage, loop = self.stage, self.stage.loop

        def lora(step: int) -> float:
            since = step - stage.align_steps
            warm = min(1.0, (since + 1) / max(1, stage.lora_warmup_steps))
            return 0.0 if since < 0 else stage.lora_rate * loop.rate(step) * warm

        projector = list(self.model.projector.named_parameters())
        groups = [
            Group(name="projector", parameters=projector, rate=lambda step: stage.projector_rate * loop.rate(step))
        ]
        if stage.lora:
            groups.append(Group(name="lora", parameters=self.speaker.language.lora_parameters(), rate=lora))
        return groups

    def batch(self, step: int, micro: int, rank: int, world: int) -> RecordBatch:
        loop = self.stage.loop
        places = shares(step, micro, accumulation=loop.accumulation, batch=loop.batch, rank=rank, world=world)
        return record_batch(
            [self.rows[self.order.at(place)] for place in places],
            self.corpus,
            self.cache,
            self.speaker.prompter,
            self.stage,
            chances=[np.random.default_rng([loop.seed, place]) for place in places],
        )

    def validate(self, step: int) -> dict[str, float]:
        """The loss on the watched records, and the captions of some: OUT/samples/step-000500.jsonl."""
        losses: list[Tensor] = []
        many = max(self.stage.loop.batch, 16)
        for begin in range(0, len(self.watched), many):
            batch = self._watched(self.watched[begin : begin + many])
            prefix = self.model.projector(batch.memories, batch.mask)
            losses.append(self.speaker.language.loss(prefix, batch.prompts, batch.targets).float())
        shown = spread(self.watched, self.stage.validation_texts)
        rows = list(zip(shown, self.captions(shown), strict=True))
        write_samples(self.out, step, [{"id": row.id, "generated": text, "reference": row.text} for row, text in rows])
        found = {"loss": float(torch.cat(losses).mean())}
        if rows:
            found["token_f1"] = float(np.mean([token_f1(text.split(), row.text.split()) for row, text in rows]))
        return found

    def captions(self, rows: Sequence[RecordRow]) -> list[str]:
        """What the model writes of these records' events."""
        if not rows:
            return []
        batch = self._watched(rows)
        with torch.autocast(device().type, enabled=False):  # as in a match
            prefix = self.model.projector(batch.memories, batch.mask)
        most = self.recipe.model.record.caption_tokens
        asked = [
            Request(prefix=mine, prompt=prompt, max_tokens=most)
            for mine, prompt in zip(prefix, batch.prompts, strict=True)
        ]
        said = self.speaker.language.generate(asked)
        return [unsided(self.speaker.prompter.text(each))[0] for each in said]

    def _watched(self, rows: Sequence[RecordRow]) -> RecordBatch:
        return record_batch(rows, self.corpus, self.cache, self.speaker.prompter, self.stage).to(device())

    def describe(self) -> Mapping[str, Any]:
        return {
            "stage": to_mapping(replace(self.stage, loop=LoopConfig(steps=1))),
            "model": to_mapping(self.recipe.model),
            "backbone": self.speaker.backbone.fingerprint,
            "encoder": self.parent.checkpoint.hashes["encoder"],
            "threshold": self.cache.header.threshold,
            "records": self.corpus.fingerprint["records"],
        }

    def save(self, folder: Path, step: int) -> None:
        save_pretrained(
            folder,
            self.model,
            backbone=self.speaker.name,
            prompt=self.speaker.prompter.fingerprint,
            parts=["encoder", "projector"],
            lora=self.speaker.language.lora_state() if self.stage.lora else None,
            provenance=provenance("records", step, self.recipe.stage2, self.corpus, self.parent.line),
        )

    def load(self, folder: Path) -> None:
        lora = load_weights(read_checkpoint(folder), self.model, ["encoder", "projector"])
        if lora is not None:
            self.speaker.language.load_lora(lora)


def spread(rows: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, evenly spread."""
    if len(rows) <= most:
        return list(rows)
    return [rows[place * len(rows) // most] for place in range(most)]


def write_samples(out: Path, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """What was written at a step, beside its references."""
    if not rows:
        return
    folder = out / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / f"step-{step:06d}.jsonl").write_text(text, encoding="utf-8")


def train_records(
    recipe: Recipe,
    data: Path,
    memory: Path,
    stage1: Path,
    out: Path,
    *,
    until: int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> Outcome:
    """Stage 2 on a memory cache and the stage 1 run that made it, into a run's folder; called again, it goes on.

    It stops at the recipe's last step, at step `until`, or after so many seconds, with a checkpoint wherever that is.
    """
    task = RecordTask(recipe, Corpus(data), memory, stage1, out)
    return Trainer(task, recipe.stage2.loop, out, progress=progress).run(until, seconds)

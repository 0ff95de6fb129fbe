"""Stage 1: the streaming event memory, with teacher-forced resets (equation 6).

    L = 0.5 L_clip + 1.0 L_tr + 1.0 L_evt-act + 0.3 L_evt-type

L_clip is the asymmetric loss on every clip, L_tr focal binary cross-entropy where the target is not masked, L_evt-act
focal on the action sets of completed events, L_evt-type cross-entropy on their types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamsoccer.actions import EventType
from streamsoccer.checkpoint import load_weights, read_checkpoint, save_pretrained, tensors_hash
from streamsoccer.config import to_mapping
from streamsoccer.domain import Split
from streamsoccer.encoder import EventEncoder, Whole
from streamsoccer.heads import ACTIONS, TYPES
from streamsoccer.model import Widths
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.training.corpus import Corpus, Half
from streamsoccer.training.digest import load_adapter
from streamsoccer.training.foundation import Parent, device, fresh, provenance
from streamsoccer.training.loop import Group, Outcome, Trainer
from streamsoccer.training.losses import asymmetric, cross_entropy, focal, per_sample
from streamsoccer.training.measures import added, average_precision, class_f1, f1, transition_counts
from streamsoccer.training.memory_cache import MemoryCacheHeader, run_halves, write_memory_cache
from streamsoccer.training.recipe import LoopConfig, MemoryStage, Recipe
from streamsoccer.training.visual import VisualTokens
from streamsoccer.training.windows import WindowBatch, Windows, gather, shares

__all__ = ["MemoryObjective", "MemoryTask", "cache_memory", "look", "train_memory", "type_weights"]


class MemoryObjective(nn.Module):
    """The four objectives of stage 1 (and ours on the side), each a mean over the batch's windows."""

    type_weights: Tensor

    def __init__(self, encoder: EventEncoder, stage: MemoryStage, type_weights: Tensor | None = None) -> None:
        super().__init__()
        self.encoder, self.stage = encoder, stage
        weights = torch.ones(len(TYPES)) if type_weights is None else type_weights
        self.register_buffer("type_weights", weights, persistent=False)

    def forward(self, batch: WindowBatch) -> dict[str, Tensor]:
        tokens, logits = self.encoder.read(batch.visual, batch.mask)
        return self.losses(batch, logits, self.encoder.whole(tokens, logits, batch.reset))

    def losses(self, batch: WindowBatch, logits: Tensor, whole: Whole) -> dict[str, Tensor]:
        """The weighted sum and its parts, from what the encoder made of the batch; stage 3 uses them to retain it."""
        stage, samples = self.stage, len(batch.names)
        rows = batch.arrived.nonzero()[:, 0]
        clip = asymmetric(
            logits[batch.arrived],
            batch.actions[batch.arrived],
            negative=stage.asymmetric_negative,
            positive=stage.asymmetric_positive,
            margin=stage.asymmetric_margin,
        )
        learnt = batch.learn.nonzero()[:, 0]
        transition = focal(whole.transition[batch.learn], batch.transition[batch.learn], stage.focal)
        actions, kind, side = self.encoder.event_heads(whole.memory[batch.event_row, batch.event_clip])
        parts = {
            "clip": per_sample(clip, rows, samples),
            "transition": per_sample(transition, learnt, samples),
            "event_action": per_sample(
                focal(actions, batch.event_actions, stage.focal).sum(-1), batch.event_row, samples
            ),
            "event_type": per_sample(
                cross_entropy(kind, batch.event_type) * self.type_weights[batch.event_type], batch.event_row, samples
            ),
            "event_side": per_sample(cross_entropy(side, batch.event_side), batch.event_row, samples),
        }
        weights = {
            "clip": stage.clip_weight,
            "transition": stage.transition_weight,
            "event_action": stage.event_action_weight,
            "event_type": stage.event_type_weight,
            "event_side": stage.event_side_weight,
        }
        return {"loss": sum((weights[name] * each for name, each in parts.items()), start=clip.new_zeros(())), **parts}


def type_weights(halves: Sequence[Half], balance: float) -> Tensor:
    """What an event of each type weighs: its number to the power of -balance, 1 in the mean over all events."""
    kinds = torch.tensor([TYPES.index(each.type) for half in halves for each in half.events])
    count = torch.bincount(kinds, minlength=len(TYPES)).float()
    weights = count.clamp(min=1).pow(-balance)
    return weights * count.sum() / (weights * count).sum().clamp(min=1e-6)


# --- the run ---------------------------------------------------------------------------------------------------------


class MemoryTask:
    """Stage 1 for the loop: windows of the training halves, a look at some validation halves."""

    name = "memory"

    def __init__(self, recipe: Recipe, corpus: Corpus, tokens: TokenCache) -> None:
        stage = recipe.stage1
        self.recipe, self.stage, self.corpus, self.tokens = recipe, stage, corpus, tokens
        # The backbone itself is not needed: what the visual merger gives is as wide as what the language model takes.
        width = tokens.header.features
        self.model = fresh(recipe.model, Widths(visual=width, language=width), stage.loop.seed)
        if stage.adapter:
            load_adapter(self.model.encoder.adapter, Path(stage.adapter))
            # Its weights are what counts, not where they lay.
            stage = self.stage = replace(stage, adapter=tensors_hash(self.model.encoder.adapter.state_dict()))
        train, watched = corpus.of(Split.TRAIN), corpus.of(Split.VALIDATION)[: stage.validation_halves]
        self.objective = MemoryObjective(self.model.encoder, stage, type_weights(train, stage.type_balance))
        self.windows = Windows(train, stage.window, stage.loop.seed)
        self.watched = watched
        self.visual = VisualTokens(tokens, [*train, *watched], device())

    def groups(self) -> list[Group]:
        named = list(self.model.encoder.named_parameters())
        return [Group(name="encoder", parameters=named, rate=lambda step: self.stage.rate * self.stage.loop.rate(step))]

    def batch(self, step: int, micro: int, rank: int, world: int) -> WindowBatch:
        loop = self.stage.loop
        places = shares(step, micro, accumulation=loop.accumulation, batch=loop.batch, rank=rank, world=world)
        return gather([self.windows.at(place) for place in places], self.visual)

    def validate(self, step: int) -> dict[str, float]:
        return look(self.model.encoder, self.visual, self.watched)

    def describe(self) -> Mapping[str, Any]:
        return {
            "stage": to_mapping(replace(self.stage, loop=LoopConfig(steps=1))),
            "model": to_mapping(self.recipe.model),
            "backbone": self.tokens.header.fingerprint,
            "clips": self.corpus.fingerprint["clips"],
            "events": self.corpus.fingerprint["events"],
        }

    def save(self, folder: Path, step: int) -> None:
        header = self.tokens.header
        save_pretrained(
            folder,
            self.model,
            backbone={"path": header.backbone, "fingerprint": header.fingerprint, "vocabulary": ""},
            prompt="",
            parts=["encoder"],
            provenance=provenance("memory", step, self.stage, self.corpus, tokens=to_mapping(header)),
        )

    def load(self, folder: Path) -> None:
        load_weights(read_checkpoint(folder), self.model, ["encoder"])


def look(encoder: EventEncoder, visual: VisualTokens, halves: Sequence[Half]) -> dict[str, float]:
    """What an encoder makes of these halves: transitions of its own run, types of the labels' events, clip actions."""
    runs = list(run_halves(encoder, visual, halves))
    found: dict[str, float] = {}
    threshold = encoder.transition.config.threshold
    for name, tolerance in (("transition_f1_exact", 0), ("transition_f1_within_one", 1)):
        counts = [
            transition_counts(
                torch.sigmoid(run["transition"].float()).cpu().numpy() >= threshold,
                half.transition,
                half.learn,
                tolerance,
            )
            for half, run in zip(halves, runs, strict=True)
        ]
        found[name] = f1(added(counts))
    lasts = [[each.first + each.clips - 1 for each in half.events] for half in halves]
    memories = torch.cat([run["memory.labels"][at] for run, at in zip(runs, lasts, strict=True)])
    kinds = encoder.event_heads(memories)[1].argmax(-1).cpu().numpy()
    true = np.array([TYPES.index(each.type) for half in halves for each in half.events])
    scores = class_f1(kinds, true, len(TYPES))
    scores.pop(TYPES.index(EventType.END_OF_PERIOD), None)  # that a half is over is known, not seen
    found["event_type_macro_f1"] = float(np.mean(list(scores.values())))
    found["event_type_accuracy"] = float((kinds == true).mean())
    chances = torch.cat([run["clip_actions"] for run in runs]).float().cpu().numpy()
    shown = np.concatenate([half.actions for half in halves])
    average = {
        label.value: area
        for at, label in enumerate(ACTIONS)
        if (area := average_precision(chances[:, at], shown[:, at])) is not None
    }
    found["clip_action_map"] = float(np.mean(list(average.values()))) if average else 0.0
    return (
        found
        | {f"type/{TYPES[at].value}": value for at, value in scores.items()}
        | {f"ap/{name}": value for name, value in average.items()}
    )


def train_memory(
    recipe: Recipe,
    data: Path,
    tokens: Path,
    out: Path,
    *,
    until: int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> Outcome:
    """Stage 1 on a build of `data build` and its token cache, into a run's folder; called again, it goes on.

    It stops at the recipe's last step, at step `until`, or after so many seconds, with a checkpoint wherever that is.
    """
    task = MemoryTask(recipe, Corpus(data), TokenCache(tokens))
    return Trainer(task, recipe.stage1.loop, out, progress=progress).run(until, seconds)


def cache_memory(
    recipe: Recipe,
    data: Path,
    tokens: Path,
    stage1: Path,
    out: Path,
    *,
    splits: Sequence[Split] = tuple(Split),
    matches: Sequence[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """What the encoder of a stage 1 run makes of the halves of these splits, on the disk; those that stand there stay.

    Says how many halves were new. The recipe's model must be the run's; its transition threshold may be another.
    """
    corpus, cache = Corpus(data), TokenCache(tokens)
    parent = Parent.read(stage1, "encoder")
    parent.checkpoint.require(fingerprint=cache.header.fingerprint)
    width = cache.header.features
    model = fresh(recipe.model, Widths(visual=width, language=width), 0)
    parent.into(model, "encoder")
    halves = [
        half for half in corpus.halves.values() if half.split in splits and (matches is None or half.match in matches)
    ]
    header = MemoryCacheHeader(
        encoder=parent.checkpoint.hashes["encoder"],
        backbone=cache.header.fingerprint,
        clips=corpus.fingerprint["clips"],
        threshold=repr(recipe.model.transition.threshold),
    )
    visual = VisualTokens(cache, halves, "cpu")
    return write_memory_cache(out, header, model.encoder.to(device()), visual, halves, progress=progress)

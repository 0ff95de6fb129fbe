"""Stage 3: multi-context commentary (equation 7).

    L = l_gen L_gen + l_retain L_retain + l_route L_route + l_local L_local + l_retr L_retr

L_gen is the cross-entropy of the sentence, its tracks in equal shares. Route says which track's context is needed,
local and retrieval rank what the target speaks of among what it does not, only where both are there. In the cache path
stage 1 is frozen and its memories are read; L_retain is of the joint path, where it trains on.

B samples, n distinct memories, K slots, D = d_m, C candidates
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from streamsoccer.commentary import Context, Scope
from streamsoccer.encoder import EventEncoder
from streamsoccer.heads import TRACKS
from streamsoccer.language import Language
from streamsoccer.model import StreamSoccer, stack_memories
from streamsoccer.prompt import Prompter
from streamsoccer.record import Record
from streamsoccer.retrieval import rank
from streamsoccer.training.contexts import Place, Scene
from streamsoccer.training.losses import cross_entropy, ranking
from streamsoccer.training.memory import MemoryObjective
from streamsoccer.training.recipe import CommentaryStage
from streamsoccer.training.windows import WindowBatch

__all__ = ["CommentaryBatch", "CommentaryObjective", "Joint"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Joint:
    """What the joint path computes memories from: stretches with their stage 1 targets, and single events."""

    windows: WindowBatch
    events: WindowBatch  # one event a row, without targets
    rows: Tensor  # [n] of windows, then of events
    clips: Tensor  # [n] the last clip of each memory in its row

    def to(self, device: torch.device) -> Joint:
        return Joint(
            windows=self.windows.to(device),
            events=self.events.to(device),
            rows=self.rows.to(device),
            clips=self.clips.to(device),
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CommentaryBatch:
    """B scenes with their targets; `where` says at which of the n memories each place is."""

    names: tuple[str, ...]
    scenes: tuple[Scene, ...]
    targets: tuple[tuple[int, ...], ...]
    where: dict[Place, int]
    memories: Tensor | None  # [n, K, D], of the cache path
    joint: Joint | None = None

    def to(self, device: torch.device) -> CommentaryBatch:
        return replace(
            self,
            memories=None if self.memories is None else self.memories.to(device, non_blocking=True),
            joint=None if self.joint is None else self.joint.to(device),
        )


class CommentaryObjective(nn.Module):
    """L_Stage3 and its parts, each a mean over the samples."""

    def __init__(self, model: StreamSoccer, language: Language, prompter: Prompter, stage: CommentaryStage) -> None:
        super().__init__()
        self.projector, self.context, self.language = model.projector, model.context, language
        self.encoder: EventEncoder | None = None
        self.retain: MemoryObjective | None = None
        self.config, self.stage, self.prompter = model.config, stage, prompter

    def retains(self, model: StreamSoccer, retain: MemoryObjective) -> None:
        """Train stage 1 on, held by its own four objectives."""
        self.encoder, self.retain = model.encoder, retain

    def forward(self, batch: CommentaryBatch) -> dict[str, Tensor]:
        stage = self.stage
        memories, parts = self.memories(batch)
        summary = self.summary(batch, memories)
        contexts = self.contexts(batch, memories, summary)
        losses = self.language.loss(self.prefix(contexts), [each.prompt for each in contexts], batch.targets)
        parts["gen"] = losses.mean()
        tracks = [TRACKS.index(each.sample.track) for each in batch.scenes]
        parts["route"] = cross_entropy(self.context.routes(summary), torch.tensor(tracks, device=summary.device)).mean()
        if stage.scope is not Scope.CURRENT:
            parts["local"] = self._ranked(
                batch, memories, lambda scene: scene.local, summary, self.context.local_scores
            )
        if stage.scope is Scope.FULL:
            parts["retrieval"] = self._ranked(
                batch, memories, lambda scene: scene.recalled, summary, self.recall_scores
            )
        weights = {
            "gen": stage.gen_weight,
            "retain": stage.retain_weight,
            "route": stage.route_weight,
            "local": stage.local_weight,
            "retrieval": stage.retrieval_weight,
        }
        total = sum((weights[name] * each for name, each in parts.items()), start=summary.new_zeros(()))
        own = summary.new_tensor(sum(each.own for each in batch.scenes) / len(batch.scenes))
        return {"loss": total, **parts, "own": own}

    # --- memories and contexts ---

    def memories(self, batch: CommentaryBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """The n memories [n, K, D], and L_retain where stage 1 trains on."""
        if batch.memories is not None:
            return batch.memories, {}
        joint = batch.joint
        assert joint is not None and self.encoder is not None and self.retain is not None
        found, parts = [], {}
        for name, each in (("windows", joint.windows), ("events", joint.events)):
            tokens, logits = self.encoder.read(each.visual, each.mask)
            whole = self.encoder.whole(tokens, logits, each.reset)
            if name == "windows":
                parts["retain"] = self.retain.losses(each, logits, whole)["loss"]
            found.append(whole.memory)
        count, clips = len(joint.windows.names), max(each.shape[1] for each in found)
        padded = [nn.functional.pad(each, (0, 0, 0, 0, 0, clips - each.shape[1])) for each in found]
        assert count == len(padded[0])
        return torch.cat(padded)[joint.rows, joint.clips], parts

    def summary(self, batch: CommentaryBatch, memories: Tensor) -> Tensor:
        """What each context is about [B, D]."""
        rows = [[memories[batch.where[place]] for place in self._within(each)] for each in batch.scenes]
        stacked, mask = stack_memories(rows)
        found: Tensor = self.context.summary(stacked, mask)
        return found

    def _within(self, scene: Scene) -> tuple[Place, ...]:
        """What the scope lets a query see."""
        return scene.about if self.stage.scope is not Scope.CURRENT else scene.about[:1]

    def contexts(self, batch: CommentaryBatch, memories: Tensor, summary: Tensor) -> list[Context]:
        """Each scene's memories and prompt; where records are the runtime's own, they are ranked now."""

        def tokens(place: Place) -> Tensor:
            return memories[batch.where[place]]

        found = []
        for scene, about in zip(batch.scenes, summary, strict=True):
            records: Sequence[Record] = scene.records
            if scene.ranked:
                records = self._retrieved(scene, tokens, about)
            found.append(scene.context(tokens, records, self.prompter, self.stage.scope))
        return found

    @torch.no_grad()
    def _retrieved(self, scene: Scene, tokens: Callable[[Place], Tensor], about: Tensor) -> tuple[Record, ...]:
        """R_t as the runtime ranks it, with the heads as they are."""
        with torch.autocast(about.device.type, enabled=False):
            query = self.context.query(about.float()[None])
            keys = self.context.key(torch.stack([tokens(place).float() for _, place in scene.ranked]))
            null = float(self.context.null_score(query)[0])
        known = [
            replace(record, key=key) for (record, _), key in zip(scene.ranked, keys.float().cpu().numpy(), strict=True)
        ]
        return rank(query[0].float().cpu().numpy(), null, known, self.config.retrieval).chosen

    def prefix(self, contexts: Sequence[Context]) -> Tensor:
        """Z_t [B, P, d_l]."""
        memories, mask = stack_memories([each.memories for each in contexts])
        found: Tensor = self.projector(memories, mask)
        return found

    # --- rankings ---

    def recall_scores(self, summary: Tensor, candidates: Tensor) -> Tensor:
        """Of candidate records [B, C, K, D], and of NULL behind them: [B, C + 1]."""
        keys = self.context.key(candidates.flatten(0, 1)).view(*candidates.shape[:2], -1)
        query = self.context.query(summary)
        scores = torch.einsum("br,bcr->bc", query, keys)
        scores = torch.cat([scores, self.context.null_score(query)[:, None]], dim=1)
        return scores * self.context.retrieval_scale.exp()

    def _ranked(
        self,
        batch: CommentaryBatch,
        memories: Tensor,
        candidates: Callable[[Scene], Sequence[tuple[Place, bool]]],
        summary: Tensor,
        score: Callable[[Tensor, Tensor], Tensor],
    ) -> Tensor:
        """A ranking loss over the scenes' candidates; a scene without positives or without negatives counts as 0."""
        rows = [candidates(each) for each in batch.scenes]
        most = max(map(len, rows))
        if most == 0:
            return summary.sum() * 0.0
        index = torch.zeros(len(rows), most, dtype=torch.long)
        there, right = torch.zeros(len(rows), most, dtype=torch.bool), torch.zeros(len(rows), most, dtype=torch.bool)
        for row, each in enumerate(rows):
            for place, (what, positive) in enumerate(each):
                index[row, place], there[row, place], right[row, place] = batch.where[what], True, positive
        device = memories.device
        scores = score(summary, memories[index.to(device)])
        there, right = there.to(device), right.to(device)
        if scores.shape[1] > most:  # NULL is a candidate wherever there is another, and never right
            there = torch.cat([there, there.any(1, keepdim=True)], dim=1)
            right = torch.cat([right, torch.zeros_like(right[:, :1])], dim=1)
        loss, _ = ranking(scores, right, there)
        return loss.mean()

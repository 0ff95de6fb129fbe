"""Stage 3: multi-context commentary (equation 7).

    L = l_gen L_gen + l_retain L_retain + l_route L_route + l_local L_local + l_retr L_retr

L_gen is the cross-entropy of the sentence, its tracks in equal shares. Route says which track's context is needed,
local and retrieval rank what the target speaks of among what it does not, only where both are there. In the cache path
stage 1 is frozen and its memories are read; L_retain is of the joint path, where it trains on.

Threads build batches ahead: a batch names its n distinct memories and speaks of them by number, so that a step is a few
lookups on the device. Only records that the heads rank as they stand make a step wait for their scores.

B samples, n distinct memories, K slots, D = d_m, C candidates
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from streamsoccer.commentary import Context, MemoryGate, Scope
from streamsoccer.encoder import EventEncoder
from streamsoccer.heads import TRACKS
from streamsoccer.language import Language
from streamsoccer.model import StreamSoccer
from streamsoccer.prompt import Prompter
from streamsoccer.retrieval import rank
from streamsoccer.training.bank import Named
from streamsoccer.training.contexts import Place, Scene
from streamsoccer.training.losses import cross_entropy, ranking
from streamsoccer.training.memory import MemoryObjective
from streamsoccer.training.recipe import CommentaryStage
from streamsoccer.training.sentences import Sentences, spell, spoken
from streamsoccer.training.windows import WindowBatch

__all__ = ["CommentaryBatch", "CommentaryObjective", "Composer", "Joint", "Rows", "Source"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Joint:
    """What the joint path computes memories from: stretches with their stage 1 targets, and single events."""

    windows: WindowBatch
    events: WindowBatch | None  # one event a row; nothing where all lie in the stretches
    rows: Tensor  # [n] of windows, then of events
    clips: Tensor  # [n] the last clip of each memory in its row

    def to(self, device: torch.device) -> Joint:
        return Joint(
            windows=self.windows.to(device),
            events=None if self.events is None else self.events.to(device),
            rows=self.rows.to(device, non_blocking=True),
            clips=self.clips.to(device, non_blocking=True),
        )


class Source(Protocol):
    """Where the memories of a batch come from."""

    def name(self, places: Sequence[Place], scenes: Sequence[Scene]) -> Named | Joint: ...


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rows:
    """For each of B samples some of the batch's memories, by number, padded: [B, C]."""

    index: Tensor
    there: Tensor
    right: Tensor  # those that are positive, where that is asked

    @classmethod
    def of(cls, rows: Sequence[Sequence[tuple[int, bool]]]) -> Rows:
        most = max(map(len, rows))
        padded = [(*row, *((0, False),) * (most - len(row))) for row in rows]
        return cls(
            index=torch.tensor([[place for place, _ in row] for row in padded], dtype=torch.long),
            there=torch.tensor([[at < len(row) for at in range(most)] for row in rows], dtype=torch.bool),
            right=torch.tensor([[right for _, right in row] for row in padded], dtype=torch.bool),
        )

    def to(self, device: torch.device) -> Rows:
        return Rows(**{name: getattr(self, name).to(device, non_blocking=True) for name in self.__slots__})


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CommentaryBatch:
    """B scenes as numbers; `where` says at which of the n memories each place is."""

    names: tuple[str, ...]
    scenes: tuple[Scene, ...]
    where: dict[Place, int]
    named: Named | Joint
    about: Rows  # what the heads ask with
    contexts: tuple[Context, ...]  # their memories by number
    prefix: Rows
    tracks: Tensor  # [B]
    local: Rows | None  # nothing where no sample has any candidate, or the scope has no use for them
    recalled: Rows | None
    ranked: Rows | None  # eligible records' memories of the samples `open`
    open: tuple[int, ...]  # samples whose records are chosen at the step itself
    targets: tuple[tuple[int, ...], ...]
    sentences: Sentences | None  # nothing where records are still to be chosen, or no target is there

    def to(self, device: torch.device) -> CommentaryBatch:
        moved: dict[str, Any] = {
            name: None if (each := getattr(self, name)) is None else each.to(device)
            for name in ("named", "about", "prefix", "local", "recalled", "ranked", "sentences")
        }
        return replace(self, tracks=self.tracks.to(device, non_blocking=True), **moved)


class Composer:
    """Scenes to batches; threads may ask at the same time."""

    def __init__(self, source: Source, prompter: Prompter, scope: Scope) -> None:
        self.source, self.prompter, self.scope = source, prompter, scope

    def batch(self, scenes: Sequence[Scene], *, targets: bool = True) -> CommentaryBatch:
        """A batch of these; without `targets` it is one to generate from."""
        local, recall = self.scope is not Scope.CURRENT, self.scope is Scope.FULL
        wanted = [each.places(local=local, recall=recall) for each in scenes]
        where = {place: number for number, place in enumerate(dict.fromkeys(one for row in wanted for one in row))}

        def numbers(places: Sequence[Place]) -> list[tuple[int, bool]]:
            return [(where[each], False) for each in places]

        def compared(rows: Sequence[Sequence[tuple[Place, bool]]]) -> Rows | None:
            return Rows.of([[(where[place], right) for place, right in row] for row in rows]) if any(rows) else None

        open_ = tuple(row for row, each in enumerate(scenes) if recall and each.ranked)
        contexts = tuple(each.context(_number(where), each.records, self.prompter, self.scope) for each in scenes)
        words = [
            self.prompter.target(each.sample.target, each.sample.placeholders) if targets else () for each in scenes
        ]
        return CommentaryBatch(
            names=tuple(each.sample.id for each in scenes),
            scenes=tuple(scenes),
            where=where,
            named=self.source.name(tuple(where), scenes),
            about=Rows.of([numbers(_within(each, self.scope)) for each in scenes]),
            contexts=contexts,
            prefix=_prefix(contexts),
            tracks=torch.tensor([TRACKS.index(each.sample.track) for each in scenes]),
            local=compared([each.local for each in scenes]) if local else None,
            recalled=compared([each.recalled for each in scenes]) if recall else None,
            ranked=Rows.of([numbers([place for _, place in scenes[row].ranked]) for row in open_]) if open_ else None,
            open=open_,
            targets=tuple(words),
            sentences=_spelled(contexts, words, self.prompter) if targets and not open_ else None,
        )


def _within(scene: Scene, scope: Scope) -> tuple[Place, ...]:
    """What the scope lets a query see."""
    return scene.about if scope is not Scope.CURRENT else scene.about[:1]


def _spelled(contexts: Sequence[Context], targets: Sequence[Sequence[int]], prompter: Prompter) -> Sentences:
    return spell([each.prompt for each in contexts], targets, prompter.prefix_tokens)


def _prefix(contexts: Sequence[Context]) -> Rows:
    """The memories of each Z_t, from contexts whose memories are numbers."""
    return Rows.of([[(int(number), False) for number in each.memories] for each in contexts])


def _number(where: Mapping[Place, int]) -> Callable[[Place], Tensor]:
    return lambda place: torch.tensor(where[place])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """What the model makes of a batch."""

    memories: Tensor  # [n, K, D]
    summary: Tensor  # [B, D]
    contexts: tuple[Context, ...]  # with the records that were chosen
    prefix: Tensor  # Z_t [B, P, d_l]
    retain: Tensor | None  # L_retain


class CommentaryObjective(nn.Module):
    """L_Stage3 and its parts, each a mean over the samples."""

    def __init__(self, model: StreamSoccer, language: Language, prompter: Prompter, stage: CommentaryStage) -> None:
        super().__init__()
        self.projector, self.context, self.language = model.projector, model.context, language
        self.encoder: EventEncoder | None = None
        self.retain: MemoryObjective | None = None
        self.retrieval, self.stage, self.prompter = model.config.retrieval, stage, prompter

    def retains(self, retain: MemoryObjective) -> None:
        """Train stage 1 on, held by its own four objectives."""
        self.encoder, self.retain = retain.encoder, retain

    def forward(self, batch: CommentaryBatch) -> dict[str, Tensor]:
        stage, read = self.stage, self.read(batch)
        parts = {"gen": self.losses(batch, read).mean()}
        if read.retain is not None:
            parts["retain"] = read.retain
        parts["route"] = cross_entropy(self.context.routes(read.summary), batch.tracks).mean()
        if stage.scope is not Scope.CURRENT:
            parts["local"] = _ranked(batch.local, self.local_scores(batch, read), read.summary)
        if stage.scope is Scope.FULL:
            parts["retrieval"] = _ranked(batch.recalled, self.recall_scores(batch, read), read.summary)
        weights = {
            "gen": stage.gen_weight,
            "retain": stage.retain_weight,
            "route": stage.route_weight,
            "local": stage.local_weight,
            "retrieval": stage.retrieval_weight,
        }
        total = sum((weights[name] * each for name, each in parts.items()), start=parts["gen"].new_zeros(()))
        share = sum(each.own for each in batch.scenes) / len(batch.scenes)
        return {"loss": total, **parts, "own": torch.full_like(total.detach(), share)}

    # --- memories and contexts ---

    def read(self, batch: CommentaryBatch) -> Reading:
        memories, retain = self.memories(batch.named)
        about = batch.about
        summary: Tensor = self.context.summary(memories[about.index], about.there)
        contexts = self.contexts(batch, memories, summary)
        rows = _prefix(contexts).to(memories.device) if self.gated else batch.prefix
        prefix: Tensor = self.projector(memories[rows.index], rows.there)
        return Reading(memories=memories, summary=summary, contexts=contexts, prefix=prefix, retain=retain)

    def summary(self, scenes: Sequence[Scene], where: Mapping[Place, int], memories: Tensor) -> Tensor:
        """What these scenes are about [B, D], of memories [n, K, D] that lie where `where` says."""
        rows = [[(where[place], False) for place in _within(each, self.stage.scope)] for each in scenes]
        about = Rows.of(rows).to(memories.device)
        found: Tensor = self.context.summary(memories[about.index], about.there)
        return found

    def memories(self, named: Named | Joint) -> tuple[Tensor, Tensor | None]:
        """The n memories [n, K, D], and L_retain where stage 1 trains on."""
        if isinstance(named, Named):
            return named.memories(), None
        assert self.encoder is not None and self.retain is not None
        found, loss = [], None
        for each in (named.windows, named.events):
            if each is None:
                continue
            tokens, logits = self.encoder.read(each.visual, each.mask)
            whole = self.encoder.whole(tokens, logits, each.reset)
            if loss is None:
                loss = self.retain.losses(each, logits, whole)["loss"]
            found.append(whole.memory)
        clips = max(each.shape[1] for each in found)
        padded = [nn.functional.pad(each, (0, 0, 0, 0, 0, clips - each.shape[1])) for each in found]
        return torch.cat(padded)[named.rows, named.clips], loss

    def contexts(self, batch: CommentaryBatch, memories: Tensor, summary: Tensor) -> tuple[Context, ...]:
        """Each scene's context: a learned gate is asked now, and the runtime's own records are ranked now."""
        found = list(batch.contexts)
        scopes = self._scopes(batch, summary)
        for row, scene in enumerate(batch.scenes if self.gated else ()):
            found[row] = scene.context(_number(batch.where), scene.records, self.prompter, scopes[row])
        if batch.ranked is not None:
            ranked = self._retrieved(batch, batch.ranked, scopes, memories, summary)
            for row, context in zip(batch.open, ranked, strict=True):
                found[row] = context
        return tuple(found)

    @property
    def gated(self) -> bool:
        """Whether the route head opens contexts."""
        return self.stage.memory_gate is MemoryGate.LEARNED

    @torch.no_grad()
    def _scopes(self, batch: CommentaryBatch, summary: Tensor) -> list[Scope]:
        """How far each scene's line may look back."""
        scope = self.stage.scope
        if not self.gated:
            return [scope] * len(batch.scenes)
        needed = self.context.routes(summary).argmax(-1).tolist()
        return [scope.within(TRACKS[each]) for each in needed]

    @torch.no_grad()
    def _retrieved(
        self, batch: CommentaryBatch, ranked: Rows, scopes: Sequence[Scope], memories: Tensor, summary: Tensor
    ) -> list[Context]:
        """The contexts with R_t as the runtime ranks it, with the heads as they are; the one wait of a step."""
        with torch.autocast(summary.device.type, enabled=False):
            query = self.context.query(summary[list(batch.open)].float())
            keys = self.context.key(memories[ranked.index[ranked.there]].float())
            null = self.context.null_score(query)
            width = query.shape[1]
            numbers = torch.cat([query.flatten(), null, keys.flatten()]).float().cpu().numpy()
        queries, nulls = numbers[: query.numel()].reshape(-1, width), numbers[query.numel() :][: len(batch.open)]
        rest = numbers[query.numel() + len(batch.open) :].reshape(-1, width)
        found, at = [], 0
        for place, row in enumerate(batch.open):
            scene = batch.scenes[row]
            known = [replace(record, key=rest[at + each]) for each, (record, _) in enumerate(scene.ranked)]
            at += len(known)
            chosen = rank(queries[place], float(nulls[place]), known, self.retrieval).chosen
            found.append(scene.context(_number(batch.where), chosen, self.prompter, scopes[row]))
        return found

    def losses(self, batch: CommentaryBatch, read: Reading) -> Tensor:
        """L_gen of each sample [B]."""
        sentences = batch.sentences
        if sentences is None or self.gated:
            sentences = _spelled(read.contexts, batch.targets, self.prompter).to(read.prefix.device)
        return spoken(self.language, read.prefix, sentences)

    # --- rankings ---

    def local_scores(self, batch: CommentaryBatch, read: Reading) -> Tensor | None:
        """Of the candidate events [B, C]."""
        if batch.local is None:
            return None
        scores: Tensor = self.context.local_scores(read.summary, read.memories[batch.local.index])
        return scores

    def recall_scores(self, batch: CommentaryBatch, read: Reading) -> Tensor | None:
        """Of the candidate records, and of NULL behind them: [B, C + 1]."""
        if batch.recalled is None:
            return None
        candidates = read.memories[batch.recalled.index]
        keys = self.context.key(candidates.flatten(0, 1)).view(*candidates.shape[:2], -1)
        query = self.context.query(read.summary)
        scores = torch.einsum("br,bcr->bc", query, keys)
        scores = torch.cat([scores, self.context.null_score(query)[:, None]], dim=1)
        return scores * self.context.retrieval_scale.exp()


def _ranked(rows: Rows | None, scores: Tensor | None, summary: Tensor) -> Tensor:
    """A ranking loss over the samples' candidates; one without positives or without negatives counts as 0."""
    if rows is None or scores is None:
        return summary.sum() * 0.0
    there, right = rows.there, rows.right
    if scores.shape[1] > there.shape[1]:  # NULL is a candidate wherever the loss applies, and never right
        both = (there & right).any(1, keepdim=True) & (there & ~right).any(1, keepdim=True)
        there = torch.cat([there, both], dim=1)
        right = torch.cat([right, torch.zeros_like(both)], dim=1)
    return ranking(scores, right, there)[0].mean()

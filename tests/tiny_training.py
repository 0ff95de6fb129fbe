"""Everything that the training tests stand on, small: a build, its token cache, a backbone, a recipe; made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from tests.small_corpus import write_corpus

from streamsoccer.adapter import AdapterConfig
from streamsoccer.backbone import Backbone, BackboneConfig
from streamsoccer.clip import Clip
from streamsoccer.data.manifests import read_clips, read_records, read_samples
from streamsoccer.data.pipeline import build
from streamsoccer.domain import Split
from streamsoccer.heads import ACTIONS, HeadsConfig
from streamsoccer.memory import MemoryConfig
from streamsoccer.model import ModelConfig
from streamsoccer.projector import ProjectorConfig
from streamsoccer.prompt import PromptConfig
from streamsoccer.sources.shards import CacheWriter
from streamsoccer.sources.tokens import CacheHeader
from streamsoccer.testing.backbone import tiny_backbone
from streamsoccer.training.memory import cache_memory, train_memory
from streamsoccer.training.own_run import write_own_records
from streamsoccer.training.recipe import (
    CommentaryStage,
    Curriculum,
    Decay,
    LoopConfig,
    MemoryStage,
    Recipe,
    RecordStage,
)
from streamsoccer.training.records import train_records
from streamsoccer.transition import TransitionConfig

__all__ = ["Ground", "lay", "loop", "recipe", "train_two_stages", "write_tokens"]

N, WIDTH = 8, 64  # visual tokens of a clip, four moments of two


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ground:
    """Folders of one small corpus, and the backbone that its tokens are of."""

    root: Path
    data: Path
    tokens: Path
    backbone: Backbone

    @property
    def folder(self) -> Path:
        return self.root / "backbone"


def lay(root: Path, matches: int = 5) -> Ground:
    """Matches of a quarter of an hour a half, built and encoded."""
    write_corpus(root / "league", matches=matches, captioned=matches)
    assert build(root / "league", root / "data").ok
    texts = [each.text for each in read_records(root / "data")]
    texts += [each.target for each in read_samples(root / "data")]
    backbone = tiny_backbone(
        root / "backbone", texts, vocabulary=700, width=WIDTH, spread=0.3
    )  # sharp enough to be sure of a word
    write_tokens(root / "tokens", root / "data", backbone.fingerprint)
    return Ground(root=root, data=root / "data", tokens=root / "tokens", backbone=backbone)


def write_tokens(folder: Path, data: Path, fingerprint: str, *, leave_out: Sequence[tuple[str, int]] = ()) -> None:
    """Tokens that show each clip's actions in noise, so that there is something to learn."""
    header = CacheHeader(
        fingerprint=fingerprint, backbone="tiny", width=64, height=64, dtype="float32", tokens=N, features=WIDTH,
        shard_clips=64,
    )  # fmt: skip
    signs = np.random.default_rng(1).normal(size=(len(ACTIONS), WIDTH))
    halves: dict[tuple[str, int], list[tuple[float, float, tuple[str, ...]]]] = {}
    for row in read_clips(data):
        halves.setdefault((row.match, row.half), []).append((row.start, row.end, row.actions))
    writer = CacheWriter(folder, header)
    for number, ((match, half), rows) in enumerate(halves.items()):
        if (match, half) in leave_out:
            continue
        noise = np.random.default_rng([2, number])
        with writer.half(match, half) as out:
            for index, (start, end, actions) in enumerate(rows):
                seen = noise.normal(size=(N, WIDTH)) * 0.5
                for label in actions:
                    seen += signs[ACTIONS.index(label)]
                out.add(_clip(half, index, start, end), torch.from_numpy(seen).float())
            out.finish()


def _clip(half: int, index: int, start: float, end: float) -> Clip:
    frames = max(1, round((end - start) * 2))
    return Clip(
        half=half,
        index=index,
        start=start,
        end=end,
        frames=np.zeros((frames, 2, 2, 3), np.uint8),
        samples=tuple(range(frames)),
        times=tuple(start + each / 2 for each in range(frames)),
    )


def loop(steps: int, **values: object) -> LoopConfig:
    """A short run without a warm-up."""
    base = LoopConfig(
        steps=steps, batch=2, accumulation=1, warmup=0, seed=7, decay=Decay.CONSTANT, weight_decay=0.0,
        save_every=1000, validate_every=1000, prefetch=1,
    )  # fmt: skip
    return replace(base, **values)


def recipe(ground: Ground) -> Recipe:
    """The paper's model at a width of 32, and stages of a few steps."""
    return Recipe(
        backbone=BackboneConfig(path=str(ground.folder), dtype="float32"),
        model=ModelConfig(
            adapter=AdapterConfig(width=32, heads=4),
            memory=MemoryConfig(heads=4),
            transition=TransitionConfig(heads=4),
            heads=HeadsConfig(heads=4, retrieval_width=16),
            projector=ProjectorConfig(heads=4),
            prompt=PromptConfig(),
        ),
        stage1=MemoryStage(loop=loop(4), rate=1e-3, window=48, event_side_weight=0.3, validation_halves=2),
        stage2=RecordStage(
            loop=loop(4), align_steps=1, lora_warmup_steps=1, validation_samples=8, validation_texts=2,
            projector_rate=1e-3, lora_rate=1e-3,
        ),
        stage3=CommentaryStage(
            loop=loop(4, batch=3), curriculum=Curriculum(begin=2, every=1, levels=2), validation_samples=9,
            validation_texts=3, lora_rate=1e-3, projector_rate=1e-3, heads_rate=1e-3,
        ),
    )  # fmt: skip


def train_two_stages(ground: Ground) -> None:
    """A few steps each, and what stage 3 stands on: `run1`, `memory`, `run2` and `own` in the ground's folder."""
    mine, root = recipe(ground), ground.root
    mine = replace(mine, stage1=replace(mine.stage1, loop=loop(12)), stage2=replace(mine.stage2, loop=loop(12)))
    train_memory(mine, ground.data, ground.tokens, root / "run1")
    cache_memory(mine, ground.data, ground.tokens, root / "run1", root / "memory")
    train_records(mine, ground.data, root / "memory", root / "run1", root / "run2")
    watched = (Split.TRAIN, Split.VALIDATION)
    write_own_records(mine, ground.data, root / "memory", root / "run2", root / "own", splits=watched)

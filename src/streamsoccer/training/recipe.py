"""A recipe: the backbone, the model and the three stages, value by value; the defaults are the paper's.

What the paper does not give is ours, and says so here. recipes/paper.yaml spells every value out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from streamsoccer.backbone import BackboneConfig
from streamsoccer.commentary import MemoryGate, Scope
from streamsoccer.config import from_mapping, load_yaml
from streamsoccer.errors import UsageError
from streamsoccer.model import ModelConfig
from streamsoccer.runtime import RuntimeConfig

__all__ = [
    "CommentaryStage",
    "Decay",
    "LoopConfig",
    "MemoryStage",
    "Path3",
    "Precision",
    "Recipe",
    "RecordStage",
    "Representation",
    "load_recipe",
]


class Precision(StrEnum):
    """In what the trained parts compute; the backbone has its own."""

    AUTO = "auto"  # bf16 where a GPU is, float32 elsewhere
    BF16 = "bf16"
    FLOAT32 = "no"


class Decay(StrEnum):
    """What becomes of the learning rate after the warm-up. The paper names a warm-up alone."""

    CONSTANT = "constant"
    COSINE = "cosine"


class Representation(StrEnum):
    """What stands for an event in stage 2 and stage 3: the paper's memory, or one of its two controls."""

    RECURRENT = "recurrent"  # M_j^c
    EVENT_POOL = "event_pool"  # the mean of E_t over the event's clips
    FIXED_POOL = "fixed_pool"  # the mean of E_t over the trailing 24 s, at most six clips


class Path3(StrEnum):
    """The two ways through stage 3."""

    CACHE = "cache"  # stage 1 frozen, its memories read from the memory cache
    JOINT = "joint"  # stage 1 trains on, held by L_retain
    VIDEO = "video"  # no memory at all: the native video path of the backbone (Video-SFT)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopConfig:
    """Steps, batches and the learning rate's course; batch is per process."""

    steps: int
    batch: int = 1
    accumulation: int = 16
    warmup: int = 500
    seed: int = 42
    # ours
    decay: Decay = Decay.CONSTANT
    final_share: float = 0.1  # of the learning rate, at the end of a cosine decay
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    precision: Precision = Precision.AUTO
    save_every: int = 500
    validate_every: int = 500
    keep: int = 2  # older checkpoints go
    prefetch: int = 2  # batches read ahead
    tensorboard: bool = False  # beside metrics.jsonl

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "accumulation", "save_every", "validate_every", "keep"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")

    def rate(self, step: int) -> float:
        """The share of the learning rate at a step, counted from 0."""
        from math import cos, pi

        if step < self.warmup:
            return (step + 1) / self.warmup
        if self.decay is Decay.CONSTANT:
            return 1.0
        along = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        return self.final_share + (1 - self.final_share) * 0.5 * (1 + cos(pi * along))


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryStage:
    """Stage 1: the streaming event memory."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=50_000))
    rate: float = 1e-4
    clip_weight: float = 0.5
    transition_weight: float = 1.0
    event_action_weight: float = 1.0
    event_type_weight: float = 0.3
    # ours
    event_side_weight: float = 0.0
    adapter: str = ""  # a file of first weights for the adapter (training/digest.py)
    type_balance: float = 0.0  # 0: an event weighs 1; 1: all types weigh the same, however rare; 0.5 lies between
    window: int = 96  # clips of a half in one row
    asymmetric_negative: float = 4.0  # the asymmetric loss's own defaults
    asymmetric_positive: float = 1.0
    asymmetric_margin: float = 0.05
    focal: float = 2.0  # the focal loss's own default
    validation_halves: int = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordStage:
    """Stage 2: memory to record. Projector alone, then LoRA warms up, then both."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=3_000))
    projector_rate: float = 1e-4
    lora_rate: float = 1e-5
    representation: Representation = Representation.RECURRENT
    lora: bool = True  # false is the paper's projector-only comparison of representations
    # ours
    align_steps: int = 500  # LoRA stands still
    lora_warmup_steps: int = 500  # then its rate grows
    context_dropout: float = 0.1  # how often the match context holds no score and cards
    context_unsure: float = 0.25  # how often it is marked as predicted, as it is in a match without a feed
    legacy_split: bool = False  # train and test of the representation benchmark
    validation_samples: int = 512
    validation_texts: int = 32  # of those, how many are also written out


@dataclass(frozen=True, kw_only=True, slots=True)
class Curriculum:
    """How often a context is the runtime's own: ratio(s) = 0.10 + 0.40 * floor((s - 5000) / 250) / 19."""

    begin: int = 5_000
    every: int = 250
    first: float = 0.10
    last: float = 0.50
    levels: int = 20

    def ratio(self, step: int) -> float:
        """The share of runtime-selected contexts at a step; none before `begin`, the last level from the end on."""
        if step < self.begin:
            return 0.0
        level = min((step - self.begin) // self.every, self.levels - 1)
        return self.first + (self.last - self.first) * level / max(1, self.levels - 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentaryStage:
    """Stage 3: multi-context commentary."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=10_000, batch=2, accumulation=8))
    path: Path3 = Path3.CACHE
    scope: Scope = Scope.FULL
    representation: Representation = Representation.RECURRENT
    memory_gate: MemoryGate = MemoryGate.RULE
    lora_rate: float = 2e-5
    projector_rate: float = 3e-5
    curriculum: Curriculum = Curriculum()
    # ours: the paper names the lambdas and gives no values
    heads_rate: float = 1e-4
    encoder_rate: float = 1e-5  # of the joint path
    gen_weight: float = 1.0
    retain_weight: float = 0.2
    route_weight: float = 0.1
    local_weight: float = 0.1
    retrieval_weight: float = 0.2
    context_dropout: float = 0.1
    context_unsure: float = 0.25  # how often it is marked as predicted, as it is in a match without a feed
    local_candidates: int = 12  # of the events that L_local ranks
    retrieval_candidates: int = 24  # of those that L_retr ranks, besides NULL
    joint_candidates: int = 6  # of L_retr in the joint path, which computes their memories anew
    video_frames: int = 64  # of a window in the native video path, evenly spaced where there are more
    validation_samples: int = 384
    validation_texts: int = 48

    @property
    def recalled(self) -> int:
        """How many records L_retr compares on this path, besides NULL."""
        return self.joint_candidates if self.path is Path3.JOINT else self.retrieval_candidates


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """All that a run needs to know beside its data."""

    backbone: BackboneConfig = field(default_factory=BackboneConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    stage1: MemoryStage = MemoryStage()
    stage2: RecordStage = RecordStage()
    stage3: CommentaryStage = CommentaryStage()
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)  # kept beside the weights of stage 3


def load_recipe(path: Path | None) -> Recipe:
    """A recipe from its file; without one, the paper's."""
    return Recipe() if path is None else from_mapping(Recipe, load_yaml(path), path)

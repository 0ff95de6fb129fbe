"""What pre-training is told: sizes, batches, what each of its lessons weighs, and the course of the learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from streamsoccer.adapter import AdapterConfig
from streamsoccer.config import from_mapping, load_yaml
from streamsoccer.errors import UsageError
from streamsoccer.prompt import PromptConfig
from streamsoccer.training.captioner import BackboneShape
from streamsoccer.training.film import RUN
from streamsoccer.training.pictures import PicturesConfig

__all__ = ["PretrainRecipe", "load_pretrain_recipe"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PretrainRecipe:
    """Sizes, batches and the course of the learning rate."""

    shape: BackboneShape = field(default_factory=BackboneShape)
    pictures: PicturesConfig = field(default_factory=PicturesConfig)
    prompt: PromptConfig = field(default_factory=lambda: PromptConfig(sided=True))
    prefix_tokens: int = 8
    width: int = 384
    height: int = 224
    seed: int = 42
    steps: int = 6000
    batch: int = 128  # clips of a step
    clips_in_row: tuple[int, ...] = (1, 1, 1, 1, 1, 1, 1, 2)  # step after step
    deepstack_every: int = 4  # in one step of so many the language model sees DeepStack's features too
    words: int = 48  # tokens of a caption with its end of turn, for one clip
    text_rows: int = 64  # lines of text of the shortest of `text_lengths`, and of longer ones as many tokens
    text_lengths: tuple[int, ...] = (192, 576)
    text_hinted: float = 0.7
    text_weight: float = 0.5
    find_weight: float = 0.25  # of who is where in the picture, where that is marked
    digest_weight: float = 0.0  # of the caption said again from an adapter's nine tokens, and of who has the ball
    adapter: AdapterConfig = field(default_factory=AdapterConfig)
    rate: float = 2e-3
    warmup: int = 200
    cooldown: int = 1200  # the last steps, in which the rate falls to nothing
    hurry: float = 0.0  # seconds of a leg after which these last steps begin, however many steps are left; 0: never
    momentum: float = 0.95
    weight_decay: float = 0.05
    store: int = 40_000  # decoded clips beside the weights: 2 MB each
    least: int = 4_096  # clips in the store before the first step
    fresh: int = 24  # runs of four clips that a step takes in at most
    workers: int = 12
    grows: bool = False
    look_every: int = 50  # steps
    validate_every: int = 500
    validation_clips: int = 512
    save_every: int = 500
    compile: bool = True  # on a GPU

    def __post_init__(self) -> None:
        if not self.clips_in_row or not all(1 <= each <= RUN for each in self.clips_in_row):
            raise UsageError(f"clips_in_row {self.clips_in_row}", remedy=f"use 1 to {RUN} for each step")
        if not self.text_lengths or min(self.text_lengths) < 1:
            raise UsageError(f"text_lengths {list(self.text_lengths)}", remedy="name one or more numbers of tokens")
        for name in ("steps", "batch", "words", "text_rows", "store", "least", "fresh", "workers", "deepstack_every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")

    def share(self, step: int, last: int) -> float:
        """Of the learning rate: up, level, and down to nothing over the steps up to the last."""
        up = (step + 1) / max(1, self.warmup)
        down = (last - step) / max(1, self.cooldown)
        return min(1.0, up, down)


def load_pretrain_recipe(path: Path) -> PretrainRecipe:
    return from_mapping(PretrainRecipe, load_yaml(path), path)

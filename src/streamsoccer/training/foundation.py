"""What a stage stands on: the device, a model with first weights, the stage before, and the line of provenance."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.backbone import Backbone, load_backbone
from streamsoccer.checkpoint import Checkpoint, load_weights, read_checkpoint, read_provenance
from streamsoccer.config import to_mapping
from streamsoccer.language import Language
from streamsoccer.model import ModelConfig, StreamSoccer, Widths
from streamsoccer.prompt import Prompter
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.recipe import Recipe

__all__ = ["Parent", "Speaker", "device", "fresh", "provenance", "quick_turns", "seeded", "upload"]


def device() -> torch.device:
    """This process's own device, as accelerate shares them out."""
    from accelerate import PartialState

    found: torch.device = PartialState(cpu=not torch.cuda.is_available()).device
    return found


def quick_turns() -> None:
    """On a GPU, let no thread keep the others waiting: reading ahead must not hold up the launches."""
    if torch.cuda.is_available():
        sys.setswitchinterval(0.0005)  # seconds; Python's own are ten times as long


def upload(array: NDArray[Any], where: torch.device) -> Tensor:
    """An array on the device, from pinned memory: any other copy waits for all that has been launched."""
    held = torch.from_numpy(array)
    return held.pin_memory().to(where, non_blocking=True) if where.type == "cuda" else held.to(where)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers of this seed inside; nobody else's change."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def fresh(config: ModelConfig, widths: Widths, seed: int) -> StreamSoccer:
    """A model with the first weights of this seed."""
    with seeded(seed):
        return StreamSoccer(config, widths)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Parent:
    """The stage before: its checkpoint, and where that came from."""

    checkpoint: Checkpoint
    line: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, folder: Path, *parts: str) -> Parent:
        """A run's folder or a checkpoint in it; `parts` must have been trained there."""
        checkpoint = read_checkpoint(folder)
        checkpoint.require(parts=parts)
        return cls(checkpoint=checkpoint, line=tuple(read_provenance(checkpoint.folder)))

    def into(self, model: StreamSoccer, *parts: str) -> Mapping[str, Tensor] | None:
        """Its weights into a model of the same shape; returns its LoRA, where there is one."""
        return load_weights(self.checkpoint, model, parts)


class Speaker:
    """The language side of stages 2 and 3: the frozen backbone, its language model with LoRA, and the prompts."""

    def __init__(self, recipe: Recipe, parent: Parent, seed: int) -> None:
        """The backbone must be the one that the parent's tokens are of; LoRA begins as the seed says."""
        self.backbone: Backbone = load_backbone(recipe.backbone, device())
        self.widths = Widths.of(self.backbone)
        tokenizer: Any = self.backbone.tokenizer
        self.prompter = Prompter(tokenizer, recipe.model.prompt, recipe.model.projector.tokens)
        parent.checkpoint.require(
            fingerprint=self.backbone.fingerprint,
            vocabulary=self.backbone.vocabulary,
            widths=self.widths,
            prompt=self.prompter.fingerprint,
        )
        with seeded(seed):
            self.language = Language(self.backbone, recipe.model.language)
        self.name = {
            "path": recipe.backbone.path,
            "fingerprint": self.backbone.fingerprint,
            "vocabulary": self.backbone.vocabulary,
        }

    @property
    def embeddings(self) -> Tensor:
        """The language model's token embeddings, which the projector's first outputs are scaled to."""
        table: Tensor = self.backbone.model.get_input_embeddings().weight
        return table


def provenance(
    stage: str, step: int, recipe: object, corpus: Corpus, parents: Sequence[Mapping[str, Any]] = (), **more: Any
) -> list[dict[str, Any]]:
    """The lines of the stages before, and this one's."""
    line = {
        "stage": stage,
        "step": step,
        "recipe": to_mapping(recipe),
        "data": dict(corpus.fingerprint),
        **more,
        "commit": commit(),
        "machine": machine(),
    }
    return [*(dict(each) for each in parents), line]


@cache
def commit() -> str:
    """The commit of the code, with '+' where it was changed since.

    Outside of a checkout it is what STREAMSOCCER_COMMIT says, or 'unknown'.
    """
    here = Path(__file__).resolve().parent
    try:
        words = ["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "--", "."]
        head, changed = (
            subprocess.run(["git", *each], cwd=here, check=True, capture_output=True, text=True).stdout.strip()
            for each in words
        )
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("STREAMSOCCER_COMMIT") or "unknown"
    return head + ("+" if changed else "")


def machine() -> dict[str, Any]:
    """The kind of machine, nothing that names this one."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {"system": f"{platform.system()} {platform.machine()}", "gpu": gpu, "torch": torch.__version__}

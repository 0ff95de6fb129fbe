"""From memories and prompts to text: P_theta, the language model, and what is done where it fails.

Requests of any number of matches are generated together. One that breaks costs itself alone: the others are asked for
again one by one. On a CPU each prefix is projected by itself, so that no row depends on how many there are.

K slots, D = d_m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from streamsoccer.errors import StreamSoccerError
from streamsoccer.language import Prompt, Request
from streamsoccer.model import stack_memories

if TYPE_CHECKING:
    from streamsoccer.checkpoint import Pretrained

__all__ = ["Asked", "Given", "Voice", "rows_apart"]

# What a model, a driver or an allocator may raise in the middle of a match.
BREAKS = (RuntimeError, ValueError, ArithmeticError, MemoryError, StreamSoccerError)


def rows_apart(device: torch.device, count: int) -> list[list[int]]:
    """Which rows go through a module together: each alone on a CPU, where products of several rows round otherwise."""
    return [[row] for row in range(count)] if device.type == "cpu" else [list(range(count))] if count else []


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Asked:
    """One text that is wanted: its memories [K, D], newest first, its prompt, and its longest length."""

    memories: tuple[Tensor, ...]
    prompt: Prompt
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What came of it: a text, which may be empty, or what went wrong."""

    text: str = ""
    problem: str = ""


class Voice:
    """The generator that all matches share."""

    def __init__(self, pretrained: Pretrained) -> None:
        self._pretrained = pretrained

    def say(self, asked: Sequence[Asked]) -> list[Given]:
        """A text for each request, or the reason why there is none."""
        if not asked:
            return []
        try:
            return self._generate(asked)
        except BREAKS as error:
            if len(asked) == 1:
                return [Given(problem=_told(error))]
        return [each for one in asked for each in self.say([one])]

    def _generate(self, asked: Sequence[Asked]) -> list[Given]:
        language, prompter = self._pretrained.language, self._pretrained.prompter
        requests = [
            Request(prefix=prefix, prompt=one.prompt, max_tokens=one.max_tokens)
            for one, prefix in zip(asked, self.prefixes(asked), strict=True)
        ]
        return [Given(text=prompter.text(ids)) for ids in language.generate(requests)]

    def prefixes(self, asked: Sequence[Asked]) -> list[Tensor]:
        """Z_t of each request [P, d_l]."""
        model = self._pretrained.model
        found: list[Tensor] = []
        with torch.inference_mode():
            for rows in rows_apart(model.device, len(asked)):
                memories, mask = stack_memories([asked[row].memories for row in rows])
                found.extend(model.projector(memories.to(model.device), None if mask.all() else mask.to(model.device)))
        return found


def _told(error: BaseException) -> str:
    """The first line of what an error says."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"

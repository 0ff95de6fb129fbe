"""Prompts and targets of a batch as one rectangle of tokens: built ahead by threads, read by the device in a few calls.

    [before ; Z_t ; after ; y_1 .. y_n-1]   predicts   y_1 .. y_n, the last of them the end of turn

B samples, T tokens, P prefix tokens, n target tokens of all samples, D = d_l
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from streamsoccer.errors import UsageError
from streamsoccer.language import Language, Prompt

__all__ = ["Sentences", "spell", "spoken"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sentences:
    """Tokens with room for the soft prefix at `begin`, and where the targets are predicted."""

    begin: int
    tokens: Tensor  # [B, T]
    places: Tensor  # [n] of the B * T
    wanted: Tensor  # [n]
    sample: Tensor  # [n] whose target

    def to(self, device: torch.device) -> Sentences:
        return Sentences(
            begin=self.begin,
            tokens=self.tokens.to(device, non_blocking=True),
            places=self.places.to(device, non_blocking=True),
            wanted=self.wanted.to(device, non_blocking=True),
            sample=self.sample.to(device, non_blocking=True),
        )


def spell(prompts: Sequence[Prompt], targets: Sequence[Sequence[int]], prefix: int) -> Sentences:
    """A soft prefix of so many tokens stands at the same place in each, as one prompter writes them."""
    begin = len(prompts[0].before)
    if any(each.before != prompts[0].before for each in prompts):
        raise UsageError("prompts of different profiles in one batch")
    if empty := [row for row, each in enumerate(targets) if not each]:
        raise UsageError(f"target {empty[0]} of {len(targets)} has no tokens")
    room = (0,) * prefix
    rows = [
        (*prompt.before, *room, *prompt.after, *target[:-1]) for prompt, target in zip(prompts, targets, strict=True)
    ]
    length = max(map(len, rows))
    places = [
        row * length + place
        for row, (words, target) in enumerate(zip(rows, targets, strict=True))
        for place in range(len(words) - len(target), len(words))
    ]
    return Sentences(
        begin=begin,
        tokens=torch.tensor([(*row, *(0,) * (length - len(row))) for row in rows]),
        places=torch.tensor(places),
        wanted=torch.tensor([one for target in targets for one in target]),
        sample=torch.tensor([row for row, target in enumerate(targets) for _ in target]),
    )


def spoken(language: Language, prefix: Tensor, sentences: Sentences) -> Tensor:
    """Of each sample [B], the mean cross-entropy over its target's tokens, as `Language.loss`; prefix [B, P, D]."""
    words = language.text.embed_tokens(sentences.tokens)
    after = sentences.begin + prefix.shape[1]
    rows = torch.cat([words[:, : sentences.begin], prefix.to(words.dtype), words[:, after:]], dim=1)
    hidden = language.hidden(rows).flatten(0, 1)[sentences.places]
    each = F.cross_entropy(language.backbone.model.lm_head(hidden).float(), sentences.wanted, reduction="none")
    total = each.new_zeros(len(prefix)).index_add(0, sentences.sample, each)
    count = each.new_zeros(len(prefix)).index_add(0, sentences.sample, torch.ones_like(each))
    return total / count

"""The stage objectives, each a mean over the samples of a batch: two processes average to one of twice the size.

Within a sample a loss is the mean over what it applies to; a sample to which it does not apply counts as 0.

B samples, A classes, C candidates
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["asymmetric", "cross_entropy", "focal", "per_sample", "ranking"]


def asymmetric(logits: Tensor, targets: Tensor, *, negative: float, positive: float, margin: float) -> Tensor:
    """Asymmetric loss of sparse multi-label targets [..., A], summed over the classes (Ridnik et al. 2021).

    Positives weigh (1 - p)^positive, negatives p_m^negative with p_m = max(p - margin, 0).
    """
    logits, targets = logits.float(), targets.float()
    chance = torch.sigmoid(logits)
    shifted = (chance - margin).clamp(min=0)
    on = targets * (1 - chance).pow(positive) * F.logsigmoid(logits)
    off = (1 - targets) * shifted.pow(negative) * torch.log1p(-shifted.clamp(max=1 - 1e-6))
    return -(on + off).sum(-1)


def focal(logits: Tensor, targets: Tensor, gamma: float) -> Tensor:
    """Focal binary cross-entropy (Lin et al. 2017), element by element."""
    logits, targets = logits.float(), targets.float()
    plain = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    chance = torch.sigmoid(logits)
    return plain * (1 - (chance * targets + (1 - chance) * (1 - targets))).pow(gamma)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of one class [...], element by element."""
    return F.cross_entropy(logits.float(), targets, reduction="none")


def ranking(scores: Tensor, positive: Tensor, candidate: Tensor) -> tuple[Tensor, Tensor]:
    """-log of the share of the positives among all candidates [B, C], and where it applies [B].

    It applies where there is a positive and a candidate that is none.
    """
    applies = (positive & candidate).any(1) & (~positive & candidate).any(1)
    scores = scores.float().masked_fill(~candidate, -1e4)
    loss = torch.logsumexp(scores, 1) - torch.logsumexp(scores.masked_fill(~positive, -1e4), 1)
    return torch.where(applies, loss, torch.zeros_like(loss)), applies


def per_sample(values: Tensor, sample: Tensor, samples: int) -> Tensor:
    """The mean over the samples of each sample's own mean of `values` [n]; `sample` [n] says whose each is."""
    total = values.new_zeros(samples).index_add_(0, sample, values)
    count = values.new_zeros(samples).index_add_(0, sample, torch.ones_like(values))
    return (total / count.clamp(min=1)).mean()

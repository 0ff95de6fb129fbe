"""b_t, rho_t and r_t: when the active event ends (equation 3).

    rho_t = [dur(M_{t-1}) >= D_max],    r_t = b_t or rho_t

The head compares E_t[0] with M_{t-1} and receives action and age cues: the action probabilities of this clip and of the
one before, and how many clips the active event has. b_t is learned; rho_t is a safeguard of 24 s and no transition.

B batch, K slots, D = d_m, A actions
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from streamsoccer.attention import Attention
from streamsoccer.domain import CLIP_SECONDS, EVENT_SECONDS

__all__ = ["TransitionConfig", "TransitionHead"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionConfig:
    """D_max is the paper's; the threshold on b_t's probability is ours, chosen on validation matches."""

    seconds: float = EVENT_SECONDS  # D_max
    threshold: float = 0.5
    heads: int = 8
    dropout: float = 0.0

    @property
    def longest(self) -> int:
        """D_max in clips: a memory of so many is full."""
        return round(self.seconds / CLIP_SECONDS)


class TransitionHead(nn.Module):
    """The logit of b_t from the previous memory, the arriving clip and the cues."""

    def __init__(self, config: TransitionConfig, width: int, actions: int) -> None:
        super().__init__()
        self.config = config
        self.norm_memory, self.norm_clip = nn.LayerNorm(width), nn.LayerNorm(width)
        self.compare = Attention(width, config.heads)
        cues = 2 * actions + config.longest + 1
        self.decide = nn.Sequential(
            nn.Linear(4 * width + cues, width), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(width, 1)
        )

    def forward(self, memory: Tensor, clip: Tensor, now: Tensor, before: Tensor, age: Tensor) -> Tensor:
        """Logits [B] from M_{t-1} [B, K, D], E_t [B, K, D], probabilities [B, A] of two clips, and clips so far [B]."""
        seen = self.norm_clip(clip[:, :1])
        held = self.compare(seen, self.norm_memory(memory))[:, 0]
        seen = seen[:, 0]
        age_cue = F.one_hot(age.clamp(0, self.config.longest), self.config.longest + 1)
        cues = [now, before, age_cue]
        features = torch.cat([seen, held, seen - held, seen * held, *(each.to(seen.dtype) for each in cues)], dim=-1)
        out: Tensor = self.decide(features)[:, 0]
        return out

    def safeguard(self, age: Tensor) -> Tensor:
        """rho_t [B]: the previous memory has lasted D_max."""
        return age >= self.config.longest

    def reset(self, logits: Tensor, age: Tensor) -> Tensor:
        """r_t [B]; where there is no active event yet, the arriving clip starts one."""
        return (torch.sigmoid(logits) >= self.config.threshold) | self.safeguard(age) | (age == 0)

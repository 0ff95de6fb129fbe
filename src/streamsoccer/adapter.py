"""A, the Clip Event Adapter: a clip's visual tokens V_t become K_m = 9 event tokens E_t (equation 1).

    E_t = A(V_t) in R^{K_m x d_m}

Learned queries read the visual tokens by cross-attention, two layers of eight heads. E_t[0] is the special token that
summarises the clip; the others are its slots. The tower attends within a frame pair alone, so each of the four pairs of
a clip gets an embedding of its place in time; where a token is in the picture the tower's own tokens say.

B clips, N visual tokens, d_v their width, K tokens, D = d_m
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from streamsoccer.attention import Block
from streamsoccer.errors import UsageError

__all__ = ["AdapterConfig", "ClipEventAdapter"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AdapterConfig:
    """Table 'architecture_spec'; `moments` is the number of frame pairs that the tower makes of a clip."""

    width: int = 1024  # d_m
    tokens: int = 9  # K_m
    layers: int = 2
    heads: int = 8
    moments: int = 4
    dropout: float = 0.0


class ClipEventAdapter(nn.Module):
    """Cross-attention resampler."""

    def __init__(self, config: AdapterConfig, visual_width: int) -> None:
        super().__init__()
        self.config = config
        self.norm = nn.LayerNorm(visual_width)
        self.into = nn.Linear(visual_width, config.width)
        self.moment = nn.Parameter(torch.randn(config.moments, config.width) * 0.02)
        self.queries = nn.Parameter(torch.randn(config.tokens, config.width) * 0.02)
        self.layers = nn.ModuleList(
            Block(config.width, config.heads, self_attention=False, dropout=config.dropout)
            for _ in range(config.layers)
        )
        self.out = nn.LayerNorm(config.width)

    def forward(self, visual: Tensor, mask: Tensor | None = None) -> Tensor:
        """V [B, N, d_v] to E [B, K, D]; `mask` [B, N] is false where a short clip has no token."""
        count, moments = visual.shape[1], self.config.moments
        if not count or count % moments:
            raise UsageError(
                f"a clip of {count} visual tokens cannot be {moments} frame pairs",
                remedy="pad a short clip to the tokens of a whole one and mask the rest",
            )
        visual = visual.to(self.into.weight.dtype)
        moment = self.moment.repeat_interleave(count // moments, dim=0)
        context = self.into(self.norm(visual)) + moment
        if mask is not None:  # whatever padding holds; a clip of which nothing was seen reads zeros, not nothing at all
            context = context.masked_fill(~mask[..., None], 0.0)
            mask = mask | ~mask.any(1, keepdim=True)
        tokens = self.queries.expand(visual.shape[0], -1, -1)
        for layer in self.layers:
            tokens = layer(tokens, context, mask)
        out: Tensor = self.out(tokens)
        return out

"""The block that the resampler, the memory and the projector are made of: attend to a context, to oneself, think.

Pre-norm: x + CrossAttention(x, context), then x + SelfAttention(x) where the block has one, then x + FFN(x).

B batch, Q queries, N context tokens, D width, H heads
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from streamsoccer.errors import UsageError

__all__ = ["Attention", "Block", "Pool"]


class Attention(nn.Module):
    """Multi-head attention of x [B, Q, D] over a context [B, N, D]; `mask` [B, N] is true where a token counts."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise UsageError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        batch, queries, width = x.shape
        query = self.query(x).view(batch, queries, self.heads, -1).transpose(1, 2)
        key, value = self.key_value(context).view(batch, context.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(
            query, key, value, attn_mask=None if mask is None else mask[:, None, None, :]
        )
        out: Tensor = self.out(attended.transpose(1, 2).reshape(batch, queries, width))
        return out


class Block(nn.Module):
    """One layer: cross-attention, optionally self-attention, and a feed-forward network of four times the width."""

    def __init__(self, width: int, heads: int, *, self_attention: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm_cross, self.cross = nn.LayerNorm(width), Attention(width, heads)
        self.norm_self = nn.LayerNorm(width) if self_attention else None
        self.own = Attention(width, heads) if self_attention else None
        self.norm_think = nn.LayerNorm(width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.dropout(self.cross(self.norm_cross(x), context, mask))
        if self.own is not None and self.norm_self is not None:
            normed = self.norm_self(x)
            x = x + self.dropout(self.own(normed, normed))
        out: Tensor = x + self.dropout(self.think(self.norm_think(x)))
        return out


class Pool(nn.Module):
    """One learned query over tokens [B, N, D]: a vector [B, D] for each row."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.norm, self.attend = nn.LayerNorm(width), Attention(width, heads)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        pooled: Tensor = self.attend(self.query.expand(tokens.shape[0], -1, -1), self.norm(tokens), mask)
        return pooled[:, 0]

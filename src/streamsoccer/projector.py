"""P_theta, the memory-to-language projector: any number of memories become K_p = 8 soft-prefix tokens (equation 5).

    Z_t = P(M_j^c) for the current event,    Z_t = P([M_t ; B_t^sel]) otherwise

Learned queries read all slots of all memories by cross-attention, two layers of eight heads; each memory carries an
embedding of its place, newest first, and each slot one of its own. The prefix has the same length for one memory and
for five. Its scale starts at that of the language model's own embeddings.

B batch, n memories, K slots, D = d_m, P = K_p prefix tokens, d_l language width
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from streamsoccer.attention import Block
from streamsoccer.domain import LOCAL_EVENTS

__all__ = ["MemoryProjector", "ProjectorConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectorConfig:
    """Table 'architecture_spec'."""

    tokens: int = 8  # K_p
    layers: int = 2
    heads: int = 8
    memories: int = 1 + LOCAL_EVENTS
    dropout: float = 0.0


class MemoryProjector(nn.Module):
    """Memories [B, n, K, D] to a soft prefix [B, P, d_l]."""

    def __init__(self, config: ProjectorConfig, width: int, slots: int, language_width: int) -> None:
        super().__init__()
        self.config = config
        self.order = nn.Parameter(torch.randn(config.memories, 1, width) * 0.02)
        self.slot = nn.Parameter(torch.randn(slots, width) * 0.02)
        self.queries = nn.Parameter(torch.randn(config.tokens, width) * 0.02)
        self.layers = nn.ModuleList(
            Block(width, config.heads, self_attention=True, dropout=config.dropout) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, language_width)
        self.scale = nn.Parameter(torch.ones(()))

    @torch.no_grad()
    def match_scale(self, embeddings: Tensor) -> None:
        """Start the prefix at the scale of these token embeddings [vocabulary, d_l]."""
        width = self.norm.normalized_shape[0]
        nn.init.normal_(self.out.weight, std=width**-0.5)
        nn.init.zeros_(self.out.bias)
        rows = torch.linalg.vector_norm(embeddings, dim=-1, dtype=torch.float32)
        self.scale.fill_(float(rows.square().mean().div(embeddings.shape[-1]).sqrt()))

    def forward(self, memories: Tensor, mask: Tensor | None = None) -> Tensor:
        """`mask` [B, n] is true where there is a memory; the newest comes first."""
        batch, count, slots, _ = memories.shape
        context = (memories + self.order[:count] + self.slot).flatten(1, 2)
        prefix = self.queries.expand(batch, -1, -1)
        spread = None if mask is None else mask.repeat_interleave(slots, dim=1)
        for layer in self.layers:
            prefix = layer(prefix, context, spread)
        out: Tensor = self.out(self.norm(prefix)) * self.scale
        return out

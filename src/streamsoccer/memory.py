"""The active event memory: U, G_t and I (equations 2 and 3).

    M~_t = (1 - G_t) * M_{t-1} + G_t * U(M_{t-1}, E_t)
    M_t  = (1 - r_t) M~_t + r_t I(E_t),    M_j^c <- M_{t-1} if r_t = 1

U is two layers of memory-to-clip attention, self-attention and a feed-forward network. G_t is one number for each slot.
I is one layer. The state keeps its K_m tokens however many clips it has taken in.

B memories, K = K_m slots, D = d_m
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from streamsoccer.attention import Block

__all__ = ["EventMemory", "MemoryConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryConfig:
    """Table 'architecture_spec'."""

    layers: int = 2
    heads: int = 8
    initial_layers: int = 1
    dropout: float = 0.0


class EventMemory(nn.Module):
    """The two ways a clip changes the memory: it is taken in, or it starts a new one."""

    def __init__(self, config: MemoryConfig, width: int, tokens: int) -> None:
        super().__init__()

        def blocks(count: int) -> nn.ModuleList:
            return nn.ModuleList(
                Block(width, config.heads, self_attention=True, dropout=config.dropout) for _ in range(count)
            )

        self.update_layers, self.update_norm = blocks(config.layers), nn.LayerNorm(width)
        self.gate = nn.Linear(2 * width, 1)
        self.slots = nn.Parameter(torch.randn(tokens, width) * 0.02)
        self.initial_layers, self.initial_norm = blocks(config.initial_layers), nn.LayerNorm(width)

    def candidate(self, memory: Tensor, clip: Tensor) -> Tensor:
        """U(M_{t-1}, E_t) [B, K, D]."""
        read = memory
        for layer in self.update_layers:
            read = layer(read, clip)
        out: Tensor = self.update_norm(read)
        return out

    def openness(self, memory: Tensor, candidate: Tensor) -> Tensor:
        """G_t [B, K, 1]: 0 keeps the slot as it was, 1 overwrites it."""
        return torch.sigmoid(self.gate(torch.cat([memory, candidate], dim=-1)))

    def update(self, memory: Tensor, clip: Tensor) -> Tensor:
        """M~_t: the memory after it has taken the clip in."""
        candidate = self.candidate(memory, clip)
        openness = self.openness(memory, candidate)
        return (1 - openness) * memory + openness * candidate

    def initial(self, clip: Tensor) -> Tensor:
        """I(E_t): a new memory that this clip starts."""
        start = self.slots + clip
        for layer in self.initial_layers:
            start = layer(start, clip)
        out: Tensor = self.initial_norm(start)
        return out

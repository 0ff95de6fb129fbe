"""What is read off clips, completed events and contexts: the stage 1 heads and the three auxiliary heads of stage 3.

Stage 1: the actions of a clip from E_t[0]; the action set, coarse type and side of a completed event from M_j^c.
Stage 3: route (which context a line needs), local (which recent events it speaks of), retrieval (which records).
The side head is ours: a record must know whose action it was where no label says so.

B batch, n memories, K slots, D = d_m, A actions, R retrieval width
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from streamsoccer.actions import ANNOTATED, EventType
from streamsoccer.attention import Pool
from streamsoccer.domain import LOCAL_EVENTS, Side, Track

__all__ = ["ACTIONS", "SIDES", "TRACKS", "TYPES", "ClipHead", "ContextHeads", "EventHeads", "HeadsConfig"]

# The order of the classes in every target and every weight.
ACTIONS = ANNOTATED
TYPES = tuple(EventType)
SIDES = tuple(Side)
TRACKS = tuple(Track)


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadsConfig:
    """The paper gives no sizes for the auxiliary heads: these are ours."""

    heads: int = 8
    retrieval_width: int = 256
    memories: int = 1 + LOCAL_EVENTS  # an active memory and the selected local ones
    dropout: float = 0.0


class ClipHead(nn.Module):
    """The actions of a clip, multi-label: logits [B, A] from E_t [B, K, D]."""

    def __init__(self, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.read = nn.Sequential(nn.LayerNorm(width), nn.Dropout(dropout), nn.Linear(width, len(ACTIONS)))

    def forward(self, clip: Tensor) -> Tensor:
        out: Tensor = self.read(clip[:, 0])
        return out


class EventHeads(nn.Module):
    """A completed event's action set [B, A], type [B, types] and side [B, sides], as logits from M_j^c [B, K, D]."""

    def __init__(self, config: HeadsConfig, width: int) -> None:
        super().__init__()
        self.pool = Pool(width, config.heads)
        self.think = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(config.dropout))
        self.actions = nn.Linear(width, len(ACTIONS))
        self.kind = nn.Linear(width, len(TYPES))
        self.side = nn.Linear(width, len(SIDES))

    def forward(self, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        pooled = self.think(self.pool(memory))
        return self.actions(pooled), self.kind(pooled), self.side(pooled)


class ContextHeads(nn.Module):
    """Route, local and retrieval: memories [B, n, K, D], newest first, `mask` [B, n] true where there is one."""

    def __init__(self, config: HeadsConfig, width: int) -> None:
        super().__init__()
        self.order = nn.Parameter(torch.randn(config.memories, 1, width) * 0.02)
        self.context = Pool(width, config.heads)
        self.event = Pool(width, config.heads)
        self.route = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, len(TRACKS)))
        self.local_query, self.local_key = _projection(width, config), _projection(width, config)
        self.retrieval_query, self.retrieval_key = _projection(width, config), _projection(width, config)
        self.null = nn.Parameter(torch.randn(config.retrieval_width) * 0.02)
        self.local_scale = nn.Parameter(torch.tensor(10.0).log())
        self.retrieval_scale = nn.Parameter(torch.tensor(10.0).log())

    def summary(self, memories: Tensor, mask: Tensor) -> Tensor:
        """What the context is about [B, D]."""
        count, slots = memories.shape[1:3]
        tokens = (memories + self.order[:count]).flatten(1, 2)
        out: Tensor = self.context(tokens, mask.repeat_interleave(slots, dim=1))
        return out

    def routes(self, summary: Tensor) -> Tensor:
        """Which track's context is needed [B, tracks]."""
        out: Tensor = self.route(summary)
        return out

    def local_scores(self, summary: Tensor, candidates: Tensor) -> Tensor:
        """How much each candidate event [B, C, K, D] matters to the context [B, C]."""
        keys = self.local_key(self.event(candidates.flatten(0, 1))).view(*candidates.shape[:2], -1)
        query = F.normalize(self.local_query(summary), dim=-1)
        return torch.einsum("br,bcr->bc", query, F.normalize(keys, dim=-1)) * self.local_scale.exp()

    def query(self, summary: Tensor) -> Tensor:
        """Unit vectors [B, R] that records are ranked against."""
        return F.normalize(self.retrieval_query(summary), dim=-1)

    def key(self, memory: Tensor) -> Tensor:
        """Unit vectors [B, R] of completed memories [B, K, D]: what a record is found by."""
        return F.normalize(self.retrieval_key(self.event(memory)), dim=-1)

    def null_score(self, query: Tensor) -> Tensor:
        """The cosine of the learned NULL candidate [B]: no record is worth recalling."""
        return query @ F.normalize(self.null, dim=0)


def _projection(width: int, config: HeadsConfig) -> nn.Sequential:
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, config.retrieval_width))

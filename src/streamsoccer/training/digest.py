"""The Clip Event Adapter before there are events: a clip in its nine tokens, told again, and who has the ball when.

Stage 1 teaches the adapter with an event's few labels: one side, one kind. What a clip holds is worth more: its whole
caption, said from E_t alone, and whose the ball is in each frame. What it learns here is where stage 1 begins.

B clips, N visual tokens, K event tokens, T frames, M boxes of a frame, D = d_l
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from streamsoccer.adapter import AdapterConfig, ClipEventAdapter
from streamsoccer.checkpoint import fill, read_tensors
from streamsoccer.clip import FRAMES_PER_CLIP
from streamsoccer.training.finding import AWAY, HOME

__all__ = ["NOBODY", "Digest", "load_adapter", "owner_loss", "owners_of", "save_adapter"]

NOBODY = 2  # of owners: 0 home, 1 away
_UNKNOWN = -100


class Digest(nn.Module):
    """The adapter with what reads it: E_t as words of the language model, and who has the ball in each frame."""

    def __init__(self, config: AdapterConfig, width: int) -> None:
        """`width` is that of the visual tokens, and of the language model that takes them."""
        super().__init__()
        self.adapter = ClipEventAdapter(config, width)
        self.into = nn.Linear(config.width, width)
        self.owner = nn.Linear(config.width, FRAMES_PER_CLIP * (NOBODY + 1))

    def forward(self, visual: Tensor) -> tuple[Tensor, Tensor]:
        """V [B, N, D] to words [B, K, D], and logits of the owner in each frame [B, T, 3]."""
        tokens = self.adapter(visual)
        return self.into(tokens), self.owner(tokens[:, 0]).view(len(visual), FRAMES_PER_CLIP, -1)


def owners_of(boxes: Tensor) -> Tensor:
    """Who has the ball in each frame [B, T] of boxes [B, T, M, 6]; -100 where a frame is not marked."""
    who, has = boxes[..., 0], boxes[..., 1] > 0
    home = (torch.isin(who, who.new_tensor(HOME)) & has).any(-1)
    away = (torch.isin(who, who.new_tensor(AWAY)) & has).any(-1)
    owner = torch.where(home, 0, torch.where(away, 1, NOBODY))
    return torch.where(who[..., 0] > -2, owner, _UNKNOWN)


def owner_loss(logits: Tensor, owners: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy over the marked frames; and how many frames with an owner there are, and are right [2]."""
    flat, wanted = logits.float().flatten(0, 1), owners.flatten()
    loss = F.cross_entropy(flat, wanted, ignore_index=_UNKNOWN, reduction="sum") / (wanted >= 0).sum().clamp(min=1)
    owned = (wanted == 0) | (wanted == 1)
    right = (flat[:, :NOBODY].argmax(-1) == wanted) & owned
    return loss, torch.stack([owned.sum(), right.sum()]).float()


def save_adapter(adapter: ClipEventAdapter, path: Path) -> None:
    from safetensors.torch import save_file

    part = path.with_name(f".{path.name}.part")
    save_file({name: each.detach().cpu().contiguous() for name, each in adapter.state_dict().items()}, str(part))
    part.replace(path)


def load_adapter(adapter: ClipEventAdapter, path: Path) -> None:
    """First weights for an adapter of the same shape."""
    fill(
        adapter,
        read_tensors(path),
        where=path,
        remedy="give `train backbone` the adapter section of the stages' recipe",
    )

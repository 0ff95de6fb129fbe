"""Who is where in the picture: read off the visual tokens themselves while the tower is made, and then dropped.

A caption names a side in one word of thirty; a box says for every man in every frame whose he is. So the tower learns
to hold the colours on the scoreboard against those on the pitch, and to see the ball, before words are asked of it.

    <game>/1_clip-boxes.npz     frames [m, 2]: clip and frame that are marked
                                boxes [n, 8]: clip, frame, who, whether he has the ball, left, top, right, bottom

Sides are thousandths of the picture. A cell is as large as a patch of the tower.

B clips, T frames, M boxes of a frame, h x w cells, N tokens, D = d_v, F = FOUND
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from streamsoccer.clip import FRAMES_PER_CLIP
from streamsoccer.errors import DataError
from streamsoccer.vision import MERGE, PAIR

__all__ = ["AWAY", "FOUND", "HOME", "MOST", "Boxes", "Finder", "cells_of"]

FOUND = ("home", "away", "home keeper", "away keeper", "official", "ball", "home has the ball", "away has the ball")
HOME, AWAY = (0, 2), (1, 3)  # of FOUND: a side's players and its keeper
MOST = 32  # boxes of a frame
_WHO = 6  # of FOUND; the other two come of who has the ball
_TOUCHES = 0.3  # of a cell's or a box's side, whichever is shorter: less of a box than that is not in a cell
_RARE = -4.0  # where the chance of a cell begins, as a logit


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Boxes:
    """The boxes of a half."""

    frames: NDArray[np.int16]
    boxes: NDArray[np.int16]  # in the order of clips and frames

    @classmethod
    def read(cls, path: Path) -> Boxes:
        try:
            with np.load(path) as held:
                frames, boxes = held["frames"].astype(np.int16), held["boxes"].astype(np.int16)
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"holds no boxes: {error}", where=path, remedy="make it again, or take it away") from error
        if frames.ndim != 2 or frames.shape[1] != 2 or boxes.ndim != 2 or boxes.shape[1] != 8:
            raise DataError(f"has frames {frames.shape} and boxes {boxes.shape}, not [m, 2] and [n, 8]", where=path)
        if len(boxes) and not (boxes[:, 1].min() >= 0 and boxes[:, 1].max() < FRAMES_PER_CLIP):
            raise DataError(f"marks a frame that is none of 0 to {FRAMES_PER_CLIP - 1}", where=path)
        if len(boxes) and not (boxes[:, 2].min() >= 0 and boxes[:, 2].max() < _WHO):
            raise DataError(f"marks somebody who is none of {', '.join(FOUND[:_WHO])}", where=path)
        return cls(frames=frames, boxes=boxes[np.lexsort((boxes[:, 1], boxes[:, 0]))])

    def of(self, clip: int) -> NDArray[np.int16]:
        """A clip's boxes [T, MOST, 6]: who (-1 for nobody, -2 where a frame is not marked), has the ball, sides."""
        out = np.zeros((FRAMES_PER_CLIP, MOST, 6), dtype=np.int16)
        out[:, :, 0] = -2
        out[self.frames[self.frames[:, 0] == clip, 1], :, 0] = -1
        first, last = np.searchsorted(self.boxes[:, 0], (clip, clip + 1))
        rows = self.boxes[first:last]
        place = np.arange(len(rows)) - np.searchsorted(rows[:, 1], rows[:, 1])
        rows, place = rows[place < MOST], place[place < MOST]
        out[rows[:, 1], place] = rows[:, 2:]
        return out


def cells_of(boxes: Tensor, high: int, wide: int, lost: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What is in each cell [B, T, h, w, F] of pictures of which a part is `lost` (pictures.py), as zeros and ones, and
    which frames are marked [B, T]; of boxes [B, T, M, 6]."""
    who, has, sides = boxes[..., 0], boxes[..., 1], boxes[..., 2:].float() / 500 - 1
    if lost is not None:
        scale, shift = 1 - lost[:, :1], lost[:, 1:]
        sides = (sides - shift[:, [0, 1, 0, 1]].view(-1, 1, 1, 4)) / scale.view(-1, 1, 1, 1)
    across = _touched(sides[..., 0], sides[..., 2], wide)
    down = _touched(sides[..., 1], sides[..., 3], high)
    kinds = torch.stack([who == each for each in range(_WHO)], dim=-1)
    home, away = kinds[..., list(HOME)].any(-1), kinds[..., list(AWAY)].any(-1)
    kinds = torch.cat([kinds, (home & (has > 0))[..., None], (away & (has > 0))[..., None]], dim=-1)
    # A cell is of a kind if any box of that kind touches it: counted as a product over boxes.
    count = torch.einsum("btmh,btmw,btmf->bthwf", down.float(), across.float(), kinds.float())
    return (count > 0).float(), who[..., 0] > -2


def _touched(low: Tensor, high: Tensor, count: int) -> Tensor:
    """Which of `count` cells between -1 and 1 a stretch [...] touches: [..., count]."""
    size = 2 / count
    edges = torch.arange(count, device=low.device) * size - 1
    inside = torch.minimum(high[..., None], edges + size) - torch.maximum(low[..., None], edges)
    return inside >= _TOUCHES * (high - low).clamp(1e-3, size)[..., None]


class Finder(nn.Module):
    """What is in the cells of a token: one linear map, so that it is the token that knows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.read = nn.Linear(width, PAIR * MERGE * MERGE * len(FOUND))
        nn.init.zeros_(self.read.weight)
        nn.init.constant_(self.read.bias, _RARE)

    def forward(self, visual: Tensor) -> Tensor:
        """V [B, N, D] to logits [B, N, 8, F]."""
        out: Tensor = self.read(self.norm(visual))
        return out.float().view(*visual.shape[:2], -1, len(FOUND))

    def loss(self, visual: Tensor, cells: Tensor, marked: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy over the cells [B, T, h, w, F] of marked frames [B, T], for each positive one, as a mean over
        FOUND; and for each of FOUND how many are there, are found, and are found rightly [3, F]."""
        known = _by_token(marked[:, :, None, None, None].expand(*cells.shape[:-1], 1))
        wanted, logits = _by_token(cells), self(visual)
        each = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * known
        there = (wanted * known).sum((0, 1, 2))
        loss = (each.sum((0, 1, 2)) / there.clamp(min=1)).mean()
        found = (logits.detach() > 0) & known
        return loss, torch.stack([there, found.sum((0, 1, 2)), (found * wanted).sum((0, 1, 2))])


def _by_token(cells: Tensor) -> Tensor:
    """[B, T, h, w, F] to [B, N, 8, F]: each token's two frames of two rows of two cells."""
    batch, frames, high, wide, kinds = cells.shape
    shaped = cells.reshape(batch, frames // PAIR, PAIR, high // MERGE, MERGE, wide // MERGE, MERGE, kinds)
    return shaped.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(batch, -1, PAIR * MERGE * MERGE, kinds)

"""V_t: the frozen Qwen3-VL visual encoder (section 4.1), C_t -> V_t.

V_t is what the visual merger gives (transformers calls it `pooler_output`). The tower's DeepStack features, which
Qwen3-VL adds inside its own language model, are not used: the memory reads V_t alone. native.py is the path that uses
them.

The tower attends within one grid of two frames, never across time. transformers runs those grids one after the other,
and a GPU then waits for launches; here clips of one shape are one batch and each layer's attention is one call.

B clips, T frames, H x W pixels, G = B * t grids of two frames, P = h * w patches of a grid, N = t * P / 4 tokens,
D = d_v
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.backbone import Backbone
from streamsoccer.errors import UsageError

__all__ = ["PATCH", "VisionConfig", "VisionEncoder", "by_blocks", "patchify", "resize", "tower_layer", "turn"]

PATCH, MERGE, PAIR = 16, 2, 2  # pixels a patch side, patches a token side, frames a grid: the same in every Qwen3-VL
STEP = PATCH * MERGE


@dataclass(frozen=True, kw_only=True, slots=True)
class VisionConfig:
    """The size that every clip is brought to: 384 x 224 gives 84 tokens for two frames, 336 for a whole clip."""

    width: int = 384
    height: int = 224

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("height", self.height)):
            if value < STEP or value % STEP:
                near = max(STEP, round(value / STEP) * STEP)
                raise UsageError(f"{name} {value} is no multiple of {STEP}", remedy=f"use {near}")


class VisionEncoder:
    """Clips of any size and number of frames to visual tokens, each clip's by itself."""

    def __init__(self, backbone: Backbone, config: VisionConfig) -> None:
        shape = backbone.model.config.vision_config
        if (shape.patch_size, shape.spatial_merge_size, shape.temporal_patch_size) != (PATCH, MERGE, PAIR):
            raise UsageError("the visual tower's patches are not 16 pixels, merged 2 x 2, of two frames")
        self.backbone = backbone
        self.config = config
        self.tower: Any = backbone.model.model.visual
        self._places = lru_cache(maxsize=8)(self._place)

    def grid(self, frames: int) -> tuple[int, int, int]:
        """The merged grid (t, h, w) of a clip; an odd last frame makes a pair with itself."""
        return (frames + PAIR - 1) // PAIR, self.config.height // STEP, self.config.width // STEP

    def tokens(self, frames: int) -> int:
        t, h, w = self.grid(frames)
        return t * h * w

    def encode(self, clips: Sequence[NDArray[np.uint8]]) -> list[Tensor]:
        """Frames [T, H, W, 3] of each clip to its tokens [N, D], in the backbone's dtype and on its device."""
        for index, clip in enumerate(clips):
            if clip.dtype != np.uint8 or clip.ndim != 4 or clip.shape[-1] != 3 or not clip.size:
                problem = f"clip {index} of {len(clips)} is {clip.dtype} {clip.shape}, not uint8 frames [T, H, W, 3]"
                raise UsageError(problem)
        if not clips:
            return []
        with torch.inference_mode():
            patches = [self.patches(resize(clip, self.config.width, self.config.height)) for clip in clips]
            if self.backbone.device.type == "cpu":
                # One by one: a batch saves nothing here, and a clip's last bits then never depend on who came with it.
                return [self.see(each)[0] for each in patches]
            # The tower never looks from one grid to another, so clips of all lengths are one batch of grids.
            tokens, _ = self.see(torch.cat(patches))
        counts = [self.tokens(len(clip)) for clip in clips]
        # Copies: a slice would keep the whole batch's memory for as long as one clip of it is kept.
        return [each.clone() for each in torch.split(tokens, counts)]

    def patches(self, pixels: Tensor) -> Tensor:
        """Frames of this size [T, 3, H, W] as the tower reads them [t, P, pixels], in its dtype and on its device."""
        return patchify(pixels.to(self.backbone.device, non_blocking=True), self.backbone.dtype)

    def see(self, patches: Tensor, *, deep: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Patches [G, P, pixels] to tokens [G * P / 4, D], and where asked its DeepStack features of the same shape.

        The tower's own layers, all grids in one call each.
        """
        tower = self.tower
        places, cos, sin = self._places(self.config.height // PATCH, self.config.width // PATCH)
        kernel = tower.patch_embed.proj
        # A convolution whose stride is its kernel is a matrix product, and a far quicker one in bfloat16.
        hidden = F.linear(patches, kernel.weight.flatten(1), kernel.bias) + places
        taken = list(tower.deepstack_visual_indexes) if deep else []
        features: list[Tensor] = []
        for index, block in enumerate(tower.blocks):
            hidden = tower_layer(block, hidden, cos, sin)
            if index in taken:
                features.append(tower.deepstack_merger_list[taken.index(index)](hidden.flatten(0, 1)))
        return tower.merger(hidden.flatten(0, 1)), features

    def _place(self, high: int, wide: int) -> tuple[Tensor, Tensor, Tensor]:
        """What one grid's patches are told of their places: learned [P, D'], and cosines and sines [P, head].

        Patches come merged block by merged block, as `patchify` lays them.
        """
        tower, device = self.tower, self.backbone.device
        side = int(tower.pos_embed.num_embeddings**0.5)
        with torch.inference_mode():
            table = tower.pos_embed.weight.float().view(1, side, side, -1).permute(0, 3, 1, 2)
            # The published rule: corner to corner, linear between the learned places.
            learned = F.interpolate(table, size=(high, wide), mode="bilinear", align_corners=True)[0]
            learned = by_blocks(learned.permute(1, 2, 0))
            rows = by_blocks(torch.arange(high, device=device)[:, None, None].expand(high, wide, 1))
            columns = by_blocks(torch.arange(wide, device=device)[None, :, None].expand(high, wide, 1))
            rate = tower.rotary_pos_emb.inv_freq.to(device=device, dtype=torch.float32)
            angles = torch.cat([rows * rate, columns * rate], dim=-1).repeat(1, 2)
            return learned.to(self.backbone.dtype), angles.cos(), angles.sin()


def resize(frames: NDArray[np.uint8], width: int, height: int) -> Tensor:
    """Frames [T, H, W, 3] to uint8 [T, 3, height, width] by antialiased bicubic interpolation on whole numbers.

    Always on the CPU, where it works on bytes, so that tokens do not depend on where they were made.
    """
    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2)
    if pixels.shape[-2:] == (height, width):
        return pixels
    return F.interpolate(pixels, size=(height, width), mode="bicubic", antialias=True)


def patchify(pixels: Tensor, dtype: torch.dtype) -> Tensor:
    """uint8 [T, 3, H, W] to patches [t, P, 3 * 2 * 16 * 16] in [-1, 1], four neighbours that merge side by side."""
    if odd := -len(pixels) % PAIR:
        pixels = torch.cat([pixels, pixels[-1:].expand(odd, -1, -1, -1)])
    frames, colours, height, width = pixels.shape
    high, wide = height // PATCH, width // PATCH
    cut = pixels.reshape(frames // PAIR, PAIR, colours, high // MERGE, MERGE, PATCH, wide // MERGE, MERGE, PATCH)
    cut = cut.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(frames // PAIR, high * wide, -1)
    return ((cut.float() - 127.5) / 127.5).to(dtype)


def by_blocks(cells: Tensor) -> Tensor:
    """[h, w, D] to [h * w, D], the four cells that merge into one token side by side."""
    high, wide, width = cells.shape
    blocks = cells.reshape(high // MERGE, MERGE, wide // MERGE, MERGE, width)
    return blocks.transpose(1, 2).reshape(high * wide, width)


def tower_layer(block: Any, hidden: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """A layer of the tower on grids [G, P, D]: transformers' own modules, all grids in one call."""
    grids, count, _ = hidden.shape
    attention = block.attn
    mixed = attention.qkv(block.norm1(hidden)).view(grids, count, 3, attention.num_heads, -1)
    query, key, value = mixed.permute(2, 0, 3, 1, 4)
    query, key = turn(query, cos, sin), turn(key, cos, sin)
    mixed = F.scaled_dot_product_attention(query, key, value, scale=attention.scaling)
    hidden = hidden + attention.proj(mixed.transpose(1, 2).reshape(grids, count, -1))
    out: Tensor = hidden + block.mlp(block.norm2(hidden))
    return out


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions, in float32 as the tower has them: x [G, heads, P, head]."""
    left, right = x.float().chunk(2, dim=-1)
    return (x.float() * cos + torch.cat([-right, left], dim=-1) * sin).to(x.dtype)

"""What may happen to a picture between a camera and the model, done to whole batches where they lie.

Archives rescale, compress, blur, and shift brightness and colour; a file that did so must give the tokens of its match
all the same. Nothing is mirrored: captions say left and right. Each clip's eight frames get the same treatment.

B clips, T frames, H x W pixels
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sqrt

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from streamsoccer.training.foundation import upload

__all__ = ["PicturesConfig", "disturb", "lost_parts"]

_BLOCK = 8  # pixels of a side that are compressed together


@dataclass(frozen=True, kw_only=True, slots=True)
class PicturesConfig:
    """How often a kind of damage is done to a batch's part, and how much of it at most."""

    crop: float = 0.04  # of a side that may be lost
    rescaled: float = 0.3
    smallest: float = 0.5  # of the size, on the way down and up again
    compressed: float = 0.4
    coarsest: float = 40.0  # the step of the finest detail that is kept
    brightness: float = 0.15
    contrast: float = 0.15
    colour: float = 0.2
    noise: float = 4.0  # of 255


def lost_parts(batch: int, config: PicturesConfig, random: np.random.Generator, device: torch.device) -> Tensor:
    """How much of each clip's sides is lost, and where what stays has its middle, across and down, from -1 to 1:
    [B, 3], drawn on the host."""
    drawn = random.random((batch, 3), dtype=np.float32)
    share = config.crop * drawn[:, :1]
    return upload(np.concatenate([share, (2 * drawn[:, 1:] - 1) * share], axis=1), device)


def disturb(pixels: Tensor, config: PicturesConfig, random: np.random.Generator, lost: Tensor | None = None) -> Tensor:
    """Frames [B, T, 3, H, W], 0 to 255 in a float type, each clip with damage of its own.

    Chances are drawn on the host, so that nothing waits for the device; `lost` is what `lost_parts` gave, where
    somebody has to know it.
    """
    batch, _, _, height, width = pixels.shape

    def chance(*shape: int) -> Tensor:
        return upload(random.random(shape, dtype=np.float32), pixels.device)

    def some(share: float) -> slice:
        """A part of the batch, whose order is already random."""
        count = round(share * batch)
        begin = int(random.integers(batch - count + 1))
        return slice(begin, begin + count)

    def with_part(part: slice, done: Tensor) -> Tensor:
        return torch.cat([pixels[: part.start], done.view(-1, *pixels.shape[1:]).to(pixels.dtype), pixels[part.stop :]])

    pixels = _crop(pixels, lost_parts(batch, config, random, pixels.device) if lost is None else lost)
    if (part := some(config.rescaled)).stop > part.start:
        share = config.smallest + (1 - config.smallest) * random.random()
        size = (max(_BLOCK, round(height * share)), max(_BLOCK, round(width * share)))
        # To half the size at most, where four neighbours are looked at and none is passed over.
        small = F.interpolate(pixels[part].flatten(0, 1), size=size, mode="bilinear")
        kind = "bicubic" if random.random() < 0.5 else "bilinear"
        pixels = with_part(part, F.interpolate(small, size=(height, width), mode=kind))
    if (part := some(config.compressed)).stop > part.start and height % _BLOCK == width % _BLOCK == 0:
        steps = 1 + (config.coarsest - 1) * chance(part.stop - part.start) ** 2
        pixels = with_part(part, _compress(pixels[part], steps))

    def around_one(spread: float) -> Tensor:
        return (1 + spread * (2 * chance(batch, 1, 1, 1, 1) - 1)).to(pixels.dtype)

    contrast, brightness, colour = (around_one(each) for each in (config.contrast, config.brightness, config.colour))
    # (pixels - mean) * contrast + mean * brightness, and then its distance from its own grey times colour, in few
    # passes over large memory.
    mean = pixels.mean(dim=(1, 2, 3, 4), keepdim=True)
    grey = pixels.mean(dim=2, keepdim=True).mul_((1 - colour) * contrast).add_(mean * (brightness - contrast))
    pixels = (pixels * (colour * contrast)).add_(grey)
    grain = (config.noise * chance(batch, 1, 1, 1, 1) ** 2).to(pixels.dtype)
    device_random = torch.Generator(pixels.device).manual_seed(int(random.integers(2**62)))
    noise = torch.randn(pixels.shape, generator=device_random, device=pixels.device, dtype=pixels.dtype)
    return pixels.addcmul_(noise, grain).clamp_(0, 255)


def _crop(pixels: Tensor, lost: Tensor) -> Tensor:
    """Each clip as a part of itself."""
    batch, frames, colours, height, width = pixels.shape
    theta = torch.zeros(batch, 2, 3, device=pixels.device)
    theta[:, 0, 0] = theta[:, 1, 1] = 1 - lost[:, 0]
    theta[:, :, 2] = lost[:, 1:]
    grid = F.affine_grid(theta, [batch, 1, height, width], align_corners=False).to(pixels.dtype)
    flat = pixels.reshape(batch, frames * colours, height, width)
    return F.grid_sample(flat, grid, padding_mode="border", align_corners=False).view_as(pixels)


@lru_cache(maxsize=4)
def _cosines(device: torch.device) -> Tensor:
    """The orthonormal discrete cosine transform of 8 x 8 values in a row [64, 64]: one product for both directions."""
    rows = [
        [sqrt((1 if wave == 0 else 2) / _BLOCK) * cos(pi * (at + 0.5) * wave / _BLOCK) for at in range(_BLOCK)]
        for wave in range(_BLOCK)
    ]
    one = torch.tensor(rows, device=device)
    return torch.kron(one, one)


def _compress(pixels: Tensor, steps: Tensor) -> Tensor:
    """Blocks of 8 x 8 lose detail below a step that grows with its frequency, as JPEG and MPEG do: steps [B]."""
    batch, _, _, height, width = pixels.shape
    high, wide = height // _BLOCK, width // _BLOCK
    transform = _cosines(pixels.device).to(pixels.dtype)
    blocks = pixels.reshape(batch, -1, high, _BLOCK, wide, _BLOCK).transpose(3, 4)
    wave = torch.arange(_BLOCK, device=pixels.device)
    coarse = (wave[:, None] + wave[None, :] + 1).flatten() / (2 * _BLOCK - 1)
    step = (1 + (steps.view(-1, 1, 1) - 1) * coarse).to(pixels.dtype)
    found = blocks.reshape(batch, -1, _BLOCK * _BLOCK) @ transform.T
    back = (found / step).round_().mul_(step) @ transform
    back = back.view(batch, -1, high, wide, _BLOCK, _BLOCK).transpose(3, 4)
    return back.reshape(pixels.shape)

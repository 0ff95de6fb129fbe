"""Small pictures with an edge of their own, laid over larger ones."""

from __future__ import annotations

from typing import cast

import cv2

from streamsoccer.league.lens import Rgb

__all__ = ["blend", "lay", "parted"]

_OF_255 = 1 / 255


def blend(image: Rgb, patch: Rgb, left: int, top: int) -> None:
    """Lay a premultiplied RGBA patch over an image, as far as it lies on it."""
    lay(image, *parted(patch), left, top)


def parted(patch: Rgb) -> tuple[Rgb, Rgb]:
    """The colours of a premultiplied RGBA patch, and what each of them leaves of the picture under it, of 255."""
    left = cv2.bitwise_not(cv2.extractChannel(patch, 3))
    return cast(Rgb, cv2.cvtColor(patch, cv2.COLOR_RGBA2RGB)), cast(Rgb, cv2.cvtColor(left, cv2.COLOR_GRAY2RGB))


def lay(image: Rgb, patch: Rgb, keep: Rgb, left: int, top: int) -> None:
    """Lay a patch over an image of which `keep` parts in 255 stay, as far as it lies on it."""
    height, width = image.shape[:2]
    high, wide = patch.shape[:2]
    if left < 0 or top < 0 or left + wide > width or top + high > height:
        x0, y0, x1, y1 = max(0, left), max(0, top), min(width, left + wide), min(height, top + high)
        if x1 <= x0 or y1 <= y0:
            return
        patch, keep = (each[y0 - top : y1 - top, x0 - left : x1 - left] for each in (patch, keep))
        left, top, wide, high = x0, y0, x1 - x0, y1 - y0
    under = image[top : top + high, left : left + wide]
    # no product of two bytes lies so near to half of 255 that floating point could round it otherwise elsewhere
    cv2.add(cv2.multiply(under, keep, None, _OF_255), patch, under)

"""A decoded frame as the model is to see it: upright, progressive, square pixels, RGB, at the size that it has."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
from av.video.reformatter import Colorspace, VideoReformatter
from numpy.typing import NDArray

__all__ = ["Converter"]

HD_HEIGHT = 720  # from here on, video that does not say its colour matrix has BT.709


class Converter:
    """Turns frames into arrays; frames of one clip come out at one size, that of the clip's first."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()
        self._clip: tuple[int, int] | None = None
        self._size = (0, 0)
        self.resized = 0

    def __call__(self, frame: av.VideoFrame, *, aspect: Fraction | None, clip: tuple[int, int]) -> NDArray[np.uint8]:
        size = (frame.width if not aspect else max(1, round(frame.width * aspect)), frame.height)
        if clip != self._clip:
            self._clip, self._size = clip, size
        elif size != self._size:
            self.resized += 1
            size = self._size
        matrix = None
        if frame.colorspace not in set(Colorspace) and frame.height >= HD_HEIGHT and not frame.format.is_rgb:
            matrix = Colorspace.ITU709
        picture = self._reformatter.reformat(frame, *size, format="rgb24", src_colorspace=matrix).to_ndarray()
        rgb = np.asarray(picture, dtype=np.uint8)
        if frame.interlaced_frame and rgb.shape[0] > 2:
            rgb = _one_field(rgb)
        if turns := round(frame.rotation / 90) % 4:
            rgb = np.rot90(rgb, turns)
        return rgb


def _one_field(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An interlaced picture from its first field alone, the lines between interpolated: two instants never mix."""
    lines = rgb[0::2].astype(np.uint16)
    below = np.concatenate([lines[1:], lines[-1:]])
    out = np.empty_like(rgb)
    out[0::2] = rgb[0::2]
    out[1::2] = ((lines + below + 1) // 2)[: out[1::2].shape[0]]
    return out

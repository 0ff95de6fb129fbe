"""A decoded frame as the model is to see it: upright, progressive, square pixels, RGB, at the size that it has."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import av
import numpy as np
from av.sidedata.sidedata import SideData
from av.video.reformatter import Colorspace, VideoReformatter
from numpy.typing import NDArray

__all__ = ["Converter", "square_width"]

HD_WIDTH, HD_HEIGHT = 1280, 577  # from either on, video that does not say its colour matrix has BT.709, below BT.601
UNSPECIFIED, RESERVED = 2, 3  # colour matrices that say nothing
MAX_STRETCH = 4  # a pixel said to be longer than this is a damaged header; it is taken as square


class Converter:
    """Turns frames into arrays; frames of one clip come out at one size, that of the clip's first.

    Brightness curves are left as they are: high dynamic range (PQ, HLG) comes out pale, not mapped to a common screen.
    """

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()
        self._clip: tuple[int, int] | None = None
        self._size = (0, 0)
        self.resized = 0

    def __call__(self, frame: av.VideoFrame, *, aspect: Fraction | None, clip: tuple[int, int]) -> NDArray[np.uint8]:
        turned, mirrored, flipped = _orientation(frame)
        size = (square_width(frame.width, aspect), frame.height)
        upright = size[::-1] if turned else size
        if clip != self._clip:
            self._clip, self._size = clip, upright
        elif upright != self._size:
            self.resized += 1
            size = self._size[::-1] if turned else self._size
        # The fields of an interlaced picture are converted apart, so that the colours of two instants do not mix.
        picture = self._reformatter.reformat(
            frame, *size, format="rgb24", src_colorspace=_matrix(frame), threads=1
        ).to_ndarray()
        rgb = np.asarray(picture, dtype=np.uint8)
        if frame.interlaced_frame and rgb.shape[0] > 2:
            rgb = _one_field(rgb)
        if turned:
            rgb = rgb.transpose(1, 0, 2)
        return rgb[:: -1 if flipped else 1, :: -1 if mirrored else 1]


def square_width(width: int, aspect: Fraction | None) -> int:
    """How wide a picture is once its pixels are square; its height stays."""
    if not aspect or not Fraction(1, MAX_STRETCH) <= aspect <= MAX_STRETCH:
        return width
    return max(1, round(width * aspect))


def _matrix(frame: av.VideoFrame) -> Colorspace | None:
    """The colour matrix to assume; None leaves it at what the frame says."""
    if frame.colorspace not in (UNSPECIFIED, RESERVED) or frame.format.is_rgb:
        return None
    return Colorspace.ITU709 if frame.width >= HD_WIDTH or frame.height >= HD_HEIGHT else Colorspace.ITU601


def _orientation(frame: av.VideoFrame) -> tuple[bool, bool, bool]:
    """From the display matrix: rows for columns, then left for right, then top for bottom; odd angles to the next."""
    if (data := frame.side_data.get("DISPLAYMATRIX")) is None:
        return False, False, False
    a, b, _, c, d = np.frombuffer(bytes(cast(SideData, data)), dtype=np.int32)[:5].tolist()
    if abs(b) + abs(c) > abs(a) + abs(d):
        return True, c < 0, b < 0
    return False, a < 0, d < 0


def _one_field(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An interlaced picture from its top field alone, the lines between interpolated: two instants never mix."""
    lines = rgb[0::2].astype(np.uint16)
    below = np.concatenate([lines[1:], lines[-1:]])
    out = np.empty_like(rgb)
    out[0::2] = rgb[0::2]
    out[1::2] = ((lines + below + 1) // 2)[: out[1::2].shape[0]]
    return out

"""Letters and figures of strokes, as boards, shirts and scoreboards have them.

Drawn by hand because OpenCV's own letters differ from one version to the next, and pixels must not.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.lens import Rgb

__all__ = ["breadth", "write"]

_GAP = 1.7  # between two signs, where a sign is 4 wide and 6 high
# Strokes from point to point, each point its column and its row.
_SIGNS = {
    "0": "103041453616050110",
    "1": "112026 1636",
    "2": "01103041420646",
    "3": "01103041423313334445361605",
    "4": "36300444",
    "5": "400003334445361605",
    "6": "413010010516364544331304",
    "7": "004016",
    "8": "13020110304142331304051636454433",
    "9": "051636454130100102133342",
    "-": "1333",
    "+": "0343 2125",
    ":": "2222 2424",
    "A": "0602204246 0444",
    "B": "003041423303 334445360600",
    "C": "4130100105163645",
    "D": "00304145360600",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "H": "0006 4046 0343",
    "I": "2026 1030 1636",
    "J": "4045361605",
    "K": "0006 400346",
    "L": "000646",
    "M": "0600234046",
    "N": "06004640",
    "O": "103041453616050110",
    "P": "06003041423303",
    "Q": "103041453616050110 3446",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "V": "002640",
    "W": "0016223640",
    "X": "0046 4006",
    "Y": "002340 2326",
    "Z": "00400646",
}


def breadth(text: str) -> float:
    """How wide a text is, in its height."""
    return (len(text) * (4 + _GAP) - _GAP) / 6


def write(
    canvas: Rgb,
    text: str,
    middle: tuple[float, float],
    tall: float,
    ink: tuple[int, ...],
    *,
    thick: float = 0.15,
    way: tuple[float, float] = (1.0, 0.0),
) -> None:
    """Text `tall` pixels high around a point, its strokes `thick` of that; it runs along `way`, shortened with it."""
    broad = max(2, round(tall * thick))  # OpenCV draws lines of one pixel otherwise from version to version
    reach = tall - broad  # strokes have a breadth of their own
    for stroke in _strokes(text):
        along, down = stroke[:, 0], stroke[:, 1]
        x = middle[0] + reach * along * way[0]
        y = middle[1] + reach * (down + along * way[1])
        points = np.rint(np.stack([x, y], axis=1) * 16).astype(np.int32)
        cv2.polylines(canvas, [points], False, ink, broad, cv2.LINE_8, 4)


@lru_cache(maxsize=512)
def _strokes(text: str) -> tuple[NDArray[np.float64], ...]:
    """The strokes of a text around its middle, in its height; a sign that is not known leaves a gap."""
    half = breadth(text) / 2
    found = []
    for place, sign in enumerate(text):
        left = place * (4 + _GAP) / 6 - half
        for stroke in _SIGNS.get(sign, "").split():
            pairs = zip(stroke[::2], stroke[1::2], strict=True)
            found.append(np.array([(left + int(column) / 6, int(row) / 6 - 0.5) for column, row in pairs]))
    return tuple(found)

"""Small figures: drawn once for each posture, side and size, and coloured when they are shown.

From afar a figure of a given size looks the same whichever shirt it wears, so what is kept are the marks of its parts
on a canvas OVER times finer than the picture; an outfit's palette turns marks to colours. A sprite follows from its
code alone, so that pictures do not depend on what was drawn before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.body import GAITS, PHASES, table
from streamsoccer.league.lens import Rgb, shrink
from streamsoccer.league.outfits import MARKED, Outfit
from streamsoccer.league.patches import parted
from streamsoccer.league.world import Pattern

__all__ = ["OVER", "SMALL", "Placed", "Spot", "codes_of", "paint_sprites", "sprite_of", "stroke", "strokes"]

Spot = Sequence[int]
OVER = 2  # how much finer than the picture figures are drawn
SMALL = 18.0  # pixels in a metre below which a figure is drawn with fewer strokes
TINY = 7.5  # and with no boots: they are smaller than a pixel
TURNS = 16  # ways to stand to the camera
STILLS = 8  # of the pictures of a posture in time
LIFTS, LIFT = 6, 0.3  # how far above the pitch the camera is, in steps of so many radians
SIZES, FINER = 40, 8  # sizes, so many of them from one to twice it
KEPT = 40_000  # sprites: about 20 MB
_SEEN = {Pattern.SLEEVES: Pattern.PLAIN}  # what is the same but for its colours


@dataclass(frozen=True, kw_only=True, slots=True)
class Sprite:
    """The marks of a small figure, and where they lie from the point that it stands on, in canvas pixels."""

    marks: NDArray[np.uint8]
    left: int
    top: int
    wide: int
    high: int

    def mirrored(self) -> Sprite:
        return replace(self, marks=np.ascontiguousarray(self.marks[:, ::-1]), left=1 - self.left - self.wide)


Placed = tuple[Rgb, Rgb, int, int]  # a patch, what it leaves of the picture under it, and where it lies


def codes_of(
    poses: NDArray[np.int64],
    across: NDArray[np.float64],
    away: NDArray[np.float64],
    lift: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Which sprites people are: what they do, how they face (across the picture, away), how far below, how big."""
    turn = np.rint(np.arctan2(away, across) * (TURNS / (2 * math.pi))).astype(np.int64) % TURNS
    step = np.clip(np.rint(lift / LIFT), 0, LIFTS - 1).astype(np.int64)
    size = np.clip(np.rint(np.log2(scale) * FINER), 0, SIZES - 1).astype(np.int64)
    codes: NDArray[np.int64] = ((poses // (PHASES // STILLS) * TURNS + turn) * LIFTS + step) * SIZES + size
    return codes


@lru_cache(maxsize=KEPT)
def sprite_of(code: int, pattern: Pattern) -> Sprite:
    rest, size = divmod(code, SIZES)
    rest, step = divmod(rest, LIFTS)
    pose, turn = divmod(rest, TURNS)
    kind, still = divmod(pose, STILLS)
    if kind in GAITS and TURNS // 4 < turn < TURNS * 3 // 4:  # the other way is half a round later in a mirror
        twin = (kind * STILLS + (still + STILLS // 2) % STILLS) * TURNS + (TURNS // 2 - turn) % TURNS
        return sprite_of((twin * LIFTS + step) * SIZES + size, pattern).mirrored()
    scale: float = 2 ** (size / FINER)
    angle, lift = turn * (2 * math.pi / TURNS), step * LIFT
    fine = 16 * OVER * scale
    cos, sin = fine * math.cos(angle), fine * math.sin(angle)
    rise, fall = fine * math.cos(lift), math.sin(lift)
    spots = [
        (round(x * cos - y * sin), round(-z * rise - (x * sin + y * cos) * fall))
        for x, y, z in _joints(kind, (2 * still + 1) * (PHASES // STILLS // 2))
    ]
    brim = int(0.13 * OVER * scale) + 2
    left, top = (min(each) // 16 - brim for each in zip(*spots, strict=True))
    right, bottom = (max(each) // 16 + brim + 2 for each in zip(*spots, strict=True))
    marks = np.zeros((bottom - top, right - left), dtype=np.uint8)
    at = [(x - 16 * left, y - 16 * top) for x, y in spots]
    strokes(marks, at, MARKED[pattern], scale, -sin / fine, cos / fine, 0 if cos < 0 else 1)
    return Sprite(marks=marks, left=left, top=top, wide=right - left, high=bottom - top)


@lru_cache(maxsize=1024)
def _joints(kind: int, picture: int) -> list[list[float]]:
    joints: list[list[float]] = table()[kind, picture].tolist()
    return joints


def paint_sprites(codes: Sequence[int], outfits: Sequence[Outfit], spots: Sequence[Spot]) -> list[Placed]:
    """People who stand at these canvas pixels, coloured together on one canvas, which is quicker."""
    found = []
    tallest = at = 0
    for code, outfit, (x, y) in zip(codes, outfits, spots, strict=True):
        sprite = sprite_of(code, _SEEN.get(outfit.pattern, outfit.pattern))
        x, y = x + sprite.left, y + sprite.top
        left, top = x // OVER, y // OVER
        x, y = x - left * OVER, y - top * OVER
        high, wide = (y + sprite.high + OVER - 1) // OVER, (x + sprite.wide + OVER - 1) // OVER
        found.append((sprite, outfit.palette, x + at * OVER, y, left, top, high, at, at + wide))
        at += wide
        if high > tallest:
            tallest = high
    canvas = np.zeros((tallest * OVER, at * OVER), dtype=np.uint32)
    for sprite, palette, x, y, *_ in found:
        canvas[y : y + sprite.high, x : x + sprite.wide] = palette.take(sprite.marks)
    patch, keep = parted(shrink(canvas.view(np.uint8).reshape(*canvas.shape, 4), at, tallest))
    return [
        (patch[:high, start:end], keep[:high, start:end], left, top)
        for _, _, _, _, left, top, high, start, end in found
    ]


def stroke(canvas: Rgb, one: Spot, two: Spot, colour: tuple[int, ...], thick: int) -> None:
    """A line between sixteenths of pixels; a thin one as an edge, as OpenCV draws its lines otherwise by version."""
    if thick > 1:
        cv2.line(canvas, one, two, colour, thick, 8, 4)
    else:
        cv2.fillConvexPoly(canvas, np.array((one, two, two), dtype=np.int32), colour, 8, 4)


def strokes(
    canvas: Rgb, at: Sequence[Spot], outfit: Outfit, scale: float, towards: float, ahead: float, near: int
) -> None:
    """A small figure: each limb its own stroke still, but no more; see figures.Figure."""
    unit = scale * OVER
    arm, thick, thin = max(1, int(unit * 0.11 + 0.5)), max(1, int(unit * 0.17 + 0.5)), max(1, int(unit * 0.12 + 0.5))
    tiny = scale < TINY
    for side, worn in ((1 - near, outfit.far or outfit), (near, outfit)):
        hip, knee, ankle, toe = at[9 + side], at[11 + side], at[13 + side], at[15 + side]
        middle = ((hip[0] + knee[0]) >> 1, (hip[1] + knee[1]) >> 1)
        if not tiny:
            stroke(canvas, ankle, toe, worn.boots, arm)
        stroke(canvas, ((3 * knee[0] + ankle[0]) >> 2, (3 * knee[1] + ankle[1]) >> 2), ankle, worn.socks, thin)
        stroke(canvas, middle, knee, worn.skin, thin)
        stroke(canvas, hip, middle, worn.shorts, thick)
        if worn is not outfit:
            shoulder, elbow, hand = at[3 + side], at[5 + side], at[7 + side]
            stroke(canvas, elbow, hand, worn.forearm, arm)
            stroke(canvas, shoulder, elbow, worn.sleeves, arm)
    (x, y), (px, py) = at[1], at[2]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = at[3], at[4], at[9], at[10]
    broad = max(1, int(unit * 0.21))
    if not tiny:
        stroke(canvas, at[9], at[10], outfit.shorts, thick)
    # shoulders a little inwards: the strokes have a breadth of their own
    a = (ax + ((x - ax) >> 2), ay + ((y - ay) >> 2) + broad * 4)
    b = (bx + ((x - bx) >> 2), by + ((y - by) >> 2) + broad * 4)
    c, d = (cx + ((ax - cx) >> 3), cy + ((ay - cy) >> 3)), (dx + ((bx - dx) >> 3), dy + ((by - dy) >> 3))
    pattern = outfit.pattern
    stroke(canvas, a, c, outfit.second if pattern is Pattern.HALVES else outfit.shirt, broad)
    stroke(canvas, b, d, outfit.shirt, broad)
    if pattern is Pattern.PLAIN or pattern is Pattern.SLEEVES:
        stroke(canvas, (x, y + broad * 6), ((x + 3 * px) >> 2, (y + 3 * py) >> 2), outfit.shirt, broad)
    elif pattern is Pattern.STRIPES:
        end = ((x + 7 * px) >> 3, (y + 7 * py) >> 3)
        stroke(canvas, (x, y + broad * 4), end, outfit.second, max(1, broad // 2))
    elif pattern is Pattern.HOOPS:
        for part in (2, 6):
            one = (ax + (cx - ax) * part // 8, ay + (cy - ay) * part // 8)
            two = (bx + (dx - bx) * part // 8, by + (dy - by) * part // 8)
            stroke(canvas, one, two, outfit.second, max(1, broad // 2))
    elif pattern is Pattern.SASH:
        stroke(canvas, a, d, outfit.second, max(1, broad // 2))
    hx, hy = at[0]
    radius = int(unit * 1.95)
    cv2.circle(canvas, (hx, hy + ((hy - y) >> 3)), radius, outfit.hair, -1, 8, 4)
    if towards > -0.55:
        face = (hx + int(ahead * unit * 0.8) - ((hx - x) >> 2), hy - ((hy - y) >> 2))
        cv2.circle(canvas, face, radius * 7 >> 3, outfit.skin, -1, 8, 4)
    stroke(canvas, at[5 + near], at[7 + near], outfit.forearm, arm)
    stroke(canvas, at[3 + near], at[5 + near], outfit.sleeves, arm)

"""People drawn limb by limb, what they hold, and their shadows.

A figure is drawn at a multiple of its size and averaged down, so that limbs thinner than a pixel still count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.body import Joint
from streamsoccer.league.lens import Rgb, shrink
from streamsoccer.league.lettering import write
from streamsoccer.league.outfits import Outfit
from streamsoccer.league.patches import parted
from streamsoccer.league.sprites import OVER, SMALL, Spot, stroke, strokes
from streamsoccer.league.world import RGB, Pattern

__all__ = ["FEW", "Figure", "Prop", "draw_figure", "shadow_lines"]

_YELLOW: RGB = (250, 214, 20)
_RED: RGB = (226, 20, 30)


class Prop:
    """What somebody holds."""

    NONE, YELLOW, RED, FLAG, BOARD = 0, 1, 2, 3, 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A person ready to be drawn: joints on a canvas OVER times finer than the picture, and how he stands to it."""

    width: int  # of his canvas, in pixels of the picture
    height: int
    joints: Sequence[Spot]  # sixteenths of canvas pixels
    scale: float  # pixels in a metre
    outfit: Outfit
    towards: float  # 1 faces the camera, -1 turns his back
    ahead: tuple[float, float]  # one metre ahead of him, in metres of the picture
    near: int  # the side nearer to the camera: 0 left, 1 right
    prop: int = Prop.NONE
    numbers: tuple[int, int] = (0, 0)  # on the board: who comes on, who goes off


@lru_cache(maxsize=4096)
def _dim(colour: tuple[int, ...], percent: int) -> tuple[int, ...]:
    return (*(part * percent // 100 for part in colour[:3]), 255)


def _between(one: Spot, two: Spot, part: float) -> tuple[int, int]:
    return int(one[0] + (two[0] - one[0]) * part), int(one[1] + (two[1] - one[1]) * part)


def draw_figure(figure: Figure) -> tuple[Rgb, Rgb]:
    """A person as a patch, and what it leaves of the picture under it."""
    canvas = np.zeros((figure.height * OVER, figure.width * OVER, 4), dtype=np.uint8)
    _draw(canvas, figure)
    return parted(shrink(canvas, figure.width, figure.height))


def _draw(canvas: Rgb, figure: Figure) -> None:
    unit = figure.scale * OVER
    if figure.scale < SMALL:
        strokes(canvas, figure.joints, figure.outfit, figure.scale, figure.towards, figure.ahead[0], figure.near)
    else:
        _limbs(canvas, figure.joints, figure, unit)
    if figure.prop == Prop.BOARD:
        _board(canvas, figure, unit)
    elif figure.prop:
        _prop(canvas, figure.joints[Joint.ELBOWS[1]], figure.joints[Joint.HANDS[1]], figure.prop, unit)


def _limbs(canvas: Rgb, at: Sequence[Spot], figure: Figure, unit: float) -> None:
    """All parts of a body, far ones first; `unit` is canvas pixels in a metre."""
    outfit, near = figure.outfit, figure.near
    far = 1 - near
    arm, fore, thigh, shank, boot = (max(1, int(unit * each + 0.5)) for each in (0.125, 0.095, 0.18, 0.125, 0.1))

    def one_arm(side: int, percent: int) -> None:
        shoulder, elbow, hand = at[Joint.SHOULDERS[side]], at[Joint.ELBOWS[side]], at[Joint.HANDS[side]]
        stroke(canvas, elbow, hand, _dim(outfit.forearm, percent), fore)
        stroke(canvas, shoulder, elbow, _dim(outfit.sleeves, percent), arm)
        if outfit.hand != outfit.forearm or unit > 60:
            cv2.circle(canvas, hand, int(unit * 0.065 * 16), _dim(outfit.hand, percent), -1, 8, 4)

    def one_leg(side: int, percent: int) -> None:
        hip, knee, ankle, toe = (at[row[side]] for row in (Joint.HIPS, Joint.KNEES, Joint.ANKLES, Joint.TOES))
        stroke(canvas, ankle, toe, _dim(outfit.boots, percent), boot)
        skin = _dim(outfit.skin, percent)
        stroke(canvas, hip, knee, skin, max(1, thigh * 4 // 5))
        stroke(canvas, knee, _between(knee, ankle, 0.3), skin, shank)
        stroke(canvas, _between(knee, ankle, 0.28), ankle, _dim(outfit.socks, percent), shank)
        stroke(canvas, hip, _between(hip, knee, 0.62), _dim(outfit.shorts, percent), thigh)

    one_arm(far, 74)
    one_leg(far, 74)
    one_leg(near, 100)
    left, right = at[Joint.SHOULDERS[0]], at[Joint.SHOULDERS[1]]
    low_left, low_right = at[Joint.HIPS[0]], at[Joint.HIPS[1]]
    neck, pelvis = at[Joint.NECK], at[Joint.PELVIS]
    stroke(canvas, low_left, low_right, outfit.shorts, max(1, int(unit * 0.2)))
    stroke(canvas, neck, at[Joint.HEAD], _dim(outfit.skin, 88), max(1, int(unit * 0.1)))
    _shirt(canvas, (left, right, low_left, low_right, neck, pelvis), outfit, unit, figure)
    _head(canvas, at, figure, unit)
    one_arm(near, 100)


def _shirt(canvas: Rgb, corners: tuple[Spot, ...], outfit: Outfit, unit: float, figure: Figure) -> None:
    left, right, low_left, low_right, neck, pelvis = corners
    waist_left, waist_right = _between(left, low_left, 0.93), _between(right, low_right, 0.93)
    waist = _between(neck, pelvis, 0.9)
    # a body is as deep as half its width: the thick line is what one sees from the side
    stroke(canvas, _between(neck, pelvis, 0.16), waist, outfit.shirt, max(1, int(unit * 0.27)))
    stroke(canvas, left, right, outfit.shirt, max(1, int(unit * 0.13)))
    cv2.fillConvexPoly(canvas, np.array((left, right, waist_right, waist_left), dtype=np.int32), outfit.shirt, 8, 4)
    match outfit.pattern:
        case Pattern.STRIPES:
            parts = (0.06, 0.36, 0.66, 0.96) if unit > 60 else (0.15, 0.8)
            thick = max(1, int(unit * (0.055 if unit > 60 else 0.09)))
            for part in parts:
                stroke(
                    canvas, _between(left, right, part), _between(waist_left, waist_right, part), outfit.second, thick
                )
        case Pattern.HOOPS:
            thick = max(1, int(unit * 0.1))
            for part in (0.16, 0.58, 0.98):
                middle, reach = _between(neck, waist, part), int(unit * 0.06 * 16)
                a, b = _between(left, waist_left, part), _between(right, waist_right, part)
                stroke(canvas, (middle[0] - reach, middle[1]), (middle[0] + reach, middle[1]), outfit.second, thick)
                stroke(canvas, a, b, outfit.second, thick)
        case Pattern.HALVES:
            half = np.array((left, neck, waist, waist_left), dtype=np.int32)
            cv2.fillConvexPoly(canvas, half, outfit.second, 8, 4)
        case Pattern.SASH:
            stroke(canvas, _between(left, right, 0.1), waist_right, outfit.second, max(1, int(unit * 0.11)))
        case _:
            pass
    if unit > 70:
        # the side away from the light, and the number
        side = _between(left, waist_left, 0.15) if left[0] > right[0] else _between(right, waist_right, 0.15)
        end = waist_left if left[0] > right[0] else waist_right
        stroke(canvas, side, end, _dim(outfit.shirt, 84), max(1, int(unit * 0.05)))
        if outfit.number and figure.towards < -0.25:
            _number(canvas, (left, right, neck, pelvis), outfit, unit)


def _number(canvas: Rgb, corners: tuple[Spot, ...], outfit: Outfit, unit: float) -> None:
    """The number on a back, as narrow as the back is seen."""
    left, right, neck, pelvis = corners
    span = 16 * 0.37 * unit
    way = ((right[0] - left[0]) / span, (right[1] - left[1]) / span)
    if way[0] > 0.3:
        x, y = _between(neck, pelvis, 0.42)
        write(canvas, str(outfit.number), (x / 16, y / 16), unit * 0.23, outfit.ink, way=way)


def _head(canvas: Rgb, at: Sequence[Spot], figure: Figure, unit: float) -> None:
    outfit = figure.outfit
    x, y = at[Joint.HEAD]
    up_x, up_y = x - at[Joint.NECK][0], y - at[Joint.NECK][1]  # about 0.19 m
    radius = max(16, int(unit * 0.118 * 16))
    cv2.circle(canvas, (x + up_x // 9, y + up_y // 9), radius, outfit.hair, -1, 8, 4)
    if figure.towards < -0.55:
        return
    ahead = int(unit * 0.05 * 16)
    fx = x + int(figure.ahead[0] * ahead) - up_x // 5
    fy = y + int(figure.ahead[1] * ahead) - up_y // 5
    cv2.circle(canvas, (fx, fy), int(radius * 0.9), outfit.skin, -1, 8, 4)
    if unit > 150 and figure.towards > -0.1:
        across = int(unit * 0.04 * 16)
        shift = int(figure.ahead[0] * unit * 0.05 * 16)
        for way in (-1, 1):
            eye = (fx + shift + way * across, fy - int(unit * 0.005 * 16))
            cv2.circle(canvas, eye, max(16, int(unit * 0.012 * 16)), (40, 30, 28, 255), -1, 8, 4)
        mouth = (fx + shift - across // 2, fy + int(unit * 0.052 * 16))
        stroke(canvas, mouth, (mouth[0] + across, mouth[1]), _dim(outfit.skin, 62), max(1, int(unit * 0.014)))


def _prop(canvas: Rgb, elbow: Spot, hand: Spot, prop: int, unit: float) -> None:
    dx, dy = hand[0] - elbow[0], hand[1] - elbow[1]
    if prop == Prop.FLAG:
        top = (hand[0] + int(dx * 1.5), hand[1] + int(dy * 1.5))
        stroke(canvas, (hand[0], hand[1]), top, (30, 30, 30, 255), max(1, int(unit * 0.03)))
        reach = int(unit * 0.42 * 16)
        corners = (
            top,
            (top[0] + reach, top[1] + reach // 5),
            (top[0] + reach, top[1] + reach),
            (top[0], top[1] + reach * 4 // 5),
        )
        cv2.fillConvexPoly(canvas, np.array(corners, dtype=np.int32), (*_RED, 255), 8, 4)
        half_way = _between(corners[0], corners[1], 0.5), _between(corners[2], corners[3], 0.5)
        inner = np.array((corners[0], *half_way, corners[3]), dtype=np.int32)
        cv2.fillConvexPoly(canvas, inner, (*_YELLOW, 255), 8, 4)
        return
    half = int(max(unit * 0.075, 5.0) * 16)
    x, y = hand[0] + dx // 4, hand[1] + dy // 4
    brim = y - half * 3 // 2
    card = np.array(((x - half, brim), (x + half, brim), (x + half, y + half), (x - half, y + half)))
    cv2.fillConvexPoly(canvas, card.astype(np.int32), (*(_YELLOW if prop == Prop.YELLOW else _RED), 255), 8, 4)


def _board(canvas: Rgb, figure: Figure, unit: float) -> None:
    """The board that a change is shown on: who comes on in green, who goes off in red."""
    (ax, ay), (bx, by) = (figure.joints[hand] for hand in Joint.HANDS)
    x, y, half = (ax + bx) // 32, (ay + by) // 32, max(3, round(unit * 0.48))
    tall = max(4, round(unit * 0.46))
    cv2.rectangle(canvas, (x - half, y - tall), (x + half, y), (16, 18, 20, 255), -1)
    for way, number, colour in (
        (-1, figure.numbers[0], (60, 255, 110, 255)),
        (1, figure.numbers[1], (255, 64, 56, 255)),
    ):
        write(canvas, str(number), (x + way * half / 2, y - tall / 2), tall * 0.56, colour)


_Parts = tuple[tuple[int, int, float], ...]  # from joint, to joint, metres wide
_SHADOW_PARTS: _Parts = (
    (Joint.NECK, Joint.PELVIS, 0.34),
    (Joint.HIPS[0], Joint.KNEES[0], 0.16),
    (Joint.KNEES[0], Joint.ANKLES[0], 0.13),
    (Joint.HIPS[1], Joint.KNEES[1], 0.16),
    (Joint.KNEES[1], Joint.ANKLES[1], 0.13),
    (Joint.HEAD, Joint.NECK, 0.2),
)
_SHORT_PARTS: _Parts = ((Joint.NECK, Joint.PELVIS, 0.3), (Joint.PELVIS, Joint.TOES[0], 0.2))
FEW = (Joint.HEAD, Joint.PELVIS, *Joint.ANKLES)  # the joints that a small shadow needs
_FAINT_PARTS: _Parts = ((0, 2, 0.27),)
_SMALL_PARTS: _Parts = ((0, 1, 0.3), (1, 2, 0.17), (1, 3, 0.17))


def shadow_lines(mask: NDArray[np.uint8], spots: Sequence[Spot], scale: float, dark: int, full: bool) -> None:
    """One person's shadow, from where his joints' shadows fall (sixteenths of pixels): all joints, or a FEW."""
    if len(spots) == len(FEW):
        parts = _SMALL_PARTS[: 3 if scale > 9 else 2] if full else _FAINT_PARTS
    else:
        parts = _SHADOW_PARTS if full else _SHORT_PARTS
    for one, two, wide in parts:
        thick = int(wide * scale * 0.8)
        # OpenCV draws rough lines of one pixel otherwise from version to version
        kind = cv2.LINE_8 if thick >= 2 and scale <= 24 else cv2.LINE_AA
        cv2.line(mask, spots[one], spots[two], dark, max(1, thick), kind, 4)

"""People drawn limb by limb: kits, skin, hair, numbers, what they hold, and their shadows.

A figure is drawn at a multiple of its size and averaged down, so that limbs thinner than a pixel still count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.domain import Side
from streamsoccer.league.body import Joint
from streamsoccer.league.lens import Rgb, shrink
from streamsoccer.league.lettering import write
from streamsoccer.league.light import Air, shade
from streamsoccer.league.world import RGB, Fixture, Kit, Pattern, stream

__all__ = [
    "OVER",
    "SMALL",
    "Figure",
    "Outfit",
    "Prop",
    "Wardrobe",
    "blend",
    "draw_figures",
    "lay",
    "parted",
    "shadow_lines",
]

Spot = Sequence[int]
_YELLOW: RGB = (250, 214, 20)
_RED: RGB = (226, 20, 30)
_GLOVES: RGB = (236, 236, 226)
_OF_255 = 1 / 255
FAR = 0.76  # how bright limbs on the far side are
OVER = 2  # how much finer than the picture figures are drawn
SMALL = 15.0  # pixels in a metre below which a figure is drawn with fewer strokes
TINY = 7.5  # and with no boots: they are smaller than a pixel


class Prop:
    """What somebody holds."""

    NONE, YELLOW, RED, FLAG, BOARD = 0, 1, 2, 3, 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Outfit:
    """One person's colours in the light of the match, opaque; far limbs are darker."""

    shirt: tuple[int, ...]
    second: tuple[int, ...]
    shorts: tuple[int, ...]
    socks: tuple[int, ...]
    skin: tuple[int, ...]
    hair: tuple[int, ...]
    boots: tuple[int, ...]
    sleeves: tuple[int, ...]
    forearm: tuple[int, ...]
    hand: tuple[int, ...]
    ink: tuple[int, ...]
    pattern: Pattern
    number: int
    stature: float
    far: Outfit | None = None  # the same for limbs on the far side
    dark: Outfit | None = None  # the same in the stand's shade


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A person ready to be drawn: joints on a canvas OVER times finer than the picture, and how he stands to it."""

    left: int  # where the canvas lies in the picture
    top: int
    width: int
    height: int
    joints: Sequence[Spot]  # sixteenths of canvas pixels
    scale: float  # pixels in a metre
    outfit: Outfit
    towards: float  # 1 faces the camera, -1 turns his back
    ahead: tuple[float, float]  # one metre ahead of him, in metres of the picture
    near: int  # the side nearer to the camera: 0 left, 1 right
    prop: int = Prop.NONE
    numbers: tuple[int, int] = (0, 0)  # on the board: who comes on, who goes off


class Wardrobe:
    """Who wears what in a match; two keepers and the referee never look like a team."""

    def __init__(self, fixture: Fixture, air: Air) -> None:
        self._fixture = fixture
        self._air = air
        self._kits = [fixture.home_kit, fixture.away_kit]
        taken = [fixture.home_kit.shirt, fixture.away_kit.shirt]
        for club in (fixture.home, fixture.away):
            kit = _other(club.keeper_kit, taken)
            taken.append(kit.shirt)
            self._kits.append(kit)
        black = Kit(
            shirt=fixture.referee.shirt,
            second=(230, 230, 230),
            pattern=Pattern.PLAIN,
            shorts=(24, 24, 26),
            socks=(24, 24, 26),
        )
        self._kits.append(_other(black, taken))
        self._rng_seed = fixture.seed
        self._known: dict[tuple[int, int | None], Outfit] = {}

    def outfit(self, slot: int, player: int | None) -> Outfit:
        """What the person in a slot wears, where `player` is his place in the squad."""
        if (found := self._known.get((slot, player))) is None:
            found = self._known[slot, player] = self._dress(slot, player)
        return found

    def _dress(self, slot: int, player: int | None) -> Outfit:
        rng = stream(self._rng_seed, "dress", self._fixture.world.value, self._fixture.index, slot, player or 0)
        if slot < 22:
            side = Side.HOME if slot < 11 else Side.AWAY
            keeper = slot in (0, 11)
            kit = self._kits[(2 if keeper else 0) + (side is Side.AWAY)]
            person = self._fixture.club(side).squad[player or 0]
            skin, hair, number, stature = person.skin, person.hair, person.number, person.height
        else:
            kit, keeper, number, stature = self._kits[4], False, 0, 1.8
            skin, hair = ((225, 180, 140), (190, 140, 100), (141, 94, 60))[int(rng.integers(3))], (40, 32, 28)
        boots: RGB = ((28, 28, 30), (238, 238, 238), (240, 90, 40), (60, 220, 120), (240, 220, 60))[
            int(rng.integers(5))
        ]
        ink = max(((250, 250, 250), (20, 20, 24), kit.second), key=lambda each: _apart(each, kit.shirt))
        sleeves = kit.second if kit.pattern is Pattern.SLEEVES else kit.shirt

        def made(bright: float, far: Outfit | None = None, dark: Outfit | None = None) -> Outfit:
            def lit(colour: RGB) -> tuple[int, ...]:
                return (*shade(self._air.veil(colour, 60.0), bright), 255)

            return Outfit(
                shirt=lit(kit.shirt),
                second=lit(kit.second),
                shorts=lit(kit.shorts),
                socks=lit(kit.socks),
                skin=lit(skin),
                hair=lit(hair),
                boots=lit(boots),
                sleeves=lit(sleeves),
                forearm=lit(kit.shirt if keeper else skin),
                hand=lit(_GLOVES if keeper else skin),
                ink=lit(ink),
                pattern=kit.pattern,
                number=number,
                stature=stature,
                far=far,
                dark=dark,
            )

        gloom = self._air.shade + 0.06
        return made(1.0, made(FAR), made(gloom, made(gloom * FAR)))


def _apart(one: RGB, two: RGB) -> int:
    return sum(abs(a - b) for a, b in zip(one, two, strict=True))


_SPARE: tuple[RGB, ...] = ((250, 230, 60), (60, 220, 90), (255, 120, 180), (24, 24, 28), (70, 190, 240), (240, 130, 30))


def _other(kit: Kit, taken: list[RGB]) -> Kit:
    """The kit, in another colour if it looks like one that is taken."""
    if min(_apart(kit.shirt, each) for each in taken) > 150:
        return kit
    shirt = max(_SPARE, key=lambda each: min(_apart(each, other) for other in taken))
    return Kit(shirt=shirt, second=kit.second, pattern=kit.pattern, shorts=kit.shorts, socks=kit.socks)


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


@lru_cache(maxsize=4096)
def _dim(colour: tuple[int, ...], percent: int) -> tuple[int, ...]:
    return (*(part * percent // 100 for part in colour[:3]), 255)


def _between(one: Spot, two: Spot, part: float) -> tuple[int, int]:
    return int(one[0] + (two[0] - one[0]) * part), int(one[1] + (two[1] - one[1]) * part)


def draw_figures(figures: Sequence[Figure]) -> list[tuple[Rgb, Rgb]]:
    """People as patches, and what each leaves of the picture under it; small ones share a canvas, which is quicker."""
    small = [figure for figure in figures if figure.scale < SMALL]
    shared: dict[int, tuple[Rgb, Rgb]] = {}
    if small:
        high, wide = max(figure.height for figure in small), sum(figure.width for figure in small)
        canvas = np.zeros((high * OVER, wide * OVER, 4), dtype=np.uint8)
        left = 0
        for figure in small:
            _draw(canvas[: figure.height * OVER, left * OVER : (left + figure.width) * OVER], figure)
            left += figure.width
        patch, keep = parted(shrink(canvas, wide, high))
        left = 0
        for figure in small:
            part = slice(0, figure.height), slice(left, left + figure.width)
            shared[id(figure)] = patch[part], keep[part]
            left += figure.width
    return [shared[id(figure)] if figure.scale < SMALL else _drawn(figure) for figure in figures]


def _drawn(figure: Figure) -> tuple[Rgb, Rgb]:
    canvas = np.zeros((figure.height * OVER, figure.width * OVER, 4), dtype=np.uint8)
    _draw(canvas, figure)
    return parted(shrink(canvas, figure.width, figure.height))


def _draw(canvas: Rgb, figure: Figure) -> None:
    unit = figure.scale * OVER
    if figure.scale < SMALL:
        _strokes(canvas, figure, unit)
    else:
        _limbs(canvas, figure.joints, figure, unit)
    if figure.prop == Prop.BOARD:
        _board(canvas, figure, unit)
    elif figure.prop:
        _prop(canvas, figure.joints[Joint.ELBOWS[1]], figure.joints[Joint.HANDS[1]], figure.prop, unit)


def _strokes(canvas: Rgb, figure: Figure, unit: float) -> None:
    """A small figure: each limb its own stroke still, but no more."""
    at, outfit, near, line = figure.joints, figure.outfit, figure.near, cv2.line
    arm, thick, thin = max(1, int(unit * 0.11 + 0.5)), max(1, int(unit * 0.17 + 0.5)), max(1, int(unit * 0.12 + 0.5))
    tiny = figure.scale < TINY
    for side, worn in ((1 - near, outfit.far or outfit), (near, outfit)):
        hip, knee, ankle, toe = at[9 + side], at[11 + side], at[13 + side], at[15 + side]
        middle = ((hip[0] + knee[0]) >> 1, (hip[1] + knee[1]) >> 1)
        if not tiny:
            line(canvas, ankle, toe, worn.boots, arm, 8, 4)
        line(canvas, ((3 * knee[0] + ankle[0]) >> 2, (3 * knee[1] + ankle[1]) >> 2), ankle, worn.socks, thin, 8, 4)
        line(canvas, middle, knee, worn.skin, thin, 8, 4)
        line(canvas, hip, middle, worn.shorts, thick, 8, 4)
        if worn is not outfit:
            shoulder, elbow, hand = at[3 + side], at[5 + side], at[7 + side]
            line(canvas, elbow, hand, worn.forearm, arm, 8, 4)
            line(canvas, shoulder, elbow, worn.sleeves, arm, 8, 4)
    (x, y), (px, py) = at[1], at[2]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = at[3], at[4], at[9], at[10]
    broad = max(1, int(unit * 0.21))
    if not tiny:
        line(canvas, at[9], at[10], outfit.shorts, thick, 8, 4)
    # shoulders a little inwards: the strokes have a breadth of their own
    a = (ax + ((x - ax) >> 2), ay + ((y - ay) >> 2) + broad * 4)
    b = (bx + ((x - bx) >> 2), by + ((y - by) >> 2) + broad * 4)
    c, d = (cx + ((ax - cx) >> 3), cy + ((ay - cy) >> 3)), (dx + ((bx - dx) >> 3), dy + ((by - dy) >> 3))
    pattern = outfit.pattern
    line(canvas, a, c, outfit.second if pattern is Pattern.HALVES else outfit.shirt, broad, 8, 4)
    line(canvas, b, d, outfit.shirt, broad, 8, 4)
    if pattern is Pattern.PLAIN or pattern is Pattern.SLEEVES:
        line(canvas, (x, y + broad * 6), ((x + 3 * px) >> 2, (y + 3 * py) >> 2), outfit.shirt, broad, 8, 4)
    elif pattern is Pattern.STRIPES:
        end = ((x + 7 * px) >> 3, (y + 7 * py) >> 3)
        line(canvas, (x, y + broad * 4), end, outfit.second, max(1, broad // 2), 8, 4)
    elif pattern is Pattern.HOOPS:
        for part in (2, 6):
            one = (ax + (cx - ax) * part // 8, ay + (cy - ay) * part // 8)
            two = (bx + (dx - bx) * part // 8, by + (dy - by) * part // 8)
            line(canvas, one, two, outfit.second, max(1, broad // 2), 8, 4)
    elif pattern is Pattern.SASH:
        line(canvas, a, d, outfit.second, max(1, broad // 2), 8, 4)
    hx, hy = at[0]
    radius = int(unit * 1.95)
    cv2.circle(canvas, (hx, hy + ((hy - y) >> 3)), radius, outfit.hair, -1, 8, 4)
    if figure.towards > -0.55:
        face = (hx + int(figure.ahead[0] * unit * 0.8) - ((hx - x) >> 2), hy - ((hy - y) >> 2))
        cv2.circle(canvas, face, radius * 7 >> 3, outfit.skin, -1, 8, 4)
    line(canvas, at[5 + near], at[7 + near], outfit.forearm, arm, 8, 4)
    line(canvas, at[3 + near], at[5 + near], outfit.sleeves, arm, 8, 4)


def _limbs(canvas: Rgb, at: Sequence[Spot], figure: Figure, unit: float) -> None:
    """All parts of a body, far ones first; `unit` is canvas pixels in a metre."""
    outfit, near = figure.outfit, figure.near
    far = 1 - near
    line = cv2.line
    arm, fore, thigh, shank, boot = (max(1, int(unit * each + 0.5)) for each in (0.125, 0.095, 0.18, 0.125, 0.1))

    def one_arm(side: int, percent: int) -> None:
        shoulder, elbow, hand = at[Joint.SHOULDERS[side]], at[Joint.ELBOWS[side]], at[Joint.HANDS[side]]
        line(canvas, elbow, hand, _dim(outfit.forearm, percent), fore, 8, 4)
        line(canvas, shoulder, elbow, _dim(outfit.sleeves, percent), arm, 8, 4)
        if outfit.hand != outfit.forearm or unit > 60:
            cv2.circle(canvas, hand, int(unit * 0.065 * 16), _dim(outfit.hand, percent), -1, 8, 4)

    def one_leg(side: int, percent: int) -> None:
        hip, knee, ankle, toe = (at[row[side]] for row in (Joint.HIPS, Joint.KNEES, Joint.ANKLES, Joint.TOES))
        line(canvas, ankle, toe, _dim(outfit.boots, percent), boot, 8, 4)
        skin = _dim(outfit.skin, percent)
        line(canvas, hip, knee, skin, max(1, thigh * 4 // 5), 8, 4)
        line(canvas, knee, _between(knee, ankle, 0.3), skin, shank, 8, 4)
        line(canvas, _between(knee, ankle, 0.28), ankle, _dim(outfit.socks, percent), shank, 8, 4)
        line(canvas, hip, _between(hip, knee, 0.62), _dim(outfit.shorts, percent), thigh, 8, 4)

    one_arm(far, 74)
    one_leg(far, 74)
    one_leg(near, 100)
    left, right = at[Joint.SHOULDERS[0]], at[Joint.SHOULDERS[1]]
    low_left, low_right = at[Joint.HIPS[0]], at[Joint.HIPS[1]]
    neck, pelvis = at[Joint.NECK], at[Joint.PELVIS]
    line(canvas, low_left, low_right, outfit.shorts, max(1, int(unit * 0.2)), 8, 4)
    line(canvas, neck, at[Joint.HEAD], _dim(outfit.skin, 88), max(1, int(unit * 0.1)), 8, 4)
    _shirt(canvas, (left, right, low_left, low_right, neck, pelvis), outfit, unit, figure)
    _head(canvas, at, figure, unit)
    one_arm(near, 100)


def _shirt(canvas: Rgb, corners: tuple[Spot, ...], outfit: Outfit, unit: float, figure: Figure) -> None:
    left, right, low_left, low_right, neck, pelvis = corners
    line = cv2.line
    waist_left, waist_right = _between(left, low_left, 0.93), _between(right, low_right, 0.93)
    waist = _between(neck, pelvis, 0.9)
    # a body is as deep as half its width: the thick line is what one sees from the side
    line(canvas, _between(neck, pelvis, 0.16), waist, outfit.shirt, max(1, int(unit * 0.27)), 8, 4)
    line(canvas, left, right, outfit.shirt, max(1, int(unit * 0.13)), 8, 4)
    cv2.fillConvexPoly(canvas, np.array((left, right, waist_right, waist_left), dtype=np.int32), outfit.shirt, 8, 4)
    match outfit.pattern:
        case Pattern.STRIPES:
            parts = (0.06, 0.36, 0.66, 0.96) if unit > 60 else (0.15, 0.8)
            thick = max(1, int(unit * (0.055 if unit > 60 else 0.09)))
            for part in parts:
                line(
                    canvas,
                    _between(left, right, part),
                    _between(waist_left, waist_right, part),
                    outfit.second,
                    thick,
                    8,
                    4,
                )
        case Pattern.HOOPS:
            thick = max(1, int(unit * 0.1))
            for part in (0.16, 0.58, 0.98):
                middle, reach = _between(neck, waist, part), int(unit * 0.06 * 16)
                a, b = _between(left, waist_left, part), _between(right, waist_right, part)
                line(canvas, (middle[0] - reach, middle[1]), (middle[0] + reach, middle[1]), outfit.second, thick, 8, 4)
                line(canvas, a, b, outfit.second, thick, 8, 4)
        case Pattern.HALVES:
            half = np.array((left, neck, waist, waist_left), dtype=np.int32)
            cv2.fillConvexPoly(canvas, half, outfit.second, 8, 4)
        case Pattern.SASH:
            line(canvas, _between(left, right, 0.1), waist_right, outfit.second, max(1, int(unit * 0.11)), 8, 4)
        case _:
            pass
    if unit > 70:
        # the side away from the light, and the number
        side = _between(left, waist_left, 0.15) if left[0] > right[0] else _between(right, waist_right, 0.15)
        end = waist_left if left[0] > right[0] else waist_right
        line(canvas, side, end, _dim(outfit.shirt, 84), max(1, int(unit * 0.05)), 8, 4)
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
        cv2.line(canvas, mouth, (mouth[0] + across, mouth[1]), _dim(outfit.skin, 62), max(1, int(unit * 0.014)), 8, 4)


def _prop(canvas: Rgb, elbow: Spot, hand: Spot, prop: int, unit: float) -> None:
    dx, dy = hand[0] - elbow[0], hand[1] - elbow[1]
    if prop == Prop.FLAG:
        top = (hand[0] + int(dx * 1.5), hand[1] + int(dy * 1.5))
        cv2.line(canvas, (hand[0], hand[1]), top, (30, 30, 30, 255), max(1, int(unit * 0.03)), 8, 4)
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
_FAINT_PARTS: _Parts = ((Joint.HEAD, Joint.ANKLES[0], 0.27),)
_SMALL_PARTS: _Parts = (
    (Joint.HEAD, Joint.PELVIS, 0.3),
    (Joint.PELVIS, Joint.ANKLES[0], 0.17),
    (Joint.PELVIS, Joint.ANKLES[1], 0.17),
)


def shadow_lines(mask: NDArray[np.uint8], spots: Sequence[Spot], scale: float, dark: int, full: bool) -> None:
    """One person's shadow, from the places where his joints' shadows fall (sixteenths of pixels)."""
    kind = cv2.LINE_AA if scale > 24 else cv2.LINE_8
    parts = (
        (_SMALL_PARTS[: 3 if scale > 9 else 2] if full else _FAINT_PARTS)
        if scale < SMALL
        else _SHADOW_PARTS
        if full
        else _SHORT_PARTS
    )
    for one, two, wide in parts:
        cv2.line(mask, spots[one], spots[two], dark, max(1, int(wide * scale * 0.8)), kind, 4)

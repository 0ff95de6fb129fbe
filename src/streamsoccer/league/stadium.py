"""The ground around the pitch: stands with their crowd, advertising boards, what stands behind, and the sky."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from streamsoccer.league.lens import Camera, Plane, Point, Rgb, sample_plane, shrink
from streamsoccer.league.lettering import breadth, write
from streamsoccer.league.light import Air, mix, shade
from streamsoccer.league.turf import blotches, draw_lines, turf
from streamsoccer.league.world import RGB, Fixture, Light, stream

__all__ = ["BOARD_HEIGHT", "Ground", "build_ground", "paint_still"]

SEAT, ROW = 0.55, 0.82  # metres that one spectator takes
BOARD_HEIGHT = 1.0
FAR, END = 38.6, 57.8  # where the boards stand
TIERS = ((5.0, 1.3, 19.0, 9.6), (17.5, 11.2, 31.0, 20.5), (29.0, 22.4, 40.0, 31.5))  # depth, height: front to back
# Vowels and consonants that make the boards' words; no language's words, and no football's
_HEADS = ("vel", "or", "zan", "mi", "tru", "kal", "neo", "bri", "sol", "fy", "quo", "lum", "ax", "pyr", "dro", "eva")
_TAILS = ("tra", "bix", "dex", "nova", "lio", "mont", "zen", "vik", "quil", "rys", "pho", "lan", "tek", "oma", "jet")
_CLOTHES: tuple[RGB, ...] = (
    (34, 36, 44),
    (62, 66, 78),
    (104, 104, 108),
    (176, 172, 164),
    (212, 210, 206),
    (44, 62, 104),
    (120, 44, 44),
    (86, 74, 58),
    (58, 84, 66),
    (150, 128, 92),
)
_SKIN: tuple[RGB, ...] = ((226, 184, 152), (206, 160, 124), (166, 122, 90), (112, 78, 56))
_HAIR: tuple[RGB, ...] = ((34, 26, 22), (70, 50, 34), (128, 96, 60), (150, 146, 142))


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """Everything that stands still, as planes; each knows the direction that it faces."""

    air: Air
    pitch: Plane
    around: tuple[tuple[Plane, Point], ...]  # a plane and the direction that it faces
    skyline: tuple[Point, ...]
    number: int  # of the stream that the grass's grain comes from


def build_ground(fixture: Fixture, air: Air, density: float, excited: bool = False) -> Ground:
    """Textures for a camera that sees about `density` pixels in a metre of the far stand."""
    rng = stream(fixture.seed, "stadium", fixture.world.value, fixture.index)
    planes: list[tuple[Plane, Point]] = []
    stadium = fixture.stadium
    for tier in reversed(range(stadium.tiers)):
        deep, low, back, high = TIERS[tier]
        slope = float(np.sqrt((back - deep) ** 2 + (high - low) ** 2))
        # one long crowd for all the way round, cut into sides and corners
        crowd = _crowd(fixture, air, rng, 2 * (END + back) * 1.02, slope, density, excited)
        for side in range(4):
            planes += _tier(side, deep, low, back, high, crowd, density)
        front = np.full((8, 16, 3), shade(mix(stadium.seats, (120, 120, 126), 0.5), 0.8), dtype=np.uint8)
        front[:2] = shade((200, 200, 204), 0.8)
        front = air.light_up(front, air.crowd, 90.0)
        for side in range(4):
            wide = END + deep if side < 2 else FAR + deep
            planes.append(_wall(side, (FAR if side < 2 else END) + deep, 2 * wide, low - 1.9, low + 0.1, front))
    if stadium.tiers > 1:
        _, _, back, high = TIERS[stadium.tiers - 1]
        roof = _roof(air)
        for side in range(4):
            reach = (FAR if side < 2 else END) + back
            wide = END + back if side < 2 else FAR + back
            planes.append(_wall(side, reach + 0.5, 2 * wide, high, high + 8.0, roof))
    for side in range(4):
        wide = 2 * END if side < 2 else 2 * FAR
        boards = _boards(stadium.boards, rng, air, wide, max(8.0, density * 1.6))
        planes.append(_wall(side, FAR if side < 2 else END, wide, 0.0, BOARD_HEIGHT, boards))
    skyline = tuple(_skyline(fixture))
    return Ground(air=air, pitch=turf(fixture, air), around=tuple(planes), skyline=skyline, number=fixture.seed)


def paint_still(ground: Ground, camera: Camera, width: int, height: int) -> Rgb:
    """The stadium without people, as a camera sees it."""
    image = np.empty((height, width, 3), dtype=np.uint8)
    _sky(image, camera, ground.air)
    planes = []
    for plane, facing in ground.around:
        corner = plane.corners()[0]
        towards = sum((camera.place[axis] - corner[axis]) * facing[axis] for axis in range(3))
        under = facing[1] > 0 and camera.place[1] < -FAR  # the stand that the camera itself is on
        if towards > 0.2 and not under:
            planes.append(plane)
    _draw_skyline(image, camera, ground)
    sample_plane(image, camera, ground.pitch)
    _grain(image, ground.number)
    for plane in planes:
        sample_plane(image, camera, plane)
    draw_lines(image, camera, ground.air)
    return image


def _grain(image: Rgb, number: int) -> None:
    """Blades of grass, which the smooth texture of the ground lacks."""
    rng = stream(number, "grain")
    tile = np.repeat(rng.integers(0, 8, (256, 512, 1), dtype=np.uint8), 3, axis=2)
    less = np.full_like(tile, 3)
    for top in range(0, image.shape[0], 256):
        for left in range(0, image.shape[1], 512):
            part = image[top : top + 256, left : left + 512]
            cv2.add(part, tile[: part.shape[0], : part.shape[1]], part)
            cv2.subtract(part, less[: part.shape[0], : part.shape[1]], part)


def _frame(side: int) -> tuple[Point, Point]:
    """For far, near, left, right: the direction away from the pitch, and to the right as seen from the pitch."""
    return (
        ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
        ((0.0, -1.0, 0.0), (-1.0, 0.0, 0.0)),
        ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    )[side]


def _wall(side: int, reach: float, wide: float, low: float, high: float, texture: Rgb) -> tuple[Plane, Point]:
    """An upright plane beside the pitch."""
    away, right = _frame(side)
    height, width = texture.shape[:2]
    x, y = (away[axis] * reach - right[axis] * wide / 2 for axis in range(2))
    step = wide / width
    plane = Plane(
        origin=(x, y, high),
        across=(right[0] * step, right[1] * step, 0.0),
        along=(0.0, 0.0, -(high - low) / height),
        texture=texture,
    )
    return plane, (-away[0], -away[1], 0.0)


def _tier(
    side: int, deep: float, low: float, back: float, high: float, crowd: Rgb, density: float
) -> list[tuple[Plane, Point]]:
    """One tier along a side of the pitch, with the half corners that join it to its neighbours."""
    away, right = _frame(side)
    reach, half = (FAR, END) if side < 2 else (END, FAR)
    slope = float(np.sqrt((back - deep) ** 2 + (high - low) ** 2))
    height, width = crowd.shape[:2]
    cell = 1.0 / density
    wide_back, wide_front = half + back, half + deep
    mid = width / 2
    start = mid - wide_back * density
    shift = 0.0 if start >= 0 else -start
    x, y = (away[axis] * (reach + back) - right[axis] * (wide_back - shift * cell) for axis in range(2))
    down = (slope / height) / slope
    along = (
        -away[0] * (back - deep) * down,
        -away[1] * (back - deep) * down,
        -(high - low) * down,
    )
    across = (right[0] * cell, right[1] * cell, 0.0)
    first = max(0, int(start))
    last = min(width, int(mid + wide_back * density))
    texture = np.ascontiguousarray(crowd[:, first:last])
    if side % 2:
        texture = np.ascontiguousarray(texture[:, ::-1])
    inset = (wide_back - wide_front) * density
    across_px = float(texture.shape[1])
    plane = Plane(
        origin=(x, y, high),
        across=across,
        along=along,
        texture=texture,
        outline=((0.0, 0.0), (across_px, 0.0), (across_px - inset, float(height)), (inset, float(height))),
    )
    return [(plane, (-away[0] * (high - low), -away[1] * (high - low), back - deep))]


def _crowd(fixture: Fixture, air: Air, rng: Generator, wide: float, slope: float, density: float, excited: bool) -> Rgb:
    """Seats with people on them, row upon row; top row first."""
    seats, rows = int(wide / SEAT) + 1, max(4, round(slope / ROW))
    pw, ph = max(2, round(SEAT * density)), max(3, round(slope / rows * density))
    taken = rng.random((rows, seats)) < fixture.stadium.fill * (0.7 + 0.5 * blotches(rng, rows, seats, 14))
    aisle = np.arange(seats) % 24 == 0
    taken[:, aisle] = False
    cloth = np.array(_CLOTHES, dtype=np.uint8)[rng.integers(len(_CLOTHES), size=(rows, seats))]
    colours = np.array([fixture.home_kit.shirt, fixture.home_kit.second], dtype=np.uint8)
    fans = rng.random((rows, seats)) < 0.45 * blotches(rng, rows, seats, 9)
    cloth[fans] = colours[(rng.random(int(fans.sum())) < 0.25).astype(np.int64)]
    guests = (np.abs(np.arange(seats) - seats * 0.17) < 22)[None] & (rng.random((rows, seats)) < 0.75)
    cloth[guests] = np.array(fixture.away_kit.shirt, dtype=np.uint8)
    bright = rng.integers(205, 256, (rows, seats, 1))
    cloth = (cloth.astype(np.int64) * bright // 255).astype(np.uint8)
    skin = np.array(_SKIN, dtype=np.uint8)[rng.integers(len(_SKIN), size=(rows, seats))]
    hair = np.array(_HAIR, dtype=np.uint8)[rng.integers(len(_HAIR), size=(rows, seats))]
    stencils = _stencils(pw, ph, excited)
    chosen = rng.integers(4 if not excited else 6, size=(rows, seats)) + (0 if not excited else 4)
    kind = stencils[np.where(taken, chosen % len(stencils), len(stencils) - 1)]  # [rows, seats, ph, pw]
    seat = np.array(shade(fixture.stadium.seats, 0.72), dtype=np.uint8)
    step = np.array((96, 96, 98), dtype=np.uint8)
    out = np.empty((rows, ph, seats, pw, 3), dtype=np.uint8)
    out[:] = np.where(aisle[:, None, None], step, seat)[None, None]
    spread = kind.transpose(0, 2, 1, 3)
    for value, colour in ((1, cloth), (2, skin), (3, hair), (4, (cloth.astype(np.int64) * 3 // 5).astype(np.uint8))):
        where = spread == value
        out[where] = np.broadcast_to(colour[:, None, :, None], out.shape)[where]
    picture = out.reshape(rows * ph, seats * pw, 3)
    picture[::ph] = (picture[::ph].astype(np.int64) * 3 // 5).astype(np.uint8)
    size = (int(wide * density), max(4, round(slope * density)))
    sized = cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR_EXACT)
    gloom = np.clip(1.05 - 0.45 * (1 - np.arange(sized.shape[0]) / sized.shape[0]), 0, 1)[:, None, None]
    return air.light_up((sized * gloom).astype(np.uint8), air.crowd, 95.0)


def _stencils(pw: int, ph: int, excited: bool) -> NDArray[np.uint8]:
    """Ways to sit, as maps of 0 seat, 1 clothes, 2 skin, 3 hair, 4 dark clothes; the last is an empty seat."""
    scale = 4
    shapes = []
    for number in range(10):
        canvas = np.zeros((ph * scale, pw * scale), dtype=np.uint8)
        h, w = canvas.shape
        lean = (0.5, 0.44, 0.56, 0.5, 0.5, 0.46, 0.54, 0.5, 0.42, 0.58)[number]
        up = number >= 4
        top = 0.22 if up else 0.30
        cv2.rectangle(canvas, (round(w * (lean - 0.36)), round(h * (top + 0.22))), (round(w * (lean + 0.36)), h), 1, -1)
        if number in (1, 3, 6):
            cv2.rectangle(canvas, (round(w * (lean - 0.36)), round(h * 0.78)), (round(w * (lean + 0.36)), h), 4, -1)
        if up:
            for way in (-1, 1):
                hand = (round(w * (lean + way * 0.4)), round(h * 0.06))
                cv2.line(canvas, (round(w * (lean + way * 0.3)), round(h * 0.5)), hand, 1, max(1, w // 7))
                cv2.circle(canvas, hand, max(1, w // 9), 2, -1)
        head = (round(w * lean), round(h * top))
        cv2.circle(canvas, head, max(2, round(min(w, h) * 0.24)), 2, -1)
        if number % 2:
            cv2.ellipse(canvas, head, (max(2, round(w * 0.24)), max(2, round(h * 0.2))), 0, 180, 360, 3, -1)
        shapes.append(canvas[scale // 2 :: scale, scale // 2 :: scale])
    shapes.append(np.zeros((ph, pw), dtype=np.uint8))
    return np.stack(shapes)


def _boards(colours: tuple[RGB, ...], rng: Generator, air: Air, wide: float, density: float) -> Rgb:
    """A row of advertising boards with invented words."""
    panels = max(4, round(wide / 7.2))
    width, height = round(wide * density / panels), max(6, round(BOARD_HEIGHT * density))
    out = np.empty((height, width * panels, 3), dtype=np.uint8)
    brands = []
    for _ in range(5):
        word = (_HEADS[int(rng.integers(len(_HEADS)))] + _TAILS[int(rng.integers(len(_TAILS)))]).upper()
        brands.append((word, colours[int(rng.integers(len(colours)))], int(rng.integers(3))))
    run = int(rng.integers(2, 5))
    for panel in range(panels):
        word, colour, mark = brands[(panel // run) % len(brands)]
        out[:, panel * width : (panel + 1) * width] = _panel(word, colour, mark, width, height)
    return air.light_up(out, max(air.crowd, 0.85), 80.0)


def _panel(word: str, colour: RGB, mark: int, width: int, height: int) -> Rgb:
    light = sum(colour) > 380
    scale = max(1, 48 // height)
    canvas = np.full((height * scale, width * scale, 3), colour, dtype=np.uint8)
    ink = (24, 24, 30) if light else (244, 244, 244)
    thick = max(1, height * scale // 12)
    tall = min(height * scale * 0.62, width * scale * 0.66 / breadth(word))
    write(canvas, word, (width * scale * 0.6, height * scale * 0.5), tall, ink)
    middle, radius = (round(width * scale * 0.13), height * scale // 2), round(height * scale * 0.28)
    if mark == 0:
        cv2.circle(canvas, middle, radius, ink, thick * 2)
    elif mark == 1:
        cv2.fillConvexPoly(canvas, _triangle(middle, radius), ink)
    else:
        x, y = middle
        cv2.rectangle(canvas, (x - radius, y - radius), (x + radius, y + radius), ink, -1)
    return shrink(canvas, width, height)


def _triangle(middle: tuple[int, int], radius: int) -> NDArray[np.int32]:
    x, y = middle
    return np.array([[x - radius, y + radius], [x + radius, y + radius], [x, y - radius]], dtype=np.int32)


def _skyline(fixture: Fixture) -> list[Point]:
    """The tops of trees and houses all round, far behind the stands."""
    rng = stream(fixture.seed, "skyline", fixture.world.value, fixture.index)
    count = 720
    tops = 5 + 9 * blotches(rng, 1, count, 40)[0] + 7 * blotches(rng, 1, count, 160)[0]
    tops += np.where(blotches(rng, 1, count, 90)[0] > 0.8, 6.0, 0.0)
    turns = np.arange(count) * (2 * math.pi / count)
    pairs = zip(turns.tolist(), tops.tolist(), strict=True)
    return [(190 * math.sin(turn), 190 * math.cos(turn), round(top, 2)) for turn, top in pairs]


def _draw_skyline(image: Rgb, camera: Camera, ground: Ground) -> None:
    """Trees against the sky, as one dark shape with its foot below the horizon."""
    _, _, forward = camera.axes()
    x, y, _ = camera.place
    ahead = [p for p in ground.skyline if (p[0] - x) * forward[0] + (p[1] - y) * forward[1] > 60]
    tops = sorted(camera.see(point)[:2] for point in ahead)
    if len(tops) < 2:
        return
    foot = image.shape[0] + 40.0
    outline = [*tops, (tops[-1][0], foot), (tops[0][0], foot)]
    points = np.array([[round(x * 16), round(y * 16)] for x, y in outline], dtype=np.int64).clip(-(2**26), 2**26)
    air = ground.air
    night = air.light is Light.FLOODLIGHT
    colour = (15, 18, 24) if night else mix((40, 58, 44), air.sky[1], 0.28)
    cv2.fillPoly(image, [points.astype(np.int32)], colour, cv2.LINE_AA, 4)


def _roof(air: Air) -> Rgb:
    """The dark back wall under the roof, with a row of lamps when it is late."""
    out = np.empty((32, 64, 3), dtype=np.uint8)
    out[:] = (52, 54, 60) if air.light is not Light.FLOODLIGHT else (22, 23, 28)
    out[:5] = (150, 152, 156) if air.light is not Light.FLOODLIGHT else (70, 72, 78)
    return out


def _sky(image: Rgb, camera: Camera, air: Air) -> None:
    """From the colour above to the colour at the horizon."""
    height = image.shape[0]
    (x, y, _), (_, _, forward) = camera.place, camera.axes()
    horizon = camera.see((x + 1e6 * forward[0], y + 1e6 * forward[1], 0.0))[1]
    part = np.clip((horizon - np.arange(height)) / (0.45 * camera.focal), 0, 1)[:, None]
    above, below = (np.array(each, dtype=np.float64) for each in air.sky)
    image[:, 0] = np.rint(below + (above - below) * part).astype(np.uint8)
    done, width = 1, image.shape[1]
    while done < width:  # long runs are quicker to copy than single pixels
        more = min(done, width - done)
        image[:, done : done + more] = image[:, :more]
        done += more

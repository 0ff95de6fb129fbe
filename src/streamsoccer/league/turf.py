"""The pitch as the camera finds it: grass, mowing, wear, snow, shade, and the lines."""

from __future__ import annotations

import itertools
import math

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.lens import Camera, Plane, Point, clip_near
from streamsoccer.league.light import Air
from streamsoccer.league.world import Fixture, stream

__all__ = ["GOAL_HALF", "GOAL_HEIGHT", "LENGTH", "WIDTH", "draw_lines", "turf"]

LENGTH, WIDTH = 52.5, 34.0  # half of each
GOAL_HALF, GOAL_HEIGHT = 3.66, 2.44
EDGE = (70.0, 52.0)  # half extents of the ground that is drawn
DENSITY = 4  # texture pixels in a metre
LINE = 0.12
Rgb = NDArray[np.uint8]


def turf(fixture: Fixture, air: Air) -> Plane:
    """The ground as a textured plane; lines are drawn apart so that they stay sharp."""
    rng = stream(fixture.seed, "turf", fixture.world.value, fixture.index)
    width, height = int(2 * EDGE[0] * DENSITY), int(2 * EDGE[1] * DENSITY)
    x = ((np.arange(width) + 0.5) / DENSITY - EDGE[0])[None]
    y = (EDGE[1] - (np.arange(height) + 0.5) / DENSITY)[:, None]
    bright = 1.0 + _mowing(fixture.stadium.mowing, x, y, rng)
    bright += (blotches(rng, height, width, 10) - 0.5) * 0.10 + (blotches(rng, height, width, 60) - 0.5) * 0.12
    grass = np.asarray(fixture.stadium.grass, dtype=np.float64)
    ground = grass * bright[..., None]
    beyond = (np.abs(x) > LENGTH + 5.2) | (np.abs(y) > WIDTH + 4.2)
    ground[beyond] = np.asarray((92.0, 88.0, 84.0))
    worn = float(rng.uniform(0.05, 0.6))
    wear = worn * _wear(x, y) * (0.35 + 1.1 * blotches(rng, height, width, 90)) * ~beyond
    ground += (np.asarray((128.0, 116.0, 70.0)) - ground) * np.minimum(0.75, wear)[..., None]
    if air.snow:
        fall = 0.5 * blotches(rng, height, width, 22) + 0.3 * blotches(rng, height, width, 60)
        fall += 0.2 * blotches(rng, height, width, 170)
        drift = np.clip((fall - 0.68 + air.snow * 0.3) * 6, 0, 0.92)
        off = np.where(beyond, 0.8, np.where((np.abs(x) > LENGTH + 1) | (np.abs(y) > WIDTH + 1), drift + 0.3, drift))
        ground += (np.asarray((232.0, 236.0, 242.0)) - ground) * np.minimum(0.92, off)[..., None]
    if air.rain:
        ground *= 1.0 - 0.14 * air.rain
    if air.shade_line is not None:
        edge = np.clip((y - air.shade_line) * 1.2 + 0.5, 0, 1)
        ground *= (air.shade + (1 - air.shade) * edge)[..., None]
    texture = air.light_up(np.clip(np.rint(ground), 0, 255).astype(np.uint8), distance=70.0)
    cell = 1 / DENSITY
    return Plane(origin=(-EDGE[0], EDGE[1], 0.0), across=(cell, 0.0, 0.0), along=(0.0, -cell, 0.0), texture=texture)


def blotches(rng: np.random.Generator, height: int, width: int, count: int) -> NDArray[np.float64]:
    """Smooth noise from 0 to 1 with about `count` blotches across."""
    small = rng.integers(0, 256, (max(2, count * height // width + 2), count + 2), dtype=np.uint8)
    large = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    return large.astype(np.float64) / 255


def _mowing(kind: str, x: NDArray[np.float64], y: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """How much brighter or darker a mown stripe is."""
    depth = float(rng.uniform(0.05, 0.13))
    band = (5.25, 5.83, 7.5)[int(rng.integers(3))]
    along = np.where(np.floor((x + LENGTH) / band) % 2 == 0, depth, -depth)
    across = np.where(np.floor((y + WIDTH) / 6.8) % 2 == 0, depth, -depth)
    match kind:
        case "stripes":
            return np.broadcast_to(along, np.broadcast_shapes(x.shape, y.shape)) + 0.0 * y
        case "checks":
            return (along + across) * 0.6
        case "rings":
            return np.where(np.floor(np.sqrt(x * x + y * y) / 4.5) % 2 == 0, depth, -depth)
        case _:
            return np.zeros(np.broadcast_shapes(x.shape, y.shape))


def _wear(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where boots have been: goal mouths, spots, the centre, the assistants' paths."""
    out = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for px, py, wide, deep, much in (
        (-50.5, 0, 4.5, 6.5, 1.1),
        (50.5, 0, 4.5, 6.5, 1.1),
        (-41.5, 0, 2.2, 2.2, 0.5),
        (41.5, 0, 2.2, 2.2, 0.5),
        (0, 0, 5.0, 5.0, 0.4),
    ):
        out += much / (1 + ((x - px) / wide) ** 2 + ((y - py) / deep) ** 2) ** 2
    out += 0.55 / (1 + ((np.abs(y) - WIDTH - 0.9) / 0.7) ** 2) ** 2
    return out


def _line(ax: float, ay: float, bx: float, by: float) -> list[Point]:
    length = math.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
    nx, ny = -(by - ay) / length * LINE / 2, (bx - ax) / length * LINE / 2
    return [(ax + nx, ay + ny, 0.0), (bx + nx, by + ny, 0.0), (bx - nx, by - ny, 0.0), (ax - nx, ay - ny, 0.0)]


def _arc(cx: float, cy: float, radius: float, start: float, end: float, parts: int) -> list[list[Point]]:
    angles = [start + (end - start) * part / parts for part in range(parts + 1)]
    points = [(cx + radius * math.cos(angle), cy + radius * math.sin(angle)) for angle in angles]
    return [_line(*a, *b) for a, b in itertools.pairwise(points)]


def _markings() -> list[list[Point]]:
    """Every line of the pitch as small quadrilaterals, in pieces that a lens can clip."""
    straight = [(-LENGTH, side * WIDTH, LENGTH, side * WIDTH) for side in (-1, 1)]
    straight += [(0.0, -WIDTH, 0.0, WIDTH)]
    quads: list[list[Point]] = []
    for end in (-1, 1):
        straight.append((end * LENGTH, -WIDTH, end * LENGTH, WIDTH))
        for deep, half in ((16.5, 20.16), (5.5, 9.16)):
            inner = end * (LENGTH - deep)
            straight += [(inner, -half, inner, half)]
            straight += [(end * LENGTH, side * half, inner, side * half) for side in (-1, 1)]
        spot = end * (LENGTH - 11)
        middle = math.pi if end > 0 else 0.0
        half_angle = math.acos(5.5 / 9.15)
        quads += _arc(spot, 0, 9.15, middle - half_angle, middle + half_angle, 14)
        quads += _arc(spot, 0, 0.12, 0, 2 * math.pi, 6)
        for side in (-1, 1):
            start = math.atan2(-side, -end)
            quads += _arc(end * LENGTH, side * WIDTH, 1.0, start - math.pi / 4, start + math.pi / 4, 6)
    quads += _arc(0, 0, 9.15, 0, 2 * math.pi, 48) + _arc(0, 0, 0.14, 0, 2 * math.pi, 6)
    for ax, ay, bx, by in straight:
        parts = max(1, round((abs(bx - ax) + abs(by - ay)) / 8))
        for part in range(parts):
            p, q = part / parts, (part + 1) / parts
            quads.append(_line(ax + (bx - ax) * p, ay + (by - ay) * p, ax + (bx - ax) * q, ay + (by - ay) * q))
    return quads


MARKINGS = _markings()


def draw_lines(image: Rgb, camera: Camera, air: Air) -> None:
    """The white lines, in the light or shade that they lie in."""
    height, width = image.shape[:2]
    mask = np.zeros((height * 2, width * 2), dtype=np.uint8)
    for quad in MARKINGS:
        inside = clip_near(camera, quad)
        if len(inside) < 3:
            continue
        pixels = [camera.see(point)[:2] for point in inside]
        if not any(-width < px < 2 * width and -height < py < 2 * height for px, py in pixels):
            continue
        points = np.array([[round(px * 32), round(py * 32)] for px, py in pixels], dtype=np.int32)
        lit = air.shade if air.shade_line is not None and quad[0][1] < air.shade_line else 1.0
        cv2.fillConvexPoly(mask, points, round(225 * lit), cv2.LINE_8, 4)
    cover = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA)
    spots = np.flatnonzero(cover != 0)  # truths are quicker to count than numbers
    alpha = cover.reshape(-1)[spots].astype(np.int32)[:, None]
    white = np.array(air.veil((238, 240, 236), 70.0), dtype=np.int32)
    flat = image.reshape(-1, 3)
    under = flat[spots].astype(np.int32)
    flat[spots] = (under + ((white - under) * alpha) // 255).astype(np.uint8)

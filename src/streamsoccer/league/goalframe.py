"""Goals, their nets and how a ball bulges them, and the corner flags."""

from __future__ import annotations

import itertools
import math

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.lens import Camera
from streamsoccer.league.light import Air
from streamsoccer.league.turf import GOAL_HALF, GOAL_HEIGHT, LENGTH, WIDTH

__all__ = ["draw_corner_flag", "draw_frame", "draw_net", "goal_depths"]

Rgb = NDArray[np.uint8]
DEEP, SHALLOW = 2.1, 1.1  # how far the net goes back at the ground and at the bar
FINE_FROM = 20.0  # pixels in a metre from which single threads can be seen


def _threads(mesh: float, fine: int) -> NDArray[np.float64]:
    """Threads of a net [T, fine, 3], `mesh` metres apart: metres behind the goal line, across, up."""
    threads: list[list[tuple[float, float, float]]] = []

    def thread(a: tuple[float, float, float], b: tuple[float, float, float]) -> None:
        threads.append(
            [tuple(a[k] + (b[k] - a[k]) * part / (fine - 1) for k in range(3)) for part in range(fine)]  # type: ignore[misc]
        )

    across = round(2 * GOAL_HALF / mesh)
    for column in range(across + 1):
        y = -GOAL_HALF + 2 * GOAL_HALF * column / across
        thread((DEEP, y, 0.0), (SHALLOW, y, GOAL_HEIGHT))
        thread((SHALLOW, y, GOAL_HEIGHT), (0.0, y, GOAL_HEIGHT))
    rows = round(2.2 / mesh)
    for row in range(1, rows + 1):
        z = GOAL_HEIGHT * row / rows
        back = DEEP + (SHALLOW - DEEP) * row / rows
        thread((back, -GOAL_HALF, z), (back, GOAL_HALF, z))
        for side in (-1, 1):
            thread((0.0, side * GOAL_HALF, z), (back, side * GOAL_HALF, z))
    for side in (-1, 1):
        parts = round(1.8 / mesh)
        for column in range(1, parts):
            far = DEEP * column / parts
            top = GOAL_HEIGHT if far <= SHALLOW else GOAL_HEIGHT * (DEEP - far) / (DEEP - SHALLOW)
            thread((far, side * GOAL_HALF, 0.0), (far, side * GOAL_HALF, top))
    thread((SHALLOW / 2, -GOAL_HALF, GOAL_HEIGHT), (SHALLOW / 2, GOAL_HALF, GOAL_HEIGHT))
    return np.array(threads)


_NET, _FAR_NET = _threads(0.36, 9), _threads(0.66, 5)


def goal_depths(camera: Camera, end: int) -> tuple[float, float] | None:
    """How deep a goal's net and its nearer post lie in the picture, or nothing if the goal is out of it."""
    x = end * LENGTH
    width, height = camera.centre[0] * 2, camera.centre[1] * 2
    px, py, depth = camera.see((x, 0.0, 1.0))
    reach = 5.0 * camera.focal / max(depth, 0.6)
    if depth < 1.0 or not (-reach < px < width + reach and -reach < py < height + reach):
        return None
    frame = itertools.product((0.0, DEEP), (-GOAL_HALF, GOAL_HALF), (0.0, GOAL_HEIGHT))
    spots = [camera.see((x + end * back, y, z)) for back, y, z in frame]
    if min(depth for _, _, depth in spots) < 2.0:
        return None
    if max(px for px, _, _ in spots) < 0 or min(px for px, _, _ in spots) > width:
        return None
    if max(py for _, py, _ in spots) < 0 or min(py for _, py, _ in spots) > height:
        return None
    depths = [depth for _, _, depth in spots]
    behind = camera.place[0] * end > LENGTH
    return (min(depths) if behind else max(depths)), min(depths)


def draw_net(image: Rgb, camera: Camera, end: int, air: Air, bulge: tuple[float, float, float] | None) -> None:
    """The net; `bulge` is where across and up the ball strikes it, and how far it is pushed out now."""
    scale = camera.focal / max(1.0, camera.distance((end * LENGTH, 0.0, 1.0)))
    net = _NET if scale > FINE_FROM else _FAR_NET
    if bulge is not None:
        y, z, push = bulge
        far = (net[..., 1] - y) ** 2 + (net[..., 2] - z) ** 2
        net = net.copy()
        loose = np.minimum(1.0, net[..., 0] / SHALLOW)
        net[..., 0] += push * loose / (1 + far / 0.8)
        net[..., 2] += 0.25 * push * loose / (1 + far / 1.4)
    world = net.copy()
    world[..., 0] = end * (LENGTH + net[..., 0])
    pixels, _ = camera.project(world)
    height, width = image.shape[:2]
    low, high = pixels.reshape(-1, 2).min(axis=0), pixels.reshape(-1, 2).max(axis=0)
    left, top = max(0, int(low[0]) - 2), max(0, int(low[1]) - 2)
    right, bottom = min(width, int(high[0]) + 3), min(height, int(high[1]) + 3)
    if right <= left or bottom <= top:
        return
    part = image[top:bottom, left:right]
    over = np.ascontiguousarray(part)
    fixed = np.rint((pixels - (left, top)) * 16).astype(np.int32)
    cv2.polylines(over, list(fixed), False, air.veil((232, 234, 236), 70.0), 1, cv2.LINE_AA, 4)
    share = 72 if scale < 16 else 110 if scale < 40 else 150  # of 256: a distant net is finer than a pixel
    mixed = part.astype(np.uint16) * (256 - share) + over.astype(np.uint16) * share
    part[:] = mixed >> 8


def draw_frame(image: Rgb, camera: Camera, end: int, air: Air, near: bool) -> None:
    """The posts and the bar: the nearer post with the bar, or the farther one."""
    x = end * LENGTH
    sides = sorted((-1, 1), key=lambda side: camera.see((x, side * GOAL_HALF, 0.0))[2])
    colour = air.veil((246, 246, 246), 60.0)
    post = sides[0] if near else sides[1]
    _bar(image, camera, (x, post * GOAL_HALF, 0.0), (x, post * GOAL_HALF, GOAL_HEIGHT), colour)
    if near:
        _bar(image, camera, (x, -GOAL_HALF, GOAL_HEIGHT), (x, GOAL_HALF, GOAL_HEIGHT), colour)


def _bar(
    image: Rgb,
    camera: Camera,
    a: tuple[float, float, float],
    b: tuple[float, float, float],
    colour: tuple[int, int, int],
) -> None:
    ax, ay, depth = camera.see(a)
    bx, by, _ = camera.see(b)
    thick = max(1, round(0.13 * camera.focal / max(depth, 1.0)))
    ends = [(round(px * 16), round(py * 16)) for px, py in ((ax, ay), (bx, by))]
    if max(abs(each) for pair in ends for each in pair) < 2**20:
        cv2.line(image, ends[0], ends[1], colour, thick, cv2.LINE_AA, 4)


def draw_corner_flag(image: Rgb, camera: Camera, east: int, north: int, air: Air, seconds: float) -> None:
    """A pole with a small flag in the wind."""
    x, y = east * LENGTH, north * WIDTH
    foot, top = camera.see((x, y, 0.0)), camera.see((x, y, 1.5))
    if foot[2] < 2.0 or not -20 < foot[0] < image.shape[1] + 20 or not -40 < foot[1] < image.shape[0] + 60:
        return
    unit = camera.focal / foot[2]
    thick = max(1, round(0.05 * unit))
    points = [(round(px * 16), round(py * 16)) for px, py, _ in (foot, top)]
    cv2.line(image, points[0], points[1], air.veil((236, 226, 90), 60.0), thick, cv2.LINE_AA, 4)
    flap = 0.4 * unit * 16
    sway = math.sin(seconds * 5 + east) * 0.2
    tx, ty = points[1]
    corners = (
        (tx, ty),
        (tx + flap, ty + flap * (0.2 + sway)),
        (tx + flap, ty + flap * (0.8 + sway)),
        (tx, ty + flap * 0.8),
    )
    cloth = np.array([[round(px), round(py)] for px, py in corners], dtype=np.int32)
    cv2.fillConvexPoly(image, cloth, air.veil((230, 60, 40), 60.0), cv2.LINE_AA, 4)

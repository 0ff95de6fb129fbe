"""Where in the picture everybody is, frame by frame: what a patient viewer would mark, for eyes that learn to find.

    1_clip-boxes.npz    frames [m, 2]: clip and frame (0 to 7) that are marked; one that a wipe covers is not
                        boxes [n, 8]: clip, frame, who, whether he has the ball, left, top, right, bottom

Sides are thousandths of the picture's width and height. `who` counts as WHO does. Nobody who is wholly outside the
picture is marked; who stands behind another is.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP
from streamsoccer.league.broadcast import HalfOnAir
from streamsoccer.league.director import Shot
from streamsoccer.league.rig import FOURTH_PLACE
from streamsoccer.league.visible import covered

__all__ = ["WHO", "boxes_of", "write_boxes"]

WHO = ("home", "away", "home keeper", "away keeper", "official", "ball")
_BALL = WHO.index("ball")
_SLOTS = np.array([2, *[0] * 10, 3, *[1] * 10, 4, 4, 4, 4], dtype=np.int16)  # of a trace's 25, and the fourth official
_WIDE = 0.4  # metres to each side of a person
_TALL = 1.85
_ROUND = 0.25  # metres from the ball's middle: a little more than the ball, which is small in the picture


def write_boxes(path: Path, on_air: HalfOnAir, size: tuple[int, int]) -> None:
    """The file of a half, for pictures of this size."""
    count = math.ceil(on_air.trace.seconds / CLIP_SECONDS)
    found = [boxes_of(on_air, index, size) for index in range(count)]
    frames = np.concatenate([each[0] for each in found])
    boxes = np.concatenate([each[1] for each in found])
    with path.open("wb") as file:
        np.savez_compressed(file, frames=frames, boxes=boxes)


def boxes_of(on_air: HalfOnAir, index: int, size: tuple[int, int]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """The marked frames [m, 2] and the boxes [n, 8] of one clip."""
    trace, direction = on_air.trace, on_air.direction
    frames: list[tuple[int, int]] = []
    rows: list[NDArray[np.int16]] = [np.empty((0, 8), dtype=np.int16)]
    for frame in range(FRAMES_PER_CLIP):
        seconds = index * CLIP_SECONDS + frame / FPS
        moment = on_air.moment(seconds)
        if seconds >= trace.seconds or covered(on_air, moment):
            continue
        shot = direction.shot(moment)
        found = _boxes(on_air, shot, shot.shows(moment), size)
        head = np.tile(np.array([[index, frame]], dtype=np.int16), (len(found), 1))
        frames.append((index, frame))
        rows.append(np.concatenate([head, found], axis=1))
    return np.array(frames, dtype=np.int16).reshape(-1, 2), np.concatenate(rows)


def _boxes(on_air: HalfOnAir, shot: Shot, at: float, size: tuple[int, int]) -> NDArray[np.int16]:
    """Who, whether he has the ball, and the four sides, at a moment of the simulation."""
    trace, (width, height) = on_air.trace, size
    camera = on_air.track(shot, height / width).camera(at, width, height)
    last = trace.steps - 1
    before = min(int(at), last)
    after, part = min(before + 1, last), at - before
    (people,), (there,) = on_air.people(np.array([before]), np.array([after]), np.array([part]))
    ball = trace.ball[before] + (trace.ball[after] - trace.ball[before]) * part
    if on_air.change(before) is not None:
        people, there = np.vstack([people, [FOURTH_PLACE]]), np.append(there, True)
    here = np.flatnonzero(there)
    places = np.concatenate([people[here], ball[None, :2]])
    low = np.append(np.zeros(len(here)), ball[2] - _ROUND)
    high = np.append(np.full(len(here), _TALL), ball[2] + _ROUND)
    half = np.append(np.full(len(here), _WIDE), _ROUND)
    (foot, depth), (head, _) = (camera.project(np.concatenate([places, each[:, None]], axis=1)) for each in (low, high))
    across = half * camera.focal / np.maximum(depth, 0.6)
    middle = (foot[:, 0] + head[:, 0]) / 2
    sides = np.stack([middle - across, head[:, 1], middle + across, foot[:, 1]], axis=1)
    sides *= np.array([1000 / width, 1000 / height] * 2)
    who = np.append(_SLOTS[here], _BALL)
    holds = np.append(here == trace.holder[before], False)
    marked = np.concatenate([who[:, None], holds[:, None], np.clip(np.rint(sides), 0, 1000)], axis=1)
    seen = (depth > 1.0) & (marked[:, 2] < marked[:, 4]) & (marked[:, 3] < marked[:, 5])
    return marked[seen].astype(np.int16)

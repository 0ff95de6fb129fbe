"""Where the cameras stand, how far they turn, and how their operators follow play: with a lag, never ahead of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.lens import Camera, Point
from streamsoccer.league.truth import HZ, Trace

__all__ = [
    "FOURTH",
    "FOURTH_PLACE",
    "STATIONS",
    "Post",
    "Station",
    "Track",
    "follow_ball",
    "follow_person",
    "follow_play",
    "panorama_of",
]


FOURTH = 25  # the fourth official, who is there only to show a change
FOURTH_PLACE = (-1.5, 35.3)


class Station(StrEnum):
    """The places that cameras have."""

    MAIN = "main"  # on the halfway line, high
    SIX_LEFT = "six_left"  # level with the left penalty area
    SIX_RIGHT = "six_right"
    BEHIND_LEFT = "behind_left"  # over the left goal
    BEHIND_RIGHT = "behind_right"
    LOW_LEFT = "low_left"  # in the front rows of the near stand
    LOW_RIGHT = "low_right"


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """One camera's place, the angles it can take, and its focal lengths in picture widths."""

    place: Point
    pan: tuple[float, float]
    tilt: tuple[float, float]
    wide: float
    still: float  # focal length of its panorama


STATIONS: dict[Station, Post] = {
    Station.MAIN: Post(place=(0.0, -66.0, 19.0), pan=(-0.78, 0.78), tilt=(0.17, 0.38), wide=1.22, still=1.5),
    Station.SIX_LEFT: Post(place=(-36.0, -60.0, 13.0), pan=(-0.6, 0.6), tilt=(0.1, 0.36), wide=1.4, still=1.8),
    Station.SIX_RIGHT: Post(place=(36.0, -60.0, 13.0), pan=(-0.6, 0.6), tilt=(0.1, 0.36), wide=1.4, still=1.8),
    Station.BEHIND_LEFT: Post(place=(-72.0, 4.0, 11.0), pan=(0.93, 2.21), tilt=(0.02, 0.58), wide=1.1, still=1.3),
    Station.BEHIND_RIGHT: Post(place=(72.0, 4.0, 11.0), pan=(-2.21, -0.93), tilt=(0.02, 0.58), wide=1.1, still=1.3),
    Station.LOW_LEFT: Post(place=(-26.0, -48.0, 3.6), pan=(-1.1, 1.1), tilt=(-0.14, 0.24), wide=1.6, still=0.8),
    Station.LOW_RIGHT: Post(place=(26.0, -48.0, 3.6), pan=(-1.1, 1.1), tilt=(-0.14, 0.24), wide=1.6, still=0.8),
}


def panorama_of(station: Station, width: int, height: int) -> tuple[Camera, int, int]:
    """The camera that takes a station's panorama for pictures of this size, and the panorama's size."""
    post = STATIONS[station]
    focal = post.still * width
    taken = Camera(place=post.place, pan=sum(post.pan) / 2, tilt=sum(post.tilt) / 2, focal=focal, centre=(0.0, 0.0))
    right, down, forward = taken.axes()
    xs: list[float] = []
    ys: list[float] = []
    for pan in (post.pan[0], sum(post.pan) / 2, post.pan[1]):
        for tilt in post.tilt:
            r, d, f = Camera(place=post.place, pan=pan, tilt=tilt, focal=1.0, centre=(0.0, 0.0)).axes()
            for x in (-0.5, 0.0, 0.5):
                for y in (-0.5, 0.5):
                    a, b = x / post.wide, y * height / width / post.wide
                    ray = [f[axis] + a * r[axis] + b * d[axis] for axis in range(3)]
                    deep = sum(ray[axis] * forward[axis] for axis in range(3))
                    xs.append(focal * sum(ray[axis] * right[axis] for axis in range(3)) / deep)
                    ys.append(focal * sum(ray[axis] * down[axis] for axis in range(3)) / deep)
    left, top = math.floor(min(xs)) - 2, math.floor(min(ys)) - 2
    across, along = math.ceil(max(xs)) + 3 - left, math.ceil(max(ys)) + 3 - top
    centre = (float(-left), float(-top))
    return Camera(place=post.place, pan=taken.pan, tilt=taken.tilt, focal=focal, centre=centre), across, along


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Track:
    """Where a camera looked at each step from `start` on; focal lengths in picture widths."""

    station: Station
    start: int
    pan: NDArray[np.float64]
    tilt: NDArray[np.float64]
    focal: NDArray[np.float64]

    def camera(self, moment: float, width: int, height: int) -> Camera:
        """The camera at a moment in steps, between two steps in a straight line."""
        last = len(self.pan) - 1
        place = min(max(moment - self.start, 0.0), float(last))
        low = min(int(place), max(0, last - 1))
        part = place - low
        high = min(low + 1, last)
        pan, tilt, focal = (
            float(row[low]) + (float(row[high]) - float(row[low])) * part for row in (self.pan, self.tilt, self.focal)
        )
        centre = ((width - 1) / 2, (height - 1) / 2)
        return Camera(place=STATIONS[self.station].place, pan=pan, tilt=tilt, focal=focal * width, centre=centre)


class _Operator:
    """A hand on a camera: a damped spring towards what it is told, within the angles of its post."""

    def __init__(self, station: Station, stiff: float, damp: float) -> None:
        self._post = STATIONS[station]
        self._eye = Camera(place=self._post.place, pan=0.0, tilt=0.0, focal=1.0, centre=(0.0, 0.0))
        self._stiff, self._damp = stiff, damp
        self._now: list[float] | None = None
        self._speed = [0.0, 0.0, 0.0]

    def turn(self, point: Point, focal: float) -> tuple[float, float, float]:
        pan, tilt = self._eye.aim(point)
        (a, b), (c, d) = self._post.pan, self._post.tilt
        wish = [min(max(pan, a), b), min(max(tilt, c), d), max(focal, self._post.wide)]
        if self._now is None:
            self._now = wish
        for axis in range(3):
            pull = self._stiff * (wish[axis] - self._now[axis]) - self._damp * self._speed[axis]
            self._speed[axis] = round(self._speed[axis] + pull / HZ, 7)
            self._now[axis] = round(self._now[axis] + self._speed[axis] / HZ, 7)
        return self._now[0], self._now[1], self._now[2]

    def distance(self, point: Point) -> float:
        return self._eye.distance(point)


def _track(station: Station, start: int, rows: list[tuple[float, float, float]]) -> Track:
    table = np.array(rows, dtype=np.float64)
    return Track(station=station, start=start, pan=table[:, 0], tilt=table[:, 1], focal=table[:, 2])


def follow_play(trace: Trace) -> Track:
    """The main camera through a half: it leads the ball a little, opens for long balls and closes in near goal."""
    operator = _Operator(Station.MAIN, stiff=3.4, damp=3.4)
    rows: list[tuple[float, float, float]] = []
    ball = np.round(trace.ball.astype(np.float64), 3).tolist()
    live = trace.live.tolist()
    lead, calm = 0.0, 0.0
    before = ball[0]
    for step, (x, y, z) in enumerate(ball):
        lead += ((x - before[0]) * HZ - lead) * 0.12
        before = (x, y, z)
        calm = calm + (1 - calm) * 0.04 if not live[step] else calm * 0.8
        ahead = max(-9.0, min(9.0, 0.75 * lead))
        aim = (max(-46.0, min(46.0, x + ahead)), max(-30.0, min(26.0, 0.72 * y - 1.0)), 0.0)
        depth = operator.distance((aim[0] * 0.9, aim[1], 0.0)) / 69.0
        # the two corners below the camera: whoever is there and the goal do not go into a narrow picture
        corner = max(0.0, min(1.0, (abs(x) - 38.0) / 10.0)) * max(0.0, min(1.0, (-y - 18.0) / 12.0))
        near_goal = max(0.0, min(1.0, (abs(x) - 24.0) / 18.0))
        zoom = 1.42 + 0.36 * near_goal + 0.34 * calm - min(0.16, 0.02 * max(0.0, z - 3.0))
        rows.append(operator.turn(aim, (zoom - 0.6 * corner) * (0.45 + 0.55 * depth)))
    return _track(Station.MAIN, 0, rows)


def follow_ball(trace: Trace, station: Station, start: int, end: int, span: float) -> Track:
    """A replay camera on the ball from `start` to `end`, about `span` metres across the picture."""
    operator = _Operator(station, stiff=16.0, damp=7.5)
    rows = []
    ball = np.round(trace.ball[start : end + 1].astype(np.float64), 3).tolist()
    before, lead = ball[0], [0.0, 0.0]
    for x, y, z in ball:
        # a hand that follows a ball swings with it
        for axis, (now, was) in enumerate(((x, before[0]), (y, before[1]))):
            lead[axis] += (0.42 * (now - was) * HZ - lead[axis]) * 0.5
        before = (x, y, z)
        aim = (max(-53.0, min(53.0, x + lead[0])), y + lead[1], min(5.0, 0.5 * z) + 0.6)
        rows.append(operator.turn(aim, operator.distance(aim) / (span + z)))
    return _track(station, start, rows)


def follow_person(trace: Trace, station: Station, slot: int, start: int, end: int, tall: float, shape: float) -> Track:
    """A long lens on one person; `tall` is how much of the picture's height a standing person takes."""
    operator = _Operator(station, stiff=16.0, damp=7.0)
    rows = []
    if slot == FOURTH:
        places = np.tile(np.array(FOURTH_PLACE), (end + 1 - start, 1))
    else:
        places = np.round(trace.people[start : end + 1, slot].astype(np.float64), 3)
    speed = (0.0, 0.0)
    for index in range(len(places)):
        if np.isnan(places[index, 0]):
            places[index] = places[index - 1] if index else (0.0, -36.0)
        x, y = places[index].tolist()
        if index:
            # a hand that follows a runner swings with him
            way = ((x - float(places[index - 1, 0])) * HZ, (y - float(places[index - 1, 1])) * HZ)
            speed = (speed[0] + (way[0] - speed[0]) * 0.4, speed[1] + (way[1] - speed[1]) * 0.4)
        aim = (x + 0.4 * speed[0], y + 0.4 * speed[1], 1.28 if tall >= 0.9 or slot in (22, FOURTH) else 1.0)
        rows.append(operator.turn(aim, tall * shape * operator.distance(aim) / 1.9))
    return _track(station, start, rows)

"""The ball: rolling friction, flight with drag, bounce; and how hard it must be struck to get somewhere."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.truth import HZ

__all__ = ["Ball", "flight_speed", "ground_speed", "path", "shot_velocity"]

DT = 1.0 / HZ
_PARTS = 2  # physics runs finer than the trace
_GRAVITY = 9.81
_ROLL = 1.15  # m/s² of grass
_ROLL_DRAG = 0.013  # per metre, air and grass together
_AIR_DRAG = 0.0075  # per metre
_BOUNCE = 0.55
_SKID = 0.72
# Boards stand round the pitch: what rolls to them stays there.
_BOARD_X = 57.0
_BOARD_Y = 38.0


class Ball:
    """Place and velocity, always whole millimetres, so that machines cannot drift apart."""

    __slots__ = ("vx", "vy", "vz", "x", "y", "z")

    def __init__(self) -> None:
        self.x = self.y = self.z = self.vx = self.vy = self.vz = 0.0

    @property
    def speed(self) -> float:
        return math.sqrt(self.vx * self.vx + self.vy * self.vy)

    def put(self, x: float, y: float, z: float = 0.0) -> None:
        """Lay it down, at rest."""
        self.x, self.y, self.z = round(x, 3), round(y, 3), round(z, 3)
        self.vx = self.vy = self.vz = 0.0

    def kick(self, vx: float, vy: float, vz: float = 0.0) -> None:
        self.vx, self.vy, self.vz = round(vx, 3), round(vy, 3), round(vz, 3)

    def step(self) -> None:
        """One step of the simulation."""
        h = DT / _PARTS
        x, y, z, vx, vy, vz = self.x, self.y, self.z, self.vx, self.vy, self.vz
        for _ in range(_PARTS):
            speed = math.sqrt(vx * vx + vy * vy)
            if z > 0.0 or vz > 0.0:
                keep = max(0.0, 1.0 - _AIR_DRAG * math.sqrt(speed * speed + vz * vz) * h)
                vx, vy, vz = vx * keep, vy * keep, (vz - _GRAVITY * h) * keep
                z += vz * h
                if z <= 0.0:
                    z = 0.0
                    vx, vy, vz = vx * _SKID, vy * _SKID, -vz * _BOUNCE
                    if vz < 1.2:
                        vz = 0.0
            elif speed > 0.0:
                keep = max(0.0, 1.0 - (_ROLL + _ROLL_DRAG * speed * speed) * h / speed)
                vx, vy = vx * keep, vy * keep
            x, y = x + vx * h, y + vy * h
        if abs(x) > _BOARD_X:
            x, vx, vy = math.copysign(_BOARD_X, x), -0.2 * vx, 0.4 * vy
        if abs(y) > _BOARD_Y:
            y, vy, vx = math.copysign(_BOARD_Y, y), -0.2 * vy, 0.4 * vx
        self.x, self.y, self.z = round(x, 3), round(y, 3), round(z, 3)
        self.vx, self.vy, self.vz = round(vx, 3), round(vy, 3), round(vz, 3)


def path(ball: Ball, steps: int) -> NDArray[np.float64]:
    """Where the ball will be if nobody touches it: [steps, 3], the first row one step from now."""
    ghost = Ball()
    ghost.x, ghost.y, ghost.z, ghost.vx, ghost.vy, ghost.vz = ball.x, ball.y, ball.z, ball.vx, ball.vy, ball.vz
    rows = np.empty((steps, 3))
    for n in range(steps):
        ghost.step()
        rows[n, 0], rows[n, 1], rows[n, 2] = ghost.x, ghost.y, ghost.z
    return rows


def ground_speed(distance: float, arrive: float) -> float:
    """The speed at which a rolling ball starts to arrive so fast: v² falls by 2(a + k v²) a metre."""
    rest = _ROLL / _ROLL_DRAG
    return math.sqrt((arrive * arrive + rest) * math.exp(2 * _ROLL_DRAG * min(distance, 60.0)) - rest)


def flight_speed(distance: float, degrees: int) -> float:
    """The speed at which a ball struck at this elevation comes down after so many metres."""
    speeds, ranges = _ranges(degrees)
    return float(np.interp(distance, ranges, speeds))


@cache
def _ranges(degrees: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    speeds = np.arange(4.0, 42.0, 1.0)
    ranges = []
    for speed in speeds:
        ball = Ball()
        ball.kick(float(speed) * math.cos(math.radians(degrees)), 0.0, float(speed) * math.sin(math.radians(degrees)))
        before = 0.0
        while ball.vz > 0.0 or ball.z > 0.0:
            falling, before = ball.vz, ball.x
            ball.step()
            if falling < 0.0 <= ball.vz:
                break
        ranges.append(before)
    return speeds, np.maximum.accumulate(np.array(ranges))


def shot_velocity(
    origin: tuple[float, float], target: tuple[float, float, float], speed: float, start: float = 0.0
) -> tuple[float, float, float, float]:
    """Velocity that takes the ball from a height `start` at origin to target, and the seconds it needs."""
    dx, dy = target[0] - origin[0], target[1] - origin[1]
    distance = max(0.3, math.sqrt(dx * dx + dy * dy))
    seconds = (math.exp(_AIR_DRAG * distance) - 1.0) / (_AIR_DRAG * speed)
    # The step of the physics makes it fall half a step longer.
    rise = (target[2] - start) / seconds + 0.5 * _GRAVITY * (seconds + DT / _PARTS)
    return speed * dx / distance, speed * dy / distance, rise, seconds

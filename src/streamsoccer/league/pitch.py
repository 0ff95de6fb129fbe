"""The pitch in metres: lines, zones, and what a place on it is worth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AREA_DEPTH",
    "AREA_HALF",
    "BAR",
    "CIRCLE",
    "GOAL_AREA_DEPTH",
    "GOAL_HALF",
    "HALF_LENGTH",
    "HALF_WIDTH",
    "SPOT",
    "chance",
    "goal_distance",
    "in_area",
    "threat",
    "zone",
]

HALF_LENGTH = 52.5
HALF_WIDTH = 34.0
GOAL_HALF = 3.66
BAR = 2.44
AREA_DEPTH = 16.5
AREA_HALF = 20.16
GOAL_AREA_DEPTH = 5.5
SPOT = 11.0
CIRCLE = 9.15

Array = NDArray[np.float64]


def threat(x: Array, y: Array) -> Array:
    """What the ball is worth to a side that attacks towards +x: about the goals that come of it."""
    return 0.004 + 0.012 * (x + HALF_LENGTH) / 105.0 + 0.068 * np.exp((x - 50.0) / 13.0) * np.exp(-((y / 17.0) ** 2))


def goal_distance(x: float, y: float) -> float:
    """Metres to the middle of the goal at +x."""
    return math.sqrt((HALF_LENGTH - x) ** 2 + y * y)


def chance(x: float, y: float) -> float:
    """How likely a free shot from here scores in the goal at +x: by distance and by the angle the posts stand at."""
    away = max(0.5, HALF_LENGTH - x)
    angle = math.atan2(GOAL_HALF - y, away) - math.atan2(-GOAL_HALF - y, away)
    return 1.0 / (1.0 + math.exp(1.3 + 0.105 * goal_distance(x, y) - 1.55 * angle))


def in_area(x: float, y: float) -> bool:
    """Inside the penalty area at +x."""
    return x > HALF_LENGTH - AREA_DEPTH and abs(y) < AREA_HALF


def zone(x: float, y: float) -> str:
    """A place in words, for the side that attacks towards +x; its right is -y."""
    if in_area(x, y):
        return "six-yard box" if x > HALF_LENGTH - GOAL_AREA_DEPTH and abs(y) < 9.16 else "penalty area"
    if x > HALF_LENGTH - 25.0 and abs(y) < AREA_HALF:
        return "edge of the area"
    flank = "left" if y > 0 else "right"
    if x > 17.5:
        return f"{flank} wing" if abs(y) > 15 else "final third"
    if x > -17.5:
        return f"{flank} flank" if abs(y) > 20 else "midfield"
    return f"own {flank} side" if abs(y) > 20 else "own third"

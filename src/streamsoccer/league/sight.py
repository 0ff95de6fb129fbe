"""What there is to see at one moment, and things that are ready to be drawn from far to near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.outfits import Outfit

__all__ = ["Draw", "Scene", "later"]

Draw = tuple[float, Callable[[], None]]  # how far away, and what draws it


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What there is to see at one moment."""

    ball: tuple[float, float, float]
    ball_before: tuple[float, float, float]  # a fiftieth of a second ago
    people: NDArray[np.float64]  # [P, 2]
    here: NDArray[np.bool_]  # [P] whether there is anybody
    facing: NDArray[np.float64]  # [P]
    joints: NDArray[np.float32]  # [P, JOINTS, 3] in their own axes
    poses: NDArray[np.int64]  # [P] which postures those are nearest to
    outfits: list[Outfit]
    sizes: NDArray[np.float64]  # [P] how tall, against the stature that joints are for
    props: dict[int, int] = field(default_factory=dict)  # slot: Prop
    numbers: tuple[int, int] = (0, 0)  # on the fourth official's board
    bulge: dict[int, tuple[float, float, float]] = field(default_factory=dict)  # end: across, up, push
    excited: bool = False  # the crowd is on its feet
    seconds: float = 0.0


def later(draw: Callable[..., None], *given: object) -> Callable[[], None]:
    """Something to draw once its turn has come."""
    return lambda: draw(*given)

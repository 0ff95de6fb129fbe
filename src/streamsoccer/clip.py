"""C_t: the clips that a match arrives as, and the gaps between them.

A clip covers the half-open interval [s, e) = [4i, 4i + 4) of one half, sampled at 2 FPS: the frame on screen at
s, s + 0.5, ..., s + 3.5. It may be used only once e has passed. The last clip of a half may be shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from streamsoccer.clock import MatchTime
from streamsoccer.domain import CLIP_SECONDS

__all__ = ["CLIP_SECONDS", "FPS", "FRAMES_PER_CLIP", "Clip", "Gap", "GapReason"]

FPS = 2
FRAMES_PER_CLIP = int(CLIP_SECONDS * FPS)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Clip:
    """Up to eight frames, uint8 RGB at native size; fewer where a half ends or a gap took some.

    frames [T, H, W, 3]; `samples` says which of the eight instants they stand for, `times` when each was presented.
    """

    half: int
    index: int
    start: float
    end: float
    frames: NDArray[np.uint8]
    samples: tuple[int, ...]
    times: tuple[float, ...]

    @property
    def available_at(self) -> MatchTime:
        return MatchTime(self.half, self.end)

    @property
    def complete(self) -> bool:
        return len(self.samples) == FRAMES_PER_CLIP


class GapReason(StrEnum):
    """Why the stream is not continuous where a gap is marked."""

    LOST = "lost"  # no picture for longer than a picture may stand
    JUMP_BACK = "jump_back"  # timestamps went back; time goes on where it was
    NEW_CLOCK = "new_clock"  # timestamps leapt too far to believe; time goes on where it was
    RECONNECTED = "reconnected"  # the source went away and came back
    DROPPED = "dropped"  # the consumer was too slow, the oldest clips were let go


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """A marked break in the stream: what comes after does not continue what came before. It may have no length."""

    half: int
    start: float
    end: float
    reason: GapReason
    detail: str

    @property
    def available_at(self) -> MatchTime:
        return MatchTime(self.half, self.end)

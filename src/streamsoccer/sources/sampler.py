"""Which decoded frame stands for which instant: at every half second, the frame that is on screen then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP

__all__ = ["Pick", "Sampler", "Stretch"]

T = TypeVar("T")
ROUNDING = 1e-3  # containers round timestamps to a millisecond; a frame may stand for an instant this much before it


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """One half within a source: media time [start, end); an end of infinity is the end of the source."""

    half: int
    start: float
    end: float = math.inf


@dataclass(frozen=True, kw_only=True, slots=True)
class Pick(Generic[T]):
    """A frame chosen for instant `number` (half seconds since the half's start); `time` is when it was presented."""

    half: int
    number: int
    time: float
    item: T


class Sampler(Generic[T]):
    """Fed with frames in order of media time, gives each instant the last frame presented by then."""

    def __init__(self, stretches: Sequence[Stretch], *, begin: float = 0.0) -> None:
        """Instants before the clip that holds media time `begin` are left out."""
        self._stretches = [stretch for stretch in stretches if stretch.end > begin]
        self._shown: tuple[float, T] | None = None
        self._number = 0
        if self._stretches and begin > self._stretches[0].start:
            clip = math.floor((begin - self._stretches[0].start + ROUNDING) / CLIP_SECONDS)
            self._number = clip * FRAMES_PER_CLIP

    @property
    def begin(self) -> float | None:
        """Media time of the next instant; None once every half is over."""
        return self._stretches[0].start + self._number / FPS if self._stretches else None

    def show(self, time: float, item: T) -> Iterator[Pick[T]]:
        """A frame is presented: instants that have passed go to the frame before it, one right now to itself."""
        yield from self._before(time - ROUNDING)
        self._shown = (time, item)
        yield from self._before(time + ROUNDING)

    def interrupt(self, start: float, end: float) -> Iterator[Pick[T]]:
        """Nothing was on screen from `start` to `end`: instants in between stand for nothing."""
        yield from self._before(start)
        self._shown = None
        for _ in self._before(end - ROUNDING):
            pass

    def finish(self, end: float) -> Iterator[Pick[T]]:
        """The source is over at `end`: the last frame stood until then."""
        yield from self._before(end - ROUNDING)
        self._shown = None

    def _before(self, time: float) -> Iterator[Pick[T]]:
        while self._stretches:
            stretch = self._stretches[0]
            instant = stretch.start + self._number / FPS
            if instant >= stretch.end - ROUNDING:
                self._stretches.pop(0)
                self._number = 0
                continue
            if instant >= time:
                return
            if self._shown is not None:
                shown, item = self._shown
                yield Pick(half=stretch.half, number=self._number, time=shown - stretch.start, item=item)
            self._number += 1

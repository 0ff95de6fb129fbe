"""Chosen frames to clips: each clip once, whole or as short as the stream made it, gaps marked in between."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.clip import CLIP_SECONDS, FRAMES_PER_CLIP, Clip, Gap, GapReason
from streamsoccer.sources.sampler import Stretch

__all__ = ["Assembler"]


class Assembler:
    """Collects frames by clip; a clip comes out when the first instant after it is here, so never before its end.

    A gap comes out before the clip in which the stream goes on, also where that clip began before the gap.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = {stretch.half: stretch for stretch in stretches}
        self._key = (0, -1)
        self._frames = np.empty((0, 0, 0, 3), dtype=np.uint8)
        self._samples: list[int] = []
        self._times: list[float] = []
        self._gaps: list[Gap] = []
        self._sent = (0, 0.0)  # half and time at which the last clip ended

    def take(self, header: Mapping[str, Any], pixels: NDArray[np.uint8] | None) -> Iterator[Clip | Gap]:
        """Take one message of a decoder: a frame or a jump; others say nothing about clips."""
        if header["kind"] == "frame" and pixels is not None:
            yield from self.frame(half=header["half"], number=header["number"], time=header["time"], pixels=pixels)
        elif header["kind"] == "jump":
            reason = GapReason(header["reason"])
            self.gap(reason=reason, start=header["start"], end=header["end"], detail=header["detail"])

    def frame(self, *, half: int, number: int, time: float, pixels: NDArray[np.uint8]) -> Iterator[Clip | Gap]:
        """Take the frame for instant `number` of a half, and give what is complete by it."""
        key = (half, number // FRAMES_PER_CLIP)
        if key < self._key or (key == self._key and not self._samples):
            return  # the rest of a clip that a break in the stream has already sent on its way
        if key != self._key:
            yield from self._clip(end=None)
            self._key = key
        if self._sent < (half, key[1] * CLIP_SECONDS):
            self._go_on(half, key[1] * CLIP_SECONDS)
        yield from self._marked()
        if not self._samples:
            self._frames = np.empty((FRAMES_PER_CLIP, *pixels.shape), dtype=np.uint8)
        self._frames[len(self._samples)] = pixels
        self._samples.append(number % FRAMES_PER_CLIP)
        self._times.append(time)

    def gap(self, *, reason: GapReason, start: float, end: float, detail: str) -> None:
        """Remember a break between two media times, for the half that it lies in."""
        for stretch in self._stretches.values():
            if stretch.start <= end and start < stretch.end:
                begin, stop = max(0.0, start - stretch.start), min(end, stretch.end) - stretch.start
                if not self._samples:
                    self._go_on(stretch.half, begin)
                self._gaps.append(Gap(half=stretch.half, start=begin, end=stop, reason=reason, detail=detail))

    def finish(self, end: float) -> Iterator[Clip | Gap]:
        """The stream is over, or broken off, at this media time."""
        if not self._samples and self._gaps:
            stretch = self._stretches[self._gaps[-1].half]
            self._go_on(stretch.half, min(end, stretch.end) - stretch.start)
        yield from self._clip(end=end)
        yield from self._marked()

    def _go_on(self, half: int, end: float) -> None:
        """Let the last break go on until then: what came after it stands in no clip, and no time lies in neither."""
        if self._gaps and self._gaps[-1].half == half:
            self._gaps[-1] = dataclasses.replace(self._gaps[-1], end=max(self._gaps[-1].end, end))

    def _marked(self) -> Iterator[Gap]:
        yield from self._gaps
        self._gaps.clear()

    def _clip(self, *, end: float | None) -> Iterator[Clip]:
        if not self._samples:
            return
        half, index = self._key
        stretch = self._stretches[half]
        start = index * CLIP_SECONDS
        stop = min(start + CLIP_SECONDS, stretch.end - stretch.start)
        if end is not None:
            stop = min(stop, end - stretch.start)
        if stop <= start:  # broken off as it began: it is not on its way yet, the next connection may go on with it
            self._key, self._samples, self._times = (half, index - 1), [], []
            return
        yield Clip(
            half=half, index=index, start=start, end=stop, frames=self._frames[: len(self._samples)],
            samples=tuple(self._samples), times=tuple(self._times),
        )  # fmt: skip
        self._sent = (half, stop)
        self._samples, self._times = [], []

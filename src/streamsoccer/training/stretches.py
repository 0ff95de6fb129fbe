"""The memories of the joint path: visual tokens of the clips that they are of, for stage 1 to read anew at every step.

Each sample brings one stretch of its half, the 180 s before its cutoff from the first clip of an event on, with the
targets of stage 1: L_retain is computed there, and most memories that a context names lie in it. What lies elsewhere,
an earlier record's event or an event of the own run, is read as an event by itself.

B samples, T clips
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from streamsoccer.domain import CLIP_SECONDS, SampleRow
from streamsoccer.training.commentary import Joint
from streamsoccer.training.contexts import Place, Scene, clip_at
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory_cache import LABELS
from streamsoccer.training.visual import VisualTokens
from streamsoccer.training.windows import Window, WindowBatch, gather

__all__ = ["Stretches"]


class Stretches:
    """Where the joint path's memories come from; threads may ask at the same time."""

    def __init__(self, corpus: Corpus, visual: VisualTokens, seconds: float) -> None:
        self.corpus, self.visual, self.seconds = corpus, visual, seconds

    def name(self, places: Sequence[Place], scenes: Sequence[Scene]) -> Joint:
        stretches = [self.of(each.sample) for each in scenes]
        alone: list[Window] = []
        rows, clips = [], []
        for place in places:
            row = _inside(place, stretches)
            if row is None:
                half = self.corpus.half(place.match, place.half)
                alone.append(Window(half=half, first=place.first, last=place.last + 1))
                row, begin = len(stretches) + len(alone) - 1, place.first
            else:
                begin = stretches[row].first
            rows.append(row)
            clips.append(place.last - begin)
        return Joint(
            windows=gather(stretches, self.visual),
            events=_one_event_each(gather(alone, self.visual)) if alone else None,
            rows=torch.tensor(rows),
            clips=torch.tensor(clips),
        )

    def of(self, sample: SampleRow) -> Window:
        """The clips of the local horizon up to the cutoff, from the beginning of the event that was on back then."""
        half = self.corpus.half(sample.match, sample.half)
        starts = np.flatnonzero(half.reset)
        back = int(max(0.0, sample.cutoff.seconds - self.seconds) // CLIP_SECONDS)
        first = int(starts[np.searchsorted(starts, back, side="right") - 1])
        return Window(half=half, first=first, last=clip_at(half, sample.cutoff) + 1)


def _inside(place: Place, stretches: Sequence[Window]) -> int | None:
    """The stretch that has this memory; the own run's events have bounds of their own."""
    if place.run != LABELS:
        return None
    for row, each in enumerate(stretches):
        same = (each.half.match, each.half.half) == (place.match, place.half)
        if same and each.first <= place.first and place.last < each.last:
            return row
    return None


def _one_event_each(rows: WindowBatch) -> WindowBatch:
    """Rows that are one event, whatever the labels say of their clips; what is padded stands for itself."""
    reset = ~rows.arrived
    reset[:, 0] = True
    return replace(rows, reset=reset)

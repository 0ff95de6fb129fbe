"""Stage 1's rows: windows of halves that begin with an event, each clip once an epoch, in an order that a seed gives.

Which windows a step reads is a function of the step alone, so a resumed run reads what it would have read, and the
processes of a larger run share out what one process would read.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from streamsoccer.heads import ACTIONS, SIDES, TYPES
from streamsoccer.training.corpus import Half
from streamsoccer.training.visual import VisualTokens

__all__ = ["Shuffled", "Window", "WindowBatch", "Windows", "gather", "shares"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Window:
    """Clips [first, last) of a half; an event starts at `first`."""

    half: Half
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.half.name} clips {self.first} to {self.last - 1}"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WindowBatch:
    """B windows padded to T clips; the completed events in them are listed flat, [n]."""

    names: tuple[str, ...]
    visual: Tensor  # [B, T, N, d_v]
    mask: Tensor  # [B, T, N]
    arrived: Tensor  # [B, T]
    reset: Tensor  # [B, T]
    learn: Tensor  # [B, T] where the transition target counts
    transition: Tensor  # [B, T]
    actions: Tensor  # [B, T, A]
    event_row: Tensor  # [n] whose window
    event_clip: Tensor  # [n] its last clip in that window
    event_actions: Tensor  # [n, A]
    event_type: Tensor  # [n]
    event_side: Tensor  # [n]

    def to(self, device: torch.device) -> WindowBatch:
        moved = {name: getattr(self, name).to(device, non_blocking=True) for name in self.__slots__ if name != "names"}
        return WindowBatch(names=self.names, **moved)


class Windows:
    """The windows of some halves, epoch after epoch; threads may ask at the same time."""

    def __init__(self, halves: Sequence[Half], length: int, seed: int) -> None:
        self.halves, self.length, self.seed = halves, length, seed
        self._begins = [0]  # the place at which each epoch begins: epochs differ in length by a few windows
        self._epochs: dict[int, list[Window]] = {}
        self._lock = threading.Lock()

    def at(self, place: int) -> Window:
        """The window at a place in the endless sequence of epochs."""
        with self._lock:
            while self._begins[-1] <= place:
                self._begins.append(self._begins[-1] + len(self._epoch(len(self._begins) - 1)))
            epoch = bisect_right(self._begins, place) - 1
            return self._epoch(epoch)[place - self._begins[epoch]]

    def _epoch(self, epoch: int) -> list[Window]:
        if epoch not in self._epochs:
            while len(self._epochs) > 2:  # a batch may lie across two
                del self._epochs[min(self._epochs)]
            self._epochs[epoch] = self._cut(epoch)
        return self._epochs[epoch]

    def _cut(self, epoch: int) -> list[Window]:
        random = np.random.default_rng([self.seed, epoch])
        made = []
        for half in self.halves:
            starts = np.flatnonzero(half.reset)
            wanted = np.arange(random.integers(self.length), half.clips, self.length)
            cuts = sorted({0, *starts[np.searchsorted(starts, wanted, side="right") - 1].tolist(), half.clips})
            made += [Window(half=half, first=a, last=b) for a, b in pairwise(cuts)]
        return [made[index] for index in random.permutation(len(made))]


class Shuffled:
    """An endless sequence over n things: every epoch each once, in an order of its own."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self._known: tuple[int, NDArray[np.int64]] = (-1, np.zeros(0, dtype=np.int64))

    def at(self, place: int) -> int:
        epoch, inside = divmod(place, self.count)
        held, order = self._known  # read and written whole: threads may be in different epochs
        if epoch != held:
            order = np.random.default_rng([self.seed, epoch]).permutation(self.count)
            self._known = (epoch, order)
        return int(order[inside])


def shares(step: int, micro: int, *, accumulation: int, batch: int, rank: int, world: int) -> range:
    """The places that this process reads in this part of this step: step by step, all processes side by side."""
    begin = ((step * accumulation + micro) * world + rank) * batch
    return range(begin, begin + batch)


def gather(windows: Sequence[Window], visual: VisualTokens) -> WindowBatch:
    """The windows' visual tokens and targets, padded to the longest."""
    length = max(each.last - each.first for each in windows)
    tokens, masks = [], []
    arrived = torch.zeros(len(windows), length, dtype=torch.bool)
    reset = torch.ones(len(windows), length, dtype=torch.bool)  # what is padded ends no event and joins none
    learn = torch.zeros(len(windows), length, dtype=torch.bool)
    transition = torch.zeros(len(windows), length)
    actions = torch.zeros(len(windows), length, len(ACTIONS))
    rows, clips, event_actions, types, sides = [], [], [], [], []
    for row, window in enumerate(windows):
        half, first, last = window.half, window.first, window.last
        seen, mask = visual.read(half, first, last - first)
        tokens.append(seen)
        masks.append(mask)
        count = last - first
        arrived[row, :count] = True
        reset[row, :count] = torch.from_numpy(half.reset[first:last])
        learn[row, 1:count] = torch.from_numpy(half.learn[first + 1 : last])  # before the first clip nothing is held
        transition[row, :count] = torch.from_numpy(half.transition[first:last]).float()
        actions[row, :count] = torch.from_numpy(half.actions[first:last]).float()
        for event in half.window(first, last):
            rows.append(row)
            clips.append(event.first + event.clips - 1 - first)
            said = {each.label for each in event.actions}
            event_actions.append([float(label in said) for label in ACTIONS])
            types.append(TYPES.index(event.type))
            sides.append(SIDES.index(event.side))
    return WindowBatch(
        names=tuple(each.name for each in windows),
        visual=pad_sequence(tokens, batch_first=True),
        mask=pad_sequence(masks, batch_first=True),
        arrived=arrived,
        reset=reset,
        learn=learn,
        transition=transition,
        actions=actions,
        event_row=torch.tensor(rows, dtype=torch.long),
        event_clip=torch.tensor(clips, dtype=torch.long),
        event_actions=torch.tensor(event_actions, dtype=torch.float32).view(-1, len(ACTIONS)),
        event_type=torch.tensor(types, dtype=torch.long),
        event_side=torch.tensor(sides, dtype=torch.long),
    )

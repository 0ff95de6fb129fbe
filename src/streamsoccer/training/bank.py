"""The memories that scenes name, by their place: kept on the device where all of them fit, else read from the disk.

Every batch of stage 3 names some dozens of memories a sample. As one table they are one lookup on the device, and no
step waits for the disk.

n places, c clips of a place (1 for a memory; as many as an event has for a mean over it), K slots, D = d_m
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streamsoccer.errors import DataError
from streamsoccer.training.contexts import Place, Scene
from streamsoccer.training.corpus import Half
from streamsoccer.training.memory_cache import LABELS, OWN, MemoryCache, Run
from streamsoccer.training.recipe import Representation

__all__ = ["Bank", "Named"]

_SHARE = 0.4  # of the memory that is free when a run starts
_TRAILING = 6  # clips of the fixed-time control


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Named:
    """Memories that a batch names: their rows of a table, or their numbers."""

    table: Tensor | None = None  # [N, K, D] of all clips, where the memories lie
    rows: Tensor | None = None  # [n, c]
    shares: Tensor | None = None  # [n, c] of a mean; nothing for memories as they are
    values: Tensor | None = None  # [n, K, D], of those that no table holds

    def to(self, device: torch.device) -> Named:
        moved = [
            None if each is None else each.to(device, non_blocking=True)
            for each in (self.rows, self.shares, self.values)
        ]
        return Named(table=self.table, rows=moved[0], shares=moved[1], values=moved[2])

    def memories(self) -> Tensor:
        """[n, K, D], float32."""
        if self.values is not None:
            return self.values.float()
        assert self.table is not None and self.rows is not None
        if self.shares is None:
            return self.table[self.rows[:, 0]].float()
        return torch.einsum("nckd,nc->nkd", self.table[self.rows].float(), self.shares)


class Bank:
    """The memories of some halves under one representation; any thread may ask."""

    def __init__(
        self,
        cache: MemoryCache,
        halves: Iterable[Half],
        *,
        representation: Representation = Representation.RECURRENT,
        own: bool = False,
        device: torch.device | str = "cpu",
        resident: bool | None = None,
    ) -> None:
        """`own`: those of the own run as well. All halves must be in the cache: the first that is not is named."""
        self.cache, self.representation, self.device = cache, representation, torch.device(device)
        keys = list(dict.fromkeys((half.match, half.half) for half in halves))
        cache.require(keys)
        runs: tuple[Run, ...] = (LABELS, OWN) if own else (LABELS,)
        # A mean of event tokens is the same whoever set the bounds.
        recurrent = representation is Representation.RECURRENT
        self._names = {run: f"memory.{run}" if recurrent else "event_tokens" for run in runs}
        self._clips = {key: cache.clips(*key) for key in keys}
        self._begin: dict[tuple[str, int, str], int] = {}
        rows = 0
        for key in keys:
            for name in dict.fromkeys(self._names.values()):
                self._begin[(*key, name)] = rows
                rows += self._clips[key]
        like = cache.signal(*keys[0], next(iter(self._names.values()))) if keys else torch.zeros(0, 0, 0)
        size = rows * like[:1].numel() * like.element_size()
        fits = size <= _SHARE * _free(self.device) if resident is None else resident
        self.table: Tensor | None = None
        if fits:
            self.table = torch.empty((rows, *like.shape[1:]), dtype=like.dtype, device=self.device)
            for (match, half, name), begin in self._begin.items():
                held = cache.signal(match, half, name)
                self.table[begin : begin + len(held)] = held.to(self.device)

    def name(self, places: Sequence[Place], scenes: Sequence[Scene] = ()) -> Named:
        """Where these are, or what they are; each must be of a half that this bank was made for."""
        spans = [self._span(each) for each in places]
        if self.table is None:
            values = [
                self.cache.memory(
                    each.match, each.half, each.first, each.last, run=each.run, representation=self.representation
                )
                for each in places
            ]
            return Named(values=torch.stack(values))
        if self.representation is Representation.RECURRENT:
            return Named(table=self.table, rows=torch.tensor([[last] for _, last in spans]))
        most = max(last - first for first, last in spans) + 1
        rows = torch.tensor([[min(first + at, last) for at in range(most)] for first, last in spans])
        shares = torch.tensor(
            [[1.0 / (last - first + 1) if first + at <= last else 0.0 for at in range(most)] for first, last in spans]
        )
        return Named(table=self.table, rows=rows, shares=shares)

    def _span(self, place: Place) -> tuple[int, int]:
        """First and last row of a place."""
        name, count = self._names.get(place.run), self._clips.get((place.match, place.half))
        if name is None or count is None:
            raise DataError(
                f"the memories of {place.match}, half {place.half}, in the run {place.run!r} are not held here",
                where=self.cache.folder,
            )
        if not 0 <= place.first <= place.last < count:
            raise DataError(
                f"clips {place.first} to {place.last} of {place.match}, half {place.half}, are asked for; {count} are"
                " there",
                where=self.cache.folder,
            )
        begin = self._begin[place.match, place.half, name]
        first = max(0, place.last - _TRAILING + 1) if self.representation is Representation.FIXED_POOL else place.first
        return begin + first, begin + place.last


def _free(device: torch.device) -> int:
    """Bytes that are free on a device; nothing where the system does not say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0

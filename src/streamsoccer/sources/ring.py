"""Pictures from decoder to parent through memory that both see: a pipe would copy each of them twice more."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ring", "RingReader", "RingWriter"]

SLOTS = 12  # a clip, and half of the next one while the consumer works


class Ring:
    """The parent's two descriptors pairs: the shared memory, and a pipe by which slots are given back."""

    def __init__(self) -> None:
        self.memory = os.memfd_create("streamsoccer")
        self.given_back, self._give_back = os.pipe()
        self.reader = RingReader(self.memory, self._give_back)

    @staticmethod
    def possible() -> bool:
        """Whether this system has memory without a name; where it has not, pictures go through the pipe."""
        return hasattr(os, "memfd_create")

    def close(self) -> None:
        """Let go of everything, once; a decoder that still waits for a slot ends by it."""
        self.reader.close()
        for descriptor in (self.memory, self.given_back, self._give_back):
            os.close(descriptor)


class RingWriter:
    """The decoder's end; all slots are as large as the first picture."""

    def __init__(self, memory: int, given_back: int) -> None:
        self._memory, self._given_back = memory, given_back
        self._map: mmap.mmap | None = None
        self._size = 0
        self._next = 0
        self._free = SLOTS

    def put(self, pixels: NDArray[np.uint8]) -> int | None:
        """Write a picture and say where it is, waiting for a free slot; None where it is too large for one."""
        if self._map is None:
            self._size = pixels.nbytes
            os.ftruncate(self._memory, self._size * SLOTS)
            self._map = mmap.mmap(self._memory, self._size * SLOTS)
        if pixels.nbytes > self._size:
            return None
        while self._free == 0:
            if not (returned := os.read(self._given_back, SLOTS)):
                raise BrokenPipeError("nobody takes pictures any more")
            self._free += len(returned)
        offset = self._next * self._size
        self._next, self._free = (self._next + 1) % SLOTS, self._free - 1
        _view(self._map, offset, pixels.shape)[...] = pixels
        return offset


class RingReader:
    """The parent's end."""

    def __init__(self, memory: int, give_back: int) -> None:
        self._memory, self._give_back = memory, give_back
        self._map: mmap.mmap | None = None

    def at(self, offset: int, shape: Sequence[int]) -> NDArray[np.uint8]:
        """The picture in a slot, to be used before its slot is released."""
        if self._map is None:
            self._map = mmap.mmap(self._memory, os.fstat(self._memory).st_size)
        return _view(self._map, offset, shape)

    def release(self) -> None:
        """The oldest slot that is in use may be written again."""
        with contextlib.suppress(BrokenPipeError):  # the decoder is gone, and wants it no more
            os.write(self._give_back, b"1")

    def close(self) -> None:
        self._map = None  # views that are still about keep the memory until they go


def _view(memory: mmap.mmap, offset: int, shape: Sequence[int]) -> NDArray[np.uint8]:
    return np.frombuffer(memory, np.uint8, count=int(np.prod(shape)), offset=offset).reshape(shape)

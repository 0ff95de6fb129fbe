"""V_t for training: read from the token cache, and kept on the GPU where all of it fits.

A GPU that waits for a disk is idle. Tokens of 150 matches at 336 x 320 numbers a clip are 44 GB: they lie on the device
from the first epoch on, each clip read when it is first asked for. Where they do not fit, threads read them each time.

N tokens of a clip, d_v their width
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.errors import DataError
from streamsoccer.sources.tokens import DTYPES, TokenCache
from streamsoccer.training.corpus import Half

__all__ = ["VisualTokens"]

_SHARE = 0.6  # of the GPU memory that is free when a run starts


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Held:
    tokens: Tensor  # [T, N, d_v] on the device
    mask: Tensor  # [T, N]
    there: NDArray[np.bool_]  # [T]


class VisualTokens:
    """The visual tokens of these halves; any thread may read."""

    def __init__(self, cache: TokenCache, halves: Iterable[Half], device: torch.device | str = "cpu") -> None:
        """Every half must be in the cache, with all clips of the manifests: the first that is not is named."""
        self.cache, self.device = cache, torch.device(device)
        clips = 0
        for half in halves:
            if (count := cache.count(half.match, half.half)) < half.clips:
                raise DataError(
                    f"{half.match}, half {half.half}: {count} clips are encoded, the manifests have {half.clips}",
                    where=cache.folder,
                    remedy="encode that half anew, or build the data with the durations of its video",
                )
            clips += half.clips
        free = torch.cuda.mem_get_info(self.device)[0] if self.device.type == "cuda" else 0
        self.resident = 0 < clips * cache.header.clip_bytes <= _SHARE * free
        self._held: dict[tuple[str, int], _Held] = {}
        self._lock = threading.Lock()

    def read(self, half: Half, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Tokens [count, N, d_v] and the mask [count, N] of those that are real; on the device where they are kept."""
        if not self.resident:
            return self.cache.tokens(half.match, half.half, first, count)
        held = self._place(half)
        span = slice(first, first + count)
        if not held.there[span].all():  # two threads that read the same clips write the same
            tokens, mask = self.cache.tokens(half.match, half.half, first, count)
            held.tokens[span] = tokens.to(self.device)
            held.mask[span] = mask.to(self.device)
            held.there[span] = True
        return held.tokens[span], held.mask[span]

    def _place(self, half: Half) -> _Held:
        header = self.cache.header
        with self._lock:
            if (found := self._held.get((half.match, half.half))) is None:
                shape = (half.clips, header.tokens, header.features)
                found = self._held[half.match, half.half] = _Held(
                    tokens=torch.empty(shape, dtype=DTYPES[header.dtype], device=self.device),
                    mask=torch.zeros(shape[:2], dtype=torch.bool, device=self.device),
                    there=np.zeros(half.clips, dtype=bool),
                )
            return found

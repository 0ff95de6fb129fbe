"""One shard of a token cache being written, a clip at a time."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from streamsoccer.errors import DataError
from streamsoccer.sources.tokens import DTYPES, CacheHeader, crc

__all__ = ["PART", "ShardFile", "sync"]

PART = ".part"
_HEADER = 4096  # the tokens begin on a page of their own, whatever the header says
_CODES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}


class ShardFile:
    """A safetensors file that is written a clip at a time: its header, which tells how many came, goes in last.

    The library's own writer wants all of a shard in memory, twice, and puts several notes in any order.
    """

    def __init__(self, path: Path, header: CacheHeader, note: Mapping[str, Any]) -> None:
        self._path, self._header, self._note = path, header, note
        self._part = path.with_name(path.name + PART)
        self._file: BinaryIO = self._part.open("wb")
        self._file.seek(_HEADER)
        self._lengths: list[int] = []
        self._checks: list[int] = []

    def add(self, rows: Tensor) -> None:
        clip = torch.zeros(self._header.tokens, self._header.features, dtype=DTYPES[self._header.dtype])
        clip[: len(rows)] = rows
        self._file.write(clip.view(torch.uint8).numpy().data)
        self._lengths.append(len(rows))
        self._checks.append(crc(clip, len(rows)))

    def close(self) -> None:
        """Bring it to the disk and then to its place."""
        count = len(self._lengths)
        ends = [count * self._header.clip_bytes]
        ends += [ends[0] + 8 * count, ends[0] + 12 * count]  # the wider numbers first, so that all lie aligned
        self._file.write(struct.pack(f"<{count}q", *self._checks) + struct.pack(f"<{count}i", *self._lengths))
        shape = [count, self._header.tokens, self._header.features]
        header = {
            "__metadata__": {"shard": json.dumps(self._note)},
            "tokens": {"dtype": _CODES[self._header.dtype], "shape": shape, "data_offsets": [0, ends[0]]},
            "checks": {"dtype": "I64", "shape": [count], "data_offsets": ends[:2]},
            "lengths": {"dtype": "I32", "shape": [count], "data_offsets": ends[1:]},
        }
        text = json.dumps(header, ensure_ascii=False).encode().ljust(_HEADER - 8)
        if len(text) > _HEADER - 8:
            raise DataError("the match's name is too long for a shard's header", where=self._path)
        self._file.seek(0)
        self._file.write(struct.pack("<Q", len(text)) + text)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._part.replace(self._path)
        sync(self._path.parent)

    def drop(self) -> None:
        """Take away what is not whole."""
        with _quietly():
            self._file.close()
        self._part.unlink(missing_ok=True)


@contextmanager
def _quietly() -> Iterator[None]:
    """Closing flushes, and on a full disk fails once more: the first failure is the one that is told."""
    try:
        yield
    except OSError:
        return


def sync(folder: Path) -> None:
    """Bring a folder's own entries to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

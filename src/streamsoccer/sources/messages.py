"""What a decoder process says to its parent: a JSON header for each message, and pixels after those that have them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from streamsoccer.sources.ring import RingWriter

__all__ = ["REQUEST_VARIABLE", "read_exactly", "read_header", "write_message"]

REQUEST_VARIABLE = "STREAMSOCCER_DECODE"  # the environment variable that tells the process what to do
_LENGTH = struct.Struct("<I")


def write_message(
    stream: BinaryIO, header: Mapping[str, Any], pixels: NDArray[np.uint8] | None = None, ring: RingWriter | None = None
) -> None:
    """Send one message; the header of one with pixels tells their shape, and where they are if not in the stream."""
    offset = None
    if pixels is not None:
        offset = ring.put(pixels) if ring is not None else None
        header = {**header, "shape": pixels.shape, "offset": offset}
    text = json.dumps(header).encode()
    stream.write(_LENGTH.pack(len(text)) + text)
    if pixels is not None and offset is None:
        stream.write(np.ascontiguousarray(pixels).data.cast("B"))
    stream.flush()


def read_header(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message's header; None where the sender is gone."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    text = stream.read(_LENGTH.unpack(length)[0])
    try:
        header: dict[str, Any] = json.loads(text)
    except ValueError:  # the sender died while it wrote
        return None
    return header


def read_exactly(stream: BinaryIO, into: NDArray[np.uint8]) -> bool:
    """Fill an array with a message's pixels; False where the sender died while it wrote."""
    view = into.data.cast("B")
    while view:
        count = stream.readinto(view)  # type: ignore[attr-defined]
        if not count:
            return False
        view = view[count:]
    return True

"""H.264 packets that hold a frame to which no other refers, told from their first bytes.

A decoder that is told to skip such frames still hands each of them to one of its threads, which take turns: on two
cores, half the frames skipped saved hardly any time. What it is never given costs nothing.
"""

from __future__ import annotations

__all__ = ["Unreferenced"]

_SLICE = 1  # of a picture that is no key frame
_BESIDE = (6, 9, 12)  # notes, a mark between pictures, padding: what comes after does not need them
_PRIORITY = 0x60  # the bits of a unit's header that say whether others refer to it


class Unreferenced:
    """Asked about a film's packets; `extradata` says how units are parted: by their lengths, or (without) by marks."""

    def __init__(self, extradata: bytes | None) -> None:
        described = extradata is not None and len(extradata) > 4 and extradata[0] == 1
        self._length = (extradata[4] & 3) + 1 if described and extradata is not None else None

    def __call__(self, packet: memoryview) -> bool:
        """Whether it holds such a frame and nothing else that matters; False where that is not sure."""
        return self._by_marks(packet) if self._length is None else self._by_lengths(packet, self._length)

    def _by_lengths(self, packet: memoryview, length: int) -> bool:
        place = 0
        while place + length < len(packet):
            header = packet[place + length]
            if header & 31 not in _BESIDE:
                return _unreferenced(header)
            place += length + int.from_bytes(packet[place : place + length], "big")
        return False

    def _by_marks(self, packet: memoryview) -> bool:
        start = bytes(packet[:4096])  # a slice begins soon, or something large comes before it
        place = start.find(b"\0\0\1")
        while 0 <= place < len(start) - 3:
            header = start[place + 3]
            if header & 31 not in _BESIDE:
                return _unreferenced(header)
            place = start.find(b"\0\0\1", place + 3)
        return False


def _unreferenced(header: int) -> bool:
    return header & 31 == _SLICE and not header & _PRIORITY

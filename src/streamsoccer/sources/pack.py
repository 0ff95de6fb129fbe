"""A pack: a half's clips as pictures in one file, to be read in any order, by any number of threads and processes.

    1_224p.clips    a stored zip
        00000.jpg       clip 0: its frames one below the other, in one JPEG
        ...
        index.json      half, size, and of each clip its name, place, times and which of the eight instants it holds

A pack stands at its place only when it is whole. It is read with nothing but numpy and OpenCV, or Pillow.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.clip import FRAMES_PER_CLIP, Clip
from streamsoccer.clock import MatchTime, format_seconds
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources.source import Options, Source

__all__ = ["QUALITY", "SUFFIX", "Pack", "PackRow", "PackSource", "PackWriter"]

SUFFIX = ".clips"
SCHEMA = "1"
INDEX = "index.json"
QUALITY = 88
_PART = ".part"
_LOCAL = struct.Struct("<4s5H3L2H")  # the header in front of each member of a zip
_REMEDY = "make it again, or copy it again from where it is whole"


@dataclass(frozen=True, kw_only=True, slots=True)
class PackRow:
    """One clip of the index: what a `Clip` says of itself, and the member that holds its frames."""

    name: str
    index: int
    start: float
    end: float
    samples: tuple[int, ...]
    times: tuple[float, ...]


class PackWriter:
    """Writes a pack, to be used in a `with`: leaving it by an error, or dying in it, leaves no pack."""

    def __init__(self, path: Path | str, *, half: int, quality: int = QUALITY) -> None:
        if not 1 <= quality <= 100:
            raise UsageError(f"a JPEG quality of {quality}", remedy="use 1 to 100; 88 looks like the frames themselves")
        self.path, self.half, self.quality = Path(path), half, quality
        self._part = self.path.with_name(self.path.name + _PART)
        self._size: tuple[int, int] | None = None
        self._rows: list[PackRow] = []

    def __enter__(self) -> PackWriter:
        self._zip = zipfile.ZipFile(self._part, "w", zipfile.ZIP_STORED)
        return self

    def add(self, clip: Clip) -> None:
        """The next clip of the half."""
        _, height, width, _ = clip.frames.shape
        if clip.half != self.half:
            raise UsageError(f"a clip of half {clip.half} does not go into the pack of half {self.half}")
        if self._rows and clip.index <= self._rows[-1].index:
            raise UsageError(f"clip {clip.index} comes after clip {self._rows[-1].index}", remedy="add them in order")
        if self._size is None:
            self._size = (width, height)
        if self._size != (width, height):
            raise UsageError(f"clip {clip.index} is {width}x{height}, those before it {self._size[0]}x{self._size[1]}")
        row = PackRow(
            name=f"{clip.index:05d}.jpg",
            index=clip.index,
            start=clip.start,
            end=clip.end,
            samples=clip.samples,
            times=clip.times,
        )
        self._zip.writestr(_member(row.name), _encode(clip.frames.reshape(-1, width, 3), self.quality))
        self._rows.append(row)

    def finish(self) -> None:
        """Write the index and put the pack in its place."""
        if self._size is None:
            raise UsageError("a pack without a clip", where=self.path)
        index = {
            "schema": SCHEMA,
            "half": self.half,
            "width": self._size[0],
            "height": self._size[1],
            "quality": self.quality,
            "clips": [asdict(row) for row in self._rows],
        }
        self._zip.writestr(_member(INDEX), json.dumps(index, separators=(",", ":")))
        self._zip.close()
        with self._part.open("rb") as file:
            os.fsync(file.fileno())
        self._part.replace(self.path)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            with contextlib.suppress(OSError):  # a full disk once more: the first failure is the one that is told
                self._zip.close()
            self._part.unlink(missing_ok=True)


class Pack:
    """The clips of a half in any order: `len(pack)`, `pack[3]`, `for clip in pack`.

    Places count from 0; a clip's own `index` is its place in the half. Reading moves no position of the file, so that
    threads and forked workers may share a pack; one that is sent to another process opens the file there.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            self._file = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise SourceError(f"cannot be read ({error.strerror})", where=self.path, remedy=_REMEDY) from error
        self._close = weakref.finalize(self, os.close, self._file)
        self._bytes = os.fstat(self._file).st_size
        try:
            with zipfile.ZipFile(self.path) as file:
                self._members = {each.filename: each for each in file.infolist()}
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise SourceError(
                f"is not a pack, or not a whole one ({error})", where=self.path, remedy=_REMEDY
            ) from error
        try:
            index = json.loads(self._read(INDEX, "its index"))
            if index["schema"] != SCHEMA:
                raise SourceError(f"has schema {index['schema']}, this version reads {SCHEMA}", where=self.path)
            self.half, self.width, self.height = int(index["half"]), int(index["width"]), int(index["height"])
            self.rows: tuple[PackRow, ...] = tuple(_row(each) for each in index["clips"])
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"its index is damaged ({error!r})", where=self.path, remedy=_REMEDY) from error
        if not self.rows:
            raise SourceError("holds no clip", where=self.path, remedy=_REMEDY)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pack, (self.path,)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def seconds(self) -> float:
        """How far the half goes."""
        return self.rows[-1].end

    def __getitem__(self, place: int) -> Clip:
        if not -len(self) <= place < len(self):
            raise IndexError(f"{self.path} has clips 0 to {len(self) - 1}, not {place}")
        row = self.rows[place]
        told = f"clip {row.index}"
        try:
            pixels = _decode(self._read(row.name, told))
        except (OSError, ValueError) as error:
            raise self._damaged(told, str(error)) from error
        if pixels.shape != (len(row.samples) * self.height, self.width, 3):
            raise self._damaged(told, f"its picture is {pixels.shape[1]}x{pixels.shape[0]}")
        return Clip(
            half=self.half,
            index=row.index,
            start=row.start,
            end=row.end,
            frames=pixels.reshape(len(row.samples), self.height, self.width, 3),
            samples=row.samples,
            times=row.times,
        )

    def __iter__(self) -> Iterator[Clip]:
        return (self[place] for place in range(len(self)))

    def close(self) -> None:
        """Let go of the file; it happens by itself where the pack is dropped."""
        self._close()

    def _read(self, name: str, told: str) -> bytes:
        """A member's bytes, once it is sure that they are those that were written."""
        if (member := self._members.get(name)) is None:
            raise self._damaged(told, f"there is no {name}")
        size = member.file_size
        if member.compress_type != zipfile.ZIP_STORED:
            raise self._damaged(told, f"{name} is compressed")
        head = os.pread(self._file, _LOCAL.size, member.header_offset)
        if len(head) < _LOCAL.size or not head.startswith(b"PK\3\4"):
            raise self._damaged(told, f"{name} is not where the file says it is")
        *_, name_bytes, extra_bytes = _LOCAL.unpack(head)
        start = member.header_offset + _LOCAL.size + name_bytes + extra_bytes
        data = os.pread(self._file, size, start) if start + size <= self._bytes else b""
        if len(data) != size:
            raise self._damaged(told, f"{name} is cut off")
        if zlib.crc32(data) != member.CRC:
            raise self._damaged(told, f"{name} is not what was written: its check sum differs")
        return data

    def _damaged(self, told: str, problem: str) -> SourceError:
        return SourceError(f"{told} is damaged ({problem})", where=self.path, remedy=_REMEDY)


class PackSource(Source):
    """The clips of a pack in order, from the one that holds second `begin` on."""

    def __init__(self, path: Path, *, begin: float, options: Options) -> None:
        super().__init__(str(path), options)
        self._path, self._begin = path, begin

    @classmethod
    def lone(cls, path: Path, *, begin: MatchTime | None, options: Options) -> PackSource:
        """A pack by itself; it knows which half it is."""
        if begin is not None and begin.half != (half := Pack(path).half):
            raise UsageError(f"there is no half {begin.half} in this file: it is half {half}", where=path)
        return cls(path, begin=0.0 if begin is None else begin.seconds, options=options)

    def __iter__(self) -> Iterator[Clip]:
        pack = Pack(self._path)
        if self._begin >= pack.seconds:
            raise SourceError(
                f"ends at {format_seconds(pack.seconds)}; there is nothing at {format_seconds(self._begin)}",
                where=self._path,
                remedy="see --from",
            )
        for place, row in enumerate(pack.rows):
            if row.end > self._begin:
                yield pack[place]


def _row(given: dict[str, Any]) -> PackRow:
    row = PackRow(
        name=str(given["name"]),
        index=int(given["index"]),
        start=float(given["start"]),
        end=float(given["end"]),
        samples=tuple(int(each) for each in given["samples"]),
        times=tuple(float(each) for each in given["times"]),
    )
    if not 1 <= len(row.samples) == len(row.times) <= FRAMES_PER_CLIP:
        raise ValueError(f"clip {row.index} has {len(row.samples)} samples and {len(row.times)} times")
    return row


def _member(name: str) -> zipfile.ZipInfo:
    """A member without a date: the same clips give the same file."""
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


@cache
def _opencv() -> Any:
    """OpenCV where it is: a fifth faster than Pillow at both, and the same pictures."""
    try:
        import cv2
    except ImportError:
        return None
    return cv2


def _encode(pixels: NDArray[np.uint8], quality: int) -> bytes:
    """A JPEG with colours at half the resolution, 4:2:0."""
    if (cv2 := _opencv()) is not None:
        flags = [cv2.IMWRITE_JPEG_QUALITY, quality]
        return bytes(cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), flags)[1].data)
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality, subsampling="4:2:0")
    return out.getvalue()


def _decode(data: bytes) -> NDArray[np.uint8]:
    if (cv2 := _opencv()) is not None:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        if found is None:
            raise ValueError("not a picture")
        pixels: NDArray[np.uint8] = cv2.cvtColor(found, cv2.COLOR_BGR2RGB)
        return pixels
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
        return np.array(image.convert("RGB"))

"""Frames of a half to a file: H.264 in Matroska, a key frame every two seconds, written beside its place first."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from streamsoccer.errors import SourceError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from streamsoccer.league.match import Match

__all__ = ["encode", "write_film"]

KEY_SECONDS = 2
BLOCK = 10  # pictures that are drawn together, which is quicker
QUALITY = 25  # x264's constant rate factor: as hard as web video of this size is usually compressed


def write_film(
    path: Path,
    match: Match,
    half: int,
    *,
    size: tuple[int, int] = (398, 224),
    fps: int = 25,
    seconds: float | None = None,
) -> int:
    """Film a half of a match, or its first `seconds`; returns the number of frames."""
    from streamsoccer.league.broadcast import Broadcast

    if half not in (1, 2):
        raise UsageError(f"a match has no half {half}", remedy="use 1 or 2")
    broadcast = Broadcast(match.fixture, [match.halves[half - 1]], size)
    whole = match.halves[half - 1].seconds
    count = int(round(min(whole, whole if seconds is None else seconds) * fps, 6))
    blocks = (range(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))
    pictures = (broadcast.frames(half, [number / fps for number in block]) for block in blocks)
    return encode(path, itertools.chain.from_iterable(pictures), size=size, fps=fps)


def encode(path: Path, frames: Iterator[NDArray[np.uint8]], *, size: tuple[int, int], fps: int) -> int:
    """Write frames to a file that stands at `path` only when it is whole."""
    import av

    part = path.with_name(f".{path.stem}.part{path.suffix}")
    options = {
        "preset": "veryfast",
        "crf": str(QUALITY),
        "x264-params": f"keyint={KEY_SECONDS * fps}:min-keyint={KEY_SECONDS * fps}:scenecut=0:open-gop=0:threads=1",
    }
    count = 0
    try:
        with av.open(str(part), "w", format="matroska") as container:
            stream = container.add_stream("libx264", rate=fps, options=options)
            stream.width, stream.height = size
            stream.pix_fmt = "yuv420p"
            stream.time_base = stream.codec_context.time_base = Fraction(1, fps)
            for picture in frames:
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = count, Fraction(1, fps)
                container.mux(stream.encode(frame))
                count += 1
            container.mux(stream.encode(None))
        part.replace(path)
    except (OSError, av.FFmpegError) as error:
        raise SourceError(
            f"the film could not be written: {error}",
            where=path,
            remedy="see that the folder is there and the disk has room",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return count

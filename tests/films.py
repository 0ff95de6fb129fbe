"""What the tests of sources share: small films whose frames carry their number, and clips read back from them."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsoccer.clip import FPS, FRAMES_PER_CLIP, Clip, Gap
from streamsoccer.sources import open_source
from streamsoccer.testing.video import read_number

__all__ = ["B_FRAMES", "SMALL", "clips_of", "ffmpeg", "numbers", "read", "same_clips"]

B_FRAMES = {"preset": "veryfast", "bf": "2", "g": "50"}
SMALL: dict[str, Any] = {"width": 128, "height": 96}


def read(path: Path | str, **how: Any) -> list[Clip | Gap]:
    """All that a source gives."""
    return list(open_source(path, **how))


def clips_of(items: Sequence[Clip | Gap]) -> list[Clip]:
    return [item for item in items if isinstance(item, Clip)]


def numbers(items: Sequence[Clip | Gap]) -> dict[float, int]:
    """The number read from the pixels of each frame, by the instant of its half that it stands for."""
    return {
        (clip.index * FRAMES_PER_CLIP + sample) / FPS: read_number(frame)
        for clip in clips_of(items)
        for sample, frame in zip(clip.samples, clip.frames, strict=True)
    }


def same_clips(one: Sequence[Clip], other: Sequence[Clip]) -> bool:
    """Equal in place, time and every pixel."""
    return len(one) == len(other) and all(
        (a.half, a.index, a.start, a.end, a.samples) == (b.half, b.index, b.start, b.end, b.samples)
        and np.allclose(a.times, b.times, atol=1e-9)
        and np.array_equal(a.frames, b.frames)
        for a, b in zip(one, other, strict=True)
    )


def ffmpeg(*arguments: str | Path) -> None:
    """Make a file that PyAV cannot make as simply; the test is skipped where the ffmpeg program is not there."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs the ffmpeg program: make test-deps")
    words = ["ffmpeg", "-nostdin", "-y", "-v", "error", *map(str, arguments)]
    subprocess.run(words, check=True, capture_output=True)

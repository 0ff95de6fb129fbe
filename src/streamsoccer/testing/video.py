"""Short test films: a ball on a pitch, and each frame's number as a bar code, so that a test can tell frames apart."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import SourceError

__all__ = ["cut_a_test_film", "draw_frame", "make_video", "read_number"]

BITS = 16
RATE = 16_000  # of the silent sound track
Rgb = NDArray[np.uint8]


def draw_frame(number: int, *, width: int = 320, height: int = 192, seconds: float | None = None) -> Rgb:
    """Frame `number` of the film: the ball goes round with `seconds`, the strip at the top holds the number."""
    stripes = (np.arange(width) * 12 // width) % 2
    picture = np.empty((height, width, 3), dtype=np.uint8)
    picture[:] = np.where(stripes[None, :, None] == 0, (38, 122, 52), (46, 138, 60))
    picture[height // 8 : -2 : max(1, height - height // 8 - 4)] = 235
    picture[height // 8 :, width // 2 - 1 : width // 2 + 1] = 235
    t = number / 25 if seconds is None else seconds
    y, x = np.ogrid[:height, :width]
    for turn, colour, size in (
        (t, (250, 250, 250), 24),
        (t * 0.37 + 2, (200, 30, 40), 14),
        (-t * 0.23, (30, 60, 200), 14),
    ):
        cx, cy = width * (0.5 + 0.4 * np.cos(turn)), height * (0.56 + 0.33 * np.sin(turn))
        picture[(x - cx) ** 2 + (y - cy) ** 2 < (height / size) ** 2] = colour
    for place in range(BITS):
        start, stop = (round(edge * width / BITS) for edge in (place, place + 1))
        picture[: height // 8, start:stop] = 235 if number >> (BITS - 1 - place) & 1 else 20
    return picture


def read_number(frame: Rgb) -> int:
    """The number in a frame's strip; it survives compression, scaling and a change of colour."""
    height, width = frame.shape[:2]
    strip = frame[height // 32 : height // 11].mean(axis=(0, 2))
    edges = [round((place + half) * width / BITS) for place in range(BITS) for half in (0.3, 0.7)]
    bits = [strip[start:stop].mean() > 128 for start, stop in zip(edges[::2], edges[1::2], strict=True)]
    return sum(1 << (BITS - 1 - place) for place, bit in enumerate(bits) if bit)


def make_video(
    path: Path,
    *,
    seconds: float = 10.0,
    fps: Fraction | int = 25,
    width: int = 320,
    height: int = 192,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    times: Iterable[float] | None = None,
    audio: bool = False,
    options: dict[str, str] | None = None,
    draw: Callable[[int], Rgb] | None = None,
    format: str | None = None,
) -> list[float]:
    """Write a film and return when each of its frames is presented; `times` makes it one of variable frame rate."""
    import av

    rate = Fraction(fps)
    moments = list(times) if times is not None else [float(n / rate) for n in range(round(seconds * rate))]
    draw = draw or (lambda n: draw_frame(n, width=width, height=height, seconds=moments[n]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", format=format) as container:
        base = Fraction(1, 90_000) if times is not None else 1 / rate
        given = {"preset": "ultrafast", "g": "50", **(options or {})}
        stream = cast(av.VideoStream, container.add_stream(codec, rate=rate, options=given))
        stream.width, stream.height, stream.pix_fmt = width, height, pixels
        stream.codec_context.time_base = base
        sound = container.add_stream("aac", rate=RATE, layout="mono") if audio else None
        for number, moment in enumerate(moments):
            frame = av.VideoFrame.from_ndarray(draw(number), format="rgb24")
            frame.pts, frame.time_base = round(moment / base), base
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if sound is not None:
            still = np.zeros((1, 1024), dtype=np.float32)
            for block in range(int(moments[-1] * RATE / 1024) + 1):
                silence = av.AudioFrame.from_ndarray(still, format="fltp", layout="mono")
                silence.sample_rate, silence.pts = RATE, block * 1024
                container.mux(sound.encode(silence))
            container.mux(sound.encode(None))
    return moments


def cut_a_test_film() -> str:
    """Make a short film and cut it through the real path; say how it went, or raise."""
    from streamsoccer.clip import Clip
    from streamsoccer.sources import open_source

    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.mkv"
        made = make_video(film, seconds=6)
        clips = [item for item in open_source(film) if isinstance(item, Clip)]
    shown = [read_number(frame) for clip in clips for frame in clip.frames]
    late = max(abs(number / 25 - place / 2) for place, number in enumerate(shown))
    if len(shown) != 12 or late > 1 / 25:
        raise SourceError(
            f"a test film of {len(made)} frames gave frames {shown}", remedy="pip install --force-reinstall av"
        )
    return f"a test film was cut into {len(clips)} clips, each frame within {late * 1000:.0f} ms of its instant"

"""What the fast option leaves out is what the decoder would have skipped, and nothing else."""

from __future__ import annotations

import math
from pathlib import Path

import av
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from films import SMALL, numbers, read
from streamsoccer.clip import FPS
from streamsoccer.sources import Options
from streamsoccer.sources.unreferenced import Unreferenced
from streamsoccer.testing.video import make_video

B_FRAMES = {"preset": "veryfast", "bf": "3", "b_strategy": "0", "g": "50"}
SECONDS = 5.0
FILMS = [
    ("film.mkv", {}),
    ("film.mp4", {}),
    ("film.flv", {}),
    ("film.ts", {}),
    ("film.ts", {"x264-params": "slices=4:aud=1"}),
    ("film.mkv", {"x264-params": "interlaced=1"}),
    ("film.mkv", {"x264-params": "b-pyramid=none:open-gop=1"}),
]


def decoded(path: Path, *, unreferenced: bool) -> tuple[list[tuple[int | None, bytes]], int, int]:
    """Frames that a decoder gives which is told to skip; how many packets it was not even given, and of how many."""
    frames, left_out, packets = [], 0, 0
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.codec_context.skip_frame = "NONREF"
        asked = Unreferenced(stream.codec_context.extradata)
        for packet in container.demux(stream):
            packets += 1
            if unreferenced and packet.size and asked(memoryview(packet)):
                left_out += 1
                continue
            frames += [(frame.pts, frame.to_ndarray().tobytes()) for frame in packet.decode()]
    return frames, left_out, packets


@pytest.mark.parametrize(("name", "options"), FILMS)
def test_the_decoder_gives_the_same_frames_without_the_packets_it_would_skip(
    tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    make_video(path := tmp_path / name, seconds=SECONDS, options={**B_FRAMES, **options}, **SMALL)
    frames, left_out, packets = decoded(path, unreferenced=True)
    assert frames == decoded(path, unreferenced=False)[0]
    assert packets - 1 - left_out == len(frames), "all that the decoder skips is left out (one packet ends the film)"
    assert left_out > packets / 3


@pytest.mark.parametrize(("name", "options"), FILMS)
def test_fast_clips_hold_every_instant_with_the_last_frame_that_others_refer_to(
    tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    make_video(path := tmp_path / name, seconds=SECONDS, options={**B_FRAMES, **options}, **SMALL)
    found = numbers(read(path, options=Options(fast=True)))
    exact = {n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(math.ceil(SECONDS * FPS))}
    assert found.keys() == exact.keys()
    between = 3 if "b-pyramid=none" in str(options) else 1  # frames that nothing refers to, one after the other
    ages = [exact[at] - number for at, number in found.items()]
    assert min(ages) == 0 < max(ages) <= between


@example(packet=b"\0\0\1\1" + bytes(9), extradata=None)
@example(packet=b"\0\0\0\1\6", extradata=b"\1\0\0\0\3")
@given(packet=st.binary(max_size=40), extradata=st.none() | st.binary(max_size=8))
def test_damaged_packets_are_only_looked_at(packet: bytes, extradata: bytes | None) -> None:
    assert Unreferenced(extradata)(memoryview(packet)) in (True, False)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([b"\x01abc"], True),
        ([b"\x09\xf0", b"\x06note", b"\x01abc"], True),
        ([b"\x21abc"], False),  # referred to
        ([b"\x65abc"], False),  # a key frame
        ([b"\x67sps", b"\x01abc"], False),  # what comes after may need the first
        ([b"\x09\xf0"], False),
        ([], False),
    ],
)
def test_the_first_unit_that_matters_decides(units: list[bytes], expected: bool) -> None:
    for length in (1, 2, 4):
        extradata = bytes([1, 0, 0, 0, length - 1])
        lengths = b"".join(len(unit).to_bytes(length, "big") + unit for unit in units)
        assert Unreferenced(extradata)(memoryview(lengths)) is expected
    marks = b"".join(b"\0\0\0\1" + unit for unit in units)
    assert Unreferenced(None)(memoryview(marks)) is expected
    assert Unreferenced(b"\0\0\0\1\x67")(memoryview(marks)) is expected

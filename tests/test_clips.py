"""Clips are exact in time: the frame numbers are read out of the pixels."""

import io
import json
import math
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from films import B_FRAMES, SMALL, clips_of, ffmpeg, numbers, read, same_clips
from results import record
from streamsoccer.clip import CLIP_SECONDS, FPS, Clip, Gap, GapReason
from streamsoccer.clock import MatchTime, MediaClock
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources import Options, parse_half_starts, worker
from streamsoccer.sources.assemble import Assembler
from streamsoccer.sources.decoder import Request
from streamsoccer.sources.messages import read_exactly, read_header
from streamsoccer.sources.policy import Access, demuxer_options
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.timeline import MPEGTS_WRAP
from streamsoccer.testing.video import draw_frame, make_video

RATES = {
    "23.976": Fraction(24_000, 1001),
    "25": Fraction(25),
    "29.97": Fraction(30_000, 1001),
    "50": Fraction(50),
    "59.94": Fraction(60_000, 1001),
    "60": Fraction(60),
}
CONTAINERS = ("mkv", "mp4", "ts")
SECONDS = 5.3
COMMAND = "pytest tests/test_clips.py -m acceptance"
TICK = 1.001e-3  # Matroska rounds to a millisecond


def lateness(items: Sequence[Clip | Gap], moments: Sequence[float]) -> list[float]:
    """By how much each frame that was given is older than the instant that it stands for."""
    return [instant - moments[number] for instant, number in numbers(items).items()]


def uneven(seconds: float) -> list[float]:
    """Frame times of a film of variable rate: 10 to 400 ms between frames, from a fixed seed."""
    gaps = np.random.default_rng(7).uniform(0.01, 0.4, round(seconds * 8))
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    return [round(float(time), 3) for time in times if time < seconds]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rate", RATES)
def test_each_instant_shows_the_frame_on_screen(tmp_path: Path, rate: str, container: str) -> None:
    path = tmp_path / f"film.{container}"
    moments = make_video(path, seconds=SECONDS, fps=RATES[rate], options=B_FRAMES, **SMALL)
    items = read(path)
    found = numbers(items)
    end = moments[-1] + float(1 / RATES[rate])
    assert sorted(found) == [number / FPS for number in range(math.ceil(round(end * FPS, 6)))]
    for instant, number in found.items():
        now, soon = (bisect_right(moments, instant + slack) - 1 for slack in (1e-9, TICK))
        assert now <= number <= soon
    for clip in clips_of(items):
        assert clip.complete == (clip.index == 0)
        assert clip.start == clip.index * CLIP_SECONDS
        for frame, (sample, time) in enumerate(zip(clip.samples, clip.times, strict=True)):
            assert time == pytest.approx(moments[found[clip.start + sample / FPS]], abs=TICK), frame
    assert clips_of(items)[-1].end == pytest.approx(end, abs=2e-3)
    assert len(items) == 2


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_film_of_variable_rate_is_sampled_by_its_timestamps(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"film.{container}"
    moments = make_video(path, times=uneven(SECONDS), options=B_FRAMES, **SMALL)
    for instant, number in numbers(items := read(path)).items():
        now, soon = (bisect_right(moments, instant + slack) - 1 for slack in (1e-9, TICK))
        assert now <= number <= soon
    assert [type(item) for item in items] == [Clip, Clip]


def test_avi_which_has_no_presentation_times_goes_by_the_order_of_its_frames(tmp_path: Path) -> None:
    for options in (B_FRAMES, {"preset": "ultrafast"}):
        path = tmp_path / "film.avi"
        make_video(path, seconds=SECONDS, options=options, **SMALL)
        assert numbers(read(path)) == {
            n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(math.ceil(SECONDS * FPS))
        }


def long_gop(path: Path) -> None:
    make_video(path, seconds=24, options={"g": "100000", "bf": "2", "preset": "veryfast"}, **SMALL)


def all_key(path: Path) -> None:
    make_video(path, seconds=24, options={"g": "1"}, **SMALL)


def open_gop(path: Path) -> None:
    make_video(path, seconds=24, options={**B_FRAMES, "g": "60", "x264-params": "open-gop=1:scenecut=0"}, **SMALL)


def refreshed(path: Path) -> None:
    options = {**B_FRAMES, "bf": "0", "x264-params": "intra-refresh=1:keyint=250:scenecut=0"}
    make_video(path, seconds=24, options=options, **SMALL)


def lying(path: Path) -> None:
    """Every packet claims to be a key frame, so that a seek lands where nothing can be decoded until 13.2 s."""
    make_video(true := path.with_name("true.mkv"), seconds=24, options={**B_FRAMES, "bf": "0", "g": "110"}, **SMALL)
    with av.open(str(true)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream, packet.is_keyframe = stream, True
                target.mux(packet)


def with_a_hole(path: Path) -> None:
    times = [n / 25 for n in range(24 * 25) if not 9.3 < n / 25 < 17.7]
    make_video(path, times=times, options=B_FRAMES, **SMALL)


@pytest.mark.parametrize(
    ("film", "container"),
    [
        (long_gop, "mkv"), (all_key, "mp4"), (open_gop, "mkv"), (refreshed, "mkv"), (refreshed, "ts"),
        (lying, "mkv"), (lying, "mp4"),
        (with_a_hole, "mp4"), (all_key, "avi"),
    ],
)  # fmt: skip
def test_a_late_start_gives_the_clips_of_a_full_run(
    tmp_path: Path, film: Callable[[Path], None], container: str
) -> None:
    film(path := tmp_path / f"film.{container}")
    full = clips_of(read(path))
    part = clips_of(read(path, begin=MatchTime(1, 15.99)))
    assert part
    assert same_clips(part, [clip for clip in full if clip.end > 15.99])


def test_a_late_start_in_a_stream_whose_clock_jumps_gives_the_clips_of_a_full_run(tmp_path: Path) -> None:
    """No seek would see the jumps before it."""
    make_video(tmp_path / "a.ts", seconds=14, **SMALL)
    make_video(tmp_path / "b.ts", seconds=30, **SMALL)
    path = tmp_path / "both.ts"
    path.write_bytes((tmp_path / "a.ts").read_bytes() + (tmp_path / "b.ts").read_bytes())
    full = clips_of(read(path))
    assert len(full) == 11
    assert same_clips(clips_of(read(path, begin=MatchTime(1, 25))), full[6:])


def test_a_start_after_the_end_is_refused_with_the_length(tmp_path: Path) -> None:
    make_video(path := tmp_path / "film.mkv", seconds=5, **SMALL)
    with pytest.raises(SourceError, match="ends at 00:05; there is nothing at 99:00"):
        read(path, begin=MatchTime(1, 99 * 60))
    with pytest.raises(UsageError, match="half 1 ends at 00:02"):
        read(path, half_starts=[(0, 2), (2, math.inf)], begin=MatchTime(1, 3))


def test_both_halves_from_one_file(tmp_path: Path) -> None:
    make_video(path := tmp_path / "match.mp4", seconds=30, options=B_FRAMES, **SMALL)
    told = []
    spans = parse_half_starts("0:01-0:10.6,14.1,0:50")
    items = read(path, half_starts=spans, options=Options(tell=told.append))
    clips = clips_of(items)
    assert [(clip.half, clip.start, round(clip.end, 3)) for clip in clips] == [
        (1, 0, 4), (1, 4, 8), (1, 8, 9.6), (2, 0, 4), (2, 4, 8), (2, 8, 12), (2, 12, 15.9),
    ]  # fmt: skip
    for half, start in ((1, 1.0), (2, 14.1)):
        for instant, number in numbers([clip for clip in clips if clip.half == half]).items():
            assert number == math.floor((start + instant) * 25 + 1e-6)
    assert ["half 3 starts at 00:50, after the end of the file" in notice.text for notice in told] == [True]
    assert same_clips(clips_of(read(path, half_starts=spans, begin=MatchTime(2, 9))), clips[5:])


def test_a_hole_is_a_gap_and_clips_after_it_keep_their_place(tmp_path: Path) -> None:
    with_a_hole(path := tmp_path / "film.mkv")
    items = read(path)
    (place,) = (place for place, item in enumerate(items) if isinstance(item, Gap))
    gap, before, after = items[place], items[place - 1], items[place + 1]
    assert isinstance(gap, Gap)
    assert isinstance(before, Clip)
    assert isinstance(after, Clip)
    assert gap.reason is GapReason.LOST
    assert (gap.start, gap.end) == (pytest.approx(9.32, abs=0.05), pytest.approx(17.72, abs=0.05))
    assert (before.index, before.samples, before.end) == (2, (0, 1, 2), 12.0)
    assert (after.index, after.samples) == (4, (4, 5, 6, 7))
    assert [clip.index for clip in clips_of(items)] == [0, 1, 2, 4, 5]


def pieces(path: Path, starts: Sequence[float], seconds: float = 10.0) -> None:
    """An MPEG-TS of several pieces, each with a clock that starts elsewhere; frame numbers go on."""
    count = round(seconds * 25)
    joined = b""
    for piece, start in enumerate(starts):
        part = path.with_suffix(f".{piece}.ts")

        def draw(n: int, first: int = piece * count) -> NDArray[np.uint8]:
            return draw_frame(first + n, **SMALL)

        make_video(part, times=[start + n / 25 for n in range(count)], options=B_FRAMES, draw=draw, **SMALL)
        joined += part.read_bytes()
    path.write_bytes(joined)


@pytest.mark.parametrize(
    ("second", "reason"),
    [(50.0, GapReason.JUMP_BACK), (103.0, GapReason.JUMP_BACK), (5000.0, GapReason.NEW_CLOCK)],
)
def test_where_the_clock_jumps_time_goes_on_and_the_place_is_marked(
    tmp_path: Path, second: float, reason: GapReason
) -> None:
    pieces(path := tmp_path / "film.ts", (100.0, second))
    items = read(path)
    assert numbers(items) == {n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(40)}
    (gap,) = (item for item in items if isinstance(item, Gap))
    assert (gap.reason, gap.start, gap.end) == (reason, pytest.approx(10.0, abs=0.1), gap.start)


def test_a_jump_forward_is_time_that_was_lost(tmp_path: Path) -> None:
    pieces(path := tmp_path / "film.ts", (100.0, 140.0))
    items = read(path)
    expected = {n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(20)}
    expected |= {40 + instant: 250 + number for instant, number in expected.items()}
    assert numbers(items) == expected
    (gap,) = (item for item in items if isinstance(item, Gap))
    assert (gap.reason, gap.start, gap.end) == (GapReason.LOST, pytest.approx(10, abs=0.1), pytest.approx(40, abs=0.1))


WRAPPED = {n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(20)}


@pytest.mark.parametrize("before", [0.5, 5.0, 9.5])
def test_a_33_bit_wrap_in_a_real_file_leaves_no_trace(tmp_path: Path, before: float) -> None:
    make_video(plain := tmp_path / "plain.ts", seconds=10, options=B_FRAMES, **SMALL)
    ffmpeg("-i", plain, "-c", "copy", "-output_ts_offset", f"{MPEGTS_WRAP - before:.3f}", "-muxdelay", "0",
           path := tmp_path / "film.ts")  # fmt: skip
    items = read(path)
    assert numbers(items) == WRAPPED
    assert not [item for item in items if isinstance(item, Gap)]


@pytest.mark.parametrize("before", [0.5, 5.0, 9.5])
def test_a_33_bit_wrap_that_ffmpeg_does_not_correct_leaves_no_trace(
    tmp_path: Path, before: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces(path := tmp_path / "film.ts", (MPEGTS_WRAP - before,))
    monkeypatch.setattr(
        worker, "demuxer_options", lambda access: {**demuxer_options(access), "correct_ts_overflow": "0"}
    )
    with av.open(str(path), options={"correct_ts_overflow": "0"}) as raw:
        stamps = [packet.pts for packet in raw.demux(video=0) if packet.pts is not None]
    assert max(stamps) - min(stamps) > 2**32, "the file itself has no wrap in it"
    items = in_this_process(path)
    assert numbers(items) == WRAPPED
    assert not [item for item in items if isinstance(item, Gap)]


def in_this_process(path: Path) -> list[Clip | Gap]:
    """What the decoder's own code makes of a file, without a process of its own."""
    stretches = [Stretch(half=1, start=0.0)]
    request = json.loads(Request(where=f"file:{path}", access=Access.FILE, stretches=stretches).to_json())
    output = io.BytesIO()
    worker.Worker(request, output, MediaClock()).run()
    output.seek(0)
    assembler, items = Assembler(stretches), []
    while (header := read_header(output)) is not None:
        pixels = None
        if "shape" in header:
            pixels = np.empty(header["shape"], dtype=np.uint8)
            assert read_exactly(output, pixels)
        items += assembler.take(header, pixels)
        if header["kind"] == "end":
            items += assembler.finish(header["end"])
    return items


def test_what_comes_after_a_clip_does_not_change_it(tmp_path: Path) -> None:
    """Two films with the same packets up to a moment: every clip that ended by then is equal to the last bit."""
    for container, cut in (("ts", 11.0), ("mkv", 9.0)):
        ends = {}
        for kind, colour in (("one", 30), ("other", 220)):
            path = tmp_path / f"{kind}.{container}"

            def draw(n: int, colour: int = colour, cut: float = cut) -> NDArray[np.uint8]:
                picture = draw_frame(n, **SMALL)
                if n / 25 >= cut:
                    picture[12:] = colour
                return picture

            # Encoded frame by frame without looking ahead, so that the packets before the cut are the same.
            options = {"tune": "zerolatency", "preset": "ultrafast", "g": "25", "x264-params": "threads=1"}
            make_video(path, seconds=16 if kind == "one" else 13, options=options, draw=draw, **SMALL)
            ends[kind] = clips_of(read(path))
        early = {kind: [clip for clip in clips if clip.end <= cut] for kind, clips in ends.items()}
        assert len(early["one"]) == 2
        assert same_clips(early["one"], early["other"])
        assert not np.array_equal(ends["one"][2].frames[-1], ends["other"][2].frames[-1]), "nothing was changed"


def test_a_damaged_tail_does_not_change_the_clips_before_it(tmp_path: Path) -> None:
    make_video(path := tmp_path / "film.ts", seconds=16, options=B_FRAMES, **SMALL)
    whole = clips_of(read(path))
    with av.open(str(path)) as container:
        place = next(packet.pos for packet in container.demux(video=0) if packet.dts and packet.dts / 90_000 > 13.0)
    data = path.read_bytes()
    noise = np.random.default_rng(3).integers(0, 256, len(data) - place, dtype=np.uint8).tobytes()
    path.write_bytes(data[:place] + noise)
    damaged = clips_of(read(path))
    assert same_clips(damaged[:3], whole[:3])


@pytest.mark.acceptance
def test_figures_of_exactness(tmp_path: Path) -> None:
    """The greatest lateness of any frame that was given, in frames of its source."""
    figures: dict[str, dict[str, float]] = {}
    earliest = 0.0
    for container in CONTAINERS:
        row = figures.setdefault(container, {})
        for name, rate in RATES.items():
            moments = make_video(tmp_path / f"film.{container}", seconds=60, fps=rate, options=B_FRAMES, **SMALL)
            late = lateness(read(tmp_path / f"film.{container}"), moments)
            assert min(late) >= -TICK - 0.5e-3, "a millisecond of tolerance, and half of one that Matroska rounds away"
            assert max(late) * float(rate) <= 1
            row[name] = round(max(late) * float(rate), 4)
            earliest = min(earliest, min(late))
        moments = make_video(tmp_path / f"film.{container}", times=uneven(60), options=B_FRAMES, **SMALL)
        found = numbers(read(tmp_path / f"film.{container}"))
        wrong = sum(n not in {bisect_right(moments, at + slack) - 1 for slack in (0, TICK)} for at, n in found.items())
        assert wrong == 0
        row["variable rate: frames that were not the one on screen"] = wrong
    early = {"greatest earliness in milliseconds": round(-earliest * 1000, 2)}
    record("clips_exactness", {"greatest lateness in source frames": figures, **early}, COMMAND)


MEMORY = """
import json, os, sys
from pathlib import Path
from streamsoccer.sources import open_source

def resident(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])

marks, rows = [10, 20, 40, 60, 80], []
for clip in open_source(sys.argv[1]):
    if marks and clip.end >= 60 * marks[0]:
        (child,) = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        rows.append({"minute": marks.pop(0), "parent kB": resident(os.getpid()), "decoder kB": resident(child)})
print(json.dumps({"marks": rows, "clips": clip.index + 1}))
"""


@pytest.mark.acceptance
def test_memory_stays_flat_over_ninety_minutes(tmp_path: Path) -> None:
    make_video(minute := tmp_path / "minute.mkv", seconds=60, width=256, height=144, options=B_FRAMES)
    ffmpeg("-stream_loop", "89", "-i", minute, "-c", "copy", path := tmp_path / "film.mkv")
    done = subprocess.run([sys.executable, "-c", MEMORY, path], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["clips"] == 90 * 15
    rows = {row["minute"]: row for row in found["marks"]}
    growth = {who: round(rows[80][f"{who} kB"] / rows[10][f"{who} kB"] - 1, 4) for who in ("parent", "decoder")}
    record("clips_memory", {"growth from minute 10 to minute 80": growth, **found}, COMMAND)
    assert max(growth.values()) <= 0.05

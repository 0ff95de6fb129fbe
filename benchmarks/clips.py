"""What clips cost over the floor: a bare PyAV loop that decodes the film and resizes the same frames, in the same run.

    python benchmarks/clips.py [--minutes 45] [--rounds 3] [--write]

Each run of ours stands between two of the floor and is held against their mean; of these ratios the median counts.
`cpu` is the same for the processor time of all processes, which other work on the machine disturbs less.
At 1280x720 the film is a sixth as long. `nonref` is the share of frames that nothing refers to: what `fast` leaves out.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from streamsoccer.clip import FPS, Clip
from streamsoccer.sources import Options, open_source
from streamsoccer.testing.video import draw_frame, make_video, read_number

RESULTS = Path(__file__).resolve().parents[1] / "tests"
MODEL_SIZE = {(398, 224): (384, 224), (1280, 720): (1280, 704)}


def bare(film: Path, size: tuple[int, int]) -> int:
    """Decode every frame, and make the one on screen at each half second an RGB array of the model's size."""
    taken, shown, reformatter = 0, None, VideoReformatter()
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for frame in container.decode(stream):
            while shown is not None and taken / FPS < frame.time:
                reformatter.reformat(shown, *size, "rgb24").to_ndarray()
                taken += 1
            shown = frame
    return taken


def ours(film: Path, size: tuple[int, int], *, fast: bool) -> int:
    """The same through clips, which come at their own size; the consumer resizes them, bilinear as in the floor."""
    taken = 0
    for item in open_source(film, options=Options(fast=fast)):
        if isinstance(item, Clip):
            for picture in item.frames:
                cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)
            taken += len(item.samples)
    return taken


def errors(film: Path, fps: int, *, fast: bool) -> list[float]:
    """How long before its instant each frame was presented, read out of the pixels, in seconds."""
    found = []
    for item in open_source(film, options=Options(fast=fast)):
        if isinstance(item, Clip):
            found += [
                item.start + place / FPS - read_number(picture) / fps
                for place, picture in zip(item.samples, item.frames, strict=True)
            ]
    return found


def panning(width: int, height: int) -> Callable[[int], np.ndarray]:
    """The test film with grain, seen by a camera that pans: the codec has as much to do as with a broadcast."""
    grain = np.random.default_rng(0).normal(0, 9, (height, width * 4, 3)).astype(np.int16)

    def draw(number: int) -> np.ndarray:
        picture = draw_frame(number, width=width, height=height).astype(np.int16)
        left = int(1.5 * width * (1 + math.sin(number / 150)))
        picture[height // 8 :] += grain[height // 8 :, left : left + width]
        return picture.clip(0, 255).astype(np.uint8)

    return draw


def loop(film: Path, times: int) -> Path:
    """The same film so many times in a row, without encoding it again."""
    long = film.with_stem(f"{film.stem}_x{times}")
    command = ["ffmpeg", "-v", "error", "-stream_loop", str(times - 1), "-i", film, "-c", "copy", long]
    subprocess.run(command, check=True)
    return long


def unreferenced(film: Path) -> float:
    """The share of frames that the fast option leaves out."""
    counts = []
    for skip in ("DEFAULT", "NONREF"):
        with av.open(str(film)) as container:
            container.streams.video[0].codec_context.skip_frame = skip
            counts.append(sum(1 for _ in container.decode(video=0)))
    return 1 - counts[1] / counts[0]


def processor() -> float:
    """Seconds of processor time that this process and those that it started and saw end have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(work: Callable[[], int]) -> tuple[float, float, int]:
    """Wall time, processor time, and what the work gives."""
    start, used = time.perf_counter(), processor()
    count = work()
    return time.perf_counter() - start, processor() - used, count


def beside(runs: list[tuple[str, float]], name: str) -> float:
    """The median of a name's runs, each over the mean of the floor's runs just before and after it."""
    ratios = []
    for place, (each, took) in enumerate(runs):
        if each == name:
            ratios.append(2 * took / (runs[place - 1][1] + runs[place + 1][1]))
    return statistics.median(ratios)


def measure(size: tuple[int, int], seconds: float, rounds: int, folder: Path) -> Iterator[tuple[str, float]]:
    width, height = size
    short = folder / f"film_{height}p.mkv"
    # Three B-frames between others, as films are that a broadcaster or an archive encodes.
    options = {"preset": "medium", "crf": "23", "g": "250", "bf": "3", "b_strategy": "0"}
    options["x264-params"] = "sliced-threads=0"
    make_video(short, seconds=60, width=width, height=height, draw=panning(width, height), options=options)
    film = loop(short, math.ceil(seconds / 60))
    seconds = 60.0 * math.ceil(seconds / 60)
    model = MODEL_SIZE[size]
    floor = ("floor", lambda: bare(film, model))
    wall, cpu, counts = [], [], set()
    for name, work in [
        floor,
        *[
            turn
            for _ in range(rounds)
            for turn in (
                ("ours", lambda: ours(film, model, fast=False)),
                floor,
                ("fast", lambda: ours(film, model, fast=True)),
                floor,
            )
        ],
    ]:
        took, used, count = timed(work)
        wall.append((name, took))
        cpu.append((name, used))
        counts.add(count)
    if max(counts) - min(counts) > 1:  # the floor leaves the very last instant out
        sys.exit(f"not the same frames: {sorted(counts)}")
    yield "nonref", unreferenced(short)
    yield "ratio", beside(wall, "ours")
    yield "ratio_fast", beside(wall, "fast")
    yield "cpu_ratio", beside(cpu, "ours")
    yield "cpu_ratio_fast", beside(cpu, "fast")
    for label, name in (("rtf", "ours"), ("rtf_fast", "fast"), ("rtf_floor", "floor")):
        yield label, statistics.median(took for each, took in wall if each == name) / seconds
    for name, fast in (("age", False), ("age_fast", True)):
        ages = errors(short, 25, fast=fast)
        yield f"{name}_mean_ms", 1000 * statistics.fmean(ages)
        yield f"{name}_max_ms", 1000 * max(ages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="record the figures in docs/results/clips.json")
    given = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in MODEL_SIZE:
            name = f"{size[0]}x{size[1]}"
            seconds = given.minutes * 60 / (1 if size[1] < 400 else 6)
            measured = measure(size, seconds, given.rounds, Path(folder))
            figures[name] = {"film_seconds": seconds, **{key: round(value, 4) for key, value in measured}}
            print(name, json.dumps(figures[name], indent=2))
    if given.write:
        sys.path.insert(0, str(RESULTS))
        from results import record

        record("clips", figures, "python benchmarks/clips.py --write")


if __name__ == "__main__":
    main()

"""What the simulated broadcast costs on one core: a frame by part, clips a second, a film.

    python benchmarks/league_camera.py [--minutes 10] [--film-seconds 120] [--size 398x224] [--write]

Times are seconds of processor, so that neighbours on the machine matter less; `unit` is what one fixed-point warp of
a picture of this size costs in the same run, and `frame_units` is a frame measured with it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from streamsoccer.league import broadcast as on_air
from streamsoccer.league import graphics, lens, paint, people
from streamsoccer.league.broadcast import Broadcast
from streamsoccer.league.film import encode
from streamsoccer.league.match import Match
from streamsoccer.league.truth import HZ

RESULTS = Path(__file__).resolve().parents[1] / "tests"
PARTS: tuple[tuple[str, Any, str], ...] = (
    ("panorama", lens.Warp, "view"),
    ("people_and_shadows", people.People, "paint"),
    ("grain", paint.Painter, "grain"),
    ("scene", on_air.Broadcast, "_scenes"),
    ("overlay", graphics.Overlay, "draw"),
)


def cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def unit(size: tuple[int, int]) -> float:
    """The least that one warp of a picture of this size took."""
    width, height = size
    picture = np.zeros((height * 3, width * 3, 3), dtype=np.uint8)
    x = np.linspace(9, 2 * width, width, dtype=np.float32)[None] + np.zeros((height, 1), dtype=np.float32)
    y = np.linspace(9, 2 * height, height, dtype=np.float32)[:, None] + np.zeros((1, width), dtype=np.float32)
    whole, part = cv2.convertMaps(x, y, cv2.CV_16SC2)
    return min(cpu(lambda: cv2.remap(picture, whole, part, cv2.INTER_LINEAR)) for _ in range(300))


def by_kind(broadcast: Broadcast, half: int, count: int) -> dict[str, float]:
    """Milliseconds a frame, by the kind of shot that is on, and over all."""
    took: dict[str, list[float]] = defaultdict(list)
    seconds = broadcast.halves[half].trace.seconds
    for number in range(count):
        at = round(seconds * number / count, 2)
        kind = broadcast.halves[half].direction.shot(max(0.0, at * HZ - 1)).kind.value
        took[kind].append(cpu(lambda at=at: broadcast.frame(half, at)))
    figures = {f"frame_ms_{kind}": 1000 * statistics.fmean(each) for kind, each in took.items()}
    return {**figures, "frame_ms": 1000 * statistics.fmean(itertools.chain(*took.values()))}


def by_part(broadcast: Broadcast, half: int, count: int) -> dict[str, float]:
    """Milliseconds a frame that each part takes."""
    spent: dict[str, float] = defaultdict(float)
    kept = [(owner, name, getattr(owner, name)) for _, owner, name in PARTS]

    def timed(label: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return work(*given, **named)
            finally:
                spent[label] += time.process_time() - start

        return run

    for (label, owner, name), (_, _, work) in zip(PARTS, kept, strict=True):
        setattr(owner, name, timed(label, work))
    try:
        for number in range(count):
            broadcast.frame(half, round(broadcast.halves[half].trace.seconds * number / count, 2))
    finally:
        for owner, name, work in kept:
            setattr(owner, name, work)
    return {f"part_ms_{label}": 1000 * total / count for label, total in spent.items()}


def clips(seed: int, minutes: float, size: tuple[int, int]) -> dict[str, float]:
    """Clips a second of processor from the seed on, simulation and first panoramas included, and without them."""
    match = Match(seed, minutes=minutes)
    play = cpu(lambda: match.halves)
    count = 0

    def run() -> None:
        nonlocal count
        count = sum(1 for _ in match.clips(size))

    camera = cpu(run)
    return {
        "clips": count,
        "clips_a_second": count / (play + camera),
        "clips_a_second_camera_alone": count / camera,
        "simulation_ms_a_clip": 1000 * play / count,
    }


def film(broadcast: Broadcast, size: tuple[int, int], seconds: float) -> dict[str, float]:
    """Milliseconds a frame of a film at 25 frames a second, and processor minutes for a half of 45."""
    count = int(seconds * 25)
    drawn = 0.0

    def frames() -> Iterator[np.ndarray]:
        nonlocal drawn
        for number in range(count):
            start = time.process_time()
            picture = broadcast.frame(1, number / 25)
            drawn += time.process_time() - start
            yield picture

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mkv"
        whole = cpu(lambda: encode(path, frames(), size=size, fps=25))
        rate = path.stat().st_size * 8 / seconds / 1000
    return {
        "film_ms_a_frame": 1000 * whole / count,
        "film_ms_drawing": 1000 * drawn / count,
        "film_ms_encoding": 1000 * (whole - drawn) / count,
        "film_minutes_for_a_half": whole / count * 67_500 / 60,
        "film_kbit_s": rate,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--film-seconds", type=float, default=120)
    parser.add_argument("--size", default="398x224")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="record the figures in docs/results/league_camera.json")
    given = parser.parse_args()
    width, height = (int(part) for part in given.size.split("x"))
    size = (width, height)
    match = Match(given.seed, minutes=given.minutes)
    figures: dict[str, float] = {}
    broadcast = Broadcast(match.fixture, match.halves, size)
    figures["first_frame_ms"] = 1000 * cpu(lambda: broadcast.frame(1, 3.0))
    by_kind(broadcast, 1, 300)  # every camera has been used once
    figures |= by_kind(broadcast, 1, 1500) | by_part(broadcast, 1, 500)
    figures["unit_ms"] = 1000 * unit(size)
    figures["frame_units"] = figures["frame_ms"] / figures["unit_ms"]
    if find_spec("av"):  # a machine for training has none
        figures |= film(broadcast, size, min(given.film_seconds, given.minutes * 60))
    figures |= clips(given.seed + 1, given.minutes, size)
    figures = {name: round(value, 3) for name, value in figures.items()}
    print(json.dumps(figures, indent=2))
    if given.write:
        sys.path.insert(0, str(RESULTS))
        from results import record

        command = f"python benchmarks/league_camera.py --minutes {given.minutes:g} --size {given.size} --write"
        record("league_camera", figures, command)


if __name__ == "__main__":
    main()

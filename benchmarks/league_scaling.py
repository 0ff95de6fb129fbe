"""How clips of the simulated league scale over processes side by side, and what holds them back.

    python benchmarks/league_scaling.py [--processes 1,2] [--seconds 2] [--size 384x224] [--write]

Every process draws clips of a match of its own and packs them as JPEGs, as `league make --clips` does. Beside it each
measures three plain things alone: a warp of one picture (bytes and integers), a Python loop, and a copy of 64 MB
(memory). Where clips slow down as much as the Python loop does, processes share cores; where they slow down as much as
the copy does, they share memory. Everything is by the clock on the wall, so the machine should do nothing else.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from streamsoccer.league.broadcast import Broadcast
from streamsoccer.league.match import Match
from streamsoccer.sources.pack import PackWriter

TESTS = Path(__file__).resolve().parents[1] / "tests"


def rate(work: Callable[[], Any], seconds: float) -> float:
    """How often a second something gets done."""
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        count += 1
    return count / (time.perf_counter() - start)


def warp(size: tuple[int, int]) -> Callable[[], Any]:
    width, height = size
    picture = np.zeros((height * 3, width * 3, 3), dtype=np.uint8)
    x = np.linspace(9, 2 * width, width, dtype=np.float32)[None] + np.zeros((height, 1), dtype=np.float32)
    y = np.linspace(9, 2 * height, height, dtype=np.float32)[:, None] + np.zeros((1, width), dtype=np.float32)
    whole, part = cv2.convertMaps(x, y, cv2.CV_16SC2)
    return lambda: cv2.remap(picture, whole, part, cv2.INTER_LINEAR)


def loop() -> int:
    total = 0
    for number in range(20_000):
        total += number & 7
    return total


def work(place: int, size: tuple[int, int], seconds: float, ready: Any, answers: Any) -> None:
    """What one process does; all begin each part together."""
    match = Match(100 + place, minutes=10)
    broadcast = Broadcast(match.fixture, match.halves, size)
    for _ in broadcast.clips(1):  # every camera has been used once, most postures seen
        pass
    here, there = np.ones(2**26, dtype=np.uint8), np.zeros(2**26, dtype=np.uint8)
    probe = warp(size)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, PackWriter(Path(folder) / "1.clips", half=2, quality=75) as pack:
        clips = broadcast.clips(2)
        first = next(clips)
        pack.add(first)
        ready.wait()
        found["warps"] = rate(probe, 1.0)
        ready.wait()
        found["loops"] = rate(loop, 1.0)
        ready.wait()
        found["copies"] = rate(lambda: np.copyto(there, here), 1.0)
        ready.wait()
        start, cpu = time.perf_counter(), time.process_time()
        count, drawing = 0, 0.0
        while time.perf_counter() - start < seconds:
            begun = time.perf_counter()
            clip = next(clips, None)
            drawing += time.perf_counter() - begun
            if clip is None:
                break
            pack.add(clip)
            count += 1
        wall = time.perf_counter() - start
        found |= {"clips": count / wall, "drawn": count / drawing, "processor": (time.process_time() - cpu) / wall}
    answers.put(found)


def side_by_side(processes: int, size: tuple[int, int], seconds: float) -> dict[str, float]:
    """Means over the processes, a second and process."""
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(processes), context.Queue()
    crew = [context.Process(target=work, args=(each, size, seconds, ready, answers)) for each in range(processes)]
    for each in crew:
        each.start()
    found = [answers.get() for _ in crew]
    for each in crew:
        each.join()
    return {name: round(statistics.fmean(each[name] for each in found), 2) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="1,2")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--size", default="384x224")
    parser.add_argument("--write", action="store_true", help="record the figures in docs/results/league_scaling.json")
    given = parser.parse_args()
    width, height = (int(part) for part in given.size.split("x"))
    figures: dict[str, Any] = {}
    for count in (int(each) for each in given.processes.split(",")):
        figures[f"processes_{count}"] = side_by_side(count, (width, height), given.seconds)
        print(json.dumps({count: figures[f"processes_{count}"]}), flush=True)
    first, last = next(iter(figures.values())), list(figures.values())[-1]
    figures["last_of_first"] = {name: round(last[name] / first[name], 3) for name in first}
    print(json.dumps(figures["last_of_first"]))
    if given.write:
        sys.path.insert(0, str(TESTS))
        from results import record

        record("league_scaling", figures, f"python benchmarks/league_scaling.py --processes {given.processes} --write")


if __name__ == "__main__":
    main()

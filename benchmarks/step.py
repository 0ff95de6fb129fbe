"""What a step of a match costs over its floor: the visual encoder alone and the generation alone, of the same clips.

    python benchmarks/step.py [--model DIR] [--clips 60] [--rounds 5] [--matches 1] [--device cpu] [--write]

A match of a few minutes is run through `MatchStream.step`; what it asks of encoder and generator is kept, and asked of
them again by themselves, between two runs of the match. Each pair of rounds gives a ratio, of which the median counts.
On a CPU `cpu` is the same for the process's own time, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from streamsoccer.clip import FRAMES_PER_CLIP, Clip
from streamsoccer.commands import open_mind
from streamsoccer.language import Request
from streamsoccer.mind import Mind
from streamsoccer.runtime import RuntimeConfig
from streamsoccer.stream import MatchStream, step_together
from streamsoccer.testing.video import draw_frame

RESULTS = Path(__file__).resolve().parents[1] / "tests"


def clips(count: int, seed: int) -> list[Clip]:
    """Grain over a ball on a pitch, in scenes of three clips."""
    found = []
    for index in range(count):
        rng = np.random.default_rng([seed, index])
        tint = np.random.default_rng([seed, index // 3, 1]).integers(-60, 60, 3)
        pictures = []
        for place in range(FRAMES_PER_CLIP):
            picture = draw_frame(index * FRAMES_PER_CLIP + place, width=398, height=224).astype(np.int16)
            picture += rng.normal(0, 9, picture.shape).astype(np.int16) + tint.astype(np.int16)
            pictures.append(picture.clip(0, 255).astype(np.uint8))
        start = 4.0 * index
        found.append(
            Clip(
                half=1,
                index=index,
                start=start,
                end=start + 4,
                frames=np.stack(pictures),
                samples=tuple(range(FRAMES_PER_CLIP)),
                times=tuple(start + place / 2 for place in range(FRAMES_PER_CLIP)),
            )
        )
    return found


def timed(what: Callable[[], object], device: torch.device) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    wall, spent = time.perf_counter(), time.process_time()
    what()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - wall, time.process_time() - spent


def ours(mind: Mind, films: Sequence[Sequence[Clip]]) -> None:
    streams = [MatchStream(mind, f"m{place}") for place in range(len(films))]
    for items in zip(*films, strict=True):
        step_together(streams, items)
    step_together(streams, [None] * len(streams))


def asked(mind: Mind, films: Sequence[Sequence[Clip]]) -> tuple[list[list[np.ndarray]], list[list[Request]]]:
    """The pictures and the requests that a run brings to encoder and generator, batch by batch."""
    pictures: list[list[np.ndarray]] = []
    requests: list[list[Request]] = []
    encode, generate = mind.vision.encode, mind.pretrained.language.generate
    try:
        mind.vision.encode = lambda frames: (pictures.append(list(frames)), encode(frames))[1]  # type: ignore
        mind.pretrained.language.generate = lambda given: (requests.append(list(given)), generate(given))[1]  # type: ignore
        ours(mind, films)
    finally:
        mind.vision.encode, mind.pretrained.language.generate = encode, generate  # type: ignore[method-assign]
    return pictures, requests


def tower(mind: Mind, pictures: Sequence[Sequence[np.ndarray]]) -> None:
    with torch.inference_mode():
        for each in pictures:
            mind.vision.encode(each)


def generation(mind: Mind, requests: Sequence[Sequence[Request]]) -> None:
    for each in requests:
        mind.pretrained.language.generate(each)


def measure(mind: Mind, *, count: int, rounds: int, matches: int) -> dict[str, Any]:
    films = [clips(count, seed) for seed in range(matches)]
    pictures, requests = asked(mind, films)  # a first run, which also warms up
    rows = []
    for _ in range(rounds):
        before = timed(lambda: ours(mind, films), mind.device)
        eyes = timed(lambda: tower(mind, pictures), mind.device)
        mouth = timed(lambda: generation(mind, requests), mind.device)
        after = timed(lambda: ours(mind, films), mind.device)
        rows.append([(before, after), eyes, mouth])

    def ratio(kind: int) -> float:
        return statistics.median(
            (step[0][kind] + step[1][kind]) / 2 / (eyes[kind] + mouth[kind]) for step, eyes, mouth in rows
        )

    steps = count * matches
    found: dict[str, Any] = {
        "matches": matches,
        "clips_of_a_match": count,
        "texts": sum(map(len, requests)),
        "rounds": rounds,
        "device": torch.cuda.get_device_name() if mind.device.type == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "step_over_floor": round(ratio(0), 3),
        "milliseconds_a_clip": {
            "step": round(1000 * statistics.median(each[0] for row in rows for each in row[0]) / steps, 2),
            "tower_alone": round(1000 * statistics.median(row[1][0] for row in rows) / steps, 2),
            "generation_alone": round(1000 * statistics.median(row[2][0] for row in rows) / steps, 2),
        },
    }
    if mind.device.type == "cpu":
        found["step_over_floor_cpu"] = round(ratio(1), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--matches", type=int, default=1)
    parser.add_argument("--device", default="")
    parser.add_argument("--write", action="store_true", help="docs/results/step.json")
    given = parser.parse_args()
    mind = open_mind(given.model, given.device, RuntimeConfig())
    found = measure(mind, count=given.clips, rounds=given.rounds, matches=given.matches)
    found["model"] = mind.fingerprint[:12]
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    if given.write:
        sys.path.insert(0, str(RESULTS))
        from results import record

        record("step", found, f"python benchmarks/step.py --clips {given.clips} --rounds {given.rounds} --write")


if __name__ == "__main__":
    main()

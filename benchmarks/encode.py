"""What `streamsoccer encode` costs over its floor: pictures alone and tower alone, in the same run.

    PYTHONPATH=src python benchmarks/encode.py [--clips 150] [--rounds 3] [--8b] [--out docs/results/encode.json]

pictures   every picture decoded and brought to the encoder's size, and nothing else: of packs by as many threads as
           encode has, of videos by a bare PyAV loop
tower      the same clips as patches that lie on the device, in batches as large as encode's, and nothing else
Where the tower has a device of its own the floor is the longer of the two, on a CPU alone it is their sum. Each run of
ours stands between two of the floor and is held against their mean; of these ratios the median counts. `cpu_ratio` is
the same for processor time, which other work on the machine disturbs less: its floor is always the sum.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

from results import record  # noqa: E402
from streamsoccer.backbone import load_random, qwen3_vl_8b_config  # noqa: E402
from streamsoccer.clip import Clip  # noqa: E402
from streamsoccer.sources.encode import Encoded, HalfVideo, Hands, encode_halves, find_halves, header_for  # noqa: E402
from streamsoccer.sources.pack import Pack, PackWriter  # noqa: E402
from streamsoccer.testing.backbone import tiny_tokenizer  # noqa: E402
from streamsoccer.testing.video import draw_frame  # noqa: E402
from streamsoccer.training.captioner import BackboneShape  # noqa: E402
from streamsoccer.vision import VisionConfig, VisionEncoder, resize  # noqa: E402

CUDA = torch.cuda.is_available()
HALVES = 4


def made(name: str, large: bool) -> VisionEncoder:
    """The published tower, or the one of our own size, with random weights on the device."""
    tokenizer = tiny_tokenizer([])
    config = qwen3_vl_8b_config() if large else BackboneShape().config(len(tokenizer))
    backbone = load_random(config, tokenizer, device="cuda" if CUDA else "cpu", dtype=name)
    return VisionEncoder(backbone, VisionConfig())


def write_packs(root: Path, clips: int) -> None:
    """Halves of a film with grain, at the encoder's size, as the league makes them for training."""
    random = np.random.default_rng(0)
    grain = random.normal(0, 9, (8, 224, 384, 3)).astype(np.int16)
    for half in range(HALVES):
        path = root / "l" / "s" / f"game {half // 2}" / f"{half % 2 + 1}_224p.clips"
        path.parent.mkdir(parents=True, exist_ok=True)
        with PackWriter(path, half=half % 2 + 1) as pack:
            for index in range(clips // HALVES):
                drawn = [draw_frame(8 * index + each, width=384, height=224, seconds=index / 9) for each in range(8)]
                frames = (np.stack(drawn).astype(np.int16) + np.roll(grain, 7 * index, axis=2)).clip(0, 255)
                pack.add(
                    Clip(
                        half=half % 2 + 1, index=index, start=4.0 * index, end=4.0 * index + 4,
                        frames=frames.astype(np.uint8), samples=tuple(range(8)),
                        times=tuple(4.0 * index + each / 2 for each in range(8)),
                    )
                )  # fmt: skip


def write_videos(root: Path, clips: int) -> None:
    """The same number of clips as H.264 at 25 frames a second."""
    from clips import panning
    from streamsoccer.testing.video import make_video

    for half in range(HALVES):
        path = root / "l" / "s" / f"game {half // 2}" / f"{half % 2 + 1}_224p.mkv"
        options = {"preset": "medium", "crf": "23", "g": "250", "bf": "3", "x264-params": "sliced-threads=0"}
        make_video(
            path, seconds=4.0 * (clips // HALVES), width=398, height=224, draw=panning(398, 224), options=options
        )


def pictures(halves: list[HalfVideo], workers: int) -> int:
    """Every clip's pictures as the encoder is given them."""
    size = VisionConfig()
    if halves[0].path.suffix != ".clips":
        from clips import bare

        return sum(bare(each.path, (size.width, size.height)) for each in halves) // 8
    with ThreadPoolExecutor(workers, initializer=lambda: torch.set_num_threads(1)) as pool:
        packs = [Pack(each.path) for each in halves]
        asked = [pool.submit(lambda pack, at: resize(pack[at].frames, size.width, size.height), pack, at)
                 for pack in packs for at in range(len(pack))]  # fmt: skip
        return sum(len(each.result()) // 8 for each in asked)


def tower(encoder: VisionEncoder, clips: int, batch: int) -> int:
    """So many clips whose patches are there already."""
    config = encoder.config
    frames = np.random.default_rng(0).integers(0, 256, (8, config.height, config.width, 3), dtype=np.uint8)
    with torch.inference_mode():
        patches = encoder.patches(resize(frames, config.width, config.height))
        if not CUDA:  # one by one, as encode does there
            batch = 1
        together = torch.cat([patches] * batch)
        for begin in range(0, clips, batch):
            encoder.see(together[: len(patches) * min(batch, clips - begin)])
        if CUDA:
            torch.cuda.synchronize()
    return clips


def processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(work: Callable[[], int]) -> tuple[float, float, int]:
    begun, used = time.perf_counter(), processor()
    count = work()
    return time.perf_counter() - begun, processor() - used, count


def measure(root: Path, encoder: VisionEncoder, hands: Hands, rounds: int, folder: Path) -> dict[str, Any]:
    """Floor, ours, floor, ours, ..., floor: each of ours into a cache of its own."""
    halves, without = find_halves(root)
    assert not without
    count = pictures(halves, hands.workers)
    tower(encoder, hands.batch, hands.batch)  # what the first call makes is not counted

    def ours(number: int) -> int:
        header = header_for(encoder, "random")
        done: Encoded = encode_halves(halves, folder / f"{root.name}-{number}", encoder, header, hands)
        if done.problems:
            sys.exit("; ".join(done.problems))
        return done.clips

    def floor() -> tuple[float, float, float, float]:
        seen, seen_cpu, many = timed(lambda: pictures(halves, hands.workers))
        if abs(many - count) > HALVES:
            sys.exit(f"not the same clips: {many} and {count}")
        looked, looked_cpu, _ = timed(lambda: tower(encoder, count, hands.batch))
        return seen, looked, max(seen, looked) if CUDA else seen + looked, seen_cpu + looked_cpu

    floors = [floor()]
    wall, cpu, took = [], [], []
    for number in range(rounds):
        seconds, used, clips = timed(lambda number=number: ours(number))
        if abs(clips - count) > HALVES:  # the bare loop leaves the very last instant of a film out
            sys.exit(f"not the same clips: {clips} and {count}")
        floors.append(floor())
        before, after = floors[-2:]
        wall.append(2 * seconds / (before[2] + after[2]))
        cpu.append(2 * used / (before[3] + after[3]))
        took.append(seconds)
    middle = [statistics.median(each[place] for each in floors) for place in range(4)]
    return {
        "clips": count,
        "ratio": round(statistics.median(wall), 3),
        "cpu_ratio": round(statistics.median(cpu), 3),
        "clips_a_second": round(count / statistics.median(took), 2),
        "pictures_clips_a_second": round(count / middle[0], 2),
        "tower_clips_a_second": round(count / middle[1], 2),
        "floor": "the longer of pictures and tower" if CUDA else "pictures and tower",
        "ratios": [round(each, 3) for each in wall],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--8b", dest="large", action="store_true", help="the published tower; for a GPU")
    parser.add_argument("--batch", type=int, default=32 if CUDA else 4)
    parser.add_argument("--workers", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, help="the JSON file that gets the figures")
    given = parser.parse_args()
    hands = Hands(batch=given.batch, workers=given.workers, lanes=max(1, min(8, given.workers)))
    encoder = made("bfloat16" if CUDA else "float32", given.large)
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if CUDA else "cpu",
        "tower": "8B" if given.large else "mini",
        "batch": hands.batch,
        "workers": hands.workers,
        "torch": torch.__version__,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, write in (("packs", write_packs), ("videos", write_videos)):
            try:
                write(folder / kind, given.clips)
            except ImportError as error:
                print(f"{kind}: not measured, {error}")
                continue
            figures[kind] = measure(folder / kind, encoder, hands, given.rounds, folder)
            print(kind, json.dumps(figures[kind]), flush=True)
    if given.out is not None:
        command = "PYTHONPATH=src python benchmarks/encode.py " + " ".join(sys.argv[1:])
        record(given.out.stem, figures, command, folder=given.out.parent)


if __name__ == "__main__":
    main()

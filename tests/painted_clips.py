"""Packs of painted clips whose captions can be read off the pictures, and text to go with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from small_corpus import write_corpus
from streamsoccer.clip import Clip
from streamsoccer.data.pipeline import build
from streamsoccer.sources.pack import PackWriter

COLOURS = {"red": (220, 30, 30), "blue": (30, 40, 220), "white": (240, 240, 240), "black": (15, 15, 15)}
PLACES = {"left": 0, "right": 1}
TIMES = {"stays": 0, "comes late": 4}


def paint(
    colour: str, place: str, time: str, random: np.random.Generator, size: tuple[int, int]
) -> tuple[np.ndarray, list[int]]:
    """Eight frames of a green pitch; a square is seen in one half of it, from the start or in the last four alone.

    With them the square's sides, in thousandths of the picture."""
    width, height = size
    frames = np.empty((8, height, width, 3), np.uint8)
    frames[:] = (40, 130, 50)
    side = height // 3
    left = int(random.integers(width // 2 - side)) + PLACES[place] * (width // 2)
    top = int(random.integers(height - side))
    frames[TIMES[time] :, top : top + side, left : left + side] = COLOURS[colour]
    noise = random.integers(-8, 9, frames.shape)
    box = [1000 * left // width, 1000 * top // height, 1000 * (left + side) // width, 1000 * (top + side) // height]
    return np.clip(frames.astype(int) + noise, 0, 255).astype(np.uint8), box


def write_painted(root: Path, games: int, clips: int, *, seed: int = 0, size: tuple[int, int] = (96, 64)) -> None:
    """Games of one half in SoccerNet's layout, each with its pack, its captions and its boxes: blue is away."""
    random = np.random.default_rng(seed)
    for game in range(games):
        folder = root / "painted" / "2020-2021" / f"2020-10-{game + 1:02d} - 20-00 Northtown 0 - 0 Southport"
        folder.mkdir(parents=True)
        rows, boxes = [], []
        with PackWriter(folder / "1_224p.clips", half=1, quality=95) as pack:
            for index in range(clips):
                colour, place, time = (str(random.choice(list(each))) for each in (COLOURS, PLACES, TIMES))
                frames, box = paint(colour, place, time, random, size)
                who = int(colour == "blue")
                boxes += [(index, frame, who, int(frame == 7), *box) for frame in range(TIMES[time], 8)]
                start = 4.0 * index
                times = tuple(start + 0.5 * each for each in range(8))
                samples = tuple(range(8))
                pack.add(
                    Clip(half=1, index=index, start=start, end=start + 4, frames=frames, samples=samples, times=times)
                )
                rows.append({"index": index, "text": f"[HOME PLAYER] in {colour} on the {place} {time}."})
        marked = [(index, frame) for index in range(clips) for frame in range(8)]
        np.savez_compressed(
            folder / "1_clip-boxes.npz", frames=np.array(marked, np.int16), boxes=np.array(boxes, np.int16)
        )
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        (folder / "1_clip-captions.jsonl").write_text(lines, encoding="utf-8")


def write_text(root: Path, out: Path) -> Path:
    """A build of small matches, for the words."""
    write_corpus(root, matches=4, captioned=4)
    build(root, out)
    return out

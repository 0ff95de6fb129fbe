"""Clips with captions for pre-training: packs and captions in a folder that may still grow, and a store of frames.

    <game>/1_224p.clips                 a half's clips (sources/pack.py)
    <game>/1_clip-captions.jsonl        {"index": 0, "text": "..."}, one for each clip that has words
    <game>/1_clip-boxes.npz             who is where in the picture (finding.py), if somebody has marked it

Decoding a clip takes a processor as long as a GPU takes to learn from it several times, so frames are decoded once into
a store beside the weights and drawn from it again and again, while threads read on and replace the oldest. Frames lie
there in runs of four consecutive clips, so that a row may hold up to four of them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.clip import FRAMES_PER_CLIP
from streamsoccer.errors import DataError
from streamsoccer.sources.pack import SUFFIX, Pack
from streamsoccer.training.finding import MOST, Boxes
from streamsoccer.training.foundation import upload

__all__ = ["RUN", "CaptionedHalf", "FrameStore", "Library", "ReadRun", "captioned_halves", "read_run"]

RUN = 4  # consecutive clips that stay together
CAPTIONS = "{half}_clip-captions.jsonl"
BOXES = "{half}_clip-boxes.npz"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CaptionedHalf:
    """A half's pack, the caption of each place in it, and where everybody is."""

    pack: Pack
    captions: tuple[str, ...]
    runs: tuple[int, ...]  # places where a run of whole, captioned, consecutive clips begins
    skipped: int  # clips that are in no run
    boxes: Boxes | None = None

    @classmethod
    def read(cls, path: Path) -> CaptionedHalf:
        pack = Pack(path)
        beside = path.parent / CAPTIONS.format(half=pack.half)
        captions: dict[int, str] = {}
        try:
            for line in beside.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                captions[int(row["index"])] = " ".join(str(row["text"]).split())
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", where=beside) from error
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"a line after {len(captions)} captions is none: {error!r}", where=beside) from error
        good = [len(row.samples) == FRAMES_PER_CLIP and bool(captions.get(row.index)) for row in pack.rows]
        runs, place = [], 0
        while place + RUN <= len(good):
            rows = pack.rows[place : place + RUN]
            whole = all(good[place : place + RUN]) and rows[-1].index - rows[0].index == RUN - 1
            if whole:
                runs.append(place)
            place += RUN if whole else 1
        return cls(
            pack=pack,
            captions=tuple(captions.get(row.index, "") for row in pack.rows),
            runs=tuple(runs),
            skipped=len(pack.rows) - RUN * len(runs),
            boxes=Boxes.read(marks) if (marks := path.parent / BOXES.format(half=pack.half)).is_file() else None,
        )


def captioned_halves(root: Path, known: Sequence[Path] = ()) -> list[CaptionedHalf]:
    """The halves under a folder that have both files, but for those that are known; a game's folder comes whole."""
    seen = set(known)
    found = [path for path in sorted(root.rglob(f"*{SUFFIX}")) if path not in seen]
    # A folder whose name begins with a point is still being written.
    found = [path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts)]
    return [CaptionedHalf.read(path) for path in found]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReadRun:
    """A run of decoded clips [RUN, T, H, W, 3], the tokens of their captions, and who is where [RUN, T, MOST, 6]."""

    frames: Tensor
    words: tuple[tuple[int, ...], ...]
    boxes: NDArray[np.int16] | None = None


@dataclass(kw_only=True, slots=True, eq=False)
class Library:
    """The runs of all halves under some folders in an order that the seed gives, pass after pass, decoded ahead by
    threads.

    With `grows`, the folders are looked at again now and then, and what is new is mixed into what is left of the pass;
    then the order depends on when a half appeared. Without, it is a function of the seed alone.
    """

    roots: Sequence[Path]
    encode: Callable[[str], tuple[int, ...]]
    seed: int
    workers: int = 2
    ahead: int = 64
    grows: bool = False
    pinned: bool = False
    halves: list[CaptionedHalf] = field(default_factory=list)
    passes: int = 0
    _queue: deque[tuple[int, int]] = field(default_factory=deque)
    _waiting: deque[Future[ReadRun]] = field(default_factory=deque)
    _threads: ThreadPoolExecutor | None = None
    _taken: int = 0

    def __enter__(self) -> Library:
        self._threads = ThreadPoolExecutor(self.workers)
        self.look()
        return self

    def __exit__(self, *_: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    @property
    def clips(self) -> int:
        return RUN * sum(len(each.runs) for each in self.halves)

    def look(self) -> int:
        """Look at the folders; how many halves are new."""
        known = [each.pack.path for each in self.halves]
        more = [half for root in self.roots for half in captioned_halves(root, known)]
        runs = [(len(self.halves) + number, run) for number, half in enumerate(more) for run in half.runs]
        self.halves += more
        if runs and self.passes:
            self._queue = deque(self._mixed([*self._queue, *runs]))
        return len(more)

    def take(self, most: int, *, wait: bool) -> list[ReadRun]:
        """Up to `most` runs: all of them where it may wait, those that are decoded by now where it may not."""
        self._ask(most)
        ready: list[ReadRun] = []
        while self._waiting and len(ready) < most and (wait or self._waiting[0].done()):
            ready.append(self._waiting.popleft().result())
            self._ask(most - len(ready))
        self._taken += len(ready)
        return ready

    def skip(self, count: int) -> None:
        """Pass over runs that an earlier leg has taken."""
        for _ in range(count):
            self._next()
        self._taken += count

    def _ask(self, most: int) -> None:
        assert self._threads is not None
        while len(self._waiting) < max(self.ahead, most) and (following := self._next()) is not None:
            self._waiting.append(self._threads.submit(self._read, *following))

    def _next(self) -> tuple[int, int] | None:
        if not self._queue:
            self.passes += 1
            runs = [(number, run) for number, half in enumerate(self.halves) for run in half.runs]
            self._queue.extend(self._mixed(runs))
        return self._queue.popleft() if self._queue else None

    def _mixed(self, runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        order = np.random.default_rng([self.seed, self.passes, len(self.halves)]).permutation(len(runs))
        return [runs[index] for index in order]

    def _read(self, number: int, run: int) -> ReadRun:
        return read_run(self.halves[number], run, self.encode, pinned=self.pinned)


def read_run(
    half: CaptionedHalf, run: int, encode: Callable[[str], tuple[int, ...]], *, pinned: bool = False
) -> ReadRun:
    """Decode the four clips of a run."""
    first = torch.from_numpy(half.pack[run].frames)
    frames = torch.empty((RUN, *first.shape), dtype=torch.uint8, pin_memory=pinned)
    frames[0] = first
    for place in range(1, RUN):
        frames[place] = torch.from_numpy(half.pack[run + place].frames)
    words = tuple(encode(half.captions[run + place]) for place in range(RUN))
    boxes = None
    if half.boxes is not None:
        boxes = np.stack([half.boxes.of(half.pack.rows[run + place].index) for place in range(RUN)])
    return ReadRun(frames=frames, words=words, boxes=boxes)


class FrameStore:
    """Decoded clips in the size that the model sees, beside the weights: uint8 [clips, T, 3, H, W] in runs of four."""

    def __init__(self, clips: int, width: int, height: int, words: int, device: torch.device) -> None:
        self.runs = max(1, clips // RUN)
        self.width, self.height, self.device = width, height, device
        shape = (self.runs * RUN, FRAMES_PER_CLIP, 3, height, width)
        self.frames = torch.empty(shape, dtype=torch.uint8, device=device)
        self.boxes = torch.full((self.runs * RUN, FRAMES_PER_CLIP, MOST, 6), -2, dtype=torch.int16, device=device)
        self.words: NDArray[np.int64] = np.full((self.runs * RUN, words), -100, dtype=np.int64)
        self.lengths = np.zeros(self.runs * RUN, dtype=np.int64)
        self.filled = 0  # runs that hold something
        self.cut = 0  # captions that were longer than there is room for
        self._next = 0

    def put(self, read: ReadRun) -> None:
        """A run, in place of the oldest."""
        begin = self._next * RUN
        frames = read.frames.to(self.device, non_blocking=True).permute(0, 1, 4, 2, 3)
        if frames.shape[-2:] != (self.height, self.width):
            size = (self.height, self.width)
            images = frames.flatten(0, 1).float()
            images = F.interpolate(images, size=size, mode="bicubic", antialias=True).round().clamp(0, 255)
            frames = images.view(RUN, FRAMES_PER_CLIP, *images.shape[1:])
        self.frames[begin : begin + RUN] = frames  # to uint8 where it is not
        self.boxes[begin : begin + RUN] = -2 if read.boxes is None else upload(read.boxes, self.device)
        room = self.words.shape[1]
        for place, words in enumerate(read.words, begin):
            self.cut += len(words) > room
            kept = (*words[: room - 1], words[-1]) if len(words) > room else words  # the end of the turn stays
            self.words[place] = -100
            self.words[place, : len(kept)] = kept
            self.lengths[place] = len(kept)
        self._next = (self._next + 1) % self.runs
        self.filled = max(self.filled, self._next or self.runs)

    def draw(self, rows: int, clips: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Places [rows, clips] of clips that follow each other, each clip alone at most once while there are enough."""
        if clips > 1:
            runs = random.choice(self.filled, rows, replace=rows > self.filled)
            first = runs * RUN + random.integers(RUN - clips + 1, size=rows)
        else:
            first = random.choice(self.filled * RUN, rows, replace=rows > self.filled * RUN)
        return np.asarray(first[:, None] + np.arange(clips), dtype=np.int64)

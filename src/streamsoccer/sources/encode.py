"""Every half of every match under a folder through the frozen visual encoder, into a token cache.

Several halves are open at a time, each in a lane: a pool of threads decodes its clips and brings them to the encoder's
size; batches are filled from all lanes in turn, so that no half's end leaves the device half empty; a thread of its own
writes each lane's tokens while the next batch is computed. What stands there already is not computed again. A half that
cannot be read is named and the others go on; a disk that is full ends the run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from streamsoccer.clip import FRAMES_PER_CLIP, Clip, Gap
from streamsoccer.clock import Clock, WallClock
from streamsoccer.errors import DataError, SourceError, StreamSoccerError, UsageError
from streamsoccer.sources.file import FileSource
from streamsoccer.sources.game import half_files
from streamsoccer.sources.pack import SUFFIX, Pack
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.shards import CacheWriter, HalfWriter, video_of
from streamsoccer.sources.source import Options
from streamsoccer.sources.tokens import CacheHeader, HalfIndex, Video
from streamsoccer.vision import VisionEncoder, resize

__all__ = ["Encoded", "HalfVideo", "Hands", "encode_halves", "find_halves", "header_for"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfVideo:
    """One half to be encoded: a video, or a pack of clips."""

    match: str
    half: int
    path: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Hands:
    """How many things are done at once."""

    batch: int = 32  # clips that the encoder is given
    workers: int = 4  # threads that decode and resize
    lanes: int = 4  # halves that are open
    verify: bool = False  # read again, and hash, what an earlier run left

    def __post_init__(self) -> None:
        for name in ("batch", "workers", "lanes"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")


@dataclass(kw_only=True, slots=True)
class Encoded:
    """What a run did: halves that it wrote, halves that stood there, clips that were computed, and what went wrong."""

    halves: int = 0
    written: int = 0
    stood: int = 0
    clips: int = 0
    kept: int = 0  # clips of begun halves whose shard was there
    missing: int = 0  # clips that a video lacks
    gaps: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """Clips a second."""
        return self.clips / self.seconds if self.seconds > 0 else 0.0

    def to_json(self) -> dict[str, Any]:
        names = ("halves", "written", "stood", "clips", "kept", "missing", "gaps", "problems", "notices")
        return {
            **{name: getattr(self, name) for name in names},
            "seconds": round(self.seconds, 2),
            "clips_a_second": round(self.speed, 2),
        }


def find_halves(root: Path, only: str = "") -> tuple[list[HalfVideo], list[str]]:
    """The halves of the games under league/season/game, sorted, and the games that have no video.

    `only` is a part of a match's name, or FROM:TO places in the sorted list of matches, for runs side by side.
    """
    if not root.is_dir():
        raise SourceError("no such folder", where=root, remedy="name the folder that holds league/season/game")
    games = sorted(each for each in root.glob("*/*/*") if each.is_dir() and not each.name.startswith("."))
    if not games:
        raise SourceError("no game here", where=root, remedy="expected league/season/game/1_224p.mkv under this folder")
    if span := re.fullmatch(r"(\d*):(\d*)", only):
        games = games[slice(*(int(each) if each else None for each in span.groups()))]
    elif only:
        games = [each for each in games if only in each.relative_to(root).as_posix()]
    if not games:
        raise UsageError(f"no match under {root} is meant by --matches {only}", remedy="a part of a name, or FROM:TO")
    halves, without = [], []
    for folder in games:
        match = folder.relative_to(root).as_posix()
        try:
            files = half_files(folder)
        except SourceError as error:
            without.append(str(error))
            continue
        halves += [HalfVideo(match=match, half=half, path=path) for half, path in files.items()]
    return halves, without


def header_for(encoder: VisionEncoder, path: str, dtype: str = "") -> CacheHeader:
    """What a cache of this encoder says of itself; tokens are kept in the backbone's dtype, or in another."""
    return CacheHeader(
        fingerprint=encoder.backbone.fingerprint,
        backbone=path,
        width=encoder.config.width,
        height=encoder.config.height,
        dtype=dtype or str(encoder.backbone.dtype).removeprefix("torch."),
        tokens=encoder.tokens(FRAMES_PER_CLIP),
        features=encoder.backbone.visual_width,
    )


def encode_halves(
    halves: Sequence[HalfVideo],
    out: Path,
    encoder: VisionEncoder,
    header: CacheHeader,
    hands: Hands,
    *,
    clips: Callable[[HalfVideo], int] = lambda half: 0,
    progress: Callable[[Encoded], None] = lambda so_far: None,
    clock: Clock | None = None,
) -> Encoded:
    """Fill the cache with what it lacks of these halves; `clips` says how many a half must have at least."""
    run = _Run(CacheWriter(out, header), encoder, hands, clips, progress, clock or WallClock())
    return run.over(halves)


class _Run:
    """One pass over the halves; the main thread feeds the encoder."""

    def __init__(
        self,
        writer: CacheWriter,
        encoder: VisionEncoder,
        hands: Hands,
        clips: Callable[[HalfVideo], int],
        progress: Callable[[Encoded], None],
        clock: Clock,
    ) -> None:
        self.writer, self.encoder, self.hands, self.clips = writer, encoder, hands, clips
        self.progress, self.clock = progress, clock
        self.done = Encoded()
        self.pool: ThreadPoolExecutor

    def over(self, halves: Sequence[HalfVideo]) -> Encoded:
        begun, threads = self.clock.now(), torch.get_num_threads()
        self.done.halves = len(halves)
        lanes: list[_Lane] = []
        with ExitStack() as held:
            held.callback(torch.set_num_threads, threads)
            # Clips are resized side by side, each by one thread.
            self.pool = held.enter_context(
                ThreadPoolExecutor(self.hands.workers, "decode", initializer=partial(torch.set_num_threads, 1))
            )
            held.callback(self.pool.shutdown, cancel_futures=True)
            held.callback(lambda: deque(map(_Lane.drop, lanes), maxlen=0))
            coming = self._coming(halves)
            while True:
                while len(lanes) < self.hands.lanes and (lane := next(coming, None)) is not None:
                    lanes.append(lane)
                if not lanes:
                    break
                self._encode(self._batch(lanes))
                for lane in [each for each in lanes if each.over]:
                    self._close(lane)
                    lanes.remove(lane)
                self.done.seconds = self.clock.now() - begun
                self.progress(self.done)
        return self.done

    def _coming(self, halves: Sequence[HalfVideo]) -> Iterator[_Lane]:
        """The halves that are not finished, each opened when a lane is free; videos are hashed some halves ahead."""
        waiting: deque[tuple[HalfVideo, Future[tuple[HalfIndex | None, Video]]]] = deque()
        rest = iter(halves)
        while True:
            while len(waiting) < self.hands.lanes and (half := next(rest, None)) is not None:
                waiting.append((half, self.pool.submit(self._look, half)))
            if not waiting:
                return
            half, looked = waiting.popleft()
            with _Told(half, self.done):
                finished, video = looked.result()
                if finished is None:
                    yield _Lane(half, video, self)
                else:
                    if finished.video is not None and finished.video.modified_ns != video.modified_ns:
                        self.writer.seen(finished, video)
                    self.done.stood += 1

    def _look(self, half: HalfVideo) -> tuple[HalfIndex | None, Video]:
        """What the cache has of a half if it is finished, and its video; one that is as it was is not hashed again."""
        index = self.writer.finished(half.match, half.half)
        if index is None or index.video is None or self.hands.verify:
            return None, video_of(half.path)
        try:
            now = half.path.stat()
        except OSError as error:
            raise SourceError(f"cannot be read ({error.strerror})", where=half.path) from error
        if (now.st_size, now.st_mtime_ns) == (index.video.bytes, index.video.modified_ns):
            return index, index.video
        video = video_of(half.path)
        return (index if index.video.same(video) else None), video

    def _batch(self, lanes: Sequence[_Lane]) -> list[tuple[_Lane, Clip]]:
        """The next clips of all lanes in turn, as many as a batch holds; what needs no encoder goes by."""
        batch: list[tuple[_Lane, Clip]] = []
        going = deque(lanes)
        while going and len(batch) < self.hands.batch:
            lane = going.popleft()
            with _Told(lane.half, self.done, lane):
                item = lane.next()
                if item is not None:
                    going.append(lane)
                if isinstance(item, Clip) and not lane.stands(item):
                    batch.append((lane, item))
                elif item is not None:
                    lane.pass_on(item)
        return batch

    def _encode(self, batch: Sequence[tuple[_Lane, Clip]]) -> None:
        if not batch:
            return
        try:
            tokens = self.encoder.encode([clip.frames for _, clip in batch])
        except torch.OutOfMemoryError as error:
            raise UsageError(
                f"the device has no memory for {len(batch)} clips at once", remedy=f"--batch {max(1, len(batch) // 2)}"
            ) from error
        for (lane, clip), mine in zip(batch, tokens, strict=True):
            with _Told(lane.half, self.done, lane):
                lane.write(clip, mine)
        self.done.clips += len(batch)

    def _close(self, lane: _Lane) -> None:
        """A half whose last clip was computed, or that could not be read to its end."""
        try:
            if not lane.broken:
                with _Told(lane.half, self.done, lane):
                    index = lane.finish(self.clips(lane.half))
                    self.done.written += 1
                    self.done.missing += len(index.missing)
                    self.done.gaps += len(index.gaps)
            self.done.notices += lane.notices
        finally:
            lane.drop()


class _Told:
    """A half's own problem is told with its name, and the others go on; a cache that cannot be written ends the run."""

    def __init__(self, half: HalfVideo, done: Encoded, lane: _Lane | None = None) -> None:
        self._half, self._done, self._lane = half, done, lane

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> bool:
        if not isinstance(error, StreamSoccerError):
            return False
        if isinstance(error, DataError) and isinstance(error.__cause__, OSError) and self._lane is not None:
            return False
        if self._lane is None or not self._lane.broken:
            self._done.problems.append(f"{self._half.match}, half {self._half.half}: {error}")
        if self._lane is not None:
            self._lane.broken = self._lane.over = True
        return True


class _Lane:
    """A half on its way: its clips come decoded and of the encoder's size, its tokens are written in their order."""

    def __init__(self, half: HalfVideo, video: Video, run: _Run) -> None:
        self.half, self._run = half, run
        self.broken = self.over = self._dropped = False
        self._told: list[str] = []
        config = run.encoder.config
        self._size = (config.width, config.height)
        self._ahead = max(2, 2 * run.hands.batch // run.hands.lanes)
        self._unwritten: deque[Future[None]] = deque()
        self._items = self._of_pack() if half.path.suffix == SUFFIX else self._of_video()
        self._writer: HalfWriter = run.writer.half(half.match, half.half, video, verify=run.hands.verify)
        self._writer.__enter__()
        self._pen = ThreadPoolExecutor(1, "write")

    @property
    def notices(self) -> list[str]:
        return [f"{self.half.match}, half {self.half.half}: {each}" for each in [*self._writer.notices, *self._told]]

    def stands(self, clip: Clip) -> bool:
        return self._writer.stands(clip.index)

    def next(self) -> Clip | Gap | None:
        """The next of its clips and gaps, with frames of the encoder's size; nothing after the last."""
        item = None if self.over else next(self._items, None)
        self.over = item is None
        return item

    def pass_on(self, item: Clip | Gap) -> None:
        """What is written without being computed: a gap, or a clip whose shard stands."""
        if isinstance(item, Gap):
            self._later(self._writer.gap, item)
        else:
            self._run.done.kept += 1
            self._later(self._writer.keep, item, self._run.encoder.tokens(len(item.samples)))

    def write(self, clip: Clip, tokens: Tensor) -> None:
        self._later(self._writer.add, replace(clip, frames=clip.frames[:0]), tokens)

    def finish(self, clips: int) -> HalfIndex:
        """Wait until all of it is written, and make it whole."""
        self._settle(0)
        return self._writer.finish(clips)

    def drop(self) -> None:
        """Let go of the half; shards that are whole stay."""
        if not self._dropped:
            self._dropped = self.over = True
            self._pen.shutdown(cancel_futures=True)
            self._writer.__exit__(None, None, None)
            self._items.close()

    def _later(self, work: Callable[..., None], *what: Any) -> None:
        self._unwritten.append(self._pen.submit(work, *what))
        self._settle(4 * self._run.hands.batch)

    def _settle(self, left: int) -> None:
        """Wait until no more than so many are unwritten; what failed fails here."""
        while len(self._unwritten) > left or (self._unwritten and self._unwritten[0].done()):
            self._unwritten.popleft().result()

    # --- reading

    def _of_pack(self) -> Generator[Clip | Gap]:
        pack = Pack(self.half.path)

        def read(place: int) -> Clip:
            return self._sized(pack[place])

        def asked() -> Iterator[Clip | Future[Clip]]:
            for place, row in enumerate(pack.rows):
                if not self._writer.stands(row.index):
                    yield self._run.pool.submit(read, place)
                    continue
                nothing = np.zeros((len(row.samples), 0, 0, 3), np.uint8)  # its pictures are not needed
                yield Clip(
                    half=pack.half, index=row.index, start=row.start, end=row.end, frames=nothing,
                    samples=row.samples, times=row.times,
                )  # fmt: skip

        return self._in_order(asked())

    def _of_video(self) -> Generator[Clip | Gap]:
        stretches = [Stretch(half=self.half.half, start=0.0)]
        options = Options(tell=lambda notice: self._told.append(notice.text))

        def asked() -> Iterator[Clip | Gap | Future[Clip]]:
            for item in FileSource(self.half.path, stretches=stretches, begin=0.0, options=options):
                if isinstance(item, Clip) and not self._writer.stands(item.index):
                    yield self._run.pool.submit(self._sized, item)
                else:
                    yield item

        return self._in_order(asked())

    def _in_order(self, asked: Iterator[Clip | Gap | Future[Clip]]) -> Generator[Clip | Gap]:
        """What was asked for as it is ready, some clips ahead; a failure comes after all that came before it."""
        waiting: deque[Clip | Gap | Future[Clip]] = deque()
        failed: SourceError | None = None
        while True:
            try:
                while failed is None and len(waiting) < self._ahead:
                    waiting.append(next(asked))
            except StopIteration:
                pass
            except SourceError as error:
                failed = error
            if not waiting:
                break
            item = waiting.popleft()
            yield item.result() if isinstance(item, Future) else item
        if failed is not None:
            raise failed

    def _sized(self, clip: Clip) -> Clip:
        """As the encoder will see it: a resize by the encoder itself then changes nothing."""
        return replace(clip, frames=resize(clip.frames, *self._size).permute(0, 2, 3, 1).numpy())

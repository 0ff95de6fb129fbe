"""Writing a token cache: shards beside their place first, half.json last, so that a kill loses one shard at most."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from streamsoccer.clip import CLIP_SECONDS, Clip, Gap
from streamsoccer.config import from_mapping, to_mapping
from streamsoccer.errors import DataError, UsageError
from streamsoccer.sources.shard_file import PART, ShardFile, sync
from streamsoccer.sources.tokens import (
    CACHE,
    DTYPES,
    HALF,
    CacheHeader,
    GapRow,
    HalfIndex,
    ShardRow,
    Video,
    half_folder,
    hash_file,
    read_header,
    read_index,
    shard_name,
    shard_note,
)

__all__ = ["CacheWriter", "HalfWriter", "video_of"]

BEGUN = "begun.json"  # of which video the shards of an unfinished half are


def video_of(path: Path) -> Video:
    """A video by its size and hash."""
    try:
        before = path.stat()
        return Video(name=path.name, bytes=before.st_size, sha256=hash_file(path), modified_ns=before.st_mtime_ns)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", where=path) from error


class CacheWriter:
    """A folder that holds the tokens of one backbone at one size; several processes may write halves of it at once."""

    def __init__(self, folder: Path | str, header: CacheHeader) -> None:
        """Begin a cache, or go on with the one that is there: it must be of the same backbone, size and dtype."""
        self.folder = Path(folder)
        path = self.folder / CACHE
        with _explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if path.exists():
                there = read_header(self.folder)
                if told := there.differences(header):
                    raise UsageError(
                        f"another cache stands here: {told} (its backbone was {there.backbone})",
                        where=self.folder,
                        remedy="name another folder",
                    )
                header = there  # shards go on as they were cut
            elif any(not each.name.startswith(CACHE) for each in self.folder.iterdir()):
                raise UsageError(f"is not empty and holds no {CACHE}", where=self.folder, remedy="name an empty folder")
            else:
                _write_json(path, to_mapping(header))
        self.header = header

    def finished(self, match: str, half: int) -> HalfIndex | None:
        """What the half holds if it is finished and every shard is there at its size."""
        folder = half_folder(self.folder, match, half)
        if not (folder / HALF).exists():
            return None
        index = read_index(self.folder, self.header, match, half)
        there = all(_size(folder / row.name) == row.bytes for row in index.shards)
        return index if there else None

    def seen(self, index: HalfIndex, video: Video) -> None:
        """Remember that a finished half's video is the same though its date is not, to spare hashing it again."""
        path = half_folder(self.folder, index.match, index.half) / HALF
        with _explained(path):
            _write_json(path, to_mapping(index) | {"video": to_mapping(video)})

    def half(self, match: str, half: int, video: Video | None = None, *, verify: bool = False) -> HalfWriter:
        """A writer of one half, to be used in a `with`; `video` tells whose shards a later run may go on with."""
        return HalfWriter(self.folder, self.header, match, half, video, verify=verify)


class HalfWriter:
    """Takes the clips of a half in order and writes those shards that are not there yet.

    `stands(i)` says that clip i's shard is there already: then `keep` it, else `add` it; `gap` marks breaks, `finish`
    makes the half whole. `notices` tells what of an earlier run could not be used.
    """

    def __init__(
        self, folder: Path, header: CacheHeader, match: str, half: int, video: Video | None, *, verify: bool = False
    ) -> None:
        self.header, self.match, self.half, self.video = header, match, half, video
        self.folder = half_folder(folder, match, half)
        self.notices: list[str] = []
        self._root, self._verify, self._lock = folder, verify, -1
        self._standing: dict[int, list[int]] = {}  # lengths of the clips of the shards that are there
        self._open: ShardFile | None = None
        self._facts: list[tuple[float, float]] = []
        self._missing: list[int] = []
        self._incomplete: dict[str, int] = {}
        self._gaps: list[GapRow] = []

    def __enter__(self) -> HalfWriter:
        with _explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder, os.O_RDONLY)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._lock)
                remedy = "wait for it, or let each run have its own --matches"
                raise UsageError("another run is writing this half now", where=self.folder, remedy=remedy) from None
            try:
                self._take_up()
            except BaseException:
                os.close(self._lock)
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._open is not None:
            self._open.drop()
        os.close(self._lock)

    # --- clips

    def stands(self, index: int) -> bool:
        """Whether the shard of this clip is there from an earlier run."""
        return index // self.header.shard_clips in self._standing

    def keep(self, clip: Clip, length: int) -> None:
        """A clip of a shard that is there: it must have as many tokens as it had then."""
        self._note(clip)
        self._expect(clip.index, length)

    def add(self, clip: Clip, tokens: Tensor) -> None:
        """A clip with its tokens [N or fewer, d_v]."""
        if tokens.ndim != 2 or tokens.shape[1] != self.header.features or not 0 < len(tokens) <= self.header.tokens:
            raise self._problem(
                f"clip {clip.index} has tokens of shape {list(tokens.shape)}, a clip of this cache has at most "
                f"[{self.header.tokens}, {self.header.features}]"
            )
        row = tokens.detach().to(device="cpu", dtype=DTYPES[self.header.dtype]).contiguous()
        if not torch.isfinite(row).all():
            raise self._problem(
                f"clip {clip.index} has tokens that are not finite", "try --dtype bfloat16 or float32 into a new folder"
            )
        self._note(clip)
        self._put(row)

    def gap(self, gap: Gap) -> None:
        """A break of the stream; clips that it swallowed are those that do not come."""
        self._gaps.append(GapRow(start=gap.start, end=gap.end, reason=gap.reason.value, detail=gap.detail))

    def finish(self, clips: int = 0) -> HalfIndex:
        """Write the last shard and half.json; a half of more `clips` than came lacks the others, and says so."""
        self._skip_to(clips)
        if len(self._facts) == len(self._missing):
            raise self._problem("there is no clip", "check that the video plays")
        with _explained(self.folder):
            self._close()
            total = len(self._facts)
            count = -(-total // self.header.shard_clips)
            for place, lengths in self._standing.items():
                if place * self.header.shard_clips + len(lengths) > total:
                    raise self._other(place, f"holds clips that do not come any more: the half has {total}")
            index = HalfIndex(
                match=self.match,
                half=self.half,
                fingerprint=self.header.fingerprint,
                video=self.video,
                clips=total,
                starts=tuple(start for start, _ in self._facts),
                ends=tuple(end for _, end in self._facts),
                missing=tuple(self._missing),
                incomplete=self._incomplete,
                gaps=tuple(self._gaps),
                shards=tuple(self._shard_row(place) for place in range(count)),
            )
            _write_json(self.folder / HALF, to_mapping(index))
            (self.folder / BEGUN).unlink(missing_ok=True)
            sync(self.folder)
        return index

    def _note(self, clip: Clip) -> None:
        if clip.half != self.half:
            raise self._problem(f"clip {clip.index} is of half {clip.half}")
        if clip.index < len(self._facts):
            raise self._problem(f"clip {clip.index} comes after clip {len(self._facts) - 1}")
        self._skip_to(clip.index)
        self._facts.append((clip.start, clip.end))
        if not clip.complete:
            self._incomplete[str(clip.index)] = len(clip.samples)

    def _skip_to(self, index: int) -> None:
        """Clips that did not come have a row of no tokens, so that every other stands at its index."""
        for missing in range(len(self._facts), index):
            self._facts.append((missing * CLIP_SECONDS, (missing + 1) * CLIP_SECONDS))
            self._missing.append(missing)
            if self.stands(missing):
                self._expect(missing, 0)
            else:
                self._put(torch.empty(0, self.header.features, dtype=DTYPES[self.header.dtype]))

    def _expect(self, index: int, length: int) -> None:
        place, row = divmod(index, self.header.shard_clips)
        lengths = self._standing[place]
        if row >= len(lengths) or lengths[row] != length:
            had = f"{lengths[row]} tokens" if row < len(lengths) else "no place"
            raise self._other(place, f"has {had} for clip {index}, which now has {length}")

    # --- files

    def _put(self, rows: Tensor) -> None:
        """Write the row of the clip that was noted last."""
        place, row = divmod(len(self._facts) - 1, self.header.shard_clips)
        with _explained(self.folder):
            if row == 0:
                note = shard_note(self.match, self.half, place * self.header.shard_clips, self.header.fingerprint)
                self._open = ShardFile(self.folder / shard_name(place), self.header, note)
            assert self._open is not None
            self._open.add(rows)
            if row + 1 == self.header.shard_clips:
                self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _shard_row(self, place: int) -> ShardRow:
        path, first = self.folder / shard_name(place), place * self.header.shard_clips
        clips = min(self.header.shard_clips, len(self._facts) - first)
        if place in self._standing and len(self._standing[place]) != clips:
            raise self._other(place, f"holds {len(self._standing[place])} clips, not {clips}")
        return ShardRow(
            name=path.name, first=first, clips=clips, bytes=path.stat().st_size, sha256=hash_file(path)
        )  # fmt: skip

    def _take_up(self) -> None:
        """See what an earlier run left: shards of the same video that are whole stay, all else goes."""
        for part in self.folder.glob(f"*{PART}"):
            part.unlink()
        begun, half = self.folder / BEGUN, self.folder / HALF
        known: dict[str, ShardRow] = {}
        if half.exists():
            index = read_index(self._root, self.header, self.match, self.half)
            if not self._same(index.video):
                raise UsageError(
                    "was encoded from another video than the one that is there now",
                    where=self.folder,
                    remedy="put that video back, or delete this folder to encode the new one",
                )
            known = {row.name: row for row in index.shards}
        elif begun.exists() and not self._same(_read_begun(begun)):
            self.notices.append("the video is another one than in the run before: the half starts anew")
            for path in self.folder.glob("shard-*"):
                path.unlink()
        _write_json(begun, {"video": None if self.video is None else to_mapping(self.video)})
        for path in sorted(self.folder.glob("shard-*")):
            if (lengths := self._whole(path, known)) is None:
                self.notices.append(f"{path.name} is damaged: it is written again")
                path.unlink()
            else:
                self._standing[int(path.stem.partition("-")[2])] = lengths
        half.unlink(missing_ok=True)
        sync(self.folder)

    def _same(self, video: Video | None) -> bool:
        return video is self.video if self.video is None else self.video.same(video)

    def _whole(self, path: Path, known: Mapping[str, ShardRow]) -> list[int] | None:
        """The lengths that a shard of an earlier run tells, if it is one of this half and not damaged."""
        row = known.get(path.name)
        if row is not None and (path.stat().st_size != row.bytes or (self._verify and hash_file(path) != row.sha256)):
            return None
        try:
            place = int(path.stem.partition("-")[2])
            with safe_open(path, framework="pt") as file:
                note = json.loads((file.metadata() or {}).get("shard", "null"))
                clips, *shape = file.get_slice("tokens").get_shape()
                lengths: list[int] = file.get_tensor("lengths").tolist()
        except (SafetensorError, OSError, ValueError):
            return None
        first = place * self.header.shard_clips
        whole = (
            note == shard_note(self.match, self.half, first, self.header.fingerprint)
            and shape == [self.header.tokens, self.header.features]
            and len(lengths) == clips <= self.header.shard_clips
        )
        return lengths if whole else None

    def _problem(self, problem: str, remedy: str | None = None) -> DataError:
        return DataError(f"{self.match}, half {self.half}: {problem}", where=self.folder, remedy=remedy)

    def _other(self, place: int, problem: str) -> DataError:
        path = self.folder / shard_name(place)
        remedy = f"delete {self.folder} and run `streamsoccer encode` again"
        return DataError(f"{problem} ({self.match}, half {self.half})", where=path, remedy=remedy)


def _read_begun(path: Path) -> Video | None:
    try:
        data = json.loads(path.read_bytes())["video"]
        return None if data is None else from_mapping(Video, data, path)
    except (OSError, ValueError, KeyError, TypeError, UsageError) as error:
        raise DataError("cannot be read", where=path, remedy=f"delete {path.parent} and run again") from error


@contextmanager
def _explained(where: Path) -> Iterator[None]:
    """Tell of a full disk or a folder that may not be written in words."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "free some space and run the same command again: finished shards stay"
            raise DataError("the disk is full", where=where, remedy=remedy) from error
        raise DataError(f"cannot be written: {error.strerror or error}", where=error.filename or where) from error


def _write_json(path: Path, data: Any) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    with part.open("w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1

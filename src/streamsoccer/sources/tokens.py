"""V_t on the disk: the visual tokens of every clip of every half, in shards that are read clip by clip.

    cache.json                                        which backbone, picture size and dtype; written first
    <league>/<season>/<game>/<half>/half.json         what the half holds and each shard's hash; written last
    <league>/<season>/<game>/<half>/shard-00000.safetensors ...    clips in order, a missing clip at its place
        tokens  [n, N, d_v]   rows after a clip's own are zero
        lengths [n] int32     how many rows are the clip's own; 0 where there is no such clip
        checks  [n] int64     CRC-32 of each clip's rows and length, compared the first time the clip is read

A half without half.json is unfinished and is not read. `sources/shards.py` writes what is read here. Shapes: N tokens
of a whole clip, d_v features of a token, n clips of a shard.
"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from streamsoccer.config import from_mapping
from streamsoccer.errors import DataError, UsageError

__all__ = [
    "CACHE",
    "DTYPES",
    "HALF",
    "CacheHeader",
    "GapRow",
    "HalfIndex",
    "ShardRow",
    "TokenCache",
    "Video",
    "crc",
    "half_folder",
    "hash_file",
    "read_header",
    "read_index",
    "read_shard",
    "shard_name",
    "shard_note",
]

SCHEMA = "1"
CACHE, HALF = "cache.json", "half.json"
SHARD_BYTES = 2**30
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
AGAIN = "run `streamsoccer encode` again: what is missing is written, what is whole stays"
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheHeader:
    """cache.json: what all tokens of a cache have in common; two caches that differ here do not mix."""

    fingerprint: str  # of the backbone
    backbone: str  # where it was, for people
    width: int  # of the picture that the encoder sees
    height: int
    dtype: str
    tokens: int  # N
    features: int  # d_v
    shard_clips: int = 0  # how many clips a shard holds; by default as many as fit in 1 GiB
    schema: str = SCHEMA

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UsageError(f"there is no dtype {self.dtype!r}", remedy="use " + ", ".join(DTYPES))
        if min(self.width, self.height, self.tokens, self.features) < 1 or self.shard_clips < 0:
            raise UsageError("sizes of pictures and tokens start at 1")
        if not self.shard_clips:
            object.__setattr__(self, "shard_clips", self.clips_within(SHARD_BYTES))

    @property
    def clip_bytes(self) -> int:
        return self.tokens * self.features * DTYPES[self.dtype].itemsize

    def clips_within(self, size: int) -> int:
        """How many clips a shard of at most this many bytes holds."""
        return max(1, size // self.clip_bytes)

    def differences(self, other: CacheHeader) -> str:
        """What keeps the two from being one cache: not where the backbone lies, nor how shards are cut."""
        names = ("schema", "fingerprint", "width", "height", "dtype", "tokens", "features")
        pairs = [(name, getattr(self, name), getattr(other, name)) for name in names]
        return ", ".join(f"{name} {mine} there, {theirs} asked" for name, mine, theirs in pairs if mine != theirs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Video:
    """The video that a half was read from; the time of its last change spares hashing it again."""

    name: str
    bytes: int
    sha256: str
    modified_ns: int = 0

    def same(self, other: Video | None) -> bool:
        return other is not None and (self.bytes, self.sha256) == (other.bytes, other.sha256)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShardRow:
    """Clips first .. first + clips - 1 of a half, and the hash of the file that holds them."""

    name: str
    first: int
    clips: int
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GapRow:
    """A break of the stream, as its source marked it."""

    start: float
    end: float
    reason: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfIndex:
    """half.json: what a finished half holds."""

    match: str
    half: int
    fingerprint: str
    video: Video | None  # None where the clips did not come from a file
    clips: int  # missing ones too
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    missing: tuple[int, ...] = ()  # indices without a clip: their mask is all false
    incomplete: Mapping[str, int] = field(default_factory=dict)  # frames of the clips that have fewer than eight
    gaps: tuple[GapRow, ...] = ()
    shards: tuple[ShardRow, ...]
    schema: str = SCHEMA


class TokenCache:
    """Reads a cache: V_t of any run of clips of a half, and nothing in place of what is not there or not whole."""

    def __init__(self, folder: Path | str, *, fingerprint: str | None = None, open_shards: int = 64) -> None:
        """`fingerprint` is the backbone's that the tokens are for: a cache of another one is refused."""
        self.folder = Path(folder)
        self.header = read_header(self.folder)
        if fingerprint is not None and fingerprint != self.header.fingerprint:
            raise DataError(
                f"holds tokens of backbone {self.header.fingerprint} ({self.header.backbone}), not of {fingerprint}",
                where=self.folder / CACHE,
                remedy="encode the videos with this backbone into another folder, or train on the cache's backbone",
            )
        self._asked, self._open_shards = fingerprint, open_shards
        self._indices: dict[tuple[str, int], HalfIndex] = {}
        self._shards: OrderedDict[tuple[str, int, int], _Shard] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """A loader's worker gets a reader of its own: open files do not travel."""
        return _reopen, (self.folder, self._asked, self._open_shards)

    def matches(self) -> tuple[str, ...]:
        """The matches of which at least one half is finished, sorted."""
        found = {path.parents[1].relative_to(self.folder).as_posix() for path in self.folder.glob(f"*/*/*/*/{HALF}")}
        return tuple(sorted(found))

    def halves(self, match: str) -> tuple[int, ...]:
        """The finished halves of a match; none where the cache does not have it."""
        folder = half_folder(self.folder, match, 1).parent
        return tuple(sorted(int(path.parent.name) for path in folder.glob(f"*/{HALF}") if path.parent.name.isdigit()))

    def count(self, match: str, half: int) -> int:
        """How many clips the half has."""
        return self.index(match, half).clips

    def index(self, match: str, half: int) -> HalfIndex:
        """What half.json says; read once."""
        if (known := self._indices.get((match, half))) is None:
            known = self._indices[match, half] = read_index(self.folder, self.header, match, half)
        return known

    def tokens(self, match: str, half: int, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Tokens [count, N, d_v] of clips first .. first + count - 1, and the mask [count, N] of those that are real.

        Only these clips are read from the disk. The tensors are the caller's own.
        """
        index = self.index(match, half)
        if first < 0 or count < 0 or first + count > index.clips:
            raise DataError(
                f"{match}, half {half}: clip {first if first < 0 else first + count - 1} is not in the cache: "
                f"the half has clips 0 to {index.clips - 1}",
                where=half_folder(self.folder, match, half) / HALF,
                remedy="build the data with this video's durations, or encode the video that they are of",
            )
        header = self.header
        tokens = torch.empty(count, header.tokens, header.features, dtype=DTYPES[header.dtype])
        lengths = torch.empty(count, dtype=torch.int32)
        for place in range(first // header.shard_clips, -(-(first + count) // header.shard_clips) if count else 0):
            row = index.shards[place]
            start, stop = max(first, row.first), min(first + count, row.first + row.clips)
            span = slice(start - first, stop - first)
            # A copy: a slice of the file is a view of the whole mapping, and would drag it along wherever it is sent.
            with self._lock:
                shard = self._shard(index, place)
                shard.read(start - row.first, tokens[span])
            lengths[span] = shard.lengths[start - row.first : stop - row.first]
        return tokens, torch.arange(header.tokens) < lengths[:, None]

    def verify(self, match: str, half: int) -> None:
        """Read all of a half and compare every hash."""
        index = self.index(match, half)
        for row in index.shards:
            path = half_folder(self.folder, match, half) / row.name
            shard = read_shard(path, self.header, index, row)
            one = torch.empty(1, *shard.shape[1:], dtype=DTYPES[self.header.dtype])
            for clip in range(row.clips):  # first, because it can say which clip
                shard.read(clip, one)
            if hash_file(path) != row.sha256:
                raise _damaged(path, match, half, row, "is not what was written: its hash differs")

    def close(self) -> None:
        """Let go of the open shards; reading opens them again."""
        with self._lock:
            self._shards.clear()

    def _shard(self, index: HalfIndex, place: int) -> _Shard:
        key = (index.match, index.half, place)
        if (shard := self._shards.get(key)) is None:
            path = half_folder(self.folder, index.match, index.half) / index.shards[place].name
            shard = self._shards[key] = read_shard(path, self.header, index, index.shards[place])
            if len(self._shards) > self._open_shards:
                self._shards.popitem(last=False)
        self._shards.move_to_end(key)
        return shard


def _reopen(folder: Path, fingerprint: str | None, open_shards: int) -> TokenCache:
    return TokenCache(folder, fingerprint=fingerprint, open_shards=open_shards)


# --- files -----------------------------------------------------------------------------------------------------------


class _Shard:
    """An open shard: mapped into memory, so that reading a clip costs that clip."""

    def __init__(self, path: Path, match: str, half: int, row: ShardRow, note: Mapping[str, Any]) -> None:
        self.path, self.match, self.half, self.row = path, match, half, row
        try:
            with safe_open(path, framework="pt") as file:
                self.note = json.loads((file.metadata() or {}).get("shard", "null"))
                self.tokens = file.get_slice("tokens")
                self.lengths: Tensor = file.get_tensor("lengths").clone()
                self._checks: list[int] = file.get_tensor("checks").tolist()
        except (SafetensorError, OSError, ValueError) as error:
            raise _damaged(path, match, half, row, f"is cut off or damaged ({error})") from error
        self.shape: list[int] = self.tokens.get_shape()
        self._checked = bytearray(len(self._checks))
        if self.note != note:
            raise _damaged(path, match, half, row, f"is another shard: {self.note}")

    def read(self, first: int, into: Tensor) -> None:
        """Copy clips from `first` on; where one is not what was written, say so."""
        rows: Tensor = self.tokens[first : first + len(into)]
        for place in range(len(into)):
            clip = first + place
            if not self._checked[clip]:
                if crc(rows[place], int(self.lengths[clip])) != self._checks[clip]:
                    problem = f"clip {self.row.first + clip} is not what was written: its check sum differs"
                    raise _damaged(self.path, self.match, self.half, self.row, problem)
                self._checked[clip] = 1
        into.copy_(rows)


def read_shard(path: Path, header: CacheHeader, index: HalfIndex, row: ShardRow) -> _Shard:
    """Open a shard of a finished half and see that it is the one that half.json means."""
    match, half = index.match, index.half
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _damaged(path, match, half, row, f"cannot be read ({error.strerror})") from error
    if size != row.bytes:
        raise _damaged(path, match, half, row, f"has {size:,} bytes, not {row.bytes:,}")
    note = shard_note(match, half, row.first, header.fingerprint)
    shard = _Shard(path, match, half, row, note)
    if shard.shape != [row.clips, header.tokens, header.features] or len(shard.lengths) != row.clips:
        raise _damaged(path, match, half, row, f"holds tokens of shape {shard.shape}")
    return shard


def shard_note(match: str, half: int, first: int, fingerprint: str) -> dict[str, Any]:
    """What a shard says of itself, so that one that was moved is not taken for another."""
    return {"match": match, "half": half, "first": first, "fingerprint": fingerprint, "schema": SCHEMA}


def _damaged(path: Path, match: str, half: int, row: ShardRow, problem: str) -> DataError:
    clips = f"clips {row.first} to {row.first + row.clips - 1}"
    remedy = f"delete it and {AGAIN}" if path.exists() else AGAIN
    return DataError(f"{problem} ({match}, half {half}, {clips})", where=path, remedy=remedy)


def read_header(folder: Path) -> CacheHeader:
    """What cache.json says."""
    path = folder / CACHE
    if not path.exists():
        raise DataError(f"is no token cache: there is no {CACHE}", where=folder, remedy="run `streamsoccer encode`")
    header = _read(path, CacheHeader, "restore it from a copy, or encode into another folder")
    if header.schema != SCHEMA:
        raise DataError(f"has schema {header.schema}, this version reads {SCHEMA}", where=path)
    return header


def read_index(folder: Path, header: CacheHeader, match: str, half: int) -> HalfIndex:
    """What half.json says, once it is sure that it says the same as its place and as cache.json."""
    path = half_folder(folder, match, half) / HALF
    if not path.exists():
        begun = "begun but not finished" if path.parent.exists() else "not in the cache"
        raise DataError(f"{match}, half {half} is {begun}", where=path, remedy=AGAIN)
    index = _read(path, HalfIndex, f"delete it and {AGAIN}")
    firsts = [place * header.shard_clips for place in range(-(-index.clips // header.shard_clips))]
    sizes = [min(header.shard_clips, index.clips - first) for first in firsts]
    fits = {
        "schema": index.schema == SCHEMA,
        "match and half": (index.match, index.half) == (match, half),
        "backbone": index.fingerprint == header.fingerprint,
        "clips": index.clips == len(index.starts) == len(index.ends) > 0,
        "shards": [(row.first, row.clips) for row in index.shards] == list(zip(firsts, sizes, strict=True))
        and [row.name for row in index.shards] == [shard_name(place) for place in range(len(firsts))],
    }
    if wrong := [name for name, good in fits.items() if not good]:
        raise DataError(
            f"does not fit {match}, half {half} of this cache: {', '.join(wrong)}",
            where=path,
            remedy=f"delete it and {AGAIN}",
        )
    return index


def _read(path: Path, kind: type[T], remedy: str) -> T:
    try:
        return from_mapping(kind, json.loads(path.read_bytes()), path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", where=path) from error
    except ValueError as error:
        raise DataError(f"broken JSON: {error}", where=path, remedy=remedy) from error
    except UsageError as error:
        raise DataError(error.problem, where=path, remedy=remedy) from error


@lru_cache(maxsize=8192)
def half_folder(folder: Path, match: str, half: int) -> Path:
    """Where a half's shards lie."""
    parts = match.split("/")
    if len(parts) != 3 or any(part in ("", ".", "..") for part in parts) or half < 1:
        raise UsageError(f"{match!r}, half {half} is not a half of league/season/game")
    return folder.joinpath(*parts, str(half))


def shard_name(place: int) -> str:
    return f"shard-{place:05d}.safetensors"


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def crc(rows: Tensor, length: int) -> int:
    """CRC-32 of a clip's N rows as they lie in memory, and of how many of them are real."""
    return zlib.crc32(rows.view(torch.uint8).numpy().data, length)

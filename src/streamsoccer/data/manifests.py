"""The five manifests as JSON Lines: rows to text and back, and a set of files that changes all at once or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TextIO, TypeVar, Union, get_args, get_origin, get_type_hints

from streamsoccer.clock import MatchTime
from streamsoccer.domain import CaptionRow, ClipRow, EventRow, RecordRow, SampleRow
from streamsoccer.errors import DataError, UsageError

__all__ = ["CARD", "MANIFESTS", "SUMMARY", "Publisher", "decode", "encode", "read_captions", "read_clips", "read_events",
           "read_records", "read_rows", "read_samples", "read_summary"]  # fmt: skip

MANIFESTS: Mapping[str, type] = {
    "clips": ClipRow,
    "events": EventRow,
    "captions": CaptionRow,
    "records": RecordRow,
    "samples": SampleRow,
}
SUMMARY = "build.json"
CARD = "DATA_CARD.md"
R = TypeVar("R")


# --- rows to text ----------------------------------------------------------------------------------------------------


@cache
def _defaults(kind: type) -> tuple[tuple[str, Any], ...]:
    """Name and default of each field; a factory's product stands for the default."""
    return tuple(
        (each.name, each.default_factory() if each.default_factory is not MISSING else each.default)
        for each in fields(kind)
    )


def _plain(value: Any) -> Any:
    """What the JSON encoder is given for a value that it does not know."""
    if isinstance(value, MatchTime):
        seconds = value.seconds
        return [value.half, int(seconds) if seconds == int(seconds) else round(seconds, 3)]
    if is_dataclass(value):
        given = ((name, getattr(value, name), default) for name, default in _defaults(type(value)))
        return {name: each for name, each, default in given if default is MISSING or each != default}
    raise TypeError(f"{type(value).__name__} has no place in a manifest")


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode


def encode(row: object) -> str:
    """A row as one line of JSON, without the line's end; fields that have their default value are left out."""
    return _encode(row)


# --- text to rows ----------------------------------------------------------------------------------------------------


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """A function that checks and builds a value of this type from plain JSON."""
    if kind is Any:
        return lambda value: value
    if kind is MatchTime:
        return _match_time
    if kind is float:
        return _float
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (inner,) = (part for part in parts if part is not type(None))
        build = _decoder(inner)
        return lambda value: None if value is None else build(value)
    if origin is tuple:
        build = _decoder(parts[0])
        return lambda value: tuple([build(each) for each in _is(list, value)])
    if origin is not None:  # Mapping
        key, item = _decoder(parts[0]), _decoder(parts[1])
        return lambda value: {key(name): item(each) for name, each in _is(dict, value).items()}
    if is_dataclass(kind):
        return _row_decoder(kind)  # type: ignore[arg-type]
    if issubclass(kind, StrEnum):
        return kind  # type: ignore[no-any-return]
    return lambda value: _is(kind, value)


def _is(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{value!r} is no {kind.__name__}")
    return value


def _float(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _match_time(value: Any) -> MatchTime:
    if type(value) is not list or len(value) != 2 or type(value[0]) is not int:
        raise ValueError(f"{value!r} is no [half, seconds]")
    try:
        return MatchTime(value[0], _float(value[1]))
    except UsageError as error:
        raise ValueError(error.problem) from error


def _row_decoder(kind: type[R]) -> Callable[[Any], R]:
    hints = get_type_hints(kind)
    decoders = {each.name: _decoder(hints[each.name]) for each in fields(kind)}  # type: ignore[arg-type]
    required = [name for name, default in _defaults(kind) if default is MISSING]

    def build(value: Any) -> R:
        given = {}
        for name, each in _is(dict, value).items():
            if (decoder := decoders.get(name)) is None:
                raise ValueError(f"the field {name!r} is not known")
            try:
                given[name] = decoder(each)
            except ValueError as error:
                raise ValueError(f"field {name}: {error}") from error
        for name in required:
            if name not in given:
                raise ValueError(f"the field {name!r} is missing")
        return kind(**given)

    return build


def decode(kind: type[R], line: str, where: str) -> R:
    """A row of this kind from its line; a line that is none is a DataError that names place and field."""
    try:
        return _decoder(kind)(json.loads(line))  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"no {kind.__name__}: {error}", where=where, remedy="run `streamsoccer data build` again"
        ) from error


def read_rows(path: Path, kind: type[R]) -> Iterator[R]:
    """The rows of one manifest, one at a time."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield decode(kind, line, f"{path}:{number}")
    except OSError as error:
        raise DataError("cannot be read", where=path, remedy="run `streamsoccer data build` first") from error
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8: {error.reason}", where=path) from error


def read_clips(out: Path) -> Iterator[ClipRow]:
    return read_rows(out / "clips.jsonl", ClipRow)


def read_events(out: Path) -> Iterator[EventRow]:
    return read_rows(out / "events.jsonl", EventRow)


def read_captions(out: Path) -> Iterator[CaptionRow]:
    return read_rows(out / "captions.jsonl", CaptionRow)


def read_records(out: Path) -> Iterator[RecordRow]:
    return read_rows(out / "records.jsonl", RecordRow)


def read_samples(out: Path) -> Iterator[SampleRow]:
    return read_rows(out / "samples.jsonl", SampleRow)


def read_summary(out: Path) -> dict[str, Any]:
    """build.json: schema version, sources and their hashes, splits, counts, problems and the manifests' hashes."""
    path = out / SUMMARY
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError("cannot be read", where=path, remedy="run `streamsoccer data build` first") from error
    except ValueError as error:
        raise DataError(f"broken JSON: {error}", where=path, remedy="run `streamsoccer data build` again") from error
    if not isinstance(data, dict):
        raise DataError("the file holds no JSON object", where=path)
    return data


# --- all at once or not at all ---------------------------------------------------------------------------------------


class Publisher:
    """Writes a set of files in OUT so that whoever looks, at any moment, sees the old set whole or the new set whole.

    Each set lies in a folder of its own, OUT/.builds/<name>. The names in OUT are links that go through the one link
    OUT/.builds/current, and replacing that link is a single step of the file system. A build that was killed leaves
    a folder that nothing points to; the next one removes it.
    """

    def __init__(self, out: Path, names: list[str]) -> None:
        self.out = out
        self.names = names
        self.builds = out / ".builds"
        self.digests: dict[str, str] = {}
        self.rows: dict[str, int] = {}

    @contextmanager
    def publish(self) -> Iterator[Publisher]:
        """Write the files inside with `file`; they appear together at the end, or not at all where it raises."""
        self.builds.mkdir(parents=True, exist_ok=True)
        with (self.builds / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError("another build is writing here", where=self.out, remedy="let it end first") from None
            self._sweep()
            self.folder = self.builds / f"new-{os.getpid()}"
            self.folder.mkdir()
            try:
                yield self
            except BaseException:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
            self._switch()

    @contextmanager
    def file(self, name: str) -> Iterator[_Hashed]:
        """One file of the set, open for writing; it is on the disk before the set is shown."""
        with (self.folder / name).open("w", encoding="utf-8", newline="\n") as stream:
            hashed = _Hashed(stream)
            yield hashed
            stream.flush()
            os.fsync(stream.fileno())
        self.digests[name] = hashed.digest.hexdigest()

    def _switch(self) -> None:
        final = self.builds / hashlib.sha256("".join(sorted(self.digests.values())).encode()).hexdigest()[:16]
        current = self.builds / "current"
        if final.exists():  # the same content is there already; the fresh copy is the one to trust
            final = final.with_name(f"{final.name}-{os.getpid()}")
        self.folder.rename(final)
        _sync(final)
        self._adopt()
        for name in self.names:
            link = self.out / name
            if not link.is_symlink():
                link.symlink_to(Path(".builds", "current", name))
        _replace_link(current, Path(final.name))
        _sync(self.builds)
        _sync(self.out)
        self._sweep()

    def _adopt(self) -> None:
        """Make links of plain files that an unpacked copy of a build left here, without a moment of a mixed set."""
        plain = [name for name in self.names if (self.out / name).exists() and not (self.out / name).is_symlink()]
        if not plain:
            return
        if SUMMARY not in plain:
            raise UsageError(f"{plain[0]} is not from a build", where=self.out, remedy="choose an empty output folder")
        adopted = self.builds / f"adopted-{os.getpid()}"
        adopted.mkdir()
        for name in plain:
            shutil.copy2(self.out / name, adopted / name)
        _replace_link(self.builds / "current", Path(adopted.name))
        for name in plain:
            _replace_link(self.out / name, Path(".builds", "current", name))

    def _sweep(self) -> None:
        """Remove what no link points to."""
        current = self.builds / "current"
        kept = {"current", "lock", current.readlink().name if current.is_symlink() else ""}
        for path in self.builds.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


class _Hashed:
    """A text file that knows the hash of what went into it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.digest = hashlib.sha256()

    def write(self, text: str) -> None:
        self.digest.update(text.encode())
        self.stream.write(text)


def _replace_link(link: Path, target: Path) -> None:
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _sync(folder: Path) -> None:
    """Bring a folder's own entries to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

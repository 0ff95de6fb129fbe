"""The five manifests as JSON Lines: rows to text and back."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from streamsoccer.actions import EventType
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Action, CaptionRow, ClipRow, EventRow, RecordRow, SampleRow, Side
from streamsoccer.errors import DataError, UsageError

__all__ = [
    "CARD",
    "MANIFESTS",
    "SUMMARY",
    "decode",
    "encode",
    "read_captions",
    "read_clips",
    "read_events",
    "read_records",
    "read_rows",
    "read_samples",
    "read_summary",
]

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


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a row of one type is written: its fields' names and defaults, and a getter of all their values at once."""

    names: tuple[str, ...]
    defaults: tuple[Any, ...]
    values: Callable[[Any], tuple[Any, ...]]


_PLANS: dict[type, _Plan] = {}


def _plan(kind: Any) -> _Plan:
    if (known := _PLANS.get(kind)) is None:
        names = tuple(each.name for each in fields(kind))
        defaults = (
            each.default if each.default_factory is MISSING else each.default_factory() for each in fields(kind)
        )
        known = _PLANS[kind] = _Plan(names, tuple(defaults), attrgetter(*names))
    return known


def _number(seconds: float) -> int | float:
    return int(seconds) if seconds == int(seconds) else round(seconds, 3)


def _plain(value: Any) -> Any:
    """What the JSON encoder is given for a value that it does not know."""
    if isinstance(value, MatchTime):
        return [value.half, _number(value.seconds)]
    if is_dataclass(value):
        plan = _plan(type(value))
        given = zip(plan.names, plan.values(value), plan.defaults, strict=True)
        return {name: each for name, each, default in given if default is MISSING or each != default}
    raise TypeError(f"{type(value).__name__} has no place in a manifest")


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode
_quoted = lru_cache(maxsize=8)(_encode)


# Nearly all rows of a corpus are clips and events. These write exactly what _encode writes, several times faster.


def _clip(row: ClipRow) -> str:
    mask = "" if row.mask is None else f',"mask":"{row.mask}"'
    last = ',"last":true' if row.last else ""
    actions = f',"actions":{_encode(row.actions)}' if row.actions else ""
    return (
        f'{{"split":"{row.split}","match":{_quoted(row.match)},"half":{row.half},"index":{row.index}'
        f',"start":{_number(row.start)},"end":{_number(row.end)},"event":{_number(row.event)}'
        f',"transition":{row.transition}{mask}{actions}{last}}}'
    )


def _time(value: MatchTime) -> str:
    return f"[{value.half},{_number(value.seconds)}]"


def _action(row: Action) -> str:
    visible = "" if row.visible else ',"visible":false'
    extra = f',"extra":{_encode(row.extra)}' if row.extra else ""
    return (
        f'{{"label":"{row.label}","side":"{row.side}","at":{_time(row.at)}'
        f',"available_at":{_time(row.available_at)}{visible}{extra}}}'
    )


def _event(row: EventRow) -> str:
    primary = "" if row.primary is None else f',"primary":"{row.primary}"'
    kind = "" if row.type is EventType.OPEN_PLAY else f',"type":"{row.type}"'
    side = "" if row.side is Side.NONE else f',"side":"{row.side}"'
    actions = f',"actions":[{",".join(map(_action, row.actions))}]' if row.actions else ""
    caption = "" if row.caption is None else f',"caption":{_encode(row.caption)}'
    return (
        f'{{"half":{row.half},"first":{row.first},"clips":{row.clips},"start":{_time(row.start)}'
        f',"end":{_time(row.end)},"available_at":{_time(row.available_at)},"opened_by":"{row.opened_by}"'
        f',"closed_by":"{row.closed_by}"{kind}{primary}{side}{actions},"split":"{row.split}","id":{_encode(row.id)}'
        f',"match":{_quoted(row.match)},"index":{row.index}{caption}}}'
    )


_FAST: Mapping[type, Callable[[Any], str]] = {ClipRow: _clip, EventRow: _event}


def encode(row: object) -> str:
    """A row as one line of JSON, without the line's end; fields that have their default value are left out."""
    return _FAST.get(type(row), _encode)(row)


# --- text to rows ----------------------------------------------------------------------------------------------------


_DECODERS: dict[Any, Callable[[Any], Any]] = {}


def _decoder(kind: Any) -> Callable[[Any], Any]:
    """A function that checks and builds a value of this type from plain JSON."""
    if (known := _DECODERS.get(kind)) is None:
        known = _DECODERS[kind] = _make_decoder(kind)
    return known


def _make_decoder(kind: Any) -> Callable[[Any], Any]:
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
        return _row_decoder(kind)
    if issubclass(kind, StrEnum):
        return lambda value: kind(value)
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


def _row_decoder(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    decoders = {each.name: _decoder(hints[each.name]) for each in fields(kind)}
    plan = _plan(kind)
    required = [name for name, default in zip(plan.names, plan.defaults, strict=True) if default is MISSING]

    def build(value: Any) -> Any:
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
        build: Callable[[Any], R] = _decoder(kind)
        return build(json.loads(line))
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

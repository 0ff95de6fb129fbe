"""Recipes: YAML to the frozen *Config dataclasses of the files and back, every unknown or ill-typed value named."""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from streamsoccer.errors import UsageError

__all__ = ["from_mapping", "load_yaml", "merged", "to_mapping"]

T = TypeVar("T")


def from_mapping(
    kind: type[T], given: Mapping[str, Any], where: str | PathLike[str], place: str = "", base: T | None = None
) -> T:
    """A config dataclass from plain values; what is not given is as in `base` or its default, the paper's value."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{place or 'the file'} must hold names and values, not {given!r}", where=where)
    hints = get_type_hints(kind)
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, value in given.items():
        at = f"{place}.{name}" if place else str(name)
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
            raise UsageError(f"{at} is not known", where=where, remedy=remedy)
        values[name] = _value(hints[name], value, where, at, _default(known[name], base))
    for name, each in known.items():
        if name not in values and base is not None:
            values[name] = getattr(base, name)
        elif name not in values and each.default is MISSING and each.default_factory is MISSING:
            raise UsageError(f"{place + '.' if place else ''}{name} is missing", where=where)
    try:
        return kind(**values)
    except UsageError as error:  # a value that the dataclass itself refuses
        raise UsageError(f"{place + ': ' if place else ''}{error.problem}", where=where, remedy=error.remedy) from error


def _default(field: Field[Any], base: Any) -> Any:
    """What a section is laid over: the section that stands there if nothing is given."""
    if base is not None:
        return getattr(base, field.name)
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _value(kind: Any, value: Any, where: str | PathLike[str], at: str, base: Any = None) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in parts:
            return None
        (inner,) = (part for part in parts if part is not type(None))
        return _value(inner, value, where, at, base)
    if is_dataclass(kind) and isinstance(kind, type):
        return from_mapping(kind, value, where, at, base)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UsageError(f"{at} must be a list, not {value!r}", where=where)
        if len(parts) != 2 or parts[1] is not Ellipsis:
            if len(parts) != len(value):
                raise UsageError(f"{at} must hold {len(parts)} values, not {value!r}", where=where)
            return tuple(_value(part, each, where, at) for part, each in zip(parts, value, strict=True))
        return tuple(_value(parts[0], each, where, f"{at}[{index}]") for index, each in enumerate(value))
    if origin is not None:  # Mapping
        if not isinstance(value, Mapping):
            raise UsageError(f"{at} must hold names and values, not {value!r}", where=where)
        return {str(name): _value(parts[1], each, where, f"{at}.{name}") for name, each in value.items()}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if value in list(kind):
            return kind(value)
        raise UsageError(f"{at} must be one of {', '.join(kind)}, not {value!r}", where=where)
    if kind is float:
        value = _number(value)
    if kind is not Any and type(value) is not kind:
        raise UsageError(f"{at} must be of type {kind.__name__}, not {value!r}", where=where)
    return value


def _number(value: Any) -> Any:
    """YAML reads 1e-4 as a string and 1 as an int; both are meant as numbers."""
    if type(value) is int:
        return float(value)
    if type(value) is str:
        try:
            return float(value)
        except ValueError:
            return value
    return value


def to_mapping(value: Any) -> Any:
    """A config as plain values, every field given, for JSON and YAML."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_mapping(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): to_mapping(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [to_mapping(each) for each in value]
    return value.value if isinstance(value, StrEnum) else value


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`change` laid over `base`, sections into sections."""
    result = dict(base)
    for name, value in change.items():
        mine = result.get(name)
        result[name] = merged(mine, value) if isinstance(mine, Mapping) and isinstance(value, Mapping) else value
    return result


def load_yaml(path: Path) -> dict[str, Any]:
    """A recipe's values, laid over those of the recipe that its key `extends` names, a file beside it."""
    return _load_yaml(path, ())


def _load_yaml(path: Path, outer: tuple[Path, ...]) -> dict[str, Any]:
    import yaml

    if path.resolve() in outer:
        raise UsageError("extends itself", where=path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"is no YAML: {error}", where=path) from error
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise UsageError("must hold names and values", where=path)
    base = data.pop("extends", None)
    if base is None:
        return data
    return merged(_load_yaml(path.parent / str(base), (*outer, path.resolve())), data)

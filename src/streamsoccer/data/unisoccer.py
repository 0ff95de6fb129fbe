"""Caption lists of the UniSoccer and SoccerReplay family: a JSON list with a row for each video around a caption."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamsoccer.clock import MatchTime
from streamsoccer.data.captions import SourceCaption, classify
from streamsoccer.errors import DataError, UsageError

__all__ = ["read_list", "read_lists"]

_KNOWN = {"video", "caption", "comments_text", "comments_text_anonymized"}
# 'league_season/game/half_MM_SS.mp4'; a season is '2015-2016' or a single year
_VIDEO = re.compile(r"(?:.*/)?(?P<league>[^/]+)_(?P<season>\d{4}(?:-\d{4})?)/(?P<game>[^/]+)/(?P<name>[^/]+)")
_NAME = re.compile(r"(\d+)_(\d+)_(\d{1,2})\.\w+")


def read_lists(paths: Sequence[Path]) -> dict[str, tuple[SourceCaption, ...]]:
    """The captions of all lists by match, in the order of the lists."""
    found: dict[str, list[SourceCaption]] = {}
    for path in paths:
        for match, captions in read_list(path).items():
            found.setdefault(match, []).extend(captions)
    return {match: tuple(captions) for match, captions in found.items()}


def read_list(path: Path) -> dict[str, list[SourceCaption]]:
    """The captions of one list by match ID, league/season/game."""
    try:
        rows = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path) from error
    except ValueError as error:
        raise DataError(f"broken JSON: {error}", where=path) from error
    if not isinstance(rows, list):
        raise DataError("the file holds no JSON list", where=path)
    found: dict[str, list[SourceCaption]] = {}
    for index, row in enumerate(rows):
        match, caption = _caption(row, index, path)
        found.setdefault(match, []).append(caption)
    return found


def _caption(row: object, index: int, path: Path) -> tuple[str, SourceCaption]:
    if not isinstance(row, Mapping):
        raise DataError(f"[{index}] is no object", where=path)
    place = _VIDEO.fullmatch(_text(row, "video", index, path))
    if place is None:
        raise DataError(
            f"[{index}].video {row.get('video')!r} names no match",
            where=path,
            remedy="expected 'league_season/game/half_MM_SS.mp4'",
        )
    anonymized = _text(row, "comments_text_anonymized", index, path)
    description = _text(row, "comments_text", index, path)
    kind, source, _ = classify({"class": row.get("caption")}, anonymized or description)
    at = _time(place["name"])
    return f"{place['league']}/{place['season']}/{place['game']}", SourceCaption(
        index=index,
        file=path.name,
        source="unisoccer",
        at=at,
        time_key=None if at is None else "video",
        kind=kind,
        kind_source=source,
        description=description,
        anonymized=anonymized,
        extra={key: value for key, value in row.items() if key not in _KNOWN},
    )


def _text(row: Mapping[str, Any], key: str, index: int, path: Path) -> str:
    value = row.get(key) or ""
    if not isinstance(value, str):
        raise DataError(f"[{index}].{key} {value!r} is no text", where=path)
    return value.strip()


def _time(name: str) -> MatchTime | None:
    if (parts := _NAME.fullmatch(name)) is None or int(parts[3]) >= 60:
        return None
    try:
        return MatchTime(int(parts[1]), int(parts[2]) * 60.0 + int(parts[3]))
    except UsageError:
        return None

"""One match of a build for the eye: find it by a part of its ID, take its rows, and draw them as a timeline."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from streamsoccer.data.manifests import MANIFESTS, decode, read_summary
from streamsoccer.domain import CaptionRow, ClipRow, EventRow, RecordRow, SampleRow, Track, Verdict
from streamsoccer.errors import DataError, UsageError

__all__ = ["MatchRows", "find_match", "show"]

R = TypeVar("R", ClipRow, EventRow, CaptionRow, RecordRow, SampleRow)
_NAMED = 12  # candidates that an error lists


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRows:
    """What a picture is drawn from."""

    match: str
    clips: list[ClipRow]
    events: list[EventRow]
    captions: list[CaptionRow]
    records: list[RecordRow]
    samples: list[SampleRow]

    @property
    def halves(self) -> list[int]:
        return sorted({clip.half for clip in self.clips})

    def seconds(self, half: int) -> float:
        return max(clip.end for clip in self.clips if clip.half == half)


def find_match(out: Path, part: str) -> str:
    """The one match whose ID holds this part, upper and lower case alike; a whole ID is itself."""
    matches: list[str] = sorted(read_summary(out).get("matches", {}))
    if part in matches:
        return part
    words = part.casefold().split()
    found = [match for match in matches if part.casefold() in match.casefold()]
    if not found:  # its words in any place, as in 'arsenal burnley'
        found = [match for match in matches if words and all(word in match.casefold() for word in words)]
    if len(found) == 1:
        return found[0]
    if not found:
        remedy = f"{len(matches)} matches are there: {_some(matches)}"
        raise UsageError(f"no match has {part!r} in its ID", where=out, remedy=remedy)
    raise UsageError(f"{len(found)} matches have {part!r} in their IDs", where=out, remedy=f"one of {_some(found)}")


def _some(matches: list[str]) -> str:
    more = f"\n    and {len(matches) - _NAMED} more" if len(matches) > _NAMED else ""
    return "".join(f"\n    {match}" for match in matches[:_NAMED]) + more


def read_match(out: Path, match: str) -> MatchRows:
    """The rows of one match; the lines of the others are passed over without being parsed."""
    return MatchRows(
        match=match,
        clips=_rows(out, ClipRow, match),
        events=_rows(out, EventRow, match),
        captions=_rows(out, CaptionRow, match),
        records=_rows(out, RecordRow, match),
        samples=_rows(out, SampleRow, match),
    )


def _rows(out: Path, kind: type[R], match: str) -> list[R]:
    name = next(name for name, each in MANIFESTS.items() if each is kind)
    path = out / f"{name}.jsonl"
    needles = (json.dumps(match, ensure_ascii=False), json.dumps(match))
    rows = []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if needles[0] in line or needles[1] in line:
                    row = decode(kind, line, f"{path}:{number}")
                    if row.match == match:
                        rows.append(row)
    except OSError as error:
        raise DataError("cannot be read", where=path, remedy="run `streamsoccer data build` first") from error
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8: {error.reason}", where=path) from error
    return rows


def show(out: Path, part: str, *, half: int | None = None, image: Path | None = None) -> list[str]:
    """Draw the match, or one half of it, and say in a few lines what was drawn and where."""
    match = find_match(out, part)
    rows = read_match(out, match)
    if not rows.clips:
        raise DataError(
            f"clips.jsonl holds no clip of {match}", where=out, remedy="run `streamsoccer data build` again"
        )
    if half is not None and half not in rows.halves:
        there = " and ".join(map(str, rows.halves))
        raise UsageError(f"{match} has no half {half}", where=out, remedy=f"it has the halves {there}")
    halves = rows.halves if half is None else [half]
    path = image if image is not None else Path(_file_name(match, half))
    from streamsoccer.data.timeline_picture import draw  # PIL, only where something is drawn

    draw(rows, halves, path)
    return [match, _told(rows, halves), f"drawn in {path}"]


def _file_name(match: str, half: int | None) -> str:
    name = re.sub(r"[^\w]+", "-", match.rpartition("/")[2]).strip("-")
    return f"{name}{'' if half is None else f'-half-{half}'}.png"


def _told(rows: MatchRows, halves: list[int]) -> str:
    events = [event for event in rows.events if event.half in halves]
    captions = [each for each in rows.captions if each.at is None or each.at.half in halves]
    tracks = Counter(sample.track for sample in rows.samples if sample.half in halves)
    actions = sum(len(event.actions) for event in events)
    aligned = sum(each.verdict is Verdict.ALIGNED for each in captions)
    parts = [f"{actions} actions in {len(events)} events", f"{aligned} of {len(captions)} captions aligned"]
    timeless = sum(each.at is None for each in captions)
    if timeless:
        parts.append(f"{timeless} without a time are not drawn")
    return ", ".join(parts) + "; samples: " + ", ".join(f"{tracks[track]} {track}" for track in Track)

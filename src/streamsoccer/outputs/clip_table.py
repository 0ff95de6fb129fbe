"""Clips and gaps as lines (for people in columns, for machines as JSON) and as a contact sheet."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

from streamsoccer.clip import FRAMES_PER_CLIP, Clip, Gap
from streamsoccer.clock import format_seconds

__all__ = ["HEADER", "print_clips", "to_json", "to_line"]

HEADER = f"{'half':>4}  {'clip':>5}  {'from':>9}  {'to':>9}  {'frames':>6}  size"


def print_clips(items: Iterable[Clip | Gap], *, limit: int, as_json: bool, contact_sheet: Path | None) -> None:
    """Print a source's items as they come, at most `limit` clips; the sheet is drawn also where the source fails."""
    sheet = None
    if contact_sheet is not None:
        from streamsoccer.outputs.contact_sheet import ContactSheet

        sheet = ContactSheet(str(getattr(items, "name", "clips")))
    write = to_json if as_json else to_line
    count, headed = 0, as_json
    stream = iter(items)
    try:
        for item in stream:
            if not headed:
                print_line(HEADER)
                headed = True
            print_line(write(item))
            if sheet is not None:
                sheet.add(item)
            count += isinstance(item, Clip)
            if count >= limit:
                break
    finally:
        if isinstance(stream, Generator):
            stream.close()
        if sheet is not None and contact_sheet is not None and count:
            sheet.save(contact_sheet)


def print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def to_json(item: Clip | Gap) -> str:
    """One JSON object: a clip without its pixels, or a gap."""
    row: dict[str, Any]
    if isinstance(item, Gap):
        row = {"type": "gap", "half": item.half, "start": item.start, "end": item.end}
        row |= {"reason": item.reason.value, "detail": item.detail}
    else:
        height, width = item.frames.shape[1:3]
        row = {"type": "clip", "half": item.half, "index": item.index, "start": item.start, "end": round(item.end, 6)}
        row |= {"frames": len(item.samples), "samples": item.samples, "times": [round(time, 6) for time in item.times]}
        row |= {"width": width, "height": height}
    return json.dumps(row)


def to_line(item: Clip | Gap) -> str:
    """One line under HEADER."""
    start, end = (format_seconds(round(moment, 2)) for moment in (item.start, item.end))
    if isinstance(item, Gap):
        return f"{item.half:>4}  {'gap':>5}  {start:>9}  {end:>9}  {'':>6}  {item.reason.value}: {item.detail}"
    height, width = item.frames.shape[1:3]
    note = "" if item.complete else f"  ({FRAMES_PER_CLIP - len(item.samples)} of {FRAMES_PER_CLIP} not there)"
    return f"{item.half:>4}  {item.index:>5}  {start:>9}  {end:>9}  {len(item.samples):>6}  {width}x{height}{note}"

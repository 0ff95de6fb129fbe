"""The outputs by the names that people give them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streamsoccer.errors import UsageError
from streamsoccer.journal_rows import Header
from streamsoccer.outputs.captions import SubRip, WebVtt
from streamsoccer.outputs.jsonl import JsonLines
from streamsoccer.outputs.sink import Layout, Sink
from streamsoccer.outputs.soccernet import DenseCaptions

__all__ = ["FORMATS", "open_sinks", "parse_formats"]

FORMATS = ("jsonl", "vtt", "srt", "soccernet")


def parse_formats(text: str) -> tuple[str, ...]:
    """Read 'jsonl,vtt' as names of outputs."""
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if wrong := [each for each in names if each not in FORMATS]:
        raise UsageError(f"there is no output {wrong[0]!r}", remedy=f"--formats {','.join(FORMATS)}")
    return names


def open_sinks(folder: Path, formats: Sequence[str], header: Header, name: str = "commentary") -> list[Sink]:
    """One sink a format; nothing is written before `begin`."""
    layout = Layout.of(header)
    made: dict[str, Sink] = {
        "jsonl": JsonLines(folder, layout, name),
        "vtt": WebVtt(folder, layout, name),
        "srt": SubRip(folder, layout, name),
        "soccernet": DenseCaptions(folder, header.match),
    }
    return [made[each] for each in formats]

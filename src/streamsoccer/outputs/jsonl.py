"""Each sentence as one JSON object a line, with mode, times, delay and all that it was said from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamsoccer.clock import format_seconds
from streamsoccer.journal_reader import Shown
from streamsoccer.outputs.sink import GrowingFile, Layout

__all__ = ["JsonLines", "to_row"]


class JsonLines:
    """A sink of JSON lines; sentences that were held back or failed are not in it, the journal has them."""

    def __init__(self, folder: Path, layout: Layout, name: str = "commentary") -> None:
        self.layout = layout
        self._file = GrowingFile(folder / f"{name}.jsonl")

    def begin(self, said: Iterable[Shown]) -> None:
        self._file.begin(self._line(each) for each in said if each.visible)

    def say(self, shown: Shown) -> None:
        if shown.visible:
            self._file.add(self._line(shown))

    def _line(self, shown: Shown) -> str:
        # what JSON lets through, but some readers of lines take for the end of one
        text = json.dumps(to_row(shown, self.layout), ensure_ascii=False)
        for each in ("\x85", "\u2028", "\u2029"):
            text = text.replace(each, f"\\u{ord(each):04x}")
        return text + "\n"


def to_row(shown: Shown, layout: Layout) -> dict[str, Any]:
    """A sentence as plain values: `text` is what people see, `generated` what the model wrote, names not yet in."""
    line = shown.line
    film, second = layout.place(line.cutoff)
    return {
        "id": line.id,
        "half": line.cutoff.half,
        "time": format_seconds(line.cutoff.seconds),
        "seconds": line.cutoff.seconds,
        "film": film,
        "film_seconds": second,
        "mode": line.track.value,
        "text": shown.text,
        "generated": line.text,
        "latency": line.latency.state(),
        "evidence": [
            {"kind": each.kind.value, "id": each.ref, "half": each.half, "start": each.start, "end": each.end}
            | ({} if each.score is None else {"score": each.score})
            for each in line.evidence
        ],
    }

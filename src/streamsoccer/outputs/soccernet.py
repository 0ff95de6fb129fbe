"""SoccerNet's results_dense_captioning.json: what `streamsoccer evaluate dense` and the official script read.

Each sentence stands at its cutoff, with the field's placeholders in place of names, as the references have them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamsoccer.journal_reader import Shown
from streamsoccer.outputs.sink import replace_file

__all__ = ["FILE_NAME", "DenseCaptions"]

FILE_NAME = "results_dense_captioning.json"


class DenseCaptions:
    """A sink that writes the whole file with every sentence: JSON cannot grow and be whole all the while."""

    def __init__(self, folder: Path, match: str) -> None:
        self.path, self.match = folder / FILE_NAME, match
        self._predictions: list[dict[str, Any]] = []

    def begin(self, said: Iterable[Shown]) -> None:
        self._predictions = [_prediction(each) for each in said if each.visible]
        self._write()

    def say(self, shown: Shown) -> None:
        if shown.visible:
            self._predictions.append(_prediction(shown))
            self._write()

    def _write(self) -> None:
        data = {"UrlLocal": self.match, "predictions": self._predictions}
        replace_file(self.path, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


def _prediction(shown: Shown) -> dict[str, Any]:
    at = shown.line.cutoff
    minutes, seconds = divmod(int(at.seconds), 60)
    return {
        "gameTime": f"{at.half} - {minutes:02d}:{seconds:02d}",
        "half": str(at.half),
        "position": str(round(at.seconds * 1000)),
        "label": "comments",
        "confidence": "1.0",
        "comment": shown.line.text if not shown.corrections else shown.text,
    }

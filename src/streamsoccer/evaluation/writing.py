"""A replay's folder while it is written: whole files, one after the other; a run that was stopped goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamsoccer.checkpoint import Checkpoint, Pretrained, from_pretrained, read_provenance
from streamsoccer.clock import WallClock
from streamsoccer.errors import CheckpointError, UsageError
from streamsoccer.evaluation.predictions import (
    HEADER,
    Prediction,
    ReplayHeader,
    Retrieved,
    read_header,
    write_header,
    write_rows,
)

__all__ = ["Writer", "load_run", "stage_line"]

_SAME = ("stage", "split", "run", "data", "scope", "representation", "limit")


def load_run(
    folder: Path, parts: Sequence[str], *, backbone: Path | None = None, device: str = "cpu"
) -> tuple[Pretrained, Mapping[str, Any]]:
    """A run's last checkpoint, ready to write many texts, and its own line of provenance."""
    loaded = from_pretrained(folder, backbone=backbone, device=device, parts=parts)
    loaded.language.hurry()
    return loaded, stage_line(loaded.checkpoint)


def stage_line(checkpoint: Checkpoint) -> Mapping[str, Any]:
    """The last line of a checkpoint's provenance: the stage that made it, with its recipe."""
    lines = read_provenance(checkpoint.folder)
    if not lines or "recipe" not in lines[-1]:
        raise CheckpointError("does not say which recipe made it", where=checkpoint.folder, remedy="train it anew")
    return lines[-1]


class Writer:
    """Writes the files of one replay into its folder, which is for no other."""

    def __init__(self, folder: Path, header: ReplayHeader) -> None:
        self.folder, self.header, self.clock = folder, header, WallClock()
        self.lines: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        if (folder / HEADER).is_file():
            stands = read_header(folder)
            mine, theirs = header.row(), stands.row()
            if off := [name for name in _SAME if mine[name] != theirs[name]]:
                raise UsageError(
                    f"holds a replay with another {off[0]}", where=folder, remedy="choose another folder or remove it"
                )
            self.seconds.update(stands.seconds)
        self._say()

    def has(self, name: str) -> bool:
        """Whether this file has been written, by this run or by one that was stopped."""
        return (self.folder / name).is_file()

    def add(self, name: str, rows: Sequence[Prediction] | Sequence[Retrieved], since: float) -> None:
        self.lines[name] = write_rows(self.folder, name, rows)
        self.seconds[name] = round(self.clock.now() - since, 3)
        self._say()

    def finish(self) -> dict[str, int]:
        """How many lines each new file has."""
        return self.lines

    def _say(self) -> None:
        write_header(self.folder, replace(self.header, seconds=self.seconds))

"""How a match is run, apart from what its weights are: kept as runtime.json beside them, chosen on validation matches.

The buffer, the caption queue, retrieval and the prompts have their values in the model's own configuration; here are
those that no training depends on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from streamsoccer.config import from_mapping, to_mapping
from streamsoccer.errors import UsageError
from streamsoccer.perception import PerceptionConfig
from streamsoccer.record import Drain
from streamsoccer.schedule import ScheduleConfig

__all__ = ["RuntimeConfig", "read_runtime", "write_runtime"]

FILE = "runtime.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeConfig:
    """The scheduler's table, the heads' thresholds, and what is ours about running."""

    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    perception: PerceptionConfig = field(default_factory=PerceptionConfig)
    drain: Drain | None = None  # nothing: as the model's record section says
    show_predicted: bool = True  # a prompt holds the predicted score, marked unsure, where no feed tells it
    repeat: bool = False  # whether a sentence may be said twice in a half
    alike: float = 0.9  # two sentences are the same from this share of common words on (Jaccard)
    snapshot_clips: int = 5  # a snapshot of the state every so many steps
    late_seconds: float = 8.0  # at real pace: with a lag beyond this, captions wait

    def __post_init__(self) -> None:
        if self.snapshot_clips < 1:
            raise UsageError("snapshot_clips must be 1 or more")
        if self.late_seconds < 0:
            raise UsageError("late_seconds cannot be negative")
        if not 0.0 < self.alike <= 1.0:
            raise UsageError(f"alike is {self.alike}, no share of words", remedy="above 0, at most 1")


def read_runtime(folder: Path) -> RuntimeConfig:
    """What stands beside a model's weights; the defaults where nothing does."""
    path = folder / FILE
    if not path.is_file():
        return RuntimeConfig()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {error}", where=path) from error
    return from_mapping(RuntimeConfig, data, path)


def write_runtime(folder: Path, config: RuntimeConfig) -> None:
    """Keep it beside a model's weights."""
    text = json.dumps(to_mapping(config), indent=2, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")

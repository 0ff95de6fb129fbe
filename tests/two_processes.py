"""One step of every stage, in one process or in one of several, on what `train_two_stages` left.

python -m tests.two_processes ROOT RECIPE.json OUT, with RANK, WORLD_SIZE and the like in the environment
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from streamsoccer.config import from_mapping
from streamsoccer.training.commentary_task import train_commentary
from streamsoccer.training.memory import train_memory
from streamsoccer.training.recipe import Path3, Recipe
from streamsoccer.training.records import train_records

__all__ = ["RUNS", "one_step_each"]

RUNS = ("memory", "records", "commentary", "joint")


def one_step_each(root: Path, recipe: Recipe, out: Path) -> None:
    """OUT/memory, OUT/records, OUT/commentary and OUT/joint after their first step."""
    data, tokens, memory, own = root / "data", root / "tokens", root / "memory", root / "own"
    train_memory(recipe, data, tokens, out / "memory", until=1)
    train_records(recipe, data, memory, root / "run1", out / "records", until=1)
    train_commentary(recipe, data, root / "run2", out / "commentary", memory=memory, own=own, until=1)
    joint = replace(recipe, stage3=replace(recipe.stage3, path=Path3.JOINT))
    train_commentary(joint, data, root / "run2", out / "joint", tokens=tokens, own=own, until=1)


if __name__ == "__main__":
    folder, told, written = map(Path, sys.argv[1:])
    one_step_each(folder, from_mapping(Recipe, json.loads(told.read_text()), told), written)

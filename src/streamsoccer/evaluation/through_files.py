"""A shipped model's front end on matches as they lie there: encoded files, or the frames of the same matches.

Everything is made from the games alone: manifests, visual tokens, the own run at the model's own threshold, and the
scores. The same matches as 25 fps files and as packs of frames tell what encoding and scaling cost.

    WORK/<name>/{recipe.yaml, split.json, data, tokens, memory}      what stands there stays
    WORK/<name>.json                                                 the report, with counts by match
"""

from __future__ import annotations

import json
from pathlib import Path

from streamsoccer.checkpoint import read_checkpoint
from streamsoccer.config import to_mapping
from streamsoccer.data.pipeline import build
from streamsoccer.errors import DataError
from streamsoccer.evaluation.frontend_report import FrontEndReport, evaluate_front_end
from streamsoccer.training.encode import run_encode
from streamsoccer.training.memory import cache_memory
from streamsoccer.training.recipe import load_recipe

__all__ = ["front_end_of"]


def front_end_of(
    model: Path, games: Path, work: Path, name: str, *, replicates: int = 10_000, seed: int = 0
) -> FrontEndReport:
    """The scores of all games under a folder, all of them taken as test matches; also written to WORK/<name>.json."""
    here = work / name
    here.mkdir(parents=True, exist_ok=True)
    recipe = _recipe(model, here / "recipe.yaml")
    data = _data(games, here)
    encoded = run_encode(games, here / "tokens", recipe=recipe)
    if encoded.problems:
        raise DataError(f"could not be encoded: {encoded.problems[0]}", where=games)
    cache_memory(load_recipe(recipe), data, here / "tokens", model, here / "memory")
    report = evaluate_front_end(data, here / "memory", replicates=replicates, seed=seed)
    (work / f"{name}.json").write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    return report


def _recipe(model: Path, path: Path) -> Path:
    """What the stages are told of this model: its shapes and thresholds, and where its backbone is."""
    import torch
    import yaml

    checkpoint = read_checkpoint(model)
    dtype = "bfloat16" if torch.cuda.is_available() else "float32"
    backbone = {"path": str(checkpoint.backbone_path), "dtype": dtype}
    path.write_text(yaml.safe_dump({"backbone": backbone, "model": to_mapping(checkpoint.model)}), encoding="utf-8")
    return path


def _data(games: Path, here: Path) -> Path:
    names = sorted(each.relative_to(games).as_posix() for each in games.glob("*/*/*") if each.is_dir())
    split = {"train": [], "validation": [], "test": [each for each in names if not each.startswith(".")]}
    (here / "split.json").write_text(json.dumps(split), encoding="utf-8")
    made = build(games, here / "data", split_file=here / "split.json")
    if not made.ok:
        raise DataError("could not be built", where=games, remedy="run `streamsoccer data build` on it to see why")
    return here / "data"

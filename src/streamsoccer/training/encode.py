"""`streamsoccer encode`: the backbone and the size from a recipe, the halves from a folder, and what is told of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from streamsoccer.backbone import load_backbone
from streamsoccer.errors import UsageError
from streamsoccer.sources.encode import Encoded, Hands, encode_halves, find_halves, header_for
from streamsoccer.training.recipe import load_recipe
from streamsoccer.vision import VisionEncoder

__all__ = ["run_encode", "show_encoded"]

_BATCH = {"cpu": 4, "cuda": 32}


def run_encode(
    root: Path,
    out: Path,
    *,
    recipe: Path | None = None,
    backbone: str = "",
    device: str = "",
    dtype: str = "",
    batch: int = 0,
    workers: int = 0,
    matches: str = "",
    data: Path | None = None,
    verify: bool = False,
) -> Encoded:
    """Encode what the cache lacks, with a bar on the error stream where that is a terminal."""
    given = load_recipe(recipe)
    where = _device(device)
    halves, without = find_halves(root, matches)
    weights = replace(given.backbone, path=backbone, revision=None) if backbone else given.backbone
    encoder = VisionEncoder(load_backbone(weights, where), given.model.vision)
    header = header_for(encoder, weights.path, dtype)
    workers = workers or min(16, os.cpu_count() or 1)
    hands = Hands(
        batch=batch or _BATCH.get(where.type, 32), workers=workers, lanes=max(1, min(8, workers)), verify=verify
    )
    counts = _counts(data) if data is not None else {}
    with _bar(len(halves)) as show:
        done = encode_halves(
            halves,
            out,
            encoder,
            header,
            hands,
            clips=lambda half: counts.get((half.match, half.half), 0),
            progress=show,
        )
    done.problems[:0] = without
    return done


def show_encoded(done: Encoded, out: Path, *, as_json: bool) -> None:
    """A line for people or one of JSON; whatever could not be encoded, one line each on the error stream."""
    if as_json:
        sys.stdout.write(json.dumps(done.to_json(), ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(
            f"{done.written:,} halves encoded, {done.stood:,} stood there already: {done.clips:,} clips in"
            f" {done.seconds:,.0f} s ({done.speed:.1f} a second), in {out}\n"
        )
    for notice in done.notices:
        sys.stderr.write(f"note: {notice}\n")
    for problem in done.problems:
        sys.stderr.write(f"error: {problem}\n")


def _device(name: str) -> torch.device:
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"--device {name}: {reason}", remedy="use cpu, cuda or cuda:1") from error
    return found


def _counts(data: Path) -> dict[tuple[str, int], int]:
    """How many clips each half has in a build: what its video lacks of them is marked as missing."""
    from streamsoccer.training.corpus import Corpus

    return {key: half.clips for key, half in Corpus(data).halves.items()}


@contextmanager
def _bar(halves: int) -> Iterator[Callable[[Encoded], None]]:
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task("halves", total=halves)

        def show(done: Encoded) -> None:
            text = f"halves  {done.clips:,} clips  {done.speed:.1f} a second"
            bar.update(row, completed=done.written + done.stood + len(done.problems), description=text)

        yield show

"""The build for people: a progress bar on a terminal, and a table or JSON at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from streamsoccer.data.assist import Assistant
from streamsoccer.data.pipeline import BuildReport, build
from streamsoccer.errors import UsageError

__all__ = ["run_build", "show_build"]


def run_build(
    root: Path,
    out: Path,
    *,
    durations_file: Path | None,
    split_file: Path | None,
    caption_lists: Sequence[Path],
    assist: str,
    assist_model: str,
) -> BuildReport:
    """The build, with a bar on the error stream where that is a terminal."""
    if bool(assist) != bool(assist_model):
        raise UsageError("--assist and --assist-model go together", remedy="give the endpoint and the model's name")
    helper = Assistant(assist, assist_model, out / ".cache" / "assist.jsonl") if assist else None
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("matches", total=None)
        return build(
            root,
            out,
            durations_file=durations_file,
            split_file=split_file,
            caption_lists=caption_lists,
            assistant=helper,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def show_build(made: BuildReport, *, as_json: bool) -> None:
    """The summary as a table or as JSON, and on the error stream whatever could not be built, one line each."""
    if as_json:
        shown = {key: value for key, value in made.summary.items() if key not in ("matches", "manifests")}
        shown |= {"rebuilt": made.rebuilt, "reused": made.reused}
        json.dump(shown, sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        _show_table(made)
        for kind, each in made.summary["notices"].items():
            sys.stderr.write(f"note: {kind}: {each['count']:,}, first in {each['first']}\n")
    for problem in made.problems:
        sys.stderr.write(f"error: {problem}\n")
    if made.problems:
        sys.stderr.write(f"{len(made.problems):,} could not be built; the others are there\n")


def _show_table(made: BuildReport) -> None:
    counts = made.summary["counts"]
    table = Table("level", "count", title="data build", title_justify="left")
    table.columns[1].justify = "right"
    for name in ("matches", "halves", "clips", "actions", "events", "captions", "records", "samples"):
        table.add_row(name, f"{counts[name]:,}")
    for group in ("closed_by", "verdict", "track", "splits"):
        for name, number in counts.get(group, {}).items():
            table.add_row(f"  {group.replace('_', ' ')}: {name.replace('_', ' ')}", f"{number:,}")
    for name, number in made.assisted.items():
        table.add_row(f"  assist: {name.replace('_', ' ').replace('.', ' ')}", f"{number:,}")
    console = Console()
    console.print(table)
    console.print(f"{made.rebuilt:,} matches built anew, {made.reused:,} as they were", highlight=False)

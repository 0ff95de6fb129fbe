"""The commands of `streamsoccer evaluate` that need a build and a model; cli.py puts them beside `text` and `dense`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from streamsoccer.domain import Split
from streamsoccer.errors import UsageError

__all__ = ["add_commands"]

_Data = Annotated[Path, typer.Argument(help="The folder of a build: clips, events, records, samples.")]
_Cache = Annotated[Path, typer.Argument(help="The memory cache of that build.")]
_SplitName = Annotated[str, typer.Option("--split", metavar="train|validation|test", help="Which matches.")]
_Device = Annotated[str, typer.Option(metavar="cpu|cuda", help="Where the model runs.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON: numbers under their names.")]
_Replicates = Annotated[int, typer.Option(help="Bootstrap replicates.")]
_Seed = Annotated[int, typer.Option(help="Bootstrap seed.")]


def add_commands(app: typer.Typer) -> None:
    """Put the commands of this file into the group."""
    app.command("frontend")(frontend)


def parse_split(name: str) -> Split:
    if name not in list(Split):
        raise UsageError(f"there is no split {name!r}", remedy="--split " + " or ".join(Split))
    return Split(name)


def show(report: Any, as_json: bool) -> None:
    typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False) if as_json else report.to_text())


def frontend(
    data: _Data,
    cache: _Cache,
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Its model: the threshold is swept on validation matches.")
    ] = None,
    split: _SplitName = "test",
    sweep: Annotated[bool, typer.Option(help="Choose the threshold on validation matches.")] = True,
    device: _Device = "cpu",
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
    as_json: _Json = False,
) -> None:
    """Score the predicted front end: transitions, event types and sides, clip actions, beside their ceiling."""
    from streamsoccer.evaluation.frontend_report import evaluate_front_end

    report = evaluate_front_end(
        data,
        cache,
        model=model,
        split=parse_split(split),
        sweep=sweep,
        device=device,
        replicates=replicates,
        seed=seed,
    )
    show(report, as_json)

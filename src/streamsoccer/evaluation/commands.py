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
_Json = Annotated[bool, typer.Option("--json", help="Print JSON: numbers under their names.")]
_Replicates = Annotated[int, typer.Option(help="Bootstrap replicates.")]
_Seed = Annotated[int, typer.Option(help="Bootstrap seed.")]
_Recipe = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the backbone is now; without, where it was in training.")
]
_AnyDevice = Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where the model runs.")]
_Limit = Annotated[int | None, typer.Option(min=1, help="So many anchors of a track, spread over the matches.")]
_Conditions = Annotated[str, typer.Option(metavar="own,taught", help="Own run, or the paper's oracle interventions.")]
_Changes = Annotated[
    str, typer.Option(metavar="auto|all|none|NAME,...", help="Named changes; auto: all, for the model itself.")
]
_Truth = Annotated[Path | None, typer.Option(metavar="ROOT", help="The games with their truth files: fact precision.")]
_Generate = Annotated[bool, typer.Option("--generate-only", help="Write the lines; `evaluate score` is for later.")]
_Said = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the lines go; files that stand there stay.")]


def add_commands(app: typer.Typer) -> None:
    """Put the commands of this file into the group."""
    app.command("frontend")(frontend)
    app.command("records")(records)
    app.command("commentary")(commentary)
    app.command("score")(score)


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
    device: _AnyDevice = "auto",
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
        device=_device(device),
        replicates=replicates,
        seed=seed,
    )
    show(report, as_json)


def records(
    data: _Data,
    cache: _Cache,
    run: Annotated[Path, typer.Argument(help="A run of `train records`.")],
    out: _Said,
    split: _SplitName = "test",
    limit: _Limit = None,
    conditions: _Conditions = "own,taught",
    interventions: _Changes = "auto",
    recipe: _Recipe = None,
    device: _AnyDevice = "auto",
    generate_only: _Generate = False,
    truth: _Truth = None,
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
    as_json: _Json = False,
) -> None:
    """Write the record captions of a stage 2 run, under its own events and the labels', and score them."""
    from streamsoccer.evaluation.record_replay import RecordReplay
    from streamsoccer.training.recipe import Representation

    replay = RecordReplay(
        data,
        cache,
        run,
        split=parse_split(split),
        limit=limit,
        backbone=_backbone(recipe),
        device=_device(device),
    )
    itself = replay.stage.representation is Representation.RECURRENT
    replay.write(out, conditions=_named(conditions), changes=_changed(interventions, itself=itself), progress=_progress)
    if not generate_only:
        score([out], truth=truth, replicates=replicates, seed=seed, as_json=as_json)


def commentary(
    data: _Data,
    cache: _Cache,
    own: Annotated[Path, typer.Argument(help="The folder of `train own-records`.")],
    run: Annotated[Path, typer.Argument(help="A run of `train commentary`.")],
    out: _Said,
    split: _SplitName = "test",
    limit: _Limit = None,
    conditions: _Conditions = "own,taught",
    interventions: _Changes = "auto",
    recipe: _Recipe = None,
    device: _AnyDevice = "auto",
    generate_only: _Generate = False,
    truth: _Truth = None,
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
    as_json: _Json = False,
) -> None:
    """Replay the samples of a split at their cutoffs: what a stage 3 run says on each track, and its scores."""
    from streamsoccer.commentary import Scope
    from streamsoccer.evaluation.replay import CommentaryReplay

    replay = CommentaryReplay(
        data,
        cache,
        own,
        run,
        split=parse_split(split),
        limit=limit,
        backbone=_backbone(recipe),
        device=_device(device),
    )
    itself = replay.stage.scope is Scope.FULL
    replay.write(out, conditions=_named(conditions), changes=_changed(interventions, itself=itself), progress=_progress)
    if not generate_only:
        score([out], truth=truth, replicates=replicates, seed=seed, as_json=as_json)


def score(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `evaluate records` or `commentary` wrote.")],
    truth: _Truth = None,
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
    as_json: _Json = False,
) -> None:
    """Score lines that were written before: text metrics, coverage, fact precision, retrieval, with intervals."""
    from streamsoccer.evaluation.replay_scores import score_replay

    reports = [
        score_replay(each, truth=truth, replicates=replicates, seed=seed, progress=_progress) for each in folders
    ]
    if as_json:
        rows = {str(each.folder): each.to_json() for each in reports}
        typer.echo(json.dumps(rows if len(rows) > 1 else reports[0].to_json(), indent=2, ensure_ascii=False))
    else:
        typer.echo("\n\n".join(each.to_text() for each in reports))


def _named(conditions: str) -> list[str]:
    from streamsoccer.evaluation.predictions import OWN, TAUGHT

    found = [each.strip() for each in conditions.split(",") if each.strip()]
    if not found or set(found) - {OWN, TAUGHT}:
        raise UsageError(f"conditions {conditions!r}", remedy=f"--conditions {OWN},{TAUGHT}, or one of them")
    return found


def _changed(names: str, *, itself: bool) -> Any:
    """The changes asked for; `auto` is all of them for the model itself, and none for what it is compared with."""
    from streamsoccer.evaluation.interventions import parse_changes

    if names == "auto":
        names = "all" if itself else "none"
    return parse_changes("" if names == "none" else names)


def _backbone(recipe: Path | None) -> Path | None:
    if recipe is None:
        return None
    from streamsoccer.training.recipe import load_recipe

    return Path(load_recipe(recipe).backbone.path)


def _device(name: str) -> str:
    if name != "auto":
        return name
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _progress(line: str) -> None:
    typer.echo(line, err=True)

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
_Course = Annotated[Path, typer.Argument(help="The folder of `league course`, or what came back of it.")]
_League = Annotated[Path, typer.Argument(help="The test matches' truth files: <league>/<season>/<game>.")]
_Said = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the lines go; files that stand there stay.")]


def add_commands(app: typer.Typer) -> None:
    """Put the commands of this file into the group."""
    app.command("frontend")(frontend)
    app.command("records")(records)
    app.command("commentary")(commentary)
    app.command("video")(video)
    app.command("score")(score)
    app.command("files")(files)
    app.command("laboratory")(laboratory)
    app.command("examples")(examples)


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


def video(
    data: _Data,
    footage: Annotated[Path, typer.Argument(help="The folder of its matches' videos or packs.")],
    recipe: Annotated[Path, typer.Option(metavar="FILE", help="recipes/video_sft.yaml, or the run's own.")],
    out: _Said,
    run: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Of `train video`; without one, the backbone as it is.")
    ] = None,
    split: _SplitName = "test",
    limit: _Limit = None,
    conditions: _Conditions = "own,taught",
    generate_only: _Generate = False,
    truth: _Truth = None,
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
    as_json: _Json = False,
) -> None:
    """What the backbone says of windows of video, trained on them or not, and its scores: no memory takes part."""
    from streamsoccer.evaluation.video_replay import VideoReplay
    from streamsoccer.training.recipe import load_recipe
    from streamsoccer.training.video import Footage

    replay = VideoReplay(load_recipe(recipe), data, Footage(footage), run, split=parse_split(split), limit=limit)
    replay.write(out, conditions=_named(conditions), progress=_progress)
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


def files(
    model: Annotated[Path, typer.Argument(help="The folder of a model with its backbone.")],
    encoded: Annotated[Path, typer.Argument(help="Games with encoded files.")],
    frames: Annotated[Path, typer.Argument(help="The same games with packs of frames.")],
    work: Annotated[Path, typer.Option(metavar="FOLDER", help="Tokens, memories and both reports; what stands stays.")],
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
) -> None:
    """Score a model's front end on encoded files and on the frames of the same matches: what encoding costs."""
    from streamsoccer.evaluation.through_files import front_end_of

    for name, games in (("files", encoded), ("frames", frames)):
        typer.echo(f"{name}, {games}")
        show(front_end_of(model, games, work, name, replicates=replicates, seed=seed), False)


def laboratory(
    out: _Course,
    league: _League,
    to: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Where all figures go.")] = None,
    probe: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="The linear probe's figures, to stand beside.")
    ] = None,
    through: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where `evaluate files` has left its reports.")
    ] = None,
    replicates: _Replicates = 10_000,
    seed: _Seed = 0,
) -> None:
    """Every figure of a course of the league's model, with intervals over seeds and matches; prints them as tables."""
    from streamsoccer.evaluation.laboratory import Asked
    from streamsoccer.evaluation.laboratory_figures import laboratory_figures
    from streamsoccer.evaluation.laboratory_tables import laboratory_tables

    asked = Asked(replicates=replicates, seed=seed)
    figures = laboratory_figures(out, league, asked, probe=probe, through=through, progress=_progress)
    if to is not None:
        _record(to, figures, f"streamsoccer evaluate laboratory COURSE LEAGUE --to {to} --replicates {replicates}")
    typer.echo(laboratory_tables(figures))


def examples(
    out: _Course,
    league: _League,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Where <track>.md and card.md go.")],
    condition: Annotated[str, typer.Option(metavar="own|taught", help="From which contexts the lines are.")] = "own",
    model_seed: Annotated[int, typer.Option(help="The run with this seed.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="So many lines of each track, by lot, to be read.")] = 50,
    ends: Annotated[int, typer.Option(min=0, help="So many good and so many bad ones of those.")] = 10,
    seed: _Seed = 0,
) -> None:
    """Lines of the model to be read, with their claims settled, and the best and the worst of them for a model card."""
    from streamsoccer.evaluation.examples import write_examples

    named = _named(condition)[0]
    runs = [out / "said" / f"s{model_seed}-{name}" for name in ("records-recurrent", "commentary-full")]
    for path in write_examples(runs, league, to, condition=named, count=count, ends=ends, seed=seed):
        typer.echo(str(path))


def _record(path: Path, figures: Any, command: str) -> None:
    """As every file of docs/results: figures with the command, commit, machine and date that they come from."""
    import os

    from streamsoccer.clock import utc_date
    from streamsoccer.training.foundation import commit, machine

    kind = {"cpus": os.cpu_count(), "system": machine()["system"]}
    row = {"figures": figures, "command": command, "commit": commit(), "machine": kind, "date": utc_date()}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    part.replace(path)


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

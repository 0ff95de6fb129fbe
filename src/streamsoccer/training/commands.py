"""`streamsoccer train ...`: each command is a few lines that call the library."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamsoccer.domain import Split

if TYPE_CHECKING:
    from streamsoccer.training.loop import Outcome

__all__ = ["add_commands"]

_Recipe = Annotated[Path | None, typer.Option(metavar="FILE", help="recipes/*.yaml; without one, the paper's values.")]
_Data = Annotated[Path, typer.Option(metavar="BUILD", help="The folder of `data build`.")]
_Tokens = Annotated[Path, typer.Option(metavar="CACHE", help="The folder of `encode`.")]
_Memory = Annotated[Path, typer.Option(metavar="CACHE", help="The folder of `train cache-memory`.")]
_Stage1 = Annotated[Path, typer.Option(metavar="RUN", help="The folder of `train memory`.")]
_Stage2 = Annotated[Path, typer.Option(metavar="RUN", help="The folder of `train records`.")]
_Run = Annotated[Path, typer.Option(metavar="RUN", help="The run's folder; one that stands there goes on.")]
_Until = Annotated[int | None, typer.Option(min=1, help="Stop at this step, with a checkpoint.")]
_Seconds = Annotated[float | None, typer.Option(min=0, help="Stop after so many seconds, with a checkpoint.")]


def add_commands(app: typer.Typer) -> None:
    """Hang the commands into `streamsoccer train`."""
    app.command("backbone")(_backbone)
    app.command("memory")(_memory)
    app.command("cache-memory")(_cache_memory)
    app.command("records")(_records)
    app.command("own-records")(_own_records)
    app.command("commentary")(_commentary)
    app.command("video")(_video)
    app.command("ship")(_ship)


def _backbone(
    clips: Annotated[
        list[Path], typer.Option(metavar="FOLDER", help="Games with packs of clips, their captions, and boxes or none.")
    ],
    held_out: Annotated[Path, typer.Option(metavar="FOLDER", help="The same of other matches, to watch.")],
    text: Annotated[Path, typer.Option(metavar="BUILD", help="A `data build`: the words to learn.")],
    recipe: Annotated[Path, typer.Option(metavar="FILE", help="Sizes, batches and steps.")],
    out: _Run,
    until: _Until = None,
    seconds: _Seconds = None,
) -> None:
    """Before the stages: a Qwen3-VL of one's own size, from noise, on clips with captions and on text."""
    from streamsoccer.training.pretrain import pretrain
    from streamsoccer.training.pretrain_recipe import load_pretrain_recipe

    made = load_pretrain_recipe(recipe)
    told = partial(typer.echo, err=True)
    _told(pretrain(made, clips, held_out, text, out, until=until, seconds=seconds, told=told))


def _memory(
    data: _Data, tokens: _Tokens, out: _Run, recipe: _Recipe = None, until: _Until = None, seconds: _Seconds = None
) -> None:
    """Stage 1: the streaming event memory, from visual tokens and the labels' events."""
    from streamsoccer.training.memory import train_memory
    from streamsoccer.training.recipe import load_recipe

    _told(
        train_memory(load_recipe(recipe), data, tokens, out, until=until, seconds=seconds, progress=sys.stderr.isatty())
    )


def _cache_memory(
    data: _Data,
    tokens: _Tokens,
    stage1: _Stage1,
    out: Annotated[Path, typer.Option(metavar="CACHE", help="Where the memories go; halves that stand there stay.")],
    recipe: _Recipe = None,
    split: Annotated[Split | None, typer.Option(help="Only these matches.")] = None,
) -> None:
    """Run a trained event memory over every half, under the labels' resets and under its own."""
    from streamsoccer.training.memory import cache_memory
    from streamsoccer.training.recipe import load_recipe

    chosen = list(Split) if split is None else [split]
    made = cache_memory(load_recipe(recipe), data, tokens, stage1, out, splits=chosen, progress=_halves)
    typer.echo(f"{made} halves: {out}")


def _records(
    data: _Data,
    memory: _Memory,
    stage1: _Stage1,
    out: _Run,
    recipe: _Recipe = None,
    until: _Until = None,
    seconds: _Seconds = None,
) -> None:
    """Stage 2: from a completed memory to the words of its record."""
    from streamsoccer.training.recipe import load_recipe
    from streamsoccer.training.records import train_records

    _told(
        train_records(
            load_recipe(recipe), data, memory, stage1, out, until=until, seconds=seconds, progress=sys.stderr.isatty()
        )
    )


def _own_records(
    data: _Data,
    memory: _Memory,
    stage2: _Stage2,
    out: Annotated[Path, typer.Option(metavar="RECORDS", help="Where they go; matches that stand there stay.")],
    recipe: _Recipe = None,
) -> None:
    """Write down what a match would know by itself: the captions of all events that stage 1 closed on its own."""
    from streamsoccer.training.own_run import write_own_records
    from streamsoccer.training.recipe import load_recipe

    made = write_own_records(load_recipe(recipe), data, memory, stage2, out, progress=_matches)
    typer.echo(f"{made} matches: {out}")


def _commentary(
    data: _Data,
    stage2: _Stage2,
    out: _Run,
    memory: Annotated[
        Path | None, typer.Option(metavar="CACHE", help="The folder of `train cache-memory`, for the cache path.")
    ] = None,
    tokens: Annotated[Path | None, typer.Option(metavar="CACHE", help="That of `encode`, for the joint path.")] = None,
    own: Annotated[
        Path | None, typer.Option(metavar="RECORDS", help="The folder of `train own-records`, for the curriculum.")
    ] = None,
    recipe: _Recipe = None,
    until: _Until = None,
    seconds: _Seconds = None,
) -> None:
    """Stage 3: sentences of three tracks, from memories and records."""
    from streamsoccer.training.commentary_task import train_commentary
    from streamsoccer.training.recipe import load_recipe

    _told(
        train_commentary(
            load_recipe(recipe),
            data,
            stage2,
            out,
            memory=memory,
            tokens=tokens,
            own=own,
            until=until,
            seconds=seconds,
            progress=sys.stderr.isatty(),
        )
    )


def _video(
    data: _Data,
    footage: Annotated[Path, typer.Option(metavar="ROOT", help="The folder of its matches' videos or packs.")],
    out: _Run,
    recipe: _Recipe = None,
    until: _Until = None,
    seconds: _Seconds = None,
) -> None:
    """Video-SFT: stage 3's samples without a memory, windows of frames straight to the language model."""
    from streamsoccer.training.recipe import load_recipe
    from streamsoccer.training.video import train_video

    made = load_recipe(recipe)
    _told(train_video(made, data, footage, out, until=until, seconds=seconds, progress=sys.stderr.isatty()))


def _ship(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Of `train commentary`: the best is taken.")],
    data: _Data,
    tokens: _Tokens,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The model's folder, written anew.")],
) -> None:
    """Make the folder that is given away: the best run in bfloat16, its backbone, and what its training looked like."""
    from streamsoccer.training.ship import ship

    typer.echo(json.dumps(ship(runs, data, tokens, out)))


def _matches(done: int, total: int) -> None:
    typer.echo(f"{done} of {total} matches", err=True)


def _halves(done: int, total: int) -> None:
    typer.echo(f"{done} of {total} halves", err=True)


def _told(outcome: Outcome) -> None:
    """Where a run stands, on one line of JSON."""
    short = {name: round(value, 4) for name, value in outcome.validation.items() if "/" not in name}
    typer.echo(json.dumps({"step": outcome.step, "done": outcome.done, "validation": short}))

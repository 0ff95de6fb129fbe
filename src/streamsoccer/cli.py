"""The command line: each command is a few lines that call the library."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from streamsoccer import __version__
from streamsoccer.clock import MatchTime, parse_seconds
from streamsoccer.errors import StreamSoccerError, UsageError
from streamsoccer.evaluation.commands import add_commands
from streamsoccer.training.commands import add_commands as add_train_commands

__all__ = ["app", "main"]

app = typer.Typer(name="streamsoccer", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="From annotations to causal three-track data.")
evaluate_app = typer.Typer(no_args_is_help=True, help="Scores, each with its scorer, convention, N and coverage.")
app.add_typer(data_app, name="data")
app.add_typer(evaluate_app, name="evaluate")
add_commands(evaluate_app)
train_app = typer.Typer(no_args_is_help=True, help="The three stages, each from a recipe, resumable, on any GPUs.")
app.add_typer(train_app, name="train")
add_train_commands(train_app)
league_app = typer.Typer(no_args_is_help=True, help="A simulated league in SoccerNet's own files.")
app.add_typer(league_app, name="league")


def _version(show: bool) -> None:
    if show:
        typer.echo(f"streamsoccer {__version__}")
        raise typer.Exit


_ShowVersion = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")]


@app.callback()
def _root(version: _ShowVersion = False) -> None:
    """Live soccer commentary by a machine that remembers the match."""


# --- video -----------------------------------------------------------------------------------------------------------


@app.command()
def clips(
    source: Annotated[str, typer.Argument(help="A video file, a SoccerNet game folder, a live URL, or - for a pipe.")],
    begin: Annotated[str, typer.Option("--from", metavar="MM:SS", help="Start here; 'H - MM:SS' names a half.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Stop after so many clips.")] = sys.maxsize,
    half: Annotated[int, typer.Option(min=1, help="The half that a file or stream holds.")] = 1,
    half_starts: Annotated[
        str, typer.Option(metavar="T1[-E1],T2[-E2]", help="Where each half starts (and ends) in one file.")
    ] = "",
    fast: Annotated[bool, typer.Option(help="Skip frames that no other refers to: cheaper, slightly older.")] = False,
    stall: Annotated[float, typer.Option(min=1, help="Live: seconds without a frame until it reconnects.")] = 10.0,
    on_full: Annotated[
        str, typer.Option(metavar="drop|wait", help="Live: what to do when behind; a pipe waits by default.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    contact_sheet: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw what the model sees.")] = None,
) -> None:
    """Cut any video into the clips that the model sees, 4 seconds at 2 frames a second."""
    from streamsoccer.outputs import clip_table
    from streamsoccer.sources import Options, open_source, parse_half_starts, parse_on_full

    options = Options(
        fast=fast,
        stall_seconds=stall,
        on_full=parse_on_full(on_full),
        tell=lambda notice: typer.echo(f"{notice.kind}: {notice.text}", err=True),
    )
    stream = open_source(
        source,
        half=half,
        half_starts=parse_half_starts(half_starts),
        begin=(MatchTime.parse(begin) if "-" in begin else MatchTime(half, parse_seconds(begin))) if begin else None,
        options=options,
    )
    clip_table.print_clips(stream, limit=limit, as_json=as_json, contact_sheet=contact_sheet)


@app.command()
def encode(
    root: Annotated[Path, typer.Argument(help="The folder that holds league/season/game with videos or packs.")],
    out: Annotated[Path, typer.Argument(help="The token cache; one that stands there is completed.")],
    recipe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="recipes/*.yaml: which backbone, and the pictures' size.")
    ] = None,
    backbone: Annotated[str, typer.Option(metavar="FOLDER", help="The backbone, in place of the recipe's.")] = "",
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where it computes; a GPU if there is one.")] = "",
    dtype: Annotated[str, typer.Option(metavar="NAME", help="How tokens are kept; by default as computed.")] = "",
    batch: Annotated[int, typer.Option(min=0, help="Clips at once; 0: as suits the device.")] = 0,
    workers: Annotated[int, typer.Option(min=0, help="Threads that decode; 0: one a processor, 16 at most.")] = 0,
    matches: Annotated[str, typer.Option(metavar="TEXT|FROM:TO", help="Only these of the sorted matches.")] = "",
    data: Annotated[
        Path | None, typer.Option(metavar="BUILD", help="Clips of this build that a video lacks are marked missing.")
    ] = None,
    verify: Annotated[bool, typer.Option(help="Hash videos and finished shards again.")] = False,
    keep_going: Annotated[bool, typer.Option(help="Exit with 0 although some halves could not be encoded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False,
) -> None:
    """Make the visual tokens of every clip of every match, once, for training; what stands there stays."""
    from streamsoccer.training.encode import run_encode, show_encoded

    done = run_encode(
        root, out, recipe=recipe, backbone=backbone, device=device, dtype=dtype, batch=batch, workers=workers,
        matches=matches, data=data, verify=verify,
    )  # fmt: skip
    show_encoded(done, out, as_json=as_json)
    if done.problems and not keep_going:
        raise typer.Exit(1)


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say what works on this machine, what is missing, and the command that mends it."""
    from streamsoccer.doctor import Status, examine, to_rows
    from streamsoccer.testing.video import cut_a_test_film

    findings = examine(Path.cwd(), try_video=cut_a_test_film)
    if as_json:
        typer.echo(json.dumps(to_rows(findings), indent=2))
    else:
        for finding in findings:
            typer.echo(f"{finding.status.value:>8}  {finding.subject:<22}  {finding.found}")
            if finding.mend:
                typer.echo(f"{'':>8}  {'':<22}  -> {finding.mend}")
    if any(finding.status is Status.BROKEN for finding in findings):
        raise typer.Exit(1)


# --- a match ---------------------------------------------------------------------------------------------------------


@app.command()
def run(
    source: Annotated[str, typer.Argument(help="A video file, a SoccerNet game folder, a live URL, or - for a pipe.")],
    model: Annotated[Path | None, typer.Option(metavar="DIR", help="The model's folder.  [the bundled mini]")] = None,
    match: Annotated[Path | None, typer.Option(metavar="FILE", help="A match sheet (YAML): teams, line-ups.")] = None,
    feed: Annotated[Path | None, typer.Option(metavar="FILE", help="Goals, cards, substitutions with times.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Journal and outputs.  [NAME.commentary]")] = None,
    formats: Annotated[str, typer.Option(help="What to write beside the journal.")] = "jsonl,vtt,srt,soccernet",
    pace: Annotated[str, typer.Option(metavar="real|fast", help="Live sources are real.  [fast]")] = "",
    begin: Annotated[str, typer.Option("--from", metavar="MM:SS", help="Start here; 'H - MM:SS' names a half.")] = "",
    half: Annotated[int, typer.Option(min=1, help="The half that a file or stream holds.")] = 1,
    half_starts: Annotated[
        str, typer.Option(metavar="T1[-E1],T2[-E2]", help="Where each half starts (and ends) in one file.")
    ] = "",
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to compute.  [cuda where it is]")] = "",
    resume: Annotated[bool, typer.Option(help="Go on with the match whose journal stands in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Comment on a match: one line an utterance, outputs and a journal as it goes; a killed run goes on by --resume."""
    from streamsoccer.commands import RunRequest, run_match

    request = RunRequest(
        source=source,
        model=model,
        sheet=match,
        feed=feed,
        out=out,
        formats=formats,
        pace=pace,
        begin=begin,
        half=half,
        half_starts=half_starts,
        device=device,
        resume=resume,
        as_json=as_json,
    )
    run_match(request)


@app.command()
def replay(
    journal: Annotated[Path, typer.Argument(help="A match's journal.")],
    model: Annotated[Path | None, typer.Option(metavar="DIR", help="The model's folder.  [the bundled mini]")] = None,
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to compute.  [as the match was run]")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Say a match again from its journal, without its video; exit with 1 where anything comes out otherwise."""
    from streamsoccer.commands import replay_match

    if not replay_match(journal, model, device, as_json=as_json):
        raise typer.Exit(1)


@app.command()
def why(
    journal: Annotated[Path, typer.Argument(help="A match's journal.")],
    what: Annotated[str, typer.Argument(metavar="ID|TIME", help="A line's, event's or record's ID, or 'H - MM:SS'.")],
) -> None:
    """Show what a line was said from and why then, or why there was silence at a time."""
    from streamsoccer.journal_reader import JournalReader
    from streamsoccer.outputs.why import explain

    with JournalReader(journal) as reader:
        for line in explain(reader, what):
            typer.echo(line)


@app.command()
def page(
    journal: Annotated[Path, typer.Argument(help="A match's journal, or the folder that `run` wrote it to.")],
    film: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="The film, or one a half in order.  [the source]")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Where to write.  [beside the journal]")] = None,
    embed: Annotated[
        bool | None, typer.Option("--embed/--link", help="The film in the page, or beside it.  [in it if small]")
    ] = None,
) -> None:
    """Make one self-contained page of a match: film, timeline, what was known when, and why each line was said."""
    from streamsoccer.outputs.page import journal_in, write_page

    found = journal_in(journal)
    made = write_page(found, out or found.with_name("page.html"), film, embed=embed)
    typer.echo(f"{made}")


@app.command()
def watch(
    journal: Annotated[Path, typer.Argument(help="A match's journal, or the folder that `run` writes it to.")],
    film: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="The film, or one a half in order.  [the source]")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8400,
    host: Annotated[
        str, typer.Option(help="Who may connect: 127.0.0.1 is this machine, 0.0.0.0 anybody.")
    ] = "127.0.0.1",
) -> None:
    """Show a match in the browser while it runs, from its journal; it may also start later, or be over."""
    from streamsoccer.outputs.page import journal_in
    from streamsoccer.server.app import make_app, serve

    found = journal_in(journal)
    app = make_app(found, film, host=host)
    serve(app, host, port, ready=lambda address: typer.echo(f"{found} at {address} (Ctrl-C ends this, not the match)"))


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where film, journal, captions and page go.")] = Path("demo"),
    model: Annotated[Path | None, typer.Option(metavar="DIR", help="The model's folder.  [the bundled mini]")] = None,
    live: Annotated[bool, typer.Option(help="At the pace of the match, with a live page in the browser.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the live page; 0 takes any that is free.")] = 8400,
) -> None:
    """Film a simulated match of some ten minutes, comment on it, and leave all of it with one page to look at."""
    from streamsoccer.demo import run_demo

    run_demo(folder, model, live=live, port=port)


# --- data ------------------------------------------------------------------------------------------------------------


@data_app.command("build")
def data_build(
    root: Annotated[Path, typer.Argument(help="The folder that holds league/season/game.")],
    out: Annotated[Path, typer.Argument(help="Where the manifests go.")],
    durations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="{match: {half: seconds}}; default ROOT/durations.json.")
    ] = None,
    split_file: Annotated[Path | None, typer.Option(metavar="FILE", help="{split: [match, ...]}.")] = None,
    captions: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="A UniSoccer caption list.")] = None,
    assist: Annotated[str, typer.Option(metavar="URL", help="Rephrase targets by an OpenAI-compatible model.")] = "",
    assist_model: Annotated[str, typer.Option(metavar="NAME", help="That model's name.")] = "",
    keep_going: Annotated[bool, typer.Option(help="Exit with 0 although some matches could not be built.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Turn annotations into clips, events, captions, records and samples; only what changed is made anew."""
    from streamsoccer.data import report

    made = report.run_build(
        root,
        out,
        durations_file=durations,
        split_file=split_file,
        caption_lists=captions or (),
        assist=assist,
        assist_model=assist_model,
    )
    report.show_build(made, as_json=as_json)
    if not made.ok and not keep_going:
        raise typer.Exit(1)


@data_app.command("show")
def data_show(
    out: Annotated[Path, typer.Argument(help="The folder of a build.")],
    match: Annotated[str, typer.Argument(help="A match's ID, or an unambiguous part of it.")],
    half: Annotated[int | None, typer.Option(min=1, help="Only this half.")] = None,
    image: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Where to draw; default: its name.")] = None,
) -> None:
    """Draw a match as a timeline: actions, events, captions and samples, five minutes a row."""
    from streamsoccer.data.show import show

    for line in show(out, match, half=half, image=image):
        typer.echo(line)


@data_app.command("why")
def data_why(
    out: Annotated[Path, typer.Argument(help="The folder of a build.")],
    name: Annotated[str, typer.Argument(metavar="ID", help="A caption, event, sample or record, or a clear end.")],
) -> None:
    """Say why a caption went to its event or to none, and what an event or a sample is made of."""
    from streamsoccer.data.why import explain

    for line in explain(out, name):
        typer.echo(line)


@data_app.command("stats")
def data_stats(
    out: Annotated[Path, typer.Argument(help="The folder of a build.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Show the paper's funnel and split tables, ours beside theirs; close reasons, action rates, alignment, tracks."""
    from streamsoccer.data.stats import collect, show_stats

    show_stats(collect(out), as_json=as_json)


@data_app.command("audit")
def data_audit(
    out: Annotated[Path, typer.Argument(help="The folder of a build.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print every check and finding as JSON.")] = False,
) -> None:
    """Recompute what clips and events say and hold every row to it; exit with 1 where something is found."""
    from streamsoccer.data.audit import run_audit, show_audit

    report = run_audit(out)
    show_audit(report, as_json=as_json)
    if not report.ok:
        raise typer.Exit(1)


# --- evaluation ------------------------------------------------------------------------------------------------------


@evaluate_app.command("text")
def _evaluate_text(
    file: Annotated[Path, typer.Argument(help="Predictions beside references: .jsonl, .json, .csv, .tsv.")],
    prediction: Annotated[str | None, typer.Option(metavar="COLUMN", help="The predictions; found if usual.")] = None,
    reference: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="The references, text or list; may be repeated.")
    ] = None,
    match: Annotated[str | None, typer.Option(metavar="COLUMN", help="The match: adds 95% intervals.")] = None,
    half: Annotated[str | None, typer.Option(metavar="COLUMN", help="The half, for --convention half.")] = None,
    group: Annotated[str | None, typer.Option(metavar="COLUMN", help="Also score each value apart.")] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Row IDs, which must not repeat.")] = None,
    convention: Annotated[
        str,
        typer.Option(metavar="raw|plain|ptb|half", help="raw: as MatchTime. plain: near PTB. ptb, half: need Java."),
    ] = "raw",
    bertscore: Annotated[Path | None, typer.Option(metavar="FOLDER", help="RoBERTa-large, for BERTScore.")] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another system on the same anchors: adds paired differences.")
    ] = None,
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Bootstrap seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: numbers under the metrics' names.")] = False,
) -> None:
    """Score a table of predictions: CIDEr, BLEU, METEOR, ROUGE-L, Tok-F1, BERTScore."""
    from streamsoccer.evaluation.text_report import TextRequest, evaluate_text
    from streamsoccer.evaluation.tokenise import Convention

    if convention not in list(Convention):
        raise UsageError(f"there is no convention {convention!r}", remedy="--convention " + " or ".join(Convention))
    request = TextRequest(
        prediction=prediction,
        references=tuple(reference or ()),
        match=match,
        half=half,
        group=group,
        id=id_,
        convention=Convention(convention),
        bertscore=bertscore,
        against=against,
        replicates=replicates,
        seed=seed,
    )
    report = evaluate_text(file, request)
    typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False) if as_json else report.to_text())


@evaluate_app.command("dense")
def _evaluate_dense(
    predictions: Annotated[Path, typer.Argument(help="Root of league/season/game/results_dense_captioning.json.")],
    labels: Annotated[Path, typer.Argument(help="Root of league/season/game/Labels-caption.json.")],
    window: Annotated[int, typer.Option(metavar="SECONDS", help="30, or 5 for the tight protocol.")] = 30,
    time_key: Annotated[str, typer.Option(metavar="FIELD", help="Field of the labels' time.")] = "gameTime",
    label_file: Annotated[str, typer.Option(metavar="NAME", help="The labels' file name.")] = "Labels-caption.json",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: numbers under the metrics' names.")] = False,
) -> None:
    """Score dense captioning as SoccerNet-Caption does; needs Java."""
    from streamsoccer.evaluation.dense import evaluate_dense

    report = evaluate_dense(predictions, labels, window=window, time_key=time_key, label_file=label_file)
    typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False) if as_json else report.to_text())


# --- league ----------------------------------------------------------------------------------------------------------


@league_app.command("make")
def league_make(
    out: Annotated[Path, typer.Argument(help="Where the league goes; a league that stands there is continued.")],
    matches: Annotated[int, typer.Option(help="How many matches.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same league.")],
    world: Annotated[str, typer.Option(metavar="train|validation|test", help="Whose clubs and grounds.")] = "train",
    minutes: Annotated[float, typer.Option(help="Length of a half without added time.")] = 45,
    first: Annotated[int, typer.Option(help="Index of the first match: later runs may add others.")] = 0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the pictures.  [398x224; 384x224 of clips]")] = "",
    fps: Annotated[int, typer.Option(help="Frames a second.")] = 25,
    labels_only: Annotated[bool, typer.Option("--labels-only", help="No video.")] = False,
    clips: Annotated[bool, typer.Option("--clips", help="Packs of clips in place of videos, for training.")] = False,
    clip_captions: Annotated[
        bool,
        typer.Option("--clip-captions", help="With --clips: what is to be seen in each clip, in words and in boxes."),
    ] = False,
    restyled: Annotated[
        bool, typer.Option("--restyled", help="Every match in clothes and on a ground of its own: for training eyes.")
    ] = False,
    quality: Annotated[int, typer.Option(min=1, max=100, help="With --clips: of the JPEGs in a pack.")] = 88,
    workers: Annotated[int, typer.Option(help="Matches made at once; the files are the same.")] = 1,
) -> None:
    """Make matches in SoccerNet's layout: video, labels, commentary, and the truth of what happened."""
    from streamsoccer.league.make import Plan, make, parse_size, parse_world

    plan = Plan(
        matches=matches,
        seed=seed,
        first=first,
        world=parse_world(world),
        minutes=minutes,
        size=parse_size(size or ("384x224" if clips else "398x224")),
        fps=fps,
        labels_only=labels_only,
        clips=clips,
        clip_captions=clip_captions,
        restyled=restyled,
        clip_quality=quality,
    )
    made = make(out, plan, workers=workers, progress=sys.stderr.isatty())
    typer.echo(f"{made.made} matches made, {made.skipped} stood there already: {out}")


@league_app.command("sample")
def league_sample(
    out: Annotated[Path, typer.Argument(help="Where film.mp4, sheet.yaml and feed.jsonl go; they are kept there.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same match.")],
    world: Annotated[str, typer.Option(metavar="train|validation|test", help="Whose clubs and grounds.")] = "test",
    minutes: Annotated[float, typer.Option(help="Length of a half without added time.")] = 45,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the pictures.")] = "398x224",
    fps: Annotated[int, typer.Option(help="Frames a second.")] = 25,
) -> None:
    """Film one match as anybody would bring it: both halves in one film, a match sheet, an event feed."""
    from streamsoccer.league.make import parse_size, parse_world
    from streamsoccer.league.sample import SamplePlan, make_sample

    plan = SamplePlan(seed=seed, world=parse_world(world), minutes=minutes, size=parse_size(size), fps=fps)
    made = make_sample(out, plan)
    typer.echo(f"{made.film}, {'made' if made.made else 'which stood there already'}; its halves: {made.half_starts}")


@league_app.command("course")
def league_course(
    out: Annotated[
        Path, typer.Argument(help="Where matches, weights and texts go; a course that stands there goes on.")
    ],
    recipe: Annotated[Path, typer.Option(metavar="FILE", help="recipes/mini.yaml")],
    seconds: Annotated[float | None, typer.Option(min=1, help="The length of this leg.")] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="JOB", help="This job and what it needs.")] = None,
) -> None:
    """Train the league's own model from seeds: matches, backbone, stages 1 to 3, and what each run says of the test."""
    from streamsoccer.league.course import load_course, run_course

    done = run_course(load_course(recipe), out, seconds=seconds, only=only or (), told=typer.echo)
    typer.echo(json.dumps({"done": done}))


@league_app.command("stats")
def league_stats(
    out: Annotated[Path, typer.Argument(help="A folder of matches in SoccerNet's layout.")],
    against: Annotated[Path, typer.Option(metavar="ROOT", help="The real matches to stand beside.")],
    durations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="{match: {half: seconds}}; default ROOT/durations.json.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a league with real matches: rates, order and gaps of labels, events, what was shown, captions."""
    from streamsoccer.league.stats import compare, show, to_json

    found = compare(out, against, durations, progress=sys.stderr.isatty())
    if as_json:
        typer.echo(json.dumps(to_json(found), indent=2, ensure_ascii=False))
    else:
        show(found)


def main(argv: list[str] | None = None) -> Any:
    """Run a command; an error meant for people is printed without a traceback and ends with exit code 2."""
    try:
        return app(argv)
    except StreamSoccerError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()

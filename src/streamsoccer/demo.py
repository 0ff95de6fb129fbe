"""`make demo` and `make watch`: a sample match is filmed once, then commented on, and left in a folder with its page.

Like commands.py this is where folders meet: it does what a person would do by `league sample`, `run`, `page` and
`watch`, and nothing that these cannot.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from streamsoccer.bundled import bundled_model
from streamsoccer.clock import WallClock, format_seconds
from streamsoccer.commands import JOURNAL, RunRequest, run_match
from streamsoccer.errors import UsageError

if TYPE_CHECKING:
    from streamsoccer.league.sample import Sample, SamplePlan

__all__ = ["CLIPS", "DEMO_MINUTES", "DEMO_SEED", "demo_plan", "run_demo"]

# Of the test world, which no training sees: two goals, a penalty, a red and a yellow card, substitutions, replays.
DEMO_SEED, DEMO_MINUTES = 337, 4.0
CLIPS = 15  # that are shown where there is no model
_LEFT = (f"{JOURNAL}*", "commentary.*", "results_dense_captioning.json", "page.html")  # by the run before


def demo_plan() -> SamplePlan:
    from streamsoccer.league.sample import SamplePlan

    return SamplePlan(seed=DEMO_SEED, minutes=DEMO_MINUTES)


def run_demo(
    folder: Path, model: Path | None = None, *, live: bool = False, port: int = 8400, plan: SamplePlan | None = None
) -> None:
    """The whole demo; `live` at the pace of the match, with a page that shows it in the browser."""
    from streamsoccer.league.sample import make_sample

    clock, plan = WallClock(), plan or demo_plan()
    begun = clock.now()
    _say(f"A simulated match, filmed in {folder}: about a minute of work the first time ...")
    sample = make_sample(folder, plan)
    length = format_seconds(float(int(sample.seconds)))
    done = f"filmed in {clock.now() - begun:.0f} s" if sample.made else "filmed before"
    _say(f"{sample.film}: {length} of football, {done}")
    if model is None and (missing := _missing()):
        _clips_alone(sample, missing)
        return
    for pattern in _LEFT:
        for each in folder.glob(pattern):
            each.unlink()
    begun = clock.now()
    showing: AbstractContextManager[subprocess.Popen[str] | None] = _page(folder, port) if live else nullcontext()
    with showing as server:
        run_match(_request(sample, model, live=live))
        took = clock.now() - begun
        _left(sample, took, live=live)
        if server is not None:
            _say("The match is over; its page stays until Ctrl-C.")
            server.wait()


def _request(sample: Sample, model: Path | None, *, live: bool) -> RunRequest:
    """Teams by their names from the sheet; score, cards and everything else from the pictures alone."""
    return RunRequest(
        source=str(sample.film),
        model=model,
        sheet=sample.sheet,
        out=sample.folder,
        half_starts=sample.half_starts,
        pace="real" if live else "fast",
    )


def _left(sample: Sample, took: float, *, live: bool) -> None:
    """The page, and what stands where."""
    from streamsoccer.outputs.page import write_page

    page = write_page(sample.folder / JOURNAL, sample.folder / "page.html", embed=True)
    name = shlex.quote(str(sample.folder))
    if not live:
        share = f"{format_seconds(float(int(sample.seconds)))} of football in {format_seconds(float(round(took)))}"
        _say(f"\n{share}, from the first clip to the last line, starting the model included.")
    _say(f"{page}\n    the film, the captions, and for each line what it was said from: open it in a browser")
    _say(f"{sample.folder}/commentary.vtt, .srt, .jsonl: beside film.mp4 for any player; {JOURNAL}: all that happened")
    _say(f"Try next:  streamsoccer why {name}/{JOURNAL} '1 - 02:00'")
    _say(
        f"           streamsoccer run {name}/film.mp4 --half-starts {sample.half_starts} --match {name}/sheet.yaml "
        f"--feed {name}/feed.jsonl --out {name}/named      # names and score from somebody in the ground"
    )


def _missing() -> str:
    try:
        bundled_model()
    except UsageError as error:
        return str(error)
    return ""


def _clips_alone(sample: Sample, why: str) -> None:
    """What can be shown without a model, and that it is not the demo."""
    from streamsoccer.outputs.clip_table import print_clips
    from streamsoccer.sources import open_source, parse_half_starts

    _say(f"There is no commentary: {why}")
    _say(
        f"So here are only the first {CLIPS} clips as a model would see them; the picture is {sample.folder}/clips.png:"
    )
    source = open_source(str(sample.film), half_starts=parse_half_starts(sample.half_starts))
    print_clips(source, limit=CLIPS, as_json=False, contact_sheet=sample.folder / "clips.png")


@contextmanager
def _page(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The live page in a process of its own: whatever happens there, the match does not wait for it."""
    command = [sys.executable, "-m", "streamsoccer.cli", "watch", str(folder), "--port", str(port)]
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # else that one would outlive this one
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and server.stderr is not None
            told = server.stdout.readline()
            if not told:
                raise UsageError(server.stderr.read().strip().removeprefix("error: ") or "the live page did not start")
            _say(f"The live page: {told.split(' at ')[-1].split()[0]}")
            yield server
        finally:
            signal.signal(signal.SIGTERM, before)
            server.terminate()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

"""`league make`: matches in folders of SoccerNet's layout, whole or not there; resumes, and never mixes two leagues."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsoccer.errors import DataError, UsageError
from streamsoccer.league.labels import label_file, video_notes
from streamsoccer.league.match import Match
from streamsoccer.league.names import WorldName
from streamsoccer.league.truth import write_truth
from streamsoccer.league.world import fixture

__all__ = ["VERSION", "Made", "Plan", "make", "parse_size", "parse_world"]

VERSION = 1  # of the simulation: another number is another league
NOTES = "league.json"
_PART = ".part-"
_LOCK = ".lock"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What league to make."""

    matches: int
    seed: int
    world: WorldName = WorldName.TRAIN
    minutes: float = 45
    size: tuple[int, int] = (398, 224)
    fps: int = 25
    labels_only: bool = False

    def check(self) -> None:
        """Refuse what cannot be made, before anything is written."""
        if self.matches < 1:
            raise UsageError(f"a league of {self.matches} matches", remedy="--matches takes 1 or more")
        Match(self.seed, world=self.world, minutes=self.minutes)
        if not 5 <= self.fps <= 60:
            raise UsageError(f"{self.fps} frames a second", remedy="--fps takes 5 to 60")
        if not self.labels_only:
            from streamsoccer.league.broadcast import check_size

            check_size(self.size)

    def identity(self) -> dict[str, Any]:
        """What makes two leagues the same one; the number of matches does not: a league may grow."""
        pictures = None if self.labels_only else {"size": list(self.size), "fps": self.fps}
        return {
            "version": VERSION,
            "world": self.world.value,
            "seed": self.seed,
            "minutes": self.minutes,
            "pictures": pictures,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What a run did."""

    made: int
    skipped: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    out: Path
    plan: Plan
    index: int


def make(out: Path, plan: Plan, *, workers: int = 1, progress: bool = False) -> Made:
    """Make the matches that are not there yet; the same plan gives the same files whatever the number of workers."""
    plan.check()
    if workers < 1:
        raise UsageError(f"{workers} workers", remedy="--workers takes 1 or more")
    with _explained(out):
        out.mkdir(parents=True, exist_ok=True)
        with _alone(out):
            _claim(out, plan)
            for stale in out.glob(f"{_PART}*"):
                shutil.rmtree(stale)
            jobs = [_Job(out=out, plan=plan, index=each) for each in range(plan.matches)]
            waiting = [job for job in jobs if _finished(job) is None]
            try:
                _run(waiting, workers, progress)
            finally:
                for stale in out.glob(f"{_PART}*"):
                    shutil.rmtree(stale, ignore_errors=True)
    return Made(made=len(waiting), skipped=len(jobs) - len(waiting))


@contextmanager
def _explained(out: Path) -> Iterator[None]:
    """Tell of a full disk or a folder that may not be written in words."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "free some space and run the same command again: finished matches stay"
            raise DataError("the disk is full", where=out, remedy=remedy) from error
        where = error.filename or out
        raise DataError(f"cannot be written: {error.strerror or error}", where=where) from error


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Hold the folder for this run."""
    with (out / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError("another run is making this league now", where=out, remedy="wait for it") from error
        try:
            yield
        finally:
            (out / _LOCK).unlink(missing_ok=True)


def _claim(out: Path, plan: Plan) -> None:
    """Write what league this is, or see that the one here is the same."""
    notes = out / NOTES
    wanted = plan.identity()
    if notes.exists():
        try:
            found = json.loads(notes.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"broken JSON: {error}", where=notes, remedy="name an empty folder") from error
        differ = sorted(key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key])
        if differ:
            told = ", ".join(f"{key} {found.get(key)!r} there, {wanted[key]!r} asked" for key in differ)
            raise UsageError(f"another league stands here: {told}", where=out, remedy="name an empty folder")
        return
    if any(each.name != _LOCK and not each.name.startswith(_PART) for each in out.iterdir()):
        raise UsageError(f"the folder is not empty and holds no {NOTES}", where=out, remedy="name an empty folder")
    beside = out / f"{_PART}notes"
    beside.mkdir(exist_ok=True)
    (beside / NOTES).write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
    (beside / NOTES).rename(notes)
    beside.rmdir()


def _finished(job: _Job) -> Path | None:
    """The match's folder, if it is there: it came by renaming, so it is whole."""
    played = fixture(job.plan.world, job.plan.seed, job.index)
    season = job.out / played.league / played.season
    start, end = f"{played.date} {played.home.name} ", f" {played.away.name}"
    if not season.is_dir():
        return None
    return next((each for each in season.iterdir() if each.name.startswith(start) and each.name.endswith(end)), None)


def _run(jobs: list[_Job], workers: int, progress: bool) -> None:
    with _bar(len(jobs), progress) as advance:
        if workers == 1 or len(jobs) < 2:
            for job in jobs:
                advance(make_match(job))
            return
        # Fresh processes: nothing of this one leaks into them, on any system.
        context = multiprocessing.get_context("spawn")
        with context.Pool(min(workers, len(jobs)), initializer=_leave_interrupts_to_the_parent) as pool:
            for name in pool.imap_unordered(make_match, jobs):
                advance(name)


def _leave_interrupts_to_the_parent() -> None:
    """A key pressed in a terminal reaches every process; one of them tidies up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _bar(total: int, progress: bool) -> Iterator[Any]:
    """A progress bar on standard error, where it is a terminal."""
    if not progress or not total:
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("matches", total=total)
        yield lambda name: bar.update(task, advance=1)


def make_match(job: _Job) -> str:
    """Write one match beside its place, then move it there; returns its name."""
    plan = job.plan
    match = Match(plan.seed, world=plan.world, minutes=plan.minutes, index=job.index)
    part = job.out / f"{_PART}{job.index:05d}"
    if part.exists():
        shutil.rmtree(part)
    part.mkdir()
    names = {trace.half: f"{trace.half}_{plan.size[1]}p.mkv" for trace in match.halves}
    _write_json(part / "Labels-v2.json", label_file(match))
    from streamsoccer.league import captions

    _write_json(part / "Labels-caption.json", captions.write(match))
    (part / "video.ini").write_text(video_notes(match, names), encoding="utf-8")
    for trace in match.halves:
        write_truth(part / f"{trace.half}_truth.jsonl", trace, match.fixture)
    if not plan.labels_only:
        from streamsoccer.league.film import write_film

        for trace in match.halves:
            write_film(part / names[trace.half], match, trace.half, size=plan.size, fps=plan.fps)
    final = job.out / match.game
    final.parent.mkdir(parents=True, exist_ok=True)
    part.rename(final)
    return match.game


def _write_json(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parse_size(text: str) -> tuple[int, int]:
    """Read 'WxH'."""
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise UsageError(f"{text!r} is not a size", remedy="write width and height as in 398x224")
    return int(width), int(height)


def parse_world(text: str) -> WorldName:
    """The world that is named so."""
    if text not in list(WorldName):
        raise UsageError(f"there is no world {text!r}", remedy="--world " + ", ".join(WorldName))
    return WorldName(text)

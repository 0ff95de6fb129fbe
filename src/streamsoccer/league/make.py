"""`league make`: matches in folders of SoccerNet's layout, whole or not there; resumes, and never mixes two leagues."""

from __future__ import annotations

import errno
import fcntl
import json
import shutil
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsoccer.errors import DataError, UsageError
from streamsoccer.league.crew import Crew
from streamsoccer.league.labels import label_file, video_notes
from streamsoccer.league.match import Match
from streamsoccer.league.names import WorldName
from streamsoccer.league.truth import Trace, write_truth
from streamsoccer.league.world import fixture

__all__ = ["VERSION", "Made", "Plan", "explained", "make", "parse_size", "parse_world"]

VERSION = 2  # of the simulation: another number is another league
NOTES = "league.json"
_PART = ".part-"
_LOCK = ".lock"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What league to make."""

    matches: int
    seed: int
    first: int = 0  # the index of the first match: the same index is the same match in whatever run
    world: WorldName = WorldName.TRAIN
    minutes: float = 45
    size: tuple[int, int] = (398, 224)
    fps: int = 25
    labels_only: bool = False
    clips: bool = False  # packs of clips in place of films
    clip_captions: bool = False  # and what is to be seen in each clip, in words and in boxes
    restyled: bool = False  # every match in clothes and on a ground of its own
    clip_quality: int = 88  # of the JPEGs in a pack

    def check(self) -> None:
        """Refuse what cannot be made, before anything is written."""
        if self.matches < 1:
            raise UsageError(f"a league of {self.matches} matches", remedy="--matches takes 1 or more")
        if self.first < 0:
            raise UsageError(f"a first match of {self.first}", remedy="--first takes 0 or more")
        if self.labels_only and self.clips:
            raise UsageError("labels only, and clips", remedy="leave out --labels-only or --clips")
        if self.clip_captions and not self.clips:
            raise UsageError("captions of clips without clips", remedy="add --clips")
        if self.clip_captions and self.world is WorldName.TEST:
            raise UsageError("captions of clips are for training, and the test league for the test")
        if self.restyled and (self.labels_only or self.world is WorldName.TEST):
            raise UsageError(
                "matches that look otherwise are for training eyes",
                remedy="leave out --restyled where there are no pictures, or where the test world plays",
            )
        Match(self.seed, world=self.world, minutes=self.minutes)
        if not 5 <= self.fps <= 60:
            raise UsageError(f"{self.fps} frames a second", remedy="--fps takes 5 to 60")
        if not self.labels_only:
            from streamsoccer.league.broadcast import check_size

            check_size(self.size)

    def identity(self) -> dict[str, Any]:
        """What makes two leagues the same one; the number of matches does not: a league may grow."""
        pictures: dict[str, Any] | None = {"size": list(self.size), "fps": self.fps}
        if self.clips:
            pictures = {"size": list(self.size), "clips": self.clip_quality, "captions": self.clip_captions}
        elif self.labels_only:
            pictures = None
        if pictures is not None and self.restyled:
            pictures["restyled"] = True
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
    """A match to be played, written and, but for clips, filmed."""

    out: Path
    plan: Plan
    index: int

    @property
    def part(self) -> Path:
        return self.out / f"{_PART}{self.index:05d}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Half:
    """A half that was played, to be packed as clips."""

    job: _Job
    trace: Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class _Done:
    """What a worker gives back: the match's name and, where there are still clips to be made, its halves."""

    job: _Job
    game: str = ""
    halves: tuple[Trace, ...] = ()


def make(out: Path, plan: Plan, *, workers: int = 1, progress: bool = False) -> Made:
    """Make the matches that are not there yet; the same plan gives the same files whatever the number of workers."""
    plan.check()
    if workers < 1:
        raise UsageError(f"{workers} workers", remedy="--workers takes 1 or more")
    with explained(out):
        out.mkdir(parents=True, exist_ok=True)
        with _alone(out):
            _claim(out, plan)
            for stale in out.glob(f"{_PART}*"):
                shutil.rmtree(stale)
            jobs = [_Job(out=out, plan=plan, index=each) for each in range(plan.first, plan.first + plan.matches)]
            waiting = [job for job in jobs if _finished(job) is None]
            try:
                _run(waiting, workers, progress)
            finally:
                for stale in out.glob(f"{_PART}*"):
                    shutil.rmtree(stale, ignore_errors=True)
    return Made(made=len(waiting), skipped=len(jobs) - len(waiting))


@contextmanager
def explained(out: Path) -> Iterator[None]:
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
    """All matches, half by half where there are clips to be made: so every worker is busy to the end."""
    waiting, halves = deque(jobs), deque[_Half]()
    games: dict[int, str] = {}
    left: dict[int, int] = {}  # halves that are still to be packed
    pieces = 2 if jobs and jobs[0].plan.clips else 1
    crew_size = min(workers, len(jobs) * pieces) or 1
    with _bar(len(jobs), progress) as advance, Crew(_work, crew_size) as crew:
        busy = 0
        while waiting or halves or busy:
            while crew.free and (waiting or halves):
                # A few halves lie ready, so that the last tasks of all are halves, and not the play of a match.
                task = waiting.popleft() if waiting and len(halves) < crew_size else halves.popleft()
                crew.send(task)
                busy += 1
            done: _Done = crew.take()
            busy -= 1
            index = done.job.index
            if done.game:
                games[index], left[index] = done.game, len(done.halves)
                halves.extend(_Half(job=done.job, trace=trace) for trace in done.halves)
            else:
                left[index] -= 1
            if not left[index]:
                _put_in_place(done.job, games[index])
                advance(games[index])


def _work(task: _Job | _Half) -> _Done:
    """What a worker does."""
    if isinstance(task, _Half):
        _write_clips(task)
        return _Done(job=task.job)
    match = _write_match(task)
    return _Done(job=task, game=match.game, halves=match.halves if task.plan.clips else ())


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


def _write_match(job: _Job) -> Match:
    """Play a match and write its files beside its place; its clips come later, half by half."""
    plan = job.plan
    match = Match(plan.seed, world=plan.world, minutes=plan.minutes, index=job.index, restyled=plan.restyled)
    if job.part.exists():
        shutil.rmtree(job.part)
    job.part.mkdir()
    names = {trace.half: _video_name(plan, trace.half) for trace in match.halves}
    _write_json(job.part / "Labels-v2.json", label_file(match))
    from streamsoccer.league import captions

    _write_json(job.part / "Labels-caption.json", captions.write(match))
    (job.part / "video.ini").write_text(video_notes(match, names), encoding="utf-8")
    for trace in match.halves:
        write_truth(job.part / f"{trace.half}_truth.jsonl", trace, match.fixture)
    if not plan.labels_only and not plan.clips:
        from streamsoccer.league.film import write_film

        for trace in match.halves:
            write_film(job.part / names[trace.half], match, trace.half, size=plan.size, fps=plan.fps)
    return match


def _write_clips(task: _Half) -> None:
    """The clips of a half straight from simulation and camera, and what is to be seen in them, and where."""
    from streamsoccer.league.broadcast import Broadcast
    from streamsoccer.sources.pack import PackWriter

    plan, trace = task.job.plan, task.trace
    played = fixture(plan.world, plan.seed, task.job.index, restyled=plan.restyled)
    broadcast = Broadcast(played, [trace], plan.size)
    path = task.job.part / _video_name(plan, trace.half)
    with PackWriter(path, half=trace.half, quality=plan.clip_quality) as pack:
        for clip in broadcast.clips(trace.half):
            pack.add(clip)
    if plan.clip_captions:
        from streamsoccer.league.describe import write_descriptions
        from streamsoccer.league.whereabouts import write_boxes

        on_air = broadcast.halves[trace.half]
        write_descriptions(task.job.part / f"{trace.half}_clip-captions.jsonl", played, on_air)
        write_boxes(task.job.part / f"{trace.half}_clip-boxes.npz", on_air, plan.size)


def _video_name(plan: Plan, half: int) -> str:
    return f"{half}_{plan.size[1]}p.{'clips' if plan.clips else 'mkv'}"


def _put_in_place(job: _Job, game: str) -> None:
    final = job.out / game
    final.parent.mkdir(parents=True, exist_ok=True)
    job.part.rename(final)


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

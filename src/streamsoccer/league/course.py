"""The course of the league's own model: from seeds to weights, every stage a command of its own, in legs.

    OUT/league/{words,short,train,validation,test}  matches; words: labels alone, for the language; short: for the
                                                backbone, which learns from many clothes and not from long stories
    OUT/matches, OUT/data                       the three worlds as one corpus, and its build
    OUT/backbone, OUT/tokens                    eyes and tongue from noise; what they see of every clip
    OUT/s1, OUT/s2, ...                         a seed's stages: memory, cache, records, own records, commentary
    OUT/model                                   the best seed's model, as it is given away
    OUT/recipes, OUT/logs, OUT/done             what each job is told, what it said, and which are done

A job starts once all it needs is done; several run at once. At the end of a leg what is going on is stopped: training
leaves a checkpoint, everything else goes on from the files it has written. The next leg goes on from there.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from streamsoccer.clock import Clock, WallClock
from streamsoccer.config import from_mapping, load_yaml, merged
from streamsoccer.errors import DataError, UsageError
from streamsoccer.league.names import WorldName

__all__ = ["Course", "Job", "jobs_of", "load_course", "run_course"]

_GRACE = 8.0  # seconds that a job has to write its checkpoint before the leg ends
_LOOK = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """How many matches each world plays."""

    words: int = 240
    short: int = 0
    short_minutes: float = 8
    train: int = 110
    validation: int = 10
    test: int = 40
    seed: int = 11
    restyled: bool = False  # what is learnt from wears clothes that nobody else wears
    minutes: float = 45
    size: str = "384x224"
    quality: int = 75
    workers: int = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What recipes/mini.yaml holds: matches, the backbone's recipe, the stages' recipe, and what is compared."""

    matches: Matches = field(default_factory=Matches)
    backbone: Mapping[str, Any] = field(default_factory=dict)
    stages: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (1, 2, 3)
    representations: tuple[str, ...] = ("recurrent", "event_pool", "fixed_pool")
    scopes: tuple[str, ...] = ("full", "local", "current")
    growth: tuple[int, ...] = ()  # numbers of training matches, for the curve
    samples: int = 0  # of the test matches that each track and the records are asked for; 0: all
    together: int = 12  # jobs at once
    encoders: int = 4  # of the matches' clips, side by side

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise UsageError(f"seeds {list(self.seeds)}", remedy="name one or more, each once")
        if "recurrent" not in self.representations or "full" not in self.scopes:
            raise UsageError("the model itself is missing: representations hold recurrent, scopes full")


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One command, or a step of the course itself."""

    name: str
    command: tuple[str, ...] = ()
    call: Callable[[], None] | None = None
    needs: tuple[str, ...] = ()
    legs: bool = False  # takes --seconds, and its last line says whether it is done
    alone: bool = False  # wants the GPU for itself
    save: str = ""  # a file for what it prints
    polite: int = 0  # how far it lets others go first where processors are short


def load_course(path: Path) -> Course:
    return from_mapping(Course, load_yaml(path), path)


# --- what is to be done ----------------------------------------------------------------------------------------------


def jobs_of(course: Course, out: Path) -> list[Job]:
    """All jobs of the course, each after what it needs."""
    made = _matches(course, out)
    made += _backbone(course, out)
    for seed in course.seeds:
        # The first seed's model goes first: what a leg is too short for is then a repetition.
        made += [replace(job, polite=0 if seed == course.seeds[0] else 5) for job in _seed(course, out, seed)]
    for count in course.growth:
        made += _growth(course, out, count)
    runs = {f"s{seed}-commentary-full": out / f"s{seed}" / "commentary-full" for seed in course.seeds}
    given = ("--data", str(out / "data"), "--tokens", str(out / "tokens"), "--out", str(out / "model"))
    made.append(Job(name="model", command=("train", "ship", *map(str, runs.values()), *given), needs=tuple(runs)))
    return made


def _matches(course: Course, out: Path) -> list[Job]:
    plan, league = course.matches, out / "league"

    def make(name: str, world: WorldName, count: int, *more: str, seed: int = 0, minutes: float = plan.minutes) -> Job:
        command = ("league", "make", str(league / name), "--matches", str(count), "--seed", str(plan.seed + seed))
        shape = ("--world", world.value, "--minutes", f"{minutes:g}", "--workers", str(plan.workers))
        # Filming fills all processors, and lets go of one where training asks for it.
        return Job(name=f"league-{name}", command=(*command, *shape, *more), polite=10)

    clips = ("--clips", "--size", plan.size, "--quality", str(plan.quality))
    words = make("words", WorldName.TRAIN, plan.words, "--labels-only", seed=1)
    told = (*clips, "--clip-captions", *(("--restyled",) if plan.restyled else ()))
    train = make("train", WorldName.TRAIN, plan.train, *told)
    short = make("short", WorldName.TRAIN, plan.short, *told, seed=2, minutes=plan.short_minutes)
    watched = make("validation", WorldName.VALIDATION, plan.validation, *clips, "--clip-captions")
    test = make("test", WorldName.TEST, plan.test, *clips)
    order = [words, watched, *((short,) if plan.short else ()), train, test]
    order = [order[0], *(_after(job, before.name) for before, job in itertools.pairwise(order))]
    join = Job(name="matches", call=lambda: _join(out), needs=tuple(each.name for each in order))
    build = Job(
        name="data",
        command=("data", "build", str(out / "matches"), str(out / "data"), "--split-file", str(out / "split.json")),
        needs=("matches",),
    )
    return [*order, join, build]


def _backbone(course: Course, out: Path) -> list[Job]:
    words = Job(
        name="words", command=("data", "build", str(out / "league" / "words"), str(out / "words")),
        needs=("league-words",),
    )  # fmt: skip
    train = Job(
        name="backbone",
        command=(
            *("train", "backbone", "--recipe", str(_recipe(out, "backbone", course.backbone))),
            *("--clips", str(out / "league" / "train"), "--held-out", str(out / "league" / "validation")),
            *(("--clips", str(out / "league" / "short")) if course.matches.short else ()),
            *("--text", str(out / "words"), "--out", str(out / "backbone")),
        ),
        needs=("words", "league-validation"),
        legs=True,
        alone=True,
    )
    stages = _stages(course, out, "stages", 0)
    plan = course.matches
    matches = plan.train + plan.validation + plan.test
    count = max(1, min(course.encoders, matches))
    encode = [
        Job(
            name=f"tokens-{each}",
            command=(
                *("encode", str(out / "matches"), str(out / "tokens"), "--recipe", str(stages)),
                *("--matches", f"{matches * each // count}:{matches * (each + 1) // count}"),
                *("--workers", str(max(2, plan.workers // count))),
            ),
            needs=("backbone", "matches"),
        )
        for each in range(count)
    ]
    whole = Job(name="tokens", call=lambda: None, needs=tuple(each.name for each in encode))
    return [words, train, *encode, whole]


def _seed(course: Course, out: Path, seed: int) -> list[Job]:
    """Stages 1 to 3 of a seed with the variants that are compared, and what each says of the test matches."""
    here, name = out / f"s{seed}", f"s{seed}"
    data, tokens = ("--data", str(out / "data")), ("--tokens", str(out / "tokens"))
    stages, chosen = str(_stages(course, out, name, seed)), str(out / "recipes" / f"{name}-chosen.yaml")
    stage1, memory = ("--stage1", str(here / "memory")), ("--memory", str(here / "cache"))

    def cache(folder: str, recipe: str, *more: str) -> tuple[str, ...]:
        where = ("--out", str(here / folder), "--recipe", recipe)
        return ("train", "cache-memory", *data, *tokens, *stage1, *where, *more)

    made = [
        Job(
            name=f"{name}-memory",
            command=("train", "memory", *data, *tokens, "--out", str(here / "memory"), "--recipe", stages),
            needs=("tokens", "data"),
            legs=True,
        ),
        Job(
            name=f"{name}-watch",
            command=cache("watch", stages, "--split", "validation"),
            needs=(f"{name}-memory",),
        ),
        Job(
            name=f"{name}-sweep",
            command=(
                *("evaluate", "frontend", str(out / "data"), str(here / "watch"), "--split", "validation", "--json"),
                *("--model", str(here / "memory"), "--replicates", "10"),
            ),
            needs=(f"{name}-watch",),
            save=str(here / "sweep.json"),
        ),
        Job(
            name=f"{name}-threshold",
            call=lambda: _choose(out, name),
            needs=(f"{name}-sweep",),
        ),
        Job(name=f"{name}-cache", command=cache("cache", chosen), needs=(f"{name}-threshold",)),
        Job(
            name=f"{name}-frontend",
            command=("evaluate", "frontend", str(out / "data"), str(here / "cache"), "--json"),
            needs=(f"{name}-cache",),
            save=str(here / "frontend.json"),
        ),
    ]
    limit = ("--limit", str(course.samples)) if course.samples else ()
    for kind in course.representations:
        recipe = _recipe(out, f"{name}-{kind}", {"extends": f"{name}-chosen.yaml", "stage2": {"representation": kind}})
        run, label = here / f"records-{kind}", f"{name}-records-{kind}"
        made += [
            Job(
                name=label,
                command=(
                    *("train", "records", *data, *memory, *stage1, "--out", str(run)),
                    *("--recipe", str(recipe)),
                ),
                needs=(f"{name}-cache",),
                legs=True,
            ),
            Job(
                name=f"{label}-say",
                command=(
                    *("evaluate", "records", str(out / "data"), str(here / "cache"), str(run)),
                    *("--recipe", str(recipe), "--generate-only", *limit),
                    *("--out", str(out / "said" / label)),
                ),
                needs=(label,),
            ),
        ]
    stage2 = here / "records-recurrent"
    made.append(
        Job(
            name=f"{name}-own",
            command=(
                *("train", "own-records", *data, *memory, "--stage2", str(stage2)),
                *("--out", str(here / "own"), "--recipe", chosen),
            ),
            needs=(f"{name}-records-recurrent",),
        )
    )
    for scope in course.scopes:
        recipe = _recipe(out, f"{name}-{scope}", {"extends": f"{name}-chosen.yaml", "stage3": {"scope": scope}})
        run, label = here / f"commentary-{scope}", f"{name}-commentary-{scope}"
        made += [
            Job(
                name=label,
                command=(
                    *("train", "commentary", *data, *memory, "--own", str(here / "own"), "--stage2", str(stage2)),
                    *("--out", str(run), "--recipe", str(recipe)),
                ),
                needs=(f"{name}-own",),
                legs=True,
            ),
            Job(
                name=f"{label}-say",
                command=(
                    *("evaluate", "commentary", str(out / "data"), str(here / "cache"), str(here / "own"), str(run)),
                    *("--recipe", str(recipe), "--generate-only", *limit),
                    *("--out", str(out / "said" / label)),
                ),
                needs=(label,),
            ),
        ]
    return made


def _growth(course: Course, out: Path, count: int) -> list[Job]:
    """Stage 1 from fewer matches: the same validation and test matches."""
    name, seed = f"g{count}", course.seeds[0]
    here, stages = out / name, str(_stages(course, out, name, seed))
    data = ("--data", str(out / name / "data"))
    return [
        Job(name=f"{name}-split", call=lambda: _fewer(out, name, count), needs=("model",)),
        Job(
            name=f"{name}-data",
            command=(
                *("data", "build", str(out / "matches"), str(here / "data")),
                *("--split-file", str(here / "split.json")),
            ),
            needs=(f"{name}-split",),
        ),
        Job(
            name=f"{name}-memory",
            command=(
                *("train", "memory", *data, "--tokens", str(out / "tokens")),
                *("--out", str(here / "memory"), "--recipe", stages),
            ),
            needs=(f"{name}-data",),
            legs=True,
        ),
    ]


def _after(job: Job, *names: str) -> Job:
    return replace(job, needs=(*job.needs, *names))


# --- the course's own steps ------------------------------------------------------------------------------------------


def _join(out: Path) -> None:
    """The three worlds side by side as one corpus, and who is in which split."""
    root, split = out / "matches", {}
    root.mkdir(exist_ok=True)
    for world in ("train", "validation", "test"):
        folder = out / "league" / world
        for name in sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")):
            link = root / name
            if not link.is_symlink():
                link.symlink_to((folder / name).resolve(), target_is_directory=True)
        games = (each.relative_to(folder).as_posix() for each in folder.glob("*/*/*") if each.is_dir())
        split[world] = sorted(each for each in games if not each.startswith("."))
    (out / "split.json").write_text(json.dumps(split, indent=1) + "\n", encoding="utf-8")


def _fewer(out: Path, name: str, count: int) -> None:
    """A split file whose training part has lost all matches but `count`; the others go where nothing is chosen on."""
    split = json.loads((out / "split.json").read_text(encoding="utf-8"))
    split["test"] = [*split["test"], *split["train"][count:]]
    split["train"] = split["train"][:count]
    (out / name).mkdir(exist_ok=True)
    (out / name / "split.json").write_text(json.dumps(split, indent=1) + "\n", encoding="utf-8")


def _choose(out: Path, name: str) -> None:
    """The recipe with the transition threshold that is best on validation matches."""
    threshold = float(json.loads((out / name / "sweep.json").read_text(encoding="utf-8"))["threshold"])
    change = {"model": {"transition": {"threshold": threshold}}}
    _recipe(out, f"{name}-chosen", {"extends": f"{name}.yaml", **change})


def _stages(course: Course, out: Path, name: str, seed: int) -> Path:
    """The stages' recipe on this course's backbone, with this seed everywhere."""
    loops = {f"stage{stage}": {"loop": {"seed": seed}} for stage in (1, 2, 3)}
    where: dict[str, Any] = {"backbone": {"path": str((out / "backbone" / "backbone").resolve())}}
    if course.backbone.get("digest_weight"):
        where["stage1"] = {"adapter": str((out / "backbone" / "adapter.safetensors").resolve())}
    return _recipe(out, name, merged(merged(course.stages, loops), where))


def _recipe(out: Path, name: str, content: Mapping[str, Any]) -> Path:
    path = out / "recipes" / f"{name}.yaml"
    _dump(path, content)
    return path


def _dump(path: Path, content: Mapping[str, Any]) -> None:
    import yaml

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False), encoding="utf-8")


# --- a leg -----------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True, slots=True)
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    begun: float


def run_course(
    course: Course,
    out: Path,
    *,
    seconds: float | None = None,
    only: Sequence[str] = (),
    told: Callable[[str], None] = lambda line: None,
    clock: Clock | None = None,
) -> bool:
    """Run what can be run for so many seconds; says whether all is done.

    A job that fails holds up those that need it and no others; at the end of the leg it is an error.
    """
    clock = clock or WallClock()
    begun = clock.now()
    for name in ("logs", "done", "recipes"):
        (out / name).mkdir(parents=True, exist_ok=True)
    jobs = _wanted(jobs_of(course, out), only)
    done = {job.name for job in jobs if (out / "done" / job.name).is_file()}
    running: list[_Running] = []
    failed: dict[str, DataError] = {}

    def left() -> float:
        return float("inf") if seconds is None else seconds - (clock.now() - begun)

    def finish(job: Job, took: float) -> None:
        (out / "done" / job.name).write_text(f"{took:.1f}\n", encoding="utf-8")
        done.add(job.name)
        told(f"{clock.now() - begun:6.0f} s  {job.name} done in {took:.0f} s")

    try:
        while len(done) < len(jobs) and left() > _GRACE:
            for job in _ready(jobs, done, failed, [each.job for each in running], course.together):
                if job.call is not None:
                    job.call()
                    finish(job, 0.0)
                else:
                    running.append(_Running(job=job, process=_start(job, out, left() - _GRACE), begun=clock.now()))
                    told(f"{clock.now() - begun:6.0f} s  {job.name}")
            for each in [each for each in running if each.process.poll() is not None]:
                running.remove(each)
                try:
                    if _whole(each, out):
                        finish(each.job, clock.now() - each.begun)
                except DataError as error:
                    failed[each.job.name] = error
                    told(f"{clock.now() - begun:6.0f} s  {each.job.name} FAILED")
            if not running and not _ready(jobs, done, failed, [], course.together):
                break
            clock.wait(_LOOK)
    finally:
        _stop(running, clock)
    for each in running:
        if each.job.legs and each.process.returncode == 0 and _whole(each, out):
            finish(each.job, clock.now() - each.begun)
    if failed:
        raise next(iter(failed.values()))
    return len(done) == len(jobs)


def _wanted(jobs: Sequence[Job], only: Sequence[str]) -> list[Job]:
    """All jobs, or those that are named with everything that they need."""
    known = {job.name: job for job in jobs}
    if missing := [name for name in only if name not in known]:
        raise UsageError(f"the course has no job {missing[0]!r}", remedy=f"use one of {', '.join(known)}")
    wanted, waiting = set(), list(only or known)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(known[name].needs)
    return [job for job in jobs if job.name in wanted]


def _ready(
    jobs: Sequence[Job], done: set[str], failed: Collection[str], running: Sequence[Job], together: int
) -> list[Job]:
    """What may start now; a job that wants the GPU for itself waits for no league, which needs none."""
    busy = {job.name for job in running}
    heavy = [job for job in running if not job.name.startswith("league-")]
    found: list[Job] = []
    for job in jobs:
        if job.name in done or job.name in busy or job.name in failed or not set(job.needs) <= done:
            continue
        if len(running) + len(found) >= together or (any(each.alone for each in heavy) and not _light(job)):
            continue
        found.append(job)
    return found


def _light(job: Job) -> bool:
    return job.call is not None or job.name.startswith("league-") or job.command[:2] == ("data", "build")


def _start(job: Job, out: Path, seconds: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "streamsoccer.cli", *job.command]
    if job.polite:
        command = ["nice", "-n", str(job.polite), *command]
    if job.legs and seconds != float("inf"):
        command += ["--seconds", f"{max(1.0, seconds):.0f}"]
    with (out / "logs" / f"{job.name}.log").open("ab") as log, (out / "logs" / f"{job.name}.out").open("wb") as said:
        environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "2")}
        return subprocess.Popen(command, stdout=said, stderr=log, env=environment, start_new_session=True)


def _whole(each: _Running, out: Path) -> bool:
    """Whether a job that has ended is done; one that failed is an error with the end of what it said."""
    job, said = each.job, out / "logs" / f"{each.job.name}.out"
    if each.process.returncode:
        log = (out / "logs" / f"{job.name}.log").read_text(encoding="utf-8", errors="replace")
        raise DataError(
            f"{job.name} ended with {each.process.returncode}: {log.strip()[-1500:]}",
            where=out / "logs" / f"{job.name}.log",
            remedy="mend that and run the same command again: what is done stays",
        )
    text = said.read_text(encoding="utf-8", errors="replace")
    if job.save:
        Path(job.save).parent.mkdir(parents=True, exist_ok=True)
        Path(job.save).write_text(text, encoding="utf-8")
    if not job.legs:
        return True
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return bool(lines) and bool(json.loads(lines[-1])["done"])


def _stop(running: Sequence[_Running], clock: Clock) -> None:
    """Training ends by itself in time; everything else is interrupted, and killed where that does not help."""
    for each in running:
        if not each.job.legs:
            _signal(each.process, signal.SIGINT)
    for _ in range(round(2 * _GRACE)):
        if all(each.process.poll() is not None for each in running):
            return
        clock.wait(_LOOK)
    for each in running:
        if each.process.poll() is None:
            _signal(each.process, signal.SIGKILL)
            each.process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if process.poll() is None:
        os.killpg(process.pid, number)

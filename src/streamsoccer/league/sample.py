"""`league sample`: one match as anybody would bring it: a film of both halves, a match sheet, and an event feed.

The halves are filmed side by side and joined without coding a picture again. `sample.json` comes last and says what
film this is: where it stands and says the same, all of it is there already.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from streamsoccer.clock import format_seconds
from streamsoccer.errors import DataError, UsageError
from streamsoccer.league.crew import Crew
from streamsoccer.league.make import VERSION, explained
from streamsoccer.league.match import Match
from streamsoccer.league.names import WorldName
from streamsoccer.league.truth import DeedKind, Trace
from streamsoccer.league.world import Fixture

__all__ = ["Sample", "SamplePlan", "feed_of", "make_sample"]

FILM, SHEET, FEED, NOTES = "film.mp4", "sheet.yaml", "feed.jsonl", "sample.json"
FED_AFTER = 20.0  # seconds until somebody in the ground has typed it
_PART = ".part-film"
_FED = {
    DeedKind.GOAL: "goal",
    DeedKind.YELLOW: "yellow card",
    DeedKind.SECOND_YELLOW: "second yellow card",
    DeedKind.RED: "red card",
    DeedKind.SUBSTITUTION: "substitution",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplePlan:
    """Which match, and how it is filmed."""

    seed: int
    world: WorldName = WorldName.TEST
    minutes: float = 45
    size: tuple[int, int] = (398, 224)
    fps: int = 25

    def identity(self) -> dict[str, Any]:
        """What makes two films the same."""
        return {
            "version": VERSION,
            "world": self.world.value,
            "seed": self.seed,
            "minutes": self.minutes,
            "size": list(self.size),
            "fps": self.fps,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What stands in a folder."""

    folder: Path
    starts: tuple[float, ...]  # where each half starts in the film
    seconds: float
    made: bool = field(compare=False)  # now, and not before

    @property
    def film(self) -> Path:
        return self.folder / FILM

    @property
    def sheet(self) -> Path:
        return self.folder / SHEET

    @property
    def feed(self) -> Path:
        return self.folder / FEED

    @property
    def half_starts(self) -> str:
        """As `--half-starts` takes them."""
        return ",".join(format_seconds(each) for each in self.starts)


def make_sample(folder: Path, plan: SamplePlan, *, workers: int = 0) -> Sample:
    """Film the match of this plan, or find it there. Another sample in the folder is replaced, anything else stays."""
    found = _found(folder, plan)
    if found is not None:
        return found
    _check(plan)
    import yaml

    from streamsoccer.league.evidence import sheet
    from streamsoccer.sheet import sheet_state

    match = Match(plan.seed, world=plan.world, minutes=plan.minutes)
    with explained(folder):
        part = folder / _PART
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            (folder / NOTES).unlink(missing_ok=True)
            halves = [part / f"{trace.half}.mkv" for trace in match.halves]
            with Crew(partial(_film, plan), min(2, workers or os.cpu_count() or 1)) as crew:
                waiting, busy = list(zip(halves, match.halves, strict=True)), 0
                while waiting or busy:
                    while waiting and crew.free:
                        path, trace = waiting.pop(0)
                        crew.send((path, trace.half))
                        busy += 1
                    crew.take()
                    busy -= 1
            starts, seconds = _join(halves, part / FILM, plan.fps)
            told = yaml.safe_dump(sheet_state(sheet(match.fixture)), sort_keys=False, allow_unicode=True)
            (part / SHEET).write_text(told, encoding="utf-8")
            rows = [json.dumps(each, ensure_ascii=False) for each in feed_of(match.fixture, match.halves)]
            (part / FEED).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
            for name in (FILM, SHEET, FEED):
                (part / name).replace(folder / name)
            notes = {**plan.identity(), "starts": starts, "seconds": seconds}
            (part / NOTES).write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
            (part / NOTES).replace(folder / NOTES)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return Sample(folder=folder, starts=tuple(starts), seconds=seconds, made=True)


def feed_of(fixture: Fixture, halves: tuple[Trace, ...]) -> Iterator[dict[str, str]]:
    """Goals, cards and substitutions as a feed's lines, each known some seconds after it happened."""
    for trace in halves:
        for deed in trace.deeds:
            if deed.kind not in _FED:
                continue
            own = bool(deed.detail.get("own_goal"))
            at, known = (
                f"{trace.half} - {format_seconds(float(int(seconds)))}" for seconds in (deed.at, deed.at + FED_AFTER)
            )
            row = {"at": at, "kind": "own goal" if own else _FED[deed.kind], "side": deed.side.value}
            if deed.player is not None and not own:
                row["player"] = fixture.club(deed.side).squad[deed.player].name
            if deed.kind is DeedKind.SUBSTITUTION and deed.other is not None:
                row["out"] = fixture.club(deed.side).squad[deed.other].name
            yield {**row, "available": known}


def _check(plan: SamplePlan) -> None:
    from streamsoccer.league.broadcast import check_size

    check_size(plan.size)
    if not 5 <= plan.fps <= 60:
        raise UsageError(f"{plan.fps} frames a second", remedy="--fps takes 5 to 60")


def _found(folder: Path, plan: SamplePlan) -> Sample | None:
    """The sample that stands there, if it is this one and whole."""
    try:
        notes = json.loads((folder / NOTES).read_text(encoding="utf-8"))
        same = {name: notes.get(name) for name in plan.identity()} == plan.identity()
        starts, seconds = tuple(float(each) for each in notes["starts"]), float(notes["seconds"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not same or not all((folder / name).is_file() for name in (FILM, SHEET, FEED)):
        return None
    return Sample(folder=folder, starts=starts, seconds=seconds, made=False)


def _film(plan: SamplePlan, task: tuple[Path, int]) -> None:
    """What a worker does: play the match, which takes a second, and film a half of it."""
    from streamsoccer.league.film import write_film

    path, half = task
    match = Match(plan.seed, world=plan.world, minutes=plan.minutes)
    write_film(path, match, half, size=plan.size, fps=plan.fps)


def _join(films: list[Path], out: Path, fps: int) -> tuple[list[float], float]:
    """The films one after the other in an MP4 that plays before all of it is there; where each starts, and the end."""
    import av

    tick, frames = Fraction(1, fps), 0
    starts: list[float] = []
    with av.open(str(out), "w", format="mp4", options={"movflags": "faststart"}) as joined:
        stream = None
        for film in films:
            starts.append(frames / fps)
            with av.open(str(film)) as given:
                source = given.streams.video[0]
                if stream is None:
                    stream = joined.add_stream_from_template(source)
                packets = [each for each in given.demux(source) if each.size]
                shown = [round(float(_pts(each, film) * _base(each, film)) * fps) for each in packets]
                ahead = max((place - pts for place, pts in enumerate(shown)), default=0)
                for place, (packet, pts) in enumerate(zip(packets, shown, strict=True)):
                    packet.time_base, packet.stream = tick, stream
                    packet.pts, packet.dts, packet.duration = frames + pts, frames + place - ahead, 1
                    joined.mux(packet)
                frames += len(packets)
    return starts, frames / fps


def _pts(packet: Any, film: Path) -> int:
    if packet.pts is None:
        raise DataError("a picture without its time", where=film)
    return int(packet.pts)


def _base(packet: Any, film: Path) -> Fraction:
    if packet.time_base is None:
        raise DataError("a picture without its time", where=film)
    return Fraction(packet.time_base)

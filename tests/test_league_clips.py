"""A league of clips: packs where films would be, all else the same, whoever makes it and in however many runs."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsoccer import cli
from streamsoccer.clip import Clip
from streamsoccer.data import soccernet
from streamsoccer.errors import DataError, UsageError
from streamsoccer.league import make as making
from streamsoccer.league.broadcast import Broadcast
from streamsoccer.league.crew import Crew
from streamsoccer.league.make import Plan, make
from streamsoccer.league.match import Match
from streamsoccer.league.names import WorldName
from streamsoccer.sources import open_source
from streamsoccer.sources.pack import Pack

SIZE = (192, 108)


def plan(matches: int = 2, **more: Any) -> Plan:
    return Plan(
        **{"matches": matches, "seed": 11, "minutes": 1, "size": SIZE, "clips": True, "clip_captions": True} | more
    )


def contents(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("league") / "out"
    assert make(out, plan(), workers=2).made == 2
    return out


def test_packs_and_captions_stand_beside_the_labels(league: Path) -> None:
    games, problems = soccernet.discover(league)
    assert len(games) == 2
    assert not problems
    for files in games:
        assert {each.name for each in files.folder.iterdir()} == {
            "Labels-v2.json", "Labels-caption.json", "video.ini", "1_truth.jsonl", "2_truth.jsonl",
            "1_108p.clips", "2_108p.clips", "1_clip-captions.jsonl", "2_clip-captions.jsonl",
        }  # fmt: skip
        game = soccernet.read_game(files)
        for half, seconds in game.durations.items():
            pack = Pack(files.folder / f"{half}_108p.clips")
            assert (pack.half, pack.width, pack.height) == (half, *SIZE)
            assert pack.seconds == pytest.approx(seconds)
            captions = (files.folder / f"{half}_clip-captions.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in captions]
            assert [row["index"] for row in rows] == [row.index for row in pack.rows] == list(range(len(pack)))


def test_the_clips_are_those_of_the_simulation(league: Path) -> None:
    match = Match(11, minutes=1, index=1)
    broadcast = Broadcast(match.fixture, match.halves, SIZE)
    given = {(clip.half, clip.index): clip for half in (1, 2) for clip in broadcast.clips(half)}
    got = [clip for clip in open_source(league / match.game) if isinstance(clip, Clip)]
    assert [(clip.half, clip.index) for clip in got] == list(given)
    for clip in got:
        there = given[clip.half, clip.index]
        assert (clip.start, clip.end, clip.samples, clip.times) == (there.start, there.end, there.samples, there.times)
        assert np.abs(clip.frames.astype(int) - there.frames).mean() < 6


def test_runs_and_workers_change_no_byte(league: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert make(out, plan(1, first=1)).made == 1  # a later match first, alone, by one worker
    again = make(out, plan(2))
    assert (again.made, again.skipped) == (1, 1)
    assert contents(out) == contents(league)


@pytest.mark.parametrize(
    "other", [{"clips": False, "clip_captions": False}, {"clip_captions": False}, {"size": (256, 144)}]
)
def test_another_league_is_not_overwritten(league: Path, other: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="another league"):
        make(league, plan(**other))


@pytest.mark.parametrize(
    "wrong",
    [{"labels_only": True}, {"clips": False}, {"first": -1}, {"size": (99, 99)}, {"world": WorldName.TEST}],
)
def test_what_cannot_be_made_is_refused_before_anything_is_written(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        make(tmp_path / "out", plan(**wrong))
    assert not (tmp_path / "out").exists()
    plan(world=WorldName.VALIDATION).check()
    plan(world=WorldName.TEST, clip_captions=False).check()


def test_an_interrupted_run_leaves_only_whole_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    pack = making._write_clips
    halves: list[int] = []

    def stopped(task: Any) -> None:
        halves.append(task.trace.half)
        if len(halves) == 4:
            raise KeyboardInterrupt
        pack(task)

    monkeypatch.setattr(making, "_write_clips", stopped)
    with pytest.raises(KeyboardInterrupt):
        make(out, plan(2))
    games, _ = soccernet.discover(out)
    assert len(games) == 1
    assert not list(out.glob(".part*"))
    monkeypatch.undo()
    assert (make(out, plan(2)).made, len(soccernet.discover(out)[0])) == (1, 2)


def _twice_or_die(number: int) -> int:
    if number == 3:
        os._exit(1)
    if number == 4:
        raise UsageError("no four", where="here", remedy="take five")
    return 2 * number


def test_a_crew_gives_every_result_and_tells_of_a_death() -> None:
    with Crew(_twice_or_die, 2) as crew:
        for number in (1, 2):
            crew.send(number)
        assert crew.free == 0
        assert sorted((crew.take(), crew.take())) == [2, 4]
        crew.send(4)
        with pytest.raises(UsageError, match="no four") as error:
            crew.take()
        assert (error.value.where, error.value.remedy) == ("here", "take five")
        crew.send(3)
        with pytest.raises(DataError, match="a worker was killed"):
            crew.take()


def test_the_command_runs_where_there_is_no_video_library(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import sys\nsys.modules['av'] = None\nfrom streamsoccer.cli import main\nmain(sys.argv[1:])"
    words = ["league", "make", str(out), "--matches", "1", "--first", "3", "--seed", "5", "--minutes", "1"]
    command = [sys.executable, "-c", code, *words, "--size", "192x108", "--clips", "--clip-captions"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "1 matches made" in done.stdout, done.stderr
    assert len(list(out.glob("*/*/*/*.clips"))) == 2


def test_the_command_refuses_what_does_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        cli.main(["league", "make", str(tmp_path), "--matches", "1", "--seed", "1", "--labels-only", "--clips"])
    assert refused.value.code == 2
    assert "try:" in capsys.readouterr().err

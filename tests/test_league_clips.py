"""A league of clips: packs where films would be, all else the same, whoever makes it and in however many runs."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
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
from streamsoccer.league.whereabouts import WHO
from streamsoccer.league.world import fixture
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


def test_packs_captions_and_boxes_stand_beside_the_labels(league: Path) -> None:
    games, problems = soccernet.discover(league)
    assert len(games) == 2
    assert not problems
    for files in games:
        assert {each.name for each in files.folder.iterdir()} == {
            "Labels-v2.json", "Labels-caption.json", "video.ini", "1_truth.jsonl", "2_truth.jsonl",
            "1_108p.clips", "2_108p.clips", "1_clip-captions.jsonl", "2_clip-captions.jsonl",
            "1_clip-boxes.npz", "2_clip-boxes.npz",
        }  # fmt: skip
        game = soccernet.read_game(files)
        for half, seconds in game.durations.items():
            pack = Pack(files.folder / f"{half}_108p.clips")
            assert (pack.half, pack.width, pack.height) == (half, *SIZE)
            assert pack.seconds == pytest.approx(seconds)
            captions = (files.folder / f"{half}_clip-captions.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in captions]
            assert [row["index"] for row in rows] == [row.index for row in pack.rows] == list(range(len(pack)))


def test_boxes_are_in_the_picture_of_frames_that_are_there(league: Path) -> None:
    for files in soccernet.discover(league)[0]:
        for half in (1, 2):
            rows = Pack(files.folder / f"{half}_108p.clips").rows
            there = {(row.index, sample) for row in rows for sample in row.samples}
            with np.load(files.folder / f"{half}_clip-boxes.npz") as found:
                frames, boxes = found["frames"], found["boxes"]
            assert frames.shape[1:] == (2,)
            assert boxes.shape[1:] == (8,)
            assert frames.dtype == boxes.dtype == np.int16
            marked = list(map(tuple, frames.tolist()))
            assert marked == sorted(set(marked))
            assert set(map(tuple, boxes[:, :2].tolist())) <= set(marked) <= there
            assert len(marked) > 0.8 * len(there)
            assert set(boxes[:, 2].tolist()) == set(range(len(WHO)))
            assert set(boxes[:, 3].tolist()) == {0, 1}
            assert boxes[:, 4:].min() >= 0
            assert boxes[:, 4:].max() <= 1000
            assert (boxes[:, 4:6] < boxes[:, 6:]).all()


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
    "other",
    [{"clips": False, "clip_captions": False}, {"clip_captions": False}, {"size": (256, 144)}, {"restyled": True}],
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


@pytest.fixture(scope="module")
def restyled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("restyled") / "out"
    assert make(out, plan(1, restyled=True)).made == 1
    return out


def test_the_same_clubs_restyled_wear_other_kits_each_time_on_another_ground() -> None:
    again = 40 * 39  # matches in a season
    plain, later = (fixture(WorldName.TRAIN, 11, index) for index in (3, 3 + again))
    assert (plain.home, plain.away, plain.home_kit) == (later.home, later.away, later.home_kit)
    one, two = (fixture(WorldName.TRAIN, 11, index, restyled=True) for index in (3, 3 + again))
    for a, b in itertools.combinations((plain, one, two), 2):
        assert (a.home.name, a.home.squad, a.stadium.name) == (b.home.name, b.home.squad, b.stadium.name)
        assert (a.away.name, a.away.squad) == (b.away.name, b.away.squad)
        assert a.home_kit != b.home_kit
        assert a.away_kit != b.away_kit
        assert a.stadium != b.stadium
    assert one == fixture(WorldName.TRAIN, 11, 3, restyled=True)
    assert replace(one, home=plain.home, away=plain.away, home_kit=plain.home_kit, away_kit=plain.away_kit,
                   stadium=plain.stadium) == plain  # fmt: skip


def test_restyled_nothing_changes_but_the_pictures_and_the_colours_told_of_them(league: Path, restyled: Path) -> None:
    plain, other = contents(league), contents(restyled)
    differ = {Path(name).name for name, content in other.items() if plain[name] != content}
    assert differ <= {
        "league.json",
        *(f"{half}_{name}" for half in (1, 2) for name in ("108p.clips", "clip-captions.jsonl")),
    }
    assert {"league.json", "1_108p.clips", "2_108p.clips"} <= differ
    assert len(other) == 1 + 11


def test_restyled_whatever_the_run_no_byte_changes(restyled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert make(out, plan(1, restyled=True), workers=2).made == 1
    assert contents(out) == contents(restyled)


def test_a_restyled_league_is_not_mixed_with_another(restyled: Path) -> None:
    with pytest.raises(UsageError, match="another league"):
        make(restyled, plan(1))
    assert make(restyled, plan(1, restyled=True)).skipped == 1


@pytest.mark.parametrize(
    "wrong",
    [{"labels_only": True, "clips": False, "clip_captions": False}, {"world": WorldName.TEST, "clip_captions": False}],
)
def test_only_pictures_to_train_on_are_restyled(wrong: dict[str, Any], tmp_path: Path) -> None:
    plan(**wrong).check()
    with pytest.raises(UsageError, match="training eyes"):
        make(tmp_path / "out", plan(restyled=True, **wrong))
    assert not (tmp_path / "out").exists()


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


@pytest.mark.parametrize("wrong", ["--clips", "--restyled"])
def test_the_command_refuses_what_does_not_go_together(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        cli.main(["league", "make", str(tmp_path), "--matches", "1", "--seed", "1", "--labels-only", wrong])
    assert refused.value.code == 2
    assert "try:" in capsys.readouterr().err

"""A league on disk: SoccerNet's layout, whole or not there, the same whoever makes it, and like real football."""

import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from results import record
from streamsoccer import cli
from streamsoccer.actions import ANNOTATED, Label
from streamsoccer.data import soccernet
from streamsoccer.domain import CloseReason, Side
from streamsoccer.errors import DataError, StreamSoccerError, UsageError
from streamsoccer.league import make as making
from streamsoccer.league.make import Plan, make
from streamsoccer.league.stats import compare, to_json, variation

REAL = (
    Path(os.environ.get("STREAMSOCCER_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data" / "soccernet"
)


def plan(matches: int = 2, **more: Any) -> Plan:
    return Plan(**{"matches": matches, "seed": 11, "minutes": 3, "labels_only": True, **more})


def contents(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("league") / "out"
    assert make(out, plan()).made == 2
    return out


def test_the_files_are_those_that_soccernet_has(league: Path) -> None:
    games, problems = soccernet.discover(league)
    assert len(games) == 2
    assert not problems
    for files in games:
        names = {each.name for each in files.folder.iterdir()}
        assert names == {"Labels-v2.json", "Labels-caption.json", "video.ini", "1_truth.jsonl", "2_truth.jsonl"}
        game = soccernet.read_game(files)
        assert set(game.durations) == {1, 2}
        assert all(seconds >= 180 for seconds in game.durations.values())
        assert game.actions[1][0].label is Label.KICK_OFF
        assert game.actions[1][0].at.seconds == 0
        assert len(game.sheet.players) >= 22
        assert game.sheet.home in files.match
        labels = json.loads(files.labels.read_text(encoding="utf-8"))
        assert set(labels) == {
            "UrlLocal",
            "UrlYoutube",
            "gameDate",
            "gameHomeTeam",
            "gameAwayTeam",
            "gameScore",
            "annotations",
        }
        assert labels["gameScore"] in files.match
        for row in labels["annotations"]:
            assert set(row) == {"gameTime", "label", "position", "team", "visibility"}
            assert isinstance(row["position"], str)
            assert row["position"].isdecimal()
            assert row["visibility"] in ("visible", "not shown")
            assert (row["team"] == Side.NONE.value) == (row["label"] == Label.BALL_OUT.value)


def test_the_truth_tells_of_every_label(league: Path) -> None:
    for files in soccernet.discover(league)[0]:
        labels = json.loads(files.labels.read_text(encoding="utf-8"))["annotations"]
        for half in (1, 2):
            rows = [json.loads(line) for line in (files.folder / f"{half}_truth.jsonl").read_text("utf-8").splitlines()]
            told = [row["label"] for row in rows if row["label"]]
            assert told == [row["label"] for row in labels if row["gameTime"].startswith(str(half))]
            assert rows[-1]["kind"] == "period_end"


def test_the_number_of_workers_changes_no_byte(league: Path, tmp_path: Path) -> None:
    make(tmp_path / "two", plan(), workers=2)
    assert contents(tmp_path / "two") == contents(league)


def test_a_league_is_continued_and_grows(league: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert make(out, plan(1)).made == 1
    again = make(out, plan(2))
    assert (again.made, again.skipped) == (1, 1)
    assert contents(out) == contents(league)


@pytest.mark.parametrize("other", [{"seed": 12}, {"minutes": 4}, {"world": "test"}, {"labels_only": False}])
def test_another_league_is_not_overwritten(league: Path, other: dict[str, Any]) -> None:
    before = contents(league)
    if "world" in other:
        other = {"world": making.WorldName(other["world"])}
    with pytest.raises(UsageError, match="another league"):
        make(league, plan(**other))
    assert contents(league) == before


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="not empty"):
        make(tmp_path, plan())
    assert contents(tmp_path).keys() == {"thesis.txt", ".lock"} or contents(tmp_path).keys() == {"thesis.txt"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"matches": 0},
        {"matches": -3},
        {"minutes": 0},
        {"labels_only": False, "size": (399, 224)},
        {"labels_only": False, "size": (16, 16)},
        {"labels_only": False, "size": (8000, 4000)},
        {"labels_only": False, "fps": 0},
        {"seed": -1},
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_written(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(StreamSoccerError):
        make(tmp_path / "out", plan(**wrong))
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_told_and_leaves_no_half_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    make(out, plan(1))
    whole = contents(out)
    write = making._write_json

    def full(path: Path, data: dict[str, Any]) -> None:
        if path.name == "Labels-caption.json":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(making, "_write_json", full)
    with pytest.raises(DataError, match="the disk is full"):
        make(out, plan(2))
    assert contents(out) == whole
    monkeypatch.undo()
    assert make(out, plan(2)).made == 1


def test_an_interrupted_run_leaves_only_whole_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"

    def stopped(match: Any, names: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "video_notes", stopped)
    with pytest.raises(KeyboardInterrupt):
        make(out, plan(2))
    assert contents(out).keys() == {"league.json"}
    monkeypatch.undo()
    # What a killed process leaves behind is no match, and is taken away.
    stale = out / ".part-00001"
    stale.mkdir()
    (stale / "Labels-v2.json").write_text("{", encoding="utf-8")
    assert make(out, plan(2)).made == 2
    assert not stale.exists()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with making._alone(out), pytest.raises(UsageError, match="another run"):
        make(out, plan())


def test_the_command_makes_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["league", "make", str(out), "--matches", "1", "--seed", "4", "--minutes", "2", "--labels-only"]
    with pytest.raises(SystemExit) as done:
        cli.main(words)
    assert done.value.code in (0, None)
    assert "1 matches made" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["league", "stats", str(out), "--against", str(out), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["pair_total_variation"] == 0
    assert figures["matches"] == {"here": 1, "real": 1}
    for bad in (["--size", "big"], ["--world", "moon"], ["--matches", "0"]):
        with pytest.raises(SystemExit) as refused:
            cli.main([*words, *bad])
        assert refused.value.code == 2
        assert "try:" in capsys.readouterr().err


def test_variation_is_a_distance_between_shares() -> None:
    one = {(Label.FOUL, Label.YELLOW_CARD): 0.5, (Label.CORNER, Label.BALL_OUT): 0.5}
    two = {(Label.FOUL, Label.YELLOW_CARD): 1.0}
    assert variation(one, one) == 0
    assert variation(one, two) == variation(two, one) == 0.5


@pytest.mark.acceptance
@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real matches are not at {REAL}")
def test_forty_matches_are_like_real_ones(tmp_path: Path) -> None:
    make(tmp_path / "out", Plan(matches=40, seed=1, labels_only=True), workers=2)
    found = compare(tmp_path / "out", REAL)
    record(
        "league",
        to_json(found),
        "streamsoccer league make OUT --matches 40 --seed 1 --labels-only --workers 2 && "
        "streamsoccer league stats OUT --against ../shared/data/soccernet",
    )
    here, real = found.here, found.real
    for label in ANNOTATED:
        ratio = here.rates[label] / real.rates[label]
        low, high = (0.8, 1.2) if real.rates[label] > 1 else (0.5, 2.0)
        assert low <= ratio <= high, f"{label.value}: {here.rates[label]:.2f} for {real.rates[label]:.2f}"
    assert abs(here.event_mean - 16.5) <= 1
    assert here.event_median == 20
    assert abs(here.closed_by[CloseReason.MAX_DURATION] - 0.40) <= 0.05
    assert abs(here.hidden - 0.18) <= 0.04
    assert found.pair_variation <= 0.20
    assert 59 <= here.captions <= 71
    apart = {kind: here.classes.get(kind, 0.0) - real.classes.get(kind, 0.0) for kind in {*here.classes, *real.classes}}
    assert max(abs(each) for each in apart.values()) <= 0.03, apart

"""The timeline picture: the match is found by a part of its ID, and what is drawn stands where and when it happened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from small_corpus import PLAY, SECONDS, write_corpus
from streamsoccer import cli
from streamsoccer.actions import EventType, Group, Label
from streamsoccer.data.pipeline import build
from streamsoccer.data.show import find_match, read_match, show
from streamsoccer.data.timeline_picture import (
    GROUPS,
    LEFT,
    ROW_SECONDS,
    SCALE,
    TYPES,
    WARNING,
    WIDTH,
    _cut,
    _Levels,
    _wide,
)
from streamsoccer.data.timeline_picture import _rows_of as rows_of
from streamsoccer.domain import Side, Verdict
from streamsoccer.errors import DataError, UsageError


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, out = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("out")
    write_corpus(root, matches=3, captioned=2)
    build(root, out)
    return out


FIRST = "test_league/2020-2021/2020-10-01 - 20-00 Northtown 1 - 1 Southport"


def pixels_of(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.parametrize("part", [FIRST, "2020-10-01", "10-01 - 20-00 northTOWN", "southport 2020-10-01"])
def test_a_match_is_found_by_a_part_of_its_id(out: Path, part: str) -> None:
    assert find_match(out, part) == FIRST


def test_an_ambiguous_or_unknown_part_is_an_error_with_the_candidates(out: Path) -> None:
    with pytest.raises(UsageError, match="3 matches have 'Northtown'") as caught:
        find_match(out, "Northtown")
    assert caught.value.remedy is not None and caught.value.remedy.count("test_league/") == 3
    with pytest.raises(UsageError, match="no match has 'Eastham'") as caught:
        find_match(out, "Eastham")
    assert caught.value.remedy is not None and FIRST in caught.value.remedy


def test_only_the_rows_of_the_match_are_read(out: Path) -> None:
    rows = read_match(out, FIRST)
    for name in ("clips", "events", "captions", "records", "samples"):
        assert {row.match for row in getattr(rows, name)} == {FIRST}
    assert rows.halves == [1, 2]
    assert [rows.seconds(half) for half in rows.halves] == list(SECONDS.values())


def test_each_action_event_caption_and_sample_is_in_one_row(out: Path) -> None:
    rows = read_match(out, FIRST)
    for half in rows.halves:
        drawn = rows_of(rows, half)
        assert len(drawn) == -(-SECONDS[str(half)] // ROW_SECONDS)
        assert sum(len(row.actions) for row in drawn) == sum(mark[0] == half for mark in PLAY)
        assert sum(len(row.captions) for row in drawn) == sum(each.at.half == half for each in rows.captions if each.at)
        assert sorted(each.id for row in drawn for each in row.samples) == sorted(
            each.id for each in rows.samples if each.half == half
        )
        assert {each.id for row in drawn for each in row.events} == {e.id for e in rows.events if e.half == half}


def test_nothing_lies_over_another_thing_of_its_lane(out: Path) -> None:
    for row in rows_of(read_match(out, FIRST), 1):
        for _, placed in row.levels.values():
            spans = [(level, *row._action_span(action)) for action, level in placed]
            for place, (level, start, end) in enumerate(spans):
                assert all(level != other or end <= left or right <= start for other, left, right in spans[:place])
    levels = _Levels()
    assert [levels.put(0, 10), levels.put(5, 15), levels.put(10, 20), levels.put(12, 13)] == [0, 1, 0, 2]


def test_the_score_changes_when_its_goal_is_known(out: Path) -> None:
    row = rows_of(read_match(out, FIRST), 1)[0]
    (goal,) = (each for each in row.half.goals)
    assert (goal.side, goal.label) == (Side.AWAY, Label.GOAL)
    assert row.half.score(goal.at.seconds) == (0, 0)
    assert row.half.score(goal.available_at.seconds) == (0, 1)
    second = rows_of(read_match(out, FIRST), 2)[0]
    assert second.half.before == (0, 1), "the score goes on after half time"


def test_the_picture_shows_marks_and_bars_at_their_seconds(out: Path, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "picture.png"
    show(out, FIRST, half=1, image=path)
    pixels = pixels_of(path)
    assert pixels.shape[1] == WIDTH
    first_row = pixels[62:260]

    def has(second: float, colour: tuple[int, int, int]) -> bool:
        column = first_row[:, round(LEFT + second * SCALE)]
        return bool((np.abs(column - colour).sum(axis=1) == 0).any())

    assert has(66.5, GROUPS[Group.FINISH]), "the shot at 66.5 s"
    assert has(188.0, GROUPS[Group.FINISH]), "the goal at 188 s"
    assert not has(90.0, GROUPS[Group.FINISH])
    assert has(2.0, TYPES[EventType.KICK_OFF]), "the first event, a kick-off"


def test_a_caption_that_went_to_no_event_is_marked(out: Path, tmp_path: Path) -> None:
    rows = read_match(out, FIRST)
    unaligned = [each for each in rows.captions if each.verdict is not Verdict.ALIGNED]
    show(out, FIRST, image=tmp_path / "a.png")
    pixels = pixels_of(tmp_path / "a.png")
    legend = pixels[-118:]
    above = pixels[:-118]
    assert (legend == WARNING).all(axis=2).any()
    assert (above == WARNING).all(axis=2).any() == bool(unaligned)


def test_a_match_without_captions_can_be_drawn(out: Path, tmp_path: Path) -> None:
    lines = show(out, "2020-10-03", image=tmp_path / "a.png")
    assert "0 of 0 captions" in lines[1]
    assert pixels_of(tmp_path / "a.png").shape[0] > 400


def test_the_default_name_is_told(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for options, name in (
        ([], "2020-10-01-20-00-Northtown-1-1-Southport.png"),
        (["--half", "2"], "2020-10-01-20-00-Northtown-1-1-Southport-half-2.png"),
    ):
        with pytest.raises(SystemExit) as stopped:
            cli.main(["data", "show", str(out), "2020-10-01", *options])
        assert stopped.value.code == 0
        assert f"drawn in {name}" in capsys.readouterr().out
        assert (tmp_path / name).is_file()


def test_what_cannot_be_drawn_is_told(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no half 3"):
        show(out, FIRST, half=3, image=tmp_path / "a.png")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        show(out, FIRST, image=tmp_path / "file" / "a.png")
    with pytest.raises(DataError, match="cannot be read"):
        show(tmp_path, FIRST)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["data", "show", str(out), "Northtown"])
    assert stopped.value.code == 2
    assert FIRST in capsys.readouterr().err


def test_text_is_cut_to_its_room() -> None:
    assert _cut("short", 200) == "short"
    text = _cut("a sentence that has no room in its box at all", 100)
    assert text.endswith("...") and _wide(text) <= 100
    assert _wide(_cut("sentence", 1)) <= _wide("...")

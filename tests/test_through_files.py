"""A model's front end on games as they lie there: everything from the games alone, and the same again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamsoccer.checkpoint import read_checkpoint
from streamsoccer.errors import DataError
from streamsoccer.evaluation.through_files import front_end_of
from streamsoccer.league.make import Plan, make
from streamsoccer.league.names import WorldName


def test_a_model_is_scored_on_all_games_of_a_folder_at_its_own_threshold(tiny_folder: Path, tmp_path: Path) -> None:
    plan = Plan(matches=1, seed=3, world=WorldName.TEST, minutes=1, size=(192, 112), clips=True)
    make(tmp_path / "games", plan)
    report = front_end_of(tiny_folder, tmp_path / "games", tmp_path / "work", "frames", replicates=20)
    assert report.scores.matches == 1
    assert report.threshold == read_checkpoint(tiny_folder).model.transition.threshold
    written = json.loads((tmp_path / "work" / "frames.json").read_text())
    assert set(written["sums"]) == {"transition", "event"} and len(written["sums"]["event"]) == 1
    again = front_end_of(tiny_folder, tmp_path / "games", tmp_path / "work", "frames", replicates=20)
    assert again.to_json() == report.to_json()


def test_a_folder_without_games_is_named(tiny_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="none"):
        front_end_of(tiny_folder, tmp_path / "none", tmp_path / "work", "files")

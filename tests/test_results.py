"""The recorder of figures: what a reader needs to judge a number stands beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from results import record


def test_a_figure_comes_with_its_command_commit_machine_and_date(tmp_path: Path) -> None:
    path = record("speed", {"ratio": 1.05}, "make acceptance", folder=tmp_path)
    row = json.loads(path.read_text(encoding="utf-8"))
    assert row["figures"] == {"ratio": 1.05}
    assert row["command"] == "make acceptance"
    assert row["commit"] and row["date"].count("-") == 2
    assert row["machine"]["cpus"] >= 1 and row["machine"]["cpu"]


def test_a_second_run_replaces_the_first_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    record("speed", {"ratio": 1.05}, "x", folder=tmp_path)
    path = record("speed", {"ratio": 1.01}, "x", folder=tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["figures"] == {"ratio": 1.01}
    assert list(tmp_path.iterdir()) == [path]


def test_a_number_that_is_none_is_refused_and_the_old_figure_stands(tmp_path: Path) -> None:
    path = record("speed", {"ratio": 1.05}, "x", folder=tmp_path)
    with pytest.raises(ValueError, match="JSON compliant"):
        record("speed", {"ratio": float("nan")}, "x", folder=tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["figures"] == {"ratio": 1.05}

"""Three whole matches of the test league, commented on from their films by the bundled model: pace, cost, content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("av")

from results import record
from running import a_match, lines, run
from streamsoccer.mind import Mind
from whole_match import duplicates, feed_of, figures_of, make_films, run_all, run_fixed, table


def folder_of_films() -> Path:
    """Films take half an hour: they are made once, where STREAMSOCCER_WHOLE says."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("STREAMSOCCER_WHOLE") or Path(cache) / "streamsoccer" / "whole")


def test_figures_of_a_match_are_read_from_its_journal(mind: Mind, tmp_path: Path) -> None:
    """Babble repeats itself, and this model may: so there is something to find."""
    run(mind, a_match(60), tmp_path / "m.journal")
    found, said = figures_of(tmp_path / "m.journal"), lines(tmp_path / "m.journal")
    assert found["clips"] == 89 and found["events"] == sum(found["events_closed_by"].values()) > 20
    assert sum(found["modes"].values()) == len(said) and found["utterances_a_minute"] == round(len(said) / 6.03, 2)
    assert found["exact_duplicates_within_a_half"]["count"] > 0
    assert found["near_duplicates_within_a_half"]["count"] >= found["exact_duplicates_within_a_half"]["count"]
    assert found["delay_from_event_end_to_text"]["p50"] >= 4 > found["delay_without_the_structural_part"]["p95"]
    assert {"no_event", "event_cooldown"} <= set(found["reasons_for_silence"])
    assert duplicates(said[:1]) == (0, 0)


def test_a_feed_from_labels_holds_what_a_feed_tells() -> None:
    labels = [
        {"gameTime": "1 - 10:00", "label": "Goal", "position": "600500", "team": "home"},
        {"gameTime": "1 - 11:00", "label": "Corner", "position": "660000", "team": "home"},
        {"gameTime": "2 - 00:10", "label": "Yellow->red card", "position": "10000", "team": "away"},
    ]
    assert list(feed_of(labels)) == [
        {"at": [1, 600.5], "kind": "goal", "side": "home", "id": "1-0"},
        {"at": [2, 10.0], "kind": "yellow->red card", "side": "away", "id": "2-2"},
    ]


@pytest.mark.acceptance
def test_three_whole_matches() -> None:
    folder = folder_of_films()
    make_films(folder)
    run_all(folder)
    run_fixed(folder)
    found = table(folder)
    record("whole_match", found, "pytest -m acceptance tests/test_whole_match.py")
    assert len(found["matches"]) == 3
    for each in found["matches"]:
        assert each["minutes"] >= 90 and each["rtf"] <= 0.25
        assert each["memory_grew_percent"] <= 10
        assert each["exact_duplicates_within_a_half"]["percent"] <= 0.5
        assert each["near_duplicates_within_a_half"]["percent"] <= 2
        assert each["utterances_a_minute"] > 0 and set(each["modes"]) == {"current", "recent", "historical"}
    fixed = found["fixed_workload"]
    assert 0.9 <= fixed["last_quarter_over_first"] <= 1.1

"""`streamsoccer run` on a source that cannot go back: a stream through a pipe, killed and taken up again."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")

from browser import wait
from running import blocks_film, command, steps_of
from streamsoccer.journal_reader import JournalReader


def test_a_live_match_that_was_killed_goes_on_after_a_gap(tiny_folder: Path, tmp_path: Path) -> None:
    film = blocks_film(tmp_path / "film.mkv", seconds=40).read_bytes()
    out, journal = tmp_path / "onair", tmp_path / "onair" / "match.journal"
    run = [sys.executable, "-m", "streamsoccer.cli", *command("-", tiny_folder, out, halves="")]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as first:
        assert first.stdin is not None
        first.stdin.write(film)
        first.stdin.flush()  # and left open: the stream may go on at any time
        wait(lambda: steps_of(journal) >= 5, 60)
        first.kill()
    before = steps_of(journal)
    again = subprocess.run([*run, "--resume"], input=film, capture_output=True, timeout=120)
    assert again.returncode == 0, again.stderr.decode()
    with JournalReader(journal) as reader:
        steps, notes = list(reader.steps()), list(reader.notes())
    kinds = [each.kind.value for each in steps]
    place = kinds.index("gap", before - 1)
    assert steps[place].start == steps[place - 1].end and steps[place].end % 4 == 0
    assert all(one.end <= other.start for one, other in pairwise(steps[:-1]))  # time only goes on
    assert kinds.count("clip") - before >= 8
    assert any("taken up again" in each.text for each in notes) and notes[-1].code == "over"

"""The figures of a build are counts of its rows, and the paper's stand beside them as the paper has them."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from small_corpus import PLAY, SECONDS, write_corpus
from streamsoccer import cli
from streamsoccer.actions import Label
from streamsoccer.data.manifests import read_captions, read_clips, read_events, read_records, read_samples
from streamsoccer.data.pipeline import build
from streamsoccer.data.stats import PAPER, PAPER_SPLITS, REAL_RATES, DataStats, collect
from streamsoccer.domain import CloseReason, Split, Track, Verdict
from streamsoccer.errors import DataError


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, out = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("out")
    write_corpus(root, matches=4, captioned=3)
    build(root, out)
    return out


@pytest.fixture(scope="module")
def stats(out: Path) -> DataStats:
    return collect(out)


def test_the_papers_tables_add_up() -> None:
    assert sum(row["matches"] for row in PAPER_SPLITS.values()) == PAPER["captioned_matches"]
    for track in Track:
        assert sum(row[track.value] for row in PAPER_SPLITS.values()) == PAPER[track.value]
    assert sum(PAPER[track.value] for track in Track) == PAPER["samples"]
    assert round(100 * PAPER["max_duration"] / PAPER["events"], 1) == 40.2
    assert set(REAL_RATES) == set(Label) - {Label.END_OF_PERIOD}


def test_the_funnel_counts_rows(out: Path, stats: DataStats) -> None:
    counts = stats.counts
    assert (counts["matches"], counts["halves"], counts["captioned_matches"]) == (4, 8, 3)
    for level, rows in (("clips", read_clips), ("events", read_events), ("captions", read_captions)):
        assert counts[level] == sum(1 for _ in rows(out))
    samples = list(read_samples(out))
    assert counts["samples"] == len(samples) == sum(counts[track.value] for track in Track)
    assert (
        counts["aligned"] == sum(1 for _ in read_records(out)) == counts["current"] == stats.verdicts[Verdict.ALIGNED]
    )
    assert counts["actions"] == 4 * len(PLAY)
    assert stats.seconds == 4 * sum(SECONDS.values())


def test_events_have_one_reason_and_one_length_each(out: Path, stats: DataStats) -> None:
    lengths = sorted(event.clips for event in read_events(out))
    assert stats.closed.total() == stats.lengths.total() == len(lengths)
    assert stats.event_mean == pytest.approx(4 * sum(lengths) / len(lengths))
    assert stats.event_median == 4 * statistics.median(lengths)
    assert set(stats.closed) <= set(CloseReason)


def test_rates_are_for_ninety_minutes_of_video(stats: DataStats) -> None:
    corners = sum(mark[2] == "Corner" for mark in PLAY)
    assert stats.rate(Label.CORNER) == pytest.approx(corners * 5400 / sum(SECONDS.values()))
    assert stats.rate(Label.PENALTY) == 0


def test_splits_hold_each_captioned_match_once(stats: DataStats) -> None:
    told = stats.to_json()["splits"]
    assert sum(row["matches"] for row in told.values()) == 3
    for track in Track:
        assert sum(row[track.value] for row in told.values()) == stats.counts[track.value]
    assert told["train"]["paper"] == dict(PAPER_SPLITS[Split.TRAIN])


def test_each_caption_is_in_one_row_and_column_of_the_verdicts(stats: DataStats) -> None:
    assert stats.verdicts.total() == stats.counts["captions"]
    assert sum(verdicts.total() for verdicts in stats.classes.values()) == stats.counts["captions"]


def test_a_match_without_samples_counts_in_the_spread(stats: DataStats) -> None:
    """Captioned matches with no sample of a track are among those that the mean is of."""
    for track in Track:
        spread = stats.to_json()["tracks"][track.value]
        assert spread["matches"] == 3
        assert spread["mean"] * 3 == pytest.approx(stats.counts[track.value], abs=0.02)


def run(out: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["data", "stats", str(out), *options])
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_json_is_json_and_the_table_is_plain(out: Path, stats: DataStats, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(run(out, capsys, "--json")) == stats.to_json()
    text = run(out, capsys)
    assert text.isascii(), "no box drawing where nobody looks at a terminal"
    for words in ("685,903", "15,189", "closed by max duration", "Ball out of play", "no compatible action", "3,775"):
        assert words in text


def test_a_folder_without_a_build_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        collect(tmp_path)


def test_the_real_matches_give_the_settled_counts_in_little_memory(soccernet: Path, tmp_path: Path) -> None:
    build(soccernet, tmp_path)
    # Its own process, and that process's own high-water mark: getrusage would count the children of other tests too.
    program = f"""
import sys
from streamsoccer.cli import main
try:
    main(['data', 'stats', {str(tmp_path)!r}, '--json'])
finally:
    if sys.platform == 'linux':
        sys.stderr.write(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    told = json.loads(done.stdout)
    assert int(done.stderr or 0) < 500 * 1024, "kilobytes"
    if told["funnel"]["matches"]["ours"] != 149:
        return  # other real matches: no counts are settled for them
    assert {level: told["funnel"][level]["ours"] for level in ("clips", "actions", "events")} == {
        "clips": 204_664,
        "actions": 32_583,
        "events": 49_460,
    }
    assert told["events"]["closed_by"] == {
        "new_start": 9_938,
        "max_duration": 20_164,
        "terminal_stoppage": 12_261,
        "terminal_finish": 3_338,
        "terminal_clearance": 2_075,
        "administration": 1_437,
        "half_end": 247,
    }
    assert (told["events"]["mean_seconds"], told["events"]["median_seconds"]) == (16.552, 20.0)
    assert 36 <= told["funnel"]["aligned"]["ours_a_match"] <= 41

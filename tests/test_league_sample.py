"""A sample match: its film holds both halves picture by picture, its sheet and feed are what `run` reads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

from streamsoccer.clip import Clip
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.errors import UsageError
from streamsoccer.feed import Feed, tally_of
from streamsoccer.league.film import encode
from streamsoccer.league.match import Match
from streamsoccer.league.sample import FILM, NOTES, Sample, SamplePlan, _join, feed_of, make_sample
from streamsoccer.sheet import read_sheet
from streamsoccer.sources import open_source, parse_half_starts

PLAN = SamplePlan(seed=337, minutes=1, size=(160, 90), fps=5)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make_sample(tmp_path_factory.mktemp("sample"), PLAN, workers=1)


def pictures(film: Path) -> list[tuple[float, np.ndarray]]:
    with av.open(str(film)) as container:
        return [(frame.time, frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]


def test_films_are_joined_picture_by_picture(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    films = []
    for number, count in enumerate((37, 50, 1)):
        scene = draw.integers(0, 255, (12, 16, 3), dtype=np.uint8)
        frames = [np.roll(scene, step, axis=1).repeat(8, 0).repeat(8, 1) for step in range(count)]
        films.append(tmp_path / f"{number}.mkv")
        assert encode(films[-1], iter(frames), size=(128, 96), fps=25) == count
    starts, seconds = _join(films, tmp_path / "film.mp4", 25)
    assert starts == [0, 37 / 25, 87 / 25] and seconds == 88 / 25
    found = pictures(tmp_path / "film.mp4")
    expected = [each for film in films for _, each in pictures(film)]
    assert [time for time, _ in found] == pytest.approx([number / 25 for number in range(88)], abs=1e-4)
    assert all(np.array_equal(one, other) for (_, one), other in zip(found, expected, strict=True))


def test_it_is_read_as_two_halves(sample: Sample) -> None:
    match = Match(PLAN.seed, world=PLAN.world, minutes=PLAN.minutes)
    first, second = (trace.seconds for trace in match.halves)
    assert sample.starts == pytest.approx((0, first), abs=0.11) and sample.seconds == pytest.approx(
        first + second, abs=0.2
    )
    found = [
        each
        for each in open_source(str(sample.film), half_starts=parse_half_starts(sample.half_starts))
        if isinstance(each, Clip)
    ]
    assert {each.half for each in found} == {1, 2}
    for half, length in ((1, first), (2, second)):
        ends = [each.end for each in found if each.half == half]
        assert ends[-1] == pytest.approx(length, abs=0.6) and len(ends) == -(-length // 4)


def test_sheet_and_feed_are_those_of_the_match(sample: Sample) -> None:
    sheet = read_sheet(sample.sheet)
    assert sheet.home and sheet.away and len(sheet.players) >= 22
    Feed(sample.feed, sheet)
    busy = Match(337, world="test", minutes=4)
    rows = list(feed_of(busy.fixture, busy.halves))
    assert {each["kind"] for each in rows} >= {"goal", "yellow card", "red card", "substitution"}


def test_a_feed_leads_to_the_score_and_is_never_early(tmp_path: Path) -> None:
    for seed in (337, 321):
        match = Match(seed, world="test", minutes=4)
        path = tmp_path / f"{seed}.jsonl"
        rows = list(feed_of(match.fixture, match.halves))
        path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        lines = Feed(path).until(Cutoff(MatchTime(3, 0)))
        assert tally_of(lines).score == match.score
        for line in lines:
            assert line.available_at >= line.at


def test_it_is_made_once(sample: Sample, tmp_path: Path) -> None:
    at = sample.film.stat().st_mtime_ns
    again = make_sample(sample.folder, PLAN)
    assert again == sample and not again.made and sample.film.stat().st_mtime_ns == at
    assert {each.name for each in sample.folder.iterdir()} == {FILM, "sheet.yaml", "feed.jsonl", NOTES}


def test_another_or_a_broken_one_is_made_anew(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, *_: object, size: tuple[int, int], fps: int) -> int:
        frames = np.zeros((10, size[1], size[0], 3), dtype=np.uint8)
        return encode(path, iter(frames), size=size, fps=fps)

    monkeypatch.setattr("streamsoccer.league.film.write_film", write)
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    assert make_sample(tmp_path, PLAN, workers=1).made
    assert not make_sample(tmp_path, PLAN, workers=1).made
    assert make_sample(tmp_path, replace(PLAN, seed=4), workers=1).made
    (tmp_path / FILM).unlink()
    assert make_sample(tmp_path, replace(PLAN, seed=4), workers=1).made
    (tmp_path / NOTES).write_text("{", encoding="utf-8")
    assert make_sample(tmp_path, replace(PLAN, seed=4), workers=1).made
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "kept"


def test_what_cannot_be_filmed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for plan in (replace(PLAN, size=(161, 90)), replace(PLAN, fps=3), replace(PLAN, minutes=0.1)):
        with pytest.raises(UsageError):
            make_sample(tmp_path / "new", plan)
    assert not (tmp_path / "new").exists()

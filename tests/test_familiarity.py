"""A video unlike those of training is told once a half; one like them never; settings beside the weights come back."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from running import Item, clips, gap, moments
from streamsoccer.checkpoint import from_pretrained
from streamsoccer.clip import Clip
from streamsoccer.errors import DataError, StreamSoccerError, UsageError
from streamsoccer.familiarity import CLIPS, feature, measure, read_familiarity, write_familiarity
from streamsoccer.journal_rows import NoteKind
from streamsoccer.mind import Mind
from streamsoccer.moment import Moment
from streamsoccer.record import Drain
from streamsoccer.runtime import RuntimeConfig, read_runtime, write_runtime
from streamsoccer.schedule import ScheduleConfig


def plain(count: int, *, seed: int = 0, half: int = 1, first: int = 0) -> list[Item]:
    """Clips of a bar on grey, a little lighter from film to film: what the model below was trained on."""
    found: list[Item] = []
    for each in clips(count, half=half, first=first):
        assert isinstance(each, Clip)
        frames = np.full_like(each.frames, 120 + seed)
        frames[:, 8:12] = 250
        found.append(replace(each, frames=frames))
    return found


@pytest.fixture(scope="module")
def knowing(mind: Mind, tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Mind:
    """The tiny model, which has seen plain films."""
    folder = tmp_path_factory.mktemp("knowing") / "model"
    shutil.copytree(tiny_folder, folder)
    films = []
    for seed in range(6):
        tokens = mind.vision.encode([each.frames for each in plain(40, seed=seed) if isinstance(each, Clip)])
        films.append(np.stack([feature(each) for each in tokens]))
    write_familiarity(folder, measure(films))
    return Mind(from_pretrained(folder), RuntimeConfig(repeat=True))


def warnings(found: list[Moment]) -> list[tuple[int, float]]:
    return [
        (each.at.half, each.at.seconds)
        for each in found
        for note in each.notes
        if note.kind is NoteKind.NOTICE and note.code == "unfamiliar"
    ]


def test_a_film_like_those_of_training_is_not_told(knowing: Mind) -> None:
    assert warnings(moments(knowing, plain(60, seed=3))) == []


def test_another_kind_of_video_is_told_once_a_half_and_after_half_a_minute(knowing: Mind) -> None:
    found = moments(knowing, [*clips(20), *clips(20, half=2)])
    assert [half for half, _ in warnings(found)] == [1, 2]
    assert all(at >= 4 * CLIPS for _, at in warnings(found))


def test_a_close_up_alone_is_no_other_sport(knowing: Mind) -> None:
    items = [*plain(10), *clips(3, first=10), *plain(20, first=13), gap(132, 140)]
    assert warnings(moments(knowing, items)) == []


def test_without_statistics_nothing_is_said(mind: Mind) -> None:
    assert mind.familiarity is None and warnings(moments(mind, clips(20))) == []


def test_statistics_come_back_and_what_is_no_statistics_is_named(knowing: Mind, tmp_path: Path) -> None:
    assert knowing.familiarity is not None
    write_familiarity(tmp_path, knowing.familiarity)
    there = read_familiarity(tmp_path)
    assert there is not None and there.limit == pytest.approx(knowing.familiarity.limit)
    (tmp_path / "familiarity.json").write_text('{"mean": 3}')
    with pytest.raises(StreamSoccerError, match="familiarity"):
        read_familiarity(tmp_path)
    with pytest.raises(DataError, match="too few"):
        measure([np.zeros((3, 4))])


def test_settings_beside_the_weights_come_back_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    assert read_runtime(tmp_path) == RuntimeConfig()
    chosen = RuntimeConfig(drain=Drain.IMMEDIATE, schedule=ScheduleConfig(event_cooldown=30.0), alike=0.8)
    write_runtime(tmp_path, chosen)
    assert read_runtime(tmp_path) == chosen
    (tmp_path / "runtime.json").write_text('{"snapshot_clip": 3}')
    with pytest.raises(UsageError, match="snapshot_clip"):
        read_runtime(tmp_path)
    for wrong in ({"snapshot_clips": 0}, {"alike": 0.0}, {"late_seconds": -1}):
        with pytest.raises(UsageError):
            RuntimeConfig(**wrong)

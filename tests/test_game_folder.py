"""A SoccerNet game folder: both halves in order, in one quality, and what is missing is said."""

from pathlib import Path

import pytest

from films import SMALL, clips_of, numbers, read, same_clips
from streamsoccer.clock import MatchTime
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources import Notice, Options, open_source
from streamsoccer.sources.game import half_files
from streamsoccer.testing.video import make_video


@pytest.fixture(scope="session")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1_224p.mkv of 9 s and 2_224p.mkv of 6 s."""
    folder = tmp_path_factory.mktemp("league") / "2016-08-14 - 18-00 Home 1 - 0 Away"
    for half, seconds in ((1, 9), (2, 6)):
        make_video(folder / f"{half}_224p.mkv", seconds=seconds, **SMALL)
    return folder


def test_both_halves_come_in_order_each_from_its_own_zero(halves: Path) -> None:
    clips = clips_of(read(halves))
    assert [(clip.half, clip.index, clip.start, round(clip.end, 3)) for clip in clips] == [
        (1, 0, 0, 4), (1, 1, 4, 8), (1, 2, 8, 9), (2, 0, 0, 4), (2, 1, 4, 6),
    ]  # fmt: skip
    assert numbers(clips[3:]) == {n / 2: n * 25 // 2 for n in range(12)}
    assert [clip.available_at for clip in clips] == sorted(clip.available_at for clip in clips)
    assert same_clips(clips[:3], clips_of(read(halves / "1_224p.mkv")))
    assert same_clips(clips[3:], clips_of(read(halves / "2_224p.mkv", half=2)))


@pytest.mark.parametrize(("begin", "first"), [(MatchTime(1, 4.5), 1), (MatchTime(2, 0), 3), (MatchTime(2, 5.9), 4)])
def test_a_late_start_gives_the_clips_of_a_full_run(halves: Path, begin: MatchTime, first: int) -> None:
    assert same_clips(clips_of(read(halves, begin=begin)), clips_of(read(halves))[first:])


def test_a_start_that_is_not_there_is_refused(halves: Path) -> None:
    with pytest.raises(SourceError, match="has no half 3"):
        read(halves, begin=MatchTime(3, 0))
    with pytest.raises(SourceError, match="ends at 00:09; there is nothing at 46:40") as error:
        read(halves, begin=MatchTime(1, 2800))
    assert error.value.where == str(halves / "1_224p.mkv")
    with pytest.raises(UsageError, match="--half-starts is for one file"):
        read(halves, half_starts=[(0, 10)])


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["1_224p.mkv", "2_224p.mkv", "1_720p.mkv", "2_720p.mkv"], ["1_224p.mkv", "2_224p.mkv"]),
        (["1_HQ.mkv", "2_HQ.mkv"], ["1_HQ.mkv", "2_HQ.mkv"]),
        (["1_720p.mkv", "2_720p.mkv", "1_224p.mkv"], ["1_720p.mkv", "2_720p.mkv"]),  # the quality that has both
        (["1_224p.mkv", "2_720p.mkv"], ["1_224p.mkv"]),  # never two qualities in one match
        (["1.mp4", "2.mp4", "3.mp4"], ["1.mp4", "2.mp4", "3.mp4"]),  # extra time
        (["2_224p.mp4", "1_224p.mp4", "2_224p.mkv"], ["1_224p.mp4", "2_224p.mp4"]),
        (["1_224p.mkv", "2_224p.mkv", "1_field_calib_ccbv.json", "10_224p.mkv", "1_224p.mkv.part"],
         ["1_224p.mkv", "2_224p.mkv"]),
    ],
)  # fmt: skip
def test_the_quality_that_has_the_most_halves_is_taken(tmp_path: Path, files: list[str], chosen: list[str]) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert [path.name for path in half_files(tmp_path).values()] == chosen


def test_a_missing_half_is_said(tmp_path: Path, halves: Path) -> None:
    (tmp_path / "2_224p.mkv").symlink_to(halves / "2_224p.mkv")
    told: list[Notice] = []
    clips = clips_of(read(tmp_path, options=Options(tell=told.append)))
    assert {clip.half for clip in clips} == {2}
    assert [(notice.kind, "half 1" in notice.text) for notice in told] == [("missing", True)]


def test_a_broken_second_half_is_named_after_the_first_half_came(tmp_path: Path, halves: Path) -> None:
    (tmp_path / "1_224p.mkv").symlink_to(halves / "1_224p.mkv")
    (tmp_path / "2_224p.mkv").write_bytes(b"not a film")
    clips = []
    with pytest.raises(SourceError, match="not a video") as error:
        for item in open_source(tmp_path):
            clips.append(item)
    assert len(clips) == 3
    assert error.value.where == str(tmp_path / "2_224p.mkv")


def test_a_folder_that_is_no_game_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Labels-v2.json").write_text("{}")
    with pytest.raises(SourceError, match="holds no halves of a game") as error:
        read(tmp_path)
    assert error.value.remedy

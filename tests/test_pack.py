"""Packs: a half's clips in one file, read in any order by anyone, and never half a file that looks whole."""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from streamsoccer.clip import Clip
from streamsoccer.clock import MatchTime
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources import Notice, Options, open_source, pack
from streamsoccer.sources.game import half_files
from streamsoccer.sources.pack import Pack, PackWriter

WIDTH, HEIGHT = 64, 36


def clip(index: int, *, half: int = 1, samples: int = 8) -> Clip:
    """Soft colours that move, as a camera's do: what a JPEG keeps well."""
    x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    frames = [
        np.stack([x * 2 + 9 * index, y * 4 + 5 * sample, np.full_like(x, 40 * half + 10 * sample)], axis=-1) % 200
        for sample in range(samples)
    ]
    return Clip(
        half=half,
        index=index,
        start=index * 4.0,
        end=index * 4.0 + samples / 2,
        frames=np.stack(frames).astype(np.uint8),
        samples=tuple(range(samples)),
        times=tuple(index * 4.0 + sample / 2 for sample in range(samples)),
    )


def half_of(half: int, clips: int = 5) -> Iterator[Clip]:
    yield from (clip(index, half=half) for index in range(clips - 1))
    yield clip(clips - 1, half=half, samples=3)


def write(path: Path, half: int = 1, clips: int = 5, quality: int = pack.QUALITY) -> Path:
    with PackWriter(path, half=half, quality=quality) as writer:
        for each in half_of(half, clips):
            writer.add(each)
    return path


def same(one: Clip, two: Clip, most: float = 4.0) -> bool:
    said = [(each.half, each.index, each.start, each.end, each.samples, each.times) for each in (one, two)]
    far = np.abs(one.frames.astype(int) - two.frames.astype(int)).mean()
    return said[0] == said[1] and one.frames.shape == two.frames.shape and far < most


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pack") / "1_224p.clips")


def test_clips_come_back_as_they_went_in_in_any_order(packed: Path) -> None:
    got, given = Pack(packed), list(half_of(1))
    assert len(got) == len(given) == 5
    assert (got.half, got.width, got.height, got.seconds) == (1, WIDTH, HEIGHT, 17.5)
    for place in (3, 0, 4, -1, 2, 1):
        assert same(got[place], given[place])
    assert all(same(one, two) for one, two in zip(got, given, strict=True))
    assert [each.complete for each in got] == [True] * 4 + [False]
    with pytest.raises(IndexError):
        got[5]


def test_pillow_reads_what_opencv_writes_and_the_other_way_round(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cv2", reason="OpenCV comes with the league's extra")
    by_opencv = [each.frames for each in Pack(packed)]
    monkeypatch.setattr(pack, "_opencv", lambda: None)
    for there, here in zip(by_opencv, Pack(packed), strict=True):
        assert np.abs(there.astype(int) - here.frames).max() <= 3
    assert all(same(one, two) for one, two in zip(Pack(write(tmp_path / "1.clips")), half_of(1), strict=True))


def test_quality_is_a_choice_and_the_same_clips_give_the_same_file(packed: Path, tmp_path: Path) -> None:
    assert write(tmp_path / "again.clips").read_bytes() == packed.read_bytes()
    assert write(tmp_path / "fine.clips", quality=97).stat().st_size > packed.stat().st_size
    with pytest.raises(UsageError, match="quality of 0"):
        PackWriter(tmp_path / "x.clips", half=1, quality=0)


def test_threads_forks_and_other_processes_share_a_pack(packed: Path) -> None:
    got, given = Pack(packed), list(half_of(1))
    with ThreadPoolExecutor(8) as threads:
        assert all(
            same(read, given[place % 5]) for place, read in enumerate(threads.map(lambda n: got[n % 5], range(200)))
        )
    child = os.fork()
    if child == 0:
        os._exit(0 if all(same(got[place], given[place]) for place in (4, 1, 3)) else 1)
    assert all(same(got[place], given[place]) for place in (2, 0, 1))
    assert os.waitpid(child, 0)[1] == 0
    assert same(pickle.loads(pickle.dumps(got))[2], given[2])


def test_a_pack_stands_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "1_224p.clips"
    with pytest.raises(RuntimeError, match="stop"), PackWriter(path, half=1) as writer:
        writer.add(clip(0))
        raise RuntimeError("stop")
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="without a clip"), PackWriter(path, half=1):
        pass
    assert not list(tmp_path.iterdir())
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2]); from test_pack import clip, PackWriter\n"
        "with PackWriter(sys.argv[1], half=1) as writer:\n    writer.add(clip(0)); writer.add(clip(1)); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(Path(__file__).parent)], check=False)
    assert done.returncode == 9
    assert not path.exists()
    with pytest.raises(SourceError, match="holds no halves"):
        half_files(tmp_path)
    write(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_does_not_belong_into_a_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="half 2 does not go"), PackWriter(tmp_path / "a.clips", half=1) as writer:
        writer.add(clip(0, half=2))
    with (
        pytest.raises(UsageError, match="clip 1 comes after clip 1"),
        PackWriter(tmp_path / "a.clips", half=1) as writer,
    ):
        writer.add(clip(1))
        writer.add(clip(1))


def members(path: Path) -> dict[str, zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as file:
        return {each.filename: each for each in file.infolist()}


def test_damage_is_named_with_its_file_and_clip(packed: Path, tmp_path: Path) -> None:
    path = tmp_path / "1_224p.clips"
    whole = packed.read_bytes()
    hurt = bytearray(whole)
    hurt[members(packed)["00002.jpg"].header_offset + 300] ^= 0x40
    path.write_bytes(hurt)
    got = Pack(path)
    assert same(got[1], clip(1))
    with pytest.raises(SourceError, match=r"clip 2 is damaged .*check sum") as error:
        got[2]
    assert error.value.where == str(path)
    assert error.value.remedy
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(SourceError, match="not a pack, or not a whole one"):
            Pack(path)
    with pytest.raises(SourceError, match="cannot be read"):
        Pack(tmp_path / "nowhere.clips")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": "9"}, "has schema 9"),
        ({"half": None}, "its index is damaged"),
        ({"clips": []}, "holds no clip"),
        ({"clips": [{"name": "00000.jpg"}]}, "its index is damaged"),
        ({"height": 40}, "clip 0 is damaged .its picture is 64x288"),
    ],
)
def test_an_index_that_says_something_else_is_told(
    packed: Path, tmp_path: Path, change: dict[str, object], told: str
) -> None:
    path = tmp_path / "1.clips"
    with zipfile.ZipFile(packed) as file, zipfile.ZipFile(path, "w") as other:
        for name in file.namelist():
            data = file.read(name)
            other.writestr(name, json.dumps({**json.loads(data), **change}) if name == pack.INDEX else data)
    with pytest.raises(SourceError, match=told):
        Pack(path)[0]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("game")
    for half in (1, 2):
        write(folder / f"{half}_224p.clips", half=half)
    return folder


def read(where: Path, begin: MatchTime | None = None) -> list[tuple[int, int]]:
    return [(each.half, each.index) for each in open_source(where, begin=begin) if isinstance(each, Clip)]


def test_a_game_folder_may_hold_packs_and_a_pack_may_stand_alone(game: Path) -> None:
    assert read(game) == [(half, index) for half in (1, 2) for index in range(5)]
    assert read(game, MatchTime(1, 17.0)) == [(1, 4)] + [(2, index) for index in range(5)]
    assert read(game, MatchTime(2, 8.0)) == [(2, 2), (2, 3), (2, 4)]
    assert read(game / "2_224p.clips") == [(2, index) for index in range(5)]
    assert read(game / "2_224p.clips", MatchTime(2, 16.0)) == [(2, 4)]
    with pytest.raises(UsageError, match="it is half 2"):
        read(game / "2_224p.clips", MatchTime(1, 0.0))
    with pytest.raises(SourceError, match=r"ends at 00:17\.5; there is nothing at 00:30"):
        read(game, MatchTime(1, 30.0))
    with pytest.raises(UsageError, match="one half"):
        open_source(game / "2_224p.clips", half_starts=[(0, 10)])


def test_a_video_goes_before_a_pack_and_a_missing_half_is_said(tmp_path: Path) -> None:
    for name in ("1_224p.clips", "2_224p.clips", "1_720p.mkv", "2_HQ.clips", "3_224p.clips.part"):
        (tmp_path / name).touch()
    assert [path.name for path in half_files(tmp_path).values()] == ["1_720p.mkv", "2_224p.clips"]
    lone = tmp_path / "lone"
    lone.mkdir()
    write(lone / "2_224p.clips", half=2)
    told: list[Notice] = []
    assert {each.half for each in open_source(lone, options=Options(tell=told.append))} == {2}
    assert [(notice.kind, "half 1" in notice.text) for notice in told] == [("missing", True)]


def test_packs_are_read_where_there_is_no_video_library(game: Path) -> None:
    code = (
        "import sys\nsys.modules['av'] = None\nfrom streamsoccer.sources import open_source\n"
        "print(sum(len(clip.samples) for clip in open_source(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(game)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(2 * (4 * 8 + 3)), done.stderr

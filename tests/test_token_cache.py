"""The token cache: what is written is what is read, a kill costs one shard, and damage is named, never passed over."""

import json
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from streamsoccer.clip import Clip, Gap, GapReason
from streamsoccer.errors import DataError, UsageError
from streamsoccer.sources import shard_file
from streamsoccer.sources.shards import CacheWriter
from streamsoccer.sources.tokens import CacheHeader, TokenCache, Video

MATCH = "league/2020-2021/2020-10-01 - 20-00 Örby 1 - 0 Ås"
N, WIDTH = 6, 4
HEADER = CacheHeader(
    fingerprint="abc", backbone="/models/tiny", width=64, height=32, dtype="bfloat16", tokens=N, features=WIDTH,
    shard_clips=4,
)  # fmt: skip
VIDEO = Video(name="1_224p.mkv", bytes=10, sha256="0" * 64, modified_ns=5)


def clip(index: int, *, half: int = 1, frames: int = 8) -> Clip:
    return Clip(
        half=half,
        index=index,
        start=4.0 * index,
        end=4.0 * index + frames / 2,
        frames=np.zeros((frames, 2, 2, 3), np.uint8),
        samples=tuple(range(frames)),
        times=tuple(4.0 * index + n / 2 for n in range(frames)),
    )


def tokens(index: int, count: int = N) -> Tensor:
    return torch.randn(N, WIDTH, generator=torch.Generator().manual_seed(index))[:count].bfloat16()


def write(
    folder: Path,
    *,
    clips: int = 11,
    missing: tuple[int, ...] = (),
    short: tuple[int, ...] = (),
    stop: int | None = None,
    header: CacheHeader = HEADER,
    video: Video | None = VIDEO,
    match: str = MATCH,
    verify: bool = False,
) -> list[str]:
    """Write a half, or begin one and fail before clip `stop`; what an earlier run left is gone on with."""
    with CacheWriter(folder, header).half(match, 1, video, verify=verify) as half:
        for index in range(clips):
            if index == stop:
                raise RuntimeError("stopped")
            if index in missing:
                continue
            size = N // 2 if index in short else N
            item = clip(index, frames=4 if index in short else 8)
            if half.stands(index):
                half.keep(item, size)
            else:
                half.add(item, tokens(index, size))
        if missing:
            end = 4.0 * (missing[-1] + 1)
            half.gap(Gap(half=1, start=4.0 * missing[0], end=end, reason=GapReason.LOST, detail="no picture"))
        half.finish()
        return half.notices


def place(folder: Path, shard: int | None = None) -> Path:
    return folder / MATCH / "1" / ("half.json" if shard is None else f"shard-{shard:05d}.safetensors")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- what is written is what is read ---------------------------------------------------------------------------------


def test_every_slice_equals_the_whole(tmp_path: Path) -> None:
    write(tmp_path, missing=(5,), short=(2, 10))
    cache = TokenCache(tmp_path, fingerprint="abc")
    assert (cache.matches(), cache.halves(MATCH), cache.count(MATCH, 1)) == ((MATCH,), (1,), 11)
    whole, mask = cache.tokens(MATCH, 1, 0, 11)
    assert (whole.shape, whole.dtype, mask.dtype) == ((11, N, WIDTH), torch.bfloat16, torch.bool)
    for index in range(11):
        real = 0 if index == 5 else N // 2 if index in (2, 10) else N
        assert mask[index].tolist() == [n < real for n in range(N)]
        assert torch.equal(whole[index, :real], tokens(index, real))
        assert not whole[index, real:].any()
    for first in range(11):
        for count in range(12 - first):
            some, some_mask = cache.tokens(MATCH, 1, first, count)
            assert torch.equal(some, whole[first : first + count])
            assert torch.equal(some_mask, mask[first : first + count])
    cache.verify(MATCH, 1)


def test_the_index_tells_what_was_not_as_it_should_be(tmp_path: Path) -> None:
    write(tmp_path, missing=(5,), short=(10,))
    index = TokenCache(tmp_path).index(MATCH, 1)
    assert (index.clips, index.missing, dict(index.incomplete), index.video) == (11, (5,), {"10": 4}, VIDEO)
    assert index.starts == tuple(4.0 * n for n in range(11))
    assert index.ends[-2:] == (40.0, 42.0)
    assert [(gap.start, gap.end, gap.reason) for gap in index.gaps] == [(20.0, 24.0, "lost")]
    assert [(row.first, row.clips) for row in index.shards] == [(0, 4), (4, 4), (8, 3)]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_any_dtype_comes_back_as_it_was(tmp_path: Path, dtype: str) -> None:
    header = CacheHeader(fingerprint="f", backbone="b", width=8, height=8, dtype=dtype, tokens=N, features=WIDTH)
    write(tmp_path, header=header, clips=3)
    whole, _ = TokenCache(tmp_path).tokens(MATCH, 1, 0, 3)
    assert whole.dtype == getattr(torch, dtype)
    assert torch.equal(whole[2].float(), tokens(2).float())


def test_what_is_read_is_the_callers_own_and_no_larger_than_it_looks(tmp_path: Path) -> None:
    write(tmp_path)
    cache = TokenCache(tmp_path)
    some, _ = cache.tokens(MATCH, 1, 1, 2)
    assert some.untyped_storage().nbytes() == 2 * HEADER.clip_bytes
    some.zero_()
    assert torch.equal(cache.tokens(MATCH, 1, 1, 1)[0][0], tokens(1))


def test_few_shards_may_be_open_and_all_can_still_be_read(tmp_path: Path) -> None:
    write(tmp_path)
    cache = TokenCache(tmp_path, open_shards=1)
    order = random.Random(1).choices(range(11), k=60)
    assert all(torch.equal(cache.tokens(MATCH, 1, index, 1)[0][0], tokens(index)) for index in order)


def test_a_reader_travels_to_another_process(tmp_path: Path) -> None:
    write(tmp_path)
    cache = TokenCache(tmp_path, fingerprint="abc", open_shards=3)
    cache.tokens(MATCH, 1, 0, 5)
    there: TokenCache = pickle.loads(pickle.dumps(cache))
    assert torch.equal(there.tokens(MATCH, 1, 0, 5)[0], cache.tokens(MATCH, 1, 0, 5)[0])


def test_others_can_read_a_shard_as_plain_safetensors(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    write(tmp_path)
    loaded = load_file(place(tmp_path, 2))
    assert {name: tuple(each.shape) for name, each in loaded.items()} == {
        "tokens": (3, N, WIDTH), "lengths": (3,), "checks": (3,),
    }  # fmt: skip
    assert torch.equal(loaded["tokens"][1], tokens(9))


def test_shards_hold_as_many_clips_as_fit_in_a_gibibyte() -> None:
    header = CacheHeader(
        fingerprint="f", backbone="b", width=448, height=256, dtype="bfloat16", tokens=448, features=4096
    )
    assert header.shard_clips == 292
    assert header.shard_clips * header.clip_bytes <= 2**30 < (header.shard_clips + 1) * header.clip_bytes


def test_importing_it_brings_in_neither_video_nor_web() -> None:
    code = (
        "import sys, streamsoccer.sources.tokens, streamsoccer.sources.shards; "
        "print(*sorted(m.split('.')[0] for m in sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"av", "cv2", "pydantic", "starlette", "fastapi", "transformers"}


# --- a kill costs one shard ------------------------------------------------------------------------------------------


def test_going_on_after_a_stop_anywhere_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "whole", missing=(5,), short=(2, 10))
    expected = contents(tmp_path / "whole")
    for stop in range(1, 11):
        folder = tmp_path / str(stop)
        with pytest.raises(RuntimeError, match="stopped"):
            write(folder, missing=(5,), short=(2, 10), stop=stop)
        assert not place(folder).exists()
        assert len(list(place(folder).parent.glob("shard-*"))) == stop // 4
        with pytest.raises(DataError, match="begun but not finished"):
            TokenCache(folder).count(MATCH, 1)
        assert write(folder, missing=(5,), short=(2, 10)) == []
        assert contents(folder) == expected


def test_a_process_killed_at_any_moment_leaves_what_the_next_goes_on_with(tmp_path: Path) -> None:
    """SIGKILL by the process itself at the n-th write to the disk, wherever that is."""
    write(tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "import test_token_cache as t\n"
        "def die_at(left, real=os.fsync):\n"
        "    def fsync(handle):\n"
        "        nonlocal left; left -= 1\n"
        "        if left == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        real(handle)\n"
        "    os.fsync = fsync\n"
        "for moment in map(int, sys.argv[3:]):\n"
        "    if (child := os.fork()) == 0:\n"
        "        die_at(moment); t.write(Path(sys.argv[2], str(moment))); os._exit(0)\n"
        "    print(os.WTERMSIG(os.waitpid(child, 0)[1]))\n"
    )
    moments = range(1, 12)
    words = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path), *map(str, moments)]
    ended = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert ended == ["9"] * len(moments)
    for moment in moments:
        write(tmp_path / str(moment))
        left = {name: data for name, data in contents(tmp_path / str(moment)).items() if ".part" not in name}
        assert left == expected, moment


def test_a_finished_shard_is_not_written_again(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        write(tmp_path, stop=9)
    before = [place(tmp_path, each).stat().st_mtime_ns for each in range(2)]
    write(tmp_path)
    assert [place(tmp_path, each).stat().st_mtime_ns for each in range(2)] == before


def test_shards_of_another_video_are_not_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        write(tmp_path, stop=9)
    other = Video(name="1_224p.mkv", bytes=10, sha256="1" * 64)
    (notice,) = write(tmp_path, video=other)
    assert "another one" in notice
    assert TokenCache(tmp_path).index(MATCH, 1).video == other
    with pytest.raises(UsageError, match="another video"):  # a finished half is never thrown away unasked
        write(tmp_path)
    assert TokenCache(tmp_path).index(MATCH, 1).video == other


def test_a_lost_or_damaged_shard_is_written_again_alone(tmp_path: Path) -> None:
    write(tmp_path)
    expected = contents(tmp_path)
    writer = CacheWriter(tmp_path, HEADER)
    assert writer.finished(MATCH, 1) is not None
    place(tmp_path, 1).unlink()
    assert writer.finished(MATCH, 1) is None
    assert write(tmp_path) == []
    assert contents(tmp_path) == expected
    flip(place(tmp_path, 2), 4096 + 5)
    assert write(tmp_path, verify=True) == ["shard-00002.safetensors is damaged: it is written again"]
    assert contents(tmp_path) == expected


def test_a_half_that_now_gives_other_clips_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        write(tmp_path, stop=9)
    with pytest.raises(DataError, match=r"has 6 tokens for clip 2, which now has 3"):
        write(tmp_path, short=(2,))
    with pytest.raises(DataError, match=r"has 6 tokens for clip 5, which now has 0"):
        write(tmp_path, missing=(5,))


def test_two_runs_do_not_write_one_half(tmp_path: Path) -> None:
    writer = CacheWriter(tmp_path, HEADER)
    with writer.half(MATCH, 1, VIDEO), pytest.raises(UsageError, match="another run is writing this half"):
        writer.half(MATCH, 1, VIDEO).__enter__()
    with writer.half(MATCH, 1, VIDEO):
        pass


def test_a_full_disk_is_told_and_finished_shards_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = shard_file.ShardFile.add, [6]

    def full(self: shard_file.ShardFile, rows: Tensor) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        real(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(shard_file.ShardFile, "add", full)
        with pytest.raises(DataError, match=r"the disk is full(?s:.)*finished shards stay"):
            write(tmp_path)
    assert sorted(path.name for path in place(tmp_path).parent.iterdir()) == ["begun.json", place(tmp_path, 0).name]
    write(tmp_path)
    TokenCache(tmp_path).verify(MATCH, 1)


# --- what does not fit is refused by name ----------------------------------------------------------------------------


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_another_backbone_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(DataError, match=r"of backbone abc \(/models/tiny\), not of xyz"):
        TokenCache(tmp_path, fingerprint="xyz")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("fingerprint", "xyz", "fingerprint abc there, xyz asked (its backbone was /models/tiny)"),
        ("width", 128, "width 64 there, 128 asked"),
        ("dtype", "float32", "dtype bfloat16 there, float32 asked"),
        ("features", 8, "features 4 there, 8 asked"),
    ],
)
def test_a_second_run_with_something_else_is_refused_by_name(
    tmp_path: Path, name: str, value: object, told: str
) -> None:
    from dataclasses import replace

    CacheWriter(tmp_path, HEADER)
    with pytest.raises(UsageError) as refused:
        CacheWriter(tmp_path, replace(HEADER, **{name: value}))  # type: ignore[arg-type]
    assert told in str(refused.value)
    assert CacheWriter(tmp_path, replace(HEADER, backbone="elsewhere", shard_clips=9)).header == HEADER


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty and holds no cache\.json"):
        CacheWriter(tmp_path, HEADER)
    with pytest.raises(DataError, match="is no token cache"):
        TokenCache(tmp_path)


Damage = Callable[[Path], object]
DAMAGES: dict[str, tuple[Damage, str]] = {
    "gone": (lambda path: path.unlink(), "cannot be read"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "bytes, not"),
    "empty": (lambda path: path.write_bytes(b""), "0 bytes, not"),
    "a flipped header": (lambda path: flip(path, 8), "cut off or damaged"),
    "a flipped bit": (lambda path: flip(path, 4096 + 3), "clip 4 is not what was written"),
    "a flipped check": (lambda path: flip(path, 4096 + 4 * HEADER.clip_bytes), "clip 4 is not what was written"),
    "a flipped length": (lambda path: flip(path, 4096 + 4 * (HEADER.clip_bytes + 8)), "clip 4 is not what was written"),
    "another shard": (lambda path: path.write_bytes(path.with_name("shard-00000.safetensors").read_bytes()), "another"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_shard_is_named_with_match_half_and_clips(tmp_path: Path, kind: str) -> None:
    damage, told = DAMAGES[kind]
    write(tmp_path)
    damage(place(tmp_path, 1))
    cache = TokenCache(tmp_path)
    for attempt in (lambda: cache.tokens(MATCH, 1, 4, 1), lambda: cache.verify(MATCH, 1)):
        with pytest.raises(DataError) as refused:
            attempt()
        text = str(refused.value)
        assert told in text
        assert all(each in text for each in ("shard-00001.safetensors", MATCH, "half 1", "clips 4 to 7", "encode"))
    assert torch.equal(cache.tokens(MATCH, 1, 3, 1)[0][0], tokens(3))  # the other shards can be read


def test_clips_that_are_not_there_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    cache = TokenCache(tmp_path)
    with pytest.raises(DataError, match=r"half 1: clip 12 is not in the cache: the half has clips 0 to 10"):
        cache.tokens(MATCH, 1, 8, 5)
    with pytest.raises(DataError, match=r"clip -1 is not in the cache"):
        cache.tokens(MATCH, 1, -1, 2)
    with pytest.raises(DataError, match="half 2 is not in the cache"):
        cache.tokens(MATCH, 2, 0, 1)
    with pytest.raises(DataError, match="l/s/other, half 1 is not in the cache"):
        cache.count("l/s/other", 1)
    with pytest.raises(UsageError, match="is not a half of league/season/game"):
        cache.count("../../etc", 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"clips": 12}, "clips"),
        ({"match": "l/s/other"}, "match and half"),
        ({"fingerprint": "xyz"}, "backbone"),
        ({"shards": []}, "shards"),
        ({"clips": "many"}, "must be of type int"),
        ({"colour": 1}, "colour is not known"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(tmp_path: Path, change: dict[str, object], told: str) -> None:
    write(tmp_path)
    path = place(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DataError, match=told) as refused:
        TokenCache(tmp_path).tokens(MATCH, 1, 0, 1)
    assert str(path) in str(refused.value)


def test_tokens_that_cannot_be_right_are_not_written(tmp_path: Path) -> None:
    with CacheWriter(tmp_path, HEADER).half(MATCH, 1) as half:
        half.add(clip(0), tokens(0))
        with pytest.raises(DataError, match=r"clip 1 has tokens of shape \[6, 3\]"):
            half.add(clip(1), torch.zeros(N, 3))
        with pytest.raises(DataError, match="clip 1 has tokens that are not finite"):
            half.add(clip(1), torch.full((N, WIDTH), torch.nan))
        with pytest.raises(DataError, match="clip 0 comes after clip 0"):
            half.add(clip(0), tokens(0))
        with pytest.raises(DataError, match="clip 1 is of half 2"):
            half.add(clip(1, half=2), tokens(1))


def test_a_half_that_must_have_more_clips_lacks_them_openly(tmp_path: Path) -> None:
    with CacheWriter(tmp_path, HEADER).half(MATCH, 1) as half:
        half.add(clip(0), tokens(0))
        half.finish(3)
    cache = TokenCache(tmp_path)
    assert (cache.count(MATCH, 1), cache.index(MATCH, 1).missing) == (3, (1, 2))
    assert cache.tokens(MATCH, 1, 0, 3)[1].any(dim=1).tolist() == [True, False, False]
    with (
        CacheWriter(tmp_path, HEADER).half("l/s/g", 1) as empty,
        pytest.raises(DataError, match="l/s/g, half 1: there is no clip"),
    ):
        empty.finish(3)

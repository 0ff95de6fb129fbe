"""`streamsoccer encode`: packs and videos of many halves into one token cache, whatever happens on the way."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from streamsoccer.backbone import Backbone
from streamsoccer.cli import main
from streamsoccer.clip import Clip
from streamsoccer.errors import DataError, SourceError, UsageError
from streamsoccer.sources import open_source
from streamsoccer.sources.encode import Encoded, Hands, encode_halves, find_halves, header_for
from streamsoccer.sources.pack import Pack, PackWriter
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.testing.backbone import tiny_backbone
from streamsoccer.testing.video import make_video
from streamsoccer.vision import VisionConfig, VisionEncoder

GAMES = {"l/s/A 1 - 0 B": (7, 5), "l/s/C 0 - 0 D": (4, 6)}
SIZE = VisionConfig(width=64, height=32)


def draw(path: Path, half: int, clips: int, *, seed: int, size: tuple[int, int] = (64, 32), skip: int = -1) -> None:
    """A pack of noise; its last clip has three frames."""
    random = np.random.default_rng(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with PackWriter(path, half=half) as pack:
        for index in range(clips):
            frames = 3 if index == clips - 1 else 8
            pixels = random.integers(0, 256, (frames, size[1], size[0], 3), dtype=np.uint8)
            if index == skip:
                continue
            pack.add(
                Clip(
                    half=half, index=index, start=4.0 * index, end=4.0 * index + frames / 2, frames=pixels,
                    samples=tuple(range(frames)), times=tuple(4.0 * index + n / 2 for n in range(frames)),
                )
            )  # fmt: skip


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("league")
    for number, (match, counts) in enumerate(GAMES.items()):
        for half, clips in enumerate(counts, 1):
            draw(root / match / f"{half}_224p.clips", half, clips, seed=10 * number + half)
    return root


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return tiny_backbone(tmp_path_factory.mktemp("encode") / "backbone", spread=0.3)


@pytest.fixture(scope="module")
def recipe(backbone: Backbone, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "tiny.yaml"
    folder = backbone.model.config._name_or_path
    path.write_text(
        f"backbone: {{path: {folder}, dtype: float32}}\nmodel: {{vision: {{width: 64, height: 32}}}}\n",
        encoding="utf-8",
    )
    return path


def encode(
    root: Path, out: Path, backbone: Backbone, *, hands: Hands | None = None, shard: int = 3, **more: Any
) -> Encoded:
    """With small shards."""
    encoder = VisionEncoder(backbone, SIZE)
    halves, _ = find_halves(root)
    header = replace(header_for(encoder, "tiny"), shard_clips=shard)
    return encode_halves(halves, out, encoder, header, hands or Hands(batch=4, workers=2, lanes=2), **more)


def command(*words: str | Path) -> int:
    """The exit code of `streamsoccer encode`."""
    with pytest.raises(SystemExit) as ended:
        main(["encode", *map(str, words)])
    return int(ended.value.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- what it writes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hands", [Hands(batch=1, workers=1, lanes=1), Hands(batch=5, workers=3, lanes=3), Hands(batch=64, lanes=8)]
)
def test_every_clip_has_the_tokens_that_the_encoder_gives_it_alone(
    league: Path, backbone: Backbone, tmp_path: Path, hands: Hands
) -> None:
    done = encode(league, tmp_path / "tokens", backbone, hands=hands)
    assert (done.halves, done.written, done.stood, done.clips, done.problems) == (4, 4, 0, 22, [])
    cache, encoder = TokenCache(tmp_path / "tokens", fingerprint=backbone.fingerprint), VisionEncoder(backbone, SIZE)
    for match, counts in GAMES.items():
        for half, clips in enumerate(counts, 1):
            assert cache.count(match, half) == clips
            tokens, mask = cache.tokens(match, half, 0, clips)
            for place, clip in enumerate(Pack(league / match / f"{half}_224p.clips")):
                (alone,) = encoder.encode([clip.frames])
                assert torch.equal(tokens[place][mask[place]], alone), (match, half, place)
            assert dict(cache.index(match, half).incomplete) == {str(clips - 1): 3}
            cache.verify(match, half)


def test_batches_are_filled_across_halves(
    league: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    plain = VisionEncoder.encode

    def counted(self: VisionEncoder, clips: Sequence[Any]) -> list[Tensor]:
        sizes.append(len(clips))
        return plain(self, clips)

    monkeypatch.setattr(VisionEncoder, "encode", counted)
    encode(league, tmp_path / "tokens", backbone, hands=Hands(batch=4, workers=2, lanes=4))
    assert sizes == [4, 4, 4, 4, 4, 2]


def test_a_video_and_a_pack_of_another_size_are_brought_to_the_recipes(backbone: Backbone, tmp_path: Path) -> None:
    game = tmp_path / "league" / "l/s/A 1 - 0 B"
    game.mkdir(parents=True)
    make_video(game / "1_224p.mkv", seconds=9.0, width=98, height=56)
    draw(game / "2_224p.clips", 2, 3, seed=1, size=(80, 60))
    done = encode(tmp_path / "league", tmp_path / "tokens", backbone)
    assert (done.written, done.clips, done.problems) == (2, 6, [])
    encoder, cache = VisionEncoder(backbone, SIZE), TokenCache(tmp_path / "tokens")
    for half, path in ((1, game / "1_224p.mkv"), (2, game / "2_224p.clips")):
        tokens, mask = cache.tokens("l/s/A 1 - 0 B", half, 0, 3)
        clips = [each for each in open_source(path) if isinstance(each, Clip)]
        for place, alone in enumerate(encoder.encode([each.frames for each in clips])):
            assert torch.equal(tokens[place][mask[place]], alone)
    assert encode(tmp_path / "league", tmp_path / "tokens", backbone).stood == 2


def test_the_command_tells_on_one_line_and_does_nothing_twice(
    league: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*more: str) -> tuple[int, dict[str, Any]]:
        code = command(league, tmp_path / "tokens", "--recipe", recipe, "--json", *more)
        return code, json.loads(capsys.readouterr().out)

    code, first = run("--matches", "A 1")
    assert (code, first["written"], first["clips"]) == (0, 2, 12) and first["clips_a_second"] > 0
    code, second = run("--matches", "1:")
    assert (code, second["written"], second["stood"], second["clips"]) == (0, 2, 0, 10)
    code, third = run()
    assert (code, third["written"], third["stood"], third["clips"]) == (0, 0, 4, 0)
    code, fourth = run("--verify")
    assert (code, fourth["written"], fourth["kept"], fourth["clips"]) == (0, 4, 22, 0)
    assert command(league, tmp_path / "tokens", "--recipe", recipe) == 0
    assert "0 halves encoded, 4 stood there already" in capsys.readouterr().out


def test_a_clip_that_the_stream_lost_and_one_that_a_build_has_more_are_missing_openly(
    backbone: Backbone, tmp_path: Path
) -> None:
    draw(tmp_path / "league/l/s/A 1 - 0 B/1_224p.clips", 1, 5, seed=1, skip=2)
    done = encode(tmp_path / "league", tmp_path / "tokens", backbone, clips=lambda half: 7)
    cache = TokenCache(tmp_path / "tokens")
    assert done.missing == 3 and cache.index("l/s/A 1 - 0 B", 1).missing == (2, 5, 6)
    assert not cache.tokens("l/s/A 1 - 0 B", 1, 2, 1)[1].any()


# --- stopped, and gone on with ---------------------------------------------------------------------------------------


def test_a_run_killed_at_any_moment_is_gone_on_with_and_writes_the_same_bytes(
    league: Path, backbone: Backbone, tmp_path: Path
) -> None:
    """SIGKILL by the process itself at the n-th write to the disk; encoding packs needs no PyAV."""
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "import torch; torch.set_num_threads(1)\n"
        "import test_encode as t\n"
        "from streamsoccer.backbone import BackboneConfig, load_backbone\n"
        "backbone = load_backbone(BackboneConfig(path=sys.argv[4], dtype='float32'))\n"
        "def fsync(handle, real=os.fsync):\n"
        "    global left; left -= 1\n"
        "    if left == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    real(handle)\n"
        "os.fsync = fsync\n"
        "def run(folder, moment):\n"
        "    global left; left = moment\n"
        "    if (child := os.fork()) == 0:\n"
        "        done = t.encode(Path(sys.argv[2]), Path(sys.argv[3], folder), backbone)\n"
        "        os._exit(100 + done.clips if done.written + done.stood == 4 and not done.problems else 99)\n"
        "    status = os.waitpid(child, 0)[1]\n"
        "    return os.WEXITSTATUS(status) - 100 if os.WIFEXITED(status) else -os.WTERMSIG(status)\n"
        "print(run('whole', 0), 'av' in sys.modules)\n"
        "for moment in sys.argv[5:]: print(run(moment, int(moment)), run(moment, 0))\n"
    )
    moments = ("2", "5", "11", "16", "23")
    folder = backbone.model.config._name_or_path
    words = [sys.executable, "-c", code, str(Path(__file__).parent), str(league), str(tmp_path), folder, *moments]
    first, *lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    assert first == "22 False"
    ended, computed = zip(*(map(int, line.split()) for line in lines), strict=True)
    assert ended == (-9,) * len(moments)
    assert computed[0] == 22 > computed[-2] >= computed[-1] > 0  # what was whole was not computed again
    expected = contents(tmp_path / "whole")
    for moment in moments:
        left = {name: data for name, data in contents(tmp_path / moment).items() if ".part" not in name}
        assert left == expected, moment


def test_an_interruption_leaves_whole_shards_and_frees_the_halves(
    league: Path, backbone: Backbone, tmp_path: Path
) -> None:
    def stop(so_far: Encoded) -> None:
        if so_far.clips >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(league, tmp_path, backbone, progress=stop)
    threads = torch.get_num_threads()
    done = encode(league, tmp_path, backbone)
    assert done.clips < 22 and done.written + done.stood == 4
    assert torch.get_num_threads() == threads


def test_an_exchanged_video_is_refused_and_one_of_a_new_date_is_not(
    league: Path, backbone: Backbone, tmp_path: Path
) -> None:
    root = shutil.copytree(league, tmp_path / "league")
    encode(root, tmp_path / "tokens", backbone)
    first, other = (root / "l/s/A 1 - 0 B" / f"{half}_224p.clips" for half in (1, 2))
    first.touch()
    draw(other, 2, 5, seed=99)
    done = encode(root, tmp_path / "tokens", backbone)
    assert (done.stood, done.clips, len(done.problems)) == (3, 0, 1)
    assert "A 1 - 0 B, half 2" in done.problems[0] and "another video" in done.problems[0]


# --- what cannot be encoded ------------------------------------------------------------------------------------------


def test_a_damaged_clip_is_named_and_the_other_halves_are_there(
    league: Path, backbone: Backbone, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(league, tmp_path / "league")
    path = root / "l/s/A 1 - 0 B" / "1_224p.clips"
    whole = path.read_bytes()
    at = whole.index(b"00004.jpg") + 400
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    words = (root, tmp_path / "tokens", "--recipe", recipe, "--batch", "3")
    assert command(*words) == 1
    told = capsys.readouterr().err
    assert "1_224p.clips: clip 4 is damaged" in told and "A 1 - 0 B, half 1" in told and "try:" in told
    cache = TokenCache(tmp_path / "tokens")
    assert cache.halves("l/s/A 1 - 0 B") == (2,) and cache.halves("l/s/C 0 - 0 D") == (1, 2)
    with pytest.raises(DataError, match="half 1 is begun but not finished"):
        cache.count("l/s/A 1 - 0 B", 1)
    assert command(*words, "--keep-going") == 0
    path.write_bytes(whole)
    assert command(*words) == 0
    assert cache.count("l/s/A 1 - 0 B", 1) == 7


def test_a_video_that_was_cut_off_is_named_with_its_end(backbone: Backbone, tmp_path: Path) -> None:
    game = tmp_path / "league" / "l/s/A 1 - 0 B"
    game.mkdir(parents=True)
    make_video(game / "1_224p.mkv", seconds=20.0, width=98, height=56)
    film = (game / "1_224p.mkv").read_bytes()
    (game / "1_224p.mkv").write_bytes(film[: len(film) // 2])
    draw(game / "2_224p.clips", 2, 3, seed=1)
    done = encode(tmp_path / "league", tmp_path / "tokens", backbone)
    assert done.written == 1 and len(done.problems) == 1 and "1_224p.mkv: was cut off" in done.problems[0]


def test_a_game_without_video_is_told(league: Path, recipe: Path, tmp_path: Path) -> None:
    root = shutil.copytree(league, tmp_path / "league")
    (root / "l/s/E 0 - 0 F").mkdir()
    halves, without = find_halves(root)
    assert len(halves) == 4 and len(without) == 1 and "E 0 - 0 F: holds no halves of a game" in without[0]
    assert command(root, tmp_path / "tokens", "--recipe", recipe) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda root: (root / "nowhere", ""), "no such folder"),
        (lambda root: (root / "l", ""), "no game here"),
        (lambda root: (root, "Z 9 - 9"), "no match .* is meant by --matches Z 9 - 9"),
    ],
)
def test_where_there_is_nothing_it_says_what_was_expected(
    league: Path, wrong: Callable[[Path], tuple[Path, str]], told: str
) -> None:
    with pytest.raises((SourceError, UsageError), match=told):
        find_halves(*wrong(league))


def test_another_backbone_size_or_dtype_does_not_go_into_a_cache_that_stands(
    league: Path, backbone: Backbone, tmp_path: Path
) -> None:
    encode(league, tmp_path / "tokens", backbone)
    other = tiny_backbone(tmp_path / "backbone", seed=1)
    with pytest.raises(UsageError, match=r"another cache stands here: fingerprint"):
        encode(league, tmp_path / "tokens", other)


def test_a_device_without_memory_says_which_batch_to_try(
    league: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: VisionEncoder, clips: Sequence[Any]) -> list[Tensor]:
        raise torch.OutOfMemoryError("no")

    monkeypatch.setattr(VisionEncoder, "encode", full)
    with pytest.raises(UsageError, match=r"no memory for 4 clips at once(?s:.*)--batch 2"):
        encode(league, tmp_path, backbone)


def test_a_full_disk_ends_the_run(
    league: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from streamsoccer.sources import shard_file

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shard_file.os, "fsync", full)
    with pytest.raises(DataError, match="the disk is full"):
        encode(league, tmp_path, backbone)


def test_a_device_that_is_not_there_is_told(league: Path, recipe: Path, tmp_path: Path) -> None:
    from streamsoccer.training.encode import run_encode

    if torch.cuda.is_available():
        pytest.skip("a GPU is there")
    with pytest.raises(UsageError, match="--device cuda"):
        run_encode(league, tmp_path / "tokens", recipe=recipe, device="cuda")

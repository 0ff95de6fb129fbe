"""A pipe on standard input: containers that can be streamed, senders that stop in the middle, SRT through it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live_watch import RATE, make_film
from streamsoccer.clock import WallClock
from streamsoccer.sources import open_source
from streamsoccer.testing.servers import UdpServer, free_port

COMMAND = [sys.executable, "-m", "streamsoccer.cli", "clips", "-", "--json"]
FORMATS = {"mpegts": [], "matroska": [], "mp4": ["-movflags", "frag_keyframe+empty_moov+default_base_moof"]}


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film(tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def piped(film: Path) -> dict[str, bytes]:
    """The film as each container would be sent."""
    if (missing := UdpServer.unavailable()) is not None:
        pytest.skip(f"{missing}: see `make test-deps`")
    command = ["ffmpeg", "-v", "error", "-i", str(film), "-c", "copy"]
    return {
        name: subprocess.run([*command, *how, "-f", name, "-"], check=True, capture_output=True).stdout
        for name, how in FORMATS.items()
    }


def _clips(data: bytes, *words: str) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[bytes]]:
    done = subprocess.run([*COMMAND, *words], input=data, capture_output=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()], done


@pytest.mark.parametrize("name", FORMATS)
def test_a_pipe_gives_the_clips_of_the_file(name: str, piped: dict[str, bytes], film: Path) -> None:
    rows, done = _clips(piped[name])
    assert done.returncode == 0 and not done.stderr
    assert [(row["index"], row["samples"]) for row in rows] == [(n, list(range(8))) for n in range(5)]
    assert rows[-1]["end"] == pytest.approx(20.0, abs=0.05)
    files = [clip.times for clip in open_source(film)]  # type: ignore[union-attr] - a whole film has no gaps
    assert [row["times"] for row in rows] == [pytest.approx(times, abs=0.002) for times in files]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", [0.3, 0.77])
def test_a_sender_that_dies_in_the_middle_leaves_the_clips_until_then(
    name: str, part: float, piped: dict[str, bytes]
) -> None:
    data = piped[name][: int(len(piped[name]) * part)]
    rows, done = _clips(data)
    assert done.returncode in (0, 2) and b"Traceback" not in done.stderr
    assert part * 20 - 2.5 < rows[-1]["end"] < part * 20 + 2.5
    assert [row["index"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize("data", [b"", b"no video at all\n" * 100, b"\x47" * 5000, b"\x1a\x45\xdf\xa3"])
def test_what_is_no_video_is_refused_with_a_remedy(data: bytes) -> None:
    rows, done = _clips(data)
    assert rows == [] and done.returncode == 2
    assert b"standard input" in done.stderr and b"try:" in done.stderr and b"Traceback" not in done.stderr


def test_a_sender_that_falls_silent_is_waited_for_and_may_be_left(piped: dict[str, bytes]) -> None:
    data = piped["mpegts"]
    process = subprocess.Popen(
        [*COMMAND, "--limit", "2", "--stall", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process:
        process.stdin.write(data[: len(data) * 3 // 10])
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        WallClock().wait(2.5)  # longer than a network may stall
        process.stdin.write(data[len(data) * 3 // 10 : len(data) // 2])
        process.stdin.flush()
        second = json.loads(process.stdout.readline())
        # The sender is still there, and silent: two clips were asked for, and it ends.
        assert process.wait(timeout=15) == 0
        process.stdin.close()
        assert process.stderr.read() == b""
    assert (first["index"], second["index"]) == (0, 1)


def test_a_slow_consumer_of_a_pipe_loses_nothing(piped: dict[str, bytes]) -> None:
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    sender = threading.Thread(target=_send, args=(process.stdin, piped["matroska"]))
    sender.start()
    rows = []
    for line in process.stdout:
        WallClock().wait(0.3)
        rows.append(json.loads(line))
    sender.join()
    process.stdout.close()
    assert process.wait(timeout=10) == 0
    assert [row["type"] for row in rows] == ["clip"] * 5


@pytest.fixture
def srt(film: Path) -> Iterator[str]:
    if UdpServer.unavailable() is not None or b"srt" not in _protocols():
        pytest.skip("there is no ffmpeg with SRT: see `make test-deps`")
    address = f"srt://127.0.0.1:{free_port()}"
    command = ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", str(film), "-c", "copy", "-f", "mpegts"]
    sender = subprocess.Popen(
        [*command, f"{address}?mode=listener"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    yield address
    sender.kill()
    sender.wait()


def test_srt_goes_through_the_pipe(srt: str) -> None:
    command = ["ffmpeg", "-v", "error", "-i", srt, "-c", "copy", "-f", "mpegts", "-"]
    clock = WallClock()
    deadline = clock.now() + 10
    rows: list[dict[str, Any]] = []
    while not rows and clock.now() < deadline:  # until the sender listens
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as receiver:
            done = subprocess.run([*COMMAND, "--limit", "1"], stdin=receiver.stdout, capture_output=True, timeout=60)
            receiver.kill()
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["index"], len(row["times"])) for row in rows] == [(0, 8)]
    assert rows[0]["times"] == pytest.approx([n / 2 for n in range(8)], abs=1 / RATE)


def _send(pipe: Any, data: bytes) -> None:
    pipe.write(data)
    pipe.close()


def _protocols() -> bytes:
    return subprocess.run(["ffmpeg", "-hide_banner", "-protocols"], capture_output=True, check=True).stdout

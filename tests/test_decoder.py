"""The decoder process as its parent sees it: it outlives a thread, not its parent, and tells nobody the address."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streamsoccer.clip import Clip
from streamsoccer.clock import ManualClock, WallClock
from streamsoccer.sources import Options, open_source
from streamsoccer.sources.decoder import Decoder, Request
from streamsoccer.sources.policy import Access, Limits
from streamsoccer.sources.sampler import Stretch
from streamsoccer.testing.video import make_video


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.ts"
    make_video(path, seconds=10, format="mpegts")
    return path


def test_an_iterator_may_be_handed_from_a_thread_that_ends_to_another(film: Path) -> None:
    clips = iter(open_source(film))
    first: list[object] = []
    thread = threading.Thread(target=lambda: first.append(next(clips)))
    thread.start()
    thread.join()
    WallClock().wait(0.5)
    assert [item.index for item in [*first, *clips] if isinstance(item, Clip)] == [0, 1, 2]


def test_a_decoder_does_not_outlive_its_parent(film: Path) -> None:
    program = (
        "import sys; from streamsoccer.clock import WallClock\n"
        "from streamsoccer.sources.decoder import Decoder, Request\n"
        "from streamsoccer.sources.policy import Access\n"
        "from streamsoccer.sources.sampler import Stretch\n"
        "request = Request(where='udp://127.0.0.1:9', access=Access.UDP, stretches=[Stretch(half=1, start=0.0)])\n"
        "decoder = Decoder(request, clock=WallClock(), silence=None)\n"
        "print(decoder.pid, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None and parent.stdin is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    parent.stdin.close()
    clock, deadline = WallClock(), WallClock().now() + 15
    while _alive(child) and clock.now() < deadline:
        clock.wait(0.1)
    assert not _alive(child)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc to read command lines from")
def test_the_address_with_its_password_is_on_no_command_line() -> None:
    where = "rtsp://ann:secret@127.0.0.1:9/stadium"
    request = Request(where=where, access=Access.RTSP, stretches=[Stretch(half=1, start=0.0)])
    with Decoder(request, clock=WallClock(), silence=None) as decoder:
        while not (command := Path(f"/proc/{decoder.pid}/cmdline").read_bytes()):
            WallClock().wait(0.01)  # between fork and exec it has none
    assert b"worker" in command and b"secret" not in command


def test_a_consumer_that_takes_its_time_is_not_taken_for_a_silent_decoder(tmp_path: Path) -> None:
    film = tmp_path / "long.ts"
    make_video(film, seconds=16, width=640, height=384, format="mpegts")  # more than fits in the pipe between them
    options = Options(limits=Limits(silence_seconds=1.0))
    indices = []
    for item in open_source(film, options=options):
        assert isinstance(item, Clip)
        if item.index == 0:
            WallClock().wait(2.5)
        indices.append(item.index)
    assert indices == [0, 1, 2, 3]


def test_a_decoder_that_says_nothing_for_ten_seconds_is_ended_and_not_before() -> None:
    clock = ManualClock()
    request = Request(where="udp://127.0.0.1:9", access=Access.UDP, stretches=[Stretch(half=1, start=0.0)])
    with Decoder(request, clock=clock, silence=10.0) as decoder:
        clock.advance(9.9)
        WallClock().wait(0.2)
        assert not decoder.stalled
        clock.advance(0.4)
        assert list(decoder) == []
        assert decoder.stalled and decoder.failure == "gave nothing for 10 s"


def test_stopping_ends_the_iteration_at_once_though_nothing_comes() -> None:
    request = Request(where="udp://127.0.0.1:9", access=Access.UDP, stretches=[Stretch(half=1, start=0.0)])
    clock = WallClock()
    with Decoder(request, clock=clock, silence=None) as decoder:
        threading.Timer(0.2, decoder.stop).start()
        began = clock.now()
        assert list(decoder) == []
        assert clock.now() - began < 10


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False

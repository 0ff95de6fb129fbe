"""What the tests of live servers share: a consumer that notes when it got what, and what must hold of all it got."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamsoccer.clip import FPS, FRAMES_PER_CLIP, Clip, Gap, GapReason
from streamsoccer.clock import WallClock
from streamsoccer.sources import Notice, Options, open_source
from streamsoccer.sources.live import LiveSource
from streamsoccer.testing.servers import HlsServer, RtmpServer, RtspServer, Server, UdpServer
from streamsoccer.testing.video import make_video, read_number

__all__ = ["FILM_FRAMES", "RATE", "SERVERS", "Watch", "make_film", "needs"]

RATE = 25
FILM_SECONDS = 20
FILM_FRAMES = FILM_SECONDS * RATE
SERVERS: dict[str, type[Server]] = {"udp": UdpServer, "hls": HlsServer, "rtsp": RtspServer, "rtmp": RtmpServer}


def make_film(folder: Path) -> Path:
    """Twenty seconds with a key frame each second, for servers to play round and round."""
    path = folder / "film.ts"
    make_video(path, seconds=FILM_SECONDS, width=320, height=192, options={"g": str(RATE)}, format="mpegts")
    return path


def needs(server: type[Server]) -> None:
    if (missing := server.unavailable()) is not None:
        pytest.skip(f"{missing}: see `make test-deps`")


class Watch:
    """Reads a source in a thread of its own; items and notices come with the time at which they came."""

    def __init__(self, where: str, *, pause: threading.Event | None = None, **options: Any) -> None:
        """After its first item it waits for `pause` to be set, if there is one."""
        self.clock = WallClock()
        self._pause = pause
        self.items: list[tuple[float, Clip | Gap]] = []
        self.notices: list[tuple[float, Notice]] = []
        self.error: BaseException | None = None
        self.read: list[tuple[Clip, list[int]]] = []
        options = {"stall_seconds": 2.0, "tell": self._hear, **options}
        source = open_source(where, options=Options(**options))
        assert isinstance(source, LiveSource)
        self.source = source
        self._thread = threading.Thread(target=self._run)

    def _hear(self, notice: Notice) -> None:
        self.notices.append((self.clock.now(), notice))

    def _run(self) -> None:
        try:
            for item in self.source:
                if isinstance(item, Clip):  # its pixels are read and let go: a watch may be long
                    self.read.append((item, [read_number(frame) for frame in item.frames]))
                    item = replace(item, frames=item.frames[:0])
                self.items.append((self.clock.now(), item))
                if self._pause is not None:
                    self._pause.wait(30)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.source.close()
        self._thread.join(timeout=20)
        assert not self._thread.is_alive()

    @property
    def clips(self) -> list[Clip]:
        return [item for _, item in self.items if isinstance(item, Clip)]

    @property
    def gaps(self) -> list[Gap]:
        return [item for _, item in self.items if isinstance(item, Gap)]

    def heard(self, kind: str) -> list[float]:
        return [at for at, notice in self.notices if notice.kind == kind]

    def until(self, what: str, count: int, *, seconds: float = 30.0) -> float:
        """Wait until so many clips came, or so many notices of a kind; say when the last of them did."""
        deadline = self.clock.now() + seconds
        while True:
            times = [at for at, item in self.items if isinstance(item, Clip)] if what == "clip" else self.heard(what)
            if len(times) >= count:
                return times[count - 1]
            assert self.error is None, self.error
            assert self.clock.now() < deadline, f"{len(times)} of {count} {what} after {seconds} s: {self.notices}"
            self.clock.wait(0.02)

    def wait_until_over(self, *, seconds: float = 30.0) -> None:
        self._thread.join(timeout=seconds)
        assert not self._thread.is_alive(), self.notices

    def check(self) -> None:
        """Clips in order and once each, no time outside clips and gaps, and between gaps the film as it was played."""
        indices = [clip.index for clip in self.clips]
        assert indices == sorted(set(indices))
        reached = 0.0
        for item in sorted((item for _, item in self.items), key=lambda item: item.start):
            assert item.start <= reached + 0.05, f"nothing stands for {reached} to {item.start}"
            reached = max(reached, item.end)
        instants = [
            ((clip.index * FRAMES_PER_CLIP + sample) / FPS, time, number)
            for clip, numbers in self.read
            for sample, time, number in zip(clip.samples, clip.times, numbers, strict=True)
        ]
        for (one, shown, number), (two, shown_next, number_next) in itertools.pairwise(instants):
            assert one < two and shown < shown_next
            if not any(one - 0.05 <= gap.end and gap.start <= two for gap in self.gaps):
                steps = (number_next - number) % FILM_FRAMES
                assert steps == round((shown_next - shown) * RATE), f"at {one}: {number}, then {number_next}"

    def reconnected(self) -> list[Gap]:
        return [gap for gap in self.gaps if gap.reason is GapReason.RECONNECTED]

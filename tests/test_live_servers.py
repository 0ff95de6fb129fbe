"""Live sources against real servers on the loopback: MPEG-TS over UDP, HLS, RTSP and RTMP."""

from __future__ import annotations

import random
import statistics
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from live_watch import FILM_FRAMES, RATE, SERVERS, Watch, make_film, needs
from results import record
from streamsoccer.clip import Clip
from streamsoccer.clock import WallClock
from streamsoccer.sources.timeline import MPEGTS_WRAP
from streamsoccer.testing.servers import HlsServer, RtspServer, Server, UdpServer, free_port

COMMAND = ".venv/bin/python -m pytest -s -m acceptance tests/test_live_servers.py"
TIMES_IN_A_ROW = 20
SECONDS_TO_RECONNECT = 5.0


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film(tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def played(film: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every scene at once, since each mostly waits: what came of it, by its name."""
    scenes: dict[str, tuple[type[Server], Callable[[Path], Any]]] = {
        kind: (server, lambda folder, server=server: _killed_and_back(server(film, folder)))
        for kind, server in SERVERS.items()
    }
    scenes["wrapped"] = (UdpServer, lambda folder: _wrapped(film, folder))
    scenes["kept clock"] = (HlsServer, lambda folder: _kept_clock(film, folder))
    results: dict[str, Any] = {}

    def play(name: str, scene: Callable[[Path], Any]) -> None:
        try:
            results[name] = scene(tmp_path_factory.mktemp(name.replace(" ", "_")))
        except BaseException as error:  # noqa: BLE001 - the scene's own test raises it
            results[name] = error

    threads = [
        threading.Thread(target=play, args=(name, scene))
        for name, (server, scene) in scenes.items()
        if server.unavailable() is None
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _killed_and_back(server: Server) -> tuple[Watch, float]:
    with server, Watch(server.url) as watch:
        watch.until("clip", 1)
        server.kill()
        watch.until("reconnecting", 1)
        server.start()
        back = watch.clock.now()
        again = watch.until("connected", 1)
        watch.until("clip", len(watch.clips) + 2)
    return watch, again - back


def _wrapped(film: Path, folder: Path) -> Watch:
    with UdpServer(film, folder, clock=MPEGTS_WRAP - 5) as server, Watch(server.url) as watch:
        watch.until("clip", 3)
    return watch


def _kept_clock(film: Path, folder: Path) -> Watch:
    """Only the web server dies; the encoder goes on."""
    with HlsServer(film, folder) as server, Watch(server.url) as watch:
        watch.until("clip", 1)
        server.kill("web")
        watch.until("reconnecting", 1)
        server.start()
        watch.until("connected", 1)
        watch.until("clip", len(watch.clips) + 2)
    return watch


def _result(played: dict[str, Any], name: str, server: type[Server]) -> Any:
    needs(server)
    if isinstance(result := played[name], BaseException):
        raise result
    return result


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_plays_is_killed_and_is_back_within_seconds_with_a_gap_marked(
    kind: str, played: dict[str, Any]
) -> None:
    watch, seconds = _result(played, kind, SERVERS[kind])
    watch.check()
    assert watch.read[0][0].complete and len(watch.reconnected()) == 1
    assert watch.source.counts["reconnected"] == 1 and watch.error is None
    assert seconds < SECONDS_TO_RECONNECT


def test_time_goes_on_where_timestamps_wrap(played: dict[str, Any]) -> None:
    watch = _result(played, "wrapped", UdpServer)
    watch.check()
    assert [clip.end for clip in watch.clips][:3] == [4.0, 8.0, 12.0] and not watch.gaps


def test_a_kept_clock_is_believed_and_nothing_is_shown_twice(played: dict[str, Any]) -> None:
    """Content and time agree after the reconnect as they did before."""
    watch = _result(played, "kept clock", HlsServer)
    watch.check()
    offsets = {
        round(number - time * RATE) % FILM_FRAMES
        for clip, numbers in watch.read
        for time, number in zip(clip.times, numbers, strict=True)
    }
    assert len(watch.reconnected()) == 1 and len(offsets) == 1


def test_a_server_that_is_not_there_is_an_error_that_says_so() -> None:
    for url in (f"http://127.0.0.1:{free_port()}/live.m3u8", f"rtsp://127.0.0.1:{free_port()}/match"):
        with Watch(url, connect_seconds=1.0) as watch:
            watch.wait_until_over()
        assert "Connection refused" in str(watch.error) and "127.0.0.1" in str(watch.error)


# --- long checks -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Any]]:
    """What the long checks measure; it is written down where all of them were run."""
    figures: dict[str, Any] = {}
    yield figures
    if {f"{kind}_reconnect" for kind in SERVERS} | {"udp_latency", "rtsp_latency"} <= figures.keys():
        record("live", figures, COMMAND)


@pytest.mark.acceptance
@pytest.mark.parametrize("kind", SERVERS)
def test_twenty_times_in_a_row_killed_or_stalled_and_back_within_five_seconds(
    kind: str, film: Path, tmp_path: Path, figures: dict[str, Any]
) -> None:
    needs(SERVERS[kind])
    chance = random.Random(kind)
    times: dict[str, list[float]] = {"killed": [], "stalled": []}
    descriptors: list[int] = []
    with SERVERS[kind](film, tmp_path) as server, Watch(server.url, stall_seconds=3.0) as watch:
        watch.until("clip", 1)
        for turn in range(TIMES_IN_A_ROW):
            how = "stalled" if turn % 2 else "killed"
            (server.stall if how == "stalled" else server.kill)()
            watch.until("reconnecting", turn + 1)
            watch.clock.wait(chance.uniform(0, 4))
            (server.go_on if how == "stalled" else server.start)()
            back = watch.clock.now()
            times[how].append(watch.until("connected", turn + 1) - back)
            watch.clock.wait(chance.uniform(0.5, 2.5))
            descriptors.append(len(list(Path("/proc/self/fd").iterdir())))
        watch.until("clip", len(watch.clips) + 2)
    everything = times["killed"] + times["stalled"]
    first, last = (next((at, item) for at, item in order if isinstance(item, Clip))
                   for order in (watch.items, watch.items[::-1]))  # fmt: skip
    measured = {
        "reconnects": len(everything),
        "seconds_p50": round(statistics.median(everything), 2),
        "seconds_max": round(max(everything), 2),
        **{f"{how}_seconds_max": round(max(seconds), 2) for how, seconds in times.items()},
        "clips": len(watch.clips),
        "gaps_reconnected": len(watch.reconnected()),
        "media_minus_wall_seconds": round((last[1].end - first[1].end) - (last[0] - first[0]), 2),
        "descriptors_more_at_the_end": descriptors[-1] - descriptors[1],
    }
    figures[f"{kind}_reconnect"] = measured
    print(kind, measured)
    watch.check()
    assert len(watch.reconnected()) == TIMES_IN_A_ROW == watch.source.counts["reconnected"]
    assert max(everything) < SECONDS_TO_RECONNECT
    # A playlist is joined some segments back, more or fewer each time; elsewhere media time is the wall's.
    assert kind == "hls" or abs(measured["media_minus_wall_seconds"]) < 2.0
    assert measured["descriptors_more_at_the_end"] <= 2


@pytest.mark.acceptance
@pytest.mark.parametrize("kind", ["udp", "rtsp"])
def test_a_clip_is_in_hand_soon_after_the_frame_that_ends_it_was_sent(
    kind: str, film: Path, tmp_path: Path, figures: dict[str, Any]
) -> None:
    """Apart from the four seconds that a clip is long: from when its end was sent to when the consumer has it."""
    needs(SERVERS[kind])
    if kind == "rtsp":
        with RtspServer(film, tmp_path) as server, Watch(server.url) as watch:
            watch.until("clip", 15, seconds=90)
            lines = server.sent.read_text().splitlines()
        sent = [(int(number), float(at)) for number, at in map(str.split, lines)]
    else:
        url = f"udp://127.0.0.1:{free_port()}"
        sender = Sender(film, url)
        with Watch(url) as watch:
            sender.start()
            watch.until("clip", 15, seconds=90)
            sender.stop()
        sent = sender.sent
    seconds = []
    for (at, item), numbers in zip(
        [pair for pair in watch.items if isinstance(pair[1], Clip)], [numbers for _, numbers in watch.read], strict=True
    ):
        following = (numbers[0] + round((item.end - item.times[0]) * RATE)) % FILM_FRAMES
        seconds.append(at - max(moment for number, moment in sent if number == following and moment < at))
    measured = {
        "clips": len(seconds),
        "seconds_p50": round(statistics.median(seconds), 3),
        "seconds_max": round(max(seconds), 3),
    }
    figures[f"{kind}_latency"] = measured
    print(kind, measured)
    assert measured["seconds_p50"] < 0.5


class Sender:
    """Sends the film as MPEG-TS over UDP at its pace, and notes when it sent which frame."""

    def __init__(self, film: Path, url: str) -> None:
        self.sent: list[tuple[int, float]] = []
        self._film, self._url = film, url
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        import av

        clock = WallClock()
        with av.open(str(self._film)) as source:
            packets = [packet for packet in source.demux(source.streams.video[0]) if packet.size]
            first = packets[0].dts or 0
            options = {"flush_packets": "1"}
            with av.open(f"{self._url}?pkt_size=1316", "w", format="mpegts", options=options) as out:
                stream = out.add_stream_from_template(source.streams.video[0])
                began, number = clock.now(), 0
                while not self._over.is_set():
                    clock.wait(began + number / RATE - clock.now())
                    packet = packets[number % FILM_FRAMES]
                    packet.dts = packet.pts = first + number * 3600
                    packet.stream = stream
                    self.sent.append((number % FILM_FRAMES, clock.now()))
                    out.mux_one(packet)
                    number += 1

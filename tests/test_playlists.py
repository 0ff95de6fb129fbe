"""HLS over HTTP: what a playlist may lead to, which variant plays, and when it is over."""

from __future__ import annotations

import contextlib
import functools
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live_watch import Watch
from streamsoccer.clock import WallClock
from streamsoccer.sources import OnFull
from streamsoccer.sources.gate import Gate
from streamsoccer.testing.video import make_video

HEAD = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
ENDED = "#EXT-X-ENDLIST\n"
SECONDS = 2


class Web:
    """A web server on the loopback that counts what it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()
        folder.mkdir(parents=True, exist_ok=True)
        self.redirects: dict[str, str] = {}
        self.cut: dict[str, int] = {}  # path -> how many bytes are sent before the connection breaks, once
        web = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.asked.append(self.path)
                if (to := web.redirects.get(self.path)) is not None:
                    self.send_response(302)
                    self.send_header("Location", to)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif (count := web.cut.pop(self.path, None)) is not None:
                    data = (web.folder / self.path.lstrip("/")).read_bytes()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[:count])
                    self.close_connection = True
                else:
                    super().do_GET()

            def log_message(self, *_: Any) -> None: ...

        handler = functools.partial(Handler, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return f"{self.address}/{name}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve segments of two seconds, one film cut up."""
    import av

    folder = tmp_path_factory.mktemp("segments")
    make_video(folder / "film.ts", seconds=12 * SECONDS, width=128, height=96, options={"g": "50"}, format="mpegts")
    with av.open(str(folder / "film.ts")) as source:
        stream = source.streams.video[0]
        packets = [packet for packet in source.demux(stream) if packet.size]
        for number in range(12):
            with av.open(str(folder / f"{number}.ts"), "w", format="mpegts", options={"mpegts_copyts": "1"}) as out:
                copy = out.add_stream_from_template(stream)
                for packet in packets[number * 50 : (number + 1) * 50]:
                    packet.stream = copy
                    out.mux_one(packet)
    return folder


@pytest.fixture
def web(segments: Path, tmp_path: Path) -> Iterator[Web]:
    server = Web(tmp_path / "web")
    for path in segments.iterdir():
        (server.folder / path.name).symlink_to(path)
    yield server
    server.close()


def _playlist(numbers: range, *, ended: bool) -> str:
    lines = "".join(f"#EXTINF:{SECONDS}.0,\n{number}.ts\n" for number in numbers)
    return HEAD + lines + (ENDED if ended else "")


def _shown(watch: Watch) -> list[int]:
    return [number for _, numbers in watch.read for number in numbers]


def test_a_finished_playlist_is_played_to_its_end_and_waits_for_a_slow_consumer(web: Web) -> None:
    url = web.write("vod.m3u8", _playlist(range(12), ended=True))
    with Watch(url, queue_clips=1) as watch:
        watch.wait_until_over()
    assert watch.error is None and not watch.gaps
    assert [clip.end for clip in watch.clips] == [4.0, 8.0, 12.0, 16.0, 20.0, 24.0]
    assert _shown(watch) == [round(n * 12.5 - 0.01) for n in range(48)]
    assert watch.source.counts["dropped"] == 0


def test_who_asks_for_the_oldest_to_be_dropped_gets_that_for_a_recording_too(web: Web) -> None:
    url = web.write("vod.m3u8", _playlist(range(12), ended=True))
    pause = threading.Event()
    with Watch(url, queue_clips=1, on_full=OnFull.DROP, pause=pause) as watch:
        WallClock().wait(2.5)
        pause.set()
        watch.wait_until_over()
    assert watch.source.counts["dropped"] > 0
    watch.check()


def test_a_broadcast_is_over_when_its_playlist_says_so_and_nothing_is_shown_twice(web: Web) -> None:
    url = web.write("live.m3u8", _playlist(range(6), ended=False))
    with Watch(url) as watch:
        watch.until("clip", 1)
        web.write("live.m3u8", _playlist(range(9), ended=False))
        watch.until("clip", 2)
        web.write("live.m3u8", _playlist(range(12), ended=True))
        watch.wait_until_over()
    assert watch.error is None
    shown = _shown(watch)
    assert shown == sorted(set(shown)) and shown[-1] == 587
    assert shown[0] >= 100  # a live playlist is joined three segments before its end


def test_a_broadcast_that_ended_while_it_was_away_is_played_to_its_end(web: Web) -> None:
    url = web.write("live.m3u8", _playlist(range(6), ended=False))
    with Watch(url) as watch:
        watch.until("clip", 1)
        watch.until("reconnecting", 1)  # nothing new came in the playlist
        web.write("live.m3u8", _playlist(range(12), ended=True))
        watch.wait_until_over()
    assert watch.error is None
    shown = _shown(watch)
    assert shown == sorted(set(shown)) and shown[-1] == 587


def test_of_variants_one_is_played_and_the_others_are_not_fetched(web: Web, segments: Path) -> None:
    for name in ("low", "high"):
        (web.folder / name).mkdir()
        for number in range(12):
            (web.folder / name / f"{number}.ts").symlink_to(segments / f"{number}.ts")
        (web.folder / name / "index.m3u8").write_text(_playlist(range(12), ended=True))
    master = "#EXTM3U\n" + "".join(
        f"#EXT-X-STREAM-INF:BANDWIDTH={rate},RESOLUTION=128x96\n{name}/index.m3u8\n"
        for name, rate in (("low", 100_000), ("high", 900_000))
    )
    with Watch(web.write("master.m3u8", master)) as watch:
        watch.wait_until_over()
    assert watch.error is None and watch.clips[-1].end == 24.0
    fetched = {name: sum(path.startswith(f"/{name}/") and path.endswith(".ts") for path in web.asked)
               for name in ("low", "high")}  # fmt: skip
    assert sorted(fetched.values())[0] <= 2 and sorted(fetched.values())[1] >= 12


def test_a_playlist_opens_no_file_and_no_port_but_its_own(web: Web, tmp_path: Path) -> None:
    """The bait is the film from second 10 on, in a file and on a server beside: its pictures would be recognised."""
    other = Web(tmp_path / "other")
    bait = tmp_path / "bait.ts"
    bait.write_bytes((web.folder / "5.ts").read_bytes())
    (other.folder / "5.ts").write_bytes(bait.read_bytes())
    (other.folder / "list.m3u8").write_text(_playlist(range(5, 6), ended=True))
    web.redirects["/elsewhere.ts"] = f"{other.address}/5.ts"
    places = [
        "file:///etc/hostname", f"file://{bait}", str(bait), f"../../..{bait}", f"concat:{bait}|{bait}",
        f"subfile,,start,0,end,9,,:{bait}", f"{other.address}/5.ts", "elsewhere.ts", f"//{other.address[7:]}/5.ts",
        f"{other.address.replace('127.0.0.1', 'localhost')}/5.ts", f"tcp://{other.address[7:]}",
        f"crypto+{other.address}/5.ts", "http://169.254.169.254/latest/meta-data.ts",
    ]  # fmt: skip
    line = f"#EXTINF:{SECONDS}.0,\n"
    good = f"{HEAD}{line}0.ts\n"
    texts = [f"{good}{line}{place}\n{ENDED}" for place in places]
    texts.append(f'{good}#EXT-X-KEY:METHOD=AES-128,URI="{other.address}/key"\n{line}1.ts\n{ENDED}')
    texts.append(f'{good}#EXT-X-MAP:URI="{other.address}/5.ts"\n{line}1.ts\n{ENDED}')
    texts.append(f"{HEAD}{line}{other.address}/5.ts\n")
    texts.append(f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n{other.address}/list.m3u8\n")
    try:
        with contextlib.ExitStack() as stack:
            how = {"connect_seconds": 2.0, "opening_seconds": 8.0}
            watches = [
                stack.enter_context(Watch(web.write(f"evil{number}.m3u8", text), **how))
                for number, text in enumerate(texts)
            ]
            for watch in watches:
                watch.wait_until_over(seconds=60)
        assert other.asked == []
        for watch, text in zip(watches, texts, strict=True):
            assert not [number for number in _shown(watch) if 250 <= number < 300], text
        told = " ".join(notice.text for watch in watches for _, notice in watch.notices if notice.kind == "forbidden")
        assert f"it leads to {other.address[7:]}, which is neither the server named nor" in told
        assert "169.254.169.254" in told
    finally:
        other.close()


def test_a_playlist_may_be_redirected_within_its_server(web: Web) -> None:
    web.write("vod.m3u8", _playlist(range(12), ended=True))
    web.redirects["/go"] = "/vod.m3u8"
    web.redirects["/go.m3u8"] = "/vod.m3u8"
    with Watch(f"{web.address}/go.m3u8") as watch:
        watch.wait_until_over()
    assert watch.error is None and watch.clips[-1].end == 24.0


def test_a_file_over_http_that_breaks_off_goes_on_where_it_did(web: Web) -> None:
    film = (web.folder / "film.ts").stat().st_size
    web.cut["/film.ts"] = film // 2
    with Watch(f"{web.address}/film.ts") as watch:
        watch.wait_until_over()
    assert watch.error is None
    shown = _shown(watch)
    assert shown == sorted(set(shown)) and shown[-1] == 587
    watch.check()


def test_what_is_not_there_is_an_error_that_says_so_after_its_time(web: Web) -> None:
    clock = WallClock()
    began = clock.now()
    with Watch(f"{web.address}/none.m3u8?token=secret", connect_seconds=2.0) as watch:
        watch.wait_until_over()
    assert "404" in str(watch.error) and "secret" not in str(watch.error)
    assert clock.now() - began > 2.0


def test_a_page_that_is_no_video_is_an_error_that_says_so(web: Web) -> None:
    url = web.write("page.html", "<html>" + "no video " * 500)
    with Watch(url, connect_seconds=1.0) as watch:
        watch.wait_until_over()
    assert "not a video" in str(watch.error)


# --- the gate --------------------------------------------------------------------------------------------------------


@pytest.fixture
def gate() -> Iterator[Gate]:
    known = {
        "club.example": ["93.184.215.14"], "cdn.example": ["151.101.1.1"], "inside.example": ["10.0.0.7"],
        "mixed.example": ["192.168.1.1", "151.101.1.1"], "camera.local": ["192.168.1.20"],
        "rebound.example": ["::ffff:127.0.0.1"], "home.example": ["fe80::1", "fd00::1", "127.0.0.1", "0.0.0.0"],
    }  # fmt: skip

    def resolve(host: str, port: int) -> list[str]:
        if host not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return known[host]

    gate = Gate("https://club.example/live.m3u8", resolve=resolve)
    yield gate
    gate.close()


def test_the_gate_leads_to_the_server_named_and_to_the_public_internet_alone(gate: Gate) -> None:
    assert gate.may_reach("club.example", 443) == ["93.184.215.14"]
    assert gate.may_reach("cdn.example", 443) == ["151.101.1.1"]
    assert gate.may_reach("mixed.example", 443) == ["151.101.1.1"]
    for host in ("inside.example", "camera.local", "rebound.example", "home.example"):
        for port in (80, 443, 8080):
            assert gate.may_reach(host, port) == []


def test_a_server_in_the_house_may_be_named_but_leads_nowhere_else_in_it() -> None:
    gate = Gate("http://192.168.1.20:8080/live.m3u8")
    try:
        assert gate.may_reach("192.168.1.20", 8080) == ["192.168.1.20"]
        assert gate.may_reach("192.168.1.20", 80) == []
        assert gate.may_reach("192.168.1.21", 8080) == []
    finally:
        gate.close()


def test_the_gate_refuses_what_is_no_request() -> None:
    gate = Gate("http://127.0.0.1:1/live.m3u8")
    port = int(gate.address.rpartition(":")[2])
    try:
        for request in (b"", b"GET file:///etc/hostname HTTP/1.1", b"x" * 70_000, b"CONNECT :x HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                client.sendall(request + b"\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 400")
    finally:
        gate.close()


class Echo:
    """Takes one connection, keeps what it hears until a line is empty, and answers."""

    def __init__(self, answer: bytes) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.heard = b""
        self._answer = answer
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._server.accept()
        with client:
            while not self.heard.endswith(b"\r\n\r\n") and (more := client.recv(4096)):
                self.heard += more
            client.sendall(self._answer)

    def close(self) -> None:
        self._thread.join(timeout=5)
        self._server.close()


def _ask(gate: Gate, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", int(gate.address.rpartition(":")[2])), timeout=5) as client:
        client.sendall(request)
        answer = b""
        while more := client.recv(4096):
            answer += more
        return answer


def test_the_gate_makes_a_tunnel_to_the_server_named_for_https() -> None:
    server = Echo(b"hello")
    gate = Gate(f"https://127.0.0.1:{server.port}/live.m3u8")
    request = f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert _ask(gate, request + b"tls\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\nhello"
    assert server.heard == b"tls\r\n\r\n"
    assert _ask(gate, b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403")
    gate.close()
    server.close()


def test_where_there_is_a_proxy_the_gate_goes_through_it_with_its_password() -> None:
    proxy = Echo(b"HTTP/1.1 200 OK\r\n\r\nfilm")

    def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "only the proxy knows names")

    gate = Gate("http://club.example/x", upstream=f"http://ann:se%40cret@127.0.0.1:{proxy.port}", resolve=resolve)
    answer = _ask(
        gate, b"GET http://club.example/0.ts HTTP/1.1\r\nConnection: keep-alive\r\nHost: club.example\r\n\r\n"
    )
    assert answer.endswith(b"film")
    assert proxy.heard.startswith(
        b"GET http://club.example/0.ts HTTP/1.1\r\nHost: club.example\r\nConnection: close\r\n"
    )
    assert b"Proxy-Authorization: Basic YW5uOnNlQGNyZXQ=\r\n" in proxy.heard
    gate.close()
    proxy.close()

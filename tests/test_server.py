"""The live page's server: whoever listens gets every row once, whenever he comes, and nobody can hold up anybody."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from browser import Page, chromium, wait
from streamsoccer.errors import UsageError
from streamsoccer.journal import Journal
from streamsoccer.journal_reader import JournalReader
from streamsoccer.outputs.rows import row_of
from streamsoccer.server.app import make_app, serve
from streamsoccer.server.follow import Follower, Told
from streamsoccer.server.viewers import Telling, Viewers
from streamsoccer.testing.video import make_video
from written_match import HEADER, WrittenMatch, written

HOSTILE = (
    "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>\r\n\r\nevent: rows\ndata: []\u2028&amp;"
)


# --- a server and those who listen -----------------------------------------------------------------------------------


@contextmanager
def watched(journal: Path, *options: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`streamsoccer watch` in a process of its own; gives 'host:port'."""
    command = [sys.executable, "-m", "streamsoccer.cli", "watch", str(journal), "--port", str(port), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            line = process.stdout.readline()
            assert " at http://" in line, process.stderr.read()
            yield urlsplit(line.split(" at ")[1].split()[0]).netloc, process
        finally:
            process.kill()


class Listener:
    """One viewer: an answer that does not end, message by message."""

    def __init__(self, address: str, last: str = "", *, header: bool = True, timeout: float = 10.0) -> None:
        self.connection = http.client.HTTPConnection(address, timeout=timeout)
        headers = {"Last-Event-ID": last} if last and header else {}
        self.connection.request("GET", "/rows" if header else f"/rows?last={quote(last)}", headers=headers)
        self.answer = self.connection.getresponse()
        self.rows: list[dict[str, Any]] = []
        self.last = last
        self.seen: list[str] = []

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.answer.close()

    def next(self) -> tuple[str, Any]:
        """The next message: its name and what it holds."""
        fields: dict[str, str] = {}
        while line := self.answer.readline():
            text = line.decode().rstrip("\n")
            if text:
                name, _, value = text.partition(": ")
                assert name not in fields, "a message with two parts of one name"
                fields[name] = value
            elif "event" in fields:
                break
            else:
                fields = {}
        if not fields:
            return "end", None
        data = json.loads(fields["data"])
        self.seen.append(fields["event"])
        if fields["event"] == "rows":
            self.rows.extend(data)
            self.last = fields["id"]
        return fields["event"], data

    def until(self, condition: Callable[[], bool]) -> Listener:
        while not condition():
            assert self.next()[0] != "end"
        return self


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One answer; the path goes out as it is written."""
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def rows_in(path: Path) -> list[dict[str, Any]]:
    with JournalReader(path) as reader:
        return json.loads(json.dumps([row_of(each) for each in reader.since(0, limit=1_000_000)]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match that is over, with its film."""
    folder = tmp_path_factory.mktemp("watched")
    written(folder / "match.journal", seconds=400)
    make_video(folder / "film.mp4", seconds=400, fps=2, width=64, height=36, options={"g": "4"})
    (folder / "secret.txt").write_text("not for you", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with watched(folder) as (address, _):
        yield address


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of more bytes than connections hold on their way: its sentences are endless."""
    texts = dict.fromkeys(("current", "recent", "historical", "record"), "on and on " * 10_000)
    return written(tmp_path_factory.mktemp("large") / "match.journal", seconds=300, texts=texts)


# --- rows ------------------------------------------------------------------------------------------------------------


def test_a_viewer_is_told_the_match_and_all_its_rows(address: str, folder: Path) -> None:
    expected = rows_in(folder / "match.journal")
    with Listener(address) as viewer:
        name, head = viewer.next()
        assert name == "match" and head["header"]["home"] == "Alder Town" and head["problem"] == ""
        assert head["films"] == [{"src": "film/0", "halves": {"1": 0.0}}]
        viewer.until(lambda: len(viewer.rows) >= len(expected))
    assert viewer.rows == expected


def test_whoever_comes_back_misses_nothing_and_hears_nothing_twice(tmp_path: Path) -> None:
    """Connections that break at random while the match is written, by the header and by the address."""
    path = tmp_path / "match.journal"
    total = len(rows_in(written(tmp_path / "other.journal", seconds=240)))
    random_ = random.Random(3)
    rows: list[dict[str, Any]] = []
    last, times = "", 0
    with watched(path) as (address, _):
        writer = threading.Thread(target=_written_slowly, args=(path, 240, 0.1))
        writer.start()
        while len(rows) < total:
            with Listener(address, last, header=times % 2 == 0) as viewer:
                for _ in range(random_.randint(1, 3)):
                    if len(rows) + len(viewer.rows) < total:  # after the last row nothing more comes
                        viewer.next()
                rows += viewer.rows
                last, times = viewer.last, times + 1
        writer.join()
    assert times > 5
    assert rows == rows_in(path)


@pytest.mark.parametrize("last", ["nonsense", "1-2-3", "-", "²-²", "9" * 6000 + "-1", "1", "..%2f", "%00"])
def test_a_place_that_makes_no_sense_is_the_start(address: str, folder: Path, last: str) -> None:
    with Listener(address, last, header=False) as viewer:
        assert viewer.answer.status in (200, 431) or len(last) > 5000
        if viewer.answer.status == 200:
            assert viewer.until(lambda: bool(viewer.rows)).rows[0]["seq"] == 1


def test_many_watch_at_once_and_each_gets_all(tmp_path: Path) -> None:
    path = tmp_path / "match.journal"
    with watched(path) as (address, _):
        viewers = [Listener(address, timeout=30) for _ in range(60)]
        _written_slowly(path, 160, 0.0)
        expected = rows_in(path)
        for viewer in viewers:
            with viewer:
                viewer.until(lambda viewer=viewer: len(viewer.rows) >= len(expected))
                assert viewer.rows == expected


def test_a_journal_may_come_later_and_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "match.journal"
    with watched(tmp_path) as (address, _), Listener(address) as viewer:
        time.sleep(0.2)
        written(path, seconds=40)
        viewer.until(lambda: len(viewer.rows) == len(rows_in(path)))
        assert viewer.seen[0] == "match" and "problem" not in viewer.seen
        other = tmp_path / "other.journal"
        with Journal.create(other, replace(HEADER, match="another match")) as journal:
            WrittenMatch(seconds=20).write(journal)
        for each in tmp_path.glob("match.journal*"):
            each.unlink()
        other.rename(path)
        while viewer.next()[0] != "another":
            pass
        assert viewer.next()[0] == "end"
        with Listener(address) as fresh:
            assert fresh.next()[1]["header"]["match"] == "another match"
        with Listener(address, viewer.last) as stale:
            assert stale.next()[0] == "another"


def test_what_is_no_journal_is_said_and_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "match.journal"
    path.write_bytes(b"no journal, but long enough to be looked into" * 40)
    with watched(path) as (address, _), Listener(address) as viewer:
        name, text = viewer.next()
        assert name == "problem" and "is not a journal" in text
        path.unlink()
        written(path, seconds=20)
        viewer.until(lambda: bool(viewer.rows))
        assert "problem" in viewer.seen  # and taken back before the rows


def test_a_film_that_does_not_fit_costs_the_film_and_not_the_match(tmp_path: Path, folder: Path) -> None:
    written(tmp_path / "match.journal", seconds=20, halves=2)
    with watched(tmp_path, "--film", str(folder / "film.mp4")) as (address, _), Listener(address) as viewer:
        _, head = viewer.next()
        assert head["films"] == [] and "does not say where they start" in head["problem"]
        viewer.until(lambda: bool(viewer.rows))


# --- viewers who are no good -----------------------------------------------------------------------------------------


def connected(address: str, request: bytes) -> socket.socket:
    """A viewer with little room for what he has not read yet."""
    host, _, port = address.partition(":")
    viewer = socket.socket()
    viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    viewer.settimeout(10)
    viewer.connect((host, int(port)))
    viewer.sendall(request)
    return viewer


def test_one_who_takes_nothing_is_let_go_and_holds_up_nobody(large: Path) -> None:
    """Over a real connection: his place is free again after the patience that is had with him."""
    expected = rows_in(large)
    with Serving(large, Viewers(patience=1.0)) as (address, viewers):
        with connected(address, b"GET /rows HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
            wait(lambda: viewers.now == 1)
            with Listener(address) as viewer:
                viewer.until(lambda: len(viewer.rows) >= len(expected))
                assert viewer.rows == expected and viewers.now > 0
                wait(lambda: viewers.now == 1, 20)  # he who listens
        wait(lambda: viewers.now == 0)


def test_a_slow_one_gets_all_at_his_own_speed(large: Path) -> None:
    expected = [each["seq"] for each in rows_in(large)]
    with Serving(large, Viewers()) as (address, viewers):
        with connected(address, b"GET /rows HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n") as slow:
            read = bytearray()
            while len(read) < 2_000_000:
                read += slow.recv(65536)
                time.sleep(0.005)
            last = f"-{expected[-1]}\nevent: rows\n".encode()  # of the last message's head
            while last not in read or not read.endswith(b"\n\n"):
                read += slow.recv(1 << 20)
            assert _ids(read) == expected
            assert viewers.now == 1
        wait(lambda: viewers.now == 0)


def _ids(told: bytes) -> list[int]:
    lines = [each for each in told.decode().splitlines() if each.startswith("data: [")]
    return [row["seq"] for line in lines for row in json.loads(line[6:])]


def test_too_many_are_told_to_come_later(tmp_path: Path) -> None:
    path = written(tmp_path / "match.journal", seconds=20)
    with Serving(path, Viewers(most=2)) as (address, viewers):
        with Listener(address) as one, Listener(address) as two:
            one.next()
            two.next()
            status, headers, _ = get(address, "/rows")
            assert (status, headers["retry-after"]) == (503, "30")
            assert get(address, "/")[0] == 200
        wait(lambda: viewers.now == 0)
        with Listener(address) as three:
            assert three.answer.status == 200


def test_those_who_leave_are_counted_out(tmp_path: Path) -> None:
    path = written(tmp_path / "match.journal", seconds=20)
    with Serving(path, Viewers()) as (address, viewers):
        for _ in range(30):
            with Listener(address) as viewer:
                viewer.next()
        wait(lambda: viewers.now == 0)


def test_the_journal_stays_open_until_the_last_look_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is cancelled while a thread reads waits for it: SQLite closed beneath a reader ends the process."""
    order: list[str] = []
    begun, since, close = threading.Event(), JournalReader.since, JournalReader.close

    def slow(reader: JournalReader, *where: int) -> Any:
        begun.set()
        time.sleep(0.2)
        order.append("read")
        return since(reader, *where)

    def closed(reader: JournalReader) -> None:
        order.append("closed")
        close(reader)

    monkeypatch.setattr(JournalReader, "since", slow)
    monkeypatch.setattr(JournalReader, "close", closed)

    async def cancelled() -> None:
        following = asyncio.create_task(Follower(path, lambda reader: {}, 0.01).run())
        await asyncio.to_thread(begun.wait)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    path = written(tmp_path / "match.journal", seconds=20)
    order.clear()
    asyncio.run(cancelled())
    assert order == ["read", "closed"]


def test_a_generator_is_closed_whatever_the_sending_does(tmp_path: Path) -> None:
    """Without a network: a send that never ends, one that fails, and one who leaves in the middle."""
    path = written(tmp_path / "match.journal", seconds=20)

    async def told(send: Any, receive: Any) -> int:
        follower = Follower(path, lambda reader: {}, 0.01)
        viewers = Viewers(patience=0.05)
        following = asyncio.create_task(follower.run())
        await asyncio.wait_for(Telling(follower, viewers, "", {})({}, receive, send), 5)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        return viewers.now

    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    async def broken(*_: Any) -> None:
        raise OSError("gone")

    async def left() -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"type": "http.disconnect"}

    async def taken(*_: Any) -> None: ...

    for send, receive in ((never, left), (broken, never), (taken, left)):
        assert asyncio.run(told(send, receive)) == 0

    count = 0

    async def first_only(message: dict[str, Any]) -> None:
        nonlocal count
        count += 1
        if count > 1:
            await asyncio.Event().wait()

    assert asyncio.run(told(first_only, never)) == 0 and count == 2


def test_a_quiet_match_is_alive() -> None:
    async def first() -> Told:
        async for each in Follower(Path("nowhere.journal"), lambda reader: {}).messages(alive=0.01):
            return each
        raise AssertionError

    assert asyncio.run(first()).event == "alive"


# --- what it serves, and to whom -------------------------------------------------------------------------------------


def test_the_page_says_what_a_browser_may_do_with_it(address: str) -> None:
    status, headers, body = get(address, "/")
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
    assert headers["cross-origin-resource-policy"] == "same-origin" and "access-control-allow-origin" not in headers
    assert b"default-src &#39;none&#39;" in body or b"default-src 'none'" in body
    _, headers, _ = get(address, "/film/0")
    assert headers["x-content-type-options"] == "nosniff" and headers["content-type"] == "video/mp4"


def test_a_film_comes_in_parts(address: str, folder: Path) -> None:
    data = (folder / "film.mp4").read_bytes()
    status, headers, body = get(address, "/film/0", Range="bytes=100-299")
    assert status == 206 and headers["content-range"] == f"bytes 100-299/{len(data)}" and body == data[100:300]
    assert get(address, "/film/0", Range=f"bytes={len(data) + 5}-")[0] == 416
    assert get(address, "/film/0")[2] == data


@pytest.mark.parametrize(
    "path",
    [
        "/film/1",
        "/film/-1",
        "/film/99999999999999999999999",
        "/film/0/../secret.txt",
        "/film/../secret.txt",
        "/film/..%2fsecret.txt",
        "/film/%2e%2e/%2e%2e/etc/passwd",
        "/../secret.txt",
        "/secret.txt",
        "//secret.txt",
        "/film/secret.txt",
        "/film/0%00",
        "/match.journal",
        "/web/page.js",
        "http://127.0.0.1/secret.txt",
    ],
)
def test_nothing_else_can_be_had(address: str, path: str) -> None:
    status, _, body = get(address, path)
    assert status in (404, 400) and b"not for you" not in body and b"SQLite" not in body


def test_nothing_can_be_written(address: str) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request(method, "/rows", body=b"")
        assert connection.getresponse().status == 405
        connection.close()


def test_another_name_for_this_machine_is_refused(address: str) -> None:
    """A page of some other site that has its name lead here (DNS rebinding) is not answered."""
    assert get(address, "/", Host="evil.example")[0] == 400
    assert get(address, "/rows", Host="evil.example:80")[0] == 400
    assert get(address, "/", Host="localhost:1")[0] == 200


def test_it_ends_at_once_and_quietly_although_somebody_watches(folder: Path) -> None:
    with watched(folder) as (address, process), Listener(address) as viewer:
        viewer.until(lambda: bool(viewer.rows))
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        assert time.monotonic() - begun < 3 and "Traceback" not in errors and "ERROR" not in errors
        assert viewer.next()[0] == "end"


def test_a_port_in_use_is_named(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match=r"port .* Address already in use"):
            serve(make_app(folder / "match.journal"), "127.0.0.1", taken.getsockname()[1])


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with chromium() as page:
        page.size(1280, 800)
        yield page


def test_a_page_follows_a_match_as_it_is_written(tab: Page, tmp_path: Path, folder: Path) -> None:
    """From before the first clip to the end, the server gone and back between: each line once, and in order."""
    path = tmp_path / "match.journal"
    header = replace(HEADER, pace="real", source=str(folder / "film.mp4"))
    match = WrittenMatch(seconds=240)
    with watched(path) as (address, process):
        tab.go(f"http://{address}/")
        tab.until("return document.getElementById('livewords').textContent === 'Waiting for the first clip'")
        with Journal.create(path, header) as journal:
            match.write(journal, until=20)
        tab.until("return match.last?.step === 20")
        tab.until("return document.getElementById('livewords').textContent === 'Live'")
        tab.until("return video.readyState >= 2 && Math.abs(video.currentTime - 80) < 6 && !video.paused")
        assert tab.run("return document.title") == "Alder Town – Brook Rovers"
        port = address.rpartition(":")[2]
        process.send_signal(signal.SIGINT)
        process.wait(10)
        tab.until("return document.getElementById('livewords').textContent === 'Reconnecting'")
        with Journal.open(path) as journal:
            match.write(journal, until=40)
    with watched(path, port=int(port)):
        tab.until("return match.last?.step === 40", 20)
        said = [each["id"] for each in rows_in(path) if each["k"] == "line"]
        ids = "return [...document.querySelectorAll('#lines [data-id]')].map(each => each.dataset.id)"
        assert tab.run(ids) == said and len(said) > 2
        tab.run("visit(1, 30)")
        tab.until("return !document.getElementById('now').hidden && !live.following")
        tab.press("l")
        tab.until("return live.following && Math.abs(video.currentTime - 160) < 6")
        with Journal.open(path) as journal:
            match.write(journal)
            journal.tell(_notice(), "over", "the match is over", half=1, at=240)
        tab.until("return document.getElementById('livewords').textContent === 'The match is over'")
        assert tab.run(ids) == [each["id"] for each in rows_in(path) if each["k"] == "line"]
    assert [each for each in tab.complaints() if "ERR_" not in each] == []  # the server was away once


def test_text_that_comes_live_is_text(tab: Page, tmp_path: Path) -> None:
    texts = dict.fromkeys(("current", "recent", "historical", "record"), HOSTILE)
    header = replace(HEADER, sheet={"home": HOSTILE, "away": "<i>Away</i>"}, source="")
    path = tmp_path / "match.journal"
    with Journal.create(path, header) as journal:
        WrittenMatch(seconds=200, texts=texts).write(journal)
    with watched(path) as (address, _):
        tab.go(f"http://{address}/")
        tab.until("return items.size > 3")
        tab.run("const line = match.lines()[2]; visit(1, line.at, line)")
        tab.until("return document.querySelector('.current .details') !== null")
        assert tab.run("return Number(window.pwned || 0) + document.querySelectorAll('img, i i').length") == 0
        assert tab.run("return document.querySelectorAll('script').length") == 2
        assert tab.run("return match.lines()[0].raw") == HOSTILE
        assert tab.run("return document.querySelector('#lines .text').textContent") == HOSTILE
    tab.complaints()


# --- parts -----------------------------------------------------------------------------------------------------------


class Serving:
    """The application in a thread of this process, so that its viewers can be looked at."""

    def __init__(self, journal: Path, viewers: Viewers) -> None:
        import uvicorn

        self.viewers = viewers
        app = make_app(journal, [], viewers=viewers, pause=0.05)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})

    def __enter__(self) -> tuple[str, Viewers]:
        self.thread.start()
        wait(lambda: self.server.started)
        host, port = self.socket.getsockname()
        return f"{host}:{port}", self.viewers

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


def _written_slowly(path: Path, seconds: float, pause: float) -> None:
    match = WrittenMatch(seconds=seconds)
    for until in range(1, len(match.items()) + 1, 4):
        with Journal.open(path) if path.exists() else Journal.create(path, HEADER) as journal:
            match.write(journal, until=until + 3)
        time.sleep(pause)


def _notice() -> Any:
    from streamsoccer.journal_rows import NoteKind

    return NoteKind.NOTICE

"""Live sources without a server: what a decoder says is played from a script, on a clock that the test moves."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.clip import Clip, Gap, GapReason
from streamsoccer.clock import Clock, ManualClock, WallClock
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources import Notice, Options, open_source
from streamsoccer.sources.decoder import Request
from streamsoccer.sources.live import LiveSource, without_secrets
from streamsoccer.sources.policy import Access
from streamsoccer.sources.timeline import MPEGTS_WRAP, Resume, Timeline

PIXELS = np.zeros((2, 2, 3), dtype=np.uint8)
Message = dict[str, Any]


def _open(declared: float | None = None) -> Message:
    return {"kind": "open", "declared": declared, "recorded": declared is not None}


def _frames(first: int, last: int, *, stamp: float = 0.0) -> list[Message]:
    """One frame for each instant from `first` to `last`, as a decoder sends them."""
    return [
        {
            "kind": "frame", "half": 1, "number": n, "time": n / 2, "shape": PIXELS.shape,
            "last": (stamp + n / 2, n / 2, stamp), "reached": n / 2 + 0.04,
        }
        for n in range(first, last + 1)
    ]  # fmt: skip


def _jump(start: float, end: float) -> Message:
    return {"kind": "jump", "reason": "reconnected", "start": start, "end": end, "detail": ""}


def _end(seconds: float, missing: float | None = None) -> Message:
    counts = {"broken": 0, "estimated": 0, "late": 0, "resized": 0}
    return {"kind": "end", "end": seconds, "missing": missing, **counts}


class Script:
    """Connections one after the other: each a list of messages, and how the decoder failed after them."""

    def __init__(self, clock: ManualClock, *connections: tuple[list[Message], str | None], lasts: float = 1.0) -> None:
        self.clock, self.connections, self.lasts = clock, list(connections), lasts
        self.requests: list[Request] = []
        self.began: list[float] = []

    def __call__(self, request: Request, *, clock: Clock, silence: float | None, opening: float | None) -> Any:
        self.requests.append(request)
        self.began.append(clock.now())
        messages, failure = self.connections.pop(0) if self.connections else ([], "nothing there")
        return FakeDecoder(messages, failure, self)


class FakeDecoder:
    def __init__(self, messages: list[Message], failure: str | None, script: Script) -> None:
        self.messages, self.failure, self.script = messages, failure, script

    def __iter__(self) -> Iterator[tuple[Message, Any]]:
        for message in self.messages:
            yield message, PIXELS if "shape" in message else None
        self.script.clock.advance(self.script.lasts)

    def stop(self) -> None: ...

    def __enter__(self) -> FakeDecoder:
        return self

    def __exit__(self, *_: object) -> None: ...


class Film:
    """A live source over a script, with the clock driven on whenever somebody waits for it."""

    def __init__(
        self, *connections: tuple[list[Message], str | None], access: Access = Access.UDP, lasts: float = 1.0,
        **options: Any,
    ) -> None:  # fmt: skip
        self.clock = ImpatientClock()
        self.notices: list[Notice] = []
        self.script = Script(self.clock, *connections, lasts=lasts)
        given = Options(clock=self.clock, tell=self.notices.append, **options)
        where = "rtsp://ann:secret@example.org/stadium?token=abc"
        self.source = LiveSource(where, access, half=1, options=given, start_decoder=self.script)

    def kinds(self) -> list[str]:
        return [notice.kind for notice in self.notices]


class ImpatientClock(ManualClock):
    """Nobody waits: time leaps to the end of every wait."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        self.advance(seconds)
        return until is not None and until.is_set()


def test_a_stream_that_goes_away_is_reconnected_with_one_gap_and_one_notice_each_way() -> None:
    film = Film(
        ([_open(), *_frames(0, 10)], "gave nothing for 10 s"),
        ([], "refused"),
        ([], "refused"),
        ([_open(), _jump(5.0, 20.0), *_frames(40, 48)], "gave nothing for 10 s"),
        give_up_seconds=60.0,
    )
    items = list(film.source)
    clips = [item for item in items if isinstance(item, Clip)]
    gaps = [item for item in items if isinstance(item, Gap)]
    assert [(clip.index, clip.start, clip.end) for clip in clips] == [
        (0, 0, 4),
        (1, 4, 5.04),
        (5, 20, 24),
        (6, 24, 24.04),
    ]
    assert [(gap.reason, gap.start, gap.end) for gap in gaps] == [(GapReason.RECONNECTED, 5.0, 20.0)]
    assert film.kinds() == ["reconnecting", "connected", "reconnecting", "ended"]
    assert film.source.counts["reconnected"] == 1


@settings(deadline=None)
@given(
    lasts=st.integers(1, 30),
    breaks=st.lists(st.tuples(st.floats(0.04, 15), st.integers(0, 12), st.booleans()), min_size=1, max_size=6),
)
def test_all_time_lies_in_a_clip_or_in_a_gap_wherever_the_stream_breaks(
    lasts: int, breaks: list[tuple[float, int, bool]]
) -> None:
    """Each break lasts for so long, so many instants come after it, and it is in the connection or between two."""
    connections = [([_open(), *_frames(0, lasts)], "gone")]
    number = lasts
    for away, count, reconnected in breaks:
        messages = [] if reconnected else connections[-1][0]
        if reconnected:
            connections.append((messages, "gone"))
            messages.append(_open())
        messages.append(_jump(number / 2, number / 2 + away))
        first = math.ceil(number + 2 * away)
        number = first + count
        messages.extend(_frames(first, number))
    items = list(Film(*connections, give_up_seconds=1.0).source)
    reached = 0.0
    for item in sorted(items, key=lambda item: item.start):  # a gap comes before the clip that it lies in
        assert item.start <= reached + 0.05
        reached = max(reached, item.end)
    clips = [item.index for item in items if isinstance(item, Clip)]
    assert clips == sorted(set(clips))
    assert reached == pytest.approx(number / 2 + 0.04)


def test_what_the_next_connection_goes_on_from_is_the_last_frame_and_the_time_since() -> None:
    film = Film(([_open(), *_frames(0, 10, stamp=100.0)], "gone"), ([], "refused"), give_up_seconds=5.0)
    list(film.source)
    first, second, *_ = film.script.requests
    assert first.resume is None
    assert second.resume == {"stamp": 105.0, "time": 5.0, "first": 100.0, "elapsed": pytest.approx(1.25)}


def test_pauses_between_attempts_double_up_to_two_seconds_and_start_anew_after_a_success() -> None:
    nothing: list[tuple[list[Message], str | None]] = [([], "refused")] * 6
    playing: tuple[list[Message], str | None] = ([_open(), *_frames(0, 8)], "gone")
    film = Film(*nothing, playing, *nothing, lasts=0.0, connect_seconds=60.0, give_up_seconds=4.0)
    list(film.source)
    began = film.script.began
    pauses = [after - before for before, after in itertools.pairwise(began)]
    assert pauses[:6] == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0]
    assert pauses[6:9] == [0.25, 0.5, 1.0]


def test_no_frame_at_all_is_an_error_with_the_reason_once_its_time_is_over() -> None:
    film = Film(*[([], "cannot be opened (Connection refused)")] * 99, connect_seconds=30.0)
    with pytest.raises(SourceError, match=r"Connection refused.*no frame for 3\d s") as caught:
        list(film.source)
    assert "example.org" in str(caught.value) and 30 <= film.clock.now() <= 36
    assert film.kinds() == ["reconnecting"]


def test_no_secret_of_the_address_is_said_anywhere() -> None:
    where = "rtsp://ann:secret@example.org/stadium?token=abc"
    film = Film(*[([], f"crashed the decoder (OSError: {where})")] * 99, connect_seconds=3.0)
    with pytest.raises(SourceError) as caught:
        list(film.source)
    said = [str(caught.value), film.source.name, *(notice.text for notice in film.notices)]
    assert not [text for text in said if "secret" in text or "token" in text]
    assert without_secrets("udp://127.0.0.1:5000?pkt_size=1316") == "udp://127.0.0.1:5000?pkt_size=1316"
    with pytest.raises(SourceError) as refused:
        open_source("srt://example.org:9000?passphrase=hidden-words")
    assert "hidden-words" not in str(refused.value)


def test_an_error_that_nobody_foresaw_reaches_the_consumer() -> None:
    def no_more_processes(*_: Any, **__: Any) -> Any:
        raise BlockingIOError("cannot fork")

    source = LiveSource("udp://x:1", Access.UDP, half=1, options=Options(), start_decoder=no_more_processes)
    with pytest.raises(BlockingIOError, match="cannot fork"):
        list(source)


def test_a_playlist_that_ends_ends_the_source_and_is_waited_for() -> None:
    film = Film(([_open(declared=80.0), *_frames(0, 160), _end(80.0)], None), access=Access.HTTP, queue_clips=2)
    items = []
    for item in film.source:
        WallClock().wait(0.002)
        items.append(item)
    assert [item.index for item in items if isinstance(item, Clip)] == list(range(21)) and len(items) == 21
    assert film.source.counts["dropped"] == 0 and len(film.script.requests) == 1


def test_a_broadcast_whose_playlist_ends_later_ends_with_it() -> None:
    film = Film(
        ([_open(), *_frames(0, 10), _end(5.04)], None), ([_open(declared=900.0), _end(0.0)], None), access=Access.HTTP
    )
    items = list(film.source)
    assert [(item.start, item.end) for item in items] == [(0.0, 4.0), (4.0, 5.04)]
    assert "ended" not in film.kinds() and len(film.script.requests) == 2


def test_a_recording_that_breaks_off_for_good_is_an_error_after_its_clips() -> None:
    broken = [_open(declared=900.0), *_frames(0, 10), _end(5.0, missing=900.0)]
    again = [_open(declared=900.0), _end(0.0, missing=900.0)]
    film = Film((broken, None), *[(again, None)] * 99, access=Access.HTTP, connect_seconds=20.0)
    items = []
    with pytest.raises(SourceError, match="broke off at 5 s of 900 s"):
        for item in film.source:
            items.append(item)
    assert [(item.start, item.end) for item in items] == [(0.0, 4.0), (4.0, 5.04)]
    assert 20 <= film.clock.now() < 30


def test_a_slow_consumer_loses_the_oldest_clips_and_is_told_so() -> None:
    film = Film(([_open(), *_frames(0, 160)], "gone"), queue_clips=3, give_up_seconds=1.0)
    stream = iter(film.source)
    first = next(stream)
    for _ in range(500):
        if film.kinds()[-1:] == ["ended"]:
            break
        WallClock().wait(0.01)
    rest = list(stream)
    dropped = [item for item in rest if isinstance(item, Gap) and item.reason is GapReason.DROPPED]
    assert len(dropped) <= 1 and sum(isinstance(item, Clip) for item in rest) == 3
    assert isinstance(first, Clip | Gap) and film.source.counts["dropped"] >= 17


@pytest.mark.parametrize("access", [Access.UDP, Access.PIPE])
def test_leaving_early_ends_decoder_and_thread_at_once(access: Access) -> None:
    """Nothing comes: not even the next message, at which the receiving thread could see that nobody listens."""
    reader, writer = os.pipe()
    kept = os.dup(0)
    os.dup2(reader, 0)
    try:
        where = "pipe:0" if access is Access.PIPE else "udp://127.0.0.1:9"
        source = LiveSource(where, access, half=1, options=Options())
        stream = iter(source)
        threading.Timer(0.5, lambda: source._queue.put(_one_clip())).start()
        assert isinstance(next(stream), Clip)
        clock = WallClock()
        began = clock.now()
        stream.close()  # type: ignore[attr-defined]
        assert clock.now() - began < 3
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("receiving")]
    finally:
        os.dup2(kept, 0)
        for descriptor in (reader, writer, kept):
            os.close(descriptor)


def test_a_live_source_is_read_once() -> None:
    film = Film(([_open(), *_frames(0, 8)], "gone"), give_up_seconds=1.0)
    list(film.source)
    with pytest.raises(UsageError, match="once"):
        list(film.source)


@pytest.mark.parametrize("url", ["http://[bad/x.m3u8", "rtsp://host:port/x", "udp://127.0.0.1", "http:///x.m3u8"])
def test_an_address_that_is_none_is_refused_before_anything_is_opened(url: str) -> None:
    with pytest.raises((UsageError, SourceError)):
        open_source(url)


def _one_clip() -> Clip:
    return Clip(half=1, index=0, start=0, end=4, frames=PIXELS[None], samples=(0,), times=(0.0,))


# --- time over reconnects --------------------------------------------------------------------------------------------


def _reconnected(
    stamps: list[float], *, first: float, last: float, time: float, elapsed: float, tolerance: float = 6.0,
    back: float = 30.0,
) -> tuple[list[float], Timeline]:  # fmt: skip
    resume = Resume(stamp=last, time=time, first=first, elapsed=elapsed, tolerance=tolerance, back=back)
    timeline = Timeline(wrap=MPEGTS_WRAP, resume=resume)
    return [placed.time for stamp in stamps if (placed := timeline.place(stamp)) is not None], timeline


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (137.5, 47.5),  # the server kept its clock
        (0.0, 47.0),  # it started from zero
        (9_000.0, 47.0),  # it has another one
    ],
)
def test_time_goes_on_over_a_reconnect_whatever_the_servers_clock_does(start: float, expected: float) -> None:
    times, _ = _reconnected([start, start + 0.04], first=90.0, last=130.0, time=40.0, elapsed=7.0)
    assert times == pytest.approx([expected, expected + 0.04])


def test_time_goes_on_over_a_reconnect_across_a_wrap_however_often_it_wrapped_before() -> None:
    for turns in (0, 1, 2, 3):
        last = MPEGTS_WRAP * (turns + 1) - 2.0
        times, _ = _reconnected([5.0], first=last - 50, last=last, time=40.0, elapsed=7.0)
        assert times == pytest.approx([47.0])


def test_a_playlist_that_starts_again_some_segments_back_shows_nothing_twice() -> None:
    stamps = [118 + n * 0.5 for n in range(40)]
    times, timeline = _reconnected(stamps, first=60.0, last=130.0, time=70.0, elapsed=3.0, tolerance=30.0)
    assert times == pytest.approx([70.5 + n * 0.5 for n in range(15)])
    assert timeline.late == 25


def test_a_clock_that_starts_anew_soon_after_the_first_time_is_not_taken_for_a_playlist_that_does() -> None:
    times, _ = _reconnected([1.4, 1.44], first=1.4, last=9.4, time=8.0, elapsed=5.0, tolerance=30.0)
    assert times == pytest.approx([13.0, 13.04])


def test_a_sender_that_keeps_its_clock_does_not_go_back_so_one_that_does_has_another() -> None:
    times, _ = _reconnected([2.4, 2.44], first=1.4, last=3.0, time=1.6, elapsed=4.5, back=0.0)
    assert times == pytest.approx([6.1, 6.14])


def test_frames_that_waited_to_be_looked_at_are_as_old_as_they_are() -> None:
    """A server that counts from zero on each connection, as RTSP does: its newest frame came after `elapsed`."""
    before = Resume(stamp=130.0, time=40.0, first=90.0, elapsed=9.0, newest=2.0, tolerance=-1.0)
    placed = Timeline(resume=before).place(0.0)
    assert placed is not None and placed.time == pytest.approx(47.0)
    placed = Timeline(resume=before).place(1.5)  # the first that can be decoded is a later one
    assert placed is not None and placed.time == pytest.approx(48.5)
    playlist = Resume(stamp=130.0, time=40.0, first=130.0, elapsed=1.0, newest=18.0, tolerance=-1.0)
    placed = Timeline(resume=playlist).place(0.0)
    assert placed is not None and placed.time > 40.0


def test_a_frame_without_a_timestamp_does_not_say_where_a_connection_goes_on() -> None:
    timeline = Timeline(resume=Resume(stamp=130.0, time=40.0, first=90.0, elapsed=9.0, tolerance=-1.0))
    assert timeline.place(None) is None
    placed = timeline.place(0.04)
    assert placed is not None and placed.jump is not None and placed.jump.reason is GapReason.RECONNECTED
    placed = timeline.place(0.08)
    assert placed is not None and placed.jump is None


def test_a_recording_goes_on_where_it_broke_off_however_long_that_took() -> None:
    stamps = [n * 0.5 for n in range(20)]
    times, _ = _reconnected(stamps, first=0.0, last=7.0, time=7.0, elapsed=500.0, tolerance=float("inf"))
    assert times == pytest.approx([7.5 + n * 0.5 for n in range(5)])


TICKS = st.one_of(st.integers(0, 2**33 - 1), st.integers(0, 10_000_000))


@settings(max_examples=200, deadline=None)
@given(
    stamps=st.lists(TICKS.map(lambda ticks: ticks / 90_000), min_size=1, max_size=30),
    last=TICKS.map(lambda ticks: ticks / 90_000),
    time=st.floats(0, 10_000),
    elapsed=st.floats(0, 700),
    tolerance=st.sampled_from([-1.0, 6.0, 30.0, float("inf")]),
)
def test_time_never_goes_back_whatever_timestamps_a_server_sends(
    stamps: list[float], last: float, time: float, elapsed: float, tolerance: float
) -> None:
    times, _ = _reconnected(stamps, first=last, last=last, time=time, elapsed=elapsed, tolerance=tolerance)
    assert all(before < after for before, after in itertools.pairwise([time, *times]))

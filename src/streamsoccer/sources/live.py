"""A live stream as clips: decoded apart from the consumer, watched, and reconnected when it goes away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import Clock
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources.assemble import Assembler
from streamsoccer.sources.decoder import Decoder, Request
from streamsoccer.sources.policy import Access
from streamsoccer.sources.queue import ClipQueue
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import OnFull, Options, Source

__all__ = ["LiveSource", "without_secrets"]

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 2.0
PIPE_REMEDY = "pipe in MPEG-TS, Matroska or fragmented MP4, and look at what the sender says"

StartDecoder = Callable[..., Decoder]


@dataclass(kw_only=True, slots=True)
class _Stream:
    """What is known of the stream across its connections."""

    lost: float  # clock time at which it was last known to be there
    heard: float  # clock time of the last frame
    mark: dict[str, float] | None = None  # timestamp and media time of the last frame, first timestamp of its clock
    reached: float = 0.0  # media time at which what came so far ends
    frames: int = 0
    attempts: int = 0
    recorded: bool = False  # it has an end, at which it is over
    declared: float | None = None  # how long it says it is
    over: bool = False
    problem: str = "went away"
    remedy: str | None = None


class LiveSource(Source):
    """A network stream, or a pipe on standard input; it can be read once."""

    def __init__(
        self, where: str, access: Access, *, half: int, options: Options, start_decoder: StartDecoder = Decoder
    ) -> None:
        super().__init__("standard input" if access is Access.PIPE else without_secrets(where), options)
        self._where, self._access = where, access
        self._stretches = [Stretch(half=half, start=0.0)]
        default = OnFull.WAIT if access is Access.PIPE else OnFull.DROP
        self._queue = ClipQueue(options.queue_clips, options.on_full or default)
        self._start_decoder = start_decoder
        self._decoder: Decoder | None = None
        self._started = False
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[Clip | Gap]:
        if self._started:
            raise UsageError("a live source can be read once", where=self.name, remedy="open it again")
        self._started = True
        thread = threading.Thread(target=self._receive, name=f"receiving {self.name}", daemon=True)
        thread.start()
        try:
            yield from self._queue
        finally:
            self.close()
            thread.join()
            self.counts["dropped"] = self._queue.dropped

    def close(self) -> None:
        """End the source, from whatever thread: its consumer gets what is in the queue, and then no more."""
        self._closed.set()
        self._queue.close()
        # The receiving thread looks whether this is closed after it has made a decoder: one of us sees the other.
        if (decoder := self._decoder) is not None:
            decoder.stop()

    def _receive(self) -> None:
        error: BaseException | None = None
        try:
            self._connect_until_over(self.options.clock)
        except BaseException as problem:  # noqa: BLE001 - the consumer gets it: its thread is the one to fail
            error = problem
        finally:
            self._queue.close(error)

    def _connect_until_over(self, clock: Clock) -> None:
        now = clock.now()
        stream = _Stream(lost=now, heard=now)
        assembler = Assembler(self._stretches)
        pause = FIRST_PAUSE
        while not self._closed.is_set():
            seen = stream.frames
            self._play(stream, assembler, clock)
            # What the connection left is given at once: whoever waits for it must not wait for the next one.
            self._pass_on(assembler.finish(stream.reached))
            if stream.frames > seen:
                pause = FIRST_PAUSE
            if self._closed.is_set() or self._is_over(stream, clock, news=stream.frames > seen):
                return
            if stream.frames > seen or stream.attempts == 1:
                self.tell("reconnecting", f"{self.name}: {stream.problem}; reconnecting")
            clock.wait(pause, until=self._closed)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _play(self, stream: _Stream, assembler: Assembler, clock: Clock) -> None:
        """One connection, from opening to whatever ends it."""
        options = self.options
        stream.attempts += 1
        resume = None if stream.mark is None else {**stream.mark, "elapsed": clock.now() - stream.heard}
        request = Request(
            where=self._where, access=self._access, stretches=self._stretches, fast=options.fast,
            limits=options.limits, resume=resume,
        )  # fmt: skip
        stream.problem, stream.remedy = "went away", None
        silence = None if self._access is Access.PIPE else options.stall_seconds
        opening = None if silence is None else max(silence, options.opening_seconds)
        before, forbidden = stream.frames, None
        with self._start_decoder(request, clock=clock, silence=silence, opening=opening) as decoder:
            self._decoder = decoder
            if self._closed.is_set():
                return
            for header, pixels in decoder:
                kind = header["kind"]
                self._note(stream, header, clock)
                if kind == "open":
                    self._opened(stream, header)
                elif kind == "forbidden":
                    forbidden = self._hidden(header["problem"])
                    self.counts["forbidden"] += 1
                    self.tell("forbidden", f"{self.name}: {forbidden}")
                elif kind == "refused":
                    stream.problem, stream.remedy = self._hidden(header["problem"]), header["remedy"]
                    return
                elif kind == "end":
                    self.count(header)
                    self._ended(stream, header)
                    return
                elif kind == "frame":
                    if before == stream.frames > 0:
                        self.counts["reconnected"] += 1
                        self.tell("connected", f"{self.name}: connected again")
                    stream.frames += 1
                self._pass_on(assembler.take(header, pixels))
                if self._closed.is_set():
                    return
                if kind == "frame":
                    stream.lost = clock.now()  # after the consumer has taken it: its time is not the stream's absence
            stream.problem = forbidden or self._hidden(decoder.failure or "went away")

    def _note(self, stream: _Stream, header: Mapping[str, Any], clock: Clock) -> None:
        if header.get("last") is not None:
            stamp, time, first = header["last"]
            stream.mark, stream.heard = {"stamp": stamp, "time": time, "first": first}, clock.now()
            stream.reached = header["reached"]

    def _opened(self, stream: _Stream, header: Mapping[str, Any]) -> None:
        stream.declared, stream.recorded = header["declared"], header["recorded"]
        if stream.recorded and self.options.on_full is None:
            self._queue.wait_when_full()  # a recording can wait for its consumer

    def _ended(self, stream: _Stream, header: Mapping[str, Any]) -> None:
        """The server says that there is no more: the end of a recording, but of a broadcast only that it went away."""
        stream.reached = max(stream.reached, header["end"])
        stream.over = self._access is Access.PIPE or (stream.recorded and header["missing"] is None)
        stream.problem = "ended the stream"
        if not stream.over and stream.declared is not None:
            stream.problem = f"broke off at {stream.reached:.0f} s of {stream.declared:.0f} s"

    def _is_over(self, stream: _Stream, clock: Clock, *, news: bool) -> bool:
        if stream.over:
            return True
        if self._access is Access.PIPE:
            raise SourceError(stream.problem, where=self.name, remedy=stream.remedy or PIPE_REMEDY)
        away = clock.now() - stream.lost
        if stream.frames == 0 and away > self.options.connect_seconds:
            remedy = stream.remedy or "check the address, and that the stream is on the air"
            raise SourceError(f"{stream.problem}; no frame for {away:.0f} s", where=self.name, remedy=remedy)
        if stream.frames and stream.recorded and not news and away > self.options.connect_seconds:
            raise SourceError(f"{stream.problem}; what came before stands", where=self.name, remedy="try again later")
        if stream.frames and away > self.options.give_up_seconds:
            self.tell("ended", f"{self.name}: away for {away:.0f} s; taken as its end")
            return True
        return False

    def _pass_on(self, items: Iterator[Clip | Gap]) -> None:
        for item in items:
            if not self._queue.put(item):
                self._closed.set()
                return

    def _hidden(self, text: str) -> str:
        """A decoder's words without what the address keeps secret."""
        return text.replace(self._where, self.name)


def without_secrets(url: str) -> str:
    """A URL as it may be shown: user, password and query (often a token) are left out."""
    parts = urlsplit(url)
    query = "..." if parts.query and parts.scheme != "udp" else parts.query
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query, fragment="").geturl()

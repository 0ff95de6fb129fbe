"""A live stream as clips: decoded apart from the consumer, watched, and reconnected when it goes away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from streamsoccer.clip import Clip, Gap
from streamsoccer.errors import SourceError
from streamsoccer.sources.assemble import Assembler
from streamsoccer.sources.decoder import Decoder, Request
from streamsoccer.sources.policy import Access
from streamsoccer.sources.queue import ClipQueue
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import OnFull, Options, Source

__all__ = ["LiveSource"]

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 2.0


@dataclass(kw_only=True, slots=True)
class _Connection:
    """What is known of the stream across connections."""

    began: float
    heard: float  # clock time of the last frame
    last: tuple[float, float] | None = None  # timestamp and media time of the last frame
    ended: bool = False  # the source itself says that it is over
    problem: str = "went away"
    remedy: str | None = None
    frames: int = 0
    attempts: int = field(default=0)


class LiveSource(Source):
    """A network stream, or a pipe on standard input; iterate over it once."""

    def __init__(self, where: str, access: Access, *, name: str, half: int, options: Options) -> None:
        super().__init__(name, options)
        self._where, self._access = where, access
        self._stretches = [Stretch(half=half, start=0.0)]
        default = OnFull.WAIT if access is Access.PIPE else OnFull.DROP
        self._queue = ClipQueue(options.queue_clips, options.on_full or default)
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[Clip | Gap]:
        thread = threading.Thread(target=self._receive, name=f"receiving {self.name}", daemon=True)
        thread.start()
        try:
            yield from self._queue
        finally:
            self._closed.set()
            self._queue.close()
            thread.join()
            self.counts["dropped"] = self._queue.dropped

    def _receive(self) -> None:
        error: Exception | None = None
        try:
            self._connect_until_over()
        except SourceError as problem:
            error = problem
        finally:
            self._queue.close(error)

    def _connect_until_over(self) -> None:
        clock = self.options.clock
        now = clock.now()
        state = _Connection(began=now, heard=now)
        assembler = Assembler(self._stretches)
        pause = FIRST_PAUSE
        while not self._closed.is_set():
            seen = state.frames
            self._play(state, assembler)
            # What the connection left is given at once: whoever waits for it must not wait for the next one.
            self._pass_on(assembler.finish(state.last[1] if state.last else 0.0))
            if self._is_over(state):
                return
            pause = FIRST_PAUSE if state.frames > seen else min(2 * pause, LONGEST_PAUSE)
            if state.frames > seen or state.attempts == 1:
                self.tell("reconnecting", f"{self.name}: {state.problem}; reconnecting")
            clock.wait(pause, until=self._closed)

    def _play(self, state: _Connection, assembler: Assembler) -> None:
        """One connection, from opening to whatever ends it."""
        clock, options = self.options.clock, self.options
        state.attempts += 1
        resume = None
        if state.last is not None:
            resume = {"stamp": state.last[0], "time": state.last[1], "elapsed": clock.now() - state.heard}
        request = Request(
            where=self._where, access=self._access, stretches=self._stretches, fast=options.fast,
            limits=options.limits, resume=resume,
        )  # fmt: skip
        state.problem, state.remedy = "went away", None
        finite, frames = False, state.frames
        silence = None if self._access is Access.PIPE else options.stall_seconds
        with Decoder(request, clock=clock, silence=silence) as decoder:
            for header, pixels in decoder:
                if self._closed.is_set():
                    return
                if header.get("last") is not None:
                    stamp, time = header["last"]
                    state.last, state.heard = (stamp, time), clock.now()
                if header["kind"] == "open":
                    finite = header["declared"] is not None
                elif header["kind"] == "frame":
                    if state.frames == frames and state.frames:
                        self.counts["reconnected"] += 1
                        self.tell("connected", f"{self.name}: connected again")
                    state.frames += 1
                elif header["kind"] == "refused":
                    state.problem, state.remedy = header["problem"], header["remedy"]
                    return
                elif header["kind"] == "end":
                    self.count(header)
                    state.ended = finite or self._access is Access.PIPE
                    state.problem = "ended the stream"
                    return
                self._pass_on(assembler.take(header, pixels))
            state.problem = decoder.failure or "went away"

    def _is_over(self, state: _Connection) -> bool:
        if self._access is Access.PIPE and not state.ended:
            raise SourceError(state.problem, where=self.name, remedy=state.remedy or "pipe in MPEG-TS or Matroska")
        away = self.options.clock.now() - state.heard
        if state.frames == 0 and away > self.options.connect_seconds:
            remedy = state.remedy or "check the address, and that the stream is on the air"
            raise SourceError(f"{state.problem}; no frame for {away:.0f} s", where=self.name, remedy=remedy)
        if state.frames and away > self.options.give_up_seconds:
            self.tell("ended", f"{self.name}: away for {away:.0f} s; taken as its end")
            return True
        return state.ended

    def _pass_on(self, items: Iterator[Clip | Gap]) -> None:
        for item in items:
            if not self._queue.put(item):
                self._closed.set()
                return

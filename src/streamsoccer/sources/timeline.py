"""Presentation timestamps to media time: unwrapped, monotonic, with every discontinuity marked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from streamsoccer.clip import GapReason

__all__ = ["Jump", "Placed", "Resume", "Timeline"]

MAX_WAITED = 60.0  # of frames that had come before they were looked at
MAX_STILL = 1.001  # a picture that stands longer than a second (and a rounding) is a gap in the stream
MAX_GAP = 600.0  # a leap further than this is another clock, not ten minutes of lost play
ONE_CLOCK_GAP = 3600.0  # the same in a container that holds a single clock: a half-time break may be left out of it
JITTER = 0.1  # frames this little out of order are dropped and counted
MPEGTS_WRAP = 2**33 / 90_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Jump:
    """A discontinuity: media time `start` was the last that the old stretch covers, `end` the first of the new one."""

    reason: GapReason
    start: float
    end: float
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """One frame's place: media time, and the jump that it came after, if any."""

    time: float
    jump: Jump | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Resume:
    """What a reconnected stream goes on from, and how far its new timestamps are believed to go on from there, too."""

    stamp: float  # of the last frame of the connection before
    time: float  # that frame's media time
    first: float  # the earliest timestamp of its clock: one from there again is a clock that was started anew
    elapsed: float  # seconds since that frame
    tolerance: float  # between them and the timestamps; infinity for a recording, whose timestamps are always the same
    back: float = 0.0  # how far back they may start again: a playlist does, by some segments
    newest: float | None = None  # the timestamp that had come when those seconds had passed; those before it are older

    def passed(self, stamp: float) -> float:
        """Seconds from the last frame to the one with this timestamp."""
        older = 0.0 if self.newest is None else self.newest - stamp
        return self.elapsed - (older if 0 <= older <= MAX_WAITED else 0.0)

    @property
    def recorded(self) -> bool:
        return self.tolerance == math.inf

    def believes(self, stamp: float, passed: float) -> bool:
        if self.recorded:
            return True
        step = stamp - self.stamp
        return step > -self.back and abs(step - passed) <= self.tolerance and stamp > self.first + JITTER


class Timeline:
    """Gives each decoded frame its media time, in the order in which the decoder hands them out.

    `zero` is the timestamp (in seconds) that is media time 0; without it, that of the first frame. `wrap` is the period
    after which timestamps start again; `max_gap` the longest leap that is believed.
    """

    def __init__(
        self,
        *,
        zero: float | None = None,
        wrap: float | None = None,
        frame_seconds: float = 0.04,
        max_gap: float = MAX_GAP,
        resume: Resume | None = None,
    ) -> None:
        self._base = None if zero is None else -zero  # media time = unwrapped timestamp + base
        self._wrap = wrap
        self._max_gap = max_gap
        self._frame_seconds = frame_seconds
        self._resume = resume
        self._first_stamp = 0.0
        self._last_stamp: float | None = None
        self._last: float | None = None
        self._last_seconds = frame_seconds
        self.estimated = 0
        self.late = 0

    @property
    def end(self) -> float:
        """Media time at which the last frame stops being shown."""
        return 0.0 if self._last is None else self._last + self._last_seconds

    @property
    def last(self) -> tuple[float, float, float] | None:
        """(timestamp, media time, first timestamp of its clock) of the last frame, for the next connection."""
        if self._last_stamp is None or self._last is None:
            return None
        return self._last_stamp, self._last, self._first_stamp

    def place(self, stamp: float | None, seconds: float | None = None) -> Placed | None:
        """Place a frame by its timestamp and duration; None for a frame that comes too late to be shown."""
        length = seconds if seconds is not None and 0 < seconds <= MAX_STILL else self._frame_seconds
        if stamp is None:
            self.estimated += 1
            if self._last is None and self._resume is not None:
                return None  # RTSP's first frame may have none; where it belongs the next one tells
            stamp = self._expected()
        if self._last is None or self._last_stamp is None:
            return self._first(stamp, length)
        stamp = self._unwrapped(stamp, near=self._last_stamp)
        step = stamp - self._last_stamp
        if -JITTER < step <= 0:
            self.late += 1
            return None
        jump = None
        if step <= 0 or step > self._max_gap:
            # The clock is another one. Time goes on where it was: the new stretch starts as the last frame ends.
            time = self._last + self._last_seconds
            reason = GapReason.JUMP_BACK if step < 0 else GapReason.NEW_CLOCK
            detail = f"timestamps went {'back' if step < 0 else 'forward'} by {abs(step):.2f} s"
            jump = Jump(reason=reason, start=time, end=time, detail=detail)
            self._base, self._first_stamp = time - stamp, stamp
        else:
            time = stamp + (self._base or 0.0)
            if step > MAX_STILL:
                start = min(self._last + self._last_seconds, time)
                jump = Jump(reason=GapReason.LOST, start=start, end=time, detail=f"no picture for {step:.2f} s")
        self._remember(stamp, time, length)
        return Placed(time=time, jump=jump)

    def _first(self, stamp: float, length: float) -> Placed | None:
        if self._resume is not None:
            return self._resumed(stamp, length, self._resume)
        if self._base is None:
            self._base = -stamp
        stamp = self._unwrapped(stamp, near=-self._base)
        if stamp + self._base < 0:
            self._base = -stamp  # the container claims a start after its first frame
        time = stamp + self._base
        self._first_stamp = stamp
        self._remember(stamp, time, length)
        if time <= MAX_STILL:
            return Placed(time=time)
        detail = f"no picture for the first {time:.2f} s"
        return Placed(time=time, jump=Jump(reason=GapReason.LOST, start=0.0, end=time, detail=detail))

    def _resumed(self, stamp: float, length: float, before: Resume) -> Placed | None:
        passed = before.passed(stamp)
        stamp = self._unwrapped(stamp, near=before.stamp)
        detail = f"reconnected after {before.elapsed:.1f} s"
        if before.believes(stamp, passed):
            if stamp <= before.stamp:
                self.late += 1  # a playlist that starts again a little before where we were: seen already
                return None
            time, self._first_stamp = before.time + stamp - before.stamp, before.first
        else:
            time, self._first_stamp = before.time + max(passed, length), stamp
            detail += ", to another clock"
        self._base = time - stamp
        self._remember(stamp, time, length)
        return Placed(time=time, jump=Jump(reason=GapReason.RECONNECTED, start=before.time, end=time, detail=detail))

    def _expected(self) -> float:
        """The timestamp that a frame without one should have had."""
        if self._last_stamp is not None:
            return self._last_stamp + self._last_seconds
        return 0.0 if self._base is None else -self._base

    def _unwrapped(self, stamp: float, *, near: float) -> float:
        """Of all the moments that a timestamp may mean, the nearest to another: wraps may go by in either direction."""
        return stamp if self._wrap is None else stamp + round((near - stamp) / self._wrap) * self._wrap

    def _remember(self, stamp: float, time: float, length: float) -> None:
        self._last_stamp, self._last, self._last_seconds = stamp, time, length

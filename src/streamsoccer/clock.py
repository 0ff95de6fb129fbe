"""Time: a place in the match, the cutoff that no fact may cross, and the only clocks that this package reads."""

from __future__ import annotations

import math
import re
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from streamsoccer.errors import FutureLeak, UsageError

__all__ = [
    "Clock",
    "Cutoff",
    "Fact",
    "ManualClock",
    "MatchTime",
    "MediaClock",
    "WallClock",
    "format_seconds",
    "parse_seconds",
    "utc_date",
]

_GAME_TIME = re.compile(r"\s*(\d+)\s*-\s*(\d+):(\d{1,2}(?:\.\d+)?)\s*")
_SECONDS = re.compile(r"\s*(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True, order=True)
class MatchTime:
    """A place in a match: its half, from 1, and seconds of that half's video. Halves come in order."""

    half: int
    seconds: float

    def __post_init__(self) -> None:
        if self.half < 1 or not math.isfinite(self.seconds) or self.seconds < 0:
            raise UsageError(f"not a place in a match: half {self.half}, second {self.seconds}")

    @classmethod
    def parse(cls, text: str) -> MatchTime:
        """Read SoccerNet's `gameTime`, as in '1 - 00:31'."""
        if (match := _GAME_TIME.fullmatch(text)) is None or float(match[3]) >= 60:
            raise UsageError(f"{text!r} is not a game time", remedy="write half and time as in '2 - 07:45'")
        return cls(int(match[1]), int(match[2]) * 60 + float(match[3]))

    def __str__(self) -> str:
        return f"{self.half} - {format_seconds(self.seconds)}"


class Fact(Protocol):
    """Anything that may stand in a prompt or a prefix: it says from when on it may."""

    @property
    def available_at(self) -> MatchTime: ...


F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The observation cutoff τ_t: facts come into a prompt or a prefix through `admit`, and by no other way."""

    at: MatchTime

    def admit(self, fact: F) -> F:
        """Return the fact, or raise where it was not yet available at the cutoff."""
        if fact.available_at > self.at:
            raise FutureLeak(f"{type(fact).__name__} is available at {fact.available_at}, after the cutoff {self.at}")
        return fact


class Clock(ABC):
    """Seconds that only grow, from an arbitrary origin."""

    @abstractmethod
    def now(self) -> float: ...

    @abstractmethod
    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Let that long pass, or less if `until` is set meanwhile; say whether it was set."""


class WallClock(Clock):
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        if until is not None:
            return until.wait(max(0.0, seconds))
        time.sleep(max(0.0, seconds))
        return False


class MediaClock(Clock):
    """The time that the media have reached: at fast pace nothing waits and everything is reproducible."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def reach(self, seconds: float) -> None:
        """Move to a later media time; an earlier one is a defect of the caller."""
        if seconds < self._now:
            raise FutureLeak(f"media time cannot go back from {self._now:.3f} s to {seconds:.3f} s")
        self._now = seconds

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        return until is not None and until.is_set()


class ManualClock(Clock):
    """A clock that a test moves by hand; whoever waits on it wakes when its time has come."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now
        self._moved = threading.Condition()

    def now(self) -> float:
        with self._moved:
            return self._now

    def advance(self, seconds: float) -> None:
        with self._moved:
            self._now += seconds
            self._moved.notify_all()

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        with self._moved:
            end = self._now + seconds
            while self._now < end and not (until is not None and until.is_set()):
                self._moved.wait(0.01)
        return until is not None and until.is_set()


def parse_seconds(text: str) -> float:
    """Read 'SS', 'MM:SS' or 'H:MM:SS', with or without decimals, as seconds."""
    if (match := _SECONDS.fullmatch(text)) is None:
        raise UsageError(f"{text!r} is not a time", remedy="write seconds, MM:SS or H:MM:SS, as in 12:30")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    if (match[2] and seconds >= 60) or (match[1] and minutes >= 60):
        raise UsageError(f"{text!r} is not a time", remedy="minutes and seconds after a colon stay below 60")
    return hours * 3600 + minutes * 60 + seconds


def format_seconds(seconds: float) -> str:
    """Write seconds as MM:SS, with up to three decimals where there are any; minutes go on past 60, as in a half."""
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    whole, fraction = divmod(rest, 1000)
    return f"{minutes:02d}:{whole:02d}" + (f".{fraction:03d}".rstrip("0") if fraction else "")


def utc_date() -> str:
    """Today's date in UTC, for the provenance of results and files."""
    return datetime.now(UTC).date().isoformat()

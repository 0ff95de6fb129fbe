"""What every source of clips is, and what it says on the side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import Clock, WallClock
from streamsoccer.sources.policy import DEFAULT_LIMITS, Limits

__all__ = ["Notice", "OnFull", "Options", "Source"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something that a person who watches should know: reconnecting, a half that is not there."""

    kind: str
    text: str


class OnFull(StrEnum):
    """What a live source does when the consumer is behind: let the oldest clip go, or wait."""

    DROP = "drop"
    WAIT = "wait"


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How to read a source; the defaults suit all but unusual feeds."""

    fast: bool = False  # skip frames that no other refers to: cheaper, and instants get a slightly older frame
    limits: Limits = DEFAULT_LIMITS
    clock: Clock = field(default_factory=WallClock)
    tell: Callable[[Notice], None] | None = None
    # Live sources only:
    stall_seconds: float = 10.0  # no frame for so long: reconnect
    opening_seconds: float = 15.0  # the same until it is open: a process starts, connects and looks into the stream
    connect_seconds: float = 30.0  # no first frame for so long: an error
    give_up_seconds: float = 600.0  # away for so long: the stream is over
    queue_clips: int = 8
    on_full: OnFull | None = None  # by default a pipe waits, a network source drops


class Source(ABC):
    """Clips and gap markers in order of time; `counts` tells afterwards what was not as it should be."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self.options = options
        self.counts: Counter[str] = Counter()

    @abstractmethod
    def __iter__(self) -> Iterator[Clip | Gap]: ...

    @property
    def films(self) -> dict[int, tuple[str, float]]:
        """Where each half lies, as far as it is a film's: the file's name, and the second of it at which it starts."""
        return {}

    def count(self, header: Mapping[str, Any]) -> None:
        """Add up what a decoder's last message counted."""
        self.counts.update({name: header[name] for name in ("broken", "estimated", "late", "resized")})

    def tell(self, kind: str, text: str) -> None:
        if self.options.tell is not None:
            self.options.tell(Notice(kind=kind, text=text))

"""B_t, the local event-memory buffer: completed memories M_j^c, oldest first (paper section 4.5, table runtime_params).

A memory enters at its closure and stays while its event ended no more than 180 s before the cutoff; at most four, the
most recently closed, are selected as B_t^sel for the soft prefix Z_t. All times are media time of one half: the buffer
is emptied between halves. What is read from it goes through `Cutoff.admit`.

Shapes: K_m tokens of a memory (9), d_m their width (1024), d_r width of the retrieval space.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamsoccer.actions import EventType, Label
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import CLIP_SECONDS, LOCAL_EVENTS, LOCAL_SECONDS, Side
from streamsoccer.errors import StreamSoccerError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

__all__ = ["BufferConfig", "CompletedMemory", "EventBuffer", "OutOfOrder"]


class OutOfOrder(StreamSoccerError):
    """Something was added to a match's memory that belongs before what is there, or to another half."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CompletedMemory:
    """M_j^c: the state of an event when it closed, and what is known of the event. Nothing of it changes later."""

    event: str  # the event's ID
    half: int
    start: MatchTime
    end: MatchTime
    available_at: MatchTime  # the end of the clip whose arrival closed it
    tokens: Tensor  # [K_m, d_m]
    key: NDArray[np.float32]  # [d_r], what retrieval ranks its record by, computed from the tokens at closure
    # predicted by the heads, or taken from labels where a protocol says so
    type: EventType
    actions: tuple[Label, ...] = ()
    side: Side = Side.NONE
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if not (self.half == self.start.half == self.end.half == self.available_at.half):
            raise OutOfOrder("a memory lies in more than one half", where=self.event)
        if not self.start <= self.end <= self.available_at:
            raise OutOfOrder(
                f"a memory of {self.start} to {self.end} cannot be available at {self.available_at}", where=self.event
            )

    def state(self) -> dict[str, Any]:
        """Plain values, with the tokens and the key as they are."""
        return {
            "event": self.event,
            "half": self.half,
            "start": self.start.seconds,
            "end": self.end.seconds,
            "available_at": self.available_at.seconds,
            "tokens": self.tokens,
            "key": self.key,
            "type": self.type.value,
            "actions": [each.value for each in self.actions],
            "side": self.side.value,
            "confidence": self.confidence,
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> CompletedMemory:
        """The memory that `state` was taken from."""
        half = int(state["half"])
        return cls(
            event=state["event"],
            half=half,
            start=MatchTime(half, state["start"]),
            end=MatchTime(half, state["end"]),
            available_at=MatchTime(half, state["available_at"]),
            tokens=state["tokens"],
            key=state["key"],
            type=EventType(state["type"]),
            actions=tuple(Label(each) for each in state["actions"]),
            side=Side(state["side"]),
            confidence=float(state["confidence"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferConfig:
    """The paper's horizon, and how many memories are selected at most."""

    seconds: float = LOCAL_SECONDS
    selected: int = LOCAL_EVENTS

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.selected < 0:
            raise UsageError(f"a buffer cannot hold {self.seconds} s and select {self.selected}")


class EventBuffer:
    """B_t of one half: what is added stays in order of closure until it is older than the horizon."""

    def __init__(self, config: BufferConfig | None = None) -> None:
        self.config = config or BufferConfig()
        self._held: deque[CompletedMemory] = deque()

    def __len__(self) -> int:
        return len(self._held)

    def add(self, memory: CompletedMemory) -> None:
        """Take a memory at its closure; closures come in the order of time, and all of one half."""
        if self._held:
            last = self._held[-1]
            if memory.half != last.half:
                raise OutOfOrder(
                    f"a memory of half {memory.half} is added to those of half {last.half}",
                    where=memory.event,
                    remedy="clear the buffer at the end of a half",
                )
            if memory.available_at < last.available_at or memory.end < last.end:
                raise OutOfOrder(
                    f"it ended at {memory.end}, before {last.event} that was added earlier", where=memory.event
                )
            if any(memory.event == each.event for each in self._held):
                raise OutOfOrder("this event is in the buffer already", where=memory.event)
        self._held.append(memory)

    def evict(self, cutoff: Cutoff) -> tuple[CompletedMemory, ...]:
        """Let go of what ended more than the horizon before the cutoff, oldest first, and say what that was."""
        gone: list[CompletedMemory] = []
        while self._held and not self._local(self._held[0], cutoff.at):
            gone.append(self._held.popleft())
        return tuple(gone)

    def completed(self, cutoff: Cutoff) -> tuple[CompletedMemory, ...]:
        """All that is held and admitted, oldest first."""
        return tuple(cutoff.admit(each) for each in self._held)

    def window(self, cutoff: Cutoff) -> tuple[CompletedMemory, ...]:
        """Those that ended within the horizon of the cutoff, oldest first, whether or not `evict` was called."""
        return tuple(each for each in self.completed(cutoff) if self._local(each, cutoff.at))

    def select(self, cutoff: Cutoff) -> tuple[CompletedMemory, ...]:
        """B_t^sel: the most recently closed of the window, at most four, oldest first."""
        window = self.window(cutoff)
        return window[max(0, len(window) - self.config.selected) :]

    def leaving(self, cutoff: Cutoff) -> tuple[CompletedMemory, ...]:
        """Those that the next clip would push out, or that are past the horizon already, oldest first."""
        following = MatchTime(cutoff.at.half, cutoff.at.seconds + CLIP_SECONDS)
        return tuple(each for each in self.completed(cutoff) if not self._local(each, following))

    def clear(self) -> None:
        """The half is over: the next one starts with nothing local."""
        self._held.clear()

    def state(self) -> dict[str, Any]:
        """What is held as plain values, with tensors and arrays as leaves."""
        return {"held": [each.state() for each in self._held]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Hold what the buffer that gave this state held, and nothing else."""
        self._held = deque(CompletedMemory.of_state(each) for each in state["held"])

    def _local(self, memory: CompletedMemory, at: MatchTime) -> bool:
        return memory.half == at.half and at.seconds - memory.end.seconds <= self.config.seconds

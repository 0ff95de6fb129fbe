"""What a match takes in with one step: a clip as frames or as visual tokens, a gap, or the end of its half.

What only a replay may do, closures and metadata from labels, forced readiness and given anchors, is an `Intervention`;
a run has none.

N tokens of a clip, d_v their width
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.record import MatchContext

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.buffer import CompletedMemory
    from streamsoccer.clip import Clip, Gap
    from streamsoccer.domain import Tally
    from streamsoccer.feed import FeedLine
    from streamsoccer.moment import Moment
    from streamsoccer.perception import Perceived
    from streamsoccer.state import MatchState
    from streamsoccer.stream import MatchStream

__all__ = ["Arrival", "Intervention", "Row"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Arrival:
    """V_t of one clip [N, d_v], N as many as its frames give, and the clip's place."""

    half: int
    index: int
    start: float
    end: float
    frames: int
    tokens: Tensor

    @property
    def available_at(self) -> MatchTime:
        return MatchTime(self.half, self.end)


@dataclass(frozen=True, kw_only=True, slots=True)
class Intervention:
    """What a replay puts in the place of what a match would do by itself; all of it is named in its results."""

    reset: bool | None = None  # oracle closure: stands for b_t
    perceived: Perceived | None = None  # the closing event's metadata, from labels
    tally: Tally | None = None  # the match as labels have it
    captions: Collection[str] | None = None  # the events whose captions are written now, none else
    ready_at: MatchTime | None = None  # since when those are ready: as an earlier run's journal says
    silent: bool = False  # nothing is decided: the anchors are given, `speak` says them


@dataclass(kw_only=True, slots=True, eq=False)
class Row:
    """One match in a step: what it takes in, and what is known so far."""

    stream: MatchStream
    item: Clip | Gap | Arrival | None
    moment: Moment
    lag: float
    given: Intervention
    fed: tuple[FeedLine, ...] = ()  # lines of the feed that became known with it
    tokens: Tensor | None = None  # V_t
    completed: CompletedMemory | None = None

    @property
    def cutoff(self) -> Cutoff:
        return Cutoff(self.moment.at)

    @property
    def state(self) -> MatchState:
        return self.stream.state

    def context(self, *, show_predicted: bool) -> MatchContext:
        """x^ctx at this moment: as labels have it where a replay says so, else as the match knows it."""
        if self.given.tally is not None:
            return MatchContext(at=self.moment.at, tally=self.given.tally, sure=True)
        return self.state.context(self.moment.at, show_predicted=show_predicted)

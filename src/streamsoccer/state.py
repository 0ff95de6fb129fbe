"""MatchState: everything that changes during a match, in one object that can be saved and loaded.

Weights never change in a match and this does; with the same weights, the same video and the same state, what follows is
the same. `save` gives nested plain values with tensors and arrays as leaves (packing.py makes bytes of them), `load`
checks that they are of this version and of these weights.

K slots, D = d_m
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsoccer.buffer import EventBuffer
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import ActiveMemory
from streamsoccer.domain import Action, SideTally, Tally, event_id
from streamsoccer.encoder import StreamState
from streamsoccer.errors import CheckpointError, DataError
from streamsoccer.feed import FED, FeedLine, tally_of
from streamsoccer.packing import pack, unpack
from streamsoccer.record import CaptionQueue, Ledger, MatchContext, RecordConfig
from streamsoccer.schedule import Scheduler

if TYPE_CHECKING:
    from streamsoccer.buffer import BufferConfig, CompletedMemory
    from streamsoccer.schedule import ScheduleConfig

__all__ = ["STATE_VERSION", "MatchState", "Open", "Position"]

STATE_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """The event that is going on: where it began, and how many pictures of it were seen."""

    start: float
    frames: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """How far the video has been taken in: the last clip, and the gaps that came after it."""

    half: int = 0
    clip: int = -1  # its place in the half
    start: float = 0.0  # of that clip
    end: float = 0.0  # of all that was taken in of this half
    gaps: int = 0
    open: bool = False  # the half has begun and not ended

    @property
    def at(self) -> MatchTime:
        return MatchTime(max(1, self.half), self.end)


class MatchState:
    """One match: the active memory M_t, B_t, the caption queue, L_t, the scheduler, and what is known of the score."""

    def __init__(
        self,
        *,
        match: str,
        model: str,
        encoder: StreamState,
        buffer: BufferConfig,
        record: RecordConfig,
        schedule: ScheduleConfig,
    ) -> None:
        self.match, self.model = match, model
        self.step = 0  # clips, gaps and ends of halves so far
        self.position = Position()
        # of the half
        self.encoder = encoder  # one row
        self.open: Open | None = None
        self.buffer = EventBuffer(buffer)
        self.queue = CaptionQueue(record)
        self.ledger = Ledger()
        self.frames: dict[str, int] = {}  # pictures by completed event
        self.said: list[str] = []  # what was said, as it was compared for repetition
        self.strange: list[float] = []  # how far the last clips are from those that the model knows
        self.warned = 0  # the half in which that was told
        # of the match
        self.scheduler = Scheduler(schedule)
        self.predicted = Tally()  # the fold over predicted actions
        self.feed: dict[str, FeedLine] | None = None  # lines that were available; nothing: there is no feed
        self.counts: Counter[str] = Counter()

    # --- what is known of the match ---

    def tally(self) -> Tally:
        """Score, cards and substitutions from the feed where there is one, all else from predicted actions."""
        if self.feed is None:
            return self.predicted
        sure = tally_of(self.feed.values())

        def side(mine: SideTally, seen: SideTally) -> SideTally:
            counts = {label: count for label, count in seen.counts.items() if label not in FED}
            return SideTally(
                goals=mine.goals,
                yellow_cards=mine.yellow_cards,
                red_cards=mine.red_cards,
                substitutions=mine.substitutions,
                counts={**counts, **mine.counts},
            )

        return Tally(home=side(sure.home, self.predicted.home), away=side(sure.away, self.predicted.away))

    def context(self, at: MatchTime, *, show_predicted: bool = True) -> MatchContext:
        """x^ctx as it stands: sure where a feed tells it."""
        sure = self.feed is not None
        return MatchContext(at=at, tally=self.tally() if sure or show_predicted else None, sure=sure)

    def fold(self, memory: CompletedMemory) -> None:
        """Count the predicted actions of an event that has closed."""
        for label in memory.actions:
            action = Action(label=label, side=memory.side, at=memory.end, available_at=memory.available_at)
            self.predicted = self.predicted.plus(action)

    def active(self, cutoff: Cutoff) -> ActiveMemory | None:
        """M_t as of the last clip, where an event is going on."""
        if self.open is None:
            return None
        half = self.position.half
        memory = ActiveMemory(
            tokens=self.encoder.memory[0],
            start=MatchTime(half, self.open.start),
            available_at=self.position.at,
            event=event_id(self.match, half, self.open.start),
        )
        return cutoff.admit(memory)

    def end_half(self) -> None:
        """Memory, buffer and history are of one half; score, cards and counts are of the match."""
        self.buffer.clear()
        self.ledger.clear()
        self.frames.clear()
        self.said.clear()
        self.strange.clear()
        self.position = replace(self.position, open=False)

    # --- saved and loaded ---

    def save(self) -> dict[str, Any]:
        """Everything, as plain values with tensors and arrays as leaves."""
        at, row = self.position, self.encoder
        return {
            "version": STATE_VERSION,
            "model": self.model,
            "match": self.match,
            "step": self.step,
            "position": {name: getattr(at, name) for name in at.__slots__},
            "encoder": {name: value.cpu() for name, value in row.tensors().items()},
            "open": None if self.open is None else {"start": self.open.start, "frames": self.open.frames},
            "buffer": self.buffer.state(),
            "queue": self.queue.state(),
            "ledger": self.ledger.state(),
            "frames": dict(self.frames),
            "said": list(self.said),
            "strange": list(self.strange),
            "warned": self.warned,
            "scheduler": self.scheduler.state(),
            "predicted": MatchContext(at=at.at, tally=self.predicted, sure=False).state(),
            "feed": None if self.feed is None else [each.state() for each in self.feed.values()],
            "counts": dict(self.counts),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Become what the saved state was; one of another version, match or model is refused."""
        for name, mine, what in (
            ("version", STATE_VERSION, "is of another version"),
            ("model", self.model, "was made with another model"),
            ("match", self.match, "is of another match"),
        ):
            if state.get(name) != mine:
                raise CheckpointError(
                    f"the saved state {what}: {str(state.get(name))[:60]}, here {str(mine)[:60]}",
                    remedy="go on with the model and the source that it was saved with, or start anew",
                )
        try:
            device = self.encoder.memory.device
            encoder = StreamState.of({name: value.to(device) for name, value in state["encoder"].items()})
            if any(value.shape != self.encoder.tensors()[name].shape for name, value in encoder.tensors().items()):
                raise DataError("the saved active memory has another shape")
            self.step = int(state["step"])
            self.position = Position(**state["position"])
            self.encoder = encoder
            self.open = None if state["open"] is None else Open(**state["open"])
            self.buffer.load(state["buffer"])
            self.queue.load(state["queue"])
            self.ledger.load(state["ledger"])
            self.frames = dict(state["frames"])
            self.said = list(state["said"])
            self.strange, self.warned = [float(each) for each in state["strange"]], int(state["warned"])
            self.scheduler.load(state["scheduler"])
            self.predicted = MatchContext.of_state(state["predicted"]).tally or Tally()
            lines = state["feed"]
            self.feed = None if lines is None else {each.id: each for each in map(FeedLine.of_state, lines)}
            self.counts = Counter(state["counts"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the saved state is not whole: {error!r}", remedy="start the match anew") from error

    def write(self, path: Path) -> None:
        """As one file; what stood there before stays whole until this is."""
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(pack(self.save()))
        part.replace(path)

    def read(self, path: Path) -> None:
        """From such a file."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", where=path) from error
        self.load(unpack(data))

"""delta_t, the rule-assisted scheduler (paper section 4.5, table runtime_params): silence, or one of the three modes.

    current      an event has just closed, it is salient, and 12 s went by since the last current-event output
    recent       120 s went by since the last recent-window output (or the half's start), three events closed within the
                 local window, and 20 s went by since the last event output
    historical   180 s went by since the last historical output, eight records are ready, and the best of those that are
                 retrieved scores 0.12 or more

Where more than one is open: history, then event, then recent. An event is salient by its action group. The policy is a
pure function of what is seen and of when it last spoke; each decision, silence too, says for each mode why it was open
or not. Learned scores rank records, they never decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import Track
from streamsoccer.errors import UsageError
from streamsoccer.record import Record
from streamsoccer.retrieval import Ranking

__all__ = ["PRIORITY", "Decision", "Gate", "Reason", "ScheduleConfig", "Scheduler", "Seen", "Spoken", "decide"]

PRIORITY = (Track.HISTORICAL, Track.CURRENT, Track.RECENT)


class Reason(StrEnum):
    """Why a mode is open, or the first condition of it that does not hold."""

    # open
    SALIENT_EVENT = "salient_event"
    TICK = "tick"
    RELEVANT_RECORD = "relevant_record"
    # current-event
    NO_EVENT = "no_event"  # nothing has just closed
    NOT_SALIENT = "not_salient"
    NOT_SURE = "not_sure"  # the heads are less sure of it than asked for
    EVENT_COOLDOWN = "event_cooldown"
    # recent-window
    BEFORE_TICK = "before_tick"
    FEW_EVENTS = "few_events"
    NEAR_EVENT = "near_event"  # too soon after an event was spoken of
    # historical-memory
    HISTORY_COOLDOWN = "history_cooldown"
    FEW_RECORDS = "few_records"
    NO_CANDIDATE = "no_candidate"  # nothing was ranked, or nothing eligible was there to rank
    LOW_SCORE = "low_score"
    # any
    SPEAKING = "speaking"  # too soon after the last output of any mode

    @property
    def is_open(self) -> bool:
        return self in (Reason.SALIENT_EVENT, Reason.TICK, Reason.RELEVANT_RECORD)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleConfig:
    """The paper's table. It names no salient groups: those are ours, and so are the last two, which are off."""

    event_cooldown: float = 12.0
    recent_tick: float = 120.0
    recent_events: int = 3
    recent_after_event: float = 20.0
    history_cooldown: float = 180.0
    history_records: int = 8
    salient: tuple[EventType, ...] = (
        EventType.FINISH,
        EventType.PENALTY_OR_CARD,
        EventType.FOUL_OR_OFFSIDE,
        EventType.SET_PIECE,
        EventType.SUBSTITUTION,
        EventType.KICK_OFF,
    )
    # what is salient by its group alone but too frequent to speak of: an event with nothing else in it is not
    plain: tuple[Label, ...] = (Label.THROW_IN, Label.INDIRECT_FREE_KICK)
    confidence: float = 0.0  # an event that the heads are less sure of is not spoken of by itself
    pause: float = 0.0  # seconds of silence after any output

    def __post_init__(self) -> None:
        times = (self.event_cooldown, self.recent_tick, self.recent_after_event, self.history_cooldown, self.pause)
        if min(times) < 0 or self.recent_events < 0 or self.history_records < 0:
            raise UsageError("cooldowns and minimum numbers of a schedule cannot be negative")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Seen:
    """What a decision is made from, all of it available at the cutoff."""

    cutoff: Cutoff
    completed: CompletedMemory | None = None  # the event that has closed with this step
    window: tuple[CompletedMemory, ...] = ()  # the completed events of the local window, B_t
    ready: tuple[Record, ...] = ()  # the records of L_t that are ready
    ranking: Ranking | None = None  # of those that are eligible; nothing where no query was made

    def __post_init__(self) -> None:
        ranked = () if self.ranking is None else self.ranking.chosen
        for fact in (self.completed, *self.window, *self.ready, *ranked):
            if fact is not None:
                self.cutoff.admit(fact)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """One mode at one moment: open or not, why, and the numbers behind it."""

    track: Track
    reason: Reason
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """delta_t: a mode or silence, with the gates of all three modes in order of priority."""

    cutoff: MatchTime
    track: Track | None  # nothing: silence
    gates: tuple[Gate, ...]
    event: str | None = None  # the event that had just closed

    @property
    def gate(self) -> Gate:
        """The gate that decided: the chosen mode's, and for silence that of the event which could have been told."""
        wanted = self.track or Track.CURRENT
        return next(each for each in self.gates if each.track is wanted)

    @property
    def reason(self) -> Reason:
        return self.gate.reason

    @property
    def detail(self) -> str:
        return self.gate.detail


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """When each mode last spoke in this half: the whole state of the scheduler."""

    half: int = 1
    current: float | None = None
    recent: float | None = None
    historical: float | None = None

    def since(self, track: Track, at: MatchTime) -> float | None:
        """Seconds since that mode spoke, or nothing where it has not in this half."""
        last: float | None = getattr(self, track.value)
        return None if last is None or at.half != self.half else at.seconds - last

    def plus(self, track: Track, at: MatchTime) -> Spoken:
        """The state after an output of that mode; a new half starts afresh."""
        kept = {each.value: getattr(self, each.value) for each in Track} if at.half == self.half else {}
        return Spoken(half=at.half, **{**kept, track.value: at.seconds})


def salient(memory: CompletedMemory, config: ScheduleConfig) -> bool:
    """Whether an event is worth a sentence: by its group, unless all that it holds is plain."""
    told = [each for each in memory.actions if each not in config.plain]
    return memory.type in config.salient and (bool(told) or not memory.actions)


def decide(seen: Seen, spoken: Spoken, config: ScheduleConfig) -> Decision:
    """The mode of this step: the first in order of priority whose gate is open, else silence."""
    gates = tuple(_GATES[each](seen, spoken, config) for each in PRIORITY)
    track = next((each.track for each in gates if each.reason.is_open), None)
    event = None if seen.completed is None else seen.completed.event
    return Decision(cutoff=seen.cutoff.at, track=track, gates=gates, event=event)


def _waiting(since: float | None, needed: float) -> str | None:
    """How long ago and how long it should be, where it is too soon."""
    return None if since is None or since >= needed else f"{since:g} s of {needed:g} s"


def _pause(seen: Seen, spoken: Spoken, config: ScheduleConfig) -> str | None:
    """The same for the last output of any mode."""
    times = [since for each in Track if (since := spoken.since(each, seen.cutoff.at)) is not None]
    return _waiting(min(times, default=None), config.pause)


def _historical(seen: Seen, spoken: Spoken, config: ScheduleConfig) -> Gate:
    def gate(reason: Reason, detail: str) -> Gate:
        return Gate(track=Track.HISTORICAL, reason=reason, detail=detail)

    if wait := _pause(seen, spoken, config):
        return gate(Reason.SPEAKING, wait)
    if wait := _waiting(spoken.since(Track.HISTORICAL, seen.cutoff.at), config.history_cooldown):
        return gate(Reason.HISTORY_COOLDOWN, wait)
    if len(seen.ready) < config.history_records:
        return gate(Reason.FEW_RECORDS, f"{len(seen.ready)} of {config.history_records}")
    if seen.ranking is None or seen.ranking.best is None:
        return gate(Reason.NO_CANDIDATE, "not ranked" if seen.ranking is None else "none eligible")
    best, ranking = seen.ranking.best, seen.ranking
    if not ranking.relevant:
        return gate(Reason.LOW_SCORE, f"{best:.4f} of {ranking.threshold:g}")
    return gate(Reason.RELEVANT_RECORD, f"{ranking.chosen[0].id} at {best:.4f}")


def _current(seen: Seen, spoken: Spoken, config: ScheduleConfig) -> Gate:
    def gate(reason: Reason, detail: str) -> Gate:
        return Gate(track=Track.CURRENT, reason=reason, detail=detail)

    memory = seen.completed
    if memory is None:
        return gate(Reason.NO_EVENT, "")
    what = ", ".join([memory.type.value, *(each.value for each in memory.actions)])
    if not salient(memory, config):
        return gate(Reason.NOT_SALIENT, what)
    if memory.confidence < config.confidence:
        return gate(Reason.NOT_SURE, f"{memory.confidence:.3f} of {config.confidence:g}")
    if wait := _pause(seen, spoken, config):
        return gate(Reason.SPEAKING, wait)
    if wait := _waiting(spoken.since(Track.CURRENT, seen.cutoff.at), config.event_cooldown):
        return gate(Reason.EVENT_COOLDOWN, wait)
    return gate(Reason.SALIENT_EVENT, what)


def _recent(seen: Seen, spoken: Spoken, config: ScheduleConfig) -> Gate:
    def gate(reason: Reason, detail: str) -> Gate:
        return Gate(track=Track.RECENT, reason=reason, detail=detail)

    at = seen.cutoff.at
    if wait := _pause(seen, spoken, config):
        return gate(Reason.SPEAKING, wait)
    last = spoken.since(Track.RECENT, at)
    if wait := _waiting(at.seconds if last is None else last, config.recent_tick):
        return gate(Reason.BEFORE_TICK, wait)
    if len(seen.window) < config.recent_events:
        return gate(Reason.FEW_EVENTS, f"{len(seen.window)} of {config.recent_events}")
    if wait := _waiting(spoken.since(Track.CURRENT, at), config.recent_after_event):
        return gate(Reason.NEAR_EVENT, wait)
    return gate(Reason.TICK, f"{len(seen.window)} events")


_GATES = {Track.HISTORICAL: _historical, Track.CURRENT: _current, Track.RECENT: _recent}


class Scheduler:
    """`decide` with its state: tell it what was spoken, and it can be saved and loaded."""

    def __init__(self, config: ScheduleConfig | None = None) -> None:
        self.config = config or ScheduleConfig()
        self.spoken = Spoken()

    def recalls(self, seen: Seen) -> bool:
        """Whether a ranking of records could open the historical mode: without need no query is made."""
        return _historical(seen, self.spoken, self.config).reason is Reason.NO_CANDIDATE

    def decide(self, seen: Seen) -> Decision:
        """The decision of this step; it changes nothing."""
        return decide(seen, self.spoken, self.config)

    def note(self, decision: Decision) -> None:
        """That decision was acted on: its mode's cooldown starts. A sentence that was then held back counts as well, or
        the same one would be asked for with every clip."""
        if decision.track is not None:
            self.spoken = self.spoken.plus(decision.track, decision.cutoff)

    def state(self) -> dict[str, Any]:
        return {"half": self.spoken.half, **{each.value: getattr(self.spoken, each.value) for each in Track}}

    def load(self, state: Mapping[str, Any]) -> None:
        self.spoken = Spoken(**state)

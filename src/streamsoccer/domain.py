"""The nouns of a match, frozen, and the rows of the five manifests: clips, events, captions, records, samples.

A manifest is JSON Lines, one row a line, sorted by match. A row's JSON has the field names given here; a MatchTime is
written as [half, seconds], an enum as its value, and a field that has its default value may be left out. IDs are made
of the match's own data only, so that they stay as they are when other matches come or go:

    match    league/season/game
    event    <match>#<half>-e<first second, four digits>     one event starts at a second
    caption  <match>#c<place in its file, three digits>
    record   <match>#<half>-r<first second>                  the record of the event that starts there
    sample   <match>#<half>-e<first second>:<track>          anchored at that event
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from streamsoccer.actions import CARDS, CaptionClass, EventType, Label
from streamsoccer.clock import MatchTime

__all__ = [
    "CLIP_SECONDS",
    "EVENT_SECONDS",
    "HISTORY_GAP_SECONDS",
    "LOCAL_EVENTS",
    "LOCAL_SECONDS",
    "SCHEMA_VERSION",
    "SUMMARY_SECONDS",
    "Action",
    "Candidate",
    "CaptionRow",
    "ClipRow",
    "CloseReason",
    "Coach",
    "Event",
    "EventRow",
    "Mask",
    "MatchSheet",
    "OpenReason",
    "Placeholder",
    "Player",
    "RecordRow",
    "SampleRow",
    "Side",
    "SideTally",
    "Split",
    "Tally",
    "Track",
    "Verdict",
    "event_id",
    "record_id",
    "sample_id",
]

SCHEMA_VERSION = "1"
CLIP_SECONDS = 4.0  # a clip is [4i, 4i + 4)
EVENT_SECONDS = 24.0  # D_max
LOCAL_SECONDS = 180.0  # horizon of the event buffer B_t
LOCAL_EVENTS = 4  # at most so many of its events are selected
SUMMARY_SECONDS = 120.0  # a recent-window summary is due so long after the last one, and speaks of no more
HISTORY_GAP_SECONDS = 90.0  # from an earlier event's end to the cutoff


class Side(StrEnum):
    """Whose action it is, spelled as SoccerNet's `team`."""

    HOME = "home"
    AWAY = "away"
    NONE = "not applicable"

    @property
    def other(self) -> Side:
        return {Side.HOME: Side.AWAY, Side.AWAY: Side.HOME, Side.NONE: Side.NONE}[self]


class OpenReason(StrEnum):
    """Why an event starts at its first clip."""

    HALF_START = "half_start"
    NEW_START = "new_start"  # its first clip holds a set piece, a substitution or a card that asked for a new event
    AFTER_TERMINAL = "after_terminal"  # the event before ended with a finish, stoppage, clearance or administration
    ROLLOVER = "rollover"  # the event before reached 24 s


class CloseReason(StrEnum):
    """Why an event ends with its last clip."""

    NEW_START = "new_start"
    MAX_DURATION = "max_duration"
    TERMINAL_STOPPAGE = "terminal_stoppage"
    TERMINAL_FINISH = "terminal_finish"
    TERMINAL_CLEARANCE = "terminal_clearance"
    ADMINISTRATION = "administration"
    HALF_END = "half_end"


class Mask(StrEnum):
    """Why a clip's transition target is not to be learned."""

    HALF_START = "half_start"
    ROLLOVER = "rollover"


class Split(StrEnum):
    """The part of the corpus that a match belongs to, whole."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Track(StrEnum):
    """The three commentary tracks."""

    CURRENT = "current"
    RECENT = "recent"
    HISTORICAL = "historical"


class Verdict(StrEnum):
    """What became of a caption: aligned, or why it was not."""

    ALIGNED = "aligned"
    NO_TEXT = "no_text"  # nothing is left of the text, or it is no sentence
    NO_TIME = "no_time"  # none of the file's time fields holds a time
    UNKNOWN_HALF = "unknown_half"  # the time names a half that the match's labels and durations do not have
    NO_CLASS_ACTION = "no_class_action"  # its class speaks of nothing that SoccerNet labels
    NO_CANDIDATE = "no_candidate"  # no event near enough
    NO_COMPATIBLE_ACTION = "no_compatible_action"  # events near enough, but none with an action it could speak of
    SCORE_CONTRADICTED = (
        "score_contradicted"  # it states a score that the labels do not have when those events are known
    )
    TAKEN = "taken"  # every event it could speak of went to a better caption


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """One annotated action; a stream knows of it when the clip that shows it has arrived."""

    label: Label
    side: Side
    at: MatchTime
    available_at: MatchTime
    visible: bool = True
    # fields of the source that are not known here, as they were
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SideTally:
    """What one side has done so far."""

    goals: int = 0
    yellow_cards: int = 0
    red_cards: int = 0  # straight reds and second yellows
    substitutions: int = 0
    counts: Mapping[Label, int] = field(default_factory=dict)  # every label of this side, those above too


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The causal match state: score, cards, substitutions and counts by side, from the first half on."""

    home: SideTally = SideTally()
    away: SideTally = SideTally()

    @property
    def score(self) -> tuple[int, int]:
        return self.home.goals, self.away.goals

    def of(self, side: Side) -> SideTally:
        """That side's part; an action of no side counts for none, so there is nothing to return for it."""
        return {Side.HOME: self.home, Side.AWAY: self.away}[side]

    def plus(self, action: Action) -> Tally:
        """The state once this action is known: a pure step of the fold. A goal counts for the side SoccerNet names."""
        if action.side is Side.NONE:
            return self
        mine, label = self.of(action.side), action.label
        mine = replace(
            mine,
            goals=mine.goals + (label is Label.GOAL),
            yellow_cards=mine.yellow_cards + (label in CARDS and label is not Label.RED_CARD),
            red_cards=mine.red_cards + (label in CARDS and label is not Label.YELLOW_CARD),
            substitutions=mine.substitutions + (label is Label.SUBSTITUTION),
            counts={**mine.counts, label: mine.counts.get(label, 0) + 1},
        )
        return replace(self, **{action.side.value: mine})


@dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """A player of the match sheet."""

    hash: str
    name: str
    side: Side
    short_name: str = ""
    long_name: str = ""
    number: str = ""
    captain: bool = False
    starts: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Coach:
    """A coach of the match sheet."""

    name: str
    side: Side


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchSheet:
    """Who plays whom, as far as the files say. The final score in them is never read: it is from the future."""

    home: str = ""
    away: str = ""
    date: str = ""
    venue: str = ""
    referee: str = ""
    players: tuple[Player, ...] = ()
    coaches: tuple[Coach, ...] = ()

    def team(self, side: Side) -> str:
        return {Side.HOME: self.home, Side.AWAY: self.away, Side.NONE: ""}[side]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClipRow:
    """clips.jsonl: one clip of 4 seconds (the last of a half may be shorter)."""

    # where: the clip is [start, end) of its half, and index says which from 0
    split: Split
    match: str
    half: int
    index: int
    start: float
    end: float
    # which event it belongs to: the second at which that event starts, `event_id` gives the whole ID
    event: float
    # stage 1 targets: operational transition {0, 1}, why it is masked, and the action labels of this clip
    transition: int
    mask: Mask | None = None
    actions: tuple[Label, ...] = ()
    # the control label End of period, on the last clip of a half
    last: bool = False

    @property
    def available_at(self) -> MatchTime:
        """A clip may be used once it has arrived whole."""
        return MatchTime(self.half, self.end)

    @property
    def event_id(self) -> str:
        return event_id(self.match, self.half, self.event)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One operational event of a half: its clips, why it started and ended, and what happened in it."""

    # where: clips first .. first + clips - 1 of the half, seconds [start, end)
    half: int
    first: int
    clips: int
    start: MatchTime
    end: MatchTime
    # from when on a context may hold it: the end of the clip whose arrival closes it, never its own end (but at the
    # end of a half, where no clip follows)
    available_at: MatchTime
    # lifecycle
    opened_by: OpenReason
    closed_by: CloseReason
    # what: the coarse type, the action that names it and that action's side, and all actions in order of time
    type: EventType = EventType.OPEN_PLAY
    primary: Label | None = None
    side: Side = Side.NONE
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRow(Event):
    """events.jsonl: an operational event in its place in the corpus."""

    # index counts the events of its half from 0
    split: Split
    id: str
    match: str
    index: int
    # the caption aligned with it; its match state is the fold of all actions up to available_at (data/match_state.py)
    caption: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An event that a caption could have gone to, with its place in the ranking: lower keys are better."""

    event: str
    path: str  # 'window': inside or within 15 s of the event; 'anchored': within 30 s of a compatible action
    anchor: Label | None  # the compatible action nearest to the caption, if there is one
    anchor_distance: float | None  # seconds from the caption to it
    window_distance: float  # seconds from the caption to the event's interval, 0 inside
    key: tuple[float, ...]  # the ranking, in the order that align.RANKING names
    taken_by: str | None = None  # the caption that got this event


@dataclass(frozen=True, kw_only=True, slots=True)
class CaptionRow:
    """captions.jsonl: one caption of the source, aligned or not. Supervision only: it stands in no context."""

    # where it comes from: file and time field, the dataset it is (matchtime, matchtime_gt, soccernet_caption)
    split: Split
    id: str
    match: str
    file: str
    source: str
    at: MatchTime | None = None
    time_key: str | None = None
    # what it says
    description: str = ""
    anonymized: str = ""
    identified: str = ""
    important: bool | None = None
    visible: bool | None = None
    # what it speaks of, and how that is known: 'class' or 'label' field of the file, or inferred from its 'text'
    kind: CaptionClass = CaptionClass.OTHER
    kind_source: str = "text"
    label: str = ""
    # what became of it
    verdict: Verdict = Verdict.NO_CANDIDATE
    event: str | None = None
    candidates: tuple[Candidate, ...] = ()
    # fields of the source that are not known here, as they were
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Placeholder:
    """A placeholder of a text, in the order of the text, and the side it stands for where the data say so."""

    token: str  # '[TEAM]', '[PLAYER]', '[COACH]', '[REFEREE]'
    side: Side = Side.NONE
    name: str = ""  # the name that stands there in the source's own text, where it can be told


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRow:
    """records.jsonl: a stage 2 target, the caption c_j of an aligned event and its causal match context."""

    # which event, and since when the record may be retrieved; legacy_split is the representation benchmark's
    split: Split
    legacy_split: Split
    id: str
    match: str
    half: int
    event: str
    caption: str
    start: MatchTime
    end: MatchTime
    available_at: MatchTime
    # deterministic fields
    type: EventType
    primary: Label | None
    side: Side
    actions: tuple[Label, ...]
    kind: CaptionClass
    # the action of the event that the caption speaks of: what the alignment is anchored at
    spoken: Action
    # the minimal causal match context x_j^ctx: the state at `available_at`, which is its half and clock
    state: Tally
    # the text with placeholders (the target), as the source names people, and the placeholders in order
    text: str
    named: str
    placeholders: tuple[Placeholder, ...] = ()
    source: str = "matchtime"
    # the teams of the match context, where the sources name them
    home: str = ""
    away: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleRow:
    """samples.jsonl: one anchor of one track. All that it names is available no later than its cutoff."""

    # where: the anchor event, and the observation cutoff
    split: Split
    id: str
    match: str
    half: int
    track: Track
    cutoff: MatchTime
    event: str
    # context: the event that is active at the cutoff (only its clips up to the cutoff may be used), and the selected
    # local events: the four most recently closed that ended within 180 s of the cutoff, oldest first
    active: str | None = None
    local: tuple[str, ...] = ()
    state: Tally = Tally()
    home: str = ""
    away: str = ""
    # L_local: those of `local` that the target speaks of, among `local_candidates`, all completed events of the window
    local_positives: tuple[str, ...] = ()
    local_candidates: tuple[str, ...] = ()
    # L_retr and the intervention: record IDs, all eligible; positives and hard negatives are disjoint parts
    candidates: tuple[str, ...] = ()
    positives: tuple[str, ...] = ()
    hard_negatives: tuple[str, ...] = ()
    # provenance of the target: every event and the caption that it was written from, and the hash of its sources
    sources: tuple[str, ...] = ()
    caption: str | None = None
    source_hash: str = ""
    # the target with placeholders, with names where they are known, and the placeholders in order
    target: str = ""
    named: str = ""
    placeholders: tuple[Placeholder, ...] = ()
    # what no rewriter may change, by name: side, minute, action, score, counts that the target states
    fields: Mapping[str, Any] = field(default_factory=dict)
    # who wrote the target: 'caption' (the source's own sentence), 'rules', or the name of the assisting model;
    # `rules_target` is the deterministic sentence where a model rephrased it
    writer: str = "rules"
    rules_target: str | None = None


def event_id(match: str, half: int, start: float) -> str:
    """The ID of the event that starts at this second of this half."""
    return f"{match}#{half}-e{int(start):04d}"


def record_id(match: str, half: int, start: float) -> str:
    """The ID of the record of the event that starts at this second of this half."""
    return f"{match}#{half}-r{int(start):04d}"


def sample_id(event: str, track: Track) -> str:
    """The ID of the sample of this track that is anchored at this event."""
    return f"{event}:{track.value}"

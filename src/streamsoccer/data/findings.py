"""What an audit looked at and what it found: a check, a place in a manifest, an ID, and what is wrong there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["KEPT", "PROMISES", "Check", "Finding", "Findings"]

KEPT = 1000  # findings of one check that are kept; the others are counted


class Check(StrEnum):
    """The checks, in the order of the report."""

    DIGEST = "digest"
    ORDER = "order"
    DUPLICATE_ID = "duplicate_id"
    IDENTITY = "identity"
    HALF = "half"
    SPLIT = "split"
    CLIPS = "clips"
    EVENTS = "events"
    BOUNDARIES = "boundaries"
    TRANSITION = "transition"
    ACTIONS = "actions"
    EVENT_TYPE = "event_type"
    AVAILABILITY = "availability"
    EXISTENCE = "existence"
    ONE_TO_ONE = "one_to_one"
    ALIGNMENT = "alignment"
    COVERAGE = "coverage"
    CUTOFF = "cutoff"
    CAUSALITY = "causality"
    MATCH_STATE = "match_state"
    TRACK = "track"
    ACTIVE = "active"
    LOCAL_AGE = "local_age"
    LOCAL_COUNT = "local_count"
    LOCAL_SELECTION = "local_selection"
    HISTORY_GAP = "history_gap"
    POSITIVES = "positives"
    NEGATIVES = "negatives"
    PROVENANCE = "provenance"
    FIELDS = "fields"
    PLACEHOLDERS = "placeholders"
    TEAM_SIDE = "team_side"
    TEXT = "text"
    REPHRASING = "rephrasing"


PROMISES: dict[Check, str] = {
    Check.DIGEST: "each manifest is byte for byte what the build wrote",
    Check.ORDER: "the rows of a match stand together, matches in the order of their IDs",
    Check.DUPLICATE_ID: "no ID, and no place of a clip, is there twice",
    Check.IDENTITY: "an ID is made of its own row's match, half, second and track",
    Check.HALF: "a row and what it names are of one match and one half",
    Check.SPLIT: "a match is in one split, the same in all five manifests",
    Check.CLIPS: "clips cut each half without hole or overlap, 4 s each but the last",
    Check.EVENTS: "events hold each clip of a half once, at most 24 s long",
    Check.BOUNDARIES: "events start and end where the actions say so, for the reason given",
    Check.TRANSITION: "transition targets and masks follow from the events",
    Check.ACTIONS: "actions lie in their event and clip, in order of time",
    Check.EVENT_TYPE: "type, naming action and side follow from an event's actions",
    Check.AVAILABILITY: "an event is available when the clip that closes it has arrived, an action with its clip",
    Check.EXISTENCE: "whatever is named is there",
    Check.ONE_TO_ONE: "a caption goes to one event and an event has one caption",
    Check.ALIGNMENT: "a caption is near its event and speaks of an action in it",
    Check.COVERAGE: "each aligned event has its record and its current-event sample",
    Check.CUTOFF: "a sample's cutoff is the moment at which its anchor is available",
    Check.CAUSALITY: "nothing that a sample or record holds is available after its cutoff",
    Check.MATCH_STATE: "score, cards and counts are the fold of the actions known at the cutoff",
    Check.TRACK: "a sample holds what its track holds, and nothing else",
    Check.ACTIVE: "the active event has begun and is not complete at the cutoff",
    Check.LOCAL_AGE: "local events ended within 180 s of the cutoff",
    Check.LOCAL_COUNT: "at most four local events",
    Check.LOCAL_SELECTION: "local events are the most recently closed; the window's candidates are all of them",
    Check.HISTORY_GAP: "records are of the same half, their events ended 90 s or more before the cutoff",
    Check.POSITIVES: "positives are candidates that speak of the same kind of action by the same side",
    Check.NEGATIVES: "hard negatives are candidates, never positives, never related",
    Check.PROVENANCE: "a target's sources are those that it was written from",
    Check.FIELDS: "side, time, action, score and counts in `fields` agree with the actions",
    Check.PLACEHOLDERS: "`placeholders` are those of the text, and the named text has their names",
    Check.TEAM_SIDE: "a team's name stands for one side of a match",
    Check.TEXT: "a text states its fields: the caption as the source has it, or the rules' sentence",
    Check.REPHRASING: "a rephrased text states what the rules' sentence states",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong: which check says so, where the row stands, whose it is, and what is wrong."""

    check: Check
    file: str
    line: int
    id: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.id}: {self.problem}"

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("check", "file", "line", "id", "problem")}


class Findings:
    """Collects what checks looked at and found; of each check so many findings are kept and all are counted."""

    def __init__(self) -> None:
        self.rows: Counter[Check] = Counter()
        self.counts: Counter[Check] = Counter()
        self.kept: list[Finding] = []

    def looked(self, check: Check, rows: int = 1) -> None:
        self.rows[check] += rows

    def add(self, check: Check, file: str, line: int, name: str, problem: str) -> None:
        self.counts[check] += 1
        if self.counts[check] <= KEPT:
            self.kept.append(Finding(check=check, file=file, line=line, id=name, problem=problem))

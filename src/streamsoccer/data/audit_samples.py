"""Checks on records and samples: what they name exists, was available at the cutoff, and is what their track holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.data.audit_match import FILES, At, Known, MatchView, differs
from streamsoccer.data.findings import Check, Findings
from streamsoccer.data.stated import kind_of
from streamsoccer.domain import (
    HISTORY_GAP_SECONDS,
    LOCAL_EVENTS,
    LOCAL_SECONDS,
    EventRow,
    RecordRow,
    SampleRow,
    Side,
    Tally,
    Track,
    record_id,
    sample_id,
)
from streamsoccer.errors import FutureLeak

__all__ = ["audit_coverage", "audit_records", "audit_samples"]

RECORDS, SAMPLES, EVENTS = FILES["records"], FILES["samples"], FILES["events"]


class _Row:
    """A record or sample under audit: says what is wrong with it, and lets facts through the one door."""

    def __init__(self, view: MatchView, findings: Findings, file: str, at: At[RecordRow] | At[SampleRow]) -> None:
        self.view, self.findings, self.file, self.line = view, findings, file, at.line
        self.id = at.row.id

    def wrong(self, check: Check, problem: str) -> None:
        self.findings.add(check, self.file, self.line, self.id, problem)

    def admit(self, cutoff: MatchTime, fact: Known, role: str) -> bool:
        try:
            Cutoff(cutoff).admit(fact)
        except FutureLeak:
            self.wrong(Check.CAUSALITY, f"{role} {fact.name} is available at {fact.available_at}, cutoff {cutoff}")
            return False
        return True

    def event(self, name: str, role: str) -> EventRow | None:
        found = self.view.event.get(name)
        if found is None:
            self.wrong(Check.EXISTENCE, f"{role} {name} is no event of the match")
        return None if found is None else found.row

    def record(self, name: str, role: str) -> RecordRow | None:
        found = self.view.record.get(name)
        if found is None:
            self.wrong(Check.EXISTENCE, f"{role} {name} is no record of the match")
        return None if found is None else found.row

    def state(self, state: Tally, cutoff: MatchTime) -> None:
        """The stored match state is the fold at the cutoff; where it is the fold at a later moment, it is a leak."""
        problem = differs(state, self.view.counts_at(cutoff))
        if problem is None:
            return
        for moment in self.view.moments_after(cutoff):
            if differs(state, self.view.counts_at(moment)) is None:
                self.admit(cutoff, Known("match state", moment), "the")
                return
        self.wrong(Check.MATCH_STATE, problem)

    def caption(self, name: str, event: EventRow | None) -> None:
        """The caption of a target belongs to the anchor, so it must not be one of an event that comes later."""
        found = self.view.caption.get(name)
        if found is None:
            self.wrong(Check.EXISTENCE, f"its caption {name} is not there")
        elif event is not None and found.row.event != event.id:
            self.wrong(Check.ONE_TO_ONE, f"uses {name}, which is aligned with {found.row.event or 'no event'}")
            owner = self.view.event.get(found.row.event or "")
            if owner is not None:
                known = Known(f"{name} of {owner.row.id}", self.view.settled(owner.row))
                self.admit(self.view.settled(event), known, "the caption")


# --- records ---------------------------------------------------------------------------------------------------------


def audit_records(view: MatchView, findings: Findings) -> None:
    """A record is its event, its caption and the state by then, and is of no use before its event is complete."""
    used: dict[str, str] = {}
    checks = (Check.CAUSALITY, Check.MATCH_STATE, Check.AVAILABILITY, Check.ONE_TO_ONE, Check.FIELDS, Check.EXISTENCE)
    for check in checks:
        findings.looked(check, len(view.records))
    for at in view.records:
        row, audit = at.row, _Row(view, findings, RECORDS, at)
        if row.caption in used and used[row.caption] != row.id:
            audit.wrong(Check.ONE_TO_ONE, f"uses {row.caption}, as {used[row.caption]} does")
        used.setdefault(row.caption, row.id)
        if row.id != record_id(view.match, row.half, row.start.seconds):
            audit.wrong(Check.IDENTITY, f"its ID is not that of half {row.half}, second {row.start.seconds:g}")
        event = audit.event(row.event, "its event")
        audit.caption(row.caption, event)
        if event is None:
            continue
        if {row.half, row.start.half, row.end.half, row.available_at.half} != {event.half}:
            audit.wrong(
                Check.HALF, f"half {row.half}, from {row.start} to {row.end}; its event is of half {event.half}"
            )
        settled = view.settled(event)
        if row.available_at != settled:
            audit.wrong(Check.AVAILABILITY, f"available at {row.available_at}, its event at {settled}")
        audit.state(row.state, settled)
        if (row.start, row.end) != (event.start, event.end):
            audit.wrong(Check.FIELDS, f"from {row.start} to {row.end}, its event from {event.start} to {event.end}")
        mine = (row.type, row.primary, row.side, row.actions)
        theirs = (event.type, event.primary, event.side, tuple(each.label for each in event.actions))
        if mine != theirs:
            audit.wrong(Check.FIELDS, f"says {_told(*mine)}; its event says {_told(*theirs)}")
        if row.spoken not in event.actions:
            audit.wrong(
                Check.FIELDS, f"speaks of {row.spoken.label} by {row.spoken.side} at {row.spoken.at}, not in its event"
            )


def _told(kind: object, primary: object, side: object, actions: Iterable[object]) -> str:
    return f"{kind}, {primary}, {side}, [{', '.join(str(each) for each in actions)}]"


def audit_coverage(view: MatchView, findings: Findings) -> None:
    """Each event with a caption has its record and its current-event sample."""
    recorded = {at.row.event for at in view.records}
    sampled = {at.row.event for at in view.samples if at.row.track is Track.CURRENT}
    for at in view.events:
        if at.row.caption is not None:
            findings.looked(Check.COVERAGE)
            for there, what in ((recorded, "record"), (sampled, "current-event sample")):
                if at.row.id not in there:
                    findings.add(Check.COVERAGE, EVENTS, at.line, at.row.id, f"has a caption but no {what}")


# --- samples ---------------------------------------------------------------------------------------------------------


def audit_samples(view: MatchView, findings: Findings) -> None:
    """A sample holds its track's context, all of it there and available at its cutoff."""
    used: dict[str, str] = {}
    checks = (Check.CUTOFF, Check.CAUSALITY, Check.MATCH_STATE, Check.TRACK, Check.ACTIVE, Check.EXISTENCE)
    for check in (*checks, Check.LOCAL_AGE, Check.LOCAL_COUNT, Check.LOCAL_SELECTION, Check.PROVENANCE):
        findings.looked(check, len(view.samples))
    for at in view.samples:
        row, audit = at.row, _Row(view, findings, SAMPLES, at)
        if row.id != sample_id(row.event, row.track):
            audit.wrong(Check.IDENTITY, f"its ID is not that of its event {row.event} and track {row.track}")
        anchor = audit.event(row.event, "its anchor")
        if row.cutoff.half != row.half or (anchor is not None and anchor.half != row.half):
            half = "none" if anchor is None else anchor.half
            audit.wrong(Check.HALF, f"half {row.half}, cutoff {row.cutoff}, its anchor of half {half}")
        if anchor is not None:
            audit.admit(row.cutoff, view.known(anchor), "its anchor")
            if row.cutoff != view.settled(anchor):
                audit.wrong(Check.CUTOFF, f"cutoff {row.cutoff}, its anchor is available at {view.settled(anchor)}")
        if row.caption is not None:
            if row.caption in used and used[row.caption] != row.id:
                audit.wrong(Check.ONE_TO_ONE, f"uses {row.caption}, as {used[row.caption]} does")
            used.setdefault(row.caption, row.id)
            audit.caption(row.caption, anchor)
        audit.state(row.state, row.cutoff)
        _track(row, anchor, audit)
        _active(row, audit)
        _local(row, audit)
        _history(row, audit)
        _sources(row, audit)


def _track(row: SampleRow, anchor: EventRow | None, audit: _Row) -> None:
    """The contract of each track: what must be there, and what must not."""
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    history = ("candidates", "positives", "hard_negatives")
    window = ("local_positives", "local_candidates")
    if row.track is Track.CURRENT:
        must, must_not = ("caption", "sources"), ("local", *window, *history)
    elif row.track is Track.RECENT:
        must, must_not = ("local", *window, "sources"), ("caption", *history)
    else:
        must, must_not = ("candidates", "positives", "sources"), ("caption", *window)
    for name in must:
        if not getattr(row, name):
            audit.wrong(Check.TRACK, f"a {row.track} sample without {name}")
    for name in must_not:
        if getattr(row, name):
            audit.wrong(Check.TRACK, f"a {row.track} sample with {name}")
    for name in ("local", *window, *history, "sources"):
        twice = [each for each, number in Counter(getattr(row, name)).items() if number > 1]
        if twice:
            audit.wrong(Check.DUPLICATE_ID, f"{name} holds {twice[0]} twice")
    if not row.target.strip():
        audit.wrong(Check.TEXT, "the target is empty")
    if row.track is Track.CURRENT and anchor is not None and row.caption != anchor.caption:
        audit.wrong(Check.PROVENANCE, f"its caption is {row.caption}, its anchor's is {anchor.caption}")


def _active(row: SampleRow, audit: _Row) -> None:
    """The event whose clip arrives at the cutoff, if it is not complete by then."""
    view = audit.view
    now = row.cutoff.seconds
    begun = [each.name for each in view.courses.get(row.cutoff.half, ()) if each.begun <= now < each.settled]
    expected = begun[-1] if begun else None
    if row.active is None:
        if expected is not None:
            audit.wrong(Check.ACTIVE, f"has no active event; {expected} is active at {row.cutoff}")
        return
    event = audit.event(row.active, "its active event")
    if event is None:
        return
    if event.half != row.half:
        audit.wrong(Check.HALF, f"its active event {event.id} is of half {event.half}")
    first = Known(f"the first clip of {event.id}", view.arrival(event.half, event.first))
    if audit.admit(row.cutoff, first, "active:") and event.id != expected:
        audit.wrong(Check.ACTIVE, f"{event.id} is not active at {row.cutoff}, {expected or 'nothing'} is")


def _local(row: SampleRow, audit: _Row) -> None:
    """The events of the last 180 s: admitted, young enough, at most four, and the latest of them."""
    view = audit.view
    strangers = tuple(name for name in row.local_positives if name not in row.local_candidates)
    named = (("local", row.local), ("local candidate", row.local_candidates), ("local positive", strangers))
    for role, names in named:
        for name in names:
            event = audit.event(name, role)
            if event is None:
                continue
            if event.half != row.half:
                audit.wrong(Check.HALF, f"{role} {name} is of half {event.half}")
                continue
            audit.admit(row.cutoff, view.known(event), role)
            age = row.cutoff.seconds - view.course(event).ended
            if age > LOCAL_SECONDS:
                audit.wrong(Check.LOCAL_AGE, f"{role} {name} ended {age:g} s before the cutoff")
    if len(row.local) > LOCAL_EVENTS:
        audit.wrong(Check.LOCAL_COUNT, f"{len(row.local)} local events")
    if strangers:
        audit.wrong(Check.POSITIVES, f"local positive {strangers[0]} is no local candidate")
    now = row.cutoff.seconds
    window = [
        each.name
        for each in view.courses.get(row.cutoff.half, ())
        if each.settled <= now and now - each.ended <= LOCAL_SECONDS
    ]
    if row.track is not Track.CURRENT and row.local != tuple(window[-LOCAL_EVENTS:]):
        audit.wrong(
            Check.LOCAL_SELECTION, f"local is {_short(row.local)}; the latest are {_short(window[-LOCAL_EVENTS:])}"
        )
    if row.track is Track.RECENT and row.local_candidates != tuple(window):
        audit.wrong(
            Check.LOCAL_SELECTION, f"candidates {_short(row.local_candidates)}; the window has {_short(window)}"
        )


def _short(names: Sequence[str]) -> str:
    return ", ".join(name.rpartition("#")[2] for name in names) or "none"


def _history(row: SampleRow, audit: _Row) -> None:
    """Records of the same half whose events ended 90 s before; positives related to the anchor, negatives not."""
    view = audit.view
    if row.track is Track.HISTORICAL:
        for check in (Check.HISTORY_GAP, Check.POSITIVES, Check.NEGATIVES):
            audit.findings.looked(check)
    anchor = next((at.row for at in view.records if at.row.event == row.event), None)
    named = (
        ("candidate", row.candidates),
        ("positive", tuple(each for each in row.positives if each not in row.candidates)),
        ("hard negative", tuple(each for each in row.hard_negatives if each not in row.candidates)),
    )
    for role, names in named:
        for name in names:
            record = audit.record(name, role)
            event = None if record is None else audit.event(record.event, f"the event of {role} {name}:")
            if record is None or event is None:
                continue
            if record.half != row.half or event.half != row.half:
                audit.wrong(Check.HISTORY_GAP, f"{role} {name} is of half {event.half}, the sample of half {row.half}")
                continue
            audit.admit(row.cutoff, Known(name, view.settled(event)), role)
            gap = row.cutoff.seconds - view.course(event).ended
            if gap < HISTORY_GAP_SECONDS:
                audit.wrong(Check.HISTORY_GAP, f"{role} {name} ended {gap:g} s before the cutoff")
    for name in row.positives:
        if name not in row.candidates:
            audit.wrong(Check.POSITIVES, f"positive {name} is no candidate")
        elif anchor is not None and name in view.record and not _related(anchor, view.record[name].row):
            audit.wrong(
                Check.POSITIVES,
                f"positive {name} speaks of {_spoken(view.record[name].row)}, the anchor of {_spoken(anchor)}",
            )
    for name in row.hard_negatives:
        if name in row.positives:
            audit.wrong(Check.NEGATIVES, f"{name} is a positive too")
        elif name not in row.candidates:
            audit.wrong(Check.NEGATIVES, f"hard negative {name} is no candidate")
        elif anchor is not None and name in view.record and _related(anchor, view.record[name].row):
            audit.wrong(Check.NEGATIVES, f"hard negative {name} speaks of {_spoken(anchor)} as the anchor does")


def _related(now: RecordRow, earlier: RecordRow) -> bool:
    """The same kind of action by the same side; any two cards are of one kind."""
    a, b = now.spoken, earlier.spoken
    return a.side is not Side.NONE and a.side is b.side and kind_of(a.label) == kind_of(b.label)


def _spoken(record: RecordRow) -> str:
    return f"{record.spoken.label} ({record.spoken.side})"


def _sources(row: SampleRow, audit: _Row) -> None:
    """The target was written from what it names, all of it available."""
    view = audit.view
    for name in row.sources:
        event = audit.event(name, "source")
        if event is not None:
            audit.admit(row.cutoff, view.known(event), "source")
            if event.half != row.half:
                audit.wrong(Check.HALF, f"source {name} is of half {event.half}")
    if row.track is Track.CURRENT:
        expected = {row.event}
    elif row.track is Track.RECENT:
        expected = set(row.local_positives)
    else:
        expected = {view.record[name].row.event for name in row.positives if name in view.record} | {row.event}
    if set(row.sources) != expected:
        audit.wrong(Check.PROVENANCE, f"sources {_short(row.sources)}; the target speaks of {_short(sorted(expected))}")

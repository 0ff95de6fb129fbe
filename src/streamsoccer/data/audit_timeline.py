"""Checks on clips, events and captions: a half without holes, events where the actions say so, captions one to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from streamsoccer.actions import CARDS, COMPATIBLE, GROUP, PRIORITY, TYPE, EventType, Group, Label
from streamsoccer.data.audit_match import FILES, At, MatchView
from streamsoccer.data.findings import Check, Findings
from streamsoccer.domain import (
    CLIP_SECONDS,
    EVENT_SECONDS,
    CaptionRow,
    ClipRow,
    CloseReason,
    EventRow,
    Mask,
    OpenReason,
    Side,
    Verdict,
    event_id,
)

__all__ = ["audit_captions", "audit_clips", "audit_events", "clip_name"]

CLIPS, EVENTS, CAPTIONS = FILES["clips"], FILES["events"], FILES["captions"]
_LONGEST = int(EVENT_SECONDS // CLIP_SECONDS)
_WINDOW_SECONDS, _ANCHOR_SECONDS = 15.0, 30.0  # the paper's two ways for a caption to be near its event
_OPENS = {CloseReason.NEW_START: OpenReason.NEW_START, CloseReason.MAX_DURATION: OpenReason.ROLLOVER}
_CLOSES = (
    (Group.FINISH, CloseReason.TERMINAL_FINISH),
    (Group.STOPPAGE, CloseReason.TERMINAL_STOPPAGE),
    (Group.ADMINISTRATION, CloseReason.ADMINISTRATION),
    (Group.CLEARANCE, CloseReason.TERMINAL_CLEARANCE),
)
_FOLLOW_UPS = {Group.SET_PIECE, Group.FINISH, Group.STOPPAGE}


def clip_name(match: str, half: int, index: int) -> str:
    """A clip has no ID of its own: its match, half and number."""
    return f"{match}#{half} clip {index}"


# --- clips -----------------------------------------------------------------------------------------------------------


def audit_clips(view: MatchView, findings: Findings) -> None:
    """Clips cut each half whole, name events that are there, and carry the labels and targets that follow from them."""
    by_half: dict[int, list[At[ClipRow]]] = {}
    for at in view.clips:
        by_half.setdefault(at.row.half, []).append(at)
    for half, clips in by_half.items():
        clips.sort(key=lambda at: at.row.index)
        findings.looked(Check.CLIPS, len(clips))
        for at, problem in _cut(clips, half, view):
            findings.add(Check.CLIPS, CLIPS, at.line, clip_name(view.match, half, at.row.index), problem)
        if half not in view.halves:
            findings.add(Check.HALF, CLIPS, clips[0].line, f"{view.match}#{half}", "a half with clips but no event")
        _membership(clips, half, view, findings)


def _cut(clips: Sequence[At[ClipRow]], half: int, view: MatchView) -> Iterator[tuple[At[ClipRow], str]]:
    expected = 0
    for place, at in enumerate(clips):
        row, last = at.row, place == len(clips) - 1
        if row.index > expected:
            yield (
                at,
                f"clip {expected} is missing before it"
                if row.index == expected + 1
                else (f"clips {expected} to {row.index - 1} are missing before it"),
            )
        elif row.index < expected:
            yield at, "a clip of this number stands before it: they overlap"
        expected = max(expected, row.index + 1)
        if row.start != row.index * CLIP_SECONDS:
            yield at, f"starts at {row.start:g} s, clip {row.index} starts at {row.index * CLIP_SECONDS:g} s"
        whole = row.start + CLIP_SECONDS
        if (row.end != whole and not last) or not row.start < row.end <= whole:
            yield at, f"ends at {row.end:g} s, not at {whole:g} s"
        if row.last != last:
            yield (
                at,
                "is called the last of its half, more follow"
                if row.last
                else "no clip follows, yet it is not the last",
            )


def _membership(clips: Sequence[At[ClipRow]], half: int, view: MatchView, findings: Findings) -> None:
    """Each clip names the event that holds it, and has that event's actions and targets."""
    findings.looked(Check.TRANSITION, len(clips))
    findings.looked(Check.EXISTENCE, len(clips))
    labels: dict[int, list[Label]] = {}
    for each in view.halves.get(half, ()):
        for action in each.row.actions:
            labels.setdefault(view.clip_of(half, action.at.seconds), []).append(action.label)
    events = {at.row.start.seconds: at.row for at in view.halves.get(half, ())}
    missing: set[float] = set()
    for at in clips:
        row = at.row
        event = events.get(row.event)
        if event is None or event.id != row.event_id:
            if row.event not in missing:
                missing.add(row.event)
                told = f"clip {row.index} is in it, no row of events is"
                findings.add(Check.EXISTENCE, CLIPS, at.line, row.event_id, told)
            continue
        name = clip_name(view.match, half, row.index)
        first, stop = event.first, event.first + event.clips
        if not first <= row.index < stop:
            told = f"says that it is in {event.id}, which has clips {first} to {stop - 1}"
            findings.add(Check.EVENTS, CLIPS, at.line, name, told)
        target, mask = _target(event) if row.index == first else (0, None)
        if (row.transition, row.mask) != (target, mask):
            told = f"transition {row.transition}, mask {row.mask}; the events make {target}, {mask}"
            findings.add(Check.TRANSITION, CLIPS, at.line, name, told)
        mine, theirs = sorted(row.actions), sorted(labels.get(row.index, ()))
        if mine != theirs:
            told = f"has the actions {', '.join(mine) or 'none'}; its half's events have {', '.join(theirs) or 'none'}"
            findings.add(Check.ACTIONS, CLIPS, at.line, name, told)


def _target(event: EventRow) -> tuple[int, Mask | None]:
    if event.opened_by is OpenReason.HALF_START:
        return 0, Mask.HALF_START
    return (0, Mask.ROLLOVER) if event.opened_by is OpenReason.ROLLOVER else (1, None)


# --- events ----------------------------------------------------------------------------------------------------------


def audit_events(view: MatchView, findings: Findings) -> None:
    """Events hold each clip once, start and end by the rules, and say rightly what they are and when they are known."""
    for half, events in view.halves.items():
        for check in (Check.EVENTS, Check.BOUNDARIES, Check.EVENT_TYPE, Check.AVAILABILITY, Check.ACTIONS):
            findings.looked(check, len(events))
        if half not in view.sizes:
            at = events[0]
            findings.add(Check.HALF, EVENTS, at.line, at.row.id, f"is of half {half}, of which there is no clip")
            continue
        checks = ((Check.EVENTS, _partition), (Check.BOUNDARIES, _boundaries))
        for check, run in checks:
            for at, problem in run(events, half, view):
                findings.add(check, EVENTS, at.line, at.row.id, problem)
        for at in events:
            _event(at, view, findings)


def _partition(events: Sequence[At[EventRow]], half: int, view: MatchView) -> Iterator[tuple[At[EventRow], str]]:
    stop = 0
    for place, at in enumerate(events):
        row = at.row
        if row.first != stop:
            hole = row.first > stop
            yield (
                at,
                (
                    f"starts at clip {row.first}, {'no event holds' if hole else 'the event before it holds'}"
                    f" clips {min(stop, row.first)} to {max(stop, row.first) - 1}{'' if hole else ' too'}"
                ),
            )
        stop = max(stop, row.first + row.clips)
        if not 1 <= row.clips <= _LONGEST:
            yield at, f"has {row.clips} clips, an event has 1 to {_LONGEST}"
        if row.index != place:
            yield at, f"is event {row.index} of its half by its row, event {place} by its place"
        start, end = row.first * CLIP_SECONDS, view.arrival(half, row.first + row.clips - 1).seconds
        if (row.start.seconds, row.end.seconds) != (start, end):
            yield (
                at,
                f"lasts from {row.start.seconds:g} to {row.end.seconds:g} s, its clips from {start:g} to {end:g} s",
            )
    if events and stop != view.sizes[half]:
        yield events[-1], f"is the last event and ends with clip {stop - 1}, the half with clip {view.sizes[half] - 1}"


def _boundaries(events: Sequence[At[EventRow]], half: int, view: MatchView) -> Iterator[tuple[At[EventRow], str]]:
    """Each rule for itself: what may not stand inside an event, and what must stand at its two ends."""
    clips: list[list[Label]] = [[] for _ in range(view.sizes[half])]
    for at in events:
        for action in at.row.actions:
            clips[view.clip_of(half, action.at.seconds)].append(action.label)
    asks = [_asks(each) for each in clips]
    closes = [_closes(each, after) for each, after in pairwise([*clips, []])]
    for at in events:
        row = at.row
        stop = min(row.first + row.clips, len(clips))
        for index in range(row.first, stop):
            if index > row.first and asks[index]:
                yield at, f"goes on over clip {index}, which asks for a new event: {', '.join(clips[index])}"
            if index < stop - 1 and closes[index] is not None:
                yield at, f"goes on after clip {index}, which closes it: {', '.join(clips[index])}"
        if not row.first < stop:
            continue
        reason = closes[stop - 1]
        if reason is None and row.clips >= _LONGEST:
            reason = CloseReason.MAX_DURATION
        if reason is None:
            reason = CloseReason.HALF_END if stop == len(clips) else CloseReason.NEW_START
        if row.closed_by is not reason:
            yield at, f"is closed by {row.closed_by}; its clips say {reason}"
        elif reason is CloseReason.NEW_START and not asks[stop]:
            yield at, f"is closed by {reason}, but clip {stop} asks for no new event"
    previous: CloseReason | None = None
    for at in events:
        opened = OpenReason.HALF_START if previous is None else _OPENS.get(previous, OpenReason.AFTER_TERMINAL)
        if at.row.opened_by is not opened:
            yield at, f"is opened by {at.row.opened_by}; how the event before it ends says {opened}"
        previous = at.row.closed_by


def _asks(labels: Sequence[Label]) -> bool:
    """A set piece, a substitution, or a card without a stoppage beside it, asks for a new event."""
    groups = {GROUP[each] for each in labels}
    cards = any(each in CARDS for each in labels)
    administration = any(GROUP[each] is Group.ADMINISTRATION and each not in CARDS for each in labels)
    return Group.SET_PIECE in groups or administration or (cards and Group.STOPPAGE not in groups)


def _closes(labels: Sequence[Label], after: Sequence[Label]) -> CloseReason | None:
    groups, following = {GROUP[each] for each in labels}, {GROUP[each] for each in after}
    for group, reason in _CLOSES:
        if group in groups and not (group is Group.CLEARANCE and following & _FOLLOW_UPS):
            return reason
    return None


def _event(at: At[EventRow], view: MatchView, findings: Findings) -> None:
    row = at.row

    def wrong(check: Check, problem: str) -> None:
        findings.add(check, EVENTS, at.line, row.id, problem)

    settled = view.settled(row)
    if row.available_at != settled:
        wrong(Check.AVAILABILITY, f"available at {row.available_at}; the clip that closes it has arrived at {settled}")
    if len({row.half, row.start.half, row.end.half, row.available_at.half}) > 1:
        wrong(Check.HALF, f"half {row.half}, from {row.start} to {row.end}, available at {row.available_at}")
    if row.id != event_id(view.match, row.half, row.first * CLIP_SECONDS):
        wrong(Check.IDENTITY, f"its ID is not that of half {row.half}, second {row.first * CLIP_SECONDS:g}")
    for place, action in enumerate(row.actions):
        told = f"{action.label} at {action.at}"
        if action.at.half != row.half or action.available_at.half != row.half:
            wrong(Check.HALF, f"{told} is not of half {row.half}")
            continue
        index = view.clip_of(row.half, action.at.seconds)
        if not row.first <= index < row.first + row.clips:
            wrong(
                Check.ACTIONS, f"{told} lies in clip {index}, the event has {row.first} to {row.first + row.clips - 1}"
            )
        if place and action.at < row.actions[place - 1].at:
            wrong(Check.ACTIONS, f"{told} stands after one of {row.actions[place - 1].at}")
        if action.available_at != view.arrival(row.half, index):
            arrival = view.arrival(row.half, index)
            wrong(Check.AVAILABILITY, f"{told} is available at {action.available_at}, its clip arrives at {arrival}")
    kind, named, side = _kind(row, view)
    if (row.type, row.primary, row.side) != (kind, named, side):
        wrong(Check.EVENT_TYPE, f"{row.type}, {row.primary}, {row.side}; its actions make {kind}, {named}, {side}")


def _kind(row: EventRow, view: MatchView) -> tuple[EventType, Label | None, Side]:
    """The strongest action of the first clip that has any names the event."""
    if not row.actions:
        ends = row.closed_by is CloseReason.HALF_END
        return EventType.END_OF_PERIOD if ends else EventType.OPEN_PLAY, None, Side.NONE
    first = min(view.clip_of(row.half, each.at.seconds) for each in row.actions)
    there = [each for each in row.actions if view.clip_of(row.half, each.at.seconds) == first]
    strongest = min(there, key=lambda each: PRIORITY[each.label])
    return TYPE[strongest.label], strongest.label, strongest.side


# --- captions --------------------------------------------------------------------------------------------------------


def audit_captions(view: MatchView, findings: Findings) -> None:
    """Captions and events name each other, one to one, and each caption is near enough to speak of its event."""
    for check in (Check.ONE_TO_ONE, Check.ALIGNMENT, Check.EXISTENCE):
        findings.looked(check, len(view.captions))
    takers: dict[str, str] = {}
    for at in view.captions:
        row = at.row

        def wrong(check: Check, problem: str, at: At[CaptionRow] = at) -> None:
            findings.add(check, CAPTIONS, at.line, at.row.id, problem)

        if not row.id.startswith(f"{view.match}#c"):
            wrong(Check.IDENTITY, f"its ID is not one of {view.match}")
        for each in row.candidates:
            if each.event not in view.event:
                wrong(Check.EXISTENCE, f"its candidate {each.event} is no event")
            if each.taken_by is not None and each.taken_by not in view.caption:
                wrong(Check.EXISTENCE, f"its candidate went to {each.taken_by}, which is no caption")
        if (row.verdict is Verdict.ALIGNED) != (row.event is not None):
            wrong(Check.ALIGNMENT, f"the verdict is {row.verdict}, its event {row.event}")
        if row.event is None:
            continue
        event = view.event.get(row.event)
        if event is None:
            wrong(Check.EXISTENCE, f"its event {row.event} is not there")
            continue
        if row.event in takers:
            wrong(Check.ONE_TO_ONE, f"its event {row.event} is {takers[row.event]}'s too")
        takers.setdefault(row.event, row.id)
        if event.row.caption != row.id:
            wrong(Check.ONE_TO_ONE, f"says that it is aligned with {row.event}, which has {event.row.caption}")
        if row.at is None or row.at.half != event.row.half:
            wrong(Check.HALF, f"is of {row.at}, its event of half {event.row.half}")
        elif (problem := _far(row, event.row)) is not None:
            wrong(Check.ALIGNMENT, problem)
    givers: dict[str, str] = {}
    findings.looked(Check.ONE_TO_ONE, len(view.events))
    for event in view.events:
        name = event.row.caption
        if name is None:
            continue
        caption = view.caption.get(name)
        if caption is None:
            findings.add(Check.EXISTENCE, EVENTS, event.line, event.row.id, f"its caption {name} is not there")
        elif caption.row.event != event.row.id:
            told = caption.row.event or f"no event ({caption.row.verdict})"
            findings.add(Check.ONE_TO_ONE, EVENTS, event.line, event.row.id, f"has {name}, which says {told}")
        if name in givers and givers[name] != event.row.id:
            findings.add(Check.ONE_TO_ONE, EVENTS, event.line, event.row.id, f"has {name}, as {givers[name]} has")
        givers.setdefault(name, event.row.id)


def _far(row: CaptionRow, event: EventRow) -> str | None:
    """Why this caption could not go to this event."""
    assert row.at is not None  # the caller has looked
    second = row.at.seconds
    window = max(event.start.seconds - second, second - event.end.seconds, 0.0)
    spoken = [abs(each.at.seconds - second) for each in event.actions if each.label in COMPATIBLE[row.kind]]
    if not spoken:
        return f"speaks of {row.kind}, its event has no action of which such a caption speaks"
    if window > _WINDOW_SECONDS and min(spoken) > _ANCHOR_SECONDS:
        return f"lies {window:g} s outside its event and {min(spoken):g} s from what it speaks of"
    return None

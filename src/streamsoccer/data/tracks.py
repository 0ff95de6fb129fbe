"""The three tracks: which aligned events are anchors, what each may see, and what its target says.

Every anchor is an event with a caption, and its cutoff is the moment at which that event is available.

current     every aligned event.
recent      an anchor 120 s or more after the half's last recent anchor, so that summaries do not overlap, by which at
            least three events were completed within 180 s. Its target is told from the local events that the runtime
            selects and from nothing else, for what stands in no context cannot be learnt; two of them at least must
            hold something that a summary can name. An action that happened in the last 120 s outside of them too is
            left out, so that each number holds for the two minutes that the sentence speaks of; where too
            little is left, it speaks of one minute.
historical  an anchor with a related earlier record: of the same half, its event ended 90 s or more before the cutoff,
            and both captions speak of the same kind of action by the same side.

The hard negatives of a historical anchor are the other eligible records, those most like a positive first: an action of
the same kind by the other side, then the same event type, and among equals the nearest in time to a positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamsoccer.actions import CARDS, Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.match_state import Timeline
from streamsoccer.data.rewrite import NAMEABLE, RELATABLE, Text, chosen_facts, historical, recent
from streamsoccer.domain import (
    HISTORY_GAP_SECONDS,
    LOCAL_EVENTS,
    LOCAL_SECONDS,
    SUMMARY_SECONDS,
    Action,
    EventRow,
    MatchSheet,
    RecordRow,
    SampleRow,
    Side,
    Track,
    sample_id,
)

__all__ = ["HARD_NEGATIVES", "RECENT_EVENTS", "anchored_samples", "eligible", "local_events", "related"]

RECENT_EVENTS = 3
HARD_NEGATIVES = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class _Anchor:
    """An aligned event in its half: what came before it, and what follows."""

    event: EventRow
    record: RecordRow
    completed: Sequence[EventRow]  # all events of the half that are available at the cutoff, oldest first
    following: EventRow | None
    earlier: Sequence[RecordRow]  # records of earlier events of the half

    @property
    def cutoff(self) -> MatchTime:
        return self.event.available_at


def local_events(completed: Sequence[EventRow], cutoff: MatchTime) -> list[EventRow]:
    """The completed events of the half that ended within 180 s of the cutoff, oldest first."""
    return [each for each in completed if cutoff.seconds - each.end.seconds <= LOCAL_SECONDS]


def eligible(records: Sequence[RecordRow], cutoff: MatchTime) -> list[RecordRow]:
    """The records that a historical anchor may be given: same half, event ended 90 s or more before the cutoff."""
    return [
        each
        for each in records
        if each.half == cutoff.half
        and each.available_at <= cutoff
        and cutoff.seconds - each.end.seconds >= HISTORY_GAP_SECONDS
    ]


def _kind(label: Label) -> str:
    return "card" if label in CARDS else label.value


def related(now: Action, earlier: Action) -> bool:
    """Whether the two are the same kind of action by the same side; any two cards are of one kind."""
    return now.side is not Side.NONE and now.side is earlier.side and _kind(now.label) == _kind(earlier.label)


def anchored_samples(
    events: Sequence[EventRow],
    records: Mapping[str, RecordRow],
    texts: Mapping[str, Text],
    timeline: Timeline,
    sheet: MatchSheet,
    source_hash: str,
) -> list[SampleRow]:
    """The samples of one half; records and their captions' texts are keyed by event ID."""
    samples: list[SampleRow] = []
    earlier: list[RecordRow] = []
    last_recent: float | None = None
    for index, event in enumerate(events):
        record = records.get(event.id)
        if record is None:
            continue
        anchor = _Anchor(
            event=event,
            record=record,
            completed=events[: index + 1],
            following=events[index + 1] if index + 1 < len(events) else None,
            earlier=earlier,
        )
        samples.append(_current(anchor, texts[event.id], source_hash))
        if last_recent is None or anchor.cutoff.seconds - last_recent >= SUMMARY_SECONDS:
            made = _recent(anchor, timeline, sheet, source_hash)
            if made is not None:
                samples.append(made)
                last_recent = anchor.cutoff.seconds
        made = _historical(anchor, timeline, sheet, source_hash)
        if made is not None:
            samples.append(made)
        earlier.append(record)
    return samples


def _current(anchor: _Anchor, text: Text, source_hash: str) -> SampleRow:
    event, spoken = anchor.event, anchor.record.spoken
    return SampleRow(
        split=event.split,
        id=sample_id(event.id, Track.CURRENT),
        match=event.match,
        half=event.half,
        track=Track.CURRENT,
        cutoff=anchor.cutoff,
        event=event.id,
        active=None if anchor.following is None else anchor.following.id,
        state=anchor.record.state,
        home=anchor.record.home,
        away=anchor.record.away,
        sources=(event.id,),
        caption=anchor.record.caption,
        source_hash=source_hash,
        target=text.target,
        named=text.named,
        placeholders=text.placeholders,
        fields=_fields(anchor, spoken),
        writer="caption",
    )


def _fields(anchor: _Anchor, spoken: Action) -> dict[str, object]:
    return {
        "side": spoken.side.value,
        "action": spoken.label.value,
        "type": anchor.event.type.value,
        "time": [spoken.at.half, spoken.at.seconds],
        "score": list(anchor.record.state.score),
    }


def _arriving(anchor: _Anchor) -> set[tuple[Side, Label]]:
    """What the clip that closes the anchor holds itself: known at the cutoff, but of an event not yet complete."""
    following = anchor.following
    known = () if following is None else following.actions
    return {(each.side, each.label) for each in known if each.available_at <= anchor.cutoff}


def _recent(anchor: _Anchor, timeline: Timeline, sheet: MatchSheet, source_hash: str) -> SampleRow | None:
    cutoff = anchor.cutoff
    window = local_events(anchor.completed, cutoff)
    local = window[-LOCAL_EVENTS:]
    if len(window) < RECENT_EVENTS:
        return None
    for seconds in (SUMMARY_SECONDS, SUMMARY_SECONDS / 2):
        since = MatchTime(cutoff.half, max(0.0, cutoff.seconds - seconds))
        facts = _facts(window, since, _arriving(anchor))
        stated = {(side, label) for side, label, _ in facts}
        used = [event for event in local if stated & set(_named_in([event], since))]
        if len(used) >= 2:
            break
    else:
        return None
    state = timeline.at(cutoff)
    sample = sample_id(anchor.event.id, Track.RECENT)
    text = recent(sample, facts, 0 if cutoff.seconds < seconds else round(seconds / 60), state, sheet)
    told: dict[str, dict[str, int]] = {}
    for side, label, number in facts:
        told.setdefault(side.value, {})[label.value] = number
    return SampleRow(
        split=anchor.event.split,
        id=sample,
        match=anchor.event.match,
        half=anchor.event.half,
        track=Track.RECENT,
        cutoff=cutoff,
        event=anchor.event.id,
        active=None if anchor.following is None else anchor.following.id,
        local=tuple(each.id for each in local),
        state=state,
        home=sheet.home,
        away=sheet.away,
        local_positives=tuple(each.id for each in used),
        local_candidates=tuple(each.id for each in window),
        sources=tuple(each.id for each in used),
        source_hash=source_hash,
        target=text.target,
        named=text.named,
        placeholders=text.placeholders,
        fields={
            "counts": told,
            "since": [since.half, since.seconds],
            "time": [cutoff.half, cutoff.seconds],
            "score": list(state.score),
        },
    )


def _facts(
    window: Sequence[EventRow], since: MatchTime, arriving: Collection[tuple[Side, Label]]
) -> list[tuple[Side, Label, int]]:
    """What the summary states: counts of the local events, each true of the whole time and not about to change."""
    everywhere = _named_in(window, since)
    # SoccerNet labels nine in ten goals as a shot on target too: to tell both would make two shots of one.
    scorers = {side for side, label in (*everywhere, *arriving) if label is Label.GOAL}
    untold = {*arriving, *((side, Label.SHOT_ON_TARGET) for side in scorers)}
    return chosen_facts(
        {
            pair: number
            for pair, number in _named_in(window[-LOCAL_EVENTS:], since).items()
            if number == everywhere[pair] and pair not in untold
        }
    )


def _named_in(events: Iterable[EventRow], since: MatchTime) -> Counter[tuple[Side, Label]]:
    """What a summary may name of these events, and how often it happened in them since then."""
    return Counter(
        (each.side, each.label)
        for event in events
        for each in event.actions
        if each.label in NAMEABLE and each.at >= since
    )


def _historical(anchor: _Anchor, timeline: Timeline, sheet: MatchSheet, source_hash: str) -> SampleRow | None:
    cutoff, spoken = anchor.cutoff, anchor.record.spoken
    if spoken.label not in RELATABLE or _kind(spoken.label) in {_kind(label) for _, label in _arriving(anchor)}:
        return None  # while the next of its kind is under way, its number in the match is about to be wrong
    candidates = eligible(anchor.earlier, cutoff)
    positives = [each for each in candidates if related(spoken, each.spoken)]
    if not positives:
        return None
    state = timeline.at(cutoff)
    same = [label for label in Label if _kind(label) == _kind(spoken.label)]
    count = sum(state.of(spoken.side).counts.get(label, 0) for label in same)
    latest = positives[-1]
    minutes = round((cutoff.seconds - latest.spoken.at.seconds) / 60)
    sample = sample_id(anchor.event.id, Track.HISTORICAL)
    text = historical(sample, spoken.label, spoken.side, count, minutes, sheet)
    return SampleRow(
        split=anchor.event.split,
        id=sample,
        match=anchor.event.match,
        half=anchor.event.half,
        track=Track.HISTORICAL,
        cutoff=cutoff,
        event=anchor.event.id,
        active=None if anchor.following is None else anchor.following.id,
        local=tuple(each.id for each in local_events(anchor.completed, cutoff)[-LOCAL_EVENTS:]),
        state=state,
        home=sheet.home,
        away=sheet.away,
        candidates=tuple(each.id for each in candidates),
        positives=tuple(each.id for each in positives),
        hard_negatives=tuple(each.id for each in _hard_negatives(candidates, positives)),
        sources=(*(each.event for each in positives), anchor.event.id),
        source_hash=source_hash,
        target=text.target,
        named=text.named,
        placeholders=text.placeholders,
        fields={**_fields(anchor, spoken), "count": count, "minutes": minutes, "earlier": latest.event},
    )


def _hard_negatives(candidates: Sequence[RecordRow], positives: Sequence[RecordRow]) -> list[RecordRow]:
    chosen = {each.id for each in positives}
    kinds = {_kind(each.spoken.label) for each in positives}
    types = {each.type for each in positives}

    def unlike(record: RecordRow) -> tuple[int, float, str]:
        nearness = min(abs(record.end.seconds - each.end.seconds) for each in positives)
        likeness = 0 if _kind(record.spoken.label) in kinds else 1 if record.type in types else 2
        return likeness, nearness, record.id

    return sorted((each for each in candidates if each.id not in chosen), key=unlike)[:HARD_NEGATIVES]

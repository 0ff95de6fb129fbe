"""One match, from its folder to its rows: read, eventize, align, fold the state, and write the three tracks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from streamsoccer.actions import Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.align import Alignment, align, named_takers
from streamsoccer.data.captions import SourceCaption
from streamsoccer.data.eventizer import clip_count, clip_end, eventize, transitions
from streamsoccer.data.match_state import Timeline
from streamsoccer.data.placeholders import find
from streamsoccer.data.rewrite import Text, current
from streamsoccer.data.soccernet import Game
from streamsoccer.data.tracks import anchored_samples
from streamsoccer.domain import (
    CLIP_SECONDS,
    Action,
    CaptionRow,
    ClipRow,
    Event,
    EventRow,
    MatchSheet,
    RecordRow,
    SampleRow,
    Side,
    Split,
    event_id,
    record_id,
)

__all__ = ["MatchRows", "build_match"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRows:
    """The rows of one match for each manifest, and what is counted of them."""

    clips: list[ClipRow]
    events: list[EventRow]
    captions: list[CaptionRow]
    records: list[RecordRow]
    samples: list[SampleRow]
    counts: Counter[str] = field(default_factory=Counter)


def build_match(game: Game, split: Split, legacy: Split, source_hash: str) -> MatchRows:
    """All rows of one match; they depend on its own sources and on its split, and on nothing else."""
    spans = {half: eventize(game.actions[half], seconds, half) for half, seconds in game.durations.items()}
    ids = [f"{game.match}#c{place:03d}" for place in range(len(game.captions))]
    timeline = Timeline(action for each in game.actions.values() for action in each)
    alignments, taken = align(game.match, game.captions, spans, timeline)
    events = {half: _event_rows(game.match, split, each, taken, ids) for half, each in spans.items()}
    records: dict[str, RecordRow] = {}
    texts: dict[str, Text] = {}
    for row in (row for each in events.values() for row in each):
        if row.caption is not None:
            place = taken[row.id]
            caption = game.captions[place]
            found = find(caption.anonymized, game.sheet, caption.description, caption.identified)
            texts[row.id] = text = current(caption.anonymized, caption.description, found)
            records[row.id] = _record(row, caption, alignments[place], text, timeline, legacy, game.sheet)
    samples = [
        sample
        for each in events.values()
        for sample in anchored_samples(each, records, texts, timeline, game.sheet, source_hash)
    ]
    clips = [clip for half, seconds in game.durations.items() for clip in _clips(events[half], seconds)]
    captions = [
        _caption_row(game.match, split, caption, name, alignment)
        for caption, name, alignment in zip(game.captions, ids, named_takers(alignments, taken, ids), strict=True)
    ]
    rows = MatchRows(
        clips=clips,
        events=[row for each in events.values() for row in each],
        captions=captions,
        records=list(records.values()),
        samples=samples,
    )
    rows.counts.update(_counts(rows, sum(len(each) for each in game.actions.values())))
    return rows


def _event_rows(
    match: str, split: Split, events: Sequence[Event], taken: Mapping[str, int], ids: Sequence[str]
) -> list[EventRow]:
    rows = []
    for index, event in enumerate(events):
        name = event_id(match, event.half, event.start.seconds)
        place = taken.get(name)
        given = {each: getattr(event, each) for each in _EVENT_FIELDS}
        caption = None if place is None else ids[place]
        rows.append(EventRow(split=split, id=name, match=match, index=index, caption=caption, **given))
    return rows


_EVENT_FIELDS = tuple(each.name for each in fields(Event))


def _clips(events: Sequence[EventRow], duration: float) -> Iterable[ClipRow]:
    """The clips of one half with their targets, in order."""
    last = clip_count(duration) - 1
    targets = iter(transitions(events))
    for event in events:
        labels: dict[int, list[Label]] = {}
        for action in event.actions:
            index = min(int(action.at.seconds // CLIP_SECONDS), last)
            labels.setdefault(index, []).append(action.label)
        for index in range(event.first, event.first + event.clips):
            target, mask = next(targets)
            yield ClipRow(
                split=event.split,
                match=event.match,
                half=event.half,
                index=index,
                start=index * CLIP_SECONDS,
                end=clip_end(index, duration),
                event=event.start.seconds,
                transition=target,
                mask=mask,
                actions=tuple(labels.get(index, ())),
                last=index == last,
            )


def _record(
    row: EventRow,
    caption: SourceCaption,
    alignment: Alignment,
    text: Text,
    timeline: Timeline,
    legacy: Split,
    sheet: MatchSheet,
) -> RecordRow:
    return RecordRow(
        split=row.split,
        legacy_split=legacy,
        id=record_id(row.match, row.half, row.start.seconds),
        match=row.match,
        half=row.half,
        event=row.id,
        caption=row.caption or "",
        start=row.start,
        end=row.end,
        available_at=row.available_at,
        type=row.type,
        primary=row.primary,
        side=row.side,
        actions=tuple(each.label for each in row.actions),
        kind=caption.kind,
        spoken=_spoken(row, caption.at, alignment),
        state=timeline.at(row.available_at),
        text=text.target,
        named=text.named,
        placeholders=text.placeholders,
        source=caption.source,
        home=sheet.home,
        away=sheet.away,
    )


def _spoken(row: EventRow, at: MatchTime | None, alignment: Alignment) -> Action:
    """The action that the alignment is anchored at."""
    anchor = next(each.anchor for each in alignment.candidates if each.event == row.id)
    second = 0.0 if at is None else at.seconds
    return min((each for each in row.actions if each.label is anchor), key=lambda each: abs(each.at.seconds - second))


def _caption_row(match: str, split: Split, caption: SourceCaption, name: str, alignment: Alignment) -> CaptionRow:
    return CaptionRow(
        split=split,
        id=name,
        match=match,
        file=caption.file,
        source=caption.source,
        at=caption.at,
        time_key=caption.time_key,
        description=caption.description,
        anonymized=caption.anonymized,
        identified=caption.identified,
        important=caption.important,
        visible=caption.visible,
        kind=caption.kind,
        kind_source=caption.kind_source,
        label=caption.label,
        verdict=alignment.verdict,
        event=alignment.event,
        candidates=alignment.candidates,
        extra=caption.extra,
    )


def _counts(rows: MatchRows, actions: int) -> Counter[str]:
    """What the summary adds up over matches; 'event_clips.N' counts events of N clips."""
    counts: Counter[str] = Counter(
        halves=len({clip.half for clip in rows.clips}),
        clips=len(rows.clips),
        actions=actions,
        events=len(rows.events),
        captions=len(rows.captions),
        records=len(rows.records),
        samples=len(rows.samples),
        captioned_matches=int(bool(rows.captions)),
    )
    counts.update(f"closed_by.{each.closed_by.value}" for each in rows.events)
    counts.update(f"event_clips.{each.clips}" for each in rows.events)
    counts.update(f"verdict.{each.verdict.value}" for each in rows.captions)
    counts.update(f"track.{each.track.value}" for each in rows.samples)
    for record in rows.records:
        team = next((each.side for each in record.placeholders if each.token == "[TEAM]"), Side.NONE)
        if Side.NONE not in (team, record.spoken.side):
            counts["side.same" if team is record.spoken.side else "side.other"] += 1
    return counts

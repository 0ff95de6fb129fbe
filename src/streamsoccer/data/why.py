"""Why a caption went to its event or to none, what an event holds, and what a sample was made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

from streamsoccer.data.align import RANKING
from streamsoccer.data.manifests import read_captions, read_events, read_records, read_samples
from streamsoccer.domain import CaptionRow, EventRow, RecordRow, SampleRow, Verdict
from streamsoccer.errors import UsageError

__all__ = ["explain"]

_REASONS = {
    Verdict.ALIGNED: "aligned",
    Verdict.NO_TEXT: "no event: its text is empty or no sentence",
    Verdict.NO_TIME: "no event: none of its time fields holds a time",
    Verdict.UNKNOWN_HALF: "no event: the match has no such half",
    Verdict.NO_CLASS_ACTION: "no event: SoccerNet labels no action of which a caption of this class speaks",
    Verdict.NO_CANDIDATE: "no event: none lies within 15 s of it",
    Verdict.NO_COMPATIBLE_ACTION: "no event: those near it hold no action of which a caption of this class speaks",
    Verdict.SCORE_CONTRADICTED: "no event: it states a score that was not the score when those events were known",
    Verdict.TAKEN: "no event: each one that it could speak of went to a better caption",
}


class _Named(Protocol):
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=_Named)


def explain(out: Path, name: str) -> list[str]:
    """Lines about the caption, event, sample or record of this ID, or of the only ID that ends so."""
    if (caption := _find(read_captions(out), name)) is not None:
        return list(_caption(caption))
    if (event := _find(read_events(out), name)) is not None:
        return list(_event(out, event))
    if (sample := _find(read_samples(out), name)) is not None:
        return list(_sample(out, sample))
    if (record := _find(read_records(out), name)) is not None:
        return list(_record(record))
    raise UsageError(
        f"no caption, event, sample or record is called {name!r}",
        where=out,
        remedy="IDs look like 'league/season/game#c012', '...#1-e0168' or '...#1-e0168:current'; a clear end will do",
    )


def _find(rows: Iterator[N], name: str) -> N | None:
    ending: list[N] = []
    for row in rows:
        if row.id == name:
            return row
        if row.id.endswith(name):
            ending.append(row)
    if len(ending) > 1:
        some = ", ".join(repr(each.id) for each in ending[:3])
        raise UsageError(f"{len(ending)} IDs end with {name!r}: {some} ...", remedy="give more of the ID")
    return ending[0] if ending else None


def _caption(row: CaptionRow) -> Iterator[str]:
    yield f"caption {row.id}  ({row.source}, {row.file})"
    yield f"  at {row.at or 'no time'}" + (f" by {row.time_key}" if row.time_key else "")
    yield f"  speaks of: {row.kind.value} (from the {row.kind_source})"
    yield f"  {row.anonymized or row.description or '(no text)'}"
    yield f"  {_REASONS[row.verdict]}" + (f" with {row.event}" if row.event else "")
    if not row.candidates:
        return
    yield f"  candidates, best first; each key is {', '.join(RANKING)}; lower is better:"
    for each in row.candidates:
        key = ", ".join(f"{part:g}" for part in each.key)
        fate = (
            " <- this one" if each.event == row.event else f"; went to {each.taken_by}" if each.taken_by else "; free"
        )
        yield f"    {each.event}  {each.path}, {each.anchor} {each.anchor_distance:g} s away  ({key}){fate}"


def _event(out: Path, row: EventRow) -> Iterator[str]:
    yield f"event {row.id}  {row.type.value}, {row.clips} clips"
    yield f"  {row.start} to {row.end}; starts by {row.opened_by.value}, ends by {row.closed_by.value}"
    yield f"  available at {row.available_at}: the end of the clip whose arrival closes it"
    for action in row.actions:
        unseen = "" if action.visible else ", not shown"
        yield f"    {action.at}  {action.label.value} ({action.side.value}{unseen})"
    yield f"  caption: {row.caption or 'none'}"
    for caption in read_captions(out):
        for each in caption.candidates:
            if each.event == row.id:
                here = "aligned" if caption.event == row.id else caption.verdict.value
                key = ", ".join(f"{part:g}" for part in each.key)
                yield f"    {caption.id}  {caption.kind.value} at {caption.at}  ({key})  {here}"


def _record(row: RecordRow) -> Iterator[str]:
    yield f"record {row.id}  of {row.event}, from {row.caption}"
    yield f"  available at {row.available_at}; speaks of {row.spoken.label.value} by {row.spoken.side.value}"
    yield f"  score by then {row.state.score[0]}-{row.state.score[1]}"
    yield f"  {row.text}"


def _sample(out: Path, row: SampleRow) -> Iterator[str]:
    yield f"sample {row.id}  {row.track.value}, {row.split.value}"
    yield f"  cutoff {row.cutoff}; score by then {row.state.score[0]}-{row.state.score[1]}"
    yield f"  target ({row.writer}): {row.target}"
    if row.rules_target is not None:
        yield f"  by rules it was: {row.rules_target}"
    yield f"  fields: {_plain(row.fields)}"
    for title, names in (
        ("active at the cutoff", (row.active,) if row.active else ()),
        ("selected local events", row.local),
        ("the target speaks of", row.sources),
        ("positives", row.positives),
        ("hard negatives", row.hard_negatives),
        ("eligible records", row.candidates),
    ):
        if names:
            yield f"  {title}: {', '.join(name.removeprefix(row.match) for name in names)}"
    if row.caption is not None:
        caption = _find(read_captions(out), row.caption)
        if caption is not None:
            yield from _caption(caption)


def _plain(fields: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields.items())

"""Checks on texts and fields: a target states what the actions say, a placeholder stands for the right side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamsoccer.actions import COMPATIBLE, Label
from streamsoccer.data.audit_match import FILES, At, MatchView
from streamsoccer.data.findings import Check, Findings
from streamsoccer.data.stated import PLACEHOLDER, Stated, kind_of, loosely, read
from streamsoccer.domain import (
    SUMMARY_SECONDS,
    CaptionRow,
    EventRow,
    Placeholder,
    RecordRow,
    SampleRow,
    Side,
    Track,
)

__all__ = ["audit_targets"]

RECORDS, SAMPLES = FILES["records"], FILES["samples"]
Wrong = Callable[[Check, str], None]
Facts = Mapping[tuple[Side, str], int]


def audit_targets(view: MatchView, findings: Findings) -> None:
    """Texts, placeholders and fields of all records and samples of a match."""
    findings.looked(Check.TEXT, len(view.records) + len(view.samples))
    findings.looked(Check.PLACEHOLDERS, len(view.records) + len(view.samples))
    findings.looked(Check.FIELDS, len(view.samples))
    for at in view.records:
        _record(at.row, view, _writer(findings, RECORDS, at))
    for each in view.samples:
        _sample(each.row, view, _writer(findings, SAMPLES, each), findings)
    _team_sides(view, findings)


def _writer(findings: Findings, file: str, at: At[RecordRow] | At[SampleRow]) -> Wrong:
    return lambda check, problem: findings.add(check, file, at.line, at.row.id, problem)


# --- placeholders ----------------------------------------------------------------------------------------------------


def _placeholders(text: str, named: str, placeholders: Sequence[Placeholder], wrong: Wrong) -> None:
    tokens = PLACEHOLDER.findall(text)
    told = [each.token for each in placeholders]
    if tokens != told:
        wrong(Check.PLACEHOLDERS, f"the text has {' '.join(tokens) or 'none'}, the row {' '.join(told) or 'none'}")
    for each in placeholders:
        if _plain(each.name) not in _plain(named):
            wrong(Check.PLACEHOLDERS, f"{each.token} is {each.name!r}, which the named text does not have")


def _plain(text: str) -> str:
    return " ".join(text.split())


def _filled(text: str, placeholders: Sequence[Placeholder]) -> str:
    names = iter([each.name or each.token for each in placeholders])
    return PLACEHOLDER.sub(lambda token: next(names, token[0]), text)


def _team_sides(view: MatchView, findings: Findings) -> None:
    """A team's name stands for one side in all texts of a match; the rows that differ from most are named."""
    seen: dict[str, Counter[Side]] = defaultdict(Counter)
    rows: list[tuple[str, int, str, tuple[Placeholder, ...]]] = [
        *((RECORDS, at.line, at.row.id, at.row.placeholders) for at in view.records),
        *((SAMPLES, at.line, at.row.id, at.row.placeholders) for at in view.samples),
    ]
    findings.looked(Check.TEAM_SIDE, len(rows))
    for *_, placeholders in rows:
        for each in placeholders:
            if each.token == "[TEAM]" and each.name and each.side is not Side.NONE:
                seen[each.name][each.side] += 1
    contexts: list[tuple[str, int, RecordRow | SampleRow]] = [
        *((RECORDS, at.line, at.row) for at in view.records),
        *((SAMPLES, at.line, at.row) for at in view.samples),
    ]
    usual = Counter((row.home, row.away) for *_, row in contexts)
    for file, line, row in contexts:
        playing = (row.home, row.away)
        if 2 * usual[playing] <= usual.total():
            others = max(usual, key=lambda each: (usual[each], each != playing))
            here, there = (" and ".join(map(repr, names)) for names in (playing, others))
            told = f"its context has {here}; elsewhere in the match {there} play"
            findings.add(Check.TEAM_SIDE, file, line, row.id, told)
    for file, line, name, placeholders in rows:
        for each in placeholders:
            sides = seen.get(each.name) if each.token == "[TEAM]" else None
            if sides is not None and each.side is not Side.NONE and 2 * sides[each.side] <= sides.total():
                told = (
                    f"{each.name!r} is {each.side} here and {each.side.other} in {sides[each.side.other]} other places"
                )
                findings.add(Check.TEAM_SIDE, file, line, name, told)


# --- captions and records --------------------------------------------------------------------------------------------


def _record(row: RecordRow, view: MatchView, wrong: Wrong) -> None:
    _placeholders(row.text, row.named, row.placeholders, wrong)
    caption = view.caption.get(row.caption)
    if caption is not None:
        _as_source(row.text, row.named, caption.row, wrong)
        if (row.kind, row.source) != (caption.row.kind, caption.row.source):
            wrong(
                Check.FIELDS, f"{row.kind} of {row.source}; its caption is {caption.row.kind} of {caption.row.source}"
            )
    if row.spoken.label not in COMPATIBLE[row.kind]:
        wrong(Check.FIELDS, f"a caption of class {row.kind} does not speak of {row.spoken.label}")


def _as_source(text: str, named: str | None, caption: CaptionRow, wrong: Wrong) -> None:
    """A caption's text is the source's own, its spaces put in order."""
    anonymized, description = (" ".join(each.split()) for each in (caption.anonymized, caption.description))
    if text != (anonymized or description):
        wrong(Check.TEXT, f"the text is not that of {caption.id}: {_where(text, anonymized or description)}")
    if named is not None and named != (description or anonymized):
        wrong(Check.TEXT, f"the named text is not that of {caption.id}: {_where(named, description or anonymized)}")


def _where(text: str, right: str) -> str:
    """The first place at which two texts part."""
    same = next((i for i, (a, b) in enumerate(zip(text, right, strict=False)) if a != b), min(len(text), len(right)))
    start = max(0, same - 12)
    return f"{text[start : same + 16]!r}, not {right[start : same + 16]!r}"


# --- samples ---------------------------------------------------------------------------------------------------------


def _sample(row: SampleRow, view: MatchView, wrong: Wrong, findings: Findings) -> None:
    _placeholders(row.target, row.named, row.placeholders, wrong)
    event = view.event.get(row.event)
    record = next((at.row for at in view.records if at.row.event == row.event), None)
    expected = _fields(row, view, None if event is None else event.row, record)
    for name in sorted({*expected, *row.fields}):
        if name not in row.fields:
            wrong(Check.FIELDS, f"the field {name!r} is missing")
        elif name == "counts":
            _told_counts(row, view, wrong)
        elif name not in expected:
            wrong(Check.FIELDS, f"the field {name!r} is none of the track's")
        elif not _same(row.fields[name], expected[name]):
            wrong(Check.FIELDS, f"{name} is {row.fields[name]!r}; the actions say {expected[name]!r}")
    rephrased = row.rules_target is not None
    if rephrased != (row.writer not in ("caption", "rules")) or (row.writer == "caption") != (
        row.track is Track.CURRENT and not rephrased
    ):
        wrong(Check.REPHRASING, f"writer {row.writer!r}, {'with' if rephrased else 'without'} the rules' sentence")
        return
    rules = row.target if row.rules_target is None else row.rules_target
    if row.track is Track.CURRENT:
        caption = view.caption.get(row.caption or "")
        if caption is not None:
            _as_source(rules, None if rephrased else row.named, caption.row, wrong)
        if record is not None and not rephrased and row.placeholders != record.placeholders:
            wrong(Check.PLACEHOLDERS, f"its placeholders are not those of {record.id}")
    elif row.track is Track.RECENT:
        _states_recent(rules, None if rephrased else row.placeholders, row, wrong, Check.TEXT)
    else:
        _states_historical(rules, row, wrong, Check.TEXT)
    filled = _filled(row.target, row.placeholders)
    if filled != row.named and (row.track is not Track.CURRENT or rephrased):
        wrong(Check.PLACEHOLDERS, f"the named text has other names: {_where(row.named, filled)}")
    if rephrased:
        findings.looked(Check.REPHRASING)
        _rephrased(rules, row, wrong)


def _fields(row: SampleRow, view: MatchView, event: EventRow | None, record: RecordRow | None) -> dict[str, Any]:
    """The fields as the actions give them, as far as what the row names is there; counts are looked at one by one."""
    cutoff = row.cutoff
    fields: dict[str, Any] = {"score": list(view.score_at(cutoff))}
    if row.track is Track.RECENT:
        return {**fields, "since": _since(row), "time": [cutoff.half, cutoff.seconds], "counts": None}
    if record is None or event is None:
        return {**row.fields, **fields}
    spoken = record.spoken
    fields |= {"side": spoken.side.value, "action": spoken.label.value, "type": event.type.value}
    fields["time"] = [spoken.at.half, spoken.at.seconds]
    if row.track is Track.HISTORICAL:
        counts = view.counts_at(cutoff)
        kind = kind_of(spoken.label)
        fields["count"] = sum(
            number for (side, label), number in counts.items() if side is spoken.side and kind_of(label) == kind
        )
        positives = [view.record[name].row for name in row.positives if name in view.record]
        latest = max(positives, key=lambda each: each.end, default=None)
        if latest is None:
            return {**row.fields, **fields}
        fields["earlier"] = latest.event
        fields["minutes"] = round((cutoff.seconds - latest.spoken.at.seconds) / 60)
    return fields


def _same(told: Any, right: Any) -> bool:
    if isinstance(told, list) and isinstance(right, list):
        return len(told) == len(right) and all(_same(a, b) for a, b in zip(told, right, strict=True))
    if isinstance(told, int | float) and isinstance(right, int | float):
        return abs(told - right) < 1e-6
    return bool(told == right)


def _minutes_of(row: SampleRow) -> int:
    """A summary speaks of two minutes or of one; which of them, its field says."""
    one = SUMMARY_SECONDS / 2
    short = _same(row.fields.get("since"), [row.cutoff.half, max(0.0, row.cutoff.seconds - one)])
    return round(one / 60) if short else round(SUMMARY_SECONDS / 60)


def _since(row: SampleRow) -> list[float]:
    return [row.cutoff.half, max(0.0, row.cutoff.seconds - 60 * _minutes_of(row))]


def _in_window(view: MatchView, row: SampleRow) -> Counter[tuple[Side, Label]]:
    """What is known at the cutoff to have happened in the time that the summary speaks of."""
    half, since = _since(row)
    return Counter(
        (each.side, each.label)
        for each in view.actions_by(row.cutoff)
        if each.at.half == half and each.at.seconds >= since
    )


def _counts(row: SampleRow) -> dict[tuple[Side, Label], int] | None:
    """The counts that a summary's fields tell, or nothing where they are not well formed."""
    told = row.fields.get("counts")
    counts: dict[tuple[Side, Label], int] = {}
    try:
        for side, labels in dict(told or {}).items():
            for label, number in dict(labels).items():
                counts[Side(side), Label(label)] = int(number)
    except (TypeError, ValueError):
        return None
    return counts


def _told_counts(row: SampleRow, view: MatchView, wrong: Wrong) -> None:
    counts = _counts(row)
    if not counts:
        wrong(Check.FIELDS, f"counts {row.fields.get('counts')!r} are no numbers by side and action")
        return
    happened = _in_window(view, row)
    shown: Counter[tuple[Side, Label]] = Counter()
    for name in row.local:
        if name in view.event:
            since = _since(row)[1]
            shown.update((a.side, a.label) for a in view.event[name].row.actions if a.at.seconds >= since)
    for (side, label), number in counts.items():
        if happened[side, label] != number:
            wrong(Check.FIELDS, f"counts {number} {label} ({side}); the actions make {happened[side, label]}")
        elif shown[side, label] != number:
            wrong(Check.PROVENANCE, f"counts {number} {label} ({side}); its local events hold {shown[side, label]}")


# --- what texts state ------------------------------------------------------------------------------------------------


def _states_recent(
    text: str, placeholders: Sequence[Placeholder] | None, row: SampleRow, wrong: Wrong, check: Check
) -> None:
    """A summary's words and its counts are the same, each by the side that its placeholder stands for."""
    counts = _counts(row)
    if not counts:
        return  # said where the fields are looked at
    stated = read(text)
    right = {(side, label.value): number for (side, label), number in counts.items()}
    if placeholders is None:  # whose placeholders these were is not kept: each team's facts must be those of one side
        by_place: dict[int, dict[str, int]] = {}
        for place, label, number in stated.facts:
            by_place.setdefault(place, {})[label] = number
        by_side: dict[Side, dict[str, int]] = {}
        for (side, label), number in right.items():
            by_side.setdefault(side, {})[label] = number
        same = sorted(map(str, map(_sorted, by_place.values()))) == sorted(map(str, map(_sorted, by_side.values())))
        if not same:
            wrong(check, f"states {by_place}; its counts are {row.fields['counts']}")
    else:
        told = stated.by_side(placeholders)
        for key in sorted({*told, *right}):
            if told.get(key, 0) != right.get(key, 0):
                wrong(check, f"states {told.get(key, 0)} {key[1]} ({key[0]}); its counts say {right.get(key, 0)}")
    for place, first, second in stated.scores:
        score = row.fields.get("score", [])
        leader = placeholders[place].side if placeholders is not None and 0 <= place < len(placeholders) else None
        mine = [second, first] if leader is Side.AWAY else [first, second]
        if sorted(mine) != sorted(score) or (placeholders is not None and mine != score):
            wrong(check, f"states the score {first}-{second}{f' to {leader}' if leader else ''}; it is {score}")
    minutes = [_minutes_of(row)] if row.cutoff.seconds >= 60 * _minutes_of(row) else []
    if stated.minutes != minutes or stated.ranks:
        wrong(check, f"states {_numbers(stated.minutes)} minutes, it speaks of those since {row.fields.get('since')}")


def _sorted(facts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(facts.items())


def _states_historical(text: str, row: SampleRow, wrong: Wrong, check: Check) -> None:
    """The action, its number in the match, and the minutes since the earlier one."""
    stated = read(text)
    fields = row.fields
    action = fields.get("action")
    kind = kind_of(Label(action)) if action in list(Label) else None
    if stated.named != {kind}:
        wrong(check, f"speaks of {', '.join(sorted(stated.named)) or 'nothing'}, its action is {action}")
    if stated.ranks != [fields.get("count")]:
        wrong(check, f"states the number {_numbers(stated.ranks)}, its count is {fields.get('count')}")
    if stated.minutes != [fields.get("minutes")]:
        wrong(check, f"states {_numbers(stated.minutes)} minutes, its field is {fields.get('minutes')}")
    if stated.scores or stated.facts:
        wrong(check, "states a score or a count that none of its fields holds")
    sides = {each.side.value for each in row.placeholders if each.token == "[TEAM]"}
    if sides != {fields.get("side")}:
        wrong(check, f"its [TEAM] is {' and '.join(sorted(sides)) or 'not there'}, its side {fields.get('side')}")


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _rephrased(rules: str, row: SampleRow, wrong: Wrong) -> None:
    """A rephrased text has the same teams, numbers, score and actions; by side, where its words can be read so far."""
    if Counter(PLACEHOLDER.findall(rules)) != Counter(PLACEHOLDER.findall(row.target)):
        wrong(Check.REPHRASING, "has other placeholders than the rules' sentence")
    before, after = loosely(rules), loosely(row.target)
    for what in sorted({*before, *after}):
        if before[what] != after[what]:
            wrong(Check.REPHRASING, f"{what}: {after[what]} times, in the rules' sentence {before[what]} times")
    if row.track is Track.CURRENT:
        return
    was, now = _shape(read(rules)), _shape(read(row.target))
    if row.track is Track.RECENT and was == now:
        _states_recent(row.target, row.placeholders, row, wrong, Check.REPHRASING)
    if row.track is Track.HISTORICAL:
        sides = {each.side.value for each in row.placeholders if each.token == "[TEAM]"}
        if sides != {row.fields.get("side")}:
            wrong(Check.REPHRASING, f"its [TEAM] is {' and '.join(sorted(sides))}, its side {row.fields.get('side')}")
        retold = read(row.target)
        for told, name in ((retold.ranks, "count"), (retold.minutes, "minutes")):
            if told and told != [row.fields.get(name)]:
                wrong(Check.REPHRASING, f"states {_numbers(told)}, its {name} is {row.fields.get(name)}")


def _shape(stated: Stated) -> Counter[str]:
    """Which actions were read with a number: where a rephrasing has as many, it can be read side by side."""
    return Counter(label for _, label, _ in stated.facts)

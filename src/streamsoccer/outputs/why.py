"""Why a line was said, and from what; or why there was silence at a time: read from the journal alone.

streamsoccer why JOURNAL 1-u0724        a line; 1-e0712 an event, 1-r0712 a record
streamsoccer why JOURNAL '1 - 12:04'    what was decided then
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamsoccer.clock import MatchTime, format_seconds
from streamsoccer.errors import UsageError
from streamsoccer.journal_reader import JournalReader, corrected
from streamsoccer.journal_rows import (
    Closure,
    Correction,
    Decided,
    Evidence,
    EvidenceKind,
    Latency,
    Line,
    Note,
    Progress,
    Written,
)
from streamsoccer.record import Record

__all__ = ["explain"]


def explain(reader: JournalReader, what: str) -> list[str]:
    """Lines for a person: of an ID (its part after '#' will do), or of a time 'H - MM:SS'."""
    journal = _Journal(reader)
    name = what.strip()
    for kind, ids in (("line", journal.lines), ("event", journal.events), ("record", journal.records)):
        found = [each for each in ids if each == name or each.rpartition("#")[2] == name]
        if found:
            return list({"line": journal.line, "event": journal.event, "record": journal.record}[kind](found[0]))
    try:
        at = MatchTime.parse(name)
    except UsageError as error:
        example = next(iter(journal.lines), "MATCH#1-u0724").rpartition("#")[2]
        raise UsageError(
            f"there is no line, event or record {what!r}",
            where=reader.path,
            remedy=f"an ID as in {example}, or a time as in '1 - 12:04'",
        ) from error
    return list(journal.moment(at))


class _Journal:
    """All rows of a journal by what they are about."""

    def __init__(self, reader: JournalReader) -> None:
        self.path = reader.path
        self.rows: dict[int, list[Written]] = {}
        self.lines: dict[str, tuple[int, Line]] = {}
        self.events: dict[str, tuple[int, Closure]] = {}
        self.records: dict[str, tuple[int, Record]] = {}
        self.changes: dict[str, list[Correction]] = {}
        for each in reader.since(0, limit=1 << 40):
            self.rows.setdefault(each.step, []).append(each)
            match each.row:
                case Line():
                    self.lines[each.row.id] = (each.step, each.row)
                case Closure():
                    self.events[each.row.id] = (each.step, each.row)
                case Record():
                    self.records[each.row.id] = (each.step, each.row)
                case Correction():
                    self.changes.setdefault(each.row.target, []).append(each.row)
                case _:
                    pass

    # --- a line ---

    def line(self, name: str) -> Iterator[str]:
        step, line = self.lines[name]
        shown = corrected(line, self.changes.get(name, ()))
        yield f"{line.cutoff}  {line.track.value}  {line.status.value}{f': {line.reason}' if line.reason else ''}"
        yield f"  text        {shown.text or '(none)'}"
        if line.text and line.text != shown.text:
            yield f"  generated   {line.text}"
        for change in shown.corrections:
            yield f"  corrected   {change.kind.value}{f' ({change.why})' if change.why else ''}"
        yield f"  cutoff      {line.cutoff}: nothing that came later was used"
        yield from self._decision(step, "spoken because")
        yield "  said from"
        for each in line.evidence:
            yield f"    {self._evidence(each)}"
        if line.dropped:
            yield f"    {line.dropped} retrieved records had no room in the prompt"
        yield from self._known(step)
        yield from self._notes(step)
        if line.latency.segments:
            yield f"  delay       {_delay(line.latency)}"

    def _evidence(self, each: Evidence) -> str:
        told = f"{each.kind.value:<7} {_span(each.half, each.start, each.end)}"
        told += f"  {each.frames} frames" if each.frames else ""
        told += f"  score {each.score:.3f}" if each.score is not None else ""
        told += f"  {each.ref.rpartition('#')[2]}"
        if each.kind is EvidenceKind.EVENT and each.ref in self.events:
            told += f"  {_about(self.events[each.ref][1])}"
        if each.kind is EvidenceKind.RECORD and each.ref in self.records:
            told += f"  {self.records[each.ref][1].text}"
        return told

    # --- a moment ---

    def moment(self, at: MatchTime) -> Iterator[str]:
        step = self._step(at)
        progress = self._progress(step)
        said = [each.row for each in self.rows[step] if isinstance(each.row, Line)]
        if said:
            yield from self.line(said[0].id)
            return
        what = {"clip": "clip", "gap": "gap", "half_end": "end of the half"}[progress.kind.value]
        span = _span(progress.half, progress.start, progress.end)
        yield f"{progress.cutoff}  silence  ({what} {span})"
        yield from self._decision(step, "silent because")
        for each in self.rows[step]:
            if isinstance(each.row, Closure):
                yield f"  closed      {self._closed(each.row)}"
        if progress.active is not None and progress.active_start is not None:
            span = _span(progress.half, progress.active_start, progress.end)
            sure = "" if progress.transition is None else f", a transition at {progress.transition:.2f}"
            yield f"  going on    {progress.active.rpartition('#')[2]}  {span}{sure}"
        yield f"  waiting     {progress.pending} captions"
        yield from self._known(step)
        yield from self._notes(step)
        yield from self._around(progress.cutoff)

    def _step(self, at: MatchTime) -> int:
        """The step that took in this moment, or whose line was printed with this time: a decision is of its clip's end,
        which is where the next clip starts."""
        best = None
        for step, line in self.lines.values():
            if line.cutoff == at or (line.cutoff.half, float(int(line.cutoff.seconds))) == (at.half, at.seconds):
                return step
        for step, rows in sorted(self.rows.items()):
            for each in rows:
                if isinstance(each.row, Progress) and each.row.half == at.half and each.row.start <= at.seconds:
                    best = step
        if best is None or self._progress(best).end + 60 < at.seconds:
            raise UsageError(f"nothing was taken in at {at}", where=self.path, remedy="name a time of the match")
        return best

    def _around(self, at: MatchTime) -> Iterator[str]:
        said = [line for _, line in self.lines.values() if corrected(line, self.changes.get(line.id, ())).visible]
        before = max((each for each in said if each.cutoff <= at), key=lambda each: each.cutoff, default=None)
        after = min((each for each in said if each.cutoff > at), key=lambda each: each.cutoff, default=None)
        for name, line in (("before", before), ("after", after)):
            if line is not None and line.cutoff.half == at.half:
                yield f"  {name:<10}  {line.cutoff}  {line.id.rpartition('#')[2]}  {line.said or line.text}"

    # --- an event, a record ---

    def event(self, name: str) -> Iterator[str]:
        step, closure = self.events[name]
        yield f"{name}"
        yield f"  event       {self._closed(closure)}"
        yield from self._decision(step, "then decided")
        for _, record in self.records.values():
            if record.event == name:
                yield f"  record      {record.id.rpartition('#')[2]}, ready at {record.ready_at}: {record.text}"
        for _, line in self.lines.values():
            if any(each.ref == name for each in line.evidence):
                yield f"  line        {line.id.rpartition('#')[2]}  {line.track.value}  {line.said or line.text}"

    def record(self, name: str) -> Iterator[str]:
        _, record = self.records[name]
        yield f"{name}"
        yield f"  text        {record.text}"
        yield f"  of          {record.event.rpartition('#')[2]}  {self._closed(self.events[record.event][1])}"
        yield f"  ready       {record.ready_at}"
        yield f"  known then  {_facts(record.context.state())}"
        for _, line in self.lines.values():
            if any(each.ref == name for each in line.evidence):
                yield f"  line        {line.id.rpartition('#')[2]}  {line.track.value}  {line.said or line.text}"

    # --- parts ---

    def _progress(self, step: int) -> Progress:
        return next(each.row for each in self.rows[step] if isinstance(each.row, Progress))

    def _closed(self, closure: Closure) -> str:
        span = _span(closure.half, closure.start, closure.end)
        return f"{span}  {_about(closure)}, closed by {closure.closed_by.value}"

    def _decision(self, step: int, word: str) -> Iterator[str]:
        for each in self.rows[step]:
            if not isinstance(each.row, Decided):
                continue
            decision, ranking = each.row.decision, each.row.ranking
            for gate in decision.gates:
                head = word if gate == decision.gate else ""
                if head or decision.track is None or gate.reason.is_open:
                    yield f"  {head:<14}  {gate.track.value:<10}  {gate.reason.value}{_detail(gate.detail)}"
            if ranking is not None:
                null = f"NULL at {ranking.null:.3f}{', which won' if ranking.null_won else ''}"
                yield f"  records looked at: {null}; a record needs {ranking.threshold:g}"
                for name, score in ranking.records:
                    text = self.records[name][1].text if name in self.records else ""
                    yield f"    {score:.3f}  {name.rpartition('#')[2]}  {text}"

    def _known(self, step: int) -> Iterator[str]:
        yield f"  known then  {_facts(self._progress(step).facts)}"

    def _notes(self, step: int) -> Iterator[str]:
        for each in self.rows[step]:
            if isinstance(each.row, Note):
                yield f"  {each.row.kind.value:<10}  {each.row.text}"


def _span(half: int, start: float, end: float) -> str:
    return f"{half} - {format_seconds(start)} to {format_seconds(end)}"


def _about(closure: Closure) -> str:
    what = ", ".join([closure.type.value, *(each.value for each in closure.actions)])
    return f"{what} ({closure.side.value}, sure at {closure.confidence:.2f})"


def _detail(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _facts(facts: Any) -> str:
    """The score and cards, and whether they are sure."""
    if not facts or facts.get("tally") is None:
        return "no score"
    home, away = facts["tally"]
    told = [f"score {home['goals']}-{away['goals']}"]
    for name, word in (("yellow_cards", "yellow cards"), ("red_cards", "red cards")):
        if home[name] or away[name]:
            told.append(f"{word} {home[name]}-{away[name]}")
    return f"{', '.join(told)} ({'sure' if facts['sure'] else 'predicted, not sure'})"


def _delay(latency: Latency) -> str:
    parts: Sequence[str] = [f"{name} {value:.2f}" for name, value in latency.state().items()]
    return f"{' + '.join(parts)} = {latency.total:.2f} s, of which {latency.structural:.2f} s no machine could save"

"""Rows of a journal as the page reads them: short plain values, the same from a finished match and from a live one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamsoccer.journal_rows import (
    Closure,
    Correction,
    Count,
    Decided,
    Header,
    Line,
    Note,
    Progress,
    Written,
)
from streamsoccer.record import Record

__all__ = ["header_of", "row_of"]


def header_of(header: Header) -> dict[str, Any]:
    """What the page says about the match as a whole."""
    names = ("match", "source", "model", "profile", "pace", "started")
    told = {name: str(header.sheet.get(name) or "") for name in ("home", "away", "venue", "date")}
    return {name: getattr(header, name) for name in names} | told


def row_of(written: Written) -> dict[str, Any]:
    """A row with its place (`seq`), its step and its kind; times are seconds of half `h`, `at` is when it was known."""
    return {"seq": written.seq, "step": written.step, **_values(written.row)}


def _values(row: Any) -> dict[str, Any]:
    match row:
        case Progress():
            return {
                "k": "step",
                "kind": row.kind.value,
                "h": row.half,
                "clip": row.clip,
                "s": row.start,
                "e": row.end,
                "active": row.active,
                "from": row.active_start,
                "transition": _short(row.transition),
                "pending": row.pending,
                "facts": _facts(row.facts),
                "timing": {name: _short(value) for name, value in row.timing.items()},
            }
        case Closure():
            return {
                "k": "event",
                "id": row.id,
                "h": row.half,
                "s": row.start,
                "e": row.end,
                "at": row.available_at,
                "type": row.type.value,
                "actions": [each.value for each in row.actions],
                "side": row.side.value,
                "confidence": _short(row.confidence),
                "by": row.closed_by.value,
            }
        case Record():
            return {
                "k": "record",
                "id": row.id,
                "event": row.event,
                "h": row.half,
                "s": row.start.seconds,
                "e": row.end.seconds,
                "at": row.ready_at.seconds,
                "text": row.text,
            }
        case Decided():
            return _decided(row)
        case Line():
            return _line(row)
        case Note():
            names = {"code": row.code, "text": row.text, "h": row.half, "s": row.start, "e": row.end}
            return {"k": "note", "kind": row.kind.value, **names}
        case Count():
            return {"k": "count", "name": row.name, "total": row.total}
        case Correction():
            return {"k": "correction", "target": row.target, "kind": row.kind.value, "text": row.text, "why": row.why}
        case _:
            raise TypeError(f"a row that the page does not know: {type(row).__name__}")


def _decided(row: Decided) -> dict[str, Any]:
    decision, ranking = row.decision, row.ranking
    values: dict[str, Any] = {
        "k": "decision",
        "h": decision.cutoff.half,
        "at": decision.cutoff.seconds,
        "mode": None if decision.track is None else decision.track.value,
        "event": decision.event,
        "gates": [[each.track.value, each.reason.value, each.reason.is_open, each.detail] for each in decision.gates],
    }
    if ranking is not None:
        values["threshold"] = ranking.threshold
        values["ranking"] = [[name, round(score, 4)] for name, score in ranking.records]
        values["null"] = [round(ranking.null, 4), ranking.null_won]
    return values


def _line(row: Line) -> dict[str, Any]:
    return {
        "k": "line",
        "id": row.id,
        "h": row.cutoff.half,
        "at": row.cutoff.seconds,
        "mode": row.track.value,
        "text": row.said or row.text,
        "raw": row.text,
        "names": [[each.token, each.side.value, each.name] for each in row.placeholders],
        "status": row.status.value,
        "reason": row.reason,
        "event": row.event,
        "dropped": row.dropped,
        "latency": [[name, round(value, 4)] for name, value in row.latency.state().items()],
        "structural": round(row.latency.structural, 4),
        "evidence": [
            {
                "kind": each.kind.value,
                "ref": each.ref,
                "h": each.half,
                "s": each.start,
                "e": each.end,
                "frames": each.frames,
                "score": _short(each.score),
            }
            for each in row.evidence
        ],
    }


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The score and the cards as they were known, home before away; nothing where no tally was kept."""
    tally = facts.get("tally")
    if tally:
        return {
            "score": [side["goals"] for side in tally],
            "yellow": [side["yellow_cards"] for side in tally],
            "red": [side["red_cards"] for side in tally],
            "sure": bool(facts.get("sure")),
        }
    return {"score": list(facts["score"]), "sure": bool(facts.get("sure"))} if facts.get("score") else {}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

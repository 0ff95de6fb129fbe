"""The journal's SQLite tables, and each row type to its columns and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Placeholder, Side, Track
from streamsoccer.journal_rows import (
    JOURNAL_SCHEMA,
    ClosedBy,
    Closure,
    Correction,
    CorrectionKind,
    Count,
    Decided,
    Evidence,
    EvidenceKind,
    Latency,
    Line,
    Note,
    NoteKind,
    Progress,
    Ranked,
    Row,
    Status,
    StepKind,
)
from streamsoccer.packing import pack
from streamsoccer.record import Record
from streamsoccer.schedule import Decision, Gate, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["APPLICATION_ID", "ROWS", "TABLES", "Table", "columns", "memory_columns", "memory_of", "schema", "to_json"]

APPLICATION_ID = 0x53534A31  # "SSJ1", in the file's own header
Columns = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table's columns with their types, what is unique in it, and what may differ where a step is run again."""

    columns: str
    key: tuple[str, ...]
    volatile: frozenset[str] = frozenset()


# `seq` and `step` come first in each of them.
TABLES: Mapping[str, Table] = {
    "steps": Table(
        columns="kind TEXT NOT NULL, half INTEGER NOT NULL, clip INTEGER, start REAL NOT NULL, end REAL NOT NULL,"
        " active TEXT, active_start REAL, transition REAL, pending INTEGER NOT NULL, facts TEXT NOT NULL,"
        " timing TEXT NOT NULL",
        key=("step",),
        volatile=frozenset({"timing"}),
    ),
    "events": Table(
        columns="id TEXT NOT NULL, half INTEGER NOT NULL, start REAL NOT NULL, end REAL NOT NULL,"
        " available_at REAL NOT NULL, type TEXT NOT NULL, actions TEXT NOT NULL, side TEXT NOT NULL,"
        " confidence REAL NOT NULL, closed_by TEXT NOT NULL, shape TEXT NOT NULL, key BLOB NOT NULL,"
        " memory BLOB NOT NULL",
        key=("id",),
    ),
    "records": Table(
        columns="id TEXT NOT NULL, event TEXT NOT NULL REFERENCES events(id), half INTEGER NOT NULL,"
        " ready_at REAL NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL",
        key=("id",),
    ),
    "decisions": Table(
        columns="half INTEGER NOT NULL, cutoff REAL NOT NULL, track TEXT, event TEXT, gates TEXT NOT NULL,"
        " ranking TEXT",
        key=("step",),
    ),
    "utterances": Table(
        columns="id TEXT NOT NULL, half INTEGER NOT NULL, cutoff REAL NOT NULL, track TEXT NOT NULL,"
        " text TEXT NOT NULL, said TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
        " placeholders TEXT NOT NULL, dropped INTEGER NOT NULL, event TEXT, latency TEXT NOT NULL, active BLOB",
        key=("id",),
        volatile=frozenset({"latency"}),
    ),
    "evidence": Table(
        columns="utterance TEXT NOT NULL REFERENCES utterances(id), place INTEGER NOT NULL, kind TEXT NOT NULL,"
        " ref TEXT NOT NULL, half INTEGER NOT NULL, start REAL NOT NULL, end REAL NOT NULL, frames INTEGER NOT NULL,"
        " score REAL",
        key=("utterance", "place"),
    ),
    "notes": Table(
        columns="place INTEGER NOT NULL, kind TEXT NOT NULL, code TEXT NOT NULL, text TEXT NOT NULL,"
        " half INTEGER NOT NULL, start REAL NOT NULL, end REAL NOT NULL",
        key=("step", "place"),
    ),
    "counters": Table(columns="name TEXT NOT NULL, total INTEGER NOT NULL", key=("step", "name")),
    "corrections": Table(
        columns="target TEXT NOT NULL REFERENCES utterances(id), kind TEXT NOT NULL, text TEXT NOT NULL,"
        " why TEXT NOT NULL",
        key=("seq",),
    ),
}


def schema() -> str:
    """The statements that make an empty journal; its rows can be added, never changed or taken away."""
    lines = [
        f"PRAGMA application_id = {APPLICATION_ID};",
        f"PRAGMA user_version = {JOURNAL_SCHEMA};",
        "CREATE TABLE header(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
        "CREATE TABLE snapshots(step INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, state BLOB NOT NULL);",
    ]
    for name, table in TABLES.items():
        unique = ", ".join(table.key)
        lines.append(
            f"CREATE TABLE {name}(seq INTEGER PRIMARY KEY, step INTEGER NOT NULL, {table.columns}, UNIQUE({unique}));"
        )
        if "step" not in table.key:
            lines.append(f"CREATE INDEX {name}_step ON {name}(step);")
    for name in ("header", *TABLES):
        lines.extend(
            f"CREATE TRIGGER {name}_{verb.lower()} BEFORE {verb} ON {name}"
            f" BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END;"
            for verb in ("UPDATE", "DELETE")
        )
    return "\n".join(lines)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# --- rows to columns -------------------------------------------------------------------------------------------------


def columns(row: Progress | Record | Decided | Line | Note | Count | Correction) -> tuple[str, Columns]:
    """A row's table and columns, without `seq` and `step`; a closure's come from `memory_columns`."""
    match row:
        case Progress():
            return "steps", {
                "kind": row.kind.value,
                "half": row.half,
                "clip": row.clip,
                "start": row.start,
                "end": row.end,
                "active": row.active,
                "active_start": row.active_start,
                "transition": row.transition,
                "pending": row.pending,
                "facts": to_json(dict(row.facts)),
                "timing": to_json(dict(row.timing)),
            }
        case Record():
            return "records", {
                "id": row.id,
                "event": row.event,
                "half": row.half,
                "ready_at": row.ready_at.seconds,
                "text": row.text,
                "state": to_json(row.state()),
            }
        case Decided():
            return "decisions", _decision_columns(row)
        case Line():
            return "utterances", {
                "id": row.id,
                "half": row.cutoff.half,
                "cutoff": row.cutoff.seconds,
                "track": row.track.value,
                "text": row.text,
                "said": row.said,
                "status": row.status.value,
                "reason": row.reason,
                "placeholders": to_json([[each.token, each.side.value, each.name] for each in row.placeholders]),
                "dropped": row.dropped,
                "event": row.event,
                "latency": to_json(row.latency.state()),
            }
        case Note():
            names = ("code", "text", "half", "start", "end")
            return "notes", {"kind": row.kind.value, **{name: getattr(row, name) for name in names}}
        case Count():
            return "counters", {"name": row.name, "total": row.total}
        case Correction():
            return "corrections", {
                "target": row.target,
                "kind": row.kind.value,
                "text": row.text,
                "why": row.why,
            }


def active_columns(tokens: Any) -> Columns:
    """M_t as a sentence was said from it; completed memories stand in `events`."""
    return {"active": None if tokens is None else pack({"tokens": tokens})}


def evidence_columns(utterance: str, place: int, row: Evidence) -> Columns:
    names = ("ref", "half", "start", "end", "frames", "score")
    values = {name: getattr(row, name) for name in names}
    return {"utterance": utterance, "place": place, "kind": row.kind.value, **values}


def memory_columns(memory: CompletedMemory, closed_by: ClosedBy) -> Columns:
    """A closure with its tokens and key as float32."""
    tokens, key = _floats(memory.tokens), _floats(memory.key)
    return {
        "id": memory.event,
        "half": memory.half,
        "start": memory.start.seconds,
        "end": memory.end.seconds,
        "available_at": memory.available_at.seconds,
        "type": memory.type.value,
        "actions": to_json([each.value for each in memory.actions]),
        "side": memory.side.value,
        "confidence": float(memory.confidence),
        "closed_by": closed_by.value,
        "shape": to_json(list(tokens.shape)),
        "key": key.tobytes(),
        "memory": tokens.tobytes(),
    }


def _floats(values: Any) -> NDArray[np.float32]:
    if hasattr(values, "detach"):  # a tensor, of any float type, on any device
        values = values.detach().float().cpu().numpy()
    return np.ascontiguousarray(values, dtype="<f4")


def _decision_columns(row: Decided) -> Columns:
    decision, ranking = row.decision, row.ranking
    return {
        "half": decision.cutoff.half,
        "cutoff": decision.cutoff.seconds,
        "track": None if decision.track is None else decision.track.value,
        "event": decision.event,
        "gates": to_json([[each.track.value, each.reason.value, each.detail] for each in decision.gates]),
        "ranking": None
        if ranking is None
        else to_json(
            {
                "records": [list(each) for each in ranking.records],
                "null": ranking.null,
                "null_won": ranking.null_won,
                "threshold": ranking.threshold,
            }
        ),
    }


# --- columns to rows -------------------------------------------------------------------------------------------------


def _progress(row: sqlite3.Row) -> Progress:
    names = ("step", "half", "clip", "start", "end", "active", "active_start", "transition", "pending")
    return Progress(
        kind=StepKind(row["kind"]),
        facts=json.loads(row["facts"]),
        timing=json.loads(row["timing"]),
        **{name: row[name] for name in names},
    )


def _closure(row: sqlite3.Row) -> Closure:
    return Closure(
        **{name: row[name] for name in ("id", "half", "start", "end", "available_at", "confidence")},
        type=EventType(row["type"]),
        actions=tuple(Label(each) for each in json.loads(row["actions"])),
        side=Side(row["side"]),
        closed_by=ClosedBy(row["closed_by"]),
    )


def memory_of(row: sqlite3.Row) -> CompletedMemory:
    """The completed memory of a row of `events`; its tokens are a tensor."""
    import torch

    closure, half = _closure(row), row["half"]
    return CompletedMemory(
        event=closure.id,
        half=half,
        start=MatchTime(half, closure.start),
        end=MatchTime(half, closure.end),
        available_at=MatchTime(half, closure.available_at),
        tokens=torch.from_numpy(np.frombuffer(row["memory"], dtype="<f4").reshape(json.loads(row["shape"])).copy()),
        key=_key(row["key"]),
        type=closure.type,
        actions=closure.actions,
        side=closure.side,
        confidence=closure.confidence,
    )


def _key(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data, dtype="<f4").astype(np.float32)


def _record(row: sqlite3.Row) -> Record:
    return Record.of_state(json.loads(row["state"]), _key(row["key"]))


def _decided(row: sqlite3.Row) -> Decided:
    gates = tuple(
        Gate(track=Track(track), reason=Reason(reason), detail=detail)
        for track, reason, detail in json.loads(row["gates"])
    )
    ranking = None
    if row["ranking"] is not None:
        state = json.loads(row["ranking"])
        ranking = Ranked(**{**state, "records": tuple((name, score) for name, score in state["records"])})
    decision = Decision(
        cutoff=MatchTime(row["half"], row["cutoff"]),
        track=None if row["track"] is None else Track(row["track"]),
        gates=gates,
        event=row["event"],
    )
    return Decided(decision=decision, ranking=ranking)


def line_of(row: sqlite3.Row, evidence: Iterable[sqlite3.Row]) -> Line:
    """A sentence with the rows of its evidence."""
    return Line(
        **{name: row[name] for name in ("id", "text", "said", "reason", "dropped", "event")},
        track=Track(row["track"]),
        cutoff=MatchTime(row["half"], row["cutoff"]),
        status=Status(row["status"]),
        placeholders=tuple(
            Placeholder(token=token, side=Side(side), name=name)
            for token, side, name in json.loads(row["placeholders"])
        ),
        latency=Latency.of_state(json.loads(row["latency"])),
        evidence=tuple(
            Evidence(
                kind=EvidenceKind(each["kind"]),
                **{name: each[name] for name in ("ref", "half", "start", "end", "frames", "score")},
            )
            for each in evidence
        ),
    )


def _note(row: sqlite3.Row) -> Note:
    return Note(kind=NoteKind(row["kind"]), **{name: row[name] for name in ("code", "text", "half", "start", "end")})


def _count(row: sqlite3.Row) -> Count:
    return Count(name=row["name"], total=row["total"])


def _correction(row: sqlite3.Row) -> Correction:
    return Correction(target=row["target"], kind=CorrectionKind(row["kind"]), text=row["text"], why=row["why"])


# What a reader selects for a table, and what makes a row of it; utterances need their evidence as well (`line_of`).
ROWS: Mapping[str, tuple[str, Callable[[sqlite3.Row], Row]]] = {
    "steps": ("SELECT * FROM steps t", _progress),
    "events": (
        "SELECT seq, step, id, half, start, end, available_at, type, actions, side, confidence, closed_by"
        " FROM events t",
        _closure,
    ),
    "records": ("SELECT t.*, e.key FROM records t JOIN events e ON e.id = t.event", _record),
    "decisions": ("SELECT * FROM decisions t", _decided),
    "notes": ("SELECT * FROM notes t", _note),
    "counters": ("SELECT * FROM counters t", _count),
    "corrections": ("SELECT * FROM corrections t", _correction),
}

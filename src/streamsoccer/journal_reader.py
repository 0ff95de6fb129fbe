"""Reading a journal: whole, by table, or what came after the last row that was seen; and what can be wrong with one.

A reader holds no lock: a match that is being written can be read at any time, and what is read are whole steps.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from streamsoccer.errors import StreamSoccerError
from streamsoccer.journal_rows import (
    JOURNAL_SCHEMA,
    Closure,
    Correction,
    CorrectionKind,
    Count,
    Decided,
    Header,
    Line,
    Note,
    Progress,
    Row,
    Status,
    Written,
)
from streamsoccer.journal_tables import APPLICATION_ID, ROWS, line_of, memory_of
from streamsoccer.packing import unpack
from streamsoccer.record import Record

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.buffer import CompletedMemory

__all__ = [
    "JournalBroken",
    "JournalError",
    "JournalFull",
    "JournalLocked",
    "JournalReader",
    "JournalSchema",
    "JournalUnwritable",
    "NotAJournal",
    "Shown",
]

R = TypeVar("R")


class JournalError(StreamSoccerError):
    """A journal that cannot be opened, read or written."""


class NotAJournal(JournalError):
    """The file is something else, or is not there."""


class JournalSchema(JournalError):
    """The journal was written by another version of this program."""


class JournalLocked(JournalError):
    """Another process writes this journal."""


class JournalFull(JournalError):
    """There is no room on the disk. The rows wait in memory and go in with the next step that finds room."""


class JournalUnwritable(JournalError):
    """The journal or its folder cannot be written. The rows wait in memory, as for a full disk."""


class JournalBroken(JournalError):
    """The file is damaged: what SQLite, or a checksum of ours, found."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the journal's name."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary == sqlite3.SQLITE_FULL:
            raise JournalFull(
                "the disk is full",
                where=path,
                remedy="make room: a match that runs goes on meanwhile, one that has ended does with --resume",
            ) from error
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise JournalLocked("another process holds the journal", where=path, remedy="wait for it to end") from error
        if primary == sqlite3.SQLITE_NOTADB:
            raise NotAJournal("is not a journal", where=path) from error
        if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
            raise JournalUnwritable(
                f"cannot be opened or written ({error})", where=path, remedy="look at its folder's rights and the disk"
            ) from error
        raise JournalBroken(f"{error}", where=path) from error


def check(db: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no journal, and a journal of another schema."""
    (application,), (version,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID:
        raise NotAJournal("is an SQLite file, but not a journal", where=path)
    if version != JOURNAL_SCHEMA:
        raise JournalSchema(
            f"has schema {version}, this program writes {JOURNAL_SCHEMA}",
            where=path,
            remedy="open it with the version of streamsoccer that wrote it",
        )


def read_header(db: sqlite3.Connection, path: Path) -> Header:
    values = {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM header")}
    try:
        return Header(**values)
    except TypeError as error:
        raise JournalBroken(f"its header is not whole: {error}", where=path) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A sentence as people are to see it, after all corrections; nothing of the row itself changes."""

    line: Line
    text: str
    visible: bool
    corrections: tuple[Correction, ...] = ()


class JournalReader:
    """A journal to read. Rows come in order of their writing; `since` is for whoever follows a match."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise NotAJournal("there is no such file", where=self.path, remedy="name a match's .journal file")
        with named(self.path):
            self._db = self._connect()
            try:
                check(self._db, self.path)
                self.header = read_header(self._db, self.path)
            except BaseException:
                self._db.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        """Read-only; where even the files beside it cannot be made (a folder that is not ours), as it stands."""
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            db = sqlite3.connect(
                f"{self.path.resolve().as_uri()}?{mode}", uri=True, timeout=10, check_same_thread=False
            )
            db.row_factory = sqlite3.Row
            try:
                db.execute("SELECT count(*) FROM sqlite_schema")
            except sqlite3.OperationalError as error:
                db.close()
                beside = self.path.with_name(self.path.name + "-wal")
                if "immutable" in mode or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or beside.exists():
                    raise
                continue
            return db
        raise AssertionError("unreachable")

    def __enter__(self) -> JournalReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # --- rows ---

    def steps(self) -> Iterator[Progress]:
        return self._each("steps", Progress)

    def closures(self) -> Iterator[Closure]:
        return self._each("events", Closure)

    def records(self) -> Iterator[Record]:
        return self._each("records", Record)

    def decisions(self) -> Iterator[Decided]:
        return self._each("decisions", Decided)

    def lines(self) -> Iterator[Line]:
        return self._each("utterances", Line)

    def notes(self) -> Iterator[Note]:
        return self._each("notes", Note)

    def corrections(self) -> Iterator[Correction]:
        return self._each("corrections", Correction)

    def memory(self, event: str) -> CompletedMemory:
        """A completed memory with its tokens and key; needs torch."""
        with named(self.path):
            row = self._db.execute("SELECT * FROM events WHERE id = ?", (event,)).fetchone()
        if row is None:
            raise JournalError(f"there is no event {event}", where=self.path)
        return memory_of(row)

    def active(self, utterance: str) -> Tensor | None:
        """M_t as this sentence was said from it, where it was."""
        with named(self.path):
            row = self._db.execute("SELECT active FROM utterances WHERE id = ?", (utterance,)).fetchone()
        if row is None:
            raise JournalError(f"there is no utterance {utterance}", where=self.path)
        tokens: Tensor | None = None if row["active"] is None else unpack(row["active"])["tokens"]
        return tokens

    def counters(self) -> dict[str, int]:
        """Each counter's last total."""
        totals: dict[str, int] = {}
        for count in self._each("counters", Count):
            totals[count.name] = count.total
        return totals

    def shown(self) -> list[Shown]:
        """All sentences as people are to see them, in order of their cutoffs."""
        changes: dict[str, list[Correction]] = {}
        for each in self.corrections():
            changes.setdefault(each.target, []).append(each)
        return sorted(
            (corrected(line, changes.get(line.id, ())) for line in self.lines()), key=lambda each: each.line.cutoff
        )

    def since(self, seq: int = 0, limit: int = 10_000) -> list[Written]:
        """Rows of all tables after `seq`, in order, at most so many; empty where nothing has come.

        All are of whole steps, and a step's rows never come before those of the step before. The last one's `seq` is
        where the next call goes on.
        """
        found: list[Written] = []
        with named(self.path):
            self._db.execute("BEGIN")  # one state of the file for all tables
            try:
                for table in (*ROWS, "utterances"):
                    found.extend(self._written(table, "WHERE t.seq > ? ORDER BY t.seq LIMIT ?", (seq, limit)))
            finally:
                self._db.execute("COMMIT")
        found.sort(key=lambda each: each.seq)
        return found[:limit]

    @property
    def last_seq(self) -> int:
        """The place of the newest row; 0 in an empty journal."""
        with named(self.path):
            return last_seq(self._db)

    # --- internals ---

    def _each(self, table: str, kind: type[R]) -> Iterator[R]:
        with named(self.path):
            rows = self._written(table, "ORDER BY t.seq", ())
        for each in rows:
            if not isinstance(each.row, kind):
                raise JournalBroken(f"a row of {table} is a {type(each.row).__name__}", where=self.path)
            yield each.row

    def _written(self, table: str, tail: str, values: Sequence[Any]) -> list[Written]:
        if table == "utterances":
            rows = self._db.execute(f"SELECT * FROM utterances t {tail}", values).fetchall()
            made: list[Row] = [line_of(row, self._evidence(row["id"])) for row in rows]
        else:
            select, make = ROWS[table]
            rows = self._db.execute(f"{select} {tail}", values).fetchall()
            made = [make(row) for row in rows]
        return [
            Written(seq=row["seq"], step=row["step"], table=table, row=each)
            for row, each in zip(rows, made, strict=True)
        ]

    def _evidence(self, utterance: str) -> list[sqlite3.Row]:
        return self._db.execute("SELECT * FROM evidence WHERE utterance = ? ORDER BY place", (utterance,)).fetchall()


def last_seq(db: sqlite3.Connection) -> int:
    tables = (*ROWS, "utterances", "evidence")
    return int(
        db.execute(
            f"SELECT max({', '.join(f'(SELECT coalesce(max(seq), 0) FROM {name})' for name in tables)})"
        ).fetchone()[0]
    )


def corrected(line: Line, changes: Sequence[Correction]) -> Shown:
    """A sentence after its corrections, the last of each kind winning."""
    text, visible = line.said or line.text, line.status is Status.SAID
    for each in changes:
        if each.kind is CorrectionKind.CORRECT:
            text = each.text
        else:
            visible = each.kind is CorrectionKind.SHOW
    return Shown(line=line, text=text, visible=visible and bool(text), corrections=tuple(changes))

"""The match on disk: one SQLite file (WAL, synchronous FULL) to which each step is added whole or not at all.

    with Journal.create(path, header) as journal:
        with journal.step(clip) as step:
            step.event(memory, ClosedBy.LEARNED)
            step.record(record)
            step.decision(decision, ranking)
            step.utterance(utterance, said=..., evidence=[...])
            step.snapshot(state)                                # MatchState after this step

Rows are collected while the step runs and written in one transaction as it ends, so a killed match leaves whole steps
alone. `Journal.open(path).resume()` gives the newest snapshot; steps after it that are run again must write what stands
there: an equal row is accepted, another is an error that names it, and none is ever doubled. A disk that is full
raises, the rows wait in memory, and the next step that finds room writes them all. Snapshot every step and nothing has
to run twice; the last two are kept.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from streamsoccer.buffer import CompletedMemory
from streamsoccer.clip import Clip, Gap
from streamsoccer.journal_reader import (
    JournalBroken,
    JournalError,
    JournalFull,
    JournalLocked,
    JournalReader,
    JournalSchema,
    JournalUnwritable,
    NotAJournal,
    check,
    last_seq,
    named,
    read_header,
)
from streamsoccer.journal_rows import (
    ClosedBy,
    Correction,
    CorrectionKind,
    Count,
    Decided,
    Evidence,
    Header,
    Latency,
    Line,
    Note,
    NoteKind,
    Progress,
    Ranked,
    Status,
    utterance_id,
)
from streamsoccer.journal_tables import (
    TABLES,
    active_columns,
    columns,
    evidence_columns,
    memory_columns,
    schema,
    to_json,
)
from streamsoccer.packing import pack, unpack
from streamsoccer.record import Record
from streamsoccer.schedule import Decision

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.commentary import Utterance
    from streamsoccer.retrieval import Ranking

__all__ = [
    "Journal",
    "JournalBroken",
    "JournalConflict",
    "JournalError",
    "JournalExists",
    "JournalFull",
    "JournalLocked",
    "JournalReader",
    "JournalSchema",
    "JournalUnwritable",
    "NotAJournal",
    "Snapshot",
    "Step",
]

KEPT_SNAPSHOTS = 2
BUSY_SECONDS = 10.0  # a correction or a checkpoint takes milliseconds


class JournalExists(JournalError):
    """A journal stands where a new one was to be made."""


class JournalConflict(JournalError):
    """A step that was run again would write something else than stands there: the match is not the same."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Snapshot:
    """MatchState after a step."""

    step: int
    state: dict[str, Any]


@dataclass(slots=True)
class _Rows:
    """What one step has to write."""

    progress: Progress
    rows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    snapshot: bytes | None = None


class Step:
    """One step while it runs; nothing is on disk before it ends."""

    def __init__(self, journal: Journal, progress: Progress) -> None:
        self._journal = journal
        self._rows = _Rows(progress)
        self._notes = 0
        self.lines: list[Line] = []  # what this step said, held back or failed to say, for the outputs
        self.number = progress.step

    def progress(
        self,
        *,
        active: str | None = None,
        active_start: float | None = None,
        transition: float | None = None,
        pending: int = 0,
        facts: Mapping[str, Any] | None = None,
        timing: Mapping[str, float] | None = None,
    ) -> None:
        """What the memory is after this step, how sure a transition was, what waits, and what it cost in seconds."""
        self._rows.progress = replace(
            self._rows.progress,
            active=active,
            active_start=active_start,
            transition=None if transition is None else float(transition),
            pending=pending,
            facts=facts or {},
            timing={name: float(value) for name, value in (timing or {}).items()},
        )

    def event(self, memory: CompletedMemory, closed_by: ClosedBy) -> None:
        """A memory that was closed."""
        self._rows.rows.append(("events", memory_columns(memory, closed_by)))

    def record(self, record: Record) -> None:
        """A record that came into the ledger; its event stands in the journal already, and holds its key."""
        self._rows.rows.append(columns(record))

    def decision(self, decision: Decision, ranking: Ranking | None = None) -> None:
        """What the scheduler decided, silence too, and the records that it looked at."""
        ranked = None
        if ranking is not None:
            ranked = Ranked(
                records=tuple((record.id, float(score)) for record, score in ranking.records),
                null=float(ranking.null),
                null_won=bool(ranking.null_won),
                threshold=float(ranking.threshold),
            )
        self._rows.rows.append(columns(Decided(decision=decision, ranking=ranked)))

    def utterance(
        self,
        utterance: Utterance,
        *,
        said: str = "",
        status: Status = Status.SAID,
        reason: str = "",
        event: str | None = None,
        latency: Latency | None = None,
        evidence: Sequence[Evidence] = (),
        active: Tensor | None = None,
    ) -> str:
        """A sentence with what became of it, and its ID. `said` has the names filled in; where generation failed, the
        utterance has no text and `reason` tells why. `active` is M_t where it was said from that, for a replay."""
        cutoff = utterance.cutoff
        line = Line(
            id=utterance_id(self._journal.header.match, cutoff, self._journal.place(self._rows, cutoff)),
            track=utterance.track,
            cutoff=cutoff,
            text=utterance.text,
            said=said,
            status=status,
            reason=reason,
            placeholders=utterance.placeholders,
            dropped=utterance.dropped,
            event=event,
            latency=latency or Latency(),
        )
        table, values = columns(line)
        self._rows.rows.append((table, {**values, **active_columns(active)}))
        for place, each in enumerate(evidence):
            self._rows.rows.append(("evidence", evidence_columns(line.id, place, each)))
        self.lines.append(replace(line, evidence=tuple(evidence)))
        return line.id

    def note(
        self, kind: NoteKind, code: str, text: str, *, start: float | None = None, end: float | None = None
    ) -> None:
        """A fault, a notice or dropped work; by default at the time of this step."""
        at = self._rows.progress
        note = Note(
            kind=kind,
            code=code,
            text=text,
            half=at.half,
            start=at.start if start is None else start,
            end=at.end if end is None else end,
        )
        table, values = columns(note)
        self._rows.rows.append((table, {"place": self._notes, **values}))
        self._notes += 1

    def counts(self, totals: Mapping[str, int]) -> None:
        """Totals so far; those that have not changed are not written again."""
        for name, total in sorted(totals.items()):
            if self._journal.changed(name, total):
                self._rows.rows.append(columns(Count(name=name, total=int(total))))

    def snapshot(self, state: Mapping[str, Any]) -> None:
        """MatchState after this step: nested plain values with tensors and arrays as leaves."""
        self._rows.snapshot = pack(state)


class Journal:
    """A journal to write: one process at a time, one thread at a time; anyone may read meanwhile."""

    def __init__(self, path: Path, lock: IO[str]) -> None:
        self.path = path
        self._lock = lock
        self._waiting: list[_Rows] = []
        self._counts: dict[str, int] = {}
        with named(path):
            self._db = _connect(path)
            check(self._db, path)
            self.header = read_header(self._db, path)
            self._next = self._last() + 1
        self._counts = self._totals(self._next - 1)

    @classmethod
    def create(cls, path: Path | str, header: Header) -> Journal:
        """A new journal; one that stands there is never written over."""
        path = Path(path)
        lock = _locked(path)
        try:
            if path.exists():
                raise JournalExists(
                    "there is a journal already", where=path, remedy="go on with --resume, or choose another folder"
                )
            _make(path, header)
            return cls(path, lock)
        except BaseException:
            _unlock(path, lock)
            raise

    @classmethod
    def open(cls, path: Path | str) -> Journal:
        """A journal that is there, to go on with it after its last whole step; see `resume`."""
        path = Path(path)
        if not path.is_file():
            raise NotAJournal("there is no such file", where=path, remedy="start without --resume")
        with JournalReader(path):
            pass  # refuses what is no journal before anything is written to it
        lock = _locked(path)
        try:
            return cls(path, lock)
        except BaseException:
            _unlock(path, lock)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what still waits, if that can be, and let others in; the file is then a single one."""
        if self._lock.closed:
            return
        try:
            if self._waiting:
                self._flush()
        finally:
            self._db.close()
            _unlock(self.path, self._lock)

    @property
    def last(self) -> int:
        """The number of the last whole step on disk; 0 where there is none."""
        with named(self.path):
            return self._last()

    @property
    def waiting(self) -> int:
        """Steps that wait in memory for room on the disk."""
        return len(self._waiting)

    def resume(self) -> Snapshot | None:
        """The newest snapshot that is whole; the next step is the one after it. Without any, the match starts anew,
        and its rows must be those that stand here."""
        with named(self.path):
            rows = self._db.execute("SELECT step, sha256, state FROM snapshots ORDER BY step DESC").fetchall()
        for step, digest, state in rows:
            if hashlib.sha256(state).hexdigest() == digest:
                self._go_on_after(step)
                return Snapshot(step=step, state=unpack(state))
        if rows:
            raise JournalBroken("none of its snapshots is whole", where=self.path, remedy="start the match anew")
        self._go_on_after(0)
        return None

    @contextmanager
    def step(self, item: Clip | Gap | Progress) -> Iterator[Step]:
        """One step: all that is told to it is written as the block ends, and nothing where the block raises.

        `Progress.half_end` makes the item of a half's end. A gap is noted by itself.
        """
        progress = replace(item, step=self._next) if isinstance(item, Progress) else Progress.of(item, self._next)
        step, counts = Step(self, progress), dict(self._counts)
        if isinstance(item, Gap):
            step.note(NoteKind.GAP, item.reason.value, item.detail)
        try:
            yield step
        except BaseException:
            self._counts = counts
            raise
        self._next += 1
        for older in self._waiting if step._rows.snapshot is not None else ():
            older.snapshot = None
        self._waiting.append(step._rows)
        self._flush()

    def tell(self, kind: NoteKind, code: str, text: str, *, half: int = 1, at: float = 0.0) -> None:
        """A note between steps, on disk at once: reconnecting, the end of the match."""
        row = columns(Note(kind=kind, code=code, text=text, half=half, start=at, end=at))[1]
        with named(self.path), _transaction(self._db):
            step = self._last()
            lowest = self._db.execute("SELECT min(place) FROM notes WHERE step = ?", (step,)).fetchone()[0]
            place = min(0, lowest or 0) - 1  # those of steps count from 0: a step run again writes none of these
            self._insert("notes", {"seq": last_seq(self._db) + 1, "step": step, "place": place, **row})

    @staticmethod
    def correct(path: Path | str, target: str, kind: CorrectionKind, *, text: str = "", why: str = "") -> None:
        """Hide, show or correct a sentence by a new row that names it; also while the match is being written."""
        path = Path(path)
        if kind is CorrectionKind.CORRECT and not text.strip():
            raise JournalError("a correction needs a text", where=target, remedy="hide the sentence instead")
        with JournalReader(path):
            pass  # says what is wrong with a file that is no journal
        with named(path):
            db = _connect(path)
            try:
                with _transaction(db):
                    if db.execute("SELECT 1 FROM utterances WHERE id = ?", (target,)).fetchone() is None:
                        raise JournalError(f"there is no utterance {target}", where=path)
                    step = db.execute("SELECT coalesce(max(step), 0) FROM steps").fetchone()[0]
                    values = columns(Correction(target=target, kind=kind, text=text, why=why))[1]
                    _insert(db, "corrections", {"seq": last_seq(db) + 1, "step": step, **values})
            finally:
                db.close()

    # --- what a step asks ---

    def place(self, rows: _Rows, cutoff: Any) -> int:
        """How many sentences of the same second came before: a letter of the ID."""
        second = int(cutoff.seconds)
        with named(self.path):
            query = "SELECT count(*) FROM utterances WHERE half = ? AND CAST(cutoff AS INTEGER) = ? AND step < ?"
            found = int(self._db.execute(query, (cutoff.half, second, rows.progress.step)).fetchone()[0])
        for each in (*self._waiting, rows):
            found += sum(
                table == "utterances" and row["half"] == cutoff.half and int(row["cutoff"]) == second
                for table, row in each.rows
            )
        return found

    def changed(self, name: str, total: int) -> bool:
        """Whether a counter is not what was last written, and remember it."""
        before = self._counts.get(name, 0)
        self._counts[name] = total
        return before != total

    # --- internals ---

    def _last(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(step), 0) FROM steps").fetchone()[0])

    def _totals(self, step: int) -> dict[str, int]:
        with named(self.path):
            return dict(self._db.execute("SELECT name, total FROM counters WHERE step <= ? ORDER BY step", (step,)))

    def _go_on_after(self, step: int) -> None:
        self._waiting.clear()
        self._next = step + 1
        self._counts = self._totals(step)

    def _flush(self) -> None:
        try:
            with named(self.path), _transaction(self._db):
                for rows in self._waiting:
                    self._write(rows)
        except (JournalFull, JournalLocked, JournalUnwritable):
            raise  # all of them wait
        except BaseException:
            self._waiting.clear()  # a second try would fail as this one did
            raise
        self._waiting.clear()

    def _write(self, rows: _Rows) -> None:
        step = rows.progress.step
        again = self._db.execute("SELECT 1 FROM steps WHERE step = ?", (step,)).fetchone() is not None
        seq = last_seq(self._db)
        # the step's own row comes last: whoever follows the journal has then seen all of the step
        for table, values in (*rows.rows, columns(rows.progress)):
            values = {"step": step, **values}
            if not self._stands(table, values):
                if again:
                    raise self._conflict(step, table, values, "was not there when this step was first run")
                seq += 1
                self._insert(table, {"seq": seq, **values})
        if again:
            self._complete(rows)
        if rows.snapshot is not None:
            digest = hashlib.sha256(rows.snapshot).hexdigest()
            self._db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (step, digest, rows.snapshot))
            kept = "SELECT step FROM snapshots ORDER BY step DESC LIMIT ?"
            self._db.execute(f"DELETE FROM snapshots WHERE step NOT IN ({kept})", (KEPT_SNAPSHOTS,))

    def _stands(self, table: str, values: Mapping[str, Any]) -> bool:
        """Whether this very row stands there; another under its key is a conflict."""
        key, volatile = TABLES[table].key, TABLES[table].volatile
        where = " AND ".join(f"{name} = ?" for name in key)
        found = self._db.execute(f"SELECT * FROM {table} WHERE {where}", [values[name] for name in key])
        if (row := found.fetchone()) is None:
            return False
        there = dict(zip((each[0] for each in found.description), row, strict=True))
        for name, value in values.items():
            if name not in volatile and there[name] != value:
                told = "" if isinstance(value, bytes) else f": {there[name]!r} stands there, {value!r} came"
                raise self._conflict(int(values["step"]), table, values, f"differs in {name}{told}")
        return True

    def _complete(self, rows: _Rows) -> None:
        """A step run again has written all that it wrote the first time."""
        step = rows.progress.step
        for table in TABLES:
            wanted = sum(name == table for name, _ in rows.rows) + (table == "steps")
            spare = " AND place >= 0" if table == "notes" else ""
            if table == "corrections":
                continue
            there = self._db.execute(f"SELECT count(*) FROM {table} WHERE step = ?{spare}", (step,)).fetchone()[0]
            if there != wanted:
                raise JournalConflict(
                    f"step {step} wrote {there} rows of {table} before and {wanted} now",
                    where=self.path,
                    remedy="resume with the model, options and video of the first run",
                )

    def _conflict(self, step: int, table: str, values: Mapping[str, Any], what: str) -> JournalConflict:
        name = " ".join(str(values[each]) for each in TABLES[table].key)
        return JournalConflict(
            f"{table} {name} of step {step} {what}",
            where=self.path,
            remedy="resume with the model, options and video of the first run",
        )

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        _insert(self._db, table, values)


def _insert(db: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> None:
    marks = ", ".join("?" for _ in values)
    db.execute(f"INSERT INTO {table}({', '.join(values)}) VALUES ({marks})", list(values.values()))


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def _make(path: Path, header: Header) -> None:
    """Made under another name first: where a journal stands, it has its tables and its header."""
    part = path.with_name(path.name + ".part")
    for name in (part, part.with_name(part.name + "-wal"), part.with_name(part.name + "-shm")):
        name.unlink(missing_ok=True)
    with named(path):
        db = _connect(part)
        try:
            db.executescript(schema())
            with _transaction(db):
                for each in fields(header):
                    db.execute("INSERT INTO header VALUES (?, ?)", (each.name, to_json(getattr(header, each.name))))
        finally:
            db.close()
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _locked(path: Path) -> IO[str]:
    """The writer's lock, a file beside the journal: the system lets it go whenever its process ends, killed or not."""
    import fcntl

    name = path.with_name(path.name + ".lock")
    while True:
        try:
            lock = name.open("a")
        except OSError as error:
            raise JournalUnwritable(
                f"its folder cannot be written: {error.strerror}", where=path, remedy="choose another folder with --out"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise JournalLocked(
                "another process writes this journal", where=path, remedy="wait for it, or end it"
            ) from error
        with suppress(FileNotFoundError):
            if name.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                return lock
        lock.close()  # the one before us took it away as it left


def _unlock(path: Path, lock: IO[str]) -> None:
    with suppress(OSError):
        path.with_name(path.name + ".lock").unlink(missing_ok=True)
    lock.close()

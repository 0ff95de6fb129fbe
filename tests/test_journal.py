"""The journal: whole steps or nothing, no row twice, nothing changed, and every way to be killed survived."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import MatchTime
from streamsoccer.commentary import Utterance
from streamsoccer.domain import Side, Track, event_id
from streamsoccer.errors import DataError
from streamsoccer.journal import (
    Journal,
    JournalBroken,
    JournalConflict,
    JournalError,
    JournalExists,
    JournalFull,
    JournalLocked,
    JournalReader,
    JournalSchema,
    JournalUnwritable,
    NotAJournal,
)
from streamsoccer.journal_rows import (
    ClosedBy,
    CorrectionKind,
    EvidenceKind,
    Line,
    NoteKind,
    Progress,
    Segment,
    Status,
    StepKind,
    Written,
)
from streamsoccer.packing import pack, unpack
from written_match import HEADER, MATCH, WrittenMatch, rows, written

SMALL = WrittenMatch(seconds=160, halves=2, gap_at=30)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match that ran to its end without interruption."""
    return written(tmp_path_factory.mktemp("whole") / "match.journal", seconds=160, halves=2, gap_at=30)


def empty(path: Path) -> Journal:
    return Journal.create(path / "match.journal", HEADER)


def half_end(second: float = 4.0) -> Progress:
    return Progress.half_end(MatchTime(1, second))


def memory(start: float = 0.0, **changes: Any) -> CompletedMemory:
    values: dict[str, Any] = {
        "event": event_id(MATCH, 1, start),
        "half": 1,
        "start": MatchTime(1, start),
        "end": MatchTime(1, start + 8),
        "available_at": MatchTime(1, start + 12),
        "tokens": np.arange(18, dtype=np.float32).reshape(9, 2),
        "key": np.array([0.1, -0.2, 3e-8], dtype=np.float32),
        "type": EventType.FINISH,
        "actions": (Label.GOAL,),
        "side": Side.AWAY,
        "confidence": 0.625,
    }
    return CompletedMemory(**{**values, **changes})


def sentence(text: str, second: float = 4.0) -> Utterance:
    return Utterance(track=Track.CURRENT, cutoff=MatchTime(1, second), text=text)


# --- what is written is what is read ---------------------------------------------------------------------------------


def test_a_whole_match_reads_back(whole: Path) -> None:
    with JournalReader(whole) as journal:
        assert journal.header == HEADER
        steps, lines = list(journal.steps()), list(journal.lines())
        assert [each.step for each in steps] == list(range(1, len(SMALL.items()) + 1))
        assert [each.kind for each in steps].count(StepKind.HALF_END) == 2
        assert [(each.half, each.start) for each in steps if each.kind is StepKind.GAP] == [(1, 120.0), (2, 120.0)]
        closures, records = list(journal.closures()), list(journal.records())
        assert {each.event for each in records} == {each.id for each in closures}
        assert {each.closed_by for each in closures} == set(ClosedBy)
        assert {each.track for each in lines} == set(Track)
        assert all(line.evidence and line.latency.total > 0 for line in lines)
        recalled = next(each for each in lines if each.track is Track.HISTORICAL)
        kinds = {each.kind for each in recalled.evidence}
        assert kinds == {EvidenceKind.ACTIVE, EvidenceKind.EVENT, EvidenceKind.RECORD}
        decisions = [each.decision for each in journal.decisions()]
        assert len(decisions) == len(steps) and all(len(each.gates) == 3 for each in decisions)
        silent = next(each for each in decisions if each.track is None)
        assert silent.reason.value and not silent.reason.is_open
        assert journal.counters()["clips"] == sum(each.kind is StepKind.CLIP for each in steps)


def test_facts_in_a_journal_were_available_when_they_were_written(whole: Path) -> None:
    with JournalReader(whole) as journal:
        at: dict[int, MatchTime] = {each.step: each.cutoff for each in journal.steps()}
        for each in journal.since():
            if each.table in ("records", "decisions", "utterances"):
                assert each.row.available_at <= at[each.step]  # type: ignore[union-attr]


def test_a_memory_comes_back_to_the_bit(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    given_ = memory(tokens=torch.randn(9, 4).to(torch.bfloat16))
    with empty(tmp_path) as journal:
        with journal.step(half_end(12)) as step:
            step.event(given_, ClosedBy.LEARNED)
        with JournalReader(journal.path) as reader:
            found = reader.memory(given_.event)
    assert torch.equal(found.tokens, given_.tokens.float())
    assert np.array_equal(found.key, given_.key)
    names = ("event", "half", "start", "end", "available_at", "type", "actions", "side", "confidence")
    assert [getattr(found, each) for each in names] == [getattr(given_, each) for each in names]


def test_segments_of_a_delay_add_up_and_the_structural_part_is_apart(whole: Path) -> None:
    with JournalReader(whole) as journal:
        for line in journal.lines():
            latency = line.latency
            assert latency.total == pytest.approx(sum(latency.segments.values()))
            assert latency.structural == latency.segments[Segment.CLOSING]
            assert latency.machine == pytest.approx(latency.total - latency.structural)


TEXT = st.text(max_size=40).filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text))


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(list(Status))), max_size=3), max_size=6),
    page=st.integers(1, 7),
)
def test_any_text_reads_back_and_pages_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, str, Status]]], page: int
) -> None:
    wanted = []
    with empty(tmp_path_factory.mktemp("any")) as journal, JournalReader(journal.path) as reader:
        followed: list[Written] = []
        for index, said in enumerate(steps):
            with journal.step(half_end(4.0 * index)) as step:
                for text, named, status in said:
                    name = step.utterance(
                        sentence(text, 4.0 * index), said=named, status=status, reason="because" * (status != "said")
                    )
                    wanted.append((name, text, named, status))
            followed.extend(reader.since(followed[-1].seq if followed else 0))
        assert [(each.id, each.text, each.said, each.status) for each in reader.lines()] == wanted
        assert len({name for name, *_ in wanted}) == len(wanted)
        paged: list[Written] = []
        while some := reader.since(paged[-1].seq if paged else 0, limit=page):
            paged.extend(some)
        assert paged == followed == reader.since()


# --- whole steps or nothing ------------------------------------------------------------------------------------------


def test_a_step_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        with journal.step(half_end()) as step:
            step.counts({"clips": 1})
        with pytest.raises(RuntimeError), journal.step(half_end()) as step:
            step.event(memory(), ClosedBy.LEARNED)
            step.counts({"clips": 2})
            raise RuntimeError("the generator broke")
        assert journal.last == 1
        with journal.step(half_end()) as step:
            step.counts({"clips": 2})
            assert step.number == 2
        with JournalReader(journal.path) as reader:
            assert not list(reader.closures())
            assert reader.counters() == {"clips": 2}


def test_who_follows_sees_whole_steps_alone(tmp_path: Path) -> None:
    with empty(tmp_path) as journal, JournalReader(journal.path) as reader:
        with journal.step(half_end(12)) as step:
            step.event(memory(), ClosedBy.LEARNED)
            assert reader.since() == []
        assert [each.table for each in reader.since()] == ["events", "steps"]


def test_rows_cannot_be_changed_or_taken_away(whole: Path) -> None:
    db = sqlite3.connect(whole)
    try:
        for table in (
            "header",
            "steps",
            "events",
            "records",
            "decisions",
            "utterances",
            "evidence",
            "notes",
            "counters",
        ):
            for statement in (
                f"DELETE FROM {table}",
                f"UPDATE {table} SET {'value' if table == 'header' else 'step'} = 1",
            ):
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    db.execute(statement)
    finally:
        db.close()


def test_a_record_needs_its_event_and_a_number_must_be_one(tmp_path: Path, whole: Path) -> None:
    with JournalReader(whole) as reader:
        record = next(reader.records())
    with empty(tmp_path) as journal:
        with pytest.raises(JournalError, match="FOREIGN KEY"), journal.step(half_end()) as step:
            step.record(record)
        with pytest.raises(ValueError, match="JSON"), journal.step(half_end()) as step:
            step.progress(timing={"lag": float("nan")})
        assert journal.last == 0 and journal.waiting == 0


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [0, 1, 17, 41, 42, 80])
def test_a_match_that_is_interrupted_and_goes_on_writes_what_one_in_a_piece_does(
    tmp_path: Path, whole: Path, until: int
) -> None:
    with empty(tmp_path) as journal:
        SMALL.write(journal, until=until)
    with Journal.open(journal.path) as journal:
        SMALL.write(journal)
    assert list(rows(journal.path)) == list(rows(whole))


def test_steps_after_an_older_snapshot_are_run_again_and_nothing_is_doubled(tmp_path: Path, whole: Path) -> None:
    with empty(tmp_path) as journal:
        SMALL.write(journal, until=50)
    db = sqlite3.connect(journal.path)
    with db:
        db.execute("UPDATE snapshots SET state = zeroblob(9) WHERE step = 50")  # damaged: the one before is taken
    db.close()
    with Journal.open(journal.path) as journal:
        snapshot = journal.resume()
        assert snapshot is not None and snapshot.step == 49
        SMALL.write(journal)
    assert list(rows(journal.path)) == list(rows(whole))


def test_another_match_on_a_second_run_is_an_error_that_names_the_row(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        SMALL.write(journal, until=12)
    db = sqlite3.connect(journal.path)
    with db:
        db.execute("DELETE FROM snapshots")
    db.close()
    other = WrittenMatch(seconds=160, halves=2, gap_at=30, texts={"current": "Something else is said."})
    with Journal.open(journal.path) as journal:
        with pytest.raises(JournalConflict, match=r"utterances .*#1-u0016 of step 4 differs in text.*Something else"):
            other.write(journal)
        assert journal.last == 12 and journal.waiting == 0


def test_a_row_less_or_more_on_a_second_run_is_found(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        with journal.step(half_end(4)) as step:
            step.utterance(sentence("Once."))
        journal.resume()
        with pytest.raises(JournalConflict, match="1 rows of utterances before and 0 now"), journal.step(half_end(4)):
            pass
        journal.resume()
        with pytest.raises(JournalConflict, match="was not there"), journal.step(half_end(4)) as step:
            step.utterance(sentence("Once."))
            step.utterance(sentence("Twice."))
        journal.resume()
        with (
            pytest.raises(JournalConflict, match="steps 1 of step 1 differs in start"),
            journal.step(half_end(8)) as step,
        ):
            step.utterance(sentence("Once."))
        journal.resume()
        with journal.step(half_end(4)) as step:
            assert step.utterance(sentence("Once.")) == f"{MATCH}#1-u0004"
        with JournalReader(journal.path) as reader:
            assert [each.text for each in reader.lines()] == ["Once."]


def test_the_last_two_snapshots_are_kept_and_damaged_ones_are_not_believed(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        for number in range(5):
            with journal.step(half_end(4.0 * number)) as step:
                step.snapshot({"number": number, "tokens": np.full((2, 3), number, dtype=np.float32)})
        db = sqlite3.connect(journal.path)
        assert [step for (step,) in db.execute("SELECT step FROM snapshots ORDER BY step")] == [4, 5]
        found = journal.resume()
        assert found is not None and found.step == 5 and found.state["number"] == 4
        assert np.array_equal(found.state["tokens"], np.full((2, 3), 4.0))
        with db:
            db.execute("UPDATE snapshots SET sha256 = ''")
        db.close()
        with pytest.raises(JournalBroken, match="snapshots"):
            journal.resume()


def test_notes_between_steps_stand_at_once_and_do_not_disturb_a_second_run(tmp_path: Path) -> None:
    with empty(tmp_path) as journal, JournalReader(journal.path) as reader:
        with journal.step(half_end()) as step:
            step.note(NoteKind.FAULT, "slow", "It took long.")
        journal.tell(NoteKind.NOTICE, "reconnecting", "No picture for 10 s.", at=4.0)
        journal.tell(NoteKind.NOTICE, "reconnected", "The picture is back.", at=4.0)
        assert [each.code for each in reader.notes()] == ["slow", "reconnecting", "reconnected"]
        journal.resume()
        with journal.step(half_end()) as step:
            step.note(NoteKind.FAULT, "slow", "It took long.")
        assert len(list(reader.notes())) == 3


CHILD = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, sys.argv[2])
    from pathlib import Path
    from streamsoccer.journal import Journal
    from written_match import HEADER, WrittenMatch
    path = Path(sys.argv[1])
    journal = Journal.open(path) if path.exists() else Journal.create(path, HEADER)
    print("open", flush=True)
    WrittenMatch(seconds=160, halves=2, gap_at=30).write(journal)
    journal.close()
    print("done", flush=True)
    """
)


def run_killed(path: Path, kills: int, seed: int) -> int:
    """Write a match in a process that is killed at random moments and started again; how often it was killed."""
    chance, killed = random.Random(seed), 0
    while True:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        with child, child.stdout:
            first = child.stdout.readline()
            if killed < kills and first:
                time.sleep(chance.random() * 0.12)
                child.send_signal(signal.SIGKILL)
                killed += 1
            last = child.stdout.read()
        assert child.returncode in (0, -signal.SIGKILL)
        if path.exists():
            with JournalReader(path) as reader:
                assert [each.step for each in reader.steps()] == list(range(1, len(list(reader.steps())) + 1))
        if "done" in last and child.returncode == 0:
            return killed


def test_a_killed_match_goes_on_and_nothing_is_lost_or_doubled(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "match.journal"
    assert run_killed(path, kills=4, seed=1) >= 1
    assert list(rows(path)) == list(rows(whole))


@pytest.mark.acceptance
def test_a_hundred_kills(tmp_path: Path, whole: Path) -> None:
    from results import record

    killed = 0
    for seed in range(100):
        path = tmp_path / f"{seed}.journal"
        killed += run_killed(path, kills=1, seed=seed)
        assert list(rows(path)) == list(rows(whole))
    figures = {"kills": killed, "journals equal to one written in a piece": 100}
    record("journal_kills", figures, "pytest -m acceptance tests/test_journal.py")


# --- what can be wrong -----------------------------------------------------------------------------------------------


def test_a_full_disk_costs_nothing_but_time(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        with journal.step(half_end(12)) as step:
            step.event(memory(0), ClosedBy.LEARNED)
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count = {pages}")
        big = np.zeros((9, 4096), dtype=np.float32)
        for start in (12.0, 24.0):
            with pytest.raises(JournalFull, match="disk is full"), journal.step(half_end(start + 12)) as step:
                step.event(memory(start, tokens=big), ClosedBy.LEARNED)
                step.utterance(sentence("It goes on.", start + 12))
                step.snapshot({"at": start})
        assert journal.waiting == 2 and journal.last == 1
        journal._db.execute("PRAGMA max_page_count = 1000000")
        with journal.step(half_end(48)) as step:
            step.note(NoteKind.FAULT, "disk_full", "The disk was full for two steps.")
            step.snapshot({"at": 48.0})
        assert journal.waiting == 0 and journal.last == 4
        with JournalReader(journal.path) as reader:
            assert [each.start for each in reader.closures()] == [0.0, 12.0, 24.0]
            assert [each.step for each in reader.steps()] == [1, 2, 3, 4]
        snapshot = journal.resume()
        assert snapshot is not None and snapshot.state == {"at": 48.0}


def test_two_writers_are_one_too_many_and_readers_are_not(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        with pytest.raises(JournalLocked, match="another process"):
            Journal.open(journal.path)
        with JournalReader(journal.path), JournalReader(journal.path), journal.step(half_end()):
            pass
    with Journal.open(journal.path) as journal:
        assert journal.last == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["match.journal"]


def test_a_journal_is_never_written_over(tmp_path: Path) -> None:
    with empty(tmp_path) as journal, journal.step(half_end()):
        pass
    with pytest.raises(JournalExists, match="--resume"):
        empty(tmp_path)
    with Journal.open(journal.path) as journal:
        assert journal.last == 1


def test_files_that_are_no_journal_are_refused_by_name(tmp_path: Path) -> None:
    text, other, missing = (tmp_path / name for name in ("text.journal", "other.journal", "missing.journal"))
    text.write_text("kick-off\n" * 400, encoding="utf-8")
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE steps(step)")
    db.close()
    for path in (text, other, missing):
        before = path.read_bytes() if path.exists() else None
        for opening in (Journal.open, JournalReader):
            with pytest.raises(NotAJournal, match=path.name):
                opening(path)  # type: ignore[operator]
        assert (path.read_bytes() if path.exists() else None) == before
    with pytest.raises(JournalUnwritable, match="cannot be written"):
        Journal.create(tmp_path / "nowhere" / "match.journal", HEADER)


def test_a_journal_of_another_schema_is_refused(tmp_path: Path) -> None:
    with empty(tmp_path) as journal:
        pass
    db = sqlite3.connect(journal.path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    for opening in (Journal.open, JournalReader):
        with pytest.raises(JournalSchema, match="schema 99"):
            opening(journal.path)  # type: ignore[operator]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "match.journal", seconds=80)
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(each ^ 0x5A for each in data[4096:])
    path.write_bytes(data)
    with pytest.raises(JournalError, match=r"match\.journal"), JournalReader(path) as reader:
        list(reader.lines())


# --- corrections -----------------------------------------------------------------------------------------------------


def test_a_sentence_is_hidden_and_corrected_by_rows_that_name_it(tmp_path: Path) -> None:
    with empty(tmp_path) as journal, JournalReader(journal.path) as reader:
        with journal.step(half_end()) as step:
            name = step.utterance(sentence("[TEAM] score."), said="Alder Town score.")
            held = step.utterance(sentence("A repeat."), status=Status.HELD, reason="said before")
        shown = {each.line.id: each for each in reader.shown()}
        assert (shown[name].text, shown[name].visible) == ("Alder Town score.", True)
        assert not shown[held].visible
        Journal.correct(journal.path, name, CorrectionKind.HIDE, why="offside")  # while the match is being written
        Journal.correct(journal.path, held, CorrectionKind.SHOW)
        with journal.step(half_end(8)):
            pass
        assert [each.visible for each in reader.shown()] == [False, True]
        Journal.correct(journal.path, name, CorrectionKind.SHOW)
        Journal.correct(journal.path, name, CorrectionKind.CORRECT, text="Brook Rovers score.")
        found = {each.line.id: each for each in reader.shown()}[name]
        assert (found.text, found.visible, len(found.corrections)) == ("Brook Rovers score.", True, 3)
        assert found.line.said == "Alder Town score."
        assert isinstance(next(each.row for each in reader.since() if each.table == "utterances"), Line)
        with pytest.raises(JournalError, match="no utterance nothing"):
            Journal.correct(journal.path, "nothing", CorrectionKind.HIDE)
        with pytest.raises(JournalError, match="needs a text"):
            Journal.correct(journal.path, name, CorrectionKind.CORRECT, text=" ")


# --- states as bytes -------------------------------------------------------------------------------------------------

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT.filter(lambda name: name != "$leaf"), inner),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(plain=PLAIN, dtype=st.sampled_from(["<f4", "<f8", "<i8", "|u1", "|b1"]), shape=st.lists(st.integers(0, 3)))
def test_a_packed_state_comes_back(plain: Any, dtype: str, shape: list[int]) -> None:
    array = np.random.default_rng(0).integers(0, 2, size=shape).astype(dtype)
    found = unpack(pack({"plain": plain, "arrays": [array, {"again": array}]}))
    assert found["plain"] == plain
    for each in (found["arrays"][0], found["arrays"][1]["again"]):
        assert each.dtype == array.dtype and each.shape == array.shape and np.array_equal(each, array)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_a_packed_tensor_comes_back(dtype: str, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.randn(shape).to(getattr(torch, dtype))
    (found,) = unpack(pack({"tokens": tensor})).values()
    assert found.dtype == tensor.dtype and torch.equal(found, tensor)
    found.zero_()  # it is a copy that can be written to, not a view of the bytes


def test_what_cannot_be_saved_is_named_and_what_is_not_whole_is_refused() -> None:
    with pytest.raises(DataError, match=r"\.scheduler\.clock.*object"):
        pack({"scheduler": {"clock": object()}})
    data = pack({"tokens": np.zeros(4)})
    for wrong in (b"", data[:-1], data + b"x", b"\xff" * 40):
        with pytest.raises(DataError):
            unpack(wrong)

"""A match read again: the replay comes out the same, why a line was said; what is held back, and what comes late."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")

from running import a_match, clips, header, last_step, lines, run, stands, with_voice
from streamsoccer.clock import ManualClock
from streamsoccer.domain import MatchSheet
from streamsoccer.errors import UsageError
from streamsoccer.feed import Feed
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import NoteKind, Segment, Status
from streamsoccer.live import LiveMatch, rest
from streamsoccer.mind import Mind
from streamsoccer.outputs.replayed import show_replay
from streamsoccer.outputs.why import explain
from streamsoccer.replay import Replayed, replay, runtime_of
from streamsoccer.runtime import RuntimeConfig
from streamsoccer.stream import MatchStream
from streamsoccer.voice import Asked, Given

FEED = (
    '{"at": "1 - 00:30", "kind": "goal", "side": "home", "player": "J. Vale", "available": "1 - 00:50"}\n'
    '{"at": "2 - 00:10", "kind": "yellow card", "side": "away"}\n'
)
SHEET = MatchSheet(home="Alder Town", away="Brook Rovers")


def again(path: Path, mind: Mind) -> list[Replayed]:
    with JournalReader(path) as reader:
        return list(replay(reader, Mind(mind.pretrained, runtime_of(reader), voice=mind.voice)))


def told(path: Path, what: str) -> str:
    with JournalReader(path) as reader:
        return "\n".join(explain(reader, what))


@pytest.fixture(scope="module")
def whole(mind: Mind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "feed.jsonl").write_text(FEED)
    run(mind, a_match(60), folder / "m.journal", feed=folder / "feed.jsonl", sheet=SHEET)
    return folder / "m.journal"


# --- again -----------------------------------------------------------------------------------------------------------


def test_a_replay_without_the_video_says_the_same(mind: Mind, whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = again(whole, mind)
    assert [each.differences for each in found if each.differences] == []
    said = [each.said.said for each in found if each.said is not None]
    assert said == [each.said for each in lines(whole)] and len(said) > 8
    assert sum(each.records for each in found) > 10 and sum(each.decisions for each in found) > 40
    assert show_replay(found, as_json=False)
    assert "all the same" in capsys.readouterr().err


def test_a_replay_of_a_match_at_real_pace_obeys_its_journal(mind: Mind, tmp_path: Path) -> None:
    """Records were ready when the clock said so, which no machine does twice."""
    run(mind, a_match(30), tmp_path / "m.journal", real=True)
    assert not any(each.differences for each in again(tmp_path / "m.journal", mind))


def test_a_replay_finds_what_is_not_as_it_was(
    mind: Mind, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.journal"
    shutil.copy(whole, path)
    db = sqlite3.connect(path)
    for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    (name,) = db.execute("SELECT id FROM utterances LIMIT 1 OFFSET 3").fetchone()
    db.execute("UPDATE utterances SET text = 'Never said.' WHERE id = ?", (name,))
    (last,) = db.execute("SELECT id FROM records ORDER BY seq DESC").fetchone()  # no line was said from it
    db.execute("UPDATE records SET state = json_set(state, '$.text', 'Never written.') WHERE id = ?", (last,))
    (step,) = db.execute("SELECT step FROM decisions WHERE gates LIKE '%no_event%'").fetchone()
    db.execute("UPDATE decisions SET gates = replace(gates, 'no_event', 'few_events') WHERE step = ?", (step,))
    db.commit()
    db.close()
    found = again(path, mind)
    differ = Counter(one.what for each in found for one in each.differences)
    assert differ["sentence"] == 1 and differ["record"] == 1 and differ["decision"] == 1
    assert name in {one.where for each in found for one in each.differences}
    assert not show_replay(found, as_json=True)
    assert '"same": false' in capsys.readouterr().out


# --- why -------------------------------------------------------------------------------------------------------------


def test_the_time_that_a_line_was_printed_with_leads_to_it(whole: Path) -> None:
    for line in lines(whole):
        printed = f"{line.cutoff.half} - {int(line.cutoff.seconds) // 60:02d}:{int(line.cutoff.seconds) % 60:02d}"
        assert told(whole, printed).startswith(f"{line.cutoff}  {line.track.value}  {line.status.value}")


def test_why_a_line_was_said_and_from_what(whole: Path) -> None:
    for line in lines(whole):
        text = told(whole, line.id.rpartition("#")[2])
        assert text.splitlines()[0] == f"{line.cutoff}  {line.track.value}  {line.status.value}" + (
            f": {line.reason}" if line.reason else ""
        )
        assert "spoken because" in text and "said from" in text and f"cutoff      {line.cutoff}" in text
        assert all(each.ref.rpartition("#")[2] in text for each in line.evidence)
        assert line.evidence and all(
            (each.half, each.end) <= (line.cutoff.half, line.cutoff.seconds) for each in line.evidence
        )
        structural = line.latency.segments.get(Segment.CLOSING, 0.0)
        assert f"of which {structural:.2f} s no machine could save" in text
    assert "score 1-0" in told(whole, "1 - 00:50") and "sure" in told(whole, "1 - 00:50")
    assert "score 0-0" in told(whole, "1 - 00:44"), "the goal is known from 00:50 on"


def test_why_there_was_silence(whole: Path) -> None:
    with JournalReader(whole) as reader:
        silent = [each for each in reader.steps() if each.kind.value == "clip"]
        spoken = {(each.cutoff.half, each.cutoff.seconds) for each in reader.lines()}
    reasons: Counter[str] = Counter()
    for each in silent:
        if (each.half, each.end) in spoken:
            continue
        second = int(each.start) + 1  # in the midst of the clip: where it starts, the one before was decided on
        text = told(whole, f"{each.half} - {second // 60:02d}:{second % 60:02d}")
        assert "silence" in text.splitlines()[0]
        found = re.search(r"silent because\s+current\s+(\w+)", text)
        assert found, text
        reasons[found[1]] += 1
    assert {"no_event", "event_cooldown"} <= set(reasons)


def test_why_of_events_records_and_what_is_not_there(whole: Path) -> None:
    with JournalReader(whole) as reader:
        event, rec = next(reader.closures()), next(reader.records())
    assert "event" in told(whole, event.id) and "closed by" in told(whole, event.id)
    text = told(whole, rec.id.rpartition("#")[2])
    assert rec.text in text and rec.event.rpartition("#")[2] in text and f"ready       {rec.ready_at}" in text
    for wrong in ("nothing", "3 - 00:00", "1 - 59:00"):
        with pytest.raises(UsageError, match=r"there is no|nothing was taken in"):
            told(whole, wrong)


# --- held back, repeated, late ---------------------------------------------------------------------------------------


def test_a_line_against_the_feed_is_held_back_and_counted_and_without_a_feed_it_is_not(
    mind: Mind, tmp_path: Path
) -> None:
    def script(asked: Asked, place: int) -> str:
        return "A caption." if asked.max_tokens == 8 else f"It is {place % 2 + 1}-0 with {place} gone."

    (tmp_path / "feed.jsonl").write_text(FEED)
    held = with_voice(mind, script, config=RuntimeConfig())
    run(held, clips(40), tmp_path / "fed.journal", feed=tmp_path / "feed.jsonl", sheet=SHEET)
    found = lines(tmp_path / "fed.journal")
    for each in found:
        true = "It is 1-0" in each.text and each.cutoff.seconds >= 50
        assert each.status is (Status.SAID if true else Status.HELD)
        assert true or each.reason.startswith("contradicts what is sure: '")
    with JournalReader(tmp_path / "fed.journal") as reader:
        assert reader.counters()["contradictions"] == sum(each.status is Status.HELD for each in found) > 2
        assert len([each for each in reader.shown() if each.visible]) == sum(
            each.status is Status.SAID for each in found
        )
    run(with_voice(mind, script, config=RuntimeConfig()), clips(40), tmp_path / "m.journal")
    assert all(each.status is Status.SAID for each in lines(tmp_path / "m.journal")), "what is unsure never blocks"


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def duplicates(said: Sequence[str]) -> tuple[int, int]:
    """How many of these repeat an earlier one exactly, or nearly: nine tenths of all their words."""
    exact = len(said) - len({" ".join(each.casefold().split()) for each in said})
    near = {
        late
        for (_, one), (late, other) in combinations(enumerate(said), 2)
        if len(words(one) & words(other)) >= 0.9 * len(words(one) | words(other))
    }
    return exact, len(near)


def test_no_half_hears_a_thing_twice(mind: Mind, tmp_path: Path) -> None:
    """A voice that knows six sentences, each in two wordings that differ by a comma."""

    def script(asked: Asked, place: int) -> str:
        if asked.max_tokens == 8:
            return "A caption."
        sentence = f"Number {place % 6} of all that there is to be told"
        return f"{sentence}, again." if place % 2 else f"{sentence} again."

    run(with_voice(mind, script, config=RuntimeConfig()), a_match(120), tmp_path / "m.journal")
    found = lines(tmp_path / "m.journal")
    for half in (1, 2):
        said = [each.said for each in found if each.cutoff.half == half and each.status is Status.SAID]
        assert len(said) == 6 and duplicates(said) == (0, 0), "and a new half may say all of it again"
    held = [each for each in found if each.status is Status.HELD]
    with JournalReader(tmp_path / "m.journal") as reader:
        assert reader.counters()["repetitions"] == len(held) > 10
    assert {each.reason for each in held} == {"was said already in this half"}


class Slow(ManualClock):
    """A clock on which waiting is a matter of saying so."""

    def wait(self, seconds: float, until: object = None) -> bool:
        self.advance(max(0.0, seconds))
        return False


def test_a_generator_slower_than_the_match_costs_captions_first_and_the_match_ends(mind: Mind, tmp_path: Path) -> None:
    """At real pace each text takes twelve seconds: the captions' queue is bounded, its oldest let go and counted."""
    clock = Slow()

    def script(asked: Asked, place: int) -> str | Given:
        clock.advance(12.0)
        return "A caption." if asked.max_tokens == 8 else "A sentence."

    slow = with_voice(mind, script, record=replace(mind.record, backlog=5))
    path = tmp_path / "m.journal"
    stream = MatchStream(slow, "m", clock=clock, real=True)
    with LiveMatch.open(stream, path, header(mind, pace="real"), clock=clock, hold=True) as match:
        match.run(clips(80))
    with JournalReader(path) as reader:
        counters = reader.counters()
        dropped = [each for each in reader.notes() if each.kind is NoteKind.DROPPED]
        steps = list(reader.steps())
        events, written = len(list(reader.closures())), list(reader.records())
    assert counters["clips"] == 80 and counters["said"] == len(lines(path)) > 10
    assert len(dropped) == counters["captions_dropped"] > 10
    assert events == len(written) + len(dropped), "each event has its record, or a note that says why not"
    assert max(each.pending for each in steps) == 5
    assert all(one.ready_at <= other.ready_at for one, other in pairwise(written))
    late = [each.latency.segments[Segment.WAITING] for each in lines(path)]
    assert max(late) > 8, "how late a line came is in its delay"
    assert not any(each.differences for each in again(path, slow))


def test_a_match_with_a_feed_goes_on_after_a_pause_as_if_there_had_been_none(
    mind: Mind, whole: Path, tmp_path: Path
) -> None:
    feed, path, items = tmp_path / "feed.jsonl", tmp_path / "m.journal", a_match(60)
    feed.write_text(FEED)
    made = header(mind)
    made = replace(made, options={**made.options, "feed": "feed.jsonl"})
    for stop in (13, 31, 1000):
        stream = MatchStream(mind, "m", sheet=SHEET, feed=Feed(feed, SHEET))
        with LiveMatch.open(stream, path, made, resume=path.exists()) as match:
            for item in rest(items, stream.state.position) if stream.state.step else items:
                if stream.state.step >= stop:
                    break
                match.take(item)
            else:
                match.end()
    assert stands(path) == stands(whole) and last_step(path) == last_step(whole)


def test_a_live_source_that_is_taken_up_again_goes_on_behind_a_gap(mind: Mind, tmp_path: Path) -> None:
    """It starts where it is now, with times of its own: the match's time goes on, and nothing spans the gap."""
    path = tmp_path / "m.journal"
    for first in (True, False):
        with LiveMatch.open(MatchStream(mind, "m", real=True), path, header(mind), resume=not first) as match:
            if first:
                for item in clips(11):
                    match.take(item)
            else:
                match.run(clips(9, seed=3), live=True)
    with JournalReader(path) as reader:
        steps, notes, closures = list(reader.steps()), list(reader.notes()), list(reader.closures())
    assert [each.step for each in steps] == list(range(1, len(steps) + 1))
    (gap,) = [each for each in notes if each.kind is NoteKind.GAP]
    assert (gap.code, gap.start, gap.end) == ("reconnected", 44, 44) and steps[-1].end == 44 + 36
    assert not any(each.start < gap.start < each.end for each in closures)

"""A match as it runs: causal, the same among others and after a pause, and going on whatever fails."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from results import record  # noqa: E402
from running import a_match, clip, clips, gap, header, lines, moments, run, with_voice  # noqa: E402
from streamsoccer.clip import Clip, Gap  # noqa: E402
from streamsoccer.clock import Cutoff, MatchTime  # noqa: E402
from streamsoccer.commentary import MemoryGate, Scope  # noqa: E402
from streamsoccer.domain import Track  # noqa: E402
from streamsoccer.errors import CheckpointError, FutureLeak, UsageError  # noqa: E402
from streamsoccer.journal_reader import JournalReader  # noqa: E402
from streamsoccer.journal_rows import ClosedBy, EvidenceKind, NoteKind, Status  # noqa: E402
from streamsoccer.live import LiveMatch  # noqa: E402
from streamsoccer.mind import Mind  # noqa: E402
from streamsoccer.moment import Moment  # noqa: E402
from streamsoccer.packing import pack, unpack  # noqa: E402
from streamsoccer.record import Drain, RecordConfig  # noqa: E402
from streamsoccer.runtime import RuntimeConfig  # noqa: E402
from streamsoccer.schedule import ScheduleConfig  # noqa: E402
from streamsoccer.stream import MatchStream, step_together  # noqa: E402
from streamsoccer.voice import Asked, Given  # noqa: E402
from written_match import rows  # noqa: E402

Item = Clip | Gap


def told(found: Sequence[Moment]) -> list[object]:
    """All that steps brought and that does not depend on how fast the machine was."""
    return [
        (
            str(each.at),
            [(memory.event, pack(memory.state()), by.value) for memory, by in each.closed],
            [(one.state(), one.key.tobytes()) for one in each.records],
            each.decision,
            [(one.utterance, one.said, one.status, one.reason, one.evidence) for one in each.said],
            each.notes,
            (each.active, each.transition, each.pending, each.facts, each.counts),
        )
        for each in found
    ]


# --- the paper's section 4 -------------------------------------------------------------------------------------------


def test_a_match_runs_in_all_modes_and_its_parts_agree(mind: Mind) -> None:
    rarely = RuntimeConfig(repeat=True, schedule=ScheduleConfig(event_cooldown=40.0))  # or the window gets no turn
    found = moments(Mind(mind.pretrained, rarely), clips(70))
    assert {one.utterance.track for each in found for one in each.said} == set(Track)
    closed = [memory for each in found for memory, _ in each.closed]
    assert closed and all(one.end == other.start for one, other in pairwise(closed))
    assert closed[-1].end.seconds == 280 and found[-1].closed[-1][1] is ClosedBy.HALF_END
    written = [one for each in found for one in each.records]
    assert [each.event for each in written] == [each.event for each in closed]
    for each in found:
        assert each.decision is not None and len(each.decision.gates) == 3
        for one in each.said:
            assert all(piece.end <= each.at.seconds for piece in one.evidence)
            kinds = {piece.kind for piece in one.evidence}
            if one.utterance.track is Track.CURRENT:
                assert kinds == {EvidenceKind.EVENT} and one.active is None
            else:
                assert one.active is not None
        for one in each.records:  # of a memory that closed before, ready with this step and not sooner
            assert one.ready_at == each.at


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("gate", list(MemoryGate))
def test_a_line_sees_what_the_model_was_trained_to_see(mind: Mind, gate: MemoryGate, scope: Scope) -> None:
    """By its scope, or where the gate is learned by what the route head asks for: here always the same."""
    mine = Mind(mind.pretrained, RuntimeConfig(repeat=True, schedule=ScheduleConfig(event_cooldown=40.0)))
    assert (mine.scope, mine.gate) == (Scope.FULL, MemoryGate.RULE)  # a model that says nothing of it
    mine.gate = gate
    wide: Any = mine.model.context.route[-1]
    kept = wide.weight.clone(), wide.bias.clone()
    if gate is MemoryGate.RULE:
        mine.scope = scope
    with torch.no_grad():
        wide.weight.zero_()
        wide.bias.copy_(torch.nn.functional.one_hot(torch.tensor(list(Scope).index(scope)), 3))
    try:
        found = moments(mine, clips(70))
    finally:
        with torch.no_grad():
            wide.weight.copy_(kept[0])
            wide.bias.copy_(kept[1])
    seen: dict[Track, set[EvidenceKind]] = {track: set() for track in Track}
    for each in found:
        for one in each.said:
            seen[one.utterance.track] |= {piece.kind for piece in one.evidence}
    local = set() if scope is Scope.CURRENT else {EvidenceKind.EVENT}
    assert seen[Track.CURRENT] == {EvidenceKind.EVENT}
    assert seen[Track.RECENT] == {EvidenceKind.ACTIVE} | local
    assert seen[Track.HISTORICAL] == {EvidenceKind.ACTIVE} | local | (
        {EvidenceKind.RECORD} if scope is Scope.FULL else set()
    )


def test_no_event_is_longer_than_24_seconds_and_a_half_starts_anew(mind: Mind) -> None:
    found = moments(mind, a_match(40))
    closed = [memory for each in found for memory, _ in each.closed]
    assert max(each.end.seconds - each.start.seconds for each in closed) <= 24
    second = [each for each in found if each.at.half == 2]
    assert second[0].active_start == 0 and not second[0].closed
    seen = [piece for each in second for one in each.said for piece in one.evidence]
    assert seen and all(piece.half == 2 for piece in seen)


def test_a_fact_of_the_future_is_a_crash(mind: Mind) -> None:
    stream = MatchStream(mind, "m")
    for item in clips(8):
        stream.step(item)
    with pytest.raises(FutureLeak):
        stream.state.active(Cutoff(MatchTime(1, 16.0)))
    with pytest.raises(UsageError, match="order of time"):
        stream.step(clip(3))


# --- causal ----------------------------------------------------------------------------------------------------------


def future_changed(items: Sequence[Item], at: int, seed: int) -> list[Item]:
    """The same up to item `at`, and other pictures, gaps and lengths after it."""
    rng = np.random.default_rng(seed)
    later: list[Item] = []
    for item in items[at:]:
        if isinstance(item, Gap) or rng.random() < 0.1:
            later.append(Gap(half=item.half, start=item.start, end=item.end, reason=gap(0, 1).reason, detail="other"))
        else:
            later.append(replace(item, frames=rng.integers(0, 256, item.frames.shape, dtype=np.uint8)))
    return [*items[:at], *later]


def check_causal(mind: Mind, folder: Path, count: int, items: Sequence[Item], seed: int) -> int:
    """How many lines were said before the moments at which the future was changed."""
    rng = random.Random(seed)
    run(mind, items, folder / "whole.journal")
    whole = list(rows(folder / "whole.journal"))
    compared = 0
    for place in range(count):
        at = rng.randrange(5, len(items))
        path = folder / f"{place}.journal"
        run(mind, future_changed(items, at, seed + place), path)
        other = list(rows(path))
        steps = at + (items[at - 1].half == 2)  # with the end of the first half
        before = [row for row in whole if row[2] <= steps]
        assert before == [row for row in other if row[2] <= steps]
        assert [row for row in other if row[2] > steps] != [row for row in whole if row[2] > steps]
        compared += sum(row[0] == "utterances" for row in before)
    return compared


def test_what_was_said_before_does_not_depend_on_what_comes_after(mind: Mind, tmp_path: Path) -> None:
    assert check_causal(mind, tmp_path, 4, a_match(36), seed=1) > 10


@pytest.mark.acceptance
def test_twenty_other_futures(mind: Mind, tmp_path: Path) -> None:
    items = a_match(150)
    compared = check_causal(mind, tmp_path, 20, items, seed=5)
    figures = {"futures": 20, "clips": len(items), "lines_before_compared": compared, "different_rows": 0}
    record("run_causality", figures, "pytest -m acceptance tests/test_stream.py -k twenty")


# --- among others ----------------------------------------------------------------------------------------------------


def test_what_a_match_says_does_not_depend_on_who_shares_its_batch(mind: Mind) -> None:
    all_items = [a_match(26 + 2 * (seed % 3), seed=seed) for seed in range(8)]
    alone = [told(moments(mind, items)) for items in all_items]
    for size in (3, 8):
        streams = [MatchStream(mind, "m") for _ in range(size)]
        found: list[list[Moment]] = [[] for _ in range(size)]
        longest = max(len(each) for each in all_items[:size])
        for place in range(longest + 1):
            going = [one for one in range(size) if place <= len(all_items[one])]
            items = [all_items[one][place] if place < len(all_items[one]) else None for one in going]
            for one, brought in zip(going, step_together([streams[each] for each in going], items), strict=True):
                found[one].extend(brought)
        for one in range(size):
            assert told(found[one]) == alone[one], f"match {one} of {size}"
    assert sum(len(each.said) for each in moments(mind, all_items[0])) > 5


def test_matches_that_step_together_share_their_weights(mind: Mind) -> None:
    other = Mind(mind.pretrained)
    with pytest.raises(UsageError, match="share one Mind"):
        step_together([MatchStream(mind, "a"), MatchStream(other, "b")], [clip(0), clip(0)])


# --- saved and loaded ------------------------------------------------------------------------------------------------


def test_a_match_goes_on_from_its_state_as_if_nothing_had_been(mind: Mind) -> None:
    items = a_match(30)
    whole = told(moments(mind, items))
    for at in (1, 7, 16, 31, 40):
        first = MatchStream(mind, "m")
        found = [each for item in items[:at] for each in first.step(item)]
        second = MatchStream(mind, "m")
        second.state.load(unpack(pack(first.state.save())))
        assert pack(second.state.save()) == pack(first.state.save())
        found += [each for item in items[at:] for each in second.step(item)] + second.end()
        assert told(found) == whole


def test_a_state_of_another_match_model_or_version_is_refused(mind: Mind, tmp_path: Path) -> None:
    stream = MatchStream(mind, "m")
    for item in clips(6):
        stream.step(item)
    stream.state.write(tmp_path / "state")
    other = MatchStream(mind, "m")
    other.state.read(tmp_path / "state")
    assert pack(other.state.save()) == pack(stream.state.save())
    for name, value in (("match", "n"), ("model", "x"), ("version", 99)):
        with pytest.raises(CheckpointError, match=f"of another {name}|with another {name}"):
            MatchStream(mind, "m").state.load({**stream.state.save(), name: value})


# --- captions --------------------------------------------------------------------------------------------------------


def captions_of(mind: Mind) -> list[int]:
    """The sizes of the batches of captions that were asked for."""
    limit = mind.record.caption_tokens
    batches = mind.voice.batches  # type: ignore[attr-defined]
    return [len(each) for each in batches if each and each[0].max_tokens == limit]


def speaking(asked: Asked, place: int) -> str:
    return f"Caption number {place}." if asked.max_tokens == 8 else f"Sentence number {place}."


def test_captions_go_in_batches_of_four_and_the_end_of_a_half_drains_all(mind: Mind) -> None:
    scripted = with_voice(mind, speaking)
    found = moments(scripted, clips(50))
    sizes = captions_of(scripted)
    assert max(sizes) == 4 and sum(sizes) == sum(len(each.closed) for each in found)
    assert set(sizes[:-1]) == {4}
    assert all(each.pending < 4 for each in found) and found[-1].pending == 0
    assert len(found[-1].records) == sizes[-1] or sizes[-1] == 4


def test_a_caption_is_written_before_its_memory_leaves_the_buffer(mind: Mind) -> None:
    """Two events, then nothing for three minutes: they do not wait for two more."""
    scripted = with_voice(mind, speaking)
    stream = MatchStream(scripted, "m")
    items: list[Item] = [*clips(7)]
    found = [each for item in items for each in stream.step(item)]
    pending = found[-1].pending
    assert 0 < pending < 4
    oldest = stream.state.queue.pending[0].memory
    for start in range(28, 400, 4):
        (moment,) = stream.step(gap(float(start), start + 4.0))
        if moment.records:
            break
    assert {each.event for each in moment.records} >= {oldest.event}
    left = moment.at.seconds - oldest.end.seconds
    assert 176 <= left <= 180, "with the last clip before it leaves"


def test_immediate_captions_wait_for_nobody(mind: Mind) -> None:
    scripted = with_voice(mind, speaking, config=RuntimeConfig(repeat=True, drain=Drain.IMMEDIATE))
    found = moments(scripted, clips(20))
    assert set(captions_of(scripted)) == {1}
    assert all(each.pending == 0 and len(each.records) == len(each.closed) for each in found)


def test_an_empty_caption_makes_no_record_and_is_counted(mind: Mind) -> None:
    def script(asked: Asked, place: int) -> str:
        return speaking(asked, place) if asked.max_tokens != 8 or place % 3 else " ... "

    found = moments(with_voice(mind, script), clips(40))
    events = sum(len(each.closed) for each in found)
    counts = found[-1].counts
    empty = counts["captions_empty"]
    assert empty > 3 and counts["captions"] == events == empty + sum(len(each.records) for each in found)


def test_a_record_holds_the_match_as_it_was_at_the_closure(mind: Mind, tmp_path: Path) -> None:
    """A goal that is known between an event's closure and its caption is not in its record."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text('{"at": "1 - 00:20", "kind": "goal", "side": "home"}\n')
    run(with_voice(mind, speaking), clips(30), tmp_path / "m.journal", feed=feed)
    with JournalReader(tmp_path / "m.journal") as reader:
        closures = {each.id: each for each in reader.closures()}
        written = list(reader.records())
    late = 0
    for each in written:
        tally = each.context.tally
        assert each.context.sure and tally is not None
        assert each.context.at.seconds == closures[each.event].available_at
        assert tally.home.goals == (closures[each.event].available_at >= 20)
        late += each.ready_at.seconds >= 20 > closures[each.event].available_at
    assert late, "the test needs an event that closed before the goal and was captioned after it"


def test_a_slow_generator_costs_the_oldest_captions_and_nothing_else(mind: Mind) -> None:
    scripted = with_voice(mind, speaking, record=RecordConfig(caption_tokens=8, backlog=6))
    stream = MatchStream(scripted, "m", real=True)
    found = [each for item in clips(40) for each in stream.step(item, lag=30.0)]
    assert found[-1].pending == 6 and not any(each.records for each in found)
    dropped = [note for each in found for note in each.notes if note.kind is NoteKind.DROPPED]
    assert len(dropped) == found[-1].counts["captions_dropped"] == sum(len(each.closed) for each in found) - 6
    assert any(each.said for each in found), "sentences are asked for all the same"
    (last,) = stream.end()
    assert len(last.records) + len(last.closed) >= 6 and last.pending == 0


# --- what fails ------------------------------------------------------------------------------------------------------


def test_generation_that_fails_or_says_nothing_costs_its_own_line(mind: Mind, tmp_path: Path) -> None:
    def script(asked: Asked, place: int) -> str | Given:
        if place % 5 == 1:
            raise MemoryError("no room for the cache")
        return "" if place % 5 == 2 else speaking(asked, place)

    path = tmp_path / "m.journal"
    run(with_voice(mind, script), clips(40), path)
    said = lines(path)
    failed = [each for each in said if each.status is Status.FAILED]
    assert failed and all(not each.text and each.reason for each in failed)
    assert any(each.status is Status.SAID for each in said)
    with JournalReader(path) as reader:
        faults = [each for each in reader.notes() if each.kind is NoteKind.FAULT]
        counts = reader.counters()
    assert {each.code for each in faults} == {"generation", "caption"}
    assert any("no room for the cache" in each.text for each in faults)
    assert counts["clips"] == 40 and counts["captions_failed"] > 0 and counts["captions_empty"] > 0
    assert counts["sentences_failed"] == len(failed)


def test_a_generator_that_breaks_on_one_request_still_says_the_others(
    mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = mind.pretrained.language
    whole = language.generate

    def breaks(requests: Sequence[object]) -> object:
        if len(requests) > 1:
            raise RuntimeError("out of memory")
        return whole(requests)  # type: ignore[arg-type]

    expected = told(moments(mind, clips(30)))
    monkeypatch.setattr(language, "generate", breaks)
    assert told(moments(mind, clips(30))) == expected


def test_a_clip_that_cannot_be_encoded_is_lost_and_the_match_goes_on(
    mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    vision, bad = mind.vision, clip(9).frames
    whole = vision.encode

    def breaks(frames: Sequence[np.ndarray]) -> object:
        if any(np.array_equal(each, bad) for each in frames):
            raise RuntimeError("CUDA error")
        return whole(frames)

    monkeypatch.setattr(vision, "encode", breaks)
    found = moments(mind, clips(20))
    lost = found[9]
    assert [(each.kind, each.code) for each in lost.notes] == [(NoteKind.FAULT, "vision")]
    assert lost.active is None and lost.counts["clips_lost"] == 1
    assert [by for _, by in lost.closed] == [ClosedBy.GAP]
    assert found[10].active_start == 40 and found[-1].counts["clips"] == 19
    assert lost.state is not None, "what came by chance is never run a second time"


def test_a_gap_closes_the_event_and_a_long_one_is_no_news(mind: Mind) -> None:
    short = moments(mind, [*clips(5), gap(20, 28), *clips(3, first=7)])
    assert [by for _, by in short[5].closed] == [ClosedBy.GAP] and short[5].active is None
    stream = MatchStream(mind, "m")
    for item in clips(5):
        stream.step(item)
    (moment,) = stream.step(gap(20, 120))
    assert moment.closed and moment.decision is not None
    assert moment.decision.event is None, "what ended minutes ago is not the event that has just ended"
    assert moment.counts["gaps"] == 1


def test_a_short_last_clip_and_a_half_without_any(mind: Mind) -> None:
    found = moments(mind, [clip(0, frames=3)])
    assert [str(each.at) for each in found] == ["1 - 00:01.5", "1 - 00:01.5"]
    assert found[-1].closed and found[-1].closed[0][0].end.seconds == 1.5
    assert MatchStream(mind, "m").end() == []


def test_settings_of_another_run_are_refused_by_name(mind: Mind, tmp_path: Path) -> None:
    path = tmp_path / "m.journal"
    run(mind, clips(8), path)
    with pytest.raises(UsageError, match="with another model"):
        LiveMatch.open(MatchStream(mind, "m"), path, header(mind, model="x"), resume=True)
    with pytest.raises(UsageError, match="was begun with runtime"):
        LiveMatch.open(MatchStream(mind, "m"), path, header(mind, options={"feed": ""}), resume=True)

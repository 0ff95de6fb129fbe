"""The scheduler: the paper's table as defaults, one mode or silence, and a reason for each mode at every step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import Track, event_id
from streamsoccer.errors import FutureLeak, UsageError
from streamsoccer.record import MatchContext, Record, assemble
from streamsoccer.retrieval import Ranking
from streamsoccer.schedule import PRIORITY, Decision, Reason, ScheduleConfig, Scheduler, Seen, salient


def memory(
    end: float, type: EventType = EventType.FINISH, *actions: Label, half: int = 1, sure: float = 1.0
) -> CompletedMemory:
    return CompletedMemory(
        event=event_id("a/b/c", half, end - 8),
        half=half,
        start=MatchTime(half, end - 8),
        end=MatchTime(half, end),
        available_at=MatchTime(half, end + 4),
        tokens=torch.zeros(1, 1),
        key=np.ones(2, dtype=np.float32),
        type=type,
        actions=actions,
        confidence=sure,
    )


def records(count: int) -> tuple[Record, ...]:
    made = []
    for place in range(count):
        held = memory(20.0 + 10 * place)
        record = assemble(held, "A corner.", MatchContext(at=held.available_at), held.available_at)
        assert record is not None
        made.append(record)
    return tuple(made)


def ranking(best: float | None, *, threshold: float = 0.12) -> Ranking:
    found = () if best is None else ((records(1)[0], best),)
    return Ranking(records=found, null=0.0, null_won=False, threshold=threshold)


def at(seconds: float, half: int = 1) -> Cutoff:
    return Cutoff(MatchTime(half, seconds))


def reasons(decision: Decision) -> dict[Track, Reason]:
    return {gate.track: gate.reason for gate in decision.gates}


def test_the_defaults_are_the_papers_table() -> None:
    config = ScheduleConfig()
    assert (config.event_cooldown, config.recent_tick, config.recent_events) == (12, 120, 3)
    assert (config.recent_after_event, config.history_cooldown, config.history_records) == (20, 180, 8)
    assert PRIORITY == (Track.HISTORICAL, Track.CURRENT, Track.RECENT)


def test_nothing_has_happened_and_every_mode_says_why_it_is_silent() -> None:
    decision = Scheduler().decide(Seen(cutoff=at(4)))
    assert decision.track is None
    assert reasons(decision) == {
        Track.HISTORICAL: Reason.FEW_RECORDS, Track.CURRENT: Reason.NO_EVENT, Track.RECENT: Reason.BEFORE_TICK,
    }  # fmt: skip
    assert (decision.reason, decision.gates[0].detail, decision.gates[2].detail) == (
        Reason.NO_EVENT, "0 of 8", "4 s of 120 s",
    )  # fmt: skip


def test_a_salient_event_is_told_once_its_cooldown_is_over() -> None:
    scheduler = Scheduler()
    decision = scheduler.decide(Seen(cutoff=at(24), completed=memory(20)))
    assert (decision.track, decision.reason, decision.event) == (
        Track.CURRENT, Reason.SALIENT_EVENT, "a/b/c#1-e0012",
    )  # fmt: skip
    scheduler.note(decision)
    soon = scheduler.decide(Seen(cutoff=at(32), completed=memory(28)))
    assert (soon.track, soon.reason, soon.detail) == (None, Reason.EVENT_COOLDOWN, "8 s of 12 s")
    assert scheduler.decide(Seen(cutoff=at(36), completed=memory(32))).track is Track.CURRENT


@pytest.mark.parametrize(
    ("type", "actions", "told"),
    [
        (EventType.FINISH, (Label.GOAL,), True),
        (EventType.SET_PIECE, (Label.CORNER,), True),
        (EventType.SET_PIECE, (Label.THROW_IN,), False),  # salient by its group, but plain
        (EventType.SET_PIECE, (Label.THROW_IN, Label.FOUL), True),
        (EventType.SET_PIECE, (), True),
        (EventType.OPEN_PLAY, (), False),
        (EventType.CLEARANCE_OR_OUT, (Label.CLEARANCE,), False),
    ],
)
def test_an_event_is_salient_by_its_group_unless_all_in_it_is_plain(
    type: EventType, actions: tuple[Label, ...], told: bool
) -> None:
    assert salient(memory(20, type, *actions), ScheduleConfig()) is told
    decision = Scheduler().decide(Seen(cutoff=at(24), completed=memory(20, type, *actions)))
    assert (decision.track is Track.CURRENT) is told
    if not told:
        assert decision.reason is Reason.NOT_SALIENT


def test_an_event_that_the_heads_are_not_sure_of_is_not_told_where_that_is_asked_for() -> None:
    scheduler = Scheduler(ScheduleConfig(confidence=0.5))
    assert scheduler.decide(Seen(cutoff=at(24), completed=memory(20, sure=0.4))).reason is Reason.NOT_SURE
    assert scheduler.decide(Seen(cutoff=at(24), completed=memory(20, sure=0.5))).track is Track.CURRENT


def test_the_recent_window_has_a_tick_a_minimum_and_a_distance_to_the_last_event_told() -> None:
    scheduler = Scheduler()
    window = tuple(memory(seconds) for seconds in (60.0, 80.0, 100.0))
    assert scheduler.decide(Seen(cutoff=at(116), window=window)).track is None
    few = scheduler.decide(Seen(cutoff=at(120), window=window[:2]))
    assert reasons(few)[Track.RECENT] is Reason.FEW_EVENTS
    scheduler.note(scheduler.decide(Seen(cutoff=at(104), completed=memory(100))))
    near = scheduler.decide(Seen(cutoff=at(120), window=window))
    assert (near.track, reasons(near)[Track.RECENT]) == (None, Reason.NEAR_EVENT)
    told = scheduler.decide(Seen(cutoff=at(124), window=window))
    assert (told.track, told.reason) == (Track.RECENT, Reason.TICK)
    scheduler.note(told)
    again = scheduler.decide(Seen(cutoff=at(240), window=window))
    assert again.gates[2].detail == "116 s of 120 s"


def test_history_needs_records_a_ranking_and_a_score() -> None:
    scheduler, ready = Scheduler(), records(8)
    few = Seen(cutoff=at(400), ready=ready[:7])
    assert reasons(scheduler.decide(few))[Track.HISTORICAL] is Reason.FEW_RECORDS
    assert not scheduler.recalls(few)
    unranked = Seen(cutoff=at(400), ready=ready)
    assert scheduler.recalls(unranked)
    assert scheduler.decide(unranked).gates[0].detail == "not ranked"
    assert scheduler.decide(Seen(cutoff=at(400), ready=ready, ranking=ranking(None))).gates[0].detail == "none eligible"
    low = scheduler.decide(Seen(cutoff=at(400), ready=ready, ranking=ranking(0.119)))
    assert (reasons(low)[Track.HISTORICAL], low.gates[0].detail) == (Reason.LOW_SCORE, "0.1190 of 0.12")
    told = scheduler.decide(Seen(cutoff=at(400), ready=ready, ranking=ranking(0.12)))
    assert (told.track, told.reason) == (Track.HISTORICAL, Reason.RELEVANT_RECORD)
    scheduler.note(told)
    assert not scheduler.recalls(Seen(cutoff=at(576), ready=ready))
    assert scheduler.recalls(Seen(cutoff=at(580), ready=ready))


def test_history_comes_before_the_event_and_the_event_before_the_window() -> None:
    window = tuple(memory(seconds) for seconds in (300.0, 340.0, 396.0))
    everything = Seen(
        cutoff=at(400), completed=window[-1], window=window, ready=records(8), ranking=ranking(0.5)
    )  # fmt: skip
    scheduler, told = Scheduler(), []
    for _ in PRIORITY:
        decision = scheduler.decide(everything)
        told.append(decision.track)
        scheduler.note(decision)
    # the window waits for the event that was just told
    assert told == [Track.HISTORICAL, Track.CURRENT, None]
    quiet = Seen(cutoff=at(400), window=window, ready=records(8), ranking=ranking(0.5))
    assert Scheduler().decide(quiet).track is Track.HISTORICAL


def test_a_pause_after_any_output_holds_all_modes() -> None:
    scheduler = Scheduler(ScheduleConfig(pause=30))
    scheduler.note(scheduler.decide(Seen(cutoff=at(24), completed=memory(20))))
    decision = scheduler.decide(Seen(cutoff=at(48), completed=memory(44)))
    assert set(reasons(decision).values()) == {Reason.SPEAKING}
    assert scheduler.decide(Seen(cutoff=at(54), completed=memory(50))).track is Track.CURRENT


def test_cooldowns_do_not_reach_over_half_time() -> None:
    scheduler = Scheduler()
    scheduler.note(scheduler.decide(Seen(cutoff=at(2700), completed=memory(2696))))
    second = scheduler.decide(Seen(cutoff=at(8, half=2)))
    assert second.track is None
    event = memory(8, EventType.KICK_OFF, half=2)
    assert scheduler.decide(Seen(cutoff=at(12, half=2), completed=event)).track is Track.CURRENT


def test_a_decision_changes_nothing_until_it_is_noted_and_the_state_comes_back() -> None:
    scheduler, seen = Scheduler(), Seen(cutoff=at(24), completed=memory(20))
    assert scheduler.decide(seen) == scheduler.decide(seen)
    scheduler.note(scheduler.decide(seen))
    other = Scheduler()
    other.load(scheduler.state())
    assert other.spoken == scheduler.spoken
    assert other.decide(seen) == scheduler.decide(seen)
    silent = other.state()
    other.note(other.decide(Seen(cutoff=at(28))))
    assert other.state() == silent


def test_what_is_not_yet_available_cannot_be_seen() -> None:
    with pytest.raises(FutureLeak):
        Seen(cutoff=at(23.9), completed=memory(20))
    with pytest.raises(FutureLeak):
        Seen(cutoff=at(90), ready=records(8))
    with pytest.raises(UsageError):
        ScheduleConfig(event_cooldown=-1)

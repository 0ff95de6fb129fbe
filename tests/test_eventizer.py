"""The eventizer keeps Algorithm 1's promises, on any play and on the real matches."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.actions import ANNOTATED, GROUP, EventType, Group, Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.eventizer import clip_count, clip_end, clip_of, eventize, transitions
from streamsoccer.data.match_state import Timeline
from streamsoccer.data.soccernet import discover, read_durations, read_game
from streamsoccer.domain import Action, CloseReason, Event, Mask, OpenReason, Side
from streamsoccer.errors import DataError


def act(seconds: float, label: Label, duration: float = 400.0, side: Side = Side.HOME) -> Action:
    end = clip_end(clip_of(seconds, duration), duration)
    return Action(label=label, side=side, at=MatchTime(1, seconds), available_at=MatchTime(1, end))


def shape(events: list[Event]) -> list[tuple[int, int, str]]:
    return [(each.first, each.clips, each.closed_by.value) for each in events]


@st.composite
def halves(draw: st.DrawFn) -> tuple[list[Action], float]:
    duration = draw(st.integers(1, 400_000)) / 1000
    marks = draw(st.lists(st.tuples(st.integers(0, 420_000), st.sampled_from(ANNOTATED)), max_size=60))
    return [act(min(ms / 1000, duration), label, duration) for ms, label in marks], duration


@given(halves())
def test_every_clip_is_in_exactly_one_event_and_none_is_longer_than_24_s(half: tuple[list[Action], float]) -> None:
    actions, duration = half
    events = eventize(actions, duration)
    assert [clip for each in events for clip in range(each.first, each.first + each.clips)] == list(
        range(clip_count(duration))
    )
    assert all(1 <= each.clips <= 6 for each in events)
    assert all(each.end.seconds - each.start.seconds <= 24 for each in events)
    assert sorted(a.at for each in events for a in each.actions) == sorted(a.at for a in actions)


@given(halves())
def test_an_event_is_available_when_the_next_clip_has_arrived_and_never_before_its_actions_are(
    half: tuple[list[Action], float],
) -> None:
    actions, duration = half
    for event in eventize(actions, duration):
        assert event.available_at.seconds == min(event.end.seconds + 4, duration)
        assert all(each.available_at <= event.end <= event.available_at for each in event.actions)


@given(halves(), st.integers(1, 100))
def test_a_prefix_of_a_half_closes_the_same_events_but_for_the_look_ahead_of_a_clearance(
    half: tuple[list[Action], float], clips: int
) -> None:
    actions, duration = half
    if clips >= clip_count(duration):
        return
    seen = [each for each in actions if clip_of(each.at.seconds, duration) < clips]
    early = [each for each in eventize(seen, clips * 4.0) if each.closed_by is not CloseReason.HALF_END]
    whole = eventize(actions, duration)
    for event, later in zip(early, whole, strict=False):
        at_the_edge = event.first + event.clips == clips
        if at_the_edge and any(each.label is Label.CLEARANCE for each in event.actions):
            break
        assert (event.first, event.clips, event.closed_by, event.type) == (
            later.first,
            later.clips,
            later.closed_by,
            later.type,
        )
        assert at_the_edge or event.available_at == later.available_at


@given(halves())
def test_transition_targets_follow_from_how_each_event_opened(half: tuple[list[Action], float]) -> None:
    actions, duration = half
    events = eventize(actions, duration)
    targets = transitions(events)
    assert len(targets) == clip_count(duration)
    assert targets[0] == (0, Mask.HALF_START)
    for before, event in pairwise(events):
        rolled = before.closed_by is CloseReason.MAX_DURATION
        assert targets[event.first] == ((0, Mask.ROLLOVER) if rolled else (1, None))
    firsts = {each.first for each in events}
    assert all(target == (0, None) for clip, target in enumerate(targets) if clip not in firsts)


@given(halves())
@settings(max_examples=40)
def test_match_state_never_counts_an_action_before_its_clip_has_ended(half: tuple[list[Action], float]) -> None:
    actions, duration = half
    timeline = Timeline(actions)
    for second in range(0, int(duration) + 1, 3):
        known = [each for each in actions if each.available_at.seconds <= second]
        state = timeline.at(MatchTime(1, second))
        assert state.home.goals == sum(each.label is Label.GOAL for each in known)
        assert sum(state.home.counts.values()) == len(known)


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([], [(0, 6, "max_duration"), (6, 4, "half_end")]),
        ([(9, Label.CORNER)], [(0, 2, "new_start"), (2, 6, "max_duration"), (8, 2, "half_end")]),
        ([(9, Label.GOAL)], [(0, 3, "terminal_finish"), (3, 6, "max_duration"), (9, 1, "half_end")]),
        (
            [(9, Label.CORNER), (10, Label.GOAL)],
            [(0, 2, "new_start"), (2, 1, "terminal_finish"), (3, 6, "max_duration")],
        ),
        ([(9, Label.CLEARANCE)], [(0, 3, "terminal_clearance"), (3, 6, "max_duration"), (9, 1, "half_end")]),
        ([(9, Label.CLEARANCE), (13, Label.FOUL)], [(0, 4, "terminal_stoppage"), (4, 6, "max_duration")]),
        ([(9, Label.YELLOW_CARD)], [(0, 2, "new_start"), (2, 1, "administration"), (3, 6, "max_duration")]),
        ([(9, Label.YELLOW_CARD), (10, Label.FOUL)], [(0, 3, "terminal_stoppage"), (3, 6, "max_duration")]),
        ([(9, Label.SUBSTITUTION), (10, Label.FOUL)], [(0, 2, "new_start"), (2, 1, "terminal_stoppage")]),
        ([(23, Label.FOUL)], [(0, 6, "terminal_stoppage"), (6, 4, "half_end")]),
        ([(24, Label.KICK_OFF)], [(0, 6, "max_duration"), (6, 4, "half_end")]),
        ([(39, Label.GOAL)], [(0, 6, "max_duration"), (6, 4, "terminal_finish")]),
    ],
)
def test_each_rule_on_ten_clips(marks: list[tuple[float, Label]], expected: list[tuple[int, int, str]]) -> None:
    assert shape(eventize([act(at, label, 40.0) for at, label in marks], 40.0))[: len(expected)] == expected


def test_a_set_piece_after_a_rollover_starts_an_event_and_is_still_masked() -> None:
    events = eventize([act(24.0, Label.CORNER, 40.0)], 40.0)
    assert events[1].opened_by is OpenReason.ROLLOVER
    assert transitions(events)[6] == (0, Mask.ROLLOVER)


def test_the_first_meaningful_action_names_the_event_by_priority() -> None:
    events = eventize([act(1, Label.THROW_IN), act(2, Label.GOAL, side=Side.AWAY)], 400.0)
    assert (events[0].type, events[0].primary, events[0].side) == (EventType.FINISH, Label.GOAL, Side.AWAY)
    events = eventize([act(1, Label.THROW_IN), act(9, Label.GOAL)], 400.0)
    assert (events[0].type, events[0].primary) == (EventType.SET_PIECE, Label.THROW_IN)


def test_the_control_label_names_what_only_the_end_of_a_half_closed() -> None:
    assert eventize([], 40.0)[-1].type is EventType.END_OF_PERIOD
    assert eventize([], 48.0)[-1].type is EventType.OPEN_PLAY  # that one is a rollover


def test_the_last_clip_may_be_short_and_takes_what_comes_after_it() -> None:
    late = Action(
        label=Label.GOAL, side=Side.HOME, at=MatchTime(1, 11.0), available_at=MatchTime(1, 9.5)
    )  # the reader moves such an action to the end of the half
    events = eventize([late], 9.5)
    assert shape(events) == [(0, 3, "terminal_finish")]
    assert events[0].end.seconds == events[0].available_at.seconds == 9.5


def test_a_half_without_length_is_refused() -> None:
    with pytest.raises(DataError, match="lasts 0"):
        eventize([], 0.0)


def test_every_label_has_a_group_and_only_the_paper_ones_end_an_event() -> None:
    assert set(GROUP) == set(Label)
    assert len(ANNOTATED) == 17
    assert {label for label in ANNOTATED if GROUP[label] is Group.CLEARANCE} == {Label.CLEARANCE}


def test_the_149_real_matches_give_the_settled_counts(soccernet: Path) -> None:
    games, problems = discover(soccernet)
    durations = read_durations(soccernet / "durations.json")
    counts: Counter[str] = Counter()
    lengths: list[int] = []
    for files in games:
        game = read_game(files, durations)
        for half, seconds in game.durations.items():
            events = eventize(game.actions[half], seconds, half)
            counts.update(clips=clip_count(seconds), actions=len(game.actions[half]), events=len(events))
            counts.update(each.closed_by.value for each in events)
            lengths += [4 * each.clips for each in events]
    assert not problems
    assert len(games) == 149
    assert counts == {
        "clips": 204_664,
        "actions": 32_583,
        "events": 49_460,
        "new_start": 9_938,
        "max_duration": 20_164,
        "terminal_stoppage": 12_261,
        "terminal_finish": 3_338,
        "terminal_clearance": 2_075,
        "administration": 1_437,
        "half_end": 247,
    }
    assert round(statistics.mean(lengths), 3) == 16.552
    assert statistics.median(lengths) == 20

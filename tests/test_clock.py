"""Time: places in a match are ordered, the cutoff admits no future, and clocks move as they say."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsoccer.clip import Gap, GapReason
from streamsoccer.clock import Cutoff, ManualClock, MatchTime, MediaClock, WallClock, format_seconds, parse_seconds
from streamsoccer.errors import FutureLeak, UsageError

places = st.builds(MatchTime, st.integers(1, 4), st.floats(0, 4000))


def fact(at: MatchTime) -> Gap:
    return Gap(half=at.half, start=0.0, end=at.seconds, reason=GapReason.LOST, detail="")


@given(places, places)
def test_the_cutoff_admits_what_was_available_and_nothing_else(now: MatchTime, then: MatchTime) -> None:
    if (then.half, then.seconds) <= (now.half, now.seconds):
        known = fact(then)
        assert Cutoff(now).admit(known) is known
    else:
        with pytest.raises(FutureLeak, match="after the cutoff"):
            Cutoff(now).admit(fact(then))


def test_a_fact_of_the_second_half_is_the_future_of_the_first() -> None:
    with pytest.raises(FutureLeak):
        Cutoff(MatchTime(1, 2700)).admit(fact(MatchTime(2, 4)))


@given(st.integers(1, 3), st.integers(0, 7200))
def test_game_times_are_read_as_they_are_written(half: int, seconds: int) -> None:
    assert MatchTime.parse(str(MatchTime(half, seconds))) == MatchTime(half, seconds)


@given(st.integers(0, 10_000_000))
def test_seconds_are_read_as_they_are_written(milliseconds: int) -> None:
    assert parse_seconds(format_seconds(milliseconds / 1000)) == pytest.approx(milliseconds / 1000, abs=1e-9)


def test_soccernet_writes_minutes_past_the_hour() -> None:
    assert MatchTime.parse("2 - 61:07") == MatchTime(2, 3667)
    assert parse_seconds("1:01:07") == 3667


@pytest.mark.parametrize("text", ["", "1", "0 - 00:31", "1 - 00:60", "1 - -1:00", "a - 00:01", "1 - 00:31 extra"])
def test_what_is_no_game_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"game time|place in a match"):
        MatchTime.parse(text)


@pytest.mark.parametrize("text", ["", "x", "1:2:3:4", "-5", "1:75", "nan"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_seconds(text)


@pytest.mark.parametrize("seconds", [-0.5, float("nan"), float("inf")])
def test_there_is_no_place_outside_a_match(seconds: float) -> None:
    with pytest.raises(UsageError):
        MatchTime(1, seconds)


def test_media_time_never_goes_back_and_never_waits() -> None:
    clock = MediaClock()
    clock.reach(8.0)
    assert clock.now() == 8.0
    assert clock.wait(1e9) is False
    with pytest.raises(FutureLeak):
        clock.reach(4.0)


def test_whoever_waits_on_a_manual_clock_wakes_when_the_time_has_come() -> None:
    clock, woke = ManualClock(), threading.Event()

    def sleeper() -> None:
        clock.wait(10)
        woke.set()

    thread = threading.Thread(target=sleeper)
    thread.start()
    clock.advance(9.9)
    assert not woke.wait(0.05)
    clock.advance(0.2)
    assert woke.wait(5)
    thread.join()


@pytest.mark.parametrize("clock", [WallClock(), ManualClock()])
def test_a_wait_ends_early_when_its_event_is_set(clock: WallClock | ManualClock) -> None:
    event = threading.Event()
    event.set()
    assert clock.wait(60, until=event) is True

"""Media time never goes back, an instant gets the frame on screen, and a clip comes out once, after its end."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP, Clip, Gap, GapReason
from streamsoccer.sources.assemble import Assembler
from streamsoccer.sources.sampler import ROUNDING, Sampler, Stretch
from streamsoccer.sources.timeline import JITTER, MAX_GAP, MAX_STILL, MPEGTS_WRAP, Timeline

FRAME = 0.04
PIXELS = np.zeros((2, 2, 3), dtype=np.uint8)
TICKS = st.integers(-(10**10), 10**10).map(lambda ticks: ticks / 90_000)
stamps = st.one_of(st.none(), TICKS, st.integers(0, 300_000).map(lambda ticks: ticks / 90_000))
steps = st.lists(st.floats(0.001, 1.0), min_size=1, max_size=60)
WHOLE = [Stretch(half=1, start=0.0)]


def moments(steps: Sequence[float]) -> list[float]:
    return [sum(steps[:place]) for place in range(len(steps))]


@given(st.lists(stamps, max_size=60), st.one_of(st.none(), st.just(MPEGTS_WRAP)), st.one_of(st.none(), st.floats(0, 5)))
def test_time_only_grows_whatever_the_timestamps_do(
    raw: list[float | None], wrap: float | None, zero: float | None
) -> None:
    timeline = Timeline(zero=zero, wrap=wrap, frame_seconds=FRAME)
    reached = -1.0
    for stamp in raw:
        if (placed := timeline.place(stamp)) is None:
            continue
        assert placed.time > reached
        assert placed.jump is None or reached <= placed.jump.start <= placed.jump.end <= placed.time
        reached = placed.time
    assert timeline.end > reached or reached == -1.0


@given(steps, st.floats(0, MPEGTS_WRAP))
def test_a_33_bit_wrap_changes_nothing(steps: list[float], start: float) -> None:
    plain, wrapped = Timeline(), Timeline(wrap=MPEGTS_WRAP)
    for moment in moments(steps):
        expected, placed = plain.place(start + moment), wrapped.place((start + moment) % MPEGTS_WRAP)
        assert (expected is None) == (placed is None)
        if expected is not None and placed is not None:
            assert placed.jump is None
            assert placed.time == pytest.approx(expected.time, abs=1e-6)


def test_three_wraps_and_a_frame_that_comes_late_across_one() -> None:
    timeline = Timeline(wrap=MPEGTS_WRAP)
    moment, placed = 95_000.0, None
    while moment < 3.5 * MPEGTS_WRAP:
        placed = timeline.place(moment % MPEGTS_WRAP)
        moment += MAX_GAP - 1
    assert placed is not None
    assert placed.time == pytest.approx(moment - (MAX_GAP - 1) - 95_000, abs=1e-6)
    across = Timeline(wrap=MPEGTS_WRAP)
    assert across.place(MPEGTS_WRAP - 0.02) is not None
    assert across.place(0.02) is not None
    assert across.place(MPEGTS_WRAP - 0.01) is None, "a frame from before the wrap is late, not a leap of a day"
    assert across.late == 1


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.integers(0, 3))
def test_frames_without_timestamps_go_by_the_frame_rate(known: list[bool], turns: int) -> None:
    timeline = Timeline(wrap=MPEGTS_WRAP, frame_seconds=FRAME)
    start = (turns + 1) * MPEGTS_WRAP - 0.5  # so that some wraps lie behind, and one is near
    timeline.place(start % MPEGTS_WRAP)
    for number, there in enumerate(known, 1):
        placed = timeline.place((start + number * FRAME) % MPEGTS_WRAP if there else None)
        assert placed is not None
        assert placed.jump is None
        assert placed.time == pytest.approx(number * FRAME, abs=1e-6)
    assert timeline.estimated == known.count(False)


@pytest.mark.parametrize(
    ("step", "reason", "covers"),
    [
        (MAX_STILL - 0.01, None, 0.0),
        (5.0, GapReason.LOST, 5.0 - FRAME),
        (MAX_GAP - 1, GapReason.LOST, MAX_GAP - 1 - FRAME),
        (MAX_GAP + 1, GapReason.NEW_CLOCK, 0.0),
        (-JITTER - 0.01, GapReason.JUMP_BACK, 0.0),
        (-50.0, GapReason.JUMP_BACK, 0.0),
    ],
)
def test_each_discontinuity_is_marked_for_what_it_is(step: float, reason: GapReason | None, covers: float) -> None:
    timeline = Timeline(frame_seconds=FRAME)
    timeline.place(100.0)
    placed = timeline.place(100.0 + step)
    assert placed is not None
    assert (placed.jump.reason if placed.jump else None) is reason
    if placed.jump:
        assert placed.jump.end - placed.jump.start == pytest.approx(covers)
        assert placed.jump.end == pytest.approx(placed.time)


def test_a_film_whose_first_picture_comes_late_starts_with_a_gap() -> None:
    placed = Timeline(zero=10.0).place(13.0)
    assert placed is not None
    assert placed.jump is not None
    assert (placed.jump.reason, placed.jump.start, placed.jump.end) == (GapReason.LOST, 0.0, 3.0)


def shown(
    times: Sequence[float], end: float, stretches: Sequence[Stretch], begin: float = 0.0
) -> dict[tuple[int, int], int]:
    """Which frame the sampler gives each (half, number)."""
    sampler: Sampler[int] = Sampler(stretches, begin=begin)
    picks = [pick for frame, time in enumerate(times) for pick in sampler.show(time, frame)]
    picks += sampler.finish(end)
    found = {(pick.half, pick.number): pick.item for pick in picks}
    assert len(found) == len(picks), "an instant was given twice"
    return found


@given(steps, st.floats(0.02, 1.0))
def test_each_instant_gets_the_frame_on_screen(steps: list[float], last: float) -> None:
    times = moments(steps)
    end = times[-1] + last
    found = shown(times, end, WHOLE)
    for number in range(math.ceil(end * FPS) + 1):
        instant = number / FPS
        if instant < end - 2 * ROUNDING:
            frame = found[1, number]
            lower, upper = (bisect_right(times, instant + slack) - 1 for slack in (-1e-9, ROUNDING + 1e-9))
            assert lower <= frame <= upper, "another frame than the last that was presented by then"
        elif instant > end:
            assert (1, number) not in found


@given(steps, st.floats(0, 40), st.lists(st.floats(0.5, 15), min_size=1, max_size=4))
def test_a_late_start_gives_the_same_instants_from_its_clip_on(
    steps: list[float], begin: float, lengths: list[float]
) -> None:
    edges = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
    stretches = [Stretch(half=h, start=a, end=b) for h, (a, b) in enumerate(pairwise(edges), 1)]
    times = moments(steps)
    full = shown(times, times[-1] + FRAME, stretches)
    part = shown(times, times[-1] + FRAME, stretches, begin=begin)
    left = [stretch for stretch in stretches if stretch.end > begin]
    first = (9, 0)
    if left:
        clip = max(0, math.floor((begin - left[0].start + ROUNDING) / CLIP_SECONDS))
        first = (left[0].half, clip * FRAMES_PER_CLIP)
    assert part == {key: frame for key, frame in full.items() if key >= first}


@given(st.floats(0, 7000, allow_subnormal=False), st.integers(0, 900))
def test_a_start_on_a_clips_edge_starts_with_that_clip(start: float, clip: int) -> None:
    sampler: Sampler[int] = Sampler([Stretch(half=1, start=start)], begin=start + clip * CLIP_SECONDS)
    assert sampler.begin == pytest.approx(start + clip * CLIP_SECONDS, abs=1e-6)


def test_a_half_ends_where_it_is_said_to_and_the_next_begins_at_zero() -> None:
    stretches = [Stretch(half=1, start=1.0, end=6.2), Stretch(half=2, start=8.3, end=10.3)]
    found = shown([n * FRAME for n in range(500)], 20.0, stretches)
    assert sorted(found) == [(1, n) for n in range(11)] + [(2, n) for n in range(4)]
    assert found[1, 0] == 25
    assert found[2, 0] == 207  # 8.28 s, on screen at 8.3 s


def test_nothing_stands_for_an_instant_in_a_gap() -> None:
    sampler: Sampler[str] = Sampler(WHOLE)
    picks = [
        *sampler.show(0.0, "before"),
        *sampler.interrupt(1.2, 3.1),
        *sampler.show(3.1, "after"),
        *sampler.finish(4.2),
    ]
    assert [(pick.number, pick.item) for pick in picks] == [
        (0, "before"), (1, "before"), (2, "before"), (7, "after"), (8, "after"),
    ]  # fmt: skip


def items(numbers: Sequence[int], end: float, gaps: dict[int, tuple[float, float]] | None = None) -> list[Clip | Gap]:
    """What the assembler makes of frames for these instants; `gaps` come before the instants that they name."""
    assembler = Assembler(WHOLE)
    out: list[Clip | Gap] = []
    for number in numbers:
        if gaps and number in gaps:
            start, stop = gaps[number]
            assembler.gap(reason=GapReason.LOST, start=start, end=stop, detail="")
        for item in assembler.frame(half=1, number=number, time=number / FPS, pixels=PIXELS):
            assert isinstance(item, Gap) or item.end <= number / FPS, "a clip came out before its end"
            out.append(item)
    return [*out, *assembler.finish(end)]


@given(st.sets(st.integers(0, 80), min_size=1))
def test_every_frame_is_in_one_clip_and_clips_come_in_order(numbers: set[int]) -> None:
    ordered = sorted(numbers)
    clips = [item for item in items(ordered, ordered[-1] / FPS + 0.3) if isinstance(item, Clip)]
    assert [clip.index * FRAMES_PER_CLIP + sample for clip in clips for sample in clip.samples] == ordered
    assert [clip.index for clip in clips] == sorted({number // FRAMES_PER_CLIP for number in ordered})
    for clip in clips:
        assert clip.start == clip.index * CLIP_SECONDS < clip.end <= clip.start + CLIP_SECONDS
        assert len(clip.frames) == len(clip.times) == len(clip.samples) <= FRAMES_PER_CLIP


def test_a_gap_comes_out_before_the_clip_in_which_the_stream_goes_on() -> None:
    inside = items([0, 1, 2, 6, 7, 8], 4.6, {6: (1.2, 2.9)})
    assert [type(item).__name__ for item in inside] == ["Gap", "Clip", "Clip"]
    assert isinstance(inside[1], Clip)
    assert inside[1].samples == (0, 1, 2, 6, 7)
    over = items([0, 1, 2, 30, 31], 16.0, {30: (1.2, 14.9)})
    assert [type(item).__name__ for item in over] == ["Clip", "Gap", "Clip"]


def test_a_clip_broken_off_as_it_began_can_still_go_on() -> None:
    assembler = Assembler(WHOLE)
    assert list(assembler.frame(half=1, number=8, time=4.0, pixels=PIXELS)) == []
    assert list(assembler.finish(4.0)) == [], "a clip of no length is no clip"
    assert list(assembler.frame(half=1, number=10, time=5.0, pixels=PIXELS)) == []
    (clip,) = assembler.finish(5.04)
    assert isinstance(clip, Clip)
    assert (clip.index, clip.samples, clip.end) == (1, (2,), 5.04)


def test_the_rest_of_a_clip_that_is_on_its_way_is_let_go() -> None:
    assembler = Assembler(WHOLE)
    assert list(assembler.frame(half=1, number=8, time=4.0, pixels=PIXELS)) == []
    assert len(list(assembler.finish(4.3))) == 1
    assert list(assembler.frame(half=1, number=10, time=5.0, pixels=PIXELS)) == []
    assert list(assembler.finish(5.3)) == []


def test_a_gap_over_the_end_of_a_half_is_marked_in_both() -> None:
    assembler = Assembler([Stretch(half=1, start=0.0, end=100.0), Stretch(half=2, start=100.0)])
    assembler.gap(reason=GapReason.LOST, start=98.0, end=103.0, detail="")
    gaps = [item for item in assembler.finish(103.0) if isinstance(item, Gap)]
    assert [(gap.half, gap.start, gap.end) for gap in gaps] == [(1, 98.0, 100.0), (2, 0.0, 3.0)]

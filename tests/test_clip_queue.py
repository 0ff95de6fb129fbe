"""The queue between a live decoder and its consumer: bounded, in order, and no clip lost without a gap that says so."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.clip import Clip, Gap, GapReason
from streamsoccer.errors import SourceError
from streamsoccer.sources.queue import ClipQueue
from streamsoccer.sources.source import OnFull

PIXEL = np.zeros((1, 1, 1, 3), dtype=np.uint8)


def _clip(index: int) -> Clip:
    start = index * 4.0
    return Clip(half=1, index=index, start=start, end=start + 4, frames=PIXEL, samples=(0,), times=(start,))


def _gap(index: int, detail: str) -> Gap:
    return Gap(half=1, start=index * 4.0, end=index * 4.0, reason=GapReason.JUMP_BACK, detail=detail)


def _covers(gap: Gap, item: Clip | Gap) -> bool:
    return gap.reason is GapReason.DROPPED and gap.start <= item.start and item.end <= gap.end


@settings(deadline=None)
@given(size=st.integers(1, 4), steps=st.lists(st.sampled_from(["clip", "gap", "take"]), max_size=60))
def test_whatever_the_interleaving_every_item_is_delivered_in_order_or_covered_by_a_gap(
    size: int, steps: list[str]
) -> None:
    queue = ClipQueue(size, OnFull.DROP)
    consumer = iter(queue)
    given: list[Clip | Gap] = []
    taken: list[Clip | Gap] = []
    index = 0
    for step in steps:
        if step == "take" and len(queue):
            taken.append(next(consumer))
        elif step == "clip":
            given.append(_clip(index))
            assert queue.put(given[-1])
            index += 1
        elif step == "gap":
            given.append(_gap(index, str(len(given))))
            assert queue.put(given[-1])
        assert len(queue) <= size
    queue.close()
    taken.extend(consumer)
    assert [item.end for item in taken] == sorted(item.end for item in taken)
    assert [item.start for item in taken] == sorted(item.start for item in taken)
    delivered = [item for item in taken if item in given]
    assert delivered == [item for item in given if item in delivered]
    missing = [item for item in given if item not in delivered]
    for item in missing:
        assert any(isinstance(gap, Gap) and _covers(gap, item) for gap in taken)
    for gap in taken:
        if isinstance(gap, Gap) and gap.reason is GapReason.DROPPED:
            assert any(isinstance(item, Clip) and _covers(gap, item) for item in missing)
            assert not any(isinstance(item, Clip) and _covers(gap, item) for item in delivered)
    assert queue.dropped == sum(isinstance(item, Clip) for item in missing)


def test_the_oldest_clips_go_and_one_gap_stands_for_them() -> None:
    queue = ClipQueue(2, OnFull.DROP)
    for index in range(5):
        queue.put(_clip(index))
    queue.close()
    first, *rest = queue
    assert isinstance(first, Gap) and first.reason is GapReason.DROPPED
    assert (first.start, first.end) == (0.0, 12.0) and "3 clips" in first.detail
    assert [item.index for item in rest if isinstance(item, Clip)] == [3, 4]


@pytest.mark.parametrize("later", [False, True])
def test_a_queue_that_waits_loses_nothing_and_holds_no_more_than_its_size(later: bool) -> None:
    queue = ClipQueue(3, OnFull.DROP if later else OnFull.WAIT)
    if later:
        queue.wait_when_full()

    def produce() -> None:
        for index in range(200):
            queue.put(_clip(index))
        queue.close()

    thread = threading.Thread(target=produce)
    thread.start()
    seen = []
    for item in queue:
        assert len(queue) <= 3 and isinstance(item, Clip)
        seen.append(item.index)
    thread.join()
    assert seen == list(range(200)) and queue.dropped == 0


def test_a_producer_that_waits_is_let_go_when_the_consumer_leaves() -> None:
    queue = ClipQueue(1, OnFull.WAIT)
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.extend(queue.put(_clip(index)) for index in range(2)))
    thread.start()
    queue.close()
    thread.join(timeout=10)
    assert not thread.is_alive() and answers[-1] is False


def test_an_error_comes_after_what_was_there_before_it() -> None:
    queue = ClipQueue(2, OnFull.DROP)
    queue.put(_clip(0))
    queue.close(SourceError("went away"))
    consumer = iter(queue)
    assert isinstance(next(consumer), Clip)
    with pytest.raises(SourceError, match="went away"):
        next(consumer)

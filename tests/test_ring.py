"""The shared pictures: what is put is what is read, in order, and a slot is not written before it is given back."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsoccer.sources.ring import SLOTS, Ring, RingWriter

pytestmark = pytest.mark.skipif(not Ring.possible(), reason="this system has no memory without a name (memfd_create)")


def picture(number: int, height: int = 4, width: int = 6) -> np.ndarray:
    return np.full((height, width, 3), number % 251, dtype=np.uint8)


@given(st.integers(1, 60))
def test_pictures_arrive_as_they_were_and_in_order(count: int) -> None:
    ring = Ring()
    writer = RingWriter(ring.memory, ring.given_back)
    for number in range(count):
        offset = writer.put(picture(number))
        assert offset is not None
        assert np.array_equal(ring.reader.at(offset, (4, 6, 3)), picture(number))
        ring.reader.release()
    ring.close()


def test_a_full_ring_waits_until_a_slot_is_given_back() -> None:
    ring = Ring()
    writer = RingWriter(ring.memory, ring.given_back)
    offsets = [writer.put(picture(number)) for number in range(SLOTS)]
    passed = threading.Event()

    def one_more() -> None:
        writer.put(picture(99))
        passed.set()

    thread = threading.Thread(target=one_more)
    thread.start()
    assert not passed.wait(0.1)
    assert np.array_equal(ring.reader.at(offsets[0] or 0, (4, 6, 3)), picture(0))
    ring.reader.release()
    assert passed.wait(5)
    thread.join()
    assert np.array_equal(ring.reader.at(0, (4, 6, 3)), picture(99))
    ring.close()


def test_a_writer_whose_reader_has_gone_does_not_wait_for_ever() -> None:
    ring = Ring()
    writer = RingWriter(os.dup(ring.memory), os.dup(ring.given_back))
    for number in range(SLOTS):
        writer.put(picture(number))
    ring.close()
    with pytest.raises(BrokenPipeError):
        writer.put(picture(0))


def test_a_picture_larger_than_the_first_goes_another_way() -> None:
    ring = Ring()
    writer = RingWriter(ring.memory, ring.given_back)
    assert writer.put(picture(1)) == 0
    assert writer.put(picture(2, height=40)) is None
    assert writer.put(picture(3, height=2)) is not None
    ring.close()

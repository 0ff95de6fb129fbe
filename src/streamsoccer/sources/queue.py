"""The bounded queue between a live decoder and its consumer: never more than so many clips, and no silent loss."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from streamsoccer.clip import Clip, Gap, GapReason
from streamsoccer.sources.source import OnFull

__all__ = ["ClipQueue"]


class ClipQueue:
    """Clips and gaps in order. When full it waits, or lets the oldest clip go and leaves a gap in its place."""

    def __init__(self, size: int, on_full: OnFull) -> None:
        self._size, self._on_full = size, on_full
        self._items: deque[Clip | Gap] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._error: BaseException | None = None
        self.dropped = 0

    def __len__(self) -> int:
        """How many clips are held."""
        with self._changed:
            return self._clips()

    def wait_when_full(self) -> None:
        """From now on nothing is dropped: what comes in has an end, and can wait."""
        with self._changed:
            self._on_full = OnFull.WAIT

    def put(self, item: Clip | Gap) -> bool:
        """Add an item; False where nobody is there to take it any more."""
        with self._changed:
            if self._on_full is OnFull.WAIT:
                self._changed.wait_for(lambda: self._closed or self._clips() < self._size)
            if self._closed:
                return False
            self._items.append(item)
            while self._clips() > self._size:
                self._drop_oldest()
            self._changed.notify_all()
            return True

    def close(self, error: BaseException | None = None) -> None:
        """No more items will come; the consumer gets those that are here, then the error, if there is one."""
        with self._changed:
            self._closed, self._error = True, self._error or error
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Clip | Gap]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._closed)
                if not self._items:
                    break
                item = self._items.popleft()
                self._changed.notify_all()
            yield item
        if self._error is not None:
            raise self._error

    def _clips(self) -> int:
        return sum(isinstance(item, Clip) for item in self._items)

    def _drop_oldest(self) -> None:
        """Gaps before the oldest clip, the clip, and a gap from an earlier drop become one gap."""
        start: float | None = None
        while True:
            item = self._items.popleft()
            start = item.start if start is None else start
            if isinstance(item, Clip):
                break
        self.dropped += 1
        detail = f"consumer behind, {self.dropped} clips dropped so far"
        gap = Gap(half=item.half, start=min(start, item.start), end=item.end, reason=GapReason.DROPPED, detail=detail)
        self._items.appendleft(gap)

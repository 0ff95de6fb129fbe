"""Follows the journal of a match that is being written: one reader for all who watch, rows kept as they are sent.

It reads a file that another process writes, a few times a second and only what is new, and takes no lock that the
writer would wait for: nothing that happens here, or with any viewer, can slow the match or stop it.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer.errors import StreamSoccerError
from streamsoccer.journal_reader import JournalReader, NotAJournal
from streamsoccer.outputs.rows import row_of

__all__ = ["Follower", "Told"]

_BATCH = 1000  # rows that are read, and sent, at once


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One message for a viewer; `id` is where one who lost the connection goes on."""

    event: str
    data: Any
    id: str = ""

    def encode(self) -> bytes:
        """As server-sent events are written; JSON in ASCII holds no line breaks."""
        head = f"id: {self.id}\n" if self.id else ""
        return f"{head}event: {self.event}\ndata: {json.dumps(self.data, allow_nan=False)}\n\n".encode()


@dataclass(slots=True)
class _Journal:
    """One journal as far as it was read. A new file in its place is another journal, with another number."""

    number: int
    reader: JournalReader
    head: Mapping[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seq(self) -> int:
        return int(self.rows[-1]["seq"]) if self.rows else 0


class Follower:
    """The rows of a journal that may not be there yet, may grow, and may be replaced."""

    def __init__(self, path: Path, head: Callable[[JournalReader], Mapping[str, Any]], pause: float = 0.3) -> None:
        """`head` gives what is told of a journal as a whole before its rows; `pause` lies between two looks."""
        self.path, self.pause = path, pause
        self.problem = ""
        self._head = head
        self._stopped = False
        self._journal: _Journal | None = None
        self._news = asyncio.Condition()
        self._looking = threading.Lock()

    async def run(self) -> None:
        """Look for what is new, until cancelled."""
        try:
            while True:
                if await asyncio.to_thread(self.look):
                    async with self._news:
                        self._news.notify_all()
                else:
                    await asyncio.sleep(self.pause)
        finally:
            # A look that is under way goes on in its thread: closed beneath it, SQLite would end the process.
            with self._looking:
                if self._journal is not None:
                    self._journal.reader.close()

    async def stop(self) -> None:
        """Nobody is told anything more: what every viewer listens to ends."""
        async with self._news:
            self._stopped = True
            self._news.notify_all()

    def look(self) -> bool:
        """Read on, at most one batch; true where anything was new."""
        with self._looking:
            return self._look()

    def _look(self) -> bool:
        before = self.problem
        try:
            journal = self._open()
            fresh, self._journal = journal is not self._journal, journal
            rows = [row_of(each) for each in journal.reader.since(journal.seq, _BATCH)]
            journal.rows.extend(rows)
            self.problem = ""
            return fresh or bool(rows) or before != ""
        except (StreamSoccerError, OSError) as error:
            # not there yet, being made, locked by a checkpoint, gone: it is told, and looked at again
            self.problem = "" if isinstance(error, NotAJournal) and not self.path.exists() else str(error)
            return self.problem != before

    def _open(self) -> _Journal:
        """The journal that is read already, or the one that stands there now."""
        number = self.path.stat().st_ino if self.path.exists() else 0
        if self._journal is not None and number in (0, self._journal.number):
            return self._journal
        reader = JournalReader(self.path)
        try:
            head = self._head(reader)
        except BaseException:
            reader.close()
            raise
        if self._journal is not None:
            self._journal.reader.close()
        return _Journal(number=number, reader=reader, head=head)

    async def messages(self, last: str = "", alive: float = 10.0) -> AsyncGenerator[Told, None]:
        """What one viewer is told, from the start or from after `last`, for as long as he listens.

        A viewer who is slow is behind: nothing is kept for him but his place. `alive` seconds without news, and he is
        told that there are none.
        """
        known, place = _place(last)  # the journal that he has seen, and how far
        headed, problem = False, ""
        while not self._stopped:
            journal = self._journal
            if self.problem != problem:
                problem = self.problem
                yield Told(event="problem", data=problem)
            if journal is not None:
                if known not in (None, journal.number):
                    yield Told(event="another", data="")
                    return
                known = journal.number
                if not headed:
                    headed = True
                    yield Told(event="match", data=journal.head)
                if place < journal.seq:
                    rows = _after(journal.rows, place)
                    place = rows[-1]["seq"]
                    yield Told(event="rows", data=rows, id=f"{known}-{place}")
                    continue
            if not await self._changed(journal, problem, place, alive):
                yield Told(event="alive", data="")

    async def _changed(self, journal: _Journal | None, problem: str, place: int, seconds: float) -> bool:
        """Wait until there is something other than this; false where nothing came for so long."""
        async with self._news:
            changed = self._journal is not journal or self.problem != problem
            if changed or self._stopped or (journal is not None and place < journal.seq):
                return True
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait()
            except TimeoutError:
                return False
            return True


def _place(last: str) -> tuple[int | None, int]:
    """Where a viewer was, from what he says of it; one who says nonsense is new."""
    found = re.fullmatch(r"([0-9]{1,20})-([0-9]{1,15})", last)
    return (int(found[1]), int(found[2])) if found else (None, 0)


def _after(rows: Sequence[dict[str, Any]], seq: int) -> list[dict[str, Any]]:
    """The next rows after this place, at most a batch."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle]["seq"] <= seq:
            low = middle + 1
        else:
            high = middle
    return list(rows[low : low + _BATCH])

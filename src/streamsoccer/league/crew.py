"""Processes that work on tasks side by side; one that dies is an error at once, never a run that waits for ever."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any

from streamsoccer.errors import DataError

__all__ = ["Crew"]


class Crew:
    """Workers that all do `work(task)`, to be used in a `with`; a crew of one works in this process.

    `send` gives a task to a free worker (`free` says how many are), `take` waits for the next result of any.
    """

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._work, self._workers = work, workers
        self._here: deque[Any] = deque()  # results of a crew of one
        self._idle: list[Connection] = []
        self._busy: list[Connection] = []
        self._processes: list[SpawnProcess] = []

    def __enter__(self) -> Crew:
        if self._workers > 1:
            # Fresh processes: nothing of this one leaks into them, on any system.
            context = multiprocessing.get_context("spawn")
            for _ in range(self._workers):
                mine, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, self._work), daemon=True)
                process.start()
                theirs.close()
                self._processes.append(process)
                self._idle.append(mine)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
        for end in (*self._idle, *self._busy):
            end.close()

    @property
    def free(self) -> int:
        return len(self._idle) if self._workers > 1 else 1 - len(self._here)

    def send(self, task: Any) -> None:
        """Begin a task; there must be a free worker."""
        if self._workers == 1:
            self._here.append(self._work(task))
            return
        end = self._idle.pop()
        end.send(task)
        self._busy.append(end)

    def take(self) -> Any:
        """The result of the task that is done next; what went wrong in it is raised here."""
        if self._workers == 1:
            return self._here.popleft()
        end = wait(self._busy)[0]
        assert isinstance(end, Connection)  # nothing else is waited for
        self._busy.remove(end)
        try:
            result, error = end.recv()
        except EOFError:
            raise DataError("a worker was killed", remedy="run the same command again, with fewer --workers") from None
        self._idle.append(end)
        if error is not None:
            raise error
        return result


def _serve(end: Connection, work: Callable[[Any], Any]) -> None:
    """A worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key pressed in a terminal reaches all; one of them tidies up
    while True:
        try:
            task = end.recv()
        except EOFError:
            return
        try:
            answer: tuple[Any, BaseException | None] = (work(task), None)
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is taken
            answer = (None, error)
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # noqa: BLE001 - an error that does not travel is told in words
                answer = (None, DataError(f"{type(error).__name__}: {error}"))
        end.send(answer)

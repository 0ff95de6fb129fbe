"""The error tree: what was wrong, where, and what to do next. Every error meant for people is one of these."""

from __future__ import annotations

from os import PathLike

__all__ = [
    "CheckpointError",
    "DataError",
    "FutureLeak",
    "SourceError",
    "StreamSoccerError",
    "TrainingError",
    "UsageError",
]


class StreamSoccerError(Exception):
    """A problem that a person can act on; the command line prints it without a traceback and exits with 2."""

    def __init__(self, problem: str, *, where: str | PathLike[str] | None = None, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = None if where is None else str(where)
        self.remedy = remedy

    def __str__(self) -> str:
        text = self.problem if self.where is None else f"{self.where}: {self.problem}"
        return text if self.remedy is None else f"{text}\n  try: {self.remedy}"


class UsageError(StreamSoccerError):
    """An argument, option or recipe that cannot be taken as it is."""


class SourceError(StreamSoccerError):
    """Video that cannot be opened, read or trusted."""


class DataError(StreamSoccerError):
    """An annotation, manifest or prediction file that is not what its schema says."""


class CheckpointError(StreamSoccerError):
    """A saved model that does not go with what it is to be used with, or is not whole."""


class TrainingError(StreamSoccerError):
    """A training run that cannot go on."""


class FutureLeak(StreamSoccerError):
    """A fact was used before it was available: always a defect of the program, never of the data."""

"""What went wrong or looked odd while reading: listed and counted, never passed over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from streamsoccer.errors import DataError

__all__ = ["Notices", "Problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a match, or something that looks like one, was not built."""

    match: str
    where: str
    problem: str
    remedy: str | None = None

    @classmethod
    def of(cls, match: str, error: DataError) -> Problem:
        return cls(match=match, where=error.where or match, problem=error.problem, remedy=error.remedy)

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass(slots=True)
class Notices:
    """Oddities that do not stop a match, by kind: how many, and where the first one was."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, where: str, count: int = 1) -> None:
        self.counts[kind] += count
        self.first.setdefault(kind, where)

    def add(self, other: Notices) -> None:
        self.counts.update(other.counts)
        for kind, where in other.first.items():
            self.first.setdefault(kind, where)

"""Retrieval metrics on a declared population: R@k over eligible positives, and the mean reciprocal rank.

Queries without an eligible positive are outside the population: they are counted, never averaged in as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.bootstrap import Interval, cluster_interval

__all__ = ["Query", "RetrievalScores", "chance_rows", "query_rows", "score_retrieval"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One retrieval: candidates best first, the eligible pool, and which of the pool are right."""

    id: str
    match: str
    ranked: tuple[str, ...]
    eligible: frozenset[str]
    positives: frozenset[str]

    def __post_init__(self) -> None:
        if len(set(self.ranked)) < len(self.ranked):
            raise DataError("a candidate is ranked twice", where=f"query {self.id}")
        if strange := set(self.ranked) - self.eligible:
            raise DataError(f"{sorted(strange)[0]!r} is ranked but not eligible", where=f"query {self.id}")

    @property
    def ranks(self) -> list[int]:
        """The rank of each eligible positive that was ranked, from 1."""
        return [rank for rank, candidate in enumerate(self.ranked, start=1) if candidate in self.positives]

    @property
    def wanted(self) -> int:
        """How many positives can be found at all."""
        return len(self.positives & self.eligible)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalScores:
    """R@k: eligible positives in the top k, of all eligible positives. MRR: reciprocal rank of a query's first one."""

    recall: dict[int, float]
    mrr: float
    queries: int
    positives: int
    without_positives: int
    ineligible_positives: int
    intervals: dict[str, Interval] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return {
            **{f"r@{k}": value for k, value in self.recall.items()},
            "mrr": self.mrr,
            "queries": self.queries,
            "positives": self.positives,
            "without_positives": self.without_positives,
            "ineligible_positives": self.ineligible_positives,
            "intervals": {name: interval.to_json() for name, interval in self.intervals.items()},
        }


def score_retrieval(
    *, queries: Sequence[Query], ks: Sequence[int] = (1, 3, 5), replicates: int = 10_000, seed: int = 0
) -> RetrievalScores:
    """Score the queries that have an eligible positive; an unranked positive is a miss. Intervals need two matches,
    and replicates."""
    if any(k < 1 for k in ks):
        raise UsageError("k counts from 1")
    seen: set[Hashable] = set()
    for query in queries:
        if query.id in seen:
            raise DataError("the query stands twice", where=f"query {query.id}")
        seen.add(query.id)
    scored = [query for query in queries if query.wanted]
    if not scored:
        raise DataError(
            f"none of {len(queries)} queries has an eligible positive", remedy="see the pools and positives"
        )
    rows = query_rows(scored, ks)
    values = {name: float(row[:, 0].sum() / row[:, 1].sum()) for name, row in rows.items()}
    matches = [query.match for query in scored]
    intervals = (
        {name: cluster_interval(row, clusters=matches, replicates=replicates, seed=seed) for name, row in rows.items()}
        if len(set(matches)) > 1 and replicates
        else {}
    )
    return RetrievalScores(
        recall={k: values[f"r@{k}"] for k in ks},
        mrr=values["mrr"],
        queries=len(scored),
        positives=sum(query.wanted for query in scored),
        without_positives=len(queries) - len(scored),
        ineligible_positives=sum(len(query.positives - query.eligible) for query in queries),
        intervals=intervals,
    )


def query_rows(queries: Sequence[Query], ks: Sequence[int] = (1, 3, 5), *, strict: bool = False) -> dict[str, Floats]:
    """What each query adds to R@k and to the MRR, [N, 2]: nothing where it has no eligible positive.

    `strict` also counts positives that are not eligible, which nobody can find.
    """
    wanted = [len(query.positives) if strict else query.wanted for query in queries]
    rows = {}
    for k in ks:
        found = [sum(rank <= k for rank in query.ranks) for query in queries]
        rows[f"r@{k}"] = np.array([found, wanted], dtype=np.float64).T
    first = [1 / min(query.ranks) if query.ranks else 0.0 for query in queries]
    rows["mrr"] = np.array([first, [float(many > 0) for many in wanted]]).T
    return rows


def chance_rows(queries: Sequence[Query], k: int = 3) -> Floats:
    """The same of R@k for a ranking by lot."""
    found = [query.wanted * min(k, len(query.eligible)) / max(1, len(query.eligible)) for query in queries]
    return np.array([found, [query.wanted for query in queries]], dtype=np.float64).T

"""Long-term retrieval R_t from L_t (paper section 4.5, table runtime_params): eligibility, then the embedding's top 3.

    eligible: same half, ready at the cutoff, event ended 90 s or more before it
    score:    cosine of the query (the projection of the present memory) and the record's key

The learned NULL candidate competes with the records and whether it won is recorded; it removes none of them. Scores are
computed in float64 and row by row, so that a record's score does not depend on which others stand beside it.

Shapes: d_r width of the retrieval space, N records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streamsoccer.clock import Cutoff
from streamsoccer.domain import HISTORY_GAP_SECONDS
from streamsoccer.errors import DataError, UsageError
from streamsoccer.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Ranking", "RetrievalConfig", "eligible", "rank"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalConfig:
    """The paper's values; the threshold is the scheduler's gate on the best score."""

    gap_seconds: float = HISTORY_GAP_SECONDS
    top: int = 3
    threshold: float = 0.12

    def __post_init__(self) -> None:
        if self.gap_seconds < 0 or self.top < 1:
            raise UsageError(f"retrieval cannot take the top {self.top} at a gap of {self.gap_seconds} s")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ranking:
    """The best records with their scores, best first, and how the NULL candidate fared against them."""

    records: tuple[tuple[Record, float], ...] = ()
    null: float
    null_won: bool
    threshold: float

    @property
    def best(self) -> float | None:
        """The highest score, where there is a record at all."""
        return self.records[0][1] if self.records else None

    @property
    def relevant(self) -> bool:
        """Whether the best score passes the threshold."""
        return self.best is not None and self.best >= self.threshold

    @property
    def chosen(self) -> tuple[Record, ...]:
        """R_t: the records alone, best first."""
        return tuple(record for record, _ in self.records)


def eligible(records: Sequence[Record], cutoff: Cutoff, config: RetrievalConfig | None = None) -> tuple[Record, ...]:
    """Those of the cutoff's half whose event ended 90 s or more before it; a record of the future raises."""
    gap = (config or RetrievalConfig()).gap_seconds
    return tuple(
        record
        for record in map(cutoff.admit, records)
        if record.half == cutoff.at.half and cutoff.at.seconds - record.end.seconds >= gap
    )


def rank(
    query: NDArray[np.floating], null: float, records: Sequence[Record], config: RetrievalConfig | None = None
) -> Ranking:
    """The records nearest to the query by cosine, at most three; equal scores in order of time, then of ID."""
    config = config or RetrievalConfig()
    if not math.isfinite(null):
        raise DataError(f"the NULL candidate's score is {null}")
    scores = _cosines(query, records)
    order = sorted(zip(records, scores, strict=True), key=lambda each: (-each[1], each[0].end, each[0].id))
    best = tuple(order[: config.top])
    return Ranking(records=best, null=null, null_won=not best or null > best[0][1], threshold=config.threshold)


def _cosines(query: NDArray[np.floating], records: Sequence[Record]) -> list[float]:
    if not records:
        return []
    wide = np.asarray(query, dtype=np.float64)
    for record in records:
        if record.key.shape != wide.shape:
            raise DataError(f"its key has shape {record.key.shape}, the query {wide.shape}", where=record.id)
    keys = np.stack([record.key for record in records]).astype(np.float64)
    # a sum along the last axis is the same for a row alone and among others, which a matrix product does not promise
    with np.errstate(invalid="ignore"):  # NaN and infinity are named below
        products = (keys * wide).sum(axis=1)
        lengths = np.sqrt((keys * keys).sum(axis=1)) * np.sqrt((wide * wide).sum())
        scores = np.divide(products, lengths, out=np.zeros_like(products), where=lengths != 0)
    if not np.isfinite(scores).all():
        bad = records[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise DataError("its score is no number: the query or its key holds NaN or infinity", where=bad.id)
    return [float(each) for each in scores]

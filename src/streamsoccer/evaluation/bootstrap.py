"""Match-cluster bootstrap: matches are drawn with replacement, and all anchors of a drawn match come with it.

A score is a function of sums over anchors, so a replicate is a row of multinomial match counts W (B x C) times the
per-match sums S (C x k), and all replicates are one matrix product. Two systems share W: the comparison is paired.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import DataError, UsageError

__all__ = ["Combine", "Interval", "cluster_difference", "cluster_interval", "mean_of_sums", "weighted_interval"]

Floats = NDArray[np.float64]
Combine = Callable[[Floats], Floats]

_WEIGHTS_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A percentile interval and what it was made from; it shows test-set variation, not training variation."""

    estimate: float
    low: float
    high: float
    level: float
    replicates: int
    seed: int
    clusters: int
    anchors: int

    def to_json(self) -> dict[str, float | int]:
        return {name: getattr(self, name) for name in self.__slots__}


def mean_of_sums(sums: Floats) -> Floats:
    """The mean, where the last axis holds [sum of scores, number of scores]."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def cluster_interval(
    rows: Floats,
    *,
    clusters: Sequence[Hashable],
    combine: Combine = mean_of_sums,
    replicates: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """The interval of `combine(sum of rows)`; `rows` (N x k) holds what each anchor adds, `clusters` its match."""
    sums = _cluster_sums(rows, clusters)
    values = [combine(weights @ sums) for weights in _draws(len(sums), replicates, seed, level)]
    return _interval(float(combine(sums.sum(0))), np.concatenate(values), sums, len(rows), seed, level)


def cluster_difference(
    rows: Floats,
    other: Floats,
    *,
    anchors: Sequence[Hashable],
    other_anchors: Sequence[Hashable],
    clusters: Sequence[Hashable],
    other_clusters: Sequence[Hashable],
    combine: Combine = mean_of_sums,
    replicates: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """The interval of one system's score minus another's, on the same anchors, in any order; others are refused."""
    place = _places(other_anchors)
    _require_same_population(_places(anchors), place)
    order = [place[anchor] for anchor in anchors]
    if any(other_clusters[j] != cluster for j, cluster in zip(order, clusters, strict=True)):
        raise DataError("the same anchors belong to different matches in the two systems")
    first, second = _cluster_sums(rows, clusters), _cluster_sums(other[order], clusters)
    values = [combine(w @ first) - combine(w @ second) for w in _draws(len(first), replicates, seed, level)]
    estimate = float(combine(first.sum(0)) - combine(second.sum(0)))
    return _interval(estimate, np.concatenate(values), first, len(rows), seed, level)


def weighted_interval(
    compute: Combine, *, clusters: int, anchors: int, replicates: int = 10_000, seed: int = 0, level: float = 0.95
) -> Interval:
    """The interval of a score that is no function of sums: `compute` takes how often each match is drawn (B x C).

    A replicate in which the score has no value (NaN: it drew no match that has one) says nothing and is left out.
    """
    values = np.concatenate([compute(weights) for weights in _draws(clusters, replicates, seed, level)])
    known = values[np.isfinite(values)]
    if not len(known):
        raise DataError("the score has no value in any replicate")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    estimate = float(compute(np.ones((1, clusters)))[0])
    return Interval(
        estimate=estimate,
        low=float(low),
        high=float(high),
        level=level,
        replicates=len(known),
        seed=seed,
        clusters=clusters,
        anchors=anchors,
    )


def _cluster_sums(rows: Floats, clusters: Sequence[Hashable]) -> Floats:
    if rows.ndim != 2 or len(rows) != len(clusters):
        raise UsageError(f"rows of shape {rows.shape} do not go with {len(clusters)} clusters: one row for each anchor")
    if not np.isfinite(rows).all():
        raise DataError(f"row {int(np.argmax(~np.isfinite(rows).all(axis=1)))} is not a finite number")
    # In a fixed order, so that the interval does not depend on the order of the rows.
    index = {cluster: i for i, cluster in enumerate(sorted(set(clusters), key=repr))}
    of_row = np.array([index[cluster] for cluster in clusters], dtype=np.intp)
    if len(index) < 2:
        raise DataError(
            f"{len(index)} match cannot be resampled: all anchors stand in one cluster",
            remedy="give a match column with at least two matches, or leave intervals out",
        )
    sums = np.zeros((len(index), rows.shape[1]))
    np.add.at(sums, of_row, rows)
    return sums


def _draws(clusters: int, replicates: int, seed: int, level: float) -> Iterator[Floats]:
    """How often each match is drawn, in blocks of replicates that fit in memory whatever the number of matches."""
    if replicates < 1 or not 0 < level < 1:
        raise UsageError(f"{replicates} replicates at level {level}: at least one, and a level between 0 and 1")
    generator = np.random.default_rng(seed)
    block = max(1, _WEIGHTS_AT_ONCE // clusters)
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        yield generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=size).astype(np.float64)


def _interval(estimate: float, values: Floats, sums: Floats, anchors: int, seed: int, level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    made_from: dict[str, Any] = {"replicates": len(values), "seed": seed, "clusters": len(sums), "anchors": anchors}
    return Interval(estimate=estimate, low=float(low), high=float(high), level=level, **made_from)


def _places(anchors: Sequence[Hashable]) -> dict[Hashable, int]:
    place: dict[Hashable, int] = {}
    for i, anchor in enumerate(anchors):
        if place.setdefault(anchor, i) != i:
            raise DataError(f"anchor {anchor!r} stands twice (rows {place[anchor] + 1} and {i + 1})")
    return place


def _require_same_population(first: dict[Hashable, int], second: dict[Hashable, int]) -> None:
    only_first, only_second = [a for a in first if a not in second], [a for a in second if a not in first]
    if only_first or only_second:
        example = (only_first or only_second)[0]
        raise DataError(
            f"the two systems were scored on different anchors: {len(only_first)} only in the first, "
            f"{len(only_second)} only in the second, such as {example!r}",
            remedy="score both on the same anchors, with empty outputs where a system said nothing",
        )

"""One figure of several seeds: their mean, what each gives by itself, and one interval over the matches they share.

A replicate draws matches once and scores every seed on them: the interval is of the mean of these seeds on other
matches. How far seeds differ is told beside it, by their own values. A difference is paired in both: the same matches
drawn for both systems, seed against seed, of the seeds that both have.

N anchors, S seeds, k sums of a score
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import Combine, cluster_difference, cluster_interval

__all__ = ["Figure", "Pooled", "Table"]

Floats = NDArray[np.float64]
Table = tuple[Sequence[Hashable], Sequence[Hashable], Floats]  # anchors, each one's match, rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A mean over seeds; without an interval where all anchors are of one match."""

    mean: float
    seeds: Mapping[int, float]
    low: float | None = None
    high: float | None = None

    @property
    def above(self) -> bool:
        """Whether the interval lies above zero."""
        return self.low is not None and self.low > 0

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"mean": round(self.mean, 6)}
        if self.low is not None and self.high is not None:
            made |= {"low": round(self.low, 6), "high": round(self.high, 6)}
        return made | {"seeds": {str(seed): round(each, 6) for seed, each in self.seeds.items()}}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pooled:
    """A score's rows [N, k], one table a seed, all on the same anchors."""

    seeds: tuple[int, ...]
    anchors: tuple[Hashable, ...]
    clusters: tuple[Hashable, ...]  # each anchor's match
    rows: tuple[Floats, ...]
    combine: Combine

    def __post_init__(self) -> None:
        if not len(self.rows) == len(self.seeds) > 0 or any(each.shape != self.rows[0].shape for each in self.rows):
            raise DataError(f"tables of the shapes {[each.shape for each in self.rows]} are not one score's of seeds")

    @classmethod
    def of(cls, seeds: Mapping[int, Table], combine: Combine) -> Pooled:
        """From each seed's anchors, matches and rows, in whatever order; other anchors are refused."""
        anchors, clusters, _ = next(iter(seeds.values()))
        rows = []
        for mine, owners, table in seeds.values():
            place = {anchor: at for at, anchor in enumerate(mine)}
            if len(place) != len(anchors) or set(place) != set(anchors):
                raise DataError(
                    f"the seeds were asked for other anchors: {len(anchors)} of the first, {len(place)} of another",
                    remedy="let every seed's run be evaluated on the same data with the same limit",
                )
            order = [place[anchor] for anchor in anchors]
            if [owners[at] for at in order] != list(clusters):
                raise DataError("the same anchors belong to different matches in two seeds")
            rows.append(table[order])
        return cls(
            seeds=tuple(seeds), anchors=tuple(anchors), clusters=tuple(clusters), rows=tuple(rows), combine=combine
        )

    def figure(self, *, replicates: int = 10_000, seed: int = 0) -> Figure:
        """The mean over seeds with its interval."""
        mine = self._by_seed()
        if len(set(self.clusters)) < 2:
            return Figure(mean=float(np.mean(list(mine.values()))), seeds=mine)
        found = cluster_interval(
            np.hstack(self.rows), clusters=self.clusters, combine=self._mean, replicates=replicates, seed=seed
        )
        return Figure(mean=found.estimate, seeds=mine, low=found.low, high=found.high)

    def minus(self, other: Pooled, *, replicates: int = 10_000, seed: int = 0) -> Figure:
        """This less the other on the same anchors, seed against seed."""
        both = [each for each in self.seeds if each in other.seeds]
        if not both:
            raise DataError(f"the seeds {list(self.seeds)} and {list(other.seeds)} have none in common")
        if both != list(self.seeds) or both != list(other.seeds):
            return self.of_seeds(both).minus(other.of_seeds(both), replicates=replicates, seed=seed)
        others = other._by_seed()
        mine = {each: value - others[each] for each, value in self._by_seed().items()}
        if len(set(self.clusters)) < 2:
            return Figure(mean=float(np.mean(list(mine.values()))), seeds=mine)
        found = cluster_difference(
            np.hstack(self.rows),
            np.hstack(other.rows),
            anchors=self.anchors,
            other_anchors=other.anchors,
            clusters=self.clusters,
            other_clusters=other.clusters,
            combine=self._mean,
            replicates=replicates,
            seed=seed,
        )
        return Figure(mean=found.estimate, seeds=mine, low=found.low, high=found.high)

    def of_seeds(self, kept: Sequence[int]) -> Pooled:
        """The same of some of the seeds, in this order."""
        return replace(self, seeds=tuple(kept), rows=tuple(self.rows[self.seeds.index(seed)] for seed in kept))

    def only(self, kept: set[Hashable]) -> Pooled:
        """The same of some of the anchors: what a change was asked for."""
        places = [at for at, anchor in enumerate(self.anchors) if anchor in kept]
        return replace(
            self,
            anchors=tuple(self.anchors[at] for at in places),
            clusters=tuple(self.clusters[at] for at in places),
            rows=tuple(each[places] for each in self.rows),
        )

    def _by_seed(self) -> dict[int, float]:
        return {seed: float(self.combine(each.sum(0))) for seed, each in zip(self.seeds, self.rows, strict=True)}

    def _mean(self, sums: Floats) -> Floats:
        parts = np.split(sums, len(self.rows), axis=-1)
        return np.asarray(np.mean([self.combine(each) for each in parts], axis=0))

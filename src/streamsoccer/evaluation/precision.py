"""Average precision of clip actions, class by class, with its match-clustered interval.

    AP = the mean, over a class's positives, of the precision among all clips that score at least as high

Ties are one group, as in scikit-learn. Only counts at the positives are needed, by match, so that a replicate of the
bootstrap is a weighted sum of them and is exact, not an approximation.

P positives, C matches, B replicates
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import DataError

__all__ = ["PrecisionCounts", "mean_average_precision", "precision_counts"]

Floats = NDArray[np.float64]
_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PrecisionCounts:
    """One class: each positive's match [P], and how many positives and clips of each match score as high [P, C]."""

    match: NDArray[np.int64]
    right: Floats
    clips: Floats

    @property
    def positives(self) -> int:
        return len(self.match)

    def average(self, weights: Floats) -> Floats:
        """AP [B] where match c counts weights[b, c] times; NaN where it leaves no positive."""
        found = np.empty(len(weights))
        block = max(1, _AT_ONCE // max(1, self.positives))
        for begin in range(0, len(weights), block):
            drawn = weights[begin : begin + block]
            of_positive = drawn[:, self.match]
            total = of_positive.sum(1)
            with np.errstate(divide="ignore", invalid="ignore"):
                # a positive that is not drawn may stand where nothing is: it weighs nothing
                precision = np.where(of_positive > 0, (drawn @ self.right.T) / (drawn @ self.clips.T), 0.0)
                found[begin : begin + block] = (of_positive * precision).sum(1) / total
        return found


def precision_counts(scores: Floats, target: NDArray[np.bool_], matches: Sequence[Hashable]) -> PrecisionCounts:
    """The counts of one class from each clip's score, label and match."""
    if not len(scores) == len(target) == len(matches):
        raise DataError(f"{len(scores)} scores, {len(target)} labels and {len(matches)} matches: one each is needed")
    if not np.isfinite(scores).all():
        raise DataError(f"score {int(np.argmax(~np.isfinite(scores)))} is not a finite number")
    index = {match: place for place, match in enumerate(sorted(set(matches), key=repr))}
    of_clip = np.array([index[match] for match in matches], dtype=np.int64)
    order = np.argsort(-scores, kind="stable")
    ranked, owner = target[order], of_clip[order]
    falls = np.append(np.diff(scores[order]) != 0, True)
    ends = np.flatnonzero(falls)  # the last place of each group of ties
    at = np.flatnonzero(ranked)
    last = ends[np.searchsorted(ends, at)]  # where each positive's group ends
    clips, right = np.zeros((len(at), len(index))), np.zeros((len(at), len(index)))
    for place in range(len(index)):
        mine = owner == place
        clips[:, place] = np.cumsum(mine)[last]
        right[:, place] = np.cumsum(mine & ranked)[last]
    return PrecisionCounts(match=owner[at], right=right, clips=clips)


def mean_average_precision(classes: Sequence[PrecisionCounts], weights: Floats) -> Floats:
    """mAP [B] over the classes that have a positive among the matches drawn."""
    found = np.stack([each.average(weights) for each in classes if each.positives])
    known = np.isfinite(found)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, found, 0.0).sum(0) / known.sum(0))

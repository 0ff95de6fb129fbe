"""The numbers that a run watches on its validation matches, from plain arrays: F1 of transitions, F1 by class, mAP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "added", "average_precision", "best_ranks", "class_f1", "f1", "token_f1", "transition_counts"]

Counts = tuple[int, int, int]  # found and true, found and false, true and not found


def f1(counts: Counts) -> float:
    """The harmonic mean of precision and recall; 1 where there was nothing to find and nothing was found."""
    hit, false, missed = counts
    return 1.0 if hit + false + missed == 0 else 2 * hit / (2 * hit + false + missed)


def added(counts: Iterable[Counts]) -> Counts:
    total = np.array(list(counts), dtype=np.int64).reshape(-1, 3).sum(0)
    return int(total[0]), int(total[1]), int(total[2])


def transition_counts(
    found: NDArray[np.bool_], true: NDArray[np.bool_], learn: NDArray[np.bool_], tolerance: int = 0
) -> Counts:
    """Transitions of a half [T], each matched with at most one within so many clips, in order of time.

    What is found on a masked clip is neither right nor wrong.
    """
    wanted, places = np.flatnonzero(true & learn).tolist(), np.flatnonzero(found & learn).tolist()
    at = hits = 0
    for each in wanted:  # in order of time the earliest partner is the best
        while at < len(places) and places[at] < each - tolerance:
            at += 1
        if at < len(places) and places[at] <= each + tolerance:
            at, hits = at + 1, hits + 1
    return hits, len(places) - hits, len(wanted) - hits


def class_f1(found: NDArray[np.integer], true: NDArray[np.integer], classes: int) -> dict[int, float]:
    """F1 of each class that occurs in `true`; their mean is macro-F1."""
    return {
        each: f1(
            (
                int(((found == each) & (true == each)).sum()),
                int(((found == each) & (true != each)).sum()),
                int(((found != each) & (true == each)).sum()),
            )
        )
        for each in range(classes)
        if (true == each).any()
    }


def average_precision(scores: NDArray[np.floating], true: NDArray[np.bool_]) -> float | None:
    """The area under precision over recall, step by step; nothing where nothing is true. Equal scores are one step."""
    total = int(true.sum())
    if not total:
        return None
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # the last of each run of equal scores
    hits = np.cumsum(true[order])[ends]
    precision = hits / (ends + 1)
    return float((np.diff(hits, prepend=0) * precision).sum() / total)


def token_f1(generated: Sequence[str], reference: Sequence[str]) -> float:
    """Overlap of the words of two texts: a quick look, not the scorer of evaluation/metrics.py."""
    shared = sum((Counter(generated) & Counter(reference)).values())
    return 0.0 if not shared else 2 * shared / (len(generated) + len(reference))


def best_ranks(scores: NDArray[np.floating], right: NDArray[np.bool_], candidate: NDArray[np.bool_]) -> list[int]:
    """The rank of the best positive among the candidates of each row [B, C] that has both kinds; ties are lost."""
    found = []
    for mine, positive, there in zip(scores, right & candidate, candidate, strict=True):
        others = there & ~positive
        if positive.any() and others.any():
            found.append(1 + int((mine[others] >= mine[positive].max()).sum()))
    return found

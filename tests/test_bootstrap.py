"""The match-cluster bootstrap: equal to resampling by hand, honest coverage, paired, and strict about populations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.bootstrap import cluster_difference, cluster_interval
from streamsoccer.evaluation.metrics import Metric, bleu, means
from streamsoccer.evaluation.text import score_texts
from text_pairs import real_looking_pairs


def rows_of(scores: Any) -> Any:
    return means(np.asarray(scores, dtype=float)).rows


def clustered(draw: np.random.Generator, matches: int, *, spread: float = 1.0) -> tuple[np.ndarray, list[int]]:
    """Scores around 0 where anchors of a match share a shift, and matches differ in size."""
    sizes = draw.integers(5, 30, size=matches)
    labels = np.repeat(np.arange(matches), sizes)
    return draw.normal(0, spread, size=matches)[labels] + draw.normal(0, 1, size=len(labels)), labels.tolist()


def test_a_replicate_is_what_copying_the_drawn_matches_gives() -> None:
    """Same draws, slow way: anchors of drawn matches are copied out and corpus BLEU is computed by the package."""
    predictions, references = real_looking_pairs(30)
    matches = [i % 5 for i in range(30)]
    statistic = bleu(predictions=predictions, references=references)[Metric.BLEU4]
    fast = cluster_interval(statistic.rows, clusters=matches, combine=statistic.combine, replicates=40, seed=3)
    slow = []
    for counts in np.random.default_rng(3).multinomial(5, np.full(5, 1 / 5), size=40):
        rows = [i for match, count in enumerate(counts) for _ in range(count) for i in range(30) if matches[i] == match]
        drawn = bleu(predictions=[predictions[i] for i in rows], references=[references[i] for i in rows])
        slow.append(drawn[Metric.BLEU4].value)
    assert (fast.low, fast.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=1e-12)
    assert fast.estimate == pytest.approx(statistic.value, abs=1e-12)


def test_it_agrees_with_an_independent_resampling_loop() -> None:
    scores, matches = clustered(np.random.default_rng(1), 25)
    fast = cluster_interval(rows_of(scores), clusters=matches, replicates=8000)
    draw = np.random.default_rng(99)
    by_match = [scores[np.array(matches) == match] for match in range(25)]
    slow = [np.concatenate([by_match[j] for j in draw.integers(25, size=25)]).mean() for _ in range(8000)]
    assert (fast.low, fast.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.03)


def test_coverage_of_simulated_clustered_data_is_about_95_percent() -> None:
    draw = np.random.default_rng(5)
    inside = []
    one_by_one = []  # anchors of a match are not independent: resampling them one by one claims too much
    for seed in range(300):
        scores, matches = clustered(draw, 60)
        interval = cluster_interval(rows_of(scores), clusters=matches, replicates=600, seed=seed)
        inside.append(interval.low <= 0 <= interval.high)
        if seed < 50:
            wrong = cluster_interval(rows_of(scores), clusters=range(len(scores)), replicates=200, seed=seed)
            one_by_one.append(wrong.low <= 0 <= wrong.high)
    assert 0.91 <= np.mean(inside) <= 0.98
    assert np.mean(one_by_one) < 0.75


def test_a_paired_difference_is_narrower_than_two_separate_intervals_and_ignores_order() -> None:
    draw = np.random.default_rng(2)
    first, matches = clustered(draw, 30)
    second = first - 0.1 + draw.normal(0, 0.1, size=len(first))
    anchors = [f"a{i}" for i in range(len(first))]
    order = draw.permutation(len(first))

    def difference(rows: Any, theirs: Any, ids: Any, labels: Any) -> Any:
        return cluster_difference(
            rows, theirs, anchors=anchors, other_anchors=ids, clusters=matches, other_clusters=labels, replicates=2000
        )

    straight = difference(rows_of(first), rows_of(second), anchors, matches)
    shuffled = difference(
        rows_of(first), rows_of(second)[order], [anchors[i] for i in order], [matches[i] for i in order]
    )
    assert straight == shuffled
    assert 0 < straight.low < straight.estimate < straight.high
    alone = cluster_interval(rows_of(first), clusters=matches, replicates=2000)
    assert straight.high - straight.low < (alone.high - alone.low) / 5
    same = difference(rows_of(first), rows_of(first), anchors, matches)
    assert (same.low, same.estimate, same.high) == (0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_row_order_does_not_matter_and_a_seed_gives_one_answer(seed: int, matches: int) -> None:
    draw = np.random.default_rng(seed)
    scores, labels = clustered(draw, matches)
    order = draw.permutation(len(scores))
    one = cluster_interval(rows_of(scores), clusters=labels, replicates=200, seed=seed)
    two = cluster_interval(rows_of(scores[order]), clusters=[labels[i] for i in order], replicates=200, seed=seed)
    assert (one.low, one.high) == pytest.approx((two.low, two.high))
    assert one.low <= one.high and (one.clusters, one.anchors) == (matches, len(scores))


def test_many_matches_are_drawn_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, labels = clustered(np.random.default_rng(0), 20)
    whole = cluster_interval(rows_of(scores), clusters=labels, replicates=500)
    monkeypatch.setattr("streamsoccer.evaluation.bootstrap._WEIGHTS_AT_ONCE", 60)
    assert cluster_interval(rows_of(scores), clusters=labels, replicates=500) == whole


def test_text_scores_give_intervals_and_paired_differences_for_every_metric_that_has_a_value() -> None:
    predictions, references = real_looking_pairs(60)
    metrics = [Metric.TOK_F1, Metric.BLEU4, Metric.CIDER]
    matches = [i // 10 for i in range(60)]
    good = score_texts(predictions=predictions, references=references, metrics=metrics)
    worse = score_texts(predictions=["a " + text for text in predictions], references=references, metrics=metrics)
    for metric, interval in good.intervals(matches=matches, replicates=500).items():
        assert interval.low <= interval.estimate <= interval.high
        assert interval.estimate == pytest.approx(good[metric], abs=1e-9)
    ids = list(range(60))
    found = good.differences(
        worse, anchors=ids, other_anchors=ids, matches=matches, other_matches=matches, replicates=500
    )
    assert list(found) == metrics and all(difference.low > 0 for difference in found.values())


@pytest.mark.parametrize(
    ("ids", "labels", "problem"),
    [
        (["a", "b", "x"], [1, 1, 2], "1 only in the first, 1 only in the second, such as 'c'"),
        (["a", "b"], [1, 1], "1 only in the first"),
        (["a", "b", "b"], [1, 1, 2], "'b' stands twice"),
        (["a", "b", "c"], [1, 2, 2], "different matches"),
    ],
)
def test_different_populations_are_refused(ids: list[str], labels: list[int], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        cluster_difference(
            rows_of([1, 2, 3]),
            rows_of([1] * len(ids)),
            anchors=["a", "b", "c"],
            other_anchors=ids,
            clusters=[1, 1, 2],
            other_clusters=labels,
        )


def test_what_cannot_be_resampled_is_an_error() -> None:
    with pytest.raises(DataError, match="1 match cannot be resampled"):
        cluster_interval(rows_of([1, 2]), clusters=["m", "m"])
    with pytest.raises(UsageError, match="one row for each anchor"):
        cluster_interval(rows_of([1, 2]), clusters=["m"])
    with pytest.raises(DataError, match="not a finite number"):
        cluster_interval(rows_of([1, float("nan")]), clusters=["m", "n"])
    with pytest.raises(UsageError, match="at least one"):
        cluster_interval(rows_of([1, 2]), clusters=["m", "n"], replicates=0)

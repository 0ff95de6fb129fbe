"""What our scoring costs beside the packages called directly, and what 10,000 bootstrap replicates cost beside that.

Run: python benchmarks/scoring.py [ANCHORS]. Every figure is a ratio to something measured in the same run.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from streamsoccer.clock import WallClock
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.text import TextScorer

METRICS = [Metric.BLEU4, Metric.ROUGE_L, Metric.CIDER]
MATCHES = 63
ROUNDS = 5


def captions(count: int) -> tuple[list[str], list[str]]:
    """Sentences of about 20 words, from a vocabulary as large as the captions'."""
    draw = random.Random(0)
    words = [f"w{i}" for i in range(1444)]
    weights = [1 / (i + 1) for i in range(1444)]
    references = [" ".join(draw.choices(words, weights, k=draw.randint(8, 35))) for _ in range(count)]
    predictions = [" ".join(w if draw.random() < 0.6 else draw.choice(words) for w in r.split()) for r in references]
    return predictions, references


def fastest(clock: WallClock, *calls: Callable[[], Any]) -> list[float]:
    """The fastest round of each call, the calls taking turns so that a busy machine slows all alike."""
    seconds = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = clock.now()
            call()
            seconds[i] = min(seconds[i], clock.now() - start)
    return seconds


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3789
    predictions, references = captions(count)
    gts, res = {i: [text] for i, text in enumerate(references)}, {i: [text] for i, text in enumerate(predictions)}
    matches = [i * MATCHES // count for i in range(count)]

    def packages() -> None:
        Bleu(4).compute_score(gts, res, verbose=0)
        Rouge().compute_score(gts, res)
        Cider().compute_score(gts, res)

    with TextScorer(metrics=METRICS) as scorer:
        scores = scorer.score(predictions=predictions, references=references)
        direct, ours, replicates = fastest(
            WallClock(),
            packages,
            lambda: scorer.score(predictions=predictions, references=references),
            lambda: scores.intervals(matches=matches),
        )
    print(f"{count} anchors of {MATCHES} matches; BLEU, ROUGE-L and CIDEr; fastest of {ROUNDS} rounds")
    print(f"ours / packages called directly: {ours / direct:.3f}")
    print(f"10,000 bootstrap replicates of the three metrics / one plain scoring: {replicates / direct:.3f}")


if __name__ == "__main__":
    main()

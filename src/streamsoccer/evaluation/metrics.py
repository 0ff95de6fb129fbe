"""The text metrics, each through the field's package, with what the bootstrap needs to form them again.

Texts come in as the convention made them (see tokenise.py): one prediction and at least one reference an anchor.
CIDEr is on its 100x scale; the others lie between 0 and 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

from streamsoccer import __version__
from streamsoccer.evaluation.bootstrap import Combine, mean_of_sums
from streamsoccer.evaluation.meteor import Meteor, combine_meteor

__all__ = ["Metric", "Statistic", "bleu", "cider", "installed_version", "means", "meteor", "rouge_l", "tok_f1"]

Floats = NDArray[np.float64]
Texts = Sequence[str]
References = Sequence[Sequence[str]]


class Metric(StrEnum):
    """The metrics, in the order of the paper's tables; values are the keys in JSON."""

    TOK_F1 = "tok_f1"
    BLEU1 = "bleu1"
    BLEU4 = "bleu4"
    METEOR = "meteor"
    ROUGE_L = "rouge_l"
    CIDER = "cider"
    BERTSCORE = "bertscore"
    BERTSCORE_RESCALED = "bertscore_rescaled"

    @property
    def scale(self) -> str:
        return {Metric.CIDER: "x100", Metric.BERTSCORE_RESCALED: "rescaled: 0 is the baseline, 1 is equal"}.get(
            self, "0 to 1 (MatchTime and UniSoccer print it x100)"
        )

    @property
    def scorer(self) -> str:
        """The program and version that computes it."""
        if self is Metric.TOK_F1:
            return f"streamsoccer {__version__}: F1 of the two bags of words, best reference, mean over anchors"
        package = "bert-score" if self in (Metric.BERTSCORE, Metric.BERTSCORE_RESCALED) else "pycocoevalcap"
        part = {
            Metric.BLEU1: "Bleu(4)[0], closest reference length",
            Metric.BLEU4: "Bleu(4)[3], closest reference length",
        }
        names = {
            Metric.METEOR: "Meteor 1.5 -l en -norm",
            Metric.ROUGE_L: "Rouge, beta 1.2",
            Metric.CIDER: "Cider, n 4, sigma 6",
        }
        what = (part | names).get(self, "F1 of RoBERTa-large layer 17, no idf")
        return f"{package} {installed_version(package) or '(not installed)'}: {what}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """A corpus score by the package, its score for each unit, and rows whose sums `combine` turns into such a score."""

    value: float
    each: Floats
    rows: Floats
    combine: Combine


def installed_version(package: str) -> str | None:
    """The installed version, which a score must name: scores of different versions must not be mixed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def means(each: Floats, *, value: float | None = None, scale: float = 1.0) -> Statistic:
    """A metric that is the mean of its scores for each anchor."""
    scaled = np.asarray(each, dtype=np.float64) * scale
    rows = np.stack([scaled, np.ones_like(scaled)], axis=1)
    mean = float(scaled.mean()) if value is None else float(value) * scale
    return Statistic(value=mean, each=scaled, rows=rows, combine=mean_of_sums)


def cider(*, predictions: Texts, references: References) -> Statistic:
    """CIDEr with document frequencies of these references; in the bootstrap they stay as they are here."""
    from pycocoevalcap.cider.cider import Cider

    value, each = Cider().compute_score(*_dictionaries(predictions, references))
    return means(each, value=value, scale=100.0)


def rouge_l(*, predictions: Texts, references: References) -> Statistic:
    """ROUGE-L. The package splits at each space, so an empty output could match a double space: it scores 0 here."""
    from pycocoevalcap.rouge.rouge import Rouge

    _, each = Rouge().compute_score(*_dictionaries(predictions, references))
    return means(np.where([bool(text.strip()) for text in predictions], each, 0.0))


def bleu(*, predictions: Texts, references: References) -> dict[Metric, Statistic]:
    """Corpus BLEU-1 and BLEU-4, with the lengths and n-gram counts of each text, which add up to it."""
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer

    scorer = BleuScorer(n=4)
    for prediction, texts in zip(predictions, references, strict=True):
        scorer += (prediction, list(texts))
    values, each = scorer.compute_score(option="closest", verbose=0)
    rows = np.array(
        [
            [
                text["testlen"],
                min((abs(n - text["testlen"]), n) for n in text["reflen"])[1],
                *text["guess"],
                *text["correct"],
            ]
            for text in scorer.ctest
        ],
        dtype=np.float64,
    )
    return {
        metric: Statistic(value=float(values[n - 1]), each=np.array(each[n - 1]), rows=rows, combine=_BLEU_OF_SUMS[n])
        for metric, n in ((Metric.BLEU1, 1), (Metric.BLEU4, 4))
    }


def _bleu_of_sums(sums: Floats, n: int) -> Floats:
    """Corpus BLEU-n from summed [output length, reference length, 4 guesses, 4 matches], epsilons as the package."""
    tiny, small = 1e-15, 1e-9
    precisions = (sums[..., 6 : 6 + n] + tiny) / (sums[..., 2 : 2 + n] + small)
    ratio = (sums[..., 0] + tiny) / (sums[..., 1] + small)
    with np.errstate(over="ignore"):
        brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    return np.asarray(np.prod(precisions, axis=-1) ** (1 / n) * brevity)


def _bleu1_of_sums(sums: Floats) -> Floats:
    return _bleu_of_sums(sums, 1)


def _bleu4_of_sums(sums: Floats) -> Floats:
    return _bleu_of_sums(sums, 4)


_BLEU_OF_SUMS: dict[int, Combine] = {1: _bleu1_of_sums, 4: _bleu4_of_sums}


def meteor(process: Meteor, *, predictions: Texts, references: References) -> Statistic:
    """Corpus METEOR, with the counts of each text that it is made of."""
    value, each, rows = process.score(predictions, references)
    return Statistic(value=value, each=each, rows=rows, combine=combine_meteor)


def tok_f1(*, predictions: Texts, references: References) -> Statistic:
    """Harmonic mean of token precision and recall over the two bags of words; best reference, then the mean."""

    def f1(output: Counter[str], reference: Counter[str]) -> float:
        words = output.total() + reference.total()
        return 2 * (output & reference).total() / words if words else 0.0

    each = [
        max(f1(Counter(prediction.split()), Counter(text.split())) for text in texts)
        for prediction, texts in zip(predictions, references, strict=True)
    ]
    return means(np.array(each))


def _dictionaries(predictions: Texts, references: References) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """The package's arguments: references first, then predictions, each under the same keys."""
    return dict(enumerate(map(list, references))), {i: [text] for i, text in enumerate(predictions)}

"""Paired text evaluation: predictions against references under a named convention, nothing dropped, nothing unnamed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from streamsoccer.errors import DataError, StreamSoccerError, UsageError
from streamsoccer.evaluation import metrics as measure
from streamsoccer.evaluation.bertscore import BertScorer
from streamsoccer.evaluation.bootstrap import Interval, cluster_difference, cluster_interval
from streamsoccer.evaluation.meteor import Meteor
from streamsoccer.evaluation.metrics import Metric, Statistic
from streamsoccer.evaluation.tokenise import JAVA_REMEDY, Convention, find_java, package_folder, tokenise

__all__ = ["Absence", "Score", "TextScorer", "TextScores", "score_texts"]

_OVER_HALVES = "mean over halves"


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """Why a metric has no value; an absent metric is never 0."""

    reason: str
    remedy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """One metric: its value or why there is none, and everything one must know to compare it."""

    metric: Metric
    value: float | None
    scorer: str
    tokeniser: str
    statistic: Statistic | None = None
    absence: Absence | None = None

    def to_json(self) -> dict[str, Any]:
        facts = {"scorer": self.scorer, "tokeniser": self.tokeniser, "scale": self.metric.scale}
        if self.absence is not None:
            return {**facts, "absent": self.absence.reason, "remedy": self.absence.remedy}
        return facts


@dataclass(frozen=True, kw_only=True, slots=True)
class TextScores:
    """All metrics of one system on one population. `units`: the anchor that each row of a statistic begins with."""

    convention: Convention
    n: int
    outputs: int
    copies: int
    scores: dict[Metric, Score]
    units: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def coverage(self) -> float:
        """Non-empty outputs divided by requested anchors."""
        return self.outputs / self.n

    def __getitem__(self, metric: Metric) -> float | None:
        score = self.scores.get(metric)
        return None if score is None else score.value

    def intervals(
        self, *, matches: Sequence[Hashable], replicates: int = 10_000, seed: int = 0
    ) -> dict[Metric, Interval]:
        """The match-clustered 95% interval of each metric with a value; `matches` holds the match of each anchor."""
        clusters = [self._of(matches)[i] for i in self.units]
        return {
            metric: cluster_interval(
                statistic.rows, clusters=clusters, combine=statistic.combine, replicates=replicates, seed=seed
            )
            for metric, statistic in self._statistics()
        }

    def differences(
        self,
        other: TextScores,
        *,
        anchors: Sequence[Hashable],
        other_anchors: Sequence[Hashable],
        matches: Sequence[Hashable],
        other_matches: Sequence[Hashable],
        replicates: int = 10_000,
        seed: int = 0,
    ) -> dict[Metric, Interval]:
        """The paired interval of this system minus the other, on the same anchors under the same convention."""
        if self.convention is not other.convention:
            raise UsageError(f"scores under {self.convention} and {other.convention} cannot be compared")
        theirs = dict(other._statistics())
        return {
            metric: cluster_difference(
                statistic.rows,
                theirs[metric].rows,
                anchors=[self._of(anchors)[i] for i in self.units],
                other_anchors=[other._of(other_anchors)[i] for i in other.units],
                clusters=[self._of(matches)[i] for i in self.units],
                other_clusters=[other._of(other_matches)[i] for i in other.units],
                combine=statistic.combine,
                replicates=replicates,
                seed=seed,
            )
            for metric, statistic in self._statistics()
            if metric in theirs
        }

    def to_json(self) -> dict[str, Any]:
        """Numbers under the metrics' names at the top; how they were made under `details`."""
        return {
            "convention": self.convention.value,
            "n": self.n,
            "coverage": self.coverage,
            **{metric.value: score.value for metric, score in self.scores.items()},
            "details": {
                "convention": self.convention.meaning,
                "outputs": self.outputs,
                "empty": self.n - self.outputs,
                "copies_of_the_reference": self.copies,
                "units": len(self.units),
                "notes": list(self.notes),
                **{metric.value: score.to_json() for metric, score in self.scores.items()},
            },
        }

    def _statistics(self) -> list[tuple[Metric, Statistic]]:
        return [(metric, score.statistic) for metric, score in self.scores.items() if score.statistic is not None]

    def _of(self, labels: Sequence[Hashable]) -> Sequence[Hashable]:
        if len(labels) != self.n:
            raise UsageError(f"{len(labels)} labels for {self.n} anchors: one for each is needed")
        return labels


class TextScorer:
    """Holds what is slow to start (METEOR's Java, the BERTScore model) over any number of tables; use it in `with`."""

    def __init__(
        self,
        *,
        convention: Convention = Convention.RAW,
        metrics: Iterable[Metric] = tuple(Metric),
        bertscore: Path | None = None,
        meteor: Meteor | None = None,
    ) -> None:
        """`bertscore` is the folder of its model; `meteor` a process that another holds, and will close."""
        package_folder("bleu")
        self._convention = convention
        self._metrics = [metric for metric in Metric if metric in set(metrics)]
        self._absent: dict[Metric, Absence] = {}
        self._meteor: Meteor | None = meteor if Metric.METEOR in self._metrics else None
        self._closes_meteor = meteor is None
        self._bert = BertScorer(bertscore) if bertscore is not None else None
        if self._bert is None:
            reason = Absence(reason="no model was given", remedy="--bertscore FOLDER, with RoBERTa-large in it")
            self._absent |= dict.fromkeys((Metric.BERTSCORE, Metric.BERTSCORE_RESCALED), reason)
        elif self._bert.no_rescaling is not None:
            remedy = "use RoBERTa-large, whose baseline the package has"
            self._absent[Metric.BERTSCORE_RESCALED] = Absence(reason=self._bert.no_rescaling, remedy=remedy)
        if Metric.METEOR in self._metrics and meteor is None:
            self._start_meteor()

    def _start_meteor(self) -> None:
        if find_java() is None:
            self._absent[Metric.METEOR] = Absence(reason="METEOR needs Java, and there is none", remedy=JAVA_REMEDY)
            return
        try:
            self._meteor = Meteor()
        except StreamSoccerError as error:
            self._lose_meteor(error)

    def _lose_meteor(self, error: StreamSoccerError) -> None:
        """A Java that does not work costs METEOR alone, and METEOR says why."""
        self.close()
        self._meteor = None
        self._absent[Metric.METEOR] = Absence(reason=error.problem, remedy=error.remedy or JAVA_REMEDY)

    def close(self) -> None:
        """End METEOR's process, where it was started here."""
        if self._meteor is not None and self._closes_meteor:
            self._meteor.close()

    def __enter__(self) -> TextScorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def score(
        self,
        *,
        predictions: Sequence[str | None],
        references: Sequence[str | Sequence[str]],
        halves: Sequence[Hashable] | None = None,
        places: Sequence[str] | None = None,
    ) -> TextScores:
        """Score all anchors; a missing or blank prediction is an empty output that stays in the denominator.

        `halves` holds (match, half) of each row, for the convention `half`; `places` names each row in errors.
        """
        if len(predictions) != len(references) or not predictions:
            raise DataError(
                f"{len(predictions)} predictions for {len(references)} references: as many, and at least one"
            )
        where = places if places is not None else [f"row {i + 1}" for i in range(len(predictions))]
        outputs = [_output(text, place) for text, place in zip(predictions, where, strict=True)]
        sources = [_sources(texts, place) for texts, place in zip(references, where, strict=True)]
        units = self._units(len(outputs), halves)
        words, word_references = self._prepare(outputs, sources, where)
        found = [self._measure(words, word_references, outputs, sources, unit) for unit in units]
        scores = {metric: self._report(metric, [unit.get(metric) for unit in found]) for metric in self._metrics}
        per_half = self._convention is Convention.HALF
        return TextScores(
            convention=self._convention,
            n=len(outputs),
            outputs=sum(bool(text) for text in outputs),
            copies=sum(text in texts for text, texts in zip(outputs, sources, strict=True)),
            scores=scores,
            units=tuple(unit[0] for unit in units) if per_half else tuple(range(len(outputs))),
            notes=_notes(units, per_half=per_half),
        )

    def _units(self, n: int, halves: Sequence[Hashable] | None) -> list[list[int]]:
        """The corpora that are scored apart: all anchors, or those of each half of each match."""
        if self._convention is not Convention.HALF:
            return [list(range(n))]
        if halves is None or len(halves) != n:
            raise UsageError(
                "the convention 'half' needs the match and half of each row", remedy="name them: --match, --half"
            )
        units: dict[Hashable, list[int]] = {}
        for i, half in enumerate(halves):
            units.setdefault(half, []).append(i)
        return list(units.values())

    def _prepare(
        self, outputs: list[str], sources: list[list[str]], where: Sequence[str]
    ) -> tuple[list[str], list[list[str]]]:
        """Tokenise predictions and references in one go, for one start of Java."""
        flat = [*outputs, *(text for texts in sources for text in texts)]
        words = tokenise(flat, self._convention.tokeniser)
        rest = iter(words[len(outputs) :])
        references = [[next(rest) for _ in texts] for texts in sources]
        for texts, place in zip(references, where, strict=True):
            if not all(text.split() for text in texts):
                raise DataError(f"a reference has no words under the convention {self._convention}", where=place)
        return words[: len(outputs)], references

    def _measure(
        self,
        words: list[str],
        references: list[list[str]],
        outputs: list[str],
        sources: list[list[str]],
        unit: list[int],
    ) -> dict[Metric, Statistic]:
        """Every metric of one corpus; BERTScore reads the text itself, because its model has its own tokenizer."""
        predicted, expected = [words[i] for i in unit], [references[i] for i in unit]
        found: dict[Metric, Statistic] = {}
        if Metric.TOK_F1 in self._metrics:
            found[Metric.TOK_F1] = measure.tok_f1(predictions=predicted, references=expected)
        if {Metric.BLEU1, Metric.BLEU4} & set(self._metrics):
            found |= measure.bleu(predictions=predicted, references=expected)
        if self._meteor is not None:
            try:
                found[Metric.METEOR] = measure.meteor(self._meteor, predictions=predicted, references=expected)
            except StreamSoccerError as error:
                self._lose_meteor(error)
        if Metric.ROUGE_L in self._metrics:
            found[Metric.ROUGE_L] = measure.rouge_l(predictions=predicted, references=expected)
        if Metric.CIDER in self._metrics:
            found[Metric.CIDER] = measure.cider(predictions=predicted, references=expected)
        if self._bert is not None and {Metric.BERTSCORE, Metric.BERTSCORE_RESCALED} & set(self._metrics):
            found |= self._bert.score(predictions=[outputs[i] for i in unit], references=[sources[i] for i in unit])
        return found

    def _report(self, metric: Metric, found: list[Statistic | None]) -> Score:
        statistics = [statistic for statistic in found if statistic is not None]
        of_bert = metric in (Metric.BERTSCORE, Metric.BERTSCORE_RESCALED)
        tokeniser = "the model's own, on the text as it is" if of_bert else self._convention.tokeniser.value
        scorer = f"{metric.scorer} ({self._bert.name})" if of_bert and self._bert is not None else metric.scorer
        if metric in self._absent:
            return Score(metric=metric, value=None, scorer=scorer, tokeniser=tokeniser, absence=self._absent[metric])
        if self._convention is Convention.HALF:
            # Each half counts the same, however many anchors it holds.
            statistic = measure.means(np.array([statistic.value for statistic in statistics]))
            scorer = f"{scorer}; {_OVER_HALVES}"
        else:
            statistic = statistics[0]
        return Score(metric=metric, value=statistic.value, scorer=scorer, tokeniser=tokeniser, statistic=statistic)


def score_texts(
    *,
    predictions: Sequence[str | None],
    references: Sequence[str | Sequence[str]],
    convention: Convention = Convention.RAW,
    metrics: Iterable[Metric] = tuple(Metric),
    halves: Sequence[Hashable] | None = None,
    bertscore: Path | None = None,
    meteor: Meteor | None = None,
) -> TextScores:
    """Score one table; for several, keep a TextScorer."""
    with TextScorer(convention=convention, metrics=metrics, bertscore=bertscore, meteor=meteor) as scorer:
        return scorer.score(predictions=predictions, references=references, halves=halves)


def _output(text: str | None, where: str) -> str:
    if text is not None and not isinstance(text, str):
        raise DataError(f"a prediction is one text or nothing, not {type(text).__name__}", where=where)
    return _readable(text, where) if text is not None and text.strip() else ""


def _sources(texts: str | Sequence[str], where: str) -> list[str]:
    found = [texts] if isinstance(texts, str) else list(texts)
    if not found or not all(isinstance(text, str) and text.strip() for text in found):
        raise DataError(
            "the reference is blank", where=where, remedy="a row without a reference cannot be scored; leave it out"
        )
    return [_readable(text, where) for text in found]


def _readable(text: str, where: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"{text[:40]!r} holds half of a surrogate pair, which is no character", where=where) from None
    return text


def _notes(units: list[list[int]], *, per_half: bool) -> tuple[str, ...]:
    """What a reader must know about CIDEr on very small corpora: one document has no rare words, so it scores 0."""
    single = sum(len(unit) == 1 for unit in units)
    if not single:
        return ()
    what = f"{single} of {len(units)} halves hold one pair only" if per_half else "there is one pair only"
    return (f"{what}; CIDEr is 0 there by its definition",)

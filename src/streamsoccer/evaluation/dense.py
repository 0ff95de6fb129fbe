"""SoccerNet-Caption's dense captioning protocol: predictions paired with references by time, each half scored apart.

A caption at time t is a window of `window` seconds around it; every pair of windows that overlap is scored, so a
prediction may stand in several pairs. A prediction with no partner is paired with one fixed word that matches nothing
(the official script draws a random string without a seed). Halves without predictions score 0. SODA is not computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from streamsoccer.clock import MatchTime
from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.bootstrap import Interval, cluster_interval
from streamsoccer.evaluation.metrics import Metric, means
from streamsoccer.evaluation.text import Score, TextScorer
from streamsoccer.evaluation.tokenise import Convention

__all__ = ["DenseScores", "TimedCaption", "evaluate_dense", "overlap", "score_dense"]

PREDICTION_FILE = "results_dense_captioning.json"
LABEL_FILE = "Labels-caption.json"
NO_MATCH = "zqxjkvbwpfyghmz"
Half = tuple[str, int]


@dataclass(frozen=True, slots=True)
class TimedCaption:
    """A sentence at a second of a half."""

    seconds: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DenseScores:
    """Mean scores over labelled halves, and what was found, matched and missing."""

    window: int
    scores: dict[Metric, Score]
    precision: float
    recall: float
    games: int
    halves: int
    predictions: int
    references: int
    pairs: int
    unmatched: int
    without_predictions: int
    skipped: dict[str, int]
    intervals: dict[Metric, Interval] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "convention": "dense",
            "n": self.references,
            "coverage": (self.halves - self.without_predictions) / self.halves,
            **{metric.value: score.value for metric, score in self.scores.items()},
            "precision": self.precision,
            "recall": self.recall,
            "intervals": {metric.value: interval.to_json() for metric, interval in self.intervals.items()},
            "details": {
                "convention": f"SoccerNet-Caption dense captioning, windows of {self.window} s, pairs at IoU > 0, "
                "PTB words, each half a corpus, then the mean over halves; unmatched predictions against a fixed word",
                "coverage": "halves with a prediction, of labelled halves",
                "games": self.games,
                "halves": self.halves,
                "predictions": self.predictions,
                "pairs": self.pairs,
                "unmatched_predictions": self.unmatched,
                "halves_without_predictions": self.without_predictions,
                "skipped": self.skipped,
                **{metric.value: score.to_json() for metric, score in self.scores.items()},
            },
        }

    def to_text(self) -> str:
        lines = [
            f"{self.games} games, {self.halves} labelled halves ({self.without_predictions} without predictions), "
            f"{self.references} references, {self.predictions} predictions ({self.unmatched} unmatched), "
            f"{self.pairs} pairs",
            f"windows of {self.window} s, pairs at IoU > 0, PTB words, each half a corpus, then the mean over halves",
        ]
        lines += [f"skipped, {why}: {count}" for why, count in self.skipped.items() if count]
        lines += ["", f"{'precision':19s} {self.precision:.4f}", f"{'recall':19s} {self.recall:.4f}"]
        for metric, score in self.scores.items():
            if score.value is not None:
                value = f"{metric.value:19s} {score.value:.{2 if metric is Metric.CIDER else 4}f}"
                lines.append(f"{value:30s} {score.scorer}")
            elif score.absence is not None:
                lines.append(f"{metric.value:19s} absent: {score.absence.reason}; try: {score.absence.remedy}")
        return "\n".join(lines)


def evaluate_dense(
    predictions: Path,
    labels: Path,
    *,
    window: int = 30,
    prediction_file: str = PREDICTION_FILE,
    label_file: str = LABEL_FILE,
    time_key: str = "gameTime",
) -> DenseScores:
    """Score every game under `labels` that has captions; a game without a prediction file is counted and scores 0."""
    files = sorted(labels.glob(f"*/*/*/{label_file}"))
    if not files:
        raise DataError(
            f"no {label_file} under league/season/game", where=labels, remedy="name the root that holds leagues"
        )
    skipped = {
        "labels in half 3 or later": 0,
        "predictions in half 3 or later": 0,
        "predictions in unlabelled halves": 0,
    }
    expected: dict[Half, list[TimedCaption]] = {}
    found: dict[Half, list[TimedCaption]] = {}
    read = 0
    for file in files:
        game = file.parent.relative_to(labels).as_posix()
        said, late = _read(file, "annotations", "anonymized", time_key)
        expected |= {(game, half): captions for half, captions in said.items()}
        skipped["labels in half 3 or later"] += late
        source = predictions / game / prediction_file
        if source.is_file():
            heard, late = _read(source, "predictions", "comment", "gameTime")
            found |= {(game, half): captions for half, captions in heard.items()}
            skipped["predictions in half 3 or later"] += late
            read += 1
    if not read:
        raise DataError(
            f"no game has a {prediction_file}", where=predictions, remedy="lay it out as league/season/game"
        )
    skipped["predictions in unlabelled halves"] = sum(len(found[half]) for half in found if half not in expected)
    return score_dense(predictions=found, references=expected, window=window, skipped=skipped)


def score_dense(
    *,
    predictions: Mapping[Half, Sequence[TimedCaption]],
    references: Mapping[Half, Sequence[TimedCaption]],
    window: int = 30,
    skipped: Mapping[str, int] | None = None,
) -> DenseScores:
    """Score halves that have references; (game, half) names each."""
    if window < 1:
        raise UsageError(f"a window of {window} s holds nothing", remedy="30, or 5 for the tight protocol")
    halves = [half for half, captions in references.items() if captions]
    if not halves:
        raise DataError("no half has references")
    outputs: list[str] = []
    expected: list[str] = []
    keys: list[Half] = []
    unmatched = 0
    precisions, recalls = [], []
    for half in halves:
        said, heard = references[half], predictions.get(half, ())
        partners = [[i for i, r in enumerate(said) if overlap(p.seconds, r.seconds, window)] for p in heard]
        for caption, at in zip(heard, partners, strict=True):
            outputs += [_ascii(caption.text)] * max(1, len(at))
            expected += [_ascii(said[i].text) for i in at] or [NO_MATCH]
            keys += [half] * max(1, len(at))
        unmatched += sum(not at for at in partners)
        precisions.append(sum(bool(at) for at in partners) / len(heard) if heard else 0.0)
        recalls.append(len({i for at in partners for i in at}) / len(said))
    scored = dict.fromkeys(keys)
    if not scored:
        raise DataError("no labelled half has a prediction", remedy="see that game folders and halves are named alike")
    metrics = [metric for metric in Metric if metric not in (Metric.BERTSCORE, Metric.BERTSCORE_RESCALED)]
    with TextScorer(convention=Convention.HALF, metrics=metrics) as scorer:
        places = [f"{game}, half {half}" for game, half in keys]
        report = scorer.score(predictions=outputs, references=expected, halves=keys, places=places)
    scores, intervals = _over_all_halves(report.scores, list(scored), halves)
    return DenseScores(
        window=window,
        scores=scores,
        precision=float(np.mean(precisions)),
        recall=float(np.mean(recalls)),
        games=len({game for game, _ in halves}),
        halves=len(halves),
        predictions=sum(len(predictions.get(half, ())) for half in halves),
        references=sum(len(references[half]) for half in halves),
        pairs=len(outputs),
        unmatched=unmatched,
        without_predictions=len(halves) - len(scored),
        skipped=dict(skipped or {}),
        intervals=intervals,
    )


def overlap(prediction: int, reference: int, window: int) -> bool:
    """Whether the two windows share time; an odd window has its extra second at the end."""
    before, after = window // 2, window // 2 + window % 2
    return min(prediction, reference) + after > max(prediction, reference) - before


def _over_all_halves(
    found: Mapping[Metric, Score], scored: list[Half], halves: list[Half]
) -> tuple[dict[Metric, Score], dict[Metric, Interval]]:
    """Halves without a prediction enter the means as 0; intervals resample matches."""
    scores: dict[Metric, Score] = {}
    intervals: dict[Metric, Interval] = {}
    for metric, score in found.items():
        scores[metric] = score
        if score.statistic is None:
            continue
        each = dict(zip(scored, score.statistic.each, strict=True))
        statistic = means(np.array([each.get(half, 0.0) for half in halves]))
        scores[metric] = Score(
            metric=metric, value=statistic.value, scorer=score.scorer, tokeniser=score.tokeniser, statistic=statistic
        )
        if len({game for game, _ in halves}) > 1:
            intervals[metric] = cluster_interval(statistic.rows, clusters=[game for game, _ in halves])
    return scores, intervals


def _ascii(text: str) -> str:
    """The official script puts a space for each character beyond ASCII, accents too."""
    return "".join(character if character.isascii() else " " for character in text)


def _read(path: Path, rows: str, text: str, time_key: str) -> tuple[dict[int, list[TimedCaption]], int]:
    """The captions of halves 1 and 2 in order of time, and how many lie in later halves."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read as JSON: {error}", where=path) from error
    if not isinstance(data, dict) or not isinstance(data.get(rows), list):
        raise DataError(f"there is no list named {rows!r}", where=path)
    found: dict[int, list[TimedCaption]] = {}
    late = 0
    for number, row in enumerate(data[rows], start=1):
        where = f"{path}: {rows} {number}"
        if not isinstance(row, dict) or not isinstance(row.get(text), str):
            raise DataError(f"there is no text in {text!r}", where=where)
        if not isinstance(row.get(time_key), str):
            others = ", ".join(key for key in row if key.endswith("gameTime")) or "none"
            raise DataError(f"there is no {time_key!r} (times here: {others})", where=where, remedy="--time-key NAME")
        try:
            at = MatchTime.parse(row[time_key])
        except UsageError as error:
            raise DataError(error.problem, where=where) from error
        if at.half > 2:
            late += 1
        else:
            found.setdefault(at.half, []).append(TimedCaption(int(at.seconds), row[text]))
    return {half: sorted(captions, key=lambda caption: caption.seconds) for half, captions in found.items()}, late

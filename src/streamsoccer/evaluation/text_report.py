"""`streamsoccer evaluate text`: a table of predictions in, every score with its interval and its conditions out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.bootstrap import Interval
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.table import HALF, MATCH, PREDICTION, REFERENCE, PredictionTable
from streamsoccer.evaluation.text import TextScorer, TextScores
from streamsoccer.evaluation.tokenise import Convention

__all__ = ["TextReport", "TextRequest", "evaluate_text"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRequest:
    """Which columns, convention and intervals are asked for; None leaves a column to be found by its name."""

    prediction: str | None = None
    references: tuple[str, ...] = ()
    match: str | None = None
    half: str | None = None
    group: str | None = None
    id: str | None = None
    convention: Convention = Convention.RAW
    bertscore: Path | None = None
    against: Path | None = None
    replicates: int = 10_000
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TextReport:
    """The scores of one file, by group where asked, with intervals where there are matches."""

    file: Path
    columns: dict[str, str | list[str]]
    scores: TextScores
    intervals: dict[Metric, Interval] = field(default_factory=dict)
    groups: dict[str, TextReport] = field(default_factory=dict)
    against: Path | None = None
    differences: dict[Metric, Interval] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Numbers at the top under the metrics' names; intervals, groups and conditions below."""
        report = {"file": str(self.file), **self.scores.to_json()}
        report["details"] |= {"columns": self.columns}
        if self.intervals:
            report["intervals"] = {metric.value: interval.to_json() for metric, interval in self.intervals.items()}
            report["details"]["intervals"] = _HOW_INTERVALS
        if self.groups:
            report["groups"] = {name: group.to_json() for name, group in self.groups.items()}
        if self.against is not None:
            differences = {metric.value: interval.to_json() for metric, interval in self.differences.items()}
            report["against"] = {"file": str(self.against), "differences": differences}
        return report

    def to_text(self) -> str:
        """The same for a terminal."""
        scores = self.scores
        columns = ", ".join(
            f"{role} {', '.join(name) if isinstance(name, list) else name}" for role, name in self.columns.items()
        )
        lines = [
            f"{self.file}: {scores.n} anchors, coverage {scores.coverage:.2%} ({scores.n - scores.outputs} empty)",
            f"convention {scores.convention}: {scores.convention.meaning}",
            f"columns: {columns}",
        ]
        if scores.copies:
            lines.append(f"{scores.copies} predictions are the reference, word for word")
        lines += [*scores.notes, "", *_rows(self)]
        for name, group in self.groups.items():
            lines += [
                "",
                f"{name}: {group.scores.n} anchors, coverage {group.scores.coverage:.2%}",
                *group.scores.notes,
                *_rows(group, brief=True),
            ]
        if self.against is not None:
            lines += ["", f"minus {self.against}, paired over the same matches:"]
            lines += [_line(metric, i.estimate, i, "+") for metric, i in self.differences.items()]
        if self.intervals:
            lines += ["", _HOW_INTERVALS]
        return "\n".join(lines)


_HOW_INTERVALS = (
    "percentile interval over matches drawn with replacement; BLEU and METEOR are formed again from the drawn counts, "
    "CIDEr is the mean of its scores with the document frequencies of the whole table"
)


def evaluate_text(path: Path, request: TextRequest) -> TextReport:
    """Score a file, and where asked its groups, its intervals, and its difference from another system's file."""
    table = PredictionTable.read(path)
    population = _Population.of(table, request)
    other = None if request.against is None else _Population.of(PredictionTable.read(request.against), request)
    if other is not None:
        other.required_matches()
    with TextScorer(convention=request.convention, bertscore=request.bertscore) as scorer:
        report = population.report(scorer, request)
        if other is None:
            return report
        theirs = other.score(scorer)
    ours, against = population.anchors(request, other), other.anchors(request, population)
    differences = report.scores.differences(
        theirs,
        anchors=ours,
        other_anchors=against,
        matches=population.required_matches(),
        other_matches=other.required_matches(),
        replicates=request.replicates,
        seed=request.seed,
    )
    return TextReport(
        file=report.file,
        columns=report.columns,
        scores=report.scores,
        intervals=report.intervals,
        groups=report.groups,
        against=request.against,
        differences=differences,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Population:
    """The rows of a table as the scorer takes them."""

    path: Path
    columns: dict[str, str | list[str]]
    predictions: Sequence[str | None]
    references: Sequence[Sequence[str]]
    places: Sequence[str]
    matches: Sequence[Hashable] | None
    halves: Sequence[Hashable] | None
    groups: Sequence[Hashable] | None
    ids: Sequence[Hashable] | None

    @classmethod
    def of(cls, table: PredictionTable, request: TextRequest) -> _Population:
        prediction = table.require(PREDICTION, request.prediction)
        references = [table.require(REFERENCE, name) for name in request.references or (None,)]
        predictions, expected = table.texts(prediction=prediction, references=references)
        columns: dict[str, str | list[str]] = {"prediction": prediction, "reference": references}
        match, half = request.match, request.half
        if request.convention is Convention.HALF:
            match, half = table.require(MATCH, match), table.require(HALF, half)
            columns |= {"half": half}
        if match is not None:
            columns |= {"match": table.require(MATCH, match)}
        matches = None if match is None else table.labels(match)
        halves = None if half is None or matches is None else list(zip(matches, table.labels(half), strict=True))
        return cls(
            path=table.path,
            columns=columns,
            predictions=predictions,
            references=expected,
            places=table.places,
            matches=matches,
            halves=halves,
            groups=None if request.group is None else table.groups(request.group),
            ids=table.ids(request.id),
        )

    def score(self, scorer: TextScorer) -> TextScores:
        return scorer.score(
            predictions=self.predictions, references=self.references, halves=self.halves, places=self.places
        )

    def report(self, scorer: TextScorer, request: TextRequest, *, strict: bool = True) -> TextReport:
        scores = self.score(scorer)
        intervals: dict[Metric, Interval] = {}
        if self.matches is not None and (strict or len(set(self.matches)) > 1):
            intervals = scores.intervals(matches=self.matches, replicates=request.replicates, seed=request.seed)
        groups: dict[str, TextReport] = {}
        for name in dict.fromkeys(self.groups or ()):
            rows = [i for i, group in enumerate(self.groups or ()) if group == name]
            groups[str(name)] = self._part(rows).report(scorer, request, strict=False)
        return TextReport(file=self.path, columns=self.columns, scores=scores, intervals=intervals, groups=groups)

    def required_matches(self) -> Sequence[Hashable]:
        """The match of each row, which a comparison cannot do without."""
        if self.matches is None:
            raise UsageError("a comparison needs the match of each row", where=self.path, remedy="--match COLUMN")
        return self.matches

    def anchors(self, request: TextRequest, other: _Population) -> Sequence[Hashable]:
        """What says which rows of two files are the same anchor: halves, IDs, or the place where references agree."""
        if request.convention is Convention.HALF and self.halves is not None:
            return self.halves
        if self.ids is not None and other.ids is not None:
            return self.ids
        if list(self.references) != list(other.references):
            raise DataError(
                f"{other.path} has other references, or the same in another order, and there is no ID",
                where=self.path,
                remedy="give both files an ID column, and --id if it has another name",
            )
        return range(len(self.references))

    def _part(self, keep: Sequence[int]) -> _Population:
        return _Population(
            path=self.path,
            columns=self.columns,
            predictions=[self.predictions[i] for i in keep],
            references=[self.references[i] for i in keep],
            places=[self.places[i] for i in keep],
            matches=None if self.matches is None else [self.matches[i] for i in keep],
            halves=None if self.halves is None else [self.halves[i] for i in keep],
            groups=None,
            ids=None,
        )


def _rows(report: TextReport, *, brief: bool = False) -> list[str]:
    lines = []
    for metric, score in report.scores.scores.items():
        if score.value is not None:
            line = _line(metric, score.value, report.intervals.get(metric))
            lines.append(line if brief else f"{line:58s} {score.scorer}")
        elif score.absence is not None and not brief:
            lines.append(f"{metric.value:19s} absent: {score.absence.reason}; try: {score.absence.remedy}")
    return lines if brief or not lines else [*lines, f"tokeniser: {report.scores.convention.tokeniser.value}"]


def _line(metric: Metric, value: float, interval: Interval | None, sign: str = "") -> str:
    digits = 2 if metric is Metric.CIDER else 4
    text = f"{metric.value:19s} {value:{sign}.{digits}f}"
    if interval is None:
        return text
    return f"{text:29s} 95% [{interval.low:{sign}.{digits}f}, {interval.high:{sign}.{digits}f}]"

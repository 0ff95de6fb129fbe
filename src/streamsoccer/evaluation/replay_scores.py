"""A replay's lines scored: text metrics, coverage, fact precision and retrieval, by track, condition and change.

An anchor without a context, or without words, stays in every denominator as an empty output. Text convention: strings
as they are, split at spaces, one corpus a track (MatchTime, UniSoccer); CIDEr x100. Fact precision is of claims that
can be settled, told from the event that the line was said from; `at the anchor` settles the same claims by the labels'
own event. A record is settled as a line on its event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.domain import Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import Interval, cluster_interval
from streamsoccer.evaluation.facts import Line, TruthBook, checkable_of_sums, fact_row, judge, precision_of_sums
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.predictions import (
    RECORD,
    Prediction,
    ReplayHeader,
    read_header,
    read_predictions,
    read_retrieved,
    replay_files,
)
from streamsoccer.evaluation.ranking import Query, RetrievalScores, score_retrieval
from streamsoccer.evaluation.text import TextScorer, TextScores

__all__ = [
    "METRICS",
    "TRACKS",
    "Cell",
    "Facts",
    "ReplayScores",
    "fact_rows",
    "line_of",
    "queries_of",
    "score_replay",
    "score_rows",
]

Floats = NDArray[np.float64]
METRICS = (Metric.TOK_F1, Metric.BLEU4, Metric.METEOR, Metric.ROUGE_L, Metric.CIDER)
TRACKS = (RECORD, *(each.value for each in Track))


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """The claims of some lines against the truth."""

    true: int
    false: int
    precision: float
    checkable: float
    rows: Floats  # [lines, 3] claims that agree and that contradict, and the line
    anchored: Floats  # the same where the labels' own event settles the claims
    intervals: dict[str, Interval]

    @property
    def at_anchor(self) -> float:
        """Precision where the labels' own event settles the claims."""
        return float(precision_of_sums(self.anchored.sum(0)))

    def to_json(self) -> dict[str, Any]:
        return {
            "true": self.true,
            "false": self.false,
            "precision": self.precision,
            "checkable": self.checkable,
            "precision_at_the_anchor": self.at_anchor,
            "intervals": {name: each.to_json() for name, each in self.intervals.items()},
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One track under one condition and change."""

    track: str
    condition: str
    change: str
    lines: tuple[Prediction, ...]
    text: TextScores
    intervals: dict[Metric, Interval] = field(default_factory=dict)
    facts: Facts | None = None

    @property
    def covered(self) -> int:
        """Anchors that had a context."""
        return sum(each.covered for each in self.lines)

    @property
    def on_event(self) -> float:
        """The share of anchors whose line was said from an event that shares a clip with the labels' own."""
        return sum(each.on_event for each in self.lines) / len(self.lines)

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "track": self.track,
            "condition": self.condition,
            "change": self.change,
            "n": len(self.lines),
            "matches": len({each.match for each in self.lines}),
            "with_context": self.covered,
            "with_words": self.text.outputs,
            "on_event": self.on_event,
            **{each.value: self.text[each] for each in METRICS},
            "intervals": {metric.value: each.to_json() for metric, each in self.intervals.items()},
        }
        if self.facts is not None:
            made["facts"] = self.facts.to_json()
        return made


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayScores:
    """All cells of a folder, and its retrieval."""

    folder: Path
    header: ReplayHeader
    cells: tuple[Cell, ...]
    retrieval: dict[str, RetrievalScores]

    def cell(self, track: str, condition: str, change: str = "") -> Cell | None:
        wanted = (track, condition, change)
        return next((each for each in self.cells if (each.track, each.condition, each.change) == wanted), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "replay": self.header.row(),
            "convention": "raw strings split at spaces, one corpus a track and condition; CIDEr x100; intervals over"
            " matches drawn with replacement",
            "cells": [each.to_json() for each in self.cells],
            "retrieval": {name: each.to_json() for name, each in self.retrieval.items()},
        }

    def to_text(self) -> str:
        header = self.header
        of = " ".join(each for each in (header.scope, header.representation) if each)
        lines = [
            f"{self.folder}: {header.stage} {of}, seed {header.seed}, step {header.step}; {header.split} split",
            f"{'track':11s} {'condition':9s} {'change':18s} {'n':>5s} {'context':>7s} {'on event':>8s}"
            "  Tok-F1   BLEU-4   METEOR  ROUGE-L    CIDEr   facts  claims/line",
        ]
        for each in self.cells:
            values = [each.text[metric] for metric in METRICS]
            numbers = "  ".join("   none" if value is None else f"{value:7.4f}" for value in values[:-1])
            last = values[-1]
            facts = "" if each.facts is None else f"  {each.facts.precision:6.4f}  {each.facts.checkable:6.3f}"
            lines.append(
                f"{each.track:11s} {each.condition:9s} {each.change or '-':18s} {len(each.lines):5d} {each.covered:7d}"
                f" {each.on_event:8.3f}  {numbers}  {'none' if last is None else f'{last:7.2f}'}{facts}"
            )
        for name, found in self.retrieval.items():
            ranks = "  ".join(f"R@{k} {value:.4f}" for k, value in found.recall.items())
            lines.append(f"retrieval, {name}: {found.queries} queries, {ranks}  MRR {found.mrr:.4f}")
        return "\n".join(lines)


def line_of(each: Prediction, *, at_anchor: bool = False, reference: bool = False) -> Line:
    """A line, or its reference, as its claims are settled: by the event that it was said from, or the labels' own."""
    track = Track.CURRENT if each.track == RECORD else Track(each.track)
    start = each.anchor if at_anchor or each.start is None else each.start
    return Line(
        id=each.id,
        match=each.match,
        track=track,
        text=each.reference if reference else each.text,
        cutoff=each.cutoff,
        placeholders=each.reference_placeholders if reference else each.placeholders,
        start=start,
    )


def fact_rows(lines: Sequence[Prediction], book: TruthBook, *, at_anchor: bool = False) -> Floats:
    """[lines, 3]; a line without words claims nothing and is counted."""
    return np.array([_fact_row(each, book, at_anchor=at_anchor) for each in lines], dtype=np.float64)


def _fact_row(each: Prediction, book: TruthBook, *, at_anchor: bool) -> tuple[float, float, float]:
    if not each.text:
        return 0.0, 0.0, 1.0
    return fact_row(list(judge(line_of(each, at_anchor=at_anchor), book.match(each.match))))


def score_rows(
    lines: Sequence[Prediction],
    scorer: TextScorer,
    *,
    condition: str,
    change: str,
    book: TruthBook | None = None,
    replicates: int = 10_000,
    seed: int = 0,
) -> Cell:
    """One track's lines; without intervals where there are no replicates."""
    if len({each.id for each in lines}) != len(lines):
        raise DataError("an anchor stands twice among the lines to score")
    matches = [each.match for each in lines]
    text = scorer.score(
        predictions=[each.text for each in lines],
        references=[each.reference for each in lines],
        places=[each.id for each in lines],
    )
    several = len(set(matches)) > 1
    facts = None if book is None else _facts(lines, book, replicates if several else 0, seed)
    return Cell(
        track=lines[0].track,
        condition=condition,
        change=change,
        lines=tuple(lines),
        text=text,
        intervals=text.intervals(matches=matches, replicates=replicates, seed=seed) if several and replicates else {},
        facts=facts,
    )


def _facts(lines: Sequence[Prediction], book: TruthBook, replicates: int, seed: int) -> Facts:
    rows = fact_rows(lines, book)
    anchored = np.array(
        [
            row if each.start in (None, each.anchor) else _fact_row(each, book, at_anchor=True)
            for each, row in zip(lines, rows, strict=True)
        ]
    )
    sums = rows.sum(0)
    clusters = [each.match for each in lines]
    intervals = {
        name: cluster_interval(rows, clusters=clusters, combine=combine, replicates=replicates, seed=seed)
        for name, combine in (("precision", precision_of_sums), ("checkable", checkable_of_sums))
        if replicates
    }
    return Facts(
        true=int(sums[0]),
        false=int(sums[1]),
        precision=float(precision_of_sums(sums)),
        checkable=float(checkable_of_sums(sums)),
        rows=rows,
        anchored=anchored,
        intervals=intervals,
    )


def score_replay(
    folder: Path,
    *,
    truth: Path | None = None,
    replicates: int = 10_000,
    seed: int = 0,
    metrics: Sequence[Metric] = METRICS,
    scorer: TextScorer | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> ReplayScores:
    """All files of a folder; each holds all anchors that the replay was asked for, no more and no less.

    `scorer` is one that another holds, for many folders; without replicates there are no intervals.
    """
    header = read_header(folder)
    files = replay_files(folder)
    if not files:
        raise DataError("holds no lines", where=folder, remedy="let `streamsoccer evaluate commentary` end")
    book = None if truth is None else TruthBook(truth)
    cells: list[Cell] = []
    asked: dict[str, tuple[str, ...]] = {}
    read = {}
    for key, path in files.items():  # all of them, before the first is scored
        read[key] = _by_track(read_predictions(path))
        _complete(path, read[key], header, asked)
    with nullcontext(scorer) if scorer is not None else TextScorer(metrics=metrics) as texts:
        for (condition, change), by_track in read.items():
            for lines in by_track.values():
                cells.append(
                    score_rows(
                        lines, texts, condition=condition, change=change, book=book, replicates=replicates, seed=seed
                    )
                )
            progress(f"{files[condition, change]} scored")
    return ReplayScores(
        folder=folder,
        header=header,
        cells=tuple(cells),
        retrieval=_retrieval(folder, {condition for condition, _ in files}, replicates, seed),
    )


def _by_track(lines: Sequence[Prediction]) -> dict[str, list[Prediction]]:
    found: dict[str, list[Prediction]] = {}
    for track in TRACKS:
        if mine := [each for each in lines if each.track == track]:
            found[track] = mine
    if lost := [each for each in lines if each.track not in TRACKS]:
        raise DataError(f"there is no track {lost[0].track!r}", where=lost[0].id)
    return found


def _complete(
    path: Path, by_track: Mapping[str, Sequence[Prediction]], header: ReplayHeader, asked: dict[str, tuple[str, ...]]
) -> None:
    """Every anchor of the tracks that the file is about, the same in every file."""
    for track, lines in by_track.items():
        ids = tuple(each.id for each in lines)
        if len(ids) != header.anchors.get(track, 0):
            raise DataError(
                f"holds {len(ids)} lines of the {track} track, {header.anchors.get(track, 0)} anchors were asked for",
                where=path,
                remedy="write the file anew: an anchor without a context has a line without words",
            )
        if sorted(asked.setdefault(track, ids)) != sorted(ids):
            strange = next(iter(set(ids) - set(asked[track])), ids[0])
            raise DataError(f"holds {strange}, which the other files do not", where=path)


def _retrieval(folder: Path, conditions: set[str], replicates: int, seed: int) -> dict[str, RetrievalScores]:
    """By condition: positives of the manifest, and for the own run every related record."""
    found: dict[str, RetrievalScores] = {}
    for condition in sorted(conditions):
        for name, wide in ((condition, False), (f"{condition}, all related", True)):
            queries = queries_of(folder, condition, wide=wide)
            if any(each.wanted for each in queries):
                found[name] = score_retrieval(queries=queries, replicates=replicates, seed=seed)
    return found


def queries_of(folder: Path, condition: str, *, wide: bool = False) -> list[Query]:
    """The queries of a replay with the manifest's positives; `wide`: with every related record, none where none is."""
    rows = read_retrieved(folder, condition)
    if wide and not any(each.related for each in rows):
        return []
    return [
        Query(
            id=each.id,
            match=each.match,
            ranked=each.ranked,
            eligible=frozenset(each.ranked),
            positives=frozenset(each.positives) | (frozenset(each.related) if wide else frozenset()),
        )
        for each in rows
    ]

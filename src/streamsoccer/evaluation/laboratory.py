"""The laboratory: every figure of a course of the league's model, from what its runs said, with intervals over seeds.

    OUT/said/<run>/...                   lines of each run (predictions.py), named by their headers

Nothing is trained or generated here. LEAGUE holds the truth files of the test matches, which the same seed makes again.
What a course has not (yet) brought is left out; laboratory_figures.py names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.domain import Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import Combine, mean_of_sums
from streamsoccer.evaluation.facts import TruthBook, checkable_of_sums, precision_of_sums
from streamsoccer.evaluation.interventions import Change
from streamsoccer.evaluation.metrics import Metric, means
from streamsoccer.evaluation.pooled import Figure, Pooled, Table
from streamsoccer.evaluation.predictions import OWN, RECORD, TAUGHT, ReplayHeader, read_header
from streamsoccer.evaluation.ranking import Query, chance_rows, query_rows
from streamsoccer.evaluation.replay_scores import METRICS, Cell, queries_of, score_replay
from streamsoccer.evaluation.text import TextScorer

__all__ = ["CHECKABLE", "PRECISION", "Asked", "Key", "Laboratory", "Ordering", "orderings"]

Floats = NDArray[np.float64]
PRECISION, CHECKABLE, AT_ANCHOR = "fact_precision", "claims_a_line", "fact_precision_at_the_anchor"
_FULL, _RECURRENT = "full", "recurrent"
_SHARES: dict[str, Callable[[Cell], Sequence[bool]]] = {
    "with_context": lambda cell: [each.covered for each in cell.lines],
    "with_words": lambda cell: [bool(each.text) for each in cell.lines],
    "on_event": lambda cell: [each.on_event for each in cell.lines],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """Some lines: whose, on which track, from what contexts, and with what change."""

    variant: str  # a representation for records, a scope for the three tracks
    track: str
    condition: str
    change: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How the laboratory is to be computed."""

    replicates: int = 10_000
    seed: int = 0
    metrics: tuple[Metric, ...] = METRICS


class Laboratory:
    """The runs of a course, scored once."""

    def __init__(
        self, out: Path, truth: Path, asked: Asked | None = None, progress: Callable[[str], None] = lambda line: None
    ) -> None:
        self.out, self.asked = out, asked or Asked()
        self.headers: dict[Path, ReplayHeader] = {
            path.parent: read_header(path.parent) for path in sorted(out.glob("said/*/replay.json"))
        }
        if not self.headers:
            raise DataError(
                "holds no lines of any run", where=out / "said", remedy="run the course's jobs that end in -say"
            )
        self.measures: dict[Key, dict[str, Pooled]] = {}
        self.anchors: dict[Key, int] = {}
        self._score(TruthBook(truth), progress)

    @property
    def seeds(self) -> list[int]:
        return sorted({each.seed for each in self.headers.values()})

    # --- lines ---

    def runs(self) -> dict[str, dict[int, Path]]:
        """The folders of each variant by seed; a course that has not ended may lack the later seeds of some."""
        found: dict[str, dict[int, Path]] = {}
        for folder, header in self.headers.items():
            mine = found.setdefault(_variant(header), {})
            if header.seed in mine:
                raise DataError(
                    f"two runs of {_variant(header)} with seed {header.seed}", where=folder, remedy="remove one of them"
                )
            mine[header.seed] = folder
        return {name: dict(sorted(mine.items())) for name, mine in found.items()}

    def _score(self, book: TruthBook, progress: Callable[[str], None]) -> None:
        with TextScorer(metrics=self.asked.metrics) as scorer:
            for name, folders in self.runs().items():
                cells: dict[Key, dict[int, Cell]] = {}
                for seed, folder in folders.items():
                    scored = score_replay(folder, truth=book.folder, replicates=0, scorer=scorer)
                    for cell in scored.cells:
                        key = Key(variant=name, track=cell.track, condition=cell.condition, change=cell.change)
                        cells.setdefault(key, {})[seed] = cell
                    progress(f"{folder} scored")
                for key, mine in cells.items():
                    self.measures[key] = _measures(mine)
                    self.anchors[key] = len(next(iter(mine.values())).lines)

    def figures(self, key: Key) -> dict[str, Figure]:
        """Every measure of some lines."""
        return {name: self.figure(each) for name, each in self.measures[key].items()}

    def figure(self, pooled: Pooled) -> Figure:
        return pooled.figure(replicates=self.asked.replicates, seed=self.asked.seed)

    def common(self, first: Key, second: Key) -> set[int]:
        """The seeds that have said both."""
        one, other = (set(next(iter(self.measures[key].values())).seeds) for key in (first, second))
        return one & other

    def difference(self, first: Key, second: Key) -> dict[str, Figure]:
        """First less second, by measure, on the anchors that both were asked for."""
        mine, other = self.measures[first], self.measures[second]
        made = {}
        for name in mine:
            if name in _SHARES:
                continue
            kept = set(mine[name].anchors) & set(other[name].anchors)
            made[name] = (
                mine[name]
                .only(kept)
                .minus(other[name].only(kept), replicates=self.asked.replicates, seed=self.asked.seed)
            )
        return made

    # --- retrieval ---

    def retrieval(self) -> dict[str, dict[str, Any]]:
        """R@k and MRR of the model itself, by condition, beside a ranking by lot."""
        found: dict[str, dict[str, Any]] = {}
        folders = self.runs().get(_FULL, {})
        for condition in (TAUGHT, OWN):
            for name, wide in ((condition, False), (f"{condition}, all related", True)):
                read = {seed: queries_of(folder, condition, wide=wide) for seed, folder in folders.items()}
                asked = {seed: each for seed, each in read.items() if any(query.wanted for query in each)}
                if not asked:
                    continue
                tables = {seed: query_rows(queries) for seed, queries in asked.items()}
                made: dict[str, Any] = {
                    measure: self._ranked(asked, {seed: each[measure] for seed, each in tables.items()}).to_json()
                    for measure in next(iter(tables.values()))
                }
                strict = {seed: query_rows(queries, (3,), strict=True)["r@3"] for seed, queries in asked.items()}
                made["r@3_of_all_positives"] = self._ranked(asked, strict).to_json()
                lot = {seed: chance_rows(queries) for seed, queries in asked.items()}
                made["r@3_by_lot"] = self._ranked(asked, lot).to_json()
                made["queries"] = [sum(each.wanted > 0 for each in queries) for queries in asked.values()]
                made["candidates_a_query"] = [
                    round(float(np.mean([len(each.eligible) for each in queries if each.wanted])), 2)
                    for queries in asked.values()
                ]
                found[name] = made
        return found

    def _ranked(self, asked: Mapping[int, Sequence[Query]], tables: Mapping[int, Floats]) -> Figure:
        """One retrieval measure; a query that one seed does not have asks for nothing there."""
        owner = {each.id: each.match for queries in asked.values() for each in queries}
        anchors = sorted(owner)
        place = {name: at for at, name in enumerate(anchors)}
        clusters = [owner[each] for each in anchors]
        seeds: dict[int, Table] = {}
        for seed, queries in asked.items():
            whole = np.zeros((len(anchors), 2))
            whole[[place[each.id] for each in queries]] = tables[seed]
            seeds[seed] = anchors, clusters, whole
        return self.figure(Pooled.of(seeds, _ratio))


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1e-12))


def _variant(header: ReplayHeader) -> str:
    return header.representation if header.stage == "records" else header.scope


def _measures(cells: Mapping[int, Cell]) -> dict[str, Pooled]:
    """All measures of the same lines of several seeds."""

    def pooled(tables: Sequence[Floats], combine: Combine) -> Pooled:
        seeds: dict[int, Table] = {
            seed: ([each.id for each in cell.lines], [each.match for each in cell.lines], table)
            for (seed, cell), table in zip(cells.items(), tables, strict=True)
        }
        return Pooled.of(seeds, combine)

    made: dict[str, Pooled] = {}
    each_cell = list(cells.values())
    for metric in METRICS:
        statistics = [cell.text.scores[metric].statistic for cell in each_cell if metric in cell.text.scores]
        known = [each for each in statistics if each is not None]
        if len(known) == len(cells):
            made[metric.value] = pooled([each.rows for each in known], known[0].combine)
    facts = [cell.facts for cell in each_cell if cell.facts is not None]
    if len(facts) == len(cells):
        made[PRECISION] = pooled([each.rows for each in facts], precision_of_sums)
        made[CHECKABLE] = pooled([each.rows for each in facts], checkable_of_sums)
        made[AT_ANCHOR] = pooled([each.anchored for each in facts], precision_of_sums)
    for name, flags in _SHARES.items():
        made[name] = pooled([means(np.array(flags(cell), dtype=float)).rows for cell in each_cell], mean_of_sums)
    return made


# --- what is compared with what --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Ordering:
    """One claim that some lines are better than others, and by how much."""

    claim: str
    track: str
    condition: str
    differences: Mapping[str, Figure]
    anchors: int
    expected: bool = True  # one that the model is to show; else told for its own sake

    @property
    def holds(self) -> list[str]:
        """The measures whose interval lies above zero."""
        return [name for name, each in self.differences.items() if each.above]

    def to_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "track": self.track,
            "condition": self.condition,
            "anchors": self.anchors,
            "asked_for": self.expected,
            "above_zero": self.holds,
            "differences": {name: each.to_json() for name, each in self.differences.items()},
        }


def orderings(lab: Laboratory) -> list[Ordering]:
    """Every comparison that the runs allow: representations, scopes, reference lines, and what was changed."""
    found: list[Ordering] = []

    def compare(claim: str, first: Key, second: Key, *, expected: bool = True) -> None:
        if first in lab.measures and second in lab.measures and lab.common(first, second):
            found.append(
                Ordering(
                    claim=claim,
                    track=second.track,
                    condition=first.condition,
                    differences=lab.difference(first, second),
                    anchors=min(lab.anchors[first], lab.anchors[second]),
                    expected=expected,
                )
            )

    tracks = [each.value for each in Track]
    for condition in (TAUGHT, OWN):

        def key(variant: str, track: str, change: Change = Change.NONE, condition: str = condition) -> Key:
            return Key(variant=variant, track=track, condition=condition, change=change.value)

        for one, other in ((_RECURRENT, "event_pool"), ("event_pool", "fixed_pool"), (_RECURRENT, "fixed_pool")):
            compare(f"{one} > {other}", key(one, RECORD), key(other, RECORD))
        for one, other in ((_FULL, "local"), ("local", "current"), (_FULL, "current")):
            for track in tracks:
                compare(f"{one} > {other}", key(one, track), key(other, track), expected=track != Track.CURRENT.value)
        for own, track in ((_RECURRENT, RECORD), *((_FULL, each) for each in tracks)):
            for change in (Change.BLIND, Change.RANDOM, Change.NEAREST):
                compare(f"{own} > {change.value}", key(own, track), key(own, track, change))
            asked = track == Track.CURRENT.value
            compare(f"{own} > shuffled memory", key(own, track), key(own, track, Change.SHUFFLED), expected=asked)
        history = Track.HISTORICAL.value
        base = key(_FULL, history)
        ranked = base if condition == OWN else key(_FULL, history, Change.RANKED)
        compare("ranked records > matched hard negatives", ranked, key(_FULL, history, Change.HARD))
        compare("ranked records > records of another match", ranked, key(_FULL, history, Change.OTHER))
        compare("ranked records > no record", ranked, key(_FULL, history, Change.NO_RECORDS))
        reference = key(_FULL, history, Change.REFERENCE) if condition == OWN else base
        compare("reference records > ranked records", reference, ranked, expected=False)
    return found

"""All figures of a course as one mapping, and whether they reach what was asked for.

    OUT/s<seed>/frontend.json            the front end on test matches; sweep.json on validation matches
    OUT/{s<seed>,g<matches>}/sweep.json, or memory/metrics.jsonl    stage 1 on validation matches; g: trained on fewer
    OUT/done/<job>                       what each job took

Lines come through laboratory.py. What a course has not (yet) brought is named under `missing`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamsoccer.domain import Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.facts import TruthBook, checkable_of_sums, fact_row, judge, kind_of, precision_of_sums
from streamsoccer.evaluation.frontend import FIGURES
from streamsoccer.evaluation.laboratory import CHECKABLE, PRECISION, Asked, Key, Laboratory, orderings
from streamsoccer.evaluation.pooled import Figure, Pooled, Table
from streamsoccer.evaluation.predictions import OWN, RECORD, TAUGHT, name_of, read_predictions
from streamsoccer.evaluation.replay_scores import line_of
from streamsoccer.settle import Finding

__all__ = ["Target", "laboratory_figures"]

_GROWTH = ("transition_f1_exact", "transition_f1_within_one", "event_type_macro_f1", "clip_action_map")
_TRANSITIONS = ("transition_f1_exact", "transition_f1_within_one")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A figure and what it was to reach."""

    name: str
    target: float
    figure: Figure
    most: bool = False  # how far from zero it may be

    @property
    def holds(self) -> bool:
        return abs(self.figure.mean) <= self.target if self.most else self.figure.mean >= self.target

    def to_json(self) -> dict[str, Any]:
        sign = "at most" if self.most else "at least"
        return {"name": self.name, "target": f"{sign} {self.target:g}", "holds": self.holds, **self.figure.to_json()}


def laboratory_figures(
    out: Path,
    league: Path,
    asked: Asked | None = None,
    *,
    probe: Path | None = None,
    through: Path | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Everything that a course tells of its model; `through` has the shipped model's reports of through_files.py."""
    asked = asked or Asked()
    lab = Laboratory(out, league, asked, progress)
    missing: list[str] = []
    front, targets = _front_end(out, lab.seeds, asked, missing)
    if through is not None:
        front["files"], more = _through(through, asked)
        targets += more
    if probe is not None:
        front["linear_probe"] = dict(_json(probe)["figures"])
    progress("front ends scored")
    lines = {
        condition: {
            variant: {track: _cell(lab, Key(variant=variant, track=track, condition=condition)) for track in tracks}
            for variant, tracks in _plain(lab, condition).items()
        }
        for condition in (OWN, TAUGHT)
    }
    changed = [
        {"track": key.track, "condition": key.condition, "change": key.change, **_cell(lab, key)}
        for key in lab.measures
        if key.change
    ]
    progress("lines scored")
    compared = orderings(lab)
    progress("orderings scored")
    retrieval = lab.retrieval()
    targets += _line_targets(lab) + _retrieval_targets(retrieval)
    return {
        "course": _course(lab),
        "targets": [each.to_json() for each in targets],
        "front_end": front,
        "lines": lines,
        "changes": changed,
        "references": _references(lab, league),
        "claims": _claims(lab, league),
        "orderings": [each.to_json() for each in compared],
        "retrieval": retrieval,
        "growth": _growth(out, lab, missing),
        "seconds": _seconds(out),
        "missing": missing,
        "how": (
            "means over seeds; 95% percentile intervals over test matches drawn with replacement, the same draws for "
            f"every seed and for both sides of a difference ({asked.replicates} replicates, seed {asked.seed}); "
            "anchors without a context or without words stay in as empty outputs; texts as they are, split at spaces, "
            "one corpus a track; CIDEr x100"
        ),
    }


# --- the front end ---------------------------------------------------------------------------------------------------


def _front_end(
    out: Path, seeds: Sequence[int], asked: Asked, missing: list[str]
) -> tuple[dict[str, Any], list[Target]]:
    reports = _read({seed: out / f"s{seed}" / "frontend.json" for seed in seeds}, out, missing)
    if not reports:
        return {}, []
    first, every = next(iter(reports.values())), list(reports.values())
    made: dict[str, Any] = {"matches": first["matches"], "clips": first["clips"]}
    made["thresholds"] = {str(seed): each["threshold"] for seed, each in reports.items()}
    pooled = _pooled(reports)
    figures = {name: each.figure(replicates=asked.replicates, seed=asked.seed) for name, each in pooled.items()}
    made["figures"] = {name: each.to_json() for name, each in figures.items()}
    if all("clip_action_map" in each for each in every):  # no function of sums: each seed's own interval
        values = {seed: each["clip_action_map"] for seed, each in reports.items()}
        made["figures"]["clip_action_map"] = Figure(mean=float(np.mean(list(values.values()))), seeds=values).to_json()
        made["figures"]["clip_action_map"]["intervals"] = [
            [each["intervals"]["clip_action_map"][end] for end in ("low", "high")]
            for each in every
            if "clip_action_map" in each["intervals"]
        ]
    made["ceiling"] = {
        name: each.figure(replicates=asked.replicates, seed=asked.seed).to_json()
        for name, each in _pooled({0: first["ceiling"]}).items()
    }
    made["by_type"] = _by_class(every, "by_type", "f1", "events")
    made["by_action"] = _by_class(every, "by_action", "ap", "positives")
    targets = [
        Target(name="transition F1, exact", target=0.70, figure=figures["transition_f1_exact"]),
        Target(name="transition F1, within one clip", target=0.80, figure=figures["transition_f1_within_one"]),
        Target(name="event-type macro-F1", target=0.65, figure=figures["event_type_macro_f1"]),
    ]
    return made, targets


def _through(folder: Path, asked: Asked) -> tuple[dict[str, Any], list[Target]]:
    """The same matches as encoded files and as frames, of the one model that is given away."""
    files, frames = (_report(folder / f"{name}.json") for name in ("files", "frames"))
    made: dict[str, Any] = {"matches": files["matches"], "clips": files["clips"]}
    others, targets = _pooled({0: frames}), []
    for name, each in _pooled({0: files}).items():
        lost = each.minus(others[name], replicates=asked.replicates, seed=asked.seed)
        made[name] = {
            "encoded": each.figure(replicates=asked.replicates, seed=asked.seed).to_json(),
            "frames": others[name].figure(replicates=asked.replicates, seed=asked.seed).to_json(),
            "difference": lost.to_json(),
        }
        if name in (*_TRANSITIONS, "event_type_macro_f1"):
            targets.append(Target(name=f"encoded files less frames, {name}", target=0.03, figure=lost, most=True))
    return made, targets


def _read(paths: Mapping[int, Path], out: Path, missing: list[str]) -> dict[int, dict[str, Any]]:
    """The reports that are there."""
    missing += [path.relative_to(out).as_posix() for path in paths.values() if not path.is_file()]
    return {seed: _report(path) for seed, path in paths.items() if path.is_file()}


def _report(path: Path) -> dict[str, Any]:
    found = _json(path)
    if "sums" not in found:
        raise DataError("has no counts by match", where=path, remedy="run `streamsoccer evaluate frontend` anew")
    return found


def _pooled(reports: Mapping[int, Mapping[str, Any]]) -> dict[str, Pooled]:
    """Every figure of these reports that is a function of sums over matches."""
    made = {}
    for name, (table, combine) in FIGURES.items():
        tables = {seed: each["sums"][table] for seed, each in reports.items() if table in each["sums"]}
        if len(tables) == len(reports):
            seeds: dict[int, Table] = {
                seed: (list(each), list(each), np.array(list(each.values()), dtype=np.float64))
                for seed, each in tables.items()
            }
            made[name] = Pooled.of(seeds, combine)
    return made


def _by_class(reports: Sequence[Mapping[str, Any]], table: str, score: str, count: str) -> dict[str, Any]:
    """A score by class: its mean over the seeds and each one's, beside how many there are."""
    return {
        name: {
            score: round(float(np.mean([each[table][name][score] for each in reports])), 4),
            "seeds": [round(each[table][name][score], 4) for each in reports],
            count: reports[0][table][name][count],
        }
        for name in reports[0][table]
        if all(name in each[table] for each in reports)
    }


# --- lines -----------------------------------------------------------------------------------------------------------


def _plain(lab: Laboratory, condition: str) -> dict[str, list[str]]:
    """The variants and their tracks, without a change."""
    found: dict[str, list[str]] = {}
    for key in lab.measures:
        if key.condition == condition and not key.change:
            found.setdefault(key.variant, []).append(key.track)
    return found


def _cell(lab: Laboratory, key: Key) -> dict[str, Any]:
    return {"anchors": lab.anchors[key]} | {name: each.to_json() for name, each in lab.figures(key).items()}


def _line_targets(lab: Laboratory) -> list[Target]:
    made = []
    for condition in (OWN, TAUGHT):
        for variant, track in (("recurrent", RECORD), *(("full", each.value) for each in Track)):
            measures = lab.measures.get(Key(variant=variant, track=track, condition=condition), {})
            for name, target in ((PRECISION, 0.90), (CHECKABLE, 1.5)):
                if name in measures:
                    figure = lab.figure(measures[name])
                    made.append(Target(name=f"{name}, {track}, {condition}", target=target, figure=figure))
    return made


def _retrieval_targets(retrieval: Mapping[str, Mapping[str, Any]]) -> list[Target]:
    made = []
    for condition in (TAUGHT, OWN):
        if condition in retrieval:
            row = retrieval[condition]["r@3"]
            seeds = {int(seed): value for seed, value in row["seeds"].items()}
            figure = Figure(mean=row["mean"], seeds=seeds, low=row.get("low"), high=row.get("high"))
            made.append(Target(name=f"retrieval R@3, {condition}", target=0.6, figure=figure))
    return made


def _references(lab: Laboratory, league: Path) -> dict[str, Any]:
    """The references' own claims by the same rules: what a model that says them word for word would reach."""
    book, made = TruthBook(league), {}
    for name, folders in lab.runs().items():
        if name not in ("recurrent", "full"):
            continue
        by_track: dict[str, list[tuple[float, float, float]]] = {}
        folder = next(iter(folders.values()))
        for each in read_predictions(folder / name_of(TAUGHT)) if (folder / name_of(TAUGHT)).is_file() else ():
            line = line_of(each, at_anchor=True, reference=True)
            by_track.setdefault(each.track, []).append(fact_row(list(judge(line, book.match(each.match)))))
        for track, rows in by_track.items():
            sums = np.array(rows).sum(0)
            made[track] = {
                PRECISION: round(float(precision_of_sums(sums)), 4),
                CHECKABLE: round(float(checkable_of_sums(sums)), 4),
                "lines": len(rows),
            }
    return made


def _claims(lab: Laboratory, league: Path) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """What the model itself claims, all seeds together, by condition, track and kind: where it goes wrong."""
    book, made = TruthBook(league), {}
    for condition in (OWN, TAUGHT):
        found: dict[str, dict[str, dict[str, int]]] = {}
        for name in ("recurrent", "full"):
            for path in (each / name_of(condition) for each in lab.runs().get(name, {}).values()):
                for each in read_predictions(path) if path.is_file() else ():
                    kinds = found.setdefault(each.track, {})
                    for one in judge(line_of(each), book.match(each.match)) if each.text else ():
                        counts = kinds.setdefault(kind_of(one.claim), {finding.value: 0 for finding in Finding})
                        counts[one.finding.value] += 1
        made[condition] = {track: dict(sorted(kinds.items())) for track, kinds in found.items()}
    return made


# --- the course itself -----------------------------------------------------------------------------------------------


def _course(lab: Laboratory) -> dict[str, Any]:
    first = next(iter(lab.headers.values()))
    full = [each for each in lab.headers.values() if each.scope == "full"]
    anchors = dict(full[0].anchors) if full else {}
    return {
        "seeds": lab.seeds,
        "runs": {name: sorted(folders) for name, folders in lab.runs().items()},
        "train_matches": first.train_matches,
        "test_matches": max(len(set(each.clusters)) for one in lab.measures.values() for each in one.values()),
        "anchors": {**anchors, "all": sum(anchors.values())},
        "records": max((each.anchors.get(RECORD, 0) for each in lab.headers.values()), default=0),
        "steps": {name: lab.headers[next(iter(each.values()))].step for name, each in lab.runs().items()},
        "commits": sorted({each.commit for each in lab.headers.values()}),
        "machine": dict(first.machine),
    }


def _growth(out: Path, lab: Laboratory, missing: list[str]) -> list[dict[str, Any]]:
    """Stage 1 on validation matches as the number of training matches grows; the backbone is the same.

    Each at the threshold that is best there, where every run has such a sweep; else at the threshold of training.
    """
    fewer = sorted(int(each.name[1:]) for each in out.glob("g*") if each.name[1:].isdecimal() and each.is_dir())
    whole = next(iter(lab.headers.values())).train_matches
    rows = [(count, [out / f"g{count}"]) for count in fewer] + [(whole, [out / f"s{seed}" for seed in lab.seeds])]
    swept = all(any((each / "sweep.json").is_file() for each in folders) for _, folders in rows)
    made = []
    for matches, folders in rows:
        found = []
        for each in folders:
            path = each / "sweep.json" if swept else each / "memory" / "metrics.jsonl"
            values = (_json(path) if swept else _last_validation(path)) if path.is_file() else {}
            if values:
                found.append(values)
            else:
                missing.append(path.relative_to(out).as_posix())
        if found:
            curve = {name: [round(each[name], 4) for each in found] for name in _GROWTH if name in found[0]}
            threshold = "the best" if swept else "that of training"
            made.append({"train_matches": matches, "seeds": len(found), "threshold": threshold} | curve)
    return made


def _last_validation(path: Path) -> dict[str, float]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return next((dict(row["validation"]) for row in reversed(rows) if "validation" in row), {})


def _seconds(out: Path) -> dict[str, float]:
    """What each job took; jobs ran side by side."""
    return {each.name: float(each.read_text(encoding="utf-8")) for each in sorted((out / "done").glob("*"))}


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", where=path) from error

"""The predicted front end against the labels: transitions, event types and sides, clip actions; and its ceiling.

Transition F1. Predicted positives are the clips at which the own run's b_t says 1; targets are the first clips after
any closure but a rollover. What is predicted on a masked clip (a half's first, and after a rollover) is neither right
nor wrong (but within one clip of a target that nothing else stands for, it is right). Three readings:

    exact       the same clip
    within_one  at most one clip apart, each prediction for one target and each target for one prediction
    forgiving   exact, but a prediction within one clip of a target is no error, and a target within one clip of a
                prediction is not missed

Event types. The own run's events are matched with the label events one to one, by the clips they share (the pair that
shares most first, then the one with the smaller union, then the earlier). A label event without a partner is missed, an
own event without one is wrong. `given_boundaries` reads the types at the label events themselves. Macro-F1 is over the
types that label events have, the control type end_of_period apart: the end of a half is known, not seen.

The ceiling is a perfect detector of visible actions: the eventizer run on the actions that are shown.

T clips, A actions
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsoccer.actions import PRIORITY, TYPE, EventType
from streamsoccer.data.eventizer import eventize, transitions
from streamsoccer.domain import CLIP_SECONDS, EventRow, Side
from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import Combine, Interval, cluster_interval, weighted_interval
from streamsoccer.evaluation.precision import mean_average_precision, precision_counts
from streamsoccer.heads import ACTIONS
from streamsoccer.training.corpus import Half
from streamsoccer.training.measures import transition_counts

__all__ = [
    "FIGURES",
    "FrontEndScores",
    "HalfRun",
    "Span",
    "pair_spans",
    "score_front_end",
    "score_transitions",
    "transition_rows",
    "visible_ceiling",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TYPES = tuple(each for each in EventType if each is not EventType.END_OF_PERIOD)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """An event of a run: clips first .. last, and what it was taken for."""

    first: int
    last: int
    type: EventType
    side: Side = Side.NONE


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class HalfRun:
    """What a front end made of one half."""

    half: Half
    transition: Flags  # [T] b_t
    spans: tuple[Span, ...]  # its own events
    given: tuple[Span, ...] = ()  # the label events with the types it gives them, where it was asked
    actions: Floats | None = None  # [T, A] a score for each action, where it has any


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontEndScores:
    """Scores by name, those by class apart, each with its interval where there are two matches."""

    matches: int
    halves: int
    clips: int
    values: dict[str, float]
    by_type: dict[str, dict[str, float]]
    by_action: dict[str, dict[str, float]]
    intervals: dict[str, Interval]
    sums: dict[str, dict[str, list[float]]]  # by table and match: what FIGURES are formed from, here and over runs

    def to_json(self) -> dict[str, object]:
        return {
            "matches": self.matches,
            "halves": self.halves,
            "clips": self.clips,
            **self.values,
            "by_type": self.by_type,
            "by_action": self.by_action,
            "intervals": {name: each.to_json() for name, each in self.intervals.items()},
            "sums": self.sums,
        }


# --- transitions -----------------------------------------------------------------------------------------------------


def transition_rows(predicted: Flags, target: Flags, learn: Flags) -> Floats:
    """[9]: true positives, false positives and misses, exact, within one clip, and forgiving."""
    if not len(predicted) == len(target) == len(learn):
        raise DataError(f"{len(predicted)} predictions for {len(target)} clips")
    exact = transition_counts(predicted, target, learn)
    near = transition_counts(predicted, target, learn, tolerance=1)
    wrong = predicted & learn & ~target & ~_widened(target)
    missed = target & ~predicted & ~_widened(predicted)
    return np.array([*exact, *near, exact[0], wrong.sum(), missed.sum()], dtype=np.float64)


def _widened(flags: Flags) -> Flags:
    wide = flags.copy()
    wide[1:] |= flags[:-1]
    wide[:-1] |= flags[1:]
    return wide


def _f1(counts: Floats) -> Floats:
    """F1 of [..., (right, wrong, missed)]; NaN where there is nothing at all."""
    right, wrong, missed = (counts[..., place] for place in range(3))
    total = 2 * right + wrong + missed
    return np.asarray(np.divide(2 * right, total, out=np.full_like(total, np.nan), where=total > 0))


def _ratio(right: float, other: float) -> float:
    return right / (right + other) if right + other else 0.0


def score_transitions(runs: Iterable[HalfRun]) -> dict[str, float]:
    """The three readings over some halves, without intervals: what a threshold is chosen by."""
    return _transition_values(np.stack([_transition_row(each) for each in runs]).sum(0))


def _transition_row(run: HalfRun) -> Floats:
    return transition_rows(run.transition, run.half.transition, run.half.learn)


def _transition_values(sums: Floats) -> dict[str, float]:
    values = {}
    for place, name in enumerate(("exact", "within_one", "forgiving")):
        mine = sums[3 * place : 3 * place + 3]
        values[f"transition_f1_{name}"] = float(np.nan_to_num(_f1(mine)))
        if name != "forgiving":
            values[f"transition_precision_{name}"] = _ratio(mine[0], mine[1])
            values[f"transition_recall_{name}"] = _ratio(mine[0], mine[2])
    return values


# --- event types -----------------------------------------------------------------------------------------------------


def pair_spans(own: Sequence[Span], labels: Sequence[Span]) -> list[tuple[int, int]]:
    """Which own event stands for which label event: one to one, the pair that shares most clips first."""
    candidates = []
    start = 0
    for place, span in enumerate(own):
        while start < len(labels) and labels[start].last < span.first:
            start += 1
        for other in range(start, len(labels)):
            if labels[other].first > span.last:
                break
            shared = min(span.last, labels[other].last) - max(span.first, labels[other].first) + 1
            union = max(span.last, labels[other].last) - min(span.first, labels[other].first) + 1
            candidates.append((-shared, union, place, other))
    pairs, owns, others = [], set(), set()
    for _, _, place, other in sorted(candidates):
        if place not in owns and other not in others:
            owns.add(place)
            others.add(other)
            pairs.append((place, other))
    return sorted(pairs)


def _label_spans(half: Half) -> list[Span]:
    return [
        Span(first=each.first, last=each.first + each.clips - 1, type=each.type, side=each.side) for each in half.events
    ]


def _type_row(own: Sequence[Span], labels: Sequence[Span], pairs: Sequence[tuple[int, int]]) -> Floats:
    """[3 x types + 5]: right, wrong, missed of each type; types right, label events; sides right, sides; own events."""
    counts = np.zeros((len(TYPES), 3))
    extra = np.zeros(5)
    extra[1], extra[4] = sum(each.type in TYPES for each in labels), len(own)
    place = {kind: index for index, kind in enumerate(TYPES)}
    partner = {other: mine for mine, other in pairs}
    spoken = {mine for mine, _ in pairs}
    for index, label in enumerate(labels):
        if label.type not in place:
            continue  # the control type: its partner's type is neither right nor wrong
        said = own[partner[index]] if index in partner else None
        if said is not None and said.type is label.type:
            counts[place[label.type], 0] += 1
            extra[0] += 1
        else:
            counts[place[label.type], 2] += 1
            if said is not None and said.type in place:
                counts[place[said.type], 1] += 1
        if label.side is not Side.NONE and said is not None:
            extra[3] += 1
            extra[2] += said.side is label.side
    for index, span in enumerate(own):
        if index not in spoken and span.type in place:
            counts[place[span.type], 1] += 1
    return np.concatenate([counts.ravel(), extra])


def _macro(sums: Floats) -> Floats:
    """Macro-F1 of summed type rows, over the types that label events have."""
    counts = sums[..., : 3 * len(TYPES)].reshape(*sums.shape[:-1], len(TYPES), 3)
    present = counts[..., 0] + counts[..., 2] > 0
    each = np.where(present, np.nan_to_num(_f1(counts)), 0.0)
    total = present.sum(-1)
    return np.asarray(np.divide(each.sum(-1), total, out=np.zeros(total.shape), where=total > 0))


def _accuracy(sums: Floats) -> Floats:
    return np.asarray(sums[..., -5] / np.maximum(sums[..., -4], 1))


def _side_accuracy(sums: Floats) -> Floats:
    return np.asarray(sums[..., -3] / np.maximum(sums[..., -2], 1))


def _exact(sums: Floats) -> Floats:
    return np.nan_to_num(_f1(sums[..., 0:3]))


def _within_one(sums: Floats) -> Floats:
    return np.nan_to_num(_f1(sums[..., 3:6]))


def _forgiving(sums: Floats) -> Floats:
    return np.nan_to_num(_f1(sums[..., 6:9]))


# Each figure that is a function of sums over matches: of which table's, and the function.
FIGURES: dict[str, tuple[str, Combine]] = {
    "transition_f1_exact": ("transition", _exact),
    "transition_f1_within_one": ("transition", _within_one),
    "transition_f1_forgiving": ("transition", _forgiving),
    "event_type_macro_f1": ("event", _macro),
    "event_type_accuracy": ("event", _accuracy),
    "event_side_accuracy": ("event", _side_accuracy),
    "event_given_boundaries_type_macro_f1": ("event_given_boundaries", _macro),
    "event_given_boundaries_type_accuracy": ("event_given_boundaries", _accuracy),
    "event_given_boundaries_side_accuracy": ("event_given_boundaries", _side_accuracy),
}


# --- all of it -------------------------------------------------------------------------------------------------------


def score_front_end(runs: Sequence[HalfRun], *, replicates: int = 10_000, seed: int = 0) -> FrontEndScores:
    """Every score of these halves; intervals where they are of two matches or more."""
    if not runs:
        raise DataError("there is no half to score the front end on")
    labels = [_label_spans(each.half) for each in runs]
    tables = {"transition": np.stack([_transition_row(each) for each in runs])}
    own = [_type_row(run.spans, told, pair_spans(run.spans, told)) for run, told in zip(runs, labels, strict=True)]
    tables["event"] = np.stack(own)
    if all(run.given for run in runs):
        same = [
            _type_row(run.given, told, [(at, at) for at in range(len(told))])
            for run, told in zip(runs, labels, strict=True)
        ]
        tables["event_given_boundaries"] = np.stack(same)
    combines = {name: each for name, each in FIGURES.items() if each[0] in tables}
    values = _transition_values(tables["transition"].sum(0))
    values |= {name: float(combine(tables[table].sum(0))) for name, (table, combine) in combines.items()}
    matches = [each.half.match for each in runs]
    intervals: dict[str, Interval] = {}
    if len(set(matches)) > 1:
        intervals = {
            name: cluster_interval(tables[table], clusters=matches, combine=combine, replicates=replicates, seed=seed)
            for name, (table, combine) in combines.items()
        }
    by_action = _score_actions(runs, values, intervals, replicates, seed)
    return FrontEndScores(
        matches=len(set(matches)),
        halves=len(runs),
        clips=sum(each.half.clips for each in runs),
        values=values,
        by_type=_by_type(tables["event"].sum(0)),
        by_action=by_action,
        intervals=intervals,
        sums={name: _by_match(rows, matches) for name, rows in tables.items()},
    )


def _by_match(rows: Floats, matches: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, Floats] = {}
    for match, row in zip(matches, rows, strict=True):
        found[match] = found[match] + row if match in found else row
    return {match: row.tolist() for match, row in found.items()}


def _by_type(sums: Floats) -> dict[str, dict[str, float]]:
    found = {}
    for place, kind in enumerate(TYPES):
        right, wrong, missed = (float(each) for each in sums[3 * place : 3 * place + 3])
        if right + missed:
            found[kind.value] = {
                "f1": 2 * right / (2 * right + wrong + missed),
                "precision": _ratio(right, wrong),
                "recall": _ratio(right, missed),
                "events": right + missed,
            }
    return found


def _score_actions(
    runs: Sequence[HalfRun], values: dict[str, float], intervals: dict[str, Interval], replicates: int, seed: int
) -> dict[str, dict[str, float]]:
    """mAP into the values, with its interval; the average precision and positives of each class are returned."""
    scored = [(each, each.actions) for each in runs if each.actions is not None]
    if len(scored) < len(runs):
        return {}
    scores = np.concatenate([actions for _, actions in scored]).astype(np.float64)
    target = np.concatenate([run.half.actions for run, _ in scored])
    owner = [run.half.match for run, _ in scored for _ in range(run.half.clips)]
    classes = {label: precision_counts(scores[:, at], target[:, at], owner) for at, label in enumerate(ACTIONS)}
    present = {label: each for label, each in classes.items() if each.positives}
    if not present:
        return {}
    counts, clusters = list(present.values()), len(set(owner))

    def compute(weights: Floats) -> Floats:
        return mean_average_precision(counts, weights)

    values["clip_action_map"] = float(compute(np.ones((1, clusters)))[0])
    if clusters > 1:
        intervals["clip_action_map"] = weighted_interval(
            compute, clusters=clusters, anchors=len(owner), replicates=min(replicates, 2000), seed=seed
        )
    whole = np.ones((1, clusters))
    return {
        label.value: {"ap": float(each.average(whole)[0]), "positives": float(each.positives)}
        for label, each in present.items()
    }


def visible_ceiling(halves: Iterable[Half]) -> list[HalfRun]:
    """What a perfect detector of the actions that are shown makes of these halves."""
    runs = []
    for half in halves:
        shown = [each for event in half.events for each in event.actions if each.visible]
        events = eventize(shown, half.events[-1].end.seconds, half.half)
        targets = [target == 1 for target, _ in transitions(events)]
        runs.append(
            HalfRun(
                half=half,
                transition=np.array(targets),
                spans=tuple(
                    Span(first=each.first, last=each.first + each.clips - 1, type=each.type, side=each.side)
                    for each in events
                ),
                given=tuple(map(_shown, half.events)),
            )
        )
    return runs


def _shown(event: EventRow) -> Span:
    """A label event with the type that its visible actions give it: those of the first clip that has any."""
    shown = [each for each in event.actions if each.visible]
    first = min((each.at.seconds // CLIP_SECONDS for each in shown), default=0.0)
    mine = [each for each in shown if each.at.seconds // CLIP_SECONDS == first]
    named = min(mine, key=lambda each: PRIORITY[each.label], default=None)
    return Span(
        first=event.first,
        last=event.first + event.clips - 1,
        type=EventType.OPEN_PLAY if named is None else TYPE[named.label],
        side=Side.NONE if named is None else named.side,
    )

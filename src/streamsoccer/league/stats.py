"""`league stats`: a folder of matches beside real ones: rates, pairs of labels, events, what was shown, captions."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsoccer.actions import ANNOTATED, CaptionClass, Label
from streamsoccer.domain import Action, CloseReason

__all__ = ["Comparison", "Figures", "compare", "measure", "show", "to_json", "variation"]

_QUANTILES = (0.1, 0.5, 0.9)
# The pairs whose time between is shown: the commonest in real matches.
_GAPS: tuple[tuple[Label, Label], ...] = (
    (Label.BALL_OUT, Label.THROW_IN),
    (Label.BALL_OUT, Label.CLEARANCE),
    (Label.BALL_OUT, Label.CORNER),
    (Label.FOUL, Label.INDIRECT_FREE_KICK),
    (Label.FOUL, Label.DIRECT_FREE_KICK),
    (Label.FOUL, Label.YELLOW_CARD),
    (Label.OFFSIDE, Label.INDIRECT_FREE_KICK),
    (Label.GOAL, Label.KICK_OFF),
    (Label.BALL_OUT, Label.SUBSTITUTION),
    (Label.THROW_IN, Label.BALL_OUT),
    (Label.INDIRECT_FREE_KICK, Label.BALL_OUT),
    (Label.CORNER, Label.BALL_OUT),
    (Label.SHOT_OFF_TARGET, Label.BALL_OUT),
    (Label.SHOT_ON_TARGET, Label.GOAL),
)

Pair = tuple[Label, Label]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What one folder holds."""

    matches: int
    hours: float
    rates: Mapping[Label, float]  # per 90 minutes of video
    pairs: Mapping[Pair, float]  # share of each pair of consecutive labels of a half
    gaps: Mapping[Pair, tuple[float, float, float]]  # seconds between: 10%, half, 90%
    hidden: float  # share of actions that are 'not shown'
    hidden_by_label: Mapping[Label, float]
    event_mean: float
    event_median: float
    closed_by: Mapping[CloseReason, float]
    captioned: int
    captions: float  # per captioned match
    classes: Mapping[CaptionClass, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A folder beside the real one."""

    here: Figures
    real: Figures

    @property
    def pair_variation(self) -> float:
        """Total variation between the joint distributions of consecutive labels."""
        return variation(self.here.pairs, self.real.pairs)


def variation(one: Mapping[Pair, float], two: Mapping[Pair, float]) -> float:
    """Half the sum of the absolute differences, over every pair in either; in a fixed order."""
    return sum(abs(one.get(pair, 0.0) - two.get(pair, 0.0)) for pair in sorted({*one, *two})) / 2


def measure(root: Path, durations: Path | None = None, tick: Callable[[], None] = lambda: None) -> Figures:
    """Read a folder in SoccerNet's layout and count; `tick` is called for each match."""
    from streamsoccer.data import soccernet
    from streamsoccer.data.eventizer import eventize

    beside = root / "durations.json"
    table = soccernet.read_durations(durations or beside) if durations or beside.is_file() else None
    games, _ = soccernet.discover(root)
    counts: Counter[Label] = Counter()
    hidden: Counter[Label] = Counter()
    pairs: Counter[Pair] = Counter()
    gaps: dict[Pair, list[float]] = {}
    lengths: list[float] = []
    closed: Counter[CloseReason] = Counter()
    classes: Counter[CaptionClass] = Counter()
    seconds = 0.0
    captioned = 0
    for files in games:
        game = soccernet.read_game(files, table)
        for half, actions in game.actions.items():
            seconds += game.durations[half]
            _count(actions, counts, hidden, pairs, gaps)
            for event in eventize(actions, game.durations[half], half):
                lengths.append(event.end.seconds - event.start.seconds)
                closed[event.closed_by] += 1
        captioned += bool(game.captions)
        classes.update(caption.kind for caption in game.captions)
        tick()
    total, texts = sum(counts.values()), sum(classes.values())
    return Figures(
        matches=len(games),
        hours=seconds / 3600,
        rates={label: counts[label] * 5400 / seconds for label in ANNOTATED},
        pairs={pair: n / sum(pairs.values()) for pair, n in pairs.items()},
        gaps={pair: _quantiles(gaps[pair]) for pair in _GAPS if len(gaps.get(pair, ())) > 4},
        hidden=sum(hidden.values()) / max(1, total),
        hidden_by_label={label: hidden[label] / counts[label] for label in ANNOTATED if counts[label]},
        event_mean=statistics.fmean(lengths),
        event_median=statistics.median(lengths),
        closed_by={reason: closed[reason] / sum(closed.values()) for reason in CloseReason},
        captioned=captioned,
        captions=texts / max(1, captioned),
        classes={kind: n / texts for kind, n in classes.most_common()},
    )


def _count(
    actions: Sequence[Action],
    counts: Counter[Label],
    hidden: Counter[Label],
    pairs: Counter[Pair],
    gaps: dict[Pair, list[float]],
) -> None:
    for action in actions:
        counts[action.label] += 1
        hidden[action.label] += not action.visible
    for one, two in itertools.pairwise(actions):
        pair = (one.label, two.label)
        pairs[pair] += 1
        gaps.setdefault(pair, []).append(two.at.seconds - one.at.seconds)


def _quantiles(values: Iterable[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    low, middle, high = (round(ordered[min(len(ordered) - 1, int(q * len(ordered)))], 1) for q in _QUANTILES)
    return low, middle, high


def compare(here: Path, against: Path, durations: Path | None = None, progress: bool = False) -> Comparison:
    """Measure both folders."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        figures = []
        for root, table in ((here, None), (against, durations)):
            task = bar.add_task(f"reading {root.name}", total=None)
            figures.append(measure(root, table, lambda task=task: bar.advance(task)))  # type: ignore[misc]
    return Comparison(here=figures[0], real=figures[1])


def to_json(found: Comparison) -> dict[str, Any]:
    """The figures by name, for files and programs."""
    here, real = found.here, found.real
    return {
        "matches": {"here": here.matches, "real": real.matches},
        "rates_per_90": {
            label.value: {"here": round(here.rates[label], 2), "real": round(real.rates[label], 2)}
            for label in ANNOTATED
        },
        "pair_total_variation": round(found.pair_variation, 4),
        "not_shown": {"here": round(here.hidden, 4), "real": round(real.hidden, 4)},
        "events": {
            "mean_seconds": {"here": round(here.event_mean, 3), "real": round(real.event_mean, 3)},
            "median_seconds": {"here": here.event_median, "real": real.event_median},
            "closed_by": {
                reason.value: {"here": round(here.closed_by[reason], 4), "real": round(real.closed_by[reason], 4)}
                for reason in CloseReason
            },
        },
        "gaps_seconds_10_50_90": {
            f"{one.value} -> {two.value}": {"here": here.gaps.get((one, two)), "real": real.gaps.get((one, two))}
            for one, two in _GAPS
        },
        "captions_per_match": {"here": round(here.captions, 1), "real": round(real.captions, 1)},
        "caption_classes": {
            kind.value: {"here": round(here.classes.get(kind, 0.0), 4), "real": round(real.classes.get(kind, 0.0), 4)}
            for kind in CaptionClass
            if kind in here.classes or kind in real.classes
        },
    }


def show(found: Comparison) -> None:
    """Print the comparison as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    here, real = found.here, found.real
    table = Table(title=f"{here.matches} matches here beside {real.matches} real ones, per 90 minutes")
    for name in ("label", "here", "real", "ratio", "", "not shown", "real "):
        table.add_column(name, justify="left" if name == "label" else "right")
    for label in sorted(ANNOTATED, key=lambda each: -real.rates[each]):
        mine, theirs = here.rates[label], real.rates[label]
        ratio = mine / theirs if theirs else float("nan")
        fits = 0.8 <= ratio <= 1.2 if theirs > 1 else 0.5 <= ratio <= 2
        table.add_row(
            label.value,
            f"{mine:.2f}",
            f"{theirs:.2f}",
            f"{ratio:.2f}",
            "" if fits else "off",
            f"{here.hidden_by_label.get(label, 0):.0%}",
            f"{real.hidden_by_label.get(label, 0):.0%}",
        )
    console.print(table)
    table = Table(title="events, captions and order")
    for name in ("figure", "here", "real"):
        table.add_column(name, justify="left" if name == "figure" else "right")
    table.add_row("event, mean seconds", f"{here.event_mean:.2f}", f"{real.event_mean:.2f}")
    table.add_row("event, median seconds", f"{here.event_median:.0f}", f"{real.event_median:.0f}")
    for reason in CloseReason:
        table.add_row(f"closed by {reason.value}", f"{here.closed_by[reason]:.1%}", f"{real.closed_by[reason]:.1%}")
    table.add_row("not shown", f"{here.hidden:.1%}", f"{real.hidden:.1%}")
    table.add_row("total variation of label pairs", f"{found.pair_variation:.3f}", "")
    table.add_row("captions a match", f"{here.captions:.1f}", f"{real.captions:.1f}")
    for kind in sorted({*here.classes, *real.classes}, key=lambda each: -real.classes.get(each, 0.0)):
        shares = f"{here.classes.get(kind, 0.0):.1%}", f"{real.classes.get(kind, 0.0):.1%}"
        table.add_row(f"  of class {kind.value}", *shares)
    console.print(table)
    table = Table(title="seconds between labels: 10%, half, 90%")
    for name in ("pair", "here", "real"):
        table.add_column(name, justify="left" if name == "pair" else "right")
    for pair in _GAPS:
        cells = [
            "-" if pair not in each.gaps else "  ".join(f"{value:5.1f}" for value in each.gaps[pair])
            for each in (here, real)
        ]
        table.add_row(f"{pair[0].value} -> {pair[1].value}", *cells)
    console.print(table)

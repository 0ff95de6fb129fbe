"""What a build holds, beside the paper's corpus: funnel, splits, events, action rates, alignment and tracks."""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer.actions import ANNOTATED, Label
from streamsoccer.data.manifests import read_captions, read_clips, read_events, read_records, read_samples
from streamsoccer.data.pipeline import median_seconds
from streamsoccer.domain import CLIP_SECONDS, EVENT_SECONDS, CloseReason, Side, Split, Track, Verdict

__all__ = ["PAPER", "REAL_RATES", "DataStats", "collect", "show_stats"]

# The paper's appendix B: table 'Frozen data funnel' and the text on the eventizer. Clips and events are of 500 matches,
# captions and samples of the 422 that MatchTime has.
PAPER: Mapping[str, float] = {
    "matches": 500,
    "halves": 1_000,
    "clips": 685_903,
    "events": 166_419,
    "captioned_matches": 422,
    "aligned": 15_189,
    "current": 15_189,
    "recent": 7_127,
    "historical": 5_323,
    "samples": 27_639,
    "event_mean": 16.49,
    "event_median": 20.0,
    "max_duration": 66_941,
}
# The paper's table 'Match-disjoint three-track split'.
PAPER_SPLITS: Mapping[Split, Mapping[str, int]] = {
    Split.TRAIN: {"matches": 295, "current": 10_853, "recent": 5_013, "historical": 3_775},
    Split.VALIDATION: {"matches": 64, "current": 2_286, "recent": 1_105, "historical": 818},
    Split.TEST: {"matches": 63, "current": 2_050, "recent": 1_009, "historical": 730},
}
# Per 90 minutes of video, counted in 200 real SoccerNet matches; 'not shown' actions are counted too.
REAL_RATES: Mapping[Label, float] = {
    Label.BALL_OUT: 62.4,
    Label.THROW_IN: 37.0,
    Label.FOUL: 22.5,
    Label.INDIRECT_FREE_KICK: 20.6,
    Label.CLEARANCE: 15.4,
    Label.SHOT_ON_TARGET: 11.6,
    Label.SHOT_OFF_TARGET: 10.0,
    Label.CORNER: 9.6,
    Label.SUBSTITUTION: 5.6,
    Label.KICK_OFF: 5.2,
    Label.OFFSIDE: 4.1,
    Label.DIRECT_FREE_KICK: 4.0,
    Label.YELLOW_CARD: 4.0,
    Label.GOAL: 3.5,
    Label.PENALTY: 0.37,
    Label.SECOND_YELLOW_CARD: 0.11,
    Label.RED_CARD: 0.10,
}
REAL_NOT_SHOWN = 0.18
_LEVELS = (
    ("matches", "SoccerNet matches", "matches"),
    ("halves", "half streams", "matches"),
    ("clips", "4 s clips", "matches"),
    ("actions", "actions", "matches"),
    ("events", "operational events", "matches"),
    ("captioned_matches", "captioned matches", "captioned_matches"),
    ("captions", "captions", "captioned_matches"),
    ("aligned", "caption-aligned events", "captioned_matches"),
    ("current", "current-event samples", "captioned_matches"),
    ("recent", "recent-window samples", "captioned_matches"),
    ("historical", "historical-memory samples", "captioned_matches"),
    ("samples", "three-track samples", "captioned_matches"),
)


@dataclass(slots=True)
class DataStats:
    """Counts of one build, taken from its rows."""

    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)  # the levels of the funnel
    closed: Counter[CloseReason] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)  # events by their number of clips
    types: Counter[str] = field(default_factory=Counter)
    actions: Counter[Label] = field(default_factory=Counter)
    not_shown: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    classes: dict[str, Counter[Verdict]] = field(default_factory=dict)
    tracks: Counter[tuple[Split, Track]] = field(default_factory=Counter)
    by_match: dict[str, Counter[Track]] = field(default_factory=dict)
    split_of: dict[str, Split] = field(default_factory=dict)  # captioned matches
    writers: Counter[str] = field(default_factory=Counter)
    pools: Counter[str] = field(default_factory=Counter)  # of historical samples: candidates, positives, negatives
    records: Counter[Split] = field(default_factory=Counter)  # by the legacy split
    sides: Counter[str] = field(default_factory=Counter)

    def per_match(self, level: str, of: str) -> float:
        return self.counts[level] / max(1, self.counts[of])

    @property
    def event_mean(self) -> float:
        """Mean seconds of an event; a clip counts as 4 s, the last of a half too, as in the paper's counts."""
        return (
            CLIP_SECONDS * sum(clips * number for clips, number in self.lengths.items()) / max(1, self.lengths.total())
        )

    @property
    def event_median(self) -> float:
        return median_seconds(self.lengths)

    def rate(self, label: Label) -> float:
        """How often in 90 minutes of video."""
        return self.actions[label] * 5400 / max(1.0, self.seconds)

    def of_match(self, track: Track) -> list[int]:
        """The number of samples of this track in each captioned match."""
        return [tracks[track] for tracks in self.by_match.values()]

    def to_json(self) -> dict[str, Any]:
        return {
            "funnel": {
                level: {
                    "ours": self.counts[level],
                    "ours_a_match": round(self.per_match(level, of), 3),
                    "paper": PAPER.get(level),
                    "paper_a_match": round(PAPER[level] / PAPER[of], 3) if level in PAPER else None,
                }
                for level, _, of in _LEVELS
            },
            "splits": {
                split.value: {
                    "matches": sum(each is split for each in self.split_of.values()),
                    **{track.value: self.tracks[split, track] for track in Track},
                    "paper": dict(PAPER_SPLITS[split]),
                }
                for split in Split
            },
            "events": {
                "mean_seconds": round(self.event_mean, 3),
                "median_seconds": self.event_median,
                "paper": {"mean_seconds": PAPER["event_mean"], "median_seconds": PAPER["event_median"]},
                "closed_by": {reason.value: self.closed[reason] for reason in CloseReason},
                "paper_max_duration": PAPER["max_duration"],
                "clips": {str(clips): self.lengths[clips] for clips in sorted(self.lengths)},
                "types": dict(self.types.most_common()),
            },
            "actions": {
                "minutes": round(self.seconds / 60, 1),
                "not_shown": self.not_shown,
                "per_90_minutes": {label.value: round(self.rate(label), 3) for label in ANNOTATED},
                "real_per_90_minutes": {label.value: rate for label, rate in REAL_RATES.items()},
            },
            "alignment": {
                "verdicts": {verdict.value: self.verdicts[verdict] for verdict in Verdict},
                "classes": {
                    kind: {verdict.value: number for verdict, number in verdicts.items()}
                    for kind, verdicts in sorted(self.classes.items())
                },
            },
            "tracks": {track.value: _spread(self.of_match(track)) for track in Track},
            "pools": dict(self.pools),
            "writers": dict(self.writers),
            "records_by_legacy_split": {split.value: number for split, number in self.records.items()},
            "samples_by_side": dict(self.sides),
        }


def collect(out: Path) -> DataStats:
    """Count the rows of a build, one at a time."""
    stats = DataStats()
    counts = stats.counts
    last = ("", 0)
    match = ""
    for clip in read_clips(out):
        counts["clips"] += 1
        stats.seconds += clip.end - clip.start
        if (clip.match, clip.half) != last:
            counts["halves"] += 1
            counts["matches"] += clip.match != match
            last, match = (clip.match, clip.half), clip.match
    for event in read_events(out):
        counts["events"] += 1
        counts["aligned"] += event.caption is not None
        stats.closed[event.closed_by] += 1
        stats.lengths[event.clips] += 1
        stats.types[event.type.value] += 1
        for action in event.actions:
            stats.actions[action.label] += 1
            stats.not_shown += not action.visible
    counts["actions"] = stats.actions.total()
    for caption in read_captions(out):
        counts["captions"] += 1
        stats.split_of[caption.match] = caption.split
        stats.verdicts[caption.verdict] += 1
        stats.classes.setdefault(caption.kind.value, Counter())[caption.verdict] += 1
    counts["captioned_matches"] = len(stats.split_of)
    stats.by_match = {match: Counter() for match in stats.split_of}
    for record in read_records(out):
        stats.records[record.legacy_split] += 1
    for sample in read_samples(out):
        counts["samples"] += 1
        counts[sample.track.value] += 1
        stats.tracks[sample.split, sample.track] += 1
        stats.by_match.setdefault(sample.match, Counter())[sample.track] += 1
        stats.writers["a model" if sample.writer not in ("caption", "rules") else sample.writer] += 1
        if sample.track is not Track.RECENT:
            stats.sides[str(sample.fields.get("side", Side.NONE.value))] += 1
        if sample.track is Track.HISTORICAL:
            for name in ("candidates", "positives", "hard_negatives"):
                stats.pools[name] += len(getattr(sample, name))
    return stats


def _spread(numbers: Sequence[int]) -> dict[str, float]:
    if not numbers:
        return {"matches": 0, "mean": 0.0, "least": 0, "median": 0.0, "most": 0}
    return {
        "matches": len(numbers),
        "mean": round(statistics.fmean(numbers), 2),
        "least": min(numbers),
        "median": statistics.median(numbers),
        "most": max(numbers),
    }


# --- tables ----------------------------------------------------------------------------------------------------------

_Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def _tables(stats: DataStats) -> list[_Table]:
    return [_funnel(stats), _splits(stats), _events(stats), _lengths(stats), _rates(stats), _verdicts(stats),
            _classes(stats), _tracks(stats)]  # fmt: skip


def _funnel(stats: DataStats) -> _Table:
    rows: list[Sequence[str]] = []
    for level, title, of in _LEVELS:
        paper = PAPER.get(level)
        theirs = None if paper is None else paper / PAPER[of]
        ours = stats.per_match(level, of)
        off = "" if not theirs or level == of else f"{100 * (ours / theirs - 1):+.1f}%"
        a_match = ("", "") if level == of else (_number(ours, 1), _number(theirs, 1))
        rows.append((title, _number(stats.counts[level]), _number(paper), *a_match, off))
    return "Data funnel", ("level", "ours", "paper", "ours a match", "paper a match", "off"), rows


def _splits(stats: DataStats) -> _Table:
    rows: list[Sequence[str]] = []
    for split in Split:
        ours = [
            sum(each is split for each in stats.split_of.values()),
            *(stats.tracks[split, track] for track in Track),
        ]
        paper = PAPER_SPLITS[split]
        theirs = [paper["matches"], *(paper[track.value] for track in Track)]
        shown = [f"{_number(mine)} | {_number(them)}" for mine, them in zip(ours, theirs, strict=True)]
        rows.append((split.value, *shown, f"{_number(sum(ours[1:]))} | {_number(sum(theirs[1:]))}"))
    return (
        "Splits of captioned matches, ours | paper",
        ("split", "matches", *(each.value for each in Track), "total"),
        rows,
    )


def _events(stats: DataStats) -> _Table:
    total = stats.counts["events"]
    rows: list[Sequence[str]] = [
        ("mean seconds", f"{stats.event_mean:.3f}", "", f"{PAPER['event_mean']:.2f}"),
        ("median seconds", f"{stats.event_median:g}", "", f"{PAPER['event_median']:g}"),
    ]
    for reason in CloseReason:
        rolled = reason is CloseReason.MAX_DURATION
        paper = f"{_number(PAPER['max_duration'])} ({_share(PAPER['max_duration'], PAPER['events'])})" if rolled else ""
        closed = stats.closed[reason]
        rows.append((f"closed by {reason.value.replace('_', ' ')}", _number(closed), _share(closed, total), paper))
    return "Events", ("", "ours", "share", "paper"), rows


def _lengths(stats: DataStats) -> _Table:
    total = max(1, stats.lengths.total())
    rows: list[Sequence[str]] = []
    for clips in range(1, int(EVENT_SECONDS // CLIP_SECONDS) + 1):
        number = stats.lengths[clips]
        bar = "#" * round(40 * number / total)
        rows.append((str(clips), f"{clips * CLIP_SECONDS:g}", _number(number), _share(number, total), bar))
    return "Length of events", ("clips", "seconds", "events", "share", ""), rows


def _rates(stats: DataStats) -> _Table:
    rows: list[Sequence[str]] = []
    for label in sorted(ANNOTATED, key=lambda each: -REAL_RATES[each]):
        ours, real = stats.rate(label), REAL_RATES[label]
        rows.append(
            (label.value, _number(stats.actions[label]), _number(ours, 2), _number(real, 2), f"{ours / real:.2f}")
        )
    not_shown = _share(stats.not_shown, stats.counts["actions"])
    rows.append(("not shown", _number(stats.not_shown), not_shown, f"{100 * REAL_NOT_SHOWN:.0f}%", ""))
    return "Actions in 90 minutes", ("action", "count", "ours", "200 real matches", "ratio"), rows


def _verdicts(stats: DataStats) -> _Table:
    total, matches = stats.verdicts.total(), max(1, stats.counts["captioned_matches"])
    rows = [
        (each.value.replace("_", " "), _number(stats.verdicts[each]), _share(stats.verdicts[each], total),
         _number(stats.verdicts[each] / matches, 1))
        for each in Verdict
    ]  # fmt: skip
    return "Captions: aligned, or why not", ("verdict", "captions", "share", "a match"), rows


def _classes(stats: DataStats) -> _Table:
    shown = [each for each in Verdict if stats.verdicts[each]]
    rows: list[Sequence[str]] = []
    for kind, verdicts in sorted(stats.classes.items(), key=lambda item: (-item[1].total(), item[0])):
        share = _share(verdicts[Verdict.ALIGNED], verdicts.total())
        rows.append((kind, _number(verdicts.total()), share, *(_number(verdicts[each]) for each in shown)))
    heads = ("class", "captions", "aligned %", *(each.value.replace("_", " ") for each in shown))
    return "Captions by class", heads, rows


def _tracks(stats: DataStats) -> _Table:
    rows: list[Sequence[str]] = []
    for track in Track:
        spread = _spread(stats.of_match(track))
        paper = PAPER[track.value] / PAPER["captioned_matches"]
        figures = (f"{spread['mean']:.1f}", f"{spread['least']:g}", f"{spread['median']:g}", f"{spread['most']:g}")
        rows.append((track.value, *figures, f"{paper:.1f}"))
    samples = max(1, stats.counts["historical"])
    for name in ("candidates", "positives", "hard_negatives"):
        mean = stats.pools[name] / samples
        rows.append((f"{name.replace('_', ' ')} of a historical sample", f"{mean:.1f}", "", "", "", ""))
    return "Samples of a captioned match", ("track", "mean", "least", "median", "most", "paper's mean"), rows


def show_stats(stats: DataStats, *, as_json: bool) -> None:
    """Tables for people, plain where nobody looks at a terminal; JSON for machines."""
    if as_json:
        json.dump(stats.to_json(), sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    elif sys.stdout.isatty():
        _print_rich(_tables(stats))
    else:
        for title, heads, rows in _tables(stats):
            sys.stdout.write(f"{title}\n")
            widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
            for row in (heads, *rows):
                cells = [
                    cell.ljust(width) if column == 0 or cell.startswith("#") else cell.rjust(width)
                    for column, (cell, width) in enumerate(zip(row, widths, strict=True))
                ]
                sys.stdout.write(f"  {'  '.join(cells).rstrip()}\n")
            sys.stdout.write("\n")


def _print_rich(tables: Sequence[_Table]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for title, heads, rows in tables:
        table = Table(title=title, title_justify="left", title_style="bold")
        for column, head in enumerate(heads):
            bar = any(row[column].startswith("#") for row in rows)
            table.add_column(head, justify="left" if column == 0 or bar else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)

"""The data card: what a build holds, how it was made and where it falls short, in one page beside the manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["data_card"]


def _table(head: tuple[str, str], rows: Iterable[tuple[str, object]]) -> list[str]:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---:|"]
    for name, value in rows:
        lines.append(f"| {name} | {f'{value:,}' if isinstance(value, int | float) else value} |")
    return [*lines, ""]


def data_card(summary: Mapping[str, Any]) -> str:
    """The card as Markdown, from what build.json holds."""
    counts = summary["counts"]
    captioned = counts.get("captioned_matches", 0)
    per_match = {name: number / captioned for name, number in counts.get("track", {}).items()} if captioned else {}
    sides = counts.get("side", {})
    lines = [
        "# Data card",
        "",
        f"Schema version {summary['schema_version']}, built by streamsoccer {summary['version']}. Every row of the"
        " manifests follows from the source files whose hashes build.json holds; the same sources give the same bytes.",
        "",
        "## What is here",
        "",
        *_table(
            ("level", "count"),
            [
                ("matches", counts["matches"]),
                ("half streams", counts["halves"]),
                ("4-second clips", counts["clips"]),
                ("annotated actions", counts["actions"]),
                ("operational events", counts["events"]),
                ("mean event, seconds", counts["event_seconds"]["mean"]),
                ("median event, seconds", counts["event_seconds"]["median"]),
                ("matches with captions", captioned),
                ("captions", counts["captions"]),
                ("records (aligned events)", counts["records"]),
                ("samples", counts["samples"]),
            ],
        ),
        "## Why events closed",
        "",
        *_table(("reason", "events"), _most_first(counts.get("closed_by", {}))),
        "## What became of the captions",
        "",
        *_table(("verdict", "captions"), _most_first(counts.get("verdict", {}))),
        "## Tracks",
        "",
        *_table(("samples a captioned match", "mean"), [(name, f"{mean:.1f}") for name, mean in per_match.items()]),
        "## Splits",
        "",
        *_table(("split", "matches"), counts.get("splits", {}).items()),
    ]
    if sides:
        same, other = sides.get("same", 0), sides.get("other", 0)
        lines += [
            f"Of {same + other:,} records whose text names a team and whose action has a side, {same:,}"
            f" ({same / (same + other):.1%}) name the side that SoccerNet gives the action. A clearance is often told"
            " from the attacking side.",
            "",
        ]
    lines += [
        "## How it was made",
        "",
        "- Events follow fixed rules on action labels (data/eventizer.py). They organise memory; nobody segmented them"
        " by hand, and a large share of them is closed by the 24-second limit.",
        "- An event is available at the end of the clip after its last one. Every sample stores its cutoff, and all"
        " that is in its context was available by then.",
        "- A caption supervises at most one event, and only one that holds an action the caption can speak of.",
        "- Current targets are the captions themselves. Recent and historical targets are plain sentences written by"
        " rules from the labels: true to them, and narrower in words than a commentator.",
        "",
        "## Where it falls short",
        "",
        "- Captions cover the salient events, not a fair sample of a match.",
        "- SoccerNet names the side that a goal counts for, so own goals cannot be told apart by the labels.",
        "- Caption times are as good as their source; the same second of commentary may follow or precede the play.",
        "- Checks of structure are not checks of meaning: no person has read every sentence.",
        "",
    ]
    if "assist" in summary:
        lines += ["## Rephrased by a model", "", *_table(("what", "samples"), _assist(summary["assist"]))]
    if summary["notices"]:
        lines += ["## Oddities in the sources", ""]
        lines += _table(("what", "count"), [(kind, each["count"]) for kind, each in summary["notices"].items()])
    if summary["problems"]:
        lines += [f"## Not built: {len(summary['problems'])}", ""]
        lines += [f"- {each['match']}: {each['problem']}" for each in summary["problems"]]
        lines.append("")
    return "\n".join(lines)


def _most_first(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(numbers.items(), key=lambda each: (-each[1], each[0]))


def _assist(assist: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [
        ("model", assist["model"]),
        *((name, assist[name]) for name in sorted(assist) if name not in ("model", "frozen")),
    ]

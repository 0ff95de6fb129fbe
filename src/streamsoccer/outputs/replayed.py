"""A replay on a terminal: each line as it was run, and after it what came out otherwise."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

from streamsoccer.journal_reader import corrected
from streamsoccer.outputs.terminal import line_of
from streamsoccer.replay import Replayed

__all__ = ["show_replay"]


def show_replay(steps: Iterable[Replayed], *, as_json: bool) -> bool:
    """Print all lines; whether all came out the same."""
    counts: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    for step in steps:
        counts["steps"] += 1
        counts["lines"] += step.line is not None
        counts["records"] += step.records
        counts["decisions"] += step.decisions
        differ.update(each.what for each in step.differences)
        if as_json:
            if step.line is not None or step.differences:
                _print(json.dumps(_row(step)))
            continue
        if step.line is not None and (shown := corrected(step.line, ())).visible:
            _print(line_of(shown))
        for each in step.differences:
            _print(f"  differs: {each.what} {each.where}\n    there: {each.there}\n    now:   {each.now}")
    same = not differ
    if as_json:
        _print(json.dumps({"type": "summary", **counts, "differences": dict(differ), "same": same}))
    else:
        found = ", ".join(f"{count} of {what}" for what, count in sorted(differ.items()))
        told = f"{counts['lines']} lines, {counts['records']} records, {counts['decisions']} decisions"
        sys.stderr.write(f"{told}: {'all the same' if same else f'differences: {found}'}\n")
    return same


def _row(step: Replayed) -> dict[str, object]:
    line = step.line
    row: dict[str, object] = {"type": "step", "step": step.progress.step, "half": step.progress.half}
    row["seconds"] = step.progress.end
    if line is not None:
        row |= {"id": line.id, "mode": line.track.value, "text": line.said or line.text, "status": line.status.value}
        row["again"] = None if step.said is None else step.said.said or step.said.utterance.text
    return row | {"differences": [asdict(each) for each in step.differences]}


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

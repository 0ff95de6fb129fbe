"""A match on a terminal: one line an utterance, and where there is a terminal a last line that tells how it goes.

    1 - 12:04  current     Corner for Alder Town, and the goalkeeper punches it clear.
    1 - 12:08 | RTF 0.11 | 612 MB | 2 captions wait | 31 records

As JSON, each line is one object: `line`, `notice`, `load` once a minute of the match, and `summary` at the end.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamsoccer.clock import MatchTime, format_seconds
from streamsoccer.journal_reader import Shown
from streamsoccer.journal_rows import Status
from streamsoccer.live import Load, Watcher
from streamsoccer.moment import Moment
from streamsoccer.outputs.jsonl import to_row
from streamsoccer.outputs.sink import Layout, one_line

if TYPE_CHECKING:
    from rich.live import Live

__all__ = ["JsonTerminal", "Terminal", "line_of"]

MODES = 10  # the longest mode's name
_SECONDS_A_LOAD = 60.0


def line_of(shown: Shown) -> str:
    """Time, mode, text."""
    line = shown.line
    return f"{_time(line.cutoff)}  {line.track.value:<{MODES}}  {one_line(shown.text)}"


def status_of(load: Load, *, real: bool) -> str:
    """The last line: clock, lag, real-time factor, memory, what waits, records."""
    parts = [_time(load.at)]
    if real:
        parts.append(f"{load.lag:.1f} s behind")
    parts += [f"RTF {load.rtf:.2f}", f"{load.memory / 1e6:.0f} MB", f"{load.queue} captions wait"]
    parts.append(f"{load.records} records")
    if load.waiting:
        parts.append(f"{load.waiting} steps wait for the disk")
    return " | ".join(parts)


def _time(at: MatchTime) -> str:
    """'1 - 12:04': whole seconds, as everybody writes them."""
    return f"{at.half} - {format_seconds(float(int(at.seconds)))}"


class _Counted(Watcher):
    """What came of a whole match."""

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.status: Counter[str] = Counter()
        self.load: Load | None = None
        self.counts: Mapping[str, int] = {}

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def summary(self) -> None:
        """What came of it all."""

    def moment(self, moment: Moment, said: Sequence[Shown], load: Load) -> None:
        self.load, self.counts = load, dict(moment.counts)
        for each in said:
            self.status[each.line.status.value] += 1
            if each.line.status is Status.SAID:
                self.said[each.line.track.value] += 1


class Terminal(_Counted):
    """For people; sentences on standard output, everything else on standard error."""

    def __init__(self, *, real: bool = False) -> None:
        super().__init__()
        self.real = real
        self._live: Live | None = None

    def __enter__(self) -> Terminal:
        if sys.stdout.isatty() and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(markup=False, highlight=False), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def moment(self, moment: Moment, said: Sequence[Shown], load: Load) -> None:
        super().moment(moment, said, load)
        for each in said:
            if each.visible:
                self._print(line_of(each))
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(status_of(load, real=self.real), style="dim", no_wrap=True, overflow="ellipsis"))

    def notice(self, kind: str, text: str) -> None:
        if self._live is not None:
            self._live.console.print(f"{kind}: {text}", style="yellow", soft_wrap=True)
        else:
            sys.stderr.write(f"{kind}: {text}\n")
            sys.stderr.flush()

    def summary(self) -> None:
        """What was said of it all, on standard error."""
        modes = ", ".join(f"{count} {mode}" for mode, count in sorted(self.said.items())) or "nothing"
        lines = [f"said: {modes}"]
        names = ("contradictions", "repetitions", "sentences_failed", "captions_dropped", "captions_failed", "gaps")
        told = [f"{self.counts[name]} {name.replace('_', ' ')}" for name in names if self.counts.get(name)]
        lines += [f"not said or lost: {', '.join(told)}"] if told else []
        lines += [status_of(self.load, real=self.real)] if self.load is not None else []
        for line in lines:
            sys.stderr.write(f"{line}\n")

    def _print(self, line: str) -> None:
        if self._live is not None:
            self._live.console.print(line, soft_wrap=True)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


class JsonTerminal(_Counted):
    """For machines: everything on standard output, one object a line."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout
        self._told = float("-inf")

    def moment(self, moment: Moment, said: Sequence[Shown], load: Load) -> None:
        super().moment(moment, said, load)
        for each in said:
            status = {"status": each.line.status.value, "reason": each.line.reason}
            self.tell("line", {**to_row(each, self.layout), **status})
        if not 0 <= load.at.seconds - self._told < _SECONDS_A_LOAD:
            self._told = load.at.seconds
            self.tell("load", _load_row(load))

    def notice(self, kind: str, text: str) -> None:
        self.tell("notice", {"kind": kind, "text": text})

    def summary(self) -> None:
        """All counts, and how the match was doing in the end."""
        row: dict[str, Any] = {"said": dict(self.said), "status": dict(self.status), "counts": dict(self.counts)}
        self.tell("summary", row | ({} if self.load is None else _load_row(self.load)))

    def tell(self, kind: str, row: Mapping[str, Any]) -> None:
        sys.stdout.write(json.dumps({"type": kind, **row}, ensure_ascii=True) + "\n")
        sys.stdout.flush()


def _load_row(load: Load) -> dict[str, Any]:
    return {
        "half": load.at.half,
        "time": format_seconds(load.at.seconds),
        "lag": round(load.lag, 3),
        "rtf": round(load.rtf, 4),
        "memory": load.memory,
        "queue": load.queue,
        "records": load.records,
        "waiting": load.waiting,
    }

"""Fact precision: each claim of a line against a truth file, by the rules of the line's own track.

    precision = claims that agree / claims that agree or contradict;   checkable = those two, a line

A claim that cannot be told is counted apart and is in neither. What a line may speak of ends with its cutoff:

    current      acts are those of its event, from `LEAD` seconds before its start to the cutoff
    recent       acts are those of the last 180 s before the cutoff
    historical   acts are those of its event, or of the last 180 s where it names no event

Counts, the score and what came earlier are of the whole match up to the line. They may hold at any moment of the event
from its first labelled action on: a line on a goal says the score after it, although another may have fallen by the
cutoff. A count of a player who is not named holds if it holds for one who did that act in those seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamsoccer.claims import Claim, Kind, claims
from streamsoccer.clock import MatchTime
from streamsoccer.deeds import Deed, facts_of_deed, read_truth, restart_after
from streamsoccer.domain import LOCAL_SECONDS, Action, Placeholder, Side, Tally, Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import Interval, cluster_interval
from streamsoccer.settle import Fact, Finding, Truth, check

__all__ = [
    "FactScores",
    "Judged",
    "Line",
    "MatchTruth",
    "TruthBook",
    "checkable_of_sums",
    "fact_row",
    "judge",
    "kind_of",
    "precision_of_sums",
    "score_facts",
]

Floats = NDArray[np.float64]
LEAD = 12.0  # what leads to an event is told with it: the cross before a shot, the foul before a card


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A sentence with placeholders, and what it is about."""

    id: str
    match: str
    track: Track
    text: str
    cutoff: MatchTime
    placeholders: tuple[Placeholder, ...] = ()
    start: float | None = None  # of its event, in seconds of the half; nothing where it names no event


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """One claim of a line and what the truth says of it."""

    line: str
    match: str
    track: Track
    claim: Claim
    finding: Finding


class MatchTruth:
    """What happened in a match, half by half."""

    def __init__(self, halves: Mapping[int, Sequence[Deed]]) -> None:
        self._facts: list[tuple[tuple[int, float], Fact, bool]] = []
        self._labels: list[tuple[tuple[int, float], Tally]] = []
        tally = Tally()
        for half in sorted(halves):
            deeds = halves[half]
            for place, deed in enumerate(deeds):
                at = (half, deed.at)
                restart = restart_after(deeds, place) if deed.kind == "ball_out" else None
                for fact in facts_of_deed(deed, first=place == 0, restart=restart):
                    self._facts.append((at, fact, deed.kind != "ball_out"))  # a restart counts when it is taken
                if deed.label is not None:
                    when = MatchTime(half, deed.at)
                    action = Action(label=deed.label, side=deed.label_side, at=when, available_at=when)
                    tally = tally.plus(action)
                    self._labels.append((at, tally))
        self._times = [each[0] for each in self._facts]
        self._label_times = [each[0] for each in self._labels]

    def truths(self, half: int, start: float, end: float, *, lead: float = 0.0) -> list[Truth]:
        """The truth of the seconds from `start` to `end`, as it stood at each moment that a line may speak from."""
        first, last = (bisect_right(self._times, (half, each)) for each in (start - lead - 1e-6, end))
        facts = tuple(fact for _, fact, _ in self._facts[first:last])
        moments = [at[1] for at in self._label_times if at[0] == half and start <= at[1] <= end]
        found = []
        for moment in dict.fromkeys((end, *reversed(moments))):
            past = tuple(fact for _, fact, counts in self._facts[: bisect_right(self._times, (half, moment))] if counts)
            known = bisect_right(self._label_times, (half, moment))
            tally = self._labels[known - 1][1] if known else Tally()
            found.append(Truth(facts=facts, tally=tally, past=past, complete=True, at=(half, moment)))
        return found


class TruthBook:
    """Truth files of a folder of games, read as they are asked for: `<match>/<half>_truth.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, MatchTruth] = {}

    def has(self, match: str) -> bool:
        return any((self.folder / match).glob("*_truth.jsonl"))

    def match(self, match: str) -> MatchTruth:
        if match not in self._known:
            files = sorted((self.folder / match).glob("*_truth.jsonl"))
            if not files:
                raise DataError(
                    "has no truth files", where=self.folder / match, remedy="name the folder that holds the games"
                )
            self._known[match] = MatchTruth({int(each.name.split("_")[0]): read_truth(each) for each in files})
        return self._known[match]


def judge(line: Line, truth: MatchTruth) -> Iterator[Judged]:
    """Every claim of a line, settled."""
    half, end = line.cutoff.half, line.cutoff.seconds
    if line.track is Track.RECENT or line.start is None:
        truths = truth.truths(half, max(0.0, end - LOCAL_SECONDS), end)[:1]
    else:
        truths = truth.truths(half, line.start, end, lead=LEAD)
    for claim in claims(line.text, placeholders=line.placeholders):
        yield Judged(line=line.id, match=line.match, track=line.track, claim=claim, finding=_settle(claim, truths))


def _settle(claim: Claim, truths: Sequence[Truth]) -> Finding:
    """True if it holds at one of the moments, false if it is contradicted at one and holds at none."""
    findings = {check(each, truth) for truth in truths for each in _meant(claim, truth)}
    return next((each for each in (Finding.AGREES, Finding.CONTRADICTS) if each in findings), Finding.UNKNOWN)


def _meant(claim: Claim, truth: Truth) -> list[Claim]:
    """The claim itself; where it counts for a player without a name, one for each who may be meant."""
    if claim.kind is not Kind.COUNT or not claim.by_player or claim.player:
        return [claim]
    names = {each.player for each in truth.facts if each.player and claim.side in (Side.NONE, each.side)}
    return [replace(claim, player=name) for name in sorted(names)] or [claim]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactScores:
    """How the claims of some lines fared."""

    lines: int
    true: int
    false: int
    unknown: int
    precision: float
    checkable: float  # claims that could be settled, a line
    by_kind: dict[str, dict[str, int]] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return {
            "lines": self.lines,
            "true": self.true,
            "false": self.false,
            "unknown": self.unknown,
            "precision": self.precision,
            "checkable": self.checkable,
            "by_kind": self.by_kind,
            "intervals": {name: each.to_json() for name, each in self.intervals.items()},
        }


def score_facts(
    lines: Sequence[Line], book: TruthBook, *, replicates: int = 10_000, seed: int = 0
) -> tuple[FactScores, list[Judged]]:
    """The scores of these lines with their intervals, and every claim with its finding."""
    if not lines:
        raise DataError("there is no line to settle")
    judged: list[Judged] = []
    rows = np.zeros((len(lines), 3))
    for place, line in enumerate(lines):
        found = list(judge(line, book.match(line.match)))
        judged.extend(found)
        rows[place] = fact_row(found)
    true, false = int(rows[:, 0].sum()), int(rows[:, 1].sum())
    kinds: dict[str, dict[Finding, int]] = {}
    for each in judged:
        kinds.setdefault(kind_of(each.claim), dict.fromkeys(Finding, 0))[each.finding] += 1
    matches = [each.match for each in lines]
    intervals: dict[str, Interval] = {}
    if len(set(matches)) > 1 and true + false:
        for name, combine in (("precision", precision_of_sums), ("checkable", checkable_of_sums)):
            intervals[name] = cluster_interval(
                rows, clusters=matches, combine=combine, replicates=replicates, seed=seed
            )
    scores = FactScores(
        lines=len(lines),
        true=true,
        false=false,
        unknown=len(judged) - true - false,
        precision=true / (true + false) if true + false else 0.0,
        checkable=(true + false) / len(lines),
        by_kind={name: {each.value: count for each, count in kinds[name].items()} for name in sorted(kinds)},
        intervals=intervals,
    )
    return scores, judged


def kind_of(claim: Claim) -> str:
    """What sort of thing is claimed, and of which act: 'action: shot'."""
    return claim.kind.value if claim.act is None else f"{claim.kind.value}: {claim.act.value}"


def fact_row(judged: Sequence[Judged]) -> tuple[float, float, float]:
    """What a line adds to the sums: claims that agree, claims that contradict, and the line itself."""
    right = sum(each.finding is Finding.AGREES for each in judged)
    wrong = sum(each.finding is Finding.CONTRADICTS for each in judged)
    return float(right), float(wrong), 1.0


def precision_of_sums(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 0] + sums[..., 1], 1.0))


def checkable_of_sums(sums: Floats) -> Floats:
    return np.asarray((sums[..., 0] + sums[..., 1]) / sums[..., 2])

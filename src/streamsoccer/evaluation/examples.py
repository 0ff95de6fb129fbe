"""Outputs to be read by people: so many of each track drawn by lot, and the best and the worst of those for a card.

Good and bad are told by the truth and then by the reference: claims that contradict the truth, claims that agree, words
shared with the reference. Both ends are of the lines drawn by lot, so that they show what is usual, not what is rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamsoccer.clock import MatchTime, format_seconds
from streamsoccer.errors import UsageError
from streamsoccer.evaluation.facts import Judged, TruthBook, judge
from streamsoccer.evaluation.interventions import chance_of
from streamsoccer.evaluation.predictions import Prediction, name_of, read_header, read_predictions
from streamsoccer.evaluation.replay_scores import TRACKS, line_of
from streamsoccer.prompt import marked
from streamsoccer.settle import Finding
from streamsoccer.training.measures import token_f1

__all__ = ["Example", "draw", "write_examples"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One line with its claims, settled."""

    said: Prediction
    judged: tuple[Judged, ...]

    @property
    def wrong(self) -> list[Judged]:
        return [each for each in self.judged if each.finding is Finding.CONTRADICTS]

    @property
    def right(self) -> list[Judged]:
        return [each for each in self.judged if each.finding is Finding.AGREES]

    @property
    def merit(self) -> tuple[bool, int, int, float]:
        """The larger the better."""
        words = token_f1(self.said.text.split(), self.said.reference.split())
        return bool(self.said.text), -len(self.wrong), len(self.right), words

    def to_markdown(self) -> Iterator[str]:
        said = self.said
        at = f"half {said.cutoff.half}, {format_seconds(said.cutoff.seconds)}"
        yield f"- **{marked(said.text, said.placeholders) or '(nothing)'}**"
        yield f"  - {said.match.rsplit('/', 1)[-1]}, {at}{'' if said.on_event else '; said from another event'}"
        yield f"  - reference: {marked(said.reference, said.reference_placeholders)}"
        for each in self.judged:
            yield f"  - {each.finding.value}: {each.claim.kind.value} “{each.claim.text}”"
        for name, text in said.records:
            yield f"  - record {name.rsplit('#', 1)[-1]}: {text}"


def draw(lines: Sequence[Prediction], book: TruthBook, count: int, *, seed: int = 0) -> list[Example]:
    """So many lines by lot, the same for the same seed, in order of time."""
    order = sorted(lines, key=lambda each: float(chance_of("read", str(seed), each.id).random()))
    chosen = sorted(order[:count], key=_when)
    return [Example(said=each, judged=tuple(judge(line_of(each), book.match(each.match)))) for each in chosen]


def _when(each: Prediction) -> tuple[str, MatchTime]:
    return each.match, each.cutoff


def write_examples(
    folders: Sequence[Path], league: Path, out: Path, *, condition: str, count: int = 50, ends: int = 10, seed: int = 0
) -> list[Path]:
    """`<track>.md` with lines to be read, and `card.md` with the best and the worst of each track."""
    if 2 * ends > count:
        raise UsageError(f"{ends} good and {ends} bad lines of {count}", remedy="draw more, or show fewer")
    book = TruthBook(league)
    tracks: dict[str, list[Prediction]] = {}
    for folder in folders:
        read_header(folder)
        for each in read_predictions(folder / name_of(condition)):
            tracks.setdefault(each.track, []).append(each)
    out.mkdir(parents=True, exist_ok=True)
    made, card = [], []
    for track in (each for each in TRACKS if each in tracks):
        drawn = draw(tracks[track], book, count, seed=seed)
        made.append(out / f"{track}.md")
        _write(made[-1], [f"# {track}: {len(drawn)} of {len(tracks[track])} lines", "", *_all(drawn)])
        ranked = sorted(drawn, key=lambda each: each.merit, reverse=True)
        for name, part in (("good", ranked[:ends]), ("bad", ranked[::-1][:ends])):
            card += [f"### {track}: {name}", "", *_all(part), ""]
    made.append(out / "card.md")
    _write(made[-1], card)
    return made


def _all(examples: Sequence[Example]) -> Iterator[str]:
    for each in examples:
        yield from each.to_markdown()


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")

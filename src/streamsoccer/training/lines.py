"""Text for pre-training: what is asked and said in the prompt profile, from manifests of matches that need no video.

Where a soft prefix will stand later, a hint in words stands here, or nothing: the events of the memories, newest first.
So the language model knows the profile and can say an event before it has ever seen a memory of one.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.data.manifests import read_events, read_records, read_samples
from streamsoccer.domain import EventRow, RecordRow, SampleRow, Side, Split, Track
from streamsoccer.errors import DataError
from streamsoccer.language import Prompt
from streamsoccer.prompt import Prompter, marked
from streamsoccer.record import MatchContext, Record
from streamsoccer.training.foundation import upload

__all__ = ["Line", "Lines", "read_lines", "texts"]

Encode = Callable[[str], tuple[int, ...]]
_RECORDS = 3  # in a prompt of the historical track, as in a match


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A prompt, the hint that may stand in its middle, and what is said."""

    prompt: Prompt
    hint: tuple[int, ...]
    target: tuple[int, ...]


def texts(build: Path, *, sided: bool) -> list[str]:
    """Every caption and every target once, as the prompts have them, for the tokenizer."""
    found = [(each.text, each.placeholders) for each in read_records(build)]
    found += [(each.target, each.placeholders) for each in read_samples(build)]
    return sorted({marked(text, places) if sided else text for text, places in found})


def read_lines(build: Path, prompter: Prompter, encode: Encode, split: Split | None = None) -> list[Line]:
    """One line for each record and each sample of a split, or of all."""
    events = {each.id: each for each in read_events(build)}
    records = {each.id: each for each in read_records(build)}
    made = [_record(each, events, prompter, encode) for each in records.values() if split in (None, each.split)]
    for sample in read_samples(build):
        if split in (None, sample.split):
            made.append(_sample(sample, events, records, prompter, encode))
    if not made:
        raise DataError("holds no record and no sample to learn words from", where=build)
    return made


def _record(row: RecordRow, events: Mapping[str, EventRow], prompter: Prompter, encode: Encode) -> Line:
    return Line(
        prompt=prompter.record(MatchContext(at=row.available_at, tally=row.state)),
        hint=encode(_hint([events[row.event]])),
        target=prompter.target(row.text, row.placeholders, caption=True),
    )


def _sample(
    row: SampleRow,
    events: Mapping[str, EventRow],
    records: Mapping[str, RecordRow],
    prompter: Prompter,
    encode: Encode,
) -> Line:
    names = [row.event] if row.track is Track.CURRENT else [*([row.active] if row.active else []), *row.local[::-1]]
    recalled: list[Record] = []
    if row.track is Track.HISTORICAL:
        chosen = list(dict.fromkeys([*row.positives, *row.hard_negatives, *row.candidates]))[:_RECORDS]
        # In an order that tells nothing: what comes first need not be what is spoken of.
        chosen.sort(key=lambda each: zlib.crc32(f"{row.id} {each}".encode()))
        recalled = [_recalled(records[each]) for each in chosen]
    prompt, _ = prompter.commentary(row.track, MatchContext(at=row.cutoff, tally=row.state), recalled)
    return Line(
        prompt=prompt,
        hint=encode(_hint([events[each] for each in names if each in events])),
        target=prompter.target(row.target, row.placeholders),
    )


def _recalled(row: RecordRow) -> Record:
    return Record(
        id=row.id,
        event=row.event,
        match=row.match,
        half=row.half,
        start=row.start,
        end=row.end,
        ready_at=row.available_at,
        type=row.type,
        actions=row.actions,
        side=row.side,
        context=MatchContext(at=row.available_at),
        text=row.text,
        placeholders=row.placeholders,
        key=np.zeros(0, dtype=np.float32),
    )


def _hint(events: Sequence[EventRow]) -> str:
    """'home corner, shots on target; open play': side and actions of each event."""

    def said(event: EventRow) -> str:
        actions = [each.label.value.lower() for each in event.actions] or [event.type.value.replace("_", " ")]
        side = [] if event.side is Side.NONE else [event.side.value]
        return " ".join([*side, ", ".join(dict.fromkeys(actions))])

    return "; ".join(said(each) for each in events)


class Lines:
    """The lines as tensors, batch after batch; a part of the prompts carries their hint.

    A batch holds lines of one length: of each of `lengths` those that fit there and nowhere shorter, as many as make
    the same number of tokens. All lines are as likely.
    """

    def __init__(self, lines: Sequence[Line], lengths: Sequence[int], hinted: float) -> None:
        self.lengths, self.hinted = sorted(lengths), hinted
        sizes = [_length(each) for each in lines]
        edges = itertools.pairwise([0, *self.lengths])
        kept = [
            (high, [line for line, size in zip(lines, sizes, strict=True) if low < size <= high]) for low, high in edges
        ]
        self.buckets = [(length, held) for length, held in kept if held]
        self.dropped = len(lines) - sum(len(held) for _, held in self.buckets)
        if not self.buckets:
            raise DataError(
                f"every line of text is longer than {self.lengths[-1]} tokens",
                remedy="raise text_lengths in its recipe",
            )

    def batch(self, rows: int, random: np.random.Generator, device: torch.device) -> tuple[Tensor, Tensor]:
        """Token ids [R, L] and what each is to be followed by, -100 where nothing is asked; `rows` of the shortest."""
        weights = np.array([len(held) / self._rows(rows, length) for length, held in self.buckets])
        length, held = self.buckets[int(random.choice(len(weights), p=weights / weights.sum()))]
        chosen = random.integers(len(held), size=self._rows(rows, length))
        return _tensors([held[each] for each in chosen], random.random(len(chosen)) < self.hinted, length, device)

    def every(self, rows: int, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
        """All lines, the short ones first, with their hints."""
        for length, held in self.buckets:
            for begin in range(0, len(held), self._rows(rows, length)):
                some = held[begin : begin + self._rows(rows, length)]
                yield _tensors(some, np.ones(len(some), dtype=bool), length, device)

    def shapes(self, rows: int, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
        """A batch of each shape."""
        for length, held in self.buckets:
            some = [held[0]] * self._rows(rows, length)
            yield _tensors(some, np.ones(len(some), dtype=bool), length, device)

    def _rows(self, rows: int, length: int) -> int:
        return max(1, rows * self.lengths[0] // length)


def _length(line: Line) -> int:
    return len(line.prompt.before) + len(line.hint) + len(line.prompt.after) + len(line.target) - 1


def _tensors(
    lines: Sequence[Line], hinted: NDArray[np.bool_], length: int, device: torch.device
) -> tuple[Tensor, Tensor]:
    ids = np.zeros((len(lines), length), dtype=np.int64)
    targets = np.full((len(lines), length), -100, dtype=np.int64)
    for place, (line, hint) in enumerate(zip(lines, hinted, strict=True)):
        asked = [*line.prompt.before, *(line.hint if hint else ()), *line.prompt.after]
        row = [*asked, *line.target]
        ids[place, : len(row) - 1] = row[:-1]
        targets[place, len(asked) - 1 : len(row) - 1] = line.target
    return upload(ids, device), upload(targets, device)

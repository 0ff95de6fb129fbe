"""Lines without a model that speaks: a training line of the same class, and the line of the nearest training memory.

The class of an anchor is the action that it is about: in `taught` contexts the labels' own, in `own` contexts what the
heads read off the event that had just closed. Nearest is by cosine over whole memories, each of their numbers
standardised over the training set; the line is that of the training anchor with this memory.

N training lines, W = K * D numbers of a memory
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from streamsoccer.domain import EventRow, Placeholder, SampleRow, Split, Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.interventions import chance_of
from streamsoccer.evaluation.memories import gather, label_place
from streamsoccer.evaluation.predictions import RECORD
from streamsoccer.training.contexts import Place
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.recipe import Representation

__all__ = ["Asked", "TrainingLines", "class_of"]

Said = tuple[str, tuple[Placeholder, ...]]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Asked:
    """An anchor that a line is to be found for."""

    id: str
    track: str
    kind: str  # the action that it is about
    memory: Tensor | None = None  # [K, D], of the event that it is about


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Line:
    kind: str
    said: Said
    place: Place


def class_of(sample: SampleRow, event: EventRow) -> str:
    """The action that a sample is about: a summary is about the event that it comes after."""
    told = sample.fields.get("action")
    return str(told) if told is not None else "" if event.primary is None else event.primary.value


class TrainingLines:
    """All targets of the training matches, track by track."""

    def __init__(self, corpus: Corpus, *, legacy: bool = False) -> None:
        """`legacy`: the records' own split of the representation benchmark."""
        self._lines: dict[str, list[_Line]] = {name: [] for name in (*(each.value for each in Track), RECORD)}
        for sample in corpus.samples.values():
            if sample.split is Split.TRAIN:
                event = corpus.event(sample.event, sample.id)
                line = _Line(
                    kind=class_of(sample, event), said=(sample.target, sample.placeholders), place=label_place(event)
                )
                self._lines[sample.track.value].append(line)
        for row in corpus.records.values():
            if (row.legacy_split if legacy else row.split) is Split.TRAIN:
                event = corpus.event(row.event, row.id)
                line = _Line(kind=row.spoken.label.value, said=(row.text, row.placeholders), place=label_place(event))
                self._lines[RECORD].append(line)
        self._memories: dict[str, tuple[list[_Line], Tensor, Tensor, Tensor]] = {}

    def of(self, track: str) -> list[_Line]:
        if not (found := self._lines[track]):
            raise DataError(f"there is no training line of the {track} track", remedy="build more matches")
        return found

    def random(self, asked: Sequence[Asked]) -> list[Said]:
        """A training line of the same class, drawn by the anchor's ID; of any class where there is none of it."""
        tables = {track: self._by_kind(track) for track in {each.track for each in asked}}
        found = []
        for each in asked:
            pool = tables[each.track].get(each.kind) or self.of(each.track)
            found.append(pool[int(chance_of("random", each.id).integers(len(pool)))].said)
        return found

    def _by_kind(self, track: str) -> dict[str, list[_Line]]:
        found: dict[str, list[_Line]] = {}
        for line in self.of(track):
            found.setdefault(line.kind, []).append(line)
        return found

    def nearest(
        self, asked: Sequence[Asked], cache: MemoryCache, representation: Representation, together: int = 256
    ) -> list[Said]:
        """The line of the training anchor whose memory is nearest."""
        found: list[Said] = [("", ())] * len(asked)
        for track in dict.fromkeys(each.track for each in asked):
            mine = [place for place, each in enumerate(asked) if each.track == track and each.memory is not None]
            for begin in range(0, len(mine), together):
                group = mine[begin : begin + together]
                query = torch.stack([each for each in (asked[at].memory for at in group) if each is not None])
                lines, table, mean, scale = self._table(track, cache, representation, query.device)
                query = F.normalize((query.float().flatten(1) - mean) / scale, dim=-1)
                best = (query @ table.T).argmax(-1).tolist()
                for at, which in zip(group, best, strict=True):
                    found[at] = lines[which].said
        return found

    def _table(
        self, track: str, cache: MemoryCache, representation: Representation, device: torch.device
    ) -> tuple[list[_Line], Tensor, Tensor, Tensor]:
        """Standardised training memories [N, W] of those matches that the cache holds, with mean and scale [W]."""
        if track not in self._memories:
            lines = [each for each in self.of(track) if cache.has(each.place.match, each.place.half)]
            if not lines:
                raise DataError(
                    "holds no training match to look for the nearest line in",
                    where=cache.folder,
                    remedy="run `streamsoccer train cache-memory` for the train split, or leave out `nearest`",
                )
            where, memories = gather(cache, [each.place for each in lines], representation)
            wide = memories[[where[each.place] for each in lines]].flatten(1).to(device)
            mean, scale = wide.mean(0), wide.std(0, correction=0) + 1e-4
            self._memories[track] = lines, F.normalize((wide - mean) / scale, dim=-1), mean, scale
        return self._memories[track]

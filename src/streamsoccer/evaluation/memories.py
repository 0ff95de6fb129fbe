"""Memories of a memory cache for evaluation: many at once, and the mean of the training events.

n distinct memories, K slots, D = d_m
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

from streamsoccer.domain import EventRow, Split
from streamsoccer.errors import DataError
from streamsoccer.training.contexts import Place
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.recipe import Representation

__all__ = ["gather", "label_place", "mean_memory", "train_matches"]


def label_place(event: EventRow) -> Place:
    """Where the memory of one of the labels' events is."""
    return Place(match=event.match, half=event.half, first=event.first, last=event.first + event.clips - 1)


def train_matches(corpus: Corpus) -> int:
    return len({half.match for half in corpus.halves.values() if half.split is Split.TRAIN})


def gather(
    cache: MemoryCache, places: Iterable[Place], representation: Representation
) -> tuple[dict[Place, int], Tensor]:
    """All these memories as one tensor [n, K, D], and where each stands."""
    groups: dict[tuple[str, int, str], list[Place]] = defaultdict(list)
    for place in set(places):
        groups[place.match, place.half, place.run].append(place)
    where: dict[Place, int] = {}
    found: list[Tensor] = []
    for (match, half, run), mine in sorted(groups.items()):
        mine.sort(key=lambda each: (each.first, each.last))
        for each in mine:
            where[each] = len(where)
        if representation is Representation.RECURRENT:
            found.append(cache.signal(match, half, f"memory.{run}")[[each.last for each in mine]].float())
        else:
            pooled = [
                cache.memory(match, half, each.first, each.last, run=run, representation=representation)
                for each in mine
            ]
            found.append(torch.stack(pooled))
    if not found:
        raise DataError("there is no memory to speak from", where=cache.folder)
    return where, torch.cat(found)


def mean_memory(cache: MemoryCache, corpus: Corpus, representation: Representation, most: int = 2000) -> Tensor:
    """The mean of the training events' memories [K, D], as far as the cache holds training matches."""
    events = [
        each
        for half in corpus.halves.values()
        if half.split is Split.TRAIN and cache.has(half.match, half.half)
        for each in half.events
    ]
    if not events:
        raise DataError(
            "holds no training match, whose mean memory stands for none",
            where=cache.folder,
            remedy="run `streamsoccer train cache-memory` for the train split, or leave out `blind`",
        )
    chosen = [events[place * len(events) // most] for place in range(most)] if len(events) > most else events
    return gather(cache, map(label_place, chosen), representation)[1].mean(0)

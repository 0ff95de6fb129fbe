"""Named changes to a context, each of which changes what it names and nothing else.

blind              the language model without video: mean memories, no records, no state that video gave
shuffled           memories of an anchor of another match, in place of its own; the prompt stays
records-ranked     historical records as the retrieval heads rank them: of the own ledger, or of the candidates
records-reference  the latest positive reference record first, others after it (the paper's oracle)
records-hard       the matched hard negatives
records-none       no record at all
records-other      as many records as there were, told of another match at the same moments
random             no model: a training line of the same class, drawn by the anchor's ID
nearest            no model: the training line whose memory is nearest to the anchor's
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from streamsoccer.errors import UsageError
from streamsoccer.record import Record

__all__ = ["Change", "chance_of", "parse_changes", "partners", "retold"]


class Change(StrEnum):
    """What alone is different; NONE is the condition itself."""

    NONE = ""
    BLIND = "blind"
    SHUFFLED = "shuffled"
    RANKED = "records-ranked"
    REFERENCE = "records-reference"
    HARD = "records-hard"
    NO_RECORDS = "records-none"
    OTHER = "records-other"
    RANDOM = "random"
    NEAREST = "nearest"

    @property
    def of_records(self) -> bool:
        """Whether it is about the records of the historical track alone."""
        return self.value.startswith("records-")

    @property
    def wordless(self) -> bool:
        """Whether the model says nothing: the line is one of the training set."""
        return self in (Change.RANDOM, Change.NEAREST)


def parse_changes(text: str) -> tuple[Change, ...]:
    """'blind,shuffled' or 'all'; the condition itself is always there."""
    if text.strip() == "all":
        return tuple(Change)
    names = [each.strip() for each in text.split(",") if each.strip()]
    for name in names:
        if name not in list(Change):
            known = ", ".join(each for each in Change if each)
            raise UsageError(f"there is no intervention {name!r}", remedy=f"use all, or some of {known}")
    return tuple(dict.fromkeys([Change.NONE, *(Change(each) for each in names)]))


def chance_of(*words: str) -> np.random.Generator:
    """Random numbers that these words give, the same on every machine."""
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def partners(ids: Sequence[str], matches: Sequence[str]) -> list[int]:
    """For each anchor the place of another one, of another match wherever there is one; drawn by its ID."""
    if len(set(ids)) < 2:
        raise UsageError("one anchor cannot be shuffled", remedy="take two or more")
    found = []
    for place, (name, match) in enumerate(zip(ids, matches, strict=True)):
        pool = [other for other, each in enumerate(matches) if each != match]
        pool = pool or [other for other in range(len(ids)) if other != place]
        found.append(pool[int(chance_of("shuffled", name).integers(len(pool)))])
    return found


def retold(mine: Sequence[Record], strangers: Sequence[Record], name: str) -> tuple[Record, ...]:
    """As many records as `mine`, in their places and moments, that tell what was done in other matches."""
    others = [each for each in strangers if not mine or each.match != mine[0].match]
    if not mine or not others:
        return ()
    drawn = chance_of("other", name).permutation(len(others))
    return tuple(
        replace(
            others[int(drawn[place % len(drawn)])],
            id=f"{others[int(drawn[place % len(drawn)])].id} for {each.id}",
            half=each.half,
            start=each.start,
            end=each.end,
            ready_at=each.ready_at,
            context=each.context,
        )
        for place, each in enumerate(mine)
    )

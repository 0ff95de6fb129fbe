"""Z_t and the prompt of each commentary mode (paper eq. commentary_context), and what a sentence was said from.

    current              Z_t = P(M_j^c)            the completed memory alone
    recent, historical   Z_t = P([M_t; B_t^sel])   the active memory and the selected local memories, newest first
    historical           and the retrieved records R_t as text of the prompt

`Scope` narrows it to the paper's separately trained variants (table memory_scope_analysis). Everything that comes into
a context goes through `Cutoff.admit`: what was not available raises FutureLeak.

Shapes: K_m tokens of a memory (9), d_m their width (1024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import Placeholder, Track
from streamsoccer.errors import StreamSoccerError
from streamsoccer.prompt import Prompter, unsided
from streamsoccer.record import MatchContext, Record

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.language import Prompt

__all__ = ["ActiveMemory", "Context", "MemoryGate", "NoMemory", "Scope", "Utterance", "build_context"]


class NoMemory(StreamSoccerError):
    """A commentary was asked for at a moment that has no memory to speak from."""


class Scope(StrEnum):
    """How far a variant may look back."""

    CURRENT = "current"  # the current memory alone, on every track
    LOCAL = "local"  # and the local buffer
    FULL = "full"  # and the historical records

    def within(self, needed: Track) -> Scope:
        """What of this scope is open to a line that needs this track's context."""
        order = list(Scope)
        return order[min(order.index(self), list(Track).index(needed))]


class MemoryGate(StrEnum):
    """Who opens the memory contexts of a line. The paper's runs have the rule."""

    RULE = "rule"  # its track
    LEARNED = "learned"  # the route head: of what the track has, the context that it asks for


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ActiveMemory:
    """M_t: the state of the event that is going on, as of the last clip that it has taken in."""

    tokens: Tensor  # [K_m, d_m]
    start: MatchTime
    available_at: MatchTime  # the end of that clip
    event: str = ""  # the ID that the event will have


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    """One sentence y_t and all that it was said from."""

    track: Track
    cutoff: MatchTime
    text: str  # with the field's plain placeholders: names come later
    placeholders: tuple[Placeholder, ...] = ()
    events: tuple[str, ...] = ()  # events whose memories stood in the soft prefix, newest first
    records: tuple[str, ...] = ()  # records that stood in the prompt, best first
    dropped: int = 0  # retrieved records that the prompt had no room for


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Context:
    """What the generator is given for one sentence: memories for the projector, and the prompt around its prefix."""

    track: Track
    cutoff: Cutoff
    memories: tuple[Tensor, ...]  # each [K_m, d_m], newest first: the active one, or the completed one for current
    prompt: Prompt
    records: tuple[Record, ...] = ()  # those that stand in the prompt, best first
    events: tuple[str, ...] = ()  # those of the memories that have an ID, in their order
    dropped: int = 0

    def utterance(self, generated: str) -> Utterance | None:
        """The sentence with its provenance; nothing where the generator said nothing."""
        text, placeholders = unsided(" ".join(generated.split()))
        if not any(each.isalnum() for each in text):
            return None
        return Utterance(
            track=self.track,
            cutoff=self.cutoff.at,
            text=text,
            placeholders=placeholders,
            events=self.events,
            records=tuple(each.id for each in self.records),
            dropped=self.dropped,
        )


def build_context(
    track: Track,
    cutoff: Cutoff,
    *,
    active: ActiveMemory | None,
    completed: CompletedMemory | None,
    selected: Sequence[CompletedMemory] = (),
    records: Sequence[Record] = (),
    context: MatchContext,
    prompter: Prompter,
    scope: Scope = Scope.FULL,
) -> Context:
    """The context that this mode allows, and no more: `selected` oldest first, as the buffer gives them, `records` best
    first. What a mode or a scope has no use for is left out, but it is admitted all the same: the future is never near.

    Without an active memory, as at the end of a half, the local ones stand alone, or the completed one without those.
    """
    for fact in (active, completed, *selected, *records, context):
        if fact is not None:
            cutoff.admit(fact)
    memories: list[ActiveMemory | CompletedMemory] = []
    if track is Track.CURRENT:
        if completed is None:
            raise NoMemory("the current track needs an event that has just been completed", where=str(cutoff.at))
        memories.append(completed)
    else:
        if active is not None:
            memories.append(active)
        if scope is not Scope.CURRENT:
            memories.extend(reversed(selected))
        if not memories and completed is not None:
            memories.append(completed)
        if not memories:
            raise NoMemory(f"the {track.value} track has neither an active nor a local memory", where=str(cutoff.at))
    usable = records if track is Track.HISTORICAL and scope is Scope.FULL else ()
    prompt, dropped = prompter.commentary(track, context, usable)
    return Context(
        track=track,
        cutoff=cutoff,
        memories=tuple(each.tokens for each in memories),
        prompt=prompt,
        records=tuple(usable[: len(usable) - dropped]),
        events=tuple(each.event for each in memories if each.event),
        dropped=dropped,
    )

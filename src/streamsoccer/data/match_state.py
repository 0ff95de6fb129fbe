"""The causal match state: a fold over the actions, each counted from the end of its own clip on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from streamsoccer.clock import MatchTime
from streamsoccer.domain import Action, Tally

__all__ = ["Timeline"]


class Timeline:
    """Score, cards, substitutions and counts at any cutoff of a match; half time does not set anything back."""

    def __init__(self, actions: Iterable[Action]) -> None:
        ordered = sorted(actions, key=lambda each: (each.available_at, each.at))
        self._since = [each.available_at for each in ordered]
        self._states = [Tally()]
        for action in ordered:
            self._states.append(self._states[-1].plus(action))

    def at(self, cutoff: MatchTime) -> Tally:
        """What is known at the cutoff, and nothing that happened later."""
        return self._states[bisect_right(self._since, cutoff)]

"""A generator that says what a script says: for tests of all that becomes of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamsoccer.voice import BREAKS, Asked, Given, Voice

__all__ = ["ScriptedVoice"]


class ScriptedVoice(Voice):
    """`script` gets each request and how many came before it; what it raises is the failure of that request alone."""

    def __init__(self, script: Callable[[Asked, int], str | Given]) -> None:
        self._script = script
        self.batches: list[tuple[Asked, ...]] = []

    def say(self, asked: Sequence[Asked]) -> list[Given]:
        before = sum(map(len, self.batches))
        self.batches.append(tuple(asked))
        return [self._given(one, before + place) for place, one in enumerate(asked)]

    def _given(self, asked: Asked, place: int) -> Given:
        try:
            said = self._script(asked, place)
        except BREAKS as error:
            return Given(problem=f"{type(error).__name__}: {error}")
        return said if isinstance(said, Given) else Given(text=said)

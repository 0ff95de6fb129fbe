"""One thing to tell of a half, and the half as the rules that find such things look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamsoccer.actions import CaptionClass
from streamsoccer.domain import Side
from streamsoccer.league.truth import Deed, DeedKind, Trace

__all__ = ["Moment", "View", "Who", "aim_of", "awarded", "doer", "named", "partner", "third_of", "who_is"]

Who = tuple[Side, int]  # a player: his side and his place in its squad


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """One thing to tell."""

    kind: CaptionClass
    at: float  # when it happened
    known: float  # when all of it is known
    side: Side  # whose moment it is: the phrases' {T}
    deeds: tuple[int, ...]  # the deeds that it is about, by their place in the half
    people: Mapping[str, Who] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    worth: float = 1.0  # how much better than others of its kind


@dataclass(slots=True)
class View:
    trace: Trace
    deeds: tuple[Deed, ...]
    used: set[int] = field(default_factory=set)  # clearances and crosses that another moment already tells

    def after(self, place: int, within: float) -> Iterator[tuple[int, Deed]]:
        """The deeds that follow, in order, up to so many seconds later."""
        for at in range(place + 1, len(self.deeds)):
            if self.deeds[at].at > self.deeds[place].at + within:
                return
            yield at, self.deeds[at]

    def before(self, place: int, within: float) -> Iterator[tuple[int, Deed]]:
        """The deeds in front, the latest first."""
        for at in range(place - 1, -1, -1):
            if self.deeds[at].at < self.deeds[place].at - within:
                return
            yield at, self.deeds[at]

    def attack(self, side: Side) -> int:
        """The direction in which a side attacks."""
        return self.trace.home_attacks if side is Side.HOME else -self.trace.home_attacks

    def keeper(self, side: Side, step: int) -> Who | None:
        number = self.trace.player_at(0 if side is Side.HOME else 11, step)
        return None if number is None else (side, number)


def awarded(half: Trace, deed: Deed) -> tuple[DeedKind, Side]:
    """Which restart a ball out of play gives, and to whom, by the laws."""
    if deed.detail.get("line") != "goal":
        return DeedKind.THROW_IN, deed.side.other
    end = 1 if deed.place[0] > 0 else -1
    defending = Side.AWAY if half.home_attacks == end else Side.HOME
    return (DeedKind.CORNER, defending.other) if deed.side is defending else (DeedKind.GOAL_KICK, defending)


def who_is(side: Side, player: int | None) -> dict[str, Who]:
    return {} if player is None else {"P": (side, player)}


def named(**people: Who | None) -> dict[str, Who]:
    return {key: who for key, who in people.items() if who is not None}


def doer(deed: Deed) -> Who | None:
    return None if deed.player is None else (deed.side, deed.player)


def partner(deed: Deed) -> Who | None:
    return None if deed.other is None or deed.other_side is Side.NONE else (deed.other_side, deed.other)


def aim_of(across: float, middle: float) -> str:
    """Left or right as the attacking side sees it."""
    return "middle" if abs(across) < middle else "left" if across > 0 else "right"


def third_of(half: View, deed: Deed, side: Side) -> str:
    """In which third of the pitch, as that side sees it."""
    x = deed.place[0] * half.attack(side)
    return "attacking" if x > 17.5 else "defensive" if x < -17.5 else "middle"

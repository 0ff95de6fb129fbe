"""What a match remembers from half to half: score, tallies, cards, who stands in which slot, and tired legs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from streamsoccer.league.truth import Tallies
from streamsoccer.league.world import Club, Fixture, SquadPlayer

__all__ = ["Ledger", "Team"]

MAX_SUBSTITUTIONS = 3


@dataclass(kw_only=True, slots=True)
class Team:
    """One side: the club, who of its squad stands in its eleven slots, and who may no longer play."""

    club: Club
    slots: list[int | None] = field(default_factory=lambda: list(range(11)))
    gone: set[int] = field(default_factory=set)  # taken off or sent off
    booked: set[int] = field(default_factory=set)
    stamina: list[float] = field(default_factory=lambda: [1.0] * 18)
    hurt: set[int] = field(default_factory=set)
    substitutions: int = 0
    # what the coach asks for now: -1 sit back, 1 all forward
    mentality: float = 0.0

    def player(self, place: int) -> SquadPlayer:
        number = self.slots[place]
        return self.club.squad[0 if number is None else number]

    @property
    def bench(self) -> list[int]:
        return [each for each in range(11, 18) if each not in self.gone and each not in self.slots]


@dataclass(kw_only=True, slots=True)
class Ledger:
    """The whole of it."""

    teams: tuple[Team, Team]
    score: tuple[int, int] = (0, 0)
    tallies: tuple[Tallies, Tallies] = (Tallies(), Tallies())
    sequence: int = 0

    @classmethod
    def start(cls, fixture: Fixture) -> Ledger:
        return cls(teams=(Team(club=fixture.home), Team(club=fixture.away)))

    def count(self, side: int, **more: int) -> None:
        """Add to a side's tallies."""
        mine = self.tallies[side]
        mine = replace(mine, **{name: getattr(mine, name) + n for name, n in more.items()})
        self.tallies = (mine, self.tallies[1]) if side == 0 else (self.tallies[0], mine)
        self.score = (self.tallies[0].goals, self.tallies[1].goals)

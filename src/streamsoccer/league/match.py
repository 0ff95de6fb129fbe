"""A whole match: who plays, the halves as traces, and clips straight from the simulation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from streamsoccer.clip import Clip
from streamsoccer.clock import MatchTime
from streamsoccer.errors import UsageError
from streamsoccer.league.half import play_half
from streamsoccer.league.ledger import Ledger
from streamsoccer.league.names import WorldName
from streamsoccer.league.truth import HZ, Trace
from streamsoccer.league.world import Fixture, fixture, stream

__all__ = ["Match"]


class Match:
    """One match, played when first asked for: the same seed gives the same match.

    `perturb_at` lets chance run otherwise from that moment on; nothing before it may change.
    `restyled` gives both sides clothes and a ground that they have nowhere else; they play the same.
    """

    def __init__(
        self,
        seed: int,
        *,
        world: WorldName | str = WorldName.TRAIN,
        minutes: float = 45,
        index: int = 0,
        perturb_at: MatchTime | None = None,
        restyled: bool = False,
    ) -> None:
        if seed < 0 or index < 0:
            raise UsageError(f"seed {seed} and index {index} must not be negative")
        if not 1 <= minutes <= 60:
            raise UsageError(f"a half of {minutes} minutes", remedy="--minutes takes 1 to 60")
        if world not in list(WorldName):
            raise UsageError(f"there is no world {world!r}", remedy="use " + ", ".join(WorldName))
        self.seed, self.minutes, self.perturb_at = seed, minutes, perturb_at
        self.fixture: Fixture = fixture(WorldName(world), seed, index, restyled=restyled)

    @cached_property
    def halves(self) -> tuple[Trace, Trace]:
        """Both halves, played in order."""
        ledger = Ledger.start(self.fixture)
        return self._half(ledger, 1), self._half(ledger, 2)

    @property
    def score(self) -> tuple[int, int]:
        """The final score."""
        return self.halves[1].deeds[-1].score

    @property
    def game(self) -> str:
        """The match's name in SoccerNet's layout: league/season/game; it tells the score, so the match is played."""
        home, away = self.score
        fixture = self.fixture
        return (
            f"{fixture.league}/{fixture.season}/{fixture.date} {fixture.home.name} {home} - {away} {fixture.away.name}"
        )

    def clips(self, size: tuple[int, int] = (398, 224)) -> Iterator[Clip]:
        """The clips of both halves straight from simulation and camera, with no video codec between."""
        from streamsoccer.league.broadcast import Broadcast

        broadcast = Broadcast(self.fixture, self.halves, size)
        for trace in self.halves:
            yield from broadcast.clips(trace.half)

    def _half(self, ledger: Ledger, half: int) -> Trace:
        purpose = (self.fixture.world.value, self.fixture.index, half)
        perturbed = None
        if self.perturb_at is not None and self.perturb_at.half == half:
            other = stream(self.seed, "perturbed", *purpose)
            perturbed = (round(self.perturb_at.seconds * HZ), other)
        return play_half(self.fixture, ledger, half, self.minutes, stream(self.seed, "play", *purpose), perturbed)

"""Who wears what in a match, and in which colours the light shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamsoccer.domain import Side
from streamsoccer.league.light import Air, shade
from streamsoccer.league.world import RGB, Fixture, Kit, Pattern, stream

__all__ = ["MARKED", "Outfit", "Wardrobe"]

_GLOVES: RGB = (236, 236, 226)
FAR = 0.76  # how bright limbs on the far side are
_PARTS = ("shirt", "second", "shorts", "socks", "skin", "hair", "boots", "sleeves", "forearm")
_SIDE = 16  # marks of the far side come after those of the near one


@dataclass(frozen=True, kw_only=True, slots=True)
class Outfit:
    """One person's colours in the light of the match, opaque; far limbs are darker."""

    shirt: tuple[int, ...]
    second: tuple[int, ...]
    shorts: tuple[int, ...]
    socks: tuple[int, ...]
    skin: tuple[int, ...]
    hair: tuple[int, ...]
    boots: tuple[int, ...]
    sleeves: tuple[int, ...]
    forearm: tuple[int, ...]
    hand: tuple[int, ...]
    ink: tuple[int, ...]
    pattern: Pattern
    number: int
    stature: float
    far: Outfit | None = None  # the same for limbs on the far side
    dark: Outfit | None = None  # the same in the stand's shade
    palette: NDArray[np.uint32] = field(init=False, repr=False, compare=False)  # the colour of each mark, RGBA

    def __post_init__(self) -> None:
        colours = np.zeros((2 * _SIDE, 4), dtype=np.uint8)
        for mark, part in enumerate(_PARTS, start=1):
            colours[mark], colours[_SIDE + mark] = getattr(self, part), getattr(self.far or self, part)
        object.__setattr__(self, "palette", colours.view(np.uint32)[:, 0])


def _marks(pattern: Pattern) -> Outfit:
    """An outfit whose colours are the marks of its parts, to be looked up in somebody's palette."""

    def made(first: int, far: Outfit | None = None) -> Outfit:
        parts: dict[str, tuple[int, ...]] = {part: (first + place,) for place, part in enumerate(_PARTS, start=1)}
        rest = {"hand": (0,), "ink": (0,), "pattern": pattern, "number": 0, "stature": 1.8, "far": far}
        return Outfit(**parts, **rest)  # type: ignore[arg-type]

    return made(0, made(_SIDE))


MARKED = {pattern: _marks(pattern) for pattern in Pattern}


class Wardrobe:
    """Who wears what in a match; two keepers and the referee never look like a team."""

    def __init__(self, fixture: Fixture, air: Air) -> None:
        self._fixture = fixture
        self._air = air
        self._kits = [fixture.home_kit, fixture.away_kit]
        taken = [fixture.home_kit.shirt, fixture.away_kit.shirt]
        for club in (fixture.home, fixture.away):
            kit = _other(club.keeper_kit, taken)
            taken.append(kit.shirt)
            self._kits.append(kit)
        black = Kit(
            shirt=fixture.referee.shirt,
            second=(230, 230, 230),
            pattern=Pattern.PLAIN,
            shorts=(24, 24, 26),
            socks=(24, 24, 26),
        )
        self._kits.append(_other(black, taken))
        self._rng_seed = fixture.seed
        self._known: dict[tuple[int, int | None], Outfit] = {}

    def outfit(self, slot: int, player: int | None) -> Outfit:
        """What the person in a slot wears, where `player` is his place in the squad."""
        if (found := self._known.get((slot, player))) is None:
            found = self._known[slot, player] = self._dress(slot, player)
        return found

    def _dress(self, slot: int, player: int | None) -> Outfit:
        rng = stream(self._rng_seed, "dress", self._fixture.world.value, self._fixture.index, slot, player or 0)
        if slot < 22:
            side = Side.HOME if slot < 11 else Side.AWAY
            keeper = slot in (0, 11)
            kit = self._kits[(2 if keeper else 0) + (side is Side.AWAY)]
            person = self._fixture.club(side).squad[player or 0]
            skin, hair, number, stature = person.skin, person.hair, person.number, person.height
        else:
            kit, keeper, number, stature = self._kits[4], False, 0, 1.8
            skin, hair = ((225, 180, 140), (190, 140, 100), (141, 94, 60))[int(rng.integers(3))], (40, 32, 28)
        boots: RGB = ((28, 28, 30), (238, 238, 238), (240, 90, 40), (60, 220, 120), (240, 220, 60))[
            int(rng.integers(5))
        ]
        ink = max(((250, 250, 250), (20, 20, 24), kit.second), key=lambda each: _apart(each, kit.shirt))
        sleeves = kit.second if kit.pattern is Pattern.SLEEVES else kit.shirt

        def made(bright: float, far: Outfit | None = None, dark: Outfit | None = None) -> Outfit:
            def lit(colour: RGB) -> tuple[int, ...]:
                return (*shade(self._air.veil(colour, 60.0), bright), 255)

            return Outfit(
                shirt=lit(kit.shirt),
                second=lit(kit.second),
                shorts=lit(kit.shorts),
                socks=lit(kit.socks),
                skin=lit(skin),
                hair=lit(hair),
                boots=lit(boots),
                sleeves=lit(sleeves),
                forearm=lit(kit.shirt if keeper else skin),
                hand=lit(_GLOVES if keeper else skin),
                ink=lit(ink),
                pattern=kit.pattern,
                number=number,
                stature=stature,
                far=far,
                dark=dark,
            )

        gloom = self._air.shade + 0.06
        return made(1.0, made(FAR), made(gloom, made(gloom * FAR)))


def _apart(one: RGB, two: RGB) -> int:
    return sum(abs(a - b) for a, b in zip(one, two, strict=True))


_SPARE: tuple[RGB, ...] = ((250, 230, 60), (60, 220, 90), (255, 120, 180), (24, 24, 28), (70, 190, 240), (240, 130, 30))


def _other(kit: Kit, taken: list[RGB]) -> Kit:
    """The kit, in another colour if it looks like one that is taken."""
    if min(_apart(kit.shirt, each) for each in taken) > 150:
        return kit
    shirt = max(_SPARE, key=lambda each: min(_apart(each, other) for other in taken))
    return Kit(shirt=shirt, second=kit.second, pattern=kit.pattern, shorts=kit.shorts, socks=kit.socks)

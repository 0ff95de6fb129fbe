"""A world: clubs with squads, coaches, kits and ways to play, referees and grounds; and the fixture of one match."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.random import Generator

from streamsoccer.domain import Side
from streamsoccer.league.names import WORDS, Words, WorldName, first_name, surname, town

__all__ = [
    "FORMATIONS",
    "Club",
    "Fixture",
    "Kit",
    "Light",
    "Pattern",
    "Referee",
    "Role",
    "SquadPlayer",
    "Stadium",
    "Style",
    "Weather",
    "World",
    "fixture",
    "stream",
    "world",
]

RGB = tuple[int, int, int]


class Role(StrEnum):
    """Where a player plays."""

    GOALKEEPER = "goalkeeper"
    RIGHT_BACK = "right back"
    CENTRE_BACK = "centre back"
    LEFT_BACK = "left back"
    HOLDING = "holding midfielder"
    MIDFIELD = "midfielder"
    RIGHT_WING = "right winger"
    LEFT_WING = "left winger"
    ATTACKING = "attacking midfielder"
    STRIKER = "striker"


_R = Role
# The ten outfield roles of a formation, and where they stand: x from 0 (back line) to 1 (front line), y from -1 (left,
# seen by the attacking side) to 1 (right).
FORMATIONS: dict[str, tuple[tuple[Role, float, float], ...]] = {
    "4-4-2": (
        (_R.RIGHT_BACK, 0.06, 0.78),
        (_R.CENTRE_BACK, 0.0, 0.26),
        (_R.CENTRE_BACK, 0.0, -0.26),
        (_R.LEFT_BACK, 0.06, -0.78),
        (_R.MIDFIELD, 0.45, 0.24),
        (_R.MIDFIELD, 0.42, -0.24),
        (_R.RIGHT_WING, 0.56, 0.8),
        (_R.LEFT_WING, 0.56, -0.8),
        (_R.STRIKER, 0.94, 0.22),
        (_R.STRIKER, 1.0, -0.2),
    ),
    "4-3-3": (
        (_R.RIGHT_BACK, 0.08, 0.8),
        (_R.CENTRE_BACK, 0.0, 0.27),
        (_R.CENTRE_BACK, 0.0, -0.27),
        (_R.LEFT_BACK, 0.08, -0.8),
        (_R.HOLDING, 0.32, 0.0),
        (_R.MIDFIELD, 0.5, 0.36),
        (_R.MIDFIELD, 0.5, -0.36),
        (_R.RIGHT_WING, 0.86, 0.76),
        (_R.LEFT_WING, 0.86, -0.76),
        (_R.STRIKER, 1.0, 0.0),
    ),
    "4-2-3-1": (
        (_R.RIGHT_BACK, 0.08, 0.8),
        (_R.CENTRE_BACK, 0.0, 0.26),
        (_R.CENTRE_BACK, 0.0, -0.26),
        (_R.LEFT_BACK, 0.08, -0.8),
        (_R.HOLDING, 0.34, 0.22),
        (_R.HOLDING, 0.34, -0.22),
        (_R.RIGHT_WING, 0.7, 0.76),
        (_R.ATTACKING, 0.7, 0.0),
        (_R.LEFT_WING, 0.7, -0.76),
        (_R.STRIKER, 1.0, 0.05),
    ),
    "3-5-2": (
        (_R.CENTRE_BACK, 0.0, 0.46),
        (_R.CENTRE_BACK, 0.0, 0.0),
        (_R.CENTRE_BACK, 0.0, -0.46),
        (_R.RIGHT_WING, 0.42, 0.86),
        (_R.HOLDING, 0.34, 0.0),
        (_R.MIDFIELD, 0.54, 0.32),
        (_R.MIDFIELD, 0.54, -0.32),
        (_R.LEFT_WING, 0.42, -0.86),
        (_R.STRIKER, 0.94, 0.2),
        (_R.STRIKER, 1.0, -0.2),
    ),
}
_BENCH = (_R.GOALKEEPER, _R.CENTRE_BACK, _R.RIGHT_BACK, _R.MIDFIELD, _R.HOLDING, _R.LEFT_WING, _R.STRIKER)


class Pattern(StrEnum):
    """How a shirt is coloured with its two colours."""

    PLAIN = "plain"
    STRIPES = "stripes"
    HOOPS = "hoops"
    HALVES = "halves"
    SASH = "sash"
    SLEEVES = "sleeves"


class Light(StrEnum):
    """What the match is lit by."""

    SUN = "sun"
    OVERCAST = "overcast"
    DUSK = "dusk"
    FLOODLIGHT = "floodlight"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kit:
    """Colours, red green blue from 0 to 255."""

    shirt: RGB
    second: RGB
    pattern: Pattern
    shorts: RGB
    socks: RGB


@dataclass(frozen=True, kw_only=True, slots=True)
class SquadPlayer:
    """A player; skills from 0 to 1, 0.5 is the league's average."""

    hash: str
    name: str  # surname alone, as text uses it
    long_name: str
    short_name: str
    country: str
    number: int
    role: Role
    captain: bool
    left_footed: bool
    pace: float
    stamina: float
    passing: float
    dribbling: float
    shooting: float
    tackling: float
    heading: float
    keeping: float
    aggression: float
    height: float  # metres
    skin: RGB
    hair: RGB


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """How a club likes to play, each from 0 to 1."""

    press: float
    line: float  # how high the back line stands
    width: float
    direct: float  # long balls against short ones
    tempo: float
    aggression: float
    caution: float  # sits back when ahead


@dataclass(frozen=True, kw_only=True, slots=True)
class Club:
    """A club. The first eleven of the squad start: the goalkeeper, then the roles of the formation in its order."""

    name: str
    code: str
    town: str
    formation: str
    style: Style
    squad: tuple[SquadPlayer, ...]
    coach: str
    kits: tuple[Kit, Kit]  # home, away
    keeper_kit: Kit
    ground: Stadium


@dataclass(frozen=True, kw_only=True, slots=True)
class Referee:
    """Who keeps the laws; strictness from 0 to 1."""

    name: str
    strictness: float
    shirt: RGB


@dataclass(frozen=True, kw_only=True, slots=True)
class Stadium:
    """A ground and how it looks."""

    name: str
    town: str
    fill: float  # share of seats taken
    tiers: int
    seats: RGB
    grass: RGB
    mowing: str  # stripes | checks | rings | plain
    boards: tuple[RGB, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weather:
    """Light and weather; wind in metres a second."""

    light: Light
    rain: float  # 0 dry to 1
    fog: float
    wind: tuple[float, float]
    sun: float  # direction of shadows, radians


@dataclass(frozen=True, kw_only=True, slots=True)
class Fixture:
    """Who plays whom, where, when, in what."""

    world: WorldName
    seed: int
    index: int
    league: str
    season: str
    round: int
    date: str  # '2031-08-14 - 20-00', as SoccerNet's folders have it
    home: Club
    away: Club
    home_kit: Kit
    away_kit: Kit
    referee: Referee
    assistants: tuple[str, str]
    stadium: Stadium
    weather: Weather

    def club(self, side: Side) -> Club:
        return self.home if side is Side.HOME else self.away

    def kit(self, side: Side) -> Kit:
        return self.home_kit if side is Side.HOME else self.away_kit


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """One league: its clubs and referees, the same whatever the seed of a match."""

    name: WorldName
    words: Words
    clubs: tuple[Club, ...]
    referees: tuple[Referee, ...]


_CLUBS = {WorldName.TRAIN: 40, WorldName.VALIDATION: 16, WorldName.TEST: 20}


def stream(seed: int, *purpose: int | str) -> Generator:
    """The random stream of one purpose: nothing drawn from it moves another."""
    words = [int.from_bytes(hashlib.sha256(str(each).encode()).digest()[:8], "big") for each in purpose]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))


@cache
def world(name: WorldName) -> World:
    """The clubs and referees of a world."""
    words = WORDS[name]
    rng = stream(0, "world", name.value)
    names: set[str] = set()
    codes: set[str] = set()
    clubs = tuple(_club(words, name, rng, names, codes) for _ in range(_CLUBS[name]))
    referees = tuple(
        Referee(
            name=f"{first_name(words, rng)} {surname(words, rng)}",
            strictness=_skill(rng, 0.5, 0.18),
            shirt=((20, 20, 20), (240, 220, 40), (40, 150, 220))[int(rng.integers(3))],
        )
        for _ in range(12)
    )
    return World(name=name, words=words, clubs=clubs, referees=referees)


@cache
def _schedule(name: WorldName, seed: int) -> tuple[tuple[int, int], ...]:
    """All pairs of clubs, each at home once, in an order of its own for each seed."""
    pairs = list(itertools.permutations(range(_CLUBS[name]), 2))
    order = stream(seed, "schedule", name.value).permutation(len(pairs))
    return tuple(pairs[int(each)] for each in order)


def fixture(name: WorldName, seed: int, index: int = 0, *, restyled: bool = False) -> Fixture:
    """The match number `index` of the league with this seed; `restyled` in clothes and on a ground of its own."""
    place = world(name)
    pairs = _schedule(name, seed)
    season, within = divmod(index, len(pairs))
    home, away = (place.clubs[each] for each in pairs[within])
    rng = stream(seed, "fixture", name.value, index)
    day = _date(2031 + season, within // 5)
    hour, minute = ((13, 30), (15, 0), (17, 30), (19, 45), (20, 45))[index % 5]
    late = hour >= 19
    light = (
        Light.FLOODLIGHT if late else (Light.SUN, Light.OVERCAST, Light.DUSK)[int(rng.choice(3, p=(0.5, 0.35, 0.15)))]
    )
    rainy = light is not Light.SUN and rng.random() < 0.3
    angle = float(rng.uniform(0, 2 * np.pi))
    blow = float(rng.gamma(1.5, 1.2))
    if restyled:
        home, away = _restyled(home, away, stream(seed, "restyled", name.value, index))
    home_kit = home.kits[0]
    away_kit = max(away.kits, key=lambda kit: _contrast(kit, home_kit))
    return Fixture(
        world=name,
        seed=seed,
        index=index,
        league=place.words.league,
        season=f"{2031 + season}-{2032 + season}",
        round=1 + within // (len(place.clubs) // 2),
        date=f"{day} - {hour:02d}-{minute:02d}",
        home=home,
        away=away,
        home_kit=home_kit,
        away_kit=away_kit,
        referee=place.referees[int(rng.integers(len(place.referees)))],
        assistants=(surname(place.words, rng), surname(place.words, rng)),
        stadium=home.ground,
        weather=Weather(
            light=light,
            rain=round(float(rng.uniform(0.3, 1.0)), 2) if rainy else 0.0,
            fog=round(float(rng.uniform(0.1, 0.5)), 2) if rng.random() < 0.08 else 0.0,
            wind=(round(blow * float(np.cos(angle)), 2), round(blow * float(np.sin(angle)), 2)),
            sun=round(float(rng.uniform(0.3, 2.8)), 2),
        ),
    )


def _restyled(home: Club, away: Club, rng: Generator) -> tuple[Club, Club]:
    """Two clubs with kits, ground and letters on the scoreboard that they have for one match alone.

    A world has as many kits as it has clubs twice over: eyes that learn from few of them know them by heart, and see
    no others.
    """

    def dressed(club: Club) -> Club:
        kit = _kit(rng)
        code = "".join(chr(ord("A") + int(each)) for each in rng.integers(26, size=3))
        kits, ground = (kit, _kit(rng, avoid=kit.shirt)), _ground(rng, club.ground.name, club.ground.town)
        return replace(club, kits=kits, keeper_kit=_keeper_kit(rng), ground=ground, code=code)

    return dressed(home), dressed(away)


def _date(year: int, days: int) -> str:
    """A season's day, counted from 9 August."""
    month, day = 8, 9 + days
    while day > (length := 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31):
        day -= length
        month += 1
        if month > 12:
            month, year = 1, year + 1
    return f"{year}-{month:02d}-{day:02d}"


def _skill(rng: Generator, centre: float, spread: float = 0.13) -> float:
    return round(min(0.98, max(0.05, float(rng.normal(centre, spread)))), 2)


def _hash(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:8]


_SKINS: tuple[RGB, ...] = ((244, 208, 177), (225, 180, 140), (190, 140, 100), (141, 94, 60), (92, 60, 40))
_HAIRS: tuple[RGB, ...] = ((25, 20, 18), (60, 40, 25), (110, 75, 40), (190, 150, 80), (150, 70, 30), (200, 200, 200))
_COLOURS: tuple[RGB, ...] = (
    (200, 20, 40),
    (20, 60, 180),
    (250, 250, 250),
    (25, 25, 30),
    (245, 205, 30),
    (10, 120, 60),
    (120, 20, 90),
    (110, 190, 235),
    (240, 120, 20),
    (130, 20, 35),
    (15, 30, 80),
    (90, 50, 150),
)


def _distance(one: RGB, two: RGB) -> float:
    return sum(abs(a - b) for a, b in zip(one, two, strict=True)) / 3


def _contrast(one: Kit, two: Kit) -> float:
    return _distance(one.shirt, two.shirt) * 2 + _distance(one.shorts, two.shorts)


def _kit(rng: Generator, avoid: RGB | None = None) -> Kit:
    while True:
        first, second, shorts, socks = (_COLOURS[int(each)] for each in rng.integers(len(_COLOURS), size=4))
        if _distance(first, second) > 60 and (avoid is None or _distance(first, avoid) > 90):
            break
    pattern = tuple(Pattern)[int(rng.choice(6, p=(0.34, 0.2, 0.1, 0.1, 0.08, 0.18)))]
    tinted = (tuple(min(255, max(0, part + int(rng.integers(-14, 15)))) for part in each) for each in (first, second))
    shirt, other = tinted
    return Kit(
        shirt=(shirt[0], shirt[1], shirt[2]),
        second=(other[0], other[1], other[2]),
        pattern=pattern,
        shorts=shorts if rng.random() < 0.5 else second,
        socks=socks if rng.random() < 0.4 else first,
    )


def _club(words: Words, name: WorldName, rng: Generator, names: set[str], codes: set[str]) -> Club:
    while True:
        place = town(words, rng)
        title = words.clubs[int(rng.integers(len(words.clubs)))].format(place)
        code = next((c for c in _codes(place) if c not in codes), None)
        if place not in names and code is not None:
            break
    names.add(place)
    codes.add(code)
    formation = tuple(FORMATIONS)[int(rng.choice(4, p=(0.27, 0.28, 0.3, 0.15)))]
    roles = (Role.GOALKEEPER, *(role for role, _, _ in FORMATIONS[formation]), *_BENCH)
    level = float(rng.normal(0.5, 0.06))
    captain = int(rng.integers(1, 11))
    numbers = _numbers(rng)
    taken: set[str] = set()
    squad = tuple(
        _player(words, name, title, role, level - (0.03 if n > 10 else 0.0), n == captain, numbers[n], taken, rng)
        for n, role in enumerate(roles)
    )
    home_kit = _kit(rng)
    stem = words.stems[int(rng.integers(len(words.stems)))] + words.endings[int(rng.integers(len(words.endings)))]
    return Club(
        name=title,
        code=code,
        town=place,
        formation=formation,
        style=Style(
            press=_skill(rng, 0.5, 0.2),
            line=_skill(rng, 0.5, 0.16),
            width=_skill(rng, 0.5, 0.16),
            direct=_skill(rng, 0.42, 0.18),
            tempo=_skill(rng, 0.5, 0.16),
            aggression=_skill(rng, 0.5, 0.16),
            caution=_skill(rng, 0.5, 0.22),
        ),
        squad=squad,
        coach=f"{first_name(words, rng)} {surname(words, rng)}",
        kits=(home_kit, _kit(rng, avoid=home_kit.shirt)),
        keeper_kit=_keeper_kit(rng),
        ground=_ground(rng, words.grounds[int(rng.integers(len(words.grounds)))].format(stem), place),
    )


def _keeper_kit(rng: Generator) -> Kit:
    return Kit(
        shirt=((60, 220, 90), (250, 230, 60), (255, 120, 180), (150, 150, 160))[int(rng.integers(4))],
        second=(30, 30, 30),
        pattern=Pattern.PLAIN,
        shorts=(30, 30, 30),
        socks=(40, 40, 40),
    )


def _ground(rng: Generator, name: str, place: str) -> Stadium:
    return Stadium(
        name=name,
        town=place,
        fill=round(float(rng.uniform(0.55, 0.99)), 2),
        tiers=int(rng.integers(1, 4)),
        seats=_COLOURS[int(rng.integers(len(_COLOURS)))],
        grass=(int(rng.integers(40, 75)), int(rng.integers(105, 145)), int(rng.integers(35, 62))),
        mowing=("stripes", "checks", "rings", "plain")[int(rng.choice(4, p=(0.55, 0.2, 0.1, 0.15)))],
        boards=tuple(_COLOURS[int(each)] for each in rng.integers(len(_COLOURS), size=4)),
    )


def _codes(place: str) -> list[str]:
    """Three letters for the scoreboard: the first three, else the first two and a later one."""
    letters = place.upper()
    return (
        [letters[:3]]
        + [letters[:2] + each for each in letters[3:]]
        + [letters[0] + a + b for a in letters for b in "XYZ"]
    )


def _numbers(rng: Generator) -> list[int]:
    """1 to 11 as the line-up goes, with a few higher ones; the bench from 12 on."""
    spare = [int(each) for each in rng.permutation(np.arange(20, 40))]
    first = [1] + [n + 2 if rng.random() < 0.7 else spare.pop() for n in range(10)]
    return first + [12 + n if rng.random() < 0.6 else spare.pop() for n in range(7)]


# How far above the club's level a role's own skills are: passing, dribbling, shooting, tackling, heading, pace
_GIFTS: dict[Role, tuple[float, float, float, float, float, float]] = {
    Role.GOALKEEPER: (-0.1, -0.25, -0.35, -0.2, -0.1, -0.1),
    Role.RIGHT_BACK: (0.0, 0.0, -0.12, 0.1, 0.0, 0.06),
    Role.LEFT_BACK: (0.0, 0.0, -0.12, 0.1, 0.0, 0.06),
    Role.CENTRE_BACK: (-0.05, -0.15, -0.18, 0.16, 0.18, -0.06),
    Role.HOLDING: (0.06, -0.02, -0.06, 0.12, 0.02, -0.02),
    Role.MIDFIELD: (0.1, 0.04, 0.0, 0.02, 0.0, 0.0),
    Role.ATTACKING: (0.12, 0.12, 0.08, -0.1, -0.06, 0.02),
    Role.RIGHT_WING: (0.04, 0.14, 0.05, -0.06, -0.08, 0.12),
    Role.LEFT_WING: (0.04, 0.14, 0.05, -0.06, -0.08, 0.12),
    Role.STRIKER: (-0.02, 0.06, 0.16, -0.15, 0.12, 0.06),
}


def _player(
    words: Words,
    name: WorldName,
    club: str,
    role: Role,
    level: float,
    captain: bool,
    number: int,
    taken: set[str],
    rng: Generator,
) -> SquadPlayer:
    while (last := surname(words, rng)) in taken:
        pass
    taken.add(last)
    first = first_name(words, rng)
    gifts = _GIFTS[role]
    passing, dribbling, shooting, tackling, heading, pace = (_skill(rng, level + gift) for gift in gifts)
    tall = {Role.GOALKEEPER: 1.9, Role.CENTRE_BACK: 1.88, Role.STRIKER: 1.84}.get(role, 1.79)
    return SquadPlayer(
        hash=_hash(name.value, club, str(number), last),
        name=last,
        long_name=f"{first} {last}",
        short_name=f"{first[0]}. {last}",
        country=words.countries[int(rng.integers(len(words.countries)))],
        number=number,
        role=role,
        captain=captain,
        left_footed=bool(rng.random() < (0.75 if role in (Role.LEFT_BACK, Role.LEFT_WING) else 0.15)),
        pace=pace,
        stamina=_skill(rng, 0.5),
        passing=passing,
        dribbling=dribbling,
        shooting=shooting,
        tackling=tackling,
        heading=heading,
        keeping=_skill(rng, level + 0.12) if role is Role.GOALKEEPER else 0.05,
        aggression=_skill(rng, 0.5, 0.18),
        height=round(float(rng.normal(tall, 0.045)), 2),
        skin=_SKINS[int(rng.integers(len(_SKINS)))],
        hair=_HAIRS[int(rng.integers(len(_HAIRS)))],
    )

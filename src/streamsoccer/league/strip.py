"""What a side is called by its shirts, where the picture does not tell which side it is."""

from __future__ import annotations

from streamsoccer.domain import Side
from streamsoccer.league.world import RGB, Fixture, Kit, Pattern

__all__ = ["colour", "shirts", "told_apart"]

_NAMES: tuple[tuple[str, RGB], ...] = (
    ("red", (200, 20, 40)),
    ("blue", (20, 60, 180)),
    ("white", (250, 250, 250)),
    ("black", (25, 25, 30)),
    ("yellow", (245, 205, 30)),
    ("green", (10, 120, 60)),
    ("purple", (120, 20, 90)),
    ("sky blue", (110, 190, 235)),
    ("orange", (240, 120, 20)),
    ("dark red", (130, 20, 35)),
    ("navy", (15, 30, 80)),
    ("violet", (90, 50, 150)),
    ("pink", (255, 120, 180)),
    ("light green", (60, 220, 90)),
    ("grey", (150, 150, 160)),
)
_PATTERNS = {
    Pattern.STRIPES: "{0} and {1} stripes",
    Pattern.HOOPS: "{0} and {1} hoops",
    Pattern.HALVES: "{0} and {1} halves",
    Pattern.SASH: "{0} with a {1} sash",
    Pattern.SLEEVES: "{0} with {1} sleeves",
}


def colour(rgb: RGB) -> str:
    """The nearest colour that has a name."""
    return min(_NAMES, key=lambda name: sum((a - b) ** 2 for a, b in zip(rgb, name[1], strict=True)))[0]


def shirts(kit: Kit, *, whole: bool = False) -> str:
    """A kit in a word or two; `whole` with its pattern."""
    first, second = colour(kit.shirt), colour(kit.second)
    if kit.pattern is Pattern.PLAIN or first == second:
        return first
    if whole:
        return _PATTERNS[kit.pattern].format(first, second)
    even = kit.pattern in (Pattern.STRIPES, Pattern.HOOPS, Pattern.HALVES)
    return f"{first} and {second}" if even else first


def told_apart(fixture: Fixture) -> bool:
    """Whether the colours' names say which side is meant."""
    return shirts(fixture.kit(Side.HOME)) != shirts(fixture.kit(Side.AWAY))

"""What sun, clouds, dusk, floodlights, rain, fog and snow do to colours and shadows in one match."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.world import RGB, Fixture, Light, stream

__all__ = ["Air", "Shadow", "air_of", "mix", "shade"]

NEAR_STAND = (-46.0, 19.0)  # y and height of the roof that throws its shadow on the pitch


@dataclass(frozen=True, kw_only=True, slots=True)
class Shadow:
    """Where a point one metre high throws its shadow, and how dark it is (0 to 255)."""

    x: float
    y: float
    dark: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Air:
    """The light and weather of a match as the drawing needs them."""

    light: Light
    tint: tuple[float, float, float]  # what light makes of a colour
    crowd: float  # how bright the stands are
    shadows: tuple[Shadow, ...]
    shade_line: float | None  # the pitch lies in the near stand's shadow where y is less than this
    shade: float  # and this bright there
    haze: RGB
    thick: float  # haze in a metre of air
    sky: tuple[RGB, RGB]  # above, at the horizon
    rain: float
    snow: float
    grain: int  # noise of the sensor, in levels

    def veil(self, colour: RGB, distance: float) -> RGB:
        """A colour in this light, seen through this much air."""
        lit = tuple(min(255.0, part * tint) for part, tint in zip(colour, self.tint, strict=True))
        through = self.through(distance)
        r, g, b = (round(a * through + h * (1 - through)) for a, h in zip(lit, self.haze, strict=True))
        return r, g, b

    def through(self, distance: float) -> float:
        """How much of a thing's own colour gets through that much air."""
        return 1.0 / (1.0 + self.thick * distance)

    def light_up(self, texture: NDArray[np.uint8], bright: float = 1.0, distance: float = 0.0) -> NDArray[np.uint8]:
        """A texture in this light."""
        through = self.through(distance)
        table = np.arange(256, dtype=np.float64)
        out = np.empty_like(texture)
        for channel in range(3):
            lit = np.minimum(255.0, table * (self.tint[channel] * bright))
            levels = np.rint(lit * through + self.haze[channel] * (1 - through)).astype(np.uint8)
            out[..., channel] = levels[texture[..., channel]]
        return out


def shade(colour: RGB, bright: float) -> RGB:
    """A colour made darker or brighter."""
    r, g, b = (max(0, min(255, round(part * bright))) for part in colour)
    return r, g, b


def mix(one: RGB, other: RGB, part: float) -> RGB:
    """A colour between two."""
    r, g, b = (round(a + (b - a) * part) for a, b in zip(one, other, strict=True))
    return r, g, b


def air_of(fixture: Fixture) -> Air:
    """The air of a fixture: its weather, and from a stream of its own what the weather leaves open."""
    weather = fixture.weather
    rng = stream(fixture.seed, "air", fixture.world.value, fixture.index)
    low, warm, snowy, grain = (float(each) for each in rng.random(4))
    length = {Light.SUN: 0.5 + 0.9 * low, Light.DUSK: 2.2 + 1.2 * low}.get(weather.light, 0.0)
    east, north = math.cos(weather.sun), math.sin(weather.sun)
    snow = round(0.25 + 0.5 * low, 2) if weather.light is not Light.SUN and snowy < 0.05 else 0.0
    shadows: tuple[Shadow, ...]
    line: float | None = None
    match weather.light:
        case Light.SUN:
            tint = (1.06, 1.04, 0.96 - 0.04 * warm)
            shadows = (Shadow(x=length * east, y=length * north, dark=118),)
            line = NEAR_STAND[0] + NEAR_STAND[1] * length * north
            sky: tuple[RGB, RGB] = ((88, 140, 205), (188, 212, 232))
            crowd = 0.92
        case Light.DUSK:
            tint = (1.04, 0.9, 0.76)
            shadows = (
                Shadow(x=length * east, y=length * north, dark=70),
                Shadow(x=-0.7, y=0.6, dark=36),
                Shadow(x=0.7, y=0.6, dark=36),
            )
            sky = ((92, 84, 130), (240, 160, 110))
            crowd = 0.72
        case Light.FLOODLIGHT:
            tint = (0.97, 1.0, 1.04)
            shadows = tuple(
                Shadow(x=x, y=y, dark=46) for x, y in ((0.8, 0.55), (-0.8, 0.55), (0.8, -0.55), (-0.8, -0.55))
            )
            sky = ((8, 10, 20), (26, 28, 42))
            crowd = 0.46
        case _:
            tint = (0.88, 0.9, 0.93)
            shadows = (Shadow(x=0.0, y=0.12, dark=60),)
            sky = ((160, 168, 178), (206, 210, 214))
            crowd = 0.74
    fog = weather.fog + 0.12 * weather.rain
    return Air(
        light=weather.light,
        tint=tint,
        crowd=crowd,
        shadows=shadows,
        shade_line=None if line is None or line < -33 else min(line, 22.0),
        shade=0.62,
        haze=(40, 44, 54) if weather.light is Light.FLOODLIGHT else (206, 210, 214),
        thick=0.0006 + 0.011 * fog,
        sky=sky,
        rain=weather.rain if not snow else 0.0,
        snow=snow,
        grain=1 + int(grain * 3) + (1 if weather.light in (Light.FLOODLIGHT, Light.DUSK) else 0),
    )

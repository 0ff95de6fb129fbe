"""One picture: the still stadium, then shadows, then people, goals and ball from far to near, then weather."""

from __future__ import annotations

import math

import cv2
import numpy as np

from streamsoccer.league.goalframe import draw_corner_flag, draw_frame, draw_net, goal_depths
from streamsoccer.league.lens import Camera, Rgb, Warp
from streamsoccer.league.light import Air, air_of
from streamsoccer.league.people import People
from streamsoccer.league.rig import STATIONS, Station, panorama_of
from streamsoccer.league.sight import Draw, Scene, later
from streamsoccer.league.stadium import Ground, build_ground, paint_still
from streamsoccer.league.world import Fixture, stream

__all__ = ["Painter"]

LAYERS = 5  # of falling rain or snow
BLOCK = 8  # compression's squares


class Painter:
    """Draws scenes of one match at one size; panoramas are painted when a camera is first used."""

    def __init__(self, fixture: Fixture, width: int, height: int) -> None:
        self.air: Air = air_of(fixture)
        self._fixture, self._width, self._height = fixture, width, height
        self._warp = Warp(width, height)
        self._grounds: dict[bool, Ground] = {}
        self._stills: dict[tuple[Station, bool], tuple[Rgb, Camera]] = {}
        self._people = People(self.air, width, height)
        rng = stream(fixture.seed, "lens", fixture.world.value, fixture.index)
        self._noise = _noise(rng, width, height, self.air.grain)
        self._fall = _falling(rng, width, height, self.air)
        self._vignette = _vignette(width, height)

    def paint(self, image: Rgb, scene: Scene, station: Station, camera: Camera, number: int) -> None:
        """Fill a picture with what a station's camera gives of a scene; `number` chooses its noise."""
        still, taken = self._still(station, scene.excited)
        self._warp.view(still, taken, camera, image)
        draws = self._people.paint(image, scene, camera)
        draws.append(self._ball(image, scene, camera))
        self._fixtures(draws, image, scene, camera)
        draws.sort(key=lambda each: -each[0])
        for _, draw in draws:
            draw()
        self._weather(image, number)
        self.grain(image, number)

    def grain(self, image: Rgb, number: int) -> None:
        """What the sensor and the codec leave on a picture."""
        cv2.subtract(image, self._vignette, dst=image)
        left, top = (number * 7919 % 13) * BLOCK, (number * 104729 % 11) * BLOCK
        more, less = (each[top : top + self._height, left : left + self._width] for each in self._noise)
        cv2.add(image, more, dst=image)
        cv2.subtract(image, less, dst=image)

    def _still(self, station: Station, excited: bool) -> tuple[Rgb, Camera]:
        if (found := self._stills.get((station, excited))) is None:
            if excited not in self._grounds:
                density = 6.0 * self._width / 398
                self._grounds[excited] = build_ground(self._fixture, self.air, density, excited)
            taken, wide, high = panorama_of(station, self._width, self._height)
            image = paint_still(self._grounds[excited], taken, wide, high)
            if STATIONS[station].still < 1:  # long lenses: what lies behind is out of focus
                cv2.GaussianBlur(image, (3, 3), 0, dst=image)
            found = self._stills[station, excited] = (image, taken)
        return found

    def _ball(self, image: Rgb, scene: Scene, camera: Camera) -> Draw:
        x, y, z = scene.ball
        at, ground = camera.see((x, y, z + 0.11)), camera.see((x, y, 0.0))
        before = camera.see((scene.ball_before[0], scene.ball_before[1], scene.ball_before[2] + 0.11))
        unit = camera.focal / max(at[2], 1.0)
        least = 0.0034 * self._width
        radius = max(least, 0.115 * unit)

        def draw() -> None:
            if at[2] < 1.0 or not (-50 < at[0] < self._width + 50 and -400 < at[1] < self._height + 50):
                return
            light = self.air.shadows[0]
            fall = camera.see((x + light.x * z, y + light.y * z, 0.0)) if z < 12 else ground
            _blot(image, fall[0], fall[1], radius * 1.1, radius * max(0.35, math.sin(camera.tilt) * 1.2))
            white = self.air.veil((250, 250, 248), 60.0)
            centre = (round(at[0] * 16), round(at[1] * 16))
            tail = (round(before[0] * 16), round(before[1] * 16))
            if (tail[0] - centre[0]) ** 2 + (tail[1] - centre[1]) ** 2 > (16 * radius) ** 2:
                cv2.line(image, tail, centre, _half(white), max(1, round(radius * 1.5)), cv2.LINE_AA, 4)
            rim = self.air.veil((120, 124, 120), 60.0)
            cv2.circle(image, centre, round(radius * 16 + 7), rim, -1, cv2.LINE_AA, 4)
            cv2.circle(image, centre, round(radius * 16), white, -1, cv2.LINE_AA, 4)
            if radius > 4:
                turn = (x + y) * 4.0
                for part in range(3):
                    angle = turn + part * 2.1
                    dot = (
                        round(centre[0] + radius * 9 * math.cos(angle)),
                        round(centre[1] + radius * 9 * math.sin(angle * 0.8)),
                    )
                    cv2.circle(image, dot, round(radius * 4.4), (52, 54, 60), -1, cv2.LINE_AA, 4)

        return ground[2] - 0.05, draw

    def _fixtures(self, draws: list[Draw], image: Rgb, scene: Scene, camera: Camera) -> None:
        """Goals and corner flags that are in the picture."""
        for end in (-1, 1):
            if (depths := goal_depths(camera, end)) is not None:
                back, front = depths
                draws.append((back, later(draw_net, image, camera, end, self.air, scene.bulge.get(end))))
                draws.append((back - 0.01, later(draw_frame, image, camera, end, self.air, False)))
                draws.append((front, later(draw_frame, image, camera, end, self.air, True)))
            for side in (-1, 1):
                depth = camera.see((end * 52.5, side * 34.0, 0.0))[2]
                if depth > 2:
                    draws.append((depth, later(draw_corner_flag, image, camera, end, side, self.air, scene.seconds)))

    def _weather(self, image: Rgb, number: int) -> None:
        if self._fall is None:
            return
        layer = self._fall[number % LAYERS]
        top = number * 37 % 48
        cv2.add(image, layer[top : top + self._height], dst=image)


def _half(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """A ball's streak: white over grass."""
    return (colour[0] + 70) // 2, (colour[1] + 130) // 2, (colour[2] + 60) // 2


def _blot(image: Rgb, x: float, y: float, wide: float, high: float) -> None:
    """A small soft shadow."""
    left, top = math.floor(x - wide) - 1, math.floor(y - high) - 1
    right, bottom = math.ceil(x + wide) + 2, math.ceil(y + high) + 2
    height, width = image.shape[:2]
    if left < 0 or top < 0 or right > width or bottom > height:
        return
    mask = np.zeros((bottom - top, right - left), dtype=np.uint8)
    axes = (max(8, round(wide * 16)), max(8, round(high * 16)))
    cv2.ellipse(mask, (round((x - left) * 16), round((y - top) * 16)), axes, 0, 0, 360, 110, -1, cv2.LINE_AA, 4)
    part = image[top:bottom, left:right]
    part[:] = (part * (256 - mask[..., None].astype(np.uint16))) >> 8


def _noise(rng: np.random.Generator, width: int, height: int, grain: int) -> tuple[Rgb, Rgb]:
    """Grain and the squares of a codec, as what to add and what to take away."""
    high, wide = height + 12 * BLOCK, width + 14 * BLOCK
    luma = rng.normal(0.0, grain, (high, wide, 1)) + rng.normal(0.0, grain * 0.4, (high, wide, 3))
    rows, columns = -(-high // BLOCK), -(-wide // BLOCK)
    flat = rng.normal(0.0, 0.9, (rows, columns, 1, 1)) * (rng.random((rows, columns, 1, 1)) < 0.5)
    ramp = (np.arange(BLOCK) - 3.5) / 3.5
    slope = (
        rng.normal(0.0, 0.8, (rows, columns, 1, 1)) * ramp[:, None] + rng.normal(0.0, 0.8, (rows, columns, 1, 1)) * ramp
    )
    squares = (flat + slope).transpose(0, 2, 1, 3).reshape(rows * BLOCK, columns * BLOCK)[:high, :wide, None]
    levels = np.rint(luma + squares).clip(-40, 40).astype(np.int16)
    return np.maximum(levels, 0).astype(np.uint8), np.maximum(-levels, 0).astype(np.uint8)


def _falling(rng: np.random.Generator, width: int, height: int, air: Air) -> Rgb | None:
    """Rain or snow as light to add, a few layers of it."""
    if not air.rain and not air.snow:
        return None
    layers = np.zeros((LAYERS, height + 48, width, 3), dtype=np.uint8)
    unit = height / 224
    for layer in layers:
        count = int(110 * air.rain) if air.rain else int(120 * air.snow)
        for x, y, size in rng.random((count, 3)).tolist():
            start = (round(x * width * 16), round(y * (height + 48) * 16))
            if air.rain:
                long = (6 + 12 * size) * unit * 16
                level = 12 + int(22 * size)
                end = (round(start[0] + long * 0.18), round(start[1] + long))
                cv2.line(layer, start, end, (level, level, level), max(1, round(unit * 0.7)), cv2.LINE_AA, 4)
            else:
                level = 90 + int(110 * size)
                cv2.circle(
                    layer, start, round((0.5 + 0.9 * size) * unit * 16), (level, level, level), -1, cv2.LINE_AA, 4
                )
    return layers


def _vignette(width: int, height: int) -> Rgb:
    """Darker corners."""
    x = (np.arange(width) - (width - 1) / 2)[None] / width
    y = (np.arange(height) - (height - 1) / 2)[:, None] / width
    dark = np.rint(20 * (x * x + y * y) ** 2 / 0.1).clip(0, 12).astype(np.uint8)
    return np.repeat(dark[..., None], 3, axis=2)

"""One picture: the still stadium, then shadows, then people, goals and ball from far to near, then weather."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.body import Joint
from streamsoccer.league.figures import OVER, SMALL, Figure, Outfit, Prop, draw_figures, lay, shadow_lines
from streamsoccer.league.goalframe import draw_corner_flag, draw_frame, draw_net, goal_depths
from streamsoccer.league.lens import NEAR, Camera, Rgb, Warp
from streamsoccer.league.light import Air, air_of
from streamsoccer.league.rig import STATIONS, Station, panorama_of
from streamsoccer.league.stadium import Ground, build_ground, paint_still
from streamsoccer.league.world import Fixture, Light, stream

__all__ = ["Painter", "Scene"]

LAYERS = 5  # of falling rain or snow
BLOCK = 8  # compression's squares


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What there is to see at one moment."""

    ball: tuple[float, float, float]
    ball_before: tuple[float, float, float]  # a fiftieth of a second ago
    people: NDArray[np.float64]  # [P, 2]
    here: NDArray[np.bool_]  # [P] whether there is anybody
    facing: NDArray[np.float64]  # [P]
    joints: NDArray[np.float32]  # [P, JOINTS, 3] in their own axes
    outfits: list[Outfit]
    sizes: NDArray[np.float64]  # [P] how tall, against the stature that joints are for
    props: dict[int, int] = field(default_factory=dict)  # slot: Prop
    numbers: tuple[int, int] = (0, 0)  # on the fourth official's board
    bulge: dict[int, tuple[float, float, float]] = field(default_factory=dict)  # end: across, up, push
    excited: bool = False  # the crowd is on its feet
    seconds: float = 0.0


class Painter:
    """Draws scenes of one match at one size; panoramas are painted when a camera is first used."""

    def __init__(self, fixture: Fixture, width: int, height: int) -> None:
        self.air: Air = air_of(fixture)
        self._fixture, self._width, self._height = fixture, width, height
        self._warp = Warp(width, height)
        self._grounds: dict[bool, Ground] = {}
        self._stills: dict[tuple[Station, bool], tuple[Rgb, Camera]] = {}
        self._shadow = np.zeros((height, width), dtype=np.uint8)
        rng = stream(fixture.seed, "lens", fixture.world.value, fixture.index)
        self._noise = _noise(rng, width, height, self.air.grain)
        self._fall = _falling(rng, width, height, self.air)
        self._vignette = _vignette(width, height)

    def paint(self, scene: Scene, station: Station, camera: Camera, number: int, *, noise: bool = True) -> Rgb:
        """The picture that a station's camera gives of a scene; `number` chooses its noise."""
        still, taken = self._still(station, scene.excited)
        image = self._warp.view(still, taken, camera)
        draws = self._people(image, scene, camera)
        draws.append(self._ball(image, scene, camera))
        self._fixtures(draws, image, scene, camera)
        draws.sort(key=lambda each: -each[0])
        for _, draw in draws:
            draw()
        self._weather(image, number)
        if noise:
            self.grain(image, number)
        return image

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

    def _people(self, image: Rgb, scene: Scene, camera: Camera) -> list[tuple[float, Callable[[], None]]]:
        """Everybody in the picture, ready to be drawn; their shadows are drawn at once."""
        right, down, forward = camera.axes()
        gx = scene.people[:, 0] - camera.place[0]
        gy = scene.people[:, 1] - camera.place[1]
        depth = gx * forward[0] + gy * forward[1] - camera.place[2] * forward[2]
        across = camera.centre[0] + camera.focal * (gx * right[0] + gy * right[1]) / np.maximum(depth, 1.0)
        margin = 2.6 * camera.focal / np.maximum(depth, 1.0)
        seen = np.flatnonzero(scene.here & (depth > 1.5) & (across > -margin) & (across < self._width + margin))
        if not len(seen):
            return []
        cos, sin = np.cos(scene.facing[seen]), np.sin(scene.facing[seen])
        # from a figure's own axes straight to the camera's: rows across, down, forward
        axes = np.array((right, down, forward))
        ahead = axes[:, :1] * cos + axes[:, 1:2] * sin
        aside = axes[:, 1:2] * cos - axes[:, :1] * sin
        px, py = gx[seen], gy[seen]
        base = axes[:, :1] * px + axes[:, 1:2] * py - axes[:, 2:] * camera.place[2]
        own = scene.joints[seen].transpose(2, 0, 1) * scene.sizes[seen][:, None]
        view = ahead[..., None] * own[0] + aside[..., None] * own[1] + axes[:, 2:, None] * own[2] + base[..., None]
        pixels = _flat(camera, view)
        unit = camera.focal / depth[seen]
        self._shadows(image, view, own[2], py + camera.place[1], unit, camera, axes)
        length = np.sqrt(px * px + py * py)
        towards = -(cos * px + sin * py) / length
        near = np.where(cos * py < sin * px, 0, 1)
        margin = 0.2 * unit + 1.5
        holding = [index for index, slot in enumerate(seen.tolist()) if slot in scene.props]
        margin[holding] += 0.6 * unit[holding] + 3
        low = np.maximum(np.floor(pixels.min(axis=1) - margin[:, None]), -40.0)
        high = np.minimum(np.ceil(pixels.max(axis=1) + margin[:, None]) + 1, (self._width + 40.0, self._height + 40.0))
        spots = (pixels - low[:, None] + 0.5) * (16 * OVER) - 8
        rows = np.clip(spots, -2e6, 2e6).astype(np.int64).tolist()
        corner, reach = low.astype(np.int64).tolist(), (high - low).astype(np.int64).tolist()
        shown: list[tuple[float, Figure]] = []
        line = self.air.shade_line
        units, facing_camera, sides = unit.tolist(), towards.tolist(), near.tolist()
        turned = ahead[:2].T.tolist()
        deep, lines = depth[seen].tolist(), scene.people[seen, 1].tolist()
        for index, slot in enumerate(seen.tolist()):
            (left, top), (wide, tall) = corner[index], reach[index]
            if (
                wide <= 0
                or tall <= 0
                or left + wide <= 0
                or top + tall <= 0
                or left >= self._width
                or top >= self._height
            ):
                continue
            outfit = scene.outfits[slot]
            if line is not None and lines[index] < line and outfit.dark is not None:
                outfit = outfit.dark
            figure = Figure(
                left=left,
                top=top,
                width=wide,
                height=tall,
                joints=rows[index],
                scale=units[index],
                outfit=outfit,
                towards=facing_camera[index],
                ahead=(turned[index][0], turned[index][1]),
                near=sides[index],
                prop=scene.props.get(slot, Prop.NONE),
                numbers=scene.numbers,
            )
            shown.append((deep[index], figure))
        patches = draw_figures([figure for _, figure in shown])
        return [
            (away, _later(lay, image, patch, keep, figure.left, figure.top))
            for (away, figure), (patch, keep) in zip(shown, patches, strict=True)
        ]

    def _shadows(
        self,
        image: Rgb,
        view: NDArray[np.float64],
        high: NDArray[np.float64],
        across: NDArray[np.float64],
        unit: NDArray[np.float64],
        camera: Camera,
        axes: NDArray[np.float64],
    ) -> None:
        """Shadows of people whose joints lie at `view` in the camera's axes, `high` above the grass."""
        mask = self._shadow
        mask[:] = 0
        full = len(self.air.shadows) == 1
        line = self.air.shade_line
        scales = unit.tolist()
        # people far away get one kind of shadow only: the cast one, or under clouds the dark about their feet
        cast = self.air.light is not Light.OVERCAST
        small = bool((unit < SMALL).all())
        in_sun = [True] * len(scales) if line is None else (across >= line).tolist()
        for light in self.air.shadows if cast or not small else ():
            way = axes[:, 0] * light.x + axes[:, 1] * light.y - axes[:, 2]
            pixels = _flat(camera, view + way[:, None, None] * high)
            spots = np.rint(np.clip(pixels, -3000, 6000) * 16).astype(np.int64).tolist()
            for person, scale in enumerate(scales):
                if in_sun[person]:
                    shadow_lines(mask, spots[person], scale, light.dark, full)
        if not cast or not small or line is not None:
            feet = view[:, :, list(Joint.ANKLES)] - axes[:, 2:, None] * high[:, list(Joint.ANKLES)]
            slope = max(0.12, math.sin(camera.tilt))
            for (x, y), scale in zip(_flat(camera, feet).mean(axis=1).tolist(), scales, strict=True):
                if -50 < x < self._width + 50 and -50 < y < self._height + 50:
                    reach = (max(1, round(0.3 * scale)), max(1, round(0.3 * scale * slope)))
                    cv2.ellipse(mask, (round(x), round(y)), reach, 0, 0, 360, 90, -1)
        _darken(image, mask)

    def _ball(self, image: Rgb, scene: Scene, camera: Camera) -> tuple[float, Callable[[], None]]:
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

    def _fixtures(
        self, draws: list[tuple[float, Callable[[], None]]], image: Rgb, scene: Scene, camera: Camera
    ) -> None:
        """Goals and corner flags that are in the picture."""
        for end in (-1, 1):
            if (depths := goal_depths(camera, end)) is not None:
                back, front = depths
                draws.append((back, _later(draw_net, image, camera, end, self.air, scene.bulge.get(end))))
                draws.append((back - 0.01, _later(draw_frame, image, camera, end, self.air, False)))
                draws.append((front, _later(draw_frame, image, camera, end, self.air, True)))
            for side in (-1, 1):
                depth = camera.see((end * 52.5, side * 34.0, 0.0))[2]
                if depth > 2:
                    draws.append((depth, _later(draw_corner_flag, image, camera, end, side, self.air, scene.seconds)))

    def _weather(self, image: Rgb, number: int) -> None:
        if self._fall is None:
            return
        layer = self._fall[number % LAYERS]
        top = number * 37 % 48
        cv2.add(image, layer[top : top + self._height], dst=image)


def _flat(camera: Camera, view: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixels [P, J, 2] of points [3, P, J] in a camera's axes."""
    scale = camera.focal / np.maximum(view[2], NEAR)
    out = np.empty((*scale.shape, 2))
    np.multiply(view[0], scale, out=out[..., 0])
    np.multiply(view[1], scale, out=out[..., 1])
    out += camera.centre
    return out


def _later(draw: Callable[..., None], *given: object) -> Callable[[], None]:
    return lambda: draw(*given)


def _half(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """A ball's streak: white over grass."""
    return (colour[0] + 70) // 2, (colour[1] + 130) // 2, (colour[2] + 60) // 2


def _darken(image: Rgb, mask: NDArray[np.uint8]) -> None:
    """Take light from the pixels under a mask."""
    step = 8 if mask.size % 8 == 0 else 1  # whole words are quicker to look through
    words = mask.reshape(-1).view(np.uint64) if step == 8 else mask.reshape(-1)
    spots = np.flatnonzero(words != 0)  # truths are quicker to count than numbers
    if len(spots):
        flat = image.reshape(-1, step, 3)
        keep = 256 - mask.reshape(-1, step)[spots].astype(np.uint16)
        flat[spots] = (flat[spots] * keep[..., None]) >> 8


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

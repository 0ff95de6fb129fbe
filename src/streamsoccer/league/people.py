"""People as a camera sees them: their shadows, large figures joint by joint, small ones as sprites."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.body import Joint
from streamsoccer.league.figures import FEW, Figure, Prop, draw_figure, shadow_lines
from streamsoccer.league.lens import NEAR, Camera, Rgb
from streamsoccer.league.light import Air
from streamsoccer.league.outfits import Outfit
from streamsoccer.league.patches import lay
from streamsoccer.league.sight import Draw, Scene, later
from streamsoccer.league.sprites import OVER, SMALL, codes_of, paint_sprites
from streamsoccer.league.world import Light

__all__ = ["People"]

_Reals = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Seen:
    """Some of the people [P] in front of a camera."""

    slots: NDArray[np.int64]
    depth: _Reals
    unit: _Reals  # pixels in a metre
    ground: _Reals  # [2, P] where they stand, from the camera
    base: _Reals  # [3, P] the same in the camera's axes: across, down, forward
    turn: _Reals  # [2, P] cosine and sine of how they face

    def only(self, which: NDArray[np.bool_]) -> _Seen:
        return _Seen(
            slots=self.slots[which],
            depth=self.depth[which],
            unit=self.unit[which],
            ground=self.ground[:, which],
            base=self.base[:, which],
            turn=self.turn[:, which],
        )

    def bodies(self, axes: _Reals, joints: NDArray[np.float32], sizes: _Reals) -> tuple[_Reals, _Reals]:
        """Joints [3, P, J] in the camera's axes, and how high [P, J] they are, from joints in people's own axes."""
        own = joints.transpose(2, 0, 1) * sizes[:, None]
        cos, sin = self.turn
        ahead = axes[:, :1] * cos + axes[:, 1:2] * sin
        aside = axes[:, 1:2] * cos - axes[:, :1] * sin
        view = ahead[..., None] * own[0] + aside[..., None] * own[1] + axes[:, 2:, None] * own[2]
        return view + self.base[..., None], own[2]

    def faced(self) -> tuple[_Reals, _Reals, _Reals]:
        """How far [P] people face across the picture and away from the camera, and how far off they are."""
        (cos, sin), (x, y) = self.turn, self.ground
        length = np.sqrt(x * x + y * y)
        return (cos * y - sin * x) / length, (cos * x + sin * y) / length, length


class People:
    """Draws the people of one match at one size."""

    def __init__(self, air: Air, width: int, height: int) -> None:
        self._air, self._width, self._height = air, width, height
        self._shadow = np.zeros((height, width), dtype=np.uint8)

    def paint(self, image: Rgb, scene: Scene, camera: Camera) -> list[Draw]:
        """Everybody in the picture, ready to be drawn; their shadows are drawn at once."""
        axes = np.array(camera.axes())
        seen = self._seen(scene, camera, axes)
        if not len(seen.slots):
            return []
        large = seen.unit >= SMALL
        if scene.props:
            large |= np.array([slot in scene.props for slot in seen.slots.tolist()])
        draws: list[Draw] = []
        self._shadow[:] = 0
        if large.any():
            near = seen.only(large)
            view, high = near.bodies(axes, scene.joints[near.slots], scene.sizes[near.slots])
            self._shadows(near, view, high, camera, axes)
            draws += self._large(image, scene, camera, near, view, axes)
            seen = seen.only(~large)
        if len(seen.slots):
            view, high = seen.bodies(axes, scene.joints[seen.slots[:, None], FEW], scene.sizes[seen.slots])
            self._shadows(seen, view, high, camera, axes)
            draws += self._small(image, scene, camera, seen)
        _darken(image, self._shadow)
        return draws

    def _seen(self, scene: Scene, camera: Camera, axes: _Reals) -> _Seen:
        right, _, forward = camera.axes()
        x, y = scene.people[:, 0] - camera.place[0], scene.people[:, 1] - camera.place[1]
        depth = x * forward[0] + y * forward[1] - camera.place[2] * forward[2]
        unit = camera.focal / np.maximum(depth, 1.0)
        across = camera.centre[0] + unit * (x * right[0] + y * right[1])
        margin = 2.6 * unit
        slots = np.flatnonzero(scene.here & (depth > 1.5) & (across > -margin) & (across < self._width + margin))
        ground = np.stack([x[slots], y[slots]])
        facing = scene.facing[slots]
        return _Seen(
            slots=slots,
            depth=depth[slots],
            unit=unit[slots],
            ground=ground,
            base=axes[:, :1] * ground[0] + axes[:, 1:2] * ground[1] - axes[:, 2:] * camera.place[2],
            turn=np.stack([np.cos(facing), np.sin(facing)]),
        )

    def _worn(self, scene: Scene, slots: list[int]) -> list[Outfit]:
        """What people wear, as sun or shade show it."""
        line = self._air.shade_line
        if line is None:
            return [scene.outfits[slot] for slot in slots]
        shaded = (scene.people[:, 1] < line).tolist()
        worn = [scene.outfits[slot] for slot in slots]
        return [each.dark or each if shaded[slot] else each for slot, each in zip(slots, worn, strict=True)]

    def _small(self, image: Rgb, scene: Scene, camera: Camera, seen: _Seen) -> list[Draw]:
        scale = seen.unit * scene.sizes[seen.slots]
        across, away, length = seen.faced()
        lift = np.arctan2(camera.place[2], length)
        codes = codes_of(scene.poses[seen.slots], across, away, lift, scale)
        spots = seen.base[:2] * (seen.unit * OVER)
        for axis in range(2):
            spots[axis] += camera.centre[axis] * OVER + 0.5
        inside = (spots[0] > -4e3) & (spots[1] > -4e3) & (spots[0] < 1.6e4) & (spots[1] < 1.6e4)
        inside &= (spots[1] > 0) & (spots[1] - 2.6 * OVER * scale < self._height * OVER)
        if not inside.all():
            seen, codes, spots = seen.only(inside), codes[inside], spots[:, inside]
        if not len(codes):
            return []
        places = np.rint(spots).astype(np.int64).T.tolist()
        placed = paint_sprites(codes.tolist(), self._worn(scene, seen.slots.tolist()), places)
        return [(deep, later(lay, image, *each)) for deep, each in zip(seen.depth.tolist(), placed, strict=True)]

    def _large(self, image: Rgb, scene: Scene, camera: Camera, seen: _Seen, view: _Reals, axes: _Reals) -> list[Draw]:
        pixels = _flat(camera, view)
        slots = seen.slots.tolist()
        margin = 0.2 * seen.unit + 1.5
        holding = [index for index, slot in enumerate(slots) if slot in scene.props]
        margin[holding] += 0.6 * seen.unit[holding] + 3
        low = np.maximum(np.floor(pixels.min(axis=1) - margin[:, None]), -40.0)
        high = np.minimum(np.ceil(pixels.max(axis=1) + margin[:, None]) + 1, (self._width + 40.0, self._height + 40.0))
        rows = np.clip((pixels - low[:, None] + 0.5) * (16 * OVER) - 8, -2e6, 2e6).astype(np.int64).tolist()
        corner, reach = low.astype(np.int64).tolist(), (high - low).astype(np.int64).tolist()
        across, away, _ = seen.faced()
        turned = (axes[:2, :1] * seen.turn[0] + axes[:2, 1:2] * seen.turn[1]).T.tolist()
        units, towards, sides = seen.unit.tolist(), (-away).tolist(), (across >= 0).tolist()
        outfits = self._worn(scene, slots)
        draws: list[Draw] = []
        for index, (deep, slot) in enumerate(zip(seen.depth.tolist(), slots, strict=True)):
            (left, top), (wide, tall) = corner[index], reach[index]
            inside = left + wide > 0 and top + tall > 0 and left < self._width and top < self._height
            if wide > 0 and tall > 0 and inside:
                figure = Figure(
                    width=wide,
                    height=tall,
                    joints=rows[index],
                    scale=units[index],
                    outfit=outfits[index],
                    towards=towards[index],
                    ahead=(turned[index][0], turned[index][1]),
                    near=int(sides[index]),
                    prop=scene.props.get(slot, Prop.NONE),
                    numbers=scene.numbers,
                )
                draws.append((deep, later(lay, image, *draw_figure(figure), left, top)))
        return draws

    def _shadows(self, seen: _Seen, view: _Reals, high: _Reals, camera: Camera, axes: _Reals) -> None:
        """Shadows of people whose joints lie at `view`, `high` above the grass."""
        mask, air = self._shadow, self._air
        few = view.shape[2] == len(FEW)
        full = len(air.shadows) == 1
        scales = seen.unit.tolist()
        lines = (seen.ground[1] + camera.place[1]).tolist()
        # people far away get one kind of shadow only: the cast one, or under clouds the dark about their feet
        cast = air.light is not Light.OVERCAST
        for light in air.shadows if cast or not few else ():
            way = axes[:, 0] * light.x + axes[:, 1] * light.y - axes[:, 2]
            pixels = _flat(camera, view + way[:, None, None] * high)
            spots = np.rint(np.clip(pixels, -3000, 6000) * 16).astype(np.int64).tolist()
            for person, scale in enumerate(scales):
                if air.shade_line is None or lines[person] >= air.shade_line:
                    shadow_lines(mask, spots[person], scale, light.dark, full)
        if not cast or not few or air.shade_line is not None:
            everybody = not cast or not few
            ankles = (2, 3) if few else Joint.ANKLES
            feet = view[:, :, ankles] - axes[:, 2:, None] * high[:, ankles]
            slope = max(0.12, math.sin(camera.tilt))
            for (x, y), scale, line in zip(_flat(camera, feet).mean(axis=1).tolist(), scales, lines, strict=True):
                if not everybody and (air.shade_line is None or line >= air.shade_line):
                    continue
                if -50 < x < self._width + 50 and -50 < y < self._height + 50:
                    reach = (max(1, round(0.3 * scale)), max(1, round(0.3 * scale * slope)))
                    cv2.ellipse(mask, (round(x), round(y)), reach, 0, 0, 360, 90, -1)


def _flat(camera: Camera, view: _Reals) -> _Reals:
    """Pixels [P, J, 2] of points [3, P, J] in a camera's axes."""
    scale = camera.focal / np.maximum(view[2], NEAR)
    out = np.empty((*scale.shape, 2))
    np.multiply(view[0], scale, out=out[..., 0])
    np.multiply(view[1], scale, out=out[..., 1])
    out += camera.centre
    return out


def _darken(image: Rgb, mask: NDArray[np.uint8]) -> None:
    """Take light from the pixels under a mask."""
    step = 8 if mask.size % 8 == 0 else 1  # whole words are quicker to look through
    words = mask.reshape(-1).view(np.uint64) if step == 8 else mask.reshape(-1)
    spots = np.flatnonzero(words != 0)  # truths are quicker to count than numbers
    if len(spots):
        flat = image.reshape(-1, step, 3)
        keep = 256 - mask.reshape(-1, step)[spots].astype(np.uint16)
        flat[spots] = (flat[spots] * keep[..., None]) >> 8

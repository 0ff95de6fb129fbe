"""Perspective: a camera that turns and zooms in its place, what it makes of the world, and the way back.

World: metres, x along the pitch, y across it away from the main camera, z up. A camera looks along `pan` (0 is +y,
a quarter turn is +x) and `tilt` (down is positive); it never rolls. A camera that only turns and zooms sees a still
stadium always as a homography of one wide still picture, its panorama: that is what keeps a frame cheap.
Everything here is plain IEEE arithmetic followed by fixed point, so that pixels do not depend on the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAR", "Camera", "Plane", "Point", "Rgb", "Warp", "clip_near", "sample_plane", "shrink"]

NEAR = 0.6  # metres in front of the lens; nothing nearer is drawn
STRIP = 192  # rows of a plane that are sampled at once
Point = tuple[float, float, float]
Rgb = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, slots=True)
class Camera:
    """Where a camera stands and looks; focal length and centre in pixels."""

    place: Point
    pan: float
    tilt: float
    focal: float
    centre: tuple[float, float]
    _axes: tuple[Point, Point, Point] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sa, ca, st, ct = math.sin(self.pan), math.cos(self.pan), math.sin(self.tilt), math.cos(self.tilt)
        axes = ((ca, -sa, 0.0), (-sa * st, -ca * st, -ct), (sa * ct, ca * ct, -st))
        object.__setattr__(self, "_axes", axes)

    def axes(self) -> tuple[Point, Point, Point]:
        """Unit vectors to the right, down and forward."""
        return self._axes

    def project(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pixels [..., 2] of points [..., 3], and their depth; pixels of points nearer than NEAR mean nothing."""
        right, down, forward = self.axes()
        x, y, z = (points[..., axis] - self.place[axis] for axis in range(3))
        depth = x * forward[0] + y * forward[1] + z * forward[2]
        scale = self.focal / np.maximum(depth, NEAR)
        out = np.empty((*points.shape[:-1], 2))
        out[..., 0] = self.centre[0] + (x * right[0] + y * right[1]) * scale
        out[..., 1] = self.centre[1] + (x * down[0] + y * down[1] + z * down[2]) * scale
        return out, depth

    def see(self, point: Point) -> tuple[float, float, float]:
        """Pixel and depth of one point."""
        right, down, forward = self.axes()
        x, y, z = point[0] - self.place[0], point[1] - self.place[1], point[2] - self.place[2]
        depth = x * forward[0] + y * forward[1] + z * forward[2]
        scale = self.focal / max(depth, NEAR)
        return (
            self.centre[0] + (x * right[0] + y * right[1]) * scale,
            self.centre[1] + (x * down[0] + y * down[1] + z * down[2]) * scale,
            depth,
        )

    def aim(self, point: Point) -> tuple[float, float]:
        """The pan and tilt that put a point in the middle."""
        x, y, z = point[0] - self.place[0], point[1] - self.place[1], point[2] - self.place[2]
        return math.atan2(x, y), math.atan2(-z, math.sqrt(x * x + y * y))

    def distance(self, point: Point) -> float:
        x, y, z = point[0] - self.place[0], point[1] - self.place[1], point[2] - self.place[2]
        return math.sqrt(x * x + y * y + z * z)


def clip_near(camera: Camera, corners: Sequence[Point]) -> list[Point]:
    """The part of a convex polygon that lies in front of the lens."""
    _, _, forward = camera.axes()
    depth = [sum((point[axis] - camera.place[axis]) * forward[axis] for axis in range(3)) - NEAR for point in corners]
    kept: list[Point] = []
    for index, (point, here) in enumerate(zip(corners, depth, strict=True)):
        before, there = corners[index - 1], depth[index - 1]
        if (here >= 0) != (there >= 0):
            part = there / (there - here)
            x, y, z = (before[axis] + (point[axis] - before[axis]) * part for axis in range(3))
            kept.append((x, y, z))
        if here >= 0:
            kept.append(point)
    return kept


@dataclass(frozen=True, kw_only=True, slots=True)
class Plane:
    """A textured parallelogram: texture pixel (column, row) lies at origin + column * across + row * along.

    With an `outline` (texture pixels) only that convex part of it is there.
    """

    origin: Point
    across: Point
    along: Point
    texture: Rgb
    outline: tuple[tuple[float, float], ...] | None = None

    def corners(self) -> list[Point]:
        height, width = self.texture.shape[:2]
        outline = self.outline or ((0, 0), (width, 0), (width, height), (0, height))
        return [
            (
                self.origin[0] + u * self.across[0] + v * self.along[0],
                self.origin[1] + u * self.across[1] + v * self.along[1],
                self.origin[2] + u * self.across[2] + v * self.along[2],
            )
            for u, v in outline
        ]


def sample_plane(image: Rgb, camera: Camera, plane: Plane) -> None:
    """Paint a textured plane as a camera sees it, over what is there."""
    inside = clip_near(camera, plane.corners())
    if len(inside) < 3:
        return
    height, width = image.shape[:2]
    outline = [camera.see(point)[:2] for point in inside]
    left = max(0, math.floor(min(x for x, _ in outline)))
    right = min(width, math.ceil(max(x for x, _ in outline)) + 1)
    top = max(0, math.floor(min(y for _, y in outline)))
    bottom = min(height, math.ceil(max(y for _, y in outline)) + 1)
    if right <= left or bottom <= top:
        return
    rows = _pixel_to_plane(camera, plane)
    fixed = np.array([[round((x - left) * 16), round((y - top) * 16)] for x, y in outline], dtype=np.int64)
    mask = np.zeros((bottom - top, right - left), dtype=np.uint8)
    cv2.fillConvexPoly(mask, fixed.clip(-(2**26), 2**26).astype(np.int32), 255, cv2.LINE_8, 4)
    for strip in range(top, bottom, STRIP):
        # only as far as the plane reaches in this strip
        x, y, wide, high = cv2.boundingRect(mask[strip - top : strip - top + STRIP])
        if not wide or not high:
            continue
        start, end, first, last = strip + y, strip + y + high, left + x, left + x + wide
        columns = np.arange(first, last, dtype=np.float32)[None]
        lines = np.arange(start, end, dtype=np.float32)[:, None]
        u, v, w = (np.float32(a) * columns + (np.float32(b) * lines + np.float32(c)) for a, b, c in rows)
        small = np.abs(w) < 1e-9
        w[small] = 1e-9
        u /= w
        v /= w
        np.clip(u, -8, plane.texture.shape[1] + 8, out=u)
        np.clip(v, -8, plane.texture.shape[0] + 8, out=v)
        whole, part = cv2.convertMaps(u, v, cv2.CV_16SC2)
        picture = cv2.remap(plane.texture, whole, part, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        cv2.copyTo(picture, mask[start - top : end - top, x : x + wide], image[start:end, first:last])


def _pixel_to_plane(camera: Camera, plane: Plane) -> tuple[tuple[float, float, float], ...]:
    """Rows of the homography from pixel (x, y, 1) to texture (u, v, 1), by cofactors."""
    right, down, forward = camera.axes()
    offset = tuple(plane.origin[axis] - camera.place[axis] for axis in range(3))

    def seen(vector: Sequence[float]) -> tuple[float, float, float]:
        x, y, z = (sum(vector[axis] * side[axis] for axis in range(3)) for side in (right, down, forward))
        cx, cy = camera.centre
        return camera.focal * x + cx * z, camera.focal * y + cy * z, z

    (a, d, g), (b, e, h), (c, f, i) = seen(plane.across), seen(plane.along), seen(offset)
    size = max(abs(each) for each in (a, b, c, d, e, f, g, h, i))
    a, b, c, d, e, f, g, h, i = (each / size for each in (a, b, c, d, e, f, g, h, i))
    # texture pixels have their centres at half numbers
    u = (e * i - f * h, c * h - b * i, b * f - c * e)
    v = (f * g - d * i, a * i - c * g, c * d - a * f)
    w = (d * h - e * g, b * g - a * h, a * e - b * d)
    unit = max(abs(each) for each in w)
    return (
        tuple((u[k] - 0.5 * w[k]) / unit for k in range(3)),  # type: ignore[return-value]
        tuple((v[k] - 0.5 * w[k]) / unit for k in range(3)),
        tuple(w[k] / unit for k in range(3)),
    )


def shrink(picture: Rgb, width: int, height: int) -> Rgb:
    """A picture averaged down."""
    return cast(Rgb, cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA))


class Warp:
    """Views of one size out of panoramas, in buffers of its own."""

    def __init__(self, width: int, height: int) -> None:
        shape = (height, width)
        self._x = np.arange(width, dtype=np.float32)[None]
        self._y = np.arange(height, dtype=np.float32)[:, None]
        self._u, self._v, self._w = (np.empty(shape, dtype=np.float32) for _ in range(3))
        self._whole = np.empty((*shape, 2), dtype=np.int16)
        self._part = np.empty(shape, dtype=np.uint16)

    def view(self, panorama: Rgb, taken: Camera, camera: Camera, out: Rgb | None = None) -> Rgb:
        """What `camera` sees of a panorama that a camera in the same place took; `out` is where to put it."""
        x, y = self._x, self._y
        (ua, ub, uc), (va, vb, vc), (wa, wb, wc) = _turn(taken, camera)
        f32 = np.float32
        np.add(f32(wa) * x, f32(wb) * y + f32(wc), out=self._w)
        np.reciprocal(self._w, out=self._w)
        np.add(f32(ua) * x, f32(ub) * y + f32(uc), out=self._u)
        np.multiply(self._u, self._w, out=self._u)
        np.add(f32(va) * x, f32(vb) * y + f32(vc), out=self._v)
        np.multiply(self._v, self._w, out=self._v)
        cv2.convertMaps(self._u, self._v, cv2.CV_16SC2, self._whole, self._part)
        return cast(
            Rgb, cv2.remap(panorama, self._whole, self._part, cv2.INTER_LINEAR, out, borderMode=cv2.BORDER_REPLICATE)
        )


def _turn(taken: Camera, camera: Camera) -> tuple[tuple[float, float, float], ...]:
    """Rows of the homography from pixels of `camera` to pixels of `taken`."""
    here, there = camera.axes(), taken.axes()

    def row(side: Point) -> tuple[float, float, float]:
        r, d, f = (sum(side[axis] * mine[axis] for axis in range(3)) for mine in here)
        return (
            r / camera.focal,
            d / camera.focal,
            f - (r * camera.centre[0] + d * camera.centre[1]) / camera.focal,
        )

    across, down, forward = (row(side) for side in there)
    return (
        tuple(taken.focal * across[k] + taken.centre[0] * forward[k] for k in range(3)),  # type: ignore[return-value]
        tuple(taken.focal * down[k] + taken.centre[1] * forward[k] for k in range(3)),
        forward,
    )

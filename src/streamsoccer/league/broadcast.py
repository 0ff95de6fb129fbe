"""A match on air: any moment of a half as a picture, and clips of it straight from the simulation.

The picture at t seconds shows the pitch one step of the simulation ago, between the two steps last finished by t; so no
pixel depends on what comes after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP, Clip
from streamsoccer.errors import UsageError
from streamsoccer.league.body import BOARD, STATURE, Cast, posture
from streamsoccer.league.director import Direction, Shot, ShotKind, direct
from streamsoccer.league.figures import Prop
from streamsoccer.league.goalframe import DEEP
from streamsoccer.league.graphics import Overlay
from streamsoccer.league.outfits import Outfit, Wardrobe
from streamsoccer.league.paint import Painter
from streamsoccer.league.rig import FOURTH, FOURTH_PLACE, Track, follow_ball, follow_person, follow_play
from streamsoccer.league.sight import Scene
from streamsoccer.league.truth import HZ, PEOPLE, Deed, DeedKind, Pose, Trace
from streamsoccer.league.turf import GOAL_HALF, GOAL_HEIGHT, LENGTH
from streamsoccer.league.world import Fixture, stream

__all__ = ["Broadcast", "HalfOnAir", "check_size", "direction_of"]

Rgb = NDArray[np.uint8]
# where people are, who is there, how they face, their joints and postures
_Bodies = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]]
LEAST, MOST = (160, 90), (3840, 2160)


def check_size(size: tuple[int, int]) -> None:
    """A picture must be of an even size that can be drawn."""
    width, height = size
    if not (LEAST[0] <= width <= MOST[0] and LEAST[1] <= height <= MOST[1]) or width % 2 or height % 2:
        raise UsageError(
            f"pictures of {width}x{height} cannot be drawn",
            remedy=f"use even numbers from {LEAST[0]}x{LEAST[1]} to {MOST[0]}x{MOST[1]}, as in 398x224",
        )
    if not 1.2 <= width / height <= 2.4:
        raise UsageError(f"pictures of {width}x{height} have no shape of a broadcast", remedy="use one near 16:9")


def direction_of(fixture: Fixture, trace: Trace) -> Direction:
    """What a half's director did; labels and pictures both come from this one."""
    return direct(trace, stream(fixture.seed, "director", fixture.world.value, fixture.index, trace.half))


class HalfOnAir:
    """One half: its direction, where the cameras looked, how bodies moved. The same at every size of picture."""

    def __init__(self, fixture: Fixture, trace: Trace) -> None:
        self.trace = _netted(trace)
        self.direction = direction_of(fixture, trace)
        self._tracks: dict[int, Track] = {}
        self._cards = [each for each in trace.deeds if each.kind in _CARDS]
        self._changes = [each for each in trace.deeds if each.kind is DeedKind.SUBSTITUTION]
        self._goals = [each for each in trace.deeds if each.kind is DeedKind.GOAL]

    @cached_property
    def cast(self) -> Cast:
        return Cast.of(self.trace)

    @cached_property
    def main(self) -> Track:
        return follow_play(self.trace)

    def moment(self, seconds: float) -> float:
        """What is on the screen so many seconds into the half's video, in steps.

        The last finished step is the newest that may be seen, and is reached just when the next one finishes.
        """
        return max(0.0, min(round(seconds * HZ, 6), self.trace.steps) - 1.0)

    def people(
        self, before: NDArray[np.int64], after: NDArray[np.int64], part: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Where people are between two steps [T, P, 2], and who is there [T, P]."""
        start, end = (self.trace.people[each].astype(np.float64) for each in (before, after))
        far = np.abs(end - start).max(axis=2) > 3.0  # a substitute takes the slot: no flight between two places
        start = np.where(np.isnan(start) | far[..., None], end, start)
        here = end[..., 0] == end[..., 0]  # nobody is where there is NaN
        return np.where(here[..., None], np.round(start + (end - start) * part[:, None, None], 4), 0.0), here

    def track(self, shot: Shot, shape: float) -> Track:
        """Where the camera of a shot looked."""
        if shot.kind is ShotKind.MAIN:
            return self.main
        if (found := self._tracks.get(shot.start)) is None:
            last = self.trace.steps - 1
            if shot.kind is ShotKind.CLOSE and shot.target is not None:
                end = min(last, shot.end)
                found = follow_person(self.trace, shot.station, shot.target, shot.start, end, shot.tall, shape)
            else:
                end = min(last, math.ceil(shot.source + (shot.end - shot.start) * shot.rate) + 1)
                found = follow_ball(self.trace, shot.station, shot.source, end, shot.span)
            self._tracks[shot.start] = found
        return found

    def props(self, step: int) -> dict[int, int]:
        """Who holds a card or a flag at a step."""
        out: dict[int, int] = {}
        pose = self.trace.pose[step]
        for slot in (23, 24):
            if pose[slot] == Pose.FLAG:
                out[slot] = Prop.FLAG
        if pose[22] == Pose.CARD:
            shown = [each for each in self._cards if each.step <= step]
            if shown:
                card = shown[-1]
                late = step - card.step > HZ
                red = card.kind is DeedKind.RED or (card.kind is DeedKind.SECOND_YELLOW and late)
                out[22] = Prop.RED if red else Prop.YELLOW
            else:
                out[22] = Prop.YELLOW
        return out

    def bulge(self, moment: float) -> dict[int, tuple[float, float, float]]:
        """How far a goal's net is pushed out at a moment, in steps."""
        for goal in self._goals:
            since = (moment - goal.step) / HZ
            if 0 <= since < 1.8:
                x, y, z = self.trace.ball[goal.step].tolist()
                push = 0.85 * min(1.0, since / 0.12) / (1 + (since / 0.5) ** 2)
                return {1 if x > 0 else -1: (max(-3.3, min(3.3, y)), max(0.2, min(2.2, z)), push)}
        return {}

    def change(self, step: int) -> Deed | None:
        """The change that the fourth official shows at a step."""
        shown = [each for each in self._changes if each.step <= step < each.step + 6 * HZ]
        return shown[-1] if shown else None

    def excited(self, moment: float) -> bool:
        """Whether the crowd is on its feet."""
        return any(0 <= moment - goal.step < 14 * HZ for goal in self._goals)


def _netted(trace: Trace) -> Trace:
    """The trace with the ball of each goal caught by the net, where it then drops and lies until it is fetched."""
    goals = [deed.step for deed in trace.deeds if deed.kind is DeedKind.GOAL]
    if not goals:
        return trace
    ball = trace.ball.copy()
    for goal in goals:
        way = 1.0 if ball[goal, 0] > 0 else -1.0
        for step in range(goal, trace.steps):
            x, y, z = ball[step].tolist()
            if (trace.live[step] and step > goal) or x * way < LENGTH - 2:
                break
            since = step - goal
            back = DEEP - 0.3 if since == 0 else DEEP - 0.6
            height = min(z, GOAL_HEIGHT - 0.3) if since == 0 else float(ball[goal, 2]) * max(0.0, 1 - since / 3) ** 2
            side = GOAL_HALF - 0.3
            ball[step] = (way * min(x * way, LENGTH + back), max(-side, min(side, y)), round(height, 3))
    return replace(trace, ball=ball)


_CARDS = (DeedKind.YELLOW, DeedKind.SECOND_YELLOW, DeedKind.RED)


class Broadcast:
    """The pictures of a match at one size."""

    def __init__(self, fixture: Fixture, halves: Sequence[Trace], size: tuple[int, int] = (398, 224)) -> None:
        check_size(size)
        cv2.setNumThreads(1)
        self.width, self.height = size
        self._fixture = fixture
        self.halves = {trace.half: HalfOnAir(fixture, trace) for trace in halves}
        self._painter = Painter(fixture, *size)
        self._wardrobe = Wardrobe(fixture, self._painter.air)
        self._overlay = Overlay(fixture, *size)
        self._outfits: dict[tuple[int, int], list[Outfit]] = {}

    def frame(self, half: int, seconds: float, *, overlays: bool = True) -> Rgb:
        """The picture on screen `seconds` into a half's video, uint8 RGB [height, width, 3]."""
        picture: Rgb = self.frames(half, (seconds,), overlays=overlays)[0]
        return picture

    def clips(self, half: int, *, overlays: bool = True) -> Iterator[Clip]:
        """The clips of a half, as a perfect codec would give them."""
        seconds = self.halves[half].trace.seconds
        for index in range(math.ceil(seconds / CLIP_SECONDS)):
            start = index * CLIP_SECONDS
            end = min(start + CLIP_SECONDS, seconds)
            samples = tuple(each for each in range(FRAMES_PER_CLIP) if start + each / FPS < end)
            times = tuple(start + each / FPS for each in samples)
            frames = self.frames(half, times, overlays=overlays)
            yield Clip(half=half, index=index, start=start, end=end, frames=frames, samples=samples, times=times)

    def frames(self, half: int, times: Sequence[float], *, overlays: bool = True) -> Rgb:
        """Pictures [T, height, width, 3] of one half; what there is to see in them is worked out together."""
        on_air = self.halves[half]
        moments = [on_air.moment(each) for each in times]
        shots = [on_air.direction.shot(moment) for moment in moments]
        shown = [shot.shows(moment) for moment, shot in zip(moments, shots, strict=True)]
        frames = np.empty((len(times), self.height, self.width, 3), dtype=np.uint8)
        rows = zip(times, moments, shots, shown, self._scenes(on_air, shown), frames, strict=True)
        for seconds, moment, shot, at, scene, image in rows:
            camera = on_air.track(shot, self.height / self.width).camera(at, self.width, self.height)
            self._painter.paint(image, scene, shot.station, camera, int(seconds * 25) + half * 7)
            if overlays:
                self._overlay.draw(image, on_air.trace, on_air.direction, moment)
        return frames

    def _scenes(self, on_air: HalfOnAir, moments: Sequence[float]) -> list[Scene]:
        """What there is to see at some moments, between the two steps about each."""
        trace = on_air.trace
        last = trace.steps - 1
        before = np.minimum(np.array(moments).astype(np.int64), last)
        after = np.minimum(before + 1, last)
        part = np.array(moments) - before
        people, here = on_air.people(before, after, part)
        old = trace.facing[before]
        turn = trace.facing[after].astype(np.float64) - old
        turn -= 2 * np.pi * np.rint(turn / (2 * np.pi))
        ball = trace.ball[before].astype(np.float64)
        way = trace.ball[after].astype(np.float64) - ball
        now = np.round(ball + way * part[:, None], 4)
        since = np.where((part > 0.1) | (before == 0), 0.1, part)
        was = now - way * since[:, None]
        facing = np.round(old + turn * part[:, None], 4)
        joints, poses = on_air.cast.joints(before, after, part)
        bodies = zip(people, here, facing, joints, poses, strict=True)
        rows = zip(moments, before.tolist(), now.tolist(), was.tolist(), bodies, strict=True)
        return [self._scene(on_air, *row) for row in rows]

    def _scene(
        self, on_air: HalfOnAir, moment: float, step: int, ball: list[float], ball_before: list[float], bodies: _Bodies
    ) -> Scene:
        """A moment, with who wears and holds what, and with the fourth official where he shows a change."""
        people, here, facing, joints, poses = bodies
        outfits, props = self._dressed(on_air.trace, step), on_air.props(step)
        numbers = (0, 0)
        if (change := on_air.change(step)) is not None:
            people, here = np.vstack([people, [FOURTH_PLACE]]), np.append(here, True)
            facing = np.append(facing, -1.571)
            held = posture(np.array([BOARD]), np.array([moment / 15 % 1]))
            joints, poses = np.concatenate([joints, held]), np.append(poses, 0)
            outfits = [*outfits, self._wardrobe.outfit(22, None)]
            props[FOURTH] = Prop.BOARD
            squad = self._fixture.club(change.side).squad
            numbers = (squad[change.player or 0].number, squad[change.other or 0].number)
        return Scene(
            ball=(ball[0], ball[1], ball[2]),
            ball_before=(ball_before[0], ball_before[1], ball_before[2]),
            people=people,
            here=here,
            facing=facing,
            joints=joints,
            poses=poses,
            outfits=outfits,
            sizes=np.array([each.stature for each in outfits]) / STATURE,
            props=props,
            numbers=numbers,
            bulge=on_air.bulge(moment),
            excited=on_air.excited(moment),
            seconds=moment / HZ,
        )

    def _dressed(self, trace: Trace, step: int) -> list[Outfit]:
        count = sum(1 for each in trace.shirts if each.step <= step)
        if (found := self._outfits.get((trace.half, count))) is None:
            found = [self._wardrobe.outfit(slot, trace.player_at(slot, step)) for slot in range(PEOPLE)]
            self._outfits[trace.half, count] = found
        return found

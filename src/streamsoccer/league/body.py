"""Bodies: seventeen joints, how each pose bends them in time, and who stands how at any moment of a half.

A figure's own axes: x ahead, y to its left, z up, metres, for a person of STATURE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.truth import HZ, PEOPLE, Pose, Trace

__all__ = ["BOARD", "FAST", "GAITS", "JOINTS", "PHASES", "STATURE", "Cast", "Joint", "posture", "table"]

STATURE = 1.8
PHASES = 32  # pictures of a pose in time
JOINTS = 17


class Joint:
    """Rows of a posture."""

    HEAD, NECK, PELVIS = 0, 1, 2
    SHOULDERS, ELBOWS, HANDS = (3, 4), (5, 6), (7, 8)  # left, right
    HIPS, KNEES, ANKLES, TOES = (9, 10), (11, 12), (13, 14), (15, 16)


# Postures beyond the trace's poses: the same poses as other people or other moments have them
AEROPLANE, READY, HANDS_ON_HIPS, BACKWARD, BOARD = 18, 19, 20, 21, 22
POSTURES = 23
# Seconds that a pose takes from its first picture to its last; poses that go round are marked
_LASTS: dict[int, tuple[float, bool]] = {
    Pose.STAND: (4.0, True),
    Pose.KICK: (0.55, False),
    Pose.HEADER: (0.8, False),
    Pose.SLIDE: (0.9, False),
    Pose.DIVE: (0.9, False),
    Pose.JUMP: (0.8, False),
    Pose.FALL: (0.7, False),
    Pose.LIE: (2.4, True),
    Pose.CELEBRATE: (0.9, True),
    Pose.THROW: (0.8, False),
    Pose.HOLD: (3.0, True),
    Pose.CARD: (1.6, True),
    Pose.FLAG: (1.1, True),
    Pose.POINT: (2.0, True),
    Pose.PROTEST: (1.1, True),
    AEROPLANE: (0.8, True),
    READY: (1.6, True),
    HANDS_ON_HIPS: (4.0, True),
    BOARD: (3.0, True),
}
_STRIDE: dict[int, float] = {Pose.WALK: 1.5, Pose.RUN: 2.6, Pose.SPRINT: 3.7, BACKWARD: 1.6}  # metres for two steps
GAITS = frozenset(_STRIDE)  # whose second half is the first with left and right exchanged
FAST = 0.6  # metres a second from which nobody is standing

Vector = tuple[float, float, float]


@dataclass(kw_only=True, slots=True)
class _Bend:
    """Angles of a body: ahead is positive; arms and legs are (left, right)."""

    lean: float = 0.05
    hips: tuple[float, float] = (0.05, -0.05)
    knees: tuple[float, float] = (0.06, 0.06)
    spread: float = 0.06  # legs
    arms: tuple[float, float] = (0.05, 0.05)
    elbows: tuple[float, float] = (0.25, 0.25)
    wide: tuple[float, float] = (0.14, 0.14)  # arms
    pitch: float = 0.0  # the whole body about its pelvis
    pelvis: float | None = None  # its height; None: as high as the feet allow
    rise: float = 0.0  # off the ground
    nod: float = 0.0
    shift: float = 0.0  # ahead


def _posture(bend: _Bend) -> NDArray[np.float64]:
    out = np.zeros((JOINTS, 3))
    sl, cl = math.sin(bend.lean), math.cos(bend.lean)

    def put(row: int, base: int | None, ahead: float, left: float, up: float) -> None:
        start = out[base] if base is not None else (0.0, 0.0, 0.0)
        out[row] = (start[0] + ahead, start[1] + left, start[2] + up)

    def trunk(ahead: float, up: float) -> tuple[float, float]:
        return ahead * cl + up * sl, up * cl - ahead * sl

    dx, dz = trunk(0.0, 0.52)
    put(Joint.NECK, Joint.PELVIS, dx, 0.0, dz)
    nod = bend.lean * 0.4 + bend.nod
    put(Joint.HEAD, Joint.NECK, 0.19 * math.sin(nod) + 0.02, 0.0, 0.19 * math.cos(nod))
    for side, way in ((0, 1.0), (1, -1.0)):
        dx, dz = trunk(0.0, -0.04)
        put(Joint.SHOULDERS[side], Joint.NECK, dx, way * 0.185, dz)
        swing, bent, wide = bend.arms[side], bend.elbows[side], bend.wide[side]
        for joint, base, length, angle in (
            (Joint.ELBOWS[side], Joint.SHOULDERS[side], 0.29, swing),
            (Joint.HANDS[side], Joint.ELBOWS[side], 0.29, swing + bent),
        ):
            ahead, up = math.sin(angle) * math.cos(wide), -math.cos(angle) * math.cos(wide)
            dx, dz = trunk(ahead * length, up * length)
            put(joint, base, dx, way * math.sin(wide) * length, dz)
        put(Joint.HIPS[side], Joint.PELVIS, 0.0, way * 0.1, -0.03)
        hip, knee = bend.hips[side], bend.knees[side]
        out_ = way * math.sin(bend.spread)
        put(Joint.KNEES[side], Joint.HIPS[side], 0.44 * math.sin(hip), 0.44 * out_, -0.44 * math.cos(hip))
        low = hip - knee
        put(Joint.ANKLES[side], Joint.KNEES[side], 0.42 * math.sin(low), 0.3 * out_, -0.42 * math.cos(low))
        put(Joint.TOES[side], Joint.ANKLES[side], 0.19 * math.cos(low), 0.03 * way, 0.19 * math.sin(low) - 0.03)
    if bend.pitch:
        sp, cp = math.sin(bend.pitch), math.cos(bend.pitch)
        x, z = out[:, 0].copy(), out[:, 2].copy()
        out[:, 0], out[:, 2] = x * cp + z * sp, z * cp - x * sp
    floor = float(min(out[row, 2] for pair in (Joint.ANKLES, Joint.TOES) for row in pair))
    out[:, 2] += (bend.pelvis if bend.pelvis is not None else 0.05 - floor) + bend.rise
    if bend.pelvis is not None:
        out[:, 2] = np.maximum(out[:, 2], 0.07)
    out[:, 0] += bend.shift
    return out


def _gait(phase: float, reach: float, fold: float, lean: float, swing: float, elbow: float) -> _Bend:
    angle = 2 * math.pi * phase
    s, c = math.sin(angle), math.cos(angle)
    return _Bend(
        lean=lean,
        hips=(reach * s + 0.12 * reach, -reach * s + 0.12 * reach),
        knees=(0.14 + fold * max(0.0, c) + 0.1 * fold, 0.14 + fold * max(0.0, -c) + 0.1 * fold),
        arms=(-swing * s, swing * s),
        elbows=(elbow, elbow),
        wide=(0.18, 0.18),
        spread=0.03,
        rise=0.05 * reach * abs(c) if reach > 0.6 else 0.0,
    )


def _ease(part: float) -> float:
    part = max(0.0, min(1.0, part))
    return part * part * (3 - 2 * part)


def _bend(posture: int, p: float) -> _Bend:
    """The angles of a posture, `p` of its way through."""
    wave = math.sin(2 * math.pi * p)
    hop = 4 * p * (1 - p)
    match posture:
        case Pose.WALK:
            return _gait(p, 0.42, 0.5, 0.07, 0.4, 0.35)
        case Pose.RUN:
            return _gait(p, 0.75, 1.25, 0.16, 0.75, 1.25)
        case Pose.SPRINT:
            return _gait(p, 1.0, 1.7, 0.28, 1.05, 1.5)
        case _ if posture == BACKWARD:
            return _gait(1 - p, 0.4, 0.5, 0.02, 0.3, 0.8)
        case Pose.KICK:
            strike = _ease(p / 0.45)
            return _Bend(
                lean=0.02 - 0.22 * strike,
                hips=(0.1, -0.85 + 2.15 * strike - 0.6 * _ease((p - 0.6) / 0.4)),
                knees=(0.25, 1.45 - 1.35 * strike),
                arms=(0.9 - 1.3 * strike, -0.8 + 1.5 * strike),
                wide=(0.9, 0.55),
                spread=0.1,
            )
        case Pose.HEADER:
            thrust = _ease((p - 0.25) / 0.3)
            return _Bend(
                lean=-0.35 + 0.75 * thrust,
                nod=-0.3 + 0.7 * thrust,
                hips=(-0.2 + 0.3 * thrust, -0.1),
                knees=(0.9 * hop, 0.6 * hop),
                arms=(0.8, 0.8),
                elbows=(0.9, 0.9),
                wide=(0.8, 0.8),
                rise=0.55 * hop,
            )
        case Pose.JUMP:
            return _Bend(
                lean=0.0,
                hips=(0.2 * hop, 0.0),
                knees=(0.5 * hop, 0.2),
                arms=(2.9, 2.9),
                elbows=(0.1, 0.1),
                rise=0.5 * hop,
            )
        case Pose.SLIDE:
            down = _ease(p / 0.25)
            return _Bend(
                lean=0.1 - 0.95 * down,
                hips=(0.5 + 0.3 * down, 0.4 + 1.1 * down),
                knees=(0.6 + 1.3 * down, 0.3 - 0.25 * down),
                arms=(-0.9 * down, 0.3),
                elbows=(0.2, 0.6),
                wide=(0.5, 0.9),
                pelvis=0.85 - 0.66 * down,
                shift=0.4 * down,
            )
        case Pose.DIVE:
            over = _ease(p / 0.4)
            return _Bend(
                lean=0.1,
                hips=(0.35 - 0.5 * over, -0.1),
                knees=(0.7 - 0.4 * over, 0.3),
                arms=(1.2 + 1.7 * over, 1.2 + 1.6 * over),
                elbows=(0.1, 0.1),
                wide=(0.1, 0.1),
                pitch=0.2 + 1.3 * over,
                pelvis=0.85 + 0.45 * 4 * min(0.5, p * 0.75) * (1 - min(0.5, p * 0.75)) - 1.1 * _ease((p - 0.35) / 0.65),
                shift=0.7 * over,
            )
        case Pose.FALL:
            over = _ease(p / 0.8)
            return _Bend(
                hips=(0.2, 0.5 * over),
                knees=(0.4, 0.9 * over),
                arms=(1.3, 1.5),
                elbows=(0.4, 0.3),
                wide=(0.4, 0.5),
                pitch=1.45 * over,
                pelvis=0.95 - 0.78 * over,
            )
        case Pose.LIE:
            return _Bend(
                lean=0.25 + 0.08 * wave,
                hips=(0.9 + 0.25 * wave, 0.2),
                knees=(1.5 + 0.3 * wave, 0.3),
                arms=(1.1, 0.6),
                elbows=(0.7, 0.3),
                wide=(0.1, 0.8),
                pitch=-1.45,
                pelvis=0.16,
            )
        case Pose.CELEBRATE:
            jump = abs(wave)
            return _Bend(
                lean=-0.05,
                hips=(0.3 * jump, -0.2 * jump),
                knees=(0.7 * jump, 0.6 * jump),
                arms=(2.75 + 0.2 * wave, 2.75 - 0.2 * wave),
                elbows=(0.25, 0.25),
                wide=(0.45, 0.45),
                rise=0.28 * jump,
            )
        case _ if posture == AEROPLANE:
            bend = _gait(p, 0.75, 1.25, 0.16, 0.0, 0.05)
            bend.wide, bend.arms, bend.elbows = (1.45 + 0.15 * wave, 1.45 - 0.15 * wave), (0.3, 0.3), (0.05, 0.05)
            return bend
        case Pose.THROW:
            over = _ease((p - 0.2) / 0.5)
            return _Bend(
                lean=-0.28 + 0.6 * over,
                hips=(0.25, -0.3),
                knees=(0.2, 0.25),
                arms=(3.5 - 1.3 * over, 3.5 - 1.3 * over),
                elbows=(-0.9 + 0.8 * over, -0.9 + 0.8 * over),
                wide=(0.0, 0.0),
            )
        case Pose.HOLD:
            return _Bend(arms=(0.5, 0.5), elbows=(1.25, 1.25), wide=(-0.12, -0.12))
        case Pose.CARD:
            return _Bend(lean=0.0, arms=(0.0, 2.85 + 0.04 * wave), elbows=(0.2, 0.1), wide=(0.12, 0.1))
        case Pose.FLAG:
            return _Bend(lean=0.0, arms=(0.0, 3.0 + 0.12 * wave), elbows=(0.2, 0.03), wide=(0.12, 0.1))
        case Pose.POINT:
            return _Bend(lean=0.05, arms=(0.0, 1.65), elbows=(0.2, 0.0), wide=(0.12, 0.05))
        case Pose.PROTEST:
            return _Bend(
                lean=0.12,
                arms=(0.5 + 0.2 * wave, 0.5 - 0.2 * wave),
                elbows=(1.2, 1.2),
                wide=(0.75, 0.75),
                hips=(0.2, -0.15),
            )
        case _ if posture == READY:
            return _Bend(
                lean=0.35,
                hips=(0.55, 0.55),
                knees=(0.9, 0.9),
                spread=0.28,
                arms=(0.5, 0.5),
                elbows=(0.7, 0.7),
                wide=(0.55, 0.55),
            )
        case _ if posture == BOARD:
            return _Bend(lean=0.0, arms=(2.75, 2.75), elbows=(0.1, 0.1), wide=(0.0, 0.0))
        case _ if posture == HANDS_ON_HIPS:
            return _Bend(arms=(-0.35, -0.35), elbows=(0.9, 0.9), wide=(0.75, 0.75), spread=0.14)
        case _:
            return _Bend(lean=0.05 + 0.02 * wave, arms=(0.05, 0.02), spread=0.1)


def _table() -> NDArray[np.float32]:
    table = np.zeros((POSTURES, PHASES, JOINTS, 3))
    for kind in range(POSTURES):
        round_trip = kind in _STRIDE or _LASTS[kind][1]
        for picture in range(PHASES):
            part = picture / PHASES if round_trip else picture / (PHASES - 1)
            table[kind, picture] = _posture(_bend(kind, part))
    return np.round(table, 3).astype(np.float32)


_TABLE = _table()
_FLAT = _TABLE.reshape(POSTURES * PHASES, JOINTS, 3)


def table() -> NDArray[np.float32]:
    """All postures [POSTURES, PHASES, JOINTS, 3]; not to be written to."""
    return _TABLE


def posture(kind: NDArray[np.int64], phase: NDArray[np.float64]) -> NDArray[np.float32]:
    """Joints [P, JOINTS, 3] of people in these postures, each `phase` (0 to 1) of the way through."""
    return _TABLE[kind, (phase * PHASES).astype(np.int64) % PHASES]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cast:
    """What each body does at each step of a half, told from this step and earlier ones alone."""

    kind: NDArray[np.uint8]  # [N, PEOPLE] posture
    phase: NDArray[np.float32]  # [N, PEOPLE] in rounds or in parts of the pose's length
    pace: NDArray[np.float32]  # [N, PEOPLE] how much the phase grows in the step that ends here

    @classmethod
    def of(cls, trace: Trace) -> Cast:
        steps = trace.steps
        moved = np.zeros((steps, PEOPLE), dtype=np.float64)
        way = np.diff(trace.people.astype(np.float64), axis=0)
        moved[1:] = np.nan_to_num(np.sqrt(way[..., 0] * way[..., 0] + way[..., 1] * way[..., 1]))
        moved = np.minimum(moved, 2.2)  # a substitute does not fly in
        speed = moved * HZ
        kind = trace.pose.astype(np.int64)
        upright = kind <= Pose.SPRINT
        kind = np.where(upright & (speed > 5.6), Pose.SPRINT, kind)
        kind = np.where(upright & (speed > 2.3) & (speed <= 5.6), Pose.RUN, kind)
        kind = np.where(upright & (speed > FAST) & (speed <= 2.3), Pose.WALK, kind)
        kind = np.where(upright & (speed <= FAST), Pose.STAND, kind)
        still = kind == Pose.STAND
        for keeper in (0, 11):
            near = np.abs(trace.ball[:, 0] - trace.people[:, keeper, 0]) < 34
            kind[:, keeper] = np.where(still[:, keeper] & near & trace.live, READY, kind[:, keeper])
        idle = still & ~trace.live[:, None] & (np.arange(PEOPLE) % 3 == 0)
        kind = np.where(idle & (np.arange(PEOPLE) < 22), HANDS_ON_HIPS, kind)
        kind = np.where((kind == Pose.CELEBRATE) & ((speed > 2.0) | (np.arange(PEOPLE) % 4 == 1)), AEROPLANE, kind)
        backward = np.zeros_like(speed, dtype=bool)
        cos, sin = np.cos(trace.facing[1:]), np.sin(trace.facing[1:])
        backward[1:] = np.nan_to_num(way[..., 0] * cos + way[..., 1] * sin) < -0.3 * moved[1:]
        kind = np.where((kind == Pose.WALK) & backward, BACKWARD, kind)
        rate = np.zeros(POSTURES)
        stride = np.zeros(POSTURES)
        for each, (seconds, _) in _LASTS.items():
            rate[each] = 1 / (seconds * HZ)
        for each, metres in _STRIDE.items():
            stride[each] = 1 / metres
        pace = np.round(rate[kind] + stride[kind] * moved, 4)
        goes_round = np.array([k in _STRIDE or _LASTS[k][1] for k in range(POSTURES)])
        path = np.cumsum(pace, axis=0)
        first = np.zeros((steps, PEOPLE), dtype=np.int64)
        changed = kind[1:] != kind[:-1]
        first[1:] = np.where(changed, np.arange(1, steps)[:, None], 0)
        first = np.maximum.accumulate(first, axis=0)
        since = path - np.take_along_axis(path, first, axis=0)
        own = np.arange(PEOPLE) * 0.37  # nobody marches in step
        phase = np.where(goes_round[kind], (path + own) % 1.0, since)
        return cls(kind=kind.astype(np.uint8), phase=phase.astype(np.float32), pace=pace.astype(np.float32))

    def joints(
        self, before: NDArray[np.int64], after: NDArray[np.int64], part: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Joints [T, PEOPLE, JOINTS, 3] in their own axes, `part` [T] of the way between steps that follow each other.

        And [T, PEOPLE] which row of the table of postures is nearest, its two axes taken as one.
        """
        kind, kept = self.kind[after], self.kind[before]
        share = part.astype(np.float32)[:, None]
        phase = self.phase[after] - (1.0 - part).astype(np.float32)[:, None] * self.pace[after]
        # a pose that goes round comes again after its last picture; another stays there
        picture = (phase * PHASES).astype(np.int64)
        picture = np.where(_ONCE[kind], np.minimum(np.maximum(picture, 0), PHASES - 1), picture % PHASES)
        row = kind.astype(np.int64) * PHASES + picture
        now: NDArray[np.float32] = _FLAT[row]
        turning = kind != kept
        if turning.any():
            old = self.phase[before]
            old = np.where(_ONCE[kept], np.minimum(old, np.float32(0.999)), old % 1.0)
            was = posture(kept[turning].astype(np.int64), old[turning].astype(np.float64))
            now[turning] = was + (now[turning] - was) * np.broadcast_to(share, kind.shape)[turning][:, None, None]
        return now, row


_ONCE = np.array([not (kind in _STRIDE or _LASTS[kind][1]) for kind in range(POSTURES)])

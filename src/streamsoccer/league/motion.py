"""How 25 bodies move: towards their targets, within what legs can do, without standing in each other."""

from __future__ import annotations

import math

import numpy as np

from streamsoccer.league.play import Play
from streamsoccer.league.truth import HZ

__all__ = ["move"]

DT = 1.0 / HZ
_ACCELERATION = 5.2 * DT  # m/s a step
_BODY = 0.7  # metres between two bodies
_EDGE = np.array([58.0, 38.5])
_TURN = 2 * np.pi
_UPPER = np.triu(np.ones((25, 25), dtype=bool), 1)


def move(play: Play) -> None:
    """One step for everybody."""
    pos, vel = play.pos, play.vel
    ahead = play.target - pos
    far = np.sqrt(ahead[:, 0] * ahead[:, 0] + ahead[:, 1] * ahead[:, 1]) + 1e-9
    # Nobody overshoots: the last metres are walked.
    pace = np.minimum(play.cap * play.pace, far * 1.6)
    pace[play.frozen_until > play.step] = 0.0
    change = ahead * (pace / far)[:, None] - vel
    size = np.sqrt(change[:, 0] * change[:, 0] + change[:, 1] * change[:, 1]) + 1e-9
    change *= np.minimum(1.0, _ACCELERATION / size)[:, None]
    vel += change
    vel.round(3, out=vel)
    pos += vel * DT
    _separate(play)
    np.minimum(np.maximum(pos, -_EDGE, out=pos), _EDGE, out=pos)
    pos.round(3, out=pos)
    if not play.on.all():
        # Who was sent off waits far away, each in his own place.
        for slot in np.nonzero(~play.on)[0].tolist():
            pos[slot] = (500.0 + 50.0 * slot, 500.0)
    _face(play)


def _separate(play: Play) -> None:
    """Push apart who stands too close; `play.gap` keeps the distances for the rest of the step."""
    pos = play.pos
    dx = pos[:, 0, None] - pos[None, :, 0]
    dy = pos[:, 1, None] - pos[None, :, 1]
    square = dx * dx + dy * dy
    close = (square < _BODY * _BODY) & _UPPER
    if close.any():
        for one, two in zip(*(each.tolist() for each in np.nonzero(close)), strict=True):
            gap = math.sqrt(float(square[one, two]))
            x, y = (1.0, 0.0) if gap < 0.01 else (float(dx[one, two]) / gap, float(dy[one, two]) / gap)
            push = (_BODY - gap) * 0.35
            pos[one, 0] += x * push
            pos[one, 1] += y * push
            pos[two, 0] -= x * push
            pos[two, 1] -= y * push
    play.square = square


def _face(play: Play) -> None:
    """Who runs looks where he runs, who stands looks at the ball; bodies turn at most so fast."""
    vel, pos = play.vel, play.pos
    speed2 = vel[:, 0] * vel[:, 0] + vel[:, 1] * vel[:, 1]
    running = speed2 > 2.2
    x = np.where(running, vel[:, 0], play.ball.x - pos[:, 0])
    y = np.where(running, vel[:, 1], play.ball.y - pos[:, 1])
    wanted = np.arctan2(y, x)
    facing = play.facing
    turn = wanted - facing
    turn -= _TURN * np.rint(turn / _TURN)
    free = play.pose_until <= play.step
    facing += np.minimum(np.maximum(turn, -0.9), 0.9) * free
    facing -= _TURN * np.rint(facing / _TURN)
    facing.round(3, out=facing)
    # Stand, walk, run, sprint: the first four poses in order.
    gait = (speed2 > 0.25).astype(np.uint8) + (speed2 > 4.8) + (speed2 > 36.0)
    play.pose[free] = gait[free]

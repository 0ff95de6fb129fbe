"""A shot on its way: blocked, saved, off the frame, or not; and the keeper's part in it."""

from __future__ import annotations

import math

from streamsoccer.league.contests import hold
from streamsoccer.league.kicks import settle_shot
from streamsoccer.league.pitch import BAR, GOAL_HALF, HALF_LENGTH
from streamsoccer.league.play import Play, Shot
from streamsoccer.league.truth import HZ, DeedKind, Outcome, Pose

__all__ = ["dive", "fly"]

SAVE_BIAS = 3.25
_FRAME = 0.13


def dive(play: Play) -> None:
    """The keeper goes where he thinks it goes, once he has seen it."""
    shot = play.shot
    if shot is None:
        return
    keeper = 11 * (1 - shot.side)
    d = play.direction[shot.side]
    x = float(play.pos[keeper, 0])
    if shot.arrives - play.step <= 4 or play.step >= shot.struck + 2:
        play.target[keeper] = (min(52.2, max(x * d, 48.0)) * d, _crossing(play, shot, x))
        play.cap[keeper] = 0.85


def _crossing(play: Play, shot: Shot, x: float) -> float:
    """Where across the pitch the shot passes a plane of this depth."""
    ball = play.ball
    whole = shot.target[0] - ball.x
    part = 1.0 if abs(whole) < 0.5 else min(1.0, max(0.0, (x - ball.x) / whole))
    return ball.y + part * (shot.target[1] - ball.y)


def fly(play: Play) -> bool:
    """One step of a shot; says whether somebody or something stopped it."""
    shot = play.shot
    if shot is None:
        return False
    ball = play.ball
    if shot.blocker is not None and play.step >= shot.block_step:
        _block(play, shot, shot.blocker)
        return True
    if shot.done or play.step < shot.arrives - 1:
        return False
    shot.done = True
    y, z = shot.target[1], shot.target[2]
    on_frame = (abs(abs(y) - GOAL_HALF) < _FRAME and z < BAR + _FRAME) or (
        abs(z - BAR) < _FRAME and abs(y) < GOAL_HALF + _FRAME
    )
    if on_frame and not shot.on_target:
        d = play.direction[shot.side]
        settle_shot(play, Outcome.POST, bar=abs(z - BAR) < _FRAME)
        play.last = shot.shooter
        ball.x = round(d * (HALF_LENGTH - 0.4), 3)
        ball.y = round(y, 3)
        ball.kick(-d * (4.0 + 6.0 * play.luck()), (play.luck() - 0.5) * 12.0, 1.0)
        play.plan_at = play.step
        return True
    keeper = 11 * (1 - shot.side)
    if not shot.on_target:
        if abs(y) < GOAL_HALF + 1.6:
            _throw_himself(play, keeper, y)
        return False
    return _try_save(play, shot, keeper)


def _throw_himself(play: Play, keeper: int, y: float) -> None:
    side = 1.0 if y > float(play.pos[keeper, 1]) else -1.0
    play.facing[keeper] = side * math.pi / 2
    play.act(keeper, Pose.DIVE, 5, freeze=True)


def _try_save(play: Play, shot: Shot, keeper: int) -> bool:
    if not play.on[keeper]:
        return False
    x, y = play.place(keeper)
    across = abs(_crossing(play, shot, x) - y)
    seconds = (shot.arrives - shot.struck) / HZ
    span = 0.9 + min(2.3, 2.6 * max(0.0, seconds - 0.22))
    skill = play.skill["keeping"][keeper] - 0.5
    hard = max(0.0, shot.speed - 22.0) * 0.05 + max(0.0, shot.target[2] - 1.6) * 0.5
    odds = 1.0 / (1.0 + math.exp(-(1.35 * (span - across) + 1.8 * skill + SAVE_BIAS - hard)))
    odds *= min(1.0, 0.5 + 0.9 * seconds)
    if play.deeds[shot.deed].detail.get("penalty"):
        odds = 0.2 + 0.2 * skill
    if across > 0.9:
        _throw_himself(play, keeper, shot.target[1])
    if play.luck() >= odds:
        return False
    side = 1 - shot.side
    d = play.direction[side]
    easy = across < 0.9 and shot.speed < 26.0
    ball = play.ball
    ball.x, ball.y = round(x + 0.4 * d, 3), round(_crossing(play, shot, x), 3)
    ball.z = round(min(2.3, shot.target[2]), 3)
    play.ledger.count(side, saves=1)
    settle_shot(play, Outcome.SAVED)
    roll = play.luck()
    if roll < (0.8 if easy else 0.27):
        play.tell(DeedKind.SAVE, keeper, shot.shooter, outcome=Outcome.HELD)
        hold(play, keeper)
        return True
    play.last = keeper
    play.holder = -1
    out = 1.0 if ball.y > 0 else -1.0
    tipped = roll > 0.45 and not easy
    if tipped:
        play.tell(DeedKind.SAVE, keeper, shot.shooter, outcome=Outcome.TIPPED)
        ball.y = round(out * max(abs(ball.y), GOAL_HALF + 0.4), 3)
        ball.kick(-d * (5.0 + 4.0 * play.luck()), out * (3.0 + 4.0 * play.luck()), 1.5)
    else:
        play.tell(DeedKind.SAVE, keeper, shot.shooter, outcome=Outcome.PARRIED)
        ball.kick(d * (3.0 + 6.0 * play.luck()), out * (1.0 + 8.0 * play.luck()), 1.5)
    play.locked, play.locked_until = keeper, play.step + 4
    play.plan_at = play.step
    return True


def _block(play: Play, shot: Shot, blocker: int) -> None:
    ball = play.ball
    play.tell(DeedKind.BLOCK, blocker, shot.shooter, outcome=Outcome.BLOCKED)
    settle_shot(play, Outcome.BLOCKED)
    play.last = blocker
    play.act(blocker, Pose.SLIDE if play.luck() < 0.4 else Pose.KICK, 3, freeze=True)
    turn = math.pi + play.bell(0.8) if play.luck() < 0.6 else play.bell(0.55)
    keep = 0.2 + 0.35 * play.luck()
    c, s = math.cos(turn), math.sin(turn)
    ball.kick(keep * (ball.vx * c - ball.vy * s), keep * (ball.vx * s + ball.vy * c), 1.0 + 3.0 * play.luck())
    play.locked, play.locked_until = blocker, play.step + 2
    play.plan_at = play.step

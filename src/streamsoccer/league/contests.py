"""Who gets the ball: races for it, first touches, headers, tackles and dribbles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league import laws
from streamsoccer.league.ball import path
from streamsoccer.league.decisions import think
from streamsoccer.league.kicks import clear, onside, pass_ball, settle_shot, shoot
from streamsoccer.league.pitch import HALF_LENGTH
from streamsoccer.league.play import Play
from streamsoccer.league.truth import HZ, DeedKind, Outcome, Pose

__all__ = ["chase", "control", "press", "tackle"]

Array = NDArray[np.float64]
_AHEAD = 20  # steps of the ball's path that a race looks at
_TIMES = (np.arange(_AHEAD) + 1.0) / HZ
TACKLE_RATE = 0.13  # a step beside the man with the ball
FOUL_SHARE = 0.094
_REACH = 1.0


def chase(play: Play) -> None:
    """Twice a second while the ball is loose: who of each side can be there first, and where."""
    way = path(play.ball, _AHEAD)
    inside = (np.abs(way[:, 0]) < HALF_LENGTH + 0.3) & (np.abs(way[:, 1]) < 34.3)
    dx = play.pos[:22, 0, None] - way[None, :, 0]
    dy = play.pos[:22, 1, None] - way[None, :, 1]
    far = np.sqrt(dx * dx + dy * dy)
    start = (_TIMES[None, :] - 0.25).clip(0.0, None)
    can = (far <= play.pace[:22, None] * 0.82 * start + 0.9) & (way[None, :, 2] < 2.2) & inside[None, :]
    can[~play.on] = False
    can[play.frozen_until[:22] > play.step + 5] = False
    first = np.where(can.any(axis=1), can.argmax(axis=1), _AHEAD + 5)
    arrivals = [_AHEAD, _AHEAD]
    for side in (0, 1):
        slots = play.present(side, keeper=abs(way[-1, 0]) > 30.0 and way[-1, 0] * play.direction[side] < 0)
        slots = [each for each in slots if each != play.locked or play.step >= play.locked_until]
        if not slots:
            play.chase[side] = -1
            continue
        best = min(slots, key=lambda each: (int(first[each]), float(far[each, -1]), each))
        pending = play.pending
        if (
            pending is not None
            and pending.receiver in slots
            and int(first[pending.receiver]) <= int(first[best]) + 4
            and first[pending.receiver] < _AHEAD
        ):
            best = pending.receiver
        when = min(int(first[best]), _AHEAD - 1)
        arrivals[side] = int(first[best])
        play.chase[side] = best
        play.chase_to[side] = (
            max(-52.0, min(52.0, float(way[when, 0]))),
            max(-33.6, min(33.6, float(way[when, 1]))),
        )
    if play.pending is not None:
        # Who cannot be there first keeps his place and waits for the man who can.
        other = 1 - play.side_of(play.pending.kicker)
        if arrivals[other] > arrivals[1 - other] + 1:
            play.chase[other] = -1
    play.let_run = _let_run(play, way, arrivals)
    if play.let_run >= 0:
        play.chase[play.let_run] = -1
    play.plan_at = play.step + 3


def _let_run(play: Play, way: Array, arrivals: list[int]) -> int:
    """The side that sees a ball of the other's out over its own goal line, for a goal kick; -1 where none does."""
    over = np.nonzero(np.abs(way[:, 0]) > HALF_LENGTH)[0]
    if not len(over) or play.last < 0:
        return -1
    x, y = float(way[over[0], 0]), float(way[over[0], 1])
    side = 0 if x * play.direction[0] < 0 else 1
    if not 5.0 < abs(y) < 34.0 or play.side_of(play.last) == side or arrivals[1 - side] <= int(over[0]):
        return -1
    return side


def run_to_ball(play: Play) -> None:
    """Send the chasers; one that is beaten to it anyway closes down instead of sprinting past."""
    for side in (0, 1):
        slot = play.chase[side]
        if slot >= 0:
            play.target[slot] = play.chase_to[side]
            play.cap[slot] = 1.0


def press(play: Play) -> None:
    """The side without the ball: one goes to the man on it, a second where they press, the rest keep their shape."""
    holder = play.holder
    side = 1 - play.side_of(holder)
    d = play.direction[side]
    hx, hy = play.place(holder)
    own_x = hx * d
    hold = play.press[side]
    if holder % 11 == 0 and play.pose[holder] == Pose.HOLD:
        return
    row = play.square[holder]
    slots = sorted((each for each in play.present(side, keeper=False)), key=lambda each: (float(row[each]), each))
    if not slots:
        return
    first = slots[0]
    # How far up the pitch one goes to meet him depends on the press.
    limit = -32.0 + 62.0 * hold
    fresh = play.step - play.lost_step < 25 and hold > 0.55
    meet = own_x < limit or fresh
    # Goal side of him, closer when the press is on or the goal is near.
    stand = 1.0 if meet or own_x < -25.0 else 4.5
    gx, gy = -HALF_LENGTH * d - hx, -hy
    size = math.sqrt(gx * gx + gy * gy) + 1e-9
    play.target[first] = (hx + stand * gx / size, hy + stand * gy / size)
    play.cap[first] = 0.95 if meet or own_x < -20.0 else 0.6
    if len(slots) > 1 and ((meet and hold > 0.5) or own_x < -24.0):
        second = slots[1]
        play.target[second] = (hx + 2.6 * gx / size, hy + 2.6 * gy / size)
        play.cap[second] = 0.85


def tackle(play: Play) -> None:
    """Each step beside the man on the ball: somebody may go in for it."""
    holder = play.holder
    near, foe = play.pressure(holder)
    if near > 1.75 or (holder % 11 == 0 and play.pose[holder] == Pose.HOLD):
        return
    if play.frozen_until[foe] > play.step or foe % 11 == 0:
        return
    side = play.side_of(foe)
    d = play.direction[side]
    own_x = play.place(holder)[0] * d
    rate = TACKLE_RATE * (0.7 + 0.6 * play.press[side]) * (1.5 if near < 1.2 else 1.0)
    if own_x < -36.0:
        rate *= 1.9
    elif own_x < -22.0:
        rate *= 1.6
    if play.luck() >= rate:
        return
    skill = play.skill["tackling"][foe] - play.skill["dribbling"][holder]
    fresh = float(play.pace[foe]) - float(play.pace[holder])
    aggression = 0.5 * (play.skill["aggression"][foe] + play.ledger.teams[side].club.style.aggression)
    foul = FOUL_SHARE * (0.55 + 0.9 * aggression) * (1.0 - 0.35 * skill)
    if own_x < -36.0 and abs(play.place(holder)[1]) < 20.16:
        foul *= 0.26  # careful in the area
    elif own_x < -12.0:
        foul *= 1.15
    elif own_x > 10.0:
        foul *= 0.85
    win = 0.30 + 0.4 * skill + 0.05 * fresh
    roll = play.luck()
    slide = play.luck() < 0.3
    if roll < foul:
        play.act(foe, Pose.SLIDE if slide else Pose.RUN, 5, freeze=True)
        laws.foul(play, foe, holder, sliding=slide)
    elif roll < foul + win:
        play.tell(DeedKind.TACKLE, foe, holder, outcome=Outcome.WON, sliding=slide)
        play.act(foe, Pose.SLIDE if slide else Pose.KICK, 3)
        play.frozen_until[holder] = play.step + 3
        if play.luck() < 0.45:
            play.take(foe)
            think(play, foe)
        else:
            _poke(play, foe)
    elif roll < foul + win + 0.16:
        _poke(play, foe)
        play.tell(DeedKind.TACKLE, foe, holder, outcome=Outcome.LOST, sliding=slide)
    else:
        play.tell(DeedKind.DRIBBLE, holder, foe, outcome=Outcome.WON)
        play.act(foe, Pose.SLIDE if slide else Pose.RUN, 6 if slide else 3, freeze=True)
        play.decide_at = max(play.decide_at, play.step + 2)


def _poke(play: Play, slot: int) -> None:
    """The ball squirts away from a challenge, touched last by this player."""
    play.last = slot
    play.assist = None
    away = 6.2832 * play.luck()
    if abs(play.ball.y) > 20.0 and play.luck() < 0.65:
        # Near the touchline one puts it out.
        away = math.copysign(1.5708, play.ball.y) + play.bell(0.7)
    speed = 5.0 + 8.0 * play.luck()
    play.holder = -1
    play.pending = None
    play.locked, play.locked_until = -1, 0
    play.ball.kick(speed * math.cos(away), speed * math.sin(away), 1.5 * play.luck())
    play.plan_at = play.step


def control(play: Play, x: float, y: float) -> None:
    """The ball came from (x, y) this step: who near its way gets a touch?"""
    ball = play.ball
    dx, dy = ball.x - x, ball.y - y
    square = dx * dx + dy * dy + 1e-9
    rx, ry = play.pos[:22, 0] - x, play.pos[:22, 1] - y
    along = ((rx * dx + ry * dy) / square).clip(0.0, 1.0)
    ox, oy = rx - along * dx, ry - along * dy
    far2 = ox * ox + oy * oy
    reach = 2.3 if abs(ball.x) > 36.0 and abs(ball.y) < 20.0 else 1.45
    if float(far2.min()) > reach * reach:
        return
    if ball.z > 2.7:
        return
    high = ball.z > 1.05
    pending = play.pending
    fast = math.sqrt(ball.vx * ball.vx + ball.vy * ball.vy)
    claims: list[tuple[float, int]] = []
    for slot in np.nonzero(far2 < reach * reach)[0].tolist():
        if not play.on[slot] or play.frozen_until[slot] > play.step:
            continue
        if slot == play.locked and play.step < play.locked_until:
            continue
        if play.let_run == play.side_of(slot):
            continue
        away = math.sqrt(float(far2[slot]))
        own_x = float(play.pos[slot, 0]) * play.direction[play.side_of(slot)]
        keeper = slot % 11 == 0 and own_x < -36.5 and abs(ball.y) < 20.0
        mine = pending is not None and pending.receiver == slot
        limit = reach if keeper else _REACH + (0.4 if mine else 0.0)
        if pending is not None and play.step - pending.step <= 2 and ball.vz > 2.0 and play.luck() < 0.92:
            continue  # it rises past him
        if not mine and not keeper and pending is not None and fast > 6.0 and not high:
            # A ball that is meant for another and comes fast mostly passes him by.
            hurried = 0.35 if play.step - pending.step <= 1 else 0.0
            if away > 0.75 or play.luck() < min(0.85, 0.05 * (fast - 4.0) + hurried) * (0.5 if own_x < -30.0 else 1.0):
                continue
        if away > limit or (ball.z > 2.45 and not keeper):
            continue
        strength = 1.2 * play.luck() - away
        if high:
            strength += 1.2 * (play.skill["heading"][slot] - 0.5) + 2.0 * (play.skill["height"][slot] - 1.8)
        if keeper:
            strength += 0.9
        if mine and not high:
            strength += 0.5
        claims.append((strength, slot))
    if not claims:
        return
    claims.sort(key=lambda each: (-each[0], each[1]))
    slot = claims[0][1]
    rival = next((each for _, each in claims[1:] if play.side_of(each) != play.side_of(slot)), -1)
    if pending is not None and slot in pending.offside and play.side_of(pending.kicker) == play.side_of(slot):
        laws.offside(play, slot, pending)
        return
    if rival >= 0 and high and play.luck() < 0.035:
        laws.foul(play, rival, slot, aerial=True)
        return
    _touch(play, slot, rival, high)


def _touch(play: Play, slot: int, rival: int, high: bool) -> None:
    """This player touches the ball: catches, heads, controls or only deflects it."""
    ball = play.ball
    side = play.side_of(slot)
    d = play.direction[side]
    own_x, own_y = play.own(side, ball.x, ball.y)
    pending = play.pending
    fast = math.sqrt(ball.vx * ball.vx + ball.vy * ball.vy)
    own_pass = pending is not None and play.side_of(pending.kicker) == side
    if play.shot is not None:
        settle_shot(play, Outcome.BLOCKED)
    if slot % 11 == 0 and own_x < -36.5 and abs(own_y) < 20.0 and not own_pass:
        _catch(play, slot, rival)
        return
    if (
        not own_pass
        and pending is not None
        and fast > 11.0
        and not high
        and play.luck() < min(0.75, 0.045 * (fast - 7))
    ):
        # It comes too fast to be cut out cleanly: it only glances off.
        _finish_pass(play, slot, Outcome.LOST)
        play.last = slot
        turn = play.bell(0.7)
        keep = 0.25 + 0.35 * play.luck()
        c, s = math.cos(turn), math.sin(turn)
        ball.kick(keep * (ball.vx * c - ball.vy * s), keep * (ball.vx * s + ball.vy * c), 1.0)
        play.locked, play.locked_until = slot, play.step + 2
        play.plan_at = play.step
        return
    if pending is not None:
        _finish_pass(play, slot, Outcome.COMPLETE if own_pass else Outcome.LOST)
    z, was = ball.z, (ball.vx, ball.vy)
    play.take(slot)
    if not high:
        if not own_pass and rival < 0 and own_x < -36.0 and play.pressure(slot)[0] < 3.0 and play.luck() < 0.5:
            clear(play)
            return
        # A ball that arrives in front of goal is often struck at once.
        if own_x > 41.0 and abs(own_y) < 9.0 and play.luck() < 0.2:
            shoot(play, detail={"first_time": True})
            return
        awkward = 0.07 + 0.007 * max(0.0, fast - 8.0) + (0.06 if z > 0.5 else 0.0) + (0.05 if rival >= 0 else 0.0)
        if abs(ball.y) > 25.0:
            awkward *= 1.8  # the line is near, and so is the full-back
        if play.luck() < awkward * (1.6 - play.skill["passing"][slot]):
            # A heavy touch: it runs away from him the way it came.
            run = 2.5 + 0.4 * fast
            turn = math.atan2(was[1], was[0]) + play.bell(0.8)
            play.release(run * math.cos(turn), run * math.sin(turn), 0.6 * play.luck(), 0.0)
            play.locked_until = play.step + 2
            play.assist = None
            return
        think(play, slot)
        return
    play.ball.z = z
    if own_x > HALF_LENGTH - 13.0 and abs(own_y) < 8.0 and play.luck() < (0.32 if rival >= 0 else 0.55):
        shoot(play, header=True)
    elif own_x < -30.0 and abs(own_y) < 22.0:
        clear(play, header=True)
    elif rival >= 0 or play.luck() < 0.35:
        mates = [each for each in play.present(side, keeper=False) if each != slot]
        mate = play.nearest(ball.x + 7.0 * d, ball.y, onside(play, slot, mates) or mates)
        play.act(slot, Pose.HEADER, 2)
        mx, my = play.place(mate)
        pass_ball(play, mate, (mx, my), lofted=False, header=True)
        play.ball.z = z
        play.act(slot, Pose.HEADER, 2)
    else:
        play.ball.z = 0.0
        think(play, slot)


def _catch(play: Play, slot: int, rival: int) -> None:
    pending = play.pending
    cross = pending is not None and pending.kind in (DeedKind.CROSS, DeedKind.CORNER, DeedKind.FREE_KICK)
    shooter = play.last
    if pending is not None:
        _finish_pass(play, slot, Outcome.LOST)
    if cross and play.ball.z > 1.2 and (rival >= 0 or play.luck() < 0.2) and play.luck() < 0.45:
        play.tell(DeedKind.CLAIM, slot, outcome=Outcome.PUNCHED, cross=cross)
        play.take(slot)
        play.act(slot, Pose.JUMP, 3)
        d = play.direction[play.side_of(slot)]
        play.release(d * (9.0 + 5.0 * play.luck()), (play.luck() - 0.5) * 14.0, 5.5, 2.2)
        play.assist = None
        return
    play.tell(DeedKind.CLAIM, slot, shooter if shooter >= 0 else None, outcome=Outcome.HELD, cross=cross)
    hold(play, slot)


def hold(play: Play, slot: int) -> None:
    """The keeper has it in his hands."""
    play.take(slot)
    wait = 12 + int(22 * play.luck())
    lead = play.ledger.score[play.side_of(slot)] - play.ledger.score[1 - play.side_of(slot)]
    if lead > 0:
        wait += 10
    play.act(slot, Pose.HOLD, wait)
    play.decide_at = play.step + wait


def _finish_pass(play: Play, slot: int, outcome: Outcome) -> None:
    pending = play.pending
    if pending is None:
        return
    play.settle(pending.deed, outcome)
    play.pending = None
    if outcome is Outcome.LOST and play.side_of(pending.kicker) != play.side_of(slot) and slot % 11:
        play.tell(DeedKind.INTERCEPTION, slot, pending.kicker)

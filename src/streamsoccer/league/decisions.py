"""What the player on the ball does: carry it, pass, cross, shoot, clear; every way out weighed against its risk."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsoccer.league.kicks import clear, onside, pass_ball, shoot
from streamsoccer.league.pitch import HALF_LENGTH, HALF_WIDTH, chance, threat
from streamsoccer.league.play import Play
from streamsoccer.league.truth import DeedKind, Pose

__all__ = ["carry", "decide", "think"]

SHOT_APPETITE = 1.0
SHOT_PATIENCE = 0.207  # what a shot gives up: the attack that might have gone on
_TEMPERATURE = 0.0065
_HOLD = 0.0035  # what keeping the ball is worth in itself
Array = NDArray[np.float64]


def think(play: Play, slot: int) -> None:
    """He has just got the ball: how long until he does something with it."""
    near, _ = play.pressure(slot)
    tempo = play.ledger.teams[play.side_of(slot)].club.style.tempo
    base = 7.5 - 3.0 * tempo + 3.5 * play.luck()
    if near < 2.5:
        base *= 0.45
    play.decide_at = play.step + max(1, round(base))
    play.carry = _way(play, slot)


def _way(play: Play, slot: int) -> tuple[float, float]:
    """Where to take the ball: towards goal, away from who is near, off the touchline."""
    side = play.side_of(slot)
    d = play.direction[side]
    x, y = play.own(side, *play.place(slot))
    gx, gy = HALF_LENGTH - x, -y * (0.25 if x < 25 else 0.8)
    size = math.sqrt(gx * gx + gy * gy) + 1e-9
    gx, gy = gx / size, gy / size
    start = 0 if side else 11
    for foe in play.present(1 - side):
        away = float(play.square[slot, foe])
        if away < 64.0 and foe >= start:
            gap = math.sqrt(away) + 0.3
            fx, fy = play.own(side, *play.place(foe))
            gx += 2.2 * (x - fx) / (gap * gap)
            gy += 2.2 * (y - fy) / (gap * gap)
    if abs(y) > 31.5:
        gy -= math.copysign(0.4, y)
    size = math.sqrt(gx * gx + gy * gy) + 1e-9
    return d * gx / size, d * gy / size


def carry(play: Play) -> None:
    """Each step with the ball: go on, a little ahead of one's feet."""
    slot = play.holder
    if (play.step - play.held_since) % 3 == 0:
        play.carry = _way(play, slot)
    cx, cy = play.carry
    x, y = play.place(slot)
    near, _ = play.pressure(slot)
    play.target[slot] = (
        max(-51.5, min(51.5, x + 6.0 * cx)),
        max(-33.0, min(33.0, y + 6.0 * cy)),
    )
    play.cap[slot] = 0.78 if near < 4.0 else 0.58


def decide(play: Play) -> None:
    """The moment of choice."""
    slot = play.holder
    side = play.side_of(slot)
    d = play.direction[side]
    x, y = play.own(side, *play.place(slot))
    near, _ = play.pressure(slot)
    held = play.step - play.held_since
    mates = [each for each in play.present(side) if each != slot]
    score, places, lofts = _passes(play, slot, mates)
    here = float(threat(np.array([x]), np.array([y]))[0])

    names: list[tuple[str, int]] = [("pass", n) for n in range(len(mates))]
    values = score.tolist()
    # Shoot?
    xg = chance(x, y)
    if x > 18.0 and xg > 0.012:
        open_ = 1.0 if near > 1.5 else 0.75
        wish = SHOT_APPETITE * (0.8 + 0.4 * play.skill["shooting"][slot])
        # From outside the area one tries one's luck, where there is room for it.
        luck = 0.17 * play.luck() if near > 1.3 and 15.0 < HALF_LENGTH - x < 34.0 else 0.0
        names.append(("shoot", -1))
        values.append(1.05 * xg * open_ * wish - SHOT_PATIENCE + play.bell(0.03) + luck)
    # Carry on?
    if slot % 11 and held < 25:
        ahead = float(threat(np.array([min(51.0, x + 5.0)]), np.array([y * 0.9]))[0])
        skill = play.skill["dribbling"][slot]
        safe = 1.0 if near > 5.0 else 0.62 + 0.3 * (skill - 0.5)
        names.append(("carry", -1))
        values.append(safe * (ahead - here + _HOLD) - (1 - safe) * 0.014 + (0.002 if near > 6 else 0.0))
    # Cross?
    if x > 28.0 and abs(y) > 13.0:
        box = [
            each
            for each in mates
            if HALF_LENGTH - float(play.pos[each, 0]) * d < 17.0 and abs(float(play.pos[each, 1])) < 14.0
        ]
        names.append(("cross", -1))
        values.append(-0.004 + 0.008 * len(box) + 0.0006 * (x - 28.0))
    # Clear?
    if x < -18.0:
        names.append(("clear", -1))
        values.append(-0.009 + (0.010 if near < 2.2 else 0.0) + (0.004 if x < -35 else 0.0))
    picked = _pick(play, values)
    name, which = names[picked]
    if name == "shoot":
        shoot(play)
    elif name == "carry":
        play.decide_at = play.step + 3 + int(4 * play.luck())
    elif name == "cross":
        _cross(play, slot, d)
    elif name == "clear":
        clear(play)
    else:
        mate = mates[which]
        px, py = float(places[which, 0]) * d, float(places[which, 1]) * d
        through = bool(play.run_until[mate] > play.step) and float(places[which, 0]) > x + 4.0
        pass_ball(play, mate, (px, py), lofted=bool(lofts[which]), through=through)


def _pick(play: Play, values: list[float]) -> int:
    """Softmax: mostly the best way, sometimes the second best, seldom a silly one."""
    top = max(values)
    weights = [math.exp((each - top) / _TEMPERATURE) for each in values]
    left = play.luck() * sum(weights)
    for n, weight in enumerate(weights):
        left -= weight
        if left <= 0.0:
            return n
    return len(values) - 1


def _passes(play: Play, slot: int, mates: list[int]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """For each mate: what a pass is worth, where it goes (own view), and whether through the air."""
    side = play.side_of(slot)
    d = play.direction[side]
    team = play.ledger.teams[side]
    origin = play.pos[slot] * d
    mine = play.pos[mates] * d
    speed = play.vel[mates] * d
    away = mine - origin
    distance = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1])
    lead = (distance / 16.0).clip(0.2, 1.4)
    running = play.run_until[mates] > play.step
    places = mine + speed * (lead * np.where(running, 1.15, 0.7))[:, None]
    places[:, 0].clip(-51.0, 50.0, out=places[:, 0])
    places[:, 1].clip(-HALF_WIDTH + 0.7, HALF_WIDTH - 0.7, out=places[:, 1])
    away = places - origin
    distance = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1]) + 1e-6
    ux, uy = away[:, 0] / distance, away[:, 1] / distance
    foes = play.present(1 - side)
    rel = play.pos[foes] * d - origin
    along = rel[None, :, 0] * ux[:, None] + rel[None, :, 1] * uy[:, None]
    on_way = along.clip(0.0, distance[:, None])
    off_x = rel[None, :, 0] - on_way * ux[:, None]
    off_y = rel[None, :, 1] - on_way * uy[:, None]
    aside = np.sqrt(off_x * off_x + off_y * off_y)
    ground = (aside - 0.9 - 0.21 * (on_way - 3.0).clip(0.0, None)).min(axis=1)
    at_end = rel[None, :, :] - away[:, None, :]
    crowd = np.sqrt((at_end * at_end).sum(axis=2)).min(axis=1)
    air = crowd - 1.5 - 0.045 * distance
    lofts = (distance > 36.0) | ((air > ground + 2.5) & (distance > 19.0))
    flat = 0.75 * ground + 1.15 - 0.022 * distance
    odds = 1.0 / (1.0 + np.exp(-np.where(lofts, 0.3 * air - 0.35, flat)))
    odds *= np.where((places[:, 0] > 34.0) & (np.abs(places[:, 1]) < 18.0), 0.52, 1.0)  # a crowded place
    near, _ = play.pressure(slot)
    worth = threat(places[:, 0], places[:, 1])
    here = float(threat(origin[None, 0], origin[None, 1])[0])
    danger = threat(-places[:, 0], places[:, 1])
    direct = team.club.style.direct
    score = odds * (worth - here + _HOLD + (0.00022 * direct - 0.00003) * away[:, 0])
    score -= (1.0 - odds) * (0.85 * danger + 0.013 * (1.35 - 0.8 * direct - 0.25 * team.mentality))
    score += 0.0009 * np.minimum(crowd, 9.0)  # the free man
    score += 0.004 * (np.abs(places[:, 1]) > 17.0)  # the wings are where there is room
    # Who seems offside gets no ball; eyes err.
    line = sorted((float(play.pos[each, 0]) * d for each in foes), reverse=True)
    limit = max(0.0, line[1] if len(line) > 1 else 0.0, float(origin[0]))
    seen = mine[:, 0] + play.rng.normal(0.0, 0.5, len(mates))
    score[seen > limit - 0.2] -= 0.5
    # The keeper is for when one is pressed; he is not a playmaker.
    keeper = np.array([each % 11 == 0 for each in mates])
    score[keeper] -= 0.004 if near < 4.0 else 0.010
    score[distance < 4.0] -= 0.02
    return score, places, lofts


def _cross(play: Play, slot: int, d: int) -> None:
    """Into the box, to where somebody may arrive."""
    side = play.side_of(slot)
    mates = [
        each
        for each in play.present(side, keeper=False)
        if each != slot and float(play.pos[each, 0]) * d > 32.0 and abs(float(play.pos[each, 1])) < 17.0
    ]
    x, y = play.own(side, *play.place(slot))
    mates = onside(play, slot, mates)
    if mates:
        mate = mates[int(play.luck() * len(mates))]
        tx, ty = play.own(side, *play.place(mate))
        tx = min(48.5, max(tx + 1.5, 40.0))
        ty = ty * 0.8
    else:
        mate, tx, ty = -1, 43.0, -0.15 * y
    pass_ball(play, mate, (d * tx, d * ty), lofted=play.luck() < 0.75 or x < 40.0, kind=DeedKind.CROSS)


def keeper_ball(play: Play) -> None:
    """The keeper has it in his hands: roll it to a free defender, or kick it long."""
    slot = play.holder
    side = play.side_of(slot)
    d = play.direction[side]
    mates = play.present(side, keeper=False)
    free = [each for each in mates if float(play.pos[each, 0]) * d < -10.0 and play.pressure(each)[0] > 9.0]
    direct = play.ledger.teams[side].club.style.direct
    if free and play.luck() > 0.25 + 0.5 * direct:
        mate = free[int(play.luck() * len(free))]
        far = play.gap(slot, mate)
        pass_ball(play, mate, play.place(mate), lofted=far > 28.0, hands=far < 28.0, free=True)
    else:
        long = sorted(onside(play, slot, mates), key=lambda each: -float(play.pos[each, 0]) * d)[:4]
        mate = long[int(play.luck() * len(long))]
        mx, my = play.place(mate)
        pass_ball(play, mate, (max(-50.0, min(50.0, mx)), max(-30.0, min(30.0, my))), lofted=True, free=True)
    play.act(slot, Pose.KICK, 2)

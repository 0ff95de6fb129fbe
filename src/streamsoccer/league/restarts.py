"""Dead balls: who restarts play, where, after how long, where the others go meanwhile, and the kick itself."""

from __future__ import annotations

import math

import numpy as np

from streamsoccer.actions import Label
from streamsoccer.domain import Side
from streamsoccer.league import bench
from streamsoccer.league.kicks import onside, pass_ball, penalty, shoot
from streamsoccer.league.pitch import CIRCLE, goal_distance
from streamsoccer.league.play import Play, Restart
from streamsoccer.league.setpieces import formation_spots
from streamsoccer.league.tactics import shape
from streamsoccer.league.truth import HZ, DeedKind, Pose
from streamsoccer.league.world import Role

__all__ = ["NOBODY", "after_goal", "arrange", "stop", "take_restart"]

NOBODY = Side.NONE

# Seconds from the stoppage to the restart: middle, spread, least, most; a log-normal where the tail is long.
_DELAYS: dict[str, tuple[float, float, float, float, bool]] = {
    "throw_in": (9.3, 0.52, 2.4, 34.0, True),
    "goal_kick": (22.0, 7.0, 7.0, 42.0, False),
    "corner": (25.0, 6.0, 12.0, 45.0, False),
    "foul": (14.5, 0.6, 3.0, 60.0, True),
    "offside": (17.0, 0.45, 7.0, 45.0, True),
    "direct": (41.0, 13.0, 14.0, 75.0, False),
    "penalty": (70.0, 14.0, 45.0, 110.0, False),
    "kick_off": (53.0, 8.0, 32.0, 80.0, False),
}


def _delay(play: Play, restart: Restart) -> float:
    """How long they take: who is ahead has time, who is behind has none."""
    key = restart.kind.value
    if restart.kind is DeedKind.FREE_KICK:
        key = "direct" if restart.direct else restart.reason
    middle, spread, least, most, long_tail = _DELAYS[key]
    seconds = middle * math.exp(play.bell(spread)) if long_tail else middle + play.bell(spread)
    lead = play.ledger.score[restart.side] - play.ledger.score[1 - restart.side]
    if play.half == 2 and restart.kind is not DeedKind.KICK_OFF:
        seconds *= 1.12 if lead > 0 else 0.9 if lead < 0 else 1.0
    return min(most, max(least, seconds))


def stop(play: Play, kind: DeedKind, side: int, x: float, y: float, *, reason: str = "", direct: bool = False) -> None:
    """The ball is dead; play goes on with this, here."""
    play.holder = -1
    play.pending = play.shot = play.assist = None
    play.chase = [-1, -1]
    play.run_until[:] = 0
    play.mark_weight[:] = 0.0
    restart = Restart(kind=kind, side=side, x=x, y=y, since=play.step, ready=0, taker=-1, reason=reason, direct=direct)
    restart.taker = _taker(play, restart)
    restart.ready = play.step + round(_delay(play, restart) * HZ)
    play.restart = restart
    bench.consider(play, restart)


def after_goal(play: Play, side: int, scorer: int) -> None:
    """They celebrate, then the others kick off."""
    stop(play, DeedKind.KICK_OFF, 1 - side, 0.0, 0.0, reason="goal")
    restart = play.restart
    if restart is None:
        return
    restart.scorer = scorer if scorer >= 0 else None
    if scorer >= 0:
        d = play.direction[side]
        corner = 1.0 if play.ball.y + float(play.pos[scorer, 1]) > 0 else -1.0
        flag = (d * 48.0, corner * 31.0)
        restart.spots[scorer] = flag
        for n, mate in enumerate(
            sorted(play.present(side, keeper=False), key=lambda each: play.gap(each, scorer))[1:7]
        ):
            restart.spots[mate] = (flag[0] - d * (1.0 + 0.5 * n), flag[1] - corner * (0.8 + 0.4 * (n % 3)))


def _taker(play: Play, restart: Restart) -> int:
    side = restart.side
    kind = restart.kind
    slots = play.present(side, keeper=False)
    if kind is DeedKind.GOAL_KICK:
        return 11 * side
    if kind is DeedKind.PENALTY:
        return max(slots, key=lambda each: (play.skill["shooting"][each], -each))
    if kind is DeedKind.CORNER or (kind is DeedKind.FREE_KICK and restart.direct):
        return max(slots, key=lambda each: (play.skill["passing"][each] + 0.3 * play.skill["shooting"][each], -each))
    if kind is DeedKind.KICK_OFF:
        return max(slots, key=lambda each: (play.depth[each], -each))
    own_x, _ = play.own(side, restart.x, restart.y)
    if kind is DeedKind.FREE_KICK and own_x < -36.0:
        return 11 * side
    team = play.ledger.teams[side]
    if kind is DeedKind.THROW_IN:
        wide = [
            each
            for each in slots
            if team.player(each % 11).role in (Role.RIGHT_BACK, Role.LEFT_BACK, Role.RIGHT_WING, Role.LEFT_WING)
            and abs(float(play.pos[each, 1]) - restart.y) < 30.0
        ]
        slots = wide or slots
    return play.nearest(restart.x, restart.y, slots)


def arrange(play: Play, lines: tuple[float, float]) -> None:
    """Each step of a stoppage: everybody walks to where the restart wants him."""
    restart = play.restart
    assert restart is not None  # only called while one is pending
    side, kind = restart.side, restart.kind
    now = play.step
    play.control[side] += 0.06 * (1.0 - play.control[side])
    play.control[1 - side] += 0.06 * (0.0 - play.control[1 - side])
    look = (restart.x, restart.y)
    if kind is DeedKind.GOAL_KICK:
        look = (restart.x * 0.25, restart.y)
    shape(play, lines, look)
    left = max(0.4, (restart.ready - now) / HZ - 1.0)
    celebrating = restart.reason == "goal" and now - restart.since < 28 * HZ
    if not celebrating and (restart.reason == "goal" or now - restart.since >= 2 * HZ) and not restart.placed:
        restart.placed = True
        restart.spots = formation_spots(play, restart)
    for slot, spot in restart.spots.items():
        play.target[slot] = spot
    if kind is DeedKind.KICK_OFF:
        _own_halves(play, restart)
    else:
        _keep_away(play, restart)
    gone = play.target[:22] - play.pos[:22]
    far = np.sqrt(gone[:, 0] * gone[:, 0] + gone[:, 1] * gone[:, 1])
    play.cap[:22] = np.minimum(np.maximum(far / (left * 7.6) + 0.02, 0.17), 0.72)
    if celebrating and restart.scorer is not None:
        _celebrate(play, restart)
    taker = restart.taker
    if not celebrating:
        play.target[taker] = _stand(play, restart)
        tx, ty = play.place(taker)
        away = math.sqrt((tx - float(play.target[taker, 0])) ** 2 + (ty - float(play.target[taker, 1])) ** 2)
        play.cap[taker] = min(0.85, max(0.2, away / (left * 7.0)))
        if restart.loose and away < 1.6 and (now >= restart.ready - 14 or now - restart.since > 30):
            restart.loose = False
        if not restart.loose:
            _hold_ready(play, restart, away)
    for slot, spot in restart.walking_off.items():
        play.target[slot] = spot
        play.cap[slot] = 0.42


def _stand(play: Play, restart: Restart) -> tuple[float, float]:
    """Where the taker waits: behind the ball."""
    d = play.direction[restart.side]
    if restart.kind is DeedKind.THROW_IN:
        return restart.x, restart.y + math.copysign(0.4, restart.y)
    if restart.kind is DeedKind.CORNER:
        return restart.x + 0.6 * d, restart.y + math.copysign(0.9, restart.y)
    back = 2.6 if restart.kind in (DeedKind.PENALTY, DeedKind.GOAL_KICK) or restart.direct else 0.8
    return restart.x - back * d, restart.y


def _hold_ready(play: Play, restart: Restart, away: float) -> None:
    """The ball lies where it must, or is in the thrower's hands."""
    if restart.kind is DeedKind.THROW_IN and away < 1.6:
        x, y = play.place(restart.taker)
        play.ball.put(x, y, 1.9)
        if play.pose_until[restart.taker] <= play.step:
            play.act(restart.taker, Pose.THROW, 2)
    else:
        play.ball.put(restart.x, restart.y)


def _own_halves(play: Play, restart: Restart) -> None:
    for slot in range(22):
        if slot in restart.spots and play.step - restart.since < 28 * HZ and restart.reason == "goal":
            continue
        d = play.direction[play.side_of(slot)]
        x = float(play.target[slot, 0]) * d
        y = float(play.target[slot, 1])
        if slot % 11:
            x = -1.0 - (1.0 - float(play.depth[slot])) * 30.0
        if play.side_of(slot) != restart.side and x * x + y * y < 100.0:
            x = -math.sqrt(max(1.0, 100.0 - y * y))
        play.target[slot] = (min(x, -0.6) * d, y)
    if play.step - restart.since >= 28 * HZ or restart.reason != "goal":
        side = restart.side
        mate = max(
            (each for each in play.present(side, keeper=False) if each != restart.taker),
            key=lambda each: (play.depth[each], -each),
        )
        play.target[mate] = (-1.5 * play.direction[side], 3.0)


def _keep_away(play: Play, restart: Restart) -> None:
    """Opponents stand off: 9.15 m, two at a throw-in, outside the area at a goal kick."""
    other = 1 - restart.side
    least = 2.2 if restart.kind is DeedKind.THROW_IN else CIRCLE
    d = play.direction[restart.side]
    for slot in play.team(other):
        x, y = float(play.target[slot, 0]), float(play.target[slot, 1])
        if restart.kind is DeedKind.GOAL_KICK and x * d < -34.0:
            play.target[slot, 0] = -34.0 * d
        if slot % 11 == 0:
            continue
        dx, dy = x - restart.x, y - restart.y
        away = math.sqrt(dx * dx + dy * dy)
        if away < least:
            push = least / (away + 1e-6)
            if away < 0.5:
                dx, dy, push = -d, 0.0, least
            play.target[slot] = (restart.x + dx * push, restart.y + dy * push)


def _celebrate(play: Play, restart: Restart) -> None:
    scorer = restart.scorer
    assert scorer is not None  # checked by the caller
    since = play.step - restart.since
    for slot in restart.spots:
        play.cap[slot] = 0.8 if slot == scorer else 0.72
        if since > 5 and play.gap(slot, scorer) < 4.0 and since < 24 * HZ and play.pose_until[slot] <= play.step:
            play.act(slot, Pose.CELEBRATE, 6)
    play.act(scorer, Pose.CELEBRATE, 2)


def take_restart(play: Play) -> bool:
    """Restart play if all is ready; says whether it was."""
    restart = play.restart
    assert restart is not None  # only called while one is pending
    if play.step < restart.ready or play.todo:
        return False
    taker = restart.taker
    wanted = _stand(play, restart)
    tx, ty = play.place(taker)
    away = math.sqrt((tx - wanted[0]) ** 2 + (ty - wanted[1]) ** 2)
    if away > 1.3 and play.step < restart.ready + 12 * HZ:
        return False
    play.restart = None
    play.last = play.holder = taker
    play.held_since = play.step
    play.ball.put(restart.x, restart.y, 2.0 if restart.kind is DeedKind.THROW_IN else 0.0)
    if restart.kind is not DeedKind.KICK_OFF:
        play.stopped += max(0.0, (play.step - restart.since) / HZ - 35.0)
    play.ledger.sequence += 1
    {
        DeedKind.THROW_IN: _throw,
        DeedKind.GOAL_KICK: _goal_kick,
        DeedKind.CORNER: _corner,
        DeedKind.FREE_KICK: _free_kick,
        DeedKind.PENALTY: _penalty,
        DeedKind.KICK_OFF: _kick_off,
    }[restart.kind](play, restart)
    return True


def _free_mate(play: Play, slot: int, least: float, most: float) -> int:
    """A mate at this distance who has room; anybody near if there is none."""
    best, top = -1, -1e9
    d = play.direction[play.side_of(slot)]
    for mate in play.present(play.side_of(slot), keeper=False):
        away = play.gap(slot, mate)
        if mate == slot or not least <= away <= most:
            continue
        room = min(10.0, play.pressure(mate)[0])
        score = room + 0.06 * float(play.pos[mate, 0] - play.pos[slot, 0]) * d + 4.0 * play.luck()
        if score > top:
            best, top = mate, score
    if best < 0:
        mates = [each for each in play.present(play.side_of(slot), keeper=False) if each != slot]
        best = play.nearest(*play.place(slot), mates)
    return best


def _lead(play: Play, mate: int, seconds: float = 0.7) -> tuple[float, float]:
    x, y = play.place(mate)
    x += seconds * float(play.vel[mate, 0])
    y += seconds * float(play.vel[mate, 1])
    return max(-51.0, min(51.0, x)), max(-33.0, min(33.0, y))


def _throw(play: Play, restart: Restart) -> None:
    slot = restart.taker
    play.ledger.count(restart.side, throw_ins=1)
    play.tell(DeedKind.THROW_IN, slot, at=(restart.x, restart.y), label=Label.THROW_IN)
    far = play.luck() < 0.25
    mate = _free_mate(play, slot, 4.0, 26.0 if far else 15.0)
    x, y = _lead(play, mate)
    inside = math.copysign(min(abs(y), 30.0), y) if abs(y) > 30.0 else y
    pass_ball(play, mate, (x, inside), lofted=False, hands=True, free=True, legal=True)


def _goal_kick(play: Play, restart: Restart) -> None:
    slot = restart.taker
    side = restart.side
    d = play.direction[side]
    short = play.luck() < 0.42 - 0.4 * play.ledger.teams[side].club.style.direct
    play.tell(DeedKind.GOAL_KICK, slot, at=(restart.x, restart.y), label=Label.CLEARANCE, long=not short)
    if short:
        mate = _free_mate(play, slot, 9.0, 32.0)
        pass_ball(play, mate, play.place(mate), lofted=play.gap(slot, mate) > 24, free=True, legal=True)
        return
    long = sorted(play.present(side, keeper=False), key=lambda each: -float(play.pos[each, 0]) * d)[:5]
    mate = long[int(play.luck() * len(long))]
    x, y = _lead(play, mate)
    pass_ball(play, mate, (max(-15.0, min(15.0, x)), y * 0.85), lofted=True, free=True, legal=True)


def _into_area(play: Play, restart: Restart) -> None:
    """A ball to the heads in front of goal."""
    side = restart.side
    d = play.direction[side]
    heads = [
        each
        for each in play.present(side, keeper=False)
        if each != restart.taker and float(play.pos[each, 0]) * d > 34.0 and abs(float(play.pos[each, 1])) < 16.0
    ]
    if restart.kind is not DeedKind.CORNER:
        heads = onside(play, restart.taker, heads)
    if heads:
        weights = [math.exp(3.0 * play.skill["heading"][each]) for each in heads]
        left = play.luck() * sum(weights)
        mate = heads[-1]
        for each, weight in zip(heads, weights, strict=True):
            left -= weight
            if left <= 0:
                mate = each
                break
        x, y = play.own(side, *play.place(mate))
        target = (d * min(48.0, max(40.5, x + 1.5)), d * y * 0.85)
    else:
        mate, target = -1, (d * 43.5, 0.0)
    corner = restart.kind is DeedKind.CORNER
    pass_ball(play, mate, target, lofted=True, kind=DeedKind.CROSS, free=True, legal=corner, set_piece=True)


def _corner(play: Play, restart: Restart) -> None:
    slot = restart.taker
    play.ledger.count(restart.side, corners=1)
    short = play.luck() < 0.12
    play.tell(DeedKind.CORNER, slot, at=(restart.x, restart.y), label=Label.CORNER, short=short)
    if short:
        mate = _free_mate(play, slot, 4.0, 20.0)
        pass_ball(play, mate, play.place(mate), lofted=False, free=True, legal=True)
    else:
        _into_area(play, restart)


def _free_kick(play: Play, restart: Restart) -> None:
    slot, side = restart.taker, restart.side
    x, y = play.own(side, restart.x, restart.y)
    away = goal_distance(x, y)
    central = abs(y) < 17.0
    shot = restart.direct and away < 30.0 and central and play.luck() < 0.86 - 0.02 * max(0.0, away - 20.0)
    play.ledger.count(side, free_kicks=1)
    play.tell(
        DeedKind.FREE_KICK,
        slot,
        at=(restart.x, restart.y),
        label=Label.DIRECT_FREE_KICK if restart.direct else Label.INDIRECT_FREE_KICK,
        direct=restart.direct,
        shot=shot,
        reason=restart.reason,
        distance=round(away, 1),
    )
    if shot:
        shoot(play, detail={"free_kick": True})
    elif restart.direct or (x > 14.0 and play.luck() < 0.7):
        _into_area(play, restart)
    elif slot % 11 == 0 or (x < -5.0 and play.luck() < 0.25 + 0.3 * play.ledger.teams[side].club.style.direct):
        d = play.direction[side]
        long = sorted(play.present(side, keeper=False), key=lambda each: -float(play.pos[each, 0]) * d)[:4]
        long = onside(play, slot, [each for each in long if each != slot]) or [_free_mate(play, slot, 5.0, 30.0)]
        mate = long[int(play.luck() * len(long))]
        pass_ball(play, mate, _lead(play, mate), lofted=True, free=True)
    else:
        mate = _free_mate(play, slot, 4.0, 24.0)
        pass_ball(play, mate, _lead(play, mate), lofted=False, free=True)


def _penalty(play: Play, restart: Restart) -> None:
    play.ledger.count(restart.side, penalties=1)
    play.tell(DeedKind.PENALTY, restart.taker, at=(restart.x, restart.y), label=Label.PENALTY)
    penalty(play)


def _kick_off(play: Play, restart: Restart) -> None:
    slot = restart.taker
    play.tell(DeedKind.KICK_OFF, slot, at=(0.0, 0.0), label=Label.KICK_OFF)
    d = play.direction[restart.side]
    mates = [each for each in play.present(restart.side, keeper=False) if each != slot]
    mate = min(mates, key=lambda each: (abs(float(play.pos[each, 0]) * d + 12.0) + play.gap(slot, each) * 0.3, each))
    pass_ball(play, mate, _lead(play, mate), lofted=False, free=True, legal=True)


def start(play: Play, side: int) -> None:
    """Everybody in his place for the kick-off of a half."""
    play.ball.put(0.0, 0.0)
    play.control[:] = 0.5
    restart = Restart(kind=DeedKind.KICK_OFF, side=side, x=0.0, y=0.0, since=0, ready=0, taker=-1, reason="start")
    restart.taker = _taker(play, restart)
    play.restart = restart
    arrange(play, (0.0, 0.0))
    play.pos[:] = play.target
    play.pos[restart.taker] = (-0.5 * play.direction[side], 0.0)
    restart.loose = False

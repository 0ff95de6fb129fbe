"""The laws: out of play, offside, fouls and cards, penalties, goals. Each stops play and names what restarts it."""

from __future__ import annotations

import math
from dataclasses import replace

from streamsoccer.actions import Label
from streamsoccer.league import bench, restarts
from streamsoccer.league.kicks import settle_shot
from streamsoccer.league.pitch import BAR, GOAL_HALF, HALF_LENGTH, HALF_WIDTH, goal_distance, in_area, zone
from streamsoccer.league.play import Pending, Play
from streamsoccer.league.truth import DeedKind, Outcome, Pose

__all__ = ["foul", "goal", "lines", "offside"]

CARD_RATE = 0.17
DIRECT_DISTANCE = 33.8


def lines(play: Play, x: float, y: float, z: float) -> bool:
    """The ball moved here from (x, y, z): has it left the field? Then play stops, or a goal counts."""
    ball = play.ball
    if abs(ball.x) <= HALF_LENGTH and abs(ball.y) <= HALF_WIDTH:
        return False
    over_x = (HALF_LENGTH - abs(x)) / max(1e-6, abs(ball.x) - abs(x)) if abs(ball.x) > HALF_LENGTH else 2.0
    over_y = (HALF_WIDTH - abs(y)) / max(1e-6, abs(ball.y) - abs(y)) if abs(ball.y) > HALF_WIDTH else 2.0
    part = max(0.0, min(1.0, min(over_x, over_y)))
    cx, cy, cz = x + part * (ball.x - x), y + part * (ball.y - y), z + part * (ball.z - z)
    if over_x <= over_y:
        defending = 0 if (cx > 0) == (play.direction[0] < 0) else 1
        if play.restart is None and abs(cy) < GOAL_HALF and cz < BAR:
            if play.shot is not None or play.last >= 0:
                goal(play, 1 - defending)
            return True
        _over_goal_line(play, defending, cx, cy, cz)
    else:
        _over_touchline(play, cx, cy)
    return True


def _end_flight(play: Play, outcome: Outcome) -> None:
    if play.pending is not None:
        play.settle(play.pending.deed, Outcome.OUT)
        play.pending = None
    if play.shot is not None:
        settle_shot(play, outcome)


def _over_touchline(play: Play, x: float, y: float) -> None:
    _end_flight(play, Outcome.WIDE)
    if play.restart is not None:
        _rolled_out(play)
        return
    last = play.side_of(play.last)
    play.tell(
        DeedKind.BALL_OUT,
        play.last,
        side=last,
        at=(x, y),
        label=Label.BALL_OUT,
        label_side=restarts.NOBODY,
        line="touch",
    )
    restarts.stop(play, DeedKind.THROW_IN, 1 - last, max(-51.0, min(51.0, x)), math.copysign(HALF_WIDTH, y))


def _over_goal_line(play: Play, defending: int, x: float, y: float, z: float) -> None:
    outcome = Outcome.OVER if abs(y) < GOAL_HALF + 1.0 and z >= BAR else Outcome.WIDE
    _end_flight(play, outcome)
    if play.restart is not None:
        _rolled_out(play)
        return
    last = play.side_of(play.last)
    play.tell(
        DeedKind.BALL_OUT,
        play.last,
        side=last,
        at=(x, y),
        label=Label.BALL_OUT,
        label_side=restarts.NOBODY,
        line="goal",
    )
    near = math.copysign(1.0, y)
    end = math.copysign(HALF_LENGTH, x)
    if last == defending:
        restarts.stop(play, DeedKind.CORNER, 1 - defending, end - math.copysign(0.3, end), near * (HALF_WIDTH - 0.3))
    else:
        restarts.stop(play, DeedKind.GOAL_KICK, defending, end - math.copysign(5.2, end), near * 6.0)


def _rolled_out(play: Play) -> None:
    """After the whistle the ball ran on and left the field: it did so in the first moments, and counts as out."""
    restart = play.restart
    if restart is None or not restart.loose or play.step - restart.since > 5:
        return
    restart.loose = False
    if restart.kind in (DeedKind.FREE_KICK,) and play.last >= 0:
        play.tell(
            DeedKind.BALL_OUT,
            play.last,
            label=Label.BALL_OUT,
            label_side=restarts.NOBODY,
            line="touch",
            stopped=True,
        )


def goal(play: Play, side: int) -> None:
    """The ball is in the net for this side."""
    shot = play.shot
    play.ledger.count(side, goals=1)
    scorer = shot.shooter if shot is not None and shot.side == side else play.last
    own_goal = play.side_of(scorer) != side
    assist = shot.assist if shot is not None and not own_goal else None
    detail = dict(play.deeds[shot.deed].detail) if shot is not None else {}
    if play.pending is not None:
        play.settle(play.pending.deed, Outcome.COMPLETE)
        play.pending = None
    if shot is not None:
        if play.deeds[shot.deed].label is Label.SHOT_OFF_TARGET or play.deeds[shot.deed].label is None:
            # Deflected in: what scores was on target.
            play.deeds[shot.deed] = replace(play.deeds[shot.deed], label=Label.SHOT_ON_TARGET)
        settle_shot(play, Outcome.GOAL)
    detail["own_goal"] = own_goal
    play.tell(
        DeedKind.GOAL,
        scorer,
        assist,
        side=side,
        outcome=Outcome.GOAL,
        label=Label.GOAL,
        **detail,
    )
    play.stopped += 35.0
    # The net keeps it.
    ball = play.ball
    ball.x = math.copysign(min(abs(ball.x), 54.0), ball.x)
    ball.y = max(-3.4, min(3.4, ball.y))
    ball.kick(0.0, 0.1 * ball.vy, 0.0)
    restarts.after_goal(play, side, scorer if not own_goal else -1)


def offside(play: Play, slot: int, pending: Pending) -> None:
    """The flag goes up."""
    side = play.side_of(slot)
    play.settle(pending.deed, Outcome.LOST)
    play.pending = None
    x, y = play.place(slot)
    play.ledger.count(side, offsides=1)
    play.tell(DeedKind.OFFSIDE, slot, pending.kicker, at=(x, y), label=Label.OFFSIDE)
    for assistant in (23, 24):
        if (float(play.pos[assistant, 0]) > 0) == (x > 0):
            play.act(assistant, Pose.FLAG, 15, freeze=True)
    restarts.stop(play, DeedKind.FREE_KICK, 1 - side, x, y, reason="offside")


def foul(play: Play, offender: int, victim: int, *, sliding: bool = False, aerial: bool = False) -> None:
    """The referee has seen it: a free kick or a penalty, perhaps a card, perhaps somebody is hurt."""
    side = play.side_of(victim)
    x, y = play.place(victim)
    own_x, own_y = play.own(side, x, y)
    if play.pending is not None:
        play.settle(play.pending.deed, Outcome.LOST)
        play.pending = None
    if play.shot is not None:
        settle_shot(play, Outcome.BLOCKED)
    penalty = in_area(own_x, own_y)
    if penalty and aerial:
        penalty = False
        offender, victim, side = victim, offender, 1 - side  # in the area it is mostly the attacker who pushed
        own_x, own_y = play.own(side, x, y)
    strict = play.fixture.referee.strictness
    # A promising attack, a slide, a temper: how hard it is punished.
    severity = play.luck() + 0.25 * sliding + 0.3 * (play.skill["aggression"][offender] - 0.5)
    severity += 0.12 if own_x > 15.0 else 0.0
    play.ledger.count(1 - side, fouls=1)
    where = zone(own_x, own_y)
    reason = "aerial" if aerial else "sliding" if sliding else "trip" if severity > 0.55 else "push"
    play.tell(
        DeedKind.FOUL,
        offender,
        victim,
        at=(x, y),
        label=Label.FOUL,
        reason=reason,
        severity=round(severity, 2),
        zone=where,
        penalty=penalty,
        distance=round(goal_distance(own_x, own_y), 1),
    )
    play.act(victim, Pose.FALL, 4, freeze=True)
    play.act(22, Pose.POINT, 6)
    if penalty:
        d = play.direction[side]
        restarts.stop(play, DeedKind.PENALTY, side, d * (HALF_LENGTH - 11.0), 0.0, reason="foul")
    else:
        direct = goal_distance(own_x, own_y) < DIRECT_DISTANCE and own_x > 20.0
        restarts.stop(play, DeedKind.FREE_KICK, side, x, y, reason="foul", direct=direct)
    odds = CARD_RATE * (0.5 + strict) * (2.4 if penalty else 1.0) * math.exp(2.2 * (severity - 0.62))
    if play.luck() < odds:
        bench.book(play, offender, victim, severity)
    if (severity > 0.8 and play.luck() < 0.3) or play.luck() < 0.02:
        bench.injure(play, victim)

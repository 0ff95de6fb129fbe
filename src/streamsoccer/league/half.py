"""One half from whistle to whistle, and its trace."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from streamsoccer.league import bench, contests, decisions, goalkeeping, laws, officials, restarts, tactics
from streamsoccer.league.ledger import Ledger
from streamsoccer.league.motion import move
from streamsoccer.league.play import Play
from streamsoccer.league.truth import HZ, PEOPLE, DeedKind, Pose, Trace
from streamsoccer.league.world import Fixture

__all__ = ["play_half"]

_SPARE = 11 * 60 * HZ  # the longest added time


def play_half(
    fixture: Fixture,
    ledger: Ledger,
    half: int,
    minutes: float,
    rng: Generator,
    perturbed: tuple[int, Generator] | None = None,
) -> Trace:
    """Play a half; `perturbed` is a step and the other stream of chance that is drawn from since then."""
    first_left = 1 if fixture.seed % 2 == 0 else -1
    home_attacks = first_left if half == 1 else -first_left
    play = Play(fixture, ledger, half, home_attacks, rng)
    play.regular = minutes * 60.0
    start_score = ledger.score
    if half > 1:
        bench.interval(play)
    kicks_first = fixture.index % 2
    restarts.start(play, kicks_first if half == 1 else 1 - kicks_first)
    regular = round(minutes * 60 * HZ)
    film = _Film(regular + _SPARE)
    show_added = max(1, regular - 30 * HZ)
    lines = (0.0, 0.0)
    for step in range(regular + _SPARE):
        play.step = step
        if perturbed is not None and step == perturbed[0]:
            play.rng = perturbed[1]
        if step % 2 == 0:
            lines = tactics.offside_lines(play)
        if step == show_added:
            _added_time(play, minutes)
        if play.restart is not None:
            _dead(play, lines)
        else:
            _live(play, lines, step)
        film.take(play)
        if step % 50 == 0:
            bench.tire(play)
            tactics.mood(play, _remaining(play, half))
        if step >= regular + play.added * 60 * HZ and _may_end(play, step - regular - play.added * 60 * HZ):
            break
    play.tell(DeedKind.PERIOD_END, at=(0.0, 0.0))
    return film.trace(play, half, home_attacks, start_score)


def _remaining(play: Play, half: int) -> float:
    """Seconds of a full-length match still to play."""
    share = min(1.0, play.step / HZ / play.regular)
    return 2700.0 * (1.0 - share) + (2700.0 if half == 1 else 0.0)


def _added_time(play: Play, minutes: float) -> None:
    """The fourth official's board: some of what stood still."""
    asked = play.stopped / 60.0 * 0.75 * 45.0 / minutes
    most = max(1, round(6 * minutes / 45.0))
    play.added = min(most, max(1, round(asked * minutes / 45.0 * (0.55 if play.half == 1 else 0.8))))
    play.tell(DeedKind.ADDED_TIME, at=(0.0, -34.0), minutes=play.added)


def _may_end(play: Play, over: int) -> bool:
    """The whistle waits for an attack to end, not for long; a penalty is always taken."""
    if play.restart is not None and play.restart.kind is DeedKind.PENALTY:
        return False
    if play.shot is not None:
        return False
    if over > 40 * HZ:
        return True
    if play.restart is not None:
        return play.restart.kind not in (DeedKind.CORNER,) and not play.restart.direct and not play.todo
    return abs(play.ball.x) < 25.0


def _dead(play: Play, lines: tuple[float, float]) -> None:
    restart = play.restart
    assert restart is not None  # the caller looked
    if play.step % 2 == 0 or play.step == restart.since + 1:
        restarts.arrange(play, lines)
    officials.follow(play, lines)
    move(play)
    if restart.loose:
        ball = play.ball
        x, y, z = ball.x, ball.y, ball.z
        ball.step()
        if abs(x) <= 52.5 and abs(y) <= 34.0:
            laws.lines(play, x, y, z)
        elif abs(x) > 52.5 and abs(y) < 3.7 and abs(ball.x) > 54.3:
            ball.kick(0.0, 0.0)  # the net
    bench.work(play)
    restarts.take_restart(play)


def _live(play: Play, lines: tuple[float, float], step: int) -> None:
    side = play.side_of(play.holder if play.holder >= 0 else play.last)
    play.control[side] += 0.05 * (1.0 - play.control[side])
    play.control[1 - side] -= 0.05 * play.control[1 - side]
    if step % 5 == 0:
        tactics.roam(play)
        tactics.runs(play, lines)
    if step % 3 == 0:
        tactics.marking(play)
    if step % 2 == 0 or play.holder != play.shaped_for:
        tactics.shape(play, lines)
        play.shaped_for = play.holder
    if play.holder >= 0:
        decisions.carry(play)
        contests.press(play)
    else:
        if play.plan_at <= step:
            contests.chase(play)
        contests.run_to_ball(play)
    if play.shot is not None:
        goalkeeping.dive(play)
    officials.follow(play, lines)
    move(play)
    if play.holder >= 0:
        _at_feet(play)
        if step >= play.decide_at:
            if play.holder % 11 == 0 and play.pose[play.holder] == Pose.HOLD:
                decisions.keeper_ball(play)
            else:
                decisions.decide(play)
        else:
            contests.tackle(play)
        return
    ball = play.ball
    x, y, z = ball.x, ball.y, ball.z
    ball.step()
    if play.shot is not None:
        if goalkeeping.fly(play) or laws.lines(play, x, y, z):
            return
        if play.shot is not None and step > play.shot.arrives + 4:
            play.shot = None
        return
    if not laws.lines(play, x, y, z):
        contests.control(play, x, y)


def _at_feet(play: Play) -> None:
    """The ball goes with who has it."""
    slot = play.holder
    x, y = play.place(slot)
    if play.pose[slot] == Pose.HOLD:
        play.ball.put(x, y, 1.0)
        return
    vx, vy = float(play.vel[slot, 0]), float(play.vel[slot, 1])
    speed = math.sqrt(vx * vx + vy * vy)
    ahead = 0.35 + 0.09 * speed
    if speed > 0.3:
        x, y = x + ahead * vx / speed, y + ahead * vy / speed
    play.ball.put(max(-52.3, min(52.3, x)), max(-33.8, min(33.8, y)))


class _Film:
    """What is kept of each step."""

    def __init__(self, steps: int) -> None:
        self.n = 0
        self.ball = np.zeros((steps, 3), np.float32)
        self.people = np.zeros((steps, PEOPLE, 2), np.float32)
        self.facing = np.zeros((steps, PEOPLE), np.float32)
        self.pose = np.zeros((steps, PEOPLE), np.uint8)
        self.live = np.zeros(steps, np.bool_)
        self.holder = np.full(steps, -1, np.int8)

    def take(self, play: Play) -> None:
        n = self.n
        ball = play.ball
        self.ball[n] = ball.x, ball.y, ball.z
        self.people[n] = play.pos
        if not play.on.all():
            self.people[n, :22][~play.on] = np.nan
        self.facing[n] = play.facing
        self.pose[n] = play.pose
        self.live[n] = play.restart is None
        self.holder[n] = play.holder
        self.n += 1

    def trace(self, play: Play, half: int, home_attacks: int, start: tuple[int, int]) -> Trace:
        n = self.n
        return Trace(
            half=half,
            home_attacks=home_attacks,
            regular_seconds=play.regular,
            clock_start=(half - 1) * play.regular,
            ball=self.ball[:n].copy(),
            people=self.people[:n].copy(),
            facing=self.facing[:n].copy(),
            pose=self.pose[:n].copy(),
            live=self.live[:n].copy(),
            holder=self.holder[:n].copy(),
            shirts=tuple(play.shirts),
            deeds=tuple(play.deeds),
            added_minutes=play.added,
            score_start=start,
        )

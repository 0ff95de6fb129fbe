"""Where everybody wants to be: shapes that breathe with the ball, pressing, marking, runs, and the keeper's place."""

from __future__ import annotations

import math

import numpy as np

from streamsoccer.league.pitch import HALF_LENGTH
from streamsoccer.league.play import Play
from streamsoccer.league.world import Role

__all__ = ["mood", "offside_lines", "shape"]

_SLOTS = np.arange(22)
_SIDE = _SLOTS // 11
_KEEPERS = np.array([0, 11])


def mood(play: Play, remaining: float) -> None:
    """What the coaches ask for: who is behind pushes, who is ahead may sit back, and legs say how long one presses."""
    for side in (0, 1):
        team = play.ledger.teams[side]
        style = team.club.style
        lead = play.ledger.score[side] - play.ledger.score[1 - side]
        late = 1.0 - min(1.0, max(0.0, remaining / 5400.0))
        asked = 0.0
        if lead > 0:
            asked = -style.caution * (0.35 + 0.65 * late) * min(lead, 2) / 1.5
        elif lead < 0:
            asked = (0.25 + 0.75 * late) * min(-lead, 2) / 1.5
        team.mentality += 0.02 * (max(-1.0, min(1.0, asked)) - team.mentality)
        legs = sum(team.stamina[n] for n in team.slots if n is not None) / 11.0
        play.press[side] = max(0.05, min(1.0, style.press * (0.45 + 0.65 * legs) + 0.3 * team.mentality))


def offside_lines(play: Play) -> tuple[float, float]:
    """For each side the depth, in its own view, beyond which it is offside: second-last opponent, ball or half-way."""
    lines = []
    for side in (0, 1):
        d = play.direction[side]
        opponents = play.team(1 - side)
        depths = sorted((float(play.pos[slot, 0]) * d for slot in opponents if play.on[slot]), reverse=True)
        lines.append(max(0.0, depths[1] if len(depths) > 1 else 0.0, play.ball.x * d))
    return lines[0], lines[1]


def shape(play: Play, lines: tuple[float, float], ball: tuple[float, float] | None = None) -> None:
    """Targets and speeds for the 22, before anybody has a special task; `ball` where the game will go on."""
    x, y = (play.ball.x, play.ball.y) if ball is None else ball
    teams = play.ledger.teams
    rows = []
    for side in (0, 1):
        d, style, p = play.direction[side], teams[side].club.style, float(play.control[side])
        bx, by = d * x, d * y
        push = 7.0 * teams[side].mentality + 9.0 * (style.line - 0.5)
        back_without = min(
            8.0, max(-46.0, -18.0 + 0.72 * bx + push * (0.4 + 0.6 * min(1.0, max(0.0, (bx + 45.0) / 45.0))))
        )
        back_with = min(14.0, max(-38.0, -9.0 + 0.68 * bx + 0.6 * push))
        long_without = 29.0 - 4.0 * play.press[side]
        long_with = 42.0
        rows.append(
            (
                p * back_with + (1 - p) * back_without,
                p * long_with + (1 - p) * long_without,
                p * (34.0 + 5.0 * style.width)
                + (1 - p) * (23.0 if bx > -10.0 else max(17.0, 23.0 + 0.2 * (bx + 10.0))),
                by * (0.18 * p + 0.5 * (1 - p)),
                lines[side] + 1.2 * p - 1.0,
                bx,
                by,
            )
        )
    table = np.array(rows)[_SIDE]
    own_x = table[:, 0] + play.depth * table[:, 1]
    own_y = play.lane * table[:, 2] + table[:, 3]
    own_x += play.wander[:, 0]
    own_y += play.wander[:, 1]
    # The side with the ball keeps onside, but for those who run.
    np.minimum(own_x, table[:, 4], out=own_x)
    # Near their own goal defenders stand by their man.
    weight = play.mark_weight
    own_x += weight * (play.mark[:, 0] - own_x)
    own_y += weight * (play.mark[:, 1] - own_y)
    running = play.run_until > play.step
    if running.any():
        own_x = np.where(running, play.run_to[:, 0], own_x)
        own_y = np.where(running, play.run_to[:, 1], own_y)
    np.minimum(np.maximum(own_x, -50.5, out=own_x), 51.0, out=own_x)
    np.minimum(np.maximum(own_y, -33.0, out=own_y), 33.0, out=own_y)
    for side in (0, 1):
        slot, bx, by = 11 * side, float(table[11 * side, 5]), float(table[11 * side, 6])
        away = bx + HALF_LENGTH
        out = min(13.0, 1.2 + 0.14 * away) if away > 12 else 1.0 + 0.1 * away
        own_x[slot] = -HALF_LENGTH + out
        own_y[slot] = by * min(0.8, out / (away + 2.0))
    play.target[:22, 0] = own_x * play.sign
    play.target[:22, 1] = own_y * play.sign
    gone = play.target[:22] - play.pos[:22]
    far = np.sqrt(gone[:, 0] * gone[:, 0] + gone[:, 1] * gone[:, 1])
    # Who marks near his own goal does not stroll.
    haste = 0.05 + 0.17 * weight
    play.cap[:22] = np.where(running, 0.98, np.minimum(0.2 + far * haste, 0.95))


def roam(play: Play) -> None:
    """Every second: nobody stands exactly where the board says."""
    play.wander *= 0.9
    play.wander += play.rng.normal(0.0, 0.9, (22, 2))
    play.wander.clip(-4.5, 4.5, out=play.wander)
    np.round(play.wander, 3, out=play.wander)


def marking(play: Play) -> None:
    """Twice a second: who without the ball looks after whom; the nearer the own goal, the closer."""
    play.mark_weight[:] = 0.0
    for side in (0, 1):
        if play.control[side] > 0.55:
            continue
        d = play.direction[side]
        mine, theirs = play.present(side, keeper=False), play.present(1 - side, keeper=False)
        taken: set[int] = set()
        ball_y = play.ball.y * d
        depth = {slot: float(play.pos[slot, 0]) * d for slot in theirs}
        # The most advanced opponents are seen to first.
        for foe in sorted(theirs, key=lambda slot: depth[slot])[:8]:
            if depth[foe] > 8.0:
                break
            free = [slot for slot in mine if slot not in taken and play.square[slot, foe] < 150.0]
            if not free:
                continue
            best = min(free, key=lambda slot: (float(play.square[slot, foe]), slot))
            taken.add(best)
            fx, fy = (
                depth[foe] + 0.5 * float(play.vel[foe, 0]) * d,
                (float(play.pos[foe, 1]) + 0.4 * float(play.vel[foe, 1])) * d,
            )
            toward_x, toward_y = -HALF_LENGTH - fx, -fy
            size = math.sqrt(toward_x * toward_x + toward_y * toward_y) + 1e-9
            play.mark[best] = (fx + 1.6 * toward_x / size, fy + 1.6 * toward_y / size)
            close = min(0.92, max(0.2, 0.95 - (fx + HALF_LENGTH) * 0.016))
            # Far from the ball, across the pitch, one tucks in instead.
            play.mark_weight[best] = close * max(0.35, 1.0 - max(0.0, abs(fy - ball_y) - 14.0) * 0.04)


_RUNNERS = {Role.STRIKER: 1.0, Role.RIGHT_WING: 0.9, Role.LEFT_WING: 0.9, Role.ATTACKING: 0.7, Role.MIDFIELD: 0.4}
_OVERLAP = {Role.RIGHT_BACK: 0.4, Role.LEFT_BACK: 0.4}


def runs(play: Play, lines: tuple[float, float]) -> None:
    """Every second: somebody of the side with the ball makes a run: in behind, or outside past the winger."""
    holder = play.holder
    if holder < 0:
        return
    side = play.side_of(holder)
    d = play.direction[side]
    bx, by = play.ball.x * d, play.ball.y * d
    if bx < -30.0:
        return
    team = play.ledger.teams[side]
    eager = 0.16 + 0.1 * team.club.style.tempo + 0.08 * team.mentality
    for slot in play.present(side, keeper=False):
        if slot == holder or play.run_until[slot] > play.step:
            continue
        role = team.player(slot % 11).role
        wish = _RUNNERS.get(role, 0.0)
        back = _OVERLAP.get(role, 0.0) if bx > -5.0 else 0.0
        if play.luck() >= eager * max(wish, back):
            continue
        x, y = float(play.pos[slot, 0]) * d, float(play.pos[slot, 1]) * d
        if back:
            play.run_to[slot] = (min(48.0, bx + 14.0), 28.0 if y > 0 else -28.0)
        elif x > lines[side] - 16.0:
            # A run from an onside place; how well it is timed shows when the ball is played.
            play.run_to[slot] = (min(47.0, lines[side] + 9.0), 0.75 * y + 0.1 * by + play.bell(4.0))
        else:
            play.run_to[slot] = (min(47.0, x + 14.0), y + play.bell(6.0))
        play.run_until[slot] = play.step + 8 + int(play.rng.integers(10))

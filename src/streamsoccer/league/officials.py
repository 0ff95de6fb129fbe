"""The referee follows play on his diagonal, the assistants keep level with the second-last defender."""

from __future__ import annotations

import math

from streamsoccer.league.play import Play
from streamsoccer.league.truth import DeedKind

__all__ = ["follow"]


def follow(play: Play, lines: tuple[float, float]) -> None:
    """Targets of the three."""
    ball = play.ball
    x, y = (ball.x, ball.y) if play.restart is None else (play.restart.x, play.restart.y)
    booking = next((task for task in play.todo if task.kind is not DeedKind.SUBSTITUTION), None)
    if booking is not None:
        px, py = play.place(booking.slot)
        play.target[22] = (px + 1.6, py + 0.8)
        play.cap[22] = 0.7
    else:
        # Behind and to the left of play, out of the way of the ball.
        rx, ry = x * 0.86 - math.copysign(7.0, x), y * 0.72 + (7.5 if y * x <= 0 else -7.5)
        play.target[22] = (max(-46.0, min(46.0, rx)), max(-30.0, min(30.0, ry)))
        far = abs(float(play.pos[22, 0]) - rx) + abs(float(play.pos[22, 1]) - ry)
        play.cap[22] = min(0.9, 0.18 + 0.045 * far)
    # One assistant for each end: he runs the half that `positive` names.
    for slot, positive in ((23, True), (24, False)):
        attacking = 0 if (play.direction[0] > 0) == positive else 1
        at = lines[attacking] * play.direction[attacking]
        if (at > 0) != positive:
            at = 0.0
        play.target[slot] = (max(0.0, at) if positive else min(0.0, at), -34.9 if positive else 34.9)
        far = abs(float(play.pos[slot, 0]) - float(play.target[slot, 0]))
        play.cap[slot] = min(0.95, 0.15 + 0.12 * far)

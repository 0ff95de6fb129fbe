"""Who stands where at corners, free kicks and penalties: the crowd in the area, the wall, the men left back."""

from __future__ import annotations

import math

from streamsoccer.league.pitch import CIRCLE, HALF_LENGTH, goal_distance
from streamsoccer.league.play import Play, Restart
from streamsoccer.league.truth import DeedKind

__all__ = ["formation_spots"]

Spot = tuple[float, float]

# Own view of the attackers, for a corner from +y; mirrored for the other side.
_CORNER_ATTACK: tuple[Spot, ...] = ((47.0, 4.0), (46.5, -4.5), (42.0, 0.5), (44.0, 3.0), (43.5, -3.0), (35.0, 7.0))
_CORNER_ZONE: tuple[Spot, ...] = ((51.8, 3.4), (47.8, 2.2), (47.6, -1.5))
_WIDE_ATTACK: tuple[Spot, ...] = ((39.5, 4.5), (39.5, -5.0), (38.5, 0.0), (38.0, 8.0), (38.5, -9.0))


def formation_spots(play: Play, restart: Restart) -> dict[int, Spot]:
    """The places that a set piece asks for, in the pitch's own coordinates; nobody else is bound."""
    if restart.kind is DeedKind.CORNER:
        return _corner(play, restart)
    if restart.kind is DeedKind.PENALTY:
        return _penalty(play, restart)
    x, _ = play.own(restart.side, restart.x, restart.y)
    if restart.kind is DeedKind.FREE_KICK and x > 12.0:
        return _free_kick(play, restart)
    return {}


def _loose(play: Play, spot: Spot) -> Spot:
    return spot[0] + play.bell(0.8), spot[1] + play.bell(0.9)


def _world(play: Play, side: int, spot: Spot) -> Spot:
    d = play.direction[side]
    return d * spot[0], d * spot[1]


def _corner(play: Play, restart: Restart) -> dict[int, Spot]:
    side = restart.side
    flip = 1.0 if restart.y * play.direction[side] > 0 else -1.0
    attackers = sorted(
        (each for each in play.present(side, keeper=False) if each != restart.taker),
        key=lambda each: (-play.skill["heading"][each] - 0.25 * float(play.depth[each]), each),
    )
    chasing = play.ledger.teams[side].mentality > 0.4
    places = [(x, flip * y) for x, y in _CORNER_ATTACK]
    return _crowd(play, side, attackers[: 7 if chasing else 6], places, [(x, flip * y) for x, y in _CORNER_ZONE])


def _crowd(play: Play, side: int, attackers: list[int], places: list[Spot], zone: list[Spot]) -> dict[int, Spot]:
    """Attackers to their places, a defender goal side of each, the rest of the defenders in their zones."""
    spots: dict[int, Spot] = {}
    defenders = play.present(1 - side, keeper=False)
    left_up = max(defenders, key=lambda each: (play.depth[each], -each)) if len(defenders) > 8 else -1
    free = [each for each in defenders if each != left_up]
    for n, slot in enumerate(attackers):
        x, y = _loose(play, places[n % len(places)])
        spots[slot] = _world(play, side, (min(50.5, x), y))
        if not free:
            continue
        wx, wy = spots[slot]
        marker = play.nearest(wx, wy, free)
        free.remove(marker)
        spots[marker] = _world(play, side, (min(51.5, x + 1.0), y * 0.93))
    for slot, place in zip(free, zone, strict=False):
        spots[slot] = _world(play, side, _loose(play, place) if place[0] < 51 else place)
    keeper = 11 * (1 - side)
    if play.on[keeper]:
        spots[keeper] = _world(play, side, (51.0, 0.4))
    return spots


def _free_kick(play: Play, restart: Restart) -> dict[int, Spot]:
    side = restart.side
    x, y = play.own(side, restart.x, restart.y)
    away = goal_distance(x, y)
    attackers = sorted(
        (each for each in play.present(side, keeper=False) if each != restart.taker),
        key=lambda each: (-play.skill["heading"][each] - 0.3 * float(play.depth[each]), each),
    )
    flip = 1.0 if y > 0 else -1.0
    line = min(46.0, max(x + 4.0, 38.0))
    places = [(px - 38.5 + line, -flip * py) for px, py in _WIDE_ATTACK]
    spots = _crowd(play, side, attackers[:5], places, [(line + 2, 3.0), (line + 2.5, -3.0), (line - 4, flip * 9)])
    if restart.direct and away < 32.0:
        spots.update(_wall(play, side, x, y, away, spots))
    keeper = 11 * (1 - side)
    spots[keeper] = _world(play, side, (HALF_LENGTH - 1.6, max(-2.2, min(2.2, -0.08 * y))))
    return spots


def _wall(play: Play, side: int, x: float, y: float, away: float, spots: dict[int, Spot]) -> dict[int, Spot]:
    """Shoulder to shoulder at 9.15 m, on the side of the near post."""
    size = 2 if abs(y) > 17 else 3 if away > 26 else 4 if away > 21 else 5
    post = 2.0 if y > 0 else -2.0
    dx, dy = HALF_LENGTH - x, post - y
    length = math.sqrt(dx * dx + dy * dy)
    ux, uy = dx / length, dy / length
    reach = min(CIRCLE, length - 1.0)
    cx, cy = x + reach * ux, y + reach * uy
    wx, wy = _world(play, side, (cx, cy))
    men = sorted(
        play.present(1 - side, keeper=False),
        key=lambda each: ((float(play.pos[each, 0]) - wx) ** 2 + (float(play.pos[each, 1]) - wy) ** 2, each),
    )[:size]
    wall: dict[int, Spot] = {}
    for n, slot in enumerate(men):
        aside = (n - (size - 1) / 2) * 0.75
        wall[slot] = _world(play, side, (cx - uy * aside, cy + ux * aside))
    return wall


def _penalty(play: Play, restart: Restart) -> dict[int, Spot]:
    side = restart.side
    spots: dict[int, Spot] = {}
    men = [each for s in (0, 1) for each in play.present(s, keeper=False) if each != restart.taker]
    men.sort(key=lambda each: (abs(float(play.pos[each, 0]) - restart.x), each))
    for n, slot in enumerate(men[:13]):
        y = -15.0 + 30.0 * n / 12.0 + play.bell(0.6)
        x = 35.0 if abs(y) > 7.5 else 31.8
        spots[slot] = _world(play, side, (x, y))
    spots[11 * (1 - side)] = _world(play, side, (HALF_LENGTH - 0.3, 0.0))
    return spots

"""Striking the ball: passes, crosses, clearances and shots, with the errors that feet make."""

from __future__ import annotations

import math
from typing import Any

from streamsoccer.actions import Label
from streamsoccer.league.ball import flight_speed, ground_speed, shot_velocity
from streamsoccer.league.pitch import BAR, GOAL_HALF, HALF_LENGTH, goal_distance, zone
from streamsoccer.league.play import Pending, Play, Shot
from streamsoccer.league.truth import HZ, DeedKind, How, Outcome, Pose

__all__ = ["clear", "offside_slots", "onside", "pass_ball", "penalty", "shoot"]

SHOT_ERROR = 0.226  # radians of a hurried average foot


def offside_slots(play: Play, kicker: int) -> frozenset[int]:
    """Who of the kicker's side is beyond the line when he plays the ball."""
    side = play.side_of(kicker)
    d = play.direction[side]
    opponents = sorted((float(play.pos[slot, 0]) * d for slot in play.present(1 - side)), reverse=True)
    line = max(0.0, opponents[1] if len(opponents) > 1 else 0.0, play.ball.x * d) + 0.15
    return frozenset(slot for slot in play.present(side) if slot != kicker and float(play.pos[slot, 0]) * d > line)


def onside(play: Play, kicker: int, mates: list[int]) -> list[int]:
    """Those whom one may play the ball to; now and then an eye errs, and then all of them."""
    beyond = offside_slots(play, kicker) if play.luck() < 0.95 else frozenset()
    return [each for each in mates if each not in beyond]


def _foot(play: Play, slot: int) -> How:
    number = play.ledger.teams[play.side_of(slot)].slots[slot % 11]
    left = number is not None and play.ledger.teams[play.side_of(slot)].club.squad[number].left_footed
    strong = play.luck() < 0.8
    return How.LEFT_FOOT if left == strong else How.RIGHT_FOOT


def pass_ball(
    play: Play,
    receiver: int,
    target: tuple[float, float],
    *,
    lofted: bool,
    kind: DeedKind = DeedKind.PASS,
    hands: bool = False,
    free: bool = False,
    legal: bool = False,
    **detail: Any,
) -> None:
    """The holder plays the ball to a place. `free`: nobody hurries him. `legal`: nobody can be offside."""
    slot = play.holder
    side = play.side_of(slot)
    x, y = play.ball.x, play.ball.y
    dx, dy = target[0] - x, target[1] - y
    distance = max(1.5, math.sqrt(dx * dx + dy * dy))
    near, foe = play.pressure(slot)
    hurry = 1.0 if free else 1.0 + max(0.0, 2.6 - near) * 0.55
    skill = play.skill["passing"][slot]
    wild = (
        (0.026 + 0.07 * (1.0 - skill))
        * hurry
        * (2.3 if abs(y) > 21.0 and not free else 1.0)
        * (1.35 if lofted else 1.0)
    )
    angle = math.atan2(dy, dx) + play.bell(wild)
    # A ball to run on to, or across goal, is easily hit too long.
    far = 2.6 if kind is DeedKind.CROSS else 2.8 if detail.get("through") else 1.0
    reach = distance * (1.0 + far * play.bell(0.05 + 0.09 * (1.0 - skill) * hurry))
    at = 0.0
    if hands:
        speed = min(17.0, 4.0 + 0.62 * reach)
        rise, flat, at = 2.2, speed, 2.0
    elif lofted:
        degrees = 38 if distance > 24 else 46
        speed = flight_speed(max(5.0, reach * 0.94), degrees)
        rise, flat = speed * math.sin(math.radians(degrees)), speed * math.cos(math.radians(degrees))
    else:
        arrive = 5.2 + 0.09 * distance
        rise, flat = 0.0, min(27.0, ground_speed(reach, arrive))
    offside: frozenset[int] = frozenset() if legal else offside_slots(play, slot)
    d = play.direction[side]
    place = play.tell(
        kind,
        slot,
        receiver if receiver >= 0 else None,
        target=target,
        how=(How.THROW if hands else How.LOFTED if lofted else How.GROUND).value,
        distance=round(distance, 1),
        zone=zone(d * x, d * y),
        to_zone=zone(d * target[0], d * target[1]),
        **detail,
    )
    play.act(slot, Pose.THROW if hands else Pose.KICK, 2)
    play.assist = (slot, play.step)
    play.release(flat * math.cos(angle), flat * math.sin(angle), rise, at)
    if not hands and not free and near < 2.2 and play.luck() < _charge(kind, y):
        _charged_down(play, place, foe)
        return
    play.pending = Pending(deed=place, kicker=slot, receiver=receiver, offside=offside, kind=kind, step=play.step)


def _charge(kind: DeedKind, y: float) -> float:
    """How likely the man in front gets a leg to it: crosses often, passes down the line at times."""
    if kind is DeedKind.CROSS:
        return 0.42
    return 0.42 if abs(y) > 20.0 else 0.05


def _charged_down(play: Play, place: int, foe: int) -> None:
    """It hits the man in front and spins away, near a line often across it."""
    play.settle(place, Outcome.BLOCKED)
    play.tell(DeedKind.BLOCK, foe, play.last, outcome=Outcome.BLOCKED)
    play.last = foe
    play.assist = play.pending = None
    ball = play.ball
    turn = play.bell(0.9)
    keep = 0.3 + 0.3 * play.luck()
    c, s = math.cos(turn), math.sin(turn)
    vx, vy = keep * (ball.vx * c - ball.vy * s), keep * (ball.vx * s + ball.vy * c)
    if play.luck() < 0.6:
        # Off his shin it goes for the nearest line.
        d = play.direction[1 - play.side_of(foe)]
        own_x, own_y = play.own(1 - play.side_of(foe), ball.x, ball.y)
        if own_x > 40.0 and HALF_LENGTH - own_x < 34.0 - abs(own_y) + 6.0:
            vx = d * (abs(vx) + 5.0)
        else:
            vy = math.copysign(abs(vy) + 5.0, ball.y)
    ball.kick(vx, vy, 1.0 + 2.0 * play.luck())
    play.locked, play.locked_until = foe, play.step + 3


def clear(play: Play, header: bool = False) -> None:
    """Away with it: far, high, roughly out of danger."""
    slot = play.holder
    side = play.side_of(slot)
    d = play.direction[side]
    own_x, own_y = play.own(side, play.ball.x, play.ball.y)
    outward = 1.0 if play.ball.y > 0 else -1.0
    angle = math.atan2(outward * (0.55 + 0.5 * play.luck()) * (1.0 if play.luck() < 0.75 else -0.4), 1.0)
    if abs(play.ball.y) > 11.0 and play.luck() < 0.7:
        angle = outward * (0.85 + 0.6 * play.luck())  # for touch
    angle += play.bell(0.25)
    if own_x < -43.0 and abs(own_y) > 5.0 and play.luck() < 0.62:
        angle = outward * (1.7 + 0.5 * play.luck())  # behind, for a corner
    if d < 0:
        angle = math.pi - angle
    speed = (9.5 + 4.0 * play.luck()) if header else (17.0 + 9.0 * play.luck())
    rise = 5.0 if header else 6.0 + 6.0 * play.luck()
    play.ledger.count(side, clearances=1)
    play.tell(
        DeedKind.CLEARANCE,
        slot,
        how=(How.HEADER if header else How.DRIVEN).value,
        zone=zone(own_x, own_y),
    )
    play.act(slot, Pose.HEADER if header else Pose.KICK, 2)
    play.release(speed * math.cos(angle), speed * math.sin(angle), rise, play.ball.z if header else 0.0)
    play.assist = None


def _blocker(play: Play, slot: int, aim: tuple[float, float]) -> tuple[int | None, float]:
    """Who of the defenders throws himself into the line of a shot, and how far from the ball."""
    x, y = play.ball.x, play.ball.y
    dx, dy = aim[0] - x, aim[1] - y
    length = math.sqrt(dx * dx + dy * dy) + 1e-9
    ux, uy = dx / length, dy / length
    best: tuple[int | None, float] = (None, 0.0)
    for foe in play.present(1 - play.side_of(slot), keeper=False):
        rx, ry = float(play.pos[foe, 0]) - x, float(play.pos[foe, 1]) - y
        along = rx * ux + ry * uy
        if not 0.6 < along < min(14.0, length - 0.8) or play.frozen_until[foe] > play.step:
            continue
        aside = abs(rx * uy - ry * ux)
        odds = 0.7 * math.exp(-((aside / (1.2 + 0.08 * along)) ** 2))
        if play.luck() < odds and (best[0] is None or along < best[1]):
            best = (foe, along)
    return best


def shoot(play: Play, *, header: bool = False, detail: dict[str, Any] | None = None) -> None:
    """A shot at goal. Whether it is struck on target is settled by the foot, what becomes of it by the others."""
    slot = play.holder
    side = play.side_of(slot)
    d = play.direction[side]
    own_x, own_y = play.own(side, play.ball.x, play.ball.y)
    distance = goal_distance(own_x, own_y)
    near, _ = play.pressure(slot)
    still = detail is not None and detail.get("free_kick", False)
    skill = play.skill["heading" if header else "shooting"][slot]
    hurry = 0.85 if still else 1.0 + max(0.0, 2.2 - near) * 0.14
    speed = (11.0 + 4.0 * skill) if header else 19.0 + 8.0 * skill + play.bell(2.5)
    if still:
        speed *= 0.92
    # Aim inside the post away from the keeper, mostly low; then the foot errs.
    keeper = 11 * (1 - side)
    keeper_y = float(play.pos[keeper, 1])
    aim_y = (1.0 if keeper_y < 0 else -1.0) * (1.2 + 1.7 * play.luck())
    if play.luck() < 0.3:
        aim_y = -aim_y
    aim_z = 0.2 + 1.5 * play.luck() ** 2
    error = SHOT_ERROR * hurry * (1.35 - 0.7 * skill) * (1.6 if header else 1.0)
    goal_y = aim_y + play.bell(error) * (distance + 3.5)
    goal_z = max(0.0, aim_z + abs(play.bell(error * 0.62)) * (distance + 3.0) - 0.1)
    goal = (d * HALF_LENGTH, goal_y, goal_z)
    on_target = abs(goal_y) < GOAL_HALF - 0.06 and goal_z < BAR - 0.06
    start = play.ball.z if header else 0.0
    vx, vy, vz, seconds = shot_velocity((play.ball.x, play.ball.y), goal, speed, start)
    blocker, along = (None, 0.0) if header and distance < 7 else _blocker(play, slot, (goal[0], goal_y))
    if blocker is not None and still and goal_z > 1.2:
        blocker = None  # over the wall
    assist = None
    if play.assist is not None and play.step - play.assist[1] < 40 and play.assist[0] != slot:
        assist = play.assist[0] if play.side_of(play.assist[0]) == side else None
    frame = abs(goal_y) < GOAL_HALF + 0.3 and goal_z < BAR + 0.3
    label: Label | None = Label.SHOT_ON_TARGET if on_target else Label.SHOT_OFF_TARGET
    if blocker is not None:
        # Blocked far from goal it counts as neither; on the way in, near goal, it was on target.
        label = Label.SHOT_ON_TARGET if on_target and (along > 3.5 or distance < 14) else None
    counts = {"shots": 1}
    if blocker is not None:
        counts["blocked"] = 1
    elif on_target:
        counts["shots_on"] = 1
    else:
        counts["shots_off"] = 1
    play.ledger.count(side, **counts)
    more: dict[str, Any] = {
        "body": (How.HEADER if header else _foot(play, slot)).value,
        "how": (How.HEADER if header else How.CURLED if still else How.DRIVEN if speed > 25 else How.LOW).value,
        "height": (How.LOW if goal_z < 0.9 else How.HIGH).value,
        "distance": round(distance, 1),
        "zone": zone(own_x, own_y),
        **(detail or {}),
    }
    place = play.tell(DeedKind.SHOT, slot, assist, target=(goal[0], goal_y), label=label, **more)
    play.act(slot, Pose.HEADER if header else Pose.KICK, 2)
    play.release(vx, vy, vz, start)
    play.pending = None
    flat = max(1.0, math.sqrt(vx * vx + vy * vy))
    play.shot = Shot(
        deed=place,
        shooter=slot,
        side=side,
        struck=play.step,
        assist=assist,
        target=goal,
        arrives=play.step + max(1, round(seconds * HZ)),
        speed=speed,
        blocker=blocker,
        block_step=play.step + max(1, round(along / flat * HZ)),
        on_target=on_target,
        power=1.0 if frame else 0.0,
    )


def penalty(play: Play) -> None:
    """From the spot: most go in, some are saved, a few miss."""
    slot = play.holder
    side = play.side_of(slot)
    d = play.direction[side]
    skill = play.skill["shooting"][slot]
    miss = play.luck() < 0.09 - 0.05 * (skill - 0.5)
    corner = 1.0 if play.luck() < 0.5 else -1.0
    goal_y = corner * (4.1 + play.luck() if miss else 1.6 + 1.6 * play.luck())
    goal_z = 0.3 + 1.4 * play.luck() ** 2
    speed = 22.0 + 5.0 * play.luck()
    goal = (d * HALF_LENGTH, goal_y, goal_z)
    vx, vy, vz, seconds = shot_velocity((play.ball.x, play.ball.y), goal, speed)
    play.ledger.count(side, shots=1, **({"shots_off": 1} if miss else {"shots_on": 1}))
    place = play.tell(
        DeedKind.SHOT,
        slot,
        target=(goal[0], goal_y),
        label=Label.SHOT_OFF_TARGET if miss else Label.SHOT_ON_TARGET,
        body=_foot(play, slot).value,
        how=How.LOW.value if goal_z < 0.9 else How.HIGH.value,
        height=(How.LOW if goal_z < 0.9 else How.HIGH).value,
        distance=11.0,
        zone="penalty spot",
        penalty=True,
    )
    play.act(slot, Pose.KICK, 2)
    play.release(vx, vy, vz)
    play.assist = None
    play.shot = Shot(
        deed=place,
        shooter=slot,
        side=side,
        struck=play.step,
        assist=None,
        target=goal,
        arrives=play.step + max(1, round(seconds * HZ)),
        speed=speed,
        blocker=None,
        block_step=0,
        on_target=not miss,
        power=1.0,
    )


def settle_shot(play: Play, outcome: Outcome, **more: Any) -> None:
    """The shot on its way has ended so."""
    if play.shot is not None:
        play.settle(play.shot.deed, outcome, **more)
        play.shot = None

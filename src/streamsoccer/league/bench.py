"""What happens while the ball is dead: cards shown, the hurt looked after, changes made; and how legs tire."""

from __future__ import annotations

import math
from dataclasses import replace

from streamsoccer.actions import Label
from streamsoccer.league.ledger import MAX_SUBSTITUTIONS
from streamsoccer.league.play import SIDES, Play, Restart, Task
from streamsoccer.league.truth import HZ, DeedKind, Outcome, Pose
from streamsoccer.league.world import Role

__all__ = ["book", "consider", "injure", "interval", "tire", "work"]

_BENCH_SIDE = -34.6  # y of the touchline where the benches are


def minute(play: Play) -> float:
    """The minute of the match as a share of 90: short halves age players as long ones do."""
    return play.step / HZ / play.regular * 45.0 + (45.0 if play.half == 2 else 0.0)


def tire(play: Play) -> None:
    """Every ten seconds: who runs much tires, and is slower for it."""
    vel = play.vel
    for side in (0, 1):
        team = play.ledger.teams[side]
        for place in range(11):
            slot = 11 * side + place
            number = team.slots[place]
            if number is None:
                continue
            speed = math.hypot(float(vel[slot, 0]), float(vel[slot, 1]))
            cost = (0.00036 + 0.00018 * min(8.0, speed)) * (1.35 - 0.7 * play.skill["stamina"][slot])
            scale = 2700.0 / play.regular
            team.stamina[number] = max(0.25, round(team.stamina[number] - cost * scale, 5))
            play.pace[slot] = (6.9 + 2.0 * team.player(place).pace) * (0.84 + 0.16 * team.stamina[number])


# How likely a coach changes at a stoppage, from this minute on
_CHANGE = ((0.0, 0.002), (46.0, 0.012), (55.0, 0.05), (60.0, 0.085), (68.0, 0.1), (78.0, 0.13), (88.0, 0.11))


def consider(play: Play, restart: Restart) -> None:
    """A stoppage: does a coach send somebody on?"""
    if restart.kind is DeedKind.PENALTY:
        return
    now = minute(play)
    odds = max(rate for start, rate in _CHANGE if now >= start) if now < 88 else 0.11
    odds *= {DeedKind.THROW_IN: 0.62, DeedKind.CORNER: 0.45, DeedKind.GOAL_KICK: 1.5}.get(restart.kind, 1.15)
    for side in (0, 1):
        team = play.ledger.teams[side]
        trailing = play.ledger.score[side] < play.ledger.score[1 - side]
        hurt = [n for n in team.slots if n is not None and n in team.hurt]
        if team.substitutions + _waiting(play, side) >= MAX_SUBSTITUTIONS:
            continue
        if hurt or play.luck() < odds * (1.25 if trailing else 1.0):
            _plan_change(play, restart, side, hurt[0] if hurt else None)
            if play.luck() < 0.13 and team.substitutions + _waiting(play, side) < MAX_SUBSTITUTIONS and now > 55:
                _plan_change(play, restart, side, None)


def _waiting(play: Play, side: int) -> int:
    return sum(task.kind is DeedKind.SUBSTITUTION and play.side_of(task.slot) == side for task in play.todo)


def _choose(play: Play, side: int, hurt: int | None, busy: set[int]) -> tuple[int, int] | None:
    """Who comes off (his slot) and who comes on (his place in the squad): the most tired, for one of his kind."""
    team = play.ledger.teams[side]
    slots = [
        place
        for place in range(1, 11)
        if team.slots[place] is not None and 11 * side + place not in busy and play.on[11 * side + place]
    ]
    off = next((place for place in range(11) if hurt is not None and team.slots[place] == hurt), None)
    bench = [n for n in team.bench if n not in {task.other for task in play.todo}]
    if off is None:
        if not slots:
            return None
        off = min(slots, key=lambda place: (team.stamina[team.slots[place] or 0] + play.bell(0.08), place))
    role = team.player(off).role
    if not bench:
        return None
    bench = [n for n in bench if (team.club.squad[n].role is Role.GOALKEEPER) == (role is Role.GOALKEEPER)] or bench

    def fit(n: int) -> float:
        mine = team.club.squad[n].role
        same = 1.0 if mine is role else 0.5 if mine.value.split()[-1] == role.value.split()[-1] else 0.0
        return same + 0.8 * play.luck()

    return 11 * side + off, max(bench, key=fit)


def _plan_change(play: Play, restart: Restart, side: int, hurt: int | None) -> None:
    busy = {task.slot for task in play.todo} | {restart.taker}
    chosen = _choose(play, side, hurt, busy)
    if chosen is None:
        return
    slot, on = chosen
    # Whose restart is quick takes the change first all the same: the fourth official's board is up.
    wait = max(8.0, 29.0 + play.bell(9.0)) if restart.reason != "goal" else 38.0 + 14.0 * play.luck()
    same = [task.at for task in play.todo if task.kind is DeedKind.SUBSTITUTION]
    at = play.step + round(wait * HZ)
    if same and play.luck() < 0.75:
        at = max(same) + round((3.0 + 12.0 * play.luck()) * HZ)
    play.todo.append(Task(at=at, kind=DeedKind.SUBSTITUTION, slot=slot, other=on, reason="hurt" if hurt else ""))
    restart.walking_off[slot] = (play.bell(1.0), _BENCH_SIDE)
    after = round((6.0 + 6.0 * play.luck() + abs(play.bell(3.0))) * HZ)
    restart.ready = max(restart.ready, at + after)


def book(play: Play, offender: int, victim: int, severity: float) -> None:
    """A card will be shown when the referee has reached him."""
    team = play.ledger.teams[play.side_of(offender)]
    number = team.slots[offender % 11]
    restart = play.restart
    if number is None or restart is None:
        return
    red = (severity > 1.12 and play.luck() < 0.11) or play.luck() < 0.012
    kind = DeedKind.RED if red else DeedKind.YELLOW
    if not red and number in team.booked:
        if play.luck() < 0.78:
            return  # a last word of warning instead
        kind = DeedKind.SECOND_YELLOW
    at = play.step + round(min(22.0, max(3.0, 7.4 * 2.718 ** play.bell(0.42))) * HZ)
    play.todo.append(Task(at=at, kind=kind, slot=offender, other=victim))
    wait = 27.0 if kind is DeedKind.YELLOW else 50.0
    wait += 16.0 if restart.direct else 30.0 if restart.kind is DeedKind.PENALTY else 0.0
    restart.ready = max(restart.ready, at + round(max(12.0, wait + play.bell(9.0)) * HZ))


def injure(play: Play, victim: int) -> None:
    """Somebody stays down; play waits for him."""
    restart = play.restart
    if restart is None:
        return
    team = play.ledger.teams[play.side_of(victim)]
    number = team.slots[victim % 11]
    off = play.luck() < 0.17 and team.substitutions < MAX_SUBSTITUTIONS and number is not None
    seconds = 14.0 + 22.0 * play.luck() + (25.0 if off else 0.0)
    play.tell(DeedKind.INJURY, victim, outcome=Outcome.GOES_OFF if off else Outcome.PLAYS_ON)
    play.act(victim, Pose.LIE, round(seconds * HZ), freeze=True)
    play.stopped += seconds * 0.7
    restart.ready = max(restart.ready, play.step + round((seconds + 8.0 + 10.0 * play.luck()) * HZ))
    if restart.taker == victim:
        mates = [each for each in play.present(play.side_of(victim), keeper=False) if each != victim]
        restart.taker = play.nearest(restart.x, restart.y, mates)
    if off and number is not None:
        team.hurt.add(number)
        _plan_change(play, restart, play.side_of(victim), number)
        for task in play.todo:
            if task.kind is DeedKind.SUBSTITUTION and task.slot == victim:
                task.at = max(task.at, play.step + round(seconds * HZ))
                restart.ready = max(restart.ready, task.at + 8 * HZ)


def work(play: Play) -> None:
    """Do what is due."""
    due = [task for task in play.todo if task.at <= play.step]
    for task in sorted(due, key=lambda each: (each.at, each.slot)):
        play.todo.remove(task)
        if task.kind is DeedKind.SUBSTITUTION:
            change(play, task.slot, task.other, task.reason)
        else:
            _show(play, task)


def change(play: Play, slot: int, on: int, reason: str) -> None:
    """One comes on for another, in the same slot."""
    side = play.side_of(slot)
    team = play.ledger.teams[side]
    off = team.slots[slot % 11]
    if off is None:
        return
    team.gone.add(off)
    team.hurt.discard(off)
    team.slots[slot % 11] = on
    team.substitutions += 1
    play.ledger.count(side, substitutions=1)
    play.stopped += 25.0
    play.tell(DeedKind.SUBSTITUTION, slot, side=side, label=Label.SUBSTITUTION, reason=reason, off=off)
    _name_off(play, off, side)
    play.dress(side)
    if play.restart is not None:
        play.restart.walking_off.pop(slot, None)


def _name_off(play: Play, off: int, side: int) -> None:
    """The deed names who went off as the other player, of the same side."""
    play.deeds[-1] = replace(play.deeds[-1], other=off, other_side=SIDES[side])


def _show(play: Play, task: Task) -> None:
    """The card itself."""
    side = play.side_of(task.slot)
    team = play.ledger.teams[side]
    number = team.slots[task.slot % 11]
    if number is None:
        return
    kind = task.kind
    if kind is DeedKind.YELLOW and number in team.booked:
        kind = DeedKind.SECOND_YELLOW
    label = {
        DeedKind.YELLOW: Label.YELLOW_CARD,
        DeedKind.SECOND_YELLOW: Label.SECOND_YELLOW_CARD,
        DeedKind.RED: Label.RED_CARD,
    }[kind]
    play.ledger.count(side, yellows=int(kind is not DeedKind.RED), reds=int(kind is not DeedKind.YELLOW))
    play.tell(kind, task.slot, task.other, label=label)
    play.act(22, Pose.CARD, 12, freeze=True)
    play.act(task.slot, Pose.PROTEST, 12)
    play.stopped += 12.0
    team.booked.add(number)
    if kind is not DeedKind.YELLOW:
        send_off(play, task.slot)


def send_off(play: Play, slot: int) -> None:
    """The slot stays empty; somebody else takes what he should have taken, and a keeper is replaced."""
    side = play.side_of(slot)
    team = play.ledger.teams[side]
    number = team.slots[slot % 11]
    if number is not None:
        team.gone.add(number)
    team.slots[slot % 11] = None
    play.todo = [task for task in play.todo if task.slot != slot]
    restart = play.restart
    if restart is not None:
        restart.walking_off.pop(slot, None)
        restart.spots.pop(slot, None)
    if slot % 11 == 0:
        # Somebody must go in goal: the bench keeper for a striker, or a field player in gloves.
        place = next(p for p in range(10, 0, -1) if team.slots[p] is not None)
        keeper = next((n for n in team.bench if team.club.squad[n].role is Role.GOALKEEPER), None)
        if keeper is not None and team.substitutions < MAX_SUBSTITUTIONS:
            off = team.slots[place]
            team.slots[place] = None
            team.slots[0] = off
            play.dress(side)
            change(play, slot, keeper, "sent off")
        else:
            team.slots[0], team.slots[place] = team.slots[place], None
    play.dress(side)
    if restart is not None and not play.on[restart.taker]:
        restart.taker = play.nearest(restart.x, restart.y, play.present(restart.side, keeper=False))


def interval(play: Play) -> None:
    """Changes made in the dressing room stand at the first moment of the second half."""
    for side in (0, 1):
        team = play.ledger.teams[side]
        for number in range(18):
            team.stamina[number] = min(1.0, team.stamina[number] + 0.06)
        hurt = [n for n in team.slots if n is not None and n in team.hurt]
        trailing = play.ledger.score[side] < play.ledger.score[1 - side]
        if team.substitutions < MAX_SUBSTITUTIONS and (hurt or play.luck() < (0.26 if trailing else 0.15)):
            chosen = _choose(play, side, hurt[0] if hurt else None, set())
            if chosen is not None:
                change(play, *chosen, "half-time")

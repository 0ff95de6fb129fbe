# ruff: noqa: E501
"""Matches without a simulation: a script throws plausible deeds, as truth.py describes them, for tests of words alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from streamsoccer.actions import Label
from streamsoccer.domain import Side
from streamsoccer.league.names import WorldName
from streamsoccer.league.truth import HZ, Deed, DeedKind, How, Outcome, Shirt, Tallies, Trace
from streamsoccer.league.world import Fixture, fixture, stream

K, OUT = DeedKind, Outcome
SIDES = (Side.HOME, Side.AWAY)


@dataclass(frozen=True)
class ScriptedMatch:
    """What captions.write needs of a match."""

    fixture: Fixture
    halves: tuple[Trace, ...]


def scripted_match(seed: int, *, world: str = "train", index: int = 0, minutes: float = 45.0) -> ScriptedMatch:
    """The same seed gives the same deeds."""
    given = fixture(WorldName(world), seed, index)
    state = _State(given, stream(seed, "script", world, index))
    return ScriptedMatch(given, tuple(state.half(number, minutes) for number in (1, 2)))


class _State:
    def __init__(self, given: Fixture, rng: Generator) -> None:
        self.fixture, self.rng = given, rng
        self.tallies = [Tallies(), Tallies()]
        self.on = [list(range(11)), list(range(11))]
        self.bench = [list(range(11, 18)), list(range(11, 18))]
        self.booked: set[tuple[int, int]] = set()
        self.deeds: list[Deed] = []
        self.now = 0.0
        self.sequence = 0
        self.attacks = 1

    # --- telling -----------------------------------------------------------------------------------------------------

    def deed(self, kind: DeedKind, side: int | None, player: int | None = None, other: tuple[int, int] | None = None,
             *, label: Label | None = None, outcome: Outcome = OUT.NONE, place: tuple[float, float] = (0.0, 0.0),
             target: tuple[float, float] | None = None, count: dict[str, int] | None = None, **detail: Any) -> None:  # fmt: skip
        if side is not None and count:
            mine = self.tallies[side]
            self.tallies[side] = replace(mine, **{name: getattr(mine, name) + more for name, more in count.items()})
        direction = 1 if side is None else (self.attacks if side == 0 else -self.attacks)
        named = Side.NONE if side is None else SIDES[side]
        self.deeds.append(
            Deed(
                step=round(self.now * HZ), at=round(self.now * HZ) / HZ, kind=kind, side=named, player=player,
                slot=None if player is None or side is None or player not in self.on[side] else side * 11 + self.on[side].index(player),
                other=None if other is None else other[1], other_side=Side.NONE if other is None else SIDES[other[0]],
                place=(place[0] * direction, place[1] * direction),
                target=None if target is None else (target[0] * direction, target[1] * direction),
                outcome=outcome, detail=detail, label=label, label_side=Side.NONE if label is None or label is Label.BALL_OUT else named,
                score=(self.tallies[0].goals, self.tallies[1].goals), tallies=(self.tallies[0], self.tallies[1]), sequence=self.sequence,
            )
        )  # fmt: skip

    def wait(self, low: float, high: float) -> None:
        self.now += float(self.rng.uniform(low, high))

    def chance(self, odds: float) -> bool:
        return bool(self.rng.random() < odds)

    def someone(self, side: int, *but: int) -> int:
        field = [each for each in self.on[side][1:] if each not in but]
        return field[int(self.rng.integers(len(field)))]

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    # --- a half ------------------------------------------------------------------------------------------------------

    def half(self, number: int, minutes: float) -> Trace:
        self.deeds, self.now, self.attacks = [], 0.0, 1 if number == 1 else -1
        start = (self.tallies[0].goals, self.tallies[1].goals)
        shirts = tuple(
            Shirt(step=0, slot=side * 11 + place, player=who)
            for side in (0, 1)
            for place, who in enumerate(self.on[side])
        )
        self.deed(K.KICK_OFF, number - 1, self.on[number - 1][-1], label=Label.KICK_OFF)
        changes = sorted(float(each) for each in self.rng.uniform(0.15, 0.95, 6) * minutes * 60) if number == 2 else []
        while self.now < minutes * 60 - 20:
            self.sequence += 1
            side = int(self.rng.integers(2))
            if changes and self.now > changes[0]:
                changes.pop(0)
                self.substitution(side)
            what = self.rng.random()
            if what < 0.13:
                self.foul(side)
            elif what < 0.20:
                self.passes(side)
            elif what < 0.37:
                self.shot(side, self.pick("pass", "pass", "none", "dribble", "rebound"))
            elif what < 0.50:
                self.cross(side)
            elif what < 0.66:
                self.lost_pass(side)
            elif what < 0.70:
                self.dribble(side)
            elif what < 0.745:
                self.offside(side)
            elif what < 0.80:
                self.throw(side)
            elif what < 0.815:
                self.deed(K.INJURY, side, self.someone(side), outcome=OUT.PLAYS_ON)
                self.wait(40, 60)
            self.wait(4, 26)
        added = int(self.rng.integers(1, 6))
        self.deed(K.ADDED_TIME, None, minutes=added)
        self.now += added * 60.0
        self.deed(K.PERIOD_END, None)
        steps = round(self.now * HZ) + 1
        return Trace(
            half=number, home_attacks=self.attacks, regular_seconds=minutes * 60, clock_start=(number - 1) * minutes * 60,
            ball=np.zeros((steps, 3), np.float32), people=np.zeros((1, 25, 2), np.float32), facing=np.zeros((1, 25), np.float32),
            pose=np.zeros((1, 25), np.uint8), live=np.ones(steps, np.bool_), holder=np.zeros(steps, np.int8), shirts=shirts,
            deeds=tuple(self.deeds), added_minutes=added, score_start=start,
        )  # fmt: skip

    # --- what happens ------------------------------------------------------------------------------------------------

    def passes(self, side: int) -> None:
        for _ in range(int(self.rng.integers(3, 13))):
            self.deed(
                K.PASS,
                side,
                self.someone(side),
                outcome=OUT.COMPLETE,
                place=(float(self.rng.uniform(-30, 30)), 0.0),
                target=(0.0, 0.0),
                how="ground",
            )
            self.wait(1.5, 3)

    def shot(self, side: int, origin: str, helper: int | None = None) -> None:
        foe = 1 - side
        who = self.someone(side, *(() if helper is None else (helper,)))
        x = 52.5 - float(self.rng.choice([6, 13, 19, 26], p=[0.15, 0.4, 0.25, 0.2])) + float(self.rng.uniform(-2, 2))
        y = float(self.rng.uniform(-12, 12))
        assist = None
        if origin == "pass":
            assist = self.someone(side, who)
            self.deed(
                K.PASS,
                side,
                assist,
                outcome=OUT.COMPLETE,
                place=(x - 12, y + 8),
                target=(x, y),
                how="ground",
                through=False,
            )
            self.wait(1, 2.5)
        elif origin == "cross":
            assist = helper
        elif origin == "dribble":
            self.deed(K.DRIBBLE, side, who, (foe, self.someone(foe)), outcome=OUT.WON, place=(x - 3, y))
            self.wait(0.6, 2)
        header = origin == "cross" and self.chance(0.7)
        result = str(
            self.rng.choice(
                ["saved", "wide", "over", "post", "blocked", "goal"], p=[0.28, 0.27, 0.13, 0.04, 0.16, 0.12]
            )
        )
        goal_y = (
            float(self.rng.uniform(-3.2, 3.2))
            if result in ("saved", "goal", "blocked")
            else float(self.rng.choice([-1, 1])) * float(self.rng.uniform(4, 9))
        )
        label = (
            Label.SHOT_ON_TARGET
            if result in ("saved", "goal")
            else None
            if result == "blocked"
            else Label.SHOT_OFF_TARGET
        )
        on = {"shots_on": 1} if result in ("saved", "goal") else {} if result == "blocked" else {"shots_off": 1}
        self.deed(
            K.SHOT, side, who, None if assist is None else (side, assist), label=label, outcome=OUT(result), place=(x, y), target=(52.5, goal_y),
            count={"shots": 1, **on}, body="header" if header else self.pick("left_foot", "right_foot"),
            how=(How.HEADER if header else self.pick(How.LOW, How.DRIVEN, How.CURLED, How.VOLLEY)).value, height=self.pick("low", "high"),
            distance=round(float(np.hypot(52.5 - x, y)), 1), zone="", rebound=origin == "rebound",
        )  # fmt: skip
        self.wait(0.8, 1.6)
        if result == "saved":
            kept = self.pick(OUT.HELD, OUT.HELD, OUT.PARRIED, OUT.TIPPED)
            self.deed(K.SAVE, foe, self.on[foe][0], (side, who), outcome=kept, place=(-52, 0), count={"saves": 1})
            if kept is not OUT.HELD and self.chance(0.6):
                self.behind(foe, self.on[foe][0])
        elif result == "goal":
            self.deed(K.GOAL, side, who, None if assist is None else (side, assist), label=Label.GOAL, outcome=OUT.GOAL, count={"goals": 1},
                      own_goal=False, distance=round(52.5 - x, 1))  # fmt: skip
            self.wait(35, 60)
            self.deed(K.KICK_OFF, foe, self.on[foe][-1], label=Label.KICK_OFF)
        elif result == "blocked":
            blocker = self.someone(foe)
            self.deed(K.BLOCK, foe, blocker, (side, who), outcome=OUT.BLOCKED, place=(-45, 0))
            if self.chance(0.35):
                self.behind(foe, blocker)
        elif result != "post":
            self.deed(K.BALL_OUT, side, who, label=Label.BALL_OUT, place=(52.5, goal_y), line="goal")
            self.wait(15, 25)
            self.deed(K.GOAL_KICK, foe, self.on[foe][0], label=Label.CLEARANCE, long=True)

    def behind(self, foe: int, who: int) -> None:
        """A defender's touch sends it over his goal line: corner."""
        side = 1 - foe
        self.wait(0.8, 2)
        self.deed(
            K.BALL_OUT,
            foe,
            who,
            label=Label.BALL_OUT,
            place=(-52.5, float(self.rng.choice([-1, 1]) * self.rng.uniform(4, 20))),
            line="goal",
        )
        self.wait(18, 30)
        self.sequence += 1
        taker = self.someone(side)
        flank = float(self.rng.choice([-1.0, 1.0]))
        short = self.chance(0.2)
        self.deed(
            K.CORNER, side, taker, label=Label.CORNER, place=(52.2, 33.7 * flank), count={"corners": 1}, short=short
        )
        if short:
            self.deed(
                K.PASS, side, taker, outcome=OUT.COMPLETE, place=(52, 33 * flank), target=(48, 25 * flank), how="ground"
            )
            return
        self.deed(
            K.CROSS,
            side,
            taker,
            outcome=OUT.LOST,
            place=(52.2, 33.7 * flank),
            target=(45, 0),
            how="lofted",
            set_piece=True,
        )
        self.wait(1, 2)
        self.contest(side, taker)

    def contest(self, side: int, taker: int) -> None:
        foe, what = 1 - side, self.rng.random()
        if what < 0.45:
            self.deed(
                K.CLEARANCE,
                foe,
                self.someone(foe),
                label=Label.CLEARANCE,
                how="header",
                place=(-44, 2),
                count={"clearances": 1},
            )
        elif what < 0.6:
            self.deed(
                K.CLAIM, foe, self.on[foe][0], outcome=self.pick(OUT.HELD, OUT.PUNCHED), place=(-48, 2), cross=True
            )
        elif what < 0.78:
            self.shot(side, "cross", taker)
        elif what < 0.88:
            self.deed(K.INTERCEPTION, foe, self.someone(foe), (side, taker), place=(-44, 2))
        else:
            self.deed(K.BALL_OUT, side, taker, label=Label.BALL_OUT, place=(30, 34), line="touch")

    def cross(self, side: int) -> None:
        who, flank = self.someone(side), float(self.rng.choice([-1.0, 1.0]))
        self.deed(K.CROSS, side, who, outcome=OUT.LOST, place=(40, 26 * flank), target=(45, 0), how="lofted")
        self.wait(1, 2)
        if self.chance(0.3):
            self.behind(1 - side, self.someone(1 - side))
        else:
            self.contest(side, who)

    def lost_pass(self, side: int) -> None:
        who, foe = self.someone(side), 1 - side
        self.deed(
            K.PASS,
            side,
            who,
            outcome=OUT.LOST,
            place=(18, 5),
            target=(34, 2),
            how=self.pick("ground", "lofted"),
            through=True,
        )
        self.wait(1, 2)
        if self.chance(0.2):
            self.behind(foe, self.someone(foe))
        else:
            self.deed(
                self.pick(K.INTERCEPTION, K.INTERCEPTION, K.CLEARANCE),
                foe,
                self.someone(foe),
                (side, who),
                place=(-30, 2),
            )

    def dribble(self, side: int) -> None:
        foe = 1 - side
        self.deed(
            K.TACKLE,
            foe,
            self.someone(foe),
            (side, self.someone(side)),
            outcome=OUT.WON,
            place=(-33, float(self.rng.uniform(-28, 28))),
            sliding=False,
        )

    def offside(self, side: int) -> None:
        who, foe = self.someone(side), 1 - side
        self.deed(
            K.OFFSIDE,
            side,
            who,
            (side, self.someone(side, who)),
            label=Label.OFFSIDE,
            place=(25, 3),
            count={"offsides": 1},
        )
        self.wait(15, 20)
        self.deed(
            K.FREE_KICK,
            foe,
            self.someone(foe),
            label=Label.INDIRECT_FREE_KICK,
            place=(-25, -3),
            direct=False,
            shot=False,
            distance=78.0,
        )

    def throw(self, side: int) -> None:
        self.deed(K.BALL_OUT, side, self.someone(side), label=Label.BALL_OUT, place=(10, 34), line="touch")
        self.wait(8, 14)
        self.deed(
            K.THROW_IN, 1 - side, self.someone(1 - side), label=Label.THROW_IN, place=(-10, -34), count={"throw_ins": 1}
        )

    def foul(self, side: int) -> None:
        foe, who = 1 - side, self.someone(side)
        penalty = self.chance(0.02)
        x = -45.0 if penalty else float(self.rng.uniform(-40, 40))
        self.deed(
            K.FOUL, side, who, (foe, self.someone(foe)), label=Label.FOUL, place=(x, 3), count={"fouls": 1}, reason="trip",
            severity=round(float(self.rng.uniform(0.2, 1)), 2), penalty=penalty, distance=round(52.5 + x, 1),
        )  # fmt: skip
        self.wait(10, 14)
        if self.chance(0.17):
            if (side, who) in self.booked:
                self.deed(K.SECOND_YELLOW, side, who, label=Label.SECOND_YELLOW_CARD, count={"yellows": 1, "reds": 1})
                self.on[side].remove(who)
            elif self.chance(0.03):
                self.deed(K.RED, side, who, label=Label.RED_CARD, count={"reds": 1})
                self.on[side].remove(who)
            else:
                self.deed(K.YELLOW, side, who, label=Label.YELLOW_CARD, count={"yellows": 1})
                self.booked.add((side, who))
        self.wait(6, 12)
        taker = self.someone(foe)
        if penalty:
            self.deed(K.PENALTY, foe, taker, label=Label.PENALTY, place=(41.5, 0), count={"penalties": 1})
            result = str(self.rng.choice(["goal", "saved", "wide", "post"], p=[0.7, 0.2, 0.06, 0.04]))
            on = result in ("goal", "saved")
            self.deed(K.SHOT, foe, taker, label=Label.SHOT_ON_TARGET if on else Label.SHOT_OFF_TARGET, outcome=OUT(result), place=(41.5, 0), target=(52.5, 2.5),
                      count={"shots": 1, "shots_on" if on else "shots_off": 1}, body="right_foot", how="low", height="low", distance=11.0, penalty=True)  # fmt: skip
            self.wait(0.6, 1)
            if result == "goal":
                self.deed(
                    K.GOAL,
                    foe,
                    taker,
                    label=Label.GOAL,
                    outcome=OUT.GOAL,
                    count={"goals": 1},
                    own_goal=False,
                    penalty=True,
                )
                self.wait(40, 60)
            elif result == "saved":
                self.deed(K.SAVE, side, self.on[side][0], (foe, taker), outcome=OUT.HELD, count={"saves": 1})
            return
        distance = round(52.5 + x, 1)
        direct = distance < 30
        shooting = direct and self.chance(0.4)
        label = Label.DIRECT_FREE_KICK if direct else Label.INDIRECT_FREE_KICK
        self.deed(
            K.FREE_KICK,
            foe,
            taker,
            label=label,
            place=(-x, -3),
            direct=direct,
            shot=shooting,
            reason="foul",
            distance=distance,
        )
        if direct and not shooting:
            self.deed(
                K.CROSS, foe, taker, outcome=OUT.LOST, place=(-x, -3), target=(45, 0), how="lofted", set_piece=True
            )
            self.wait(1, 2)
            self.contest(foe, taker)
        elif shooting:
            result = str(self.rng.choice(["saved", "over", "wide", "blocked"]))
            self.deed(K.SHOT, foe, taker, label=Label.SHOT_ON_TARGET if result == "saved" else None if result == "blocked" else Label.SHOT_OFF_TARGET,
                      outcome=OUT(result), place=(-x, -3), target=(52.5, 5.0), count={"shots": 1}, body="right_foot", how="curled", height="high",
                      distance=distance, free_kick=True)  # fmt: skip
            self.wait(0.8, 1.4)
            if result == "saved":
                self.deed(K.SAVE, side, self.on[side][0], (foe, taker), outcome=OUT.HELD, count={"saves": 1})
            elif result == "blocked":
                self.deed(K.BLOCK, side, self.someone(side), (foe, taker), outcome=OUT.BLOCKED)
            else:
                self.deed(K.BALL_OUT, foe, taker, label=Label.BALL_OUT, place=(52.5, 5), line="goal")

    def substitution(self, side: int) -> None:
        if not self.bench[side] or self.tallies[side].substitutions >= 3:
            return
        off, on = self.someone(side), self.bench[side].pop()
        self.on[side][self.on[side].index(off)] = on
        self.deed(
            K.SUBSTITUTION,
            side,
            on,
            (side, off),
            label=Label.SUBSTITUTION,
            count={"substitutions": 1},
            reason="",
            off=off,
        )
        self.wait(5, 10)

"""The state of a half in play, and the few verbs that every part of the game uses; metres, and steps of 0.2 s."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from streamsoccer.actions import Label
from streamsoccer.domain import Side
from streamsoccer.league.ball import Ball
from streamsoccer.league.ledger import Ledger
from streamsoccer.league.truth import HZ, PEOPLE, Deed, DeedKind, Outcome, Pose, Shirt
from streamsoccer.league.world import FORMATIONS, Fixture

__all__ = ["SIDES", "Pending", "Play", "Restart", "Shot", "Task"]

SIDES = (Side.HOME, Side.AWAY)
_SKILLS = (
    "passing",
    "dribbling",
    "shooting",
    "tackling",
    "heading",
    "keeping",
    "aggression",
    "height",
    "stamina",
)


@dataclass(kw_only=True, slots=True)
class Pending:
    """A pass on its way: whose, to whom, and who stood offside when it was played."""

    deed: int  # its place in `Play.deeds`
    kicker: int
    receiver: int
    offside: frozenset[int]
    kind: DeedKind
    step: int


@dataclass(kw_only=True, slots=True)
class Shot:
    """A shot on its way; `deed` is its place in `Play.deeds`."""

    deed: int
    shooter: int
    side: int
    struck: int
    assist: int | None
    target: tuple[float, float, float]
    arrives: int  # step at which it reaches the goal line
    speed: float
    blocker: int | None
    block_step: int
    on_target: bool
    power: float
    done: bool = False  # the keeper has had his try


@dataclass(kw_only=True, slots=True)
class Restart:
    """A dead ball: what restarts play, who takes it, where, and not before when."""

    kind: DeedKind
    side: int
    x: float
    y: float
    since: int
    ready: int  # not before this step
    taker: int
    placed: bool = False
    direct: bool = False
    loose: bool = True  # the ball still rolls where it rolled
    reason: str = ""
    scorer: int | None = None
    latest: int = 0
    spots: dict[int, tuple[float, float]] = field(default_factory=dict)  # who must stand where
    walking_off: dict[int, tuple[float, float]] = field(default_factory=dict)  # who comes off, and where


@dataclass(kw_only=True, slots=True)
class Task:
    """What somebody will do in a stoppage: a card to show, a change to make, a stretcher to wait for."""

    at: int
    kind: DeedKind
    slot: int
    other: int = -1  # the victim, or who comes on (his place in the squad)
    reason: str = ""


class Play:
    """Everything that a step may read or change."""

    def __init__(self, fixture: Fixture, ledger: Ledger, half: int, home_attacks: int, rng: Generator) -> None:
        self.fixture, self.ledger, self.half, self.rng = fixture, ledger, half, rng
        self.step = 0
        self.direction = (home_attacks, -home_attacks)
        self.sign = np.repeat(np.array([home_attacks, -home_attacks], dtype=np.float64), 11)
        self.ball = Ball()
        # bodies
        self.pos = np.zeros((PEOPLE, 2))
        self.vel = np.zeros((PEOPLE, 2))
        self.target = np.zeros((PEOPLE, 2))
        self.cap = np.full(PEOPLE, 0.4)  # share of top speed that is wanted
        self.pace = np.full(PEOPLE, 7.0)
        self.facing = np.zeros(PEOPLE)
        self.pose = np.zeros(PEOPLE, dtype=np.uint8)
        self.pose_until = np.zeros(PEOPLE, dtype=np.int64)
        self.frozen_until = np.zeros(PEOPLE, dtype=np.int64)
        self.square = np.full((PEOPLE, PEOPLE), 400.0)
        self.on = np.ones(22, dtype=bool)
        # anchors of the formation, in the side's own view
        self.depth = np.zeros(22)
        self.lane = np.zeros(22)
        self.wander = np.zeros((22, 2))
        self.run_until = np.zeros(22, dtype=np.int64)
        self.run_to = np.zeros((22, 2))
        self.mark = np.zeros((22, 2))
        self.mark_weight = np.zeros(22)
        self.skill: dict[str, list[float]] = {}
        # the ball's business
        self.holder = -1
        self.last = -1  # slot that touched it last
        self.locked = -1  # who may not touch it again until `locked_until`
        self.locked_until = 0
        self.decide_at = 0
        self.held_since = 0
        self.pending: Pending | None = None
        self.shot: Shot | None = None
        self.restart: Restart | None = None
        self.assist: tuple[int, int] | None = None  # slot that passed last, and when
        self.chase: list[int] = [-1, -1]
        self.chase_to: list[tuple[float, float]] = [(0.0, 0.0), (0.0, 0.0)]
        self.plan_at = 0
        self.let_run = -1  # the side that sees the ball out
        self.shaped_for = -2
        self.control = np.array([0.5, 0.5])  # how much each side has had the ball lately
        self.press = [0.5, 0.5]
        self.carry = (0.0, 0.0)
        self.lost_step = 0
        # what stopped the clock
        self.regular = 2700.0  # seconds of the half without added time
        self.stopped = 0.0
        self.added = 0
        self.todo: list[Task] = []
        self.deeds: list[Deed] = []
        self.shirts: list[Shirt] = []
        for side in (0, 1):
            self.dress(side)

    def dress(self, side: int) -> None:
        """Take skills, pace and places of a side from who stands in its slots now."""
        team = self.ledger.teams[side]
        formation = FORMATIONS[team.club.formation]
        names = (
            "passing",
            "dribbling",
            "shooting",
            "tackling",
            "heading",
            "keeping",
            "aggression",
            "height",
            "stamina",
        )
        for name in names:
            self.skill.setdefault(name, [0.5] * 22)
        for place in range(11):
            slot = side * 11 + place
            player = team.player(place)
            for name in names:
                self.skill[name][slot] = getattr(player, name)
            number = team.slots[place]
            tired = 1.0 if number is None else 0.84 + 0.16 * team.stamina[number]
            self.pace[slot] = (6.9 + 2.0 * player.pace) * tired
            if place:
                _, self.depth[slot], across = formation[place - 1]
                self.lane[slot] = -across
            before = next((each.player for each in reversed(self.shirts) if each.slot == slot), -1)
            if number != before:
                self.shirts.append(Shirt(step=self.step, slot=slot, player=number))
            self.on[slot] = number is not None

    # --- who and where -----------------------------------------------------------------------------------------------

    def side_of(self, slot: int) -> int:
        return 0 if slot < 11 else 1

    def own(self, side: int, x: float, y: float) -> tuple[float, float]:
        """A place as that side sees it, attacking towards +x."""
        d = self.direction[side]
        return d * x, d * y

    def place(self, slot: int) -> tuple[float, float]:
        return float(self.pos[slot, 0]), float(self.pos[slot, 1])

    def team(self, side: int) -> range:
        return range(11 * side, 11 * side + 11)

    def present(self, side: int, keeper: bool = True) -> list[int]:
        return [slot for slot in self.team(side)[0 if keeper else 1 :] if self.on[slot]]

    def nearest(self, x: float, y: float, slots: list[int]) -> int:
        """Who of these stands nearest; the lower slot where two are equally near."""
        best, least = -1, 1e18
        for slot in slots:
            dx, dy = float(self.pos[slot, 0]) - x, float(self.pos[slot, 1]) - y
            if (away := dx * dx + dy * dy) < least:
                best, least = slot, away
        return best

    def gap(self, one: int, two: int) -> float:
        return math.sqrt(float(self.square[one, two]))

    def pressure(self, slot: int) -> tuple[float, int]:
        """How far the nearest opponent is, and who."""
        start = 11 if slot < 11 else 0
        row = self.square[slot, start : start + 11]
        found = int(row.argmin())
        return math.sqrt(float(row[found])), start + found

    # --- chance ------------------------------------------------------------------------------------------------------

    def luck(self) -> float:
        return float(self.rng.random())

    def bell(self, spread: float) -> float:
        """A normal deviate, cut at three spreads."""
        return max(-3.0, min(3.0, float(self.rng.standard_normal()))) * spread

    # --- telling -----------------------------------------------------------------------------------------------------

    def tell(
        self,
        kind: DeedKind,
        slot: int | None = None,
        other: int | None = None,
        *,
        side: int | None = None,
        at: tuple[float, float] | None = None,
        target: tuple[float, float] | None = None,
        outcome: Outcome = Outcome.NONE,
        label: Label | None = None,
        label_side: Side | None = None,
        **detail: Any,
    ) -> int:
        """Write a deed down; returns its place in the list."""
        teams = self.ledger.teams
        if side is None and slot is not None:
            side = self.side_of(slot)
        named = Side.NONE if side is None else SIDES[side]
        if at is None:
            at = (self.ball.x, self.ball.y) if slot is None else self.place(slot)
        self.deeds.append(
            Deed(
                step=self.step,
                at=self.step / HZ,
                kind=kind,
                side=named,
                player=None if slot is None else teams[self.side_of(slot)].slots[slot % 11],
                slot=slot,
                other=None if other is None else teams[self.side_of(other)].slots[other % 11],
                other_side=Side.NONE if other is None else SIDES[self.side_of(other)],
                other_slot=other,
                place=(round(at[0], 2), round(at[1], 2)),
                target=None if target is None else (round(target[0], 2), round(target[1], 2)),
                outcome=outcome,
                detail=detail,
                label=label,
                label_side=Side.NONE if label is None else named if label_side is None else label_side,
                score=self.ledger.score,
                tallies=self.ledger.tallies,
                sequence=self.ledger.sequence,
            )
        )
        return len(self.deeds) - 1

    def settle(self, place: int, outcome: Outcome, **more: Any) -> None:
        """Say how a deed ended, once it is known."""
        deed = self.deeds[place]
        self.deeds[place] = replace(deed, outcome=outcome, detail={**deed.detail, **more})

    def act(self, slot: int, pose: Pose, steps: int, freeze: bool = False) -> None:
        """Hold a pose for so many steps, standing still if asked."""
        self.pose[slot] = pose
        self.pose_until[slot] = self.step + steps
        if freeze:
            self.frozen_until[slot] = self.step + steps

    # --- the ball ----------------------------------------------------------------------------------------------------

    def take(self, slot: int) -> None:
        """This player has the ball now."""
        side = self.side_of(slot)
        if self.last >= 0 and self.side_of(self.last) != side:
            self.ledger.sequence += 1
            self.lost_step = self.step
        self.holder = self.last = slot
        self.held_since = self.step
        self.pending = None
        self.chase = [-1, -1]
        self.let_run = -1
        self.run_until[slot] = 0
        self.ball.kick(0.0, 0.0)

    def release(self, vx: float, vy: float, vz: float = 0.0, z: float | None = None) -> None:
        """The holder, or whoever stands at the ball, strikes it."""
        if self.holder >= 0:
            self.last = self.holder
        self.locked, self.locked_until = self.last, self.step + 4
        self.holder = -1
        if z is not None:
            self.ball.z = round(z, 3)
        self.ball.kick(vx, vy, vz)
        self.let_run = -1
        self.plan_at = self.step

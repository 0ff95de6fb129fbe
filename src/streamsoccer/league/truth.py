"""What happened on the pitch: deeds and the trace of one half. Camera, labels, commentary and truth.jsonl all read it.

People stand in slots: 0-10 home (0 is the goalkeeper), 11-21 away (11 is the goalkeeper), 22 the referee, 23 and 24 the
assistants. A slot is a place in the team on the pitch, a player is a place in the club's squad of 18; `Trace.shirts`
says who fills a slot since when. Lengths are metres, x from -52.5 to 52.5, y from -34 to 34, z up; times are seconds
of the half's video, which is match time. Home attacks towards `Trace.home_attacks` times positive x.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.actions import Label
from streamsoccer.domain import Side

if TYPE_CHECKING:
    from streamsoccer.league.world import Fixture

__all__ = ["HZ", "PEOPLE", "Deed", "DeedKind", "How", "Outcome", "Pose", "Shirt", "Tallies", "Trace", "write_truth"]

HZ = 5  # steps of the simulation in a second
PEOPLE = 25


class Pose(IntEnum):
    """What a body does at a step; it lasts as long as the steps that carry it."""

    STAND = 0
    WALK = 1
    RUN = 2
    SPRINT = 3
    KICK = 4
    HEADER = 5
    SLIDE = 6
    DIVE = 7  # goalkeeper, towards `facing`
    JUMP = 8
    FALL = 9
    LIE = 10
    CELEBRATE = 11
    THROW = 12
    HOLD = 13  # goalkeeper with the ball in his hands
    CARD = 14  # the referee shows a card
    FLAG = 15  # an assistant's raised flag
    POINT = 16  # the referee points: free kick, penalty spot
    PROTEST = 17


class DeedKind(StrEnum):
    """The kinds of things that happen."""

    PASS = "pass"
    CROSS = "cross"
    INTERCEPTION = "interception"
    DRIBBLE = "dribble"  # a player takes on `other`; outcome won | lost
    TACKLE = "tackle"  # `player` takes the ball from `other`
    CLEARANCE = "clearance"
    SHOT = "shot"  # outcome saved | goal | wide | over | post | blocked; `other` assisted
    SAVE = "save"  # by the goalkeeper, outcome held | parried | tipped; `other` shot
    BLOCK = "block"
    CLAIM = "claim"  # the goalkeeper takes a cross or a loose ball
    GOAL = "goal"  # `side` scores; `player` shot (detail own_goal: a player of the other side), `other` assisted
    BALL_OUT = "ball_out"  # detail: last = side that touched it last, line = touch | goal
    THROW_IN = "throw_in"
    CORNER = "corner"
    GOAL_KICK = "goal_kick"
    FREE_KICK = "free_kick"  # detail: direct = bool, shot = bool
    PENALTY = "penalty"  # the kick itself; its shot follows as SHOT with detail penalty
    KICK_OFF = "kick_off"
    FOUL = "foul"  # by `player` of `side` on `other`
    OFFSIDE = "offside"  # `player` of `side` was offside, `other` passed
    YELLOW = "yellow"
    SECOND_YELLOW = "second_yellow"
    RED = "red"
    INJURY = "injury"  # `player` is hurt; outcome plays_on | goes_off
    SUBSTITUTION = "substitution"  # `player` comes on for `other`
    ADDED_TIME = "added_time"  # shown at the end of a half; detail: minutes
    PERIOD_END = "period_end"


class Outcome(StrEnum):
    """How a deed ended."""

    COMPLETE = "complete"
    LOST = "lost"
    WON = "won"
    OUT = "out"
    SAVED = "saved"
    GOAL = "goal"
    WIDE = "wide"
    OVER = "over"
    POST = "post"
    BLOCKED = "blocked"
    HELD = "held"
    PARRIED = "parried"
    TIPPED = "tipped"
    PUNCHED = "punched"
    PLAYS_ON = "plays_on"
    GOES_OFF = "goes_off"
    NONE = ""


class How(StrEnum):
    """Words that stand in a deed's detail under 'how', 'body' and 'height'."""

    GROUND = "ground"
    LOFTED = "lofted"
    DRIVEN = "driven"
    CURLED = "curled"
    VOLLEY = "volley"
    HEADER = "header"
    LOW = "low"
    HIGH = "high"
    RIGHT_FOOT = "right_foot"
    LEFT_FOOT = "left_foot"
    THROW = "throw"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tallies:
    """What one side has done in the match so far, this deed included."""

    goals: int = 0
    shots: int = 0
    shots_on: int = 0  # goals included
    shots_off: int = 0
    blocked: int = 0
    saves: int = 0
    corners: int = 0
    fouls: int = 0
    offsides: int = 0
    yellows: int = 0  # a second yellow counts here too
    reds: int = 0  # straight reds and second yellows
    substitutions: int = 0
    throw_ins: int = 0
    free_kicks: int = 0
    penalties: int = 0
    clearances: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """One thing that happened; `label` is the SoccerNet action that it is, if it is one, of the side `label_side`."""

    step: int
    at: float
    kind: DeedKind
    side: Side = Side.NONE
    player: int | None = None  # place in the squad of `side`
    slot: int | None = None  # his slot in the trace at that step
    other: int | None = None
    other_side: Side = Side.NONE
    other_slot: int | None = None
    place: tuple[float, float] = (0.0, 0.0)
    target: tuple[float, float] | None = None  # where a kick was meant to go
    outcome: Outcome = Outcome.NONE
    # how, body, height: How; distance: metres to goal; zone: text; reason, direct, penalty, free_kick, own_goal, line,
    # last, minutes, wall, big_chance, rebound, header, booked: as they apply
    detail: Mapping[str, Any] = field(default_factory=dict)
    label: Label | None = None
    label_side: Side = Side.NONE
    score: tuple[int, int] = (0, 0)
    tallies: tuple[Tallies, Tallies] = (Tallies(), Tallies())  # home, away; after this deed, all halves together
    sequence: int = 0  # the attack it belongs to, counted through the match


@dataclass(frozen=True, kw_only=True, slots=True)
class Shirt:
    """From this step on this player of the squad stands in this slot; player None: the slot is empty."""

    step: int
    slot: int
    player: int | None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Trace:
    """One half, step by step: N steps, HZ a second."""

    half: int
    home_attacks: int  # 1 or -1
    regular_seconds: float  # the half without added time
    clock_start: float  # what the clock on the scoreboard says at second 0 of this half
    ball: NDArray[np.float32]  # [N, 3]
    people: NDArray[np.float32]  # [N, 25, 2], NaN where nobody is (sent off)
    facing: NDArray[np.float32]  # [N, 25] radians
    pose: NDArray[np.uint8]  # [N, 25] Pose
    live: NDArray[np.bool_]  # [N] the ball is in play
    holder: NDArray[np.int8]  # [N] slot that has the ball, -1 none
    shirts: tuple[Shirt, ...]
    deeds: tuple[Deed, ...]
    added_minutes: int = 0  # as the board shows; known from the ADDED_TIME deed on
    score_start: tuple[int, int] = (0, 0)

    @property
    def steps(self) -> int:
        return len(self.ball)

    @property
    def seconds(self) -> float:
        return len(self.ball) / HZ

    def player_at(self, slot: int, step: int) -> int | None:
        """Who fills a slot at a step: his place in the squad."""
        found: int | None = None
        for each in self.shirts:
            if each.step > step:
                break
            if each.slot == slot:
                found = each.player
        return found

    def score_at(self, step: int) -> tuple[int, int]:
        """The score at the end of a step."""
        score = self.score_start
        for deed in self.deeds:
            if deed.step > step:
                break
            score = deed.score
        return score


def rows(trace: Trace, fixture: Fixture) -> Iterator[dict[str, Any]]:
    """The deeds of a half as JSON objects: names and hashes instead of places in a squad."""
    for deed in trace.deeds:
        home, away = deed.tallies
        yield {
            "half": trace.half,
            "at": round(deed.at, 2),
            "kind": deed.kind.value,
            "side": deed.side.value,
            "player": _person(fixture, deed.side, deed.player),
            "other": _person(fixture, deed.other_side, deed.other),
            "other_side": deed.other_side.value,
            "place": [round(each, 1) for each in deed.place],
            "target": None if deed.target is None else [round(each, 1) for each in deed.target],
            "outcome": deed.outcome.value,
            "detail": dict(deed.detail),
            "label": None if deed.label is None else deed.label.value,
            "label_side": deed.label_side.value,
            "score": list(deed.score),
            "tallies": {"home": _counts(home), "away": _counts(away)},
            "sequence": deed.sequence,
        }


def write_truth(path: Path, trace: Trace, fixture: Fixture) -> None:
    """One deed a line."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows(trace, fixture):
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def _person(fixture: Fixture, side: Side, player: int | None) -> dict[str, Any] | None:
    if player is None or side is Side.NONE:
        return None
    person = fixture.club(side).squad[player]
    return {"hash": person.hash, "name": person.name, "number": person.number}


def _counts(tallies: Tallies) -> dict[str, int]:
    return {name: getattr(tallies, name) for name in Tallies.__dataclass_fields__}

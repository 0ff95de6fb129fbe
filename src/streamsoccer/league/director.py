"""Which camera is on when, from what has happened so far: cuts, close-ups, replays, graphics, the score on the board.

A decision at step s reads the trace up to s and no further; how long a shot lasts may depend on when play goes on, and
then it is cut when that happens, never before. Labels ask `visible` whether a viewer could see a deed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum

from numpy.random import Generator

from streamsoccer.domain import Side
from streamsoccer.league.rig import FOURTH, FOURTH_PLACE, Station
from streamsoccer.league.truth import HZ, Deed, DeedKind, Outcome, Trace

__all__ = ["WIPE", "Direction", "Graphic", "GraphicKind", "Shot", "ShotKind", "Taste", "direct"]

WIPE = 2  # steps on each side of a cut to or from a replay
SHORT = 5  # steps: no shot is shorter


class ShotKind(StrEnum):
    """What a shot is."""

    MAIN = "main"
    CLOSE = "close"
    REPLAY = "replay"


class GraphicKind(StrEnum):
    """What a caption at the foot of the picture tells, without words."""

    YELLOW = "yellow"
    SECOND_YELLOW = "second_yellow"
    RED = "red"
    SUBSTITUTION = "substitution"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shot:
    """One camera from `start` to `end` (not included), in steps; a replay shows the past from `source` on at `rate`."""

    start: int
    end: int
    kind: ShotKind
    station: Station = Station.MAIN
    target: int | None = None  # the slot that a close-up shows
    tall: float = 0.7  # how much of the picture's height he takes
    source: int = 0
    rate: float = 1.0
    span: float = 24.0  # metres across a replay

    def shows(self, moment: float) -> float:
        """The moment of play that is on the screen at a moment of the shot: a replay's lies in the past."""
        return moment if self.kind is not ShotKind.REPLAY else self.source + (moment - self.start) * self.rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Graphic:
    """A panel over the picture from `start` to `end`, in steps."""

    start: int
    end: int
    kind: GraphicKind
    side: Side
    number: int  # place in the squad
    other: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Taste:
    """How this director works: shares of stoppages that get a replay or close-up, and how often he comes back late."""

    close_out: float = 0.42  # after a ball out over the touchline
    late_out: float = 0.74
    close_goal_line: float = 0.66
    late_goal_kick: float = 0.84
    late_corner: float = 0.36
    replay_chance: float = 0.62
    replay_foul: float = 0.42
    close_foul: float = 0.46
    late_foul: float = 0.9
    replay_offside: float = 0.56
    late_goal: float = 0.95
    close_card: float = 0.72
    board: float = 0.75
    opening: float = 0.35  # a half that begins on a face
    cutaway: float = 78.0  # seconds of open play between close-ups without cause


@dataclass(frozen=True, kw_only=True, slots=True)
class Direction:
    """A half as it was broadcast."""

    shots: tuple[Shot, ...]
    graphics: tuple[Graphic, ...]
    scores: tuple[tuple[int, tuple[int, int]], ...]  # (step, score) as the board shows it
    added: tuple[int, int] | None = None  # (step, minutes)

    def shot(self, moment: float) -> Shot:
        """The shot that is on at a moment, in steps."""
        return self.shots[max(0, bisect_right(self.shots, moment, key=lambda shot: shot.start) - 1)]

    def visible(self, step: int, deed: Deed | None = None) -> bool:
        """Whether a viewer sees what happens at a step: on the main camera, or as the subject of a close-up."""
        shot = self.shot(step)
        if shot.kind is ShotKind.MAIN:
            return True
        if deed is None or shot.kind is not ShotKind.CLOSE:
            return False
        if deed.kind in (DeedKind.YELLOW, DeedKind.RED, DeedKind.SECOND_YELLOW):
            return shot.target in (22, deed.slot)
        return deed.kind is DeedKind.SUBSTITUTION and shot.target in (FOURTH, deed.slot)

    def score(self, moment: float) -> tuple[int, int]:
        """The score on the board at a moment: it follows a goal some seconds later."""
        return self.scores[max(0, bisect_right(self.scores, moment, key=lambda row: row[0]) - 1)][1]


@dataclass(kw_only=True, slots=True)
class _Cue:
    """A shot that the director means to cut to."""

    earliest: int
    shot: Shot  # start and end not yet known
    lasts: int
    late: int | None = None  # stays until so many steps after play goes on
    longest: int = 0


class _Director:
    def __init__(self, trace: Trace, rng: Generator, taste: Taste) -> None:
        self._trace, self._rng, self._taste = trace, rng, taste
        self.shots: list[Shot] = []
        self.graphics: list[Graphic] = []
        self.scores: list[tuple[int, tuple[int, int]]] = [(0, trace.score_start)]
        self.added: tuple[int, int] | None = None
        self._now = Shot(start=0, end=0, kind=ShotKind.MAIN)
        self._cue: _Cue | None = None
        self._plan: deque[_Cue] = deque()
        self._chance: Deed | None = None
        self._went_live: int | None = 0
        self._step = 0

    def run(self) -> Direction:
        deeds = iter(self._trace.deeds)
        deed = next(deeds, None)
        live = self._trace.live.tolist()
        was = False
        for step, now in enumerate(live):
            if now and not was:
                self._went_live = step
            elif was and not now:
                self._went_live = None
            was, self._step = now, step
            if step == 0 and self._rng.random() < self._taste.opening:
                self._cut(step, self._close(step, int(self._rng.integers(23)), 1.5, 3.5))
            while deed is not None and deed.step <= step:
                self._react(deed, step)
                deed = next(deeds, None)
            self._decide(step, now)
        self.shots.append(replace(self._now, end=len(live)))
        return Direction(
            shots=tuple(self.shots), graphics=tuple(self.graphics), scores=tuple(self.scores), added=self.added
        )

    def _cut(self, step: int, cue: _Cue | None) -> None:
        if step > self._now.start:
            self.shots.append(replace(self._now, end=step))
        if cue is not None and cue.shot.target is not None and cue.shot.target != FOURTH:
            x = self._trace.people[step, cue.shot.target, 0]
            if x != x:  # he has been sent off: the referee instead
                cue.shot = replace(cue.shot, target=22)
        self._cue = cue
        self._now = replace(cue.shot if cue else Shot(start=0, end=0, kind=ShotKind.MAIN), start=step, end=step)

    def _decide(self, step: int, live: bool) -> None:
        """Stay, go to the next shot of the plan, or go back to the main camera."""
        since = step - self._now.start
        if self._cue is None:
            if self._plan and step >= self._plan[0].earliest and since >= SHORT:
                cue = self._plan.popleft()
                # play has gone on before there was time for it
                if live and self._went_live is not None and step - self._went_live > HZ // 2:
                    self._plan.clear()
                    return
                self._cut(step, cue)
            elif live and not self._plan and since > 12 * HZ:
                self._glance(step)
            return
        cue = self._cue
        if cue.late is not None:
            over = (live and self._went_live is not None and step - self._went_live >= cue.late) or since >= cue.longest
            if not over and since >= cue.lasts and not live:
                # still waiting for play: another face
                other = self._close(step, int(self._rng.integers(22)), 3.0, 6.5)
                other.late, other.longest = cue.late, cue.longest - since
                self._cut(step, other)
                return
        else:
            over = since >= cue.lasts
            resumed = self._went_live
            if resumed is not None and self._now.start < resumed < step - 3 * HZ:
                over = over or since >= 2 * HZ
        if not over:
            return
        if self._plan and not live:
            self._cut(step, self._plan.popleft())
        else:
            self._plan.clear()
            self._cut(step, None)

    def _glance(self, step: int) -> None:
        """Now and then a face in open play, while the ball is far from both goals."""
        if self._rng.random() < 1 / (self._taste.cutaway * HZ) and abs(float(self._trace.ball[step, 0])) < 26:
            slot = int(self._rng.integers(22))
            self._cut(step, self._close(step, slot, 1.6, 3.4))

    def _react(self, deed: Deed, step: int) -> None:
        taste, rng = self._taste, self._rng
        match deed.kind:
            case DeedKind.GOAL:
                self.scores.append((step + self._steps(3.5, 7.5), deed.score))
                self._celebrate(deed, step)
            case DeedKind.SHOT:
                if deed.outcome is not Outcome.BLOCKED:
                    self._chance = deed
            case DeedKind.BALL_OUT:
                self._out(deed, step)
            case DeedKind.FOUL:
                self._stoppage(deed, step, taste.replay_foul, taste.close_foul, taste.late_foul)
            case DeedKind.OFFSIDE:
                self._stoppage(deed, step, taste.replay_offside, 0.2, taste.late_foul)
            case DeedKind.YELLOW | DeedKind.SECOND_YELLOW | DeedKind.RED:
                self._card(deed, step)
            case DeedKind.SUBSTITUTION:
                start = step + self._steps(0.6, 2.0)
                self._graphic(GraphicKind.SUBSTITUTION, deed, start)
                if rng.random() < taste.board and self._now.kind is ShotKind.MAIN:
                    self._plan.clear()
                    self._plan.append(self._close(step + self._steps(0.2, 1.0), FOURTH, 2.0, 3.2))
                    if deed.slot is not None and rng.random() < 0.6:
                        self._plan.append(self._close(step + self._steps(1.0, 2.0), deed.slot, 2.0, 3.5))
            case DeedKind.INJURY:
                if self._now.kind is ShotKind.MAIN and deed.slot is not None:
                    self._plan.append(self._close(step + self._steps(2.0, 4.0), deed.slot, 3.0, 6.0))
            case DeedKind.ADDED_TIME:
                self.added = (step, int(deed.detail.get("minutes", 0)))
            case _:
                pass

    def _celebrate(self, deed: Deed, step: int) -> None:
        rng, taste = self._rng, self._taste
        self._plan.clear()
        scorer = deed.slot if deed.slot is not None else 9
        at = step + self._steps(1.6, 3.0)
        self._plan.append(self._close(at, scorer, 3.5, 6.0))
        first = self._replay(at, deed, wide=bool(rng.random() < 0.4))
        self._plan.append(first)
        if rng.random() < 0.6:
            second = self._replay(at, deed, wide=first.shot.span < 25)
            second.shot = replace(second.shot, station=_other_station(first.shot.station), rate=0.4)
            self._plan.append(second)
        keeper = 11 if scorer < 11 else 0
        last = self._close(at, keeper if rng.random() < 0.5 else scorer, 3.0, 6.0)
        if rng.random() < taste.late_goal:
            last.late, last.longest = self._steps(0.4, 2.6), self._steps(36.0, 60.0)
        self._plan.append(last)

    def _out(self, deed: Deed, step: int) -> None:
        """The ball has gone out of play."""
        taste, rng = self._taste, self._rng
        if self._plan or self._now.kind is not ShotKind.MAIN:
            return
        chance = self._chance if self._chance is not None and step - self._chance.step < 7 * HZ else None
        goal_line = deed.detail.get("line") == "goal"
        attackers_last = deed.side is not self._end_side(deed)
        if goal_line:
            late = taste.late_goal_kick if attackers_last else taste.late_corner
            close = taste.close_goal_line if attackers_last else taste.close_goal_line * 0.5
        else:
            late, close = taste.late_out, taste.close_out
        if chance is not None:
            close = 0.85
        if rng.random() >= close:
            return
        who = chance if chance is not None else deed
        slot = who.slot if who.slot is not None else self._nearest(step)
        wait = self._steps(1.2, 2.6) if chance is not None or not goal_line else self._steps(2.0, 8.0)
        self._plan.append(self._close(step + wait, slot, 2.0, 3.6))
        if chance is not None and rng.random() < taste.replay_chance:
            self._plan.append(self._replay(step, chance, wide=False))
        if rng.random() < late:
            self._stay(self._plan[-1])

    def _end_side(self, deed: Deed) -> Side:
        """The side that defends the end where a deed took place."""
        right = deed.place[0] > 0
        return Side.AWAY if right == (self._trace.home_attacks > 0) else Side.HOME

    def _stoppage(self, deed: Deed, step: int, replay_share: float, close_share: float, late: float) -> None:
        """A foul or an offside: the referee's decision first, pictures of it after a while."""
        rng = self._rng
        self._plan.clear()
        if self._now.kind is not ShotKind.MAIN:
            return
        draw = float(rng.random())
        dangerous = abs(deed.place[0]) > 26 and abs(deed.place[1]) < 24
        if draw < replay_share:
            wait = self._steps(5.5, 9.5)
            if rng.random() < 0.5 and deed.other_slot is not None:
                self._plan.append(self._close(step + self._steps(1.8, 3.0), deed.other_slot, 2.0, 3.5))
            self._plan.append(self._replay(step + wait, deed, wide=False))
        elif draw < replay_share + close_share:
            slot = deed.other_slot if deed.other_slot is not None and rng.random() < 0.5 else deed.slot
            slot = slot if slot is not None else self._nearest(step)
            self._plan.append(self._close(step + self._steps(4.0, 11.0), slot, 2.2, 4.5))
        else:
            return
        if rng.random() < (late * 0.12 if dangerous else late):
            self._stay(self._plan[-1])

    def _card(self, deed: Deed, step: int) -> None:
        kind = GraphicKind(deed.kind.value)
        self._graphic(kind, deed, step + self._steps(2.0, 4.5))
        share = {ShotKind.MAIN: self._taste.close_card, ShotKind.CLOSE: 0.95, ShotKind.REPLAY: 0.6}[self._now.kind]
        if self._rng.random() > share or self._now.start == step:
            return
        booked = self._plan[-1] if self._plan else None
        self._plan.clear()
        self._cut(step, self._close(step, 22, 2.4, 4.0))
        if deed.slot is not None and self._rng.random() < 0.6:
            self._plan.append(self._close(step, deed.slot, 2.0, 3.4))
        if booked is not None and booked.shot.kind is ShotKind.REPLAY:
            self._plan.append(booked)

    def _graphic(self, kind: GraphicKind, deed: Deed, start: int) -> None:
        if self.graphics and self.graphics[-1].end > start:
            start = self.graphics[-1].end + HZ // 2
        length = self._steps(4.0, 5.5)
        self.graphics.append(
            Graphic(
                start=start, end=start + length, kind=kind, side=deed.side, number=deed.player or 0, other=deed.other
            )
        )

    def _stay(self, cue: _Cue) -> None:
        """Come back to the main camera only after play has gone on."""
        if cue.shot.kind is ShotKind.REPLAY:
            cue = self._close(cue.earliest, int(self._rng.integers(22)), 2.0, 4.0)
            self._plan.append(cue)
        cue.late, cue.longest = self._steps(0.4, 2.0), cue.lasts + self._steps(10.0, 34.0)

    def _close(self, earliest: int, slot: int, least: float, most: float) -> _Cue:
        # NaN where nobody is compares false
        left = FOURTH_PLACE[0] < 0 if slot == FOURTH else self._trace.people[self._step, slot, 0] < 0
        station = Station.LOW_LEFT if left else Station.LOW_RIGHT
        tall = round(float(self._rng.uniform(0.5, 0.62) if slot in (22, FOURTH) else self._rng.uniform(0.62, 1.35)), 2)
        shot = Shot(start=0, end=0, kind=ShotKind.CLOSE, station=station, target=slot, tall=tall)
        return _Cue(earliest=earliest, shot=shot, lasts=self._steps(least, most))

    def _replay(self, earliest: int, deed: Deed, wide: bool) -> _Cue:
        rng = self._rng
        rate = (0.5, 0.6, 0.5, 0.4)[int(rng.integers(4))]
        lead = self._steps(2.6, 4.4) if deed.kind in (DeedKind.GOAL, DeedKind.SHOT) else self._steps(1.6, 2.6)
        right = deed.place[0] > 0
        near_goal = abs(deed.place[0]) > 24
        if near_goal and rng.random() < 0.45:
            station = Station.BEHIND_RIGHT if right else Station.BEHIND_LEFT
        elif near_goal or rng.random() < 0.5:
            station = Station.SIX_RIGHT if right else Station.SIX_LEFT
        else:
            station = Station.LOW_RIGHT if right else Station.LOW_LEFT
        span = 28.0 if wide else round(float(rng.uniform(12.0, 20.0)), 1)
        source = max(0, deed.step - lead)
        after = self._steps(1.0, 1.8)
        length = int((deed.step + after - source) / rate)
        shot = Shot(start=0, end=0, kind=ShotKind.REPLAY, station=station, source=source, rate=rate, span=span)
        return _Cue(earliest=earliest, shot=shot, lasts=length)

    def _nearest(self, step: int) -> int:
        gap = self._trace.people[step, :22] - self._trace.ball[step, :2]
        distance = gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1]
        distance[distance != distance] = 1e9
        return int(distance.argmin())

    def _steps(self, least: float, most: float) -> int:
        return round(float(self._rng.uniform(least, most)) * HZ)


def _other_station(station: Station) -> Station:
    """Another view of the same end."""
    return {
        Station.BEHIND_LEFT: Station.SIX_LEFT,
        Station.BEHIND_RIGHT: Station.SIX_RIGHT,
        Station.SIX_LEFT: Station.BEHIND_LEFT,
        Station.SIX_RIGHT: Station.BEHIND_RIGHT,
        Station.LOW_LEFT: Station.SIX_LEFT,
        Station.LOW_RIGHT: Station.SIX_RIGHT,
    }.get(station, Station.SIX_LEFT)


def direct(trace: Trace, rng: Generator, taste: Taste | None = None) -> Direction:
    """Broadcast a half."""
    return _Director(trace, rng, taste or Taste()).run()

"""What is to be seen in a clip: camera by camera, who has the ball where, and what happens to it, in order of time.

Nothing is told that the clip's own frames do not show: outcomes are read off what follows within the clip, never off
how a deed ended later; what a replay, a wipe or a close-up hides is left out; people and balls outside the picture too.
Moments are steps of the simulation as in `broadcast.py`: the picture at t seconds shows step HZ * t - 1.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP
from streamsoccer.domain import Side
from streamsoccer.league.broadcast import HalfOnAir
from streamsoccer.league.director import WIPE, Graphic, Shot, ShotKind
from streamsoccer.league.pitch import BAR
from streamsoccer.league.rig import FOURTH, FOURTH_PLACE
from streamsoccer.league.scene import awarded
from streamsoccer.league.truth import HZ, Deed, DeedKind, How, Outcome, Pose, Trace

__all__ = ["Beat", "Board", "Part", "Place", "Sight", "State", "covered", "look"]

Place = tuple[float, float]
_K = DeedKind
_BEFORE = 2.4  # steps before a frame that it still speaks for: half a second lies between frames
_FLIGHT = 9  # steps that a shot may have been on its way when the clip begins
_PICTURE = (384, 224)
# Steps for which it stays plain what was: a ball that drops beyond the line, or comes in from a corner; a flag.
_LINGERS = {
    _K.BALL_OUT: 9, _K.CORNER: 9, _K.THROW_IN: 9, _K.GOAL_KICK: 9, _K.FREE_KICK: 9, _K.OFFSIDE: 30,
}  # fmt: skip
_RESTARTS = frozenset({_K.THROW_IN, _K.CORNER, _K.GOAL_KICK, _K.FREE_KICK, _K.PENALTY, _K.KICK_OFF})
_CARDS = frozenset({_K.YELLOW, _K.SECOND_YELLOW, _K.RED})
_UNSEEN = frozenset({_K.ADDED_TIME, _K.PERIOD_END, _K.INJURY})  # the board and the bodies tell, or nothing does


class State(StrEnum):
    """What a stretch of the main camera shows while nothing in particular happens."""

    PLAY = "play"  # a side has the ball
    KEEPER = "keeper"  # a goalkeeper has it in his hands
    READY = "ready"  # the ball lies, or is held, where play will go on
    STOPPED = "stopped"
    JOY = "joy"  # players celebrate
    DOWN = "down"  # somebody lies on the ground


@dataclass(frozen=True, kw_only=True, slots=True)
class Beat:
    """One thing that happens in the picture; `result` is what the clip shows to have come of it."""

    kind: DeedKind
    step: int
    side: Side
    place: Place
    slot: int | None = None
    how: str = ""
    result: str = ""
    by: Side = Side.NONE  # who is against it: whose keeper saved, who blocked, who was fouled, to whom the ball goes
    to: Place | None = None  # where the ball went, as far as it is seen
    distance: float = 0.0
    count: int = 1  # passes in a row
    keeper: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    """The scoreboard at its first and last sight in the clip."""

    before: tuple[int, int]
    after: tuple[int, int]
    minute: int
    added: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A run of the clip's frames from one camera; `low` to `high` are the moments that they show."""

    shot: Shot
    frames: int
    low: float
    high: float
    beats: tuple[Beat, ...] = ()
    state: State = State.PLAY
    side: Side = Side.NONE  # who has the ball, at first where something happens, or will restart
    held: bool = False  # somebody has the ball at the first frame
    restart: DeedKind | None = None
    start: Place = (0.0, 0.0)  # of the ball
    end: Place = (0.0, 0.0)
    pose: Pose = Pose.STAND  # of the person in a close-up
    back: bool = False  # his back, and so his number, is to be seen
    card: str = ""  # yellow or red, that he holds up

    @property
    def kind(self) -> ShotKind:
        return self.shot.kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """A clip as it is seen."""

    index: int
    parts: tuple[Part, ...]  # none where a wipe covers all
    wipes: int  # frames that a wipe covers
    home_attacks: int  # 1: to the right
    board: Board | None
    graphics: tuple[Graphic, ...]


def look(on_air: HalfOnAir, index: int) -> Sight:
    """What clip `index` of a half shows."""
    trace, direction = on_air.trace, on_air.direction
    times = [index * CLIP_SECONDS + sample / FPS for sample in range(FRAMES_PER_CLIP)]
    moments = [on_air.moment(at) for at in times if at < trace.seconds]
    clear = [each for each in moments if not covered(on_air, each)]
    runs: list[list[float]] = []
    for moment in clear:
        if runs and direction.shot(runs[-1][-1]) is direction.shot(moment):
            runs[-1].append(moment)
        else:
            runs.append([moment])
    lit = [each for each in clear if direction.shot(each).kind is not ShotKind.REPLAY]
    board = None
    if lit:
        first, last = lit[0], lit[-1]
        added = direction.added[1] if direction.added is not None and last >= direction.added[0] else 0
        minute = int(trace.clock_start + last / HZ) // 60
        board = Board(before=direction.score(first), after=direction.score(last), minute=minute, added=added)
    graphics = tuple(
        each for each in direction.graphics if any(each.start + 1.4 <= moment < each.end - 1.4 for moment in lit)
    )
    parts = tuple(_part(on_air, direction.shot(run[0]), run) for run in runs)
    return Sight(
        index=index,
        parts=parts,
        wipes=len(moments) - len(clear),
        home_attacks=trace.home_attacks,
        board=board,
        graphics=graphics,
    )


def covered(on_air: HalfOnAir, moment: float) -> bool:
    """Whether a wipe hides the picture; at its very ends it has not come in yet, or is nearly gone."""
    direction = on_air.direction
    for cut in (direction.shot(moment).start, direction.shot(moment + WIPE).start):
        if cut and cut - WIPE < moment < cut + WIPE:
            return ShotKind.REPLAY in (direction.shot(cut).kind, direction.shot(cut - 1).kind)
    return False


def _part(on_air: HalfOnAir, shot: Shot, run: list[float]) -> Part:
    trace = on_air.trace
    if shot.kind is ShotKind.CLOSE:
        part = Part(shot=shot, frames=len(run), low=run[0], high=run[-1])
        if shot.target is None or shot.target == FOURTH:
            return part
        middle = min(int(run[len(run) // 2]), trace.steps - 1)
        pose = Pose(int(trace.pose[middle, shot.target]))
        turned = math.sin(float(trace.facing[middle, shot.target])) > 0.5  # away from the near stand, where cameras are
        return replace(part, pose=pose, back=turned, card=_card_held(trace, run) if shot.target == 22 else "")
    if shot.kind is ShotKind.REPLAY:
        run = [shot.shows(each) for each in run]
    low, high = run[0], run[-1]
    found = [each for each in _beats(trace, low, high) if _in_picture(on_air, shot, each, high)]
    first, last = (min(int(each), trace.steps - 1) for each in (low, high))
    part = Part(
        shot=shot,
        frames=len(run),
        low=low,
        high=high,
        beats=tuple(_joined(found)),
        start=_ball(trace, first),
        end=_ball(trace, last),
    )
    return part if shot.kind is ShotKind.REPLAY else _with_state(trace, part, first, last)


def _in_picture(on_air: HalfOnAir, shot: Shot, beat: Beat, high: float) -> bool:
    """Whether the ball, or whoever tells of a beat, is inside the picture: as it happens, or still a little later."""
    trace = on_air.trace
    track = on_air.track(shot, _PICTURE[1] / _PICTURE[0])
    last = max(beat.step, min(math.floor(high), trace.steps - 1))
    for step in range(beat.step, min(last, beat.step + _LINGERS.get(beat.kind, 0)) + 1, 3):
        camera = track.camera(float(step), *_PICTURE)
        for x, y, z in _tellers(trace, beat.kind, step):
            across, down, depth = camera.see((x, y, z))
            if depth > 0 and 4 <= across < _PICTURE[0] - 4 and 2 <= down < _PICTURE[1] - 2:
                return True
    return False


def _tellers(trace: Trace, kind: DeedKind, step: int) -> list[tuple[float, float, float]]:
    """What must be seen to know of something: the flag, the card, the board, or the ball."""
    after = min(step + 1, trace.steps - 1)
    if kind is _K.OFFSIDE:
        flags = [slot for slot in (23, 24) if trace.pose[after, slot] == Pose.FLAG]
        return [(*trace.people[after, slot].tolist(), 1.8) for slot in flags]
    if kind in _CARDS:
        return [(*trace.people[after, 22].tolist(), 1.6)]
    if kind is _K.SUBSTITUTION:
        return [(*FOURTH_PLACE, 1.6)]
    return [tuple(trace.ball[min(step, trace.steps - 1)].tolist())]


# --- what happens ----------------------------------------------------------------------------------------------------


def _beats(trace: Trace, low: float, high: float) -> Iterator[Beat]:
    """Everything that happens between two moments, with what comes of it until the second."""
    first, last = math.ceil(low - _BEFORE), math.floor(high)
    deeds = trace.deeds
    begin = bisect_left(deeds, first, key=lambda deed: deed.step)
    end = bisect_left(deeds, last + 1, key=lambda deed: deed.step)
    told: set[int] = set()  # deeds that an earlier beat already tells
    for at in range(begin, end):
        deed = deeds[at]
        if at in told or deed.kind in _UNSEEN or (deed.kind is _K.BALL_OUT and deed.detail.get("stopped")):
            continue
        later = range(at + 1, end)
        beat = _plain(trace, deed)
        if deed.kind is _K.PENALTY or deed.kind is _K.SHOT:
            beat = _ended(trace, beat, later, told, last)
        elif deed.kind in _RESTARTS:
            struck = [each for each in later if deeds[each].step == deed.step and deeds[each].slot == deed.slot]
            if struck and deeds[struck[0]].kind is not _K.SHOT:
                told.add(struck[0])
                if last - deed.step >= 2:  # later than that one does not see where it goes
                    beat = replace(beat, how=_delivery(deeds[struck[0]]), to=_goes(trace, deed, later, last))
        elif deed.kind in (_K.PASS, _K.CROSS):
            beat = replace(beat, to=_goes(trace, deed, later, last))
        elif deed.kind is _K.BALL_OUT and beat.how != "touch":
            before = deeds[at - 1] if at else None
            if before is not None and before.kind is _K.SHOT and before.step >= deed.step - _FLIGHT:
                # It was struck before the first frame, but is seen to miss.
                beat = replace(beat, kind=_K.SHOT, side=before.side, result=_missed(trace, deed), how="late")
        yield beat


def _plain(trace: Trace, deed: Deed) -> Beat:
    """A deed without anything that is known of it only later."""
    detail = deed.detail
    how = ""
    by = Side.NONE if deed.other_side is deed.side else deed.other_side
    if deed.kind in (_K.PASS, _K.CROSS):
        how = "header" if detail.get("header") else str(detail.get("how", ""))
    elif deed.kind in (_K.SHOT, _K.CLEARANCE):
        how = "free kick" if detail.get("free_kick") else "header" if detail.get("how") == How.HEADER.value else ""
    elif deed.kind in (_K.SAVE, _K.CLAIM, _K.TACKLE, _K.DRIBBLE):
        how = deed.outcome.value
    elif deed.kind is _K.BALL_OUT:
        restart, by = awarded(trace, deed)
        how = {_K.CORNER: "corner", _K.GOAL_KICK: "goal kick"}.get(restart, "touch")
    elif deed.kind is _K.GOAL and detail.get("own_goal"):
        how = "own goal"
    return Beat(
        kind=deed.kind,
        step=deed.step,
        side=deed.side,
        slot=deed.slot,
        place=deed.place,
        how=how,
        by=by,
        distance=float(detail.get("distance", 0.0)),
        keeper=deed.slot in (0, 11),
    )


def _ended(trace: Trace, beat: Beat, later: range, told: set[int], last: int) -> Beat:
    """A shot with what becomes of it within sight; the deeds that say so are told with it."""
    shot = trace.deeds[later.start - 1]
    for at in later:
        deed = trace.deeds[at]
        if deed.kind is _K.SHOT:
            if beat.kind is not _K.PENALTY or shot.kind is _K.SHOT:
                break
            shot = deed
            told.add(at)
            continue
        if deed.kind in (_K.SAVE, _K.BLOCK):
            told.add(at)
            result = deed.outcome.value if deed.kind is _K.SAVE else "blocked"
            return replace(beat, result=result, by=deed.side)
        if deed.kind is _K.GOAL:
            told.add(at)
            return replace(beat, result="goal", by=Side.NONE)
        if deed.kind is _K.BALL_OUT and deed.detail.get("line") == "goal" and not deed.detail.get("stopped"):
            told.add(at)
            return replace(beat, result=_missed(trace, deed))
        break
    if shot.outcome is Outcome.POST:
        # It comes back off the goal's frame: only where that is seen is it known.
        span = trace.ball[shot.step + 1 : last + 1, 0]
        if len(span) and float(abs(span).max()) > 51.9 and abs(float(span[-1])) < 51.9:
            return replace(beat, result="post")
    return beat


def _missed(trace: Trace, out: Deed) -> str:
    """Over the bar, or past a post."""
    high = float(trace.ball[min(out.step, trace.steps - 1), 2]) >= BAR
    return "over" if high and abs(out.place[1]) < 5.0 else "wide"


def _delivery(deed: Deed) -> str:
    if deed.kind is _K.CROSS:
        return "cross"
    return "long" if deed.detail.get("how") == How.LOFTED.value else "short"


def _goes(trace: Trace, deed: Deed, later: range, last: int) -> Place:
    """Where the ball has gone by the next deed, the next touch or the last frame."""
    stop = min((trace.deeds[each].step for each in later if trace.deeds[each].step > deed.step), default=last)
    for step in range(deed.step + 2, min(stop, last)):
        if trace.holder[step] >= 0 and trace.holder[step] != deed.slot:
            stop = step
            break
    return _ball(trace, max(deed.step + 1, min(stop, last)))


def _joined(beats: list[Beat]) -> Iterator[Beat]:
    """Ordinary passes of a side in a row as one beat, and what follows itself once."""
    run: Beat | None = None
    for place, beat in enumerate(beats):
        before = beats[place - 1] if place else None
        if before is not None and beat.kind is not _K.PASS and (beat.kind, beat.side) == (before.kind, before.side):
            continue
        ordinary = beat.kind is _K.PASS and beat.how == How.GROUND.value and not beat.keeper
        if ordinary and run is not None and run.side is beat.side:
            run = replace(run, to=beat.to, count=run.count + 1)
            continue
        if run is not None:
            yield run
        run = beat if ordinary else None
        if not ordinary:
            yield beat
    if run is not None:
        yield run


# --- what stands -----------------------------------------------------------------------------------------------------


def _ball(trace: Trace, step: int) -> Place:
    x, y = trace.ball[max(0, min(step, trace.steps - 1)), :2].tolist()
    return x, y


def _with_state(trace: Trace, part: Part, first: int, last: int) -> Part:
    """A stretch of the main camera with who has the ball; or, where play stands, what it waits for."""
    steps = range(first, last + 1)
    live = sum(bool(trace.live[each]) for each in steps)
    if live * 3 >= len(steps):
        held = [int(trace.holder[each]) for each in steps if trace.holder[each] >= 0 and trace.live[each]]
        if not held:  # in the air: whose it was
            held = [int(each) for each in trace.holder[max(0, first - 4 * HZ) : first].tolist() if each >= 0][-1:]
        owners = held[:1] if part.beats else held
        home = sum(slot < 11 for slot in owners)
        side = Side.NONE if not held else Side.HOME if 2 * home >= len(owners) else Side.AWAY
        caught = [slot for slot in held if slot in (0, 11) and trace.pose[last, slot] == Pose.HOLD]
        state = State.KEEPER if len(caught) * 2 > len(held) else State.PLAY
        begun = bool((trace.holder[first : first + 3] >= 0).any())
        return replace(part, state=state, side=side, held=begun)
    poses = trace.pose[last].tolist()
    joy = [slot for slot in range(22) if poses[slot] == Pose.CELEBRATE]
    if len(joy) >= 2:
        return replace(part, state=State.JOY, side=Side.HOME if joy[0] < 11 else Side.AWAY)
    down = [slot for slot in range(22) if poses[slot] == Pose.LIE]
    if down:
        return replace(part, state=State.DOWN, side=Side.HOME if down[0] < 11 else Side.AWAY)
    restart, side = _awaited(trace, last)
    if restart is not None and _ready(trace, last, restart, side):
        return replace(part, state=State.READY, side=side, restart=restart)
    return replace(part, state=State.STOPPED)


def _awaited(trace: Trace, step: int) -> tuple[DeedKind | None, Side]:
    """How play will go on after the last stoppage."""
    for at in range(bisect_left(trace.deeds, step + 1, key=lambda deed: deed.step) - 1, -1, -1):
        deed = trace.deeds[at]
        match deed.kind:
            case _K.BALL_OUT if not deed.detail.get("stopped"):
                return awarded(trace, deed)
            case _K.FOUL:
                return (_K.PENALTY if deed.detail.get("penalty") else _K.FREE_KICK), deed.side.other
            case _K.OFFSIDE:
                return _K.FREE_KICK, deed.side.other
            case _K.GOAL:
                return _K.KICK_OFF, deed.side.other
            case kind if kind in _RESTARTS:
                break
    return None, Side.NONE


def _ready(trace: Trace, step: int, restart: DeedKind, side: Side) -> bool:
    """Whether the ball lies still, or is in the thrower's hands, with one of that side at it."""
    ball = trace.ball[step]
    slots = range(11) if side is Side.HOME else range(11, 22)
    gaps = [math.hypot(*(trace.people[step, slot] - ball[:2]).tolist()) for slot in slots]
    near = min(gap for gap in gaps if gap == gap)
    if restart is _K.THROW_IN:
        return float(ball[2]) > 1.5 and near < 1.0
    still = bool((abs(trace.ball[max(0, step - HZ // 2)] - ball) < 0.05).all())
    return still and near < 3.6 and float(ball[2]) < 0.3


def _card_held(trace: Trace, run: list[float]) -> str:
    """The card that the referee holds up in the last of these frames where he does."""
    for moment in reversed(run):
        step = min(int(moment), trace.steps - 1)
        if trace.pose[step, 22] == Pose.CARD:
            shown = [each for each in trace.deeds if each.kind in _CARDS and each.step <= step]
            if not shown:
                return "yellow"
            red = shown[-1].kind is _K.RED or (shown[-1].kind is _K.SECOND_YELLOW and step - shown[-1].step > HZ)
            return "red" if red else "yellow"
    return ""

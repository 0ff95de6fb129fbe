"""What a live-text writer could tell of a half: deeds put together into moments, each known once its last deed is done.

A moment looks back as far as it likes and forward no further than `known`; its facts are what phrases may ask for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from streamsoccer.actions import CaptionClass
from streamsoccer.domain import Side
from streamsoccer.league.truth import Deed, DeedKind, Outcome, Tallies, Trace

__all__ = ["Moment", "Who", "awarded", "moments"]

Who = tuple[Side, int]  # a player: his side and his place in its squad
_GOING_OUT = 7.0  # seconds in which a ball that a defender turned behind leaves the field
_END = 9.0  # seconds in which a set piece has come to something
_BEFORE = 10.0  # seconds from a pass to the shot that it set up
_WAIT = 10.0  # seconds after which it is clear what came of a play: no window above is longer
_AWAITED = frozenset(
    {
        CaptionClass.CORNER, CaptionClass.FREE_KICK, CaptionClass.SHOT_OFF_TARGET, CaptionClass.SAVE,
        CaptionClass.CLEARANCE, CaptionClass.LEAD_TO_CORNER, CaptionClass.BALL_OUT,
    }
)  # fmt: skip
_BROKEN = frozenset({DeedKind.INTERCEPTION, DeedKind.CLEARANCE, DeedKind.SAVE, DeedKind.BLOCK})
_PASSES = 7  # complete passes in a row that make a spell of possession


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """One thing to tell."""

    kind: CaptionClass
    at: float  # when it happened
    known: float  # when all of it is known
    side: Side  # whose moment it is: the phrases' {T}
    deeds: tuple[int, ...]  # the deeds that it is about, by their place in the half
    people: Mapping[str, Who] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    worth: float = 1.0  # how much better than others of its kind


@dataclass(slots=True)
class _Half:
    trace: Trace
    deeds: tuple[Deed, ...]
    used: set[int] = field(default_factory=set)  # clearances and crosses that another moment already tells

    def after(self, place: int, within: float) -> Iterator[tuple[int, Deed]]:
        """The deeds that follow, in order, up to so many seconds later."""
        for at in range(place + 1, len(self.deeds)):
            if self.deeds[at].at > self.deeds[place].at + within:
                return
            yield at, self.deeds[at]

    def before(self, place: int, within: float) -> Iterator[tuple[int, Deed]]:
        """The deeds in front, the latest first."""
        for at in range(place - 1, -1, -1):
            if self.deeds[at].at < self.deeds[place].at - within:
                return
            yield at, self.deeds[at]

    def attack(self, side: Side) -> int:
        """The direction in which a side attacks."""
        return self.trace.home_attacks if side is Side.HOME else -self.trace.home_attacks

    def keeper(self, side: Side, step: int) -> Who | None:
        number = self.trace.player_at(0 if side is Side.HOME else 11, step)
        return None if number is None else (side, number)


def awarded(half: Trace, deed: Deed) -> tuple[DeedKind, Side]:
    """Which restart a ball out of play gives, and to whom, by the laws."""
    if deed.detail.get("line") != "goal":
        return DeedKind.THROW_IN, deed.side.other
    end = 1 if deed.place[0] > 0 else -1
    defending = Side.AWAY if half.home_attacks == end else Side.HOME
    return (DeedKind.CORNER, defending.other) if deed.side is defending else (DeedKind.GOAL_KICK, defending)


def moments(trace: Trace) -> list[Moment]:
    """The moments of a half in the order in which they are known."""
    half = _Half(trace, trace.deeds)
    found: list[Moment] = []
    for rule in (_set_pieces, _shots, _corners_won, _broken, _fouls, _offsides, _bench, _spells, _frame):
        found.extend(rule(half))
    waited = [
        replace(each, known=max(each.known, each.at + _WAIT)) if each.kind in _AWAITED else each for each in found
    ]
    return sorted(waited, key=lambda each: (each.known, each.at, each.kind))


def _who(side: Side, player: int | None) -> dict[str, Who]:
    return {} if player is None else {"P": (side, player)}


def _named(**people: Who | None) -> dict[str, Who]:
    return {key: who for key, who in people.items() if who is not None}


def _player(deed: Deed) -> Who | None:
    return None if deed.player is None else (deed.side, deed.player)


def _other(deed: Deed) -> Who | None:
    return None if deed.other is None or deed.other_side is Side.NONE else (deed.other_side, deed.other)


# --- Shots -------------------------------------------------------------------------------------------------------


def _shots(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is not DeedKind.SHOT or deed.player is None:
            continue
        told = [place]
        facts = _shot_facts(half, place)
        people = _named(P=_player(deed), Q=_other(deed) if deed.other_side is deed.side else None)
        origin = _origin(half, place, facts)
        people.update(origin.people)
        if facts["from"] not in ("pass", "cross", "corner", "free"):
            people.pop("Q", None)
        end, save, block, out = place, None, None, None
        for at, each in half.after(place, _GOING_OUT):
            if each.kind is DeedKind.SAVE and save is None and block is None:
                save, end = each, at
                told.append(at)
            elif each.kind is DeedKind.BLOCK and block is None:
                block, end = each, at
                told.append(at)
            elif each.kind is DeedKind.GOAL:
                end = at
                told.append(at)
                break
            elif each.kind is DeedKind.BALL_OUT:
                if not each.detail.get("stopped"):
                    out, end = each, at
                    told.append(at)
                break
            elif each.kind not in (DeedKind.CLAIM, DeedKind.INTERCEPTION, DeedKind.CLEARANCE):
                break
        restart = awarded(half.trace, out) if out is not None else None
        facts["corner"] = restart == (DeedKind.CORNER, deed.side)
        facts["goalkick"] = restart is not None and restart[0] is DeedKind.GOAL_KICK
        if out is not None and deed.outcome is Outcome.WIDE:
            facts["aim"] = _aim(out.place[1] * half.attack(deed.side), 0.0)
        keeper = half.keeper(deed.side.other, deed.step)
        if save is not None:
            facts["save"] = save.outcome.value
            people.update(_named(K=_player(save)))
        kind = {
            Outcome.GOAL: CaptionClass.GOAL,
            Outcome.SAVED: CaptionClass.SAVE,
            Outcome.WIDE: CaptionClass.SHOT_OFF_TARGET,
            Outcome.OVER: CaptionClass.SHOT_OFF_TARGET,
            Outcome.POST: CaptionClass.SHOT_OFF_TARGET,
            Outcome.BLOCKED: CaptionClass.CLEARANCE,
        }.get(deed.outcome)
        if kind is None:
            continue
        worth = 1.0 + 0.4 * bool(deed.detail.get("big_chance"))
        if kind is CaptionClass.GOAL:
            goal = half.deeds[told[-1]]
            if goal.kind is not DeedKind.GOAL:
                continue
            people.update(_named(K=keeper))
            if facts["penalty"]:
                facts["rule"] = "goal penalty"
            if goal.detail.get("own_goal"):
                own = goal.side.other
                yield Moment(
                    kind=CaptionClass.OWN_GOAL, at=goal.at, known=goal.at, side=goal.side, deeds=(told[-1],),
                    people=_named(P=None if goal.player is None else (own, goal.player)), facts=facts,
                )  # fmt: skip
                continue
        elif facts["penalty"]:
            kind = CaptionClass.PENALTY_MISSED
            people.update(_named(K=keeper if save is not None else None))
        if kind is CaptionClass.CLEARANCE:
            facts["by"] = "shot"
            wall = facts["free"]
            if block is not None:
                people.update(_named(X=_player(block)))
            if wall:
                facts["shot"] = "blocked"
                kind = CaptionClass.FREE_KICK
            elif facts["corner"]:
                facts["outcome"] = "blocked"
                kind = CaptionClass.LEAD_TO_CORNER
            if facts["corner"] and out is not None:
                half.used.add(told[-1])
        elif kind is CaptionClass.SAVE and facts["corner"] and save is not None:
            half.used.add(told[-1])
            if save.outcome is Outcome.TIPPED:
                facts["by"] = "shot"
                kind = CaptionClass.LEAD_TO_CORNER
        yield Moment(
            kind=kind, at=deed.at, known=half.deeds[end].at, side=deed.side, deeds=(*told, *origin.deeds),
            people=people, facts=facts, worth=worth,
        )  # fmt: skip


def _shot_facts(half: _Half, place: int) -> dict[str, object]:
    deed = half.deeds[place]
    detail = deed.detail
    metres = round(float(detail.get("distance", 0.0)))
    body, how = str(detail.get("body", "")), str(detail.get("how", ""))
    inside = _in_area(half, deed)
    aim = _aim(deed.target[1] * half.attack(deed.side), 1.3) if deed.target is not None else ""
    return {
        "how": "header" if "header" in (body, how) else "volley" if how == "volley" else "kick",
        "foot": {"left_foot": "left", "right_foot": "right"}.get(body, ""),
        "zone": "close" if inside and metres <= 8 else "box" if inside else "edge" if metres <= 22 else "far",
        "metres": metres,
        "aim": aim,
        "height": str(detail.get("height", "")),
        "outcome": deed.outcome.value,
        "free": bool(detail.get("free_kick")),
        "penalty": bool(detail.get("penalty")),
        "big": bool(detail.get("big_chance")),
        "from": "rebound" if detail.get("rebound") else "none",
    }


def _in_area(half: _Half, deed: Deed) -> bool:
    return deed.place[0] * half.attack(deed.side) > 36.0 and abs(deed.place[1]) < 20.2


def _aim(across: float, middle: float) -> str:
    """Left or right as the attacking side sees it."""
    return "middle" if abs(across) < middle else "left" if across > 0 else "right"


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a shot came from: who was left behind, and the set piece that it began with."""

    people: Mapping[str, Who] = field(default_factory=dict)
    deeds: tuple[int, ...] = ()


def _origin(half: _Half, place: int, facts: dict[str, object]) -> _Origin:
    """Find it, and fill the fact 'from'."""
    deed = half.deeds[place]
    if facts["free"] or facts["penalty"]:
        facts["from"] = "set"
        kinds = (DeedKind.FREE_KICK, DeedKind.PENALTY)
        return _Origin(deeds=tuple([at for at, each in half.before(place, 6.0) if each.kind in kinds][:1]))
    if facts["from"] == "rebound":
        return _Origin()
    for at, each in half.before(place, _BEFORE):
        if each.side is deed.side.other and each.kind in _BROKEN:
            break
        if each.kind is DeedKind.DRIBBLE and each.player == deed.player and each.outcome is Outcome.WON:
            facts["from"] = "dribble"
            return _Origin(_named(D=_other(each)))
        if each.kind in (DeedKind.PASS, DeedKind.CROSS) and each.side is deed.side and each.player == deed.other:
            crossed = each.kind is DeedKind.CROSS
            facts["from"] = "cross" if crossed else "pass"
            for first, start in half.before(at + 1, 2.0):
                if crossed and start.kind in (DeedKind.CORNER, DeedKind.FREE_KICK) and start.player == each.player:
                    facts["from"] = "corner" if start.kind is DeedKind.CORNER else "free"
                    return _Origin(deeds=(at, first))
            return _Origin(deeds=(at,) if crossed else ())
    return _Origin()


# --- Set pieces --------------------------------------------------------------------------------------------------


def _set_pieces(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        corner = deed.kind is DeedKind.CORNER
        if not corner and not (deed.kind is DeedKind.FREE_KICK and not deed.detail.get("shot")):
            if deed.kind is DeedKind.THROW_IN:
                yield Moment(
                    kind=CaptionClass.THROW_IN, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                    people=_who(deed.side, deed.player), facts={"third": _third(half, deed, deed.side)},
                )  # fmt: skip
            continue
        kick = next(((at, each) for at, each in half.after(place, 1.5) if each.kind in (DeedKind.PASS, DeedKind.CROSS)), None)
        short = bool(deed.detail.get("short")) if corner else kick is not None and kick[1].kind is DeedKind.PASS
        if not corner and float(deed.detail.get("distance", 99)) > 45:
            continue  # nobody tells of a free kick taken at the back
        end, told, facts, people = place, [place], {"end": "none"}, _named(P=_player(deed))
        if kick is not None:
            told.append(kick[0])
            if kick[1].kind is DeedKind.CROSS:
                half.used.add(kick[0])
        if short:
            facts["end"] = "short"
        else:
            for at, each in half.after(place, _END):
                what = _what_came(half, deed, each)
                if what is not None:
                    end = at
                    told.append(at)
                    half.used.add(at)
                    facts["end"] = what
                    if what == "cleared":
                        people.update(_named(X=_player(each)))
                    elif what == "claimed":
                        people.update(_named(K=_player(each)))
                    elif what == "shot":
                        people.update(_named(R=_player(each)))
                        if each.player == deed.player:
                            people.pop("R")
                            facts["end"] = "none"
                    break
            else:
                end = max(place, *(at for at, _ in half.after(place, _END))) if any(half.after(place, _END)) else place
        if facts["end"] == "unclear":
            continue
        facts["flank"] = _aim(deed.place[1] * half.attack(deed.side), 0.0)
        if not corner:
            facts["metres"] = round(float(deed.detail.get("distance", 0)))
        yield Moment(
            kind=CaptionClass.CORNER if corner else CaptionClass.FREE_KICK,
            at=deed.at, known=half.deeds[end].at, side=deed.side, deeds=tuple(told), people=people, facts=facts,
        )  # fmt: skip


def _what_came(half: _Half, start: Deed, each: Deed) -> str | None:
    """What a deed makes of the set piece that it follows; nothing where the set piece goes on."""
    mine = each.side is start.side
    match each.kind:
        case DeedKind.SHOT | DeedKind.GOAL:
            return "shot" if mine else "unclear"
        case DeedKind.CLEARANCE:
            return None if mine else "cleared"
        case DeedKind.CLAIM:
            return "claimed"
        case DeedKind.INTERCEPTION | DeedKind.TACKLE:
            return None if mine else "none"
        case DeedKind.BALL_OUT:
            kind, _ = awarded(half.trace, each)
            return "out" if mine and kind is not DeedKind.CORNER else "unclear"
        case DeedKind.FOUL | DeedKind.OFFSIDE | DeedKind.PENALTY | DeedKind.PERIOD_END:
            return "unclear"
    return None


def _third(half: _Half, deed: Deed, side: Side) -> str:
    """In which third of the pitch, as that side sees it."""
    x = deed.place[0] * half.attack(side)
    return "attacking" if x > 17.5 else "defensive" if x < -17.5 else "middle"


def _corners_won(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is not DeedKind.BALL_OUT or deed.detail.get("stopped"):
            continue
        kind, side = awarded(half.trace, deed)
        source = next(
            (
                (at, each)
                for at, each in half.before(place, _GOING_OUT)
                if each.side is side and each.kind in (DeedKind.CROSS, DeedKind.PASS, DeedKind.SHOT, DeedKind.DRIBBLE)
            ),
            None,
        )
        if kind is DeedKind.CORNER and place not in half.used:
            if source is None or source[1].player is None:
                continue
            at, start = source
            if start.kind is DeedKind.SHOT and start.outcome not in (Outcome.BLOCKED, Outcome.SAVED):
                continue
            if start.kind is DeedKind.SHOT:
                continue  # the shot's own moment tells of the corner
            half.used.update(range(at, place + 1))
            behind = _player(deed)
            yield Moment(
                kind=CaptionClass.LEAD_TO_CORNER, at=start.at, known=deed.at, side=side, deeds=(at, place),
                people=_named(P=_player(start), X=behind),
                facts={
                    "by": {DeedKind.CROSS: "cross", DeedKind.DRIBBLE: "dribble"}.get(start.kind, "pass"),
                    "flank": _aim(start.place[1] * half.attack(side), 0.0),
                },
            )  # fmt: skip
        elif kind is not DeedKind.CORNER and deed.player is not None:
            start_at = next(
                (at for at, each in half.before(place, _GOING_OUT) if each.player == deed.player and each.side is deed.side
                 and each.kind in (DeedKind.CROSS, DeedKind.PASS) and each.outcome is Outcome.OUT),
                None,
            )  # fmt: skip
            how = "other"
            if start_at is not None:
                how = "cross" if half.deeds[start_at].kind is DeedKind.CROSS else "pass"
            yield Moment(
                kind=CaptionClass.BALL_OUT, at=deed.at, known=deed.at, side=deed.side,
                deeds=(place,) if start_at is None else (start_at, place), people=_named(P=_player(deed)),
                facts={"by": how, "throw": kind is DeedKind.THROW_IN, "goalkick": kind is DeedKind.GOAL_KICK and side is not deed.side},
            )  # fmt: skip


# --- Attacks that come to an end -----------------------------------------------------------------------------------


def _broken(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if place in half.used or deed.player is None:
            continue
        if deed.kind in (DeedKind.CROSS, DeedKind.PASS) and deed.outcome in (Outcome.LOST, Outcome.OUT):
            made = _lost_ball(half, place)
            if made is not None:
                yield made
        elif deed.kind is DeedKind.TACKLE and deed.outcome is Outcome.WON and deed.other is not None:
            third = _third(half, deed, deed.side.other)
            if third == "attacking":
                yield Moment(
                    kind=CaptionClass.CLEARANCE, at=deed.at, known=deed.at, side=deed.side.other, deeds=(place,),
                    people=_named(P=_other(deed), X=_player(deed)),
                    facts={"by": "dribble", "end": "cut", "third": third, "flank": _flank(half, deed, deed.side.other)},
                    worth=0.4,
                )  # fmt: skip
        elif deed.kind is DeedKind.CLEARANCE:
            yield Moment(
                kind=CaptionClass.CLEARANCE, at=deed.at, known=deed.at, side=deed.side.other, deeds=(place,),
                people=_named(X=_player(deed)), facts={"by": "other", "end": "cleared"}, worth=0.8,
            )  # fmt: skip


def _flank(half: _Half, deed: Deed, side: Side) -> str:
    return _aim(deed.place[1] * half.attack(side), 14.0)


def _lost_ball(half: _Half, place: int) -> Moment | None:
    """A cross or a pass into the last third that does not arrive."""
    deed = half.deeds[place]
    crossed = deed.kind is DeedKind.CROSS
    if deed.detail.get("set_piece") or deed.detail.get("how") == "throw" or deed.detail.get("header"):
        return None
    deep = deed.target is not None and deed.target[0] * half.attack(deed.side) > 24.0
    if not crossed and not deep:
        return None
    facts: dict[str, object] = {
        "by": "cross" if crossed else "pass",
        "third": _third(half, deed, deed.side),
        "flank": _flank(half, deed, deed.side),
    }
    told, people = [place], _named(P=_player(deed))
    for at, each in half.after(place, 5.0):
        if each.side is deed.side and each.kind is not DeedKind.BALL_OUT:
            return None
        if each.kind is DeedKind.CLEARANCE:
            facts["end"] = "cleared"
        elif each.kind is DeedKind.INTERCEPTION:
            facts["end"] = "cut"
            nearby = next((item for item in half.after(at, 1.5) if item[1].kind is DeedKind.CLEARANCE), None)
            if nearby is not None:
                facts["end"] = "cleared"
                at, each = nearby
        elif each.kind is DeedKind.CLAIM:
            facts["end"] = "claimed"
        elif each.kind is DeedKind.BALL_OUT:
            if awarded(half.trace, each)[0] is DeedKind.CORNER or each.side is not deed.side:
                return None
            facts["end"] = "out"
        else:
            return None
        told.append(at)
        half.used.add(at)
        people.update(_named(**{"K" if facts["end"] == "claimed" else "X": None if each.side is deed.side else _player(each)}))
        break
    else:
        return None
    worth = {"cleared": 1.0, "claimed": 0.7, "out": 0.5, "cut": 0.35}[str(facts["end"])] * (1.2 if crossed else 0.6)
    return Moment(
        kind=CaptionClass.CLEARANCE, at=deed.at, known=half.deeds[told[-1]].at, side=deed.side, deeds=tuple(told),
        people=people, facts=facts, worth=worth,
    )  # fmt: skip


# --- Whistles ----------------------------------------------------------------------------------------------------

_CARDS = {
    DeedKind.YELLOW: CaptionClass.YELLOW_CARD,
    DeedKind.SECOND_YELLOW: CaptionClass.SECOND_YELLOW_CARD,
    DeedKind.RED: CaptionClass.RED_CARD,
}


def _fouls(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind in _CARDS:
            foul = next(
                (
                    (at, each)
                    for at, each in half.before(place, 150.0)
                    if each.kind is DeedKind.FOUL and each.side is deed.side and each.player == deed.player
                ),
                None,
            )
            facts = _foul_facts(half, foul[1]) if foul is not None else {"dissent": True}
            yield Moment(
                kind=_CARDS[deed.kind], at=deed.at, known=deed.at, side=deed.side,
                deeds=(place,) if foul is None else (foul[0], place),
                people=_named(P=_player(deed), F=None if foul is None else _other(foul[1])), facts=facts,
            )  # fmt: skip
        elif deed.kind is DeedKind.PENALTY:
            yield Moment(
                kind=CaptionClass.PENALTY, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=_named(P=_player(deed)), facts={"rule": "penalty kick"}, worth=0.0,
            )  # fmt: skip
        elif deed.kind is DeedKind.FOUL:
            known = place
            carded = False
            for at, each in half.after(place, 240.0):
                if each.kind in _CARDS and each.side is deed.side and each.player == deed.player:
                    carded = True
                if each.kind in (DeedKind.FREE_KICK, DeedKind.PENALTY, DeedKind.PERIOD_END):
                    known = at
                    break
            penalty = bool(deed.detail.get("penalty"))
            if carded and not penalty:
                continue
            yield Moment(
                kind=CaptionClass.PENALTY if penalty else CaptionClass.FOUL, at=deed.at,
                known=deed.at if penalty else half.deeds[known].at, side=deed.side, deeds=(place,),
                people=_named(P=_player(deed), F=_other(deed)), facts=_foul_facts(half, deed),
                worth=0.6 + 0.5 * float(deed.detail.get("severity", 0.5)),
            )  # fmt: skip


def _foul_facts(half: _Half, deed: Deed) -> dict[str, object]:
    penalty = bool(deed.detail.get("penalty"))
    return {
        "third": _third(half, deed, deed.side),
        "third2": "" if penalty else _third(half, deed, deed.side.other),
        "danger": not penalty and float(deed.detail.get("distance", 99.0)) < 28.0,
        "hand": deed.detail.get("reason") == "handball",
        "freekick": not penalty,
    }


def _offsides(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.OFFSIDE:
            yield Moment(
                kind=CaptionClass.OFFSIDE, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=_named(P=_player(deed), Q=_other(deed) if deed.other != deed.player else None),
            )  # fmt: skip


# --- The bench, spells, and the frame of a half --------------------------------------------------------------------


def _bench(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.SUBSTITUTION:
            yield Moment(
                kind=CaptionClass.SUBSTITUTION, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=_named(P=_player(deed), Q=_other(deed)),
                facts={
                    "injured": deed.detail.get("reason") == "hurt",
                    "half time": half.trace.half == 2 and deed.at < 30.0,
                },
            )  # fmt: skip
        elif deed.kind is DeedKind.INJURY:
            yield Moment(
                kind=CaptionClass.INJURY, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=_named(P=_player(deed)),
            )  # fmt: skip
            if deed.outcome is not Outcome.NONE:
                gone = deed.outcome is Outcome.GOES_OFF
                yield Moment(
                    kind=CaptionClass.INJURY, at=deed.at, known=deed.at + 35.0, side=deed.side, deeds=(place,),
                    people=_named(P=_player(deed)), facts={"goes off": gone, "plays on": not gone, "rule": "injury over"},
                )  # fmt: skip


def _spells(half: _Half) -> Iterator[Moment]:
    run: list[int] = []
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.PASS and deed.outcome is Outcome.COMPLETE and (not run or half.deeds[run[-1]].side is deed.side):
            run.append(place)
            if len(run) >= _PASSES and deed.player is not None:
                last = half.deeds[run[-1]]
                yield Moment(
                    kind=CaptionClass.POSSESSION, at=last.at, known=last.at, side=deed.side, deeds=tuple(run),
                    people=_named(P=_player(last)),
                    facts={"passes": len(run), "third": _third(half, last, last.side)}, worth=0.3 + 0.1 * len(run),
                )  # fmt: skip
        elif deed.kind not in (DeedKind.DRIBBLE,) or deed.side is not half.deeds[run[-1]].side if run else True:
            run = []


def _frame(half: _Half) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.KICK_OFF and place == 0:
            yield Moment(kind=CaptionClass.START, at=deed.at, known=deed.at, side=deed.side, deeds=(place,), facts={"half": half.trace.half})
        elif deed.kind is DeedKind.ADDED_TIME:
            yield Moment(
                kind=CaptionClass.ADDED_TIME, at=deed.at, known=deed.at, side=Side.HOME, deeds=(place,),
                facts={"added": int(deed.detail.get("minutes", 0))},
            )  # fmt: skip
        elif deed.kind is DeedKind.PERIOD_END:
            leading = Side.AWAY if deed.score[1] > deed.score[0] else Side.HOME
            yield Moment(kind=CaptionClass.END, at=deed.at, known=deed.at, side=leading, deeds=(place,), facts={"half": half.trace.half})
    for minute in range(15, int(half.trace.seconds // 60), 15):
        place = max((at for at, deed in enumerate(half.deeds) if deed.at <= minute * 60), default=None)
        if place is not None:
            deed = half.deeds[place]
            leading = Side.AWAY if deed.score[1] > deed.score[0] else Side.HOME
            yield Moment(kind=CaptionClass.SUMMARY, at=minute * 60.0, known=minute * 60.0, side=leading, deeds=(place,))

"""Moments of attack: shots, set pieces, corners won, and attacks that come to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamsoccer.actions import CaptionClass
from streamsoccer.domain import Side
from streamsoccer.league.scene import Moment, View, Who, aim_of, awarded, doer, named, partner, third_of, who_is
from streamsoccer.league.truth import Deed, DeedKind, Outcome

__all__ = ["broken_attacks", "corners_won", "set_pieces", "shots"]

GOING_OUT = 7.0  # seconds in which a ball that a defender turned behind leaves the field
END = 9.0  # seconds in which a set piece has come to something
BEFORE = 10.0  # seconds from a pass to the shot that it set up
_BROKEN = frozenset({DeedKind.INTERCEPTION, DeedKind.CLEARANCE, DeedKind.SAVE, DeedKind.BLOCK})


def shots(half: View) -> Iterator[Moment]:
    """Shots, penalties among them, whatever became of them."""
    for place, deed in enumerate(half.deeds):
        if deed.kind is not DeedKind.SHOT or deed.player is None:
            continue
        told = [place]
        facts = _shot_facts(half, place)
        people = named(P=doer(deed), Q=partner(deed) if deed.other_side is deed.side else None)
        origin = _origin(half, place, facts)
        people.update(origin.people)
        if facts["from"] not in ("pass", "cross", "corner", "free"):
            people.pop("Q", None)
        end, save, block, out = place, None, None, None
        for at, each in half.after(place, GOING_OUT):
            shot_at = (each.other_side, each.other) == (deed.side, deed.player)
            if each.kind is DeedKind.SAVE and shot_at and save is None and block is None:
                save, end = each, at
                told.append(at)
            elif each.kind is DeedKind.BLOCK and shot_at and deed.outcome is Outcome.BLOCKED and block is None:
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
            facts["aim"] = aim_of(out.place[1] * half.attack(deed.side), 0.0)
        keeper = half.keeper(deed.side.other, deed.step)
        if save is not None:
            facts["save"] = save.outcome.value
            people.update(named(K=doer(save)))
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
            people.update(named(K=keeper))
            if facts["penalty"]:
                facts["rule"] = "goal penalty"
            if goal.detail.get("own_goal"):
                own = goal.side.other
                yield Moment(
                    kind=CaptionClass.OWN_GOAL, at=goal.at, known=goal.at, side=goal.side, deeds=(told[-1],),
                    people=named(P=None if goal.player is None else (own, goal.player)), facts=facts,
                )  # fmt: skip
                continue
        elif facts["penalty"]:
            kind = CaptionClass.PENALTY_MISSED
            people.update(named(K=keeper if save is not None else None))
        if kind is CaptionClass.CLEARANCE:
            facts["by"] = "shot"
            wall = facts["free"]
            if block is not None:
                people.update(named(X=doer(block)))
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


def _shot_facts(half: View, place: int) -> dict[str, object]:
    deed = half.deeds[place]
    detail = deed.detail
    metres = round(float(detail.get("distance", 0.0)))
    body, how = str(detail.get("body", "")), str(detail.get("how", ""))
    inside = _in_area(half, deed)
    aim = aim_of(deed.target[1] * half.attack(deed.side), 1.3) if deed.target is not None else ""
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


def _in_area(half: View, deed: Deed) -> bool:
    return deed.place[0] * half.attack(deed.side) > 36.0 and abs(deed.place[1]) < 20.2


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a shot came from: who was left behind, and the set piece that it began with."""

    people: Mapping[str, Who] = field(default_factory=dict)
    deeds: tuple[int, ...] = ()


def _origin(half: View, place: int, facts: dict[str, object]) -> _Origin:
    """Find it, and fill the fact 'from'."""
    deed = half.deeds[place]
    if facts["free"] or facts["penalty"]:
        facts["from"] = "set"
        kinds = (DeedKind.FREE_KICK, DeedKind.PENALTY)
        return _Origin(deeds=tuple([at for at, each in half.before(place, 6.0) if each.kind in kinds][:1]))
    if facts["from"] == "rebound":
        return _Origin()
    for at, each in half.before(place, BEFORE):
        if each.side is deed.side.other and each.kind in _BROKEN:
            break
        if each.kind is DeedKind.DRIBBLE and each.player == deed.player and each.outcome is Outcome.WON:
            facts["from"] = "dribble"
            return _Origin(named(D=partner(each)))
        if each.kind in (DeedKind.PASS, DeedKind.CROSS) and each.side is deed.side and each.player == deed.other:
            crossed = each.kind is DeedKind.CROSS
            facts["from"] = "cross" if crossed else "pass"
            for first, start in half.before(at + 1, 2.0):
                if crossed and start.kind in (DeedKind.CORNER, DeedKind.FREE_KICK) and start.player == each.player:
                    facts["from"] = "corner" if start.kind is DeedKind.CORNER else "free"
                    return _Origin(deeds=(at, first))
            return _Origin(deeds=(at,))
    return _Origin()


# --- Set pieces --------------------------------------------------------------------------------------------------


def set_pieces(half: View) -> Iterator[Moment]:
    """Corners, free kicks near the goal, throw-ins."""
    for place, deed in enumerate(half.deeds):
        corner = deed.kind is DeedKind.CORNER
        if not corner and not (deed.kind is DeedKind.FREE_KICK and not deed.detail.get("shot")):
            if deed.kind is DeedKind.THROW_IN:
                yield Moment(
                    kind=CaptionClass.THROW_IN, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                    people=who_is(deed.side, deed.player), facts={"third": third_of(half, deed, deed.side)},
                )  # fmt: skip
            continue
        kick = next(
            ((at, each) for at, each in half.after(place, 1.5) if each.kind in (DeedKind.PASS, DeedKind.CROSS)), None
        )
        short = bool(deed.detail.get("short")) if corner else kick is not None and kick[1].kind is DeedKind.PASS
        if not corner and float(deed.detail.get("distance", 99)) > 45:
            continue  # nobody tells of a free kick taken at the back
        end, told, people = place, [place], named(P=doer(deed))
        facts: dict[str, object] = {"end": "none"}
        if kick is not None:
            told.append(kick[0])
            if kick[1].kind is DeedKind.CROSS:
                half.used.add(kick[0])
        if short:
            facts["end"] = "short"
        else:
            for at, each in half.after(place, END):
                what = _what_came(half, deed, each)
                if what is not None:
                    end = at
                    told.append(at)
                    half.used.add(at)
                    facts["end"] = what
                    if what == "cleared":
                        people.update(named(X=doer(each)))
                    elif what == "claimed":
                        people.update(named(K=doer(each)))
                    elif what == "shot":
                        people.update(named(R=doer(each)))
                        if each.player == deed.player:
                            people.pop("R")
                            facts["end"] = "none"
                    break
        if facts["end"] == "unclear":
            continue
        facts["flank"] = aim_of(deed.place[1] * half.attack(deed.side), 0.0)
        if not corner:
            facts["metres"] = round(float(deed.detail.get("distance", 0)))
        yield Moment(
            kind=CaptionClass.CORNER if corner else CaptionClass.FREE_KICK,
            at=deed.at, known=half.deeds[end].at, side=deed.side, deeds=tuple(told), people=people, facts=facts,
        )  # fmt: skip


def _what_came(half: View, start: Deed, each: Deed) -> str | None:
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


def corners_won(half: View) -> Iterator[Moment]:
    """Balls that leave the field: how a corner came about, or who lost the ball."""
    for place, deed in enumerate(half.deeds):
        if deed.kind is not DeedKind.BALL_OUT or deed.detail.get("stopped"):
            continue
        kind, side = awarded(half.trace, deed)
        source = next(
            (
                (at, each)
                for at, each in half.before(place, GOING_OUT)
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
            behind = doer(deed)
            yield Moment(
                kind=CaptionClass.LEAD_TO_CORNER, at=start.at, known=deed.at, side=side, deeds=(at, place),
                people=named(P=doer(start), X=behind),
                facts={
                    "by": {DeedKind.CROSS: "cross", DeedKind.DRIBBLE: "dribble"}.get(start.kind, "pass"),
                    "flank": aim_of(start.place[1] * half.attack(side), 0.0),
                },
            )  # fmt: skip
        elif kind is not DeedKind.CORNER and deed.player is not None:
            start_at = next(
                (
                    at
                    for at, each in half.before(place, GOING_OUT)
                    if (each.side, each.player, each.outcome) == (deed.side, deed.player, Outcome.OUT)
                    and each.kind in (DeedKind.CROSS, DeedKind.PASS)
                ),
                None,
            )
            how = "other"
            if start_at is not None:
                how = "cross" if half.deeds[start_at].kind is DeedKind.CROSS else "pass"
            yield Moment(
                kind=CaptionClass.BALL_OUT, at=deed.at, known=deed.at, side=deed.side,
                deeds=(place,) if start_at is None else (start_at, place), people=named(P=doer(deed)),
                facts={"by": how, "throw": kind is DeedKind.THROW_IN, "goalkick": kind is DeedKind.GOAL_KICK},
            )  # fmt: skip


# --- Attacks that come to an end -----------------------------------------------------------------------------------


def broken_attacks(half: View) -> Iterator[Moment]:
    """Crosses, passes and runs that the others end, and clearances that nothing else tells of."""
    for place, deed in enumerate(half.deeds):
        if place in half.used or deed.player is None:
            continue
        if deed.kind in (DeedKind.CROSS, DeedKind.PASS) and deed.outcome in (Outcome.LOST, Outcome.OUT):
            made = _lost_ball(half, place)
            if made is not None:
                yield made
        elif deed.kind is DeedKind.TACKLE and deed.outcome is Outcome.WON and deed.other is not None:
            third = third_of(half, deed, deed.side.other)
            if third == "attacking":
                yield Moment(
                    kind=CaptionClass.CLEARANCE, at=deed.at, known=deed.at, side=deed.side.other, deeds=(place,),
                    people=named(P=partner(deed), X=doer(deed)),
                    facts={"by": "dribble", "end": "cut", "third": third, "flank": _flank(half, deed, deed.side.other)},
                    worth=0.4,
                )  # fmt: skip
        elif deed.kind is DeedKind.CLEARANCE:
            yield Moment(
                kind=CaptionClass.CLEARANCE, at=deed.at, known=deed.at, side=deed.side.other, deeds=(place,),
                people=named(X=doer(deed)), facts={"by": "other", "end": "cleared"}, worth=0.8,
            )  # fmt: skip


def _flank(half: View, deed: Deed, side: Side) -> str:
    return aim_of(deed.place[1] * half.attack(side), 14.0)


def _lost_ball(half: View, place: int) -> Moment | None:
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
        "third": third_of(half, deed, deed.side),
        "flank": _flank(half, deed, deed.side),
    }
    told, people = [place], named(P=doer(deed))
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
        people.update(
            named(**{"K" if facts["end"] == "claimed" else "X": None if each.side is deed.side else doer(each)})
        )
        break
    else:
        return None
    worth = {"cleared": 1.0, "claimed": 0.7, "out": 0.5, "cut": 0.35}[str(facts["end"])] * (1.2 if crossed else 0.6)
    return Moment(
        kind=CaptionClass.CLEARANCE, at=deed.at, known=half.deeds[told[-1]].at, side=deed.side, deeds=tuple(told),
        people=people, facts=facts, worth=worth,
    )  # fmt: skip

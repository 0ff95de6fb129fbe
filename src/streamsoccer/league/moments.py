"""What a live-text writer could tell of a half: deeds put together into moments, each known once its last deed is done.

A moment looks back as far as it likes and forward no further than `known`; its facts are what phrases may ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from streamsoccer.actions import CaptionClass
from streamsoccer.domain import Side
from streamsoccer.league.attacks import broken_attacks, corners_won, set_pieces, shots
from streamsoccer.league.scene import Moment, View, doer, named, partner, third_of
from streamsoccer.league.truth import Deed, DeedKind, Outcome, Trace

__all__ = ["moments"]

_WAIT = 10.0  # seconds after which it is clear what came of a play: no window above is longer
_AWAITED = frozenset(
    {
        CaptionClass.CORNER, CaptionClass.FREE_KICK, CaptionClass.SHOT_OFF_TARGET, CaptionClass.SAVE,
        CaptionClass.CLEARANCE, CaptionClass.LEAD_TO_CORNER, CaptionClass.BALL_OUT,
    }
)  # fmt: skip
_PASSES = 7  # complete passes in a row that make a spell of possession


def moments(trace: Trace) -> list[Moment]:
    """The moments of a half in the order in which they are known."""
    half = View(trace, trace.deeds)
    found: list[Moment] = []
    for rule in (set_pieces, shots, corners_won, broken_attacks, _fouls, _offsides, _bench, _spells, _frame):
        found.extend(rule(half))
    waited = [
        replace(each, known=max(each.known, each.at + _WAIT)) if each.kind in _AWAITED else each for each in found
    ]
    return sorted(waited, key=lambda each: (each.known, each.at, each.kind))


# --- Whistles ----------------------------------------------------------------------------------------------------

_CARDS = {
    DeedKind.YELLOW: CaptionClass.YELLOW_CARD,
    DeedKind.SECOND_YELLOW: CaptionClass.SECOND_YELLOW_CARD,
    DeedKind.RED: CaptionClass.RED_CARD,
}


def _fouls(half: View) -> Iterator[Moment]:
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
                people=named(P=doer(deed), F=None if foul is None else partner(foul[1])), facts=facts,
            )  # fmt: skip
        elif deed.kind is DeedKind.PENALTY:
            yield Moment(
                kind=CaptionClass.PENALTY, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=named(P=doer(deed)), facts={"rule": "penalty kick"}, worth=0.0,
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
                people=named(P=doer(deed), F=partner(deed)), facts=_foul_facts(half, deed),
                worth=0.6 + 0.5 * float(deed.detail.get("severity", 0.5)),
            )  # fmt: skip


def _foul_facts(half: View, deed: Deed) -> dict[str, object]:
    penalty = bool(deed.detail.get("penalty"))
    return {
        "third": third_of(half, deed, deed.side),
        "third2": "" if penalty else third_of(half, deed, deed.side.other),
        "danger": not penalty and float(deed.detail.get("distance", 99.0)) < 28.0,
        "hand": deed.detail.get("reason") == "handball",
        "freekick": not penalty,
    }


def _offsides(half: View) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.OFFSIDE:
            yield Moment(
                kind=CaptionClass.OFFSIDE, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=named(P=doer(deed), Q=partner(deed) if deed.other != deed.player else None),
            )  # fmt: skip


# --- The bench, spells, and the frame of a half --------------------------------------------------------------------


def _bench(half: View) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.SUBSTITUTION:
            hurt = _hurt_before(half, place) if deed.detail.get("reason") == "hurt" else ()
            yield Moment(
                kind=CaptionClass.SUBSTITUTION, at=deed.at, known=deed.at, side=deed.side, deeds=(place, *hurt),
                people=named(P=doer(deed), Q=partner(deed)),
                facts={
                    "injured": bool(hurt),
                    "half time": half.trace.half == 2 and deed.at < 30.0,
                },
            )  # fmt: skip
        elif deed.kind is DeedKind.INJURY:
            yield Moment(
                kind=CaptionClass.INJURY, at=deed.at, known=deed.at, side=deed.side, deeds=(place,),
                people=named(P=doer(deed)),
            )  # fmt: skip
            if deed.outcome is not Outcome.NONE:
                gone = deed.outcome is Outcome.GOES_OFF
                yield Moment(
                    kind=CaptionClass.INJURY, at=deed.at, known=deed.at + 35.0, side=deed.side, deeds=(place,),
                    people=named(P=doer(deed)), facts={"goes off": gone, "plays on": not gone, "rule": "injury over"},
                )  # fmt: skip


def _hurt_before(half: View, place: int) -> tuple[int, ...]:
    """The injury for which somebody goes off, if this half saw it."""
    off = half.deeds[place]
    for at in range(place - 1, -1, -1):
        each = half.deeds[at]
        if each.kind is DeedKind.INJURY and (each.side, each.player) == (off.side, off.other):
            return (at,)
    return ()


def _spells(half: View) -> Iterator[Moment]:
    run: list[int] = []
    for place, deed in enumerate(half.deeds):
        if (
            deed.kind is DeedKind.PASS
            and deed.outcome is Outcome.COMPLETE
            and (not run or half.deeds[run[-1]].side is deed.side)
        ):
            run.append(place)
            if len(run) >= _PASSES and deed.player is not None:
                last = half.deeds[run[-1]]
                yield Moment(
                    kind=CaptionClass.POSSESSION, at=last.at, known=last.at, side=deed.side, deeds=tuple(run),
                    people=named(P=doer(last)),
                    facts={"passes": len(run), "third": third_of(half, last, last.side)}, worth=0.3 + 0.1 * len(run),
                )  # fmt: skip
        elif deed.kind not in (DeedKind.DRIBBLE,) or deed.side is not half.deeds[run[-1]].side if run else True:
            run = []


def _frame(half: View) -> Iterator[Moment]:
    for place, deed in enumerate(half.deeds):
        if deed.kind is DeedKind.KICK_OFF and place == 0:
            yield Moment(
                kind=CaptionClass.START,
                at=deed.at,
                known=deed.at,
                side=deed.side,
                deeds=(place,),
                facts={"half": half.trace.half},
            )
        elif deed.kind is DeedKind.ADDED_TIME:
            yield Moment(
                kind=CaptionClass.ADDED_TIME, at=deed.at, known=deed.at, side=Side.HOME, deeds=(place,),
                facts={"added": int(deed.detail.get("minutes", 0))},
            )  # fmt: skip
        elif deed.kind is DeedKind.PERIOD_END:
            leading = Side.AWAY if deed.score[1] > deed.score[0] else Side.HOME
            yield Moment(
                kind=CaptionClass.END,
                at=deed.at,
                known=deed.at,
                side=leading,
                deeds=(place,),
                facts={"half": half.trace.half},
            )
    for minute in range(15, int(half.trace.seconds // 60), 15):
        last = max((at for at, deed in enumerate(half.deeds) if deed.at <= minute * 60), default=None)
        if last is not None:
            deed = half.deeds[last]
            leading = Side.AWAY if deed.score[1] > deed.score[0] else Side.HOME
            yield Moment(kind=CaptionClass.SUMMARY, at=minute * 60.0, known=minute * 60.0, side=leading, deeds=(last,))

"""Which moments become sentences, and the sentences: a live-text writer who knows the past and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from streamsoccer.actions import CaptionClass
from streamsoccer.domain import Side
from streamsoccer.league.grammar import Person, Sentence, load, polish
from streamsoccer.league.moments import moments
from streamsoccer.league.names import WorldName
from streamsoccer.league.scene import Moment, Who
from streamsoccer.league.truth import Deed, DeedKind, Tallies, Trace
from streamsoccer.league.world import Fixture, stream

__all__ = ["Told", "tell"]

_C = CaptionClass
# How readily each class is told, as sentences a match of 90 minutes: from the real captions, but for the frame of a
# half, which theirs hardly tell. Of corners and chances nearly all are told; the pause between sentences costs some.
_RATES: dict[CaptionClass, float] = {
    _C.CORNER: 18.0,
    _C.CLEARANCE: 8.2,
    _C.SHOT_OFF_TARGET: 9.5,
    _C.FOUL: 7.0,
    _C.LEAD_TO_CORNER: 14.0,
    _C.SAVE: 9.0,
    _C.OFFSIDE: 5.0,
    _C.POSSESSION: 2.4,
    _C.INJURY: 2.4,
    _C.FREE_KICK: 1.3,
    _C.BALL_OUT: 0.6,
    _C.THROW_IN: 0.3,
    _C.SUMMARY: 0.4,
}
_ODDS: dict[CaptionClass, float] = {
    _C.GOAL: 1.0,
    _C.OWN_GOAL: 1.0,
    _C.RED_CARD: 1.0,
    _C.SECOND_YELLOW_CARD: 1.0,
    _C.PENALTY: 0.9,
    _C.PENALTY_MISSED: 1.0,
    _C.YELLOW_CARD: 0.97,
    _C.SUBSTITUTION: 0.93,
    _C.START: 0.3,
    _C.END: 0.3,
    _C.ADDED_TIME: 0.35,
}
_TAILS: dict[CaptionClass, float] = {  # how often a remark follows; a second one half as often
    _C.SHOT_OFF_TARGET: 0.78, _C.SAVE: 0.78, _C.GOAL: 0.7, _C.CORNER: 0.76, _C.LEAD_TO_CORNER: 0.45, _C.FREE_KICK: 0.6,
    _C.CLEARANCE: 0.78, _C.BALL_OUT: 0.95, _C.FOUL: 0.78, _C.YELLOW_CARD: 0.76, _C.OFFSIDE: 0.75, _C.SUBSTITUTION: 0.72,
    _C.INJURY: 0.5,
}  # fmt: skip
_REMARKS = 3  # at most so many remarks on one moment
_WORD = re.compile(r"\b[a-z]{4,}\b")  # what two remarks on one moment may not share
_GAP = 8.0  # seconds between sentences, but for what nobody may miss
_LATELY = 10  # minutes that 'lately' looks back
_ROLES = {
    "goalkeeper": "goalkeeper",
    "right back": "defender",
    "centre back": "defender",
    "left back": "defender",
    "holding midfielder": "midfielder",
    "midfielder": "midfielder",
    "right winger": "winger",
    "left winger": "winger",
    "attacking midfielder": "midfielder",
    "striker": "striker",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A sentence, the moment that it tells, and the half that it belongs to."""

    half: int
    moment: Moment
    sentence: Sentence
    facts: Mapping[str, object]


def tell(fixture: Fixture, halves: Sequence[Trace]) -> list[Told]:
    """The sentences of a match in the order in which they are written. The past decides alone, moment by moment."""
    rng = stream(fixture.seed, "words", fixture.world.value, fixture.index)
    eager = float(min(1.35, max(0.7, rng.normal(1.0, 0.13))))
    budget = {kind: float(rng.random()) - 0.5 for kind in _RATES}
    told: list[Told] = []
    past: list[tuple[int, Deed]] = []
    for trace in halves:
        clock, last = 0.0, -_GAP
        place = 0
        for moment in moments(trace):
            while place < len(trace.deeds) and place <= max(moment.deeds):
                past.append((trace.half, trace.deeds[place]))
                place += 1
            for kind, rate in _RATES.items():
                budget[kind] = min(2.0, budget[kind] + eager * rate * (moment.known - clock) / 5400.0)
            clock = moment.known
            key = (trace.half, moment.kind.value, trace.deeds[moment.deeds[0]].step, round(moment.known * 10))
            rng = stream(fixture.seed, "sentence", fixture.world.value, fixture.index, *key)
            certain = moment.kind in _ODDS
            if certain:
                if rng.random() >= (0.5 if moment.worth == 0.0 else _ODDS[moment.kind]):
                    continue
            elif budget[moment.kind] + 0.7 * (moment.worth - 1.0) <= rng.random() or clock - last < _GAP:
                continue
            until = len(past) - (place - 1 - max(moment.deeds))
            made = _write(fixture, trace, moment, past[:until], [each.sentence for each in told], rng)
            if made is None:
                continue
            if not certain:
                budget[moment.kind] -= 1.0
            last = clock
            told.append(made)
    return told


def _write(
    fixture: Fixture,
    trace: Trace,
    moment: Moment,
    past: Sequence[tuple[int, Deed]],
    before: Sequence[Sentence],
    rng: Generator,
) -> Told | None:
    facts = _facts(fixture, trace, moment, past)
    people = _people(fixture, moment)
    grammar, everything = load(), fixture.world is WorldName.TEST
    rule = str(facts.get("rule", moment.kind.value))
    said = {each.anonymized for each in before}
    sentence = None
    for _ in range(3):  # nobody likes to write the same sentence twice in a match
        text = grammar.tell(rule, facts, people, rng, everything=everything)
        if text is None:
            return None
        odds = _TAILS.get(moment.kind, 0.4) if f"{rule}.tail" in grammar.rules else 0.0
        remarks: set[str] = set()
        for _ in range(_REMARKS):
            if rng.random() >= odds:
                break
            tail = grammar.tell(f"{rule}.tail", facts, people, rng, everything=everything)
            words = {each.rstrip("s") for each in _WORD.findall(tail or "")}
            if tail is not None and tail not in text and not words & remarks:
                text = f"{text} {tail}"
                remarks |= words
            odds *= 0.9
        sentence = polish(text)
        if sentence.anonymized not in said:
            break
    return None if sentence is None else Told(half=trace.half, moment=moment, sentence=sentence, facts=facts)


def _people(fixture: Fixture, moment: Moment) -> dict[str, Person]:
    team = {side: Person("TEAM", fixture.club(side).name) for side in (Side.HOME, Side.AWAY)}
    own, foreign = team[moment.side], team[moment.side.other]
    people = {"T": own, "O": foreign, "T2": foreign, "P of": own}
    people["referee"] = Person("REFEREE", fixture.referee.name)
    people["coach"] = Person("COACH", fixture.club(moment.side).coach)
    for key, (side, number) in moment.people.items():
        player = fixture.club(side).squad[number]
        people[key] = Person("PLAYER", player.name, player.hash)
    if "P" in moment.people:
        people["P of"] = team[moment.people["P"][0]]
    return people


def _facts(fixture: Fixture, trace: Trace, moment: Moment, past: Sequence[tuple[int, Deed]]) -> dict[str, object]:
    """The moment's facts, and what the match so far adds to them."""
    half, now = past[-1]
    own = 0 if moment.side is Side.HOME else 1
    mine, theirs = now.tallies[own], now.tallies[1 - own]
    goals = now.score[own], now.score[1 - own]
    lately = sum(
        deed.kind is DeedKind.CORNER and deed.side is moment.side and each == half and deed.at >= now.at - 60 * _LATELY
        for each, deed in past
    )
    facts: dict[str, object] = {
        "minute": int((trace.clock_start + now.at) // 60) + 1,
        "score": f"{now.score[0]}-{now.score[1]}",
        "own": f"{goals[0]}-{goals[1]}",
        "their": f"{goals[1]}-{goals[0]}",
        "margin": goals[0] - goals[1],
        "total": sum(goals),
        "level": goals[0] == goals[1],
        "own goals": goals[0],
        "corners lately": lately,
        "lately": "ten",
        "corners half": sum(
            deed.kind is DeedKind.CORNER and deed.side is moment.side and each == half for each, deed in past
        ),
        "corners+1": mine.corners + 1,
        "all yellows": mine.yellows + theirs.yellows,
        "T yellows": mine.yellows,
        "men": 11 - mine.reds,
        "venue": fixture.stadium.name,
        **_tallied(mine),
        "saves": theirs.saves,
    }
    if (who := moment.people.get("P")) is not None:
        facts["player goals"] = _done(past, who, DeedKind.GOAL)
        facts["player fouls"] = _done(past, who, DeedKind.FOUL)
        facts["player offsides"] = _done(past, who, DeedKind.OFFSIDE)
        shown = {DeedKind.YELLOW, DeedKind.SECOND_YELLOW, DeedKind.RED}
        earlier = past[:-1] if now.kind in shown else past
        facts["booked"] = _done(earlier, who, DeedKind.YELLOW) > 0
        facts["role"] = _ROLES.get(fixture.club(who[0]).squad[who[1]].role.value, "")
    if (gone := moment.people.get("Q")) is not None:
        facts["Q goals"] = _done(past, gone, DeedKind.GOAL)
        facts["Q booked"] = _done(past, gone, DeedKind.YELLOW) > 0
        role = _ROLES.get(fixture.club(gone[0]).squad[gone[1]].role.value, "")
        facts["like"] = moment.kind is CaptionClass.SUBSTITUTION and role == facts.get("role")
    return {**facts, **moment.facts}


def _tallied(mine: Tallies) -> dict[str, object]:
    return {
        "corners": mine.corners,
        "fouls": mine.fouls,
        "offsides": mine.offsides,
        "yellows": mine.yellows,
        "subs": mine.substitutions,
    }


def _done(past: Sequence[tuple[int, Deed]], who: Who, kind: DeedKind) -> int:
    """How often a player did this so far; a goal against his own side is not his."""
    return sum(
        deed.kind is kind and deed.player == who[1] and deed.side is who[0] and not deed.detail.get("own_goal")
        for _, deed in past
    )

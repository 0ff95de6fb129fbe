"""A sentence to what it claims, and a claim against what is known: it agrees, contradicts, or cannot be told.

`claims` reads English football commentary, with names (a match sheet tells whose they are) or with placeholders (their
sides come with them). It finds who did what with which outcome, counts ('their third corner', 'booked earlier'), the
score and who leads, and cards; each claim has the span of text it was read from. It prefers silence to a guess: what
is hoped for, denied or only possible is not claimed. `check` compares one claim with a `Truth` made of core nouns, so
that it serves annotated matches as well as a live one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamsoccer.actions import Label
from streamsoccer.domain import Action, MatchSheet, Placeholder, Side, Tally
from streamsoccer.reading import NAMED, OPPONENT, PLAYER, SOMEONE, TEAM, Mention, Sentence, read, sentences, value
from streamsoccer.wording import (
    CARDINAL,
    CARDS,
    DENIED,
    FEAT,
    HEDGE,
    LEADS,
    MARGINS,
    NIL,
    ORDINAL_OF,
    ORDINAL_THING,
    OVERRULED,
    PASSING,
    PAST,
    PERIODS,
    RULES,
    SCORE,
    SCORE_HEDGE,
    SHOOTING,
    SINCE,
    THINGS,
    THIS_HALF,
    TIMES,
    WHOLE_MATCH,
    Act,
    Outcome,
    Rule,
    clause,
)  # fmt: skip

__all__ = ["Act", "Claim", "Fact", "Finding", "Kind", "Outcome", "Truth", "check", "claims", "facts_of"]


class Kind(StrEnum):
    """What sort of thing is claimed."""

    ACTION = "action"
    COUNT = "count"
    SCORE = "score"
    MARGIN = "margin"  # who leads, and by how much
    MEMBER = "member"  # this player plays for that side


class Finding(StrEnum):
    """What the truth says of a claim."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One thing that a text says. Fields that its kind does not need, or that the text leaves open, have defaults."""

    kind: Kind
    span: tuple[int, int]
    text: str
    side: Side = Side.NONE
    act: Act | None = None
    outcome: Outcome | None = None
    count: int | None = None
    player: str = ""
    by_player: bool = False  # the count is the player's own
    minutes: float | None = None  # the count is within the last so many minutes
    half: int | None = None  # it is of this half; 0 means the present one
    past: bool = False  # it happened before what the sentence is about
    score: tuple[int, int] | None = None  # as written
    relative: bool = False  # the score has the goals of `side` first
    margin: tuple[int, int] | None = None  # goals of `side` less the other's, from .. to


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One thing that is known to have happened."""

    act: Act
    side: Side = Side.NONE
    outcome: Outcome | None = None
    player: str = ""
    other: str = ""
    half: int = 0
    second: float = 0.0
    count: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """What a sentence is checked against: what it is about, the state after that, and all that happened up to then."""

    facts: tuple[Fact, ...] = ()
    tally: Tally | None = None
    past: tuple[Fact, ...] = ()  # from the start of the match, `facts` included
    complete: bool = False  # nothing but `facts` happened: an act that is not among them is a contradiction


_LABEL_FACTS: dict[Label, tuple[Act, Outcome | None]] = {
    Label.GOAL: (Act.GOAL, Outcome.GOAL),
    Label.SHOT_ON_TARGET: (Act.SHOT, Outcome.ON_TARGET),
    Label.SHOT_OFF_TARGET: (Act.SHOT, Outcome.OFF_TARGET),
    Label.CORNER: (Act.CORNER, None),
    Label.DIRECT_FREE_KICK: (Act.FREE_KICK, None),
    Label.INDIRECT_FREE_KICK: (Act.FREE_KICK, None),
    Label.THROW_IN: (Act.THROW_IN, None),
    Label.PENALTY: (Act.PENALTY, None),
    Label.FOUL: (Act.FOUL, None),
    Label.OFFSIDE: (Act.OFFSIDE, None),
    Label.YELLOW_CARD: (Act.YELLOW, None),
    Label.SECOND_YELLOW_CARD: (Act.SECOND_YELLOW, None),
    Label.RED_CARD: (Act.RED, None),
    Label.SUBSTITUTION: (Act.SUBSTITUTION, None),
    Label.CLEARANCE: (Act.CLEARANCE, None),
}


def facts_of(actions: Iterable[Action]) -> tuple[Fact, ...]:
    """The facts that annotated actions give."""
    found = []
    for action in actions:
        if (known := _LABEL_FACTS.get(action.label)) is not None:
            act, outcome = known
            found.append(
                Fact(act=act, side=action.side, outcome=outcome, half=action.at.half, second=action.at.seconds)
            )
    return tuple(found)


# --- Reading -----------------------------------------------------------------------------------------------------

# Acts of which one sentence tells one: several words for it are one claim.
_ONCE = frozenset({Act.SUBSTITUTION, Act.INJURY, Act.POSSESSION, Act.GOAL, Act.FOUL, Act.CROSS, Act.KEEPER})


def claims(text: str, *, sheet: MatchSheet | None = None, placeholders: Sequence[Placeholder] = ()) -> list[Claim]:
    """All that a text claims, in the order of the text."""
    reading = read(text, sheet, placeholders)
    found: list[Claim] = []
    for mention in reading.mentions.values():
        if mention.torn:
            span = (mention.start, mention.end)
            found.append(
                Claim(kind=Kind.MEMBER, span=span, text=text[slice(*span)], side=mention.side, player=mention.name)
            )
    for sentence in sentences(reading):
        counts = list(_counts(sentence))
        made = [*counts, *_scores(sentence)]
        for each in _actions(sentence):  # to count a thing is not to say that it happens
            if not any(count.span[0] <= each.span[0] and each.span[1] <= count.span[1] for count in counts):
                made.append(each)
        found.extend(replace(each, text=text[slice(*each.span)]) for each in made)
    return sorted(found, key=lambda each: each.span)


def _actions(sentence: Sentence) -> Iterator[Claim]:
    text = sentence.text
    told: set[tuple[Act, Outcome | None, Side]] = set()
    taken: list[tuple[int, int, Act]] = []
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            if any(a < match.end() and match.start() < b and act is rule.act for a, b, act in taken):
                continue
            if rule.tidy is not None and rule.tidy.search(text[: match.start()]):
                continue
            if DENIED.search(text[: match.start()]):
                continue
            if rule.hedged and HEDGE.search(clause(text, match.start())):
                continue
            if rule.act is Act.GOAL and (OVERRULED.search(sentence.reading.masked) or "offside" in text):
                continue
            side, who = _whose(sentence, rule, match)
            vague = rule.role in ("any", "team", "goal kick", "last") or (rule.role, rule.outcome) == (
                "foe",
                Outcome.SAVED,
            )
            if side is Side.NONE and vague:
                continue
            past = rule.act in CARDS and PAST.search(text) is not None
            if rule.act is Act.YELLOW and not past and _is_second(text, taken):
                continue
            if rule.outcome is Outcome.BLOCKED and PASSING.search(text) and not SHOOTING.search(text):
                continue  # the effort was a pass
            if rule.outcome is Outcome.BLOCKED and any(how is Outcome.SAVED for _, how, _ in told):
                continue  # a save that blocks the shot
            taken.append((match.start(), match.end(), rule.act))
            key = (rule.act, rule.outcome, Side.NONE if rule.act in _ONCE else side)
            if key in told:
                continue
            told.add(key)
            yield Claim(
                kind=Kind.ACTION,
                span=sentence.span(match.start(), match.end()),
                text="",
                side=side,
                act=rule.act,
                outcome=rule.outcome,
                player=who.name
                if who is not None and who.char == PLAYER and sentence.plainly(who, match.start())
                else "",
                past=past,
            )
    yield from _periods(sentence)


def _is_second(text: str, taken: Sequence[tuple[int, int, Act]]) -> bool:
    return any(act is Act.SECOND_YELLOW for _, _, act in taken)


def _place(item: tuple[int, Mention]) -> int:
    return item[0]


def _whose(sentence: Sentence, rule: Rule, match: re.Match[str]) -> tuple[Side, Mention | None]:
    """Whose act it is: named by the pattern, else by the rule's role."""
    for group in (name for name in match.re.groupindex if match[name]):
        place = match.start(group)
        side = sentence.side_of(place, sentence.at(place))
        if group.startswith("by") and (side is not Side.NONE or match[group] in NAMED):
            return side, sentence.at(place)
        if group.startswith("vs") and side is not Side.NONE:
            return side.other, None
    place = match.start()
    if rule.role == "none":
        return Side.NONE, None
    if rule.role in ("last", "foe"):
        before = [(at, each) for at, each in sentence.mentions(SOMEONE[1:-1]) if at < place]
        if before and rule.outcome is Outcome.SAVED and before[-1][1].char == OPPONENT:
            return Side.NONE, None  # what a defender stops is not saved
        if before and (side := sentence.side_of(*before[-1])) is not Side.NONE:
            return (side, before[-1][1]) if rule.role == "last" else (side.other, None)
        main = sentence.main(place)
        if main is None or rule.role == "last":
            return Side.NONE, None
        return (main.side if before else main.side.other), None
    if rule.role == "saver":
        main = sentence.main(place) or sentence.topic
        nearest = max(
            ((at, each) for at, each in sentence.mentions(SOMEONE[1:-1]) if at < place), default=None, key=_place
        )
        unnamed = nearest is not None and nearest[1].side is Side.NONE
        return (Side.NONE if main is None else main.side if unnamed else main.side.other), None
    if rule.role == "other":
        main = sentence.main(place)
        return (Side.NONE if main is None else main.side.other), None
    if rule.role == "team":
        main = sentence.main(place, TEAM) or sentence.main(place)
    elif rule.role == "goal kick":  # the side that defends: named behind 'for', or at the head of its own sentence
        own = [
            (at, each)
            for at, each in sentence.mentions(TEAM)
            if re.match(r" (?:will |now )?(?:have|take|get|restart)", sentence.text[at + 1 :])
        ]
        main = own[-1][1] if own else None
    else:
        main = sentence.main(place)
        if main is None and rule.act is Act.SHOT:
            main = sentence.topic  # 'it goes wide': the shot that was spoken of
    return (Side.NONE, None) if main is None else (main.side, main)


def _periods(sentence: Sentence) -> Iterator[Claim]:
    for act, pattern in PERIODS:
        if (match := pattern.search(sentence.text)) is not None:
            count = value(match["n"] or match["n2"]) if act is Act.ADDED_TIME else None
            half = None
            if act is not Act.ADDED_TIME and (named := re.search(r"\b(first|second) half", match[0])):
                half = value(named[1])
            span = sentence.span(match.start(), match.end())
            main = sentence.main(match.start()) if act is Act.HALF_START and "kick" in sentence.text else None
            side = Side.NONE if main is None else main.side
            yield Claim(kind=Kind.ACTION, span=span, text="", side=side, act=act, count=count, half=half)


def _counts(sentence: Sentence) -> Iterator[Claim]:
    text = sentence.text
    spans: list[tuple[int, int]] = []
    for pattern in (ORDINAL_THING, ORDINAL_OF, CARDINAL, TIMES, FEAT):
        for match in pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in spans):
                continue
            if (made := _count(sentence, pattern, match)) is not None:
                spans.append(match.span())
                yield made


def _count(sentence: Sentence, pattern: re.Pattern[str], match: re.Match[str]) -> Claim | None:
    text, before = sentence.text, sentence.text[: match.start()]
    groups = match.groupdict()
    if groups.get("feat"):
        act, number = Act.GOAL, 2 if groups["feat"] == "brace" else 3
    elif "n1" in groups:
        number = value(groups["n1"] or groups["n"])
        near = re.search(r"\b(book|scor|offside|foul)", before[-45:] + text[match.end() : match.end() + 45])
        if near is None:
            return None
        act = {"book": Act.YELLOW, "scor": Act.GOAL, "offside": Act.OFFSIDE, "foul": Act.FOUL}[near[1]]
    else:
        number = value(groups["n"] or "")
        thing = groups.get("thing")
        if thing is None:
            act = Act.GOAL
        elif (known := THINGS.get(thing)) is None:
            return None
        else:
            act = known
    if HEDGE.search(clause(text, match.start())):
        return None
    tail = text[match.end() :]
    if act is Act.SHOT and re.search(r"\bat (?:the|his) $", before):
        return None  # 'at the second attempt'
    own = re.search(rf"(?:\b(?P<pronoun>his|their)|(?P<by>[{NAMED}])(?:'s?)?)(?: \w+)? ?$", before)
    own = own or re.search(rf"\bfor (?P<by>[{NAMED}]),? (?P<pronoun>it|that|this) (?:is|was) (?:now )?the $", before)
    behind = re.match(rf"(?: \w+){{0,6}}? (?:for|by|from|against|to) (?:the )?(?P<by>[{NAMED}])", tail)
    place, by_player = match.start(), False
    if behind is not None:
        who: Mention | None = sentence.at(match.end() + behind.start("by"))
    elif own is not None and own["pronoun"] == "his" and not sentence.mentions(PLAYER):
        who = sentence.person
    elif own is not None and own["by"]:
        who = sentence.at(own.start("by"))
    else:
        who = sentence.main(place)
    if own is not None and own["pronoun"] == "their":
        by_player = False
    elif who is not None and who.char == PLAYER:
        by_player = True
    everyone = (
        own is None
        and behind is None
        and re.search(r"\bthe $", before) is not None
        and WHOLE_MATCH.match(tail.lstrip())
    )
    if who is None and not everyone:
        return None  # whose count it is cannot be told: no subject, or a name that both sides have
    if act is Act.YELLOW and by_player and number == 2:
        return None  # a player's second yellow card is an act of its own
    if (
        pattern is ORDINAL_THING
        and own is None
        and behind is None
        and not everyone
        and not re.search(r"\b(?:the|a|another) $", before)
    ):
        return None
    since = SINCE.search(text)
    half_word = THIS_HALF.search(text)
    half = None if half_word is None else value(half_word["half"]) if half_word["half"] else 0
    return Claim(
        kind=Kind.COUNT,
        span=sentence.span(*match.span()),
        text="",
        side=Side.NONE if everyone or who is None else who.side,
        act=act,
        count=number,
        player=who.name if who is not None and by_player else "",
        by_player=by_player,
        minutes=None if since is None else float(value(since["m"])),
        half=half,
    )


def _scores(sentence: Sentence) -> Iterator[Claim]:
    text = sentence.text
    for match in SCORE.finditer(text):
        a, b = match["a"] or match["a2"], match["b"] or match["b2"]
        if re.search(
            r"\b(?:from|formation|shape|aggregate|won|last|previous)\b",
            text[max(0, match.start() - 25) : match.end() + 14],
        ):
            continue
        if re.match(r"\s*(?:min|%|metres|yards)", text[match.end() :]):
            continue
        score = value(a), 0 if b == "nil" else value(b)
        main = sentence.main(match.start())
        leads = LEADS.search(text[max(0, match.start() - 30) : match.end() + 20]) is not None
        side = main.side if main is not None else Side.NONE
        span = sentence.span(*match.span())
        yield Claim(kind=Kind.SCORE, span=span, text="", score=score, side=side, relative=leads and score[0] > score[1])
    for match in NIL.finditer(text):
        if SCORE.search(match[0]) is None:
            yield Claim(kind=Kind.SCORE, span=sentence.span(*match.span()), text="", score=(0, 0))
    spans: list[tuple[int, int]] = []
    for pattern, fixed, hedged in reversed(MARGINS):
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in spans):
                continue
            before = clause(text, match.start())
            if hedged and (HEDGE.search(before) or SCORE_HEDGE.search(before)):
                continue
            margin = fixed
            if margin is None:
                groups = match.groupdict()
                lead = groups.get("n") or groups.get("m")
                down = groups.get("down") or groups.get("down2")
                number = value(lead or down or "")
                margin = (number, number) if lead else (-number, -number)
            main = sentence.main(match.start())
            if margin != (0, 0) and main is None:
                continue
            spans.append(match.span())
            side = main.side if main is not None else Side.NONE
            yield Claim(kind=Kind.MARGIN, span=sentence.span(*match.span()), text="", side=side, margin=margin)


# --- Checking ----------------------------------------------------------------------------------------------------

_COUNTED: dict[Act, tuple[Label, ...]] = {
    Act.CORNER: (Label.CORNER,),
    Act.OFFSIDE: (Label.OFFSIDE,),
    Act.FOUL: (Label.FOUL,),
    Act.THROW_IN: (Label.THROW_IN,),
    Act.PENALTY: (Label.PENALTY,),
    Act.YELLOW: (Label.YELLOW_CARD, Label.SECOND_YELLOW_CARD),
    Act.RED: (Label.RED_CARD, Label.SECOND_YELLOW_CARD),
}
# Which acts a claim of one can mean, besides that one.
_SAME: dict[Act, frozenset[Act]] = {
    Act.SHOT: frozenset({Act.GOAL}),
    Act.YELLOW: frozenset({Act.SECOND_YELLOW}),
    Act.RED: frozenset({Act.SECOND_YELLOW}),
    Act.CLEARANCE: frozenset({Act.INTERCEPTION}),
    Act.INTERCEPTION: frozenset({Act.CLEARANCE}),
}
_OPEN = frozenset({Act.CROSS, Act.PASS, Act.POSSESSION, Act.INTERCEPTION, Act.KEEPER, Act.GOAL_KICK, Act.INJURY})
_ON = frozenset({Outcome.ON_TARGET, Outcome.SAVED, Outcome.GOAL})
_OFF = frozenset({Outcome.OFF_TARGET, Outcome.WIDE, Outcome.OVER, Outcome.WOODWORK})


def check(claim: Claim, truth: Truth) -> Finding:
    """What the truth says of one claim."""
    match claim.kind:
        case Kind.MEMBER:
            return Finding.CONTRADICTS
        case Kind.COUNT:
            return _check_count(claim, truth)
        case Kind.SCORE | Kind.MARGIN:
            return _check_score(claim, truth)
        case Kind.ACTION:
            return _check_action(claim, truth)


def _found(right: bool) -> Finding:
    return Finding.AGREES if right else Finding.CONTRADICTS


def _check_action(claim: Claim, truth: Truth) -> Finding:
    assert claim.act is not None
    pool = truth.past if claim.past else truth.facts
    wanted = {claim.act} | _SAME.get(claim.act, frozenset())
    alike = [each for each in pool if each.act in wanted] + _implied(claim.act, pool)
    if not alike:
        certain = truth.complete if not claim.past else bool(truth.past)
        return Finding.CONTRADICTS if certain and claim.act not in _OPEN else Finding.UNKNOWN
    if claim.side is not Side.NONE and any(each.side is not Side.NONE for each in alike):
        alike = [each for each in alike if each.side is claim.side]
        if not alike:
            return Finding.CONTRADICTS
    if claim.act in CARDS | {Act.OFFSIDE} and claim.player and any(each.player for each in alike):
        alike = [each for each in alike if each.player == claim.player]
        if not alike:
            return Finding.CONTRADICTS
    if claim.half is not None and any(each.half for each in alike):
        return _found(any(each.half == claim.half for each in alike))
    if claim.count is not None and any(each.count is not None for each in alike):
        return _found(any(each.count == claim.count for each in alike))
    if claim.outcome is None:
        return Finding.AGREES
    findings = {_compare(claim.outcome, each.outcome) for each in alike}
    for best in (Finding.AGREES, Finding.UNKNOWN):
        if best in findings:
            return best
    return Finding.CONTRADICTS


def _compare(said: Outcome, known: Outcome | None) -> Finding:
    if known is None or (
        (said is Outcome.BLOCKED) != (known is Outcome.BLOCKED) and known in (Outcome.ON_TARGET, Outcome.OFF_TARGET)
    ):
        return Finding.UNKNOWN  # SoccerNet calls a blocked shot either
    if said is known:
        return Finding.AGREES
    if known is Outcome.ON_TARGET:
        return _found(said in _ON)
    if known is Outcome.OFF_TARGET:
        return _found(said in _OFF)
    if said in (Outcome.ON_TARGET, Outcome.OFF_TARGET):
        return _found(known in (_ON if said is Outcome.ON_TARGET else _OFF))
    return Finding.CONTRADICTS


def _implied(act: Act, pool: Sequence[Fact]) -> list[Fact]:
    """What follows: a foul or an offside gives the others a free kick, and what a keeper saved he has or had."""
    if act is Act.FREE_KICK:
        return [replace(each, act=act, side=each.side.other) for each in pool if each.act in (Act.FOUL, Act.OFFSIDE)]
    if act is Act.KEEPER:
        stopped = [each for each in pool if each.act is Act.SHOT and each.outcome is Outcome.SAVED]
        return [replace(each, act=act, side=each.side.other, outcome=None) for each in stopped]
    return []


def _check_count(claim: Claim, truth: Truth) -> Finding:
    assert claim.act is not None and claim.count is not None
    if claim.by_player or claim.minutes is not None or claim.half is not None:
        if not truth.past or (claim.by_player and not any(each.player for each in truth.past)):
            return Finding.UNKNOWN
        return _found(_number(claim, truth.past) == claim.count)
    sides = (Side.HOME, Side.AWAY) if claim.side is Side.NONE else (claim.side,)
    if truth.tally is not None:
        if claim.act is Act.GOAL:
            return _found(sum(truth.tally.of(side).goals for side in sides) == claim.count)
        if claim.act is Act.SUBSTITUTION:
            return _found(sum(truth.tally.of(side).substitutions for side in sides) == claim.count)
        if (labels := _COUNTED.get(claim.act)) is not None:
            counts = [truth.tally.of(side).counts.get(label, 0) for side in sides for label in labels]
            return _found(sum(counts) == claim.count)
    if truth.complete and truth.past:
        return _found(_number(claim, truth.past) == claim.count)
    return Finding.UNKNOWN


def _number(claim: Claim, past: Sequence[Fact]) -> int:
    """How often it happened, by the player or side that the claim names, since when it says."""
    assert claim.act is not None
    wanted = {claim.act} | ({Act.SECOND_YELLOW} if claim.act is Act.YELLOW else set())
    now = past[-1]
    half = now.half if claim.half == 0 or claim.minutes is not None else claim.half
    since = now.second - claim.minutes * 60 if claim.minutes is not None else 0.0
    return sum(
        each.act in wanted
        and (claim.side is Side.NONE or each.side is claim.side)
        and (not claim.by_player or not claim.player or each.player == claim.player)
        and (half is None or each.half == half)
        and each.second >= since
        for each in past
    )


def _check_score(claim: Claim, truth: Truth) -> Finding:
    if truth.tally is None:
        return Finding.UNKNOWN
    home, away = truth.tally.score
    own, foreign = (away, home) if claim.side is Side.AWAY else (home, away)
    if claim.score is not None:
        if claim.relative and claim.side is not Side.NONE:
            return _found(claim.score == (own, foreign))
        return _found(claim.score in ((home, away), (own, foreign)))
    assert claim.margin is not None
    low, high = claim.margin
    if claim.side is Side.NONE:
        return _found(home == away)
    return _found(low <= own - foreign <= high)

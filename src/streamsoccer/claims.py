"""A sentence to what it claims.

`claims` reads English football commentary, with names (a match sheet tells whose they are) or with placeholders (their
sides come with them). It finds who did what with which outcome, counts ('their third corner', 'booked earlier'), the
score and who leads, and cards; each claim has the span of text it was read from. It prefers silence to a guess: what
is hoped for, denied or only possible is not claimed. What the truth says of a claim: settle.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamsoccer.actions import Label
from streamsoccer.domain import MatchSheet, Placeholder, Side
from streamsoccer.reading import NAMED, OPPONENT, PLAYER, SOMEONE, TEAM, Mention, Sentence, read, sentences, value
from streamsoccer.recall import Way, recalled
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

__all__ = ["Act", "Claim", "Kind", "Outcome", "claims"]


class Kind(StrEnum):
    """What sort of thing is claimed."""

    ACTION = "action"
    COUNT = "count"
    SCORE = "score"
    MARGIN = "margin"  # who leads, and by how much
    MEMBER = "member"  # this player plays for that side
    EARLIER = "earlier"  # it has happened before, so many minutes ago where that is told


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
    label: Label | None = None  # the very label that is counted, where the words name it


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
    parts = list(sentences(reading))
    told = list(_recalled(parts))
    for sentence in parts:
        counts = [each for each in _counts(sentence) if not _meets(each, told)]
        counted = [*counts, *(each for each in told if each.kind is Kind.COUNT)]
        found.extend([*counts, *_scores(sentence)])
        for each in _actions(sentence):  # to count a thing is not to say that it happens
            if not any(count.span[0] <= each.span[0] and each.span[1] <= count.span[1] for count in counted):
                found.append(each)
    acts = {(each.act, each.side) for each in found if each.kind is Kind.ACTION}
    found.extend(each for each in told if each.kind is not Kind.ACTION or (each.act, each.side) not in acts)
    return sorted((replace(each, text=text[slice(*each.span)]) for each in found), key=lambda each: each.span)


def _recalled(parts: Sequence[Sentence]) -> Iterator[Claim]:
    """What a line tells of earlier, and what it lists, as claims; what happened once in the last minutes is an act."""
    kinds = {Way.NOW: Kind.ACTION, Way.COUNT: Kind.COUNT, Way.EARLIER: Kind.EARLIER}
    for each in recalled(parts):
        thing = each.thing
        yield Claim(
            kind=kinds[each.way],
            span=each.span,
            text="",
            side=each.side,
            act=thing.act,
            outcome=thing.outcome,
            label=thing.label,
            count=each.count,
            minutes=each.minutes,
            half=each.half,
        )


def _meets(claim: Claim, others: Sequence[Claim]) -> bool:
    return any(
        each.kind is Kind.COUNT and each.span[0] < claim.span[1] and claim.span[0] < each.span[1] for each in others
    )


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

"""Names into a finished sentence: a team by its side, a player from the event feed alone, else a role.

The generator knows no names; it writes [TEAM], [PLAYER], [COACH] and [REFEREE], with sides where it was trained to.
What stands for them must be true and read as English: where nothing is known of a team it is 'the home side' or 'they',
where no feed names a player he is 'a Rovers player', 'a team-mate', 'an opponent' or 'the goalkeeper'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from streamsoccer.actions import Label
from streamsoccer.claims import Act, claims
from streamsoccer.domain import MatchSheet, Placeholder, Side
from streamsoccer.feed import FeedLine

__all__ = ["Named", "fill_names", "sided_by_event"]

_PLACE = re.compile(r"\[(?:TEAM|PLAYER|COACH|REFEREE)\]")
_START = re.compile(r"(?:^|[.!?:]['\"”’]?\s+)$")
_PREPOSITION = re.compile(
    r"\b(?:to|for|by|from|of|against|with|on|at|in|behind|past|give|gives|gift|hand|hands)\s+$", re.I
)
_ARTICLE = re.compile(r"\b(the|a|an|referee|coach)\s+$", re.I)
_KEEPS = re.compile(
    r"^(?:'s)?\s+(?:\w+\s+){0,3}?(?:saves?|save|punch\w*|parr\w+|tips?|gathers?|smothers?|holds on|claims|den(?:y|ies)|"
    r"dives|keeps (?:it|the ball) out|comes off his line|stops the|to turn)\b"
)
_KEPT = re.compile(
    r"\b(?:saved|denied|stopped|kept out|parried|gathered|punched\w* \w*) by\s+$|\b(?:beating|beats|past)\s+$"
)
_CLEARS = re.compile(r"^\s+(?:clears?|hacks|heads (?:it|the ball) (?:away|clear)|intercepts?|blocks)\b")
_CLEARED = re.compile(r"\b(?:cleared|intercepted|blocked) by\s+$")
_GOES_OFF = re.compile(
    r"\b(?:is|are|was|will be|been) (?:replaced|substituted)|makes way|goes off|leaves the|given a rest"
)
_COMES_ON = re.compile(r"\breplac(?:es|ed|ing)\b|comes on|coming on|joins|takes the place|\bin,")

# The acts that a line of the feed can lend its player to.
_ACTS: dict[Label, frozenset[Act]] = {
    Label.GOAL: frozenset({Act.GOAL}),
    Label.YELLOW_CARD: frozenset({Act.YELLOW}),
    Label.SECOND_YELLOW_CARD: frozenset({Act.SECOND_YELLOW, Act.RED, Act.YELLOW}),
    Label.RED_CARD: frozenset({Act.RED}),
    Label.SUBSTITUTION: frozenset({Act.SUBSTITUTION}),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A sentence with names, its placeholders with those that were filled in, and the feed's lines they are from."""

    text: str
    placeholders: tuple[Placeholder, ...]
    used: tuple[FeedLine, ...] = ()


@dataclass(slots=True)
class _Place:
    """A placeholder of the text where it stands."""

    start: int
    end: int
    token: str
    side: Side
    tag: _Place | None = None  # the team behind a player: '[PLAYER] ([TEAM])'
    tagged: bool = False  # it is such a team
    name: str = ""


def sided_by_event(text: str, placeholders: Sequence[Placeholder], side: Side) -> tuple[Placeholder, ...]:
    """The placeholders with their sides; where the generator gave none, the first team is the one whose event it is."""
    places = _places(text, placeholders)
    if side is not Side.NONE and all(each.side is Side.NONE for each in places):
        first = next((each for each in places if each.token == "[TEAM]"), None)
        if first is not None:
            first.side = side
    for each in places:
        if each.tag is not None:
            known = each.side if each.side is not Side.NONE else each.tag.side
            each.side = each.tag.side = known
    return tuple(Placeholder(token=each.token, side=each.side, name=each.name) for each in places)


def fill_names(
    text: str, placeholders: Sequence[Placeholder], sheet: MatchSheet, lines: Sequence[FeedLine] = ()
) -> Named:
    """The sentence as people hear it; `lines` are those of the feed that it may be about."""
    places = _places(text, placeholders)
    used = _players(text, places, lines)
    said: list[str] = []
    kept: list[Placeholder] = []
    at, unnamed = 0, list[Side]()  # the sides of the players so far that have no name
    for each in places:
        before = text[at : each.start]
        if each.tagged and not said_name(places, each):
            # 'a Rovers player' has said the team already: the brackets go with it
            said.append(before.removesuffix(" ("))
            at = each.end + 1
            kept.append(Placeholder(token=each.token, side=each.side, name=sheet.team(each.side)))
            continue
        word = _word(text, each, sheet, unnamed)
        article = _ARTICLE.search(before)
        own = word.split(" ", 1)[0] in ("the", "a", "an", "they", "them", "another")
        if article is not None and own:
            if article[1].lower() in ("the", "a", "an") and word.startswith("the ") and each.token == "[TEAM]":
                word = word.removeprefix("the ").removesuffix(" side")  # 'the [TEAM] players': 'the home players'
            else:
                before = before[: article.start()]
        start = _START.search("".join(said) + before) is not None
        said.extend([before, word[:1].upper() + word[1:] if start else word])
        at = each.end
        name = each.name or (sheet.team(each.side) if each.token == "[TEAM]" else "")
        kept.append(Placeholder(token=each.token, side=each.side, name=name))
    said.append(text[at:])
    return Named(text=_tidy("".join(said)), placeholders=tuple(kept), used=used)


def said_name(places: Sequence[_Place], team: _Place) -> bool:
    """Whether the player in front of this team has a name, so that the team still has to be said."""
    return any(each.tag is team and each.name for each in places)


def _places(text: str, placeholders: Sequence[Placeholder]) -> list[_Place]:
    found = [_Place(each.start(), each.end(), each[0], Side.NONE) for each in _PLACE.finditer(text)]
    if len(found) == len(placeholders):
        for place, known in zip(found, placeholders, strict=True):
            place.side = known.side
    for place, team in pairwise(found):
        beside = text[place.end : team.start] == " (" and text[team.end : team.end + 1] == ")"
        if beside and place.token in ("[PLAYER]", "[COACH]") and team.token == "[TEAM]":
            place.tag, team.tagged = team, True
            place.side = team.side = place.side if place.side is not Side.NONE else team.side
    return found


def _players(text: str, places: Sequence[_Place], lines: Sequence[FeedLine]) -> tuple[FeedLine, ...]:
    """Give the feed's players to the placeholders that can only be theirs."""
    placeholders = [Placeholder(token=each.token, side=each.side) for each in places]
    told = {each.act for each in claims(text, placeholders=placeholders) if not each.past}
    people = [each for each in places if each.token == "[PLAYER]"]
    used: list[FeedLine] = []
    for line in lines:
        if line.label is None or not (_ACTS.get(line.label, frozenset()) & told):
            continue
        mine = [each for each in people if each.side in (line.side, Side.NONE)]
        if line.label is Label.SUBSTITUTION:
            if len(people) == 2 and len(mine) == 2 and (line.player or line.out):
                off_first = _GOES_OFF.search(text, people[0].end) is not None
                if not off_first and _COMES_ON.search(text) is None:
                    continue
                goes, comes = people if off_first else reversed(people)
                goes.name, comes.name = line.out, line.player
                used.append(line)
            continue
        certain = [each for each in mine if each.tag is not None] or mine
        if line.player and len(certain) == 1 and not certain[0].name:
            certain[0].name = line.player
            if certain[0].side is Side.NONE:
                certain[0].side = line.side
                if certain[0].tag is not None:
                    certain[0].tag.side = line.side
            used.append(line)
    return tuple(used)


def _word(text: str, place: _Place, sheet: MatchSheet, unnamed: list[Side]) -> str:
    """What stands there in the middle of a sentence."""
    team = sheet.team(place.side)
    whose = team or {Side.HOME: "home", Side.AWAY: "away", Side.NONE: ""}[place.side]
    match place.token:
        case "[TEAM]":
            if team:
                return team
            if place.side is not Side.NONE:
                return f"the {whose} side"
            return "them" if _PREPOSITION.search(text[: place.start]) else "they"
        case "[REFEREE]":
            return sheet.referee or "the referee"
        case "[COACH]":
            names = [each.name for each in sheet.coaches if each.side is place.side]
            return names[0] if names else f"the {whose} coach" if whose else "the coach"
    if place.name:
        return place.name
    before, after = text[: place.start], text[place.end :]
    if _KEEPS.search(after) or _KEPT.search(before):
        return "the goalkeeper"
    if place.tag is None and (_CLEARS.search(after) or _CLEARED.search(before)):
        return "a defender"
    unnamed.append(place.side)
    last = unnamed[-2] if len(unnamed) > 1 else Side.NONE
    if place.side is not Side.NONE and last is place.side:
        return "a team-mate"
    if place.tag is None and place.side is not Side.NONE and last is place.side.other:
        return "an opponent"
    if not whose:
        return "another player" if len(unnamed) > 1 else "a player"
    return f"{'an' if _vowel(whose) else 'a'} {whose} player"


def _vowel(word: str) -> bool:
    return word[:1].lower() in "aeio" or (word[:1].lower() == "u" and not re.match(r"un[ai]|us|ut|uru", word.lower()))


def _tidy(text: str) -> str:
    """'They's' and such, and doubled spaces."""
    text = re.sub(r"\b(They|they|them)'s\b", lambda each: "Their" if each[1][0] == "T" else "their", text)
    return " ".join(text.split())


def with_names(placeholders: Sequence[Placeholder], named: Named) -> tuple[Placeholder, ...]:
    """The utterance's own placeholders with the names that were filled in."""
    if len(placeholders) != len(named.placeholders):
        return named.placeholders
    return tuple(
        replace(mine, side=other.side, name=other.name)
        for mine, other in zip(placeholders, named.placeholders, strict=True)
    )

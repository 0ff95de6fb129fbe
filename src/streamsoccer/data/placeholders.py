"""Placeholders of a text and whose side each stands for, so that names can be filled in later and sides checked now."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from streamsoccer.domain import MatchSheet, Placeholder, Side

__all__ = ["TOKEN", "fill", "find", "side_of_team", "tokens"]

TOKEN = re.compile(r"\[(?:PLAYER|TEAM|COACH|REFEREE)\]")
_HASHED = re.compile(r"\[(PLAYER|COACH)_([^\]]*)\]")
_LONGEST_NAME = 60
# Words of club names that do not tell two clubs apart.
_COMMON = frozenset(
    {"fc", "cf", "afc", "ac", "as", "ssc", "sc", "sv", "fsv", "tsg", "vfb", "vfl", "bsc", "rc", "ud", "sd", "cd", "de"}
    | {"la", "real", "the", "club", "sporting", "united", "city", "utd", "borussia", "atletico", "olympique"}
)


def tokens(text: str) -> list[str]:
    """The placeholders of a text in order, as '[TEAM]'."""
    return TOKEN.findall(text)


@lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return frozenset(re.findall(r"[a-z0-9]+", "".join(each for each in plain if not unicodedata.combining(each))))


def side_of_team(name: str, sheet: MatchSheet) -> Side:
    """Whose name this is: equal or, failing that, sharing more of its telling words with one team than the other."""
    mine = _words(name)
    if not mine:
        return Side.NONE
    home, away = _words(sheet.home), _words(sheet.away)
    if home == away:
        return Side.NONE
    if mine in (home, away):
        return Side.HOME if mine == home else Side.AWAY
    for drop in (_COMMON, frozenset[str]()):
        shared_home, shared_away = len((mine & home) - drop), len((mine & away) - drop)
        if shared_home != shared_away:
            return Side.HOME if shared_home > shared_away else Side.AWAY
    return Side.NONE


def _names(text: str, description: str) -> list[str]:
    """What the source's own text has where this one has a placeholder; empty names where the two do not fit."""
    found = tokens(text)
    parts = [re.escape(part) for part in TOKEN.split(text)]
    pattern = f"(.{{1,{_LONGEST_NAME}}}?)".join(parts)
    match = re.fullmatch(pattern, description, flags=re.DOTALL) if found and description else None
    return [each.strip() for each in match.groups()] if match else [""] * len(found)


def _person_side(name: str, hashed: str, sheet: MatchSheet) -> Side:
    """By the hash, which is one player's; by the name, where no namesake is on the other side."""
    for player in sheet.players:
        if hashed and player.hash == hashed:
            return player.side
    players = {each.side for each in sheet.players if name in (each.name, each.short_name, each.long_name)}
    coaches = {each.side for each in sheet.coaches if each.name == name}
    bearers = (players or coaches) if name else set()
    return bearers.pop() if len(bearers) == 1 else Side.NONE


def find(text: str, sheet: MatchSheet, description: str = "", identified: str = "") -> tuple[Placeholder, ...]:
    """The placeholders of a caption in order, with name and side where the source's own texts tell them.

    A team's side follows from its name, a person's from the match sheet or from the team named right behind in
    parentheses, as in '[PLAYER] ([TEAM])'.
    """
    places = list(TOKEN.finditer(text))
    names = _names(text, description)
    people = iter(_HASHED.findall(identified) if len(_HASHED.findall(identified)) == _people(places) else ())
    made: list[Placeholder] = []
    for place, name in zip(places, names, strict=True):
        token = place[0]
        hashed = next(people, ("", ""))[1] if token in ("[PLAYER]", "[COACH]") else ""
        side = Side.NONE
        if token == "[TEAM]":
            side = side_of_team(name, sheet)
        elif token in ("[PLAYER]", "[COACH]"):
            side = _person_side(name, hashed, sheet)
        made.append(Placeholder(token=token, side=side, name=name))
    for index in range(len(made) - 1):
        beside = text[places[index].end() : places[index + 1].start()] == " ("
        if beside and made[index + 1].token == "[TEAM]" and made[index].side is Side.NONE:
            made[index] = Placeholder(token=made[index].token, side=made[index + 1].side, name=made[index].name)
    return tuple(made)


def _people(places: Sequence[re.Match[str]]) -> int:
    return sum(place[0] in ("[PLAYER]", "[COACH]") for place in places)


def fill(text: str, placeholders: Sequence[Placeholder]) -> str:
    """The text with the names that are known; a placeholder without a name stays."""
    names = iter(placeholders)

    def name(place: re.Match[str]) -> str:
        known = next(names, None)
        return place[0] if known is None or not known.name else known.name

    return TOKEN.sub(name, text)

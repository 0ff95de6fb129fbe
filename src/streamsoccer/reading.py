# ruff: noqa: E501
"""A text as patterns see it: sentence by sentence, who is mentioned, on whose side, and who does what."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from streamsoccer.domain import MatchSheet, Placeholder, Side

__all__ = ["Mention", "Reading", "Sentence", "read", "sentences", "value"]


# A mention is one character of the text that patterns see: a player, team, coach or referee, an unnamed opponent of
# whoever the sentence is about, or an unnamed goalkeeper.
PLAYER, TEAM, _C, REFEREE, OPPONENT, _K = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
_TOKEN = {"[PLAYER]": PLAYER, "[TEAM]": TEAM, "[COACH]": _C, "[REFEREE]": REFEREE}
_PLACE = re.compile(r"\[(PLAYER|TEAM|COACH|REFEREE)(?:_[^\]\s]*)?\]")
_OPPONENT = re.compile(
    r"\b(?:(?:the |their |his |an? |one of (?:the |his |their )?)?(?:opposition(?:'s)?(?: (?:defen[cs]e|defenders?|players?|"
    r"team|side))?|oppos(?:ing|ition) (?:players?|defenders?|team|side|defen[cs]e)|opponents?(?:'s?)?|defending (?:players?|team|side)|"
    r"(?:other|defending) (?:team|side)|(?:visiting|home|near|last|covering)? ?(?:defenders?|centre-backs?|full-backs?)|"
    r"(?:back line|rearguard|defen[cs]e)(?! is in)))(?![\w-])"
)
_KEEPER = re.compile(
    r"\b(?:the |an? )?(?:opposition |opposing |opponent's |rival )?(?:goalkeeper|keeper|goalie|shot-stopper)(?:'s)?\b"
)


SOMEONE = f"[{PLAYER}{TEAM}{_C}{OPPONENT}{_K}]"
NAMED = PLAYER + TEAM + _C
_ANY = NAMED + OPPONENT + _K


@dataclass(slots=True)
class Mention:
    char: str
    start: int
    end: int
    side: Side
    name: str = ""
    torn: bool = False  # the text names a side for him that is not his on the match sheet


@dataclass(slots=True)
class Reading:
    """The text as patterns see it: lower case, one character a mention, and the way back to the source."""

    source: str
    masked: str
    places: list[int]
    mentions: dict[int, Mention]

    def span(self, start: int, end: int) -> tuple[int, int]:
        last = self.mentions.get(end - 1)
        return self.places[start], last.end if last is not None else self.places[end - 1] + 1


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(each for each in folded if not unicodedata.combining(each)).strip()


@lru_cache(maxsize=64)
def _names(sheet: MatchSheet) -> tuple[re.Pattern[str] | None, Mapping[str, tuple[str, Side, str]]]:
    """A pattern of every name on the sheet, longest first, and whose it is; a name that two have tells no side."""
    known: dict[str, tuple[str, Side, str]] = {}
    shared: set[str] = set()

    def add(name: str, char: str, side: Side, full: str) -> None:
        name = name.strip()
        if len(name) < 3 or name in shared:
            return
        if name in known and known[name][1:] != (side, full):
            known[name] = (char, Side.NONE, full if known[name][2] == full else "")
            shared.add(name)
        else:
            known[name] = (char, side, full)

    for side in (Side.HOME, Side.AWAY):
        team = sheet.team(side)
        add(team, TEAM, side, team)
        for word in (team.split()[0], team.split()[-1]) if len(team.split()) > 1 else ():
            if len(word) > 3 and word.lower() not in _COMMON:
                add(word, TEAM, side, team)
    for player in sheet.players:
        for name in dict.fromkeys((player.name, player.long_name, player.short_name)):
            add(name, PLAYER, player.side, player.name)
    for player in sheet.players:
        if len(last := player.name.split()[-1] if player.name.split() else "") > 3:
            add(last, PLAYER, player.side, player.name)
    for coach in sheet.coaches:
        add(coach.name, _C, coach.side, coach.name)
    add(sheet.referee, REFEREE, Side.NONE, sheet.referee)
    if not known:
        return None, known
    ordered = sorted(known, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)"), known


_COMMON = frozenset(
    [
        "united",
        "city",
        "town",
        "rovers",
        "athletic",
        "real",
        "sporting",
        "club",
        "county",
        "wanderers",
        "albion",
        "inter",
        "dynamo",
        "olympic",
        "union",
    ]
)


def read(text: str, sheet: MatchSheet | None, placeholders: Sequence[Placeholder]) -> Reading:
    found: list[Mention] = []
    for number, match in enumerate(_PLACE.finditer(text)):
        known = placeholders[number] if number < len(placeholders) else None
        found.append(
            Mention(
                _TOKEN[f"[{match[1]}]"],
                *match.span(),
                known.side if known else Side.NONE,
                known.name if known else "",
            )
        )
    if sheet is not None and not found:
        pattern, known_names = _names(sheet)
        for match in pattern.finditer(text) if pattern else ():
            char, side, full = known_names[match[0]]
            found.append(Mention(char, *match.span(), side, full))
    taken = [(each.start, each.end) for each in found]
    lower = "".join(low if len(low := each.lower()) == 1 else each for each in text)
    for pattern, char in ((_OPPONENT, OPPONENT), (_KEEPER, _K)):
        for match in pattern.finditer(lower):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                found.append(Mention(char, *match.span(), Side.NONE))
                taken.append(match.span())
    found.sort(key=lambda each: each.start)
    merged: list[Mention] = []
    for each in found:  # a team in parentheses belongs to the name in front of it
        if (
            merged
            and each.char == TEAM
            and merged[-1].char in (PLAYER, _C)
            and text[merged[-1].end : each.start] == " ("
            and text[each.end : each.end + 1] == ")"
        ):
            before = merged[-1]
            side = before.side if each.side is Side.NONE else each.side
            torn = before.side not in (Side.NONE, side)
            merged[-1] = Mention(before.char, before.start, each.end + 1, side, before.name, torn)
        else:
            merged.append(each)
    masked: list[str] = []
    places: list[int] = []
    mentions: dict[int, Mention] = {}
    here = 0
    for each in [*merged, Mention("", len(text), len(text), Side.NONE)]:
        masked.extend(lower[here : each.start].replace("’", "'").replace("–", "-"))
        places.extend(range(here, each.start))
        if each.char:
            mentions[len(masked)] = each
            masked.append(each.char)
            places.append(each.start)
        here = each.end
    return Reading(text, "".join(masked), places, mentions)


NUMBERS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
NUMBER = rf"(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}|\d{{1,2}})"
ORDINAL = rf"(?:{'|'.join(sorted(ORDINALS, key=len, reverse=True))}|\d{{1,2}}(?:st|nd|rd|th))"


def value(word: str) -> int:
    """The number that a word or figure names."""
    if word in ("twice", "thrice"):
        return 2 if word == "twice" else 3
    if word in NUMBERS:
        return NUMBERS.index(word) + 1
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return int(re.sub(r"\D", "", word) or 0)


BOUNDARY = re.compile(r"[.!?]+(?:[\"')]*)(?=\s|$)")
PRONOUN = re.compile(r"\b(?:(?P<one>he|his|him|himself)|they|their|them|themselves)\b")
_OBJECT = re.compile(
    r"\b(?:foul(?:s|ed|ing)?|on|down|tripp?(?:s|ing|ed)?|back|into|hack\w*|catch(?:es|ing)?|clip(?:s|ping)?|challeng\w+|tackl\w+|"
    r"upend\w*|past|beats?|fell(?:s|ing)|shov\w+|push\w*|kick\w*|barg\w+|chops?|stop\w*|den\w+|pull\w*|hold\w*|with|against|for|replac\w+)\s$"
)
# What stands in front of a subject: the start of a clause.
_SUBJECT = re.compile(
    r"(?:^\W*|[,;:] |\b(?:but|and|yet|although|(?P<under>as|after|when|while|before|until|because|if|with|once|where|though)) )(?:the )?$"
)


@dataclass(slots=True)
class Sentence:
    """One sentence of a reading, and whom the text was about before it."""

    reading: Reading
    start: int
    end: int
    topic: Mention | None
    person: Mention | None  # whom 'he' means

    @property
    def text(self) -> str:
        return self.reading.masked[self.start : self.end]

    def mentions(self, kinds: str) -> list[tuple[int, Mention]]:
        return [
            (place - self.start, each)
            for place, each in self.reading.mentions.items()
            if self.start <= place < self.end and each.char in kinds
        ]

    def main(self, place: int, kinds: str = NAMED) -> Mention | None:
        """Whoever does something there: the nearest name in front that is nobody's object, else a pronoun's, else one after."""
        named = [(at, each) for at, each in self.mentions(kinds) if each.side is not Side.NONE]
        before = [(at, each) for at, each in named if at < place]
        subjects = [(at, each) for at, each in before if self._leads(at, place)] or [
            (at, each) for at, each in before if not _OBJECT.search(self.text[:at])
        ]
        if subjects:
            return subjects[-1][1]
        if before:
            return before[-1][1]
        after = [each for at, each in named if at > place]
        if after and not PRONOUN.search(self.text[:place]):
            return after[0]
        pronoun = PRONOUN.search(self.text)
        if pronoun is None:
            return None
        return self.person if pronoun["one"] and self.person is not None else self.topic

    def _leads(self, at: int, place: int) -> bool:
        """Is this mention the subject there? One of a subordinate clause is so up to the next comma."""
        if self.text.startswith((", who", " who"), at + 1):
            return True
        found = _SUBJECT.search(self.text[:at])
        return found is not None and not (found["under"] and ", " in self.text[at:place])

    def side_of(self, place: int, mention: Mention) -> Side:
        """A name's side; an unnamed opponent or goalkeeper is on the side opposed to whom the sentence is about."""
        if mention.char in NAMED:
            return mention.side
        around = self.text
        if (beside := re.search(rf"([{NAMED}])(?:'s?)? ?$", around[:place])) is not None:
            return self._named(beside.start(1))
        if (behind := re.match(rf" (?:of|for|from) (?:the )?([{NAMED}])", around[place + 1 :])) is not None:
            return self._named(place + 1 + behind.start(1))
        main = self.main(place) or self.topic
        return Side.NONE if main is None else main.side.other

    def _named(self, place: int) -> Side:
        return self.reading.mentions[self.start + place].side

    def plainly(self, who: Mention, place: int) -> bool:
        """No pronoun stands between a name and what he does, so that it is he and no other."""
        start = next((at for at, each in self.mentions(PLAYER) if each is who), None)
        return start is not None and PRONOUN.search(self.text[min(start, place) : max(start, place)]) is None

    def at(self, place: int) -> Mention:
        return self.reading.mentions[self.start + place]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self.reading.span(self.start + start, self.start + end)


def sentences(reading: Reading) -> Iterator[Sentence]:
    here, topic, person = 0, None, None
    ends = [match.end() for match in BOUNDARY.finditer(reading.masked)]
    for end in [*ends, len(reading.masked)]:
        sentence = Sentence(reading, here, end, topic, person)
        if sentence.text.strip():
            yield sentence
            named = [each for at, each in sentence.mentions(NAMED) if each.side is not Side.NONE]
            topic = named[0] if named else topic
            person = next((each for each in named if each.char == PLAYER), person)
        here = end

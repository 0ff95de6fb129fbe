# ruff: noqa: E501
"""Makes true sentences false by word and figure, knowing English and the two teams, and nothing of how they were made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamsoccer.domain import MatchSheet, Side

__all__ = ["falsified"]

_ORDINALS = [
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
_NUMBERS = [
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
_THING = r"(?= (?:corners?|yellow cards?|fouls?|offsides?|goals?\b(?! of)|substitutions?|changes?|bookings?|minutes? of added)\b)"
# What is said of an ending, and another ending in its place.
_OUTCOMES: tuple[tuple[str, str], ...] = (
    (r"\bwide of the (?:(?:left|right|near|far) )?(?:post|upright|goal|target|mark)\b", "over the bar"),
    (r"\bover the (?:cross)?bar\b", "wide of the post"),
    (r"\bover the top\b(?! of)", "wide of the post"),
    (r"\b(?:makes|produces|pulls off) an? [\w-]+ save\b", "blocks the shot"),
    (r"\bit is saved by\b", "it is blocked by"),
    (r"\bis saved by\b", "is blocked by"),
    (r"\b(effort|shot|strike|drive|header|attempt|volley) is (?:\w+ )?blocked\b", r"\1 is saved"),
    (r"\bblocks the (?:effort|shot|strike|drive|header|attempt|volley|low shot|piledriver)\b", "makes a fine save"),
    (r"\b(?:against|off|hits|rattles|strikes|clips|shakes|kisses) the (?:post|bar|crossbar|woodwork|upright|frame of the goal)\b", "over the bar"),
    (r"\binto the (?:back of the )?net\b", "wide of the post"),
    (r"\b(?:heads|slots the ball|nods the ball|strokes the ball) home\b", "sends it over the bar"),
    (r"\byellow card\b", "red card"),
    (r"\bbooked\b(?! earlier)", "sent off"),
    (r"\bred card\b", "yellow card"),
    (r"\bpenalty\b(?! area| box| spot)", "corner"),
    (r"\b[Ff]ree kick\b", "penalty"),
    (r"\b(?:(?:rightly|correctly) )?(?:caught|flagged|given|adjudged|ruled|deemed to be|found to be|signalled) offside\b", "fouled"),
    (r"\bfor offside\b", "for a handball"),
    (r"\bsignals offside\b", "signals a foul"),
    (r"\bOffside against\b", "Foul by"),
    (r"\bcorner\b(?! of)", "penalty"),
    (r"\bgoal kick\b", "corner"),
    (r"\b[Tt]hrow-in\b", "corner"),
)  # fmt: skip


def falsified(text: str, sheet: MatchSheet) -> Iterator[tuple[str, str]]:
    """False versions of a true text, each with the kind of change: side, outcome, count or score."""
    yield from _swapped(text, sheet)
    for pattern, other in _OUTCOMES:
        if re.search(pattern, text):
            yield "outcome", re.sub(pattern, other, text)
    for words in (_ORDINALS, _NUMBERS):
        for place in re.finditer(rf"\b({'|'.join(words)})\b{_THING}", text):
            at = words.index(place[1])
            for near in {at - 1, at + 1} & set(range(len(words))):
                if words is _NUMBERS and near == 0:
                    continue  # 'one corners'
                yield "count", text[: place.start()] + words[near] + text[place.end() :]
    for place in re.finditer(r"\b(\d+)-(\d+)\b", text):
        for home, away in ((1, 0), (0, 1)):
            score = f"{int(place[1]) + home}-{int(place[2]) + away}"
            yield "score", text[: place.start()] + score + text[place.end() :]
    for place in re.finditer(r"\b(two|three|four)(?=[ -]goals? (?:up|lead|ahead|down))", text):
        yield "score", text[: place.start()] + _NUMBERS[_NUMBERS.index(place[1]) + 1] + text[place.end() :]


def _swapped(text: str, sheet: MatchSheet) -> Iterator[tuple[str, str]]:
    """The teams change places; once with the names of the players as they are, once with others' in their place."""
    teams = {sheet.home: sheet.away, sheet.away: sheet.home}
    names = re.compile("|".join(re.escape(each) for each in sorted(teams, key=len, reverse=True)))
    swapped = names.sub(lambda found: teams[found[0]], text)
    if swapped != text:
        yield "side", swapped
    squads = {side: [each.name for each in sheet.players if each.side is side] for side in (Side.HOME, Side.AWAY)}
    coaches = {each.side: each.name for each in sheet.coaches}
    other = dict(zip(squads[Side.HOME], squads[Side.AWAY], strict=True))
    other[coaches[Side.HOME]] = coaches[Side.AWAY]
    shared = set(other) & set(other.values())
    other |= {theirs: mine for mine, theirs in other.items()}
    people = re.compile(r"\b(?:" + "|".join(re.escape(each) for each in sorted(other, key=len, reverse=True)) + r")\b")
    both = people.sub(lambda found: other[found[0]], swapped)
    if both != swapped and not any(each in text for each in shared):
        yield "side", both

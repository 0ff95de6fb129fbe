"""Does a rephrased sentence still say the same: the same teams, numbers, times, actions and score?"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["facts", "tag", "untag", "what_changed"]

_TOKEN = re.compile(r"\[(PLAYER|TEAM|COACH|REFEREE)\]")
_TAG = re.compile(r"\[(PLAYER|TEAM|COACH|REFEREE)_(\d+)\]")
_SCORE = re.compile(r"\b(\d{1,2})\s?[-–:]\s?(\d{1,2})\b|\b(?:nil|\w+)[- ]nil\b|\bgoalless\b")
_CARDINALS = {
    word: number for number, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven"))
}
_CARDINALS |= {
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "dozen": 12,
    "once": 1,
    "twice": 2,
    "pair": 2,
}
_CARDINALS |= {"couple": 2, "double": 2, "brace": 2, "thrice": 3, "trio": 3, "triple": 3, "treble": 3, "hat-trick": 3}
_MANY = frozenset({"many", "several", "numerous", "few"})
_ORDINALS = {
    word: number
    for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=1
    )
}
_WORD = re.compile(r"\d+(?:st|nd|rd|th)?|hat-trick|[a-z]+")
# Each pattern names a thing that a sentence can claim; words of one meaning stand in one pattern.
_ACTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("own goal", r"own goal"),
        ("goal", r"\bgoals?\b(?! ?-?(?:kick|keep|mouth|post|line))|\bscor(?:e|es|ed|er|ing)\b|\bnets?\b|\bnetted\b"),
        ("shot on target", r"\bon[- ]target\b"),
        ("shot off target", r"\boff[- ]target\b|\bwide\b"),
        ("corner", r"\bcorners?\b"),
        ("foul", r"\bfoul\w*"),
        ("offside", r"\boff-?\s?side\w*"),
        ("penalty", r"\bpenalt\w+|\bspot[- ]kick"),
        ("second booking", r"second (?:bookings?|yellow)"),
        ("yellow card", r"\byellow|\bbook(?:ed|ings?)\b|\bcaution\w*"),
        ("red card", r"\bred card|\bsent off\b|\bsending[- ]off|\bdismiss\w*|\bsees? red"),
        ("card", r"\bcards?\b"),
        ("substitution", r"\bsubstitut\w+|\bsubs?\b"),
        ("free kick", r"\bfree[- ]kicks?"),
        ("direct", r"\bdirect\b"),
        ("indirect", r"\bindirect\b"),
        ("throw-in", r"\bthrow[- ]?ins?"),
        ("clearance", r"\bclear(?:s|ed|ance|ances|ing)?\b"),
        ("save", r"\bsave[sd]?\b|\bsaving\b"),
        ("injury", r"\binjur\w+"),
        ("win", r"\b(?:win|wins|won|lead|leads|led|ahead|equalis\w+|equaliz\w+|level)\b"),
    )
)
_SPAN = re.compile(r"\b\w+ minutes?\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|without|none|neither|nor|fail\w*|deni\w+)\b|n't\b")
_TIMES = re.compile(r"\b(minutes?|hours?|half|halves|match|game|stoppage|extra time|since|ago)\b")
_TIME_WORDS = {"minutes": "minute", "hours": "hour", "halves": "half", "game": "match"}


def tag(target: str) -> str:
    """The sentence with its placeholders numbered in order, as [TEAM_1], so that each can be told from the others."""
    numbers = iter(range(1, target.count("[") + 1))
    return _TOKEN.sub(lambda place: f"[{place[1]}_{next(numbers)}]", target)


def untag(reply: str) -> tuple[str, list[int]]:
    """The sentence with plain placeholders again, and which of the original's each of them is, counted from 0."""
    return _TAG.sub(r"[\1]", reply), [int(place[2]) - 1 for place in _TAG.finditer(reply)]


def _number(word: str) -> str | None:
    """A word's number, an ordinal's with a dot; 'one shot' and 'a shot' say the same, so one is none."""
    if word in _CARDINALS:
        return None if _CARDINALS[word] == 1 else str(_CARDINALS[word])
    if word in _ORDINALS:
        return f"{_ORDINALS[word]}."
    if word in _MANY:
        return "many"
    if word[0].isdigit():
        return word if word.isdigit() else f"{word[:-2]}."
    return None


def facts(text: str) -> dict[str, Counter[str]]:
    """What a sentence, or a part of one, claims: its scores, numbers, words of time, actions and negations."""
    lowered = _TAG.sub(" ", text).lower()
    scores = Counter(re.sub(r"\s|–|:", "-", place[0]) for place in _SCORE.finditer(lowered))
    lowered = _SCORE.sub(" ", lowered)
    numbers = Counter(number for word in _WORD.findall(lowered) if (number := _number(word)) is not None)
    return {
        "score": scores,
        "number": numbers,
        "time": Counter({_TIME_WORDS.get(place, place): 1 for place in _TIMES.findall(lowered)}),
        "action": Counter({name: 1 for name, pattern in _ACTIONS if pattern.search(lowered)}),
        "negation": Counter({"not": 1} if _NEGATION.search(lowered) else {}),
    }


def _by_team(text: str) -> list[tuple[str, Counter[str], Counter[str]]]:
    """What is said of each team, in order: the actions and numbers between its placeholder and the next team's.

    'In the last three minutes' is of no team and may move, so it is taken out first.
    """
    text = _SPAN.sub(" ", text)
    places = [place for place in _TAG.finditer(text) if place[1] == "TEAM"]
    ends = [*(place.start() for place in places[1:]), len(text)]
    told = []
    for place, end in zip(places, ends, strict=True):
        claimed = facts(text[place.end() : end])
        told.append((place[0], claimed["action"], claimed["number"] + claimed["score"]))
    return told


def what_changed(tagged: str, reply: str) -> str | None:
    """Why the reply may not stand for the tagged sentence, in one word, or None where it may."""
    if not reply or "\n" in reply or len(reply.split()) > 2 * len(tagged.split()) + 8:
        return "no_sentence"
    if sorted(_TAG.findall(tagged)) != sorted(_TAG.findall(reply)) or "[" in _TAG.sub("", reply):
        return "placeholder"
    before, after = facts(tagged), facts(reply)
    for name in ("score", "number", "time", "action", "negation"):
        if before[name] != after[name]:
            return name
    if [place[1] for place in _TAG.finditer(tagged)].count("TEAM") > 1 and _by_team(tagged) != _by_team(reply):
        return "team"
    known = {word.lower() for word in re.findall(r"[^\W\d_]+", tagged)}
    for place in re.finditer(r"(?<![.!?:;] )(?<!^)\b([^\W\d_]+)\b", _TAG.sub("x", reply)):
        if place[1][0].isupper() and place[1].lower() not in known:
            return "name"
    return None

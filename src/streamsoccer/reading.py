"""A sentence as patterns see it: who is mentioned and on whose side, and the many ways to say that something happened."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from streamsoccer.domain import MatchSheet, Placeholder, Side

__all__ = ["Act", "Mention", "Outcome", "Reading", "Rule", "read"]


class Act(StrEnum):
    """What someone does."""

    GOAL = "goal"
    SHOT = "shot"
    CORNER = "corner"
    FREE_KICK = "free kick"
    THROW_IN = "throw-in"
    GOAL_KICK = "goal kick"
    PENALTY = "penalty"
    FOUL = "foul"
    OFFSIDE = "offside"
    YELLOW = "yellow card"
    SECOND_YELLOW = "second yellow card"
    RED = "red card"
    SUBSTITUTION = "substitution"
    INJURY = "injury"
    CLEARANCE = "clearance"
    INTERCEPTION = "interception"
    KEEPER = "goalkeeper takes the ball"  # a cross or a loose ball; a shot that he stops is a SHOT, SAVED
    CROSS = "cross"
    POSSESSION = "possession"
    HALF_START = "start of half"
    HALF_END = "end of half"
    ADDED_TIME = "added time"


class Outcome(StrEnum):
    """How a shot ended; the two coarse ones are all that SoccerNet's labels tell."""

    GOAL = "goal"
    ON_TARGET = "on target"
    SAVED = "saved"
    OFF_TARGET = "off target"
    WIDE = "wide"
    OVER = "over"
    WOODWORK = "woodwork"
    BLOCKED = "blocked"


# A mention is one character of the text that patterns see: a player, team, coach or referee, an unnamed opponent of
# whoever the sentence is about, or an unnamed goalkeeper.
PLAYER, TEAM, _C, _R, _X, _K = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
_TOKEN = {"[PLAYER]": PLAYER, "[TEAM]": TEAM, "[COACH]": _C, "[REFEREE]": _R}
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
    add(sheet.referee, _R, Side.NONE, sheet.referee)
    if not known:
        return None, known
    ordered = sorted(known, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)"), known


_COMMON = frozenset(
    "united city town rovers athletic real sporting club county wanderers albion inter dynamo olympic union".split()
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
    for pattern, char in ((_OPPONENT, _X), (_KEEPER, _K)):
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


SOMEONE = f"[{PLAYER}{TEAM}{_C}{_X}{_K}]"
NAMED = PLAYER + TEAM + _C
_ANY = NAMED + _X + _K


def value(word: str) -> int:
    """The number that a word or figure names."""
    if word in ("twice", "thrice"):
        return 2 if word == "twice" else 3
    if word in NUMBERS:
        return NUMBERS.index(word) + 1
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return int(re.sub(r"\D", "", word) or 0)


_BY = rf"(?P<by>{SOMEONE})"
_VS = rf"(?P<vs>{SOMEONE})"
NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
NUMBER = rf"(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}|\d{{1,2}})"
ORDINAL = rf"(?:{'|'.join(sorted(ORDINALS, key=len, reverse=True))}|\d{{1,2}}(?:st|nd|rd|th))"
BOUNDARY = re.compile(r"[.!?]+(?:[\"')]*)(?=\s|$)")
CLAUSE = re.compile(r"[,;:]\s| but | however | and | as | - ")
PRONOUN = re.compile(r"\b(?:(?P<one>he|his|him|himself)|they|their|them|themselves)\b")
# What stands before an action in its clause when it did not happen, or not yet.
HEDGE = re.compile(
    r"\b(?:attempt(?:s|ed|ing)?|tr(?:y|ies|ied|ying)|fail(?:s|ed|ing)?|unable|can't|cannot|couldn't|can not|wo(?:uld|n't)|could|should|might|may|"
    r"if|almost|nearly|disallow\w*|want\w*|hop(?:e|es|ed|ing)|look(?:s|ed|ing)? (?:to|for)|instead of|rather than|without|"
    r"thinks?|not|n't|no|never|prevent\w*|avoid\w*|threaten\w*|search(?:ing)? (?:of|for)|chasing|push(?:ing)? for|need|"
    r"appeal\w*|claims? for|demand\w*|opportunit\w+|chances?|way|danger(?:ous)? of|risk\w*|lucky|close|inches from|yards? from|kept? (?:\w+ ){0,3}out of|keep\w* (?:\w+ ){0,3}out of)\b"
)
OVERRULED = re.compile(r"disallow|ruled out|chalked off|does not count|doesn't count|off-?side")
SCORE_HEDGE = re.compile(
    r"\b(?:look\w* for|search\w* (?:of|for)|chas(?:e|ing)|push\w* for|need|want|hunt\w* for|press\w* for|after)\b[^.]*$"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to say that something happened; `role` says whose it is where the pattern names nobody as by or vs."""

    act: Act
    outcome: Outcome | None
    pattern: re.Pattern[str]
    role: str  # main: whoever does something to this place; other: not he; last: the nearest mention; foe: not that one
    hedged: bool = True
    tidy: re.Pattern[str] | None = None  # what must not stand right before


def _rule(
    act: Act, outcome: Outcome | None, pattern: str, role: str, hedged: bool = True, tidy: str | None = None
) -> Rule:
    for name in ("by", "vs"):  # a group's name stands once in a pattern
        parts = pattern.split(f"(?P<{name}>")
        pattern = parts[0] + "".join(f"(?P<{name}{number}>{part}" for number, part in enumerate(parts[1:]))
    made = re.compile(tidy + r"\s*$") if tidy else None
    return Rule(act, outcome, re.compile(pattern), role, hedged, made)


_PLACE_CORNER = r"(?:top|bottom|upper|lower|left|right|hand|far|near|opposite|into the|towards the|inside the|to the)"
_GIVE_UP = r"(?:conced\w+|gives? away|gave away|giving away|at the (?:expense|cost|price) of|surrender\w*)"
_EFFORT = r"(?:shot|effort|strike|volley|drive|header|attempt|free kick|half-volley|piledriver|snapshot)"
_OUT = r"(?:puts?|turns?|heads?|deflects?|tips?|push(?:es)?|knocks?|hooks?|touch(?:es)?|diverts?|beats?|pokes?|slices?|nods?|steers?|bundles?|hacks?|palms?|fists?|flicks?)"
_PENALTY = r"(?:\bpenalt(?:y|ies)(?! (?:area|box|spot|arc))|\bspot[- ]kick|from the (?:penalty )?spot\b)"
_SAVES = r"(?:saves|den(?:ies|ied)|parr(?:ies|ied)|smothers|(?:stops|thwarts|foils|repels) (?:the|his) (?:shot|effort|strike|header|volley|drive|attempt)|tips|palms (?:it|the ball|the \w+ away)|keeps (?:it|the (?:ball|effort|shot)|\w+ (?:shot|effort|header)) out|gets? (?:a (?:\w+ )?(?:hand|glove|fingertip)|down|across) to)"

RULES: tuple[Rule, ...] = (
    _rule(Act.GOAL, Outcome.GOAL, rf"\bgoals? (?:by|from|for|scored by) (?:the )?{_BY}", "main"),
    _rule(
        Act.GOAL,
        Outcome.GOAL,
        r"(?<!to )\b(?:scores|scored|nets|netted|equali[sz]es|equali[sz]ed|converts|converted)\b",
        "main",
    ),
    _rule(
        Act.GOAL,
        Outcome.GOAL,
        r"(?:\binto|\bin|\bfinds?|\bfound|\bhits?|\bripples?|\bbulges?) (?:the )?(?:far |near |left |right |open |empty |unguarded |gaping |back of the |roof of the |top of the |middle of the |corner of the |(?:\w+ ){1,3}of the )?net\b",
        "main",
    ),
    _rule(
        Act.GOAL,
        Outcome.GOAL,
        r"\bmakes? it (?=\d)|\b(?:fires?|fired|heads?|headed|slots?|slotted|taps?|tapped|strokes?|sweeps?|swept|drills?|drilled|pokes?|nods?|nodded|volleys?|rifles?|steers?|slams?|slammed|bundles?|rolls?|rolled|thunders?|buries|buried) (?:it |the ball |the rebound )?home\b",
        "main",
    ),
    _rule(Act.GOAL, Outcome.GOAL, r"(?:^|\. |\b(?:what a|fantastic|great|superb) )goal(?=[!:.]| - \d)", "none"),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        rf"\b(?:saved|stopped|denied|kept out|parried|thwarted|smothered|repelled|palmed away|tipped \w+) by (?:an? (?:\w+ )?save (?:from|by) )?{_VS}",
        "main",
        False,
    ),
    _rule(Act.SHOT, Outcome.SAVED, rf"\b(?:deny|denies|denied|denying|thwarts?|foils?) {_BY}", "none", False),
    _rule(Act.SHOT, Outcome.SAVED, rf"\bsave (?:from|by) {_VS}", "main"),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        rf"{_VS}(?:'s)?,?(?: (?:\w+|is alert,? though,?)){{0,3}}? (?:makes?|made|pulls? off|pulled off|produces?|produced|comes up with)(?: \w+){{0,4}} (?:save|stop)\b",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        rf"\bforc(?:es?|ed|ing) {_VS}(?: \w+){{0,3}} (?:save|stop|parry|action)",
        "main",
        False,
    ),
    _rule(Act.SHOT, Outcome.SAVED, rf"\b{_SAVES}\b(?! the referee)(?! play)(?! the game)", "foe"),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        rf"\b(?:is|are|was|gets?|sees? (?:his|the|their) (?:\w+ )*{_EFFORT})(?: \w+ly)?(?: well)? (?:saved|kept out|parried|palmed away|beaten away|tipped (?:over|wide|round|away))(?! by)",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.WIDE,
        rf"(?<!from )(?<!out )(?<!stretching )\bwide(?= of| past|[.,!]|$| from| when| after| and the ball)|\bpast the (?:\w+[- ]){{0,3}}(?:post|upright)\b|{_EFFORT} (?:goes |flies |is |drifts |was )?(?:\w+ )?wide\b|\b(?:goes|flies|drifts|sails|rolls|fizzes|whistles|dribbles|drags|skims|is|was|it) (?:\w+ ){{0,2}}wide\b",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.OVER,
        r"\b(?:over|above) (?:the )?(?:cross-?bar|bar|top(?! of)|woodwork)\b|\binto (?:the (?:stands?|upper tier)|row z|orbit)\b",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.WOODWORK,
        r"(?:\bhit(?:s|ting)?|strik(?:es|ing)|struck|rattl(?:es|ed)|crash(?:es|ed)(?: back)?(?: against| off)|cann?on(?:s|ed)(?: back)? (?:off|against)|smack(?:s|ed)|thud(?:s|ded) (?:against|into)|bounc(?:es|ed)(?: back)? off|comes? (?:back )?off|clips?|clipped|kiss(?:es|ed)|against|finds only|rebounds? (?:off|from)|cracks?(?: against)?|shakes?|denied by|saved by) (?:the |a |his )?(?:\w+ of the )?(?:\w+[- ]){0,2}(?:post|cross-?bar|bar|woodwork|upright|frame)\b|^(?:off the )?(?:post|bar|woodwork)!",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.BLOCKED,
        rf"{_EFFORT}s?(?: at goal| from \w+(?: \w+){{0,5}})?,?(?: (?:is|was|gets|but it's|but it is|which is|being))?(?: \w+ly)?(?: well)? (?:blocked|charged down)\b|{_EFFORT}[^.]*\bit(?:'s| is| was) (?:\w+ly )?blocked\b|(?:into|hits?|against) the (?:\w+ )?wall\b|\bsmothered by the wall|blocked by the (?:\w+ )?wall",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        r"\b(?:makes?|made|pulls? off|pulled off|produces?|produced|comes up with)(?: \w+){0,4} save\b",
        "other",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.BLOCKED,
        rf"\bblock(?:s|ed)? (?:his|the|their|an?|{PLAYER}'s) (?:\w+ )?{_EFFORT}\b",
        "foe",
        False,
    ),
    _rule(
        Act.CORNER,
        None,
        rf"\b{_GIVE_UP}(?: {SOMEONE})?(?: \w+){{0,3}}? corners?\b|{_VS}(?: \w+ly)? {_OUT}\b[^.;]{{0,45}} for (?:a|another|the|their|\w+) corner\b",
        "foe",
        False,
    ),
    _rule(
        Act.CORNER,
        None,
        rf"\bcorners?(?: kick)?s?(?: from the (?:left|right)(?: side| wing| flank)?)? (?:to|for|by|from|goes to|is given to|is awarded to)(?: the)? {_BY}",
        "main",
        False,
        _PLACE_CORNER,
    ),
    _rule(
        Act.CORNER,
        None,
        r"\bcorners?\b(?! flag| arc| quadrant| of the (?:goal|net|pitch|penalty|box|area|six)| (?:kick)?(?: from the (?:left|right)(?: side| wing| flank)?)? (?:to|for|by|from)(?: the)? [\ue000-\ue005])",
        "main",
        True,
        _PLACE_CORNER,
    ),
    _rule(Act.FREE_KICK, None, rf"\b{_GIVE_UP}(?: {SOMEONE})?(?: \w+){{0,3}}? free[- ]kicks?\b", "foe", False),
    _rule(
        Act.FREE_KICK,
        None,
        rf"\bfree[- ]kicks?(?: from the (?:left|right)(?: side| wing| flank)?)? (?:to|for|by|from|goes to|is given to|is awarded to)(?: the)? {_BY}",
        "main",
    ),
    _rule(Act.FREE_KICK, None, r"\bfree[- ]kicks?\b(?! (?:to|for|by|from)(?: the)? [\ue000-\ue005])", "main"),
    _rule(
        Act.THROW_IN,
        None,
        rf"\bthrow-?\s?ins?(?:[^.;,]{{0,30}}? (?:to|for|by|from)(?: the)? {_BY})?",
        "main",
    ),
    _rule(Act.GOAL_KICK, None, rf"\bgoal[- ]kick(?: (?:to|for|by)(?: the)? {_BY})?", "goal kick"),
    _rule(Act.PENALTY, None, rf"\b{_GIVE_UP}(?: {SOMEONE})?(?: \w+){{0,3}}? (?:penalty(?! area| box)|spot[- ]kick)", "foe", False),
    _rule(Act.PENALTY, None, rf"{_PENALTY}(?: kick)?(?:!+)? (?:to|for|by|from|goes to|is given to|is awarded to)(?: the)? {_BY}", "main"),
    _rule(Act.PENALTY, None, _PENALTY + r"(?!(?: kick)?(?:!+)? (?:to|for|by|from)(?: the)? [\ue000-\ue005])", "main"),
    _rule(
        Act.FOUL,
        None,
        rf"\b(?:fouled|brought down|tripped|felled|upended|hacked down|bundled over) by {_BY}|\bfoul (?:\w+ )?(?:by|from) (?:the )?{_BY}|\bfouls? on {_VS}",
        "main",
        False,
    ),
    _rule(
        Act.FOUL,
        None,
        r"\b(?:is|was|been|gets|got|being) (?:\w+ly )?(?:fouled|brought down|tripped|felled|upended|hacked down|bundled over)(?! by)|\b(?:wins?|won|draws?|drew) (?:a|the|another) foul",
        "foe",
        False,
    ),
    _rule(
        Act.FOUL,
        None,
        rf"\bfouls?\b(?! by| from| on| play)|\b(?<!is )(?<!was )(?<!been )(?<!being )(?<!gets )fouled (?=an? |his |the |{PLAYER})|\bpenali[sz]ed\b|\bhandball\b|\bhandles\b|\b(?:brings|pulls|drags|wrestles|hauls) (?:down {SOMEONE}|{SOMEONE} (?:down|back)\b)|\btrips\b|\bupends\b|\bbundles {SOMEONE} over\b",
        "main",
        False,
    ),
    _rule(Act.OFFSIDE, None, rf"\boff-?side\b(?! trap| line)(?: against {_BY})?", "main", False, r"(?:not|never|n't|beats? the|from)"),
    _rule(Act.OFFSIDE, None, r"(?:fails? to (?:beat|spring)|caught in|runs? into|trapped by) the off-?side trap", "main", False),
    _rule(Act.RED, None, rf"\bred(?: card|\b(?= follows))(?: (?:to|for) {_BY})?|\bstraight red|\bsent[- ]off\b|\bsends? (?:{PLAYER}|him) off\b|\bdismiss(?:ed|es|al)\b|\bearly bath|\bmarching orders|\bsees red\b", "main"),
    _rule(
        Act.SECOND_YELLOW,
        None,
        rf"\bsecond (?:yellow(?: card)?|booking|caution|bookable offence)(?: (?:to|for) (?P<by>{PLAYER}))?\b(?! (?:for|to) (?:the )?{TEAM}| of the (?:match|game))|\byellow[^.]*\bsecond one\b",
        "main",
        True,
        rf"(?:\btheir|{TEAM}(?:'s)?|\bteam's|\bside's)",
    ),
    _rule(
        Act.YELLOW,
        None,
        rf"(?<!second )\b(?:yellow[- ]card(?:s|ed)?|yellow\b(?! and| cards?)|booked|booking|cautioned|caution\b|(?:into|in) (?:the )?(?:referee'?s? |{_R}'s )?(?:note)?book\b|takes? (?:the|his) name|books(?= {PLAYER}))(?: (?:goes )?(?:to|for|against) {_BY})?",
        "main",
        False,
    ),
    _rule(
        Act.SUBSTITUTION,
        None,
        r"\bsubstitut\w+|\b(?:brings|sends|sent) on\b|\breplac(?:es?|ed|ing|ement)\b|\bcomes? (?:on|off)\b(?= for| in| to| as|[.,]| with)|\bcom(?:e|ing) on (?:for|in)|\bbrought on\b|\bmak(?:es|ing) way\b|\bon for\b|\bfresh legs\b|\bis (?:withdrawn|taken off|introduced)\b",
        "any",
        False,
    ),
    _rule(
        Act.INJURY,
        None,
        r"\binjur(?:y|ed|ies)\b(?! time)|\bmedical\b|\btreatment\b|\bphysios?\b|\bstretcher|\blimp(?:s|ing)\b|\bin pain\b|\bpick(?:s|ed) up a knock|\bstays? down\b",
        "any",
        False,
    ),
    _rule(
        Act.CLEARANCE,
        None,
        rf"\b(?:cleared|headed (?:clear|away|out)|hacked (?:clear|away)|booted (?:clear|away|upfield))(?: \w+){{0,4}} by (?:the )?{_BY}",
        "none",
        False,
    ),
    _rule(
        Act.CLEARANCE,
        None,
        rf"\b(?:clears|clear (?:it|the|their)|(?:heads?|hooks?|gets?|lumps?|thumps?|knocks?|belts?|pokes?|nods?) (?:it |the ball )?(?:clear|away|out of danger|upfield|to safety)|averts? (?:the|any|all) (?:danger|threat)|hacks? (?:it |the ball )?(?:clear|away)|boots? (?:it |the ball )?(?:clear|away|upfield)|(?:makes?|produces?) (?:a |an |the )?(?:\w+ )?clearance)\b|clearance (?:by|from) {_BY}",
        "last",
        True,
    ),
    _rule(
        Act.CLEARANCE,
        None,
        r"\b(?:(?:is|are|was|gets?|it's|be|being|ball|which is|then|and) (?:\w+ly )?)(?:cleared|headed (?:clear|away|out)|hacked (?:clear|away)|turned away)\b(?!(?: \w+){0,4} by)",
        "other",
        False,
    ),
    _rule(
        Act.INTERCEPTION,
        None,
        rf"\b(?:intercepted|cut out|read|picked off|stolen|dispossessed|robbed|snuffed out)(?: \w+){{0,2}} by (?:the )?{_BY}",
        "none",
        False,
    ),
    _rule(
        Act.INTERCEPTION,
        None,
        r"\b(?:intercepts?|cuts? (?:it |the ball |the pass |the cross )?out|dispossesses|picks (?:it |the pass |the ball )off|steals|robs|wins (?:it|the ball) back|regains?)\b",
        "last",
    ),
    _rule(
        Act.INTERCEPTION,
        None,
        r"\b(?:is|are|was|gets|being) (?:\w+ly )?(?:intercepted|cut out|picked off|snuffed out)\b(?! by)",
        "other",
        False,
    ),
    _rule(
        Act.KEEPER,
        None,
        rf"(?P<by>[{PLAYER}{_K}])(?: \w+ly)?(?: (?:comes off his line|jumps|leaps|rises \w+ \w+ \w+|\w+ \w+ \w+) and)? "
        r"(?:gathers|catches|claims|collects|plucks|grabs|punches) (?:it(?! on)|the (?:ball|cross|corner|delivery|free kick))\b|"
        rf"(?P<by>[{PLAYER}{_K}]) comes off his line|(?:claimed|gathered|caught|collected) by (?P<by>[{PLAYER}{_K}])",
        "none",
        False,
    ),
    _rule(
        Act.CROSS,
        None,
        rf"\bcross(?:es)?\b(?!-?field|-?bar)(?: (?:from|by|delivered by) {_BY})?",
        "main",
        False,
    ),
    _rule(
        Act.POSSESSION,
        None,
        r"\bpossession\b|\b(?:pass(?:es|ing)?|exchang\w+|knock\w*|mov\w+|stroking|spray\w*)(?: \w+){0,3} (?:passes|ball (?:around|about))\b|\bkeep(?:s|ing)? (?:hold of )?(?:the ball|it)(?! out)\b|\bpassing move\b|\bbuild-up play\b",
        "team",
    ),
)

# ruff: noqa: E501
"""The many ways to say that something happened: what each pattern claims, and how it is told whose act it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from streamsoccer.reading import NUMBER, ORDINAL, PLAYER, REFEREE, SOMEONE, TEAM

__all__ = ["CARDS", "RULES", "Act", "Outcome", "Rule", "clause"]

_K = SOMEONE[-2]  # an unnamed goalkeeper


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
    CARD = "card"  # of whichever colour
    SUBSTITUTION = "substitution"
    INJURY = "injury"
    CLEARANCE = "clearance"
    INTERCEPTION = "interception"
    KEEPER = "goalkeeper takes the ball"  # a cross or a loose ball; a shot that he stops is a SHOT, SAVED
    CROSS = "cross"
    PASS = "pass"
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


_BY = rf"(?P<by>{SOMEONE})"
_VS = rf"(?P<vs>{SOMEONE})"
CLAUSE = re.compile(r"[,;:]\s| but | however | and | as | - ")
# What stands before an action in its clause when it did not happen, or not yet.
HEDGE = re.compile(
    r"\b(?:attempt(?:s|ed|ing)?|tr(?:y|ies|ied|ying)|fail(?:s|ed|ing)?|unable|can't|cannot|couldn't|can not|wo(?:uld|n't)|could|should|might|may|"
    r"if|almost|nearly|disallow\w*|want\w*|hop(?:e|es|ed|ing)|look(?:s|ed|ing)? (?:to|for)|instead of|rather than|without|lack(?:s|ed|ing)?|"
    r"thinks?|not|n't|no|never|prevent\w*|avoid\w*|threaten\w*|search(?:ing)? (?:of|for)|chasing|push(?:ing)? for|need|"
    r"appeal\w*|claims? for|demand\w*|opportunit\w+|chances?|way|danger(?:ous)? of|risk\w*|lucky|close|inches from|yards? from|kept? (?:\w+ ){0,3}out of|keep\w* (?:\w+ ){0,3}out of)\b"
)
# What stands right before a noun that names what did not happen: 'no cross this time'.
DENIED = re.compile(r"\b(?:no|without (?:a|an|the|any)|(?:instead of|rather than) (?:a|an|the)) (?:[a-z-]+ )?$")
OVERRULED = re.compile(r"disallow|ruled out|chalked off|does not count|doesn't count")
# An effort can be a pass, too: what stands in a sentence whose effort is no shot, and what makes it one.
PASSING = re.compile(r"\b(?:pass|cross|through ball)\b")
SHOOTING = re.compile(r"\b(?:sho(?:t|ots?)|strikes?|volleys?|head(?:s|er)|drives?|at goal|goalwards|fires?|lets fly)\b")
SCORE_HEDGE = re.compile(
    r"\b(?:look\w* for|search\w* (?:of|for)|chas(?:e|ing)|push\w* for|need|want|hunt\w* for|press\w* for|after)\b[^.]*$"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to say that something happened; `role` says whose it is where the pattern names nobody as by or vs."""

    act: Act
    outcome: Outcome | None
    pattern: re.Pattern[str]
    role: str  # main: whoever does something to this place; other: not he; last: the nearest mention; foe: not that one; saver: the nearest mention saves
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
_ATTACKS = r"(?:(?:press|push|pour|com|surg|stream|driv|throw|go)(?:e?s|e|ing)?(?: \w+){0,2} forwards?|attack(?:s|ing)?|(?:build|pil|keep|heap)(?:s|es?|ing)?(?: \w+){0,2} pressure|lays? siege|swarm(?:s|ing)?|counter(?:s|-?attacks?)?|launch(?:es)? an? (?:[\w-]+ )?attack)"
_SAVES = r"(?:saves|den(?:ies|ied)|parr(?:ies|ied)|smothers|(?:stops|thwarts|foils|repels) (?:the|his) (?:shot|effort|strike|header|volley|drive|attempt)|tips|palms (?:it|the ball|the \w+ away)|keeps (?:it|the (?:ball|effort|shot)|\w+ (?:shot|effort|header)) out|gets? (?:a (?:\w+ )?(?:hand|glove|fingertip)|down|across) to)"

RULES: tuple[Rule, ...] = (
    _rule(Act.GOAL, Outcome.GOAL, rf"\bown goal(?: by {_VS})?|\binto his own (?:net|goal)\b", "other", False),
    _rule(Act.GOAL, Outcome.GOAL, rf"\b(?<!own )goals? (?:by|from|for|scored by) (?:the )?{_BY}", "main"),
    _rule(
        Act.GOAL,
        Outcome.GOAL,
        r"(?<!to )\b(?:scores(?! an own)|scored(?! an own)|nets|netted|equali[sz]es|equali[sz]ed|converts|converted)\b",
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
    _rule(
        Act.GOAL,
        Outcome.GOAL,
        r"\bin the right (?:place|spot)(?: at the right \w+)? to score\b(?![^.]*\bbut\b)",
        "main",
    ),
    _rule(Act.GOAL, Outcome.GOAL, r"(?:^|\. |\b(?:what a|fantastic|great|superb) )goal(?=[!:.]| - \d)", "none"),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        rf"\b(?:saved|stopped|denied|kept out|parried|thwarted|smothered|repelled|palmed away|tipped \w+) by (?:an? (?:\w+ )?save (?:from|by) )?(?P<vs>[{PLAYER}{_K}])",
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
        rf"{_EFFORT}s?(?: at goal| from \w+(?: \w+){{0,5}})?,?(?: (?:is|was|gets|but it's|but it is|which is|being))?(?: \w+ly)?(?: well)? (?:blocked|charged down)\b|(?:{_EFFORT}|shoots|luck|lets fly|foot at it|trigger|volleys|heads|stabs|prods|drills|fires|curls|goalwards|at goal|goes for)\b[^.]*\bit(?:'s| is| was) (?:\w+ly )?blocked\b|(?:into|hits?|against) the (?:\w+ )?wall\b|\bsmothered by the wall|blocked by the (?:\w+ )?wall",
        "main",
        False,
    ),
    _rule(
        Act.SHOT,
        Outcome.SAVED,
        r"\b(?:makes?|made|pulls? off|pulled off|produces?|produced|comes up with)(?: \w+){0,4} save\b",
        "saver",
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
    _rule(
        Act.FREE_KICK,
        None,
        r"\bthe (?:resulting |resultant )?free[- ]kick\b(?! (?:to|for|by|from)(?: the)? [\ue000-\ue005])",
        "main",
        False,
    ),
    _rule(Act.FREE_KICK, None, r"\bfree[- ]kicks?\b(?! (?:to|for|by|from)(?: the)? [\ue000-\ue005])", "main"),
    _rule(
        Act.THROW_IN,
        None,
        rf"\bthrow-?\s?ins?(?:[^.;,]{{0,30}}? (?:to|for|by|from)(?: the)? {_BY})?",
        "main",
    ),
    _rule(Act.GOAL_KICK, None, rf"\bgoal[- ]kick(?: (?:to|for|by)(?: the)? {_BY})?", "goal kick"),
    _rule(
        Act.PENALTY,
        None,
        rf"\b{_GIVE_UP}(?: {SOMEONE})?(?: \w+){{0,3}}? (?:penalty(?! area| box)|spot[- ]kick)",
        "foe",
        False,
    ),
    _rule(
        Act.PENALTY,
        None,
        rf"{_PENALTY}(?: kick)?(?:!+)? (?:to|for|by|from|goes to|is given to|is awarded to)(?: the)? {_BY}",
        "main",
    ),
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
    _rule(
        Act.OFFSIDE,
        None,
        rf"\boff-?side\b(?! trap| line)(?: against {_BY})?",
        "main",
        False,
        r"(?:not|never|n't|beats? the|from)",
    ),
    _rule(
        Act.OFFSIDE,
        None,
        r"(?:fails? to (?:beat|spring)|caught in|runs? into|trapped by) the off-?side trap",
        "main",
        False,
    ),
    _rule(
        Act.RED,
        None,
        rf"\bred(?: card|\b(?= follows))(?: (?:to|for) {_BY})?|\bstraight red|\bsent[- ]off\b|\bsends? (?:{PLAYER}|him) off\b|\bdismiss(?:ed|es|al)\b|\bearly bath|\bmarching orders|\bsees red\b",
        "main",
    ),
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
        rf"(?<!second )\b(?:yellow[- ]card(?:s|ed)?|yellow\b(?! and| cards?)|booked|booking|cautioned|\ba caution\b|\bcaution (?=goes|to|for)|(?:into|in) (?:the )?(?:referee'?s? |{REFEREE}'s )?(?:note)?book\b|takes? (?:the|his) name|books(?= {PLAYER}))(?: (?:goes )?(?:to|for|against) {_BY})?",
        "main",
        True,
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
        r"\binjur(?:y|ed|ies)\b(?! time)|\bmedical\b|\btreatment\b|\bphysios?\b|\bstretcher|\blimp(?:s|ing)\b|\bin pain\b|\bin discomfort\b|\b(?:holding|feeling|feels|rubbing|clutching|clutches) his (?:knee|ankle|calf|hamstring|leg|thigh|shoulder|head)\b|\bpick(?:s|ed) up a knock|\bstays? down\b",
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
        r"\b(?:(?:is|are|was|gets?|it's|be|being|ball|which is|then|and) (?:\w+ly |well )?)(?:cleared|headed (?:clear|away|out)|hacked (?:clear|away)|turned away)\b(?!(?: \w+){0,4} by)",
        "other",
        False,
    ),
    _rule(  # an attack that comes to nothing: whoever clears, it is against those who came forward
        Act.CLEARANCE,
        None,
        rf"{_VS} {_ATTACKS}\b[^.;]*?\bbut\b(?=[^.;]*\b(?:clear(?:s|ed|ance)?|away|to safety|out of danger)\b)",
        "none",
        False,
    ),
    _rule(
        Act.INTERCEPTION,
        None,
        rf"\b(?:clean|timely|sliding|firm|perfect|superb|strong|fair|textbook|crunching|well-timed|fine|great|brilliant) tackle by {_BY}|\b(?:makes (?:an? |the )?(?:clean|timely|sliding|firm|perfect|superb|strong|fair|textbook|crunching|well-timed|fine|great|brilliant) tackle\b|times (?:the|his) tackle well)|\b(?:stops|halts|outmuscles|outwits|crowds out|bests) (?:him\b|{PLAYER})",
        "last",
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
        r"\b(?:intercepts?|cuts (?:it |the ball |the pass |the cross )?out|dispossesses|picks (?:it |the pass |the ball )off|steals|robs|wins (?:it|the ball) back|regains?)\b",
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
        Act.PASS,
        None,
        rf"\b(?:an?|his) (?:[\w-]+ ){{0,2}}pass\b(?: (?:from|by) {_BY})?|\bpass (?:from|by) {_BY}",
        "main",
        False,
    ),
    _rule(
        Act.POSSESSION,
        None,
        r"\bpossession\b|\b(?:pass(?:es|ing)?|exchang\w+|knock\w*|mov\w+|stroking|spray\w*)(?: [\w-]+){0,5} (?:passes|ball (?:around|about))\b|\bkeep(?:s|ing)? (?:hold of )?(?:the ball|it)(?! out)\b|\bpassing move\b|\bbuild-up play\b",
        "team",
    ),
)


CARDS = frozenset({Act.YELLOW, Act.SECOND_YELLOW, Act.RED})
PAST = re.compile(
    r"\b(?:(?:booked|cautioned|yellow(?: card)?|booking) earlier|earlier (?:booked|cautioned|yellow|booking)|already (?:on|booked|been|has|have|had|carrying|cautioned|in the book)|on a (?:yellow|booking|caution)|"
    r"(?:was|were|had been|having been|has been|have been) (?:already )?(?:booked|cautioned|shown a yellow))\b"
)
_THING = (
    r"(?P<thing>corner|yellow card|yellow|booking|caution|goal|foul|offside|shot|effort|attempt|substitution|substitute|"
    r"change|switch|penalt(?:y|ies)|free[- ]kick|throw-?in|save|red card|strike)(?:s|es|es)?(?: kicks?)?(?! kick|-scor| area| line| box)"
)
THINGS = {
    "corner": Act.CORNER, "yellow card": Act.YELLOW, "yellow": Act.YELLOW, "booking": Act.YELLOW, "caution": Act.YELLOW,
    "goal": Act.GOAL, "strike": Act.GOAL, "foul": Act.FOUL, "offside": Act.OFFSIDE, "shot": Act.SHOT, "effort": Act.SHOT,
    "attempt": Act.SHOT, "substitution": Act.SUBSTITUTION, "substitute": Act.SUBSTITUTION, "change": Act.SUBSTITUTION,
    "switch": Act.SUBSTITUTION, "penalty": Act.PENALTY, "penalties": Act.PENALTY, "throw-in": Act.THROW_IN,
    "throwin": Act.THROW_IN, "red card": Act.RED,
}  # fmt: skip
ORDINAL_THING = re.compile(rf"\b(?P<n>{ORDINAL}) (?:successive |consecutive |straight )?{_THING}")
ORDINAL_OF = re.compile(
    rf"\b(?:his|(?P<by>{SOMEONE})'s) (?P<n>second|third|fourth|fifth) (?:of the (?:match|game|half|evening|afternoon|night|day)|today|goal)\b"
)
CARDINAL = re.compile(
    rf"\b(?:had|have|has|won|taken|forced|earned|conceded|committed|made|collected|received|now|already|tally to|total to|that makes it|that's|that is|with) "
    rf"(?:now |already |had |won |taken |made |just )*(?P<n>{NUMBER}) {_THING}\b(?! up| ahead| clear| down| behind| lead)"
)
TIMES = re.compile(rf"\b(?:(?P<n1>twice|thrice)|(?P<n>{NUMBER}) times)\b")
FEAT = re.compile(r"\b(?P<feat>brace|hat-?trick)\b")
SINCE = re.compile(
    rf"\b(?:in|inside|within)(?: (?:the|just|only|barely|under))?(?: (?:last|past|space of))?(?: the)? (?P<m>{NUMBER}|fifteen|twenty|thirty) minutes\b"
)
THIS_HALF = re.compile(
    r"\b(?:of|in|this) (?:the|this) half\b|\bthis half\b|\bsince the (?:break|restart|interval)\b|\bof the (?P<half>first|second) half\b"
)
WHOLE_MATCH = re.compile(
    r"\b(?:of|in) the (?:match|game)\b|\bso far\b|\btoday\b|\bof the (?:evening|afternoon|night|day)\b"
)
SCORE = re.compile(
    rf"(?<![\d:-])(?P<a>\d{{1,2}}) ?[-:] ?(?P<b>\d{{1,2}})(?![\d:-]|\s?-\s?\d| formation)|\b(?!one[- ]twos?\b)(?P<a2>{NUMBER})[- ](?P<b2>nil|{NUMBER})\b(?! minute| yard| metre| touch| twos?)"
)
NIL = re.compile(r"\b(?:goalless|scoreless|nil-nil|0-0)\b")
LEADS = re.compile(r"\b(?:win|wins|lead|leads|leading|in front|ahead|up|cushion|advantage)\b")
MARGINS: tuple[tuple[re.Pattern[str], tuple[int, int] | None, bool], ...] = tuple(
    (re.compile(pattern), margin, hedged)
    for pattern, margin, hedged in (
        (rf"\b(?P<n>{NUMBER})[- ]goals? (?:up|ahead|clear|to the good|in front|lead|cushion|advantage)\b|\blead(?:s|ing)? by (?P<m>{NUMBER})\b", None, True),
        (rf"\b(?P<down>{NUMBER})[- ]goals? (?:down|behind|adrift|deficit)\b|\btrail(?:s|ing)? by (?P<down2>{NUMBER})\b", None, True),
        (r"\bequali[sz]er\b|\bequali[sz]es\b|\blevel(?:s|led)? (?:the score|things|matters|terms|it|again|the match|the game)|\b(?:is|are|it's|all) (?:now )?(?:level|square)\b|\bback on terms\b|\bdraws? level\b|\bparity\b|\ball square\b", (0, 0), True),
        (r"\b(?:takes?|took|taken|have|has|retakes?|regains?|holds?|gives? \S+|giving \S+|puts? \S+|putting \S+|hands? \S+) (?:the|a|into the|in the)? ?(?:slender |narrow |early |deserved )?lead\b|\b(?:puts?|putting|edges?|fires?|heads?|nose) (?:\S+ )?(?:in front|ahead)\b|\b(?:is|are|goes?|go|back) (?:in front|ahead)\b|\bleads? (?=\d)", (1, 20), True),
        (r"\bdoubl(?:es?|ed|ing) (?:the|their|his side's|\S+) (?:lead|advantage)\b", (2, 2), True),
        (r"\b(?:extend(?:s|ed|ing)?|add(?:s|ed|ing)? to|stretch(?:es|ed)?|increases?) (?:the|their|\S+) (?:lead|advantage)\b", (2, 20), True),
        (r"\b(?:protect|defend|sit on|hold on to|guard|preserv)\w* (?:the|their|this|that|a)(?: \S+)? (?:lead|advantage)\b", (1, 20), False),
        (r"\b(?:pull|claw|gets?|got)(?:s|ed)? (?:one|a goal) back\b|\b(?:reduc|halv|cut)\w* (?:the|their) (?:arrears|deficit)\b|\btrail(?:s|ing)?\b|\b(?:is|are|still) behind(?=[.,!]| and| on the)", (-20, -1), True),
        (r"\b(?:look\w* for|search\w* (?:of|for)|chas(?:e|ing)|push\w* for|need\w*|hunt\w* for|press\w* for|in pursuit of) (?:an|the) equali[sz]er\b", (-1, -1), False),
        (r"\bbreak(?:s|ing)? the deadlock\b|\bopen(?:s|ed|ing)? the scoring\b|\bthe opening goal\b|\bfirst blood\b", (1, 1), True),
    )
)  # fmt: skip
PERIODS: tuple[tuple[Act, re.Pattern[str]], ...] = (
    (Act.HALF_START, re.compile(r"\b(?:first|second) half (?:\w+ ){0,2}(?:started|starts|begins|begun|underway|gets (?:underway|going)|kicks off)|start of the (?:first|second) half|\b(?:kick-off|we are underway|back underway)")),
    (Act.HALF_END, re.compile(r"\bend of the (?:first|second) half|\b(?:first|second) half (?:is over|ends|comes to an end)|\bhalf-time whistle|\bfull-time whistle|\bfinal whistle")),
    (Act.ADDED_TIME, re.compile(rf"\b(?P<n>{NUMBER}) (?:more )?(?:min\.?|minutes?) (?:of )?(?:(?:added|stoppage|injury|additional|extra) time|(?:will be|to be|are|have been|is|being) added|added)|\b(?P<n2>{NUMBER}) (?:added|additional|extra) minutes?")),
)  # fmt: skip


def clause(text: str, place: int) -> str:
    """What stands in front of a place in its clause."""
    starts = [match.end() for match in CLAUSE.finditer(text, 0, place)]
    return text[starts[-1] if starts else 0 : place]

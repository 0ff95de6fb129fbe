"""A caption as its file gives it: which time it carries, which class it is of, and whether it is a sentence at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamsoccer.actions import CaptionClass, caption_class
from streamsoccer.clock import MatchTime
from streamsoccer.errors import UsageError

__all__ = ["TIME_KEYS", "SourceCaption", "classify", "infer_class", "is_sentence", "pick_time", "stated_score"]

# The best time first: set by hand, then aligned by a model, then by events, then as broadcast text had it.
TIME_KEYS = ("gt_gameTime", "contrastive_aligned_gameTime", "event_aligned_gameTime", "gameTime")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCaption:
    """One caption of a source file, its known fields named and the others kept."""

    index: int
    file: str
    source: str
    at: MatchTime | None
    time_key: str | None
    kind: CaptionClass
    kind_source: str
    label: str = ""
    description: str = ""
    anonymized: str = ""
    identified: str = ""
    important: bool | None = None
    visible: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def pick_time(fields: Mapping[str, Any]) -> tuple[MatchTime | None, str | None]:
    """The caption's time from the best key that holds one; an empty or unreadable value passes to the next key."""
    for key in TIME_KEYS:
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            try:
                return MatchTime.parse(value), key
            except UsageError:
                continue
    return None, None


# The first rule that matches decides, so rare and certain things stand before common and vague ones.
_RULES: tuple[tuple[CaptionClass, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (CaptionClass.SECOND_YELLOW_CARD, r"second yellow|second booking"),
        (CaptionClass.RED_CARD, r"\bred card|sent off|sends? (?:him|\[player\]) off"),
        (CaptionClass.YELLOW_CARD, r"yellow card|\bbooked|\bbooking|shown a yellow|into the (?:referee's )?book"),
        (
            CaptionClass.SUBSTITUTION,
            r"subst?itut|\breplac(?:es|ing)\b|replaced by|off the (?:bench|pitch)|to replace|introduce|here is a change"
            r"|coming on for|comes on for|going off",
        ),
        (CaptionClass.OWN_GOAL, r"own goal|into his own net"),
        (
            CaptionClass.PENALTY_MISSED,
            r"penalt\w* (?:is |was )?(?:missed|saved)|misses the penalty|misses from the spot",
        ),
        (
            CaptionClass.GOAL,
            r"\bgoal\b[^.]*!|\bgoo+al|it'?s a goal|\bscores\b|(?:finds|hits) the (?:back of the )?net|the score|\d:\d",
        ),
        (CaptionClass.PENALTY, r"\bpenalty\b(?! (?:area|box|spot|line))"),
        (CaptionClass.OFFSIDE, r"off-?\s?side|linesman'?s flag|flag is up"),
        (CaptionClass.ADDED_TIME, r"minutes? (?:of stoppage|will be added|of (?:added|injury) time)|added time"),
        (CaptionClass.END, r"half-?time whistle|full-?time|final whistle|end of the (?:first|second|match|game)"),
        (CaptionClass.START, r"kicks? off|first half (?:starts|begins|is under way)|second half (?:starts|begins)"),
        (CaptionClass.VAR, r"\bvar\b|video assistant"),
        (
            CaptionClass.INJURY,
            r"injur|treatment|stretcher|medical|in pain|limp|physio|\bknock\b|carry on",
        ),
        (
            CaptionClass.LEAD_TO_CORNER,
            r"(?:awarded|earns?|wins?|will have|get|have|given|points? for|forces?|concedes?|for) a corner"
            r"|corner (?:kick )?(?:will be|has been) (?:taken|awarded)|corner kick\. \[team\]",
        ),
        (
            CaptionClass.SAVE,
            r"\bsave[sd]?\b|parried|stopped by|equal to it|(?:it|the ball) out\b|keeper|gathers?\b|smothers|thwart"
            r"|deals with the threat",
        ),
        (CaptionClass.CORNER, r"(?<!bottom )(?<!top )(?<!left )(?<!right )(?<!near )(?<!far )\bcorner\b"),
        (
            CaptionClass.SHOT_OFF_TARGET,
            r"\bwide\b|over the (?:bar|crossbar)|off target|high over|misses|goes (?:just )?(?:past|over)"
            r"|hits? the (?:post|bar)",
        ),
        (CaptionClass.FREE_KICK, r"free[- ]kick (?:is|from|flies|into|over)|takes? the free[- ]kick"),
        (CaptionClass.FOUL, r"\bfoul|tackle|illegal|blows? (?:his|the) whistle|free[- ]kick|rough|challenge|infring"),
        (CaptionClass.THROW_IN, r"throw-?\s?in"),
        (CaptionClass.BALL_OUT, r"out of play|goal[- ]kick|over the (?:side|touch)line"),
        (CaptionClass.CLEARANCE, r"clear|intercept|cut out|cuts it out|defen[cs]e|defender|block|\bcross\b|teammate"),
        (CaptionClass.POSSESSION, r"possession|passing|pass(?:es)?\b"),
    )
)


def infer_class(text: str) -> CaptionClass:
    """What the words alone say that a caption speaks of: a plain keyword rule, right often and never sure."""
    lowered = text.lower()
    return next((kind for kind, pattern in _RULES if pattern.search(lowered)), CaptionClass.OTHER)


def classify(fields: Mapping[str, Any], text: str) -> tuple[CaptionClass, str, str | None]:
    """The class, where it was read ('class', 'label' or 'text'), and a spelling of the file that is not known."""
    unknown = None
    for key in ("class", "label"):
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            if (kind := caption_class(value)) is not None:
                return kind, key, unknown
            unknown = value
    return infer_class(text), "text", unknown


_SCORE = re.compile(r"(?<![\d:–-])(\d{1,2})\s?[:–-]\s?(\d{1,2})(?![\d:–-])")


def stated_score(text: str) -> tuple[int, int] | None:
    """The score that a caption states, home side first as broadcast text has it; of several the last."""
    found = _SCORE.findall(text)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


_PLACEHOLDER = re.compile(r"\[[A-Z_]+\]")


def is_sentence(text: str) -> bool:
    """Whether a text can be a target: at least three words beside its placeholders, and no broken encoding."""
    words = re.findall(r"[^\W\d_]{2,}", _PLACEHOLDER.sub(" ", text))
    return len(words) >= 3 and "�" not in text

"""The whole vocabulary: SoccerNet's labels, what they do to an event, which comes first, and what captions speak of."""

from __future__ import annotations

from enum import StrEnum

from streamsoccer.errors import DataError

__all__ = [
    "ANNOTATED",
    "CARDS",
    "COMPATIBLE",
    "GROUP",
    "PRIORITY",
    "SHOTS",
    "TYPE",
    "CaptionClass",
    "EventType",
    "Group",
    "Label",
    "caption_class",
    "label",
    "primary",
]


class Label(StrEnum):
    """SoccerNet's 17 action labels as its files spell them, and the control label that the pipeline makes itself."""

    PENALTY = "Penalty"
    KICK_OFF = "Kick-off"
    GOAL = "Goal"
    SUBSTITUTION = "Substitution"
    OFFSIDE = "Offside"
    SHOT_ON_TARGET = "Shots on target"
    SHOT_OFF_TARGET = "Shots off target"
    CLEARANCE = "Clearance"
    BALL_OUT = "Ball out of play"
    THROW_IN = "Throw-in"
    FOUL = "Foul"
    INDIRECT_FREE_KICK = "Indirect free-kick"
    DIRECT_FREE_KICK = "Direct free-kick"
    CORNER = "Corner"
    YELLOW_CARD = "Yellow card"
    RED_CARD = "Red card"
    SECOND_YELLOW_CARD = "Yellow->red card"
    END_OF_PERIOD = "End of period"


ANNOTATED: tuple[Label, ...] = tuple(each for each in Label if each is not Label.END_OF_PERIOD)


class Group(StrEnum):
    """What an action does to the active event: the rows of the paper's table of action groups."""

    SET_PIECE = "set_piece"  # closes the active event before its clip and starts the next one
    FINISH = "finish"  # closes the event that it is part of
    STOPPAGE = "stoppage"  # closes the event that it is part of
    CLEARANCE = "clearance"  # closes unless the next clip follows up with a set piece, finish or stoppage
    ADMINISTRATION = "administration"  # starts an event (a card beside a stoppage does not) and closes it


_GROUPS: dict[Group, tuple[Label, ...]] = {
    Group.SET_PIECE: (
        Label.CORNER,
        Label.THROW_IN,
        Label.DIRECT_FREE_KICK,
        Label.INDIRECT_FREE_KICK,
        Label.PENALTY,
        Label.KICK_OFF,
    ),
    Group.FINISH: (Label.GOAL, Label.SHOT_ON_TARGET, Label.SHOT_OFF_TARGET),
    Group.STOPPAGE: (Label.BALL_OUT, Label.FOUL, Label.OFFSIDE),
    Group.CLEARANCE: (Label.CLEARANCE,),
    Group.ADMINISTRATION: (
        Label.SUBSTITUTION,
        Label.YELLOW_CARD,
        Label.RED_CARD,
        Label.SECOND_YELLOW_CARD,
        Label.END_OF_PERIOD,
    ),
}
GROUP: dict[Label, Group] = {each: group for group, labels in _GROUPS.items() for each in labels}
CARDS = frozenset({Label.YELLOW_CARD, Label.RED_CARD, Label.SECOND_YELLOW_CARD})
SHOTS = frozenset(_GROUPS[Group.FINISH])


class EventType(StrEnum):
    """The coarse type of an event: open play, and one type for each step of the paper's priority order."""

    OPEN_PLAY = "open_play"
    FINISH = "finish"
    PENALTY_OR_CARD = "penalty_or_card"
    FOUL_OR_OFFSIDE = "foul_or_offside"
    SET_PIECE = "set_piece"
    CLEARANCE_OR_OUT = "clearance_or_out"
    SUBSTITUTION = "substitution"
    KICK_OFF = "kick_off"
    END_OF_PERIOD = "end_of_period"


# First is strongest, between the steps and within each.
_ORDER: tuple[tuple[EventType, tuple[Label, ...]], ...] = (
    (EventType.FINISH, (Label.GOAL, Label.SHOT_ON_TARGET, Label.SHOT_OFF_TARGET)),
    (
        EventType.PENALTY_OR_CARD,
        (Label.PENALTY, Label.RED_CARD, Label.SECOND_YELLOW_CARD, Label.YELLOW_CARD),
    ),
    (EventType.FOUL_OR_OFFSIDE, (Label.FOUL, Label.OFFSIDE)),
    (
        EventType.SET_PIECE,
        (Label.CORNER, Label.DIRECT_FREE_KICK, Label.INDIRECT_FREE_KICK, Label.THROW_IN),
    ),
    (EventType.CLEARANCE_OR_OUT, (Label.CLEARANCE, Label.BALL_OUT)),
    (EventType.SUBSTITUTION, (Label.SUBSTITUTION,)),
    (EventType.KICK_OFF, (Label.KICK_OFF,)),
    (EventType.END_OF_PERIOD, (Label.END_OF_PERIOD,)),
)
TYPE: dict[Label, EventType] = {each: kind for kind, labels in _ORDER for each in labels}
PRIORITY: dict[Label, int] = {each: rank for rank, each in enumerate(each for _, labels in _ORDER for each in labels)}


class CaptionClass(StrEnum):
    """What a caption speaks of: the classes of MatchTime and UniSoccer, and SoccerNet-Caption's labels among them."""

    CORNER = "corner"
    LEAD_TO_CORNER = "lead to corner"
    GOAL = "goal"
    OWN_GOAL = "own goal"
    SHOT_OFF_TARGET = "shot off target"
    SAVE = "saved by goal-keeper"
    FOUL = "foul with no card"
    FREE_KICK = "free kick"
    PENALTY = "penalty"
    PENALTY_MISSED = "penalty missed"
    OFFSIDE = "off side"
    CLEARANCE = "clearance"
    BALL_OUT = "ball out of play"
    THROW_IN = "throw in"
    YELLOW_CARD = "yellow card"
    SECOND_YELLOW_CARD = "second yellow card"
    RED_CARD = "red card"
    SUBSTITUTION = "substitution"
    INJURY = "injury"
    POSSESSION = "ball possession"
    START = "start of half game"
    END = "end of half game"
    ADDED_TIME = "show added time"
    VAR = "var"
    SUMMARY = "statistics and summary"
    WHISTLE = "whistle"
    OTHER = "other"


_SPELLINGS: dict[str, CaptionClass] = {
    **{each.value: each for each in CaptionClass},
    # SoccerNet-Caption's labels
    "y-card": CaptionClass.YELLOW_CARD,
    "yr-card": CaptionClass.SECOND_YELLOW_CARD,
    "r-card": CaptionClass.RED_CARD,
    "soccer-ball": CaptionClass.GOAL,
    "soccer-ball-own": CaptionClass.OWN_GOAL,
    "penalty-missed": CaptionClass.PENALTY_MISSED,
    # other spellings that lists of the UniSoccer family use
    "offside": CaptionClass.OFFSIDE,
    "off-side": CaptionClass.OFFSIDE,
    "foul": CaptionClass.FOUL,
    "foul (no card)": CaptionClass.FOUL,
    "foul lead to penalty": CaptionClass.PENALTY,
    "throw-in": CaptionClass.THROW_IN,
    "free-kick": CaptionClass.FREE_KICK,
    "saved by goalkeeper": CaptionClass.SAVE,
    "start of game": CaptionClass.START,
    "start of game(half)": CaptionClass.START,
    "end of game": CaptionClass.END,
    "end of game(half)": CaptionClass.END,
}

# Which actions a caption of this class can speak of, and how directly: 0 the play itself, 1 its cause or outcome.
# Where nothing stands, SoccerNet labels nothing that such a caption speaks of. A foul's free kick is not among them: it
# is the other side's next event.
COMPATIBLE: dict[CaptionClass, dict[Label, int]] = {
    CaptionClass.CORNER: {Label.CORNER: 0},
    CaptionClass.LEAD_TO_CORNER: {
        Label.CORNER: 0,
        Label.SHOT_ON_TARGET: 1,
        Label.SHOT_OFF_TARGET: 1,
        Label.CLEARANCE: 1,
        Label.BALL_OUT: 1,
    },
    CaptionClass.GOAL: {Label.GOAL: 0},
    CaptionClass.OWN_GOAL: {Label.GOAL: 0},
    CaptionClass.SHOT_OFF_TARGET: {Label.SHOT_OFF_TARGET: 0, Label.SHOT_ON_TARGET: 1},
    CaptionClass.SAVE: {Label.SHOT_ON_TARGET: 0, Label.SHOT_OFF_TARGET: 1},
    CaptionClass.FOUL: {Label.FOUL: 0},
    CaptionClass.FREE_KICK: {Label.DIRECT_FREE_KICK: 0, Label.INDIRECT_FREE_KICK: 0},
    CaptionClass.PENALTY: {Label.PENALTY: 0, Label.FOUL: 1},
    CaptionClass.PENALTY_MISSED: {Label.PENALTY: 0},
    CaptionClass.OFFSIDE: {Label.OFFSIDE: 0},
    CaptionClass.CLEARANCE: {Label.CLEARANCE: 0, Label.BALL_OUT: 1},
    CaptionClass.BALL_OUT: {Label.BALL_OUT: 0},
    CaptionClass.THROW_IN: {Label.THROW_IN: 0},
    CaptionClass.YELLOW_CARD: {Label.YELLOW_CARD: 0},
    CaptionClass.SECOND_YELLOW_CARD: {Label.SECOND_YELLOW_CARD: 0},
    CaptionClass.RED_CARD: {Label.RED_CARD: 0, Label.SECOND_YELLOW_CARD: 1},
    CaptionClass.SUBSTITUTION: {Label.SUBSTITUTION: 0},
    CaptionClass.INJURY: {Label.FOUL: 0},
    CaptionClass.POSSESSION: {},
    CaptionClass.START: {Label.KICK_OFF: 0},
    CaptionClass.END: {},
    CaptionClass.ADDED_TIME: {},
    CaptionClass.VAR: {},
    CaptionClass.SUMMARY: {},
    CaptionClass.WHISTLE: {Label.FOUL: 0, Label.OFFSIDE: 0, Label.KICK_OFF: 1},
    CaptionClass.OTHER: {},
}

_LABELS: dict[str, Label] = {each.value: each for each in ANNOTATED}


def label(text: str) -> Label:
    """The action label that a file spells so; the pipeline's own control label is not one a file may hold."""
    if (found := _LABELS.get(text)) is None:
        raise DataError(f"{text!r} is not an action label", remedy=f"use one of SoccerNet's 17: {', '.join(_LABELS)}")
    return found


def caption_class(text: str) -> CaptionClass | None:
    """The class that a caption file spells so, or nothing for a spelling that is not known."""
    return _SPELLINGS.get(text.strip().lower())


def primary(labels: list[Label] | tuple[Label, ...]) -> Label | None:
    """The action that names a clip or an event: the first in the paper's priority order."""
    return min(labels, key=PRIORITY.__getitem__, default=None)

"""Algorithm 1: the actions of one half become operational events, each a run of 4-second clips.

The rules, read as the counts of the paper's corpus need them read:

- clip i owns the seconds [4i, 4i + 4); the last clip of a half may be shorter, and an action after it joins it;
- an event is closed *before* a clip that asks for a new one: any set piece, any substitution, and a card unless a
  stoppage stands in the same clip;
- it is closed *after* a clip with a finish, a stoppage, a substitution or a card, or with a clearance that the next
  clip does not follow up with a set piece, finish or stoppage; only then is its length looked at, and 24 s close it;
- what is still active after the last clip is closed by the end of the half.

When is a closed event known? Labels look at the next clip, but a stream cannot: there an event ends when the state is
reset, and a reset happens on the arrival of a clip that belongs to the next event (the paper's boundary timeline: the
arriving clip first exports the old state, then initialises the new one). This holds for every reason: a set piece is
seen only in the arriving clip, and after a finish or after 24 s it is again the next clip that resets. A clip arrives
at its end. So `available_at` is the end of the clip after the event's last clip, and the end of the half where there
is none. For labels alone the clearance rule reads one clip ahead; that is the same clip, so no event is known earlier
than the labels that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamsoccer.actions import CARDS, GROUP, PRIORITY, TYPE, EventType, Group, Label
from streamsoccer.clock import MatchTime
from streamsoccer.domain import (
    CLIP_SECONDS,
    EVENT_SECONDS,
    Action,
    CloseReason,
    Event,
    Mask,
    OpenReason,
    Side,
)
from streamsoccer.errors import DataError

__all__ = ["by_clip", "clip_count", "clip_end", "clip_of", "eventize", "transitions"]

_EVENT_CLIPS = int(EVENT_SECONDS // CLIP_SECONDS)
_FOLLOW_UPS = frozenset({Group.SET_PIECE, Group.FINISH, Group.STOPPAGE})

# Which reason stands where one clip has several: the group earlier in this list.
_TERMINALS: tuple[tuple[Group, CloseReason], ...] = (
    (Group.FINISH, CloseReason.TERMINAL_FINISH),
    (Group.STOPPAGE, CloseReason.TERMINAL_STOPPAGE),
    (Group.ADMINISTRATION, CloseReason.ADMINISTRATION),
    (Group.CLEARANCE, CloseReason.TERMINAL_CLEARANCE),
)


def clip_count(duration: float) -> int:
    """How many clips a half of this length has; the last may be shorter than 4 s."""
    return int(-(-round(duration, 3) // CLIP_SECONDS))


def clip_of(seconds: float, duration: float) -> int:
    """The clip that owns this second; what is after the last clip joins it."""
    return min(int(seconds // CLIP_SECONDS), clip_count(duration) - 1)


def clip_end(index: int, duration: float) -> float:
    """The second at which a clip ends, and so arrives; past the last clip it is the end of the half."""
    return min((index + 1) * CLIP_SECONDS, duration)


def by_clip(actions: Iterable[Action], duration: float) -> list[list[Action]]:
    """The actions that each clip owns, in the order of their time."""
    clips: list[list[Action]] = [[] for _ in range(clip_count(duration))]
    for action in sorted(actions, key=lambda each: each.at):
        clips[clip_of(action.at.seconds, duration)].append(action)
    return clips


def _asks_for_new(groups: set[Group], labels: list[Label]) -> bool:
    if Group.SET_PIECE in groups:
        return True
    if Group.ADMINISTRATION not in groups:
        return False
    return Group.STOPPAGE not in groups or any(
        GROUP[label] is Group.ADMINISTRATION and label not in CARDS for label in labels
    )


def _terminal(groups: set[Group], following: set[Group]) -> CloseReason | None:
    for group, reason in _TERMINALS:
        if group in groups and not (group is Group.CLEARANCE and following & _FOLLOW_UPS):
            return reason
    return None


def eventize(actions: Sequence[Action], duration: float, half: int = 1) -> list[Event]:
    """The operational events of one half, in order; together they hold each of its clips exactly once."""
    if duration <= 0:
        raise DataError(f"half {half} lasts {duration} s", remedy="give the half's real duration")
    clips = by_clip(actions, duration)
    groups = [{GROUP[each.label] for each in clip} for clip in clips]
    nothing: set[Group] = set()
    events: list[Event] = []
    first: int | None = None
    opened_by = OpenReason.HALF_START

    def close(stop: int, reason: CloseReason) -> None:
        assert first is not None  # an event is active wherever this is called
        held = tuple(action for clip in clips[first:stop] for action in clip)
        kind, named = _kind(clips[first:stop], reason)
        events.append(
            Event(
                half=half,
                first=first,
                clips=stop - first,
                start=MatchTime(half, first * CLIP_SECONDS),
                end=MatchTime(half, clip_end(stop - 1, duration)),
                available_at=MatchTime(half, clip_end(stop, duration)),
                opened_by=opened_by,
                closed_by=reason,
                type=kind,
                primary=None if named is None else named.label,
                side=Side.NONE if named is None else named.side,
                actions=held,
            )
        )

    for index, clip in enumerate(clips):
        if first is None:
            first = index
        elif groups[index] and _asks_for_new(groups[index], [each.label for each in clip]):
            close(index, CloseReason.NEW_START)
            first, opened_by = index, OpenReason.NEW_START
        reason = None
        if groups[index]:
            reason = _terminal(groups[index], groups[index + 1] if index + 1 < len(clips) else nothing)
        if reason is None and index + 1 - first >= _EVENT_CLIPS:
            reason = CloseReason.MAX_DURATION
        if reason is not None:
            close(index + 1, reason)
            first = None
            rolled = reason is CloseReason.MAX_DURATION
            opened_by = OpenReason.ROLLOVER if rolled else OpenReason.AFTER_TERMINAL
    if first is not None:
        close(len(clips), CloseReason.HALF_END)
    return events


def _kind(clips: list[list[Action]], reason: CloseReason) -> tuple[EventType, Action | None]:
    """Type and naming action: those of the first clip with actions, by priority; later clips do not change them."""
    for clip in clips:
        if clip:
            named = min(clip, key=lambda each: PRIORITY[each.label])
            return TYPE[named.label], named
    # The control label is the weakest action there is, and the last clip of a half holds it.
    return (TYPE[Label.END_OF_PERIOD] if reason is CloseReason.HALF_END else EventType.OPEN_PLAY), None


def transitions(events: Sequence[Event]) -> list[tuple[int, Mask | None]]:
    """Target and mask of each clip of a half: positive on the first clip after any closure but a rollover."""
    targets: list[tuple[int, Mask | None]] = []
    for event in events:
        if event.opened_by is OpenReason.HALF_START:
            targets.append((0, Mask.HALF_START))
        elif event.opened_by is OpenReason.ROLLOVER:
            targets.append((0, Mask.ROLLOVER))
        else:
            targets.append((1, None))
        targets.extend([(0, None)] * (event.clips - 1))
    return targets

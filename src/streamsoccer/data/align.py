"""Captions to events, one to one: candidates near in time with an action the caption can speak of, the best first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from streamsoccer.actions import COMPATIBLE, Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.captions import SourceCaption, is_sentence, stated_score
from streamsoccer.data.match_state import Timeline
from streamsoccer.domain import Action, Candidate, Event, Verdict, event_id

__all__ = ["ANCHOR_SECONDS", "RANKING", "WINDOW_SECONDS", "Alignment", "align", "named_takers"]

WINDOW_SECONDS = 15.0  # a caption may lie so far outside an event
ANCHOR_SECONDS = 30.0  # and so far from a compatible action of the event, for a goal or shot told late
_LONGEST = 24.0 + ANCHOR_SECONDS

# The names of Candidate.key, in order; lower is better everywhere. Text validity and a compatible action, which the
# paper ranks first, are conditions here: without them there is no candidate.
RANKING = (
    "tier",  # 0: semantically anchored, that is the play itself within 15 s and a class that the file itself names
    "indirect",  # 0: the action is the play itself, 1: its direct cause or outcome
    "unimportant",  # 0: the file marks the caption as important
    "ambiguous",  # 0: no other event near the caption has a compatible action
    "anchor_distance",  # seconds to the nearest compatible action
    "window_distance",  # seconds to the event, 0 inside
    "class_inferred",  # 0: class from the file, 1: from the text alone
    "caption",  # its place in the file, so that no two pairs are equal
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """What became of one caption."""

    verdict: Verdict
    event: str | None
    candidates: tuple[Candidate, ...]


def align(
    match: str, captions: Sequence[SourceCaption], halves: Mapping[int, Sequence[Event]], state: Timeline
) -> tuple[list[Alignment], dict[str, int]]:
    """The verdict on each caption, in order, and which caption (by its place in the list) each event got."""
    found = [_candidates(match, place, caption, halves, state) for place, caption in enumerate(captions)]
    pairs = sorted(
        (candidate.key, place, candidate.event) for place, (_, options) in enumerate(found) for candidate in options
    )
    taken: dict[str, int] = {}
    placed: dict[int, str] = {}
    for _, place, event in pairs:
        if place not in placed and event not in taken:
            taken[event] = place
            placed[place] = event
    alignments = []
    for place, (verdict, options) in enumerate(found):
        got = placed.get(place)
        if got is not None:
            verdict = Verdict.ALIGNED
        alignments.append(Alignment(verdict=verdict, event=got, candidates=options))
    return alignments, taken


def _candidates(
    match: str, place: int, caption: SourceCaption, halves: Mapping[int, Sequence[Event]], state: Timeline
) -> tuple[Verdict, tuple[Candidate, ...]]:
    if not is_sentence(caption.anonymized or caption.description):
        return Verdict.NO_TEXT, ()
    if caption.at is None:
        return Verdict.NO_TIME, ()
    if caption.at.half not in halves:
        return Verdict.UNKNOWN_HALF, ()
    labels = COMPATIBLE[caption.kind]
    if not labels:
        return Verdict.NO_CLASS_ACTION, ()
    events = halves[caption.at.half]
    # Events are in order and none is longer than 24 s, so only these can be near.
    low = bisect_left(events, caption.at.seconds - _LONGEST, key=lambda each: each.start.seconds)
    high = bisect_right(events, caption.at.seconds + _LONGEST, key=lambda each: each.start.seconds)
    stated = stated_score(caption.anonymized or caption.description)
    near = contradicted = False
    options = []
    for event in events[low:high]:
        window = _distance(caption.at, event)
        near = near or window <= WINDOW_SECONDS
        action = _anchor(caption.at, event, labels)
        if action is None:
            continue
        distance = abs(action.at.seconds - caption.at.seconds)
        if window > WINDOW_SECONDS and distance > ANCHOR_SECONDS:
            continue
        if stated is not None and stated != state.at(event.available_at).score:
            contradicted = True  # as a target it would tell the future, or be wrong
            continue
        options.append((event, action, distance, window))
    if contradicted and not options:
        return Verdict.SCORE_CONTRADICTED, ()
    if not options:
        return (Verdict.NO_COMPATIBLE_ACTION if near else Verdict.NO_CANDIDATE), ()
    inferred = caption.kind_source == "text"
    made = []
    for event, action, distance, window in options:
        indirect = labels[action.label]
        tier = 0 if distance <= WINDOW_SECONDS and not inferred and not indirect else 1
        rank = (tier, indirect, not caption.important, len(options) > 1)
        made.append(
            Candidate(
                event=event_id(match, event.half, event.start.seconds),
                path="window" if window <= WINDOW_SECONDS else "anchored",
                anchor=action.label,
                anchor_distance=round(distance, 3),
                window_distance=round(window, 3),
                key=tuple(map(float, (*rank, round(distance, 3), round(window, 3), inferred, place))),
            )
        )
    return Verdict.TAKEN, tuple(sorted(made, key=lambda each: (each.key, each.event)))


def _distance(at: MatchTime, event: Event) -> float:
    return max(event.start.seconds - at.seconds, at.seconds - event.end.seconds, 0.0)


def _anchor(at: MatchTime, event: Event, labels: Mapping[Label, int]) -> Action | None:
    """The compatible action that fits best: the most direct, then the nearest to the caption, then the earlier."""
    fitting = [each for each in event.actions if each.label in labels]
    return min(fitting, key=lambda each: (labels[each.label], abs(each.at.seconds - at.seconds), each.at), default=None)


def named_takers(alignments: Sequence[Alignment], taken: Mapping[str, int], ids: Sequence[str]) -> list[Alignment]:
    """The same alignments, with the caption that got each candidate's event written beside it."""
    return [
        replace(
            each,
            candidates=tuple(
                replace(option, taken_by=None if (place := taken.get(option.event)) is None else ids[place])
                for option in each.candidates
            ),
        )
        for each in alignments
    ]

"""From a decision to a sentence that may be said: its context, the generated text, what it contradicts, its names.

A sentence that is not said stands in the journal all the same, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import Context, Scope, Utterance, build_context
from streamsoccer.domain import LOCAL_SECONDS, MatchSheet, Side, Track
from streamsoccer.feed import FeedLine
from streamsoccer.guard import contradictions, normal, repeated
from streamsoccer.journal_rows import Evidence, EvidenceKind, Latency, Segment, Status
from streamsoccer.moment import Said
from streamsoccer.names import fill_names, sided_by_event, with_names
from streamsoccer.record import MatchContext
from streamsoccer.retrieval import Ranking
from streamsoccer.state import MatchState
from streamsoccer.voice import Asked, Given

if TYPE_CHECKING:
    from streamsoccer.clock import Clock
    from streamsoccer.prompt import Prompter
    from streamsoccer.runtime import RuntimeConfig
    from streamsoccer.voice import Voice

__all__ = ["Wanted", "speak"]

_NEAR = 15.0  # seconds around an event in which a line of the feed may be about it


@dataclass(kw_only=True, slots=True, eq=False)
class Wanted:
    """A sentence that one match wants: the mode, the moment, and what stands behind it."""

    state: MatchState
    sheet: MatchSheet
    cutoff: Cutoff
    track: Track
    completed: CompletedMemory | None = None  # the event that has just closed
    ranking: Ranking | None = None
    match: MatchContext
    scope: Scope = Scope.FULL
    spent: dict[Segment, float] = field(default_factory=dict)  # seconds that it has taken so far
    context: Context | None = None

    @property
    def known(self) -> tuple[FeedLine, ...]:
        return tuple((self.state.feed or {}).values())

    @property
    def since(self) -> MatchTime:
        """From when on the sentence is about."""
        at = self.cutoff.at
        if self.track is Track.CURRENT and self.completed is not None:
            return self.completed.start
        return MatchTime(at.half, max(0.0, at.seconds - LOCAL_SECONDS))


def speak(
    wanted: Sequence[Wanted], voice: Voice, prompter: Prompter, config: RuntimeConfig, clock: Clock
) -> list[Said]:
    """The sentences of any number of matches, generated together; each is said, held back or has failed."""
    asked: list[Asked] = []
    for each in wanted:
        records = () if each.ranking is None or each.track is not Track.HISTORICAL else each.ranking.chosen
        each.context = build_context(
            each.track,
            each.cutoff,
            active=each.state.active(each.cutoff),
            completed=each.completed,
            selected=each.state.buffer.select(each.cutoff),
            records=records,
            context=each.match,
            prompter=prompter,
            scope=each.scope,
        )
        memories = each.context.memories
        asked.append(Asked(memories=memories, prompt=each.context.prompt, max_tokens=prompter.config.generated_tokens))
    begun = clock.now()
    given = voice.say(asked)
    took = clock.now() - begun
    return [_said(one, text, config, took, clock) for one, text in zip(wanted, given, strict=True)]


def _said(wanted: Wanted, given: Given, config: RuntimeConfig, took: float, clock: Clock) -> Said:
    begun = clock.now()
    context, state = wanted.context, wanted.state
    assert context is not None
    utterance = context.utterance(given.text) if not given.problem else None
    status, reason, said = Status.SAID, "", ""
    used: Sequence[FeedLine] = ()
    if utterance is None:
        status, reason = Status.FAILED, given.problem or "the generator gave no text"
        utterance = Utterance(
            track=wanted.track, cutoff=wanted.cutoff.at, text="", events=context.events, dropped=context.dropped
        )
    else:
        utterance, said, used = _named(wanted, utterance)
        if state.feed is not None and (wrong := _wrong(wanted, utterance)):
            status, reason = Status.HELD, f"contradicts what is sure: {wrong}"
        elif not config.repeat and repeated(normal(said), state.said, config.alike):
            status, reason = Status.HELD, "was said already in this half"
        else:
            state.said.append(normal(said))
    state.counts[_COUNTS[status, reason.partition(" ")[0] if status is Status.HELD else ""]] += 1
    about = wanted.completed if wanted.track is Track.CURRENT else None
    active = None if wanted.track is Track.CURRENT else state.active(wanted.cutoff)
    return Said(
        utterance=utterance,
        said=said,
        status=status,
        reason=reason,
        event=None if wanted.completed is None else wanted.completed.event,
        latency=Latency(
            segments={
                **_closing(wanted, about),
                **wanted.spent,
                Segment.GENERATION: took,
                Segment.CHECKS: clock.now() - begun,
            }
        ),
        evidence=(*_evidence(wanted, context), *_fed(used)),
        active=None if active is None else active.tokens,
    )


_COUNTS = {
    (Status.SAID, ""): "said",
    (Status.HELD, "contradicts"): "contradictions",
    (Status.HELD, "was"): "repetitions",
    (Status.FAILED, ""): "sentences_failed",
}


def _closing(wanted: Wanted, about: CompletedMemory | None) -> dict[Segment, float]:
    return {} if about is None else {Segment.CLOSING: wanted.cutoff.at.seconds - about.end.seconds}


def _named(wanted: Wanted, utterance: Utterance) -> tuple[Utterance, str, Sequence[FeedLine]]:
    """Sides where they can be told, then names: a player's from the feed's lines near the event alone."""
    side, lines = Side.NONE, []
    if wanted.track is Track.CURRENT and wanted.completed is not None:
        side = wanted.completed.side
        first = wanted.completed.start.seconds - _NEAR
        gone = {each.cancels for each in wanted.known}
        lines = [
            each
            for each in wanted.known
            if each.id not in gone and each.at.half == wanted.cutoff.at.half and each.at.seconds >= first
        ]
    placeholders = sided_by_event(utterance.text, utterance.placeholders, side)
    named = fill_names(utterance.text, placeholders, wanted.sheet, lines)
    return replace(utterance, placeholders=with_names(placeholders, named)), named.text, named.used


def _wrong(wanted: Wanted, utterance: Utterance) -> str:
    found = contradictions(
        utterance.text,
        utterance.placeholders,
        track=wanted.track,
        at=wanted.cutoff.at,
        since=wanted.since,
        lines=wanted.known,
    )
    return ", ".join(f"'{each.text}'" for each in found)


def _evidence(wanted: Wanted, context: Context) -> tuple[Evidence, ...]:
    """What stood in the soft prefix and in the prompt, and where that lies in the film."""
    state, half = wanted.state, wanted.cutoff.at.half
    held = {each.event: each for each in state.buffer.completed(wanted.cutoff)}
    if wanted.completed is not None:
        held[wanted.completed.event] = wanted.completed
    found = []
    for name in context.events:
        if (memory := held.get(name)) is not None:
            span, kind = (memory.start.seconds, memory.end.seconds), EvidenceKind.EVENT
            frames = state.frames.get(name, 0)
        else:
            assert state.open is not None
            span, kind, frames = (state.open.start, state.position.end), EvidenceKind.ACTIVE, state.open.frames
        found.append(Evidence(kind=kind, ref=name, half=half, start=span[0], end=span[1], frames=frames))
    scores = {} if wanted.ranking is None else {record.id: score for record, score in wanted.ranking.records}
    for record in context.records:
        found.append(
            Evidence(
                kind=EvidenceKind.RECORD,
                ref=record.id,
                half=record.half,
                start=record.start.seconds,
                end=record.end.seconds,
                frames=state.frames.get(record.event, 0),
                score=scores.get(record.id),
            )
        )
    return tuple(found)


def _fed(lines: Sequence[FeedLine]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(kind=EvidenceKind.FEED, ref=each.id, half=each.at.half, start=each.at.seconds, end=each.at.seconds)
        for each in lines
    )

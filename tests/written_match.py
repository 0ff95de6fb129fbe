"""A match in a journal as a run would write it, made of a seed and no model: for tests of all that reads journals."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory, EventBuffer
from streamsoccer.clip import Clip, Gap, GapReason
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import Utterance
from streamsoccer.domain import Action, Placeholder, Side, Tally, Track, event_id
from streamsoccer.journal import Journal, Step
from streamsoccer.journal_rows import (
    ClosedBy,
    Evidence,
    EvidenceKind,
    Header,
    Latency,
    NoteKind,
    Progress,
    Segment,
    Status,
)
from streamsoccer.record import Ledger, MatchContext, assemble
from streamsoccer.retrieval import eligible, rank
from streamsoccer.schedule import ScheduleConfig, Scheduler, Seen

MATCH = "league/2026-2027/2026-08-01 - 15-00 Alder Town 1 - 0 Brook Rovers"
HEADER = Header(
    match=MATCH,
    source="film.mp4",
    model="a1b2c3",
    profile="d4e5f6",
    pace="fast",
    started="2026-11-19",
    options={"half_starts": "0"},
    sheet={"home": "Alder Town", "away": "Brook Rovers"},
)

# (seconds from the start of the cycle, length, type, actions, side, current-track text, record text)
SCRIPT: Sequence[tuple[int, EventType, tuple[Label, ...], Side, str, str]] = (
    (12, EventType.KICK_OFF, (Label.KICK_OFF,), Side.HOME, "[TEAM] get us under way.", "[TEAM] kick off."),
    (16, EventType.OPEN_PLAY, (), Side.NONE, "", "Patient passing in midfield, nothing comes of it."),
    (
        12,
        EventType.SET_PIECE,
        (Label.CORNER, Label.CLEARANCE),
        Side.AWAY,
        "[TEAM] swing the corner in, but it is headed clear at the near post.",
        "A corner by [TEAM] is headed clear.",
    ),
    (20, EventType.OPEN_PLAY, (Label.THROW_IN,), Side.HOME, "", "[TEAM] throw in and lose the ball."),
    (
        8,
        EventType.FOUL_OR_OFFSIDE,
        (Label.FOUL,),
        Side.AWAY,
        "A late challenge by [PLAYER]: a free kick to the home side.",
        "[PLAYER] of [TEAM] commits a foul in midfield.",
    ),
    (24, EventType.OPEN_PLAY, (), Side.NONE, "", "Both sides look for room on the left."),
    (
        8,
        EventType.FINISH,
        (Label.SHOT_ON_TARGET, Label.GOAL),
        Side.HOME,
        "Goal! [TEAM] are ahead: [PLAYER] finishes low into the far corner.",
        "[TEAM] score: a low finish into the far corner.",
    ),
    (16, EventType.KICK_OFF, (Label.KICK_OFF,), Side.AWAY, "[TEAM] start again from the centre.", "[TEAM] restart."),
    (
        8,
        EventType.PENALTY_OR_CARD,
        (Label.YELLOW_CARD,),
        Side.AWAY,
        "[PLAYER] goes into the book for pulling back his man.",
        "A yellow card for [TEAM].",
    ),
    (12, EventType.OPEN_PLAY, (Label.BALL_OUT,), Side.HOME, "", "The ball runs out for a goal kick."),
)


@dataclass
class WrittenMatch:
    """Plays the script over and over; all that it writes is a function of the step, so that it can be resumed."""

    seconds: float = 480.0
    halves: int = 1
    seed: int = 7
    width: int = 16
    gap_at: int | None = None
    texts: dict[str, str] = field(default_factory=dict)  # to say something else than the script: hostile text
    pause: float = 0.0

    def items(self) -> list[Clip | Gap | Progress]:
        """The clips of each half, a gap where one is asked for, and the end of each half."""
        frames = np.zeros((1, 2, 2, 3), dtype=np.uint8)
        found: list[Clip | Gap | Progress] = []
        for half in range(1, self.halves + 1):
            for index in range(int(self.seconds // 4)):
                start = index * 4.0
                if index == self.gap_at:
                    detail = "no picture for 4.00 s"
                    found.append(Gap(half=half, start=start, end=start + 4, reason=GapReason.LOST, detail=detail))
                    continue
                found.append(
                    Clip(
                        half=half, index=index, start=start, end=start + 4, frames=frames, samples=(0,), times=(start,)
                    )
                )
            found.append(Progress.half_end(MatchTime(half, self.seconds)))
        return found

    def write(self, journal: Journal, *, until: int | None = None) -> None:
        """Go on where the journal's newest snapshot was taken, up to a step or to the end."""
        snapshot = journal.resume()
        play = _Play(self, snapshot.state if snapshot else None)
        for number, item in enumerate(self.items(), start=1):
            if until is not None and number > until:
                return
            if snapshot is not None and number <= snapshot.step:
                continue
            with journal.step(item) as step:
                play.step(step, item)


class _Play:
    """What happens, step by step; `state` is all of it that a later step needs."""

    def __init__(self, match: WrittenMatch, state: dict[str, Any] | None) -> None:
        self.match = match
        self.buffer, self.ledger = EventBuffer(), Ledger()
        self.scheduler = Scheduler(ScheduleConfig(recent_tick=60.0, history_cooldown=90.0, history_records=4))
        self.start, self.place, self.tally, self.counts = 0.0, 0, Tally(), {"clips": 0, "held": 0}
        if state is not None:
            self.buffer.load(state["buffer"])
            self.ledger.load(state["ledger"])
            self.scheduler.load(state["scheduler"])
            self.start, self.place, self.counts = state["start"], state["place"], state["counts"]
            self.tally = MatchContext.of_state(state["context"]).tally or Tally()

    def state(self, at: MatchTime) -> dict[str, Any]:
        return {
            "buffer": self.buffer.state(),
            "ledger": self.ledger.state(),
            "scheduler": self.scheduler.state(),
            "start": self.start,
            "place": self.place,
            "counts": dict(self.counts),
            "context": MatchContext(at=at, tally=self.tally, sure=False).state(),
        }

    def step(self, step: Step, item: Clip | Gap | Progress) -> None:
        half, end = item.half, float(item.end)
        at, cutoff = MatchTime(half, end), Cutoff(MatchTime(half, end))
        over = isinstance(item, Progress)
        self.counts["clips"] += isinstance(item, Clip)
        completed = self._closed(step, at, isinstance(item, Gap), over)
        self.buffer.evict(cutoff)
        random_ = random.Random(f"{self.match.seed}/{step.number}")
        query = _vector(self.match, f"query {step.number}")
        ready = self.ledger.ready(cutoff)
        ranking = rank(query, 0.05, eligible(ready, cutoff))
        decision = self.scheduler.decide(
            Seen(cutoff=cutoff, completed=completed, window=self.buffer.window(cutoff), ready=ready, ranking=ranking)
        )
        self.scheduler.note(decision)
        step.decision(decision, ranking if ready else None)
        if decision.track is not None:
            self._speak(step, decision.track, cutoff, completed, ranking.records, random_)
        if random_.random() < 0.01:
            step.note(NoteKind.FAULT, "slow", "The generator took longer than the clip lasts.")
        step.counts(self.counts)
        score = {"score": list(self.tally.score), "sure": False}
        if over:
            self.buffer.clear()
            self.ledger.clear()
            self.start, self.place = 0.0, 0
            step.progress(facts=score)
        else:
            step.progress(
                active=event_id(MATCH, half, self.start),
                active_start=self.start,
                transition=random_.random(),
                pending=step.number % 4,
                facts=score,
                timing={"vision": random_.random() / 5, "memory": 0.01, "lag": random_.random()},
            )
        step.snapshot(self.state(at))

    def _closed(self, step: Step, at: MatchTime, gap: bool, over: bool) -> CompletedMemory | None:
        length, kind, actions, side, _, text = SCRIPT[self.place % len(SCRIPT)]
        end = at.seconds if over else at.seconds - 4.0  # the clip that closes an event starts the next one
        if end <= self.start or not (end - self.start >= length or gap or over):
            return None
        cause = ClosedBy.GAP if gap else ClosedBy.HALF_END if over else ClosedBy.LEARNED
        if cause is ClosedBy.LEARNED and length == 24:
            cause = ClosedBy.ROLLOVER
        name = event_id(MATCH, at.half, self.start)
        memory = CompletedMemory(
            event=name,
            half=at.half,
            start=MatchTime(at.half, self.start),
            end=MatchTime(at.half, end),
            available_at=at,
            tokens=np.outer(np.ones(9, dtype=np.float32), _vector(self.match, name)),  # type: ignore[arg-type]
            key=_vector(self.match, name),
            type=kind,
            actions=actions,
            side=side,
            confidence=0.5 + random.Random(name).random() / 2,
        )
        step.event(memory, cause)
        self.buffer.add(memory)
        for label in actions:
            self.tally = self.tally.plus(Action(label=label, side=side, at=memory.end, available_at=at))
        context = MatchContext(at=at, tally=self.tally, sure=False)
        if (record := assemble(memory, self.match.texts.get("record", text), context, at)) is not None:
            self.ledger.append(record)
            step.record(record)
        self.start, self.place = end, self.place + 1
        return memory

    def _speak(self, step: Step, track: Track, cutoff: Cutoff, completed: Any, ranked: Any, random_: Any) -> None:
        said, evidence = "", []
        if track is Track.CURRENT:
            said = next(each[4] for each in SCRIPT if each[1:4] == (completed.type, completed.actions, completed.side))
            evidence = [Evidence.of_memory(completed)]
        else:
            start = MatchTime(cutoff.at.half, self.start)
            frames = int((cutoff.at.seconds - self.start) * 2)
            interval = {"half": start.half, "start": self.start, "end": cutoff.at.seconds, "frames": frames}
            name = event_id(MATCH, cutoff.at.half, self.start)
            evidence = [Evidence(kind=EvidenceKind.ACTIVE, ref=name, **interval)]
            evidence += [Evidence.of_memory(each) for each in reversed(self.buffer.select(cutoff))]
            said = "The last minutes belonged to [TEAM], who have had more of the ball."
        if track is Track.HISTORICAL:
            evidence += [Evidence.of_record(record, score) for record, score in ranked]
            said = "Another attack on that side, as when they scored earlier in the half."
        text = self.match.texts.get(track.value, said)
        held = track is Track.RECENT and random_.random() < 0.3
        self.counts["held"] += held
        segments = {
            Segment.CLOSING: cutoff.at.seconds - completed.end.seconds if completed else 0.0,
            Segment.ARRIVAL: 0.05,
            Segment.VISION: 0.1 + random_.random() / 10,
            Segment.MEMORY: 0.01,
            Segment.RECORDS: random_.random() / 2,
            Segment.GENERATION: 0.4 + random_.random(),
            Segment.CHECKS: 0.002,
        }
        step.utterance(
            Utterance(
                track=track,
                cutoff=cutoff.at,
                text=text,
                placeholders=tuple(
                    Placeholder(token=word, side=Side.HOME) for word in ("[TEAM]", "[PLAYER]") if word in text
                ),
                events=tuple(each.ref for each in evidence if each.kind is not EvidenceKind.RECORD),
                records=tuple(each.ref for each in evidence if each.kind is EvidenceKind.RECORD),
            ),
            said=text.replace("[TEAM]", "Alder Town").replace("[PLAYER]", "the striker"),
            status=Status.HELD if held else Status.SAID,
            reason="it repeats what was said at 03:12" if held else "",
            event=completed.event if completed and track is Track.CURRENT else None,
            latency=Latency(segments=segments),
            evidence=evidence,
        )


def _vector(match: WrittenMatch, name: str) -> Any:
    seed = random.Random(f"{match.seed}/{name}").getrandbits(32)
    return np.random.default_rng(seed).normal(size=match.width).astype(np.float32)


def written(path: Path, **options: Any) -> Path:
    """A journal of a whole match."""
    with Journal.create(path, HEADER) as journal:
        WrittenMatch(**options).write(journal)
    return path


def rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """All that stands in a journal and does not depend on how fast the machine was."""
    import sqlite3

    from streamsoccer.journal_tables import TABLES

    db = sqlite3.connect(path)
    try:
        for name, table in TABLES.items():
            for row in (found := db.execute(f"SELECT * FROM {name} ORDER BY seq")):
                names = [each[0] for each in found.description]
                yield (name, *(value for column, value in zip(names, row, strict=True) if column not in table.volatile))
    finally:
        db.close()

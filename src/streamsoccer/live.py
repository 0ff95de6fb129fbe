"""A match on the run: clips come in, sentences go out, and every step is on disk before anybody hears of it.

    match = LiveMatch.open(stream, path, header, resume=...)
    with match:
        match.run(open_items(match.begin), outputs)

Whatever fails on the way (the source, the disk, an output, the generator) costs what it costs and no more: the match
goes on, and the journal says what happened. A killed match goes on from its last snapshot: the steps after it that
stand in the journal already are run again and must come out the same.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from streamsoccer.clip import CLIP_SECONDS, Clip, Gap, GapReason
from streamsoccer.clock import Clock, MatchTime, WallClock
from streamsoccer.errors import SourceError, StreamSoccerError, UsageError
from streamsoccer.feed import FeedLine
from streamsoccer.journal import Journal, JournalFull, JournalLocked, JournalUnwritable
from streamsoccer.journal_reader import JournalError, JournalReader, Shown, corrected
from streamsoccer.journal_rows import Header, NoteKind
from streamsoccer.moment import Moment
from streamsoccer.state import Position
from streamsoccer.stream import MatchStream

__all__ = ["LiveMatch", "Load", "Output", "Pace", "Watcher", "rest", "shifted"]

OVER = "over"  # the note that a whole match ends with
_WAITS = (JournalFull, JournalLocked, JournalUnwritable)  # the rows wait in memory and go in later


class Output(Protocol):
    """Where sentences go: a file, a page, a person."""

    def begin(self, said: Iterable[Shown]) -> None: ...

    def say(self, shown: Shown) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """How the match is doing after a step."""

    at: MatchTime
    lag: float  # seconds behind the match, at real pace
    rtf: float  # seconds of work for a second of video, so far
    memory: int  # bytes that this process holds
    queue: int  # captions that wait
    records: int  # of this half
    waiting: int  # steps that wait for room on the disk


class Watcher:
    """Somebody who looks on; by itself it does nothing."""

    def moment(self, moment: Moment, said: Sequence[Shown], load: Load) -> None:
        """A step was taken, and this came of it: sentences that are not visible were held back or failed."""

    def notice(self, kind: str, text: str) -> None:
        """Something that a person should know: a fault, a source that reconnects, a video unlike those of training."""


@dataclass(slots=True)
class Pace:
    """Media time against the clock's: how far behind a step begins; a recording at real pace is held to it."""

    clock: Clock
    real: bool = False
    hold: bool = False
    _half: int = 0
    _origin: float = 0.0  # the clock when this half's second 0 was, or would have been

    def reach(self, item: Clip | Gap) -> float:
        """Wait until the item is due where that is to be, and give the seconds that it comes late."""
        if not self.real:
            return 0.0
        now = self.clock.now()
        if item.half != self._half:
            self._half, self._origin = item.half, now - item.end
        late = now - (self._origin + item.end)
        if late < 0:
            if self.hold:
                self.clock.wait(-late)
            else:
                self._origin += late  # what came before was late, not this early
        return max(0.0, late)


@dataclass(slots=True)
class _Cost:
    """What the run has cost so far."""

    work: float = 0.0
    media: float = 0.0
    troubles: Counter[str] = field(default_factory=Counter)  # what cannot be written now, and how often it was tried


class LiveMatch:
    """One match with its journal, from its first clip or from where it was killed."""

    def __init__(
        self,
        stream: MatchStream,
        journal: Journal,
        *,
        begin: MatchTime | None = None,
        over: bool = False,
        clock: Clock | None = None,
        hold: bool = False,
    ) -> None:
        """`begin` is where the source is to start; `over`: the journal's match has ended already."""
        self.stream, self.journal = stream, journal
        self.begin, self.over = begin, over
        self.clock, self.watcher = clock or WallClock(), Watcher()
        self.notices: deque[tuple[str, str]] = deque()  # what the source says on the side, from whatever thread
        self.outputs: Sequence[Output] = ()
        self.resumed = journal.last > 0
        self._standing = journal.last  # steps up to it were told before
        self._pace = Pace(self.clock, real=stream.real, hold=hold)
        self._cost = _Cost()

    @classmethod
    def open(
        cls,
        stream: MatchStream,
        path: Path,
        header: Header,
        *,
        begin: MatchTime | None = None,
        resume: bool = False,
        clock: Clock | None = None,
        hold: bool = False,
    ) -> LiveMatch:
        """A new match that starts at `begin`, or with `resume` the one whose journal stands at `path`."""
        if not resume:
            journal = Journal.create(path, header)
            return cls(stream, journal, begin=begin, clock=clock, hold=hold)
        journal = Journal.open(path)
        try:
            _same(journal.header, header, path)
            with JournalReader(path) as reader:
                fed = [FeedLine.of_state(each) for step in reader.steps() for each in step.facts.get("feed", ())]
                reached = max((step.cutoff for step in reader.steps()), default=None)
                over = any(each.code == OVER for each in reader.notes())
            match = cls(stream, journal, begin=begin, over=over, clock=clock, hold=hold)
            if (snapshot := journal.resume()) is not None:
                stream.state.load(snapshot.state)
                at = stream.state.position
                match.begin = MatchTime(at.half, at.start if at.clip >= 0 else 0.0)
            if stream.feed is not None and reached is not None:
                stream.feed.obey(fed, reached)
        except BaseException:
            journal.close()
            raise
        return match

    def __enter__(self) -> LiveMatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()

    def run(self, items: Iterable[Clip | Gap], outputs: Sequence[Output] = (), *, live: bool = False) -> None:
        """All that comes, to the end. A source that breaks off ends the match as well; its error is raised after that.

        `live`: the source starts where it is now, so that a match that is resumed goes on after a gap.
        """
        self.begin_outputs(outputs)
        at = self.stream.state.position
        if self.over:
            self.watcher.notice("over", "this match is over already: its outputs were written again")
            return
        if self.stream.state.step:
            items = shifted(items, at) if live else rest(items, at)
        broken: SourceError | None = None
        stream = iter(items)
        try:
            while True:
                begun = self.clock.now()
                try:
                    item = next(stream, None)
                except SourceError as error:
                    item, broken = None, error
                if item is None:
                    break
                if not self.stream.real:
                    self._cost.work += self.clock.now() - begun  # reading is work where nobody waits for the match
                self.take(item)
        finally:
            if isinstance(stream, Generator):
                stream.close()
        self.end()
        at = self.stream.state.position
        if broken is not None:
            self._note(NoteKind.FAULT, "source", str(broken.problem), at.at)
            raise broken
        if (
            not self.journal.waiting
        ):  # one whose last steps found no room is not over: it goes on from its last snapshot
            self._note(NoteKind.NOTICE, OVER, "the match is over", at.at)

    def begin_outputs(self, outputs: Sequence[Output]) -> None:
        """Bring outputs to where the journal stands."""
        self.outputs = outputs
        with JournalReader(self.journal.path) as reader:
            said = reader.shown()
        for output in outputs:
            try:
                output.begin(said)
            except StreamSoccerError as error:
                self._trouble(type(output).__name__, error, self.stream.state.position.at)

    def take(self, item: Clip | Gap) -> list[Moment]:
        """One clip or gap: step, journal, outputs, in this order."""
        lag = self._pace.reach(item)
        return self._told(self.clock.now(), lag, self.stream.step(item, lag=lag))

    def end(self) -> list[Moment]:
        """The match is over, or its source is."""
        return self._told(self.clock.now(), 0.0, self.stream.end())

    # --- one step ---

    def _told(self, begun: float, lag: float, moments: list[Moment]) -> list[Moment]:
        for moment in moments:
            said = self._written(moment)
            self._cost.work += self.clock.now() - begun
            begun = self.clock.now()
            self._cost.media += moment.item.end - moment.item.start
            self.watcher.moment(moment, said, self._load(moment, lag))
            for note in moment.notes:
                if note.kind is not NoteKind.GAP:
                    self.watcher.notice(note.kind.value, note.text)
            while self.notices:
                kind, text = self.notices.popleft()
                self._note(NoteKind.NOTICE, kind, text, moment.at)
                self.watcher.notice(kind, text)
        return moments

    def _written(self, moment: Moment) -> list[Shown]:
        """The journal first: what is said stands there."""
        said: list[Shown] = []
        try:
            with self.journal.step(moment.item) as step:
                moment.write(step)
                said = [corrected(line, ()) for line in step.lines] if step.number > self._standing else []
        except _WAITS as error:
            self._trouble("journal", error, moment.at)
        else:
            self._mended("journal", moment.at)
        for output in self.outputs:
            try:
                for each in said:
                    output.say(each)
            except StreamSoccerError as error:
                self._trouble(type(output).__name__, error, moment.at)
            else:
                if any(each.visible for each in said):
                    self._mended(type(output).__name__, moment.at)
        return said

    def _load(self, moment: Moment, lag: float) -> Load:
        return Load(
            at=moment.at,
            lag=lag,
            rtf=self._cost.work / self._cost.media if self._cost.media else 0.0,
            memory=held_bytes(),
            queue=moment.pending,
            records=len(self.stream.state.ledger),
            waiting=self.journal.waiting,
        )

    def _trouble(self, what: str, error: StreamSoccerError, at: MatchTime) -> None:
        """Told once, until it works again."""
        self._cost.troubles[what] += 1
        if self._cost.troubles[what] == 1:
            self.watcher.notice(NoteKind.FAULT.value, str(error))
            self._note(NoteKind.FAULT, "output" if what != "journal" else what, f"{what}: {error.problem}", at)

    def _mended(self, what: str, at: MatchTime) -> None:
        if times := self._cost.troubles.pop(what, 0):
            text = f"{what}: written again, with all that waited, after {times} that failed"
            self.watcher.notice(NoteKind.NOTICE.value, text)
            self._note(NoteKind.NOTICE, "mended", text, at)

    def _note(self, kind: NoteKind, code: str, text: str, at: MatchTime) -> None:
        with suppress(JournalError):  # where that is what is broken, it is told when it works again
            self.journal.tell(kind, code, text, half=at.half, at=at.seconds)


def _same(there: Header, now: Header, path: Path) -> None:
    """A match goes on with what it was begun with, or not at all."""
    for name in ("match", "source", "model", "profile", "pace", "sheet"):
        mine, other = getattr(there, name), getattr(now, name)
        if mine != other:
            raise UsageError(
                f"was begun with another {name}: {_short(mine)}, now {_short(other)}",
                where=path,
                remedy="resume with what it was begun with, or start anew in another folder with --out",
            )
    for name in sorted({*there.options, *now.options}):
        mine, other = there.options.get(name), now.options.get(name)
        if mine != other:
            raise UsageError(
                f"was begun with {name} {_short(mine)}, now {_short(other)}",
                where=path,
                remedy="resume with the options of the first run, or start anew in another folder with --out",
            )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def rest(items: Iterable[Clip | Gap], at: Position) -> Iterator[Clip | Gap]:
    """What comes after the last item that was taken in, of a source that was opened at that item's clip."""
    before, gaps = at.clip >= 0, at.gaps
    for item in items:
        if item.half != at.half:
            before, gaps = False, 0
        elif before and (isinstance(item, Gap) or item.index <= at.clip):
            before = isinstance(item, Gap) or item.index < at.clip
            continue
        elif gaps and isinstance(item, Gap):
            gaps -= 1
            continue
        before, gaps = False, 0
        yield item


def shifted(items: Iterable[Clip | Gap], at: Position) -> Iterator[Clip | Gap]:
    """A live source that starts anew, behind what came before: time goes on with a whole clip, after a gap."""
    clips = int(-(-at.end // CLIP_SECONDS))
    by = clips * CLIP_SECONDS
    detail = "the run had ended and was taken up again"
    yield Gap(half=at.half, start=at.end, end=by, reason=GapReason.RECONNECTED, detail=detail)
    for item in items:
        start, end = item.start + by, item.end + by
        if isinstance(item, Gap):
            yield replace(item, half=at.half, start=start, end=end)
        else:
            times = tuple(each + by for each in item.times)
            yield replace(item, half=at.half, index=item.index + clips, start=start, end=end, times=times)


def held_bytes() -> int:
    """Memory that this process holds; where the system does not say, the most that it ever did."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")

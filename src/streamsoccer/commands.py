"""What the commands about a match do: `run` puts source, model, journal and outputs together.

Beside cli.py this is the one core file that knows folders: it is where they meet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from streamsoccer.clock import MatchTime, parse_seconds, utc_date
from streamsoccer.errors import UsageError

if TYPE_CHECKING:
    from streamsoccer.clip import Clip, Gap
    from streamsoccer.domain import MatchSheet
    from streamsoccer.journal_rows import Header
    from streamsoccer.mind import Mind
    from streamsoccer.runtime import RuntimeConfig
    from streamsoccer.sources import Source

__all__ = ["JOURNAL", "RunRequest", "open_mind", "parse_begin", "replay_match", "run_match"]

JOURNAL = "match.journal"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """`streamsoccer run` as it was asked for."""

    source: str
    model: Path | None = None
    sheet: Path | None = None
    feed: Path | None = None
    out: Path | None = None
    formats: str = "jsonl,vtt,srt,soccernet"
    pace: str = ""
    begin: str = ""
    half: int = 1
    half_starts: str = ""
    device: str = ""
    resume: bool = False
    as_json: bool = False

    @property
    def real(self) -> bool:
        from streamsoccer.sources import is_live

        if self.pace not in ("", "real", "fast"):
            raise UsageError(f"--pace {self.pace!r}", remedy="write real or fast")
        if is_live(self.source) and self.pace == "fast":
            raise UsageError("a live source has its own pace", where=self.source, remedy="leave --pace out")
        return self.pace == "real" or is_live(self.source)


def parse_begin(text: str, half: int) -> MatchTime | None:
    """Read 'MM:SS' of this half, 'H - MM:SS', or nothing."""
    if not text:
        return None
    return MatchTime.parse(text) if "-" in text else MatchTime(half, parse_seconds(text))


def open_mind(model: Path | None, device: str = "", config: RuntimeConfig | None = None) -> Mind:
    """A model ready to run: the bundled one where none is named, on a GPU where there is one."""
    from streamsoccer.bundled import bundled_model

    folder = model or bundled_model()

    import torch

    from streamsoccer.checkpoint import from_pretrained
    from streamsoccer.mind import Mind

    chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"--device {chosen}: {str(error).splitlines()[0]}", remedy="leave it out, or cpu") from error
    return Mind(from_pretrained(folder, device=chosen), config)


def run_match(request: RunRequest) -> None:
    """A whole match, from its source to its outputs."""
    from streamsoccer.clock import WallClock
    from streamsoccer.domain import MatchSheet
    from streamsoccer.feed import Feed
    from streamsoccer.journal import JournalExists
    from streamsoccer.live import LiveMatch
    from streamsoccer.outputs.formats import open_sinks, parse_formats
    from streamsoccer.outputs.sink import Layout
    from streamsoccer.outputs.terminal import JsonTerminal, Terminal
    from streamsoccer.sheet import read_sheet
    from streamsoccer.sources import Options, is_live, match_name, open_source, parse_half_starts
    from streamsoccer.stream import MatchStream

    formats, real, live = parse_formats(request.formats), request.real, is_live(request.source)
    begin, starts = parse_begin(request.begin, request.half), parse_half_starts(request.half_starts)
    sheet = read_sheet(request.sheet) if request.sheet else MatchSheet()
    feed = Feed(request.feed, sheet) if request.feed else None
    name = match_name(request.source)
    out = request.out or Path(f"{name.rpartition('/')[2]}.commentary")
    path = out / JOURNAL
    if path.exists() and not request.resume:
        raise JournalExists("there is a match already", where=path, remedy="go on with --resume, or choose --out")
    if request.resume and not path.exists():
        raise UsageError("there is no match to go on with", where=path, remedy="leave --resume out, or see --out")

    def opened(at: MatchTime | None) -> Source:
        options = Options(tell=lambda notice: notices.append((notice.kind, notice.text)))
        return open_source(request.source, half=request.half, half_starts=starts, begin=at, options=options)

    notices: deque[tuple[str, str]] = deque()
    source = opened(begin)
    threads = _threads_of(path if request.resume else None)
    mind = open_mind(request.model, request.device)
    header = _header(request, mind, name, source, sheet, threads)
    stream = MatchStream(mind, name, sheet=sheet, feed=feed, clock=WallClock(), real=real)
    notices.extend(_of_model(mind))
    first = None if request.resume else started(source)  # nothing is made for a source that gives nothing
    _make_folder(out)
    terminal: JsonTerminal | Terminal = JsonTerminal(Layout.of(header)) if request.as_json else Terminal(real=real)
    match = LiveMatch.open(stream, path, header, begin=begin, resume=request.resume, hold=real and not live)
    match.watcher, match.notices = terminal, notices
    with match, terminal, _on_threads(threads):
        try:
            # a live source has no place to start from: it goes on where it is now, after a gap
            items: Iterable[Clip | Gap] = opened(None if live else match.begin) if first is None else first
            match.run(items, open_sinks(out, formats, header), live=live)
        except KeyboardInterrupt:
            terminal.notice("interrupted", "go on with the same command and --resume")
            raise
        finally:
            terminal.summary()


def started(items: Iterable[Clip | Gap]) -> Iterator[Clip | Gap]:
    """The same items, the first of them in hand: whatever keeps a source from starting is known by now."""
    stream = iter(items)
    first = next(stream, None)
    return stream if first is None else chain([first], stream)


def _threads_of(journal: Path | None) -> int:
    """How many threads a match is computed on: one core is the decoder's. What is computed depends on the number in its
    last bits, so a match that goes on, or is replayed, keeps to that of its journal."""
    import torch

    from streamsoccer.journal_reader import JournalReader

    before = 0
    if journal is not None:
        with JournalReader(journal) as reader:
            before = int(reader.header.options.get("threads", 0))
    return before or max(1, torch.get_num_threads() - 1)


@contextmanager
def _on_threads(count: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _header(request: RunRequest, mind: Mind, name: str, source: Source, sheet: MatchSheet, threads: int) -> Header:
    from streamsoccer.config import to_mapping
    from streamsoccer.journal_rows import Header
    from streamsoccer.sheet import sheet_state

    return Header(
        match=name,
        source=source.name,
        model=mind.fingerprint,
        profile=mind.prompter.fingerprint,
        pace="real" if request.real else "fast",
        started=utc_date(),
        options={
            "from": request.begin,
            "half": request.half,
            "half_starts": request.half_starts,
            "feed": "" if request.feed is None else request.feed.name,
            "device": mind.device.type,
            "threads": threads,
            "runtime": to_mapping(mind.config),
        },
        sheet=sheet_state(sheet),
        films={str(number): list(film) for number, film in source.films.items()},
    )


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot be made: {error.strerror}", where=out, remedy="choose another folder with --out"
        ) from error


def _of_model(mind: Mind) -> Iterator[tuple[str, str]]:
    """What a person should know of the model before the match begins."""
    if mind.familiarity is None:
        yield "familiarity", "the model does not say what its training videos look like: no warning of others"


def replay_match(path: Path, model: Path | None, device: str, *, as_json: bool) -> bool:
    """A journal said again; whether all came out as it stands there."""
    from streamsoccer.journal_reader import JournalReader
    from streamsoccer.outputs.replayed import show_replay
    from streamsoccer.replay import replay, runtime_of

    with JournalReader(path) as reader:
        mind = open_mind(model, device or str(reader.header.options.get("device", "")), runtime_of(reader))
        if mind.fingerprint != reader.header.model:
            raise UsageError(
                "was written with another model, so nothing could come out the same",
                where=path,
                remedy="name the folder of that model with --model",
            )
        with _on_threads(_threads_of(path)):
            return show_replay(replay(reader, mind), as_json=as_json)

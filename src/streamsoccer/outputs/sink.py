"""What an output is, and how its files stay whole: a reader may open them at any moment, also after a kill.

A sink is begun with what was said so far (nothing, or the lines of a match that is resumed or corrected) and then told
each new line. A file that cannot be written costs an `OutputError`, once a line; the lines are kept, and the first
write that succeeds brings them all. Times in files for players are the film's own: `Layout` says where each half lies
in which film, and the second half of a match in one film comes at its place in that film.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from streamsoccer.clock import MatchTime
from streamsoccer.errors import StreamSoccerError
from streamsoccer.journal_reader import Shown
from streamsoccer.journal_rows import Header

__all__ = ["Cue", "Cues", "GrowingFile", "Layout", "OutputError", "Sink", "one_line", "replace_file"]

SHORTEST, LONGEST = 2.5, 7.0  # seconds that a caption stands
CHARACTERS_A_SECOND = 15.0  # a comfortable speed to read at
PATIENCE = 4.0  # a caption waits no longer than this for the one before it: then both stand for a moment


class OutputError(StreamSoccerError):
    """An output that cannot be written now; what it should hold is kept."""


class Sink(Protocol):
    """Takes the sentences of a match to the world."""

    def begin(self, said: Iterable[Shown]) -> None:
        """Start with what was said before; whatever the file held is replaced."""

    def say(self, shown: Shown) -> None:
        """Add a sentence; cutoffs do not go back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Where each half lies: the film's name, and the second of the film at which the half starts."""

    films: Mapping[int, tuple[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, header: Header) -> Layout:
        return cls(films={int(half): (str(film), float(start)) for half, (film, start) in header.films.items()})

    def place(self, at: MatchTime) -> tuple[str, float]:
        """The film and the second in it; a half without a film of its name is one of its own."""
        film, start = self.films.get(at.half, (f"half {at.half}", 0.0))
        return film, start + at.seconds

    def number(self, film: str) -> int:
        """Which film it is, from 1, in order of the halves."""
        names = list(dict.fromkeys(self.films[half][0] for half in sorted(self.films)))
        return names.index(film) + 1 if film in names else int(film.removeprefix("half "))

    def told(self, film: str) -> str:
        """In words, how the halves lie in this film."""
        starts = [(half, start) for half, (name, start) in sorted(self.films.items()) if name == film]
        return "; ".join(f"half {half} starts at {start:g} s" for half, start in starts) or f"{film} starts at 0 s"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cue:
    """A caption in a film's time."""

    id: str
    number: int  # within its film, from 1
    start: float
    end: float
    text: str


class Cues:
    """Sentences to captions: each appears at its cutoff and stands as long as it takes to read.

    A sentence that comes while another stands waits for it, by at most four seconds; so all depends on the past alone.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._until: dict[str, float] = {}
        self._count: dict[str, int] = {}

    def of(self, shown: Shown) -> tuple[str, Cue]:
        film, at = self.layout.place(shown.line.cutoff)
        start = max(at, min(self._until.get(film, 0.0), at + PATIENCE))
        text = one_line(shown.text)
        end = start + min(LONGEST, max(SHORTEST, 1.0 + len(text) / CHARACTERS_A_SECOND))
        self._until[film] = end
        self._count[film] = number = self._count.get(film, 0) + 1
        name = shown.line.id.rpartition("#")[2]
        return film, Cue(id=name, number=number, start=start, end=end, text=text)


def one_line(text: str) -> str:
    """Text for a caption: no line breaks, no control characters, and none that change the direction of what follows."""
    kept = (" " if each.isspace() else each for each in text if each.isprintable() or each.isspace())
    return " ".join("".join(kept).split())


class GrowingFile:
    """A text file that is made whole under another name and then grows by whole blocks, each one write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._blocks: list[bytes] = []
        self._behind = True  # the file does not hold the blocks: the next write makes it anew

    def begin(self, blocks: Iterable[str]) -> None:
        self._blocks = [each.encode() for each in blocks]
        self._behind = True
        self._write_all()

    def add(self, block: str) -> None:
        data = block.encode()
        size = sum(map(len, self._blocks))
        self._blocks.append(data)
        if self._behind or not self._is(size):
            self._write_all()
            return
        try:
            with self.path.open("ab", buffering=0) as file:
                written = file.write(data)
        except OSError as error:
            self._behind = True
            raise _unwritable(self.path, error) from error
        if written != len(data):  # a disk that has become full takes a part
            self._behind = True
            with suppress(OSError):
                os.truncate(self.path, size)
            raise OutputError("the disk is full", where=self.path, remedy="make room; the lines are kept meanwhile")

    def _is(self, size: int) -> bool:
        try:
            return self.path.stat().st_size == size
        except OSError:
            return False

    def _write_all(self) -> None:
        replace_file(self.path, b"".join(self._blocks))
        self._behind = False


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in the place of another in one step: whoever opens it sees the old one or the new one, whole."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"cannot be written: {error.strerror}",
        where=path,
        remedy="look at the folder's rights and the room on the disk",
    )

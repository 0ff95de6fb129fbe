"""Captions for players, WebVTT and SRT: one file a film, in the film's own time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

from streamsoccer.journal_reader import Shown
from streamsoccer.outputs.sink import Cue, Cues, GrowingFile, Layout, OutputError

__all__ = ["Captions", "SubRip", "WebVtt"]


class Captions(ABC):
    """A sink of captions; `<name><suffix>` is the first film's file, `<name>.2<suffix>` the second one's."""

    suffix: str

    def __init__(self, folder: Path, layout: Layout, name: str = "commentary") -> None:
        self.folder, self.layout, self.name = folder, layout, name
        self._files: dict[str, GrowingFile] = {}
        self._cues = Cues(layout)

    @abstractmethod
    def head(self, film: str) -> str:
        """What the file starts with."""

    @abstractmethod
    def block(self, cue: Cue) -> str:
        """One caption with all that parts it from the next."""

    def path(self, film: str) -> Path:
        number = self.layout.number(film)
        return self.folder / f"{self.name}{'' if number == 1 else f'.{number}'}{self.suffix}"

    def begin(self, said: Iterable[Shown]) -> None:
        self._files, self._cues = {}, Cues(self.layout)
        films = dict.fromkeys(film for film, _ in self.layout.films.values()) or {"half 1": None}
        blocks: dict[str, list[str]] = {film: [self.head(film)] for film in films}
        for shown in said:
            if shown.visible:
                film, cue = self._cues.of(shown)
                blocks.setdefault(film, [self.head(film)]).append(self.block(cue))
        self._files = {film: GrowingFile(self.path(film)) for film in blocks}
        failed: OutputError | None = None
        for film, held in blocks.items():
            try:
                self._files[film].begin(held)
            except OutputError as error:  # each file has its blocks before any of them complains
                failed = failed or error
        if failed is not None:
            raise failed

    def say(self, shown: Shown) -> None:
        if not shown.visible:
            return
        film, cue = self._cues.of(shown)
        if film in self._files:
            self._files[film].add(self.block(cue))
        else:
            self._files[film] = GrowingFile(self.path(film))
            self._files[film].begin([self.head(film), self.block(cue)])


class WebVtt(Captions):
    """WebVTT, as browsers read it; a note at the top says how the halves lie in the film."""

    suffix = ".vtt"

    def head(self, film: str) -> str:
        return f"WEBVTT\n\nNOTE {_without_arrow(self.layout.told(film))}\n\n"

    def block(self, cue: Cue) -> str:
        text = cue.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"{_without_arrow(cue.id)}\n{_time(cue.start, '.')} --> {_time(cue.end, '.')}\n{text}\n\n"


class SubRip(Captions):
    """SRT. It knows no escapes and players take <b> and {...} for markup, so brackets come as their likes."""

    suffix = ".srt"
    _LIKE = str.maketrans({"<": "‹", ">": "›", "{": "(", "}": ")", "\\": "/"})

    def head(self, film: str) -> str:
        return ""

    def block(self, cue: Cue) -> str:
        text = cue.text.translate(self._LIKE)
        return f"{cue.number}\n{_time(cue.start, ',')} --> {_time(cue.end, ',')}\n{text}\n\n"


def _time(seconds: float, mark: str) -> str:
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{milliseconds:03d}"


def _without_arrow(text: str) -> str:
    return " ".join(text.replace("-->", "->").split())

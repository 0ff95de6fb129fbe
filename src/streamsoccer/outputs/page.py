"""The page of a match: one HTML file with all that it needs, the film beside it or inside it.

The same page shows a finished journal (its rows stand in the file) and a live one (rows come from `server/`). Text
reaches it as JSON in which no character can end a script, and the page sets it as text, never as markup; the
content policy lets run nothing but the page's own script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from streamsoccer.domain import EVENT_SECONDS, LOCAL_EVENTS, LOCAL_SECONDS
from streamsoccer.errors import StreamSoccerError, UsageError
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import Header
from streamsoccer.outputs.rows import header_of, row_of
from streamsoccer.outputs.sink import (
    CHARACTERS_A_SECOND,
    LONGEST,
    PATIENCE,
    SHORTEST,
    Layout,
    replace_file,
)

__all__ = [
    "EMBEDDED_BYTES",
    "Film",
    "data_of",
    "films_of",
    "found_films",
    "journal_in",
    "page_of",
    "render",
    "title_of",
    "write_page",
]

EMBEDDED_BYTES = 8_000_000  # a film that is not near the page goes into it up to this size
_ALL = 10_000_000
_SCRIPTS = ("match.js", "player.js", "drawing.js", "panels.js", "page.js")
_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mkv": "video/x-matroska"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Film:
    """A film of the page: where the browser gets it, and at which of its seconds each half starts."""

    src: str
    halves: Mapping[int, float] = field(default_factory=lambda: {1: 0.0})

    def state(self) -> dict[str, Any]:
        return {"src": self.src, "halves": {str(half): at for half, at in self.halves.items()}}


def render(data: Mapping[str, Any], title: str) -> str:
    """The page as HTML; `data` is what the script reads, see `page_of`."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "media-src 'self' file: data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": _escaped(title),
        "style": f"<style>{style}</style>",
        "data": _in_script(data),
        "script": f"<script>{script}</script>",
    }
    # the places are found in the template alone: what is put in may hold such marks itself
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: values[mark[1]], _asset("page.html"))


def page_of(reader: JournalReader, films: Sequence[Film] = ()) -> dict[str, Any]:
    """What the script reads of a journal as it stands: the match, its films, and all rows."""
    rows = [row_of(each) for each in reader.since(0, limit=_ALL)]
    return data_of(header_of(reader.header), films, rows)


def data_of(
    header: Mapping[str, Any], films: Sequence[Film], rows: Sequence[Mapping[str, Any]] = (), *, live: bool = False
) -> dict[str, Any]:
    """The same from its parts; a live page asks its server for header, films and rows."""
    return {
        "header": header,
        "films": [each.state() for each in films],
        "live": live,
        "limits": {"window": LOCAL_SECONDS, "selected": LOCAL_EVENTS, "event": EVENT_SECONDS},
        "caption": {"shortest": SHORTEST, "longest": LONGEST, "speed": CHARACTERS_A_SECOND, "patience": PATIENCE},
        "rows": rows,
    }


def journal_in(path: Path) -> Path:
    """The journal that is meant by its own name or by that of the folder which it stands in, or will stand in."""
    return path if path.suffix == ".journal" or path.is_file() else path / "match.journal"


def found_films(header: Header, near: Path) -> list[Path]:
    """The films that a journal names, where they still are: the source itself, or files in the source's folder."""
    names = list(dict.fromkeys(str(name) for _, (name, _) in sorted(header.films.items())))
    for source in (Path(header.source), near / header.source):
        if source.is_file():
            return [source]
        films = [source / name for name in names]
        if films and all(each.is_file() for each in films):
            return films
    return []


def films_of(reader: JournalReader, paths: Sequence[Path], link: Callable[[Path], str]) -> list[Film]:
    """The films of a page, one for the whole match or one a half in order; `link` says where the browser gets each."""
    layout = Layout.of(reader.header)
    halves = sorted({each.half for each in reader.steps()} | set(layout.films)) or [1]
    if len(paths) > 1 and len(paths) != len(halves):
        raise UsageError(f"{len(paths)} films for {len(halves)} halves", remedy="give one film, or one for each half")
    for path in paths:
        if not path.is_file():
            raise UsageError("there is no such film", where=path)
    starts = {half: layout.films[half][1] if half in layout.films else 0.0 for half in halves}
    if len(paths) == 1:
        if len(set(starts.values())) != len(halves):
            raise UsageError(
                f"one film for {len(halves)} halves, and the journal does not say where they start in it",
                where=paths[0],
                remedy="give one film for each half: --film FIRST --film SECOND",
            )
        return [Film(src=link(paths[0]), halves=starts)]
    return [Film(src=link(path), halves={half: starts[half]}) for half, path in zip(halves, paths, strict=False)]


def write_page(journal: Path, out: Path, films: Sequence[Path] | None = None, *, embed: bool | None = None) -> Path:
    """The page of a journal as it stands; whatever was at `out` is replaced in one step.

    Without `films` they are those that the journal names, if they are still there. `embed` puts them into the page, so
    that it can go anywhere alone; by default that is done with small films that are not in its folder.
    """
    with JournalReader(journal) as reader:
        paths = found_films(reader.header, journal.parent) if films is None else films
        data = page_of(reader, films_of(reader, paths, lambda film: _source(film, out, embed)))
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, render(data, title_of(data["header"])).encode())
    return out


def title_of(header: Mapping[str, Any]) -> str:
    """'Alder Town – Brook Rovers', or the match's ID."""
    names = [str(header[each]) for each in ("home", "away") if header[each]]
    return " – ".join(names) if len(names) == 2 else str(header["match"])


def _source(film: Path, out: Path, embed: bool | None) -> str:
    """A film in or below the page's folder is linked, a small one elsewhere is put into the page, a large one linked
    by the way that leads to it from there; `embed` says otherwise."""
    folder, film = out.resolve().parent, film.resolve()
    kind = _TYPES.get(film.suffix.lower(), "video/mp4")
    if embed is None:
        embed = not film.is_relative_to(folder) and film.stat().st_size <= EMBEDDED_BYTES
    if embed:
        try:
            return f"data:{kind};base64,{base64.b64encode(film.read_bytes()).decode()}"
        except OSError as error:
            raise StreamSoccerError(f"cannot be read: {error.strerror}", where=film) from error
    return quote(Path(os.path.relpath(film, folder)).as_posix())


def _asset(name: str) -> str:
    return files("streamsoccer.outputs").joinpath("web", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def _in_script(data: Mapping[str, Any]) -> str:
    """JSON that holds nothing which HTML could take for the end of a script, or for anything else."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from streamsoccer.errors import StreamSoccerError, UsageError
from streamsoccer.journal_reader import JournalReader
from streamsoccer.outputs.rows import header_of, row_of
from streamsoccer.outputs.sink import Layout, replace_file

__all__ = ["EMBEDDED_BYTES", "Film", "films_of", "page_of", "render", "write_page"]

EMBEDDED_BYTES = 8_000_000  # a film that is not near the page goes into it up to this size
_SCRIPTS = ("match.js", "drawing.js", "panels.js", "page.js")
_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mkv": "video/x-matroska"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Film:
    """A film of the page: where the browser gets it, and at which of its seconds each half starts."""

    src: str
    halves: Mapping[int, float] = field(default_factory=lambda: {1: 0.0})


def render(data: Mapping[str, Any], title: str) -> str:
    """The page as HTML; `data` is what the script reads, see `page_of`."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "media-src 'self' file: data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": _escaped(title),
        "style": _asset("page.css"),
        "data": _in_script(data),
        "script": script,
    }
    page = _asset("page.html")
    for name, value in values.items():
        before, mark, after = page.partition(f"{{{{{name}}}}}")
        if not mark:
            raise AssertionError(f"page.html has no place for {name}")
        page = before + value + after
    return page


def page_of(
    reader: JournalReader, films: Sequence[Film] = (), *, live: bool = False, until: int | None = None
) -> dict[str, Any]:
    """What the script reads: the match, its films, and its rows so far; a live page asks for those after them."""
    rows = [] if live else [row_of(each) for each in reader.since(0, limit=10_000_000)]
    return {
        "header": header_of(reader.header),
        "films": [{"src": each.src, "halves": {str(half): at for half, at in each.halves.items()}} for each in films],
        "live": live,
        "rows": rows if until is None else rows[:until],
    }


def films_of(reader: JournalReader, paths: Sequence[Path], out: Path) -> list[Film]:
    """The films for a page at `out`: one for the whole match, or one a half in order."""
    layout = Layout.of(reader.header)
    halves = sorted({each.half for each in reader.steps()} | {1})
    if len(paths) > 1 and len(paths) != len(halves):
        raise UsageError(f"{len(paths)} films for {len(halves)} halves", remedy="give one film, or one for each half")
    for path in paths:
        if not path.is_file():
            raise UsageError("there is no such film", where=path)
    if len(paths) == 1:
        starts = {half: layout.films[half][1] if half in layout.films else 0.0 for half in halves}
        if len(halves) > 1 and len({*starts.values()}) != len(halves):
            raise UsageError(
                f"one film for {len(halves)} halves, and the journal does not say where they start in it",
                where=paths[0],
                remedy="give one film for each half: --film FIRST --film SECOND",
            )
        return [Film(src=_source(paths[0], out), halves=starts)]
    return [
        Film(src=_source(path, out), halves={half: layout.films[half][1] if half in layout.films else 0.0})
        for half, path in zip(halves, paths, strict=False)
    ]


def write_page(journal: Path, out: Path, films: Sequence[Path] = ()) -> Path:
    """The page of a journal as it stands; whatever was at `out` is replaced in one step."""
    with JournalReader(journal) as reader:
        data = page_of(reader, films_of(reader, films, out))
        header = reader.header
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, render(data, title_of(data["header"]) or header.match).encode())
    return out


def title_of(header: Mapping[str, Any]) -> str:
    """'Alder Town – Brook Rovers', or the match's ID."""
    names = [str(header[each]) for each in ("home", "away") if header[each]]
    return " – ".join(names) if len(names) == 2 else str(header["match"])


def _source(film: Path, out: Path) -> str:
    """A film in or below the page's folder is linked, a small one elsewhere is put into the page, a large one linked
    by the way that leads to it from there."""
    folder, film = out.resolve().parent, film.resolve()
    kind = _TYPES.get(film.suffix.lower(), "video/mp4")
    if not film.is_relative_to(folder) and film.stat().st_size <= EMBEDDED_BYTES:
        try:
            return f"data:{kind};base64,{base64.b64encode(film.read_bytes()).decode()}"
        except OSError as error:
            raise StreamSoccerError(f"cannot be read: {error.strerror}", where=film) from error
    return quote(Path(os.path.relpath(film, folder)).as_posix())


def _asset(name: str) -> str:
    return files("streamsoccer.outputs").joinpath("web", name).read_text(encoding="utf-8")


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

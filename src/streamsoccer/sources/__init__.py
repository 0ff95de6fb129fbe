"""Video to clips, from wherever it comes; knows nothing about events."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from streamsoccer.clock import MatchTime, format_seconds, parse_seconds
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.sources.file import FileSource
from streamsoccer.sources.game import GameSource
from streamsoccer.sources.live import LiveSource, without_secrets
from streamsoccer.sources.pack import SUFFIX, PackSource
from streamsoccer.sources.policy import Access
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import Notice, OnFull, Options, Source

__all__ = [
    "Notice",
    "OnFull",
    "Options",
    "Source",
    "is_live",
    "match_name",
    "open_source",
    "parse_half_starts",
    "parse_on_full",
]

_SCHEMES = {
    "http": Access.HTTP,
    "https": Access.HTTP,
    "udp": Access.UDP,
    "rtsp": Access.RTSP,
    "rtsps": Access.RTSP,
    "rtmp": Access.RTMP,
    "rtmps": Access.RTMP,
    "rtmpt": Access.RTMP,
}


def open_source(
    what: str | Path,
    *,
    half: int = 1,
    half_starts: Sequence[tuple[float, float]] | None = None,
    begin: MatchTime | None = None,
    options: Options | None = None,
) -> Source:
    """Clips from a file, a SoccerNet game folder, a pack, a live URL, or '-' for a pipe on standard input.

    A file or stream is half `half`, unless `half_starts` gives each half's (start, end) within a file. `begin` skips
    to the clip that holds this time of its half; live sources begin where they are. A pack (.clips) knows its half.
    """
    options = options or Options()
    text = str(what)
    scheme = match[1].lower() if (match := re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", text)) else None
    if scheme is not None or text == "-":
        if begin is not None or half_starts is not None:
            raise UsageError("a live source starts now: --from and --half-starts are for files", where=text)
        return _live(text, scheme, half, options)
    path = Path(what)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a folder may not be looked into
        if half_starts is not None:
            raise UsageError("a game folder has a file for each half; --half-starts is for one file", where=path)
        return GameSource(path, begin=begin, options=options)
    if path.suffix == SUFFIX:
        if half_starts is not None:
            raise UsageError("a pack holds one half; --half-starts is for one video file", where=path)
        return PackSource.lone(path, begin=begin, options=options)
    spans = half_starts or [(0.0, float("inf"))]
    first = half if half_starts is None else 1
    stretches = [Stretch(half=first + place, start=start, end=end) for place, (start, end) in enumerate(spans)]
    return FileSource(path, stretches=stretches, begin=_media_time(stretches, begin), options=options)


def is_live(what: str | Path) -> bool:
    """Whether a source goes on by itself and can only be read from where it is now."""
    return str(what) == "-" or "://" in str(what)


def match_name(what: str | Path) -> str:
    """What a match is called by its source: league/season/game of a SoccerNet folder, else the file's own name."""
    if is_live(what):
        return "live"
    path = Path(what).resolve()
    return "/".join(path.parts[-3:]) if os.path.isdir(path) else path.stem  # noqa: PTH112


def _live(text: str, scheme: str | None, half: int, options: Options) -> LiveSource:
    if scheme is None:
        return LiveSource("pipe:0", Access.PIPE, half=half, options=options)
    try:
        shown, port = without_secrets(text), urlsplit(text).port
    except ValueError as error:
        raise UsageError(
            f"not a URL ({error})", where=text.partition("://")[0], remedy="as in rtsp://HOST/PATH"
        ) from None
    if scheme == "srt":
        raise SourceError(
            "SRT is not in this build of FFmpeg",
            where=shown,
            remedy=f"pipe it in: srt-live-transmit '{shown}' file://con | streamsoccer clips -",
        )
    if (access := _SCHEMES.get(scheme)) is None:
        known = ", ".join(sorted(_SCHEMES))
        raise SourceError(f"{scheme}:// is not a protocol that is read here", where=shown, remedy=f"use one of {known}")
    if access is Access.UDP and port is None:
        raise SourceError("names no port to listen at", where=shown, remedy="write udp://HOST:PORT")
    if access is not Access.UDP and not urlsplit(text).hostname:
        raise SourceError("names no host", where=shown, remedy=f"write {scheme}://HOST/PATH")
    return LiveSource(text, access, half=half, options=options)


def _media_time(stretches: Sequence[Stretch], begin: MatchTime | None) -> float:
    if begin is None:
        return 0.0
    for stretch in stretches:
        if stretch.half == begin.half:
            if begin.seconds >= stretch.end - stretch.start:
                length = format_seconds(stretch.end - stretch.start)
                raise UsageError(f"half {begin.half} ends at {length}: {begin} is after it", remedy="see --half-starts")
            return stretch.start + begin.seconds
    raise UsageError(f"there is no half {begin.half} in this file", remedy="see --half-starts")


def parse_half_starts(text: str) -> list[tuple[float, float]] | None:
    """Read 'START[-END],START[-END]' as each half's span; one without an end goes on to the next one's start."""
    if not text.strip():
        return None
    spans: list[tuple[float, float]] = []
    pieces = [piece.partition("-") for piece in text.split(",")]
    starts = [parse_seconds(start) for start, _, _ in pieces]
    for place, (_, _, end) in enumerate(pieces):
        following = starts[place + 1] if place + 1 < len(starts) else float("inf")
        spans.append((starts[place], parse_seconds(end) if end.strip() else following))
        if spans[-1][1] <= spans[-1][0] or spans[-1][1] > following:
            raise UsageError(f"{text!r} does not give the halves one after the other", remedy="as in 0:10,61:30-107:05")
    return spans


def parse_on_full(text: str) -> OnFull | None:
    """Read 'drop', 'wait' or nothing."""
    if not text:
        return None
    try:
        return OnFull(text)
    except ValueError:
        raise UsageError(f"--on-full {text!r}", remedy="write drop or wait") from None

"""A SoccerNet game folder as clips: its halves one after the other, in the quality that is there.

A half without a video may have a pack of clips in its place (`1_224p.clips`, see sources/pack.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import MatchTime
from streamsoccer.errors import SourceError
from streamsoccer.sources.file import FileSource
from streamsoccer.sources.pack import SUFFIX, PackSource
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import Options, Source

__all__ = ["GameSource", "half_files"]

SUFFIXES = (".mkv", ".mp4")
_NAME = re.compile(r"([1-9])(_[0-9]{2,4}p|_HQ|)(\.mkv|\.mp4|\.clips)")


def half_files(folder: Path) -> dict[int, Path]:
    """The video of each half, all in one quality: that of the most halves, and of several such the smallest.

    Where a half has none, its pack of clips, chosen likewise.
    """
    found: dict[tuple[str, str], dict[int, Path]] = {}
    try:
        for path in sorted(folder.iterdir()):
            if match := _NAME.fullmatch(path.name):
                found.setdefault((match[2], match[3]), {})[int(match[1])] = path
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=folder, remedy="check its permissions") from error
    videos, packs = (_best(found, suffixes) for suffixes in (SUFFIXES, (SUFFIX,)))
    if not videos and not packs:
        raise SourceError(
            "holds no halves of a game (1_224p.mkv, 2_224p.mkv; or _720p, _HQ)",
            where=folder,
            remedy="pass a game folder in SoccerNet's layout, or a video file",
        )
    return dict(sorted({**packs, **videos}.items()))


def _best(found: dict[tuple[str, str], dict[int, Path]], suffixes: tuple[str, ...]) -> dict[int, Path]:
    kinds = [kind for kind in found if kind[1] in suffixes]
    best = min(kinds, key=lambda kind: (-len(found[kind]), _height(kind[0]), suffixes.index(kind[1])), default=None)
    return found[best] if best is not None else {}


def _height(quality: str) -> int:
    """The lines of a quality; HQ is larger than any that are named, and a file without a quality may be anything."""
    return {"_HQ": 10_000, "": 20_000}.get(quality) or int(quality[1:-1])


class GameSource(Source):
    """Both halves of a game, and extra time where there are files for it."""

    def __init__(self, folder: Path, *, begin: MatchTime | None, options: Options) -> None:
        super().__init__(str(folder), options)
        self._folder, self._begin = folder, begin

    @property
    def films(self) -> dict[int, tuple[str, float]]:
        return {half: (path.name, 0.0) for half, path in half_files(self._folder).items() if path.suffix != SUFFIX}

    def __iter__(self) -> Iterator[Clip | Gap]:
        files = half_files(self._folder)
        if self._begin is not None and self._begin.half > max(files):
            raise SourceError(f"has no half {self._begin.half}", where=self._folder, remedy="see --from")
        for missing in sorted({1, 2} - files.keys()):
            self.tell("missing", f"{self._folder}: half {missing} is not there in the quality of the others")
        for half, path in files.items():
            if self._begin is not None and half < self._begin.half:
                continue
            begin = self._begin.seconds if self._begin is not None and half == self._begin.half else 0.0
            source: Source
            if path.suffix == SUFFIX:
                source = PackSource(path, begin=begin, options=self.options)
            else:
                stretches = [Stretch(half=half, start=0.0)]
                source = FileSource(path, stretches=stretches, begin=begin, options=self.options)
            yield from source
            self.counts.update(source.counts)

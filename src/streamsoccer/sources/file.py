"""A local video file as clips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import format_seconds
from streamsoccer.errors import SourceError
from streamsoccer.sources.assemble import Assembler
from streamsoccer.sources.decoder import Decoder, Request
from streamsoccer.sources.policy import Access
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import Options, Source

__all__ = ["FileSource"]

REMEDY = "check that it plays to its end, or convert it: ffmpeg -i IN -c:v libx264 OUT.mkv"


class FileSource(Source):
    """One file; `stretches` says which part of it is which half."""

    def __init__(self, path: Path, *, stretches: Sequence[Stretch], begin: float, options: Options) -> None:
        super().__init__(str(path), options)
        self._path, self._stretches, self._begin = path, list(stretches), begin

    @property
    def films(self) -> dict[int, tuple[str, float]]:
        return {stretch.half: (self._path.name, stretch.start) for stretch in self._stretches}

    def __iter__(self) -> Iterator[Clip | Gap]:
        request = Request(
            where=f"file:{self._readable()}",
            access=Access.FILE,
            stretches=self._stretches,
            begin=self._begin,
            fast=self.options.fast,
            limits=self.options.limits,
        )
        assembler = Assembler([stretch for stretch in self._stretches if stretch.end > self._begin])
        reached = 0.0
        silence = self.options.limits.silence_seconds
        with Decoder(request, clock=self.options.clock, silence=silence) as decoder:
            for header, pixels in decoder:
                reached = max(reached, header.get("reached", 0.0))
                yield from assembler.take(header, pixels)
                if header["kind"] == "refused":
                    yield from assembler.finish(reached)
                    raise SourceError(header["problem"], where=self._path, remedy=header["remedy"] or REMEDY)
                if header["kind"] == "open" and header["pictures"] > 1:
                    self.tell("several", f"{self._path}: has {header['pictures']} video streams; the first is taken")
                if header["kind"] == "end":
                    self.count(header)
                    yield from assembler.finish(header["end"])
                    self._tell_of_losses(header)
                    if header["missing"] is not None:
                        raise self._cut_off(header["end"], header["missing"])
                    return
            yield from assembler.finish(reached)
            raise SourceError(
                f"{decoder.failure or 'stopped the decoder'} at {format_seconds(reached)}; what came before stands",
                where=self._path,
                remedy=REMEDY,
            )

    def _readable(self) -> Path:
        """The path, once it is sure that it is a file with something in it."""
        problem = None
        try:
            if not self._path.exists():
                problem = "does not exist"
            elif not self._path.is_file():
                problem = "is not a file"
            elif self._path.stat().st_size == 0:
                problem = "is empty"
            else:
                with self._path.open("rb") as file:
                    file.read(1)
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        if problem is not None:
            raise SourceError(problem, where=self._path, remedy="pass a video file, a SoccerNet game folder or a URL")
        return self._path.absolute()

    def _tell_of_losses(self, header: Mapping[str, Any]) -> None:
        if header["broken"]:
            self.tell("damaged", f"{self._path}: {header['broken']} packets could not be read or decoded")
        if header["missing"] is None:
            for stretch in self._stretches:
                if stretch.start >= header["end"]:
                    text = f"half {stretch.half} starts at {format_seconds(stretch.start)}, after the end of the file"
                    self.tell("missing", f"{self._path}: {text}")

    def _cut_off(self, end: float, declared: float) -> SourceError:
        return SourceError(
            f"was cut off: it claims {format_seconds(declared)} but ends at {format_seconds(end)}; clips so far stand",
            where=self._path,
            remedy="copy or download it again",
        )

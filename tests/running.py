"""What tests of a running match share: synthetic clips, a match run to its journal, minds with a script for voice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsoccer.clip import FRAMES_PER_CLIP, Clip, Gap, GapReason
from streamsoccer.domain import MatchSheet
from streamsoccer.feed import Feed
from streamsoccer.journal import Journal
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import Header, Line
from streamsoccer.live import LiveMatch, Output
from streamsoccer.mind import Mind
from streamsoccer.moment import Moment
from streamsoccer.record import RecordConfig
from streamsoccer.runtime import RuntimeConfig
from streamsoccer.stream import MatchStream
from streamsoccer.testing.voice import ScriptedVoice
from streamsoccer.voice import Asked, Given

Item = Clip | Gap


def clip(index: int, *, seed: int = 0, half: int = 1, frames: int = FRAMES_PER_CLIP) -> Clip:
    """A clip of coloured blocks: a scene of two or three clips, and something that moves in it."""
    scene = np.random.default_rng([seed, half, index // 3]).integers(0, 255, (4, 8, 3), dtype=np.uint8)
    pictures = []
    for place in range(frames):
        picture = scene.copy()
        picture[(index + place) % 4, place % 8] = 255
        pictures.append(picture.repeat(8, 0).repeat(8, 1))
    start = 4.0 * index
    return Clip(
        half=half,
        index=index,
        start=start,
        end=start + frames / 2,
        frames=np.stack(pictures),
        samples=tuple(range(frames)),
        times=tuple(start + place / 2 for place in range(frames)),
    )


def clips(count: int, *, seed: int = 0, half: int = 1, first: int = 0) -> list[Item]:
    return [clip(index, seed=seed, half=half) for index in range(first, first + count)]


def gap(start: float, end: float, *, half: int = 1) -> Gap:
    return Gap(half=half, start=start, end=end, reason=GapReason.LOST, detail="no picture")


def a_match(count: int = 30, *, seed: int = 0) -> list[Item]:
    """Two halves with a gap in the first, whose last clip is short."""
    first = clips(count, seed=seed)
    middle = count // 2
    first[middle : middle + 2] = [gap(4.0 * middle, 4.0 * middle + 8)]
    second = clips(count // 2, seed=seed, half=2)
    return [*first, clip(count, seed=seed, frames=3), *second]


def header(mind: Mind, **changes: Any) -> Header:
    from streamsoccer.config import to_mapping

    options = {"runtime": to_mapping(mind.config), "feed": ""}
    made = Header(match="m", source="test", model=mind.fingerprint, options=options)
    return replace(made, **changes)


def with_voice(
    mind: Mind,
    script: Callable[[Asked, int], str | Given],
    *,
    config: RuntimeConfig | None = None,
    record: RecordConfig | None = None,
) -> Mind:
    """The same weights with another voice, and other rules where they are given."""
    other = Mind(mind.pretrained, config or mind.config, voice=ScriptedVoice(script))
    if record is not None:
        other.record = record
    return other


def run(
    mind: Mind,
    items: Iterable[Item],
    path: Path,
    *,
    feed: Path | None = None,
    sheet: MatchSheet | None = None,
    outputs: Sequence[Output] = (),
    resume: bool = False,
    real: bool = False,
) -> LiveMatch:
    """A match to its end; gives what is left of it, its journal closed."""
    given = None if feed is None else Feed(feed, sheet)
    stream = MatchStream(mind, "m", sheet=sheet, feed=given, real=real)
    made = header(mind)
    made = replace(made, options={**made.options, "feed": "" if feed is None else feed.name})
    with LiveMatch.open(stream, path, made, resume=resume) as match:
        match.run(items, outputs)
    return match


def lines(path: Path) -> list[Line]:
    with JournalReader(path) as reader:
        return list(reader.lines())


def moments(mind: Mind, items: Iterable[Item], **how: Any) -> list[Moment]:
    """All steps of a match without a journal."""
    stream = MatchStream(mind, "m", **how)
    return [each for item in items for each in stream.step(item)] + stream.end()


def last_step(path: Path) -> int:
    with Journal.open(path) as journal:
        return journal.last

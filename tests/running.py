"""What tests of a running match share: synthetic clips, a match run to its journal, minds with a script for voice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from streamsoccer.testing.video import make_video
from streamsoccer.testing.voice import ScriptedVoice
from streamsoccer.voice import Asked, Given
from written_match import rows

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


# --- as a command ----------------------------------------------------------------------------------------------------

HALVES = "0-100,104-200"  # of the film


def blocks_film(path: Path, *, seconds: float = 200.0, changes_at: float | None = None, seed: int = 0) -> Path:
    """A film of coloured blocks whose every frame is coded by itself: up to `changes_at` it is the same to the byte
    whatever comes after, and that differs from seed to seed."""
    rate = 8

    def draw(number: int) -> NDArray[np.uint8]:
        at = number / rate
        other = seed + 1 if changes_at is not None and at >= changes_at else 0
        scene = np.random.default_rng([other, int(at / 9)]).integers(0, 255, (6, 8, 3), dtype=np.uint8)
        scene[int(at * 2) % 6, int(at * 3) % 8] = 255
        return scene.repeat(16, 0).repeat(16, 1)

    make_video(path, seconds=seconds, fps=rate, width=128, height=96, codec="mjpeg", pixels="yuvj420p", draw=draw)
    return path


def command(film: Path | str, model: Path, out: Path, *more: str, halves: str = HALVES) -> list[str]:
    """`streamsoccer run` as its arguments."""
    given = ["--half-starts", halves] if halves else []
    return ["run", str(film), "--model", str(model), "--out", str(out), *given, *more]


def stands(path: Path) -> list[tuple[Any, ...]]:
    """All rows of a match in order, without what depends on the machine or tells how often it was started: their
    place in the file, timings, and notes between steps."""
    kept = [row for row in rows(path) if row[0] != "notes" or row[3] >= 0]
    return [(row[0], *row[2:]) for row in kept]


def steps_of(path: Path) -> int:
    """The last whole step of a journal that another process may be writing, or making."""
    if not path.exists():
        return 0
    db = sqlite3.connect(path, timeout=10)
    try:
        return int(db.execute("SELECT coalesce(max(step), 0) FROM steps").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


def outputs_of(out: Path) -> dict[str, object]:
    """What a run wrote for players and programs; how long a line took is left out."""
    found: dict[str, object] = {}
    for path in sorted(out.iterdir()):
        if path.suffix == ".jsonl":
            read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found[path.name] = [{name: value for name, value in each.items() if name != "latency"} for each in read]
        elif not path.name.startswith("match.journal"):
            found[path.name] = path.read_bytes()
    return found

"""A picture of what the model will see: one row a clip, its frames side by side, gaps drawn where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from streamsoccer.clip import FRAMES_PER_CLIP, Clip, Gap
from streamsoccer.clock import format_seconds
from streamsoccer.errors import UsageError

__all__ = ["ContactSheet"]

CELL_WIDTH, CELL_HEIGHT = 192, 344  # of a frame; taller ones are made narrower
MARGIN, LABEL = 8, 128
BACKGROUND, INK, FAINT, WARNING = (250, 250, 247), (32, 36, 40), (130, 136, 142), (176, 58, 30)
MAX_ROWS = 60


class ContactSheet:
    """Collects rows as they come, so that a long source needs no more memory than its sheet."""

    def __init__(self, title: str) -> None:
        # What cannot be drawn (a line break, a byte that is no text) is written as an escape.
        self._title = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in title)
        self._rows: list[Image.Image] = []
        self._left_out = 0

    def add(self, item: Clip | Gap) -> None:
        if len(self._rows) >= MAX_ROWS:
            self._left_out += 1
            return
        self._rows.append(_clip_row(item) if isinstance(item, Clip) else _gap_row(item))

    def save(self, path: Path) -> None:
        """Write the sheet as a PNG."""
        if not self._rows:
            raise UsageError("no clips to draw a contact sheet from", where=path, remedy="see --from and --limit")
        lines = [self._title]
        if self._left_out:
            lines.append(f"{self._left_out} more rows are left out: a sheet holds {MAX_ROWS}")
        header = _text_row(lines)
        rows = [header, *self._rows]
        width = max(row.width for row in rows)
        sheet = Image.new("RGB", (width, sum(row.height for row in rows) + MARGIN), BACKGROUND)
        top = 0
        for row in rows:
            sheet.paste(row, (0, top))
            top += row.height
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sheet.save(path, format="PNG")
        except OSError as error:
            raise UsageError(f"cannot be written ({error.strerror or error})", where=path) from error


def _clip_row(clip: Clip) -> Image.Image:
    count, height, width = clip.frames.shape[:3]
    scale = min(CELL_WIDTH / width, CELL_HEIGHT / height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    cell = size[1]
    row = Image.new("RGB", (LABEL + FRAMES_PER_CLIP * (CELL_WIDTH + 2) + MARGIN, max(cell, 44) + 6), BACKGROUND)
    draw = ImageDraw.Draw(row)
    draw.text((MARGIN, 4), f"half {clip.half}, clip {clip.index}", INK, _font(14))
    draw.text((MARGIN, 23), f"{format_seconds(clip.start)} - {format_seconds(round(clip.end, 1))}", FAINT, _font(13))
    for place in range(FRAMES_PER_CLIP):
        left = LABEL + place * (CELL_WIDTH + 2)
        if place not in clip.samples:
            draw.rectangle((left, 2, left + CELL_WIDTH - 1, cell + 1), outline=FAINT)
    for place, frame in zip(clip.samples, clip.frames[:count], strict=True):
        small = Image.fromarray(np.ascontiguousarray(frame)).resize(size, Image.Resampling.LANCZOS)
        row.paste(small, (LABEL + place * (CELL_WIDTH + 2), 2))
    return row


def _gap_row(gap: Gap) -> Image.Image:
    span = f"{format_seconds(round(gap.start, 2))} - {format_seconds(round(gap.end, 2))}"
    return _text_row([f"gap, half {gap.half}, {span}: {gap.reason.value} ({gap.detail})"], colour=WARNING)


def _text_row(lines: list[str], colour: tuple[int, int, int] = INK) -> Image.Image:
    row = Image.new("RGB", (LABEL + FRAMES_PER_CLIP * (CELL_WIDTH + 2) + MARGIN, 10 + 20 * len(lines)), BACKGROUND)
    draw = ImageDraw.Draw(row)
    for number, line in enumerate(lines):
        draw.text((MARGIN, 6 + 20 * number), line, colour, _font(14))
    return row


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)

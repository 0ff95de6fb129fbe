"""The contact sheet shows the frames that the model sees, each in its place, and gaps where they are."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from streamsoccer.clip import CLIP_SECONDS, FRAMES_PER_CLIP, Clip, Gap, GapReason
from streamsoccer.errors import UsageError
from streamsoccer.outputs.contact_sheet import BACKGROUND, CELL_HEIGHT, CELL_WIDTH, LABEL, MAX_ROWS, ContactSheet
from streamsoccer.testing.video import draw_frame, read_number

TITLE = 30  # height of a row with one line of text


def clip(index: int, samples: Sequence[int] = range(FRAMES_PER_CLIP), size: tuple[int, int] = (320, 192)) -> Clip:
    """A clip whose frames carry the number of their instant."""
    frames = [draw_frame(index * FRAMES_PER_CLIP + sample, width=size[0], height=size[1]) for sample in samples]
    return Clip(
        half=1, index=index, start=index * CLIP_SECONDS, end=(index + 1) * CLIP_SECONDS, frames=np.stack(frames),
        samples=tuple(samples), times=tuple(index * CLIP_SECONDS + sample / 2 for sample in samples),
    )  # fmt: skip


def sheet(items: Sequence[Clip | Gap], path: Path, title: str = "film.mkv") -> NDArray[np.uint8]:
    drawn = ContactSheet(title)
    for item in items:
        drawn.add(item)
    drawn.save(path)
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        return np.asarray(picture.convert("RGB"))


def cell(picture: NDArray[np.uint8], top: int, place: int, height: int) -> NDArray[np.uint8]:
    left = LABEL + place * (CELL_WIDTH + 2)
    return picture[top + 2 : top + 2 + height, left : left + CELL_WIDTH]


def test_every_frame_is_drawn_in_its_place(tmp_path: Path) -> None:
    height = round(192 * CELL_WIDTH / 320)
    picture = sheet([clip(0), clip(1, (0, 1, 5))], tmp_path / "new" / "sheet.png")
    for place in range(FRAMES_PER_CLIP):
        assert read_number(cell(picture, TITLE, place, height)) == place
    second = TITLE + height + 6
    for place in range(FRAMES_PER_CLIP):
        there = cell(picture, second, place, height)
        if place in (0, 1, 5):
            assert read_number(there) == FRAMES_PER_CLIP + place
        else:
            assert (there[2:-2, 2:-2] == BACKGROUND).all(), "an instant without a frame is an empty box"


def test_a_gap_is_a_row_of_its_own(tmp_path: Path) -> None:
    gap = Gap(half=1, start=4.0, end=9.5, reason=GapReason.LOST, detail="no picture for 5.50 s")
    without, with_gap = (
        sheet([clip(0), clip(2)], tmp_path / "a.png"),
        sheet([clip(0), gap, clip(2)], tmp_path / "b.png"),
    )
    assert len(with_gap) - len(without) == TITLE
    top = TITLE + round(192 * CELL_WIDTH / 320) + 6
    assert (with_gap[top : top + TITLE] != BACKGROUND).any()


@pytest.mark.parametrize("size", [(16, 4000), (4000, 16), (108, 192), (17, 1)])
def test_pictures_of_any_shape_fit(tmp_path: Path, size: tuple[int, int]) -> None:
    picture = sheet([clip(0, size=size)], tmp_path / "sheet.png")
    assert len(picture) <= TITLE + CELL_HEIGHT + 6 + 8


def test_a_long_source_makes_a_sheet_that_says_what_it_leaves_out(tmp_path: Path) -> None:
    full = sheet([clip(index, (0,), (64, 48)) for index in range(MAX_ROWS)], tmp_path / "a.png")
    more = sheet([clip(index, (0,), (64, 48)) for index in range(MAX_ROWS + 5)], tmp_path / "b.png")
    assert len(more) - len(full) == 20, "one more line in the title, no more rows"


def test_any_name_can_be_a_title(tmp_path: Path) -> None:
    for title in ("new\nline.mkv", "日本語.mkv", "not\udcffutf8.mkv", "x" * 2000, ""):
        assert len(sheet([clip(0)], tmp_path / "sheet.png", title)) == len(sheet([clip(0)], tmp_path / "b.png"))


def test_a_sheet_that_cannot_be_written_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written") as error:
        sheet([clip(0)], tmp_path / "file" / "sheet.png")
    assert error.value.where == str(tmp_path / "file" / "sheet.png")
    with pytest.raises(UsageError, match="no clips"):
        sheet([], tmp_path / "sheet.png")

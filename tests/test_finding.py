"""Who is where: boxes become cells of the picture, a crop moves them with it, and a token is told of its own cells."""

from pathlib import Path

import numpy as np
import pytest
import torch

from streamsoccer.errors import DataError
from streamsoccer.league.whereabouts import WHO
from streamsoccer.training.finding import FOUND, Boxes, Finder, cells_of
from streamsoccer.training.pictures import PicturesConfig, disturb, lost_parts

HOME, AWAY, KEEPER, BALL, HOME_HAS, AWAY_HAS = (
    FOUND.index(each) for each in ("home", "away", "away keeper", "ball", "home has the ball", "away has the ball")
)


def write(path: Path, frames: object, boxes: object) -> Path:
    np.savez(path, frames=np.array(frames, np.int16), boxes=np.array(boxes, np.int16))
    return path


def test_the_league_marks_whom_training_looks_for() -> None:
    assert FOUND[: len(WHO)] == WHO


def test_boxes_become_the_cells_they_touch(tmp_path: Path) -> None:
    rows = [
        (3, 1, 0, 1, 0, 0, 250, 500),  # the first cell of a picture of 4 x 2
        (3, 1, 3, 1, 500, 500, 1000, 1000),  # the last two
        (3, 2, 5, 0, 480, 100, 490, 140),
        (4, 0, 1, 0, 0, 0, 1000, 1000),
    ]
    held = Boxes.read(write(tmp_path / "1_clip-boxes.npz", [(3, 1), (3, 2), (4, 0)], rows[::-1]))
    cells, marked = cells_of(torch.from_numpy(np.stack([held.of(3), held.of(4), held.of(5)])), 2, 4)
    assert marked[0].tolist() == [False, True, True, False, False, False, False, False]
    assert marked[1].tolist() == [True] + [False] * 7
    assert not marked[2].any(), "clip 5 is not marked"
    assert cells[0, 1, ..., HOME].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert cells[0, 1, ..., HOME_HAS].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert cells[0, 1, ..., KEEPER].tolist() == [[0, 0, 0, 0], [0, 0, 1, 1]]
    assert cells[0, 1, ..., AWAY_HAS].tolist() == [[0, 0, 0, 0], [0, 0, 1, 1]], "a keeper has it for his side"
    assert cells[0, 2, ..., BALL].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert bool((cells[1, 0, ..., AWAY] == 1).all())
    assert float(cells[1, 0].sum()) == 8


def test_a_crop_moves_the_cells_as_it_moves_the_pixels() -> None:
    random = np.random.default_rng(3)
    config = PicturesConfig(crop=0.4, rescaled=0, compressed=0, brightness=0, contrast=0, colour=0, noise=0)
    pixels = torch.zeros(16, 8, 3, 64, 96)
    boxes = torch.full((16, 8, 1, 6), -1, dtype=torch.int16)
    for each in range(16):
        left, top = int(random.integers(10, 60)), int(random.integers(10, 35))
        pixels[each, :, :, top : top + 16, left : left + 16] = 255
        sides = [1000 * left / 96, 1000 * top / 64, 1000 * (left + 16) / 96, 1000 * (top + 16) / 64]
        boxes[each, :, 0] = torch.tensor([0, 0, *map(round, sides)])
    lost = lost_parts(16, config, random, torch.device("cpu"))
    seen = disturb(pixels, config, random, lost)[:, :, 0].view(16, 8, 16, 4, 24, 4).mean((3, 5)) / 255
    cells, _ = cells_of(boxes, 16, 24, lost)
    assert bool((cells[..., HOME][seen > 0.9] == 1).all())
    assert bool((cells[..., HOME][seen < 0.05] == 0).all())
    plain, _ = cells_of(boxes, 16, 24)
    assert bool((plain[..., HOME][seen > 0.9] == 0).any()), "cells that stood still would be wrong"


def test_a_token_is_told_of_its_own_cells_and_unmarked_frames_teach_nothing() -> None:
    torch.manual_seed(0)
    cells = torch.zeros(1, 8, 4, 6, len(FOUND))
    cells[0, 3, 2, 5, BALL] = 1  # second pair of frames, second frame; second row of tokens, third column
    marked = torch.ones(1, 8, dtype=torch.bool)
    finder = Finder(16)
    visual = torch.randn(1, 24, 16)
    with torch.no_grad():
        finder.read.weight.normal_()
    logits = finder(visual)
    loss, counts = finder.loss(visual, cells, marked)
    token, place = 1 * 6 + 1 * 3 + 2, 1 * 4 + 0 * 2 + 1
    wanted = torch.zeros_like(logits)
    wanted[0, token, place, BALL] = 1
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none").sum((0, 1, 2))
    torch.testing.assert_close(loss, each.mean())
    assert counts[0].tolist() == [float(each == BALL) for each in range(len(FOUND))]
    none, counts = finder.loss(visual, cells, ~marked)
    assert float(none.detach()) == 0
    assert float(counts.sum()) == 0


@pytest.mark.parametrize(
    ("boxes", "told"),
    [([(0, 8, 0, 0, 0, 0, 1, 1)], "frame"), ([(0, 0, 6, 0, 0, 0, 1, 1)], "none of home"), ([(0, 0, 1)], "not")],
)
def test_boxes_that_are_none_are_named(tmp_path: Path, boxes: list[tuple[int, ...]], told: str) -> None:
    with pytest.raises(DataError, match=told):
        Boxes.read(write(tmp_path / "1_clip-boxes.npz", [(0, 0)], boxes))
    (tmp_path / "bad.npz").write_bytes(b"not a zip")
    with pytest.raises(DataError, match=r"bad\.npz"):
        Boxes.read(tmp_path / "bad.npz")

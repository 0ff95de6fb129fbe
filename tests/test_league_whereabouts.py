"""Boxes of everybody in the picture: where the picture has them, who has the ball, and nothing of the future."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from streamsoccer.clock import MatchTime
from streamsoccer.league.broadcast import Broadcast, HalfOnAir
from streamsoccer.league.director import WIPE, Shot, ShotKind
from streamsoccer.league.match import Match
from streamsoccer.league.rig import FOURTH
from streamsoccer.league.truth import HZ
from streamsoccer.league.whereabouts import WHO, boxes_of, write_boxes
from streamsoccer.league.world import Pattern

SIZE = (398, 224)
BALL = WHO.index("ball")
Boxes = NDArray[np.int16]


@pytest.fixture(scope="module")
def match() -> Match:
    """Eight minutes a half; replays and changes are among them."""
    return Match(12, minutes=8)


@pytest.fixture(scope="module")
def broadcast(match: Match) -> Broadcast:
    return Broadcast(match.fixture, match.halves, SIZE)


def every_box(on_air: HalfOnAir) -> tuple[Boxes, Boxes]:
    found = [boxes_of(on_air, index, SIZE) for index in range(math.ceil(on_air.trace.seconds / 4))]
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


@pytest.fixture(scope="module")
def marked(broadcast: Broadcast) -> dict[int, tuple[Boxes, Boxes]]:
    return {half: every_box(on_air) for half, on_air in broadcast.halves.items()}


def seconds_of(clip: int, frame: int) -> float:
    return 4 * clip + frame / 2


def moment_of(on_air: HalfOnAir, clip: int, frame: int) -> tuple[Shot, float]:
    """The shot that is on in a frame, and the moment that it shows."""
    moment = max(0.0, seconds_of(clip, frame) * HZ - 1)
    shot = on_air.direction.shot(moment)
    return shot, moment if shot.kind is not ShotKind.REPLAY else shot.source + (moment - shot.start) * shot.rate


def pixels_of(on_air: HalfOnAir, shot: Shot, at: float, point: NDArray[np.float64]) -> tuple[float, float]:
    x, y, _ = on_air.track(shot, SIZE[1] / SIZE[0]).camera(at, *SIZE).see((point[0], point[1], point[2]))
    return 1000 * x / SIZE[0], 1000 * y / SIZE[1]


def within(box: NDArray[np.int16], point: tuple[float, float]) -> bool:
    left, top, right, bottom = box[4:].tolist()
    return left - 1 <= point[0] <= right + 1 and top - 1 <= point[1] <= bottom + 1


def between(rows: NDArray[np.floating], at: float) -> NDArray[np.float64]:
    """Rows of a trace at a moment between two steps."""
    low = min(int(at), len(rows) - 1)
    start, end = rows[low].astype(np.float64), rows[min(low + 1, len(rows) - 1)].astype(np.float64)
    return start + (end - start) * (at - low)


# --- the picture -----------------------------------------------------------------------------------------------------


def clothed(picture: NDArray[np.uint8], boxes: Boxes, shirt: NDArray[np.int64], by: tuple[int, int]) -> list[bool]:
    """Whether each box, moved by so many thousandths, holds pixels nearer to the shirt than to the grass."""
    height, width = picture.shape[:2]
    grass = np.median(picture[height // 2 :].reshape(-1, 3), axis=0)
    away = [np.linalg.norm(picture.astype(float) - colour, axis=2) for colour in (shirt, grass)]
    cloth = away[0] < away[1]
    found = []
    for row in boxes:
        sides = (row[4:] + np.array([*by, *by])) * np.array([width, height, width, height]) / 1000
        left, top, right, bottom = np.rint(sides).astype(int).clip(0, [width, height, width, height])
        inside = cloth[top:bottom, left:right]
        found.append(bool(inside.size) and inside.mean() > 0.1)
    return found


@pytest.mark.parametrize("size", [SIZE, (796, 448)])
def test_players_are_where_the_picture_has_their_shirts(size: tuple[int, int]) -> None:
    match = Match(5, minutes=1, index=66)
    kit = match.fixture.home_kit
    assert kit.pattern is Pattern.PLAIN
    assert kit.shirt[0] > 2 * max(kit.shirt[1:])
    broadcast = Broadcast(match.fixture, match.halves[:1], size)
    on_air = broadcast.halves[1]
    shares: dict[tuple[int, int], list[bool]] = {}
    for clip in range(2, 15, 2):
        frames, boxes = boxes_of(on_air, clip, size)
        if [clip, 0] not in frames.tolist() or moment_of(on_air, clip, 0)[0].kind is not ShotKind.MAIN:
            continue
        picture = broadcast.frame(1, seconds_of(clip, 0), overlays=False)
        home = boxes[(boxes[:, 1] == 0) & (boxes[:, 2] == WHO.index("home"))]
        for by in ((0, 0), (60, 0), (-60, 0), (0, 60), (0, -60)):
            shares.setdefault(by, []).extend(clothed(picture, home, np.array(kit.shirt), by))
    told = {by: round(float(np.mean(each)), 2) for by, each in shares.items()}
    assert len(shares[0, 0]) > 30
    assert told.pop((0, 0)) > 0.9, told
    assert max(told.values()) < 0.4, told


def test_the_fourth_official_is_marked_where_he_shows_a_change(
    broadcast: Broadcast, marked: dict[int, tuple[Boxes, Boxes]]
) -> None:
    shown = 0
    for half, on_air in broadcast.halves.items():
        for clip, frame in marked[half][0].tolist():
            shot, at = moment_of(on_air, clip, frame)
            if shot.kind is ShotKind.CLOSE and shot.target == FOURTH and on_air.change(int(at)) is not None:
                boxes = marked[half][1]
                boxes = boxes[(boxes[:, 0] == clip) & (boxes[:, 1] == frame) & (boxes[:, 2] == WHO.index("official"))]
                assert any(row[4] < 500 < row[6] and row[7] - row[5] > 400 for row in boxes)
                shown += 1
    assert shown > 2


def test_a_frame_that_a_wipe_covers_is_not_marked_and_every_other_is(
    broadcast: Broadcast, marked: dict[int, tuple[Boxes, Boxes]]
) -> None:
    wiped = 0
    for half, on_air in broadcast.halves.items():
        frames = set(map(tuple, marked[half][0].tolist()))
        cuts = [
            after.start
            for before, after in zip(on_air.direction.shots, on_air.direction.shots[1:], strict=False)
            if ShotKind.REPLAY in (before.kind, after.kind)
        ]
        for tick in range(math.ceil(on_air.trace.seconds * 2)):
            clip, frame = divmod(tick, 8)
            near = min((abs(tick / 2 * HZ - 1 - cut) for cut in cuts), default=99.0)
            assert ((clip, frame) in frames) is (near >= WIPE)
            if near <= 2 * WIPE:
                plain, whole = (broadcast.frame(half, tick / 2, overlays=each).astype(int) for each in (False, True))
                hidden = float((np.abs(plain - whole).sum(axis=2) > 30)[40:190].mean())  # scoreboard and panels aside
                assert hidden > 0.25 if near <= 1 else near < WIPE or hidden == 0
                wiped += near <= 1
    assert wiped > 4


# --- the ball --------------------------------------------------------------------------------------------------------


def test_the_ball_is_in_its_box_and_one_at_most_has_it(
    broadcast: Broadcast, marked: dict[int, tuple[Boxes, Boxes]]
) -> None:
    balls, holders, kinds = 0, 0, set()
    for half, on_air in broadcast.halves.items():
        trace, (frames, boxes) = on_air.trace, marked[half]
        for clip, frame in frames.tolist():
            shot, at = moment_of(on_air, clip, frame)
            rows = boxes[(boxes[:, 0] == clip) & (boxes[:, 1] == frame)]
            spot = pixels_of(on_air, shot, at, between(trace.ball, at))
            mine = rows[rows[:, 2] == BALL]
            assert len(mine) <= 1
            if shot.kind is not ShotKind.CLOSE and all(0 < each < 1000 for each in spot):
                assert len(mine) == 1
            for row in mine:
                assert within(row, np.clip(spot, 0, 1000))
                balls += 1
            holder = int(trace.holder[int(at)])
            having = rows[rows[:, 3] == 1]
            assert len(having) <= (holder >= 0)
            if holder < 0:
                continue
            place = between(trace.people[:, holder], at)
            chest = pixels_of(on_air, shot, at, np.array([*place, 1.0]))
            if shot.kind is not ShotKind.CLOSE and all(0 < each < 1000 for each in chest):
                assert len(having) == 1
            for row in having:
                side, keeper = divmod(holder, 11)
                assert WHO[row[2]] == ("home", "away")[side] + (" keeper" if keeper == 0 else "")
                assert within(row, np.clip(chest, 0, 1000))
                holders += 1
                kinds.add(shot.kind)
    assert balls > 1000
    assert holders > 300
    assert {ShotKind.MAIN, ShotKind.REPLAY} <= kinds


# --- the file, and nothing of the future -----------------------------------------------------------------------------


def test_the_file_holds_the_boxes_of_every_clip(
    broadcast: Broadcast, marked: dict[int, tuple[Boxes, Boxes]], tmp_path: Path
) -> None:
    path = tmp_path / "2_clip-boxes.npz"
    write_boxes(path, broadcast.halves[2], SIZE)
    with np.load(path) as found:
        assert set(found.files) == {"frames", "boxes"}
        assert np.array_equal(found["frames"], marked[2][0])
        assert np.array_equal(found["boxes"], marked[2][1])


def test_the_past_alone_decides(match: Match, marked: dict[int, tuple[Boxes, Boxes]]) -> None:
    at = MatchTime(1, 203.0)
    other = Match(12, minutes=8, perturb_at=at)
    whole, changed = marked[1], every_box(HalfOnAir(other.fixture, other.halves[0]))
    for before, after in zip(whole, changed, strict=True):
        early = [rows[seconds_of(rows[:, 0], rows[:, 1]) <= at.seconds] for rows in (before, after)]
        assert len(early[0]) > 300
        assert np.array_equal(*early)
    assert not np.array_equal(whole[1], changed[1])

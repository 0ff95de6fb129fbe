"""The pictures in docs/ of one simulated match: a contact sheet, a goal with its replay, and a row for each label.

python benchmarks/league_pictures.py [--seed 7] [--index 10] [--matches 40] [--out docs]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from streamsoccer.actions import Label
from streamsoccer.league.broadcast import Broadcast, HalfOnAir, direction_of
from streamsoccer.league.director import ShotKind
from streamsoccer.league.match import Match
from streamsoccer.league.rig import FOURTH_PLACE
from streamsoccer.league.truth import HZ, DeedKind, Outcome

SIZE, SMALL, GAP = (640, 360), (288, 162), 4
OFFSETS = (-2.0, -0.4, 0.3, 1.0, 2.5)  # seconds from the action, in a label's row
_CLOSE = (DeedKind.RED, DeedKind.SECOND_YELLOW)  # for which the director goes close
Rgb = NDArray[np.uint8]


def small(picture: Rgb) -> Rgb:
    return np.asarray(cv2.resize(picture, SMALL, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def sheet(pictures: Sequence[Rgb], columns: int) -> Rgb:
    """Pictures row by row."""
    (width, height), rows = SMALL, -(-len(pictures) // columns)
    whole = np.full((rows * (height + GAP) + GAP, columns * (width + GAP) + GAP, 3), 20, dtype=np.uint8)
    for place, picture in enumerate(pictures):
        top, left = GAP + place // columns * (height + GAP), GAP + place % columns * (width + GAP)
        whole[top : top + height, left : left + width] = picture
    return whole


def contact_sheet(match: Match, broadcast: Broadcast) -> Rgb:
    """The first action of every label, and close-ups and replays from all over the match, in order of time."""
    times: dict[tuple[int, float], None] = {}
    labels: set[Label] = set()
    for trace in match.halves:
        for deed in trace.deeds:
            if deed.label is not None and deed.label not in labels:
                labels.add(deed.label)
                times[trace.half, deed.at + 0.4] = None
    others = [
        (trace.half, (shot.start + shot.end) / 2 / HZ)
        for trace in match.halves
        for shot in direction_of(match.fixture, trace).shots
        if shot.kind is not ShotKind.MAIN and not any(abs(at - shot.start / HZ) < 20 for _, at in times)
    ]
    for place in np.linspace(0, len(others) - 1, max(1, 20 - len(times))).round().astype(int).tolist():
        times[others[place]] = None
    return sheet([small(broadcast.frame(*each)) for each in sorted(times)[:20]], 4)


def goal_strip(match: Match, broadcast: Broadcast) -> Rgb:
    """A goal, what is shown after it, and the score that changes at last."""
    for trace in match.halves:
        direction = direction_of(match.fixture, trace)
        spots = [each.at for each in trace.deeds if each.kind is DeedKind.PENALTY]
        for goal in (each for each in trace.deeds if each.kind is DeedKind.GOAL):
            if any(0 <= goal.at - each < 8 for each in spots):
                continue  # a goal from play has more to show
            after = [each for each in direction.shots if goal.step < each.start < goal.step + 60 * HZ]
            close = next((each for each in after if each.kind is ShotKind.CLOSE), None)
            replay = next((each for each in after if each.kind is ShotKind.REPLAY), None)
            if close is None or replay is None:
                continue
            times = [goal.at + each for each in (-2.5, -1.5, -0.8, -0.3, 0.2, 0.8)]
            times += [(close.start + (close.end - close.start) * each) / HZ for each in (0.3, 0.8)]
            times += [replay.start / HZ]
            times += [(replay.start + (replay.end - replay.start) * each) / HZ for each in (0.2, 0.4, 0.55, 0.7, 0.85)]
            main = next(each for each in direction.shots if each.start >= replay.end and each.kind is not replay.kind)
            times += [(main.start + 2) / HZ, (main.end - 2) / HZ]
            return sheet([small(broadcast.frame(trace.half, each)) for each in times], 4)
    raise SystemExit("no goal of this match was shown again: try another --index")


def board_seen(on_air: HalfOnAir, seconds: float) -> bool:
    """Whether the board that shows a change can be read."""
    shot = on_air.direction.shot(seconds * HZ)
    if shot.kind is ShotKind.REPLAY:
        return False
    camera = on_air.track(shot, SIZE[1] / SIZE[0]).camera(seconds * HZ, *SIZE)
    x, y, _ = camera.see((*FOURTH_PLACE, 2.0))
    _, foot, _ = camera.see((*FOURTH_PLACE, 0.0))
    return 0 <= x < SIZE[0] and 0 <= y < SIZE[1] and foot - y > 60


def label_rows(seed: int, matches: int) -> Image.Image:
    """Each label as the play alone tells it, without scoreboard, wipes and graphics."""
    rows: dict[Label, Rgb] = {}
    for index in range(matches):
        match = Match(seed, index=index)
        broadcast = Broadcast(match.fixture, match.halves, SIZE)
        for trace in match.halves:
            direction = direction_of(match.fixture, trace)
            for deed in trace.deeds:
                wanted = ShotKind.CLOSE if deed.kind in _CLOSE else ShotKind.MAIN
                seen = direction.shot(deed.at * HZ + 1).kind is wanted
                if deed.kind is DeedKind.SUBSTITUTION:
                    seen = board_seen(broadcast.halves[trace.half], deed.at + 2.5)
                first = deed.label is not None and deed.label not in rows and len(rows) <= 3 * (index + 1)
                if deed.label is Label.SHOT_ON_TARGET and deed.outcome is Outcome.GOAL:
                    continue  # a goal has a row of its own
                if deed.label is not None and first and seen and deed.at > 10:
                    at = [broadcast.frame(trace.half, deed.at + each, overlays=False) for each in OFFSETS]
                    rows[deed.label] = sheet([small(each) for each in at], len(OFFSETS))
        if len(rows) == len(Label):
            break
    whole = np.concatenate([rows[label] for label in Label if label in rows])
    picture = Image.fromarray(whole)
    draw, height = ImageDraw.Draw(picture), len(whole) // len(rows)
    for place, label in enumerate(label for label in Label if label in rows):
        box = draw.textbbox((10, place * height + 8), label.value, font_size=18)
        draw.rectangle((box[0] - 4, box[1] - 3, box[2] + 4, box[3] + 3), fill=(0, 0, 0))
        draw.text((10, place * height + 8), label.value, fill=(255, 255, 255), font_size=18)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--index", type=int, default=10)
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    given = parser.parse_args()
    match = Match(given.seed, index=given.index)
    broadcast = Broadcast(match.fixture, match.halves, SIZE)
    for name, pixels in (
        ("contact_sheet", contact_sheet(match, broadcast)),
        ("goal_strip", goal_strip(match, broadcast)),
    ):
        Image.fromarray(pixels).save(given.out / f"league_{name}.jpg", quality=82, optimize=True)
    label_rows(given.seed, given.matches).save(given.out / "league_labels.jpg", quality=82, optimize=True)


if __name__ == "__main__":
    main()

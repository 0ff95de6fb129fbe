"""Film strips of what the league's labels look like, without scoreboard, wipes and graphics, to be guessed by a person.

    python benchmarks/league_look.py OUT [--each 2] [--matches 12] [--seed 7]

OUT/01.png, 02.png, ... are moments by lot, twelve pictures of each, from five seconds before the action to ten after;
OUT/key.json says which label each one is, and is for afterwards. Moments that the main camera shows are taken, where a
label has any.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from streamsoccer.actions import Label
from streamsoccer.league.broadcast import Broadcast, direction_of
from streamsoccer.league.director import ShotKind
from streamsoccer.league.match import Match
from streamsoccer.league.truth import HZ

OFFSETS = (-5.0, -3.5, -2.0, -1.0, -0.4, 0.3, 1.0, 2.0, 3.5, 5.0, 7.0, 10.0)  # seconds from the action
COLUMNS, SIZE, GAP = 4, (398, 224), 4
Moment = tuple[int, int, float, str, str]  # match, half, second, whose, kind of shot


def strip(broadcast: Broadcast, half: int, at: float) -> NDArray[np.uint8]:
    """Pictures about a moment, row by row."""
    width, height = SIZE
    rows = -(-len(OFFSETS) // COLUMNS)
    sheet = np.full((rows * (height + GAP) - GAP, COLUMNS * (width + GAP) - GAP, 3), 255, dtype=np.uint8)
    for place, offset in enumerate(OFFSETS):
        top, left = place // COLUMNS * (height + GAP), place % COLUMNS * (width + GAP)
        picture = broadcast.frame(half, max(0.0, at + offset), overlays=False)
        sheet[top : top + height, left : left + width] = picture
    return sheet


def moments(match: Match, index: int) -> dict[Label, list[Moment]]:
    """Every action of each label, and which kind of shot was on."""
    found: dict[Label, list[Moment]] = defaultdict(list)
    for trace in match.halves:
        direction = direction_of(match.fixture, trace)
        for deed in trace.deeds:
            if deed.label is not None and 10 < deed.at < trace.seconds - 15:
                kind = direction.shot(deed.at * HZ).kind
                found[deed.label].append((index, trace.half, deed.at, deed.label_side.value, kind.value))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--matches", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    played = [Match(given.seed, index=index) for index in range(given.matches)]
    found: dict[Label, list[Moment]] = {label: [] for label in Label}
    for index, match in enumerate(played):
        for label, rows in moments(match, index).items():
            found[label].extend(rows)
    main = ShotKind.MAIN.value
    found = {label: [each for each in rows if each[4] == main] or rows for label, rows in found.items()}
    chosen = [
        (label, rows[place])
        for label, rows in sorted(found.items())
        for place in rng.permutation(len(rows))[: given.each].tolist()
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    key, screens = {}, {}
    for number, place in enumerate(rng.permutation(len(chosen)).tolist(), start=1):
        label, (index, half, at, side, kind) = chosen[place]
        if index not in screens:
            screens[index] = Broadcast(played[index].fixture, played[index].halves, SIZE)
        sheet = strip(screens[index], half, at)
        cv2.imwrite(str(given.out / f"{number:02d}.png"), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))
        key[f"{number:02d}"] = {
            "label": label.value,
            "match": index,
            "half": half,
            "second": at,
            "side": side,
            "shot": kind,
        }
    (given.out / "key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
    print(f"{len(key)} moments in {given.out}; none of {[label.value for label, rows in found.items() if not rows]}")


if __name__ == "__main__":
    main()

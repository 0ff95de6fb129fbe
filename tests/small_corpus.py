"""Small matches in SoccerNet's layout for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Mark = tuple[int, float, str, str]  # half, seconds, label, team

# A quarter of an hour of each half with enough of everything for all three tracks.
PLAY: tuple[Mark, ...] = (
    (1, 0.0, "Kick-off", "home"),
    (1, 31.0, "Ball out of play", "not applicable"),
    (1, 38.0, "Throw-in", "away"),
    (1, 62.0, "Corner", "home"),
    (1, 66.5, "Shots on target", "home"),
    (1, 110.0, "Foul", "away"),
    (1, 131.0, "Indirect free-kick", "home"),
    (1, 150.0, "Shots off target", "away"),
    (1, 188.0, "Goal", "away"),
    (1, 240.0, "Kick-off", "home"),
    (1, 262.0, "Offside", "home"),
    (1, 300.0, "Corner", "home"),
    (1, 340.0, "Foul", "away"),
    (1, 352.0, "Yellow card", "away"),
    (1, 420.0, "Corner", "away"),
    (1, 480.0, "Corner", "home"),
    (1, 520.0, "Clearance", "away"),
    (1, 560.0, "Substitution", "home"),
    (1, 620.0, "Foul", "away"),
    (1, 700.0, "Corner", "home"),
    (1, 760.0, "Shots on target", "away"),
    (2, 0.0, "Kick-off", "away"),
    (2, 50.0, "Corner", "home"),
    (2, 120.0, "Foul", "home"),
    (2, 180.0, "Goal", "home"),
    (2, 240.0, "Kick-off", "away"),
    (2, 320.0, "Corner", "home"),
    (2, 420.0, "Shots off target", "away"),
)
SECONDS = {"1": 900.0, "2": 610.0}
_CLASSES = {
    "Corner": ("corner", "The corner from [PLAYER] ([TEAM]) is swung into the middle of the box."),
    "Shots on target": ("saved by goal-keeper", "[PLAYER] ([TEAM]) tries his luck but the keeper is equal to it."),
    "Shots off target": ("shot off target", "[PLAYER] ([TEAM]) sends his effort high over the bar."),
    "Foul": ("foul with no card", "[PLAYER] ([TEAM]) brings his man down and the whistle goes."),
    "Goal": ("goal", "Goal! [PLAYER] ([TEAM]) slots the ball into the bottom corner."),
    "Offside": ("off side", "The flag is up against [PLAYER] ([TEAM]) once more."),
    "Yellow card": ("yellow card", "[PLAYER] ([TEAM]) goes into the book for his latest tackle."),
    "Substitution": ("substitution", "[TEAM] bring on [PLAYER] for the tiring [PLAYER] here."),
}
TEAMS = {"home": "Northtown", "away": "Southport"}


def clock(half: int, seconds: float) -> str:
    return f"{half} - {int(seconds // 60):02d}:{int(seconds % 60):02d}"


def annotation(mark: Mark) -> dict[str, Any]:
    half, seconds, label, team = mark
    position = str(round(seconds * 1000))
    return {
        "gameTime": clock(half, seconds),
        "label": label,
        "position": position,
        "team": team,
        "visibility": "visible",
    }


def caption(mark: Mark, late: float = 2.0) -> dict[str, Any]:
    half, seconds, label, team = mark
    kind, text = _CLASSES[label]
    said = text.replace("[TEAM]", TEAMS[team]).replace("[PLAYER]", "A. Player")
    return {
        "contrastive_aligned_gameTime": clock(half, seconds + late),
        "label": "",
        "class": kind,
        "description": said,
        "anonymized": text,
    }


def write_game(root: Path, match: str, play: Sequence[Mark] = PLAY, captions: bool = True, **labels: Any) -> Path:
    """One match's folder with labels, captions for what they speak of, and video.ini; returns the folder."""
    folder = root / match
    folder.mkdir(parents=True)
    home, away = TEAMS["home"], TEAMS["away"]
    data = {"UrlLocal": f"{match}/", "gameHomeTeam": home, "gameAwayTeam": away, "gameScore": "1 - 1"}
    data["annotations"] = [annotation(mark) for mark in play]  # type: ignore[assignment]
    (folder / "Labels-v2.json").write_text(json.dumps({**data, **labels}))
    if captions:
        rows = [caption(mark) for mark in play if mark[2] in _CLASSES]
        (folder / "Labels-caption.json").write_text(json.dumps({"annotations": rows}))
    ini = "".join(f"[{half}_HQ.mkv]\nstart_time_second = 0\nduration_second = {SECONDS[half]}\n" for half in SECONDS)
    (folder / "video.ini").write_text(ini)
    return folder


def write_corpus(root: Path, matches: int = 5, captioned: int = 4) -> list[str]:
    """A few matches of one season; the last ones have no captions. Each is a second later than the one before."""
    names = []
    for number in range(matches):
        play = [(half, seconds + (number if seconds else 0), label, team) for half, seconds, label, team in PLAY]
        name = f"test_league/2020-2021/2020-10-{number + 1:02d} - 20-00 Northtown 1 - 1 Southport"
        write_game(root, name, play, captions=number < captioned)
        names.append(name)
    return names

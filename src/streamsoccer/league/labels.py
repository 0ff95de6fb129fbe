"""Labels-v2.json and video.ini of a match, as SoccerNet's annotators would have written them from the broadcast."""

from __future__ import annotations

from typing import Any

from streamsoccer.clock import format_seconds
from streamsoccer.league.match import Match
from streamsoccer.league.truth import Trace
from streamsoccer.league.world import stream

__all__ = ["label_file", "video_notes"]

_HAND = 0.2  # seconds by which an annotator's click misses the moment, one standard deviation


def label_file(match: Match) -> dict[str, Any]:
    """The whole file as an object."""
    fixture = match.fixture
    home, away = match.score
    return {
        "UrlLocal": f"{match.game}/",
        "UrlYoutube": "",
        "annotations": [row for trace in match.halves for row in _rows(match, trace)],
        "gameAwayTeam": fixture.away.name,
        "gameDate": fixture.date,
        "gameHomeTeam": fixture.home.name,
        "gameScore": f"{home} - {away}",
    }


def _rows(match: Match, trace: Trace) -> list[dict[str, str]]:
    """The labelled deeds of a half in order; what was on air at that moment says whether it was shown."""
    from streamsoccer.league.broadcast import direction_of

    fixture = match.fixture
    direction = direction_of(fixture, trace)
    rng = stream(fixture.seed, "annotator", fixture.world.value, fixture.index, trace.half)
    rows = []
    latest = 0.0
    for deed in trace.deeds:
        if deed.label is None:
            continue
        miss = max(-0.5, min(0.5, float(rng.normal(0.0, _HAND))))
        # The order of things is seen right, and a half's first kick is the start of its video.
        latest = at = max(latest, 0.0 if deed.step == 0 else min(trace.seconds - 0.04, deed.at + miss))
        rows.append(
            {
                "gameTime": f"{trace.half} - {format_seconds(int(at))}",
                "label": deed.label.value,
                "position": str(round(at * 1000)),
                "team": deed.label_side.value,
                "visibility": "visible" if direction.visible(deed.step, deed) else "not shown",
            }
        )
    return rows


def video_notes(match: Match, names: dict[int, str]) -> str:
    """video.ini: where each half starts in its file and how long it lasts, readable without the video."""
    parts = [
        f"[{names[trace.half]}]\nstart_time_second = 0\nduration_second = {trace.seconds:g}\n" for trace in match.halves
    ]
    return "\n".join(parts)

"""Fact precision: what a line claims against a truth file, by the rules of its track."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamsoccer.claims import Kind
from streamsoccer.clock import MatchTime
from streamsoccer.deeds import Deed, read_truth
from streamsoccer.domain import Placeholder, Side, Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.facts import Line, TruthBook, judge, score_facts
from streamsoccer.settle import Finding

H, A = Side.HOME, Side.AWAY


def row(at: float, kind: str, side: str, label: str | None = None, **more: Any) -> dict[str, Any]:
    player = {"hash": "x", "name": more.pop("player", "Okafor"), "number": 9}
    made = {"half": 1, "at": at, "kind": kind, "side": side, "player": player, "label": label, "label_side": side}
    return {**made, **more}


DEEDS = (
    row(0.0, "kick_off", "home", "Kick-off"),
    row(100.0, "corner", "away", "Corner"),
    row(104.0, "shot", "away", "Shots on target", outcome="saved", player="Dupont"),
    row(300.0, "foul", "home", "Foul", player="Silva"),
    row(700.0, "corner", "away", "Corner"),
    row(1000.0, "foul", "home", "Foul", player="Silva"),
    row(1001.0, "yellow", "home", "Yellow card", player="Silva"),
    row(1150.0, "shot", "home", "Shots on target", outcome="goal"),
    row(1150.5, "goal", "home", "Goal"),
    row(1153.0, "corner", "away", "Corner"),
    row(1154.0, "ball_out", "away", "Ball out of play", detail={"line": "touch"}),
)


@pytest.fixture
def book(tmp_path: Path) -> TruthBook:
    for match in ("l/s/a", "l/s/b"):
        folder = tmp_path / match
        folder.mkdir(parents=True)
        (folder / "1_truth.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in DEEDS))
    return TruthBook(tmp_path)


def line(text: str, *sides: Side, track: Track = Track.CURRENT, start: float | None, end: float, **more: Any) -> Line:
    tokens = [each for each in text.replace("[", " [").replace("]", "] ").split() if each.startswith("[")]
    placeholders = tuple(Placeholder(token=token, side=side) for token, side in zip(tokens, sides, strict=True))
    given = {"id": text, "match": "l/s/a", **more}
    return Line(text=text, track=track, cutoff=MatchTime(1, end), placeholders=placeholders, start=start, **given)


def findings(book: TruthBook, each: Line) -> list[Finding]:
    return [one.finding for one in judge(each, book.match(each.match))]


def test_a_truth_file_is_read_row_by_row_and_a_broken_one_is_named(tmp_path: Path, book: TruthBook) -> None:
    deeds = read_truth(book.folder / "l/s/a" / "1_truth.jsonl")
    assert len(deeds) == len(DEEDS) and isinstance(deeds[0], Deed)
    assert (deeds[2].player, deeds[2].outcome, deeds[2].side) == ("Dupont", "saved", A)
    broken = tmp_path / "1_truth.jsonl"
    broken.write_text('{"half": 1, "at": 3, "kind": "foul", "side": "nobody"}\n')
    with pytest.raises(DataError, match=r"1_truth.jsonl:1: no deed"):
        read_truth(broken)
    broken.write_text("".join(f"{json.dumps(each)}\n" for each in reversed(DEEDS)))
    with pytest.raises(DataError, match="order of time"):
        read_truth(broken)
    with pytest.raises(DataError, match="no truth files"):
        book.match("l/s/c")


def test_a_current_line_is_settled_by_its_event_and_what_led_to_it(book: TruthBook) -> None:
    corner = "[PLAYER] ([TEAM]) takes the corner."
    assert findings(book, line(corner, A, A, start=100.0, end=112.0)) == [Finding.AGREES]
    assert findings(book, line(corner, H, H, start=100.0, end=112.0)) == [Finding.CONTRADICTS]
    assert findings(book, line(corner, A, A, start=104.0, end=112.0)) == [Finding.AGREES]  # it led to the shot
    assert findings(book, line(corner, A, A, start=300.0, end=312.0)) == [Finding.CONTRADICTS]
    wide = "[PLAYER] ([TEAM]) shoots, but the ball goes wide of the post."
    assert findings(book, line(wide, A, A, start=100.0, end=112.0)) == [Finding.CONTRADICTS]


def test_nothing_after_the_cutoff_makes_a_line_true(book: TruthBook) -> None:
    saved = "[PLAYER] ([TEAM]) sees his shot saved by the goalkeeper."
    assert Finding.AGREES in findings(book, line(saved, A, A, start=100.0, end=104.0))
    assert Finding.AGREES not in findings(book, line(saved, A, A, start=100.0, end=103.9))


def test_a_state_may_be_that_of_any_moment_of_the_event(book: TruthBook) -> None:
    def states(book: TruthBook, each: Line) -> list[Finding]:
        judged = judge(each, book.match(each.match))
        return [one.finding for one in judged if one.claim.kind in (Kind.COUNT, Kind.SCORE)]

    second = "That is the second corner for [TEAM]."
    assert states(book, line(second, A, start=700.0, end=712.0)) == [Finding.AGREES]
    assert states(book, line(second, A, start=100.0, end=112.0)) == [Finding.CONTRADICTS]
    # At the cutoff it is the third corner, when the goal fell it was the second: of an event that holds both, either.
    assert states(book, line(second, A, start=1148.0, end=1156.0)) == [Finding.AGREES]
    assert states(book, line("It's 1-0.", start=1148.0, end=1156.0)) == [Finding.AGREES]
    assert states(book, line("It's 1-0.", start=1000.0, end=1012.0)) == [Finding.CONTRADICTS]


def test_a_recent_line_is_settled_by_the_last_minutes_and_the_state_at_its_cutoff(book: TruthBook) -> None:
    recent: dict[str, Any] = {"track": Track.RECENT, "start": 1150.0}
    two = "In the last two minutes, [TEAM] have committed two fouls."
    assert findings(book, line(two, H, end=1010.0, **recent)) == [Finding.CONTRADICTS]
    had = "In the last two minutes, [TEAM] have committed a foul and been shown a yellow card."
    assert findings(book, line(had, H, end=1010.0, **recent)) == [Finding.AGREES, Finding.AGREES]
    assert findings(book, line(had, A, end=1010.0, **recent)) == [Finding.CONTRADICTS, Finding.CONTRADICTS]
    assert findings(book, line(had, H, end=1180.5, **recent)) == [Finding.CONTRADICTS, Finding.AGREES]


def test_a_historical_line_looks_back_over_the_match(book: TruthBook) -> None:
    text = "Another corner for [TEAM], about ten minutes after an earlier one; it is their second of the match."
    given: dict[str, Any] = {"track": Track.HISTORICAL, "start": 700.0, "end": 712.0}
    assert set(findings(book, line(text, A, **given))) == {Finding.AGREES}
    assert set(findings(book, line(text, H, **given))) == {Finding.CONTRADICTS}
    assert set(findings(book, line(text, A, track=Track.HISTORICAL, start=None, end=720.0))) == {Finding.AGREES}


def test_the_count_of_an_unnamed_player_may_be_anyones_who_did_it(book: TruthBook) -> None:
    text = "[PLAYER] ([TEAM]) is penalised. It is his second foul."
    assert findings(book, line(text, H, H, start=1000.0, end=1004.0)) == [Finding.AGREES, Finding.AGREES]
    assert Finding.CONTRADICTS in findings(book, line(text, H, H, start=300.0, end=312.0))


def test_precision_leaves_out_what_cannot_be_told_and_counts_claims_a_line(book: TruthBook) -> None:
    lines = [
        line("[PLAYER] ([TEAM]) takes the corner.", A, A, start=100.0, end=112.0, match=match, id=f"{match}{number}")
        for match in ("l/s/a", "l/s/b")
        for number in range(3)
    ]
    lines.append(line("A fine evening.", start=100.0, end=112.0))
    lines.append(line("Foul by [PLAYER] ([TEAM]).", A, A, start=100.0, end=112.0))
    scores, judged = score_facts(lines, book, replicates=200)
    assert (scores.true, scores.false, scores.unknown, scores.lines) == (6, 1, 0, 8)
    assert scores.precision == pytest.approx(6 / 7) and scores.checkable == pytest.approx(7 / 8)
    assert scores.by_kind["action: corner"] == {"agrees": 6, "contradicts": 0, "unknown": 0}
    assert scores.intervals["precision"].low < 6 / 7 < scores.intervals["precision"].high <= 1.0
    assert len(judged) == 7


def test_the_references_of_a_league_are_true(tmp_path: Path) -> None:
    """The ceiling: what the data's own targets reach, with captions that were aligned to a neighbouring event."""
    from streamsoccer.cli import main
    from streamsoccer.data.manifests import read_events, read_samples
    from streamsoccer.data.pipeline import build

    with pytest.raises(SystemExit, match="0"):
        main(["league", "make", str(tmp_path / "league"), "--matches", "1", "--seed", "8", "--labels-only"])
    build(tmp_path / "league", tmp_path / "build")
    book = TruthBook(tmp_path / "league")
    starts = {each.id: each.start.seconds for each in read_events(tmp_path / "build")}
    lines = [
        Line(
            id=each.id,
            match=each.match,
            track=each.track,
            text=each.target,
            cutoff=each.cutoff,
            placeholders=each.placeholders,
            start=starts[each.event],
        )
        for each in read_samples(tmp_path / "build")
    ]
    for track, least, claims in ((Track.CURRENT, 0.96, 1.7), (Track.RECENT, 0.98, 2.0), (Track.HISTORICAL, 0.99, 2.5)):
        scores, _ = score_facts([each for each in lines if each.track is track], book)
        assert scores.precision >= least and scores.checkable >= claims, (track, scores)

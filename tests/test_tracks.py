"""Alignment is one to one and explained; the tracks see nothing from the future; targets say what the labels say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from small_corpus import PLAY, annotation, caption, write_game
from streamsoccer.actions import COMPATIBLE, CaptionClass, Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.align import ANCHOR_SECONDS, RANKING, WINDOW_SECONDS, align
from streamsoccer.data.captions import SourceCaption, stated_score
from streamsoccer.data.eventizer import eventize
from streamsoccer.data.match import MatchRows, build_match
from streamsoccer.data.match_state import Timeline
from streamsoccer.data.rewrite import chosen_facts, historical, in_words, ordinal, recent
from streamsoccer.data.soccernet import Game, discover, read_durations, read_game
from streamsoccer.data.tracks import eligible
from streamsoccer.domain import Action, MatchSheet, SampleRow, Side, Split, Tally, Track, Verdict

SHEET = MatchSheet(home="Northtown", away="Southport")


def act(seconds: float, label: Label, side: Side = Side.HOME) -> Action:
    at = MatchTime(1, seconds)
    return Action(label=label, side=side, at=at, available_at=MatchTime(1, (seconds // 4 + 1) * 4))


def said(index: int, seconds: float | None, kind: CaptionClass, text: str = "", half: int = 1) -> SourceCaption:
    return SourceCaption(
        index=index,
        file="f",
        source="matchtime",
        at=None if seconds is None else MatchTime(half, seconds),
        time_key="gameTime",
        kind=kind,
        kind_source="class",
        anonymized=text or "[PLAYER] does something quite remarkable here.",
    )


def verdicts(actions: list[Action], captions: list[SourceCaption]) -> list[Verdict]:
    found, _ = align("m", captions, {1: eventize(actions, 600.0)}, Timeline(actions))
    return [each.verdict for each in found]


@pytest.mark.parametrize(
    ("spoken", "verdict"),
    [
        (said(0, 101.0, CaptionClass.CORNER), Verdict.ALIGNED),
        (said(0, 129.9, CaptionClass.CORNER), Verdict.ALIGNED),
        (said(0, 140.0, CaptionClass.CORNER), Verdict.NO_COMPATIBLE_ACTION),
        (said(0, 101.0, CaptionClass.GOAL), Verdict.NO_COMPATIBLE_ACTION),
        (said(0, 101.0, CaptionClass.SUMMARY), Verdict.NO_CLASS_ACTION),
        (said(0, None, CaptionClass.CORNER), Verdict.NO_TIME),
        (said(0, 101.0, CaptionClass.CORNER, half=3), Verdict.UNKNOWN_HALF),
        (said(0, 101.0, CaptionClass.CORNER, text="[PLAYER] ([TEAM])."), Verdict.NO_TEXT),
        (said(0, 101.0, CaptionClass.CORNER, text="The corner comes in and it is 1:0."), Verdict.SCORE_CONTRADICTED),
        (said(0, 101.0, CaptionClass.CORNER, text="The corner comes in and it is 0:0."), Verdict.ALIGNED),
        (said(0, 700.0, CaptionClass.CORNER), Verdict.NO_CANDIDATE),
    ],
)
def test_every_caption_gets_a_verdict(spoken: SourceCaption, verdict: Verdict) -> None:
    assert verdicts([act(100.0, Label.CORNER)], [spoken]) == [verdict]


def test_the_nearer_caption_gets_the_event_and_the_other_is_told_who_did() -> None:
    near, far = said(0, 110.0, CaptionClass.CORNER), said(1, 101.0, CaptionClass.CORNER)
    assert verdicts([act(100.0, Label.CORNER)], [near, far]) == [Verdict.TAKEN, Verdict.ALIGNED]


def test_a_sure_caption_goes_first_across_the_match() -> None:
    # The save is told by a direct label; the lead to a corner would fit it too, and is nearer.
    actions = [act(100.0, Label.SHOT_ON_TARGET)]
    assert verdicts(actions, [said(0, 100.0, CaptionClass.LEAD_TO_CORNER), said(1, 109.0, CaptionClass.SAVE)]) == [
        Verdict.TAKEN,
        Verdict.ALIGNED,
    ]


def test_a_goal_told_late_comes_back_to_its_event() -> None:
    found, taken = align(
        "m", [said(0, 128.0, CaptionClass.GOAL)], {1: eventize([act(100.0, Label.GOAL)], 600.0)}, Timeline([])
    )
    assert found[0].candidates[0].path == "anchored"
    assert list(taken) == ["m#1-e0096"]
    assert len(found[0].candidates[0].key) == len(RANKING)


def test_stated_scores() -> None:
    assert stated_score("He makes it 2:1.") == (2, 1)
    assert stated_score("They play a 4-4-2 today") is None
    assert stated_score("nothing") is None


def rows_of(tmp_path: Path) -> MatchRows:
    write_game(tmp_path, "league/2020-2021/a game")
    games, _ = discover(tmp_path)
    return build_match(read_game(games[0]), Split.TRAIN, Split.TRAIN, "hash")


def test_the_three_tracks_of_a_small_match(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    tracks = Counter(each.track for each in rows.samples)
    assert tracks[Track.CURRENT] == len(rows.records) > 15
    assert tracks[Track.RECENT] >= 3
    assert tracks[Track.HISTORICAL] >= 3
    corner = next(each for each in rows.samples if each.id.endswith("#1-e0480:historical"))
    assert corner.fields["action"] == "Corner"
    assert corner.fields["count"] == 3
    assert corner.placeholders[0].side is Side.HOME
    assert "Northtown" in corner.named
    assert "[TEAM]" in corner.target


def check_sample(sample: SampleRow, rows: MatchRows, game: Game) -> None:
    """The promises of the three tracks, each checked from the labels alone."""
    events = {each.id: each for each in rows.events}
    records = {each.id: each for each in rows.records}
    cutoff = sample.cutoff
    assert cutoff == events[sample.event].available_at
    for name in (*sample.local, *sample.local_candidates, *sample.sources):
        event = events[name]
        assert event.half == cutoff.half
        assert event.available_at <= cutoff
    for name in (*sample.local, *sample.local_candidates):
        assert cutoff.seconds - events[name].end.seconds <= 180
    if sample.active is not None:
        assert events[sample.active].start < cutoff <= events[sample.active].available_at
    assert len(sample.local) <= 4
    known = [a for half in game.actions.values() for a in half if a.available_at <= cutoff]
    goals = Counter(a.side for a in known if a.label is Label.GOAL)
    assert sample.state.score == (goals[Side.HOME], goals[Side.AWAY])
    for name in sample.candidates:
        record = records[name]
        assert record.half == cutoff.half
        assert record.available_at <= cutoff
        assert cutoff.seconds - record.end.seconds >= 90
    assert set(sample.positives) <= set(sample.candidates)
    assert set(sample.hard_negatives) <= set(sample.candidates) - set(sample.positives)
    if sample.track is Track.RECENT:
        counts = sample.fields["counts"]
        for side, labels in counts.items():
            for label, number in labels.items():
                told = [a for a in known if (a.side, a.label, a.at.half) == (side, label, cutoff.half)]
                since = sample.fields["since"][1]
                assert number == sum(a.at.seconds >= since for a in told), sample.id
                seen = [a for name in sample.local for a in events[name].actions if a.at.seconds >= since]
                assert number == sum((a.side, a.label) == (side, label) for a in seen), sample.id
        assert set(sample.local_positives) <= set(sample.local)
        assert len(sample.local_positives) >= 2
    if sample.track is Track.HISTORICAL:
        label, side = sample.fields["action"], sample.fields["side"]
        kinds = {"Yellow card", "Red card", "Yellow->red card"} if "card" in str(label) else {label}
        assert sample.fields["count"] == sum(a.side == side and a.label in kinds for a in known)
        assert all(records[name].spoken.side == side for name in sample.positives)
        assert any(
            each in sample.target for each in (ordinal(sample.fields["count"]), in_words(sample.fields["count"]))
        )
    assert len(re.findall(r"\[(?:TEAM|PLAYER|COACH|REFEREE)\]", sample.target)) == len(sample.placeholders)
    assert sample.target[-1] in ".!?'\")…" or sample.track is Track.CURRENT


def test_the_small_match_keeps_every_promise(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    games, _ = discover(tmp_path)
    for sample in rows.samples:
        check_sample(sample, rows, read_game(games[0]))


def test_real_matches_keep_every_promise_and_come_near_the_paper(soccernet: Path) -> None:
    games, _ = discover(soccernet)
    durations = read_durations(soccernet / "durations.json")
    total: Counter[str] = Counter()
    enough = 0
    captioned = [each for each in games if each.captions is not None]
    for files in captioned:
        game = read_game(files, durations)
        rows = build_match(game, Split.TRAIN, Split.TRAIN, "hash")
        for sample in rows.samples:
            check_sample(sample, rows, game)
            total[sample.track] += 1
            enough += sample.track is Track.HISTORICAL and len(sample.hard_negatives) >= 3
        aligned = [each.event for each in rows.captions if each.verdict is Verdict.ALIGNED]
        assert len(aligned) == len(set(aligned)) == len(rows.records)
        assert all((each.event is not None) == (each.verdict is Verdict.ALIGNED) for each in rows.captions)
    means = {track: total[track] / len(captioned) for track in Track}
    assert 36 <= means[Track.CURRENT] <= 41
    assert means[Track.RECENT] == pytest.approx(16.9, abs=2)
    assert means[Track.HISTORICAL] == pytest.approx(12.6, abs=2)
    assert enough / total[Track.HISTORICAL] > 0.85


def test_what_was_said_at_a_cutoff_does_not_depend_on_what_comes_later(tmp_path: Path) -> None:
    """Cut the match after each sample's cutoff: the sample that is made then is the same."""
    rows = rows_of(tmp_path)
    folder = tmp_path / "league/2020-2021/a game"
    teams = {"gameHomeTeam": "Northtown", "gameAwayTeam": "Southport"}
    first = [each for each in rows.samples if each.half == 1]
    for sample in first[:: max(1, len(first) // 6)]:
        known = [mark for mark in PLAY if mark[0] == 2 or mark[1] < sample.cutoff.seconds]
        labels = {**teams, "annotations": [annotation(mark) for mark in known]}
        (folder / "Labels-v2.json").write_text(json.dumps(labels))
        games, _ = discover(tmp_path)
        again = {each.id: each for each in build_match(read_game(games[0]), Split.TRAIN, Split.TRAIN, "hash").samples}
        assert again[sample.id] == sample


def test_the_buffer_and_the_ledger_have_their_edges(tmp_path: Path) -> None:
    records = sorted(rows_of(tmp_path).records, key=lambda each: each.start)
    first = records[0]
    assert eligible(records, MatchTime(1, first.end.seconds + 90)) == [first]
    assert eligible(records, MatchTime(1, first.end.seconds + 89.9)) == []
    assert eligible(records, MatchTime(2, 900.0))[0].half == 2


def test_sentences_are_plain_and_stable() -> None:
    facts = chosen_facts({(Side.HOME, Label.CORNER): 2, (Side.AWAY, Label.FOUL): 1, (Side.HOME, Label.GOAL): 1})
    assert facts[0] == (Side.HOME, Label.GOAL, 1)
    state = Tally().plus(act(1.0, Label.GOAL))
    texts = {recent(f"s{n}", facts, 2, state, SHEET).named for n in range(40)}
    assert len(texts) > 5
    assert all("scored a goal" in each and "two corners" in each and "1-0 to Northtown" in each for each in texts)
    assert recent("s1", facts, 2, state, SHEET) == recent("s1", facts, 2, state, SHEET)
    assert "two minutes" in recent("s1", facts, 2, state, SHEET).target
    assert "t minute" in recent("s1", facts, 1, state, SHEET).target
    early = recent("s1", facts[1:2], 0, state, SHEET)
    assert "half" in early.target
    told = historical("s1", Label.CORNER, Side.AWAY, 3, 4, SHEET)
    assert "Southport" in told.named
    assert "four minutes" in told.target


def test_numbers_in_words() -> None:
    assert [ordinal(n) for n in (1, 3, 11, 12, 21, 22, 113)] == [
        "first",
        "third",
        "11th",
        "12th",
        "21st",
        "22nd",
        "113th",
    ]
    assert [in_words(n) for n in (1, 12, 13)] == ["one", "twelve", "13"]


def test_goals_cards_and_substitutions_fold_by_side() -> None:
    state = Tally()
    for label in (Label.GOAL, Label.YELLOW_CARD, Label.SECOND_YELLOW_CARD, Label.SUBSTITUTION, Label.RED_CARD):
        state = state.plus(act(1.0, label, Side.AWAY))
    away = state.away
    assert (away.goals, away.yellow_cards, away.red_cards, away.substitutions) == (1, 2, 2, 1)
    assert state.plus(act(1.0, Label.BALL_OUT, Side.NONE)) == state
    assert state.score == (0, 1)


def test_every_caption_class_says_what_it_can_speak_of() -> None:
    assert set(COMPATIBLE) == set(CaptionClass)
    assert ANCHOR_SECONDS == 2 * WINDOW_SECONDS == 30
    assert caption(PLAY[3])["class"] == "corner"


def test_a_summary_tells_a_goal_once_and_says_also_of_the_same(tmp_path: Path) -> None:
    """SoccerNet labels a goal as a shot on target too; what both sides did alike is not told twice over as new."""
    for sample in rows_of(tmp_path).samples:
        for told in sample.fields.get("counts", {}).values():
            assert not {"Goal", "Shots on target"} <= set(told)
    alike = [(Side.HOME, Label.SUBSTITUTION, 1), (Side.AWAY, Label.SUBSTITUTION, 1)]
    assert all("have also made" in recent(f"s{n}", alike, 2, Tally(), SHEET).target for n in range(10))

"""Captions of clips: what the clip shows and nothing else, in many words, the same for the same seed."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from streamsoccer.clock import MatchTime
from streamsoccer.domain import Side
from streamsoccer.errors import UsageError
from streamsoccer.league.broadcast import HalfOnAir
from streamsoccer.league.describe import _key, caption, describe, write_descriptions
from streamsoccer.league.director import ShotKind
from streamsoccer.league.match import Match
from streamsoccer.league.names import WorldName
from streamsoccer.league.sightwords import BEATS, CATCHWORDS, CLOSE, POSES, STATES
from streamsoccer.league.truth import Deed, DeedKind, Outcome
from streamsoccer.league.visible import Sight, State, look

K = DeedKind


@pytest.fixture(scope="module")
def match() -> Match:
    return Match(21, index=4)


@pytest.fixture(scope="module")
def halves(match: Match) -> list[HalfOnAir]:
    return [HalfOnAir(match.fixture, trace) for trace in match.halves]


@pytest.fixture(scope="module")
def told(match: Match, halves: list[HalfOnAir]) -> list[tuple[HalfOnAir, Sight, str]]:
    return [
        (on_air, look(on_air, index), text)
        for on_air in halves
        for index, text in enumerate(describe(match.fixture, on_air))
    ]


def deeds(on_air: HalfOnAir, first: float, last: float) -> list[Deed]:
    return [deed for deed in on_air.trace.deeds if first <= deed.step <= last]


def within(on_air: HalfOnAir, sight: Sight) -> list[Deed]:
    """All that happens while the clip is on, or is shown in it once more; a little before the first frame counts."""
    found = deeds(on_air, 20 * sight.index - 3, 20 * sight.index + 17)
    for part in sight.parts:
        if part.kind is ShotKind.REPLAY:
            found += deeds(on_air, part.low - 3, part.high)
    return found


# --- what is told is there -------------------------------------------------------------------------------------------


def given(deed: Deed, on_air: HalfOnAir) -> str:
    """The restart that a ball out of play gives, worked out here once more."""
    if deed.kind is not K.BALL_OUT:
        return ""
    if deed.detail.get("line") != "goal":
        return "throw-in"
    defends = Side.AWAY if (deed.place[0] > 0) == (on_air.trace.home_attacks > 0) else Side.HOME
    return "corner" if deed.side is defends else "goal kick"


WORDS: dict[str, tuple[DeedKind, ...]] = {
    r"offside": (K.OFFSIDE,),
    r"\bfouls?\b|brought down|brings": (K.FOUL,),
    r"kick-off|kick off": (K.KICK_OFF,),
    r"scores?\b(?! (is|goes|\d))|goal for|, a goal\b(?! kick)|own goal|, goal\b(?! kick)|\bgoal (home|away|in)": (
        K.GOAL,
    ),
    r"\bsaved\b|parries|tips it|\bsave\b|holds a shot": (K.SAVE,),
    r"over the bar|\bgoes wide\b|heads wide|past the post(?! by)": (K.BALL_OUT, K.SAVE),
    r"shoots|\bshot\b|heads? at goal": (K.SHOT, K.SAVE, K.BALL_OUT, K.GOAL),
    r"cross(es)? (from|into|by|in)\b": (K.CROSS, K.CORNER, K.FREE_KICK),
    r"goes past a man|dribble|beats": (K.DRIBBLE,),
    r"clears|headed clear|clearance|heads it away": (K.CLEARANCE,),
    r"punche": (K.CLAIM,),
}
WAITING = {
    "throw-in": K.THROW_IN, "corner": K.CORNER, "goal kick": K.GOAL_KICK, "free kick": K.FREE_KICK,
    "kick-off": K.KICK_OFF, "penalty": K.PENALTY,
}  # fmt: skip


def test_no_caption_tells_what_its_clip_does_not_hold(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    checked: Counter[str] = Counter()
    for on_air, sight, text in told:
        there = within(on_air, sight)
        kinds = {deed.kind for deed in there}
        waits = {part.restart for part in sight.parts if part.state is State.READY}
        words = re.sub(r"graphic.*?(?=[.;]|$)|close-up.*?(?=[.;]|$)|close view.*?(?=[.;]|$)", "", text.lower())
        for pattern, needed in WORDS.items():
            if re.search(pattern, words) and not (pattern.startswith("kick-off") and K.KICK_OFF in waits):
                assert kinds & set(needed), f"{pattern}: {text}"
                checked[pattern] += 1
        for word, kind in WAITING.items():
            # 'penalty area' is a place
            if re.search(rf"\b{word}\b(?! area)", words):
                outs = {given(deed, on_air) for deed in there}
                assert kind in kinds or kind in waits or word in outs, f"{word}: {text}"
                checked[word] += 1
    assert min(checked.values()) >= 1
    assert len(checked) >= len(WORDS) + 4, checked


def test_sides_are_those_of_the_trace(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    checked = 0
    for on_air, sight, text in told:
        there = within(on_air, sight)
        for pattern, kind in (
            (r"(?:throw-in for|throw-in by|(?<!kick-)off) (?:the )?(home|away)", K.THROW_IN),
            (r"goal for (?:the )?(home|away)", K.GOAL),
            (r"corner by (?:the )?(home|away)", K.CORNER),
            (r"a foul by (?:the )?(home|away)", K.FOUL),
            (r"(?:the )?(home|away)(?: side| team)? (?:\([a-z ]+\) )?are offside", K.OFFSIDE),
        ):
            for found in re.finditer(pattern, text.lower()):
                sides = {deed.side.value for deed in there if deed.kind in (kind, K.BALL_OUT)}
                sides |= {part.side.value for part in sight.parts if part.state is State.READY}
                assert found[1] in sides, text
                checked += 1
    assert checked > 40


def test_a_close_up_hides_the_play_and_a_replay_the_board(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    close, replays = 0, 0
    for _, sight, text in told:
        kinds = {part.kind for part in sight.parts}
        if kinds == {ShotKind.CLOSE}:
            assert not re.search(
                r"pass|cross(?!es the pict)|shot|shoots|corner|throw|foul|offside|intercept|clear", text.lower()
            ), text
            close += 1
        if kinds == {ShotKind.REPLAY}:
            assert "eplay" in text
            assert not re.search(r"\b(home|away)\b|scoreboard|score is|\d-\d", text), text
            replays += 1
        if ShotKind.REPLAY not in kinds:
            assert "eplay" not in text
    assert close > 30
    assert replays > 5


def test_the_score_is_the_one_on_the_board(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    changes = 0
    for on_air, sight, text in told:
        scores = {f"{a}-{b}" for step, (a, b) in on_air.direction.scores if step <= 20 * sight.index + 17}
        for found in re.findall(r"\b\d+-\d+\b", text):
            assert found in scores, text
        if sight.board is not None and sight.board.before != sight.board.after:
            assert "{}-{}".format(*sight.board.after) in text
            changes += 1
        elif found := re.findall(r"\b\d+-\d+\b", text):
            assert sight.board is not None
            assert set(found) == {"{}-{}".format(*sight.board.after)}, text
    assert changes


def test_the_end_of_a_shot_is_told_only_where_it_is_seen(halves: list[HalfOnAir]) -> None:
    endings: Counter[bool] = Counter()
    for on_air in halves:
        for index in range(int(on_air.trace.seconds // 4)):
            for part in look(on_air, index).parts:
                for beat in part.beats:
                    if beat.kind is K.SHOT and beat.how != "late" and part.kind is ShotKind.MAIN:
                        after = [deed for deed in on_air.trace.deeds if beat.step <= deed.step <= part.high]
                        seen = {deed.kind for deed in after} & {K.SAVE, K.GOAL, K.BLOCK, K.BALL_OUT}
                        assert seen or beat.result in ("", "post")
                        endings[bool(beat.result)] += 1
    assert endings[True] > 5


# --- the same, and nothing of the future -----------------------------------------------------------------------------


def test_the_past_alone_decides(match: Match, halves: list[HalfOnAir]) -> None:
    at = MatchTime(1, 1003.0)
    other = Match(21, index=4, perturb_at=at)
    trace = other.halves[0]
    changed = list(describe(match.fixture, HalfOnAir(other.fixture, trace)))
    whole = list(describe(match.fixture, halves[0]))
    known = int(at.seconds // 4)
    assert changed[:known] == whole[:known]
    assert changed[known + 10 : known + 40] != whole[known + 10 : known + 40]


def test_the_same_seed_gives_the_same_words_clip_by_clip(match: Match, halves: list[HalfOnAir]) -> None:
    whole = list(describe(match.fixture, halves[0]))
    again = HalfOnAir(match.fixture, match.halves[0])
    for index in (400, 3, 77):
        assert caption(match.fixture, again, index) == whole[index]


def test_an_outcome_that_is_not_yet_known_is_not_read(match: Match, halves: list[HalfOnAir]) -> None:
    """Deeds learn their outcome when it is settled: a caption reads it off the clip instead."""
    trace = match.halves[1]
    open_ended = {K.PASS, K.CROSS, K.SHOT}
    blank = tuple(
        replace(deed, outcome=Outcome.NONE)
        if deed.kind in open_ended and deed.outcome is not Outcome.POST  # a rebound is looked up where it is seen
        else deed
        for deed in trace.deeds
    )
    other = HalfOnAir(match.fixture, replace(trace, deeds=blank))
    other.direction = halves[1].direction
    assert list(describe(match.fixture, other)) == list(describe(match.fixture, halves[1]))


# --- words -----------------------------------------------------------------------------------------------------------


def test_captions_are_of_a_length_and_many(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    texts = [text for _, _, text in told]
    lengths = np.array([len(text.split()) for text in texts])
    assert 20 <= np.median(lengths) <= 35
    assert np.percentile(lengths, 5) >= 10
    assert lengths.max() <= 65
    assert len(set(texts)) >= 0.95 * len(texts)
    brief = sum(";" in text and text[0].islower() for text in texts) / len(texts)
    assert 0.1 < brief < 0.25
    words = {word for text in texts for word in re.findall(r"[a-z'-]+", text.lower())}
    assert 180 <= len(words) <= 600


def test_every_wording_can_be_filled_and_every_beat_has_one(told: list[tuple[HalfOnAir, Sight, str]]) -> None:
    names = {"S", "P", "G", "O", "OP", "OG", "s", "o", "at", "at0", "end", "near", "way", "d", "n", "pose"}
    for table in (BEATS, CATCHWORDS, STATES, CLOSE, POSES):
        for key, lines in table.items():
            assert lines, key
            for line in lines:
                assert line.strip(), key
                assert set(re.findall(r"{(\w+)}", line)) <= names, line
    for _, sight, text in told:
        assert not re.search(r"[{}|]|\s\s|None|somebody|Side\.", text), text
        for part in sight.parts:
            for beat in part.beats:
                assert _key(beat) in CATCHWORDS
                assert (f"{_key(beat)}.{beat.result}" if beat.result else _key(beat)) in BEATS


def test_rows_are_one_a_clip(match: Match, halves: list[HalfOnAir], tmp_path: Path) -> None:
    path = tmp_path / "1_clip-captions.jsonl"
    write_descriptions(path, match.fixture, halves[0])
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["index"] for row in rows] == list(range(-(-int(halves[0].trace.seconds * 5) // 20)))
    assert all(set(row) == {"index", "text"} for row in rows)


def test_the_test_world_stays_without() -> None:
    match = Match(1, world=WorldName.TEST, minutes=1)
    with pytest.raises(UsageError, match="for training"):
        next(describe(match.fixture, HalfOnAir(match.fixture, match.halves[0])))

"""What is sure: the event feed as it comes, the lines that it holds back, and names from it and the sheet alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamsoccer.actions import Label
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.domain import Coach, MatchSheet, Placeholder, Side, Track
from streamsoccer.errors import DataError, UsageError
from streamsoccer.feed import Feed, FeedLine, tally_of
from streamsoccer.guard import contradictions, normal, repeated
from streamsoccer.names import fill_names, sided_by_event
from streamsoccer.sheet import read_sheet, sheet_of, sheet_state

SHEET = MatchSheet(
    home="Alder Town", away="Brook Rovers", referee="R. Judge", coaches=(Coach(name="C. Head", side=Side.HOME),)
)
GOAL = '{"at": "1 - 10:00", "kind": "goal", "side": "home", "player": "J. Vale", "available": "1 - 10:30"}\n'
TABLE = """at,kind,side,player,out,available,id,cancels
1 - 10:00,goal,Alder Town,J. Vale,,1 - 10:30,,
1 - 20:00,yellow card,away,B. Ash,,,,
2 - 05:00,sub,home,N. Ew,O. Ld,,,
"""


def at(text: str) -> Cutoff:
    return Cutoff(MatchTime.parse(text))


def feed_of(folder: Path, text: str, sheet: MatchSheet = SHEET) -> Feed:
    path = folder / "feed"
    path.write_text(text, encoding="utf-8")
    return Feed(path, sheet)


def score(feed: Feed, cutoff: str) -> tuple[int, int]:
    tally = tally_of(feed.until(at(cutoff)))
    return tally.home.goals, tally.away.goals


# --- the feed --------------------------------------------------------------------------------------------------------


def test_a_line_is_known_from_when_it_was_there_and_not_before(tmp_path: Path) -> None:
    feed = feed_of(tmp_path, TABLE)
    assert score(feed, "1 - 10:29") == (0, 0) and score(feed, "1 - 10:30") == (1, 0)
    (goal, card, change) = feed.until(at("2 - 05:00"))
    assert (goal.player, goal.side, goal.at.seconds, goal.available_at.seconds) == ("J. Vale", Side.HOME, 600, 630)
    assert (card.label, card.side) == (Label.YELLOW_CARD, Side.AWAY)
    assert (change.label, change.player, change.out) == (Label.SUBSTITUTION, "N. Ew", "O. Ld")
    assert [FeedLine.of_state(each.state()) for each in (goal, card, change)] == [goal, card, change]


def test_lines_may_come_twice_in_any_order_and_be_taken_back(tmp_path: Path) -> None:
    late = '{"at": [1, 300], "kind": "goal", "side": "away", "id": "g0", "available": [1, "12:00"]}\n'
    gone = '{"at": "1 - 13:00", "kind": "cancel", "cancels": "g0"}\n'
    feed = feed_of(tmp_path, GOAL + late + GOAL + gone)
    assert [score(feed, each) for each in ("1 - 11:00", "1 - 12:30", "1 - 13:00")] == [(1, 0), (1, 1), (1, 0)]


def test_a_feed_that_grows_is_known_from_when_it_was_read(tmp_path: Path) -> None:
    feed = feed_of(tmp_path, GOAL)
    early = '{"at": "1 - 02:00", "kind": "goal", "side": "away"}\n'
    with feed.path.open("a") as file:
        file.write(early[:20])
    feed.look(at("1 - 15:00"))
    assert score(feed, "1 - 15:00") == (1, 0), "half a line is none"
    with feed.path.open("a") as file:
        file.write(early[20:] + '{"at": "1 - 02:00", "kind": "try"}\n')
    feed.look(at("1 - 16:00"))
    assert score(feed, "1 - 15:59") == (1, 0) and score(feed, "1 - 16:00") == (1, 1)
    (problem,) = feed.problems
    assert "line 3" in problem and "'try' is not known" in problem
    feed.path.unlink()
    feed.look(at("1 - 17:00"))
    assert score(feed, "1 - 17:00") == (1, 1) and "cannot be read" in feed.problems[-1]


def test_a_match_that_goes_on_knows_what_it_knew(tmp_path: Path) -> None:
    """A line that was added while the match lay still is known from where that goes on."""
    before = feed_of(tmp_path, GOAL).until(at("1 - 11:00"))
    added = '{"at": "1 - 01:00", "kind": "goal", "side": "away"}\n'
    feed = feed_of(tmp_path, GOAL + added)
    feed.obey(before, MatchTime.parse("1 - 20:00"))
    assert score(feed, "1 - 10:30") == (1, 0) and score(feed, "1 - 19:59") == (1, 0)
    assert score(feed, "1 - 20:00") == (1, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"at": "1 - 10:00", "kind": "goal", "side": "red"}\n', "line 1: side 'red' is neither home nor away"),
        (GOAL + '{"at": "soon", "kind": "goal", "side": "home"}\n', "line 2: at 'soon' is no time"),
        (GOAL + '{"at": \n', "line 2: is no JSON"),
        ("time,what\n1,2\n", "line 1: is neither JSON nor a table's head"),
        ('{"at": "1 - 10:00", "kind": "cancel"}\n', "line 1: kind 'cancel'"),
    ],
)
def test_a_mistake_is_named_by_its_line_before_the_match(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(DataError, match=re.escape(told)):
        feed_of(tmp_path, text)


def test_a_match_sheet_holds_no_score_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "sheet.yaml"
    path.write_text(
        "home: Alder Town\naway: 'Brook Rovers'\nplayers: {home: [A. One, B. Two]}\ncoaches: {away: C. O}\n"
    )
    sheet = read_sheet(path)
    assert sheet.team(Side.AWAY) == "Brook Rovers" and [each.name for each in sheet.players] == ["A. One", "B. Two"]
    assert sheet_of(sheet_state(sheet), "journal") == sheet
    path.write_text("home: Alder Town\nscore: 2-1\n")
    with pytest.raises(UsageError, match="score is not known"):
        read_sheet(path)


# --- what it holds back ----------------------------------------------------------------------------------------------


def wrong(text: str, side: Side, *lines: FeedLine, track: Track = Track.CURRENT, since: float = 595) -> list[str]:
    """The claims about an event of that side that the lines contradict, at 10:40."""
    placeholders = [Placeholder(token=each, side=side) for each in re.findall(r"\[[A-Z]+\]", text)]
    found = contradictions(
        text, placeholders, track=track, at=MatchTime(1, 640), since=MatchTime(1, since), lines=lines
    )
    return [each.text for each in found]


@pytest.fixture
def goal(tmp_path: Path) -> FeedLine:
    return feed_of(tmp_path, GOAL).until(at("1 - 10:30"))[0]


def test_what_the_feed_tells_otherwise_is_found(goal: FeedLine) -> None:
    true = "Goal! [PLAYER] ([TEAM]) scores, and the score is 1-0."
    assert wrong(true, Side.HOME, goal) == [] and wrong(true, Side.AWAY, goal)
    assert "1-0" in wrong(true, Side.HOME)
    assert wrong("It is 2-0.", Side.NONE, goal) == ["2-0"]
    assert wrong("[TEAM] lead by two goals.", Side.HOME, goal) and wrong(
        "[TEAM] have their second goal.", Side.HOME, goal
    )
    assert wrong("[PLAYER] ([TEAM]) is sent off.", Side.AWAY, goal)
    assert wrong("Yellow card for [PLAYER] ([TEAM]).", Side.HOME, goal)
    assert wrong("[TEAM] scored earlier and lead 1-0.", Side.HOME, goal, track=Track.RECENT, since=460) == []


def test_a_feed_that_has_told_nothing_yet_is_whole_as_well(goal: FeedLine) -> None:
    for text in (
        "[TEAM] scored a goal earlier.",
        "That has been a yellow card for [TEAM].",
        "Another goal for [TEAM].",
    ):
        assert wrong(text, Side.HOME, track=Track.HISTORICAL), text
    assert not wrong("[TEAM] scored a goal earlier.", Side.HOME, goal, track=Track.HISTORICAL)
    assert not wrong("[TEAM] won a corner earlier.", Side.HOME, track=Track.HISTORICAL)


def test_a_goal_long_ago_does_not_make_another_true(goal: FeedLine) -> None:
    assert wrong("Goal! [PLAYER] ([TEAM]) scores.", Side.HOME, goal, since=635), "its event began after the goal"


def test_what_no_feed_can_tell_is_never_held_back(goal: FeedLine) -> None:
    for text in ("A corner for [TEAM].", "[TEAM] have had six corners.", "[PLAYER] shoots wide.", "Offside.", ""):
        assert wrong(text, Side.AWAY, goal) == []


def test_the_same_sentence_is_found_by_its_words() -> None:
    said = [normal("A corner for Alder Town,  from the right.")]
    assert repeated(normal("A corner for alder town, from the right."), said, 0.9)
    assert repeated(normal("From the right: a corner for Alder Town!"), said, 0.9)
    assert not repeated(normal("A corner for Brook Rovers, from the right."), said, 0.9)
    assert not repeated(normal("A free kick for Alder Town, from the right."), said, 0.9)
    assert repeated("...", ["..."], 0.9) and not repeated("", ["!"], 0.9)


# --- names -----------------------------------------------------------------------------------------------------------


def named(text: str, *sides: Side, sheet: MatchSheet = SHEET, lines: tuple[FeedLine, ...] = ()) -> str:
    tokens = re.findall(r"\[[A-Z]+\]", text)
    placeholders = [Placeholder(token=token, side=side) for token, side in zip(tokens, sides, strict=True)]
    return fill_names(text, placeholders, sheet, lines).text


HOME, AWAY, NONE = Side.HOME, Side.AWAY, Side.NONE


def test_a_team_is_named_by_its_side_and_a_player_by_the_feed_alone(goal: FeedLine) -> None:
    text = "Goal! [PLAYER] ([TEAM]) scores from a pass by [PLAYER], and the score is 1-0."
    sides = (HOME, HOME, HOME)
    assert named(text, *sides, lines=(goal,)) == (
        "Goal! J. Vale (Alder Town) scores from a pass by an Alder Town player, and the score is 1-0."
    )
    assert named(text, *sides) == "Goal! An Alder Town player scores from a pass by a team-mate, and the score is 1-0."
    wide = "[PLAYER] ([TEAM]) shoots, but the ball goes wide."
    assert named(wide, HOME, HOME, lines=(goal,)) == "An Alder Town player shoots, but the ball goes wide."
    assert "J. Vale" not in named(text, AWAY, AWAY, AWAY, lines=(goal,))


def test_roles_read_as_english_where_nothing_is_known() -> None:
    bare = MatchSheet()
    assert named("A corner for [TEAM]. [PLAYER] takes it.", AWAY, AWAY, sheet=bare) == (
        "A corner for the away side. An away player takes it."
    )
    assert named("The [TEAM] players press; [TEAM]'s corner.", HOME, NONE, sheet=bare) == (
        "The home players press; their corner."
    )
    assert named("[PLAYER] shoots and it is saved by [PLAYER].", HOME, AWAY) == (
        "An Alder Town player shoots and it is saved by the goalkeeper."
    )
    assert named("[REFEREE] has a word with [COACH].", NONE, HOME) == "R. Judge has a word with C. Head."
    assert named("[REFEREE] has a word with [COACH].", NONE, AWAY, sheet=bare) == (
        "The referee has a word with the away coach."
    )


def test_a_substitution_names_both_in_the_order_in_which_it_is_told() -> None:
    when = MatchTime(1, 600)
    line = FeedLine(
        id="s", label=Label.SUBSTITUTION, side=HOME, at=when, available_at=when, player="N. Ew", out="O. Ld"
    )
    for text, told in (
        ("[TEAM] change: [PLAYER] replaces [PLAYER].", "Alder Town change: N. Ew replaces O. Ld."),
        ("[TEAM] change: [PLAYER] is replaced by [PLAYER].", "Alder Town change: O. Ld is replaced by N. Ew."),
    ):
        assert named(text, HOME, HOME, HOME, lines=(line,)) == told


def test_sides_that_the_generator_left_out_are_those_of_the_event() -> None:
    placeholders = [Placeholder(token="[PLAYER]"), Placeholder(token="[TEAM]")]
    found = sided_by_event("[PLAYER] ([TEAM]) shoots.", placeholders, AWAY)
    assert [each.side for each in found] == [AWAY, AWAY]
    told = [Placeholder(token="[TEAM]", side=HOME)]
    assert [each.side for each in sided_by_event("[TEAM] win a corner.", told, AWAY)] == [HOME]


def test_names_are_put_in_as_they_are(goal: FeedLine) -> None:
    odd = MatchSheet(home="[TEAM] <b>& Söhne\\1")
    assert named("[TEAM] kick off.", HOME, sheet=odd) == "[TEAM] <b>& Söhne\\1 kick off."

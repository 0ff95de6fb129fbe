"""The readers take what is there, name what is wrong by file and field, and pass over nothing in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from small_corpus import PLAY, SECONDS, write_game
from streamsoccer.actions import CaptionClass, Label, caption_class
from streamsoccer.clock import MatchTime
from streamsoccer.data.captions import infer_class, is_sentence, pick_time
from streamsoccer.data.placeholders import fill, find, side_of_team
from streamsoccer.data.soccernet import Game, discover, fingerprint, read_durations, read_game
from streamsoccer.data.unisoccer import read_list
from streamsoccer.domain import MatchSheet, Player, Side
from streamsoccer.errors import DataError

NAME = "league/2020-2021/a game"


def read(root: Path) -> Game:
    games, _ = discover(root)
    return read_game(games[0])


def change(folder: Path, file: str, edit: Any) -> None:
    data = json.loads((folder / file).read_text())
    edit(data)
    (folder / file).write_text(json.dumps(data))


def test_a_match_is_read_with_its_halves_actions_and_captions(tmp_path: Path) -> None:
    write_game(tmp_path, NAME)
    game = read(tmp_path)
    assert game.match == NAME
    assert game.durations == {1: 900.0, 2: 610.0}
    assert sum(len(each) for each in game.actions.values()) == len(PLAY)
    corner = game.actions[1][3]
    assert (corner.label, corner.side, corner.at) == (Label.CORNER, Side.HOME, MatchTime(1, 62.0))
    assert corner.available_at == MatchTime(1, 64.0)
    assert game.captions[0].kind is CaptionClass.CORNER
    assert game.captions[0].time_key == "contrastive_aligned_gameTime"
    assert (game.sheet.home, game.sheet.away) == ("Northtown", "Southport")
    assert not game.notices.counts


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("label", "Backflip", "annotations[2].label: 'Backflip'"),
        ("label", "End of period", "annotations[2].label: 'End of period'"),
        ("position", "-5", "annotations[2].position '-5' is negative"),
        ("position", "soon", "annotations[2].position 'soon' is not a number"),
        ("position", "nan", "annotations[2].position 'nan' is not a number"),
        ("gameTime", "0:31", "annotations[2].gameTime '0:31'"),
        ("gameTime", None, "annotations[2].gameTime None"),
        ("gameTime", "0 - 00:31", "annotations[2].gameTime '0 - 00:31'"),
        ("team", "left", "annotations[2].team 'left'"),
    ],
)
def test_a_bad_annotation_is_named_by_file_and_field(tmp_path: Path, field: str, value: Any, said: str) -> None:
    folder = write_game(tmp_path, NAME)
    change(folder, "Labels-v2.json", lambda data: data["annotations"][2].update({field: value}))
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert said in str(caught.value)
    assert str(folder / "Labels-v2.json") in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", '{"annotations": 3}', '{"annotations": [3]}', "", "\x00\xff"])
@pytest.mark.parametrize("file", ["Labels-v2.json", "Labels-caption.json"])
def test_broken_files_are_named(tmp_path: Path, file: str, text: str) -> None:
    folder = write_game(tmp_path, NAME)
    (folder / file).write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert caught.value.where == str(folder / file)


def test_a_missing_half_is_named_whichever_way_it_is_missing(tmp_path: Path) -> None:
    write_game(tmp_path / "a", NAME, play=[mark for mark in PLAY if mark[0] == 1])
    with pytest.raises(DataError, match="half 2: the half is missing"):
        read(tmp_path / "a")
    folder = write_game(tmp_path / "b", NAME)
    (folder / "video.ini").write_text("[1_HQ.mkv]\nduration_second = 900\n")
    with pytest.raises(DataError, match="half 2 has labels but no duration"):
        read(tmp_path / "b")


def test_extra_time_is_kept_as_halves_of_its_own(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME, play=[*PLAY, (3, 12.0, "Corner", "home")])
    (folder / "video.ini").write_text("".join(f"[{half}_HQ.mkv]\nduration_second = 900\n" for half in (1, 2, 3)))
    assert [each.label for each in read(tmp_path).actions[3]] == [Label.CORNER]
    with (folder / "video.ini").open("a") as file:
        file.write("[4_HQ.mkv]\nduration_second = 900\n")
    assert set(read(tmp_path).actions) == {1, 2, 3}
    assert read(tmp_path).notices.counts == {"extra half without labels, left out": 1}


def test_position_is_the_time_and_game_time_stands_in_for_it(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME)

    def edit(data: Any) -> None:
        data["annotations"][1]["position"] = "35000"  # four seconds from its gameTime
        del data["annotations"][2]["position"]
        del data["annotations"][3]["team"]
        data["annotations"][4]["surprise"] = 1
        del data["gameHomeTeam"]

    change(folder, "Labels-v2.json", edit)
    game = read(tmp_path)
    assert [each.at.seconds for each in game.actions[1][1:3]] == [35.0, 38.0]
    assert game.actions[1][4].extra == {"surprise": 1}
    assert game.actions[1][3].side is Side.NONE
    assert game.notices.counts == {
        "position and gameTime more than 1.5 s apart": 1,
        "action without position, timed by gameTime": 1,
        "action without team": 1,
        "labels without gameHomeTeam": 1,
    }


def test_an_action_after_the_end_of_its_half_goes_to_the_last_clip_and_is_counted(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME, play=[*PLAY, (2, 700.0, "Foul", "home")])
    game = read(tmp_path)
    assert game.actions[2][-1].at == MatchTime(2, 610.0)
    assert sum(game.notices.counts.values()) == 1
    assert str(folder) in next(iter(game.notices.first.values()))


def test_captions_keep_unknown_fields_and_say_where_time_and_class_come_from(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME)
    rows = [
        {"gt_gameTime": "", "event_aligned_gameTime": "1 - 02:00", "label": "y-card", "important": "true",
         "mood": "cross", "description": "He is booked again.", "anonymized": "[PLAYER] is booked again."},
        {"gt_gameTime": "1 - 03:00", "gameTime": "1 - 02:00", "label": "", "description": "A corner kick for them."},
        {"gameTime": "soon", "label": "strange", "description": "Offside is the call here."},
    ]  # fmt: skip
    (folder / "Labels-caption_with_gt.json").write_text(json.dumps({"annotations": rows}))
    first, second, third = read(tmp_path).captions
    assert first.source == "matchtime_gt"  # the hand-timed copy is read where both are there
    assert (first.time_key, first.at, first.important) == ("event_aligned_gameTime", MatchTime(1, 120.0), True)
    assert (first.kind, first.kind_source) == (CaptionClass.YELLOW_CARD, "label")
    assert first.extra == {"gt_gameTime": "", "mood": "cross"}
    assert (second.time_key, second.at, second.kind, second.kind_source) == (
        "gt_gameTime",
        MatchTime(1, 180.0),
        CaptionClass.CORNER,
        "text",
    )
    assert (third.at, third.time_key, third.kind) == (None, None, CaptionClass.OFFSIDE)
    notices = read(tmp_path).notices.counts
    assert notices["caption class 'strange' is not known, taken from the text"] == 1
    assert notices["caption without anonymized"] == 2


def test_soccernet_caption_is_told_from_matchtime_and_gives_the_sheet(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME)
    player = {"hash": "h1", "name": "Jo Smith", "shirt_number": "9", "captain": True, "facts": []}
    data = {
        "annotations": [{"gameTime": "1 - 01:04", "label": "corner",
                         "description": "Corner by Jo Smith (Northtown) there.",
                         "anonymized": "Corner by [PLAYER] ([TEAM]) there.",
                         "identified": "Corner by [PLAYER_h1] ([TEAM_]) there."}],
        "lineup": {"home": {"players": [player], "coach": [{"name": "Max Coach"}]}, "away": {}},
        "referee": ["A. Referee"], "venue": ["The Park"],
    }  # fmt: skip
    (folder / "Labels-caption.json").write_text(json.dumps(data))
    game = read(tmp_path)
    assert game.captions[0].source == "soccernet_caption"
    assert game.sheet.players[0] == Player(hash="h1", name="Jo Smith", side=Side.HOME, number="9", captain=True)
    assert (game.sheet.coaches[0].name, game.sheet.referee, game.sheet.venue) == ("Max Coach", "A. Referee", "The Park")
    caption = game.captions[0]
    found = find(caption.anonymized, game.sheet, caption.description, caption.identified)
    assert [(each.token, each.side, each.name) for each in found] == [
        ("[PLAYER]", Side.HOME, "Jo Smith"),
        ("[TEAM]", Side.HOME, "Northtown"),
    ]
    assert fill(caption.anonymized, found) == caption.description


def test_of_two_players_with_one_name_the_hash_says_whose_side_it_is_or_the_team_behind() -> None:
    players = (Player(hash="h1", name="Smith", side=Side.HOME), Player(hash="a1", name="Smith", side=Side.AWAY))
    sheet = MatchSheet(home="Northtown", away="Southport", players=players)
    text, told = "[PLAYER] ([TEAM]) shoots.", "Smith (Southport) shoots."
    for identified in ("[PLAYER_a1] ([TEAM_]) shoots.", ""):
        assert [each.side for each in find(text, sheet, told, identified)] == [Side.AWAY, Side.AWAY]
    assert [each.side for each in find("[PLAYER] shoots.", sheet, "Smith shoots.")] == [Side.NONE]
    assert [each.side for each in find("[PLAYER] shoots.", sheet, "Smith shoots.", "[PLAYER_h1] shoots.")] == [
        Side.HOME
    ]


def test_durations_come_from_a_named_file_unless_video_ini_says_better(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME)
    path = tmp_path / "durations.json"
    path.write_text(json.dumps({NAME: {"1": 2700, "2": 2800.5}}))
    games, _ = discover(tmp_path)
    assert read_game(games[0], read_durations(path)).durations == {1: SECONDS["1"], 2: SECONDS["2"]}
    (folder / "video.ini").unlink()
    games, _ = discover(tmp_path)
    assert read_game(games[0], read_durations(path)).durations == {1: 2700, 2: 2800.5}
    path.write_text(json.dumps({NAME: {"1": -1}}))
    with pytest.raises(DataError, match="half '1': -1"):
        read_durations(path)


def test_a_video_gives_the_duration_where_it_is_there(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    folder = write_game(
        tmp_path, NAME, play=[(1, 1.0, "Kick-off", "home"), (2, 1.0, "Kick-off", "away")], captions=False
    )
    for half in (1, 2):
        with av.open(str(folder / f"{half}_224p.mkv"), "w") as container:
            stream = container.add_stream("mpeg4", rate=5)
            stream.width, stream.height = 32, 32
            for _ in range(50):
                container.mux(stream.encode(av.VideoFrame(32, 32, "yuv420p")))
            container.mux(stream.encode(None))
    assert read(tmp_path).durations == {1: pytest.approx(10.0, abs=0.3), 2: pytest.approx(10.0, abs=0.3)}
    (folder / "1_224p.mkv").write_bytes(b"no video")
    with pytest.raises(DataError, match="cannot be opened"):
        read(tmp_path)
    (folder / "1_224p.mkv").unlink()
    (folder / "1_224p.mkv").symlink_to(tmp_path / "gone.mkv")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        fingerprint(discover(tmp_path)[0][0], None)


def test_folders_without_labels_and_roots_without_matches_are_told(tmp_path: Path) -> None:
    folder = write_game(tmp_path, NAME)
    (folder / "Labels-v2.json").unlink()
    games, problems = discover(tmp_path)
    assert not games
    assert "captions without labels" in problems[0].problem
    assert problems[0].where.endswith("Labels-caption.json")
    with pytest.raises(DataError, match="no such folder"):
        discover(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no match here"):
        discover(tmp_path / "empty")


def test_unisoccer_lists_are_read_by_match(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    row = {"video": "league_2020-2021/a game/2_12_05.mp4", "caption": "foul (no card)",
           "comments_text": "Jo fouls him.", "comments_text_anonymized": "[PLAYER] fouls him.", "id": 7}  # fmt: skip
    path.write_text(json.dumps([row]))
    caption = read_list(path)[NAME][0]
    assert (caption.at, caption.kind, caption.kind_source) == (MatchTime(2, 725.0), CaptionClass.FOUL, "class")
    assert (caption.source, caption.extra) == ("unisoccer", {"id": 7})
    path.write_text(json.dumps([{**row, "video": "elsewhere.mp4"}]))
    with pytest.raises(DataError, match=r"\[0\].video 'elsewhere.mp4'"):
        read_list(path)


def test_times_pass_over_what_cannot_be_read() -> None:
    assert pick_time({"gt_gameTime": "later", "gameTime": "3 - 01:00"}) == (MatchTime(3, 60.0), "gameTime")
    assert pick_time({}) == (None, None)


def test_classes_have_many_spellings_and_words_alone_are_read_with_care() -> None:
    assert caption_class("yr-card") is CaptionClass.SECOND_YELLOW_CARD
    assert caption_class("Off-Side") is CaptionClass.OFFSIDE
    assert caption_class("moonwalk") is None
    assert infer_class("The ball goes into the bottom corner of the net and [TEAM] lead") is not CaptionClass.CORNER
    assert infer_class("[PLAYER] steps up to take the corner") is CaptionClass.CORNER
    assert infer_class("Nothing much is happening") is CaptionClass.OTHER


def test_what_is_a_sentence() -> None:
    assert is_sentence("[PLAYER] ([TEAM]) shoots over the bar.")
    assert not is_sentence("[PLAYER] ([TEAM]).")
    assert not is_sentence("")
    assert not is_sentence("broken text � here for all")


@pytest.mark.parametrize(
    ("name", "side"),
    [("Manchester United", Side.HOME), ("Manchester Utd", Side.HOME), ("Leicester", Side.AWAY),
     ("Leicester City", Side.AWAY), ("Arsenal", Side.NONE), ("", Side.NONE), ("LEICESTER", Side.AWAY)],
)  # fmt: skip
def test_team_names_find_their_side(name: str, side: Side) -> None:
    assert side_of_team(name, MatchSheet(home="Manchester United", away="Leicester")) is side


def test_inferred_classes_agree_with_the_real_ones_well_above_chance(soccernet: Path) -> None:
    games, _ = discover(soccernet)
    durations = read_durations(soccernet / "durations.json")
    captions = [each for files in games if files.captions for each in read_game(files, durations).captions]
    agree = sum(infer_class(each.anonymized) is each.kind for each in captions)
    assert agree / len(captions) > 0.6

"""A build is whole or not there, repeats itself to the byte, rebuilds what changed, and tells what it could not do."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from results import record
from small_corpus import PLAY, write_corpus, write_game
from streamsoccer.cli import app
from streamsoccer.data.assist import frozen_part
from streamsoccer.data.fidelity import tag, what_changed
from streamsoccer.data.manifests import (
    CARD,
    MANIFESTS,
    SUMMARY,
    decode,
    encode,
    read_captions,
    read_clips,
    read_events,
    read_records,
    read_rows,
    read_samples,
    read_summary,
)
from streamsoccer.data.pipeline import build, median_seconds
from streamsoccer.data.soccernet import discover
from streamsoccer.data.splits import legacy_splits, read_split_file, split_by_rule, splits_of
from streamsoccer.data.why import explain
from streamsoccer.domain import ClipRow, EventRow, SampleRow, Split
from streamsoccer.errors import DataError, UsageError

FILES = [*(f"{name}.jsonl" for name in MANIFESTS), SUMMARY, CARD]


def contents(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FILES}


def is_whole(out: Path) -> bool:
    """Whether the manifests are those that build.json speaks of."""
    summary = read_summary(out)
    return all(
        hashlib.sha256((out / name).read_bytes()).hexdigest() == each["sha256"]
        for name, each in summary["manifests"].items()
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture(scope="module")
def real(soccernet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real")
    assert build(soccernet, out).ok
    return out


def test_the_same_sources_give_the_same_bytes_and_nothing_is_made_twice(root: Path, tmp_path: Path) -> None:
    first = build(root, tmp_path / "a")
    assert (first.rebuilt, first.reused, first.ok) == (5, 0, True)
    again = build(root, tmp_path / "a")
    assert (again.rebuilt, again.reused) == (0, 5)
    build(root, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert is_whole(tmp_path / "a")


def test_only_a_changed_match_is_made_anew(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "out")
    folder = sorted(root.glob("*/*/*"))[1]
    labels = json.loads((folder / "Labels-v2.json").read_text())
    labels["annotations"].pop()
    (folder / "Labels-v2.json").write_text(json.dumps(labels))
    made = build(root, tmp_path / "out")
    assert (made.rebuilt, made.reused) == (1, 4)
    build(root, tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_a_damaged_cache_is_made_anew_and_old_matches_leave_it(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(root, out)
    kept = sorted((out / ".cache").iterdir())
    kept[0].write_bytes(kept[0].read_bytes()[:100])
    kept[1].write_bytes(b"")
    assert build(root, out).rebuilt == 2
    last = sorted(root.glob("*/*/*"))[-1]
    for path in last.iterdir():
        path.unlink()
    last.rmdir()
    build(root, out)
    assert len(list((out / ".cache").iterdir())) == 4


def test_ids_are_unique_and_do_not_change_when_other_matches_come(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "a")
    write_game(root, "another_league/2020-2021/a game")
    build(root, tmp_path / "b")
    for name in ("events", "captions", "records", "samples"):
        before = [row.id for row in read_rows(tmp_path / "a" / f"{name}.jsonl", MANIFESTS[name])]
        after = [row.id for row in read_rows(tmp_path / "b" / f"{name}.jsonl", MANIFESTS[name])]
        assert len(set(after)) == len(after)
        assert [each for each in after if not each.startswith("another")] == before


def test_rows_agree_with_each_other(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path)
    events = {row.id: row for row in read_events(tmp_path)}
    splits = {match: each["split"] for match, each in read_summary(tmp_path)["matches"].items()}
    for clip in read_clips(tmp_path):
        event = events[clip.event_id]
        assert event.first <= clip.index < event.first + event.clips
        assert (clip.transition, clip.mask) == (0, None) or clip.index == event.first
        assert clip.split == splits[clip.match]
    assert sum(event.clips for event in events.values()) == sum(1 for _ in read_clips(tmp_path))
    assert sum(clip.last for clip in read_clips(tmp_path)) == 10
    for row in read_records(tmp_path):
        assert events[row.event].caption == row.caption
        assert row.available_at == events[row.event].available_at


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_row_survives_the_way_to_text_and_back(root: Path, tmp_path: Path, name: str) -> None:
    build(root, tmp_path)
    for line in (tmp_path / f"{name}.jsonl").read_text().splitlines():
        row = decode(MANIFESTS[name], line, name)
        assert encode(row) == line
        assert decode(MANIFESTS[name], encode(row), name) == row


def test_the_fast_way_to_write_clips_and_events_says_what_the_general_one_says(root: Path, tmp_path: Path) -> None:
    from streamsoccer.data import manifests

    build(root, tmp_path)
    for row in [*read_clips(tmp_path), *read_events(tmp_path)]:
        assert json.loads(encode(row)) == json.loads(manifests._encode(row))
    odd = replace(next(read_clips(tmp_path)), match='a "quoted" \\ match/ü/\u2028')
    assert json.loads(encode(odd)) == json.loads(manifests._encode(odd))
    event = next(row for row in read_events(tmp_path) if row.actions)
    odd_event = replace(event, actions=(replace(event.actions[0], extra={"mood": ["cross"]}, visible=False),))
    assert json.loads(encode(odd_event)) == json.loads(manifests._encode(odd_event))
    assert decode(EventRow, encode(odd_event), "here") == odd_event


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.pop("index"), "the field 'index' is missing"),
        (lambda row: row.update(colour="red"), "the field 'colour' is not known"),
        (lambda row: row.update(half="1"), "field half: '1' is no int"),
        (lambda row: row.update(split="exam"), "field split: 'exam'"),
        (lambda row: row.update(start="0"), "field start: '0' is no number"),
        (lambda row: row.update(actions=["Backflip"]), "field actions: 'Backflip'"),
        (lambda row: row.update(last=1), "field last: 1 is no bool"),
    ],
)
def test_a_row_that_is_not_what_its_schema_says_is_named(root: Path, tmp_path: Path, change: Any, said: str) -> None:
    build(root, tmp_path)
    path = tmp_path / "clips.jsonl"
    lines = path.read_text().splitlines()
    row = json.loads(lines[2])
    change(row)
    lines[2] = json.dumps(row)
    path.write_text("\n".join(lines))
    with pytest.raises(DataError) as caught:
        list(read_clips(tmp_path))
    assert said in str(caught.value)
    assert f"{path}:3" in str(caught.value)


def test_times_in_rows_are_checked() -> None:
    line = '{"half":1,"first":0,"clips":1,"start":[1,0],"end":[1,4],"available_at":[0,4],"opened_by":"half_start"}'
    with pytest.raises(DataError, match="field available_at: not a place in a match"):
        decode(EventRow, line, "here")
    with pytest.raises(DataError, match="no ClipRow"):
        decode(ClipRow, "{", "here")


def test_each_kind_of_bad_match_is_told_counted_and_left_out(root: Path, tmp_path: Path) -> None:
    league = "bad_league/2020-2021"
    bad = {
        "broken": lambda folder: (folder / "Labels-v2.json").write_text("{"),
        "label": lambda folder: edit(folder, 0, label="Backflip"),
        "negative": lambda folder: edit(folder, 0, position="-1"),
        "text": lambda folder: edit(folder, 0, position="soon"),
        "lonely": lambda folder: (folder / "Labels-v2.json").unlink(),
        "half": lambda folder: (folder / "video.ini").write_text("[1_HQ.mkv]\nduration_second = 900\n"),
        "caption": lambda folder: (folder / "Labels-caption.json").write_text("[]"),
    }
    for name, spoil in bad.items():
        spoil(write_game(root, f"{league}/{name}"))
    write_game(root, f"{league}/original")
    write_game(root, f"{league}/second copy", UrlLocal=f"{league}/original/")
    made = build(root, tmp_path / "out")
    told = {each.match.rsplit("/", 1)[1]: str(each) for each in made.problems}
    assert set(told) == {*bad, "second copy"}
    assert "UrlLocal" in told["second copy"]
    assert "Labels-v2.json" in told["second copy"]
    assert "annotations[0].position" in told["negative"]
    assert "captions without labels" in told["lonely"]
    assert made.summary["counts"]["matches"] == 6
    assert len(made.summary["problems"]) == 8
    assert "Not built: 8" in (tmp_path / "out" / CARD).read_text()


def edit(folder: Path, index: int, **fields: str) -> None:
    data = json.loads((folder / "Labels-v2.json").read_text())
    data["annotations"][index].update(fields)
    (folder / "Labels-v2.json").write_text(json.dumps(data))


def test_nothing_at_all_to_build_is_an_error_and_leaves_the_old_build(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "out")
    before = contents(tmp_path / "out")
    for path in root.glob("*/*/*/Labels-v2.json"):
        path.write_text("{")
    with pytest.raises(DataError, match="none of 5 matches could be built"):
        build(root, tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_a_kill_at_any_step_leaves_the_old_or_the_new_build(root: Path, tmp_path: Path) -> None:
    """The build runs in a child that dies at its n-th change of the file system, for every n there is."""
    out = tmp_path / "out"
    build(root, out)
    old = contents(out)
    write_game(root, "z_league/2020-2021/a game")
    build(root, tmp_path / "new")
    new = contents(tmp_path / "new")
    assert old != new
    seen = set()
    for step in count(1):
        child = os.fork()
        if child == 0:
            _die_at(step)
            build(root, out)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        now = contents(out)
        assert now in (old, new), f"mixed after step {step}"
        seen.add(now == new)
        if os.waitstatus_to_exitcode(status) == 0:
            break
        assert os.waitstatus_to_exitcode(status) == 9
    assert seen == {True, False}
    assert step > 10
    assert len(list((out / ".builds").iterdir())) == 3  # the lock, the link and what it points to


def _die_at(step: int) -> None:
    """Make the n-th call of anything that changes a folder or syncs a file the last thing this process does."""
    calls = count(1)

    def dying(real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if next(calls) == step:
                os._exit(9)
            return real(*args, **options)

        return call

    for name in ("replace", "rename", "symlink", "unlink", "rmdir", "mkdir", "fsync"):
        setattr(os, name, dying(getattr(os, name)))


def test_a_first_build_that_is_killed_shows_nothing(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamsoccer.cli", "data", "build", str(root), str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not any((tmp_path / "out" / name).exists() for name in FILES)


def test_a_full_disk_leaves_the_old_build_and_is_told(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(root, tmp_path / "out")
    before = contents(tmp_path / "out")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        build(root, tmp_path / "out")
    assert contents(tmp_path / "out") == before
    (tmp_path / "a file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot write here"):
        build(root, tmp_path / "a file")


def test_two_builds_do_not_write_in_one_place(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "out")

    def second(done: int, total: int) -> None:
        if done == 0 and total:
            with pytest.raises(UsageError, match="another build is writing here"):
                build(root, tmp_path / "out")

    build(root, tmp_path / "out", progress=second)
    assert is_whole(tmp_path / "out")


def test_an_unpacked_copy_of_a_build_is_taken_over_and_foreign_files_are_not(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path / "a")
    (tmp_path / "b").mkdir()
    for name, content in contents(tmp_path / "a").items():
        (tmp_path / "b" / name).write_bytes(content)
    build(root, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "events.jsonl").write_text("my own\n")
    with pytest.raises(UsageError, match=r"events.jsonl is not from a build"):
        build(root, tmp_path / "c")
    assert (tmp_path / "c" / "events.jsonl").read_text() == "my own\n"


def test_a_corpus_without_captions_is_built_too(tmp_path: Path) -> None:
    write_corpus(tmp_path / "root", matches=4, captioned=0)
    made = build(tmp_path / "root", tmp_path / "out")
    assert made.summary["counts"]["samples"] == 0
    assert made.summary["counts"]["splits"] == {"train": 2, "validation": 1, "test": 1}


def test_a_unisoccer_list_gives_captions_to_matches_without(tmp_path: Path) -> None:
    name = "test_league/2020-2021/2020-10-01 - 20-00 Northtown 1 - 1 Southport"
    write_corpus(tmp_path / "root", matches=1, captioned=0)
    rows = [{"video": f"test_league_2020-2021/{name.split('/')[2]}/1_05_02.mp4", "caption": "corner",
             "comments_text": "A corner by Jo (Northtown) is taken.",
             "comments_text_anonymized": "A corner by [PLAYER] ([TEAM]) is taken."},
            {"video": "far_2020-2021/away/1_05_02.mp4", "caption": "corner"}]  # fmt: skip
    (tmp_path / "list.json").write_text(json.dumps(rows))
    made = build(tmp_path / "root", tmp_path / "out", caption_lists=[tmp_path / "list.json"])
    assert made.summary["counts"]["verdict"] == {"aligned": 1}
    assert [each.match for each in made.problems] == ["far/2020-2021/away"]


@pytest.mark.acceptance
def test_the_build_is_linear_and_small_and_its_figures_are_written(soccernet: Path) -> None:
    command = ["benchmarks/data.py", "../shared/data/soccernet", "--json"]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, command[0], str(soccernet), "--json"], cwd=root, capture_output=True, check=True
    )
    figures = json.loads(done.stdout)
    record("data_build", figures, f"python {' '.join(command)}")
    assert figures["cpu_per_match_ratio"] < 1.3
    assert figures["many"]["peak_mib"] < 500
    assert figures["one"]["cpu_seconds"] < 10


# --- splits ----------------------------------------------------------------------------------------------------------


def test_the_paper_split_of_422_matches() -> None:
    names = [f"l/s/{number:03d}" for number in range(422)]
    splits = split_by_rule(reversed(names))
    assert [list(splits.values()).count(each) for each in Split] == [295, 64, 63]
    assert [splits[name] for name in names] == sorted(splits.values(), key=list(Split).index)


@pytest.mark.parametrize("total", range(30))
def test_small_corpora_have_something_in_each_part_as_soon_as_they_can(total: int) -> None:
    parts = list(split_by_rule(map(str, range(total))).values())
    assert len(parts) == total
    assert (Split.TRAIN in parts) == (total >= 1)
    assert (Split.TEST in parts) == (total >= 3)


def test_captioned_matches_are_split_as_if_the_others_were_not_there() -> None:
    captioned, others = {f"a/{n:03d}" for n in range(20)}, {f"b/{n:03d}" for n in range(9)}
    together = splits_of(captioned, others)
    assert {name: together[name] for name in captioned} == split_by_rule(captioned)


def test_a_split_file_is_obeyed_and_checked(root: Path, tmp_path: Path) -> None:
    names = [each.match for each in discover(root)[0]]
    path = tmp_path / "split.json"
    path.write_text(json.dumps({"train": names[:2], "valid": names[2:3], "test": names[3:]}))
    assert list(read_split_file(path, names).values()).count(Split.TEST) == 2
    made = build(root, tmp_path / "out", split_file=path)
    assert made.summary["counts"]["splits"] == {"train": 2, "validation": 1, "test": 2}
    assert {row.split for row in read_samples(tmp_path / "out") if row.match == names[3]} == {Split.TEST}
    path.write_text(json.dumps({"train": names, "test": names[:1]}))
    with pytest.raises(DataError, match="is in two splits"):
        read_split_file(path, names)
    path.write_text(json.dumps(dict.fromkeys(names[1:], "train")))
    with pytest.raises(DataError, match="1 matches are in no split"):
        read_split_file(path, names)


def test_the_legacy_split_takes_hand_timed_matches_or_the_last_ones(root: Path) -> None:
    games, _ = discover(root)
    assert [legacy_splits(games)[each.match] for each in games].count(Split.TEST) == 0  # 4 x 1,726 / 7,402 is no match
    hand = games[0].folder / "Labels-caption_with_gt.json"
    hand.write_text((games[0].folder / "Labels-caption.json").read_text())
    games, _ = discover(root)
    assert [each.match for each in games if legacy_splits(games)[each.match] is Split.TEST] == [games[0].match]


# --- the command line ------------------------------------------------------------------------------------------------


def test_the_command_prints_a_summary_and_its_exit_code_tells_of_problems(root: Path, tmp_path: Path) -> None:
    run, out = CliRunner(), str(tmp_path / "out")
    result = run.invoke(app, ["data", "build", str(root), out, "--json"])
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert shown["counts"]["matches"] == shown["rebuilt"] == 5
    write_game(root, "z_league/2020-2021/spoilt", play=PLAY[:3])
    result = run.invoke(app, ["data", "build", str(root), out])
    assert result.exit_code == 1
    assert "half 2: the half is missing" in result.stderr
    assert "1 could not be built" in result.stderr
    assert run.invoke(app, ["data", "build", str(root), out, "--keep-going"]).exit_code == 0
    assert read_summary(tmp_path / "out")["counts"]["matches"] == 5


def test_why_explains_captions_events_samples_and_records(root: Path, tmp_path: Path) -> None:
    build(root, tmp_path)
    sample = next(row for row in read_samples(tmp_path) if row.track == "historical")
    taken = next(row for row in read_captions(tmp_path) if row.verdict == "taken")
    lines = "\n".join(explain(tmp_path, taken.id))
    assert "went to a better caption" in lines
    assert f"went to {taken.candidates[0].taken_by}" in lines
    assert "tier, indirect" in lines
    lines = "\n".join(explain(tmp_path, sample.id))
    assert sample.target in lines
    assert sample.positives[0].split("#")[1] in lines
    assert f"caption: {next(read_records(tmp_path)).caption}" in "\n".join(
        explain(tmp_path, next(read_records(tmp_path)).event)
    )
    assert "score by then" in "\n".join(explain(tmp_path, next(read_records(tmp_path)).id))
    result = CliRunner().invoke(app, ["data", "why", str(tmp_path), sample.id.split("/")[-1]])
    assert result.exit_code == 0
    with pytest.raises(UsageError, match="is called 'nothing'"):
        explain(tmp_path, "nothing")
    with pytest.raises(UsageError, match="IDs end with '#c001'"):
        explain(tmp_path, "#c001")


# --- the real matches ------------------------------------------------------------------------------------------------


def test_the_real_build_has_the_settled_counts(real: Path) -> None:
    summary = read_summary(real)
    counts = summary["counts"]
    assert (counts["matches"], counts["clips"], counts["actions"], counts["events"]) == (149, 204_664, 32_583, 49_460)
    assert counts["event_seconds"] == {"mean": 16.552, "median": 20.0}
    assert sum(counts["verdict"].values()) == counts["captions"] == 3_144
    assert 36 * 49 <= counts["verdict"]["aligned"] <= 41 * 49
    assert is_whole(real)
    with (real / "clips.jsonl").open() as lines:
        assert sum(1 for _ in lines) == 204_664
    # Most texts name the side that the labels give the action: the alignment speaks of the same things.
    assert counts["side"]["same"] > 0.9 * (counts["side"]["same"] + counts["side"]["other"])


def test_every_real_target_passes_its_own_check_and_no_exchange_of_teams_does(real: Path) -> None:
    rows = list(read_samples(real))
    for row in rows:
        assert what_changed(tag(row.target), tag(row.target)) is None
    both = [row for row in rows if row.track == "recent" and row.target.count("[TEAM]") == 2]
    assert len(both) > 300
    for row in both:
        tagged = tag(row.target)
        swapped = tagged.replace("[TEAM_1]", "[TEAM_x]").replace("[TEAM_2]", "[TEAM_1]").replace("[TEAM_x]", "[TEAM_2]")
        if "-" not in tagged:  # with a goal the second may be the leader's, of whom nothing else is said
            assert what_changed(tagged, swapped) == "team", tagged
    assert frozen_part(rows[0]) == frozen_part(replace(rows[0], target="other", writer="m"))
    assert frozen_part(rows[0]) != frozen_part(replace(rows[0], positives=("x",)))
    assert isinstance(rows[0], SampleRow)


def test_median_of_lengths() -> None:
    assert median_seconds({}) == 0
    assert median_seconds({1: 1, 6: 1}) == 14
    assert median_seconds({1: 2, 5: 3}) == 20

"""`streamsoccer run` from a video to its outputs: the same whatever follows in the film and however often it is killed,
and going on whatever breaks."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("av")

from results import record
from running import blocks_film, command, outputs_of, stands, steps_of
from streamsoccer.cli import app, main
from streamsoccer.errors import SourceError, UsageError
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import ClosedBy, NoteKind
from streamsoccer.runtime import RuntimeConfig
from streamsoccer.testing.model import tiny_model
from streamsoccer.testing.video import make_video
from warm import Warm

JOURNAL = "match.journal"


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that may say a thing twice: babble repeats itself."""
    return tiny_model(tmp_path_factory.mktemp("talkative"), runtime=RuntimeConfig(repeat=True))


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return blocks_film(tmp_path_factory.mktemp("film") / "film.mkv")


@pytest.fixture(scope="module")
def whole(film: Path, talkative: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The match in a piece: its folder."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run(command(film, talkative, out))
    return out


def run(arguments: Sequence[str]) -> None:
    app(list(arguments), standalone_mode=False)


def notes(out: Path) -> list[tuple[str, str, str]]:
    with JournalReader(out / JOURNAL) as reader:
        return [(each.kind.value, each.code, each.text) for each in reader.notes()]


def counts(out: Path) -> dict[str, int]:
    with JournalReader(out / JOURNAL) as reader:
        return dict(reader.counters())


# --- what it gives ---------------------------------------------------------------------------------------------------


def test_a_match_from_its_film_to_all_its_outputs(whole: Path) -> None:
    made = outputs_of(whole)
    assert set(made) == {
        "commentary.jsonl",
        "commentary.vtt",
        "commentary.srt",
        "results_dense_captioning.json",
    }
    lines = made["commentary.jsonl"]
    assert isinstance(lines, list) and len(lines) > 8
    assert {each["half"] for each in lines} == {1, 2}
    assert all(each["film_seconds"] == each["seconds"] + (104 if each["half"] == 2 else 0) for each in lines)
    assert counts(whole)["clips"] == 49 and counts(whole)["said"] == len(lines)
    assert [code for _, code, _ in notes(whole)][-1] == "over"


def test_each_line_on_the_terminal_is_time_mode_and_text(
    film: Path, talkative: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(command(film, talkative, tmp_path / "a"))
    shown = capsys.readouterr()
    said = outputs_of(whole)["commentary.jsonl"]
    assert isinstance(said, list)
    assert [line.split()[:4] for line in shown.out.splitlines()] == [
        [str(each["half"]), "-", each["time"], each["mode"]] for each in said
    ]
    assert "RTF" in shown.err and "no warning of others" in shown.err
    run(command(film, talkative, tmp_path / "b", "--json"))
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["text"] for each in told if each["type"] == "line"] == [each["text"] for each in said]
    assert told[-1]["type"] == "summary" and told[-1]["counts"]["said"] == len(said)
    assert sum(each["type"] == "load" for each in told) >= 4, "once a minute"


def test_a_second_run_is_never_written_over_the_first(
    film: Path, talkative: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in (command(film, talkative, whole), [*command(film, talkative, tmp_path / "no"), "--resume"]):
        with pytest.raises(SystemExit) as ended:
            main(given)
        assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "there is a match already" in told and "no match to go on with" in told
    assert not (tmp_path / "no").exists()


def test_a_match_that_is_over_brings_its_outputs_again(
    film: Path, talkative: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    (out / "commentary.vtt").write_text("gone")
    (out / "commentary.srt").unlink()
    run([*command(film, talkative, out), "--resume"])
    assert outputs_of(out) == outputs_of(whole) and stands(out / JOURNAL) == stands(whole / JOURNAL)
    shown = capsys.readouterr()
    assert not shown.out and "over already" in shown.err


def test_another_start_or_setting_is_not_the_same_match(film: Path, talkative: Path, whole: Path) -> None:
    with pytest.raises(UsageError, match="was begun with from"):
        run([*command(film, talkative, whole), "--resume", "--from", "00:20"])
    with pytest.raises(UsageError, match="write real or fast"):
        run([*command(film, talkative, whole), "--pace", "slow"])


def test_from_here_is_a_match_that_begins_there(film: Path, talkative: Path, whole: Path, tmp_path: Path) -> None:
    run([*command(film, talkative, tmp_path / "out"), "--from", "2 - 00:10"])
    with JournalReader(tmp_path / "out" / JOURNAL) as reader:
        steps = list(reader.steps())
    assert (steps[0].half, steps[0].start) == (2, 8.0) and 95 < steps[-1].end <= 96
    assert counts(tmp_path / "out")["clips"] == 22


def test_a_sheet_and_a_feed_are_part_of_the_match(film: Path, talkative: Path, tmp_path: Path) -> None:
    sheet, feed, out = tmp_path / "sheet.yaml", tmp_path / "feed.jsonl", tmp_path / "out"
    sheet.write_text("home: Alder Town\naway: Brook Rovers\n")
    feed.write_text('{"at": "2 - 01:22", "kind": "goal", "side": "Brook Rovers", "available": "2 - 01:26"}\n')
    given = command(film, talkative, out, "--from", "2 - 01:10", "--match", str(sheet))
    run([*given, "--feed", str(feed)])
    with JournalReader(out / JOURNAL) as reader:
        facts = {each.end: each.facts for each in reader.steps() if each.half == 2}
        assert reader.header.sheet == {"home": "Alder Town", "away": "Brook Rovers"}
    score = {at: (each["tally"][0]["goals"], each["tally"][1]["goals"]) for at, each in facts.items()}
    assert all(each["sure"] for each in facts.values())
    assert {at: goals for at, goals in score.items() if at <= 84} == {at: (0, 0) for at in score if at <= 84}
    assert {goals for at, goals in score.items() if at >= 88} == {(0, 1)}
    with pytest.raises(UsageError, match="was begun with feed"):
        run([*given, "--resume"])


# --- causal ----------------------------------------------------------------------------------------------------------


def check_futures(talkative: Path, whole: Path, film: Path, folder: Path, times: Sequence[float]) -> int:
    """Change the film after each of these of its seconds; how many lines had been said before, and are the same."""
    compared = 0
    for seed, at in enumerate(times):
        other = folder / f"{seed}" / film.name
        blocks_film(other, changes_at=at, seed=seed)
        out = folder / f"{seed}.out"
        run(command(other, talkative, out))
        half, second = (1, at) if at <= 104 else (2, at - 104)
        with JournalReader(whole / JOURNAL) as reader:
            last = max((each.step for each in reader.steps() if (each.half, each.end) <= (half, second)), default=0)
            ids = {each.id for each in reader.lines() if (each.cutoff.half, each.cutoff.seconds) <= (half, second)}
        mine, there = ([row for row in stands(each / JOURNAL) if row[1] <= last] for each in (out, whole))
        assert mine == there and stands(out / JOURNAL) != stands(whole / JOURNAL)
        for name, data in outputs_of(whole).items():
            found = outputs_of(out)[name]
            if isinstance(data, list):
                assert isinstance(found, list)
                told = [each for each in data if each["id"] in ids]
                assert len(told) == len(ids) and found[: len(told)] == told
            elif not name.endswith(".json"):  # captions: a blank line after each, and the VTT's head before them
                blocks = len(ids) + name.endswith(".vtt")
                assert isinstance(data, bytes) and isinstance(found, bytes)
                assert found.split(b"\n\n")[:blocks] == data.split(b"\n\n")[:blocks]
        compared += len(ids)
    return compared


def test_a_films_future_changes_nothing_that_was_said_before(
    film: Path, talkative: Path, whole: Path, tmp_path: Path
) -> None:
    assert check_futures(talkative, whole, film, tmp_path, [61.3, 133.9]) > 5


@pytest.mark.acceptance
def test_twenty_other_futures_of_a_film(film: Path, talkative: Path, whole: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    times = [chance.uniform(5, 195) for _ in range(20)]
    compared = check_futures(talkative, whole, film, tmp_path, times)
    figures = {"films_changed_after_t": len(times), "t_seconds": [round(at, 3) for at in sorted(times)]}
    figures |= {"lines_before_t_compared": compared, "rows_or_bytes_that_differ": 0}
    record("run_futures", figures, "pytest -m acceptance tests/test_run_command.py -k futures")


# --- killed ----------------------------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text().split()] if path.exists() else []


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def run_killed(warm: Warm, arguments: Sequence[str], out: Path, whole: Path, kills: int, seed: int) -> list[int]:
    """Kill a match `kills` times and let it end; the steps at which it was killed. Each time, the journal is whole and
    holds the beginning of the uninterrupted match."""
    journal, there, chance = out / JOURNAL, stands(whole / JOURNAL), random.Random(seed)
    total, errors = steps_of(whole / JOURNAL), out.with_suffix(".errors")
    killed: list[int] = []
    for point in sorted(chance.randrange(total) for _ in range(kills)):
        pid = warm.start([*arguments, "--resume"] if journal.exists() else arguments, errors)
        while steps_of(journal) < point and running(pid):
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.02) if point else chance.uniform(0, 1))  # at 0: while it starts
        helpers = children(pid)
        os.kill(pid, signal.SIGKILL)
        assert warm.wait() == -signal.SIGKILL, errors.read_text()
        wait_until(lambda going=helpers: not any(map(running, going)))  # the decoder does not outlive its match
        killed.append(steps_of(journal))
        if journal.exists():
            with JournalReader(journal) as reader:
                steps = [each.step for each in reader.steps()]
            assert steps == list(range(1, len(steps) + 1))
            assert stands(journal) == [row for row in there if row[1] <= len(steps)]
    warm.start([*arguments, "--resume"] if journal.exists() else arguments, errors)
    assert warm.wait() == 0, errors.read_text()
    assert stands(journal) == there
    assert outputs_of(out) == outputs_of(whole)
    return killed


def test_a_killed_run_goes_on_and_says_what_it_would_have(
    film: Path, talkative: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with Warm() as warm:
        killed = run_killed(warm, command(film, talkative, out), out, whole, 4, seed=3)
    assert len(killed) == 4 and max(killed) > 0


@pytest.mark.acceptance
def test_a_hundred_kills_of_runs(film: Path, talkative: Path, whole: Path, tmp_path: Path) -> None:
    begun, killed = time.monotonic(), list[int]()
    with Warm() as warm:
        for match in range(20):
            out = tmp_path / f"{match}"
            killed += run_killed(warm, command(film, talkative, out), out, whole, 5, seed=match)
    figures = {
        "kills": len(killed),
        "matches_killed_5_times_each": 20,
        "steps_of_a_match": steps_of(whole / JOURNAL),
        "killed_after_step": sorted(killed),
        "journals_whole_after_a_kill": len(killed),
        "rows_lost_or_double": 0,
        "matches_with_rows_and_outputs_of_an_uninterrupted_run": 20,
        "minutes": round((time.monotonic() - begun) / 60, 1),
    }
    record("runtime_kills", figures, "pytest -m acceptance tests/test_run_command.py -k kills")


# --- what breaks -----------------------------------------------------------------------------------------------------


def h264(path: Path, *, seconds: float = 60.0, times: Sequence[float] | None = None) -> Path:
    """A film as most are: pictures that lean on others."""
    make_video(path, seconds=seconds, fps=10, width=128, height=96, times=times, options={"g": "20"})
    return path


def test_a_film_that_ends_in_the_middle_of_a_clip_is_told_to_its_end(talkative: Path, tmp_path: Path) -> None:
    film, out = h264(tmp_path / "film.mkv", seconds=41.3), tmp_path / "out"
    run(command(film, talkative, out, halves=""))
    with JournalReader(out / JOURNAL) as reader:
        steps = list(reader.steps())
    assert counts(out)["clips"] == 11 and 41 <= steps[-1].end <= 41.5
    assert notes(out)[-1][1] == "over"


def test_a_film_that_was_cut_off_ends_with_an_error_and_goes_on_once_it_is_whole(
    talkative: Path, tmp_path: Path
) -> None:
    film, out = h264(tmp_path / "film.mkv"), tmp_path / "out"
    data = film.read_bytes()
    film.write_bytes(data[: len(data) * 6 // 10])
    given = command(film, talkative, out, halves="")
    with pytest.raises(SourceError, match="was cut off: it claims 01:00 but ends at"):
        run(given)
    assert notes(out)[-1][:2] == ("fault", "source")
    before, clips = stands(out / JOURNAL), counts(out)["clips"]
    assert 5 <= clips < 12 and before[-1] in before
    film.write_bytes(data)
    run([*given, "--resume"])
    after = stands(out / JOURNAL)
    assert [row for row in after if row[1] <= steps_of_rows(before)] == before
    assert clips < counts(out)["clips"] <= 15 and notes(out)[-1][1] == "over"


def steps_of_rows(found: Sequence[tuple[Any, ...]]) -> int:
    return max(int(row[1]) for row in found)


def test_a_hole_in_a_film_is_a_gap_and_the_match_goes_on(talkative: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    film = h264(tmp_path / "film.mkv", times=[at / 10 for at in range(600) if not 205 <= at < 335])
    run(command(film, talkative, out, halves=""))
    with JournalReader(out / JOURNAL) as reader:
        gaps = [(each.start, each.end) for each in reader.notes() if each.kind is NoteKind.GAP]
        closures = list(reader.closures())
        steps = list(reader.steps())
    assert gaps == [(20.5, 33.5)] and counts(out)["gaps"] == 1 and counts(out)["clips"] == 13
    assert [each.end for each in closures if each.closed_by is ClosedBy.GAP] == [24.0], "with its clip, of one picture"
    assert not any(each.start < 20.5 and each.end > 33.5 for each in closures), "nothing spans what was not seen"
    assert steps[-1].end == 60


def test_a_damaged_stretch_costs_itself(talkative: Path, tmp_path: Path) -> None:
    film, out = h264(tmp_path / "film.ts"), tmp_path / "out"
    data = bytearray(film.read_bytes())
    first, last = len(data) * 4 // 10, len(data) * 6 // 10
    data[first:last] = random.Random(1).randbytes(last - first)
    film.write_bytes(data)
    run(command(film, talkative, out, halves=""))
    with JournalReader(out / JOURNAL) as reader:
        (gap,) = [each for each in reader.notes() if each.kind is NoteKind.GAP]
        steps = list(reader.steps())
    assert 20 < gap.start < gap.end < 40, "the middle fifth, and no more than to the next whole picture"
    assert steps[-1].end == 60 and notes(out)[-1][1] == "over"


def told(child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What a run with --json says, as it says it."""
    assert child.stdout is not None
    for line in child.stdout:
        yield json.loads(line)


@contextlib.contextmanager
def telling(arguments: Sequence[str], *, before: Sequence[str] = (), **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A run that is listened to and does not outlive the test; `before` is the program that it runs under."""
    child = subprocess.Popen(
        [*before, sys.executable, "-m", "streamsoccer.cli", *arguments, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **how,
    )
    try:
        with child:
            yield child
    finally:
        child.kill()


def listened(child: subprocess.Popen[bytes], fault: str, mend: Callable[[], None]) -> tuple[dict[str, Any], str]:
    """Listen to the end, and mend at the first notice of that fault; the summary, and what came on standard error."""
    last: dict[str, Any] = {}
    mended = False
    for row in told(child):
        if row["type"] == "notice" and fault in row["text"] and not mended:
            mend()
            mended = True
        last = row
    assert child.stderr is not None
    errors = child.stderr.read().decode()
    assert mended, f"{last}\n{errors}"
    return last, errors


def needs(*program: str) -> None:
    """Skip, aloud, where the system does not let us make the trouble."""
    try:
        done = subprocess.run([*program, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"needs the {program[0]} program")
    if done.returncode:
        pytest.skip(f"{' '.join(program)} is not allowed here: {done.stderr.strip()}")


def on_a_small_disk(folder: Path, free: int) -> list[str]:
    """The program that a run goes under so that folder/disk has so much room; in the end, folder/kept is what stood
    there. The rest is taken by folder/disk/ballast."""
    needs("unshare", "-rm")
    disk, size = folder / "disk", 8 << 20
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size={size} tmpfs {disk} && head -c {size - free} /dev/zero > {disk}/ballast || exit 9
        "$@"
        code=$?
        cp -r {disk}/out {folder}/kept
        exit $code
    """
    return ["unshare", "-rm", "sh", "-c", script, "sh"]


def test_a_disk_that_is_full_for_a_while_costs_no_line(
    film: Path, talkative: Path, whole: Path, tmp_path: Path
) -> None:
    under = on_a_small_disk(tmp_path, free=600_000)
    with telling(command(film, talkative, tmp_path / "disk" / "out"), before=under) as child:
        seen = Path(f"/proc/{child.pid}/root")
        summary, errors = listened(child, "full", lambda: (seen / f"{tmp_path}/disk/ballast".lstrip("/")).unlink())
    assert child.returncode == 0 and summary["waiting"] == 0, errors
    assert outputs_of(tmp_path / "kept") == outputs_of(whole)
    told = [(kind, code) for kind, code, _ in notes(tmp_path / "kept")]
    assert ("notice", "mended") in told
    assert stands(tmp_path / "kept" / JOURNAL) == stands(whole / JOURNAL)


def test_a_disk_that_stays_full_ends_in_words_and_the_match_goes_on_later(
    film: Path, talkative: Path, whole: Path, tmp_path: Path
) -> None:
    under = on_a_small_disk(tmp_path, free=600_000)
    with telling(command(film, talkative, tmp_path / "disk" / "out"), before=under) as child:
        summary, errors = listened(child, "full", lambda: None)
    assert child.returncode == 2 and "the disk is full" in errors and "Traceback" not in errors
    assert summary["waiting"] > 0, "the match went on to its end all the same"
    kept = tmp_path / "kept"
    assert 0 < steps_of(kept / JOURNAL) < steps_of(whole / JOURNAL)
    run([*command(film, talkative, kept), "--resume"])
    assert stands(kept / JOURNAL) == stands(whole / JOURNAL)
    assert outputs_of(kept) == outputs_of(whole)


def test_an_output_folder_that_may_not_be_written_is_refused_before_anything(
    film: Path, talkative: Path, tmp_path: Path
) -> None:
    unable = without_rights()
    (tmp_path / "locked").mkdir(mode=0o555)
    with telling(command(film, talkative, tmp_path / "locked" / "out"), before=unable) as child:
        assert child.stderr is not None and not list(told(child))
        errors = child.stderr.read().decode()
    assert child.returncode == 2 and "cannot be made: Permission denied" in errors and "--out" in errors


def without_rights() -> list[str]:
    """The program that a run goes under so that a folder's mode counts, also where tests run as root."""
    if os.geteuid():
        return []
    under = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    needs(*under)
    return under


def test_a_folder_that_becomes_read_only_costs_no_line(
    film: Path, talkative: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with telling(command(film, talkative, out), before=without_rights()) as child:
        rows = []
        for row in told(child):
            rows.append(row)
            if row["type"] == "line" and out.stat().st_mode & 0o200:
                out.chmod(0o555)
            elif row["type"] == "notice" and "Permission denied" in row["text"]:
                out.chmod(0o755)
                break
        rows += list(told(child))
    assert child.returncode == 0 and rows[-1]["type"] == "summary"
    codes = [code for _, code, _ in notes(out)]
    assert "output" in codes and "mended" in codes[codes.index("output") :]
    assert outputs_of(out) == outputs_of(whole) and stands(out / JOURNAL) == stands(whole / JOURNAL)


def test_a_match_keeps_to_its_number_of_threads(
    film: Path, talkative: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums are rounded otherwise on another number: a match that is resumed elsewhere must come out the same."""
    import torch

    before = torch.get_num_threads()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    given = command(film, talkative, tmp_path / "out", "--from", "2 - 01:20")
    with monkeypatch.context() as there:
        there.setattr(torch, "set_num_threads", lambda count: None)
        run(given)
    with JournalReader(tmp_path / "out" / JOURNAL) as reader:
        assert reader.header.options["threads"] == 3, "one core is the decoder's"
    set_to: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: before)
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    run([*given, "--resume"])
    run(["replay", str(tmp_path / "out" / JOURNAL), "--model", str(talkative)])
    assert set_to == [3, before, 3, before]

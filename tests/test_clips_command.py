"""`streamsoccer clips`: a table, JSON lines or a picture; an error is one message and exit code 2."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from films import SMALL
from streamsoccer.cli import main
from streamsoccer.testing.video import make_video


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12.6 s at 25 fps."""
    make_video(path := tmp_path_factory.mktemp("films") / "film.mkv", seconds=12.6, **SMALL)
    return path


@pytest.fixture(scope="session")
def holed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """8 s without pictures from 0.4 s to 3 s: the gap comes before the clip around it, so it is the first line."""
    path = tmp_path_factory.mktemp("films") / "film.mkv"
    make_video(path, times=[n / 25 for n in range(200) if not 10 < n < 75], **SMALL)
    return path


Run = tuple[int, str, str]


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Run:
    with pytest.raises(SystemExit) as end:
        main(["clips", *map(str, words)])
    out = capsys.readouterr()
    return int(end.value.code or 0), out.out, out.err


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_table_has_a_line_a_clip_under_one_header(capsys: pytest.CaptureFixture[str], film: Path) -> None:
    code, out, err = run(capsys, film)
    assert (code, err) == (0, "")
    header, *lines = out.splitlines()
    assert header.split() == ["half", "clip", "from", "to", "frames", "size"]
    assert [line.split() for line in lines] == [
        ["1", "0", "00:00", "00:04", "8", "128x96"],
        ["1", "1", "00:04", "00:08", "8", "128x96"],
        ["1", "2", "00:08", "00:12", "8", "128x96"],
        ["1", "3", "00:12", "00:12.6", "2", "128x96", "(6", "of", "8", "not", "there)"],
    ]


def test_a_gap_is_a_line_of_its_own(capsys: pytest.CaptureFixture[str], holed: Path) -> None:
    lines = run(capsys, holed)[1].splitlines()
    assert [line.split()[1] for line in lines] == ["clip", "gap", "0", "1"]
    assert "lost: no picture for" in lines[1]


def test_json_lines_hold_what_the_table_holds_and_times(
    capsys: pytest.CaptureFixture[str], film: Path, holed: Path
) -> None:
    code, out, _ = run(capsys, film, "--json")
    assert code == 0
    clips = rows(out)
    assert [(row["type"], row["half"], row["index"], row["start"], row["end"]) for row in clips] == [
        ("clip", 1, 0, 0, 4), ("clip", 1, 1, 4, 8), ("clip", 1, 2, 8, 12), ("clip", 1, 3, 12, 12.6),
    ]  # fmt: skip
    assert clips[0]["samples"] == list(range(8))
    assert clips[0]["times"] == [math.floor(n * 12.5) / 25 for n in range(8)]
    assert (clips[0]["width"], clips[0]["height"]) == (128, 96)
    gap = rows(run(capsys, holed, "--json")[1])[0]
    assert (gap["type"], gap["reason"], gap["half"]) == ("gap", "lost", 1)


@pytest.mark.parametrize("begin", ["00:09", "9", "0:00:09.5", "1 - 00:11.9"])
def test_from_and_limit_choose_clips(capsys: pytest.CaptureFixture[str], film: Path, begin: str) -> None:
    assert [row["index"] for row in rows(run(capsys, film, "--json", "--from", begin, "--limit", "1")[1])] == [2]


def test_halves_are_named_or_cut_out_of_one_file(capsys: pytest.CaptureFixture[str], film: Path) -> None:
    assert {row["half"] for row in rows(run(capsys, film, "--json", "--half", "2")[1])} == {2}
    found = rows(run(capsys, film, "--json", "--half-starts", "0:01-0:04,0:05")[1])
    assert [(row["half"], row["start"], row["end"]) for row in found] == [(1, 0, 3), (2, 0, 4), (2, 4, 7.6)]
    found = rows(run(capsys, film, "--json", "--half-starts", "0:01-0:04,0:05", "--from", "2 - 00:05")[1])
    assert [(row["half"], row["start"]) for row in found] == [(2, 4)]


def test_a_contact_sheet_is_drawn(capsys: pytest.CaptureFixture[str], film: Path, tmp_path: Path) -> None:
    assert run(capsys, film, "--contact-sheet", tmp_path / "sheet.png")[0] == 0
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.width > 1500


def test_a_sheet_is_drawn_also_of_a_film_that_breaks_off(
    capsys: pytest.CaptureFixture[str], film: Path, tmp_path: Path
) -> None:
    data = film.read_bytes()
    (broken := tmp_path / "broken.mkv").write_bytes(data[: len(data) // 2])
    code, out, err = run(capsys, broken, "--contact-sheet", tmp_path / "sheet.png")
    assert code == 2
    assert len(out.splitlines()) >= 2
    assert err.startswith(f"error: {broken}: was cut off")
    assert (tmp_path / "sheet.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.mkv"], "none.mkv: does not exist"),
        (["gopher://host/film"], "gopher:// is not a protocol that is read here"),
        (["FILM", "--from", "noon"], "'noon' is not a time"),
        (["FILM", "--from", "1 - 00:75"], "'1 - 00:75' is not a game time"),
        (["FILM", "--from", "2 - 00:01"], "there is no half 2 in this file"),
        (["FILM", "--from", "50:00"], "ends at 00:12.6; there is nothing at 50:00"),
        (["FILM", "--half-starts", "5:00,1:00"], "does not give the halves one after the other"),
        (["FILM", "--half-starts", "x"], "'x' is not a time"),
        (["FILM", "--on-full", "burst"], "write drop or wait"),
        (["FILM", "--contact-sheet", "/dev/null/sheet.png"], "cannot be written"),
        (["."], "holds no halves of a game"),
    ],
)
def test_an_error_is_one_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    words: list[str], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *(str(film) if word == "FILM" else word for word in words))
    assert code == 2
    assert message in err
    assert err.startswith("error: ")
    assert "Traceback" not in err


def command(*words: str | Path, **how: Any) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-m", "streamsoccer.cli", "clips", *words]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def test_a_reader_that_has_had_enough_ends_it_quietly(film: Path) -> None:
    with command(film) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_names_that_are_no_text_are_printed_all_the_same(film: Path, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/not\xffutf8\n.mkv"
    with command(os.fsdecode(name), env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": ""}) as process:
        _, err = process.communicate()
    assert process.returncode == 2
    assert b"does not exist" in err
    assert b"Traceback" not in err


def test_an_interrupt_from_the_keyboard_ends_it_without_a_traceback(film: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.mkv"
    grey = np.full((288, 512, 3), 99, dtype=np.uint8)
    make_video(long, seconds=600, fps=2, width=512, height=288, draw=lambda n: grey)
    # A shell that starts tests in the background makes them deaf to interrupts; this command is to hear them.
    with command(long, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err

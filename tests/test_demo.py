"""The demo: what the match has in it, what is left in the folder, and the same with a live page; on a tiny model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from browser import Page, chromium, wait
from streamsoccer import demo
from streamsoccer.commands import RunRequest
from streamsoccer.journal_reader import JournalReader
from streamsoccer.league.broadcast import direction_of
from streamsoccer.league.director import ShotKind
from streamsoccer.league.match import Match
from streamsoccer.league.sample import SamplePlan

SMALL = SamplePlan(seed=337, minutes=1, size=(160, 90), fps=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "demo"


def test_the_match_has_what_a_demo_needs() -> None:
    """Some ten minutes with goals, cards and a goal that is replayed, as its labels and its broadcast have it."""
    plan = demo.demo_plan()
    match = Match(plan.seed, world=plan.world, minutes=plan.minutes)
    assert plan.world == "test" and 540 <= sum(trace.seconds for trace in match.halves) <= 720
    labels, replayed = [], 0
    for trace in match.halves:
        direction = direction_of(match.fixture, trace)
        replays = [each for each in direction.shots if each.kind is ShotKind.REPLAY]
        for deed in trace.deeds:
            if deed.label is None:
                continue
            labels.append(deed.label.value)
            if deed.label.value == "Goal" and direction.visible(deed.step, deed):
                replayed += any(0 <= deed.step - each.source < 25 and each.start > deed.step for each in replays)
    assert {"Goal", "Yellow card", "Red card", "Penalty", "Substitution", "Corner"} <= {*labels}
    assert replayed >= 1


def test_a_demo_leaves_film_captions_journal_and_one_page(
    folder: Path, tiny_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo.run_demo(folder, tiny_folder, plan=SMALL)
    printed = capsys.readouterr().out
    assert {each.name for each in folder.iterdir()} >= {
        "film.mp4", "commentary.vtt", "commentary.srt", "commentary.jsonl", "match.journal", "page.html",
    }  # fmt: skip
    with JournalReader(folder / "match.journal") as reader:
        said = [each for each in reader.shown() if each.visible]
        assert any(each.code == "over" for each in reader.notes())
        assert reader.header.pace == "fast" and reader.header.options["feed"] == ""  # from the pictures alone
    assert len(said) > 2
    for each in said:
        assert re.search(rf"^{each.line.cutoff.half} - \d\d:\d\d  {each.line.track.value} ", printed, re.M)
    assert f"{folder}/page.html" in printed and "of football in" in printed
    with chromium() as page:
        _looks_right(page, folder, len(said))


def _looks_right(page: Page, folder: Path, said: int) -> None:
    alone = folder.parent / "alone.html"
    alone.write_bytes((folder / "page.html").read_bytes())  # it needs nothing beside it
    page.size(1280, 800)
    page.go(alone.as_uri())
    page.until("return video.readyState >= 2 && items.size > 0")
    assert page.run("return match.lines().filter(each => match.shown(each).visible).length") == said
    line = page.run("return match.lines().find(each => match.shown(each).visible)")
    page.run("const line = match.byId.get(arguments[0]); visit(line.h, line.at, line)", line["id"])
    page.until("return document.querySelectorAll('.current .proof').length > 0")
    page.click("#play")
    page.until(f"return player.at.seconds > {line['at']} + 0.3")
    assert page.complaints() == []


def test_a_second_run_films_nothing_and_begins_anew(
    folder: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    film, asked = folder / "film.mp4", list[RunRequest]()
    at = film.stat().st_mtime_ns

    def begun(request: RunRequest) -> None:
        asked.append(request)
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run_match", begun)
    with pytest.raises(KeyboardInterrupt):
        demo.run_demo(folder, tiny_folder, plan=SMALL)
    assert "filmed before" in capsys.readouterr().out and film.stat().st_mtime_ns == at
    assert not asked[0].resume and asked[0].feed is None
    assert {each.name for each in folder.iterdir()} == {"film.mp4", "sheet.yaml", "feed.jsonl", "sample.json"}


def test_without_the_bundled_model_it_says_so_and_shows_clips(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from streamsoccer.errors import UsageError

    def missing() -> Path:
        raise UsageError("the bundled model is not here", remedy="name one")

    monkeypatch.setattr(demo, "bundled_model", missing)
    demo.run_demo(folder, plan=SMALL)
    printed = capsys.readouterr().out
    assert "There is no commentary: the bundled model is not here" in printed
    assert (folder / "clips.png").stat().st_size > 10_000 and "00:56" in printed


def test_a_live_demo_has_its_page_and_ends_with_it(folder: Path, tiny_folder: Path) -> None:
    """At the pace of the match: rows come while it runs, and nothing is left running after it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[3]); from pathlib import Path; from test_demo import SMALL;"
        "from streamsoccer.demo import run_demo; "
        "run_demo(Path(sys.argv[1]), Path(sys.argv[2]), live=True, port=0, plan=SMALL)"
    )
    command = [sys.executable, "-c", code, str(folder), str(tiny_folder), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = ""
            while not url:
                line = process.stdout.readline()
                assert line, process.stderr.read() if process.stderr else ""
                url = line.split("The live page: ")[1].strip() if "The live page: " in line else ""
            with urllib.request.urlopen(f"{url}rows", timeout=60) as rows:
                steps = 0
                while steps < 2:
                    told = rows.readline().decode()
                    if told.startswith("data: [{"):
                        steps += sum(each["k"] == "step" for each in json.loads(told[6:]))
            assert (folder / "match.journal").exists()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)

    def gone() -> bool:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            return True
        return False

    wait(gone)

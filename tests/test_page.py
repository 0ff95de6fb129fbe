"""The page of a match in a real browser: it plays, seeks, shows what a line was said from, and takes text as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser import Page, chromium
from streamsoccer.errors import UsageError
from streamsoccer.journal import Journal
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import CorrectionKind, Header
from streamsoccer.outputs.captions import WebVtt
from streamsoccer.outputs.page import EMBEDDED_BYTES, page_of, render, write_page
from streamsoccer.outputs.sink import Layout
from streamsoccer.testing.video import make_video
from written_match import HEADER, WrittenMatch

SECONDS = 280.0
HOSTILE = (
    "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1> \"'& <b>bold</b> \u2028 {{style}} -->"
)
PHONES = (360, 390)


def write(path: Path, header: Header = HEADER, **options: Any) -> Path:
    with Journal.create(path, header) as journal:
        WrittenMatch(**{"seconds": SECONDS, **options}).write(journal)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match with its film and page."""
    folder = tmp_path_factory.mktemp("page")
    make_video(folder / "film.mp4", seconds=SECONDS, fps=2, width=64, height=36, options={"g": "4"})
    write(folder / "match.journal", gap_at=60)
    write_page(folder / "match.journal", folder / "page.html")
    return folder


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with chromium() as page:
        yield page


@pytest.fixture
def page(tab: Page, folder: Path) -> Iterator[Page]:
    """The page, opened anew; whatever it complains of fails the test."""
    tab.size(1280, 800)
    tab.go((folder / "page.html").as_uri())
    tab.until("return video.readyState >= 2")
    yield tab
    assert tab.complaints() == []


def seek(page: Page, seconds: float) -> None:
    page.run("visit(1, arguments[0])", seconds)
    page.until(f"return !video.seeking && Math.abs(video.currentTime - {seconds}) < 0.3")
    page.until(f"return Math.abs(view.seconds - {seconds}) < 0.3 && !view.stale")


def ids(page: Page, selector: str) -> list[str]:
    """The `data-id` of what is shown there, in order."""
    return list(page.run("return [...document.querySelectorAll(arguments[0])].map(each => each.dataset.id)", selector))


def overflow(page: Page) -> list[str]:
    """What reaches beyond the window's right edge, which nothing may but what is cut off by the belt."""
    return list(
        page.run(
            """
            const wide = document.documentElement.clientWidth;
            return [...document.querySelectorAll('body *')].filter(each => !each.closest('.belt, dialog, .skip')
              && each.getBoundingClientRect().right > wide + 0.5).map(each => each.className || each.tagName);
            """
        )
    )


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_page_is_one_file_that_asks_for_nothing_else(folder: Path) -> None:
    text = (folder / "page.html").read_text(encoding="utf-8")
    asked = re.findall(
        r"""(?:src|href)\s*=\s*["']([^"']+)""", text.split("</head>")[0] + text.rpartition("</style>")[2]
    )
    assert [each for each in asked if not each.startswith(("data:", "#"))] == []
    assert not re.search(r"https?://|@import|url\(", text)


def test_text_cannot_end_the_data_or_stand_in_for_a_part_of_the_page() -> None:
    data = {"rows": [{"text": HOSTILE}]}
    text = render(data, HOSTILE)
    assert text.count("</script>") == render({}, "").count("</script>")
    assert text.count("<style>") == 1 and "<img" not in text
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert held is not None and json.loads(held[1]) == data


def test_a_film_is_linked_where_it_lies_with_the_page_and_taken_in_where_it_is_small(
    folder: Path, tmp_path: Path
) -> None:
    def sources(page: Path) -> list[str]:
        held = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
        assert held is not None
        return [each["src"] for each in json.loads(held[1])["films"]]

    journal, film = folder / "match.journal", folder / "film.mp4"
    assert sources(folder / "page.html") == ["film.mp4"]
    inside = sources(write_page(journal, tmp_path / "in.html", [film]))
    assert inside[0].startswith("data:video/mp4;base64,")
    large = tmp_path / "else where" / "a #1.mp4"
    large.parent.mkdir()
    large.write_bytes(b"\0" * (EMBEDDED_BYTES + 1))
    assert sources(write_page(journal, tmp_path / "other" / "p.html", [large])) == ["../else%20where/a%20%231.mp4"]
    assert sources(write_page(journal, tmp_path / "none.html", [])) == []
    with pytest.raises(UsageError, match="no such film"):
        write_page(journal, tmp_path / "p.html", [tmp_path / "missing.mp4"])


def test_films_of_two_halves_need_their_places(folder: Path, tmp_path: Path) -> None:
    film = folder / "film.mp4"
    unknown = write(tmp_path / "unknown.journal", halves=2, seconds=20)
    with pytest.raises(UsageError, match="where they start"):
        write_page(unknown, tmp_path / "p.html", [film])
    with pytest.raises(UsageError, match="3 films for 2 halves"):
        write_page(unknown, tmp_path / "p.html", [film] * 3)
    told = replace(HEADER, films={"1": ["film.mp4", 3.0], "2": ["film.mp4", 40.0]})
    known = write(tmp_path / "known.journal", told, halves=2, seconds=20)
    write_page(known, tmp_path / "p.html", [film])


def test_times_of_captions_are_those_of_the_files(page: Page, folder: Path) -> None:
    with JournalReader(folder / "match.journal") as reader:
        sink = WebVtt(folder, Layout.of(reader.header))
        sink.begin(reader.shown())
    cues = page.run(
        "return Array.from(track.cues, each => [each.startTime, each.endTime, each.getCueAsHTML().textContent])"
    )
    spans = re.findall(r"^(\S+) --> (\S+)\n(.*)$", (folder / "commentary.vtt").read_text(encoding="utf-8"), re.M)

    def seconds(text: str) -> float:
        hours, minutes, rest = text.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)

    assert len(cues) == len(spans) > 5
    for cue, span in zip(cues, spans, strict=True):
        assert cue[:2] == pytest.approx([seconds(span[0]), seconds(span[1])], abs=2e-3)
        assert cue[2] == span[2]


# --- in the browser --------------------------------------------------------------------------------------------------


def test_it_plays_and_stops(page: Page) -> None:
    assert page.run("return [video.paused, track.mode, voice.on]") == [True, "showing", False]
    page.click("#play")
    page.until("return !video.paused && video.currentTime > 0.2")
    assert page.run("return document.getElementById('play').getAttribute('aria-label')") == "Pause"
    page.press("space")  # the button has the focus: its own click, not both
    page.until("return video.paused")
    page.run("document.activeElement.blur()")
    page.press("space")
    page.until("return !video.paused")
    page.press("space")
    page.until("return video.paused")


def test_a_click_on_an_event_seeks_the_film_and_the_moment_follows(page: Page) -> None:
    seek(page, 150)
    event = page.run("return match.at(1, 150).buffer.at(-2)")
    page.click(f"#belt [data-id='{event['id']}']")
    page.until(f"return Math.abs(video.currentTime - {event['s']}) < 0.3")
    page.until(f"return document.getElementById('clock').textContent === clockOf({event['s']})")
    known = page.run(f"return match.at(1, {event['s']}).buffer.map(each => each.id)")
    shown = page.run(
        "return [...document.querySelectorAll('.buffer [data-id]')].map(each => each.dataset.id).reverse()"
    )
    assert shown == known and event["id"] not in known  # at its start it was not known


def test_only_what_had_been_seen_is_shown(page: Page) -> None:
    """At any second: nothing that became available later stands in the panels, and the score is that of then."""
    for seconds in (3.9, 4.0, 61.0, 97.0, 140.0, 187.5, 279.0):
        seek(page, seconds)
        moment = page.run(f"return match.at(1, {seconds})")
        assert moment["cutoff"] <= seconds + 0.06
        times = [each["at"] for each in moment["buffer"] + moment["records"]]
        assert all(each <= moment["cutoff"] for each in times)
        assert all(moment["cutoff"] - each["e"] <= 180 for each in moment["buffer"])
        ids = page.run(
            "return [...document.querySelectorAll('.buffer [data-id], .records [data-id]')].map(e => e.dataset.id)"
        )
        assert set(ids) <= {each["id"] for each in moment["buffer"] + moment["records"]}
    assert page.text("#score") == "2–0" and page.text("#unsure") == "score as predicted"
    seek(page, 10)
    assert page.text("#score") == "0–0"


def test_a_line_shows_its_evidence_its_reason_and_a_delay_that_adds_up(page: Page) -> None:
    lines = page.run("return match.lines()")
    for mode in ("current", "historical"):
        line = next(each for each in lines if each["mode"] == mode and each["status"] == "said")
        page.run("document.querySelector(`#lines [data-id='${arguments[0]}'] .say`).click()", line["id"])
        page.until(f"return document.querySelector('.line.current')?.dataset.id === '{line['id']}'")
        refs = page.run("return [...document.querySelectorAll('.current .proof')].map(each => each.dataset.ref)")
        assert refs == [each["ref"] for each in line["evidence"]] and refs
        gates = page.run(
            "return [...document.querySelectorAll('.current .gates .chosen')].map(each => each.dataset.mode)"
        )
        assert gates == [mode]
        total = page.run("return Number(document.querySelector('.current .total').dataset.total)")
        parts = page.run(
            "return [...document.querySelectorAll('.current dd')].map(each => Number(each.dataset.seconds))"
        )
        assert total == pytest.approx(sum(parts), abs=1e-9)
        assert total == pytest.approx(sum(value for _, value in line["latency"]), abs=0.006)
        text = page.text(".current .details")
        assert f"Nothing after {page.run('return clockOf(arguments[0])', line['at'])} was known" in text
        if mode == "current":
            assert "4.00 s of waiting for the next clip" in text
        else:
            assert "0.12 is asked for" in text and "fits at" in text
    page.click(".current .proof[data-kind='record']")
    first = next(each for each in line["evidence"] if each["kind"] == "record")
    page.until(f"return Math.abs(video.currentTime - {first['s']}) < 0.3")


def test_silence_has_its_reasons(page: Page) -> None:
    decision = page.run(
        "return match.halves.get(1).decisions.find(each => each.mode === null && each.at > 100 && !each.event)"
    )
    seek(page, decision["at"] + 1)
    assert page.text(".decision h3") == "Silent"
    found = page.run("return [...document.querySelectorAll('.decision .gates li')].map(each => each.dataset.reason)")
    assert found == [gate[1] for gate in decision["gates"]]
    assert "no event has just closed" in page.text(".decision")


def test_every_reason_has_words(page: Page) -> None:
    from streamsoccer.schedule import Reason

    details = {
        Reason.RELEVANT_RECORD: "m#1-r0040 at 0.3100",
        Reason.TICK: "3 events",
        Reason.LOW_SCORE: "0.1000 of 0.12",
    }
    for reason in Reason:
        words = page.run("return gateWords(...arguments)", reason.value, details.get(reason, "60 s of 120 s"), 0.12)
        assert words and "_" not in words and "NaN" not in words, reason
    for score, shown in (("0.0012", "0.00"), ("-0.114", "−0.12"), ("0.119", "0.11")):  # below what is asked for
        words = page.run("return gateWords('low_score', arguments[0], 0.12)", f"{score} of 0.12")
        assert words == f"no record fits well enough: {shown}, and 0.12 is asked for"


def test_the_keyboard_goes_from_line_to_line_and_event_to_event(page: Page) -> None:
    seek(page, 100)
    at = [each["at"] for each in page.run("return match.lines()")]
    after = [each for each in at if each > 100]
    for wanted in after[:3]:
        page.press("j")
        page.until(f"return Math.abs(view.seconds - {wanted}) < 0.1 && view.open?.at === {wanted}")
    page.press("k")
    page.until(f"return view.open?.at === {after[1]}")
    page.press("right")
    page.until(f"return Math.abs(view.seconds - {after[1] + 4}) < 0.1")
    page.press("left", "left")
    page.until(f"return Math.abs(view.seconds - {after[1] - 4}) < 0.1")
    start = page.run("return allEvents().find(each => each.s > view.seconds + 0.1).s")
    page.press("]")
    page.until(f"return Math.abs(view.seconds - {start}) < 0.1")
    page.press("?")
    page.until("return document.getElementById('keys').open")
    page.press("escape")
    page.until("return !document.getElementById('keys').open")
    page.press("c")
    assert page.run("return track.mode") == "hidden"


def test_the_whole_half_is_a_slider(page: Page) -> None:
    page.run(
        """
        const box = whole.getBoundingClientRect(), at = {pointerId: 1, bubbles: true, clientY: box.top + 5};
        whole.setPointerCapture = () => {};
        whole.dispatchEvent(new PointerEvent('pointerdown', {...at, clientX: box.left + box.width / 2}));
        """
    )
    page.until("return Math.abs(view.seconds - 140) < 1.5 && Number(whole.ariaValueNow) === Math.round(view.seconds)")
    assert page.run("return whole.ariaValueText") == "First half, 02:20"


def test_everything_can_be_reached_and_has_a_name(page: Page) -> None:
    """By the tab key alone: the controls, the timeline, events, records, sentences and their evidence."""
    page.run("visit(1, 200, match.lines().findLast(each => each.at < 200 && each.mode === 'historical'))")
    page.until("return document.querySelector('.current .proof') !== null")
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    stops = "button:not([hidden], [hidden] *, dialog *), a, summary, [tabindex='0']"
    wanted = page.run("return document.querySelectorAll(arguments[0]).length", stops)
    reached = set()
    for _ in range(wanted + 5):
        page.press("tab")
        name = page.run(
            """
            const now = document.activeElement;
            if (!now || now === document.body) return null;
            const style = getComputedStyle(now);
            return [now.getAttribute('aria-label') || now.textContent.trim() || now.title, now.id || now.className,
                    style.outlineStyle, [...document.querySelectorAll('*')].indexOf(now)];
            """
        )
        if name is None:
            continue
        assert name[0], f"{name[1]} has no name"
        assert name[2] != "none", f"{name[1]} does not show that it has the focus"
        reached.add(name[3])
    assert len(reached) >= wanted - 1  # the film itself is no stop
    assert page.run("return document.querySelectorAll(`[tabindex]:not([tabindex='0'])`).length") == 0


def test_the_voice_is_off_until_it_is_asked_for(page: Page) -> None:
    page.run(
        "window.spoken = []; speechSynthesis.speak = each => spoken.push(each.text); speechSynthesis.cancel = () => {}"
    )
    line = page.run("return match.lines().find(each => each.at > 30 && match.shown(each).visible)")
    seek(page, line["at"] - 1)
    page.press("space")
    page.until(f"return view.open?.id === '{line['id']}'")
    assert page.run("return spoken") == []
    page.press("space", "s")
    assert page.run("return document.getElementById('speech').ariaPressed") == "true"
    seek(page, line["at"] - 1)
    page.press("space")
    page.until("return spoken.length > 0")
    assert page.run("return spoken[0]") == line["text"]
    page.press("space")


def test_dark_follows_the_system_and_the_switch(page: Page) -> None:
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    light = page.run(ground)
    page.size(1280, 800, dark=True)
    page.until(f"{ground} !== '{light}'")
    dark = page.run(ground)
    page.press("t")
    page.until(f"{ground} === '{light}'")
    page.press("t")
    assert page.run(ground) == dark
    page.run("localStorage.clear()")


@pytest.mark.parametrize("width", PHONES)
def test_a_phone_shows_it_without_scrolling_sideways(page: Page, width: int) -> None:
    page.size(width, 740)
    page.run("visit(1, 200, match.lines().findLast(each => each.at < 200 && each.mode === 'historical'))")
    page.until("return document.querySelector('.current .details') !== null")
    page.run("document.getElementById('totals').open = true")
    page.until("return document.querySelector('.counts') !== null")
    assert page.run("return document.documentElement.scrollWidth <= innerWidth") is True
    assert overflow(page) == []


def test_text_is_never_markup(tab: Page, folder: Path, tmp_path: Path) -> None:
    """Sentences, records, notes, teams and the match's own name, in the page, its captions and its title."""
    header = replace(HEADER, match=f"a/{HOSTILE}", sheet={"home": HOSTILE, "away": "<i>Away</i>", "venue": HOSTILE})
    texts = dict.fromkeys(("current", "recent", "historical", "record"), HOSTILE)
    journal = write(tmp_path / "match.journal", header, texts=texts)
    with JournalReader(journal) as reader:
        first = next(reader.lines()).id
    Journal.correct(journal, first, CorrectionKind.CORRECT, text=HOSTILE, why=HOSTILE)
    tab.go(write_page(journal, tmp_path / "page.html", [folder / "film.mp4"]).as_uri())
    tab.until("return items.size > 5 && track.cues.length > 5")
    count = "return document.querySelectorAll('script, img, b > b, i > i').length"
    assert tab.run(count) == 2  # the data and the page's own
    for line in tab.run("return match.lines().filter((each, place) => place < 4)"):
        tab.run("visit(1, arguments[0])", line["at"])
        tab.until(f"return view.open?.id === {json.dumps(line['id'])}")
    tab.run("document.getElementById('totals').open = true")
    assert tab.run(count) == 2
    assert tab.run("return document.querySelectorAll('img').length + Number(window.pwned || 0)") == 0
    assert tab.run("return document.querySelector('.text').textContent") == HOSTILE
    assert tab.run("return [document.title, document.querySelector('#teams span').textContent]") == [
        f"{HOSTILE} – <i>Away</i>",
        HOSTILE,
    ]
    cue = tab.run(
        "const shown = track.cues[0].getCueAsHTML(); return [shown.textContent, shown.querySelectorAll('*').length]"
    )
    assert cue == [" ".join(HOSTILE.split()), 0]
    assert tab.complaints() == []


def test_without_a_film_the_timeline_works_all_the_same(tab: Page, folder: Path, tmp_path: Path) -> None:
    tab.go(write_page(folder / "match.journal", tmp_path / "page.html", []).as_uri())
    assert "No film" in tab.text("#nofilm")
    tab.run("visit(1, 100)")
    tab.press("space")
    tab.until("return view.seconds > 100.3")
    tab.press("space")
    assert tab.complaints() == []


def test_a_film_in_the_page_plays_and_seeks_wherever_the_page_goes(tab: Page, folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "mailed" / "page.html"
    write_page(folder / "match.journal", alone, [folder / "film.mp4"], embed=True)
    assert [each.name for each in alone.parent.iterdir()] == ["page.html"]
    tab.go(alone.as_uri())
    tab.until("return video.readyState >= 2 && Math.abs(video.duration - 280) < 1")
    event = tab.run("visit(1, 200); return match.at(1, 200).buffer.at(-2)")
    tab.until("return Math.abs(video.currentTime - 200) < 0.3 && !view.stale")
    tab.click(f"#belt [data-id='{event['id']}']")
    tab.until(f"return Math.abs(video.currentTime - {event['s']}) < 0.3")
    tab.click("#play")
    tab.until(f"return video.currentTime > {event['s']} + 0.3")
    tab.click("#play")
    assert tab.run("return track.cues.length") > 5
    assert tab.complaints() == []


def test_a_film_that_cannot_be_played_is_named(tab: Page, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"no film at all")
    tab.go(write_page(folder / "match.journal", tmp_path / "page.html", [tmp_path / "broken.mp4"]).as_uri())
    tab.until("return !document.getElementById('nofilm').hidden")
    assert "broken.mp4 cannot be played" in tab.text("#nofilm")
    tab.run("visit(1, 100)")
    tab.until("return document.querySelector('.buffer [data-id]') !== null")
    tab.complaints()


def test_two_halves_in_one_film(tab: Page, folder: Path, tmp_path: Path) -> None:
    header = replace(HEADER, films={"1": ["film.mp4", 3.0], "2": ["film.mp4", 150.0]})
    journal = write(tmp_path / "match.journal", header, halves=2, seconds=120)
    tab.go(write_page(journal, tmp_path / "page.html", [folder / "film.mp4"]).as_uri())
    tab.until("return video.readyState >= 2")
    assert tab.run("return [video.currentTime, player.at.half]") == [3, 1]
    tab.run("visit(2, 60)")
    tab.until("return Math.abs(video.currentTime - 210) < 0.3 && view.half === 2")
    assert tab.text("#half") == "Second half"
    assert tab.run("return match.at(2, 60).buffer.every(each => each.h === 2)")
    tab.click("#half")
    tab.until("return Math.abs(video.currentTime - 3) < 0.3 && view.half === 1")
    assert tab.complaints() == []


def test_rows_of_a_page_are_all_of_the_journal(folder: Path) -> None:
    with JournalReader(folder / "match.journal") as reader:
        data = page_of(reader)
        assert [each["seq"] for each in data["rows"]] == sorted(each.seq for each in reader.since(0))
        kinds = {each["k"] for each in data["rows"]}
    assert {"step", "event", "record", "decision", "line", "note", "count"} <= kinds
    json.dumps(data, allow_nan=False)

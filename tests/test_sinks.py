"""The outputs: each file parses strictly at every moment, in media time, and no text becomes markup."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browser import chromium
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Track
from streamsoccer.errors import UsageError
from streamsoccer.evaluation.dense import _read
from streamsoccer.journal import Journal
from streamsoccer.journal_reader import JournalReader, Shown, corrected
from streamsoccer.journal_rows import CorrectionKind, Line, Status, utterance_id
from streamsoccer.outputs.formats import FORMATS, open_sinks, parse_formats
from streamsoccer.outputs.sink import Layout, OutputError, one_line
from written_match import HEADER, MATCH, written

FILES = {
    "jsonl": "commentary.jsonl",
    "vtt": "commentary.vtt",
    "srt": "commentary.srt",
    "soccernet": "results_dense_captioning.json",
}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<b>bold</b> & <i>italic</i> &amp; &lt;",
    "a --> b",
    "00:00:01.000 --> 00:00:02.000",
    "WEBVTT\n\nNOTE nothing\n\nSTYLE\n::cue{color:red}",
    "{\\an8}{b}high{/b}\\N",
    "line\u2028and\u0085another\r\n\r\n2\n",
    "right \u202eto left\u202c \u2066and\u2069 back \x00\x07",
    "Ünïcödé, 日本語, عربي, emoji ⚽",
)


def shown(text: str, second: float, half: int = 1, status: Status = Status.SAID) -> Shown:
    at = MatchTime(half, second)
    line = Line(id=utterance_id(MATCH, at), track=Track.CURRENT, cutoff=at, text=text, said=text, status=status)
    return corrected(line, ())


# --- strict parsers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parsed:
    id: str
    start: float
    end: float
    text: str


_VTT_TIME = r"(\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3})"
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|nbsp|lrm|rlm);)")


def seconds_of(groups: tuple[str, ...]) -> float:
    hours, minutes, seconds, milliseconds = map(int, groups)
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def parse_vtt(data: bytes) -> list[Parsed]:
    """By the letter of the WebVTT syntax, as a writer must keep it: more is refused here than a player refuses."""
    text = data.decode("utf-8")
    assert "\0" not in text and "\r" not in text
    assert text.startswith("WEBVTT\n\n"), "the signature and an empty line"
    assert text.endswith("\n\n")
    found: list[Parsed] = []
    for block in text.removeprefix("WEBVTT\n\n").removesuffix("\n\n").split("\n\n"):
        lines = block.split("\n")
        if re.match(r"NOTE($|[ \t])", lines[0]):
            assert not found and "-->" not in block
            continue
        assert len(lines) == 3, f"identifier, time, one line of text: {lines}"
        name, times, said = lines
        assert name and "-->" not in name and "-->" not in said
        match = re.fullmatch(f"{_VTT_TIME} --> {_VTT_TIME}", times)
        assert match is not None, times
        start, end = seconds_of(match.groups()[:4]), seconds_of(match.groups()[4:])
        assert end > start and (not found or start >= found[-1].start)
        assert not _ENTITY.search(said) and "<" not in said and ">" not in said, "everything that is markup is escaped"
        found.append(Parsed(name, start, end, html.unescape(said)))
    assert len({each.id for each in found}) == len(found)
    return found


def parse_srt(data: bytes) -> list[Parsed]:
    text = data.decode("utf-8")
    assert "\0" not in text and "\r" not in text and not text.startswith("\ufeff")
    if not text:
        return []
    assert text.endswith("\n\n")
    found: list[Parsed] = []
    for number, block in enumerate(text.removesuffix("\n\n").split("\n\n"), start=1):
        lines = block.split("\n")
        assert len(lines) == 3 and lines[0] == str(number), lines
        match = re.fullmatch(f"{_VTT_TIME} --> {_VTT_TIME}".replace(r"\.", ","), lines[1])
        assert match is not None, lines[1]
        start, end = seconds_of(match.groups()[:4]), seconds_of(match.groups()[4:])
        assert end > start and (not found or start >= found[-1].start)
        assert lines[2] and not set(lines[2]) & set("<>{}"), "nothing that a player takes for markup"
        found.append(Parsed(lines[0], start, end, lines[2]))
    return found


def parse(name: str, data: bytes) -> int:
    """How many sentences a file of this format holds, by its strict parser."""
    if name == "vtt":
        return len(parse_vtt(data))
    if name == "srt":
        return len(parse_srt(data))
    if name == "jsonl":
        text = data.decode("utf-8")
        assert not text or text.endswith("\n")
        rows = [json.loads(line) for line in text.splitlines()]
        assert all(row["text"] and row["id"] and row["mode"] in list(Track) for row in rows)
        return len(rows)
    found = json.loads(data)
    assert set(found) == {"UrlLocal", "predictions"}
    for row in found["predictions"]:
        assert (
            MatchTime.parse(row["gameTime"]).half == int(row["half"]) and int(row["position"]) >= 0 and row["comment"]
        )
    return len(found["predictions"])


# --- what stands in the files ----------------------------------------------------------------------------------------


def test_a_match_in_every_format(tmp_path: Path) -> None:
    journal = written(tmp_path / "match.journal", seconds=240)
    with JournalReader(journal) as reader:
        said = reader.shown()
        for sink in open_sinks(tmp_path, FORMATS, reader.header):
            sink.begin(said)
    visible = [each for each in said if each.visible]
    assert 5 < len(visible) < len(said)  # some were held back: they are in no file
    for name, file in FILES.items():
        assert parse(name, (tmp_path / file).read_bytes()) == len(visible)
    cues = parse_vtt((tmp_path / "commentary.vtt").read_bytes())
    assert [each.text for each in cues] == [each.text for each in visible]
    for cue, each in zip(cues, visible, strict=True):
        assert 0 <= cue.start - each.line.cutoff.seconds <= 4 and 2.5 <= cue.end - cue.start <= 7
    predictions, late = _read(tmp_path / FILES["soccernet"], "predictions", "comment", "gameTime")
    assert late == 0 and [each.text for each in predictions[1]] == [each.line.text for each in visible]
    assert any("[TEAM]" in each.text for each in predictions[1]), "names are not in the field's references"


def test_a_file_that_grows_is_the_file_that_is_written_at_once(tmp_path: Path) -> None:
    said = [shown(f"Sentence {number}.", 4.0 * number) for number in range(30)]
    for folder in ("grown", "whole"):
        (tmp_path / folder).mkdir()
        for sink in open_sinks(tmp_path / folder, FORMATS, HEADER):
            sink.begin(said if folder == "whole" else said[:4])
            for each in said[4:] if folder == "grown" else ():
                sink.say(each)
    for file in FILES.values():
        assert (tmp_path / "grown" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_two_halves_in_one_film_and_in_two(tmp_path: Path) -> None:
    said = [shown("In the first.", 8.0, half=1), shown("In the second.", 8.0, half=2)]
    one = replace(HEADER, films={"1": ["film.mp4", 12.0], "2": ["film.mp4", 3720.5]})
    two = replace(HEADER, films={"1": ["1_224p.mkv", 0.0], "2": ["2_224p.mkv", 0.0]})
    for name, header in (("one", one), ("two", two), ("unknown", HEADER)):
        (tmp_path / name).mkdir()
        for sink in open_sinks(tmp_path / name, ("vtt", "srt"), header):
            sink.begin(())
            for each in said:
                sink.say(each)
    vtt = (tmp_path / "one" / "commentary.vtt").read_bytes()
    assert b"NOTE half 1 starts at 12 s; half 2 starts at 3720.5 s\n" in vtt
    assert [each.start for each in parse_vtt(vtt)] == [20.0, 3728.5]
    for name in ("two", "unknown"):
        for suffix, parser in ((".vtt", parse_vtt), (".srt", parse_srt)):
            first, second = (
                parser((tmp_path / name / f"commentary{part}{suffix}").read_bytes()) for part in ("", ".2")
            )
            assert [(each.start, each.text) for each in first] == [(8.0, "In the first.")]
            assert [(each.start, each.text) for each in second] == [(8.0, "In the second.")]


def test_a_corrected_match_is_written_anew(tmp_path: Path) -> None:
    journal = written(tmp_path / "match.journal", seconds=120)
    with JournalReader(journal) as reader:
        first, second = (each.line.id for each in reader.shown()[:2])
        Journal.correct(journal, first, CorrectionKind.HIDE)
        Journal.correct(journal, second, CorrectionKind.CORRECT, text="A cross <is> cleared.")
        for sink in open_sinks(tmp_path, FORMATS, reader.header):
            sink.begin(reader.shown())
    cues = parse_vtt((tmp_path / "commentary.vtt").read_bytes())
    assert cues[0].text == "A cross <is> cleared." and first.rpartition("#")[2] not in {each.id for each in cues}


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60)), max_size=6),
    steps=st.lists(st.sampled_from([0.0, 4.0, 8.0, 400.0, 3600.0]), min_size=6, max_size=6),
)
def test_any_text_parses_after_every_sentence(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], steps: list[float]
) -> None:
    folder, at, names = tmp_path_factory.mktemp("any"), 0.0, 0
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    sinks = open_sinks(folder, FORMATS, HEADER)
    for sink in sinks:
        sink.begin(())
    wanted: list[str] = []
    for text, step in zip(texts, steps, strict=False):
        at += step
        if not any(each.isalnum() for each in one_line(text)):
            continue  # says nothing: `Context.utterance` lets none of these through
        each = shown(text, at)
        names += 1
        each = replace(each, line=replace(each.line, id=f"{MATCH}#1-u{names:04d}"))
        wanted.append(one_line(text))
        for sink in sinks:
            sink.say(each)
        for name, file in FILES.items():
            assert parse(name, (folder / file).read_bytes()) == len(wanted)
    assert [each.text for each in parse_vtt((folder / "commentary.vtt").read_bytes())] == wanted


@pytest.mark.parametrize("suffix", ["vtt", "srt"])
def test_a_browser_reads_the_captions_and_shows_hostile_text_as_text(suffix: str, tmp_path: Path) -> None:
    """SRT as players in browsers read it: its times with points and a head make it WebVTT."""
    (sink,) = open_sinks(tmp_path, (suffix,), HEADER)
    sink.begin(shown(text, 10.0 * number) for number, text in enumerate(HOSTILE))
    data = (tmp_path / f"commentary.{suffix}").read_text(encoding="utf-8")
    if suffix == "srt":
        data = "WEBVTT\n\n" + re.sub(r"(\d\d),(\d\d\d)", r"\1.\2", data).replace("&", "&amp;")
    with chromium() as page:
        page.go("data:text/html,<video></video>")
        cues = page.run(
            """
            const track = document.createElement('track');
            track.src = URL.createObjectURL(new Blob([arguments[0]], {type: 'text/vtt'}));
            document.querySelector('video').append(track);
            track.track.mode = 'hidden';
            return new Promise((done, failed) => {
              track.onerror = () => failed(new Error('the browser refuses it'));
              track.onload = () => done(Array.from(track.track.cues, cue => {
                const shown = cue.getCueAsHTML();
                return [cue.id, cue.startTime, shown.textContent, shown.querySelectorAll('*').length];
              }));
            });
            """,
            data,
        )
        assert page.complaints() == []
    wanted = [one_line(text) for text in HOSTILE]
    if suffix == "srt":
        wanted = [each.text for each in parse_srt((tmp_path / "commentary.srt").read_bytes())]
    assert [each[1:] for each in cues] == [[10.0 * at, text, 0] for at, text in enumerate(wanted)]


# --- at any moment ---------------------------------------------------------------------------------------------------

CHILD = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, sys.argv[2])
    from pathlib import Path
    from test_sinks import FORMATS, HEADER, open_sinks, shown
    sinks = open_sinks(Path(sys.argv[1]), FORMATS, HEADER)
    for sink in sinks:
        sink.begin(())
    print("begun", flush=True)
    for number in range(100000):
        for sink in sinks:
            sink.say(shown(f"Sentence {number}, " + "and so on, " * 20, 4.0 * number))
    """
)


def test_files_are_whole_while_they_are_written_and_after_a_kill(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        before, looked = dict.fromkeys(FILES, 0), 0
        while looked < 12 or min(before.values()) == 0:
            looked += 1
            for name, file in FILES.items():
                now = parse(name, (tmp_path / file).read_bytes())
                assert now >= before[name]
                before[name] = now
        child.send_signal(signal.SIGKILL)
    counts = {name: parse(name, (tmp_path / file).read_bytes()) for name, file in FILES.items()}
    assert min(counts.values()) > 0 and max(counts.values()) - min(counts.values()) <= 1


def test_a_file_that_cannot_be_written_is_named_and_caught_up_with(tmp_path: Path) -> None:
    for name, file in FILES.items():
        folder = tmp_path / name
        folder.mkdir()
        (sink,) = open_sinks(folder, (name,), HEADER)
        sink.begin([shown("Before.", 4.0)])
        folder.rename(tmp_path / "away")  # as good as a disk that went away, also for root
        with pytest.raises(OutputError, match=file):
            sink.say(shown("Meanwhile.", 24.0))
        (tmp_path / "away").rename(folder)
        sink.say(shown("Afterwards.", 44.0))
        assert parse(name, (folder / file).read_bytes()) == 3


@pytest.mark.parametrize("name", ["jsonl", "vtt", "srt"])
def test_a_disk_that_fills_in_the_middle_of_a_sentence_leaves_the_file_whole(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sink,) = open_sinks(tmp_path, (name,), HEADER)
    sink.begin([shown("Before.", 4.0)])
    opened: Any = Path.open

    class Short:
        """A file that takes ten bytes of what it is given, as a disk that has become full."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Short:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: bytes) -> int:
            return int(self.file.write(data[:10]))

    monkeypatch.setattr(Path, "open", lambda path, *args, **options: Short(opened(path, *args, **options)))
    with pytest.raises(OutputError, match="full"):
        sink.say(shown("Meanwhile.", 24.0))
    monkeypatch.undo()
    assert parse(name, (tmp_path / FILES[name]).read_bytes()) == 1
    sink.say(shown("Afterwards.", 44.0))
    assert parse(name, (tmp_path / FILES[name]).read_bytes()) == 3


def test_a_reader_that_holds_a_growing_file_open_sees_what_comes(tmp_path: Path) -> None:
    (sink,) = open_sinks(tmp_path, ("jsonl",), HEADER)
    sink.begin([shown("Before.", 4.0)])
    with (tmp_path / "commentary.jsonl").open(encoding="utf-8") as reader:
        assert json.loads(reader.readline())["text"] == "Before."
        sink.say(shown("Afterwards.", 24.0))
        assert json.loads(reader.readline())["text"] == "Afterwards."
    assert [each.name for each in tmp_path.iterdir()] == ["commentary.jsonl"]


def test_a_second_place_of_a_film_that_nobody_named() -> None:
    layout = Layout(films={1: ("film.mp4", 10.0)})
    assert layout.place(MatchTime(1, 5.0)) == ("film.mp4", 15.0)
    assert layout.place(MatchTime(3, 5.0)) == ("half 3", 5.0) and layout.number("half 3") == 3


def test_outputs_are_chosen_by_name() -> None:
    assert parse_formats("vtt, jsonl,vtt") == ("vtt", "jsonl") and parse_formats("") == ()
    with pytest.raises(UsageError, match="no output 'docx'"):
        parse_formats("docx")

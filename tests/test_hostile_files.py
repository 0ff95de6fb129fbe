"""Bad and hostile files give clips or an error that names the file; nothing hangs, crashes, or opens other things."""

import gc
import os
import re
import signal
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import numpy as np
import pytest

from films import B_FRAMES, SMALL, clips_of, read, same_clips
from results import record
from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import WallClock
from streamsoccer.errors import SourceError
from streamsoccer.sources import Options, open_source
from streamsoccer.sources.policy import Limits
from streamsoccer.testing.video import make_video, read_number

CLOCK = WallClock()
PATIENCE = 30.0
COMMAND = "pytest tests/test_hostile_files.py -m acceptance"


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one film of 10 s in each container; `front.mp4` has its index at the front."""
    folder = tmp_path_factory.mktemp("films")
    for name in ("film.mkv", "film.mp4", "film.ts", "film.avi"):
        audio = name != "film.avi"
        make_video(folder / name, seconds=10, options={**B_FRAMES, "g": "25"}, audio=audio, **SMALL)
    with av.open(str(folder / "film.mp4")) as source:
        options = {"movflags": "faststart"}
        with av.open(str(folder / "front.mp4"), "w", options=options) as target:
            streams = {stream.index: target.add_stream_from_template(stream) for stream in source.streams}
            for packet in source.demux():
                if packet.dts is not None:
                    packet.stream = streams[packet.stream.index]
                    target.mux(packet)
    return folder


def outcome(path: Path | str, **how: object) -> tuple[list[Clip | Gap], str | None]:
    """The items that came, and the error at their end, which must name the file and say what to do."""
    items: list[Clip | Gap] = []
    try:
        for item in open_source(path, **how):  # type: ignore[arg-type]
            items.append(item)
    except SourceError as error:
        assert error.where == str(path)
        assert error.problem
        assert error.remedy, f"no remedy: {error}"
        assert "Traceback" not in str(error)
        return items, str(error)
    return items, None


@pytest.mark.parametrize(
    ("name", "share", "clips", "problem"),
    [
        ("film.mkv", 0.01, 0, ""),
        ("film.mkv", 0.5, 2, "was cut off: it claims 00:10"),
        ("front.mp4", 0.5, 1, "was cut off: it claims 00:10"),
        ("front.mp4", 0.05, 0, ""),
        ("film.mp4", 0.9, 0, "damaged at its start"),  # its index is at the end
        ("film.avi", 0.5, 2, "was cut off: it claims 00:10"),
        ("film.ts", 0.5, 2, None),  # a transport stream does not say how long it is
    ],
)
def test_a_cut_off_file_gives_what_is_there_and_says_so(
    tmp_path: Path, films: Path, name: str, share: float, clips: int, problem: str | None
) -> None:
    whole = clips_of(read(films / name)) if clips else []
    data = (films / name).read_bytes()
    (path := tmp_path / name).write_bytes(data[: round(len(data) * share)])
    items, error = outcome(path)
    assert len(items) >= clips
    assert same_clips(clips_of(items)[: clips - 1], whole[: max(0, clips - 1)])
    assert error is None if problem is None else error is not None and re.search(problem, error)


def test_what_is_no_video_file(tmp_path: Path) -> None:
    (tmp_path / "empty.mkv").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.mkv")
    (tmp_path / "text.mp4").write_text("This is not a film.\n" * 500)
    (tmp_path / "noise.mp4").write_bytes(np.random.default_rng(1).bytes(100_000))
    (tmp_path / "loop.mkv").symlink_to(tmp_path / "loop.mkv")
    for name, problem in {
        "none.mkv": "does not exist", "empty.mkv": "is empty", "folder": "holds no halves of a game",
        "pipe.mkv": "is not a file", "/dev/zero": "is not a file", "/dev/null": "is not a file",
        "text.mp4": "not a video in a format", "noise.mp4": "not a video in a format",
        "loop.mkv": "cannot be read|does not exist", "x" * 5000: "cannot be read",
    }.items():  # fmt: skip
        began = CLOCK.now()
        items, error = outcome(tmp_path / name)
        assert items == []
        assert error is not None
        assert re.search(problem, error), (name, error)
        assert CLOCK.now() - began < PATIENCE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path, films: Path) -> None:
    (path := tmp_path / "film.mkv").write_bytes((films / "film.mkv").read_bytes())
    path.chmod(0)
    assert "cannot be read (Permission denied)" in str(outcome(path)[1])
    (folder := tmp_path / "closed").mkdir(mode=0)
    assert "cannot be read (Permission denied)" in str(outcome(folder)[1])
    assert "cannot be read (Permission denied)" in str(outcome(folder / "film.mkv")[1])


def test_a_file_that_may_not_be_read_by_another_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same where the tests run as root: what the system would say."""

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    (path := tmp_path / "film.mkv").write_bytes(b"x")
    (folder := tmp_path / "closed").mkdir()
    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(Path, "is_dir", refuse)
    assert "cannot be read (Permission denied)" in str(outcome(path)[1])
    assert "cannot be read (Permission denied)" in str(outcome(folder)[1])


def test_sound_alone_and_a_film_without_frames(tmp_path: Path, films: Path) -> None:
    with av.open(str(path := tmp_path / "sound.mkv"), "w") as container:
        stream = container.add_stream("aac", rate=16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert "has no video stream (streams: audio)" in str(outcome(path)[1])
    with av.open(str(films / "film.mp4")) as source, av.open(str(path := tmp_path / "none.mp4"), "w") as container:
        container.add_stream_from_template(source.streams.video[0])
        container.start_encoding()
    items, error = outcome(path)
    assert items == []
    assert error is not None


def test_names_are_only_names(tmp_path: Path, films: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (films / "film.mkv").read_bytes()
    monkeypatch.chdir(tmp_path)
    names = ["with space.mkv", "co:lon.mkv", "%d%03d.mkv", "new\nline.mkv", "concat:a|b.mkv", "-x.mkv", "pipe:0",
             "data:,x", "file:x.mkv", "?a=1#b.mkv", "日本語.mkv", os.fsdecode(b"not\xffutf8.mkv")]  # fmt: skip
    for name in names:
        Path(name).write_bytes(data)
        clips = clips_of(read(name, options=Options(limits=Limits(silence_seconds=PATIENCE))))
        assert [clip.index for clip in clips] == [0, 1, 2], name
        Path(name).unlink()
        assert "does not exist" in str(outcome(name)[1])


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that it was asked for."""
    asked: list[str] = []

    class Canary(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Canary) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", asked
        http.shutdown()
        thread.join()


HLS = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{place}\n#EXT-X-ENDLIST\n"
DASH = """<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
mediaPresentationDuration="PT10S" profiles="urn:mpeg:dash:profile:isoff-main:2011"><Period><AdaptationSet
mimeType="video/mp4"><Representation id="1" bandwidth="1" codecs="avc1.640028"><BaseURL>{place}</BaseURL>
</Representation></AdaptationSet></Period></MPD>"""
PLAYLISTS = {
    "hls": HLS,
    "hls with a key": HLS.replace("#EXTINF", '#EXT-X-KEY:METHOD=AES-128,URI="{place}"\n#EXTINF'),
    "concat": "ffconcat version 1.0\nfile '{place}'\n",
    "dash": DASH,
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"
    "a=rtpmap:96 H264/90000\na=control:{place}\n",
    "m3u": "#EXTM3U\n{place}\n",
    "pls": "[playlist]\nFile1={place}\n",
    "smil": '<smil><body><video src="{place}"/></body></smil>',
    "asx": '<asx version="3.0"><entry><ref href="{place}"/></entry></asx>',
    "rtsptext": "[Reference]\nRef1={place}\n",
    "imf": '<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>{place}</Id>'
    "</CompositionPlaylist>",
}


@pytest.mark.parametrize("kind", PLAYLISTS)
def test_a_playlist_dressed_as_a_film_opens_nothing(
    tmp_path: Path, films: Path, server: tuple[str, list[str]], kind: str
) -> None:
    address, asked = server
    for place in (f"{address}/film.ts", f"file:{films / 'film.ts'}", str(films / "film.ts")):
        (path := tmp_path / "film.mp4").write_text(PLAYLISTS[kind].format(place=place))
        items, error = outcome(path)
        assert items == [], "frames of another file were shown"
        assert error is not None
        assert "not a video in a format that is read here" in error
    assert asked == []


def test_the_playlist_would_open_things_if_it_could(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    address, asked = server
    (path := tmp_path / "film.mp4").write_text(HLS.format(place=f"{address}/film.ts"))
    with pytest.raises((av.error.FFmpegError, OSError)):
        av.open(str(path), format="hls", options={"protocol_whitelist": "file,http,tcp"}).close()
    assert asked


def boxes(data: bytes, rebuild: Callable[[bytes, bytes], bytes | None]) -> bytes:
    """An MP4 with each box's body as `rebuild(kind, body)` gives it; None goes into the box."""
    out, place = b"", 0
    while place + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + size]
        new = rebuild(kind, body)
        if new is None:
            new = boxes(body, rebuild) if kind in (b"moov", b"trak", b"mdia", b"minf", b"dinf") else body
        out += struct.pack(">I4s", len(new) + 8, kind) + new
        place += size
    return out


def test_an_mp4_whose_pictures_lie_in_another_file_opens_no_other_file(tmp_path: Path, films: Path) -> None:
    """Its index points into the canary, where the pictures are; its own are blanked."""
    make_video(canary := tmp_path / "canary.mp4", seconds=5, options={"g": "1"}, **SMALL)
    name = b"vol:" + str(canary).encode().replace(b"/", b":")[1:]
    alias = bytes(10) + b"\x03vol".ljust(28, b"\0") + bytes(12) + b"\x0acanary.mp4".ljust(64, b"\0") + bytes(16)
    alias += struct.pack(">HH", 1, 1) + bytes(16)
    alias += struct.pack(">HH", 2, len(name)) + name.ljust(len(name) + len(name) % 2, b"\0") + b"\xff\xff\0\0"
    entry = struct.pack(">I4sI", len(alias) + 12, b"alis", 0) + alias
    dref = struct.pack(">II", 0, 1) + entry
    parts = {b"dref": lambda body: dref, b"mdat": lambda body: bytes(len(body))}
    evil = boxes(canary.read_bytes(), lambda kind, body: parts[kind](body) if kind in parts else None)
    (path := tmp_path / "film.mp4").write_bytes(evil)
    with av.open(str(path), options={"enable_drefs": "1", "use_absolute_path": "1"}) as potent:
        shown = [read_number(frame.to_ndarray(format="rgb24")) for frame in potent.decode(video=0)]
    assert 10 in shown, "the file that this test made is harmless"
    items, error = outcome(path)
    assert clips_of(items) == []
    assert error is not None


def mjpeg(path: Path, width: int, height: int) -> Path:
    """A film whose pictures claim a size."""
    make_video(path, seconds=1, codec="mjpeg", pixels="yuvj420p", **SMALL)
    data = path.read_bytes()
    start = b"\xff\xc0\x00\x11\x08"
    data = data.replace(start + struct.pack(">HH", 96, 128), start + struct.pack(">HH", height, width))
    path.write_bytes(data)
    return path


def test_absurd_sizes_and_lengths_are_refused(tmp_path: Path, films: Path) -> None:
    began = CLOCK.now()
    items, error = outcome(mjpeg(tmp_path / "huge.avi", 65_000, 65_000))
    assert items == []
    assert error is not None
    items, error = outcome(films / "film.mkv", options=Options(limits=Limits(pixels=128 * 95)))
    assert items == []
    assert "is 128x96, above the limit of 0.0122 megapixels" in str(error)
    data = (films / "film.mkv").read_bytes()
    place = data.index(b"\x44\x89\x88") + 3  # Matroska's Duration, a float of 8 bytes
    for claim, problem in ((1e15, "hours long; the limit is 12"), (float("nan"), None), (-1.0, None), (1e308, None)):
        path = tmp_path / "film.mkv"
        path.write_bytes(data[:place] + struct.pack(">d", claim) + data[place + 8 :])
        items, error = outcome(path)
        assert (items == []) == (problem is not None)
        assert problem is None or problem in str(error)
    items, error = outcome(films / "film.mkv", options=Options(limits=Limits(hours=9 / 3600)))
    assert "the limit is 0.0025" in str(error)
    items, error = outcome(films / "film.ts", options=Options(limits=Limits(hours=5 / 3600)))
    assert len(clips_of(items)) == 2
    assert "goes on for more than" in str(error)
    assert CLOCK.now() - began < 10 * PATIENCE


def test_a_decoder_that_needs_too_much_memory_ends_alone(tmp_path: Path) -> None:
    items, error = outcome(
        mjpeg(tmp_path / "film.mkv", 8000, 8000),
        options=Options(limits=Limits(pixels=10**9, memory_bytes=300 * 2**20)),
    )
    assert items == []
    assert error is not None


# --- a decoder that dies or hangs ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def long_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film whose clips are more than a pipe holds: its decoder is still at work while the first is read."""
    path = tmp_path_factory.mktemp("films") / "long.mkv"
    make_video(path, seconds=60, width=512, height=288, fps=5, draw=lambda n: np.full((288, 512, 3), n % 200, np.uint8))
    return path


def decoders() -> list[int]:
    """The decoder processes of this process, zombies too."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(words[1]) == os.getpid() and (b"sources.worker" in command or words[0] == "Z"):
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("signal_", "problem"),
    [
        (signal.SIGKILL, "crashed the decoder (SIGKILL)"),
        (signal.SIGSEGV, "crashed the decoder (SIGSEGV)"),
        (signal.SIGABRT, "crashed the decoder (SIGABRT)"),
        (signal.SIGSTOP, "gave nothing for 2 s"),
    ],
)
def test_when_the_decoder_dies_or_hangs_clips_so_far_stand(
    long_film: Path, signal_: signal.Signals, problem: str
) -> None:
    options = Options(limits=Limits(silence_seconds=2.0))
    began, items, error = CLOCK.now(), [], None
    try:
        for item in open_source(long_film, options=options):
            items.append(item)
            if len(items) == 2:
                (pid,) = decoders()
                os.kill(pid, signal_)
    except SourceError as problem_:
        error = problem_
    assert error is not None
    assert problem in error.problem
    assert error.where == str(long_film)
    assert [item.index for item in clips_of(items)] == list(range(len(items)))
    assert 2 <= len(items) < 15
    assert all(0 < clip.end - clip.start <= 4 for clip in clips_of(items))
    assert CLOCK.now() - began < PATIENCE
    assert decoders() == []


def test_a_slow_consumer_is_no_hanging_decoder(long_film: Path) -> None:
    options = Options(limits=Limits(silence_seconds=1.0))
    count = 0
    for count, _ in enumerate(open_source(long_film, options=options), 1):
        if count == 2:
            CLOCK.wait(2.5)
    assert count == 15


def test_nothing_is_left_behind(long_film: Path, films: Path) -> None:
    """Reading to the end, stopping early, and failing: no process, no descriptor, no thread stays."""
    (broken := films / "broken.mkv").write_bytes((films / "film.mkv").read_bytes()[:20_000])
    list(open_source(films / "film.mkv"))
    gc.collect()
    before, threads = sorted(os.listdir("/proc/self/fd")), threading.active_count()  # noqa: PTH208 - names are enough
    for _ in range(3):
        list(open_source(films / "film.mkv"))
        for _item in open_source(long_film):
            break
        stream = iter(open_source(long_film))
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        outcome(broken)
    gc.collect()
    CLOCK.wait(0.3)
    assert decoders() == []
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert threading.active_count() == threads


def test_a_killed_consumer_leaves_no_decoder(long_film: Path) -> None:
    program = (
        "import sys; from streamsoccer.sources import open_source\n"
        "s = iter(open_source(sys.argv[1])); next(s); print('here', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, long_film], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "here\n"
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(consumer.pid)], capture_output=True, text=True)
        (decoder,) = (int(pid) for pid in listed.stdout.split())
        consumer.kill()
    began = CLOCK.now()
    while Path(f"/proc/{decoder}").exists() and CLOCK.now() - began < 10:
        CLOCK.wait(0.1)
    assert not Path(f"/proc/{decoder}").exists()


# --- bytes flipped at random -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def small_films(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Films of 5 s and some 10 kB, of many kinds, whose bytes are to be flipped."""
    folder = tmp_path_factory.mktemp("small")
    kinds = [
        ("film.mkv", "libx264", "yuv420p", B_FRAMES), ("film.mp4", "libx264", "yuv420p", B_FRAMES),
        ("film.ts", "libx264", "yuv420p", B_FRAMES), ("film.avi", "mpeg4", "yuv420p", {"bf": "2"}),
        ("film.mpg", "mpeg2video", "yuv420p", {"bf": "2"}), ("film.webm", "libvpx-vp9", "yuv420p", {"cpu-used": "8"}),
        ("hevc.mp4", "libx265", "yuv420p", {"x265-params": "log-level=none"}), ("film.flv", "libx264", "yuv420p", {}),
        ("av1.mkv", "libsvtav1", "yuv420p", {"preset": "12", "svtav1-params": "lp=1"}),
        ("film.ogg", "libtheora", "yuv420p", {}),
    ]  # fmt: skip
    made = []
    for name, codec, pixels, options in kinds:
        if codec == "libtheora" and codec not in av.codecs_available:
            continue
        make_video(folder / name, seconds=5, codec=codec, pixels=pixels, options=options, width=64, height=48)
        made.append((folder / name).read_bytes())
    return made


def flipped(films: list[bytes], seed: int) -> bytes:
    """Film `seed` of an endless series of damaged films; half of the flips go where headers are."""
    random = np.random.default_rng(seed)
    data = np.frombuffer(films[seed % len(films)], dtype=np.uint8).copy()
    for _ in range(int(random.choice([1, 2, 5, 20, 100]))):
        span = min(len(data), 2000) if random.random() < 0.5 else len(data)
        data[random.integers(span)] = random.integers(256)
    return data.tobytes()


def flip_all(films: list[bytes], seeds: range, folder: Path) -> dict[str, object]:
    """Each damaged film through the library: clips or a SourceError, in time."""

    def one(seed: int) -> tuple[str, float]:
        (path := folder / f"{seed}.mp4").write_bytes(flipped(films, seed))
        began = CLOCK.now()
        items, error = outcome(path)
        seconds = CLOCK.now() - began
        path.unlink()
        for clip in clips_of(items):
            assert clip.start < clip.end
            assert 0 < len(clip.samples) == len(clip.frames) == len(clip.times)
        if error is None:
            return "clips", seconds
        return ("clips, then an error" if items else "an error"), seconds

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, seeds))
    return {
        "files": len(found),
        "outcomes": dict(sorted(Counter(kind for kind, _ in found).items())),
        "longest seconds": round(max(seconds for _, seconds in found), 1),
    }


def test_flipped_bytes_give_clips_or_an_error(tmp_path: Path, small_films: list[bytes]) -> None:
    figures = flip_all(small_films, range(100), tmp_path)
    assert figures["longest seconds"] < PATIENCE  # type: ignore[operator]
    assert decoders() == []


@pytest.mark.acceptance
def test_2000_files_with_flipped_bytes(tmp_path: Path, small_films: list[bytes]) -> None:
    figures = flip_all(small_films, range(2000), tmp_path)
    assert figures["longest seconds"] < PATIENCE  # type: ignore[operator]
    assert decoders() == []
    seconds = []
    for seed in range(2000, 2040):
        (path := tmp_path / "film.mp4").write_bytes(flipped(small_films, seed))
        began = CLOCK.now()
        command = [sys.executable, "-m", "streamsoccer.cli", "clips", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)
        seconds.append(CLOCK.now() - began)
        assert done.returncode in (0, 2), done.stderr
        assert "Traceback" not in done.stderr
        assert (done.returncode == 0) or str(path) in done.stderr
    assert max(seconds) < PATIENCE
    figures |= {"through the command line": len(seconds), "its longest seconds": round(max(seconds), 1)}
    record("hostile", figures, COMMAND)

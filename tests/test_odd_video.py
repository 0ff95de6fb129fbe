"""Video that is not plain comes out right, or is refused clearly."""

import math
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from films import B_FRAMES, SMALL, clips_of, ffmpeg, numbers, read
from streamsoccer.clip import FPS, Clip
from streamsoccer.errors import SourceError
from streamsoccer.sources import Notice, Options
from streamsoccer.testing.video import make_video

Rgb = NDArray[np.uint8]
SECONDS = 4.6
EXPECTED = {n / FPS: math.floor(n / FPS * 25 + 1e-6) for n in range(10)}


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film of 4.6 s with B-frames, for others to be made from."""
    path = tmp_path_factory.mktemp("films") / "plain.mkv"
    make_video(path, seconds=SECONDS, options={**B_FRAMES, "g": "25"}, **SMALL)
    return path


@pytest.mark.parametrize(
    ("codec", "pixels", "name", "options"),
    [
        ("libx264", "yuv420p10le", "film.mkv", {}),
        ("libx264", "yuv422p", "film.mp4", {}),
        ("libx265", "yuv420p", "film.mp4", {"preset": "ultrafast", "x265-params": "log-level=none:bframes=2"}),
        ("libx265", "yuv420p10le", "film.ts", {"preset": "ultrafast", "x265-params": "log-level=none"}),
        ("libvpx-vp9", "yuv420p", "film.webm", {"deadline": "realtime", "cpu-used": "8"}),
        ("libsvtav1", "yuv420p", "film.mkv", {"preset": "12", "svtav1-params": "lp=1"}),
        ("libsvtav1", "yuv420p10le", "film.mp4", {"preset": "12", "svtav1-params": "lp=1"}),
        ("mpeg2video", "yuv420p", "film.ts", {"bf": "2"}),
        ("mpeg2video", "yuv420p", "film.mpg", {"bf": "2"}),
        ("mpeg4", "yuv420p", "film.avi", {"bf": "2"}),
        ("mjpeg", "yuvj420p", "film.avi", {}),
        ("libx264", "yuv420p", "film.flv", {"bf": "2", "preset": "veryfast"}),
        ("libx264", "yuv420p", "film.nut", {"bf": "2", "preset": "veryfast"}),
    ],
)  # fmt: skip
def test_codecs_and_containers(tmp_path: Path, codec: str, pixels: str, name: str, options: dict[str, str]) -> None:
    make_video(path := tmp_path / name, seconds=SECONDS, codec=codec, pixels=pixels, options=options, **SMALL)
    assert numbers(items := read(path)) == EXPECTED
    assert [type(item) for item in items] == [Clip, Clip]


def one_picture(path: Path) -> Rgb:
    return clips_of(read(path))[0].frames[0]


# The test card: eight colours side by side.
COLOURS = [(235, 20, 20), (20, 235, 20), (20, 20, 235), (200, 200, 20), (20, 200, 200), (200, 20, 200), (128,) * 3]
COLOURS += [(250, 250, 250)]


def colours_off_by(path: Path, size: tuple[int, int], filters: str, *encoding: str) -> int:
    """The greatest error of any channel of any colour of the card after a way through a file."""
    card = np.repeat(np.array(COLOURS, dtype=np.uint8)[None, :, None], size[1], axis=0)
    card = np.broadcast_to(card, (size[1], len(COLOURS), size[0] // len(COLOURS), 3))
    raw = path.with_suffix(".rgb")
    raw.write_bytes(card.tobytes())
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", "25", "-i", raw,
           "-vf", filters, *encoding, path)  # fmt: skip
    picture = one_picture(path)
    assert picture.shape == (size[1], size[0], 3)
    columns = [(2 * place + 1) * size[0] // (2 * len(COLOURS)) for place in range(len(COLOURS))]
    return int(np.abs(picture[size[1] // 2, columns].astype(int) - np.array(COLOURS)).max())


H264 = ("-c:v", "libx264", "-qp", "8", "-preset", "ultrafast")


@pytest.mark.parametrize(
    ("size", "matrix", "extra", "pixels"),
    [
        ((1280, 720), "bt709", "", "yuv420p"),  # HD that does not say: BT.709
        ((1280, 544), "bt709", "", "yuv420p"),  # so is HD with its bars cut off
        ((1280, 720), "bt709", ",setparams=colorspace=bt709", "yuv420p"),
        ((1280, 720), "bt601", ",setparams=colorspace=smpte170m", "yuv420p"),  # HD that says otherwise
        ((1280, 720), "bt2020", ",setparams=colorspace=bt2020nc", "yuv420p10le"),
        ((1280, 720), "bt709", "", "yuv420p10le"),
        ((720, 576), "bt601", "", "yuv420p"),  # SD that does not say: BT.601
        ((640, 360), "bt709", ",setparams=colorspace=bt709", "yuv420p"),
        ((640, 360), "bt709:out_range=pc", ",setparams=colorspace=bt709:range=pc", "yuv420p"),  # full range
        ((640, 360), "bt601:out_range=pc", ",setparams=range=pc", "yuv420p"),
    ],
)
def test_colours(tmp_path: Path, size: tuple[int, int], matrix: str, extra: str, pixels: str) -> None:
    filters = f"scale=out_color_matrix={matrix}:flags=accurate_rnd+full_chroma_int,format={pixels}{extra}"
    assert colours_off_by(tmp_path / "card.mkv", size, filters, *H264) <= 4


def test_colours_of_a_film_in_rgb(tmp_path: Path) -> None:
    assert colours_off_by(tmp_path / "card.mkv", (640, 360), "format=gbrp", "-c:v", "ffv1") <= 1


def test_a_colour_matrix_that_cannot_be_undone_is_refused(tmp_path: Path) -> None:
    ffmpeg(
        "-f",
        "lavfi",
        "-i",
        "color=red:size=64x64:duration=1",
        *H264,
        "-colorspace",
        "ycgco",
        path := tmp_path / "c.mkv",
    )
    with pytest.raises(SourceError, match="pictures that cannot be turned into RGB"):
        read(path)


def corners(picture: Rgb) -> str:
    """R, G or . for the corners: top left, top right, bottom left, bottom right."""
    found = [picture[5, 5], picture[5, -6], picture[-6, 5], picture[-6, -6]]
    return "".join("R" if red > 150 else "G" if green > 150 else "." for red, green, _ in found)


@pytest.mark.parametrize(
    ("turn", "mirrored", "expected"),
    [
        (0, False, "R.G."), (90, False, "..RG"), (180, False, ".G.R"), (270, False, "GR.."),
        (0, True, ".R.G"), (90, True, "..GR"), (180, True, "G.R."), (270, True, "RG.."),
    ],
)  # fmt: skip
def test_turned_and_mirrored_pictures_come_out_upright(
    tmp_path: Path, turn: int, mirrored: bool, expected: str
) -> None:
    """Red is top left and green bottom left before the display matrix, which turns counter-clockwise, then mirrors."""
    picture = np.full((64, 128, 3), 20, dtype=np.uint8)
    picture[:16, :32], picture[48:, :32] = (230, 20, 20), (20, 230, 20)
    with av.open(str(path := tmp_path / "film.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        stream.set_display_rotation(turn, mirrored)
        for number in range(5):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    found = one_picture(path)
    assert found.shape[:2] == ((128, 64) if turn % 180 else (64, 128))
    assert corners(found) == expected


@pytest.mark.parametrize("order", ["tff", "bff"])
@pytest.mark.parametrize("codec", ["libx264", "mpeg2video"])
def test_interlaced_pictures_are_not_combed(tmp_path: Path, order: str, codec: str) -> None:
    """A red block on blue moves 24 pixels a field: whole lines of it, in colour too, or one instant alone."""
    width, height, first = 320, 288, 0 if order == "tff" else 1

    def at(field: int) -> Rgb:
        picture = np.full((height, width, 3), (20, 40, 200), dtype=np.uint8)
        left = field * 24 % (width - 80)
        picture[64:224, left : left + 80] = (220, 30, 30)
        return picture

    raw = tmp_path / "fields.rgb"
    with raw.open("wb") as file:
        for number in range(13):
            picture = at(2 * number)
            picture[1 - first :: 2] = at(2 * number + 1)[1 - first :: 2]
            file.write(picture.tobytes())
    quality = ("-qp", "8", "-x264opts", f"{order}=1") if codec == "libx264" else ("-q:v", "1", "-top", str(1 - first))
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", "25", "-i", raw,
           "-vf", f"scale=interl=1:out_color_matrix=bt601,format=yuv420p,setfield={order}",
           "-c:v", codec, "-flags", "+ildct+ilme", *quality, path := tmp_path / "film.ts")  # fmt: skip
    (clip,) = clips_of(read(path))
    shown = clip.frames[1, 80:208].astype(int)  # inside the block's height; at 0.5 s, so source frame 12
    assert np.abs(shown[1:-1] - (shown[:-2] + shown[2:]) / 2).max() <= 12, "lines of two instants are mixed"
    instants = [float(np.abs(shown - at(field)[80:208]).mean()) for field in (24, 25)]
    assert min(instants) < 2
    assert instants.index(min(instants)) == first, "the top field's instant is the one that is shown"


@pytest.mark.parametrize(("aspect", "width"), [("64/45", 182), ("8/9", 114), ("1000/1", 128), ("1/1000", 128)])
def test_pixels_come_out_square(tmp_path: Path, plain: Path, aspect: str, width: int) -> None:
    """A shape that no real picture has is not believed."""
    ffmpeg("-i", plain, "-vf", f"setsar={aspect}", *H264, path := tmp_path / "film.mp4")
    items = read(path)
    assert clips_of(items)[0].frames.shape[1:3] == (96, width)
    assert numbers(items) == EXPECTED


def test_a_change_of_size_takes_effect_with_the_next_clip(tmp_path: Path, plain: Path) -> None:
    """5 s at 128x96 with square pixels, then 96x64 with pixels of 4:3: both have their own shape."""
    make_video(tmp_path / "a.ts", seconds=5, times=[n / 25 for n in range(125)], **SMALL)
    ffmpeg("-i", plain, "-an", "-vf", "scale=96:64,setsar=4/3", *H264, "-output_ts_offset", "5", "-muxdelay", "0",
           tmp_path / "b.ts")  # fmt: skip
    path = tmp_path / "film.ts"
    path.write_bytes((tmp_path / "a.ts").read_bytes() + (tmp_path / "b.ts").read_bytes())
    told: list[Notice] = []
    items = read(path, options=Options(tell=told.append))
    assert [clip.frames.shape[1:3] for clip in clips_of(items)] == [(96, 128), (96, 128), (64, 128)]
    found = numbers(items)
    assert [found[n / FPS] for n in range(10)] == list(EXPECTED.values())
    assert [found[5 + n / FPS] for n in range(9)] == list(EXPECTED.values())[:9]


def test_sound_that_starts_and_ends_elsewhere_changes_nothing(tmp_path: Path, plain: Path) -> None:
    for name, video, audio in (
        ("early.mkv", "3", "0"),
        ("late.mp4", "0", "3"),
        ("long.mkv", "0", "0"),
        ("long.ts", "2", "0"),
    ):
        tone = ("-f", "lavfi", "-t", "30" if name.startswith("long") else "5", "-i", "sine=sample_rate=16000")
        streams = ("-map", "0:v", "-map", "1:a", "-c:v", "copy")
        ffmpeg("-itsoffset", video, "-i", plain, "-itsoffset", audio, *tone, *streams, path := tmp_path / name)
        assert numbers(read(path)) == EXPECTED, name


def test_subtitles_that_outlast_the_film_do_not_make_it_cut_off(tmp_path: Path, plain: Path) -> None:
    (words := tmp_path / "words.srt").write_text("1\n00:00:01,000 --> 00:01:20,000\nStill there\n")
    ffmpeg("-i", plain, "-i", words, "-c", "copy", "-c:s", "srt", path := tmp_path / "film.mkv")
    assert numbers(read(path)) == EXPECTED


def test_a_cover_picture_is_no_video(tmp_path: Path, plain: Path) -> None:
    ffmpeg("-i", plain, "-frames:v", "1", cover := tmp_path / "cover.png")
    ffmpeg("-i", cover, "-i", plain, "-map", "0", "-map", "1", "-c", "copy", "-disposition:v:0", "attached_pic",
           film := tmp_path / "film.mp4")  # fmt: skip
    told: list[Notice] = []
    assert numbers(read(film, options=Options(tell=told.append))) == EXPECTED
    assert told == []
    ffmpeg("-f", "lavfi", "-t", "2", "-i", "sine", "-i", cover, "-map", "0:a", "-map", "1", "-c:v", "copy",
           "-disposition:v", "attached_pic", song := tmp_path / "song.m4a")  # fmt: skip
    with pytest.raises(SourceError, match="has no video stream"):
        read(song)


def test_of_several_video_streams_the_first_is_taken_and_that_is_said(tmp_path: Path, plain: Path) -> None:
    ffmpeg("-i", plain, "-f", "lavfi", "-t", "4", "-i", "color=red:size=64x64:rate=25", "-map", "0:v", "-map", "1:v",
           *H264, path := tmp_path / "film.mkv")  # fmt: skip
    told: list[Notice] = []
    assert numbers(read(path, options=Options(tell=told.append))) == EXPECTED
    assert [notice.kind for notice in told] == ["several"]


def test_an_edit_list_is_obeyed(tmp_path: Path) -> None:
    """A cut between key frames: the packets before it are in the file, but not in the film."""
    make_video(whole := tmp_path / "whole.mp4", seconds=12, options=B_FRAMES, **SMALL)
    ffmpeg("-ss", "3.3", "-i", whole, "-c", "copy", path := tmp_path / "film.mp4")
    found = numbers(read(path))
    first = found[0.0]
    assert 80 <= first <= 84
    assert found == {n / FPS: first + math.floor(n / FPS * 25 + 1e-6) for n in range(len(found))}


def test_films_without_a_length_or_an_index(tmp_path: Path, plain: Path) -> None:
    for name, how in (("live.mkv", ("-live", "1")), ("parts.mp4", ("-movflags", "frag_keyframe+empty_moov"))):
        ffmpeg("-i", plain, "-c", "copy", *how, path := tmp_path / name)
        assert numbers(read(path)) == EXPECTED, name


def test_one_frame_is_a_clip(tmp_path: Path) -> None:
    make_video(path := tmp_path / "film.mkv", seconds=0.04, **SMALL)
    (clip,) = clips_of(read(path))
    assert (clip.samples, clip.start, round(clip.end, 3)) == ((0,), 0.0, 0.04)

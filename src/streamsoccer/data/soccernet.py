"""SoccerNet's folders: league/season/game with labels, captions (its own or MatchTime's), video and its notes."""

from __future__ import annotations

import configparser
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsoccer import actions as vocabulary
from streamsoccer.clock import MatchTime
from streamsoccer.data.captions import SourceCaption, classify, pick_time
from streamsoccer.data.eventizer import clip_end, clip_of
from streamsoccer.data.problems import Notices, Problem
from streamsoccer.domain import Action, Coach, MatchSheet, Player, Side
from streamsoccer.errors import DataError, UsageError

__all__ = [
    "CAPTIONS",
    "LABELS",
    "Durations",
    "Game",
    "GameFiles",
    "discover",
    "fingerprint",
    "read_durations",
    "read_game",
    "url_local",
]

LABELS = "Labels-v2.json"
CAPTIONS = ("Labels-caption_with_gt.json", "Labels-caption.json")  # the hand-timed copy first
_VIDEO = re.compile(r"(\d+)(?:_\w+)?\.(?:mkv|mp4)")
_URL_LOCAL = re.compile(rb'"UrlLocal"\s*:\s*("(?:[^"\\]|\\.)*")')
_CLOCK_TOLERANCE = 1.5  # seconds between `position` and `gameTime` that rounding and trimming explain
_KNOWN_ACTION = {"gameTime", "label", "position", "team", "visibility"}
_KNOWN_CAPTION = {"class", "label", "description", "anonymized", "identified", "important", "visibility"}
_CAPTION_TEXTS = ("label", "description", "anonymized", "identified")

Durations = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class GameFiles:
    """What lies in a match's folder."""

    match: str
    folder: Path
    labels: Path
    captions: Path | None = None
    video_ini: Path | None = None
    videos: Mapping[int, Path] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Game:
    """A match as read: its halves with their durations and actions, its captions, and the sheet."""

    match: str
    durations: Mapping[int, float]
    actions: Mapping[int, tuple[Action, ...]]
    captions: tuple[SourceCaption, ...]
    sheet: MatchSheet
    notices: Notices


def discover(root: Path) -> tuple[list[GameFiles], list[Problem]]:
    """The matches under a folder in SoccerNet's layout, sorted by ID, and the folders that are no whole match."""
    if not root.is_dir():
        raise DataError("no such folder", where=root, remedy="name the folder that holds league/season/game")
    games, problems = [], []
    for folder in sorted(each for each in root.glob("*/*/*") if each.is_dir()):
        names = {each.name for each in folder.iterdir()}
        captions = next((name for name in CAPTIONS if name in names), None)
        match = folder.relative_to(root).as_posix()
        if LABELS not in names:
            if captions is not None:
                problems.append(
                    Problem(
                        match=match,
                        where=str(folder / captions),
                        problem=f"captions without labels: there is no {LABELS} beside them",
                        remedy="download the match's labels too, or take the folder away",
                    )
                )
            continue
        games.append(
            GameFiles(
                match=match,
                folder=folder,
                labels=folder / LABELS,
                captions=None if captions is None else folder / captions,
                video_ini=folder / "video.ini" if "video.ini" in names else None,
                videos={int(found[1]): folder / name for name in sorted(names) if (found := _VIDEO.fullmatch(name))},
            )
        )
    games.sort(key=lambda each: each.match)
    if not games and not problems:
        raise DataError("no match here", where=root, remedy=f"expected league/season/game/{LABELS} under this folder")
    return games, problems


def read_durations(path: Path) -> dict[str, dict[str, float]]:
    """A durations file: {match: {half: seconds}}."""
    data = _object(path, _bytes(path))
    for match, halves in data.items():
        if not isinstance(halves, dict):
            raise DataError(f"{match!r} holds no object of halves", where=path)
        for half, seconds in halves.items():
            if not half.isdigit() or not _is_number(seconds) or seconds <= 0:
                raise DataError(f"{match!r}, half {half!r}: {seconds!r} is not a duration in seconds", where=path)
    return data


def fingerprint(files: GameFiles, durations: Durations | None) -> str:
    """A hash of all that a match is read from; a video counts by its name, size and time of change."""
    digest = hashlib.sha256()
    for path in (files.labels, files.captions, files.video_ini):
        if path is not None:
            digest.update(path.name.encode() + b"\0" + hashlib.sha256(_bytes(path)).digest())
    for half, path in sorted(files.videos.items()):
        try:
            stat = path.stat()
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", where=path) from error
        digest.update(f"{half} {path.name} {stat.st_size} {stat.st_mtime_ns}".encode())
    digest.update(json.dumps((durations or {}).get(files.match, {}), sort_keys=True).encode())
    return digest.hexdigest()


def url_local(path: Path) -> str:
    """Which game a label file says that it is of; '' where it does not say, or cannot be read, which is told later."""
    try:
        found = _URL_LOCAL.search(path.read_bytes())
        return "" if found is None else str(json.loads(found[1])).strip().strip("/")
    except (OSError, ValueError):
        return ""


def read_game(files: GameFiles, durations: Durations | None = None, extra: Sequence[SourceCaption] = ()) -> Game:
    """Read a match whole or raise a DataError that names file and field; `extra` are captions from another list."""
    notices = Notices()
    labels = _object(files.labels, _bytes(files.labels))
    marks = [
        _mark(each, f"annotations[{n}]", files.labels, notices) for n, each in enumerate(_rows(labels, files.labels))
    ]
    halves = sorted({mark[0].half for mark in marks})
    lengths = _lengths(files, durations)
    if not halves:
        raise DataError("annotations holds no action", where=files.labels)
    for half in halves:
        if half not in lengths:
            raise DataError(
                f"half {half} has labels but no duration",
                where=files.labels,
                remedy="put the video or its video.ini beside the labels, or name a file with --durations",
            )
    if missing := sorted({1, 2} - set(halves)):
        raise DataError(f"annotations holds no action of half {missing[0]}: the half is missing", where=files.labels)
    for half in sorted(set(lengths) - set(halves)):
        notices.note("extra half without labels, left out", f"{files.labels} (half {half})")
    for key in ("gameHomeTeam", "gameAwayTeam"):
        if not labels.get(key):
            notices.note(f"labels without {key}", str(files.labels))
    actions: dict[int, list[Action]] = {half: [] for half in halves}
    for at, name, side, visible, unknown in marks:
        length = lengths[at.half]
        if at.seconds > length:
            notices.note("action after the end of its half, taken to the last clip", f"{files.labels} ({at})")
            at = MatchTime(at.half, length)
        known = MatchTime(at.half, clip_end(clip_of(at.seconds, length), length))
        action = Action(label=name, side=side, at=at, available_at=known, visible=visible, extra=unknown)
        actions[at.half].append(action)
    captions: list[SourceCaption] = []
    sheet_source: dict[str, Any] = {}
    if files.captions is not None:
        sheet_source = _object(files.captions, _bytes(files.captions))
        captions = _captions(files.captions, sheet_source, notices)
    captions += extra
    return Game(
        match=files.match,
        durations={half: lengths[half] for half in halves},
        # A stable sort: actions of one moment stay in the order of the file.
        actions={half: tuple(sorted(each, key=lambda action: action.at)) for half, each in actions.items()},
        captions=tuple(captions),
        sheet=_sheet(labels, sheet_source),
        notices=notices,
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=path) from error


def _object(path: Path, content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"broken JSON: {error}", where=path, remedy="download the file again") from error
    if not isinstance(data, dict):
        raise DataError("the file holds no JSON object", where=path)
    return data


def _rows(data: Mapping[str, Any], path: Path) -> list[dict[str, Any]]:
    rows = data.get("annotations")
    if not isinstance(rows, list):
        raise DataError("the field annotations is missing or no list", where=path)
    for n, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"annotations[{n}] is no object", where=path)
    return rows


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _mark(
    row: Mapping[str, Any], name: str, path: Path, notices: Notices
) -> tuple[MatchTime, vocabulary.Label, Side, bool, dict[str, Any]]:
    """An action: `gameTime` gives the half, `position` the time, and `gameTime` that too where it is absent."""
    try:
        at = MatchTime.parse(row["gameTime"])
    except KeyError:
        raise DataError(f"{name}.gameTime is missing", where=path) from None
    except (UsageError, TypeError):
        raise DataError(f"{name}.gameTime {row['gameTime']!r} is not a game time", where=path) from None
    if (position := row.get("position")) in (None, ""):
        notices.note("action without position, timed by gameTime", f"{path} ({name})")
    else:
        seconds = _position(position, name, path)
        if abs(seconds - at.seconds) > _CLOCK_TOLERANCE:
            notices.note("position and gameTime more than 1.5 s apart", f"{path} ({name})")
        at = MatchTime(at.half, seconds)
    try:
        known = vocabulary.label(row.get("label", ""))
    except DataError as error:
        raise DataError(f"{name}.label: {error.problem}", where=path, remedy=error.remedy) from None
    except TypeError:
        raise DataError(f"{name}.label {row['label']!r} is no text", where=path) from None
    for key in ("team", "visibility"):
        if key not in row:
            notices.note(f"action without {key}", f"{path} ({name})")
    team = row.get("team", Side.NONE.value)
    if team not in (Side.HOME.value, Side.AWAY.value, Side.NONE.value):
        raise DataError(f"{name}.team {team!r} is not home, away or not applicable", where=path)
    extra = {key: value for key, value in row.items() if key not in _KNOWN_ACTION}
    return at, known, Side(team), row.get("visibility", "visible") != "not shown", extra


def _position(value: object, name: str, path: Path) -> float:
    try:
        milliseconds = float(value) if isinstance(value, str) or _is_number(value) else math.nan  # type: ignore[arg-type]
    except ValueError:
        milliseconds = math.nan
    if not math.isfinite(milliseconds):
        raise DataError(f"{name}.position {value!r} is not a number of milliseconds", where=path)
    if milliseconds < 0:
        raise DataError(f"{name}.position {value!r} is negative", where=path)
    return milliseconds / 1000


def _lengths(files: GameFiles, durations: Durations | None) -> dict[int, float]:
    """The length of each half: what the named file says, then video.ini, then the video itself, each over the last."""
    lengths = {int(half): float(seconds) for half, seconds in (durations or {}).get(files.match, {}).items()}
    if files.video_ini is not None:
        lengths.update(_ini_lengths(files.video_ini))
    for half, path in files.videos.items():
        lengths[half] = _video_length(path)
    return lengths


def _ini_lengths(path: Path) -> dict[int, float]:
    """The `duration_second` of each section whose name starts with a half's number, as in [1_HQ.mkv]."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_bytes(path).decode())
    except (configparser.Error, UnicodeDecodeError) as error:
        raise DataError(f"not a video.ini: {error}", where=path) from error
    lengths = {}
    for section in parser.sections():
        if (found := re.match(r"(\d+)", section)) and (text := parser[section].get("duration_second")) is not None:
            try:
                seconds = float(text)
            except ValueError:
                seconds = math.nan
            if not math.isfinite(seconds) or seconds <= 0:
                raise DataError(f"[{section}] duration_second {text!r} is not a duration", where=path)
            lengths[int(found[1])] = seconds
    return lengths


def _video_length(path: Path) -> float:
    import av  # only where a video is there: reading labels needs no decoder

    try:
        with av.open(str(path)) as container:
            if container.duration is None:
                raise DataError("the video does not say how long it is", where=path, remedy="give video.ini instead")
            return float(container.duration) / av.time_base
    except av.error.FFmpegError as error:
        raise DataError(f"the video cannot be opened: {error}", where=path) from error


def _captions(path: Path, data: Mapping[str, Any], notices: Notices) -> list[SourceCaption]:
    rows = _rows(data, path)
    aligned = any(key in row for row in rows for key in ("contrastive_aligned_gameTime", "event_aligned_gameTime"))
    source = "matchtime_gt" if path.name == CAPTIONS[0] else "matchtime" if aligned else "soccernet_caption"
    return [_caption(row, n, path, source, notices) for n, row in enumerate(rows)]


def _caption(row: Mapping[str, Any], index: int, path: Path, source: str, notices: Notices) -> SourceCaption:
    where = f"{path} (annotations[{index}])"
    texts = {}
    for key in _CAPTION_TEXTS:
        value = row.get(key)
        if value is not None and not isinstance(value, str):
            raise DataError(f"annotations[{index}].{key} {value!r} is no text", where=path)
        texts[key] = (value or "").strip()
    for key in ("description", "anonymized"):
        if not texts[key]:
            notices.note(f"caption without {key}", where)
    at, time_key = pick_time(row)
    kind, kind_source, unknown = classify(row, texts["anonymized"] or texts["description"])
    if unknown is not None:
        notices.note(f"caption class {unknown!r} is not known, taken from the text", where)
    important = row.get("important")
    return SourceCaption(
        index=index,
        file=path.name,
        source=source,
        at=at,
        time_key=time_key,
        kind=kind,
        kind_source=kind_source,
        important=None if important is None else str(important).lower() in ("true", "1"),
        visible=None if "visibility" not in row else row["visibility"] != "not shown",
        extra={key: value for key, value in row.items() if key not in _KNOWN_CAPTION and key != time_key},
        **texts,
    )


def _text(value: object) -> str:
    return str(value[0] if isinstance(value, list) and value else value or "").strip()


def _sheet(labels: Mapping[str, Any], captions: Mapping[str, Any]) -> MatchSheet:
    """Who plays whom; whatever a file leaves out stays empty. The final score in these files is not read."""
    players: list[Player] = []
    coaches: list[Coach] = []
    lineup = captions.get("lineup")
    for side in (Side.HOME, Side.AWAY):
        part = lineup.get(side.value) if isinstance(lineup, dict) else None
        if not isinstance(part, dict):
            continue
        for each in part.get("players") or ():
            if isinstance(each, dict):
                players.append(
                    Player(
                        hash=_text(each.get("hash")),
                        name=_text(each.get("name")),
                        side=side,
                        short_name=_text(each.get("short_name")),
                        long_name=_text(each.get("long_name")),
                        number=_text(each.get("shirt_number")),
                        captain=bool(each.get("captain")),
                    )
                )
        for each in part.get("coach") or ():
            name = _text(each.get("name") if isinstance(each, dict) else each)
            if name:
                coaches.append(Coach(name=name, side=side))
    return MatchSheet(
        home=_text(labels.get("gameHomeTeam") or captions.get("gameHomeTeam")),
        away=_text(labels.get("gameAwayTeam") or captions.get("gameAwayTeam")),
        date=_text(labels.get("gameDate")),
        venue=_text(captions.get("venue")),
        referee=_text(captions.get("referee")),
        players=tuple(players),
        coaches=tuple(coaches),
    )

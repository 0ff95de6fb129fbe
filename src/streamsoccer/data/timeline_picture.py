"""A match as a picture: rows of five minutes, each with score, actions by side, events, captions and samples.

Everything is drawn at the second it happens. A lane grows where what it holds would lie over each other, so that all
text can be read at full size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from PIL import Image, ImageDraw, ImageFont

from streamsoccer.actions import GROUP, EventType, Group, Label
from streamsoccer.clock import format_seconds
from streamsoccer.domain import (
    CLIP_SECONDS,
    Action,
    CaptionRow,
    CloseReason,
    EventRow,
    SampleRow,
    Side,
    Track,
    Verdict,
)
from streamsoccer.errors import UsageError

__all__ = ["draw"]

Colour = tuple[int, int, int]
ROW_SECONDS = 300.0
SCALE = 5.6  # pixels a second: 24 s, the longest event, are 134 pixels
LEFT, RIGHT = 104, 26
WIDTH = LEFT + round(ROW_SECONDS * SCALE) + RIGHT
PAPER, INK, FAINT, GRID, BAND = (252, 252, 250), (28, 32, 38), (122, 128, 136), (222, 224, 226), (244, 245, 244)
WARNING = (184, 62, 30)
LINE = 15  # height of a line of small text

TYPES: dict[EventType, Colour] = {
    EventType.OPEN_PLAY: (206, 209, 212),
    EventType.FINISH: (214, 84, 56),
    EventType.PENALTY_OR_CARD: (238, 188, 58),
    EventType.FOUL_OR_OFFSIDE: (168, 120, 190),
    EventType.SET_PIECE: (84, 142, 200),
    EventType.CLEARANCE_OR_OUT: (112, 178, 166),
    EventType.SUBSTITUTION: (132, 184, 92),
    EventType.KICK_OFF: (176, 138, 106),
    EventType.END_OF_PERIOD: (150, 154, 160),
}
GROUPS: dict[Group, Colour] = {
    Group.SET_PIECE: (38, 98, 164),
    Group.FINISH: (190, 48, 24),
    Group.STOPPAGE: (120, 70, 148),
    Group.CLEARANCE: (24, 122, 108),
    Group.ADMINISTRATION: (150, 106, 0),
}
TRACKS: dict[Track, Colour] = {
    Track.CURRENT: (38, 98, 164),
    Track.RECENT: (24, 122, 108),
    Track.HISTORICAL: (150, 62, 120),
}
SHORT: dict[Label, str] = {
    Label.SHOT_ON_TARGET: "Shot on",
    Label.SHOT_OFF_TARGET: "Shot off",
    Label.BALL_OUT: "Out",
    Label.INDIRECT_FREE_KICK: "Ind. free kick",
    Label.DIRECT_FREE_KICK: "Dir. free kick",
    Label.YELLOW_CARD: "Yellow",
    Label.RED_CARD: "Red",
    Label.SECOND_YELLOW_CARD: "2nd yellow",
    Label.SUBSTITUTION: "Substitution",
}
CLOSES: dict[CloseReason, str] = {
    CloseReason.NEW_START: "N",
    CloseReason.MAX_DURATION: "24",
    CloseReason.TERMINAL_STOPPAGE: "S",
    CloseReason.TERMINAL_FINISH: "F",
    CloseReason.TERMINAL_CLEARANCE: "C",
    CloseReason.ADMINISTRATION: "A",
    CloseReason.HALF_END: "H",
}
CAPTION_WIDTH = 284


class Rows(Protocol):
    """What is drawn: one match's rows."""

    @property
    def match(self) -> str: ...
    @property
    def events(self) -> list[EventRow]: ...
    @property
    def captions(self) -> list[CaptionRow]: ...
    @property
    def samples(self) -> list[SampleRow]: ...
    def seconds(self, half: int) -> float: ...


# --- text ------------------------------------------------------------------------------------------------------------


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _wide(text: str, size: int = 12) -> float:
    return _font(size).getlength(text)


def _cut(text: str, width: float, size: int = 12) -> str:
    """The text, or as much of it as is not wider, with dots behind."""
    if _wide(text, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _wide(text[:middle].rstrip() + "...", size) <= width else (low, middle - 1)
    return text[:low].rstrip() + "..."


def _on(colour: Colour) -> Colour:
    """Ink that can be read on this colour."""
    bright = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2]
    return INK if bright > 135 else (255, 255, 255)


def _pale(colour: Colour, share: float = 0.85) -> Colour:
    red, green, blue = (round(each + (255 - each) * share) for each in colour)
    return red, green, blue


# --- one row of five minutes -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Levels:
    """Puts things side by side, and one level lower where the place is taken."""

    ends: list[float] = field(default_factory=list)

    def put(self, start: float, end: float) -> int:
        for level, taken in enumerate(self.ends):
            if start >= taken:
                self.ends[level] = end
                return level
        self.ends.append(end)
        return len(self.ends) - 1

    @property
    def count(self) -> int:
        return max(1, len(self.ends))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Half:
    """The rows of one half, and the score as it became known."""

    half: int
    seconds: float
    events: Sequence[EventRow]
    captions: Sequence[CaptionRow]
    samples: Sequence[SampleRow]
    before: tuple[int, int]  # the score at its start
    goals: Sequence[Action]

    def score(self, second: float) -> tuple[int, int]:
        """The score by then: a goal counts from the end of its clip."""
        known = [each.side for each in self.goals if each.available_at.seconds <= second]
        return self.before[0] + known.count(Side.HOME), self.before[1] + known.count(Side.AWAY)


class _Row:
    """Five minutes of a half, drawn lane under lane."""

    def __init__(self, half: _Half, start: float) -> None:
        self.half, self.start = half, start
        self.end = min(start + ROW_SECONDS, half.seconds)
        self.events = [each for each in half.events if each.start.seconds < self.end and each.end.seconds > start]
        self.actions = [each for event in half.events for each in event.actions if self.holds(each.at.seconds)]
        self.captions = sorted(
            (each for each in half.captions if each.at is not None and self.holds(each.at.seconds)),
            key=lambda each: (0.0 if each.at is None else each.at.seconds, each.id),
        )
        self.samples = [each for each in half.samples if self.holds(each.cutoff.seconds - 0.001)]
        self.levels = {side: self._place_actions(side) for side in (Side.HOME, Side.NONE, Side.AWAY)}
        self.boxes = self._place_captions()

    def holds(self, second: float) -> bool:
        """Whether this second is drawn in this row; what lies past the end of the half is drawn in its last row."""
        last = self.end >= self.half.seconds
        return self.start <= second and (second < self.end or last)

    def x(self, second: float) -> float:
        return LEFT + (min(max(second, self.start), self.end) - self.start) * SCALE

    def _place_actions(self, side: Side) -> tuple[int, list[tuple[Action, int]]]:
        levels, placed = _Levels(), []
        for action in sorted((each for each in self.actions if each.side is side), key=lambda each: each.at):
            start, end = self._action_span(action)
            placed.append((action, levels.put(start, end)))
        return levels.count, placed

    def _action_span(self, action: Action) -> tuple[float, float]:
        """From where to where mark and word go: the word stands to the right, at the sheet's edge to the left."""
        x, wide = self.x(action.at.seconds), 10 + _wide(_short(action.label), _action_size(action))
        return (x - 6, x + wide + 6) if x + wide < WIDTH - 4 else (x - wide - 4, x + 8)

    def _place_captions(self) -> tuple[int, list[tuple[CaptionRow, int, float]]]:
        levels, placed = _Levels(), []
        for caption in self.captions:
            second = 0.0 if caption.at is None else caption.at.seconds
            left = min(self.x(second) - 3, WIDTH - RIGHT - CAPTION_WIDTH)
            placed.append((caption, levels.put(left, left + CAPTION_WIDTH + 6), left))
        return (levels.count if placed else 0), placed

    # --- drawing -----------------------------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        actions = sum(count * LINE + 3 for count, _ in self.levels.values())
        return 18 + 17 + 4 + actions + 4 + 25 + (self.boxes[0] * 33 + 16 if self.boxes[0] else 6) + 3 * 17 + 22

    def draw(self, pen: ImageDraw.ImageDraw, top: int) -> None:
        y = self._axis(pen, top)
        y = self._score(pen, y)
        y += 4
        for side, name in ((Side.HOME, "home"), (Side.NONE, "no side"), (Side.AWAY, "away")):
            y = self._action_lane(pen, y, side, name)
        y += 4
        bars = y
        y = self._event_lane(pen, y)
        y = self._caption_lane(pen, y, bars)
        self._sample_lane(pen, y)

    def _label(self, pen: ImageDraw.ImageDraw, y: float, text: str, colour: Colour = FAINT) -> None:
        pen.text((LEFT - 10, y), text, colour, _font(12), anchor="ra")

    def _axis(self, pen: ImageDraw.ImageDraw, top: int) -> int:
        """Minutes, each second one on a darker ground, and a tick for each clip."""
        bottom = top + self.height - 22
        minutes = range(int(self.start // 60), int(-(-self.end // 60)))
        for minute in minutes:
            left, right = self.x(minute * 60), self.x(minute * 60 + 60)
            if minute % 2:
                pen.rectangle((left, top + 16, right, bottom), fill=BAND)
            pen.line((left, top + 13, left, bottom), fill=GRID)
            pen.text((left + 3, top), f"{minute:02d}:00", INK, _font(13))
        clip = int(self.start // CLIP_SECONDS)
        while clip * CLIP_SECONDS <= self.end:
            pen.line((self.x(clip * CLIP_SECONDS), top + 15, self.x(clip * CLIP_SECONDS), top + 18), fill=GRID)
            clip += 1
        pen.line((LEFT, top + 18, self.x(self.end), top + 18), fill=FAINT)
        if self.end == self.half.seconds:
            pen.line((self.x(self.end), top + 4, self.x(self.end), bottom), fill=INK, width=2)
            text = f"end {format_seconds(round(self.end))}"
            room = WIDTH - self.x(self.end) > _wide(text) + 8
            pen.text(
                (self.x(self.end) + (5 if room else -5), top + 2), text, INK, _font(12), anchor="la" if room else "ra"
            )
        self._label(pen, top + 1, f"half {self.half.half}", INK)
        return top + 20

    def _score(self, pen: ImageDraw.ImageDraw, y: int) -> int:
        """A band that says the score and changes where a goal becomes known."""
        goals = [each.available_at.seconds for each in self.half.goals]
        changes = [self.start, *sorted({each for each in goals if self.start < each < self.end}), self.end]
        for start, end in pairwise(changes):
            home, away = self.half.score(start)
            new = start > self.start
            pen.rectangle((self.x(start), y, self.x(end), y + 14), fill=(255, 236, 178) if new else (236, 238, 240))
            pen.text((self.x(start) + 4, y + 1), f"{home}-{away}", INK, _font(13 if new else 12))
        self._label(pen, y, "score")
        return y + 17

    def _action_lane(self, pen: ImageDraw.ImageDraw, y: int, side: Side, name: str) -> int:
        count, placed = self.levels[side]
        self._label(pen, y, name)
        for action, level in placed:
            x, middle = self.x(action.at.seconds), y + level * LINE + 8
            colour = GROUPS[GROUP[action.label]]
            box = (x - 4, middle - 4, x + 4, middle + 4)
            pen.ellipse(box, fill=colour if action.visible else PAPER, outline=colour, width=2)
            ink = colour if action.visible else FAINT
            left = self._action_span(action)[0] < x - 6
            place = (x - 8, middle - 8) if left else (x + 8, middle - 8)
            font = _font(_action_size(action))
            pen.text(place, _short(action.label), ink, font, anchor="ra" if left else "la")
        y += count * LINE + 3
        pen.line((LEFT, y - 2, self.x(self.end), y - 2), fill=GRID)
        return y

    def _event_lane(self, pen: ImageDraw.ImageDraw, y: int) -> int:
        self._label(pen, y + 3, "events")
        for event in self.events:
            left, right = self.x(event.start.seconds), self.x(event.end.seconds)
            colour = TYPES[event.type]
            pen.rectangle((left, y, right - 1, y + 20), fill=colour, outline=PAPER)
            here = event.end.seconds <= self.end  # what goes on in the next row closes there
            code = CLOSES[event.closed_by] if here else ">"
            pen.text((right - 4, y + 3), code, _on(colour), _font(12), anchor="ra")
            room = right - left - 12 - _wide(code)
            name = _type_name(event.type)
            if _wide(name) <= room:
                pen.text((left + 4, y + 3), name, _on(colour), _font(12))
            if event.caption is not None:
                pen.rectangle((left, y, right - 1, y + 20), outline=INK, width=2)
        return y + 25

    def _caption_lane(self, pen: ImageDraw.ImageDraw, y: int, bars: int) -> int:
        count, placed = self.boxes
        if not placed:
            return y + 6
        self._label(pen, y + 18, "captions")
        events = {each.id: each for each in self.half.events}
        for caption, level, left in reversed(placed):
            second = 0.0 if caption.at is None else caption.at.seconds
            top = y + 16 + level * 33
            aligned = caption.verdict is Verdict.ALIGNED
            colour = INK if aligned else WARNING
            x = self.x(second)
            pen.line((x, y + 6, x, top), fill=_pale(colour, 0.45))
            if aligned and caption.event in events:
                event = events[caption.event]
                middle = (self.x(event.start.seconds) + self.x(event.end.seconds)) / 2
                pen.line((x, y + 6, middle, bars + 21), fill=colour)
                pen.ellipse((middle - 2, bars + 19, middle + 2, bars + 23), fill=colour)
            else:
                pen.line((x - 3, y + 3, x + 3, y + 9), fill=WARNING)
                pen.line((x - 3, y + 9, x + 3, y + 3), fill=WARNING)
            self._caption_box(pen, caption, left, top, colour)
        return y + 16 + count * 33

    def _caption_box(
        self, pen: ImageDraw.ImageDraw, caption: CaptionRow, left: float, top: int, colour: Colour
    ) -> None:
        aligned = caption.verdict is Verdict.ALIGNED
        pen.rectangle(
            (left, top, left + CAPTION_WIDTH, top + 30),
            fill=(255, 255, 255) if aligned else _pale(WARNING, 0.9),
            outline=_pale(colour, 0.55),
        )
        number = caption.id.rpartition("#")[2]
        head = f"{number}  {caption.kind.value}"
        verdict = "" if aligned else caption.verdict.value.replace("_", " ")
        room = CAPTION_WIDTH - 8 - (_wide(verdict) + 8 if verdict else 0)
        pen.text((left + 4, top + 1), _cut(head, room), colour, _font(12))
        pen.text((left + CAPTION_WIDTH - 4, top + 1), verdict, WARNING, _font(12), anchor="ra")
        text = caption.description or caption.anonymized  # names tell more than placeholders
        pen.text((left + 4, top + 15), _cut(text, CAPTION_WIDTH - 8), FAINT if aligned else WARNING, _font(12))

    def _sample_lane(self, pen: ImageDraw.ImageDraw, y: int) -> None:
        """Each sample at its cutoff; a recent one with its window, a historical one with what it looks back to."""
        for place, track in enumerate(Track):
            top = y + place * 17
            self._label(pen, top + 1, track.value, TRACKS[track])
            pen.line((LEFT, top + 9, self.x(self.end), top + 9), fill=GRID)
            if track is Track.RECENT:
                for sample in self.half.samples:
                    self._window(pen, sample, top)
        for sample in self.samples:
            colour = TRACKS[sample.track]
            top = y + list(Track).index(sample.track) * 17
            x = self.x(sample.cutoff.seconds)
            pen.polygon([(x, top + 2), (x - 6, top + 15), (x + 6, top + 15)], fill=colour)
            if sample.track is Track.HISTORICAL:
                text = f"to {' '.join(_clock(name) for name in sample.positives[-3:])}"
                if len(sample.positives) > 3:
                    text += f" +{len(sample.positives) - 3}"
                wide = _wide(text)
                left = x + 9 if x + 9 + wide < WIDTH - 4 else x - 9 - wide
                pen.rectangle((left - 1, top + 2, left + wide + 1, top + 16), fill=PAPER)
                pen.text((left, top + 1), text, colour, _font(12))

    def _window(self, pen: ImageDraw.ImageDraw, sample: SampleRow, top: int) -> None:
        if sample.track is not Track.RECENT:
            return
        since, until = float(sample.fields["since"][1]), sample.cutoff.seconds
        if since < self.end and until > self.start:
            colour = _pale(TRACKS[Track.RECENT], 0.5)
            pen.rectangle((self.x(since), top + 7, self.x(until), top + 11), fill=colour)
            if since >= self.start:
                pen.line((self.x(since), top + 4, self.x(since), top + 14), fill=TRACKS[Track.RECENT])


def _action_size(action: Action) -> int:
    return 15 if action.label is Label.GOAL else 12


def _short(label: Label) -> str:
    return SHORT.get(label, label.value)


def _type_name(kind: EventType) -> str:
    return kind.value.replace("_", " ").replace("penalty or card", "penalty, card").replace(" or ", ", ")


def _clock(record: str) -> str:
    """The minute and second at which a record's event starts, as its ID says."""
    digits = record.rpartition("-r")[2]
    return format_seconds(int(digits)) if digits.isdigit() else record


# --- the sheet -------------------------------------------------------------------------------------------------------


def draw(rows: Rows, halves: Sequence[int], path: Path) -> None:
    """Write the picture of these halves as a PNG."""
    drawn = [row for half in halves for row in _rows_of(rows, half)]
    head, legend = 62, 118
    height = head + sum(row.height for row in drawn) + legend
    sheet = Image.new("RGB", (WIDTH, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    _head(pen, rows, halves)
    top = head
    for row in drawn:
        row.draw(pen, top)
        top += row.height
    _legend(pen, top + 4)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet.save(path, format="PNG")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot be written ({reason})", where=path, remedy="name another file with --image"
        ) from error


def _rows_of(rows: Rows, half: int) -> list[_Row]:
    goals = [action for event in rows.events for action in event.actions if action.label is Label.GOAL]
    earlier = [each.side for each in goals if each.at.half < half]
    content = _Half(
        half=half,
        seconds=rows.seconds(half),
        events=[each for each in rows.events if each.half == half],
        captions=[each for each in rows.captions if each.at is not None and each.at.half == half],
        samples=[each for each in rows.samples if each.half == half],
        before=(earlier.count(Side.HOME), earlier.count(Side.AWAY)),
        goals=[each for each in goals if each.at.half == half],
    )
    count = max(1, int(-(-content.seconds // ROW_SECONDS)))
    return [_Row(content, number * ROW_SECONDS) for number in range(count)]


def _head(pen: ImageDraw.ImageDraw, rows: Rows, halves: Iterable[int]) -> None:
    chosen = set(halves)
    events = [each for each in rows.events if each.half in chosen]
    captions = [each for each in rows.captions if each.at is not None and each.at.half in chosen]
    samples = [each for each in rows.samples if each.half in chosen]
    league, _, game = rows.match.rpartition("/")
    split = events[0].split.value if events else ""
    pen.text((16, 10), game, INK, _font(22))
    pen.text((WIDTH - RIGHT, 14), f"{league}   split: {split}", FAINT, _font(14), anchor="ra")
    aligned = sum(each.verdict is Verdict.ALIGNED for each in captions)
    tracks = ", ".join(f"{sum(each.track is track for each in samples)} {track.value}" for track in Track)
    facts = f"{sum(len(each.actions) for each in events)} actions   {len(events)} events   "
    pen.text((16, 38), f"{facts}{aligned} of {len(captions)} captions aligned   samples: {tracks}", FAINT, _font(14))


def _legend(pen: ImageDraw.ImageDraw, y: int) -> None:
    """What colours, marks and letters mean."""
    pen.line((16, y, WIDTH - RIGHT, y), fill=FAINT)
    y += 8
    x = _words(pen, 16, y, "events by type:")
    for kind, colour in TYPES.items():
        pen.rectangle((x, y + 1, x + 22, y + 15), fill=colour)
        x = _words(pen, x + 27, y, _type_name(kind))
    pen.rectangle((x, y + 1, x + 22, y + 15), outline=INK, width=2)
    _words(pen, x + 27, y, "has a caption")
    y += 21
    reasons = "   ".join(f"{code}  {reason.value.replace('_', ' ')}" for reason, code in CLOSES.items())
    x = _words(pen, 16, y, f"closed by:  {reasons}")
    _words(pen, x, y, ">  goes on in the next row")
    y += 21
    x = _words(pen, 16, y, "actions by group:")
    for group, colour in GROUPS.items():
        pen.ellipse((x, y + 4, x + 8, y + 12), fill=colour)
        x = _words(pen, x + 13, y, group.value.replace("_", " "))
    pen.ellipse((x, y + 4, x + 8, y + 12), outline=INK, width=2)
    _words(pen, x + 13, y, "hollow: not shown")
    y += 21
    x = _words(pen, 16, y, "captions: a line leads to the event; ")
    x = _words(pen, x, y, "x and the verdict: not aligned", WARNING)
    x = _words(pen, x, y, "samples stand at their cutoffs:")
    for track, told in (
        (Track.CURRENT, ""),
        (Track.RECENT, ", with the time told"),
        (Track.HISTORICAL, ", to its positives"),
    ):
        pen.polygon([(x + 6, y + 2), (x, y + 15), (x + 12, y + 15)], fill=TRACKS[track])
        x = _words(pen, x + 17, y, f"{track.value}{told}", TRACKS[track])
    y += 21
    told = "score: known from the end of the clip that holds the goal   ticks on the axis: clips of 4 s"
    _words(pen, 16, y, told)


def _words(pen: ImageDraw.ImageDraw, x: float, y: float, text: str, colour: Colour = INK) -> float:
    """Write, and return where the next thing may stand."""
    pen.text((x, y), text, colour, _font(13))
    return x + _wide(text, 13) + 16

"""What lies over the picture: scoreboard, cards and changes as icons and numbers, wipes. No words but team codes."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np

from streamsoccer.league.director import WIPE, Direction, Graphic, GraphicKind, ShotKind
from streamsoccer.league.lens import Rgb, shrink
from streamsoccer.league.lettering import write
from streamsoccer.league.light import mix, shade
from streamsoccer.league.patches import blend
from streamsoccer.league.truth import HZ, Trace
from streamsoccer.league.world import RGB, Fixture, stream

__all__ = ["Overlay"]

_OVER = 4
_PANEL: RGB = (18, 22, 34)
_WHITE: RGB = (244, 244, 244)


class Overlay:
    """The graphics of one match at one size."""

    def __init__(self, fixture: Fixture, width: int, height: int) -> None:
        self._fixture = fixture
        self._size = (width, height)
        # the height of the scoreboard: to be read, and with added time no wider than the picture
        self._unit = min(max(14, round(height * 0.054)), int(width / 12.5))
        # whoever plays at home has the pictures made, and the same company makes them all season
        rng = stream(0, "pictures", fixture.world.value, fixture.league, fixture.home.name)
        tones: tuple[RGB, ...] = ((20, 24, 60), (70, 10, 40), (8, 60, 70), (30, 30, 36), (16, 70, 40))
        self._tone = tones[int(rng.integers(len(tones)))]
        self._accent: RGB = ((240, 200, 40), (60, 220, 210), (240, 90, 60), (170, 220, 60))[int(rng.integers(4))]
        self._right = bool(rng.random() < 0.25)
        self._board = lru_cache(maxsize=8)(self._draw_board)
        self._digit = lru_cache(maxsize=16)(self._draw_digit)
        self._panel = lru_cache(maxsize=8)(self._draw_panel)

    def draw(self, image: Rgb, trace: Trace, direction: Direction, moment: float) -> None:
        """Everything that lies over the picture at a moment, in steps."""
        shot = direction.shot(moment)
        wiping = self._wipe(direction, moment)
        if wiping is not None:
            self._draw_wipe(image, wiping)
            return
        width = self._size[0]
        margin = self._unit * 2 // 3
        if shot.kind is ShotKind.REPLAY:
            self._emblem(image, width - margin - self._unit // 2, margin + self._unit // 2, self._unit // 2)
        else:
            seconds = int(trace.clock_start + moment / HZ)
            added = direction.added[1] if direction.added is not None and moment >= direction.added[0] else 0
            board = self._clocked(seconds, direction.score(moment), added)
            left = width - margin - board.shape[1] if self._right else margin
            image[margin : margin + board.shape[0], left : left + board.shape[1]] = board[..., :3]
        for graphic in direction.graphics:
            if graphic.start <= moment < graphic.end and shot.kind is not ShotKind.REPLAY:
                panel = self._panel(graphic)
                part = min(1.0, (moment - graphic.start) / 1.5, (graphic.end - moment) / 1.5)
                shown = max(1, round(panel.shape[1] * part))
                blend(image, panel[:, :shown], margin, self._size[1] - margin - panel.shape[0])

    def _wipe(self, direction: Direction, moment: float) -> float | None:
        """How far a wipe has come, from 0 to 1, where one is on: around each cut to or from a replay."""
        for cut in (direction.shot(moment).start, direction.shot(moment + WIPE).start):
            if cut and cut - WIPE <= moment < cut + WIPE:
                kinds = (direction.shot(cut).kind, direction.shot(cut - 1).kind)
                if ShotKind.REPLAY in kinds:
                    return (moment - cut + WIPE) / (2 * WIPE)
        return None

    def _draw_wipe(self, image: Rgb, part: float) -> None:
        width, height = self._size
        slant, wide = height * 0.5, width * 1.5
        colours = (self._accent, self._tone, shade(self._tone, 1.5), self._tone, self._accent)
        start = -wide - slant + part * (width + 2 * slant + wide)
        edges = (0.0, 0.06, 0.3, 0.7, 0.94, 1.0)
        for colour, a, b in zip(colours, edges[:-1], edges[1:], strict=True):
            x0, x1 = start + wide * a, start + wide * b + 1
            corners = ((x0 + slant, 0), (x1 + slant, 0), (x1, height), (x0, height))
            points = np.array([[round(x * 16), round(y * 16)] for x, y in corners], dtype=np.int32)
            cv2.fillConvexPoly(image, points, colour, cv2.LINE_AA, 4)
        self._emblem(image, round(start + wide * 0.5 + slant / 2), height // 2, height // 5)

    def _emblem(self, image: Rgb, x: int, y: int, radius: int) -> None:
        """The league's mark: a ring with a star of stripes."""
        if not -4 * radius < x < self._size[0] + 4 * radius:
            return
        cv2.circle(image, (x * 16, y * 16), radius * 16, self._accent, -1, cv2.LINE_AA, 4)
        cv2.circle(image, (x * 16, y * 16), radius * 13, self._tone, -1, cv2.LINE_AA, 4)
        for dx, dy in ((10, 0), (5, 9), (-5, 9)):
            a = (x * 16 - dx * radius, y * 16 - dy * radius)
            b = (x * 16 + dx * radius, y * 16 + dy * radius)
            cv2.line(image, a, b, _WHITE, max(1, radius // 6), cv2.LINE_AA, 4)

    def _clocked(self, seconds: int, score: tuple[int, int], added: int) -> Rgb:
        """The board with its clock; only the digits are new each second."""
        board = self._board(score, added).copy()
        wide = self._unit // 2
        for place, sign in enumerate(f"{seconds // 60:02d}:{seconds % 60:02d}"):
            left = (self._unit * 27 // 10 - 5 * wide) // 2 + place * wide
            board[:, left : left + wide] = self._digit(sign)
        return board

    def _draw_digit(self, sign: str) -> Rgb:
        wide = self._unit // 2 * _OVER
        canvas = np.full((self._unit * _OVER, wide, 4), (*shade(self._tone, 0.8), 255), dtype=np.uint8)
        write(canvas, sign, (wide / 2, canvas.shape[0] / 2), canvas.shape[0] * 0.56, (*_WHITE, 255))
        return _small(canvas)

    def _draw_board(self, score: tuple[int, int], added: int) -> Rgb:
        """Codes and score beside the room for the clock, premultiplied RGBA."""
        high = self._unit * _OVER
        cells: list[tuple[str, float, RGB, RGB]] = [
            ("", 2.7, shade(self._tone, 0.8), _WHITE),
            ("", 0.28, self._fixture.home_kit.shirt, _WHITE),
            (self._fixture.home.code, 2.15, _PANEL, _WHITE),
            (f"{score[0]}-{score[1]}", 1.95, _WHITE, _PANEL),
            (self._fixture.away.code, 2.15, _PANEL, _WHITE),
            ("", 0.28, self._fixture.away_kit.shirt, _WHITE),
        ]
        if added:
            cells.append((f"+{added}", 1.3, self._accent, _PANEL))
        across = math.ceil(sum(cell[1] for cell in cells) * self._unit) * _OVER
        canvas = np.full((high, across, 4), (*_PANEL, 255), dtype=np.uint8)
        x = 0.0
        for text, wide, ground, ink in cells:
            right = x + wide * high
            canvas[:, round(x) : round(right)] = (*ground, 255)
            write(canvas, text, ((x + right) / 2, high / 2), high * 0.56, (*ink, 255))
            x = right
        return _small(canvas)

    def _draw_panel(self, graphic: Graphic) -> Rgb:
        """A card or a change: icons, the shirt's colour, numbers; premultiplied RGBA."""
        high = round(self._unit * 1.9) * _OVER
        club, kit = self._fixture.club(graphic.side), self._fixture.kit(graphic.side)
        ground = mix(_PANEL, self._tone, 0.5)
        canvas = np.full((high, high * 4, 4), (*ground, 255), dtype=np.uint8)
        canvas[:, : high // 5] = (*kit.shirt, 255)
        canvas[high - high // 16 :] = (*self._accent, 255)
        write(canvas, club.code, (high * 1.05, high / 2), high * 0.42, (*_WHITE, 255))
        if graphic.kind is GraphicKind.SUBSTITUTION:
            _arrow(canvas, high * 2.0, high / 2, high * 0.26, (60, 210, 90), up=True)
            write(canvas, str(club.squad[graphic.number].number), (high * 2.52, high / 2), high * 0.4, (*_WHITE, 255))
            if graphic.other is not None:
                _arrow(canvas, high * 3.1, high / 2, high * 0.26, (230, 50, 50), up=False)
                write(canvas, str(club.squad[graphic.other].number), (high * 3.6, high / 2), high * 0.4, (*_WHITE, 255))
            return _small(canvas)
        cards: list[RGB] = []
        if graphic.kind is not GraphicKind.RED:
            cards.append((250, 214, 20))
        if graphic.kind is not GraphicKind.YELLOW:
            cards.append((226, 20, 30))
        for index, card in enumerate(cards):
            left = round(high * (2.0 + 0.3 * index))
            top = round(high * (0.16 + 0.08 * index))
            cv2.rectangle(canvas, (left, top), (left + round(high * 0.44), top + round(high * 0.6)), (*card, 255), -1)
        write(canvas, str(club.squad[graphic.number].number), (high * 3.35, high / 2), high * 0.5, (*_WHITE, 255))
        return _small(canvas)


def _small(canvas: Rgb) -> Rgb:
    high, wide = canvas.shape[:2]
    return shrink(canvas, wide // _OVER, high // _OVER)


def _arrow(canvas: Rgb, x: float, y: float, size: float, colour: RGB, *, up: bool) -> None:
    way = -1 if up else 1
    corners = ((x - size, y - way * size * 0.1), (x + size, y - way * size * 0.1), (x, y + way * size))
    head = np.array([[round(px), round(py)] for px, py in corners], dtype=np.int32)
    cv2.fillConvexPoly(canvas, head, (*colour, 255))
    stem = (round(x - size * 0.4), round(y - size)), (round(x + size * 0.4), round(y + size))
    if up:
        cv2.rectangle(canvas, (stem[0][0], round(y)), stem[1], (*colour, 255), -1)
    else:
        cv2.rectangle(canvas, stem[0], (stem[1][0], round(y)), (*colour, 255), -1)

"""Captions of clips, as corpora of captioned pictures have them: what `visible.py` sees, in plain words.

Sides are home and away where the scoreboard tells them apart, and the colours of their shirts where it does not. Places
are those of the picture: left and right, the near side and the far side. Chance chooses the words and the order, for
each clip by itself; one in six captions is a list of catchwords.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from numpy.random import Generator

from streamsoccer.clip import CLIP_SECONDS
from streamsoccer.domain import Side
from streamsoccer.errors import UsageError
from streamsoccer.league.broadcast import HalfOnAir
from streamsoccer.league.director import Graphic, GraphicKind, ShotKind
from streamsoccer.league.names import WorldName
from streamsoccer.league.pitch import AREA_DEPTH, AREA_HALF, HALF_LENGTH
from streamsoccer.league.rig import FOURTH
from streamsoccer.league.sightwords import BEATS, CATCHWORDS, CLOSE, POSES, STATES
from streamsoccer.league.strip import colour, shirts, told_apart
from streamsoccer.league.truth import DeedKind, How, Pose, Trace
from streamsoccer.league.visible import Beat, Board, Part, Place, Sight, State, look
from streamsoccer.league.world import Fixture, stream

__all__ = ["caption", "describe", "write_descriptions"]

_K = DeedKind
_CATCHWORDS = 1 / 6  # of the captions
_MOST_WORDS = 44
_NUMBERS = ("no", "a", "two", "three", "four", "five", "six")
# What is left out last, where there is more than a caption holds.
_WEIGHT = {
    _K.GOAL: 10, _K.SHOT: 9, _K.PENALTY: 9, _K.SAVE: 9, _K.YELLOW: 9, _K.SECOND_YELLOW: 9, _K.RED: 9, _K.OFFSIDE: 8,
    _K.FOUL: 8, _K.SUBSTITUTION: 8, _K.CORNER: 8, _K.FREE_KICK: 7, _K.THROW_IN: 7, _K.GOAL_KICK: 7, _K.KICK_OFF: 7,
    _K.BALL_OUT: 7, _K.CLAIM: 6, _K.CROSS: 6, _K.CLEARANCE: 5, _K.BLOCK: 5, _K.TACKLE: 4, _K.INTERCEPTION: 4,
    _K.DRIBBLE: 3, _K.PASS: 2,
}  # fmt: skip
_RESTARTS = {
    _K.THROW_IN: "throw", _K.CORNER: "corner", _K.GOAL_KICK: "goal kick", _K.FREE_KICK: "free kick",
    _K.PENALTY: "penalty", _K.KICK_OFF: "kick-off",
}  # fmt: skip
_POSES = {
    Pose.WALK: "walk", Pose.RUN: "run", Pose.SPRINT: "run", Pose.STAND: "stand", Pose.CELEBRATE: "celebrate",
    Pose.LIE: "lie", Pose.PROTEST: "protest", Pose.HOLD: "hold", Pose.POINT: "point",
}  # fmt: skip


def write_descriptions(path: Path, fixture: Fixture, on_air: HalfOnAir) -> None:
    """One row a clip: its index and its caption."""
    with path.open("w", encoding="utf-8") as file:
        for index, text in enumerate(describe(fixture, on_air)):
            file.write(json.dumps({"index": index, "text": text}, ensure_ascii=False) + "\n")


def describe(fixture: Fixture, on_air: HalfOnAir) -> Iterator[str]:
    """The captions of a half's clips, in order."""
    if fixture.world is WorldName.TEST:
        raise UsageError("captions of clips are for training, and the test league for the test")
    for index in range(math.ceil(on_air.trace.seconds / CLIP_SECONDS)):
        yield caption(fixture, on_air, index)


def caption(fixture: Fixture, on_air: HalfOnAir, index: int) -> str:
    """The caption of one clip."""
    sight = look(on_air, index)
    rng = stream(fixture.seed, "captions of clips", fixture.world.value, fixture.index, on_air.trace.half, index)
    if rng.random() < _CATCHWORDS:
        return _Writer(fixture, on_air.trace, sight, rng, brief=True).catchwords()
    for most in (4, 3, 2, 1):
        text = _Writer(fixture, on_air.trace, sight, rng, most=most).prose()
        if len(text.split()) <= _MOST_WORDS:
            break
    return text


class _Writer:
    """One caption; `most` things of a part are told."""

    def __init__(
        self, fixture: Fixture, trace: Trace, sight: Sight, rng: Generator, *, most: int = 4, brief: bool = False
    ) -> None:
        self.fixture, self.trace, self.sight, self.rng, self.most, self.brief = fixture, trace, sight, rng, most, brief
        self._named = sight.board is not None  # home and away can be told by the board's colours
        self._style = int(rng.integers(4))
        self._introduce = set() if rng.random() < 0.45 or not self._named else {Side.HOME, Side.AWAY}

    # --- sides

    def side(self, side: Side) -> str:
        """A side as the subject of a plural verb."""
        if side is Side.NONE:
            return "somebody"
        if not self._named:
            return f"the {'team' if self._style % 2 else 'side'} in {self.shirt(side)}"
        name = (side.value, f"the {side.value} side", f"the {side.value} team", side.value)[self._style]
        if side in self._introduce and not self.brief:
            self._introduce.discard(side)
            return f"{name} ({self.shirt(side)})"
        return side.value if self.brief else name

    def player(self, side: Side) -> str:
        if not self._named:
            return f"a player in {self.shirt(side)}"
        if side in self._introduce and side is not Side.NONE:
            self._introduce.discard(side)
            article = "an" if side is Side.AWAY else "a"
            return f"{article} {side.value} player in {self.shirt(side)}"
        return "an away player" if side is Side.AWAY else "a home player"

    def keeper(self, side: Side) -> str:
        word = "goalkeeper" if self._style else "keeper"
        if not self._named:
            return f"the {word} of the side in {self.shirt(side)}"
        return f"the {side.value} {word}"

    def shirt(self, side: Side, *, whole: bool = False) -> str:
        if side is Side.NONE or not told_apart(self.fixture):
            return "play" if side is Side.NONE else shirts(self.fixture.kit(side), whole=True)
        return shirts(self.fixture.kit(side), whole=whole)

    # --- places

    def at(self, place: Place) -> str:
        """Where in the picture's pitch."""
        x, y = place
        end = "right" if x > 0 else "left"
        flank = "far" if y > 0 else "near"
        if abs(x) > HALF_LENGTH - AREA_DEPTH and abs(y) < AREA_HALF:
            return self.one(
                f"in the {end} penalty area", f"in the penalty area on the {end}", f"in the box on the {end}"
            )
        if abs(x) > HALF_LENGTH - 25 and abs(y) < AREA_HALF:
            return self.one(f"at the edge of the {end} area", f"outside the penalty area on the {end}")
        if abs(x) < 9 and abs(y) < 9:
            return self.one("in the centre circle", "in the middle of the pitch")
        across = f"on the {flank} side" if abs(y) > 12 else "in the centre"
        along = f"{end} third" if abs(x) > 17.5 else f"{end} half"
        if abs(x) < 6:
            return self.one(f"{across} near the halfway line", f"by the halfway line, {across}")
        return self.one(f"{across} of the {along}", f"in the {along}, {across}", f"{across}, {along}")

    def way(self, start: Place, end: Place) -> str:
        """The direction of a movement in the picture."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        if max(abs(dx), abs(dy)) < 1.5:
            return "a short way"
        along = "right" if dx > 0 else "left"
        across = "far" if dy > 0 else "near"
        if abs(dx) > 2.2 * abs(dy):
            return self.one(f"to the {along}", f"towards the {along}")
        if abs(dy) > 2.2 * abs(dx):
            return self.one(f"to the {across} side", f"across to the {across} side")
        return self.one(f"to the {along}", f"to the {along} and the {across} side")

    def one(self, *lines: str) -> str:
        return lines[int(self.rng.integers(len(lines)))]

    # --- clauses

    def fill(self, lines: Sequence[str], side: Side, other: Side, place: Place, **more: str) -> str:
        """One of the wordings with its gaps filled; names come in the order in which the words do."""
        text = lines[int(self.rng.integers(len(lines)))]
        fields: dict[str, Callable[[], str]] = {
            "S": lambda: self.side(side),
            "P": lambda: self.player(side),
            "G": lambda: self.keeper(side),
            "O": lambda: self.side(other),
            "OP": lambda: self.player(other),
            "OG": lambda: self.keeper(other),
            "s": lambda: self.side(side) if self._named else f"in {self.shirt(side)}",
            "o": lambda: self.side(other) if self._named else f"the side in {self.shirt(other)}",
            "at": lambda: self.at(place),
            "at0": lambda: self.at(place).removeprefix("in ").removeprefix("on ").removeprefix("at "),
            "end": lambda: "right" if place[0] > 0 else "left",
            "near": lambda: "far" if place[1] > 0 else "near",
        }
        out = []
        for piece in text.split("{"):
            name, brace, rest = piece.partition("}")
            out.append(piece if not brace else (more[name] if name in more else fields[name]()) + rest)
        return "".join(out)

    def beat(self, beat: Beat) -> str:
        """A clause for something that happens."""
        key, table = _key(beat), CATCHWORDS if self.brief else BEATS
        lines = table.get(f"{key}.{beat.result}" if beat.result else key)
        ending = ""
        if lines is None:  # catchwords tell the result apart
            lines = table[key]
            ending = ", " + CATCHWORDS["goal!" if beat.result == "goal" else beat.result][0] if beat.result else ""
        other = beat.by if beat.by is not Side.NONE else beat.side.other
        away = 5 * round(beat.distance / 5)
        more = {
            "d": f"from {away} metres" if away >= 15 else self.one("from close range", "from inside the area"),
            "way": self.way(beat.place, beat.to) if beat.to is not None else "away",
            "n": _NUMBERS[min(beat.count, 6)],
        }
        if beat.kind is _K.FREE_KICK and beat.distance < 36 and self.rng.random() < 0.6:
            more["at"] = f"{round(beat.distance)} metres from goal, {self.at(beat.place)}"
        return " ".join((self.fill(lines, beat.side, other, beat.place, **more) + ending).split())

    def state(self, part: Part) -> str:
        """A clause for who has the ball where, or what play waits for."""
        key = part.state.value
        if part.state is State.PLAY:
            far = math.dist(part.start, part.end)
            key = "loose" if part.side is Side.NONE else "play.moves" if far > 8 and not part.beats else "play"
            if part.beats and not part.held:
                key = "flight"
        elif part.state is State.READY and part.restart is not None:
            key = f"ready.{_RESTARTS[part.restart]}"
        place = part.start if part.beats else part.end
        end = part.beats[0].place if key == "flight" else part.end
        return self.fill(STATES[key], part.side, part.side.other, place, way=self.way(part.start, end))

    def close(self, part: Part) -> str:
        target = part.shot.target
        if target is None or target == FOURTH:
            return self.one(*CLOSE["board"])
        key = f"card.{part.card}" if part.card else _POSES.get(part.pose)
        pose = "" if key is None or (key in ("stand", "walk") and self.rng.random() < 0.5) else self.one(*POSES[key])
        if target == 22:
            return self.fill(CLOSE["referee"], Side.NONE, Side.NONE, part.start, pose=_after(pose))
        side = Side.HOME if target < 11 else Side.AWAY
        if target in (0, 11):
            tone = colour(self.fixture.club(side).keeper_kit.shirt)
            return self.fill(CLOSE["keeper"], side, side.other, part.start, pose=f" in {tone}{_after(pose)}")
        self._introduce.discard(side)
        who = self.player(side)
        if self._named or self.rng.random() < 0.4:
            who = f"{who.partition(' in ')[0]} in {self.shirt(side, whole=bool(self.rng.random() < 0.6))}"
        if (number := self.number(part)) and self.rng.random() < 0.5:
            who += f", number {number}"
        return self.fill(CLOSE["player"], side, side.other, part.start, P=who, pose=_after(pose))

    def number(self, part: Part) -> int:
        """The number on his back; 0 where it is not to be seen."""
        if not part.back or part.shot.target is None:
            return 0
        player = self.trace.player_at(part.shot.target, int(part.low))
        side = Side.HOME if part.shot.target < 11 else Side.AWAY
        return 0 if player is None else self.fixture.club(side).squad[player].number

    def chosen(self, part: Part) -> list[Beat]:
        """The beats that are told, in order of time."""
        ranked = sorted(part.beats, key=lambda beat: (-_WEIGHT[beat.kind], beat.step))[: self.most]
        return [beat for beat in part.beats if beat in ranked]

    # --- texts

    def prose(self) -> str:
        """Sentences, camera by camera; what lies over the picture before or after."""
        sentences = [self.part(place, part) for place, part in enumerate(self.sight.parts)]
        if not sentences:
            sentences = ["a wipe covers the picture"]
        elif self.sight.wipes and self.rng.random() < 0.5:
            place = len(sentences) if self.sight.parts[-1].kind is not ShotKind.REPLAY else 0
            sentences.insert(place, "a wipe crosses the picture")
        sentences.extend(self.graphic(each) for each in self.sight.graphics)
        board = self.sight.board
        if board is not None and (board.before != board.after or (self.rng.random() < 0.5 and self.most > 2)):
            changed = board.before != board.after
            sentences.insert(len(sentences) if changed or self.rng.random() < 0.6 else 0, self.board(board))
        short = sum(len(each.split()) for each in sentences) < 13
        if self.most > 2 and self.sight.parts and (short or self.rng.random() < 0.12):
            sentences.insert(len(sentences) if self.rng.random() < 0.7 else 0, self.extra())
        return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)

    def extra(self) -> str:
        """What is always there to be seen: who wears what and, from the main camera, who attacks where."""
        ways = ("right", "left") if self.sight.home_attacks > 0 else ("left", "right")
        main = any(part.kind is ShotKind.MAIN for part in self.sight.parts)
        if not self._named:
            one, two = (f"the side in {self.shirt(side)}" for side in (Side.HOME, Side.AWAY))
            return self.one(f"{one} against {two}", f"{two} against {one}") if told_apart(self.fixture) else "a match"
        place = int(self.rng.integers(2))
        side = (Side.HOME, Side.AWAY)[place]
        if main and self.rng.random() < 0.5:
            return f"{side.value} attack to the {ways[place]}"
        kits = [
            f"{each.value} {{}} {self.shirt(each, whole=bool(self.rng.random() < 0.3))}" for each in (side, side.other)
        ]
        return f"{kits[0].format(self.one('play in', 'wear'))}, {kits[1].format('in')}"

    def part(self, place: int, part: Part) -> str:
        """A sentence for one camera."""
        if part.kind is ShotKind.CLOSE:
            return (self.one("then ", "cut to ", "") if place else "") + self.close(part)
        told = [self.beat(beat) for beat in self.chosen(part)]
        if part.kind is ShotKind.REPLAY:
            opening = self.one("a slow-motion replay", "a replay", "the replay", "a replay in slow motion")
            if not told:
                return f"{opening} of play {self.at(part.end)}"
            return f"{opening}: {_listed(told, self.rng)}"
        if self.leads(part):
            # what stands at the end comes last; who has the ball, first
            told.insert(0 if part.state in (State.PLAY, State.KEEPER) else len(told), self.state(part))
        opening = ""
        if place:
            opening = self.one("back on the main camera, ", "then the main camera: ", "then ")
        elif self.rng.random() < 0.3:
            opening = self.one("main camera: ", "wide view: ", "on the main camera, ")
        return opening + _listed(told, self.rng)

    def leads(self, part: Part) -> bool:
        """Whether who has the ball is told first: not where the first beat says so itself."""
        if not part.beats:
            return True
        first = self.chosen(part)[0]
        if part.state is State.PLAY:
            late = first.step > part.low + 4
            if not part.held:  # in the air at first: worth a word where it flies far
                return late and first.kind not in _RESTARTS and math.dist(part.start, first.place) > 12
            return (first.kind is _K.PASS or late) and first.kind not in _RESTARTS
        if part.state is State.STOPPED:
            return False
        return part.state is not State.KEEPER or first.step > part.low + 4

    def board(self, board: Board) -> str:
        (home, away), (were_home, were_away) = board.after, board.before
        if board.before != board.after:
            return self.one(
                f"the scoreboard changes from {were_home}-{were_away} to {home}-{away}",
                f"the score goes from {were_home}-{were_away} to {home}-{away}",
            )
        told = [f"the score is {home}-{away}", f"{home}-{away} on the scoreboard", f"the board shows {home}-{away}"]
        ahead = "home lead" if home > away else "away lead" if away > home else "level at"
        told.append(f"{ahead} {home}-{away}")
        text = self.one(*told)
        if self.rng.random() < 0.3:
            text += f" in minute {board.minute + 1}"
        if board.added and self.rng.random() < 0.5:
            text += f", {board.added} added"
        return text

    def graphic(self, graphic: Graphic) -> str:
        squad = self.fixture.club(graphic.side).squad
        on = squad[graphic.number].number
        side = graphic.side.value
        if graphic.kind is GraphicKind.SUBSTITUTION:
            off = "" if graphic.other is None else f", {squad[graphic.other].number} off"
            return self.one(
                f"a graphic shows a change for {side}: {on} on{off}", f"substitution graphic, {side}, {on} on{off}"
            )
        kind = {GraphicKind.YELLOW: "yellow card", GraphicKind.RED: "red card"}.get(graphic.kind, "second yellow card")
        return self.one(f"a graphic shows a {kind} for {side} number {on}", f"{kind} graphic for {side}, number {on}")

    def catchwords(self) -> str:
        """The same as a list."""
        words: list[str] = []
        if (board := self.sight.board) is not None:
            if board.before != board.after:
                words.append(f"score {board.before[0]}-{board.before[1]} to {board.after[0]}-{board.after[1]}")
            elif self.rng.random() < 0.5:
                words.append(f"score {board.after[0]}-{board.after[1]}")
            if self.rng.random() < 0.6:
                words.extend(f"{side.value} in {self.shirt(side)}" for side in (Side.HOME, Side.AWAY))
        for part in self.sight.parts:
            told = [self.beat(beat) for beat in self.chosen(part)]
            if part.kind is ShotKind.CLOSE:
                words.append(self.close(part).removeprefix("a "))
            elif part.kind is ShotKind.REPLAY:
                words.append("replay: " + ", ".join(told or [f"play {self.at(part.end)}"]))
            else:
                if self.leads(part):
                    told.insert(0 if part.state in (State.PLAY, State.KEEPER) else len(told), self._held(part))
                words.extend(("main camera", *told))
        words.extend(self.graphic(each).removeprefix("a ") for each in self.sight.graphics)
        if not self.sight.parts:
            words.append("wipe")
        return "; ".join(each for each in words if each)

    def _held(self, part: Part) -> str:
        if part.state is State.PLAY and part.side is not Side.NONE:
            return f"{part.side.value} ball {self.at(part.start)}"
        if part.state is State.READY and part.restart is not None:
            return f"waiting for {_RESTARTS[part.restart].replace('throw', 'throw-in')} {part.side.value}"
        return {State.KEEPER: "keeper holds the ball", State.JOY: f"{part.side.value} celebrate"}.get(
            part.state, "" if part.beats or part.state is State.PLAY else "play stopped"
        )


def _key(beat: Beat) -> str:
    """Under which key the wordings of a beat stand."""
    match beat.kind:
        case _K.PASS if beat.keeper and beat.how != "header":
            return "pass.keeper " + {How.THROW.value: "throw", How.LOFTED.value: "long"}.get(beat.how, "short")
        case _K.PASS:
            if beat.how == "header":
                return "pass.header"
            return "pass.long" if beat.how == How.LOFTED.value else "pass.more" if beat.count > 1 else "pass.one"
        case _K.SHOT:
            return {"header": "header", "free kick": "free", "late": "late"}.get(beat.how, "shot")
        case _K.CLEARANCE:
            return "clearance.header" if beat.how == "header" else "clearance"
        case _K.TACKLE | _K.SAVE | _K.CLAIM:
            return f"{beat.kind.value}.{beat.how}"
        case _K.GOAL:
            return "goal.own goal" if beat.how == "own goal" else "goal"
        case _K.BALL_OUT:
            return f"out.{beat.how}"
        case _K.FOUL:
            inside = abs(beat.place[0]) > HALF_LENGTH - AREA_DEPTH and abs(beat.place[1]) < AREA_HALF
            return "foul.area" if inside else "foul"
        case _K.YELLOW | _K.RED:
            return beat.kind.value
        case _K.SECOND_YELLOW:
            return "second"
        case _K.CROSS | _K.INTERCEPTION | _K.DRIBBLE | _K.BLOCK | _K.OFFSIDE | _K.SUBSTITUTION | _K.PENALTY:
            return beat.kind.value
        case _K.CORNER | _K.GOAL_KICK | _K.FREE_KICK if beat.how:
            return f"{_RESTARTS[beat.kind]}.{beat.how}"
        case kind:
            return _RESTARTS[kind]


def _after(pose: str) -> str:
    return f", {pose}" if pose else ""


def _listed(clauses: Sequence[str], rng: Generator) -> str:
    """Clauses in order of time."""
    joint = (", then ", "; ", ", ")[int(rng.integers(3))]
    return joint.join(clauses)

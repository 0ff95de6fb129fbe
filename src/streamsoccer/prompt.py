"""The prompt profile `paper_clean_v2` (paper table training_spec): every word that the language model is given.

    <|im_start|>system ... <|im_end|> <|im_start|>user   before the soft prefix
    P_theta(...)                                         K_p = 8 soft-prefix tokens
    task, match context, records <|im_end|> <|im_start|>assistant   after it

Historical records are text, best first; a prompt that is too long loses its lowest-ranked records, and says how many.
Names are never in it: texts hold placeholders, in the field's own spelling or, with `sided`, with the side where it is
known ("[TEAM]" as "[HOME TEAM]"). The fingerprint is a hash of all words and limits: weights go with one profile.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from streamsoccer.actions import CARDS, EventType, Label
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.config import to_mapping
from streamsoccer.domain import Placeholder, Side, SideTally, Tally, Track
from streamsoccer.errors import DataError, UsageError
from streamsoccer.record import MatchContext, Record

if TYPE_CHECKING:
    from streamsoccer.language import Prompt

__all__ = ["PromptConfig", "PromptTooLong", "Prompter", "Tokenizer", "fingerprint", "marked", "unsided"]

PROFILE = "paper_clean_v2"


class PromptTooLong(UsageError):
    """A prompt that is over its limit with no record left to drop."""


class Tokenizer(Protocol):
    """What is used of a Hugging Face tokenizer."""

    def encode(self, text: str, /, **options: Any) -> list[int]: ...

    def decode(self, token_ids: Any, /, **options: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptConfig:
    """The paper's limits in tokens. `sided` is ours: placeholders that say whose they are."""

    profile: str = PROFILE
    prompt_tokens: int = 2048  # soft prefix included
    target_tokens: int = 128  # a commentary target with its end of turn, stage 3
    generated_tokens: int = 96
    record_tokens: int = 64  # of a record's text in a prompt, as long as a generated caption can be
    caption_target_tokens: int = 192  # a caption target with its end of turn, stage 2
    sided: bool = False

    def __post_init__(self) -> None:
        if self.profile != PROFILE:
            raise UsageError(f"there is no prompt profile {self.profile!r}", remedy=f"use {PROFILE}")
        limits = (self.prompt_tokens, self.target_tokens, self.generated_tokens, self.record_tokens)
        if min(*limits, self.caption_target_tokens) < 1:
            raise UsageError("every limit of a prompt must be 1 token or more")


# --- words -----------------------------------------------------------------------------------------------------------

_END = "<|im_end|>"
_BEFORE = f"<|im_start|>system\n{{system}}{_END}\n<|im_start|>user\n"
_TAIL = f"{_END}\n<|im_start|>assistant\n"
_SYSTEM = "You are a live soccer commentator. You know only what has happened so far. Write {names} instead of names."
_NAMES = "[TEAM], [PLAYER], [COACH] and [REFEREE]"
_SIDED_NAMES = "[HOME TEAM], [AWAY TEAM], [HOME PLAYER], [AWAY PLAYER], [HOME COACH], [AWAY COACH] and [REFEREE]"
_RECORD_TASK = "This is an event that has just ended. Note down what was done and how it ended."
_TASKS = {
    Track.CURRENT: "This is an event that has just ended. Comment on it in one sentence.",
    Track.RECENT: "This is the play now and the last events. Sum up the last three minutes in one sentence.",
    Track.HISTORICAL: "This is the play now and the last events. Say in one sentence what happens now and how it"
    " relates to what came earlier.",
}
_EARLIER = "Earlier in this half:\n"
_NOTHING = "Nothing is noted.\n"
# A commentator counts these; the score and the cards have a place of their own.
_UNCOUNTED = {*CARDS, Label.GOAL, Label.KICK_OFF, Label.BALL_OUT, Label.END_OF_PERIOD}
_COUNTED = tuple(each for each in Label if each not in _UNCOUNTED)


def _before(config: PromptConfig) -> str:
    return _BEFORE.format(system=_SYSTEM.format(names=_SIDED_NAMES if config.sided else _NAMES))


def _match(context: MatchContext) -> str:
    """'Half 1, minute 23. Score (home-away) 1-0, yellow cards 1-2.': cards where there were any."""
    words = f"Half {context.at.half}, minute {int(context.at.seconds // 60) + 1}."
    if context.tally is None:
        return f"{words}\n"
    home, away = context.tally.home, context.tally.away
    parts = [f"{home.goals}-{away.goals}"]
    if home.yellow_cards or away.yellow_cards:
        parts.append(f"yellow cards {home.yellow_cards}-{away.yellow_cards}")
    if home.red_cards or away.red_cards:
        parts.append(f"red cards {home.red_cards}-{away.red_cards}")
    return f"{words} Score ({'home-away' if context.sure else 'home-away, unsure'}) {', '.join(parts)}.\n"


def _counts(tally: Tally) -> str:
    """'Home: corner 3, foul 5. Away: foul 1.': what each side has done in the match."""

    def of(side: SideTally) -> str:
        known = [f"{label.value.lower()} {side.counts[label]}" for label in _COUNTED if side.counts.get(label)]
        return ", ".join(known) or "nothing"

    return f"Home: {of(tally.home)}. Away: {of(tally.away)}.\n"


def _noted(record: Record, now: MatchTime) -> str:
    """'- 6 min ago, home, corner, shots on target:', in front of the record's text."""
    middle = (record.start.seconds + record.end.seconds) / 2
    side = [] if record.side is Side.NONE else [record.side.value]
    done = [each.value.lower() for each in dict.fromkeys(record.actions)] or [record.type.value.replace("_", " ")]
    return f"- {', '.join([f'{round((now.seconds - middle) / 60)} min ago', *side, *done])}:"


def _after(track: Track | None, context: MatchContext) -> Iterator[str]:
    """What follows the soft prefix, up to the records; no track asks for a record's caption."""
    yield f"\n{_RECORD_TASK if track is None else _TASKS[track]}\n"
    yield _match(context)
    if track is Track.HISTORICAL:
        if context.tally is not None:
            yield _counts(context.tally)
        yield _EARLIER


# --- placeholders ----------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"\[(?:(HOME|AWAY) )?(TEAM|PLAYER|COACH)\]|\[REFEREE\]")
_PLAIN_PLACE = re.compile(r"\[(?:TEAM|PLAYER|COACH|REFEREE)\]")
_MARKUP = re.compile(r"<\|[^|<>]*\|>")


def marked(text: str, placeholders: Sequence[Placeholder]) -> str:
    """The text with each placeholder's side where it is known: '[TEAM]' as '[HOME TEAM]'; a referee has none."""
    found = _PLAIN_PLACE.findall(text)
    if not placeholders:
        return text
    if found != [each.token for each in placeholders]:
        raise DataError(
            f"the placeholders {[each.token for each in placeholders]} are not those of the text {text!r}",
            remedy="rebuild the manifests: a text goes with all its placeholders in order",
        )
    each = iter(placeholders)

    def mark(place: re.Match[str]) -> str:
        side = next(each).side
        return place[0] if side is Side.NONE or place[0] == "[REFEREE]" else f"[{side.name} {place[0][1:]}"

    return _PLAIN_PLACE.sub(mark, text)


def unsided(text: str) -> tuple[str, tuple[Placeholder, ...]]:
    """The text with the field's plain placeholders, and the placeholders in order with the sides that it gave them."""
    placeholders: list[Placeholder] = []

    def plain(place: re.Match[str]) -> str:
        token = "[REFEREE]" if place[2] is None else f"[{place[2]}]"
        placeholders.append(Placeholder(token=token, side=Side.NONE if place[1] is None else Side[place[1]]))
        return token

    return _PLACE.sub(plain, text), tuple(placeholders)


def _one_line(text: str) -> str:
    """Free text in one line, and with nothing in it that a tokenizer would read as the end of a turn."""
    return " ".join(text.replace("<|", "< |").split())


# --- prompts ---------------------------------------------------------------------------------------------------------


class Prompter:
    """The words of the profile as tokens of one tokenizer. It keeps nothing of a match but encoded pieces of text."""

    def __init__(self, tokenizer: Tokenizer, config: PromptConfig | None = None, prefix_tokens: int = 8) -> None:
        self.config = config or PromptConfig()
        self.prefix_tokens = prefix_tokens
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}
        end = self._ids(_END)
        if len(end) != 1:
            raise UsageError(
                f"the tokenizer spells {_END} with {len(end)} tokens", remedy="use the tokenizer of a Qwen chat model"
            )
        self.end_of_turn = end[0]
        self._before = self._ids(_before(self.config))
        self._tail = self._ids(_TAIL)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.config, self.prefix_tokens)

    def record(self, context: MatchContext) -> Prompt:
        """Asks for the caption c_j of one completed memory (stage 2)."""
        return self._prompt("a record", [self._ids(each) for each in _after(None, context)])

    def commentary(self, track: Track, context: MatchContext, records: Sequence[Record] = ()) -> tuple[Prompt, int]:
        """Asks for one sentence of a track; with it, how many of the lowest-ranked records there was no room for.

        Records come best first, stand in the historical track alone, and are admitted at the context's own time.
        """
        parts = [self._ids(each) for each in _after(track, context)]
        what = f"the {track.value} track"
        if track is not Track.HISTORICAL:
            if records:
                raise UsageError(f"{what} has no place for records")
            return self._prompt(what, parts), 0
        cutoff = Cutoff(context.at)
        lines = [self._line(cutoff.admit(each), context.at) for each in records]
        room = self.config.prompt_tokens - self._length(parts)
        kept = len(lines)
        while kept and sum(len(each) for each in lines[:kept]) > room:
            kept -= 1
        noted = lines[:kept] if kept else [self._ids(_NOTHING)]
        return self._prompt(what, [*parts, *noted]), len(lines) - kept

    def _line(self, record: Record, now: MatchTime) -> tuple[int, ...]:
        text = _one_line(self._said(record.text, record.placeholders))
        return self._ids(_noted(record, now)) + self._ids(f" {text}")[: self.config.record_tokens] + self._ids("\n")

    def _prompt(self, what: str, parts: Sequence[tuple[int, ...]]) -> Prompt:
        from streamsoccer.language import Prompt  # torch comes with it, and configurations are read without

        if (length := self._length(parts)) > self.config.prompt_tokens:
            raise PromptTooLong(
                f"the prompt of {what} takes {length} tokens, {self.config.prompt_tokens} are allowed",
                remedy="raise prompt_tokens",
            )
        return Prompt(before=self._before, after=tuple(one for part in parts for one in part) + self._tail)

    def _length(self, parts: Sequence[tuple[int, ...]]) -> int:
        return len(self._before) + self.prefix_tokens + sum(len(each) for each in parts) + len(self._tail)

    def target(self, text: str, placeholders: Sequence[Placeholder] = (), *, caption: bool = False) -> tuple[int, ...]:
        """What is to be learned: the text and the end of turn, cut to target_tokens, or to caption_target_tokens for a
        stage 2 `caption`. A cut text keeps its end of turn; `cut` says how much was lost."""
        ids = self._target_ids(text, placeholders)
        return (*ids[: self._limit(caption) - 1], self.end_of_turn)

    def cut(self, text: str, placeholders: Sequence[Placeholder] = (), *, caption: bool = False) -> int:
        """How many tokens of this text the limit takes away from its target."""
        return max(0, len(self._target_ids(text, placeholders)) + 1 - self._limit(caption))

    def text(self, generated: Sequence[int] | str) -> str:
        """What was generated, up to the end of the turn, in one line and without the template's own tokens.

        Bytes that make no character are left out: a model may say half of one.
        """
        if isinstance(generated, str):
            words = generated
        else:
            ids = [int(each) for each in generated]
            if self.end_of_turn in ids:
                ids = ids[: ids.index(self.end_of_turn)]
            words = str(self._tokenizer.decode(ids, skip_special_tokens=True)).replace("\ufffd", "")
        return " ".join(_MARKUP.sub("", words.split(_END)[0]).split())

    def unsided(self, text: str) -> tuple[str, tuple[Placeholder, ...]]:
        """Generated text with the field's plain placeholders, and their sides where the text gave them."""
        return unsided(text)

    def words(self, prompt: Prompt) -> str:
        """A prompt as a person reads it, the soft prefix as a mark."""
        before, after = (str(self._tokenizer.decode(list(each))) for each in (prompt.before, prompt.after))
        return f"{before}({self.prefix_tokens} memory tokens){after}"

    def _target_ids(self, text: str, placeholders: Sequence[Placeholder]) -> tuple[int, ...]:
        return self._ids(_one_line(self._said(text, placeholders)))

    def _said(self, text: str, placeholders: Sequence[Placeholder]) -> str:
        return marked(text, placeholders) if self.config.sided else text

    def _limit(self, caption: bool) -> int:
        return self.config.caption_target_tokens if caption else self.config.target_tokens

    def _ids(self, text: str) -> tuple[int, ...]:
        known = self._known.get(text)
        if known is None:
            known = tuple(self._tokenizer.encode(text, add_special_tokens=False))
            if len(self._known) >= 4096:  # a few matches; what is constant is soon there again
                self._known.clear()
            self._known[text] = known
        return known


# --- the profile's hash ----------------------------------------------------------------------------------------------


def fingerprint(config: PromptConfig, prefix_tokens: int = 8) -> str:
    """A hash of every word and limit: prompts of made-up contexts that use all of them, and the configuration."""
    at = MatchTime(1, 605.0)
    side = SideTally(goals=1, yellow_cards=2, red_cards=1, counts=dict.fromkeys(Label, 3))
    contexts = [
        MatchContext(at=at),
        MatchContext(at=at, tally=Tally()),
        MatchContext(at=at, tally=Tally(home=side), sure=False),
        MatchContext(at=at, tally=Tally(away=side)),
    ]
    records = [_example(at, Side.NONE, ()), _example(at, Side.HOME, tuple(Label)), _example(at, Side.AWAY, ())]
    said = [
        _before(config),
        *("".join(_after(track, context)) for track in (None, *Track) for context in contexts),
        *(_noted(each, at) for each in records),
        marked(*unsided(_SIDED_NAMES)),
        _NOTHING,
        _TAIL,
    ]
    whole = json.dumps([said, to_mapping(config), prefix_tokens], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _example(at: MatchTime, side: Side, actions: tuple[Label, ...]) -> Record:
    start, end = MatchTime(at.half, 200.0), MatchTime(at.half, 212.0)
    return Record(
        id="example#1-r0200",
        event="example#1-e0200",
        match="example",
        half=at.half,
        start=start,
        end=end,
        ready_at=end,
        type=EventType.OPEN_PLAY,
        actions=actions,
        side=side,
        context=MatchContext(at=end),
        text="",
        key=np.zeros(1, dtype=np.float32),
    )

"""Pairs of predictions and references for scorer tests, made the same way every time; no sentence is anyone's data."""

from __future__ import annotations

import random

# fmt: off
_WORDS = [
    "the", "a", "ball", "keeper", "striker", "shot", "corner", "cross", "foul", "card", "referee", "flag", "box",
    "post", "header", "save", "goal", "pass", "wide", "over", "down", "edge", "second", "first", "half", "crowd",
    "[PLAYER]", "[TEAM]", "([TEAM])", "It's", "doesn't", "3:0", "90+2", "mid-table", "café", "Özil", ".", ",", "!",
    "...", "-",
]
# fmt: on
_SIDES = ("[PLAYER] ([TEAM])", "[PLAYER]", "Here [PLAYER] ([TEAM])", "Substitute [PLAYER] ([TEAM])")
_DEEDS = (
    "lifts a corner towards the far post",
    "tries his luck from distance",
    "is late into the tackle and can't complain",
    "rises to meet the cross",
    "drags the free kick past the wall",
    "goes down the line and wins a throw-in",
)
_ENDS = (
    ", but the goalkeeper gathers it.",
    " and the ball goes out of play.",
    ", and [REFEREE] blows his whistle.",
    "! It's 2:1.",
    ", yet the defence doesn't panic.",
    ". [TEAM] win a corner.",
)


def random_pairs(count: int, seed: int = 1) -> tuple[list[str], list[list[str]]]:
    """Loose words: partial overlaps, equal pairs, empty outputs, one to three references."""
    draw = random.Random(seed)
    predictions, references = [], []
    for _ in range(count):
        texts = [
            " ".join(draw.choices(_WORDS, k=draw.randint(1, 25))) + " ball" for _ in range(draw.choice((1, 1, 2, 3)))
        ]
        words = [word for word in texts[0].split() if draw.random() < 0.7] + draw.choices(_WORDS, k=draw.randint(0, 8))
        predictions.append(draw.choice((" ".join(words),) * 8 + (texts[0], "")))
        references.append(texts)
    return predictions, references


def real_looking_pairs(count: int, seed: int = 2) -> tuple[list[str], list[list[str]]]:
    """Sentences in the manner of anonymised captions, where a prediction is often nearly right."""
    draw = random.Random(seed)

    def sentence() -> list[str]:
        return [draw.choice(part) for part in (_SIDES, _DEEDS, _ENDS)]

    predictions, references = [], []
    for _ in range(count):
        said = sentence()
        heard = [part if draw.random() < 0.5 else other for part, other in zip(said, sentence(), strict=True)]
        predictions.append(f"{heard[0]} {heard[1]}{heard[2]}")
        references.append([f"{said[0]} {said[1]}{said[2]}"])
    return predictions, references

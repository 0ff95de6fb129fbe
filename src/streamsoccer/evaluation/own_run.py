"""Front-end runs of a trained stage 1: as the memory cache holds them, or rolled anew with another threshold.

The threshold of b_t decides which resets happen, and so every memory after the first; a sweep therefore rolls the whole
half again for each value, from the cached event tokens. The threshold is chosen on validation matches alone.

T clips, A actions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from streamsoccer.encoder import EventEncoder
from streamsoccer.errors import DataError
from streamsoccer.evaluation.frontend import HalfRun, Span, score_transitions
from streamsoccer.heads import SIDES, TYPES
from streamsoccer.training.corpus import Half
from streamsoccer.training.memory_cache import MemoryCache

__all__ = ["THRESHOLDS", "Choice", "cached_runs", "choose_threshold", "rolled_runs"]

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(4, 18))


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The threshold with the best exact transition F1 on these halves, and the whole curve."""

    threshold: float
    curve: dict[float, dict[str, float]]


def cached_runs(cache: MemoryCache, halves: Sequence[Half]) -> list[HalfRun]:
    """The own run as the cache holds it."""
    runs, threshold = [], float(cache.header.threshold)
    for half in halves:
        _require(cache, half)
        logits = cache.signal(half.match, half.half, "transition")
        resets = cache.signal(half.match, half.half, "reset.own")
        kinds = cache.signal(half.match, half.half, "event_type")
        sides = cache.signal(half.match, half.half, "event_side")
        runs.append(
            HalfRun(
                half=half,
                transition=_fired(logits, threshold),
                spans=_spans(resets, kinds, sides),
                actions=cache.signal(half.match, half.half, "clip_actions").double().numpy(),
            )
        )
    return runs


def rolled_runs(
    encoder: EventEncoder,
    cache: MemoryCache,
    halves: Sequence[Half],
    *,
    threshold: float | None = None,
    streams: int = 32,
    given: bool = True,
) -> list[HalfRun]:
    """The own run with this threshold (or the encoder's), several halves side by side; `given`: also the types of the
    label events, read off the memories under the labels' resets."""
    runs: dict[str, HalfRun] = {}
    device = encoder.adapter.queries.device
    ordered = sorted(halves, key=lambda each: each.clips)
    encoder.eval()
    chosen = encoder.transition.config.threshold if threshold is None else threshold
    with _threshold(encoder, chosen), torch.inference_mode():
        for begin in range(0, len(ordered), streams):
            group = ordered[begin : begin + streams]
            for half in group:
                _require(cache, half)
            tokens = _padded(cache, group, "event_tokens").to(device)
            actions = _padded(cache, group, "clip_actions").to(device)
            counts = torch.tensor([each.clips for each in group], device=device)
            arrived = torch.arange(tokens.shape[1], device=device)[None] < counts[:, None]
            _, own = encoder.roll(tokens, actions, encoder.start(len(group)), arrived)
            for row, half in enumerate(group):
                memory = own.memory[row, : half.clips]
                _, kinds, sides = encoder.event_heads(memory)
                runs[half.name] = HalfRun(
                    half=half,
                    transition=_fired(own.transition[row, : half.clips], chosen),
                    spans=_spans(own.reset[row, : half.clips], kinds, sides),
                    given=_given(encoder, cache, half) if given else (),
                    actions=actions[row, : half.clips].double().cpu().numpy(),
                )
    return [runs[each.name] for each in halves]


def choose_threshold(
    encoder: EventEncoder, cache: MemoryCache, halves: Sequence[Half], thresholds: Sequence[float] = THRESHOLDS
) -> Choice:
    """Sweep the threshold over validation halves; of equals the one nearest to a half."""
    curve = {
        each: score_transitions(rolled_runs(encoder, cache, halves, threshold=each, given=False)) for each in thresholds
    }
    best = max(thresholds, key=lambda each: (curve[each]["transition_f1_exact"], -abs(each - 0.5)))
    return Choice(threshold=best, curve=curve)


@contextmanager
def _threshold(encoder: EventEncoder, threshold: float) -> Iterator[None]:
    held = encoder.transition.config
    encoder.transition.config = replace(held, threshold=threshold)
    try:
        yield
    finally:
        encoder.transition.config = held


def _require(cache: MemoryCache, half: Half) -> None:
    if not cache.has(half.match, half.half):
        raise DataError(
            f"holds nothing of {half.match}, half {half.half}",
            where=cache.folder,
            remedy="run `streamsoccer train cache-memory` for this split",
        )
    if (count := cache.clips(half.match, half.half)) != half.clips:
        raise DataError(
            f"{half.match}, half {half.half}: {count} clips, the manifests have {half.clips}", where=cache.folder
        )


def _padded(cache: MemoryCache, group: Sequence[Half], name: str) -> Tensor:
    held = [cache.signal(each.match, each.half, name).float() for each in group]
    return torch.nn.utils.rnn.pad_sequence(held, batch_first=True)


def _fired(logits: Tensor, threshold: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """b_t [T]; nothing can end on the first clip of a half."""
    fired = (torch.sigmoid(logits.float()) >= threshold).cpu().numpy()
    fired[0] = False
    return np.asarray(fired, dtype=bool)


def _spans(resets: Tensor, kinds: Tensor, sides: Tensor) -> tuple[Span, ...]:
    """The own events with the heads' reading of each one's last memory."""
    firsts = resets.nonzero()[:, 0].tolist()
    if not firsts or firsts[0] != 0:
        firsts.insert(0, 0)
    lasts = [*(each - 1 for each in firsts[1:]), len(resets) - 1]
    kind, side = kinds.argmax(-1).tolist(), sides.argmax(-1).tolist()
    return tuple(
        Span(first=first, last=last, type=TYPES[kind[last]], side=SIDES[side[last]])
        for first, last in zip(firsts, lasts, strict=True)
    )


def _given(encoder: EventEncoder, cache: MemoryCache, half: Half) -> tuple[Span, ...]:
    lasts = [each.first + each.clips - 1 for each in half.events]
    memory = cache.signal(half.match, half.half, "memory.labels")[lasts].float()
    _, kinds, sides = encoder.event_heads(memory.to(encoder.adapter.queries.device))
    kind, side = kinds.argmax(-1).tolist(), sides.argmax(-1).tolist()
    return tuple(
        Span(first=event.first, last=last, type=TYPES[kind[at]], side=SIDES[side[at]])
        for at, (event, last) in enumerate(zip(half.events, lasts, strict=True))
    )

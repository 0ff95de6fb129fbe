"""The league is no toy: what a linear probe on thumbnails, colours and frame differences can tell of its events.

The probe sees, for each clip and the one before it, thumbnails of the first and last frame, the colour histogram, and
how much each part of the picture changes. It is trained on matches of the train world, its threshold is chosen on the
validation world, and it is judged once on the test world. What needs no picture at all stands beside it.
"""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from results import record
from streamsoccer.clip import Clip
from streamsoccer.clock import MatchTime
from streamsoccer.data.eventizer import clip_end, clip_of, eventize, transitions
from streamsoccer.domain import Action, Side
from streamsoccer.league.match import Match

MATCHES = {"train": 3, "validation": 1, "test": 2}
GRID = (7, 12)  # rows and columns of a thumbnail
BINS = 8


def thumbnail(frame: np.ndarray) -> np.ndarray:
    rows, columns = GRID
    height, width = frame.shape[0] // rows * rows, frame.shape[1] // columns * columns
    cells = frame[:height, :width].reshape(rows, height // rows, columns, width // columns, 3)
    return cells.mean(axis=(1, 3)).ravel() / 255


def features(clip: Clip) -> np.ndarray:
    """What the probe sees of one clip."""
    frames = clip.frames.astype(np.float32)
    histogram = [np.histogram(clip.frames[..., channel], BINS, (0, 256))[0] for channel in range(3)]
    changes = np.abs(np.diff(frames, axis=0)).mean(axis=0) if len(frames) > 1 else np.zeros_like(frames[0])
    jumps = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3)) if len(frames) > 1 else np.zeros(1)
    colours = np.concatenate(histogram) / clip.frames[..., 0].size
    peaks = np.array([jumps.max(), jumps.mean(), jumps.min()]) / 255
    return np.concatenate([thumbnail(clip.frames[0]), thumbnail(clip.frames[-1]), colours, thumbnail(changes), peaks])


def halves(match: Match) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Features, targets and validity of each clip of each half."""
    seen: dict[int, list[np.ndarray]] = {}
    for clip in match.clips():
        seen.setdefault(clip.half, []).append(features(clip))
    for trace in match.halves:
        actions = [
            Action(
                label=deed.label,
                side=Side.NONE,
                at=MatchTime(trace.half, deed.at),
                available_at=MatchTime(trace.half, clip_end(clip_of(deed.at, trace.seconds), trace.seconds)),
            )
            for deed in trace.deeds
            if deed.label is not None
        ]
        targets = transitions(eventize(actions, trace.seconds, trace.half))
        rows = np.stack(seen[trace.half])[: len(targets)]
        before = np.concatenate([rows[:1], rows[:-1]])
        valid = np.array([mask is None for _, mask in targets])
        yield np.concatenate([rows, before], axis=1), np.array([target for target, _ in targets]), valid


def world(name: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    return [half for index in range(MATCHES[name]) for half in halves(Match(2031, world=name, index=index))]


def fit(rows: np.ndarray, targets: np.ndarray) -> torch.nn.Linear:
    torch.manual_seed(0)
    probe = torch.nn.Linear(rows.shape[1], 1)
    optimiser = torch.optim.AdamW(probe.parameters(), lr=1e-2, weight_decay=1e-2)
    x, y = torch.from_numpy(rows).float(), torch.from_numpy(targets).float()
    weight = (1 - y.mean()) / y.mean()
    for _ in range(600):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(probe(x)[:, 0], y, pos_weight=weight)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return probe


def f1(found: list[np.ndarray], wanted: list[np.ndarray], within: int) -> float:
    """One-to-one matching of clips at a distance of at most `within`, greedy in order of time, half by half."""
    hits = 0
    for each, targets in zip(found, wanted, strict=True):
        free = list(np.flatnonzero(targets))
        for place in np.flatnonzero(each):
            near = [other for other in free if abs(other - place) <= within]
            if near:
                free.remove(near[0])
                hits += 1
    total = sum(int(each.sum()) for each in found) + sum(int(each.sum()) for each in wanted)
    return 2 * hits / total if total else 0.0


def test_the_probes_score_counts_each_clip_once() -> None:
    wanted = [np.array([0, 1, 0, 0, 1, 0])]
    assert f1([np.array([1, 0, 1, 0, 0, 0])], wanted, within=1) == pytest.approx(0.5)
    assert f1([np.array([0, 1, 0, 0, 1, 0])], wanted, within=0) == 1.0
    assert f1([np.array([0, 0, 1, 0, 0, 0])], wanted, within=0) == 0.0


@pytest.mark.acceptance
def test_a_linear_probe_finds_few_of_the_operational_transitions() -> None:
    training, validation, testing = (world(name) for name in ("train", "validation", "test"))
    rows = np.concatenate([rows[valid] for rows, _, valid in training])
    centre, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-3
    probe = fit((rows - centre) / scale, np.concatenate([targets[valid] for _, targets, valid in training]))

    def scores(halves: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[np.ndarray]:
        with torch.inference_mode():
            return [
                np.where(valid, probe(torch.from_numpy((rows - centre) / scale).float())[:, 0].numpy(), -np.inf)
                for rows, _, valid in halves
            ]

    def judged(halves: list[tuple[np.ndarray, np.ndarray, np.ndarray]], threshold: float, within: int) -> float:
        return f1([each > threshold for each in scores(halves)], [targets for _, targets, _ in halves], within)

    def best(within: int) -> float:
        everything = np.concatenate(scores(validation))
        candidates = np.quantile(everything[np.isfinite(everything)], np.linspace(0, 0.98, 50))
        return max(candidates, key=lambda threshold: judged(validation, threshold, within))

    wanted = [targets for _, targets, _ in testing]

    def every(step: int) -> list[np.ndarray]:
        return [np.arange(len(targets)) % step == 0 for targets in wanted]

    figures = {
        "exact": round(judged(testing, best(0), 0), 4),
        "within one clip": round(judged(testing, best(1), 1), 4),
        "without pictures: every clip, exact": round(f1(every(1), wanted, 0), 4),
        "without pictures: every third clip, within one clip": round(f1(every(3), wanted, 1), 4),
        "share of clips with a transition": round(float(np.mean(np.concatenate([t for _, t, _ in testing]))), 4),
        "matches": MATCHES,
    }
    record("league_probe", figures, "pytest tests/test_league_probe.py -m acceptance")
    assert figures["within one clip"] <= 0.5, figures

"""`streamsoccer evaluate frontend`: a memory cache against its manifests, with the ceiling beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsoccer.domain import Split
from streamsoccer.evaluation.frontend import FrontEndScores, score_front_end, visible_ceiling
from streamsoccer.evaluation.own_run import Choice, cached_runs, choose_threshold, rolled_runs
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory_cache import MemoryCache

if TYPE_CHECKING:
    from streamsoccer.encoder import EventEncoder

__all__ = ["FrontEndReport", "evaluate_front_end", "load_encoder"]

# What is shown first, and what the ceiling can be compared in.
_SHOWN = (
    "transition_f1_exact",
    "transition_f1_within_one",
    "transition_f1_forgiving",
    "event_type_macro_f1",
    "event_type_accuracy",
    "event_side_accuracy",
    "event_given_boundaries_type_macro_f1",
    "event_given_boundaries_type_accuracy",
    "event_given_boundaries_side_accuracy",
    "clip_action_map",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontEndReport:
    """The scores, the ceiling of a perfect detector of visible actions, and how the threshold came about."""

    split: Split
    threshold: float
    scores: FrontEndScores
    ceiling: FrontEndScores
    choice: Choice | None = None

    def to_json(self) -> dict[str, Any]:
        """The scores by name at the top; the ceiling, the sweep and how it was counted below."""
        made: dict[str, Any] = {"split": self.split.value, "threshold": self.threshold, **self.scores.to_json()}
        made["ceiling"] = self.ceiling.to_json()
        if self.choice is not None:
            made["sweep"] = {f"{each:g}": values for each, values in self.choice.curve.items()}
        made["threshold_from"] = "a sweep over validation matches" if self.choice else "the memory cache"
        return made

    def to_text(self) -> str:
        scores, ceiling = self.scores, self.ceiling
        how = "chosen on validation" if self.choice else "as in the cache"
        lines = [
            f"{self.split.value}: {scores.matches} matches, {scores.clips} clips; threshold {self.threshold:g} ({how})",
            f"{'':42s} {'model':>7s}  95% interval       visible actions, perfectly seen",
        ]
        for name in _SHOWN:
            if name in scores.values:
                interval = scores.intervals.get(name)
                between = f"[{interval.low:.4f}, {interval.high:.4f}]" if interval else ""
                best = f"{ceiling.values[name]:.4f}" if name in ceiling.values else ""
                lines.append(f"{name:42s} {scores.values[name]:7.4f}  {between:18s} {best}")
        lines += ["", f"{'event type':24s}      F1  events"]
        lines += [f"{name:24s}  {each['f1']:.4f}  {each['events']:6.0f}" for name, each in scores.by_type.items()]
        if scores.by_action:
            lines += ["", f"{'clip action':24s}      AP   clips"]
            lines += [
                f"{name:24s}  {each['ap']:.4f}  {each['positives']:6.0f}" for name, each in scores.by_action.items()
            ]
        return "\n".join(lines)


def load_encoder(folder: Path, device: str = "cpu") -> EventEncoder:
    """Stage 1 of a checkpoint, without its backbone."""
    from streamsoccer.checkpoint import load_weights, read_checkpoint
    from streamsoccer.model import StreamSoccer

    checkpoint = read_checkpoint(folder)
    model = StreamSoccer(checkpoint.model, checkpoint.widths)
    load_weights(checkpoint, model, ["encoder"])
    return model.encoder.to(device).eval()


def evaluate_front_end(
    data: Path,
    cache: Path,
    *,
    model: Path | None = None,
    split: Split = Split.TEST,
    sweep: bool = True,
    device: str = "cpu",
    replicates: int = 10_000,
    seed: int = 0,
) -> FrontEndReport:
    """Score a split. With the model the threshold is swept on the validation split, where the cache holds it; without,
    the cache's own run stands."""
    corpus, memories = Corpus(data), MemoryCache(cache)
    halves, choice = corpus.of(split), None
    if model is None:
        runs, threshold = cached_runs(memories, halves), float(memories.header.threshold)
    else:
        from streamsoccer.checkpoint import read_checkpoint

        memories = MemoryCache(cache, encoder=read_checkpoint(model).hashes.get("encoder"))
        encoder = load_encoder(model, device)
        threshold = encoder.transition.config.threshold
        if sweep:
            choice = choose_threshold(encoder, memories, corpus.of(Split.VALIDATION))
            threshold = choice.threshold
        runs = rolled_runs(encoder, memories, halves, threshold=threshold)
    return FrontEndReport(
        split=split,
        threshold=threshold,
        scores=score_front_end(runs, replicates=replicates, seed=seed),
        ceiling=score_front_end(visible_ceiling(halves), replicates=replicates, seed=seed),
        choice=choice,
    )

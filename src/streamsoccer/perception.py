"""What the stage 1 heads say of a completed memory M_j^c: its type, its actions, whose they are, and how sure.

At run time nothing else is known of an event: no label, no annotation. Thresholds are chosen on validation matches and
are stored with the model (runtime.py).

n memories, K slots, D = d_m
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamsoccer.actions import PRIORITY, EventType, Label, label
from streamsoccer.domain import Side
from streamsoccer.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

    from streamsoccer.model import StreamSoccer

__all__ = ["Perceived", "PerceptionConfig", "perceive"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PerceptionConfig:
    """From which probability on an action of an event is believed; `thresholds` by SoccerNet's label."""

    threshold: float = 0.5
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("threshold", self.threshold), *self.thresholds.items()):
            if name != "threshold":
                label(name)
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"{name} is {value}, no probability", remedy="use 0 to 1")

    def of(self, action: Label) -> float:
        return self.thresholds.get(action.value, self.threshold)


@dataclass(frozen=True, kw_only=True, slots=True)
class Perceived:
    """An event as far as it is known: predicted, or taken from labels where a protocol says so."""

    type: EventType
    actions: tuple[Label, ...] = ()  # the most telling first
    side: Side = Side.NONE
    confidence: float = 1.0


def perceive(model: StreamSoccer, memories: Tensor, config: PerceptionConfig) -> list[Perceived]:
    """Type and side as the likeliest class, actions by their thresholds; memories [n, K, D]."""
    import torch

    from streamsoccer.heads import ACTIONS, SIDES, TYPES

    actions, types, sides = model.encoder.event_heads(memories)
    sure, which = torch.softmax(types.float(), dim=-1).max(dim=-1)
    present = torch.sigmoid(actions.float()).tolist()
    found = []
    for row, (kind, confidence, side) in enumerate(
        zip(which.tolist(), sure.tolist(), sides.argmax(dim=-1).tolist(), strict=True)
    ):
        seen = [each for each, value in zip(ACTIONS, present[row], strict=True) if value >= config.of(each)]
        found.append(
            Perceived(
                type=TYPES[kind],
                actions=tuple(sorted(seen, key=PRIORITY.__getitem__)),
                side=SIDES[side],
                confidence=float(confidence),
            )
        )
    return found

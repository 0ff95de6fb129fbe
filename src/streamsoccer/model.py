"""The trainable boxes of the paper in one module, as a match and training use them; the backbone is beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from streamsoccer.adapter import AdapterConfig
from streamsoccer.backbone import Backbone
from streamsoccer.buffer import BufferConfig
from streamsoccer.encoder import EventEncoder
from streamsoccer.errors import UsageError
from streamsoccer.heads import ContextHeads, HeadsConfig
from streamsoccer.language import LanguageConfig
from streamsoccer.memory import MemoryConfig
from streamsoccer.projector import MemoryProjector, ProjectorConfig
from streamsoccer.prompt import PromptConfig
from streamsoccer.record import RecordConfig
from streamsoccer.retrieval import RetrievalConfig
from streamsoccer.transition import TransitionConfig
from streamsoccer.vision import VisionConfig

__all__ = ["ModelConfig", "StreamSoccer", "Widths", "stack_memories"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """Each file's own configuration, under its name; the defaults are the paper's."""

    vision: VisionConfig = field(default_factory=VisionConfig)
    adapter: AdapterConfig = field(default_factory=AdapterConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    heads: HeadsConfig = field(default_factory=HeadsConfig)
    projector: ProjectorConfig = field(default_factory=ProjectorConfig)
    language: LanguageConfig = field(default_factory=LanguageConfig)
    buffer: BufferConfig = field(default_factory=BufferConfig)
    record: RecordConfig = field(default_factory=RecordConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class Widths:
    """What the model must know of its backbone to have its shape."""

    visual: int  # d_v
    language: int  # d_l

    @classmethod
    def of(cls, backbone: Backbone) -> Widths:
        return cls(visual=backbone.visual_width, language=backbone.text_width)


class StreamSoccer(nn.Module):
    """Encoder (stage 1), projector (stage 2) and context heads (stage 3). LoRA lives in language.Language."""

    def __init__(self, config: ModelConfig, widths: Widths) -> None:
        super().__init__()
        if (
            config.heads.memories != 1 + config.buffer.selected
            or config.projector.memories != 1 + config.buffer.selected
        ):
            raise UsageError(
                f"heads and projector take {config.heads.memories} and {config.projector.memories} memories; the active"
                f" one and {config.buffer.selected} local ones are {1 + config.buffer.selected}",
                remedy="set heads.memories and projector.memories to buffer.selected + 1",
            )
        self.config, self.widths = config, widths
        width, slots = config.adapter.width, config.adapter.tokens
        self.encoder = EventEncoder(widths.visual, config.adapter, config.memory, config.transition, config.heads)
        self.projector = MemoryProjector(config.projector, width, slots, widths.language)
        self.context = ContextHeads(config.heads, width)

    @property
    def device(self) -> torch.device:
        return self.projector.queries.device

    def parts(self) -> dict[str, int]:
        """Trainable parameters by module, as the paper names them."""
        encoder = self.encoder
        modules: dict[str, nn.Module] = {
            "adapter": encoder.adapter,
            "memory": encoder.memory,
            "transition": encoder.transition,
            "clip_head": encoder.clip_head,
            "event_heads": encoder.event_heads,
            "projector": self.projector,
            "context_heads": self.context,
        }
        return {name: sum(each.numel() for each in module.parameters()) for name, module in modules.items()}


def stack_memories(rows: Sequence[Sequence[Tensor]]) -> tuple[Tensor, Tensor]:
    """Memories of several contexts, newest first in each, as [B, n, K, D] and a mask [B, n] of those that are there."""
    most = max(len(row) for row in rows)
    like = rows[0][0]
    empty = like.new_zeros(like.shape)
    memories = torch.stack([torch.stack([*row, *[empty] * (most - len(row))]) for row in rows])
    mask = torch.tensor([[place < len(row) for place in range(most)] for row in rows], device=like.device)
    return memories, mask

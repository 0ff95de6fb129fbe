"""Mind: the weights and settings that any number of matches share; nothing in it changes while they run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from streamsoccer.checkpoint import read_provenance
from streamsoccer.clip import FRAMES_PER_CLIP
from streamsoccer.commentary import MemoryGate, Scope
from streamsoccer.familiarity import read_familiarity
from streamsoccer.runtime import RuntimeConfig, read_runtime
from streamsoccer.voice import Voice

if TYPE_CHECKING:
    from streamsoccer.checkpoint import Pretrained

__all__ = ["Mind"]


class Mind:
    """The weights and the settings of any number of matches; nothing in it changes while they run."""

    def __init__(
        self, pretrained: Pretrained, config: RuntimeConfig | None = None, *, voice: Voice | None = None
    ) -> None:
        self.pretrained = pretrained
        self.config = config or read_runtime(pretrained.folder)
        self.familiarity = read_familiarity(pretrained.folder)
        self.model, self.vision, self.prompter = pretrained.model, pretrained.vision, pretrained.prompter
        settings = self.model.config
        self.record = (
            settings.record if self.config.drain is None else replace(settings.record, drain=self.config.drain)
        )
        self.voice = voice or Voice(pretrained)
        self.whole = self.vision.tokens(FRAMES_PER_CLIP)
        lines = [each["recipe"] for each in read_provenance(pretrained.folder) if each.get("stage") == "commentary"]
        trained = lines[-1] if lines else {}
        self.scope = Scope(trained.get("scope", Scope.FULL))  # a line sees what the model was trained to see
        self.gate = MemoryGate(trained.get("memory_gate", MemoryGate.RULE))

    @property
    def device(self) -> torch.device:
        return self.model.device

    @property
    def fingerprint(self) -> str:
        """Of all weights and words that a match depends on."""
        made = self.pretrained.checkpoint
        told = [dict(made.hashes), self.pretrained.backbone.fingerprint, self.prompter.fingerprint]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

"""A whole model small enough for tests: random weights in a folder as any model has it, read by `from_pretrained`.

It knows nothing of football, but it runs the real code from frames to text: its events close, are of many types and are
spoken of. Its sentences are noise.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsoccer.runtime import RuntimeConfig, write_runtime

if TYPE_CHECKING:
    from streamsoccer.model import ModelConfig

__all__ = ["tiny_model", "tiny_model_config"]

TEXTS = (
    "[PLAYER] ([TEAM]) shoots, but the ball goes wide.",
    "A corner for [TEAM]. [PLAYER] takes it.",
    "Goal! [PLAYER] ([TEAM]) scores, and the score is 1-0.",
    "[REFEREE] blows the whistle for a foul.",
)


def tiny_model_config(**changes: Any) -> ModelConfig:
    """Every part at its smallest; `changes` are laid over it by section."""
    from streamsoccer.adapter import AdapterConfig
    from streamsoccer.heads import HeadsConfig
    from streamsoccer.language import LanguageConfig
    from streamsoccer.memory import MemoryConfig
    from streamsoccer.model import ModelConfig
    from streamsoccer.projector import ProjectorConfig
    from streamsoccer.prompt import PromptConfig
    from streamsoccer.record import RecordConfig
    from streamsoccer.transition import TransitionConfig
    from streamsoccer.vision import VisionConfig

    config = ModelConfig(
        vision=VisionConfig(width=64, height=32),
        adapter=AdapterConfig(width=32, tokens=3, layers=1, heads=2),
        memory=MemoryConfig(layers=1, heads=2),
        transition=TransitionConfig(heads=2),
        heads=HeadsConfig(heads=2, retrieval_width=8),
        projector=ProjectorConfig(tokens=2, layers=1, heads=2),
        language=LanguageConfig(rank=2, alpha=2),
        record=RecordConfig(caption_tokens=8),
        prompt=PromptConfig(generated_tokens=16),
    )
    return replace(config, **changes)


def tiny_model(
    folder: Path, config: ModelConfig | None = None, *, runtime: RuntimeConfig | None = None, seed: int = 0
) -> Path:
    """Write backbone and weights below the folder; gives the folder for `from_pretrained`."""
    import torch

    from streamsoccer.checkpoint import save_pretrained
    from streamsoccer.language import Language
    from streamsoccer.model import StreamSoccer, Widths
    from streamsoccer.prompt import fingerprint
    from streamsoccer.testing.backbone import tiny_backbone

    config = config or tiny_model_config()
    backbone = tiny_backbone(folder / "backbone", TEXTS, width=32, heads=2, visual_width=16, vocabulary=400, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = StreamSoccer(config, Widths.of(backbone))
        with torch.no_grad():  # louder than at the start of training, so that what is seen decides
            for name, each in model.named_parameters():
                if each.ndim > 1:
                    each.mul_(LOUD.get(name.split(".")[1], 2.0))
            model.projector.match_scale(backbone.model.get_input_embeddings().weight)
        lora = Language(backbone, config.language).lora_state()
    target = folder / "pretrained_model"
    save_pretrained(
        target,
        model,
        backbone={
            "path": str(folder / "backbone"),
            "fingerprint": backbone.fingerprint,
            "vocabulary": backbone.vocabulary,
        },
        prompt=fingerprint(config.prompt, config.projector.tokens),
        parts=("encoder", "projector", "context"),
        lora=lora,
    )
    write_runtime(target, runtime or RuntimeConfig())
    return target


LOUD = {"event_heads": 8.0, "transition": 4.0, "adapter": 3.0}

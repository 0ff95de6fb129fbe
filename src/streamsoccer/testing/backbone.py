"""A Qwen3-VL small enough for tests: random weights, its own byte-level vocabulary, written in well under a second."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from streamsoccer.backbone import SPECIAL_TOKENS, Backbone, BackboneConfig, load_backbone, load_random, save_backbone

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, Qwen3VLConfig

__all__ = ["tiny_backbone", "tiny_config", "tiny_tokenizer"]

# Qwen's way to cut a text before its bytes are merged; digits one by one.
CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def tiny_tokenizer(texts: Iterable[str], vocabulary: int = 512) -> PreTrainedTokenizerBase:
    """A byte-level BPE of at most `vocabulary` tokens with Qwen's special tokens, learned from the texts."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CUT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in SPECIAL_TOKENS])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=4096
    )


def tiny_config(
    tokens: int,
    *,
    width: int = 64,
    layers: int = 2,
    heads: int = 4,
    visual_width: int = 32,
    visual_layers: int = 2,
    spread: float = 0.1,
) -> Qwen3VLConfig:
    """Shapes as Qwen3-VL has them: grouped heads, three-axis positions, DeepStack; `spread` is that of the weights."""
    from transformers import Qwen3VLConfig

    half = width // heads // 2
    text = {
        "vocab_size": tokens,
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2,
        "head_dim": width // heads,
        "max_position_embeddings": 16_384,
        "initializer_range": spread,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 5_000_000.0,
            "mrope_section": [half - 2 * (half // 3), half // 3, half // 3],  # must sum to half a head
            "mrope_interleaved": True,
        },
    }
    vision = {
        "depth": visual_layers,
        "hidden_size": visual_width,
        "intermediate_size": 2 * visual_width,
        "num_heads": 2,
        "out_hidden_size": width,
        "patch_size": 16,
        "temporal_patch_size": 2,
        "spatial_merge_size": 2,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": list(range(min(layers, visual_layers))),
        "initializer_range": spread,
    }
    return Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)


def tiny_backbone(
    folder: Path,
    texts: Iterable[str] = (),
    *,
    vocabulary: int = 512,
    width: int = 64,
    layers: int = 2,
    heads: int = 4,
    visual_width: int = 32,
    visual_layers: int = 2,
    spread: float = 0.1,
    seed: int = 0,
) -> Backbone:
    """Write a tiny float32 backbone into the folder and read it back as any other is read."""
    tokenizer = tiny_tokenizer(texts, vocabulary)
    config = tiny_config(
        len(tokenizer),
        width=width,
        layers=layers,
        heads=heads,
        visual_width=visual_width,
        visual_layers=visual_layers,
        spread=spread,
    )
    save_backbone(load_random(config, tokenizer, dtype="float32", seed=seed), folder)
    return load_backbone(BackboneConfig(path=str(folder), dtype="float32"))

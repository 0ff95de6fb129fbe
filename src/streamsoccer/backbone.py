"""The pretrained backbone: Qwen3-VL-8B-Instruct (table 'architecture_spec'), or any smaller model of its kind.

It is frozen whole: visual encoder and language model. What is trained stands beside it (language.py, projector.py,
...). The 8B model and the smallest test model differ by their folder's config.json alone.

d_v = visual_width: what the visual merger gives.  d_l = text_width: what the language model takes. 4096 both at 8B.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from streamsoccer.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, Qwen3VLConfig, Qwen3VLForConditionalGeneration

__all__ = [
    "SPECIAL_TOKENS",
    "Backbone",
    "BackboneConfig",
    "load_backbone",
    "load_random",
    "qwen3_vl_8b_config",
    "save_backbone",
]

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
ATTENTION = ("sdpa", "eager")
# What prompts and the native video path write; the order is Qwen's own.
SPECIAL_TOKENS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
BLOCKS, BLOCK_BYTES = 64, 65_536  # of each weight file, for the fingerprint


@dataclass(frozen=True, kw_only=True, slots=True)
class BackboneConfig:
    """Which weights: a folder, or a name on the Hugging Face Hub."""

    path: str = "Qwen/Qwen3-VL-8B-Instruct"
    revision: str | None = None
    dtype: str = "bfloat16"
    attention: str = "sdpa"

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UsageError(f"dtype {self.dtype!r} is not known", remedy=f"use one of {', '.join(DTYPES)}")
        if self.attention not in ATTENTION:
            raise UsageError(f"attention {self.attention!r} is not known", remedy=f"use one of {', '.join(ATTENTION)}")


class Backbone:
    """Model and tokenizer, frozen; `fingerprint` and `vocabulary` tell checkpoints and caches which ones they were."""

    def __init__(
        self, model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerBase, fingerprint: str
    ) -> None:
        self.model = model.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.fingerprint = fingerprint

    @property
    def visual_width(self) -> int:
        return int(self.model.config.vision_config.out_hidden_size)

    @property
    def text_width(self) -> int:
        return int(self.model.config.text_config.hidden_size)

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.lm_head.weight.device)

    @property
    def dtype(self) -> torch.dtype:
        dtype: torch.dtype = self.model.lm_head.weight.dtype
        return dtype

    @property
    def end_tokens(self) -> tuple[int, ...]:
        """What ends a turn: <|im_end|>, or <|endoftext|> where the model runs on."""
        return (self.token("<|im_end|>"), self.token("<|endoftext|>"))

    @property
    def unsaid(self) -> tuple[int, ...]:
        """What is never generated: `suppress_tokens` of generation_config.json, which transformers itself heeds too."""
        return tuple(self.model.generation_config.suppress_tokens or ())

    def token(self, text: str) -> int:
        """The id of a special token."""
        found: Any = self.tokenizer.convert_tokens_to_ids(text)
        return int(found)

    @cached_property
    def vocabulary(self) -> str:
        """sha256 of what decides the token ids of a text: vocabulary, merges and special tokens."""
        tokenizer = json.loads(self.tokenizer.backend_tokenizer.to_str())
        merges = [each if isinstance(each, str) else " ".join(each) for each in tokenizer["model"]["merges"]]
        special = sorted((each["id"], each["content"], each["special"]) for each in tokenizer["added_tokens"])
        return _sha256(json.dumps([sorted(tokenizer["model"]["vocab"].items()), merges, special]).encode())


def load_backbone(config: BackboneConfig, device: str | torch.device = "cpu") -> Backbone:
    """Read a backbone from a folder or from the Hub's cache, after a look at whether all of it is there."""
    from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration

    folder = _folder(config)
    given = _read_config(folder)
    shards = _shards(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"the tokenizer cannot be read: {error}", where=folder) from error
    _check_tokens(tokenizer, given, folder)
    placed: dict[str, Any] = {} if torch.device(device).type == "cpu" else {"device_map": {"": device}}
    with _quiet():
        try:
            loaded: Any = Qwen3VLForConditionalGeneration.from_pretrained(
                folder,
                dtype=DTYPES[config.dtype],
                attn_implementation=config.attention,
                output_loading_info=True,
                **placed,
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise UsageError(f"the weights cannot be loaded: {error}", where=folder) from error
    model, report = loaded
    if missing := sorted(report["missing_keys"]):
        raise UsageError(f"{len(missing)} tensors are not in the weight files, {missing[0]} first", where=folder)
    if wrong := sorted(report["mismatched_keys"]):
        raise UsageError(f"{len(wrong)} tensors have another shape than config.json says: {wrong[0]}", where=folder)
    return Backbone(model, tokenizer, _fingerprint(given, shards))


def load_random(
    config: Qwen3VLConfig,
    tokenizer: PreTrainedTokenizerBase,
    *,
    device: str | torch.device = "cpu",
    dtype: str = "bfloat16",
    attention: str = "sdpa",
    seed: int = 0,
) -> Backbone:
    """A backbone of given shapes whose weights are noise, made in place on its device: for measurements and tests.

    The configuration's ids of special tokens become those of the tokenizer, which may be smaller than its vocabulary.
    """
    from transformers import Qwen3VLForConditionalGeneration

    text: Any = config.text_config
    if len(tokenizer) > text.vocab_size:
        raise UsageError(f"the tokenizer has {len(tokenizer)} tokens, the model {text.vocab_size}")
    for name in ("vision_start", "vision_end", "image_pad", "video_pad"):
        field = f"{name.removesuffix('_pad')}_token_id"
        setattr(config, field, tokenizer.convert_tokens_to_ids(f"<|{name}|>"))
    _check_tokens(tokenizer, config.to_dict(), None)
    place = torch.device(device)
    with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []), place:
        torch.manual_seed(seed)
        model = Qwen3VLForConditionalGeneration._from_config(config, dtype=DTYPES[dtype], attn_implementation=attention)
    name = f"random-{seed}-{dtype}-{_sha256(_canonical(config.to_dict()))}"
    return Backbone(model, tokenizer, name)


def save_backbone(backbone: Backbone, folder: Path) -> None:
    """Write config, tokenizer and weights as `load_backbone` reads them."""
    if any("lora_" in name for name, _ in backbone.model.named_parameters()):
        raise UsageError("the backbone carries LoRA weights and is not what was loaded", remedy="save the LoRA apart")
    folder.mkdir(parents=True, exist_ok=True)
    with _quiet():
        backbone.model.save_pretrained(folder, max_shard_size="4GB")
    backbone.tokenizer.save_pretrained(folder)


def qwen3_vl_8b_config() -> Qwen3VLConfig:
    """The published shapes of Qwen3-VL-8B-Instruct: 8.767 B parameters."""
    from transformers import Qwen3VLConfig

    return Qwen3VLConfig(
        text_config={
            "vocab_size": 151_936,
            "hidden_size": 4096,
            "intermediate_size": 12_288,
            "num_hidden_layers": 36,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "max_position_embeddings": 262_144,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 5_000_000.0,
                "mrope_section": [24, 20, 20],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 27,
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_heads": 16,
            "out_hidden_size": 4096,
            "patch_size": 16,
            "temporal_patch_size": 2,
            "spatial_merge_size": 2,
            "num_position_embeddings": 2304,
            "deepstack_visual_indexes": [8, 16, 24],
        },
        tie_word_embeddings=False,
    )


def _folder(config: BackboneConfig) -> Path:
    folder = Path(config.path).expanduser()
    if folder.is_dir():
        return folder
    name = config.path
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") != 1:
        raise UsageError("there is no such folder", where=name, remedy="give a folder, or OWNER/NAME on the Hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    command = f"hf download {name}" + (f" --revision {config.revision}" if config.revision else "")
    remedy = f"on a machine with a network run `{command}`, or name the folder that holds the model"
    try:
        patterns = ["*.json", "*.safetensors", "*.txt", "*.jinja"]
        return Path(snapshot_download(name, revision=config.revision, allow_patterns=patterns))
    except LocalEntryNotFoundError as error:
        raise UsageError("is not on this machine and the Hub does not answer", where=name, remedy=remedy) from error
    except (HfHubHTTPError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"the Hub does not give it: {reason}", where=name, remedy=remedy) from error


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        remedy = "name the folder that holds config.json and the *.safetensors files"
        raise UsageError("there is no config.json in it", where=folder, remedy=remedy) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {error}", where=path) from error
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "qwen3_vl":
        raise UsageError(f"is a model of type {kind!r}, not 'qwen3_vl'", where=path, remedy="use a Qwen3-VL (dense)")
    return dict(config)


def _shards(folder: Path) -> list[Path]:
    """The weight files, each whole: its length is what its own header says."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise UsageError(f"cannot be read: {error!r}", where=index) from error
    else:
        names = ["model.safetensors"]
    for name in names:
        path = folder / name
        if not path.is_file():
            raise UsageError(f"the weight file {name} is missing", where=folder, remedy="download it again")
        try:
            with path.open("rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                header: Any = json.loads(file.read(length)) if length <= path.stat().st_size else None
            offsets = [each["data_offsets"][1] for key, each in header.items() if key != "__metadata__"]
            whole = 8 + length + max(offsets) == path.stat().st_size
        except (OSError, ValueError, KeyError, AttributeError, struct.error):
            whole = False
        if not whole:
            raise UsageError("is cut off or no safetensors file", where=path, remedy="download it again")
    return [folder / name for name in names]


def _check_tokens(tokenizer: PreTrainedTokenizerBase, config: Mapping[str, Any], folder: Path | None) -> None:
    known = tokenizer.get_vocab()
    if missing := [each for each in SPECIAL_TOKENS if each not in known]:
        raise UsageError(f"the tokenizer lacks {', '.join(missing)}", where=folder, remedy="use the model's own one")
    for name in ("vision_start", "vision_end", "image_pad", "video_pad"):
        field = f"{name.removesuffix('_pad')}_token_id"
        if field in config and config[field] != known[f"<|{name}|>"]:
            problem = f"config.json says {field} {config[field]}, the tokenizer {known[f'<|{name}|>']}"
            raise UsageError(problem, where=folder, remedy="use the model's own tokenizer")


def _fingerprint(config: Mapping[str, Any], shards: list[Path]) -> str:
    """sha256 of config.json and of every weight file's header and 64 evenly spaced blocks of 64 KiB.

    Seconds for 16 GB. Any training that touches more than a few small tensors changes it; it is no seal.
    """
    digest = hashlib.sha256(_canonical(config))
    for path in shards:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = 8 + struct.unpack("<Q", file.read(8))[0]
            file.seek(0)
            digest.update(file.read(start))
            room = max(size - start - BLOCK_BYTES, 0)
            for offset in sorted({start + room * step // (BLOCKS - 1) for step in range(BLOCKS)}):
                file.seek(offset)
                digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()


def _canonical(config: Mapping[str, Any]) -> bytes:
    """A config without what says only who wrote it."""
    kept = {key: value for key, value in config.items() if key not in {"transformers_version", "_name_or_path"}}
    return json.dumps(kept, sort_keys=True, default=str).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' own progress bars and load reports; what matters in them is raised here."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()

"""A model on disk: config.json, weights as safetensors, and where they come from. A mismatch is refused by name.

pretrained_model/
  config.json          format, backbone, widths, prompt profile, model config, which parts are trained
  model.safetensors    encoder, projector and context heads, as far as they are trained
  lora.safetensors     the language model's adapters, where there are any
  provenance.json      stage by stage: recipe, data, parents, commit, date, machine

A folder that holds `pretrained_model/` stands for it, and so does a run's folder for its last checkpoint. A backbone
that is shipped beside the model is named relative to the folder of config.json ("../backbone"), any other by its
absolute folder or its name on the Hub.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from streamsoccer import __version__
from streamsoccer.backbone import DTYPES, Backbone, BackboneConfig, load_backbone
from streamsoccer.clock import utc_date
from streamsoccer.config import from_mapping, to_mapping
from streamsoccer.errors import CheckpointError, UsageError
from streamsoccer.language import Language
from streamsoccer.model import ModelConfig, StreamSoccer, Widths
from streamsoccer.prompt import Prompter
from streamsoccer.vision import VisionEncoder

__all__ = [
    "FORMAT",
    "PARTS",
    "Checkpoint",
    "Pretrained",
    "fill",
    "from_pretrained",
    "load_weights",
    "read_checkpoint",
    "read_provenance",
    "read_tensors",
    "save_pretrained",
    "tensors_hash",
]

FORMAT = 1
PARTS = ("encoder", "projector", "context")


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """What config.json says of a saved model."""

    folder: Path
    backbone: Mapping[str, str]  # path, fingerprint, vocabulary
    widths: Widths
    prompt: str  # the prompt profile's fingerprint
    model: ModelConfig
    parts: tuple[str, ...]
    lora: bool
    hashes: Mapping[str, str] = field(default_factory=dict)  # of each part

    @property
    def backbone_path(self) -> str:
        """Where the backbone was when this was saved: a folder beside the model, any other folder, or a Hub name."""
        path = self.backbone.get("path", "")
        beside = self.folder / path  # never the working folder: a model means the same wherever it is used from
        return str(beside.resolve()) if path.startswith(".") else path

    def require(
        self,
        *,
        fingerprint: str | None = None,
        vocabulary: str | None = None,
        widths: Widths | None = None,
        prompt: str | None = None,
        parts: Sequence[str] = (),
    ) -> None:
        """Refuse by name what does not go with this checkpoint."""
        pairs = (
            ("backbone", self.backbone.get("fingerprint"), fingerprint, "load the backbone that it was trained on"),
            ("vocabulary", self.backbone.get("vocabulary"), vocabulary, "use the tokenizer that it was trained with"),
            ("prompt profile", self.prompt, prompt, "use the prompt profile that it was trained with"),
        )
        if widths is not None and widths != self.widths:
            raise CheckpointError(
                f"its shape is for visual and language widths {self.widths.visual} and {self.widths.language}, the"
                f" backbone has {widths.visual} and {widths.language}",
                where=self.folder,
                remedy=f"load the backbone {self.backbone.get('path')}",
            )
        for name, mine, other, remedy in pairs:
            if other is not None and mine and mine != other:
                raise CheckpointError(
                    f"was trained with another {name} ({mine[:12]}, here {other[:12]})",
                    where=self.folder,
                    remedy=remedy,
                )
        if missing := [name for name in parts if name not in self.parts]:
            raise CheckpointError(
                f"has no trained {' and '.join(missing)}, only {' and '.join(self.parts) or 'LoRA'}",
                where=self.folder,
                remedy="train the stage that makes it first, or name its checkpoint",
            )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pretrained:
    """All that a match needs, ready to run and frozen."""

    folder: Path
    checkpoint: Checkpoint
    backbone: Backbone
    vision: VisionEncoder
    model: StreamSoccer
    language: Language
    prompter: Prompter


def from_pretrained(
    folder: Path | str,
    *,
    backbone: Path | str | None = None,
    device: str | torch.device = "cpu",
    dtype: str | None = None,
    parts: Sequence[str] = PARTS,
) -> Pretrained:
    """A saved model with its backbone; `backbone` names where that is now, `dtype` in what it computes.

    Without a dtype, a GPU computes in bfloat16 and a CPU in float32. The trained parts stay in float32. A stage's
    checkpoint has not all parts yet: ask for those that it must have.
    """
    checkpoint = read_checkpoint(Path(folder))
    checkpoint.require(parts=parts)
    if dtype is None:
        dtype = "float32" if torch.device(device).type == "cpu" else "bfloat16"
    elif dtype not in DTYPES:
        raise UsageError(f"dtype {dtype!r} is not known", remedy=f"use one of {', '.join(DTYPES)}")
    path = str(checkpoint.backbone_path) if backbone is None else str(backbone)
    try:
        loaded = load_backbone(BackboneConfig(path=path, dtype=dtype), device)
    except UsageError as error:
        if backbone is not None:
            raise
        remedy = f"name the folder that holds the backbone {checkpoint.backbone.get('path')} now"
        raise CheckpointError(f"its backbone: {error}", where=checkpoint.folder, remedy=remedy) from error
    tokenizer: Any = loaded.tokenizer
    prompter = Prompter(tokenizer, checkpoint.model.prompt, checkpoint.model.projector.tokens)
    checkpoint.require(
        fingerprint=loaded.fingerprint,
        vocabulary=loaded.vocabulary,
        widths=Widths.of(loaded),
        prompt=prompter.fingerprint,
    )
    model = StreamSoccer(checkpoint.model, checkpoint.widths)
    lora = load_weights(checkpoint, model, parts)
    language = Language(loaded, checkpoint.model.language)
    if lora is not None:
        language.load_lora(lora)
    return Pretrained(
        folder=checkpoint.folder,
        checkpoint=checkpoint,
        backbone=loaded,
        vision=VisionEncoder(loaded, checkpoint.model.vision),
        model=model.to(loaded.device).eval().requires_grad_(False),
        language=language.eval().requires_grad_(False),
        prompter=prompter,
    )


def tensors_hash(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over names, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b"")
    return digest.hexdigest()


def _part(model: StreamSoccer, name: str) -> dict[str, Tensor]:
    module = getattr(model, name)
    return {f"{name}.{key}": value for key, value in module.state_dict().items()}


def save_pretrained(
    folder: Path,
    model: StreamSoccer,
    *,
    backbone: Mapping[str, str],
    prompt: str,
    parts: Sequence[str],
    lora: Mapping[str, Tensor] | None = None,
    provenance: Sequence[Mapping[str, Any]] = (),
    dtype: torch.dtype | None = None,
) -> Checkpoint:
    """Write a model; the folder must be the caller's to fill. `dtype` halves what is shipped, the default keeps all."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Tensor] = {}
    hashes: dict[str, str] = {}
    for name in parts:
        mine = {
            key: value.detach().to("cpu", dtype if value.is_floating_point() else None).contiguous()
            for key, value in _part(model, name).items()
        }
        hashes[name] = tensors_hash(mine)
        kept.update(mine)
    save_file(kept, str(folder / "model.safetensors"))
    if lora is not None:
        adapters = {key: value.detach().cpu().contiguous() for key, value in lora.items()}
        hashes["lora"] = tensors_hash(adapters)
        save_file(adapters, str(folder / "lora.safetensors"))
    made = Checkpoint(
        folder=folder,
        backbone={**backbone, "path": _backbone_path(folder, backbone.get("path", ""))},
        widths=model.widths,
        prompt=prompt,
        model=model.config,
        parts=tuple(parts),
        lora=lora is not None,
        hashes=hashes,
    )
    config = {
        "format": FORMAT,
        "version": __version__,
        "backbone": made.backbone,
        "widths": to_mapping(made.widths),
        "prompt": prompt,
        "parts": list(made.parts),
        "lora": made.lora,
        "hashes": hashes,
        "model": to_mapping(made.model),
    }
    _write(folder / "config.json", config)
    _write(folder / "provenance.json", [{**each, "date": each.get("date", utc_date())} for each in provenance])
    return made


def _backbone_path(folder: Path, path: str) -> str:
    """A folder named from where one works becomes its absolute name; what lies beside the model keeps its own."""
    if path.startswith(".") and (folder / path / "config.json").is_file():
        return path
    return str(Path(path).expanduser().resolve()) if path and Path(path).expanduser().is_dir() else path


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_provenance(folder: Path) -> list[dict[str, Any]]:
    """Stage by stage, where the weights come from."""
    found = _json(folder / "provenance.json")
    return [dict(each) for each in found] if isinstance(found, list) else []


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(
            f"holds no {path.name}", where=path.parent, remedy="name a folder called pretrained_model, or its parent"
        ) from error
    except ValueError as error:
        raise CheckpointError(f"broken JSON: {error}", where=path) from error


def read_checkpoint(folder: Path) -> Checkpoint:
    """What a checkpoint is, without its weights; a run's folder stands for its last checkpoint."""
    for inner in ("pretrained_model", "checkpoints/last/pretrained_model"):
        if not (folder / "config.json").is_file() and (folder / inner / "config.json").is_file():
            folder = folder / inner
    data = _json(folder / "config.json")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else None
        raise CheckpointError(f"is of format {found!r}; this version reads {FORMAT}", where=folder / "config.json")
    try:
        return Checkpoint(
            folder=folder,
            backbone={str(name): str(value) for name, value in data["backbone"].items()},
            widths=Widths(visual=int(data["widths"]["visual"]), language=int(data["widths"]["language"])),
            prompt=str(data["prompt"]),
            model=from_mapping(ModelConfig, data["model"], folder / "config.json", "model"),
            parts=tuple(str(each) for each in data["parts"]),
            lora=bool(data["lora"]),
            hashes={str(name): str(value) for name, value in data["hashes"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"is not what was saved: {error!r}", where=folder / "config.json", remedy=_COPY
        ) from error


def load_weights(checkpoint: Checkpoint, model: StreamSoccer, parts: Sequence[str]) -> dict[str, Tensor] | None:
    """Load these parts into the model, their hashes checked; returns the LoRA weights where there are any."""
    checkpoint.require(widths=model.widths, parts=parts)
    held = read_tensors(checkpoint.folder / "model.safetensors")
    for name in parts:
        mine = {key: value for key, value in held.items() if key.startswith(f"{name}.")}
        if checkpoint.hashes.get(name) != tensors_hash(mine):
            raise CheckpointError(
                f"the weights of its {name} are not those that were saved", where=checkpoint.folder, remedy=_COPY
            )
        remedy = "use the model section of the recipe that it was trained with"
        fill(getattr(model, name), mine, f"{name}.", where=checkpoint.folder, remedy=remedy)
    if not checkpoint.lora:
        return None
    lora = read_tensors(checkpoint.folder / "lora.safetensors")
    if checkpoint.hashes.get("lora") != tensors_hash(lora):
        raise CheckpointError("its LoRA weights are not those that were saved", where=checkpoint.folder, remedy=_COPY)
    return lora


_COPY = "copy the checkpoint anew"


def fill(module: nn.Module, held: Mapping[str, Tensor], prefix: str = "", *, where: Path, remedy: str) -> None:
    """Weights, whose names have a prefix, into a module of the same shape."""
    want = {f"{prefix}{key}": tuple(value.shape) for key, value in module.state_dict().items()}
    have = {key: tuple(value.shape) for key, value in held.items()}
    if want != have:
        off = sorted(key for key in {*want, *have} if want.get(key) != have.get(key))[0]
        raise CheckpointError(
            f"another shape: {off} is {have.get(off)} there and {want.get(off)} in this model",
            where=where,
            remedy=remedy,
        )
    module.load_state_dict({key.removeprefix(prefix): value for key, value in held.items()})


def read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot be read: {error}", where=path, remedy=_COPY) from error

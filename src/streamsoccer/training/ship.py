"""A model as it is given away: the run that did best on validation matches, its backbone beside it, in half the bytes.

    OUT/backbone/            config, tokenizer and weights, in shards
    OUT/pretrained_model/    the trained parts in bfloat16, LoRA, runtime.json, where all of it is from, and
                             familiarity.json: what clips of the training matches look like
    OUT/SHA256SUMS           of every file but a card, as sha256sum reads it

What is told to be the model is what is loaded again from there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streamsoccer.checkpoint import PARTS, from_pretrained, load_weights, read_checkpoint, read_provenance
from streamsoccer.checkpoint import save_pretrained as save
from streamsoccer.domain import Split
from streamsoccer.errors import UsageError
from streamsoccer.familiarity import measure, write_familiarity
from streamsoccer.model import StreamSoccer
from streamsoccer.runtime import read_runtime, write_runtime
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.training.corpus import Corpus

__all__ = ["best_run", "features", "parameters", "seal", "ship"]

SUMS = "SHA256SUMS"
_BACKBONE = "../backbone"
_MANY = 64  # clips whose tokens are read at once


def best_run(runs: Sequence[Path]) -> tuple[Path, float]:
    """The stage 3 run with the least loss on validation matches in contexts of its own, where it has seen such."""
    found: list[tuple[float, Path]] = []
    for run in runs:
        path = run / "metrics.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        looks = [row["validation"] for row in map(json.loads, lines) if "validation" in row]
        if not looks:
            raise UsageError("holds no validation", where=path, remedy="name the folder of `train commentary`")
        found.append((float(looks[-1].get("own_loss", looks[-1]["loss"])), run))
    loss, run = min(found)
    return run, loss


def ship(runs: Sequence[Path], data: Path, tokens: Path, out: Path, *, halves: int = 48) -> dict[str, Any]:
    """Write OUT anew from the best of these runs; says which it was, and how large all of it is.

    It is made beside its place, so that whatever ends this leaves what stood there; a card that stood there stays.
    """
    run, loss = best_run(runs)
    checkpoint = read_checkpoint(run)
    checkpoint.require(parts=PARTS)
    if out.exists() and not (out / SUMS).is_file() and any(out.iterdir()):
        raise UsageError("is not empty, and no model that was shipped", where=out, remedy="name an empty folder")
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    shutil.copytree(checkpoint.backbone_path, part / "backbone")
    model = StreamSoccer(checkpoint.model, checkpoint.widths)
    lora = load_weights(checkpoint, model, PARTS)
    folder = part / "pretrained_model"
    save(
        folder,
        model,
        backbone={**checkpoint.backbone, "path": _BACKBONE},
        prompt=checkpoint.prompt,
        parts=PARTS,
        lora=None if lora is None else {name: each.to(torch.bfloat16) for name, each in lora.items()},
        provenance=[_without_places(each) for each in read_provenance(checkpoint.folder)],
        dtype=torch.bfloat16,
    )
    write_runtime(folder, read_runtime(checkpoint.folder))
    write_familiarity(folder, measure(_films(Corpus(data), TokenCache(tokens), halves)))
    size, count = seal(part), parameters(part)
    for card in out.glob("*.md"):
        shutil.copy2(card, part)
    shutil.rmtree(out, ignore_errors=True)
    part.rename(out)
    return {"run": run.as_posix(), "validation_loss": loss, "parameters": count, "bytes": size}


def seal(model: Path) -> int:
    """Write the checksums of all that is there now, but for the card; says how many bytes that is."""
    files = [path for path in sorted(model.rglob("*")) if path.is_file() and path.name != SUMS and path.suffix != ".md"]
    told = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(model).as_posix()}\n" for path in files
    ]
    (model / SUMS).write_text("".join(told), encoding="utf-8")
    return sum(path.stat().st_size for path in files)


def parameters(model: Path) -> int:
    """How many numbers the model has, once it is loaded: backbone, LoRA, and all that was trained on top."""
    loaded = from_pretrained(model)
    backbone = {id(each): each.numel() for each in loaded.backbone.model.parameters()}
    more = (*loaded.model.parameters(), *loaded.language.lora.parameters())
    return sum((backbone | {id(each): each.numel() for each in more}).values())


def _films(corpus: Corpus, cache: TokenCache, most: int) -> Iterator[NDArray[np.floating]]:
    """Features of the clips of some training halves, evenly chosen."""
    halves = corpus.of(Split.TRAIN)
    for half in halves[:: max(1, len(halves) // most)]:
        yield features(cache, half.match, half.half, half.clips)


def features(cache: TokenCache, match: str, half: int, clips: int) -> NDArray[np.floating]:
    """f_t of the clips of a half that were seen [n, d_v]."""
    rows = []
    for first in range(0, clips, _MANY):
        visual, mask = cache.tokens(match, half, first, min(_MANY, clips - first))
        seen = mask.any(dim=1)
        share = mask[seen].double()
        rows.append((torch.einsum("tnd,tn->td", visual[seen].double(), share) / share.sum(1, keepdim=True)).numpy())
    return np.concatenate(rows)


def _without_places(line: Mapping[str, Any]) -> dict[str, Any]:
    """A stage's line with the backbone named as it lies beside the model."""
    tokens = line.get("tokens")
    return {**line, **({"tokens": {**tokens, "backbone": _BACKBONE}} if isinstance(tokens, Mapping) else {})}

"""The memory cache: what a frozen stage 1 makes of every half, computed once and read by stages 2 and 3.

Each half is one safetensors file. Two runs stand side by side: `labels`, with teacher-forced resets, and `own`, with
the resets that the model decided itself, as in a match.

    event_tokens [T, K, D]    E_t
    memory.labels [T, K, D]   M_t under the labels' resets        memory.own [T, K, D]   under the model's
    reset.labels [T]          r_t                                 reset.own [T]
    transition [T]            the logit of b_t in the own run     clip_actions [T, A]    logits
    event_actions [T, A], event_type [T, types], event_side [T, sides]   what the event heads read off memory.own

cache.json names the stage 1 weights by hash, the token cache's backbone and the manifests; another of these is refused.

T clips, K slots, D = d_m, A actions
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from streamsoccer.encoder import EventEncoder
from streamsoccer.errors import DataError, UsageError
from streamsoccer.training.corpus import Half
from streamsoccer.training.recipe import Representation
from streamsoccer.training.visual import VisualTokens

__all__ = ["LABELS", "OWN", "MemoryCache", "MemoryCacheHeader", "Run", "run_halves", "write_memory_cache"]

HEADER = "cache.json"
LABELS, OWN = "labels", "own"
Run = str
_READ_CLIPS = 128  # visual tokens of so many clips at once


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryCacheHeader:
    """What a cache was made from."""

    encoder: str  # hash of the stage 1 weights
    backbone: str  # fingerprint
    clips: str  # hash of clips.jsonl
    threshold: str  # of b_t in the own run, which decides every memory after the first reset
    dtype: str = "bfloat16"


def write_memory_cache(
    folder: Path,
    header: MemoryCacheHeader,
    encoder: EventEncoder,
    tokens: VisualTokens,
    halves: Sequence[Half],
    *,
    streams: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Run the encoder over the halves that are not there yet, several side by side; says how many that were.

    A GPU waits for each clip's launches, however many halves share them: there, 64 go side by side.
    """
    streams = streams or (64 if encoder.adapter.queries.is_cuda else 8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HEADER
    made = {name: getattr(header, name) for name in header.__slots__}
    if path.is_file() and (found := json.loads(path.read_text(encoding="utf-8"))) != made:
        off = next(name for name in made if found.get(name) != made[name])
        raise UsageError(
            f"holds memories of another {off} ({str(found.get(off))[:12]}, now {made[off][:12]})",
            where=folder,
            remedy="choose another output folder, or remove this one",
        )
    path.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    waiting = [half for half in halves if not _file(folder, half.match, half.half).is_file()]
    waiting.sort(key=lambda half: half.clips)  # halves of like length run side by side
    encoder.eval()
    for begin in range(0, len(waiting), streams):
        group = waiting[begin : begin + streams]
        with torch.inference_mode():
            for half, tensors in zip(group, run_halves(encoder, tokens, group), strict=True):
                _write(_file(folder, half.match, half.half), tensors, getattr(torch, header.dtype))
        progress(min(begin + streams, len(waiting)), len(waiting))
    return len(waiting)


def run_halves(encoder: EventEncoder, tokens: VisualTokens, group: Sequence[Half]) -> Iterator[dict[str, Tensor]]:
    """What the cache holds of each half, on the encoder's device; the halves run side by side."""
    device = encoder.adapter.queries.device
    read, logits = [], []
    for half in group:
        pieces = [
            encoder.read(*(each.to(device) for each in tokens.read(half, at, count)))
            for at in range(0, half.clips, _READ_CLIPS)
            for count in [min(_READ_CLIPS, half.clips - at)]
        ]
        read.append(torch.cat([piece[0] for piece in pieces]))
        logits.append(torch.cat([piece[1] for piece in pieces]))
    pad = torch.nn.utils.rnn.pad_sequence
    arrived = pad([torch.ones(half.clips, dtype=torch.bool) for half in group], batch_first=True).to(device)
    reset = pad([torch.from_numpy(half.reset) for half in group], batch_first=True, padding_value=True).to(device)
    clips, actions = pad(read, batch_first=True), pad(logits, batch_first=True)
    taught = encoder.whole(clips, actions, reset)
    _, own = encoder.roll(clips, actions, encoder.start(len(group)), arrived)
    for row, half in enumerate(group):
        count = half.clips
        event_actions, event_type, event_side = encoder.event_heads(own.memory[row, :count])
        yield {
            "event_tokens": clips[row, :count],
            "memory.labels": taught.memory[row, :count],
            "memory.own": own.memory[row, :count],
            "reset.labels": taught.reset[row, :count],
            "reset.own": own.reset[row, :count],
            "transition": own.transition[row, :count],
            "clip_actions": actions[row, :count],
            "event_actions": event_actions,
            "event_type": event_type,
            "event_side": event_side,
        }


_LARGE = {"event_tokens", "memory.labels", "memory.own"}


def _write(path: Path, tensors: dict[str, Tensor], dtype: torch.dtype) -> None:
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    kept = {
        name: value.to("cpu", dtype if name in _LARGE else value.dtype if value.dtype == torch.bool else torch.float32)
        for name, value in tensors.items()
    }
    save_file({name: value.contiguous() for name, value in kept.items()}, str(part))
    part.replace(path)


def _file(folder: Path, match: str, half: int) -> Path:
    return folder / match / f"{half}.safetensors"


class MemoryCache:
    """Reads a memory cache; the weights it was made with must be those that are asked for."""

    def __init__(self, folder: Path, *, encoder: str | None = None, clips: str | None = None) -> None:
        self.folder = folder
        try:
            self.header = MemoryCacheHeader(**json.loads((folder / HEADER).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise DataError(
                f"is no memory cache: {error}", where=folder, remedy="run `streamsoccer train cache-memory` first"
            ) from error
        for name, mine, other in (
            ("stage 1 weights", self.header.encoder, encoder),
            ("clips", self.header.clips, clips),
        ):
            if other is not None and other != mine:
                raise DataError(
                    f"was made with other {name} ({mine[:12]}, here {other[:12]})",
                    where=folder,
                    remedy="run `streamsoccer train cache-memory` with these",
                )
        self._open: OrderedDict[tuple[str, int], Any] = OrderedDict()
        self._lock = threading.Lock()

    def require(self, halves: Iterable[tuple[str, int]]) -> None:
        """All of these halves must be there: the first that is not is named."""
        for match, half in dict.fromkeys(halves):
            if not self.has(match, half):
                raise DataError(
                    f"holds nothing of {match}, half {half}",
                    where=self.folder,
                    remedy="run `streamsoccer train cache-memory` for that split",
                )

    def has(self, match: str, half: int) -> bool:
        return _file(self.folder, match, half).is_file()

    def _half(self, match: str, half: int) -> Any:
        from safetensors import SafetensorError, safe_open

        key = (match, half)
        with self._lock:  # batches are read by threads
            if key not in self._open:
                path = _file(self.folder, match, half)
                try:
                    self._open[key] = safe_open(str(path), "pt")
                except (OSError, SafetensorError) as error:
                    raise DataError(
                        f"the memories of {match}, half {half}, cannot be read: {error}",
                        where=path,
                        remedy="remove the file if it is there, and run `streamsoccer train cache-memory` again",
                    ) from error
                while len(self._open) > 256:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
            return self._open[key]

    def clips(self, match: str, half: int) -> int:
        return int(self._half(match, half).get_slice("reset.labels").get_shape()[0])

    def signal(self, match: str, half: int, name: str) -> Tensor:
        """One of the small tensors of a half, whole."""
        return cast(Tensor, self._half(match, half).get_tensor(name))

    def memory(
        self,
        match: str,
        half: int,
        first: int,
        last: int,
        *,
        run: Run = LABELS,
        representation: Representation = Representation.RECURRENT,
    ) -> Tensor:
        """What stands for clips first .. last of an event [K, D], float32: its memory, or a mean of event tokens."""
        held = self._half(match, half)
        count = self.clips(match, half)
        if not 0 <= first <= last < count:
            raise DataError(
                f"clips {first} to {last} of {match}, half {half}, are asked for; {count} are there", where=self.folder
            )
        if representation is Representation.RECURRENT:
            return cast(Tensor, held.get_slice(f"memory.{run}")[last]).float()
        if representation is Representation.FIXED_POOL:
            first = max(0, last - 5)  # the trailing 24 s
        return cast(Tensor, held.get_slice("event_tokens")[first : last + 1]).float().mean(0)

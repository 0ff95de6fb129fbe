"""What a match would know by itself: the events of the own run, read by the heads and written down by stage 2's model.

A folder that stage 3's curriculum and evaluation share, made once for a stage 2 run:

    records.json              which weights, cache, manifests, prompt profile and thresholds all of it is from
    <match>/own.jsonl         one row an event of the own run, in order of closure, both halves; written whole

A row has what the runtime has of a closed event: its place, what the heads say it was, the predicted state of the match
after it, and the generated caption. Its memory is the memory cache's own run at its last clip; its retrieval key
is of the heads that ask for it. Nothing in a row comes from a label.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import MatchTime
from streamsoccer.config import to_mapping
from streamsoccer.domain import CLIP_SECONDS, Action, Placeholder, Side, Split, Tally, event_id
from streamsoccer.errors import DataError, UsageError
from streamsoccer.language import Request
from streamsoccer.model import stack_memories
from streamsoccer.perception import Perceived, PerceptionConfig, perceive
from streamsoccer.prompt import unsided
from streamsoccer.record import MatchContext, Record, assemble
from streamsoccer.training.corpus import Corpus, Half
from streamsoccer.training.foundation import Parent, Speaker, device, fresh
from streamsoccer.training.memory_cache import OWN, MemoryCache
from streamsoccer.training.recipe import Recipe, Representation

__all__ = ["OwnEvent", "OwnRecords", "cut", "write_own_records"]

HEADER, ROWS = "records.json", "own.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnEvent:
    """One event of the own run, closed: clips first .. last of its half."""

    match: str
    half: int
    first: int
    last: int
    start: MatchTime
    end: MatchTime
    available_at: MatchTime  # the end of the clip whose arrival closed it, or of the half
    perceived: Perceived
    tally: Tally  # the predicted state of the match once it had closed
    text: str = ""
    placeholders: tuple[Placeholder, ...] = ()

    @property
    def id(self) -> str:
        return event_id(self.match, self.half, self.start.seconds)

    @property
    def context(self) -> MatchContext:
        """The match at its closure, as far as it is predicted."""
        return MatchContext(at=self.available_at, tally=self.tally, sure=False)

    def completed(self, tokens: Tensor, key: NDArray[np.float32]) -> CompletedMemory:
        """As the buffer takes it."""
        seen = self.perceived
        return CompletedMemory(
            event=self.id,
            half=self.half,
            start=self.start,
            end=self.end,
            available_at=self.available_at,
            tokens=tokens,
            key=key,
            type=seen.type,
            actions=seen.actions,
            side=seen.side,
            confidence=seen.confidence,
        )

    def record(self, key: NDArray[np.float32]) -> Record | None:
        """R_j, ready at its closure, as where pending captions are drained at an anchor; none without a caption."""
        memory = self.completed(torch.zeros(0), key)
        return assemble(memory, self.text, self.context, self.available_at, self.placeholders)

    def row(self) -> dict[str, Any]:
        seen = self.perceived
        return {
            "half": self.half,
            "first": self.first,
            "last": self.last,
            "start": self.start.seconds,
            "end": self.end.seconds,
            "available_at": self.available_at.seconds,
            "type": seen.type.value,
            "actions": [each.value for each in seen.actions],
            "side": seen.side.value,
            "confidence": round(seen.confidence, 6),
            "match": self.context.state()["tally"],
            "text": self.text,
            "placeholders": [[each.token, each.side.value] for each in self.placeholders],
        }

    @classmethod
    def of_row(cls, match: str, row: Mapping[str, Any]) -> OwnEvent:
        half = int(row["half"])
        at = MatchTime(half, row["available_at"])
        known = MatchContext.of_state({"at": [half, at.seconds], "tally": row["match"], "sure": False})
        return cls(
            match=match,
            half=half,
            first=int(row["first"]),
            last=int(row["last"]),
            start=MatchTime(half, row["start"]),
            end=MatchTime(half, row["end"]),
            available_at=at,
            perceived=Perceived(
                type=EventType(row["type"]),
                actions=tuple(Label(each) for each in row["actions"]),
                side=Side(row["side"]),
                confidence=float(row["confidence"]),
            ),
            tally=known.tally or Tally(),
            text=row["text"],
            placeholders=tuple(Placeholder(token=token, side=Side(side)) for token, side in row["placeholders"]),
        )


def cut(half: Half, cache: MemoryCache) -> list[tuple[int, int]]:
    """First and last clip of each event of the own run; what is active at the half's end ends with it."""
    firsts = cache.signal(half.match, half.half, "reset.own").nonzero()[:, 0].tolist()
    return list(zip(firsts, [*(each - 1 for each in firsts[1:]), half.clips - 1], strict=True))


def closed(
    halves: Sequence[Half],
    cache: MemoryCache,
    read: Callable[[Tensor], Sequence[Perceived]],
) -> list[OwnEvent]:
    """The own events of a match, its halves in order; score and counts go on from half to half."""
    events: list[OwnEvent] = []
    tally = Tally()
    for half in halves:
        ends = half.events[-1].end.seconds  # of the half's video
        spans = cut(half, cache)
        memories = cache.signal(half.match, half.half, "memory.own")[[last for _, last in spans]].float()
        for (first, last), seen in zip(spans, read(memories), strict=True):
            end = MatchTime(half.half, min(ends, CLIP_SECONDS * (last + 1)))
            known = MatchTime(half.half, min(ends, CLIP_SECONDS * (last + 2)))
            for label in seen.actions:
                tally = tally.plus(Action(label=label, side=seen.side, at=end, available_at=known))
            events.append(
                OwnEvent(
                    match=half.match,
                    half=half.half,
                    first=first,
                    last=last,
                    start=MatchTime(half.half, CLIP_SECONDS * first),
                    end=end,
                    available_at=known,
                    perceived=seen,
                    tally=tally,
                )
            )
    return events


def write_own_records(
    recipe: Recipe,
    data: Path,
    memory: Path,
    stage2: Path,
    out: Path,
    *,
    splits: Sequence[Split] = tuple(Split),
    perception: PerceptionConfig | None = None,
    together: int = 8,
    slots: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Caption every event of the own runs of these splits' matches with a stage 2 run; matches that stand there stay.

    Says how many matches were new. The same weights write the same file: decoding is greedy, and a text does not depend
    on what is written beside it.
    """
    corpus, parent = Corpus(data), Parent.read(stage2, "encoder", "projector")
    hashes = parent.checkpoint.hashes
    cache = MemoryCache(memory, encoder=hashes["encoder"], clips=corpus.fingerprint["clips"])
    perception = perception or PerceptionConfig()
    header = {
        **{name: hashes.get(name, "") for name in ("encoder", "projector", "lora")},
        "clips": cache.header.clips,
        "threshold": cache.header.threshold,
        "perception": json.dumps(to_mapping(perception), sort_keys=True),
        "prompt": parent.checkpoint.prompt,
        "backbone": parent.checkpoint.backbone["fingerprint"],
    }
    _claim(out, header)
    matches: dict[str, list[Half]] = {}
    for half in corpus.halves.values():
        if half.split in splits:
            matches.setdefault(half.match, []).append(half)
    cache.require((half.match, half.half) for halves in matches.values() for half in halves)
    waiting = [match for match in matches if not (out / match / ROWS).is_file()]
    if not waiting:
        return 0
    speaker = Speaker(recipe, parent, 0)
    speaker.language.hurry()
    if slots is not None:
        speaker.language.slots = slots
        speaker.language.together = 1
    model = fresh(recipe.model, speaker.widths, 0)
    if (lora := parent.into(model, "encoder", "projector")) is not None:
        speaker.language.load_lora(lora)
    model.to(device()).eval()
    speaker.language.to(device()).eval()
    for begin in range(0, len(waiting), together):
        group = waiting[begin : begin + together]
        with torch.inference_mode():
            events = [
                closed(matches[match], cache, lambda memories: perceive(model, memories.to(device()), perception))
                for match in group
            ]
            flat = [each for match in events for each in match]
            requests = [
                Request(prefix=prefix, prompt=speaker.prompter.record(each.context), max_tokens=most)
                for most in [recipe.model.record.caption_tokens]
                for each, prefix in zip(flat, _prefixes(recipe, model.projector, cache, flat), strict=True)
            ]
            said = iter([unsided(speaker.prompter.text(ids)) for ids in speaker.language.generate(requests)])
        for match, mine in zip(group, events, strict=True):
            rows = [
                replace(each, text=text, placeholders=placeholders)
                for each, (text, placeholders) in ((each, next(said)) for each in mine)
            ]
            _write(out / match / ROWS, rows)
        progress(begin + len(group), len(waiting))
    return len(waiting)


def _prefixes(
    recipe: Recipe, projector: torch.nn.Module, cache: MemoryCache, events: Sequence[OwnEvent], many: int = 256
) -> Iterator[Tensor]:
    for begin in range(0, len(events), many):
        rows = [[remember(cache, each, recipe.stage2.representation)] for each in events[begin : begin + many]]
        memories, mask = stack_memories(rows)
        yield from projector(memories.to(device()), mask.to(device()))


def remember(cache: MemoryCache, event: OwnEvent, representation: Representation) -> Tensor:
    """M_j^c of an own event, or what stands in its place."""
    return cache.memory(event.match, event.half, event.first, event.last, run=OWN, representation=representation)


def _claim(out: Path, header: Mapping[str, str]) -> None:
    """The folder is for this header, or becomes so."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / HEADER
    if path.is_file():
        found = _read_header(out)
        if off := [name for name in header if found.get(name) != header[name]]:
            raise UsageError(
                f"holds records of another {off[0]} ({str(found.get(off[0]))[:12]}, now {header[off[0]][:12]})",
                where=out,
                remedy="choose another output folder, or remove this one",
            )
        return
    part = path.with_suffix(".part")
    part.write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")
    part.replace(path)


def _write(path: Path, events: Sequence[OwnEvent]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(each.row(), ensure_ascii=False) + "\n" for each in events), encoding="utf-8")
    part.replace(path)


def _read_header(folder: Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / HEADER).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(
            f"holds no records of an own run: {error}", where=folder, remedy="run `streamsoccer train own-records`"
        ) from error


class OwnRecords:
    """Reads such a folder; it must be of the stage 1 weights and the manifests that are asked for."""

    def __init__(self, folder: Path, *, encoder: str | None = None, clips: str | None = None) -> None:
        self.folder, self.header = folder, _read_header(folder)
        for name, other in (("encoder", encoder), ("clips", clips)):
            if other is not None and self.header.get(name) != other:
                raise DataError(
                    f"was made with another {name} ({str(self.header.get(name))[:12]}, here {other[:12]})",
                    where=folder,
                    remedy="run `streamsoccer train own-records` with these",
                )
        self._known: dict[str, tuple[OwnEvent, ...]] = {}

    def events(self, match: str) -> tuple[OwnEvent, ...]:
        """All own events of a match, in order of closure."""
        if (known := self._known.get(match)) is None:
            path = self.folder / match / ROWS
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
                known = tuple(OwnEvent.of_row(match, json.loads(line)) for line in lines)
            except OSError as error:
                raise DataError(
                    f"holds no own run of {match}", where=path, remedy="run `streamsoccer train own-records`"
                ) from error
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"is no own run: {error!r}", where=path, remedy="remove it and write it anew"
                ) from error
            self._known[match] = known
        return known

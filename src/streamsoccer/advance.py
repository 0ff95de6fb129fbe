"""The active memories of a step: V_t, E_t, b_t, r_t and M_t of each match, and the memories that were closed.

    V_t = F_vis(C_t), E_t = A(V_t), r_t = b_t or rho_t;  M_j^c <- M_{t-1} where r_t = 1, at a gap, and at a half's end

On a CPU each match goes through the modules by itself, so that its numbers do not depend on the others, to the bit.

B matches, N tokens of a whole clip, d_v their width, K slots, D = d_m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from streamsoccer.actions import EventType
from streamsoccer.arrival import Arrival, Row
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clip import Clip, Gap
from streamsoccer.clock import MatchTime
from streamsoccer.domain import event_id
from streamsoccer.encoder import StreamState
from streamsoccer.journal_rows import ClosedBy, NoteKind
from streamsoccer.mind import Mind
from streamsoccer.perception import perceive
from streamsoccer.state import Open, Position
from streamsoccer.voice import BREAKS, rows_apart

__all__ = ["advance", "close", "encode"]


def encode(mind: Mind, rows: Sequence[Row]) -> None:
    """V_t of each clip [N, d_v]; one that cannot be encoded is lost, and the match goes on."""
    clips = [(row, row.item) for row in rows if isinstance(row.item, Clip)]
    for places in rows_apart(mind.device, len(clips)):
        try:
            found = mind.vision.encode([clips[place][1].frames for place in places])
        except BREAKS:
            found = [each for place in places for each in _encoded(mind, *clips[place])]
        for place, tokens in zip(places, found, strict=True):
            clips[place][0].tokens = tokens
    for row in rows:
        if isinstance(row.item, Arrival):
            row.tokens = row.item.tokens
        if row.tokens is not None and not len(row.tokens):
            row.tokens = None


def _encoded(mind: Mind, row: Row, clip: Clip) -> list[Tensor]:
    try:
        return mind.vision.encode([clip.frames])
    except BREAKS as error:
        row.moment.tell(NoteKind.FAULT, "vision", f"a clip could not be encoded: {error}")
        row.state.counts["clips_lost"] += 1
        return [torch.zeros(0, 0)]


def advance(mind: Mind, rows: Sequence[Row]) -> None:
    """E_t, r_t and M_t; where an event ends with the clip before, its memory is what M_{t-1} was."""
    encoder = mind.model.encoder
    for forced in (None, True, False):
        group = [row for row in rows if row.tokens is not None and row.given.reset is forced]
        for places in rows_apart(mind.device, len(group)):
            chosen = [group[place] for place in places]
            visual, mask = _stacked(mind, [row.tokens for row in chosen if row.tokens is not None])
            state = StreamState.of(
                {
                    name: torch.cat([row.state.encoder.tensors()[name] for row in chosen])
                    for name in ("memory", "age", "actions")
                }
            )
            tokens, actions = encoder.read(visual, mask)
            force = None if forced is None else torch.full((len(chosen),), forced, device=mind.device)
            state, step = encoder.step(tokens, actions, state, forced=force)
            sure = torch.sigmoid(step.transition)
            for place, row in enumerate(chosen):
                age = int(row.state.encoder.age[0])
                row.state.encoder = state.rows(slice(place, place + 1))
                row.moment.transition = float(sure[place]) if age else None
                _take(mind, row, bool(step.reset[place]), step.before[place], forced)


def _stacked(mind: Mind, clips: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
    """V [B, N, d_v] with short clips padded to a whole one, and the mask [B, N] where one is short."""
    if all(len(each) == mind.whole for each in clips):
        return torch.stack([each.to(mind.device) for each in clips]), None
    visual = clips[0].new_zeros(len(clips), mind.whole, clips[0].shape[-1], device=mind.device)
    mask = torch.zeros(len(clips), mind.whole, dtype=torch.bool, device=mind.device)
    for row, each in enumerate(clips):
        visual[row, : len(each)], mask[row, : len(each)] = each.to(mind.device), True
    return visual, mask


def _take(mind: Mind, row: Row, reset: bool, before: Tensor, forced: bool | None) -> None:
    """The clip's place in the half, and the event that it starts or goes on with."""
    item, state = row.item, row.state
    assert isinstance(item, Clip | Arrival)
    frames = len(item.samples) if isinstance(item, Clip) else item.frames
    if reset:
        if state.open is not None:
            learned = forced or (row.moment.transition or 0.0) >= mind.model.config.transition.threshold
            _hold(row, before, ClosedBy.LEARNED if learned else ClosedBy.ROLLOVER)
        state.open = Open(start=item.start, frames=frames)
    elif state.open is not None:
        state.open = replace(state.open, frames=state.open.frames + frames)
    state.position = Position(
        half=item.half, clip=item.index, start=item.start, end=max(item.end, row.moment.at.seconds), open=True
    )
    state.counts["clips"] += 1


def _hold(row: Row, memory: Tensor, closed_by: ClosedBy) -> None:
    """M_j^c as it was before this step; what it was about is filled in by `close`."""
    state = row.state
    assert state.open is not None
    half = state.position.half
    name = event_id(state.match, half, state.open.start)
    held = CompletedMemory(
        event=name,
        half=half,
        start=MatchTime(half, state.open.start),
        end=MatchTime(half, state.position.end),
        available_at=row.moment.at,
        tokens=memory.clone(),
        key=np.zeros(0, dtype=np.float32),
        type=EventType.OPEN_PLAY,
    )
    state.frames[name] = state.open.frames
    state.open = None
    row.moment.closed.append((held, closed_by))


def close(mind: Mind, rows: Sequence[Row]) -> None:
    """Events that a gap or the half's end closes; then what each closed event was about."""
    for row in rows:
        state = row.state
        if row.tokens is None and state.open is not None:
            _hold(row, state.encoder.memory[0], ClosedBy.HALF_END if row.item is None else ClosedBy.GAP)
        if row.tokens is None:
            state.encoder = mind.model.encoder.start()
            _pass(row)
    closing = [row for row in rows if row.moment.closed]
    for places in rows_apart(mind.device, len(closing)):
        chosen = [closing[place] for place in places]
        tokens = torch.stack([row.moment.closed[0][0].tokens for row in chosen])
        seen = perceive(mind.model, tokens, mind.config.perception)
        keys = mind.model.context.key(tokens).float().cpu().numpy()
        for row, perceived, key in zip(chosen, seen, keys, strict=True):
            known = row.given.perceived or perceived
            bare, closed_by = row.moment.closed[0]
            memory = replace(
                bare,
                key=key.copy(),
                type=known.type,
                actions=known.actions,
                side=known.side,
                confidence=known.confidence,
            )
            row.moment.closed[0] = (memory, closed_by)


def _pass(row: Row) -> None:
    """A gap, or a clip that was lost: time goes on and nothing was seen."""
    at, item = row.state.position, row.item
    if item is None:
        return
    same = item.half == at.half
    if isinstance(item, Gap):
        row.state.counts["gaps"] += 1
        place = replace(at, gaps=at.gaps + 1) if same else Position(gaps=1)
    else:
        place = Position(clip=item.index, start=item.start)
    row.state.position = replace(place, half=item.half, end=row.moment.at.seconds, open=True)

"""The Streaming Event Memory Encoder: adapter, transition, memory and heads over a half (section 4.2).

Clip by clip, `step` is the paper's order: E_t, then b_t from M_{t-1}, then r_t, then M_t; where r_t is 1, M_{t-1} is
the completed memory M_j^c. The state lies outside the weights, one row a stream, and rows do not touch each other.

Where the resets are given, as in training, events do not depend on each other: `whole` runs all events of all halves
side by side, at most six clips deep, and gives what `step` gives.

B streams, T clips, N visual tokens, K slots, D = d_m, A actions
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from streamsoccer.adapter import AdapterConfig, ClipEventAdapter
from streamsoccer.errors import UsageError
from streamsoccer.heads import ACTIONS, ClipHead, EventHeads, HeadsConfig
from streamsoccer.memory import EventMemory, MemoryConfig
from streamsoccer.transition import TransitionConfig, TransitionHead

__all__ = ["EventEncoder", "Step", "StreamState", "Whole"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StreamState:
    """What the encoder keeps: M_{t-1} [B, K, D], clips in it [B] (0: none yet), the last clip's actions [B, A]."""

    memory: Tensor
    age: Tensor
    actions: Tensor

    def tensors(self) -> dict[str, Tensor]:
        return {"memory": self.memory, "age": self.age, "actions": self.actions}

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> StreamState:
        return cls(memory=tensors["memory"], age=tensors["age"], actions=tensors["actions"])

    def rows(self, index: Tensor | slice) -> StreamState:
        """Some of the streams."""
        return StreamState(memory=self.memory[index], age=self.age[index], actions=self.actions[index])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Step:
    """What one clip did: the logit of b_t [B], r_t [B], rho_t [B], and M_{t-1} [B, K, D].

    M_{t-1} is M_j^c where r_t is set and there was one: the first clip of a half resets too (logit 0), and closes
    nothing. A stream without a clip has no reset and logit 0.
    """

    transition: Tensor
    reset: Tensor
    rollover: Tensor
    before: Tensor


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Whole:
    """A stretch at once: M_t [B, T, K, D], transition logits [B, T] (0 where nothing was before), resets [B, T]."""

    memory: Tensor
    transition: Tensor
    reset: Tensor


class EventEncoder(nn.Module):
    """A, U, G, I, the transition head and the stage 1 heads."""

    def __init__(
        self,
        visual_width: int,
        adapter: AdapterConfig,
        memory: MemoryConfig,
        transition: TransitionConfig,
        heads: HeadsConfig,
    ) -> None:
        super().__init__()
        self.width, self.slots = adapter.width, adapter.tokens
        self.adapter = ClipEventAdapter(adapter, visual_width)
        self.memory = EventMemory(memory, adapter.width, adapter.tokens)
        self.transition = TransitionHead(transition, adapter.width, len(ACTIONS))
        self.clip_head = ClipHead(adapter.width, heads.dropout)
        self.event_heads = EventHeads(heads, adapter.width)

    def start(self, streams: int = 1) -> StreamState:
        """The state before the first clip of a half."""
        like = self.adapter.queries
        return StreamState(
            memory=like.new_zeros(streams, self.slots, self.width),
            age=torch.zeros(streams, dtype=torch.long, device=like.device),
            actions=like.new_zeros(streams, len(ACTIONS)),
        )

    def read(self, visual: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """V [..., N, d_v] to E [..., K, D] and the clip-action logits [..., A]."""
        lead = visual.shape[:-2]
        flat = visual.reshape(-1, *visual.shape[-2:])
        tokens = self.adapter(flat, None if mask is None else mask.reshape(-1, mask.shape[-1]))
        return tokens.view(*lead, *tokens.shape[1:]), self.clip_head(tokens).view(*lead, -1)

    def step(
        self,
        tokens: Tensor,
        actions: Tensor,
        state: StreamState,
        *,
        forced: Tensor | None = None,
        arrived: Tensor | None = None,
    ) -> tuple[StreamState, Step]:
        """Take in E_t [B, K, D] and action logits [B, A]; `forced` [B] stands for b_t, `arrived` [B]: has a clip."""
        now = torch.sigmoid(actions).detach()
        logits = self.transition(state.memory, tokens, now, state.actions, state.age)
        first, rollover = state.age == 0, self.transition.safeguard(state.age)
        logits = logits.masked_fill(first, 0.0)
        reset = self.transition.reset(logits, state.age) if forced is None else forced | rollover | first
        started, continued = self.memory.initial(tokens), self.memory.update(state.memory, tokens)
        memory = torch.where(reset[:, None, None], started, continued)
        age = torch.where(reset, 1, state.age + 1)
        if arrived is not None:
            logits, reset, rollover = logits.masked_fill(~arrived, 0.0), reset & arrived, rollover & arrived
            memory = torch.where(arrived[:, None, None], memory, state.memory)
            age, now = torch.where(arrived, age, state.age), torch.where(arrived[:, None], now, state.actions)
        result = Step(transition=logits, reset=reset, rollover=rollover, before=state.memory)
        return StreamState(memory=memory, age=age, actions=now), result

    def roll(self, tokens: Tensor, actions: Tensor, state: StreamState, arrived: Tensor) -> tuple[StreamState, Whole]:
        """Clip after clip with the resets that the model decides itself: E [B, T, K, D], logits [B, T, A], [B, T]."""
        memories, logits, resets = [], [], []
        for at in range(tokens.shape[1]):
            state, step = self.step(tokens[:, at], actions[:, at], state, arrived=arrived[:, at])
            memories.append(state.memory)
            logits.append(step.transition)
            resets.append(step.reset)
        return state, Whole(
            memory=torch.stack(memories, 1), transition=torch.stack(logits, 1), reset=torch.stack(resets, 1)
        )

    def whole(self, tokens: Tensor, actions: Tensor, resets: Tensor) -> Whole:
        """All clips at once under given resets [B, T]; the first clip of a row always starts an event."""
        streams, clips = resets.shape
        if not resets.numel():
            return Whole(memory=tokens, transition=tokens.new_zeros(streams, clips), reset=resets)
        resets = resets.clone()
        resets[:, 0] = True
        place = torch.arange(clips, device=resets.device).expand(streams, clips)
        age = place - torch.where(resets, place, 0).cummax(1).values  # clips of the event before this one
        flat, age = tokens.flatten(0, 1), age.flatten()
        if int(age.max()) >= self.transition.config.longest:
            raise UsageError(
                f"an event of {int(age.max()) + 1} clips; none lasts longer than {self.transition.config.seconds:g} s",
                remedy="build the manifests with the same maximum duration as the model's",
            )
        where = torch.zeros_like(age)  # the row of each clip's memory within its depth
        depths: list[Tensor] = []
        order: list[Tensor] = []
        for depth in range(self.transition.config.longest):
            chosen = (age == depth).nonzero()[:, 0]
            if not len(chosen):
                break
            where[chosen] = torch.arange(len(chosen), device=age.device)
            clip = flat[chosen]
            depths.append(
                self.memory.initial(clip) if depth == 0 else self.memory.update(depths[-1][where[chosen - 1]], clip)
            )
            order.append(chosen)
        memory = torch.cat(depths)[torch.cat(order).argsort()].view(streams, clips, self.slots, self.width)
        logits = tokens.new_zeros(streams, clips)
        if clips > 1:
            now = torch.sigmoid(actions).detach()
            before = age.view(streams, clips)[:, :-1].flatten() + 1
            compared = self.transition(
                memory[:, :-1].flatten(0, 1),
                tokens[:, 1:].flatten(0, 1),
                now[:, 1:].flatten(0, 1),
                now[:, :-1].flatten(0, 1),
                before,
            )
            logits = torch.cat([logits[:, :1], compared.view(streams, clips - 1).to(logits.dtype)], dim=1)
        return Whole(memory=memory, transition=logits, reset=resets)

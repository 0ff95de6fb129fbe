"""The generation engine: greedy decoding from embeddings, for any number of matches, over a static cache.

A request is prefilled by itself at its own length and then takes one of the slots of a decoding step. A step always has
the same shape: `slots` rows over a cache of 256, 512, 1024 or 2304 places, which the request's own length and limit
choose. So what comes out of a row does not depend on who is in the others, on a CPU in float32 to the bit: a matrix
product of one shape treats its rows alike, products of one and of eight rows round differently. Free slots compute
nothing of interest: on a GPU a step costs about as much for one row as for 32, on a CPU four rows cost half as much
again as one and serve many requests twice as fast.

Where many texts are wanted and nobody waits for one of them, `together` prompts are prefilled side by side, padded on
the right: on a GPU a prompt alone costs as much as 32. Then a text may differ in rounding with its neighbours.

The layers are the language model's own weights in a loop without transformers' bookkeeping; grouped heads stay grouped.

R slots, G prompts read at once, T tokens of a prompt, S places of the cache, H query heads, V key and value heads of
width d, D = d_l
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from streamsoccer.errors import UsageError

__all__ = ["PLACES", "Engine", "Job"]

PLACES = (256, 512, 1024, 2304)  # the last holds a prompt of 2048 tokens and its answer
SLOTS = {"cpu": 4, "cuda": 32}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Job:
    """A prompt as embeddings [T, D] and how many tokens may follow it, the end of the turn included."""

    embeddings: Tensor
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Layer:
    """One decoder layer's weights, q, k and v as one matrix and LoRA merged into copies."""

    norm: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    query_norm: Tensor
    key_norm: Tensor
    out: Tensor
    out_bias: Tensor | None
    think_norm: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor
    act: Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Slots:
    """The state of a decoding step: keys and values [R, V, S, d] by layer, the last token and its place by row."""

    keys: list[Tensor]
    values: list[Tensor]
    tokens: Tensor
    places: Tensor
    rows: Tensor  # 0 .. R-1
    columns: Tensor  # 0 .. S-1


class Engine:
    """Greedy decoding with the weights of one text model, read once; whoever changes the weights makes another."""

    def __init__(
        self,
        text: Any,
        head: Any,
        ends: Sequence[int],
        *,
        unsaid: Sequence[int] = (),
        slots: int | None = None,
        together: int = 1,
    ) -> None:
        config = text.config
        self.heads, self.groups = int(config.num_attention_heads), int(config.num_key_value_heads)
        self.head_width = int(config.head_dim)
        self.epsilon = float(config.rms_norm_eps)
        self.ends = frozenset(ends)
        self._embedding: Tensor = text.embed_tokens.weight
        self._norm: Tensor = text.norm.weight
        self._head: Tensor = head.weight
        self.device, self.dtype = self._embedding.device, self._embedding.dtype
        self._unsaid = torch.tensor(list(unsaid), dtype=torch.long, device=self.device)
        self.slots = SLOTS.get(self.device.type, 4) if slots is None else slots
        if self.slots < 1:
            raise UsageError(f"a step of {self.slots} slots decodes nothing", remedy="use 1 or more")
        if not 1 <= together <= self.slots:
            raise UsageError(f"{together} prompts at once for {self.slots} slots", remedy=f"use 1 to {self.slots}")
        self.together = together
        with torch.inference_mode():
            self._layers = [_layer(each) for each in text.layers]
            rate = text.rotary_emb.inv_freq.to(device=self.device, dtype=torch.float32)
            # All three axes of a text token's position are the same, so the three-axis rotation is the plain one.
            angles = torch.arange(PLACES[-1], device=self.device)[:, None] * rate
            angles = torch.cat([angles, angles], dim=-1)
            scale = float(text.rotary_emb.attention_scaling)
            self._cos, self._sin = (angles.cos() * scale).to(self.dtype), (angles.sin() * scale).to(self.dtype)
        self._states: dict[int, _Slots] = {}
        self._lock = Lock()

    def places(self, job: Job) -> int:
        """The size of cache that a request needs, by its own lengths alone."""
        need = len(job.embeddings) + job.max_tokens
        for places in PLACES:
            if need <= places:
                return places
        raise UsageError(
            f"a prompt of {len(job.embeddings)} tokens and {job.max_tokens} more are over {PLACES[-1]}",
            remedy="shorten the prompt or ask for fewer tokens",
        )

    def generate(self, jobs: Sequence[Job]) -> list[tuple[int, ...]]:
        """The tokens of each request, without the one that ended it."""
        waiting: dict[int, deque[int]] = {}
        for index, job in enumerate(jobs):
            if job.max_tokens < 1:
                raise UsageError(f"a request for {job.max_tokens} tokens", remedy="ask for 1 or more")
            waiting.setdefault(self.places(job), deque()).append(index)
        said: list[list[int]] = [[] for _ in jobs]
        with self._lock, torch.inference_mode(), torch.autocast(self.device.type, enabled=False):
            for places, indexes in sorted(waiting.items()):
                if self.together > 1:  # those of like length side by side
                    indexes = deque(sorted(indexes, key=lambda index: -len(jobs[index].embeddings)))
                self._run(places, indexes, jobs, said)
        return [tuple(each) for each in said]

    def _run(self, places: int, waiting: deque[int], jobs: Sequence[Job], said: list[list[int]]) -> None:
        """All requests of one size of cache: a slot that becomes free takes the next one."""
        state = self._state(places)
        taken: list[int | None] = [None] * self.slots
        while True:
            free = [slot for slot, each in enumerate(taken) if each is None]
            while waiting and len(free) >= min(self.together, len(waiting)):
                group = [waiting.popleft() for _ in range(min(self.together, len(waiting)))]
                slots = free[: len(group)]
                firsts = self._prefill([jobs[index].embeddings for index in group], state, slots)
                for slot, index, first in zip(slots, group, firsts, strict=True):
                    if self._goes_on(first, said[index], jobs[index].max_tokens):
                        taken[slot] = index
                free = [slot for slot in free if taken[slot] is None]
            if len(free) == self.slots:
                return
            following = self._step(state)
            for slot, token in enumerate(following.tolist()):
                mine = taken[slot]
                if mine is not None and not self._goes_on(token, said[mine], jobs[mine].max_tokens):
                    taken[slot] = None

    def _goes_on(self, token: int, said: list[int], most: int) -> bool:
        if token in self.ends:
            return False
        said.append(token)
        return len(said) < most

    def _state(self, places: int) -> _Slots:
        """What an earlier run left in it is behind the mask."""
        if places not in self._states:
            shape = (self.slots, self.groups, places, self.head_width)
            empty = [torch.zeros(shape, dtype=self.dtype, device=self.device) for _ in range(2 * len(self._layers))]
            self._states[places] = _Slots(
                keys=empty[::2],
                values=empty[1::2],
                tokens=torch.zeros(self.slots, dtype=torch.long, device=self.device),
                places=torch.zeros(self.slots, dtype=torch.long, device=self.device),
                rows=torch.arange(self.slots, device=self.device),
                columns=torch.arange(places, device=self.device),
            )
        return self._states[places]

    def _prefill(self, prompts: Sequence[Tensor], state: _Slots, slots: Sequence[int]) -> list[int]:
        """Read prompts [T, D] into slots; the first token that follows each of them."""
        counts = torch.tensor([len(each) for each in prompts], device=self.device)
        hidden = pad_sequence([each.to(self.device, self.dtype) for each in prompts], batch_first=True)
        batch, longest = hidden.shape[:2]
        rows = torch.tensor(slots, device=self.device)
        cos, sin = self._cos[:longest], self._sin[:longest]
        for index, layer in enumerate(self._layers):
            query, key, value = self._project(layer, hidden, cos, sin)  # [G, T, heads, d]
            key, value = key.transpose(1, 2), value.transpose(1, 2)
            # What a shorter prompt is padded with lies behind the mask until its own text is written over it.
            state.keys[index][rows, :, :longest] = key
            state.values[index][rows, :, :longest] = value
            if self.device.type == "cpu":  # where grouped heads would be the slow path
                key, value = (each.repeat_interleave(self.heads // self.groups, dim=1) for each in (key, value))
            mixed = F.scaled_dot_product_attention(
                query.transpose(1, 2), key, value, is_causal=True, enable_gqa=key.shape[1] != self.heads
            )
            hidden = self._think(layer, hidden, mixed.transpose(1, 2).reshape(batch, longest, -1))
        firsts = self._next(hidden[torch.arange(batch, device=self.device), counts - 1])
        state.tokens[rows] = firsts
        state.places[rows] = counts
        return [int(each) for each in firsts.tolist()]

    def _step(self, state: _Slots) -> Tensor:
        """One token further in every slot: [R]."""
        hidden = F.embedding(state.tokens, self._embedding)
        cos, sin = self._cos[state.places][:, None], self._sin[state.places][:, None]
        seen = (state.columns <= state.places[:, None])[:, None, None]
        for index, layer in enumerate(self._layers):
            query, key, value = self._project(layer, hidden[:, None], cos, sin)
            keys, values = state.keys[index], state.values[index]
            keys[state.rows, :, state.places] = key[:, 0]
            values[state.rows, :, state.places] = value[:, 0]
            # The query heads that share a key head are that head's queries: nothing is expanded.
            together = query.view(self.slots, self.groups, -1, self.head_width)
            mixed = F.scaled_dot_product_attention(together, keys, values, attn_mask=seen)
            hidden = self._think(layer, hidden, mixed.reshape(self.slots, -1))
        following = self._next(hidden)
        state.tokens.copy_(following)
        # A free slot stays within the cache.
        state.places.add_(1).clamp_(max=len(state.columns) - 1)
        return following

    def _project(self, layer: _Layer, hidden: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [B, T, H, d], keys and values [B, T, V, d], turned to their places (cos and sin [.., T, d])."""
        normed = F.rms_norm(hidden, hidden.shape[-1:], layer.norm, self.epsilon)
        heads = F.linear(normed, layer.qkv, layer.qkv_bias).unflatten(-1, (-1, self.head_width))
        query, key, value = heads.split([self.heads, self.groups, self.groups], dim=-2)
        query = F.rms_norm(query, query.shape[-1:], layer.query_norm, self.epsilon)
        key = F.rms_norm(key, key.shape[-1:], layer.key_norm, self.epsilon)
        cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
        return _turn(query, cos, sin), _turn(key, cos, sin), value

    def _think(self, layer: _Layer, hidden: Tensor, mixed: Tensor) -> Tensor:
        hidden = hidden + F.linear(mixed, layer.out, layer.out_bias)
        normed = F.rms_norm(hidden, hidden.shape[-1:], layer.think_norm, self.epsilon)
        return hidden + F.linear(layer.act(F.linear(normed, layer.gate)) * F.linear(normed, layer.up), layer.down)

    def _next(self, hidden: Tensor) -> Tensor:
        """The likeliest token of each row [R, D]."""
        normed = F.rms_norm(hidden, hidden.shape[-1:], self._norm, self.epsilon)
        logits = F.linear(normed, self._head)
        if len(self._unsaid):
            logits = logits.index_fill(-1, self._unsaid, -torch.inf)
        return logits.argmax(-1)


def _layer(layer: Any) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    projections = [_merged(each) for each in (attention.q_proj, attention.k_proj, attention.v_proj)]
    biases = [bias for _, bias in projections if bias is not None]
    out, out_bias = _merged(attention.o_proj)
    return _Layer(
        norm=layer.input_layernorm.weight,
        qkv=torch.cat([weight for weight, _ in projections]),
        qkv_bias=torch.cat(biases) if biases else None,
        query_norm=attention.q_norm.weight,
        key_norm=attention.k_norm.weight,
        out=out,
        out_bias=out_bias,
        think_norm=layer.post_attention_layernorm.weight,
        gate=mlp.gate_proj.weight,
        up=mlp.up_proj.weight,
        down=mlp.down_proj.weight,
        act=mlp.act_fn,
    )


def _merged(linear: Any) -> tuple[Tensor, Tensor | None]:
    """A projection's weight with its LoRA added, as a copy; the frozen weight itself where there is none."""
    base = getattr(linear, "base_layer", linear)
    weight: Tensor = base.weight
    if base is not linear:
        for name in linear.active_adapters:
            weight = (weight.float() + linear.get_delta_weight(name).float()).to(base.weight.dtype)
    return weight, base.bias


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin

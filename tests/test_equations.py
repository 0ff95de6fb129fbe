"""Each equation of the paper's section 4 against a few lines of numpy, on a tiny configuration and on a full-width one.

The numpy side knows the modules by their weights' names alone. Weights are random throughout, so that a forgotten norm,
bias, gate or embedding shows. Records, contexts and objectives are in test_objectives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from streamsoccer.adapter import AdapterConfig, ClipEventAdapter
from streamsoccer.attention import Attention
from streamsoccer.encoder import EventEncoder, StreamState, Whole
from streamsoccer.errors import UsageError
from streamsoccer.heads import ACTIONS, SIDES, TRACKS, TYPES, ClipHead, ContextHeads, EventHeads, HeadsConfig
from streamsoccer.memory import EventMemory, MemoryConfig
from streamsoccer.projector import MemoryProjector, ProjectorConfig
from streamsoccer.transition import TransitionConfig, TransitionHead

LONGEST = 6  # clips of 4 s: the paper's 24 s, counted here by hand
A = len(ACTIONS)

# ---------------------------------------------------------------------------------------------- the formulas, in numpy

Array = np.ndarray


class Weights:
    """A module's weights by name, and those of a part of it: w["cross.out.weight"], w.of("cross")."""

    def __init__(self, values: Mapping[str, Array], prefix: str = "") -> None:
        self.values, self.prefix = values, prefix

    @classmethod
    def read(cls, module: nn.Module) -> Weights:
        return cls({name: value.detach().numpy() for name, value in module.state_dict().items()})

    def __getitem__(self, name: str) -> Array:
        return self.values[self.prefix + name]

    def of(self, name: str) -> Weights:
        return Weights(self.values, f"{self.prefix}{name}.")


def linear(w: Weights, x: Array) -> Array:
    return x @ w["weight"].T + w["bias"]


def norm(w: Weights, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w["weight"] + w["bias"]


def gelu(x: Array) -> Array:
    return x * 0.5 * (1 + np.vectorize(math.erf, otypes=[x.dtype])(x / math.sqrt(2)))


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def unit(x: Array) -> Array:
    return x / np.sqrt((x**2).sum(-1, keepdims=True))


def attend(w: Weights, x: Array, context: Array, heads: int, keep: Array | None = None) -> Array:
    """x [Q, D] over context [N, D]: one head after another, tokens that do not count left out."""
    context = context if keep is None else context[keep]
    width, size = x.shape[-1], x.shape[-1] // heads
    query, both = linear(w.of("query"), x), linear(w.of("key_value"), context)
    key, value = both[:, :width], both[:, width:]
    parts = []
    for head in range(heads):
        mine = slice(head * size, (head + 1) * size)
        scores = query[:, mine] @ key[:, mine].T / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        parts.append(scores / scores.sum(-1, keepdims=True) @ value[:, mine])
    return linear(w.of("out"), np.concatenate(parts, -1))


def block(w: Weights, x: Array, context: Array, heads: int, *, own: bool, keep: Array | None = None) -> Array:
    x = x + attend(w.of("cross"), norm(w.of("norm_cross"), x), context, heads, keep)
    if own:
        normed = norm(w.of("norm_self"), x)
        x = x + attend(w.of("own"), normed, normed, heads)
    think = w.of("think")
    return x + linear(think.of("2"), gelu(linear(think.of("0"), norm(w.of("norm_think"), x))))


def pool(w: Weights, tokens: Array, heads: int, keep: Array | None = None) -> Array:
    return attend(w.of("attend"), w["query"][0], norm(w.of("norm"), tokens), heads, keep)[0]


def adapt(w: Weights, visual: Array, heads: int, layers: int = 2, keep: Array | None = None) -> Array:
    """E_t = A(V_t)."""
    moments = w["moment"]
    pair = np.arange(len(visual)) * len(moments) // len(visual)  # which frame pair each token is of
    context = linear(w.of("into"), norm(w.of("norm"), visual)) + moments[pair]
    tokens = w["queries"]
    for at in range(layers):
        tokens = block(w.of(f"layers.{at}"), tokens, context, heads, own=False, keep=keep)
    return norm(w.of("out"), tokens)


def candidate(w: Weights, memory: Array, clip: Array, heads: int, layers: int = 2) -> Array:
    """U(M_{t-1}, E_t)."""
    for at in range(layers):
        memory = block(w.of(f"update_layers.{at}"), memory, clip, heads, own=True)
    return norm(w.of("update_norm"), memory)


def gate(w: Weights, memory: Array, new: Array) -> Array:
    """G_t, one number for each slot."""
    return sigmoid(linear(w.of("gate"), np.concatenate([memory, new], -1)))


def initial(w: Weights, clip: Array, heads: int, layers: int = 1) -> Array:
    """I(E_t)."""
    start = w["slots"] + clip
    for at in range(layers):
        start = block(w.of(f"initial_layers.{at}"), start, clip, heads, own=True)
    return norm(w.of("initial_norm"), start)


def transit(w: Weights, memory: Array, clip: Array, now: Array, before: Array, age: int, heads: int) -> float:
    """The logit of b_t."""
    seen = norm(w.of("norm_clip"), clip[:1])
    held = attend(w.of("compare"), seen, norm(w.of("norm_memory"), memory), heads)[0]
    seen, cue = seen[0], np.zeros(LONGEST + 1, seen.dtype)
    cue[min(age, LONGEST)] = 1
    features = np.concatenate([seen, held, seen - held, seen * held, now, before, cue])
    return float(linear(w.of("decide.3"), gelu(linear(w.of("decide.0"), features)))[0])


def unroll(
    w: Weights, tokens: Array, actions: Array, heads: int, given_resets: Array | None = None, threshold: float = 0.5
) -> tuple[list[Array], list[float], list[bool], list[Array]]:
    """A half as the paper tells it, E [T, K, D]: memories, logits, resets and completed memories."""
    memories: list[Array] = []
    logits: list[float] = []
    resets: list[bool] = []
    completed: list[Array] = []
    age = 0
    for at, clip in enumerate(tokens):
        if at == 0:
            logit, reset = 0.0, True
        else:
            memory, now, before = memories[-1], sigmoid(actions[at]), sigmoid(actions[at - 1])
            logit = transit(w.of("transition"), memory, clip, now, before, age, heads)
            transition = sigmoid(logit) >= threshold if given_resets is None else bool(given_resets[at])
            reset = bool(transition or age >= LONGEST)
            if reset:
                completed.append(memory)
        if reset:
            memory, age = initial(w.of("memory"), clip, heads), 1
        else:
            new = candidate(w.of("memory"), memories[-1], clip, heads)
            open_ = gate(w.of("memory"), memories[-1], new)
            memory, age = (1 - open_) * memories[-1] + open_ * new, age + 1
        memories.append(memory)
        logits.append(logit)
        resets.append(reset)
    return memories, logits, resets, completed


# --------------------------------------------------------------------------------------------------- the configurations


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """One configuration, and how near numpy and torch must be in its precision."""

    width: int
    heads: int
    visual: int
    language: int
    dtype: torch.dtype
    near: float
    retrieval: int
    clips: int
    slots: int = 9

    def encoder(self) -> EventEncoder:
        return EventEncoder(
            self.visual,
            AdapterConfig(width=self.width, heads=self.heads),
            MemoryConfig(heads=self.heads),
            TransitionConfig(heads=self.heads),
            HeadsConfig(heads=self.heads, retrieval_width=self.retrieval),
        )

    def projector(self) -> MemoryProjector:
        return MemoryProjector(ProjectorConfig(heads=self.heads), self.width, self.slots, self.language)

    def context_heads(self) -> ContextHeads:
        return ContextHeads(HeadsConfig(heads=self.heads, retrieval_width=self.retrieval), self.width)


TINY = Sizes(width=16, heads=2, visual=24, language=20, dtype=torch.float64, near=1e-9, retrieval=8, clips=40)
FULL = Sizes(width=1024, heads=8, visual=4096, language=4096, dtype=torch.float32, near=5e-5, retrieval=256, clips=9)


@dataclass(frozen=True, kw_only=True)
class Model:
    sizes: Sizes
    encoder: EventEncoder
    projector: MemoryProjector
    heads: ContextHeads

    def random(self, *shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(*shape, generator=generator, dtype=self.sizes.dtype) * scale

    def clips(self, streams: int, count: int, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Event tokens and action logits that look like the adapter's."""
        shape = streams, count, self.sizes.slots, self.sizes.width
        return self.random(*shape, seed=seed), self.random(streams, count, A, seed=seed + 1, scale=2.0)

    def near(self, ours: Tensor, theirs: Array | float | Tensor) -> None:
        theirs = theirs.detach().numpy() if isinstance(theirs, Tensor) else np.asarray(theirs)
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=self.sizes.near, atol=self.sizes.near)


def shaken(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Weights of no special kind: biases that are not 0, norms that are not 1."""
    generator = torch.Generator().manual_seed(7)
    module = module.to(dtype).eval()
    with torch.no_grad():
        for value in module.parameters():
            if value.ndim < 2 or value.shape[0] < 2:  # norms, biases, pooled queries, gates
                # What sums over a width into one number gets less, or every gate of a wide model would be shut.
                scale = 1.5 / value.shape[1] ** 0.5 if value.ndim == 2 else 0.3
                value.add_(torch.randn(value.shape, generator=generator, dtype=dtype) * scale)
    return module


def build(sizes: Sizes) -> Model:
    torch.manual_seed(3)
    parts = [shaken(part, sizes.dtype) for part in (sizes.encoder(), sizes.projector(), sizes.context_heads())]
    encoder, projector, heads = parts
    assert isinstance(encoder, EventEncoder) and isinstance(projector, MemoryProjector)
    assert isinstance(heads, ContextHeads)
    last = encoder.transition.decide[3]
    with torch.no_grad():  # an untrained head is undecided: make it see transitions on about every fourth clip
        last.weight.mul_(6)
        last.bias.fill_(0)
    return Model(sizes=sizes, encoder=encoder, projector=projector, heads=heads)


@pytest.fixture(scope="module", autouse=True)
def _without_gradients():
    """What needs gradients asks for them."""
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def tiny() -> Model:
    return build(TINY)


@pytest.fixture(scope="module")
def full() -> Model:
    return build(FULL)


@pytest.fixture(scope="module", params=["tiny", "full"])
def model(request: pytest.FixtureRequest) -> Model:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Model)
    return found


def stepped(
    encoder: EventEncoder, tokens: Tensor, actions: Tensor, resets: Tensor | None = None
) -> tuple[StreamState, Whole, list[Tensor]]:
    """A plain loop over `step`: the state at the end, everything on the way, and each Step.before."""
    state, memories, logits, happened, before = encoder.start(len(tokens)), [], [], [], []
    for at in range(tokens.shape[1]):
        forced = None if resets is None else resets[:, at]
        state, step = encoder.step(tokens[:, at], actions[:, at], state, forced=forced)
        memories.append(state.memory)
        logits.append(step.transition)
        happened.append(step.reset)
        before.append(step.before)
    whole = Whole(memory=torch.stack(memories, 1), transition=torch.stack(logits, 1), reset=torch.stack(happened, 1))
    return state, whole, before


# --------------------------------------------------------------------------------------- equation 1: the clip's tokens


def test_a_clip_becomes_event_tokens(model: Model) -> None:
    sizes = model.sizes
    visual = model.random(2, 12, sizes.visual)
    tokens, actions = model.encoder.read(visual)
    assert tokens.shape == (2, 9, sizes.width)
    w = Weights.read(model.encoder)
    for row in range(2):
        expected = adapt(w.of("adapter"), visual[row].numpy(), sizes.heads)
        model.near(tokens[row], expected)
        model.near(
            actions[row], linear(w.of("clip_head.read.2"), norm(w.of("clip_head.read.0"), expected[0]))
        )  # E_t[0] alone tells the clip's actions


def test_tokens_are_as_many_for_a_clip_of_any_size(tiny: Model) -> None:
    for count in (4, 8, 64, 100):
        assert tiny.encoder.adapter(tiny.random(1, count, 24)).shape == (1, 9, 16)


def test_clips_may_come_alone_in_rows_or_in_rows_of_rows(tiny: Model) -> None:
    visual = tiny.random(2, 3, 8, 24)
    mask = torch.ones(2, 3, 8, dtype=torch.bool)
    mask[1, 2, 4:] = False
    tokens, actions = tiny.encoder.read(visual, mask)
    assert tokens.shape == (2, 3, 9, 16) and actions.shape == (2, 3, A)
    row_tokens, row_actions = tiny.encoder.read(visual[1], mask[1])
    tiny.near(row_tokens, tokens[1])
    tiny.near(row_actions, actions[1])
    alone_tokens, alone_actions = tiny.encoder.read(visual[1, 2], mask[1, 2])
    tiny.near(alone_tokens, tokens[1, 2])
    tiny.near(alone_actions, actions[1, 2])


def test_masked_tokens_of_a_short_clip_have_no_influence(model: Model) -> None:
    visual = model.random(1, 12, model.sizes.visual)
    mask = torch.zeros(1, 12, dtype=torch.bool)
    mask[:, :6] = True  # two of four frame pairs, cut off within one
    tokens, _ = model.encoder.read(visual, mask)
    expected = adapt(
        Weights.read(model.encoder).of("adapter"), visual[0].numpy(), model.sizes.heads, keep=mask[0].numpy()
    )
    model.near(tokens[0], expected)
    for padding in (0.0, 1e6, math.nan, math.inf):
        padded = visual.clone()
        padded[:, 6:] = padding
        assert torch.equal(model.encoder.read(padded, mask)[0], tokens)


def test_a_clip_of_which_nothing_was_seen_has_tokens(tiny: Model) -> None:
    mask = torch.zeros(1, 8, dtype=torch.bool)
    one = tiny.encoder.read(tiny.random(1, 8, 24, seed=1), mask)[0]
    other = tiny.encoder.read(tiny.random(1, 8, 24, seed=2), mask)[0]
    assert one.isfinite().all() and torch.equal(one, other)


@pytest.mark.parametrize("count", [3, 6])
def test_tokens_that_are_no_four_frame_pairs_are_refused_by_name(tiny: Model, count: int) -> None:
    with pytest.raises(UsageError, match=f"a clip of {count} visual tokens cannot be 4 frame pairs"):
        tiny.encoder.adapter(tiny.random(1, count, 24))


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UsageError, match="3 heads do not divide a width of 16"):
        Attention(16, 3)


# --------------------------------------------------------------------------------------- equation 2: the gated update


def test_the_gated_update(model: Model) -> None:
    memory, clip = model.random(2, 9, model.sizes.width, seed=4), model.random(2, 9, model.sizes.width, seed=5)
    update = model.encoder.memory
    w = Weights.read(update)
    for row in range(2):
        old, new = memory[row].numpy(), candidate(w, memory[row].numpy(), clip[row].numpy(), model.sizes.heads)
        model.near(update.candidate(memory, clip)[row], new)
        openness = gate(w, old, new)
        assert openness.shape == (9, 1) and 0.001 < openness.min() < openness.max() < 0.999
        model.near(update.update(memory, clip)[row], (1 - openness) * old + openness * new)


def test_the_gate_is_one_number_for_each_slot(model: Model) -> None:
    memory, clip = model.random(2, 9, model.sizes.width, seed=4), model.random(2, 9, model.sizes.width, seed=5)
    update = model.encoder.memory
    new = update.candidate(memory, clip)
    openness = update.openness(memory, new)
    assert openness.shape == (2, 9, 1)
    assert len(openness.flatten().unique()) == 18  # and no slot's is another's
    moved, way = update.update(memory, clip) - memory, new - memory
    share = (moved * way).sum(-1) / (way * way).sum(-1)
    model.near(share, openness[..., 0])
    model.near(moved, share[..., None] * way)  # every number of a slot moved by the same share


@pytest.mark.parametrize("bias", [-1e4, 1e4])
def test_a_gate_of_zero_keeps_and_a_gate_of_one_overwrites(model: Model, bias: float) -> None:
    memory, clip = model.random(2, 9, model.sizes.width, seed=4), model.random(2, 9, model.sizes.width, seed=5)
    update = model.encoder.memory
    saved = update.gate.bias.clone()
    update.gate.bias.fill_(bias)
    try:
        updated = update.update(memory, clip)
        assert torch.equal(updated, memory if bias < 0 else update.candidate(memory, clip))
    finally:
        update.gate.bias.copy_(saved)


# ------------------------------------------------------------------------------------------------ equation 3: the reset


def test_the_initialiser(model: Model) -> None:
    clip = model.random(2, 9, model.sizes.width, seed=5)
    w = Weights.read(model.encoder.memory)
    for row in range(2):
        model.near(model.encoder.memory.initial(clip)[row], initial(w, clip[row].numpy(), model.sizes.heads))


def test_the_transition_head(model: Model) -> None:
    memory, clip = model.random(8, 9, model.sizes.width, seed=4), model.random(8, 9, model.sizes.width, seed=5)
    now, before = model.random(8, A, seed=6).sigmoid(), model.random(8, A, seed=7).sigmoid()
    age = torch.arange(8)  # 7 is older than any event becomes: the cue stays at the last
    logits = model.encoder.transition(memory, clip, now, before, age)
    w = Weights.read(model.encoder.transition)
    for row in range(8):
        pair = memory[row].numpy(), clip[row].numpy()
        cues = now[row].numpy(), before[row].numpy(), int(age[row])
        model.near(logits[row], transit(w, *pair, *cues, model.sizes.heads))


def test_the_transition_is_seen_in_the_summary_token_and_in_every_cue(tiny: Model) -> None:
    memory, clip = tiny.random(1, 9, 16, seed=4), tiny.random(1, 9, 16, seed=5)
    now, before, age = torch.full((1, A), 0.2).double(), torch.full((1, A), 0.3).double(), torch.tensor([2])
    head = tiny.encoder.transition
    logit = head(memory, clip, now, before, age)
    others = clip.clone()
    others[:, 1:] += 1
    assert torch.equal(head(memory, others, now, before, age), logit)
    first = clip.clone()
    first[:, 0, 0] += 1
    for changed in (
        head(memory, first, now, before, age),
        head(memory.flip(-1), clip, now, before, age),
        head(memory, clip, now + 0.1, before, age),
        head(memory, clip, now, before + 0.1, age),
        head(memory, clip, now, before, age + 1),
    ):
        assert (changed - logit).abs() > 1e-5


def test_a_half_as_the_paper_tells_it(model: Model) -> None:
    """Equations 2 and 3 joined, under the transitions that the model sees itself and under given ones."""
    sizes, encoder = model.sizes, model.encoder
    tokens, actions = model.clips(2, sizes.clips)
    w = Weights.read(encoder)
    given_resets = torch.zeros(2, sizes.clips, dtype=torch.bool)
    given_resets[0, [1, 4]] = given_resets[1, 5] = True
    for resets in (None, given_resets):
        _, whole, before = stepped(encoder, tokens, actions, resets)
        for row in range(2):
            memories, logits, happened, completed = unroll(
                w,
                tokens[row].numpy(),
                actions[row].numpy(),
                sizes.heads,
                None if resets is None else resets[row].numpy(),
            )
            assert whole.reset[row].tolist() == happened
            model.near(whole.memory[row], np.stack(memories))
            model.near(whole.transition[row], np.array(logits, np.float64))
            closed = [before[at][row] for at in range(1, sizes.clips) if happened[at]]
            assert len(closed) == len(completed) > 0
            for ours, theirs in zip(closed, completed, strict=True):
                model.near(ours, theirs)


def test_a_reset_exports_the_state_before_the_arriving_clip(model: Model) -> None:
    tokens, actions = model.clips(2, 4)
    encoder = model.encoder
    state = encoder.start(2)
    for at in range(3):
        state, _ = encoder.step(tokens[:, at], actions[:, at], state, forced=torch.zeros(2, dtype=torch.bool))
    kept = {name: value.clone() for name, value in state.tensors().items()}
    after, step = encoder.step(tokens[:, 3], actions[:, 3], state, forced=torch.tensor([True, False]))
    assert torch.equal(step.before, kept["memory"])
    assert step.reset.tolist() == [True, False] and after.age.tolist() == [1, 4]
    for name, value in state.tensors().items():  # nothing is written into the state that was given
        assert torch.equal(value, kept[name])
    other, _ = encoder.step(tokens[:, 3] + 1, actions[:, 3], state, forced=torch.tensor([True, False]))
    assert not torch.equal(other.memory, after.memory)
    _, again = encoder.step(tokens[:, 3] + 1, actions[:, 3], state, forced=torch.tensor([True, False]))
    assert torch.equal(again.before, step.before)  # whatever clip arrives, the completed memory has not seen it


def test_after_a_reset_the_memory_knows_the_clip_alone(model: Model) -> None:
    tokens, actions = model.clips(1, 1)
    encoder = model.encoder
    memories = []
    for seed in (1, 2):
        state = StreamState(
            memory=model.random(1, 9, model.sizes.width, seed=seed),
            age=torch.tensor([seed + 1]),
            actions=model.random(1, A, seed=seed).sigmoid(),
        )
        memories.append(encoder.step(tokens[:, 0], actions[:, 0], state, forced=torch.tensor([True]))[0].memory)
    assert torch.equal(memories[0], memories[1])
    assert torch.equal(memories[0], encoder.memory.initial(tokens[:, 0]))


def with_bias(encoder: EventEncoder, bias: float) -> Callable[[], None]:
    """A transition head that always says the same, and how to undo it."""
    last = encoder.transition.decide[3]
    saved = last.weight.clone(), last.bias.clone()
    last.weight.zero_()
    last.bias.fill_(bias)

    def undo() -> None:
        last.weight.copy_(saved[0])
        last.bias.copy_(saved[1])

    return undo


def test_the_safeguard_closes_an_event_of_24_seconds(tiny: Model) -> None:
    assert tiny.encoder.transition.config.longest == LONGEST
    tokens, actions = tiny.clips(1, 20)
    undo = with_bias(tiny.encoder, -50.0)
    try:
        state, rollovers, resets, ages = tiny.encoder.start(), [], [], []
        for at in range(20):
            state, step = tiny.encoder.step(tokens[:, at], actions[:, at], state)
            rollovers.append(bool(step.rollover))
            resets.append(bool(step.reset))
            ages.append(int(state.age))
    finally:
        undo()
    assert [at for at in range(20) if resets[at]] == [0, 6, 12, 18]
    assert [at for at in range(20) if rollovers[at]] == [6, 12, 18]  # the first clip's start is no rollover
    assert ages == [at % 6 + 1 for at in range(20)]


def test_the_safeguard_holds_under_given_transitions_too(tiny: Model) -> None:
    tokens, actions = tiny.clips(1, 8)
    _, whole, _ = stepped(tiny.encoder, tokens, actions, torch.zeros(1, 8, dtype=torch.bool))
    assert whole.reset.tolist() == [[at in (0, 6) for at in range(8)]]


@pytest.mark.parametrize("seconds, clips", [(4.0, 1), (12.0, 3), (24.0, 6)])
def test_the_safeguard_is_the_configured_duration(seconds: float, clips: int) -> None:
    head = TransitionHead(TransitionConfig(seconds=seconds, heads=2), 16, A)
    assert head.safeguard(torch.arange(8)).tolist() == [age >= clips for age in range(8)]


@given(logit=st.floats(-6, 6, allow_nan=False), age=st.integers(0, 6), threshold=st.floats(0.05, 0.95, allow_nan=False))
@settings(deadline=None)
def test_a_reset_is_a_transition_or_the_safeguard(logit: float, age: int, threshold: float) -> None:
    head = TransitionHead(TransitionConfig(threshold=threshold, heads=2), 16, A)
    ours = bool(head.reset(torch.tensor([logit], dtype=torch.float64), torch.tensor([age])))
    probability = 1 / (1 + math.exp(-logit))
    if abs(probability - threshold) > 1e-9:
        assert ours == (probability >= threshold or age >= LONGEST or age == 0)


def test_the_first_clip_starts_an_event(model: Model) -> None:
    tokens, actions = model.clips(2, 1)
    undo = with_bias(model.encoder, -50.0)
    try:
        for forced in (None, torch.zeros(2, dtype=torch.bool)):
            state, step = model.encoder.step(tokens[:, 0], actions[:, 0], model.encoder.start(2), forced=forced)
            assert step.reset.all() and not step.rollover.any() and state.age.tolist() == [1, 1]
            assert torch.equal(step.transition, torch.zeros_like(step.transition))  # nothing to compare with
            assert torch.equal(state.memory, model.encoder.memory.initial(tokens[:, 0]))
        whole = model.encoder.whole(tokens, actions, torch.zeros(2, 1, dtype=torch.bool))
    finally:
        undo()
    assert whole.reset.all() and torch.equal(whole.transition, torch.zeros_like(whole.transition))
    model.near(whole.memory[:, 0], state.memory)


def test_the_last_memory_is_closed_at_the_end_from_the_state(tiny: Model) -> None:
    """Completed memories are those before each reset, and what the state holds when the stream ends: none is lost."""
    tokens, actions = tiny.clips(1, 11)
    resets = torch.zeros(1, 11, dtype=torch.bool)
    resets[0, [3, 5]] = True
    state, whole, before = stepped(tiny.encoder, tokens, actions, resets)
    closed = [before[at][0] for at in (3, 5)] + [state.memory[0]]
    ends = [2, 4, 10]
    for ours, end in zip(closed, ends, strict=True):
        assert torch.equal(ours, whole.memory[0, end])
    assert int(state.age) == 6
    w = Weights.read(tiny.encoder)
    *_, completed = unroll(w, tokens[0].numpy(), actions[0].numpy(), 2, resets[0].numpy())
    assert len(completed) == 2  # the loop of the paper leaves the last one to the end of the stream


# --------------------------------------------------------------------------- a whole half in one call, and clip by clip


def same(one: Whole, other: Whole, near: float = 1e-5) -> None:
    assert torch.equal(one.reset, other.reset)
    for ours, theirs in ((one.memory, other.memory), (one.transition, other.transition)):
        assert ours.shape == theirs.shape
        assert (ours - theirs).abs().max() <= near


def test_a_half_in_one_call_clip_by_clip_and_rolled_are_the_same(model: Model) -> None:
    encoder, clips = model.encoder, model.sizes.clips
    tokens, actions = model.clips(3, clips, seed=11)
    end, by_clip, _ = stepped(encoder, tokens, actions)
    assert 3 < int(by_clip.reset.sum()) < 3 * clips - 3  # the model decides some each way
    state, rolled = encoder.roll(tokens, actions, encoder.start(3), torch.ones(3, clips, dtype=torch.bool))
    same(rolled, by_clip, 0.0)
    same(encoder.whole(tokens, actions, by_clip.reset), by_clip, max(1e-5, model.sizes.near))
    for name, value in state.tensors().items():
        assert torch.equal(value, end.tensors()[name])


@st.composite
def halves(draw: st.DrawFn) -> tuple[Tensor, int]:
    """Given resets of some streams, no event longer than six clips, and a seed of what the clips hold."""
    streams = draw(st.integers(1, 3))
    clips = draw(st.integers(1, 15))
    rows = []
    for _ in range(streams):
        row: list[bool] = []
        while len(row) < clips:
            row += [True] + [False] * (draw(st.integers(1, LONGEST)) - 1)
        row[0] = draw(st.booleans())  # the first clip starts an event, said or not
        rows.append(row[:clips])
    return torch.tensor(rows), draw(st.integers(0, 2**16))


@given(half=halves())
@example(half=(torch.ones(2, 12, dtype=torch.bool), 0))
@example(half=(torch.zeros(2, 6, dtype=torch.bool), 0))
@example(half=(torch.zeros(1, 1, dtype=torch.bool), 0))
@settings(deadline=None, max_examples=40)
def test_the_whole_is_the_plain_loop(tiny: Model, half: tuple[Tensor, int]) -> None:
    resets, seed = half
    before = resets.clone()
    tokens, actions = tiny.clips(*resets.shape, seed=seed)
    whole = tiny.encoder.whole(tokens, actions, resets)
    _, by_clip, _ = stepped(tiny.encoder, tokens, actions, resets)
    same(whole, by_clip, 1e-10)
    assert torch.equal(resets, before)  # what was given is not written to


@given(half=halves())
@settings(deadline=None, max_examples=10)
def test_the_whole_is_the_formulas(tiny: Model, half: tuple[Tensor, int]) -> None:
    resets, seed = half
    tokens, actions = tiny.clips(*resets.shape, seed=seed)
    whole = tiny.encoder.whole(tokens, actions, resets)
    w = Weights.read(tiny.encoder)
    for row in range(len(resets)):
        memories, logits, happened, _ = unroll(w, tokens[row].numpy(), actions[row].numpy(), 2, resets[row].numpy())
        tiny.near(whole.memory[row], np.stack(memories))
        tiny.near(whole.transition[row], np.array(logits))
        assert whole.reset[row].tolist() == happened


def test_an_event_longer_than_24_seconds_is_refused_by_name(tiny: Model) -> None:
    tokens, actions = tiny.clips(2, 12)
    resets = torch.zeros(2, 12, dtype=torch.bool)
    resets[0, 6] = True
    resets[1, 7] = True
    with pytest.raises(UsageError, match="an event of 7 clips; none lasts longer than 24 s"):
        tiny.encoder.whole(tokens, actions, resets)
    resets[1, 6] = True
    assert tiny.encoder.whole(tokens, actions, resets).memory.shape == (2, 12, 9, 16)


@pytest.mark.parametrize("streams, clips", [(2, 0), (0, 3)])
def test_a_half_without_clips_has_no_memories(tiny: Model, streams: int, clips: int) -> None:
    whole = tiny.encoder.whole(*tiny.clips(streams, clips), torch.zeros(streams, clips, dtype=torch.bool))
    assert whole.memory.shape == (streams, clips, 9, 16) and whole.transition.shape == (streams, clips)


# ------------------------------------------------------------------------------------------------------- streams, state


def test_streams_of_a_batch_do_not_touch_each_other(model: Model) -> None:
    encoder, clips = model.encoder, model.sizes.clips
    tokens, actions = model.clips(3, clips, seed=21)
    here = torch.ones(3, clips, dtype=torch.bool)
    visual = model.random(3, 2, 8, model.sizes.visual)
    end, rolled = encoder.roll(tokens, actions, encoder.start(3), here)
    whole, read = encoder.whole(tokens, actions, rolled.reset), encoder.read(visual)
    other_tokens, other_actions, other_visual = tokens.clone(), actions.clone(), visual.clone()
    other_tokens[1] += model.random(*tokens[1].shape, seed=22)
    other_actions[1] -= 1
    other_visual[1] *= 2
    other_end, other_rolled = encoder.roll(other_tokens, other_actions, encoder.start(3), here)
    other_whole, other_read = encoder.whole(other_tokens, other_actions, rolled.reset), encoder.read(other_visual)
    for one, other in (
        (rolled.memory, other_rolled.memory),
        (rolled.transition, other_rolled.transition),
        (rolled.reset, other_rolled.reset),
        (whole.memory, other_whole.memory),
        (whole.transition, other_whole.transition),
        (end.memory, other_end.memory),
        (end.age, other_end.age),
        (end.actions, other_end.actions),
        (read[0], other_read[0]),
        (read[1], other_read[1]),
    ):
        assert torch.equal(one[[0, 2]], other[[0, 2]])
    for one, other in ((rolled, other_rolled), (whole, other_whole)):
        assert not torch.equal(one.memory[1], other.memory[1])
    alone, by_itself = encoder.roll(tokens[1:2], actions[1:2], encoder.start(), here[1:2])
    assert torch.equal(by_itself.reset, rolled.reset[1:2])
    model.near(by_itself.memory, rolled.memory[1:2])
    model.near(alone.memory, end.memory[1:2])


def test_a_stream_without_a_clip_stays_as_it_is(model: Model) -> None:
    encoder = model.encoder
    tokens, actions = model.clips(2, 6, seed=31)
    state, *_ = stepped(encoder, tokens, actions, torch.zeros(2, 6, dtype=torch.bool))
    assert state.age.tolist() == [6, 6]  # full: a clip would reset it
    tokens, actions = tokens[:, 0].clone(), actions[:, 0].clone()
    tokens[1], actions[1] = math.nan, math.nan  # where no clip is, anything may stand
    after, step = encoder.step(tokens, actions, state, arrived=torch.tensor([True, False]))
    for name, value in after.tensors().items():
        assert torch.equal(value[1], state.tensors()[name][1])
        assert not torch.equal(value[0], state.tensors()[name][0])
    assert step.reset.tolist() == [True, False] and step.rollover.tolist() == [True, False]
    assert step.transition[1] == 0 and step.transition[0] != 0


def test_pauses_change_nothing_but_time(model: Model) -> None:
    """A stream that skips steps of its batch has the memories that it would have alone."""
    encoder = model.encoder
    tokens, actions = model.clips(2, 9, seed=41)
    arrived = torch.ones(2, 9, dtype=torch.bool)
    arrived[1, [0, 3, 4, 8]] = False
    end, rolled = encoder.roll(tokens, actions, encoder.start(2), arrived)
    assert not rolled.reset[~arrived].any()
    here = arrived[1]
    alone_end, alone = encoder.roll(
        tokens[1:, here], actions[1:, here], encoder.start(), torch.ones(1, 5, dtype=torch.bool)
    )
    assert torch.equal(alone.reset[0], rolled.reset[1, here])
    model.near(alone.memory[0], rolled.memory[1, here])
    model.near(alone.transition[0], rolled.transition[1, here])
    model.near(alone_end.memory[0], end.memory[1])
    assert int(alone_end.age[0]) == int(end.age[1])


def test_a_saved_state_goes_on_as_if_nothing_had_been(model: Model) -> None:
    encoder, clips = model.encoder, model.sizes.clips
    tokens, actions = model.clips(2, clips, seed=51)
    end, rolled = encoder.roll(tokens, actions, encoder.start(2), torch.ones(2, clips, dtype=torch.bool))
    for cut in {1, clips // 2, clips - 1}:
        here = torch.ones(2, cut, dtype=torch.bool)
        state, first = encoder.roll(tokens[:, :cut], actions[:, :cut], encoder.start(2), here)
        saved = {name: value.numpy().tobytes() for name, value in state.tensors().items()}
        read = {
            name: torch.frombuffer(bytearray(saved[name]), dtype=like.dtype).view(like.shape)
            for name, like in state.tensors().items()
        }
        there = torch.ones(2, clips - cut, dtype=torch.bool)
        finish, second = encoder.roll(tokens[:, cut:], actions[:, cut:], StreamState.of(read), there)
        assert torch.equal(torch.cat([first.memory, second.memory], 1), rolled.memory)
        assert torch.equal(torch.cat([first.transition, second.transition], 1), rolled.transition)
        assert torch.equal(torch.cat([first.reset, second.reset], 1), rolled.reset)
        for name, value in finish.tensors().items():
            assert torch.equal(value, end.tensors()[name])


def test_rows_of_a_state(tiny: Model) -> None:
    tokens, actions = tiny.clips(3, 4)
    state, *_ = stepped(tiny.encoder, tokens, actions)
    for index, rows in ((slice(1, 3), [1, 2]), (torch.tensor([2, 0]), [2, 0])):
        part = state.rows(index)
        for name, value in part.tensors().items():
            assert torch.equal(value, state.tensors()[name][rows])


# ------------------------------------------------------------------------------------------------------------ causality


def test_later_clips_change_nothing_earlier(model: Model) -> None:
    encoder, clips = model.encoder, model.sizes.clips
    tokens, actions = model.clips(2, clips, seed=61)
    here = torch.ones(2, clips, dtype=torch.bool)
    _, rolled = encoder.roll(tokens, actions, encoder.start(2), here)
    _, by_clip, before = stepped(encoder, tokens, actions)
    whole = encoder.whole(tokens, actions, rolled.reset)
    for cut in {1, clips // 2, clips - 1}:
        later_tokens, later_actions, later_resets = tokens.clone(), actions.clone(), rolled.reset.clone()
        later_tokens[:, cut:] = model.random(*tokens[:, cut:].shape, seed=62) * 3
        later_actions[:, cut:] *= -1
        later_resets[:, cut:] = True
        _, other_rolled = encoder.roll(later_tokens, later_actions, encoder.start(2), here)
        _, other_by_clip, other_before = stepped(encoder, later_tokens, later_actions)
        other_whole = encoder.whole(later_tokens, later_actions, later_resets)
        for one, other, near in (
            (rolled, other_rolled, 0.0),
            (by_clip, other_by_clip, 0.0),
            (whole, other_whole, 1e-6 if model.sizes.dtype == torch.float64 else 1e-5),  # other sums of other batches
        ):
            past = [
                Whole(memory=each.memory[:, :cut], transition=each.transition[:, :cut], reset=each.reset[:, :cut])
                for each in (one, other)
            ]
            same(*past, near)
            assert not torch.equal(one.memory[:, cut:], other.memory[:, cut:])
        for one_before, other_one in zip(before[: cut + 1], other_before[: cut + 1], strict=True):
            assert torch.equal(one_before, other_one)


# -------------------------------------------------------------------------------------------- equation 5: the projector


def project(w: Weights, memories: Array, heads: int, layers: int = 2) -> Array:
    """Z = P([M ; B^sel]), memories [n, K, D], newest first."""
    context = (memories + w["order"][: len(memories)] + w["slot"]).reshape(-1, memories.shape[-1])
    prefix = w["queries"]
    for at in range(layers):
        prefix = block(w.of(f"layers.{at}"), prefix, context, heads, own=True)
    return linear(w.of("out"), norm(w.of("norm"), prefix)) * w["scale"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_prefix_has_one_length_for_one_to_five_memories(model: Model, count: int) -> None:
    sizes = model.sizes
    memories = model.random(2, count, 9, sizes.width, seed=71)
    prefix = model.projector(memories)
    assert prefix.shape == (2, 8, sizes.language)
    model.near(prefix[1], project(Weights.read(model.projector), memories[1].numpy(), sizes.heads))


def test_masked_memories_have_no_influence_on_the_prefix(model: Model) -> None:
    memories = model.random(5, 5, 9, model.sizes.width, seed=72)
    mask = torch.arange(5) <= torch.arange(5)[:, None]  # one memory, two, ... five
    prefix = model.projector(memories, mask)
    changed = torch.where(mask[..., None, None], memories, 100.0)
    assert torch.equal(model.projector(changed, mask), prefix)
    for row in range(5):
        model.near(prefix[row], model.projector(memories[row : row + 1, : row + 1])[0])


def test_the_prefix_tells_the_newest_memory_from_an_older_one_and_slot_from_slot(tiny: Model) -> None:
    memories = tiny.random(1, 3, 9, 16, seed=73)
    prefix = tiny.projector(memories)
    assert (tiny.projector(memories.flip(1)) - prefix).abs().max() > 1e-4
    assert (tiny.projector(memories.flip(2)) - prefix).abs().max() > 1e-4


@pytest.mark.parametrize("scale", [0.03, 2.0])
def test_the_prefix_starts_at_the_scale_of_the_language_model(full: Model, scale: float) -> None:
    torch.manual_seed(5)
    projector = FULL.projector().eval()
    embeddings = torch.randn(500, 4096) * scale
    embeddings[:100] *= 3  # some words stand out
    for kind in (torch.float32, torch.bfloat16):
        projector.match_scale(embeddings.to(kind))
        prefix = projector(full.random(2, 3, 9, 1024, seed=74))
        assert float(prefix.square().mean().sqrt()) == pytest.approx(float(embeddings.square().mean().sqrt()), rel=0.05)


# ---------------------------------------------------------------------------------------------------------------- heads


def test_the_heads_of_clips_and_events(model: Model) -> None:
    sizes, encoder = model.sizes, model.encoder
    memory = model.random(2, 9, sizes.width, seed=81)
    actions, kind, side = encoder.event_heads(memory)
    assert (actions.shape, kind.shape, side.shape) == ((2, A), (2, len(TYPES)), (2, len(SIDES)))
    w = Weights.read(encoder.event_heads)
    for row in range(2):
        pooled = pool(w.of("pool"), memory[row].numpy(), sizes.heads)
        thought = gelu(linear(w.of("think.1"), norm(w.of("think.0"), pooled)))
        model.near(actions[row], linear(w.of("actions"), thought))
        model.near(kind[row], linear(w.of("kind"), thought))
        model.near(side[row], linear(w.of("side"), thought))


def test_the_heads_of_contexts(model: Model) -> None:
    sizes, heads = model.sizes, model.heads
    memories = model.random(2, 3, 9, sizes.width, seed=82)
    candidates = model.random(2, 4, 9, sizes.width, seed=83)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    summary = heads.summary(memories, mask)
    routes, scores, query = heads.routes(summary), heads.local_scores(summary, candidates), heads.query(summary)
    key, null = heads.key(candidates[:, 0]), heads.null_score(query)
    assert routes.shape == (2, len(TRACKS)) and scores.shape == (2, 4) and null.shape == (2,)
    w = Weights.read(heads)

    def through(name: str, x: Array) -> Array:
        return linear(w.of(f"{name}.1"), norm(w.of(f"{name}.0"), x))

    for row, count in ((0, 3), (1, 2)):
        tokens = (memories[row, :count].numpy() + w["order"][:count]).reshape(-1, sizes.width)
        about = pool(w.of("context"), tokens, sizes.heads)
        model.near(summary[row], about)
        model.near(routes[row], through("route", about))
        events = [pool(w.of("event"), each, sizes.heads) for each in candidates[row].numpy()]
        asked = unit(through("local_query", about))
        cosines = np.array([asked @ unit(through("local_key", each)) for each in events])
        model.near(scores[row], cosines * np.exp(w["local_scale"]))
        wanted = unit(through("retrieval_query", about))
        model.near(query[row], wanted)
        model.near(key[row], unit(through("retrieval_key", events[0])))
        model.near(null[row], wanted @ unit(w["null"]))


def test_keys_and_queries_have_length_one_and_null_is_a_cosine(model: Model) -> None:
    heads, width = model.heads, model.sizes.width
    memories = model.random(4, 5, 9, width, seed=84, scale=30.0)
    query = heads.query(heads.summary(memories, torch.ones(4, 5, dtype=torch.bool)))
    key = heads.key(memories[:, 0])
    assert query.shape == key.shape == (4, model.sizes.retrieval)
    for vectors in (query, key):
        model.near(vectors.norm(dim=-1), np.ones(4))
    assert heads.null_score(query).abs().max() <= 1 + 1e-6


def test_masked_memories_have_no_influence_on_a_summary(model: Model) -> None:
    memories = model.random(5, 5, 9, model.sizes.width, seed=85)
    mask = torch.arange(5) <= torch.arange(5)[:, None]
    summary = model.heads.summary(memories, mask)
    changed = torch.where(mask[..., None, None], memories, 100.0)
    assert torch.equal(model.heads.summary(changed, mask), summary)
    for row in range(5):
        alone = model.heads.summary(memories[row : row + 1, : row + 1], torch.ones(1, row + 1, dtype=torch.bool))
        model.near(summary[row], alone[0])


# ------------------------------------------------------------------------------------------------------------ gradients


def dead(modules: Mapping[str, nn.Module], outputs: list[Tensor]) -> list[str]:
    """Parameters that a loss touching every number of the outputs leaves without a gradient."""
    loss = torch.stack([(each * torch.randn_like(each)).sum() for each in outputs]).sum()
    names = [f"{part}.{name}" for part, module in modules.items() for name, _ in module.named_parameters()]
    values = [value for module in modules.values() for value in module.parameters()]
    gradients = torch.autograd.grad(loss, values, allow_unused=True, retain_graph=True)
    return [
        name
        for name, gradient in zip(names, gradients, strict=True)
        if gradient is None or not gradient.isfinite().all() or float(gradient.abs().max()) < 1e-9
    ]


@torch.enable_grad()
def test_every_parameter_of_stage_one_learns(model: Model) -> None:
    torch.manual_seed(9)
    encoder = model.encoder
    tokens, actions = encoder.read(model.random(2, 7, 8, model.sizes.visual))
    resets = torch.zeros(2, 7, dtype=torch.bool)
    resets[0, 3] = resets[1, 6] = True
    whole = encoder.whole(tokens, actions, resets)
    closed = torch.cat([whole.memory[0, [2, 6]], whole.memory[1, [5, 6]]])
    outputs = [actions, whole.transition, *encoder.event_heads(closed)]
    assert dead({"encoder": encoder}, outputs) == []
    # without any one of the losses, the part that it is for stays as it was
    assert all(
        name.startswith("encoder.transition.") for name in dead({"encoder": encoder}, [outputs[0], *outputs[2:]])
    )


@torch.enable_grad()
def test_every_parameter_of_stages_two_and_three_learns(model: Model) -> None:
    torch.manual_seed(9)
    memories, candidates = (model.random(2, 5, 9, model.sizes.width, seed=seed) for seed in (91, 92))
    mask = torch.ones(2, 5, dtype=torch.bool)
    heads = model.heads
    summary = heads.summary(memories, mask)
    query, key = heads.query(summary), heads.key(candidates.flatten(0, 1)).view(2, 5, -1)
    ranked = torch.cat([torch.einsum("br,bcr->bc", query, key), heads.null_score(query)[:, None]], dim=1)
    outputs = [heads.routes(summary), heads.local_scores(summary, candidates), ranked * heads.retrieval_scale.exp()]
    assert dead({"heads": heads}, outputs) == []
    assert dead({"projector": model.projector}, [model.projector(memories, mask)]) == []


@torch.enable_grad()
def test_action_cues_carry_no_gradient_and_the_start_of_a_half_none_of_the_transition(tiny: Model) -> None:
    """The cue is what the action head says; the transition loss does not teach it. A start has nothing to compare."""
    encoder = tiny.encoder
    tokens, actions = tiny.clips(1, 4)
    actions.requires_grad_()
    tokens.requires_grad_()
    whole = encoder.whole(tokens, actions, torch.zeros(1, 4, dtype=torch.bool))
    assert torch.autograd.grad(whole.transition.sum(), actions, allow_unused=True, retain_graph=True) == (None,)
    (gradient,) = torch.autograd.grad(whole.transition[:, 0].sum(), tokens, allow_unused=True, retain_graph=True)
    assert gradient is None or not gradient.any()
    (gradient,) = torch.autograd.grad(whole.memory[:, 3].sum() + whole.transition[:, 3].sum(), tokens)
    assert all(gradient[0, at].any() for at in range(4))  # the last of an event reaches back to its first clip


@torch.enable_grad()
def test_gradients_are_those_of_the_loop(tiny: Model) -> None:
    tokens, actions = tiny.clips(2, 8)
    resets = torch.zeros(2, 8, dtype=torch.bool)
    resets[0, 2] = resets[1, [5, 6]] = resets[0, 7] = True
    weigh = tiny.random(2, 8, 9, 16, seed=95)
    values = list(tiny.encoder.memory.parameters()) + list(tiny.encoder.transition.parameters())
    both = []
    for result in (tiny.encoder.whole(tokens, actions, resets), stepped(tiny.encoder, tokens, actions, resets)[1]):
        both.append(torch.autograd.grad((result.memory * weigh).sum() + result.transition.square().sum(), values))
    for one, other in zip(*both, strict=True):
        assert torch.allclose(one, other, rtol=1e-8, atol=1e-8)


# ------------------------------------------------------------------------------------------------- the published size


def test_parameters_at_the_published_size() -> None:
    """Counted by hand from the table: D = 1024, eight heads, 2 layers, K_m = 9, K_p = 8, d_v = d_l = 4096."""
    d, lm = 1024, 4096
    attention = 4 * d * d + 4 * d  # query, key, value, out, each with its bias
    norm_ = 2 * d
    think = 8 * d * d + 5 * d  # D -> 4 D -> D
    reader = attention + think + 2 * norm_  # cross-attention and FFN
    full_block = 2 * attention + think + 3 * norm_  # and self-attention
    pool_ = d + norm_ + attention
    assert (reader, full_block, pool_) == (12_596_224, 16_796_672, 4_201_472)
    assert (A, len(TYPES), len(SIDES), len(TRACKS)) == (17, 9, 3, 3)
    cues = 17 + 17 + 7
    by_hand = {
        "adapter": 2 * lm + (lm * d + d) + 4 * d + 9 * d + 2 * reader + norm_,
        "memory": 2 * full_block + norm_ + (2 * d + 1) + 9 * d + full_block + norm_,
        "transition": 2 * norm_ + attention + ((4 * d + cues) * d + d) + (d + 1),
        "clip_head": norm_ + (d * 17 + 17),
        "event_heads": pool_ + norm_ + (d * d + d) + (d * 17 + 17) + (d * 9 + 9) + (d * 3 + 3),
        "projector": 5 * d + 9 * d + 8 * d + 2 * full_block + norm_ + (d * lm + lm) + 1,
        "context": 5 * d + 2 * pool_ + norm_ + (d * 3 + 3) + 4 * (norm_ + d * 256 + 256) + 256 + 2,
    }
    assert by_hand == {
        "adapter": 29_411_328,
        "memory": 50_405_377,
        "transition": 8_440_833,
        "clip_head": 19_473,
        "event_heads": 5_282_845,
        "projector": 37_816_321,
        "context": 9_471_237,
    }
    with torch.device("meta"):
        paper = HeadsConfig()
        parts: dict[str, nn.Module] = {
            "adapter": ClipEventAdapter(AdapterConfig(), lm),
            "memory": EventMemory(MemoryConfig(), d, 9),
            "transition": TransitionHead(TransitionConfig(), d, A),
            "clip_head": ClipHead(d),
            "event_heads": EventHeads(paper, d),
            "projector": MemoryProjector(ProjectorConfig(), d, 9, lm),
            "context": ContextHeads(paper, d),
        }
        encoder = EventEncoder(lm, AdapterConfig(), MemoryConfig(), TransitionConfig(), paper)
    counted = {name: sum(value.numel() for value in part.parameters()) for name, part in parts.items()}
    print(*(f"{name} {count:,}" for name, count in counted.items()), f"together {sum(counted.values()):,}", sep="\n")
    assert counted == by_hand
    stage_one = sum(by_hand[name] for name in ("adapter", "memory", "transition", "clip_head", "event_heads"))
    assert sum(value.numel() for value in encoder.parameters()) == stage_one == 93_559_856


def test_the_papers_table_is_the_default() -> None:
    adapter, memory, projector, transition = AdapterConfig(), MemoryConfig(), ProjectorConfig(), TransitionConfig()
    assert (adapter.width, adapter.tokens, adapter.layers, adapter.heads) == (1024, 9, 2, 8)
    assert (memory.layers, memory.heads, memory.initial_layers) == (2, 8, 1)
    assert (projector.tokens, projector.layers, projector.heads, projector.memories) == (8, 2, 8, 5)
    assert (transition.seconds, transition.longest) == (24.0, 6)

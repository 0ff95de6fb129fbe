"""Equations 4 to 6 against a few lines of numpy: records, contexts, and what stages 1 and 2 minimise.

Equations 1 to 3 are in test_equations, on the same two configurations; equation 7 is in test_training_commentary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.test_equations import FULL, TINY, A, Array, Model, Weights, build, project, sigmoid
from tests.tiny_training import Ground
from torch import Tensor

from streamsoccer.actions import EventType, Label
from streamsoccer.buffer import CompletedMemory
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import ActiveMemory, build_context
from streamsoccer.domain import CloseReason, Side, Split, Tally, Track
from streamsoccer.encoder import Whole
from streamsoccer.errors import FutureLeak
from streamsoccer.heads import SIDES, TYPES
from streamsoccer.language import Language
from streamsoccer.model import stack_memories
from streamsoccer.prompt import Prompter
from streamsoccer.record import MatchContext, Record, assemble
from streamsoccer.testing.backbone import tiny_tokenizer
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.losses import asymmetric, cross_entropy, focal
from streamsoccer.training.memory import MemoryObjective, type_weights
from streamsoccer.training.recipe import MemoryStage
from streamsoccer.training.records import RecordObjective
from streamsoccer.training.windows import WindowBatch


@pytest.fixture(scope="module", params=["tiny", "full"])
def model(request: pytest.FixtureRequest) -> Model:
    return build(TINY if request.param == "tiny" else FULL)


def at(seconds: float) -> MatchTime:
    return MatchTime(1, seconds)


def memory(tokens: Tensor, end: float, clips: int = 3) -> CompletedMemory:
    return CompletedMemory(
        event=f"a/b/c#1-e{round(end):04d}",
        half=1,
        start=at(end - 4 * clips),
        end=at(end),
        available_at=at(end + 4),
        tokens=tokens,
        key=np.array([end, 1.0], np.float32),
        type=EventType.SET_PIECE,
        actions=(Label.CORNER, Label.SHOT_ON_TARGET),
        side=Side.AWAY,
    )


# ----------------------------------------------------------------------------------------------- equation 4: the record


def test_a_record_is_assembled_from_its_events_metadata_and_its_caption_alone() -> None:
    closed = memory(torch.zeros(9, 4), 400)
    context = MatchContext(at=closed.available_at, tally=Tally())
    made = assemble(closed, "  The corner is\n saved. ", context, at(412))
    assert made is not None
    for name in ("event", "half", "start", "end", "type", "actions", "side"):
        assert getattr(made, name) == getattr(closed, name)
    assert (made.text, made.ready_at, made.context, made.match) == ("The corner is saved.", at(412), context, "a/b/c")
    assert made.id == "a/b/c#1-r0388" and np.array_equal(made.key, closed.key)
    again = assemble(closed, "The corner is saved.", context, at(412))
    assert again is not None and repr(again) == repr(made)
    assert assemble(closed, " ... ", context, at(412)) is None  # a caption that says nothing makes no record
    with pytest.raises(FutureLeak):  # x_j^ctx is of the closure, and nothing is ready before it
        assemble(closed, "A corner.", replace(context, at=at(408)), at(412))
    with pytest.raises(FutureLeak):
        assemble(closed, "A corner.", context, at(400))


def test_stage_2_is_the_cross_entropy_of_the_captions_tokens(trained: Ground) -> None:
    """-1/n sum log p(c_j | P(M_j^c), x_j^ctx), the mean over the captions of each one's mean."""
    from streamsoccer.model import ModelConfig, StreamSoccer, Widths
    from streamsoccer.training.records import RecordBatch

    torch.manual_seed(2)
    backbone = trained.backbone
    made = StreamSoccer(ModelConfig(), Widths.of(backbone)).eval()
    language, prompter = Language(backbone).eval(), Prompter(backbone.tokenizer)
    memories = torch.randn(2, 1, 9, 1024)
    prompts = tuple(
        prompter.record(MatchContext(at=at(400), tally=None if row else Tally())) for row in range(2)
    )  # of unlike lengths
    targets = tuple(
        prompter.target(text, caption=True) for text in ("The corner is swung in.", "Goal! [PLAYER] ([TEAM]) scores.")
    )
    batch = RecordBatch(
        names=("a", "b"), memories=memories, mask=torch.ones(2, 1, dtype=torch.bool), prompts=prompts, targets=targets
    )
    table: Any = backbone.model.get_input_embeddings()
    means = []
    with torch.no_grad():
        prefix = made.projector(memories)
        for row, (prompt, target) in enumerate(zip(prompts, targets, strict=True)):
            parts = [table(torch.tensor(ids, dtype=torch.long)) for ids in (prompt.before, prompt.after, target[:-1])]
            read = torch.cat([parts[0], prefix[row], parts[1], parts[2]])[None]
            places = torch.arange(read.shape[1]).expand(3, 1, -1)
            logits = backbone.model(inputs_embeds=read, position_ids=places).logits
            said = logits[0, -len(target) :].double().numpy()
            means.append(by_hand_entropy(said, np.array(target)).mean())
        found = float(RecordObjective(made, language).eval()(batch)["loss"])
    assert found == pytest.approx(np.mean(means), rel=1e-4)


# --------------------------------------------------------------------------------------------- equation 5: the context


def test_the_soft_prefix_of_each_mode(model: Model) -> None:
    """Z_t = P(M_j^c) for the current event, P([M_t ; B_t^sel]) otherwise; records are text of the historical mode."""
    sizes = model.sizes
    tokens = [model.random(9, sizes.width, seed=100 + each) for each in range(5)]
    now, selected = tokens[0], [memory(each, 460 - 30 * place) for place, each in enumerate(tokens[1:])]
    completed = selected[0]
    context = MatchContext(at=at(480))
    record = assemble(memory(tokens[2], 200), "A corner from earlier.", MatchContext(at=at(204)), at(204))
    assert isinstance(record, Record)
    prompter = Prompter(tiny_tokenizer(["A corner from earlier."]))
    w = Weights.read(model.projector)
    for track in Track:
        made = build_context(
            track,
            Cutoff(at(480)),
            active=ActiveMemory(tokens=now, start=at(464), available_at=at(480)),
            completed=completed,
            selected=selected[::-1],  # oldest first, as the buffer gives them
            records=[record],
            context=context,
            prompter=prompter,
        )
        memories, mask = stack_memories([made.memories])
        assert mask.all()
        given = [completed.tokens] if track is Track.CURRENT else [now, *(each.tokens for each in selected)]
        with torch.no_grad():
            prefix = model.projector(memories)
        assert prefix.shape == (1, 8, sizes.language)
        model.near(prefix[0], project(w, np.stack([each.numpy() for each in given]), sizes.heads))
        assert (record.text in prompter.words(made.prompt)) == (track is Track.HISTORICAL)


# ------------------------------------------------------------------------------------------------ equation 6: stage 1


def by_hand_asymmetric(logits: Array, targets: Array) -> Array:
    """Gamma- 4, gamma+ 1, margin 0.05; a sum over the classes."""
    p = sigmoid(logits)
    shifted = np.maximum(p - 0.05, 0)
    return -(targets * (1 - p) * np.log(p) + (1 - targets) * shifted**4 * np.log(1 - shifted)).sum(-1)


def by_hand_focal(logits: Array, targets: Array) -> Array:
    """Gamma 2, element by element."""
    p = sigmoid(logits)
    right = np.where(targets > 0, p, 1 - p)
    return -((1 - right) ** 2) * np.log(right)


def by_hand_entropy(logits: Array, wanted: Array) -> Array:
    shifted = logits - logits.max(-1, keepdims=True)
    return np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(wanted)), wanted]


def test_the_losses_are_their_papers() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(40, A, generator=generator) * 3
    targets = (torch.rand(40, A, generator=generator) < 0.2).float()
    wanted = torch.randint(A, (40,), generator=generator)
    x, y = logits.double().numpy(), targets.double().numpy()
    ours = asymmetric(logits, targets, negative=4.0, positive=1.0, margin=0.05).numpy()
    np.testing.assert_allclose(ours, by_hand_asymmetric(x, y), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(focal(logits, targets, 2.0).numpy(), by_hand_focal(x, y), rtol=1e-4, atol=1e-5)
    entropy = cross_entropy(logits, wanted).numpy()
    np.testing.assert_allclose(entropy, by_hand_entropy(x, wanted.numpy()), rtol=1e-5, atol=1e-6)
    sure = torch.tensor([[60.0], [-60.0], [-2.95]])  # certain, and a negative whose chance is below the margin
    assert (
        asymmetric(sure, torch.tensor([[1.0], [0.0], [0.0]]), negative=4.0, positive=1.0, margin=0.05).tolist()
        == [pytest.approx(0, abs=1e-6)] * 3
    )
    wrong = asymmetric(-sure[:2], torch.tensor([[1.0], [0.0]]), negative=4.0, positive=1.0, margin=0.05)
    assert wrong.isfinite().all() and (wrong > 2).all()


# Two windows, of seven clips and of six; events are (window, first, last).
EVENTS = ((0, 0, 2), (0, 3, 6), (1, 0, 0), (1, 1, 5))
MASKED = ((0, 0), (1, 0), (1, 6), (0, 3))  # two starts, a clip that is not there, and a clip after a rollover


def windows(model: Model) -> WindowBatch:
    generator = torch.Generator().manual_seed(8)
    arrived = torch.ones(2, 7, dtype=torch.bool)
    arrived[1, 6] = False
    reset = ~arrived
    learn, transition = arrived.clone(), torch.zeros(2, 7)
    for row, first, _ in EVENTS:
        reset[row, first], transition[row, first] = True, 1.0
    for row, clip in MASKED:
        learn[row, clip] = False
    return WindowBatch(
        names=("one", "two"),
        visual=model.random(2, 7, 8, model.sizes.visual, seed=5),
        mask=torch.ones(2, 7, 8, dtype=torch.bool),
        arrived=arrived,
        reset=reset,
        learn=learn,
        transition=transition,
        actions=(torch.rand(2, 7, A, generator=generator) < 0.2).float() * arrived[..., None],
        event_row=torch.tensor([row for row, _, _ in EVENTS]),
        event_clip=torch.tensor([last for _, _, last in EVENTS]),
        event_actions=(torch.rand(4, A, generator=generator) < 0.2).float(),
        event_type=torch.randint(len(TYPES), (4,), generator=generator),
        event_side=torch.randint(len(SIDES), (4,), generator=generator),
    )


def test_stage_1_is_the_weighted_sum_of_its_four_objectives(model: Model) -> None:
    """0.5 L_clip + 1.0 L_tr + 1.0 L_evt-act + 0.3 L_evt-type, each the mean over the windows of each one's own mean."""
    batch, encoder = windows(model), model.encoder
    objective = MemoryObjective(encoder, MemoryStage()).eval()
    with torch.no_grad():
        found = objective(batch)
        tokens, logits = encoder.read(batch.visual, batch.mask)
        whole = encoder.whole(tokens, logits, batch.reset)
        actions, kind, _ = encoder.event_heads(whole.memory[batch.event_row, batch.event_clip])
    seen, of_event = logits.double().numpy(), batch.event_row.numpy()
    parts: dict[str, list[float]] = {"clip": [], "transition": [], "event_action": [], "event_type": []}
    for row in range(2):
        here, learn, mine = batch.arrived[row].numpy(), batch.learn[row].numpy(), of_event == row
        parts["clip"].append(by_hand_asymmetric(seen[row], batch.actions[row].numpy())[here].mean())
        told = by_hand_focal(whole.transition[row].double().numpy(), batch.transition[row].numpy())
        parts["transition"].append(told[learn].mean())
        done = by_hand_focal(actions.double().numpy()[mine], batch.event_actions.numpy()[mine])
        parts["event_action"].append(done.sum(-1).mean())
        parts["event_type"].append(by_hand_entropy(kind.double().numpy()[mine], batch.event_type.numpy()[mine]).mean())
    mean = {name: float(np.mean(values)) for name, values in parts.items()}
    for name, value in mean.items():
        assert float(found[name]) == pytest.approx(value, rel=1e-4), name
    total = 0.5 * mean["clip"] + 1.0 * mean["transition"] + 1.0 * mean["event_action"] + 0.3 * mean["event_type"]
    assert float(found["loss"]) == pytest.approx(total, rel=1e-4)


def test_rare_types_weigh_more_as_far_as_they_are_balanced(trained: Ground) -> None:
    halves = Corpus(trained.data).of(Split.TRAIN)
    kinds = [TYPES.index(each.type) for half in halves for each in half.events]
    count = np.bincount(kinds, minlength=len(TYPES))
    there = count > 0
    assert set(type_weights(halves, 0.0)[there].tolist()) == {1.0}
    for balance in (0.5, 1.0):
        weights = type_weights(halves, balance).double().numpy()
        np.testing.assert_allclose((weights * count).sum(), count.sum(), rtol=1e-5)
        relative = weights[there] * count[there].astype(float) ** balance
        np.testing.assert_allclose(relative, relative[0], rtol=1e-5)


def test_rollovers_half_starts_and_padding_carry_no_transition_loss(model: Model) -> None:
    batch, encoder = windows(model), model.encoder
    objective = MemoryObjective(encoder, MemoryStage()).eval()
    with torch.no_grad():
        tokens, logits = encoder.read(batch.visual, batch.mask)
        whole = encoder.whole(tokens, logits, batch.reset)
    said = whole.transition.clone().requires_grad_()
    loss = objective.losses(batch, logits, Whole(memory=whole.memory, transition=said, reset=whole.reset))
    (gradient,) = torch.autograd.grad(loss["transition"], said)
    masked = torch.zeros(2, 7, dtype=torch.bool)
    for row, clip in MASKED:
        masked[row, clip] = True
    assert not gradient[masked].any() and gradient[~masked].all()
    with torch.no_grad():
        other = torch.where(masked, torch.full_like(said, -1e3), said)
        changed = objective.losses(batch, logits, Whole(memory=whole.memory, transition=other, reset=whole.reset))
    assert float(changed["transition"]) == float(loss["transition"].detach())
    flipped = replace(batch, transition=torch.where(masked, 1 - batch.transition, batch.transition))
    with torch.no_grad():
        assert float(objective.losses(flipped, logits, whole)["transition"]) == float(loss["transition"].detach())


def test_the_manifests_mask_half_starts_and_clips_after_a_rollover_and_nothing_else(trained: Ground) -> None:
    rollovers = 0
    for half in Corpus(trained.data).halves.values():
        masked = {0}
        positive = set()
        for before, event in zip(half.events, half.events[1:], strict=False):
            if before.closed_by is CloseReason.MAX_DURATION:
                masked.add(event.first)
                rollovers += 1
            else:
                positive.add(event.first)
        assert set(np.flatnonzero(~half.learn).tolist()) == masked
        assert set(np.flatnonzero(half.transition & half.learn).tolist()) == positive
        assert not half.transition[list(masked)].any()
        assert set(np.flatnonzero(half.reset).tolist()) == {0, *masked, *positive}
    assert rollovers > 20

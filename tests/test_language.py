"""Text in and out of the language model: equal to plain transformers, and nobody's business who else is speaking."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from streamsoccer.backbone import Backbone, load_random, save_backbone
from streamsoccer.checkpoint import tensors_hash
from streamsoccer.engine import PLACES, Engine, Job
from streamsoccer.errors import CheckpointError, UsageError
from streamsoccer.language import Language, LanguageConfig, Prompt, Request
from streamsoccer.testing.backbone import tiny_backbone, tiny_config, tiny_tokenizer

WORDS = ["A corner for the home team.", "The away team defends the corner and clears."]
WIDTH, P = 64, 8


def trained(language: Language, seed: int = 2) -> Language:
    """LoRA as after a training that changed every answer."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in language.lora_parameters():
            value.copy_(torch.randn(value.shape, generator=generator) * (0.3 if "lora_B" in name else 0.1))
    return language


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return tiny_backbone(tmp_path_factory.mktemp("tiny"), WORDS, spread=0.25)


@pytest.fixture(scope="module")
def language(backbone: Backbone) -> Language:
    return trained(Language(backbone))


def plain(language: Language) -> Any:
    """transformers' own model with the same frozen weights and PEFT's unmerged LoRA."""
    model = copy.copy(language.backbone.model)
    model._modules = dict(model._modules)
    model.model = copy.copy(model.model)
    model.model._modules = {**model.model._modules, "language_model": language.text}
    return model


def request(after: int, limit: int = 16, seed: int = 0) -> Request:
    generator = torch.Generator().manual_seed(1000 * seed + after)
    words = torch.randint(0, 280, (after + 3,), generator=generator).tolist()
    prefix = torch.randn(P, WIDTH, generator=generator) * 0.5
    return Request(prefix=prefix, prompt=Prompt(before=tuple(words[:3]), after=tuple(words[3:])), max_tokens=limit)


MIXED = [request(1), request(40, 5), request(7, 24), request(300, 9), request(2, 1), request(230), request(16, 30)]


def answers(language: Language, requests: list[Request]) -> list[tuple[int, ...]]:
    """`generate` of transformers over a batch padded on the left."""
    model = plain(language)
    rows = [language.embed(each.prompt, each.prefix) for each in requests]
    longest = max(map(len, rows))
    embeddings = torch.stack([F.pad(row, (0, 0, longest - len(row), 0)) for row in rows])
    mask = torch.stack([F.pad(torch.ones(len(row), dtype=torch.long), (longest - len(row), 0)) for row in rows])
    model.model.rope_deltas = None
    made = model.generate(
        inputs_embeds=embeddings,
        attention_mask=mask,
        max_new_tokens=max(each.max_tokens for each in requests),
        do_sample=False,
        eos_token_id=list(language.backbone.end_tokens),
        pad_token_id=language.backbone.end_tokens[1],
    )
    return [cut(row.tolist(), language, each) for row, each in zip(made, requests, strict=True)]


def cut(tokens: list[int], language: Language, request: Request) -> tuple[int, ...]:
    """Up to the end of the turn and within the request's own limit."""
    tokens = tokens[: request.max_tokens]
    ends = [place for place, token in enumerate(tokens) if token in language.backbone.end_tokens]
    return tuple(tokens[: ends[0]] if ends else tokens)


# ------------------------------------------------------------------------------------------------------------- generate


def test_text_is_that_of_transformers_alone_and_in_batches_of_mixed_lengths(language: Language) -> None:
    asked = [*MIXED, *(request(20 + index, 100) for index in range(5))]  # long enough to end by themselves
    alone = [answers(language, [each])[0] for each in asked]
    assert answers(language, asked) == alone
    assert language.generate(asked) == alone
    assert [language.generate([each])[0] for each in asked] == alone
    # Some end by themselves, some at their limit, and none says what another says.
    assert {len(text) < each.max_tokens for text, each in zip(alone, asked, strict=True)} == {True, False}
    assert len(set(alone)) == len(asked)


class Watched(Engine):
    """Keeps what the last layer gave at every step."""

    def __init__(self, language: Language, slots: int) -> None:
        super().__init__(language.text, language.backbone.model.lm_head, (), slots=slots)
        self.prompts: list[Tensor] = []
        self.steps: list[Tensor] = []

    def _next(self, hidden: Tensor) -> Tensor:
        (self.steps if len(hidden) == self.slots else self.prompts).append(hidden.clone())
        return super()._next(hidden)


def test_one_request_is_the_same_to_the_bit_whoever_shares_its_steps(language: Language) -> None:
    """In float32, whatever the row it is in, and whatever an earlier run has left in the cache."""
    slots = 4
    jobs = [
        Job(embeddings=language.embed(each.prompt, each.prefix), max_tokens=12)
        for each in (request(5, seed=1), request(90, seed=1), request(33, seed=1), request(200, seed=1))
    ]
    together = Watched(language, slots)
    together.generate([Job(embeddings=torch.randn(150, WIDTH) * 9, max_tokens=40) for _ in range(9)])
    together.steps.clear()
    together.prompts.clear()
    said = together.generate(jobs)
    for slot, job in enumerate(jobs):
        alone = Watched(language, slots)
        assert alone.generate([job]) == [said[slot]]
        assert torch.equal(alone.prompts[0], together.prompts[slot])
        assert len(alone.steps) == len(together.steps) == 11
        for mine, shared in zip(alone.steps, together.steps, strict=True):
            assert torch.equal(mine[0], shared[slot])


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_more_requests_than_slots_wait_for_a_free_one(language: Language, slots: int) -> None:
    many = [request(3 + 11 * index, limit=1 + index % 7) for index in range(20)]
    other = Language(language.backbone, slots=slots)
    other.load_lora(language.lora_state())
    assert other.generate(many) == [language.generate([each])[0] for each in many]


def test_what_is_not_to_be_said_is_not_said_as_in_transformers(language: Language) -> None:
    free = language.generate(MIXED)
    config = language.backbone.model.generation_config
    config.suppress_tokens = sorted({token for said in free for token in said[:3]})
    try:
        other = Language(language.backbone)
        other.load_lora(language.lora_state())
        made = other.generate(MIXED)
        assert made == answers(other, MIXED)
    finally:
        config.suppress_tokens = None
    assert made != free
    assert not {token for said in made for token in said} & {token for said in free for token in said[:3]}


def test_an_end_token_ends_one_request_and_no_other(language: Language) -> None:
    asked = [request(4, 12, seed=3), request(9, 12, seed=3)]
    free = language.generate(asked)
    end = free[0][4]
    engine = Engine(language.text, language.backbone.model.lm_head, [end, *language.backbone.end_tokens])
    made = engine.generate([Job(embeddings=language.embed(each.prompt, each.prefix), max_tokens=12) for each in asked])
    for long, short in zip(free, made, strict=True):
        assert short == (long[: long.index(end)] if end in long else long)
    assert len(made[0]) <= 4


def test_generation_leaves_no_trace_in_the_backbone(language: Language) -> None:
    before = tensors_hash(language.backbone.model.state_dict())
    first = language.generate(MIXED)
    prefix = torch.randn(1, P, WIDTH)
    language.loss(prefix, [MIXED[0].prompt], [(5, 6)]).sum().backward()
    language.zero_grad()
    assert language.generate(MIXED) == first
    assert tensors_hash(language.backbone.model.state_dict()) == before
    assert not any("lora" in name for name, _ in language.backbone.model.named_parameters())


def test_what_does_not_fit_the_cache_is_refused(language: Language) -> None:
    long = request(PLACES[-1] - P - 3, limit=1)
    with pytest.raises(UsageError, match=f"{PLACES[-1]} tokens and 1 more are over {PLACES[-1]}"):
        language.generate([long])
    with pytest.raises(UsageError, match="0 tokens"):
        language.generate([request(3, limit=0)])
    assert language.generate([]) == []


def test_the_longest_prompt_of_the_profile_has_room_for_its_answer(language: Language) -> None:
    longest = request(2048 - P - 3, limit=96)
    assert language.generate([longest, MIXED[0]])[0] == answers(language, [longest])[0]


def test_bfloat16_speaks_too(backbone: Backbone) -> None:
    half = load_random(tiny_config(512), backbone.tokenizer, dtype="bfloat16")
    made = trained(Language(half)).generate(MIXED)
    assert all(0 < len(text) <= each.max_tokens for text, each in zip(made, MIXED, strict=True))


# ----------------------------------------------------------------------------------------------------------------- loss


def test_loss_and_gradients_are_those_of_a_plain_forward(language: Language) -> None:
    prefix = torch.stack([each.prefix for each in MIXED[:3]]).requires_grad_()
    targets = [(9, 8, 7), (5,), (1, 2, 3, 4, 6, 7, 8)]
    prompts = [each.prompt for each in MIXED[:3]]
    losses = language.loss(prefix, prompts, targets)
    model = plain(language)
    theirs = []
    for index, (prompt, target) in enumerate(zip(prompts, targets, strict=True)):
        embeddings = language.embed(prompt, prefix[index], target)[None]
        labels = torch.full((1, embeddings.shape[1]), -100)
        labels[0, -len(target) :] = torch.tensor(target)
        model.model.rope_deltas = None
        theirs.append(model(inputs_embeds=embeddings, attention_mask=torch.ones_like(labels), labels=labels).loss)
    torch.testing.assert_close(losses, torch.stack(theirs), rtol=1e-5, atol=1e-5)
    values = [prefix, *language.parameters()]
    mine = torch.autograd.grad(losses.sum(), values)
    for one, other in zip(mine, torch.autograd.grad(torch.stack(theirs).sum(), values), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_samples_loss_does_not_depend_on_the_batch(language: Language) -> None:
    prefix = torch.stack([each.prefix for each in MIXED])
    prompts, targets = [each.prompt for each in MIXED], [tuple(range(1, 2 + index)) for index in range(len(MIXED))]
    together = language.loss(prefix, prompts, targets)
    for index in range(len(MIXED)):
        alone = language.loss(prefix[index : index + 1], prompts[index : index + 1], targets[index : index + 1])
        torch.testing.assert_close(together[index], alone[0], rtol=1e-5, atol=1e-5)


def test_the_likeliest_text_is_what_the_loss_likes_best(language: Language) -> None:
    """Loss and engine agree on what comes next, LoRA merged in the one and beside the weights in the other."""
    asked = request(12, 6, seed=8)
    (said,) = language.generate([asked])
    for place in range(len(said)):
        tries = range(len(language.backbone.tokenizer))
        losses = language.loss(
            asked.prefix.expand(len(tries), -1, -1),
            [Prompt(before=asked.prompt.before, after=asked.prompt.after + said[:place])] * len(tries),
            [(each,) for each in tries],
        )
        assert tries[int(losses.argmin())] == said[place]


def test_dropout_is_for_training_alone(language: Language) -> None:
    prefix, prompt = MIXED[0].prefix[None], [MIXED[0].prompt]
    quiet = language.loss(prefix, prompt, [(4, 5)])
    language.train()
    try:
        assert not torch.equal(language.loss(prefix, prompt, [(4, 5)]), quiet)
        language.generate([MIXED[0]])  # the engine knows no dropout
    finally:
        language.eval()
    assert torch.equal(language.loss(prefix, prompt, [(4, 5)]), quiet)


def test_recomputed_activations_give_the_same_gradients(language: Language) -> None:
    other = Language(language.backbone, LanguageConfig(recompute=True, dropout=0.0)).train()
    other.load_lora(language.lora_state())
    gradients = []
    for each in (language, other):
        prefix = MIXED[2].prefix[None].clone().requires_grad_()
        loss = each.loss(prefix, [MIXED[2].prompt], [(4, 5, 6)]).sum()
        gradients.append(torch.autograd.grad(loss, [prefix, *each.parameters()]))
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


def test_targets_without_a_token_are_refused(language: Language) -> None:
    with pytest.raises(UsageError, match="target 1 of 2 has no tokens"):
        language.loss(torch.zeros(2, P, WIDTH), [MIXED[0].prompt] * 2, [(1,), ()])
    with pytest.raises(UsageError, match="2 prefixes, 1 prompts and 1 targets"):
        language.loss(torch.zeros(2, P, WIDTH), [MIXED[0].prompt], [(1,)])


# ----------------------------------------------------------------------------------------------------------------- LoRA


def test_lora_is_the_papers_on_the_four_projections_of_every_layer(backbone: Backbone) -> None:
    language = Language(backbone)
    names = {name for name, _ in language.lora_parameters()}
    assert names == {
        f"layers.{layer}.self_attn.{each}_proj.lora_{part}.weight"
        for layer in (0, 1)
        for each in "qkvo"
        for part in "AB"
    }
    # q and o are 64 to 64, k and v 64 to 32: rank 8 of each, in both layers.
    assert sum(value.numel() for _, value in language.lora_parameters()) == 2 * 8 * (2 * (64 + 64) + 2 * (64 + 32))
    assert all(value.requires_grad and value.dtype == torch.float32 for _, value in language.lora_parameters())
    assert {name for name, value in language.named_parameters()} == {
        name for name, value in language.named_parameters() if value.requires_grad
    }
    config = LanguageConfig()
    assert (config.rank, config.alpha, config.dropout) == (8, 16, 0.05)


def test_fresh_lora_changes_nothing(backbone: Backbone) -> None:
    fresh = Language(backbone)
    assert fresh.generate(MIXED) == answers(fresh, MIXED)
    model = backbone.model
    row = fresh.embed(MIXED[0].prompt, MIXED[0].prefix)[None]
    model.model.rope_deltas = None
    made = model.generate(inputs_embeds=row, max_new_tokens=16, do_sample=False, eos_token_id=list(backbone.end_tokens))
    assert cut(made[0].tolist(), fresh, MIXED[0]) == fresh.generate(MIXED[:1])[0]


def test_two_sets_of_lora_share_one_backbone(backbone: Backbone, language: Language) -> None:
    other = trained(Language(backbone), seed=9)
    mine = language.generate(MIXED)
    assert other.generate(MIXED) != mine
    assert language.generate(MIXED) == mine
    shared = {value.data_ptr() for value in backbone.model.parameters()}
    frozen = [value for value in other.text.parameters() if not value.requires_grad]
    assert frozen and all(value.data_ptr() in shared for value in frozen)


def test_a_step_of_training_is_heard_at_once(backbone: Backbone) -> None:
    language = Language(backbone)
    before = language.generate(MIXED)
    optimizer = torch.optim.AdamW(language.parameters(), lr=0.3)
    for _ in range(2):
        prefix = torch.stack([each.prefix for each in MIXED])
        language.loss(prefix, [each.prompt for each in MIXED], [(3, 4)] * len(MIXED)).mean().backward()
        optimizer.step()
    after = language.generate(MIXED)
    assert after != before
    assert after == answers(language, MIXED)


def test_lora_is_saved_and_loaded_and_refused_in_another_shape(language: Language, backbone: Backbone) -> None:
    other = Language(backbone)
    other.load_lora({name: value.clone() for name, value in language.lora_state().items()})
    assert other.generate(MIXED) == language.generate(MIXED)
    with pytest.raises(CheckpointError, match=r"lora_A.weight is \(8, 64\) there and \(4, 64\) here"):
        Language(backbone, LanguageConfig(rank=4)).load_lora(language.lora_state())
    with pytest.raises(CheckpointError, match="is None there"):
        other.load_lora(dict(list(language.lora_state().items())[1:]))


def test_the_backbone_can_be_saved_beside_its_lora(language: Language, tmp_path: Path) -> None:
    save_backbone(language.backbone, tmp_path)
    assert (tmp_path / "model.safetensors").is_file()


def test_the_same_seed_gives_the_same_lora(backbone: Backbone) -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(4)
        states.append(tensors_hash(Language(backbone).lora_state()))
    assert states[0] == states[1]


@pytest.mark.parametrize("wrong", [{"rank": 0}, {"alpha": 0}, {"dropout": 1.0}])
def test_a_configuration_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        LanguageConfig(**wrong)


def test_grouped_heads_of_other_shapes(tmp_path: Path) -> None:
    """Eight heads over four, three layers: the engine has no shape of its own."""
    tokenizer = tiny_tokenizer(WORDS)
    wide = load_random(tiny_config(len(tokenizer), width=96, heads=8, layers=3), tokenizer, dtype="float32")
    language = trained(Language(wide))
    asked = [
        Request(prefix=torch.randn(P, 96), prompt=Prompt(before=(1,), after=tuple(range(count))), max_tokens=9)
        for count in (2, 31)
    ]
    assert language.generate(asked) == answers(language, asked)


@pytest.mark.parametrize("together", [2, 3, 8])
def test_prompts_read_side_by_side_say_what_they_say_alone(language: Language, together: int) -> None:
    many = [request(3 + 17 * index % 240, limit=1 + index % 9) for index in range(21)]
    alone = [language.generate([each])[0] for each in many]
    other = Language(language.backbone, slots=8)
    other.load_lora(language.lora_state())
    assert other.generate(many) == alone
    other.together = together
    assert other.generate(many) == alone
    assert other.engine().together == together
    with pytest.raises(UsageError, match="9 prompts at once for 8 slots"):
        Engine(language.text, language.backbone.model.lm_head, (), slots=8, together=9)

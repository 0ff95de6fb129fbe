"""The native video path is plain transformers: the same inputs, the same positions, the same loss, the same text."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from streamsoccer.backbone import Backbone, load_random
from streamsoccer.errors import UsageError
from streamsoccer.language import Language, Prompt
from streamsoccer.native import NativeVideo, Reel, evenly
from streamsoccer.testing.backbone import tiny_backbone, tiny_config, tiny_tokenizer
from streamsoccer.vision import VisionConfig, VisionEncoder

WORDS = ["A corner for the home team.", "The away team defends the corner and clears."]
WIDTH, HEIGHT = 96, 64


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    """Two layers, so that both DeepStack features of the tower go into the language model."""
    return tiny_backbone(tmp_path_factory.mktemp("tiny"), WORDS, spread=0.25, visual_layers=3)


@pytest.fixture(scope="module")
def language(backbone: Backbone) -> Language:
    """With LoRA as after a training that changed every answer."""
    made, generator = Language(backbone), torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, value in made.lora_parameters():
            value.copy_(torch.randn(value.shape, generator=generator) * (0.3 if "lora_B" in name else 0.1))
    return made


@pytest.fixture(scope="module")
def native(backbone: Backbone) -> NativeVideo:
    return NativeVideo(VisionEncoder(backbone, VisionConfig(width=WIDTH, height=HEIGHT)))


def plain(language: Language) -> Any:
    """transformers' own model with the same frozen weights and PEFT's unmerged LoRA."""
    model = copy.copy(language.backbone.model)
    model._modules = dict(model._modules)
    model.model = copy.copy(model.model)
    model.model._modules = {**model.model._modules, "language_model": language.text}
    model.model.rope_deltas = None
    return model


def reel(frames: int, seed: int = 0, fps: float = 2.0) -> Reel:
    random = np.random.default_rng(seed)
    pixels = torch.from_numpy(random.integers(0, 256, (frames, 3, HEIGHT, WIDTH), dtype=np.uint8))
    return Reel(pixels=pixels, times=tuple(each / fps for each in range(frames)))


def prompt(count: int, seed: int = 0) -> Prompt:
    words = torch.randint(0, 280, (count + 4,), generator=torch.Generator().manual_seed(seed)).tolist()
    return Prompt(before=tuple(words[:4]), after=tuple(words[4:]))


def given(native: NativeVideo, asked: Prompt, seen: Reel, after: tuple[int, ...] = ()) -> dict[str, Tensor]:
    """What Qwen3-VL's own processor makes of a prompt and a video, step by step as it is written there."""
    from transformers import Qwen3VLProcessor

    backbone = native.encoder.backbone
    tokenizer: Any = backbone.tokenizer
    indices = [round(each * 2) for each in seen.times]
    timestamps = Qwen3VLProcessor._calculate_timestamps(None, indices, 2.0, 2)  # type: ignore[arg-type]
    each_grid = (HEIGHT // 32) * (WIDTH // 32)
    video = "".join(
        f"<{at:.1f} seconds><|vision_start|>{'<|video_pad|>' * each_grid}<|vision_end|>" for at in timestamps
    )
    ids = torch.tensor([[*asked.before, *tokenizer.encode(video, add_special_tokens=False), *asked.after, *after]])
    pixels = seen.pixels.float().sub(127.5).div(127.5)
    if len(pixels) % 2:
        pixels = torch.cat([pixels, pixels[-1:]])
    grid = len(pixels) // 2, HEIGHT // 16, WIDTH // 16
    patches = pixels.view(grid[0], 2, 3, grid[1] // 2, 2, 16, grid[2] // 2, 2, 16).permute(0, 3, 6, 4, 7, 2, 1, 5, 8)
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "mm_token_type_ids": (ids == backbone.token("<|video_pad|>")).int() * 2,
        "pixel_values_videos": patches.reshape(-1, 3 * 2 * 16 * 16),
        "video_grid_thw": torch.tensor([grid]),
    }


@pytest.mark.parametrize("frames", [2, 7, 8])
def test_tokens_and_positions_are_those_of_the_processor(native: NativeVideo, language: Language, frames: int) -> None:
    asked, seen = prompt(9), reel(frames)
    theirs = given(native, asked, seen, (5, 6))
    mine = native.row(asked, seen.times, (5, 6))
    assert mine.ids.tolist() == theirs["input_ids"][0].tolist()
    positions, _ = plain(language).model.get_rope_index(
        theirs["input_ids"], mm_token_type_ids=theirs["mm_token_type_ids"], video_grid_thw=theirs["video_grid_thw"]
    )
    assert torch.equal(mine.positions, positions[:, 0])
    assert mine.seen.tolist() == (theirs["mm_token_type_ids"][0] == 2).tolist()


def test_the_loss_is_that_of_transformers_in_batches_of_mixed_lengths(native: NativeVideo, language: Language) -> None:
    asked = [
        (prompt(3, 1), reel(8, 1), (7, 8, 9)),
        (prompt(30, 2), reel(3, 2), (5,)),
        (prompt(11, 3), reel(14, 3), (4, 4)),
    ]
    expected = []
    for words, seen, target in asked:
        with torch.no_grad():
            logits = plain(language)(**given(native, words, seen, target[:-1])).logits[0, -len(target) :]
        expected.append(F.cross_entropy(logits, torch.tensor(target)))
    with torch.no_grad():
        together = native.loss(language, *zip(*asked, strict=True))
        alone = torch.cat([native.loss(language, [words], [seen], [target]) for words, seen, target in asked])
        others = native.loss(language, [asked[0][0]], [reel(8, 9)], [asked[0][2]])
    torch.testing.assert_close(together, torch.stack(expected), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(alone, together, rtol=1e-5, atol=1e-5)
    assert abs(float(others[0] - together[0])) > 1e-2, "the frames must make a difference"


def test_deepstack_is_in_it(native: NativeVideo, language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [prompt(5)], [reel(8)], [(7, 8, 9)]
    with torch.no_grad():
        whole = native.loss(language, *asked)
        see = native.encoder.see

        def shallow(patches: Tensor, *, deep: bool = False) -> tuple[Tensor, list[Tensor]]:
            tokens, features = see(patches, deep=deep)
            return tokens, [torch.zeros_like(each) for each in features]

        monkeypatch.setattr(native.encoder, "see", shallow)
        assert abs(float(native.loss(language, *asked) - whole)) > 1e-2


@pytest.mark.parametrize("unsaid", [[], list(range(0, 280, 2))])
def test_text_is_that_of_generate(
    native: NativeVideo, language: Language, unsaid: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = language.backbone.end_tokens
    monkeypatch.setattr(language.backbone.model.generation_config, "suppress_tokens", unsaid or None)
    said = []
    for seed, frames in enumerate((2, 7, 16, 5)):
        asked, seen = prompt(6 + seed, seed), reel(frames, seed)
        inputs = given(native, asked, seen)
        made = plain(language).generate(
            **inputs, max_new_tokens=24, do_sample=False, eos_token_id=list(ends), pad_token_id=ends[1]
        )
        theirs = [each for each in made[0, inputs["input_ids"].shape[1] :].tolist() if each not in ends]
        language.train()
        assert list(native.say(language, asked, seen, 24)) == theirs
        assert language.training, "as it was before"
        language.eval()
        said.append(tuple(theirs))
    assert len(set(said)) == 4
    assert not {token for each in said for token in each} & set(unsaid)


def test_the_tower_and_the_model_learn_nothing_and_lora_all(native: NativeVideo, language: Language) -> None:
    native.loss(language, [prompt(5)], [reel(4)], [(7, 8)]).mean().backward()
    assert all(each.grad is None for each in native.encoder.backbone.model.parameters())
    assert all(each.grad is not None and each.grad.abs().sum() > 0 for _, each in language.lora_parameters())
    language.zero_grad()


def test_nobody_looks_ahead_and_nobody_at_his_neighbours_frames(native: NativeVideo, language: Language) -> None:
    first, second, other = prompt(5, 1), prompt(9, 2), reel(6, 4)
    with torch.no_grad():
        alone = native.hidden(language, [native.row(first, reel(4).times)], [reel(4)])
        rows = [native.row(first, reel(4).times), native.row(second, other.times)]
        together = native.hidden(language, rows, [reel(4), other])
        later = Reel(pixels=torch.cat([reel(4).pixels[:2], other.pixels[:2]]), times=reel(4).times)
        changed = native.hidden(language, rows[:1], [later])
    torch.testing.assert_close(together[:1, : alone.shape[1]], alone, rtol=1e-5, atol=1e-5)
    begins = [place for place, each in enumerate(rows[0].seen.tolist()) if each][6]  # the second pair's first token
    torch.testing.assert_close(changed[:, :begins], alone[:, :begins], rtol=1e-5, atol=1e-5)
    assert not torch.allclose(changed[:, begins:], alone[:, begins:], atol=1e-2)


def test_evenly() -> None:
    assert evenly(3, 8) == [0, 1, 2] and evenly(8, 8) == list(range(8)) and evenly(5, 2) == [0, 4]
    for count in range(9, 400, 13):
        chosen = evenly(count, 8)
        assert (len(set(chosen)), chosen[0], chosen[-1]) == (8, 0, count - 1) and chosen == sorted(chosen)
        gaps = np.diff(chosen)
        assert gaps.max() - gaps.min() <= 1


def test_what_does_not_fit_is_named(native: NativeVideo, language: Language, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="12 visual tokens in the prompts, 18 of the frames"):
        native.hidden(language, [native.row(prompt(3), reel(4).times)], [reel(6)])
    tokenizer = tiny_tokenizer(["kick"])
    config = tiny_config(len(tokenizer), layers=1, visual_layers=3)
    config.vision_config.deepstack_visual_indexes = [0, 1]
    with pytest.raises(UsageError, match="2 DeepStack features do not fit a language model of 1 layers"):
        NativeVideo(VisionEncoder(load_random(config, tokenizer, dtype="float32"), VisionConfig(width=96, height=64)))

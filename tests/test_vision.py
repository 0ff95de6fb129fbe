"""V_t is what Qwen3-VL's own processor and tower make of a clip, for clips of any size, length and company."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from streamsoccer.backbone import Backbone, load_random
from streamsoccer.errors import UsageError
from streamsoccer.testing.backbone import tiny_config, tiny_tokenizer
from streamsoccer.vision import PATCH, VisionConfig, VisionEncoder, patchify, resize

Frames = NDArray[np.uint8]


def clip(frames: int = 8, height: int = 64, width: int = 96, seed: int = 0) -> Frames:
    """Something with edges, slopes and noise that moves."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    still = np.stack([rows * 255 / height, columns * 255 / width, (rows // 8 + columns // 8) % 2 * 200], axis=-1)
    moving = np.stack([np.roll(still, 5 * at, axis=1) for at in range(frames)])
    return np.clip(moving + random.normal(0, 12, moving.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    tokenizer = tiny_tokenizer(["kick"])
    config = tiny_config(len(tokenizer), visual_width=48, visual_layers=3)
    return load_random(config, tokenizer, dtype="float32")


def encoder(backbone: Backbone, width: int = 96, height: int = 64) -> VisionEncoder:
    return VisionEncoder(backbone, VisionConfig(width=width, height=height))


def official(backbone: Backbone, patches: Tensor, grid: tuple[int, int, int]) -> Any:
    """transformers' tower over patches as its processors lay them."""
    with torch.no_grad():
        return backbone.model.model.visual(patches, grid_thw=torch.tensor([grid]))


def processed(frames: Frames) -> tuple[Tensor, tuple[int, int, int]]:
    """Patches by the official image processor, in PIL and numpy, frame by frame.

    An image is a clip of two equal frames to it: of each frame's patches the first of the two belongs to it.
    """
    processor = Qwen2VLImageProcessorPil(
        patch_size=16,
        temporal_patch_size=2,
        merge_size=2,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
        size={"shortest_edge": 32 * 32, "longest_edge": 2048 * 2048},
    )
    found = processor([Image.fromarray(each) for each in frames], return_tensors="pt")
    _, high, wide = found["image_grid_thw"][0].tolist()
    single = found["pixel_values"].view(len(frames), high * wide, 3, 2, 16 * 16)
    pairs = torch.stack([single[::2, :, :, 0], single[1::2, :, :, 0]], dim=3)
    return pairs.reshape(len(frames) // 2 * high * wide, -1), (len(frames) // 2, high, wide)


@pytest.mark.parametrize(("frames", "height", "width"), [(8, 64, 96), (2, 224, 384), (8, 96, 32), (6, 32, 32)])
def test_tokens_are_those_of_the_official_processor_and_tower(
    backbone: Backbone, frames: int, height: int, width: int
) -> None:
    made = clip(frames, height, width)
    patches, grid = processed(made)
    ours = patchify(resize(made, width, height), torch.float32)
    torch.testing.assert_close(ours.flatten(0, 1), patches, rtol=0, atol=1e-6)
    (tokens,) = encoder(backbone, width, height).encode([made])
    expected = official(backbone, patches, grid).pooler_output
    assert tokens.shape == (grid[0] * grid[1] * grid[2] // 4, 64) == expected.shape
    assert tokens.std() > 0.3  # so that 1e-5 means something
    torch.testing.assert_close(tokens, expected, rtol=1e-5, atol=1e-5)


def test_deepstack_features_are_those_of_the_official_tower(backbone: Backbone) -> None:
    made = clip()
    patches, grid = processed(made)
    seeing = encoder(backbone)
    with torch.no_grad():
        tokens, features = seeing.see(seeing.patches(resize(made, 96, 64)), deep=True)
    expected = official(backbone, patches, grid)
    torch.testing.assert_close(tokens, expected.pooler_output, rtol=1e-5, atol=1e-5)
    assert len(features) == len(expected.deepstack_features) == 2
    for one, other in zip(features, expected.deepstack_features, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_an_odd_last_frame_makes_a_pair_with_itself(backbone: Backbone) -> None:
    made = clip(5)
    seeing = encoder(backbone)
    (odd,) = seeing.encode([made])
    (even,) = seeing.encode([np.concatenate([made, made[-1:]])])
    assert torch.equal(odd, even) and len(odd) == seeing.tokens(5) == seeing.tokens(6)
    assert seeing.grid(5) == (3, 2, 3)


def test_a_clip_is_the_same_to_the_bit_whoever_comes_with_it(backbone: Backbone) -> None:
    clips = [clip(8, seed=1), clip(3, 70, 100, seed=2), clip(8, 200, 300, seed=3), clip(1, seed=4)]
    seeing = encoder(backbone)
    for made, alone in zip(seeing.encode(clips), (seeing.encode([each])[0] for each in clips), strict=True):
        assert torch.equal(made, alone)


def test_all_grids_at_once_are_what_they_are_one_by_one(backbone: Backbone) -> None:
    """What a GPU does."""
    seeing = encoder(backbone)
    patches = [seeing.patches(resize(clip(frames, seed=frames), 96, 64)) for frames in (8, 3, 1)]
    with torch.no_grad():
        together = seeing.see(torch.cat(patches))[0]
        torch.testing.assert_close(together, torch.cat([seeing.see(each)[0] for each in patches]), rtol=1e-5, atol=1e-5)


def test_tokens_own_their_memory(backbone: Backbone) -> None:
    first, _ = encoder(backbone).encode([clip(), clip(seed=1)])
    assert first.untyped_storage().nbytes() == first.numel() * first.element_size()
    assert not first.requires_grad


def test_frames_of_any_size_are_brought_to_the_size_asked_for() -> None:
    """By the rule of the official video processor: antialiased bicubic on bytes; PIL's is a rounding away."""
    made = clip(2, 360, 640)
    ours = resize(made, 384, 224)
    assert ours.dtype == torch.uint8 and ours.shape == (2, 3, 224, 384)
    for mine, frame in zip(ours, made, strict=True):
        theirs = np.asarray(Image.fromarray(frame).resize((384, 224), Image.Resampling.BICUBIC)).astype(int)
        off = np.abs(mine.permute(1, 2, 0).numpy().astype(int) - theirs)
        assert off.max() <= 2 and off.mean() < 0.05
    assert torch.equal(resize(made, 640, 360), torch.from_numpy(made).permute(0, 3, 1, 2))


def test_a_clip_of_the_paper_has_336_tokens(backbone: Backbone) -> None:
    seeing = VisionEncoder(backbone, VisionConfig())
    assert (seeing.config.width, seeing.config.height) == (384, 224)
    assert seeing.tokens(8) == 336 and seeing.grid(8) == (4, 7, 12)


@pytest.mark.parametrize(("name", "value", "near"), [("width", 390, 384), ("height", 20, 32), ("height", 720, 704)])
def test_a_size_that_no_patch_fits_is_refused_with_one_that_does(name: str, value: int, near: int) -> None:
    with pytest.raises(UsageError, match=f"{name} {value} is no multiple of 32(?s:.*)use {near}"):
        VisionConfig(**{name: value})


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 64, 96, 3), np.float32),
        np.zeros((64, 96, 3), np.uint8),
        np.zeros((8, 64, 96, 1), np.uint8),
        np.zeros((0, 64, 96, 3), np.uint8),
    ],
)
def test_what_is_no_clip_is_named(backbone: Backbone, wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"clip 1 of 2 is .* not uint8 frames"):
        encoder(backbone).encode([clip(), wrong])
    assert encoder(backbone).encode([]) == []


def test_bfloat16_sees_nearly_the_same(backbone: Backbone) -> None:
    tokenizer = tiny_tokenizer(["kick"])
    half = load_random(tiny_config(len(tokenizer), visual_width=48, visual_layers=3), tokenizer)
    half.model.load_state_dict(backbone.model.state_dict())
    (rough,), (fine,) = (encoder(each).encode([clip()]) for each in (half, backbone))
    assert rough.dtype == torch.bfloat16
    assert (rough.float() - fine).norm() < 0.05 * fine.norm()


def test_patches_are_numbers_from_minus_one_to_one() -> None:
    black, white = (patchify(torch.full((2, 3, 32, 32), value, dtype=torch.uint8), torch.float32) for value in (0, 255))
    assert black.shape == (1, 4, 3 * 2 * PATCH * PATCH)
    assert (black == -1).all() and (white == 1).all()

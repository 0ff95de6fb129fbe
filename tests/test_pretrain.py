"""Pre-training: the batched model is transformers' own, words come from pictures through V_t, and legs go on."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from painted_clips import write_painted, write_text
from streamsoccer.adapter import AdapterConfig
from streamsoccer.backbone import BackboneConfig, load_backbone, load_random
from streamsoccer.clock import ManualClock
from streamsoccer.errors import DataError, TrainingError, UsageError
from streamsoccer.prompt import Prompter
from streamsoccer.training.captioner import BackboneShape, Captioner, layout
from streamsoccer.training.descent import Descent
from streamsoccer.training.film import Library
from streamsoccer.training.lines import Lines, read_lines, texts
from streamsoccer.training.pictures import PicturesConfig, disturb
from streamsoccer.training.pretrain import pretrain, save_shards
from streamsoccer.training.pretrain_recipe import PretrainRecipe
from streamsoccer.training.tokenizer import train_tokenizer
from streamsoccer.vision import VisionConfig, VisionEncoder

SHAPE = BackboneShape(
    vocabulary=400,
    visual_width=32,
    visual_layers=2,
    visual_heads=2,
    visual_hidden=64,
    visual_places=16,
    deepstack=0,
    text_width=48,
    text_layers=2,
    text_heads=4,
    text_groups=2,
    text_hidden=96,
)
TINY = PretrainRecipe(
    shape=SHAPE,
    pictures=PicturesConfig(rescaled=0, compressed=0, noise=2, brightness=0.02, contrast=0.02, colour=0.02),
    width=96,
    height=64,
    steps=12,
    batch=8,
    clips_in_row=(1, 1, 2),
    words=24,
    text_rows=4,
    text_lengths=(160, 384),
    warmup=2,
    cooldown=4,
    store=64,
    least=32,
    fresh=2,
    workers=2,
    validate_every=100,
    validation_clips=16,
    save_every=100,
    digest_weight=0.2,
    adapter=AdapterConfig(width=16, tokens=3, heads=2, layers=1),
)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Clips to learn from, clips held out, and text."""
    root = tmp_path_factory.mktemp("material")
    write_painted(root / "clips", games=2, clips=32)
    write_painted(root / "held_out", games=1, clips=16, seed=1)
    return {"clips": root / "clips", "held_out": root / "held_out", "text": write_text(root / "words", root / "build")}


@pytest.fixture(scope="module")
def captioner(material: dict[str, Path]) -> tuple[Captioner, object]:
    tokenizer = train_tokenizer(texts(material["text"], sided=True), SHAPE.vocabulary)
    backbone = load_random(SHAPE.config(len(tokenizer)), tokenizer, dtype="float32", seed=3)
    return Captioner(backbone.model), backbone


def test_tower_and_text_are_those_of_transformers(captioner) -> None:
    model, backbone = captioner
    frames = np.random.default_rng(0).integers(0, 256, (2, 8, 64, 96, 3), dtype=np.uint8)
    pixels = torch.from_numpy(frames).permute(0, 1, 4, 2, 3).float()
    with torch.no_grad():
        visual, feature = model.see(pixels, deep=True)
        wanted = VisionEncoder(backbone, VisionConfig(width=96, height=64)).encode(list(frames))
    torch.testing.assert_close(visual, torch.stack(wanted), atol=1e-5, rtol=1e-4)
    prompt = layout(backbone, 2, 96, 64)
    words = torch.tensor([[40, 41, 42]])
    ids = torch.cat([prompt.ids[None], words], dim=1)
    kinds = (ids == backbone.token("<|video_pad|>")).int() * 2
    patches = torch.cat([_official_patches(each) for each in frames])
    grids = torch.tensor([[4, 4, 6], [4, 4, 6]])
    with torch.no_grad():
        theirs = backbone.model(
            input_ids=ids, mm_token_type_ids=kinds, pixel_values_videos=patches, video_grid_thw=grids
        ).logits[0, prompt.ids.shape[0] - 1 :]
        ours = model.caption_hidden(pixels[None], words, prompt, deep=True)[0] @ model.text.embed_tokens.weight.T
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)
    assert feature is not None
    with torch.no_grad():
        without = model.caption_hidden(pixels[None], words, prompt)[0] @ model.text.embed_tokens.weight.T
    assert not torch.allclose(without, theirs, atol=1e-3), "DeepStack must make a difference where it is asked for"


def _official_patches(frames: np.ndarray) -> torch.Tensor:
    """As the published processor lays patches (shared/snippets), written anew."""
    x = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 127.5 - 1
    t, c, h, w = x.shape
    x = x.view(t // 2, 2, c, h // 32, 2, 16, w // 32, 2, 16).permute(0, 3, 6, 4, 7, 2, 1, 5, 8)
    return x.reshape(-1, c * 2 * 256)


def test_a_placeholder_is_one_token_and_a_saved_tokenizer_is_the_same(material, tmp_path: Path) -> None:
    words = texts(material["text"], sided=True)
    tokenizer = train_tokenizer(words, 600)
    line = "A corner for [HOME TEAM]: [AWAY PLAYER] heads it away, 3-1!"
    ids = tokenizer.encode(line, add_special_tokens=False)
    assert tokenizer.decode(ids) == line
    backbone = load_random(SHAPE.config(len(tokenizer)), tokenizer, dtype="float32")
    save_shards(backbone, tmp_path / "backbone")
    again = load_backbone(BackboneConfig(path=str(tmp_path / "backbone"), dtype="float32"))
    assert again.tokenizer.encode(line, add_special_tokens=False) == ids
    assert again.vocabulary == backbone.vocabulary
    placeholders = [each for each in (" [HOME PLAYER]", " [AWAY PLAYER]") if any(each in word for word in words)]
    assert placeholders
    for each in placeholders:
        assert len(again.tokenizer.encode(each, add_special_tokens=False)) == 1


def test_lines_ask_in_the_prompt_profile_and_teach_the_target_alone(material, captioner) -> None:
    _, backbone = captioner

    def encode(text: str) -> tuple[int, ...]:
        return tuple(backbone.tokenizer.encode(text, add_special_tokens=False))

    prompter = Prompter(backbone.tokenizer, TINY.prompt)
    made = read_lines(material["text"], prompter, encode)
    lines = Lines(made, [512], hinted=1.0)
    ids, targets = next(lines.every(3, torch.device("cpu")))
    for row, line in enumerate(lines.buckets[0][1][:3]):
        asked = [*line.prompt.before, *line.hint, *line.prompt.after]
        assert ids[row, : len(asked)].tolist() == asked
        assert targets[row][targets[row] >= 0].tolist() == list(line.target)
        assert int((targets[row] >= 0).nonzero()[0]) == len(asked) - 1, "the first word follows the last of the prompt"
    assert any("home" in backbone.tokenizer.decode(list(each.hint)) for each in made)


def test_long_lines_are_learnt_beside_short_ones_and_what_is_left_out_is_told(material, captioner, tmp_path) -> None:
    _, backbone = captioner
    made = read_lines(
        material["text"],
        Prompter(backbone.tokenizer, TINY.prompt),
        lambda text: tuple(backbone.tokenizer.encode(text, add_special_tokens=False)),
    )
    sizes = [len(each.prompt.before) + len(each.hint) + len(each.prompt.after) + len(each.target) - 1 for each in made]
    short, long = int(np.median(sizes)), max(sizes)
    lines = Lines(made, [long, short], hinted=1.0)
    assert lines.dropped == 0
    assert [(length, len(held)) for length, held in lines.buckets] == [
        (short, sum(each <= short for each in sizes)),
        (long, sum(each > short for each in sizes)),
    ]
    random, drawn = np.random.default_rng(0), {short: 0, long: 0}
    for _ in range(600):
        ids, targets = lines.batch(8, random, torch.device("cpu"))
        assert ids.shape in {(8, short), (8 * short // long, long)}
        assert bool((targets >= 0).any(1).all())
        drawn[ids.shape[1]] += len(ids)
    assert abs(drawn[long] / sum(drawn.values()) - len(lines.buckets[1][1]) / len(made)) < 0.05, "all are as likely"
    assert sum(len(ids) for ids, _ in lines.every(8, torch.device("cpu"))) == len(made)
    told: list[str] = []
    recipe = replace(TINY, text_lengths=(short,), digest_weight=0.0)
    pretrain(recipe, material["clips"], material["held_out"], material["text"], tmp_path, until=1, told=told.append)
    assert any(f"longer than {short} tokens" in each for each in told)


def test_captions_come_from_the_pictures_through_the_visual_tokens_alone(material, tmp_path: Path) -> None:
    recipe = replace(
        TINY,
        steps=180,
        rate=8e-3,
        cooldown=80,
        batch=24,
        clips_in_row=(1,),
        deepstack_every=8,
        text_rows=1,
        text_lengths=(320,),
        least=64,
        digest_weight=0.0,
    )
    outcome = pretrain(recipe, material["clips"], material["clips"], material["text"], tmp_path)
    assert outcome.done
    assert outcome.validation["clip_loss"] < 0.1, "validation runs without DeepStack, on the clips themselves here"
    assert min(outcome.validation["finds home"], outcome.validation["finds away"]) > 0.8
    shown = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    last = next(each["shown"] for each in reversed(shown) if "shown" in each)
    assert sum(each["said"] == each["true"] for each in last) >= 7, last


def test_the_same_seed_gives_the_same_run_and_a_leg_goes_on_from_the_last(material, tmp_path: Path) -> None:
    args = (material["clips"], material["held_out"], material["text"])
    first = pretrain(TINY, *args, tmp_path / "legs", until=5)
    assert (first.step, first.done) == (5, False)
    again = pretrain(TINY, *args, tmp_path / "again", until=5)
    assert again.validation == first.validation
    state = "state/step-000005.safetensors"
    assert (tmp_path / "again" / state).read_bytes() == (tmp_path / "legs" / state).read_bytes()
    assert pretrain(TINY, *args, tmp_path / "legs").done
    assert pretrain(TINY, *args, tmp_path / "again").done
    state = "state/step-000012.safetensors"
    assert (tmp_path / "again" / state).read_bytes() == (tmp_path / "legs" / state).read_bytes()
    backbone = load_backbone(BackboneConfig(path=str(tmp_path / "again/backbone"), dtype="float32"))
    spelt = backbone.tokenizer.encode("[HOME PLAYER] in blue on the left stays.", add_special_tokens=False)
    assert 0 < len(backbone.unsaid) < 400
    assert not {*spelt, *backbone.end_tokens} & set(backbone.unsaid), "only what no text holds is never said"
    steps = [json.loads(line)["step"] for line in (tmp_path / "legs/metrics.jsonl").read_text().splitlines()]
    assert steps == [5, 5, 12, 12]
    held = (tmp_path / "again/adapter.safetensors").read_bytes()
    assert held == (tmp_path / "legs/adapter.safetensors").read_bytes()


def test_a_leg_ends_in_time_and_the_next_goes_on_from_what_is_shipped(material, tmp_path: Path) -> None:
    args = (material["clips"], material["held_out"], material["text"], tmp_path)
    clock = ManualClock()
    told: list[str] = []

    def tick(line: str) -> None:
        told.append(line)
        clock.advance(100)

    recipe = replace(TINY, validate_every=2)
    outcome = pretrain(recipe, *args, seconds=150, told=tick, clock=clock)
    assert not outcome.done
    assert 0 < outcome.step < 12
    shutil.rmtree(tmp_path / "state")  # a lent machine keeps nothing but what travels
    told.clear()
    assert pretrain(recipe, *args, told=told.append).done
    assert "optimizer is new" in told[0]
    with pytest.raises(UsageError, match="batch"):
        pretrain(replace(recipe, batch=9), *args)


def test_new_clips_are_found_while_it_runs(material, tmp_path: Path) -> None:
    write_painted(tmp_path / "grows", games=1, clips=8)
    library = Library(roots=[tmp_path / "grows"], encode=lambda text: (1,), seed=0, grows=True)
    with library:
        assert len(library.take(2, wait=True)) == 2
        write_painted(tmp_path / "grows" / "more", games=2, clips=8)
        assert library.look() == 2
        assert library.look() == 0
        assert library.clips == 24


def test_what_is_wrong_is_named(material, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    args = (material["held_out"], material["text"], tmp_path / "out")
    with pytest.raises(DataError, match="no clips with captions"):
        pretrain(TINY, tmp_path / "none", *args)
    with pytest.raises(TrainingError, match="no number"):
        pretrain(replace(TINY, rate=float("nan")), material["clips"], *args)


def test_damage_keeps_the_size_and_the_words_true() -> None:
    config = PicturesConfig()
    pixels = torch.full((10, 8, 3, 64, 96), 90.0)
    pixels[..., 60:] = 200.0
    done = disturb(pixels, config, np.random.default_rng(0))
    assert done.shape == pixels.shape
    assert float(done.min()) >= 0
    assert float(done.max()) <= 255
    assert bool((done[..., 80:].mean((1, 2, 3, 4)) > done[..., :40].mean((1, 2, 3, 4))).all()), "nothing is mirrored"
    same = disturb(pixels, config, np.random.default_rng(0))
    assert torch.equal(done, same)
    off = PicturesConfig(crop=0, rescaled=0, compressed=0, brightness=0, contrast=0, colour=0, noise=0)
    torch.testing.assert_close(disturb(pixels, off, np.random.default_rng(0)), pixels, atol=1e-2, rtol=0)


def test_a_step_turns_matrices_and_goes_on_from_its_state() -> None:
    torch.manual_seed(0)
    weights = {"a.qkv.weight": (24, 8), "b.weight": (8, 16), "c.bias": (8,), "d.weight": (5, 4)}

    def fresh() -> tuple[dict[str, torch.nn.Parameter], Descent]:
        torch.manual_seed(1)
        named = {name: torch.nn.Parameter(torch.randn(shape)) for name, shape in weights.items()}
        return named, Descent(named, ["a.qkv.weight", "b.weight"], momentum=0.9, weight_decay=0.0)

    def go(named: dict[str, torch.nn.Parameter], descent: Descent, seeds: range) -> None:
        for seed in seeds:
            torch.manual_seed(seed)
            for each in named.values():
                each.grad = torch.randn_like(each)
            descent.step(0.1)

    named, descent = fresh()
    before = named["b.weight"].detach().clone()
    go(named, descent, range(1))
    change = torch.linalg.svdvals(named["b.weight"].detach() - before) / (0.1 * 0.2 * 16**0.5)
    assert bool(((change > 0.5) & (change < 1.5)).all()), "all directions move alike"
    go(named, descent, range(1, 3))
    other, second = fresh()
    go(other, second, range(2))
    third, fourth = fresh()
    fourth.load(second.state())
    for name, each in third.items():
        each.data.copy_(other[name].data)
    go(third, fourth, range(2, 3))
    for name, each in named.items():
        assert torch.equal(each, third[name]), name

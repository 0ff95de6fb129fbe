"""The published size on one GPU, with random weights: shapes, parameters, memory and speed of every stage and path.

    PYTHONPATH=src python3 benchmarks/full_size.py --out docs/results/full_size.json      # one GPU of 80 GB or more
    PYTHONPATH=src python3 benchmarks/full_size.py --out /tmp/rehearsal.json --tiny       # toy size, on any CPU

Each stage is its own task over a small written corpus: real batches, real prompts, the recipe's own accumulation; a
step is one of the optimizer. Visual tokens are noise and the backbone's weights are made on the device. What goes
wrong in one section is told in its place with its traceback, and the others run; figures are on the disk after each
section. Two minutes are enough for all of it: a section stops timing once it has taken its share.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor  # noqa: E402

from results import record  # noqa: E402
from small_corpus import write_corpus  # noqa: E402
from streamsoccer.backbone import Backbone, load_random, qwen3_vl_8b_config  # noqa: E402
from streamsoccer.clip import Clip  # noqa: E402
from streamsoccer.clock import MatchTime  # noqa: E402
from streamsoccer.config import from_mapping, merged, to_mapping  # noqa: E402
from streamsoccer.data.manifests import read_records, read_samples  # noqa: E402
from streamsoccer.data.pipeline import build  # noqa: E402
from streamsoccer.domain import Tally, Track  # noqa: E402
from streamsoccer.language import Language, Request  # noqa: E402
from streamsoccer.model import StreamSoccer, Widths  # noqa: E402
from streamsoccer.prompt import Prompter  # noqa: E402
from streamsoccer.record import MatchContext  # noqa: E402
from streamsoccer.sources.tokens import CacheHeader  # noqa: E402
from streamsoccer.testing.backbone import tiny_config, tiny_tokenizer  # noqa: E402
from streamsoccer.training import foundation, video  # noqa: E402
from streamsoccer.training.corpus import Corpus  # noqa: E402
from streamsoccer.training.loop import LoopConfig, Task, Trainer  # noqa: E402
from streamsoccer.training.recipe import Path3, Recipe  # noqa: E402
from streamsoccer.vision import VisionConfig, VisionEncoder  # noqa: E402

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
MIB = 2**20
SECTION_SECONDS = 6.0  # after these, what a section has timed is enough


@dataclass(kw_only=True)
class Ground:
    """What the sections stand on; a section fills in what the later ones read."""

    folder: Path
    recipe: Recipe
    steps: int
    batches: tuple[int, ...]
    tiny: bool
    figures: dict[str, Any] = field(default_factory=dict)
    backbone: Backbone | None = None
    corpus: Corpus | None = None

    @property
    def held(self) -> Backbone:
        if self.backbone is None:
            raise RuntimeError("there is no backbone: its section failed")
        return self.backbone

    @property
    def data(self) -> Corpus:
        if self.corpus is None:
            raise RuntimeError("there is no corpus: its section failed")
        return self.corpus


class Noise:
    """A token cache of the right shape: the same noise for every clip, as many clips as the manifests have."""

    def __init__(self, ground: Ground) -> None:
        encoder = VisionEncoder(ground.held, ground.recipe.model.vision)
        self.header = CacheHeader(
            fingerprint=ground.held.fingerprint, backbone="random", width=encoder.config.width,
            height=encoder.config.height, dtype="bfloat16", tokens=encoder.tokens(8), features=ground.held.visual_width,
        )  # fmt: skip
        self.folder, self._corpus = ground.folder / "tokens", ground.data
        self._clip = torch.randn(1, self.header.tokens, self.header.features).bfloat16()

    def count(self, match: str, half: int) -> int:
        return self._corpus.half(match, half).clips

    def tokens(self, match: str, half: int, first: int, count: int) -> tuple[Tensor, Tensor]:
        return self._clip.expand(count, -1, -1), torch.ones(count, self.header.tokens, dtype=torch.bool)


# --- measuring -------------------------------------------------------------------------------------------------------


def clear() -> None:
    gc.collect()
    if CUDA:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def allocated() -> int:
    return torch.cuda.memory_allocated() // MIB if CUDA else 0


def peak() -> int:
    return torch.cuda.max_memory_allocated() // MIB if CUDA else 0


def timed(work: Callable[[], object], rounds: int, warm: Callable[[], object] | None = None) -> float:
    """The median seconds of a call, after one that is not counted; one is counted however long it takes."""
    (warm or work)()
    took: list[float] = []
    while not took or (len(took) < rounds and sum(took) < SECTION_SECONDS):
        if CUDA:
            torch.cuda.synchronize()
        begun = time.perf_counter()
        work()
        if CUDA:
            torch.cuda.synchronize()
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def plain(found: Any) -> Any:
    """As JSON has it: what is no number is told in words."""
    if isinstance(found, dict):
        return {name: plain(each) for name, each in found.items()}
    return str(found) if isinstance(found, float) and not math.isfinite(found) else found


def train(ground: Ground, task: Task, loop: LoopConfig, **more: Any) -> dict[str, Any]:
    """Steps of a task in the loop that trains it, without what stands around them: validation and checkpoints."""
    out = ground.folder / f"run-{task.name}-{len(ground.figures)}"
    out.mkdir(parents=True)
    trainer = Trainer(task, loop, out)
    task.objective.to(trainer.accelerator.device)
    module = trainer.accelerator.prepare_model(task.objective)
    module.train()
    losses: list[float] = []
    with trainer._batches(ground.steps + loop.accumulation) as batches:  # more than are taken

        def step() -> None:
            _, _, parts, _ = trainer._step(module, batches)
            trainer.step += 1
            losses.append(float(parts["loss"]))

        def short() -> None:
            """A step of one batch, which makes what every later one finds: the optimizer's state, chosen kernels."""
            trainer.loop = replace(loop, accumulation=1)
            step()
            trainer.loop = loop

        seconds = timed(step, ground.steps, short)
    samples = loop.batch * loop.accumulation
    return {
        "samples_a_step": samples,
        "seconds_a_step": round(seconds, 4),
        "steps_a_second": round(1 / seconds, 4),
        "samples_a_second": round(samples / seconds, 3),
        "trained_parameters": sum(each.numel() for group in task.groups() for _, each in group.parameters),
        "loss_first": round(losses[0], 4),
        "loss_last": round(losses[-1], 4),
        "peak_mib": peak(),
        **more,
    }


# --- sections --------------------------------------------------------------------------------------------------------


def machine(ground: Ground) -> dict[str, Any]:
    import transformers

    found: dict[str, Any] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "device": torch.cuda.get_device_name() if CUDA else "cpu",
        "tiny": ground.tiny,
    }
    if CUDA:
        found["device_mib"] = torch.cuda.get_device_properties(0).total_memory // MIB
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        found["driver"] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        found["driver"] = None
    return found


def corpus(ground: Ground) -> dict[str, Any]:
    """A few written matches of a quarter of an hour a half."""
    write_corpus(ground.folder / "league", matches=5, captioned=5)
    made = build(ground.folder / "league", ground.folder / "data")
    ground.corpus = Corpus(ground.folder / "data")
    return {name: made.summary["counts"][name] for name in ("matches", "clips", "events", "records", "samples")}


def backbone(ground: Ground) -> dict[str, Any]:
    """Weights made on the device; a tokenizer that knows the prompts' words, so that prompts are as long as real."""
    texts = [each.text for each in read_records(ground.folder / "data")]
    texts += [each.target for each in read_samples(ground.folder / "data")]
    plain: Any = tiny_tokenizer([])
    prompter, at = Prompter(plain), MatchContext(at=MatchTime(1, 605.0), tally=Tally())
    texts += [prompter.words(prompter.record(at))] * 4
    texts += [prompter.words(prompter.commentary(track, at)[0]) for track in Track] * 4
    tokenizer = tiny_tokenizer(texts, 1200 if ground.tiny else 4000)
    config = tiny_config(len(tokenizer), width=64, spread=0.1) if ground.tiny else qwen3_vl_8b_config()
    begun = time.perf_counter()
    ground.backbone = load_random(config, tokenizer, device=DEVICE, dtype="float32" if ground.tiny else "bfloat16")
    if CUDA:
        torch.cuda.synchronize()
    weights = list(ground.backbone.model.parameters())
    # The stages read their backbone by its name; this one has no folder.
    for module in (foundation, video):
        module.load_backbone = lambda config, device="cpu": ground.held  # type: ignore[attr-defined]
    return {
        "parameters": sum(each.numel() for each in weights),
        "visual_parameters": sum(each.numel() for each in ground.backbone.model.model.visual.parameters()),
        "weights_mib": sum(each.numel() * each.element_size() for each in weights) // MIB,
        "seconds_to_make": round(time.perf_counter() - begun, 2),
        "peak_mib": peak(),
    }


def shapes(ground: Ground) -> dict[str, Any]:
    """One clip through every box, and what of it is trained."""
    model = StreamSoccer(ground.recipe.model, Widths.of(ground.held)).to(DEVICE)
    seeing = VisionEncoder(ground.held, ground.recipe.model.vision)
    config = seeing.config
    frames = np.random.default_rng(0).integers(0, 256, (8, config.height, config.width, 3), dtype=np.uint8)
    with torch.inference_mode():
        (visual,) = seeing.encode([frames])
        tokens, actions = model.encoder.read(visual.float()[None])
        state, _ = model.encoder.step(tokens, actions, model.encoder.start())
        prefix = model.projector(state.memory[:, None].expand(-1, 5, -1, -1))
    language = Language(ground.held, ground.recipe.model.language)
    lora = sum(each.numel() for _, each in language.lora_parameters())
    parts = model.parts()
    return {
        "V_t": list(visual.shape),
        "E_t": list(tokens.shape[1:]),
        "M_t": list(state.memory.shape[1:]),
        "prefix": list(prefix.shape[1:]),
        "trainable": {**parts, "lora": lora, "all": sum(parts.values()) + lora},
    }


def encoder(ground: Ground) -> dict[str, Any]:
    """Clips of 8 frames, uint8 in, visual tokens out: resizing, transfer and patches included."""
    found: dict[str, Any] = {}
    random = np.random.default_rng(0)
    config = ground.recipe.model.vision
    sizes = [(config, ground.batches)] + ([] if ground.tiny else [(replace(config, width=1280, height=704), (4,))])
    for size, batches in sizes:
        seeing = VisionEncoder(ground.held, size)
        for batch in batches:
            clips = [random.integers(0, 256, (8, size.height, size.width, 3), dtype=np.uint8) for _ in range(batch)]
            clear()
            seconds = timed(lambda seeing=seeing, clips=clips: seeing.encode(clips), ground.steps)
            found[f"{size.width}x{size.height}, batch {batch}"] = {
                "clips_a_second": round(batch / seconds, 2),
                "ms_a_clip": round(1000 * seconds / batch, 3),
                "tokens_a_clip": seeing.tokens(8),
                "peak_mib": peak(),
            }
    return found


def stage1(ground: Ground) -> dict[str, Any]:
    from streamsoccer.training.memory import MemoryTask

    task = MemoryTask(ground.recipe, ground.data, Noise(ground))  # type: ignore[arg-type]
    task.save(ground.folder / "stage1", 0)
    clips = round(statistics.fmean(window.last - window.first for window in map(task.windows.at, range(16))), 1)
    start = allocated()
    return train(
        ground, task, ground.recipe.stage1.loop, clips_a_window=clips, visual_tokens_on_device=task.visual.resident,
        mib_before=start,
    )  # fmt: skip


def memory_cache(ground: Ground) -> dict[str, Any]:
    """Both runs of every half, the labels' and the model's own."""
    from streamsoccer.training.foundation import Parent, fresh
    from streamsoccer.training.memory_cache import MemoryCacheHeader, write_memory_cache
    from streamsoccer.training.visual import VisualTokens

    noise = Noise(ground)
    parent = Parent.read(ground.folder / "stage1", "encoder")
    model = fresh(ground.recipe.model, Widths.of(ground.held), 0)
    parent.into(model, "encoder")
    header = MemoryCacheHeader(
        encoder=parent.checkpoint.hashes["encoder"], backbone=noise.header.fingerprint,
        clips=ground.data.fingerprint["clips"], threshold=repr(ground.recipe.model.transition.threshold),
    )  # fmt: skip
    halves = list(ground.data.halves.values())
    begun = time.perf_counter()
    visual = VisualTokens(noise, halves, "cpu")  # type: ignore[arg-type]
    write_memory_cache(ground.folder / "memory", header, model.encoder.to(DEVICE), visual, halves)
    seconds = time.perf_counter() - begun
    clips = sum(each.clips for each in halves)
    return {"clips": clips, "clips_a_second": round(clips / seconds, 1), "peak_mib": peak()}


def stage2(ground: Ground) -> dict[str, Any]:
    from streamsoccer.training.records import RecordTask

    task = RecordTask(
        ground.recipe, ground.data, ground.folder / "memory", ground.folder / "stage1", ground.folder / "out2"
    )
    task.save(ground.folder / "stage2", 0)
    task.stage = replace(task.stage, align_steps=0, lora_warmup_steps=1)  # both groups move
    batch = task.batch(0, 0, 0, 1)
    return train(ground, task, ground.recipe.stage2.loop, prompt_tokens=_lengths(task, batch), mib_before=allocated())


def stage3_cache(ground: Ground) -> dict[str, Any]:
    return _stage3(ground, Path3.CACHE)


def stage3_joint(ground: Ground) -> dict[str, Any]:
    return _stage3(ground, Path3.JOINT, tokens=Noise(ground))


class Screen:
    """Frames of the encoder's own size for every clip that is asked for: what is timed is the training."""

    def __init__(self, size: VisionConfig) -> None:
        self._frames = np.random.default_rng(0).integers(0, 256, (8, size.height, size.width, 3), dtype=np.uint8)

    def clips(self, match: str, half: int, first: int, last: int) -> list[Clip]:
        return [
            Clip(
                half=half, index=index, start=4.0 * index, end=4.0 * index + 4, frames=self._frames,
                samples=tuple(range(8)), times=tuple(4.0 * index + each / 2 for each in range(8)),
            )
            for index in range(first, last + 1)
        ]  # fmt: skip


def video_sft(ground: Ground) -> dict[str, Any]:
    """The native video path: windows of 30, 180 and 180 s, frames through the frozen tower at every step."""
    recipe = _with_path(ground.recipe, Path3.VIDEO)
    # As recipes/video_sft.yaml has it: rows of 3,000 tokens, whose activations are made twice rather than kept.
    recipe = replace(recipe, model=replace(recipe.model, language=replace(recipe.model.language, recompute=True)))
    task = video.VideoTask(recipe, ground.data, Screen(recipe.model.vision), ground.folder / "out-video")
    batch = task.batch(0, 0, 0, 1)
    rows = [task.native.row(each, reel.times) for each, reel in zip(batch.prompts, batch.reels, strict=True)]
    return train(
        ground, task, recipe.stage3.loop, mib_before=allocated(), recompute=True,
        frames=statistics.fmean(len(each.times) for each in batch.reels),
        prompt_tokens=statistics.fmean(len(each.ids) for each in rows),
        visual_tokens=statistics.fmean(int(each.seen.sum()) for each in rows),
    )  # fmt: skip


def _stage3(ground: Ground, path: Path3, **more: Any) -> dict[str, Any]:
    from streamsoccer.training.commentary_task import CommentaryTask

    recipe = _with_path(ground.recipe, path)
    task = CommentaryTask(
        recipe, ground.data, ground.folder / "stage2", ground.folder / f"out-{path}", memory=ground.folder / "memory",
        **more,
    )  # fmt: skip
    batch = task.batch(0, 0, 0, 1)
    lengths = round(statistics.fmean(len(each.prompt.before) + len(each.prompt.after) for each in batch.contexts), 1)
    return train(
        ground, task, recipe.stage3.loop, prompt_tokens=lengths, memories_a_batch=len(batch.where),
        mib_before=allocated(),
    )  # fmt: skip


def generation(ground: Ground) -> dict[str, Any]:
    """Texts of 64 tokens after a prompt of 250, as many at once as the engine has slots, and one alone."""
    language = Language(ground.held, ground.recipe.model.language)
    prompter = Prompter(ground.held.tokenizer, ground.recipe.model.prompt, 8)
    at = MatchContext(at=MatchTime(1, 605.0), tally=Tally())
    prompt = prompter.commentary(Track.HISTORICAL, at)[0]
    prefix = torch.randn(8, ground.held.text_width, device=DEVICE) * 0.02
    most = 8 if ground.tiny else 64
    slots = language.engine().slots
    found: dict[str, Any] = {"prompt_tokens": len(prompt.before) + 8 + len(prompt.after), "tokens": most}
    for many in (1, slots):
        requests = [Request(prefix=prefix, prompt=prompt, max_tokens=most)] * many
        said: list[int] = []

        def write(requests: list[Request] = requests, said: list[int] = said) -> None:
            said.append(sum(map(len, language.generate(requests))))

        seconds = timed(write, 1)
        found[f"{many} at once"] = {"tokens_a_second": round(said[-1] / seconds, 1), "seconds": round(seconds, 3)}
    return found | {"peak_mib": peak()}


def _lengths(task: Any, batch: Any) -> float:
    return round(statistics.fmean(len(each.before) + len(each.after) for each in batch.prompts), 1)


def _with_path(recipe: Recipe, path: Path3) -> Recipe:
    return replace(recipe, stage3=replace(recipe.stage3, path=path))


# --- the whole -------------------------------------------------------------------------------------------------------

SECTIONS: tuple[Callable[[Ground], dict[str, Any]], ...] = (
    machine, corpus, backbone, shapes, stage1, memory_cache, stage2, stage3_cache, stage3_joint, generation, encoder,
    video_sft,
)  # fmt: skip
TINY = {
    "vision": {"width": 64, "height": 64},
    "adapter": {"width": 32, "heads": 4},
    "memory": {"heads": 4},
    "transition": {"heads": 4},
    "heads": {"heads": 4, "retrieval_width": 16},
    "projector": {"heads": 4},
}


def _recipe(tiny: bool) -> Recipe:
    """The paper's values; contexts are the labels', because writing the own run's records takes an hour."""
    recipe = Recipe()
    if tiny:
        model = from_mapping(type(recipe.model), merged(to_mapping(recipe.model), TINY), "TINY")
        recipe = replace(recipe, model=model)
        for name in ("stage1", "stage2", "stage3"):
            stage = getattr(recipe, name)
            short = replace(stage, loop=replace(stage.loop, batch=1, accumulation=2))
            recipe = replace(recipe, **{name: short})
        recipe = replace(recipe, stage3=replace(recipe.stage3, video_frames=16))
    taught = replace(recipe.stage3.curriculum, begin=recipe.stage3.loop.steps)
    return replace(recipe, stage3=replace(recipe.stage3, curriculum=taught))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file that gets the figures")
    parser.add_argument("--tiny", action="store_true", help="toy sizes, for a rehearsal on a CPU")
    parser.add_argument("--steps", type=int, default=2, help="steps that are timed in each section")
    parser.add_argument("--only", default="", help="sections to run, by name, beside those that all stand on")
    given = parser.parse_args()
    if not given.tiny and not CUDA:
        sys.exit("there is no GPU here: --tiny rehearses the script on a CPU")
    wanted = set(given.only.split(",")) if given.only else {each.__name__ for each in SECTIONS}
    wanted |= {"machine", "corpus", "backbone"}
    command = f"PYTHONPATH=src python3 benchmarks/full_size.py --out {given.out}" + (" --tiny" if given.tiny else "")
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(
            folder=Path(folder), recipe=_recipe(given.tiny), steps=given.steps, tiny=given.tiny,
            batches=(1, 2) if given.tiny else (1, 64),
        )  # fmt: skip
        for section in SECTIONS:
            if section.__name__ not in wanted:
                continue
            clear()
            start = time.perf_counter()
            try:
                found = section(ground)
            except Exception as error:  # noqa: BLE001 - one section's failure must not cost the others
                traceback.print_exc()
                told = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:500]
                found = {"error": told, "traceback": traceback.format_exc().splitlines()[-40:]}
                error.__traceback__ = None  # its frames hold a task, and that its memory
            found["section_seconds"] = round(time.perf_counter() - start, 1)
            ground.figures[section.__name__] = plain(found)
            print(f"{time.perf_counter() - begun:6.1f} s  {section.__name__}: {found}", flush=True)
            record(given.out.stem, ground.figures, command, folder=given.out.parent)
    failed = [name for name, found in ground.figures.items() if "error" in found]
    print(f"{len(ground.figures) - len(failed)} sections; failed: {', '.join(failed) or 'none'}", flush=True)
    os._exit(0 if not failed else 1)  # reading threads of a failed section may still wait


if __name__ == "__main__":
    main()

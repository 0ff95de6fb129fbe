"""Video-SFT (table 'memory_scope_analysis'): stage 3's samples on the native video path, LoRA alone is trained.

The same samples in the same shares, the same words but no records: in place of memories the frames of the causal
window. They are read from packs, or decoded from videos, ahead of the step; the frozen tower sees them at every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from streamsoccer.backbone import load_backbone
from streamsoccer.checkpoint import load_weights, read_checkpoint, save_pretrained
from streamsoccer.clip import FPS, Clip
from streamsoccer.clock import MatchTime
from streamsoccer.config import to_mapping
from streamsoccer.domain import CLIP_SECONDS, Placeholder, SampleRow, Split, Track
from streamsoccer.errors import DataError, UsageError
from streamsoccer.heads import TRACKS
from streamsoccer.language import Language, Prompt
from streamsoccer.model import Widths
from streamsoccer.native import WINDOW_SECONDS, NativeVideo, Reel, evenly
from streamsoccer.prompt import Prompter
from streamsoccer.record import MatchContext
from streamsoccer.sources.file import FileSource
from streamsoccer.sources.game import half_files
from streamsoccer.sources.pack import SUFFIX, Pack
from streamsoccer.sources.sampler import Stretch
from streamsoccer.sources.source import Options
from streamsoccer.training.commentary_task import Turns
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import device, fresh, provenance, seeded
from streamsoccer.training.loop import Group, Outcome, Trainer
from streamsoccer.training.measures import token_f1
from streamsoccer.training.recipe import LoopConfig, Path3, Recipe
from streamsoccer.training.records import spread, write_samples
from streamsoccer.training.windows import shares
from streamsoccer.vision import VisionEncoder, resize

__all__ = ["Footage", "VideoBatch", "VideoObjective", "VideoTask", "train_video"]


class Clips(Protocol):
    """Where the frames of a stretch come from."""

    def clips(self, match: str, half: int, first: int, last: int) -> Sequence[Clip]: ...


class Footage:
    """Clips first .. last of any half, out of its pack or its video; any thread may ask."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._packs: dict[Path, tuple[Pack, dict[int, int]]] = {}

    def clips(self, match: str, half: int, first: int, last: int) -> list[Clip]:
        """Those of them that the stream had."""
        path = half_files(self.root / match).get(half)
        if path is None:
            raise DataError(f"there is no half {half}", where=self.root / match, remedy="add its video or its pack")
        if path.suffix != SUFFIX:
            return self._decoded(path, half, first, last)
        if path not in self._packs:
            pack = Pack(path)
            self._packs[path] = (pack, {row.index: place for place, row in enumerate(pack.rows)})
        pack, places = self._packs[path]
        return [pack[places[index]] for index in range(first, last + 1) if index in places]

    def _decoded(self, path: Path, half: int, first: int, last: int) -> list[Clip]:
        source = FileSource(
            path, stretches=[Stretch(half=half, start=0.0)], begin=first * CLIP_SECONDS, options=Options()
        )
        found = []
        for item in source:
            if isinstance(item, Clip) and item.index >= first:
                if item.index <= last:
                    found.append(item)
                if item.index >= last:
                    break
        return found


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class VideoBatch:
    """B windows with their prompts and targets."""

    names: tuple[str, ...]
    reels: tuple[Reel, ...]
    prompts: tuple[Prompt, ...]
    targets: tuple[tuple[int, ...], ...]

    def to(self, device: torch.device) -> VideoBatch:
        return replace(self, reels=tuple(each.to(device) for each in self.reels))


class VideoObjective(nn.Module):
    """The mean over the samples of each one's mean over its target's tokens."""

    def __init__(self, native: NativeVideo, language: Language) -> None:
        super().__init__()
        self.native, self.language = native, language

    def forward(self, batch: VideoBatch) -> dict[str, Tensor]:
        return {"loss": self.native.loss(self.language, batch.prompts, batch.reels, batch.targets).mean()}


class VideoTask:
    """Video-SFT for the loop."""

    name = "video"

    def __init__(self, recipe: Recipe, corpus: Corpus, footage: Clips, out: Path) -> None:
        stage = recipe.stage3
        self.recipe, self.stage, self.corpus, self.footage, self.out = recipe, stage, corpus, footage, out
        self.backbone = load_backbone(recipe.backbone, device())
        self.encoder = VisionEncoder(self.backbone, recipe.model.vision)
        tokenizer: Any = self.backbone.tokenizer
        self.prompter = Prompter(tokenizer, recipe.model.prompt, 0)
        with seeded(stage.loop.seed):
            self.language = Language(self.backbone, recipe.model.language)
        self.native = NativeVideo(self.encoder)
        self.objective = VideoObjective(self.native, self.language)
        found = {split: _by_track(corpus, split) for split in (Split.TRAIN, Split.VALIDATION)}
        for split, tracks in found.items():
            if missing := [track.value for track, rows in tracks.items() if not rows]:
                raise DataError(
                    f"holds no {' and no '.join(missing)} sample of the {split} split",
                    where=corpus.folder,
                    remedy="build more matches, or longer ones",
                )
        self.turns = Turns(found[Split.TRAIN], stage.loop.seed)
        many = stage.validation_samples // len(TRACKS)
        self.watched = [each for rows in found[Split.VALIDATION].values() for each in spread(rows, many)]

    # --- windows

    def reel(self, sample: SampleRow) -> Reel:
        """The frames of the window that ends at the cutoff, at most `video_frames`, evenly spread."""
        end = sample.cutoff.seconds
        begin = max(0.0, end - WINDOW_SECONDS[sample.track])
        first, last = int(begin // CLIP_SECONDS), int((end - 1e-6) // CLIP_SECONDS)
        last = min(last, self.corpus.half(sample.match, sample.half).clips - 1)
        instants = [
            (clip.start + number / FPS, clip.frames[place])
            for clip in self.footage.clips(sample.match, sample.half, first, last)
            if clip.available_at <= MatchTime(sample.half, end + 1e-6)
            for place, number in enumerate(clip.samples)
            if clip.start + number / FPS >= begin
        ]
        if not instants:
            raise DataError(
                f"{sample.match}, half {sample.half}: there is no frame between {begin:g} s and {end:g} s",
                where=self.corpus.folder,
                remedy="name the folder that holds the videos or packs of this build",
            )
        chosen = [instants[place] for place in evenly(len(instants), self.stage.video_frames)]
        size = self.encoder.config
        frames = resize(np.stack([frame for _, frame in chosen]), size.width, size.height)
        return Reel(pixels=frames, times=tuple(at - begin for at, _ in chosen))

    def asked(
        self, samples: Sequence[SampleRow], chance: np.random.Generator | None = None, *, state: bool = True
    ) -> VideoBatch:
        """Windows, prompts and targets of these samples; `chance` varies the match context, as training does.

        Without `state` nobody knows the score.
        """
        prompts = []
        for sample in samples:
            dropped, unsure = (chance.random(), chance.random()) if chance is not None else (1.0, 1.0)
            known = MatchContext(
                at=sample.cutoff,
                tally=sample.state if state and dropped >= self.stage.context_dropout else None,
                sure=state and unsure >= self.stage.context_unsure,
            )
            prompts.append(self.prompter.commentary(sample.track, known)[0])
        return VideoBatch(
            names=tuple(each.id for each in samples),
            reels=tuple(self.reel(each) for each in samples),
            prompts=tuple(prompts),
            targets=tuple(self.prompter.target(each.target, each.placeholders) for each in samples),
        )

    # --- for the loop

    def groups(self) -> list[Group]:
        stage = self.stage
        lora = self.language.lora_parameters()
        return [Group(name="lora", parameters=lora, rate=lambda step: stage.lora_rate * stage.loop.rate(step))]

    def batch(self, step: int, micro: int, rank: int, world: int) -> VideoBatch:
        loop = self.stage.loop
        places = shares(step, micro, accumulation=loop.accumulation, batch=loop.batch, rank=rank, world=world)
        return self.asked([self.turns.at(place) for place in places], np.random.default_rng([loop.seed, places.start]))

    def validate(self, step: int) -> dict[str, float]:
        """The loss by track, and the sentences of some: OUT/samples/step-000500.jsonl."""
        found: dict[str, float] = {}
        for track in TRACKS:
            mine = [each for each in self.watched if each.track is track]
            losses: list[float] = []
            for begin in range(0, len(mine), self.stage.loop.batch):
                batch = self.asked(mine[begin : begin + self.stage.loop.batch]).to(device())
                losses += self.native.loss(self.language, batch.prompts, batch.reels, batch.targets).tolist()
            found[f"loss/{track.value}"] = float(np.mean(losses))
        found["loss"] = float(np.mean(list(found.values())))
        shown = spread(self.watched, self.stage.validation_texts)
        rows = [
            {"id": each.id, "track": each.track.value, "generated": text, "reference": each.target}
            for each, text in zip(shown, self.texts(shown), strict=True)
        ]
        write_samples(self.out, step, rows)
        if rows:
            shared = [token_f1(row["generated"].split(), row["reference"].split()) for row in rows]
            found["token_f1"] = float(np.mean(shared))
        return found

    def said(self, sample: SampleRow, *, state: bool = True) -> tuple[str, tuple[Placeholder, ...]]:
        """What the model says of a sample's window; before any training, Direct Qwen3-VL."""
        asked = self.asked([sample], state=state)
        most = self.recipe.model.prompt.generated_tokens
        ids = self.native.say(self.language, asked.prompts[0], asked.reels[0], most)
        return self.prompter.unsided(self.prompter.text(ids))

    def texts(self, samples: Sequence[SampleRow]) -> list[str]:
        return [self.said(each)[0] for each in samples]

    def describe(self) -> Mapping[str, Any]:
        return {
            "stage": to_mapping(replace(self.stage, loop=LoopConfig(steps=1))),
            "model": to_mapping(self.recipe.model),
            "backbone": self.backbone.fingerprint,
            **{name: self.corpus.fingerprint[name] for name in ("clips", "samples")},
        }

    def save(self, folder: Path, step: int) -> None:
        """LoRA alone: there is no memory in this path."""
        path, marks = self.recipe.backbone.path, self.backbone
        save_pretrained(
            folder,
            fresh(self.recipe.model, Widths.of(self.backbone), self.stage.loop.seed),
            backbone={"path": path, "fingerprint": marks.fingerprint, "vocabulary": marks.vocabulary},
            prompt=self.prompter.fingerprint,
            parts=[],
            lora=self.language.lora_state(),
            provenance=provenance("video", step, self.stage, self.corpus),
        )

    def load(self, folder: Path) -> None:
        checkpoint = read_checkpoint(folder)
        blank = fresh(self.recipe.model, Widths.of(self.backbone), self.stage.loop.seed)
        if (lora := load_weights(checkpoint, blank, [])) is not None:
            self.language.load_lora(lora)


def _by_track(corpus: Corpus, split: Split) -> dict[Track, list[SampleRow]]:
    rows = [each for each in corpus.samples.values() if each.split is split]
    return {track: [each for each in rows if each.track is track] for track in TRACKS}


def train_video(
    recipe: Recipe,
    data: Path,
    footage: Path,
    out: Path,
    *,
    until: int | None = None,
    seconds: float | None = None,
    progress: bool = False,
) -> Outcome:
    """Video-SFT on a build and the folder of its videos or packs, into a run's folder; called again, it goes on."""
    if recipe.stage3.path is not Path3.VIDEO:
        raise UsageError(
            f"stage3.path is {recipe.stage3.path}, and no memory is trained here",
            remedy="use recipes/video_sft.yaml, or set stage3.path to video",
        )
    task = VideoTask(recipe, Corpus(data), Footage(footage), out)
    return Trainer(task, recipe.stage3.loop, out, progress=progress).run(until, seconds)

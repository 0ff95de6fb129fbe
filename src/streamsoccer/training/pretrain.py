"""Before the stages: a Qwen3-VL of our own size, from noise, on clips with captions and on text; then it is frozen.

    OUT/backbone/          what the stages read: config, tokenizer, weights in bfloat16, in shards that travel
    OUT/adapter.safetensors    where stage 1's adapter begins, if `digest_weight` asks for one
    OUT/state/             float32 weights and the optimizer, to go on from
    OUT/progress.json      how far it is, and the recipe
    OUT/metrics.jsonl      a line for every few steps, validation among them

A step is one batch of clips (alone, or several in a row), which are told in words and searched for who is where, and
one of text. It stops after so many seconds with all that the next leg needs, and goes on where it stopped. Where the
folders of clips are whole and `grows` is off, a run is a function of its seed; where clips are still being made beside
it, it learns from what is there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamsoccer.backbone import Backbone, BackboneConfig, load_backbone, load_random
from streamsoccer.clip import FRAMES_PER_CLIP
from streamsoccer.clock import Clock, WallClock
from streamsoccer.config import to_mapping
from streamsoccer.errors import CheckpointError, DataError, TrainingError, UsageError
from streamsoccer.prompt import Prompter
from streamsoccer.training.captioner import initialise
from streamsoccer.training.descent import Descent
from streamsoccer.training.digest import load_adapter, save_adapter
from streamsoccer.training.film import RUN, CaptionedHalf, FrameStore, Library, captioned_halves, read_run
from streamsoccer.training.finding import MOST
from streamsoccer.training.foundation import quick_turns, upload
from streamsoccer.training.lessons import Lessons, figures_of
from streamsoccer.training.lines import Lines, read_lines, texts
from streamsoccer.training.loop import Outcome
from streamsoccer.training.pictures import disturb, lost_parts
from streamsoccer.training.pretrain_recipe import PretrainRecipe
from streamsoccer.training.tokenizer import train_tokenizer

__all__ = ["pretrain", "save_shards"]

SHARD = "14MB"  # of the shipped weights; what comes back from a lent machine, and what a repository holds, is small
_STATE = "state"
_PROGRESS = "progress.json"
_TELL_EVERY = 20
_BACKBONE = "backbone"
_ADAPTER = "adapter.safetensors"


# What a run that goes on may have otherwise than when it began.
_FREE = {"steps", "cooldown", "hurry", "workers", "grows", "look_every", "validate_every", "save_every", "compile"}


def pretrain(
    recipe: PretrainRecipe,
    clips: Path | Sequence[Path],
    held_out: Path,
    text: Path,
    out: Path,
    *,
    until: int | None = None,
    seconds: float | None = None,
    told: Callable[[str], None] = lambda line: None,
    clock: Clock | None = None,
) -> Outcome:
    """Train from where the run in OUT stands, or from noise, to the end, to step `until` or for `seconds`.

    `clips` and `held_out` hold packs with captions, `text` is a build of `data build`.
    """
    clock = clock or WallClock()
    run = _Run(recipe, text, out, told, clock, clock.now() + seconds if seconds is not None else None)
    return run.go([clips] if isinstance(clips, Path) else clips, held_out, until)


class _Run:
    """One leg."""

    def __init__(
        self,
        recipe: PretrainRecipe,
        text: Path,
        out: Path,
        told: Callable[[str], None],
        clock: Clock,
        deadline: float | None,
    ) -> None:
        self.recipe, self.out, self.told, self.clock, self.deadline = recipe, out, told, clock, deadline
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        out.mkdir(parents=True, exist_ok=True)
        self.backbone = self._begin(text)
        self.lessons = Lessons(self.backbone, recipe, self.device)
        self.descent = self._descent()
        self.step, self.last, self.begun = 0, recipe.steps, clock.now()
        self._resume()
        tokenizer: Any = self.backbone.tokenizer
        prompter = Prompter(tokenizer, recipe.prompt, recipe.prefix_tokens)
        self.end = prompter.end_of_turn
        (self.line_end,) = self._encode("\n")
        held = read_lines(text, prompter, self._encode)
        self.said = {self.end, self.line_end, *self.backbone.end_tokens, *(one for each in held for one in each.target)}
        # One line in fifty is held out, whatever the match: the words are the same everywhere.
        self.lines = Lines(
            [each for index, each in enumerate(held) if index % 50], recipe.text_lengths, recipe.text_hinted
        )
        self.lines_held_out = Lines(held[::50], recipe.text_lengths, 1.0)
        if self.lines.dropped:
            told(
                f"{self.lines.dropped} of {len(held)} lines of text are longer than {max(recipe.text_lengths)} tokens,"
                " and are not learnt"
            )

    # --- begin, go on, stop -------------------------------------------------------------------------------------------

    def _begin(self, text: Path) -> Backbone:
        """The backbone of the run that stands here, or one of noise with a tokenizer that is learnt now."""
        recipe, folder = self.recipe, self.out / _BACKBONE
        if (folder / "config.json").is_file():
            return load_backbone(BackboneConfig(path=str(folder), dtype="float32"), self.device)
        words = texts(text, sided=recipe.prompt.sided)
        tokenizer = train_tokenizer(words, recipe.shape.vocabulary)
        made = load_random(
            recipe.shape.config(len(tokenizer)), tokenizer, device=self.device, dtype="float32", seed=recipe.seed
        )
        initialise(made.model)
        return made

    def _descent(self) -> Descent:
        model = self.backbone.model
        named = {**dict(model.named_parameters()), **self.lessons.beside()}
        layers = ("visual.blocks.", "language_model.layers.", "merger", "digest.adapter.layers.")
        matrices = [name for name, each in named.items() if each.ndim == 2 and any(part in name for part in layers)]
        return Descent(named, matrices, momentum=self.recipe.momentum, weight_decay=self.recipe.weight_decay)

    def _resume(self) -> None:
        """Go on from the state; without it, from what is shipped, with an optimizer that begins anew."""
        from safetensors.torch import load_file

        if not (self.out / _PROGRESS).is_file():
            return
        progress = json.loads((self.out / _PROGRESS).read_text(encoding="utf-8"))
        mine = to_mapping(self.recipe)
        for name in sorted({*mine, *progress["recipe"]} - _FREE):
            if mine.get(name) != progress["recipe"].get(name):
                raise UsageError(
                    f"the run here has {name} = {progress['recipe'].get(name)!r}, this one {mine.get(name)!r}",
                    where=self.out,
                    remedy="go on with the recipe it was begun with, or choose another output folder",
                )
        self.step = int(progress["step"])
        if progress["last"] != progress["recipe"]["steps"]:  # it was in a hurry, and its rate has begun to fall
            self.last = int(progress["last"])
        folder = self.out / _STATE
        if not folder.is_dir():
            if self.lessons.digest is not None and (self.out / _ADAPTER).is_file():
                load_adapter(self.lessons.digest.adapter, self.out / _ADAPTER)
            self.told(
                f"step {self.step}: {folder} is gone; the weights are those that are shipped, the optimizer is new"
            )
            return
        state = load_file(str(folder / f"step-{self.step:06d}.safetensors"))
        with torch.no_grad():
            for name, each in (*self.backbone.model.named_parameters(), *self.lessons.beside().items()):
                if f"weights.{name}" not in state:
                    raise CheckpointError(f"lacks {name}", where=folder, remedy="begin anew in another folder")
                each.copy_(state[f"weights.{name}"])
        self.descent.load({name.removeprefix("descent."): value for name, value in state.items()})

    def save(self) -> None:
        """The state to go on from and the backbone as it is shipped; progress.json, written last, names the two."""
        from safetensors.torch import save_file

        folder = self.out / _STATE
        folder.mkdir(exist_ok=True)
        named = (*self.backbone.model.named_parameters(), *self.lessons.beside().items())
        state = {f"weights.{name}": each.detach().cpu() for name, each in named}
        state |= {f"descent.{name}": value for name, value in self.descent.state().items()}
        mine = folder / f"step-{self.step:06d}.safetensors"
        save_file({name: value.contiguous() for name, value in state.items()}, str(mine))
        # A token that no text holds was never learnt, and is like any other such: it must not be said.
        vocabulary = range(self.backbone.model.get_input_embeddings().num_embeddings)
        self.backbone.model.generation_config.suppress_tokens = sorted(set(vocabulary) - self.said) or None
        save_shards(self.backbone, self.out / _BACKBONE)
        if self.lessons.digest is not None:
            save_adapter(self.lessons.digest.adapter, self.out / _ADAPTER)
        progress = {"step": self.step, "last": self.last, "recipe": to_mapping(self.recipe)}
        part = self.out / f"{_PROGRESS}.part"
        part.write_text(json.dumps(progress, indent=2) + "\n", encoding="utf-8")
        part.replace(self.out / _PROGRESS)
        for old in folder.glob("step-*.safetensors"):
            if old != mine:
                old.unlink()

    # --- steps --------------------------------------------------------------------------------------------------------

    def go(self, clips: Sequence[Path], held_out: Path, until: int | None) -> Outcome:
        recipe = self.recipe
        end = min(self.last, until if until is not None else self.last)
        held = self._held_out(held_out)
        library = Library(
            roots=clips,
            encode=self._caption,
            seed=recipe.seed,
            workers=recipe.workers,
            ahead=4 * recipe.fresh,
            grows=recipe.grows,
            pinned=self.device.type == "cuda",
        )
        longest = recipe.words
        store = FrameStore(recipe.store, recipe.width, recipe.height, longest, self.device)
        found: dict[str, float] = {}
        sums: list[dict[str, Tensor]] = []
        quick_turns()
        with library:
            if self.device.type == "cuda" and recipe.compile:
                self._warm()
            self._fill(library, store)
            first, begun = self.step, self.clock.now()
            while self.step < end and not self._late():
                self._feed(library, store)
                sums.append(self._one(store))
                self.step += 1
                end = min(end, self._last())
                if self.step >= end:
                    break
                if self.step % _TELL_EVERY == 0:
                    self._tell(sums, (self.step - first) / max(1e-9, self.clock.now() - begun), library, store)
                if held is not None and self.step % recipe.validate_every == 0:
                    self._validate(held)
                if self.step % recipe.save_every == 0:
                    self.save()
            if sums:
                self._tell(sums, (self.step - first) / max(1e-9, self.clock.now() - begun), library, store)
            if held is not None:
                found = self._validate(held)
            if self.step > first:
                self.save()
        return Outcome(step=self.step, done=self.step >= self.last, validation=found)

    def _last(self) -> int:
        """The step that the rate falls to, which comes nearer once there is hurry."""
        soon = self.step + self.recipe.cooldown
        if self.recipe.hurry and soon < self.last and self.clock.now() - self.begun > self.recipe.hurry:
            self.told(f"step {self.step}  the rate falls from now on: the last step is {soon}, not {self.last}")
            self.last = soon
        return self.last

    def _late(self) -> bool:
        return self.deadline is not None and self.clock.now() >= self.deadline

    def _fill(self, library: Library, store: FrameStore) -> None:
        """Enough clips to draw from; where clips are still being made, wait for them."""
        wanted = min(self.recipe.least, self.recipe.store) // RUN
        if not self.recipe.grows:
            if not library.clips:
                raise DataError("holds no clips with captions", where=library.roots[0], remedy="make them first")
            wanted = min(wanted, library.clips // RUN)
            # A run that goes on has taken these before: its order goes on too, its store begins again.
            library.skip(self.step * self.recipe.fresh)
        while store.filled < wanted and not self._late():
            if not library.clips:
                self.clock.wait(0.5)
                library.look()
                continue
            wanted = min(wanted, max(1, library.clips // RUN))
            for each in library.take(min(64, wanted - store.filled), wait=True):
                store.put(each)
        if not store.filled:
            raise DataError("no clip with a caption came in time", where=library.roots[0])

    def _warm(self) -> None:
        """Compile for the shapes that steps will have, while the first clips are perhaps still being made."""
        recipe, begun = self.recipe, self.clock.now()
        for in_row in sorted(set(recipe.clips_in_row)):
            rows = max(1, recipe.batch // in_row)
            shape = (rows * in_row, FRAMES_PER_CLIP, 3, recipe.height, recipe.width)
            words = torch.zeros(rows, in_row * recipe.words, dtype=torch.long, device=self.device)
            boxes = torch.zeros(rows * in_row, FRAMES_PER_CLIP, MOST, 6, dtype=torch.int16, device=self.device)
            with self.lessons.autocast():
                pixels = torch.zeros(shape, dtype=self.lessons.compute, device=self.device)
                loss = self.lessons.of_clips(pixels, words, boxes).loss
                for ids, targets in self.lines.shapes(recipe.text_rows, self.device):
                    loss = loss + self.lessons.of_text(ids, targets).loss
            loss.backward()
        for each in self.lessons.parameters():
            each.grad = None
        self.told(f"compiled in {self.clock.now() - begun:.0f} s")

    def _feed(self, library: Library, store: FrameStore) -> None:
        if self.recipe.grows and self.step % self.recipe.look_every == 0:
            library.look()
        for each in library.take(self.recipe.fresh, wait=not self.recipe.grows):
            store.put(each)

    def _one(self, store: FrameStore) -> dict[str, Tensor]:
        recipe = self.recipe
        random = np.random.default_rng([recipe.seed, self.step])
        in_row = recipe.clips_in_row[self.step % len(recipe.clips_in_row)]
        places = store.draw(max(1, recipe.batch // in_row), in_row, random)
        words = self._joined(store, places)
        deep = self.step % recipe.deepstack_every == 0
        with self.lessons.autocast():
            rows = upload(places.ravel(), self.device)
            frames, boxes = store.frames[rows], store.boxes[rows]
            lost = lost_parts(len(frames), recipe.pictures, random, self.device)
            pixels = disturb(frames.to(self.lessons.compute), recipe.pictures, random, lost)
            clips = self.lessons.of_clips(pixels, words, boxes, lost, deep=deep)
            text = self.lessons.of_text(*self.lines.batch(recipe.text_rows, random, self.device))
            loss = clips.loss + text.loss
        loss.backward()
        norm = self.descent.step(recipe.rate * recipe.share(self.step, self.last))
        told = {name if in_row == 1 else f"{in_row}_{name}": each for name, each in clips.told.items()}
        return {"loss": loss.detach(), "gradient": norm, **told, **text.told}

    def _joined(self, store: FrameStore, places: NDArray[np.int64]) -> Tensor:
        """The captions of each row's clips, line by line, with one end of the turn: [rows, clips * words]."""
        room = places.shape[1] * self.recipe.words
        rows = np.full((len(places), room), -100, dtype=np.int64)
        for row, clips in zip(rows, places, strict=True):
            at = 0
            for clip in clips:
                length = store.lengths[clip]
                row[at : at + length] = store.words[clip, :length]
                at += length
                row[at - 1] = self.line_end
            row[at - 1] = self.end
        return upload(rows, self.device)

    # --- what is told -------------------------------------------------------------------------------------------------

    def _tell(self, sums: list[dict[str, Tensor]], steps_a_second: float, library: Library, store: FrameStore) -> None:
        """The means of the last steps; a loss that is no number ends the run before anything is saved."""
        names = sorted({name for each in sums for name in each})
        line = {
            name: float(torch.stack([each[name].float() for each in sums if name in each]).mean()) for name in names
        }
        sums.clear()
        if not np.isfinite(line["loss"]):
            raise TrainingError(
                f"the loss is no number before step {self.step}",
                where=self.out,
                remedy="lower the rate; the state that was saved last is whole",
            )
        speed = steps_a_second * self.recipe.batch
        facts = {"clips_a_second": round(speed, 1), "store": store.filled * RUN, "halves": len(library.halves)}
        self._write({"step": self.step, **{name: round(value, 5) for name, value in line.items()}, **facts})
        shown = "  ".join(f"{name} {line[name]:.3f}" for name in names if name.endswith(("loss", "right")))
        self.told(
            f"step {self.step}  {shown}  {speed:.0f} clips/s  {library.clips} clips of {len(library.halves)} halves"
        )

    def _write(self, line: Mapping[str, Any]) -> None:
        with (self.out / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _held_out(self, root: Path) -> FrameStore | None:
        """Clips of matches that are not learnt from, the same ones always; nothing while none is there."""
        halves: list[CaptionedHalf] = captioned_halves(root)
        runs = [(half, run) for half in halves for run in half.runs]
        if not runs:
            return None
        store = FrameStore(
            min(self.recipe.validation_clips, RUN * len(runs)), self.recipe.width, self.recipe.height,
            self.recipe.words, self.device,
        )  # fmt: skip
        for index in np.random.default_rng(0).permutation(len(runs))[: store.runs]:
            half, run = runs[index]
            store.put(read_run(half, run, self._caption))
        return store

    @torch.no_grad()
    def _validate(self, held: FrameStore) -> dict[str, float]:
        batch, found = self.recipe.batch, {}
        parts: dict[str, list[tuple[Tensor, int]]] = {}
        counts: dict[str, Tensor] = {}
        with self.lessons.autocast():
            for begin in range(0, held.filled * RUN, batch):
                places = np.arange(begin, min(begin + batch, held.filled * RUN))
                taken = upload(places, self.device)
                pixels, boxes = held.frames[taken].to(self.lessons.compute), held.boxes[taken]
                lesson = self.lessons.of_clips(pixels, self._joined(held, places[:, None]), boxes)
                for name, value in lesson.told.items():
                    parts.setdefault(name, []).append((value, len(places)))
                for name, value in lesson.counts.items():
                    counts[name] = counts[name] + value if name in counts else value
            for ids, targets in self.lines_held_out.every(self.recipe.text_rows, self.device):
                for name, value in self.lessons.of_text(ids, targets).told.items():
                    parts.setdefault(name, []).append((value, len(ids)))
            some = min(8, held.filled * RUN)
            pixels = held.frames[:some].to(self.lessons.compute)
            said = self.lessons.describe(pixels, self.end, self.recipe.words)
        for name, values in parts.items():
            found[name] = sum(float(value) * count for value, count in values) / sum(count for _, count in values)
        found |= figures_of(counts)
        shown = []
        for at, said_ids in enumerate(said):
            true = [int(each) for each in held.words[at, : held.lengths[at] - 1]]
            shown.append({"said": self._decode(said_ids), "true": self._decode(true)})
        self._write({"step": self.step, "validation": {k: round(v, 5) for k, v in found.items()}, "shown": shown})
        self.told(f"step {self.step}  validation  " + "  ".join(f"{k} {v:.3f}" for k, v in found.items()))
        for each in shown[:4]:
            self.told(f"    true: {each['true']}\n    said: {each['said']}")
        return found

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self.backbone.tokenizer.encode(text, add_special_tokens=False))

    def _caption(self, text: str) -> tuple[int, ...]:
        ids = self._encode(text)
        self.said.update(ids)
        return (*ids, self.end)

    def _decode(self, ids: list[int]) -> str:
        return str(self.backbone.tokenizer.decode(ids))


def save_shards(backbone: Backbone, folder: Path) -> None:
    """Config, tokenizer and weights in bfloat16, in shards that travel; written beside its place and then put there."""
    import copy

    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    model = copy.deepcopy(backbone.model).to(torch.bfloat16)
    model.config.dtype = torch.bfloat16
    model.save_pretrained(part, max_shard_size=SHARD)
    backbone.tokenizer.save_pretrained(part)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)

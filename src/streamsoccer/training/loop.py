"""The loop that the three stages share: steps, accumulation, checkpoints, resume, metrics, one process or many.

A step is a function of the seed, its number and the weights: the batches, the dropout and the learning rate follow from
it, so that a run that was killed goes on with the loss that it would have had. Processes are accelerate's.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from streamsoccer.clock import Clock, WallClock
from streamsoccer.errors import TrainingError, UsageError
from streamsoccer.training.foundation import quick_turns
from streamsoccer.training.recipe import LoopConfig, Precision

if TYPE_CHECKING:
    from accelerate import Accelerator

__all__ = ["Batch", "Group", "Outcome", "Task", "Trainer", "last_checkpoint"]

# What may differ in a run that is resumed. A learning rate that decays to the end is another one where the end is.
_FREE = {"steps", "save_every", "validate_every", "keep", "prefetch", "tensorboard"}
_CHECK_EVERY = 10


class Batch(Protocol):
    """What a stage trains on in one go; `names` says what is in it, for the error that may name it."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def to(self, device: torch.device) -> Any: ...


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Group:
    """Parameters that share a learning rate, which `rate` gives for each step."""

    name: str
    parameters: Sequence[tuple[str, nn.Parameter]]
    rate: Callable[[int], float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How far a run came, and its last validation."""

    step: int
    done: bool
    validation: Mapping[str, float]


class Task(Protocol):
    """A stage: what the loop asks of it."""

    @property
    def name(self) -> str: ...
    @property
    def objective(self) -> nn.Module: ...  # batch -> {"loss": ..., parts}
    def groups(self) -> list[Group]: ...
    def batch(self, step: int, micro: int, rank: int, world: int) -> Batch: ...
    def validate(self, step: int) -> dict[str, float]: ...
    def describe(self) -> Mapping[str, Any]: ...
    def save(self, folder: Path, step: int) -> None: ...
    def load(self, folder: Path) -> None: ...


def last_checkpoint(out: Path) -> Path | None:
    """The newest whole checkpoint of a run."""
    link = out / "checkpoints" / "last"
    return link.resolve() if (link / "training_state" / "state.json").is_file() else None


def _tensorboard(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise UsageError(
            "TensorBoard is not installed", remedy="pip install tensorboard, or leave loop.tensorboard false"
        ) from error
    return SummaryWriter(str(out / "tensorboard"))


class Trainer:
    """Runs a task in a folder: OUT/metrics.jsonl, OUT/checkpoints/step-000500/{pretrained_model, training_state}."""

    def __init__(
        self, task: Task, loop: LoopConfig, out: Path, *, progress: bool = False, clock: Clock | None = None
    ) -> None:
        from accelerate import Accelerator
        from accelerate.utils import DistributedDataParallelKwargs

        cuda = torch.cuda.is_available()
        mixed = loop.precision is Precision.BF16 or (loop.precision is Precision.AUTO and cuda)
        self.accelerator: Accelerator = Accelerator(
            mixed_precision="bf16" if mixed else "no",
            cpu=not cuda,
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        self.task, self.loop, self.out, self.progress = task, loop, out, progress
        self.clock = clock or WallClock()
        self.groups = task.groups()
        self.optimizer = torch.optim.AdamW(
            [{"params": [each for _, each in group.parameters], "lr": 0.0} for group in self.groups],
            weight_decay=loop.weight_decay,
            fused=cuda,
        )
        self.step = 0
        self._board = _tensorboard(out) if loop.tensorboard and self.accelerator.is_main_process else None

    # --- the run ------------------------------------------------------------------------------------------------------

    def run(self, until: int | None = None, seconds: float | None = None) -> Outcome:
        """Train from the last checkpoint, or from the start, to the end, or to step `until`, or for so many seconds.

        Wherever it stops it validates and leaves a checkpoint; a later call goes on from there.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        self.task.objective.to(self.accelerator.device)
        if (checkpoint := last_checkpoint(self.out)) is not None:
            self._resume(checkpoint)
        module = self.accelerator.prepare_model(self.task.objective)
        end = min(self.loop.steps, until if until is not None else self.loop.steps)
        found: dict[str, float] = {}
        pending: list[tuple[int, tuple[str, ...], dict[str, Tensor], Tensor]] = []
        quick_turns()
        begun, first = self.clock.now(), self.step
        with self._batches(end) as batches, self._bar(end) as show:
            stop = self.step >= end
            while not stop:
                module.train()
                pending.append(self._step(module, batches))
                self.step += 1
                stop = self.step == end or self._late(begun, seconds)
                save, look = stop or self._due(self.loop.save_every), stop or self._due(self.loop.validate_every)
                if save or look or not torch.cuda.is_available() or self._due(_CHECK_EVERY):
                    line = self._settle(pending)
                    speed = (self.step - first) / max(1e-9, self.clock.now() - begun)
                    self._write({"step": self.step, **line, "steps_a_second": round(speed, 4)})
                    show(self.step, line, speed)
                if look:
                    found = self._validate(module)
                if save:
                    self._save()
        if self._board is not None:
            self._board.close()
        return Outcome(step=self.step, done=self.step >= self.loop.steps, validation=found or self._last_look())

    def _late(self, begun: float, seconds: float | None) -> bool:
        """Whether the time is up; all processes stop at the same step."""
        if seconds is None or not (self._due(_CHECK_EVERY) or self.accelerator.num_processes == 1):
            return False
        late = self.clock.now() - begun >= seconds
        if self.accelerator.num_processes == 1:
            return late
        votes = torch.tensor(float(late), device=self.accelerator.device)
        return bool(self.accelerator.reduce(votes, reduction="sum") > 0)

    def _last_look(self) -> dict[str, float]:
        """The newest validation in the log: what a run that was at its end had found."""
        path = self.out / "metrics.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
        return next((dict(row["validation"]) for row in reversed(rows) if "validation" in row), {})

    def _due(self, every: int) -> bool:
        return self.step % every == 0

    def _step(
        self, module: nn.Module, batches: Iterator[Batch]
    ) -> tuple[int, tuple[str, ...], dict[str, Tensor], Tensor]:
        for group, mine in zip(self.optimizer.param_groups, self.groups, strict=True):
            group["lr"] = mine.rate(self.step)
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        torch.manual_seed((self.loop.seed * 1_000_003 + self.step) * world + rank)
        names: tuple[str, ...] = ()
        total: dict[str, Tensor] = {}
        for micro in range(self.loop.accumulation):
            batch = next(batches)
            names += batch.names
            last = micro == self.loop.accumulation - 1
            with nullcontext() if last else self.accelerator.no_sync(module):
                with self.accelerator.autocast():
                    parts = module(batch.to(self.accelerator.device))
                self.accelerator.backward(parts["loss"] / self.loop.accumulation)
            for name, part in parts.items():
                total[name] = total.get(name, part.new_zeros(())) + part.detach() / self.loop.accumulation
        norm = nn.utils.clip_grad_norm_(
            [each for group in self.optimizer.param_groups for each in group["params"]], self.loop.clip_norm
        )
        if torch.cuda.is_available() or bool(torch.isfinite(norm)):  # on a GPU this is looked at a few steps later
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return self.step, names, total, norm

    def _settle(self, pending: list[tuple[int, tuple[str, ...], dict[str, Tensor], Tensor]]) -> dict[str, float]:
        """The newest step's numbers; a loss or gradient that is no number ends the run before anything is saved."""
        for step, names, parts, norm in pending:
            if not (bool(torch.isfinite(parts["loss"])) and bool(torch.isfinite(norm))):
                what = ", ".join(f"{name} {float(part):g}" for name, part in parts.items())
                raise TrainingError(
                    f"the loss is no number at step {step} ({what}, gradient {float(norm):g}) in the batch of"
                    f" {'; '.join(names)}",
                    where=self.out,
                    remedy="look at that batch's inputs, or lower the learning rate; the last checkpoint is whole",
                )
        _, _, parts, norm = pending[-1]
        pending.clear()
        rates = {f"rate_{mine.name}": mine.rate(self.step - 1) for mine in self.groups}
        return {**{name: round(float(part), 6) for name, part in parts.items()}, "gradient": float(norm), **rates}

    def _validate(self, module: nn.Module) -> dict[str, float]:
        found: dict[str, float] = {}
        if self.accelerator.is_main_process:
            module.eval()
            with torch.no_grad(), self.accelerator.autocast():
                found = {name: round(value, 6) for name, value in self.task.validate(self.step).items()}
            self._write({"step": self.step, "validation": found})
        self.accelerator.wait_for_everyone()
        return found

    @contextmanager
    def _batches(self, end: int) -> Iterator[Iterator[Batch]]:
        """The batches from this step on, a few of them read ahead by threads; an error in one comes out at its turn."""
        world, rank = self.accelerator.num_processes, self.accelerator.process_index

        def places() -> Iterator[tuple[int, int]]:
            for step in range(self.step, end):
                for micro in range(self.loop.accumulation):
                    yield step, micro

        with ThreadPoolExecutor(max(1, self.loop.prefetch)) as pool:
            coming = places()
            waiting: list[Future[Batch]] = []

            def ask() -> None:
                if (place := next(coming, None)) is not None:
                    waiting.append(pool.submit(self.task.batch, *place, rank, world))

            def served() -> Iterator[Batch]:
                for _ in range(max(1, self.loop.prefetch)):
                    ask()
                while waiting:
                    ready = waiting.pop(0).result()
                    ask()
                    yield ready

            try:
                yield served()
            finally:
                for each in waiting:
                    each.cancel()

    # --- what is written ----------------------------------------------------------------------------------------------

    def _write(self, line: Mapping[str, Any]) -> None:
        if self.accelerator.is_main_process:
            with (self.out / "metrics.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if self._board is not None:
                named = {f"validation/{name}": value for name, value in line.get("validation", {}).items()}
                for name, value in {**line, **named}.items():
                    if isinstance(value, float):
                        self._board.add_scalar(name, value, line["step"])

    def _save(self) -> None:
        """A checkpoint, written beside its place and shown whole; `last` points to it, older ones go."""
        if self.accelerator.is_main_process:
            from safetensors.torch import save_file

            folder = self.out / "checkpoints"
            final, part = folder / f"step-{self.step:06d}", folder / f".step-{self.step:06d}.part"
            shutil.rmtree(part, ignore_errors=True)
            (part / "training_state").mkdir(parents=True)
            self.task.save(part / "pretrained_model", self.step)
            save_file(self._optimizer_state(), str(part / "training_state" / "optimizer.safetensors"))
            state = {"step": self.step, "loop": self._loop(), "task": dict(self.task.describe())}
            (part / "training_state" / "state.json").write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(final, ignore_errors=True)
            part.rename(final)
            link = folder / ".last"
            link.unlink(missing_ok=True)
            link.symlink_to(final.name)
            link.replace(folder / "last")
            whole = sorted(path for path in folder.glob("step-*") if path.is_dir())
            for old in whole[: -self.loop.keep]:
                shutil.rmtree(old)
        self.accelerator.wait_for_everyone()

    def _loop(self) -> dict[str, Any]:
        from streamsoccer.config import to_mapping

        mapping: dict[str, Any] = to_mapping(self.loop)
        return {**mapping, "world": self.accelerator.num_processes}

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        return [(f"{group.name}.{name}", each) for group in self.groups for name, each in group.parameters]

    def _optimizer_state(self) -> dict[str, Tensor]:
        return {
            f"{name}|{key}": (value if isinstance(value, Tensor) else torch.tensor(float(value))).cpu().contiguous()
            for name, each in self._named()
            for key, value in self.optimizer.state.get(each, {}).items()
        }

    def _resume(self, checkpoint: Path) -> None:
        from safetensors.torch import load_file

        state = json.loads((checkpoint / "training_state" / "state.json").read_text(encoding="utf-8"))
        theirs = {**state["loop"], **{f"task.{name}": value for name, value in state["task"].items()}}
        mine = {**self._loop(), **{f"task.{name}": value for name, value in self.task.describe().items()}}
        mine = json.loads(json.dumps(mine))
        for name in sorted({*theirs, *mine} - _FREE):
            if theirs.get(name) != mine.get(name):
                raise UsageError(
                    f"the run that stands here has {name} = {theirs.get(name)!r}, this one {mine.get(name)!r}",
                    where=checkpoint,
                    remedy="go on with the recipe it was begun with, or choose another output folder",
                )
        self.task.load(checkpoint / "pretrained_model")
        self.step = int(state["step"])
        held = load_file(str(checkpoint / "training_state" / "optimizer.safetensors"))
        for name, each in self._named():
            found = {key: held[f"{name}|{key}"] for key in ("step", "exp_avg", "exp_avg_sq") if f"{name}|{key}" in held}
            if found:
                on_cpu = not torch.cuda.is_available()
                self.optimizer.state[each] = {
                    key: value.to(torch.float32 if key == "step" else each.dtype).to(
                        "cpu" if key == "step" and on_cpu else self.accelerator.device
                    )
                    for key, value in found.items()
                }
        if self.accelerator.is_main_process:
            self._forget_later_lines()

    def _forget_later_lines(self) -> None:
        """What a killed run had logged after its last checkpoint is logged anew."""
        path = self.out / "metrics.jsonl"
        if not path.is_file():
            return
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                step = json.loads(line)["step"]
            except (ValueError, KeyError):
                continue  # the line that the kill cut short
            if step <= self.step:
                kept.append(line)
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    @contextmanager
    def _bar(self, end: int) -> Iterator[Callable[[int, Mapping[str, float], float], None]]:
        if not (self.progress and self.accelerator.is_main_process):
            yield lambda step, line, speed: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            row = bar.add_task(self.task.name, total=end, completed=self.step)

            def show(step: int, line: Mapping[str, float], speed: float) -> None:
                text = f"{self.task.name}  loss {line['loss']:.4f}  {speed:.2f} steps/s"
                bar.update(row, completed=step, description=text)

            yield show

"""Processes that share a step, and processes that are killed in the middle of a run."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.tiny_training import Ground, loop, recipe
from tests.two_processes import RUNS, one_step_each

from streamsoccer.cli import main
from streamsoccer.config import to_mapping
from streamsoccer.training.recipe import Curriculum, Path3, Recipe

REPOSITORY = Path(__file__).resolve().parents[1]


def sized(ground: Ground, processes: int) -> Recipe:
    """Twelve samples a step in two parts, shared out; contexts of the own run among them, and nothing drawn by rank."""
    base = recipe(ground)
    language = replace(base.model.language, dropout=0.0)
    made = replace(base, model=replace(base.model, language=language))
    for name, batch in (("stage1", 2), ("stage2", 4), ("stage3", 6)):
        stage = getattr(made, name)
        loop = replace(stage.loop, batch=batch // processes, accumulation=2, clip_norm=1e6)
        made = replace(made, **{name: replace(stage, loop=loop)})
    curriculum = Curriculum(begin=0, every=1, first=0.5, last=0.5, levels=2)
    return replace(
        made,
        stage2=replace(made.stage2, align_steps=0, validation_samples=2, validation_texts=0),
        stage3=replace(made.stage3, curriculum=curriculum, validation_samples=3, validation_texts=0),
    )


@pytest.fixture(scope="module")
def runs(trained: Ground, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    out = tmp_path_factory.mktemp("processes")
    (out / "recipe.json").write_text(json.dumps(to_mapping(sized(trained, 2))))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "tests.two_processes", str(trained.root), str(out / "recipe.json")]
    both = [
        subprocess.Popen(
            [*command, str(out / "two")],
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        one_step_each(trained.root, sized(trained, 1), out / "one")
        for each in both:
            told, _ = each.communicate(timeout=240)
            assert each.returncode == 0, told[-3000:]
    finally:
        for each in both:
            each.kill()
    return out / "one", out / "two"


@pytest.mark.parametrize("run", RUNS)
def test_two_processes_have_the_gradients_of_one_with_twice_the_batch(runs: tuple[Path, Path], run: str) -> None:
    state = "checkpoints/last/training_state"
    one, two = (load_file(folder / run / state / "optimizer.safetensors") for folder in runs)
    worlds = [json.loads((folder / run / state / "state.json").read_text())["loop"]["world"] for folder in runs]
    assert worlds == [1, 2] and set(one) == set(two)
    # after one step of Adam its first moment is a tenth of the gradient
    gradients = {name: (one[name], two[name]) for name in one if name.endswith("|exp_avg")}
    largest = max(float(mine.abs().max()) for mine, _ in gradients.values())
    moved = 0
    for name, (mine, theirs) in gradients.items():
        assert torch.allclose(mine, theirs, rtol=1e-3, atol=1e-5 * largest), name
        moved += bool(mine.abs().max() > 0)
    assert moved > len(gradients) / 2 and largest > 0


RUN = "import sys; from streamsoccer.cli import main; sys.exit(main(sys.argv[1:]))"


def told(path: Path) -> dict[int, float]:
    """The losses in a log, as far as its lines are whole."""
    lines = path.read_text().splitlines() if path.is_file() else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


@pytest.mark.parametrize("stage", ["memory", "commentary"])
def test_a_process_that_is_killed_goes_on_with_the_losses_that_it_would_have_had(
    trained: Ground, tmp_path: Path, stage: str
) -> None:
    """By the command line, killed between two checkpoints; stage 3 on the joint path."""
    mine, root = recipe(trained), trained.root
    mine = replace(
        mine,
        stage1=replace(mine.stage1, loop=loop(24, save_every=4)),
        stage3=replace(mine.stage3, path=Path3.JOINT, loop=loop(24, batch=3, save_every=4), validation_texts=0),
    )
    (tmp_path / "recipe.yaml").write_text(json.dumps(to_mapping(mine)))
    given = ["--data", str(trained.data), "--tokens", str(trained.tokens), "--recipe", str(tmp_path / "recipe.yaml")]
    given += ["--stage2", str(root / "run2"), "--own", str(root / "own")] if stage == "commentary" else []

    def command(out: str) -> list[str]:
        return ["train", stage, *given, "--out", str(tmp_path / out)]

    log = tmp_path / "killed" / "metrics.jsonl"
    process = subprocess.Popen([sys.executable, "-c", RUN, *command("killed")], cwd=REPOSITORY, stdout=subprocess.PIPE)
    try:
        while process.poll() is None and len(told(log)) < 6:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL and 6 <= len(told(log)) < 24
    for out in ("killed", "whole"):
        with pytest.raises(SystemExit, match="0"):
            main(command(out))
    assert told(log) == told(tmp_path / "whole" / "metrics.jsonl") and len(told(log)) == 24

"""Stage 2: the captions of completed memories, fitted, resumed, and refused where stage 1 is another."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny_training import WIDTH, Ground, lay, loop, recipe

from streamsoccer.checkpoint import read_checkpoint, read_provenance
from streamsoccer.domain import Split
from streamsoccer.errors import CheckpointError, DataError
from streamsoccer.testing.backbone import tiny_backbone
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory import cache_memory, train_memory
from streamsoccer.training.memory_cache import LABELS
from streamsoccer.training.recipe import Recipe, Representation
from streamsoccer.training.records import RecordTask, record_batch, train_records


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A corpus with a stage 1 run of a few steps and its memory cache."""
    made = lay(tmp_path_factory.mktemp("ground"))
    train_memory(recipe(made), made.data, made.tokens, made.root / "run1")
    cache_memory(recipe(made), made.data, made.tokens, made.root / "run1", made.root / "memory")
    return made


def task(ground: Ground, out: Path, mine: Recipe | None = None) -> RecordTask:
    return RecordTask(mine or recipe(ground), Corpus(ground.data), ground.root / "memory", ground.root / "run1", out)


def train(ground: Ground, out: Path, mine: Recipe, until: int | None = None) -> dict[int, float]:
    train_records(mine, ground.data, ground.root / "memory", ground.root / "run1", out, until=until)
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


def test_one_batch_is_fitted_and_then_said(ground: Ground, tmp_path: Path) -> None:
    mine = task(ground, tmp_path)
    rows = [row for row in mine.rows if row.text.startswith(("Goal", "The corner", "The flag"))]
    rows = list({row.text: row for row in rows}.values())
    assert len(rows) == 3
    stage = replace(mine.stage, context_dropout=0.0)
    batch = record_batch(rows, mine.corpus, mine.cache, mine.speaker.prompter, stage)
    optimizer = torch.optim.AdamW([each for each in mine.objective.parameters() if each.requires_grad], lr=1e-2)
    for _ in range(120):
        loss = mine.objective(batch)["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.03
    mine.objective.eval()
    with torch.no_grad():
        assert mine.captions(rows) == [row.text for row in rows]


def test_only_the_captions_tokens_are_learned_of(ground: Ground, tmp_path: Path) -> None:
    mine = task(ground, tmp_path)
    batch = mine.batch(0, 0, 0, 1)
    ended = mine.speaker.prompter.end_of_turn
    for name, target in zip(batch.names, batch.targets, strict=True):
        assert mine.speaker.prompter.text(target) == mine.corpus.records[name].text
        assert target[-1] == ended and ended not in target[:-1]
    longer = replace(batch, prompts=tuple(replace(each, after=(*each.after, 5)) for each in batch.prompts))
    mine.objective.eval()
    with torch.no_grad():
        prefix = mine.model.projector(batch.memories, batch.mask)
        both = [mine.speaker.language.loss(prefix, each.prompts, each.targets).mean() for each in (batch, longer)]
        assert both[0] == pytest.approx(float(mine.objective(batch)["loss"]))
    assert not torch.equal(*both)  # the prompt is read, and no token of it is a target: see test_language


def test_a_killed_run_goes_on_with_the_loss_that_it_would_have_had(ground: Ground, tmp_path: Path) -> None:
    mine = recipe(ground)
    mine = replace(mine, stage2=replace(mine.stage2, loop=loop(5), align_steps=2, lora_warmup_steps=2))
    whole = train(ground, tmp_path / "whole", mine)
    train(ground, tmp_path / "two", mine, until=3)
    assert train(ground, tmp_path / "two", mine) == whole
    text = (tmp_path / "two" / "samples" / "step-000005.jsonl").read_text()
    samples = [json.loads(line) for line in text.splitlines()]
    assert len(samples) == 2 and {"id", "generated", "reference"} == set(samples[0])


def test_the_projector_aligns_first_then_lora_warms_up(ground: Ground, tmp_path: Path) -> None:
    mine = recipe(ground)
    stage = replace(mine.stage2, loop=loop(9), align_steps=3, lora_warmup_steps=4, projector_rate=1e-4, lora_rate=1e-5)
    projector, lora = task(ground, tmp_path, replace(mine, stage2=stage)).groups()
    assert [projector.rate(step) for step in range(3)] == [1e-4] * 3
    assert [lora.rate(step) for step in range(9)] == pytest.approx([0, 0, 0, 2.5e-6, 5e-6, 7.5e-6, 1e-5, 1e-5, 1e-5])
    before = task(ground, tmp_path, replace(mine, stage2=stage)).speaker.language.lora_state()
    train(ground, tmp_path / "run", replace(mine, stage2=stage), until=3)
    after = task(ground, tmp_path, replace(mine, stage2=stage))
    after.load(tmp_path / "run" / "checkpoints" / "last" / "pretrained_model")
    for name, weight in after.speaker.language.lora_state().items():
        assert torch.equal(weight, before[name]), name


def test_the_checkpoint_keeps_stage_1_and_says_where_all_of_it_comes_from(ground: Ground, tmp_path: Path) -> None:
    train(ground, tmp_path / "run", recipe(ground), until=2)
    first, second = read_checkpoint(ground.root / "run1"), read_checkpoint(tmp_path / "run")
    assert (second.parts, second.lora) == (("encoder", "projector"), True)
    assert second.hashes["encoder"] == first.hashes["encoder"]
    line = read_provenance(second.folder)
    assert [(each["stage"], each["step"]) for each in line] == [("memory", 4), ("records", 2)]
    assert line[1]["data"] == Corpus(ground.data).fingerprint


@pytest.mark.parametrize("representation", list(Representation))
def test_each_representation_is_read_through_the_same_projector(
    ground: Ground, tmp_path: Path, representation: Representation
) -> None:
    base = recipe(ground)
    mine = replace(base, stage2=replace(base.stage2, representation=representation, lora=False))
    made = task(ground, tmp_path, mine)
    batch = made.batch(0, 0, 0, 1)
    row = made.corpus.records[batch.names[0]]
    event = made.corpus.events[row.event]
    held = made.cache.memory(
        row.match, row.half, event.first, event.first + event.clips - 1, run=LABELS, representation=representation
    )
    assert torch.equal(batch.memories[0, 0], held)
    assert {name for name, each in made.objective.named_parameters() if each.requires_grad} == {
        f"projector.{name}" for name, _ in made.model.projector.named_parameters()
    }
    other = task(ground, tmp_path)
    for name, each in made.model.projector.state_dict().items():
        assert torch.equal(each, other.model.projector.state_dict()[name])  # equal beginnings
    assert made.batch(3, 0, 0, 1).names == other.batch(3, 0, 0, 1).names  # equal order of the data


def test_what_does_not_go_together_is_refused_by_name(ground: Ground, tmp_path: Path) -> None:
    mine = recipe(ground)
    train_memory(
        replace(mine, stage1=replace(mine.stage1, loop=loop(1, seed=9))), ground.data, ground.tokens, tmp_path / "run1"
    )
    memory = ground.root / "memory"
    with pytest.raises(DataError, match="other stage 1 weights"):
        train_records(mine, ground.data, memory, tmp_path / "run1", tmp_path / "run")
    tiny_backbone(tmp_path / "backbone", ["other words"], vocabulary=700, width=WIDTH, seed=4)
    other = replace(mine, backbone=replace(mine.backbone, path=str(tmp_path / "backbone")))
    with pytest.raises(CheckpointError, match="another backbone"):
        train_records(other, ground.data, memory, ground.root / "run1", tmp_path / "run")
    shutil.copytree(memory, tmp_path / "memory")
    row = task(ground, tmp_path).rows[0]
    (tmp_path / "memory" / row.match / f"{row.half}.safetensors").unlink()
    with pytest.raises(DataError, match=f"holds nothing of {row.match}, half {row.half}"):
        train_records(mine, ground.data, tmp_path / "memory", ground.root / "run1", tmp_path / "run")
    (tmp_path / "memory" / row.match / f"{row.half}.safetensors").write_bytes(b"broken")
    with pytest.raises(DataError, match=f"the memories of {row.match}, half {row.half}, cannot be read"):
        train_records(mine, ground.data, tmp_path / "memory", ground.root / "run1", tmp_path / "run")


def test_the_benchmark_of_representations_has_its_own_split(ground: Ground, tmp_path: Path) -> None:
    corpus = Corpus(ground.data)
    legacy = {row.legacy_split for row in corpus.records.values()}
    mine = recipe(ground)
    if {Split.TRAIN, Split.TEST} <= legacy:
        made = task(ground, tmp_path, replace(mine, stage2=replace(mine.stage2, legacy_split=True)))
        assert {row.legacy_split for row in made.rows} == {Split.TRAIN}
        assert {row.legacy_split for row in made.watched} == {Split.TEST}
    chosen = np.array([row.split is Split.TRAIN for row in task(ground, tmp_path).rows])
    assert chosen.all()

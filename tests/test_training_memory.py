"""Stage 1: it fits what it is shown, goes on where it was killed, and names what is wrong with what it is given."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny_training import Ground, lay, loop, recipe, write_tokens

from streamsoccer.adapter import ClipEventAdapter
from streamsoccer.checkpoint import tensors_hash
from streamsoccer.domain import Split
from streamsoccer.errors import CheckpointError, DataError, TrainingError, UsageError
from streamsoccer.heads import ACTIONS
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.digest import save_adapter
from streamsoccer.training.loop import Trainer, last_checkpoint
from streamsoccer.training.measures import average_precision, class_f1, f1, transition_counts
from streamsoccer.training.memory import MemoryTask, cache_memory, look, train_memory
from streamsoccer.training.memory_cache import OWN, MemoryCache
from streamsoccer.training.recipe import Recipe, Representation
from streamsoccer.training.visual import VisualTokens
from streamsoccer.training.windows import Shuffled, Windows, gather, shares


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return lay(tmp_path_factory.mktemp("ground"))


def rows(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def losses(out: Path) -> dict[int, float]:
    return {int(row["step"]): row["loss"] for row in rows(out) if "loss" in row}


def stage1(ground: Ground, steps: int, **values: object) -> Recipe:
    base = recipe(ground)
    return replace(base, stage1=replace(base.stage1, loop=loop(steps, **values)))


# --- what it learns --------------------------------------------------------------------------------------------------


def test_one_batch_is_fitted_to_almost_nothing(ground: Ground) -> None:
    torch.manual_seed(0)
    task = MemoryTask(recipe(ground), Corpus(ground.data), TokenCache(ground.tokens))
    batch = task.batch(0, 0, 0, 1)
    optimizer = torch.optim.AdamW(task.objective.parameters(), lr=3e-3)
    first = last = 0.0
    for step in range(120):
        loss = task.objective(batch)["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first, last = (float(loss.detach()) if step == 0 else first), float(loss.detach())
    assert last < 0.01 * first


def test_a_short_run_learns_to_see_transitions_types_and_actions(ground: Ground, tmp_path: Path) -> None:
    quick = stage1(ground, 80, batch=4)
    quick = replace(quick, stage1=replace(quick.stage1, rate=4e-3))
    found = train_memory(quick, ground.data, ground.tokens, tmp_path / "run").validation
    assert found["transition_f1_exact"] > 0.5
    assert found["transition_f1_within_one"] >= found["transition_f1_exact"]
    assert found["event_type_macro_f1"] > 0.4
    assert found["clip_action_map"] > 0.5
    assert found["clip_action_map"] == pytest.approx(
        np.mean([value for name, value in found.items() if name.startswith("ap/")]), abs=1e-4
    )


# --- how it goes on --------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_with_the_loss_that_it_would_have_had(ground: Ground, tmp_path: Path) -> None:
    base = stage1(ground, 6)
    train_memory(base, ground.data, ground.tokens, tmp_path / "whole")
    stopped = train_memory(base, ground.data, ground.tokens, tmp_path / "two", until=3)
    assert (stopped.step, stopped.done) == (3, False)
    with (tmp_path / "two" / "metrics.jsonl").open("a") as file:  # what a kill after the checkpoint leaves
        file.write('{"step": 4, "loss": 99}\n{"step": 5, "lo')
    ended = train_memory(base, ground.data, ground.tokens, tmp_path / "two")
    assert (ended.step, ended.done) == (6, True)
    assert losses(tmp_path / "two") == losses(tmp_path / "whole")
    again = train_memory(base, ground.data, ground.tokens, tmp_path / "two")
    assert again == ended  # nothing to do


def test_an_adapter_that_has_learnt_before_is_where_it_begins(ground: Ground, tmp_path: Path) -> None:
    mine, path = stage1(ground, 3), tmp_path / "adapter.safetensors"
    torch.manual_seed(5)
    widths = MemoryTask(mine, Corpus(ground.data), TokenCache(ground.tokens)).model.widths
    learnt = ClipEventAdapter(mine.model.adapter, widths.visual)
    save_adapter(learnt, path)
    begun = replace(mine, stage1=replace(mine.stage1, adapter=str(path)))
    task = MemoryTask(begun, Corpus(ground.data), TokenCache(ground.tokens))
    for name, each in task.model.encoder.adapter.state_dict().items():
        assert torch.equal(each, learnt.state_dict()[name])
    train_memory(begun, ground.data, ground.tokens, tmp_path / "run")
    saved = (tmp_path / "run/checkpoints/last/pretrained_model/provenance.json").read_text()
    assert str(tmp_path) not in saved
    assert tensors_hash(learnt.state_dict()) in saved


def test_time_that_is_up_leaves_a_checkpoint(ground: Ground, tmp_path: Path) -> None:
    found = train_memory(stage1(ground, 50), ground.data, ground.tokens, tmp_path / "run", seconds=0)
    assert (found.step, found.done) == (1, False)
    assert last_checkpoint(tmp_path / "run") is not None


def test_another_recipe_does_not_go_on_with_a_run(ground: Ground, tmp_path: Path) -> None:
    train_memory(stage1(ground, 4), ground.data, ground.tokens, tmp_path / "run", until=1)
    with pytest.raises(UsageError, match=r"has batch = 2, this one 4"):
        train_memory(stage1(ground, 4, batch=4), ground.data, ground.tokens, tmp_path / "run")
    other = recipe(ground)
    other = replace(other, stage1=replace(other.stage1, clip_weight=0.7))
    with pytest.raises(UsageError, match=r"task\.stage"):
        train_memory(other, ground.data, ground.tokens, tmp_path / "run")


# --- batches ---------------------------------------------------------------------------------------------------------


def test_every_clip_is_read_once_an_epoch_in_windows_that_begin_with_an_event(ground: Ground) -> None:
    halves = Corpus(ground.data).of(Split.TRAIN)
    windows = Windows(halves, 48, seed=3)
    seen = {half.name: np.zeros(half.clips, dtype=int) for half in halves}
    place = 0
    while any((count == 0).any() for count in seen.values()):
        window = windows.at(place)
        assert window.half.reset[window.first]
        assert window.last - window.first <= 48 + 6
        seen[window.half.name][window.first : window.last] += 1
        place += 1
    assert all((count == 1).all() for count in seen.values())
    later = [windows.at(each).name for each in range(place + 40)]
    assert [Windows(halves, 48, seed=3).at(each).name for each in reversed(range(place + 40))] == later[::-1]


def test_processes_share_out_what_one_would_read() -> None:
    one = [
        place
        for step in range(3)
        for micro in range(2)
        for place in shares(step, micro, accumulation=2, batch=4, rank=0, world=1)
    ]
    two = [
        place
        for step in range(3)
        for micro in range(2)
        for rank in range(2)
        for place in shares(step, micro, accumulation=2, batch=2, rank=rank, world=2)
    ]
    assert one == two == list(range(24))
    order = Shuffled(5, seed=1)
    assert sorted(order.at(place) for place in range(5)) == sorted(order.at(place) for place in range(5, 10))
    assert [order.at(7), order.at(2)] == [Shuffled(5, seed=1).at(7), Shuffled(5, seed=1).at(2)]


def test_masked_clips_and_cut_events_give_no_target(ground: Ground) -> None:
    corpus = Corpus(ground.data)
    task = MemoryTask(recipe(ground), corpus, TokenCache(ground.tokens))
    windows = [task.windows.at(place) for place in range(6)]
    batch = gather(windows, task.visual)
    for row, window in enumerate(windows):
        half, count = window.half, window.last - window.first
        assert not batch.learn[row, 0] and not batch.learn[row, count:].any()
        for clip in range(1, count):
            assert bool(batch.learn[row, clip]) == bool(half.learn[window.first + clip])
        mine = (batch.event_row == row).nonzero()[:, 0]
        whole = half.window(window.first, window.last)
        assert [int(batch.event_clip[each]) for each in mine] == [
            each.first + each.clips - 1 - window.first for each in whole
        ]
        assert {ACTIONS[int(each)] for each in batch.actions[row].any(0).nonzero()[:, 0]} == {
            ACTIONS[at] for at in np.flatnonzero(half.actions[window.first : window.last].any(0))
        }


# --- what is wrong with what it is given -----------------------------------------------------------------------------


def test_a_loss_that_is_no_number_stops_with_step_and_batch_named(ground: Ground, tmp_path: Path) -> None:
    task = MemoryTask(stage1(ground, 5), Corpus(ground.data), TokenCache(ground.tokens))
    whole = task.batch

    def broken(step: int, micro: int, rank: int, world: int) -> object:
        batch = whole(step, micro, rank, world)
        if step == 2:
            batch.visual[0, 0, 0, 0] = float("nan")
        return batch

    task.batch = broken  # type: ignore[method-assign,assignment]
    with pytest.raises(TrainingError, match=r"no number at step 2 .*Northtown 1 - 1 Southport#\d clips \d+ to \d+"):
        Trainer(task, task.stage.loop, tmp_path / "run").run()
    assert last_checkpoint(tmp_path / "run") is None


def test_a_half_that_is_not_in_the_cache_is_named_before_anything_is_trained(ground: Ground, tmp_path: Path) -> None:
    half = Corpus(ground.data).of(Split.TRAIN)[1]
    write_tokens(tmp_path / "tokens", ground.data, "abc", leave_out=[(half.match, half.half)])
    with pytest.raises(DataError, match=rf"{half.match}, half {half.half} is not in the cache"):
        train_memory(recipe(ground), ground.data, tmp_path / "tokens", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_damaged_shard_is_named_and_no_other_window_takes_its_place(ground: Ground, tmp_path: Path) -> None:
    shutil.copytree(ground.tokens, tmp_path / "tokens")
    for path in (tmp_path / "tokens").rglob("shard-00001.safetensors"):
        data = bytearray(path.read_bytes())
        data[-100] ^= 0xFF
        path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"clip \d+ is not what was written"):
        train_memory(stage1(ground, 40), ground.data, tmp_path / "tokens", tmp_path / "run")


def test_a_manifest_that_the_build_did_not_write_is_named(ground: Ground, tmp_path: Path) -> None:
    shutil.copytree(ground.data, tmp_path / "data")
    path = tmp_path / "data" / "events.jsonl"
    text = path.read_text()
    path.unlink()
    path.write_text(text.replace('"clips":3', '"clips":4', 1))
    with pytest.raises(DataError, match=r"events\.jsonl: is not the manifest that the build wrote"):
        train_memory(recipe(ground), tmp_path / "data", ground.tokens, tmp_path / "run")


# --- the memory cache ------------------------------------------------------------------------------------------------


def test_the_cache_holds_what_the_encoder_says_clip_by_clip(ground: Ground, tmp_path: Path) -> None:
    mine = stage1(ground, 20)
    train_memory(mine, ground.data, ground.tokens, tmp_path / "run")
    made = cache_memory(mine, ground.data, ground.tokens, tmp_path / "run", tmp_path / "memory")
    corpus = Corpus(ground.data)
    assert made == len(corpus.halves)
    assert cache_memory(mine, ground.data, ground.tokens, tmp_path / "run", tmp_path / "memory") == 0
    cache = MemoryCache(tmp_path / "memory", clips=corpus.fingerprint["clips"])
    task = MemoryTask(mine, corpus, TokenCache(ground.tokens))
    task.load(tmp_path / "run" / "checkpoints" / "last" / "pretrained_model")
    encoder = task.model.encoder.eval()
    half = corpus.of(Split.TRAIN)[0]
    state = encoder.start()
    own = cache.signal(half.match, half.half, "reset.own")
    with torch.inference_mode():
        for clip in range(40):
            tokens, actions = encoder.read(*TokenCache(ground.tokens).tokens(half.match, half.half, clip, 1))
            state, step = encoder.step(tokens, actions, state)
            assert bool(step.reset) == bool(own[clip])
            held = cache.memory(half.match, half.half, clip, clip, run=OWN)
            assert torch.allclose(held, state.memory[0], atol=0.03)  # bfloat16 on the disk
    event = next(each for each in half.events if each.clips >= 3)
    last = event.first + event.clips - 1
    tokens, _ = encoder.read(*TokenCache(ground.tokens).tokens(half.match, half.half, event.first, event.clips))
    pooled = cache.memory(half.match, half.half, event.first, last, representation=Representation.EVENT_POOL)
    assert torch.allclose(pooled, tokens.mean(0), atol=0.02)
    trailing = cache.memory(half.match, half.half, event.first, last, representation=Representation.FIXED_POOL)
    fixed = cache.signal(half.match, half.half, "event_tokens")[max(0, last - 5) : last + 1].float().mean(0)
    assert torch.equal(trailing, fixed)


def test_a_cache_of_other_weights_another_threshold_or_a_missing_half_is_refused(
    ground: Ground, tmp_path: Path
) -> None:
    mine = stage1(ground, 2)
    train_memory(mine, ground.data, ground.tokens, tmp_path / "run", until=1)
    cache_memory(mine, ground.data, ground.tokens, tmp_path / "run", tmp_path / "memory", splits=[Split.TRAIN])
    with pytest.raises(DataError, match="other stage 1 weights"):
        MemoryCache(tmp_path / "memory", encoder="0" * 64)
    with pytest.raises(DataError, match="other clips"):
        MemoryCache(tmp_path / "memory", clips="0" * 64)
    other = replace(mine, model=replace(mine.model, transition=replace(mine.model.transition, threshold=0.4)))
    with pytest.raises(UsageError, match=r"memories of another threshold \(0\.5, now 0\.4\)"):
        cache_memory(other, ground.data, ground.tokens, tmp_path / "run", tmp_path / "memory")
    validation = Corpus(ground.data).of(Split.VALIDATION)[0]
    with pytest.raises(DataError, match=f"holds nothing of {validation.match}, half 1"):
        MemoryCache(tmp_path / "memory").require([(validation.match, validation.half)])


def test_weights_of_another_shape_or_a_run_without_them_are_refused_by_name(ground: Ground, tmp_path: Path) -> None:
    mine = stage1(ground, 2)
    train_memory(mine, ground.data, ground.tokens, tmp_path / "run", until=1)
    wide = replace(mine, model=replace(mine.model, adapter=replace(mine.model.adapter, width=64)))
    with pytest.raises(CheckpointError, match=r"another shape: encoder\.adapter"):
        cache_memory(wide, ground.data, ground.tokens, tmp_path / "run", tmp_path / "memory")
    with pytest.raises(CheckpointError, match=r"holds no config\.json"):
        cache_memory(mine, ground.data, ground.tokens, tmp_path / "nothing", tmp_path / "memory")


# --- measures --------------------------------------------------------------------------------------------------------


def test_measures_by_hand() -> None:
    true = np.array([0, 1, 0, 0, 1, 0, 0, 1], dtype=bool)
    found = np.array([1, 0, 1, 0, 1, 0, 1, 0], dtype=bool)
    learn = np.array([0, 1, 1, 1, 1, 1, 1, 1], dtype=bool)
    assert transition_counts(found, true, learn) == (1, 2, 2)
    assert transition_counts(found, true, learn, 1) == (3, 0, 0)
    assert f1((1, 2, 2)) == pytest.approx(1 / 3)
    assert class_f1(np.array([0, 0, 2, 1]), np.array([0, 1, 1, 1]), 4) == {0: pytest.approx(2 / 3), 1: 0.5}
    scores, wanted = np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, False, True, False])
    assert average_precision(scores, wanted) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.zeros(4), wanted) == pytest.approx(0.5)
    assert average_precision(scores, np.zeros(4, dtype=bool)) is None


def test_a_look_is_of_the_own_run(ground: Ground) -> None:
    corpus = Corpus(ground.data)
    task = MemoryTask(recipe(ground), corpus, TokenCache(ground.tokens))
    halves = corpus.of(Split.VALIDATION)[:1]
    visual = VisualTokens(TokenCache(ground.tokens), halves)
    task.model.eval()
    with torch.no_grad():
        found = look(task.model.encoder, visual, halves)
    assert set(found) >= {"transition_f1_exact", "event_type_macro_f1", "clip_action_map"}

"""Stage 3 on both paths: it fits what it is shown, goes on where it was killed, and names what does not go together."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.results import record
from tests.tiny_training import WIDTH, Ground, loop, recipe
from torch import Tensor

from streamsoccer.checkpoint import from_pretrained, read_checkpoint, read_provenance
from streamsoccer.clock import MatchTime
from streamsoccer.commentary import MemoryGate, Scope
from streamsoccer.config import to_mapping
from streamsoccer.domain import Split, Track
from streamsoccer.errors import CheckpointError, DataError, TrainingError, UsageError
from streamsoccer.heads import TRACKS
from streamsoccer.mind import Mind
from streamsoccer.runtime import RuntimeConfig, read_runtime
from streamsoccer.sources.tokens import TokenCache
from streamsoccer.testing.backbone import tiny_backbone
from streamsoccer.training.bank import Named
from streamsoccer.training.commentary import CommentaryBatch, CommentaryObjective, Reading
from streamsoccer.training.commentary_task import CommentaryTask, Turns, train_commentary
from streamsoccer.training.contexts import Scene
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.loop import Trainer, last_checkpoint
from streamsoccer.training.losses import ranking
from streamsoccer.training.memory import MemoryObjective, cache_memory, look, train_memory
from streamsoccer.training.memory_cache import OWN, MemoryCache
from streamsoccer.training.narrator import open_narrator
from streamsoccer.training.recipe import Curriculum, Path3, Recipe, Representation
from streamsoccer.training.records import train_records
from streamsoccer.training.visual import VisualTokens

PATHS = (Path3.CACHE, Path3.JOINT)


@pytest.fixture(scope="module")
def corpus(trained: Ground) -> Corpus:
    return Corpus(trained.data)


def of(ground: Ground, path: Path3 = Path3.CACHE, **values: Any) -> Recipe:
    """The small recipe with some of stage 3's values changed."""
    base = recipe(ground)
    return replace(base, stage3=replace(base.stage3, path=path, **values))


def what(ground: Ground, mine: Recipe) -> dict[str, Any]:
    """What that path reads."""
    return {"memory": ground.root / "memory"} if mine.stage3.path is Path3.CACHE else {"tokens": ground.tokens}


def task(ground: Ground, corpus: Corpus, mine: Recipe, out: Path) -> CommentaryTask:
    given = what(ground, mine)
    if "tokens" in given:
        given["tokens"] = TokenCache(ground.tokens)
    return CommentaryTask(mine, corpus, ground.root / "run2", out, own=ground.root / "own", **given)


def train(ground: Ground, mine: Recipe, out: Path, until: int | None = None) -> list[dict[str, Any]]:
    own = ground.root / "own"
    train_commentary(mine, ground.data, ground.root / "run2", out, own=own, until=until, **what(ground, mine))
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def losses(rows: list[dict[str, Any]]) -> dict[int, float]:
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


def scenes(made: CommentaryTask, each: int = 1, *, own: bool = False) -> list[Scene]:
    """Some of the training samples of every track, with targets that all differ."""
    found: list[Scene] = []
    for track in TRACKS:
        said: dict[str, Scene] = {}
        for sample in reversed(made.turns.samples[track]):
            scene = made.contexts.own(sample) if own else made.contexts.taught(sample)
            assert scene is not None
            told = {Track.RECENT: both(scene.local), Track.HISTORICAL: both(scene.recalled)}.get(track, True)
            ranked = len(scene.ranked) > 3 or not own or track is not Track.HISTORICAL
            new = all(moment(scene) != moment(other) for other in found)
            if told and ranked and new and len(said) < each:
                said.setdefault(sample.target, scene)
        found += said.values()
    assert len(found) == each * len(TRACKS)
    return found


def both(compared: Sequence[tuple[object, bool]]) -> bool:
    """Whether there is something to tell apart."""
    return len({right for _, right in compared}) == 2


def moment(scene: Scene) -> tuple[str, MatchTime]:
    """Two tracks of one moment have the same memories, by which no head could tell them apart."""
    return scene.sample.match, scene.sample.cutoff


# --- what it learns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_one_batch_is_fitted_to_almost_nothing_and_then_said(
    trained: Ground, corpus: Corpus, tmp_path: Path, path: Path3
) -> None:
    mine = of(trained, path)
    mine = replace(mine, model=replace(mine.model, language=replace(mine.model.language, dropout=0.0)))
    made = task(trained, corpus, mine, tmp_path)
    shown = scenes(made)
    batch = made.composer.batch(shown)
    groups = {group.name: [each for _, each in group.parameters] for group in made.groups()}
    rates = {"encoder": 3e-3, "lora": 1e-2, "projector": 1e-2, "heads": 3e-3}
    optimizer = torch.optim.AdamW([{"params": each, "lr": rates[name]} for name, each in groups.items()])
    parts: dict[str, Tensor] = {}
    first = 0.0
    for _ in range(120):
        parts = made.objective(batch)
        optimizer.zero_grad()
        parts["loss"].backward()
        optimizer.step()
        first = first or float(parts["loss"].detach())
    last = {name: float(each.detach()) for name, each in parts.items()}
    print(path.value, first, last)
    assert last["loss"] < 0.01 * first
    assert last["gen"] < 0.03 and all(last[name] < 0.1 for name in ("route", "local", "retrieval"))
    assert ("retain" in last) == (path is Path3.JOINT) and last.get("retain", 0.0) < 0.15
    assert [each.text for each in made.narrator.generate(shown)] == [each.sample.target for each in shown]


@pytest.mark.parametrize("path", PATHS)
def test_the_loss_is_the_weighted_sum_of_its_parts(
    trained: Ground, corpus: Corpus, tmp_path: Path, path: Path3
) -> None:
    weights = {
        "gen_weight": 0.7,
        "retain_weight": 0.5,
        "route_weight": 0.3,
        "local_weight": 0.9,
        "retrieval_weight": 1.1,
    }
    made = task(trained, corpus, of(trained, path, **weights), tmp_path)
    made.objective.eval()
    with torch.no_grad():
        parts = made.objective(made.composer.batch(scenes(made)))
    named = {"gen", "route", "local", "retrieval"} | ({"retain"} if path is Path3.JOINT else set())
    assert set(parts) == {"loss", "own", *named}
    assert float(parts["loss"]) == pytest.approx(sum(weights[f"{name}_weight"] * float(parts[name]) for name in named))


# --- what is trained -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_the_cache_path_leaves_stage_1_as_it_was_and_the_joint_path_trains_it_on(
    trained: Ground, corpus: Corpus, tmp_path: Path, path: Path3
) -> None:
    run = replace(RuntimeConfig(), late_seconds=5.0)
    mine = replace(of(trained, path, loop=loop(3, batch=3), encoder_rate=1e-3), runtime=run)
    train(trained, mine, tmp_path / "run")
    before, after = read_checkpoint(trained.root / "run2"), read_checkpoint(tmp_path / "run")
    assert after.parts == ("encoder", "projector", "context") and after.lora
    assert (before.hashes["encoder"] == after.hashes["encoder"]) == (path is Path3.CACHE)
    assert before.hashes["projector"] != after.hashes["projector"] and before.hashes["lora"] != after.hashes["lora"]
    line = read_provenance(after.folder)
    assert [(each["stage"], each["step"]) for each in line] == [("memory", 12), ("records", 12), ("commentary", 3)]
    assert line[2]["recipe"] == to_mapping(mine.stage3) and line[2]["data"] == corpus.fingerprint
    assert read_runtime(after.folder) == run
    made = task(trained, corpus, mine, tmp_path)
    made.load(after.folder)
    rates = {group.name: group.rate(0) for group in made.groups()}
    stage = mine.stage3
    wanted = {"lora": stage.lora_rate, "projector": stage.projector_rate, "heads": stage.heads_rate}
    assert rates == wanted | ({"encoder": 1e-3} if path is Path3.JOINT else {})
    learned = {name for name, each in made.objective.named_parameters() if each.requires_grad}
    grouped = {id(each) for group in made.groups() for _, each in group.parameters}
    assert {id(each) for each in made.objective.parameters() if each.requires_grad} == grouped
    assert any(name.startswith("encoder.") for name in learned) == (path is Path3.JOINT)
    assert not any("lora" not in name for name in learned if name.startswith("language."))


def test_a_trained_run_says_the_same_from_its_folder(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    mine = of(trained, loop=loop(3, batch=3))
    train(trained, mine, tmp_path / "run")
    made = task(trained, corpus, mine, tmp_path)
    made.load(read_checkpoint(tmp_path / "run").folder)
    narrator = open_narrator(
        tmp_path / "run", corpus, trained.root / "memory", own=trained.root / "own", splits=[Split.TRAIN]
    )
    shown = scenes(made, own=True)
    one, other = (each.generate(shown, max_tokens=12) for each in (made.narrator, narrator))
    assert one == other
    assert [each.track for each in one] == list(TRACKS) and one[2].records


# --- the joint path's memories ---------------------------------------------------------------------------------------


def test_the_joint_paths_memories_are_those_of_the_cache(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    """Under the same weights; the cache keeps bfloat16."""
    made = {path: task(trained, corpus, of(trained, path), tmp_path) for path in PATHS}
    both = [*scenes(made[Path3.JOINT], 2), *scenes(made[Path3.JOINT], 2, own=True)]
    read: dict[Path3, tuple[CommentaryBatch, Reading]] = {}
    for path, each in made.items():
        each.objective.eval()
        batch = each.composer.batch(both)
        with torch.no_grad():
            read[path] = batch, each.objective.read(batch)
    (batch, cached), (joint, anew) = read.values()
    assert batch.where == joint.where and any(place.run == OWN for place in batch.where)
    assert torch.allclose(cached.memories, anew.memories, atol=0.03)
    assert cached.retain is None and anew.retain is not None
    assert [each.utterance("x") for each in cached.contexts] == [each.utterance("x") for each in anew.contexts]


def test_what_is_retained_is_stage_1_on_the_last_three_minutes(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    mine = of(trained, Path3.JOINT)
    made = task(trained, corpus, mine, tmp_path)
    made.objective.eval()
    shown = scenes(made, 2)
    batch = made.composer.batch(shown)
    named: Any = batch.named
    for name, clips, scene in zip(named.windows.names, named.windows.arrived.sum(1).tolist(), shown, strict=True):
        sample, half = scene.sample, corpus.half(scene.sample.match, scene.sample.half)
        first, last = (int(each) for each in name.split(" clips ")[1].split(" to "))
        assert name.startswith(half.name) and half.reset[first] and last - first + 1 == clips
        assert last == round(sample.cutoff.seconds / 4) - 1
        assert sample.cutoff.seconds - 180 - 24 <= first * 4 <= max(0, sample.cutoff.seconds - 180)
    assert named.events is not None  # records of earlier are events by themselves
    assert int(named.events.reset.sum(1).min()) >= 1 and bool(named.events.reset[:, 0].all())
    with torch.no_grad():
        alone = MemoryObjective(made.model.encoder, mine.stage1).eval()(named.windows)["loss"]
        assert float(made.objective(batch)["retain"]) == pytest.approx(float(alone), rel=1e-5)


@pytest.mark.parametrize("weight", ["gen_weight", "retain_weight", "retrieval_weight"])
def test_stage_1_learns_from_the_commentary_and_from_what_retains_it(
    trained: Ground, corpus: Corpus, tmp_path: Path, weight: str
) -> None:
    """Each part of the loss reaches the encoder by itself."""
    off = {f"{name}_weight": 0.0 for name in ("gen", "retain", "route", "local", "retrieval")}
    made = task(trained, corpus, of(trained, Path3.JOINT, **{**off, weight: 1.0}), tmp_path)
    made.objective(made.composer.batch(scenes(made)))["loss"].backward()
    encoder = made.model.encoder
    for part in (encoder.adapter, encoder.memory):
        assert any(each.grad is not None and bool(each.grad.abs().max() > 0) for each in part.parameters())
    heads = [each.grad for each in (*encoder.transition.parameters(), *encoder.event_heads.parameters())]
    moved = any(each is not None and bool(each.abs().max() > 0) for each in heads)
    assert moved == (weight == "retain_weight")


@pytest.mark.acceptance
def test_what_is_retained_stays_and_what_is_not_fades(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    """60 steps at a rate that is far too high for an encoder, with L_retain and without, on matches held out."""
    base, measured = recipe(trained), ("transition_f1_exact", "event_type_macro_f1", "clip_action_map")
    base = replace(
        base,
        stage1=replace(base.stage1, loop=loop(80, batch=4), rate=4e-3),
        stage2=replace(base.stage2, loop=loop(20, batch=4)),
    )
    data, tokens = trained.data, trained.tokens
    train_memory(base, data, tokens, tmp_path / "run1")
    cache_memory(base, data, tokens, tmp_path / "run1", tmp_path / "memory")
    train_records(base, data, tmp_path / "memory", tmp_path / "run1", tmp_path / "run2")
    halves = corpus.of(Split.VALIDATION)
    visual = VisualTokens(TokenCache(tokens), halves)
    figures: dict[str, Any] = {}
    for weight in (0.0, 0.2):
        taught = Curriculum(begin=1000)
        stage = replace(base.stage3, path=Path3.JOINT, retain_weight=weight, encoder_rate=2e-3, curriculum=taught)
        mine = replace(base, stage3=replace(stage, loop=loop(60, batch=3), validation_texts=0))
        made = CommentaryTask(mine, corpus, tmp_path / "run2", tmp_path / f"{weight}", tokens=TokenCache(tokens))
        seen = []
        for _ in range(2):
            made.model.eval()
            with torch.no_grad():
                seen.append(look(made.model.encoder, visual, halves))
            if len(seen) == 1:
                Trainer(made, made.stage.loop, tmp_path / f"{weight}").run()
        log = [json.loads(line) for line in (tmp_path / f"{weight}" / "metrics.jsonl").read_text().splitlines()]
        figures[f"weight {weight}"] = {
            **{f"{name}_{when}": round(each[name], 4) for when, each in zip(("before", "after"), seen, strict=True)
               for name in measured},
            "gen_first": log[0]["gen"],
            "gen_last": log[59]["gen"],
        }  # fmt: skip
    record("retain", figures, "pytest -m acceptance tests/test_training_commentary.py -k retained_stays")
    free, held = figures["weight 0.0"], figures["weight 0.2"]
    assert held["transition_f1_exact_after"] > 0.95 > free["transition_f1_exact_after"]
    assert all(held[f"{name}_after"] > free[f"{name}_after"] for name in measured)
    assert held["gen_last"] < 0.75 * held["gen_first"]


# --- losses of the context heads -------------------------------------------------------------------------------------


def test_a_ranking_counts_only_where_there_is_something_to_tell_apart() -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0, 9.0]] * 4)
    there = torch.tensor([[True, True, True, False]] * 3 + [[False] * 4])
    right = torch.tensor(
        [[True, False, True, False], [True, True, True, False], [False, False, False, True], [True] * 4]
    )
    loss, applies = ranking(scores, right, there)
    assert applies.tolist() == [True, False, False, False]
    total = np.exp([2.0, 1.0, 0.0]).sum()
    assert loss.tolist() == pytest.approx([-np.log((np.exp(2.0) + 1) / total), 0, 0, 0])


def gradients(objective: CommentaryObjective, batch: CommentaryBatch, part: str) -> float:
    parameters = list(objective.context.parameters())
    found = torch.autograd.grad(objective(batch)[part], parameters, allow_unused=True)
    return max((float(each.abs().max()) for each in found if each is not None), default=0.0)


@pytest.mark.parametrize("part, field", [("local", "local"), ("retrieval", "recalled")])
@pytest.mark.parametrize("right", [True, False, None])
def test_local_and_retrieval_losses_need_a_positive_and_a_negative(
    trained: Ground, corpus: Corpus, tmp_path: Path, part: str, field: str, right: bool | None
) -> None:
    made = task(trained, corpus, of(trained), tmp_path)
    made.objective.eval()
    shown = [each for each in scenes(made) if both(getattr(each, field))][:1]
    assert gradients(made.objective, made.composer.batch(shown), part) > 0
    few = [replace(each, **{field: tuple(pair for pair in getattr(each, field) if pair[1] is right)}) for each in shown]
    batch = made.composer.batch(few)
    with torch.no_grad():
        assert float(made.objective(batch)[part]) == 0
    assert gradients(made.objective, batch, part) == 0


def test_null_is_never_right_and_competes_where_the_loss_applies(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    made = task(trained, corpus, of(trained), tmp_path)
    made.objective.eval()
    shown = scenes(made)
    batch = made.composer.batch(shown)
    with torch.no_grad():
        read = made.objective.read(batch)
        scores = made.objective.recall_scores(batch, read)
        found = float(made.objective(batch)["retrieval"])
    assert scores is not None and batch.recalled is not None
    assert scores.shape[1] == batch.recalled.there.shape[1] + 1
    (row,) = [place for place, each in enumerate(shown) if each.sample.track is Track.HISTORICAL]
    there, right = batch.recalled.there[row], batch.recalled.right[row]
    all_of_them = torch.cat([scores[row, :-1][there], scores[row, -1:]])  # NULL is the last
    mine = torch.logsumexp(all_of_them, 0) - torch.logsumexp(scores[row, :-1][there & right], 0)
    assert found == pytest.approx(float(mine) / len(shown), rel=1e-5)


# --- scopes and the memory gate --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", list(Scope))
def test_a_scope_has_the_memories_the_records_and_the_losses_that_it_may_have(
    trained: Ground, corpus: Corpus, tmp_path: Path, scope: Scope
) -> None:
    made = task(trained, corpus, of(trained, scope=scope), tmp_path)
    made.objective.eval()
    shown = scenes(made)
    batch = made.composer.batch(shown)
    current, recent, historical = (len(each.memories) for each in batch.contexts)
    assert current == 1
    for count, scene in ((recent, shown[1]), (historical, shown[2])):
        assert count == (1 if scope is Scope.CURRENT else 1 + len(scene.selected))
    assert bool(batch.contexts[2].records) == (scope is Scope.FULL)
    with torch.no_grad():
        parts = set(made.objective(batch)) - {"loss", "own"}
    assert parts == {"gen", "route"} | {
        name
        for name, at in (("local", Scope.LOCAL), ("retrieval", Scope.FULL))
        if list(Scope).index(scope) >= list(Scope).index(at)
    }


def test_a_scope_opens_no_more_than_it_has_and_no_more_than_is_needed() -> None:
    table = [scope.within(track).value for scope in Scope for track in Track]
    assert table == [
        *("current", "current", "current"),
        *("current", "local", "local"),
        *("current", "local", "full"),
    ]


@pytest.mark.parametrize("asked", list(Track))
@pytest.mark.parametrize("own", [False, True])
def test_a_learned_gate_opens_the_context_that_the_route_head_asks_for(
    trained: Ground, corpus: Corpus, tmp_path: Path, asked: Track, own: bool
) -> None:
    made = task(trained, corpus, of(trained, memory_gate=MemoryGate.LEARNED), tmp_path)
    made.objective.eval()
    last: Any = made.model.context.route[-1]
    with torch.no_grad():  # a head that says the same of everything
        last.weight.zero_()
        last.bias.copy_(torch.tensor([5.0 if each is asked else 0.0 for each in TRACKS]))
    shown = scenes(made, own=own)
    batch = made.composer.batch(shown)
    with torch.no_grad():
        read = made.objective.read(batch)
        loss = made.objective.losses(batch, read)
    for context, scene in zip(read.contexts, shown, strict=True):
        if scene.sample.track is not Track.CURRENT:
            assert len(context.memories) == (1 if asked is Track.CURRENT else 1 + len(scene.selected))
        assert bool(context.records) == (scene.sample.track is asked is Track.HISTORICAL)
    rule = task(trained, corpus, of(trained), tmp_path)
    rule.model.load_state_dict(made.model.state_dict())
    rule.objective.eval()
    with torch.no_grad():
        same = rule.objective.losses(batch, rule.objective.read(batch))
    changed = [float(each) > 1e-4 for each in (same - loss).abs()]
    assert changed == [False, asked is Track.CURRENT, asked is not Track.HISTORICAL]


def test_a_match_has_the_scope_and_the_gate_of_its_weights(trained: Ground, tmp_path: Path) -> None:
    mine = of(trained, scope=Scope.LOCAL, memory_gate=MemoryGate.LEARNED, loop=loop(1, batch=3), validation_texts=0)
    train(trained, mine, tmp_path / "run")
    mind = Mind(from_pretrained(tmp_path / "run"))
    assert (mind.scope, mind.gate) == (Scope.LOCAL, MemoryGate.LEARNED)


# --- which samples, which contexts -----------------------------------------------------------------------------------


def test_the_tracks_have_equal_shares_and_each_sample_comes_once_an_epoch(trained: Ground, corpus: Corpus) -> None:
    by_track = {
        track: [each for each in corpus.samples.values() if each.split is Split.TRAIN and each.track is track]
        for track in TRACKS
    }
    turns = Turns(by_track, 3)
    most = max(map(len, by_track.values()))
    rows = [turns.at(place) for place in range(3 * most)]
    assert [each.track for each in rows] == [*TRACKS] * most
    for track, mine in by_track.items():
        read = [each.id for each in rows if each.track is track]
        assert len(set(read[: len(mine)])) == len(mine) and len({len(each) for each in by_track.values()}) > 1


@pytest.mark.parametrize("ratio", [0.1, 0.5])
def test_contexts_of_the_own_run_come_as_often_as_the_curriculum_says(
    trained: Ground, corpus: Corpus, tmp_path: Path, ratio: float
) -> None:
    curriculum = Curriculum(begin=10, every=5, first=ratio, last=0.9, levels=2)
    made = task(trained, corpus, of(trained, curriculum=curriculum, loop=loop(100, batch=3)), tmp_path)
    early, begun, later = ([made.scene(place, step).own for place in range(600)] for step in (9, 10, 15))
    assert not any(early)
    assert np.mean(begun) == pytest.approx(ratio, abs=0.06) and np.mean(later) == pytest.approx(0.9, abs=0.05)
    assert not any(before and not after for before, after in zip(begun, later, strict=True))  # more, and none fewer
    batch = made.batch(15, 0, 0, 1)
    with torch.no_grad():
        assert float(made.objective(batch)["own"]) == pytest.approx(np.mean([each.own for each in batch.scenes]))


def test_records_of_the_own_run_are_ranked_by_the_heads_as_they_are(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    made = task(trained, corpus, of(trained), tmp_path)
    made.objective.eval()
    heads, cache = made.model.context, MemoryCache(trained.root / "memory")
    shown = [each for each in scenes(made, 3, own=True) if each.sample.track is Track.HISTORICAL]
    with torch.no_grad():
        contexts = made.objective.read(made.composer.batch(shown)).contexts
        for context, scene in zip(contexts, shown, strict=True):

            def held(place: Any) -> Tensor:
                return cache.memory(place.match, place.half, place.first, place.last, run=place.run)

            about = torch.stack([held(each) for each in scene.about])[None]
            query = heads.query(heads.summary(about, torch.ones(1, len(scene.about), dtype=torch.bool)))[0]
            scores = {record.id: float(heads.key(held(place)[None])[0] @ query) for record, place in scene.ranked}
            best = sorted(scores, key=lambda name: -scores[name])[:3]
            assert [each.id for each in context.records] == best


# --- how it goes on --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_killed_run_goes_on_with_the_loss_that_it_would_have_had(
    trained: Ground, tmp_path: Path, path: Path3
) -> None:
    mine = of(
        trained, path, loop=loop(6, batch=3), curriculum=Curriculum(begin=2, every=1, levels=3), validation_texts=0
    )
    whole = losses(train(trained, mine, tmp_path / "whole"))
    train(trained, mine, tmp_path / "two", until=3)
    with (tmp_path / "two" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "loss": 99}\n{"step": 5, "lo')
    again = train(trained, mine, tmp_path / "two")
    assert losses(again) == whole and len(whole) == 6
    assert any(row["own"] > 0 for row in again if "own" in row)  # the curriculum had begun


def test_a_run_with_another_lambda_gate_or_own_run_is_another_run(trained: Ground, tmp_path: Path) -> None:
    train(trained, of(trained), tmp_path / "run", until=1)
    for change in ({"route_weight": 0.5}, {"memory_gate": MemoryGate.LEARNED}, {"scope": Scope.LOCAL}):
        with pytest.raises(UsageError, match=r"has task\.stage"):
            train(trained, of(trained, **change), tmp_path / "run")
    taught = of(trained, curriculum=Curriculum(begin=4))
    with pytest.raises(UsageError, match=r"has task\.(own|stage)"):
        train_commentary(taught, trained.data, trained.root / "run2", tmp_path / "run", **what(trained, taught))


# --- what is wrong with what it is given -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_loss_that_is_no_number_stops_with_step_and_batch_named(
    trained: Ground, corpus: Corpus, tmp_path: Path, path: Path3
) -> None:
    made = task(trained, corpus, of(trained, path), tmp_path / "run")
    whole = made.batch

    def broken(step: int, micro: int, rank: int, world: int) -> Any:
        batch = whole(step, micro, rank, world)
        if step != 2:
            return batch
        if path is Path3.JOINT:
            named: Any = batch.named
            named.windows.visual.fill_(float("nan"))
            return batch
        return replace(batch, named=Named(values=torch.full((len(batch.where), 9, 32), float("nan"))))

    made.batch = broken  # type: ignore[method-assign]
    names = [each.id for place in range(6, 9) for each in [made.turns.at(place)]]
    with pytest.raises(TrainingError, match="no number at step 2 ") as caught:
        Trainer(made, made.stage.loop, tmp_path / "run").run()
    assert all(name in str(caught.value) for name in names)
    assert last_checkpoint(tmp_path / "run") is None


def test_another_backbone_shape_vocabulary_or_prompt_profile_is_refused_by_name(
    trained: Ground, tmp_path: Path
) -> None:
    mine = of(trained)

    def tried(recipe: Recipe) -> None:
        train(trained, recipe, tmp_path / "run")

    tiny_backbone(tmp_path / "other", ["other words"], vocabulary=700, width=WIDTH, seed=4)
    with pytest.raises(CheckpointError, match="another backbone"):
        tried(replace(mine, backbone=replace(mine.backbone, path=str(tmp_path / "other"))))
    words = Path(shutil.copytree(trained.folder, tmp_path / "words")) / "tokenizer.json"
    held = json.loads(words.read_text())
    one, other = sorted(held["model"]["vocab"], key=held["model"]["vocab"].__getitem__)[:2]
    vocabulary = held["model"]["vocab"]
    vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
    words.write_text(json.dumps(held))
    with pytest.raises(CheckpointError, match="another vocabulary"):
        tried(replace(mine, backbone=replace(mine.backbone, path=str(words.parent))))
    with pytest.raises(CheckpointError, match="another prompt profile"):
        tried(replace(mine, model=replace(mine.model, prompt=replace(mine.model.prompt, sided=True))))
    with pytest.raises(CheckpointError, match="another prompt profile"):
        tried(replace(mine, model=replace(mine.model, prompt=replace(mine.model.prompt, record_tokens=32))))
    with pytest.raises(CheckpointError, match=r"another shape: encoder\.\S+ is \(.*\) there and \(.*\) in this model"):
        tried(replace(mine, model=replace(mine.model, adapter=replace(mine.model.adapter, width=64))))
    with pytest.raises(CheckpointError, match=r"another shape: projector\.layers\.2\.\S+ is None there"):
        tried(replace(mine, model=replace(mine.model, projector=replace(mine.model.projector, layers=3))))
    assert not (tmp_path / "run").exists()


def test_a_stage_3_run_is_not_resumed_over_another_backbone(trained: Ground, tmp_path: Path) -> None:
    """What a checkpoint was trained with is asked again when it is opened."""
    train(trained, of(trained), tmp_path / "run", until=1)
    tiny_backbone(tmp_path / "other", ["other words"], vocabulary=700, width=WIDTH, seed=4)
    with pytest.raises(CheckpointError, match="another backbone"):
        open_narrator(
            tmp_path / "run", Corpus(trained.data), trained.root / "memory", splits=[Split.TRAIN],
            backbone=tmp_path / "other",
        )  # fmt: skip


def test_a_memory_cache_of_other_weights_or_without_a_half_is_named(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    mine, own = of(trained), trained.root / "own"
    memory = Path(shutil.copytree(trained.root / "memory", tmp_path / "memory"))

    def tried() -> None:
        train_commentary(mine, trained.data, trained.root / "run2", tmp_path / "run", memory=memory, own=own)

    half = corpus.of(Split.TRAIN)[1]
    path = memory / half.match / f"{half.half}.safetensors"
    kept = path.read_bytes()
    path.unlink()
    with pytest.raises(DataError, match=f"holds nothing of {half.match}, half {half.half}"):
        tried()
    path.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(DataError, match=f"the memories of {half.match}, half {half.half}, cannot be read"):
        tried()
    path.write_bytes(kept)
    header = json.loads((memory / "cache.json").read_text())
    for name, told in (("encoder", "other stage 1 weights"), ("clips", "other clips")):
        (memory / "cache.json").write_text(json.dumps({**header, name: "0" * 64}))
        with pytest.raises(DataError, match=told):
            tried()
    assert not (tmp_path / "run").exists()


def test_records_of_another_own_run_are_named(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    own = Path(shutil.copytree(trained.root / "own", tmp_path / "own"))
    held = json.loads((own / "records.json").read_text())

    def tried() -> None:
        mine = of(trained, curriculum=Curriculum(begin=0, first=1.0, last=1.0), validation_texts=0)
        train_commentary(mine, trained.data, trained.root / "run2", tmp_path / "run", own=own, **what(trained, mine))

    for name in ("encoder", "clips"):
        (own / "records.json").write_text(json.dumps({**held, name: "0" * 64}))
        with pytest.raises(DataError, match=f"was made with another {name}"):
            tried()
    (own / "records.json").write_text(json.dumps(held))
    match = sorted({each.match for each in corpus.samples.values() if each.split is Split.TRAIN})[0]
    for damage, told in (("{broken\n", "is no own run"), (None, f"holds no own run of {match}")):
        path = own / match / "own.jsonl"
        path.unlink() if damage is None else path.write_text(damage)
        with pytest.raises(DataError, match=told):
            tried()


def test_a_damaged_shard_is_named_on_the_joint_path(trained: Ground, tmp_path: Path) -> None:
    tokens = Path(shutil.copytree(trained.tokens, tmp_path / "tokens"))
    for path in tokens.rglob("shard-*.safetensors"):
        data = bytearray(path.read_bytes())
        data[-100] ^= 0xFF
        path.write_bytes(bytes(data))
    mine = of(trained, Path3.JOINT)
    with pytest.raises(DataError, match=r"clip \d+ is not what was written"):
        train_commentary(
            mine, trained.data, trained.root / "run2", tmp_path / "run", tokens=tokens, own=trained.root / "own"
        )


def test_what_a_path_needs_and_does_not_have_is_named(trained: Ground, tmp_path: Path) -> None:
    def tried(mine: Recipe, **given: Any) -> None:
        train_commentary(mine, trained.data, trained.root / "run2", tmp_path / "run", **given)

    memory, own = trained.root / "memory", trained.root / "own"
    with pytest.raises(UsageError, match="the cache path reads memories; none are given"):
        tried(of(trained), tokens=trained.tokens, own=own)
    with pytest.raises(UsageError, match="the joint path reads visual tokens; none are given"):
        tried(of(trained, Path3.JOINT), memory=memory, own=own)
    with pytest.raises(UsageError, match="path video has no memories"):
        tried(of(trained, Path3.VIDEO), memory=memory)
    with pytest.raises(UsageError, match="from step 2 on the curriculum shows contexts of the own run"):
        tried(of(trained), memory=memory)
    with pytest.raises(UsageError, match="stage 2 was trained on recurrent, stage 3 asks for event_pool"):
        tried(of(trained, representation=Representation.EVENT_POOL), memory=memory, own=own)
    with pytest.raises(CheckpointError, match="no trained projector"):
        train_commentary(of(trained), trained.data, trained.root / "run1", tmp_path / "run", memory=memory, own=own)
    assert not (tmp_path / "run").exists()

"""Replay at the samples' cutoffs: what a context may hold, what each change changes, and what scoring refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.tiny_training import lay, loop, recipe, write_tokens

from streamsoccer.checkpoint import load_weights, read_checkpoint, read_provenance, save_pretrained
from streamsoccer.cli import main
from streamsoccer.clock import MatchTime
from streamsoccer.commentary import MemoryGate, Scope
from streamsoccer.config import to_mapping
from streamsoccer.data.pipeline import build
from streamsoccer.domain import Split, Track
from streamsoccer.errors import DataError, FutureLeak, UsageError
from streamsoccer.evaluation.interventions import Change, parse_changes, partners
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.predictions import OWN, TAUGHT, Prediction, read_predictions, read_retrieved
from streamsoccer.evaluation.record_replay import RecordReplay
from streamsoccer.evaluation.replay import CommentaryReplay
from streamsoccer.evaluation.replay_scores import score_replay
from streamsoccer.language import Request
from streamsoccer.model import StreamSoccer
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory import cache_memory, train_memory
from streamsoccer.training.own_run import OwnRecords, write_own_records
from streamsoccer.training.recipe import CommentaryStage, Recipe
from streamsoccer.training.records import RecordTask, train_records


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """A corpus with a stage 1 run, its memories, a stage 2 run, its own records, and stage 3 checkpoints."""

    root: Path
    recipe: Recipe
    data: Path
    memory: Path
    own: Path
    records: Path
    commentary: Path
    narrow: Path  # of the scope `current`


def untrained(stage2: Path, folder: Path, stage: CommentaryStage) -> Path:
    """A stage 3 checkpoint whose context heads are as they are drawn: nothing here is about how good it is."""
    checkpoint = read_checkpoint(stage2)
    torch.manual_seed(3)
    model = StreamSoccer(checkpoint.model, checkpoint.widths)
    lora = load_weights(checkpoint, model, ["encoder", "projector"])
    save_pretrained(
        folder,
        model,
        backbone={**checkpoint.backbone, "path": checkpoint.backbone_path},
        prompt=checkpoint.prompt,
        parts=("encoder", "projector", "context"),
        lora=lora,
        provenance=[
            *read_provenance(checkpoint.folder),
            {"stage": "commentary", "step": 5, "recipe": to_mapping(stage)},
        ],
    )
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Five matches, two of them for the test."""
    ground = lay(tmp_path_factory.mktemp("ground"))
    root = ground.root
    names = sorted({half.match for half in Corpus(ground.data).halves.values()})
    split = {"train": names[:2], "validation": names[2:3], "test": names[3:]}
    (root / "split.json").write_text(json.dumps(split))
    assert build(root / "league", root / "two", split_file=root / "split.json").ok
    write_tokens(root / "tokens2", root / "two", ground.backbone.fingerprint)
    mine = recipe(ground)
    mine = replace(mine, stage1=replace(mine.stage1, loop=loop(8)), stage2=replace(mine.stage2, loop=loop(12)))
    train_memory(mine, root / "two", root / "tokens2", root / "run1")
    cache_memory(mine, root / "two", root / "tokens2", root / "run1", root / "memory")
    train_records(mine, root / "two", root / "memory", root / "run1", root / "run2")
    write_own_records(mine, root / "two", root / "memory", root / "run2", root / "own", splits=[Split.TEST])
    return Runs(
        root=root,
        recipe=mine,
        data=root / "two",
        memory=root / "memory",
        own=root / "own",
        records=root / "run2",
        commentary=untrained(root / "run2", root / "run3", mine.stage3),
        narrow=untrained(root / "run2", root / "narrow", replace(mine.stage3, scope=Scope.CURRENT)),
    )


@pytest.fixture(scope="module")
def said(runs: Runs) -> Path:
    """Everything that a replay can be asked for, once."""
    replay(runs).write(runs.root / "said", changes=tuple(Change))
    return runs.root / "said"


def replay(runs: Runs, **more: Any) -> CommentaryReplay:
    return CommentaryReplay(runs.data, runs.memory, runs.own, runs.commentary, **more)


def lines(folder: Path, name: str) -> list[Prediction]:
    return read_predictions(folder / f"{name}.jsonl")


# --- the contexts -----------------------------------------------------------------------------------------------------


def test_every_anchor_of_the_split_has_a_line_in_every_file(runs: Runs, said: Path) -> None:
    corpus = Corpus(runs.data)
    asked = [each.id for each in corpus.samples.values() if each.split is Split.TEST]
    historical = [each for each in asked if each.endswith(Track.HISTORICAL)]
    assert len(asked) > 40 and len(historical) > 5
    for condition in (OWN, TAUGHT):
        for change in Change:
            found = lines(said, f"{condition}.{change}" if change else condition)
            assert [each.id for each in found] == (historical if change.of_records else asked), change
            for each in found:
                assert each.reference == corpus.samples[each.id].target
    assert all(each.covered and each.on_event for each in lines(said, TAUGHT))


def test_no_context_holds_what_was_not_available(runs: Runs, said: Path) -> None:
    corpus, own = Corpus(runs.data), OwnRecords(runs.own)
    known: dict[str, tuple[MatchTime, MatchTime]] = {}
    for match in {each.match for each in corpus.samples.values() if each.split is Split.TEST}:
        known |= {each.id: (each.available_at, each.end) for each in own.events(match)}
    labels = {each.id: (each.available_at, each.end) for each in corpus.events.values()}
    records = {each.id: each.event for each in corpus.records.values()}
    seen = 0
    for condition, events in ((OWN, known), (TAUGHT, labels)):
        for change in ("", ".records-ranked", ".records-hard", ".shuffled"):
            for each in lines(said, f"{condition}{change}"):
                if change != ".shuffled":  # which takes memories of another anchor
                    assert all(events[name][0] <= each.cutoff for name in each.events)
                for name, _ in each.records:
                    closed, end = events[name.replace("-r", "-e")] if name not in records else labels[records[name]]
                    assert closed <= each.cutoff and each.cutoff.seconds - end.seconds >= 90
                    seen += 1
    assert seen > 50


def test_a_record_of_the_future_stops_the_replay(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = replay(runs)
    taught = mine.contexts.taught

    def leaking(sample: Any, chance: Any = None) -> Any:
        scene = taught(sample, chance)
        late = MatchTime(sample.half, sample.cutoff.seconds + 0.5)
        return replace(scene, records=tuple(replace(each, ready_at=late) for each in scene.records))

    monkeypatch.setattr(mine.contexts, "taught", leaking)
    with pytest.raises(FutureLeak):
        mine.write(tmp_path, conditions=[TAUGHT])


def test_an_anchor_without_a_context_is_counted_and_not_dropped(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = replay(runs)
    own, lost = mine.contexts.own, mine.samples[0].id
    monkeypatch.setattr(mine.contexts, "own", lambda sample: None if sample.id == lost else own(sample))
    mine.write(tmp_path, conditions=[OWN])
    found = lines(tmp_path, OWN)
    assert [each.id for each in found if not each.covered] == [lost] and len(found) == len(mine.samples)
    cell = score_replay(tmp_path, replicates=50, metrics=[Metric.TOK_F1]).cell(found[0].track, OWN)
    assert cell is not None and cell.covered == len(cell.lines) - 1 and cell.text.n == len(cell.lines)


# --- the changes ------------------------------------------------------------------------------------------------------


class Heard:
    """What the language model is asked, request by request."""

    def __init__(self, mine: CommentaryReplay, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests: list[Request] = []
        language = mine.loaded.language

        def generate(requests: Sequence[Request]) -> list[tuple[int, ...]]:
            self.requests += requests
            return [()] * len(requests)

        monkeypatch.setattr(language, "generate", generate)

    def take(self) -> list[Request]:
        taken, self.requests = self.requests, []
        return taken


@pytest.mark.parametrize("condition", [OWN, TAUGHT])
def test_each_change_changes_what_it_names_and_nothing_else(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    mine = replay(runs)
    heard = Heard(mine, monkeypatch)

    @cache
    def asked(change: Change) -> dict[str, Request]:
        mine.write(tmp_path / change.name, conditions=[condition], changes=[change])
        names = [each for each in mine.samples if not change.of_records or each.track is Track.HISTORICAL]
        return {each.id: request for each, request in zip(names, heard.take(), strict=True)}

    def differ(change: Change) -> dict[str, tuple[bool, bool]]:
        """Whether prefix and prompt are others than without a change."""
        return {
            name: (not torch.allclose(each.prefix, base[name].prefix, atol=1e-4), each.prompt != base[name].prompt)
            for name, each in asked(change).items()
        }

    base = asked(Change.NONE)
    history = {each.id for each in mine.samples if each.track is Track.HISTORICAL}
    shuffled = differ(Change.SHUFFLED)
    assert not any(prompt for _, prompt in shuffled.values())
    assert sum(prefix for prefix, _ in shuffled.values()) > 0.9 * len(base)
    blind = differ(Change.BLIND)
    assert all(prefix for prefix, _ in blind.values())
    if condition == TAUGHT:  # the labels' state is not of the video
        assert {name for name, (_, prompt) in blind.items() if prompt} == history
    for change in (Change.RANKED, Change.REFERENCE, Change.HARD, Change.NO_RECORDS, Change.OTHER):
        found = differ(change)
        assert set(found) == history and not any(prefix for prefix, _ in found.values()), change
        same = change is (Change.RANKED if condition == OWN else Change.REFERENCE)
        changed = [prompt for _, prompt in found.values()]
        assert not any(changed) if same else sum(changed) > 0.6 * len(changed), change
    nothing = mine.loaded.prompter._ids("Nothing is noted.\n")
    for each in asked(Change.NO_RECORDS).values():
        after = each.prompt.after
        assert any(after[at : at + len(nothing)] == nothing for at in range(len(after)))
    for change in (Change.RANDOM, Change.NEAREST):
        assert asked_nothing(mine, heard, tmp_path, condition, change)


def asked_nothing(mine: CommentaryReplay, heard: Heard, out: Path, condition: str, change: Change) -> bool:
    """A line without a model, and one that stands in the training set."""
    mine.write(out / change.name, conditions=[condition], changes=[change])
    targets = {each.target for each in mine.corpus.samples.values() if each.split is Split.TRAIN}
    found = lines(out / change.name, f"{condition}.{change}")
    return not heard.take() and all(each.text in targets for each in found if each.covered)


def test_the_change_that_is_the_condition_itself_has_its_very_lines(said: Path) -> None:
    for condition, change in ((OWN, Change.RANKED), (TAUGHT, Change.REFERENCE)):
        same = {each.id: each for each in lines(said, f"{condition}.{change}")}
        history = [each for each in lines(said, condition) if each.track == Track.HISTORICAL.value]
        assert history and all(same[each.id] == each for each in history)


def test_records_of_another_match_stand_at_the_same_moments(runs: Runs, said: Path) -> None:
    for condition in (OWN, TAUGHT):
        base = {each.id: each for each in lines(said, condition)}
        for each in lines(said, f"{condition}.records-other"):
            mine = base[each.id].records
            assert len(each.records) == len(mine)
            for (name, _), (stood, _) in zip(each.records, mine, strict=True):
                stranger, _, place = name.partition(" for ")
                assert place == stood and stranger.split("#")[0] != each.match


def test_hard_negatives_and_references_are_those_of_the_manifest(runs: Runs, said: Path) -> None:
    corpus = Corpus(runs.data)
    for condition in (OWN, TAUGHT):
        for each in lines(said, f"{condition}.records-hard"):
            assert [name for name, _ in each.records] == list(corpus.samples[each.id].hard_negatives[:3])
        for each in lines(said, f"{condition}.records-reference"):
            assert each.records[0][0] == corpus.samples[each.id].positives[-1]
    ranked = {each.id: each for each in read_retrieved(said, TAUGHT)}
    for each in lines(said, f"{TAUGHT}.records-ranked"):
        assert [name for name, _ in each.records] == list(ranked[each.id].ranked[:3])
        assert set(ranked[each.id].ranked) == set(corpus.samples[each.id].candidates)


def test_a_learned_gate_opens_what_the_route_head_asks_for(runs: Runs, tmp_path: Path) -> None:
    stage = replace(runs.recipe.stage3, memory_gate=MemoryGate.LEARNED)
    run = untrained(runs.records, tmp_path / "run", stage)
    for asked in Track:
        mine = CommentaryReplay(runs.data, runs.memory, runs.own, run, limit=3)
        last: Any = mine.loaded.model.context.route[-1]
        with torch.no_grad():  # a head that says the same of everything
            last.weight.zero_()
            last.bias.copy_(torch.tensor([5.0 if each is asked else 0.0 for each in Track]))
        mine.write(tmp_path / asked.value)
        for condition in (OWN, TAUGHT):
            later = [each for each in lines(tmp_path / asked.value, condition) if each.track != Track.CURRENT]
            assert any(len(each.events) > 1 for each in later) == (asked is not Track.CURRENT)
            assert any(each.records for each in later) == (asked is Track.HISTORICAL)


def test_a_narrow_scope_has_no_records_to_change(runs: Runs, tmp_path: Path) -> None:
    mine = CommentaryReplay(runs.data, runs.memory, runs.own, runs.narrow, limit=3)
    made = mine.write(tmp_path, conditions=[TAUGHT], changes=[Change.NONE, Change.HARD])
    assert set(made) == {"taught.retrieval.jsonl", "taught.jsonl"} and made["taught.jsonl"] == 9
    assert not any(each.records for each in lines(tmp_path, TAUGHT))


def test_a_shuffle_takes_another_match_and_is_the_same_every_time() -> None:
    ids, matches = [f"s{at}" for at in range(30)], [f"m{at % 3}" for at in range(30)]
    found = partners(ids, matches)
    assert all(matches[at] != matches[other] for at, other in enumerate(found))
    assert found == partners(ids, matches) and len(set(found)) > 10
    assert all(at != other for at, other in enumerate(partners(ids[:4], ["m"] * 4)))
    with pytest.raises(UsageError, match="no intervention 'blinded'"):
        parse_changes("blind, blinded")
    assert parse_changes("blind") == (Change.NONE, Change.BLIND)


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_stage_2_run_says_of_the_labels_events_what_its_validation_says(runs: Runs, tmp_path: Path) -> None:
    mine = RecordReplay(runs.data, runs.memory, runs.records)
    mine.write(tmp_path, changes=tuple(Change))
    task = RecordTask(runs.recipe, Corpus(runs.data), runs.memory, runs.root / "run1", tmp_path / "run")
    task.load(read_checkpoint(runs.records).folder)
    task.objective.eval()
    with torch.no_grad():
        assert task.captions(mine.rows) == [each.text for each in lines(tmp_path, TAUGHT)]
    own = lines(tmp_path, OWN)
    assert [each.id for each in own] == [row.id for row in mine.rows]
    assert any(each.covered for each in own)
    events = OwnRecords(runs.own)
    said = {one.start.seconds: one.text for match in {each.match for each in own} for one in events.events(match)}
    for each in own:
        if each.covered:  # the own event's caption is that of the own ledger
            assert each.start is not None
            mine_there = [one for one in events.events(each.match) if one.half == each.cutoff.half]
            assert each.text in [one.text for one in mine_there if one.start.seconds == each.start]
        else:
            assert not each.text
    assert said


# --- files, going on --------------------------------------------------------------------------------------------------


def test_a_stopped_replay_goes_on_and_another_run_is_refused(runs: Runs, said: Path, tmp_path: Path) -> None:
    shutil.copytree(said, tmp_path / "said")
    kept = (tmp_path / "said" / "own.blind.jsonl").read_text()
    (tmp_path / "said" / "own.blind.jsonl").unlink()
    made = replay(runs).write(tmp_path / "said", changes=[Change.NONE, Change.BLIND], conditions=[OWN])
    assert "own.blind.jsonl" in made and "own.jsonl" not in made
    assert (tmp_path / "said" / "own.blind.jsonl").read_text() == kept
    with pytest.raises(UsageError, match="another scope"):
        CommentaryReplay(runs.data, runs.memory, runs.own, runs.narrow).write(tmp_path / "said")
    with pytest.raises(UsageError, match="another limit"):
        replay(runs, limit=2).write(tmp_path / "said")


def test_scoring_refuses_lines_that_are_missing_twice_there_or_strange(said: Path, tmp_path: Path) -> None:
    shutil.copytree(said, tmp_path / "said")
    path = tmp_path / "said" / "own.jsonl"
    rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join(rows[1:]))
    with pytest.raises(DataError, match="anchors were asked for"):
        score_replay(tmp_path / "said", replicates=10)
    path.write_text("".join([*rows, rows[3]]))
    with pytest.raises(DataError, match="stands twice"):
        score_replay(tmp_path / "said", replicates=10)
    strange = json.loads(rows[0])
    path.write_text("".join([json.dumps({**strange, "id": "x:current"}) + "\n", *rows[1:]]))
    with pytest.raises(DataError, match="the other files do not"):
        score_replay(tmp_path / "said", replicates=10)
    del strange["covered"]
    path.write_text(json.dumps(strange) + "\n")
    with pytest.raises(DataError, match=r"own.jsonl:1: has no 'covered'"):
        score_replay(tmp_path / "said", replicates=10)


def test_lines_are_written_on_one_machine_and_scored_on_another(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [str(each) for each in (runs.data, runs.memory, runs.own, runs.commentary)]
    out = str(tmp_path / "said")
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", "commentary", *where, "--out", out, "--limit", "4", "--generate-only", "--conditions", "own"])
    capsys.readouterr()
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", "score", out, "--json", "--replicates", "20"])
    report = json.loads(capsys.readouterr().out)
    cells = {(each["track"], each["condition"], each["change"]): each for each in report["cells"]}
    assert {track for track, _, _ in cells} == set(Track)
    assert cells["current", "own", ""]["n"] == 4 and "cider" in cells["current", "own", ""]
    assert report["retrieval"]["own"]["queries"] > 0

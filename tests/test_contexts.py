"""What a sample of stage 3 may see: the labels' context or the runtime's own, how often, and nothing of the future."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny_training import Ground, recipe

from streamsoccer.buffer import EventBuffer
from streamsoccer.clock import Cutoff, MatchTime
from streamsoccer.commentary import Scope
from streamsoccer.domain import CLIP_SECONDS, EventRow, SampleRow, Split, Tally, Track
from streamsoccer.errors import FutureLeak
from streamsoccer.prompt import Prompter
from streamsoccer.record import Ledger
from streamsoccer.retrieval import RetrievalConfig, eligible
from streamsoccer.training.contexts import Contexts, Place, Scene
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.memory_cache import LABELS, OWN
from streamsoccer.training.own_run import OwnEvent, OwnRecords
from streamsoccer.training.recipe import Curriculum, Path3

# --- how often -------------------------------------------------------------------------------------------------------


def test_the_curriculums_ratio_is_the_formula_at_every_step() -> None:
    ratio = Curriculum().ratio
    assert all(ratio(step) == 0.0 for step in range(5_000))
    for step in range(5_000, 10_000):
        exact = Fraction(10, 100) + Fraction(40, 100) * ((step - 5_000) // 250) / 19
        assert abs(Fraction(ratio(step)) - exact) < Fraction(1, 10**15)
    steps = [step for step in range(5_000, 10_000) if ratio(step) != ratio(step - 1)]
    assert steps == list(range(5_000, 10_000, 250))  # twenty levels of 250 steps
    assert (ratio(5_000), ratio(9_750), ratio(9_999), ratio(20_000)) == (0.10, 0.50, 0.50, 0.50)


# --- the ground ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(trained: Ground) -> Corpus:
    return Corpus(trained.data)


def of(trained: Ground, corpus: Corpus, own: Path | None = None, path: Path3 = Path3.CACHE) -> Contexts:
    mine = recipe(trained)
    stage = replace(mine.stage3, path=path)
    records = OwnRecords(own or trained.root / "own")
    return Contexts(corpus, stage, mine.model.buffer, mine.model.retrieval, records)


@pytest.fixture(scope="module")
def contexts(trained: Ground, corpus: Corpus) -> Contexts:
    return of(trained, corpus)


@pytest.fixture(scope="module")
def samples(corpus: Corpus) -> list[SampleRow]:
    found = [each for each in corpus.samples.values() if each.split is not Split.TEST]
    assert {each.track for each in found} == set(Track) and len(found) > 50
    return found


def places(scene: Scene) -> list[Place]:
    return list(scene.places())


def ends(place: Place) -> float:
    """When the last clip of a memory has been seen, as far as a half of whole clips goes."""
    return CLIP_SECONDS * (place.last + 1)


def label_place(corpus: Corpus, name: str) -> Place:
    event = corpus.events[name]
    return Place(match=event.match, half=event.half, first=event.first, last=event.first + event.clips - 1)


def near(event: EventRow, sample: SampleRow) -> bool:
    """Whether it is of the local window: closed by the cutoff, and ended within 180 s of it."""
    return event.available_at <= sample.cutoff and sample.cutoff.seconds - event.end.seconds <= 180


# --- teacher-forced --------------------------------------------------------------------------------------------------


def test_a_taught_context_is_the_manifests_own(contexts: Contexts, corpus: Corpus, samples: list[SampleRow]) -> None:
    for sample in samples:
        scene = contexts.taught(sample)
        assert not scene.own and scene.cutoff.at == sample.cutoff and scene.ranked == ()
        assert scene.completed is not None and scene.completed.memory.event == sample.event
        assert scene.completed.place == label_place(corpus, sample.event)
        local = [each for each in corpus.half(sample.match, sample.half).events if near(each, sample)][-4:]
        assert [each.memory.event for each in scene.selected] == [each.id for each in local]
        assert [each.place for each in scene.selected] == [label_place(corpus, each.id) for each in local]
        if sample.track is not Track.CURRENT:
            assert tuple(each.id for each in local) == sample.local
        if sample.active is None:
            assert scene.active is None
        else:
            assert scene.active is not None
            event, (place, start) = corpus.events[sample.active], scene.active
            assert (place.first, start) == (event.first, event.start)
            assert place.last == round(sample.cutoff.seconds / CLIP_SECONDS) - 1 < event.first + event.clips
        assert scene.match.at == sample.cutoff and scene.match.tally == sample.state and scene.match.sure
        again = contexts.taught(sample)  # nothing is drawn without `chance`
        assert (again.places(), again.local, again.recalled) == (scene.places(), scene.local, scene.recalled)


def test_every_memory_of_a_context_has_been_seen_by_its_cutoff(
    contexts: Contexts, corpus: Corpus, samples: list[SampleRow]
) -> None:
    chance = np.random.default_rng(1)
    for sample in samples:
        for scene in (contexts.taught(sample), contexts.taught(sample, chance), contexts.own(sample, chance)):
            if scene is None:
                continue
            for place in places(scene):
                assert (place.match, place.half) == (sample.match, sample.half)
                assert place.run == LABELS or scene.own
                assert min(ends(place), corpus.half(*half(place)).events[-1].end.seconds) <= sample.cutoff.seconds
            for record in (*scene.records, *(each for each, _ in scene.ranked)):
                assert record.half == sample.half and record.ready_at <= sample.cutoff
                assert sample.cutoff.seconds - record.end.seconds >= 90


def half(place: Place) -> tuple[str, int]:
    return place.match, place.half


def test_reference_records_are_the_latest_positive_and_others_up_to_three(
    contexts: Contexts, samples: list[SampleRow]
) -> None:
    many = set()
    for sample in samples:
        scenes = [contexts.taught(sample), *(contexts.taught(sample, np.random.default_rng(each)) for each in range(3))]
        if sample.track is not Track.HISTORICAL:
            assert not any(scene.records for scene in scenes)
            continue
        eligible_ones = {*sample.candidates, *sample.hard_negatives}
        for scene in scenes:
            names = [each.id for each in scene.records]
            assert sample.positives[-1] in names and len(set(names)) == len(names) <= 3
            assert set(names) <= eligible_ones
            assert len(names) == min(3, len({*sample.positives, *sample.hard_negatives}))
            many.add(len(names))
        assert scenes[0].records[0].id == sample.positives[-1]
    assert 3 in many


def test_rankings_compare_what_the_target_speaks_of_with_what_it_does_not(
    contexts: Contexts, corpus: Corpus, samples: list[SampleRow]
) -> None:
    stage = contexts.stage
    both = 0
    for sample in samples:
        scene = contexts.taught(sample, np.random.default_rng(4))
        local = dict(scene.local)
        assert {place for place, right in local.items() if right} == {
            label_place(corpus, each) for each in sample.local_positives
        }
        assert set(local) <= {label_place(corpus, each) for each in sample.local_candidates}
        assert len(scene.local) == len(local) <= max(stage.local_candidates, len(sample.local_positives))
        recalled = dict(scene.recalled)
        assert len(recalled) == len(scene.recalled) <= stage.retrieval_candidates
        events = {corpus.records[each].event for each in sample.positives}
        for place, right in recalled.items():
            (name,) = [each for each in corpus.events if label_place(corpus, each) == place]
            assert right == (name in events)
            assert sample.cutoff.seconds - corpus.events[name].end.seconds >= 90
        assert bool(recalled) == bool(sample.positives)
        both += bool(recalled) and set(recalled.values()) == {True, False}
    assert both > 5


def test_the_joint_path_compares_fewer_records(trained: Ground, corpus: Corpus, samples: list[SampleRow]) -> None:
    joint = of(trained, corpus, path=Path3.JOINT)
    found = [len(joint.taught(each).recalled) for each in samples if each.positives]
    assert max(found) == joint.stage.joint_candidates < joint.stage.retrieval_candidates


def test_training_hides_the_score_and_marks_it_unsure_as_often_as_the_recipe_says(
    contexts: Contexts, samples: list[SampleRow]
) -> None:
    scenes = [
        contexts.taught(samples[draw % len(samples)], np.random.default_rng([9, draw])).match for draw in range(1200)
    ]
    assert np.mean([each.tally is None for each in scenes]) == pytest.approx(0.1, abs=0.03)
    assert np.mean([not each.sure for each in scenes]) == pytest.approx(0.25, abs=0.04)


# --- the runtime's own -----------------------------------------------------------------------------------------------


def played(events: Sequence[OwnEvent], sample: SampleRow) -> tuple[EventBuffer, Ledger, Tally, list[OwnEvent]]:
    """A match's buffer, ledger, predicted state and completed events at a cutoff, added closure by closure."""
    buffer, ledger, tally, closed = EventBuffer(), Ledger(), Tally(), []
    for event in events:
        if event.available_at > sample.cutoff:
            break
        tally = event.tally
        if event.half != sample.half:
            continue
        memory = event.completed(torch.zeros(9, 4), np.zeros(2, np.float32))
        buffer.add(memory)
        buffer.evict(Cutoff(event.available_at))
        record = event.record(np.zeros(2, np.float32))
        if record is not None:
            ledger.append(record)
        closed.append(event)
    return buffer, ledger, tally, closed


def test_an_own_context_is_what_a_matchs_own_buffer_and_ledger_hold(
    trained: Ground, contexts: Contexts, samples: list[SampleRow]
) -> None:
    records, ranked = OwnRecords(trained.root / "own"), 0
    for sample in samples:
        events, cutoff = records.events(sample.match), Cutoff(sample.cutoff)
        buffer, ledger, tally, closed = played(events, sample)
        scene = contexts.own(sample, np.random.default_rng(2))
        assert scene is not None and scene.own and scene.records == ()
        assert (scene.match.tally, scene.match.sure) == (tally, False)
        chosen = buffer.select(cutoff)
        assert [each.memory.event for each in scene.selected] == [each.event for each in chosen]
        by_name = {each.id: each for each in closed}
        for seen in scene.selected:
            own = by_name[seen.memory.event]
            assert seen.place == Place(match=own.match, half=own.half, first=own.first, last=own.last, run=OWN)
        if closed:
            assert scene.completed is not None and scene.completed.memory.event == closed[-1].id
        going = [
            each
            for each in events
            if each.half == sample.half and each.available_at > sample.cutoff and each.start < sample.cutoff
        ]
        if going:
            assert scene.active is not None and scene.active[0].run == OWN
            assert scene.active[0].first == going[0].first <= scene.active[0].last <= going[0].last + 1
        wanted = ()
        if sample.track is Track.HISTORICAL:
            wanted = tuple(each.id for each in eligible(ledger.ready(cutoff), cutoff, RetrievalConfig()))
        assert tuple(record.id for record, _ in scene.ranked) == wanted
        for record, place in scene.ranked:
            own = by_name[record.event]
            assert (place.first, place.last, place.run) == (own.first, own.last, OWN)
            assert record.text == own.text
        ranked += len(wanted)
    assert ranked > 100


def test_what_the_losses_compare_is_the_same_for_both_contexts(contexts: Contexts, samples: list[SampleRow]) -> None:
    for sample in samples[::7]:
        taught, own = (make(sample, np.random.default_rng(5)) for make in (contexts.taught, contexts.own))
        assert own is not None
        assert (own.local, own.recalled) == (taught.local, taught.recalled)


def test_nothing_after_the_cutoff_reaches_an_own_context(
    trained: Ground, corpus: Corpus, contexts: Contexts, samples: list[SampleRow], tmp_path: Path
) -> None:
    """What the own run said later is replaced by other words: the context has none of them."""
    sample = next(each for each in samples if each.track is Track.HISTORICAL)
    shutil.copytree(trained.root / "own", tmp_path / "own")
    path = tmp_path / "own" / sample.match / "own.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    later = [
        row for row in rows if MatchTime(row["half"], row["available_at"]) > sample.cutoff
    ]  # what is going on at the cutoff is one of them: of it, the first clip alone is known
    assert len(later) > 20
    for row in later:
        row |= {"text": "THE FUTURE", "type": "finish", "actions": ["Goal"], "side": "away"}
        row["match"][1]["goals"] = 9
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, other = (each.own(sample) for each in (contexts, of(trained, corpus, tmp_path / "own")))
    assert one is not None and other is not None
    assert one.ranked and "FUTURE" not in repr(other)
    for name in ("active", "match"):
        assert getattr(one, name) == getattr(other, name)
    assert places(one) == places(other)
    assert [(record.id, record.text) for record, _ in one.ranked] == [
        (record.id, record.text) for record, _ in other.ranked
    ]


def test_a_candidate_of_the_future_is_a_crash(contexts: Contexts, corpus: Corpus, samples: list[SampleRow]) -> None:
    sample = next(each for each in samples if each.track is Track.HISTORICAL)
    events = corpus.half(sample.match, sample.half).events
    future = next(each.id for each in events if each.available_at > sample.cutoff)
    with pytest.raises(FutureLeak):
        contexts.taught(replace(sample, local_candidates=(*sample.local_candidates, future)))
    late = next(
        each.id
        for each in corpus.records.values()
        if (each.match, each.half) == (sample.match, sample.half) and each.available_at > sample.cutoff
    )
    with pytest.raises(FutureLeak):
        contexts.taught(replace(sample, positives=(*sample.positives, late)))


def test_a_record_of_the_future_does_not_get_into_a_prompt(
    trained: Ground, contexts: Contexts, corpus: Corpus, samples: list[SampleRow]
) -> None:
    sample = next(each for each in samples if each.track is Track.HISTORICAL)
    prompter = Prompter(trained.backbone.tokenizer, recipe(trained).model.prompt)
    scene = contexts.taught(sample)

    def tokens(place: Place) -> torch.Tensor:
        return torch.zeros(9, 32)

    assert scene.context(tokens, scene.records, prompter, Scope.FULL).records
    late = replace(scene.records[0], ready_at=MatchTime(sample.half, sample.cutoff.seconds + 4))
    for records in ((late,), (*scene.records, late)):
        with pytest.raises(FutureLeak):
            scene.context(tokens, records, prompter, Scope.FULL)


def test_a_match_that_has_nothing_to_speak_from_has_no_own_context(
    contexts: Contexts, samples: list[SampleRow]
) -> None:
    sample = next(each for each in samples if each.track is Track.CURRENT)
    early = replace(sample, cutoff=MatchTime(sample.half, 4.0), local=(), local_candidates=(), local_positives=())
    assert contexts.own(early, None) is None
    assert Contexts(contexts.corpus, contexts.stage, contexts.buffer, contexts.retrieval).own(sample) is None

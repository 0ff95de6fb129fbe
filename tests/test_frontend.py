"""The front end's scores: transitions, event types and clip actions against labels, and the ceiling beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsoccer.actions import EventType, Label
from streamsoccer.clock import MatchTime
from streamsoccer.data.eventizer import clip_end, eventize, transitions
from streamsoccer.domain import Action, EventRow, Mask, Side, Split, event_id
from streamsoccer.errors import DataError
from streamsoccer.evaluation.frontend import (
    HalfRun,
    Span,
    pair_spans,
    score_front_end,
    score_transitions,
    transition_rows,
    visible_ceiling,
)
from streamsoccer.evaluation.precision import mean_average_precision, precision_counts
from streamsoccer.heads import ACTIONS
from streamsoccer.training.corpus import Corpus, Half


def flags(text: str) -> np.ndarray:
    return np.array([each == "1" for each in text])


def half(marks: list[tuple[float, Label, Side, bool]], seconds: float = 120.0, match: str = "l/s/a") -> Half:
    """A half as the manifests give it, from its actions."""
    actions = [
        Action(label=label, side=side, at=MatchTime(1, at), available_at=MatchTime(1, at + 4), visible=shown)
        for at, label, side, shown in marks
    ]
    events = eventize(actions, seconds)
    targets = transitions(events)
    rows = tuple(
        EventRow(
            **{name: getattr(each, name) for name in each.__slots__},
            split=Split.TEST,
            id=event_id(match, 1, each.start.seconds),
            match=match,
            index=place,
        )
        for place, each in enumerate(events)
    )
    clips = sum(each.clips for each in events)
    held = np.zeros((clips, len(ACTIONS)), dtype=bool)
    for each in actions:
        held[int(each.at.seconds // 4), ACTIONS.index(each.label)] = True
    reset = np.zeros(clips, dtype=bool)
    reset[[each.first for each in events]] = True
    assert rows[-1].end.seconds == clip_end(clips - 1, seconds)
    return Half(
        split=Split.TEST,
        match=match,
        half=1,
        transition=np.array([target == 1 for target, _ in targets]),
        learn=np.array([mask is None for _, mask in targets]),
        reset=reset,
        actions=held,
        events=rows,
    )


PLAY = [
    (1.0, Label.KICK_OFF, Side.HOME, True),
    (30.0, Label.SHOT_OFF_TARGET, Side.HOME, True),
    (38.0, Label.CORNER, Side.AWAY, True),
    (70.0, Label.FOUL, Side.AWAY, False),
    (90.0, Label.THROW_IN, Side.HOME, True),
]


def perfect(mine: Half, scores: bool = False) -> HalfRun:
    spans = tuple(
        Span(first=each.first, last=each.first + each.clips - 1, type=each.type, side=each.side) for each in mine.events
    )
    return HalfRun(
        half=mine,
        transition=mine.transition.copy(),
        spans=spans,
        given=spans,
        actions=mine.actions.astype(float) if scores else None,
    )


def test_transitions_are_matched_exactly_within_one_clip_and_forgivingly() -> None:
    learn = np.ones(8, dtype=bool)
    counts = transition_rows(flags("01000100"), flags("00100100"), learn)
    assert counts.tolist() == [1, 1, 1, 2, 0, 0, 1, 0, 0]
    # One prediction stands for one target alone: of two next to it one is missed, which only the third forgives.
    counts = transition_rows(flags("00100000"), flags("01010000"), learn)
    assert counts.tolist() == [0, 1, 2, 1, 0, 1, 0, 0, 0]
    # Two apart is apart.
    assert transition_rows(flags("10000000"), flags("00100000"), learn).tolist() == [0, 1, 1, 0, 1, 1, 0, 1, 1]


def test_masked_clips_are_neither_right_nor_wrong() -> None:
    counts = transition_rows(flags("10010000"), flags("00000000"), flags("01101111"))
    assert counts.tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(DataError, match="predictions for"):
        transition_rows(flags("1"), flags("11"), flags("11"))


def test_a_perfect_front_end_scores_one_and_a_silent_one_nothing() -> None:
    mine = half(PLAY)
    score = score_front_end([perfect(mine, scores=True)])
    for name in ("transition_f1_exact", "event_type_macro_f1", "event_side_accuracy", "clip_action_map"):
        assert score.values[name] == 1.0, name
    assert not score.intervals  # of one match there is none
    silent = replace(perfect(mine), transition=np.zeros(mine.clips, dtype=bool))
    assert score_transitions([silent])["transition_f1_exact"] == 0.0


def test_own_events_stand_for_the_label_events_that_they_share_most_clips_with() -> None:
    def span(first: int, last: int) -> Span:
        return Span(first=first, last=last, type=EventType.OPEN_PLAY)

    labels = [span(0, 5), span(6, 7), span(8, 13)]
    assert pair_spans([span(0, 6), span(7, 13)], labels) == [(0, 0), (1, 2)]
    assert pair_spans([span(0, 13)], labels) == [(0, 0)]  # six clips with the first and the last: the earlier
    assert pair_spans([span(0, 2), span(3, 5), span(6, 13)], labels) == [(0, 0), (2, 2)]
    assert pair_spans([], labels) == []


def test_event_types_count_what_is_missed_and_what_is_too_much() -> None:
    mine = half([(10.0, Label.CORNER, Side.HOME, True), (60.0, Label.FOUL, Side.AWAY, True)], seconds=80.0)
    kinds = [each.type for each in mine.events]
    assert kinds == [
        EventType.OPEN_PLAY,
        EventType.SET_PIECE,
        EventType.OPEN_PLAY,
        EventType.FOUL_OR_OFFSIDE,
        EventType.END_OF_PERIOD,
    ]
    run = perfect(mine)
    wrong = replace(run.spans[1], type=EventType.FOUL_OR_OFFSIDE)
    score = score_front_end([replace(run, spans=(run.spans[0], wrong, *run.spans[2:]), given=())])
    assert score.by_type["set_piece"]["f1"] == 0.0
    assert score.by_type["foul_or_offside"]["f1"] == pytest.approx(2 / 3)
    assert score.values["event_type_macro_f1"] == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert "event_given_boundaries_type_macro_f1" not in score.values
    # Whatever the event at the half's end is taken for: the control type is known, not seen, and is not counted.
    named = (*run.spans[:4], replace(run.spans[4], type=EventType.FINISH))
    assert score_front_end([replace(run, spans=named)]).values["event_type_macro_f1"] == 1.0
    # An own event too much is wrong, one too few is missed.
    extra = score_front_end([replace(run, spans=(*run.spans, run.spans[3]))])
    assert extra.by_type["foul_or_offside"] == pytest.approx({"f1": 2 / 3, "precision": 0.5, "recall": 1, "events": 1})
    fewer = score_front_end([replace(run, spans=(*run.spans[:3], run.spans[4]))])
    assert fewer.by_type["foul_or_offside"]["recall"] == 0.0


def test_average_precision_by_hand_and_with_ties() -> None:
    def average(scores: list[float], target: str) -> float:
        counts = precision_counts(np.array(scores), flags(target), ["m"] * len(scores))
        return float(counts.average(np.ones((1, 1)))[0])

    assert average([4, 3, 2, 1], "1010") == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert average([1, 1, 1, 1], "1010") == pytest.approx(2 / 4)  # nothing is told apart: the base rate
    assert average([2, 1, 1, 0], "0110") == pytest.approx(2 / 3)


def test_a_match_drawn_twice_counts_as_if_it_stood_there_twice() -> None:
    chance = np.random.default_rng(3)
    scores, target = chance.normal(size=60).round(1), chance.random(60) < 0.3
    owner = [f"m{place % 3}" for place in range(60)]
    counts = precision_counts(scores, target, owner)
    mine = np.array([place % 3 == 1 for place in range(60)])
    other = np.array([place % 3 == 0 for place in range(60)])
    twice = precision_counts(
        np.concatenate([scores[mine], scores[mine], scores[other]]),
        np.concatenate([target[mine], target[mine], target[other]]),
        ["x"] * 60,
    )
    drawn = np.array([[1.0, 2.0, 0.0]])
    assert counts.average(drawn) == pytest.approx(twice.average(np.ones((1, 1))))
    assert mean_average_precision([counts, counts], drawn) == pytest.approx(counts.average(drawn))
    assert np.isnan(precision_counts(scores, np.array(owner) == "m0", owner).average(np.array([[0.0, 1.0, 1.0]]))).all()


def test_intervals_resample_matches() -> None:
    runs = []
    for place in range(6):
        mine = half(PLAY, match=f"l/s/{place}")
        run = perfect(mine, scores=True)
        lost = mine.transition & (np.arange(mine.clips) % 6 != place)
        runs.append(replace(run, transition=lost))
    score = score_front_end(runs, replicates=300)
    interval = score.intervals["transition_f1_exact"]
    assert interval.low < score.values["transition_f1_exact"] <= interval.high
    assert interval.clusters == 6 and interval.estimate == pytest.approx(score.values["transition_f1_exact"])
    assert score.intervals["clip_action_map"].low == 1.0


def test_the_ceiling_sees_what_is_shown_and_no_more() -> None:
    mine = half(PLAY)
    (run,) = visible_ceiling([mine])
    hidden = next(place for place, each in enumerate(mine.events) if each.type is EventType.FOUL_OR_OFFSIDE)
    assert run.given[hidden].type is EventType.OPEN_PLAY
    assert [each.type for at, each in enumerate(run.given[:-1]) if at != hidden] == [
        each.type for at, each in enumerate(mine.events[:-1]) if at != hidden
    ]
    everything = [(at, label, side, True) for at, label, side, _ in PLAY]
    score = score_front_end(visible_ceiling([half(everything)]))
    assert score.values["transition_f1_exact"] == score.values["event_type_macro_f1"] == 1.0
    assert score_transitions([run])["transition_f1_exact"] < 1.0
    assert mine.learn.sum() < mine.clips and Mask.ROLLOVER in {mask for _, mask in transitions(list(mine.events))}


def test_the_ceiling_on_real_matches_is_the_one_measured_by_another_program(soccernet: Path, tmp_path: Path) -> None:
    from streamsoccer.data.pipeline import build

    build(soccernet, tmp_path)
    values = score_transitions(visible_ceiling(Corpus(tmp_path).halves.values()))
    assert values["transition_f1_exact"] == pytest.approx(0.909, abs=0.001)
    assert values["transition_f1_forgiving"] == pytest.approx(0.927, abs=0.001)


# --- runs of a trained stage 1 ---------------------------------------------------------------------------------------


def small_encoder() -> Any:
    import torch

    from streamsoccer.adapter import AdapterConfig
    from streamsoccer.encoder import EventEncoder
    from streamsoccer.heads import HeadsConfig
    from streamsoccer.memory import MemoryConfig
    from streamsoccer.transition import TransitionConfig

    torch.manual_seed(4)
    made = EventEncoder(
        12,
        AdapterConfig(width=32, tokens=3, layers=1, heads=4),
        MemoryConfig(heads=4),
        TransitionConfig(heads=4),
        HeadsConfig(heads=4, retrieval_width=8),
    )
    torch.nn.init.normal_(made.transition.decide[-1].weight, std=2.0)  # so that it decides something
    return made.eval()


def write_cache(folder: Path, encoder: Any, halves: list[Half]) -> Any:
    """A memory cache of made-up event tokens, its own run with the encoder's own threshold."""
    import json

    import torch
    from safetensors.torch import save_file

    from streamsoccer.training.memory_cache import MemoryCache

    torch.manual_seed(9)
    folder.mkdir()
    header = {"encoder": "e", "backbone": "b", "clips": "c", "threshold": "0.5", "dtype": "float32"}
    (folder / "cache.json").write_text(json.dumps(header))
    for each in halves:
        tokens, actions = torch.randn(1, each.clips, 3, 32), torch.randn(1, each.clips, len(ACTIONS))
        with torch.no_grad():
            taught = encoder.whole(tokens, actions, torch.from_numpy(each.reset)[None])
            arrived = torch.ones(1, each.clips, dtype=torch.bool)
            _, own = encoder.roll(tokens, actions, encoder.start(1), arrived)
            _, kinds, sides = encoder.event_heads(own.memory[0])
        path = folder / each.match / f"{each.half}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        held = {
            "event_tokens": tokens[0],
            "memory.labels": taught.memory[0],
            "memory.own": own.memory[0],
            "reset.labels": taught.reset[0],
            "reset.own": own.reset[0],
            "transition": own.transition[0],
            "clip_actions": actions[0],
            "event_type": kinds,
            "event_side": sides,
        }
        save_file({name: value.contiguous() for name, value in held.items()}, str(path))
    return MemoryCache(folder)


def test_a_run_rolled_anew_is_the_cached_one_and_the_threshold_is_chosen_on_given_halves(tmp_path: Path) -> None:
    from streamsoccer.evaluation.own_run import cached_runs, choose_threshold, rolled_runs

    encoder = small_encoder()
    halves = [half(PLAY, match="l/s/a"), half(PLAY, seconds=200.0, match="l/s/b")]
    cache = write_cache(tmp_path / "cache", encoder, halves)
    cached, rolled = cached_runs(cache, halves), rolled_runs(encoder, cache, halves)
    for mine, other in zip(cached, rolled, strict=True):
        assert mine.half is other.half and mine.spans == other.spans
        assert (mine.transition == other.transition).all() and np.allclose(mine.actions, other.actions)
        assert [each.first for each in other.given] == [each.first for each in other.half.events]
    assert any(each.transition.any() for each in cached)
    choice = choose_threshold(encoder, cache, halves, thresholds=(0.1, 0.5, 0.99))
    best = max(each["transition_f1_exact"] for each in choice.curve.values())
    assert choice.curve[choice.threshold]["transition_f1_exact"] == best
    assert encoder.transition.config.threshold == 0.5  # a sweep leaves the model as it was
    never = rolled_runs(encoder, cache, halves, threshold=1.0, given=False)
    assert not any(each.transition.any() for each in never)
    assert all(each.spans[0].last == 5 for each in never)  # the safeguard alone


def test_a_half_that_is_not_cached_is_named(tmp_path: Path) -> None:
    from streamsoccer.evaluation.own_run import cached_runs

    cache = write_cache(tmp_path / "cache", small_encoder(), [half(PLAY)])
    with pytest.raises(DataError, match="l/s/other, half 1"):
        cached_runs(cache, [half(PLAY, match="l/s/other")])
    with pytest.raises(DataError, match="30 clips, the manifests have 50"):
        cached_runs(cache, [half(PLAY, seconds=200.0)])


def test_the_command_scores_a_cache_beside_its_ceiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    from small_corpus import write_corpus
    from streamsoccer.cli import main
    from streamsoccer.data.pipeline import build

    write_corpus(tmp_path / "games", matches=4)
    matches = sorted({each.parent for each in (tmp_path / "games").rglob("Labels-v2.json")})
    names = [each.relative_to(tmp_path / "games").as_posix() for each in matches]
    split = {"train": names[:1], "validation": names[1:2], "test": names[2:]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    build(tmp_path / "games", tmp_path / "build", split_file=tmp_path / "split.json")
    corpus = Corpus(tmp_path / "build")
    encoder = small_encoder()
    write_cache(tmp_path / "cache", encoder, list(corpus.halves.values()))
    command = ["evaluate", "frontend", str(tmp_path / "build"), str(tmp_path / "cache"), "--replicates", "200"]
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["matches"] == 2 and report["threshold"] == 0.5
    assert 0 <= report["transition_f1_exact"] < report["ceiling"]["transition_f1_exact"] == 1.0
    assert report["intervals"]["transition_f1_exact"]["clusters"] == 2
    with pytest.raises(SystemExit, match="0"):
        main(command)
    assert "transition_f1_within_one" in capsys.readouterr().out

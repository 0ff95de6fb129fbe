"""The laboratory: figures over seeds by hand, paired comparisons, targets, tables and examples of a course by hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsoccer.cli import main
from streamsoccer.clock import MatchTime
from streamsoccer.domain import Placeholder, Side, Track
from streamsoccer.errors import DataError
from streamsoccer.evaluation.bootstrap import cluster_difference, cluster_interval, mean_of_sums
from streamsoccer.evaluation.examples import draw, write_examples
from streamsoccer.evaluation.facts import TruthBook
from streamsoccer.evaluation.laboratory import Asked, Key, Laboratory, orderings
from streamsoccer.evaluation.laboratory_figures import laboratory_figures
from streamsoccer.evaluation.laboratory_tables import laboratory_tables
from streamsoccer.evaluation.metrics import Metric, means
from streamsoccer.evaluation.pooled import Pooled
from streamsoccer.evaluation.predictions import (
    OWN,
    TAUGHT,
    Prediction,
    ReplayHeader,
    Retrieved,
    name_of,
    write_header,
    write_rows,
)
from streamsoccer.evaluation.ranking import Query, chance_rows, query_rows
from test_facts import row

MATCHES = ("l/s/a", "l/s/b", "l/s/c")
FEW = Asked(replicates=200, metrics=(Metric.TOK_F1,))

# --- over seeds ------------------------------------------------------------------------------------------------------


def pooled(*scores: Sequence[float], clusters: Sequence[str] = ("a", "a", "b", "c")) -> Pooled:
    names = [f"x{at}" for at in range(len(clusters))]
    tables = {seed: (names, clusters, means(np.array(each)).rows) for seed, each in enumerate(scores, start=1)}
    return Pooled.of(tables, mean_of_sums)


def test_the_mean_of_seeds_is_scored_on_the_same_draws() -> None:
    found = pooled([1, 0, 1, 0], [0, 0, 1, 1]).figure(replicates=500, seed=4)
    assert (found.mean, found.seeds) == (0.5, {1: 0.5, 2: 0.5})
    both = means(np.array([0.5, 0.0, 1.0, 0.5])).rows  # every anchor's mean over the seeds: the mean is linear here
    slow = cluster_interval(both, clusters=["a", "a", "b", "c"], replicates=500, seed=4)
    assert (found.low, found.high) == pytest.approx((slow.low, slow.high))
    assert pooled([1, 0, 1, 0], [0, 0, 1, 1]).figure(replicates=500, seed=4) == found
    alone = pooled([1, 0, 0, 1], clusters=["a"] * 4).figure()
    assert (alone.mean, alone.low, alone.high, alone.above) == (0.5, None, None, False)


def test_a_difference_is_paired_by_match_and_by_seed() -> None:
    first, second = pooled([1, 1, 1, 0], [1, 0, 1, 1]), pooled([0, 1, 0, 0], [1, 0, 0, 0])
    found = first.minus(second, replicates=500, seed=1)
    assert (found.mean, found.seeds) == (0.5, {1: 0.5, 2: 0.5})
    one = np.array([1, 0.5, 1, 0.5])
    other = np.array([0.5, 0.5, 0, 0])
    names, owners = ["x0", "x1", "x2", "x3"], ["a", "a", "b", "c"]
    slow = cluster_difference(
        means(one).rows, means(other).rows, anchors=names, other_anchors=names, clusters=owners, other_clusters=owners,
        replicates=500, seed=1,
    )  # fmt: skip
    assert (found.low, found.high) == pytest.approx((slow.low, slow.high))
    assert found.above and not first.minus(first).above
    fewer = pooled([1, 1, 1, 0]).minus(second)  # of the seed that both have
    assert fewer.seeds == {1: 0.5} and fewer == first.of_seeds([1]).minus(second.of_seeds([1]))
    with pytest.raises(DataError, match="none in common"):
        first.of_seeds([1]).minus(second.of_seeds([2]))


def test_seeds_may_come_in_another_order_but_not_with_other_anchors() -> None:
    rows = means(np.array([1.0, 2.0, 3.0])).rows
    found = Pooled.of(
        {4: (["p", "q", "r"], ["a", "a", "b"], rows), 7: (["r", "p", "q"], ["b", "a", "a"], rows[[2, 0, 1]])},
        mean_of_sums,
    )
    assert np.array_equal(found.rows[0], found.rows[1])
    assert found.only({"p", "r"}).figure(replicates=10).seeds == {4: 2.0, 7: 2.0}
    with pytest.raises(DataError, match="other anchors"):
        Pooled.of({1: (["p", "q"], ["a", "a"], rows[:2]), 2: (["p", "r"], ["a", "a"], rows[:2])}, mean_of_sums)
    with pytest.raises(DataError, match="different matches"):
        Pooled.of({1: (["p", "q"], ["a", "a"], rows[:2]), 2: (["p", "q"], ["a", "b"], rows[:2])}, mean_of_sums)


def test_a_query_adds_its_positives_and_a_lot_finds_some_of_them() -> None:
    def query(name: str, ranked: str, positives: str) -> Query:
        return Query(
            id=name, match="a", ranked=tuple(ranked), eligible=frozenset(ranked), positives=frozenset(positives)
        )

    asked = [query("1", "abcdef", "bf"), query("2", "abc", "z"), query("3", "ab", "a")]
    rows = query_rows(asked)
    assert rows["r@3"].tolist() == [[1, 2], [0, 0], [1, 1]]
    assert rows["mrr"].tolist() == [[0.5, 1], [0, 0], [1, 1]]
    assert query_rows(asked, strict=True)["r@3"].tolist() == [[1, 2], [0, 1], [1, 1]]
    assert chance_rows(asked).tolist() == [[1.0, 2], [0, 0], [1.0, 1]]


# --- a course by hand ------------------------------------------------------------------------------------------------

SAID = {  # who says the truth: everything but what is worse on purpose
    "good": "[PLAYER] ([TEAM]) takes the corner.",
    "bad": "[PLAYER] ([TEAM]) commits a foul.",
    "reference": "[PLAYER] ([TEAM]) takes the corner now.",
}


def predictions(track: str, quality: float, seed: int) -> list[Prediction]:
    """Two anchors a match on corners of the away side; a share of the lines is wrong."""
    found = []
    for match in MATCHES:
        for at in (100.0, 700.0):
            name = f"{match}#1:{at:g}:{track}"
            good = np.random.default_rng([seed, len(found), len(track)]).random() < quality
            found.append(
                Prediction(
                    id=name,
                    match=match,
                    track=track,
                    cutoff=MatchTime(1, at + 12),
                    anchor=at,
                    start=at,
                    reference=SAID["reference"],
                    reference_placeholders=sides(),
                    text=SAID["good" if good else "bad"],
                    placeholders=sides(),
                )
            )
    return found


def sides() -> tuple[Placeholder, ...]:
    return tuple(Placeholder(token=each, side=Side.AWAY) for each in ("[PLAYER]", "[TEAM]"))


def write_run(out: Path, name: str, stage: str, variant: str, seed: int, quality: dict[str, float]) -> None:
    tracks = ["record"] if stage == "records" else list(Track)
    header = ReplayHeader(
        stage=stage, split="test", run={"encoder": f"{seed}"}, data={}, seed=seed, step=9, train_matches=8,
        scope="" if stage == "records" else variant, representation=variant if stage == "records" else "recurrent",
        anchors=dict.fromkeys(map(str, tracks), 6),
    )  # fmt: skip
    folder = out / "said" / name
    write_header(folder, header)
    for condition in (OWN, TAUGHT):
        for change, value in quality.items():
            lines = [
                each
                for track in tracks
                if track == "historical" or not change.startswith("records-")
                for each in predictions(str(track), value, seed)
            ]
            write_rows(folder, name_of(condition, change), lines)
        if variant == "full":
            queries = [
                Retrieved(id=each.id, match=each.match, ranked=tuple("abcdef"), positives=("c",) if at % 2 else ("f",))
                for at, each in enumerate(predictions("historical", 1.0, seed))
            ]
            write_rows(folder, name_of(condition, "retrieval"), queries)


def counts(right: int, wrong: int, missed: int) -> dict[str, dict[str, list[float]]]:
    """A front end's sums, the same in every match: 9 of transitions, and types of which one occurs."""
    events = np.zeros(3 * 7 + 5)
    events[:3], events[-5:] = (right, wrong, missed), (right, right + missed, 0, 0, 9)
    return {
        "transition": {match: [float(each) for each in (right, wrong, missed) * 3] for match in MATCHES},
        "event": {match: events.tolist() for match in MATCHES},
    }


def write_front(path: Path, right: int, wrong: int, missed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {
        "matches": 3, "clips": 30, "threshold": 0.4, "clip_action_map": 0.5, "sums": counts(right, wrong, missed),
        "by_type": {"finish": {"f1": 0.5, "events": 6.0}}, "by_action": {"Goal": {"ap": 0.25, "positives": 3.0}},
        "intervals": {"clip_action_map": {"low": 0.4, "high": 0.6}}, "ceiling": {"sums": counts(9, 1, 1)},
    }  # fmt: skip
    path.write_text(json.dumps(report))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Three seeds: the model is right nine times in ten, what it is compared with is not."""
    out, league = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("league")
    deeds = [row(0.0, "kick_off", "home", "Kick-off"), row(100.0, "corner", "away", "Corner")]
    deeds += [row(700.0, "corner", "away", "Corner")]
    for match in MATCHES:
        (league / match).mkdir(parents=True)
        (league / match / "1_truth.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in deeds))
    for seed in (1, 2, 3):
        for variant, share in (("recurrent", 1.0), ("event_pool", 0.5), ("fixed_pool", 0.0)):
            write_run(out, f"s{seed}-records-{variant}", "records", variant, seed, {"": share})
        changes = {"": 1.0, "shuffled": 0.0, "blind": 0.2, "records-ranked": 1.0, "records-hard": 0.0}
        write_run(out, f"s{seed}-commentary-full", "commentary", "full", seed, changes)
        write_run(out, f"s{seed}-commentary-local", "commentary", "local", seed, {"": 0.5})
        write_front(out / f"s{seed}" / "frontend.json", 7 + seed, 2, 2)
        look(out / f"s{seed}" / "memory", 0.7 + 0.01 * seed)
    write_front(out / "through" / "files.json", 8, 2, 2)
    write_front(out / "through" / "frames.json", 9, 2, 2)
    look(out / "g4" / "memory", 0.5)
    (out / "done").mkdir()
    (out / "done" / "backbone").write_text("12.5\n")
    return out, league


def look(folder: Path, value: float) -> None:
    folder.mkdir(parents=True)
    rows = [{"step": 1, "validation": {"transition_f1_exact": 0.1}}, {"step": 2}]
    rows.append({"step": 3, "validation": {"transition_f1_exact": value, "ap/Goal": 0.3}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_figures_of_a_course_are_those_of_its_lines(course: tuple[Path, Path]) -> None:
    out, league = course
    found = laboratory_figures(out, league, FEW)
    assert found["course"]["seeds"] == [1, 2, 3] and found["course"]["anchors"]["all"] == 18
    assert found["course"]["train_matches"] == 8 and found["seconds"] == {"backbone": 12.5}
    full = found["lines"][TAUGHT]["full"]["current"]
    assert full["anchors"] == 6 and full["with_words"]["mean"] == 1.0
    assert full["tok_f1"]["mean"] == pytest.approx(2 * 4 / 11, abs=1e-6)  # 'corner.' is not 'corner', 'now.' is more
    assert full["fact_precision"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "seeds": {"1": 1.0, "2": 1.0, "3": 1.0}}
    assert full["claims_a_line"]["mean"] == 1.0
    worst = found["lines"][OWN]["fixed_pool"]["record"]
    assert worst["fact_precision"]["mean"] == 0.0 and worst["claims_a_line"]["mean"] == 1.0
    assert found["references"]["current"] == {"fact_precision": 1.0, "claims_a_line": 1.0, "lines": 6}
    changes = {(each["track"], each["condition"], each["change"]) for each in found["changes"]}
    assert ("historical", OWN, "records-hard") in changes and ("current", OWN, "records-hard") not in changes
    corners = {"agrees": 18, "contradicts": 0, "unknown": 0}  # three seeds, six lines, of the model itself
    assert found["claims"][OWN]["record"] == {"action: corner": corners}
    assert found["missing"] == []


def test_a_front_end_is_the_mean_of_its_seeds_beside_its_ceiling_and_its_films(course: tuple[Path, Path]) -> None:
    front = laboratory_figures(*course, FEW, through=course[0] / "through")["front_end"]
    by_hand = [2 * right / (2 * right + 4) for right in (8, 9, 10)]
    exact = front["figures"]["transition_f1_exact"]
    assert list(exact["seeds"].values()) == pytest.approx(by_hand, abs=1e-6)
    assert exact["mean"] == pytest.approx(np.mean(by_hand), abs=1e-6) and exact["low"] == pytest.approx(exact["high"])
    assert front["ceiling"]["transition_f1_exact"]["mean"] == 0.9
    lost = front["files"]["transition_f1_exact"]["difference"]
    assert lost["mean"] == pytest.approx(16 / 20 - 18 / 22, abs=1e-6) and list(lost["seeds"].values()) == [lost["mean"]]
    assert front["figures"]["clip_action_map"]["intervals"] == [[0.4, 0.6]] * 3
    assert front["by_action"]["Goal"] == {"ap": 0.25, "seeds": [0.25] * 3, "positives": 3.0}


def test_orderings_hold_where_their_interval_lies_above_zero(course: tuple[Path, Path]) -> None:
    lab = Laboratory(*course, FEW)
    found = {(each.claim, each.track, each.condition): each for each in orderings(lab)}
    best = found["recurrent > fixed_pool", "record", TAUGHT]
    assert best.differences["fact_precision"].mean == 1.0 and "tok_f1" in best.holds and best.anchors == 6
    shuffled = found["full > shuffled memory", "current", OWN]
    assert shuffled.expected and "fact_precision" in shuffled.holds
    assert not found["full > shuffled memory", "recent", OWN].expected
    hard = found["ranked records > matched hard negatives", "historical", TAUGHT]
    assert hard.differences["fact_precision"].mean == 1.0
    oracle = found["reference records > ranked records", "historical", TAUGHT]  # the same lines
    assert oracle.differences["tok_f1"].mean == 0.0 and not oracle.holds and not oracle.expected
    half = lab.figures(Key(variant="local", track="current", condition=OWN))["fact_precision"]
    assert found["full > local", "current", OWN].differences["fact_precision"].mean == pytest.approx(1 - half.mean)


def test_what_was_asked_for_is_held_against_what_was_measured(course: tuple[Path, Path]) -> None:
    figures = laboratory_figures(*course, FEW, through=course[0] / "through")
    found = {each["name"]: each for each in figures["targets"]}
    assert found["transition F1, exact"]["holds"] and found["fact_precision, current, own"]["holds"]
    assert not found["claims_a_line, current, own"]["holds"]  # one claim, not one and a half
    assert found["encoded files less frames, transition_f1_exact"]["holds"]  # 0.018 of the 0.03 allowed
    assert found["retrieval R@3, taught"]["mean"] == 0.5 and not found["retrieval R@3, taught"]["holds"]


def test_growth_and_retrieval_stand_beside(course: tuple[Path, Path]) -> None:
    found = laboratory_figures(*course, FEW)
    assert [(each["train_matches"], each["transition_f1_exact"]) for each in found["growth"]] == [
        (4, [0.5]),
        (8, [0.71, 0.72, 0.73]),
    ]
    taught = found["retrieval"][TAUGHT]
    assert taught["r@3"]["mean"] == 0.5 and taught["r@3_by_lot"]["mean"] == 0.5 and taught["queries"] == [6, 6, 6]
    assert {each["threshold"] for each in found["growth"]} == {"that of training"}
    assert taught["mrr"]["mean"] == pytest.approx((1 / 3 + 1 / 6) / 2, abs=1e-6)


def test_growth_is_told_at_the_best_threshold_where_every_run_was_swept(
    course: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(course[0], out)
    for at, name in enumerate(("g4", "s1", "s2", "s3")):
        (out / name / "sweep.json").write_text(json.dumps({"transition_f1_exact": 0.5 + 0.1 * at}))
    found = laboratory_figures(out, course[1], replace(FEW, replicates=20))["growth"]
    assert [(each["threshold"], each["transition_f1_exact"]) for each in found] == [
        ("the best", [0.5]),
        ("the best", [0.6, 0.7, 0.8]),
    ]


def test_tables_print_every_figure_and_files_hold_them(
    course: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamsoccer.evaluation.text.find_java", lambda: None)  # METEOR is absent, and never 0
    out, league = map(str, course)
    probe = tmp_path / "probe.json"
    probe.write_text(json.dumps({"figures": {"exact": 0.31, "within one clip": 0.42}}))
    where = tmp_path / "docs" / "mini.json"
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", "laboratory", out, league, "--to", str(where), "--probe", str(probe), "--replicates", "50"])
    written = json.loads(where.read_text())
    printed = capsys.readouterr().out
    assert set(written) == {"figures", "command", "commit", "machine", "date"}
    assert printed.strip() == laboratory_tables(written["figures"]).strip()
    assert "meteor" not in written["figures"]["lines"][OWN]["full"]["current"]
    for part in ("recurrent > event_pool", "| 0.4200 |", "retrieval R@3, own", "| record: recurrent |", "Growth"):
        assert part in printed, part


def test_a_course_that_is_not_whole_says_what_is_missing(course: tuple[Path, Path], tmp_path: Path) -> None:
    out, league = course
    part = tmp_path / "part"
    shutil.copytree(out, part)
    (part / "s2" / "frontend.json").unlink()
    shutil.rmtree(part / "s3" / "memory")
    shutil.rmtree(part / "said" / "s3-commentary-local")
    (part / "said" / "s1-records-event_pool" / "taught.jsonl").unlink()
    found = laboratory_figures(part, league, replace(FEW, replicates=20))
    assert found["missing"] == ["s2/frontend.json", "s3/memory/metrics.jsonl"]
    assert found["course"]["runs"]["local"] == [1, 2] and found["course"]["runs"]["full"] == [1, 2, 3]
    assert set(found["front_end"]["figures"]["transition_f1_exact"]["seeds"]) == {"1", "3"}
    orders = {(each["claim"], each["track"], each["condition"]): each for each in found["orderings"]}
    for claim, track, seeds in (("full > local", "recent", "12"), ("recurrent > event_pool", "record", "23")):
        assert set(orders[claim, track, TAUGHT]["differences"]["tok_f1"]["seeds"]) == set(seeds)
    assert "Missing: s2/frontend.json" in laboratory_tables(found)
    for seed in (1, 3):
        (part / f"s{seed}" / "frontend.json").unlink()
    found = laboratory_figures(part, league, replace(FEW, replicates=20), through=part / "through")
    assert set(found["front_end"]) == {"files"} and "### Front end" not in laboratory_tables(found)
    with pytest.raises(DataError, match="no lines of any run"):
        Laboratory(tmp_path, league, FEW)


# --- examples --------------------------------------------------------------------------------------------------------


def test_lines_to_be_read_are_drawn_by_lot_and_the_worst_come_first_among_the_bad(
    course: tuple[Path, Path], tmp_path: Path
) -> None:
    out, league = course
    book = TruthBook(league)
    lines = predictions("record", 0.5, 1)
    drawn = draw(lines, book, 4, seed=5)
    assert [each.said.id for each in drawn] == [each.said.id for each in draw(lines, book, 4, seed=5)]
    assert [each.said.id for each in drawn] == sorted(each.said.id for each in drawn)
    good, bad = (draw([replace(lines[0], text=SAID[name])], book, 1)[0] for name in ("good", "bad"))
    assert good.merit > bad.merit and len(bad.wrong) == 1 and not good.wrong
    made = write_examples([out / "said" / "s1-records-event_pool"], league, tmp_path, condition=OWN, count=6, ends=2)
    assert [each.name for each in made] == ["record.md", "card.md"]
    card = made[1].read_text()
    assert card.index("### record: good") < card.index("### record: bad") and "contradicts: action" in card
    assert "**[AWAY PLAYER] ([AWAY TEAM]) takes the corner.**" in card

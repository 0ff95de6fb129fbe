"""Dense captioning as SoccerNet-Caption scores it: pairs by overlap, halves apart, nothing random, nothing dropped."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsoccer.cli import main
from streamsoccer.errors import DataError
from streamsoccer.evaluation.dense import TimedCaption, evaluate_dense, overlap, score_dense
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.tokenise import find_java
from text_pairs import real_looking_pairs

needs_java = pytest.mark.skipif(find_java() is None, reason="needs a Java runtime, and there is none on this machine")
GAMES = ("england_epl/2014-2015/one", "italy_serie-a/2015-2016/two")


def timed(count: int, seed: int) -> tuple[list[TimedCaption], list[TimedCaption]]:
    """References through a half, and predictions near some of them; some far from all, some near two."""
    draw = random.Random(seed)
    heard, said = real_looking_pairs(count, seed)
    at = sorted(draw.randrange(2700) for _ in range(count))
    references = [TimedCaption(t, text[0]) for t, text in zip(at, said, strict=True)]
    predictions = [TimedCaption(max(0, t + draw.randint(-60, 60)), text) for t, text in zip(at, heard, strict=True)]
    return sorted(predictions[::2], key=lambda caption: caption.seconds), references


@pytest.fixture(autouse=True)
def no_meteor(monkeypatch: pytest.MonkeyPatch) -> None:
    """METEOR takes seconds to start, and test_metrics.py holds it to its package."""
    monkeypatch.setattr("streamsoccer.evaluation.text.find_java", lambda: None)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 40))
def test_windows_overlap_exactly_where_their_iou_is_positive(prediction: int, reference: int, window: int) -> None:
    spans = [(t - window // 2, t + window // 2 + window % 2) for t in (prediction, reference)]
    shared = max(0, min(end for _, end in spans) - max(start for start, _ in spans))
    assert overlap(prediction, reference, window) == (shared > 0)


@needs_java
@pytest.mark.parametrize("window", [30, 5])
def test_scores_are_the_packages_scores_of_the_pairs_of_each_half(window: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    halves = {("one", 1): timed(30, 1), ("one", 2): timed(20, 2), ("two", 1): timed(25, 3)}
    values: list[list[float]] = []
    draw = random.Random(0)
    pairs = 0
    for heard, said in halves.values():
        res, gts = {}, {}
        for p in heard:
            partners = [r.text for r in said if abs(p.seconds - r.seconds) < window]
            for text in partners or ["".join(draw.choices("bcdfghjklm", k=12))]:  # the script's random string
                res[len(res)], gts[len(gts)] = [{"caption": p.text}], [{"caption": text}]
        pairs += len(res)
        words, expected = PTBTokenizer().tokenize(res), PTBTokenizer().tokenize(gts)
        scorers = (Rouge().compute_score(expected, words)[0], 100 * Cider().compute_score(expected, words)[0])
        values.append([Bleu(4).compute_score(expected, words, verbose=0)[0][3], *scorers])
    found = score_dense(
        predictions={half: heard for half, (heard, _) in halves.items()},
        references={half: said for half, (_, said) in halves.items()},
        window=window,
    )
    scores = [found.scores[metric].value for metric in (Metric.BLEU4, Metric.ROUGE_L, Metric.CIDER)]
    assert scores == pytest.approx(list(np.mean(values, axis=0)), abs=1e-6)
    assert (found.pairs, found.halves, found.games) == (pairs, 3, 2) and 0 < found.unmatched < found.predictions


@needs_java
def test_a_half_without_predictions_counts_as_zero() -> None:
    heard, said = timed(20, 4)
    full = score_dense(predictions={("a", 1): heard}, references={("a", 1): said})
    half = score_dense(predictions={("a", 1): heard}, references={("a", 1): said, ("b", 1): said})
    assert half.without_predictions == 1 and half.to_json()["coverage"] == 0.5
    for metric, score in full.scores.items():
        if score.value is not None:
            assert half.scores[metric].value == pytest.approx(score.value / 2)
    assert half.precision == full.precision / 2 and half.intervals[Metric.CIDER].clusters == 2


def write(root: Path, game: str, name: str, rows: str, items: list[dict[str, Any]]) -> Path:
    path = root / game / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"UrlLocal": game, rows: items}), encoding="utf-8")
    return path


def labelled(captions: list[TimedCaption], half: int, text: str) -> list[dict[str, Any]]:
    return [
        {"gameTime": f"{half} - {c.seconds // 60:02d}:{c.seconds % 60:02d}", "label": "comments", text: c.text}
        for c in captions
    ]


@needs_java
def test_the_command_reads_the_fields_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> str:
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", "dense", str(predictions), str(labels), *words])
        assert not stop.value.code
        return capsys.readouterr().out

    labels, predictions = tmp_path / "labels", tmp_path / "predictions"
    heard, said = timed(20, 5)
    for game in GAMES:
        write(
            labels,
            game,
            "Labels-caption.json",
            "annotations",
            labelled(said, 1, "anonymized") + labelled(said, 3, "anonymized"),
        )
    write(
        predictions,
        GAMES[0],
        "results_dense_captioning.json",
        "predictions",
        labelled(heard, 1, "comment") * 2 + labelled(heard, 2, "comment"),
    )
    report = json.loads(run("--json"))
    assert (report["n"], report["coverage"], report["details"]["halves_without_predictions"]) == (40, 0.5, 1)
    assert report["details"]["skipped"] == {
        "labels in half 3 or later": 40,
        "predictions in half 3 or later": 0,
        "predictions in unlabelled halves": 10,
    }
    assert report["cider"] > 0 and report["meteor"] is None
    assert "2 labelled halves (1 without predictions)" in run("--window", "5")


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    labels, predictions = tmp_path / "labels", tmp_path / "predictions"
    with pytest.raises(DataError, match=r"no Labels-caption\.json under"):
        evaluate_dense(predictions, labels)
    path = write(
        labels, GAMES[0], "Labels-caption.json", "annotations", [{"gt_gameTime": "1 - 00:01", "anonymized": "a"}]
    )
    with pytest.raises(DataError, match=r"annotations 1: there is no 'gameTime' \(times here: gt_gameTime\)"):
        evaluate_dense(predictions, labels)
    with pytest.raises(DataError, match=r"no game has a results_dense_captioning\.json"):
        evaluate_dense(predictions, labels, time_key="gt_gameTime")
    write(labels, GAMES[0], "Labels-caption.json", "annotations", [{"gameTime": "first", "anonymized": "a"}])
    with pytest.raises(DataError, match="'first' is not a game time"):
        evaluate_dense(predictions, labels)
    write(labels, GAMES[0], "Labels-caption.json", "annotations", [{"gameTime": "1 - 00:01"}])
    with pytest.raises(DataError, match="no text in 'anonymized'"):
        evaluate_dense(predictions, labels)
    path.write_text("[", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read as JSON"):
        evaluate_dense(predictions, labels)

"""The scorers: equal to the official packages, nothing dropped, every absence named."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import record
from streamsoccer.errors import DataError, StreamSoccerError, UsageError
from streamsoccer.evaluation import tokenise
from streamsoccer.evaluation.meteor import Meteor, combine_meteor
from streamsoccer.evaluation.metrics import Metric, tok_f1
from streamsoccer.evaluation.ranking import Query, score_retrieval
from streamsoccer.evaluation.text import TextScorer, TextScores, score_texts
from streamsoccer.evaluation.tokenise import Convention, find_java, plain, ptb
from text_pairs import random_pairs, real_looking_pairs

SHARED = Path(os.environ.get("STREAMSOCCER_SHARED", Path(__file__).parents[1] / ".." / "shared"))
GOLDEN = Path(__file__).parent / "golden" / "text_scores.json"
NO_JAVA = "needs a Java runtime, and there is none on this machine"
needs_java = pytest.mark.skipif(find_java() is None, reason=NO_JAVA)
WITHOUT_JAVA = [Metric.TOK_F1, Metric.BLEU1, Metric.BLEU4, Metric.ROUGE_L, Metric.CIDER]

PAIRS = {"1000 random": random_pairs(1000), "200 real-looking": real_looking_pairs(200)}


@pytest.fixture(params=PAIRS)
def pairs(request: pytest.FixtureRequest) -> tuple[list[str], list[list[str]]]:
    return PAIRS[request.param]


@pytest.fixture(scope="module")
def meteor() -> Any:
    """One process for the module, started in the poorest locale: all equalities below then hold in any."""
    if find_java() is None:
        pytest.skip(NO_JAVA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C")
        process = Meteor()
    with process:
        yield process


@pytest.fixture(scope="module")
def official_meteor() -> Any:
    """The package's own METEOR object, as a user would make it."""
    if find_java() is None:
        pytest.skip(NO_JAVA)
    from pycocoevalcap.meteor.meteor import Meteor as OfficialMeteor

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C.UTF-8")  # in other locales the package loses accents
        scorer = OfficialMeteor()
    yield scorer
    scorer.meteor_p.kill()
    scorer.meteor_p.wait()
    scorer.meteor_p.stdout.close()  # the package leaves these two open
    scorer.meteor_p.stderr.close()


def official(
    predictions: Sequence[str], references: Sequence[Sequence[str]], meteor: Any = None
) -> dict[Metric, float]:
    """What a user of pycocoevalcap gets for texts that are already words."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    gts, res = dict(enumerate(map(list, references))), {i: [text] for i, text in enumerate(predictions)}
    bleus = Bleu(4).compute_score(gts, res, verbose=0)[0]
    found = {
        Metric.BLEU1: bleus[0],
        Metric.BLEU4: bleus[3],
        Metric.ROUGE_L: Rouge().compute_score(gts, res)[0],
        Metric.CIDER: 100 * Cider().compute_score(gts, res)[0],
    }
    if meteor is not None:
        found[Metric.METEOR] = meteor.compute_score(gts, res)[0]
    return found


def official_ptb(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    res = PTBTokenizer().tokenize({i: [{"caption": text}] for i, text in enumerate(predictions)})
    gts = PTBTokenizer().tokenize({i: [{"caption": text} for text in texts] for i, texts in enumerate(references)})
    return [res[i][0] for i in range(len(res))], [gts[i] for i in range(len(gts))]


def real_captions() -> list[list[dict[str, str]]]:
    """The captions of each real match at hand."""
    files = sorted((SHARED / "data" / "soccernet").glob("*/*/*/Labels-caption.json"))
    if not files:
        pytest.skip("the real captions (../shared/data/soccernet) are not here")
    return [json.loads(file.read_text(encoding="utf-8"))["annotations"] for file in files]


def values(scores: TextScores) -> dict[Metric, float | None]:
    return {metric: score.value for metric, score in scores.scores.items()}


def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)


# --- equal to the packages


@pytest.mark.parametrize("convention", [Convention.RAW, Convention.PLAIN])
def test_scores_equal_the_packages(pairs: tuple[list[str], list[list[str]]], convention: Convention) -> None:
    predictions, references = pairs
    scores = score_texts(predictions=predictions, references=references, convention=convention, metrics=WITHOUT_JAVA)
    words = plain if convention is Convention.PLAIN else str
    expected = official(
        [words(text) for text in predictions], [[words(text) for text in texts] for texts in references]
    )
    assert {metric: scores[metric] for metric in expected} == pytest.approx(expected, abs=1e-6)


def test_ptb_and_meteor_equal_the_packages(
    pairs: tuple[list[str], list[list[str]]], meteor: Meteor, official_meteor: Any
) -> None:
    predictions, references = pairs
    scores = score_texts(predictions=predictions, references=references, convention=Convention.PTB, meteor=meteor)
    expected = official(*official_ptb(predictions, references), official_meteor)
    assert {metric: scores[metric] for metric in expected} == pytest.approx(expected, abs=1e-6)


@needs_java
def test_half_is_the_mean_of_the_packages_scores_of_each_half() -> None:
    predictions, references = real_looking_pairs(90, seed=5)
    halves = [("m", i % 3) if i < 60 else ("n", i % 2) for i in range(90)]
    scores = score_texts(
        predictions=predictions, references=references, convention=Convention.HALF, halves=halves, metrics=WITHOUT_JAVA
    )
    words, word_references = official_ptb(predictions, references)
    each = []
    for half in dict.fromkeys(halves):
        rows = [i for i, other in enumerate(halves) if other == half]
        each.append(official([words[i] for i in rows], [word_references[i] for i in rows]))
    expected = {metric: float(np.mean([scored[metric] for scored in each])) for metric in each[0]}
    assert {metric: scores[metric] for metric in expected} == pytest.approx(expected, abs=1e-6)


def test_golden_numbers_without_java() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    predictions, references = real_looking_pairs(200)
    for convention in (Convention.RAW, Convention.PLAIN):
        scores = score_texts(
            predictions=predictions, references=references, convention=convention, metrics=WITHOUT_JAVA
        )
        expected = {metric: golden["scores"][convention.value][metric.value] for metric in WITHOUT_JAVA}
        assert values(scores) == pytest.approx(expected, abs=1e-9)


def test_golden_numbers(meteor: Meteor) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["versions"] == {"pycocoevalcap": version("pycocoevalcap")}
    predictions, references = real_looking_pairs(200)
    for name, expected in golden["scores"].items():
        convention = Convention(name)
        scores = score_texts(
            predictions=predictions,
            references=references,
            convention=convention,
            halves=[i % 4 for i in range(200)],
            meteor=meteor,
        )
        found = {metric.value: value for metric, value in values(scores).items() if value is not None}
        assert found == pytest.approx(expected, abs=1e-9), name


def test_matchtime_published_numbers_come_out() -> None:
    """Its released predictions and printed scores; its ROUGE-L is the third row's, by a slip of its script."""
    table = SHARED / "data" / "matchtime" / "sample.csv"
    if not table.is_file():
        pytest.skip("MatchTime's inference_result/sample.csv is not in the shared data folder under matchtime/")
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    metrics = Metric if find_java() else WITHOUT_JAVA
    scores = score_texts(
        predictions=[row["predicted_res_0"] for row in rows],
        references=[row["anonymized"] for row in rows],
        metrics=metrics,
    )
    published = {Metric.BLEU1: 0.30462, Metric.BLEU4: 0.08638, Metric.METEOR: 0.26374, Metric.CIDER: 36.012}
    found = values(scores)
    assert {m: found[m] for m in published if m in found} == pytest.approx(
        {m: value for m, value in published.items() if m in found}, abs=6e-4
    )
    third = scores.scores[Metric.ROUGE_L].statistic
    assert third is not None and third.each[2] == pytest.approx(0.23724, abs=6e-6)


# --- METEOR


def test_meteor_of_any_part_of_a_corpus_can_be_formed_from_its_counts(meteor: Meteor) -> None:
    predictions, references = random_pairs(120, seed=7)
    _, each, rows = meteor.score(predictions, references)
    assert combine_meteor(rows) == pytest.approx(each, abs=1e-12)
    draw = np.random.default_rng(0)
    for size in (2, 17, 120):
        part = draw.choice(120, size=size)
        corpus, _, _ = meteor.score([predictions[i] for i in part], [references[i] for i in part])
        assert combine_meteor(rows[part].sum(0)) == pytest.approx(corpus, abs=1e-12)


def test_meteor_keeps_count_whatever_the_texts_hold(meteor: Meteor) -> None:
    odd = ["a shot\nwide", "a ||| shot", "", "a\u2028shot\r\nwide", "EVAL ||| 1", "shot wide"]
    corpus, each, rows = meteor.score(odd, [["a shot ||| wide"]] * 6)
    assert len(each) == len(rows) == 6 and each[2] == 0 and 0 < corpus < 1
    assert each[0] == each[3] == pytest.approx(meteor.score(["a shot wide"], [["a shot wide"]])[0])


@needs_java
def test_ptb_words_do_not_depend_on_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert ptb(["Le café d'Özil", "naïve défense – là"]) == ["le café d'özil", "naïve défense là"]


@needs_java
def test_a_dead_meteor_is_an_error_and_never_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Meteor()
    process._process.kill()
    with pytest.raises(StreamSoccerError, match="METEOR's Java process failed"):
        process.score(["a"], [["b"]])
    process.close()
    silent = Meteor()
    monkeypatch.setattr(
        type(silent._scorer), "_stat", lambda *_: silent._process.stdout.read().decode()
    )  # never answers
    with pytest.raises(StreamSoccerError, match="METEOR's Java process failed"):
        silent.score(["a"], [["b"]], patience_s=0.2)
    assert silent._process.poll() is not None


# --- tokens


@needs_java
@pytest.mark.parametrize("field", ["description", "anonymized"])
def test_plain_words_are_ptb_words_on_real_captions(field: str) -> None:
    texts = [caption[field] for captions in real_captions() for caption in captions]
    words = ptb(texts)
    same = sum(plain(text) == expected for text, expected in zip(texts, words, strict=True))
    assert same / len(texts) >= 0.999


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[PLAYER] ([TEAM])'s shot!", "-lsb- player -rsb- -lrb- -lsb- team -rsb- -rrb- 's shot"),
        ("He can't, won't and cannot stop.", "he ca n't wo n't and can not stop"),
        ("It’s 3:0 after 90+2 - “wow” …", "it 's 3:0 after 90 +2 wow"),
        ("D. Zagreb's O'Neill, mid-table", "d. zagreb 's o'neill mid-table"),
        (" ... ", ""),
    ],
)
def test_plain_words(text: str, words: str) -> None:
    assert plain(text) == words


@needs_java
def test_ptb_equals_the_package_and_keeps_count() -> None:
    texts = ["", "One shot.", "", "Two\u2028lines\rand\x0bmore", "Özil's 2-1!", ""]
    words = ptb(texts)
    assert len(words) == 6 and words[3] == "two lines and more"
    plain_lines = [text for text in texts if "\u2028" not in text and text]
    assert official_ptb(plain_lines, [["x"]] * len(plain_lines))[0] == [words[1], words[4]]


# --- nothing dropped, every absence named


def test_empty_outputs_score_zero_and_stay_in_the_denominator(meteor: Meteor) -> None:
    predictions, references = real_looking_pairs(40)
    said = score_texts(predictions=predictions, references=references, meteor=meteor)
    silent: list[str | None] = [None, "", "  ", *predictions[3:]]
    scores = score_texts(predictions=silent, references=references, meteor=meteor)
    assert (scores.n, scores.outputs, scores.coverage) == (40, 37, 37 / 40)
    for metric, score in scores.scores.items():
        if score.statistic is not None:
            assert score.statistic.each[:3] == pytest.approx(0, abs=1e-9) and len(score.statistic.each) == 40
            assert score.value < said[metric]  # type: ignore[operator]


def test_an_output_of_silence_does_not_match_a_double_space() -> None:
    scores = score_texts(predictions=["", "a"], references=["a  b", "a"], metrics=[Metric.ROUGE_L])
    assert scores[Metric.ROUGE_L] == 0.5


def test_without_java_the_default_works_and_meteor_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    without_java(monkeypatch)
    predictions, references = real_looking_pairs(20)
    for convention in (Convention.RAW, Convention.PLAIN):
        scores = score_texts(predictions=predictions, references=references, convention=convention)
        report = scores.to_json()
        assert report["meteor"] is None and report["cider"] > 0 and report["bleu4"] > 0
        assert "Java" in report["details"]["meteor"]["absent"] and "install" in report["details"]["meteor"]["remedy"]
    with pytest.raises(UsageError, match="no Java"):
        score_texts(predictions=predictions, references=references, convention=Convention.PTB)
    with pytest.raises(UsageError, match="needs Java"):
        Meteor()


def test_java_home_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_java(monkeypatch)
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == str(program)
    with pytest.raises(StreamSoccerError, match="the PTB tokeniser failed"):
        ptb(["a shot"])
    report = score_texts(predictions=["a shot", "b"], references=["a shot", "c"]).to_json()
    assert report["meteor"] is None and report["cider"] > 0  # a Java that does not work costs METEOR alone
    assert "METEOR's Java process failed" in report["details"]["meteor"]["absent"]
    program.write_text("no program")
    with pytest.raises(StreamSoccerError, match="Java cannot be started"):
        ptb(["a shot"])
    assert (
        "cannot be started" in score_texts(predictions=["a"], references=["b"]).to_json()["details"]["meteor"]["absent"]
    )


def test_every_score_names_its_scorer_tokeniser_scale_and_population() -> None:
    predictions, references = real_looking_pairs(10)
    report = score_texts(predictions=predictions, references=references, metrics=WITHOUT_JAVA).to_json()
    assert (report["convention"], report["n"], report["coverage"]) == ("raw", 10, 1.0)
    for metric in WITHOUT_JAVA:
        assert isinstance(report[metric.value], float)
        assert {"scorer", "tokeniser", "scale"} <= report["details"][metric.value].keys()
    assert report["details"]["cider"]["scorer"].startswith(f"pycocoevalcap {version('pycocoevalcap')}")
    assert report["details"]["cider"]["scale"] == "x100"
    json.dumps(report)


@pytest.mark.parametrize(
    ("predictions", "references", "problem"),
    [
        (["a"], ["b", "c"], "1 predictions for 2 references"),
        ([], [], "0 predictions"),
        (["a", "b"], ["c", " "], "row 2.*the reference is blank"),
        (["a"], [[]], "row 1.*the reference is blank"),
        (["a"], [["b", ""]], "the reference is blank"),
        ([3], ["b"], "a prediction is one text or nothing, not int"),
        (["\ud800"], ["b"], "surrogate"),
    ],
)
def test_texts_that_cannot_be_scored_are_refused(predictions: Any, references: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        score_texts(predictions=predictions, references=references, metrics=WITHOUT_JAVA)


def test_a_reference_of_punctuation_alone_is_refused_where_the_convention_drops_it() -> None:
    with pytest.raises(DataError, match=r"row 1.*no words under the convention plain"):
        score_texts(predictions=["a"], references=["..."], convention=Convention.PLAIN, metrics=WITHOUT_JAVA)


def test_arguments_cannot_be_swapped_by_position() -> None:
    with TextScorer(metrics=WITHOUT_JAVA) as scorer, pytest.raises(TypeError):
        scorer.score(["a"], ["b"])  # type: ignore[misc]


def test_half_needs_to_know_the_halves() -> None:
    with pytest.raises(UsageError, match="match and half of each row"):
        score_texts(predictions=["a"], references=["b"], convention=Convention.HALF, metrics=WITHOUT_JAVA)


def test_one_pair_alone_is_said_to_have_no_cider() -> None:
    scores = score_texts(predictions=["a shot wide"], references=["a shot wide"], metrics=WITHOUT_JAVA)
    assert scores[Metric.CIDER] == 0 and "CIDEr is 0 there by its definition" in scores.notes[0]
    assert scores.copies == 1


# --- Tok-F1


def test_tok_f1_by_hand() -> None:
    found = tok_f1(predictions=["a a b", "c", ""], references=[["a b b d"], ["x", "c d"], ["e"]])
    assert found.each == pytest.approx([2 * 2 / 7, 2 / 3, 0])
    assert found.value == pytest.approx((4 / 7 + 2 / 3) / 3)


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcd"), min_size=1))
def test_tok_f1_is_symmetric_bounded_and_one_for_the_same_bag(first: list[str], second: list[str]) -> None:
    def f1(prediction: list[str], reference: list[str]) -> float:
        return tok_f1(predictions=[" ".join(prediction)], references=[[" ".join(reference)]]).value

    assert f1(first, second) == pytest.approx(f1(second, first))
    assert 0 <= f1(first, second) <= 1
    assert (f1(first, second) == 1) == (sorted(first) == sorted(second))


# --- retrieval


def query(name: str, ranked: str, positives: str, *, eligible: str | None = None, match: str = "m") -> Query:
    pool = frozenset(ranked if eligible is None else eligible)
    return Query(id=name, match=match, ranked=tuple(ranked), eligible=pool, positives=frozenset(positives))


def test_retrieval_by_hand() -> None:
    scores = score_retrieval(
        queries=[
            query("1", "abc", "a", match="m"),
            query("2", "abc", "cx", match="n"),  # x is not eligible
            query("3", "ab", "c", eligible="abc"),  # eligible, but not ranked: a miss
            query("4", "abc", ""),
            query("5", "abc", "z"),
        ],
        ks=(1, 3),
    )
    assert scores.recall == pytest.approx({1: 1 / 3, 3: 2 / 3}) and scores.mrr == pytest.approx((1 + 1 / 3) / 3)
    assert (scores.queries, scores.positives, scores.without_positives, scores.ineligible_positives) == (3, 3, 2, 2)
    assert scores.intervals["mrr"].clusters == 2 and scores.to_json()["r@1"] == scores.recall[1]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: [query("1", "aba", "a")], "ranked twice"),
        (lambda: [query("1", "ab", "a", eligible="a")], "not eligible"),
        (lambda: [query("1", "ab", "a"), query("1", "ab", "a")], "stands twice"),
        (lambda: [query("1", "ab", "")], "none of 1 queries"),
    ],
)
def test_retrieval_refuses_what_has_no_meaning(make: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        score_retrieval(queries=make())


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenise, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="pycocoevalcap is not installed"):
        TextScorer()


@needs_java
@pytest.mark.acceptance
def test_plain_scores_stand_for_ptb_scores_on_real_captions(meteor: Meteor) -> None:
    """Each caption is predicted by the last caption of its class in another match; only the tokeniser differs."""
    games = real_captions()
    predictions, references = [], []
    last: dict[str, str] = {}
    for captions in games:
        for caption in captions:
            if caption["class"] in last:
                predictions.append(last[caption["class"]])
                references.append(caption["anonymized"])
        last |= {caption["class"]: caption["anonymized"] for caption in captions}
    found = {
        convention.value: {
            metric.value: value
            for metric, value in values(
                score_texts(predictions=predictions, references=references, convention=convention, meteor=meteor)
            ).items()
            if value is not None
        }
        for convention in (Convention.RAW, Convention.PLAIN, Convention.PTB)
    }
    texts = [caption[field] for captions in games for caption in captions for field in ("description", "anonymized")]
    agree = sum(plain(text) == words for text, words in zip(texts, ptb(texts), strict=True)) / len(texts)
    record(
        "plain_tokeniser",
        {"pairs": len(predictions), "sentences": len(texts), "share_equal_to_ptb": agree, "scores": found},
        "pytest -m acceptance tests/test_metrics.py",
    )
    assert agree >= 0.999
    assert found["plain"] == pytest.approx(found["ptb"], abs=0.01)

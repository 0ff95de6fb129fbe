"""BERTScore from a local folder: equal to bert_score called directly, on a tiny RoBERTa with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamsoccer.errors import UsageError
from streamsoccer.evaluation.metrics import Metric
from streamsoccer.evaluation.text import score_texts

pytest.importorskip("torch", reason="BERTScore needs torch")
pytest.importorskip("bert_score", reason="BERTScore needs bert-score")

PREDICTIONS = ["The shot goes wide.", "", "[PLAYER] wins a corner", "goal " * 90]
REFERENCES = [["A shot, wide of the post.", "He shoots wide"], ["A foul."], ["[PLAYER] takes the corner"], ["A goal!"]]


def make_model(folder: Path, *, layers: int = 4, hidden: int = 32, architecture: str | None = None) -> Path:
    """A RoBERTa with random weights and a byte-level tokenizer of its own that names no length."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import RobertaConfig, RobertaModel

    folder.mkdir(parents=True)
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(ByteLevel.alphabet())]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}', encoding="utf-8")
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(words),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def directly(folder: Path, layer: int) -> list[float]:
    """The package's own function; it needs a stated length, a path without 't5', and texts that are not empty."""
    import bert_score

    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 64}), encoding="utf-8")
    spoken = [i for i, text in enumerate(PREDICTIONS) if text]
    _, _, f1 = bert_score.score(
        [PREDICTIONS[i] for i in spoken],
        [REFERENCES[i] for i in spoken],
        model_type=str(folder),
        num_layers=layer,
        device="cpu",
    )
    return [float(value) for value in f1]


def scorer(folder: Path, layer: int) -> Any:
    from streamsoccer.evaluation.bertscore import BertScorer

    return BertScorer(folder, layer=layer, device="cpu")


def test_it_equals_the_package_from_any_path_and_without_a_stated_length(tmp_path: Path) -> None:
    found = {}
    for name in ("roberta", "models-t5/roberta"):  # the package would load a T5 model from the second
        folder = make_model(tmp_path / name)
        statistic = scorer(folder, 3).score(predictions=PREDICTIONS, references=REFERENCES)[Metric.BERTSCORE]
        found[name] = [float(value) for value in statistic.each]
        assert statistic.value == pytest.approx(sum(found[name]) / 4)
    assert found["roberta"] == found["models-t5/roberta"]
    assert found["roberta"].pop(1) == 0
    assert found["roberta"] == pytest.approx(directly(tmp_path / "roberta", 3), abs=1e-6)


def test_a_small_model_has_no_rescaled_score_and_says_so(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "small", layers=17)
    scores = score_texts(
        predictions=PREDICTIONS,
        references=REFERENCES,
        metrics=[Metric.BERTSCORE, Metric.BERTSCORE_RESCALED],
        bertscore=folder,
    )
    report = scores.to_json()
    assert 0 < report["bertscore"] < 1 and report["bertscore_rescaled"] is None
    assert "baseline" in report["details"]["bertscore_rescaled"]["absent"]
    assert "roberta of 17 layers at layer 17" in report["details"]["bertscore"]["scorer"]


def test_rescaling_is_the_packages_line_through_its_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamsoccer.evaluation import bertscore

    assert bertscore._baseline_f1(17) == pytest.approx(0.83122575)  # the package's table for RoBERTa-large, English
    folder = make_model(tmp_path / "large")
    monkeypatch.setattr(bertscore, "_LARGE", {"model_type": "roberta"})
    statistics = bertscore.BertScorer(folder, layer=3, device="cpu").score(
        predictions=PREDICTIONS, references=REFERENCES
    )
    base = bertscore._baseline_f1(3)
    assert base is not None
    raw, rescaled = statistics[Metric.BERTSCORE], statistics[Metric.BERTSCORE_RESCALED]
    assert rescaled.each == pytest.approx((raw.each - base) / (1 - base))


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no config\.json"):
        scorer(tmp_path, 17)
    with pytest.raises(UsageError, match="4 encoder layers; layer 17 is asked for"):
        scorer(make_model(tmp_path / "shallow"), 17)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be loaded"):
        scorer(tmp_path, 17)

"""BERTScore-F1 with a model from a local folder: RoBERTa-large at layer 17, raw and rescaled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsoccer.errors import UsageError
from streamsoccer.evaluation.metrics import Metric, Statistic, installed_version, means

__all__ = ["LAYER", "BertScorer"]

LAYER = 17
_LARGE = {"model_type": "roberta", "hidden_size": 1024, "num_hidden_layers": 24, "vocab_size": 50265}
_REMEDY = "give the folder of RoBERTa-large as it was downloaded (config.json, model.safetensors, tokenizer files)"


class BertScorer:
    """Loads model and tokenizer itself and gives them to the package's scorer.

    The package would take any path that contains 't5' for a T5 model, and a tokenizer folder without
    `model_max_length` makes it ask for an impossible length.
    """

    def __init__(self, folder: Path, *, layer: int = LAYER, batch_size: int = 64, device: str | None = None) -> None:
        if not (folder / "config.json").is_file():
            raise UsageError("there is no config.json in the BERTScore model folder", where=folder, remedy=_REMEDY)
        if installed_version("bert-score") is None or find_spec("torch") is None:
            raise UsageError("BERTScore needs bert-score and torch", remedy="pip install 'streamsoccer[score,model]'")
        import torch
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            model = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"the BERTScore model cannot be loaded: {error}", where=folder, remedy=_REMEDY) from error
        layers = getattr(getattr(model, "encoder", None), "layer", None)
        if layers is None or len(layers) < layer:
            raise UsageError(
                f"the model has {'no' if layers is None else len(layers)} encoder layers; layer {layer} is asked for",
                where=folder,
                remedy=_REMEDY,
            )
        longest = config.max_position_embeddings - (2 if config.model_type == "roberta" else 0)
        self._tokenizer.model_max_length = min(self._tokenizer.model_max_length, longest)
        model.encoder.layer = torch.nn.ModuleList(layers[:layer])
        self._model: Any = model.eval().to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._batch_size = batch_size
        heads = getattr(config, "architectures", None) or []
        # The same shape fine-tuned for inference (roberta-large-mnli) has another baseline.
        large = all(getattr(config, key, None) == value for key, value in _LARGE.items())
        self._baseline = _baseline_f1(layer) if large and not any("Classification" in head for head in heads) else None
        self.name = f"{config.model_type} of {config.num_hidden_layers} layers at layer {layer}, {folder.name}"
        self.no_rescaling = "no published baseline belongs to this model" if self._baseline is None else None

    def score(self, *, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[Metric, Statistic]:
        """F1 for each text against its best reference, and the mean; an empty output scores 0."""
        from bert_score.utils import bert_cos_score_idf

        # The package gives an empty text 0 as well, but with newer transformers it fails on one.
        spoken = [i for i, text in enumerate(predictions) if text.strip()]
        pairs = [(i, text) for i in spoken for text in references[i]]
        each: NDArray[np.float64] = np.zeros(len(predictions))
        if pairs:
            weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
            weights[self._tokenizer.sep_token_id] = weights[self._tokenizer.cls_token_id] = 0.0
            scores = bert_cos_score_idf(
                self._model,
                [text for _, text in pairs],
                [predictions[i] for i, _ in pairs],
                self._tokenizer,
                weights,
                batch_size=self._batch_size,
                device=self._model.device,
            )
            best = np.full(len(predictions), -np.inf)
            np.maximum.at(best, [i for i, _ in pairs], scores[:, 2].double().numpy())
            each[spoken] = best[spoken]
        found = {Metric.BERTSCORE: means(each)}
        if self._baseline is not None:
            found[Metric.BERTSCORE_RESCALED] = means((each - self._baseline) / (1 - self._baseline))
        return found


def _baseline_f1(layer: int) -> float | None:
    """The package's baseline F1 of RoBERTa-large for English at that layer."""
    spec = find_spec("bert_score")
    if spec is None or not spec.submodule_search_locations:
        return None
    table = Path(next(iter(spec.submodule_search_locations))) / "rescale_baseline" / "en" / "roberta-large.tsv"
    if not table.is_file():
        return None
    rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    return next((float(f1) for number, _, _, f1 in rows if int(number) == layer), None)

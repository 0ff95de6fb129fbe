"""Sentences of a trained stage 3 for any scenes: the same contexts, ranking and decoding as in a match.

    narrator = open_narrator(run, corpus, memory, own=records)
    scenes = [narrator.contexts.taught(sample) for sample in samples]     # or .own(sample): what a match would have had
    said = narrator.generate(scenes)                                      # an Utterance each, in their order

Evaluation and the validation of a run use it. Decoding is greedy, and a text does not depend on what is written beside
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from streamsoccer.checkpoint import Checkpoint, from_pretrained, read_provenance
from streamsoccer.commentary import Context, Utterance
from streamsoccer.config import from_mapping
from streamsoccer.domain import Split
from streamsoccer.errors import CheckpointError
from streamsoccer.language import Request
from streamsoccer.training.bank import Bank
from streamsoccer.training.commentary import CommentaryObjective, Composer
from streamsoccer.training.contexts import Contexts, Scene
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import device
from streamsoccer.training.memory_cache import MemoryCache
from streamsoccer.training.own_run import OwnRecords
from streamsoccer.training.recipe import CommentaryStage
from streamsoccer.voice import rows_apart

__all__ = ["Narrator", "open_narrator", "stage_of"]

_TOGETHER = 64  # scenes whose prefixes are made at once


class Narrator:
    """Writes what a model says of scenes; `contexts` makes those of samples."""

    def __init__(self, objective: CommentaryObjective, composer: Composer, contexts: Contexts) -> None:
        self.objective, self.composer, self.contexts = objective, composer, contexts

    def generate(self, scenes: Sequence[Scene], *, max_tokens: int | None = None) -> list[Utterance]:
        """An utterance for each scene, with what it was said from; its text is empty where nothing was said."""
        composer, language = self.composer, self.objective.language
        most = max_tokens or composer.prompter.config.generated_tokens
        requests: list[Request] = []
        contexts: list[Context] = []
        mode = self.objective.training
        self.objective.eval()
        with torch.inference_mode(), torch.autocast(language.device.type, enabled=False):  # as in a match
            for begin in range(0, len(scenes), _TOGETHER):
                part = scenes[begin : begin + _TOGETHER]
                for rows in rows_apart(language.device, len(part)):
                    batch = composer.batch([part[row] for row in rows], targets=False).to(language.device)
                    read = self.objective.read(batch)
                    contexts += read.contexts
                    requests += [
                        Request(prefix=prefix, prompt=each.prompt, max_tokens=most)
                        for prefix, each in zip(read.prefix, read.contexts, strict=True)
                    ]
            said = language.generate(requests)
        self.objective.train(mode)
        return [_told(context, composer.prompter.text(ids)) for context, ids in zip(contexts, said, strict=True)]


def _told(context: Context, text: str) -> Utterance:
    said = context.utterance(text)
    if said is not None:
        return said
    empty = context.utterance("nothing")
    assert empty is not None
    return replace(empty, text="")


def stage_of(checkpoint: Checkpoint) -> CommentaryStage:
    """The stage 3 values that a checkpoint was trained with: its scope and representation are part of what it is."""
    for line in reversed(read_provenance(checkpoint.folder)):
        if line.get("stage") == "commentary":
            return from_mapping(CommentaryStage, line["recipe"], checkpoint.folder / "provenance.json")
    raise CheckpointError(
        "has not gone through stage 3", where=checkpoint.folder, remedy="run `streamsoccer train commentary` first"
    )


def open_narrator(
    run: Path,
    corpus: Corpus,
    memory: Path,
    *,
    own: Path | None = None,
    splits: Iterable[Split] = (Split.TEST,),
    backbone: Path | str | None = None,
    dtype: str | None = None,
) -> Narrator:
    """A stage 3 run or checkpoint, the memory cache of its own stage 1 weights, and the own run's records."""
    pretrained = from_pretrained(run, backbone=backbone, device=device(), dtype=dtype)
    stage, hashes = stage_of(pretrained.checkpoint), pretrained.checkpoint.hashes
    cache = MemoryCache(memory, encoder=hashes["encoder"], clips=corpus.fingerprint["clips"])
    records = None if own is None else OwnRecords(own, encoder=hashes["encoder"], clips=corpus.fingerprint["clips"])
    halves = [half for split in dict.fromkeys(splits) for half in corpus.of(split)]
    bank = Bank(
        cache, halves, representation=stage.representation, own=records is not None, device=pretrained.model.device
    )
    composer = Composer(bank, pretrained.prompter, stage.scope)
    settings = pretrained.model.config
    return Narrator(
        CommentaryObjective(pretrained.model, pretrained.language, pretrained.prompter, stage).eval(),
        composer,
        Contexts(corpus, stage, settings.buffer, settings.retrieval, records),
    )

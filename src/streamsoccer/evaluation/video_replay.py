"""What the native video path says of a split's samples: Direct Qwen3-VL, or a run of Video-SFT (table
'memory_scope_analysis'); the files are those of replay.py, so that `evaluate score` scores both alike.

`own` prompts know the time alone, for there is no memory that could know a score; `taught` ones have the labels' state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from streamsoccer.checkpoint import read_checkpoint
from streamsoccer.domain import Split
from streamsoccer.errors import DataError, UsageError
from streamsoccer.evaluation.memories import train_matches
from streamsoccer.evaluation.predictions import OWN, TAUGHT, ReplayHeader, name_of
from streamsoccer.evaluation.replay import limited, unsaid
from streamsoccer.evaluation.writing import Writer, stage_line
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.foundation import commit, machine
from streamsoccer.training.recipe import Recipe
from streamsoccer.training.video import Clips, VideoTask

__all__ = ["VideoReplay"]

_SCOPE = "video"
_TOLD_EVERY = 50


class VideoReplay:
    """One backbone, with a run's LoRA or as it was published, over the samples of a split."""

    def __init__(
        self,
        recipe: Recipe,
        data: Path,
        footage: Clips,
        run: Path | None,
        *,
        split: Split = Split.TEST,
        limit: int | None = None,
    ) -> None:
        self.corpus, self.split, self.limit = Corpus(data), split, limit
        self.task = VideoTask(recipe, self.corpus, footage, data)
        self.hashes: dict[str, str] = {}
        self.step = 0
        if run is not None:
            checkpoint, backbone = read_checkpoint(run), self.task.backbone
            line = stage_line(checkpoint)
            if line.get("stage") != self.task.name:
                raise UsageError(
                    f"is a run of `train {line.get('stage')}`, not of `train video`", where=checkpoint.folder
                )
            checkpoint.require(
                fingerprint=backbone.fingerprint,
                vocabulary=backbone.vocabulary,
                prompt=self.task.prompter.fingerprint,
            )
            self.task.load(checkpoint.folder)
            self.hashes, self.step = dict(checkpoint.hashes), int(line.get("step", 0))
        self.samples = limited([each for each in self.corpus.samples.values() if each.split is split], limit)
        if not self.samples:
            raise DataError(f"holds no sample of the {split} split", where=data, remedy="build the data with captions")

    def header(self) -> ReplayHeader:
        tracks = [each.track.value for each in self.samples]
        return ReplayHeader(
            stage="commentary",
            split=self.split.value,
            run={"backbone": self.task.backbone.fingerprint, **self.hashes},
            data=self.corpus.fingerprint,
            scope=_SCOPE,
            representation=_SCOPE,
            seed=self.task.stage.loop.seed,
            step=self.step,
            train_matches=train_matches(self.corpus) if self.step else 0,
            limit=self.limit,
            anchors={each: tracks.count(each) for each in dict.fromkeys(tracks)},
            commit=commit(),
            machine=machine(),
        )

    def write(
        self,
        out: Path,
        *,
        conditions: Sequence[str] = (OWN, TAUGHT),
        progress: Callable[[str], None] = lambda line: None,
    ) -> dict[str, int]:
        """Write what is not there yet, one file a condition; says how many lines each has."""
        writer = Writer(out, self.header())
        for condition in conditions:
            if writer.has(name_of(condition)):
                continue
            since, lines = writer.clock.now(), []
            for number, sample in enumerate(self.samples, start=1):
                start = self.corpus.event(sample.event, sample.id).start.seconds
                text, placeholders = self.task.said(sample, state=condition == TAUGHT)
                lines.append(unsaid(sample, start, start=start, text=text, placeholders=placeholders))
                if number % _TOLD_EVERY == 0:
                    progress(f"{condition}: {number} of {len(self.samples)} anchors")
            writer.add(name_of(condition), lines, since)
        return writer.finish()

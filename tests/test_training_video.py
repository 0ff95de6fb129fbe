"""Video-SFT: what its windows hold, that it fits what it is shown and goes on where it was killed, in LoRA alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tiny_training import Ground, loop, recipe

from streamsoccer.checkpoint import read_checkpoint, read_provenance
from streamsoccer.clip import Clip
from streamsoccer.domain import SampleRow, Track
from streamsoccer.errors import CheckpointError, DataError, UsageError
from streamsoccer.evaluation.predictions import read_predictions
from streamsoccer.evaluation.replay_scores import score_replay
from streamsoccer.evaluation.video_replay import VideoReplay
from streamsoccer.heads import TRACKS
from streamsoccer.native import WINDOW_SECONDS
from streamsoccer.sources.pack import PackWriter
from streamsoccer.testing.video import draw_frame, make_video, read_number
from streamsoccer.training.commands import add_commands
from streamsoccer.training.corpus import Corpus
from streamsoccer.training.loop import Trainer
from streamsoccer.training.recipe import Path3, Recipe
from streamsoccer.training.video import Footage, VideoTask, train_video
from streamsoccer.vision import VisionConfig


class Painted:
    """Noise for every clip that is like no other's; `late` is what is painted from a time on."""

    def __init__(self, size: int = 64, late: float = float("inf")) -> None:
        self.size, self.late = size, late
        self.asked: list[tuple[str, int, int, int]] = []

    def clips(self, match: str, half: int, first: int, last: int) -> Sequence[Clip]:
        self.asked.append((match, half, first, last))
        return [self._clip(match, half, index) for index in range(first, last + 1)]

    def _clip(self, match: str, half: int, index: int) -> Clip:
        random = np.random.default_rng([len(match), ord(match[-30]), half, index])
        frames = random.integers(0, 256, (8, self.size, self.size, 3), dtype=np.uint8)
        frames[[4 * index + each / 2 >= self.late for each in range(8)]] = 0
        times = tuple(4.0 * index + each / 2 for each in range(8))
        return Clip(
            half=half, index=index, start=4.0 * index, end=4.0 * index + 4, frames=frames, samples=tuple(range(8)),
            times=times,
        )  # fmt: skip


@pytest.fixture(scope="module")
def corpus(trained: Ground) -> Corpus:
    return Corpus(trained.data)


def of(ground: Ground, **values: Any) -> Recipe:
    base = recipe(ground)
    model = replace(
        base.model, vision=VisionConfig(width=64, height=64), language=replace(base.model.language, dropout=0.0)
    )
    return replace(base, model=model, stage3=replace(base.stage3, **{"path": Path3.VIDEO, "video_frames": 8, **values}))


def task(ground: Ground, corpus: Corpus, out: Path, mine: Recipe | None = None) -> VideoTask:
    return VideoTask(mine or of(ground), corpus, Painted(), out)


def each_track(made: VideoTask, each: int = 2) -> list[SampleRow]:
    """Some of every track, all with targets of their own."""
    found: dict[str, SampleRow] = {}
    for track in TRACKS:
        mine = {sample.target: sample for sample in made.turns.samples[track] if sample.target not in found}
        found |= dict(list(mine.items())[:each])
    return list(found.values())


# --- windows ---------------------------------------------------------------------------------------------------------


def test_a_window_ends_at_the_cutoff_and_is_as_long_as_its_track_asks(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    made = task(trained, corpus, tmp_path, of(trained))
    every_frame = of(trained, video_frames=500)
    whole = task(trained, corpus, tmp_path, every_frame)
    assert WINDOW_SECONDS == {Track.CURRENT: 30.0, Track.RECENT: 180.0, Track.HISTORICAL: 180.0}
    for sample in corpus.samples.values():
        end = sample.cutoff.seconds
        length = min(WINDOW_SECONDS[sample.track], end)
        few, every = made.reel(sample), whole.reel(sample)
        assert len(few.times) == min(8, len(every.times)) and few.pixels.shape[1:] == (3, 64, 64)
        assert list(np.diff(every.times)) == [0.5] * (len(every.times) - 1)
        assert every.times[0] < 0.5 and length - 4.5 < every.times[-1] < length
        assert (few.times[0], few.times[-1]) == (every.times[0], every.times[-1])


def test_what_comes_after_the_cutoff_changes_nothing(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    made = task(trained, corpus, tmp_path)
    for sample in each_track(made):
        made.footage = Painted()
        before = made.reel(sample)
        made.footage = Painted(late=sample.cutoff.seconds)
        after = made.reel(sample)
        assert torch.equal(before.pixels, after.pixels) and before.times == after.times
        made.footage = Painted(late=sample.cutoff.seconds - 6)
        assert not torch.equal(before.pixels, made.reel(sample).pixels)


def test_prompts_are_stage_3s_own_without_records(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    made = task(trained, corpus, tmp_path)
    samples = each_track(made)
    batch = made.asked(samples)
    for sample, asked, target in zip(samples, batch.prompts, batch.targets, strict=True):
        assert made.prompter.text(target) == sample.target and target[-1] == made.prompter.end_of_turn
        words = made.backbone.tokenizer.decode(asked.after)
        assert f"minute {int(sample.cutoff.seconds // 60) + 1}" in words
        assert not any(corpus.records[name].text in words for name in sample.positives)


# --- what it learns --------------------------------------------------------------------------------------------------


def test_one_batch_is_fitted_to_almost_nothing_and_then_said(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    made = task(trained, corpus, tmp_path)
    samples = each_track(made, 1)
    batch = made.asked(samples)
    optimizer = torch.optim.AdamW([each for group in made.groups() for _, each in group.parameters], lr=1e-2)
    made.objective.train()
    losses = []
    for _ in range(300):
        loss = made.objective(batch)["loss"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        if losses[-1] < 0.02:
            break
    print(losses[0], losses[-1], len(losses))
    assert losses[-1] < 0.03 < 3 < losses[0]
    assert made.texts(samples) == [each.target for each in samples]


def train(made: VideoTask, mine: Recipe, until: int | None = None) -> dict[int, float]:
    Trainer(made, mine.stage3.loop, made.out).run(until)
    rows = [json.loads(line) for line in (made.out / "metrics.jsonl").read_text().splitlines()]
    return {row["step"]: row["loss"] for row in rows if "loss" in row}


def test_a_killed_run_goes_on_with_the_loss_that_it_would_have_had(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    mine = of(trained, loop=loop(4, batch=3), validation_samples=3, validation_texts=1)
    mine = replace(mine, model=replace(mine.model, language=replace(mine.model.language, dropout=0.1)))
    whole = train(task(trained, corpus, tmp_path / "whole", mine), mine)
    train(task(trained, corpus, tmp_path / "two", mine), mine, until=2)
    assert train(task(trained, corpus, tmp_path / "two", mine), mine) == whole
    shown = [json.loads(line) for line in (tmp_path / "two" / "samples" / "step-000004.jsonl").read_text().splitlines()]
    assert [set(row) for row in shown] == [{"id", "track", "generated", "reference"}]
    # Each of three places of a batch is another track's: equal shares.
    names = task(trained, corpus, tmp_path, mine).batch(0, 0, 0, 1).names
    assert {corpus.samples[name].track for name in names} == set(Track)


def test_the_checkpoint_is_lora_alone_and_no_stage_3_goes_on_from_it(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    mine = of(trained, loop=loop(1, batch=3), validation_samples=3, validation_texts=1)
    made = task(trained, corpus, tmp_path, mine)
    train(made, mine)
    checkpoint = read_checkpoint(tmp_path)
    assert (checkpoint.parts, checkpoint.lora, set(checkpoint.hashes)) == ((), True, {"lora"})
    line = read_provenance(checkpoint.folder)
    assert [(each["stage"], each["step"]) for each in line] == [("video", 1)]
    other = task(trained, corpus, tmp_path / "other", mine)
    other.load(checkpoint.folder)
    for name, weight in other.language.lora_state().items():
        assert torch.equal(weight, made.language.lora_state()[name])
    with pytest.raises(CheckpointError, match="has no trained encoder, only LoRA"):
        checkpoint.require(parts=["encoder"])
    fewer = of(trained, loop=mine.stage3.loop, video_frames=4)
    with pytest.raises(UsageError, match="video_frames"):
        Trainer(task(trained, corpus, tmp_path, fewer), fewer.stage3.loop, tmp_path).run()


def test_a_run_says_its_lines_of_a_split_and_so_does_the_backbone_as_it_is(
    trained: Ground, corpus: Corpus, tmp_path: Path
) -> None:
    mine = of(trained, loop=loop(2, batch=3), lora_rate=0.1, validation_samples=3, validation_texts=1)
    train(task(trained, corpus, tmp_path / "run", mine), mine)
    said: dict[str, list[str]] = {}
    for name, run in (("run", tmp_path / "run"), ("direct", None)):
        replay = VideoReplay(mine, trained.data, Painted(), run, limit=1)
        assert replay.write(tmp_path / name / "said") == {"own.jsonl": 3, "taught.jsonl": 3}
        assert replay.write(tmp_path / name / "said") == {}, "what stands there stays"
        lines = read_predictions(tmp_path / name / "said" / "taught.jsonl")
        assert [each.reference for each in lines] == [corpus.samples[each.id].target for each in lines]
        assert {each.track for each in lines} == set(Track) and all(each.covered and each.on_event for each in lines)
        said[name] = [each.text for each in lines]
        report = score_replay(tmp_path / name / "said", replicates=20)
        assert report.header.scope == "video" and report.header.step == (2 if run else 0)
    assert said["run"] != said["direct"]
    sample = replay.samples[0]
    knowing, not_knowing = (replay.task.asked([sample], state=state).prompts[0] for state in (True, False))
    words = [replay.task.backbone.tokenizer.decode(each.after) for each in (knowing, not_knowing)]
    assert "Score" in words[0] and "Score" not in words[1]
    with pytest.raises(UsageError, match="is a run of `train records`, not of `train video`"):
        VideoReplay(mine, trained.data, Painted(), trained.root / "run2")


# --- footage ---------------------------------------------------------------------------------------------------------


def numbers(clips: Sequence[Clip]) -> list[tuple[int, list[int]]]:
    return [(each.index, [read_number(frame) for frame in each.frames]) for each in clips]


def test_footage_is_the_same_from_a_video_and_from_its_pack(tmp_path: Path) -> None:
    pytest.importorskip("av")
    video, pack = tmp_path / "video" / "game", tmp_path / "pack" / "game"
    pack.mkdir(parents=True)
    make_video(video / "1_224p.mkv", seconds=22, fps=10)
    with PackWriter(pack / "1_224p.clips", half=1) as writer:
        for index in range(6):
            count = 8 if index < 5 else 4
            frames = np.stack([draw_frame(40 * index + 5 * each) for each in range(count)])
            writer.add(
                Clip(
                    half=1,
                    index=index,
                    start=4.0 * index,
                    end=min(4.0 * index + 4, 22.0),
                    frames=frames,
                    samples=tuple(range(count)),
                    times=tuple(4.0 * index + each / 2 for each in range(count)),
                )
            )
    expected = [(index, [40 * index + 5 * each for each in range(8 if index < 5 else 4)]) for index in (3, 4, 5)]
    for folder in (video, pack):
        footage = Footage(folder.parent)
        assert numbers(footage.clips("game", 1, 3, 5)) == expected
        assert numbers(footage.clips("game", 1, 3, 3)) == expected[:1]
        with pytest.raises(DataError, match="there is no half 2"):
            footage.clips("game", 2, 0, 1)


def test_a_window_without_frames_is_named(trained: Ground, corpus: Corpus, tmp_path: Path) -> None:
    class Nothing:
        def clips(self, match: str, half: int, first: int, last: int) -> Sequence[Clip]:
            return []

    made = task(trained, corpus, tmp_path)
    made.footage = Nothing()
    sample = made.turns.at(0)
    with pytest.raises(DataError, match=rf"{sample.match}, half {sample.half}: there is no frame between"):
        made.reel(sample)


def test_the_command_asks_for_a_recipe_of_this_path(trained: Ground, tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    add_commands(app)
    where = ["--data", str(trained.data), "--footage", str(tmp_path), "--out", str(tmp_path / "run")]
    with pytest.raises(UsageError, match=r"stage3.path is cache(?s:.*)video_sft.yaml"):
        app(["video", *where], standalone_mode=False)
    joint = of(trained, path=Path3.JOINT)
    with pytest.raises(UsageError, match="path is joint"):
        train_video(joint, trained.data, tmp_path, tmp_path / "run")

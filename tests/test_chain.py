"""The whole chain small: matches that are made, a backbone from noise, three stages, and sentences that come out.

The league's own course with tiny sizes: every command of it as a process of its own, two at a time, in two legs; then a
match is run with what was trained. Sentences of such a model are babble: what is tested is that they get there.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("cv2")

from streamsoccer.cli import app
from streamsoccer.config import from_mapping
from streamsoccer.data.manifests import read_clips, read_samples
from streamsoccer.data.pipeline import build
from streamsoccer.domain import Split, Track
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import Status
from streamsoccer.league.course import Course, jobs_of, run_course
from streamsoccer.training.loop import last_checkpoint

WORLDS = {"train": 2, "validation": 1, "test": 1}
SIZE = {"width": 160, "height": 96}
LOOP = {"steps": 6, "batch": 2, "accumulation": 1, "warmup": 2, "validate_every": 100, "save_every": 100}
COURSE: dict[str, Any] = {
    "matches": {
        **WORLDS, "words": 2, "minutes": 6, "short": 1, "short_minutes": 1, "restyled": True, "size": "160x96",
        "workers": 1,
    },
    "backbone": {
        "shape": {
            "vocabulary": 900, "visual_width": 32, "visual_layers": 2, "visual_heads": 2, "visual_hidden": 64,
            "visual_places": 16, "deepstack": 0, "text_width": 48, "text_layers": 2, "text_heads": 4, "text_groups": 2,
            "text_hidden": 96,
        },
        **SIZE, "prompt": {"sided": True}, "steps": 80, "rate": 0.005, "warmup": 2, "cooldown": 20, "batch": 8,
        "text_rows": 4, "text_lengths": [160, 384], "store": 48, "least": 32, "fresh": 1, "workers": 1,
        "validation_clips": 8, "digest_weight": 0.2, "adapter": {"width": 32, "heads": 4},
    },
    "stages": {
        "backbone": {"dtype": "float32"},
        "model": {
            "vision": SIZE, "adapter": {"width": 32, "heads": 4}, "memory": {"heads": 4}, "transition": {"heads": 4},
            "heads": {"heads": 4, "retrieval_width": 16}, "projector": {"heads": 4}, "prompt": {"sided": True},
        },
        "stage1": {"window": 48, "validation_halves": 2, "loop": LOOP},
        "stage2": {
            "align_steps": 2, "lora_warmup_steps": 2, "validation_samples": 4, "validation_texts": 2, "loop": LOOP,
        },
        "stage3": {
            "curriculum": {"begin": 2, "every": 1, "levels": 4}, "validation_samples": 6, "validation_texts": 3,
            "loop": {**LOOP, "batch": 3},
        },
    },
    "seeds": [1], "representations": ["recurrent"], "scopes": ["full"], "samples": 4, "together": 2, "encoders": 1,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Chain:
    course: Course
    out: Path
    first: list[str]  # what the first leg told
    second: list[str]


def seed_with_all_tracks(folder: Path) -> int:
    """Six minutes are few for a sentence that looks back: a league whose trained and tested matches have one."""
    minutes = str(COURSE["matches"]["minutes"])
    for seed in range(13, 33):
        tracks = {}
        for world, count in WORLDS.items():
            league = folder / f"{world}-{seed}"
            numbers = ("--matches", str(count), "--seed", str(seed), "--minutes", minutes)
            app(["league", "make", str(league), *numbers, "--world", world, "--labels-only"], standalone_mode=False)
            assert build(league, league.with_suffix(".build")).ok
            tracks[world] = {each.track for each in read_samples(league.with_suffix(".build"))}
        if tracks["train"] == tracks["test"] == set(Track) and tracks["validation"] >= {Track.CURRENT}:
            return seed
    raise AssertionError("no league of twenty has all three tracks")


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    root = tmp_path_factory.mktemp("chain")
    seed = seed_with_all_tracks(root / "labels")
    matches = {**COURSE["matches"], "seed": seed}
    course = from_mapping(Course, {**COURSE, "matches": matches}, root)
    first: list[str] = []
    second: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        # To the tokens and no further: what a first leg of the time that a machine is lent would do.
        assert run_course(course, root / "out", only=["tokens"], told=first.append)
        assert run_course(course, root / "out", told=second.append)
    return Chain(course=course, out=root / "out", first=first, second=second)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_job_is_done_once(chain: Chain) -> None:
    jobs = [job.name for job in jobs_of(chain.course, chain.out)]
    done = Counter(line.split()[2] for line in [*chain.first, *chain.second] if " done in " in line)
    assert done == dict.fromkeys(jobs, 1) and {each.name for each in (chain.out / "done").iterdir()} == set(jobs)
    assert any("tokens-0 done" in line for line in chain.first)


def test_pictures_become_weights_of_every_part(chain: Chain) -> None:
    clips = Counter(each.split for each in read_clips(chain.out / "data"))
    assert set(clips) == {Split.TRAIN, Split.VALIDATION, Split.TEST} and min(clips.values()) > 150
    commentary = last_checkpoint(chain.out / "s1" / "commentary-full")
    assert commentary is not None
    told = json.loads((commentary / "pretrained_model" / "provenance.json").read_text())
    assert [each["stage"] for each in told] == ["memory", "records", "commentary"]
    assert [each["step"] for each in told] == [LOOP["steps"]] * 3
    found = json.loads((chain.out / "s1" / "frontend.json").read_text())
    assert found


def test_each_track_is_spoken_of_from_the_own_run_and_from_the_labels(chain: Chain) -> None:
    asked = {each.id: each for each in read_samples(chain.out / "data") if each.split is Split.TEST}
    own, taught = (rows(chain.out / "said" / "s1-commentary-full" / f"{name}.jsonl") for name in ("own", "taught"))
    for lines in (own, taught):
        assert {each["track"] for each in lines} == {each.value for each in Track}
        assert all(each["reference"] == asked[each["id"]].target for each in lines)
    assert {each["track"] for each in taught if each["text"]} == {each.value for each in Track}
    assert any(each["text"] for each in own)
    captions = rows(chain.out / "said" / "s1-records-recurrent" / "own.jsonl")
    assert any(each["text"] for each in captions)


def test_a_match_is_run_with_what_was_trained(chain: Chain, tmp_path: Path) -> None:
    """With the folder that would be given away, from the pictures of a match that nobody was trained on."""
    match = json.loads((chain.out / "split.json").read_text())["test"][0]
    out, source = tmp_path / "out", chain.out / "matches" / match
    given = ("--model", str(chain.out / "model"), "--out", str(out), "--pace", "fast")
    app(["run", str(source), *given], standalone_mode=False)
    with JournalReader(out / "match.journal") as journal:
        clips = [each for each in journal.steps() if each.clip is not None]
        lines = [each for each in journal.lines() if each.status is Status.SAID]
    assert len(clips) == sum(each.match == match for each in read_clips(chain.out / "data"))
    said = rows(out / "commentary.jsonl")
    assert len(said) == len(lines) > 0 and all(each["text"] for each in said)

"""Every recipe is read; the paper's holds the paper's values, all of them, and says which are ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamsoccer.clip import CLIP_SECONDS, FPS
from streamsoccer.commentary import Scope
from streamsoccer.config import from_mapping, to_mapping
from streamsoccer.domain import Track
from streamsoccer.errors import UsageError
from streamsoccer.language import TARGETS
from streamsoccer.league.course import load_course
from streamsoccer.runtime import read_runtime, write_runtime
from streamsoccer.schedule import PRIORITY
from streamsoccer.training.recipe import Path3, Recipe, Representation, load_recipe

RECIPES = Path(__file__).resolve().parents[1] / "recipes"
COURSES = {"mini.yaml", "mini_next.yaml"}  # of the simulated league: matches, a backbone, and the stages' recipe in it

# The paper's tables, typed off them a second time.
PAPER: dict[str, Any] = {
    "backbone.path": "Qwen/Qwen3-VL-8B-Instruct",
    "backbone.dtype": "bfloat16",
    "model.adapter.width": 1024,
    "model.adapter.tokens": 9,
    "model.adapter.layers": 2,
    "model.adapter.heads": 8,
    "model.memory.layers": 2,
    "model.memory.heads": 8,
    "model.memory.initial_layers": 1,
    "model.transition.seconds": 24,
    "model.heads.memories": 5,
    "model.projector.tokens": 8,
    "model.projector.layers": 2,
    "model.projector.heads": 8,
    "model.projector.memories": 5,
    "model.language.rank": 8,
    "model.language.alpha": 16,
    "model.language.dropout": 0.05,
    "model.buffer.seconds": 180,
    "model.buffer.selected": 4,
    "model.record.batch": 4,
    "model.record.drain": "batch",
    "model.record.caption_tokens": 64,
    "model.retrieval.gap_seconds": 90,
    "model.retrieval.top": 3,
    "model.retrieval.threshold": 0.12,
    "model.prompt.profile": "paper_clean_v2",
    "model.prompt.prompt_tokens": 2048,
    "model.prompt.target_tokens": 128,
    "model.prompt.generated_tokens": 96,
    "model.prompt.caption_target_tokens": 192,
    "stage1.loop.steps": 50_000,
    "stage1.loop.batch": 1,
    "stage1.loop.accumulation": 16,
    "stage1.loop.warmup": 500,
    "stage1.rate": 1e-4,
    "stage1.clip_weight": 0.5,
    "stage1.transition_weight": 1.0,
    "stage1.event_action_weight": 1.0,
    "stage1.event_type_weight": 0.3,
    "stage2.loop.batch": 1,
    "stage2.loop.accumulation": 16,
    "stage2.loop.warmup": 500,
    "stage2.loop.seed": 42,
    "stage2.projector_rate": 1e-4,
    "stage2.lora_rate": 1e-5,
    "stage2.representation": "recurrent",
    "stage2.lora": True,
    "stage3.loop.steps": 10_000,
    "stage3.loop.batch": 2,
    "stage3.loop.accumulation": 8,
    "stage3.loop.warmup": 500,
    "stage3.loop.seed": 42,
    "stage3.path": "cache",
    "stage3.scope": "full",
    "stage3.representation": "recurrent",
    "stage3.memory_gate": "rule",
    "stage3.lora_rate": 2e-5,
    "stage3.projector_rate": 3e-5,
    "stage3.curriculum.begin": 5_000,
    "stage3.curriculum.every": 250,
    "stage3.curriculum.first": 0.10,
    "stage3.curriculum.last": 0.50,
    "stage3.curriculum.levels": 20,
    "runtime.schedule.event_cooldown": 12,
    "runtime.schedule.recent_tick": 120,
    "runtime.schedule.recent_events": 3,
    "runtime.schedule.recent_after_event": 20,
    "runtime.schedule.history_cooldown": 180,
    "runtime.schedule.history_records": 8,
}


def leaves(mapping: dict[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their dotted names."""
    for name, value in mapping.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{place}{name}.")
        else:
            yield f"{place}{name}", value


def lines(node: yaml.Node, place: str = "") -> Iterator[tuple[str, int]]:
    """In which line of a file each value stands."""
    assert isinstance(node, yaml.MappingNode)
    for key, value in node.value:
        if isinstance(value, yaml.MappingNode) and value.value:
            yield from lines(value, f"{place}{key.value}.")
        else:
            yield f"{place}{key.value}", key.start_mark.line


def recipe(name: str) -> Recipe:
    path = RECIPES / name
    if name in COURSES:
        return from_mapping(Recipe, load_course(path).stages, path, "stages")
    return load_recipe(path)


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.name)
def test_every_recipe_is_read(path: Path) -> None:
    made = recipe(path.name)
    assert from_mapping(Recipe, to_mapping(made), path) == made


def test_the_papers_recipe_spells_out_every_value_and_marks_what_is_ours() -> None:
    path = RECIPES / "paper.yaml"
    text = path.read_text()
    written = dict(leaves(yaml.safe_load(text)))
    assert set(written) == set(dict(leaves(to_mapping(Recipe()))))  # all of them, none twice
    ours = {name for name, line in lines(yaml.compose(text)) if "# ours" in text.splitlines()[line]}
    assert set(written) - ours == set(PAPER)
    for name, value in PAPER.items():
        assert written[name] == value, name
    assert load_recipe(path) == Recipe() == load_recipe(None)  # the paper's values are the defaults


def test_what_the_paper_fixes_and_no_recipe_changes() -> None:
    assert (CLIP_SECONDS, FPS) == (4.0, 2)
    assert set(TARGETS) == {"q_proj", "k_proj", "v_proj", "o_proj"}
    assert PRIORITY == (Track.HISTORICAL, Track.CURRENT, Track.RECENT)


def changes(name: str, base: str = "paper.yaml") -> dict[str, Any]:
    mine, theirs = (dict(leaves(to_mapping(recipe(each)))) for each in (name, base))
    return {key: value for key, value in mine.items() if value != theirs[key]}


def test_a_variant_changes_what_it_is_named_for_and_nothing_else() -> None:
    assert changes("representation.yaml") == {"stage2.lora": False, "stage2.legacy_split": True}
    held = recipe("representation.yaml").stage2
    assert (held.loop.steps, held.loop.batch * held.loop.accumulation) == (3_000, 16)
    for kind in (Representation.EVENT_POOL, Representation.FIXED_POOL):
        name = f"representation_{kind.value}.yaml"
        assert changes(name, "representation.yaml") == {"stage2.representation": kind.value}
    for scope in (Scope.CURRENT, Scope.LOCAL):
        assert changes(f"scope_{scope.value}.yaml") == {"stage3.scope": scope.value}
    assert changes("joint.yaml") == {"stage3.path": Path3.JOINT.value}
    assert changes("video_sft.yaml") == {"stage3.path": Path3.VIDEO.value, "model.language.recompute": True}


def test_a_value_that_is_not_known_is_named_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"extends: {RECIPES / 'paper.yaml'}\nstage3:\n  memory_gate: neural\n")
    with pytest.raises(UsageError, match=r"stage3\.memory_gate must be one of rule, learned, not 'neural'"):
        load_recipe(path)
    path.write_text("stage3: {retain_wieght: 0.1}\n")
    with pytest.raises(UsageError, match=r"(?s)stage3\.retain_wieght is not known.*did you mean retain_weight"):
        load_recipe(path)


def test_how_a_match_is_run_goes_with_the_weights(tmp_path: Path) -> None:
    held = recipe("paper.yaml").runtime
    write_runtime(tmp_path, held)
    assert read_runtime(tmp_path) == held

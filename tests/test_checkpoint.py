"""A saved model comes back as it was, wherever it is moved, and goes with nothing that it was not trained with."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from streamsoccer.adapter import AdapterConfig
from streamsoccer.backbone import BackboneConfig, load_backbone
from streamsoccer.checkpoint import (
    PARTS,
    Checkpoint,
    from_pretrained,
    load_weights,
    read_checkpoint,
    read_provenance,
    save_pretrained,
)
from streamsoccer.errors import CheckpointError, StreamSoccerError, UsageError
from streamsoccer.heads import HeadsConfig
from streamsoccer.language import Language, Prompt, Request
from streamsoccer.memory import MemoryConfig
from streamsoccer.model import ModelConfig, StreamSoccer, Widths
from streamsoccer.projector import ProjectorConfig
from streamsoccer.prompt import PromptConfig, Prompter
from streamsoccer.testing.backbone import tiny_backbone
from streamsoccer.transition import TransitionConfig

WORDS = ["A corner for the home team.", "The away team defends the corner."]
CONFIG = ModelConfig(
    adapter=AdapterConfig(width=16, heads=2),
    memory=MemoryConfig(heads=2),
    transition=TransitionConfig(heads=2),
    heads=HeadsConfig(heads=2, retrieval_width=8),
    projector=ProjectorConfig(heads=2),
)


def write(folder: Path, backbone: Path, *, path: str = "../backbone", parts: tuple[str, ...] = PARTS) -> Checkpoint:
    """A model of random weights over the backbone in a folder, saved as a run saves it."""
    held = load_backbone(BackboneConfig(path=str(backbone), dtype="float32"))
    torch.manual_seed(1)
    language = Language(held)
    for name, value in language.lora_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(value, std=0.3)
    return save_pretrained(
        folder,
        StreamSoccer(CONFIG, Widths.of(held)),
        backbone={"path": path, "fingerprint": held.fingerprint, "vocabulary": held.vocabulary},
        prompt=Prompter(held.tokenizer).fingerprint,
        parts=parts,
        lora=language.lora_state(),
        provenance=[{"stage": "records", "step": 3}],
    )


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """models/mini as it is shipped: backbone and model side by side."""
    folder = tmp_path_factory.mktemp("models") / "mini"
    tiny_backbone(folder / "backbone", WORDS)
    write(folder / "pretrained_model", folder / "backbone")
    return folder


@pytest.fixture
def copy(shipped: Path, tmp_path: Path) -> Path:
    """One that a test may spoil."""
    return Path(shutil.copytree(shipped, tmp_path / "copy"))


def change(folder: Path, **values: object) -> None:
    path = folder / "pretrained_model" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_shipped_model_says_the_same_wherever_it_is_moved(
    shipped: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = from_pretrained(shipped)
    monkeypatch.chdir(copy.parent)
    other = from_pretrained("copy/pretrained_model")
    assert one.checkpoint.backbone["path"] == "../backbone"
    request = Request(prefix=torch.randn(8, 64), prompt=Prompt(before=(1, 2), after=(3, 4, 5)), max_tokens=12)
    assert one.language.generate([request]) == other.language.generate([request])
    for (name, mine), theirs in zip(one.model.state_dict().items(), other.model.state_dict().values(), strict=True):
        assert torch.equal(mine, theirs), name
    assert not one.model.training and not any(each.requires_grad for each in one.model.parameters())
    assert read_provenance(one.folder)[0]["stage"] == "records"
    assert one.vision.tokens(8) == 336
    assert one.prompter.fingerprint == one.checkpoint.prompt


def test_a_runs_folder_stands_for_its_last_checkpoint(shipped: Path, tmp_path: Path) -> None:
    run = tmp_path / "run" / "checkpoints" / "step-000003"
    write(run / "pretrained_model", shipped / "backbone", path=str(shipped / "backbone"))
    (run.parent / "last").symlink_to("step-000003")
    assert from_pretrained(tmp_path / "run").checkpoint.model == CONFIG


def test_a_backbone_named_from_the_working_folder_is_found_from_any_other(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shipped)
    made = write(tmp_path / "pretrained_model", shipped / "backbone", path="backbone")
    monkeypatch.chdir(tmp_path)
    assert made.backbone["path"] == str((shipped / "backbone").resolve())
    from_pretrained(tmp_path)


def test_a_backbone_that_is_gone_is_named_with_what_to_do(copy: Path, shipped: Path) -> None:
    (copy / "backbone").rename(copy / "elsewhere")
    with pytest.raises(
        CheckpointError, match=r"(?s)its backbone: .*there is no such folder.*backbone \.\./backbone now"
    ):
        from_pretrained(copy)
    from_pretrained(copy, backbone=copy / "elsewhere")
    with pytest.raises(UsageError, match="no such folder"):
        from_pretrained(copy, backbone=copy / "nowhere")


def test_another_backbone_of_the_same_shape_is_refused(copy: Path, tmp_path: Path) -> None:
    tiny_backbone(tmp_path / "other", WORDS, seed=5)
    with pytest.raises(CheckpointError, match="another backbone"):
        from_pretrained(copy, backbone=tmp_path / "other")


def test_another_shape_is_refused(copy: Path, tmp_path: Path) -> None:
    tiny_backbone(tmp_path / "wide", WORDS, width=128)
    with pytest.raises(CheckpointError, match="widths 64 and 64, the backbone has 128 and 128"):
        from_pretrained(copy, backbone=tmp_path / "wide")


def test_another_vocabulary_is_refused(copy: Path) -> None:
    tokenizer = copy / "backbone" / "tokenizer.json"
    held = json.loads(tokenizer.read_text())
    words = held["model"]["vocab"]
    first, second = sorted(words, key=words.__getitem__)[:2]
    words[first], words[second] = words[second], words[first]
    tokenizer.write_text(json.dumps(held))
    with pytest.raises(CheckpointError, match="another vocabulary"):
        from_pretrained(copy)


def test_another_prompt_profile_is_refused(copy: Path) -> None:
    held = load_backbone(BackboneConfig(path=str(copy / "backbone"), dtype="float32"))
    other = Prompter(held.tokenizer, PromptConfig(sided=True)).fingerprint
    with pytest.raises(CheckpointError, match="another prompt profile"):
        read_checkpoint(copy).require(prompt=other)
    change(copy, prompt=other)
    with pytest.raises(CheckpointError, match="another prompt profile"):
        from_pretrained(copy)


def test_parts_that_were_never_trained_are_not_made_up(tmp_path: Path, shipped: Path) -> None:
    write(tmp_path / "pretrained_model", shipped / "backbone", path=str(shipped / "backbone"), parts=PARTS[:2])
    with pytest.raises(CheckpointError, match="no trained context, only encoder and projector"):
        from_pretrained(tmp_path)
    from_pretrained(tmp_path, parts=("encoder", "projector"))


@pytest.mark.parametrize("file", ["model.safetensors", "lora.safetensors"])
def test_weights_that_are_not_those_that_were_saved_are_refused(copy: Path, file: str) -> None:
    path = copy / "pretrained_model" / file
    tensors = load_file(path)
    name = sorted(tensors)[0]
    tensors[name] = tensors[name] + 1e-3
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match="not those that were saved"):
        from_pretrained(copy)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="cannot be read"):
        from_pretrained(copy)


def test_weights_of_another_configuration_name_the_first_tensor_that_differs(shipped: Path) -> None:
    checkpoint = read_checkpoint(shipped)
    wider = ModelConfig(
        adapter=AdapterConfig(width=32, heads=2),
        memory=CONFIG.memory,
        transition=CONFIG.transition,
        heads=CONFIG.heads,
        projector=CONFIG.projector,
    )
    with pytest.raises(CheckpointError, match=r"another shape: encoder\.adapter\.\S+ is \(.*\) there and \(.*\) in"):
        load_weights(checkpoint, StreamSoccer(wider, checkpoint.widths), PARTS)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"format": 99}, "format 99; this version reads 1"),
        ({"widths": {"visual": 64}}, "is not what was saved"),
        ({"parts": 3}, "is not what was saved"),
        ({"model": {"adaptor": {}}}, "(?s)adaptor is not known.*did you mean adapter"),
    ],
)
def test_a_config_that_nobody_saved_is_named(copy: Path, values: dict[str, object], what: str) -> None:
    change(copy, **values)
    with pytest.raises(StreamSoccerError, match=what) as caught:
        from_pretrained(copy)
    assert "config.json" in str(caught.value)


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"(?s)holds no config\.json.*pretrained_model"):
        from_pretrained(tmp_path)

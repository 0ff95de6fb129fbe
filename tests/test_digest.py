"""The adapter before there are events: whose the ball is, a caption from a few tokens, and weights that go on."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from streamsoccer.adapter import AdapterConfig, ClipEventAdapter
from streamsoccer.backbone import load_random
from streamsoccer.errors import CheckpointError
from streamsoccer.testing.backbone import tiny_tokenizer
from streamsoccer.training.captioner import BackboneShape, Captioner, around
from streamsoccer.training.digest import NOBODY, Digest, load_adapter, owner_loss, owners_of, save_adapter

SMALL = AdapterConfig(width=16, tokens=3, heads=2, layers=1)


def test_the_ball_is_his_side_s_who_has_it() -> None:
    boxes = torch.full((1, 8, 4, 6), -1, dtype=torch.int16)
    boxes[0, :, 0, :2] = torch.tensor([[0, 1], [0, 0], [1, 1], [2, 1], [3, 1], [4, 1], [5, 0], [-2, 0]])
    boxes[0, 1, 1, :2] = torch.tensor([1, 1])
    assert owners_of(boxes).tolist() == [[0, 1, 1, 0, 1, NOBODY, NOBODY, -100]]


def test_frames_that_are_not_marked_count_for_nothing() -> None:
    torch.manual_seed(0)
    logits, owners = torch.randn(2, 8, 3), torch.full((2, 8), -100)
    owners[0, :3] = torch.tensor([0, 1, NOBODY])
    loss, counts = owner_loss(logits, owners)
    by_hand = [-logits[0, at].log_softmax(-1)[kind] for at, kind in enumerate((0, 1, 2))]
    torch.testing.assert_close(loss, torch.stack(by_hand).mean())
    assert counts[0] == 2
    assert float(owner_loss(logits, torch.full((2, 8), -100))[0]) == 0


def test_a_caption_and_its_owners_are_learnt_through_a_few_tokens() -> None:
    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(["a home player passes to the left", "an away player shoots"])
    shape = BackboneShape(
        visual_width=32, visual_layers=1, visual_heads=2, visual_hidden=32, visual_places=16, deepstack=0,
        text_width=48, text_layers=2, text_heads=4, text_groups=2, text_hidden=96,
    )  # fmt: skip
    backbone = load_random(shape.config(len(tokenizer)), tokenizer, dtype="float32", seed=3)
    captioner = Captioner(backbone.model.requires_grad_(True))
    digest, prompt = Digest(SMALL, 48), around(backbone, torch.device("cpu"))
    visual, words = torch.randn(6, 24, 48), torch.randint(len(tokenizer), (6, 5))
    words[::2, 3:] = -100  # shorter captions
    owners = torch.randint(3, (6, 8))
    parameters = [*digest.parameters(), *captioner.text.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-2)
    for _ in range(150):
        tokens, owner = digest(visual)
        told, right = captioner.retell_loss(tokens, words, *prompt)
        owned, counts = owner_loss(owner, owners)
        optimizer.zero_grad()
        (told + owned).backward()
        optimizer.step()
    assert float(told.detach()) < 0.1
    assert float(right) == 1
    assert float(owned.detach()) < 0.1
    assert counts[0] == counts[1] == int((owners < NOBODY).sum())


def test_first_weights_are_of_the_same_shape_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "adapter.safetensors"
    learnt, other = ClipEventAdapter(SMALL, 48), ClipEventAdapter(SMALL, 48)
    save_adapter(learnt, path)
    load_adapter(other, path)
    for name, each in other.state_dict().items():
        assert torch.equal(each, learnt.state_dict()[name])
    with pytest.raises(CheckpointError, match="another shape"):
        load_adapter(ClipEventAdapter(replace(SMALL, width=32), 48), path)
    path.write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_adapter(other, path)

"""What pre-training asks of a batch: say what clips show, find who is where, tell a clip again from few tokens, go on
with a text. Each is a loss with a weight; the finder and what reads the digest are dropped when the backbone is made.

B rows, K clips a row, T frames, H x W pixels, L tokens, M boxes of a frame
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from streamsoccer.backbone import Backbone
from streamsoccer.training.captioner import Captioner, Layout, around, layout
from streamsoccer.training.digest import Digest, owner_loss, owners_of
from streamsoccer.training.finding import FOUND, Finder, cells_of
from streamsoccer.training.foundation import seeded
from streamsoccer.training.pretrain_recipe import PretrainRecipe
from streamsoccer.vision import PATCH

__all__ = ["Lesson", "Lessons", "figures_of"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Lesson:
    """The weighted loss of a batch, its parts to be told, and what was counted."""

    loss: Tensor
    told: dict[str, Tensor]
    counts: dict[str, Tensor] = field(default_factory=dict)


class Lessons(nn.Module):
    """The backbone with all that learns beside it."""

    def __init__(self, backbone: Backbone, recipe: PretrainRecipe, device: torch.device) -> None:
        super().__init__()
        self.recipe, self.device = recipe, device
        self.captioner = Captioner(backbone.model.float().requires_grad_(True))
        self.finder = Finder(recipe.shape.text_width).to(device)
        self.digest: Digest | None = None
        if recipe.digest_weight:
            with seeded(recipe.seed):
                self.digest = Digest(recipe.adapter, recipe.shape.text_width).to(device)
        self._around = around(backbone, device)
        self._layouts: dict[int, Layout] = {
            each: layout(backbone, each, recipe.width, recipe.height).to(device)
            for each in sorted({1, *recipe.clips_in_row})
        }
        if device.type == "cuda" and recipe.compile:
            self.captioner.compile_parts()

    @property
    def compute(self) -> torch.dtype:
        return torch.bfloat16 if self.device.type == "cuda" else torch.float32

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def beside(self) -> dict[str, nn.Parameter]:
        """What learns beside the backbone, by names of its own: it is kept with the state, and not given away."""
        parts: dict[str, nn.Module] = {"finder": self.finder}
        if self.digest is not None:
            parts["digest"] = self.digest
        return {f"{part}.{name}": each for part, held in parts.items() for name, each in held.named_parameters()}

    def of_clips(
        self, pixels: Tensor, words: Tensor, boxes: Tensor, lost: Tensor | None = None, *, deep: bool = False
    ) -> Lesson:
        """Frames [B * K, T, 3, H, W] of which a part is `lost`, captions [B, L], boxes [B * K, T, M, 6].

        A clip is told again only where it stands alone in its row.
        """
        recipe, in_row = self.recipe, len(pixels) // len(words)
        visual, feature = self.captioner.see(pixels, deep=deep)
        caption, right = self.captioner.caption_loss(visual, feature, words, self._layouts[in_row])
        cells = cells_of(boxes, recipe.height // PATCH, recipe.width // PATCH, lost)
        find, found = self.finder.loss(visual, *cells)
        loss = caption + recipe.find_weight * find
        told = {"clip_loss": caption, "clip_right": right, "find_loss": find}
        counts = {"found": found}
        if self.digest is not None and in_row == 1:
            tokens, owner = self.digest(visual)
            retold, again = self.captioner.retell_loss(tokens, words, *self._around)
            owned, counts["owned"] = owner_loss(owner, owners_of(boxes))
            loss = loss + recipe.digest_weight * (retold + owned)
            told |= {"retold_loss": retold, "retold_right": again, "owner_loss": owned}
        return Lesson(loss=loss, told={name: each.detach() for name, each in told.items()}, counts=counts)

    def of_text(self, ids: Tensor, targets: Tensor) -> Lesson:
        """Rows of text [B, L] and what each token is to be followed by."""
        loss, right = self.captioner.text_loss(ids, targets)
        return Lesson(loss=self.recipe.text_weight * loss, told={"text_loss": loss.detach(), "text_right": right})

    def describe(self, pixels: Tensor, end: int, longest: int) -> list[list[int]]:
        """The likeliest words about clips [B, T, 3, H, W]."""
        return self.captioner.describe(pixels[:, None], self._layouts[1], end, longest)


def figures_of(counts: Mapping[str, Tensor]) -> dict[str, float]:
    """How well each of FOUND is found (F1), and how often a ball's owner is named rightly, of summed counts."""
    figures: dict[str, float] = {}
    if "owned" in counts and counts["owned"][0] > 0:
        figures["owner_right"] = float(counts["owned"][1] / counts["owned"][0])
    if "found" in counts:
        for name, (there, told, right) in zip(FOUND, counts["found"].T.tolist(), strict=True):
            if there:
                figures[f"finds {name}"] = 2 * right / (there + told)
    return figures

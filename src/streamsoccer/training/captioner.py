"""What is trained before all stages: a Qwen3-VL that says what a clip shows, and goes on with a text.

    uint8 frames -> tower -> V_t -> [<0.2 seconds> <|vision_start|> V_t's first grid <|vision_end|> ...] -> caption

The layers are transformers' own modules in loops that make one batch of all grids and all rows, with positions as
transformers gives them to its native video path (three axes, a timestamp before each grid). The event memory reads V_t
alone, so most steps run without DeepStack: what a caption needs must then come through V_t.

B rows, K clips a row, T frames a clip, H x W pixels, N tokens of a clip, L tokens of a row, D = d_l, d a head's width
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from streamsoccer.backbone import Backbone
from streamsoccer.clip import CLIP_SECONDS, FPS, FRAMES_PER_CLIP
from streamsoccer.errors import UsageError
from streamsoccer.vision import MERGE, PAIR, PATCH, by_blocks, tower_layer, turn

__all__ = ["BackboneShape", "Captioner", "Layout", "around", "initialise", "layout"]

_TURN = "<|im_start|>user\n"
_ASK = "\nSay what is seen.<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class BackboneShape:
    """A Qwen3-VL in a few numbers."""

    vocabulary: int = 3072
    visual_width: int = 256
    visual_layers: int = 6
    visual_heads: int = 4
    visual_hidden: int = 1024
    visual_places: int = 256  # learned positions of the tower, a square number
    deepstack: int = 2  # after which layer of the tower the one DeepStack feature is taken
    text_width: int = 320
    text_layers: int = 6
    text_heads: int = 10
    text_groups: int = 5
    text_hidden: int = 896
    rope_theta: float = 50_000.0

    def __post_init__(self) -> None:
        if self.text_width % self.text_heads or self.text_heads % self.text_groups or self.text_width // 2 % 2:
            raise UsageError("text_width must be a multiple of text_heads, text_heads one of text_groups")
        if self.text_width // self.text_heads % 2 or self.visual_width // self.visual_heads % 4:
            raise UsageError("a text head's width must be a multiple of 2, a visual head's of 4")
        if not 0 <= self.deepstack < self.visual_layers:
            raise UsageError(f"the tower has no layer {self.deepstack}", remedy="deepstack counts from 0")

    def config(self, tokens: int) -> Any:
        """transformers' configuration, for a tokenizer of so many tokens."""
        from transformers import Qwen3VLConfig

        half = self.text_width // self.text_heads // 2
        return Qwen3VLConfig(
            text_config={
                "vocab_size": tokens,
                "hidden_size": self.text_width,
                "intermediate_size": self.text_hidden,
                "num_hidden_layers": self.text_layers,
                "num_attention_heads": self.text_heads,
                "num_key_value_heads": self.text_groups,
                "head_dim": self.text_width // self.text_heads,
                "max_position_embeddings": 8192,
                "rope_parameters": {
                    "rope_type": "default",
                    "rope_theta": self.rope_theta,
                    "mrope_section": [half - 2 * (half // 3), half // 3, half // 3],  # must sum to half a head
                    "mrope_interleaved": True,
                },
                "tie_word_embeddings": True,
            },
            vision_config={
                "depth": self.visual_layers,
                "hidden_size": self.visual_width,
                "intermediate_size": self.visual_hidden,
                "num_heads": self.visual_heads,
                "out_hidden_size": self.text_width,
                "patch_size": PATCH,
                "temporal_patch_size": PAIR,
                "spatial_merge_size": MERGE,
                "num_position_embeddings": self.visual_places,
                "deepstack_visual_indexes": [self.deepstack],
            },
            tie_word_embeddings=True,
        )


def initialise(model: Any) -> None:
    """Every residual branch begins at nothing: the deeper the model, the more that steadies its first steps."""
    with torch.no_grad():
        for block in model.model.visual.blocks:
            block.attn.proj.weight.zero_()
            block.mlp.linear_fc2.weight.zero_()
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Layout:
    """The tokens in front of a caption of K clips [L], where V_t goes in them [K * N], and all positions [3, ...]."""

    ids: Tensor
    places: Tensor
    positions: Tensor  # of these tokens; what follows goes on by one on all axes

    def to(self, device: torch.device) -> Layout:
        return Layout(ids=self.ids.to(device), places=self.places.to(device), positions=self.positions.to(device))


def layout(backbone: Backbone, clips: int, width: int, height: int) -> Layout:
    """The native video path's prompt for clips that follow each other."""
    tokenizer = backbone.tokenizer
    high, wide = height // (PATCH * MERGE), width // (PATCH * MERGE)
    ids: list[int] = list(tokenizer.encode(_TURN, add_special_tokens=False))
    kinds = [0] * len(ids)
    grids = FRAMES_PER_CLIP // PAIR
    for clip in range(clips):
        for grid in range(grids):
            seconds = clip * CLIP_SECONDS + (grid * PAIR + (PAIR - 1) / 2) / FPS
            stamp = tokenizer.encode(f"<{seconds:.1f} seconds><|vision_start|>", add_special_tokens=False)
            ids += [*stamp, *[backbone.token("<|video_pad|>")] * (high * wide), backbone.token("<|vision_end|>")]
            kinds += [0] * len(stamp) + [2] * (high * wide) + [0]
    ask = tokenizer.encode(_ASK, add_special_tokens=False)
    ids, kinds = ids + list(ask), kinds + [0] * len(ask)
    tokens, types = torch.tensor([ids]), torch.tensor([kinds], dtype=torch.int32)
    grid_thw = torch.tensor([[grids, high * MERGE, wide * MERGE]] * clips)
    positions, _ = backbone.model.model.get_rope_index(tokens, mm_token_type_ids=types, video_grid_thw=grid_thw)
    return Layout(ids=tokens[0], places=(types[0] == 2).nonzero()[:, 0], positions=positions[:, 0])


def around(backbone: Backbone, device: torch.device) -> tuple[Tensor, Tensor]:
    """The prompt's tokens before and after a clip, where a few tokens stand for it."""
    asked = [backbone.tokenizer.encode(each, add_special_tokens=False) for each in (_TURN, _ASK)]
    return torch.tensor(asked[0], device=device), torch.tensor(asked[1], device=device)


class Captioner(nn.Module):
    """The backbone as it is trained. A layer of each kind is what is compiled: all layers share that code."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.tower: Any = model.model.visual
        self.text: Any = model.model.language_model
        self._fused: tuple[Callable[..., Tensor], Callable[..., Tensor]] = (tower_layer, _layer)

    def compile_parts(self) -> None:
        """Fuse what lies between the matrix products: for a GPU, where a step would else wait for memory.

        What needs no gradients stays as it is: a look now and then is not worth the time that compiling takes.
        """
        self._fused = (torch.compile(tower_layer, dynamic=False), torch.compile(_layer, dynamic=False))

    @property
    def _parts(self) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
        return self._fused if torch.is_grad_enabled() else (tower_layer, _layer)

    # --- pictures -----------------------------------------------------------------------------------------------------

    def see(self, pixels: Tensor, *, deep: bool = False) -> tuple[Tensor, Tensor | None]:
        """Frames [B, T, 3, H, W], 0 to 255, to V_t [B, N, D] and, where asked, the DeepStack feature of that shape."""
        high, wide = pixels.shape[-2] // PATCH, pixels.shape[-1] // PATCH
        patches = _in_step(_patches(pixels))
        found, feature = self._forward_tower(patches, self._places(high, wide), *self._turns(high, wide), deep)
        rows = pixels.shape[0]
        shaped = found.view(rows, -1, found.shape[-1])
        return shaped, None if feature is None else feature.view_as(shaped)

    def _places(self, high: int, wide: int) -> Tensor:
        side = int(self.tower.pos_embed.num_embeddings**0.5)
        table = self.tower.pos_embed.weight.float().view(1, side, side, -1).permute(0, 3, 1, 2)
        learned = F.interpolate(table, size=(high, wide), mode="bilinear", align_corners=True)[0]
        return by_blocks(learned.permute(1, 2, 0))

    def _turns(self, high: int, wide: int) -> tuple[Tensor, Tensor]:
        rate = self.tower.rotary_pos_emb.inv_freq.float()
        rows = by_blocks(torch.arange(high, device=rate.device)[:, None, None].expand(high, wide, 1))
        columns = by_blocks(torch.arange(wide, device=rate.device)[None, :, None].expand(high, wide, 1))
        angles = torch.cat([rows * rate, columns * rate], dim=-1).repeat(1, 2)
        return angles.cos(), angles.sin()

    def _forward_tower(
        self, patches: Tensor, places: Tensor, cos: Tensor, sin: Tensor, deep: bool
    ) -> tuple[Tensor, Tensor | None]:
        tower, (block, _) = self.tower, self._parts
        kernel = tower.patch_embed.proj
        hidden = F.linear(patches, kernel.weight.flatten(1), kernel.bias) + places.to(patches.dtype)
        feature: Tensor | None = None
        for index, each in enumerate(tower.blocks):
            hidden = block(each, hidden, cos, sin)
            if deep and index == tower.deepstack_visual_indexes[0]:
                feature = tower.deepstack_merger_list[0](hidden.flatten(0, 1))
        return tower.merger(hidden.flatten(0, 1)), feature

    # --- words --------------------------------------------------------------------------------------------------------

    def _forward_text(
        self, hidden: Tensor, cos: Tensor, sin: Tensor, places: Tensor | None, feature: Tensor | None
    ) -> Tensor:
        groups = self.text.config.num_attention_heads // self.text.config.num_key_value_heads
        _, layer = self._parts
        for index, each in enumerate(self.text.layers):
            hidden = layer(each, hidden, cos, sin, groups)
            if index == 0 and feature is not None and places is not None:
                hidden = hidden.index_add(1, places, feature.to(hidden.dtype))
        out: Tensor = self.text.norm(hidden)
        return out

    def think(
        self, embeddings: Tensor, positions: Tensor, places: Tensor | None = None, feature: Tensor | None = None
    ) -> Tensor:
        """Embeddings [B, L, D] of rows with the same positions [3, L] to the last layer's output."""
        cos, sin = self.text.rotary_emb(embeddings.float(), positions[:, None])
        return self._forward_text(embeddings, cos[0], sin[0], places, feature)

    # --- losses -------------------------------------------------------------------------------------------------------

    def caption_hidden(self, pixels: Tensor, words: Tensor, prompt: Layout, *, deep: bool = False) -> Tensor:
        """What says each of the words [B, L] about the clips [B, K, T, 3, H, W], and after them what follows."""
        return self._say(*self.see(pixels.flatten(0, 1), deep=deep), words, prompt)

    def _say(self, visual: Tensor, feature: Tensor | None, words: Tensor, prompt: Layout) -> Tensor:
        rows = len(words)
        visual = visual.reshape(rows, -1, visual.shape[-1])
        table = self.text.embed_tokens
        front = table(prompt.ids).to(visual.dtype).expand(rows, -1, -1)
        front = front.index_copy(1, prompt.places, visual)
        embeddings = torch.cat([front, table(words).to(visual.dtype)], dim=1)
        positions = _onward(prompt.positions, words.shape[1])
        if feature is not None:
            feature = feature.reshape(rows, -1, feature.shape[-1])
        hidden = self.think(embeddings, positions, prompt.places, feature)
        return hidden[:, front.shape[1] - 1 :]

    def caption_loss(
        self, visual: Tensor, feature: Tensor | None, words: Tensor, prompt: Layout
    ) -> tuple[Tensor, Tensor]:
        """Words [B, L] end with their end of turn and then -100: cross-entropy by token, and how many were right.

        V_t [B * K, N, D] and the DeepStack feature are what `see` gave.
        """
        return self._loss(self._say(visual, feature, words[:, :-1].clamp(min=0), prompt), words)

    def retell_loss(self, tokens: Tensor, words: Tensor, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """As `caption_loss`, of what stands for the clips in a few tokens [B, K, D] between these of the prompt."""
        rows, table = len(tokens), self.text.embed_tokens
        parts = [table(before).expand(rows, -1, -1), tokens, table(after).expand(rows, -1, -1)]
        parts.append(table(words[:, :-1].clamp(min=0)))
        embeddings = torch.cat([_in_step(each) for each in parts], dim=1)
        positions = torch.arange(embeddings.shape[1], device=tokens.device).expand(3, -1)
        return self._loss(self.think(embeddings, positions)[:, -words.shape[1] :], words)

    def text_loss(self, ids: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Rows of text [B, L] and what each token should be followed by, -100 where nothing is asked."""
        embeddings = _in_step(self.text.embed_tokens(ids))
        positions = torch.arange(ids.shape[1], device=ids.device).expand(3, -1)
        return self._loss(self.think(embeddings, positions), targets)

    def _loss(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        logits = F.linear(hidden, self.text.embed_tokens.weight).float().flatten(0, 1)
        wanted = targets.flatten()
        loss = F.cross_entropy(logits, wanted, ignore_index=-100)
        said = wanted >= 0
        return loss, ((logits.argmax(-1) == wanted) & said).sum() / said.sum()

    @torch.no_grad()
    def describe(self, pixels: Tensor, prompt: Layout, end: int, longest: int) -> list[list[int]]:
        """The likeliest words about each row's clips, by reading all anew for every word: for a look, not for use."""
        words = torch.zeros(len(pixels), longest, dtype=torch.long, device=pixels.device)
        done = torch.zeros(len(pixels), dtype=torch.bool, device=pixels.device)
        for place in range(longest):
            hidden = self.caption_hidden(pixels, words, prompt)[:, place]
            words[:, place] = F.linear(hidden, self.text.embed_tokens.weight.to(hidden.dtype)).argmax(-1)
            done |= words[:, place] == end
            if bool(done.all()):
                break
        rows: Sequence[list[int]] = words.tolist()
        return [row[: row.index(end)] if end in row else row for row in rows]


def _layer(layer: Any, hidden: Tensor, cos: Tensor, sin: Tensor, groups: int) -> Tensor:
    """A layer of the language model on rows [B, L, D]; `groups` heads share a key."""
    rows, count, _ = hidden.shape
    attention = layer.self_attn
    normed = layer.input_layernorm(hidden)
    query, key, value = (
        each(normed).view(rows, count, -1, attention.head_dim).transpose(1, 2)
        for each in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    query, key = turn(attention.q_norm(query), cos, sin), turn(attention.k_norm(key), cos, sin)
    key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
    mixed = F.scaled_dot_product_attention(query, key, value.to(query.dtype), is_causal=True)
    hidden = hidden + attention.o_proj(mixed.transpose(1, 2).reshape(rows, count, -1))
    out: Tensor = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
    return out


def _in_step(x: Tensor) -> Tensor:
    """In the type that products are made in, so that what is added up between them is as small."""
    kind = x.device.type
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


def _patches(pixels: Tensor) -> Tensor:
    """[B, T, 3, H, W] to patches [B * T / 2, P, pixels] in [-1, 1], as vision.patchify lays them."""
    batch, frames, colours, height, width = pixels.shape
    high, wide = height // PATCH, width // PATCH
    cut = pixels.reshape(
        batch * frames // PAIR, PAIR, colours, high // MERGE, MERGE, PATCH, wide // MERGE, MERGE, PATCH
    )
    cut = cut.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(batch * frames // PAIR, high * wide, -1)
    return (cut - 127.5) / 127.5


def _onward(positions: Tensor, count: int) -> Tensor:
    """Positions [3, L] and those of `count` words after them."""
    more = positions.max() + 1 + torch.arange(count, device=positions.device)
    return torch.cat([positions, more.expand(3, -1)], dim=1)

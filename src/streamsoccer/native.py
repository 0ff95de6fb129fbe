"""The native video path of Qwen3-VL (table 'memory_scope_analysis'): a window of frames straight to the language model.

    [before ; <0.2 seconds> <|vision_start|> V_1 <|vision_end|> <1.2 seconds> ... ; after] -> y_t

No memory, no records: the causal window of 30 s on the current track, of 180 s on the others. Each grid of two frames
has a time stamp and a pair of vision tokens of its own; positions have three axes within a grid; the tower's DeepStack
features are added in the first layers. All of it is what transformers makes of `pixel_values_videos`, with positions
given and nothing kept in the model between calls.

T frames, t grids of two, N tokens of a grid, L tokens of a row, D = d_l
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from streamsoccer.domain import Track
from streamsoccer.errors import UsageError
from streamsoccer.language import Language, Prompt
from streamsoccer.vision import PAIR, VisionEncoder

__all__ = ["WINDOW_SECONDS", "NativeVideo", "Reel", "Row", "evenly"]

WINDOW_SECONDS = {Track.CURRENT: 30.0, Track.RECENT: 180.0, Track.HISTORICAL: 180.0}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reel:
    """Frames of a window, uint8 [T, 3, H, W] of the encoder's size, and the second of the window of each."""

    pixels: Tensor
    times: tuple[float, ...]

    def to(self, device: torch.device) -> Reel:
        return Reel(pixels=self.pixels.to(device, non_blocking=True), times=self.times)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Row:
    """A prompt around a window: tokens [L], positions [3, L] and where the visual tokens go [L]."""

    ids: Tensor
    positions: Tensor
    seen: Tensor


def evenly(count: int, most: int) -> list[int]:
    """At most so many of `count` places, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [int(each) for each in np.linspace(0, count - 1, most).round()]


class NativeVideo:
    """Rows of tokens and frames through the frozen tower into a language model with LoRA."""

    def __init__(self, encoder: VisionEncoder) -> None:
        self.encoder, backbone = encoder, encoder.backbone
        self._tokenizer = backbone.tokenizer
        self._start, self._end, self._pad = map(backbone.token, ("<|vision_start|>", "<|vision_end|>", "<|video_pad|>"))
        deep = len(encoder.tower.deepstack_visual_indexes)
        if deep > (layers := backbone.model.config.text_config.num_hidden_layers):
            raise UsageError(f"{deep} DeepStack features do not fit a language model of {layers} layers")

    def row(self, prompt: Prompt, times: Sequence[float], after: Sequence[int] = ()) -> Row:
        """A prompt with the window in place of the soft prefix, and tokens after it."""
        _, high, wide = self.encoder.grid(PAIR)
        ids: list[int] = []
        seen: list[bool] = []
        positions: list[Tensor] = []
        at = 0

        def text(tokens: Sequence[int]) -> None:
            nonlocal at
            ids.extend(tokens)
            seen.extend([False] * len(tokens))
            positions.append(torch.arange(at, at + len(tokens)).expand(3, -1))
            at += len(tokens)

        text(prompt.before)
        for begin in range(0, len(times), PAIR):
            pair = times[begin : begin + PAIR]
            text([*self._stamp((pair[0] + pair[-1]) / 2), self._start])
            ids.extend([self._pad] * (high * wide))
            seen.extend([True] * (high * wide))
            places = torch.cartesian_prod(torch.zeros(1, dtype=torch.long), torch.arange(high), torch.arange(wide))
            positions.append(at + places.T)
            at += max(high, wide)
            text([self._end])
        text([*prompt.after, *after])
        return Row(ids=torch.tensor(ids), positions=torch.cat(positions, dim=1), seen=torch.tensor(seen))

    def _stamp(self, seconds: float) -> list[int]:
        return list(self._tokenizer.encode(f"<{seconds:.1f} seconds>", add_special_tokens=False))

    def hidden(self, language: Language, rows: Sequence[Row], reels: Sequence[Reel], cache: Any = None) -> Tensor:
        """The last layer's output [B, L, D], rows padded on the right; the tower is frozen and learns nothing."""
        device = language.device
        with torch.no_grad():
            patches = torch.cat([self.encoder.patches(each.pixels) for each in reels])
            visual, features = self.encoder.see(patches, deep=True)
            seen = pad_sequence([each.seen for each in rows], batch_first=True).to(device)
            if int(seen.sum()) != len(visual):
                raise UsageError(f"{int(seen.sum())} visual tokens in the prompts, {len(visual)} of the frames")
            words = language.text.embed_tokens(pad_sequence([each.ids for each in rows], batch_first=True).to(device))
            embeddings = words.masked_scatter(seen[..., None], visual.to(words.dtype))
            positions = pad_sequence([each.positions.T for each in rows], batch_first=True).permute(2, 0, 1)
        return language.hidden(
            embeddings, positions.to(device), cache=cache, visual_pos_masks=seen, deepstack_visual_embeds=features
        )

    def loss(
        self, language: Language, prompts: Sequence[Prompt], reels: Sequence[Reel], targets: Sequence[Sequence[int]]
    ) -> Tensor:
        """Of each sample [B], the mean cross-entropy over its target's tokens."""
        rows = [
            self.row(prompt, reel.times, target[:-1])
            for prompt, reel, target in zip(prompts, reels, targets, strict=True)
        ]
        return language.spoken(self.hidden(language, rows, reels), [len(each.ids) for each in rows], targets)

    def say(self, language: Language, prompt: Prompt, reel: Reel, most: int) -> tuple[int, ...]:
        """The likeliest next token again and again, without the one that ends the turn."""
        from transformers import DynamicCache

        row, head, ends = self.row(prompt, reel.times), language.backbone.model.lm_head, language.backbone.end_tokens
        unsaid = list(language.backbone.unsaid)
        cache: Any = DynamicCache()
        said: list[int] = []
        mode = language.training
        language.eval()
        with torch.inference_mode(), torch.autocast(language.device.type, enabled=False):
            hidden = self.hidden(language, [row], [reel.to(language.device)], cache)
            following = int(row.positions.max()) + 1
            while (token := _likeliest(head(hidden[:, -1]), unsaid)) not in ends:
                said.append(token)
                if len(said) == most:
                    break
                word = language.text.embed_tokens(torch.tensor([[token]], device=language.device))
                place = torch.full((3, 1, 1), following, device=language.device)
                hidden = language.hidden(word, place, cache=cache)
                following += 1
        language.train(mode)
        return tuple(said)


def _likeliest(logits: Tensor, unsaid: list[int]) -> int:
    logits[:, unsaid] = -torch.inf
    return int(logits.argmax(-1))

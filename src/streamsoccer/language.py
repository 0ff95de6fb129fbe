"""The frozen Qwen3-VL language model with LoRA on q, k, v, o (table 'architecture_spec'): soft prefix in, text out.

    [before ; Z_t ; after] -> y_t      before, after: the prompt's tokens around the soft prefix Z_t = P_theta(...)

LoRA lives in a second set of modules over the same frozen weights: the backbone itself stays what was loaded, and
several of these can share one. Training computes with LoRA unmerged; generation with copies of q, k, v, o that it is
merged into. Positions of text are 0, 1, 2, ... on each of the three axes; they are always given, never left to
transformers' `rope_deltas`.

B batch, P = K_p prefix tokens, D = d_l
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from streamsoccer.backbone import Backbone
from streamsoccer.engine import Engine, Job
from streamsoccer.errors import CheckpointError, UsageError

__all__ = ["Language", "LanguageConfig", "Prompt", "Request"]

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")
_ADAPTER = "default"  # PEFT's name for the only one


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageConfig:
    """Table 'architecture_spec'. `recompute` is ours: less memory in training for a third more time."""

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    recompute: bool = False

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha < 1:
            raise UsageError(f"LoRA of rank {self.rank} and alpha {self.alpha}", remedy="both must be 1 or more")
        if not 0.0 <= self.dropout < 1.0:
            raise UsageError(f"a dropout of {self.dropout}", remedy="use 0 or more and less than 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Token ids around the soft prefix."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Request:
    """One text to be written: soft prefix [P, D], prompt, and how long the text may be with its end of turn."""

    prefix: Tensor
    prompt: Prompt
    max_tokens: int


class Language(nn.Module):
    """Its parameters are LoRA's alone; the frozen model is held beside them."""

    def __init__(self, backbone: Backbone, config: LanguageConfig | None = None, *, slots: int | None = None) -> None:
        super().__init__()
        self.config = config or LanguageConfig()
        self.backbone, self.slots = backbone, slots
        self.together = 1
        # In a tuple, so that it is no part of this module: neither saved, nor moved, nor counted as trainable.
        self._held = (_with_lora(backbone, self.config),)
        adapted = {name: each for name, each in self.text.named_modules() if name.endswith(TARGETS)}
        self.lora = nn.ModuleDict(
            {
                name.replace(".", "/"): nn.ModuleDict(
                    {"A": each.lora_A[_ADAPTER], "B": each.lora_B[_ADAPTER], "dropout": each.lora_dropout[_ADAPTER]}
                )
                for name, each in adapted.items()
            }
        )
        self._engine: tuple[tuple[int, ...], Engine] | None = None
        self.eval()

    def hurry(self) -> None:
        """For thousands of texts that nobody waits for: wide steps and prompts read side by side, on a GPU alone."""
        if self.device.type != "cpu":
            self.slots, self.together = (512, 64) if self.backbone.text_width <= 1024 else (128, 16)

    @property
    def text(self) -> Any:
        """transformers' text model over the frozen weights, with PEFT's LoRA layers in it."""
        return self._held[0]

    @property
    def device(self) -> torch.device:
        return self.backbone.device

    def train(self, mode: bool = True) -> Language:
        """transformers recomputes activations in training alone; nothing else in the text model asks for the mode."""
        super().train(mode)
        if hasattr(self, "_held"):
            self.text.train(mode)
        return self

    def embed(self, prompt: Prompt, prefix: Tensor, after: Sequence[int] = ()) -> Tensor:
        """A prompt with its soft prefix [P, D], and tokens after it, as embeddings [T, D] in the backbone's dtype."""
        table = self.text.embed_tokens
        ids = torch.tensor([*prompt.before, *prompt.after, *after], dtype=torch.long, device=self.device)
        words = table(ids)
        prefix = prefix.to(device=words.device, dtype=words.dtype)
        return torch.cat([words[: len(prompt.before)], prefix, words[len(prompt.before) :]])

    def loss(self, prefix: Tensor, prompts: Sequence[Prompt], targets: Sequence[Sequence[int]]) -> Tensor:
        """Of each sample [B], the mean cross-entropy over its target's tokens; prefix [B, P, D]."""
        if not len(prefix) == len(prompts) == len(targets):
            raise UsageError(f"{len(prefix)} prefixes, {len(prompts)} prompts and {len(targets)} targets")
        if empty := [index for index, target in enumerate(targets) if not target]:
            raise UsageError(f"target {empty[0]} of {len(targets)} has no tokens")
        rows = [
            self.embed(prompt, mine, target[:-1]) for prompt, mine, target in zip(prompts, prefix, targets, strict=True)
        ]
        return self.spoken(self.hidden(pad_sequence(rows, batch_first=True)), list(map(len, rows)), targets)

    def spoken(self, hidden: Tensor, counts: Sequence[int], targets: Sequence[Sequence[int]]) -> Tensor:
        """Of each row [B, T, D] of so many tokens, the mean cross-entropy of the target that its end predicts: [B]."""
        # The vocabulary is large: logits are made where a target is, and nowhere else.
        spoken = torch.cat(
            [each[count - len(target) : count] for each, count, target in zip(hidden, counts, targets, strict=True)]
        )
        wanted = torch.tensor([one for target in targets for one in target], dtype=torch.long, device=spoken.device)
        each = F.cross_entropy(self.backbone.model.lm_head(spoken).float(), wanted, reduction="none")
        return torch.stack([part.mean() for part in torch.split(each, [len(target) for target in targets])])

    def hidden(
        self, embeddings: Tensor, positions: Tensor | None = None, *, cache: Any = None, **visual: Any
    ) -> Tensor:
        """Embeddings [B, T, D], padded on the right, to the last layer's output; nobody looks ahead, so no mask.

        With a cache the rows go on from what it holds. `visual` is what the native video path adds.
        """
        batch, count = embeddings.shape[:2]
        if positions is None:
            positions = torch.arange(count, device=embeddings.device).expand(3, batch, count)
        found: Tensor = self.text(
            inputs_embeds=embeddings,
            position_ids=positions,
            use_cache=cache is not None,
            past_key_values=cache,
            **visual,
        ).last_hidden_state
        return found

    def generate(self, requests: Sequence[Request]) -> list[tuple[int, ...]]:
        """The likeliest next token again and again, for each request by itself; without the token that ended it."""
        if not requests:
            return []
        with torch.inference_mode():
            jobs = [
                Job(embeddings=self.embed(each.prompt, each.prefix), max_tokens=each.max_tokens) for each in requests
            ]
        return self.engine().generate(jobs)

    @property
    def at_once(self) -> int:
        """So many requests are worth giving it together: some rounds of its slots, and no more memory than that."""
        return 8 * self.engine().slots

    def engine(self) -> Engine:
        """The decoding engine for LoRA as it is now; made anew once LoRA was trained or loaded."""
        now = (*(each._version for each in self.lora.parameters()), self.slots or 0, self.together)
        if self._engine is None or self._engine[0] != now:
            self._engine = None  # its caches go before others come
            made = Engine(
                self.text,
                self.backbone.model.lm_head,
                self.backbone.end_tokens,
                unsaid=self.backbone.unsaid,
                slots=self.slots,
                together=self.together,
            )
            self._engine = (now, made)
        return self._engine[1]

    def lora_parameters(self) -> list[tuple[str, nn.Parameter]]:
        """Named as on disk: 'layers.0.self_attn.q_proj.lora_A.weight'."""
        return [(_name(key), each) for key, each in self.lora.named_parameters()]

    def lora_state(self) -> dict[str, Tensor]:
        return {name: each.detach() for name, each in self.lora_parameters()}

    def load_lora(self, weights: Mapping[str, Tensor]) -> None:
        """Weights of the same rank for the same layers."""
        mine = self.lora_state()
        for name in sorted({*mine, *weights}):
            have = tuple(weights[name].shape) if name in weights else None
            want = tuple(mine[name].shape) if name in mine else None
            if have != want:
                raise CheckpointError(
                    f"LoRA of another shape: {name} is {have} there and {want} here",
                    remedy="use the language section of the recipe that it was trained with",
                )
        with torch.no_grad():
            for name, each in self.lora_parameters():
                each.copy_(weights[name])


def _name(key: str) -> str:
    where, kind, rest = key.rsplit(".", 2)
    return f"{where.replace('/', '.')}.lora_{kind}.{rest}"


def _with_lora(backbone: Backbone, config: LanguageConfig) -> Any:
    """The text model's modules anew over the same weights, LoRA in float32 among them."""
    from peft import LoraConfig, inject_adapter_in_model

    frozen: Any = backbone.model.model.language_model
    shared: dict[int, Any] = {id(each): each for each in (*frozen.parameters(), *frozen.buffers())}
    text = copy.deepcopy(frozen, shared)
    lora = LoraConfig(r=config.rank, lora_alpha=config.alpha, lora_dropout=config.dropout, target_modules=list(TARGETS))
    inject_adapter_in_model(lora, text)
    for name, each in text.named_parameters():
        each.requires_grad_("lora_" in name)
        if "lora_" in name:
            each.data = each.data.float()
    if config.recompute:
        text.gradient_checkpointing_enable({"use_reentrant": False})
    return text

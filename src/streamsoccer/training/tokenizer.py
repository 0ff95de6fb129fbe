"""A tokenizer of our own: a byte-level BPE with Qwen's special tokens, learnt from the texts that it is for.

A placeholder such as "[HOME PLAYER]" is cut as one piece, so that it can become one token; digits stand alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamsoccer.backbone import SPECIAL_TOKENS
from streamsoccer.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

__all__ = ["train_tokenizer"]

# Placeholders first, then Qwen's way to cut a text before its bytes are merged.
CUT = (
    r" ?\[[A-Z]+(?: [A-Z]+)?\]"
    r"|(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LONGEST = 8192  # tokens of a text


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerBase:
    """A byte-level BPE of at most `vocabulary` tokens, Qwen's special tokens among them."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    if vocabulary < (least := len(alphabet) + len(SPECIAL_TOKENS)):
        raise UsageError(f"a vocabulary of {vocabulary} tokens", remedy=f"bytes and special tokens alone take {least}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CUT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(SPECIAL_TOKENS), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in SPECIAL_TOKENS])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=LONGEST
    )

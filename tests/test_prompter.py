"""What a generator's tokens become as text."""

from __future__ import annotations

from streamsoccer.prompt import PromptConfig, Prompter
from streamsoccer.training.tokenizer import train_tokenizer


def test_half_a_character_is_left_out() -> None:
    tokenizer = train_tokenizer(["A goal for the visitors."], 400)
    prompter = Prompter(tokenizer, PromptConfig(), 8)
    whole = tokenizer.encode("A goal — for the visitors.", add_special_tokens=False)
    dash = tokenizer.encode("—", add_special_tokens=False)
    assert len(dash) == 3, "the dash is three bytes to this tokenizer"
    assert prompter.text(whole) == "A goal — for the visitors."
    assert prompter.text([each for each in whole if each != dash[1]]) == "A goal for the visitors."
    assert prompter.text([*dash[:2], prompter.end_of_turn, *whole]) == ""

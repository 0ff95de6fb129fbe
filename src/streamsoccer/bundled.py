"""The model that comes with this package, or with a checkout of it."""

from __future__ import annotations

from pathlib import Path

from streamsoccer.errors import UsageError

__all__ = ["bundled_model"]

NAME = Path("models") / "mini"
_PACKAGE = Path(__file__).resolve().parent


def bundled_model() -> Path:
    """The folder of the bundled mini model."""
    places = (_PACKAGE / NAME, _PACKAGE.parents[1] / NAME)
    for place in places:
        if any((place / inner / "config.json").is_file() for inner in (".", "pretrained_model")):
            return place
    raise UsageError(
        "the bundled model is not here",
        where=places[-1],
        remedy="name a model's folder with --model, or get the checkout with its models folder",
    )

"""What all tests share: where the real annotation files are, if they are here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.tiny_training import Ground

    from streamsoccer.mind import Mind

# One thread unless told otherwise: models of tests are tiny, and on a busy machine two threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def soccernet() -> Path:
    """The folder with real SoccerNet annotation files; the test is skipped where there is none."""
    shared = Path(os.environ.get("STREAMSOCCER_SHARED", REPOSITORY.parent / "shared"))
    folder = shared / "data" / "soccernet"
    if not folder.is_dir():
        pytest.skip(
            "real SoccerNet annotations are not here: put them in ../shared/data/soccernet, or set STREAMSOCCER_SHARED"
        )
    return folder


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random model with all parts, as `--model` takes it."""
    pytest.importorskip("torch")
    from streamsoccer.testing.model import tiny_model

    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def mind(tiny_folder: Path) -> Mind:
    """That model, ready to run; nobody changes it."""
    from streamsoccer.checkpoint import from_pretrained
    from streamsoccer.mind import Mind
    from streamsoccer.runtime import RuntimeConfig

    return Mind(from_pretrained(tiny_folder), RuntimeConfig(repeat=True))  # babble repeats itself


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A small corpus with stages 1 and 2 behind it, for tests of stage 3; nobody changes it."""
    pytest.importorskip("torch")
    from tests.tiny_training import lay, train_two_stages

    ground = lay(tmp_path_factory.mktemp("trained"))
    train_two_stages(ground)
    return ground

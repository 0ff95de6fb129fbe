"""What all tests share: where the real annotation files are, if they are here."""

import os
from pathlib import Path

import pytest

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

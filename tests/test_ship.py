"""The model as it is given away: the best run, its bytes, and what is said when something is missing."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from streamsoccer.bundled import bundled_model
from streamsoccer.errors import UsageError
from streamsoccer.familiarity import read_familiarity
from streamsoccer.training.ship import best_run, parameters, seal

ROOT = Path(__file__).resolve().parents[1]


def _run(folder: Path, *looks: dict[str, float]) -> Path:
    folder.mkdir()
    lines = [json.dumps({"step": step, "validation": look}) for step, look in enumerate(looks)]
    (folder / "metrics.jsonl").write_text("\n".join(['{"step": 0, "loss": 9.0}', *lines]) + "\n", encoding="utf-8")
    return folder


def test_the_best_run_is_the_one_whose_last_look_is_lowest_in_its_own_contexts(tmp_path: Path) -> None:
    early = _run(tmp_path / "s1", {"loss": 0.1, "own_loss": 0.2}, {"loss": 0.5, "own_loss": 0.9})
    late = _run(tmp_path / "s2", {"loss": 0.9, "own_loss": 0.95}, {"loss": 0.8, "own_loss": 0.8})
    assert best_run([early, late]) == (late, 0.8)
    plain = _run(tmp_path / "s3", {"loss": 0.7})
    assert best_run([early, late, plain]) == (plain, 0.7)


def test_a_run_without_a_look_is_named(tmp_path: Path) -> None:
    blind = _run(tmp_path / "s1")
    with pytest.raises(UsageError, match="no validation"):
        best_run([blind])


def test_the_seal_holds_every_file_and_not_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_bytes(b"four")
    assert seal(tmp_path) == seal(tmp_path) == 4
    assert (tmp_path / "SHA256SUMS").read_text(encoding="utf-8") == f"{hashlib.sha256(b'four').hexdigest()}  a/b.txt\n"


def test_the_bundled_model_is_what_its_card_says() -> None:
    model = bundled_model()
    for line in (model / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((model / name).read_bytes()).hexdigest() == digest, name
    assert parameters(model) <= 20_000_000
    assert all(path.stat().st_size <= 15 * 2**20 for path in model.rglob("*") if path.is_file())
    known = read_familiarity(model / "pretrained_model")
    assert known is not None and known.clips >= 1_000


def test_the_tracked_tree_fits_what_travels_to_a_training_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    assert paths
    assert sum(path.stat().st_size for path in paths if path.is_file()) < 56 * 2**20

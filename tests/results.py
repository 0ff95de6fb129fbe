"""Where measured figures go: docs/results/<name>.json, with the command, commit, machine and date they come from."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamsoccer.clock import utc_date

__all__ = ["FOLDER", "record"]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "results"


def record(name: str, figures: Mapping[str, Any], command: str, *, folder: Path = FOLDER) -> Path:
    """Write the figures of one result, replacing what stood under its name; `command` is what prints them again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    row = {"figures": dict(figures), "command": command, "commit": _commit(), "machine": _machine(), "date": utc_date()}
    beside = path.with_suffix(f".{os.getpid()}.part")
    beside.write_text(json.dumps(row, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    beside.replace(path)
    return path


def _commit() -> str:
    """The commit that was measured, with '+' where tracked files differ from it."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD").strip()
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "tests", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed.strip() else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _machine() -> dict[str, Any]:
    """The kind of machine, nothing that names this one."""
    return {"cpus": os.cpu_count(), "cpu": _model(), "system": f"{platform.system()} {platform.machine()}"}


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")

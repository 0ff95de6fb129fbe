"""The tree keeps its shape: imports point one way, heavy ones stay out of the way, and one file reads the time."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "streamsoccer"
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
HEAVY = {
    "av",
    "cv2",
    "matplotlib",
    "torch",
    "transformers",
    "peft",
    "accelerate",
    "starlette",
    "uvicorn",
    "pycocoevalcap",
    "bert_score",
}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "builder", "manager"}
MEETING_POINTS = {"cli.py", "commands.py", "demo.py"}  # where source, model, journal and outputs are put together
# What each folder may import of the others; a folder that is not named here may import core files alone.
MAY_IMPORT: dict[str, set[str]] = {
    "testing": {"sources"},
    "evaluation": {"data", "training"},  # it scores what stage 1 keeps in the memory cache
    "server": {"outputs"},  # the page and its rows
    "training": {"data", "sources"},  # manifests, token caches and packs
    # Its statistics are compared by the eventizer (see test_only_statistics_of_the_league_read_data), and it writes
    # packs of clips where SoccerNet has videos.
    "league": {"data", "sources"},
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def folder_of(path: Path) -> str:
    """The folder of the package that a file is in; nothing for a core file."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imports(path: Path, *, at_import_time: bool = False) -> Iterator[str]:
    """Modules that a file imports; with `at_import_time` those alone that its own import brings in."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if at_import_time and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if at_import_time and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        waiting.extend(ast.iter_child_nodes(node))


def folders_imported(path: Path) -> set[str]:
    parts = [module.split(".") for module in imports(path) if module.startswith("streamsoccer.")]
    return {part[1] for part in parts if part[1] in FOLDERS}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_core_files_import_no_folder_and_folders_only_their_neighbours(path: Path) -> None:
    if name_of(path) in MEETING_POINTS:
        return
    allowed = {folder_of(path)} | MAY_IMPORT.get(folder_of(path), set())
    assert folders_imported(path) <= allowed, f"{name_of(path)} may import core files and {sorted(allowed)}"


def test_only_statistics_of_the_league_read_data() -> None:
    readers = {path.name for path in FILES if folder_of(path) == "league" and "data" in folders_imported(path)}
    assert readers <= {"stats.py"}


def test_nothing_outside_the_league_knows_of_it() -> None:
    knowing = {name_of(path) for path in FILES if "league" in folders_imported(path) and folder_of(path) != "league"}
    assert knowing <= {"cli.py", "demo.py"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_clock_reads_the_time(path: Path) -> None:
    if path.name == "clock.py":
        return
    modules = {module.split(".")[0] for module in imports(path)}
    assert not modules & {"time", "datetime", "timeit", "sched"}, "ask a Clock, or clock.utc_date"


def test_importing_the_package_and_its_command_line_stays_light() -> None:
    code = "import sys, streamsoccer.cli, streamsoccer.domain; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & (HEAVY | {"numpy", "PIL", "pydantic"})


@pytest.mark.parametrize("folder", ["data", "evaluation", "league", "training"])
def test_what_training_needs_imports_without_video_or_web(folder: str) -> None:
    for path in FILES:
        if folder_of(path) == folder:
            at_import = {module.split(".")[0] for module in imports(path, at_import_time=True)}
            assert not at_import & {"av", "pydantic", "starlette", "fastapi"}, name_of(path)


def test_files_are_neither_grab_bags_nor_novels() -> None:
    for path in FILES:
        assert path.stem not in FORBIDDEN_NAMES, name_of(path)
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 600, name_of(path)

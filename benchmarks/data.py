"""How `data build` grows with the corpus: 1 x, then 10 x the same matches under other names, one after the other.

    python benchmarks/data.py [../shared/data/soccernet] [--times 10] [--json]

It prints ratios: CPU seconds and wall seconds a match at 10 x against 1 x, in the same run, and peak memory of each.
Links stand for the copies' large files; the label files are written anew, since each names its own game.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from streamsoccer.clock import WallClock

_CHILD = "import sys; from streamsoccer.cli import main; main(['data', 'build', sys.argv[1], sys.argv[2], '--json'])"


def copies(root: Path, target: Path, times: int) -> None:
    """`times` copies of each match, in leagues of other names, with their durations."""
    durations: dict[str, Any] = {}
    given = json.loads((root / "durations.json").read_text()) if (root / "durations.json").is_file() else {}
    for labels in sorted(root.glob("*/*/*/Labels-v2.json")):
        match = labels.parent.relative_to(root).as_posix()
        for number in range(times):
            name = f"copy{number}_{match}"
            folder = target / name
            folder.mkdir(parents=True)
            data = json.loads(labels.read_text())
            (folder / labels.name).write_text(json.dumps({**data, "UrlLocal": f"{name}/"}))
            for other in labels.parent.iterdir():
                if other.name != labels.name:
                    (folder / other.name).symlink_to(other.resolve())
            if match in given:
                durations[name] = given[match]
    (target / "durations.json").write_text(json.dumps(durations))


def measure(root: Path, out: Path) -> dict[str, float]:
    """Wall and CPU seconds, peak memory and matches of one fresh build in a process of its own."""
    clock = WallClock()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = clock.now()
    process = subprocess.run([sys.executable, "-c", _CHILD, str(root), str(out)], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(process.stdout)
    return {
        "matches": summary["counts"]["matches"],
        "clips": summary["counts"]["clips"],
        "wall_seconds": round(clock.now() - begin, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        # ru_maxrss of children is the largest so far; sizes are measured from small to large
        "peak_mib": round(after.ru_maxrss / 1024, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path("../shared/data/soccernet"))
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="streamsoccer-data-"))
    try:
        copies(given.root, work / "one", 1)
        copies(given.root, work / "many", given.times)
        one = measure(work / "one", work / "out1")
        again = measure(work / "one", work / "out1")
        many = measure(work / "many", work / "out10")
    finally:
        shutil.rmtree(work)
    per_match = {
        name: (many[name] / many["matches"]) / (one[name] / one["matches"]) for name in ("wall_seconds", "cpu_seconds")
    }
    result = {
        "one": one,
        "again_unchanged": again,
        "many": many,
        "cpu_per_match_ratio": round(per_match["cpu_seconds"], 3),
        "wall_per_match_ratio": round(per_match["wall_seconds"], 3),
        "peak_ratio": round(many["peak_mib"] / one["peak_mib"], 3),
    }
    if given.json:
        print(json.dumps(result, indent=1))
        return
    for name in ("one", "again_unchanged", "many"):
        row = result[name]
        print(f"{name:>16}: " + ", ".join(f"{key} {value:,}" for key, value in row.items()))
    print(f"CPU a match, {given.times} x against 1 x: {result['cpu_per_match_ratio']}  (1 is linear)")
    print(f"wall a match: {result['wall_per_match_ratio']}; peak memory: {result['peak_ratio']}")


if __name__ == "__main__":
    main()

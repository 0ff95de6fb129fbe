"""Whole simulated matches from encoded film to journal, and what running them comes to, in parts that are kept.

    python tests/whole_match.py films FOLDER [--matches 3] [--minutes 45]     films of the test league
    python tests/whole_match.py run FOLDER [--model DIR]                      each match, by the command, on two cores
    python tests/whole_match.py fixed FOLDER [--model DIR] [--rounds 6]       one quarter of an hour again and again
    python tests/whole_match.py table FOLDER                                  the figures of what is there

A part that stands is not made again; a run of another model, or one that was interrupted, is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamsoccer.clip import Clip
from streamsoccer.journal_reader import JournalReader
from streamsoccer.journal_rows import Line, Segment, Status, StepKind
from streamsoccer.outputs.sink import replace_file

__all__ = ["feed_of", "figures_of", "make_films", "run_all", "run_fixed", "table"]

CORES = 2
QUARTER = 900.0  # seconds
SEED = 7
ALIKE = 0.9  # two sentences are near duplicates from this Jaccard share of common words on
_FED = {"Goal", "Yellow card", "Red card", "Yellow->red card", "Substitution"}


# --- films -----------------------------------------------------------------------------------------------------------


def make_films(folder: Path, *, matches: int = 3, minutes: float = 45.0) -> list[Path]:
    """Matches of the test league, filmed; each with a match sheet and the feed that somebody in the ground sends."""
    league = folder / "league"
    given = ["--matches", str(matches), "--seed", str(SEED), "--world", "test", "--minutes", f"{minutes:g}"]
    subprocess.run([sys.executable, "-m", "streamsoccer.cli", "league", "make", str(league), *given], check=True)
    games = games_of(folder)
    for game in games:
        labels = json.loads((game / "Labels-v2.json").read_text(encoding="utf-8"))
        sheet = {"home": labels["gameHomeTeam"], "away": labels["gameAwayTeam"]}
        (game / "sheet.yaml").write_text(json.dumps(sheet), encoding="utf-8")
        feed = "".join(f"{json.dumps(row)}\n" for row in feed_of(labels["annotations"]))
        (game / "feed.jsonl").write_text(feed, encoding="utf-8")
    return games


def games_of(folder: Path) -> list[Path]:
    return sorted(path.parent for path in (folder / "league").rglob("Labels-v2.json"))


def feed_of(annotations: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Goals, cards and substitutions, each known when it happens."""
    for place, each in enumerate(annotations):
        if each["label"] in _FED:
            half = int(str(each["gameTime"]).partition(" - ")[0])
            at = [half, int(each["position"]) / 1000]
            kind = each["label"].lower()
            yield {"at": at, "kind": kind, "side": each["team"], "id": f"{half}-{place}"}


# --- runs ------------------------------------------------------------------------------------------------------------


def run_all(folder: Path, model: Path | None = None) -> None:
    """Each film by the command, as anybody runs it, on two cores."""
    for game in games_of(folder):
        out = folder / "runs" / game.name
        cost = out / "cost.json"
        if cost.is_file() and json.loads(cost.read_text())["model"] == _model(model):
            continue
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        words = ["run", str(game), "--out", str(out), "--match", f"{game}/sheet.yaml", "--feed", f"{game}/feed.jsonl"]
        words += ["--model", str(model)] if model else []
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with (out / "told.jsonl").open("wb") as told:
            subprocess.run(
                [sys.executable, "-m", "streamsoccer.cli", *words, "--json", "--device", "cpu"],
                stdout=told,
                check=True,
                env={**os.environ, "OMP_NUM_THREADS": str(CORES)},
                preexec_fn=_two_cores,
            )
        wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        row = {"model": _model(model), "wall_seconds": wall, "processor_seconds": spent, "load": os.getloadavg()[0]}
        replace_file(cost, json.dumps(row).encode())


def _two_cores() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))


def _model(model: Path | None) -> str:
    """What a run is of: the weights' own hashes."""
    from streamsoccer.bundled import bundled_model
    from streamsoccer.checkpoint import from_pretrained
    from streamsoccer.mind import Mind

    return Mind(from_pretrained(model or bundled_model())).fingerprint[:12]


def run_fixed(folder: Path, model: Path | None = None, *, rounds: int = 6) -> dict[str, Any]:
    """A match in which the same quarter of an hour comes again and again, in one half: what each round costs."""
    import torch

    from streamsoccer.commands import open_mind
    from streamsoccer.sources import open_source
    from streamsoccer.stream import MatchStream

    torch.set_num_threads(CORES - 1)  # as the command does: one core is the decoder's
    mind = open_mind(model, "cpu")
    stream = MatchStream(mind, "fixed")
    (film, *_) = sorted(games_of(folder)[0].glob("1_*.mkv")) or sorted(games_of(folder)[0].glob("1_*.mp4"))
    found = []
    for number in range(rounds):
        wall = spent = media = 0.0
        said = 0
        for item in open_source(film):
            if item.start >= QUARTER or not isinstance(item, Clip):
                continue
            by = number * QUARTER
            moved = replace(
                item,
                index=item.index + int(by // 4),
                start=item.start + by,
                end=item.end + by,
                times=tuple(each + by for each in item.times),
            )
            begun, before = time.monotonic(), time.process_time()
            moments = stream.step(moved)
            wall, spent = wall + time.monotonic() - begun, spent + time.process_time() - before
            media += item.end - item.start
            said += sum(len(each.said) for each in moments)
        found.append({"rtf": wall / media, "processor": spent / media, "sentences": said, "memory": held_bytes()})
    row = {"model": mind.fingerprint[:12], "rounds": found, "media_seconds_a_round": media}
    replace_file(folder / "fixed.json", json.dumps(row).encode())
    return row


def held_bytes() -> int:
    from streamsoccer.live import held_bytes

    return held_bytes()


# --- figures ---------------------------------------------------------------------------------------------------------


def figures_of(journal: Path) -> dict[str, Any]:
    """What a journal alone says of a match."""
    with JournalReader(journal) as reader:
        steps, lines = list(reader.steps()), list(reader.lines())
        decisions = [each.decision for each in reader.decisions()]
        counts, records = dict(reader.counters()), sum(1 for _ in reader.records())
        closures = Counter(each.closed_by.value for each in reader.closures())
    said = [each for each in lines if each.status is Status.SAID]
    minutes = sum(max(each.end for each in steps if each.half == half) for half in {each.half for each in steps}) / 60
    exact, near = duplicates(said)
    about = [each for each in said if Segment.CLOSING in each.latency.segments]
    silent = Counter(each.reason.value for each in decisions if each.track is None)
    halves = [each for each in steps if each.kind is StepKind.CLIP]
    return {
        "minutes": round(minutes, 1),
        "clips": len(halves),
        "events": sum(closures.values()),
        "events_closed_by": dict(closures),
        "records": records,
        "captions_empty": counts.get("captions_empty", 0),
        "utterances_a_minute": round(len(said) / minutes, 2),
        "modes": dict(Counter(each.track.value for each in said)),
        "delay_from_event_end_to_text": quantiles([each.latency.total for each in about]),
        "delay_without_the_structural_part": quantiles([each.latency.machine for each in about]),
        "exact_duplicates_within_a_half": share(exact, len(said)),
        "near_duplicates_within_a_half": share(near, len(said)),
        "repetitions_held_back": counts.get("repetitions", 0),
        "contradictions_stopped": counts.get("contradictions", 0),
        "sentences_failed": counts.get("sentences_failed", 0),
        "reasons_for_silence": dict(silent.most_common()),
        "seconds_of_work_first_and_last_quarter": _quarters(steps),
    }


def duplicates(said: Sequence[Line]) -> tuple[int, int]:
    """How many lines repeat one of their half exactly, and nearly; brute force, by no rule of the runtime."""
    exact = near = 0
    earlier: dict[int, list[tuple[str, frozenset[str]]]] = {}
    for each in said:
        text = " ".join(each.said.casefold().split())
        words = frozenset(re.findall(r"\w+", text))
        before = earlier.setdefault(each.cutoff.half, [])
        exact += any(text == other for other, _ in before)
        near += any(len(words & other) >= ALIKE * len(words | other) for _, other in before)
        before.append((text, words))
    return exact, near


def _quarters(steps: Sequence[Any]) -> list[float]:
    """Seconds that steps took in the first and in the last quarter of an hour of the match."""
    work: list[tuple[float, float]] = []
    before, half, last = 0.0, 1, 0.0
    for each in steps:
        if each.half != half:
            before, half = before + last, each.half
        last = each.end
        parts = (each.timing.get(name, 0.0) for name in ("vision", "memory", "generation", "records"))
        work.append((before + each.end, sum(parts)))
    end = work[-1][0]
    first = sum(cost for at, cost in work if at <= QUARTER)
    return [round(first, 2), round(sum(cost for at, cost in work if at > end - QUARTER), 2)]


def quantiles(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    return {f"p{each}": round(ordered[min(len(ordered) - 1, len(ordered) * each // 100)], 3) for each in (50, 95)}


def share(count: int, whole: int) -> dict[str, Any]:
    return {"count": count, "of": whole, "percent": round(100 * count / whole, 2) if whole else 0.0}


def told(path: Path) -> dict[str, Any]:
    """What the run itself said of its pace and memory."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    loads = [each for each in rows if each["type"] == "load"]
    memory = [each["memory"] / 2**20 for each in loads]
    third = max(1, len(memory) // 6)  # a quarter of an hour of ninety minutes
    early, late = statistics.median(memory[1 : third + 1] or memory), statistics.median(memory[-third:])
    return {
        "rtf": rows[-1]["rtf"],
        "memory_mib_first_quarter_last_quarter_peak": [round(each, 1) for each in (early, late, max(memory))],
        "memory_grew_percent": round(100 * (late - early) / early, 2),
    }


def table(folder: Path) -> dict[str, Any]:
    """All that is there."""
    matches = []
    for out in sorted(path.parent for path in (folder / "runs").glob("*/cost.json")):  # those that came to their end
        cost = json.loads((out / "cost.json").read_text())
        row = {"match": out.name, **told(out / "told.jsonl"), **figures_of(out / "match.journal")}
        row["rtf_with_start_and_decoding"] = round(cost["wall_seconds"] / 60 / row["minutes"], 4)
        row["processor_seconds_a_second"] = round(cost["processor_seconds"] / 60 / row["minutes"], 4)
        row["load_of_the_machine_at_the_end"] = round(cost["load"], 1)
        matches.append({**row, "model": cost["model"]})
    found: dict[str, Any] = {"matches": matches, "cores": CORES}
    if (folder / "fixed.json").is_file():
        fixed = json.loads((folder / "fixed.json").read_text())
        first, last = fixed["rounds"][0], fixed["rounds"][-1]
        found["fixed_workload"] = {
            "rounds": [{name: round(value, 4) for name, value in each.items()} for each in fixed["rounds"]],
            "last_quarter_over_first": round(last["rtf"] / first["rtf"], 4),
            "last_quarter_over_first_processor_time": round(last["processor"] / first["processor"], 4),
            "memory_last_over_second": round(
                last["memory"] / fixed["rounds"][min(1, len(fixed["rounds"]) - 1)]["memory"], 4
            ),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["films", "run", "fixed", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--matches", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    match given.part:
        case "films":
            make_films(given.folder, matches=given.matches, minutes=given.minutes)
        case "run":
            run_all(given.folder, given.model)
        case "fixed":
            run_fixed(given.folder, given.model, rounds=given.rounds)
        case "table":
            sys.stdout.write(json.dumps(table(given.folder), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""Faults to plant in a good build: each changes one row (or takes it away) and says which check must name which ID.

Rows are plain JSON objects, so that a fault can be one that the program itself would not write. `pick` chooses among
the rows that a fault can befall; a fault that finds none is a mistake of the test, and `pick` says so.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from streamsoccer.data.findings import Check

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Pick = Callable[[Sequence[Any]], Any]
Named = tuple[Check, str]
Fault = Callable[[Rows, Pick], Named]
FAULTS: dict[str, Fault] = {}


def fault(make: Fault) -> Fault:
    FAULTS[make.__name__] = make
    return make


def many(names: Sequence[str], prefix: str) -> Callable[[Callable[[Rows, Pick, str], Named]], None]:
    """The same fault in several places, each a fault of its own."""

    def register(make: Callable[[Rows, Pick, str], Named]) -> None:
        for name in names:
            FAULTS[f"{prefix}_{name}"] = lambda rows, pick, name=name: make(rows, pick, name)

    return register


def clip_name(row: Row) -> str:
    return f"{row['match']}#{row['half']} clip {row['index']}"


def name_of(file: str, row: Row) -> str:
    return clip_name(row) if file == "clips" else row["id"]


def by_id(rows: Rows, file: str) -> dict[str, Row]:
    return {row["id"]: row for row in rows[file]}


def samples(rows: Rows, track: str, *having: str) -> list[Row]:
    return [row for row in rows["samples"] if row["track"] == track and all(row.get(name) for name in having)]


def later_events(rows: Rows, sample: Row) -> list[Row]:
    return [
        row
        for row in rows["events"]
        if (row["match"], row["half"]) == (sample["match"], sample["half"]) and row["available_at"] > sample["cutoff"]
    ]


def flip(side: str) -> str:
    return {"home": "away", "away": "home", "not applicable": "home"}[side]


# --- the future ------------------------------------------------------------------------------------------------------


@many(("local", "local_candidates", "local_positives", "sources"), "future_event_in")
def _future_event(rows: Rows, pick: Pick, name: str) -> Named:
    able = [row for row in samples(rows, "recent") if later_events(rows, row)]
    row = pick(able)
    event = pick(later_events(rows, row))["id"]
    row[name] = [*row[name][:-1], event]
    return Check.CAUSALITY, row["id"]


@fault
def future_source_of_a_caption(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in samples(rows, "current") if later_events(rows, row)])
    row["sources"] = [pick(later_events(rows, row))["id"]]
    return Check.CAUSALITY, row["id"]


@fault
def future_active_event(rows: Rows, pick: Pick) -> Named:
    def after(row: Row) -> list[Row]:
        return [each for each in later_events(rows, row) if each["start"] >= row["cutoff"]]

    row = pick([row for row in rows["samples"] if after(row)])
    row["active"] = pick(after(row))["id"]
    return Check.CAUSALITY, row["id"]


@many(("candidates", "positives", "hard_negatives"), "future_record_in")
def _future_record(rows: Rows, pick: Pick, name: str) -> Named:
    def later(row: Row) -> list[str]:
        return [
            each["id"]
            for each in rows["records"]
            if (each["match"], each["half"]) == (row["match"], row["half"]) and each["available_at"] > row["cutoff"]
        ]

    row = pick([row for row in samples(rows, "historical") if later(row)])
    row[name] = [*row.get(name, []), pick(later(row))]
    return Check.CAUSALITY, row["id"]


@many(("records", "samples"), "future_caption_in")
def _future_caption(rows: Rows, pick: Pick, file: str) -> Named:
    """The caption of an event that comes later in the same match."""
    events = by_id(rows, "events")

    def later(row: Row) -> list[str]:
        mine = events[row["event"]]["available_at"]
        return [
            each["caption"]
            for each in rows["events"]
            if each["match"] == row["match"] and each.get("caption") and each["available_at"] > mine
        ]

    row = pick([row for row in rows[file] if row.get("caption") and later(row)])
    row["caption"] = pick(later(row))
    return Check.CAUSALITY, row["id"]


@many(("records", "samples"), "future_score_in")
def _future_state(rows: Rows, pick: Pick, file: str) -> Named:
    """The state of a later row: every figure in it is right, only not yet."""
    since = "available_at" if file == "records" else "cutoff"

    def later(row: Row) -> list[Row]:
        return [
            each["state"]
            for each in rows[file]
            if each["match"] == row["match"]
            and each[since] > row[since]
            and each["state"]["away"].get("goals", 0) > row["state"].get("away", {}).get("goals", 0)
        ]

    row = pick([row for row in rows[file] if later(row)])
    row["state"] = pick(later(row))
    return Check.CAUSALITY, row["id"]


@fault
def cutoff_too_early(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    row["cutoff"] = [row["cutoff"][0], row["cutoff"][1] - 4]
    return Check.CAUSALITY, row["id"]


@fault
def cutoff_too_late(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    row["cutoff"] = [row["cutoff"][0], row["cutoff"][1] + 4]
    return Check.CUTOFF, row["id"]


@fault
def event_available_at_its_own_end(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["events"] if row["available_at"] != row["end"]])
    row["available_at"] = row["end"]
    return Check.AVAILABILITY, row["id"]


@fault
def record_available_at_its_own_end(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["records"] if row["available_at"] != row["end"]])
    row["available_at"] = row["end"]
    return Check.AVAILABILITY, row["id"]


@fault
def action_available_before_its_clip(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["events"] if row.get("actions")])
    action = pick(row["actions"])
    action["available_at"] = [action["available_at"][0], action["available_at"][1] - 4]
    return Check.AVAILABILITY, row["id"]


# --- score and counts ------------------------------------------------------------------------------------------------


@many(("goals", "yellow_cards", "red_cards", "substitutions"), "wrong")
def _wrong_tally(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows[pick(["records", "samples"])])
    side = row["state"].setdefault(pick(["home", "away"]), {})
    side[name] = side.get(name, 0) + 1
    return Check.MATCH_STATE, row["id"]


@fault
def wrong_count_in_the_state(rows: Rows, pick: Pick) -> Named:
    row = pick(rows[pick(["records", "samples"])])
    counts = row["state"].setdefault(pick(["home", "away"]), {}).setdefault("counts", {})
    counts["Offside"] = counts.get("Offside", 0) + 9
    return Check.MATCH_STATE, row["id"]


# --- matches and halves ----------------------------------------------------------------------------------------------


@many(("events", "records", "samples"), "wrong_half_in")
def _wrong_half(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    row["half"] = 3 - row["half"]
    return Check.HALF, row["id"]


@fault
def clip_of_the_wrong_half(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["clips"])
    row["half"] = 5
    return Check.CLIPS, clip_name(row)


@fault
def caption_of_the_wrong_half(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    row["at"] = [3 - row["at"][0], row["at"][1]]
    return Check.HALF, row["id"]


@many(("local", "sources", "active"), "other_half_in")
def _other_half(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["samples"] if row["half"] == 2 and row.get(name)])
    event = pick([each["id"] for each in rows["events"] if each["match"] == row["match"] and each["half"] == 1])
    row[name] = event if name == "active" else [event, *row[name][1:]]
    return Check.HALF, row["id"]


@fault
def candidate_of_the_other_half(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in samples(rows, "historical") if row["half"] == 2])
    record = pick([each["id"] for each in rows["records"] if each["match"] == row["match"] and each["half"] == 1])
    row["candidates"] = [record, *row["candidates"]]
    return Check.HISTORY_GAP, row["id"]


@many(("events", "captions", "records", "samples"), "row_under_another_match_in")
def _other_match(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    row["match"] = pick(sorted({each["match"] for each in rows[file]} - {row["match"]}))
    return Check.IDENTITY, row["id"]


@fault
def clip_under_another_match(rows: Rows, pick: Pick) -> Named:
    matches = {each["match"] for each in rows["clips"]}
    held = Counter((each["half"], each["index"]) for each in rows["clips"])  # a half may be longer than another's
    row = pick([each for each in rows["clips"] if held[each["half"], each["index"]] == len(matches)])
    row["match"] = pick(sorted(matches - {row["match"]}))
    return Check.DUPLICATE_ID, clip_name(row)


# --- splits ----------------------------------------------------------------------------------------------------------


@many(("clips", "events", "captions", "records", "samples"), "split_overlap_in")
def _split(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    row["split"] = pick(sorted({"train", "validation", "test"} - {row["split"]}))
    return Check.SPLIT, name_of(file, row)


@fault
def a_match_of_another_split_in_one_manifest(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    other = pick(sorted({"train", "validation", "test"} - {row["split"]}))
    for each in rows["samples"]:
        if each["match"] == row["match"]:
            each["split"] = other
    return Check.SPLIT, row["id"]


# --- IDs and references ----------------------------------------------------------------------------------------------


@many(("clips", "events", "captions", "records", "samples"), "duplicate_in")
def _duplicate(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    rows[file].insert(rows[file].index(row) + 1, copy.deepcopy(row))
    return Check.DUPLICATE_ID, name_of(file, row)


@many(("clips", "events", "captions", "records", "samples"), "duplicate_far_away_in")
def _duplicate_at_the_end(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick([row for row in rows[file] if row["match"] != rows[file][-1]["match"]])
    rows[file].append(copy.deepcopy(row))
    return Check.DUPLICATE_ID, name_of(file, row)


@fault
def rows_of_a_match_apart(rows: Rows, pick: Pick) -> Named:
    file = pick(list(rows))
    row = pick([row for row in rows[file] if row["match"] != rows[file][-1]["match"]])
    rows[file].remove(row)
    rows[file].append(row)
    return Check.ORDER, row["match"]


@many(("events", "records", "samples"), "wrong_id_in")
def _wrong_id(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    row["id"] = re.sub(r"(?<=-[er])\d{4}", "0001", row["id"])
    return Check.IDENTITY, row["id"]


@fault
def missing_event(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["events"])
    rows["events"].remove(row)
    return Check.EXISTENCE, row["id"]


@fault
def missing_caption(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    rows["captions"].remove(row)
    return Check.EXISTENCE, row["event"]


@fault
def missing_record(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["records"])
    rows["records"].remove(row)
    return Check.COVERAGE, row["event"]


@fault
def missing_current_sample(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "current"))
    rows["samples"].remove(row)
    return Check.COVERAGE, row["event"]


@many(
    ("local", "local_positives", "local_candidates", "candidates", "positives", "hard_negatives", "sources"),
    "nobody_in",
)
def _nobody(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["samples"] if row.get(name)])
    row[name] = [*row[name][:-1], row[name][-1][:-4] + "9999"]
    return Check.EXISTENCE, row["id"]


@many(("active", "event", "caption"), "nobody_as_the")
def _nobody_as(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["samples"] if row.get(name)])
    row[name] = row[name][:-3] + "xyz"
    return Check.EXISTENCE, row["id"]


@many(("event", "caption"), "record_of_no")
def _record_of_no(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows["records"])
    row[name] = row[name][:-3] + "xyz"
    return Check.EXISTENCE, row["id"]


@fault
def caption_of_no_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    row["event"] = row["event"][:-3] + "xyz"
    return Check.EXISTENCE, row["id"]


@fault
def candidate_event_that_is_not_there(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("candidates")])
    pick(row["candidates"])["event"] = f"{row['match']}#1-e9999"
    return Check.EXISTENCE, row["id"]


# --- captions one to one ---------------------------------------------------------------------------------------------


@many(("events", "records", "samples"), "twice_used_caption_in")
def _twice_used(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick([row for row in rows[file] if row.get("caption")])
    others = [each["caption"] for each in rows[file] if each["match"] == row["match"] and each.get("caption")]
    row["caption"] = pick([each for each in others if each != row["caption"]])
    return Check.ONE_TO_ONE, row["id"]


@fault
def two_captions_for_one_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    others = [each["event"] for each in rows["captions"] if each["match"] == row["match"] and each.get("event")]
    row["event"] = pick([each for each in others if each != row["event"]])
    return Check.ONE_TO_ONE, row["id"]


@fault
def verdict_without_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    row["verdict"] = "taken"
    return Check.ALIGNMENT, row["id"]


@fault
def caption_far_from_its_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    row["at"] = [row["at"][0], row["at"][1] + 300]
    return Check.ALIGNMENT, row["id"]


@fault
def caption_of_another_class(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["captions"] if row.get("event")])
    row["kind"] = "penalty missed"
    return Check.ALIGNMENT, row["id"]

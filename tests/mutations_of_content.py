"""Faults in the timeline, in the tracks' contexts and in the targets; see mutations.py for what a fault is."""

from __future__ import annotations

import re

from mutations import FAULTS, Named, Pick, Row, Rows, by_id, clip_name, fault, flip, later_events, many, samples
from streamsoccer.data.findings import Check

# --- clips and events ------------------------------------------------------------------------------------------------


@fault
def dropped_clip(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["clips"] if not row.get("last")])
    after = next(each for each in rows["clips"] if (each["match"], each["half"], each["index"]) == _next(row))
    rows["clips"].remove(row)
    return Check.CLIPS, clip_name(after)


def _next(row: Row) -> tuple[str, int, int]:
    return row["match"], row["half"], row["index"] + 1


@fault
def dropped_last_clip(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["clips"] if row.get("last")])
    rows["clips"].remove(row)
    return Check.CLIPS, clip_name({**row, "index": row["index"] - 1})


@many(("start", "end", "index"), "clip_with_another")
def _clip_place(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["clips"] if not row.get("last")])
    row[name] += 1
    return Check.CLIPS, clip_name(row)


@fault
def clip_called_the_last(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["clips"])
    row["last"] = not row.get("last", False)
    return Check.CLIPS, clip_name(row)


@fault
def clip_in_another_event(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["clips"])
    others = [each for each in rows["events"] if (each["match"], each["half"]) == (row["match"], row["half"])]
    row["event"] = pick([each["start"][1] for each in others if each["start"][1] != row["event"]])
    return Check.EVENTS, clip_name(row)


@fault
def flipped_transition(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["clips"])
    row["transition"] = 1 - row["transition"]
    return Check.TRANSITION, clip_name(row)


@fault
def mask_taken_away(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["clips"] if row.get("mask")])
    del row["mask"]
    return Check.TRANSITION, clip_name(row)


@fault
def mask_put_on(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["clips"] if not row.get("mask")])
    row["mask"] = "rollover"
    return Check.TRANSITION, clip_name(row)


@fault
def action_taken_from_a_clip(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["clips"] if row.get("actions")])
    row["actions"] = row["actions"][1:]
    return Check.ACTIONS, clip_name(row)


@fault
def action_put_into_a_clip(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["clips"])
    row["actions"] = [*row.get("actions", []), "Red card"]
    return Check.ACTIONS, clip_name(row)


@fault
def action_taken_from_an_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["events"] if row.get("actions")])
    action = row["actions"].pop()
    index = int(action["at"][1] // 4)
    return Check.ACTIONS, f"{row['match']}#{row['half']} clip {index}"


@fault
def action_moved_out_of_its_event(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["events"] if row.get("actions")])
    action = pick(row["actions"])
    action["at"] = [action["at"][0], action["at"][1] + (40 if action["at"][1] < 400 else -40)]
    return Check.ACTIONS, row["id"]


@fault
def action_of_the_other_side(rows: Rows, pick: Pick) -> Named:
    """Found where it first counts: in the state of the first record after it."""
    first = min(rows["records"], key=lambda row: (row["match"], row["available_at"]))
    able = [
        (row, action)
        for row in rows["events"]
        for action in row.get("actions", ())
        if row["match"] == first["match"]
        and action["side"] in ("home", "away")
        and action["available_at"] <= first["available_at"]
    ]
    _, action = pick(able)
    action["side"] = flip(action["side"])
    return Check.MATCH_STATE, first["id"]


@many(("type", "primary", "side"), "event_with_another")
def _event_type(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["events"] if row.get("side") in ("home", "away")])
    row[name] = {"type": "end_of_period", "primary": "Red card", "side": flip(row["side"])}[name]
    return Check.EVENT_TYPE, row["id"]


@many(("opened_by", "closed_by"), "event_with_another")
def _event_reason(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows["events"])
    reasons = sorted({each[name] for each in rows["events"]} - {row[name]})
    row[name] = pick(reasons)
    return Check.BOUNDARIES, row["id"]


@many(("first", "clips", "index"), "event_with_another")
def _event_place(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows["events"])
    row[name] += 1
    return Check.EVENTS, row["id"]


@many(("start", "end"), "event_with_another")
def _event_time(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows["events"])
    row[name] = [row[name][0], row[name][1] + 1]
    return Check.EVENTS, row["id"]


# --- contexts --------------------------------------------------------------------------------------------------------


@fault
def local_event_older_than_180_s(rows: Rows, pick: Pick) -> Named:
    def old(row: Row) -> list[str]:
        return [
            each["id"]
            for each in rows["events"]
            if (each["match"], each["half"]) == (row["match"], row["half"]) and row["cutoff"][1] - each["end"][1] > 180
        ]

    row = pick([row for row in rows["samples"] if row.get("local") and old(row)])
    row["local"] = [old(row)[-1], *row["local"][1:]]
    return Check.LOCAL_AGE, row["id"]


@fault
def five_local_events(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in samples(rows, "recent", "local") if len(row["local_candidates"]) > 4])
    row["local"] = row["local_candidates"][-5:]
    return Check.LOCAL_COUNT, row["id"]


@fault
def local_event_left_out(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["samples"] if row.get("local")])
    row["local"].remove(pick(row["local"]))
    return Check.LOCAL_SELECTION, row["id"]


@fault
def window_event_left_out(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "recent"))
    row["local_candidates"].remove(pick(row["local_candidates"]))
    return Check.LOCAL_SELECTION, row["id"]


@fault
def told_what_no_local_event_holds(rows: Rows, pick: Pick) -> Named:
    """The summary counts what happened in its time, but in an event that the generator is not given."""
    events = by_id(rows, "events")

    def unseen(row: Row) -> list[tuple[str, str]]:
        def held(names: list[str]) -> list[tuple[str, str]]:
            actions = [each for name in names for each in events[name].get("actions", ())]
            since = row["fields"]["since"][1]
            return [(each["side"], each["label"]) for each in actions if each["at"][1] >= since]

        return [
            each
            for each in held(row["local_candidates"])
            if each not in held(row["local"]) and each[0] in ("home", "away")
        ]

    row = pick([row for row in samples(rows, "recent") if unseen(row)])
    side, label = pick(unseen(row))
    row["fields"]["counts"].setdefault(side, {})[label] = unseen(row).count((side, label))
    return Check.PROVENANCE, row["id"]


@fault
def complete_event_called_active(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    row["active"] = row["event"]
    return Check.ACTIVE, row["id"]


@fault
def active_event_left_out(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["samples"] if row.get("active")])
    del row["active"]
    return Check.ACTIVE, row["id"]


@fault
def record_less_than_90_s_old(rows: Rows, pick: Pick) -> Named:
    def fresh(row: Row) -> list[str]:
        return [
            each["id"]
            for each in rows["records"]
            if (each["match"], each["half"]) == (row["match"], row["half"])
            and each["available_at"] <= row["cutoff"]
            and row["cutoff"][1] - each["end"][1] < 90
        ]

    row = pick([row for row in samples(rows, "historical") if fresh(row)])
    row["candidates"] = [*row["candidates"], pick(fresh(row))]
    return Check.HISTORY_GAP, row["id"]


@fault
def positive_among_the_negatives(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "historical"))
    row["hard_negatives"] = [*row.get("hard_negatives", []), pick(row["positives"])]
    return Check.NEGATIVES, row["id"]


@fault
def negative_among_the_positives(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "historical", "hard_negatives"))
    row["positives"] = [*row["positives"], pick(row["hard_negatives"])]
    return Check.NEGATIVES, row["id"]


@fault
def unrelated_positive(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "historical", "hard_negatives"))
    chosen = pick(row["hard_negatives"])
    row["positives"] = [*row["positives"], chosen]
    row["hard_negatives"].remove(chosen)
    return Check.POSITIVES, row["id"]


@fault
def related_record_called_negative(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in samples(rows, "historical") if len(row["positives"]) > 1])
    chosen = pick(row["positives"])
    row["positives"].remove(chosen)
    row["hard_negatives"] = [*row.get("hard_negatives", []), chosen]
    return Check.NEGATIVES, row["id"]


@many(("positives", "hard_negatives"), "no_candidate_in")
def _no_candidate(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(samples(rows, "historical", name))
    row["candidates"].remove(pick(row[name]))
    return (Check.POSITIVES if name == "positives" else Check.NEGATIVES), row["id"]


@fault
def local_positive_that_is_no_candidate(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "recent"))
    row["local_candidates"].remove(pick(row["local_positives"]))
    return Check.POSITIVES, row["id"]


@fault
def the_same_candidate_twice(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "historical"))
    row["candidates"].append(pick(row["candidates"]))
    return Check.DUPLICATE_ID, row["id"]


@fault
def source_left_out(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in rows["samples"] if len(row["sources"]) > 1])
    row["sources"].remove(pick(row["sources"]))
    return Check.PROVENANCE, row["id"]


@fault
def another_source_hash(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    row["source_hash"] = "0" * 64
    return Check.PROVENANCE, row["id"]


@fault
def history_in_a_current_sample(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "current"))
    row["candidates"] = [pick(rows["records"])["id"]]
    return Check.TRACK, row["id"]


@many(("local", "candidates", "positives"), "nothing_as")
def _nothing(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(samples(rows, "recent" if name == "local" else "historical"))
    del row[name]
    return Check.TRACK, row["id"]


# --- fields ----------------------------------------------------------------------------------------------------------

_OTHER = {"action": "Penalty", "type": "end_of_period", "earlier": "nobody", "minutes": 99, "count": 99}


@many(("side", "action", "type", "time", "score", "count", "minutes", "earlier", "since"), "altered_field")
def _field(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["samples"] if name in row["fields"]])
    old = row["fields"][name]
    if name == "side":
        row["fields"][name] = flip(old)
    elif isinstance(old, list):
        row["fields"][name] = [old[0], old[1] + 1]
    else:
        row["fields"][name] = _OTHER[name]
    return Check.FIELDS, row["id"]


@fault
def altered_count_in_the_fields(rows: Rows, pick: Pick) -> Named:
    row = pick(samples(rows, "recent"))
    counts = row["fields"]["counts"][pick(sorted(row["fields"]["counts"]))]
    counts[pick(sorted(counts))] += 1
    return Check.FIELDS, row["id"]


@fault
def teams_of_the_counts_swapped(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in samples(rows, "recent") if len({str(each) for each in _sides(row)}) > 1])
    home, away = _sides(row)
    row["fields"]["counts"] = {side: counts for side, counts in (("home", away), ("away", home)) if counts}
    return Check.FIELDS, row["id"]


def _sides(row: Row) -> tuple[Row, Row]:
    counts = row["fields"]["counts"]
    return counts.get("home", {}), counts.get("away", {})


@fault
def field_left_out(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    del row["fields"][pick(sorted(row["fields"]))]
    return Check.FIELDS, row["id"]


@many(("type", "primary", "side", "start", "end", "actions", "kind", "source", "spoken"), "record_with_another")
def _record(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick([row for row in rows["records"] if row["side"] in ("home", "away")])
    if name in ("start", "end"):
        row[name] = [row[name][0], row[name][1] + 1]
    elif name == "spoken":
        row[name] = {**row[name], "side": flip(row[name]["side"])}
    else:
        other = {"type": "end_of_period", "primary": "Red card", "actions": [], "kind": "var", "source": "elsewhere"}
        row[name] = flip(row["side"]) if name == "side" else other[name]
    return Check.FIELDS, row["id"]


# --- texts -----------------------------------------------------------------------------------------------------------

_COUNTS = re.compile(r"\b(a|an|two|three|four) (?=(?:corner|shot|foul|throw-in|goal|offside|yellow|indirect|direct))")
_RANKS = re.compile(r"\b(second|third|fourth|fifth|sixth)\b|(?<=makes )(two|three|four|five|six)\b")
_MINUTES = re.compile(r"\b(\w+)(?= minutes)")


def plain(rows: Rows, *tracks: str) -> list[Row]:
    """The samples whose text nobody rephrased."""
    return [row for row in rows["samples"] if row["track"] in tracks and "rules_target" not in row]


def _reword(row: Row, pattern: re.Pattern[str], word: str) -> Named:
    for name in ("target", "named"):
        row[name] = pattern.sub(word, row[name], count=1)
    return Check.TEXT, row["id"]


@fault
def altered_count_in_the_text(rows: Rows, pick: Pick) -> Named:
    return _reword(pick([row for row in plain(rows, "recent") if _COUNTS.search(row["target"])]), _COUNTS, "nine ")


@fault
def altered_rank_in_the_text(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in plain(rows, "historical") if _RANKS.search(row["target"])])
    return _reword(row, _RANKS, "nine" if "makes" in row["target"] else "ninth")


@many(("recent", "historical"), "altered_minutes_in_the_text_of")
def _minutes(rows: Rows, pick: Pick, track: str) -> Named:
    row = pick([row for row in plain(rows, track) if _MINUTES.search(row["target"])])
    return _reword(row, _MINUTES, "11")


@fault
def altered_score_in_the_text(rows: Rows, pick: Pick) -> Named:
    score = re.compile(r"(\d+)-(\d+)")
    row = pick([row for row in plain(rows, "recent") if score.search(row["target"])])
    return _reword(row, score, "5-4")


@fault
def altered_action_in_the_text(rows: Rows, pick: Pick) -> Named:
    word = re.compile(r"\b(corner|foul|card|substitution)\b")
    row = pick([row for row in plain(rows, "historical") if word.search(row["target"])])
    for name in ("target", "named"):
        row[name] = word.sub("penalty", row[name])
    return Check.TEXT, row["id"]


def _even(row: Row) -> bool:
    """Both sides did the same: with the sides exchanged the sentence still says what was so, and is no fault."""
    counts = row["fields"].get("counts", {})
    return len(counts) == 2 and counts["home"] == counts["away"]


@many(("recent", "historical"), "altered_team_in")
def _team(rows: Rows, pick: Pick, track: str) -> Named:
    """The placeholder stands for the other side, and the named text has the other side's name."""
    row = pick([row for row in plain(rows, track) if not _even(row)])
    names = {each["side"]: each["name"] for other in rows["samples"] for each in other.get("placeholders", ())
             if each["token"] == "[TEAM]"}  # fmt: skip
    for each in row["placeholders"]:
        each["side"] = flip(each["side"])
        each["name"] = names[each["side"]]
    filled = iter(row["placeholders"])
    row["named"] = re.sub(r"\[TEAM\]", lambda _: next(filled)["name"], row["target"])
    return Check.TEXT, row["id"]


@many(("records", "samples"), "altered_side_of_a_name_in")
def _side_of_a_name(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick([row for row in rows[file] if any(_is_team(each) for each in row.get("placeholders", ()))])
    place = pick([each for each in row["placeholders"] if _is_team(each)])
    place["side"] = flip(place["side"])
    return Check.TEAM_SIDE, row["id"]


@many(("records", "samples"), "teams_of_the_context_swapped_in")
def _teams_of_context(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick(rows[file])
    row["home"], row["away"] = row["away"], row["home"]
    return Check.TEAM_SIDE, row["id"]


def _is_team(placeholder: Row) -> bool:
    return placeholder["token"] == "[TEAM]" and placeholder.get("side") in ("home", "away")


@many(("text", "named"), "altered_word_in_a_record's")
def _word_in_record(rows: Rows, pick: Pick, name: str) -> Named:
    row = pick(rows["records"])
    row[name] = re.sub(r"\bthe\b", "that", row[name], count=1) if " the " in row[name] else row[name] + " Yes."
    return Check.TEXT, row["id"]


@fault
def altered_word_in_a_current_target(rows: Rows, pick: Pick) -> Named:
    row = pick(plain(rows, "current"))
    row["target"] = row["target"] + " It is 4-0."
    return Check.TEXT, row["id"]


@fault
def empty_target(rows: Rows, pick: Pick) -> Named:
    row = pick(rows["samples"])
    row["target"] = ""
    return Check.TEXT, row["id"]


@many(("records", "samples"), "placeholder_left_out_in")
def _no_placeholder(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick([row for row in rows[file] if row.get("placeholders")])
    row["placeholders"].remove(pick(row["placeholders"]))
    return Check.PLACEHOLDERS, row["id"]


@many(("records", "samples"), "another_name_in")
def _other_name(rows: Rows, pick: Pick, file: str) -> Named:
    row = pick([row for row in rows[file] if row.get("placeholders")])
    pick(row["placeholders"])["name"] = "Someone Else"
    return Check.PLACEHOLDERS, row["id"]


@fault
def another_name_in_the_named_text(rows: Rows, pick: Pick) -> Named:
    row = pick([*samples(rows, "recent"), *samples(rows, "historical")])
    row["named"] = row["named"].replace(pick(row["placeholders"])["name"], "Someone Else")
    return Check.PLACEHOLDERS, row["id"]


# --- rephrased texts -------------------------------------------------------------------------------------------------


_SAME = (
    ("Over the", "Through the"),
    (", while ", ", whereas "),
    ("have had", "have"),
    (" of the match", " in the match"),
)


def rephrase(rows: Rows) -> None:
    """Put every other target into other words that say the same, as an assisting model would."""
    for row in rows["samples"][::2]:
        row["rules_target"] = row["target"]
        row["writer"] = "a-model"
        for old, new in _SAME:
            row["target"] = row["target"].replace(old, new)
        row["target"] = f"So: {row['target']}"
        names = [each.get("name") or each["token"] for each in row.get("placeholders", ())]
        row["named"] = re.sub(r"\[[A-Z]+\]", "{}", row["target"]).format(*names)


def _rephrased(rows: Rows, *tracks: str) -> list[Row]:
    return [row for row in rows["samples"] if "rules_target" in row and row["track"] in tracks]


@fault
def rephrased_count(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in _rephrased(rows, "recent") if _COUNTS.search(row["target"])])
    return Check.REPHRASING, _reword(row, _COUNTS, "nine ")[1]


@fault
def rephrased_rank(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in _rephrased(rows, "historical") if _RANKS.search(row["target"])])
    return Check.REPHRASING, _reword(row, _RANKS, "eleven" if "makes" in row["target"] else "ninth")[1]


@fault
def rephrased_score(rows: Rows, pick: Pick) -> Named:
    row = pick(_rephrased(rows, "current", "recent", "historical"))
    row["target"], row["named"] = (row[name] + " It is 4-0." for name in ("target", "named"))
    return Check.REPHRASING, row["id"]


@fault
def rephrased_team(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in _rephrased(rows, "recent", "historical") if not _even(row)])
    for each in row["placeholders"]:
        each["side"] = flip(each["side"])
    return Check.REPHRASING, row["id"]


@fault
def rephrased_without_a_placeholder(rows: Rows, pick: Pick) -> Named:
    row = pick([row for row in _rephrased(rows, "current", "recent", "historical") if row.get("placeholders")])
    row["target"] = re.sub(r"\[[A-Z]+\]", "they", row["target"], count=1)
    return Check.REPHRASING, row["id"]


@fault
def rephrased_without_the_rules_sentence(rows: Rows, pick: Pick) -> Named:
    row = pick(_rephrased(rows, "current", "recent", "historical"))
    del row["rules_target"]
    return Check.REPHRASING, row["id"]


@fault
def altered_rules_sentence(rows: Rows, pick: Pick) -> Named:
    row = pick(_rephrased(rows, "historical"))
    row["rules_target"] = _MINUTES.sub("50", row["rules_target"])
    return Check.TEXT, row["id"]


__all__ = ["FAULTS", "by_id", "later_events", "rephrase"]

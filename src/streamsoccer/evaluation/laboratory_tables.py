"""The figures of laboratory_figures.py as Markdown tables: for a terminal, a model card and the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamsoccer.evaluation.laboratory import CHECKABLE, PRECISION

__all__ = ["laboratory_tables"]

Row = Mapping[str, Any]
# Columns of the tables of lines: their heads, and how many digits each has.
_COLUMNS = {
    "tok_f1": ("Tok-F1", 4),
    "bleu4": ("BLEU-4", 4),
    "meteor": ("METEOR", 4),
    "rouge_l": ("ROUGE-L", 4),
    "cider": ("CIDEr", 2),
    PRECISION: ("fact precision", 3),
    CHECKABLE: ("claims a line", 2),
}
_CONDITIONS = {"own": "predicted front end", "taught": "the paper's oracle interventions"}
_FRONT = {
    "transition_f1_exact": "transition F1, exact",
    "transition_f1_within_one": "transition F1, within one clip",
    "transition_f1_forgiving": "transition F1, forgiving",
    "event_type_macro_f1": "event-type macro-F1",
    "event_type_accuracy": "event-type accuracy",
    "event_side_accuracy": "event-side accuracy",
    "clip_action_map": "clip-action mAP",
}


def laboratory_tables(figures: Row) -> str:
    """All tables, each with a heading."""
    parts: list[Iterable[str]] = [
        _course(figures["course"], figures["how"]),
        _targets(figures["targets"]),
        _front(figures["front_end"]),
        *(_lines(figures, condition) for condition in _CONDITIONS),
        _orderings(figures["orderings"]),
        _claims(figures["claims"]),
        _retrieval(figures["retrieval"]),
        _growth(figures["growth"]),
    ]
    blocks = ["\n".join(each) for each in map(list, parts) if each]
    if figures["missing"]:
        blocks.append("Missing: " + ", ".join(figures["missing"]))
    return "\n\n".join(blocks)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "|".join(["---", *["---:"] * (len(heads) - 1)]) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _value(row: Row | None, digits: int = 4, *, sign: bool = False, between: bool = False) -> str:
    """A figure; `between` with its interval."""
    if row is None:
        return ""
    plus = "+" if sign else ""
    text = f"{row['mean']:{plus}.{digits}f}"
    if between and "low" in row:
        text += f" [{row['low']:{plus}.{digits}f}, {row['high']:{plus}.{digits}f}]"
    return text


def _course(course: Row, how: str) -> Iterator[str]:
    anchors = course["anchors"]
    told = ", ".join(f"{count} {track}" for track, count in anchors.items() if track != "all")
    seeds = ", ".join(map(str, course["seeds"]))
    yield f"{course['train_matches']} training matches, {course['test_matches']} test matches, seeds {seeds}; "
    yield f"{anchors.get('all', 0)} anchors ({told}), {course['records']} records."
    yield f"{how[0].upper()}{how[1:]}."


def _targets(targets: Sequence[Row]) -> Iterator[str]:
    yield "### What was asked for\n"
    rows = (
        [each["name"], each["target"], _value(each, between=True), "yes" if each["holds"] else "**no**"]
        for each in targets
    )
    yield from _table(["figure", "target", "measured", "reached"], rows)


def _front(front: Row) -> Iterator[str]:
    if "figures" not in front:
        return
    yield f"### Front end: {front['matches']} matches, {front['clips']} clips\n"
    ceiling, files, probe = front["ceiling"], front.get("files", {}), front.get("linear_probe", {})
    beside = {"transition_f1_exact": "exact", "transition_f1_within_one": "within one clip"}
    rows = []
    for name, told in _FRONT.items():
        if name in front["figures"]:
            film = files.get(name)
            rows.append(
                [
                    told,
                    _value(front["figures"][name], between=True),
                    _value(ceiling.get(name)),
                    f"{probe[beside[name]]:.4f}" if beside.get(name) in probe else "",
                    "" if film is None else _value(film["encoded"]),
                    "" if film is None else _value(film["difference"], sign=True, between=True),
                ]
            )
    heads = ["figure", "model", "visible actions, perfectly seen", "linear probe", "encoded files", "less their frames"]
    yield from _table(heads, rows)
    for table, score, count in (("by_type", "f1", "events"), ("by_action", "ap", "positives")):
        yield ""
        yield from _table(
            ["event type" if table == "by_type" else "clip action", "F1" if score == "f1" else "AP", count],
            ([name, f"{each[score]:.4f}", f"{each[count]:.0f}"] for name, each in front[table].items()),
        )


def _lines(figures: Row, condition: str) -> Iterator[str]:
    yield f"### Lines: {_CONDITIONS[condition]}\n"
    rows = []
    for variant, tracks in figures["lines"][condition].items():
        for track, cell in tracks.items():
            rows.append([f"{track}: {variant}", *_cell(cell)])
    for cell in figures["changes"]:
        if cell["condition"] == condition:
            rows.append([f"{cell['track']}, {cell['change']}", *_cell(cell)])
    if condition == "taught":
        for track, cell in figures["references"].items():
            claims = [f"{cell[name]:.{_COLUMNS[name][1]}f}" for name in (PRECISION, CHECKABLE)]
            rows.append([f"{track}: the references themselves", str(cell["lines"]), *[""] * 5, *claims])
    heads = ["lines", "anchors", *(head for head, _ in _COLUMNS.values())]
    yield from _table(heads, sorted(rows, key=lambda row: _order(row[0])))


def _order(name: str) -> tuple[int, int]:
    """Records and tracks in turn, within each the model before its variants and changes."""
    track = next(
        (at for at, each in enumerate(("record", "current", "recent", "historical")) if name.startswith(each)), 9
    )
    plain = next(
        (at for at, each in enumerate((": recurrent", ": full", ": event", ": fixed", ": local")) if each in name), 5
    )
    return track, plain if ":" in name and "references" not in name else 9


def _cell(cell: Row) -> list[str]:
    return [str(cell["anchors"]), *(_value(cell.get(name), digits) for name, (_, digits) in _COLUMNS.items())]


def _orderings(rows: Sequence[Row]) -> Iterator[str]:
    yield "### Orderings: differences with their intervals; bold where the interval lies above zero\n"
    names = ["tok_f1", "cider", PRECISION]

    def told(row: Row, name: str) -> str:
        figure = row["differences"].get(name)
        text = _value(figure, _COLUMNS[name][1], sign=True, between=True)
        return f"**{text}**" if name in row["above_zero"] else text

    yield from _table(
        ["claim", "track", "contexts", "anchors", *(_COLUMNS[name][0] for name in names), "of text metrics above zero"],
        (
            [
                row["claim"] + ("" if row["asked_for"] else " (told beside)"),
                row["track"],
                row["condition"],
                str(row["anchors"]),
                *(told(row, name) for name in names),
                f"{_many(row['above_zero'])} of {_many(row['differences'])}",
            ]
            for row in rows
        ),
    )


def _many(names: Iterable[str]) -> int:
    """How many of these are text metrics."""
    return sum(name in _TEXTS for name in names)


_TEXTS = tuple(name for name in _COLUMNS if name not in (PRECISION, CHECKABLE))


def _claims(claims: Row) -> Iterator[str]:
    yield "### What the model claims: right of those that can be settled, all seeds together\n"
    tracks = list(dict.fromkeys(track for rows in claims.values() for track in rows))
    kinds = sorted({kind for rows in claims.values() for each in rows.values() for kind in each})

    def told(condition: str, track: str, kind: str) -> str:
        counts = claims[condition].get(track, {}).get(kind)
        settled = 0 if counts is None else counts["agrees"] + counts["contradicts"]
        return f"{counts['agrees'] / settled:.2f} of {settled}" if settled else ""

    columns = [(condition, track) for condition in claims for track in tracks]
    rows = ([kind, *(told(condition, track, kind) for condition, track in columns)] for kind in kinds)
    yield from _table(["claim", *(f"{track}, {condition}" for condition, track in columns)], rows)


def _retrieval(retrieval: Row) -> Iterator[str]:
    if not retrieval:
        return
    yield "### Retrieval\n"
    names = {"r@1": "R@1", "r@3": "R@3", "r@5": "R@5", "mrr": "MRR", "r@3_of_all_positives": "R@3 of all positives"}
    yield from _table(
        ["contexts", "queries", "candidates", *names.values(), "R@3 by lot"],
        (
            [
                name,
                "/".join(map(str, dict.fromkeys(row["queries"]))),
                f"{sum(row['candidates_a_query']) / len(row['candidates_a_query']):.1f}",
                *(_value(row[each], between=each == "r@3") for each in names),
                _value(row["r@3_by_lot"]),
            ]
            for name, row in retrieval.items()
        ),
    )


def _growth(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield f"### Growth with the number of training matches: stage 1 on validation, threshold {rows[0]['threshold']}\n"
    names = [name for name in rows[0] if name not in ("train_matches", "seeds", "threshold")]
    yield from _table(
        ["matches", "seeds", *(_FRONT.get(name, name) for name in names)],
        (
            [
                str(row["train_matches"]),
                str(row["seeds"]),
                *(f"{sum(row[name]) / len(row[name]):.4f}" for name in names),
            ]
            for row in rows
        ),
    )

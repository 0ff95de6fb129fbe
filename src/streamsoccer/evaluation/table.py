"""A table of predictions, as other people write them: JSONL, a JSON list, or CSV, with the columns found or named."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsoccer.errors import DataError, UsageError

__all__ = ["HALF", "ID", "MATCH", "PREDICTION", "REFERENCE", "PredictionTable", "Role"]

# Column names in use: MatchTime, UniSoccer, SoccerNet-Caption, COCO-like dumps and ours. Compared in lower case.
_PREDICTION = re.compile(
    r"predictions?|(pred|predicted|generated|predicted_res)(_text|_caption|_commentary|_\d+)?|temp_res_text|hypothes[ie]s|hyp"
    r"|candidate|(model_)?output|response|commentary|comment"
)
_REFERENCE = re.compile(
    r"references|refs|(reference|ref|ground_?truth|gt|gold|target)(_text|_caption|_commentary)?|anonymized"
    r"|comments_text_anonymized|comments_text"
)
_MATCH = re.compile(r"match(_?id)?|game(_?id)?|urllocal")
_HALF = re.compile(r"half|period")
_ID = re.compile(r"id|sample_?id|anchor_?id")


@dataclass(frozen=True, slots=True)
class Role:
    """What a column is for: the option that names it and the names it is found by."""

    name: str
    names: re.Pattern[str]

    @property
    def option(self) -> str:
        return f"--{self.name}"


PREDICTION = Role("prediction", _PREDICTION)
REFERENCE = Role("reference", _REFERENCE)
MATCH = Role("match", _MATCH)
HALF = Role("half", _HALF)
ID = Role("id", _ID)


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """Rows of one file, each with the place that errors name."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    places: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> PredictionTable:
        """Read the whole file; anything that is not a table is an error that names the line."""
        readers = {
            ".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".json": _read_json, ".csv": _read_csv, ".tsv": _read_csv,
        }  # fmt: skip
        if (reader := readers.get(path.suffix.lower())) is None:
            raise UsageError(
                "the name ends in none of .jsonl, .json, .csv, .tsv",
                where=path,
                remedy="name the file by what it holds",
            )
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = path.read_bytes()[: error.start].count(b"\n") + 1
            raise DataError("not UTF-8 text", where=f"{path}:{line}", remedy="save the file as UTF-8") from error
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", where=path) from error
        rows, lines = reader(text, path)
        if not rows:
            raise DataError("there are no rows", where=path)
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        places = (f"{path}:{line}" if line else f"{path}: item {i + 1}" for i, line in enumerate(lines))
        return cls(path, columns, tuple(rows), tuple(places))

    def find(self, role: Role, name: str | None) -> str | None:
        """The column of that role: the one named, or the only one whose name is in use for it, or none."""
        if name is not None:
            if name not in self.columns:
                raise UsageError(
                    f"there is no column {name!r}", where=self.path, remedy=f"{role.option} with {self._listed()}"
                )
            return name
        found = [column for column in self.columns if role.names.fullmatch(column.strip().lower())]
        if len(found) > 1:
            problem = f"which column is meant? It could be {' or '.join(found)}"
            raise UsageError(problem, where=self.path, remedy=f"{role.option} with one of them")
        return found[0] if found else None

    def require(self, role: Role, name: str | None) -> str:
        """As `find`, where the table must have one."""
        if (column := self.find(role, name)) is None:
            problem = f"no column has a name known for a {role.name}"
            raise UsageError(problem, where=self.path, remedy=f"{role.option} with {self._listed()}")
        return column

    def texts(self, *, prediction: str, references: Sequence[str]) -> tuple[list[str | None], list[list[str]]]:
        """Predictions (None where missing) and references (one or more) of all rows; mixed-up columns are refused."""
        if prediction in references:
            raise UsageError(
                f"{prediction!r} is named as prediction and as reference", where=self.path, remedy="name two columns"
            )
        looks_swapped = REFERENCE.names.fullmatch(prediction.lower()) and PREDICTION.names.fullmatch(
            references[0].lower()
        )
        if looks_swapped:
            problem = f"prediction {prediction!r} and reference {references[0]!r} look swapped"
            remedy = f"--prediction {references[0]} --reference {prediction}; or rename the columns if they are right"
            raise UsageError(problem, where=self.path, remedy=remedy)
        predictions = [_prediction(row.get(prediction), place, prediction) for row, place in self._placed()]
        return predictions, [
            [text for name in references for text in _references(row.get(name), place, name)]
            for row, place in self._placed()
        ]

    def labels(self, column: str) -> list[Hashable]:
        """What that column says of each row; a row that says nothing is an error, for it would belong nowhere."""
        return [_label(row.get(column), place, column) for row, place in self._placed()]

    def groups(self, column: str) -> list[Hashable]:
        """As `labels`, but rows that say nothing are a group of their own: MatchTime leaves the type of many blank."""
        if column not in self.columns:
            raise UsageError(f"there is no column {column!r}", where=self.path, remedy=f"--group with {self._listed()}")
        values = [row.get(column) for row in self.rows]
        return ["(blank)" if value is None or not str(value).strip() else str(value).strip() for value in values]

    def ids(self, name: str | None) -> list[Hashable] | None:
        """The row IDs where the table has them; a missing or repeated one is an error."""
        column = self.find(ID, name)
        if column is None:
            return None
        labels = self.labels(column)
        seen: dict[Hashable, str] = {}
        for label, place in zip(labels, self.places, strict=True):
            if label in seen:
                raise DataError(
                    f"ID {label!r} stands twice, first at {seen[label]}", where=place, remedy="one row for each ID"
                )
            seen[label] = place
        return labels

    def _placed(self) -> zip[tuple[Mapping[str, Any], str]]:
        return zip(self.rows, self.places, strict=True)

    def _listed(self) -> str:
        return "one of: " + ", ".join(self.columns)


Rows = tuple[list[Mapping[str, Any]], list[int]]


def _read_jsonl(text: str, path: Path) -> Rows:
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            rows.append(_object(_parse(line, f"{path}:{number}"), f"{path}:{number}"))
            lines.append(number)
    return rows, lines


def _read_json(text: str, path: Path) -> Rows:
    items = _parse(text, str(path))
    if not isinstance(items, list):
        raise DataError("not a list of rows", where=path, remedy="write a JSON list of objects, or JSONL")
    return [_object(item, f"{path}: item {i + 1}") for i, item in enumerate(items)], [0] * len(items)


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"broken JSON: {error}", where=where) from error


def _object(item: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise DataError(f"a row is an object with named fields, not {type(item).__name__}", where=where)
    return item


def _read_csv(text: str, path: Path) -> Rows:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, path), strict=True)
    header: list[str] = []
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    start = 1
    try:
        for cells in reader:
            if not cells:  # a blank line
                pass
            elif not header:
                # A table saved together with its row numbers, as pandas does, has no name for them.
                header = [name or f"column {place}" for place, name in enumerate(cells, start=1)]
                if repeated := sorted({name for name in header if header.count(name) > 1}):
                    raise DataError(f"the header names {', '.join(repeated)} more than once", where=f"{path}:{start}")
            elif len(cells) != len(header):
                raise DataError(
                    f"{len(cells)} cells under a header of {len(header)}",
                    where=f"{path}:{start}",
                    remedy="quote cells that hold the sign between cells",
                )
            else:
                rows.append(dict(zip(header, cells, strict=True)))
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"broken CSV: {error}", where=f"{path}:{start}") from error
    return rows, lines


def _delimiter(text: str, path: Path) -> str:
    """The sign that the header holds: the one its file's name promises, else the next."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    signs = "\t,;" if path.suffix.lower() == ".tsv" else ",\t;"
    return next((sign for sign in signs if sign in header), ",")


def _prediction(value: Any, where: str, column: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    what = "a list: several texts are references" if isinstance(value, list) else type(value).__name__
    raise DataError(f"column {column!r} holds {what}; a prediction is one text", where=where)


def _references(value: Any, where: str, column: str) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise DataError(
            f"the reference in column {column!r} is missing or blank",
            where=where,
            remedy="leave rows without a reference out",
        )
    return list(texts)


def _label(value: Any, where: str, column: str) -> Hashable:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise DataError(f"column {column!r} is missing or blank", where=where)
    return str(value).strip()

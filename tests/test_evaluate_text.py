"""`streamsoccer evaluate text`: any table in, numbers under metric names out, bad input named by file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamsoccer.cli import main
from streamsoccer.evaluation import text as text_module
from streamsoccer.evaluation.table import PREDICTION, REFERENCE, PredictionTable
from text_pairs import real_looking_pairs

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command without METEOR, whose Java takes seconds to start."""
    monkeypatch.setattr(text_module, "find_java", lambda: None)

    def call(*words: object) -> tuple[int, str, str]:
        try:
            main(["evaluate", "text", *map(str, words)])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def rows(count: int = 40) -> list[dict[str, Any]]:
    predictions, references = real_looking_pairs(count)
    return [
        {
            "game": f"g{i % 4}",
            "half": 1 + i % 2,
            "type": "corner" if i % 3 else "",
            "anonymized": said[0],
            "predicted_res_0": heard,
        }
        for i, (heard, said) in enumerate(zip(predictions, references, strict=True))
    ]


def write_jsonl(path: Path, items: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def write_csv(path: Path, items: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(items[0]))
        writer.writeheader()
        writer.writerows(items)
    return path


def test_the_same_rows_give_the_same_numbers_in_every_form(run: Run, tmp_path: Path) -> None:
    items = rows()
    (tmp_path / "t.json").write_text(json.dumps(items), encoding="utf-8")
    reports = []
    for path in (write_jsonl(tmp_path / "t.jsonl", items), write_csv(tmp_path / "t.csv", items), tmp_path / "t.json"):
        code, out, _ = run(path, "--json")
        report = json.loads(out)
        assert code == 0 and report.pop("file") == str(path)
        reports.append(report)
    assert reports[0] == reports[1] == reports[2]
    report = reports[0]
    assert (report["convention"], report["n"], report["coverage"]) == ("raw", 40, 1.0)
    assert all(isinstance(report[name], float) for name in ("cider", "bleu4", "rouge_l", "tok_f1"))
    assert report["meteor"] is None and "Java" in report["details"]["meteor"]["absent"]
    assert report["bertscore"] is None and "--bertscore" in report["details"]["bertscore"]["remedy"]
    assert report["details"]["columns"] == {"prediction": "predicted_res_0", "reference": ["anonymized"]}


@pytest.mark.parametrize(("name", "sign"), [("t.csv", ";"), ("t.csv", "\t"), ("t.tsv", "\t"), ("t.tsv", ",")])
def test_cells_may_be_parted_by_other_signs(run: Run, tmp_path: Path, name: str, sign: str) -> None:
    items = [item | {"predicted_res_0": f"{item['predicted_res_0']}, so; far"} for item in rows()]
    same = write_csv(tmp_path / "same.csv", items)
    with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(items[0]), delimiter=sign)
        writer.writeheader()
        writer.writerows(items)
    told = [json.loads(run(path, "--json")[1]) for path in (tmp_path / name, same)]
    assert told[0]["cider"] == told[1]["cider"] and told[0]["n"] == 40


def test_row_numbers_without_a_name_are_a_column_like_others(run: Run, tmp_path: Path) -> None:
    lines = write_csv(tmp_path / "t.csv", rows()).read_text(encoding="utf-8").splitlines()
    path = tmp_path / "pandas.csv"
    path.write_text("\n".join(f"{i - 1 if i else ''},{line}" for i, line in enumerate(lines)), encoding="utf-8")
    assert json.loads(run(path, "--json")[1])["n"] == 40
    assert "with one of: column 1, game" in run(path, "--prediction", "nothing")[2]


def test_text_output_names_convention_coverage_scorer_and_absence(run: Run, tmp_path: Path) -> None:
    items = rows()
    items[3]["predicted_res_0"] = ""
    code, out, _ = run(
        write_csv(tmp_path / "t.csv", items), "--match", "game", "--replicates", 200, "--convention", "plain"
    )
    assert code == 0
    for part in ("40 anchors, coverage 97.50% (1 empty)", "convention plain", "pycocoevalcap 1.2: Cider", "95% ["):
        assert part in out
    assert "meteor              absent: METEOR needs Java" in out


def test_intervals_groups_and_a_paired_comparison(run: Run, tmp_path: Path) -> None:
    items = rows()
    worse = [item | {"predicted_res_0": "so " + item["predicted_res_0"]} for item in items]
    first, second = write_jsonl(tmp_path / "a.jsonl", items), write_jsonl(tmp_path / "b.jsonl", worse)
    options = ("--match", "game", "--group", "type", "--replicates", 300, "--json")
    code, out, err = run(first, "--against", second, *options)
    assert code == 0, err
    report = json.loads(out)
    for name in ("cider", "bleu4", "rouge_l", "tok_f1"):
        interval = report["intervals"][name]
        assert interval["low"] <= report[name] <= interval["high"] and interval["clusters"] == 4
        assert report["against"]["differences"][name]["low"] > 0
    assert {name: group["n"] for name, group in report["groups"].items()} == {"(blank)": 14, "corner": 26}
    assert run(first, "--against", second, *options)[1] == out  # seeded
    assert "minus" in run(first, "--against", second, "--match", "game", "--replicates", 50)[1]


def test_a_comparison_of_other_anchors_is_refused(run: Run, tmp_path: Path) -> None:
    items = rows()
    first = write_jsonl(tmp_path / "a.jsonl", items)
    code, _, err = run(first, "--against", write_jsonl(tmp_path / "b.jsonl", items[1:]), "--match", "game")
    assert code == 2 and "other references" in err
    code, _, err = run(first, "--against", first)
    assert code == 2 and "needs the match of each row" in err
    named = [item | {"id": i} for i, item in enumerate(items)]
    shuffled, short = write_jsonl(tmp_path / "c.jsonl", named[::-1]), write_jsonl(tmp_path / "d.jsonl", named[:-1])
    ordered = write_jsonl(tmp_path / "e.jsonl", named)
    code, out, _ = run(ordered, "--against", shuffled, "--match", "game", "--replicates", 50, "--json")
    assert code == 0 and json.loads(out)["against"]["differences"]["bleu4"]["estimate"] == 0
    code, _, err = run(ordered, "--against", short, "--match", "game", "--replicates", 50)
    assert code == 2 and "1 only in the first" in err


def test_several_references_a_row_from_a_list_or_from_columns(run: Run, tmp_path: Path) -> None:
    items = rows()
    listed = [{"prediction": i["predicted_res_0"], "references": [i["anonymized"], "A shot."]} for i in items]
    beside = [{"prediction": i["predicted_res_0"], "one": i["anonymized"], "two": "A shot."} for i in items]
    first = json.loads(run(write_jsonl(tmp_path / "a.jsonl", listed), "--json")[1])
    second = json.loads(
        run(write_csv(tmp_path / "b.csv", beside), "--reference", "one", "--reference", "two", "--json")[1]
    )
    assert first["cider"] == second["cider"] and first["details"]["columns"]["reference"] == ["references"]


def test_missing_predictions_are_counted(run: Run, tmp_path: Path) -> None:
    items = rows()
    items[0]["predicted_res_0"] = None
    del items[1]["predicted_res_0"]
    report = json.loads(run(write_jsonl(tmp_path / "t.jsonl", items), "--json")[1])
    assert (report["n"], report["coverage"], report["details"]["empty"]) == (40, 0.95, 2)


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        ("anonymized predicted_res_0 predicted_res_1", (), "could be predicted_res_0 or predicted_res_1"),
        ("anonymized description2 words", (), "--prediction with one of: anonymized, description2, words"),
        ("prediction words", (), "known for a reference"),
        ("anonymized comments_text_anonymized prediction", (), "could be anonymized or comments_text_anonymized"),
        ("anonymized prediction", ("--prediction", "predicted"), "there is no column 'predicted'"),
        ("anonymized prediction", ("--match", "game"), "there is no column 'game'"),
        ("anonymized prediction", ("--group", "track"), "there is no column 'track'"),
        (
            "anonymized prediction",
            ("--prediction", "prediction", "--reference", "prediction"),
            "as prediction and as ref",
        ),
        ("anonymized prediction", ("--prediction", "anonymized", "--reference", "prediction"), "look swapped"),
        ("anonymized prediction", ("--convention", "bleu"), "no convention 'bleu'"),
        ("anonymized prediction", ("--convention", "half"), "known for a match"),
        ("anonymized prediction game", ("--match", "game"), "1 match cannot be resampled"),
    ],
)
def test_columns_that_are_unclear_are_an_error_with_the_choice(
    run: Run, tmp_path: Path, columns: str, options: tuple[str, ...], problem: str
) -> None:
    path = write_csv(tmp_path / "t.csv", [dict.fromkeys(columns.split(), "a shot")] * 3)
    code, out, err = run(path, *options)
    assert code == 2 and problem in err and not out and "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.jsonl", b'{"prediction": "a", "reference": "b"}\n{"prediction": \n', "t.jsonl:2: broken JSON"),
        ("t.jsonl", b'{"prediction": "a", "reference": "b"}\n\n[1]\n', "t.jsonl:3: a row is an object"),
        ("t.jsonl", b'{"prediction": "a", "reference": "b"}\n{"prediction": "a"}\n', "t.jsonl:2: the reference"),
        ("t.jsonl", b'{"prediction": ["a"], "reference": "b"}\n', "t.jsonl:1: column 'prediction' holds a list"),
        ("t.jsonl", b'{"prediction": 7, "reference": "b"}\n', "t.jsonl:1: column 'prediction' holds int"),
        ("t.jsonl", b'{"prediction": "a", "reference": ["b", " "]}\n', "t.jsonl:1: the reference"),
        (
            "t.jsonl",
            b'{"prediction": "a", "reference": "b"}\n{"prediction": "\xff", "reference": "b"}\n',
            ":2: not UTF-8",
        ),
        ("t.jsonl", b'{"prediction": "\\ud800", "reference": "b"}\n', "t.jsonl:1: '\\ud800' holds half"),
        (
            "t.jsonl",
            b'{"id": 1, "prediction": "a", "reference": "b"}\n' * 2,
            "t.jsonl:2: ID '1' stands twice, first at",
        ),
        (
            "t.jsonl",
            b'{"id": 1, "prediction": "a", "reference": "b"}\n{"prediction": "a", "reference": "b"}\n',
            "'id' is miss",
        ),
        ("t.jsonl", b"", "there are no rows"),
        ("t.json", b'{"prediction": "a"}', "not a list of rows"),
        ("t.json", b'[{"prediction": "a", "reference": ""}]', "t.json: item 1: the reference"),
        ("t.csv", b"", "there are no rows"),
        ("t.csv", b"prediction,reference\n", "there are no rows"),
        ("t.csv", b"prediction,reference\na,b\n\na,b,c\n", "t.csv:4: 3 cells under a header of 2"),
        ("t.csv", b'prediction,reference\n"a\nb",b\na\n', "t.csv:4: 1 cells under a header of 2"),
        ("t.csv", b'prediction,reference\na,"b\n', "t.csv:2: broken CSV"),
        ("t.csv", b"prediction,prediction\na,b\n", "t.csv:1: the header names prediction more than once"),
        ("t.csv", b"prediction,reference\na,\n", "t.csv:2: the reference"),
        ("t.txt", b"prediction\treference\n", "ends in none of .jsonl, .json, .csv, .tsv"),
    ],
)
def test_a_broken_table_is_an_error_that_names_the_place(
    run: Run, tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    code, out, err = run(path)
    assert code == 2 and problem in err and not out and "Traceback" not in err


def test_a_file_that_is_not_there_or_a_folder_is_an_error(run: Run, tmp_path: Path) -> None:
    assert run(tmp_path / "none.csv")[::2] == (
        2,
        f"error: {tmp_path / 'none.csv'}: cannot be read: No such file or directory\n",
    )
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read" in run(tmp_path / "folder.csv")[2]


def test_the_fields_own_column_names_are_found(tmp_path: Path) -> None:
    for columns, prediction, reference in (
        ("league,game,half,timestamp,type,anonymized,predicted_res_0", "predicted_res_0", "anonymized"),
        ("video_path,anonymized,temp_res_text", "temp_res_text", "anonymized"),
        ("id,Prediction,Reference", "Prediction", "Reference"),
        ("hypothesis,ground_truth", "hypothesis", "ground_truth"),
        ("comment,comments_text_anonymized,video", "comment", "comments_text_anonymized"),
    ):
        path = tmp_path / "t.csv"
        path.write_text(f"\ufeff{columns}\n{','.join('x' for _ in columns.split(','))}\n", encoding="utf-8")
        table = PredictionTable.read(path)
        assert (table.require(PREDICTION, None), table.require(REFERENCE, None)) == (prediction, reference)

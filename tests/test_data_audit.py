"""The audit finds nothing in a good build, and every planted fault by its check and its row's ID."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mutations import FAULTS, Pick, Rows
from mutations_of_content import rephrase
from results import record
from small_corpus import write_corpus
from streamsoccer import cli
from streamsoccer.data.audit import AuditReport, audit
from streamsoccer.data.fidelity import tag, what_changed
from streamsoccer.data.findings import KEPT, PROMISES, Check, Findings
from streamsoccer.data.manifests import MANIFESTS
from streamsoccer.data.pipeline import build
from streamsoccer.errors import DataError


def load(out: Path) -> Rows:
    return {name: [json.loads(line) for line in (out / f"{name}.jsonl").read_text().splitlines()] for name in MANIFESTS}


def write(out: Path, rows: Rows, summary: dict[str, Any]) -> None:
    """The rows as a build whose build.json knows them, so that only what is wrong in them is found."""
    manifests = {}
    for name, each in rows.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in each)
        (out / f"{name}.jsonl").write_text(text)
        manifests[f"{name}.jsonl"] = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    (out / "build.json").write_text(json.dumps({**summary, "manifests": manifests}))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captioned matches with all three tracks, half of the targets in other words than the rules'."""
    root, out = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("out")
    write_corpus(root, matches=2, captioned=2)
    build(root, out)
    return out


@pytest.fixture(scope="module")
def good_rows(good: Path) -> Rows:
    rows = load(good)
    rephrase(rows)
    return rows


@pytest.fixture(scope="module")
def summary(good: Path) -> dict[str, Any]:
    return json.loads((good / "build.json").read_text())


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spoilt")


def audited(out: Path, rows: Rows, summary: dict[str, Any]) -> AuditReport:
    write(out, rows, summary)
    return audit(out)


def test_a_good_build_has_no_findings(good: Path) -> None:
    report = audit(good)
    assert [str(each) for each in report.findings] == []
    assert report.ok
    looked = {check for check in Check if report.rows[check]}
    assert looked == set(Check) - {Check.REPHRASING}, "every check has looked at something"


def test_a_rephrased_build_has_no_findings(good_rows: Rows, summary: dict[str, Any], spoilt: Path) -> None:
    report = audited(spoilt, good_rows, summary)
    assert [str(each) for each in report.findings] == []
    assert report.rows[Check.REPHRASING] > 10


# Other words for the same thing, each on its own.
_WAYS = (
    ("have had two ", "have had a pair of "),
    (" twice", " two times"),
    ("a corner", "one corner"),
    ("the last two minutes", "the past two minutes of the match"),
    ("within the last two minutes", "in the last 2 minutes"),
    (", while ", "; meanwhile "),
    ("their third", "the third"),
    ("their second", "a 2nd"),
    ("take another corner", "get one more corner"),
    ("commit another foul", "foul again"),
    ("about ", "around "),
    ("have scored a goal", "have scored"),
    ("have committed a foul", "have fouled"),
    ("Goal! ", "It is a goal: "),
    ("It is ", "The score now is "),
)


def test_what_the_assistant_may_say_is_no_finding(good: Path, summary: dict[str, Any], spoilt: Path) -> None:
    """Every rewording that passes the assistant's own check passes the audit, which reads it by itself."""
    accepted = 0
    for old, new in _WAYS:
        rows = load(good)
        for row in rows["samples"]:
            said = row["target"].replace(old, new)
            if said != row["target"] and what_changed(tag(row["target"]), tag(said)) is None:
                row |= {"rules_target": row["target"], "writer": "a-model", "target": said}
                names = [each.get("name") or each["token"] for each in row.get("placeholders", ())]
                row["named"] = re.sub(r"\[[A-Z]+\]", "{}", said).format(*names)
                accepted += 1
        assert [str(each) for each in audited(spoilt, rows, summary).findings] == [], (old, new)
    assert accepted > 20


@pytest.mark.parametrize("name", FAULTS)
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_planted_fault_is_named(
    name: str, data: st.DataObject, good_rows: Rows, summary: dict[str, Any], spoilt: Path
) -> None:
    def pick(options: Sequence[Any]) -> Any:
        assert options, f"the good build has no row for the fault {name}"
        return options[data.draw(st.integers(0, len(options) - 1))]

    rows = json.loads(json.dumps(good_rows))  # a deep copy, faster
    check, wanted = FAULTS[name](rows, pick)
    report = audited(spoilt, rows, summary)
    assert (check, wanted) in {(each.check, each.id) for each in report.findings}, [
        str(each) for each in report.findings
    ]


def test_a_finding_names_the_line_of_its_row(good_rows: Rows, summary: dict[str, Any], spoilt: Path) -> None:
    rows = copy.deepcopy(good_rows)
    rows["samples"][7]["state"]["home"]["goals"] = 5
    (found,) = audited(spoilt, rows, summary).findings
    assert (found.file, found.line, found.id) == ("samples.jsonl", 8, rows["samples"][7]["id"])
    assert "goals 5" in found.problem


def test_a_changed_byte_is_found_though_it_means_nothing(good: Path, summary: dict[str, Any], spoilt: Path) -> None:
    write(spoilt, load(good), summary)
    text = (spoilt / "clips.jsonl").read_text()
    (spoilt / "clips.jsonl").write_text(text.replace(": ", ":  ", 1))
    assert {(each.check, each.id) for each in audit(spoilt).findings} == {(Check.DIGEST, "clips.jsonl")}


def test_a_match_that_build_json_has_in_another_split(good_rows: Rows, summary: dict[str, Any], spoilt: Path) -> None:
    changed = copy.deepcopy(summary)
    match = good_rows["samples"][0]["match"]
    changed["matches"][match]["split"] = "validation"
    report = audited(spoilt, good_rows, changed)
    assert {each.check for each in report.findings} == {Check.SPLIT}
    assert good_rows["samples"][0]["id"] in {each.id for each in report.findings}
    del changed["matches"][match]
    named = {(each.check, each.id) for each in audited(spoilt, good_rows, changed).findings}
    assert (Check.SPLIT, match) in named


@pytest.mark.parametrize("file", [*(f"{name}.jsonl" for name in MANIFESTS), "build.json"])
def test_manifests_that_cannot_be_read_are_an_error(
    file: str, good_rows: Rows, summary: dict[str, Any], spoilt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(spoilt, good_rows, summary)
    path = spoilt / file
    if file.endswith("l"):
        path.write_text(path.read_text() + '{"match": 3}\n')
    else:
        path.write_text("{")
    with pytest.raises(DataError, match=file):
        audit(spoilt)
    path.unlink()
    with pytest.raises(SystemExit) as stopped:
        cli.main(["data", "audit", str(spoilt)])
    assert stopped.value.code == 2
    assert file in capsys.readouterr().err


def test_another_schema_is_not_audited(good_rows: Rows, summary: dict[str, Any], spoilt: Path) -> None:
    write(spoilt, good_rows, {**summary, "schema_version": "0"})
    with pytest.raises(DataError, match="schema version '0'"):
        audit(spoilt)


def test_the_command_exits_with_1_where_something_is_found(
    good: Path, good_rows: Rows, summary: dict[str, Any], spoilt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["data", "audit", str(good)])
    assert stopped.value.code == 0
    assert "no findings" in capsys.readouterr().out
    rows = copy.deepcopy(good_rows)
    rows["samples"][0]["split"] = "test" if rows["samples"][0]["split"] == "train" else "train"
    write(spoilt, rows, summary)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["data", "audit", str(spoilt), "--json"])
    assert stopped.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert told["checks"]["split"]["findings"] == 1
    assert told["findings"][0]["id"] == rows["samples"][0]["id"]
    assert set(told["checks"]) == {check.value for check in Check}


def test_findings_beyond_what_is_kept_are_counted() -> None:
    findings = Findings()
    for line in range(KEPT + 5):
        findings.add(Check.SPLIT, "clips.jsonl", line, "x", "y")
    assert (len(findings.kept), findings.counts[Check.SPLIT]) == (KEPT, KEPT + 5)
    assert set(PROMISES) == set(Check)


def first(options: Sequence[Any]) -> Any:
    assert options
    return options[len(options) // 2]


def test_every_check_is_tested_by_a_fault(good_rows: Rows) -> None:
    pick: Pick = first
    named = {make(copy.deepcopy(good_rows), pick)[0] for make in FAULTS.values()}
    assert set(Check) - named == {Check.DIGEST}  # planted above


@pytest.fixture(scope="module")
def real(soccernet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of all real matches that are here."""
    out = tmp_path_factory.mktemp("real")
    build(soccernet, out)
    return out


def test_the_real_matches_have_no_findings(real: Path) -> None:
    report = audit(real)
    assert [str(each) for each in report.findings] == []
    assert report.rows[Check.CLIPS] > 100 * report.matches


@pytest.mark.acceptance
def test_every_fault_in_real_matches_is_named(real: Path, spoilt: Path) -> None:
    """Five of each fault in two real matches, at rows drawn by a seeded generator."""
    rows = load(real)
    matches = sorted({row["match"] for row in rows["samples"]})[:2]
    rows = {name: [row for row in each if row["match"] in matches] for name, each in rows.items()}
    summary = json.loads((real / "build.json").read_text())
    rephrase(rows)
    assert audited(spoilt, rows, summary).ok
    drawn = random.Random(4)
    planted, named, unnamed, impossible = 0, 0, [], []
    for name, make in FAULTS.items():
        for _ in range(5):
            spoiled = json.loads(json.dumps(rows))
            try:
                check, wanted = make(spoiled, drawn.choice)
            except IndexError:  # these two matches have no row for it
                impossible.append(name)
                break
            planted += 1
            found = {(each.check, each.id) for each in audited(spoilt, spoiled, summary).findings}
            if (check, wanted) in found:
                named += 1
            else:
                unnamed.append(f"{name}: {check} {wanted}")
    figures = {"faults": len(FAULTS), "planted": planted, "named": named, "without_a_row": impossible}
    record("data_audit", figures, "python -m pytest -m acceptance tests/test_data_audit.py")
    assert unnamed == []
    assert len(impossible) < 5

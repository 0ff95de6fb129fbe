"""The audit of a build: everything that can be recomputed from clips and events is, by code that did not build it."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsoccer.data.audit_match import FILES, At, MatchView, read_matches
from streamsoccer.data.audit_samples import audit_coverage, audit_records, audit_samples
from streamsoccer.data.audit_targets import audit_targets
from streamsoccer.data.audit_timeline import audit_captions, audit_clips, audit_events, clip_name
from streamsoccer.data.findings import PROMISES, Check, Finding, Findings
from streamsoccer.data.manifests import SUMMARY, read_summary
from streamsoccer.domain import SCHEMA_VERSION, Split
from streamsoccer.errors import DataError

__all__ = ["AuditReport", "audit", "run_audit", "show_audit"]

_SHOWN = 10  # findings of one check that people are shown


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    """Each check with the rows it looked at, and what was found; `findings` holds at most 1,000 of one check."""

    out: Path
    matches: int
    rows: Mapping[Check, int]
    counts: Mapping[Check, int]
    findings: Sequence[Finding]

    @property
    def ok(self) -> bool:
        return not self.counts

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "matches": self.matches,
            "checks": {
                check.value: {"promise": PROMISES[check], "rows": self.rows[check], "findings": self.counts[check]}
                for check in Check
            },
            "findings": [each.to_json() for each in self.findings],
        }


def audit(out: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> AuditReport:
    """Look at every row of a build; manifests that cannot be read are a DataError."""
    findings = Findings()
    summary = read_summary(out)
    if summary.get("schema_version") != SCHEMA_VERSION:
        raise DataError(
            f"schema version {summary.get('schema_version')!r}, this program reads {SCHEMA_VERSION!r}",
            where=out / SUMMARY,
            remedy="run `streamsoccer data build` again",
        )
    _digests(out, summary, findings)
    matches = 0
    for view in read_matches(out, findings, progress):
        matches += 1
        _ids(view, findings)
        _split(view, summary.get("matches", {}).get(view.match), findings)
        for check in (audit_clips, audit_events, audit_captions, audit_coverage):
            check(view, findings)
        for check in (audit_records, audit_samples, audit_targets):
            check(view, findings)
    return AuditReport(
        out=out, matches=matches, rows=findings.rows, counts=findings.counts, findings=tuple(findings.kept)
    )


def _digests(out: Path, summary: Mapping[str, Any], findings: Findings) -> None:
    """A file that is not the one that the build wrote is said, whatever else is found in it."""
    told = summary.get("manifests", {})
    for name in FILES.values():
        findings.looked(Check.DIGEST)
        try:
            with (out / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError("cannot be read", where=out / name, remedy="run `streamsoccer data build` first") from error
        written = told.get(name, {}).get("sha256")
        if written != digest:
            findings.add(Check.DIGEST, name, 0, name, f"its SHA-256 is {digest}, {SUMMARY} has {written}")


def _rows(view: MatchView) -> list[tuple[str, Sequence[At[Any]]]]:
    return [(FILES[name], getattr(view, name)) for name in FILES]


def _ids(view: MatchView, findings: Findings) -> None:
    """Every ID once in its manifest, and every row under the match that its ID names."""
    for file, rows in _rows(view):
        seen: dict[str, int] = {}
        clip = file == FILES["clips"]
        findings.looked(Check.DUPLICATE_ID, len(rows))
        if not clip:
            findings.looked(Check.IDENTITY, len(rows))
        findings.looked(Check.HALF, len(rows))
        for at in rows:
            row = at.row
            name = clip_name(view.match, row.half, row.index) if clip else row.id
            if seen.setdefault(name, at.line) != at.line:
                findings.add(Check.DUPLICATE_ID, file, at.line, name, f"stands in line {seen[name]} already")
            if not clip and not row.id.startswith(f"{view.match}#"):
                findings.add(Check.IDENTITY, file, at.line, row.id, f"is not an ID of its match {view.match}")


def _split(view: MatchView, settled: Mapping[str, Any] | None, findings: Findings) -> None:
    """One split and one legacy split a match: what build.json says, else what most rows say."""
    splits = Counter(at.row.split for _, rows in _rows(view) for at in rows)
    first_file, first_rows = next((file, rows) for file, rows in _rows(view) if rows)
    told = None if settled is None else settled.get("split")
    if told not in list(Split):
        findings.add(Check.SPLIT, first_file, first_rows[0].line, view.match, f"{SUMMARY} has no split for it")
    right = Split(told) if told in list(Split) else splits.most_common(1)[0][0]
    for file, rows in _rows(view):
        findings.looked(Check.SPLIT, len(rows))
        for at in rows:
            row = at.row
            if row.split is not right:
                clip = file == FILES["clips"]
                name = clip_name(view.match, row.half, row.index) if clip else row.id
                findings.add(Check.SPLIT, file, at.line, name, f"is in {row.split}, its match in {right}")
    legacy = Counter(at.row.legacy_split for at in view.records).most_common(1)
    for record in view.records:
        if record.row.legacy_split is not legacy[0][0]:
            told = f"is in the legacy split {record.row.legacy_split}, its match in {legacy[0][0]}"
            findings.add(Check.SPLIT, FILES["records"], record.line, record.row.id, told)
    source = None if settled is None else settled.get("source")
    for sample in view.samples:
        if sample.row.source_hash != source:
            told = f"source hash {sample.row.source_hash[:12]}..., its match's is {str(source)[:12]}..."
            findings.add(Check.PROVENANCE, FILES["samples"], sample.line, sample.row.id, told)


# --- for people and machines -----------------------------------------------------------------------------------------


def run_audit(out: Path) -> AuditReport:
    """The audit, with a bar on the error stream where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("matches", total=None)
        return audit(out, progress=lambda done, total: bar.update(task, completed=done, total=total))


def show_audit(report: AuditReport, *, as_json: bool) -> None:
    """A line for each check and the first findings of each, or everything as JSON."""
    if as_json:
        json.dump(report.to_json(), sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
        return
    lines = [f"{report.out}: {report.matches:,} matches", f"{'check':<16}{'rows':>9}{'found':>7}  what it promises"]
    for check in Check:
        lines.append(f"{check.value:<16}{report.rows[check]:>9,}{report.counts[check]:>7,}  {PROMISES[check]}")
    for check in Check:
        found = [each for each in report.findings if each.check is check]
        if found:
            lines += ["", f"{check.value}: {report.counts[check]:,}"]
            lines += [f"  {each}" for each in found[:_SHOWN]]
            if report.counts[check] > _SHOWN:
                lines.append(f"  and {report.counts[check] - _SHOWN:,} more; --json lists up to 1,000 of a check")
    total = sum(report.counts.values())
    lines += ["", "no findings" if report.ok else f"{total:,} findings in {len(report.counts)} checks"]
    sys.stdout.write("\n".join(lines) + "\n")

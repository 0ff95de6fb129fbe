"""The doctor looks at the real machine, and says what is missing with the command that mends it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamsoccer import doctor
from streamsoccer.cli import app
from streamsoccer.doctor import Status, examine
from streamsoccer.errors import SourceError
from streamsoccer.testing.video import cut_a_test_film


def test_it_cuts_a_real_film_and_names_every_package() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    rows = {row["subject"]: row for row in json.loads(result.stdout)}
    assert result.exit_code == 0
    assert rows["clips"]["status"] == "ok"
    assert "cut into 2 clips" in rows["clips"]["found"]
    assert set(doctor.PACKAGES) <= rows.keys()
    assert {"python", "video codecs", "sources", "processor", "java", "disk"} <= rows.keys()


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(doctor.PACKAGES, "no-such-package", "nothing")
    monkeypatch.setitem(doctor.EXTRAS, "model", ("no-such-package",))
    findings = {finding.subject: finding for finding in examine(tmp_path, try_video=lambda: "")}
    assert findings["no-such-package"].status is Status.MISSING
    assert findings["no-such-package"].mend == "pip install 'streamsoccer[model]'"


def test_video_that_does_not_work_is_a_finding_and_not_a_crash(tmp_path: Path) -> None:
    def broken() -> str:
        raise SourceError("cannot decode")

    findings = {finding.subject: finding for finding in examine(tmp_path, try_video=broken)}
    assert findings["video"].status is Status.BROKEN
    assert "cannot decode" in findings["video"].found


def test_a_missing_java_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {finding.subject: finding for finding in examine(tmp_path, try_video=cut_a_test_film)}
    assert findings["java"].status is Status.MISSING
    assert "apt-get install" in findings["java"].mend

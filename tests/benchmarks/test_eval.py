"""The benchmark of evaluations runs on a small scale, prints both sections and writes a complete record."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from benchmarks.eval import main, short, typical

from stillme import Guard
from stillme.evaluation.runs.case_files import case_from
from stillme.evaluation.runs.metrics import metrics_of
from stillme.evaluation.runs.run import run_cases


def test_both_sections_are_printed_and_recorded(tmp_path: Path) -> None:
    """Speed by processes and model, memory by length, and no case fails."""
    file, said = tmp_path / "record.json", io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["--quick", "--json", str(file), "--jobs", "1"]) == 0

    record = json.loads(file.read_text(encoding="utf-8"))
    assert [(row["model"], row["jobs"]) for row in record["speed"]] == [
        ("shipped model", 1),
        ("no model", 1),
    ]
    assert [row["cases"] for row in record["memory"]] == [1, 10, 100]
    assert {row["errors"] for row in record["speed"] + record["memory"]} == {0}
    assert "1. Cases a second, end to end" in said.getvalue()
    assert "2. Peak memory by length of the file" in said.getvalue()


@pytest.mark.parametrize("cases", [short, typical])
def test_its_cases_are_cases(cases: object) -> None:
    """They are read, run and scored; short ones are decided rightly."""
    made = [case_from(values) for values in cases(16)]  # type: ignore[operator]

    found = metrics_of(run_cases(Guard({"grounding": {"model": "none"}}), made))

    assert (found.cases, found.errors) == (16, 0)
    if cases is short:
        assert found.rate("decision_accuracy").value == 1.0

"""`stillme batch` as a user calls it: arguments, exit codes, the report, and how far it is."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stillme.cli.batch import pace
from stillme.cli.commands import cli
from tests.batch.support import requests, results, write_rows


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a policy that needs no model, and rows of other names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text("grounding: {model: none}\n", encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", requests(6))
    log = [{"q": r["query"], "a": r["draft_answer"], "docs": [r["retrieved_context"][0]["text"]]} for r in requests(6)]
    write_rows(tmp_path / "log.jsonl", log)
    return tmp_path


def run(*args: str) -> Result:
    """The result of `stillme batch …` in this process."""
    return CliRunner().invoke(cli, ["batch", *args, "--jobs", "1"], catch_exceptions=False)


def test_rows_in_results_out_and_a_report(here: Path) -> None:
    """Every row has a verdict: exit code 0, and the report is JSON for a program."""
    done = run("rows.jsonl", "out.jsonl")

    report = json.loads(done.stdout)
    assert (done.exit_code, report["rows"], report["decisions"]) == (0, 6, {"answer": 3, "refuse": 3})
    assert json.loads((here / "out.jsonl.report.json").read_text(encoding="utf-8")) == report


@pytest.mark.usefixtures("here")
def test_a_report_for_people() -> None:
    """Decisions with their shares, then the reasons."""
    done = run("rows.jsonl", "out.jsonl", "--human")

    assert done.stdout.splitlines()[:3] == ["6 rows", "           3 answer  50.0%", "           3 refuse  50.0%"]
    assert "contradicted_claim" in done.stdout


def test_a_row_without_a_verdict_shows_in_the_exit_code(here: Path) -> None:
    """It is reported, and the others have theirs."""
    (here / "bad.jsonl").write_text("nothing\n", encoding="utf-8")

    done = run("rows.jsonl", "bad.jsonl", "out.jsonl", "--human")

    assert done.exit_code == 3
    assert "bad.jsonl row 1: not valid JSON" in done.stdout
    assert len(results(here / "out.jsonl")) == 7


@pytest.mark.usefixtures("here")
def test_a_log_of_other_names() -> None:
    """Columns are named with --map."""
    done = run("log.jsonl", "out.jsonl", "--map", "query=q", "--map", "draft_answer=a", "--map", "context=docs")

    assert (done.exit_code, json.loads(done.stdout)["decisions"]) == (0, {"answer": 3, "refuse": 3})


@pytest.mark.parametrize(
    ("args", "words"),
    [
        pytest.param(("none.jsonl", "out.jsonl"), "is no file", id="no input"),
        pytest.param(("rows.jsonl", "out.txt"), ".jsonl, .csv or .parquet", id="an output in no form"),
        pytest.param(("rows.jsonl", "out.jsonl", "--as-of", "soon"), "is no point in time", id="no time"),
        pytest.param(("rows.jsonl", "out.jsonl", "--map", "q"), "FIELD=COLUMN", id="no mapping"),
        pytest.param(("rows.jsonl", "nowhere/out.jsonl"), "nowhere", id="no folder for the output"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_leaves_nothing(here: Path, args: tuple[str, ...], words: str) -> None:
    """With exit code 3."""
    before = sorted(here.iterdir())

    done = run(*args)

    assert done.exit_code in (1, 3)
    assert words in done.stderr
    assert sorted(here.iterdir()) == before


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
@pytest.mark.usefixtures("here")
def test_an_engine_that_is_not_installed_says_what_to_install() -> None:
    """Before anything is written."""
    done = run("rows.jsonl", "out.jsonl", "--engine", "ray")

    assert (done.exit_code, "stillme[ray]" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("rows", "share", "seconds", "expected"),
    [
        pytest.param(1200, 0.25, 60.0, "1,200 rows  20.0 rows/s  0:03:00 left", id="a quarter in a minute"),
        pytest.param(10, 0.001, 36.0, "10 rows  0.3 rows/s  9:59:24 left", id="hours"),
        pytest.param(10, 1.0, 5.0, "10 rows  2.0 rows/s  0:00:00 left", id="at the end"),
        pytest.param(1, 0.0, 0.0, "1 rows  …  …", id="at the beginning"),
    ],
)
def test_rate_and_remaining_time(rows: int, share: float, seconds: float, expected: str) -> None:
    """What the bar, or a line now and then, says."""
    assert pace(rows, share, seconds) == expected

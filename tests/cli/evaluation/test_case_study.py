"""`stillme report`: run files in, a page or Markdown out, and what cannot be used is said."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import Commands
from stillme.cli.evaluation.case_study import report
from stillme.cli.printing import Exit
from stillme.evaluation.runs.case_files import checked
from stillme.evaluation.runs.run import run_to_file
from stillme.guard import Guard

SOURCES = [{"source_id": "leave", "text": "Every employee has 12 days of annual leave.", "similarity": 0.9}]
CASES: list[dict[str, Any]] = [
    {
        "id": "right",
        "draft": "Every employee has 12 days of annual leave [1].",
        "expected": "answer",
        "supported": True,
    },
    {
        "id": "wrong",
        "draft": "Every employee has 15 days of annual leave [1].",
        "expected": "refuse",
        "supported": False,
    },
    {
        "id": "thừa",
        "draft": "Every employee has 12 days of annual leave [1].",
        "expected": "refuse",
        "supported": False,
    },
]
pytestmark = pytest.mark.usefixtures("folder")
PICTURES = ["risk-coverage", "reliability", "threshold-sweep", "reasons"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with cases, a run of them under two policies, and a run of fewer."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for row in CASES:
        request = {
            "query": "How many days of leave are there?",
            "draft_answer": row["draft"],
            "retrieved_context": SOURCES,
        }
        claims = [{"text": row["draft"], "supported": row["supported"]}]
        lines.append(json.dumps({"id": row["id"], "request": request, "expected": row["expected"], "claims": claims}))
    Path("cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plain = Guard({"grounding": {"model": "none"}})
    run_to_file(plain, checked("cases.jsonl"), Path("run.jsonl"), name="plain")
    run_to_file(
        Guard({"grounding": {"model": "none"}, "mode": "warn"}), checked("cases.jsonl"), Path("warn.jsonl"), name="warn"
    )
    run_to_file(plain, checked("cases.jsonl", 1), Path("first.jsonl"), name="first")
    return tmp_path


def run(*arguments: str) -> Result:
    """The result of `stillme report …` in this process."""
    group = Commands("stillme", commands={"report": report})
    return CliRunner().invoke(group, ["report", *arguments], catch_exceptions=False)


def test_without_a_file_markdown_is_printed() -> None:
    """With the figures and without links to plots that are nowhere."""
    result = run("run.jsonl", "--title", "Trial")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "# Trial\n\n- **hallucination\\_escape\\_rate: 50 %** (1 / 2, 95 % interval 1 to 99 %)\n"
    )
    assert "![" not in result.stdout


def test_a_page_is_one_file(folder: Path) -> None:
    """Which only its owner can read, with the texts of the cases where they are given."""
    result = run("run.jsonl", "warn.jsonl", "--cases", "cases.jsonl", "--out", "study.html")
    page = Path("study.html").read_text(encoding="utf-8")

    assert (result.exit_code, result.stdout) == (0, "case study of 2 runs written to study.html\n")
    assert stat.S_IMODE(Path("study.html").stat().st_mode) == 0o600
    assert page.count('<svg class="plot"') == 4
    assert "How many days of leave are there?" in page
    assert sorted(path.name for path in folder.iterdir()) == [
        "cases.jsonl",
        "first.jsonl",
        "run.jsonl",
        "study.html",
        "warn.jsonl",
    ]


def test_markdown_has_its_plots_beside_it() -> None:
    """Every link leads to a file, whose name may hold blanks."""
    result = run("run.jsonl", "--out", "my study.md")
    page = Path("my study.md").read_text(encoding="utf-8")

    assert result.exit_code == 0
    for name in PICTURES:
        assert f"](my%20study-{name}.svg)" in page
        ElementTree.parse(f"my study-{name}.svg")  # noqa: S314  (we wrote it)


def test_a_file_that_is_there_stays_there() -> None:
    """Unless it may be replaced."""
    Path("study.html").write_text("mine", encoding="utf-8")

    refused = run("run.jsonl", "--out", "study.html")

    assert (refused.exit_code, Path("study.html").read_text(encoding="utf-8")) == (Exit.INPUT, "mine")
    assert run("run.jsonl", "--out", "study.html", "--force").exit_code == 0
    assert Path("study.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_notes_are_read_from_a_file() -> None:
    """What is empty there is not filled in."""
    Path("notes.yaml").write_text("owner: Bàn hỗ trợ\ndecision:\nsource: ''\n", encoding="utf-8")

    result = run("run.jsonl", "--notes", "notes.yaml")

    assert "**Who answers for this study:** Bàn hỗ trợ\n" in result.stdout
    assert "**What was decided:** _Not filled in._" in result.stdout


def test_a_run_of_the_first_cases_is_read_with_the_whole_file() -> None:
    """As many cases as the run has."""
    assert run("first.jsonl", "--cases", "cases.jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(["missing.jsonl"], "missing.jsonl cannot be read: No such file or directory", id="no such run"),
        pytest.param(
            ["cases.jsonl"], "cases.jsonl is no run file: its first line has no heading of a run", id="no run file"
        ),
        pytest.param(["run.jsonl", "first.jsonl"], "a case study is of one set of cases", id="other cases"),
        pytest.param(["run.jsonl", "--out", "study.pdf"], "--out ends with .html or .md", id="an unknown form"),
        pytest.param(
            ["run.jsonl", "--out", "no/study.md"], "cannot be written: No such file or directory", id="no folder"
        ),
        pytest.param(
            ["run.jsonl", "--cases", "other.jsonl"],
            "other.jsonl does not hold the cases of the run",
            id="cases of another run",
        ),
        pytest.param(
            ["run.jsonl", "--notes", "missing.yaml"], "cannot be read: No such file or directory", id="no notes"
        ),
        pytest.param(["run.jsonl", "--notes", "bad.yaml"], "'bad.yaml' is not YAML", id="notes that are no YAML"),
        pytest.param(
            ["run.jsonl", "--notes", "list.yaml"],
            "'list.yaml' has to hold key: text, got list",
            id="notes that are a list",
        ),
        pytest.param(
            ["run.jsonl", "--notes", "date.yaml"],
            "'sign_off' has to be a text, got date; put it in quotes",
            id="a date",
        ),
        pytest.param(
            ["run.jsonl", "--notes", "odd.yaml"], "'onwer' is no note: did you mean owner?", id="an unknown note"
        ),
    ],
)
def test_what_cannot_be_used_is_said(folder: Path, arguments: list[str], problem: str) -> None:
    """On stderr, with exit code 3, and nothing is written."""
    files = {"bad.yaml": "a: [", "list.yaml": "- a", "date.yaml": "sign_off: 2026-02-01", "odd.yaml": "onwer: x"}
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("other.jsonl").write_text(
        Path("cases.jsonl").read_text(encoding="utf-8").replace("right", "left"), encoding="utf-8"
    )
    before = sorted(folder.iterdir())

    result = run(*arguments)

    assert result.exit_code == Exit.INPUT
    assert problem in result.stderr
    assert sorted(folder.iterdir()) == before

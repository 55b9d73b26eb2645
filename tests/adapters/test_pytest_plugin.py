"""The plugin in a pytest of its own, and the action's steps in a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
IS_INSTALLED = any(each.name == "stillme" for each in entry_points(group="pytest11"))
PLUGIN = [] if IS_INSTALLED else ["-p", "stillme.adapters.pytest_plugin"]
"""An installed package announces its plugin; a checkout on the path does not."""
PASSAGE = {"source_id": "faq", "text": "Gear can be returned within 30 days.", "similarity": 0.9}


def case(name: str, days: int, expected: str) -> dict[str, Any]:
    """A case about returns."""
    draft = f"Gear can be returned within {days} days [1]."
    request = {"query": "How long can gear be returned?", "draft_answer": draft, "retrieved_context": [PASSAGE]}
    claims = [{"text": draft, "supported": days == 30}]
    return {"id": name, "request": request, "expected": expected, "claims": claims}


RIGHT, WRONG = case("right", 30, "answer"), case("wrong", 90, "refuse")
MISTAKEN = case("a label that is mistaken", 90, "answer")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a policy that needs no model."""
    (tmp_path / "policy.yaml").write_text("grounding: {model: none}\n", encoding="utf-8")
    return tmp_path


def write(project: Path, *cases: dict[str, Any], bars: str = "") -> None:
    """Cases and the configuration."""
    lines = "".join(json.dumps(each) + "\n" for each in cases)
    (project / "returns.stillme.jsonl").write_text(lines, encoding="utf-8")
    (project / "pytest.ini").write_text(
        f"[pytest]\nstillme_policy = policy.yaml\nstillme_bars =\n{bars}", encoding="utf-8"
    )


def run(project: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """What pytest says of the project."""
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", "-rA", *args]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=600, check=False)


def test_cases_are_tests_and_bars_are_tests(project: Path) -> None:
    """All of them pass."""
    write(project, RIGHT, WRONG, bars="    max escape_rate=0\n    min decision_accuracy=100%\n")

    done = run(project, "--junitxml", "junit.xml")

    assert done.returncode == 0, done.stdout
    names = [each.get("name") for each in ET.parse(project / "junit.xml").iter("testcase")]  # noqa: S314  (our own file)
    assert names == ["right", "wrong", "max hallucination_escape_rate=0", "min decision_accuracy=1"]


def test_a_case_that_comes_out_otherwise_fails_with_its_reasons(project: Path) -> None:
    """And so does a bar that is missed; the summary has both."""
    write(project, RIGHT, MISTAKEN, bars="    min decision_accuracy=90%\n")

    done = run(project, "--stillme-summary", "summary.md")

    assert done.returncode == 1
    assert "expected answer, got refuse: number_not_in_sources, contradicted_claim" in done.stdout
    summary = (project / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## StillMe: 1 of 3 met\n")
    assert "| returns.stillme.jsonl | a label that is mistaken | expected answer" in summary
    assert "min decision\\_accuracy" in summary or "min decision_accuracy" in summary


@pytest.mark.parametrize(
    ("text", "bars", "words"),
    [
        pytest.param("no case\n", "", "not valid JSON", id="a file of something else"),
        pytest.param(json.dumps(RIGHT), "    most errors=0\n", "max METRIC=VALUE", id="no bar"),
        pytest.param(json.dumps(RIGHT), "    max wrongness=0\n", "is no metric", id="no metric"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_collection(project: Path, text: str, bars: str, words: str) -> None:
    """Never a run that passes because nothing was in it."""
    write(project, bars=bars)
    (project / "returns.stillme.jsonl").write_text(text, encoding="utf-8")

    done = run(project)

    assert done.returncode == 2
    assert words in done.stdout


def test_the_fixture_judges_an_answer_claim_by_claim(project: Path) -> None:
    """What is contradicted fails with what the source says."""
    (project / "pytest.ini").write_text("[pytest]\nstillme_policy = policy.yaml\n", encoding="utf-8")
    (project / "test_answers.py").write_text(
        "Q, S = 'How long can gear be returned?', ['Gear can be returned within 30 days.']\n"
        "def test_right(stillme): stillme.assert_supported(Q, 'Gear can be returned within 30 days [1].', S)\n"
        "def test_wrong(stillme): stillme.assert_supported(Q, 'Gear can be returned within 90 days [1].', S)\n",
        encoding="utf-8",
    )

    done = run(project)

    assert "1 failed, 1 passed" in done.stdout
    assert "contradicted: Gear can be returned within 90 days" in done.stdout


def test_a_project_without_cases_imports_nothing_of_the_package(project: Path) -> None:
    """Whoever installs StillMe pays for it where it is used."""
    (project / "test_plain.py").write_text(
        "import sys\ndef test_plain(): assert 'stillme.guard' not in sys.modules and 'numpy' not in sys.modules\n",
        encoding="utf-8",
    )

    assert run(project).returncode == 0


@pytest.mark.parametrize(
    ("cases", "code"), [((RIGHT, WRONG), 0), ((RIGHT, MISTAKEN), 1)], ids=["all met", "one missed"]
)
def test_the_steps_of_the_action(project: Path, cases: tuple[dict[str, Any], ...], code: int) -> None:
    """JUnit, a summary, and an exit code that ends the job."""
    write(project, *cases)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = [each for each in action["runs"]["steps"] if each["name"] == "Run the cases"]
    given = {"CASES": "returns.stillme.jsonl\n", "POLICY": "policy.yaml", "BARS": "max errors=0", "JUNIT": "junit.xml"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **given, "PATH": path, "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    environment["PYTEST_ADDOPTS"] = " ".join(PLUGIN)

    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == code, done.stdout + done.stderr
    assert set(step["env"]) == set(given)
    assert (project / "summary.md").read_text(encoding="utf-8").startswith(f"## StillMe: {3 - code} of 3 met")
    assert (project / "junit.xml").is_file()

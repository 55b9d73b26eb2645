"""`stillme eval worlds` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import Commands
from stillme.cli.evaluation.eval import evaluate

COMMANDS = Commands(commands=[evaluate])
PLAIN = "grounding:\n  model: none\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.yaml").write_text(PLAIN, encoding="utf-8")


def run(*args: str) -> Result:
    """The result of the command in this process."""
    return CliRunner().invoke(COMMANDS, ["eval", "worlds", "--policy", "plain.yaml", *args])


def test_the_figures_of_a_policy_stand_beside_a_baseline() -> None:
    """JSON with what was counted, for all claims and by group and kind."""
    result = run("--limit", "1", "--json")

    printed = json.loads(result.stdout)
    assert list(printed["results"]) == ["shared words", "plain"]
    assert printed["results"]["plain"]["groups"]["all"]["both_worlds"]["denominator"] >= 8


def test_a_person_gets_tables() -> None:
    """Judges, groups and kinds by name."""
    result = run("--limit", "1", "--human")

    assert result.exit_code == 0
    assert "plain  1 documents in two worlds" in result.stdout
    assert "right in both" in result.stdout


def test_another_tool_is_measured_by_its_answers() -> None:
    """The claims are written, answered by somebody, and measured; a tool that always agrees is right in both worlds for none."""
    assert run("--limit", "1", "--questions", "asked.jsonl").exit_code == 0
    rows = [json.loads(line) for line in Path("asked.jsonl").read_text(encoding="utf-8").splitlines()]
    given = [{"id": r["id"], "claim": r["claim"], "world": r["world"], "supported": True} for r in rows]
    Path("given.jsonl").write_text("".join(f"{json.dumps(g)}\n" for g in given), encoding="utf-8")

    result = run("--limit", "1", "--answers", "given.jsonl", "--json")

    figures = json.loads(result.stdout)["results"]["given.jsonl"]["groups"]["all"]
    assert figures["both_worlds"]["numerator"] == 0
    assert figures["balanced_accuracy"] == 0.5


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param(["--slices", "2"], "`eval worlds` takes", id="slices belong to cases"),
        pytest.param(["--limit", "1", "--answers", "nowhere.jsonl"], "cannot read the answers", id="no such file"),
        pytest.param(
            ["--limit", "1", "--questions", "plain.yaml"], "exists: choose another name", id="nothing is overwritten"
        ),
    ],
)
def test_what_cannot_be_done_is_told(args: list[str], problem: str) -> None:
    """An error in one line, and the exit code of bad input."""
    result = run(*args)

    assert result.exit_code == 3
    assert problem in result.stderr


def test_options_of_worlds_are_refused_elsewhere() -> None:
    """`--answers` says nothing about cases."""
    result = CliRunner().invoke(COMMANDS, ["eval", "starter", "--answers", "x"])

    assert result.exit_code == 3
    assert "belong to `stillme eval worlds`" in result.stderr

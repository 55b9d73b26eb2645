"""What `stillme eval` shows on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.evaluation.test_eval import CASES, _here, run

__all__ = ["_here"]  # a fixture


def test_the_figures_are_printed_as_tables() -> None:
    """Every metric with what was counted and its interval, and slices on request."""
    result = run("cases.jsonl", "--human", "--slices", "2", "--max", "escape_rate=0.5")

    lines = result.stdout.splitlines()
    assert "hallucination_escape_rate  33.3 %   0.8 to 90.6 %    1 / 3" in [line.rstrip() for line in lines]
    assert "5 cases: 0 errors, 0 unscored, 0 unverified (0 of them answered)" in lines
    assert any(line.startswith("vi ") for line in lines)
    assert "met     --max hallucination_escape_rate=0.5: 0.3333 (1 of 3)" in lines


def test_a_comparison_is_printed_as_tables() -> None:
    """What changed, in which direction, and some of the cases."""
    lines = run("cases.jsonl", "--policy", "plain.yaml", "--policy", "hard.yaml", "--human").stdout.splitlines()

    assert "3 of 5 cases are decided differently; 0 could not be run in both" in lines
    assert "1 became right, 2 became wrong, 0 stayed wrong, 0 expect nothing" in lines
    assert any(line.split() == ["en-1", "answer", "answer", "refuse", "before"] for line in lines)


def test_nothing_in_a_case_reaches_the_terminal_as_it_is() -> None:
    """Ids, tags and categories are text of strangers."""
    odd = {**CASES[0], "id": "\x1b[31mred", "category": "[bold]x[/bold]\x07", "tags": ["\u202eevil"]}
    Path("odd.jsonl").write_text(json.dumps(odd) + "\n", encoding="utf-8")

    result = run("odd.jsonl", "--policy", "plain.yaml", "--policy", "hard.yaml", "--human", "--slices", "1")

    assert not {"\x1b", "\x07", "\u202e"} & set(result.stdout)
    assert "[bold]x[/bold]" in result.stdout

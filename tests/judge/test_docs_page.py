"""The page on the judge names everything that can be set."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from stillme.judge.environment import JudgeVariables
from stillme.judge.settings import JudgeScores, JudgeSettings
from stillme.settings import rows

PAGE = (Path(__file__).parents[2] / "docs" / "judge.md").read_text(encoding="utf-8")


def test_every_setting_is_documented() -> None:
    """In backticks, in the table."""
    assert [f.name for f in fields(JudgeSettings) if f"`{f.name}`" not in PAGE] == []


def test_every_variable_is_documented() -> None:
    """With its whole name."""
    assert [row.variable for row in rows(JudgeVariables) if f"`{row.variable}`" not in PAGE] == []


def test_the_defaults_are_those_of_the_code() -> None:
    """As the table shows them."""
    shown = {f.name: f.default for f in fields(JudgeSettings)}

    assert repr(JudgeScores()) in PAGE
    assert f"| `ask_between` | `{shown['ask_between']}` |" in PAGE
    assert f"| `max_tokens`, `seed` | {shown['max_tokens']}, {shown['seed']} |" in PAGE
    assert f"| `most_chars` | {shown['most_chars']} |" in PAGE
    assert f"| `timeout_s`, `connect_timeout_s` | {shown['timeout_s']:g}, {shown['connect_timeout_s']:g} |" in PAGE
    assert f"| `retries`, `backoff_s` | {shown['retries']}, {shown['backoff_s']} |" in PAGE
    assert f"| `parallel` | {shown['parallel']} |" in PAGE
    assert f"| `remembered` | {shown['remembered']} |" in PAGE

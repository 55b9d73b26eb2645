"""Options that several commands have: which policy is in force, and in which mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stillme import Policy
from tests.cli.test_commands import ANSWERED, REFUSED, lines, run

HERE = "note: the policy is policy.yaml of this folder; --policy names another\n"


@pytest.mark.parametrize(
    ("flag", "environment", "source", "told"),
    [
        pytest.param([], None, {"mode": "warn"}, HERE, id="policy.yaml of the folder, and it is said"),
        pytest.param([], "book", "book", "", id="the environment before the folder"),
        pytest.param(["--policy", "strict"], "book", "strict", "", id="the flag before the environment"),
        pytest.param([], "", {"mode": "warn"}, HERE, id="an empty variable is none"),
    ],
)
def test_the_policy_comes_from_flag_environment_or_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flag: list[str], environment: str | None, source: Any, told: str
) -> None:
    (tmp_path / "policy.yaml").write_text("mode: warn\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    result = run("verify", "-", *flag, stdin=lines(ANSWERED), env={"STILLME_POLICY": environment})

    assert json.loads(result.stdout)["policy_hash"] == Policy.load(source).hash
    assert result.stderr == told


def test_without_any_policy_it_is_lite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("verify", "-", stdin=lines(ANSWERED), env={"STILLME_POLICY": None})

    assert (json.loads(result.stdout)["policy_hash"], result.stderr) == (Policy.load("lite").hash, "")


def test_a_flag_replaces_the_mode_of_the_policy() -> None:
    result = run("verify", "-", "--policy", "strict", "--mode", "warn", stdin=lines(REFUSED))

    verdict = json.loads(result.stdout)
    assert (verdict["mode"], verdict["action"]) == ("warn", "deliver_with_warning")
    assert verdict["policy_hash"] == Policy.load("strict").with_changes({"mode": "warn"}).hash

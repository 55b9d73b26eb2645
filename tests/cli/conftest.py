"""What the tests of the audit commands share: a real store of real verdicts, and the command itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stillme.audit import AuditStore
from stillme.cli.commands import cli
from stillme.guard import Occurrence
from tests.audit.conftest import occurrence

__all__ = ["VERDICTS", "Trail", "rows", "tampered"]

VIETNAMESE = {
    "query": "Thủ đô của Việt Nam là thành phố nào?",
    "draft_answer": "Thủ đô của Việt Nam là Huế [1].",
    "retrieved_context": [{"source_id": "dia-ly", "text": "Thủ đô của Việt Nam là Hà Nội.", "similarity": 0.9}],
    "metadata": {"language": "vi", "domain": "school", "session_id": "session-2"},
}
WRONG = {"draft_answer": "Unused gear can be returned within 45 days of delivery [1]."}
# For each verdict of a trail: how many days old it is, its policy, its request. The oldest comes first.
VERDICTS: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "good": (40, {}, {}),
    "bad": (20, {"mode": "enforce"}, WRONG),
    "vi": (10, {}, VIETNAMESE),
    "hashed": (3, {"audit": {"content": "hashed"}}, WRONG),
    "bare": (1, {"audit": {"content": "none"}}, {"draft_answer": None}),
}


@dataclass(frozen=True)
class Trail:
    """A store, its verdicts by name, and the command on it."""

    where: str
    traces: dict[str, str]
    key: str

    def run(self, *args: object, stdin: str = "", **env: str) -> Result:
        """The result of `stillme audit …` in this process."""
        known = {"STILLME_AUDIT_STORE": self.where, "STILLME_AUDIT_KEY_FILE": self.key, "STILLME_POLICY": ""}
        return CliRunner().invoke(
            cli, ["audit", *map(str, args)], input=stdin, catch_exceptions=False, env={**known, **env}
        )


def tampered(trail: Trail, sql: str) -> None:
    """Change a store as someone with the file but not the key would."""
    connection = sqlite3.connect(trail.where)
    connection.executescript(sql)
    connection.close()


def rows(text: str) -> list[dict[str, Any]]:
    """Printed JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


@cache
def verdict(name: str) -> tuple[int, Occurrence]:
    """How many days old one of them is, and the guard's verdict, which is the same in every trail."""
    age, policy, changes = VERDICTS[name]
    return age, occurrence(policy, request_id=f"call-{name}", **changes)


@pytest.fixture
def new_trail(tmp_path: Path) -> Callable[..., Trail]:
    """Makes a store with a verdict of every kind."""

    def make(where: str, key: str = "") -> Trail:
        traces: dict[str, str] = {}
        with AuditStore(where, key=key or None, journal=tmp_path / "journal") as store:
            for name in VERDICTS:
                age, made = verdict(name)
                store.record([replace(made, at=datetime.now(UTC) - timedelta(days=age))])
                traces[name] = str(made.verdict.validator_trace_id)
        return Trail(where, traces, key)

    return make


@pytest.fixture
def trail(new_trail: Callable[..., Trail], tmp_path: Path) -> Trail:
    """A store in SQLite whose key lies beside it."""
    return new_trail(str(tmp_path / "audit.db"))

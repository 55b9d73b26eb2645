"""Stores of recorded and reviewed verdicts for the tests of a rollout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stillme.audit import AuditStore
from stillme.guard import Occurrence
from tests.audit.conftest import KEY, occurrence
from tests.evaluation.support import POLICY, WRONG, Verdicts, fill, review


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AuditStore]:
    """A store in SQLite."""
    with AuditStore(tmp_path / "audit.db", key=KEY, journal=tmp_path / "journal") as made:
        yield made


@pytest.fixture(scope="session")
def verdicts() -> dict[tuple[str, bool], Occurrence]:
    """An answer and a refusal of the real guard in each mode; copies of them fill the stores."""
    changes: dict[bool, dict[str, Any]] = {True: {}, False: {"draft_answer": WRONG}}
    modes = ("monitor", "warn", "enforce")
    return {(mode, good): occurrence({**POLICY, "mode": mode}, **changes[good]) for mode in modes for good in changes}


@pytest.fixture
def ready(store: AuditStore, verdicts: Verdicts) -> AuditStore:
    """Two reviewed weeks in monitor without a fault."""
    for week in ("2026-W06", "2026-W07"):
        fill(store, verdicts, week)
        review(store, week)
    return store

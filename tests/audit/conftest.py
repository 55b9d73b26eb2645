"""What the tests of the audit trail share: stores on both real engines, and verdicts of the real guard."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.chain.seals import HmacKey
from stillme.guard import Occurrence

KEY = HmacKey(b"a key that only these tests use!")
NewStore = Callable[..., AuditStore]
_NUMBERS = itertools.count(1)

QUESTION = "How long do I have to return unused gear?"
PASSAGE = {"source_id": "faq", "text": "We accept returns of unused gear within 30 days of delivery."}


def request(**changes: Any) -> dict[str, Any]:
    """A request whose draft is supported; any part can be changed."""
    return {
        "query": QUESTION,
        "draft_answer": "Unused gear can be returned within 30 days of delivery [1].",
        "retrieved_context": [PASSAGE],
        "metadata": {"language": "en", "domain": "shop", "session_id": "session-1"},
        **changes,
    }


class Caught:
    """A recorder that only remembers."""

    def __init__(self) -> None:
        self.occurrences: list[Occurrence] = []

    def record(self, occurrences: Any) -> None:
        self.occurrences += occurrences


def occurrence(policy: Any = None, **changes: Any) -> Occurrence:
    """A verdict of the real guard, as a store is given it."""
    caught = Caught()
    Guard(policy, audit=caught).verify(request(**changes), caller="tests")
    return caught.occurrences[0]


@pytest.fixture
def location(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a new, empty store can be made: a file, or a schema of its own in PostgreSQL."""
    if engine == "sqlite":
        return str(tmp_path / "audit.db")
    url = str(request.getfixturevalue("postgres_url"))
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


@pytest.fixture
def new_store(location: str, tmp_path: Path) -> Iterator[NewStore]:
    """Makes stores at one location, as several processes would; all are closed at the end."""
    made: list[AuditStore] = []

    def make(**options: Any) -> AuditStore:
        made.append(AuditStore(location, **{"key": KEY, "journal": tmp_path / "journal", **options}))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(new_store: NewStore) -> AuditStore:
    """An empty store."""
    return new_store()

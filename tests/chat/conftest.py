"""What the tests of the chat share: an empty store on each of the two real engines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at

NewStore = Callable[..., KnowledgeStore]
_NUMBERS = itertools.count(1)


@pytest.fixture
def location(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a new, empty store can be made: a file, or a schema of its own in PostgreSQL."""
    return new_location(engine, tmp_path, request)


def new_location(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """A place of an engine where nothing is yet."""
    name = f"knowledge_{next(_NUMBERS)}"
    if engine == "sqlite":
        return str(folder / f"{name}.db")
    url = str(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


@pytest.fixture
def new_store(location: str) -> Iterator[NewStore]:
    """Makes stores at one location, as several processes would; all are closed at the end."""
    made: list[KnowledgeStore] = []

    def make(**options: Any) -> KnowledgeStore:
        made.append(store_at(location, **options))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(new_store: NewStore) -> KnowledgeStore:
    """An empty store, for vectors of the embedder of this package."""
    return new_store()

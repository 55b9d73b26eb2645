"""Small tables beside the stores, which all processes of a service share: in a file, or on the server that replicas share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from stillme.errors import BackendError
from stillme.storage.places import is_server
from stillme.storage.postgres import Server
from stillme.storage.sqlite import advice, make_private, write_ahead

__all__ = ["Execute", "Run", "side_tables"]

PATIENCE_S: Final = 5.0
Run = Callable[[str, Sequence[Any]], list[Any]]
Execute = Callable[[Callable[[Run], Any]], Any]
"""Does some work in one transaction; what fails is a BackendError."""


def side_tables(store: str | None, file: Path, created: Sequence[str], what: str) -> Execute:
    """The tables that these statements make: on the server that a store is on, else in the file. `what` they hold is for messages."""
    if store is not None and is_server(store):
        return _on_server(Server(store, PATIENCE_S, what), created)
    return _in_file(file, created, what)


def _in_file(path: Path, created: Sequence[str], what: str) -> Execute:
    def execute(work: Callable[[Run], Any]) -> Any:
        try:
            make_private(path)
            with closing(sqlite3.connect(path, timeout=PATIENCE_S)) as connection, connection:
                write_ahead(connection, PATIENCE_S)
                connection.execute("PRAGMA secure_delete=ON")
                for statement in created:
                    connection.execute(statement)
                return work(lambda sql, values: connection.execute(sql, values).fetchall())
        except sqlite3.Error as error:
            raise BackendError(f"{what} cannot be kept in {path}: {advice(error)}") from error

    return execute


def _on_server(server: Server, created: Sequence[str]) -> Execute:
    def execute(work: Callable[[Run], Any]) -> Any:
        try:
            with server.connect() as connection, connection.transaction():
                connection.limit_s = PATIENCE_S
                for statement in created:
                    connection.execute(statement)
                return work(lambda sql, values: _rows(connection.execute(sql.replace("?", "%s"), values)))
        except server.driver.Error as error:
            raise BackendError(f"{server.name} cannot be reached: {server.advice(error)}") from error

    return execute


def _rows(cursor: Any) -> list[Any]:
    return list(cursor.fetchall()) if cursor.description else []

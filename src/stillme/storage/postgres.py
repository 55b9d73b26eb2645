"""How every store of ours reaches PostgreSQL: no answer is waited for without end, no password is shown, and what fails has a way out."""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from stillme.errors import BackendError, InputError

__all__ = ["TABLE_QUERY", "Server"]

TABLE_QUERY: Final = "SELECT 1 FROM pg_class WHERE relname = %s AND pg_table_is_visible(oid)"
UNREACHED: Final = "check that it runs and can be reached, and the user, password and name in its URL"
# By the beginning of the SQLSTATE; without one, there was no connection.
ADVICE: Final = {
    "42501": "give its user the right to it",
    "53100": "the disk of the server is full, make room",
    "53": "the server lacks resources, give it more or ask for less",
    "55P03": "another writer holds the lock, let that end or raise the timeout",
    "57014": "it took too long, look at what the server does or raise the timeout",
    "25006": "the server takes no writes, name the primary",
    "42P01": "tables of it are missing: check its name, or restore a backup",
    "08": UNREACHED,
    "28": UNREACHED,
    "3D": UNREACHED,
    "57P": UNREACHED,
    "": "the log of the server says more",
}


class Server:
    """A database by its URL; `what` is what it holds, for messages."""

    def __init__(self, url: str, timeout_s: float, what: str) -> None:
        self.driver = _driver()
        self.name = f"{what} {_shown(url, what, self.driver)}"
        self.timeout_s = timeout_s
        self._url = url

    def connect(self) -> Any:
        """A new connection; raises when none is had in time. Its `limit_s` is the longest that an answer may take."""
        options = self.driver.conninfo.conninfo_to_dict(self._url)
        options.setdefault("connect_timeout", max(2, round(self.timeout_s)))  # less, the driver takes for two
        return _bounded(self.driver).connect(**options, autocommit=True)

    def advice(self, error: Any) -> str:
        """What to do about an error of the driver."""
        state = error.sqlstate
        return next(words for code, words in ADVICE.items() if state.startswith(code)) if state else UNREACHED


@cache
def _bounded(driver: Any) -> Any:
    """A connection class that gives up on a server that does not answer; the driver itself would wait for ever."""

    class Bounded(driver.Connection):  # type: ignore[misc]
        limit_s: float | None = None
        is_overdue = False

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            if self.limit_s is not None:
                gen = self._within(gen, self.limit_s)
            return super().wait(gen, *arguments, **options)

        def _within(self, gen: Any, limit_s: float) -> Generator[Any, Any, Any]:
            """The steps of `gen`; the driver asks for the next one at least every tenth of a second."""
            until = time.monotonic() + limit_s
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    wanted = gen.send(ready)
                    if not ready and time.monotonic() > until:
                        self.is_overdue = True
                        raise driver.OperationalError(f"no answer within {limit_s:g} s")
            except StopIteration as done:
                return done.value

    return Bounded


def _shown(url: str, what: str, driver: Any) -> str:
    """The URL as it may be shown; without the user, the password and the options."""
    try:
        driver.conninfo.conninfo_to_dict(url)
        parts = urlsplit(url)
        if "@" in parts.path + parts.query + parts.fragment:  # the rest of a password that is not percent-encoded
            raise ValueError
        return f"postgresql://{parts.hostname or ''}{parts.path}"
    except (driver.Error, ValueError):  # what they say may quote the password
        raise InputError(
            f"the URL of {what} cannot be read: write postgresql://user:password@host/database, "
            "with signs such as @ / % in a password percent-encoded"
        ) from None


def _driver() -> Any:
    try:
        import psycopg  # noqa: PLC0415  (an extra)
    except ImportError:
        raise BackendError("PostgreSQL needs the package psycopg: pip install 'stillme[postgres]'") from None
    return psycopg

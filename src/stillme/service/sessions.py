"""Who is signed in to the console: a random token in a cookie stands for an API key, as long as it is used and the key is not revoked.

The file holds hashes of tokens, so that whoever reads it cannot sign in. All processes of a service share it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stillme.errors import BackendError
from stillme.service.auth import Keys
from stillme.storage.sqlite import advice, make_private, write_ahead

__all__ = ["COOKIE", "KeySignIn", "Sessions"]

COOKIE: Final = "stillme_session"
TIMEOUT_S: Final = 5.0
# A session that is used is written down so often at most.
SEEN_EVERY_S: Final = 30.0
SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS session (token TEXT PRIMARY KEY, key TEXT NOT NULL, begun REAL NOT NULL, seen REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS secret (only_one INTEGER PRIMARY KEY, value TEXT NOT NULL)",
)


@dataclass(slots=True)
class Sessions:
    """The sessions in a file; one ends after `idle_s` without a request, after `longest_s` in any case, and with its key."""

    path: Path
    idle_s: float
    longest_s: float
    _secret: bytes = b""

    def begin(self, key: str) -> str:
        """A new session for a key, by its id; what is returned is for the cookie alone."""
        token, now = secrets.token_urlsafe(32), time.time()
        with self._opened() as database:
            database.execute("DELETE FROM session WHERE seen < ? OR begun < ?", self._oldest(now))
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?)", (_hash(token), key, now, now))
        return token

    def key_of(self, token: str) -> str | None:
        """The id of the key that a session was begun with, if it has not ended; a request keeps it going."""
        if not token or not self.path.exists():
            return None
        now = time.time()
        with self._opened() as database:
            row = database.execute("SELECT key, begun, seen FROM session WHERE token = ?", (_hash(token),)).fetchone()
            if row is None:
                return None
            oldest_seen, oldest_begun = self._oldest(now)
            if row[2] < oldest_seen or row[1] < oldest_begun:
                database.execute("DELETE FROM session WHERE token = ?", (_hash(token),))
                return None
            if now - row[2] > min(SEEN_EVERY_S, self.idle_s / 10):
                database.execute("UPDATE session SET seen = ? WHERE token = ?", (now, _hash(token)))
        return str(row[0])

    def end(self, token: str) -> None:
        """Sign out: the token opens nothing any more, wherever else it was copied to."""
        with self._opened() as database:
            database.execute("DELETE FROM session WHERE token = ?", (_hash(token),))

    def form_token(self, token: str) -> str:
        """What a form has to carry to be taken from whoever has this cookie."""
        return hmac.new(self._key(), token.encode(), hashlib.sha256).hexdigest()

    def is_form_token(self, token: str, given: str) -> bool:
        """Whether a form carries it."""
        return bool(token) and hmac.compare_digest(self.form_token(token).encode(), given.encode())

    def _oldest(self, now: float) -> tuple[float, float]:
        return now - self.idle_s, now - self.longest_s

    def _key(self) -> bytes:
        if not self._secret:
            with self._opened() as database:
                database.execute("INSERT OR IGNORE INTO secret VALUES (1, ?)", (secrets.token_hex(32),))
                self._secret = bytes.fromhex(database.execute("SELECT value FROM secret").fetchone()[0])
        return self._secret

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            if not self.path.exists():
                make_private(self.path)
            with closing(sqlite3.connect(self.path, timeout=TIMEOUT_S, isolation_level=None)) as database:
                write_ahead(database, TIMEOUT_S)
                for statement in SCHEMA:
                    database.execute(statement)
                yield database
        except sqlite3.Error as error:
            raise BackendError(f"the sessions in {self.path} cannot be kept: {advice(error)}") from None


@dataclass(frozen=True, slots=True)
class KeySignIn:
    """Signs in with an API key."""

    keys: Keys
    sessions: Sessions
    cookie: str = COOKIE

    def begin(self, presented: str) -> str | None:
        """A token for a key that opens the console; None for any other text."""
        key = self.keys.find(presented)
        return self.sessions.begin(key.id) if key is not None and key.allows("viewer") else None

    def end(self, token: str) -> None:
        """Sign out."""
        self.sessions.end(token)

    def form_token(self, token: str) -> str:
        """What a form of this visitor carries."""
        return self.sessions.form_token(token)

    def is_form_token(self, token: str, given: str) -> bool:
        """Whether a form is of this visitor."""
        return self.sessions.is_form_token(token, given)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

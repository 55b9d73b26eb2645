"""Who is signed in to the console: a random token in a cookie stands for an API key, as long as it is used and the key is not revoked.

The table holds hashes of tokens, so that whoever reads it cannot sign in. All processes of a service share it, on every machine where
the audit trail is on a server.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stillme.service.auth import Keys
from stillme.storage.side_tables import Execute, Run, side_tables

__all__ = ["COOKIE", "Sessions", "sessions_at"]

COOKIE: Final = "stillme_session"
# A session that is used is written down so often at most.
SEEN_EVERY_S: Final = 30.0
SESSION: Final = "stillme_console_session"
SECRET: Final = "stillme_console_secret"  # noqa: S105  (the name of a table)
COLUMNS: Final = (
    "token TEXT PRIMARY KEY, key TEXT NOT NULL, begun DOUBLE PRECISION NOT NULL, seen DOUBLE PRECISION NOT NULL"
)
CREATED: Final = (
    f"CREATE TABLE IF NOT EXISTS {SESSION} ({COLUMNS})",
    f"CREATE TABLE IF NOT EXISTS {SECRET} (only_one INTEGER PRIMARY KEY, value TEXT NOT NULL)",
)
ENDED: Final = f"DELETE FROM {SESSION} WHERE token = ?"  # noqa: S608


@dataclass(slots=True)
class Sessions:
    """The sessions of a service, begun with API keys.

    One ends after `idle_s` without a request, after `longest_s` in any case, and with its key.
    """

    keys: Keys
    execute: Execute
    idle_s: float
    longest_s: float
    cookie: str = COOKIE
    _secret: bytes = b""

    def begin(self, presented: str) -> str | None:
        """The token of a new session, for the cookie alone, if a text is a key that opens the console; None for any other text."""
        key = self.keys.find(presented)
        if key is None or not key.allows("viewer"):
            return None
        token, now = secrets.token_urlsafe(32), time.time()

        def work(run: Run) -> None:
            run(f"DELETE FROM {SESSION} WHERE seen < ? OR begun < ?", self._oldest(now))  # noqa: S608  (a name of ours)
            run(f"INSERT INTO {SESSION} VALUES (?, ?, ?, ?)", (_hash(token), key.id, now, now))  # noqa: S608

        self.execute(work)
        return token

    def key_of(self, token: str) -> str | None:
        """The id of the key that a session was begun with, if it has not ended; a request keeps it going."""
        found: str | None = self.execute(lambda run: self._found(run, _hash(token))) if token else None
        return found

    def end(self, token: str) -> None:
        """Sign out: the token opens nothing any more, wherever else it was copied to."""
        self.execute(lambda run: run(ENDED, (_hash(token),)))

    def form_token(self, token: str) -> str:
        """What a form has to carry to be taken from whoever has this cookie."""
        return hmac.new(self._key(), token.encode(), hashlib.sha256).hexdigest()

    def is_form_token(self, token: str, given: str) -> bool:
        """Whether a form carries it."""
        return bool(token) and hmac.compare_digest(self.form_token(token).encode(), given.encode())

    def _found(self, run: Run, name: str) -> str | None:
        now = time.time()
        rows = run(f"SELECT key, begun, seen FROM {SESSION} WHERE token = ?", (name,))  # noqa: S608
        if not rows:
            return None
        key, begun, seen = rows[0]
        oldest_seen, oldest_begun = self._oldest(now)
        if seen < oldest_seen or begun < oldest_begun:
            run(ENDED, (name,))
            return None
        if now - seen > min(SEEN_EVERY_S, self.idle_s / 10):
            run(f"UPDATE {SESSION} SET seen = ? WHERE token = ?", (now, name))  # noqa: S608
        return str(key)

    def _oldest(self, now: float) -> tuple[float, float]:
        return now - self.idle_s, now - self.longest_s

    def _key(self) -> bytes:
        if not self._secret:
            self._secret = bytes.fromhex(self.execute(_shared_secret))
        return self._secret


def sessions_at(keys: Keys, store: str | None, file: Path, idle_s: float, longest_s: float) -> Sessions:
    """The sessions on the server that the audit trail is on, so that any replica knows them, else in the file."""
    return Sessions(keys, side_tables(store, file, CREATED, "the sessions of the console"), idle_s, longest_s)


def _shared_secret(run: Run) -> str:
    """What forms are signed with: made once, by whichever process is first."""
    run(f"INSERT INTO {SECRET} VALUES (1, ?) ON CONFLICT DO NOTHING", (secrets.token_hex(32),))  # noqa: S608
    return str(run(f"SELECT value FROM {SECRET}", ())[0][0])  # noqa: S608


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

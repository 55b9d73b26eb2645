"""What was asked in a call, until its answer comes: LiteLLM sends both apart, under one id.

In one process memory holds it. Where several serve, a database does, so that any of them can take the answer: a file that the workers
of a machine share, or the PostgreSQL server that replicas share. It is forgotten after a quarter of an hour.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path
from typing import Final, Protocol

from stillme.contract import RetrievedPassage, Turn
from stillme.service.openai.request_sources import Asked, Taken
from stillme.storage.side_tables import Execute, Run, side_tables

__all__ = ["Calls", "RememberedCalls", "SharedCalls", "shared_calls"]

KEPT_S: Final = 900.0
MOST_SHARED: Final = 20_000
TABLE: Final = "stillme_litellm_call"
CREATED: Final = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} (call TEXT PRIMARY KEY, until DOUBLE PRECISION NOT NULL, asked TEXT NOT NULL)"
)
FORGOTTEN: Final = f"DELETE FROM {TABLE} WHERE until < ?"  # noqa: S608  (a name of ours)
CROWDED: Final = (
    f"DELETE FROM {TABLE} WHERE until < (SELECT until FROM {TABLE} ORDER BY until DESC LIMIT 1 OFFSET {MOST_SHARED})"  # noqa: S608
)
KEPT: Final = (
    f"INSERT INTO {TABLE} VALUES (?, ?, ?) "  # noqa: S608
    "ON CONFLICT (call) DO UPDATE SET until = excluded.until, asked = excluded.asked"
)
FOUND: Final = f"SELECT asked FROM {TABLE} WHERE call = ? AND until >= ?"  # noqa: S608


class Calls(Protocol):
    """Keeps what calls asked; `find` gives it as often as it is asked for: a stream is looked at several times."""

    def keep(self, caller: str | None, call: str | None, asked: Asked) -> None:
        """Keep what a call asked."""

    def find(self, caller: str | None, call: str | None) -> Asked | None:
        """What a call asked, if that is still known."""


class RememberedCalls:
    """In memory, by caller and call: so many calls, so many characters, for so long; the oldest makes room."""

    def __init__(self, most: int = 4_096, most_characters: int = 32_000_000, seconds: float = KEPT_S) -> None:
        self._most, self._most_characters, self._seconds = most, most_characters, seconds
        self._kept: OrderedDict[tuple[str | None, str], tuple[float, int, Asked]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def keep(self, caller: str | None, call: str | None, asked: Asked) -> None:
        """Keep what a call asked."""
        if call is None:
            return
        texts = [asked.question, *(p.text for p in asked.passages), *(t.content for t in asked.conversation)]
        size = sum(map(len, texts))
        with self._lock:
            self._drop((caller, call))
            self._kept[caller, call] = (time.monotonic() + self._seconds, size, asked)
            self._characters += size
            while len(self._kept) > self._most or self._characters > self._most_characters:
                self._drop(next(iter(self._kept)))

    def find(self, caller: str | None, call: str | None) -> Asked | None:
        """What a call asked, if that is still known."""
        with self._lock:
            found = self._kept.get((caller, call or ""))
            if found is None or found[0] < time.monotonic():
                return None
            return found[2]

    def _drop(self, key: tuple[str | None, str]) -> None:
        dropped = self._kept.pop(key, None)
        self._characters -= dropped[1] if dropped else 0


class SharedCalls:
    """In a database that several processes share; what it cannot keep or find is a BackendError, and nothing passes for known."""

    def __init__(self, execute: Execute, seconds: float = KEPT_S) -> None:
        self._execute, self._seconds = execute, seconds

    def keep(self, caller: str | None, call: str | None, asked: Asked) -> None:
        """Keep what a call asked, and forget what is old."""
        if call is None:
            return
        now = time.time()

        def work(run: Run) -> None:
            run(FORGOTTEN, (now,))
            run(CROWDED, ())
            run(KEPT, (_key(caller, call), now + self._seconds, _written(asked)))

        self._execute(work)

    def find(self, caller: str | None, call: str | None) -> Asked | None:
        """What a call asked, if that is still known."""
        if call is None:
            return None
        rows = self._execute(lambda run: run(FOUND, (_key(caller, call), time.time())))
        return _asked(rows[0][0]) if rows else None


def shared_calls(audit_store: str | None, folder: Path) -> Calls:
    """Where calls are kept: beside the audit trail. Where an operator keeps no record, nothing of a call is written either."""
    if audit_store is None:
        return RememberedCalls()
    return SharedCalls(side_tables(audit_store, folder / "calls.db", [CREATED], "what LiteLLM's calls asked"))


def _key(caller: str | None, call: str) -> str:
    return hashlib.sha256(json.dumps([caller, call]).encode()).hexdigest()


def _written(asked: Asked) -> str:
    """As JSON, without a server or a key of the caller's: those are asked for once."""
    held = asdict(asked) | {
        "passages": [passage.model_dump(mode="json") for passage in asked.passages],
        "conversation": [turn.model_dump(mode="json") for turn in asked.conversation],
    }
    return json.dumps(
        {name: value for name, value in held.items() if not name.startswith("upstream")}, ensure_ascii=False
    )


def _asked(written: str) -> Asked:
    held = json.loads(written)
    passages = tuple(RetrievedPassage(**passage) for passage in held.pop("passages"))
    conversation = tuple(Turn(**turn) for turn in held.pop("conversation"))
    taken = tuple(Taken(**{**each, "source_ids": tuple(each["source_ids"])}) for each in held.pop("taken"))
    return Asked(
        **{**held, "passages": passages, "conversation": conversation, "taken": taken, "unread": tuple(held["unread"])}
    )

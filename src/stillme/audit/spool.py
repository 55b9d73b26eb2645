"""What the store cannot take now goes to the local journal, and from there to the store when it can again.

The journal is drained after the next write that succeeds, behind the back of whoever made that write, by any process that
writes to the same store.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from stillme.audit.chain.record import COLUMNS, Body, Entry, compact
from stillme.audit.journal import Drained, Journal
from stillme.errors import BackendError, InputError, StillMeError, shown

__all__ = ["Spool"]

# After an attempt that failed, the store is left alone for so many times as long as that took: an outage in which every
# attempt waits for a timeout must not make every caller wait for one.
PAUSE_TIMES: Final = 5
MOST_PAUSE_S: Final = 30.0
LOOK_EVERY_S: Final = 60.0
RETRY_AFTER_S: Final = 5.0

logger = logging.getLogger(__name__)


class Spool:
    """The way of entries into the journal and out of it; `settle` appends those that the store does not have yet."""

    def __init__(self, journal: Journal, settle: Callable[[Sequence[Entry]], None]) -> None:
        self._journal = journal
        self._settle = settle
        self._pause_until = 0.0
        self._look_at = 0.0
        self._retry_at = 0.0
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closing = False

    @property
    def is_pausing(self) -> bool:
        """Whether the store failed so lately that it is not worth while to try it."""
        return time.monotonic() < self._pause_until

    def pause(self, took_s: float) -> None:
        """Leave the store alone for a while, after a failure that took so long."""
        self._pause_until = time.monotonic() + min(took_s * PAUSE_TIMES, MOST_PAUSE_S)

    def take(self, entries: Sequence[Entry], problem: BackendError | None = None) -> None:
        """The entries are in the journal when this returns; `problem` is why the store could not take them."""
        try:
            self._journal.append([packed(entry) for entry in entries])
        except BackendError as second:
            raise BackendError(f"{problem}; and {second}" if problem else str(second)) from second

    def drain(self) -> Drained:
        """Bring to the store what the journal holds."""
        return self._journal.drain(self._deliver)

    def drain_later(self) -> None:
        """After a write that succeeded: drain in a thread of its own, if there is something to drain."""
        now = time.monotonic()
        if now < self._look_at and (now < self._retry_at or not self._journal.has_own):
            return
        with self._starting:
            if self._thread is not None and self._thread.is_alive():
                return
            self._look_at = now + LOOK_EVERY_S
            if self._has_entries():
                self._thread = threading.Thread(target=self._run, name="stillme-audit-spool", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End what drains in the background; what it has not delivered stays in the journal."""
        with self._starting:
            thread, self._thread = self._thread, None
            self._is_closing = True
        if thread is not None:
            thread.join()
        self._is_closing = False

    def _has_entries(self) -> bool:
        try:
            return self._journal.pending() > 0
        except BackendError:  # the attempt to drain says what is wrong
            return True

    def _run(self) -> None:
        try:
            for damaged in self._journal.drain(self._deliver_while_open).damaged:
                logger.error("%s", damaged)
        except StillMeError as problem:
            self._retry_at = time.monotonic() + RETRY_AFTER_S
            if not self._is_closing:
                logger.warning("the journal still holds audit entries: %s", problem)

    def _deliver_while_open(self, payloads: Sequence[bytes]) -> None:
        if self._is_closing:
            raise BackendError("the audit store is being closed")
        self._deliver(payloads)

    def _deliver(self, payloads: Sequence[bytes]) -> None:
        self._settle([unpacked(payload) for payload in payloads])


def packed(entry: Entry) -> bytes:
    """An entry as one line of a journal; what no database would take later is refused now."""
    line: dict[str, object] = {name: value for name in COLUMNS if (value := getattr(entry, name)) is not None}
    if entry.body:
        line["body"] = [entry.body.text, entry.body.salt]
    if entry.policy_text:
        line["policy_text"] = entry.policy_text
    for name, value in line.items():
        text = value[0] if isinstance(value, list) else value
        if isinstance(text, str) and ("\0" in text or not _is_unicode(text)):
            raise InputError(f"{name} of the record {shown(entry.id)} holds a character that no database takes")
    return compact(line).encode()


def unpacked(payload: bytes) -> Entry:
    """The entry that a line holds."""
    try:
        line = json.loads(payload)
        body = line.pop("body", None)
        return Entry(**line, body=Body(*body) if body else None)
    except (ValueError, TypeError, AttributeError) as error:
        raise BackendError(
            f"an entry of the journal cannot be read as a record ({shown(str(error))}): "
            "if a newer version wrote it, drain the journal with that version"
        ) from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

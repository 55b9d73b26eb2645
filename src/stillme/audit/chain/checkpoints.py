"""Checkpoints that are made by themselves: where the chain ends, on a schedule, as lines of a file that only grows.

Whoever cuts off the end of a store, or puts an older copy in its place, has to change that file too: keep it where they cannot. Each
line also goes to the log, which often is such a place.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stillme.audit.chain.checking import checkpoint_line, checkpoint_of
from stillme.audit.chain.integrity import Checkpoint
from stillme.audit.store import AuditStore
from stillme.errors import BackendError, InputError
from stillme.storage.audit.database import RECORD

__all__ = ["Checkpoints"]

LONGEST_LINE: Final = 4096
log = logging.getLogger("stillme.audit")


class Checkpoints:
    """Writes a checkpoint at once, every so many seconds and at the end, wherever the chain has grown since the last.

    `wait` waits so many seconds and says whether to stop. What fails is logged and tried again: no verdict waits for a checkpoint.
    """

    def __init__(
        self, store: AuditStore, path: Path, every_s: float, wait: Callable[[float], bool] | None = None
    ) -> None:
        self._store, self.path, self._every_s = store, path, every_s
        self._stopping = threading.Event()
        self._wait = wait or self._stopping.wait
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="checkpoints", daemon=True)
        self._thread.start()

    def run(self) -> None:
        """Compare the store with the last checkpoint, then make one whenever it is time."""
        self._tried(self._compare)
        self._tried(self.make)
        while not self._wait(self._every_s):
            self._tried(self.make)

    def close(self) -> None:
        """Stop, with a last checkpoint."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._tried(self.make)

    def make(self) -> Checkpoint | None:
        """Write where the chain ends now; None where that stands there already."""
        last, now = self.last(), checkpoint_of(self._store)
        if last is not None and (last.store, last.seq, last.hash) == (now.store, now.seq, now.hash):
            return None
        line = checkpoint_line(now)
        _append(self.path, line)
        log.info("checkpoint of the audit trail: %s", line)
        return now

    def last(self) -> Checkpoint | None:
        """The last checkpoint of the file; None where there is none, or none that can be read."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_LINE))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return None
        try:
            return Checkpoint.parse(lines[-1]) if lines else None
        except InputError:
            return None

    def _compare(self) -> None:
        """Say so if the store no longer has the record that the last checkpoint names."""
        last = self.last()
        if last is None:
            return
        self._store.prepare()
        rows = self._store.database.rows(f"SELECT hash FROM {RECORD} WHERE seq = ?", [last.seq])  # noqa: S608
        first = self._store.database.rows(f"SELECT min(seq) FROM {RECORD}")[0][0]  # noqa: S608
        is_pruned = not rows and first is not None and first > last.seq
        if not is_pruned and [row[0] for row in rows] != [last.hash]:
            log.error(
                "the audit store does not have the record that the checkpoint of %s names: it was cut off, replaced or restored; "
                "run `stillme audit verify --checkpoint %s`",
                last.at,
                self.path,
            )

    def _tried(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (BackendError, InputError, OSError) as error:
            log.warning("no checkpoint of the audit trail was made: %s", error)


def _append(path: Path, line: str) -> None:
    """Add a line, on disk when this returns, whole or not at all; only its owner can read a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(file).st_size
        is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        content = (b"\n" if is_torn else b"") + f"{line}\n".encode()
        if os.write(file, content) < len(content):
            os.ftruncate(file, size)
            raise OSError(f"the disk of {path} is full")
        os.fsync(file)
    finally:
        os.close(file)

"""What every SQLite file of ours needs: only its owner reads it, it writes ahead, and what goes wrong is said with a way out.

Both drivers are served: `sqlite3` of the standard library, and `apsw` where extensions have to be loaded.
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

__all__ = ["BUSY", "DAMAGED", "advice", "error_code", "identity", "keep_for_ever", "make_private", "write_ahead"]

BUSY: Final = 5
DAMAGED: Final = (11, 26)
"""What SQLite says of a file that is malformed, or none of its files."""
RETRY_EVERY_S: Final = 0.01
LOCKED: Final = "another process holds its lock; let that end, or raise the timeout"
ADVICE: Final = {
    BUSY: LOCKED,
    6: LOCKED,
    8: "the file may not be written; check its permissions",
    10: "the disk reports an error, or is full; check it, and its quota and the file size limit",
    11: "the file is damaged; restore a backup",
    13: "the disk is full; make room",
    14: "the file cannot be opened; check that its folder exists and may be written",
    17: "the file was changed by another program; restore a backup",
    18: "it is too long",
    19: "a record with this id is there already; each is recorded once",
    26: "the file is not a database; choose another path, or restore a backup",
}
"""By the result code of SQLite."""


def error_code(error: BaseException | None) -> int:
    """SQLite's result code, whichever driver raised the error; 0 where it has none."""
    code = getattr(error, "sqlite_errorcode", None) or getattr(error, "result", None) or 0
    return int(code) & 0xFF


def advice(error: Exception) -> str:
    """What happened and what to do about it."""
    known = ADVICE.get(error_code(error))
    return f"{known} ({error})" if known else str(error)


def make_private(path: Path) -> None:
    """A new file that only its owner can read; SQLite gives its log the same permissions, and says what is wrong."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def write_ahead(connection: Any, timeout_s: float) -> None:
    """Switch to WAL; while another process does the same, SQLite fails at once instead of waiting."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except Exception as error:
            if error_code(error) != BUSY or time.monotonic() > until:
                raise
            time.sleep(RETRY_EVERY_S)


def identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Which file a path leads to; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (several times for each commit)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def keep_for_ever(connection: Any) -> None:
    """Closing it would remove, by name, the log of the file that took its place or that the parent process uses."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))

"""Files that commands write: never over another one by mistake, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stillme.errors import InputError, shown

__all__ = ["check_new", "whole_file"]


def check_new(file: str | Path, force: bool | None = None) -> None:
    """Refuse to write over a file that is there; `force` is None where a command never does."""
    if Path(file).exists() and not force:
        way_out = "" if force is None else ", or give --force to overwrite it"
        raise InputError(f"{shown(str(file))} exists: choose another name{way_out}")


@contextmanager
def whole_file(file: str | Path, mode: int = 0o600) -> Iterator[Path]:
    """A new file, which only its owner can read unless its mode says otherwise; it takes its place when it is whole, or is gone."""
    part = Path(f"{file}.{os.getpid()}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield part
        part.replace(file)
    except OSError as error:
        raise InputError(f"{shown(str(file))} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)

"""Files that somebody wrote, or standard input: opened, and the JSON in them, or where it stops being any."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from stillme.errors import InputError, shown, without_secrets

__all__ = ["STDIN", "json_value", "opened_input", "plain_name"]

STDIN: Final = "-"


def plain_name(file: str | Path) -> str:
    """What messages call a file."""
    if str(file) == STDIN:
        return "standard input"
    return str(file) if str(file).isprintable() else shown(str(file))


@contextmanager
def opened_input(file: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file, or of standard input for `-`; whatever keeps them from being read is an InputError."""
    try:
        if str(file) == STDIN:
            if sys.stdin is None:
                raise InputError("standard input is closed")
            yield sys.stdin.buffer
            return
        with Path(file).open("rb") as stream:
            yield stream
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{without_secrets(plain_name(file))} cannot be read: {reason}") from None


def json_value(raw: bytes, what: str, first_line: int | None = None, hint: str = "") -> Any:
    """The JSON value of some bytes that should be `what`; with `first_line` problems name their line, counted from it.

    `hint` goes with what is no JSON at all.
    """

    def place(line: int, column: str = "") -> str:
        parts = [f"line {first_line + line}" if first_line is not None else "", column]
        return f" ({' '.join(filter(None, parts))})" if any(parts) else ""

    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_not_json)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        raise InputError(f"not UTF-8 text: byte {raw[error.start]:#04x}{place(line)}") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON: {error.msg}{place(error.lineno - 1, f'column {error.colno}')}{hint}"
        ) from None
    except RecursionError:
        raise InputError(f"not {what}: nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise InputError(f"not valid JSON: {error}") from None


def _not_json(constant: str) -> NoReturn:
    raise InputError(f"not valid JSON: {constant} is not a JSON number, send null or leave the key out")

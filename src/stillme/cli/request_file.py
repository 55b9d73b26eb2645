"""Requests from a file or standard input, and their verdicts, a batch at a time.

A file holds one JSON object, a list of them, or one a line. What cannot be read becomes a result with its place, never
an exception, unless nothing in the file can be read.
"""

from __future__ import annotations

import stat
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from stillme.batch.input_files import STDIN, json_value, opened_input, plain_name
from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.errors import InputError
from stillme.guard import Guard, check_limits

__all__ = ["RequestEntry", "Result", "read_requests", "size_of", "verify_all"]

BATCH: Final = 64
MOST_BYTES: Final = 256 * 1024 * 1024
EXPECTED: Final = "expected a request as a JSON object, a list of them, or one a line"


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """One request as it stands in the input; `problem` says why it is not JSON, `size` counts its bytes."""

    place: str
    size: int
    value: Any = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """An entry with its request and verdict, or with the problem that kept it from one."""

    entry: RequestEntry
    request: VerifyRequest | None = None
    verdict: Verdict | None = None
    problem: str | None = None


def verify_all(guard: Guard, entries: Iterable[RequestEntry], caller: str | None = None) -> Iterator[list[Result]]:
    """The results in order, in lists of at most `BATCH`, so that memory stays bounded whatever the file's size."""
    entries = iter(entries)
    while batch := list(islice(entries, BATCH)):
        results = [_prepared(guard, entry) for entry in batch]
        requests = [result.request for result in results if result.request is not None]
        verdicts = iter(guard.verify_batch(requests, caller=caller))
        yield [r if r.request is None else Result(r.entry, r.request, next(verdicts)) for r in results]


def _prepared(guard: Guard, entry: RequestEntry) -> Result:
    if entry.problem is not None:
        return Result(entry, problem=entry.problem)
    try:
        request = parse_request(entry.value)
        check_limits(request, guard.policy)
    except InputError as error:
        return Result(entry, problem=str(error))
    return Result(entry, request)


def size_of(file: str) -> int | None:
    """The bytes of a file, None where they are not known beforehand."""
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_size if file != STDIN and stat.S_ISREG(found.st_mode) else None


def read_requests(file: str) -> Generator[RequestEntry, None, None]:
    """The entries of a file (`-`: standard input); InputError if it cannot be read or holds none."""
    with opened_input(file) as stream:
        yield from _entries(stream, plain_name(file))


def _entries(stream: BinaryIO, name: str) -> Iterator[RequestEntry]:
    """Line by line where the first line is an object by itself, so that a pipe is read as it flows; else the whole."""
    before, first = 0, stream.readline(MOST_BYTES)
    while first and not first.strip():
        before, first = before + 1, stream.readline(MOST_BYTES)
    if not first:
        raise InputError(f"{name} is empty: {EXPECTED}")
    if _is_object(first):
        rest = iter(lambda: stream.readline(MOST_BYTES), b"")
        yield from _lines(chain([first], rest), name, before + 1)
        return
    whole = b"\n" * before + first + stream.read(MOST_BYTES)
    if len(whole) > MOST_BYTES:
        raise InputError(f"{name} is larger than {MOST_BYTES >> 20} MiB and not JSON lines: send one request a line")
    yield from _document(whole, name)


def _document(whole: bytes, name: str) -> Iterator[RequestEntry]:
    try:
        value = json_value(whole, "a request", 1)
    except InputError as error:
        rows = whole.split(b"\n")
        if whole.lstrip().startswith(b"[") or not any(_is_object(row, "query") for row in rows):
            raise InputError(f"{name}: {error}; {EXPECTED}") from None
        yield from _lines(rows, name, 1)
        return
    if not isinstance(value, list):
        yield RequestEntry(name, len(whole), value)
        return
    if not value:
        raise InputError(f"{name} is an empty list: {EXPECTED}")
    for number, item in enumerate(value, 1):
        yield RequestEntry(f"{name} item {number}", len(whole) // len(value), item)


def _lines(rows: Iterable[bytes], name: str, start: int) -> Iterator[RequestEntry]:
    for number, row in enumerate(rows, start):
        if not row.strip():
            continue
        place = f"{name} line {number}"
        try:
            yield RequestEntry(place, len(row), json_value(row.rstrip(), "a request", number))
        except InputError as error:
            yield RequestEntry(place, len(row), problem=str(error))


def _is_object(row: bytes, key: str | None = None) -> bool:
    """Whether a line is a JSON object by itself (that has the key)."""
    if not row.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        return False
    try:
        value = json_value(row, "a request", 1)
    except InputError:
        return False
    return isinstance(value, dict) and (key is None or key in value)

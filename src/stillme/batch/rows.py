"""The rows of a file, one at a time, each as the JSON text that it holds; a row that cannot be read is a row with a problem.

What a row says is read where it is verified, so that several processes share that work too.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import chain, count, islice
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from stillme.batch.inputs import InputFile
from stillme.errors import InputError

__all__ = ["Row", "as_json", "chunks", "read_rows"]

MOST_BYTES: Final = 64 * 1024 * 1024
BROKEN: Final = (OSError, EOFError, ValueError, csv.Error, zlib.error, InputError)
"""What reading a file may end in: a text in another encoding, a packed file that was cut, a footer that is none."""
AT_ONCE: Final = 256


class Row(NamedTuple):
    """One row: where it stands, what it holds, and how far into the input it reaches."""

    file: str
    number: int
    """The line in a file of JSON lines, else the row below the heading; both begin with 1."""
    text: bytes
    position: int
    problem: str | None = None

    @property
    def digest(self) -> str:
        """Tells this row from one with other content."""
        return hashlib.sha256(self.text or (self.problem or "").encode()).hexdigest()[:16]


def read_rows(files: Iterable[InputFile]) -> Iterator[Row]:
    """The rows of the files, in order; a file that cannot be read on ends in a row that says why."""
    before = 0
    for file in files:
        number = 0
        try:
            for row in _READERS[file.form](file):
                number = row.number
                yield row._replace(position=before + row.position)
        except BROKEN as error:
            problem = f"the file cannot be read from here on: {_reason(error)}"
            yield Row(file.name, number + 1, b"", before + file.size, problem)
        before += file.size


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.object[error.start]:#04x} is not UTF-8 text; save the file as UTF-8"
    return str(getattr(error, "strerror", None) or error)


def chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Lists of so many rows."""
    rows = iter(rows)
    while chunk := list(islice(rows, size)):
        yield chunk


def _json_lines(file: InputFile) -> Iterator[Row]:
    with Path(file.name).open("rb") as packed, _unpacked(file, packed) as stream:
        lines = iter(lambda: stream.readline(MOST_BYTES), b"")
        for number, line in enumerate(_whole(lines, stream), 1):
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            problem = f"longer than {MOST_BYTES >> 20} MiB: a row is one line" if len(line) >= MOST_BYTES else None
            if text:
                yield Row(file.name, number, b"" if problem else text, packed.tell(), problem)


def _whole(lines: Iterable[bytes], stream: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long only the beginning, and its rest is passed over."""
    for line in lines:
        yield line
        rest = line
        while len(rest) >= MOST_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MOST_BYTES)


def _csv_rows(file: InputFile) -> Iterator[Row]:
    before = csv.field_size_limit(MOST_BYTES)
    try:
        with (
            Path(file.name).open("rb") as packed,
            TextIOWrapper(_unpacked(file, packed), encoding="utf-8-sig", newline="") as text,
        ):
            heading = text.readline()
            delimiter = ";" if heading.count(";") > heading.count(",") else ","
            lines = csv.reader(chain([heading], text), delimiter=delimiter, strict=True)
            columns = _told_apart(next(lines, []))
            numbers = count(1)
            for cells in lines:
                if any(cell.strip() for cell in cells):
                    yield _csv_row(file.name, next(numbers), columns, cells, packed.tell())
    finally:
        csv.field_size_limit(before)


def _told_apart(heading: Sequence[str]) -> list[str]:
    """The names of columns; those that several have say which column they are, so that none is read in place of another."""
    names = [name.strip() for name in heading]
    of_name = Counter(names)
    return [f"{name} ({number})" if of_name[name] > 1 else name for number, name in enumerate(names, 1)]


def _csv_row(name: str, number: int, columns: list[str], cells: list[str], position: int) -> Row:
    if len(cells) != len(columns):
        return Row(name, number, b"", position, f"{len(cells)} cells under {len(columns)} columns")
    values = {column: cell for column, cell in zip(columns, cells, strict=True) if cell.strip()}
    return Row(name, number, as_json(values), position)


def _parquet_rows(file: InputFile) -> Iterator[Row]:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  (an extra, and heavy)

    with ParquetFile(file.name) as table:
        total, numbers = max(table.metadata.num_rows, 1), count(1)
        for batch in table.iter_batches(batch_size=AT_ONCE):
            for values in batch.to_pylist():
                number = next(numbers)
                yield Row(file.name, number, as_json(values), file.size * number // total)


def as_json(values: Mapping[str, Any]) -> bytes:
    """The values that are there as JSON; a date is its ISO 8601 text, and what a table holds for nothing is not there."""
    given = {key: value for key, value in values.items() if not _is_missing(value)}
    return json.dumps(given, ensure_ascii=False, default=_plain).encode("utf-8", "surrogatepass")


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value)) or str(value) == "NaT"


def _plain(value: Any) -> Any:
    """A value of a table as JSON has it: arrays are lists, times are texts."""
    for method in ("tolist", "isoformat"):
        if hasattr(value, method):
            return getattr(value, method)()
    return str(value)


def _unpacked(file: InputFile, packed: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=packed)) if file.is_compressed else packed


_READERS: Final = {"jsonl": _json_lines, "csv": _csv_rows, "parquet": _parquet_rows}

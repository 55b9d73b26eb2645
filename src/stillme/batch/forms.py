"""The lines of a batch as a table: CSV or Parquet, a few rows in memory at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

from stillme.batch.judging import SUMMARY

__all__ = ["COLUMNS", "DDL", "cells", "write_form", "written_whole"]

COLUMNS: Final = ("file", "row", "sha256", *SUMMARY, "error", "verdict")
NUMBERS: Final = {"row": "bigint", "claims_total": "int", "claims_supported": "int", "max_similarity": "double"}
OTHERS: Final = NUMBERS | {"verified": "boolean", "reasons": "array<string>"}
DDL: Final = ", ".join(f"{column} {OTHERS.get(column, 'string')}" for column in COLUMNS[3:])
"""The columns of a result beside where its row stands, as Spark names their types."""
AT_ONCE: Final = 1024


def write_form(lines: Path, out: Path, form: str) -> None:
    """Write the table, whole or not at all."""
    with written_whole(out) as new, lines.open("rb") as stream:
        (_write_csv if form == "csv" else _write_parquet)((json.loads(line) for line in stream), new)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write in the place of another, which takes that place once it is written."""
    new = path.with_name(f"{path.name}.new")
    yield new
    new.replace(path)


def cells(result: dict[str, Any]) -> dict[str, Any]:
    """A result as the cells of a table: the verdict is JSON text."""
    verdict = result["verdict"]
    return result | {"verdict": None if verdict is None else json.dumps(verdict, ensure_ascii=False)}


def _write_csv(results: Iterator[dict[str, Any]], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        for result in results:
            writer.writerow(cells(result) | {"reasons": " ".join(result["reasons"] or [])})


def _write_parquet(results: Iterator[dict[str, Any]], out: Path) -> None:
    import pyarrow  # noqa: PLC0415  (an extra, and heavy)
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415

    types = {
        "string": pyarrow.string(),
        "bigint": pyarrow.int64(),
        "int": pyarrow.int32(),
        "double": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "array<string>": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema([(column, types[OTHERS.get(column, "string")]) for column in COLUMNS])
    with ParquetWriter(out, schema) as writer:
        while rows := [cells(result) for result in islice(results, AT_ONCE)]:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))

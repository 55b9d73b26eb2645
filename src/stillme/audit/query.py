"""Which records are wanted, and how they are read: page by page, in the order of the chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from stillme.audit.chain.record import COLUMNS, Body, Entry, Record, instant, one_word, storable
from stillme.errors import BackendError, InputError, shown
from stillme.storage.audit.database import BODY, RECORD, Database
from stillme.text.tokens import fold_text

__all__ = ["SELECTED", "Filter", "moment", "pages", "record_from", "records", "texts_of"]

PAGE: Final = 500
LAST: Final = 2**63 - 1
HASHES: Final = ("seq", "digest", "hash", "seal")
SELECTED: Final = ",".join([f"r.{name}" for name in (*HASHES, *COLUMNS)] + ["b.salt", "b.text"])
_REMOVED: Final = [None] * len(COLUMNS)
_WITHOUT: Final = ",".join([f"r.{name}" for name in (*HASHES, *COLUMNS)] + ["NULL", "NULL"])


@dataclass(frozen=True, slots=True)
class Filter:
    """Records that fulfil everything that is said; `since` is included, `until` is not, both as `moment` reads them.

    `text` is looked for in the texts of a record, where they are kept as they are.
    """

    since: str | None = None
    until: str | None = None
    kind: str | None = None
    id: str | None = None
    ref: str | None = None
    label: str | None = None
    decision: str | None = None
    action: str | None = None
    mode: str | None = None
    band: str | None = None
    verified: bool | None = None
    language: str | None = None
    domain: str | None = None
    session: str | None = None
    caller: str | None = None
    request_id: str | None = None
    model: str | None = None
    version: str | None = None
    reason: str | None = None
    text: str | None = None

    def where(self) -> tuple[str, list[Any]]:
        """The condition in SQL and its values; `text` is looked for in what was read."""
        tests: list[str] = []
        values: list[Any] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and field.name != "text":
                test, given = _test(field.name, value)
                tests.append(test)
                values.append(given)
        return " AND ".join(tests) or "1=1", values

    def finds(self, record: Record) -> bool:
        """Whether the texts of the record hold the wanted text, whatever the case and the accents."""
        if self.text is None:
            return True
        return record.entry is not None and fold_text(self.text) in fold_text(texts_of(record.entry))


def _test(name: str, value: Any) -> tuple[str, Any]:
    if name == "since":
        return "r.at >= ?", moment(value)
    if name == "until":
        return "r.at < ?", moment(value)
    if name == "reason":
        # Not LIKE: its wildcards and its reading of capitals differ from engine to engine.
        return "replace(r.reasons, ?, '') <> r.reasons", f" {one_word(value)} "
    if name == "verified":
        return "r.verified = ?", int(value)
    return f"r.{name} = ?", storable(value)


def _is_hashed(entry: Entry) -> bool:
    may_be = entry.kind in ("verdict", "opening") and '"hashed"' in entry.meta
    return may_be and bool(json.loads(entry.meta)["content"] == "hashed")


def texts_of(entry: Entry) -> str:
    """The texts of a record, one a line, as far as they are kept as they are."""
    if entry.body is None or _is_hashed(entry):
        return ""
    return "\n".join(_strings(json.loads(entry.body.text)))


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _strings(value)


def moment(text: str) -> str:
    """A day or a point in time as records write it; a day is its beginning in UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
        return instant(found.replace(tzinfo=UTC) if found.tzinfo is None else found)
    except (ValueError, OverflowError):
        raise InputError(
            f"{shown(text)} is no point in time: write it like 2026-02-01 or 2026-02-01T09:00:00Z"
        ) from None


def pages(
    database: Database,
    wanted: Filter | None = None,
    *,
    after: int = 0,
    upto: int = LAST,
    bodies: bool = True,
    page: int = PAGE,
) -> Iterator[list[Record]]:
    """The wanted records in pages, in the order of the chain; what is appended meanwhile may or may not be among them."""
    chosen = wanted or Filter()
    condition, values = chosen.where()
    columns = SELECTED if bodies or chosen.text is not None else _WITHOUT
    # The place is said of both: PostgreSQL would else go through the texts from the first one to where the page begins.
    sql = (
        f"SELECT {columns} FROM {RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq AND b.seq > ? "  # noqa: S608  (names of ours)
        f"WHERE r.seq > ? AND r.seq <= ? AND {condition} ORDER BY r.seq LIMIT {page}"
    )
    while rows := database.rows(sql, [after, after, upto, *values]):
        if any(type(row[0]) is not int for row in rows) or rows[-1][0] <= after:
            raise BackendError(f"{database.name} gives its records out of order: it is damaged, restore a backup")
        after = rows[-1][0]
        found = [record_from(row) for row in rows]
        yield [record for record in found if chosen.finds(record)]
        if len(rows) < page:
            return


def records(
    database: Database,
    wanted: Filter | None = None,
    *,
    after: int = 0,
    upto: int = LAST,
    bodies: bool = True,
    page: int = PAGE,
) -> Iterator[Record]:
    """The wanted records, one after the other."""
    for found in pages(database, wanted, after=after, upto=upto, bodies=bodies, page=page):
        yield from found


def record_from(row: Any) -> Record:
    """A row as the record it holds; without its content where retention removed it."""
    seq, digest, hash_, seal, *rest = row
    *values, salt, text = rest
    if text is None and values == _REMOVED:
        return Record(seq, None, digest, hash_, seal)
    values.append(Body(text, salt) if text is not None else None)
    return Record(seq, Entry(*values), digest, hash_, seal)

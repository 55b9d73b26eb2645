"""Verdicts as lists show them: filtered, by time, a page at a time from where the last one ended.

Every filter has an index with the time beside it, so that a page is a look-up however many records there are. A text is looked for in the
texts themselves, which no index copies (what is erased is then gone): of a long list only so many records are read at once, and
the page says how far the search came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from stillme.audit.chain.record import Record, one_word, storable
from stillme.audit.query import SELECTED, Filter, moment, record_from
from stillme.audit.review.reviews import LABELS
from stillme.audit.store import AuditStore
from stillme.errors import InputError, shown
from stillme.storage.audit.database import BODY, REASON, RECORD

__all__ = ["MOST_ROWS", "UNREVIEWED", "Search", "SearchPage", "labels_of", "search"]

Order = Literal["newest", "oldest"]
MOST_ROWS: Final = 200
# How many records one request looks through for a text.
READ_FOR_A_TEXT: Final = 1_000
UNREVIEWED: Final = "unreviewed"
BY_COLUMN: Final = ("decision", "action", "mode", "language", "caller", "band", "domain", "session", "request_id")


@dataclass(frozen=True, slots=True)
class Search:
    """Which verdicts are wanted: everything that is said holds; `since` is included, `until` is not."""

    since: str | None = None
    until: str | None = None
    decision: str | None = None
    action: str | None = None
    mode: str | None = None
    language: str | None = None
    caller: str | None = None
    band: str | None = None
    domain: str | None = None
    session: str | None = None
    request_id: str | None = None
    reason: str | None = None
    label: str | None = None
    text: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """What is asked for, by name."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some verdicts in order; `next` is where the following page begins, None at the end of the list.

    `searched_to` is the time of the last record that was looked at where a search for a text ended before the page was full.
    """

    records: tuple[Record, ...]
    next: str | None
    searched_to: str | None = None


def search(
    store: AuditStore, wanted: Search, *, order: Order = "newest", after: str | None = None, most: int = 50
) -> SearchPage:
    """A page of the wanted verdicts, which begins behind the place `after` that the page before it gave."""
    if not 1 <= most <= MOST_ROWS:
        raise InputError(f"limit must be from 1 to {MOST_ROWS}, got {most}")
    store.prepare()
    sql, values = _query(wanted, order, _place(after) if after else None)
    if not wanted.text:
        found = _records(store, sql, values, most + 1)
        return SearchPage(tuple(found[:most]), _cursor(found[most - 1]) if len(found) > most else None)
    return _with_text(store, Filter(text=wanted.text), sql, values, most)


def _with_text(store: AuditStore, text: Filter, sql: str, values: Sequence[Any], most: int) -> SearchPage:
    read = _records(store, sql, values, READ_FOR_A_TEXT)
    found: list[Record] = []
    for record in read:
        if text.finds(record):
            found.append(record)
            if len(found) == most:
                return SearchPage(tuple(found), _cursor(record))
    if len(read) < READ_FOR_A_TEXT:
        return SearchPage(tuple(found), None)
    return SearchPage(tuple(found), _cursor(read[-1]), _time(read[-1]))


def _records(store: AuditStore, sql: str, values: Sequence[Any], most: int) -> list[Record]:
    return [record_from(row) for row in store.database.rows(f"{sql} LIMIT {most}", values)]


def _query(wanted: Search, order: Order, place: tuple[str, int] | None) -> tuple[str, list[Any]]:
    """The statement without its limit; a reason is looked up in its own table, which has the time too."""
    by = "c" if wanted.reason else "r"
    tables = f"{RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq"
    if wanted.reason:
        tables = f"{REASON} c JOIN {RECORD} r ON r.seq = c.seq LEFT JOIN {BODY} b ON b.seq = r.seq"
    tests = list(_tests(wanted, by))
    if place:
        sign = "<" if order == "newest" else ">"
        tests.append((f"({by}.at, {by}.seq) {sign} (?, ?)", list(place)))
    where = " AND ".join(["r.kind = 'verdict'", *(test for test, _ in tests)])
    way = "DESC" if order == "newest" else "ASC"
    sql = f"SELECT {SELECTED} FROM {tables} WHERE {where} ORDER BY {by}.at {way}, {by}.seq {way}"  # noqa: S608  (names of ours)
    return sql, [value for _, given in tests for value in given]


def _tests(wanted: Search, by: str) -> Iterator[tuple[str, list[Any]]]:
    if wanted.since:
        yield f"{by}.at >= ?", [moment(wanted.since)]
    if wanted.until:
        yield f"{by}.at < ?", [moment(wanted.until)]
    if wanted.reason:
        yield "c.code = ?", [one_word(wanted.reason)]
    for name in BY_COLUMN:
        if value := getattr(wanted, name):
            yield f"r.{name} = ?", [storable(value)]
    if wanted.label:
        yield _label_test(wanted.label)


def _label_test(label: str) -> tuple[str, list[Any]]:
    reviews = f"SELECT 1 FROM {RECORD} v WHERE v.kind = 'review' AND v.ref = r.id"  # noqa: S608
    if label == UNREVIEWED:
        return f"NOT EXISTS ({reviews})", []
    if label not in LABELS:
        raise InputError(f"{shown(label)} is no label: {', '.join((*LABELS, UNREVIEWED))}")
    return f"r.id IN (SELECT v.ref FROM {RECORD} v WHERE v.kind = 'review' AND v.label = ?)", [label]  # noqa: S608


def _cursor(record: Record) -> str:
    return f"{_time(record)}~{record.seq}"


def _time(record: Record) -> str:
    return record.entry.at if record.entry else ""


def _place(cursor: str) -> tuple[str, int]:
    at, _, seq = cursor.rpartition("~")
    if not at or not seq.isascii() or not seq.isdigit() or len(seq) > 18:
        raise InputError(f"{shown(cursor)} is no place in a list: take `next` of the page before")
    return moment(at), int(seq)


def labels_of(store: AuditStore, traces: Sequence[str]) -> dict[str, list[str]]:
    """The labels that each of these verdicts was given, in the order of the reviews."""
    found: dict[str, list[str]] = {trace: [] for trace in traces}
    if traces:
        marks = ",".join("?" * len(traces))
        sql = f"SELECT ref, label FROM {RECORD} WHERE kind = 'review' AND ref IN ({marks}) ORDER BY seq"  # noqa: S608
        for trace, label in store.database.rows(sql, list(traces)):
            found[trace].append(label)
    return found

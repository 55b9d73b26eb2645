"""Verdicts as lists show them: filtered, by time, a page at a time from where the last one ended.

Every filter has an index with the time beside it, so that a page is a look-up however many records there are. A text is looked for in the
texts themselves, of which no index keeps a copy; signatures (see `signatures`) say which parts of the chain need not be read. What is left
is read for so long at most, and the page says how far the search came. So it is with several filters together, since each index knows of
one: what seldom meets is looked for in one stretch of the list after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from stillme.audit.chain.record import Record, one_word, storable
from stillme.audit.query import SELECTED, moment, record_from, texts_of
from stillme.audit.review.reviews import LABELS
from stillme.audit.signatures import BLOCK, COLUMNS, block_of, candidates, folded_words, named, score_of, written_text
from stillme.audit.store import AuditStore
from stillme.errors import InputError, shown
from stillme.storage.audit.database import BODY, REASON, RECORD, label_code
from stillme.text.tokens import fold_text

__all__ = ["MOST_ROWS", "UNREVIEWED", "Search", "SearchPage", "labels_of", "search"]

Order = Literal["newest", "oldest"]
Place = tuple[str, int]
MOST_ROWS: Final = 200
# How long one request looks through records, and how many signatures it looks at between two looks at the time: few at first, since what is
# frequent is found at once, then more and more of them.
READING_S: Final = 0.1
SIFTED_FIRST: Final = 4
SIFTED_MOST: Final = 64
# So many verdicts of the list are looked through at a time where several filters have to meet: few at first, too.
PART_FIRST: Final = 1_000
PART_MOST: Final = 16_000
# So many blocks are read however long that takes: a store of a few hundred verdicts is searched whole.
LEAST_READ: Final = 2
UNREVIEWED: Final = "unreviewed"
# PostgreSQL would otherwise begin with everything that fulfils the condition and sort it, where the list ends after a page.
ROW_BY_ROW: Final = " LIMIT 1 OFFSET 0"
BY_COLUMN: Final = COLUMNS


@dataclass(frozen=True, slots=True)
class Search:
    """Which verdicts are wanted: everything that is said holds; `since` is included, `until` is not.

    `text` is whole words in this order, whatever the case, the accents and the signs between them. A score is that of the weakest claim.
    """

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
    min_score: float | None = None
    max_score: float | None = None

    @property
    def is_read(self) -> bool:
        """Whether only the records themselves tell."""
        return bool(self.text) or self.min_score is not None or self.max_score is not None

    @property
    def is_narrow(self) -> bool:
        """Whether several filters have to meet, of which an index knows one."""
        return sum(bool(getattr(self, name)) for name in (*BY_COLUMN, "reason", "label")) > 1


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some verdicts in order; `next` is where the following page begins, None at the end of the list.

    `searched_to` is the time of the last record that was looked at where a search ended before the page was full.
    """

    records: tuple[Record, ...]
    next: str | None
    searched_to: str | None = None


def search(
    store: AuditStore,
    wanted: Search,
    *,
    order: Order = "newest",
    after: str | None = None,
    most: int = 50,
    clock: Callable[[], float] = time.monotonic,
) -> SearchPage:
    """A page of the wanted verdicts, which begins behind the place `after` that the page before it gave."""
    if not 1 <= most <= MOST_ROWS:
        raise InputError(f"limit must be from 1 to {MOST_ROWS}, got {most}")
    store.prepare()
    place = _place(after) if after else None
    if wanted.is_read:
        return _Reading(store, wanted, order, clock).page(place[1] if place else None, most)
    if wanted.is_narrow:
        return _in_parts(store, wanted, order, place, most, clock)
    sql, values = _query(wanted, order, place)
    found = _records(store, f"{sql} LIMIT {most + 1}", values)
    return SearchPage(tuple(found[:most]), _cursor(found[most - 1]) if len(found) > most else None)


def _in_parts(
    store: AuditStore, wanted: Search, order: Order, place: Place | None, most: int, clock: Callable[[], float]
) -> SearchPage:
    """The next verdicts behind a place, looked for in a stretch of the list at a time until the page is full or the time is over."""
    end, size, found = clock() + READING_S, PART_FIRST, list[Record]()
    while True:
        edge = _further(store, wanted, order, place, size)
        sql, values = _query(wanted, order, place, edge)
        found += _records(store, f"{sql} LIMIT {most + 1 - len(found)}", values)
        if len(found) > most:
            return SearchPage(tuple(found[:most]), _cursor(found[most - 1]))
        if edge is None:
            return SearchPage(tuple(found), None)
        if clock() > end:
            return SearchPage(tuple(found), f"{edge[0]}~{edge[1]}", edge[0])
        place, size = edge, min(2 * size, PART_MOST)


def _further(store: AuditStore, wanted: Search, order: Order, place: Place | None, size: int) -> Place | None:
    """The place of the verdict that is so many further on in the list of that time; None behind its end."""
    tests = list(_times(wanted, "r"))
    if place:
        tests.append((f"(r.at, r.seq) {'<' if order == 'newest' else '>'} (?, ?)", list(place)))
    where = " AND ".join(["r.kind = 'verdict'", *(test for test, _ in tests)])
    way = "DESC" if order == "newest" else "ASC"
    sql = f"SELECT r.at, r.seq FROM {RECORD} r WHERE {where} ORDER BY r.at {way}, r.seq {way} LIMIT 1 OFFSET {size - 1}"  # noqa: S608
    rows = store.database.rows(sql, [value for _, given in tests for value in given])
    return (rows[0][0], rows[0][1]) if rows else None


def _records(store: AuditStore, sql: str, values: Sequence[Any]) -> list[Record]:
    return [record_from(row) for row in store.database.rows(sql, values)]


class _Reading:
    """A search for what only the records themselves tell: a text, a score. Block by block, in the order of the chain."""

    def __init__(self, store: AuditStore, wanted: Search, order: Order, clock: Callable[[], float]) -> None:
        self._store, self._wanted, self._clock = store, wanted, clock
        self._way = -1 if order == "newest" else 1
        self._words = folded_words(wanted.text or "")
        if wanted.text and not self._words:
            raise InputError(f"text must hold a word, got {shown(wanted.text)}")
        self._phrase = f" {' '.join(self._words)} "
        self._tokens = list(dict.fromkeys([*self._words, *_named(wanted)]))
        self._since = moment(wanted.since) if wanted.since else ""
        self._until = moment(wanted.until) if wanted.until else ""
        tests = list(_tests(wanted, "r", by_place=True))
        where = " AND ".join(["r.kind = 'verdict'", "r.seq >= ?", "r.seq <= ?", *(test for test, _ in tests)])
        tables = f"{RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq"
        way = "DESC" if order == "newest" else "ASC"
        self._sql = f"SELECT {SELECTED} FROM {tables} WHERE {where} ORDER BY r.seq {way}"  # noqa: S608  (names of ours)
        self._values = [value for _, given in tests for value in given]

    def page(self, after: int | None, most: int) -> SearchPage:
        """The next verdicts behind a place of the chain, as many as are found before the time is over."""
        end = self._clock() + READING_S
        found: list[Record] = []
        for number, (low, high, may_hold) in enumerate(self._stretches(after), 1):
            for record in _records(self._store, self._sql, [low, high, *self._values]) if may_hold else ():
                if self._takes(record):
                    found.append(record)
                    if len(found) == most:
                        return SearchPage(tuple(found), _cursor(record))
            edge = low if self._way < 0 else high
            if number >= LEAST_READ and self._clock() > end and (at := self._time_at(edge)):
                return SearchPage(tuple(found), f"{at}~{edge}", at)
        return SearchPage(tuple(found), None)

    def _stretches(self, after: int | None) -> Iterator[tuple[int, int, bool]]:
        """The chain in parts, in order, and whether each may hold what is wanted: those that cannot need not be read."""
        ends = f"SELECT (SELECT min(seq) FROM {RECORD}), (SELECT max(seq) FROM {RECORD})"  # noqa: S608
        first, last = self._store.database.rows(ends)[0]
        if after is not None:
            first, last = (first, min(last, after - 1)) if self._way < 0 else (max(first, after + 1), last)
        blocks: Sequence[int] = range(block_of(first), block_of(last) + 1)[:: self._way] if first <= last else ()
        start, size = 0, SIFTED_FIRST
        while some := blocks[start : start + size]:
            start, size = start + size, min(2 * size, SIFTED_MOST)
            low, high = min(some), max(some)
            for block in sorted(
                candidates(self._store, self._tokens, low, high, self._since, self._until), reverse=self._way < 0
            ):
                yield max(first, block * BLOCK), min(last, block * BLOCK + BLOCK - 1), True
            yield max(first, low * BLOCK), min(last, high * BLOCK + BLOCK - 1), False

    def _takes(self, record: Record) -> bool:
        wanted = self._wanted
        if wanted.min_score is not None or wanted.max_score is not None:
            score = score_of(record)
            if score is None or not (wanted.min_score or 0.0) <= score <= (
                1.0 if wanted.max_score is None else wanted.max_score
            ):
                return False
        if not self._words:
            return True
        if record.entry is None:
            return False
        # Most records of a block do not even have the letters: only of the others are the texts taken out and parted.
        written = fold_text(written_text(record.entry))
        if not all(word in written for word in self._words):
            return False
        return self._phrase in f" {' '.join(folded_words(texts_of(record.entry)))} "

    def _time_at(self, seq: int) -> str:
        sql = f"SELECT at FROM {RECORD} WHERE seq >= ? AND at IS NOT NULL ORDER BY seq LIMIT 1"  # noqa: S608
        rows = self._store.database.rows(sql, [seq])
        return rows[0][0] if rows else ""


def _named(wanted: Search) -> Iterator[str]:
    """The tokens of values that are filtered by."""
    for name in BY_COLUMN:
        if value := getattr(wanted, name):
            yield named(name, storable(value))
    if wanted.reason:
        yield named("reason", one_word(wanted.reason))


def _query(wanted: Search, order: Order, place: Place | None, edge: Place | None = None) -> tuple[str, list[Any]]:
    """The statement without its limit, behind a place and up to an edge.

    A label or a reason is looked up in the table of codes, which has the time too.
    """
    label = wanted.label if wanted.label not in (None, UNREVIEWED) else None
    code = label_code(label) if label else one_word(wanted.reason) if wanted.reason else None
    by = "c" if code else "r"
    tables = f"{RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq"
    if code:
        tables = f"{REASON} c JOIN {RECORD} r ON r.seq = c.seq LEFT JOIN {BODY} b ON b.seq = r.seq"
    tests: list[tuple[str, list[Any]]] = [("c.code = ?", [code])] if code else []
    tests += _tests(wanted, by)
    behind, upto = ("<", ">=") if order == "newest" else (">", "<=")
    tests += [(f"({by}.at, {by}.seq) {sign} (?, ?)", list(at)) for sign, at in ((behind, place), (upto, edge)) if at]
    where = " AND ".join(["r.kind = 'verdict'", *(test for test, _ in tests)])
    way = "DESC" if order == "newest" else "ASC"
    sql = f"SELECT {SELECTED} FROM {tables} WHERE {where} ORDER BY {by}.at {way}, {by}.seq {way}"  # noqa: S608  (names of ours)
    return sql, [value for _, given in tests for value in given]


def _tests(wanted: Search, by: str, *, by_place: bool = False) -> Iterator[tuple[str, list[Any]]]:
    """What must hold of a record, and the values in it; `by_place` where its place is known, and an index on a value would be a detour."""
    # An engine that takes the index of a caller reads all that this caller ever asked; on what is computed there is none.
    computed = " || ''" if by_place else ""
    yield from _times(wanted, by, computed)
    if wanted.reason and (by == "r" or wanted.label not in (None, UNREVIEWED)):
        # By its place, not by its code, of which there may be very many: an index on what is computed there is not.
        yield (
            f"EXISTS (SELECT 1 FROM {REASON} d WHERE d.seq = r.seq AND d.code || '' = ?{ROW_BY_ROW})",  # noqa: S608
            [one_word(wanted.reason)],
        )
    for name in BY_COLUMN:
        if value := getattr(wanted, name):
            yield f"r.{name}{computed} = ?", [storable(value)]
    if wanted.label:
        yield _label_test(wanted.label)


def _times(wanted: Search, by: str, computed: str = "") -> Iterator[tuple[str, list[Any]]]:
    if wanted.since:
        yield f"{by}.at{computed} >= ?", [moment(wanted.since)]
    if wanted.until:
        yield f"{by}.at{computed} < ?", [moment(wanted.until)]


def _label_test(label: str) -> tuple[str, list[Any]]:
    reviews = f"SELECT 1 FROM {RECORD} v WHERE v.kind = 'review' AND v.ref = r.id"  # noqa: S608
    if label == UNREVIEWED:
        return f"NOT EXISTS ({reviews})", []
    if label not in LABELS:
        raise InputError(f"{shown(label)} is no label: {', '.join((*LABELS, UNREVIEWED))}")
    return f"EXISTS ({reviews} AND v.label = ?{ROW_BY_ROW})", [label]


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

"""Records as people look for them: the newest first, by what reviewers said of them, each as one row."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Literal

from stillme.audit.chain.record import COLUMNS, Entry, Record, from_word
from stillme.audit.query import SELECTED, Filter, record_from, records
from stillme.audit.review.agreement import Review
from stillme.audit.review.reviews import labelled_claims
from stillme.audit.review.sampling import Candidate
from stillme.audit.store import AuditStore
from stillme.errors import BackendError
from stillme.storage.audit.database import BODY, RECORD

__all__ = [
    "TextState",
    "candidates",
    "count",
    "labels",
    "latest",
    "newest",
    "reviews",
    "row_of",
    "text_state",
    "unfinished",
]

TextState = Literal["kept", "redacted", "hashed", "not kept", "gone", "none"]
# How many places of the chain are looked at first; four times as many each time nothing is found.
FIRST_WINDOW: Final = 100
_SHOWN: Final = tuple(name for name in COLUMNS if name not in ("meta", "verified", "reasons", "body_digest"))


def newest(
    store: AuditStore, wanted: Filter, most: int | None = None, keep: Callable[[Record], bool] | None = None
) -> Iterator[Record]:
    """The wanted records that `keep` takes, the newest first, at most so many; older ones are not read."""
    found = filter(keep, _backwards(store, wanted)) if keep else _backwards(store, wanted)
    return islice(found, most)


def latest(store: AuditStore, kind: Literal["promotion", "policy"], most: int) -> list[Record]:
    """The newest records of a kind that has an index of its own."""
    store.prepare()
    sql = (
        f"SELECT {SELECTED} FROM {RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq "  # noqa: S608  (names of ours)
        f"WHERE r.kind = '{kind}' ORDER BY r.seq DESC LIMIT {most:d}"
    )
    return [record_from(row) for row in store.database.rows(sql)]


def _backwards(store: AuditStore, wanted: Filter) -> Iterator[Record]:
    last, window = store.head().seq, FIRST_WINDOW
    while last > 0:
        after = max(0, last - window)
        yield from reversed(list(records(store.database, wanted, after=after, upto=last)))
        last, window = after, window * 4


def count(store: AuditStore, wanted: Filter) -> int:
    """How many records the filter takes; a wanted text is not looked for."""
    condition, values = wanted.where()
    rows = store.database.rows(f"SELECT count(*) FROM {RECORD} r WHERE {condition}", values)  # noqa: S608  (names of ours)
    return int(rows[0][0])


def labels(store: AuditStore) -> dict[str, set[str]]:
    """For every verdict that was reviewed, the labels that it was given."""
    sql = f"SELECT ref, label FROM {RECORD} WHERE ref IS NOT NULL AND kind = 'review'"  # noqa: S608  (names of ours)
    found: dict[str, set[str]] = {}
    for trace, label in store.database.rows(sql):
        found.setdefault(trace, set()).add(label)
    return found


def unfinished(store: AuditStore) -> set[str]:
    """The ids of openings that no verdict has closed: the answer still goes out, or broke off and left no word of how."""
    closed = f"SELECT 1 FROM {RECORD} v WHERE v.ref = r.id AND v.kind = 'verdict'"  # noqa: S608  (names of ours)
    rows = store.database.rows(f"SELECT r.id FROM {RECORD} r WHERE r.kind = 'opening' AND NOT EXISTS ({closed})")  # noqa: S608
    return {row[0] for row in rows}


def reviews(store: AuditStore, wanted: Filter) -> Iterator[Review]:
    """The reviews that the filter takes, in the order they were given, as agreement figures need them."""
    for record in store.records(replace(wanted, kind="review"), bodies=False):
        if record.entry is not None:
            entry = record.entry
            yield Review(record.seq, str(entry.ref), str(entry.caller), str(entry.label), labelled_claims(entry))


def candidates(store: AuditStore, wanted: Filter) -> Iterator[Candidate]:
    """The verdicts that the filter takes, as a sample is drawn from them."""
    for record in store.records(replace(wanted, kind="verdict"), bodies=False):
        entry = record.entry
        if entry is not None:
            strata = (str(entry.decision), str(entry.language), str(entry.band))
            yield Candidate(entry.id, entry.at, *strata, flagged=entry.reasons is not None, domain=entry.domain)


def text_state(entry: Entry) -> TextState:
    """What a store still has of a record's texts; `none` where it never had any."""
    content, blanked = _kept_as(entry)
    if content == "none":
        return "not kept"
    if entry.body is None:
        return "gone" if entry.body_digest is not None else "none"
    if content == "hashed":
        return "hashed"
    return "redacted" if blanked else "kept"


def _kept_as(entry: Entry) -> tuple[str, int]:
    meta = json.loads(entry.meta) if entry.kind in ("verdict", "opening") else {}
    return meta.get("content", "full"), meta.get("blanked", 0)


def row_of(record: Record, unfinished: Collection[str] = ()) -> dict[str, Any]:
    """A record as a row for programs: its columns, what is left of its texts, and the question where that is kept.

    An opening has a `state`, which is `unfinished` where its id is among those that are.
    """
    entry = record.entry
    if entry is None:
        return {"seq": record.seq, "kind": None, "hash": record.hash, "texts": "gone"}
    try:
        row = _row(record, entry)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # nothing that we write
        raise BackendError(f"record {record.seq} cannot be read: run `stillme audit verify`") from None
    if entry.kind == "opening":
        row["state"] = "unfinished" if entry.id in unfinished else "finished"
    return row


def _row(record: Record, entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {"seq": record.seq, **{name: getattr(entry, name) for name in _SHOWN}}
    row["verified"] = None if entry.verified is None else bool(entry.verified)
    row["reasons"] = [from_word(word) for word in (entry.reasons or "").split()]
    if entry.kind == "verdict":
        row["policy_hash"] = json.loads(entry.meta)["policy_hash"]
    row |= {"hash": record.hash, "texts": text_state(entry), "query": None}
    if entry.kind in ("verdict", "opening") and entry.body is not None and row["texts"] in ("kept", "redacted"):
        row["query"] = json.loads(entry.body.text)["request"]["query"]
    return row

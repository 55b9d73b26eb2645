"""What a store holds, counted: records, texts, seals, bytes, and what waits in its journal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from stillme.audit.chain.record import from_word
from stillme.audit.store import AuditStore
from stillme.storage.audit.database import BODY, POLICY, RECORD

__all__ = ["Stats", "stats_of"]

# The longest `kind:key id` that a seal begins with.
KEY_LENGTH: Final = len("ed25519:") + 16


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of a store; the groups are in the order of their names.

    `records` have their content; `removed` are those that retention took. `erased` lost their texts alone.
    """

    records: int
    last: int
    removed: int
    erased: int
    texts: int
    oldest: str | None
    newest: str | None
    kinds: dict[str, int]
    decisions: dict[str, int]
    reasons: dict[str, int]
    months: dict[str, int]
    policies: int
    keys: dict[str, int]
    bytes: int
    bytes_per_record: int
    journal_pending: int
    journal_damaged: int


def stats_of(store: AuditStore) -> Stats:
    """Count what a store holds; a few passes inside the database, which reads no text."""
    last = store.head().seq
    kinds: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    months: Counter[str] = Counter()
    for kind, decision, codes, month, number in _groups(store):
        kinds[kind] += number
        months[month] += number
        decisions.update({decision: number} if decision else {})
        reasons.update(dict.fromkeys(map(from_word, (codes or "").split()), number))
    total, used = kinds.total(), store.database.bytes_used()
    (oldest, newest), (texts, erased, policies) = _ends(store), _sides(store)
    return Stats(
        records=total,
        last=last,
        removed=last - total,
        erased=erased,
        texts=texts,
        oldest=oldest,
        newest=newest,
        kinds=_ordered(kinds),
        decisions=_ordered(decisions),
        reasons=_ordered(reasons),
        months=_ordered(months),
        policies=policies,
        keys=_ordered(_keys(store)),
        bytes=used,
        bytes_per_record=round(used / total) if total else 0,
        journal_pending=store.journal.pending(),
        journal_damaged=len(store.journal.damaged()),
    )


def _groups(store: AuditStore) -> list[tuple[str, str | None, str | None, str, int]]:
    return store.database.rows(
        f"SELECT kind, decision, reasons, substr(at, 1, 7), count(*) FROM {RECORD} "  # noqa: S608  (names of ours)
        "WHERE kind IS NOT NULL GROUP BY kind, decision, reasons, substr(at, 1, 7)"
    )


def _ends(store: AuditStore) -> tuple[str | None, str | None]:
    rows = store.database.rows(f"SELECT min(at), max(at) FROM {RECORD}")  # noqa: S608
    return rows[0][0], rows[0][1]


def _sides(store: AuditStore) -> tuple[int, int, int]:
    """How many records have texts, how many lost theirs, and how many policies there are."""
    with_digest, texts, policies = (
        int(store.database.rows(f"SELECT count(*) FROM {what}")[0][0])  # noqa: S608
        for what in (f"{RECORD} WHERE body_digest IS NOT NULL", BODY, POLICY)
    )
    return texts, with_digest - texts, policies


def _keys(store: AuditStore) -> Counter[str]:
    beginning = f"substr(seal, 1, {KEY_LENGTH})"
    sql = f"SELECT {beginning}, count(*) FROM {RECORD} WHERE seal IS NOT NULL GROUP BY {beginning}"  # noqa: S608
    found: Counter[str] = Counter()
    for begun, number in store.database.rows(sql):
        found[":".join(begun.split(":")[:2])] += number
    return found


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))

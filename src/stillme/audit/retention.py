"""What leaves a store, and the record that says so: erasures on request, and removals by age and size.

An erasure takes the texts of some verdicts (and of the reviews on them). A tombstone accounts for texts and whole
records that reached the end of their time; a removed record keeps its place and its hashes until all before it are
removed too, then the beginning of the chain is cut off and the tombstone names the hash that it ended with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import COLUMNS, Entry, compact, instant, storable
from stillme.audit.chain.seals import Keyring
from stillme.audit.query import Filter
from stillme.audit.signatures import block_of
from stillme.audit.store import AuditStore
from stillme.errors import BackendError, InputError
from stillme.policy.sections import Retention, RetentionRule
from stillme.storage.audit.database import BODY, REASON, RECORD, SIGNATURE
from stillme.version import __version__

__all__ = ["Pruned", "erase", "prune"]

# The kinds of records that a class of rules is for: what began a delivery goes with the verdicts.
CLASSES: Final = {"verdict": ("verdict", "opening"), "review": ("review", "appeal")}
KEPT: Final = tuple(kind for kinds in CLASSES.values() for kind in kinds)
# What a record takes besides its texts, roughly: measured by `benchmarks/audit.py`, used only to choose what goes first.
ROW_BYTES: Final = 600
CHUNK: Final = 500


def erase(store: AuditStore, wanted: Filter, *, who: str, why: str) -> list[str]:
    """Erase the texts of the wanted verdicts and of the reviews on them; the ids of what was erased.

    The chain stays valid: a record of its own says which records lost their texts, who asked for it and why.
    """
    if not who.strip() or not why.strip():
        raise InputError("an erasure needs who asks for it and why: both go into the record")
    if wanted == Filter():
        raise InputError("an erasure needs to know whose texts: name a trace, a session or another filter")
    store.flush()
    store.drain()
    wanted_ones = [(r.seq, r.entry) for r in store.records(wanted, bodies=False) if r.entry]
    named = {seq: entry.id for seq, entry in wanted_ones}
    begun = [entry.ref for _, entry in wanted_ones if entry.kind == "verdict" and entry.ref]
    named.update(_rows_with(store, f"SELECT seq, id FROM {RECORD} WHERE kind = 'opening' AND id", begun))  # noqa: S608
    said_of_them = f"SELECT seq, id FROM {RECORD} WHERE kind IN ('review', 'appeal') AND ref"  # noqa: S608
    on_them = _rows_with(store, said_of_them, named.values())
    named.update(on_them)
    chosen = sorted(seq for (seq,) in _rows_with(store, f"SELECT seq FROM {BODY} WHERE seq", named))  # noqa: S608
    if not chosen:
        return []
    meta = {"records": chosen, "why": storable(why.strip())}
    entry = Entry(
        "erasure", f"erasure-{uuid4()}", instant(), compact(meta), caller=storable(who.strip()), version=__version__
    )
    store.change(entry, [*_deletions(chosen), *_outdated(chosen)])
    store.database.forget()
    return [named[seq] for seq in chosen]


def _rows_with(store: AuditStore, sql: str, values: Iterable[Any]) -> list[Any]:
    """The rows of a query whose last column is one of the values."""
    return [row for marks, chunk in _chunks(list(values)) for row in store.database.rows(f"{sql} IN ({marks})", chunk)]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a removal took."""

    texts: int = 0
    records: int = 0
    cut_off: int = 0
    tombstone: str | None = None


@dataclass(slots=True)
class _Doomed:
    """The places whose texts, and whose whole content, reached the end of their time, and the policies of the latter."""

    texts: set[int] = field(default_factory=set)
    contents: set[int] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def prune(
    store: AuditStore,
    retention: Retention,
    now: datetime | None = None,
    *,
    keys: Keyring | None = None,
    dry_run: bool = False,
) -> Pruned:
    """Remove what the retention rules say, or with `dry_run` only count it; nothing to remove leaves no trace.

    A store that is not whole is left alone, or a removal could cover up what somebody else has removed; `keys` are those
    that its seals are checked with, if the store's own is not the only one.
    """
    moment = now or datetime.now(UTC)
    store.prepare()
    doomed = _Doomed()
    for kind in CLASSES:
        _doom(store, kind, getattr(retention, kind), moment, doomed)
    if not doomed.texts and not doomed.contents:
        return Pruned()
    prefix = _prefix(store, doomed.contents)
    cut = prefix["seq"] if prefix else 0
    if dry_run:
        return Pruned(len(doomed.texts), len(doomed.contents), cut)
    if fault := verify_store(store, keys).fault:
        raise BackendError(f"{store.database.name} is not whole, so nothing is removed from it: {fault}")
    contents = sorted(seq for seq in doomed.contents if seq > cut)
    texts = sorted(seq for seq in doomed.texts if seq > cut)
    earlier = _tombstones(store)
    meta = {
        "store": _store_id(store, earlier),
        "texts": _ranges(texts),
        "contents": _ranges(contents),
        "prefix": prefix,
        "policies": sorted(doomed.policies.union(*(each["policies"] for each in earlier))),
        "counts": doomed.counts,
        "rules": retention.model_dump(mode="json"),
        "as_of": instant(moment),
    }
    entry = Entry("tombstone", f"tombstone-{uuid4()}", instant(), compact(meta), version=__version__)
    store.change(entry, list(_statements(texts, contents, cut)))
    store.database.forget()
    return Pruned(len(doomed.texts), len(doomed.contents), cut, entry.id)


def _doom(store: AuditStore, kind: str, rule: RetentionRule, now: datetime, doomed: _Doomed) -> None:
    """Choose what of one class goes: by age, then the oldest until the rest fits the size."""
    if rule == RetentionRule():
        return
    rows = store.database.rows(
        f"SELECT r.seq, r.at, r.policy, length(r.meta), length(b.text) FROM {RECORD} r "  # noqa: S608  (names of ours)
        f"LEFT JOIN {BODY} b ON b.seq = r.seq WHERE r.kind IN ({','.join('?' * len(CLASSES[kind]))}) ORDER BY r.seq",
        CLASSES[kind],
    )
    text_end, end = _days_before(now, rule.text_days), _days_before(now, rule.days)
    contents = {seq for seq, at, *_ in rows if str(at) < end}
    texts = {seq for seq, at, *_, text in rows if text is not None and str(at) < text_end}
    if rule.max_mb is not None:
        kept = [row for row in rows if row[0] not in contents]
        sizes = {seq: ROW_BYTES + (meta or 0) + (0 if seq in texts else text or 0) for seq, _, _, meta, text in kept}
        contents |= _oldest_beyond(sizes, rule.max_mb * 1_000_000)
    texts |= {seq for seq, *_, text in rows if text is not None and seq in contents}
    doomed.contents |= contents
    doomed.texts |= texts
    doomed.policies |= {policy for seq, _, policy, *_ in rows if policy and seq in contents}
    doomed.counts[kind] = {"texts": len(texts), "records": len(contents)}


def _oldest_beyond(sizes: dict[int, int], most: int) -> set[int]:
    """The first records, as many as have to go for the rest to fit."""
    excess, chosen = sum(sizes.values()) - most, set()
    for seq, size in sizes.items():
        if excess <= 0:
            break
        chosen.add(seq)
        excess -= size
    return chosen


def _days_before(now: datetime, days: int | None) -> str:
    try:
        return instant(now - timedelta(days=days)) if days is not None else ""
    except OverflowError:  # before the first year: nothing is older
        return ""


def _prefix(store: AuditStore, contents: set[int]) -> dict[str, Any] | None:
    """The beginning of the chain that can be cut off: records without content, and what accounts for them alone."""
    last: tuple[int, str] | None = None
    sql = f"SELECT seq, hash, kind FROM {RECORD} WHERE seq > ? ORDER BY seq LIMIT {CHUNK}"  # noqa: S608
    after = 0
    while rows := store.database.rows(sql, [after]):
        for seq, hash_, kind in rows:
            if kind is None or seq in contents:
                last = (seq, hash_)
            elif kind in (*KEPT, "promotion", "policy"):
                return {"seq": last[0], "hash": last[1]} if last else None
        after = rows[-1][0]
    return {"seq": last[0], "hash": last[1]} if last else None


def _tombstones(store: AuditStore) -> list[dict[str, Any]]:
    """What the tombstones so far say."""
    return [json.loads(r.entry.meta) for r in store.records(Filter(kind="tombstone"), bodies=False) if r.entry]


def _store_id(store: AuditStore, tombstones: Sequence[dict[str, Any]]) -> str:
    if tombstones:
        return str(tombstones[-1]["store"])
    return next(r.entry.id for r in store.records(Filter(kind="store"), bodies=False) if r.entry)


def _statements(texts: Sequence[int], contents: Sequence[int], cut: int) -> Iterator[tuple[str, list[Any]]]:
    if cut:
        yield f"DELETE FROM {BODY} WHERE seq <= ?", [cut]  # noqa: S608
        yield f"DELETE FROM {RECORD} WHERE seq <= ?", [cut]  # noqa: S608
        yield f"DELETE FROM {REASON} WHERE seq <= ?", [cut]  # noqa: S608
        yield f"DELETE FROM {SIGNATURE} WHERE block <= ?", [block_of(cut)]  # noqa: S608
    yield from _deletions(texts)
    yield from _outdated([*texts, *contents])
    blank = ",".join(f"{name} = NULL" for name in COLUMNS)
    for marks, chunk in _chunks(contents):
        yield f"UPDATE {RECORD} SET {blank} WHERE seq IN ({marks})", chunk  # noqa: S608
        yield f"DELETE FROM {REASON} WHERE seq IN ({marks})", chunk  # noqa: S608


def _deletions(seqs: Sequence[int]) -> Iterator[tuple[str, list[Any]]]:
    for marks, chunk in _chunks(seqs):
        yield f"DELETE FROM {BODY} WHERE seq IN ({marks})", chunk  # noqa: S608


def _outdated(seqs: Sequence[int]) -> Iterator[tuple[str, list[Any]]]:
    """The signatures of these records: they are made anew from what is left."""
    for marks, chunk in _chunks(sorted({block_of(seq) for seq in seqs})):
        yield f"DELETE FROM {SIGNATURE} WHERE block IN ({marks})", chunk  # noqa: S608


def _chunks(values: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    for start in range(0, len(values), CHUNK):
        chunk = list(values[start : start + CHUNK])
        yield ",".join("?" * len(chunk)), chunk


def _ranges(seqs: Iterable[int]) -> list[list[int]]:
    """Places as ranges, both ends included."""
    found: list[list[int]] = []
    for seq in seqs:
        if found and found[-1][1] == seq - 1:
            found[-1][1] = seq
        else:
            found.append([seq, seq])
    return found

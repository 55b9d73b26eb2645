"""Whether a chain is whole: nothing edited, inserted, reordered, deleted or cut off.

The work is one pass over the records in order. What is missing on purpose (erased texts, records beyond their
retention) must be accounted for by a record that says so, and must be gone.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from stillme.audit.chain.record import ZERO, Head, Record, sha256
from stillme.audit.chain.seals import Keyring
from stillme.audit.query import records
from stillme.errors import BackendError, InputError, shown
from stillme.storage.audit.database import BODY, POLICY, RECORD, SCHEMA_TABLE, Database, migrations

if TYPE_CHECKING:
    from stillme.audit.store import AuditStore

__all__ = ["Checkpoint", "ChosenVerifier", "Fault", "Verification", "Verifier", "verify", "verify_store"]

Range = tuple[int, int]
# A text that is erased while its store is being read looks like a missing one, until the store is read again.
ATTEMPTS: Final = 5
# How far back an insertion is looked for.
MOST_INSERTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Fault:
    """The first record that is not as it was written, and what is wrong with it; 0 where it is no record's fault."""

    seq: int
    id: str | None
    problem: str

    def __str__(self) -> str:
        if not self.seq:
            return self.problem
        return f"record {self.seq}{f' ({self.id})' if self.id else ''}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The end of a chain at one time, kept elsewhere: a store that no longer has it was cut or rewritten."""

    store: str
    seq: int
    hash: str
    at: str
    seal: str

    @classmethod
    def parse(cls, line: str) -> Checkpoint:
        """A checkpoint as `stillme audit checkpoint` prints it."""
        try:
            found = json.loads(line)
            values = [found[name] for name in ("store", "seq", "hash", "at", "seal")]
        except (ValueError, TypeError, KeyError, RecursionError):
            values = []
        if [type(value) for value in values] != [str, int, str, str, str]:
            raise InputError(f"{shown(line)} is no checkpoint: give a line of `stillme audit checkpoint`")
        return cls(*values)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a pass over a chain found.

    `checkpoints` counts those that were compared; `uncompared` those that could not be, because retention has removed
    the record that they name or because the chain is broken before it.
    """

    records: int
    head: Head
    store: str | None
    fault: Fault | None
    sealed_upto: int = 0
    seals: int = 0
    erased: int = 0
    removed: int = 0
    checkpoints: int = 0
    uncompared: int = 0
    seals_checked: bool = False
    keys: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the chain is whole and its seals were checked and are good."""
        return self.fault is None and self.seals_checked


# what is gone, and what is said to be


@dataclass(slots=True)
class _Gone:
    """What a chain does not have (any more), by place; the places come in order."""

    prefix: int = 0
    contents: array[int] = field(default_factory=lambda: array("q"))
    texts: array[int] = field(default_factory=lambda: array("q"))
    """Those without their texts, be it that their whole content is gone."""


@dataclass(slots=True)
class _Accounts:
    """What the records of a chain say is gone."""

    prefix: tuple[int, str] = (0, ZERO)
    contents: list[Range] = field(default_factory=list)
    texts: list[Range] = field(default_factory=list)
    policies: set[str] = field(default_factory=set)
    store: str | None = None

    def add(self, other: _Accounts) -> None:
        """Take over what further records say."""
        self.prefix = max(self.prefix, other.prefix)
        self.contents += other.contents
        self.texts += other.texts
        self.policies |= other.policies
        self.store = other.store or self.store


def _account(record: Record) -> _Accounts | None:
    """What one record says is gone; None where that cannot be read."""
    entry = record.entry
    if entry is None or entry.kind in ("verdict", "opening", "review", "appeal", "promotion", "policy"):
        return _NOTHING
    try:
        meta: dict[str, Any] = json.loads(entry.meta)
        if entry.kind == "store":
            return _Accounts(store=entry.id)
        if entry.kind == "erasure":
            return _Accounts(texts=_ranges([(place, place) for place in meta["records"]], record.seq))
        contents, cut = _ranges(meta["contents"], record.seq), meta["prefix"] or {"seq": 0, "hash": ZERO}
        return _Accounts(
            prefix=(_ranges([(1, cut["seq"])], record.seq)[0][1] if cut["seq"] else 0, str(cut["hash"])),
            contents=contents,
            texts=_ranges(meta["texts"], record.seq) + contents,
            policies=set(map(str, meta["policies"])),
            store=str(meta["store"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


_NOTHING: Final = _Accounts()


def _ranges(said: Iterable[Sequence[int]], before: int) -> list[Range]:
    """Places in ranges, all of them before the record that names them."""
    found: list[Range] = []
    for first, last in said:
        if not (type(first) is type(last) is int and 0 < first <= last < before):
            raise ValueError("no places of a chain")
        found.append((first, last))
    return found


def _uncovered(places: Sequence[int], ranges: Iterable[Range]) -> Sequence[int]:
    """The places that no range holds."""
    starts, ends = array("q"), array("q")
    for first, last in sorted(ranges):
        if ends and first <= ends[-1] + 1:
            ends[-1] = max(ends[-1], last)
        else:
            starts.append(first)
            ends.append(last)
    holders = (bisect_right(starts, place) - 1 for place in places)
    return [place for place, at in zip(places, holders, strict=True) if at < 0 or ends[at] < place]


def _still_there(gone: Sequence[int], ranges: Iterable[Range], within: Range) -> int | None:
    """The lowest place within the given ones that a range holds and that is not gone."""
    found: list[int] = []
    for first, last in ranges:
        start, end = max(first, within[0]), min(last, within[1])
        low, high = bisect_left(gone, start), bisect_right(gone, end)
        if high - low < end - start + 1:
            found.append(next((start + n for n in range(high - low) if gone[low + n] != start + n), start + high - low))
    return min(found, default=None)


# the pass


class Verifier:
    """Checks records one by one, in order."""

    def __init__(self, keys: Keyring, checkpoints: Iterable[Checkpoint] = ()) -> None:
        self._keys = keys
        self._checkpoints = sorted(checkpoints, key=lambda c: c.seq)
        self._faults: list[Fault] = []
        self._anchors: dict[int, list[Checkpoint]] = defaultdict(list)
        for anchor in self._checkpoints:
            self._anchor(anchor)
        self._gone = _Gone()
        self._proven, self._said = _Accounts(), _Accounts()
        self._policies: dict[str, tuple[int, str | None]] = {}
        self._first: Record | None = None
        self._head = Head()
        self._unproven: Record | None = None
        self._since_seal: deque[Head] = deque(maxlen=MOST_INSERTED)
        self._pending: list[_Accounts] = []
        self._sealed_upto = 0
        self._seals = 0
        self._key_ids: dict[str, None] = {}
        self._count = 0
        self._anchored = 0
        self.fault: Fault | None = None

    @property
    def head(self) -> Head:
        """The last record that was found good."""
        return self._head

    @property
    def policies(self) -> Collection[str]:
        """The digests of the policies that the records were judged by."""
        return self._policies.keys()

    def take(self, record: Record) -> bool:
        """Check the next record; False from where the chain is broken on."""
        if self.fault is not None:
            self._said.add(_account(record) or _NOTHING)  # nothing proves it, but it may tell what the beginning was
            return False
        self._since_seal.append(self._head)
        self.fault = self._misplaced(record) or self._altered(record) or self._unsealed(record)
        if self.fault is not None:
            return False
        self._head = record.head
        self._count += 1
        for anchor in self._anchors.get(record.seq, ()):
            self._anchored += 1
            if anchor.hash != record.hash:
                self._faults.append(_fault(record, f"it is not the one that the checkpoint of {anchor.at} names"))
        return True

    def _anchor(self, anchor: Checkpoint) -> None:
        """Take a checkpoint into account, unless its own seal is worth nothing."""
        state = self._keys.check(anchor.hash, anchor.seal) if self._keys.keys else "good"
        if state == "good":
            self._anchors[anchor.seq].append(anchor)
        else:
            why = "has a false seal" if state == "bad" else "is sealed with a key that was not given"
            self._faults.append(Fault(0, None, f"the checkpoint of {anchor.at} {why}"))

    def _misplaced(self, record: Record) -> Fault | None:
        before = self._head
        if self._first is None:
            self._first = record
            if record.seq > 1:  # retention may have cut the beginning off: then a tombstone names the hash before it
                self._gone.prefix = record.seq - 1
                return None
        elif record.seq != before.seq + 1:
            return Fault(before.seq + 1, None, _missing(before.seq + 1, record.seq - 1))
        if record.follows(before.hash):
            return None
        for head in self._since_seal:  # no seal proves what stands between that head and here
            if replace(record, seq=head.seq + 1).follows(head.hash):
                return Fault(
                    head.seq + 1, None, f"records were inserted here: record {record.seq} follows record {head.seq}"
                )
        return _fault(record, "its hash does not follow from the record before it")

    def _altered(self, record: Record) -> Fault | None:
        entry = record.entry
        if entry is None:
            self._gone.contents.append(record.seq)
            self._gone.texts.append(record.seq)
            return None
        if entry.digest != record.digest:
            return _fault(record, "its content is not what its digest says")
        if entry.policy and entry.policy not in self._policies:
            self._policies[entry.policy] = (record.seq, entry.id)
        if entry.body is None and entry.body_digest is not None:
            self._gone.texts.append(record.seq)
        elif entry.body is not None and entry.body.digest != entry.body_digest:
            return _fault(record, "its texts are not what they were")
        return None

    def _unsealed(self, record: Record) -> Fault | None:
        account = _account(record)
        if account is None:
            return _fault(record, "it does not say what it accounts for")
        if account is not _NOTHING:
            self._said.add(account)
            self._pending.append(account)
        self._unproven = self._unproven or record
        if record.seal is None:
            return None
        state = self._keys.check(record.hash, record.seal) if self._keys.keys else "good"
        if state != "good":
            return self._unproven_upto(record, state)
        while self._pending:
            self._proven.add(self._pending.pop())
        self._unproven = None
        self._since_seal.clear()
        self._sealed_upto, self._seals = record.seq, self._seals + 1
        self._key_ids[record.seal.rpartition(":")[0]] = None
        return None

    def _unproven_upto(self, record: Record, state: str) -> Fault:
        """A seal that is no good says nothing about the records since the last good one."""
        first, key = self._unproven or record, shown(str(record.seal).rpartition(":")[0])
        why = "is false" if state == "bad" else f"is of the key {key}, which was not given"
        if first is record:
            return _fault(record, f"its seal {why}")
        return _fault(
            first, f"the seal of record {record.seq} {why}, and no other proves records {first.seq} to {record.seq}"
        )

    # after the last record

    def result(self, policies: Mapping[str, str] | None, strays: Iterable[Fault] = ()) -> Verification:
        """What was found.

        `policies` are all that the store or file has, None if they could not be read; `strays` is what was found
        beside the records.
        """
        fault = self._first_fault(policies, strays)
        return Verification(
            records=self._count,
            head=self._head,
            store=self._said.store,
            fault=fault,
            sealed_upto=self._sealed_upto,
            seals=self._seals,
            erased=len(self._gone.texts) - len(self._gone.contents),
            removed=len(self._gone.contents) + self._gone.prefix,
            checkpoints=self._anchored,
            uncompared=len(self._checkpoints) - self._anchored,
            seals_checked=bool(self._keys.keys),
            keys=tuple(self._key_ids),
        )

    def _first_fault(self, policies: Mapping[str, str] | None, strays: Iterable[Fault]) -> Fault | None:
        found = [*self._faults, *self._chain_faults()]
        if self.fault is not None:
            found.append(self.fault)
        if policies is not None:
            found += self._policy_faults(policies)
        found = found or list(strays)
        named = [fault for fault in found if fault.seq]
        return min(named, key=lambda fault: fault.seq) if named else found[0] if found else None

    def _chain_faults(self) -> Iterator[Fault]:
        """What shows only when the whole chain was seen."""
        yield from self._other_store()
        yield from self._put_back()
        if self.fault is None:
            yield from self._cut()
            # Behind a break this would not be certain: what is gone may have been accounted for by what is broken.
            yield from self._unaccounted(self._said)

    def _other_store(self) -> Iterator[Fault]:
        for anchors in self._anchors.values():
            for anchor in anchors:
                if self._said.store is not None and anchor.store != self._said.store:
                    yield Fault(1, None, f"the checkpoint of {anchor.at} is of another store, {shown(anchor.store)}")

    def _cut(self) -> Iterator[Fault]:
        """An end that is not sealed, or that a checkpoint knows to be further on."""
        end = self._head.seq
        if not self._count:
            yield Fault(0, None, "there is no record at all")
        elif first := self._unproven:
            problem = "it is not sealed" if first.seq == end else f"records {first.seq} to {end} are not sealed"
            hidden = next(self._unaccounted(self._proven), None)
            yield _fault(
                first, f"{problem}; without them, of record {hidden.seq}, {hidden.problem}" if hidden else problem
            )
        for anchor in self._checkpoints:
            if anchor.seq > end:
                yield Fault(end + 1, None, f"cut off: the checkpoint of {anchor.at} knows records up to {anchor.seq}")

    def _unaccounted(self, said: _Accounts) -> Iterator[Fault]:
        gone = self._gone
        cut, (known, _) = gone.prefix, said.prefix
        if known < cut:
            yield Fault(known + 1, None, f"{_missing(known + 1, cut)} and no tombstone accounts for that")
        empty = _uncovered(gone.contents, said.contents)
        for places, lost in (
            (empty, "its content is missing and no tombstone accounts for it"),
            (_uncovered(gone.texts, said.texts), "its texts are missing and no record says that they were erased"),
        ):
            if places:
                by = f"; record {empty[-1]}, which was emptied, may have" if empty and empty[-1] > places[0] else ""
                yield Fault(places[0], None, lost + by)

    def _put_back(self) -> Iterator[Fault]:
        """What is there although a proven record says that it is gone, and a beginning that is another one."""
        gone, said, first = self._gone, self._proven, self._first
        if first is None:
            return
        if said.prefix[0] > gone.prefix:
            yield _fault(first, "a tombstone says that it was removed, and it is there")
        known, hash_ = self._said.prefix
        if known and known == gone.prefix:
            if not first.follows(hash_):
                yield _fault(first, "its hash does not follow from the one that the tombstone names")
            yield from self._anchors_at_the_cut(known, hash_)
        seen = (first.seq, self._head.seq)
        if (place := _still_there(gone.contents, said.contents, seen)) is not None:
            yield Fault(place, None, "a tombstone says that it was removed, and it is there")
        if (place := _still_there(gone.texts, said.texts, seen)) is not None:
            yield Fault(place, None, "its texts were erased, and they are there")

    def _anchors_at_the_cut(self, known: int, hash_: str) -> Iterator[Fault]:
        """The last record that was cut off is gone, but a tombstone knows its hash."""
        for anchor in self._anchors.get(known, ()):
            self._anchored += 1
            if anchor.hash != hash_:
                yield Fault(known, None, f"it is not the one that the checkpoint of {anchor.at} names")

    def _policy_faults(self, policies: Mapping[str, str]) -> Iterator[Fault]:
        """Policies that are not what the records were judged by; each is named by the first of those records."""
        for digest, text in policies.items():
            if not isinstance(text, str) or sha256(text) != digest:
                place, name = self._policies.get(digest, (0, None))
                yield Fault(place, name, f"the policy {shown(digest)} is not what its digest says")
            elif digest not in self._policies and digest not in self._said.policies and self.fault is None:
                yield Fault(0, None, f"the policy {shown(digest)} is there, and no record was judged by it")
        for digest, (place, name) in self._policies.items():
            if digest not in policies:
                yield Fault(place, name, f"its policy {shown(digest)} is missing")


class ChosenVerifier(Verifier):
    """Checks records that were chosen from a chain: each by itself, and those that stand next to each other.

    What was left out between them, before and behind cannot be told.
    """

    def _misplaced(self, record: Record) -> Fault | None:
        before, self._unproven = self._head, None
        if record.seq <= before.seq:
            return _fault(record, f"it stands behind record {before.seq}")
        if self._count and record.seq == before.seq + 1 and not record.follows(before.hash):
            return _fault(record, "its hash does not follow from the record before it")
        return None

    def _chain_faults(self) -> Iterator[Fault]:
        return iter(())


def _fault(record: Record, problem: str) -> Fault:
    name = record.entry.id if record.entry else None
    return Fault(record.seq, name if isinstance(name, str) else None, problem)


def _missing(first: int, last: int) -> str:
    return "it is missing" if first == last else f"records {first} to {last} are missing"


def verify(
    chain: Iterable[Record], policies: Mapping[str, str], keys: Keyring, checkpoints: Iterable[Checkpoint] = ()
) -> Verification:
    """Check a whole chain, from a store or from an export."""
    verifier = Verifier(keys, checkpoints)
    for record in chain:
        verifier.take(record)
    return verifier.result(policies)


# a whole store


def verify_store(
    store: AuditStore,
    keys: Keyring | None = None,
    checkpoints: Sequence[Checkpoint] = (),
    follow: Callable[[Record], None] = lambda _: None,
) -> Verification:
    """Check every row of every table of a store while others may write to it; nothing is written, not even to an empty one."""
    database = store.database
    for _ in range(ATTEMPTS):
        begun = _end(database)
        found = _checked(database, Verifier(keys or store.keyring, checkpoints), follow)
        if found.fault is None or not _took_away(database, begun):
            break
    return found


def _checked(database: Database, verifier: Verifier, follow: Callable[[Record], None]) -> Verification:
    last = 0
    try:
        for record in records(database):
            verifier.take(record)
            last = record.seq
            follow(record)
    except BackendError as error:
        verifier.fault = verifier.fault or _unreadable(database, last, error)
        return verifier.result(None)
    found = verifier.result(_policies(database, verifier.policies, last), _strays(database))
    return replace(found, fault=_named(database, found.fault))


def _end(database: Database) -> int:
    last = database.rows(f"SELECT max(seq) FROM {RECORD}")[0][0]  # noqa: S608  (a constant)
    return last if isinstance(last, int) else 0


def _took_away(database: Database, since: int) -> bool:
    """Whether texts or records were erased or removed after that place of the chain was written."""
    sql = f"SELECT 1 FROM {RECORD} WHERE seq > ? AND kind IN ('erasure', 'tombstone') LIMIT 1"  # noqa: S608
    return bool(database.rows(sql, [since]))


def _policies(database: Database, known: Collection[str], last: int) -> dict[str, str]:
    """The policies of the store, without new ones that only records behind the last one read were judged by."""
    rows = database.rows(f"SELECT digest, text FROM {POLICY}")  # noqa: S608
    new = {row[0] for row in database.rows(f"SELECT DISTINCT policy FROM {RECORD} WHERE seq > ?", [last])}  # noqa: S608
    return {digest: text for digest, text in rows if digest in known or digest not in new}


def _strays(database: Database) -> Iterator[Fault]:
    """Rows that belong to no record of the chain, and what is wrong beside the rows."""
    for seq, name in database.rows(f"SELECT seq, id FROM {RECORD} WHERE seq < 1 ORDER BY seq LIMIT 1"):  # noqa: S608
        yield Fault(0, name, f"a record has the place {seq}, before the first")
    bodies = f"SELECT b.seq FROM {BODY} b LEFT JOIN {RECORD} r ON r.seq = b.seq "  # noqa: S608
    for (seq,) in database.rows(f"{bodies} WHERE r.seq IS NULL ORDER BY b.seq LIMIT 1"):
        place = seq if isinstance(seq, int) and seq > 0 else 0
        yield Fault(place, None, f"there are texts at the place {seq}, and no record")
    steps = [row[0] for row in database.rows(f"SELECT step FROM {SCHEMA_TABLE} ORDER BY step")]  # noqa: S608
    if steps != [number for number, _ in migrations()]:
        yield Fault(
            0, None, f"the store says that it has the schema steps {shown(steps)}: its table {SCHEMA_TABLE} was edited"
        )
    if problem := database.damage():
        yield Fault(0, None, f"the records are whole, but the file is damaged ({problem}): run `stillme audit vacuum`")


def _named(database: Database, fault: Fault | None) -> Fault | None:
    """The fault with the id of its record, where that is known."""
    if fault is None or fault.id is not None or not fault.seq:
        return fault
    rows = database.rows(f"SELECT id FROM {RECORD} WHERE seq = ?", [fault.seq])  # noqa: S608
    return replace(fault, id=rows[0][0]) if rows and isinstance(rows[0][0], str) else fault


def _unreadable(database: Database, last: int, error: BackendError) -> Fault:
    """The first record that the database cannot give back, or the error if it cannot give back anything."""
    database.rows(f"SELECT step FROM {SCHEMA_TABLE}")  # noqa: S608
    try:
        for record in records(database, after=last, page=1):
            last = record.seq
    except BackendError as problem:
        return Fault(last + 1, None, f"it cannot be read: {problem}")
    raise error

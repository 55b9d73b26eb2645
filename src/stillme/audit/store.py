"""The audit store: every verdict kept, in one chain, on disk before it is returned.

>>> store = AuditStore("audit.db")
>>> Guard(audit=store).verify(request)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4
from weakref import WeakSet

from stillme.audit.chain.record import COLUMNS, Entry, Head, Record, compact, instant, link, sha256
from stillme.audit.chain.seals import Key, Keyring, key_from_file, new_key_file
from stillme.audit.commits import Buffer, GroupCommit
from stillme.audit.content import entry_of, opening_of
from stillme.audit.journal import Drained, Journal
from stillme.audit.query import Filter, records
from stillme.audit.spool import Spool
from stillme.errors import BackendError, InputError, shown
from stillme.guard import Occurrence, Opening
from stillme.policy.sections import Audit
from stillme.storage.audit.database import (
    BODY,
    POLICY,
    RECORD,
    Database,
    Reading,
    RowsRefusedError,
    Writing,
    add_labels,
    add_reasons,
    is_current,
    is_store,
)
from stillme.storage.audit.engines import database_at
from stillme.version import __version__

__all__ = ["AuditStore"]

KEY_VARIABLE = "STILLME_AUDIT_KEY_FILE"
TRIED = "tried"


class AuditStore:
    """A chain of records in SQLite (a path) or PostgreSQL (a URL); safe to share between threads.

    `key`: a key or a key file; without one, the file that STILLME_AUDIT_KEY_FILE names, else for SQLite a new file
    beside the store. `journal`: the folder of the local journal for policies with `audit.on_failure: spool`.
    """

    def __init__(
        self,
        where: str | os.PathLike[str],
        *,
        key: Key | str | os.PathLike[str] | None = None,
        journal: str | os.PathLike[str] | None = None,
        timeout_s: float = 5.0,
        create: bool = True,
    ) -> None:
        self.where = os.fspath(where)
        self.database: Database = database_at(self.where, timeout_s)
        if not create and not (getattr(self.database, "path", Path()).exists() and is_store(self.database)):
            self.database.close()
            raise InputError(f"{self.database.name} does not exist: a guard with `audit` makes one")
        self.key: Key = _key(key, self.database)
        self.journal = Journal(Path(journal) if journal else _journal_folder(self.database))
        self._policies: set[str] = set()
        self._last = Head()
        self.start_over()
        _STORES.add(self)

    def __repr__(self) -> str:
        return f"<AuditStore: {self.database.name}>"

    def start_over(self) -> None:
        """Begin with nothing under way: a new store, or a child of a process that writes what it has under way itself."""
        self._commits = GroupCommit(self._commit)
        self._spool = Spool(self.journal, self._settle)
        self._buffer = Buffer(self._flush, self._spool.take)

    # writing

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """Keep verdicts as their policy says; raises BackendError where they cannot be kept."""
        self._take([entry_of(each) for each in occurrences], [each.policy.audit for each in occurrences])

    def open(self, opening: Opening) -> None:
        """Keep that an answer begins to go out; until a verdict closes it the record is an unfinished one."""
        self._take([opening_of(opening)], [opening.policy.audit])

    def _take(self, entries: Sequence[Entry], settings: Sequence[Audit]) -> None:
        spools = all(each.on_failure == "spool" for each in settings)
        if all(each.durability == "buffered" for each in settings):
            self._buffer.add(entries, spools)
        else:
            self.add(entries, spools=spools)

    def add(self, entries: Sequence[Entry], *, spools: bool = False) -> None:
        """Append entries; where that fails and `spools`, put them into the journal, to be drained later."""
        self._keep(entries, self._commits.add, spools)

    def drain(self) -> Drained:
        """Move what the journal holds into the store; what is there already is not added twice."""
        return self._spool.drain()

    def flush(self) -> None:
        """Return when everything that was buffered is on disk."""
        self._buffer.flush()

    def change(self, entry: Entry, statements: Sequence[tuple[str, Sequence[Any]]]) -> Record:
        """Append one record and, in the same transaction, run what it tells of: an erasure, a removal."""

        def work(writing: Writing) -> Record:
            last = self._appended(writing, [entry])[-1]  # first: it follows the end of the chain as it was
            for sql, values in statements:
                writing.rows(sql, values)
            return last

        last = self.database.write(work, is_long=True)
        self._last = last.head
        return last

    def try_writing(self) -> None:
        """Write a row and take it away, on disk: a store that takes no records says so in a BackendError."""

        def work(writing: Writing) -> None:
            self._check_growth(writing, _head(writing))
            writing.rows(f"INSERT INTO {POLICY} (digest, text) VALUES (?, ?)", [TRIED, ""])  # noqa: S608
            writing.rows(f"DELETE FROM {POLICY} WHERE digest = ?", [TRIED])  # noqa: S608

        self.prepare()
        self.database.write(work)

    def restore(self, batches: Iterator[Sequence[Record]], policies: dict[str, str]) -> int:
        """Take over the records of an export as they are; only an empty store can."""

        def work(writing: Writing) -> int:
            if _head(writing).seq:
                raise InputError(f"{self.database.name} is not empty: restore into a new store")
            writing.insert(POLICY, ("digest", "text"), list(policies.items()))
            count = 0
            for batch in batches:
                _insert(writing, batch)
                count += len(batch)
            return count

        return self.database.write(work, is_long=True)

    def close(self) -> None:
        """Flush and let go of the database; where that fails the store stays open, and nothing is lost yet."""
        self._buffer.close()
        self._spool.close()
        self.journal.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    # reading

    def records(self, wanted: Filter | None = None, *, bodies: bool = True) -> Iterator[Record]:
        """The wanted records in the order of the chain."""
        self.prepare()
        return records(self.database, wanted, bodies=bodies)

    def find(self, name: str) -> Record:
        """The record of a trace id (or an unambiguous beginning of one), or of a request id."""
        self.prepare()
        for wanted in (Filter(id=name), Filter(request_id=name)):
            if found := list(records(self.database, wanted)):
                return found[-1]
        rows = self.database.rows(f"SELECT id FROM {RECORD} WHERE id LIKE ? LIMIT 2", [f"{_plain(name)}%"])  # noqa: S608
        if len(rows) == 1:
            return next(records(self.database, Filter(id=rows[0][0])))
        what = "several records begin" if rows else "no record begins"
        raise InputError(f"{what} with {shown(name)}: give a trace id as `stillme audit list` shows it")

    def policy_text(self, digest: str | None) -> str | None:
        """A policy as it was in force, written out."""
        rows = self.database.rows(f"SELECT text FROM {POLICY} WHERE digest = ?", [digest])  # noqa: S608
        return rows[0][0] if rows else None

    def head(self) -> Head:
        """The last record's place and hash."""
        self.prepare()
        return _head(self.database)

    @property
    def keyring(self) -> Keyring:
        """The keys that this store checks seals with."""
        return Keyring((self.key,))

    def prepare(self) -> None:
        """Make sure that the store exists and has its first record; one that is there is not written to."""
        if self._last.seq == 0:
            self._last = self._existing()
        if self._last.seq == 0:
            self._last = self.database.write(self._opened)

    def _existing(self) -> Head:
        try:
            return _head(self.database) if is_current(self.database) else Head()
        except BackendError:  # writing comes next, and says what is wrong
            return Head()

    # ways to the database

    def _keep(self, entries: Sequence[Entry], write: Callable[[Sequence[Entry]], None], spools: bool) -> None:
        if spools and self._spool.is_pausing:
            with suppress(BackendError):  # then the store is tried all the same
                self._spool.take(entries)
                return
        started = time.monotonic()
        try:
            write(entries)
        except RowsRefusedError:  # nor would it take them later
            raise
        except BackendError as problem:
            if not spools:
                raise
            self._spool.take(entries, problem)
            self._spool.pause(time.monotonic() - started)
        else:
            self._spool.drain_later()

    def _flush(self, entries: Sequence[Entry], spools: bool, is_again: bool) -> None:
        self._keep(entries, self._settle if is_again else self._commits.add, spools)

    # inside a transaction

    def _commit(self, entries: Sequence[Entry]) -> None:
        self._last = self.database.write(lambda writing: self._appended(writing, entries))[-1].head
        self._policies.update(entry.policy for entry in entries if entry.policy)

    def _settle(self, entries: Sequence[Entry]) -> None:
        """Append the entries that are not there yet: some may be, after a commit of which the end was not seen."""
        names = list(dict.fromkeys(entry.id for entry in entries))
        sql = f"SELECT id FROM {RECORD} WHERE id IN ({','.join('?' * len(names))})"  # noqa: S608

        def work(writing: Writing) -> list[Record]:
            there = {row[0] for row in writing.rows(sql, names)}
            return self._appended(writing, list({e.id: e for e in entries if e.id not in there}.values()))

        if linked := self.database.write(work):
            self._last = linked[-1].head

    def _opened(self, writing: Writing) -> Head:
        head = _head(writing)
        return head if head.seq else self._appended(writing, [])[-1].head

    def _appended(self, writing: Writing, entries: Sequence[Entry]) -> list[Record]:
        head = _head(writing)
        self._check_growth(writing, head)
        added = list(entries) if head.seq else [self._genesis(), *entries]
        if not added:
            return []
        linked = link(head, added)
        last = linked[-1]
        linked[-1] = Record(last.seq, last.entry, last.digest, last.hash, self.key.seal(last.hash))
        self._add_policies(writing, added)
        _insert(writing, linked)
        return linked

    def _check_growth(self, writing: Writing, head: Head) -> None:
        """What this process wrote must still be there, or accounted for: a store never gets shorter unsaid."""
        seq = self._last.seq
        if seq == 0 or head == self._last:
            return
        rows = writing.rows(f"SELECT hash FROM {RECORD} WHERE seq = ?", [seq])  # noqa: S608
        if rows and rows[0][0] == self._last.hash:
            return
        if rows or not _is_pruned(writing, seq):
            raise BackendError(
                f"{self.database.name} lost record {seq}, which was there before: "
                "run `stillme audit verify`, and restart the writers after a restore"
            )

    def _add_policies(self, writing: Writing, entries: Sequence[Entry]) -> None:
        for digest, text in {e.policy: e.policy_text for e in entries if e.policy and e.policy_text}.items():
            if digest not in self._policies:
                sql = f"INSERT INTO {POLICY} (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
                writing.rows(sql, [digest, text])

    def _genesis(self) -> Entry:
        meta = {"format": 1, "sealed": self.key.kind, "key": self.key.id}
        return Entry("store", f"store-{uuid4()}", instant(), compact(meta), version=__version__)


def _head(reading: Reading) -> Head:
    rows = reading.rows(f"SELECT seq, hash FROM {RECORD} ORDER BY seq DESC LIMIT 1")  # noqa: S608
    return Head(*rows[0]) if rows else Head()


def _is_pruned(writing: Writing, seq: int) -> bool:
    """Whether a tombstone says that the chain was cut off from its beginning up to this record or beyond."""
    rows = writing.rows(f"SELECT meta FROM {RECORD} WHERE kind = 'tombstone' ORDER BY seq DESC")  # noqa: S608
    cuts = (json.loads(row[0])["prefix"] for row in rows)
    return any(cut and cut["seq"] >= seq for cut in cuts)


_RECORD_COLUMNS = ("seq", "digest", "hash", "seal", *COLUMNS)
_NOTHING = [None] * len(COLUMNS)


def _insert(writing: Writing, linked: Sequence[Record]) -> None:
    rows = [[r.seq, r.digest, r.hash, r.seal, *(r.entry.values if r.entry else _NOTHING)] for r in linked]
    bodies = [[r.seq, r.entry.body.salt, r.entry.body.text] for r in linked if r.entry and r.entry.body]
    writing.insert(RECORD, _RECORD_COLUMNS, rows)
    if bodies:
        writing.insert(BODY, ("seq", "salt", "text"), bodies)
    add_reasons(
        writing, [(r.seq, e.at, e.reasons) for r in linked if (e := r.entry) and e.kind == "verdict" and e.reasons]
    )
    add_labels(
        writing, [(e.ref, e.label) for r in linked if (e := r.entry) and e.kind == "review" and e.ref and e.label]
    )


def _plain(name: str) -> str:
    """A name without the signs that LIKE reads as any text."""
    if "%" in name or "_" in name or len(name) < 4:
        raise InputError(f"{shown(name)} is no trace id: give at least its first four characters")
    return name


def _key(given: Key | str | os.PathLike[str] | None, database: Database) -> Key:
    if given is not None and not isinstance(given, str | os.PathLike):
        return given
    if path := given or os.environ.get(KEY_VARIABLE):
        return key_from_file(path)
    file: Path | None = getattr(database, "path", None)
    if file is None:
        raise InputError(
            f"{database.name} needs a key to seal its records with: make one with `stillme audit key FILE` "
            f"and name it with {KEY_VARIABLE} or `key`"
        )
    beside, is_used = file.with_name(file.name + ".key"), file.exists() and file.stat().st_size > 0
    if beside.exists():  # asked for second: whoever makes a store makes the key first
        return key_from_file(beside)
    if is_used:
        raise InputError(f"the key file {shown(str(beside))} of {database.name} is gone: bring it back, or name it")
    try:
        return new_key_file(beside)
    except InputError:  # another process was first
        return key_from_file(beside)


def _journal_folder(database: Database) -> Path:
    """Beside a file; for a server in the working folder, under a name of its own for each database."""
    file: Path | None = getattr(database, "path", None)
    if file is not None:
        return file.with_name(file.name + ".journal")
    return Path(f"stillme-audit-{sha256(database.name)[:12]}.journal")


_STORES: WeakSet[AuditStore] = WeakSet()


def _start_over() -> None:
    for store in list(_STORES):
        store.start_over()


if hasattr(os, "register_at_fork"):  # after the databases, which registered before
    os.register_at_fork(after_in_child=_start_over)

"""A store or an exported file checked from end to end, with what could not be checked told apart from what is wrong.

A seal of a key that was not given proves nothing either way: the rest is checked all the same and the key is named.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from stillme.audit.chain.integrity import Checkpoint, Fault, Verification, verify_store
from stillme.audit.chain.record import Head, Record, compact, instant
from stillme.audit.chain.seals import Keyring, SealState
from stillme.audit.export import read_export, verify_export, verify_manifest
from stillme.audit.store import AuditStore
from stillme.errors import BackendError, InputError
from stillme.storage.audit.database import POLICY, RECORD

__all__ = ["Checked", "check_export", "check_store", "checkpoint_line", "checkpoint_of", "store_id"]

Subject = Literal["store", "whole export", "filtered export", "table"]
Follow = Callable[[Record], None]
SEAL: Final = re.compile(r"(?:hmac:[0-9a-f]{16}:[0-9a-f]{64}|ed25519:[0-9a-f]{16}:[0-9a-f]{128})")
TABLES: Final = (".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found; the seals are counted by key, those of keys that were not given apart."""

    subject: Subject
    found: Verification
    policies: int = 0
    checked: Mapping[str, int] = field(default_factory=dict)
    unchecked: Mapping[str, int] = field(default_factory=dict)

    @property
    def fault(self) -> Fault | None:
        """What is wrong, if anything is."""
        return self.found.fault

    @property
    def is_complete(self) -> bool:
        """Whether nothing is wrong and no seal was left unchecked."""
        return self.fault is None and not self.unchecked

    def to_dict(self) -> dict[str, Any]:
        """The result for programs."""
        found, fault = self.found, self.fault
        return {
            "subject": self.subject,
            "ok": self.is_complete,
            "fault": {"seq": fault.seq, "id": fault.id, "problem": fault.problem} if fault else None,
            "records": found.records,
            "store": found.store,
            "head": {"seq": found.head.seq, "hash": found.head.hash},
            "seals": {"checked": dict(self.checked), "unchecked": dict(self.unchecked)},
            "erased": found.erased,
            "removed": found.removed,
            "checkpoints": {"compared": found.checkpoints, "not_compared": found.uncompared},
            "policies": self.policies,
        }


@dataclass(frozen=True, slots=True)
class _Lenient(Keyring):
    """Keys that let a seal of an unknown key pass if it looks like one: whether all were known is asked at the end."""

    def check(self, hash_: str, seal: str) -> SealState:
        """Bad where a known key did not make the seal, or no key can have made it."""
        is_one = isinstance(seal, str) and SEAL.fullmatch(seal) is not None
        return "good" if is_one and Keyring.check(self, hash_, seal) != "bad" else "bad"


class _Tally:
    """Counts the seals that are met, by key."""

    def __init__(self, keys: Keyring, checkpoints: Iterable[Checkpoint], follow: Follow) -> None:
        self.keys = _Lenient(keys.keys)
        self._known = {f"{key.kind}:{key.id}" for key in keys.keys}
        self._follow = follow
        self._apart = Counter(_key_of(anchor.seal) for anchor in checkpoints)
        self._seals: Counter[str] = Counter()
        self._last = 0

    def take(self, record: Record) -> None:
        """Count the seal of the next record; one from further up means that the reading began anew."""
        if record.seq <= self._last:
            self._seals.clear()
        self._last = record.seq
        if record.seal is not None:
            self._seals[_key_of(record.seal)] += 1
        self._follow(record)

    def add(self, seal: str) -> None:
        """Count a seal that stands on no record."""
        self._apart[_key_of(seal)] += 1

    def result(self, subject: Subject, found: Verification, policies: int) -> Checked:
        """What was found, with the seals that were checked and those that were not."""
        seals = self._seals + self._apart
        checked = {key: number for key, number in seals.items() if key in self._known}
        unchecked = {key: number for key, number in seals.items() if key not in self._known}
        return Checked(subject, replace(found, seals_checked=not unchecked), policies, checked, unchecked)


def _key_of(seal: str) -> str:
    return str(seal).rpartition(":")[0]


def _ignore(_: Record) -> None:
    """Where nobody follows."""


def check_store(
    store: AuditStore, keys: Keyring, checkpoints: Sequence[Checkpoint] = (), follow: Follow = _ignore
) -> Checked:
    """Check a whole store while others may write to it; `follow` is told of every record that was read."""
    tally = _Tally(keys, checkpoints, follow)
    found = verify_store(store, tally.keys, checkpoints, tally.take)
    policies = store.database.rows(f"SELECT count(*) FROM {POLICY}")[0][0]  # noqa: S608  (a constant)
    return tally.result("store", found, int(policies))


def check_export(path: str, keys: Keyring, checkpoints: Sequence[Checkpoint] = (), follow: Follow = _ignore) -> Checked:
    """Check an exported file without its database; one that was changed is a fault, one that is none an InputError."""
    if Path(path).suffix.lower() in TABLES or Path(f"{path}.manifest.json").exists():
        return _check_table(path, keys)
    tally = _Tally(keys, checkpoints, follow)
    try:
        found = verify_export(path, tally.keys, checkpoints, tally.take)
        if found.fault is not None:
            return tally.result("whole export", found, 0)
        exported = read_export(path)
    except InputError as error:
        if not _looks_exported(path):
            raise
        return Checked("whole export", _nothing(Fault(0, None, str(error))))
    tally.add(exported.seal)
    return tally.result("whole export" if exported.is_whole else "filtered export", found, len(exported.policies))


def _looks_exported(path: str) -> bool:
    """Whether a file begins or ends like an export: then it was one, even if its first line cannot be read any more."""
    try:
        with Path(path).open("rb") as file:
            begins = file.read(10) == b'{"export":'
            file.seek(max(0, Path(path).stat().st_size - 1000))
            return begins or b'\n{"end":' in file.read()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False


def _nothing(fault: Fault | None, records: int = 0) -> Verification:
    return Verification(records=records, head=Head(), store=None, fault=fault)


def _check_table(path: str, keys: Keyring) -> Checked:
    """A CSV or Parquet file, as its manifest describes it."""
    tally = _Tally(keys, (), _ignore)
    problem = verify_manifest(path, tally.keys)
    if problem:
        return Checked("table", _nothing(Fault(0, None, problem)))
    said = json.loads(Path(f"{path}.manifest.json").read_text("utf-8"))
    tally.add(said["seal"])
    return tally.result("table", replace(_nothing(None, said["records"]), head=Head(said["seq"], said["head"])), 0)


# checkpoints


def store_id(store: AuditStore) -> str:
    """The id that a store was given with its first record; where that was removed, a tombstone names it."""
    first = store.database.rows(f"SELECT id FROM {RECORD} WHERE seq = 1 AND kind = 'store'")  # noqa: S608
    if first:
        return str(first[0][0])
    sql = f"SELECT meta FROM {RECORD} WHERE kind = 'tombstone' ORDER BY seq DESC"  # noqa: S608
    named = [str(found) for row in store.database.rows(sql) if (found := json.loads(row[0]).get("store"))]
    if not named:
        raise BackendError(f"{store.database.name} has lost its first record: run `stillme audit verify`")
    return named[0]


def checkpoint_of(store: AuditStore) -> Checkpoint:
    """The end of the chain as it is now, to be kept where whoever can write the store cannot."""
    store.prepare()
    rows = store.database.rows(f"SELECT seq, hash, seal FROM {RECORD} ORDER BY seq DESC LIMIT 1")  # noqa: S608
    seq, hash_, seal = rows[0]
    if seal is None:
        raise BackendError(
            f"record {seq}, the last of {store.database.name}, is not sealed: run `stillme audit verify`"
        )
    return Checkpoint(store_id(store), seq, hash_, instant(), seal)


def checkpoint_line(checkpoint: Checkpoint) -> str:
    """A checkpoint as the line that `Checkpoint.parse` reads."""
    names = ("store", "seq", "hash", "at", "seal")
    return compact({name: getattr(checkpoint, name) for name in names})

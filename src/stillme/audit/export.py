"""A store as a file: JSON lines that can be verified and restored without the database; CSV and Parquet for analysis.

JSON lines: a header, the records, the policies they were judged by, and a last line with the SHA-256 of all before it.
Meta and body stand in a record as the JSON they are; their digests are over exactly those characters. Beside a CSV or
Parquet file stands a manifest with its SHA-256, sealed; `stillme audit verify` checks either.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from stillme.audit.chain.integrity import Checkpoint, ChosenVerifier, Fault, Verification, Verifier
from stillme.audit.chain.record import COLUMNS, Body, Entry, Record, compact, instant, sha256, storable
from stillme.audit.chain.seals import Keyring
from stillme.audit.query import Filter
from stillme.audit.store import AuditStore
from stillme.errors import BackendError, InputError, shown
from stillme.storage.audit.database import POLICY, RECORD
from stillme.version import __version__

__all__ = [
    "Exported",
    "export_csv",
    "export_jsonl",
    "export_parquet",
    "manifest_of",
    "policies_of",
    "read_export",
    "restore",
    "verify_export",
    "verify_manifest",
]

FORMAT: Final = "stillme-audit-export-1"
NO_EXPORT: Final = "is no audit export: make one with `stillme audit export`"
BATCH: Final = 500
_PLAIN: Final = tuple(name for name in COLUMNS if name != "meta")
_META, _BODY = ',"meta":', ',"body":'
# What a text that is not JSON, or not of the expected shape, may lead to.
_Written = TypeVar("_Written")
_MISREAD: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Exported:
    """An export as it was read: the whole chain, or chosen records of it; the records can be read once."""

    is_whole: bool
    policies: Mapping[str, str]
    records: Iterable[Record]
    digest: str
    seal: str


def policies_of(store: AuditStore) -> dict[str, str]:
    """Every policy that the store keeps, by digest."""
    return dict(store.database.rows(f"SELECT digest, text FROM {POLICY} ORDER BY digest"))  # noqa: S608  (a constant)


# writing


def export_jsonl(store: AuditStore, out: IO[bytes], wanted: Filter | None = None) -> int:
    """Write records as JSON lines; how many. Without a filter it is the whole chain, and can be verified as such."""
    store.key.seal("")  # a key that cannot seal is told before the work, not after it
    digest = hashlib.sha256()
    count = 0
    for line in _lines(store, wanted):
        encoded = (line + "\n").encode()
        digest.update(encoded)
        out.write(encoded)
        count += line.startswith('{"seq":')
    out.write(_last_line(digest.hexdigest(), count, store.key.seal(digest.hexdigest())))
    return count


def _lines(store: AuditStore, wanted: Filter | None) -> Iterator[str]:
    head = store.head()
    whole = wanted is None or wanted == Filter()
    header = {"export": FORMAT, "version": __version__, "at": instant(), "whole": whole}
    yield compact({**header, "seq": head.seq, "head": head.hash})
    policies: set[str] = set()
    for record in store.records(wanted):
        if record.seq <= head.seq:
            yield line_of(record)
            policies |= {record.entry.policy} if record.entry and record.entry.policy else set()
    _check_unchanged(store, head.seq)
    for digest, text in policies_of(store).items():
        if digest in policies:
            yield compact({"policy": digest, "text": text})


def _check_unchanged(store: AuditStore, last: int) -> None:
    """What was erased or removed while it was being read would stand in the export against what its records say."""
    sql = f"SELECT id FROM {RECORD} WHERE seq > ? AND kind IN ('erasure', 'tombstone') LIMIT 1"  # noqa: S608
    if rows := store.database.rows(sql, [last]):
        raise BackendError(f"{rows[0][0]} took records or texts out of {store.database.name} meanwhile: export again")


def _last_line(digest: str, count: int, seal: str) -> bytes:
    return (compact({"end": digest, "records": count, "seal": seal}) + "\n").encode("utf-8", "surrogatepass")


def line_of(record: Record) -> str:
    """A record as one line of an export."""
    entry = record.entry
    body = entry.body if entry else None
    plain = {name: getattr(entry, name) for name in _PLAIN} if entry else None
    start = _written(
        record,
        lambda: compact(
            {
                "seq": record.seq,
                "digest": record.digest,
                "hash": record.hash,
                "seal": record.seal,
                "salt": body.salt if body else None,
                "columns": plain,
                "meta_chars": len(entry.meta) if entry else len("null"),
            }
        ),
    )
    return f"{start[:-1]}{_META}{entry.meta if entry else 'null'}{_BODY}{body.text if body else 'null'}}}"


def _written(record: Record, write: Callable[[], _Written]) -> _Written:
    """What `write` makes of a record; one that was tampered with may be nothing that can be written."""
    try:
        return write()
    except _MISREAD:
        raise BackendError(f"record {record.seq} cannot be read: run `stillme audit verify`") from None


# reading


def record_of(line: str) -> Record:
    """The record that a line holds, its meta and body as the very characters that were hashed; one of `_MISREAD` if none."""
    # Inside a JSON text a quotation mark is escaped, so this can only be the key itself.
    at = line.index(_META)
    start = json.loads(line[:at] + "}")
    begin = at + len(_META)
    end = begin + start["meta_chars"]
    if not (line.startswith(_BODY, end) and line.endswith("}")):
        raise ValueError("no body")
    meta, body = line[begin:end], line[end + len(_BODY) : -1]
    seq, digest, hash_, seal, salt = (start[name] for name in ("seq", "digest", "hash", "seal", "salt"))
    if not (type(seq) is int and isinstance(digest, str) and isinstance(hash_, str) and isinstance(seal, str | None)):
        raise TypeError("no place in a chain")
    kept = Body(body, salt) if salt is not None else None
    if kept is None and body != "null":
        raise ValueError("texts without a salt")
    columns = start["columns"]
    if columns is None and (kept is not None or meta != "null"):
        raise ValueError("texts without a record")
    entry = Entry(**{name: columns[name] for name in _PLAIN}, meta=meta, body=kept) if columns is not None else None
    return Record(seq, entry, digest, hash_, seal)


class _File:
    """One pass over an export; what it says besides its records is known when they are through."""

    def __init__(self, path: str) -> None:
        self.name = shown(path)
        self._path = Path(path)
        self.header: dict[str, Any] = {}
        self.policies: dict[str, str] = {}
        self.count = 0
        self.digest = ""
        self.seal = ""
        self._end = b""

    def begin(self) -> None:
        """Read the header; InputError where the file has none."""
        with self._opened() as file:
            self._take(1, file.readline())

    def records(self) -> Iterator[Record]:
        """The records, one after the other; InputError at a line that is none."""
        for number, line in self._record_lines():
            try:
                yield record_of(line.decode().removesuffix("\n"))
            except _MISREAD:
                raise InputError(f"line {number} of {self.name} is no record") from None

    def scan(self) -> None:
        """Read all but the records."""
        for _ in self._record_lines():
            pass

    def _record_lines(self) -> Iterator[tuple[int, bytes]]:
        digest = hashlib.sha256()
        with self._opened() as file:
            line = file.readline()
            for number, following in enumerate(file, 1):
                digest.update(line)
                if number > 1 and line.startswith(b'{"seq":') and not self.policies:
                    self.count += 1
                    yield number, line
                else:
                    self._take(number, line)
                line = following
        self.digest, self._end = digest.hexdigest(), line

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with self._path.open("rb") as file:
                yield file
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise InputError(f"{self.name} cannot be read: {getattr(error, 'strerror', None) or error}") from None

    def _take(self, number: int, line: bytes) -> None:
        """A line that is no record: the header, or a policy."""
        try:
            found = json.loads(line.decode())
            if number == 1 and found["export"] == FORMAT and type(found["whole"]) is bool and type(found["seq"]) is int:
                self.header = found
                return
            if number > 1 and isinstance(found["policy"], str) and isinstance(found["text"], str):
                self.policies[found["policy"]] = found["text"]
                return
        except _MISREAD:
            pass
        raise InputError(f"{self.name} {f'was changed in line {number}' if self.header else NO_EXPORT}")

    def broken_frame(self) -> str | None:
        """What is wrong with the file besides its records, after a pass; `seal` is known then."""
        try:
            self.seal = json.loads(self._end)["seal"]
            is_as_written = self._end == _last_line(self.digest, self.count, self.seal)
        except _MISREAD:
            is_as_written = False
        if is_as_written and isinstance(self.seal, str):
            return None
        return f"{self.name} was changed or cut: its last line is not the one that belongs to what is above it"


def read_export(path: str) -> Exported:
    """An export file, its every byte checked against its last line before any record is believed."""
    file = _File(path)
    file.begin()
    try:
        file.scan()
    except InputError as error:
        raise InputError(_why_broken(path, str(error))) from None
    if problem := file.broken_frame():
        raise InputError(_why_broken(path, problem))
    return Exported(file.header["whole"], file.policies, _File(path).records(), file.digest, file.seal)


def _why_broken(path: str, problem: str) -> str:
    """The problem of a file, with the first record that it shows in."""
    found = verify_export(path, Keyring()).fault
    return f"{problem}; {found}" if found and found.seq else problem


def verify_export(
    path: str,
    keys: Keyring,
    checkpoints: Iterable[Checkpoint] = (),
    follow: Callable[[Record], None] = lambda _: None,
) -> Verification:
    """Check an export without its database: every record, and every byte; InputError for what never was an export."""
    file = _File(path)
    file.begin()
    verifier = Verifier(keys, checkpoints) if file.header["whole"] else ChosenVerifier(keys, checkpoints)
    try:
        for record in file.records():
            verifier.take(record)
            follow(record)
    except InputError as error:
        verifier.fault = verifier.fault or Fault(_next(file, verifier), None, str(error))
        return verifier.result(None)
    found = verifier.result(file.policies)
    return replace(found, fault=found.fault or _frame_fault(file, found, keys))


def _next(file: _File, verifier: Verifier) -> int:
    """The place of the record that should stand where the file cannot be read; 0 if it had them all."""
    after = verifier.head.seq + 1
    return after if after <= file.header["seq"] and not file.policies else 0


def _frame_fault(file: _File, found: Verification, keys: Keyring) -> Fault | None:
    if problem := file.broken_frame():
        return Fault(0, None, problem)
    state = keys.check(file.digest, file.seal) if keys.keys else "good"
    if state != "good":
        key = shown(file.seal.rpartition(":")[0])
        why = "is false" if state == "bad" else f"is of the key {key}, which was not given"
        return Fault(0, None, f"the seal of the export {why}")
    if file.header["whole"] and file.header["head"] != found.head.hash:
        return Fault(found.head.seq + 1, None, f"the export says that it has records up to {shown(file.header['seq'])}")
    return None


def restore(store: AuditStore, path: str, keys: Keyring | None = None) -> int:
    """Fill an empty store with the whole chain of an export, which is verified first; how many records."""
    found = verify_export(path, keys or store.keyring)
    if found.fault is not None:
        raise InputError(f"{shown(path)} is not restored: {found.fault}")
    exported = read_export(path)
    if not exported.is_whole:
        raise InputError(f"{shown(path)} holds chosen records: only the export of a whole store can be restored")

    def batches() -> Iterator[list[Record]]:
        records = iter(exported.records)
        last = None
        while batch := list(islice(records, BATCH)):
            yield batch
            last = batch[-1].head
        if last != found.head:
            raise InputError(f"{shown(path)} changed while it was restored: nothing was taken over")

    return store.restore(batches(), dict(exported.policies))


# for analysis

_FLAT: Final = ("seq", *_PLAIN, "hash", "query", "draft_answer", "safe_response", "max_similarity", "elapsed_ms")
_INTEGERS: Final = frozenset({"seq", "verified"})
_NUMBERS: Final = frozenset({"max_similarity", "elapsed_ms"})
# What a spreadsheet takes for the beginning of a formula, and the sign that keeps it from doing so.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def _flat(record: Record) -> dict[str, Any]:
    """A record as one row: its columns, and of its texts the question, the draft and the response."""
    entry = record.entry
    row: dict[str, Any] = dict.fromkeys(_FLAT)
    row |= {"seq": record.seq, "hash": record.hash}
    if entry is None:
        return row
    row |= {name: getattr(entry, name) for name in _PLAIN}
    row["reasons"] = (entry.reasons or "").strip() or None
    if entry.kind == "verdict":
        metrics = json.loads(entry.meta)["metrics"]
        row |= {name: metrics[name] for name in _NUMBERS}
    if entry.kind in ("verdict", "opening") and entry.body:
        texts = json.loads(entry.body.text)
        said = {**texts["request"], "safe_response": texts.get("safe_response")}
        for name in ("query", "draft_answer", "safe_response"):
            row[name] = storable(said[name]) if said.get(name) is not None else None
    return row


def export_csv(store: AuditStore, out: IO[str], wanted: Filter | None = None) -> int:
    """Write records as CSV, one row each; how many. `out` is open without newline translation (`newline=""`).

    A text that a spreadsheet would take for a formula has an apostrophe before it, as has one with an apostrophe: whoever
    reads the file takes one away from each text that begins with one.
    """
    writer = csv.DictWriter(out, _FLAT)
    writer.writeheader()
    count = 0
    for record in store.records(wanted):
        row = _written(record, partial(_flat, record))
        writer.writerow({name: _cell(value) for name, value in row.items()})
        count += 1
    return count


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def export_parquet(store: AuditStore, path: str, wanted: Filter | None = None) -> int:
    """Write records as Parquet; how many. Needs the package pyarrow."""
    try:
        import pyarrow as arrow  # noqa: PLC0415  (an extra)
        import pyarrow.parquet as parquet  # noqa: PLC0415
    except ImportError:
        raise BackendError("Parquet needs the package pyarrow: pip install 'stillme[parquet]'") from None
    kinds = {**dict.fromkeys(_INTEGERS, arrow.int64()), **dict.fromkeys(_NUMBERS, arrow.float64())}
    schema = arrow.schema([(name, kinds.get(name, arrow.string())) for name in _FLAT])
    records, count = store.records(wanted), 0
    with parquet.ParquetWriter(path, schema) as writer:
        while rows := [_written(record, partial(_flat, record)) for record in islice(records, BATCH)]:
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def manifest_of(store: AuditStore, path: str, count: int) -> Path:
    """Write the manifest beside an exported file: what it holds and its SHA-256, sealed with the key of the store."""
    head = store.head()
    digest = _file_sha256(Path(path))
    said = {"file": Path(path).name, "sha256": digest, "records": count, "seq": head.seq, "head": head.hash}
    said |= {"at": instant(), "version": __version__}
    target = Path(f"{path}.manifest.json")
    target.write_text(compact({**said, "seal": store.key.seal(sha256(compact(said)))}) + "\n", encoding="utf-8")
    return target


def verify_manifest(path: str, keys: Keyring) -> str | None:
    """What is wrong with a CSV or Parquet export, by the manifest beside it; None if nothing is.

    Without a key its seal is not checked: then whoever changed the file may have changed the manifest too.
    """
    beside = Path(f"{path}.manifest.json")
    try:
        text = beside.read_bytes().decode()
        said = json.loads(text)
        seal = said.pop("seal")
    except FileNotFoundError:
        raise InputError(
            f"there is no manifest {shown(str(beside))}: only an export with one can be verified"
        ) from None
    except (OSError, *_MISREAD):
        return "its manifest cannot be read"
    if text != compact({**said, "seal": seal}) + "\n":
        return "its manifest was changed"
    if keys.keys and keys.check(sha256(compact(said)), seal) != "good":
        return "the seal of its manifest is false, or of a key that was not given"
    if said.get("file") != Path(path).name:
        return f"its manifest is of the file {shown(said.get('file'))}"
    return None if _file_sha256(Path(path)) == said.get("sha256") else "it is not the file that its manifest describes"


def _file_sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{shown(str(path))} cannot be read: {error.strerror or error}") from None

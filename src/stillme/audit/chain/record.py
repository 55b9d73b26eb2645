"""One entry of the audit trail, and the hashes that tie it to the one before it.

digest = SHA-256 of what the record says (its columns and its meta text)
hash   = SHA-256 of its place, whether it is sealed, the hash of the record before it, and its digest
A body (the texts) is tied in by `body_digest`, a salted hash among the columns: it can be erased, the chain stays whole.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final, Literal

__all__ = [
    "COLUMNS",
    "ZERO",
    "Body",
    "Entry",
    "Head",
    "Kind",
    "Record",
    "chained",
    "compact",
    "from_word",
    "instant",
    "is_well_formed",
    "link",
    "one_word",
    "sha256",
    "storable",
]

Kind = Literal["store", "verdict", "opening", "review", "appeal", "erasure", "tombstone", "promotion", "policy"]
ZERO: Final = "0" * 64
FORMAT: Final = "stillme-audit-1"


def sha256(text: str) -> str:
    """SHA-256 of a text in hexadecimal; a lone surrogate counts as itself."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ASCII_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def compact(value: Any) -> str:
    """JSON on one line, the same text for the same value; a lone surrogate is escaped, so any database takes it."""
    text = _ENCODER.encode(value)
    return text if is_well_formed(text) else _ASCII_ENCODER.encode(value)


def is_well_formed(text: str) -> bool:
    """Whether the text can be written as UTF-8: it has no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str) -> str:
    """The text as any database takes it: no NUL, no lone surrogate; both are written out instead."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def one_word(text: str) -> str:
    """A text as one word of a list that spaces divide, whatever is in it; `from_word` gives it back."""
    if text.isidentifier() and text.isascii():
        return text
    return "".join(f"%{ord(c):X};" if c in "%\0" or c.isspace() or "\ud800" <= c <= "\udfff" else c for c in text)


def from_word(word: str) -> str:
    """The text that a word of a list stands for."""
    return _CODED.sub(lambda found: chr(int(found[1], 16)), word)


_CODED: Final = re.compile("%([0-9A-F]{1,6});")


def instant(moment: datetime | None = None) -> str:
    """A point in time as records write it: UTC, microseconds, sortable as text."""
    return f"{(moment or datetime.now(UTC)).astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


@dataclass(frozen=True, slots=True)
class Body:
    """The texts of a record, as JSON, with the salt that keeps their digest from being guessed."""

    text: str
    salt: str

    @classmethod
    def of(cls, text: str, salt: str | None = None) -> Body:
        """A body with a salt of its own."""
        return cls(text, salt or secrets.token_hex(16))

    @property
    def digest(self) -> str:
        """What the record remembers of its body."""
        return sha256(_framed((self.salt, self.text)))


@dataclass(frozen=True, slots=True)
class Entry:
    """What a record says, before it has a place in the chain.

    `COLUMNS` go into its digest. `body` and `policy_text` travel with it and are stored beside it, tied in by
    `body_digest` and `policy`.
    """

    kind: Kind
    id: str
    at: str
    meta: str
    ref: str | None = None
    label: str | None = None
    decision: str | None = None
    action: str | None = None
    mode: str | None = None
    band: str | None = None
    verified: int | None = None
    language: str | None = None
    domain: str | None = None
    session: str | None = None
    caller: str | None = None
    request_id: str | None = None
    reasons: str | None = None
    policy: str | None = None
    model: str | None = None
    version: str | None = None
    body_digest: str | None = None
    body: Body | None = None
    policy_text: str | None = None

    @property
    def values(self) -> list[Any]:
        """The values of `COLUMNS`, in order."""
        return list(_values(self))

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the record says outside its body."""
        return sha256(_framed(_values(self)))


def _framed(values: Iterable[str | int | None]) -> str:
    """Values with their lengths before them: no two lists of values give the same text."""
    return "".join(
        ["-," if v is None else f"{len(v)}:{v}," if isinstance(v, str) else f"#{v}," for v in values]  # fast in a list
    )


# In the order of the fields, so that `Entry(*values, body)` is the entry with those values and that body.
COLUMNS: Final = tuple(field.name for field in fields(Entry) if field.name not in ("body", "policy_text"))
_values: Final = attrgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain."""

    seq: int = 0
    hash: str = ZERO


@dataclass(frozen=True, slots=True)
class Record:
    """An entry in its place; `entry` is None where retention removed it and left only its hashes."""

    seq: int
    entry: Entry | None
    digest: str
    hash: str
    seal: str | None = None

    @property
    def head(self) -> Head:
        """The end of the chain as long as nothing follows."""
        return Head(self.seq, self.hash)

    def follows(self, before: str) -> bool:
        """Whether its hash is the one that it has after a record with the hash `before`, with its seal or without one."""
        return self.hash == chained(self.seq, before, self.digest, sealed=self.seal is not None)


def chained(seq: int, before: str, digest: str, *, sealed: bool) -> str:
    """The hash of a record: its place, whether it is sealed, the hash before it, its digest."""
    return sha256(f"{FORMAT}:{seq}:{'sealed' if sealed else 'open'}:{before}:{digest}")


def link(head: Head, entries: Sequence[Entry]) -> list[Record]:
    """The entries as the records that follow `head`; the last of them is to be sealed, and its hash says so."""
    records: list[Record] = []
    seq, before, last = head.seq, head.hash, head.seq + len(entries)
    for entry in entries:
        seq, digest = seq + 1, entry.digest
        before = chained(seq, before, digest, sealed=seq == last)
        records.append(Record(seq, entry, digest, before))
    return records

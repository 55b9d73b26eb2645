"""What makes a search for a text quick without keeping a copy of any: of every so many records in a row, which words cannot be in them.

A signature is a Bloom filter over the words of the texts, without case and accents, and over the values that records are filtered by.
A block whose signature lacks a word that is looked for is not read. Signatures are made behind the writers, by `Signing`, from what
stands in the store; they are no part of the chain. Erasing a text takes the signature of its block away; the next one is made without it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from stillme.audit.chain.record import Entry, Record
from stillme.audit.query import records, texts_of
from stillme.audit.store import AuditStore
from stillme.errors import BackendError
from stillme.storage.audit.database import BODY, RECORD, SIGNATURE, Writing
from stillme.text.tokens import fold_text

__all__ = ["BLOCK", "COLUMNS", "Signing", "block_of", "candidates", "folded_words", "named", "score_of", "written_text"]

BLOCK: Final = 128
BITS: Final = 32_768
HASHES: Final = 8
WORD: Final = re.compile(r"[^\W_]+")
COLUMNS: Final = ("decision", "action", "mode", "language", "caller", "band", "domain", "session", "request_id")
HEX: Final = "0123456789abcdef"
SET: Final = [tuple(digit for digit in HEX if int(digit, 16) >> bit & 1) for bit in range(4)]
"""The hexadecimal digits that have a bit set."""
# How many signatures one transaction writes, and how many blocks are looked at while the store grows.
TOGETHER: Final = 16
EVERY_S: Final = 5.0
FACTUAL: Final = ("supported", "contradicted", "unsupported")
_Signed = tuple[tuple[int, str, str, str], int]
"""A row of the table, and how many texts it was made from."""
log = logging.getLogger("stillme.audit")


def block_of(seq: int) -> int:
    """The block that a record belongs to."""
    return seq // BLOCK


def folded_words(text: str) -> list[str]:
    """The words of a text as they are compared: without case and accents."""
    return WORD.findall(fold_text(text))


def named(name: str, value: str) -> str:
    """A value of a filter, as no word reads."""
    return f"{name}={value}"


def score_of(record: Record) -> float | None:
    """How well the weakest factual claim of a verdict is supported; None where there is no such claim."""
    if record.entry is None:
        return None
    claims = json.loads(record.entry.meta).get("claims", ())
    return min((claim[3] for claim in claims if claim[2] in FACTUAL and claim[3] is not None), default=None)


def written_text(entry: Entry) -> str:
    """The texts of a record or, where that is as good and quicker, the JSON that they stand in: the names of its keys do no harm."""
    body = entry.body.text if entry.body else ""
    # What stands behind such a sign is only known once it is read; hashes are no words.
    if "\\\\" in body or "\\u" in body or '"hashed"' in entry.meta:
        return texts_of(entry)
    for escape in ("\\n", "\\t", "\\r", "\\b", "\\f", '\\"'):
        body = body.replace(escape, " ")
    return body


def tokens_of(record: Record) -> set[str]:
    """Everything that a verdict can be found by."""
    entry = record.entry
    if entry is None or entry.kind != "verdict":
        return set()
    found = set(folded_words(written_text(entry)))
    found |= {named(name, str(value)) for name in COLUMNS if (value := getattr(entry, name))}
    return found | {named("reason", code) for code in (entry.reasons or "").split()}


# signatures


def _places(token: str) -> list[int]:
    """Which bits stand for a token."""
    digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=2 * HASHES).digest()
    return [int.from_bytes(digest[n : n + 2]) % BITS for n in range(0, 2 * HASHES, 2)]


def _signature(tokens: Iterable[str]) -> str:
    bits = bytearray(BITS // 8)
    for token in tokens:
        for place in _places(token):
            bits[place // 8] |= 1 << (7 - place % 8)
    return bits.hex()


def _test(place: int) -> str:
    """In SQL, that a bit is set."""
    digits = ",".join(f"'{digit}'" for digit in SET[3 - place % 4])
    return f"substr(bits, {place // 4 + 1}, 1) IN ({digits})"


def candidates(
    store: AuditStore, tokens: Sequence[str], first: int, last: int, since: str = "", until: str = ""
) -> set[int]:
    """The blocks from `first` to `last` that may hold a record with all these tokens in that time: those without a signature too."""
    # The first bit of every token before the second one of any: which token is rare is not known, and one bit of it is mostly enough.
    turns = zip(*(_places(token) for token in sorted(tokens, key=len, reverse=True)), strict=True)
    tests = dict.fromkeys(_test(place) for turn in turns for place in turn)
    times = ["until >= ?"] * bool(since) + ["since < ?"] * bool(until)
    values = [*([since] if since else []), *([until] if until else []), first, last]
    may = " AND ".join([*times, *tests]) or "1 = 1"
    sql = f"SELECT block, CASE WHEN {may} THEN 1 ELSE 0 END FROM {SIGNATURE} WHERE block >= ? AND block <= ?"  # noqa: S608
    found = dict(store.database.rows(sql, values))
    return {block for block in range(first, last + 1) if found.get(block, 1)}


class Signing:
    """Makes the signatures that are missing, the newest first, whenever the store has grown; what fails is logged and tried again.

    `wait` waits so many seconds and says whether to stop.
    """

    def __init__(self, store: AuditStore, wait: Callable[[float], bool] | None = None) -> None:
        self._store = store
        self._stopping = threading.Event()
        self._wait = wait or self._stopping.wait
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="signatures", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; whatever is missing is made another time."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def run(self) -> None:
        """Until it is stopped."""
        while not self._stopping.is_set():
            try:
                self.make()
            except BackendError as error:
                log.warning("searches read more than they need to: %s", error)
            if self._wait(EVERY_S):
                return

    def make(self) -> int:
        """Sign every block that is complete and has no signature; how many those were."""
        made = 0
        for some in _portions(self._missing(), TOGETHER):
            if self._stopping.is_set():
                break
            signed = [self._signed(block) for block in some]
            self._store.database.write(partial(_put, signed=signed))
            made += len(signed)
        return made

    def _missing(self) -> list[int]:
        rows = self._store.database.rows(f"SELECT (SELECT min(seq) FROM {RECORD}), (SELECT max(seq) FROM {RECORD})")  # noqa: S608
        if not rows or rows[0][0] is None:
            return []
        first, last = rows[0]
        known = {row[0] for row in self._store.database.rows(f"SELECT block FROM {SIGNATURE}")}  # noqa: S608
        # A block is complete when the next one has begun.
        return [block for block in range(block_of(last) - 1, block_of(first) - 1, -1) if block not in known]

    def _signed(self, block: int) -> _Signed:
        found = list(records(self._store.database, after=block * BLOCK - 1, upto=block * BLOCK + BLOCK - 1))
        times = [record.entry.at for record in found if record.entry and record.entry.kind == "verdict"]
        tokens = {token for record in found for token in tokens_of(record)}
        row = (block, min(times, default=""), max(times, default=""), _signature(tokens))
        return row, sum(bool(record.entry and record.entry.body) for record in found)


def _put(writing: Writing, signed: Sequence[_Signed]) -> None:
    """Write signatures, but for blocks that lost a text since they were read; another process may have been faster."""
    sql = f"INSERT INTO {SIGNATURE} (block, since, until, bits) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
    left = f"SELECT count(*) FROM {BODY} WHERE seq >= ? AND seq < ?"  # noqa: S608
    for row, texts in signed:
        if writing.rows(left, [row[0] * BLOCK, row[0] * BLOCK + BLOCK])[0][0] == texts:
            writing.rows(sql, row)


def _portions(blocks: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(blocks), size):
        yield blocks[start : start + size]

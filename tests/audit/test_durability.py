"""A verdict that was returned is never lost: processes are killed at random moments, and what they returned is counted.

One process imports everything once, has no threads, and forks for every test one that forks the victims.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.retention import erase, prune
from stillme.errors import BackendError
from stillme.guard import Occurrence
from stillme.policy.sections import Retention
from tests.audit.conftest import KEY, occurrence, request
from tests.conftest import MEMORY
from tests.soak import rounds
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
Say = Callable[[str], None]
Result = dict[str, Any]
RULES: dict[str, Any] = {"grounding": {"model": "none"}}
"""Who is killed has no model to load, and whoever forks has no threads of one."""


# what runs in a process of its own


class Victim:
    """A forked process that says names while it works, until it is done or killed."""

    def __init__(self, work: Callable[[Say], None]) -> None:
        self._pipe, says = os.pipe()
        self._heard = b""
        self._pid = os.fork()
        if self._pid == 0:
            self._live(work, says)
        os.close(says)

    @staticmethod
    def _live(work: Callable[[Say], None], says: int) -> None:
        def say(name: str) -> None:
            os.write(says, f"{name}\n".encode())  # short enough to be written whole or not at all

        try:
            work(say)
        except BaseException:
            say(f"! {traceback.format_exc()[-1500:]!r}")
            os._exit(1)
        os._exit(0)

    def listen(self, names: int, timeout_s: float) -> None:
        """Return when so many names were heard, or when the time is up."""
        until = time.monotonic() + timeout_s
        while self._heard.count(b"\n") < names:
            if not select.select([self._pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                return
            if not self._hear():
                return

    def linger(self, seconds: float) -> None:
        """Let it go on for a moment, so that it is killed wherever it then is."""
        self.listen(sys.maxsize, seconds)

    def end(self, kill: bool = True) -> list[str]:
        """Kill it, or let it finish; every name that it said."""
        if kill:
            os.kill(self._pid, signal.SIGKILL)
        while self._hear():
            pass
        os.close(self._pipe)
        os.waitpid(self._pid, 0)
        return self._heard.decode().splitlines()

    def _hear(self) -> bool:
        heard = os.read(self._pipe, 65536)
        self._heard += heard
        return bool(heard)


def anew(given: Occurrence) -> Occurrence:
    """The same verdict under a trace of its own."""
    return replace(given, verdict=given.verdict.model_copy(update={"validator_trace_id": f"trace-{uuid4()}"}))


class Load:
    """Verdicts to record, made ready before the first fork."""

    def __init__(self, policy: Any = None) -> None:
        self.store: AuditStore | None = None
        self._guard = Guard({**RULES, **(policy or {})}, audit=self)
        self._given = occurrence({**RULES, **(policy or {})})
        with tempfile.TemporaryDirectory() as name, AuditStore(f"{name}/audit.db") as self.store:
            self._verify()  # what is made once in a process is made before the first fork
        gc.freeze()

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """What the guard calls."""
        if self.store is not None:
            self.store.record(occurrences)

    def run(self, store: AuditStore, say: Say) -> None:
        """Record without end from four threads, one of them through a guard, and say each trace that was returned."""
        self.store = store

        def watched(step: Callable[[], str]) -> None:
            try:
                while True:
                    say(step())
            except BaseException:
                say(f"! {traceback.format_exc()[-1500:]!r}")

        threads = [threading.Thread(target=watched, args=(s,)) for s in (self._verify, *[self._record] * 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _verify(self) -> str:
        return str(self._guard.verify(request()).validator_trace_id)

    def _record(self) -> str:
        one = anew(self._given)
        self.record([one])
        return str(one.verdict.validator_trace_id)


def drawn(seed: int) -> random.Random:
    """The moments of a run, which its seed gives back."""
    return random.Random(seed)  # noqa: S311


def opened(location: str, folder: str, **options: Any) -> AuditStore:
    return AuditStore(location, **{"key": KEY, "journal": Path(folder) / "journal", **options})


class Count:
    """What was returned and what was found, over all victims."""

    def __init__(self) -> None:
        self.kills = 0
        self.returned: set[str] = set()
        self.problems: list[str] = []

    def hear(self, names: list[str]) -> None:
        """Take down what a victim said until it was killed."""
        self.kills += 1
        self.returned |= {name for name in names if name.startswith("trace-")}
        self.problems += [name for name in names if name.startswith("!")]

    def check(self, store: AuditStore, returned: set[str]) -> None:
        """The store is valid and has each trace that was returned exactly once."""
        store.prepare()
        found = Counter(row[0] for row in store.database.rows("SELECT id FROM stillme_audit_record"))
        self.problems += [f"lost {name}" for name in returned if name not in found]
        self.problems += [f"twice {name}" for name, times in found.items() if times > 1]
        fault = verify_store(store).fault
        self.problems += [f"invalid: {fault}"] if fault else []

    def result(self, **more: Any) -> Result:
        """What the test gets."""
        return {"kills": self.kills, "returned": len(self.returned), "problems": self.problems[:5], **more}


def killed_while_recording(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """Victims record into one store after the other; after each kill the store is verified and counted."""
    draw, count, load = drawn(seed), Count(), Load()
    each = kills // len(locations)
    for location in locations:
        returned: set[str] = set()
        for _ in range(each):
            victim = Victim(lambda say, at=location: load.run(opened(at, folder), say))  # type: ignore[misc]
            victim.listen(draw.randrange(12), draw.choice([0.005, 2.0]))
            victim.linger(draw.uniform(0, 0.003))
            names = victim.end()
            count.hear(names)
            returned |= {name for name in names if name.startswith("trace-")}
            with opened(location, folder) as store:
                count.check(store, returned)
    return count.result()


def killed_while_spooling(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """The store is out of reach; what its victims spooled is in the chain once it is back."""
    draw, count, load = drawn(seed), Count(), Load({"audit": {"on_failure": "spool"}})
    for _ in range(kills):
        victim = Victim(lambda say: load.run(opened(f"{folder}/missing/audit.db", folder), say))
        victim.listen(draw.randrange(1, 12), 2.0)
        victim.linger(draw.uniform(0, 0.003))
        count.hear(victim.end())
    with opened(locations[0], folder) as store:
        waiting = store.journal.pending()
        drained = store.drain()
        count.check(store, count.returned)
        left = store.journal.pending()
    return count.result(all_delivered=drained.delivered == waiting, damaged=len(drained.damaged), left=left)


def killed_while_draining(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """A journal is drained by victims until one of them comes to the end."""
    draw, count, given = drawn(seed), Count(), occurrence({**RULES, "audit": {"on_failure": "spool"}})
    for _ in range(rounds(8, 2)):
        with opened(f"{folder}/missing/audit.db", folder) as unreachable:
            ones = [anew(given) for _ in range(250)]
            unreachable.record(ones)
            count.returned |= {str(one.verdict.validator_trace_id) for one in ones}

    def drain(say: Say) -> None:
        with opened(locations[0], folder) as store:
            say("begun")
            store.drain()
            say("done")

    is_done = False
    while not is_done and count.kills < kills:
        victim = Victim(drain)
        victim.listen(1, 5.0)
        victim.listen(2, draw.uniform(0, 0.02) * (1 + count.kills / 4))
        names = victim.end()
        count.hear(names)
        is_done = "done" in names
    with opened(locations[0], folder) as store:
        store.drain()
        count.check(store, count.returned)
        left = store.journal.pending()
    return count.result(left=left)


def killed_while_removing(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """Erasures and removals take place wholly or not at all."""
    draw, count, given = drawn(seed), Count(), occurrence(RULES)
    outcomes: Counter[str] = Counter()
    for number in range(kills):
        location = locations[number % len(locations)]
        with opened(location, folder) as store:
            store.record([anew(given) for _ in range(40)])
            before = _sizes(store)

        def remove(say: Say, at: str = location, erases: bool = number % 2 == 0) -> None:
            with opened(at, folder) as store:
                store.prepare()
                say("begun")
                if erases:
                    erase(store, Filter(session="session-1"), who="a person", why="a request")
                else:
                    later = datetime.now(UTC) + timedelta(days=2)
                    prune(store, Retention.model_validate({"verdict": {"days": 1}}), later)

        victim = Victim(remove)
        victim.listen(1, 5.0)
        victim.linger(draw.uniform(0, 0.012))
        count.hear(victim.end())
        with opened(location, folder) as store:
            count.check(store, set())
            after = _sizes(store)
        is_whole = after == before or after["bodies"] == 0
        outcomes["before" if after == before else "after" if is_whole else "half"] += 1
    return count.result(outcomes=dict(outcomes))


def _sizes(store: AuditStore) -> dict[str, int]:
    queries = {
        "records": "SELECT count(*) FROM stillme_audit_record",
        "contents": "SELECT count(*) FROM stillme_audit_record WHERE kind IS NOT NULL",
        "bodies": "SELECT count(*) FROM stillme_audit_body",
    }
    return {name: store.database.rows(sql)[0][0] for name, sql in queries.items()}


def killed_while_creating(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """Two processes make the same store, with its key where it is a file, and one of them is killed."""
    draw, count, given = drawn(seed), Count(), occurrence(RULES)

    def record_some(say: Say, at: str) -> None:
        with opened(at, folder, **({} if "://" in at else {"key": None})) as store:
            for _ in range(3):
                one = anew(given)
                store.record([one])
                say(str(one.verdict.validator_trace_id))

    for location in locations[:kills]:
        killed, other = (Victim(lambda say, at=location: record_some(say, at)) for _ in range(2))  # type: ignore[misc]
        killed.linger(draw.uniform(0, 0.02))
        names = killed.end()
        count.hear(names)
        others = other.end(kill=False)
        count.problems += [f"the other one stopped: {others}"] if len(others) != 3 else []
        last = Victim(lambda say, at=location: record_some(say, at)).end(kill=False)  # type: ignore[misc]
        with opened(location, folder, **({} if "://" in location else {"key": None})) as store:
            traces = {name for name in (*names, *others, *last) if name.startswith("trace-")}
            count.returned |= traces
            count.check(store, traces)
        count.problems += [name for name in (*others, *last) if name.startswith("!")]
    return count.result()


def killed_while_buffering(locations: list[str], folder: str, kills: int, seed: int) -> Result:
    """One thread records buffered; what a kill takes is the end of what was returned, and the store stays valid."""
    draw, count, given, lost = drawn(seed), Count(), occurrence({**RULES, "audit": {"durability": "buffered"}}), 0

    def record(say: Say, at: str) -> None:
        store = opened(at, folder)
        while True:
            one = anew(given)
            store.record([one])
            say(str(one.verdict.validator_trace_id))

    for number in range(kills):
        location = locations[number % len(locations)]
        before = len(_traces_at(location, folder))
        victim = Victim(lambda say, at=location: record(say, at))  # type: ignore[misc]
        assert eventually(lambda at=location, size=before: len(_traces_at(at, folder)) > size)  # type: ignore[misc]
        victim.linger(draw.uniform(0, 0.05))
        names = victim.end()
        count.hear(names)
        with opened(location, folder) as store:
            count.check(store, set())
        kept = _traces_at(location, folder)
        is_kept = [name in kept for name in names]
        lost += is_kept.count(False)
        count.problems += [] if is_kept == sorted(is_kept, reverse=True) else ["lost in the middle"]
    return count.result(lost=lost)


def _traces_at(location: str, folder: str) -> set[str]:
    with opened(location, folder) as store:
        store.prepare()
        return {row[0] for row in store.database.rows("SELECT id FROM stillme_audit_record")}


def written_together(locations: list[str], folder: str, processes: int, seed: int) -> Result:
    """The processes are forked from one that has the store open, writes, and goes on writing; some are killed."""
    draw, count, load = drawn(seed), Count(), Load()
    with opened(locations[0], folder) as store:
        load.store = store
        count.returned.add(load._record())
        victims = [Victim(lambda say: load.run(store, say)) for _ in range(processes)]
        for number, victim in enumerate(victims):
            count.returned.add(load._record())
            victim.listen(20 + 10 * number, 20.0)
            victim.linger(draw.uniform(0, 0.003))
            count.hear(victim.end())
        count.returned.add(load._record())
        count.check(store, count.returned)
    return count.result()


def forked_and_left_behind(locations: list[str], folder: str, processes: int, seed: int) -> Result:
    """A child goes on after its parent has closed the store and another process was the last, it thinks, to close it."""
    del processes, seed
    count, load = Count(), Load()
    store = load.store = opened(locations[0], folder)
    load._record()

    others_closed, close = os.pipe()

    def record(say: Say) -> None:
        os.close(close)
        say(load._record())
        os.read(others_closed, 1)
        say(load._record())
        say("done")
        signal.pause()

    child = Victim(record)
    child.listen(1, 20.0)
    store.close()

    def record_and_close(say: Say) -> None:
        with opened(locations[0], folder) as load.store:
            say(load._record())

    names = Victim(record_and_close).end(kill=False)
    os.close(close)
    child.listen(3, 20.0)
    count.hear(child.end())
    count.hear(names)
    with opened(locations[0], folder) as store:
        count.check(store, count.returned)
    return count.result()


def forked_while_in_use(locations: list[str], folder: str, processes: int, seed: int) -> Result:
    """A thread of the parent is reading at the moment of the fork, and the child says that it cannot use the store."""
    del processes, seed
    count, load = Count(), Load()
    with opened(locations[0], folder, timeout_s=0.2) as load.store:
        count.returned.add(load._record())
        slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) FROM n"
        thread = threading.Thread(target=load.store.database.rows, args=(slow,))
        thread.start()
        assert eventually(lambda: bool(load.store and load.store.database._reading))  # type: ignore[attr-defined]
        refused = Victim(lambda say: say(load._record())).end(kill=False)
        thread.join()
        count.hear(Victim(lambda say: say(load._record())).end(kill=False))
        count.returned.add(load._record())
        count.check(load.store, count.returned)
    return count.result(refused="was in use when this process was forked off" in "".join(refused))


def interrupted_while_recording(locations: list[str], folder: str, interruptions: int, seed: int) -> Result:
    """Signal handlers raise in the main thread, wherever it is, while four other threads record too."""
    draw, count, load, is_over = drawn(seed), Count(), Load(), threading.Event()
    load.store = store = opened(locations[0], folder)

    def record() -> None:
        while not is_over.is_set():
            try:
                count.returned.add(load._record())
            except BackendError as error:
                count.problems += [] if "interrupted" in str(error) or "cancel" in str(error) else [str(error)]

    threads = [threading.Thread(target=record, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    while count.kills < interruptions:
        count.kills += _interrupted(lambda: count.returned.add(load._record()), draw)
    is_over.set()
    for thread in threads:
        thread.join(20)
    count.problems += ["a thread hangs" for thread in threads if thread.is_alive()]
    count.returned.add(load._record())
    store.close()
    with opened(locations[0], folder) as store:
        count.check(store, count.returned)
    return count.result()


def _interrupted(work: Callable[[], None], draw: random.Random) -> int:
    """Work until a signal breaks it off."""

    def interrupt(*_: object) -> None:
        raise draw.choice([KeyboardInterrupt, SystemExit])

    signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.0005, 0.02))
        while True:
            work()
    except (KeyboardInterrupt, SystemExit):
        return 1


def main() -> None:
    """For each line fork a process that runs one of the above and prints what it found."""
    occurrence(RULES)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            scenario, *rest = json.loads(line)
            try:
                result = globals()[scenario](*rest)
            except BaseException:
                result = {"problems": [traceback.format_exc()]}
            sys.stdout.write(json.dumps(result) + "\n")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


# the tests


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder where fsync costs nothing: a kill leaves the page cache as it is, so it makes no difference here."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def places(engine: str, folder: Path, request: pytest.FixtureRequest) -> Callable[[int], list[str]]:
    """So many locations for new stores: files, or schemas of a real PostgreSQL server."""
    if engine == "sqlite":
        return lambda count: [str(folder / f"audit-{number}.db") for number in range(count)]
    url = str(request.getfixturevalue("postgres_url"))

    def schemas(count: int) -> list[str]:
        names = [f"killed_{uuid4().hex}" for _ in range(count)]
        with psycopg.connect(url, autocommit=True) as connection:
            for name in names:
                connection.execute(f"CREATE SCHEMA {name}")
        return [f"{url}&options=-csearch_path%3D{name}" for name in names]

    return schemas


Run = Callable[[Callable[..., Result], list[str], Path, int], Result]


@pytest.fixture(scope="module")
def nursery() -> Iterator[subprocess.Popen[str]]:
    """A process that has imported everything and has no threads."""
    command = [sys.executable, "-c", "from tests.audit.test_durability import main; main()"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def run(nursery: subprocess.Popen[str]) -> Run:
    """What a scenario found, in a process of its own."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    asks, answers = nursery.stdin, nursery.stdout

    def ask(scenario: Callable[..., Result], locations: list[str], folder: Path, kills: int) -> Result:
        seed = int.from_bytes(os.urandom(4))
        asks.write(json.dumps([scenario.__name__, locations, str(folder), kills, seed]) + "\n")
        asks.flush()
        return {"kills": 0, "returned": 0, **json.loads(answers.readline()), "seed": seed}

    return ask


def test_killed_under_load(run: Run, engine: str, places: Callable[[int], list[str]], folder: Path) -> None:
    """Killed again and again while four threads record: every store is valid and nothing that was returned is lost."""
    stores = rounds({"sqlite": 25, "postgres": 10}[engine], 1)
    kills = 12 * stores

    found = run(killed_while_recording, places(stores), folder, kills)

    assert (found["kills"], found["problems"]) == (kills, [])
    assert found["returned"] > kills // 4


def test_killed_while_the_journal_takes_over(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """What was spooled by processes that were killed comes into the chain, each entry once."""
    kills = rounds(40, 5)

    found = run(killed_while_spooling, places(1), folder, kills)

    assert found["problems"] == []
    assert (found["kills"], found["all_delivered"], found["damaged"], found["left"]) == (kills, True, 0, 0)
    assert found["returned"] >= kills


def test_killed_while_draining(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """A drain that is killed again and again loses nothing and delivers nothing twice."""
    found = run(killed_while_draining, places(1), folder, rounds(60, 6))

    assert found["problems"] == []
    assert (found["returned"], found["left"]) == (rounds(2000, 500), 0)
    assert found["kills"] > 0


def test_killed_while_removing(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """An erasure or a removal is there wholly, with its record, or not at all."""
    kills = rounds(24, 6)

    found = run(killed_while_removing, places(rounds(4, 2)), folder, kills)

    assert found["problems"] == []
    assert found["outcomes"].keys() <= {"before", "after"}
    assert sum(found["outcomes"].values()) == kills


def test_killed_while_creating(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """Two processes that make a store at once agree on it and its key, and neither is harmed when the other is killed."""
    kills = rounds(25, 4)

    found = run(killed_while_creating, places(kills), folder, kills)

    assert (found["kills"], found["problems"]) == (kills, [])
    assert found["returned"] >= 6 * kills


def test_killed_while_buffering(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """With `durability: buffered` a kill costs no more than the end of what was returned, and never the chain."""
    kills = rounds(12, 2)

    found = run(killed_while_buffering, places(2), folder, kills)

    assert (found["kills"], found["problems"]) == (kills, [])
    assert found["lost"] < found["returned"]


def test_processes_forked_from_one_that_writes(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """As a server forks its workers: parent and children, with four threads each, keep one chain, killed or not."""
    found = run(written_together, places(1), folder, 4)

    assert (found["kills"], found["problems"]) == (4, [])
    assert found["returned"] > 140


def test_a_child_that_outlives_the_store_of_its_parent(
    run: Run, places: Callable[[int], list[str]], folder: Path
) -> None:
    """What it writes after the others have closed the store, each thinking itself the last, is not lost."""
    found = run(forked_and_left_behind, places(1), folder, 1)

    assert (found["returned"], found["problems"]) == (3, [])


def test_a_child_forked_while_the_file_is_read(run: Run, folder: Path) -> None:
    """It refuses to use the store instead of harming it; later children can."""
    found = run(forked_while_in_use, [str(folder / "audit.db")], folder, 1)

    assert (found["refused"], found["returned"], found["problems"]) == (True, 3, [])


def test_interrupted_by_signals(run: Run, places: Callable[[int], list[str]], folder: Path) -> None:
    """Exceptions out of signal handlers break off whatever is under way; nobody hangs and nothing returned is lost."""
    found = run(interrupted_while_recording, places(1), folder, rounds(100, 15))

    assert found["problems"] == []
    assert found["kills"] == rounds(100, 15)
    assert found["returned"] > found["kills"] // 4

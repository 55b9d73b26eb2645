"""Where a store fails, the caller is told and gets no verdict, or the entry is spooled and comes into the chain later."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import psycopg
import pytest

from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.chain.integrity import verify_store
from stillme.errors import BackendError, InputError, shown
from stillme.storage.audit.postgres import WRITERS_LOCK
from tests.audit.conftest import KEY, NewStore, request
from tests.conftest import PostgresServer
from tests.soak import rounds
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
SPOOL = {"audit": {"on_failure": "spool"}}
BUFFERED = {"audit": {"durability": "buffered"}}
Fail = Callable[[str, pytest.FixtureRequest], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Outage:
    """A way in which a store fails for a while, and what the caller is told."""

    during: Fail
    words: str


def recorded(store: AuditStore, policy: object = None) -> str:
    """The trace of a verdict that a guard returned."""
    return str(Guard(policy, audit=store).verify(request()).validator_trace_id)  # type: ignore[arg-type]


def traces_in(store: AuditStore) -> Counter[str]:
    """How many times each verdict is in the store, which is valid."""
    assert verify_store(store).fault is None
    return Counter(record.entry.id for record in store.records() if record.entry and record.entry.kind == "verdict")


# ways to fail


@contextmanager
def script(text: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Another process; the body runs when it has said its first line."""
    command = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


@contextmanager
def locked_file(location: str, _: pytest.FixtureRequest) -> Iterator[None]:
    """Another process is inside a transaction."""
    holding = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        print("held", flush=True)
        sys.stdin.read()
        """
    with script(holding, location):
        yield


@contextmanager
def no_room(location: str, _: pytest.FixtureRequest) -> Iterator[None]:
    """No file may grow beyond the present size of the log; Python ignores SIGXFSZ, so a write fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{location}-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def moved_away(location: str, _: pytest.FixtureRequest) -> Iterator[None]:
    """The file has another name for a while."""
    Path(location).rename(f"{location}.away")
    try:
        yield
    finally:
        Path(f"{location}.away").rename(location)


@contextmanager
def stopped(_: str, fixtures: pytest.FixtureRequest) -> Iterator[None]:
    """The server is stopped and started again."""
    server: PostgresServer = fixtures.getfixturevalue("postgres_server")
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextmanager
def frozen(_: str, fixtures: pytest.FixtureRequest) -> Iterator[None]:
    """Every process of the server is halted: connections stay open and are accepted, nothing answers."""
    server: PostgresServer = fixtures.getfixturevalue("postgres_server")
    postmaster = psutil.Process(int((server.folder / "postmaster.pid").read_text().split()[0]))
    halted = [postmaster, *postmaster.children(recursive=True)]
    for process in halted:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in halted:
            process.send_signal(signal.SIGCONT)


@contextmanager
def locked_database(location: str, _: pytest.FixtureRequest) -> Iterator[None]:
    """Another session holds the lock of the writers."""
    with psycopg.connect(location) as connection:
        connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")
        yield


OUTAGES = {
    ("sqlite", "a locked file"): Outage(locked_file, "another process holds its lock; let that end"),
    ("sqlite", "a file size limit"): Outage(no_room, "the disk reports an error, or is full; check it"),
    ("sqlite", "a file moved away"): Outage(moved_away, "was removed or replaced while in use; bring it back"),
    ("postgres", "a server that is down"): Outage(stopped, "check that it runs and can be reached"),
    ("postgres", "a server that does not answer"): Outage(frozen, "check that it runs and can be reached"),
    ("postgres", "a writer that holds the lock"): Outage(locked_database, "another writer holds the lock"),
}
outages = pytest.mark.parametrize(
    ("engine", "outage"),
    [pytest.param(engine, outage, id=name) for (engine, name), outage in OUTAGES.items()],
    indirect=["engine"],
)


@outages
def test_refused(new_store: NewStore, location: str, request: pytest.FixtureRequest, outage: Outage) -> None:
    """With `on_failure: refuse` nobody gets a verdict, nobody waits for ever, and it goes on when the store is back."""
    store = new_store(timeout_s=0.3)
    before = recorded(store)

    with outage.during(location, request):
        for _ in range(2):
            with pytest.raises(BackendError, match=outage.words):
                recorded(store)
    after = recorded(store)

    assert traces_in(store) == Counter([before, after])
    assert store.journal.pending() == 0


@outages
def test_spooled_and_drained_by_the_next_write(
    new_store: NewStore, location: str, request: pytest.FixtureRequest, outage: Outage
) -> None:
    """With `on_failure: spool` the verdict is returned, waits in the journal, and comes into the chain once."""
    store = new_store(timeout_s=0.3)
    traces = [recorded(store, SPOOL)]

    with outage.during(location, request):
        traces += [recorded(store, SPOOL) for _ in range(3)]
        waiting = store.journal.pending()

    def is_drained() -> bool:
        traces.append(recorded(store, SPOOL))
        return eventually(lambda: store.journal.pending() == 0, 0.5)

    assert waiting == 3
    assert eventually(is_drained)
    assert traces_in(store) == Counter(traces)


@outages
def test_spooled_and_drained_by_another_process(
    new_store: NewStore, location: str, request: pytest.FixtureRequest, outage: Outage
) -> None:
    """What a process spooled that is gone is brought into the chain by the first write of any other, or by `drain`."""
    with new_store(timeout_s=0.3) as store:
        traces = [recorded(store, SPOOL)]
        with outage.during(location, request):
            traces += [recorded(store, SPOOL) for _ in range(2)]
        store.journal.close()
        traces.append(recorded(other := new_store()))

    assert eventually(lambda: other.journal.pending() == 0)
    assert traces_in(other) == Counter(traces)
    assert other.drain().delivered == 0


@outages
def test_where_the_journal_fails_too(
    new_store: NewStore, location: str, request: pytest.FixtureRequest, outage: Outage, tmp_path: Path
) -> None:
    """The caller is told both reasons and gets no verdict."""
    (tmp_path / "a file").write_text("")
    store = new_store(timeout_s=0.3, journal=tmp_path / "a file" / "journal")
    before = recorded(store, SPOOL)

    with (
        outage.during(location, request),
        pytest.raises(BackendError, match=f"{outage.words}.*; and 1 audit entries were not written"),
    ):
        recorded(store, SPOOL)

    assert traces_in(store) == Counter([before])


@outages
def test_buffered(new_store: NewStore, location: str, request: pytest.FixtureRequest, outage: Outage) -> None:
    """What is pending when the store fails stays pending, the next caller is told, and it is written when it can be."""
    store = new_store(timeout_s=0.3)
    traces = [recorded(store, BUFFERED)]
    store.flush()

    with outage.during(location, request):
        traces.append(recorded(store, BUFFERED))
        with pytest.raises(BackendError, match=outage.words):
            store.flush()
        with pytest.raises(BackendError, match=f"1 earlier verdicts wait to be written: .*{outage.words}"):
            recorded(store, BUFFERED)
        with pytest.raises(BackendError, match=outage.words):
            store.close()

    assert eventually(lambda: _takes_more(store, traces))
    store.close()
    assert traces_in(new_store()) == Counter(traces)


def _takes_more(store: AuditStore, traces: list[str]) -> bool:
    try:
        traces.append(recorded(store, BUFFERED))
    except BackendError:
        return False
    return True


# what is wrong from the beginning


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to be looked at as one " * 100)


def folder_in_place(path: Path) -> None:
    path.mkdir()


def newer(path: Path) -> None:
    with AuditStore(path, key=KEY) as store:
        store.database.write(lambda writing: writing.rows("INSERT INTO stillme_audit_schema VALUES (999)"))


def damaged(path: Path) -> None:
    with AuditStore(path, key=KEY) as store:
        recorded(store)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        pytest.param(garbage, "the file is not a database; choose another path", id="not a database"),
        pytest.param(folder_in_place, "the file cannot be opened; check", id="a folder"),
        pytest.param(
            newer, "newer version \\(schema step 999, this one knows up to 3\\): upgrade", id="a newer schema"
        ),
        pytest.param(damaged, "the file is damaged; restore a backup", id="a damaged file"),
    ],
)
def test_a_file_that_cannot_be_a_store(tmp_path: Path, spoil: Callable[[Path], None], words: str) -> None:
    """The caller learns what it is and what to do, on every attempt; with `spool` the entry waits in the journal."""
    spoil(path := tmp_path / "audit.db")
    store = AuditStore(path, key=KEY)

    for _ in range(2):
        with pytest.raises(BackendError, match=words):
            recorded(store)
    trace = recorded(store, SPOOL)

    assert store.journal.pending() == 1
    with pytest.raises(BackendError, match=words):
        store.drain()
    with AuditStore(tmp_path / "other.db", key=KEY, journal=f"{path}.journal") as other:
        store.journal.close()
        assert other.drain().delivered == 1
        assert traces_in(other) == Counter([trace])


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    """A store is not made where there is no folder for it."""
    store = AuditStore(tmp_path / "none" / "audit.db", key=KEY)

    with pytest.raises(BackendError, match="the file cannot be opened; check that its folder exists"):
        recorded(store)


def test_a_store_deleted_for_good_is_a_loss_and_no_new_beginning(tmp_path: Path) -> None:
    """A process that had the store open goes on refusing, and makes no new one in its place."""
    store = AuditStore(path := tmp_path / "audit.db", key=KEY)
    recorded(store)

    for file in tmp_path.glob("audit.db*"):
        file.unlink()

    for _ in range(2):
        with pytest.raises(BackendError, match="was removed or replaced while in use"):
            recorded(store)
    assert not path.exists()
    with AuditStore(path, key=KEY) as other:  # somebody begins a new one under the same name
        recorded(other)
        with pytest.raises(BackendError, match="lost record 2, which was there before"):
            recorded(store)
        assert verify_store(other).fault is None


def test_a_store_replaced_by_a_backup_is_noticed(tmp_path: Path) -> None:
    """What was written after the backup is gone, and the writer says so instead of going on."""
    store = AuditStore(path := tmp_path / "audit.db", key=KEY)
    recorded(store)
    store.database.backup(str(tmp_path / "backup.db"))  # type: ignore[attr-defined]
    recorded(store)

    (tmp_path / "backup.db").replace(path)

    with pytest.raises(BackendError, match="was removed or replaced while in use"):
        recorded(store)


FULL_DISK = """
import subprocess, sys
from collections import Counter
from pathlib import Path
from stillme.audit import AuditStore
from stillme.errors import BackendError
from tests.audit.conftest import KEY
from tests.audit.test_failures import SPOOL, recorded, traces_in
from tests.waiting import eventually
disk, journal = Path(sys.argv[1]), Path(sys.argv[2])
store = AuditStore(disk / "audit.db", key=KEY, journal=journal)
traces = [recorded(store)]
def refused():
    try:
        recorded(store)
        print("no error")
    except BackendError as error:
        print(error)
with (disk / "filler").open("wb", buffering=0) as filler:
    try:
        while filler.write(b"x" * 4096) == 4096:
            pass
    except OSError:
        pass
refused()
traces += [recorded(store, SPOOL) for _ in range(3)]
(disk / "filler").unlink()
traces.append(recorded(store))
assert eventually(lambda: store.journal.pending() == 0)
store.close()  # a disk with files open for writing cannot become read-only
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
refused()
traces += [recorded(store, SPOOL) for _ in range(3)]
subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
traces.append(recorded(store))
print(eventually(lambda: store.journal.pending() == 0), traces_in(store) == Counter(traces))
"""


def test_a_disk_that_is_full_and_then_read_only(tmp_path: Path) -> None:
    """On a real disk without room, then mounted read-only, nothing is lost and all goes on when it can be written again."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"'
    if not shutil.which("unshare") or subprocess.run([*mounted, mount, disk, "true"], check=False).returncode:
        pytest.skip("no disk of 2 MB can be mounted here")

    shown = subprocess.run(
        [*mounted, mount, disk, sys.executable, "-c", FULL_DISK, disk, tmp_path / "journal"],
        capture_output=True, text=True, check=True, timeout=600, cwd=ROOT,
    ).stdout.splitlines()  # fmt: skip

    name = f"the audit store {shown_path(disk / 'audit.db')} failed: "
    assert [line.removeprefix(name).split(";")[0] for line in shown] == [
        "the disk is full",
        "the file cannot be opened",
        "True True",
    ]


def shown_path(path: Path) -> str:
    return shown(str(path))


# PostgreSQL alone


@pytest.fixture
def postgres_store(new_store: NewStore) -> AuditStore:
    """A store on the server, with a record in it and both connections open."""
    store = new_store(timeout_s=1.0)
    recorded(store)
    list(store.records())
    return store


on_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def end_sessions(url: str) -> int:
    """End every session but our own; how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        others = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
        rows = connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}").fetchall()  # noqa: S608
    return len(rows)


@on_postgres
@pytest.mark.parametrize("how", ["ended", "restarted", "crashed"])
def test_a_connection_lost_while_idle_is_made_anew(
    postgres_store: AuditStore, postgres_server: PostgresServer, how: str
) -> None:
    """Ended by an administrator, a restart or a crash of the server: the next write and the next read succeed."""
    if how == "ended":
        assert end_sessions(postgres_server.url) >= 2
    else:
        postgres_server.stop("immediate" if how == "crashed" else "fast")
        postgres_server.start()

    recorded(postgres_store)

    assert sum(traces_in(postgres_store).values()) == 2


@on_postgres
def test_connections_ended_under_load(new_store: NewStore, postgres_url: str) -> None:
    """However often and at whatever moment sessions are ended, each verdict that was returned is there once."""
    store, returned = new_store(timeout_s=2.0), []
    is_over = threading.Event()

    def record() -> None:
        guard = Guard(SPOOL, audit=store)
        while not is_over.is_set():
            returned.append(str(guard.verify(request()).validator_trace_id))

    threads = [threading.Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    ended, wanted = 0, rounds(100, 12)
    while ended < wanted // 3:
        count = len(returned) + 1
        assert eventually(lambda count=count: len(returned) >= count)  # type: ignore[misc]
        ended += end_sessions(postgres_url)
    assert eventually(lambda: len(returned) >= wanted)
    is_over.set()
    for thread in threads:
        thread.join()

    assert eventually(lambda: store.drain() is not None and store.journal.pending() == 0)
    found = traces_in(store)
    assert {trace: found[trace] for trace in returned} == dict.fromkeys(returned, 1)
    assert set(found.values()) == {1}


@on_postgres
def test_a_session_halted_in_the_middle_is_given_up(postgres_store: AuditStore, postgres_url: str) -> None:
    """A server process that stops answering costs one caller a bounded wait; the next one has a new connection."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        rows = connection.execute(  # the server shows the beginning of what a session sent last
            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT INTO stillme_audit%' AND pid <> pg_backend_pid()"
        ).fetchall()
    for (pid,) in rows:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(BackendError, match="no answer within 3 s; check that it runs"):
            recorded(postgres_store)
        recorded(postgres_store)
    finally:
        for (pid,) in rows:
            os.kill(pid, signal.SIGCONT)

    assert rows
    assert sum(traces_in(postgres_store).values()) == 2


def test_a_server_that_accepts_and_stays_silent() -> None:
    """Nobody waits for ever for one that never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        store = AuditStore(f"postgresql://someone:hunter2@127.0.0.1:{port}/audit", key=KEY, timeout_s=1.0)
        with pytest.raises(BackendError, match="timeout expired; check that it runs and can be reached") as caught:
            recorded(store)

    assert "hunter2" not in "".join(traceback.format_exception(caught.value)) + repr(store) + repr(store.database)


@pytest.fixture
def guarded_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A URL without a user, on a server that asks the user `guarded` for a password."""
    rules = postgres_server.folder / "pg_hba.conf"
    before = rules.read_text()
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guarded")
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'the right one'")
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    postgres_server.reload()
    host = parse_qs(urlsplit(postgres_server.url).query)["host"][0]
    yield f"postgresql://{{}}/{{}}?host={host}"
    rules.write_text(before)
    postgres_server.reload()


@pytest.mark.parametrize(
    ("user", "database", "words"),
    [
        pytest.param(
            "guarded:hunter2@",
            "postgres",
            "password authentication failed.* and the user, password",
            id="a wrong password",
        ),
        pytest.param(
            "nobody:hunter2@",
            "postgres",
            'role "nobody" does not exist; .* the user, password and name',
            id="an unknown user",
        ),
        pytest.param(
            "postgres:hunter2@", "none", 'database "none" does not exist; .* and name in its URL', id="no such database"
        ),
        pytest.param("guarded:the%20right%20one@", "postgres", r"\[42501\]; give its user the right", id="no rights"),
    ],
)
def test_a_server_that_does_not_let_us_in(guarded_url: str, user: str, database: str, words: str) -> None:
    """The caller learns what to do, and never the password."""
    store = AuditStore(guarded_url.format(user, database), key=KEY)

    with pytest.raises(BackendError, match=words) as caught:
        recorded(store)

    assert not {"hunter2", "right%20one", "right one"} & set(
        "".join(traceback.format_exception(caught.value)).replace("'", " ").split()
    )
    store.close()


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("postgresql://someone:hunter2%zz@host/audit", id="a stray percent sign"),
        pytest.param("postgresql://someone:hunter2@[host/audit", id="a bracket left open"),
        pytest.param("postgresql://someone:hunter2@host/audit?what=hunter2", id="an unknown option"),
    ],
)
def test_a_url_that_cannot_be_read(url: str) -> None:
    """The message shows how to write one and nothing of this one."""
    with pytest.raises(InputError, match="write postgresql://user:password@host/database") as caught:
        AuditStore(url, key=KEY)

    assert "hunter2" not in "".join(traceback.format_exception(caught.value)).replace(url, "")


def test_a_host_that_refuses() -> None:
    """An address where nobody listens is an error at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    store = AuditStore(f"postgresql://someone:hunter2@127.0.0.1:{port}/audit", key=KEY)

    with pytest.raises(BackendError, match=r"postgresql://127\.0\.0\.1/audit failed: .*refused.*; check that it runs"):
        recorded(store)


# the end of a process


LAST_WORDS = """
import sys
from pathlib import Path
from stillme import Guard
from stillme.audit import AuditStore
from tests.audit.conftest import KEY, request
path, journal, moves_away = sys.argv[1:]
store = AuditStore(path, key=KEY, journal=journal)
guard = Guard({"grounding": {"model": "none"}, "audit": {"durability": "buffered"}}, audit=store)
said = guard.verify_batch([request()] * 3)
store.flush()
if moves_away == "True":
    Path(path).rename(path + ".away")
said += guard.verify_batch([request()] * 20)
print(*[verdict.validator_trace_id for verdict in said])
"""


@pytest.mark.parametrize("moves_away", [False, True], ids=["into the store", "into the journal if the store is gone"])
def test_what_is_buffered_is_written_at_the_end_of_the_process(tmp_path: Path, moves_away: bool) -> None:
    """A program that just ends has kept what it returned."""
    path, journal = tmp_path / "audit.db", tmp_path / "journal"
    command = [sys.executable, "-c", LAST_WORDS, *map(str, (path, journal, moves_away))]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    if moves_away:
        Path(f"{path}.away").rename(path)

    with AuditStore(path, key=KEY, journal=journal) as store:
        assert store.drain().delivered == (20 if moves_away else 0)
        assert (traces_in(store), done.stderr) == (Counter(done.stdout.split()), "")

"""The journal keeps every entry it acknowledged, whatever happens to its process, its disk or its bytes."""

from __future__ import annotations

import json
import logging
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit.journal import DamagedFile, Drained, Journal
from stillme.errors import BackendError, InputError
from stillme.storage.audit.sqlite import SqliteDatabase
from tests.soak import examples

ENTRIES = [b'{"id":"trace-1"}', '{"q":"Đổi trả trong bao lâu? 🙂"}'.encode(), b'{"id":"trace-3"}']


class Shelf(list[bytes]):
    """A store that takes what is delivered, and remembers the size of each batch."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    def deliver(self, payloads: Sequence[bytes]) -> None:
        """Take them."""
        self.batches.append(len(payloads))
        self.extend(payloads)


class StoreIsDownError(OSError):
    """What a store of its own kind may raise; an OSError, so that the journal could mistake it for its own."""


def refuse(payloads: Sequence[bytes]) -> None:
    """A store that takes nothing."""
    raise StoreIsDownError(f"{len(payloads)} refused")


def numbered(*numbers: int) -> list[bytes]:
    return [b'{"id":%d}' % number for number in numbers]


def written(folder: Path, payloads: Sequence[bytes] = ENTRIES) -> Path:
    """The file to which a process that is gone wrote these entries."""
    journal = Journal(folder)
    journal.append(payloads)
    journal.close()
    return journal.files()[-1]


def stored(path: Path, *statements: str) -> None:
    """Do something to the rows of a file."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a journal may be."""
    return tmp_path / "nhật ký" / "journal"


@pytest.fixture
def shelf() -> Shelf:
    """An empty store."""
    return Shelf()


@contextmanager
def running(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A real process that runs the script with a `journal` of its own, killed at the end."""
    head = "import os, sys, time\nfrom pathlib import Path\nfrom stillme.audit.journal import Journal\n"
    command = [sys.executable, "-c", head + script, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def output(script: str, *arguments: object) -> str:
    """What such a process prints until it ends well."""
    with running(script, *arguments) as process:
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return out


def test_entries_come_back_in_order_and_the_file_goes(folder: Path, shelf: Shelf) -> None:
    """What was appended is delivered as it was, in batches, and then no longer kept."""
    journal = Journal(folder)
    journal.append(ENTRIES[:2])
    journal.append(ENTRIES[2:])

    assert (journal.pending(), len(journal.files()), journal.has_own) == (3, 1, True)
    assert journal.drain(shelf.deliver, batch=2) == Drained(delivered=3)
    assert (list(shelf), shelf.batches) == (ENTRIES, [2, 1])
    assert (journal.pending(), journal.damaged(), journal.has_own) == (0, (), False)


def test_only_the_user_of_the_process_can_read_it(folder: Path) -> None:
    """The texts of users are in there."""
    journal = Journal(folder)
    journal.append(ENTRIES)
    files = sorted(folder.iterdir())

    assert [path.name.rpartition(".")[2] for path in files] == ["db", "db-shm", "db-wal"]
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, *files)] == [0o700, 0o600, 0o600, 0o600]


def test_nothing_is_made_before_the_first_entry(folder: Path, shelf: Shelf) -> None:
    """Reading and appending an empty list leave no trace."""
    journal = Journal(folder)
    journal.append([])

    assert (journal.pending(), journal.files(), journal.damaged()) == (0, (), ())
    assert journal.drain(shelf.deliver) == Drained()
    assert not folder.exists()


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(st.lists(st.binary(max_size=40), max_size=4), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_any_bytes_come_back(groups: list[list[bytes]], batch: int) -> None:
    """Whatever the payloads, groups and batches."""
    shelf = Shelf()
    with tempfile.TemporaryDirectory() as place:
        journal = Journal(Path(place))
        for group in groups:
            journal.append(group)
        drained = journal.drain(shelf.deliver, batch)

    assert shelf == [payload for group in groups for payload in group]
    assert drained == Drained(delivered=len(shelf))


def test_one_payload_instead_of_a_list_is_refused(folder: Path) -> None:
    """Bytes are a sequence of numbers, not of payloads."""
    with pytest.raises(InputError, match="must be bytes, got 123"):
        Journal(folder).append(b"{}")  # type: ignore[arg-type]


def test_a_batch_of_none_is_refused(folder: Path, shelf: Shelf) -> None:
    """It would never end."""
    with pytest.raises(InputError, match="batch must be 1 or more, got 0"):
        Journal(folder).drain(shelf.deliver, batch=0)


def test_a_store_that_refuses_leaves_everything(folder: Path, shelf: Shelf) -> None:
    """Its own exception goes on, and the next drain delivers all."""
    written(folder, numbered(1, 2))
    journal = Journal(folder)
    journal.append(numbered(3))

    for _ in range(3):
        with pytest.raises(StoreIsDownError):
            journal.drain(refuse)
        assert (journal.pending(), journal.has_own) == (3, True)
    journal.append(numbered(4))

    assert journal.drain(shelf.deliver) == Drained(delivered=4)
    assert shelf == numbered(1, 2, 3, 4)


def test_a_store_that_fails_half_way_gets_the_rest(folder: Path, shelf: Shelf) -> None:
    """What was delivered is not kept, what was not is."""

    def once(payloads: Sequence[bytes]) -> None:
        if shelf:
            raise StoreIsDownError
        shelf.deliver(payloads)

    written(folder, numbered(1, 2, 3))
    journal = Journal(folder)
    with pytest.raises(StoreIsDownError):
        journal.drain(once, batch=2)

    assert journal.drain(shelf.deliver) == Drained(delivered=1)
    assert shelf == numbered(1, 2, 3)
    assert journal.drain(shelf.deliver) == Drained()


def test_a_damaged_store_is_no_damage_to_the_journal(folder: Path) -> None:
    """What a store raises about its own file sets nothing aside here."""
    written(folder)

    def corrupt(_: Sequence[bytes]) -> None:
        (folder.parent / "other.db").write_bytes(b"not a database" * 999)
        SqliteDatabase(str(folder.parent / "other.db")).rows("SELECT 1 FROM sqlite_master")

    with pytest.raises(BackendError, match=r"the audit store .* is not a database"):
        Journal(folder).drain(corrupt)

    assert (Journal(folder).pending(), Journal(folder).damaged()) == (3, ())


def test_entries_spooled_while_draining_wait_for_the_next_drain(folder: Path, shelf: Shelf) -> None:
    """A store that spools again while it is being filled neither blocks nor loops."""
    journal = Journal(folder)
    journal.append(numbered(1, 2))

    assert journal.drain(journal.append) == Drained(delivered=2)
    assert journal.pending() == 2
    assert journal.drain(shelf.deliver) == Drained(delivered=2)
    assert shelf == numbered(1, 2)


def test_what_the_dead_wrote_is_drained_in_order(folder: Path, shelf: Shelf) -> None:
    """What was written first is delivered first."""
    for number in range(5):
        written(folder, numbered(number))

    assert Journal(folder).drain(shelf.deliver) == Drained(delivered=5)
    assert shelf == numbered(*range(5))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_no_damage_makes_an_entry_that_was_not_written(data: st.DataObject) -> None:
    """Whatever is cut out of, put into or done to a file, what is delivered is a beginning of what was written, and nothing raises."""
    shelf = Shelf()
    with tempfile.TemporaryDirectory() as place:
        path = written(Path(place))
        content = path.read_bytes()
        start, end = sorted(data.draw(st.lists(st.integers(0, len(content)), min_size=2, max_size=2)))
        path.write_bytes(content[:start] + data.draw(st.binary(max_size=200)) + content[end:])
        Journal(Path(place)).drain(shelf.deliver)

    assert shelf == ENTRIES[: len(shelf)]


@pytest.mark.parametrize(
    ("change", "number"),
    [
        pytest.param(lambda path: stored(path, "UPDATE entry SET payload = x'7b7d' WHERE number = 2"), 2, id="changed"),
        pytest.param(lambda path: stored(path, "UPDATE entry SET payload = 'x' WHERE number = 3"), 3, id="another type"),
        pytest.param(lambda path: stored(path, "DELETE FROM entry WHERE number = 2"), 2, id="one is missing"),
        pytest.param(
            lambda path: stored(path, "UPDATE entry SET number = 9 - number", "UPDATE entry SET number = number - 5"),
            1, id="their order is turned round",
        ),
        pytest.param(
            lambda path: stored(path, "INSERT INTO entry SELECT number + 1, payload, digest FROM entry WHERE number = 3"),
            4, id="one stands twice",
        ),
        pytest.param(lambda path: path.write_bytes(b"not a journal" * 999), 1, id="not a database"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:4096]), 1, id="cut off after its first page"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:5000]), 1, id="cut off in the middle of a page"),
    ],
)  # fmt: skip
def test_damage_is_set_aside_with_its_place(
    folder: Path, shelf: Shelf, change: Callable[[Path], None], number: int
) -> None:
    """The result names the file and the first entry that does not fit; the journal goes on with a new file."""
    path = written(folder)
    change(path)
    journal = Journal(folder)

    assert journal.drain(shelf.deliver) == Drained(number - 1, (DamagedFile(path.with_suffix(".damaged"), number),))
    journal.append(numbered(7))
    assert journal.drain(shelf.deliver) == Drained(1)
    assert shelf == [*ENTRIES[: number - 1], *numbered(7)]
    assert (journal.damaged(), journal.pending()) == ((path.with_suffix(".damaged"),), 0)


def test_whoever_has_a_damaged_file_open_goes_on_with_a_new_one(folder: Path, shelf: Shelf) -> None:
    """One append is refused, as its file was set aside by another; the next is kept."""
    writer = Journal(folder)
    writer.append(ENTRIES)
    stored(writer.files()[0], "UPDATE entry SET payload = x'00' WHERE number = 1")
    Journal(folder).drain(shelf.deliver)

    with pytest.raises(BackendError, match="was removed or replaced while in use"):
        writer.append(numbered(1))
    writer.append(numbered(2))

    assert writer.drain(shelf.deliver) == Drained(delivered=1)
    assert shelf == numbered(2)


def test_what_an_earlier_version_left_is_told(folder: Path, shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    """Files in the old format are neither read nor forgotten: on opening and on draining it is said what to do with them."""
    written(folder, numbered(1))
    old = folder / "1700000000.000000-7-aaaaaaaa.journal"
    old.write_bytes(b"0" * 64 + b' {"stillme_journal":1}\n')

    with caplog.at_level(logging.ERROR):
        journal = Journal(folder)
    with pytest.raises(
        BackendError, match=r"earlier version.*drain them with that version \(`stillme audit drain`\)"
    ) as told:
        journal.drain(shelf.deliver)

    assert old.name in caplog.text
    assert old.name in str(told.value)
    assert (shelf, old.exists()) == (numbered(1), True)


def test_a_damaged_file_in_words(folder: Path) -> None:
    """The message says what, where and what to do."""
    assert str(DamagedFile(folder / "a.damaged", 7)) == (
        f"the journal file '{folder}/a.damaged' is damaged from entry 7 on: the entries before are delivered, the rest is "
        "kept there undelivered; compare it with a backup, and delete it only when the rest is accounted for"
    )


def test_a_file_damaged_again_replaces_no_evidence(folder: Path, shelf: Shelf) -> None:
    """A copy put back and still damaged is kept beside the first."""
    path = written(folder)
    path.write_bytes(b"x" + path.read_bytes())
    journal = Journal(folder)
    journal.drain(shelf.deliver)
    shutil.copy(path.with_suffix(".damaged"), path)

    drained = journal.drain(shelf.deliver)

    assert len(journal.damaged()) == 2
    assert {each.path for each in drained.damaged} < set(journal.damaged())


def test_a_file_removed_under_its_writer_is_noticed(folder: Path, shelf: Shelf) -> None:
    """One append is refused and says so; the next begins a new file."""
    journal = Journal(folder)
    journal.append(ENTRIES)
    for path in folder.iterdir():
        path.unlink()

    with pytest.raises(BackendError, match="was removed or replaced while in use"):
        journal.append(numbered(8))
    journal.append(numbered(9))

    assert journal.drain(shelf.deliver) == Drained(delivered=1)
    assert shelf == numbered(9)


@pytest.mark.parametrize(
    "place",
    [pytest.param("a file", id="the folder is a file"), pytest.param("a file/journal", id="its parent is a file")],
)
def test_a_folder_that_cannot_be(tmp_path: Path, place: str) -> None:
    """The error names the folder and the way out."""
    (tmp_path / "a file").touch()

    with pytest.raises(BackendError) as raised:
        Journal(tmp_path / place).append(ENTRIES)

    assert str(raised.value).startswith(f"3 audit entries were not written to the journal '{tmp_path / place}': ")
    assert "; check the folder" in str(raised.value)


def test_a_file_in_place_of_the_folder_is_not_an_empty_journal(tmp_path: Path, shelf: Shelf) -> None:
    """What cannot be looked into is not reported as having nothing pending."""
    (tmp_path / "a file").touch()
    journal = Journal(tmp_path / "a file")

    for look in (journal.pending, journal.files, journal.damaged, lambda: journal.drain(shelf.deliver)):
        with pytest.raises(BackendError, match="cannot be listed: Not a directory; check the folder"):
            look()


AS_NOBODY = """
from stillme.errors import BackendError
folder = Path(sys.argv[1])
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
def attempt(act):
    try:
        print(act())
    except BackendError as error:
        print(error)
journal = Journal(folder)
attempt(lambda: journal.append([b"{}"]))
attempt(journal.pending)
attempt(lambda: journal.drain(lambda payloads: print(*payloads)))
"""


def test_a_folder_without_permission() -> None:
    """Neither an entry nor a file that this user may not touch is passed over in silence."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "journal"
        closed = written(folder, numbered(1))
        for path, mode in ((closed, 0o000), (folder, 0o555), (Path(name), 0o755)):
            path.chmod(mode)
        shown = output(AS_NOBODY, folder).splitlines()
        folder.chmod(0o700)

    opened = f"the journal file '{closed}' failed: the file cannot be opened; check "
    assert shown[0].startswith(f"1 audit entries were not written to the journal '{folder}': {opened}")
    assert shown[1].startswith(opened)
    assert shown[2].startswith(f"the journal '{folder}' cannot be drained: ")


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size`; Python ignores SIGXFSZ, so a write ends short or with EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_ends_short_is_taken_back(folder: Path, shelf: Shelf) -> None:
    """Of a group that does not fit, nothing stays, the error says so, and later ones are kept."""
    journal = Journal(folder)
    journal.append(numbered(1))

    with file_size_limit(150_000):
        with pytest.raises(
            BackendError, match=r"3 audit entries were not written .*: the disk reports an error, or is full"
        ):
            journal.append([b"x" * 90_000] * 3)
        journal.append(numbered(5))
    journal.append(numbered(7))

    assert journal.drain(shelf.deliver) == Drained(delivered=3)
    assert shelf == numbered(1, 5, 7)


def test_a_file_that_cannot_be_begun_is_no_obstacle(folder: Path, shelf: Shelf) -> None:
    """Where not even the table fits, that is told; when there is room the journal works."""
    journal = Journal(folder)

    with file_size_limit(10), pytest.raises(BackendError, match="1 audit entries were not written"):
        journal.append(numbered(1))
    journal.append(numbered(2))

    assert journal.drain(shelf.deliver) == Drained(delivered=1)
    assert shelf == numbered(2)


FULL_DISK = """
from stillme.errors import BackendError
disk = Path(sys.argv[1])
journal = Journal(disk / "journal")
kept, errors = [], set()
def append(number):
    payload = b'{"id":%d,"text":"%b"}' % (number, b"x" * 5000)
    try:
        journal.append([payload])
        kept.append(payload)
    except BackendError as error:
        errors.add(str(error))
append(0)
ballast = disk / "ballast"
ballast.write_bytes(b"x" * 300_000)
for number in range(1, 100):
    append(number)
ballast.unlink()
found = []
pending = journal.pending()
drained = journal.drain(found.extend)
journal.append([b"{}"])
print(found == kept, 0 < len(kept) < 100, pending == len(kept) == drained.delivered, drained.damaged)
print(*errors, sep="\\n")
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """On a disk that is really full every entry is either kept or reported, and it works again when there is room."""
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=800k tmpfs "$0" && exec "$@"'
    if (
        not shutil.which("unshare")
        or subprocess.run([*mounted, mount, tmp_path, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no disk of 800 KB can be mounted here")
    head = "import sys\nfrom pathlib import Path\nfrom stillme.audit.journal import Journal\n"

    shown = subprocess.run(
        [*mounted, mount, tmp_path, sys.executable, "-c", head + FULL_DISK, tmp_path],
        capture_output=True, text=True, check=True, timeout=600,
    ).stdout.splitlines()  # fmt: skip

    assert shown[0] == "True True True ()"
    assert all(
        line.startswith(f"1 audit entries were not written to the journal '{tmp_path}/journal': ") for line in shown[1:]
    )
    assert all("the disk is full; make room" in line or "or is full; check" in line for line in shown[1:])
    assert len(shown) > 1


KILLED = """
import random, signal
rng = random.Random(5)
for life in range(40):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        journal = Journal(Path(sys.argv[1]))
        filler = b"x" * (400_000 if life % 3 == 0 else 500)
        number = 0
        while True:
            group = [b'{"id":"%d-%d","text":"%b"}' % (life, number + n, filler) for n in range(3)]
            journal.append(group)
            number += 3
            os.write(writing, b"%d\\n" % number)
    os.close(writing)
    with os.fdopen(reading) as acknowledged:
        seen = [acknowledged.readline().strip() for _ in range(rng.randrange(1, 6) if life % 8 else 0)]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen += acknowledged.read().split()
    print(life, seen[-1] if seen else 0)
"""


def test_killed_in_the_middle_of_appends(folder: Path) -> None:
    """After dozens of SIGKILLs every acknowledged entry is there, whole, and nothing counts as damaged."""
    acknowledged = [tuple(map(int, line.split())) for line in output(KILLED, folder).splitlines()]
    found: set[str] = set()

    drained = Journal(folder).drain(lambda payloads: found.update(json.loads(each)["id"] for each in payloads), batch=3)

    missing = [f"{life}-{n}" for life, count in acknowledged for n in range(count) if f"{life}-{n}" not in found]
    assert (missing, drained.damaged, len(acknowledged)) == ([], (), 40)
    assert drained.delivered == len(found) > 100


TORN = """
import signal
folder = Path(sys.argv[1])
for life in range(4):
    child = os.fork()
    if not child:
        journal = Journal(folder)
        journal.append([b'{"id":%d}' % life])
        connection = journal._database._writer.connection
        connection.execute("PRAGMA cache_size=2")  # the group spills into the log before it is committed
        connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), 200 + 100 * life)
        journal.append([b'"%b"' % (b"x" * 50_000)] * 200)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status))
"""


def test_killed_in_the_middle_of_a_write(folder: Path, shelf: Shelf) -> None:
    """A process killed while its file grows leaves half a transaction, which costs nothing that was acknowledged."""
    assert output(TORN, folder).split() == ["9"] * 4
    assert any(path.stat().st_size > 100_000 for path in folder.glob("*.db-wal"))

    assert Journal(folder).drain(shelf.deliver) == Drained(delivered=4)
    assert shelf == numbered(*range(4))


INTERRUPTED = """
import signal
class Interrupted(BaseException):
    pass
def interrupt(number, frame):
    raise Interrupted
signal.signal(signal.SIGALRM, interrupt)
journal = Journal(Path(sys.argv[1]))
number = 0
for attempt in range(150):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + attempt * 0.00001)
        while True:
            journal.append([b'{"id":%d}' % number])
            os.write(1, b'%d\\n' % number)
            number += 1
    except Interrupted:
        number += 1
journal.append([b'{"id":-1}'])
os.write(1, b'-1\\n')
"""


def test_an_append_broken_off_by_a_signal_spoils_nothing(folder: Path, shelf: Shelf) -> None:
    """An exception out of a signal handler in the middle of an append leaves a journal that can go on."""
    acknowledged = [b'{"id":%b}' % number.encode() for number in output(INTERRUPTED, folder).split()]

    drained = Journal(folder).drain(shelf.deliver)

    assert set(acknowledged) <= set(shelf)
    assert (drained, len(set(shelf))) == (Drained(delivered=len(shelf)), len(shelf))


WRITER = """
journal = Journal(Path(sys.argv[1]))
for number in range(150):
    journal.append([b'{"id":"%b-%d"}' % (sys.argv[2].encode(), number)])
    if number % 10 == 9:
        journal.close()
"""


def test_two_processes_append_while_a_third_drains(folder: Path, shelf: Shelf) -> None:
    """Everything arrives exactly once, each writer's entries in its order, and nothing is taken from a live writer."""
    journal = Journal(folder)
    drained, during = Drained(), 0
    with running(WRITER, folder, "a") as first, running(WRITER, folder, "b") as second:
        while first.poll() is None or second.poll() is None:
            drained += journal.drain(shelf.deliver)
            during = drained.delivered
        assert (first.returncode, second.returncode) == (0, 0)
    drained += journal.drain(shelf.deliver)

    assert (drained, during > 0) == (Drained(delivered=300), True)
    for writer in ("a", "b"):
        own = [entry for entry in shelf if json.loads(entry)["id"][0] == writer]
        assert own == [b'{"id":"%b-%d"}' % (writer.encode(), n) for n in range(150)]


def test_one_drains_at_a_time(folder: Path, shelf: Shelf) -> None:
    """While one drains, another passes on, in the same process too."""
    written(folder, numbered(1, 2))

    def deliver(payloads: Sequence[bytes]) -> None:
        assert Journal(folder).drain(refuse) == Drained()
        shelf.deliver(payloads)

    assert Journal(folder).drain(deliver, batch=1) == Drained(delivered=2)
    assert shelf == numbered(1, 2)


HOLDER = """
journal = Journal(Path(sys.argv[1]))
journal.append([b'{"id":1}', b'{"id":2}'])
print("written", flush=True)
sys.stdin.read()
journal.append([b'{"id":3}'])
print("written again", flush=True)
"""


def test_what_a_live_process_wrote_is_drained_too(folder: Path, shelf: Shelf) -> None:
    """It need not end first, and goes on; what it writes after a drain waits for the next."""
    with running(HOLDER, folder) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "written\n"
        assert Journal(folder).drain(shelf.deliver) == Drained(delivered=2)
        process.stdin.close()
        assert process.stdout.readline() == "written again\n"

    assert Journal(folder).drain(shelf.deliver) == Drained(delivered=1)
    assert shelf == numbered(1, 2, 3)


# Two processes share this output: one write for each line keeps the lines apart, which print does not promise.
FORKED = """
journal = Journal(Path(sys.argv[1]))
journal.append([b'{"id":1}'])
if not os.fork():
    if sys.argv[2] == "appends":
        journal.append([b'{"id":2}'])
    os.write(1, b'child\\n')
    sys.stdin.read()
    os._exit(0)
journal.append([b'{"id":3}'])
os.write(1, b'parent\\n')
sys.stdin.read()
"""


@pytest.mark.parametrize(("child", "entries"), [("appends", [1, 2, 3]), ("does nothing", [1, 3])])
def test_a_forked_child_and_its_parent_keep_apart(folder: Path, shelf: Shelf, child: str, entries: list[int]) -> None:
    """Both go on writing, and what they wrote is there while and after they live."""
    with running(FORKED, folder, child) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline() for _ in range(2)} == {"child\n", "parent\n"}
        assert Journal(folder).pending() == len(entries)
        parent.kill()
        parent.wait()
        assert Journal(folder).drain(shelf.deliver) == Drained(delivered=len(entries))

    assert sorted(shelf) == numbered(*entries)


def test_threads_append_while_one_drains(folder: Path, shelf: Shelf) -> None:
    """The own file changes hands between appends: everything arrives exactly once, each thread's entries in its order."""
    journal = Journal(folder)
    drained = Drained()

    def work(name: int) -> None:
        for number in range(60):
            journal.append([b'{"id":[%d,%d]}' % (name, number)])

    threads = [threading.Thread(target=work, args=[name]) for name in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        drained += journal.drain(shelf.deliver, batch=7)
    drained += journal.drain(shelf.deliver)

    assert drained == Drained(delivered=240)
    for name in range(4):
        ids = [json.loads(entry)["id"] for entry in shelf]
        assert [each for each in ids if each[0] == name] == [[name, number] for number in range(60)]


def test_a_store_that_crashes_the_process_loses_nothing(folder: Path, shelf: Shelf) -> None:
    """Killed between delivery and removal, the entries are delivered a second time."""
    written(folder)
    script = "Journal(Path(sys.argv[1])).drain(lambda payloads: os.kill(os.getpid(), 9))"

    with running(script, folder) as process:
        assert process.wait(timeout=600) == -9

    assert Journal(folder).drain(shelf.deliver) == Drained(delivered=3)
    assert shelf == ENTRIES


def test_a_folder_given_relative_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: Shelf
) -> None:
    """A process that changes its working folder later keeps its journal."""
    monkeypatch.chdir(tmp_path)
    journal = Journal(Path("journal"))
    monkeypatch.chdir("/")
    journal.append(numbered(1))

    assert [path.parent for path in journal.files()] == [tmp_path / "journal"]
    assert journal.drain(shelf.deliver) == Drained(delivered=1)

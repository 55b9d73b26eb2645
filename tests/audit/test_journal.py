"""The journal keeps every entry it acknowledged, whatever happens to its process, its disk or its bytes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit.journal import DamagedFile, Drained, Journal
from stillme.errors import BackendError, InputError

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
    """The file of a process that wrote these entries and is gone."""
    before = set(folder.iterdir()) if folder.exists() else set()
    journal = Journal(folder)
    journal.append(payloads)
    journal.close()
    (path,) = set(folder.iterdir()) - before
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a journal may be."""
    return tmp_path / "nhật ký" / "journal"


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder where fsync costs nothing, for tests of hundreds of small files."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:  # noqa: S108
        yield Path(name)


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
    assert (journal.pending(), journal.files(), journal.damaged(), journal.has_own) == (0, (), (), False)


def test_the_format_is_a_chain_of_lines(folder: Path) -> None:
    """Each line carries the hash over the hash before it and its payload, after a header with a nonce of its own."""
    first, second = (written(folder).read_bytes().splitlines() for _ in range(2))

    hashes, payloads = zip(*(line.split(b" ", 1) for line in first), strict=True)
    previous = (b"", *hashes)
    assert [hashlib.sha256(previous[n] + payload).hexdigest().encode() for n, payload in enumerate(payloads)] == [
        *hashes
    ]
    assert list(payloads[1:]) == ENTRIES
    assert json.loads(payloads[0])["stillme_journal"] == 1
    assert not set(first) & set(second)


def test_only_the_user_of_the_process_can_read_it(folder: Path) -> None:
    """The texts of users are in there."""
    path = written(folder)

    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, path)] == [0o700, 0o600]


def test_nothing_is_made_before_the_first_entry(folder: Path, shelf: Shelf) -> None:
    """Reading and appending an empty list leave no trace."""
    journal = Journal(folder)
    journal.append([])

    assert (journal.pending(), journal.files(), journal.damaged()) == (0, (), ())
    assert journal.drain(shelf.deliver) == Drained()
    assert not folder.exists()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=4), min_size=1, max_size=4
    ),
    st.integers(1, 5),
    st.booleans(),
)
def test_any_json_comes_back(groups: list[list[str]], batch: int, ascii_only: bool) -> None:
    """Any text that JSON can carry survives, whatever the groups and batches."""
    payloads = [[json.dumps(text, ensure_ascii=ascii_only).encode() for text in group] for group in groups]
    shelf = Shelf()
    with tempfile.TemporaryDirectory() as place:
        journal = Journal(Path(place))
        for group in payloads:
            journal.append(group)
        drained = journal.drain(shelf.deliver, batch)

    assert shelf == [payload for group in payloads for payload in group]
    assert drained == Drained(delivered=len(shelf))


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"a":\n1}', id="two lines"),
        pytest.param(b'{"a":\r1}', id="a carriage return"),
        pytest.param(b'{"a":"\x00"}', id="a raw control character"),
        pytest.param(b'{"a":"\xff"}', id="not UTF-8"),
        pytest.param("{}", id="text instead of bytes"),
    ],
)
def test_what_is_not_one_line_is_refused_whole(folder: Path, payload: bytes) -> None:
    """A payload that would break the lines is the caller's mistake, and its group is not written either."""
    journal = Journal(folder)

    with pytest.raises(InputError, match="a journal payload must be"):
        journal.append([ENTRIES[0], payload])

    assert journal.pending() == 0


def test_one_payload_instead_of_a_list_is_refused(folder: Path) -> None:
    """Bytes are a sequence of numbers, not of payloads."""
    with pytest.raises(InputError, match="must be bytes, got 123"):
        Journal(folder).append(b"{}")  # type: ignore[arg-type]


def test_a_batch_of_none_is_refused(folder: Path, shelf: Shelf) -> None:
    """It would never end."""
    with pytest.raises(InputError, match="batch must be 1 or more, got 0"):
        Journal(folder).drain(shelf.deliver, batch=0)


def test_a_store_that_refuses_leaves_everything(folder: Path, shelf: Shelf) -> None:
    """Its own exception goes on, the same file stays in use, and the next drain delivers all."""
    orphan = written(folder, numbered(1, 2))
    journal = Journal(folder)
    journal.append(numbered(3))
    before = journal.files()

    for _ in range(3):
        with pytest.raises(StoreIsDownError):
            journal.drain(refuse)
        assert (journal.files(), journal.pending(), journal.has_own) == (before, 3, True)
    orphan.unlink()
    with pytest.raises(StoreIsDownError):
        journal.drain(refuse)
    journal.append(numbered(4))

    assert journal.files() == before[1:]
    assert journal.drain(shelf.deliver) == Drained(delivered=2)
    assert shelf == numbered(3, 4)


def test_a_store_that_fails_half_way_gets_the_file_again(folder: Path, shelf: Shelf) -> None:
    """Entries may come twice, never not at all: a file goes only when all of it is delivered."""

    def once(payloads: Sequence[bytes]) -> None:
        if shelf:
            raise StoreIsDownError
        shelf.deliver(payloads)

    written(folder, numbered(1, 2, 3))
    journal = Journal(folder)
    with pytest.raises(StoreIsDownError):
        journal.drain(once, batch=2)

    assert journal.drain(shelf.deliver) == Drained(delivered=3)
    assert shelf == numbered(1, 2, 1, 2, 3)
    assert journal.drain(shelf.deliver) == Drained()


def test_entries_spooled_while_draining_wait_for_the_next_drain(folder: Path, shelf: Shelf) -> None:
    """A store that spools again while it is being filled neither blocks nor loops."""
    journal = Journal(folder)
    journal.append(numbered(1, 2))

    assert journal.drain(journal.append) == Drained(delivered=2)
    assert journal.pending() == 2
    assert journal.drain(shelf.deliver) == Drained(delivered=2)
    assert shelf == numbered(1, 2)


def test_files_of_the_dead_are_drained_oldest_first(folder: Path, shelf: Shelf) -> None:
    """What was written first is delivered first."""
    for number in range(5):
        written(folder, numbered(number))

    assert Journal(folder).drain(shelf.deliver) == Drained(delivered=5)
    assert shelf == numbered(*range(5))


def test_a_tail_torn_at_any_length_is_dropped_and_counted(memory: Path) -> None:
    """Of a write that was broken off, the whole entries are delivered and an unfinished one is not."""
    path = written(memory)
    content = path.read_bytes()
    ends = [n for n, byte in enumerate(content) if byte == ord("\n")]
    journal = Journal(memory)

    for length in range(len(content)):
        shelf = Shelf()
        path.write_bytes(content[:length])
        drained = journal.drain(shelf.deliver)

        whole = sum(end <= length for end in ends)
        unfinished = length not in (0, *ends, *(end + 1 for end in ends))
        assert drained == Drained(delivered=max(whole - 1, 0), torn=unfinished)
        assert (list(shelf), list(memory.iterdir())) == (ENTRIES[: max(whole - 1, 0)], [])


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80, 0xFF])
def test_any_changed_byte_is_noticed(memory: Path, flip: int) -> None:
    """Wherever one byte is not as written, nothing from its line on is delivered and the file is set aside as it is."""
    path = written(memory, ENTRIES[:2])
    content = path.read_bytes()
    journal = Journal(memory)

    for position in range(len(content)):
        shelf = Shelf()
        changed = content[:position] + bytes([content[position] ^ flip]) + content[position + 1 :]
        path.write_bytes(changed)
        drained = journal.drain(shelf.deliver)

        line = content[:position].count(b"\n") + 1
        aside = path.with_suffix(".damaged")
        assert drained == Drained(delivered=max(line - 2, 0), damaged=(DamagedFile(aside, line),))
        assert (list(shelf), list(memory.iterdir())) == (ENTRIES[: max(line - 2, 0)], [aside])
        assert aside.read_bytes() == changed
        aside.unlink()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_damage_makes_an_entry_that_was_not_written(data: st.DataObject) -> None:
    """Whatever is cut out of, put into or done to a file, what is delivered is a beginning of what was written."""
    shelf = Shelf()
    with tempfile.TemporaryDirectory() as place:
        path = written(Path(place))
        content = path.read_bytes()
        start, end = sorted(data.draw(st.lists(st.integers(0, len(content)), min_size=2, max_size=2)))
        path.write_bytes(content[:start] + data.draw(st.binary(max_size=200)) + content[end:])
        Journal(Path(place)).drain(shelf.deliver)

    assert shelf == ENTRIES[: len(shelf)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(lambda lines: [lines[0], lines[2], lines[1], lines[3]], 2, id="two lines swapped"),
        pytest.param(lambda lines: [*lines[:2], lines[1], *lines[2:]], 3, id="a line twice"),
        pytest.param(lambda lines: [lines[0], *lines[2:]], 2, id="a line missing"),
        pytest.param(lambda lines: lines[1:], 1, id="no header"),
        pytest.param(lambda lines: [*lines, b"\n"], 5, id="an empty line at the end"),
        pytest.param(lambda lines: [*lines[:3], bytes(len(lines[3]))], 4, id="the last entry overwritten with zeros"),
        pytest.param(lambda lines: [b"%b {}\n" % hashlib.sha256(b"{}").hexdigest().encode(), *lines], 1, id="not ours"),
    ],
)
def test_damage_is_set_aside_with_its_line(
    folder: Path, shelf: Shelf, change: Callable[[list[bytes]], list[bytes]], line: int
) -> None:
    """The result names the file and the first line that does not fit; the other files are drained all the same."""
    path = written(folder)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    written(folder, numbered(7))
    journal = Journal(folder)
    before = max(line - 2, 0)

    assert journal.drain(shelf.deliver) == Drained(before + 1, 0, (DamagedFile(path.with_suffix(".damaged"), line),))
    assert shelf == [*ENTRIES[:before], *numbered(7)]
    assert journal.drain(shelf.deliver) == Drained()
    assert (journal.damaged(), journal.pending()) == ((path.with_suffix(".damaged"),), 0)


def test_a_damaged_file_in_words(folder: Path) -> None:
    """The message says what, where and what to do."""
    assert str(DamagedFile(folder / "a.damaged", 7)) == (
        f"the journal file '{folder}/a.damaged' is damaged from line 7 on: the entries before are delivered, the rest is "
        "kept there undelivered; compare it with a backup, and delete it only when the rest is accounted for"
    )


def test_a_file_damaged_again_replaces_no_evidence(folder: Path, shelf: Shelf) -> None:
    """A copy put back and still damaged is kept beside the first."""
    path = written(folder)
    path.write_bytes(path.read_bytes()[1:])
    journal = Journal(folder)
    journal.drain(shelf.deliver)
    shutil.copy(path.with_suffix(".damaged"), path)

    drained = journal.drain(shelf.deliver)

    assert len(journal.damaged()) == 2
    assert {each.path for each in drained.damaged} < set(journal.damaged())


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that can be opened but not read")
def test_a_file_that_cannot_be_read_back_is_set_aside(folder: Path, shelf: Shelf) -> None:
    """An error of the disk (here from a real file without a readable beginning) is damage, and stops nothing else."""
    written(folder, numbered(1))
    path = folder / "0-unreadable.journal"
    path.symlink_to("/proc/self/mem")

    assert Journal(folder).drain(shelf.deliver) == Drained(1, 0, (DamagedFile(path.with_suffix(".damaged"), 1),))
    assert shelf == numbered(1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda path: path.unlink(), Drained(delivered=3), id="removed"),
        pytest.param(lambda path: path.write_bytes(b""), 1, id="emptied"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-30]), 4, id="torn"),
        pytest.param(
            lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:3])), 4, id="cut at a line"
        ),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"x\n"), 5, id="appended to"),
    ],
)
def test_a_file_changed_under_its_writer_is_noticed(
    folder: Path, shelf: Shelf, change: Callable[[Path], None], expected: Drained | int
) -> None:
    """The writer refuses to go on until it has drained; it knows how far it acknowledged, so no cut passes as torn."""
    journal = Journal(folder)
    journal.append(ENTRIES)
    (path,) = journal.files()
    change(path)

    with pytest.raises(BackendError, match="removed or changed by someone else while in use; drain the journal"):
        journal.append(numbered(9))
    if isinstance(expected, int):
        expected = Drained(max(expected - 2, 0), 0, (DamagedFile(path.with_suffix(".damaged"), expected),))
    assert journal.drain(shelf.deliver) == expected
    assert shelf == ENTRIES[: expected.delivered]
    journal.append(numbered(9))
    assert journal.pending() == 1


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        pytest.param("a file", "choose a path where a folder can be made", id="the folder is a file"),
        pytest.param("a file/journal", "choose a path where a folder can be made", id="its parent is a file"),
    ],
)
def test_a_folder_that_cannot_be(tmp_path: Path, place: str, advice: str) -> None:
    """The error names the folder and the way out."""
    (tmp_path / "a file").touch()

    with pytest.raises(BackendError) as raised:
        Journal(tmp_path / place).append(ENTRIES)

    assert str(raised.value).startswith(f"3 audit entries were not written to the journal '{tmp_path / place}': ")
    assert str(raised.value).endswith(f"; {advice}")


def test_a_file_in_place_of_the_folder_is_not_an_empty_journal(tmp_path: Path, shelf: Shelf) -> None:
    """What cannot be looked into is not reported as having nothing pending."""
    (tmp_path / "a file").touch()
    journal = Journal(tmp_path / "a file")

    for look in (journal.pending, journal.files, journal.damaged, lambda: journal.drain(shelf.deliver)):
        with pytest.raises(BackendError, match="cannot be listed: Not a directory; choose a path"):
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
        closed, open_one = written(folder, numbered(1)), written(folder, numbered(2))
        for path, mode in ((closed, 0o000), (open_one, 0o666), (folder, 0o555), (Path(name), 0o755)):
            path.chmod(mode)
        shown = output(AS_NOBODY, folder).splitlines()
        folder.chmod(0o700)

    denied = "Permission denied; let the user of this process read and write there"
    again = "until then every drain delivers it again"
    assert shown == [
        f"1 audit entries were not written to the journal '{folder}': {denied}",
        f"the journal file '{closed}' cannot be read: {denied}",
        "b'{\"id\":2}'",
        f"the journal file '{open_one}' was delivered but cannot be removed: {denied}; {again}",
    ]


def test_one_closed_file_keeps_no_other_back() -> None:
    """A file of another user is reported after everything else was drained."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        closed, open_one = written(folder, numbered(1)), written(folder, numbered(2))
        for path, mode in ((closed, 0o000), (open_one, 0o666), (folder, 0o777)):
            path.chmod(mode)
        shown = output(AS_NOBODY, folder).splitlines()
        left = list(folder.iterdir())

    denied = "Permission denied; let the user of this process read and write there"
    assert left == [closed]
    assert shown[2:] == [
        "b'{\"id\":2}'",
        "b'{}'",
        f"1 journal files could not be drained (everything else was): '{closed}': {denied}",
    ]


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
    """Of a group that does not fit, nothing stays, the error says so, and smaller ones still fit."""
    journal = Journal(folder)
    journal.append(numbered(1))
    (path,) = journal.files()
    size = path.stat().st_size

    with file_size_limit(size + 100):
        with pytest.raises(BackendError, match=r"only 100 of \d+ bytes could be written; free space on its disk"):
            journal.append(numbered(2, 3, 4))
        assert path.stat().st_size == size
        journal.append(numbered(5))
    with file_size_limit(path.stat().st_size), pytest.raises(BackendError, match=os.strerror(errno.EFBIG)):
        journal.append(numbered(6))
    journal.append(numbered(7))

    assert journal.drain(shelf.deliver) == Drained(delivered=3)
    assert shelf == numbered(1, 5, 7)


def test_a_file_that_cannot_be_begun_is_not_left_behind(folder: Path) -> None:
    """Where not even the header fits, nothing is left in the folder."""
    journal = Journal(folder)

    with file_size_limit(10), pytest.raises(BackendError, match="only 10 of"):
        journal.append(numbered(1))

    assert (list(folder.iterdir()), journal.has_own) == ([], False)


FULL_DISK = """
from stillme.errors import BackendError
journal = Journal(Path(sys.argv[1]))
kept, errors = [], set()
for number in range(40):
    payload = b'{"id":%d,"text":"%b"}' % (number, b"x" * 5000)
    try:
        journal.append([payload])
        kept.append(payload)
    except BackendError as error:
        errors.add(str(error))
found = []
pending = journal.pending()
drained = journal.drain(found.extend)
journal.append([b"{}"])
print(found == kept, 0 < len(kept) < 40, pending == len(kept) == drained.delivered, drained.torn, drained.damaged)
print(*errors, sep="\\n")
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """On a disk that is really full every entry is either kept or reported, and it works again when there is room."""
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"'
    if (
        not shutil.which("unshare")
        or subprocess.run([*mounted, mount, tmp_path, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no disk of 64 KB can be mounted here")
    head = "import sys\nfrom pathlib import Path\nfrom stillme.audit.journal import Journal\n"

    shown = subprocess.run(
        [*mounted, mount, tmp_path, sys.executable, "-c", head + FULL_DISK, tmp_path / "journal"],
        capture_output=True, text=True, check=True, timeout=600,
    ).stdout.splitlines()  # fmt: skip

    assert shown[0] == "True True True 0 ()"
    assert all(
        line.startswith(f"1 audit entries were not written to the journal '{tmp_path}/journal': ") for line in shown[1:]
    )
    assert all("; free space on its disk" in line for line in shown[1:])
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
        if life % 8:
            acknowledged.readline()
        time.sleep(rng.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = acknowledged.read().split()
    print(life, lines[-1] if lines else 3 if life % 8 else 0)
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
for life in range(8):
    child = os.fork()
    if not child:
        journal = Journal(folder)
        journal.append([b'{"id":%d}' % life])
        journal.append([b'"%b"' % (b"x" * 5_000_000)] * 3)
        os._exit(0)
    while not (own := list(folder.glob(f"*-{child}-*.journal"))) or own[0].stat().st_size < 1_000_000:
        time.sleep(0)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not own[0].read_bytes().endswith(b"\\n"):
        break
print(life + 1)
"""


def test_killed_in_the_middle_of_a_write(folder: Path, shelf: Shelf) -> None:
    """A process killed while its file grows leaves a torn line, which costs nothing that was acknowledged."""
    lives = int(output(TORN, folder))

    drained = Journal(folder).drain(shelf.deliver)

    assert [entry for entry in shelf if entry.startswith(b"{")] == numbered(*range(lives))
    assert {entry for entry in shelf if not entry.startswith(b"{")} <= {b'"%b"' % (b"x" * 5_000_000)}
    assert drained.damaged == ()
    if not drained.torn:
        pytest.skip(f"none of {lives} kills met a write half done")


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
            time.sleep(0.001)
        assert (first.returncode, second.returncode) == (0, 0)
    drained += journal.drain(shelf.deliver)

    assert (drained, during > 0) == (Drained(delivered=300), True)
    for writer in ("a", "b"):
        own = [entry for entry in shelf if json.loads(entry)["id"][0] == writer]
        assert own == [b'{"id":"%b-%d"}' % (writer.encode(), n) for n in range(150)]


NEWBORN = """
folder = Path(sys.argv[1])
times = int(sys.argv[2])
def drain_before_the_lock(event, arguments):
    global times
    if event == "fcntl.flock" and times > 0:
        left, times = times - 1, 0
        Journal(folder).drain(print)
        times = left
sys.addaudithook(drain_before_the_lock)
try:
    Journal(folder).append([b'{"id":1}'])
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("times", "pending", "message"),
    [
        pytest.param(1, 1, "", id="once"),
        pytest.param(5, 1, "", id="several times"),
        pytest.param(100, 0, "100 new files were removed before they could be locked; check the folder", id="always"),
    ],
)
def test_a_file_drained_between_its_making_and_its_lock_is_not_written_to(
    folder: Path, times: int, pending: int, message: str
) -> None:
    """A new file that a drain takes for an orphan and removes is given up for another, or the entry is reported."""
    shown = output(NEWBORN, folder, times)

    assert (Journal(folder).pending(), message in shown, bool(shown)) == (pending, True, bool(message))


def test_drainers_do_not_share_a_file(folder: Path, shelf: Shelf) -> None:
    """While one drains a file, another passes over it, in the same process too."""
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
"""


def test_the_file_of_a_live_process_is_left_alone(folder: Path, shelf: Shelf) -> None:
    """It is counted as pending, not drained, until its process is killed."""
    journal = Journal(folder)
    with running(HOLDER, folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        journal.append(numbered(3))

        assert (journal.drain(shelf.deliver), journal.pending()) == (Drained(delivered=1), 2)
        process.kill()
        process.wait()
        assert (journal.drain(shelf.deliver), journal.pending()) == (Drained(delivered=2), 0)

    assert shelf == numbered(3, 1, 2)


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
time.sleep(0.05)
journal.append([b'{"id":3}'])
os.write(1, b'parent\\n')
sys.stdin.read()
"""


@pytest.mark.parametrize("child", ["appends", "does nothing"])
def test_a_forked_child_and_its_parent_keep_apart(folder: Path, shelf: Shelf, child: str) -> None:
    """A child writes to a file of its own, does not unlock its parent's, and does not keep it locked afterwards."""
    journal = Journal(folder)
    with running(FORKED, folder, child) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline() for _ in range(2)} == {"child\n", "parent\n"}

        assert journal.drain(shelf.deliver) == Drained()
        parent.kill()
        parent.wait()
        # The child lives on until its standard input, which this process holds open, is closed.
        held = journal.drain(shelf.deliver)

    assert (held, shelf) == (Drained(delivered=2), numbered(1, 3))


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
        time.sleep(0.002)
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


def test_without_file_locks_there_is_no_journal(folder: Path) -> None:
    """A platform that cannot tell whether a writer lives is refused when the journal is made."""
    script = """
import sys
sys.modules["fcntl"] = None
from pathlib import Path
from stillme.audit.journal import Journal
from stillme.errors import BackendError
try:
    Journal(Path(sys.argv[1]))
except BackendError as error:
    print(error)
"""
    shown = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True).stdout

    assert shown == (
        f"no journal can be kept in '{folder}': this platform has no file locks (the fcntl module), "
        "which keep two processes from draining one file; set audit.on_failure to refuse\n"
    )


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

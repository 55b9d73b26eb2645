"""The local journal: takes audit entries while their store cannot, and gives them back to it later.

A journal is a folder. Each process appends to a file of its own, `<unix time>-<pid>-<random>.journal`, and holds a lock on
it (flock) until it closes the journal, drains it or dies, so that whoever drains knows whether its writer is still there.
The lock needs a local disk and a platform with `fcntl`; where that is missing (Windows), making a Journal is refused.

A line is `sha256 payload`, the hash over the hash of the line before and the payload; the first line is a header with a
nonce. The hashes are not keyed: they find accidents (a cut, a flipped bit, a mixed up line), not a forger. Lines cut off
whole from the end of a file whose writer is gone are not noticed either.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal
from weakref import WeakSet

from stillme.errors import BackendError, InputError, shown

try:
    import fcntl
except ImportError:  # not a POSIX platform; Journal says so when it is made
    fcntl = None  # type: ignore[assignment]

__all__ = ["DamagedFile", "Drained", "Journal"]

HEADER = b'{"stillme_journal":1,"nonce":"'
HASH_LENGTH = 64
HEX_DIGITS = b"0123456789abcdef"
CONTROL_BYTES = bytes(range(32))
NEW_FILE_ATTEMPTS = 100
READ_SIZE = 1 << 20

MAKE_ROOM = "free space on its disk, or raise the quota or the file size limit (ulimit -f) of this process"
GIVE_ACCESS = "let the user of this process read and write there"
CHOOSE_PATH = "choose a path where a folder can be made"
ADVICE = {
    errno.ENOSPC: MAKE_ROOM,
    errno.EDQUOT: MAKE_ROOM,
    errno.EFBIG: MAKE_ROOM,
    errno.EACCES: GIVE_ACCESS,
    errno.EPERM: GIVE_ACCESS,
    errno.EROFS: "mount its disk writable or choose another folder",
    errno.ENOTDIR: CHOOSE_PATH,
    errno.EEXIST: CHOOSE_PATH,
    errno.ENOLCK: "choose a folder on a local disk, where files can be locked",
}


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file set aside because `line` (1 is the header) is not as it was written; only what stood before was delivered."""

    path: Path
    line: int

    def __str__(self) -> str:
        return (
            f"the journal file {_named(self.path)} is damaged from line {self.line} on: the entries before are delivered, "
            "the rest is kept there undelivered; compare it with a backup, and delete it only when the rest is accounted for"
        )


@dataclass(frozen=True, slots=True)
class Drained:
    """What one drain did: entries delivered, unfinished last lines dropped, files set aside as damaged."""

    delivered: int = 0
    torn: int = 0
    damaged: tuple[DamagedFile, ...] = ()

    def __add__(self, other: Drained) -> Drained:
        return Drained(self.delivered + other.delivered, self.torn + other.torn, self.damaged + other.damaged)


class Journal:
    """Entries appended here are on disk when `append` returns and stay until `drain` has delivered them.

    Safe to share between threads; a forked child starts a file of its own. The folder is made at the first append.
    """

    def __init__(self, folder: Path) -> None:
        if fcntl is None:
            raise BackendError(
                f"no journal can be kept in {_named(folder)}: this platform has no file locks (the fcntl module), "
                "which keep two processes from draining one file; set audit.on_failure to refuse"
            )
        self._folder = Path(folder).absolute()
        self._writer: _Writer | None = None
        self._appending = threading.Lock()
        self._draining = threading.Lock()
        _JOURNALS.add(self)

    def append(self, payloads: Sequence[bytes]) -> None:
        """All payloads are on disk when this returns; BackendError: none is, unless it says that they may be."""
        for payload in payloads:
            _check(payload)
        if not payloads:
            return
        with self._appending:
            try:
                self._ready().write(payloads)
            except OSError as failure:
                raise BackendError(self._not_written(len(payloads), failure)) from failure

    def pending(self) -> int:
        """How many entries wait in all files, those of other live processes included and damaged files left out."""
        return sum(map(_entries_in, self.files()))

    @property
    def has_own(self) -> bool:
        """Whether this process has a file that it has not drained yet."""
        return self._writer is not None

    def files(self) -> tuple[Path, ...]:
        """The journal files of all processes, oldest first."""
        return self._listed(".journal")

    def damaged(self) -> tuple[Path, ...]:
        """The files that a drain set aside because they are damaged, oldest first."""
        return self._listed(".damaged")

    def drain(self, deliver: Callable[[Sequence[bytes]], None], batch: int = 200) -> Drained:
        """Hand every entry that no other live process holds to `deliver`, file by file in order, then remove the files.

        What `deliver` raises goes on to the caller and the file it came from stays whole, so the same entry can be
        delivered twice: it must be durable and idempotent. It may append to this journal but not drain it.
        """
        if batch < 1:
            raise InputError(f"batch must be 1 or more, got {shown(batch)}")
        drained = Drained()
        closed: list[str] = []
        with self._draining:
            for held in self._orphans(closed):
                try:
                    drained += _drain_file(held, 0, deliver, batch)
                finally:
                    held.release()
            # The own file comes last: while the store is down the older ones fail first, and it stays in use.
            drained += self._drain_own(deliver, batch)
        if closed:
            raise BackendError(
                f"{len(closed)} journal files could not be drained (everything else was): {'; '.join(closed[:3])}"
            )
        return drained

    def close(self) -> None:
        """Let go of this process' file, so that others may drain it; a later append starts a new one."""
        writer = self._detached()
        if writer is not None:
            writer.held.release()

    def _ready(self) -> _Writer:
        """This process' file, as it was left by the last append."""
        if self._writer is not None and not self._writer.usable:
            # An append was broken off: nobody may write behind bytes that are not accounted for.
            writer, self._writer = self._writer, None
            writer.held.release()
        if self._writer is None:
            self._writer = _started(self._folder)
        elif not self._writer.is_as_left():
            raise BackendError(
                f"no entry was written to the journal {_named(self._folder)}: its file {self._writer.held.path.name} was "
                "removed or changed by someone else while in use; drain the journal from this process, which still has "
                "the file open, and keep others out of the folder"
            )
        return self._writer

    def _not_written(self, count: int, failure: OSError) -> str:
        uncertain = self._writer is not None and not self._writer.usable
        return f"{count} audit entries were not written to the journal {_named(self._folder)}: {_cause(failure)}" + (
            "; what was begun could not be taken back, so a later drain may still deliver them" if uncertain else ""
        )

    def _orphans(self, closed: list[str]) -> Iterator[_Held]:
        """Each file that no live process holds, locked; those that cannot be opened are named in `closed`."""
        for path in self.files():
            try:
                held = _hold(path, os.O_RDWR)
            except FileNotFoundError:  # drained by another process since it was listed
                continue
            except OSError as failure:  # one file of another user must not keep all others from being drained
                closed.append(f"{_named(path)}: {_cause(failure)}")
                continue
            if held is not None:
                yield held

    def _drain_own(self, deliver: Callable[[Sequence[bytes]], None], batch: int) -> Drained:
        """Drain what this process wrote, while its other threads append to a new file."""
        writer = self._detached()
        if writer is None:
            return Drained()
        try:
            drained = _drain_file(writer.held, writer.end.length, deliver, batch)
        except BaseException:
            self._take_back(writer)
            raise
        writer.held.release()
        return drained

    def _detached(self) -> _Writer | None:
        """This process' file, which from now on no append uses."""
        with self._appending:
            writer, self._writer = self._writer, None
        return writer

    def _take_back(self, writer: _Writer) -> None:
        """Go on with a file that was not drained, or leave it to the next drain if a new one is in use by now."""
        with self._appending:
            if self._writer is None:
                self._writer = writer
                return
        writer.held.release()

    def _listed(self, suffix: str) -> tuple[Path, ...]:
        try:
            return tuple(sorted(path for path in self._folder.iterdir() if path.suffix == suffix and path.is_file()))
        except FileNotFoundError:
            return ()
        except OSError as failure:
            raise BackendError(f"the journal {_named(self._folder)} cannot be listed: {_cause(failure)}") from failure

    def _start_over(self) -> None:
        """In a forked child: leave the file and the locks of the parent to the parent."""
        writer, self._writer = self._writer, None
        self._appending = threading.Lock()
        self._draining = threading.Lock()
        if writer is not None:
            os.close(writer.held.fd)  # without unlocking, which would unlock it for the parent too


_JOURNALS: WeakSet[Journal] = WeakSet()


def _start_over_in_child() -> None:
    for journal in list(_JOURNALS):
        journal._start_over()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over_in_child)


@dataclass(frozen=True, slots=True)
class _Held:
    """An open file that this process has locked."""

    path: Path
    fd: int

    def is_in_place(self) -> bool:
        """Whether the path still leads to this file."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self.fd))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def release(self) -> None:
        """Unlock before closing: a child forked meanwhile may have a copy that would keep the lock."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_UN)
        finally:
            os.close(self.fd)


@dataclass(frozen=True, slots=True)
class _End:
    """Where the acknowledged lines of a file end, and the hash of the last of them."""

    length: int
    digest: bytes


class _Writer:
    """The file this process appends to; not usable once a write was broken off and not taken back."""

    def __init__(self, held: _Held) -> None:
        self.held = held
        self.end = _End(0, b"")
        self.usable = True

    def is_as_left(self) -> bool:
        """Whether the file is still in its place and as long as what was acknowledged."""
        return self.held.is_in_place() and os.fstat(self.held.fd).st_size == self.end.length

    def write(self, payloads: Sequence[bytes]) -> None:
        """One write and one fsync for all; OSError if either fails, with the file cut back to what it was."""
        digest, lines = self.end.digest, []
        for payload in payloads:
            digest = _digest(digest, payload)
            lines.append(b"%b %b\n" % (digest, payload))
        content = b"".join(lines)

        self.usable = False
        try:
            written = os.write(self.held.fd, content)
            if written < len(content):
                raise OSError(errno.ENOSPC, f"only {written} of {len(content)} bytes could be written")
            os.fsync(self.held.fd)
        except OSError:
            os.ftruncate(self.held.fd, self.end.length)
            os.fsync(self.held.fd)
            self.usable = True
            raise
        self.end = _End(self.end.length + len(content), digest)
        self.usable = True


def _started(folder: Path) -> _Writer:
    """A new file, locked, with its header, and durable in its folder."""
    _make_folder(folder)
    for _ in range(NEW_FILE_ATTEMPTS):
        path = folder / f"{time.time():.6f}-{os.getpid()}-{secrets.token_hex(4)}.journal"
        held = _hold(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        if held is None:  # a drain saw it before it was locked, took it for an empty orphan and removes it
            continue
        with ExitStack() as undo:
            undo.callback(held.release)
            undo.callback(path.unlink, missing_ok=True)
            writer = _Writer(held)
            writer.write([HEADER + secrets.token_hex(16).encode() + b'"}'])
            _sync_folder(folder)
            undo.pop_all()
        return writer
    raise OSError(errno.EAGAIN, f"{NEW_FILE_ATTEMPTS} new files were removed before they could be locked")


def _hold(path: Path, flags: int) -> _Held | None:
    """The file, opened and locked; None if another has the lock or has removed the file by now."""
    with ExitStack() as undo:
        held = _Held(path, os.open(path, flags, 0o600))
        undo.callback(os.close, held.fd)
        with suppress(BlockingIOError):
            fcntl.flock(held.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if held.is_in_place():
                undo.pop_all()
                return held
    return None


def _make_folder(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in missing:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class _Reader:
    """Reads the payloads of a file up to the first line that is not whole; then `rest` says what comes after them."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.whole_lines = 0
        self.length = 0
        self.rest: Literal["nothing", "torn", "damaged"] = "nothing"

    def __iter__(self) -> Iterator[bytes]:
        digest = b""
        for line in self._lines():
            payload = line[HASH_LENGTH + 1 :].removesuffix(b"\n")
            expected = _digest(digest, payload)
            if line[: HASH_LENGTH + 1] != expected + b" ":
                self.rest = "torn" if _is_torn(line, digest) else "damaged"
                return
            if self.whole_lines == 0 and not payload.startswith(HEADER):
                self.rest = "damaged"
                return
            digest = expected
            self.whole_lines += 1
            self.length += len(line)
            if self.whole_lines > 1:
                yield payload

    def _lines(self) -> Iterator[bytes]:
        os.lseek(self._fd, 0, os.SEEK_SET)
        with os.fdopen(self._fd, "rb", READ_SIZE, closefd=False) as file:
            while True:
                try:
                    line = file.readline()
                except OSError:  # the disk cannot give these bytes back
                    self.rest = "damaged"
                    return
                if not line:
                    return
                yield line


def _is_torn(line: bytes, previous: bytes) -> bool:
    """Whether this can be the beginning of a line whose write was broken off, rather than a line that was whole once."""
    head, space, begun = line[:HASH_LENGTH], line[HASH_LENGTH : HASH_LENGTH + 1], line[HASH_LENGTH + 1 :]
    could_be_written = not head.translate(None, HEX_DIGITS) and space in (b"", b" ") and _has_no_controls(begun)
    only_its_end_is_wrong = head == _digest(previous, begun[:-1])
    return could_be_written and not only_its_end_is_wrong


def _drain_file(held: _Held, acknowledged: int, deliver: Callable[[Sequence[bytes]], None], batch: int) -> Drained:
    """Deliver the entries of one file, then remove it or set it aside."""
    reader = _Reader(held.fd)
    entries = iter(reader)
    delivered = 0
    while group := list(islice(entries, batch)):
        deliver(group)
        delivered += len(group)
    try:
        if reader.rest == "damaged" or reader.length < acknowledged:
            return Drained(delivered, damaged=(DamagedFile(_set_aside(held), reader.whole_lines + 1),))
        _remove(held)
    except OSError as failure:
        raise BackendError(
            f"the journal file {_named(held.path)} was delivered but cannot be removed: {_cause(failure)}; "
            "until then every drain delivers it again"
        ) from failure
    return Drained(delivered, torn=int(reader.rest == "torn"))


def _set_aside(held: _Held) -> Path:
    """Where the damaged file is kept from now on; one that someone else took away stays where that one put it."""
    if not held.is_in_place():
        return held.path
    target = held.path.with_suffix(".damaged")
    if target.exists():  # a repaired copy that is damaged again must not replace the first evidence
        target = target.with_name(f"{target.stem}-{secrets.token_hex(4)}.damaged")
    held.path.rename(target)
    _sync_folder(target.parent)
    return target


def _remove(held: _Held) -> None:
    if held.is_in_place():
        held.path.unlink()
        _sync_folder(held.path.parent)


def _entries_in(path: Path) -> int:
    """Finished lines without the header; a file removed meanwhile has none left."""
    try:
        with path.open("rb", buffering=0) as file:
            lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(READ_SIZE), b""))
    except FileNotFoundError:
        return 0
    except OSError as failure:
        raise BackendError(f"the journal file {_named(path)} cannot be read: {_cause(failure)}") from failure
    return max(lines - 1, 0)


def _check(payload: bytes) -> None:
    if not isinstance(payload, bytes):
        raise InputError(f"a journal payload must be bytes, got {shown(payload)}; encode the JSON text as UTF-8")
    if not payload or not _has_no_controls(payload):
        raise InputError(
            "a journal payload must be JSON text on one line without control characters, "
            f"got {shown(payload)}; dump it without indentation"
        )
    try:
        payload.decode()
    except UnicodeDecodeError as failure:
        raise InputError(f"a journal payload must be UTF-8, got {shown(payload)} ({failure.reason})") from failure


def _has_no_controls(payload: bytes) -> bool:
    return len(payload.translate(None, CONTROL_BYTES)) == len(payload)


def _digest(previous: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(previous + payload).hexdigest().encode()


def _named(path: Path) -> str:
    return shown(str(path), 500)


def _cause(failure: OSError) -> str:
    advice = ADVICE.get(failure.errno or 0, "check the folder and its disk")
    return f"{failure.strerror or failure}; {advice}"

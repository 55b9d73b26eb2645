"""Files into a store: what is new is added, what changed is replaced, what is the same is left alone.

A document is kept whole or not at all, and known by the digest of its bytes: a run that was cut off is continued by running it again.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from stillme.chat.documents.chunking import CHUNKING_VERSION, chunks_of
from stillme.chat.documents.extracts import clean
from stillme.chat.documents.file_formats import READERS_VERSION, SUFFIXES, ReadingLimits, read_bytes, read_document
from stillme.errors import BackendError, InputError, shown
from stillme.grounding.similarity import Embed
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.store import Chunk, Document

__all__ = ["Failure", "IngestReport", "Progress", "embedded_text", "ingest"]

AT_ONCE: Final = 16
LONGEST_NAME: Final = 400
LONGEST_ROOT: Final = 100
NO_SUFFIX: Final = "no ending"
StrPath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that was not ingested, or not as it stands, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What a run did, by document name; the same input gives the same report."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    """Files that could not be read; what the store held of them before it still holds."""
    noted: tuple[Failure, ...] = ()
    """Files that were read, with something to know about it, and links that were not followed."""
    unsupported: Mapping[str, int] = field(default_factory=dict)
    """Files passed over because of their kind: how many of each ending."""
    chunks: int = 0
    """How many chunks were embedded."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: which document, which of its chunks, and the share of all bytes that is done."""

    document: str
    chunk: int
    chunks: int
    share: float


class _ListedFile(NamedTuple):
    """A file to ingest under a name."""

    path: Path
    name: str
    size: int


class _Root(NamedTuple):
    """A folder or a file that was asked for, and how the names of its documents begin."""

    path: Path
    name: str
    is_folder: bool


def ingest(
    paths: Iterable[StrPath],
    store: KnowledgeStore,
    *,
    embed: Embed,
    names: Mapping[str, str] | None = None,
    remove_missing: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    limits: ReadingLimits = ReadingLimits(),  # noqa: B008  (it cannot be changed)
) -> IngestReport:
    """Bring the store up to date with files and folders; one that cannot be read is reported and stops nothing.

    A document is called `folder/path/in/it.md`, a file that is given itself by its own name. `names` gives a path, as it is written in
    `paths`, another name: two of one name are an InputError before anything is done. With `remove_missing`, documents under the given
    folders whose files are gone are removed.
    """
    run = _Run(store, embed, on_progress, limits)
    listed = [(root, run.list_files(root)) for root in _roots(paths, names or {})]
    files = run.distinct(file for _, found in listed for file in found or ())
    run.total = sum(file.size for file in files) or 1
    known = store.digests("knowledge")
    for file in files:
        run.take(file, known.get(file.name))
    if remove_missing:
        for root, found in listed:
            run.remove_missing(root, found, known)
    report = run.report()
    if report.added or report.replaced or report.removed:
        store.settle()
    return report


def embedded_text(chunk: Chunk) -> str:
    """What a chunk's vector is made of: its title too, for a piece from the middle of a page seldom says what it speaks of."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


class _Run:
    """One run: what it works with, and what it has done."""

    def __init__(
        self, store: KnowledgeStore, embed: Embed, on_progress: Callable[[Progress], None] | None, limits: ReadingLimits
    ) -> None:
        self._store, self._embed, self._limits = store, embed, limits
        self._tell = on_progress or (lambda _: None)
        self._names: dict[str, list[str]] = {kind: [] for kind in ("added", "replaced", "unchanged", "removed")}
        self._failed: list[Failure] = []
        self._noted: list[Failure] = []
        self._unsupported: Counter[str] = Counter()
        self._chunks = 0
        self._done = 0
        self.total = 1

    def report(self) -> IngestReport:
        return IngestReport(
            **{kind: tuple(names) for kind, names in self._names.items()},
            failed=tuple(self._failed),
            noted=tuple(self._noted),
            unsupported=dict(sorted(self._unsupported.items())),
            chunks=self._chunks,
        )

    def _fail(self, path: object, reason: str) -> None:
        self._failed.append(Failure(clean(str(path)), reason))

    # files

    def list_files(self, root: _Root) -> list[_ListedFile] | None:
        """The files of a root in the order of their names; None where it could not be listed whole."""
        if not root.is_folder:
            return self._given_file(root)
        problems: list[OSError] = []
        links: list[Path] = []
        paths = list(_walk(root.path, problems, links))
        for error in problems:
            self._fail(error.filename or root.path, _words(error))
        for link in links:
            self._noted.append(Failure(clean(str(link)), "a link out of the folder, or to a folder, is not followed"))
        readable: list[_ListedFile] = []
        for path in sorted(paths, key=lambda path: path.relative_to(root.path).parts):
            if path.suffix.lower() not in SUFFIXES:
                self._unsupported[clean(path.suffix.lower()) or NO_SUFFIX] += 1
                continue
            readable += self._named(path, clean(f"{root.name}/{path.relative_to(root.path).as_posix()}"))
        return None if problems else readable

    def _given_file(self, root: _Root) -> list[_ListedFile] | None:
        if not root.path.exists():
            self._fail(root.path, "there is no such file or folder")
            return None
        if root.path.suffix.lower() not in SUFFIXES:
            self._fail(root.path, f"it is of no kind that can be read: {', '.join(SUFFIXES)}")
            return None
        return self._named(root.path, root.name)

    def _named(self, path: Path, name: str) -> list[_ListedFile]:
        if len(name) > LONGEST_NAME:
            self._fail(path, f"its name is longer than {LONGEST_NAME} characters: shorten it")
            return []
        try:
            return [_ListedFile(path, name, path.stat().st_size)]
        except OSError as error:
            self._fail(path, _words(error))
            return []

    def distinct(self, files: Iterable[_ListedFile]) -> list[_ListedFile]:
        """Each file once, under the first of its names; of two files whose names read alike only the first is taken."""
        by_place: dict[str, _ListedFile] = {}
        by_name: dict[str, _ListedFile] = {}
        for file in files:
            if by_place.setdefault(os.path.realpath(file.path), file) is not file:
                continue
            if by_name.setdefault(file.name, file) is not file:
                self._fail(file.path, f"its name reads like that of another file, {shown(file.name)}: rename it")
        return list(by_name.values())

    # documents

    def take(self, file: _ListedFile, known: str | None) -> None:
        """Bring one document up to date."""
        before = self._done
        self._done += file.size
        try:
            content = read_bytes(file.path, self._limits)
            digest = _digest(content)
            if digest == known:
                self._names["unchanged"].append(file.name)
                self._tell(Progress(file.name, 0, 0, self._done / self.total))
                return
            reading = read_document(file.name, content, digest, changed=_changed(file.path), limits=self._limits)
        except (InputError, BackendError) as error:
            kept = "" if known is None else "; its earlier version is still in the store"
            self._fail(file.path, f"{error}{kept}")
            self._tell(Progress(file.name, 0, 0, self._done / self.total))
            return
        self._noted += [Failure(clean(str(file.path)), note) for note in reading.notes]
        self._put(reading.document, before, file.size)
        self._names["added" if known is None else "replaced"].append(file.name)

    def _put(self, document: Document, before: int, size: int) -> None:
        chunks = chunks_of(document)
        self._tell(Progress(document.name, 0, len(chunks), before / self.total))
        parts: list[Any] = []
        for at in range(0, len(chunks), AT_ONCE):
            parts.append(self._embed([embedded_text(chunk) for chunk in chunks[at : at + AT_ONCE]], "passage"))
            done = min(at + AT_ONCE, len(chunks))
            self._tell(Progress(document.name, done, len(chunks), (before + size * done / len(chunks)) / self.total))
        self._store.put("knowledge", document, chunks, _stacked(parts))
        self._chunks += len(chunks)

    def remove_missing(self, root: _Root, found: Sequence[_ListedFile] | None, known: Mapping[str, str]) -> None:
        """Remove the documents of a folder whose files are gone; a folder that looks unmounted loses none."""
        if not root.is_folder or found is None:
            return
        there = {file.name for file in found}
        gone = sorted(name for name in known if name.startswith(f"{root.name}/") and name not in there)
        if gone and not there:
            what = "1 document" if len(gone) == 1 else f"{len(gone)} documents"
            self._fail(root.path, f"it holds nothing that can be read, but {what} came from it: nothing was removed")
        elif gone:
            self._store.remove("knowledge", gone)
            self._names["removed"] += gone


def _digest(content: bytes) -> str:
    """Changes with the bytes, and with the way they are read and cut."""
    return f"{READERS_VERSION}.{CHUNKING_VERSION}-{hashlib.sha256(content).hexdigest()}"


def _changed(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _stacked(parts: Sequence[Any]) -> Any:
    import numpy  # noqa: PLC0415  (loaded with the model)

    return numpy.concatenate(parts)


def _words(error: OSError) -> str:
    return f"it cannot be opened: {error.strerror or type(error).__name__}"


# roots


def _roots(paths: Iterable[StrPath], names: Mapping[str, str]) -> list[_Root]:
    """What was asked for, each once, by name; two of one name would overwrite each other's documents."""
    given = dict(names)
    found: dict[str, _Root] = {}
    for path in dict.fromkeys(os.fspath(path) for path in paths):
        root = _root(Path(path), given.pop(path, None))
        other = found.setdefault(root.name, root)
        if os.path.realpath(other.path) != os.path.realpath(root.path):
            both = f"{shown(str(other.path))} and {shown(path)}"
            raise InputError(f"{both} are both called {shown(root.name)}: give one of them another name")
    if given:
        raise InputError(f"a name is given for {shown(next(iter(given)))}, which is not among the paths")
    return list(found.values())


def _root(path: Path, name: str | None) -> _Root:
    if name is None:
        own = path.name if path.name not in ("", "..") else Path(os.path.realpath(path)).name
        return _Root(path, clean(own) or "root", path.is_dir())
    _check_root_name(path, name)
    return _Root(path, name, path.is_dir())


def _check_root_name(path: Path, name: str) -> None:
    """Refuse a name that documents cannot be kept under, or that hides what kind of file it is."""
    if not 1 <= len(name) <= LONGEST_ROOT or name != clean(name).strip(" ./") or "/" in name:
        raise InputError(f"{shown(name)} cannot be a name: take 1 to {LONGEST_ROOT} letters, digits and hyphens")
    if not path.is_dir() and Path(name).suffix.lower() != path.suffix.lower():
        raise InputError(f"the name {shown(name)} must end with {shown(path.suffix)}, as the file does")


def _walk(folder: Path, problems: list[OSError], links: list[Path]) -> Iterator[Path]:
    """The files below a folder but for hidden ones; a link to a file that is not found otherwise stands for it.

    Links out of the folder could make anything on the machine readable by a chat, and links to folders can go round in circles.
    """
    inside = os.path.realpath(folder) + os.sep
    linked: list[Path] = []
    own: set[str] = set()
    for where, folders, files in os.walk(folder, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links += [path for name in folders if (path := Path(where, name)).is_symlink()]
        for path in (Path(where, name) for name in sorted(files) if not name.startswith(".")):
            if path.is_symlink():
                linked.append(path)
            elif path.is_file():
                own.add(os.path.realpath(path))
                yield path
    for path in linked:
        target = os.path.realpath(path)
        if not target.startswith(inside):
            links.append(path)
        elif target not in own and path.is_file():
            yield path

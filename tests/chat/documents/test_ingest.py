"""Files into a real store: what is added, replaced, left alone, removed and reported."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest

from stillme.chat.documents import ingest as module
from stillme.chat.documents.ingest import Failure, IngestReport, Progress, embedded_text, ingest
from stillme.errors import InputError
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at
from stillme.storage.knowledge.store import Chunk
from tests.chat.pdfs import made_pdf

LEAVE = "# Leave\n\nAnnual leave is 12 days.\n"
PAY = "# Lương\n\nLương được trả vào ngày 5 hằng tháng.\n"


def embed(texts: Sequence[str], kind: str) -> Any:
    """Unit vectors that depend on the text alone: what they mean is of no account here."""
    assert kind == "passage"
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
    rows = numpy.stack([numpy.random.default_rng(seed).normal(size=16) for seed in seeds])
    return (rows / numpy.linalg.norm(rows, axis=1, keepdims=True)).astype("float32")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    """An empty store in SQLite."""
    with closing(store_at(tmp_path / "knowledge.db", embedder="tests")) as opened:
        yield opened


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A folder with two documents."""
    folder = tmp_path / "handbook"
    (folder / "pay").mkdir(parents=True)
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    (folder / "pay" / "lương.md").write_text(PAY, encoding="utf-8")
    return folder


def chunks(store: KnowledgeStore) -> list[Chunk]:
    """Every chunk in a store of a few."""
    nearest = store.near("knowledge", embed(["x"], "passage")[0], 100)
    return sorted(store.chunks("knowledge", [found for found, _ in nearest]), key=lambda chunk: chunk.id)


# a run, and another one


def test_a_folder_is_ingested_under_its_own_name(handbook: Path, store: KnowledgeStore) -> None:
    """Documents are named by the folder and their way in it, and stored in chunks with vectors."""
    report = ingest([handbook], store, embed=embed)

    assert report == IngestReport(added=("handbook/leave.md", "handbook/pay/lương.md"), chunks=2)
    assert [(chunk.document, chunk.title, chunk.text) for chunk in chunks(store)] == [
        ("handbook/leave.md", "Leave", LEAVE.strip()),
        ("handbook/pay/lương.md", "Lương", PAY.strip()),
    ]


def test_a_second_run_does_nothing(handbook: Path, store: KnowledgeStore) -> None:
    """What is the same is not embedded again."""
    ingest([handbook], store, embed=embed)

    def not_needed(texts: Sequence[str], kind: str) -> Any:
        pytest.fail(f"embedded again, as {kind}: {texts}")

    assert ingest([handbook], store, embed=not_needed) == IngestReport(
        unchanged=("handbook/leave.md", "handbook/pay/lương.md")
    )


def test_what_changed_is_replaced(handbook: Path, store: KnowledgeStore) -> None:
    """The old chunks are gone; a file that was only touched is unchanged."""
    ingest([handbook], store, embed=embed)
    (handbook / "leave.md").write_text(LEAVE.replace("12", "14"), encoding="utf-8")
    os.utime(handbook / "pay" / "lương.md", (1, 1))

    report = ingest([handbook], store, embed=embed)

    assert report == IngestReport(replaced=("handbook/leave.md",), unchanged=("handbook/pay/lương.md",), chunks=1)
    assert [chunk.text[-8:] for chunk in chunks(store)] == ["14 days.", "g tháng."]


def test_another_way_of_reading_reads_everything_again(
    handbook: Path, store: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest holds the versions of the reader and of the cutting."""
    ingest([handbook], store, embed=embed)
    monkeypatch.setattr(module, "CHUNKING_VERSION", "next")

    assert len(ingest([handbook], store, embed=embed).replaced) == 2


def test_a_folder_is_the_same_wherever_it_stands(handbook: Path, store: KnowledgeStore, tmp_path: Path) -> None:
    """Names and ids do not depend on where it is mounted or how its path is written."""
    ingest([handbook], store, embed=embed)
    moved = tmp_path / "elsewhere" / "handbook"
    moved.parent.mkdir()
    handbook.rename(moved)

    assert len(ingest([f"{moved}/."], store, embed=embed).unchanged) == 2
    assert len(ingest([moved / "pay" / ".."], store, embed=embed).unchanged) == 2


def test_a_run_that_was_cut_off_is_continued(handbook: Path, store: KnowledgeStore) -> None:
    """What was stored is kept, what was not is done by the next run."""

    def cut_off(texts: Sequence[str], kind: str) -> Any:
        if any("Lương" in text for text in texts):
            raise KeyboardInterrupt
        return embed(texts, kind)

    with pytest.raises(KeyboardInterrupt):
        ingest([handbook], store, embed=cut_off)

    assert ingest([handbook], store, embed=embed) == IngestReport(
        added=("handbook/pay/lương.md",), unchanged=("handbook/leave.md",), chunks=1
    )


def test_progress_goes_from_nothing_to_all(handbook: Path, store: KnowledgeStore) -> None:
    """By chunk, and by the share of all bytes, whatever happens to a file."""
    (handbook / "bad.txt").write_bytes(b"\xff")
    told: list[Progress] = []

    ingest([handbook], store, embed=embed, on_progress=told.append)
    ingest([handbook], store, embed=embed, on_progress=told.append)

    assert [(step.document, step.chunk, step.chunks) for step in told[:5]] == [
        ("handbook/bad.txt", 0, 0),
        ("handbook/leave.md", 0, 1),
        ("handbook/leave.md", 1, 1),
        ("handbook/pay/lương.md", 0, 1),
        ("handbook/pay/lương.md", 1, 1),
    ]
    assert [step.share for step in told[:5]] == sorted(step.share for step in told[:5])
    assert (told[4].share, told[-1].share) == (1.0, 1.0)


def test_a_vector_is_made_of_title_and_text() -> None:
    """A piece from the middle of a page does not say by itself what it speaks of."""
    chunk = Chunk("a#1", "a", 0, "It is 12 days.", 0, 14, "Handbook › Leave")

    assert embedded_text(chunk) == "Handbook › Leave\nIt is 12 days."


# what is in a folder


def test_other_kinds_are_counted_and_hidden_files_are_not_looked_at(handbook: Path, store: KnowledgeStore) -> None:
    """A folder may hold anything."""
    for name in ("a.docx", "b.DOCX", "README", ".secret.md", "page.HTML"):
        (handbook / name).write_text("<p>Hello.", encoding="utf-8")
    (handbook / ".git").mkdir()
    (handbook / ".git" / "x.md").write_text("x", encoding="utf-8")

    report = ingest([handbook], store, embed=embed)

    assert report.unsupported == {".docx": 2, "no ending": 1}
    assert report.added == ("handbook/leave.md", "handbook/page.HTML", "handbook/pay/lương.md")


def test_links_out_of_a_folder_are_not_followed(handbook: Path, store: KnowledgeStore, tmp_path: Path) -> None:
    """Nor are links to folders, which may go round; a link to a file that is read anyway adds nothing."""
    secret = tmp_path / "secret.md"
    secret.write_text("Not for everybody.", encoding="utf-8")
    (handbook / "out.md").symlink_to(secret)
    (handbook / "loop").symlink_to(handbook, target_is_directory=True)
    (handbook / "alias.md").symlink_to("leave.md")
    (handbook / "round.md").symlink_to("round.md")
    (handbook / "dangling.md").symlink_to("nowhere.md")

    report = ingest([handbook], store, embed=embed)

    assert report.added == ("handbook/leave.md", "handbook/pay/lương.md")
    assert [Path(note.path).name for note in report.noted] == ["loop", "out.md"]
    assert report.failed == ()


def test_a_link_to_a_hidden_file_of_the_folder_is_read(tmp_path: Path, store: KnowledgeStore) -> None:
    """As folders are laid out that a cluster mounts."""
    folder = tmp_path / "mounted"
    (folder / "..data").mkdir(parents=True)
    (folder / "..data" / "leave.md").write_text(LEAVE, encoding="utf-8")
    (folder / "leave.md").symlink_to("..data/leave.md")

    assert ingest([folder], store, embed=embed).added == ("mounted/leave.md",)


def test_a_linked_folder_is_read_where_it_is_asked_for(handbook: Path, store: KnowledgeStore, tmp_path: Path) -> None:
    """Under the name it was given by."""
    (tmp_path / "wiki").symlink_to(handbook, target_is_directory=True)

    assert ingest([tmp_path / "wiki"], store, embed=embed).added == ("wiki/leave.md", "wiki/pay/lương.md")


def test_every_kind_of_file_is_read(tmp_path: Path, store: KnowledgeStore) -> None:
    """In the order of their names."""
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "b.html").write_text("<title>Page</title><p>Hello.", encoding="utf-8")
    (folder / "c.txt").write_text("Xin chào.", encoding="utf-16")
    (folder / "a.pdf").write_bytes(made_pdf("Hello.", "", title="Paper"))

    report = ingest([folder], store, embed=embed)

    assert report == IngestReport(
        added=("all/a.pdf", "all/b.html", "all/c.txt"),
        noted=(Failure(str(folder / "a.pdf"), "page 2 holds no text, as in a scan"),),
        chunks=3,
    )
    assert {(chunk.title, chunk.text) for chunk in chunks(store)} == {
        ("Paper", "Hello."),
        ("Page", "Hello."),
        ("c", "Xin chào."),
    }


# what goes wrong


def test_a_bad_file_stops_nothing(handbook: Path, store: KnowledgeStore) -> None:
    """It is named with the reason; what the store held of it stays."""
    ingest([handbook], store, embed=embed)
    (handbook / "leave.md").write_bytes(b"\xff\xff")
    (handbook / "new.pdf").write_bytes(b"%PDF-1.4")
    (handbook / "zoo.txt").write_text("Open daily.", encoding="utf-8")

    report = ingest([handbook, handbook / "none.md"], store, embed=embed, remove_missing=True)

    assert report.added == ("handbook/zoo.txt",)
    assert report.removed == ()
    assert [(Path(failure.path).name, failure.reason.split(":")[0]) for failure in report.failed] == [
        ("none.md", "there is no such file or folder"),
        ("leave.md", "it is not UTF-8 (byte 0)"),
        ("new.pdf", "it cannot be read as PDF (PdfStreamError)"),
    ]
    assert report.failed[1].reason.endswith("; its earlier version is still in the store")
    assert "handbook/leave.md" in store.digests("knowledge")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder_is_reported_and_loses_nothing(handbook: Path, store: KnowledgeStore) -> None:
    """What cannot be listed cannot be missed."""
    ingest([handbook], store, embed=embed)
    (handbook / "pay").chmod(0)

    report = ingest([handbook], store, embed=embed, remove_missing=True)
    (handbook / "pay").chmod(0o700)

    assert (report.removed, len(report.failed)) == ((), 1)


def test_a_file_of_another_kind_that_was_asked_for_is_a_failure(tmp_path: Path, store: KnowledgeStore) -> None:
    """Where a folder's would be passed over."""
    (tmp_path / "a.docx").write_bytes(b"PK")

    report = ingest([tmp_path / "a.docx"], store, embed=embed)

    assert report.failed[0].reason.startswith("it is of no kind that can be read: .md, ")


def test_two_roots_of_one_name_are_refused(tmp_path: Path, store: KnowledgeStore) -> None:
    """Before anything is done; with another name for one of them both are read."""
    for parent in ("x", "y"):
        (tmp_path / parent / "docs").mkdir(parents=True)
        (tmp_path / parent / "docs" / "a.md").write_text(parent, encoding="utf-8")
    roots = [tmp_path / "x" / "docs", tmp_path / "y" / "docs"]

    with pytest.raises(InputError, match="are both called 'docs': give one of them another name"):
        ingest(roots, store, embed=embed)

    assert store.counts("knowledge") == (0, 0)
    assert ingest(roots, store, embed=embed, names={str(roots[1]): "more"}).added == ("docs/a.md", "more/a.md")


def test_two_files_of_one_name_are_refused(tmp_path: Path, store: KnowledgeStore) -> None:
    """Files that are given themselves are called by their own names."""
    for parent in ("x", "y"):
        (tmp_path / parent).mkdir()
        (tmp_path / parent / "a.md").write_text(parent, encoding="utf-8")

    with pytest.raises(InputError, match=r"are both called 'a\.md'"):
        ingest([tmp_path / "x" / "a.md", tmp_path / "y" / "a.md"], store, embed=embed)

    assert ingest([tmp_path / "x" / "a.md"] * 2, store, embed=embed).added == ("a.md",)


def test_names_that_read_alike_do_not_overwrite_each_other(tmp_path: Path, store: KnowledgeStore) -> None:
    """One accent can be written in two ways; the second file is named as a failure."""
    folder = tmp_path / "docs"
    folder.mkdir()
    names = ["é.md", "e\u0301.md"]
    for name in names:
        (folder / name).write_text(name, encoding="utf-8")
    if len(list(folder.iterdir())) == 1:
        pytest.skip("this file system takes both for one name")

    report = ingest([folder], store, embed=embed)

    assert report.added == ("docs/é.md",)
    assert [failure.reason for failure in report.failed] == [
        "its name reads like that of another file, 'docs/é.md': rename it"
    ]


def test_a_file_is_read_once_under_its_first_name(handbook: Path, store: KnowledgeStore) -> None:
    """A folder and a file in it are not two documents."""
    report = ingest([handbook, handbook / "leave.md"], store, embed=embed)

    assert report.added == ("handbook/leave.md", "handbook/pay/lương.md")


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        pytest.param({"none": "x"}, "a name is given for 'none', which is not among the paths", id="of another path"),
        pytest.param({"here": "a/b"}, "'a/b' cannot be a name", id="with a slash"),
        pytest.param({"here": ""}, "'' cannot be a name", id="blank"),
        pytest.param({"here": ".x"}, "'.x' cannot be a name", id="hidden"),
        pytest.param({"here": "x" * 101}, "cannot be a name: take 1 to 100 letters", id="too long"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(
    names: dict[str, str], problem: str, handbook: Path, store: KnowledgeStore
) -> None:
    """Before anything is done."""
    given = {str(handbook) if path == "here" else path: name for path, name in names.items()}

    with pytest.raises(InputError, match=problem):
        ingest([str(handbook)], store, embed=embed, names=given)


def test_a_store_that_fails_ends_the_run(handbook: Path, store: KnowledgeStore, tmp_path: Path) -> None:
    """The fault is not the files': it is not reported as theirs, file by file."""
    (tmp_path / "knowledge.db").write_bytes(b"no database at all" * 100)

    with pytest.raises(InputError, match="is not a database"):
        ingest([handbook], store, embed=embed)


def test_another_embedder_is_refused(handbook: Path, store: KnowledgeStore, tmp_path: Path) -> None:
    """Vectors of two embedders cannot be compared."""
    ingest([handbook], store, embed=embed)
    (handbook / "leave.md").write_text("Changed.", encoding="utf-8")

    with closing(store_at(tmp_path / "knowledge.db", embedder="another")) as other, pytest.raises(InputError):
        ingest([handbook], other, embed=embed)


# what is gone


def test_documents_of_files_that_are_gone_stay_unless_asked(handbook: Path, store: KnowledgeStore) -> None:
    """And only those of the given folders are removed."""
    other = handbook.parent / "handbook-2"
    other.mkdir()
    (other / "x.md").write_text("x", encoding="utf-8")
    ingest([handbook, other], store, embed=embed)
    (handbook / "leave.md").unlink()
    (other / "x.md").rename(other / "y.md")

    kept = ingest([handbook], store, embed=embed)
    removed = ingest([handbook], store, embed=embed, remove_missing=True)

    assert kept.removed == ()
    assert removed == IngestReport(unchanged=("handbook/pay/lương.md",), removed=("handbook/leave.md",))
    assert set(store.digests("knowledge")) == {"handbook/pay/lương.md", "handbook-2/x.md"}


@pytest.mark.parametrize(
    "vanish",
    [
        pytest.param(lambda folder: [path.unlink() for path in folder.rglob("*.md")], id="an empty folder"),
        pytest.param(lambda folder: folder.rename(folder.with_name("away")), id="no folder at all"),
    ],
)
def test_a_folder_that_looks_unmounted_loses_nothing(
    vanish: Callable[[Path], object], handbook: Path, store: KnowledgeStore
) -> None:
    """A disk that is not there is no wish to forget what was on it."""
    ingest([handbook], store, embed=embed)
    vanish(handbook)

    report = ingest([handbook], store, embed=embed, remove_missing=True)

    assert (report.removed, len(report.failed), store.counts("knowledge")[0]) == ((), 1, 2)

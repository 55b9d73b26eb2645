"""Both stores keep one interface, find the same, stand several threads and processes, and say what is wrong."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.errors import BackendError, InputError, StillMeError
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at
from stillme.storage.knowledge.postgres import PostgresStore
from stillme.storage.knowledge.sqlite import SqliteStore
from stillme.storage.knowledge.store import Chunk, Document
from stillme.text.search_words import folded_words, marks_of
from tests.chat.conftest import NewStore, new_location
from tests.soak import examples

MAKER = "tests/1"
WIDTH = 8


def vector(seed: int) -> Any:
    """A unit vector that is the same for the same seed."""
    found = numpy.random.default_rng(seed).standard_normal(WIDTH).astype("float32")
    return found / numpy.linalg.norm(found)


def document(name: str, *texts: str, digest: str = "1") -> tuple[Document, list[Chunk]]:
    """A document of these pieces, with all that a chunk can have."""
    whole, chunks = "".join(texts), []
    start = 0
    for number, text in enumerate(texts):
        place = (start, start + len(text))
        chunks.append(Chunk(f"{name}#{number}", name, number, text, *place, "A title", "https://a.b/c", "2026-01-02"))
        start += len(text)
    return Document(name, whole, digest, "A title", "https://a.b/c", "2026-01-02"), chunks


def keep(store: KnowledgeStore, name: str, *texts: str, seed: int = 1, digest: str = "1") -> None:
    """Put a document of these pieces; piece k has the vector of seed + k."""
    one, chunks = document(name, *texts, digest=digest)
    vectors = numpy.array([vector(seed + k) for k in range(len(texts))], "float32").reshape(-1, WIDTH)
    store.put("knowledge", one, chunks, vectors)


def say(store: KnowledgeStore, session: str, number: int, text: str, seed: int = 1) -> bool:
    """Put a turn of a session, if its number is free."""
    name = f"{session}/{number}"
    chunk = Chunk(name, name, 0, text, 0, len(text))
    return store.put("conversation", Document(name, text, str(number)), [chunk], [vector(seed)], session, replace=False)


@pytest.fixture
def plain(new_store: NewStore) -> KnowledgeStore:
    """An empty store for the vectors of these tests."""
    return new_store(embedder=MAKER)


@pytest.fixture
def both(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[KnowledgeStore]]:
    """An empty store on each engine."""
    found = [store_at(new_location(engine, tmp_path, request), embedder=MAKER) for engine in ("sqlite", "postgres")]
    yield found
    for store in found:
        store.close()


def test_an_empty_store_holds_nothing(plain: KnowledgeStore) -> None:
    """Nothing is found, nothing is there, and forgetting nothing is no error."""
    assert plain.counts("knowledge") == (0, 0)
    assert plain.digests("knowledge") == {}
    assert plain.near("knowledge", vector(1), 5) == []
    assert plain.matching("knowledge", ["word"], 5) == []
    assert plain.matching("conversation", ["word"], 5, "s") == []
    assert plain.chunks("knowledge", ["a"]) == []
    assert plain.remove("knowledge", ["a"]) == 0


def test_reading_makes_no_file(tmp_path: Path) -> None:
    """A search at a path where nothing is leaves nothing there."""
    store = store_at(tmp_path / "new.db", embedder=MAKER)

    assert store.near("knowledge", vector(1), 5) == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_put_is_there_as_it_was(plain: KnowledgeStore) -> None:
    """Every field of a chunk comes back, in the order asked for; an id that is not there is left out."""
    one, chunks = document("a.md", "Đường sắt Việt Nam.\n", "Second piece. 😀")
    plain.put("knowledge", one, chunks, [vector(1), vector(2)])

    assert plain.chunks("knowledge", ["a.md#1", "gone", "a.md#0"]) == [chunks[1], chunks[0]]
    assert plain.chunks("conversation", ["a.md#0"]) == []
    assert plain.digests("knowledge") == {"a.md": "1"}
    assert plain.counts("knowledge") == (1, 2)
    assert plain.counts("conversation") == (0, 0)


def test_another_text_of_the_same_name_replaces_the_first(plain: KnowledgeStore) -> None:
    """Of what it replaced nothing is found any more, by vector or by word."""
    keep(plain, "a", "apples grow", "on trees", seed=1)
    keep(plain, "b", "other", seed=9)
    keep(plain, "a", "pears", seed=5, digest="2")

    assert plain.digests("knowledge") == {"a": "2", "b": "1"}
    assert plain.counts("knowledge") == (2, 2)
    assert plain.matching("knowledge", ["apples", "trees"], 5) == []
    assert [key for key, _ in plain.near("knowledge", vector(1), 9)] == [
        key for key, _ in sorted(plain.near("knowledge", vector(1), 9), key=lambda p: -p[1])
    ]
    assert {key for key, _ in plain.near("knowledge", vector(1), 9)} == {"a#0", "b#0"}


def test_a_document_without_chunks_is_remembered(plain: KnowledgeStore) -> None:
    """An empty file is not read again."""
    keep(plain, "empty")

    assert plain.digests("knowledge") == {"empty": "1"}
    assert plain.counts("knowledge") == (1, 0)


def test_removed_documents_are_gone(plain: KnowledgeStore) -> None:
    """As many as there were, each once, however often it is named."""
    for name in "abc":
        keep(plain, name, f"text of {name}")

    assert plain.remove("knowledge", ["a", "b", "a", "nothing"]) == 2
    assert plain.digests("knowledge") == {"c": "1"}
    assert plain.chunks("knowledge", ["a#0", "b#0"]) == []
    assert [key for key, _ in plain.matching("knowledge", ["text"], 9)] == ["c#0"]


def test_nearest_come_first_with_their_cosine(plain: KnowledgeStore) -> None:
    """Exact to six places; a vector that several chunks have is a tie, which ids decide, also at the end of the list."""
    for name, seed in (("d", 3), ("b", 3), ("c", 3), ("a", 3), ("e", 4)):
        keep(plain, name, name, seed=seed)

    expected = round(float(vector(3).astype("float64") @ vector(4).astype("float64")), 6)
    assert plain.near("knowledge", vector(3), 3) == [("a#0", 1.0), ("b#0", 1.0), ("c#0", 1.0)]
    assert plain.near("knowledge", vector(4), 2) == [("e#0", 1.0), ("a#0", expected)]


@pytest.mark.parametrize(
    ("text", "words", "is_found"),
    [
        pytest.param("Đường sắt Bắc Nam", ["duong", "sat"], True, id="typed without accents finds accents"),
        pytest.param("duong sat bac nam", ["đường", "sắt"], True, id="accents find what was typed without"),
        pytest.param("Đường sắt Bắc Nam", ["đường sắt"], True, id="two words side by side"),
        pytest.param("Sắt và đường", ["đường sắt"], False, id="two words that are not side by side"),
        pytest.param("Thuế thu nhập", ["thue"], True, id="an ending that looks English"),
        pytest.param("The trains were cancelled", ["train"], True, id="an English plural"),
        pytest.param("Nó giá 1.000 đồng", ["1,000"], True, id="a figure with other separators"),
        pytest.param("Nó giá 1.000 đồng", ["2,000"], False, id="another figure"),
        pytest.param("a chunk", ["title"], True, id="a word of the title"),
        pytest.param("Поезд в Москву", ["Москву"], True, id="another script"),
        pytest.param("anything", ["any*", "NEAR(a b)", '"', "anything AND", "(", "' OR 1=1 --", "%"], False, id="syntax is data"),
        pytest.param("words: anything", ["words:anything"], True, id="a column filter is two words"),
        pytest.param("anything", ["", "   ", "!?"], False, id="nothing to look for"),
    ],
)  # fmt: skip
def test_words_find_chunks(plain: KnowledgeStore, text: str, words: list[str], is_found: bool) -> None:
    """By the words of the text and the title, folded; a query is never read as syntax."""
    keep(plain, "a", text)

    assert [key for key, _ in plain.matching("knowledge", words, 5)] == (["a#0"] if is_found else [])


def test_rare_words_count_more_and_ties_go_by_id(plain: KnowledgeStore) -> None:
    """The one with the rare word leads; equal texts follow by id, also at the end of the list; scores fall."""
    for name in ("e", "c", "b", "d"):
        keep(plain, name, "the common text here")
    keep(plain, "z", "the common walrus here")

    found = plain.matching("knowledge", ["common", "walrus"], 3)

    assert [key for key, _ in found] == ["z#0", "b#0", "c#0"]
    assert found[0][1] > found[1][1] == found[2][1] > 0


def test_sessions_without_an_owner_are_forgotten(new_store: NewStore, location: str) -> None:
    """What an earlier version kept of sessions may be anybody's: the first opening forgets it, and leaves the knowledge alone."""
    earlier = new_store(embedder=MAKER)
    keep(earlier, "handbook", "Leave is 14 days.")
    say(earlier, "s-1", 1, "My salary is 900 euros.")
    earlier.close()
    step_back(location)
    store = new_store(embedder=MAKER)

    assert (store.counts("knowledge"), store.counts("conversation")) == ((1, 1), (0, 0))
    assert store.near("conversation", vector(1), 5, "s-1") == []
    assert store.matching("conversation", ["salary"], 5, "s-1") == []


def step_back(location: str) -> None:
    """Make a store one of the version before sessions had owners."""
    sql = "DELETE FROM stillme_knowledge_schema WHERE step = 2"
    if "://" in location:
        with psycopg.connect(location, autocommit=True) as server:
            server.execute(sql)
        return
    file = sqlite3.connect(location)
    with file:
        file.execute(sql)
    file.close()


def test_sessions_see_only_themselves(plain: KnowledgeStore) -> None:
    """A search in a session finds what was said there, and the knowledge nothing of it."""
    keep(plain, "k", "the harbour opens at nine")
    say(plain, "one", 1, "the harbour closes at five", seed=1)
    say(plain, "two", 1, "the harbour is deep", seed=1)

    assert [key for key, _ in plain.matching("conversation", ["harbour"], 9, "one")] == ["one/1"]
    assert plain.near("conversation", vector(1), 9, "two") == [("two/1", 1.0)]
    assert [key for key, _ in plain.matching("knowledge", ["harbour"], 9)] == ["k#0"]
    assert plain.digests("conversation", "one") == {"one/1": "1"}
    assert plain.remove("conversation", ["one/1"], "two") == 0


def test_a_name_that_is_taken_is_kept_without_replace(plain: KnowledgeStore) -> None:
    """Of two that want the same number one is told so, and nothing is lost."""
    assert say(plain, "s", 1, "first") is True
    assert say(plain, "s", 1, "second") is False
    assert [chunk.text for chunk in plain.chunks("conversation", ["s/1"])] == ["first"]


ONE, PIECES = document("a", "one", "two")
VECTORS = [vector(1), vector(2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("books", ONE, PIECES, VECTORS), "collection must be", id="a collection that there is not"),
        pytest.param(("conversation", ONE, PIECES, VECTORS), "must name the session", id="a conversation of nobody"),
        pytest.param(("knowledge", ONE, PIECES, VECTORS, "s"), "has no sessions", id="knowledge of a session"),
        pytest.param(("knowledge", ONE, PIECES, VECTORS[:1]), "2 chunks and 1 vectors", id="a vector too few"),
        pytest.param(("knowledge", ONE, [PIECES[0], PIECES[0]], VECTORS), "two chunks of one id", id="one id twice"),
        pytest.param(("knowledge", ONE, PIECES, [v * 2 for v in VECTORS]), "length 1", id="no unit vectors"),
        pytest.param(("knowledge", ONE, PIECES, [v * numpy.nan for v in VECTORS]), "finite", id="not a number"),
        pytest.param(("knowledge", replace(ONE, name="b"), PIECES, VECTORS), "not of 'b'", id="chunks of another"),
        pytest.param(("knowledge", replace(ONE, title="a\0b"), PIECES, VECTORS), "NUL", id="a NUL character"),
        pytest.param(("knowledge", replace(ONE, url="\ud800"), PIECES, VECTORS), "surrogate", id="a lone surrogate"),
        pytest.param(("knowledge", replace(ONE, name=""), [], []), "name must have", id="no name"),
        pytest.param(
            ("knowledge", ONE, [PIECES[0], replace(PIECES[1], text="x" * 64_001)], VECTORS), "cut it", id="a book"
        ),
    ],
)
def test_what_does_not_fit_is_refused_whole(plain: KnowledgeStore, arguments: Any, message: str) -> None:
    """The message says what is wrong, and nothing of the document is there."""
    with pytest.raises(InputError, match=message):
        plain.put(*arguments)

    assert plain.counts("knowledge") == (0, 0)


def test_an_id_of_another_document_is_refused_whole(plain: KnowledgeStore) -> None:
    """The document that was being replaced is still there."""
    keep(plain, "a", "first")
    keep(plain, "b", "before")
    chunks = [Chunk("b#9", "b", 0, "after", 0, 5), Chunk("a#0", "b", 1, "stolen", 5, 11)]

    with pytest.raises(InputError, match=r"the id 'a#0' is a chunk of another document"):
        plain.put("knowledge", Document("b", "after", "2"), chunks, VECTORS)

    assert plain.digests("knowledge") == {"a": "1", "b": "1"}
    assert [chunk.text for chunk in plain.chunks("knowledge", ["b#0", "b#9", "a#0"])] == ["before", "first"]


def test_vectors_of_another_embedder_are_refused(new_store: NewStore) -> None:
    """On putting and on searching; after a reset the store takes them."""
    keep(new_store(embedder=MAKER), "a", "text")
    other = new_store(embedder="another/2")

    with pytest.raises(InputError, match=r"holds vectors of tests/1 .*ingest into a new store, or reset"):
        keep(other, "b", "text")
    with pytest.raises(InputError, match="holds vectors of tests/1"):
        other.near("knowledge", vector(1), 5)
    with pytest.raises(InputError, match=r"8 numbers each.*\(4\)"):
        new_store(embedder=MAKER).near("knowledge", [1, 0, 0, 0], 5)
    other.reset()
    keep(other, "b", "text")

    assert other.digests("knowledge") == {"b": "1"}
    assert [key for key, _ in other.matching("knowledge", ["text"], 5)] == ["b#0"]


def test_settling_changes_nothing_that_is_found(plain: KnowledgeStore) -> None:
    """Indexes are put in order, and that is all."""
    for n in range(12):
        keep(plain, f"d{n}", f"text number {n} of the walrus", seed=n)
    before = plain.near("knowledge", vector(3), 5), plain.matching("knowledge", ["walrus", "3"], 5)

    plain.settle()

    assert (plain.near("knowledge", vector(3), 5), plain.matching("knowledge", ["walrus", "3"], 5)) == before


WORDS = st.sampled_from(
    ["cảng", "đường", "sắt", "duong", "sat", "ferry", "ferries", "walrus", "2026", "1.000", "và", "the"]
)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=TEXTS,
    asked=st.lists(WORDS, min_size=1, max_size=3),
    seeds=st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_both_engines_find_the_same(
    both: list[KnowledgeStore], texts: list[str], asked: list[str], seeds: list[int]
) -> None:
    """The same vectors in the same order, the same chunks by word, and those that hold one of the words."""
    for store in both:
        store.reset()
        for n, text in enumerate(texts):
            keep(store, f"d{n}", text, seed=seeds[n])
    near = [store.near("knowledge", vector(seeds[0]), 4) for store in both]
    matching = [store.matching("knowledge", asked, 20) for store in both]
    wanted = set(marks_of(asked))

    assert near[0] == near[1]
    assert matching[0] == matching[1]
    assert {key for key, _ in matching[0]} == {
        f"d{n}#0" for n, text in enumerate(texts) if wanted & set(folded_words(text))
    }


def test_threads_share_a_store(plain: KnowledgeStore) -> None:
    """Eight threads write and search at once: every document is there, and no search sees half of one."""
    halves: list[int] = []

    def work(number: int) -> None:
        for turn in range(4):
            keep(plain, f"d{number}", "first shared", "second shared", seed=number, digest=str(turn))
            found = [key for key, _ in plain.matching("knowledge", ["shared"], 99)]
            halves.extend(1 for key in found if f"{key[:-1]}{1 - int(key[-1])}" not in found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert halves == []
    assert plain.counts("knowledge") == (8, 16)
    assert plain.digests("knowledge") == {f"d{n}": "3" for n in range(8)}


def _ingest(location: str, name: str) -> None:
    store = store_at(location, embedder=MAKER, timeout_s=20)
    for n in range(10):
        keep(store, f"{name}{n}", "a text that two processes write")
    store.close()


def test_processes_share_a_store(location: str) -> None:
    """Two processes make the store and fill it at the same time, while this one searches."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_ingest, args=(location, name)) for name in "ab"]
    for process in processes:
        process.start()
    store = store_at(location, embedder=MAKER, timeout_s=20)
    while any(process.is_alive() for process in processes):
        found = store.matching("knowledge", ["text"], 99)
        assert len(store.chunks("knowledge", [key for key, _ in found])) == len(found)
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
    assert store.counts("knowledge") == (20, 20)
    store.close()


def test_a_store_is_used_again_after_it_was_closed(plain: KnowledgeStore) -> None:
    """Closing lets go of connections, not of the store."""
    keep(plain, "a", "text")
    plain.close()

    assert plain.counts("knowledge") == (1, 1)


# SQLite


def _not_a_database(path: Path) -> None:
    path.write_bytes(b"this is a letter, and a long one at that. " * 99)


def _of_others(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoices (n)")
    connection.close()


def _of_the_future(path: Path) -> None:
    store = SqliteStore(path, embedder=MAKER)
    keep(store, "a", "text")
    store.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("INSERT INTO stillme_knowledge_schema VALUES (99)")
    connection.close()


def _damaged(path: Path) -> None:
    store = SqliteStore(path, embedder=MAKER)
    for n in range(30):
        keep(store, f"d{n}", f"some text {n} " * 200)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3] + b"\xff" * (len(whole) - len(whole) // 3))


def _a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        pytest.param(_not_a_database, InputError, "is not a database", id="a file of something else"),
        pytest.param(_of_others, InputError, "a database of something else", id="a database of others"),
        pytest.param(_of_the_future, BackendError, "newer version .schema step 99", id="a later version's"),
        pytest.param(_damaged, BackendError, "damaged", id="a damaged file"),
        pytest.param(_a_folder, BackendError, "cannot be opened", id="a folder"),
    ],
)
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, make: Any, error: type[StillMeError], message: str) -> None:
    """With an error of ours that says what it is, and for searching as well as for writing."""
    path = tmp_path / "knowledge.db"
    make(path)
    store = SqliteStore(path, embedder=MAKER)

    for use in (lambda: store.near("knowledge", vector(1), 5), lambda: keep(store, "a", "text")):
        with pytest.raises(error, match=message):
            use()
    store.close()


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    """Writing says that the file cannot be opened."""
    with pytest.raises(BackendError, match="check that its folder exists"):
        keep(store_at(tmp_path / "no" / "knowledge.db", embedder=MAKER), "a", "text")


def test_only_the_owner_can_read_a_new_file(tmp_path: Path) -> None:
    """What a company knows is not for every user of the machine."""
    store = store_at(tmp_path / "knowledge.db", embedder=MAKER)
    keep(store, "a", "text")

    assert {oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {"0o600"}
    store.close()


def test_a_locked_file_is_an_error_in_time(tmp_path: Path) -> None:
    """A writer that does not end keeps another from writing, not from reading."""
    path = tmp_path / "knowledge.db"
    store = SqliteStore(path, embedder=MAKER, timeout_s=0.1)
    keep(store, "a", "text")
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(BackendError, match="another process holds its lock"):
        keep(store, "b", "text")
    assert store.counts("knowledge") == (1, 1)
    holder.execute("ROLLBACK")
    holder.close()
    keep(store, "b", "text")
    assert store.counts("knowledge") == (2, 2)
    store.close()


def test_a_replaced_file_is_read_anew(tmp_path: Path) -> None:
    """A store that was restored from a backup while in use gives what the backup holds."""
    path, backup = tmp_path / "knowledge.db", tmp_path / "backup.db"
    for place, name in ((path, "old"), (backup, "restored")):
        other = SqliteStore(place, embedder=MAKER)
        keep(other, name, "text")
        other.close()
    store = SqliteStore(path, embedder=MAKER)
    assert store.digests("knowledge") == {"old": "1"}

    backup.replace(path)

    assert store.digests("knowledge") == {"restored": "1"}
    store.close()


# PostgreSQL


@pytest.fixture
def server_url(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A place of its own in the real server."""
    return new_location("postgres", tmp_path, request)


def test_a_lost_connection_is_made_anew(server_url: str) -> None:
    """When the server has ended our connections, as a restart does, the next search and the next put work."""
    store = PostgresStore(server_url, embedder=MAKER)
    keep(store, "a", "text")
    for work in (lambda: store.counts("knowledge"), lambda: keep(store, "b", "text")):
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        work()

    assert store.counts("knowledge") == (2, 2)
    store.close()


def test_a_large_store_is_searched_by_index(server_url: str) -> None:
    """Beyond the limit `settle` builds an index that is then asked, and that finds what comparing every vector finds."""
    store = PostgresStore(server_url, embedder=MAKER, exact_up_to=50)
    for n in range(80):
        keep(store, f"d{n:02}", "text", seed=n)
    exact = [store.near("knowledge", vector(n), 5) for n in range(0, 80, 9)]

    store.settle()

    with psycopg.connect(server_url) as connection:
        names = connection.execute("SELECT indexname FROM pg_indexes WHERE indexname = 'stillme_knowledge_vector_near'")
        assert names.fetchall() == [("stillme_knowledge_vector_near",)]
    assert [store.near("knowledge", vector(n), 5) for n in range(0, 80, 9)] == exact
    keep(store, "new", "text", seed=500)
    assert store.near("knowledge", vector(500), 1) == [("new#0", 1.0)]
    store.reset()
    assert store.near("knowledge", vector(1), 1) == []
    store.close()


def test_a_database_without_pgvector_is_said(postgres_url: str) -> None:
    """Where the extension is missing and may not be created, the message says what an administrator has to do."""
    url = postgres_url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")
        connection.execute("CREATE ROLE guest LOGIN")
    store = PostgresStore(url.replace("postgres:@/postgres", "guest:@/bare"), embedder=MAKER)

    with pytest.raises(BackendError, match=r"needs the extension pgvector: install it .* CREATE EXTENSION vector"):
        store.counts("knowledge")
    store.close()


def test_the_store_shares_a_database(server_url: str) -> None:
    """Every table of it has its own prefix."""
    store = PostgresStore(server_url, embedder=MAKER)
    keep(store, "a", "text")

    with psycopg.connect(server_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    assert {name.startswith("stillme_knowledge_") for (name,) in tables} == {True}
    store.close()


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        pytest.param("mysql://u:secret@h/d", InputError, "got the scheme 'mysql'", id="another engine"),
        pytest.param(":memory:", InputError, "a file that lasts", id="memory"),
        pytest.param("", InputError, "a file that lasts", id="nothing"),
        pytest.param("postgresql://u:sec/ret@[h/d", InputError, "percent-encoded", id="a URL that cannot be read"),
    ],
)
def test_what_is_no_place_is_refused(where: str, error: type[StillMeError], message: str) -> None:
    """Without the password in the message."""
    with pytest.raises(error, match=message) as caught:
        store_at(where)

    assert "sec" not in str(caught.value)


def test_a_server_that_is_not_there_is_said() -> None:
    """With what to check, and without user and password."""
    store = store_at("postgresql://user:secret@127.0.0.1:1/d", embedder=MAKER, timeout_s=2)

    with pytest.raises(
        BackendError, match=r"the store postgresql://127\.0\.0\.1/d failed: check that it runs"
    ) as caught:
        store.counts("knowledge")

    assert "secret" not in str(caught.value)

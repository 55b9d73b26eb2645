"""What is spooled comes back as it was, callers do not wait for a store that is down, and nothing is dropped unsaid."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore, spool
from stillme.audit.chain.record import COLUMNS, Body, Entry
from stillme.audit.journal import Journal
from stillme.audit.spool import Spool, packed, unpacked
from stillme.errors import BackendError, InputError
from tests.audit.conftest import KEY, occurrence
from tests.audit.test_store import anew

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
ENTRIES = st.builds(
    Entry,
    kind=st.just("verdict"),
    id=TEXT.filter(bool),
    at=TEXT,
    meta=TEXT,
    verified=st.none() | st.integers(0, 1),
    **{name: st.none() | TEXT for name in COLUMNS if name not in ("kind", "id", "at", "meta", "verified")},
    body=st.none() | st.builds(Body, TEXT, TEXT),
    policy_text=st.none() | TEXT.filter(bool),
)


def entry(name: str) -> Entry:
    return Entry("verdict", name, "2026-02-01T09:00:00.000000Z", "{}")


def finished(spooling: Spool) -> None:
    """Wait until what drains in the background has ended."""
    thread = spooling._thread
    assert thread is not None
    thread.join()


class Shelf:
    """A store that takes what is delivered once, or fails."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.problem: BackendError | None = None
        self.is_asked = threading.Event()
        self.is_open = threading.Event()
        self.is_open.set()

    def settle(self, entries: Sequence[Entry]) -> None:
        """Take them."""
        self.is_asked.set()
        assert self.is_open.wait(20)
        if self.problem is not None:
            raise self.problem
        self.kept += [each.id for each in entries if each.id not in self.kept]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """An empty one."""
    return Journal(tmp_path / "journal")


@settings(deadline=None)
@given(given_entry=ENTRIES)
def test_an_entry_comes_back_as_it_was(given_entry: Entry) -> None:
    """Every column, the texts and the policy; so its digest is the same."""
    line = packed(given_entry)

    assert unpacked(line) == given_entry
    assert b"\n" not in line
    assert unpacked(line).digest == given_entry.digest


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=["a zero", "half a character"])
def test_what_could_never_be_delivered_is_not_taken(text: str) -> None:
    """One such line would keep all behind it from being drained."""
    with pytest.raises(InputError, match="body of the record 'trace-1' holds a character that no database takes"):
        packed(Entry("verdict", "trace-1", "2026", "{}", body=Body(text, "salt")))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            b'{"kind":"verdict","id":"a","at":"b","meta":"c","colour":"red"}', id="a column of a newer version"
        ),
        pytest.param(b'{"kind":"verdict"}', id="columns missing"),
        pytest.param(b"[1, 2]", id="no record"),
        pytest.param(b"{", id="no JSON"),
    ],
)
def test_an_entry_that_is_no_record(line: bytes) -> None:
    """It stays where it is, and whoever drains learns what to do."""
    with pytest.raises(BackendError, match=r"cannot be read as a record .*: if a newer version wrote it, drain"):
        unpacked(line)


def test_a_line_of_an_older_version_with_fewer_columns_is_read() -> None:
    """A journal outlives an upgrade."""
    assert unpacked(b'{"kind":"verdict","id":"a","at":"b","meta":"c"}') == Entry("verdict", "a", "b", "c")


def test_a_store_that_was_slow_to_fail_is_left_alone_for_a_while(journal: Journal) -> None:
    """As long as some attempts, never longer than half a minute; one that fails at once is tried at once."""
    spooling = Spool(journal, Shelf().settle)
    assert not spooling.is_pausing

    before = time.monotonic()
    spooling.pause(2.0)
    assert spooling.is_pausing
    assert before + 2.0 < spooling._pause_until <= time.monotonic() + 2.0 * spool.PAUSE_TIMES

    spooling.pause(100.0)
    assert spooling._pause_until <= time.monotonic() + spool.MOST_PAUSE_S
    spooling.pause(0.0)
    assert not spooling.is_pausing


def test_while_it_is_left_alone_nobody_waits_for_it(tmp_path: Path) -> None:
    """The first caller of an outage waits for the timeout, and after it the store is left alone: who would wait an hour gets a verdict."""
    hasty = AuditStore(tmp_path / "audit.db", key=KEY, timeout_s=0.1)
    patient = AuditStore(tmp_path / "audit.db", key=KEY, timeout_s=3600.0)
    given_one = occurrence({"audit": {"on_failure": "spool"}})
    for store in (hasty, patient):
        store.record([anew(given_one)])
    other = AuditStore(tmp_path / "audit.db", key=KEY)

    def hold(_: object) -> bool:
        hasty.record([anew(given_one)])
        is_left_alone = hasty._spool._pause_until > 0
        patient._spool._pause_until = float("inf")
        for _number in range(3):
            patient.record([anew(given_one)])
        return is_left_alone

    assert other.database.write(hold)
    assert patient.journal.pending() == 4


def test_where_the_journal_fails_meanwhile_the_store_is_tried_all_the_same(tmp_path: Path) -> None:
    """A pause is no reason to refuse a verdict that could be kept."""
    (tmp_path / "a file").write_text("")
    store = AuditStore(tmp_path / "audit.db", key=KEY, journal=tmp_path / "a file" / "journal")
    store._spool.pause(1.0)

    store.record([one := anew(occurrence({"audit": {"on_failure": "spool"}}))])

    assert store.find(str(one.verdict.validator_trace_id)).entry is not None


def test_the_journal_is_drained_behind_the_back_of_a_caller(journal: Journal) -> None:
    """The caller whose write succeeded does not wait for what others left behind."""
    shelf = Shelf()
    spooling = Spool(journal, shelf.settle)
    spooling.take([entry("a"), entry("b")])
    shelf.is_open.clear()

    for _ in range(5):
        spooling.drain_later()  # it would wait for ever here
    shelf.is_open.set()

    finished(spooling)
    assert (shelf.kept, journal.pending()) == (["a", "b"], 0)
    spooling.close()


def test_closing_ends_the_draining_and_loses_nothing(journal: Journal) -> None:
    """What is not delivered yet stays for the next time."""
    shelf = Shelf()
    spooling = Spool(journal, shelf.settle)
    spooling.take([entry(str(number)) for number in range(450)])
    shelf.is_open.clear()
    spooling.drain_later()
    assert shelf.is_asked.wait(600)
    spooling._is_closing = True  # as `close` does before it waits for the thread
    shelf.is_open.set()
    spooling.close()

    assert (len(shelf.kept), journal.pending()) == (200, 250)
    left = journal.pending()
    assert spooling.drain().delivered == left
    assert len(shelf.kept) == 450


def test_a_drain_that_fails_is_told_and_tried_again(
    journal: Journal, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entries stay, the log says why, and a later write starts the next attempt."""
    monkeypatch.setattr(spool, "RETRY_AFTER_S", 0.0)
    shelf = Shelf()
    shelf.problem = BackendError("down again")
    spooling = Spool(journal, shelf.settle)
    spooling.take([entry("a")])

    with caplog.at_level(logging.WARNING):
        spooling.drain_later()
        finished(spooling)
    shelf.problem = None
    spooling.drain_later()
    finished(spooling)

    assert caplog.messages == ["the journal still holds audit entries: down again"]
    assert (shelf.kept, journal.pending()) == (["a"], 0)


def test_a_damaged_file_is_told(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    """It is set aside, what stood before the damage is delivered, and the log names the file."""
    shelf = Shelf()
    Spool(journal, shelf.settle).take([entry("a"), entry("b")])
    journal.close()
    (path,) = journal.files()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entry SET payload = x'00' WHERE number = 2")
        connection.commit()

    with caplog.at_level(logging.ERROR):
        spooling = Spool(journal, shelf.settle)
        spooling.drain_later()
        finished(spooling)

    assert shelf.kept == ["a"]
    assert [path.with_suffix(".damaged").name in message for message in caplog.messages] == [True]
    assert len(journal.damaged()) == 1

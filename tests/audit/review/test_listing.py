"""Records are found from the end of the chain backwards, and a row says what is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Entry, instant
from stillme.audit.retention import erase
from stillme.audit.review import listing as module
from stillme.audit.review.agreement import Review
from stillme.audit.review.listing import candidates, count, labels, newest, reviews, row_of, text_state
from stillme.audit.review.sampling import Candidate
from stillme.errors import BackendError
from stillme.storage.audit.database import RECORD
from tests.audit.conftest import QUESTION, occurrence


def recorded(store: AuditStore, policy: Any = None, **changes: Any) -> str:
    """The trace of a verdict in the store."""
    made = occurrence(policy, **changes)
    store.record([made])
    return str(made.verdict.validator_trace_id)


def review_of(trace: str, label: str) -> Entry:
    return Entry(
        "review", f"review-{trace}-{label}", instant(datetime.now(UTC)), "{}", ref=trace, label=label, caller="a"
    )


@pytest.mark.parametrize("window", [1, 2, 1000])
def test_the_newest_come_first_however_the_chain_is_cut_into_windows(
    store: AuditStore, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    """Neither a record at the edge of a window nor the first one is lost or given twice."""
    traces = [recorded(store) for _ in range(7)]
    monkeypatch.setattr(module, "FIRST_WINDOW", window)

    found = [record.entry.id for record in newest(store, Filter(kind="verdict")) if record.entry]
    two = [record.seq for record in newest(store, Filter(), 2)]
    kept = [record.seq for record in newest(store, Filter(), 2, lambda record: record.seq % 2 == 1)]

    assert found == traces[::-1]
    assert (two, kept) == ([8, 7], [7, 5])


def test_counting_takes_the_filter(store: AuditStore) -> None:
    """The number is that of the records that would be read."""
    recorded(store)
    recorded(store, metadata={"session_id": "other"})

    assert [count(store, each) for each in (Filter(), Filter(kind="verdict"), Filter(session="other"))] == [3, 2, 1]


def test_labels_are_gathered_by_verdict(store: AuditStore) -> None:
    """Several reviews of one verdict are one row with all their labels."""
    first, second = recorded(store), recorded(store)
    store.add([review_of(first, "correct"), review_of(first, "unclear"), review_of(second, "correct")])

    assert labels(store) == {first: {"correct", "unclear"}, second: {"correct"}}


def test_reviews_and_candidates_are_what_figures_and_samples_are_made_of(store: AuditStore) -> None:
    """A review names its verdict and reviewer, a candidate its strata; the filter holds for both."""
    first = recorded(store)
    second = recorded(store, draft_answer="Unused gear can be returned within 45 days of delivery [1].")
    store.add([review_of(first, "correct")])
    at = [record.entry.at for record in store.records(Filter(kind="verdict")) if record.entry]

    assert list(reviews(store, Filter())) == [Review(4, first, "a", "correct")]
    assert list(reviews(store, Filter(until="2000-01-01"))) == []
    assert list(candidates(store, Filter())) == [
        Candidate(first, at[0], "answer", "en", "medium", flagged=False, domain="shop"),
        Candidate(second, at[1], "refuse", "en", "low", flagged=True, domain="shop"),
    ]


@pytest.mark.parametrize(
    ("policy", "changes", "state", "query"),
    [
        pytest.param({}, {}, "kept", QUESTION, id="whole"),
        pytest.param({"audit": {"content": "hashed"}}, {}, "hashed", None, id="as hashes"),
        pytest.param({"audit": {"content": "none"}}, {}, "not kept", None, id="not at all"),
    ],
)
def test_a_row_says_what_is_kept(
    store: AuditStore, policy: dict[str, Any], changes: dict[str, Any], state: str, query: str | None
) -> None:
    """The question is there where it is a text, never as a hash."""
    row = row_of(store.find(recorded(store, policy, **changes)))

    assert (row["texts"], row["query"], row["decision"], row["verified"]) == (state, query, "answer", True)
    assert (row["reasons"], row["session"], row["caller"]) == ([], "session-1", "tests")


def test_a_row_of_a_verdict_names_the_hash_of_its_policy(store: AuditStore) -> None:
    """The very hash that the verdict carries and `stillme policy check` prints."""
    made = occurrence({"mode": "warn"})
    store.record([made])

    row = row_of(store.find(str(made.verdict.validator_trace_id)))

    assert row["policy_hash"] == made.verdict.policy_hash


def test_erased_texts_are_gone_and_a_review_without_a_note_never_had_any(store: AuditStore) -> None:
    """A missing text is told from one that never was."""
    trace = recorded(store)
    erase(store, Filter(id=trace), who="an officer", why="a request")
    store.add([review_of(trace, "correct")])

    states = [text_state(record.entry) for record in newest(store, Filter(), 3) if record.entry]

    assert states == ["none", "none", "gone"]


def test_a_row_that_was_tampered_with_is_an_error_that_says_what_to_do(store: AuditStore) -> None:
    """It is not shown as if it were a record."""
    trace = recorded(store)
    sql = f"UPDATE {RECORD} SET meta = ? WHERE id = ?"  # noqa: S608  (a constant)
    store.database.write(lambda writing: writing.rows(sql, ["{", trace]))

    with pytest.raises(BackendError, match="record 2 cannot be read: run `stillme audit verify`"):
        row_of(store.find(trace))


def test_a_record_that_retention_removed_keeps_its_place(store: AuditStore) -> None:
    """Only its hashes are left to show."""
    record = replace(store.find(recorded(store)), entry=None)

    assert row_of(record) == {"seq": 2, "kind": None, "hash": record.hash, "texts": "gone"}

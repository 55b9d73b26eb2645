"""Queues of reviewers: what waits in each, and who gets which."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from stillme.audit import AuditStore
from stillme.audit.query import Filter
from stillme.audit.retention import erase
from stillme.audit.review.agreement import Review, kappa_interval
from stillme.audit.review.queues import Progress, appeal, hand_out, latest_week, progress_of, queue_of
from stillme.audit.review.reviews import review
from stillme.audit.review.sampling import week_of
from stillme.errors import InputError
from tests.audit.conftest import occurrence

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
WEEK = week_of(NOW)


@pytest.fixture
def filled(store: AuditStore) -> AuditStore:
    """Four verdicts of one week."""
    given = occurrence(draft_answer="Unused gear can be returned within 90 days of delivery [1].")
    for n in range(4):
        verdict = given.verdict.model_copy(update={"validator_trace_id": f"trace-{n}"})
        store.record([replace(given, verdict=verdict, at=NOW - timedelta(hours=n))])
    return store


def test_two_reviewers_never_get_the_same_verdict_unless_asked(filled: AuditStore) -> None:
    """Each has one in hand; who asks again gets the same one, until it is labelled."""
    traces = queue_of(filled, "sample", WEEK)
    lan = hand_out(filled, "sample", traces, "Lan", NOW)
    minh = hand_out(filled, "sample", traces, "Minh", NOW)

    assert {lan, minh} == set(traces[:2])
    assert hand_out(filled, "sample", traces, "Lan", NOW) == lan
    review(filled, str(lan), "correct", "Lan")
    assert hand_out(filled, "second", traces, "Minh", NOW) == lan
    assert hand_out(filled, "sample", traces, "Lan", NOW) == next(t for t in traces if t != lan)
    assert hand_out(filled, "second", traces, "Lan", NOW) is None
    assert progress_of(filled, "sample", traces).done == 1


def test_what_somebody_left_lying_comes_back_after_a_while(filled: AuditStore) -> None:
    """A closed browser keeps a verdict from others for half an hour, not for ever."""
    traces = queue_of(filled, "sample", WEEK)[:1]

    assert hand_out(filled, "sample", traces, "Lan", NOW) == traces[0]
    assert hand_out(filled, "sample", traces, "Minh", NOW + timedelta(minutes=29)) is None
    assert hand_out(filled, "sample", traces, "Minh", NOW + timedelta(minutes=31)) == traces[0]


def test_what_was_skipped_is_not_offered(filled: AuditStore) -> None:
    """And is free for others at once."""
    traces = queue_of(filled, "sample", WEEK)
    first = hand_out(filled, "sample", traces, "Lan", NOW)

    assert hand_out(filled, "sample", traces, "Lan", NOW, skip=[str(first)]) == traces[1]
    assert hand_out(filled, "sample", traces, "Minh", NOW) == first


def test_disagreements_wait_for_a_third_reviewer_and_end_with_a_majority(filled: AuditStore) -> None:
    """Two labels that differ are a dispute, two against one are settled."""
    review(filled, "trace-1", "correct", "Lan")
    review(filled, "trace-1", "false_refusal", "Minh")
    traces = queue_of(filled, "disagreements", WEEK)

    assert traces == ["trace-1"]
    assert hand_out(filled, "disagreements", traces, "Lan", NOW) is None
    assert hand_out(filled, "disagreements", traces, "Hoa", NOW) == "trace-1"
    review(filled, "trace-1", "correct", "Hoa")
    assert queue_of(filled, "disagreements", WEEK) == []


def test_an_appeal_is_recorded_waits_and_can_be_erased(filled: AuditStore) -> None:
    """Its note is a text like any other."""
    appeal(filled, "trace-2", "Khách nói rằng thời hạn là 90 ngày.", "key:shop")

    assert queue_of(filled, "appeals", WEEK) == ["trace-2"]
    assert len(erase(filled, Filter(id="trace-2"), who="dpo", why="asked for")) == 2
    with pytest.raises(InputError, match="note must have from 1 to 10000 characters, got 0"):
        appeal(filled, "trace-2", "", None)


def test_an_appeal_against_a_verdict_that_was_reviewed_waits_for_another_label(filled: AuditStore) -> None:
    """The label before it does not answer it; one after it does, whoever gives it."""
    review(filled, "trace-2", "correct", "Lan")
    appeal(filled, "trace-2", "The customer has the older contract.", "key:shop")
    traces = queue_of(filled, "appeals", WEEK)

    assert progress_of(filled, "appeals", traces) == Progress(total=1, done=0)
    assert hand_out(filled, "appeals", traces, "Lan", NOW) == "trace-2"
    review(filled, "trace-2", "false_refusal", "Lan")
    assert hand_out(filled, "appeals", traces, "Minh", NOW) is None
    assert progress_of(filled, "appeals", traces) == Progress(total=1, done=1)
    appeal(filled, "trace-2", "And the branch manager agrees.", "key:shop")
    assert hand_out(filled, "appeals", traces, "Minh", NOW + timedelta(hours=1)) == "trace-2"


def test_low_margins_come_closest_first(filled: AuditStore) -> None:
    """A claim that is clear is not among them."""
    assert queue_of(filled, "low_margin", WEEK) == []


def test_the_week_is_the_last_whole_one_with_verdicts(filled: AuditStore) -> None:
    """Else the running one, so that a newcomer has something to review."""
    assert latest_week(filled, NOW) == WEEK
    assert latest_week(filled, NOW + timedelta(days=7)) == WEEK


def test_a_queue_that_there_is_not(store: AuditStore) -> None:
    """Says which there are."""
    with pytest.raises(InputError, match="'samples' is no queue: sample, low_margin"):
        queue_of(store, "samples", WEEK)


def test_the_interval_of_kappa_holds_kappa_and_is_not_a_point() -> None:
    """Even where two reviewers always agree."""
    agreed = [
        Review(2 * n + k, f"t{n}", who, "correct" if n % 2 else "unclear")
        for n in range(10)
        for k, who in enumerate(("a", "b"))
    ]

    found = kappa_interval(agreed, "a", "b")

    assert found is not None
    assert found[0] < 0.7
    assert found[1] == pytest.approx(1.0)
    assert kappa_interval(agreed, "a", "nobody") is None

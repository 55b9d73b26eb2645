"""Reviewed verdicts become cases only where their labels say something, with the weight that the sample gave them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.review.reviews import review
from stillme.evaluation.calibration.reviewed import equally_likely, reviewed
from stillme.reasons import Decision
from tests.audit.conftest import KEY, occurrence
from tests.evaluation.scored_cases import case

WRONG = {"draft_answer": "Unused gear can be returned within 45 days of delivery [1]."}
BEGIN = datetime(2026, 2, 2, 9, tzinfo=UTC)


def test_thinning_makes_cases_equally_likely() -> None:
    """Those that speak for most stay, the others in proportion to what they speak for, and the same ones each time."""
    cases = [case(n, weight=10.0) for n in range(200)] + [case(n, weight=1.0) for n in range(1000, 5000)]

    kept = equally_likely(cases)

    count = Counter(int(c.id.removeprefix("case-")) < 200 for c in kept)
    assert count[True] == 200
    assert abs(count[False] - 400) <= 3 * math.sqrt(4000 * 0.1 * 0.9)
    assert {c.weight for c in kept} == {1.0}
    assert equally_likely(reversed(cases))[::-1] == kept
    assert equally_likely([]) == []


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AuditStore]:
    """A store in SQLite."""
    with AuditStore(tmp_path / "audit.db", key=KEY) as made:
        yield made


def recorded(store: AuditStore, label: str | None, hour: int = 0, policy: Any = None, **changes: Any) -> str:
    """A verdict that is recorded, and reviewed where a label is given."""
    made = replace(occurrence(policy, **changes), at=BEGIN + timedelta(hours=hour))
    store.record([made])
    trace = str(made.verdict.validator_trace_id)
    if label is not None:
        review(store, trace, label, "lan")
    return trace


def test_what_each_label_says(store: AuditStore) -> None:
    """A draft is good, or holds an unsupported claim, or the label does not tell; every one is counted."""
    traces = {
        "good": recorded(store, "correct"),
        "refused": recorded(store, "correct", **WRONG),
        "missed": recorded(store, "missed_hallucination"),
        "falsely": recorded(store, "false_refusal", **WRONG),
    }
    recorded(store, "wrong_reason", **WRONG)
    recorded(store, "unclear")
    recorded(store, "false_refusal")
    recorded(
        store,
        "correct",
        query="Pretend that you are my wife.",
        draft_answer="I love you with all my heart, darling.",
    )
    recorded(store, "correct", policy={"audit": {"content": "hashed"}})
    twice = recorded(store, "correct")
    review(store, twice, "missed_hallucination", "minh")
    recorded(store, None)

    found = reviewed(store)

    said = {c.id: (c.expected, [label.supported for label in c.claims]) for c, _ in found.cases}
    assert said == {
        traces["good"]: (Decision.ANSWER, []),
        traces["refused"]: (None, [False]),
        traces["missed"]: (None, [False]),
        traces["falsely"]: (Decision.ANSWER, []),
    }
    assert dict(found.left_out) == {
        "its texts are not there as they were": 1,
        "labelled false_refusal, which its decision cannot be": 1,
        "labelled unclear": 1,
        "labelled wrong_reason": 1,
        "reviewers disagree": 1,
        "rightly not answered for a reason other than its support": 1,
    }


def test_a_reviewer_may_think_again(store: AuditStore) -> None:
    """The last label of each counts."""
    trace = recorded(store, "unclear")
    review(store, trace, "correct", "lan")

    assert [c.id for c, _ in reviewed(store).cases] == [trace]


def test_weights_are_those_of_the_sample(store: AuditStore) -> None:
    """A reviewed verdict that was drawn speaks for its kind; one that was not drawn is left out."""
    traces = [recorded(store, None, hour) for hour in range(8)]
    refused = recorded(store, None, 9, **WRONG)
    first = reviewed_by_all(store, traces, refused)

    found = reviewed(store, answers=2, others=5)

    assert sorted(weight for _, weight in found.cases) == [1.0, 4.0, 4.0]
    assert found.left_out == (("reviewed without being drawn", 6),)
    assert found.silent == ()
    assert reviewed(store, Filter(until="2026-01-01")).cases == ()
    assert first == found


def reviewed_by_all(store: AuditStore, traces: list[str], refused: str) -> object:
    for trace in (*traces, refused):
        review(store, trace, "correct", "lan")
    return reviewed(store, answers=2, others=5)


def test_kinds_that_nobody_reviewed_are_named(store: AuditStore) -> None:
    """No case speaks for them."""
    recorded(store, "correct")
    recorded(store, None, **WRONG)

    assert reviewed(store).silent == (("refuse", 1),)

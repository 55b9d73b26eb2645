"""The decision that is computed for other thresholds is the one that the real guard makes under them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from stillme.evaluation.calibration.thresholds import (
    Gates,
    Settings,
    decided,
    observed,
    permissive,
    scored,
    settings_changes,
)
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.runs.records import CaseRecord
from stillme.evaluation.runs.run import run_case
from stillme.guard import Guard
from stillme.policy import Policy
from stillme.reasons import Decision
from tests.evaluation.scored_cases import HARD, LITE

TEXTS = (
    ("How long can I return gear?", "Unused gear can be returned within 30 days of delivery{}.", "en"),
    (
        "How long can I return gear?",
        "Customers can return equipment they have not used{}.",
        "en",
    ),
    ("Where does the money go?", "Refunds go to the card used for payment{}.", "en"),
    ("Thủ đô của Việt Nam là thành phố nào?", "Thủ đô của Việt Nam là Hà Nội{}.", "vi"),
    ("Name your sources: how long can I return gear?", "Gear goes back within 45 days{}.", "en"),
)
PASSAGES = {
    "en": "We accept returns of unused gear within 30 days of delivery. Refunds are paid to the card that was charged.",
    "vi": "Thủ đô của Việt Nam là Hà Nội, thành phố lớn thứ hai cả nước.",
}


def requests(cite: str) -> Iterator[dict[str, Any]]:
    """Requests that meet every threshold from above and from below, in both languages."""
    for (query, draft, language), similarity, confidence in product(TEXTS, (0.2, 0.47, 1.0), (None, 0.3)):
        passage = {"source_id": "faq", "text": PASSAGES[language], "similarity": similarity}
        domain = "shop" if similarity > 0.3 else None
        yield {
            "query": query,
            "draft_answer": draft.format(cite),
            "retrieved_context": [passage],
            "generation_confidence": confidence,
            "metadata": {"domain": domain},
            "as_of": "2026-02-01",
        }
    yield {"query": "How long can I return gear?", "draft_answer": "For 30 days.", "as_of": "2026-02-01"}
    yield {
        "query": "How long can I return gear?",
        "retrieved_context": [{"source_id": "a", "text": "Gear", "similarity": 0.4}],
    }
    yield {"query": "Hello!", "draft_answer": "Hello, how can I help you?", "as_of": "2026-02-01"}


CASES = [Case.model_validate({"id": str(n), "request": each}) for n, each in enumerate(requests(" [1]"))]
UNCITED = [Case.model_validate({"id": str(n), "request": each}) for n, each in enumerate(requests(""))]


@pytest.mark.parametrize(
    "base",
    [
        pytest.param({}, id="every gate decides"),
        pytest.param({"behavior": {"allow_soft_answer_with_warning": True}}, id="weak evidence is forgiven"),
        pytest.param({"behavior": {"enforce_no_source_refusal": False}}, id="similarity decides nothing"),
        pytest.param(
            {
                "extends": "strict",
                "validators": {
                    "FactualHallucinationValidator": {
                        "min_score_by_language": {"vi": 0.2},
                        "min_score_by_domain": {"x": 1.0},
                    },
                    "SourceRequired": {"min_similarity_for_factual": 0.3},
                },
            },
            id="thresholds stand with their validators",
        ),
    ],
)
def test_the_computed_decision_is_the_guards(base: dict[str, Any]) -> None:
    """For every case and every threshold, what a record of the permissive run gives is what the guard really decides."""
    policy = Policy.load(base)
    gates = Gates.of(policy)
    guard = Guard(permissive(policy))
    found = [scored(run_case(guard, each), gates) for each in CASES]
    wanted = [
        Settings(0.45, 0.5, 0.6, 0.0),
        Settings(0.1, 0.48, 0.2, 0.9),
        Settings(0.0, 0.0, 0.0, 0.5, {"vi": 1.0}, {"shop": 0.85}),
    ]

    for thresholds in wanted:
        real = Guard(policy.with_changes(settings_changes(policy, thresholds)))
        decisions = [run_case(real, each).decision for each in CASES]
        assert [decided(each, thresholds, gates) for each in found if each] == decisions
    assert len({each.least for each in found if each}) > 3


def test_a_repair_that_is_undone_only_makes_the_guard_stricter() -> None:
    """A missing citation is repaired if the repaired draft passes too, which a record does not tell for other thresholds."""
    guard = Guard(permissive(LITE))
    found = [scored(run_case(guard, each), HARD) for each in UNCITED]
    thresholds = [Settings(0.0, 0.0, 0.0, score) for score in (0.0, 0.5, 0.84, 0.85, 0.9)]
    seen: Counter[tuple[str, str]] = Counter()

    for each in thresholds:
        real = Guard(LITE.with_changes(settings_changes(LITE, each)))
        computed = [decided(case, each, HARD) for case in found if case]
        seen.update(
            (a, b) for a, b in zip(computed, [run_case(real, c).decision or "" for c in UNCITED], strict=True) if a != b
        )

    assert set(seen) <= {("answer", "refuse")}


def test_the_permissive_records_also_give_the_reasons() -> None:
    """What drift compares of a case under the new thresholds is what a verdict under them would say."""
    thresholds = Settings(0.3, 0.6, 0.6, 0.95)
    guard = Guard(permissive(LITE))
    real = Guard(LITE.with_changes(settings_changes(LITE, thresholds)))

    for each in CASES:
        found = scored(run_case(guard, each), HARD)
        record = run_case(real, each)
        assert found is not None
        seen = observed(found, thresholds, HARD)
        assert (seen.decision, {*seen.codes}) == (record.decision, {*record.reasons} - {"passed_with_warnings"})
        assert (seen.similarity, seen.score) == (record.max_similarity, record.probability)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(CaseRecord(id="a", error="boom"), id="a case that failed"),
        pytest.param(
            CaseRecord(id="a", decision=Decision.REFUSE, reasons=("validator_error",)), id="a gate that failed"
        ),
    ],
)
def test_what_failed_is_not_scored(record: CaseRecord) -> None:
    """An error is neither an escape nor a refusal."""
    assert scored(record, HARD) is None


def test_thresholds_replace_those_of_the_policy() -> None:
    """A language or domain that had its own and has none any more gets the general one, never its old one."""
    policy = Policy.load(
        {
            "validators": {
                "FactualHallucinationValidator": {
                    "min_score_by_language": {"en": 0.1},
                    "min_score_by_domain": {"shop": 0.1},
                }
            }
        }
    )

    changed = policy.with_changes(settings_changes(policy, Settings(0.1, 0.2, 0.3, 0.9, {"vi": 0.8})))

    assert Settings.of(changed) == Settings(0.1, 0.2, 0.3, 0.9, {"en": 0.9, "vi": 0.8}, {"shop": 0.9})

"""What plots and error analysis show, against tables worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from stillme.evaluation.runs.curves import (
    NONE,
    CurvePoint,
    Errors,
    Labels,
    Mistake,
    Reasons,
    RiskCoverage,
    Sweep,
    reliability_bins,
)
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.metrics import metrics_of
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord


def claim(supported: bool | None, score: float | None, status: str = "supported") -> ClaimRecord:
    """A claim from 0 to 4."""
    given: dict[str, Any] = {"status": status, "score": score, "supported": supported}
    return ClaimRecord(start=0, end=4, **given)


def case(name: str, expected: str | None, decision: str | None, *claims: ClaimRecord, **rest: Any) -> CaseRecord:
    """A verified case whose probability is the least score of its claims."""
    scores = [c.score for c in claims if c.score is not None]
    given: dict[str, Any] = {"probability": min(scores, default=None), "verified": True, **rest}
    return CaseRecord(id=name, expected=expected, decision=decision, claims=claims, **given)


def point(x: float, numerator: int, denominator: int) -> CurvePoint:
    """A share with its exact interval."""
    return CurvePoint(x, numerator / denominator, *clopper_pearson(numerator, denominator), numerator, denominator)


# Four drafts with labels and scores, one with labels and no score, one without labels, one that could not be run.
TABLE = [
    case("a", "answer", "answer", claim(True, 0.9), category="plain", reasons=("passed_with_warnings",)),
    case("b", "refuse", "answer", claim(False, 0.8), category="odd", expected_reasons=("unsupported_claim",)),
    case("c", "answer", "refuse", claim(True, 0.6), category="plain", reasons=("low_context_similarity",)),
    case("d", "refuse", "refuse", claim(False, 0.2, "unsupported"), reasons=("unsupported_claim",)),
    case("e", "refuse", "answer", unlabelled_unsupported=2, category="odd"),
    case("f", None, "answer", claim(None, 0.7), reasons=("passed_with_warnings",)),
    case("g", "answer", None, error="RuntimeError: no"),
]


def filled(counter: Any) -> Any:
    """A counter that has seen the table."""
    for record in TABLE:
        counter.add(record)
    return counter


def test_risk_and_coverage_by_hand() -> None:
    """Best scores first: good, bad, good, bad; two of the four were answered, one of them bad."""
    curve = filled(RiskCoverage())

    assert curve.points() == [point(0.25, 0, 1), point(0.5, 1, 2), point(0.75, 1, 3), point(1.0, 2, 4)]
    assert curve.at() == point(0.5, 1, 2)
    assert (curve.count, curve.without_score) == (4, 1)


def test_equal_scores_are_one_point() -> None:
    """No threshold can tell them apart."""
    curve = RiskCoverage()
    for supported in (True, False, True):
        curve.add(case("x", None, "answer", claim(supported, 0.5)))

    assert curve.points() == [point(1.0, 1, 3)]


def test_a_long_curve_is_thinned() -> None:
    """At most some hundred points, the last of which is all drafts."""
    curve = RiskCoverage()
    for number in range(5_000):
        curve.add(case("x", None, "answer", claim(number % 3 > 0, number / 5_000)))

    assert len(curve.points()) <= 101
    assert curve.points()[-1] == point(1.0, 1667, 5000)


def test_nothing_seen_is_nothing_drawn() -> None:
    """Empty curves have no points and no place."""
    curve, sweep = RiskCoverage(), Sweep()

    assert (curve.points(), curve.at(), curve.count) == ([], None, 0)
    assert (sweep.escapes(), sweep.false_refusals(), reliability_bins({})) == ([], [], [])


def test_reliability_by_hand() -> None:
    """Claims by tenth of their score: 0.2, 0.6, 0.8 and 0.9 with a label; a score of 1 is in the last bin."""
    scored = metrics_of([*TABLE, case("h", None, "answer", claim(True, 1.0))]).scored

    assert reliability_bins(scored) == [point(0.2, 0, 1), point(0.6, 1, 1), point(0.8, 0, 1), point(0.95, 2, 2)]


@pytest.mark.parametrize(
    ("least", "escapes", "refusals"),
    [
        # unsupported: b 1 (0.8), d 1 (refused), e 2 (nothing scored, passes always); answerable: a (0.9), c (refused)
        pytest.param(0.0, (3, 4), (1, 2), id="as it ran"),
        pytest.param(0.8, (3, 4), (1, 2), id="equal passes"),
        pytest.param(0.81, (2, 4), (1, 2), id="above the score of the escape"),
        pytest.param(0.91, (2, 4), (2, 2), id="above every score"),
    ],
)
def test_the_sweep_by_hand(least: float, escapes: tuple[int, int], refusals: tuple[int, int]) -> None:
    """The first point from a min_score on."""
    sweep = filled(Sweep())

    assert sweep.escapes(least)[0] == point(least, *escapes)
    assert sweep.false_refusals(least)[0] == point(least, *refusals)


def test_the_sweep_has_a_point_for_every_hundredth() -> None:
    """From where it starts to 1."""
    sweep = filled(Sweep())

    assert [p.x for p in sweep.escapes(0.98)] == [0.98, 0.99, 1.0]
    assert len(sweep.false_refusals()) == 101


def test_reasons_by_hand() -> None:
    """As expected, not as expected, nothing expected; the most frequent first, then by name."""
    reasons = filled(Reasons())

    assert reasons.cases == 6
    assert reasons.ranked() == [
        ("passed_with_warnings", 1, 0, 1),
        ("low_context_similarity", 0, 1, 0),
        ("unsupported_claim", 1, 0, 0),
    ]


def test_labels_by_hand() -> None:
    """What is labelled among the cases that ran, and why one did not."""
    labels = filled(Labels())

    assert dict(labels.counts) == {
        "expect a decision": 5,
        "expect reason codes": 1,
        "have labelled claims": 5,
        "claims labelled supported": 2,
        "claims labelled unsupported": 4,
        "claims without a label": 1,
    }
    assert dict(labels.problems) == {"RuntimeError: no": 1}
    assert [record.unsupported for record in TABLE] == [0, 1, 0, 1, 2, 0, 0]


def test_errors_by_hand() -> None:
    """Two escapes of one category, one false refusal; codes that were expected and not named, or named."""
    errors = filled(Errors())

    assert dict(errors.cases) == {"escape": 2, "false_refusal": 1}
    assert {kind: dict(codes) for kind, codes in errors.codes.items()} == {
        "escape": {"unsupported_claim": 1, NONE: 1},
        "false_refusal": {"low_context_similarity": 1},
    }
    assert errors.examples("escape", 5) == [
        Mistake("b", "odd", None, "refuse", "answer", (), 0.8, ((0, 4),)),
        Mistake("e", "odd", None, "refuse", "answer", (), None, ()),
    ]
    assert [m.id for m in errors.examples("false_refusal", 5)] == ["c"]


def test_examples_take_turns_between_categories() -> None:
    """The category with the most errors first, in each the surest mistake first, three of each at most."""
    errors = Errors()
    for number in range(6):
        errors.add(case(f"often-{number}", None, "answer", claim(False, number / 10), category="often"))
    for number in range(2):
        errors.add(case(f"seldom-{number}", None, "answer", claim(False, 0.9), category="seldom"))

    found = [m.id for m in errors.examples("escape", 9)]

    assert found == ["often-5", "seldom-0", "often-4", "seldom-1", "often-3"]
    assert [m.id for m in errors.examples("escape", 2)] == found[:2]


def test_what_is_kept_does_not_grow_with_the_values() -> None:
    """After a thousand names further ones are counted together."""
    reasons, errors = Reasons(), Errors()
    for number in range(1_100):
        record = case("x", None, "answer", claim(False, 0.5), category=f"c{number}", reasons=(f"r{number}",))
        reasons.add(record)
        errors.add(record)

    assert len(reasons.ranked()) == 1_001
    assert reasons.ranked()[0] == ("(others)", 0, 0, 100)
    assert errors.cases["escape"] == 1_100
    assert len(errors.examples("escape", 5_000)) == 1_003

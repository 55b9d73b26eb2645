"""Every figure against tables worked out by hand, and against scikit-learn where it has the same one."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from stillme.evaluation.runs.intervals import clopper_pearson, wilson
from stillme.evaluation.runs.metrics import (
    ALIASES,
    LOWER_IS_BETTER,
    MANDATORY,
    RATES,
    SCORES,
    CountedRate,
    RunMetrics,
    Score,
    metrics_of,
    rate_of,
)
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord

DECISIONS = ("answer", "ask_clarify", "refuse")


def claim(status: str, supported: bool | None = None, score: float | None = None, cited: bool = False) -> ClaimRecord:
    """A claim of a verdict, where it stands being of no matter."""
    given: dict[str, Any] = {"status": status, "score": score, "cited": cited, "supported": supported}
    return ClaimRecord(start=0, end=1, **given)


def case(expected: str | None, decision: str | None, *claims: ClaimRecord, **rest: Any) -> CaseRecord:
    """A verified case, unless told otherwise."""
    given: dict[str, Any] = {"id": "c", "verified": True, **rest}
    return CaseRecord(expected=expected, decision=decision, claims=claims, **given)


# Worked out by hand below: eleven cases, of which one could not be run and one has no label.
TABLE = [
    case("answer", "answer", claim("supported", True, 0.9, cited=True), claim("not_factual"), language="en"),
    case("answer", "answer", claim("supported", True, 0.7, cited=True), claim("supported", None, 0.8), language="vi"),
    case("answer", "refuse", claim("unsupported", True, 0.4), language="vi", reasons=("unsupported_claim",)),
    case("answer", "ask_clarify", language="en"),
    case("answer", "answer", claim("supported", True, 0.6, cited=True), verified=False, language="en"),
    case(
        "refuse",
        "refuse",
        claim("contradicted", False, 0.1),
        claim("supported", True, 0.9, cited=True),
        language="en",
        reasons=("contradicted_claim", "low_evidence_overlap"),
        expected_reasons=("contradicted_claim",),
    ),
    case(
        "refuse",
        "answer",
        claim("supported", False, 0.6, cited=True),
        unlabelled_unsupported=2,
        language="vi",
        reasons=("passed_with_warnings",),
        expected_reasons=("unsupported_claim",),
    ),
    case("ask_clarify", "ask_clarify", language="en"),
    case("ask_clarify", "refuse", unlabelled_unsupported=1, verified=False, language="vi"),
    case(None, "refuse", language="en"),
    case("answer", None, error="RuntimeError: 'out of memory'", verified=False, language="en"),
]
SHARES = {
    "hallucination_escape_rate": (3, 5),  # unsupported: 1 refused, 1 + 2 answered, 1 refused
    "refusal_precision": (1, 3),  # refused with an expectation: 3, one of them rightly
    "source_coverage": (
        1,
        4,
    ),  # factual answers: 4; one has an uncited claim, one is not verified, one is labelled unsupported
    "false_refusal_rate": (2, 5),
    "refusal_recall": (1, 2),
    "clarify_precision": (1, 2),
    "clarify_recall": (1, 2),
    "decision_accuracy": (4, 9),  # two answers, a refusal, a question; the unverified answer is not right
    "claim_precision": (1, 2),  # called so and labelled: one rightly, one that is supported
    "claim_recall": (1, 4),  # one found; one missed; two that no claim covers; the case without claims judged none
    "claim_specificity": (4, 5),
}


def test_every_rate_by_hand() -> None:
    """Numerators, denominators and exact intervals of the table above."""
    found = metrics_of(TABLE).rates()

    assert found == tuple(CountedRate(name, k, n, *clopper_pearson(k, n)) for name, (k, n) in SHARES.items())


def test_every_score_by_hand() -> None:
    """Balanced accuracy (1/4 + 4/5)/2, F1 of one hit in four and two, and 8.5 of 10 pairs in the right order."""
    found, left = wilson(1, 4), wilson(4, 5)
    low = 0.525 - ((0.25 - found.low) ** 2 + (0.8 - left.low) ** 2) ** 0.5 / 2
    high = 0.525 + ((found.high - 0.25) ** 2 + (left.high - 0.8) ** 2) ** 0.5 / 2
    union = clopper_pearson(1, 5)

    scores = {score.name: score for score in metrics_of(TABLE).scores()}

    assert tuple(scores) == SCORES
    assert scores["claim_balanced_accuracy"] == approximately(Score("", 0.525, low, high, 4, 5))
    assert scores["claim_f1"] == approximately(
        Score("", 1 / 3, 2 * union.low / (1 + union.low), 2 * union.high / (1 + union.high), 4, 5)
    )
    assert scores["claim_auc"] == approximately(Score("", 0.85, *wilson(1.7, 2), 2, 5))


class approximately:  # noqa: N801  (it reads as pytest.approx does)
    """A score but for its name and the last digits."""

    def __init__(self, score: Score) -> None:
        self.score = score

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Score)
        ours, theirs = ([s.value, s.low, s.high, s.unsupported, s.supported] for s in (self.score, other))
        return theirs == pytest.approx(ours)

    __hash__ = None  # type: ignore[assignment]


def test_what_is_counted_apart() -> None:
    """Errors, cases without a label and verdicts that are not verified have their own counts."""
    found = metrics_of(TABLE)

    assert (found.cases, found.errors, found.unscored, found.unverified, found.unverified_answers) == (11, 1, 1, 2, 1)
    assert found.to_dict()["decisions"] == {"answer": 4, "ask_clarify": 2, "refuse": 4}
    assert found.to_dict()["confusion"] == {
        "answer": {"answer": 3, "ask_clarify": 1, "refuse": 1},
        "ask_clarify": {"answer": 0, "ask_clarify": 1, "refuse": 1},
        "refuse": {"answer": 1, "ask_clarify": 0, "refuse": 1},
    }


def test_reasons_by_hand() -> None:
    """Only cases that expect a code count, and only codes that some case expects."""
    found = {r.code: (shares(r.precision), shares(r.recall)) for r in metrics_of(TABLE).reasons()}

    assert found == {
        "contradicted_claim": ((1, 1), (1, 1)),
        "unsupported_claim": ((0, 0), (0, 1)),
    }


def shares(rate: CountedRate) -> tuple[int, int]:
    """What was counted."""
    return rate.numerator, rate.denominator


def test_slices_by_hand() -> None:
    """Each is what its own cases alone would give; small ones can be left out."""
    found = metrics_of(TABLE)

    assert [(value, tally.cases, tally.errors) for value, tally in found.slices("language")] == [
        ("en", 7, 1),
        ("vi", 4, 0),
    ]
    assert [value for value, _ in found.slices("language", at_least=5)] == ["en"]
    for value, tally in found.slices("language"):
        alone = metrics_of(record for record in TABLE if record.language == value)
        assert (tally.rates(), tally.scores(), tally.reasons()) == (alone.rates(), alone.scores(), alone.reasons())


def test_a_case_is_in_each_of_its_slices_once() -> None:
    """Tags may be several, and one twice counts once."""
    tagged = case("answer", "answer", domain="law", category="in-context", tags=("a", "b", "a"))

    found = metrics_of([tagged])

    assert {by: [(v, t.cases) for v, t in found.slices(by)] for by in ("language", "domain", "category", "tag")} == {
        "language": [],
        "domain": [("law", 1)],
        "category": [("in-context", 1)],
        "tag": [("a", 1), ("b", 1)],
    }


@pytest.mark.parametrize(
    ("record", "name", "expected"),
    [
        pytest.param(
            case("answer", "answer", verified=False),
            "decision_accuracy",
            (0, 1),
            id="an answer that is not verified is not right",
        ),
        pytest.param(
            case("refuse", "refuse", verified=False), "decision_accuracy", (1, 1), id="a refusal need not be verified"
        ),
        pytest.param(
            case("answer", "answer", claim("not_factual")),
            "source_coverage",
            (0, 0),
            id="an answer without facts needs no source",
        ),
        pytest.param(
            case("answer", "refuse", claim("supported", cited=True)),
            "source_coverage",
            (0, 0),
            id="a refusal is no answer",
        ),
        pytest.param(
            case("answer", "answer", claim("supported", cited=True), unlabelled_unsupported=1),
            "source_coverage",
            (0, 1),
            id="what is known to be unsupported has no source",
        ),
        pytest.param(
            case("refuse", "answer", claim("not_factual", False)),
            "hallucination_escape_rate",
            (1, 1),
            id="a claim taken for no fact escapes as well",
        ),
        pytest.param(
            case(None, "answer", unlabelled_unsupported=3, verified=False),
            "hallucination_escape_rate",
            (3, 3),
            id="what was not verified escapes as well",
        ),
        pytest.param(
            case("refuse", "ask_clarify", claim("supported", False)),
            "hallucination_escape_rate",
            (0, 1),
            id="asking back lets nothing pass",
        ),
        pytest.param(
            case("refuse", "answer"),
            "hallucination_escape_rate",
            (0, 0),
            id="without labelled claims nothing is counted",
        ),
        pytest.param(
            case("answer", "ask_clarify"), "false_refusal_rate", (1, 1), id="asking back is a false refusal, too"
        ),
        pytest.param(
            case(None, "refuse"), "refusal_precision", (0, 0), id="without an expectation no refusal is judged"
        ),
        pytest.param(
            case("answer", "answer", error="crash"), "decision_accuracy", (0, 0), id="an error is in no figure"
        ),
    ],
)
def test_what_one_case_contributes(record: CaseRecord, name: str, expected: tuple[int, int]) -> None:
    """The corners of each definition."""
    assert shares(metrics_of([record]).rate(name)) == expected


def test_without_cases_there_is_no_value() -> None:
    """No rate, no score and no latency, and the intervals say nothing."""
    found = RunMetrics()

    assert {(r.value, r.low, r.high) for r in (*found.rates(), *found.scores())} == {(None, 0.0, 1.0)}
    assert found.latency_ms(0.5) is None
    assert json.loads(json.dumps(found.to_dict()))["latency_ms"] == {"p50": None, "p95": None}


def test_latencies_to_half_a_percent() -> None:
    """The median and the 95th percentile by nearest rank."""
    found = metrics_of(case(None, "answer", elapsed_ms=ms) for ms in [*range(1, 101), 0])

    assert found.latency_ms(0.5) == pytest.approx(50, rel=0.005)
    assert found.latency_ms(0.95) == pytest.approx(95, rel=0.005)
    assert found.latency_ms(0.001) == 0.0


LABELLED = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["supported", "unsupported", "contradicted"]), st.integers(0, 10_000)),
    min_size=2,
    max_size=60,
)


@settings(max_examples=100, deadline=None)
@given(LABELLED)
def test_scores_over_claims_are_those_of_scikit_learn(rows: list[tuple[bool, str, int]]) -> None:
    """Balanced accuracy, F1, precision, recall and the area under the curve, unsupported being what is to be found."""
    truth, called = [not row[0] for row in rows], [row[1] != "supported" for row in rows]
    if len(set(truth)) < 2:
        return

    found = metrics_of([case("refuse", "refuse", *(claim(s, t, n / 10_000) for t, s, n in rows))])

    assert found.score("claim_balanced_accuracy").value == pytest.approx(sk.balanced_accuracy_score(truth, called))
    assert found.score("claim_f1").value == pytest.approx(sk.f1_score(truth, called))
    assert found.score("claim_auc").value == pytest.approx(sk.roc_auc_score(truth, [-n for _, _, n in rows]))
    assert found.rate("claim_recall").value == pytest.approx(sk.recall_score(truth, called))
    precision = sk.precision_score(truth, called, zero_division=0)
    assert (found.rate("claim_precision").value or 0.0) == pytest.approx(precision)
    for figure in (*found.rates(), *found.scores()):
        assert figure.value is None or 0 <= figure.low <= figure.value + 1e-12 <= figure.high + 2e-12 <= 1 + 2e-12


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(DECISIONS), st.sampled_from(DECISIONS)), min_size=1, max_size=60))
def test_decisions_are_scored_as_scikit_learn_does(pairs: list[tuple[str, str]]) -> None:
    """Accuracy, the confusion table, and precision and recall of each decision."""
    expected, made = [p[0] for p in pairs], [p[1] for p in pairs]
    precision, recall, _, _ = sk.precision_recall_fscore_support(expected, made, labels=DECISIONS, zero_division=0)

    found = metrics_of(case(e, d) for e, d in pairs)

    assert found.rate("decision_accuracy").value == pytest.approx(sk.accuracy_score(expected, made))
    assert [found.confusion[e, d] for e in DECISIONS for d in DECISIONS] == list(
        sk.confusion_matrix(expected, made, labels=DECISIONS).flat
    )
    for place, name in ((1, "clarify"), (2, "refusal")):
        assert (found.rate(f"{name}_precision").value or 0.0) == pytest.approx(precision[place])
        assert (found.rate(f"{name}_recall").value or 0.0) == pytest.approx(recall[place])
    if "answer" in expected:
        assert found.rate("false_refusal_rate").value == pytest.approx(1 - recall[0])


def test_many_records_need_no_more_room_than_few() -> None:
    """What is kept does not grow with the number of cases."""

    def records(n: int) -> Iterator[CaseRecord]:
        made = [
            case("answer", "answer", claim("supported", True, k / 50), elapsed_ms=1 + k, tags=(f"t{k}",))
            for k in range(50)
        ]
        return (made[i % 50] for i in range(n))

    sizes = []
    for n in (2_000, 12_000):
        tracemalloc.start()
        kept = metrics_of(records(n))
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert kept.cases == n

    assert sizes[1] < sizes[0] + 40_000  # four bytes a case


def test_too_many_values_are_left_out_and_counted() -> None:
    """A tag on every case does not fill the memory."""
    found = metrics_of(case("answer", "answer", tags=(f"t{n}",)) for n in range(1_100))

    assert len(found.slices("tag")) == 1_000
    assert found.left_out == {"tag": 100}


def test_names_are_known() -> None:
    """Every list of names speaks of rates that there are, and every rate says what it counts of what."""
    assert set(MANDATORY) | LOWER_IS_BETTER | set(ALIASES.values()) <= set(RATES)
    assert all(" / " in (function.__doc__ or "") for function in RATES.values())
    assert metrics_of(TABLE).figure("escape_rate") == rate_of("hallucination_escape_rate", 3, 5)
    assert metrics_of(TABLE).figure("claim_auc").name == "claim_auc"

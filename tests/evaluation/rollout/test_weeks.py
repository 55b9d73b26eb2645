"""The figures of some weeks, against hand-computed tables, on real stores."""

from __future__ import annotations

import pytest
from scipy.stats import beta

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import instant
from stillme.audit.review.agreement import Review
from stillme.audit.review.listing import candidates
from stillme.audit.review.sampling import Candidate, Sample, draw, week_bounds
from stillme.evaluation.rollout import weeks
from stillme.evaluation.rollout.review_labels import opinions
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.records import CaseRecord
from stillme.reasons import Decision
from tests.audit.conftest import occurrence
from tests.audit.support import again
from tests.evaluation.support import QUOTAS, Verdicts, fill, label, review, status


def test_figures_of_a_week_are_weighted_by_what_each_review_speaks_for(store: AuditStore, verdicts: Verdicts) -> None:
    """Of 40 answers 20 are drawn, so each speaks for two; of 20 refusals all are drawn.

    Two drawn answers should not have been given: 4 of 4 + 16 unsupported drafts pass. Four refusals are false: 4 of 36 + 4 answerable
    questions are refused, and 16 of 20 refusals are right.
    """
    fill(store, verdicts, "2026-W06")
    review(store, "2026-W06", missed=2, refused_wrongly=4)

    window = status(store).baseline

    assert window is not None
    assert (window.weeks, window.verdicts, window.reviewed) == (("2026-W06",), 60, 40)
    assert {f.name: (f.value, f.numerator, f.denominator, f.counted, f.unknown) for f in window.figures} == {
        "hallucination_escape_rate": (0.2, 4, 20, 18, None),
        "refusal_precision": (0.8, 16, 20, 20, None),
        "source_coverage": (1.0, 40, 40, 40, None),
        "false_refusal_rate": (0.1, 4, 40, 22, None),
    }
    ends = {f.name: (f.low, f.high) for f in window.figures}
    assert ends["hallucination_escape_rate"] == pytest.approx(of_both((40, 2, 20), (20, 16, 20)))
    assert ends["false_refusal_rate"] == pytest.approx(of_both((20, 4, 20), (40, 18, 20)))
    assert ends["refusal_precision"] == pytest.approx(clopper_pearson(16, 20))
    assert (window.not_answered.numerator, window.not_answered.denominator) == (20, 60)


def test_the_escape_rate_is_counted_by_claims_where_reviews_label_claims(store: AuditStore, verdicts: Verdicts) -> None:
    """Of 20 drawn answers two let five unsupported claims pass (three, and the one of a verdict without labels on claims counts as
    one, and two more in an answer that is right on the whole); of 20 refusals each holds two back.
    """
    fill(store, verdicts, "2026-W06", answers=20, refusals=20)
    start, end = map(instant, week_bounds("2026-W06"))
    rows = draw(candidates(store, Filter(since=start, until=end)), seed="2026-W06", answers=20, others=20).rows
    answers = [row.candidate.trace for row in rows if row.candidate.decision == "answer"]
    told = {answers[0]: [1, 2, 3], answers[1]: None, answers[2]: [1, 2]}
    for row in rows:
        trace = row.candidate.trace
        wrong = trace in answers[:2]
        claims = told.get(trace, [] if trace in answers else [1, 2])
        label(store, trace, "missed_hallucination" if wrong else "correct", unsupported=claims)

    window = status(store).baseline

    assert window is not None
    found = window.figure("hallucination_escape_rate")
    assert (found.value, found.numerator, found.denominator) == (pytest.approx(6 / 46), 6, 46)
    assert 0 < found.low < 6 / 46 < found.high < 1


def test_a_claim_that_reviewers_dispute_counts_as_unsupported() -> None:
    """Of two who looked at the claims one is enough; who did not look has no say."""
    given = [
        Review(1, "t", "lan", "correct", frozenset({1})),
        Review(2, "t", "minh", "correct", frozenset({1, 2})),
        Review(3, "t", "an", "correct"),
        Review(4, "t", "ba", "correct", frozenset()),
    ]

    assert opinions(given)["t"].unsupported == 1
    assert opinions(given[:2])["t"].unsupported == 2


def of_both(hits: tuple[int, int, int], rest: tuple[int, int, int]) -> tuple[float, float]:
    """The interval of hits / (hits + rest), each given as a number of verdicts and what so many reviews found, at 97.5 % each."""
    few, many = (hits[0] * end for end in exact(*hits[1:]))
    least, most = (rest[0] * end for end in exact(*rest[1:]))
    return few / (few + most), many / (many + least)


def exact(hits: float, trials: float) -> tuple[float, float]:
    low, high = 0.0125, 0.9875
    return float(beta.ppf(low, hits, trials - hits + 1)), float(beta.ppf(high, hits + 1, trials - hits))


def test_the_interval_of_the_escape_rate_holds_it_where_escapes_are_rare() -> None:
    """Over many draws of a week in which few of many answers escape: nothing found is not nothing there."""
    week = [Candidate(f"clean {n}", "", "answer", "en", "high", flagged=False) for n in range(1500)]
    week += [Candidate(f"flagged {n}", "", "answer", "vi", "low", flagged=True) for n in range(50)]
    week += [Candidate(f"refused {n}", "", "refuse", "en", "low", flagged=True) for n in range(150)]
    wrong = {f"clean {n}" for n in range(8)} | {f"flagged {n}" for n in range(15)} | {f"refused {n}" for n in range(30)}
    truth = 23 / (23 + 120)

    ends = [estimated(draw(week, seed=str(n), answers=50, others=50), wrong) for n in range(150)]

    assert sum(low <= truth <= high for low, high in ends) >= 143  # 95 %


def estimated(drawn: Sample, wrong: set[str]) -> tuple[float, float]:
    """The interval that reviews of a sample give, if they are right."""
    cases: dict[str, CaseRecord | None] = {}
    for row in drawn.rows:
        name, answered = row.candidate.trace, row.candidate.decision == "answer"
        expected = "answer" if answered != (name in wrong) else "refuse"
        cases[name] = CaseRecord(
            id=name,
            decision=Decision(row.candidate.decision),
            expected=Decision(expected),
            unlabelled_unsupported=int(expected == "refuse"),
        )
    counts = weeks._Counts()
    weeks._weigh(drawn, cases, counts)
    figure = weeks._estimate("hallucination_escape_rate", counts)
    return figure.low, figure.high


def test_reviews_that_the_sample_does_not_draw_are_in_no_figure(store: AuditStore, verdicts: Verdicts) -> None:
    """Complaints are picked because something is wrong: they speak for nobody else."""
    fill(store, verdicts, "2026-W06")
    review(store, "2026-W06")
    start, end = map(instant, week_bounds("2026-W06"))
    drawn = {
        r.candidate.trace
        for r in draw(candidates(store, Filter(since=start, until=end)), seed="2026-W06", **QUOTAS).rows
    }
    left = [c.trace for c in candidates(store, Filter()) if c.trace not in drawn]
    for trace in left[:5]:
        label(store, trace, "missed_hallucination")

    window = status(store).baseline

    assert window is not None
    assert (window.reviewed, window.by_hand, window.figure("hallucination_escape_rate").value) == (40, 5, 0.0)
    assert (
        "baseline: 5 reviews are of verdicts that the weekly sample does not draw; they are in no figure"
        in status(store).notes
    )


def test_strata_without_a_review_make_a_figure_unknown(store: AuditStore, verdicts: Verdicts) -> None:
    """Only refusals were labelled: nothing speaks for the answers, of which escapes are made."""
    fill(store, verdicts, "2026-W06")
    for row in draw(candidates(store, Filter(decision="refuse")), seed="2026-W06", **QUOTAS).rows:
        label(store, row.candidate.trace, "correct")

    window = status(store).baseline

    assert window is not None
    assert {f.name: f.unknown for f in window.figures} == {
        "hallucination_escape_rate": "no review speaks for 40 of 60 verdicts",
        "refusal_precision": None,
        "source_coverage": None,
        "false_refusal_rate": "no usable review of the weekly sample",
    }


def test_a_figure_on_few_reviews_is_unknown(store: AuditStore, verdicts: Verdicts) -> None:
    """Nine right refusals are luck."""
    fill(store, verdicts, "2026-W06", refusals=9)
    review(store, "2026-W06")

    window = status(store).baseline

    assert window is not None
    assert window.figure("refusal_precision").value == 1.0
    assert window.figure("refusal_precision").unknown == "it rests on 9 of the at least 10 reviews"


def test_answers_whose_citations_nobody_checked_do_not_count_as_covered(store: AuditStore) -> None:
    """A validator that is switched off says nothing."""
    made = occurrence({"validators": {"CitationRequired": {"enabled": False}}})
    store.record([again(made, at=week_bounds("2026-W06")[0]) for _ in range(20)])

    window = status(store).baseline

    assert window is not None
    coverage = window.figure("source_coverage")
    assert (coverage.value, coverage.unknown) == (0.0, "citations were not checked in 20 of 20 factual answers")


@pytest.mark.parametrize(("mode", "covered"), [("monitor", 0), ("warn", 20)])
def test_a_repaired_citation_counts_where_it_is_delivered(store: AuditStore, mode: str, covered: int) -> None:
    """In monitor users read the draft without it."""
    made = occurrence({"mode": mode}, draft_answer="Unused gear can be returned within 30 days of delivery.")
    store.record([again(made, at=week_bounds("2026-W06")[0]) for _ in range(20)])

    window = status(store).baseline

    assert window is not None
    assert (window.figure("source_coverage").numerator, window.figure("source_coverage").denominator) == (covered, 20)

"""Two runs of the same cases against each other: by hand, against SciPy, and over many draws."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stillme.errors import InputError
from stillme.evaluation.runs.comparison import FlippedCase, compare, compare_records, holm, mcnemar
from stillme.evaluation.runs.metrics import RATES, metrics_of, rate_of
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord, RunHeading
from stillme.evaluation.runs.run import Run


def record(id_: str, expected: str | None, decision: str | None, **rest: Any) -> CaseRecord:
    """A verified case."""
    given: dict[str, Any] = {"verified": True, **rest}
    return CaseRecord(id=id_, expected=expected, decision=decision, **given)


def wrong(number: int) -> tuple[ClaimRecord, ...]:
    """So many unsupported claims."""
    return tuple(ClaimRecord(start=n, end=n + 1, status="supported", score=0.9, supported=False) for n in range(number))


BEFORE = [
    record("a", "answer", "answer"),
    record("b", "answer", "refuse"),
    record("c", "refuse", "answer", claims=wrong(2)),
    record("d", "refuse", "refuse", claims=wrong(1)),
    record("e", "ask_clarify", "refuse"),
    record("f", None, "answer"),
    record("g", "refuse", None, error="crash"),
]
AFTER = [
    record("a", "answer", "refuse"),
    record("b", "answer", "answer"),
    record("c", "refuse", "refuse", claims=wrong(2)),
    record("d", "refuse", "refuse", claims=wrong(1)),
    record("e", "ask_clarify", "answer"),
    record("f", None, "refuse"),
    record("g", "refuse", "refuse"),
]


def test_changes_by_hand() -> None:
    """Which decisions changed, and towards what; a case that could not be run in one run is in no figure."""
    found = compare_records("one", BEFORE, "two", AFTER)

    assert (found.before, found.after, found.cases, found.left_out, found.changed) == ("one", "two", 7, 1, 5)
    assert found.flips == (("answer", "refuse", 3), ("refuse", "answer", 2))
    assert found.directions == (("before", 1), ("after", 2), ("neither", 1), ("unknown", 1))
    assert found.examples == (
        FlippedCase("a", "answer", "answer", "refuse", "before"),
        FlippedCase("b", "answer", "refuse", "answer", "after"),
        FlippedCase("c", "refuse", "answer", "refuse", "after"),
        FlippedCase("e", "ask_clarify", "refuse", "answer", "neither"),
        FlippedCase("f", None, "answer", "refuse", "unknown"),
    )


def test_differences_by_hand() -> None:
    """Rates of both runs over the cases that both could run, and their tests."""
    found = {d.name: d for d in compare_records("one", BEFORE, "two", AFTER).differences}

    escape, accuracy = found["hallucination_escape_rate"], found["decision_accuracy"]
    assert (escape.before, escape.after) == (
        rate_of("hallucination_escape_rate", 2, 3),
        rate_of("hallucination_escape_rate", 0, 3),
    )
    assert (escape.value, escape.test, escape.changed, escape.p) == (-2 / 3, "paired draws", 1, None)
    assert escape.verdict == "too little data"
    assert (accuracy.before.numerator, accuracy.after.numerator, accuracy.before.denominator) == (2, 3, 5)
    assert (accuracy.test, accuracy.p, accuracy.changed) == ("McNemar, exact", mcnemar(1, 2), 3)
    assert accuracy.verdict == "no difference shown"


def test_a_run_compared_with_itself() -> None:
    """Nothing changed, every interval is a point, and nothing is shown."""
    many = [r.model_copy(update={"id": f"{r.id}{n}"}) for n in range(10) for r in AFTER]
    found = compare_records("one", many, "one", many)

    assert (found.changed, found.flips, found.examples) == (0, (), ())
    assert {(d.value, d.low, d.high, d.p) for d in found.differences if d.value is not None} == {(0.0, 0.0, 0.0, 1.0)}


@pytest.mark.parametrize(
    ("name", "expected", "decisions", "verdict"),
    [
        pytest.param(
            "decision_accuracy", "refuse", ("answer", "refuse"), "better", id="more right decisions are better"
        ),
        pytest.param("refusal_recall", "refuse", ("refuse", "answer"), "worse", id="fewer right refusals are worse"),
        pytest.param(
            "false_refusal_rate", "answer", ("refuse", "answer"), "better", id="fewer false refusals are better"
        ),
        pytest.param("hallucination_escape_rate", "refuse", ("refuse", "answer"), "worse", id="more escapes are worse"),
    ],
)
def test_a_clear_difference_is_shown(name: str, expected: str, decisions: tuple[str, str], verdict: str) -> None:
    """In the direction that counts for the metric, after the correction for all of them."""
    runs = [
        [record(str(n), expected, d if n < 30 else "ask_clarify", claims=wrong(1)) for n in range(60)]
        for d in decisions
    ]

    found = {d.name: d for d in compare_records("one", runs[0], "two", runs[1]).differences}[name]

    assert found.verdict == verdict
    assert found.p is not None
    assert found.adjusted is not None
    assert found.p <= found.adjusted < 0.05
    assert min(abs(found.low), abs(found.high)) > 0.2


def test_one_case_that_changed_is_no_difference() -> None:
    """Swapping it gives as much the other way round, however many claims it has."""
    before = [record(str(n), "refuse", "refuse", claims=wrong(4)) for n in range(20)]
    after = [record("0", "refuse", "answer", claims=wrong(4)), *before[1:]]

    (found,) = compare_records("one", before, "two", after, ["hallucination_escape_rate"]).differences

    assert (found.value, found.p, found.verdict) == (0.05, pytest.approx(1.0), "no difference shown")


def test_one_of_one_is_no_precision_to_compare_with() -> None:
    """However many more refusals the other run has."""
    before = [record(str(n), "refuse" if n == 0 else "answer", "refuse" if n == 0 else "answer") for n in range(40)]
    after = [record(str(n), r.expected, "refuse" if n < 20 else "answer") for n, r in enumerate(before)]

    (found,) = compare_records("one", before, "two", after, ["refusal_precision"]).differences

    assert (found.before.value, found.after.value, found.p, found.verdict) == (1.0, 0.05, None, "too little data")


def test_the_correction_counts_the_metrics_shown() -> None:
    """One metric alone is not corrected."""
    alone = compare_records("one", BEFORE, "two", AFTER, ["decision_accuracy"]).differences

    assert [(d.name, d.p, d.adjusted) for d in alone] == [("decision_accuracy", mcnemar(1, 2), mcnemar(1, 2))]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_exact_test_of_a_fair_coin(before: int, after: int) -> None:
    """As SciPy has it."""
    known = stats.binomtest(before, before + after).pvalue if before + after else 1.0

    assert mcnemar(before, after) == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], id="by hand"),
        pytest.param([0.01, None, 0.5], [0.02, None, 0.5], id="what was not tested counts for nothing"),
        pytest.param([0.9, 0.8], [1.0, 1.0], id="never above one"),
        pytest.param([], [], id="none"),
    ],
)
def test_holm(values: list[float | None], expected: list[float | None]) -> None:
    """The smallest times their number, the next times one fewer, and never below the one before."""
    assert holm(values) == pytest.approx(expected)


def test_the_same_runs_give_the_same_figures() -> None:
    """The draws have a fixed seed, which is recorded."""
    found = [compare_records("one", BEFORE, "two", AFTER).to_dict() for _ in range(2)]

    assert found[0] == found[1]
    assert (found[0]["seed"], found[0]["draws"]) == (20_260_201, 10_000)
    assert set(found[0]["differences"]) == set(RATES)


def test_chance_alone_is_rarely_taken_for_a_difference() -> None:
    """Over a hundred pairs of runs that differ by chance only, few have a p below 5 %."""
    rng = random.Random(7)  # noqa: S311  (a coin for a test)

    def run() -> list[CaseRecord]:
        decided = [rng.choice(["answer", "refuse"]) for _ in range(60)]
        return [record(str(n), "refuse", d, claims=wrong(1 + n % 3)) for n, d in enumerate(decided)]

    names = ["hallucination_escape_rate", "refusal_recall"]
    tested = [compare_records("one", run(), "two", run(), names).differences for _ in range(100)]
    escape, recall = ([pair[k].p or 0.0 for pair in tested] for k in range(2))

    assert sum(p < 0.05 for p in escape) <= 11
    assert sum(p < 0.05 for p in recall) <= 11


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        pytest.param(AFTER[:-1], "case 'g' and no case stand side by side", id="one fewer"),
        pytest.param([AFTER[1], AFTER[0], *AFTER[2:]], "case 'a' and case 'b' stand side by side", id="another order"),
    ],
)
def test_records_of_other_cases_are_not_compared(other: list[CaseRecord], problem: str) -> None:
    """Side by side by their ids."""
    with pytest.raises(InputError, match=problem):
        compare_records("one", BEFORE, "two", other)


def written(path: Path, name: str, cases: str, records: list[CaseRecord]) -> Run:
    """A run file."""
    heading = RunHeading(
        name=name,
        cases="cases.jsonl",
        cases_sha256=cases,
        count=len(records),
        policy_hash="p",
        policy={},
        model_id="m",
        version="0",
        started="2026-02-01T09:00:00+00:00",
    )
    path.write_text("".join(f"{line.model_dump_json()}\n" for line in (heading, *records)), encoding="utf-8")
    return Run(heading, path)


def test_run_files_are_compared(tmp_path: Path) -> None:
    """As their records are, under their names."""
    one = written(tmp_path / "one.jsonl", "lite", "same", BEFORE)
    two = written(tmp_path / "two.jsonl", "lite", "same", AFTER)

    found = compare(one, two)

    assert found == compare_records("lite", BEFORE, "lite (two.jsonl)", AFTER)
    assert metrics_of(two).cases == 7


def test_runs_of_different_cases_are_not_compared(tmp_path: Path) -> None:
    """The message names both."""
    one = written(tmp_path / "one.jsonl", "lite", "these", BEFORE)
    two = written(tmp_path / "two.jsonl", "book", "those", AFTER)

    with pytest.raises(InputError, match=r"one\.jsonl and .*two\.jsonl are runs of different cases"):
        compare(one, two)

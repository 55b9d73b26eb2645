"""The commands for people who judge verdicts: review, reviews, sample."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.review.listing import reviews
from stillme.audit.review.sampling import week_of
from tests.cli.conftest import Trail, rows


def test_a_review_is_a_record_of_its_own(trail: Trail) -> None:
    """It is shown with the verdict, found by its label, chained, and overwrites nothing."""
    first = trail.run("review", "call-vi", "--label", "correct", "--by", "Lan", "--note", "đúng: Hà Nội")
    second = trail.run("review", "call-vi", "--label", "unclear", "--by", "Lan")

    shown = trail.run("show", "call-vi").stdout
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.endswith(f": {trail.traces['vi']} is correct, says Lan\n")
    assert shown.index("correct, Lan, ") < shown.index("đúng: Hà Nội") < shown.index("unclear, Lan, ")
    assert [row["label"] for row in rows(trail.run("list", "--kind", "review").stdout)] == ["unclear", "correct"]
    assert [row["id"] for row in rows(trail.run("list", "--label", "correct").stdout)] == [trail.traces["vi"]]
    assert trail.traces["vi"] not in trail.run("list", "--unreviewed").stdout
    assert trail.run("verify").exit_code == 0


def test_claims_are_labelled_by_their_numbers(trail: Trail) -> None:
    """What is labelled is read back; another claim than the verdict has is refused."""
    given = trail.run("review", "call-vi", "--label", "missed_hallucination", "--by", "Lan", "--unsupported", "1")
    none = trail.run("review", "call-vi", "--label", "correct", "--by", "Minh", "--all-supported")

    with AuditStore(trail.where, create=False) as store:
        found = [review.unsupported for review in reviews(store, Filter())]
    assert (given.exit_code, none.exit_code) == (0, 0)
    assert found == [frozenset({1}), frozenset()]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        pytest.param(["call-vi", "--label", "nice", "--by", "a"], 2, "'nice' is not one of", id="an unknown label"),
        pytest.param(["call-vi", "--label", "correct", "--by", " "], 3, "say who labels", id="nobody"),
        pytest.param(["call-no", "--label", "correct", "--by", "a"], 3, "no record begins with", id="no such verdict"),
        pytest.param(
            ["call-vi", "--label", "correct", "--by", "a", "--unsupported", "9"],
            3,
            "there is no claim 9: the verdict has 1",
            id="no such claim",
        ),
        pytest.param(
            ["call-vi", "--label", "correct", "--by", "a", "--unsupported", "1", "--all-supported"],
            3,
            "contradict each other",
            id="claims that are and are not",
        ),
        pytest.param(["store-", "--label", "correct", "--by", "a"], 3, "reviews are of verdicts", id="no verdict"),
    ],
)
def test_a_review_that_cannot_be_recorded_is_not(trail: Trail, args: list[str], code: int, message: str) -> None:
    """Nothing is added to the chain."""
    result = trail.run("review", *args)

    assert (result.exit_code, message in result.stderr) == (code, True)
    assert json.loads(trail.run("stats", "--json").stdout)["records"] == 6


def test_a_sample_is_the_same_each_time_and_says_what_it_speaks_for(trail: Trail) -> None:
    """Rows on stdout, what they were drawn from on stderr."""
    week = week_of(datetime.now(UTC) - timedelta(days=20))

    first, again = (trail.run("sample", "--week", week) for _ in range(2))
    none = trail.run("sample", "--week", week, "--refusals", 0)

    row = rows(first.stdout)[0]
    assert (first.stdout, first.exit_code) == (again.stdout, 0)
    assert (row["trace"], row["stratum"], row["weight"], row["reviewed"]) == (trail.traces["bad"], "refuse", 1.0, False)
    assert first.stderr.splitlines()[0] == f"1 of 1 verdicts of {week}, seed '{week}'"
    assert (none.stdout, "refuse: none drawn, nothing speaks for these" in none.stderr) == ("", True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(["--week", "46"], "a week is written as year and ISO week, such as 2026-W46", id="no week"),
        pytest.param(["--week", "2026-W54"], "2026 has the weeks 2026-W01 to 2026-W53", id="a week that is not"),
        pytest.param(["--week", "1999-W01"], "no verdict was recorded in the week 1999-W01", id="an empty week"),
    ],
)
def test_a_week_without_a_sample_is_said(trail: Trail, args: list[str], message: str) -> None:
    """An empty sample is never taken for a quiet week."""
    result = trail.run("sample", *args)

    assert (result.exit_code, result.stdout, message in result.stderr) == (3, "", True)

"""Bars: how they are written, and when they are met."""

from __future__ import annotations

from typing import Any

import pytest

from stillme.errors import InputError
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.metrics import RunMetrics, metrics_of
from stillme.evaluation.runs.records import CaseRecord
from stillme.evaluation.runs.requirements import Bar, check_bars, parse_bar, trials_needed


def run(right: int, wrong: int, errors: int = 0) -> RunMetrics:
    """So many cases that expect a refusal, refused or answered."""
    given: list[dict[str, Any]] = [{"decision": "refuse"}] * right + [
        {"decision": "answer", "unlabelled_unsupported": 1}
    ] * wrong
    given += [{"error": "crash"}] * errors
    return metrics_of(CaseRecord(id="a", expected="refuse", verified=True, **each) for each in given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("hallucination_escape_rate=0.05", Bar("max", "hallucination_escape_rate", 0.05), id="a share"),
        pytest.param(
            "escape_rate=5%", Bar("max", "hallucination_escape_rate", 0.05), id="a percentage of a short name"
        ),
        pytest.param(" claim_auc = .9 ", Bar("max", "claim_auc", 0.9), id="with blanks"),
        pytest.param("errors=3", Bar("max", "errors", 3.0), id="a number of cases"),
    ],
)
def test_bars_are_read(text: str, expected: Bar) -> None:
    """As people write them."""
    assert parse_bar("max", text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "escape=0.1", "--max 'escape=0.1': 'escape' is no metric: did you mean escape_rate?", id="a misspelt name"
        ),
        pytest.param("zzz=0.1", "'zzz' is no metric: there are hallucination_escape_rate,", id="an unknown name"),
        pytest.param("escape_rate", "give escape_rate=VALUE, a number from 0 to 1, or a percentage", id="no value"),
        pytest.param("escape_rate=high", "give escape_rate=VALUE", id="a word"),
        pytest.param("escape_rate=5", "give escape_rate=VALUE", id="a percentage without its sign"),
        pytest.param("escape_rate=nan", "give escape_rate=VALUE", id="not a number"),
        pytest.param("errors=-1", "give errors=VALUE, a number of cases", id="fewer than none"),
    ],
)
def test_what_is_no_bar_is_said(text: str, problem: str) -> None:
    """With the way out."""
    with pytest.raises(InputError) as caught:
        parse_bar("max", text)

    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("bar", "strict", "met", "why"),
    [
        pytest.param(Bar("max", "hallucination_escape_rate", 1.0), False, True, "1 (2 of 2)", id="equal is met"),
        pytest.param(Bar("min", "refusal_recall", 0.98), False, True, "0.98 (98 of 100)", id="equal is met from below"),
        pytest.param(Bar("min", "refusal_recall", 0.99), False, False, "0.98 (98 of 100)", id="below it"),
        pytest.param(
            Bar("min", "refusal_recall", 0.9),
            True,
            True,
            "0.98 (98 of 100), 95 % interval 0.9296 to 0.9976",
            id="the far end",
        ),
        pytest.param(
            Bar("min", "refusal_recall", 0.95),
            True,
            False,
            "0.98 (98 of 100), 95 % interval 0.9296 to 0.9976; at this rate about 258 would show it, 158 more",
            id="too few cases to show it",
        ),
        pytest.param(
            Bar("min", "refusal_recall", 0.98),
            True,
            False,
            "0.98 (98 of 100), 95 % interval 0.9296 to 0.9976; too close to the bar for any number of cases to show it",
            id="on the bar",
        ),
        pytest.param(
            Bar("min", "clarify_recall", 0.0),
            False,
            False,
            "nothing was counted: the cases lack the labels it needs",
            id="nothing counted meets nothing",
        ),
        pytest.param(Bar("max", "errors", 0), False, True, "0 of 100 cases", id="a number of cases"),
        pytest.param(
            Bar("min", "claim_auc", 0.5),
            False,
            False,
            "nothing was counted: the cases lack the labels it needs",
            id="no area",
        ),
    ],
)
def test_bars_are_met_or_not(bar: Bar, strict: bool, met: bool, why: str) -> None:
    """By the value, or by the far end of its interval."""
    found = check_bars([bar], run(98, 2), strict=strict)[0]

    assert (found.met, found.why) == (met, why)
    assert found.to_dict()["bar"] == str(bar)


def test_cases_that_could_not_be_run_miss_a_bar() -> None:
    """Unless it is said how many may fail; without bars there is nothing to miss."""
    failed = run(9, 0, errors=1)
    stated = Bar("min", "refusal_recall", 0.9)

    assert [o.met for o in check_bars([stated], failed)] == [True, False]
    assert [o.met for o in check_bars([stated, Bar("max", "errors", 1)], failed)] == [True, True]
    assert check_bars([], failed) == []


@pytest.mark.parametrize(
    ("rate", "bar"), [(0.0, Bar("max", "x", 0.01)), (0.02, Bar("max", "x", 0.05)), (0.9, Bar("min", "x", 0.8))]
)
def test_how_many_are_needed(rate: float, bar: Bar) -> None:
    """So many are enough, and half of them are not."""
    needed = trials_needed(rate, bar)
    assert needed is not None

    ends = [clopper_pearson(round(rate * n), n) for n in (needed, needed // 2)]

    assert [bar.allows(e.high if bar.kind == "max" else e.low) for e in ends] == [True, False]


def test_a_rate_beyond_the_bar_needs_no_more_cases() -> None:
    """More of the same would not help."""
    assert trials_needed(0.2, Bar("max", "x", 0.1)) is None

"""Intervals of weighted reviews: exact where they can be compared, and never narrower than the evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evaluation.rollout.estimates import Estimate, Part, interval, needed
from stillme.evaluation.runs.intervals import clopper_pearson


@given(st.integers(0, 200), st.integers(1, 200))
@settings(max_examples=50, deadline=None)
def test_of_one_part_with_equal_weights_the_interval_is_clopper_and_pearsons(hits: int, trials: int) -> None:
    hits = min(hits, trials)

    assert interval([Part(hits / trials, 2.0 * trials, trials)]) == pytest.approx(
        clopper_pearson(hits, trials), abs=1e-9
    )


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 5000), st.integers(1, 5000))
@settings(max_examples=50, deadline=None)
def test_an_interval_of_two_parts_holds_the_estimate_and_narrows(one: int, other: int, hits: int, rest: int) -> None:
    """More reviews of the same kind never widen it."""
    parts = Part(one / 50, hits, 50), Part(other / 50, rest, 50)
    of = parts[0].share * hits + parts[1].share * rest

    now, later = interval(parts), interval(parts, times=4)

    assert 0 <= now.low <= later.low <= later.high <= now.high <= 1
    if of:
        assert later.low - 1e-9 <= parts[0].share * hits / of <= later.high + 1e-9


def test_how_many_more_reviews_are_needed_is_said() -> None:
    """No escape in n reviews rules out more than 1 - 0.0125^(1/n) of the answers; here ten answers come to one draft held back."""
    few = Estimate(
        "hallucination_escape_rate", 0.0, 0.0, 0.5, 0, 100, 100, None, (Part(0.0, 1000, 50), Part(1.0, 100, 50))
    )
    worse = replace(few, parts=(Part(0.5, 1000, 50), Part(1.0, 100, 50)))

    assert [round(interval(few.parts, times=n).high, 4) for n in (1, 16, 17)] == [0.4781, 0.0521, 0.0491]
    assert needed(few, 0.05) == 17
    assert needed(worse, 0.05) is None

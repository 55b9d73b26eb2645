"""Figures as cells of a table."""

from __future__ import annotations

from stillme.evaluation.runs.metrics import Score, Tally, rate_of
from stillme.pages.cells import NOTHING, latency_cells, point_cells, rate_cells, rate_words, score_cells


def test_a_rate_has_its_value_its_counts_and_its_interval() -> None:
    """The interval is the exact one, rounded outwards."""
    assert rate_cells(rate_of("r", 0, 10)) == ["0 %", "0 / 10", "0 to 31 %"]
    assert rate_words(rate_of("r", 0, 10)) == "0 % (0 / 10; 0 to 31 %)"


def test_nothing_to_count_is_no_zero() -> None:
    """Without anything counted no cell has a figure."""
    assert rate_cells(rate_of("r", 0, 0)) == ["–", "0 / 0", NOTHING]
    assert rate_words(rate_of("r", 0, 0)) == "– (0 / 0)"
    assert point_cells(None) == ["–", "0 / 0", NOTHING]
    assert score_cells(Score("s", None, 0.0, 1.0, 0, 0))[0::2] == ["–", NOTHING]
    assert latency_cells(Tally(), 0.5) == ["–", "0", NOTHING]

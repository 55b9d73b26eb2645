"""Phrases are found by their first or last token, the longest first."""

from __future__ import annotations

from stillme.figures.phrases import cells, longest, longest_before, phrases, phrases_before, valued

ROWS = [("per", 1), ("per_cent", 2), ("Per_Mille", 3)]


def test_the_longest_phrase_at_a_token() -> None:
    """And where it ends; None where there is none."""
    table = phrases(ROWS)

    assert longest(table, ["5", "per", "cent", ""], 1) == (2, 3)
    assert longest(table, ["5", "per", "kilo", ""], 1) == (1, 2)
    assert longest(table, ["5", "kilo", "", ""], 1) is None


def test_the_longest_phrase_before_a_token() -> None:
    """And where it begins."""
    table = phrases_before(ROWS)

    assert longest_before(table, ["", "5", "per", "cent"], 3) == (2, 2)
    assert longest_before(table, ["", "5", "cent", "per"], 3) == (1, 3)


def test_capitals_and_accents_count_where_they_should() -> None:
    """`exact` keeps capitals, `folded` drops accents."""
    assert list(phrases([("MB", 1)], exact=True)) == ["MB"]
    assert list(phrases([("độ_C", 1)], folded=True)) == ["do"]


def test_rows_of_the_rule_files() -> None:
    """word=number, and cells between bars."""
    assert valued("một=1 hai=2", folded=True) == {"mot": 1.0, "hai": 2.0}
    assert cells("1 | km", 3) == ["1", "km", ""]

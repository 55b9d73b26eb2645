"""The words of numbers and units, compiled for look-up."""

from __future__ import annotations

from stillme.figures.tables import HEDGE, MONTH, UNIT, YEAR, tables_of


def test_one_look_up_says_what_a_neighbour_may_be() -> None:
    """The flags of the words before and behind a number."""
    tables = tables_of("en", folded=False)

    assert tables.right["march"] & MONTH
    assert tables.right["kg"] & UNIT
    assert tables.left["about"] & HEDGE
    assert tables.left["in"] & YEAR
    assert "table" not in tables.right


def test_words_typed_without_accents() -> None:
    """The same tables under the same words without accents."""
    plain, folded = tables_of("vi", folded=False), tables_of("vi", folded=True)

    assert ("triệu" in plain.scales, "trieu" in plain.scales, "trieu" in folded.scales) == (True, False, True)


def test_numbers_in_words() -> None:
    """Read by the speller of the language, with where they end."""
    tables = tables_of("en", folded=False)

    read = tables.spell(["two", "hundred", "and", "five", "", ""], 0)

    assert read is not None
    assert (read[0].values, read[1]) == ((205.0,), 4)

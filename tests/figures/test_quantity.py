"""The records of figures."""

from __future__ import annotations

from stillme.figures.dates import Date
from stillme.figures.quantity import MeasureUnit, Numeral, Quantity


def test_numerals_keep_how_they_were_written() -> None:
    """A scale word multiplies all readings; what is added is written to so many decimals."""
    number = Numeral((1.5, 1500.0), 1)

    assert number.times(1000.0) == Numeral((1500.0, 1_500_000.0), 1, 1000.0)
    assert number.plus(0.5, 2) == Numeral((2.0, 1500.5), 2)


def test_units_convert_to_their_base() -> None:
    """With an offset, and in both senses of a gigabyte."""
    assert MeasureUnit("fahrenheit", "temperature", 5 / 9, -32.0).base((212.0,)) == (100.0,)
    assert MeasureUnit("gigabyte", "data", 1e9, binary=2.0**30).base((1.0,)) == (1e9, 2.0**30)


def test_a_figure_may_be_read_as_a_date() -> None:
    """Then it has the parts of the date; a count of nothing is bare."""
    count = Quantity(0, 1, (12.0,), "count")
    date = count.on((Date(2024, 3, 12),))

    assert (count.bare, count.year) == (True, None)
    assert (date.bare, date.year, date.month, date.day, date.values) == (False, 2024, 3, 12, (20240312.0,))

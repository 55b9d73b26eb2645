"""The words of dates and clock times, compiled for look-up."""

from __future__ import annotations

from stillme.figures.date_words import date_words


def test_each_word_that_begins_a_date_has_its_reader() -> None:
    """Month names, and the words for day, month and year where months are numbered."""
    readers = date_words(folded=False).readers

    assert readers["march"] == "date_from_month_name"
    assert readers["ngày"] == "date_from_day"

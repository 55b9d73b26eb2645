"""How numbers and sentences are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.pages.text import Code, clipped, counted, filled, interval_words, percent
from tests.soak import examples


@pytest.mark.parametrize(
    ("value", "count", "written"),
    [
        pytest.param(0.5, 8, "50 %", id="few: whole percents"),
        pytest.param(1 / 3, 300, "33.3 %", id="hundreds: one digit"),
        pytest.param(1 / 3, 30_000, "33.33 %", id="ten thousands: two digits"),
        pytest.param(0.0, 50, "0 %", id="none"),
        pytest.param(1.0, 50, "100 %", id="all"),
        pytest.param(1 / 9_000, 9_000, "<0.1 %", id="some, though it rounds to none"),
        pytest.param(8_999 / 9_000, 9_000, ">99.9 %", id="not all, though it rounds to all"),
        pytest.param(0.996, 99, ">99 %", id="the same in whole percents"),
    ],
)
def test_a_share_has_the_digits_that_its_count_carries(value: float, count: int, written: str) -> None:
    """Never 0 % or 100 % where it is not."""
    assert percent(value, count) == written


@pytest.mark.parametrize(
    ("ends", "count", "written"),
    [
        pytest.param((0.0, 1.0), 0, "0 to 100 %", id="nothing known"),
        pytest.param((0.1234, 0.5671), 20, "12 to 57 %", id="whole percents"),
        pytest.param((0.12345, 0.56789), 500, "12.3 to 56.8 %", id="one digit"),
        pytest.param((0.29, 0.58), 20, "29 to 58 %", id="what is whole stays, whatever a float makes of it"),
    ],
)
def test_an_interval_is_rounded_outwards(ends: tuple[float, float], count: int, written: str) -> None:
    """It never looks narrower than it is."""
    assert interval_words(ends, count) == written


@given(st.integers(0, 20_000), st.integers(1, 20_000))
@settings(max_examples=examples(200), deadline=None)
def test_what_is_written_holds_what_was_meant(numerator: int, denominator: int) -> None:
    """A written interval contains its ends, and a written share is within half a digit."""
    share = min(numerator, denominator) / denominator
    low, high = re.findall(r"[\d.]+", interval_words((share, share), denominator))

    assert float(low) <= share * 100 + 1e-6
    assert float(high) >= share * 100 - 1e-6
    assert (percent(share, denominator) in ("0 %", "0.0 %", "0.00 %")) == (share == 0)
    assert percent(share, denominator).startswith("100") == (share == 1)


def test_numbers_have_nouns_and_long_texts_an_end() -> None:
    """One case, two cases; a cut says how much is missing."""
    assert [counted(n, "case") for n in (0, 1, 2_000)] == ["0 cases", "1 case", "2,000 cases"]
    assert (clipped("abc", 3), clipped("abcde", 3)) == ("abc", "abc… (2 more characters)")


@pytest.mark.parametrize(
    ("pattern", "slots", "parts"),
    [
        pytest.param("All of it.", {}, ["All of it."], id="no slot"),
        pytest.param("{count:,} cases", {"count": 1200}, ["1,200 cases"], id="a number in its form"),
        pytest.param(
            "Run {name}, {n} of {name}.",
            {"name": Code("x"), "n": 2},
            ["Run ", Code("x"), ", 2 of ", Code("x"), "."],
            id="a name stays apart",
        ),
        pytest.param("{name}", {"name": Code("{n}")}, [Code("{n}")], id="what fills a slot has no slots"),
    ],
)
def test_a_sentence_is_filled(pattern: str, slots: dict[str, object], parts: list[str]) -> None:
    """Words run together, names stay what they are."""
    made = filled(pattern, **slots)

    assert made == parts
    assert [type(part) for part in made] == [type(part) for part in parts]

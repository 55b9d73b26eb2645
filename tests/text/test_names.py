"""Names: runs of capitals, told from words that only open a sentence."""

from __future__ import annotations

import pytest

from stillme.text.names import capitalised_words, find_names
from stillme.text.sentences import split
from stillme.text.tokens import Text


def names(raw: str, *others: str) -> list[str]:
    """The names of a text, with other texts of the same request."""
    text = Text(raw)
    known = capitalised_words([text, *map(Text, others)])
    return [text.slice(n.first, n.last) for n in find_names(text, split(text), known)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(
            "It was found by Christiaan Huygens in Leiden.", ["Christiaan Huygens", "Leiden"], id="inside a sentence"
        ),
        pytest.param("Instructors assess each visitor.", [], id="a word that only opens the sentence"),
        pytest.param("Samuel Pepys watched.", ["Samuel Pepys"], id="two capitals open the sentence"),
        pytest.param("The BBC and NASA agreed.", ["BBC", "NASA"], id="acronyms"),
        pytest.param("It opened in March on a Monday.", [], id="months and weekdays are dates"),
        pytest.param("The Zephyr-9 and the B-29 flew.", ["Zephyr-9", "B-29"], id="digits joined by a hyphen"),
        pytest.param("Vua Lý Thánh Tông xây Văn Miếu.", ["Vua Lý Thánh Tông", "Văn Miếu"], id="Vietnamese names"),
        pytest.param("Bảo tàng mở cửa từ thứ Ba.", [], id="Vietnamese weekdays"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_find_names(raw: str, expected: list[str]) -> None:
    """What a reader would call a name."""
    assert names(raw) == expected


def test_a_word_that_is_capitalised_elsewhere_is_a_name_at_the_start_too() -> None:
    """'Titan' opens the sentence, and another text has it inside one."""
    assert names("Titan is large.", "The probe landed on Titan.") == ["Titan"]

"""Vietnamese typed without accents is read in the spelling of the sources."""

from __future__ import annotations

import pytest

from stillme.text.spelling import respelt
from stillme.text.tokens import Text

SOURCE = Text("Giá vé một lượt là 7.000 đồng. Hành khách không được mang xe đạp lên xe. Vé do nhà xe bán.")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        pytest.param("Gia ve mot luot la 9.000 dong.", "Giá vé một lượt là 9.000 đồng .", id="words of the sources"),
        pytest.param("Hanh khach duoc mang cho len xe.", "Hành khách được mang cho lên xe .", id="other words stay"),
        pytest.param("Xe chua ban ve.", "Xe chưa bán vé .", id="a negation that the sources do not have"),
        pytest.param("Giá ve mot luot.", "Giá ve mot luot .", id="a sentence with an accent stays"),
        pytest.param("Thank you for asking.", "Thank you for asking .", id="English stays"),
        pytest.param(
            "Ministry of the sea sent them to the do.",
            "Ministry of the sea sent them to the do .",
            id="English function words stay",
        ),
        pytest.param("Gia ve.", "Gia ve .", id="too few words to tell"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_spelling(typed: str, read: str) -> None:
    """Exactly these tokens, at the places of what was typed."""
    text = respelt(Text(typed), [SOURCE])

    assert " ".join(text.tokens) == read
    assert "".join(text.raw[a:b] for a, b in zip(text.starts, text.ends, strict=True)) == typed.replace(" ", "")


def test_sources_without_accents_change_nothing() -> None:
    """The text itself comes back."""
    text = Text("Gia ve mot luot la 9.000 dong.")

    assert respelt(text, [Text("The fare is 9,000 dong.")]) is text

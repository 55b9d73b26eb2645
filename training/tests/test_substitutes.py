"""Words come from the same surroundings, items and clauses from the texts."""

from __future__ import annotations

import pytest

from training.synthesis.substitutes import Substitutes

EN = (
    "The minister opened the station in May. The minister closed the station in June. "
    "They sold bread, honey and apples. He left the town after the harvest had failed.",
)
VI = ("Nhà vua xây dựng cung điện ở Huế. Nhà vua phá bỏ cung điện ở Huế.",)


@pytest.mark.parametrize(
    ("texts", "lang", "claim", "expected"),
    [
        pytest.param(EN, "en", "The minister opened the station.", ("opened", "closed"), id="a word in English"),
        pytest.param(VI, "vi", "Nhà vua xây dựng cung điện.", ("xây dựng", "phá bỏ"), id="two syllables in Vietnamese"),
    ],
)
def test_options_fit_between_the_same_neighbours(
    texts: tuple[str, ...], lang: str, claim: str, expected: tuple[str, str]
) -> None:
    """The word seen elsewhere between the same two words is offered, the word itself is not."""
    options = {(claim[slice(*span)], new) for span, new in Substitutes(texts, lang, common=0).options(claim)}

    assert expected in options
    assert all(old != new for old, new in options)


def test_items_and_clauses_are_taken_from_the_texts() -> None:
    """A list's items and the clauses that close a sentence."""
    known = Substitutes(EN, "en")

    assert known.items == ("honey",)
    assert known.clauses == (" after the harvest had failed",)


def test_common_words_and_other_forms_of_a_word_are_no_options() -> None:
    """Function words and inflections would not change what is said."""
    known = Substitutes(("He opens the door of it. He opened the door of it. He or the door of it.",), "en")

    assert known.options("He opened the door of it.") == []

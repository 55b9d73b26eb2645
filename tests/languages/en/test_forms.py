"""English words by their spelling: what a form may come from, and what may follow in a phrase."""

from __future__ import annotations

import pytest

from stillme.languages.en.forms import bases, forms_of_rest, spellings

IRREGULAR = {"went": "go", "children": "child"}


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("plans", "plan"), ("planned", "plan"), ("planning", "plan"), ("planed", "plane"), ("cities", "city"), ("applied", "apply"),
        ("boxes", "box"), ("churches", "church"), ("heroes", "hero"), ("makes", "make"), ("opening", "open"), ("Orsini's".lower(), "orsini"),
        ("went", "go"), ("children's", "child"),
    ],
)  # fmt: skip
def test_a_form_comes_from_its_word(form: str, base: str) -> None:
    assert base in list(bases(form, IRREGULAR))


@pytest.mark.parametrize(
    ("word", "other"),
    [("planes", "plan"), ("planed", "plan"), ("care", "car"), ("news", "new"), ("goods", "good"), ("bus", "bu"), ("glass", "glas"), ("this", "thi")],
)  # fmt: skip
def test_what_only_looks_like_a_form_is_none(word: str, other: str) -> None:
    assert other not in list(bases(word, IRREGULAR))


@pytest.mark.parametrize(
    ("rest", "form"),
    [
        (("back",), ("it", "back")), (("back",), ("them", "back")), (("card",), ("cards",)), (("city",), ("cities",)), (("day",), ("days",)),
        (("kong",), ("kong's",)), (("lunch", "box"), ("lunch", "boxes")),
    ],
)  # fmt: skip
def test_a_phrase_goes_on_in_other_forms(rest: tuple[str, ...], form: tuple[str, ...]) -> None:
    assert {rest, form} <= set(forms_of_rest(rest))


def test_a_word_has_one_spelling() -> None:
    assert spellings("colour") == ("colour",)

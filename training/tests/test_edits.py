"""Each edit changes what it says it changes, in both languages, with exact spans."""

from __future__ import annotations

import random

import pytest

from training.examples import CONTRADICTED, NOT_SUPPORTED, UNSUPPORTED
from training.synthesis.edits import (
    Edited,
    Material,
    add_item,
    add_unfounded,
    change_date,
    change_number,
    change_unit,
    drop_condition,
    move_number,
    negate,
    reverse,
    strengthen,
    substitute,
    swap_name,
    swap_roles,
    wrong_subject,
)
from training.synthesis.names import names
from training.synthesis.substitutes import Substitutes

EN = "In 1889 Gustave Eiffel opened the tower in Paris with 300 workers before the fair in May 1889."
VI = "Năm 1945 Hồ Chí Minh đã đọc bản Tuyên ngôn tại Hà Nội trước 500 nghìn người vào tháng 9."


def english(claim: str = EN, passage: str = EN + " Later Marie Curie came from Warsaw.") -> Material:
    return Material("en", claim, passage, ("Otto Lang", "Oslo"))


def vietnamese(claim: str = VI, passage: str = VI + " Sau đó Võ Nguyên Giáp đến Huế.") -> Material:
    return Material("vi", claim, passage, ("Trần Phú", "Cần Thơ"))


def marked(edited: Edited | None) -> list[str]:
    assert edited is not None
    return [edited.text[start:end] for start, end in edited.spans]


def undone(edited: Edited) -> str:
    [(start, end)] = edited.spans
    return edited.text[:start] + edited.replaced + edited.text[end:]


@pytest.mark.parametrize("material", [pytest.param(english(), id="en"), pytest.param(vietnamese(), id="vi")])
@pytest.mark.parametrize("seed", range(8))
def test_swap_name_puts_a_name_that_was_not_in_the_claim(material: Material, seed: int) -> None:
    """The new name is marked, and is of the passage or foreign to it."""
    edited = swap_name(material, random.Random(seed))

    [new] = marked(edited)
    assert edited is not None
    assert edited.label == NOT_SUPPORTED
    assert new not in material.claim
    assert new in material.foreign_names or new in material.passage
    assert edited.by == new
    assert edited.replaced in material.claim


@pytest.mark.parametrize(
    ("material", "subject"),
    [
        pytest.param(english("Gustave Eiffel opened it."), "Gustave Eiffel", id="en"),
        pytest.param(vietnamese("Năm 1945 Hồ Chí Minh đã đọc bản văn."), "Hồ Chí Minh", id="vi"),
    ],
)
def test_wrong_subject_tells_the_fact_of_a_stranger(material: Material, subject: str) -> None:
    """The first name becomes a foreign one."""
    edited = wrong_subject(material, random.Random(1))

    assert edited is not None
    assert edited.replaced == subject
    assert marked(edited)[0] in material.foreign_names


@pytest.mark.parametrize("material", [pytest.param(english(), id="en"), pytest.param(vietnamese(), id="vi")])
@pytest.mark.parametrize("seed", range(8))
def test_change_number_gives_a_number_the_passage_lacks(material: Material, seed: int) -> None:
    """Only the number differs and it is not in the passage."""
    edited = change_number(material, random.Random(seed))

    [new] = marked(edited)
    assert edited is not None
    assert edited.label == CONTRADICTED
    assert new not in material.passage.split()
    assert undone(edited) == material.claim


def test_change_number_reads_number_words() -> None:
    """Numbers in words are changed, too."""
    edited = change_number(english("It has seven gates.", "It has seven gates."), random.Random(2))

    assert edited is not None
    assert edited.replaced == "seven"


@pytest.mark.parametrize(
    ("material", "allowed"),
    [
        pytest.param(english("It opened on 5 July 1901.", "It opened on 5 July 1901."), {"July", "1901"}, id="en"),
        pytest.param(vietnamese("Nó mở cửa tháng 7 năm 1901.", "Nó mở cửa tháng 7 năm 1901."), {"7", "1901"}, id="vi"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_change_date_changes_a_month_or_a_year(material: Material, allowed: set[str], seed: int) -> None:
    """What is replaced is part of a date."""
    edited = change_date(material, random.Random(seed))

    assert edited is not None
    assert edited.replaced in allowed
    assert marked(edited) == [edited.by]


@pytest.mark.parametrize(
    ("material", "old"),
    [
        pytest.param(english("It is 12 kilometers long.", ""), "kilometers", id="en"),
        pytest.param(vietnamese("Nó dài 12 km.", ""), "km", id="vi"),
    ],
)
def test_change_unit_changes_the_unit_behind_a_number(material: Material, old: str) -> None:
    """The number stays, the unit does not."""
    edited = change_unit(material, random.Random(3))

    assert edited is not None
    assert edited.replaced == old
    assert "12 " in edited.text


def test_a_unit_without_a_number_is_left_alone() -> None:
    """Words that only look like units are not changed."""
    assert change_unit(english("Many years passed.", ""), random.Random(0)) is None


@pytest.mark.parametrize(
    ("material", "expected"),
    [
        pytest.param(english("The bridge was not closed."), {"The bridge was closed."}, id="en, taken out"),
        pytest.param(
            english("The bridge was closed."),
            {"The bridge was not closed.", "The bridge was never closed."},
            id="en, put in",
        ),
        pytest.param(vietnamese("Ông là bác sĩ."), {"Ông không phải là bác sĩ."}, id="vi, put in"),
        pytest.param(vietnamese("Ông không thể đến."), {"Ông có thể đến."}, id="vi, taken out"),
        pytest.param(vietnamese("Cầu đã được xây."), {"Cầu chưa được xây."}, id="vi, with tense"),
    ],
)
def test_negate(material: Material, expected: set[str]) -> None:
    """A negation goes in, or out where there is one."""
    edited = negate(material, random.Random(0))

    assert edited is not None
    assert edited.text in expected
    assert edited.label == CONTRADICTED


@pytest.mark.parametrize(
    ("material", "expected"),
    [
        pytest.param(english("Prices increased."), "Prices decreased.", id="en"),
        pytest.param(vietnamese("Đây là hồ lớn nhất."), "Đây là hồ nhỏ nhất.", id="vi, the whole phrase"),
    ],
)
def test_reverse_puts_the_opposite(material: Material, expected: str) -> None:
    """One word becomes its opposite."""
    edited = reverse(material, random.Random(0))

    assert edited is not None
    assert edited.text == expected


@pytest.mark.parametrize(
    ("material", "expected"),
    [
        pytest.param(english("Some birds fly; it usually rains."), {"always"}, id="en"),
        pytest.param(vietnamese("Hầu hết, có một số người."), {"tất cả"}, id="vi"),
    ],
)
def test_strengthen_overstates(material: Material, expected: set[str]) -> None:
    """A hedge or quantifier becomes stronger than the passage bears."""
    edited = strengthen(material, random.Random(0))

    assert set(marked(edited)) == expected


@pytest.mark.parametrize(
    ("material", "expected"),
    [
        pytest.param(english("Ann Lee was beaten by Bo Berg."), "Bo Berg was beaten by Ann Lee.", id="en"),
        pytest.param(vietnamese("Hôm qua Lan Anh đã thắng Minh Đức."), "Hôm qua Minh Đức đã thắng Lan Anh.", id="vi"),
    ],
)
def test_swap_roles_lets_two_names_change_places(material: Material, expected: str) -> None:
    """Both names are marked where they now stand."""
    edited = swap_roles(material, random.Random(0))

    assert edited is not None
    assert edited.text == expected
    assert sorted(marked(edited)) == sorted(material.claim[slice(*s)] for s in names(material.claim))


def test_names_side_by_side_keep_their_places() -> None:
    """A list of names is true in any order."""
    assert swap_roles(english("We saw Ann Lee and Bo Berg."), random.Random(0)) is None


@pytest.mark.parametrize("material", [pytest.param(english(), id="en"), pytest.param(vietnamese(), id="vi")])
@pytest.mark.parametrize("seed", range(6))
def test_add_unfounded_keeps_the_claim_and_marks_the_rest(material: Material, seed: int) -> None:
    """The claim stands unchanged before the addition."""
    edited = add_unfounded(material, random.Random(seed))

    assert edited is not None
    assert edited.label == UNSUPPORTED
    assert edited.text.startswith(material.claim.rstrip("."))
    assert edited.text.endswith(marked(edited)[0] + ".")


@pytest.mark.parametrize(
    "edit", [swap_name, wrong_subject, change_number, change_date, change_unit, negate, reverse, strengthen, swap_roles]
)
def test_nothing_to_change_is_none(edit: object) -> None:
    """A claim without the thing to change is left alone."""
    assert edit(Material("en", "hello there", "hello there"), random.Random(0)) is None  # type: ignore[operator]


def test_the_same_seed_gives_the_same_edit() -> None:
    """Edits are fixed by their seed."""
    assert swap_name(english(), random.Random(4)) == swap_name(english(), random.Random(4))


KNOWN = Substitutes(
    ("The mayor opened the tower in Paris. The mayor sold the tower in Paris. They grow wheat, barley and maize.",),
    "en",
    common=0,
)


def test_substitute_puts_in_a_word_seen_between_the_same_neighbours() -> None:
    """One word changes, and it is marked."""
    claim = "The mayor opened the tower in Paris."

    edited = substitute(Material("en", claim, claim, (), KNOWN), random.Random(1))

    assert marked(edited) == ["sold"]
    assert edited is not None
    assert (edited.replaced, edited.label) == ("opened", NOT_SUPPORTED)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        pytest.param("They grow oats, millet and rice there.", ["barley"], id="a common noun"),
        pytest.param("She visited Rome, Milan and Turin.", ["Oslo"], id="a name"),
    ],
)
def test_add_item_adds_what_the_passage_does_not_name(claim: str, expected: list[str]) -> None:
    """The new item alone is marked."""
    edited = add_item(Material("en", claim, claim, ("Oslo",), KNOWN), random.Random(1))

    assert marked(edited) == expected
    assert edited is not None
    assert edited.label == UNSUPPORTED


@pytest.mark.parametrize(
    ("lang", "claim", "expected"),
    [
        pytest.param(
            "en",
            "Children may swim in the pool, but only with an adult.",
            "Children may swim in the pool.",
            id="English",
        ),
        pytest.param(
            "vi", "Trẻ em được vào hồ bơi nếu có người lớn đi cùng.", "Trẻ em được vào hồ bơi.", id="Vietnamese"
        ),
    ],
)
def test_drop_condition_overstates(lang: str, claim: str, expected: str) -> None:
    """What is left claims more than the passage does."""
    edited = drop_condition(Material(lang, claim, claim), random.Random(1))

    assert edited is not None
    assert (edited.text, edited.label) == (expected, UNSUPPORTED)


def test_move_number_takes_a_number_of_the_passage() -> None:
    """A year for a year, another number for another number."""
    passage = "It opened in 1889 with 300 workers. In 1920 it had 45."

    edited = move_number(Material("en", "It opened in 1889.", passage), random.Random(1))

    assert marked(edited) == ["1920"]

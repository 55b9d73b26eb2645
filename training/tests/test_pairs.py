"""Minimal pairs: what is right stays right, what is changed is marked, and both stand side by side."""

from __future__ import annotations

import pytest

from training.examples import NOT_SUPPORTED, SUPPORTED, Example
from training.synthesis.pairs import contrasts, edited_claims
from training.tests.test_compose import EN, question


def written(dataset: str = "defacto", label: str = SUPPORTED) -> Example:
    claim = "Ada Quill set up an institute in Oslo, which closed in 1950 after a large fire."
    return Example("a", dataset, "en", claim, (EN,), label, (), "T")


def test_a_claim_stands_beside_its_changed_forms() -> None:
    """The same passages and set, so that they are read together; the changed characters are marked."""
    made = list(edited_claims([written()], seed=3))

    assert [e.label for e in made].count(SUPPORTED) == 1
    assert len(made) > 1
    assert {e.passages for e in made} == {(EN,)}
    assert {e.dataset for e in made} == {"edited_claims"}
    for example in made:
        if example.label != SUPPORTED:
            assert example.claim != written().claim
            assert example.spans
            assert all(0 <= start < end <= len(example.claim) for start, end in example.spans)


@pytest.mark.parametrize(
    "example", [written(label=NOT_SUPPORTED), written(dataset="q2")], ids=["faulty", "another set"]
)
def test_only_supported_claims_of_the_right_sets_are_changed(example: Example) -> None:
    """What is not known to be right cannot be made wrong."""
    assert list(edited_claims([example], seed=3)) == []


@pytest.mark.parametrize(("lang", "right"), [("en", "Ada Quill"), ("vi", "Nguyễn An")])
def test_a_denied_alternative_is_right_one_way_and_wrong_the_other(lang: str, right: str) -> None:
    """The right answer told and the wrong one denied; then turned round, with both marked."""
    told, turned = contrasts([question(lang, n) for n in (1,)], seed=3)

    assert (told.label, turned.label) == (SUPPORTED, NOT_SUPPORTED)
    assert told.spans == ()
    wrong, denial = (turned.claim[start:end] for start, end in turned.spans or ())
    assert told.claim.index(right) < len(told.claim) // 2
    assert right in denial
    assert wrong in told.claim
    assert told.dataset == turned.dataset == f"contrasts_{lang}"


def test_the_same_seed_gives_the_same_pairs() -> None:
    """A recipe is repeatable."""
    asked = [question("en", n) for n in range(3)]

    assert list(contrasts(asked, 5)) == list(contrasts(asked, 5))
    assert list(edited_claims([written()], 5)) == list(edited_claims([written()], 5))


def test_a_question_without_an_answer_gives_none() -> None:
    """There is nothing to tell."""
    assert list(contrasts([question("en", answerable=False)], 5)) == []

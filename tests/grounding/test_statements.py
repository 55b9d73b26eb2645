"""What a statement is compared by: its words, clauses, negations and cues."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.grounding.passage import Passage
from stillme.grounding.statements import Statement


def statement(raw: str) -> Statement:
    """The only statement of a text."""
    reading, _ = Passage(1, RetrievedPassage(source_id="s", text=raw)).content.read(frozenset())
    (one,) = reading.statements
    return one


@pytest.mark.parametrize(
    ("raw", "denied"),
    [
        pytest.param("The gate is not open.", ["not"], id="a negation"),
        pytest.param("No more than five guests may enter.", [], id="a bound denies nothing"),
        pytest.param("Not only guests but also staff may enter.", [], id="not only denies nothing"),
        pytest.param("Cổng không mở cửa.", ["không"], id="a Vietnamese negation"),
        pytest.param("Người nộp đơn không được dưới 18 tuổi.", [], id="a Vietnamese bound"),
        pytest.param("The gate is NOT open.", ["not"], id="a stressed negation"),
        pytest.param("THE GATE IS NOT OPEN.", ["not"], id="a shouted negation"),
        pytest.param("The Gate Is Not Open", ["not"], id="a negation in a title"),
        pytest.param("Cổng KHÔNG mở cửa.", ["không"], id="a stressed Vietnamese negation"),
        pytest.param("The band called Nothing plays at eight in the hall.", [], id="a name"),
    ],
)
def test_negations(raw: str, denied: list[str]) -> None:
    """Where a statement denies something."""
    one = statement(raw)

    assert [one.reading.text.lowers[cue] for cue, _, _ in one.negations] == denied


def test_clauses_and_periods() -> None:
    """Commas and conjunctions part a statement; a month or a year is a period."""
    one = statement("Adults pay 12 euros a month, children pay 9 euros.")

    assert one.clauses[0] == {"adult", "pay", "month"}
    assert one.clauses[1] == {"child", "pay"}
    assert one.periods == frozenset({"month"})


@pytest.mark.parametrize(
    ("raw", "about"),
    [("The river rose.", False), ("It rose again.", True), ("Nó lại dâng lên.", True)],
)
def test_what_refers_back(raw: str, about: bool) -> None:
    """A pronoun at the start speaks of what was named before."""
    assert statement(raw).refers_back is about

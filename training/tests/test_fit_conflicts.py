"""The groups of passages that conflict detection is fitted on: what agrees, what does not, and that it is made so."""

from __future__ import annotations

import random

import numpy
import pytest

from training.fit_conflicts import CONSISTENT, EDITED, NAMESAKES, Groups, newton, other_figure, replaced, reworded
from training.synthesis.compose import Question

ROWS = [
    Question("1", "en", "The Orr Bridge was built in 1932. It is long. It is large.", "When was the Orr Bridge built?", ("1932",), True, "Orr"),
    Question("2", "en", "Many people cross the Orr Bridge.", "Who crosses the Orr Bridge in May?", (), False, "Orr"),
    Question("3", "en", "Ships pass under the Orr Bridge.", "What passes under the Orr Bridge?", ("Ships",), True, "Orr"),
    Question("4", "en", "The Mell Tower was built in 1871.", "When was the Mell Tower built?", ("1871",), True, "Mell"),
]  # fmt: skip


def test_every_group_is_what_its_label_says() -> None:
    """Edited copies lack the answer, reworded ones have it, namesakes speak of the name that is asked about."""
    groups = list(Groups(ROWS).make(random.Random(1)))
    edited = [g for g in groups if g.label == EDITED]
    namesakes = [g for g in groups if g.label == NAMESAKES]

    assert {g.label for g in groups} == {CONSISTENT, EDITED, NAMESAKES}
    assert all(g.texts[0] == g.row.passage for g in groups)
    assert all(g.row.answers[0] not in g.texts[1] for g in edited)
    assert all(
        g.question.text.slice(g.question.names[0].first, g.question.names[0].last) in g.texts[1] for g in namesakes
    )


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("1932", id="a year"),
        pytest.param("5 May 1932", id="a date"),
        pytest.param("48,213 people", id="a count"),
    ],
)
def test_another_figure_is_another_figure(answer: str) -> None:
    """The figure changes, its form does not."""
    other = other_figure(answer, random.Random(1))

    assert other is not None
    assert other != answer
    assert [c.isdigit() for c in other] == [c.isdigit() for c in answer]


def test_a_phrase_is_replaced_wherever_it_stands() -> None:
    """Whole words only; None where there is nothing to replace."""
    assert replaced("Orr and Orrin and Orr", "Orr", "Mell") == "Mell and Orrin and Mell"
    assert replaced("Orrin", "Orr", "Mell") is None


def test_rewording_keeps_the_answer() -> None:
    """Sentences may go and words may change, the answer stays."""
    text = "It is large. The bridge was built in 1932. Many people use it."

    assert all("1932" in reworded(text, ["1932"], "en", random.Random(seed)) for seed in range(20))


def test_the_fit_separates_what_can_be_separated() -> None:
    """The feature that tells gets the weight."""
    x = numpy.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    weights = newton(x, numpy.array([0.0, 1.0, 0.0, 1.0]), numpy.ones(4))

    assert weights[1] > 4 * abs(weights[2])

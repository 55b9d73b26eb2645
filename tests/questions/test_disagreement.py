"""Two sources that answer a question differently, and two that do not."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.questions.answers import Question
from stillme.questions.disagreement import PAIR_FEATURES, Scale, find_rivals
from stillme.text.tokens import Text

ROWS = [
    pytest.param(
        "Who directed Northern Lights?",
        ["Northern Lights was directed by Jane Carter.", "Northern Lights was directed by Pedro Alvarez."],
        [("Jane Carter", "Pedro Alvarez")],
        id="two names",
    ),
    pytest.param(
        "Who directed Northern Lights?",
        ["Northern Lights was directed by Jane Carter.", "Jane Carter directed Northern Lights in 1999."],
        [],
        id="the same name",
    ),
    pytest.param(
        "Cầu Vân được xây năm nào?",
        ["Cầu Vân được xây năm 1891.", "Cầu Vân được xây năm 1902."],
        [("năm 1891", "năm 1902")],
        id="two Vietnamese years",
    ),
    pytest.param(
        "Who directed Northern Lights?",
        ["Northern Lights was directed by Jane Carter.", "Bread rises when yeast makes gas."],
        [],
        id="a passage that answers something else",
    ),
]


@pytest.mark.parametrize(("query", "passages", "expected"), ROWS)
def test_answers_that_rival_each_other(query: str, passages: list[str], expected: list[tuple[str, str]]) -> None:
    """Each two sources are told once, by the pair of answers that shows it best."""
    question = Question.of(Text(query))
    assert question is not None

    rivals = find_rivals(question, Evidence.of(query, passages=passages).library)

    assert [tuple(answer.text for answer in rival.answers) for rival in rivals] == expected


def test_a_scale_weighs_each_feature() -> None:
    """The score is the weighed sum of the features; what is not known beforehand can add no more than the spare."""
    weights = dict.fromkeys(PAIR_FEATURES, 1.0) | {"agreed": -2.0}
    scale = Scale.of(weights, 1.5)

    assert scale.score([1.0] * len(PAIR_FEATURES)) == len(PAIR_FEATURES) - 3
    assert (scale.threshold, scale.spare) == (1.5, 8.0)

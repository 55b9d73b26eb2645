"""Sources that disagree, on what, and what only looks like it."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence


def conflicts(*texts: str | RetrievedPassage) -> list[tuple[str, tuple[str, str]]]:
    """Kind and values of each disagreement between the texts."""
    return [(c.kind, c.values) for c in Evidence.of("q", passages=list(texts)).conflicts]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("A day ticket costs £16.", "A day ticket costs £19.", [("figure", ("£16", "£19"))], id="two prices"),
        pytest.param("A day ticket costs £16.", "Visitors pay £19 for a day ticket.", [("figure", ("£16", "£19"))], id="two prices in other words"),
        pytest.param("The mayor of Kelm is Marie Curie.", "The mayor of Kelm is Niels Bohr.", [("name", ("Marie Curie", "Niels Bohr"))], id="two names for one office"),
        pytest.param("Giá vé là 40.000 đồng.", "Giá vé là 60.000 đồng.", [("figure", ("40.000 đồng", "60.000 đồng"))], id="two Vietnamese prices"),
        pytest.param("Adults pay £12 at the door.", "Children pay £8 at the door.", [], id="two groups"),
        pytest.param("A single room costs £60 a night.", "A double room costs £90 a night.", [], id="two kinds of room"),
        pytest.param("The town has 48,213 people.", "The town has about 48,000 people.", [], id="a rounded figure"),
        pytest.param("Line 2 opens in 2031.", "Line 3 opens in 2033.", [], id="two lines"),
        pytest.param("The shop opens at 9 a.m.", "The shop opens at 9 a.m.", [], id="the same twice"),
        pytest.param("", "The shop opens at 9 a.m.", [], id="nothing to disagree with"),
    ],
)  # fmt: skip
def test_two_sources(first: str, second: str, expected: list[tuple[str, tuple[str, str]]]) -> None:
    """Each disagreement once, in the order of the passages."""
    assert conflicts(first, second) == expected


def test_chunks_of_one_source_do_not_conflict() -> None:
    """A source is not held against itself."""
    chunks = [RetrievedPassage(source_id="a", text=f"A day ticket costs £{price}.") for price in (16, 19)]

    assert conflicts(*chunks) == []


def test_each_side_is_quoted_where_it_stands() -> None:
    """Spans are those of the statements, in the text of their own passage."""
    texts = ["Welcome! A day ticket costs £16. Enjoy.", "A day ticket costs £19. Children enter free."]
    (conflict,) = Evidence.of("q", passages=texts).conflicts

    assert [text[a:b] for text, (a, b) in zip(texts, conflict.spans, strict=True)] == [
        "A day ticket costs £16.",
        "A day ticket costs £19.",
    ]

"""One name in two languages: by a table, by its root, by its sound; what is made of ordinary words may be said otherwise."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.grounding.name_pairs import Abroad
from stillme.grounding.passage import Passage
from stillme.text.names import find_names
from stillme.text.sentences import split
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("claim", "language", "source", "expected"),
    [
        pytest.param("She lives in Moscow.", "en", "Bà sống ở Mát-xcơ-va.", True, id="spelt as it is heard"),
        pytest.param("She lives in Germany.", "en", "Bà sống ở Đức.", True, id="a pair of the table"),
        pytest.param("She lives in Larkfield.", "en", "Bà sống ở Larkfield.", True, id="written alike"),
        pytest.param("She lives in Larkfield.", "en", "Bà sống ở Orrin.", False, id="another name"),
        pytest.param("Bà sống ở Đức.", "vi", "She lives in Germany.", True, id="the other way round"),
        pytest.param(
            "Bà sống ở Larkfield.", "vi", "She lives in Orrin.", False, id="another name, the other way round"
        ),
    ],
)
def test_may_have(claim: str, language: str, source: str, expected: bool) -> None:
    """Whether a source in the other language may have the name of a claim."""
    text = Text(claim)
    (name,) = find_names(text, split(text), frozenset())
    passage = Passage(1, RetrievedPassage(source_id="s", text=source))

    assert Abroad([passage.content.read(frozenset())[0]]).may_have(name, text, language) is expected


def test_no_source_has_nothing() -> None:
    """Where there is no source in the other language, no name is in one."""
    text = Text("She lives in Moscow.")
    (name,) = find_names(text, split(text), frozenset())

    assert not Abroad([]).may_have(name, text, "en")

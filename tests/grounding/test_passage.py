"""A passage as evidence: its language, its title, and what may be a name in it."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.grounding.passage import Passage


def passage(text: str, title: str | None = None) -> Passage:
    """A passage of a source called s."""
    return Passage(1, RetrievedPassage(source_id="s", text=text, title=title))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("The mill was built in 1891.", "en", id="English"),
        pytest.param("Cối xay được dựng năm 1891.", "vi", id="Vietnamese"),
        pytest.param(
            "The poet Nguyễn Du wrote the poem in a small house by the river.", "en", id="a name with accents"
        ),
    ],
)
def test_language(text: str, language: str) -> None:
    """Told by the share of words with accents."""
    assert passage(text).language == language


def test_title_and_vocabulary() -> None:
    """The title counts as said by the source; without one it is called by its id."""
    titled = passage("Lind's mill stands by the Orr.", title="Mills of Kelm")

    assert (titled.title, passage("x").title) == ("Mills of Kelm", "s")
    assert {"lind", "orr", "kelm"} <= titled.content.vocabulary

"""References of a draft, and whether a source has them."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence

SOURCE = RetrievedPassage(
    source_id="s",
    url="https://a.example/paper",
    text="Lewis et al. (2020) and Phạm và cộng sự (2019), doi:10.5555/x.1, arXiv:2005.11401, ISBN 978-3-16-148410-0.",
)


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param("As Lewis et al. (2020) show.", [("Lewis et al. (2020)", True)], id="authors and year"),
        pytest.param("As Lewis et al. (2021) show.", [("Lewis et al. (2021)", False)], id="another year"),
        pytest.param("As Smith et al. (2020) show.", [("Smith et al. (2020)", False)], id="other authors"),
        pytest.param("It works (Lewis, 2020).", [("(Lewis, 2020)", True)], id="in parentheses"),
        pytest.param("Theo Phạm và cộng sự (2019).", [("Phạm và cộng sự (2019)", True)], id="Vietnamese"),
        pytest.param(
            "Theo Trần và cộng sự (2019).", [("Trần và cộng sự (2019)", False)], id="other Vietnamese authors"
        ),
        pytest.param("See 10.5555/x.1.", [("10.5555/x.1", True)], id="a DOI"),
        pytest.param("See 10.5555/y.2.", [("10.5555/y.2", False)], id="another DOI"),
        pytest.param(
            "See https://a.example/paper.", [("https://a.example/paper", True)], id="the source's own address"
        ),
        pytest.param("See https://b.example/.", [("https://b.example/", False)], id="another address"),
        pytest.param("See arXiv:2005.11401.", [("arXiv:2005.11401", True)], id="an arXiv number"),
        pytest.param("In 2020 (and 2021) it rained.", [], id="years are no references"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_find_references(draft: str, expected: list[tuple[str, bool]]) -> None:
    """Each reference with whether it is known."""
    assert [(r.text, r.known) for r in Evidence.of("q", draft, [SOURCE]).references] == expected


def test_a_reference_of_the_question_is_known() -> None:
    """The user gave it."""
    evidence = Evidence.of("What does https://c.example say?", "https://c.example says nothing.", [SOURCE])

    assert [r.known for r in evidence.references] == [True]

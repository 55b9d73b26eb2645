"""Citation markers in the forms people use, and what they point at."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.grounding.citations import find_markers
from stillme.grounding.passage import Passage
from stillme.text.tokens import Text

PASSAGES = [
    Passage(1, RetrievedPassage(source_id="doc-123", text="one", url="https://a.example/b")),
    Passage(2, RetrievedPassage(source_id="faq_refunds", text="two")),
    Passage(3, RetrievedPassage(source_id="Sổ tay", text="three")),
]


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param("x [1]", [("[1]", (0,), ())], id="a number"),
        pytest.param("x [1, 2]", [("[1, 2]", (0, 1), ())], id="a list of numbers"),
        pytest.param("x [1][3]", [("[1]", (0,), ()), ("[3]", (2,), ())], id="markers in a row"),
        pytest.param("x [1-3]", [("[1-3]", (0, 1, 2), ())], id="a range"),
        pytest.param("x [2–3]", [("[2–3]", (1, 2), ())], id="a range with a dash"),
        pytest.param("x [^2]", [("[^2]", (1,), ())], id="a footnote"),
        pytest.param("x 【1】", [("【1】", (0,), ())], id="lenticular brackets"),
        pytest.param("x 【2†source】", [("【2†source】", (1,), ())], id="with a dagger"),
        pytest.param("x [doc-123]", [("[doc-123]", (0,), ())], id="a source id"),
        pytest.param("x [sổ tay]", [("[sổ tay]", (2,), ())], id="a source id with a space"),
        pytest.param("x [Source 2]", [("[Source 2]", (1,), ())], id="a word and a number"),
        pytest.param("x (Source 2)", [("(Source 2)", (1,), ())], id="in parentheses"),
        pytest.param("x (Nguồn: faq_refunds)", [("(Nguồn: faq_refunds)", (1,), ())], id="Vietnamese word and id"),
        pytest.param("x (theo nguồn 3)", [("(theo nguồn 3)", (2,), ())], id="'theo nguồn'"),
        pytest.param(
            "see [here](https://a.example/b)",
            [("[here](https://a.example/b)", (0,), ())],
            id="a link to the source's address",
        ),
        pytest.param("x [9]", [("[9]", (), ("9",))], id="a number that points nowhere"),
        pytest.param("x [0]", [("[0]", (), ("0",))], id="zero points nowhere"),
        pytest.param("x [1, 9]", [("[1, 9]", (0,), ("9",))], id="one that exists, one that does not"),
        pytest.param("x [doc-999]", [("[doc-999]", (), ("doc-999",))], id="an id that does not exist"),
        pytest.param("[2021] was good", [], id="a year in brackets"),
        pytest.param("he [sic] said [...] so [x]", [], id="editorial brackets and tick boxes"),
        pytest.param("see [here](https://other.example)", [], id="a link elsewhere"),
        pytest.param("[citation needed]", [], id="prose in brackets"),
        pytest.param("`a[0]` and\n```\nb[1]\n```", [], id="an index inside code"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_find_markers(draft: str, expected: list[tuple[str, tuple[int, ...], tuple[str, ...]]]) -> None:
    """Each marker with the passages it names and what it names in vain."""
    markers = find_markers(Text(draft), PASSAGES, len(PASSAGES))

    assert [(draft[m.start : m.end], m.passages, m.unknown) for m in markers] == expected


def test_a_number_counts_blank_passages_too() -> None:
    """[2] is the second passage given, even if the first one is blank and unreadable."""
    only_second = [Passage(2, RetrievedPassage(source_id="b", text="two"))]

    markers = find_markers(Text("x [2] y [1]"), only_second, 2)

    assert [(m.passages, m.unknown) for m in markers] == [((0,), ()), ((), ())]


def test_chunks_of_one_source_are_cited_together() -> None:
    """A duplicate id names all chunks of that source."""
    chunks = [Passage(n, RetrievedPassage(source_id="same", text="t")) for n in (1, 2)]

    assert find_markers(Text("x [same]"), chunks, 2)[0].passages == (0, 1)

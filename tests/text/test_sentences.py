"""Sentences are cut where a reader would cut them, at exact offsets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.text.sentences import split
from stillme.text.tokens import Text


def sentences(raw: str, markers: list[tuple[int, int]] | None = None) -> list[str]:
    """The sentences of a text as strings."""
    return [raw[s.start : s.end] for s in split(Text(raw), markers or [])]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"], id="the usual stops"),
        pytest.param("Dr. Lee met J. R. Ray in St. Ives.", ["Dr. Lee met J. R. Ray in St. Ives."], id="titles and initials"),
        pytest.param("It opens at 5 p.m. on Monday. Then it closes.", ["It opens at 5 p.m. on Monday.", "Then it closes."], id="p.m. inside a sentence"),
        pytest.param("It closes at 5 p.m. The shop is shut.", ["It closes at 5 p.m.", "The shop is shut."], id="p.m. at the end of one"),
        pytest.param("It closes at 5 p.m. An adult ticket costs $18.", ["It closes at 5 p.m.", "An adult ticket costs $18."], id="p.m. before any other opening"),
        pytest.param("It opens at 9 a.m. Monday to Friday.", ["It opens at 9 a.m. Monday to Friday."], id="a.m. before a weekday"),
        pytest.param("## Sources\n[1] The manual", ["Sources", "[1] The manual"], id="a heading ends with its line"),
        pytest.param("It costs 3.14 euros. Up 2.5%.", ["It costs 3.14 euros.", "Up 2.5%."], id="decimals"),
        pytest.param("Lewis et al. (2020) agree. So do we.", ["Lewis et al. (2020) agree.", "So do we."], id="et al. before a year"),
        pytest.param("TP. Hồ Chí Minh đông dân. TS. Lan nói v.v. Ông về.", ["TP. Hồ Chí Minh đông dân.", "TS. Lan nói v.v.", "Ông về."], id="Vietnamese abbreviations"),
        pytest.param('"Stop!" he cried. She left.', ['"Stop!" he cried.', "She left."], id="a quoted cry goes on"),
        pytest.param('He said "I am here." Then he left.', ['He said "I am here."', "Then he left."], id="a stop inside closing quotes"),
        pytest.param("It runs on Linux; Windows is not supported.", ["It runs on Linux;", "Windows is not supported."], id="a semicolon parts two statements"),
        pytest.param("Done... And so on.", ["Done...", "And so on."], id="an ellipsis"),
        pytest.param("# Title\n\nText here.", ["Title", "Text here."], id="a heading is its own line"),
        pytest.param("1. Beat eggs.\n2. Add milk.", ["Beat eggs.", "Add milk."], id="list numbers are layout"),
        pytest.param("- one\n- two", ["one", "two"], id="list items"),
        pytest.param("| a | b |\n|---|---|\n| x | 3 |", ["a | b", "x | 3"], id="table rows"),
        pytest.param("A line that\nwraps here. Next.", ["A line that\nwraps here.", "Next."], id="a wrapped line is one sentence"),
        pytest.param("See https://a.example/x. Then go.", ["See https://a.example/x.", "Then go."], id="an address before the stop"),
    ],
)  # fmt: skip
def test_split(raw: str, expected: list[str]) -> None:
    """Each sentence is a slice of the text."""
    assert sentences(raw) == expected


def test_a_marker_behind_the_stop_belongs_to_the_sentence_before() -> None:
    """'Text. [1] More.' cites for the first sentence."""
    raw = "It is red. [1] It is blue.[2] End."

    assert sentences(raw, [(11, 14), (26, 29)]) == ["It is red. [1]", "It is blue.[2]", "End."]


@given(st.text(alphabet=st.sampled_from('abA. !?;\n"”)[1]-#|0đ'), max_size=120))
def test_sentences_are_in_order_and_do_not_overlap(raw: str) -> None:
    """Whatever the text, sentences follow each other and none is empty."""
    found = split(Text(raw))

    assert all(s.start < s.end for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))

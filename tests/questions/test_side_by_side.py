"""Figures side by side, of which a draft states one."""

from __future__ import annotations

import sys

import pytest

from stillme.evidence import Evidence
from stillme.grounding.statements import Reading
from stillme.questions.side_by_side import picked_cells
from stillme.text.tokens import Sentence, Text

FARES = "A single fare costs £4, a return fare £7 and a weekly fare £19."


@pytest.mark.parametrize(
    ("query", "draft", "labels"),
    [
        pytest.param("How much is a fare?", "It is £7.", ["cost singl", "return", "week"], id="none is named"),
        pytest.param("How much is a weekly fare?", "It is £19.", [], id="one is named"),
        pytest.param("How much is a fare?", "It is £4, £7 or £19.", [], id="all are stated"),
        pytest.param("How much is a fare?", "It is £5.", [], id="a figure of no source"),
    ],
)
def test_what_tells_figures_apart(query: str, draft: str, labels: list[str]) -> None:
    """The words that each of them has alone."""
    text = Text(draft)
    said = Reading(text, [Sentence(0, len(text), 0, len(text.raw))], "en", frozenset()).statements[0]

    found = picked_cells(Text(query), [], said, Evidence.of(query, passages=[FARES]).library)

    assert [" ".join(sorted(label.words)) for _, label in found] == labels


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("Flight {n} leaves gate {gate} at {hour}:30 and carries {n} people.", id="English"),
        pytest.param("Tàu {n} ở bến {gate} chạy lúc {hour}:30 và chở {n} người.", id="Vietnamese"),
    ],
)
def test_many_figures_are_looked_through_once(line: str) -> None:
    """Of four times as many statements that are worded alike, all copied into the draft, few more are laid against each other."""
    few, many = (_calls(line, count) for count in (40, 160))

    assert many < 8 * few


def _calls(line: str, count: int) -> int:
    """How many functions are called to look for what a draft of so many lines picks, once everything is read."""
    lines = [line.format(n=100 + k, gate=k % 40, hour=k % 12) for k in range(count)]
    evidence = Evidence.of("When does it leave?", " ".join(lines), [" ".join(lines[k::4]) for k in range(4)])
    text = evidence.draft
    said = Reading(text, [Sentence(0, len(text), 0, len(text.raw))], evidence.draft_language, frozenset()).statements[0]
    _ = (
        said.quantities,
        [s.quantities for _, s in evidence.library.places],
        evidence.library.index,
        evidence.library.meanings,
    )
    calls = 0

    def count_call(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_call)
    try:
        picked_cells(evidence.query, [], said, evidence.library)
    finally:
        sys.setprofile(None)
    return calls

"""Figures of a claim as the sources write them, for the model: "21 days" is read as "three weeks" where a source says so.

A small model sees badly that a figure in another unit or form is the same, and does not reckon: figures are compared by value here,
exactly. A case is read as the range that it lies in, so many times a price as the price of one. What stands around it stays as the
claim has it, so the model still judges whether the figure belongs there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose
from typing import Final, NamedTuple

from stillme.figures.comparing import agrees
from stillme.figures.quantity import Quantity
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Reading, Statement
from stillme.grounding.working import Case, Working, work_out
from stillme.languages import language_of

__all__ = ["Restated", "restated"]

EQUAL: Final = 1e-9
# Of so many statements of a passage a figure may follow.
MOST_NEAR: Final = 3
# What is said in figures and words that are not told apart by how they are written.
AS_WRITTEN: Final = frozenset({"label", "ordinal", "score", "count"})
PERCENT: Final = "percent"
# Sums of money are read no better in another form: the model knows their digits in both.
MONEY: Final = "money"
# Steps of which the first figure stands for the one that was worked out, and those of which the second does.
AS_FIRST: Final = frozenset({"rate"})
AS_SECOND: Final = frozenset({"share", "clock"})


class Restated(NamedTuple):
    """The token behind a figure of the claim, and how a source writes it."""

    last: int
    text: str


def restated(claim: Statement, library: Library, asked: Sequence[Quantity] = ()) -> dict[int, Restated]:
    """The figures of the claim that the sources write otherwise, or from which they follow, by their first token."""
    mine = [figure for figure in claim.quantities if _is_read_better(figure)]
    theirs = list(_figures(claim, library)) if mine else []
    found: dict[int, Restated] = {}
    for figure in mine:
        equal = [text for of_source, text in theirs if _is_equal(figure, of_source)]
        written = claim.reading.text.slice(figure.first, figure.last).lower()
        if equal and written not in map(str.lower, equal):
            found[figure.first] = Restated(figure.last, equal[0])
    if any(not any(agrees(q, t) for t, _ in theirs) for q in claim.quantities):
        found |= _worked_out(claim, library, asked)
    return found


def _is_read_better(figure: Quantity) -> bool:
    """Whether the form in which a source has a figure helps."""
    return figure.dimension not in AS_WRITTEN and not figure.dimension.startswith(MONEY) and not figure.article


def _figures(claim: Statement, library: Library) -> Iterator[tuple[Quantity, str]]:
    """The figures of the sources with their text; those of the statement that shares most with the claim first."""
    statements = [statement for reading in library.readings for statement in reading.statements]
    for statement in sorted(statements, key=lambda each: -len(claim.stems & each.stems)):
        for figure in statement.quantities:
            text = statement.reading.text.slice(figure.first, figure.last)
            if _is_legible(figure, text, claim.reading.language == statement.reading.language):
                yield figure, text


def _is_legible(figure: Quantity, text: str, is_own: bool) -> bool:
    """Whether what a source writes can stand in the claim: a half in words of another language cannot."""
    return is_own or figure.dimension != PERCENT or any(map(str.isdigit, text))


def _is_equal(figure: Quantity, other: Quantity) -> bool:
    """Whether a source says the same value, or the value that the claim has rounded."""
    if figure.dimension != other.dimension or figure.hedge not in ("", "about", other.hedge):
        return False
    if figure.dates or not figure.values:
        return figure.dates == other.dates and figure.values == other.values
    return agrees(figure, other) or isclose(figure.values[0], other.values[0], rel_tol=EQUAL)


# what follows from the sources


def _worked_out(claim: Statement, library: Library, asked: Sequence[Quantity]) -> dict[int, Restated]:
    """What a claim works out from the first passage from which something follows, as that passage says it."""
    for reading in library.readings:
        near = sorted(reading.statements, key=lambda each: -len(claim.stems & each.stems))[:MOST_NEAR]
        working = work_out(claim, reading, near, asked)
        if working.cases or working.steps:
            return dict(_from(working, claim, reading)) | dict(_left_out(working))
    return {}


def _from(working: Working, claim: Statement, source: Reading) -> Iterator[tuple[int, Restated]]:
    """A case as its range, a multiple as the price of one, a share as the percentage."""
    figures = {figure.first: figure for figure in claim.quantities}
    for first, case in working.cases.items():
        if case.is_inside:
            yield first, Restated(figures[first].last, _range(case))
    concluded = {i for edges in working.conclusions for i in range(*edges)}
    for first, step in ((first, step) for first, step in working.steps.items() if first not in concluded):
        operand = step.one if step.kind in AS_FIRST else step.other if step.kind in AS_SECOND else None
        said = _said(operand, source) if operand else ""
        if operand and said:
            yield first, Restated(figures[first].last, said)
            if (
                step.kind in AS_FIRST
                and step.other.first in working.operands
                and figures.get(step.other.first) == step.other
            ):
                yield step.other.first, _single(step.other, claim)


def _left_out(working: Working) -> Iterator[tuple[int, Restated]]:
    """What only draws a sum from what was just said."""
    return ((first, Restated(last, "")) for first, last in working.conclusions)


def _range(case: Case) -> str:
    """A range as its source writes it, in the middle of a sentence."""
    text, bracket = case.statement.reading.text, case.bracket
    said = text.slice(bracket.first, bracket.last)
    return said if bracket.first > case.statement.first else f"{said[:1].lower()}{said[1:]}"


def _said(operand: Quantity, source: Reading) -> str:
    """How a source writes a figure; nothing where it is no figure of it."""
    if any(operand.first == t.first and agrees(operand, t) for t in source.quantities):
        return source.text.slice(operand.first, operand.last)
    return ""


def _single(figure: Quantity, claim: Statement) -> Restated:
    """One of what a figure counts."""
    words = claim.reading.text.words
    behind = next(
        (i + 1 for i in range(figure.first, figure.last) if words[i].number or _is_numeral(claim, i)), figure.first + 1
    )
    one = str(language_of(claim.reading.language).rules("numbers").get("single", "1"))
    return Restated(behind, one)


def _is_numeral(claim: Statement, i: int) -> bool:
    return not claim.reading.text.words[i].content

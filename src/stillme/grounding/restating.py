"""Measures of a claim as the sources write them, for the model: "21 days" is read as "three weeks" where a source says so.

A small model sees badly that a measure in another unit is the same; figures are compared by value here, exactly. What stands around it
stays as the claim has it, so the model still judges whether the measure belongs there.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Final, NamedTuple

from stillme.figures.quantity import Quantity
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement

__all__ = ["Restated", "restated"]

EQUAL: Final = 1e-9


class Restated(NamedTuple):
    """The token behind a measure of the claim, and how a source writes it."""

    last: int
    text: str


def restated(claim: Statement, library: Library) -> dict[int, Restated]:
    """The measures of the claim that the sources have in another unit alone, by their first token."""
    mine = [figure for figure in claim.quantities if _is_measure(figure) and not figure.article]
    theirs = list(_measures(claim, library)) if mine else []
    found: dict[int, Restated] = {}
    for figure in mine:
        equal = [(of_source, text) for of_source, text in theirs if _is_equal(figure, of_source)]
        if equal and all(of_source.unit != figure.unit for of_source, _ in equal):
            found[figure.first] = Restated(figure.last, equal[0][1])
    return found


def _measures(claim: Statement, library: Library) -> Iterator[tuple[Quantity, str]]:
    """The measures of the sources with their text; those of the statement that shares most with the claim first."""
    statements = [statement for reading in library.readings for statement in reading.statements]
    for statement in sorted(statements, key=lambda each: -len(claim.stems & each.stems)):
        for figure in statement.quantities:
            if _is_measure(figure):
                yield figure, statement.reading.text.slice(figure.first, figure.last)


def _is_measure(figure: Quantity) -> bool:
    return figure.unit is not None and bool(figure.values)


def _is_equal(figure: Quantity, other: Quantity) -> bool:
    if figure.dimension != other.dimension or figure.hedge not in ("", other.hedge):
        return False
    return isclose(figure.values[0], other.values[0], rel_tol=EQUAL)

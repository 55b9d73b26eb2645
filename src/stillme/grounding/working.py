"""How figures of a claim that a source does not write follow from it: as a case of a stated range, or by one step of arithmetic.

"For a delay of 45 minutes you get £20 back" stands in no source, and follows from "30 to 59 minutes late: 50 percent of the fare" where
the question says £40. What is a case is said by the question, or by the rest of the claim, which has to say what holds in that range:
a claim that applies the rule of another range is as wrong as one with another figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from stillme.figures.brackets import Bracket
from stillme.figures.comparing import agrees, rivals
from stillme.figures.derived import Step, steps_to
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.grounding.statements import CLAUSE_MARKS, Reading, Statement, cues
from stillme.languages import remembered, word_set
from stillme.text.language import identify
from stillme.text.tokens import Text

__all__ = ["NOTHING", "Case", "Working", "asked_figures", "work_out"]

# Of so many figures of a passage another may follow.
MOST_NEAR: Final = 16
# What follows from a time of day may stand anywhere in a passage.
TIMED: Final = frozenset({"clock", "time"})
# So many words a clause may have that only draws a sum.
MOST_CONCLUDING: Final = 3
# How near a percentage the word stands that says it is taken off.
NEAR: Final = 4


class Case(NamedTuple):
    """A figure of a claim beside the range of a source that it has to do with, and whether it lies in that."""

    statement: Statement
    bracket: Bracket
    is_inside: bool


class Working(NamedTuple):
    """By the first token of each figure that the source does not write: its range, or what it was worked out from."""

    cases: dict[int, Case]
    steps: dict[int, Step]
    operands: frozenset[int]
    """Where the figures stand that another one of the claim was worked out from."""
    of_case: frozenset[int] = frozenset()
    """Where the figures stand that were worked out for the case, not from figures of the source alone."""
    conclusions: tuple[tuple[int, int], ...] = ()
    """The tokens of clauses that only draw a sum from what was just said: nobody but arithmetic need judge them."""

    @property
    def statements(self) -> list[Statement]:
        """The statements whose ranges hold a figure of the claim."""
        return list(dict.fromkeys(case.statement for case in self.cases.values() if case.is_inside))

    @property
    def excluded(self) -> list[Statement]:
        """The statements whose ranges are not those that the figures of the claim lie in."""
        held = [(case.bracket, case.statement) for case in self.cases.values() if case.is_inside]
        return [
            other
            for bracket, holding in held
            for other in holding.reading.statements
            if other is not holding and any(each.dimension == bracket.dimension for each in other.brackets)
        ]

    def explains(self, first: int) -> bool:
        """Whether the figure at a token follows for the case, or only says what case it is."""
        return first in self.of_case or first in self.operands or (first in self.cases and self.cases[first].is_inside)


NOTHING: Final = Working({}, {}, frozenset())


@remembered(1 << 6)
def _asked(raw: str) -> tuple[Quantity, ...]:
    text = Text(raw)
    return tuple(find_quantities(text, identify(text)))


def asked_figures(query: Text) -> tuple[Quantity, ...]:
    """The figures of a question: the case that it asks about."""
    return _asked(query.raw)


def work_out(claim: Statement, source: Reading, near: Sequence[Statement], asked: Sequence[Quantity]) -> Working:
    """How the figures of a claim follow from a source, of which the statements that share most with it come first in `near`."""
    stated = [t for statement in near for t in statement.quantities]
    unstated = [q for q in claim.quantities if not any(agrees(q, t) for t in stated)]
    unstated = [q for q in unstated if q.values and not q.hedge and not any(agrees(q, t) for t in source.quantities)]
    if not unstated:
        return NOTHING
    found = {q.first: case for q in unstated if (case := _case(claim, q, source, asked))}
    held = [case.statement for case in found.values() if case.is_inside]
    figures = [t for statement in dict.fromkeys((*held, *near)) for t in statement.quantities][:MOST_NEAR]
    clocks = [t for t in source.quantities if t.dimension in TIMED]
    reduced = frozenset() if claim.has("reducing") else _reduced((*held, *near))
    steps: dict[int, Step] = {}
    for q in (each for each in unstated if each.first not in found):
        stated = list(dict.fromkeys((*figures, *clocks[:MOST_NEAR]))) if q.dimension in TIMED else figures
        given = [t for t in unstated if t is not q]
        found_steps = steps_to(q, stated, [*given, *asked], reduced)
        sound = [each for each in found_steps if each.kind != "rate" or _is_rate(each, stated, claim, (*held, *near))]
        if sound:
            steps[q.first] = max(sound, key=lambda step: step.one in given or step.other in given)
    operands = {q.first for q in unstated for step in steps.values() if q in (step.one, step.other)}
    of_case = {first for first, step in steps.items() if _is_of_case(step, claim, source)}
    return Working(
        found, steps, frozenset(operands) - steps.keys(), frozenset(of_case), tuple(_conclusions(claim, steps))
    )


def _conclusions(claim: Statement, steps: Collection[int]) -> Iterator[tuple[int, int]]:
    """Clauses that a word such as "so" opens, with next to nothing in them but figures that follow."""
    lowers = claim.reading.text.lowers
    marks = [i for i in range(claim.first, claim.last) if lowers[i] in CLAUSE_MARKS and i not in claim.figured]
    for mark, end in pairwise([*marks, claim.last]):
        figures = [q.first for q in claim.quantities if mark < q.first < end]
        others = [i for i in claim.content if mark < i < end and i not in claim.figured]
        is_sum = bool(figures) and all(first in steps for first in figures) and len(others) <= MOST_CONCLUDING
        if is_sum and cues().starts("concluding", lowers[mark + 1 : mark + 3]):
            yield mark, end


def _is_of_case(step: Step, claim: Statement, source: Reading) -> bool:
    """Whether a step takes a figure of the case, or a percentage off for whom the claim names."""
    if step.one not in source.quantities or step.other not in source.quantities:
        return True
    holding = next((each for each in source.statements if step.other in each.quantities), None)
    if step.kind not in ("rest", "share") or holding is None:
        return False
    own, there = holding.clauses[holding.segment(step.other.first)], step.one in holding.quantities
    price = holding.clauses[holding.segment(step.one.first)] if there else frozenset[str]()
    return bool((own - price) & claim.stems)


def _is_rate(step: Step, stated: Sequence[Quantity], claim: Statement, near: Sequence[Statement]) -> bool:
    """Whether a product is one of a price and the case, or of two figures that one statement says together: two months' rent.

    Where a statement has several prices, the claim has to say more of what this one is for.
    """
    both = (step.one, step.other)
    if all(q in stated for q in both) and not any(all(q in each.quantities for q in both) for each in near):
        return False
    holding = next((each for each in near if step.one in each.quantities), None)
    return holding is None or not _is_outdone(holding, step.one, claim)


def _is_outdone(statement: Statement, price: Quantity, claim: Statement) -> bool:
    """Whether another price of a statement is as much about what the claim speaks of."""
    clauses = statement.clauses
    others = {
        statement.segment(q.first) for q in statement.quantities if rivals(price, q) and not (q.hedge and q.limit)
    }
    here = statement.segment(price.first)
    own = len(clauses[here] & claim.stems)
    return any(len(clauses[other] & claim.stems) >= own for other in others - {here})


def _reduced(statements: Iterable[Statement]) -> frozenset[Quantity]:
    """The percentages that are taken off what they are said of."""
    lowers = cues().words("reducing")
    return frozenset(
        q
        for statement in statements
        if statement.has("reducing")
        for q in statement.quantities
        if not lowers.isdisjoint(statement.reading.text.lowers[max(statement.first, q.first - NEAR) : q.last + NEAR])
    )


# cases


def _case(claim: Statement, figure: Quantity, source: Reading, asked: Sequence[Quantity]) -> Case | None:
    """The range whose rule a claim applies to a figure, and whether the figure lies in it; None where nothing tells."""
    fits = [
        (_fit(claim, figure, statement, clause), Case(statement, bracket, bracket.holds(figure)))
        for statement in source.statements
        for bracket, clause in _rules(statement)
        if bracket.place(figure) is not None
    ]
    is_asked = any(agrees(figure, q) or agrees(q, figure) for q in asked)
    told = [(fit, case) for fit, case in fits if fit[0] + fit[2] and (is_asked or fit[0])]
    inside = max((fit for fit, case in told if case.is_inside), default=(0, 0, 0))
    outside = max((fit for fit, case in told if not case.is_inside), default=(0, 0, 0))
    if inside == outside or (not any(inside) and not any(case.is_inside for _, case in fits)):
        return None
    return next(case for fit, case in told if fit == max(inside, outside) and case.is_inside is (inside > outside))


def _fit(claim: Statement, figure: Quantity, statement: Statement, clause: range) -> tuple[int, int, int]:
    """How much of a claim stands in the clause of a range besides the figure, what counts most first: figures, a denial, words."""
    theirs = [t for t in statement.quantities if t.first in clause]
    others = [q for q in claim.quantities if q is not figure and not q.dates]
    words, reading = claim.reading.text.words, statement.reading
    stems = {reading.text.words[i].stem for i in statement.content if i in clause and i not in statement.figured}
    meant = {concept for i in clause for concept in reading.concepts[i]}
    said = [i for i in claim.content if i not in claim.figured]
    shared = sum(words[i].stem in stems or not meant.isdisjoint(claim.reading.concepts[i]) for i in said)
    denied = any(cue in clause for cue, _, _ in statement.negations)
    return sum(any(agrees(q, t) for t in theirs) for q in others), int(denied == bool(claim.negations)), shared


def _rules(statement: Statement) -> Iterator[tuple[Bracket, range]]:
    """The ranges of a statement, each with the tokens of the clause that says what holds in it."""
    brackets = statement.brackets
    parts = [_opening(statement, one, two) for one, two in pairwise(brackets)]
    edges = pairwise([statement.first, *parts, statement.last])
    yield from ((bracket, range(*edge)) for bracket, edge in zip(brackets, edges, strict=False))


def _opening(statement: Statement, before: Bracket, bracket: Bracket) -> int:
    """Where the clause of a range begins: behind the last joint before it."""
    lowers, joints = statement.reading.text.lowers, word_set("grammar", "segment_words") | CLAUSE_MARKS
    return next((i for i in range(bracket.first - 1, before.last - 1, -1) if lowers[i] in joints), bracket.first)

"""What one check says of a claim laid against a source."""

from __future__ import annotations

from collections.abc import Callable

from stillme.contract import RetrievedPassage
from stillme.grounding.alignment import align
from stillme.grounding.objections.base import Alignment, Objection
from stillme.grounding.objections.polarity import counterparts
from stillme.grounding.passage import Passage
from stillme.grounding.statements import Reading, Statement

Check = Callable[[Alignment], list[Objection]]
PairCheck = Callable[[Alignment, Statement, dict[int, int]], list[Objection]]


def laid(claim: str, source: str, title: str = "", about: str = "") -> Alignment:
    """A claim of one sentence against all statements of a source, before any objection; `about` names what it speaks of."""
    passages = [
        Passage(n, RetrievedPassage(source_id=f"s{n}", text=text, title=title))
        for n, text in enumerate((claim, source, about), 1)
        if text
    ]
    known = frozenset[str]().union(*(passage.content.vocabulary for passage in passages))
    readings = [passage.content.read(known)[0] for passage in passages]
    (mine,), heading = readings[0].statements, passages[1].content.read(known)[1]
    subjects = [name for reading in readings[2:] for statement in reading.statements for name in statement.names]
    alignment = align(mine, readings[1], _best_first(mine, readings[1]), heading, subjects)
    alignment.objections.clear()
    return alignment


def _best_first(claim: Statement, source: Reading) -> list[Statement]:
    return sorted(source.statements, key=lambda s: -len(claim.stems & s.stems))


def raised(check: Check, alignment: Alignment) -> list[tuple[str, str]]:
    """The kinds that a check raises, each with the words of the claim."""
    return _objections_of(alignment, check(alignment))


def raised_of_pair(check: PairCheck, alignment: Alignment) -> list[tuple[str, str]]:
    """The same for a check of the claim's words and their counterparts in the best statement."""
    return _objections_of(alignment, check(alignment, alignment.best, counterparts(alignment.claim, alignment.best)))


def _objections_of(alignment: Alignment, objections: list[Objection]) -> list[tuple[str, str]]:
    return [(o.kind, alignment.claim.reading.text.slice(o.first, o.last)) for o in objections]

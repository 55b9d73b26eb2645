"""A claim laid against one statement of a source: which words it finds there, and what speaks against it.

Objections are what makes two statements incompatible although they share their words: another figure, another name in the same
place, a negation, an opposite, swapped roles, a wider quantifier, more certainty than the source has. Each is raised by a check
of its own; the checks stand here in their order, because some ask only where none before them has objected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stillme.figures.quantity import Quantity
from stillme.grounding.objections.base import Alignment, Objection, are_close
from stillme.grounding.objections.bindings import figure_owners, name_bindings, roles, swapped_figures
from stillme.grounding.objections.figures import other_figures
from stillme.grounding.objections.names import other_names, other_subject
from stillme.grounding.objections.opposites import opposite_phrases, opposite_words
from stillme.grounding.objections.polarity import POLARITY, counterparts, may_deny
from stillme.grounding.objections.strength import STRENGTH
from stillme.grounding.statements import Reading, Statement
from stillme.grounding.word_order import DECIDING, is_in_order
from stillme.grounding.working import work_out
from stillme.text.names import Name

__all__ = ["Alignment", "Objection", "align"]

ALWAYS: Final = (other_figures, other_names, other_subject)
# Objections to which word stands with which.
OF_ORDER: Final = frozenset({"roles", "binding", "owner"})
WHERE_CLOSE: Final = (opposite_words, opposite_phrases, swapped_figures, roles, name_bindings, figure_owners, *STRENGTH)


def align(
    claim: Statement,
    source: Reading,
    statements: list[Statement],
    heading: Reading,
    subjects: Sequence[Name],
    asked: Sequence[Quantity] = (),
) -> Alignment:
    """Lay the claim against the given statements of one passage.

    `subjects` are names it speaks of without repeating them, `asked` the figures of the question.
    """
    working = work_out(claim, source, statements, asked)
    statements = list(dict.fromkeys((*working.statements, *statements)))
    alignment = Alignment(claim, source, statements, heading=heading, subjects=subjects, working=working)
    if _is_verbatim(claim, alignment.best):
        alignment.covered.update(claim.content)
        alignment.verbatim = alignment.in_order = True
        return alignment
    _cover_words(alignment)
    alignment.context.update(i for concluded in working.conclusions for i in range(*concluded))
    for check in ALWAYS:
        alignment.objections += check(alignment)
    _check_polarity(alignment)
    for check in WHERE_CLOSE if are_close(claim, alignment.best) else ():
        alignment.objections += check(alignment)
    _settle_order(alignment)
    return alignment


def _settle_order(alignment: Alignment) -> None:
    """Where the statement has the words of the claim in its order, and close together, nothing in it is bound otherwise."""
    against = {objection.kind for objection in alignment.objections} - OF_ORDER
    if not against and is_in_order(alignment.claim, alignment.best):
        alignment.in_order = True
        alignment.objections.clear()


def _check_polarity(alignment: Alignment) -> None:
    """Negations, against each statement that carries a word of the claim which none before it carries."""
    if not any(may_deny(alignment.claim, source) for source in alignment.statements):
        return
    seen: set[int] = set()
    excluded = alignment.working.excluded
    for source in (each for each in alignment.statements if each not in excluded):
        pairs = counterparts(alignment.claim, source)
        if pairs.keys() <= seen:
            continue
        seen |= pairs.keys()
        for check in POLARITY if are_close(alignment.claim, source) else ():
            alignment.objections += check(alignment, source, pairs)


def _is_verbatim(claim: Statement, source: Statement) -> bool:
    """Whether the claim is a copy of the statement or a part of it, and nothing in the rest turns or weakens it."""
    if claim.line not in source.line:
        return False
    return len(claim.line) == len(source.line) or claim.cues & DECIDING == source.cues & DECIDING


def _cover_words(alignment: Alignment) -> None:
    """Note the content words of the claim that stand in the statements, as such or in other words, or in the heading."""
    content, words = alignment.claim.content, alignment.claim.reading.text.words
    stems = frozenset[str]().union(*(s.stems for s in alignment.statements))
    titled = frozenset(w.stem for w in alignment.heading.text.words if w.content)
    alignment.covered.update(
        i for i in content if words[i].stem in stems or (words[i].number and words[i].text in stems)
    )
    alignment.context.update(i for i in content if i not in alignment.covered and words[i].stem in titled)
    missing = alignment.missing
    if missing:
        _cover_by_meaning(alignment, missing)


def _cover_by_meaning(alignment: Alignment, missing: Sequence[int]) -> None:
    """Words that are not there as such may be there in other words, or without their accents."""
    claim = alignment.claim.reading
    concepts = frozenset[int]().union(*(s.concepts for s in alignment.statements))
    accented = claim.text.accented and alignment.source.text.accented
    folded = frozenset[str]().union(*(() if accented else s.folded for s in alignment.statements))
    for i in missing:
        if not concepts.isdisjoint(claim.concepts[i]) or claim.text.words[i].folded in folded:
            alignment.covered.add(i)

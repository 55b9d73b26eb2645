"""Words of a claim whose opposite the source has in their place."""

from __future__ import annotations

from typing import Final

from stillme.grounding.objections.base import Alignment, Objection
from stillme.grounding.objections.polarity import phrases_of
from stillme.grounding.statements import Statement
from stillme.text.concepts import opposite_stems

__all__ = ["opposite_phrases", "opposite_words"]

# A statement of so many tokens is short enough to be read clause by clause for each of its words.
MOST_BRIEF: Final = 160


def opposite_words(alignment: Alignment) -> list[Objection]:
    """A word of the claim whose opposite stands in the source in its place: with what the claim says beside it."""
    claim = alignment.claim
    if claim.negations or alignment.best.negations:
        return []
    spots = ((i, against) for i, against in claim.opposed if i not in claim.bounds)
    replaced = [i for i, against in spots if _is_replaced(alignment, i, against)]
    alignment.covered.difference_update(replaced)
    return [Objection("opposite", i, i + 1) for i in replaced]


def opposite_phrases(alignment: Alignment) -> list[Objection]:
    """Opposites of two words: 'at most' against 'at least'."""
    claim, best, opposites = alignment.claim, alignment.best, opposite_stems()
    if not claim.opposed_pairs:
        return []
    theirs = {phrase: best.first + k for k, phrase in enumerate(phrases_of(best.lowers))}
    spots = {at: phrase for at, phrase in claim.opposed_pairs.items() if phrase not in theirs}
    free = [at for at in spots if at not in claim.bounds and not _is_negated(claim, at)]
    against = {at: opposites[spots[at]] & theirs.keys() - set(phrases_of(claim.lowers)) for at in free}
    replaced = [at for at in free if not all(_is_negated(best, theirs[phrase]) for phrase in against[at])]
    return [Objection("opposite", at, at + 2) for at in replaced]


def _is_negated(statement: Statement, at: int) -> bool:
    """Whether a negation that is no part of a phrase of two words stands in its clause."""
    cues = statement.negations_by_clause.get(statement.segment(at), ())
    return not {at, at + 1}.issuperset(cues)


def _is_replaced(alignment: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether an opposite stands in the source in the place of a word of the claim, and not beside it."""
    best, claim = alignment.best, alignment.claim
    if best.every_stem.isdisjoint(against):
        return False
    brief = _is_brief(claim) and _is_brief(best)
    if claim.reading.text.words[i].stem in best.every_stem:
        return brief and _is_replaced_in_clause(alignment, i, against)
    unmatched = not best.every_stem.isdisjoint(against - claim.every_stem)
    return unmatched and not (brief and _is_meant_elsewhere(alignment, i, against))


def _is_brief(statement: Statement) -> bool:
    """Whether a statement is short enough to be read clause by clause for each of its words."""
    return statement.last - statement.first <= MOST_BRIEF


def _is_replaced_in_clause(alignment: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether the one clause of the source that says what the claim says behind the word has the opposite in its place."""
    best, claim = alignment.best, alignment.claim
    stem = claim.reading.text.words[i].stem
    beside = _said_behind(claim, i) or claim.said_by_clause[claim.segment(i)] - {stem}
    if len(beside) < 2 and not any(s[0].isdigit() for s in beside):
        return False
    shared = [(len(beside & stems), stems) for stems in best.said_by_clause.values()]
    most = max(count for count, _ in shared)
    here, *more = (stems for count, stems in shared if count == most)
    if more or most < len(beside) / 2 or stem in here:
        return False
    return not (here & against).issubset(claim.every_stem)


def _said_behind(claim: Statement, i: int) -> frozenset[str]:
    """The stems of the content words behind a word, to the end of its clause: what is before it may be said of several."""
    words, here = claim.reading.text.words, claim.segment(i)
    return frozenset(words[j].stem for j in claim.content if j > i and claim.segment(j) == here)


def _is_meant_elsewhere(alignment: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether the source says the word in another word, so that its opposite there is about something else."""
    meant, best = set(alignment.claim.reading.concepts[i]), alignment.best
    words, theirs = best.reading.text.words, best.reading.concepts
    others = (j for j in range(best.first, best.last) if words[j].stem not in against)
    return any(not meant.isdisjoint(theirs[j]) for j in others)

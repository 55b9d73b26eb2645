"""Names of a claim that the source has not, or has another name in the place of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from stillme.grounding.objections.base import Alignment, Objection, carries, is_alike, neighbours, rival_names
from stillme.grounding.statements import Statement
from stillme.text.names import Name

__all__ = ["other_names", "other_subject"]

# How far from a name the words stand that say which place it has.
NEAR: Final = 3
# So many words alike, of so many beside two names, put the one in the place of the other.
BESIDE: Final = 6
SAME_WORDS_BESIDE: Final = 3
# A claim of so few content words leaves out what it is about.
ELLIPTIC: Final = 3


def other_names(alignment: Alignment) -> list[Objection]:
    """Every name of the claim needs to stand in the statements, or be spoken of there without another name in its place."""
    others = _rivals(alignment) if alignment.claim.names else []
    raised = (_name_objection(alignment, name, others) for name in alignment.claim.names)
    return [objection for objection in raised if objection]


def other_subject(alignment: Alignment) -> list[Objection]:
    """A short claim without a name is about what was named before it; a source that names something else is not."""
    claim, best = alignment.claim, alignment.best
    is_short = claim.refers_back or len(claim.content) <= ELLIPTIC
    if claim.names or not is_short or not alignment.subjects or best.refers_back:
        return []
    if any(best.holds_name(name) for name in alignment.subjects):
        return []
    return [Objection("name", claim.first, claim.last, alignment.text_of(rival)) for rival in _rivals(alignment)[:1]]


def _rivals(alignment: Alignment) -> list[Name]:
    """Names of the best statement that neither the claim has nor what it speaks of."""
    return rival_names(alignment.best, alignment.claim.folded.union(*(name.parts for name in alignment.subjects)))


def _name_objection(alignment: Alignment, name: Name, others: Sequence[Name]) -> Objection | None:
    """What speaks against one name; its tokens are then no longer covered."""
    tokens = range(name.first, name.last)
    known = alignment.source.holds_name(name) or alignment.heading.holds_name(name)
    if _is_named(alignment, name, known):
        alignment.covered.update(tokens)
        return None
    alignment.covered.difference_update(tokens)
    rival = _rival(alignment, name, others)
    if rival and not (known and alignment.best.refers_back):
        return Objection(_kind(alignment, name, rival, known), name.first, name.last, alignment.text_of(rival))
    if known:
        alignment.context.update(tokens)
        return None
    return Objection("name missing", name.first, name.last)


def _rival(alignment: Alignment, name: Name, others: Sequence[Name]) -> Name | None:
    """The name that the best statement has in the place of the claim's, if it says the same of it."""
    rival = next((n for n in others if _same_place(alignment.claim, name, alignment.best, n)), None)
    own = range(name.first, name.last)
    says_more = not set(own).issuperset(alignment.claim.content)
    return rival if rival and says_more and is_alike(alignment, own) else None


def _kind(alignment: Alignment, name: Name, rival: Name, known: bool) -> str:
    """A name that the passage has elsewhere may well be spoken of, unless the rival stands in its very place."""
    spoken_of = known or not alignment.source.folded.isdisjoint(name.parts)
    return "name elsewhere" if spoken_of and not _in_its_place(alignment.claim, name, alignment.best, rival) else "name"


def _is_named(alignment: Alignment, name: Name, known: bool) -> bool:
    """Whether the statements name it: in full, or by a part where the passage has the full name elsewhere."""
    if alignment.best.holds_name(name):
        return True
    if any(s.holds_name(name) and carries(alignment, s, name) for s in alignment.statements[1:]):
        return True
    return known and any(set(n.parts) < set(name.parts) for n in alignment.best.names)


def _same_place(claim: Statement, name: Name, source: Statement, rival: Name) -> bool:
    """Whether a name of the source stands next to the words that the claim's name stands next to."""
    mine, theirs = claim.reading.text.words, source.reading.text.words
    near = {mine[i].stem for i in neighbours(claim, name)}
    before = theirs[max(source.first, rival.first - NEAR) : rival.first]
    behind = theirs[rival.last : min(source.last, rival.last + NEAR)]
    return not near.isdisjoint(word.stem for word in before + behind)


def _in_its_place(claim: Statement, name: Name, source: Statement, rival: Name) -> bool:
    """Whether the same words in a row stand beside both names: 'later A designed the wall', 'later B designed the wall'."""
    (before, behind), (theirs_before, theirs_behind) = _beside(claim, name), _beside(source, rival)
    same = _same_run(before[::-1], theirs_before[::-1]) + _same_run(behind, theirs_behind)
    return same >= SAME_WORDS_BESIDE


def _beside(statement: Statement, name: Name) -> tuple[list[str], list[str]]:
    """The words before and behind a name."""
    lowers = statement.reading.text.lowers
    first, last = max(statement.first, name.first - BESIDE), min(statement.last, name.last + BESIDE)
    return lowers[first : name.first], lowers[name.last : last]


def _same_run(mine: Iterable[str], theirs: Iterable[str]) -> int:
    """How many words are the same before the first that is not; marks do not count."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))
    return sum(one[0].isalnum() for one, _ in same)

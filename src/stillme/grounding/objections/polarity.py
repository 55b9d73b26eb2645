"""Negations that only one side has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from stillme.grounding.objections.base import CLOSE, Alignment, Objection
from stillme.grounding.statements import CLAUSE_MARKS, Statement
from stillme.languages import word_set
from stillme.text.concepts import opposite_stems

__all__ = ["POLARITY", "counterparts", "may_deny"]

# How far from a denied word its opposite stands.
BESIDE: Final = 2
# How far behind its subject a negation stands: "a visa is usually not required".
SUBJECT_REACH: Final = 4
CLAUSE_ENDS: Final = frozenset((";", "."))


def may_deny(claim: Statement, source: Statement) -> bool:
    """Whether one side has a word that denies: without one nothing here objects."""
    return bool(claim.negations or source.negations) or source.has("denying_verb")


def counterparts(claim: Statement, source: Statement) -> dict[int, int]:
    """For each content token of the claim its counterpart in the source statement, by stem or meaning, in order where possible."""
    mine, theirs = claim.reading.text.words, source.reading.text.words
    places: dict[str, list[int]] = {}
    for j in reversed(source.content):  # the next one in order is taken from the end
        places.setdefault(theirs[j].stem, []).append(j)
    pairs: dict[int, int] = {}
    for i in claim.content:
        at = places.get(mine[i].stem)
        if at:
            pairs[i] = at.pop() if len(at) > 1 else at[0]
    return pairs if len(pairs) == len(claim.content) else pairs | _by_meaning(claim, source, pairs)


def _by_meaning(claim: Statement, source: Statement, pairs: dict[int, int]) -> dict[int, int]:
    """Counterparts in other words of the tokens that have none yet."""
    places: dict[int, int] = {}
    for j in range(source.first, source.last):
        for concept in source.reading.concepts[j]:
            places.setdefault(concept, j)
    meant = {i: [c for c in claim.reading.concepts[i] if c in places] for i in claim.content if i not in pairs}
    return {i: places[shared[0]] for i, shared in meant.items() if shared}


def negation(alignment: Alignment, source: Statement, pairs: dict[int, int]) -> list[Objection]:
    """One side denies a word that the other affirms."""
    turned = _turned(alignment, source, pairs)
    return [Objection("negation", min(turned), max(turned) + 1, alignment.text_of(source))] if turned else []


def doubt(alignment: Alignment, source: Statement, pairs: dict[int, int]) -> list[Objection]:
    """The claim denies outright what the source affirms by two negations that cancel each other."""
    claim = alignment.claim
    if len(claim.negations) != 1 or not _cancel(source) or claim.has("denying") or _is_exception(claim, source):
        return []
    return [] if _turned(alignment, source, pairs) else [Objection("doubt", claim.first, claim.last)]


def denial_dropped(alignment: Alignment, source: Statement, pairs: dict[int, int]) -> list[Objection]:
    """The source denies in words what the claim says, and says nothing else: 'stop eating' against 'you may eat'."""
    claim = alignment.claim
    if not source.has("denying_verb") or claim.negations or source.negations or alignment.objections:
        return []
    if len(alignment.missing) > 1 or not claim.cues.isdisjoint(("denying", "exception")):
        return []
    clauses = source.denied_clauses(claim, "denying_verb")
    denied = [i for i, j in pairs.items() if source.segment(j) in clauses]
    if not denied or len(denied) < CLOSE * len(pairs):
        return []
    return [Objection("negation", min(denied), max(denied) + 1)]


POLARITY: Final = (negation, doubt, denial_dropped)


def _is_exception(claim: Statement, source: Statement) -> bool:
    """Whether one side denies with an exception what the other says with "only": the same in other words."""
    return _excepts(claim, source) or _excepts(source, claim)


def _excepts(denying: Statement, other: Statement) -> bool:
    return other.has("only") and denying.has("exception") and bool(denying.negations)


def _turned(alignment: Alignment, source: Statement, pairs: dict[int, int]) -> list[int]:
    """The tokens of the claim that are denied on one side only."""
    claim = alignment.claim
    if not (claim.negations or source.negations) or _is_exception(claim, source):
        return []
    turned = [] if source.negations else _denied_here(claim, source, pairs)
    turned = [i for i in turned if not _is_denied_elsewhere(alignment, source, i)]
    if claim.negations or not _cancel(source):
        turned += _denied_there(claim, source, pairs)
    mine = claim.denied_clauses(source)
    return [i for i in turned if claim.segment(i) not in mine and not _is_opposed(alignment, i)]


def _denied_here(claim: Statement, source: Statement, pairs: dict[int, int]) -> list[int]:
    """What the claim denies and the source, which denies nothing, says: another wording would deny another word."""
    theirs = source.denied_clauses(claim)
    heads = [head for head in _denied(claim, source) if head in pairs]
    return [i for i in heads if not source.denies(pairs[i]) and source.segment(pairs[i]) not in theirs]


def _denied_there(claim: Statement, source: Statement, pairs: dict[int, int]) -> list[int]:
    """What the source denies and the claim says."""
    back = {j: i for i, j in pairs.items()}
    denied = [back[head] for head in _denied(source, claim) if head in back]
    cues = {cue for cue, _, _ in claim.negations}
    return [i for i in denied if not claim.denies(i) and not _is_subject_denied(claim, i, cues)]


def _is_subject_denied(claim: Statement, i: int, cues: Collection[int]) -> bool:
    """Whether the claim denies what it says of the word right before: 'a visa is not required' where the source needs no visa."""
    words = claim.reading.text.words
    for j in range(i + 1, min(claim.last, i + 1 + SUBJECT_REACH)):
        if j in cues:
            return True
        if words[j].content or words[j].text in CLAUSE_MARKS:
            return False
    return False


def _is_denied_elsewhere(alignment: Alignment, source: Statement, i: int) -> bool:
    """Whether another statement, which speaks of something in the claim that this one does not, denies the same word."""
    claim = alignment.claim
    stem = claim.reading.text.words[i].stem
    others = [s for s in alignment.statements if s is not source and (s.stems & claim.stems) - source.stems]
    return any(
        head is not None and other.reading.text.words[head].stem == stem
        for other in others
        for _, head, _ in other.negations
    )


def _cancel(source: Statement) -> bool:
    """Whether two negations of one statement make it affirm: 'nobody may enter without a ticket'."""
    if len(source.negations) != 2:
        return False
    words, (first, second) = source.reading.text.lowers, (cue for cue, _, _ in source.negations)
    conditions = word_set("grammar", "conditional")
    conditional = words[second] in word_set("grammar", "without") or words[second - 1] in conditions
    return conditional and (word_set("grammar", "parting") | CLAUSE_ENDS).isdisjoint(words[first:second])


def _denied(statement: Statement, other: Statement) -> list[int]:
    """The words a statement denies, but for negations that are part of a word the other has: 'not used' is 'unused'."""
    words, meant = statement.reading.text.words, statement.reading.concepts
    counts = Counter(words[j].stem for j in statement.content)
    denials = Counter(words[head].stem for _, head, _ in statement.negations if head is not None)
    denied: list[int] = []
    for cue, head, reach in statement.negations:
        if head is None or not other.concepts.isdisjoint(meant[cue]):
            continue
        stem = words[head].stem
        if counts[stem] == denials[stem] and stem in other.stems:  # each time it is said, it is denied
            denied.append(head)
        else:  # the verb is said twice, or in other words: what it denies is told by its objects
            denied += [j for j in sorted(reach) if words[j].content and counts[words[j].stem] == 1]
    return denied


def _is_opposed(alignment: Alignment, i: int) -> bool:
    """'not open' and 'closed' agree: the negation is made good by an opposite."""
    claim, best = alignment.claim, alignment.best
    words = claim.reading.text.words
    near = [words[j].stem for j in claim.content if abs(j - i) <= BESIDE]
    around = claim.reading.text.lowers[max(claim.first, i - BESIDE) : i + BESIDE + 1]
    return _opposes(near, best.stems) or _opposes(phrases_of(around), frozenset(phrases_of(best.lowers)))


def _opposes(mine: list[str], theirs: frozenset[str]) -> bool:
    """Whether an opposite of one of the words stands among others."""
    opposites = opposite_stems()
    return any(not theirs.isdisjoint(opposites.get(each, ())) for each in mine)


def phrases_of(lowers: list[str]) -> list[str]:
    """Each two words in a row."""
    return list(map(" ".join, pairwise(lowers)))

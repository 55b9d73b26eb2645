"""A claim laid against one statement of a source: which words it finds there, and what speaks against it.

Objections are what makes two statements incompatible although they share their words: another figure, another name in the same
place, a negation, an opposite, swapped roles, a wider quantifier, more certainty than the source has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from stillme.evidence.concepts import opposite_stems
from stillme.evidence.names import Name
from stillme.evidence.numbers import Quantity, agrees, rivals
from stillme.evidence.reading import Reading, Statement, cues

__all__ = ["Alignment", "Objection", "align"]

# objections that make the source say something else, not merely nothing
INCOMPATIBLE: Final = frozenset({"figure", "name", "negation", "opposite", "roles", "quantifier", "binding"})


@dataclass(frozen=True, slots=True)
class Objection:
    """Why the source does not carry the claim: its kind, and the claim's tokens it concerns."""

    kind: str
    first: int
    last: int
    instead: str = ""
    """What the source says in that place."""


@dataclass(slots=True)
class Alignment:
    """A claim against the statements of one passage, best statement first."""

    claim: Statement
    source: Reading
    statements: list[Statement]
    covered: set[int] = field(default_factory=set)
    """Content tokens of the claim that stand in the statements."""
    context: set[int] = field(default_factory=set)
    """Content tokens that stand in the heading or elsewhere in the passage only, as a name spoken of before may."""
    objections: list[Objection] = field(default_factory=list)

    @property
    def best(self) -> Statement:
        """The statement that carries most of the claim."""
        return self.statements[0]

    @property
    def missing(self) -> list[int]:
        """Content tokens of the claim that stand nowhere."""
        return [i for i in self.claim.content if i not in self.covered and i not in self.context]

    @property
    def incompatible(self) -> list[Objection]:
        """The objections by which the source says something else."""
        return [o for o in self.objections if o.kind in INCOMPATIBLE]


def align(claim: Statement, source: Reading, statements: list[Statement], heading: Reading, subjects: Sequence[Name]) -> Alignment:
    """Lay the claim against the given statements of one passage; `subjects` are names it speaks of without repeating them."""
    found = Alignment(claim, source, statements)
    _cover_words(found, heading)
    _cover_figures(found, heading)
    _cover_names(found, heading, subjects)
    _polarity(found)
    _roles(found)
    _bindings(found)
    _strength(found)
    return found


def _cover_words(found: Alignment, heading: Reading) -> None:
    words = found.claim.reading.text.words
    stems = frozenset().union(*(s.stems for s in found.statements))
    titled = heading_stems(heading)
    rest: list[int] = []
    for i in found.claim.content:
        word = words[i]
        if word.stem in stems or (word.number and word.text in stems):
            found.covered.add(i)
        elif word.stem in titled:
            found.context.add(i)
        else:
            rest.append(i)
    if rest:
        _cover_by_meaning(found, rest)


def heading_stems(heading: Reading) -> frozenset[str]:
    """The stems of what a source says besides its text."""
    return frozenset(w.stem for w in heading.text.words if w.content)


def _cover_by_meaning(found: Alignment, rest: Sequence[int]) -> None:
    """Words that are not there as such may be there in other words, or without their accents."""
    claim = found.claim.reading
    concepts = frozenset().union(*(s.concepts for s in found.statements))
    folded = frozenset().union(*(s.folded for s in found.statements)) if not (claim.text.accented and found.source.text.accented) else frozenset()
    for i in rest:
        if not concepts.isdisjoint(claim.concepts[i]) or claim.text.words[i].folded in folded:
            found.covered.add(i)


def _cover_figures(found: Alignment, heading: Reading) -> None:
    """Every figure of the claim needs its equal in the statements; another figure of its kind in its place objects."""
    mine = found.claim.quantities
    if not mine:
        return
    theirs = [q for s in found.statements for q in s.quantities]
    settled = {id(t) for q in mine for t in theirs if agrees(q, t)}
    for q in mine:
        tokens = set(range(q.first, q.last))
        if any(agrees(q, t) for t in theirs):
            found.covered |= tokens
            continue
        found.covered -= tokens
        rival = next((t for t in found.best.quantities if id(t) not in settled and rivals(q, t)), None)
        if rival is not None:
            found.objections.append(Objection("figure", q.first, q.last, found.source.text.slice(rival.first, rival.last)))
        elif any(agrees(q, t) for t in heading.quantities):
            found.context |= tokens
        else:
            kind = "figure elsewhere" if any(agrees(q, t) for t in found.source.quantities) else "figure missing"
            found.objections.append(Objection(kind, q.first, q.last))


def _cover_names(found: Alignment, heading: Reading, subjects: Sequence[Name]) -> None:
    """Every name of the claim needs to stand in the statements, or be spoken of there without another name in its place."""
    claim, best = found.claim, found.best
    names = claim.names
    mine = claim.folded | frozenset(part for name in subjects for part in name.parts)
    rival = next((n for n in best.names if not all(p in mine for p in n.parts) and not _titled(n, heading)), None)
    for name in names:
        tokens = set(range(name.first, name.last))
        found.covered -= tokens
        if best.holds_name(name) or any(s.holds_name(name) and _speaks_of(found, s, name) for s in found.statements[1:]):
            found.covered |= tokens
        elif not (found.source.holds_name(name) or heading.holds_name(name)):
            instead = found.source.text.slice(rival.first, rival.last) if rival else ""
            found.objections.append(Objection("name" if rival and _alike(found, name) else "name missing", name.first, name.last, instead))
        elif rival is None or best.refers_back or _titled(name, heading):
            found.context |= tokens
        else:
            found.objections.append(Objection("name", name.first, name.last, found.source.text.slice(rival.first, rival.last)))
    if not names and subjects and rival is not None and not best.refers_back:
        if not any(best.holds_name(name) for name in subjects):
            found.objections.append(Objection("name", claim.first, claim.first + 1, found.source.text.slice(rival.first, rival.last)))


def _titled(name: Name, heading: Reading) -> bool:
    return heading.holds_name(name)


def _speaks_of(found: Alignment, statement: Statement, name: Name) -> bool:
    """Whether a statement that holds the name also says what the claim says next to it."""
    near = [i for i in found.claim.content if name.first - 4 <= i < name.last + 5 and not name.first <= i < name.last]
    words = found.claim.reading.text.words
    said = sum(words[i].stem in statement.stems or not statement.concepts.isdisjoint(found.claim.reading.concepts[i]) for i in near)
    return not near or said >= len(near) / 2


def _alike(found: Alignment, name: Name) -> bool:
    """Whether the rest of the claim stands in the best statement, so that its name replaces the claim's."""
    rest = [i for i in found.claim.content if not name.first <= i < name.last]
    return bool(rest) and sum(i in found.covered for i in rest) / len(rest) >= 0.6


def _pairs(claim: Statement, source: Statement) -> dict[int, int]:
    """For each content token of the claim its counterpart in the source statement, by stem or meaning, in order where possible."""
    words = source.reading.text.words
    places: dict[str, list[int]] = {}
    for j in source.content:
        places.setdefault(words[j].stem, []).append(j)
    pairs: dict[int, int] = {}
    mine = claim.reading.text.words
    for i in claim.content:
        at = places.get(mine[i].stem)
        if at:
            pairs[i] = at.pop(0) if len(at) > 1 else at[0]
    return _pair_meanings(claim, source, pairs) if len(pairs) < len(claim.content) else pairs


def _pair_meanings(claim: Statement, source: Statement, pairs: dict[int, int]) -> dict[int, int]:
    by_concept: dict[int, int] = {}
    for j in range(source.first, source.last):
        for concept in source.reading.concepts[j]:
            by_concept.setdefault(concept, j)
    for i in claim.content:
        if i not in pairs:
            hit = next((by_concept[c] for c in claim.reading.concepts[i] if c in by_concept), None)
            if hit is not None:
                pairs[i] = hit
    return pairs


def _polarity(found: Alignment) -> None:
    """Negations and opposites, against each statement for the words that it is the first to carry."""
    seen: set[int] = set()
    for source in found.statements:
        pairs = {i: j for i, j in _pairs(found.claim, source).items() if i not in seen}
        _negation(found, source, pairs)
        seen |= pairs.keys()
    _opposites(found)


def _negation(found: Alignment, source: Statement, pairs: dict[int, int]) -> None:
    """A negation on one side only, of a word that both sides have."""
    claim = found.claim
    if not claim.negations and not source.negations:
        return
    if source.negations and source.has("exception") and claim.has("only"):
        return
    if claim.negations and claim.has("exception") and source.has("only"):
        return
    back = {j: i for i, j in pairs.items()}
    turned = [head for _, head, _ in claim.negations if head in pairs and not _reached(source, pairs[head])]
    turned += [back[head] for _, head, _ in source.negations if head in back and not _reached(claim, back[head])]
    turned = [i for i in turned if not _opposed(found, i)]
    if turned:
        said = source.reading.text.slice(source.first, source.last)
        found.objections.append(Objection("negation", min(turned), max(turned) + 1, said))


def _reached(statement: Statement, token: int) -> bool:
    return any(token in reach or token == cue for cue, _, reach in statement.negations)


def _opposed(found: Alignment, i: int) -> bool:
    """'not open' and 'closed' agree: the negation is made good by an opposite."""
    opposites = opposite_stems()
    words = found.claim.reading.text.words
    near = [words[j].stem for j in found.claim.content if abs(j - i) <= 2]
    return any(not opposites.get(stem, frozenset()).isdisjoint(found.best.stems) for stem in near)


def _opposites(found: Alignment) -> None:
    """A word of the claim whose opposite stands in the source, where the word itself does not."""
    opposites = opposite_stems()
    words = found.claim.reading.text.words
    mine = found.claim.stems
    for i in range(found.claim.first, found.claim.last):
        word = words[i]
        if not word.word or word.stem in found.best.stems or word.lower in found.best.lowers:
            continue
        against = opposites.get(word.stem) or opposites.get(word.lower)
        if against and _stands_unmatched(against, found.best, mine) and not found.claim.negations and not found.best.negations:
            found.covered.discard(i)
            found.objections.append(Objection("opposite", i, i + 1))
    _opposite_phrases(found)


def _stands_unmatched(against: frozenset[str], source: Statement, mine: frozenset[str]) -> bool:
    return any((stem in source.stems or stem in source.lowers) and stem not in mine for stem in against)


def _opposite_phrases(found: Alignment) -> None:
    """Opposites of two words, as Vietnamese has them: 'tối đa' against 'tối thiểu'."""
    opposites = opposite_stems()
    lowers = found.claim.lowers
    theirs = set(map(" ".join, zip(found.best.lowers, found.best.lowers[1:], strict=False)))
    mine = list(map(" ".join, zip(lowers, lowers[1:], strict=False)))
    for k, phrase in enumerate(mine):
        against = opposites.get(phrase)
        if against and phrase not in theirs and any(a in theirs and a not in mine for a in against):
            at = found.claim.first + k
            found.objections.append(Objection("opposite", at, at + 2))


def _roles(found: Alignment) -> None:
    """Two names around the same verb, the other way round and in the same voice."""
    claim, best = found.claim, found.best
    names = [n for n in claim.names if best.holds_name(n)]
    for a, b in zip(names, names[1:], strict=False):
        verb = _verb_between(claim, a, b)
        places = [_place(best, n) for n in (a, b)]
        if verb is None or None in places:
            continue
        at = next((j for j in best.content if best.reading.text.words[j].stem == verb), None)
        first, second = places
        if at is None or first is None or second is None or not min(first, second) < at < max(first, second):
            continue
        turned = first > second
        voices = _passive(claim, a.last, b.first) != _passive(best, min(first, second), max(first, second))
        if turned != voices:
            found.objections.append(Objection("roles", a.first, b.last))
            return


def _verb_between(claim: Statement, a: Name, b: Name) -> str | None:
    words = claim.reading.text.words
    between = [words[i].stem for i in range(a.last, b.first) if words[i].content and not words[i].capital and not words[i].number]
    return between[0] if 0 < len(between) <= 3 else None


def _place(source: Statement, name: Name) -> int | None:
    folded = source.reading.text.folded
    return next((j for j in range(source.first, source.last) if folded[j].removesuffix("'s") == name.parts[-1]), None)


def _passive(statement: Statement, first: int, last: int) -> bool:
    return not cues().words("passive").isdisjoint(statement.reading.text.lowers[first:last])


def _bindings(found: Alignment) -> None:
    """Figures of one kind given to several names: each must belong to the name that the source gives it to."""
    claim = found.claim
    if len(claim.names) < 2 or len(claim.quantities) < 2:
        return
    for q in claim.quantities:
        mine = _nearest(claim, q)
        if mine is None:
            continue
        holders = [(s, t) for s in found.source.statements for t in s.quantities if agrees(q, t)]
        if not holders:
            continue
        if not any(_bound(s, t, mine) for s, t in holders) and any(s.holds_name(mine) for s in found.source.statements):
            found.objections.append(Objection("binding", q.first, q.last))
            return


def _bound(source: Statement, q: Quantity, name: Name) -> bool:
    """Whether the source gives the figure to that name: it is the nearest one, or the only one, or none stands there."""
    nearest = _nearest(source, q)
    if nearest is None:
        return True
    return any(part in name.parts for part in nearest.parts) or not any(p in source.folded for p in name.parts) and not _has_rival(source, q)


def _has_rival(source: Statement, q: Quantity) -> bool:
    return any(other is not q and rivals(q, other) for other in source.quantities)


def _nearest(statement: Statement, q: Quantity) -> Name | None:
    """The name closest before the figure, else the first one behind it."""
    before = [n for n in statement.names if n.last <= q.first]
    if before:
        return before[-1]
    return next((n for n in statement.names if n.first >= q.last), None)


def _strength(found: Alignment) -> None:
    """The claim says more, or says it more surely, than the source does."""
    claim, best = found.claim, found.best
    if claim.has("universal") and not best.has("universal") and best.has("partial") and not claim.has("partial"):
        found.objections.append(Objection("quantifier", claim.first, claim.last))
    if best.has("unsure") and not claim.has("unsure") and not claim.has("partial"):
        found.objections.append(Objection("certainty", claim.first, claim.last))
    if claim.has("only") and not best.has("only") and not best.has("exception"):
        found.objections.append(Objection("exclusivity", claim.first, claim.last))

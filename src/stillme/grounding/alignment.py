"""A claim laid against one statement of a source: which words it finds there, and what speaks against it.

Objections are what makes two statements incompatible although they share their words: another figure, another name in the same
place, a negation, an opposite, swapped roles, a wider quantifier, more certainty than the source has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.relations import rearranged
from stillme.grounding.statements import Reading, Statement
from stillme.languages import word_set
from stillme.text.concepts import opposite_stems
from stillme.text.names import Name

__all__ = ["Alignment", "Objection", "align"]

# objections that make the source say something else, not merely nothing
TURNING: Final = frozenset({"negation", "exception", "modal", "unsure", "partial"})
CLOSE: Final = 0.6
NEAR: Final = 3
BESIDE: Final = 6
SAME_WORDS_BESIDE: Final = 3
ELLIPTIC: Final = 3
MOST_PLAIN: Final = 32
MOST_BRIEF: Final = 160
INCOMPATIBLE: Final = frozenset(
    {"figure", "name", "name elsewhere", "negation", "opposite", "roles", "quantifier", "binding", "owner"}
)


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
    verbatim: bool = False
    """The claim is a copy of the statement or of a part of it."""

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


def align(
    claim: Statement, source: Reading, statements: list[Statement], heading: Reading, subjects: Sequence[Name]
) -> Alignment:
    """Lay the claim against the given statements of one passage; `subjects` are names it speaks of without repeating them."""
    found = Alignment(claim, source, statements)
    if _verbatim(claim, found.best):
        found.covered.update(claim.content)
        found.verbatim = True
        return found
    _cover_words(found, heading)
    _cover_figures(found, heading)
    _cover_names(found, heading, subjects)
    _polarity(found)
    if close(claim, found.best):
        _opposites(found)
        _roles(found)
        _bindings(found)
        _strength(found)
    return found


def _verbatim(claim: Statement, source: Statement) -> bool:
    """Whether the claim is a copy of the statement or a part of it, and nothing in the rest turns or weakens it."""
    if claim.line not in source.line:
        return False
    return len(claim.line) == len(source.line) or claim.cues & TURNING == source.cues & TURNING


def close(claim: Statement, source: Statement) -> bool:
    """Whether the two speak of the same thing: most of the one stands in the other. Only then does a difference object."""
    shared = len(claim.stems & source.stems)
    return shared >= CLOSE * min(len(claim.stems), len(source.stems)) and shared > 0


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
    folded = (
        frozenset().union(*(s.folded for s in found.statements))
        if not (claim.text.accented and found.source.text.accented)
        else frozenset()
    )
    for i in rest:
        if not concepts.isdisjoint(claim.concepts[i]) or claim.text.words[i].folded in folded:
            found.covered.add(i)


def _cover_figures(found: Alignment, heading: Reading) -> None:
    """Every figure of the claim needs its equal in the statements; another figure of its kind in its place objects."""
    mine = found.claim.quantities
    if not mine:
        return
    theirs = [(s, q) for s in found.statements for q in s.quantities]
    beside = _only_denied(found.claim)
    settled = {id(t) for q in mine if q.first not in beside for _, t in theirs if agrees(q, t)}
    for q in mine:
        tokens = set(range(q.first, q.last))
        if q.first in beside:
            found.context |= tokens
            continue
        rival = next((t for t in found.best.quantities if id(t) not in settled and rivals(q, t)), None)
        found.covered -= tokens
        if any(agrees(q, t) and (s is found.best or rival is None or _carries(found, s, q)) for s, t in theirs):
            found.covered |= tokens
        elif rival is not None and _alike(found):
            found.objections.append(
                Objection("figure", q.first, q.last, found.source.text.slice(rival.first, rival.last))
            )
        elif any(agrees(q, t) for t in heading.quantities):
            found.context |= tokens
        else:
            kind = "figure elsewhere" if any(agrees(q, t) for t in found.source.quantities) else "figure missing"
            found.objections.append(Objection(kind, q.first, q.last))


def _only_denied(claim: Statement) -> set[int]:
    """Where figures stand that a claim only sets the one next to them against: '12 years, not 13 years' needs no source for 13."""
    cues = {cue for cue, _, _ in claim.negations}
    found = claim.quantities
    denied = [not q.hedge and not cues.isdisjoint(range(q.first - NEAR, q.first)) for q in found]
    return {
        q.first
        for n, q in enumerate(found)
        if denied[n] and any(not denied[k] and rivals(q, found[k]) for k in (n - 1, n + 1) if 0 <= k < len(found))
    }


def _cover_names(found: Alignment, heading: Reading, subjects: Sequence[Name]) -> None:
    """Every name of the claim needs to stand in the statements, or be spoken of there without another name in its place."""
    claim, best = found.claim, found.best
    mine = claim.folded | frozenset(part for name in subjects for part in name.parts)
    others = rival_names(best, mine)
    for name in claim.names:
        tokens = set(range(name.first, name.last))
        found.covered -= tokens
        known = found.source.holds_name(name) or heading.holds_name(name)
        if _named(found, name, known):
            found.covered |= tokens
            continue
        rival = next((n for n in others if _same_place(claim, name, best, n)), None)
        if rival is not None and _alike(found, name.first, name.last) and not (known and best.refers_back):
            elsewhere = _spoken_of(found, name, known) and not _in_its_place(claim, name, best, rival)
            kind = "name elsewhere" if elsewhere else "name"
            found.objections.append(
                Objection(kind, name.first, name.last, found.source.text.slice(rival.first, rival.last))
            )
        elif known:
            found.context |= tokens
        else:
            found.objections.append(Objection("name missing", name.first, name.last))
    short = claim.refers_back or len(claim.content) <= ELLIPTIC
    unnamed = bool(subjects) and not claim.names and not any(best.holds_name(n) for n in subjects)
    if short and unnamed and others and not best.refers_back:
        instead = found.source.text.slice(others[0].first, others[0].last)
        found.objections.append(Objection("name", claim.first, claim.last, instead))


def _spoken_of(found: Alignment, name: Name, known: bool) -> bool:
    """Whether the passage has the name, or a part of it, elsewhere: then the best statement may well be about it without saying so."""
    return known or any(part in found.source.folded for part in name.parts)


def _named(found: Alignment, name: Name, known: bool) -> bool:
    """Whether the statements name it: in full, or by a part where the passage has the full name elsewhere."""
    best = found.best
    if best.holds_name(name) or any(s.holds_name(name) and _carries(found, s, name) for s in found.statements[1:]):
        return True
    return known and any(set(n.parts) < set(name.parts) for n in best.names)


def _same_place(claim: Statement, name: Name, source: Statement, rival: Name) -> bool:
    """Whether a name of the source stands next to the words that the claim's name stands next to."""
    mine, theirs = claim.reading.text.words, source.reading.text.words
    near = {mine[i].stem for i in _neighbours(claim, name)}
    around = range(max(source.first, rival.first - NEAR), min(source.last, rival.last + NEAR))
    return any(theirs[j].stem in near for j in around if not rival.first <= j < rival.last)


def _in_its_place(claim: Statement, name: Name, source: Statement, rival: Name) -> bool:
    """Whether the same words in a row stand beside both names: 'later A designed the wall', 'later B designed the wall'."""
    mine, theirs = claim.reading.text.lowers, source.reading.text.lowers
    first, start = max(claim.first, name.first - BESIDE), max(source.first, rival.first - BESIDE)
    last, end = min(claim.last, name.last + BESIDE), min(source.last, rival.last + BESIDE)
    before = zip(mine[first : name.first][::-1], theirs[start : rival.first][::-1], strict=False)
    behind = zip(mine[name.last : last], theirs[rival.last : end], strict=False)
    return sum(_alike_run(pairs) for pairs in (before, behind)) >= SAME_WORDS_BESIDE


def _alike_run(pairs: Iterable[tuple[str, str]]) -> int:
    """How many words are the same before the first that is not; marks do not count."""
    return sum(one[0].isalnum() for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def rival_names(source: Statement, mine: frozenset[str]) -> list[Name]:
    """Names of a statement that the claim does not have, but for adjectives ('the Dutch astronomer') and asides in parentheses."""
    words = source.reading.text.words
    found: list[Name] = []
    for name in source.names:
        before = words[name.first - 1].lower if name.first > source.first else ""
        behind = words[name.last] if name.last < source.last else None
        adjective = (
            len(name.parts) == 1
            and before in word_set("grammar", "determiners")
            and behind is not None
            and behind.content
        )
        if before != "(" and not adjective and not all(part in mine for part in name.parts):
            found.append(name)
    return found


def _speaks_of(found: Alignment, statement: Statement, item: Name | Quantity) -> bool:
    """Whether a statement that holds a name or figure also says what the claim says next to it."""
    near = [i for i in found.claim.content if item.first - 4 <= i < item.last + 5 and not item.first <= i < item.last]
    words = found.claim.reading.text.words
    said = sum(
        words[i].stem in statement.stems or not statement.concepts.isdisjoint(found.claim.reading.concepts[i])
        for i in near
    )
    return bool(near) and said >= len(near) / 2


def _carries(found: Alignment, statement: Statement, item: Name | Quantity) -> bool:
    """Whether another statement says of a name or figure all that the best one says of its own in that place."""
    words = found.claim.reading.text.words
    near = [words[i].stem for i in _neighbours(found.claim, item)]
    lost = [stem for stem in near if stem in found.best.stems and stem not in statement.stems]
    mine = found.claim.quantities
    foreign = [t for t in statement.quantities if not any(agrees(q, t) for q in mine)]
    if lost or any(rivals(q, t) for q in mine if q is not item for t in foreign):
        return False
    return _speaks_of(found, statement, item)


def _alike(found: Alignment, first: int = 0, last: int = 0) -> bool:
    """Whether the claim but for its figures, or for a name, stands in the best statement, so that what that has in their place is meant."""
    figures = (
        {i for q in found.claim.quantities for i in range(q.first, q.last)} if first == last else range(first, last)
    )
    rest = [i for i in found.claim.content if i not in figures]
    words, stems, meant = found.claim.reading.text.words, found.best.stems, found.claim.reading.concepts
    said = sum(words[i].stem in stems or not found.best.concepts.isdisjoint(meant[i]) for i in rest)
    return bool(rest or first == last) and said >= CLOSE * len(rest)


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
        if close(found.claim, source):
            _negation(found, source, pairs)
            _denial_dropped(found, source, pairs)
        seen |= pairs.keys()


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
    turned = [head for head in _denied(claim, source) if head in pairs and not source.denies(pairs[head])]
    if source.negations:
        turned = []  # both deny something: another wording puts the negation on another word
    theirs, mine = source.denied_clauses(claim), claim.denied_clauses(source)
    turned = [i for i in turned if source.segment(pairs[i]) not in theirs]
    if claim.negations or not _cancel(source):
        turned += [back[head] for head in _denied(source, claim) if head in back and not claim.denies(back[head])]
    turned = [i for i in turned if claim.segment(i) not in mine and not _opposed(found, i)]
    if not turned and len(claim.negations) == 1 and _cancel(source) and not claim.has("denying"):
        found.objections.append(Objection("doubt", claim.first, claim.last))
    if turned:
        said = source.reading.text.slice(source.first, source.last)
        found.objections.append(Objection("negation", min(turned), max(turned) + 1, said))


def _denial_dropped(found: Alignment, source: Statement, pairs: dict[int, int]) -> None:
    """The source denies in words what the claim says, and says nothing else: 'stop eating' against 'you may eat'."""
    claim = found.claim
    if len(found.missing) > 1 or found.objections or not source.has("denying_verb"):
        return
    if claim.negations or source.negations or claim.has("denying") or claim.has("exception"):
        return
    clauses = source.denied_clauses(claim, "denying_verb")
    denied = [i for i, j in pairs.items() if source.segment(j) in clauses]
    if denied and len(denied) >= CLOSE * len(pairs):
        found.objections.append(Objection("negation", min(denied), max(denied) + 1))


def _cancel(source: Statement) -> bool:
    """Whether two negations of one statement make it affirm: 'nobody may enter without a ticket', 'không được vào nếu không có vé'."""
    if len(source.negations) != 2:
        return False
    words, (first, second) = source.reading.text.lowers, (cue for cue, _, _ in source.negations)
    conditional = words[second] in word_set("grammar", "without") or words[second - 1] in word_set(
        "grammar", "conditional"
    )
    parting = word_set("grammar", "parting") | {";", "."}
    return conditional and parting.isdisjoint(words[first:second])


def _denied(statement: Statement, other: Statement) -> list[int]:
    """The words a statement denies, but for negations that are part of a word the other has: 'chưa sử dụng' is 'unused'."""
    meant, words = statement.reading.concepts, statement.reading.text.words
    denied: list[int] = []
    if not statement.negations:
        return denied
    counts = Counter(words[j].stem for j in statement.content)
    denials = Counter(words[head].stem for _, head, _ in statement.negations if head is not None)
    for cue, head, reach in statement.negations:
        if head is None or not other.concepts.isdisjoint(meant[cue]):
            continue
        stem = words[head].stem
        if counts[stem] == denials[stem] and stem in other.stems:  # each time it is said, it is denied
            denied.append(head)
        else:  # the verb is said twice, or in other words: what it denies is told by its objects
            denied += [j for j in sorted(reach) if words[j].content and counts[words[j].stem] == 1]
    return denied


def _opposed(found: Alignment, i: int) -> bool:
    """'not open' and 'closed' agree: the negation is made good by an opposite."""
    opposites = opposite_stems()
    words = found.claim.reading.text.words
    near = [words[j].stem for j in found.claim.content if abs(j - i) <= 2]
    if any(not opposites.get(stem, frozenset()).isdisjoint(found.best.stems) for stem in near):
        return True
    around = found.claim.reading.text.lowers[max(found.claim.first, i - 2) : i + 3]
    theirs = set(map(" ".join, pairwise(found.best.lowers)))
    return any(not opposites.get(pair, frozenset()).isdisjoint(theirs) for pair in map(" ".join, pairwise(around)))


def _opposites(found: Alignment) -> None:
    """A word of the claim whose opposite stands in the source in its place: with what the claim says beside it."""
    if not found.claim.negations and not found.best.negations:
        opposites = opposite_stems()
        words = found.claim.reading.text.words
        for i in range(found.claim.first, found.claim.last):
            against = opposites.get(words[i].stem) or opposites.get(words[i].lower) if words[i].word else None
            if against and i not in found.claim.bounds and _replaced(found, i, against):
                found.covered.discard(i)
                found.objections.append(Objection("opposite", i, i + 1))
    _opposite_phrases(found)


def _replaced(found: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether an opposite stands in the source in the place of a word of the claim, and not beside it."""
    best, claim = found.best, found.claim
    if best.every_stem.isdisjoint(against):
        return False
    stem, brief = claim.reading.text.words[i].stem, _is_brief(claim) and _is_brief(best)
    if stem in best.every_stem:
        return brief and _replaced_in_clause(found, i, against)
    unmatched = any(a in best.every_stem and a not in claim.every_stem for a in against)
    return unmatched and not (brief and _meant_elsewhere(found, i, against))


def _is_brief(statement: Statement) -> bool:
    """Whether a statement is short enough to be read clause by clause for each of its words."""
    return statement.last - statement.first <= MOST_BRIEF


def _replaced_in_clause(found: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether the one clause of the source that says what the claim says behind the word has the opposite in its place."""
    best, claim = found.best, found.claim
    stem = claim.reading.text.words[i].stem
    beside = _said_behind(claim, i) or claim.said_by_clause[claim.segment(i)] - {stem}
    if len(beside) < 2 and not any(s[0].isdigit() for s in beside):
        return False
    shared = {n: len(beside & stems) for n, stems in best.said_by_clause.items()}
    most = max(shared.values())
    where = [n for n, count in shared.items() if count == most]
    here = best.said_by_clause[where[0]]
    placed = len(where) == 1 and most >= len(beside) / 2 and stem not in here
    return placed and bool((here & against) - claim.every_stem)


def _said_behind(claim: Statement, i: int) -> frozenset[str]:
    """The stems of the content words behind a word, to the end of its clause: what is before it may be said of several."""
    words, here = claim.reading.text.words, claim.segment(i)
    return frozenset(words[j].stem for j in claim.content if j > i and claim.segment(j) == here)


def _meant_elsewhere(found: Alignment, i: int, against: frozenset[str]) -> bool:
    """Whether the source says the word in another word, so that its opposite there is about something else."""
    meant, words = set(found.claim.reading.concepts[i]), found.best.reading.text.words
    theirs = found.best.reading.concepts
    tokens = range(found.best.first, found.best.last)
    return any(not meant.isdisjoint(theirs[j]) for j in tokens if words[j].stem not in against)


def _opposite_phrases(found: Alignment) -> None:
    """Opposites of two words, as Vietnamese has them: 'tối đa' against 'tối thiểu'."""
    opposites = opposite_stems()
    lowers = found.claim.lowers
    theirs = {phrase: found.best.first + k for k, phrase in enumerate(map(" ".join, pairwise(found.best.lowers)))}
    mine = list(map(" ".join, pairwise(lowers)))
    for k, phrase in enumerate(mine):
        against = opposites.get(phrase)
        at = found.claim.first + k
        if not against or phrase in theirs or at in found.claim.bounds or _negated(found.claim, at):
            continue
        if any(a in theirs and a not in mine and not _negated(found.best, theirs[a]) for a in against):
            found.objections.append(Objection("opposite", at, at + 2))


def _negated(statement: Statement, at: int) -> bool:
    """Whether a negation that is no part of a phrase of two words stands in its clause."""
    return any(cue not in (at, at + 1) for cue in statement.negations_by_clause.get(statement.segment(at), ()))


def _roles(found: Alignment) -> None:
    """All the claim's words stand in the best statement, but in other relations to each other."""
    if found.objections or len(found.missing) > 1 or not _plain(found.best) or _copied(found):
        return
    place = rearranged(found.claim, found.best)
    if place is not None:
        found.objections.append(Objection("roles", *place))


def _bindings(found: Alignment) -> None:
    """Everything the claim says stands in the best statement, but a name or figure is given to something else there."""
    best = found.best
    if len(found.missing) > 1 or found.objections or not _plain(best) or _copied(found):
        return
    anchors: list[Name | Quantity] = [n for n in found.claim.names if best.holds_name(n)]
    anchors += [q for q in found.claim.quantities if any(agrees(q, t) for t in best.quantities)]
    for anchor in anchors:
        if found.missing and isinstance(anchor, Name):
            continue
        places = _places(best, anchor)
        if places and all(_bound_elsewhere(found, anchor, place, anchors) for place in places):
            kind = "binding" if isinstance(anchor, Name) else "owner"
            found.objections.append(Objection(kind, anchor.first, anchor.last))
            return


def _plain(source: Statement) -> bool:
    """A statement of a few clauses, without asides: in longer ones nearness says little about what belongs together."""
    return source.last - source.first <= MOST_PLAIN and "(" not in source.lowers


def _copied(found: Alignment) -> bool:
    """Whether the claim's content words stand in the source in a row, in the same order and the same voice."""
    if found.claim.has("passive") != found.best.has("passive"):
        return False
    mine, theirs = found.claim.reading.text.words, found.best.reading.text.words
    row = [mine[i].stem for i in found.claim.content]
    source = [theirs[j].stem for j in found.best.content]
    return any(source[k : k + len(row)] == row for k in range(len(source) - len(row) + 1))


def _places(source: Statement, anchor: Name | Quantity) -> list[int]:
    """Where the source has the name or figure of the claim."""
    if isinstance(anchor, Name):
        folded = source.reading.text.folded
        return [j for j in range(source.first, source.last) if folded[j].removesuffix("'s") == anchor.parts[-1]]
    return [t.first for t in source.quantities if agrees(anchor, t)]


def _bound_elsewhere(found: Alignment, anchor: Name | Quantity, place: int, anchors: Sequence[Name | Quantity]) -> bool:
    """Whether the source, at that place, gives the name or figure to something else than the claim does."""
    best, here = found.best, found.best.segment(place)
    others = [a for a in anchors if a is not anchor]
    kin = [a for a in others if isinstance(a, Name) == isinstance(anchor, Name)]
    if any(best.segment(p) == here for a in kin for p in _places(best, a)):
        return False
    if not isinstance(anchor, Name):
        around = [t for t in best.quantities if best.segment(t.first) == here and t.first != place]
        if any(rivals(q, t) for q in others if not isinstance(q, Name) for t in around):
            return True
        return _owned_by_another(found, anchor, place)
    return any(_taken(found, i, anchor, place) for i in _neighbours(found.claim, anchor))


def _owned_by_another(found: Alignment, figure: Quantity, place: int) -> bool:
    """Whether the clause of a figure is about what the claim does not name, and what it names stands with a rival figure."""
    claim, best = found.claim, found.best
    said = claim.clauses[claim.segment(figure.first)]
    own = best.clauses[best.segment(place)]
    rival = [best.clauses[best.segment(t.first)] for t in best.quantities if rivals(figure, t)]
    return any(said & (clause - own) and own - said - clause for clause in rival)


def _neighbours(claim: Statement, anchor: Name | Quantity) -> list[int]:
    """The content words next to a name or figure: one before it, two behind it."""
    before = [i for i in claim.content if i < anchor.first][-1:]
    return before + [i for i in claim.content if i >= anchor.last][:2]


def _taken(found: Alignment, i: int, anchor: Name | Quantity, place: int) -> bool:
    """Whether a word next to the anchor stands in the source with a rival in the anchor's place, and nowhere with the anchor."""
    best, words = found.best, found.best.reading.text.words
    stem = found.claim.reading.text.words[i].stem
    places = [j for j in best.content if words[j].stem == stem]
    behind, here = anchor.first > i, best.segment(place)
    if not places or any(0 < (place - j if behind else j - place) <= NEAR for j in places):
        return False
    if isinstance(anchor, Name) and any(best.segment(j) == here for j in places):
        return False
    others = _rivals(found, anchor)
    if isinstance(anchor, Name) and not behind:
        others = [r for r in others if _opens_segment(best, r)]
    return any(0 < (r.first - j if behind else j - r.last + 1) <= NEAR for r in others for j in places)


def _opens_segment(statement: Statement, item: Name | Quantity) -> bool:
    """Whether a name is the first thing its clause names: what stands behind it is said of it."""
    words, here = statement.reading.text.words, statement.segment(item.first)
    return not any(words[j].content and statement.segment(j) == here for j in range(statement.first, item.first))


def _rivals(found: Alignment, anchor: Name | Quantity) -> Sequence[Name | Quantity]:
    if isinstance(anchor, Name):
        return rival_names(found.best, found.claim.folded)
    return [t for t in found.best.quantities if rivals(anchor, t)]


def _strength(found: Alignment) -> None:
    """The claim says more, or says it more surely, than the source does."""
    claim, best = found.claim, found.best
    if claim.has("universal") and not best.has("universal") and best.has("partial") and not claim.has("partial"):
        found.objections.append(Objection("quantifier", claim.first, claim.last))
    doubtful = best.has("unsure") or (best.has("modal") and claim.has("sure") and not best.has("sure"))
    if doubtful and not claim.has("unsure") and not claim.has("modal"):
        found.objections.append(Objection("certainty", claim.first, claim.last))
    narrowed = best.has("excluding") or best.has("exception") or (best.has("only") and not claim.has("only"))
    if claim.has("universal") and narrowed and not claim.negations and not best.has("universal"):
        found.objections.append(Objection("quantifier", claim.first, claim.last))
    if claim.periods and best.periods and claim.periods.isdisjoint(best.periods):
        found.objections.append(Objection("figure", claim.first, claim.last, ", ".join(sorted(best.periods))))
    if claim.has("only") and not best.has("only") and not best.has("exception"):
        found.objections.append(Objection("exclusivity", claim.first, claim.last))

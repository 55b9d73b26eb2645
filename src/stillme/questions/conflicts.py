"""Where two sources disagree: the same statement with another figure, a negation or an opposite; another answer to the question.

Statements are compared only where they share words that are not everywhere, so the cost grows with what the sources have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from stillme.figures.comparing import agrees, rivals
from stillme.grounding.alignment import Alignment, Objection, align
from stillme.grounding.passage_index import Library, PassageIndex
from stillme.grounding.statements import Reading, Statement, cues
from stillme.languages import word_set
from stillme.questions.answers import Question
from stillme.questions.disagreement import Rival, find_rivals
from stillme.stopping import watched
from stillme.text.concepts import opposite_stems
from stillme.text.tokens import Text

__all__ = ["PassageConflict", "find_conflicts"]

LEAST_SHARED: Final = 2
LEAST_ALIKE: Final = 0.4
LEAST_COVERED: Final = 0.6
COMMON: Final = 10
# So many content words of a statement name what it speaks of.
SUBJECT_WORDS: Final = 2
DISAGREES: Final = frozenset({"figure", "negation", "opposite"})
ANSWER_KINDS: Final = {"date": "figure", "figure": "figure", "person": "name", "place": "name", "thing": "answer"}
DIFFERENT_SUBJECT: Final = frozenset({"name", "name missing", "roles", "binding"})
# Under so many names of their sources the disagreements of the same passages are kept.
MOST_SOURCES: Final = 4


@dataclass(frozen=True, slots=True)
class PassageConflict:
    """Two passages that say incompatible things: what about, and where each says it (character ranges of their texts)."""

    passages: tuple[int, int]
    kind: str
    about: str
    spans: tuple[tuple[int, int], tuple[int, int]]
    values: tuple[str, str]


_AT_ODDS: Final[WeakKeyDictionary[PassageIndex, dict[tuple[str, ...], tuple[PassageConflict, ...]]]] = (
    WeakKeyDictionary()
)


def find_conflicts(library: Library, query: Text | None = None) -> list[PassageConflict]:
    """Every pair of sources that disagrees, once for each thing they disagree on; with a query, also on its answer."""
    if len({p.source_id for p in library.passages}) < 2:
        return []
    found = _statements_at_odds(library)
    return [*found, *_answers(library, query, {(d.passages, d.spans) for d in found})]


def _statements_at_odds(library: Library) -> tuple[PassageConflict, ...]:
    """The statements that disagree whatever is asked, worked out once for passages that come together again."""
    known = _AT_ODDS.setdefault(library.shared, {})
    sources = tuple(p.source_id for p in library.passages)
    if sources not in known:
        found: dict[tuple[int, int, str], PassageConflict] = {}
        for a, b in watched(_related(library)):
            disagreement = _compare(library, library.places[a], library.places[b])
            if disagreement is not None:
                found.setdefault((*disagreement.passages, disagreement.about), disagreement)
        if len(known) >= MOST_SOURCES:
            known.clear()
        known[sources] = tuple(found.values())
    return known[sources]


def _answers(
    library: Library,
    query: Text | None,
    known: set[tuple[tuple[int, int], tuple[tuple[int, int], tuple[int, int]]]],
) -> list[PassageConflict]:
    """The answers to the question that disagree, but for those whose statements are known to disagree."""
    question = Question.of(query)
    if question is None:
        return []
    found_rivals = find_rivals(question, library)
    told = [
        rival for rival in found_rivals if not _refer_to_others(*(answer.place.statement for answer in rival.answers))
    ]
    found = [_answered(question, rival) for rival in told]
    return [d for d in found if (d.passages, d.spans) not in known]


def _answered(question: Question, rival: Rival) -> PassageConflict:
    one, other = rival.answers
    spans = [(a.place.statement.sentence.start, a.place.statement.sentence.end) for a in rival.answers]
    return PassageConflict(
        (one.passage, other.passage),
        ANSWER_KINDS[question.kind],
        question.about,
        (spans[0], spans[1]),
        (one.text, other.text),
    )


def _related(library: Library) -> list[tuple[int, int]]:
    """Pairs of statements of different sources that share at least two words which are not everywhere."""
    places, sources = library.places, [p.source_id for p in library.passages]
    index = library.index
    telling = frozenset(
        stem
        for stem, holders in index.items()
        if 1 < len(holders) <= COMMON and places[holders[0]][0] != places[holders[-1]][0] and not stem[0].isdigit()
    )
    related: list[tuple[int, int]] = []
    for a, (passage, statement) in enumerate(watched(places)):
        shared: dict[int, int] = {}
        for stem in statement.stems & telling:
            for b in index[stem]:
                if b > a:
                    shared[b] = shared.get(b, 0) + 1
        for b, count in sorted(shared.items()):
            shorter = min(len(statement.stems), len(places[b][1].stems))
            if count >= max(LEAST_SHARED, LEAST_ALIKE * shorter) and sources[places[b][0]] != sources[passage]:
                related.append((a, b))
    return related


def _refer_to_others(mine: Statement, theirs: Statement) -> bool:
    """Whether both only say 'it', and the statements before them open with different things."""
    pronouns = word_set("grammar", "pronouns")
    if pronouns.isdisjoint(mine.lowers) or pronouns.isdisjoint(theirs.lowers):
        return False
    openings = [_opening_before(statement) for statement in (mine, theirs)]
    return all(openings) and openings[0].isdisjoint(openings[1])


def _opening_before(statement: Statement) -> frozenset[str]:
    """The first content words of the statement before one."""
    order = statement.reading.statements
    at = next((n for n, other in enumerate(order) if other is statement), 0)
    if not at:
        return frozenset()
    before = order[at - 1]
    return frozenset(before.reading.text.words[i].stem for i in before.content[:SUBJECT_WORDS])


def _compare(library: Library, first: tuple[int, Statement], second: tuple[int, Statement]) -> PassageConflict | None:
    """The shorter statement laid against the longer one, as if it were a claim."""
    if len(first[1].content) > len(second[1].content):
        second, first = first, second
    (n, mine), (m, theirs) = first, second
    if mine.line == theirs.line or not _may_disagree(mine, theirs) or _refer_to_others(mine, theirs):
        return None
    found = align(mine, theirs.reading, [theirs], library.headings[m], ())
    objection = _disagreement(found)
    if objection is None or not _same_matter(found, library.headings[n], library.headings[m], objection):
        return None
    text = mine.reading.text
    value = text.slice(objection.first, objection.last)
    about = " ".join(
        text.words[i].text for i in mine.content if not objection.first <= i < objection.last and i in found.covered
    )
    sides = sorted([(n, mine, value), (m, theirs, objection.instead)], key=lambda side: side[0])
    spans = tuple((s.sentence.start, s.sentence.end) for _, s, _ in sides)
    return PassageConflict(
        (sides[0][0], sides[1][0]), objection.kind, about, (spans[0], spans[1]), (sides[0][2], sides[1][2])
    )


def _may_disagree(mine: Statement, theirs: Statement) -> bool:
    """Whether there is anything that could object: figures of one kind, a negation on one side, an opposite."""
    if bool(mine.negations) != bool(theirs.negations):
        return True
    if any(rivals(q, t) for q in mine.quantities for t in theirs.quantities):
        return True
    if mine.names and theirs.names and not mine.quantities:
        return True
    opposites = opposite_stems()
    return any(
        stem in opposites and not opposites[stem].isdisjoint(theirs.every_stem)
        for stem in mine.every_stem - theirs.every_stem
    )


def _disagreement(found: Alignment) -> Objection | None:
    kinds = {o.kind for o in found.objections}
    if kinds & DIFFERENT_SUBJECT:
        return _other_name(found) if kinds == {"name"} and not found.claim.quantities else None
    objection = next((o for o in found.objections if o.kind in DISAGREES), None)
    if objection is None or (objection.kind == "figure" and (_other_label(found) or _equal_when_rounded(found))):
        return None
    if _speaks_of_another(found):
        return None
    rest = [i for i in found.claim.content if not objection.first <= i < objection.last]
    covered = [i for i in rest if i in found.covered]
    enough = len(covered) >= LEAST_SHARED and len(covered) / len(rest) >= LEAST_COVERED if rest else False
    return objection if enough else None


def _speaks_of_another(found: Alignment) -> bool:
    """'Adults pay 12' and 'children pay 8': each has a word of its own where the other has another."""
    light, own, words = cues().words("light"), found.claim.reading.text.words, found.best.reading.text.words
    mine = [i for i in found.missing if not _in_figure(found.claim, i) and own[i].lower not in light]
    extra = [j for j in found.best.content if words[j].stem not in found.claim.stems and words[j].lower not in light]
    return bool(mine) and any(not _in_figure(found.best, j) for j in extra)


def _in_figure(statement: Statement, token: int) -> bool:
    return any(q.first <= token < q.last for q in statement.quantities)


def _equal_when_rounded(found: Alignment) -> bool:
    """'48,213' and 'about 48,000' do not disagree, whichever of them is the rounded one."""
    return any(agrees(t, q) for q in found.claim.quantities for t in found.best.quantities if rivals(q, t))


def _other_name(found: Alignment) -> Objection | None:
    """'The mayor is A' and 'the mayor is B': everything else is said by both, and the name stands where the answer stands."""
    objection = found.objections[0]
    words = found.claim.reading.text.words
    before = words[objection.first - 1].lower if objection.first > found.claim.first else ""
    rest = [i for i in found.claim.content if not objection.first <= i < objection.last]
    said = len(rest) >= 1 and all(i in found.covered for i in rest)
    return objection if said and before in word_set("grammar", "answering") and not found.best.refers_back else None


def _other_label(found: Alignment) -> bool:
    """'Line 2' and 'Line 3' are two things, not one thing with two numbers."""
    mine = {q.values for q in found.claim.quantities if q.dimension == "label"}
    theirs = {q.values for q in found.best.quantities if q.dimension == "label"}
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_matter(found: Alignment, mine: Reading, theirs: Reading, objection: Objection) -> bool:
    """The same time and the same subject: figures of two years, or of two things, do not contradict each other."""
    dates = {q.first for q in found.claim.quantities if q.dimension == "date"}
    differing = [o.first in dates for o in found.objections if o.kind == "figure"]
    if any(differing) and not all(differing):
        return False
    titles = [_years(mine.statements[0]), _years(theirs.statements[0])]
    years = titles if objection.first in dates else [_years(found.claim) or titles[0], _years(found.best) or titles[1]]
    if years[0] and years[1] and years[0].isdisjoint(years[1]):
        return False
    names = [_names(found.claim.reading, mine), _names(found.source, theirs)]
    return not (names[0] and names[1]) or not names[0].isdisjoint(names[1])


def _years(statement: Statement) -> set[int]:
    return {q.year for q in statement.quantities if q.dimension == "date" and q.year is not None}


def _names(reading: Reading, heading: Reading) -> set[str]:
    """The words of all names of a passage and its title."""
    return {part for s in (*reading.statements, *heading.statements) for name in s.names for part in name.parts}

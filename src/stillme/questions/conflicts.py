"""Where two sources disagree: the same statement with another figure, a negation or an opposite; another answer to the question.

Statements are compared only where they share words that are not everywhere, so the cost grows with what the sources have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final
from weakref import WeakKeyDictionary

from stillme.figures.comparing import agrees, rivals
from stillme.grounding.alignment import Alignment, Objection, align
from stillme.grounding.passage_index import Library, PassageIndex
from stillme.grounding.statements import Reading, Statement, cues
from stillme.languages import word_set
from stillme.questions.answers import Question
from stillme.questions.disagreement import Rival, are_told_apart, find_rivals, have_other_labels, years_of
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
DISAGREES: Final = frozenset({"figure", "figure apart", "negation", "opposite"})
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
    found = [
        _answered(question, rival)
        for rival in find_rivals(question, library)
        if not _refer_to_others(*_statements(rival))
    ]
    return [conflict for conflict in found if (conflict.passages, conflict.spans) not in known]


def _statements(rival: Rival) -> tuple[Statement, Statement]:
    one, other = rival.answers
    return one.place.statement, other.place.statement


def _answered(question: Question, rival: Rival) -> PassageConflict:
    one, other = rival.answers
    return PassageConflict(
        (one.passage, other.passage),
        ANSWER_KINDS[question.kind],
        question.about,
        (_span(one.place.statement), _span(other.place.statement)),
        (one.text, other.text),
    )


def _related(library: Library) -> list[tuple[int, int]]:
    """Pairs of statements of different sources that share at least two words which are not everywhere."""
    shared = Counter(chain.from_iterable(combinations(held, 2) for held in watched(_telling(library))))
    return sorted(pair for pair, count in shared.items() if count >= LEAST_SHARED and _are_alike(library, pair, count))


def _are_alike(library: Library, pair: tuple[int, int], shared: int) -> bool:
    """Whether two statements share a good part of the shorter one, and are of different sources."""
    (one, mine), (other, theirs) = (library.places[place] for place in pair)
    alike = shared >= LEAST_ALIKE * min(len(mine.stems), len(theirs.stems))
    return alike and library.passages[one].source_id != library.passages[other].source_id


def _telling(library: Library) -> list[tuple[int, ...]]:
    """Where the words, no figures, stand that a few statements of more than one passage have."""
    places = library.places
    some = ((stem, held) for stem, held in library.index.items() if 1 < len(held) <= COMMON)
    words = (held for stem, held in some if not stem[0].isdigit())
    return [held for held in words if places[held[0]][0] != places[held[-1]][0]]


def _refer_to_others(mine: Statement, theirs: Statement) -> bool:
    """Whether both only say 'it', and the statements before them open with different things."""
    pronouns = word_set("grammar", "pronouns")
    if pronouns.isdisjoint(mine.lowers) or pronouns.isdisjoint(theirs.lowers):
        return False
    return are_told_apart(_opening_before(mine), _opening_before(theirs))


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
    about = " ".join(text.words[i].text for i in _rest(found, objection) if i in found.covered)
    one, other = sorted([(n, mine, value), (m, theirs, objection.instead)], key=lambda side: side[0])
    return PassageConflict(
        (one[0], other[0]), objection.kind, about, (_span(one[1]), _span(other[1])), (one[2], other[2])
    )


def _span(statement: Statement) -> tuple[int, int]:
    return statement.sentence.start, statement.sentence.end


def _rest(found: Alignment, objection: Objection) -> list[int]:
    """The content words of the claim besides what is objected to."""
    return [i for i in found.claim.content if not objection.first <= i < objection.last]


def _may_disagree(mine: Statement, theirs: Statement) -> bool:
    """Whether there is anything that could object: figures of one kind, a negation on one side, an opposite."""
    if bool(mine.negations) != bool(theirs.negations):
        return True
    if any(rivals(q, t) for q in mine.quantities for t in theirs.quantities):
        return True
    if mine.names and theirs.names and not mine.quantities:
        return True
    opposites = opposite_stems()
    turned = opposites.keys() & (mine.every_stem - theirs.every_stem)
    return any(not opposites[stem].isdisjoint(theirs.every_stem) for stem in turned)


def _disagreement(found: Alignment) -> Objection | None:
    """The objection by which the two statements disagree, if they speak of the same thing."""
    kinds = {objection.kind for objection in found.objections}
    if kinds & DIFFERENT_SUBJECT:
        return _other_name(found) if kinds == {"name"} and not found.claim.quantities else None
    objection = next((o for o in found.objections if o.kind in DISAGREES), None)
    return objection if objection and _speak_of_one_thing(found, objection) else None


def _speak_of_one_thing(found: Alignment, objection: Objection) -> bool:
    """Whether the statements tell of the same thing that to which one objects."""
    if objection.kind.startswith("figure") and not _figures_disagree(found):
        return False
    return not _speaks_of_another(found) and _is_covered(found, _rest(found, objection))


def _figures_disagree(found: Alignment) -> bool:
    return not have_other_labels(found.claim, found.best) and not _equal_when_rounded(found)


def _is_covered(found: Alignment, words: Sequence[int]) -> bool:
    """Whether the other statement says enough of these words too."""
    covered = len(found.covered.intersection(words))
    return covered >= LEAST_SHARED and covered / len(words) >= LEAST_COVERED


def _speaks_of_another(found: Alignment) -> bool:
    """'Adults pay 12' and 'children pay 8': each has a word of its own where the other has another."""
    words = found.best.reading.text.words
    extra = [j for j in found.best.content if words[j].stem not in found.claim.stems]
    return _has_telling(found.claim, found.missing) and _has_telling(found.best, extra)


def _has_telling(statement: Statement, tokens: Iterable[int]) -> bool:
    """Whether one of the words says something by itself, and is no part of a figure."""
    light, words = cues().words("light"), statement.reading.text.words
    return any(words[i].lower not in light and not _in_figure(statement, i) for i in tokens)


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
    rest = _rest(found, objection)
    if not rest or not found.covered.issuperset(rest):
        return None
    return objection if before in word_set("grammar", "answering") and not found.best.refers_back else None


def _same_matter(found: Alignment, mine: Reading, theirs: Reading, objection: Objection) -> bool:
    """The same time and the same subject: figures of two years, or of two things, do not contradict each other."""
    if _two_times(found, mine, theirs, objection):
        return False
    return not are_told_apart(_names(found.claim.reading, mine), _names(found.source, theirs))


def _two_times(found: Alignment, mine: Reading, theirs: Reading, objection: Objection) -> bool:
    """Whether figures are of two dates, or what they say is of two years, which may stand in the titles."""
    dates = {q.first for q in found.claim.quantities if q.dimension == "date"}
    if len({o.first in dates for o in found.objections if o.kind.startswith("figure")}) > 1:
        return True
    years = [years_of(heading.statements[0].quantities) for heading in (mine, theirs)]
    if objection.first not in dates:
        years = [years_of(found.claim.quantities) or years[0], years_of(found.best.quantities) or years[1]]
    return are_told_apart(*years)


def _names(reading: Reading, heading: Reading) -> set[str]:
    """The words of all names of a passage and its title."""
    return {part for s in (*reading.statements, *heading.statements) for name in s.names for part in name.parts}

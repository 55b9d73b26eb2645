"""Where two passages answer the question differently: the same slot filled with another date, figure, name or phrase.

Each passage's likely answers (answers.py) are laid side by side. Two of them disagree if neither passage holds the other's answer and
nothing shows that they speak of two matters; how likely that is follows from how likely each is an answer and how alike the statements are
around it. The figures are fitted by
training/fit_conflicts.py and stand in languages/conflicts.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, combinations, product
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement
from stillme.languages import compiled, has, load
from stillme.questions.answers import KINDS, PossibleAnswer, Question, is_own, read_answers
from stillme.text.names import Name

__all__ = [
    "PAIR_FEATURES",
    "Rival",
    "Scale",
    "are_told_apart",
    "candidate_rivals",
    "find_rivals",
    "have_other_labels",
    "scale",
    "years_of",
]

# What is known of a pair by its statements, and what only when the two answers are compared.
COMPARED: Final = ("left", "right", "form", "length", "mentioned", "led")
PAIR_FEATURES: Final = ("lower", "higher", "alike", "name", *KINDS, *COMPARED, "agreed")
MOST_PASSAGES: Final = 12
MOST_FIGURES: Final = 400
SLOT: Final = 3
NEARLY_SAME: Final = 0.4
CLEAR: Final = 4.0
NEAR: Final = 5
FAR: Final = 30.0

Pair = tuple[PossibleAnswer, PossibleAnswer]
States = Callable[[PossibleAnswer, int], bool]
"""Whether a passage may state the figure of an answer."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Two answers of different sources that disagree, in the order of their passages, and how likely, in log odds."""

    answers: Pair
    score: float


@dataclass(frozen=True, slots=True)
class Scale:
    """What each feature of a pair weighs, and the score from which two answers disagree."""

    weights: tuple[float, ...]
    threshold: float
    spare: float
    """The most that the features can add which are not known before two answers are compared."""

    @classmethod
    def of(cls, weights: Mapping[str, float], threshold: float) -> Scale:
        """The scale of named weights."""
        spare = sum(max(0.0, weights[name]) for name in COMPARED) + abs(weights["agreed"])
        return cls(tuple(float(weights[name]) for name in PAIR_FEATURES), threshold, spare)

    def most(self, features: Sequence[float]) -> float:
        """The most that the score may become of these features, which lack the last one."""
        return self.score((*features, 1.0 if self.weights[-1] > 0 else -1.0))

    def score(self, features: Sequence[float]) -> float:
        """The log odds that two answers disagree."""
        return round(sum(w * x for w, x in zip(self.weights, features, strict=True)), 4)


@compiled
def scale() -> Scale:
    """The fitted scale."""
    found = load("conflicts")["pair"]
    return Scale.of(found["weights"], float(found["threshold"]))


def find_rivals(question: Question, library: Library) -> list[Rival]:
    """For each two sources that answer the question differently the pair of answers that shows it best."""
    best: dict[tuple[int, int], Rival] = {}
    measure = scale()
    for pair, features in candidate_rivals(library, read_answers(question, library), measure):
        score = measure.score(features)
        key = (pair[0].passage, pair[1].passage)
        if score >= measure.threshold and (key not in best or score > best[key].score):
            best[key] = Rival(pair, score)
    return list(best.values())


def candidate_rivals(
    library: Library, read: Mapping[int, Sequence[PossibleAnswer]], measure: Scale | None = None
) -> Iterator[tuple[Pair, tuple[float, ...]]]:
    """Every two answers of different sources that may disagree, with their features; with a measure, those that may reach it."""
    sources = [p.source_id for p in library.passages]
    likely = sorted(read, key=lambda n: (-read[n][0].log_odds, n))[:MOST_PASSAGES]
    states = cache(partial(_states, library))  # an answer meets several others of the same passage
    for one, other in combinations(sorted(likely), 2):
        if sources[one] != sources[other]:
            yield from _between(library, read[one], read[other], measure, states)


def _between(
    library: Library,
    ours: Sequence[PossibleAnswer],
    others: Sequence[PossibleAnswer],
    measure: Scale | None,
    states: States,
) -> Iterator[tuple[Pair, tuple[float, ...]]]:
    """The candidates among the answers of two passages."""
    agreed: float | None = None
    known: dict[tuple[int, int], tuple[tuple[float, ...], float]] = {}
    for mine, theirs in product(ours, others):
        key = (mine.place.statement.first, theirs.place.statement.first)
        if key not in known:
            known[key] = _statement_features(mine, theirs, measure)
        statements, least = known[key]
        lower, higher = sorted((mine.log_odds, theirs.log_odds))
        if measure is not None and measure.weights[0] * lower + measure.weights[1] * higher < least:
            continue
        pair = _differing(mine, theirs)
        if pair is None or _may_nest(mine, statements[0]):
            continue
        known_of_pair = (lower, higher, *statements, *_compared(*pair))
        if measure is not None and measure.most(known_of_pair) < measure.threshold:
            continue
        if _is_unsettled(library, *pair, states) and not _two_matters(library, *pair):
            agreed = _agreed(ours, others) if agreed is None else agreed
            yield pair, (*known_of_pair, max(-CLEAR, min(CLEAR, agreed - lower)) / CLEAR)


def _statement_features(
    mine: PossibleAnswer, theirs: PossibleAnswer, measure: Scale | None
) -> tuple[tuple[float, ...], float]:
    """The features of two statements, and what their answers have to add at least to reach the threshold."""
    statements = _statements(mine, theirs)
    if measure is None:
        return statements, 0.0
    given = sum(w * x for w, x in zip(measure.weights[2:], statements, strict=False))
    return statements, measure.threshold - measure.spare - given


def _may_nest(mine: PossibleAnswer, alike: float) -> bool:
    """'In Texas' and 'in Hays County' may both be right: two places disagree only where the rest is nearly the same."""
    return mine.place.question.kind == "place" and alike < NEARLY_SAME


def _agreed(ours: Sequence[PossibleAnswer], others: Sequence[PossibleAnswer]) -> float:
    """The log odds of the likeliest answer that both passages give."""
    return max((min(a.log_odds, b.log_odds) for a in ours for b in others if _equal(a, b)), default=-FAR)


def _equal(mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    one, other = mine.span.said, theirs.span.said
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return agrees(one, other) or agrees(other, one)
    return not mine.stems.isdisjoint(theirs.stems)


# whether two answers differ


def _differing(mine: PossibleAnswer, theirs: PossibleAnswer) -> Pair | None:
    """The two answers, without what they have in common; None if they do not differ."""
    one, other = mine.span.said, theirs.span.said
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return (mine, theirs) if rivals(one, other) and rivals(other, one) else None
    if mine.place.statement.reading.language != theirs.place.statement.reading.language:
        return None  # a name or a phrase may be translated
    pair = (mine, theirs) if isinstance(one, Name) and isinstance(other, Name) else _trimmed(mine, theirs)
    return None if pair is None or _meet(*pair) or _mentioned(*pair) >= 1 else pair


def _is_unsettled(library: Library, mine: PossibleAnswer, theirs: PossibleAnswer, states: States) -> bool:
    """Whether neither passage holds the answer of the other one too."""
    one, other = mine.span.said, theirs.span.said
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return not states(mine, theirs.passage) and not states(theirs, mine.passage)
    if isinstance(one, Name) and isinstance(other, Name):
        return not (_holds_name(library, theirs.passage, one) or _holds_name(library, mine.passage, other))
    return True


def _states(library: Library, answer: PossibleAnswer, passage: int) -> bool:
    """Whether a passage may state the figure of an answer anywhere: tables of figures are not compared."""
    figure, stated = answer.span.said, [*library.readings[passage].quantities, *library.headings[passage].quantities]
    if len(stated) > MOST_FIGURES or not isinstance(figure, Quantity):
        return True
    return any(agrees(figure, q) or agrees(q, figure) for q in stated)


def _holds_name(library: Library, passage: int, name: Name) -> bool:
    return library.readings[passage].holds_name(name) or library.headings[passage].holds_name(name)


def _trimmed(mine: PossibleAnswer, theirs: PossibleAnswer) -> Pair | None:
    """Both phrases without the words they begin and end with alike; None if nothing is left of one."""
    own, others = [w.stem for w in mine.words], [w.stem for w in theirs.words]
    least = min(len(own), len(others))
    start = next((k for k in range(least) if own[k] != others[k]), least)
    end = next((k for k in range(least - start) if own[-1 - k] != others[-1 - k]), least - start)
    if start + end >= least:
        return None
    return (mine.trimmed(start, end), theirs.trimmed(start, end)) if start + end else (mine, theirs)


def _meet(mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    """Whether the two share a word, or a meaning."""
    return not (are_told_apart(mine.stems, theirs.stems) and _concepts(mine).isdisjoint(_concepts(theirs)))


def _concepts(answer: PossibleAnswer) -> set[int]:
    """What the words of an answer mean."""
    return set(chain.from_iterable(answer.place.statement.reading.concepts[answer.span.first : answer.span.last]))


def _mentioned(mine: PossibleAnswer, theirs: PossibleAnswer) -> float:
    """How much of one of the answers stands anywhere in the other's passage."""
    return max(_share_in(theirs, mine), _share_in(mine, theirs))


def _share_in(other: PossibleAnswer, answer: PossibleAnswer) -> float:
    """How many of the words of an answer stand in the other's passage."""
    held = other.place.statement.reading.folded
    parts = [word.folded for word in answer.words if word.content]
    return sum(map(held.__contains__, parts)) / max(1, len(parts))


# whether they speak of the same matter


def _two_matters(library: Library, mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    """Whether something tells the two apart: another year, another label, another thing of the kind that is asked about.

    Where only one says a word of the question besides its names, 'built in 1874' and 'closed in 1989', so does that.
    """
    if bool(mine.place.said) != bool(theirs.place.said):
        return True
    if have_other_labels(mine.place.statement, theirs.place.statement):
        return True
    return _other_years(library, mine, theirs) or _other_kind(mine, theirs)


def _other_years(library: Library, mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    """What holds of two years does not conflict: years beside the answers, or else in the titles of the sources."""
    titles = [years_of(library.headings[a.passage].statements[0].quantities) for a in (mine, theirs)]
    if isinstance(mine.span.said, Quantity) and mine.span.said.dimension == "date":
        return are_told_apart(*titles)
    return are_told_apart(_years_beside(mine) or titles[0], _years_beside(theirs) or titles[1])


def are_told_apart(mine: AbstractSet[object], theirs: AbstractSet[object]) -> bool:
    """Whether both sides say which, and none of it is the same."""
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def years_of(quantities: Iterable[Quantity]) -> set[int]:
    """The years of the dates among some figures."""
    return {q.year for q in quantities if q.dimension == "date" and q.year is not None}


def have_other_labels(mine: Statement, theirs: Statement) -> bool:
    """'Line 2' and 'Line 3' are two things, not one thing with two numbers."""
    labels = [{q.values for q in s.quantities if q.dimension == "label"} for s in (mine, theirs)]
    return are_told_apart(*labels)


def _years_beside(answer: PossibleAnswer) -> set[int]:
    """The years that an answer holds of: of a figure any in its statement, of another answer those near it or at the start."""
    span, statement = answer.span, answer.place.statement
    beside = [q for q in statement.quantities if not span.first <= q.first < span.last]
    if isinstance(span.said, Quantity):
        return years_of(beside)
    near = range(span.first - NEAR, span.last + NEAR)
    return years_of(q for q in beside if q.first in near or q.first - statement.first <= 2)


def _other_kind(mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    """'A single room' and 'a double room': a word of the question is narrowed differently."""
    one, other = _narrowed(mine), _narrowed(theirs)
    return any(stem in other and word.isdisjoint(other[stem]) for stem, word in one.items())


def _narrowed(answer: PossibleAnswer) -> dict[str, set[str]]:
    """For each word of the question the words that narrow it: before it, or behind it where the language describes so."""
    place = answer.place
    text, step = place.statement.reading.text, 1 if has(place.statement.reading.language, "describes_behind") else -1
    found: dict[str, set[str]] = {}
    for i, stem in place.hits.items():
        if _narrows(answer, i + step):
            found.setdefault(stem, set()).add(text.words[i + step].stem)
    return found


def _narrows(answer: PossibleAnswer, at: int) -> bool:
    """Whether a token may narrow the word beside it: a word of content that is neither the question's nor the answer's."""
    place, span = answer.place, answer.span
    if not place.statement.first <= at < place.statement.last or span.first <= at < span.last:
        return False
    return is_own(place, at)


# how alike they are


def _statements(mine: PossibleAnswer, theirs: PossibleAnswer) -> tuple[float, ...]:
    """What is known by the statements alone: how alike they are, how much both name what the question names, what is asked."""
    question, one, other = mine.place.question, mine.place.statement.stems, theirs.place.statement.stems
    named = min(len(mine.place.names), len(theirs.place.names)) / len(question.parts) if question.parts else 0.5
    alike = len(one & other) / len(one | other)
    return alike, named, *(float(kind == question.kind) for kind in KINDS)


def _compared(mine: PossibleAnswer, theirs: PossibleAnswer) -> tuple[float, ...]:
    """The features of the two answers themselves, but for the last: how much likelier an answer is that both passages give."""
    capitals = [a.words[0].capital for a in (mine, theirs)]
    lengths = [a.span.last - a.span.first for a in (mine, theirs)]
    return (
        _same_beside(mine, theirs, -1) / SLOT,
        _same_beside(mine, theirs, 1) / SLOT,
        float(capitals[0] == capitals[1]),
        min(SLOT, abs(lengths[0] - lengths[1])) / SLOT,
        0.0 if isinstance(mine.span.said, Quantity) else _mentioned(mine, theirs),
        (_behind_stop_word(mine) + _behind_stop_word(theirs)) / 2,
    )


def _behind_stop_word(answer: PossibleAnswer) -> bool:
    """Whether 'the', 'of', 'là' leads to it: verbs and the like, which another wording replaces, stand elsewhere."""
    words, at = answer.place.statement.reading.text.words, answer.span.first - 1
    return at >= answer.place.statement.first and words[at].stop


def _same_beside(mine: PossibleAnswer, theirs: PossibleAnswer, step: int) -> int:
    """How many tokens on one side of the answers are the same, up to SLOT; where both statements end, all of them are."""
    for count, (one, other) in enumerate(zip(_beside(mine, step), _beside(theirs, step), strict=True)):
        if one is None and other is None:
            return SLOT
        if one != other:
            return count
    return SLOT


def _beside(answer: PossibleAnswer, step: int) -> list[str | None]:
    """The nearest tokens on one side of an answer; None where the statement has ended."""
    statement, lowers = answer.place.statement, answer.place.statement.reading.text.lowers
    edge = answer.span.first - 1 if step < 0 else answer.span.last
    places = range(edge, edge + step * SLOT, step)
    return [lowers[i] if statement.first <= i < statement.last else None for i in places]

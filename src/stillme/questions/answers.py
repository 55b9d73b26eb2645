"""What each passage may answer to the question: a date, a figure, a name or a phrase, where it stands, and how likely it is.

A small reader without a model: every span of the kind that is asked for is weighed by the words of the question around it. The
weights are fitted by training/fit_conflicts.py and stand in languages/conflicts.yaml.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import CLAUSE_MARKS, Statement
from stillme.languages import DEFAULT, accented_language, compiled, load, word_rules, word_set
from stillme.text.concepts import text_concepts
from stillme.text.lexicon import Lexicon
from stillme.text.names import Name, capitalised_words, find_names
from stillme.text.tokens import Sentence, Text

__all__ = ["FEATURES", "KINDS", "AnswerSpan", "Place", "PossibleAnswer", "Question", "read_answers", "weighed"]

FEATURES: Final = (
    "bias", "words", "words_near", "rare", "name", "name_in_passage", "near_word", "near_name", "behind_word", "before_word",
    "behind_name", "led", "focus", "defined", "alone", "first", "capital", "long", "foreign",
)  # fmt: skip
KINDS: Final = ("date", "figure", "place", "person", "thing")
OPEN: Final = "open"
# Bounds that an ordinary question and an ordinary sentence do not meet, so that the time stays linear in what is neither.
LONGEST_QUESTION: Final = 80
LONGEST_STATEMENT: Final = 240
MOST_STATEMENTS: Final = 3
MOST_ANSWERS: Final = 8
LONGEST_PHRASE: Final = 6
# In log odds: what answers in three cases of a hundred is no answer.
LEAST_LIKELY: Final = -3.5
REACH: Final = 7
FAR: Final = 24


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Tokens `first` to `last` (exclusive) of a text, with the figure or the name they are, if they are one."""

    first: int
    last: int
    said: Quantity | Name | None = None


@compiled
def _asks() -> Lexicon:
    return Lexicon(load("answers")["asks"])


@compiled
def _leads() -> dict[str, frozenset[str]]:
    return {kind: frozenset(str(words).split()) for kind, words in load("answers")["leads"].items()}


class Question:
    """A question read: the kind of answer it asks for, the names it holds and its other words."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.names = find_names(text, [Sentence(0, len(text), 0, len(text.raw))], capitalised_words([text]))
        match = min(_asks().find(text), key=lambda m: (m.first, -m.last), default=None)
        self.kind = "thing" if match is None else match.name
        if self._asks_for_several():
            self.kind = OPEN
        self.parts = frozenset(part for name in self.names for part in name.parts)
        self.quantities = find_quantities(text, accented_language() if text.accented else DEFAULT)
        named = {i for name in self.names for i in range(name.first, name.last)}
        rest = [i for i, w in enumerate(text.words) if w.content and i not in named]
        self.stems = frozenset(text.words[i].stem for i in rest)
        self.concepts = frozenset(c for i in rest for c in text_concepts(text)[i])
        self.focus = frozenset(text.words[i].stem for i in self._focus(rest, match.first if match else 0))
        self.about = " ".join(w.text for w in text.words if w.content)

    @classmethod
    def of(cls, text: Text | None) -> Question | None:
        """The question, if it asks for one thing that a passage may state and says enough to look for it."""
        if text is None or len(text) > LONGEST_QUESTION:
            return None
        question = cls(text)
        says = bool(question.stems) and (bool(question.parts) or len(question.stems) > 1)
        return question if says and question.kind != OPEN else None

    def _asks_for_several(self) -> bool:
        """'What states', 'which of the rivers': more than one answer is right."""
        for asking, word in pairwise(self.text.words):
            if (
                asking.lower in word_set("answers", "asking_before")
                and word.lower[-1:] == "s"
                and word.content
                and word.stem + "s" == word.lower
            ):
                return True
        return False

    def _focus(self, rest: Sequence[int], asking: int) -> Iterable[int]:
        """The words that say what is asked for: 'sport' of 'what sport'."""
        lowers = self.text.lowers
        behind = next((i for i, lower in enumerate(lowers) if lower in word_set("answers", "asking_behind")), None)
        if behind is not None:
            return [i for i in rest if i < behind][-2:]
        return [i for i in rest if i >= asking][:2]

    def words_in(self, library: Library) -> frozenset[str]:
        """Its words, names apart, as the passages write them: typed without accents it finds them with accents."""
        if self.text.accented or not any(p.text.accented for p in library.passages):
            return self.stems
        typed = {w.folded for w in self.text.words if w.word and w.folded not in word_rules().stop_folded}
        meant = library.shared.typed_as(typed)
        return meant | frozenset(stem for stem in self.stems if stem in library.index) if meant else self.stems


class Place:
    """A statement seen from a question: where the words and the names of the question stand in it."""

    def __init__(self, question: Question, wanted: frozenset[str], statement: Statement) -> None:
        self.question, self.wanted, self.statement = question, wanted, statement
        words, meant, concepts = statement.reading.text.words, statement.reading.concepts, question.concepts
        self.hits: dict[int, str] = {}
        self.named: dict[int, str] = {}
        for i in range(statement.first, statement.last):
            word = words[i]
            if word.content:
                part = word.folded.removesuffix("'s")
                if part in question.parts:
                    self.named[i] = part
                elif word.stem in wanted or not concepts.isdisjoint(meant[i]):
                    self.hits[i] = word.stem
        self.said = frozenset(self.hits.values())
        self.names = frozenset(self.named.values())
        self.hit_places, self.name_places = list(self.hits), list(self.named)

    @property
    def share(self) -> int:
        """How much of the question stands here."""
        return len(self.said) + len(self.names)

    @property
    def of_another(self) -> bool:
        """Whether it speaks of another year, another line than the question does."""
        asked, stated = self.question.quantities, self.statement.quantities
        return any(
            any(rivals(q, t) for t in stated) and not any(agrees(q, t) or agrees(t, q) for t in stated) for q in asked
        )


class PossibleAnswer:
    """What a passage may answer: a span of one of its statements, and how likely it answers the question, in log odds."""

    __slots__ = ("log_odds", "passage", "place", "span", "stems", "words")

    def __init__(self, passage: int, place: Place, span: AnswerSpan, log_odds: float) -> None:
        self.passage, self.place, self.span, self.log_odds = passage, place, span, log_odds
        self.words = place.statement.reading.text.words[span.first : span.last]
        self.stems = frozenset(w.stem for w in self.words if w.content)

    @property
    def text(self) -> str:
        """The span as the passage writes it."""
        return self.place.statement.reading.text.slice(self.span.first, self.span.last)

    def trimmed(self, start: int, end: int) -> PossibleAnswer:
        """The same without some words at its start and at its end."""
        span = AnswerSpan(self.span.first + start, self.span.last - end)
        return PossibleAnswer(self.passage, self.place, span, self.log_odds)


def _spans(place: Place) -> Iterator[AnswerSpan]:
    """The spans of a statement of the kind that is asked for."""
    question, statement = place.question, place.statement
    if question.kind in ("date", "figure"):
        for q in statement.quantities:
            fits = (q.dimension == "date") == (question.kind == "date") and q.dimension != "label"
            if fits and not any(agrees(q, asked) for asked in question.quantities):
                yield AnswerSpan(q.first, q.last, q)
        return
    if question.kind != "thing":
        for name in statement.names:
            if question.parts.isdisjoint(name.parts):
                yield AnswerSpan(name.first, name.last, name)
    if question.kind != "person":
        words = statement.reading.text.words
        for span in _phrases(place):
            if question.kind == "thing" or (not words[span.first].capital and _led(place, span)):
                yield span


def _phrases(place: Place) -> Iterator[AnswerSpan]:
    """Runs of words that carry content and are not the question's."""
    statement, words = place.statement, place.statement.reading.text.words
    start: int | None = None
    for i in range(statement.first, statement.last + 1):
        own = i < statement.last and words[i].content and not words[i].number
        inside = own and i not in place.hits and i not in place.named
        if start is not None and (not inside or i - start >= LONGEST_PHRASE):
            if any(len(w.text) > 1 for w in words[start:i]):
                yield AnswerSpan(start, i)
            start = None
        if inside and start is None:
            start = i


def _led(place: Place, span: AnswerSpan) -> bool:
    """Whether a word that leads to such an answer stands before it, behind an article at the most."""
    lowers, first = place.statement.reading.text.lowers, place.statement.first
    at = span.first - 1
    if at > first and lowers[at] in word_set("answers", "articles"):
        at -= 1
    return at >= first and lowers[at] in _leads()[place.question.kind]


def _nearness(places: Sequence[int], span: AnswerSpan) -> float:
    """1 next to one of the places, 0 far from all of them; the places are in order."""
    at = bisect_left(places, span.first)
    gaps = [span.first - places[at - 1]] if at else []
    behind = bisect_left(places, span.last)
    gaps += [places[behind] - span.last + 1] if behind < len(places) else []
    return max(0.0, 1 - (min(gaps) - 1) / FAR) if gaps else 0.0


def _neighbours(place: Place, span: AnswerSpan) -> tuple[int, int]:
    """The nearest tokens before and behind the span that carry content or part clauses."""
    statement, words = place.statement, place.statement.reading.text.words
    before, behind = span.first - 1, span.last
    while before >= statement.first and not words[before].content and words[before].text not in CLAUSE_MARKS:
        before -= 1
    while behind < statement.last and not words[behind].content and words[behind].text not in CLAUSE_MARKS:
        behind += 1
    return before, behind


def _defined(place: Place, span: AnswerSpan) -> bool:
    """Whether the statement opens with the question's name and the span stands soon behind a copula."""
    opens = bool(place.name_places) and place.name_places[0] - place.statement.first <= 1
    lowers = place.statement.reading.text.lowers
    return opens and any(
        lowers[i] in word_set("answers", "copulas")
        for i in range(max(place.name_places[0], span.first - 4), span.first)
    )


def _opened_by_another(place: Place) -> bool:
    """Whether the statement opens with a name that is not the question's."""
    names, question = place.statement.names, place.question
    return bool(names) and names[0].first - place.statement.first <= 2 and question.parts.isdisjoint(names[0].parts)


def _features(place: Place, span: AnswerSpan, alone: float, known: float, rare: float) -> tuple[float, ...]:
    """What the probability is computed from; the order is that of FEATURES."""
    question, statement = place.question, place.statement
    words, total = statement.reading.text.words, max(1, len(place.wanted))
    near = {stem for i, stem in place.hits.items() if span.first - REACH <= i < span.last + REACH}
    before, behind = _neighbours(place, span)
    around = words[max(statement.first, span.first - 3) : min(statement.last, span.last + 3)]
    return (
        1.0,
        min(1.0, len(place.said) / total),
        min(1.0, len(near) / total),
        rare,
        len(place.names) / len(question.parts) if question.parts else 0.5,
        known,
        _nearness(place.hit_places, span),
        _nearness(place.name_places, span),
        float(before in place.hits),
        float(behind in place.hits),
        float(before in place.named),
        float(_led(place, span)),
        float(any(word.stem in question.focus for word in around)),
        float(_defined(place, span)),
        alone,
        float(statement is statement.reading.statements[0]),
        float(words[span.first].capital),
        min(1.0, (span.last - span.first - 1) / 3),
        float(_opened_by_another(place)),
    )


class _Weights:
    """How much of the question stands in a statement, words that few statements hold counting more."""

    def __init__(self, wanted: frozenset[str], library: Library) -> None:
        size, index = len(library.places), library.index
        self._worth = {stem: math.log(1 + size / (1 + len(index.get(stem, ())))) for stem in sorted(wanted)}
        self._total = sum(self._worth.values()) or 1.0

    def share(self, place: Place) -> float:
        return sum(self._worth.get(stem, 0.0) for stem in sorted(place.said)) / self._total


def weighed(question: Question, library: Library) -> Iterator[tuple[int, Place, AnswerSpan, tuple[float, ...]]]:
    """For each passage the spans that may answer, with their features, from the statements that say most of the question."""
    wanted = question.words_in(library)
    stems = wanted | frozenset(w.stem for name in question.names for w in question.text.words[name.first : name.last])
    worth = _Weights(wanted, library)
    likely: dict[int, list[tuple[int, Statement]]] = {}
    for at, count in sorted(library.sharing(sorted(stems)).items()):
        passage, statement = library.places[at]
        if statement.last - statement.first <= LONGEST_STATEMENT:
            likely.setdefault(passage, []).append((count, statement))
    for passage, ranked in sorted(likely.items()):
        ranked.sort(key=lambda item: -item[0])
        held = library.readings[passage].folded | library.headings[passage].folded
        known = sum(part in held for part in question.parts) / len(question.parts) if question.parts else 0.5
        for _, statement in ranked[:MOST_STATEMENTS]:
            place = Place(question, wanted, statement)
            spans = [] if place.of_another else list(_spans(place))
            rare = worth.share(place)
            for span in spans:
                yield passage, place, span, _features(place, span, 1 / len(spans), known, rare)


@compiled
def _fitted() -> dict[str, tuple[float, ...]]:
    return {kind: tuple(float(row[name]) for name in FEATURES) for kind, row in load("conflicts")["answer"].items()}


def read_answers(
    question: Question, library: Library, fitted: Mapping[str, Sequence[float]] | None = None
) -> dict[int, list[PossibleAnswer]]:
    """For each passage that may answer the question its likeliest answers, best first; `fitted` are other weights."""
    weights = (fitted or _fitted())[question.kind]
    found: dict[int, list[tuple[float, Place, AnswerSpan]]] = {}
    for passage, place, span, features in weighed(question, library):
        log_odds = round(sum(w * x for w, x in zip(weights, features, strict=True)), 4)
        if log_odds >= LEAST_LIKELY:
            found.setdefault(passage, []).append((log_odds, place, span))
    for spans in found.values():
        spans.sort(key=itemgetter(0), reverse=True)
    return {
        n: [PossibleAnswer(n, place, span, z) for z, place, span in spans[:MOST_ANSWERS]] for n, spans in found.items()
    }

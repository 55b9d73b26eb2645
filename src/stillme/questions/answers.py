"""What each passage may answer to the question: a date, a figure, a name or a phrase, where it stands, and how likely it is.

A small reader without a model: every span of the kind that is asked for is weighed by the words of the question around it. The
weights are fitted by training/fit_conflicts.py and stand in languages/conflicts.yaml.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import CLAUSE_MARKS, Statement
from stillme.languages import DEFAULT, accented_language, compiled, load, word_rules, word_set
from stillme.text.concepts import text_concepts
from stillme.text.lexicon import Lexicon, Match
from stillme.text.names import Name, capitalised_words, find_names
from stillme.text.tokens import TEXT, Sentence, Text, Word

__all__ = [
    "FEATURES",
    "KINDS",
    "AnswerSpan",
    "Place",
    "PossibleAnswer",
    "Question",
    "is_own",
    "is_plural",
    "read_answers",
    "weighed",
    "words_typed",
]

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
        asking = min(_asks().find(text), key=lambda m: (m.first, -m.last), default=Match("thing", 0, 0))
        self.asking = frozenset(word.stem for word in text.words[asking.first : asking.last])
        self.kind = OPEN if self._asks_for_several() else asking.name
        self.parts = frozenset(chain.from_iterable(name.parts for name in self.names))
        self.quantities = find_quantities(text, accented_language() if text.accented else DEFAULT)
        rest = self._words_without_names()
        self.stems = self._stems(rest)
        self.concepts = frozenset(chain.from_iterable(text_concepts(text)[i] for i in rest))
        self.focus = self._stems(self._focus(rest, asking.first))
        self.about = " ".join(map(TEXT, text.content()))

    @classmethod
    def of(cls, text: Text | None) -> Question | None:
        """The question, if it asks for one thing that a passage may state and says enough to look for it."""
        if text is None or len(text) > LONGEST_QUESTION:
            return None
        question = cls(text)
        says = bool(question.stems) and (bool(question.parts) or len(question.stems) > 1)
        return question if says and question.kind != OPEN else None

    def _words_without_names(self) -> list[int]:
        """The words of content that are no part of a name."""
        named = {i for name in self.names for i in range(name.first, name.last)}
        return [i for i, word in enumerate(self.text.words) if word.content and i not in named]

    def _stems(self, tokens: Iterable[int]) -> frozenset[str]:
        return frozenset(self.text.words[i].stem for i in tokens)

    def _asks_for_several(self) -> bool:
        """'What states', 'which of the rivers': more than one answer is right."""
        asking = word_set("answers", "asking_before")
        return any(before.lower in asking and is_plural(word) for before, word in pairwise(self.text.words))

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
        meant = library.shared.typed_as(words_typed(self.text))
        return meant | (self.stems & library.index.keys()) if meant else self.stems


def is_plural(word: Word) -> bool:
    """Whether a word of content is its stem with an s."""
    return word.content and word.stem + "s" == word.lower


def words_typed(text: Text) -> set[str]:
    """The words of a text that was typed without accents, but for those that no comparison counts."""
    return {word.folded for word in text.words if word.word} - word_rules().stop_folded


class Place:
    """A statement seen from a question: where the words and the names of the question stand in it."""

    def __init__(self, question: Question, wanted: frozenset[str], statement: Statement) -> None:
        self.question, self.wanted, self.statement = question, wanted, statement
        words, meant, concepts = statement.reading.text.words, statement.reading.concepts, question.concepts
        content = [i for i in range(statement.first, statement.last) if words[i].content]
        parts = {i: words[i].folded.removesuffix("'s") for i in content}
        self.named = {i: part for i, part in parts.items() if part in question.parts}
        self.hits: dict[int, str] = {}
        for i in content:
            is_asked = words[i].stem in wanted or not concepts.isdisjoint(meant[i])
            if is_asked and i not in self.named:
                self.hits[i] = words[i].stem
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
        return any(self._states_another(asked) for asked in self.question.quantities)

    def _states_another(self, asked: Quantity) -> bool:
        stated = self.statement.quantities
        return any(rivals(asked, q) for q in stated) and not any(agrees(asked, q) or agrees(q, asked) for q in stated)


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
    match place.question.kind:
        case "date":
            return _figures(place, [q for q in place.statement.quantities if q.dimension == "date"])
        case "figure":
            return _figures(place, [q for q in place.statement.quantities if q.dimension not in ("date", "label")])
        case "person":
            return _named(place)
        case "thing":
            return _phrases(place)
    return chain(_named(place), _phrases_led_to(place))


def _figures(place: Place, quantities: Iterable[Quantity]) -> Iterator[AnswerSpan]:
    """The figures that are not the question's."""
    asked = place.question.quantities
    return (AnswerSpan(q.first, q.last, q) for q in quantities if not any(agrees(q, a) for a in asked))


def _named(place: Place) -> Iterator[AnswerSpan]:
    """The names that have no part of a name of the question."""
    parts = place.question.parts
    return (AnswerSpan(n.first, n.last, n) for n in place.statement.names if parts.isdisjoint(n.parts))


def _phrases_led_to(place: Place) -> Iterator[AnswerSpan]:
    """The phrases in small letters behind a word that leads to such an answer."""
    words = place.statement.reading.text.words
    return (span for span in _phrases(place) if not words[span.first].capital and _led(place, span))


def _phrases(place: Place) -> Iterator[AnswerSpan]:
    """Runs of words that carry content and are not the question's, cut where they are long."""
    statement, words = place.statement, place.statement.reading.text.words
    for own, run in groupby(range(statement.first, statement.last), key=partial(is_own, place)):
        tokens = list(run) if own else []
        for start in range(0, len(tokens), LONGEST_PHRASE):
            part = tokens[start : start + LONGEST_PHRASE]
            if any(len(words[i].text) > 1 for i in part):
                yield AnswerSpan(part[0], part[-1] + 1)


def is_own(place: Place, token: int) -> bool:
    """Whether a token carries content, is no number and not the question's."""
    word = place.statement.reading.text.words[token]
    return word.content and not word.number and token not in place.hits and token not in place.named


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
    if not place.name_places or place.name_places[0] - place.statement.first > 1:
        return False
    near = max(place.name_places[0], span.first - 4)
    return place.statement.reading.text.has_any(word_set("answers", "copulas"), near, span.first)


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

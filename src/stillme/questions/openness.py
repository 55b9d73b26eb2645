"""Whether a question leaves open which of several statements answers it: what tells so in its words and in those of the passages.

Two clauses that say as much of the question, and differ in what they say beside it, may both answer it, unless a word of the question
stands in one of them alone. Each mark is a number; how much it weighs is fitted by training/fit_questions.py and stands beside the model.
What the marks say and what the model reads are two witnesses: each says how few clear questions look so open, and both are heard together.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, groupby
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement, cues
from stillme.grounding.wrapping import wants_yes_or_no
from stillme.languages import word_set
from stillme.models import question_thresholds
from stillme.questions.ambiguity import Ambiguity, Option, asks_for_several
from stillme.questions.answers import Question, is_plural
from stillme.text.concepts import text_concepts
from stillme.text.tokens import Text

__all__ = [
    "MARKS",
    "SHARES",
    "Asked",
    "Clause",
    "Joining",
    "Marked",
    "Pair",
    "find_open",
    "find_plain",
    "joining_of_model",
    "log_odds",
]

MARKS: Final = (
    "pair", "pair_figures", "pair_denial", "pair_names", "pair_apart", "pair_carried", "row", "best", "second", "clause",
    "best_words", "condition", "exception", "figures", "rare", "common", "unique", "missing", "unnamed", "name", "figure",
    "pointing", "several", "asks_figure", "asks_person", "asks_yes_or_no", "asks_why", "words",
)  # fmt: skip
SHARES: Final = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01)
"""Shares of clear questions; beside each stands, for either witness, what they reach at the least."""
# Bounds that ordinary passages do not meet, so that the time stays linear in what is not.
MOST_STATEMENTS: Final = 48
LONGEST_STATEMENT: Final = 240
MOST_CLAUSES: Final = 24
LEAST_WORDS: Final = 2
NOT_COMPARED: Final = frozenset(("label", "ordinal"))
DENYING: Final = ("negation", "denying", "excluding")
HALF: Final = 0.5
NEARLY_ALL: Final = 0.75
MOST_COUNTED: Final = 3
MOST_FIGURES: Final = 12
LONG_QUESTION: Final = 10
MOST_READINGS: Final = 4
MOST_STATEMENTS_TOLD: Final = 3
TWO: Final = 2
ABOUT_AS_MUCH: Final = 0.8
DECIMALS: Final = 4
LEAST_CHANCE: Final = 0.0001


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A part of a statement, which of the asked words it holds, and what it says beside them."""

    passage: int
    statement: Statement
    first: int
    last: int
    asked: frozenset[str]
    beside: frozenset[str]
    figures: tuple[Quantity, ...]
    names: frozenset[str]
    denies: bool

    @property
    def text(self) -> str:
        """As the passage writes it, without what joins it to the others."""
        text, joints = self.statement.reading.text, word_set("grammar", "segment_words")
        inside = range(self.first, self.last)
        said = [i for i in inside if text.words[i].word or text.words[i].number]
        while said and text.lowers[said[0]] in joints:
            said.pop(0)
        return text.slice(said[0], said[-1] + 1) if said else ""


def find_open(
    query: Text, conversation: Sequence[Text], library: Library, chance: float, language: str
) -> Ambiguity | None:
    """What the question may be about, if the passages answer it in several ways; `chance`: that they do, as the model reads them."""
    marked, joining = Marked(query, library), joining_of_model()
    is_open = joining.is_open(joining.log_odds(marked.marks()), chance) and not marked.is_told(conversation)
    return marked.asked_back(language) if is_open else None


def find_plain(
    query: Text, conversation: Sequence[Text], library: Library, language: str, draft: Statement | None = None
) -> Ambiguity | None:
    """What a question may be about that no word of it decides, although two clauses hold all of it and state two figures of one kind.

    With a draft only where it states the figure of some of them, and says no word that tells which.
    """
    question = Question(query)
    names_some = bool(question.quantities) or _is_known(question, library) or asks_for_several(query)
    if question.kind != "figure" or names_some or any(is_plural(word) for word in query.words):
        return None
    marked = Marked(query, library)
    if not marked.is_plain or marked.is_told(conversation):
        return None
    return marked.asked_back(language) if draft is None or marked.is_picked(draft) else None


def _is_known(question: Question, library: Library) -> bool:
    """Whether it names something that the passages name."""
    return any(not question.parts.isdisjoint(reading.folded) for reading in library.readings)


class Asked:
    """The words of a question that carry content, each with its concepts, and how much of it each is where the passages hold it."""

    def __init__(self, query: Text, library: Library) -> None:
        self.question = Question(query)
        concepts = text_concepts(query)
        self.words: dict[str, frozenset[int]] = {}
        for i, word in enumerate(query.words):
            if word.content:
                self.words[word.stem] = self.words.get(word.stem, frozenset()).union(concepts[i])
        self.places = {word: self._places(word, library) for word in self.words}
        size = max(1, len(library.places))
        worth = {word: math.log(1 + size / len(places)) for word, places in self.places.items() if places}
        total = sum(worth.values()) or 1.0
        self.worth = {word: value / total for word, value in worth.items()}

    def _places(self, word: str, library: Library) -> frozenset[int]:
        """The statements that hold a word, or another one that means the same."""
        meant = (library.meanings.get(concept, ()) for concept in self.words[word])
        return frozenset(library.index.get(word, ())).union(*meant)

    def held_by(self, statement: Statement, first: int, last: int) -> frozenset[str]:
        """The asked words, or others that mean the same, among some tokens."""
        reading = statement.reading
        stems = {word.stem for word in reading.text.words[first:last]}
        concepts = {concept for ids in reading.concepts[first:last] for concept in ids}
        return frozenset(word for word, ids in self.words.items() if word in stems or not ids.isdisjoint(concepts))

    def share(self, words: Iterable[str]) -> float:
        """How much of the question some of its words are."""
        return sum(self.worth.get(word, 0.0) for word in sorted(words))

    def likely(self, library: Library) -> list[tuple[int, Statement, frozenset[str]]]:
        """The statements that hold most of it, best first, each with its passage and the words it holds."""
        held: dict[int, set[str]] = {}
        for word, places in self.places.items():
            for place in places:
                held.setdefault(place, set()).add(word)
        best = sorted(held, key=lambda place: (-self.share(held[place]), place))
        found = ((*library.places[place], frozenset(held[place])) for place in best)
        return [row for row in found if row[1].last - row[1].first <= LONGEST_STATEMENT][:MOST_STATEMENTS]


def _clauses(asked: Asked, passage: int, statement: Statement) -> Iterator[Clause]:
    """The clauses of a statement; one of a single word goes with the one before it."""
    for first, last in _ranges(statement):
        words = statement.reading.text.words[first:last]
        held = asked.held_by(statement, first, last)
        figures = (q for q in statement.quantities if first <= q.first < last and q.dimension not in NOT_COMPARED)
        said = cues().among([word.lower for word in words])
        yield Clause(
            passage, statement, first, last, held,
            beside=frozenset(word.stem for word in words if word.content and word.stem not in asked.words),
            figures=tuple(q for q in figures if not any(agrees(q, own) for own in asked.question.quantities)),
            names=frozenset(p for n in statement.names if first <= n.first < last for p in n.parts if p not in asked.question.parts),
            denies=not said.isdisjoint(DENYING),
        )  # fmt: skip


def _figured(clause: Clause) -> frozenset[str]:
    """The stems of its figures: who says one of them does not say what it is of."""
    words = clause.statement.reading.text.words
    return frozenset(words[i].stem for q in clause.figures for i in range(q.first, q.last))


def _row(statement: Statement) -> int:
    """How many figures of one kind it states that say otherwise than another."""
    figures = [q for q in statement.quantities if q.dimension not in NOT_COMPARED][:MOST_FIGURES]
    return max((sum(q.dimension == own.dimension and rivals(own, q) for q in figures) for own in figures), default=0)


def _ranges(statement: Statement) -> list[tuple[int, int]]:
    words, found = statement.reading.text.words, list[tuple[int, int]]()
    few = False
    for _, tokens in groupby(range(statement.first, statement.last), key=statement.segment):
        own = list(tokens)
        is_short = sum(words[i].content for i in own) < LEAST_WORDS
        if found and (few or is_short):
            found[-1] = (found[-1][0], own[-1] + 1)
        else:
            found.append((own[0], own[-1] + 1))
        few = sum(words[i].content for i in range(*found[-1])) < LEAST_WORDS
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """Two clauses that may both answer, and how much of the question they share less what only one of them holds."""

    one: Clause
    other: Clause
    share: float

    @property
    def has_figures(self) -> bool:
        """Whether they state two figures of a kind."""
        return any(a.dimension == b.dimension and rivals(a, b) for a in self.one.figures for b in self.other.figures)

    @property
    def differs(self) -> bool:
        """Whether they state two figures of a kind, or one denies and the other does not."""
        return self.has_figures or self.one.denies != self.other.denies

    @property
    def is_told_apart(self) -> bool:
        """Whether a word other than a figure stands in one alone; else they contradict each other, and asking which is meant is no help."""
        return bool((self.one.beside ^ self.other.beside) - _figured(self.one) - _figured(self.other))

    @property
    def has_names(self) -> bool:
        """Whether they name different things."""
        return bool(self.one.names and self.other.names and self.one.names != self.other.names)


def _candidates(asked: Asked, clauses: Sequence[Clause], held: Mapping[Statement, frozenset[str]]) -> list[Pair]:
    """Pairs of the likeliest clauses that differ in what they say beside the question, in the order of the text."""
    ranked = sorted(clauses, key=lambda c: -asked.share(c.asked) - HALF * asked.share(held[c.statement]))[:MOST_CLAUSES]
    inside = sorted(ranked, key=lambda c: (c.passage, c.first))
    pairs = (
        pair for pair in combinations(inside, 2) if pair[0].beside - pair[1].beside and pair[1].beside - pair[0].beside
    )
    return [Pair(one, other, 0.0) for one, other in pairs]


def _shared(asked: Asked, held: Mapping[Statement, frozenset[str]], pair: Pair) -> Pair:
    """A pair with how much of the question both clauses say, less what only one of them does."""
    ours, theirs = held[pair.one.statement], held[pair.other.statement]
    apart = (pair.one.asked ^ pair.other.asked) | (ours ^ theirs)
    is_near = pair.one.asked or pair.other.asked or pair.one.statement is pair.other.statement
    return replace(pair, share=asked.share((ours & theirs) - apart) - asked.share(apart) if is_near else 0.0)


def _carried(asked: Asked, pair: Pair) -> Pair:
    """A pair of one statement with how much of the question the first clause says, if the other says none that the first does not.

    'New phones carry a warranty of two years, old ones one of six months': what is left out is meant.
    """
    is_carried = pair.one.statement is pair.other.statement and pair.other.asked < pair.one.asked and pair.differs
    return replace(pair, share=asked.share(pair.one.asked) if is_carried else 0.0)


class Marked:
    """A question beside its passages: the statements and clauses that may answer it, and the pairs of them that both may."""

    def __init__(self, query: Text, library: Library) -> None:
        self.query, self.library, self.asked = query, library, Asked(query, library)
        self.likely = self.asked.likely(library)
        self.held = {statement: held for _, statement, held in self.likely}
        self.clauses = [clause for passage, s, _ in self.likely for clause in _clauses(self.asked, passage, s)]
        found = _candidates(self.asked, self.clauses, self.held)
        self.pairs = [pair for pair in (_shared(self.asked, self.held, each) for each in found) if pair.share > 0]
        self.carried = [pair for pair in (_carried(self.asked, each) for each in found) if pair.share > 0]

    def marks(self) -> dict[str, float]:
        """Every mark by its name."""
        return {**self._of_pairs(), **self._of_statements(), **self._of_words(), **self._of_question()}

    def rivals(self) -> list[Clause]:
        """The clauses that may be what is asked for: those of the pairs that share about as much of the question as the best."""
        pairs = [pair for pair in (*self.pairs, *self.carried) if pair.differs] or self.pairs
        best = max((pair.share for pair in pairs), default=0.0)
        likely = (pair for pair in pairs if pair.share >= ABOUT_AS_MUCH * best)
        found = dict.fromkeys(clause for pair in likely for clause in (pair.one, pair.other))
        return list(found)[:MOST_READINGS]

    @property
    def is_plain(self) -> bool:
        """Whether two clauses hold about all of the question, each of whose words the passages have, and state two figures of one kind."""
        is_whole = all(places or word in self.asked.question.asking for word, places in self.asked.places.items())
        apart = (pair for pair in self.pairs if pair.share > NEARLY_ALL and pair.is_told_apart)
        return is_whole and any(pair.has_figures for pair in apart)

    def is_picked(self, draft: Statement) -> bool:
        """Whether a draft states the figures of some of the clauses, not of all, and says no word that tells which."""
        stated = [any(agrees(q, own) for q in draft.quantities for own in c.figures) for c in self.rivals()]
        return any(stated) and not all(stated) and not self._tells(draft.stems)

    def asked_back(self, language: str) -> Ambiguity:
        """It may mean any of its readings."""
        return Ambiguity("readings", tuple(Option(text, ()) for text in self.readings(language)))

    def readings(self, language: str) -> tuple[str, ...]:
        """What they say, or else the likeliest statements, in the language of whoever asks; nothing if that is less than two."""
        clauses = [clause.text for clause in self.rivals() if self._language(clause.passage) == language]
        told = tuple(dict.fromkeys(filter(None, clauses)))
        if len(told) < TWO:
            own = [statement for passage, statement, _ in self.likely if self._language(passage) == language]
            told = tuple(dict.fromkeys(s.reading.text.slice(s.first, s.last) for s in own[:MOST_STATEMENTS_TOLD]))
        return told if len(told) >= TWO else ()

    def _language(self, passage: int) -> str:
        return self.library.readings[passage].language

    def is_told(self, conversation: Sequence[Text]) -> bool:
        """Whether a turn before says which of the clauses is meant."""
        return self._tells({word.stem for turn in conversation for word in turn.content()})

    def _tells(self, said: AbstractSet[str]) -> bool:
        """Whether there is a word of what only some of the clauses say, or of the passages where there are no such clauses."""
        beside = [clause.beside for clause in self.rivals()]
        if not beside:
            return not said.isdisjoint(self.library.index.keys())
        common = frozenset.intersection(*beside)
        return any(
            not said.isdisjoint(own - common - _figured(clause))
            for own, clause in zip(beside, self.rivals(), strict=True)
        )

    def _of_pairs(self) -> dict[str, float]:
        """How much of the question two clauses share that may both answer it: any two, and two of a kind."""

        def best(pairs: Iterable[Pair]) -> float:
            return max((pair.share for pair in pairs), default=0.0)

        return {
            "pair": best(self.pairs),
            "pair_figures": best(p for p in self.pairs if p.has_figures),
            "pair_denial": best(p for p in self.pairs if p.one.denies != p.other.denies),
            "pair_carried": best(self.carried),
            "pair_names": best(p for p in self.pairs if p.has_names),
            "pair_apart": best(p for p in self.pairs if p.one.passage != p.other.passage),
        }

    def _of_statements(self) -> dict[str, float]:
        """How much of it the best statements and clauses hold, and what the best one says."""
        shares = [self.asked.share(held) for held in self.held.values()]
        best = self.likely[0][1] if self.likely else None
        said = best.cues if best else frozenset[str]()
        clause = max((self.asked.share(clause.asked) for clause in self.clauses), default=0.0)
        return {
            "best": shares[0] if shares else 0.0,
            "second": shares[1] / shares[0] if len(shares) > 1 and shares[0] else 0.0,
            "clause": clause,
            "best_words": math.log(1 + len(best.content)) if best else 0.0,
            "row": math.log(1 + _row(best)) if best else 0.0,
            "condition": float("condition" in said),
            "exception": float("exception" in said or "excluding" in said),
            "figures": min(MOST_COUNTED, len(best.quantities)) / MOST_COUNTED if best else 0.0,
        }

    def _of_words(self) -> dict[str, float]:
        """How rare the words of the question are in the passages: a word that only one statement holds says which."""
        counts = [len(places) for places in self.asked.places.values() if places]
        best = self.held[self.likely[0][1]] if self.likely else frozenset[str]()
        return {
            "rare": math.log(1 + min(counts, default=0)),
            "common": sum(math.log(1 + n) for n in counts) / max(1, len(counts)),
            "unique": min(MOST_COUNTED, sum(len(self.asked.places[word]) == 1 for word in best)) / MOST_COUNTED,
            "missing": 1 - len(counts) / max(1, len(self.asked.words)),
            "unnamed": self._unnamed(),
        }

    def _unnamed(self) -> float:
        """How many words stand beside a word of the question in the passages, where the question has none of them."""
        beside: dict[str, set[str]] = {}
        for _, statement, held in self.likely:
            words = statement.reading.text.words
            for i in range(statement.first, statement.last):
                if words[i].stem in held:
                    around = (words[j] for j in (i - 1, i + 1) if statement.first <= j < statement.last)
                    stems = (word.stem for word in around if word.content and not word.number)
                    beside.setdefault(words[i].stem, set()).update(stems)
        open_ones = (stems for stems in beside.values() if stems.isdisjoint(self.asked.words))
        return max((math.log(1 + len(stems)) for stems in open_ones), default=0.0)

    def _of_question(self) -> dict[str, float]:
        """What kind of answer it asks for, and what in it says which thing it speaks of."""
        question, lowers = self.asked.question, self.query.lowers
        kinds = {f"asks_{kind}": float(question.kind == kind) for kind in ("figure", "person")}
        return {
            **kinds,
            "asks_yes_or_no": float(wants_yes_or_no(self.query)),
            "asks_why": float(not word_set("ambiguity", "reasons").isdisjoint(lowers)),
            "name": float(_is_known(question, self.library)),
            "figure": float(bool(question.quantities)),
            "pointing": float(not word_set("ambiguity", "pointing_words").isdisjoint(lowers)),
            "several": float(asks_for_several(self.query)),
            "words": min(LONG_QUESTION, len(self.asked.words)) / LONG_QUESTION,
        }


@dataclass(frozen=True, slots=True)
class Joining:
    """How marks and model are heard together; fitted and chosen by training/fit_questions.py."""

    bias: float
    weights: Mapping[str, float]
    by_marks: tuple[float, ...]
    """For each of SHARES the log odds by the marks that this share of clear questions reaches."""
    by_model: tuple[float, ...]
    """The same for the model's log odds."""
    open_at: float

    def log_odds(self, marks: Mapping[str, float]) -> float:
        """That a question is open, by its marks alone."""
        return round(self.bias + sum(self.weights[name] * marks[name] for name in MARKS), DECIMALS)

    def surprise(self, by_marks: float, chance: float) -> float:
        """How little a clear question would look so, to both: the sum of the logarithms of the shares of them that do (Fisher's sum)."""
        both = _rarity(by_marks, self.by_marks) + _rarity(log_odds(chance), self.by_model)
        return round(both, DECIMALS)

    def is_open(self, by_marks: float, chance: float) -> bool:
        """Whether the user is to be asked what is meant."""
        return self.surprise(by_marks, chance) >= self.open_at


@cache
def joining_of_model() -> Joining:
    """What was fitted with the shipped model."""
    found = question_thresholds()["open"]
    by_marks, by_model = tuple(found["by_marks"]), tuple(found["by_model"])
    return Joining(found["bias"], found["weights"], by_marks, by_model, found["open_at"])


def log_odds(chance: float) -> float:
    """The log odds of a chance that is known to four decimals."""
    kept = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return round(math.log(kept / (1 - kept)), DECIMALS)


def _rarity(value: float, reached: Sequence[float]) -> float:
    """How rare it is that a clear question reaches a value, as a logarithm: 0 for what half of them reach."""
    at = bisect_right(reached, value)
    if at == 0:
        return 0.0
    if at == len(reached):
        return -math.log(SHARES[-1])
    below, above = -math.log(SHARES[at - 1]), -math.log(SHARES[at])
    return below + (above - below) * (value - reached[at - 1]) / (reached[at] - reached[at - 1])

"""How close each passage is to the question: the caller's figure, or one computed from shared words, names and meanings.

The computed figure is on a 0..1 scale on which the policy's thresholds make sense: it is the share of the question's content that the
passage speaks of, half of it measured on the passage as a whole and half on its best statement, mapped by a fitted curve.
Where that is not clear of any passage, an embedding model is asked, if there is one: the nearest piece of the passage and the
share together give the figure, by a fitted logistic map. Shared words alone then never make a passage a wrong one. Vectors of one
language lie close together whatever they speak of, so of passages that a caller brings they are compared without what all questions,
or all passages, of a language have in common. Of a question with words around it (a greeting, a story) the sentences that ask count;
Vietnamese typed without accents is read in the spelling of the passages. Without a model words decide alone.
"""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import exp, sqrt
from typing import Any, Final, Literal, Protocol

from stillme.grounding.passage import BETWEEN, Passage
from stillme.grounding.passage_index import Library
from stillme.languages import compiled, has, is_served, load, word_rules
from stillme.text.concepts import text_concepts
from stillme.text.sentences import split
from stillme.text.spelling import respelt
from stillme.text.tokens import Text

__all__ = [
    "Embed",
    "Map",
    "Middles",
    "QuestionShare",
    "across",
    "asking",
    "curve",
    "legible",
    "missing_terms",
    "nearest_piece",
    "pieces",
    "query_terms",
    "read",
    "share",
    "similarities",
]

HEADING: Final = -1
NOWHERE: Final = frozenset[int]()
PIECE: Final = 180
# Of a passage the piece that shares most with the question is read (more tell right from wrong no better),
# or the first ones where none shares anything.
PIECES_UNGUIDED: Final = 6
# So many pieces are read at most, but one of every passage.
PIECES_OF_A_REQUEST: Final = 24
LONGEST_QUESTION: Final = 1000
MOST_ASKED: Final = 3
"""So many sentences of a question that ask something are looked at, the last ones."""


class Embed(Protocol):
    """Unit vectors for texts, the rows of an array: a question is near to what answers it; the same text has the same vector."""

    def __call__(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Any:
        """One row a text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Map:
    """From the share of the question that a passage speaks of, and the cosine of its nearest piece, to similarity."""

    share: float
    cosine: float
    across: float
    """Added where question and passage are in different languages: such cosines are lower."""
    bias: float

    def __call__(self, share: float, cosine: float, across: bool) -> float:
        """The probability that this is the passage asked for, to four decimals."""
        logit = self.share * share + self.cosine * cosine + self.across * across + self.bias
        return round(1 / (1 + exp(-logit)), 4)


@dataclass(frozen=True, slots=True)
class Middles:
    """The mean vector of questions and that of passages, by language: what all of them have in common tells none from another."""

    questions: Mapping[str, Any]
    passages: Mapping[str, Any]

    def cosine(self, question: Any, asked_in: str, piece: Any, written_in: str) -> float:
        """How near a question and a piece are beyond what is common, to four decimals."""
        own = question - _middle(self.questions, asked_in if is_served(asked_in) else written_in, question)
        other = piece - _middle(self.passages, written_in, piece)
        lengths = sqrt(float(own @ own) * float(other @ other))
        return round(float(own @ other) / lengths, 4) if lengths else 0.0


def _middle(known: Mapping[str, Any], language: str, like: Any) -> Any:
    """The mean vector of a language, or of all where it has none; nothing is taken off the vectors of another model."""
    found = known[language] if language in known else sum(known.values()) / len(known)
    return found if found.shape == like.shape else 0.0


@dataclass(frozen=True, slots=True)
class QuestionShare:
    """What a passage says of the question's content."""

    share: float
    """How much of it: half as a whole, half in its best statement."""
    weights: dict[int, float]
    """How much each of its sentences says, for those that say some."""


def similarities(
    query: Text, passages: Sequence[Passage], language: str, embed: Embed | None = None, *, thorough: bool = False
) -> list[float]:
    """For each passage the given similarity, or the computed one; `embed` is called only when no figure is clear.

    `thorough` asks it about every passage, whatever words are shared, and the higher figure holds.
    """
    if thorough:
        return _thorough(query, passages, language, embed)
    best: list[float] | None = None
    for asked in asking(query):
        found = _figures(asked, passages, language, embed)
        best = found if best is None else list(map(max, best, found))
        if max(best, default=0.0) >= _clear():
            break
    return best or []


def asking(query: Text) -> list[Text]:
    """What is asked: the sentences that ask by their mark, else the last one, and the whole, which may say what they are about."""
    sentences = [query.raw[s.start : s.end].rstrip() for s in split(query, ())]
    asked = [sentence for sentence in sentences if sentence.endswith("?")] or sentences[-1:]
    return [*map(Text, asked[-MOST_ASKED:]), query] if len(sentences) > 1 else [query]


def _figures(query: Text, passages: Sequence[Passage], language: str, embed: Embed | None) -> list[float]:
    said = _read_all(query, passages, language)
    found = _from_words(passages, said)
    if embed is None or max(found, default=0.0) >= _clear():
        return found
    doubtful = {k: (passages[k], said[k]) for k in said}
    for k, figure in _asked(embed, legible(query, passages, language), language, doubtful).items():
        found[k] = figure
    return found


def _thorough(query: Text, passages: Sequence[Passage], language: str, embed: Embed | None) -> list[float]:
    said = _read_all(query, passages, language)
    found = _from_words(passages, said)
    if embed is None:
        return found
    read_as = legible(query, passages, language)
    return [
        max(found[k], _read_whole(embed, read_as, language, passages[k], said[k])) if k in said else found[k]
        for k in range(len(found))
    ]


def _read_all(query: Text, passages: Sequence[Passage], language: str) -> dict[int, QuestionShare]:
    """What each passage without a given figure says of the question's content."""
    computed = [k for k, passage in enumerate(passages) if passage.given.similarity is None]
    terms = query_terms(query, language) if computed else []
    return {k: read(query, terms, passages[k]) if terms else QuestionShare(0.0, {}) for k in computed}


def _from_words(passages: Sequence[Passage], said: dict[int, QuestionShare]) -> list[float]:
    return [
        curve(said[k].share, _points()) if k in said else passage.given.similarity or 0.0
        for k, passage in enumerate(passages)
    ]


def _read_whole(embed: Embed, query: Text, language: str, passage: Passage, said: QuestionShare) -> float:
    return _map("map")(said.share, nearest_piece(embed, query, passage, said), across(language, passage))


def across(language: str, passage: Passage) -> bool:
    """Whether the question is in one language and the passage in the other."""
    return is_served(language) and language != passage.language


def legible(query: Text, passages: Sequence[Passage], language: str) -> Text:
    """The question as the model can read it: with its accents, and of a page of text the end."""
    if has(language, "accents") and not query.accented:
        query = Text(" ".join(respelt(query, [passage.text for passage in passages]).tokens))
    if len(query.raw) <= LONGEST_QUESTION:
        return query
    start = bisect_right(query.starts, len(query.raw) - LONGEST_QUESTION)
    return Text(query.raw[query.starts[min(start, len(query.starts) - 1)] :]) if query.starts else query


def _asked(
    embed: Embed, query: Text, language: str, doubtful: dict[int, tuple[Passage, QuestionShare]]
) -> dict[int, float]:
    """The figures of the passages that were read: the most promising pieces first, until one is clear or enough were read."""
    found: dict[int, float] = {}
    queue = [
        (turn, -said.share, piece, k)
        for k, (passage, said) in doubtful.items()
        for turn, piece in enumerate(pieces(passage, said.weights))
    ]
    question = embed([query.raw], "query")[0] if queue else None
    # By text where the rest is equal: the order in which passages were given changes no figure.
    for _, _, piece, k in sorted(queue)[: max(PIECES_OF_A_REQUEST, len(doubtful))]:
        passage, said = doubtful[k]
        cosine = _middles().cosine(question, language, embed([piece], "passage")[0], passage.language)
        figure = _map("gate")(said.share, cosine, across(language, passage))
        found[k] = max(figure, found.get(k, 0.0))
        if figure >= _clear():
            break
    return found


def nearest_piece(embed: Embed, query: Text, passage: Passage, said: QuestionShare) -> float:
    """The cosine of the question and the nearest of those pieces of the passage that are read."""
    question = embed([query.raw], "query")[0]
    return max(
        (round(float(row @ question), 4) for row in embed(pieces(passage, said.weights), "passage")), default=0.0
    )


def pieces(passage: Passage, weights: dict[int, float]) -> list[str]:
    """The pieces of a passage that are read; cut between sentences where that can be."""
    raw, starts = passage.text.raw, [s.start for s in passage.sentences]
    found: list[tuple[float, int, int]] = []
    start = number = 0
    while start < len(raw):
        end = _cut(start, len(raw), starts, passage.text.starts)
        weight = 0.0
        while number < len(starts) and starts[number] < end:
            weight += weights.get(number, 0.0)
            number += 1
        found.append((-weight, start, end))
        start = end
    texts = (raw[start:end] for _, start, end in sorted(found))
    return list(islice((t for t in texts if any(map(str.isalnum, t))), 1 if weights else PIECES_UNGUIDED))


def _cut(start: int, whole: int, *places: Sequence[int]) -> int:
    """Where the piece that begins at `start` ends: before a sentence, else before a word, else where it is full."""
    full = start + PIECE
    if full >= whole:
        return whole
    for starts in places:
        last = bisect_right(starts, full) - 1
        if last >= 0 and starts[last] > start:
            return starts[last]
    return full


def query_terms(query: Text, language: str) -> list[int]:
    """Tokens of the question that carry content; typed without the accents of its language, by stop words without them."""
    if has(language, "accents") and not query.accented:
        stop = word_rules().stop_folded
        return [i for i, w in enumerate(query.words) if w.number or (w.word and w.folded not in stop)]
    return [i for i, w in enumerate(query.words) if w.content]


def share(query: Text, terms: Sequence[int], passage: Passage) -> float:
    """How much of the question's content the passage speaks of: half as a whole, half in its best statement."""
    return read(query, terms, passage).share


def read(query: Text, terms: Sequence[int], passage: Passage) -> QuestionShare:
    """How much of the question's content the passage speaks of, and where."""
    held = _held(query, terms, passage)
    weights = {i: 2.0 if query.words[i].capital and i else 1.0 for i in terms}
    whole = titled = 0.0
    best: dict[int, float] = {}
    for i, places in held.items():
        if places:
            whole += weights[i]
            if HEADING in places:
                titled += weights[i]
            else:
                for k in places:
                    best[k] = best.get(k, 0.0) + weights[i]
    best.pop(BETWEEN, None)
    return QuestionShare((whole + titled + max(best.values(), default=0.0)) / sum(weights.values()) / 2, best)


def _held(query: Text, terms: Sequence[int], passage: Passage) -> dict[int, set[int]]:
    """For each term the passage's sentences that say it, BETWEEN among them (and HEADING where its heading does)."""
    words, content = query.words, passage.content
    stems = frozenset(words[i].stem for i in terms)
    said = content.saying(stems)
    held = {i: set(said.get(words[i].stem, ())) for i in terms}
    if not query.accented and passage.text.accented:
        folded = content.saying_with_accents(stems)
        for i in terms:
            held[i] |= folded.get(words[i].stem, NOWHERE)
    titled = {form for word in passage.heading.words for form in (word.stem, word.folded)}
    for i, places in held.items():
        if words[i].stem in titled:
            places.add(HEADING)
    _add_meant(query, [i for i in terms if not held[i]], passage, held)
    return held


def _add_meant(query: Text, unsaid: Sequence[int], passage: Passage, held: dict[int, set[int]]) -> None:
    """Add where the passage says in other words what it does not say as such."""
    meant = text_concepts(query) if unsaid else []
    wanted = frozenset(concept for i in unsaid for concept in meant[i])
    expressed = passage.content.expressing(wanted) if wanted else {}
    for i in unsaid:
        held[i].update(*(expressed.get(concept, NOWHERE) for concept in meant[i]))


def missing_terms(query: Text, terms: Sequence[int], library: Library, enough: float = 1.0) -> list[str]:
    """The terms of the question that no passage says: as such, without accents, in a title, or in other words.

    Looking stops as soon as the share `enough` of the terms is found.
    """
    words = query.words
    left = [i for i in terms if words[i].stem not in library.index]
    most = len(terms) * (1 - enough)
    if len(left) > most and not query.accented:
        said = frozenset().union(*(r.folded for r in library.readings))
        left = [i for i in left if words[i].folded not in said]
    if len(left) > most:
        titled = {form for heading in library.headings for w in heading.text.words for form in (w.stem, w.folded)}
        left = [i for i in left if words[i].stem not in titled and words[i].folded not in titled]
    if len(left) > most:
        meant = text_concepts(query)
        left = [i for i in left if not any(c in library.meanings for c in meant[i])]
    return [words[i].text for i in left]


@compiled
def _points() -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in load("similarity")["curve"]]


@compiled
def _maps() -> dict[str, Map]:
    loaded = load("similarity")
    return {kind: Map(**{name: float(value) for name, value in loaded[kind].items()}) for kind in ("map", "gate")}


def _map(kind: str) -> Map:
    """The map for passages that we found ourselves, among which something is always nearest, or for those that a caller brings."""
    return _maps()[kind]


@compiled
def _middles() -> Middles:
    import numpy  # noqa: PLC0415  (loaded with the model)

    def read(kind: str) -> dict[str, Any]:
        return {
            language: numpy.frombuffer(b64decode(text), "<f2").astype("float32")
            for language, text in load("similarity")["middles"][kind].items()
        }

    return Middles(read("questions"), read("passages"))


@compiled
def _clear() -> float:
    return float(load("similarity")["clear"])


def curve(value: float, points: Sequence[tuple[float, float]]) -> float:
    """A curve given by points, linear between them, to four decimals."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if value <= x1:
            return round(y0 + (y1 - y0) * (value - x0) / (x1 - x0), 4)
    return points[-1][1]

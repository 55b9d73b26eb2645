"""What the classifiers of conduct make of a text: every sentence of it is looked at, in pieces short enough to be read as one thought.

Beside the embedding the classifiers read marks: which lists of the rule files a piece touches, who speaks, whether it asks. What
the marks and the word vectors already exclude is not embedded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from stillme.conduct.safety import REFERRED, lists_touched
from stillme.conduct.voice import Voice
from stillme.grounding.similarity import Embed
from stillme.languages import compiled, has, language_of, languages, load, word_set
from stillme.models.conduct import Class, conduct_model
from stillme.text.lexicon import Lexicon
from stillme.text.sentences import split
from stillme.text.tokens import Sentence, Text, within

__all__ = [
    "Conduct",
    "Scored",
    "Suspicion",
    "decided_by",
    "first_person",
    "judge_draft",
    "judge_query",
    "marks",
    "offers",
    "own_words",
    "pieces",
    "takes_sides",
]

LONGEST: Final = 60
"""Tokens of a sentence that is read whole: in more than that one clause no longer weighs."""
PART: Final = 40
"""Tokens of a part of a longer one, at most."""
BREAKS: Final = frozenset(",;:–—()")
FEW: Final = 7
MANY: Final = 20
OF_DRAFT: Final[tuple[Class, ...]] = ("given", "person", "choice", "sell")
MADE: Final = frozenset(f"unsafe.{name}" for name in REFERRED)
OFFERING: Final = frozenset({"first_person", "we", "reader", "machine", "exclamation"})
Scored = dict[str, dict[Class, float]]
"""The scores of pieces by their text: they depend on nothing else."""
PEOPLE: Final = ("first_person", "we", "reader", "negation", "machine")


class Suspicion(NamedTuple):
    """A sentence, or a part of a long one, that a classifier takes for one of its class, with the probability."""

    sentence: Sentence
    score: float

    @property
    def first(self) -> int:
        """Its first token."""
        return self.sentence.first

    @property
    def last(self) -> int:
        """The token behind it."""
        return self.sentence.last


class Conduct(NamedTuple):
    """What the classifiers suspect, by class; or why they were not asked."""

    suspicions: dict[Class, list[Suspicion]]
    unread: str | None = None

    def of(self, name: Class) -> list[Suspicion]:
        """The suspicions of a class, in order."""
        return self.suspicions.get(name, [])

    def outside(self, spans: Sequence[tuple[int, int]], names: Collection[Class]) -> Conduct:
        """The same without the suspicions of some classes that lie in the given character ranges, which are in order and apart."""
        kept = {
            name: [s for s in self.of(name) if not within(spans, s.sentence.start)]
            for name in self.suspicions.keys() & names
        }
        return Conduct({**self.suspicions, **kept}, self.unread)

    @property
    def rules_alone(self) -> str | None:
        """What a finding says where no classifier was asked."""
        return f"judged by the rules alone: {self.unread}" if self.unread else None


def judge_query(text: Text, language: str, embed: Embed | None) -> Conduct:
    """What is suspected of a question: each sentence of it, and the whole where it is short."""
    parts = pieces(text, split(text))
    if len(parts) > 1 and len(text) <= LONGEST:
        parts = [*parts, Sentence(0, len(text), text.starts[0], text.ends[-1])]
    return _judged(text, parts, language, ("asked",), embed)


def judge_draft(
    text: Text, sentences: Sequence[Sentence], language: str, embed: Embed | None, scored: Scored | None = None
) -> Conduct:
    """What is suspected of an answer, sentence by sentence; `scored` holds what is known of its sentences and takes in the rest."""
    return _judged(text, pieces(text, sentences), language, OF_DRAFT, embed, scored)


def _judged(
    text: Text,
    parts: Sequence[Sentence],
    language: str,
    classes: Sequence[Class],
    embed: Embed | None,
    scored: Scored | None = None,
) -> Conduct:
    if embed is None:
        return Conduct({}, "there is no embedding model")
    unreadable = _unreadable(text, language)
    if unreadable is not None:
        return Conduct({}, unreadable)
    model = conduct_model()
    written = [text.raw[part.start : part.end] for part in parts]
    scores = scored if scored is not None else {}
    new = [one for one in dict.fromkeys(written) if one not in scores]
    scores.update(zip(new, model.scores(new, [marks(Text(one)) for one in new], classes, embed), strict=True))
    judged = [(part, scores[one]) for part, one in zip(parts, written, strict=True)]
    return Conduct({name: _suspicions(judged, name, model.flag_at[name]) for name in classes})


def _suspicions(judged: Sequence[tuple[Sentence, dict[Class, float]]], name: Class, least: float) -> list[Suspicion]:
    """The pieces that a classifier is sure enough of."""
    return [Suspicion(part, scores[name]) for part, scores in judged if scores.get(name, 0.0) >= least]


def _unreadable(text: Text, language: str) -> str | None:
    """Why the models cannot read a text, if they cannot."""
    if language != "unknown" and not has(language, "classified"):
        known = " and ".join(each.name for each in languages() if has(each.code, "classified"))
        return f"the classifiers know {known} only"
    if has(language, "accents") and not text.accented:
        return f"the embedding model cannot read {language_of(language).name} without accents"
    return None


def decided_by(rule: bool, suspicions: Sequence[Suspicion]) -> str:
    """Who decided, for a finding: the rule, the classifier with its highest score, or both."""
    if not suspicions:
        return "rule"
    return f"{'rule and ' if rule else ''}classifier, score {max(s.score for s in suspicions):.2f}"


def own_words(voice: Voice, sentence: Sentence, at: int | None = None) -> bool:
    """Whether the writer says it, from token `at` on: not in quotation marks, as a report, or as a question."""
    words = [i for i in range(sentence.first, sentence.last) if voice.text.words[i].word]
    start = words[0] if at is None else at
    if voice.quotes(start) or 2 * sum(map(voice.quotes, words)) > len(words):
        return False
    return not (voice.asks(sentence, start) or voice.reports(sentence, start))


def pieces(text: Text, sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that say something, long ones cut at commas or, where there is none, at the last token that fits."""
    found = (piece for sentence in sentences for piece in _cut(text, sentence))
    return [piece for piece in found if text.count_words(piece.first, piece.last)]


def _cut(text: Text, sentence: Sentence) -> Iterator[Sentence]:
    edges = [sentence.first]
    most = PART if sentence.last - sentence.first > LONGEST else LONGEST
    while sentence.last - edges[-1] > most:
        full = edges[-1] + most
        breaks = (i + 1 for i in range(full - 1, edges[-1] + most // 3, -1) if text.lowers[i] in BREAKS)
        edges.append(next(breaks, full))
    for first, last in pairwise([*edges, sentence.last]):
        yield Sentence(first, last, text.starts[first], text.ends[last - 1])


def marks(text: Text) -> frozenset[str]:
    """What a piece touches, as names that the classifiers know."""
    unsafe = lists_touched(text)
    made = {"made_unsafe"} if not unsafe.isdisjoint(MADE) and _has(text.lowers, word_set("conduct", "making")) else ()
    return frozenset({*unsafe, *made, *_lists(text), *_people(text), *_form(text)})


def first_person(text: Text, first: int, last: int) -> int | None:
    """The first token of a range that is a first person, or None."""
    known = word_set("conduct", "first_person")
    return next((i for i in range(first, last) if text.lowers[i] in known), None)


def offers(text: Text, sentence: Sentence) -> bool:
    """Whether a sentence speaks of the writer, to the reader, or in words of advertising: without that nothing is sold."""
    found = marks(Text(text.raw[sentence.start : sentence.end]))
    return not found.isdisjoint(OFFERING) or any(mark.startswith("promotion.") for mark in found)


def takes_sides(text: Text, first: int = 0, last: int | None = None) -> bool:
    """Whether a range of tokens has a word of religion or politics."""
    return _has(text.lowers[first:last], _sides())


def _lists(text: Text) -> Iterator[str]:
    for prefix, lexicon in _lexicons().items():
        yield from {f"{prefix}.{name}" for name in lexicon.names(text)}
    if takes_sides(text):
        yield "topic"


def _people(text: Text) -> Iterator[str]:
    return (name for name in PEOPLE if _has(text.lowers, word_set("conduct", name)))


def _form(text: Text) -> Iterator[str]:
    found = {
        "question": "?" in text.lowers,
        "exclamation": "!" in text.lowers,
        "quoted": any(text.quoted),
        "figure": any(word.number for word in text.words),
        "name": any(word.capital for word in text.words[1:]),
        "accented": text.accented,
        "short": len(text) < FEW,
        "long": len(text) > MANY,
    }
    return (name for name, holds in found.items() if holds)


@compiled
def _lexicons() -> dict[str, Lexicon]:
    promotion, religion = load("promotion"), load("religion")
    return {
        "promotion": Lexicon({**promotion["signs"], **promotion["surroundings"]}, promotion["classes"]),
        "religion": Lexicon(religion["lists"], religion["classes"]),
    }


@compiled
def _sides() -> frozenset[str]:
    religion = load("religion")
    names = (word for name in religion["named"] for row in religion["classes"][name] for word in row.split("|"))
    return word_set("conduct", "politics") | word_set("religion", "topics") | {word.strip("()") for word in names}


@compiled
def _begin_joined(known: frozenset[str]) -> frozenset[str]:
    """The words that begin those of a list that stand for two or three in a row."""
    return frozenset(word.partition("_")[0] for word in known if "_" in word)


def _has(lowers: Sequence[str], known: frozenset[str]) -> bool:
    """Whether a word of the list stands there, or two or three in a row that the list joins."""
    if not known.isdisjoint(lowers):
        return True
    if _begin_joined(known).isdisjoint(lowers):
        return False
    pairs = (f"{a}_{b}" for a, b in pairwise(lowers))
    threes = (f"{a}_{b}_{c}" for a, b, c in zip(lowers, lowers[1:], lowers[2:], strict=False))
    return any(word in known for word in (*pairs, *threes))

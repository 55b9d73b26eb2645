"""VerbosityValidator: the answer is not buried in hedges, filler, repetitions and what nobody asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, NamedTuple

from pydantic import Field

from stillme.grounding.repetition import Repetitions, stretched
from stillme.languages import compiled, load
from stillme.reasons import Gate, Reason
from stillme.text.concepts import text_concepts
from stillme.text.lexicon import Lexicon
from stillme.text.tokens import STEM, Sentence, Text, fold, word_of
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["VerbosityValidator"]

PADDED_WITH_CUE: Final = 0.65
PADDED_WITHOUT_CUE: Final = 0.85
CORE_WITHOUT_CUE: Final = 0.6
LONGEST_NARROW: Final = 16
NARROW: Final = frozenset({"narrow", "amounts"})
ASKED_SHARES: Final = (0.5, 0.01)
"""How much of what is asked a sentence speaks of: where it does not have the amount that is asked for, and where it does."""
ITEM_MARKS: Final = "-*•|+"
MARK_REACH: Final = 8


@compiled
def _cues() -> Lexicon:
    rules = load("padding")
    return Lexicon({name: rules[name] for name in ("cues", "winding")})


@compiled
def _questions() -> Lexicon:
    rules = load("padding")
    return Lexicon({name: rules[name] for name in ("narrow", "amounts", "broad")})


class _Vocabulary(NamedTuple):
    """Stems of the words that padding is made of: what only padding speaks of, everything it uses, and all that fills."""

    core: frozenset[str]
    every: frozenset[str]
    filling: frozenset[str]

    def asked_about(self, query: Text) -> _Vocabulary:
        """The same for a question: its words are no padding, but do not make a sentence that only winds on one that says something."""
        asked = frozenset(map(STEM, query.words))
        return self._replace(every=self.every - asked, filling=self.filling | asked)


@compiled
def _vocabulary(folded: bool) -> _Vocabulary:
    names = ("core", "filler", "winding_words")
    core, filler, winding = (load("padding")[name].split() for name in names)
    spell = fold if folded else str
    lists = (core, [*core, *filler], [*core, *filler, *winding])
    return _Vocabulary(*(frozenset(word_of(spell(word)).stem for word in words) for words in lists))


@dataclass(frozen=True, slots=True)
class VerbosityValidator(Observer):
    """At most `max_ratio` of a draft of `min_words` words or more stands in sentences that hedge, fill or repeat.

    From `long_words` words on, an answer to a question for one fact is held to it: what does not speak of it counts too.
    """

    name: ClassVar[str] = "VerbosityValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.OVERLY_VERBOSE: Gate.SOFT}
    whole_answer: ClassVar = True

    max_ratio: Annotated[float, Field(ge=0, le=1)] = 0.5
    min_words: Annotated[int, Field(ge=0)] = 40
    long_words: Annotated[int, Field(ge=0)] = 100

    def run(self, evidence: Evidence) -> Finding:
        """Flag a draft in which padding outweighs what is said."""
        draft = evidence.draft
        if draft.blank:
            return self.skipped("the draft is blank")
        words = draft.count_words()
        if words < self.min_words:
            return self.passed()
        padding = {s.start: s for s in (*_padding(evidence), *_stretched(evidence))}
        if words >= self.long_words:
            padding |= {s.start: s for s in _beside_the_question(evidence)}
        found = [padding[start] for start in sorted(padding)]
        padded = sum(draft.count_words(s.first, s.last) for s in found)
        if padded <= self.max_ratio * words:
            return self.passed()
        return self.flagged(
            Reason.OVERLY_VERBOSE,
            f"{padded} of {words} words only hedge, announce, fill, repeat or go beyond the question",
            spans=[(s.start, s.end) for s in found],
        )


def _padding(evidence: Evidence) -> Iterator[Sentence]:
    """The sentences that say nothing, or nothing new."""
    draft = evidence.draft
    vocabulary = _vocabulary(not draft.accented)
    padding = vocabulary.asked_about(evidence.query)
    repetitions = Repetitions(draft, vocabulary.filling)
    for sentence in evidence.draft_sentences:
        if _is_empty(draft, sentence, padding) or repetitions.says_again(sentence):
            yield sentence


def _is_empty(draft: Text, sentence: Sentence, vocabulary: _Vocabulary) -> bool:
    """Whether a sentence is made of padding words: mostly, where it says so itself, else nearly all."""
    if draft.has_figure(sentence.first, sentence.last):
        return False
    stems = [word.stem for word in draft.content(sentence.first, sentence.last)]
    if not stems:
        return False
    cues = {match.name for match in _cues().find(draft, sentence.first, sentence.last)}
    winds_on = "winding" in cues and vocabulary.filling.issuperset(stems)
    return winds_on or _is_padding(stems, vocabulary, announced="cues" in cues)


def _is_padding(stems: Sequence[str], vocabulary: _Vocabulary, *, announced: bool) -> bool:
    """Whether so many words are padding: fewer are enough where a cue announces it."""
    padding = [stem for stem in stems if stem in vocabulary.every]
    share = len(padding) / len(stems)
    if announced and share >= PADDED_WITH_CUE:
        return True
    core = sum(map(vocabulary.core.__contains__, padding)) / len(stems)
    return share >= PADDED_WITHOUT_CUE and core >= CORE_WITHOUT_CUE


def _stretched(evidence: Evidence) -> Iterator[Sentence]:
    """The sentences that say at length what one sentence of a source says."""
    if not evidence.passages:
        return
    sources = [passage.text for passage in evidence.passages]
    for claim in stretched(evidence.draft, evidence.judged, sources):
        yield evidence.draft_sentences[claim.index]


# the question


def _beside_the_question(evidence: Evidence) -> Iterator[Sentence]:
    """The sentences that do not speak of the one fact that is asked; items of a list go with the line that leads to them."""
    draft, query = evidence.draft, evidence.query
    names = _questions().names(query)
    if not evidence.need.asks_facts or not _is_narrow(query, names):
        return
    asked = _meanings(query, 0, len(query.words))
    speaks = True
    for sentence in evidence.draft_sentences:
        if not _is_item(draft, sentence):
            has_amount = "amounts" in names and draft.has_figure(sentence.first, sentence.last)
            speaks = _share(asked, _meanings(draft, sentence.first, sentence.last)) >= ASKED_SHARES[has_amount]
        if not speaks:
            yield sentence


def _is_narrow(query: Text, names: set[str]) -> bool:
    """Whether a question asks for one fact and says so shortly."""
    is_broad = "broad" in names or names.isdisjoint(NARROW)
    return not is_broad and query.count_words() <= LONGEST_NARROW


def _meanings(text: Text, first: int, last: int) -> list[frozenset[str | int]]:
    """For each content word, its stem and what it stands for."""
    ids = text_concepts(text)[first:last]
    words = text.words[first:last]
    return [frozenset((w.stem, *found)) for w, found in zip(words, ids, strict=True) if w.content]


def _share(asked: Sequence[frozenset[str | int]], said: Sequence[frozenset[str | int]]) -> float:
    known = frozenset[str | int]().union(*said)
    return sum(not known.isdisjoint(each) for each in asked) / len(asked) if asked else 1.0


def _is_item(draft: Text, sentence: Sentence) -> bool:
    """Whether a sentence stands in a list, a table or code."""
    start = draft.line(sentence.start)[0]
    opening = draft.raw[start : start + MARK_REACH].lstrip()
    return opening[:1] in ITEM_MARKS or opening[:1].isdigit() if opening else False

"""VerbosityValidator: the answer is not buried in hedges, disclaimers, announcements and repetitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.evidence.lexicon import Lexicon
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text, fold
from stillme.evidence.voice import tokens_of
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["VerbosityValidator"]

PADDED_WITH_CUE: Final = 0.6
PADDED_WITHOUT_CUE: Final = 0.85
SAME: Final = 0.8
MIN_REPEATED_WORDS: Final = 4
REMEMBERED: Final = 12


@cache
def _cues() -> Lexicon:
    return Lexicon({"cues": load("padding")["cues"]})


@cache
def _vocabulary(folded: bool) -> frozenset[str]:
    words = " ".join(load("padding")["vocabulary"].values()).split()
    return frozenset(map(fold, words)) if folded else frozenset(words)


@cache
def _negation() -> frozenset[str]:
    return frozenset(str(load("padding")["negation"]).split())


@dataclass(frozen=True, slots=True)
class VerbosityValidator(Observer):
    """At most `max_ratio` of a draft of `min_words` words or more stands in sentences that only hedge or repeat."""

    name: ClassVar[str] = "VerbosityValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.OVERLY_VERBOSE: Gate.SOFT}

    max_ratio: float = 0.5
    min_words: int = 40

    def run(self, evidence: Evidence) -> Finding:
        """Flag a draft in which padding outweighs what is said."""
        draft = evidence.draft
        if draft.blank:
            return self.skipped("the draft is blank")
        words = sum(word.word for word in draft.words)
        if words < self.min_words:
            return self.passed()
        padding = list(_padding(draft, evidence.draft_sentences, evidence.query))
        padded = sum(sum(word.word for word in draft.words[s.first : s.last]) for s in padding)
        if padded <= self.max_ratio * words:
            return self.passed()
        return self.flagged(
            Reason.OVERLY_VERBOSE,
            f"{padded} of {words} words stand in {len(padding)} sentences that only hedge, announce or repeat",
            spans=[(s.start, s.end) for s in padding],
        )


def _padding(draft: Text, sentences: Sequence[Sentence], query: Text) -> Iterator[Sentence]:
    """The sentences that say nothing, or nothing new."""
    vocabulary = _vocabulary(not draft.accented) - set(tokens_of(query))
    seen: set[frozenset[str]] = set()
    latest: deque[frozenset[str]] = deque(maxlen=REMEMBERED)
    for sentence in sentences:
        if _is_empty(draft, sentence, vocabulary):
            yield sentence
            continue
        said = _said(draft, sentence)
        if len(said) < MIN_REPEATED_WORDS:
            continue
        if said in seen or any(_is_same(said, earlier) for earlier in latest):
            yield sentence
        seen.add(said)
        latest.append(said)


def _is_empty(draft: Text, sentence: Sentence, vocabulary: frozenset[str]) -> bool:
    """Whether a sentence is made of hedging words: more freely so where it opens like a hedge."""
    words = draft.words[sentence.first : sentence.last]
    if any(word.number for word in words):
        return False
    tokens = tokens_of(draft)
    content = [i for i in range(sentence.first, sentence.last) if draft.words[i].content]
    if not content:
        return False
    share = sum(tokens[i] in vocabulary for i in content) / len(content)
    if share >= PADDED_WITHOUT_CUE:
        return True
    return share >= PADDED_WITH_CUE and next(_cues().find(draft, sentence.first, sentence.last), None) is not None


def _said(draft: Text, sentence: Sentence) -> frozenset[str]:
    """What a sentence says, as a set: its content words, figures and negations."""
    words = draft.words[sentence.first : sentence.last]
    return frozenset(w.stem for w in words if w.content or w.lower in _negation())


def _is_same(said: frozenset[str], earlier: frozenset[str]) -> bool:
    """Whether two sentences share nearly all their words, and all their figures and negations."""
    common = len(said & earlier)
    if common < SAME * max(len(said), len(earlier)):
        return False
    return not any(word[0].isdigit() or word in _negation() for word in said ^ earlier)

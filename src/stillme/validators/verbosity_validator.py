"""VerbosityValidator: the answer is not buried in hedges, disclaimers, announcements and repetitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, NamedTuple

from pydantic import Field

from stillme.evidence.lexicon import Lexicon
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text, fold, word_of
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["VerbosityValidator"]

PADDED_WITH_CUE: Final = 0.65
PADDED_WITHOUT_CUE: Final = 0.85
CORE_WITHOUT_CUE: Final = 0.6
SAME: Final = 0.8
MIN_REPEATED_WORDS: Final = 4
REMEMBERED: Final = 12


@cache
def _cues() -> Lexicon:
    return Lexicon({"cues": load("padding")["cues"]})


class _Vocabulary(NamedTuple):
    """Stems of the words that padding is made of: what only padding speaks of, and everything it uses."""

    core: frozenset[str]
    every: frozenset[str]


@cache
def _vocabulary(folded: bool) -> _Vocabulary:
    core, filler = (" ".join(load("padding")[name].values()).split() for name in ("core", "filler"))
    spell = fold if folded else str
    stems = [frozenset(word_of(spell(word)).stem for word in words) for words in (core, [*core, *filler])]
    return _Vocabulary(*stems)


@cache
def _negation() -> frozenset[str]:
    return frozenset(str(load("padding")["negation"]).split())


@dataclass(frozen=True, slots=True)
class VerbosityValidator(Observer):
    """At most `max_ratio` of a draft of `min_words` words or more stands in sentences that only hedge or repeat."""

    name: ClassVar[str] = "VerbosityValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.OVERLY_VERBOSE: Gate.SOFT}

    max_ratio: Annotated[float, Field(ge=0, le=1)] = 0.5
    min_words: Annotated[int, Field(ge=0)] = 40

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
            f"{padded} of {words} words only hedge, announce or repeat",
            spans=[(s.start, s.end) for s in padding],
        )


def _padding(draft: Text, sentences: Sequence[Sentence], query: Text) -> Iterator[Sentence]:
    """The sentences that say nothing, or nothing new."""
    asked = {word.stem for word in query.words}
    seen: set[frozenset[str]] = set()
    latest: deque[frozenset[str]] = deque(maxlen=REMEMBERED)
    for sentence in sentences:
        if _is_empty(draft, sentence, asked):
            yield sentence
            continue
        said = _said(draft, sentence)
        if len(said) < MIN_REPEATED_WORDS:
            continue
        if said in seen or any(_adds_nothing(said, earlier) for earlier in latest):
            yield sentence
        seen.add(said)
        latest.append(said)


def _is_empty(draft: Text, sentence: Sentence, asked: set[str]) -> bool:
    """Whether a sentence is made of padding words: mostly, where it says so itself, else nearly all.

    What the question asks about is no padding.
    """
    content = [word for word in draft.words[sentence.first : sentence.last] if word.content]
    if not content or any(word.number for word in content):
        return False
    vocabulary = _vocabulary(not draft.accented)
    padding = [word.stem for word in content if word.stem in vocabulary.every and word.stem not in asked]
    share = len(padding) / len(content)
    if share < PADDED_WITH_CUE:
        return False
    core = sum(stem in vocabulary.core for stem in padding) / len(content)
    if share >= PADDED_WITHOUT_CUE and core >= CORE_WITHOUT_CUE:
        return True
    return next(_cues().find(draft, sentence.first, sentence.last), None) is not None


def _said(draft: Text, sentence: Sentence) -> frozenset[str]:
    """What a sentence says, as a set: its content words; figures, names and negations once more, behind a mark."""
    words = draft.words[sentence.first : sentence.last]
    exact = {f"={w.stem}" for w in words[1:] if w.number or w.capital or w.lower in _negation()}
    return frozenset({w.stem for w in words if w.content or w.capital} | exact)


def _adds_nothing(said: frozenset[str], earlier: frozenset[str]) -> bool:
    """Whether a sentence holds what an earlier one holds, but for a few words that are no figure, name or negation."""
    added = {word for word in said - earlier if word.removeprefix("=") not in earlier}
    if not added:
        return True
    return len(added) <= (1 - SAME) * len(said) and earlier <= said and not any(w.startswith("=") for w in added)

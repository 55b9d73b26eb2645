"""Which sentences of a draft only say again what an earlier one said: in the same words, in words that mean the same, or at length
what one sentence of a source says."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Judgement
from stillme.languages import word_set
from stillme.text.concepts import text_concepts
from stillme.text.tokens import Sentence, Text

__all__ = ["Repetitions", "stretched"]

SAME: Final = 0.8
MIN_REPEATED_WORDS: Final = 4
REMEMBERED: Final = 12
# So much longer than the sentence of the source may be what rests on it.
STRETCH: Final = 1.5


class _Said(NamedTuple):
    """What a sentence says: its content words, figures, names and negations once more behind a mark, and what they mean."""

    words: frozenset[str]
    meanings: tuple[frozenset[str | int], ...]
    exact: frozenset[str]
    """The figures, names and negations."""


class Repetitions:
    """The sentences of a draft, told one after another; each is compared with those before it."""

    def __init__(self, draft: Text, filler: frozenset[str]) -> None:
        self._draft = draft
        self._filler = filler
        self._seen: set[frozenset[str]] = set()
        self._latest: deque[_Said] = deque(maxlen=REMEMBERED)

    def says_again(self, sentence: Sentence) -> bool:
        """Whether the sentence adds nothing to one of the earlier ones; from now on it is one of them."""
        said = self._said(sentence)
        if len(said.words) < MIN_REPEATED_WORDS:
            return False
        again = said.words in self._seen or any(
            _adds_nothing(said.words, earlier.words) or self._means_nothing_new(said, earlier)
            for earlier in self._latest
            if said.exact <= earlier.words or not _names_more(said, earlier)
        )
        self._seen.add(said.words)
        self._latest.append(said)
        return again

    def _said(self, sentence: Sentence) -> _Said:
        words = self._draft.words[sentence.first : sentence.last]
        negation = word_set("padding", "negation")
        exact = frozenset({f"={w.stem}" for w in words[1:] if w.number or w.capital or w.lower in negation})
        ids = text_concepts(self._draft)[sentence.first : sentence.last]
        meanings: list[frozenset[str | int]] = [
            frozenset((w.stem, *found)) for w, found in zip(words, ids, strict=True) if w.content
        ]
        return _Said(exact.union({w.stem for w in words if w.content or w.capital}), tuple(meanings), exact)

    def _means_nothing_new(self, said: _Said, earlier: _Said) -> bool:
        """Whether each word means what a word of the earlier sentence means, or only fills; no figure, name or negation is new."""
        if said.exact - earlier.exact:
            return False
        known = frozenset[str | int]().union(*earlier.meanings)
        shared = [meaning for meaning in said.meanings if not known.isdisjoint(meaning)]
        new = [meaning for meaning in said.meanings if known.isdisjoint(meaning)]
        return len(shared) >= MIN_REPEATED_WORDS - 1 and all(not self._filler.isdisjoint(_stems(m)) for m in new)


def _names_more(said: _Said, earlier: _Said) -> bool:
    """Whether a figure, a name or a negation stands in no way in the earlier sentence: then something new is said."""
    return any(word[1:] not in earlier.words for word in said.exact - earlier.words)


def _stems(meaning: Iterable[str | int]) -> set[str]:
    return {part for part in meaning if isinstance(part, str)}


def _adds_nothing(said: frozenset[str], earlier: frozenset[str]) -> bool:
    """Whether a sentence holds what an earlier one holds, but for a few words that are no figure, name or negation."""
    added = {word for word in said - earlier if word.removeprefix("=") not in earlier}
    if not added:
        return True
    return len(added) <= (1 - SAME) * len(said) and earlier <= said and not any(w.startswith("=") for w in added)


def stretched(draft: Text, judged: Sequence[tuple[Claim, Judgement]], sources: Sequence[Text]) -> Iterator[Claim]:
    """The claims that rest on a sentence of a source whose length the claims before them have used up, and add no figure and no name."""
    groups: dict[tuple[int, int, int], list[Claim]] = {}
    for claim, judgement in judged:
        if judgement.supported and judgement.quote is not None:
            quote = judgement.quote
            groups.setdefault((quote.passage, quote.start, quote.end), []).append(claim)
    for (passage, start, end), claims in groups.items():
        yield from _beyond(draft, claims, STRETCH * _length(sources[passage], start, end))


def _beyond(draft: Text, claims: Sequence[Claim], most: float) -> Iterator[Claim]:
    used, known = 0, set[str]()
    for claim in claims:
        words = draft.words[claim.first : claim.last]
        length = sum(word.word for word in words)
        exact = {w.stem for w in words[1:] if w.number or w.capital}
        if used and used + length > most and exact <= known:
            yield claim
        used += length
        known |= exact


def _length(source: Text, start: int, end: int) -> int:
    return sum(word.word for word in source.words[source.token_at(start) : source.token_at(end)])

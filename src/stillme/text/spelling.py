"""Text typed without its accents, spelt as the sources spell it: 'gia ve' is read as 'giá vé' where they have it.

Only words that the sources have, negations and function words gain accents; whatever else was typed stays as it is and matches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from stillme.languages import compiled, has, is_served, languages, word_rules
from stillme.text.language import identify
from stillme.text.tokens import Text, fold

__all__ = ["respelt"]

LEAST_WORDS: Final = 3
# The share of a stretch that must be spelt like words of the sources: a language without accents is left alone.
LEAST_KNOWN: Final = 0.6
STOPS: Final = frozenset(".!?…;:")


@compiled
def _negations() -> frozenset[str]:
    rows = (str(each.rules("polarity").get("negation", "")) for each in languages() if has(each.code, "accents"))
    return frozenset(word for row in rows for word in row.split())


class _Spellings:
    """The words of the sources by how they look without accents, and which stands before which."""

    def __init__(self, sources: Sequence[Text]) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.rows: Counter[tuple[str, str]] = Counter()
        for text in sources:
            for word in text.words:
                if word.word:
                    self.counts.setdefault(word.folded, Counter())[word.lower] += 1
            self.rows.update((a, b) for a, b in pairwise(text.lowers))
        for spelling in (*sorted(_negations()), *sorted(word_rules().stop)):
            self.counts.setdefault(fold(spelling), Counter()).setdefault(spelling, 0)

    def best(self, folded: str, before: str) -> str:
        """The spelling that stands behind the word before it most often, else most often at all."""
        found = self.counts.get(folded)
        if found is None:
            return folded
        return max(found, key=lambda spelling: (self.rows[before, spelling], found[spelling]))


def respelt(text: Text, sources: Sequence[Text]) -> Text:
    """The text with accents where a stretch of it was typed without any and the sources have them; itself if there is none."""
    accented = [source for source in sources if source.accented]
    stretches = list(_stretches(text)) if accented else []
    if not stretches:
        return text
    spellings, tokens = _Spellings(accented), list(text.tokens)
    for stretch in stretches:
        known = [i for i in stretch if text.folded[i] in spellings.counts]
        if len(known) < LEAST_KNOWN * len(stretch) or _has_no_accents(text, stretch):
            continue
        before = ""
        for i in stretch:
            before = spellings.best(text.folded[i], before)
            if before != text.folded[i]:
                tokens[i] = before.capitalize() if text.words[i].capital else before
    return text.spelt(tokens) if tokens != text.tokens else text


def _has_no_accents(text: Text, stretch: Sequence[int]) -> bool:
    """Whether a stretch is in a language that has none to lose."""
    found = identify(Text(" ".join(text.tokens[i] for i in stretch)))
    return is_served(found) and not has(found, "accents")


def _stretches(text: Text) -> Iterator[list[int]]:
    """The words of each sentence or line, where none of them has an accent."""
    stretch: list[int] = []
    for i, word in enumerate((*text.words, None)):
        if word is not None and word.word:
            stretch.append(i)
        if word is None or word.text in STOPS or "\n" in text.gaps[i + 1]:
            if len(stretch) >= LEAST_WORDS and not any(text.words[k].accented for k in stretch):
                yield stretch
            stretch = []

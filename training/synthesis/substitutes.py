"""What texts of a language offer to go wrong with: words that fit a place, list items, closing clauses."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from training.text import WORD, Span

_LISTED = re.compile(r"(?<=, )([^\W\d_]{4,}(?: [^\W\d_]{3,})?),? (?:and|or|và|hoặc) ")
_CLAUSE = re.compile(
    r"[^\W\d_](,? (?:which|who|where|because|after|before|due to|thanks to|with|using|vì|do|nhờ|sau khi|trước khi|khi|bằng|với) "
    r"[^,.;:()\"]{12,70})(?=[.;])"
)
COMMON = 150
LEAST_LETTERS = {"en": 4, "vi": 2}


class Substitutes:
    """Knows, from texts of one language, which words can stand in the place of a word."""

    def __init__(self, texts: Iterable[str], lang: str, common: int = COMMON) -> None:
        self.lang = lang
        between: dict[tuple[str, str], set[str]] = defaultdict(set)
        counts: Counter[str] = Counter()
        items: set[str] = set()
        clauses: set[str] = set()
        for text in texts:
            found = [match.group() for match in WORD.finditer(text)]
            counts.update(found)
            for before, middle, after in self._places(found):
                between[before, after].add(middle)
            items.update(match.group(1) for match in _LISTED.finditer(text) if match.group(1).islower())
            clauses.update(match.group(1) for match in _CLAUSE.finditer(text))
        self._common = {word for word, _ in counts.most_common(common)}
        self._between = {key: frozenset(middles) for key, middles in between.items() if len(middles) > 1}
        self.items = tuple(sorted(items))
        self.clauses = tuple(sorted(clauses))

    def _places(self, found: list[str]) -> Iterator[tuple[str, str, str]]:
        for size in (1, 2) if self.lang == "vi" else (1,):
            for place in range(1, len(found) - size):
                middle = found[place : place + size]
                if all(word.islower() for word in middle):
                    yield found[place - 1].casefold(), " ".join(middle), found[place + size].casefold()

    def options(self, claim: str) -> list[tuple[Span, str]]:
        """The places of a claim where another word is known to fit, each with such a word."""
        found = list(WORD.finditer(claim))
        made: list[tuple[Span, str]] = []
        for size in (1, 2) if self.lang == "vi" else (1,):
            for place in range(1, len(found) - size):
                span = (found[place].start(), found[place + size - 1].end())
                old = claim[slice(*span)]
                if not self._is_content(old) or old.count(" ") != size - 1:
                    continue
                around = found[place - 1].group().casefold(), found[place + size].group().casefold()
                made += [(span, new) for new in sorted(self._between.get(around, ())) if self._differs(old, new)]
        return made

    def _is_content(self, text: str) -> bool:
        words = text.split(" ")
        least = LEAST_LETTERS[self.lang]
        known = sum(word in self._common for word in words)
        return text.islower() and all(len(word) >= least for word in words) and known < len(words)

    def _differs(self, old: str, new: str) -> bool:
        shared = set(old.split(" ")) & set(new.split(" "))
        return self._is_content(new) and not shared and old[:4] != new[:4]

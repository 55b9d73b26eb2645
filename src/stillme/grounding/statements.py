"""A text read for alignment: its sentences with the words, names, figures and cues that a claim is compared by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from stillme.figures.brackets import Bracket, find_brackets
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.grounding.asking import asks_in_vain
from stillme.languages import compiled, load, word_set
from stillme.lazy import lazy
from stillme.text.concepts import opposite_stems, text_concepts
from stillme.text.names import Name, find_names
from stillme.text.tokens import Sentence, Text, stem

__all__ = ["CLAUSE_MARKS", "Cues", "Reading", "Statement", "cues"]

NEGATION_REACH: Final = 5
FARTHEST_DENIED: Final = 12
# How far before a figure the negation of its bound may stand: 'may not drive faster than 30'.
BOUND_REACH: Final = 6
BOUND_WORDS: Final = 3
# How far behind the verb of saying that stands what is to be said.
SAYING_REACH: Final = 10
EMPHASIS: Final = frozenset("*_`")
NO_STEM: Final = frozenset({""})
PLAIN_MARKS: Final = frozenset(".,;:!?\"'“”‘’()[]*_`")
CLAUSE_MARKS: Final = frozenset(",;:.!?()")


class Cues:
    """The words and phrases of the rules of polarity, looked up by their first word."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}
        self._names: dict[str, list[str]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for name, row in load("polarity").items():
            entries = [tuple(entry.split("_")) for entry in row.split()]
            self._words[name] = frozenset(e[0] for e in entries if len(e) == 1)
            for entry in entries:
                if len(entry) == 1:
                    self._names.setdefault(entry[0], []).append(name)
                else:
                    self._phrases.setdefault(entry[0], []).append((entry, name))

    def words(self, name: str) -> frozenset[str]:
        """The single words of a list."""
        return self._words[name]

    def starts(self, name: str, lowers: Sequence[str]) -> bool:
        """Whether the tokens begin with a word or a phrase of two words of a list."""
        if not lowers:
            return False
        phrases = self._phrases.get(lowers[0], ())
        return lowers[0] in self._words[name] or any(n == name and tuple(lowers) == phrase for phrase, n in phrases)

    def among(self, lowers: Sequence[str]) -> frozenset[str]:
        """The names of the lists of which a word or phrase stands among the tokens."""
        found: set[str] = set()
        for i, lower in enumerate(lowers):
            if lower in self._names:
                found.update(self._names[lower])
            if lower in self._phrases:
                found.update(
                    name for phrase, name in self._phrases[lower] if tuple(lowers[i : i + len(phrase)]) == phrase
                )
        return frozenset(found)


@compiled
def cues() -> Cues:
    """The compiled cue words."""
    return Cues()


class Statement:
    """A token range read as one statement; everything is computed when first asked for."""

    def __init__(self, reading: Reading, sentence: Sentence) -> None:
        self.reading = reading
        self.sentence = sentence
        self.first, self.last = sentence.first, sentence.last

    @lazy
    def lowers(self) -> list[str]:
        """Its tokens in lower case."""
        return self.reading.text.lowers[self.first : self.last]

    @lazy
    def content(self) -> list[int]:
        """Indices of the tokens that carry content, figures included."""
        words, skipped = self.reading.text.words, self.reading.skipped
        found = [i for i in range(self.first, self.last) if words[i].content]
        return [i for i in found if i not in skipped] if skipped else found

    @lazy
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        if self.reading.skipped:
            words = self.reading.text.words
            return frozenset(words[i].stem for i in self.content)
        return frozenset(self.reading.text.stems[self.first : self.last]) - NO_STEM

    @lazy
    def every_stem(self) -> frozenset[str]:
        """The stems of all its words, stop words included."""
        return frozenset(w.stem for w in self.reading.text.words[self.first : self.last])

    @lazy
    def opposed(self) -> list[tuple[int, frozenset[str]]]:
        """Its words that have opposites, and the stems of those."""
        words, opposites = self.reading.text.words, opposite_stems()
        spoken = ((i, words[i]) for i in range(self.first, self.last) if words[i].word)
        found = ((i, opposites.get(word.stem) or opposites.get(word.lower)) for i, word in spoken)
        return [(i, against) for i, against in found if against]

    @lazy
    def opposed_pairs(self) -> dict[int, str]:
        """Where two words in a row have an opposite: 'at most'."""
        opposites, pairs = opposite_stems(), map(" ".join, pairwise(self.lowers))
        return {at: pair for at, pair in enumerate(pairs, self.first) if pair in opposites}

    @lazy
    def segments(self) -> list[int]:
        """For each of its tokens the number of the segment it stands in; commas and conjunctions part segments."""
        parts, number = [], 0
        for lower in self.lowers:
            if lower in CLAUSE_MARKS or lower in word_set("grammar", "segment_words"):
                number += 1
            parts.append(number)
        return parts

    @lazy
    def said_by_clause(self) -> dict[int, frozenset[str]]:
        """For each segment the stems of its content words."""
        return self._by_clause(self.content)

    @lazy
    def clauses(self) -> dict[int, frozenset[str]]:
        """For each segment the stems of its content words, without its figures."""
        return self._by_clause(i for i in self.content if i not in self.figured)

    def _by_clause(self, tokens: Iterable[int]) -> dict[int, frozenset[str]]:
        found: dict[int, set[str]] = {number: set() for number in self.segments}
        for i in tokens:
            found[self.segment(i)].add(self.reading.text.words[i].stem)
        return {number: frozenset(stems) for number, stems in found.items()}

    @lazy
    def dictates(self) -> str:
        """The stem of the verb by which it tells its reader what to say ('tell every customer that …'), '' if it does not."""
        lowers, opening = self.lowers, cues().words("request")
        at = next((n for n, lower in enumerate(lowers[:SAYING_REACH]) if lower not in opening), 0)
        if not cues().starts("saying", lowers[at : at + 2]):
            return ""
        said = lowers[at + 1 : at + SAYING_REACH]
        dictated = not cues().words("quoting").isdisjoint(said) and not self._is_labelled
        return stem(lowers[at]) if dictated else ""

    @lazy
    def asks_in_vain(self) -> bool:
        """Whether it asks for a yes or a no that does not stand behind it, and so says nothing."""
        if "?" not in self.reading.text.raw and "？" not in self.reading.text.raw:
            return False
        behind = (s.sentence for s in self.reading.statements if s.first >= self.last)
        return asks_in_vain(self.reading.text, self.sentence, next(behind, None))

    @property
    def _is_labelled(self) -> bool:
        """Whether its first word names what its line is, as in 'Answer: Yes', instead of asking anybody to say it."""
        plain = [lower for lower in self.lowers[:SAYING_REACH] if lower not in EMPHASIS]
        return ":" in plain[1:3] and cues().starts("labels", plain[: plain.index(":")])

    def segment(self, token: int) -> int:
        """The segment of one of its tokens."""
        return self.segments[token - self.first]

    @lazy
    def folded(self) -> frozenset[str]:
        """All its words without accents."""
        return without_possessives(self.reading.text.folded[self.first : self.last])

    @lazy
    def pairs(self) -> frozenset[str]:
        """Each two words in a row written as one: where a name that is written in one word is looked for."""
        return joined_pairs(self.reading.text.folded[self.first : self.last])

    @lazy
    def concepts(self) -> frozenset[int]:
        """The concepts its words stand for."""
        return frozenset(c for ids in self.reading.concepts[self.first : self.last] for c in ids)

    @lazy
    def names(self) -> list[Name]:
        """The names in it."""
        return find_names(self.reading.text, [self.sentence], self.reading.known_names)

    @lazy
    def named(self) -> frozenset[int]:
        """The tokens of its names."""
        return frozenset(i for name in self.names for i in range(name.first, name.last))

    @lazy
    def quantities(self) -> list[Quantity]:
        """The figures in it."""
        found = find_quantities(self.reading.text, self.reading.language, self.first, self.last)
        skipped = self.reading.skipped
        return [q for q in found if q.first not in skipped] if skipped else found

    @lazy
    def brackets(self) -> list[Bracket]:
        """The ranges of a figure that it states a rule for."""
        return find_brackets(self.quantities, self.reading.text.lowers, self.reading.language)

    @lazy
    def figured(self) -> frozenset[int]:
        """The tokens of its figures."""
        return frozenset(i for q in self.quantities for i in range(q.first, q.last))

    @lazy
    def line(self) -> str:
        """Its words in a row, in lower case, with a space before and behind each: where a copy is looked for."""
        words, skipped = self.reading.text.words, self.reading.skipped
        said = (i for i in range(self.first, self.last) if i not in skipped and words[i].text not in PLAIN_MARKS)
        return f" {' '.join(words[i].lower for i in said)} "

    @lazy
    def negations(self) -> list[tuple[int, int | None, frozenset[int]]]:
        """Each negation: its token, the first content token behind it, and the tokens it reaches."""
        found: list[tuple[int, int | None, frozenset[int]]] = []
        if not self.has("negation") and not self.has("excluding"):
            return found
        words, boundary = self.reading.text.words, cues().words("boundary")
        negative = cues().words("negation") | cues().words("excluding")
        for i in range(self.first, self.last):
            if words[i].lower not in negative or self._is_name(i):
                continue
            if i + 1 < self.last and words[i + 1].lower in word_set("grammar", "affirming"):  # 'not only … but also'
                continue
            if i in self._of_bounds:
                continue
            reach: list[int] = []
            for j in range(i + 1, min(i + 1 + NEGATION_REACH, self.last)):
                if words[j].text in CLAUSE_MARKS or (words[j].lower in boundary and reach):
                    break
                reach.append(j)
            head = next((j for j in reach if words[j].content), None)
            found.append((i, head, frozenset(reach)))
        return found

    def _is_name(self, i: int) -> bool:
        """Whether a word that could deny is a name, as 'Nothing' is: with a capital, but not stressed ('NOT') nor in a title."""
        word = self.reading.text.words[i]
        return word.capital and i > self.first and not word.upper and not self._is_title

    @lazy
    def _is_title(self) -> bool:
        """Whether most of its words have a capital."""
        spoken = [word for word in self.reading.text.words[self.first : self.last] if word.word]
        return 2 * sum(word.capital for word in spoken) > len(spoken)

    @lazy
    def _of_bounds(self) -> frozenset[int]:
        """Negations that belong to a figure: 'no more than five' denies nothing but the figures beyond."""
        negative, words = cues().words("negation"), self.reading.text.words
        found: set[int] = set()
        for q in self.quantities:
            if q.limit:
                near = range(q.first - 1, max(self.first, q.first - BOUND_REACH) - 1, -1)
                cue = next((i for i in near if words[i].lower in negative or words[i].text in CLAUSE_MARKS), None)
                found.update(i for i in (cue,) if i is not None)
        return frozenset(found)

    def denied_clauses(self, other: Statement, kind: str = "denying") -> frozenset[int]:
        """The segments in which a word that the other statement has not denies what is said: 'the fee is waived'."""
        if not self.has(kind):
            return frozenset()
        theirs, own = other.every_stem, cues().words(kind)
        words = self.reading.text.words[self.first : self.last]
        phrases = {each for each in pairwise(other.lowers) if kind in cues().among(list(each))}
        both = {n + k for n, (a, b) in enumerate(pairwise(words)) if (a.lower, b.lower) in phrases for k in (0, 1)}
        said: dict[int, list[str]] = {}
        for n, (word, number) in enumerate(zip(words, self.segments, strict=True)):
            shared = (word.lower in own and word.stem in theirs) or n in both  # 'out of' is a cue of two words
            said.setdefault(number, []).append("" if shared else word.lower)
        return frozenset(number for number, lowers in said.items() if kind in cues().among(lowers))

    @lazy
    def negations_by_clause(self) -> dict[int, list[int]]:
        """For each segment the tokens of its negations."""
        found: dict[int, list[int]] = {}
        for cue, _, _ in self.negations:
            found.setdefault(self.segment(cue), []).append(cue)
        return found

    @lazy
    def bounds(self) -> frozenset[int]:
        """The tokens beside its figures that say how they are bounded: 'not younger than' 18, 18 'or older'."""
        lowers, found = self.reading.text.lowers, set[int]()
        for q in self.quantities:
            if q.hedge:
                found.update(range(q.first - BOUND_WORDS, q.first))
                if q.last < self.last and lowers[q.last] in word_set("grammar", "bound_joints"):
                    found.update((q.last, q.last + 1))
        return frozenset(found)

    def denies(self, token: int) -> bool:
        """Whether a negation before the token may well reach it: nothing but commas and contrasts stops it."""
        words, denying = self.reading.text.words, self._negation_tokens
        for at in range(token, max(self.first, token - FARTHEST_DENIED) - 1, -1):
            if at in denying:
                return True
            if at != token and words[at].text in CLAUSE_MARKS:
                return False
        return False

    @lazy
    def _negation_tokens(self) -> frozenset[int]:
        return frozenset(cue for cue, _, _ in self.negations)

    @lazy
    def cues(self) -> frozenset[str]:
        """The names of the cue lists of which a word stands in it."""
        return cues().among(self.lowers)

    @lazy
    def periods(self) -> frozenset[str]:
        """The periods it speaks of: 'a month'."""
        each, period, lowers = cues().words("each"), cues().words("period"), self.lowers
        return frozenset(b.rstrip("s") for a, b in pairwise(lowers) if b.rstrip("s") in period and a in each)

    def has(self, cue: str) -> bool:
        """Whether a cue of the given list stands in it."""
        return cue in self.cues

    def holds_name(self, name: Name) -> bool:
        """Whether the name stands in it, in any spelling of accents and spaces, in any number."""
        if name.within(self.folded) or spelt_otherwise(name, self.folded, lambda: self.pairs):
            return True
        return all(part in self.folded or stem(part) in self.every_stem for part in name.parts)

    @property
    def refers_back(self) -> bool:
        """Whether it opens by speaking of what was named before it."""
        opening = self.lowers[:3]
        return not cues().words("anaphora").isdisjoint(opening)


class Reading:
    """A text read once: its statements and what they share; tokens in `skipped` are not part of what it says."""

    def __init__(
        self,
        text: Text,
        sentences: Sequence[Sentence],
        language: str,
        known_names: frozenset[str],
        skipped: frozenset[int] = frozenset(),
        settled: Sequence[Statement] = (),
    ) -> None:
        self.text = text
        self.language = language
        self.known_names = known_names
        self.skipped = skipped
        self.statements = [*settled, *(Statement(self, sentence) for sentence in sentences[len(settled) :])]
        for statement in settled:  # read in a text that this one begins with
            statement.reading = self

    @lazy
    def concepts(self) -> list[tuple[int, ...]]:
        """For each token the concepts it stands for."""
        return text_concepts(self.text)

    @lazy
    def quantities(self) -> list[Quantity]:
        """The figures of the whole text."""
        return [q for statement in self.statements for q in statement.quantities]

    @lazy
    def folded(self) -> frozenset[str]:
        """All words of the text without accents."""
        return without_possessives(self.text.folded)

    @lazy
    def pairs(self) -> frozenset[str]:
        """Each two words in a row written as one."""
        return joined_pairs(self.text.folded)

    def holds_name(self, name: Name) -> bool:
        """Whether the name stands anywhere in the text."""
        return name.within(self.folded) or spelt_otherwise(name, self.folded, lambda: self.pairs)


def without_possessives(folded: Sequence[str]) -> frozenset[str]:
    """The words as they are, and without the 's that some of them end with."""
    words = frozenset(folded)
    return words.union(w[:-2] for w in words if w.endswith("'s"))


def joined_pairs(folded: Sequence[str]) -> frozenset[str]:
    """Each two words in a row written as one."""
    return frozenset(a + b for a, b in pairwise(folded))


def spelt_otherwise(name: Name, words: frozenset[str], pairs: Callable[[], frozenset[str]]) -> bool:
    """Whether the name stands there with its spaces placed otherwise."""
    if len(name.parts) > 1:
        return name.joined in words
    return len(name.joined) >= 5 and name.joined in pairs()

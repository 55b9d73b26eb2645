"""Whose words a sentence is: the writer's own, somebody else's, a supposition, a question, a text asked for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from stillme.languages import compiled, load, word_set
from stillme.text.lexicon import Lexicon
from stillme.text.tokens import Sentence, Text, fold

__all__ = ["Phrases", "Voice", "phrases", "places_in", "spans_of", "text_is_for_user", "tokens_of"]

BLOCK_QUOTE: Final = re.compile(r"^>[^\n]*+", re.MULTILINE)
CLOSERS: Final = frozenset("\"”’»)]'*_`】!…. ")
STOPS: Final = frozenset(".!?…;")
COLON_OR_STOP: Final = STOPS | {":"}
CLAUSE_MARKS: Final = frozenset(",;:()–—-")
REACH: Final = 12


class Phrases:
    """Short phrases found by the token they end with."""

    __slots__ = ("_by_last",)

    def __init__(self, rows: Iterable[tuple[str, ...]]) -> None:
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        for row in rows:
            self._by_last.setdefault(row[-1], []).append(row)

    def ending(self, tokens: list[str], last: int) -> bool:
        """Whether a phrase ends with token `last`."""
        rows = self._by_last.get(tokens[last])
        return rows is not None and any(tuple(tokens[last + 1 - len(row) : last + 1]) == row for row in rows)


@dataclass(frozen=True, slots=True)
class _VoiceRules:
    speakers: Phrases
    others: Phrases
    affirming: Phrases
    attributing: Phrases
    joining: Phrases
    saying: Phrases
    own_labels: Phrases
    supposing: Phrases
    subjectless: Phrases
    courteous_condition: Phrases
    negation: Phrases
    clause_openers: Phrases


def phrases(row: str, *, folded: bool) -> Phrases:
    """The space-separated phrases of a row; `folded` for text that was typed without accents."""
    rows = [tuple(part.split("_")) for part in row.split()]
    return Phrases(tuple(map(fold, row)) for row in rows) if folded else Phrases(rows)


@compiled
def _rules(folded: bool) -> _VoiceRules:
    rules = load("voice")
    return _VoiceRules(**{name: phrases(rules[name], folded=folded) for name in _VoiceRules.__slots__})


@compiled
def _requests() -> Lexicon:
    rules = load("voice")
    return Lexicon({name: rules[name] for name in ("requests", "tellings", "about_the_assistant")}, rules["classes"])


def text_is_for_user(query: Text) -> bool:
    """Whether the user asks for a text (a poem, a letter, a translation): its first person is not the assistant."""
    found = _requests().names(query)
    return "requests" in found or ("tellings" in found and "about_the_assistant" not in found)


def tokens_of(text: Text) -> list[str]:
    """The tokens as rules are compared with them: in lower case, and without accents where the text has none."""
    return text.lowers if text.accented else text.folded


class _Place(Protocol):
    """Tokens `first` to `last` (exclusive) of a text."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...


def places_in(text: Text, places: Iterable[_Place]) -> list[tuple[int, int]]:
    """The character ranges of places in a text, as `spans_of` gives them."""
    return spans_of(text, ((place.first, place.last) for place in places))


def spans_of(text: Text, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The character ranges of token ranges, in order; those that overlap become one."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted(text.span(first, last) for first, last in ranges):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


class Voice:
    """One text, asked token by token whether the writer asserts what stands there."""

    __slots__ = ("_foreign", "_rules", "text", "tokens")

    def __init__(self, text: Text) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self._rules = _rules(not text.accented)
        self._foreign: list[tuple[int, int]] | None = None

    def asserts(self, sentence: Sentence, at: int) -> bool:
        """Whether token `at` stands in the writer's own words, outside questions and suppositions."""
        return not (
            self.quotes(at) or self.asks(sentence, at) or self.reports(sentence, at) or self.supposes(sentence, at)
        )

    def states(self, sentence: Sentence, at: int) -> bool:
        """Whether token `at` stands in a statement, outside quotations, questions and denials; it may report what others say."""
        return not (self.quotes(at) or self.asks(sentence, at) or self.denies(sentence, at))

    def quotes(self, at: int) -> bool:
        """Whether the token stands in quotation marks, in a block quote or in code."""
        if self.text.quoted[at]:
            return True
        if self._foreign is None:
            self._foreign = sorted(_foreign_ranges(self.text))
        start = self.text.starts[at]
        before = bisect_right(self._foreign, (start, len(self.text.raw))) - 1
        return before >= 0 and start < self._foreign[before][1]

    def asks(self, sentence: Sentence, at: int) -> bool:
        """Whether the sentence ends in a question mark and the token stands in its last clause."""
        last = sentence.last - 1
        while last > sentence.first and self.tokens[last] in CLOSERS:
            last -= 1
        if self.tokens[last] not in "?？" or last - at > REACH:
            return False
        return "," not in self.tokens[at:last]

    def reports(self, sentence: Sentence, at: int) -> bool:
        """Whether somebody else is made to say, think or ask what begins at the token."""
        return self._attributed(sentence, at) or self._after_colon(at) or self._said_afterwards(sentence, at)

    def supposes(self, sentence: Sentence, at: int) -> bool:
        """Whether a supposition about the speaker stands before the token, or governs it."""
        tokens, before = self.tokens, range(max(sentence.first, at - 3 * REACH), at)
        if any(self._rules.supposing.ending(tokens, i) and self._about_speaker(i, sentence.last) for i in before):
            return True
        opening, *behind = tokens[sentence.first : sentence.first + 2]
        return opening in word_set("voice", "conditional_verbs") and behind == ["i"]

    def _about_speaker(self, i: int, last: int) -> bool:
        """Whether what is supposed from token i on is said of the speaker, and not for politeness ('if I may')."""
        if self._rules.subjectless.ending(self.tokens, min(i + 1, last - 1)):
            return True
        speaker = self._speaker_behind(i, last)
        polite, behind = self._rules.courteous_condition, range(speaker + 1, min(speaker + 3, last))
        return speaker > 0 and not any(polite.ending(self.tokens, j) for j in behind)

    def denies(self, sentence: Sentence, at: int) -> bool:
        """Whether a negation in the same clause stands before the token."""
        tokens, negation = self.tokens, self._rules.negation
        for i in range(at - 1, max(sentence.first, at - REACH) - 1, -1):
            if self._opens_clause(i, at):
                return False
            if negation.ending(tokens, i) and not self._rules.affirming.ending(tokens, i + 1):
                return True
        return False

    def negates(self, at: int) -> bool:
        """Whether the token itself is a negation."""
        return self._rules.negation.ending(self.tokens, at)

    def _speaks(self, at: int) -> bool:
        return self._rules.speakers.ending(self.tokens, at)

    def _opens_clause(self, i: int, at: int) -> bool:
        token = self.tokens[i]
        if token in CLAUSE_MARKS or token in STOPS:
            return True
        return self._rules.clause_openers.ending(self.tokens, i) and (
            i == at - 1 or token not in word_set("voice", "joining_clauses")
        )

    def _speaker_behind(self, i: int, last: int) -> int:
        """The place of a first person within three tokens of token i, in the same clause; 0 if there is none."""
        for j in range(i + 1, min(i + 4, last)):
            if self.tokens[j] in CLAUSE_MARKS:
                return 0
            if self._speaks(j):
                return j
        return 0

    def _attributed(self, sentence: Sentence, at: int) -> bool:
        """'People think that I …', but not 'I think that I …'."""
        tokens, rules = self.tokens, self._rules
        i = at - 1
        while i > sentence.first and rules.joining.ending(tokens, i):
            i -= 1
        if i < sentence.first or not rules.attributing.ending(tokens, i):
            return self._according_to(sentence, at)
        return not any(self._speaks(j) for j in range(max(sentence.first, i - 4), i))

    def _according_to(self, sentence: Sentence, at: int) -> bool:
        """'According to Olsen, I …': the attribution stands right before the token."""
        tokens = self.tokens
        if at - 1 <= sentence.first or tokens[at - 1] not in (",", ":"):
            return False
        first = max(sentence.first, at - REACH)
        attributions = [i for i in range(first, at - 1) if tokens[i] in word_set("voice", "according")]
        return any(not self._speaks(i + 1) and "," not in tokens[i : at - 1] for i in attributions)

    def _after_colon(self, at: int) -> bool:
        """'She said: I …', 'For example: I …', 'Olsen: I …'."""
        colon = at - 1
        while colon > 0 and at - colon <= REACH and self.tokens[colon] not in COLON_OR_STOP:
            colon -= 1
        if colon <= 0 or self.tokens[colon] != ":":
            return False
        return self._says_before(colon) or self._is_label(colon)

    def _says_before(self, colon: int) -> bool:
        """Whether a verb of saying leads up to a colon."""
        return any(self._rules.saying.ending(self.tokens, i) for i in range(max(0, colon - 6), colon))

    def _is_label(self, colon: int) -> bool:
        """Whether a line begins with the name of another speaker and a colon."""
        words, gaps, label = self.text.words, self.text.gaps, colon - 1
        while label > 0 and words[label].capital and "\n" not in gaps[label]:
            label -= 1
        at_line_start = label == 0 or "\n" in gaps[label]
        return at_line_start and words[label].capital and not self._rules.own_labels.ending(self.tokens, colon - 1)

    def _said_afterwards(self, sentence: Sentence, at: int) -> bool:
        """'I felt joy, she said': a verb of saying with another speaker closes the sentence."""
        places = range(max(at, sentence.last - REACH), sentence.last - 2)
        commas = [i for i in places if self.tokens[i] == ","]
        return any(self._names_speaker(range(comma + 1, min(comma + 5, sentence.last))) for comma in commas)

    def _names_speaker(self, behind: range) -> bool:
        """Whether the words behind a comma say that another speaker said it."""
        tokens, words = self.tokens, self.text.words
        if any(map(self._speaks, behind)):
            return False
        says = any(self._rules.saying.ending(tokens, i) for i in behind)
        by_another = says and any(self._rules.others.ending(tokens, i) or words[i].capital for i in behind)
        return by_another or tokens[behind[0]] == "according"


def _foreign_ranges(text: Text) -> Iterator[tuple[int, int]]:
    """Character ranges of code, of block quotes, and of what stands between straight single quotation marks."""
    yield from text.code
    if text.raw.startswith(">") or "\n>" in text.raw:
        for match in BLOCK_QUOTE.finditer(text.raw):
            yield match.span()
    opened = -1
    for i, word in enumerate(text.words):
        if word.text != "'":
            continue
        glued_before = i > 0 and not text.gaps[i]
        if opened >= 0 and glued_before:
            yield text.starts[opened], text.ends[i]
            opened = -1
        elif not glued_before:
            opened = i

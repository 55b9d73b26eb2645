"""Which language a question asks to be answered in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stillme.languages import compiled, is_served, languages, load
from stillme.questions.need import opens_request
from stillme.text.lexicon import SENTENCE_ENDS, Lexicon, Match
from stillme.text.tokens import Text, fold

__all__ = ["requested_language"]

PHRASE_LISTS: Final = ("verbs", "telling", "direct", "wanted", "words_asked")
# Each mention is read with the tokens around it: two bounds, beyond what people write, keep the time linear.
MENTIONS: Final = 8
REACH: Final = 100
CLAUSE_STARTS: Final = frozenset(".,;:(–—-")
WORD_LISTS: Final = ("before", "moves", "qualifiers", "after", "polite", "held")


@dataclass(frozen=True, slots=True)
class _AnswerRules:
    """The words around a request for the answer's language; each set holds its words with and without accents."""

    phrases: Lexicon
    named: frozenset[str]
    before: frozenset[str]
    moves: frozenset[str]
    qualifiers: frozenset[str]
    after: frozenset[str]
    polite: frozenset[str]
    held: frozenset[str]


@compiled
def _answer_rules() -> _AnswerRules:
    rules = load("language")["answer_language"]
    sets = {name: frozenset(f"{rules[name]} {fold(rules[name])}".split()) for name in WORD_LISTS}
    called = {each.code: each.rules("language").get("called", ()) for each in languages()}
    named = frozenset(word for names in called.values() for name in names for word in fold(name).split())
    return _AnswerRules(Lexicon({**called, **{name: rules[name] for name in PHRASE_LISTS}}), named, **sets)


def requested_language(query: Text) -> str | None:
    """The code of the language that a query asks to be answered in, or None if it asks for none."""
    if _answer_rules().named.isdisjoint(query.folded):
        return None
    matches = list(_answer_rules().phrases.find(query))
    named = [match for match in matches if is_served(match.name)]
    for name in named[:MENTIONS]:
        first, last = _sentence(query, name)
        inside = [match for match in matches if first <= match.first and match.last <= last]
        if _Mention(query, first, name, inside).asks():
            return name.name
    return None


def _sentence(text: Text, match: Match) -> tuple[int, int]:
    """The token range of the sentence around a match, or of what is near it."""
    gaps, tokens = text.gaps, text.lowers
    first, last = match.first, match.last
    start, end = max(0, first - REACH), min(len(tokens), last + REACH)
    while first > start and "\n" not in gaps[first] and tokens[first - 1] not in SENTENCE_ENDS:
        first -= 1
    while last < end and "\n" not in gaps[last] and tokens[last] not in SENTENCE_ENDS:
        last += 1
    return first, last


@dataclass(frozen=True, slots=True)
class _Mention:
    """The name of a language in a sentence that begins at token `first` and has these matches."""

    query: Text
    first: int
    name: Match
    matches: list[Match]

    def asks(self) -> bool:
        """Whether this is the language to answer in."""
        rules, following = _answer_rules(), self._following()
        if following[:1].isalpha() and following not in rules.after:
            return False
        at = self.name.first
        while at > self.first and self.query.lowers[at - 1] in rules.qualifiers:
            at -= 1
        if at == self.first:
            return following in rules.polite
        if self._is_preposition(at - 1):
            return self._asks_after(at - 1, following)
        direct = [match for match in self.matches if match.name == "direct" and match.last == at]
        return following != "?" and any(map(self._requested, direct))

    def _is_preposition(self, at: int) -> bool:
        """Whether 'in' stands there, or a 'to' behind a verb that moves a text into a language."""
        rules, here = _answer_rules(), self.query.lowers[at]
        return here in rules.before or (here == "to" and self.query.has_any(rules.moves, self.first, at))

    def _following(self) -> str:
        """The token after the name, or after the comma that separates it from "please"."""
        rest = [*self.query.lowers[self.name.last : self.name.last + 2], ".", "."]
        return rest[1] if rest[0] == "," and rest[1] in _answer_rules().polite else rest[0]

    def _asks_after(self, preposition: int, following: str) -> bool:
        """Whether "in English", whose preposition stands there, speaks of the answer."""
        rules = _answer_rules()
        before = self.query.lowers[preposition - 1] if preposition > self.first else "."
        if before in rules.held:
            return False
        if self._is_requested("verbs", preposition):
            return True
        names = {match.name for match in self.matches}
        if "words_asked" in names:
            return False
        if "wanted" in names or following in rules.polite or self._is_requested("telling", preposition):
            return True
        return before in CLAUSE_STARTS and not following[:1].isalpha() and following != ","

    def _is_requested(self, name: str, before: int) -> bool:
        """Whether a verb of a list opens a request before a token."""
        return any(self._requested(match) for match in self.matches if match.name == name and match.last <= before)

    def _requested(self, verb: Match) -> bool:
        return opens_request(self.query, self.first, verb.first)

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
        rules, tokens = _answer_rules(), self.query.lowers
        following = self._following()
        if following[:1].isalpha() and following not in rules.after:
            return False
        at = self.name.first
        while at > self.first and tokens[at - 1] in rules.qualifiers:
            at -= 1
        if at == self.first:
            return following in rules.polite
        if tokens[at - 1] in rules.before or (
            tokens[at - 1] == "to" and not rules.moves.isdisjoint(tokens[self.first : at - 1])
        ):
            return self._asks_after(at - 1, following)
        return following != "?" and any(self._requested(m) for m in self.matches if m.name == "direct" and m.last == at)

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
        if any(self._requested(m) for m in self.matches if m.name == "verbs" and m.last <= preposition):
            return True
        names = {match.name for match in self.matches}
        if "words_asked" in names:
            return False
        alone = before in CLAUSE_STARTS and not following[:1].isalpha() and following != ","
        told = any(self._requested(m) for m in self.matches if m.name == "telling" and m.last <= preposition)
        return alone or told or following in rules.polite or "wanted" in names

    def _requested(self, verb: Match) -> bool:
        return opens_request(self.query, self.first, verb.first)

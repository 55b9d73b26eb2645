"""Which questions are philosophical: of philosophy itself, not about a philosopher, a book or a document."""

from __future__ import annotations

from stillme.languages import compiled, load, word_set
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Text

__all__ = ["is_philosophical", "needs_no_source"]


@compiled
def _questions() -> Lexicon:
    rules = load("philosophy")
    return Lexicon(rules["questions"], rules["classes"])


def is_philosophical(query: Text) -> bool:
    """Whether the question is one of philosophy itself, not one about a philosopher, a book or a document."""
    matches = list(_questions().find(query))
    names = {match.name for match in matches}
    if "factual" in names or any(match.name == "about_views" and _names_thinker(query, match) for match in matches):
        return False
    return "philosophical" in names or any(match.name == "bare" and _is_bare(query, match) for match in matches)


def _is_bare(query: Text, match: Match) -> bool:
    return match.last >= len(query) or query.lowers[match.last] in word_set("philosophy", "endings")


def _names_thinker(query: Text, views: Match) -> bool:
    """Whether a name stands in the question (at its start only before the verb), or a document is asked about."""
    known = word_set("philosophy", "not_thinkers")
    opening = 0 if views.first == 1 and not query.words[0].stop else 1
    named = any(w.capital and not w.upper and w.lower not in known for w in query.words[opening:])
    return named or any(w.lower in word_set("philosophy", "documents") for w in query.words)


def needs_no_source(query: Text) -> bool:
    """Whether a philosophical question asks for no fact besides: it names nothing, counts nothing and means no document or product."""
    told = any(word.number or word.lower in word_set("philosophy", "told") for word in query.words) or any(query.quoted)
    if told or not is_philosophical(query):
        return False
    known = word_set("philosophy", "not_thinkers")
    named = any(w.capital and w.lower not in known and not _opens(query, i) for i, w in enumerate(query.words))
    return not named and word_set("philosophy", "documents").isdisjoint(query.lowers) and not _is_compound(query)


def _opens(query: Text, i: int) -> bool:
    return i == 0 or not query.words[i - 1].word


def _is_compound(query: Text) -> bool:
    """Whether what matched goes on as the name of a thing: the meaning of life insurance."""
    ends = {m.last for m in _questions().find(query) if m.name == "philosophical"}
    follows = [query.lowers[end] for end in ends if end < len(query)]
    return not word_set("philosophy", "compounds").isdisjoint(follows)

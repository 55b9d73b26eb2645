"""Which questions are philosophical: of philosophy itself, not about a philosopher, a book or a document."""

from __future__ import annotations

from stillme.languages import compiled, load, word_set
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Text, Word

__all__ = ["is_philosophical", "needs_no_source"]


@compiled
def _questions() -> Lexicon:
    rules = load("philosophy")
    return Lexicon(rules["questions"], rules["classes"])


def is_philosophical(query: Text) -> bool:
    """Whether the question is one of philosophy itself, not one about a philosopher, a book or a document."""
    matches: dict[str, list[Match]] = {}
    for match in _questions().find(query):
        matches.setdefault(match.name, []).append(match)
    if "factual" in matches or any(_names_thinker(query, views) for views in matches.get("about_views", ())):
        return False
    return "philosophical" in matches or any(_is_bare(query, bare) for bare in matches.get("bare", ()))


def _is_bare(query: Text, match: Match) -> bool:
    return match.last >= len(query) or query.lowers[match.last] in word_set("philosophy", "endings")


def _names_thinker(query: Text, views: Match) -> bool:
    """Whether a name stands in the question (at its start only before the verb), or a document is asked about."""
    opening = 0 if views.first == 1 and not query.words[0].stop else 1
    named = any(_may_name(word) and not word.upper for word in query.words[opening:])
    return named or query.has_any(word_set("philosophy", "documents"))


def _may_name(word: Word) -> bool:
    """Whether a word has the capital of a name, and is none that is known to be something else."""
    return word.capital and word.lower not in word_set("philosophy", "not_thinkers")


def needs_no_source(query: Text) -> bool:
    """Whether a philosophical question asks for no fact besides: it names nothing, counts nothing and means no document or product."""
    told = word_set("philosophy", "told") | word_set("philosophy", "documents")
    if query.has_figure() or query.has_any(told) or any(query.quoted):
        return False
    return is_philosophical(query) and not _names_anything(query) and not _is_compound(query)


def _names_anything(query: Text) -> bool:
    """Whether a capital inside a clause may be that of a name."""
    return any(_may_name(word) and not _opens(query, i) for i, word in enumerate(query.words))


def _opens(query: Text, i: int) -> bool:
    return i == 0 or not query.words[i - 1].word


def _is_compound(query: Text) -> bool:
    """Whether what matched goes on as the name of a thing: the meaning of life insurance."""
    ends = {m.last for m in _questions().find(query) if m.name == "philosophical"}
    follows = [query.lowers[end] for end in ends if end < len(query)]
    return not word_set("philosophy", "compounds").isdisjoint(follows)

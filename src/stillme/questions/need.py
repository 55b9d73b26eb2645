"""What a question asks for: facts, which need a source, or something that needs none; and whether it asks for sources.

Anything that is not plainly something else asks for facts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Final

from stillme.conduct.philosophy import needs_no_source
from stillme.figures.arithmetic import sum_of
from stillme.languages import compiled, is_served, language_of, languages, load, word_set
from stillme.text.lexicon import SENTENCE_ENDS, Lexicon, Match
from stillme.text.tokens import Text, fold

__all__ = ["Need", "need_of", "opens_request"]

FACTS: Final = "facts"
GREETING: Final = "greeting"
THANKS: Final = "thanks"
CREATIVE: Final = "creative"
OPINION: Final = "opinion"
ASSISTANT: Final = "assistant"
REWRITE: Final = "rewrite"
CODE: Final = "code"
CHITCHAT: Final = "chitchat"
ARITHMETIC: Final = "arithmetic"
PHILOSOPHY: Final = "philosophy"
REQUESTS: Final = frozenset({CODE, CREATIVE, OPINION, ASSISTANT, ARITHMETIC, PHILOSOPHY})
STATEMENT: Final = "statement"  # of one sentence: it neither asks nor is any of the other kinds

SMALL_TALK: Final = {"greeting": GREETING, "thanks": THANKS, "acknowledgement": CHITCHAT, "closing": CHITCHAT}
TALK: Final = {
    "assistant": ASSISTANT,
    "assistant_whole": ASSISTANT,
    "opinion": OPINION,
    "opinion_whole": OPINION,
    "chitchat": CHITCHAT,
    "chitchat_whole": CHITCHAT,
    "advice": OPINION,
    "taste": OPINION,
}
TALKING: Final = tuple(name for name in TALK if name not in ("advice", "taste"))
# A question of fact that one of these dresses up is still one of fact.
DRESSING: Final = (OPINION, CHITCHAT)
MUST_END: Final = ("assistant_whole", "opinion_whole", "chitchat_whole", "advice")
ADVICE: Final = ("advice", "trouble")
WORK: Final = (
    "rewrites", "shortens", "edits", "texts", "makes", "wishes", "art", "mail", "program", "informing", "how_to",
)  # fmt: skip
REWRITING: Final = ("rewrites", "shortens", "edits")
MAKING: Final = ("makes", "wishes")
MADE: Final = ("art", "mail", "program")
WORDS: Final = (
    "openers", "user", "addressed", "fillers", "thanked_for", "given", "code_work", "definite", "about", "about_later",
    "address", "unaccented_you", "before_you", "tails", "moods", "advice_words", "advice_joins",
    "trouble_ends", "question_words", "question_particles",
    "source_words", "source_after",
    "source_of", "source_refused", "tasted", "judging",
)  # fmt: skip
QUOTATION_MARKS: Final = frozenset("\"'“”‘’«»")
# How far what is made may stand from its verb: "write a short, funny and slightly rude birthday poem".
OBJECT_REACH: Final = 12
GIVEN_REACH: Final = 8
ASKED_REACH: Final = 5
REFUSED_REACH: Final = 3
# Bounds that no written request meets, so that time stays linear in what is not one.
OPENER_REACH: Final = 12
VERBS_TRIED: Final = 8

_first = attrgetter("first")


@dataclass(frozen=True, slots=True)
class Need:
    """What a query asks for."""

    asks_sources: bool
    asks_facts: bool
    kind: str

    @property
    def source_required(self) -> bool:
        """Whether the answer needs a source to stand on."""
        return self.asks_sources or self.asks_facts


def need_of(query: Text) -> Need:
    """What a query asks for: its kind, whether that means facts, and whether it asks for sources."""
    kind = _kind(query)
    return Need(asks_sources=_asks_sources(query), asks_facts=kind == FACTS, kind=kind)


@compiled
def _lexicon(*names: str) -> Lexicon:
    rules = load("need")
    return Lexicon({name: [option for phrase in rules[name] for option in _options(phrase)] for name in names})


def _options(phrase: str) -> list[str]:
    """The phrase, or its alternatives where it is but one slot: matching then tries only those that fit."""
    return [phrase] if " " in phrase else phrase.split("|")


@compiled
def _source_phrases() -> Lexicon:
    rules = load("need")["sources"]
    named = {each.code: each.rules("need").get("sources", {}).get("named", ()) for each in languages()}
    return Lexicon({**named, "cite": rules["cite"], "where_from": rules["where_from"]})


@compiled
def _source_words(code: str, name: str) -> frozenset[str]:
    """What stands around a word for a source in one language, with and without accents; nothing where it does not say."""
    row = str(language_of(code).rules("need").get(name, ""))
    return frozenset(f"{row} {fold(row)}".split())


@compiled
def _words() -> dict[str, frozenset[str]]:
    """The word lists, each word with and without its accents."""
    rules = load("need")
    return {name: frozenset(f"{rules[name]} {fold(rules[name])}".split()) for name in WORDS}


@compiled
def _heads(*names: str) -> frozenset[str]:
    """The words that the phrases of some lists begin with, with and without accents."""
    rules = load("need")
    first_slots = [phrase.split()[0] for name in names for phrase in rules[name]]
    heads = {option.partition("_")[0] for slot in first_slots for option in slot.split("|")}
    return frozenset(heads) | frozenset(map(fold, heads))


def opens_request(query: Text, first: int, at: int, *, wish: bool = False) -> bool:
    """Whether the verb at token `at` opens a request: before it, in its clause, stands only what leads up to one.

    "Could you write", but not "should I write"; with `wish` also "I want".
    """
    words, tokens = _words(), query.lowers
    start = at
    while start > max(first, at - OPENER_REACH) and tokens[start - 1] in words["openers"]:
        start -= 1
    if start > first and not _begins_clause(tokens, first, start):
        return False
    before = tokens[start:at]
    return wish or words["user"].isdisjoint(before) or not words["addressed"].isdisjoint(before)


def _begins_clause(tokens: list[str], first: int, at: int) -> bool:
    """Whether a clause begins at token `at`: after a mark, but not after a quotation, unless all of it is quoted."""
    before = tokens[at - 1]
    return not before[:1].isalnum() and (at - 1 == first or before not in QUOTATION_MARKS)


def _kind(query: Text) -> str:
    """The kind of the whole query: a question of any sentence decides, then a request, then anything stated."""
    if query.code and not _words()["code_work"].isdisjoint(query.lowers):
        return CODE
    matches = _find(query)
    if not matches and not _may_need_none(query):
        return CHITCHAT if query.blank else FACTS
    kinds: list[str] = []
    for kind in _kinds(query, matches):
        if kind in (FACTS, REWRITE):  # after "translate this:" comes the text itself
            return kind
        kinds.append(kind)
    request = next(filter(REQUESTS.__contains__, kinds), None)
    return request or (FACTS if STATEMENT in kinds else kinds[0])


def _kinds(query: Text, matches: Sequence[Match]) -> Iterator[str]:
    """The kind of each sentence, worked out when it is asked for."""
    starts = [match.first for match in matches]
    for first, last in _sentences(query):
        inside = matches[bisect_left(starts, first) : bisect_left(starts, last)]
        yield _Sentence(query, first, last, list(inside)).kind()


def _may_need_none(query: Text) -> bool:
    """Whether the query may be a sum or one of philosophy, which no phrase shows."""
    return query.has_figure() or needs_no_source(query) or sum_of(query) is not None


def _find(query: Text) -> list[Match]:
    """The phrases that may show another kind than facts; each group is looked for only where a word of it is there."""
    tokens, words = query.lowers, _words()

    def has(some: frozenset[str]) -> bool:
        return not some.isdisjoint(tokens)

    matches: list[Match] = []
    if has(_heads(*REWRITING)) or (has(_heads(*MADE)) and has(_heads(*MAKING))):
        matches += _lexicon(*WORK).find(query)
    if has(words["address"]) or has(words["moods"]):
        matches += _lexicon(*TALKING).find(query)
    if has(words["tasted"]):
        matches += _lexicon("taste").find(query)
    if has(words["advice_words"]) and has(_heads("trouble")):
        matches += _advice(query)
    if matches or _begins_with_small_talk(tokens):
        matches += _lexicon(*SMALL_TALK).find(query)
    return sorted(matches, key=_first)


def _begins_with_small_talk(tokens: Sequence[str]) -> bool:
    """Whether the first word is one of small talk: behind something else it changes nothing."""
    first = next((token for token in tokens if token[:1].isalpha()), "")
    return first in _heads(*SMALL_TALK)


def _advice(query: Text) -> list[Match]:
    """The questions for advice, if the query tells of a trouble of the user's own that ends its clause."""
    words, tokens = _words(), query.lowers
    found = list(_lexicon(*ADVICE).find(query))
    questions = [m for m in found if m.name == "advice"]
    begun = {len(tokens), *(m.first for m in questions)}
    troubles = {
        m.first: m.last for m in found if m.name == "trouble" and (m.last in begun or _ends_trouble(tokens[m.last]))
    }
    if not troubles:
        return []
    # "What should I do when my boss is rude?": the trouble belongs to the question.
    joined = [m.last + query.has_any(words["advice_joins"], m.last, m.last + 1) for m in questions]
    return [m._replace(last=troubles.get(at, m.last)) for m, at in zip(questions, joined, strict=True)]


def _ends_trouble(token: str) -> bool:
    """Whether what a user tells of a trouble is complete before a token."""
    return not token[:1].isalnum() or token in _words()["trouble_ends"]


def _sentences(query: Text) -> Iterator[tuple[int, int]]:
    """The token ranges of the sentences that hold a word or a number, without the marks that end them."""
    return (part for part in _parts(query) if any(word.word or word.number for word in query.words[slice(*part)]))


def _parts(query: Text) -> Iterator[tuple[int, int]]:
    """The token ranges between line breaks and marks that end a sentence."""
    first = 0
    for i, word in enumerate(query.words):
        if "\n" in query.gaps[i]:
            yield first, i
            first = i
        if word.text in SENTENCE_ENDS:
            yield first, i
            first = i + 1
    yield first, len(query)


def _fills(token: str) -> bool:
    """Whether a token only stands between small talk and what comes then."""
    return token in _words()["fillers"] or not token[:1].isalnum()


@dataclass(slots=True)
class _Sentence:
    """One sentence of the query, tokens `first` to `last`, with the phrases found in it."""

    query: Text
    first: int
    last: int
    matches: list[Match]

    def kind(self) -> str:
        """What the sentence asks for."""
        small = self._skip_small_talk()
        if small and self.first >= self.last:
            return small
        if self._is_sum():
            return ARITHMETIC
        kind = self._rewriting() or self._making() or self._talking()
        if kind == REWRITE:
            return kind
        if kind in (None, *DRESSING) and needs_no_source(self._text()):
            return PHILOSOPHY
        if kind is None:
            return FACTS if self._asks() else STATEMENT
        if kind in DRESSING and self._asks_fact():
            return FACTS
        second = _lexicon("also_asks").first(self.query, "also_asks", self.first, self.last)
        return FACTS if second else kind

    def _text(self) -> Text:
        return Text(self.query.slice(self.first, min(self.last + 1, len(self.query))))

    def _is_sum(self) -> bool:
        return sum_of(self.query, self.first, self.last) is not None

    def _asks_fact(self) -> bool:
        """Whether it asks for a fact in the dress of an opinion: when, how many, who is; unless that is to be judged."""
        cores = _lexicon("fact_core").find(self.query, self.first, self.last)
        judged = not _words()["judging"].isdisjoint(self.query.lowers[self.first : self.last])
        return not judged and next(cores, None) is not None

    def _skip_small_talk(self) -> str | None:
        """Move past greetings, thanks and the like at the start; the kind of the first of them."""
        small = {m.first: m for m in sorted(self.matches, key=lambda m: m.last) if m.name in SMALL_TALK}
        if self.first not in small:
            return None
        found = SMALL_TALK[small[self.first].name]
        at = self._small_talk_end(found, {first: match.last for first, match in small.items()})
        self.first = self.last if self._is_name(at) else at
        return found

    def _small_talk_end(self, kind: str, ends: Mapping[int, int]) -> int:
        """Where small talk at the start ends, whose phrases end there; what thanks are given for belongs to it."""
        tokens, at = self.query.lowers, self.first
        while at < self.last and (at in ends or _fills(tokens[at])):
            if at not in ends and kind == THANKS and self._thanks_for(tokens[at]):
                return self.last
            at = ends.get(at, at + 1)
        return at

    def _thanks_for(self, token: str) -> bool:
        """Whether what follows a word is what the user gives thanks for."""
        return token in _words()["thanked_for"] and not self._ends_with("?")

    def _is_name(self, at: int) -> bool:
        """Whether only a name is left, as in "Hi Anna"."""
        rest = self.query.words[at : self.last]
        return len(rest) <= 3 and not self._ends_with("?") and all(word.capital and not word.upper for word in rest)

    def _ends_with(self, mark: str) -> bool:
        return self.last < len(self.query) and self.query.lowers[self.last] == mark

    def _requested(self, name: str, *, wish: bool = False) -> Iterator[Match]:
        """The first verbs of a list that open a request."""
        verbs = (m for m in self.matches if m.name == name and m.first >= self.first)
        return islice((m for m in verbs if opens_request(self.query, self.first, m.first, wish=wish)), VERBS_TRIED)

    def _rewriting(self) -> str | None:
        if next(self._requested("rewrites"), None):
            return REWRITE
        for verb in self._requested("shortens"):
            if self._is_given(verb.last):
                return REWRITE
        for verb in self._requested("edits"):
            if self._is_given(verb.last) and "texts" in self._named(verb.last, verb.last + GIVEN_REACH):
                return REWRITE
        return None

    def _named(self, first: int, last: int) -> set[str]:
        """The lists that have a phrase beginning there."""
        return {m.name for m in self.matches if first <= m.first < last}

    def _is_given(self, at: int) -> bool:
        """Whether what the verb before `at` works on stands in the query: "this", a colon, a quotation."""
        near = min(at + GIVEN_REACH, self.last)
        tokens = self.query.lowers[at:near]
        return not _words()["given"].isdisjoint(tokens) or ":" in tokens or any(self.query.quoted[at:near])

    def _making(self) -> str | None:
        if any(m.name == "how_to" for m in self.matches):
            return None
        for verb in self._requested("makes"):
            made = self._made(verb.last, self._object_end(verb.last))
            if made:
                return made
        for verb in self._requested("wishes", wish=True):
            end = self._object_end(verb.last)
            definite = not _words()["definite"].isdisjoint(self.query.lowers[verb.last : end])
            if not definite and self._made(verb.last, end, only_art=True):
                return CREATIVE
        return None

    def _object_end(self, at: int) -> int:
        """Where the name of what is made ends: before "about", "for", a mark."""
        words, tokens = _words(), self.query.lowers
        end = min(at + OBJECT_REACH, self.last)
        for i in range(at, end):
            later = i >= at + 2 and tokens[i] in words["about_later"]
            if later or tokens[i] in words["about"] or tokens[i] in ",:":
                return i
        return end

    def _made(self, first: int, last: int, *, only_art: bool = False) -> str | None:
        names = self._named(first, last)
        if "informing" in names:
            return None
        if only_art:
            return CREATIVE if "art" in names else None
        if "program" in names:
            return CODE
        return CREATIVE if "art" in names or "mail" in names else None

    def _talking(self) -> str | None:
        """Whether it speaks of the assistant, asks its opinion, or only chats."""
        kinds = {TALK[m.name] for m in self.matches if m.name in TALK and self._holds(m)}
        return next((kind for kind in (ASSISTANT, OPINION, CHITCHAT) if kind in kinds), None)

    def _holds(self, match: Match) -> bool:
        """Whether a phrase means what it says: it ends the sentence if it must, accents typed or not."""
        if self._is_another_word(match.first):
            return False
        if match.name == "taste":
            return self._names_nothing()
        rest = self.query.lowers[match.last : self.last] if match.name in MUST_END else ()
        return all(token in _words()["tails"] or not token[:1].isalnum() for token in rest)

    def _is_another_word(self, at: int) -> bool:
        """Whether a word that without accents looks like 'you' is something else, by the word before it."""
        words, tokens = _words(), self.query.lowers
        if at == 0 or tokens[at] not in words["unaccented_you"] or "\n" in self.query.gaps[at]:
            return False
        return tokens[at - 1][:1].isalnum() and tokens[at - 1] not in words["before_you"]

    def _names_nothing(self) -> bool:
        """Whether it speaks of no figure and of nothing that has a name: taste is of things that everybody knows."""
        rest = self.query.words[self.first + 1 : self.last]
        return not any(word.number or (word.capital and word.lower != "i") for word in rest)

    def _asks(self) -> bool:
        words, tokens = _words(), self.query.lowers[self.first : self.last]
        if self._ends_with("?") or not words["question_particles"].isdisjoint(tokens):
            return True
        return next((t for t in tokens if t[:1].isalnum() and t != "please"), "") in words["question_words"]


def _asks_sources(query: Text) -> bool:
    """Whether the query wants to know on what the answer rests."""
    words = _words()
    if words["source_words"].isdisjoint(query.lowers):
        return False
    for match in _source_phrases().find(query):
        if match.name == "where_from" or (match.name == "cite" and _wants_citing(query, match)):
            return True
        if is_served(match.name) and _wants_source(query, match):
            return True
    return False


def _wants_citing(query: Text, match: Match) -> bool:
    first = _clause(query, match.first)
    before = query.lowers[match.first - 1] if match.first > first else ""
    return before in word_set("need", "before_citing") or opens_request(query, first, match.first)


def _clause(query: Text, at: int) -> int:
    """Where the clause that holds token `at` starts."""
    first = at
    while first > max(0, at - GIVEN_REACH) and query.lowers[first - 1] not in SENTENCE_ENDS:
        first -= 1
    return first


def _wants_source(query: Text, match: Match) -> bool:
    """Whether a word for a source is asked for there, and stands for a source at all."""
    words, tokens = _words(), query.lowers
    first = _clause(query, match.first)
    if not _is_source(query, match, first):
        return False
    if not words["source_refused"].isdisjoint(tokens[max(first, match.first - REFUSED_REACH) : match.first]):
        return False
    if match.first == first:
        return True
    asked = _source_words(match.name, "source_asked")
    return not asked.isdisjoint(tokens[max(first, match.first - ASKED_REACH) : match.last])


def _is_source(query: Text, match: Match, first: int) -> bool:
    """Whether the words next to it leave it its meaning: "source code" and "power source" do not."""
    words, tokens = _words(), query.lowers
    before = tokens[match.first - 1] if match.first > first else ""
    after = [*tokens[match.last : match.last + 2], "", ""]
    fits = before not in _source_words(match.name, "source_before_not")
    if led := _source_words(match.name, "source_before"):
        fits = not before[:1].isalpha() or before in led
    if after[0] == "of":
        return fits and after[1] in words["source_of"]
    return fits and (not after[0][:1].isalnum() or after[0] in words["source_after"])

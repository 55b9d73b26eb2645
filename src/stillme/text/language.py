"""Which language a text is written in.

Each word votes, for the registered languages by what their language.yaml lists: function words and syllables with accents weigh most;
an unaccented word votes by whether it is a possible syllable, and one that two languages have by how often each writes it. A word that
no language has speaks for another one. Names vote little or not at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from stillme.languages import Language, compiled, languages, load, remembered, word_set
from stillme.text.tokens import Text, Word, fold

__all__ = ["identify", "is_small", "own_words", "small_words", "syllables"]

OTHER: Final = "other"
UNKNOWN: Final = "unknown"

Vote = tuple[int, ...]  # for each registered language, and last for any other

FUNCTION: Final = 4
ACCENTED_SYLLABLE: Final = 3
FOREIGN: Final = 3
SYLLABLE: Final = 2
COMMON: Final = 2
PLAIN: Final = 1
ENOUGH: Final = 2
# So many words that no language has are another language, where nothing else speaks.
STRANGERS: Final = 4
MOSTLY: Final = 0.6
# A longer quotation counts as the text's own words: nobody hides an answer in quotation marks.
LONGEST_QUOTED: Final = 20
# From here on, and with twice the votes of the next language, the plain count is trusted.
CLEAR: Final = 9
# Scripts from Thai on are written without spaces, so that one token may be a whole clause.
SPACELESS: Final = "\u0e00"
# What holds an address or an identifier together.
GLUE: Final = frozenset("@_")


@dataclass(frozen=True, slots=True)
class _Own:
    """What speaks for one language."""

    code: str
    function: frozenset[str]
    syllables: frozenset[str]
    letters: frozenset[str]
    shared_letters: frozenset[str]
    stopped: tuple[str, ...]
    stopped_tones: frozenset[str]
    contractions: frozenset[str]
    sure_contractions: tuple[str, ...]
    endings: tuple[str, ...]

    @classmethod
    def of(cls, language: Language) -> _Own:
        """The evidence in the files of a language."""
        rules = language.rules("language")

        def row(*names: str) -> list[str]:
            return [word for name in names for word in str(rules.get(name, "")).split()]

        function = row("function", "function_in_names", "function_shared", "function_unaccented", "function_shorthand")
        return cls(
            language.code,
            frozenset(function),
            _syllables(rules.get("syllables", ())),
            frozenset(rules.get("letters", "")),
            frozenset(rules.get("shared_letters", "")),
            tuple(row("stopped")),
            frozenset(rules.get("stopped_tones", "")),
            frozenset(row("contractions")),
            tuple(row("sure_contractions")),
            tuple(row("endings")),
        )

    def tone_fits(self, word: str, folded: str) -> bool:
        """Whether a syllable carries a tone that it can have."""
        return not folded.endswith(self.stopped) or not self.stopped_tones.isdisjoint(
            unicodedata.normalize("NFD", word)
        )


@dataclass(frozen=True, slots=True)
class _LanguageRules:
    own: tuple[_Own, ...]
    votes: dict[str, Vote]
    syllables: frozenset[str]
    function: frozenset[str]
    spelt_function: frozenset[str]
    """Function words of the languages whose words are no single syllables."""
    joiners: frozenset[str]
    name_heads: frozenset[str]
    pairs: dict[tuple[str, ...], tuple[str, ...]]
    silent: Vote
    strange: Vote

    def vote(self, place: int, weight: int) -> Vote:
        """A vote for one language, the last being any other."""
        return (*self.silent[:place], weight, *self.silent[place + 1 :]) if place >= 0 else (*self.silent[:-1], weight)


@compiled
def _rules() -> _LanguageRules:
    own = tuple(map(_Own.of, languages()))
    silent = (0,) * (len(own) + 1)
    pairs = {tuple(fold(pair).split()): tuple(pair.split()) for pair in load("language")["pairs"]}
    spelt = [each.function for each in own if not each.syllables]
    rules = _LanguageRules(
        own,
        {},
        syllables(),
        frozenset[str]().union(*(each.function for each in own)),
        frozenset[str]().union(*spelt),
        word_set("language", "joiners"),
        word_set("language", "name_heads"),
        pairs,
        silent,
        (*silent[:-1], PLAIN),
    )
    for words, vote in _listed(rules):
        rules.votes.update(dict.fromkeys(words, vote))
    return rules


def _syllables(rows: Iterable[dict[str, str]]) -> frozenset[str]:
    return frozenset(
        f"{onset}{rime}".replace("-", "")
        for row in rows
        for onset in row["onsets"].split()
        for rime in row["rimes"].split()
    )


@compiled
def syllables() -> frozenset[str]:
    """Every syllable, without its accents, of the languages that are written syllable by syllable."""
    return _syllables(load("language")["syllables"])


def is_small(lower: str) -> bool:
    """Whether texts write a word in small letters in a language whose words are no single syllables."""
    rules = _rules()
    votes = rules.votes.get(lower, rules.silent)
    spelt = any(vote for own, vote in zip(rules.own, votes, strict=False) if not own.syllables)
    return spelt or lower in rules.spelt_function or lower in _leaning()


@compiled
def small_words() -> frozenset[str]:
    """Syllables that are hardly ever part of a name."""
    return frozenset[str]().union(
        *(each.words("small_words") for each in languages() if each.rules("language").get("syllables"))
    )


@compiled
def _leaning() -> frozenset[str]:
    """The words that two languages have."""
    return frozenset(word for words in load("language")["leaning"].values() for word in words.split())


def _listed(rules: _LanguageRules) -> Iterator[tuple[Iterable[str], Vote]]:
    """The votes of words that are listed for themselves, weakest list first so that a stronger one overrides it."""
    each = [(place, language.rules("language"), language) for place, language in enumerate(languages())]
    for place, own, language in each:
        if not own.get("syllables"):
            yield language.words("small_words"), rules.vote(place, PLAIN)
        yield str(own.get("common", "")).split(), rules.vote(place, COMMON)
    for place, own, _ in each:
        for weight, words in own.get("leaning", {}).items():
            yield words.split(), rules.vote(place, int(weight))
    every = load("language")
    for words in every["other"].values():
        yield words.split(), rules.vote(-1, FOREIGN)
    for word in every["shared"].split():
        syllable = [SYLLABLE if word in own.syllables else 0 for own in rules.own]
        yield (word,), (*rules.votes.get(word, (*syllable, 0))[:-1], FOREIGN - 1)
    yield every["neutral"].split(), rules.silent
    yield from _function_votes(rules, each)


def _function_votes(
    rules: _LanguageRules, each: list[tuple[int, dict[str, Any], Language]]
) -> Iterator[tuple[list[str], Vote]]:
    weights = (
        ("function_unaccented", SYLLABLE + 1),
        ("function", FUNCTION),
        ("function_shorthand", FUNCTION),
        ("function_in_names", COMMON),
    )
    for name, weight in weights:
        for place, own, _ in each:
            yield str(own.get(name, "")).split(), rules.vote(place, weight)


def identify(text: Text) -> str:
    """The language of a text: a registered code, "other", or "unknown" where there is too little to tell."""
    # All of it is read, however long: a draft that changes language half-way must not hide behind a sample.
    hidden = _hidden(text)
    words = [word for i, word in enumerate(text.words) if i not in hidden] if hidden else text.words
    votes = _count([word.text for word in words])
    *_, second, best = sorted(votes)
    if best >= CLEAR and best >= 2 * second:
        return _code(votes.index(best))
    return _identify_closely(text, hidden)


def _code(place: int) -> str:
    own = _rules().own
    return own[place].code if place < len(own) else OTHER


def _count(spellings: Iterable[str]) -> Vote:
    return tuple(map(sum, zip(_rules().silent, *map(_vote, spellings), strict=True)))


@remembered(1 << 15)
def _vote(spelling: str) -> Vote:
    """The vote of one word as it is spelt, capitals included."""
    rules = _rules()
    if not spelling[:1].isalpha():
        return rules.silent
    lower = spelling.lower()
    if lower == spelling:
        return _vote_in_lower_case(lower)
    # A capital may open a sentence or a name, a syllable more often a name; inside a word it is a brand's.
    listed = lower in rules.function and lower not in rules.name_heads
    if listed and spelling[1:] in (lower[1:], lower[1:].upper()):
        votes = zip(_vote_in_lower_case(lower), rules.own, strict=False)
        return (*(vote // (4 if own.syllables else 2) for vote, own in votes), 0)
    return rules.silent if _is_latin(lower) else _vote_in_lower_case(lower)


def _vote_in_lower_case(word: str) -> Vote:
    rules = _rules()
    if word in rules.votes:
        return rules.votes[word]
    if "'" in word:
        return _vote_of_contraction(word)
    if word.isascii():
        return _vote_of_syllable(word) if word in rules.syllables else _vote_of_unlisted(word)
    return _vote_of_accented(word) if _is_latin(word) else _vote_of_other_script(word)


def _vote_of_syllable(word: str) -> Vote:
    return (*(SYLLABLE if word in own.syllables else 0 for own in _rules().own), 0)


def _vote_of_unlisted(word: str) -> Vote:
    """A form of a listed word speaks for its language, a word that only ends like one for nothing, any other for another language."""
    rules = _rules()
    for place, own in enumerate(rules.own):
        ending = next((ending for ending in own.endings if word.endswith(ending)), None)
        if ending:
            base = word.removesuffix(ending)
            forms = (base, base + "e", base + "y", base[:-1])
            listed = any(rules.votes.get(form, rules.silent)[place] for form in forms)
            return rules.vote(place, COMMON) if listed else rules.silent
    return rules.strange if len(word) > 1 else rules.silent


def _vote_of_contraction(word: str) -> Vote:
    """English contracts at the end (don't, king's), French and Italian at the start (l'eau, qu'il)."""
    rules = _rules()
    head, _, tail = word.partition("'")
    for place, own in enumerate(rules.own):
        if tail in own.contractions:
            sure = head in own.function or word.endswith(own.sure_contractions)
            return rules.vote(place, FUNCTION if sure else COMMON)
    foreign = head not in word_set("language", "contracted_heads") and len(head) <= 2 < len(tail)
    return rules.vote(-1, FOREIGN) if foreign else rules.silent


def _vote_of_accented(word: str) -> Vote:
    rules, folded = _rules(), fold(word)
    letters = {letter for letter in unicodedata.normalize("NFC", word) if not letter.isascii()}
    for place, own in enumerate(rules.own):
        known = letters <= own.letters | own.shared_letters
        if known and folded in own.syllables and own.tone_fits(word, folded):
            return rules.vote(place, ACCENTED_SYLLABLE)
        if letters & own.letters:
            return rules.vote(place, SYLLABLE)
    shared = any(letters <= own.shared_letters for own in rules.own)
    return rules.vote(-1, PLAIN if shared else FOREIGN)


def _is_latin(word: str) -> bool:
    return word[0] < "\u0250" or "\u1e00" <= word[0] <= "\u1eff"


def _vote_of_other_script(word: str) -> Vote:
    rules = _rules()
    plain = unicodedata.normalize("NFKC", word).lower()
    if plain.isascii():  # letters that are only styled, as in 𝐛𝐨𝐥𝐝 or ｆｕｌｌ ｗｉｄｔｈ
        return _vote_in_lower_case(plain) if plain.isalpha() else rules.silent
    if word[0] < SPACELESS:
        return rules.vote(-1, FOREIGN) if len(word) > 1 else rules.silent
    return rules.vote(-1, max(FOREIGN, len(word)))


def _hidden(text: Text) -> set[int]:
    """The tokens of code, web addresses, e-mail addresses and names such as snake_case."""
    raw = text.raw
    if not (text.code or text.urls or "`" in raw or "@" in raw or "_" in raw):
        return set()
    hidden = set(_identifiers(text))
    for start, end in (*text.code, *text.urls):
        hidden.update(range(text.token_at(start), text.token_at(end)))
    return hidden


def _identifiers(text: Text) -> Iterator[int]:
    words, gaps = text.words, text.gaps
    opened = -1
    for i, word in enumerate(words):
        if "\n" in gaps[i]:
            opened = -1
        if word.text == "`":
            yield from range(opened, i) if opened >= 0 else ()
            opened = i if opened < 0 else -1
        elif word.text in GLUE and not gaps[i] and not gaps[i + 1]:
            yield from _glued(text, i, -1)
            yield from _glued(text, i, 1)


def _glued(text: Text, i: int, step: int) -> Iterator[int]:
    """The tokens before or after token `i` that no space parts from it, up to the next sign that has its own turn."""
    words, gaps = text.words, text.gaps
    while not gaps[i if step < 0 else i + 1] and 0 <= i + step < len(words) and words[i + step].text not in GLUE:
        i += step
        yield i


def _identify_closely(text: Text, hidden: set[int]) -> str:
    """The language of a short or mixed text, from what speaks for it; function words decide a mixture."""
    told = _told(text, hidden)
    votes = _count(told)
    *own, other = votes
    best = max(votes)
    strange = _rules().strange
    strangers = sum(_vote(word) == strange for word in told)
    if best < ENOUGH or (other < best and strangers >= max(STRANGERS, MOSTLY * len(told))):
        return UNKNOWN
    if sum(map(bool, own)) > 1 and other < best:
        return _of_mixture(told, own)
    firm = sum(vote[-1] for vote in map(_vote, told) if vote[-1] > PLAIN)
    if other == best and firm < max(ENOUGH, *own):
        return _of_strangers(told, own, other)
    return _code(votes.index(best)) if votes.count(best) == 1 else UNKNOWN


def _of_strangers(told: list[str], own: list[int], other: int) -> str:
    """Words that no list has may be jargon: function words decide, then how many there are."""
    speaking = [each.code for each in _rules().own if not each.function.isdisjoint(told)]
    best = max(own)
    if len(speaking) == 1 and other < 3 * best:
        return speaking[0]
    if other >= STRANGERS and other > best:
        return OTHER
    return _code(own.index(best)) if best >= ENOUGH and own.count(best) == 1 else UNKNOWN


def _of_mixture(told: list[str], votes: list[int]) -> str:
    """Nouns are borrowed, function words are not; a word that both languages have decides where nothing else does."""
    one, two = sorted(sorted(range(len(votes)), key=lambda place: -votes[place])[:2])
    firm_one, firm_two = _is_firm(told, one), _is_firm(told, two)
    if firm_one != firm_two:
        return _code(one if firm_one else two)
    own = _rules().own
    speaks_one, speaks_two = (not own[place].function.isdisjoint(told) for place in (one, two))
    if speaks_one != speaks_two:
        speaking, silent = (one, two) if speaks_one else (two, one)
        if 3 * votes[speaking] > votes[silent]:
            return _code(speaking)
    return UNKNOWN if votes[one] == votes[two] else _code(max(one, two, key=votes.__getitem__))


def _is_firm(told: list[str], place: int) -> bool:
    """Whether a word speaks for a language that another one hardly has: a syllable, or a word that is none."""
    rules = _rules()
    if rules.own[place].syllables:
        return any(_vote(word)[place] >= SYLLABLE for word in told)
    return any(_vote(word)[place] and word.lower() not in rules.syllables for word in told)


def own_words(text: Text) -> int:
    """How many words a text has that show its language: not code, addresses, figures, names, nor a short quotation.

    In scripts without capitals and spaces a word is taken to have two letters.
    """
    hidden = _hidden(text)
    own = [word for i, word in enumerate(text.words) if word.word and i not in hidden and not text.quoted[i]]
    quoted = [word for i, word in enumerate(text.words) if word.word and i not in hidden and text.quoted[i]]
    every = own + quoted if len(quoted) > LONGEST_QUOTED else own
    shouted = len(every) >= STRANGERS and all(word.upper or len(word.text) == 1 for word in every)
    return sum(_size(word) for word in every if shouted or not word.capital)


def _size(word: Word) -> int:
    """How many words a token counts for: a clause without spaces counts for several."""
    return max(1, len(word.text) // 2) if word.text[0] >= SPACELESS and not _is_latin(word.lower) else 1


def _told(text: Text, hidden: set[int]) -> list[str]:
    """The spellings that speak for the text: not hidden, not quoted unless there is nothing else, not inside a name."""
    shown = [i for i, word in enumerate(text.words) if word.word and i not in hidden]
    words = [text.words[i] for i in shown]
    if any(text.quoted):
        own = [text.words[i] for i in shown if not text.quoted[i]]
        words = own if max(_count(word.text for word in own)) >= ENOUGH else words
    if len(words) >= 4 and all(word.upper or len(word.text) == 1 for word in words):
        return [word.lower for word in words]
    return _without_names(words)


def _without_names(words: list[Word]) -> list[str]:
    """The spellings but for what joins the parts of a name, as "of the" does in "Lord of the Rings"."""
    rules = _rules()
    joined: set[int] = set()
    capitals = [i for i, word in enumerate(words) if word.capital and word.lower not in rules.spelt_function]
    for left, right in pairwise(capitals):
        if right - left <= 3 and all(words[i].lower in rules.joiners for i in range(left + 1, right)):
            joined.update(range(left + 1, right))
    told = [word.text for i, word in enumerate(words) if i not in joined]
    if words and _opens_sentence(words[0].lower, words[1:2]):
        told[0] = words[0].lower
    for i, pair in enumerate(pairwise(told)):
        if pair in rules.pairs:
            told[i : i + 2] = rules.pairs[pair]
    return told


def _opens_sentence(first: str, following: list[Word]) -> bool:
    """Whether the first word has its capital from the sentence, so that it counts in full."""
    rules = _rules()
    if "'" in first or (first in rules.function and first not in rules.name_heads):
        return True
    return max(rules.votes.get(first, rules.silent)) >= FOREIGN and not any(word.capital for word in following)

"""Which language a text is written in.

Each word votes. Function words and accented Vietnamese syllables weigh most; an unaccented word votes by whether it is
a possible Vietnamese syllable, and one that is an English word too by how often each language writes it. A word that neither
language has speaks for another one. Names vote little or not at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

from stillme.languages import load, small_words
from stillme.text.tokens import Text, Word, fold

__all__ = ["identify", "is_english", "own_words", "syllables"]

EN: Final = "en"
VI: Final = "vi"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"
LANGUAGES: Final = (EN, VI, OTHER)

Vote = tuple[int, int, int]  # for English, for Vietnamese, for any other language

SILENT: Final[Vote] = (0, 0, 0)
STRANGE: Final[Vote] = (0, 0, 1)
FUNCTION: Final = 4
ACCENTED_SYLLABLE: Final = 3
FOREIGN: Final = 3
SYLLABLE: Final = 2
COMMON: Final = 2
PLAIN: Final = 1
ENOUGH: Final = 2
# So many words that neither language has are another language, where nothing else speaks.
STRANGERS: Final = 4
MOSTLY: Final = 0.6
# A longer quotation counts as the text's own words: nobody hides an answer in quotation marks.
LONGEST_QUOTED: Final = 20
# From here on, and with twice the votes of the next language, the plain count is trusted.
CLEAR: Final = 9

VIETNAMESE_ONLY: Final = frozenset("ăđơưĩũ" + "".join(map(chr, range(0x1EA0, 0x1EFA))))
VIETNAMESE_SHARED: Final = frozenset("àáâãèéêìíòóôõùúý")
VIETNAMESE: Final = VIETNAMESE_ONLY | VIETNAMESE_SHARED
ACUTE_AND_DOT_BELOW: Final = frozenset("\u0301\u0323")
STOPS: Final = ("p", "t", "c", "ch")
ENGLISH_CONTRACTIONS: Final = frozenset({"s", "t", "m", "re", "ve", "ll", "d"})
ENGLISH_ENDINGS: Final = ("ings", "ing", "ed", "ly", "ness", "ful", "less", "ers", "er", "ies", "es", "s", "ight", "ck")
# Scripts from Thai on are written without spaces, so that one token may be a whole clause.
SPACELESS: Final = "\u0e00"
# What holds an address or an identifier together.
GLUE: Final = frozenset("@_")
# One of these stands in every name of the two languages.
NAME_PARTS: Final = frozenset({"english", "vietnamese", "tieng", "ngu"})


@dataclass(frozen=True, slots=True)
class _Rules:
    votes: dict[str, Vote]
    syllables: frozenset[str]
    english: frozenset[str]
    vietnamese: frozenset[str]
    joiners: frozenset[str]
    name_heads: frozenset[str]
    pairs: dict[tuple[str, ...], tuple[str, ...]]


@cache
def _rules() -> _Rules:
    rules = load("language")
    function = {name: words.split() for name, words in rules["function"].items()}
    votes = _listed(rules)
    votes.update(dict.fromkeys(function["vi_unaccented"], (0, SYLLABLE + 1, 0)))
    votes.update(dict.fromkeys(function["vi"] + function["vi_shorthand"], (0, FUNCTION, 0)))
    votes.update(dict.fromkeys(function["en"], (FUNCTION, 0, 0)))
    votes.update(dict.fromkeys(function["en_in_names"], (COMMON, 0, 0)))
    english = frozenset(function["en"] + function["en_in_names"] + function["en_shared"])
    vietnamese = frozenset(function["vi"] + function["vi_unaccented"] + function["vi_shorthand"])
    pairs = {tuple(fold(pair).split()): tuple(pair.split()) for pair in rules["pairs"]}
    joiners, name_heads = frozenset(rules["joiners"].split()), frozenset(rules["name_heads"].split())
    return _Rules(votes, syllables(), english, vietnamese, joiners, name_heads, pairs)


@cache
def syllables() -> frozenset[str]:
    """Every Vietnamese syllable without its accents."""
    return frozenset(
        f"{onset}{rime}".replace("-", "")
        for row in load("language")["syllables"]
        for onset in row["onsets"].split()
        for rime in row["rimes"].split()
    )


def is_english(lower: str) -> bool:
    """Whether texts write a word in small letters in English."""
    return lower in _rules().english or lower in _in_both() or _rules().votes.get(lower, SILENT)[0] > 0


@cache
def _in_both() -> frozenset[str]:
    return frozenset(" ".join(load("language")["both"].values()).split())


def _listed(rules: dict[str, Any]) -> dict[str, Vote]:
    """The votes of words that are listed for themselves, weakest list first so that a stronger one overrides it."""
    votes: dict[str, Vote] = dict.fromkeys(small_words("english"), (PLAIN, 0, 0))
    votes.update(dict.fromkeys(rules["common"]["en"].split(), (COMMON, 0, 0)))
    for lean, words in rules["both"].items():
        language, _, weight = lean.partition("_")
        vote = (int(weight or 0), 0, 0) if language == EN else (0, int(weight or 0), 0)
        votes.update(dict.fromkeys(words.split(), vote))
    for words in rules["other"].values():
        votes.update(dict.fromkeys(words.split(), (0, 0, FOREIGN)))
    for word in rules["shared"].split():
        en, vi, _ = votes.get(word, (0, SYLLABLE if word in syllables() else 0, 0))
        votes[word] = (en, vi, FOREIGN - 1)
    votes.update(dict.fromkeys(rules["neutral"].split(), SILENT))
    return votes


def identify(text: Text) -> str:
    """The language of a text: "en", "vi", "other", or "unknown" where there is too little to tell."""
    # All of it is read, however long: a draft that changes language half-way must not hide behind a sample.
    hidden = _hidden(text)
    words = [word for i, word in enumerate(text.words) if i not in hidden] if hidden else text.words
    votes = _count([word.text for word in words])
    _, second, best = sorted(votes)
    if best >= CLEAR and best >= 2 * second:
        return LANGUAGES[votes.index(best)]
    return _identify_closely(text, hidden)


def _count(spellings: Iterable[str]) -> Vote:
    en = vi = other = 0
    for vote in map(_vote, spellings):
        en += vote[0]
        vi += vote[1]
        other += vote[2]
    return en, vi, other


@lru_cache(maxsize=1 << 15)
def _vote(spelling: str) -> Vote:
    """The vote of one word as it is spelt, capitals included."""
    if not spelling[:1].isalpha():
        return SILENT
    lower = spelling.lower()
    if lower == spelling:
        return _vote_in_lower_case(lower)
    # A capital may open a sentence or a name; inside a word it is a brand's.
    rules = _rules()
    listed = (lower in rules.english or lower in rules.vietnamese) and lower not in rules.name_heads
    if listed and spelling[1:] in (lower[1:], lower[1:].upper()):
        en, vi, _ = _vote_in_lower_case(lower)
        return en // 2, vi // 4, 0
    return SILENT if _is_latin(lower) else _vote_in_lower_case(lower)


def _vote_in_lower_case(word: str) -> Vote:
    rules = _rules()
    if word in rules.votes:
        return rules.votes[word]
    if "'" in word:
        return _vote_of_contraction(word)
    if word.isascii():
        return (0, SYLLABLE, 0) if word in rules.syllables else _vote_of_unlisted(word)
    return _vote_of_accented(word) if _is_latin(word) else _vote_of_other_script(word)


def _vote_of_unlisted(word: str) -> Vote:
    """A form of an English word speaks for English, a word that only ends like one for nothing, any other for another language."""
    known = _rules().votes
    for ending in ENGLISH_ENDINGS:
        base = word.removesuffix(ending)
        if base != word:
            listed = any(known.get(form, SILENT)[0] for form in (base, base + "e", base + "y", base[:-1]))
            return (COMMON, 0, 0) if listed else SILENT
    return STRANGE if len(word) > 1 else SILENT


def _vote_of_contraction(word: str) -> Vote:
    """English contracts at the end (don't, king's), French and Italian at the start (l'eau, qu'il)."""
    head, _, tail = word.partition("'")
    if tail in ENGLISH_CONTRACTIONS:
        listed = head in _rules().english or (tail == "t" and head.endswith("n"))
        return FUNCTION if listed or tail in ("m", "re", "ve", "ll") else COMMON, 0, 0
    return 0, 0, FOREIGN if head != "o" and len(head) <= 2 < len(tail) else 0


def _vote_of_accented(word: str) -> Vote:
    folded = fold(word)
    letters = {letter for letter in unicodedata.normalize("NFC", word) if not letter.isascii()}
    if letters <= VIETNAMESE and folded in _rules().syllables and _tone_fits(word, folded):
        return 0, ACCENTED_SYLLABLE, 0
    if letters & VIETNAMESE_ONLY:
        return 0, SYLLABLE, 0
    return 0, 0, PLAIN if letters <= VIETNAMESE_SHARED else FOREIGN


def _tone_fits(word: str, folded: str) -> bool:
    """A syllable closed by p, t, c or ch carries an acute or a dot below: "tốt" is Vietnamese, "tôt" is not."""
    return not folded.endswith(STOPS) or not ACUTE_AND_DOT_BELOW.isdisjoint(unicodedata.normalize("NFD", word))


def _is_latin(word: str) -> bool:
    return word[0] < "\u0250" or "\u1e00" <= word[0] <= "\u1eff"


def _vote_of_other_script(word: str) -> Vote:
    plain = unicodedata.normalize("NFKC", word).lower()
    if plain.isascii():  # letters that are only styled, as in 𝐛𝐨𝐥𝐝 or ｆｕｌｌ ｗｉｄｔｈ
        return _vote_in_lower_case(plain) if plain.isalpha() else SILENT
    if word[0] < SPACELESS:
        return 0, 0, FOREIGN if len(word) > 1 else 0
    return 0, 0, max(FOREIGN, len(word))


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
    en, vi, other = votes
    best = max(votes)
    strangers = sum(_vote(word) == STRANGE for word in told)
    if best < ENOUGH or (other < best and strangers >= max(STRANGERS, MOSTLY * len(told))):
        return UNKNOWN
    if en and vi and other < best:
        return _of_mixture(told, en, vi)
    firm = sum(vote[2] for vote in map(_vote, told) if vote[2] > PLAIN)
    if other == best and firm < max(ENOUGH, en, vi):
        return _of_strangers(told, votes)
    return LANGUAGES[votes.index(best)] if votes.count(best) == 1 else UNKNOWN


def _of_strangers(told: list[str], votes: Vote) -> str:
    """Words that no list has may be jargon: function words decide, then how many there are."""
    rules, (en, vi, other) = _rules(), votes
    english = any(word in rules.english for word in told)
    vietnamese = any(word in rules.vietnamese for word in told)
    if english != vietnamese and other < 3 * max(en, vi):
        return EN if english else VI
    if other >= STRANGERS and other > max(en, vi):
        return OTHER
    return EN if en >= ENOUGH and en > vi else VI if vi >= ENOUGH and vi > en else UNKNOWN


def _of_mixture(told: list[str], en: int, vi: int) -> str:
    """Nouns are borrowed, function words are not; a word that both languages have decides where nothing else does."""
    rules = _rules()
    firmly_en = any(word.lower() not in rules.syllables and _vote(word)[0] for word in told)
    firmly_vi = any(_vote(word)[1] >= SYLLABLE for word in told)
    if firmly_en != firmly_vi:
        return EN if firmly_en else VI
    english = any(word in rules.english for word in told)
    vietnamese = any(word in rules.vietnamese for word in told)
    if english and not vietnamese and 3 * en > vi:
        return EN
    if vietnamese and not english and 3 * vi > en:
        return VI
    return UNKNOWN if en == vi else EN if en > vi else VI


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
    capitals = [i for i, word in enumerate(words) if word.capital and word.lower not in rules.english]
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
    if "'" in first or ((first in rules.english or first in rules.vietnamese) and first not in rules.name_heads):
        return True
    return max(rules.votes.get(first, SILENT)) >= FOREIGN and not any(word.capital for word in following)

"""Does a passage try to steer the model or the verifier that reads it, instead of informing a reader?

Context is data: what is found here changes nothing but a finding. Phrases and chat markers stand in
the rules of `instructions`. An instruction to a person (a recipe, a manual, an exam) is not meant, nor is a text that
explains such attacks and quotes them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from stillme.languages import compiled, load
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Text, fold

__all__ = ["find_instruction"]

COMMENT: Final = re.compile(r"<!--((?:[^-]++|-(?!->))*+)(?:-->|\Z)")
HIDDEN_STYLES: Final = ("display:none", "display: none", "font-size:0", "font-size: 0", "visibility:hidden")
# Invisible copies of ASCII letters; flags of regions use a few of them, a sentence more.
HIDDEN_LETTERS: Final = re.compile("[\U000e0020-\U000e007e]{8}")
HIDDEN_SPACE: Final = "\U000e0020"
COMMAND_ENDS: Final = frozenset("\"“‘'.!?:;,-–—•*>#()[]|…")
SENTENCE_ENDS: Final = frozenset(".!?…")
INFINITIVE_REACH: Final = 4
SENTENCE_REACH: Final = 60


@compiled
def _lexicon() -> Lexicon:
    rules = load("instructions")
    return Lexicon({name: rules[name] for name in ("commands", "addresses", "people")})


@compiled
def _keys() -> tuple[frozenset[str], frozenset[str]]:
    """Words one of which every phrase needs, as written and without accents."""
    keys = [HIDDEN_SPACE, *str(load("instructions")["keys"]).split()]
    return frozenset(keys), frozenset(map(fold, keys))


@compiled
def _machine() -> Lexicon:
    return Lexicon({"machine": str(load("instructions")["machine"]).split()})


@compiled
def _explaining() -> Lexicon:
    rules = load("instructions")
    return Lexicon({name: str(rules[name]).split() for name in ("explains", "explains_alone")})


@compiled
def _before() -> frozenset[str]:
    return frozenset(map(fold, str(load("instructions")["before"]).split()))


@compiled
def _markers() -> tuple[str, ...]:
    return tuple(load("instructions")["markers"])


def find_instruction(text: Text) -> tuple[int, int] | None:
    """The character range of the first words that speak to a machine, or None."""
    exact, folded = _keys()
    if not (exact.isdisjoint(text.lowers) if text.accented else folded.isdisjoint(text.folded)):
        hidden = HIDDEN_LETTERS.search(text.raw)
        place = hidden.span() if hidden else _first_meant(text, list(_lexicon().find(text)))
        if place:
            return place
    return _in_markup(text)


def _first_meant(text: Text, found: list[Match]) -> tuple[int, int] | None:
    spared = {i for match in found if match.name == "people" for i in range(match.first, match.last)}
    account: _Account | None = None
    addressed = [match for match in found if spared.isdisjoint(range(match.first, match.last))]
    for match in addressed:
        if match.name == "commands" and not _commanded(text, match.first):
            continue
        account = account or _Account(text)
        if not account.explains(match.first):
            return text.span(match.first, match.last)
    return None


def _commanded(text: Text, first: int) -> bool:
    """The verb stands where a command stands: at the start of a clause, or behind 'please', 'you must' and the like."""
    if first == 0 or "\n" in text.gaps[first]:
        return True
    before = text.lowers[first - 1]
    if before == "to":
        return "you" in text.lowers[max(0, first - INFINITIVE_REACH) : first]
    return before in COMMAND_ENDS or text.folded[first - 1] in _before()


class _Account:
    """What a text says about such attacks: quoted examples are explained, and so are commands in a sentence on them."""

    def __init__(self, text: Text) -> None:
        self.text = text
        found = list(_explaining().find(text))
        self.is_one = any(match.name == "explains" for match in found)
        self.attacks = [match.first for match in found if match.name == "explains_alone"]
        self.code = _inline_code(text) if self.is_one else []

    def explains(self, first: int) -> bool:
        """Whether the words from token `first` on are an example or a report."""
        if not self.is_one:
            return False
        if self.text.quoted[first] or self.code[first]:
            return True
        at = bisect_left(self.attacks, first) - 1
        return at >= 0 and first - self.attacks[at] <= SENTENCE_REACH and self._one_sentence(self.attacks[at], first)

    def _one_sentence(self, first: int, last: int) -> bool:
        between = range(first + 1, last)
        return not any(self.text.words[i].text in SENTENCE_ENDS or "\n" in self.text.gaps[i] for i in between)


def _inline_code(text: Text) -> list[bool]:
    """For each token, whether it stands in backticks; a line with an odd number of them keeps its last part open."""
    inside, flags = False, []
    for word, gap in zip(text.words, text.gaps, strict=False):
        if word.text == "`":
            inside = not inside
        elif "\n\n" in gap:
            inside = False
        flags.append(inside)
    return flags


def _in_markup(text: Text) -> tuple[int, int] | None:
    """Chat markers, comments and invisible text that address a machine."""
    raw = text.raw
    if "<" not in raw and "[" not in raw and "###" not in raw:
        return None
    for marker in _markers():
        at = raw.find(marker)
        if at >= 0 and not _explaining().names(text):
            return at, at + len(marker)
    return _hidden(text)


def _hidden(text: Text) -> tuple[int, int] | None:
    """Comments, and pages with invisible parts, that name a machine."""
    raw = text.raw
    for comment in COMMENT.finditer(raw) if "<!--" in raw else ():
        if _machine().names(Text(comment.group(1))):
            return comment.span()
    has_invisible = any(style in raw for style in HIDDEN_STYLES)
    return (0, len(raw)) if has_invisible and _machine().names(text) else None

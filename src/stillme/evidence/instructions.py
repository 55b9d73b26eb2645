"""Does a passage try to steer the model or the verifier that reads it, instead of informing a reader?

Context is data: what is found here changes nothing but a finding. Phrases and chat markers stand in
`rules/instructions.yaml`. An instruction to a person (a recipe, a manual, an exam) is not meant, nor is a text that
explains such attacks and quotes them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from stillme.evidence.lexicon import Lexicon, Match
from stillme.evidence.rules import load
from stillme.evidence.text import Text, fold

__all__ = ["find_instruction"]

COMMENT: Final = re.compile(r"<!--((?:[^-]++|-(?!->))*+)(?:-->|\Z)")
HIDDEN_STYLES: Final = ("display:none", "display: none", "font-size:0", "font-size: 0", "visibility:hidden")
# Invisible copies of ASCII letters; flags of regions use a few of them, a sentence more.
HIDDEN_LETTERS: Final = re.compile("[\U000e0020-\U000e007e]{8}")
HIDDEN_SPACE: Final = "\U000e0020"
COMMAND_ENDS: Final = frozenset("\"“‘'.!?:;,-–—•*>#()[]|…")
INFINITIVE_REACH: Final = 4


@cache
def _lexicon() -> Lexicon:
    rules = load("instructions")
    lists = {name: [*rules[name]["en"], *rules[name]["vi"]] for name in ("commands", "addresses")}
    return Lexicon({**lists, "people": rules["people"]})


@cache
def _keys() -> tuple[frozenset[str], frozenset[str]]:
    """Words one of which every phrase needs, as written and without accents."""
    keys = [HIDDEN_SPACE, *str(load("instructions")["keys"]).split()]
    return frozenset(keys), frozenset(map(fold, keys))


@cache
def _machine() -> Lexicon:
    return Lexicon({"machine": str(load("instructions")["machine"]).split()})


@cache
def _explaining() -> Lexicon:
    rules = load("instructions")
    return Lexicon({name: str(rules[name]).split() for name in ("explains", "explains_alone")})


@cache
def _before() -> frozenset[str]:
    return frozenset(map(fold, str(load("instructions")["before"]).split()))


@cache
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
    people = [match for match in found if match.name == "people"]
    for match in found:
        if match.name == "people" or any(p.first < match.last and match.first < p.last for p in people):
            continue
        if (match.name == "addresses" or _commanded(text, match.first)) and not _explained(text, match.first):
            return text.starts[match.first], text.ends[match.last - 1]
    return None


def _commanded(text: Text, first: int) -> bool:
    """The verb stands where a command stands: at the start of a clause, or behind 'please', 'you must' and the like."""
    if first == 0 or "\n" in text.gaps[first]:
        return True
    before = text.lowers[first - 1]
    if before == "to":
        return "you" in text.lowers[max(0, first - INFINITIVE_REACH) : first]
    return before in COMMAND_ENDS or text.folded[first - 1] in _before()


def _explained(text: Text, first: int) -> bool:
    """Quoted in a text about such attacks, or told of in a sentence that names the attack."""
    names = {match.name for match in _explaining().find(text)}
    if "explains" not in names:
        return False
    if text.quoted[first] or _in_code(text, text.starts[first]):
        return True
    opening = first
    while opening > 0 and text.words[opening - 1].text not in ".!?" and "\n" not in text.gaps[opening]:
        opening -= 1
    return any(match.name == "explains_alone" for match in _explaining().find(text, opening, first))


def _in_code(text: Text, offset: int) -> bool:
    line = text.raw.rfind("\n", 0, offset) + 1
    return text.raw.count("`", line, offset) % 2 == 1 or any(start <= offset < end for start, end in text.code)


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
    raw = text.raw
    for comment in COMMENT.finditer(raw) if "<!--" in raw else ():
        if _machine().names(Text(comment.group(1))):
            return comment.span()
    if any(style in raw for style in HIDDEN_STYLES) and _machine().names(text):
        return 0, len(raw)
    return None

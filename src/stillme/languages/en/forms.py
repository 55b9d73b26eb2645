"""The forms of an English word, by spelling: 'planes' is no 'plan' and 'care' no 'car'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["bases", "forms_of_rest", "spellings"]

PARTICLES: Final = frozenset({"away", "back", "down", "in", "off", "on", "out", "over", "together", "up"})
SIBILANTS: Final = ("s", "x", "z", "ch", "sh", "o")
NO_FORMS: Final = frozenset({"goods", "news"})  # no plurals of 'good' and 'new'
# Verbs that double their last letter before -ed and -ing: 'planed' is no form of 'plan'.
DOUBLING: Final = re.compile("(?:[^aeiouy]*+|qu)[aeiouy][^aeiouwxy]")


def bases(lower: str, irregular: Mapping[str, str]) -> Iterator[str]:
    """The words that a word may be an inflected form of."""
    if lower in NO_FORMS:
        return
    form = lower.removesuffix("'s")
    if form != lower:
        yield form
    if form in irregular:
        yield irregular[form]
    if form.endswith(("ies", "ied")):
        yield form[:-3] + "y"
    if len(form) > 3 and form.endswith("s") and not form.endswith(("ss", "us", "is")):
        yield form[:-1]
    if form.endswith("es") and form[:-2].endswith(SIBILANTS):
        yield form[:-2]
    if form.endswith("ed"):
        yield from _before_suffix(form[:-2])
    elif form.endswith("ing"):
        yield from _before_suffix(form[:-3])


def _before_suffix(cut: str) -> Iterator[str]:
    """What -ed or -ing was added to: 'plann' is plan, 'plan' is plane."""
    yield cut + "e"
    if len(cut) > 3 and cut[-1] == cut[-2]:
        yield cut[:-1]
    if not DOUBLING.fullmatch(cut):
        yield cut


def forms_of_rest(rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What may follow the first word of a phrase: also '(send) it back', '(gift) cards', '(Hong) Kong's'."""
    *before, final = rest
    yield rest
    if final in PARTICLES:
        if not before:
            yield ("it", final)
            yield ("them", final)
        return
    yield (*before, final + "'s")
    if final.endswith("y") and final[-2:-1] not in "aeiou":
        yield (*before, final[:-1] + "ies")
    else:
        yield (*before, final + ("es" if final.endswith(SIBILANTS) else "s"))


def spellings(word: str) -> tuple[str, ...]:
    """A word in the spellings in use."""
    return (word,)

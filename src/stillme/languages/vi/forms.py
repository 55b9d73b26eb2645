"""The spellings of a Vietnamese syllable; it has no other forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

__all__ = ["bases", "forms_of_rest", "spellings"]

# hóa and hoá, khỏe and khoẻ, thủy and thuỷ are one: the tone may stand on either vowel
OTHER_TONE_PLACE: Final = {
    one: other
    for tones in zip("òóỏõọ", "àáảãạ", "èéẻẽẹ", "ùúủũụ", "ỳýỷỹỵ", strict=True)
    for pair in ((tones[0] + "a", "o" + tones[1]), (tones[0] + "e", "o" + tones[2]), (tones[3] + "y", "u" + tones[4]))
    for one, other in (pair, pair[::-1])
}
# lý and lí, sĩ and sỹ are one
OTHER_I: Final = {
    initial + one: initial + other
    for initial, pair in product("hklmst", zip("iìíỉĩị", "yỳýỷỹỵ", strict=True))
    for one, other in (pair, pair[::-1])
}


def bases(lower: str, irregular: Mapping[str, str]) -> Iterator[str]:  # noqa: ARG001
    """None: a syllable does not inflect."""
    yield from ()


def forms_of_rest(rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What may follow the first word of a phrase, in each spelling."""
    return product(*map(spellings, rest))


def spellings(word: str) -> tuple[str, ...]:
    """A syllable in the spellings in use."""
    other = word[:-2] + OTHER_TONE_PLACE.get(word[-2:], word[-2:])
    other = OTHER_I.get(other, other)
    return (word,) if other == word else (word, other)

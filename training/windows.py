"""Cut passages into windows that fit the encoder, and gather the sentences that bear on a claim."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training.text import sentences, words

CountTokens = Callable[[str], int]
GAP = " … "


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage and its place."""

    passage: int
    place: int
    text: str
    tokens: int


def split(passages: Sequence[str], count: CountTokens, limit: int) -> list[Sentence]:
    """All sentences of all passages; a sentence longer than `limit` tokens is cut between words."""
    found: list[Sentence] = []
    for number, passage in enumerate(passages):
        pieces = [part for start, end in sentences(passage) for part in _fitting(passage[start:end], count, limit)]
        found += [Sentence(number, place, text, count(text)) for place, text in enumerate(pieces)]
    return found


def _fitting(text: str, count: CountTokens, limit: int) -> list[str]:
    if count(text) <= limit or " " not in text:
        return [text]
    parts = text.split(" ")
    middle = len(parts) // 2
    left, right = " ".join(parts[:middle]), " ".join(parts[middle:])
    return _fitting(left, count, limit) + _fitting(right, count, limit)


def joined(chosen: Sequence[Sentence]) -> str:
    """The text of sentences in order, with a mark where some were left out."""
    ordered = sorted(chosen, key=lambda s: (s.passage, s.place))
    text = ""
    for before, sentence in zip([None, *ordered], ordered, strict=False):
        if before is None:
            text = sentence.text
        elif before.passage == sentence.passage and before.place + 1 == sentence.place:
            text += " " + sentence.text
        else:
            text += GAP + sentence.text
    return text


def consecutive(found: Sequence[Sentence], budget: int) -> list[list[Sentence]]:
    """Windows of neighbouring sentences that together read everything, one sentence shared by two."""
    windows: list[list[Sentence]] = []
    current: list[Sentence] = []
    for sentence in found:
        full = sum(s.tokens for s in current) + sentence.tokens > budget
        if current and (full or current[-1].passage != sentence.passage):
            windows.append(current)
            shared = current[-1]
            fits = shared.tokens + sentence.tokens <= budget and shared.passage == sentence.passage
            current = [shared] if fits and len(current) > 1 else []
        current.append(sentence)
    return [*windows, current] if current else windows


def gather(claim: str, found: Sequence[Sentence], budget: int) -> list[Sentence]:
    """The sentences that together cover the claim's words best, with what stands before them."""
    if sum(s.tokens for s in found) <= budget:
        return list(found)
    stems = [_stems(sentence.text) for sentence in found]
    frequency = Counter(stem for bag in stems for stem in bag)
    wanted = {stem: math.log(1 + len(found) / (1 + frequency[stem])) for stem in _stems(claim)}
    order = _by_coverage(stems, wanted)
    return _fill(found, order, budget)


def _stems(text: str) -> set[str]:
    tokens = [word[:6] for word in words(text)]
    return set(tokens) | {f"{a} {b}" for a, b in itertools.pairwise(tokens)}


def _by_coverage(stems: Sequence[set[str]], wanted: dict[str, float]) -> list[int]:
    """Indexes of sentences, each next one adding most of what the claim still lacks."""
    gains = [sum(wanted[stem] for stem in bag if stem in wanted) for bag in stems]
    left = [index for index, gain in enumerate(gains) if gain > 0]
    missing = set(wanted)
    order: list[int] = []
    while left and len(order) < 12:
        new = {index: sum(wanted[stem] for stem in stems[index] & missing) for index in left}
        worth = {index: (new[index] + 0.3 * gains[index], -index) for index in left}
        best = max(worth, key=worth.__getitem__)
        left.remove(best)
        order.append(best)
        missing -= stems[best]
    return order


def _fill(found: Sequence[Sentence], order: Sequence[int], budget: int) -> list[Sentence]:
    chosen: set[int] = set()
    used = 0
    neighbours = [i for index in order[:3] for i in (index - 1, index + 1)]
    rest = range(len(found))
    for index in [*order[:3], *neighbours, *order[3:], *rest]:
        if index in chosen or not 0 <= index < len(found):
            continue
        if used + found[index].tokens + 1 <= budget:
            chosen.add(index)
            used += found[index].tokens + 1
    return [found[index] for index in sorted(chosen)]

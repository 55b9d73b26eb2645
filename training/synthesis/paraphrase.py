"""Changes that keep a claim supported: other words, a part left out, an opening phrase."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from training.synthesis.edits import phrase_spans, replace_span
from training.synthesis.lexicon import lexicon
from training.text import Span

Paraphrase = Callable[[str, str, random.Random], str | None]

_ASIDE = re.compile(r" ?\([^()]{3,80}\)|, (?:which|who|where) [^,.]{5,80}(?=[,.])|, [^,.]{3,40}(?=, )")
_TAIL = re.compile(r"(?:,| and| but| while| và| nhưng| trong khi| đồng thời| cũng như)(?= \w)")


def other_words(claim: str, lang: str, chance: random.Random) -> str | None:
    """Up to three words become words of the same meaning."""
    listed = lexicon(lang).synonyms
    pairs = [*listed, *((new, old) for old, new in listed)]
    changed = claim
    for _ in range(3):
        found = [(span, new) for old, new in pairs for span in phrase_spans(changed, old)]
        if not found:
            break
        span, new = chance.choice(found)
        changed, _ = replace_span(changed, span, new)
    return changed if changed != claim else None


def without_aside(claim: str, lang: str, chance: random.Random) -> str | None:
    """A parenthesis or a clause between commas is left out."""
    asides = list(_ASIDE.finditer(claim))
    if not asides:
        return None
    aside = chance.choice(asides)
    shorter = claim[: aside.start()] + claim[aside.end() :]
    return re.sub(r" ,", ",", shorter)


def shortened(claim: str, lang: str, chance: random.Random) -> str | None:
    """Only the part before a later comma or conjunction is kept."""
    words_before = [m for m in _TAIL.finditer(claim) if len(claim[: m.start()].split()) >= 7]
    if not words_before:
        return None
    return claim[: chance.choice(words_before).start()].rstrip(" ,;") + "."


def led_in(claim: str, spans: Sequence[Span], lang: str, chance: random.Random) -> tuple[str, list[Span]]:
    """An opening phrase attributes the claim to the text; the spans move along."""
    opening = chance.choice(lexicon(lang).lead_ins)
    common = claim.split(" ", 1)[0].casefold() in _OPENERS
    body = claim[:1].lower() + claim[1:] if common else claim
    return opening + body, [(start + len(opening), end + len(opening)) for start, end in spans]


_OPENERS = frozenset(
    [
        "the",
        "a",
        "an",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "to",
        "it",
        "this",
        "these",
        "there",
        "when",
        "while",
        "after",
        "before",
        "during",
        "since",
        "although",
        "many",
        "most",
        "some",
        "several",
        "all",
        "they",
        "their",
        "his",
        "her",
        "các",
        "những",
        "một",
        "khi",
        "sau",
        "trước",
        "trong",
        "theo",
        "tại",
        "từ",
        "vào",
        "năm",
        "ngày",
        "đây",
        "đó",
        "họ",
        "ông",
        "bà",
        "nó",
        "nhiều",
        "hầu",
        "mỗi",
        "mọi",
    ]
)

PARAPHRASES: dict[str, Paraphrase] = {
    "other_words": other_words,
    "without_aside": without_aside,
    "shortened": shortened,
}


def paraphrased(claim: str, lang: str, chance: random.Random, most: int = 2) -> str:
    """The claim after up to `most` changes that keep it supported."""
    for name in chance.sample(sorted(PARAPHRASES), k=chance.randint(0, most)):
        claim = PARAPHRASES[name](claim, lang, chance) or claim
    return claim

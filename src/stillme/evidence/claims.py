"""The claims of a draft: its sentences, which of them state facts at all, and what each one cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from stillme.evidence.citations import Marker
from stillme.evidence.lexicon import Lexicon, Match
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text

__all__ = ["Claim", "asks_for_opinion", "find_claims"]

FACT: Final = "fact"
MOST_BESIDE_OPENING: Final = 2
LEAST_OF_A_FACT: Final = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the draft. `kind` is "fact", or what it does instead: greet, refuse, ask, give an opinion, …"""

    first: int
    last: int
    start: int
    end: int
    kind: str
    index: int = 0
    """Which sentence of the draft it is."""
    cited: tuple[int, ...] = ()
    """Indices of the passages it cites."""
    markers: tuple[Marker, ...] = ()
    assent: bool = False
    """It only says yes or no: what it claims is what the question asks."""

    @property
    def factual(self) -> bool:
        """Whether it states something that a source could support or contradict."""
        return self.kind == FACT

    @property
    def span(self) -> tuple[int, int]:
        """Its character range in the draft."""
        return self.start, self.end


@cache
def _lexicon() -> Lexicon:
    rules = load("claims")
    return Lexicon(rules["lists"], rules["classes"])


def asks_for_opinion(query: Text) -> bool:
    """Whether the user asks what the assistant thinks or likes."""
    return "asks_opinion" in _lexicon().names(query)


def find_claims(
    draft: Text, sentences: Sequence[Sentence], markers: Sequence[Marker], *, opinion_asked: bool
) -> list[Claim]:
    """One claim a sentence, in order, each with its kind and what it cites."""
    claims: list[Claim] = []
    in_sources = False
    for index, sentence in enumerate(sentences):
        own = tuple(m for m in markers if sentence.start <= m.start < sentence.end)
        heading = _is_heading(draft, sentence)
        if heading:
            in_sources = "sources_heading" in _lexicon().names(draft, sentence.first, sentence.last)
        kind = (
            "heading"
            if heading
            else _layout(draft, sentence, own, in_sources) or _speech(draft, sentence, own, opinion_asked)
        )
        cited = tuple(dict.fromkeys(i for m in own for i in m.passages))
        assent = kind == FACT and _only_assents(draft, sentence, own)
        claims.append(
            Claim(sentence.first, sentence.last, sentence.start, sentence.end, kind, index, cited, own, assent)
        )
    return claims


def _is_heading(draft: Text, s: Sentence) -> bool:
    """A Markdown heading, a bold line of its own, or the header row of a table."""
    line_start = draft.raw.rfind("\n", 0, s.start) + 1
    line_end = draft.raw.find("\n", s.end)
    line = draft.raw[line_start : line_end if line_end >= 0 else len(draft.raw)].strip()
    if line.startswith("#"):
        return True
    if line.startswith(("**", "__")) and line.rstrip(":").endswith(("**", "__")) and s.last - s.first <= 14:
        return line[2:-2].count(line[:2]) == 0
    below = draft.raw[line_end + 1 :].lstrip() if line_end >= 0 else ""
    return line.startswith("|") and below.startswith(("|-", "| -", "|:", "| :"))


def _layout(draft: Text, s: Sentence, own: Sequence[Marker], in_sources: bool) -> str | None:
    """What a sentence is by its place: code, an entry of a list of sources, a row of dashes; None for prose."""
    if any(a <= s.start < b for a, b in draft.code):
        return "code"
    opens_with_marker = bool(own) and own[0].start == s.start and s.end > own[0].end
    if in_sources or (opens_with_marker and _at_line_start(draft, s.start)):
        return "reference"
    outside = [w for i, w in enumerate(draft.words[s.first : s.last], s.first) if not _in_marker(draft, i, own)]
    return None if any(w.word or w.number for w in outside) else "layout"


def _at_line_start(draft: Text, start: int) -> bool:
    return not draft.raw[draft.raw.rfind("\n", 0, start) + 1 : start].strip(" \t-*•>")


def _in_marker(draft: Text, i: int, own: Sequence[Marker]) -> bool:
    return any(m.start <= draft.starts[i] < m.end for m in own)


def _speech(draft: Text, s: Sentence, own: Sequence[Marker], opinion_asked: bool) -> str:
    """What a sentence of prose does."""
    found = [m for m in _lexicon().find(draft, s.first, s.last) if not draft.quoted[m.first]]
    names = {m.name for m in found}
    addresses = [*(m.span for m in own), *(u for u in draft.urls if s.start <= u[0] < s.end)]
    figures = any(
        draft.words[i].number and not any(a <= draft.starts[i] < b for a, b in addresses)
        for i in range(s.first, s.last)
    )
    if "reports" in names:
        return FACT
    if _asks(draft, s):
        return "question"
    if not figures and not own:
        if "disclaiming" in names or "courtesy" in names:
            return "disclaimer" if "disclaiming" in names else "courtesy"
        if _says_little_more(draft, s, [m for m in found if m.name == "opening"]):
            return "courtesy"
    if "refusal" in names:
        return FACT if _continues_with_fact(draft, s, figures) else "refusal"
    if ("announcing" in names or _points(draft, s, names)) and not figures:
        return "announcement"
    return _opinion_or_self(names, figures, bool(own), opinion_asked) or _tail(draft, s, figures)


def _says_little_more(draft: Text, s: Sentence, openings: Sequence[Match]) -> bool:
    """A greeting or thanks with at most two words of content beside it: 'Thank you for asking!'"""
    if not openings:
        return False
    rest = [w for w in draft.words[max(m.last for m in openings) : s.last] if w.content and not w.capital]
    return len(rest) <= MOST_BESIDE_OPENING


def _points(draft: Text, s: Sentence, names: set[str]) -> bool:
    """A short line that only sends the reader to a page: what it says is the address, which is checked as a reference."""
    return "pointing" in names and (any(s.start <= a < s.end for a, _ in draft.urls) or s.last - s.first <= 10)


def _opinion_or_self(names: set[str], figures: bool, cites: bool, opinion_asked: bool) -> str | None:
    """An opinion judges and gives no figure; what the assistant says of itself is for the identity validators."""
    if not figures and not cites and "judging" in names and ("opinion" in names or opinion_asked):
        return "opinion"
    if "self" in names and "opinion" not in names and not cites:
        return "self"
    return None


def _tail(draft: Text, s: Sentence, figures: bool) -> str:
    """A line that ends with a colon and gives no figure announces what follows; anything else states a fact."""
    last = draft.words[s.last - 1].text
    return "announcement" if last == ":" and not figures and s.last - s.first <= 14 else FACT


def _asks(draft: Text, s: Sentence) -> bool:
    ending = [w.text for w in draft.words[max(s.first, s.last - 6) : s.last]]
    return "?" in ending or "？" in ending


def _continues_with_fact(draft: Text, s: Sentence, figures: bool) -> bool:
    """'I could not find the price, but it is usually $50': the second half states a fact."""
    contrasts = [m for m in _lexicon().find(draft, s.first, s.last) if m.name in ("contrast", "refusal", "self")]
    last = max((m.first for m in contrasts if m.name == "contrast"), default=None)
    if last is None or any(m.name != "contrast" and m.first > last for m in contrasts):
        return False
    return figures or sum(w.content for w in draft.words[last : s.last]) >= LEAST_OF_A_FACT


def _only_assents(draft: Text, s: Sentence, own: Sequence[Marker]) -> bool:
    words = [
        w
        for i, w in enumerate(draft.words[s.first : s.last], s.first)
        if (w.word or w.number) and not _in_marker(draft, i, own)
    ]
    return (
        0 < len(words) <= 2
        and "assent" in _lexicon().names(draft, s.first, s.last)
        and not any(w.content for w in words[1:])
    )

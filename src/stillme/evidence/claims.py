"""The claims of a draft: its sentences, which of them state facts at all, and what each one cites."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from stillme.evidence.citations import Marker
from stillme.evidence.lexicon import Lexicon, Match
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text, within

__all__ = ["FACT", "SELF", "Claim", "asks_for_opinion", "find_claims"]

FACT: Final = "fact"
SELF: Final = "self"
MOST_BESIDE_OPENING: Final = 2
LEAST_OF_A_FACT: Final = 3
LONGEST_HEADING: Final = 200
WRITTEN_FOR_USER: Final = frozenset({"creative", "rewrite", "code"})


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
    draft: Text, sentences: Sequence[Sentence], markers: Sequence[Marker], hidden: frozenset[int], *, asked: str
) -> list[Claim]:
    """One claim a sentence, in order, each with its kind and what it cites.

    `hidden` are the tokens of citation markers and web addresses, which say nothing themselves; `asked` is what kind of thing
    the question asks for: a poem that was asked for states no facts, an opinion that was asked for needs no opinion word.
    """
    claims: list[Claim] = []
    in_sources, at = False, 0
    for index, sentence in enumerate(sentences):
        first = at
        while at < len(markers) and markers[at].start < sentence.end:
            at += 1
        own = tuple(m for m in markers[first:at] if m.start >= sentence.start)
        heading = _is_heading(draft, sentence)
        if heading:
            in_sources = "sources_heading" in _lexicon().names(draft, sentence.first, sentence.last)
        said = [i for i in range(sentence.first, sentence.last) if i not in hidden]
        kind = "heading" if heading else _kind(draft, sentence, own, said, in_sources, asked)
        cited = tuple(dict.fromkeys(i for m in own for i in m.passages))
        assent = kind == FACT and _only_assents(draft, sentence, said)
        claims.append(
            Claim(sentence.first, sentence.last, sentence.start, sentence.end, kind, index, cited, own, assent)
        )
    return _without_lead_words(_sharing_markers(draft, claims))


def _sharing_markers(draft: Text, claims: list[Claim]) -> list[Claim]:
    """'It runs on Linux; Windows is not supported [1].': what stands before a semicolon is cited with what stands behind it."""
    shared: list[Claim] = []
    for claim in reversed(claims):
        behind = shared[-1] if shared else None
        if behind is not None and not claim.markers and behind.markers and draft.raw[claim.end - 1] == ";":
            claim = replace(claim, cited=behind.cited, markers=behind.markers)  # noqa: PLW2901  (the claim, completed)
        shared.append(claim)
    return shared[::-1]


def _without_lead_words(claims: list[Claim]) -> list[Claim]:
    """'No. Windows is not supported [1].': a bare yes or no before a fact only leads in to it."""
    last_fact = max((k for k, claim in enumerate(claims) if claim.kind == FACT), default=-1)
    return [
        replace(c, kind="lead-in", assent=False) if c.assent and not c.markers and k < last_fact else c
        for k, c in enumerate(claims)
    ]


def _kind(draft: Text, s: Sentence, own: Sequence[Marker], said: Sequence[int], in_sources: bool, asked: str) -> str:
    """What a sentence is by its place, else by what it says."""
    if within(draft.code, s.start):
        return "code"
    opens_with_marker = bool(own) and own[0].start == s.start and s.end > own[0].end
    if in_sources or (opens_with_marker and _at_line_start(draft, s.start)):
        return "reference"
    words = [draft.words[i] for i in said]
    if not any(w.word or w.number for w in words):
        return "announcement" if _has_address(draft, s) else "layout"
    if asked in WRITTEN_FOR_USER and not own:
        return asked
    return _speech(draft, s, any(w.number for w in words), bool(own), asked == "opinion")


def _is_heading(draft: Text, s: Sentence) -> bool:
    """A Markdown heading, a bold line of its own, or the header row of a table."""
    start, end = draft.line(s.start)
    opening = draft.raw[start : start + LONGEST_HEADING].lstrip()
    if opening.startswith("#"):
        return not any(w.number for w in draft.words[s.first : s.last]) or s.last - s.first <= 4
    if opening.startswith(("**", "__")) and s.last - s.first <= 14 and end - start <= LONGEST_HEADING:
        line = draft.raw[start:end].strip()
        return line.rstrip(":").endswith(("**", "__")) and line[2:-2].count(line[:2]) == 0
    below = draft.raw[end + 1 : end + 9].lstrip()
    return opening.startswith("|") and below.startswith(("|-", "| -", "|:", "| :"))


def _at_line_start(draft: Text, start: int) -> bool:
    return start - draft.line(start)[0] <= 8 and not draft.raw[draft.line(start)[0] : start].strip(" \t-*•>")


def _has_address(draft: Text, s: Sentence) -> bool:
    at = bisect_left(draft.urls, (s.start, 0))
    return at < len(draft.urls) and draft.urls[at][0] < s.end


def _speech(draft: Text, s: Sentence, figures: bool, cites: bool, opinion_asked: bool) -> str:
    """What a sentence of prose does."""
    found = [m for m in _lexicon().find(draft, s.first, s.last) if not draft.quoted[m.first]]
    names = {m.name for m in found}
    if "reports" in names:
        return FACT
    if _asks(draft, s):
        return "question"
    if not figures and not cites:
        if "disclaiming" in names or "courtesy" in names:
            return "disclaimer" if "disclaiming" in names else "courtesy"
        if _says_little_more(draft, s, [m for m in found if m.name == "opening"]):
            return "courtesy"
    if "refusal" in names:
        return FACT if _continues_with_fact(draft, s, figures) else "refusal"
    if ("announcing" in names or _points(draft, s, names)) and not figures:
        return "announcement"
    return _opinion_or_self(names, figures, cites, opinion_asked) or _tail(draft, s, figures, cites)


def _says_little_more(draft: Text, s: Sentence, openings: Sequence[Match]) -> bool:
    """A greeting or thanks with at most two words of content beside it: 'Thank you for asking!'"""
    if not openings:
        return False
    rest = [w for w in draft.words[max(m.last for m in openings) : s.last] if w.content and not w.capital]
    return len(rest) <= MOST_BESIDE_OPENING


def _points(draft: Text, s: Sentence, names: set[str]) -> bool:
    """A short line that only sends the reader to a page: what it says is the address, which is checked as a reference."""
    return "pointing" in names and (s.last - s.first <= 10 or _has_address(draft, s))


def _opinion_or_self(names: set[str], figures: bool, cites: bool, opinion_asked: bool) -> str | None:
    """An opinion judges and gives no figure; what the assistant says of itself is for the identity validators."""
    if not figures and not cites and "judging" in names and ("opinion" in names or opinion_asked):
        return "opinion"
    if "self" in names and "opinion" not in names and not cites:
        return SELF
    return None


def _tail(draft: Text, s: Sentence, figures: bool, cites: bool) -> str:
    """A line that ends with a colon, gives no figure and cites nothing announces what follows; anything else states a fact."""
    last = draft.words[s.last - 1].text
    return "announcement" if last == ":" and not figures and not cites and s.last - s.first <= 14 else FACT


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


def _only_assents(draft: Text, s: Sentence, said: Sequence[int]) -> bool:
    words = [w for i in said[:6] if (w := draft.words[i]).word or w.number]
    if not 0 < len(words) <= 2 or any(w.content for w in words[1:]):
        return False
    return "assent" in _lexicon().names(draft, s.first, s.last)

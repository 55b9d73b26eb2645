"""Citation markers in the forms people use, and the passages they point at.

`[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `【1】`, `【1†source】`, `[doc-123]`, `[Source 2]`, `(Source 2)`, `(Source: doc-123)`, `[title](url)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from stillme.grounding.passage import Passage
from stillme.languages import compiled, load
from stillme.text.tokens import Text, fold, within

__all__ = ["Marker", "find_markers"]

BRACKETED: Final = re.compile(r"\[([^\[\]\n]{1,200}+)\](\([^()\s]{1,2000}+\))?+|【([^【】\n]{1,200}+)】")
NUMBER_OR_RANGE: Final = re.compile(r"(\d{1,4})(?:\s*+[-–—]\s*+(\d{1,4}))?+")
ID_LIKE: Final = re.compile(r"[^\W_][\w./:#-]*+")
CLOCK: Final = re.compile(r"\d{1,2}+:\d{2}(?::\d{2})?+")
YEARS: Final = range(1500, 2200)
WIDEST_RANGE: Final = 64


class _Patterns(NamedTuple):
    """How a source is named in words, in brackets or before its number, and what a row of numbers looks like."""

    in_parentheses: re.Pattern[str]
    leading_word: re.Pattern[str]
    numbers: re.Pattern[str]


@compiled
def _patterns() -> _Patterns:
    source, according, joining = (
        "|".join(sorted(map(re.escape, load("citations")[name]), key=len, reverse=True))
        for name in ("source_words", "according", "joining")
    )
    number = r"\d{1,4}(?:\s*+[-–—]\s*+\d{1,4})?+"
    return _Patterns(
        re.compile(rf"\(\s*+(?:(?:{according})\s++)?+(?:{source})\s*+[:#]?+\s*+([^()\n]{{1,200}}+)\)", re.IGNORECASE),
        re.compile(rf"\s*+(?:(?:{source})(?:\s*+[:#.]\s*+|\s++|(?=\d)))?+", re.IGNORECASE),
        re.compile(rf"\^?\s*+#?{number}(?:\s*+(?:[,;&]|{joining})\s*+\^?#?{number})*+"),
    )


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker: where it stands, which passages it names, and what it names that does not exist."""

    start: int
    end: int
    passages: tuple[int, ...]
    """Indices into the list of readable passages."""
    unknown: tuple[str, ...]
    """What the marker names that no passage answers to."""
    label: tuple[int, int] | None = None
    """The words of a link that cites: they are part of what the draft says."""

    @property
    def unread(self) -> tuple[int, int]:
        """The characters that say nothing themselves: the marker, or the target of a link that cites."""
        return (self.label[1], self.end) if self.label else self.span

    @property
    def span(self) -> tuple[int, int]:
        """Its character range."""
        return self.start, self.end


class _CitableSources:
    """The passages by number, id and address."""

    def __init__(self, passages: Sequence[Passage], given: int) -> None:
        self.count = given
        self.by_number = {p.number: i for i, p in enumerate(passages)}
        self.by_id: dict[str, list[int]] = {}
        self.by_url: dict[str, list[int]] = {}
        for i, p in enumerate(passages):
            self.by_id.setdefault(fold(p.source_id), []).append(i)
            if p.given.url:
                self.by_url.setdefault(p.given.url.rstrip("/"), []).append(i)


def find_markers(draft: Text, passages: Sequence[Passage], given: int) -> list[Marker]:
    """The citation markers of a draft, in order; `given` is how many passages the request had, blank ones included."""
    if not any(c in draft.raw for c in "[【("):
        return []
    sources = _CitableSources(passages, given)
    found = [_bracketed(m, sources) for m in BRACKETED.finditer(draft.raw)]
    if "(" in draft.raw:
        found += [_worded(m, sources) for m in _patterns().in_parentheses.finditer(draft.raw)]
    inline = _inline_code(draft.raw)
    markers = [m for m in found if m is not None and not within(draft.code, m.start) and not within(inline, m.start)]
    return sorted(markers, key=lambda m: m.start)


def _inline_code(raw: str) -> list[tuple[int, int]]:
    ticks = [i for i, c in enumerate(raw) if c == "`"] if "`" in raw else []
    return [(a, b) for a, b in zip(ticks[0::2], ticks[1::2], strict=False)]


def _bracketed(match: re.Match[str], sources: _CitableSources) -> Marker | None:
    inner, link = match.group(1) or match.group(3), match.group(2)
    if link is not None:
        target = sources.by_url.get(link[1:-1].rstrip("/"))
        label = None if _resolve(inner, match, sources, worded=False) else match.span(1)
        return Marker(match.start(), match.end(), tuple(target), (), label) if target else None
    named, _, note = inner.partition("†")
    if len(note.split()) > 1:  # where in the source it stands, not what it says
        return None
    return _resolve(named, match, sources, worded=False)


def _worded(match: re.Match[str], sources: _CitableSources) -> Marker | None:
    return _resolve(match.group(1), match, sources, worded=True)


def _resolve(inner: str, match: re.Match[str], sources: _CitableSources, *, worded: bool) -> Marker | None:
    """The marker that a bracket's content makes, or None if it is no citation."""
    exact = sources.by_id.get(fold(inner.strip()))
    if exact:
        return Marker(match.start(), match.end(), tuple(exact), ())
    lead = _patterns().leading_word.match(inner)
    body = inner[lead.end() :].strip() if lead else inner.strip()
    worded = worded or bool(lead and lead.group().strip())
    if _patterns().numbers.fullmatch(body):
        return _numbered(body, match, sources)
    return _by_ids(body, match, sources, worded=worded)


def _numbered(body: str, match: re.Match[str], sources: _CitableSources) -> Marker | None:
    numbers: list[int] = []
    for part in NUMBER_OR_RANGE.finditer(body):
        low, high = int(part.group(1)), int(part.group(2) or part.group(1))
        if low in YEARS and low > sources.count:
            return None
        numbers += range(low, high + 1) if 0 <= high - low <= WIDEST_RANGE else (low, high)
    known = tuple(dict.fromkeys(sources.by_number[n] for n in numbers if n in sources.by_number))
    unknown = tuple(str(n) for n in numbers if not 1 <= n <= sources.count)
    return Marker(match.start(), match.end(), known, unknown)


def _by_ids(body: str, match: re.Match[str], sources: _CitableSources, *, worded: bool) -> Marker | None:
    """A marker of source ids; an unknown one counts only if it is shaped like an id and not like prose."""
    names = [part.strip() for part in re.split("[,;]", body) if part.strip()]
    known: list[int] = []
    unknown: list[str] = []
    for name in names:
        target = sources.by_id.get(fold(name)) or sources.by_url.get(name.rstrip("/"))
        if target:
            known += target
        else:
            unknown.append(name)
    if not known and not all(_looks_like_id(name, worded=worded) for name in unknown):
        return None
    return Marker(match.start(), match.end(), tuple(dict.fromkeys(known)), tuple(unknown))


def _looks_like_id(name: str, *, worded: bool) -> bool:
    """One word with a digit or an inner hyphen in it ('doc-9', 'faq_refunds'); a tick box, [sic] or [10:42] is not an id."""
    if not ID_LIKE.fullmatch(name) or len(name) < 2 or name.isdigit() or CLOCK.fullmatch(name):
        return False
    has_digit = any(c.isdigit() for c in name)
    has_joint = any(c in "-_/:#" for c in name[1:-1])
    return has_digit and (has_joint or name[0].isalpha()) if not worded else has_digit or has_joint

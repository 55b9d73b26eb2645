"""Keys of JSON and YAML that only name what follows them, in any spelling of programs: 'cau_tra_loi', 'quickReplies'.

A key that says anything else is text, and so is what stands behind it; of values only those are no text that tell a state by one of a
few words behind a key of states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stillme.languages import compiled, word_set
from stillme.text.tokens import fold_text

__all__ = ["find_keys", "find_lines"]

Span = tuple[int, int]

KEY: Final = re.compile(r"[{,]\s*+\"([\w ]{1,40}+)\"\s*+:\s*+(?:\"([\w ]{1,20}+)\")?+")
LINE: Final = re.compile(
    r"^[ \t]*+(?:-[ \t]++)?+([^\W\d]\w{0,40}+):(?:[ \t]++\"?+([\w ]{1,20}+)\"?+[ \t]*+$|(?=\s))", re.MULTILINE
)
HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
LONGEST_PHRASE: Final = 4


@compiled
def _phrases(name: str) -> frozenset[str]:
    return frozenset(map(fold_text, word_set("markup", name)))


def find_keys(raw: str) -> Iterator[Span]:
    """The keys of JSON that say nothing, and the values behind them that only tell a state."""
    for match in KEY.finditer(raw):
        yield from _silent(match)


def find_lines(raw: str) -> list[tuple[int, list[Span]]]:
    """The lines of YAML, each by its start, with what of them says nothing; none where no key is spelt as programs do."""
    found = [(match, spans) for match in LINE.finditer(raw) if (spans := list(_silent(match)))]
    if not any("_" in _joined(match.group(1)) for match, _ in found):
        return []
    return [(match.start(), spans) for match, spans in found]


def _silent(match: re.Match[str]) -> Iterator[Span]:
    name = _joined(match.group(1))
    if _consists(name, _phrases("keys") | _phrases("states")):
        yield match.span(1)
        if match.group(2) and _consists(name, _phrases("states")) and _joined(match.group(2)) in _phrases("values"):
            yield match.span(2)


def _joined(name: str) -> str:
    """A name with its words in small letters, without accents, joined by underscores."""
    return fold_text("_".join(HUMP.sub("_", name).replace("_", " ").split()))


def _consists(name: str, phrases: frozenset[str]) -> bool:
    """Whether a name is nothing but phrases of a list, the longest first."""
    parts = name.split("_")
    while parts:
        sizes = (n for n in range(min(LONGEST_PHRASE, len(parts)), 0, -1) if "_".join(parts[:n]) in phrases)
        size = next(sizes, 0)
        if not size:
            return False
        parts = parts[size:]
    return True

"""What the service and the record say in English, said in the reader's language: a sentence is known by its fixed parts.

`recorded.yaml` of a language has the sentences and the phrases that stand inside them: `{slots}` are kept as they are, `<slots>` are
said in that language too. What it does not know stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from stillme.languages import compiled, language_of

__all__ = ["Pattern", "translated"]

SLOT: Final = re.compile(r"([{<])([a-z_]+)[}>]")
LONGEST: Final = 4_000
DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Pattern:
    """One sentence: its fixed parts, what stands between them, and how it is said."""

    fixed: tuple[str, ...]
    slots: tuple[tuple[str, bool], ...]
    said: str

    @classmethod
    def of(cls, known: str, said: str) -> Self:
        """A sentence as the file writes it, and its translation."""
        parts = SLOT.split(known)
        slots = tuple((name, mark == "<") for mark, name in zip(parts[1::3], parts[2::3], strict=True))
        return cls(tuple(parts[0::3]), slots, said)

    def match(self, text: str) -> list[str] | None:
        """What stands in the slots of a text that is this sentence; each fixed part is taken where it comes first."""
        first, last = self.fixed[0], self.fixed[-1]
        if not self.slots:
            return [] if text == first else None
        at, end = len(first), len(text) - len(last)
        if end < at or not (text.startswith(first) and text.endswith(last)):
            return None
        found = []
        for part in self.fixed[1:-1]:
            place = text.find(part, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(part)
        return [*found, text[at:end]]

    def filled(self, slots: Mapping[str, str]) -> str:
        """How it is said with these words in its slots."""
        return SLOT.sub(lambda slot: slots.get(slot[2], slot[0]), self.said)


@dataclass(frozen=True, slots=True)
class _Patterns:
    sentences: tuple[Pattern, ...]
    phrases: tuple[Pattern, ...]

    def said(self, text: str, patterns: Iterable[Pattern], depth: int = 0) -> str | None:
        """The first of the patterns that a text is, in the other language."""
        for pattern in patterns:
            found = pattern.match(text)
            if found is not None:
                slots = zip(pattern.slots, found, strict=True)
                return pattern.filled(
                    {n: self._inside(each, depth) if is_said else each for (n, is_said), each in slots}
                )
        return None

    def _inside(self, text: str, depth: int) -> str:
        patterns = (*self.phrases, *self.sentences)
        return (self.said(text, patterns, depth + 1) if depth < DEEPEST else None) or text

    def line(self, text: str) -> str:
        """One line: several sentences with semicolons between them, or one."""
        parts = [self.said(part, self.sentences) for part in text.split("; ")]
        return "; ".join(map(str, parts)) if all(parts) else self.said(text, self.sentences) or text


@compiled
def _patterns(language: str) -> _Patterns:
    rules: Mapping[str, Mapping[str, str]] = language_of(language).rules("recorded")
    made = [tuple(Pattern.of(*pair) for pair in rules.get(kind, {}).items()) for kind in ("sentences", "phrases")]
    return _Patterns(*made)


def translated(language: str, text: str) -> str:
    """A text of the service or the record in that language, line by line; what is not known stays as it was."""
    patterns = _patterns(language)
    if len(text) > LONGEST or not patterns.sentences:
        return text
    return "\n".join(patterns.line(line) for line in text.split("\n"))

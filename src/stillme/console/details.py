"""What the record says against a claim, in the words of the reader; what has no words here is shown as it is recorded."""

from __future__ import annotations

import ast
from typing import Final

from stillme.console.words import ConsoleWords

__all__ = ["worded"]

UNREAD: Final = "; the model did not read everything: over grounding.most_tokens"
SAYS: Final = ("claim says ", ", source says ")
MISSING: Final = "not in the sources"
MODEL: Final = "model"


def worded(say: ConsoleWords, detail: str) -> str:
    """The detail of a claim as a sentence of the reader's language."""
    read, unread, _ = detail.partition(UNREAD)
    sentence = _sentence(say, read) or read
    return f"{sentence} {say('detail.unread')}".strip() if unread else sentence


def _sentence(say: ConsoleWords, detail: str) -> str | None:
    kind, _, rest = detail.partition(": ")
    if kind == MISSING:
        return say("detail.missing", words=", ".join(_quoted(word) for word in _literals(rest)))
    if kind == MODEL:
        found, _, score = rest.rpartition(" (")
        return _known(say, f"model.{found}", score=score.removesuffix(")"))
    said, _, instead = rest.removeprefix(SAYS[0]).partition(SAYS[1])
    if instead:
        return _known(say, f"{kind} instead", said=_literal(said), instead=_literal(instead))
    return _known(say, kind, said=_literal(rest))


def _known(say: ConsoleWords, name: str, **slots: str) -> str | None:
    key = f"detail.{name.replace(' ', '_')}"
    return say(key, **slots) if say.knows(key) else None


def _literals(text: str) -> list[str]:
    """Words as the record quotes them, one behind the other."""
    try:
        return [str(word) for word in ast.literal_eval(f"[{text}]")]
    except (SyntaxError, ValueError):  # written by another version
        return [text]


def _literal(text: str) -> str:
    return ", ".join(_literals(text))


def _quoted(word: str) -> str:
    return f"“{word}”"

"""The words of the console in one language: those of every page, and its own."""

from __future__ import annotations

from stillme.console.translation import translated
from stillme.languages import DEFAULT, is_served, language_of, languages
from stillme.pages.rendering import PageWords

__all__ = ["ConsoleWords", "choices", "preferred"]


class ConsoleWords(PageWords):
    """What the console says."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self._words = {**self._words, **language_of(language).rules("console")}
        self._signs = {} if language_of(language).decimal == "." else str.maketrans(",.", ".,")

    def knows(self, key: str) -> bool:
        """Whether there are words for a key."""
        return key in self._words

    def figure(self, value: object) -> str:
        """A number, or a figure as English writes it, with the signs that this language puts into figures."""
        return (f"{value:,}" if isinstance(value, int) else str(value)).translate(self._signs)

    def told(self, text: str) -> str:
        """A sentence of the service or the record, in this language where that is known."""
        return translated(self.language, text)


def choices() -> list[tuple[str, str]]:
    """The languages that the console speaks: code, and its name in itself."""
    served = [language for language in languages() if language.rules("console")]
    return [(language.code, str(language.rules("console")["language.name"])) for language in served]


def preferred(chosen: str | None, accepted: str) -> str:
    """The language that a reader chose, or the first that the browser asks for and the console speaks."""
    spoken = [code for code, _ in choices()]
    if chosen in spoken:
        return str(chosen)
    wanted = [part.partition(";")[0].strip().lower()[:2] for part in accepted[:200].split(",")]
    return next((code for code in wanted if is_served(code) and code in spoken), DEFAULT)

"""Templates become pages, drawings and Markdown here: whatever a template puts into its output is text and is escaped.

A page shows every character of a text: control, bidirectional and invisible ones stand there as their codes. A text of the class
`Code` (a name, a hash, a command) is set in a type of its own. Only what a template itself has written is markup.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from stillme.languages import language_of
from stillme.pages import markdown
from stillme.pages.text import Code, on_one_line

__all__ = ["BLANK", "PageWords", "chart_style", "render", "style"]

# Letters, marks and selectors that Unicode calls printable and that leave no mark of their own.
BLANK: Final = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0]
) | frozenset([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
HIDDEN: Final = re.compile(r"<i>U\+([0-9A-F]{4,6})</i>")
MOST_CACHED: Final = 8192


def render(template: str, **view: Any) -> Markup:
    """The output of a template of this package; its ending says what that is: .html, .svg or .md."""
    return Markup(_environment(template.rpartition(".")[2]).get_template(template).render(view))  # noqa: S704


class PageWords:
    """The interface words of the pages in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._words: dict[str, str] = language_of(language).rules("pages")

    def __call__(self, key: str, **slots: object) -> str:
        """What the language says for a key, with its {slots} filled."""
        return self._words[key].format(**slots) if slots else self._words[key]

    def value(self, group: str, recorded: str, otherwise: str | None = None) -> str:
        """The word for a recorded value; one that has none is shown as it is."""
        return self._words.get(f"{group}.{recorded}", recorded if otherwise is None else otherwise)


@cache
def style() -> str:
    """The one style sheet of every page."""
    return _file("templates/page.css") + chart_style()


@cache
def chart_style() -> str:
    """The part of it that a drawing needs where it stands alone."""
    return _file("templates/chart.css")


def _file(name: str) -> str:
    return files("stillme.pages").joinpath(name).read_text(encoding="utf-8")


class _Escapes(dict[int, str]):
    """How each character is written in HTML; one that cannot be seen becomes its code in an element of its own."""

    def __missing__(self, code: int) -> str:
        written = f"<i>U+{code:04X}</i>" if _is_hidden(chr(code)) else html.escape(chr(code))
        if len(self) < MOST_CACHED:
            self[code] = written
        return written


def _is_hidden(char: str) -> bool:
    if ord(char) in BLANK:
        return True
    return not char.isprintable() and char not in "\n\t" and unicodedata.category(char) != "Zs"


_ESCAPES: Final = _Escapes()


def _in_html(text: str) -> Markup:
    written = text.replace("\r\n", "\n").translate(_ESCAPES)
    return Markup(f"<code><bdi>{written}</bdi></code>" if isinstance(text, Code) else written)  # noqa: S704


def _in_attribute(text: str) -> Markup:
    """On one line and without elements: what a title or a drawing can hold."""
    return Markup(html.escape(on_one_line(text)))  # noqa: S704


def _hidden_names(page: str) -> list[str]:
    """The characters that a page shows as codes, by name."""
    codes = sorted({int(number, 16) for number in HIDDEN.findall(page)})
    return [f"U+{code:04X} {unicodedata.name(chr(code), '')}".strip() for code in codes]


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


ESCAPING: Final[dict[str, Callable[[str], Markup]]] = {"html": _in_html, "svg": _in_attribute, "md": markdown.escaped}


@cache
def _environment(kind: str) -> Environment:
    escape = ESCAPING[kind]
    made = Environment(
        loader=PackageLoader("stillme.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=lambda value: escape(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    made.globals |= {"style": Markup(style()), "style_sha256": digest}  # noqa: S704
    made.filters |= {"one_line": _in_attribute, "pixels": _pixels, "hidden_names": _hidden_names, **markdown.FILTERS}
    return made

"""A document as a list of blocks, written as Markdown and as one HTML page with the same figures in both.

The blocks are what is said; templates/blocks.html and templates/blocks.md say how each kind is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from stillme.languages import DEFAULT
from stillme.pages.marks import Mark, Stretch, stretches
from stillme.pages.rendering import PageWords, render
from stillme.pages.text import Code

__all__ = [
    "Block", "Bullets", "ByHand", "Example", "ExampleText", "Heading", "Inline", "Listing", "Paragraph", "Plot",
    "Table", "Tiles", "html_page", "markdown_page",
]  # fmt: skip

Inline = str | Sequence[str]
"""One text, or several with `Code` among them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section begins."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or some; a warning stands out."""

    text: Inline
    look: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: Sequence[Inline]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads, the first columns words and the others figures, and below them what they were computed from."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    source: Inline = ""
    words: int = 1
    """So many columns are words, set flush left."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart, and the numbers in it as a table, which is what Markdown shows where it cannot show the chart."""

    name: str
    title: str
    svg: Markup
    note: Inline
    table: Table


@dataclass(frozen=True, slots=True)
class Tiles:
    """The figures that nobody may miss: a label, the value, and what it rests on."""

    tiles: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class ExampleText:
    """A text of a case with the places that matter in it."""

    label: str
    text: str
    spans: Sequence[tuple[int, int]] = ()

    @property
    def stretches(self) -> list[Stretch]:
        """The text, cut where those places begin and end."""
        marks = [Mark(start, end, "miss") for start, end in self.spans if 0 <= start < end <= len(self.text)]
        return stretches(self.text, marks)


@dataclass(frozen=True, slots=True)
class Example:
    """One case as it came out: facts, then texts."""

    title: Code
    facts: Sequence[tuple[str, str]]
    texts: Sequence[ExampleText]


@dataclass(frozen=True, slots=True)
class Listing:
    """A file, folded where a page can fold."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ByHand:
    """What nobody can compute: who asks for it, and the answer if somebody wrote it."""

    prompt: str
    text: str | None


Block = Heading | Paragraph | Bullets | Table | Plot | Tiles | Example | Listing | ByHand


def markdown_page(title: str, blocks: Iterable[Block], pictures: Mapping[str, str] | None = None) -> str:
    """The document as Markdown; `pictures` says where the chart of a name was written to, and without it the tables stand alone."""
    links = {name: Markup(link) for name, link in (pictures or {}).items()}  # noqa: S704
    return str(render("document.md", title=title, blocks=[(_kind(block), block) for block in blocks], pictures=links))


def html_page(title: str, kicker: str, blocks: Sequence[Block]) -> str:
    """The document as one page that loads nothing, runs nothing and links only to itself."""
    sections: list[tuple[str, list[tuple[str, Block]]]] = [("", [])]
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            sections.append((block.text, []))
        else:
            sections[-1][1].append((_kind(block), block))
    return str(render("document.html", title=title, kicker=kicker, sections=sections, say=PageWords(DEFAULT)))


def _kind(block: Block) -> str:
    return type(block).__name__.lower()

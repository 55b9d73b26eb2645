"""A document is the same in Markdown and HTML, and text is never markup in either."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from stillme.pages.document import (
    Block,
    Bullets,
    ByHand,
    Example,
    ExampleText,
    Heading,
    Listing,
    Paragraph,
    Plot,
    Table,
    Tiles,
    html_page,
    markdown_page,
)
from stillme.pages.text import Code

HOSTILE = "<script>alert(1)</script> | `x` **b** [l](http://a.b) ![i](x) @all $m$ &amp; \u202e\x00\n# h"
TABLE = Table(["Metric", "value"], [[Code("a|b"), "1 %"]], "source")
BLOCKS: list[Block] = [
    Tiles([("metric", "5 %", "1 / 20")]),
    Heading(2, "One"),
    Paragraph(["Run ", Code("x"), "."]),
    Paragraph("Look out.", "warning"),
    Bullets(["first", ["second ", Code("y")]]),
    TABLE,
    Plot("f", "A figure", Markup("<svg></svg>"), "note", TABLE),
    Example(Code("case-1"), [("expected", Code("refuse"))], [ExampleText("Draft", "It is so.\n- and so", ((3, 5),))]),
    Listing("The policy", "mode: warn\n```\n"),
    ByHand("Who:", None),
    ByHand("What:", "this & that"),
]


def test_markdown_as_a_whole() -> None:
    """Every kind of block."""
    assert markdown_page("T", BLOCKS, {"f": "f.svg"}) == "\n\n".join(
        [
            "# T",
            "- **metric: 5 %** (1 / 20)",
            "## One",
            "Run `x`.",
            "> **Look out.**",
            "- first\n- second `y`",
            "| Metric | value |\n| --- | ---: |\n| `a\\|b` | 1 % |\n\n_source_",
            "**A figure**",
            "![A figure](f.svg)",
            "note",
            "| Metric | value |\n| --- | ---: |\n| `a\\|b` | 1 % |\n\n_source_",
            "**`case-1`** expected: `refuse`",
            "> Draft:\n>\n> It **is** so.  \n> \\- and so",
            "The policy",
            "````yaml\nmode: warn\n```\n````",
            "**Who:** _Not filled in._",
            "**What:** this \\& that\n",
        ]
    )


def test_without_pictures_markdown_has_the_tables_only() -> None:
    """Nothing links to a file that is not there."""
    assert "![" not in markdown_page("T", BLOCKS)


def test_html_as_a_whole() -> None:
    """Every kind of block, contents only where there are sections to choose from."""
    page = html_page("T & U", "kicker", BLOCKS)
    body = re.sub(r"\n+(?=<)|(?<=>)\n+$", "", page.partition('<main class="document">')[2].partition("</main>")[0])
    table = (
        '<div class="scroll"><table><thead><tr><th scope="col">Metric</th><th scope="col" class="number">value</th></tr></thead>'
        '<tbody><tr><td><code><bdi>a|b</bdi></code></td><td class="number">1\u00a0%</td></tr></tbody></table>'
        '</div><p class="source">source</p>'
    )

    assert body == (
        '<header><p class="kicker">kicker</p><h1>T &amp; U</h1></header>'
        '<div class="tiles"><div class="tile"><p class="label">metric</p><p class="word"><bdi>5 %</bdi></p>'
        '<p class="about">1 / 20</p></div></div>'
        '<section id="s1" aria-labelledby="s1-title"><h2 id="s1-title">One</h2>'
        '<p>Run <code><bdi>x</bdi></code>.</p><p class="warning">Look out.</p>'
        f"<ul><li>first</li><li>second <code><bdi>y</bdi></code></li></ul>{table}"
        '<figure><div class="plot-box"><svg></svg></div><figcaption><strong>A figure</strong> <span>note</span></figcaption>'
        f"<details><summary>The numbers in this figure</summary>{table}</details></figure>"
        '<article class="card"><h4><code><bdi>case-1</bdi></code></h4>'
        "<dl><div><dt>expected</dt><dd><code><bdi>refuse</bdi></code></dd></div></dl>"
        '<p class="role">Draft</p><div class="said" dir="auto">It <mark class="miss">is</mark> so.\n- and so</div></article>'
        '<details><summary>The policy</summary><div class="said listing" dir="auto">mode: warn\n```</div></details>'
        '<p class="by-hand"><strong>Who:</strong> <span class="none">Not filled in.</span></p>'
        '<p class="by-hand"><strong>What:</strong> <span dir="auto">this &amp; that</span></p></section>'
    )


def everywhere(text: str) -> list[Block]:
    """A text wherever one can stand."""
    table = Table([text], [[text], [Code(text)]], [text, Code(text)], title=text)
    return [
        Heading(2, text),
        Heading(2, text),
        Paragraph([text, Code(text)]),
        Bullets([text]),
        table,
        Plot("f", text, Markup("<svg></svg>"), text, table),
        Tiles([(text, text, text)]),
        Example(Code(text), [(text, text)], [ExampleText(text, text, ((0, 3),))]),
        Listing(text, text),
        ByHand(text, text),
    ]


class Elements(HTMLParser):
    """Which elements and links a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one."""
        self.names.add(tag)
        self.links |= {str(value) for key, value in attrs if key in ("href", "src")}


@given(st.one_of(st.just(HOSTILE), st.text(max_size=60)))
@settings(max_examples=60, deadline=None)
def test_a_text_is_never_html(text: str) -> None:
    """Whatever it is, the page has the elements that it has with a plain one, and links to itself only."""
    pages = [Elements(), Elements()]
    for found, said in zip(pages, ("plain", text), strict=True):
        found.feed(html_page(said, said, everywhere(said)))

    assert pages[1].names <= pages[0].names | {"i", "footer"}
    assert pages[1].links == {"#s1", "#s2"}

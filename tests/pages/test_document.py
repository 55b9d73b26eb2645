"""How numbers are written, and that text is never markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.pages.document import (
    Block,
    Bullets,
    ByHand,
    Code,
    Example,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Table,
    Tiles,
    clipped,
    counted,
    html_page,
    interval_words,
    markdown_page,
    percent,
)

HOSTILE = "<script>alert(1)</script> | `x` **b** [l](http://a.b) ![i](x) @all $m$ &amp; \u202e\x00\n# h"
TABLE = Table(["Metric", "value"], [[Code("a|b"), "1 %"]], "source")
BLOCKS: list[Block] = [
    Tiles([("metric", "5 %", "1 / 20")]),
    Heading(2, "One"),
    Paragraph(["Run ", Code("x"), "."]),
    Paragraph("Look out.", "warning"),
    Bullets(["first", ["second ", Code("y")]]),
    TABLE,
    Figure("f", "A figure", "<svg></svg>", "note", TABLE),
    Example(Code("case-1"), [("expected", Code("refuse"))], [("Draft", "It is so.\n- and so", ((3, 5),))]),
    Listing("The policy", "mode: warn\n```\n"),
    ByHand("Who:", None),
    ByHand("What:", "this & that"),
]


@pytest.mark.parametrize(
    ("value", "count", "written"),
    [
        pytest.param(0.5, 8, "50 %", id="few: whole percents"),
        pytest.param(1 / 3, 300, "33.3 %", id="hundreds: one digit"),
        pytest.param(1 / 3, 30_000, "33.33 %", id="ten thousands: two digits"),
        pytest.param(0.0, 50, "0 %", id="none"),
        pytest.param(1.0, 50, "100 %", id="all"),
        pytest.param(1 / 9_000, 9_000, "<0.1 %", id="some, though it rounds to none"),
        pytest.param(8_999 / 9_000, 9_000, ">99.9 %", id="not all, though it rounds to all"),
        pytest.param(0.996, 99, ">99 %", id="the same in whole percents"),
    ],
)
def test_a_share_has_the_digits_that_its_count_carries(value: float, count: int, written: str) -> None:
    """Never 0 % or 100 % where it is not."""
    assert percent(value, count) == written


@pytest.mark.parametrize(
    ("ends", "count", "written"),
    [
        pytest.param((0.0, 1.0), 0, "0 to 100 %", id="nothing known"),
        pytest.param((0.1234, 0.5671), 20, "12 to 57 %", id="whole percents"),
        pytest.param((0.12345, 0.56789), 500, "12.3 to 56.8 %", id="one digit"),
        pytest.param((0.29, 0.58), 20, "29 to 58 %", id="what is whole stays, whatever a float makes of it"),
    ],
)
def test_an_interval_is_rounded_outwards(ends: tuple[float, float], count: int, written: str) -> None:
    """It never looks narrower than it is."""
    assert interval_words(ends, count) == written


@given(st.integers(0, 20_000), st.integers(1, 20_000))
@settings(max_examples=200, deadline=None)
def test_what_is_written_holds_what_was_meant(numerator: int, denominator: int) -> None:
    """A written interval contains its ends, and a written share is within half a digit."""
    share = min(numerator, denominator) / denominator
    low, high = re.findall(r"[\d.]+", interval_words((share, share), denominator))

    assert float(low) <= share * 100 + 1e-6
    assert float(high) >= share * 100 - 1e-6
    assert (percent(share, denominator) in ("0 %", "0.0 %", "0.00 %")) == (share == 0)
    assert percent(share, denominator).startswith("100") == (share == 1)


def test_numbers_have_nouns_and_long_texts_an_end() -> None:
    """One case, two cases; a cut says how much is missing."""
    assert [counted(n, "case") for n in (0, 1, 2_000)] == ["0 cases", "1 case", "2,000 cases"]
    assert (clipped("abc", 3), clipped("abcde", 3)) == ("abc", "abc… (2 more characters)")


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
    page = html_page("T & U", "kicker", BLOCKS, "p { margin: 0 }")
    body = page.partition("<main>")[2].partition("</main>")[0]

    assert body == (
        '<header><p class="kicker">kicker</p><h1>T &amp; U</h1></header>'
        '<div class="tiles"><div class="tile"><p class="label">metric</p><p class="word">5 %</p>'
        '<p class="about">1 / 20</p></div></div>'
        '<h2 id="s1">One</h2><p>Run <code><bdi>x</bdi></code>.</p><p class="warning">Look out.</p>'
        "<ul><li>first</li><li>second <code><bdi>y</bdi></code></li></ul>"
        '<div class="scroll"><table><thead><tr><th scope="col">Metric</th><th scope="col" class="number">value</th></tr></thead>'
        '<tbody><tr><td><code><bdi>a|b</bdi></code></td><td class="number">1\u00a0%</td></tr></tbody></table></div>'
        '<p class="source">source</p>'
        '<figure><div class="plot-box"><svg></svg></div><figcaption><strong>A figure</strong><span>note</span></figcaption>'
        "<details><summary>The numbers in this figure</summary>"
        '<div class="scroll"><table><thead><tr><th scope="col">Metric</th><th scope="col" class="number">value</th></tr></thead>'
        '<tbody><tr><td><code><bdi>a|b</bdi></code></td><td class="number">1\u00a0%</td></tr></tbody></table></div>'
        '<p class="source">source</p></details></figure>'
        '<article class="card"><h4><code><bdi>case-1</bdi></code></h4>'
        "<dl><div><dt>expected</dt><dd><code><bdi>refuse</bdi></code></dd></div></dl>"
        '<p class="role">Draft</p><div class="said" dir="auto">It <mark class="miss">is</mark> so.\n- and so</div></article>'
        '<details><summary>The policy</summary><div class="said listing">mode: warn\n```\n</div></details>'
        '<p class="by-hand"><strong>Who:</strong> <span class="none">Not filled in.</span></p>'
        '<p class="by-hand"><strong>What:</strong> <span dir="auto">this &amp; that</span></p>'
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
        Figure("f", text, "<svg></svg>", text, table),
        Tiles([(text, text, text)]),
        Example(Code(text), [(text, text)], [(text, text, ((0, 3),))]),
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
        found.feed(html_page(said, said, everywhere(said), ""))

    assert pages[1].names <= pages[0].names | {"i"}
    assert pages[1].links == {"#s1", "#s2"}


@given(st.one_of(st.just(HOSTILE), st.text(max_size=60)))
@settings(max_examples=60, deadline=None)
def test_a_text_is_never_markdown(text: str) -> None:
    """Outside code every sign that could be markup is escaped, a table keeps its rows, and nothing is invisible."""
    page = markdown_page("T", [Table(["a", "b"], [[text, text]]), Paragraph(text or "-")])
    rows = [line for line in page.split("\n") if line.startswith("|")]
    bare = re.sub(r"\\.|&#4[67];", "", rows[2])

    assert len(rows) == 3
    assert bare.count("|") == 3
    assert not set("<>`*_[]!$@#").intersection(bare)
    assert all(char.isprintable() or char == "\n" for char in page)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("- a", "\\- a", id="no list"),
        pytest.param("12. a", "12\\. a", id="no numbered list"),
        pytest.param("=== a", "\\=== a", id="no heading underlined"),
        pytest.param("2026 was", "2026 was", id="a number is a number"),
    ],
)
def test_a_paragraph_begins_nothing_else(text: str, written: str) -> None:
    """Signs that mean something at the start of a line do not."""
    assert markdown_page("T", [Paragraph(text)]) == f"# T\n\n{written}\n"


def test_hostile_text_in_markdown() -> None:
    """As it is written, whole."""
    assert markdown_page("T", [Paragraph(HOSTILE)]) == (
        "# T\n\n\\<script\\>alert(1)\\</script\\> \\| \\`x\\` \\*\\*b\\*\\* \\[l\\](http:&#47;/a.b) \\!\\[i\\](x) \\@all \\$m\\$ "
        "\\&amp; \\\\u202e\\\\x00 \\# h\n"
    )

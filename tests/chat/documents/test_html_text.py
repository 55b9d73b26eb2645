"""HTML as its visitor reads it: what is kept, what is hidden, and what never ends."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.chat.documents.file_formats import DocumentReading, ReadingLimits, read_document

CHANGED = datetime(2026, 2, 1, 9, 30, 0, 500, tzinfo=UTC)
TAGS = ["<p>", "<p hidden>", "</p>", "<div>", "</div>", "<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>", "</ul>"]
TAGS += [
    "<pre>",
    "</pre>",
    "<h1>",
    "</h1>",
    "<main>",
    "</main>",
    "<nav>",
    "</nav>",
    "<object>",
    "</object>",
    "<br>",
    "a",
]
SENTENCE = "Unused gear can be returned within 30 days."


def read(name: str, content: str | bytes, limits: ReadingLimits | None = None) -> DocumentReading:
    """What a file of this name and content is read as."""
    encoded = content.encode() if isinstance(content, str) else content
    return read_document(name, encoded, "digest", changed=CHANGED, limits=limits or ReadingLimits())


def text_of(name: str, content: str | bytes) -> str:
    """The text of its document."""
    return read(name, content).document.text


@pytest.fixture(autouse=True)
def _quiet_parser(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="pypdf")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param("<p>a <b>b</b><i>c</i>\n d</p><p>e", "a bc d\n\ne", id="words in a paragraph, as they are set"),
        pytest.param("<h1>A</h1><h3>B<br>C</h3>d", "# A\n\n### B C\n\nd", id="headings"),
        pytest.param("<p>a<br>b<br/><br>c", "a\nb\nc", id="line breaks"),
        pytest.param("<ul><li>a<ul><li>b</ul><li><p>c</p></ul><p>d", "- a\n  - b\n- c\n\nd", id="nested lists"),
        pytest.param("<ol><li>a<li>b</ol>", "1. a\n2. b", id="numbered lists"),
        pytest.param("<ul><li></li></ul><p>a", "a", id="an empty item leaves no mark behind"),
        pytest.param("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n- b\nc\n- d", id="terms and what they mean"),
        pytest.param(
            "<table><tr><th>Plan<th>Price<tr><td>Basic<td><p>$5</table>",
            "| Plan | Price |\n| Basic | $5 |",
            id="a table, with the end tags that may be left out",
        ),
        pytest.param(
            "<table><tr><td><h1>A</h1><p>b<p>c</td><td>d</td></tr></table>e",
            "# A\n\nb\n\nc\n\nd\n\ne",
            id="a table that lays out the page is none",
        ),
        pytest.param("<pre>a  b\n\n  c</pre>d", "```\na  b\n\n  c\n```\n\nd", id="code keeps its blanks"),
        pytest.param("<pre>```\na</pre>", "````\n```\na\n````", id="code with a fence in it"),
        pytest.param("a&nbsp;&amp; &#272;&lt;b>&bogus;", "a & Đ<b>&bogus;", id="character references"),
        pytest.param(f"a&#{'9' * 5000};b", "a\ufffdb", id="a reference to no character"),
        pytest.param("5 < 6 <3 a", "5 < 6 <3 a", id="a sign that begins no tag"),
        pytest.param("<a title='x > y' href=z/>b</a>", "b", id="a sign in a value"),
        pytest.param("<body><nav>Home</nav><p>a</p><footer>b</footer>", "a\n\nb", id="no navigation"),
        pytest.param("<p>x<main><p>a</main><p>y", "a", id="only the main part where there is one"),
        pytest.param("<p>x<div role=main><div>a</div></div>y", "a", id="or what says that it is that"),
        pytest.param("<main hidden>a</main><p>b", "b", id="a hidden main part is none"),
        pytest.param("<head><title>t</title><style>p{}</style><p>a", "a", id="a head without an end"),
        pytest.param("<svg><title>x</title><text>y</text></svg>a", "a", id="no drawings"),
        pytest.param("a<!-- b -->c<!doctype html>d<?x y?>e</>f", "acdef", id="no comments and declarations"),
        pytest.param("a</p>b</div></table>c", "a\n\nbc", id="end tags of nothing"),
        pytest.param("<div><table><tr><td>a</div>b</table>c", "| ab |\n\nc", id="an end tag does not leave its cell"),
        pytest.param("<button>Buy</button><select><option>x</select>a<noscript>on</noscript>", "a", id="no controls"),
        pytest.param("<dialog>x</dialog><dialog open>a</dialog>", "a", id="no closed dialogs"),
    ],
)
def test_a_page_is_read_as_its_visitor_reads_it(page: str, text: str) -> None:
    """Headings, paragraphs, lists and tables; nothing that only leads elsewhere."""
    assert text_of("a.html", page) == text


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param("<p hidden>SECRET<p>", id="by its attribute"),
        pytest.param("<div hidden><p>SECRET<ul><li>SECRET</ul></div>", id="with all that is in it"),
        pytest.param("<ul><li hidden>SECRET</ul>", id="in an item without an end tag"),
        pytest.param("<span aria-hidden=' TRUE '>SECRET</span>", id="from screen readers"),
        pytest.param("<div style='color:red; Display : NONE'>SECRET</div>", id="by its style"),
        pytest.param("<i style='visibility:hidden'>SECRET</i>", id="by being invisible"),
        pytest.param("<i style=opacity:0>SECRET</i>", id="by being transparent"),
        pytest.param("<i style='font-size: 0'>SECRET</i>", id="by having no size"),
        pytest.param("<table hidden><tr><td>SECRET</td></tr></table>", id="in a table"),
        pytest.param("<template>SECRET</template>", id="in a template"),
        pytest.param("<SCRIPT>'<p>SECRET'</SCRIPT >", id="in a script"),
        pytest.param("<textarea><p>SECRET</textarea>", id="in a form"),
        pytest.param("<div role=navigation>SECRET</div>", id="in something that navigates"),
    ],
)
def test_what_a_page_hides_is_not_read(hidden: str) -> None:
    """Text that no visitor sees cannot steer an answer."""
    assert text_of("a.html", f"<p>Seen before.</p>{hidden}<p>Seen after.</p>") == "Seen before.\n\nSeen after."


def test_a_part_that_never_ends_is_noted() -> None:
    """What follows it is left out, and that is said."""
    found = read("a.html", "<p>a</p><nav><p>b")

    assert (found.document.text, found.notes) == (
        "a",
        ("<nav> has no end tag: what follows it was taken for a part of it and left out",),
    )


@pytest.mark.parametrize(
    ("link", "url"),
    [
        pytest.param(
            "<link rel=canonical href='https://example.org/a?b=1&amp;c=2'>", "https://example.org/a?b=1&c=2", id="taken"
        ),
        pytest.param(
            "<link rel='alternate CANONICAL' href=https://example.org/>", "https://example.org/", id="in any case"
        ),
        pytest.param("<link rel=canonical href=/a>", None, id="not one that leads from an unknown place"),
        pytest.param("<link rel=canonical href='javascript:alert(1)'>", None, id="not a script"),
        pytest.param("<link rel=canonical href='https://user:pass@example.org'>", None, id="not a password"),
        pytest.param("<link rel=stylesheet href=https://example.org/a.css>", None, id="not another link"),
    ],
)
def test_a_page_tells_its_address(link: str, url: str | None) -> None:
    """The canonical link, if it is an open web address."""
    assert read("a.html", f"{link}<p>{SENTENCE}").document.url == url


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(TAGS), max_size=40))
def test_any_nest_of_tags_can_be_read(parts: list[str]) -> None:
    """Tags may be missing, doubled or crossed."""
    assert "visible" in text_of("a.html", f"<p>visible</p>{' '.join(parts)}") or "<main>" in parts

"""Texts in Markdown are texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.pages.document import (
    Paragraph,
    Table,
    markdown_page,
)

HOSTILE = "<script>alert(1)</script> | `x` **b** [l](http://a.b) ![i](x) @all $m$ &amp; \u202e\x00\n# h"


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

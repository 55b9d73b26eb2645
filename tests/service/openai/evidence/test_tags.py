"""Tagged sources: ours, and the documents of Anthropic's prompts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.service.openai.evidence.block import without
from stillme.service.openai.evidence.tags import tagged
from tests.soak import examples


def without_blocks(text: str) -> tuple[str, list[dict[str, Any]]]:
    """A text without its tagged blocks, and the passages in them."""
    blocks = tagged(text)
    return without(text, blocks), [passage for block in blocks for passage in block.passages]


@pytest.mark.parametrize(
    ("text", "left", "passages"),
    [
        pytest.param("<context>never closed", "<context>never closed", [], id="an open tag is text"),
        pytest.param("a </context> b", "a </context> b", [], id="a closing tag alone is text"),
        pytest.param("<contexts>a</contexts>", "<contexts>a</contexts>", [], id="another tag is text"),
        pytest.param("<source id=1>a</source>", "<source id=1>a</source>", [], id="an attribute needs quotes"),
        pytest.param("<source id='a'x>a</source>", "<source id='a'x>a</source>", [], id="junk in a tag makes it text"),
        pytest.param("<source >a</source>b", "b", [{"text": "a"}], id="white space in a tag is fine"),
        pytest.param(
            "<source id='x' id='y' title='a &amp; b'>t</source>",
            "",
            [{"source_id": "x", "title": "a & b", "text": "t"}],
            id="entities in attributes are read, the first of two counts",
        ),
        pytest.param(
            "<context>before <source id='a'>one</source> between <source id='b'>two</source></context>",
            "",
            [{"source_id": "a", "text": "one"}, {"source_id": "b", "text": "two"}],
            id="what stands between the sources of a context is no passage",
        ),
        pytest.param(
            "<source>a <source id='inner'>b</source>",
            "",
            [{"text": "a <source id='inner'>b"}],
            id="sources do not nest",
        ),
    ],
)
def test_tags(text: str, left: str, passages: list[dict[str, str]]) -> None:
    """Tags are read exactly or not at all."""
    assert without_blocks(text) == (left, passages)


DOCUMENT = (
    '<document index="{n}">\n<source>{name}</source>\n<document_content>\n{text}\n</document_content>\n</document>'
)


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        pytest.param(
            f"<documents>\n{DOCUMENT.format(n=1, name='fees.pdf', text='The fee is 3 euros.')}\n{DOCUMENT.format(n=2, name='giá.md', text='Phí là 3 euro.')}\n</documents>",
            [{"source_id": "fees.pdf", "text": "The fee is 3 euros."}, {"source_id": "giá.md", "text": "Phí là 3 euro."}],
            id="documents with sources and contents, in either language",
        ),
        pytest.param(
            '<documents><document index="4">The fee is 3 euros.</document></documents>',
            [{"source_id": "document-4", "text": "The fee is 3 euros."}],
            id="a document without tags inside is its own content, under its index",
        ),
        pytest.param(
            '<document id="f" title="Fees"><content>3 euros.</content></document>',
            [{"source_id": "f", "title": "Fees", "text": "3 euros."}],
            id="a document alone",
        ),
        pytest.param("<documents>3 euros.</documents>", [{"text": "3 euros."}], id="documents without a document are one passage"),
        pytest.param("<documentation>3 euros.</documentation>", [], id="another tag is text"),
    ],
)  # fmt: skip
def test_documents(text: str, passages: list[dict[str, str]]) -> None:
    """Anthropic's documents are passages under the names that they give."""
    assert without_blocks(text) == ("" if passages else text, passages)


pieces = st.sampled_from(
    [
        "<context>",
        "</context>",
        "<source>",
        "</source>",
        "<source id='a'>",
        "<",
        ">",
        "text",
        " ",
        '"',
        "İ",
        "ß",
        "<SOURCE",
        "<documents>",
        "</documents>",
        "<document>",
        "</document>",
        "<document_content>",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
@settings(max_examples=examples(200), deadline=None)
def test_nothing_is_lost_and_nothing_invented(text: str) -> None:
    """What is left and what became passages are stretches of the text, in order."""
    left, passages = without_blocks(text)

    rest = iter(text)
    assert all(character in rest for character in left)
    assert all(passage["text"] in text for passage in passages)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("<context>" * 100_000, 0, id="tags that never close"),
        pytest.param("<source id='a'" * 70_000, 0, id="tags that never end"),
        pytest.param("<source " + "a='b' " * 160_000, 0, id="one tag of a million characters"),
        pytest.param("</source><source>" * 60_000, 59_999, id="many small sources"),
        pytest.param("<documents><document>" * 50_000, 0, id="documents that never close"),
        pytest.param("<context>" + "<source>" * 100_000 + "</context>", 1, id="sources that never close"),
    ],
)
def test_a_megabyte_of_tags_is_read_in_one_go(text: str, count: int) -> None:
    """Hostile input costs time in proportion to its length: were it quadratic, this test would not come back."""
    assert len(without_blocks(text)[1]) == count

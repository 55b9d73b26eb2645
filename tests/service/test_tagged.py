"""The question and the passages of an OpenAI-style request, wherever it carries them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage, Turn
from stillme.errors import InputError
from stillme.service.tagged import Asked, asked_in, request_of, without_blocks

CONTEXT = '<context><source id="faq" title="Refunds" url="https://a.example/f">14 days.</source></context>'
FAQ = RetrievedPassage(source_id="faq", text="14 days.", title="Refunds", url="https://a.example/f")


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        pytest.param({"messages": [user("How long?")]}, Asked("How long?"), id="a question alone"),
        pytest.param(
            {
                "messages": [user("Bao lâu?")],
                "stillme": {"context": [{"source_id": "a", "text": "14 ngày."}], "language": "vi", "session_id": "s-1"},
            },
            Asked("Bao lâu?", (RetrievedPassage(source_id="a", text="14 ngày."),), language="vi", session_id="s-1"),
            id="the extension field brings passages, language and session",
        ),
        pytest.param(
            {"messages": [user(f"{CONTEXT}\nHow long?")]},
            Asked("How long?", (FAQ,)),
            id="a source in a user message is a passage and no part of the question",
        ),
        pytest.param(
            {"messages": [{"role": "system", "content": f"Answer from this. {CONTEXT}"}, user("How long?")]},
            Asked("How long?", (FAQ,)),
            id="a source in a system message is a passage",
        ),
        pytest.param(
            {"messages": [user("<context>\n14 days.\n</context> How long?")]},
            Asked("How long?", (RetrievedPassage(source_id="source-1", text="14 days."),)),
            id="a context without sources is one passage",
        ),
        pytest.param(
            {"messages": [user("<source>one</source><SOURCE ID='b'>two</SOURCE> How long?")]},
            Asked(
                "How long?",
                (RetrievedPassage(source_id="source-1", text="one"), RetrievedPassage(source_id="b", text="two")),
            ),
            id="sources alone, in either case and with either quotes, are numbered as they come",
        ),
        pytest.param(
            {"messages": [user("How long?"), user(CONTEXT)]},
            Asked("How long?", (FAQ,)),
            id="a last message of nothing but context is not the question",
        ),
        pytest.param(
            {
                "messages": [
                    user("<context>old</context> Before?"),
                    {"role": "assistant", "content": "It was [1]. <context>mine</context>"},
                    user(f"{CONTEXT} How long?"),
                ]
            },
            Asked(
                "How long?",
                (FAQ,),
                (
                    Turn(role="user", content=" Before?"),
                    Turn(role="assistant", content="It was [1]. <context>mine</context>"),
                ),
            ),
            id="the newest turn that brings passages counts, and an assistant brings none",
        ),
        pytest.param(
            {"messages": [user(f"{CONTEXT} Before?"), {"role": "assistant", "content": "Yes."}, user("How long?")]},
            Asked(
                "How long?",
                (FAQ,),
                (Turn(role="user", content=" Before?"), Turn(role="assistant", content="Yes.")),
            ),
            id="without passages of its own a turn stands on those before it",
        ),
        pytest.param(
            {
                "messages": [
                    user("How long?"),
                    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "14 days."},
                    {"role": "function", "name": "search", "content": [{"type": "text", "text": "Two weeks."}]},
                ]
            },
            Asked(
                "How long?",
                (
                    RetrievedPassage(source_id="c1", text="14 days."),
                    RetrievedPassage(source_id="search", text="Two weeks."),
                ),
            ),
            id="what tools return are passages",
        ),
        pytest.param(
            {
                "messages": [
                    user([
                        {"type": "text", "text": "How"},
                        {"type": "image_url", "image_url": {"url": "data:,"}},
                        {"type": "text", "text": "long?"},
                    ])
                ]
            },
            Asked("How\nlong?", unread=("image_url",)),
            id="parts of text are read, an image is said to be unread",
        ),
        pytest.param(
            {"messages": [{"role": "developer", "content": "Say when it opens."}]},
            Asked("Say when it opens."),
            id="without a user the last instruction is the question",
        ),
        pytest.param(
            {"messages": [user(f"{CONTEXT} How long?")], "stillme": {"context": []}},
            Asked("How long?"),
            id="an empty context in the extension field is the caller's word that there is none",
        ),
    ],
)  # fmt: skip
def test_question_and_passages(body: dict[str, Any], asked: Asked) -> None:
    """Each way to bring passages gives the same kind of request."""
    assert asked_in(body) == asked


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


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({}, "messages must be a list", id="no messages"),
        pytest.param({"messages": []}, "messages must be a list", id="an empty list"),
        pytest.param({"messages": ["hi"]}, r"messages\[0\] must be an object", id="a message that is text"),
        pytest.param({"messages": [user(7)]}, r"messages\[0\]\.content must be text", id="a content that is a number"),
        pytest.param({"messages": [user([7])]}, r"messages\[0\]\.content\[0\]", id="a part that is none"),
        pytest.param({"messages": [user("  ")]}, "no user message with text", id="a blank question"),
        pytest.param(
            {"messages": [user("Why?")], "stillme": {"policy": {"mode": "monitor"}}},
            "the policy is the operator's",
            id="a policy of the caller's",
        ),
        pytest.param({"messages": [user("Why?")], "stillme": {"mode": "monitor"}}, "operator's", id="a mode"),
        pytest.param(
            {"messages": [user("Why?")], "stillme": {"contexts": []}}, "did you mean 'context'", id="a misspelt key"
        ),
        pytest.param({"messages": [user("Why?")], "stillme": [1]}, "stillme must be an object", id="a list"),
        pytest.param(
            {"messages": [user("Why?")], "stillme": {"context": [{"source_id": "a"}]}},
            r"stillme\.context\[0\]\.text is missing",
            id="a passage without text",
        ),
        pytest.param(
            {"messages": [user("Why?")], "stillme": {"language": "de"}}, "stillme.language", id="another language"
        ),
        pytest.param(
            {"messages": [user("Why?")], "stillme": {"upstream_url": 7}}, "upstream_url must be text", id="no address"
        ),
    ],
)
def test_what_cannot_be_read_says_where(body: dict[str, Any], message: str) -> None:
    """A request that cannot be read is an InputError that names the field."""
    with pytest.raises(InputError, match=message):
        asked_in(body)


def test_a_request_carries_all_that_is_known() -> None:
    """The guard is asked with question, passages, turns, language and session."""
    asked = asked_in({"messages": [user("Hi"), {"role": "assistant", "content": "Yes?"}, user(f"{CONTEXT} How long?")]})
    request = request_of(asked, draft_answer="14 days [1].", metadata={"endpoint": "x"})

    assert (request.query, request.draft_answer, request.retrieved_context) == ("How long?", "14 days [1].", (FAQ,))
    assert [turn.content for turn in request.conversation] == ["Hi", "Yes?"]
    assert request.metadata.model_dump() == {"language": "auto", "domain": None, "session_id": None, "endpoint": "x"}


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
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
@settings(max_examples=200, deadline=None)
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
        pytest.param("<context>" + "<source>" * 100_000 + "</context>", 1, id="sources that never close"),
    ],
)
def test_a_megabyte_of_tags_is_read_in_one_go(text: str, count: int) -> None:
    """Hostile input costs time in proportion to its length: were it quadratic, this test would not come back."""
    assert len(without_blocks(text)[1]) == count

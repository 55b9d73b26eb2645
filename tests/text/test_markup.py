"""What of a draft is markup, and what a reader sees of it."""

from __future__ import annotations

import pytest

from stillme.text.markup import read_markup
from stillme.text.tokens import Text


def parts(draft: str) -> tuple[list[str], list[str]]:
    """What is hidden and what stands apart."""
    found = read_markup(Text(draft))
    return [draft[a:b] for a, b in found.hidden], [draft[a:b] for a, b in found.apart]


@pytest.mark.parametrize(
    ("draft", "hidden", "apart"),
    [
        pytest.param("Plain text, 3 < 4.", [], [], id="none"),
        pytest.param("<b>Free</b>", ["<b>", "</b>"], [], id="tags"),
        pytest.param("<The fee is ninety>", [], [], id="what only looks like a tag is text"),
        pytest.param("<b the fee is ninety>", [], [], id="words in a tag are text"),
        pytest.param('<img src="a.png" alt="Free for all">', ['<img src="a.png" alt=', ">"], ['"Free for all"'], id="an alternative text"),
        pytest.param("<replyText>Free</replyText>", ["<replyText>", "</replyText>"], [], id="an element"),
        pytest.param("<replyText>Free", [], [], id="an element that is never closed is text"),
        pytest.param("<no_fee>Free</no_fee>", [], ["<no_fee>", "</no_fee>"], id="an element whose name says something is read"),
        pytest.param("<status>ok</status>", ["<status>", "ok", "</status>"], [], id="an element that tells a state"),
        pytest.param("<status>closed for good</status>", ["<status>", "</status>"], [], id="an element that tells more"),
        pytest.param('<reply lang="en" fee="ninety">x</reply>', ['<reply lang="en" fee=', ">", "</reply>"], ['"ninety"'], id="an attribute that says something"),
        pytest.param("<![CDATA[Free]]>", ["<![CDATA[", "]]>"], [], id="a text as it is"),
        pytest.param('<p class="big red">x</p>', ['<p class="big red">', "</p>"], [], id="a class is seen by nobody"),
        pytest.param('[map](m.png "Free for all")', ["m.png"], ['"Free for all"'], id="a link with a title"),
        pytest.param("![Free for all](m.png)", ["m.png"], ["[Free for all]"], id="an image"),
        pytest.param('[1]: https://a.example/b "Free for all"', ["https://a.example/b"], ['"Free for all"'], id="a link's definition"),
        pytest.param("[^1]: Free for all", [], [], id="a footnote is text"),
        pytest.param("[quote][b]Free[/b][/quote]", ["[quote]", "[b]", "[/b]", "[/quote]"], [], id="tags of a forum"),
        pytest.param("[color=red]Free[/color]", ["[color=red]", "[/color]"], [], id="a tag of a forum with a value"),
        pytest.param("[quote=free for all]x[/quote]", ["[quote=", "]", "[/quote]"], ["free for all"], id="a value that says something"),
        pytest.param("[no_fee]x[/no_fee]", [], ["[no_fee]", "[/no_fee]"], id="a tag of a forum whose name says something"),
        pytest.param("[b]Free", [], [], id="a tag of a forum that is never closed is text"),
        pytest.param("{panel:title=Hi}Free{panel}", ["{panel:title=Hi}", "{panel}"], [], id="tags of a wiki"),
        pytest.param("{fee}Free{fee}", [], [], id="no tag of a wiki"),
        pytest.param("{{quote|Free}}", ["{{quote|", "}}"], [], id="a template"),
        pytest.param("{{fee|ninety}}", ["}}"], [], id="a template whose name says something"),
        pytest.param("```\nx = f(y)\n```", ["```\n", "x = f(y)\n", "```"], [], id="code"),
        pytest.param("```\nx = 1  # it is free for all\n```", ["```\n", "x = 1  # ", "\n", "```"], ["it is free for all"], id="a comment"),
        pytest.param('```\nprint("it is free for all")\n```', ["```\n", 'print("', '")\n', "```"], ["it is free for all"], id="a text in code"),
        pytest.param("```\nIt is free for all.\n```", ["```\n", "\n", "```"], ["It is free for all."], id="prose in a code block"),
    ],
)  # fmt: skip
def test_parts(draft: str, hidden: list[str], apart: list[str]) -> None:
    """Exactly these characters."""
    assert parts(draft) == (hidden, apart)


@pytest.mark.parametrize(
    "draft",
    ["<" * 20_000, "![" * 20_000, "<a b=" * 8_000, "```\n" * 8_000, '<a b="' * 8_000, '[a](b "' * 8_000],
    ids=range(6),
)
def test_no_text_stalls_it(draft: str) -> None:
    """Patterns are possessive and bounded: this returns."""
    assert read_markup(Text(draft)) is not None


@pytest.mark.parametrize(
    ("draft", "hidden", "apart"),
    [
        pytest.param(
            '{"answer": "It is free."}', ["answer"], ["It is free."], id="a key that only says that an answer follows"
        ),
        pytest.param('{"not": "It is free."}', [], ["It is free."], id="a key that says something is read"),
        pytest.param('{"a": ["Hi!", "It is free."], "b": ""}', [], ["Hi!", "It is free."], id="each text of a list"),
        pytest.param('{"a": "It is free.', [], [], id="what is no JSON stays prose"),
        pytest.param("[" * 5_000 + '"It is free."', [], [], id="brackets without end"),
    ],
)
def test_texts_of_json_stand_apart(draft: str, hidden: list[str], apart: list[str]) -> None:
    """Each is a sentence of its own."""
    assert parts(draft) == (hidden, apart)


@pytest.mark.parametrize(
    ("draft", "hidden"),
    [
        pytest.param("It is free.²", ["²"], id="a raised figure behind a stop"),
        pytest.param("The hall has 40 m² and costs 10⁶ dong.", [], id="a power is said"),
        pytest.param("It is free [see note 3].", ["[see note 3]"], id="a note in brackets"),
        pytest.param("Miễn phí (xem chú thích 2).", ["(xem chú thích 2)"], id="vi, a note in brackets"),
    ],
)
def test_what_only_points_is_hidden(draft: str, hidden: list[str]) -> None:
    """Exactly these characters."""
    assert parts(draft) == (hidden, [])


def test_a_block_ends_a_sentence() -> None:
    """Before its opening tag, unless another stands there, and behind its closing one."""
    assert read_markup(Text("Yes<p>No</p>")).breaks == (3, 12)
    assert read_markup(Text("<ul><li>No</li></ul>")).breaks == (0, 15, 20)

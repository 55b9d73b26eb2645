"""Documents in chunks: verbatim, whole, of one size, under the headings they stand below, with ids that last."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.chat.documents.chunking import MOST, TARGET, chunks_of, first_heading, outside_code
from stillme.contract import RetrievedPassage
from stillme.grounding.citations import find_markers
from stillme.grounding.passage import Passage
from stillme.storage.knowledge.store import Chunk, Document
from stillme.text.tokens import Text
from tests.soak import examples

EN = "The office in Hanoi opens at 8 a.m. and closes at 5 p.m. on every working day of the week. "
VI = "Nhân viên được nghỉ phép năm 12 ngày, tính từ ngày ký hợp đồng lao động chính thức. "
ROW = "| Team plan | $29 a month | twenty people at most |\n"
ITEM = "- Bring the gear back to the shop in which you bought it.\n"


def document(text: str, title: str | None = "Handbook", name: str = "handbook/leave.md") -> Document:
    """A document with this text."""
    return Document(name, text, "digest", title, "https://example.org/leave", "2026-02-01")


def texts(text: str) -> list[str]:
    """The chunks of a text."""
    return [chunk.text for chunk in chunks_of(document(text))]


def titles(text: str, title: str | None = "Handbook") -> list[str | None]:
    """What the chunks of a text are titled."""
    return [chunk.title for chunk in chunks_of(document(text, title))]


def test_a_short_document_is_one_chunk() -> None:
    """With all that is known of the document."""
    (chunk,) = chunks_of(document("\n\nNghỉ phép năm: 12 ngày.\n"))

    assert chunk == Chunk(
        id=chunk.id,
        document="handbook/leave.md",
        number=0,
        text="Nghỉ phép năm: 12 ngày.",
        start=2,
        end=25,
        title="Handbook",
        url="https://example.org/leave",
        timestamp="2026-02-01",
    )
    assert re.fullmatch(r"handbook/leave\.md#[0-9a-f]{8}", chunk.id)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("# Handbook\n\na\n\n## Leave\n\nb", ["Handbook", "Handbook › Leave"], id="the nearest heading"),
        pytest.param(
            "## Leave\n\na\n\n### Unpaid\n\nb\n\n## Pay\n\nc",
            ["Handbook › Leave", "Handbook › Leave › Unpaid", "Handbook › Pay"],
            id="with the headings above it",
        ),
        pytest.param("## HANDBOOK\n\na", ["Handbook"], id="the document's own title is said once"),
        pytest.param("Leave\n-----\n\na", ["Handbook › Leave"], id="an underlined heading"),
        pytest.param("## **Leave** [now](x) {#l} ##\n\na", ["Handbook › Leave now"], id="without its marks"),
        pytest.param("```\n# a\n```\n\nb", ["Handbook"], id="a comment in code is no heading"),
        pytest.param("#a\n\n####### b", ["Handbook"], id="what only looks like a heading is none"),
        pytest.param("# " + "a" * 500 + "\n\nb", ["Handbook"], id="a heading of many lines' length is none"),
        pytest.param("## \u200b\n\na", ["Handbook"], id="a heading that says nothing"),
    ],
)
def test_a_title_tells_what_a_chunk_speaks_of(text: str, found: list[str]) -> None:
    """The document, and the headings that the chunk stands below."""
    assert titles(text) == found


def test_a_document_without_a_title_has_headings_only() -> None:
    """And a chunk of one without headings has no title at all."""
    assert (titles("## Leave\n\na", None), titles("a", None)) == (["Leave"], [None])


def test_a_long_title_keeps_the_document_and_the_nearest_heading() -> None:
    """What stands between them gives way."""
    deep = "".join(f"{'#' * level} {'x' * 90}{level}\n\n" for level in range(2, 7))

    assert titles(f"{deep}a") == [f"Handbook › {'x' * 90}6"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("# A\n\n## B\n\nb\n\n## C\n\nc", ["# A\n\n## B\n\nb", "## C\n\nc"], id="sections part"),
        pytest.param("a\n\n## B", ["a\n\n## B"], id="a last heading with nothing below it goes with what is above"),
        pytest.param("# A", ["# A"], id="nothing but a heading"),
        pytest.param(f"{EN * 8}\n\n{EN * 8}", [(EN * 8).strip(), (EN * 8).strip()], id="paragraphs stay whole"),
        pytest.param(
            f"{EN * 2}\n\n{ITEM * 15}",
            [f"{EN * 2}\n\n{ITEM * 15}".strip()],
            id="a list that fits stays with its paragraph",
        ),
        pytest.param(
            f"{EN * 9}\n\n{ROW * 20}", [(EN * 9).strip(), (ROW * 20).strip()], id="a table that fits is whole"
        ),
        pytest.param(
            f"{EN * 9}\n\nThe plans are:\n\n{ROW * 18}",
            [(EN * 9).strip(), f"The plans are:\n\n{ROW * 18}".strip()],
            id="what leads to a table goes with it",
        ),
    ],
)
def test_cuts_follow_the_text(text: str, found: list[str]) -> None:
    """Between sections, then between blocks."""
    assert texts(text) == found


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        pytest.param(EN, 60, id="English sentences"),
        pytest.param(VI, 60, id="Vietnamese sentences"),
        pytest.param(EN.replace(" ", "\n", 3), 60, id="sentences over several lines, one of which begins with a name"),
        pytest.param(ITEM, 100, id="items of a list"),
        pytest.param(ROW, 100, id="rows of a table"),
        pytest.param("    print('a line of code')\n", 100, id="lines of code"),
    ],
)
def test_what_is_too_long_is_cut_between_its_parts(unit: str, times: int) -> None:
    """Every chunk is a number of whole ones, and none is a crumb."""
    pieces = texts(unit * times)

    assert len(pieces) > 3
    assert all(re.fullmatch(f"(?:{re.escape(unit.strip())}\\s*)+", piece) for piece in pieces)
    assert all(TARGET / 2 <= len(piece) <= MOST for piece in pieces)


def test_a_heading_is_not_left_alone_above_a_table_that_just_fits() -> None:
    """The table is parted instead."""
    pieces = texts(f"## Plans\n\n{ROW * 23}")

    assert [piece.startswith("## Plans\n\n| Team") for piece in pieces] == [True, False]


def test_abbreviations_do_not_end_a_sentence() -> None:
    """A cut stands behind a sentence, not behind a title or an hour."""
    pieces = texts("Dr. Lan meets Mr. Minh at 8 a.m. in room no. 5 of the U.S. office, i.e. on the ground floor. " * 40)

    assert {piece[:8] for piece in pieces} == {"Dr. Lan "}
    assert {piece[-6:] for piece in pieces} == {"floor."}


# ids


def test_ids_stay_when_other_parts_change() -> None:
    """A chunk that is the same is called the same, before and behind a change."""
    sections = [f"## Part {n}\n\n{EN}" for n in range(3)]
    before = chunks_of(document("\n\n".join(sections)))

    after = chunks_of(document("\n\n".join([sections[0], f"## Part 1\n\n{VI}", sections[2]])))

    assert [one.id == two.id for one, two in zip(before, after, strict=True)] == [True, False, True]


def test_equal_chunks_have_ids_of_their_own() -> None:
    """The first, the second, the third of them; the same on every run."""
    found = [chunk.id for chunk in chunks_of(document("\n\n".join(["## A\n\nSame."] * 3)))]

    assert len(set(found)) == 3
    assert found == [chunk.id for chunk in chunks_of(document("\n\n".join(["## A\n\nSame."] * 3)))]


def test_equal_texts_of_two_documents_have_different_ids() -> None:
    """Even where the names read alike in plain letters."""
    names = ["nghỉ phép.md", "nghi-phep.md", "a.md", "b/a.md"]

    assert len({chunks_of(document("Same.", name=name))[0].id for name in names}) == 4


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        pytest.param("handbook/leave.md", "handbook/leave.md", id="a plain name stays"),
        pytest.param("Sổ tay/Nghỉ phép (Đà Nẵng).md", "So-tay/Nghi-phep-Da-Nang-.md", id="accents and blanks"),
        pytest.param("手册.md", "md", id="letters that have no plain form"),
        pytest.param("[1], [2].md", "1-2-.md", id="brackets and commas"),
        pytest.param("…", "document", id="nothing that could be kept"),
        pytest.param("x" * 300 + ".md", "x" * 77 + ".md", id="a long name is cut at its beginning"),
    ],
)
def test_an_id_is_a_citation_marker(name: str, readable: str) -> None:
    """An answer that cites [id] cites this chunk, and the id can stand in a URL."""
    (chunk,) = chunks_of(document("Leave is 12 days.", name=name))
    passage = Passage(1, RetrievedPassage(source_id=chunk.id, text=chunk.text))

    (marker,) = find_markers(Text(f"Leave is 12 days [{chunk.id}]."), [passage], 1)

    assert chunk.id.rpartition("#")[0] == readable
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*#[0-9a-f]{8}", chunk.id)
    assert (marker.passages, marker.unknown) == ((0,), ())


# whatever the text

WORDS = ["leave", "Nghỉ", "a.m.", "12", "…", "\u0301", "\u00a0", "\x1c", "x" * 1500]
MARKS = [
    "# ",
    "## ",
    "- ",
    "1. ",
    "| ",
    "```",
    "~~~",
    "---",
    "===",
    ":",
    ". ",
    "! ",
    "\n",
    "\n\n",
    " ",
    "\t",
    "<!--",
    "`",
]
MARKDOWN = st.lists(st.sampled_from([*WORDS, *MARKS, EN, VI, ROW, ITEM]), max_size=80).map("".join)


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(MARKDOWN, st.text(max_size=300)))
def test_chunks_are_the_whole_text_and_nothing_else(text: str) -> None:
    """Verbatim, in order, not overlapping; between them stands white space only; none too long; ids differ and last."""
    source = document(text)
    chunks = chunks_of(source)

    assert [chunk.text for chunk in chunks] == [text[chunk.start : chunk.end] for chunk in chunks]
    edges = [0, *(place for chunk in chunks for place in (chunk.start, chunk.end)), len(text)]
    assert edges == sorted(edges)
    assert not any(text[edges[at] : edges[at + 1]].strip() for at in range(0, len(edges), 2))
    assert all(chunk.text == chunk.text.strip() and 0 < len(chunk.text) <= MOST for chunk in chunks)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert chunks_of(replace(source, digest="other", title="Handbook")) == chunks


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 1_000_000, id="one word"),
        pytest.param("a " * 500_000, id="words without an end"),
        pytest.param("|" * 1_000_000, id="a row without an end"),
        pytest.param("#" * 1_000_000, id="marks of headings"),
        pytest.param("- " * 500_000, id="marks of items"),
        pytest.param("`" * 1_000_000, id="fences"),
        pytest.param("a\u0301\u0323" + "\u0301\u0323" * 400_000, id="accents"),
        pytest.param("." * 1_000_000, id="dots"),
        pytest.param("A. " * 100_000, id="initials"),
        pytest.param("a:\n\n" * 50_000, id="paragraphs that all lead to the next"),
        pytest.param("# a\n" * 50_000, id="headings"),
        pytest.param("a\n---\n" * 30_000, id="underlined headings"),
        pytest.param("[" * 500_000 + "](" * 200_000, id="brackets"),
    ],
)
def test_cutting_takes_time_that_grows_with_the_text(text: str) -> None:
    """However little the text looks like one, it is cut at once and whole; a quadratic scan would not come to an end."""
    chunks = chunks_of(document(text))

    assert max(len(chunk.text) for chunk in chunks) <= MOST
    assert sum(len("".join(chunk.text.split())) for chunk in chunks) == len("".join(text.split()))


# what the readers ask


def test_the_first_heading_names_the_document() -> None:
    """One of the first level, or one that stands first."""
    asked = ["a\n\n# B\n\n# C", "## A\n\nb", "a\n\n## B", "```\n# a\n```", ""]

    assert [first_heading(text) for text in asked] == ["B", "A", None, None, None]


def test_places_in_code_are_passed_over() -> None:
    """In blocks, and between ticks in a line."""
    text = "x `x` x\n```\nx\n```\nx ` x\nx"

    assert list(outside_code(text, "x")) == [0, 6, 18, 24]
    assert all(one < two for one, two in pairwise(outside_code(text, "x")))

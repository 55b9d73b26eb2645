"""Sources that disagree, on what, and what only looks like it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.questions.conflicts import find_conflicts

Found = list[tuple[str, tuple[str, str]]]


def conflicts(*texts: str | RetrievedPassage, query: str = "q") -> Found:
    """Kind and values of each disagreement between the texts."""
    evidence = Evidence.of(query, passages=list(texts))
    return [(c.kind, c.values) for c in find_conflicts(evidence.library, evidence.query)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("A day ticket costs £16.", "A day ticket costs £19.", [("figure", ("£16", "£19"))], id="two prices"),
        pytest.param("A day ticket costs £16.", "Visitors pay £19 for a day ticket.", [("figure", ("£16", "£19"))], id="two prices in other words"),
        pytest.param("The mayor of Kelm is Marie Curie.", "The mayor of Kelm is Niels Bohr.", [("name", ("Marie Curie", "Niels Bohr"))], id="two names for one office"),
        pytest.param("Giá vé là 40.000 đồng.", "Giá vé là 60.000 đồng.", [("figure", ("40.000 đồng", "60.000 đồng"))], id="two Vietnamese prices"),
        pytest.param("Adults pay £12 at the door.", "Children pay £8 at the door.", [], id="two groups"),
        pytest.param("A single room costs £60 a night.", "A double room costs £90 a night.", [], id="two kinds of room"),
        pytest.param("The town has 48,213 people.", "The town has about 48,000 people.", [], id="a rounded figure"),
        pytest.param("Line 2 opens in 2031.", "Line 3 opens in 2033.", [], id="two lines"),
        pytest.param("The shop opens at 9 a.m.", "The shop opens at 9 a.m.", [], id="the same twice"),
        pytest.param("", "The shop opens at 9 a.m.", [], id="nothing to disagree with"),
    ],
)  # fmt: skip
def test_two_sources(first: str, second: str, expected: Found) -> None:
    """Each disagreement once, in the order of the passages."""
    assert conflicts(first, second) == expected


@pytest.mark.parametrize(
    ("query", "first", "second", "expected"),
    [
        pytest.param("When was the Dallas County Courthouse built?", "The Dallas County Courthouse in Adel, Iowa, was built in 1902.", "The present Dallas County Courthouse in Selma, Alabama, was built in 1960.", [("figure", ("1902", "1960"))], id="one name, two buildings: the question has two answers"),
        pytest.param("Who directed the film Northern Lights?", "Northern Lights is a film that Jane Carter directed in 1998.", "The film Northern Lights was directed by Pedro Alvarez and shot in Norway.", [("name", ("Jane Carter", "Pedro Alvarez"))], id="two directors in other words"),
        pytest.param("How many people live in Orrin?", "Orrin lies on the coast; 12,400 people live there.", "About 58,000 people live in Orrin, a town known for its harbour.", [("figure", ("12,400", "58,000"))], id="two populations in other words"),
        pytest.param("What sport does Ryan Davis play?", "Ryan Davis plays basketball for a club in Leeds.", "Ryan Davis plays cricket for a club in Leeds.", [("answer", ("basketball", "cricket"))], id="two sports"),
        pytest.param("Where was Anna Lind born?", "Anna Lind was born in Uppsala in 1951.", "Anna Lind was born in Malmö in 1951.", [("name", ("Uppsala", "Malmö"))], id="two birthplaces in one sentence"),
        pytest.param("Ai là kiến trúc sư của cầu Long Biên?", "Cầu Long Biên do kiến trúc sư Trần Văn Hòa thiết kế.", "Kiến trúc sư của cầu Long Biên là Lê Minh Quân.", [("name", ("Trần Văn Hòa", "Lê Minh Quân"))], id="two Vietnamese architects"),
        pytest.param("Nhà hát Lớn Hải Phòng được xây dựng năm nào?", "Nhà hát Lớn Hải Phòng được xây dựng năm 1904 theo thiết kế của người Pháp.", "Theo tài liệu của thành phố, Nhà hát Lớn Hải Phòng được khởi công xây dựng vào năm 1925.", [("figure", ("năm 1904", "năm 1925"))], id="two Vietnamese years"),
        pytest.param("nha hat lon hai phong xay nam nao?", "Nhà hát Lớn Hải Phòng được xây dựng năm 1904 theo thiết kế của người Pháp.", "Theo tài liệu của thành phố, Nhà hát Lớn Hải Phòng được khởi công xây dựng vào năm 1925.", [("figure", ("năm 1904", "năm 1925"))], id="asked without accents"),
        pytest.param("When was the Halden Bridge built?", "The Halden Bridge was built in 1932.", "Cầu Halden (Halden Bridge) được xây (built) năm 1951.", [("figure", ("1932", "năm 1951"))], id="figures across languages"),
    ],
)  # fmt: skip
def test_two_answers_to_the_question(query: str, first: str, second: str, expected: Found) -> None:
    """Two sources that answer the question differently disagree, however they put it."""
    assert conflicts(first, second, query=query) == expected


@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        pytest.param("When was the bridge built?", "The Halden Bridge was built in 1932.", "The Orr Bridge was built in 1967.", id="two bridges"),
        pytest.param("Khi nào cầu được xây?", "Cầu Hồng được xây năm 1932.", "Cầu Mây được xây năm 1967.", id="two Vietnamese bridges"),
        pytest.param("What does a room cost?", "A single room costs £60 a night.", "A double room costs £90 a night.", id="two kinds of room"),
        pytest.param("Giá phòng là bao nhiêu?", "Giá phòng đơn là 300.000 đồng.", "Giá phòng đôi là 500.000 đồng.", id="two Vietnamese kinds of room"),
        pytest.param("What does a ticket for the Maritime Museum cost?", "An adult ticket costs $12 at the Maritime Museum.", "A child ticket costs $7 at the Maritime Museum.", id="two kinds of ticket"),
        pytest.param("How many people live in Orrin?", "In 2010 12,400 people lived in Orrin.", "In 2020 14,900 people lived in Orrin.", id="figures of two years"),
        pytest.param("How many people lived in Orrin in 2010?", "In 2010 12,400 people lived in Orrin.", "Orrin has 14,900 people as of 2020.", id="a figure of another year than is asked"),
        pytest.param("When does Line 2 open?", "Line 2 opens in 2031.", "Line 3 opens in 2033.", id="another line than is asked"),
        pytest.param("When was the Criterion Theatre built?", "The Criterion Theatre was built in 1874.", "The Criterion Theatre closed in 1989 for repairs.", id="a date of something else"),
        pytest.param("How many people live in Orrin?", "Orrin has 12,413 people.", "About 12,000 people live in Orrin.", id="a rounded figure"),
        pytest.param("Where is Wimberley?", "Wimberley is a town in Texas.", "Wimberley lies in Hays County, south of Austin.", id="places may lie in one another"),
        pytest.param("Who directed Northern Lights?", "Northern Lights was directed by Jane Carter.", "Jane Carter worked on Northern Lights with Pedro Alvarez, who wrote it.", id="the second source has the first answer too"),
        pytest.param("Who directed Northern Lights?", "Bộ phim Northern Lights do Trần Anh Hùng đạo diễn.", "Northern Lights was directed by Tran Anh Hung.", id="a name without its accents"),
        pytest.param("Why was the bridge closed?", "The bridge was closed because of rust.", "The bridge was closed because of a flood.", id="several reasons may hold"),
        pytest.param("What rivers flow through Arden?", "The Orr flows through Arden.", "The Mell flows through Arden.", id="several answers are asked for"),
        pytest.param("Những con sông nào chảy qua Arden?", "Sông Orr chảy qua Arden.", "Sông Mell chảy qua Arden.", id="several answers are asked for in Vietnamese"),
        pytest.param("Write a poem about the film Northern Lights.", "Northern Lights was directed by Jane Carter.", "Northern Lights was directed by Pedro Alvarez.", id="nothing is asked"),
        pytest.param("", "Northern Lights was shot in Norway.", "Northern Lights was shot in Iceland.", id="no question"),
    ],
)  # fmt: skip
def test_two_matters_are_no_conflict(query: str, first: str, second: str) -> None:
    """What speaks of different things, or says the same otherwise, does not conflict, whatever is asked."""
    by_statements = conflicts(first, second)

    assert conflicts(first, second, query=query) == by_statements


def test_chunks_of_one_source_do_not_conflict() -> None:
    """A source is not held against itself, neither its statements nor its answers."""
    chunks = [RetrievedPassage(source_id="a", text=f"A day ticket costs £{price}.") for price in (16, 19)]

    assert conflicts(*chunks, query="How much does a day ticket cost?") == []


def test_a_title_may_set_two_answers_apart() -> None:
    """Price lists of two years give two prices."""
    lists = [
        RetrievedPassage(source_id=year, title=f"Prices {year}", text=f"A day ticket costs £{price}.")
        for year, price in (("2019", 16), ("2025", 19))
    ]

    assert conflicts(*lists, query="How much does a day ticket cost?") == []


def test_each_side_is_quoted_where_it_stands() -> None:
    """Spans are those of the statements, in the text of their own passage."""
    texts = ["Welcome! A day ticket costs £16. Enjoy.", "A day ticket costs £19. Children enter free."]
    (conflict,) = Evidence.of("q", passages=texts).conflicts

    assert [text[a:b] for text, (a, b) in zip(texts, conflict.spans, strict=True)] == [
        "A day ticket costs £16.",
        "A day ticket costs £19.",
    ]


def test_a_disagreement_on_the_answer_concerns_the_question() -> None:
    """What is found by the question is about the question, quotes both sources and is told once."""
    texts = [
        "Orrin is old. It was Jane Carter who directed Northern Lights.",
        "Northern Lights was directed by Pedro Alvarez. It was shot in Norway.",
    ]
    evidence = Evidence.of("Who directed Northern Lights?", passages=texts)
    (conflict,) = find_conflicts(evidence.library, evidence.query)

    assert (conflict.passages, conflict.about) == ((0, 1), "directed Northern Lights")
    assert [text[a:b] for text, (a, b) in zip(texts, conflict.spans, strict=True)] == [
        "It was Jane Carter who directed Northern Lights.",
        "Northern Lights was directed by Pedro Alvarez.",
    ]


def test_time_grows_with_the_sources() -> None:
    """A long passage of nothing but answers, and many passages that all answer, take no more than their share."""
    claims = [f"The Halden Bridge was built in {1000 + n % 1000} by Person Number{n}." for n in range(2000)]
    for query in ("When was the Halden Bridge built?", "Who built the Halden Bridge?", "What is the Halden Bridge?"):
        for texts in (
            [" ".join(claims), " ".join(reversed(claims))],
            claims[:150],
            ["Halden Bridge built 19 " * 9000] * 2,
        ):
            evidence = Evidence.of(query, passages=texts)
            known = find_conflicts(evidence.library)
            start = time.process_time()
            find_conflicts(evidence.library, evidence.query)
            assert time.process_time() - start < 8, (query, len(texts), len(known))


@settings(max_examples=40, deadline=None)
@given(
    query=st.text(max_size=60),
    texts=st.lists(st.text(max_size=120), min_size=2, max_size=4),
)
def test_any_text_is_read(query: str, texts: list[str]) -> None:
    """Whatever stands in question and passages, values and quotes are copied from the passages."""
    evidence = Evidence.of(query, passages=texts)
    for conflict in find_conflicts(evidence.library, evidence.query):
        for passage, span, value in zip(conflict.passages, conflict.spans, conflict.values, strict=True):
            raw = evidence.passages[passage].text.raw
            assert (0 <= span[0] < span[1] <= len(raw), value in raw) == (True, True)

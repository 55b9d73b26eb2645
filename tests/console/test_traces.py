"""Traces without scripts: lists, filters, pages, and one trace with its replay, its policy and its packet."""

from __future__ import annotations

import re
from html import unescape

import pytest

from stillme.audit.query import Filter
from stillme.audit.retention import erase
from tests.console.conftest import NewVisitor, fill, verdicts
from tests.service.conftest import Service, Start

TRACE = "trace-0000-console"


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        pytest.param("", 3, id="everything"),
        pytest.param("decision=refuse", 1, id="by decision"),
        pytest.param("reason=contradicted_claim", 1, id="by reason"),
        pytest.param("language=vi", 1, id="by language"),
        pytest.param("caller=tests", 3, id="by caller"),
        pytest.param("text=nghi+phep", 1, id="by text, without its accents"),
        pytest.param("text=PHÉP+trong+năm", 1, id="by a text, whatever its case"),
        pytest.param("text=gear&decision=answer", 0, id="by a text and a decision that do not meet"),
        pytest.param("max_score=0.5", 1, id="by a low score"),
        pytest.param("min_score=0.5", 2, id="by a high score"),
        pytest.param("label=unreviewed", 3, id="by what nobody reviewed"),
        pytest.param("since=2999-01-01", 0, id="by a time to come"),
    ],
)
def test_filters_of_the_list(console: Service, visitor: NewVisitor, query: str, rows: int) -> None:
    """Each row leads to its trace; where nothing fits, the page says so."""
    page = visitor(console).get(f"/traces?{query}").text

    assert page.count('class="row-link"') == rows
    assert ("No verdicts" in page) is (rows == 0)


def test_a_bad_filter_is_a_page_that_names_it(console: Service, visitor: NewVisitor) -> None:
    """With the value and the way out."""
    response = visitor(console).get("/traces?since=soon")

    assert response.status_code == 422
    assert "&#x27;soon&#x27; is no point in time" in response.text


@pytest.mark.parametrize("query", ["text=%3F%21", "min_score=2", "max_score=much"])
def test_a_filter_that_can_find_nothing_says_why(console: Service, visitor: NewVisitor, query: str) -> None:
    """A text without a word, a score beyond its scale."""
    response = visitor(console).get(f"/traces?{query}")

    assert response.status_code == 422
    assert query.partition("=")[0] in response.text


def test_pages_follow_one_another(start: Start, visitor: NewVisitor) -> None:
    """By a link that keeps the filters; none is shown twice."""
    service = start()
    fill(service, verdicts()[:1], times=120)
    someone, path = visitor(service), "/traces?decision=refuse"
    seen: list[str] = []
    while path:
        page = someone.get(path).text
        seen += re.findall(r'class="row-link" href="/traces/([^"]+)"', page)
        found = re.search(r'rel="next" href="([^"]+)"', page)
        path = found[1].replace("&amp;", "&") if found else ""

    assert len(seen) == len(set(seen)) == 120


def test_the_list_is_turned_by_its_heading(console: Service, visitor: NewVisitor) -> None:
    """With the filters that were chosen, and back again."""
    someone = visitor(console)
    found = []
    path = "/traces?caller=tests"
    for _ in range(3):
        page = someone.get(path).text
        found.append(re.findall(r'class="row-link" href="/traces/([^"]+)"', page))
        path = unescape(re.findall(r'aria-sort="\w+"><a href="([^"]+)"', page)[0])

    assert len(found[0]) == 3
    assert found[1] == found[0][::-1]
    assert found[2] == found[0]


def test_one_trace_shows_everything(console: Service, visitor: NewVisitor) -> None:
    """Claims, sources, checks, the chain, the policy since, and nobody's review yet."""
    page = visitor(console).get(f"/traces/{TRACE}").text

    for words in (
        "Refuse",
        "Draft answer, claim by claim",
        "Passages given as sources",
        "intact",
        "the policy is the same",
        "Replay now",
    ):
        assert words in page


def test_a_trace_can_be_copied_shared_and_tried_again(console: Service, visitor: NewVisitor) -> None:
    """As a command, a program, a case; by an address without a text; in the form, with its texts in the body alone."""
    someone = visitor(console)
    page = someone.get(f"/traces/{TRACE}").text
    fields = [
        (name, unescape(text))
        for name, text in re.findall(r'name="(query|draft|source_id|passage)" value="([^"]*)"', page)
    ]

    assert page.count('class="copyable"') == 4
    assert f">{console.url}/traces/{TRACE}</pre>" in page
    assert "Refuse" in someone.send("/try", fields).text
    assert dict(fields)["draft"] == "You can return unused gear within 90 days of delivery [1]."


def test_a_replay_says_that_the_verdict_is_the_same(console: Service, visitor: NewVisitor) -> None:
    """Made now, under the policy of then."""
    assert "the same verdict" in visitor(console).send(f"/traces/{TRACE}", {}).text


def test_the_packet_is_a_file_that_runs_nothing(console: Service, visitor: NewVisitor) -> None:
    """To attach to an incident."""
    packet = visitor(console).get(f"/traces/{TRACE}/packet")

    assert packet.headers["content-disposition"] == f'attachment; filename="stillme-{TRACE}.html"'
    assert "<script" not in packet.text
    assert "90 days" in packet.text


def test_texts_that_were_erased_are_not_shown_and_the_page_says_so(start: Start, visitor: NewVisitor) -> None:
    """The decision and its reasons stay."""
    service = start()
    fill(service, verdicts()[:1])
    erase(service.parts.store, Filter(id=TRACE), who="dpo", why="asked for")
    page = visitor(service).get(f"/traces/{TRACE}").text

    assert "unused gear" not in page
    assert "erased" in page
    assert "Refuse" in page


def test_a_service_that_records_nothing_says_so(start: Start, visitor: NewVisitor) -> None:
    """Instead of an empty list."""
    service = start(STILLME_AUDIT_STORE="none")

    page = visitor(service).get("/traces")

    assert page.status_code == 404
    assert "STILLME_AUDIT_STORE=none" in page.text

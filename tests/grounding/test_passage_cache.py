"""What was read of passages is kept in so many bytes, and changes no verdict."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from stillme import Guard
from stillme.contract import RetrievedPassage
from stillme.grounding.passage import Passage, contents
from stillme.grounding.passage_cache import BYTES_PER_CHARACTER, BYTES_PER_TEXT, SizedCache
from stillme.languages import language_of, registered

ROOM = 8 * (BYTES_PER_TEXT + 100 * BYTES_PER_CHARACTER)
HUNDRED = "x" * 100
RULES: dict[str, Any] = {"grounding": {"model": "none"}}
IDS_AND_TIMES: dict[str, Any] = {
    "request_id": True,
    "validator_trace_id": True,
    "metrics": {"elapsed_ms"},
    "findings": {"__all__": {"elapsed_ms"}},
}

ENGLISH: dict[str, Any] = {
    "query": "When does the Marlow ferry leave on Sundays?",
    "draft_answer": "Marlow Ferry leaves at 9:30 on Sundays [1]. Tickets cost 14 euros. Orla Finch steers it [2].",
    "retrieved_context": [
        {
            "source_id": "a",
            "text": "The Marlow ferry leaves at 9:30 on Sundays. A ticket costs 12 euros.",
            "title": "Ferry",
        },
        {"source_id": "b", "text": "Finch has steered the ferry since 2011. On Sundays it leaves at ten."},
    ],
    "as_of": "2026-02-01T09:00:00Z",
}
VIETNAMESE: dict[str, Any] = {
    "query": "Chủ nhật phà Bến Trúc chạy lúc mấy giờ?",
    "draft_answer": "Chủ nhật, phà Bến Trúc rời bến lúc 9 giờ 30 [1]. Vé giá 14.000 đồng. Anh Lê Văn Sáu lái phà.",
    "retrieved_context": [
        {"source_id": "a", "text": "Chủ nhật phà Bến Trúc rời bến lúc 9 giờ 30. Vé giá 12.000 đồng một lượt."},
        {"source_id": "b", "text": "Ông Sáu lái phà từ năm 2011. Chủ nhật phà rời bến lúc mười giờ."},
    ],
    "as_of": "2026-02-01T09:00:00Z",
}


def verdict(request: dict[str, Any]) -> dict[str, Any]:
    """A verdict but for its ids and times."""
    return Guard(RULES).verify(request).model_dump(exclude=IDS_AND_TIMES)


def made(text: str) -> list[str]:
    """Something made of a text."""
    return [text]


def test_the_same_words_are_found_whoever_brings_them() -> None:
    """A source id and a similarity are no part of what is read; a title is."""
    one = Passage(1, RetrievedPassage(source_id="a", text="Kelm has two mills.", similarity=0.4))
    same = Passage(7, RetrievedPassage(source_id="b", text="Kelm has two mills."))
    titled = Passage(1, RetrievedPassage(source_id="a", text="Kelm has two mills.", title="Mills"))

    assert one.content is same.content
    assert one.content is not titled.content


def test_what_was_not_asked_for_longest_makes_room() -> None:
    """And the counts say what is kept."""
    cache = SizedCache(made, len, ROOM)
    keys = [f"{n}{HUNDRED[1:]}" for n in range(9)]
    first = [cache[key] for key in keys[:8]]

    again = cache[keys[0]]
    cache[keys[8]]  # the ninth does not fit beside the others
    counts = cache.counts

    assert again is first[0]
    assert cache[keys[0]] is first[0]
    assert cache[keys[1]] is not first[1]
    assert (counts.hits, counts.misses, counts.entries) == (1, 9, 8)
    assert counts.size_bytes == counts.most_bytes == ROOM


def test_a_text_that_would_take_most_of_the_room_is_not_kept() -> None:
    """One request cannot push out everybody else's passages."""
    cache = SizedCache(made, len, ROOM)

    assert cache[HUNDRED + "x"] is not cache[HUNDRED + "x"]
    assert cache.counts == replace(cache.counts, entries=0, size_bytes=0)


def test_another_language_is_read_anew() -> None:
    """What was read by the rules of before is not given again."""
    passage = RetrievedPassage(source_id="a", text="Kelm has three mills.")
    before = Passage(1, passage).content

    with registered(replace(language_of("en"), code="xx")):
        during = Passage(1, passage).content

    assert before is not during
    assert during is not Passage(1, passage).content


@pytest.mark.parametrize("request_", [pytest.param(ENGLISH, id="en"), pytest.param(VIETNAMESE, id="vi")])
def test_a_verdict_is_the_same_whether_its_passages_came_before_or_not(request_: dict[str, Any]) -> None:
    """Also where they came with a draft that has other names in it."""
    contents.cache_clear()
    new = verdict(request_)
    verdict({**request_, "draft_answer": "Sundays are for Tickets and Since, says Ten. Vé và Chủ."})

    assert verdict(request_) == new
    assert contents.counts.hits > 0


def test_threads_that_read_the_same_passages_agree() -> None:
    """Whoever comes second finds what the first one has read, or reads the same."""
    contents.cache_clear()
    requests = [ENGLISH, VIETNAMESE] * 16
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(verdict, requests))

    assert all(each == found[k % 2] for k, each in enumerate(found))

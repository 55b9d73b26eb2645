"""Awkward text gives a verdict or a clear error, in time that grows with its size."""

from __future__ import annotations

import pytest
from benchmarks.texts import PIECES as REPEATED
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Guard, InputError
from stillme.validators.registry import BUILT_IN
from tests.soak import examples, rounds

GUARD = Guard()
AWKWARD = {
    "NULs": "a\x00b\x00",
    "right-to-left marks": "\u202eabc\u200f def",
    "zero-width": "b\u200bo\u200cm\u200db",
    "combining marks": "e" + "\u0301" * 50,
    "emoji": "👩‍👩‍👧 5️⃣ 🇻🇳",
    "control characters": "\x1b[31mred\x07",
    "only punctuation": "?!... ---",
    "only digits": "1.234.567,89",
    "open brackets": "[[[[((((【【",
    "html": "<script>alert(1)</script><!-- x -->",
    "markdown": "# a\n**b**\n| c | d |\n|---|---|\n| 1 | 2 |\n```\ncode",
    "other scripts": "مرحبا 你好 Привет สวัสดี",
    "full-width": "１２３ ＡＢＣ",
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_text_anywhere(text: str) -> None:
    """As question, draft, passage, title, id and turn of the conversation."""
    verdict = GUARD.verify(
        {
            "query": text or "q",
            "draft_answer": text,
            "retrieved_context": [{"source_id": text, "text": text, "title": text, "url": text}],
            "conversation": [{"role": "user", "content": text}],
        }
    )

    assert all(claim.text == text[claim.start : claim.end] for claim in verdict.claims)


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=80), st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_text_gives_a_verdict_or_an_input_error(query: str, draft: str, passages: list[str]) -> None:
    """No text in the world gives a traceback, and every offset and quote is exact."""
    context = [{"source_id": str(n), "text": text} for n, text in enumerate(passages)]
    try:
        verdict = GUARD.verify({"query": query, "draft_answer": draft, "retrieved_context": context})
    except InputError:
        return

    assert not [f for f in verdict.findings if f.outcome == "errored"]
    for claim in verdict.claims:
        assert claim.text == draft[claim.start : claim.end]
        assert claim.quote is None or any(claim.quote in text for text in passages)
        assert all(claim.start <= a < b <= claim.end for a, b in claim.unsupported_spans)


def test_duplicate_source_ids_are_chunks_of_one_source() -> None:
    """Both are read, and the source is cited once."""
    chunks = [{"source_id": "a", "text": "Tea is hot."}, {"source_id": "a", "text": "Ice is cold."}]
    verdict = GUARD.verify(
        {"query": "How is tea?", "draft_answer": "Tea is hot [1]. Ice is cold [2].", "retrieved_context": chunks}
    )

    assert [c.source_id for c in verdict.citations] == ["a"]


LONG = rounds(200_000, 30_000)
PIECES = {
    **REPEATED,
    "one word": "a",
    "one name": "A",
    "hyphens": "a-",
    "apostrophes": "a'",
    "markers": "[1]. ",
    "code": "`a` ",
    "fences": "```\n",
    "pages": "See https://a.example/b. ",
    "rows": "| a | 1 |\n",
    "bold": "**a**\n",
}


@pytest.mark.timeout(rounds(2400, 120))
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
@pytest.mark.parametrize("field", ["draft", "passage"])
def test_a_long_run_of_anything_comes_back(piece: str, field: str) -> None:
    """Very many characters of one adversarial piece: work that grew with the square of it would not end within the test's limit."""
    patient = {name: {"timeout_s": 3600} for name in BUILT_IN}
    limits = {"draft_chars": 2_000_000, "passage_chars": 2_000_000}
    guard = Guard({"limits": limits, "validators": patient, "grounding": {"most_tokens": 512}})
    text = (piece * LONG)[:LONG]
    draft, passage = (text, "The plan costs $9.") if field == "draft" else ("The plan costs $9 [1].", text)
    request = {
        "query": "What does the plan cost?",
        "draft_answer": draft,
        "retrieved_context": [{"source_id": "a", "text": passage}],
    }

    verdict = guard.verify(request)

    assert not [f for f in verdict.findings if f.outcome == "errored"]

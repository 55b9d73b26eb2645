"""The page of a verdict, at every width, in every encoding, with untrusted text in every place."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from stillme.cli.terminal import Page, console, progress, visible
from stillme.contract import (
    Citation,
    ClaimVerdict,
    Conflict,
    FindingRecord,
    Metrics,
    Statement,
    Verdict,
    VerifyRequest,
)
from stillme.reasons import Decision, Gate
from tests.soak import examples

DRAFT = "Returns are accepted within 45 days [1]. Postage is free. Ropes are sold in Leeds. I hope this helps!"

PAGE = """\
 refuse  blocked, confidence low, NOT VERIFIED

Question
  How long may I wait?

Draft
  Returns are accepted within 45 days [1]. Postage is free. Ropes are sold in
  Leeds. I hope this helps!

Claims
  contradicted  0.03  Returns are accepted within 45 days [1].
                      source: faq-returns
                      says: "within 30 days of delivery"
                      in no source: 45 days
                      45 days against 30 days
  unsupported   0.20  Postage is free.
  supported     0.97  Ropes are sold in Leeds.
                      source: faq-returns, shops
                      says: "ropes in our Leeds shop"
  not factual         I hope this helps!

Sources
  faq-returns, Returns and refunds, https://example.org/returns

Conflicts
  return window
    faq-returns says: "within 30 days of delivery"
    shops says: "28 days"

Reasons
  The drafted answer contradicts the documents. (contradicted_claim)
  A figure in the answer stands in none of the documents.
  (number_not_in_sources)

Findings
  flagged  hard  FactualHallucinationValidator: contradicted_claim
                 1 of 3 claims is contradicted
  flagged  soft  CitationRequired: citation_missing_for_factual_claim, repaired
  errored  hard  EthicsAdapter: validator_error
                 ValueError: 'no'

Response
  I can't give you a verified answer to this question.

request r-1
trace id trace-1
mode enforce, policy aaaaaaaaaaaa, model rules-1
language en, as of 2026-02-01T09:00:00Z, stillme 0.1.0
"""


def claim(text: str, status: Any, **more: Any) -> ClaimVerdict:
    """A claim that stands in the draft."""
    start = DRAFT.index(text)
    return ClaimVerdict(text=text, start=start, end=start + len(text), status=status, **more)


def finding(validator: str, outcome: Any, gate: Gate, **more: Any) -> FindingRecord:
    """A finding on the draft."""
    return FindingRecord(validator=validator, outcome=outcome, gate=gate, stage="draft", **more)


def verdict(**changes: Any) -> Verdict:
    """A clean answer without claims, with these fields changed."""
    fields: dict[str, Any] = {
        "request_id": "r-1",
        "decision": Decision.ANSWER,
        "mode": "enforce",
        "action": "deliver",
        "source_required": True,
        "confidence_band": "high",
        "reasons": [],
        "validator_trace_id": "trace-1",
        "citations": [],
        "safe_response": None,
        "metrics": Metrics(max_similarity=0.8, context_count=2),
        "claims": [],
        "findings": [],
        "conflicts": [],
        "verified": True,
        "language": "en",
        "as_of": datetime(2026, 2, 1, 9, tzinfo=UTC),
        "policy_hash": "a" * 64,
        "model_id": "rules-1",
        "version": "0.1.0",
        "calibrated": False,
    }
    return Verdict(**{**fields, **changes})


def full_verdict(**changes: Any) -> Verdict:
    """A verdict with something to say in every section."""
    wrong = DRAFT.index("45 days")
    fields: dict[str, Any] = {
        "decision": Decision.REFUSE,
        "action": "block",
        "confidence_band": "low",
        "verified": False,
        "reasons": ["contradicted_claim", "number_not_in_sources"],
        "safe_response": "I can't give you a verified answer to this question.",
        "citations": [
            Citation(source_id="faq-returns", title="Returns and refunds", url="https://example.org/returns")
        ],
        "claims": [
            claim(
                "Returns are accepted within 45 days [1].",
                "contradicted",
                score=0.03,
                source_ids=["faq-returns"],
                quote="within 30 days of delivery",
                unsupported_spans=[(wrong, wrong + 7)],
                detail="45 days against 30 days",
            ),
            claim("Postage is free.", "unsupported", score=0.2),
            claim(
                "Ropes are sold in Leeds.",
                "supported",
                score=0.97,
                source_ids=["faq-returns", "shops"],
                quote="ropes in our Leeds shop",
            ),
            claim("I hope this helps!", "not_factual", detail="closing"),
        ],
        "conflicts": [
            Conflict(
                source_ids=["faq-returns", "shops"],
                about="return window",
                statements=[
                    Statement(source_id="faq-returns", quote="within 30 days of delivery"),
                    Statement(source_id="shops", quote="28 days"),
                ],
            )
        ],
        "findings": [
            finding("LanguageValidator", "passed", Gate.HARD),
            finding(
                "FactualHallucinationValidator",
                "flagged",
                Gate.HARD,
                reason="contradicted_claim",
                detail="1 of 3 claims is contradicted",
            ),
            finding(
                "CitationRequired",
                "flagged",
                Gate.SOFT,
                reason="citation_missing_for_factual_claim",
                repaired=True,
            ),
            finding("SchemaFormat", "skipped", Gate.HARD, detail="no sections are configured"),
            finding("EthicsAdapter", "errored", Gate.HARD, reason="validator_error", detail="ValueError: 'no'"),
        ],
    }
    return verdict(**{**fields, **changes})


REQUEST = VerifyRequest(query="How long may I wait?", draft_answer=DRAFT)


def drawn(page: Page, width: int = 80, colours: Any = None, **options: Any) -> str:
    """The page as it is printed, without the blanks that fill its lines."""
    out = io.StringIO()
    drawing = Console(
        file=out,
        width=width,
        markup=False,
        highlight=False,
        force_terminal=bool(colours),
        color_system=colours,
        _environ={},
        **options,
    )
    drawing.print(page)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_a_page_shows_the_whole_verdict() -> None:
    assert drawn(Page(REQUEST, full_verdict())) == PAGE


def test_all_findings_are_shown_on_demand() -> None:
    shown = drawn(Page(REQUEST, full_verdict(), all_findings=True))

    assert "  passed   hard  LanguageValidator\n" in shown
    assert "  skipped  hard  SchemaFormat\n                 no sections are configured\n" in shown


@pytest.mark.parametrize(
    ("decision", "action", "mode", "words"),
    [
        pytest.param(
            "refuse",
            "deliver",
            "monitor",
            "would refuse; delivered, because the mode is monitor",
            id="monitor delivers",
        ),
        pytest.param(
            "ask_clarify",
            "deliver",
            "monitor",
            "would ask back; delivered, because the mode is monitor",
            id="monitor asks nothing",
        ),
        pytest.param(
            "refuse",
            "deliver_with_warning",
            "warn",
            "would refuse; delivered with a warning, because the mode is warn",
            id="warn delivers with a warning",
        ),
        pytest.param("refuse", "block", "enforce", "blocked", id="enforce blocks"),
        pytest.param("ask_clarify", "clarify", "enforce", "asked back", id="enforce asks back"),
        pytest.param(
            "answer", "deliver_with_warning", "warn", "delivered with a warning", id="an answer with a warning"
        ),
    ],
)
def test_the_first_line_says_what_became_of_the_draft_and_why(
    decision: Any, action: Any, mode: Any, words: str
) -> None:
    """Whoever reads `refuse` sees at once whether the user got the draft."""
    found = verdict(decision=Decision(decision), action=action, mode=mode)

    page = drawn(Page(VerifyRequest(query="Hello!", draft_answer="Hello!"), found))

    first = page.partition("\n\n")[0].replace("\n", " ")
    assert first == f" {decision}  {words}, confidence high, verified"


def test_sections_without_content_are_left_out() -> None:
    request = VerifyRequest(query="Hello!", draft_answer="Hello!")

    shown = drawn(Page(request, verdict(validator_trace_id=None), place="in.jsonl line 3"))

    assert shown == (
        " answer  delivered, confidence high, verified  in.jsonl line 3\n\n"
        "Question\n  Hello!\n\nDraft\n  Hello!\n\n"
        "request r-1\nmode enforce, policy aaaaaaaaaaaa, model rules-1\n"
        "language en, as of 2026-02-01T09:00:00Z, stillme 0.1.0\n\n"
    )


def test_a_request_without_a_draft_says_so() -> None:
    shown = drawn(Page(VerifyRequest(query="Why?"), verdict()))

    assert "Draft\n  none: only the question and its context were checked\n" in shown


@pytest.mark.parametrize(
    ("language", "words"),
    [
        pytest.param("en", "The drafted answer contradicts the documents. (contradicted_claim)", id="English"),
        pytest.param("vi", "Bản nháp mâu thuẫn với tài liệu. (contradicted_claim)", id="Vietnamese"),
    ],
)
def test_reasons_are_in_the_words_of_the_user(language: str, words: str) -> None:
    assert words in drawn(Page(REQUEST, full_verdict(language=language)))


def test_a_code_of_a_plugin_is_shown_with_the_words_for_unknown_codes() -> None:
    shown = drawn(Page(REQUEST, full_verdict(reasons=["own_code"])))

    assert "  A check of this service did not pass (own_code). (own_code)\n" in shown


GREEN, RED, YELLOW, DIM, UNDERLINED_RED = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[4;31m"


def test_claims_are_coloured_by_their_status_and_unsupported_spans_underlined() -> None:
    shown = drawn(Page(REQUEST, full_verdict()), width=200, colours="standard")

    draft = next(line for line in shown.splitlines() if "Returns are accepted" in line)
    assert draft == (
        f"  {RED}Returns are accepted within \x1b[0m{UNDERLINED_RED}45 days\x1b[0m{RED} [1].\x1b[0m "
        f"{YELLOW}Postage is free.\x1b[0m {GREEN}Ropes are sold in Leeds.\x1b[0m {DIM}I hope this helps!\x1b[0m"
    )


def test_without_colour_the_underline_and_the_words_remain() -> None:
    shown = drawn(Page(REQUEST, full_verdict()), width=200, colours="standard", no_color=True)

    assert "\x1b[4m45 days\x1b[0m" in shown
    assert RED not in shown
    assert "contradicted" in shown


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(width: int) -> None:
    shown = drawn(Page(REQUEST, full_verdict()), width=width)

    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert "…" not in shown
    assert sorted("".join(shown.split())) == sorted("".join(PAGE.split()))


HOSTILE = "\x1b[2J\x1b]0;title\x07[bold red]x[/] \u202egnp.exe\u200b\x9b31m :smile: \ud7ff\r\x00"
SHOWN = "\\x1b[2J\\x1b]0;title\\x07[bold red]x[/] \\u202egnp.exe\\u200b\\x9b31m :smile: \\ud7ff\\r\\x00"


def test_untrusted_text_is_shown_and_does_nothing_wherever_it_stands() -> None:
    request = VerifyRequest(query=HOSTILE, draft_answer=HOSTILE)
    hostile = ClaimVerdict(
        text=HOSTILE,
        start=0,
        end=len(HOSTILE),
        status="contradicted",
        source_ids=[HOSTILE],
        quote=HOSTILE,
        unsupported_spans=[(0, 4)],
        detail=HOSTILE,
    )
    page = Page(
        request,
        verdict(
            request_id=HOSTILE,
            validator_trace_id=HOSTILE,
            reasons=[HOSTILE],
            safe_response=HOSTILE,
            citations=[Citation(source_id=HOSTILE, title=HOSTILE, url=HOSTILE, timestamp=HOSTILE)],
            claims=[hostile],
            conflicts=[
                Conflict(source_ids=[], about=HOSTILE, statements=[Statement(source_id=HOSTILE, quote=HOSTILE)])
            ],
            findings=[finding(HOSTILE, "flagged", Gate.HARD, reason=HOSTILE, detail=HOSTILE)],
        ),
        place=HOSTILE,
    )

    shown = drawn(page, width=1000)

    assert [char for char in shown if not char.isprintable() and char != "\n"] == []
    assert shown.count("[bold red]x[/]") == 22
    assert SHOWN in shown


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        pytest.param("Hà Nội, naïve, 東京", "utf-8", "Hà Nội, naïve, 東京", id="letters of any language stay"),
        pytest.param("Hà Nội", "ascii", "H\\xe0 N\\u1ed9i", id="what ASCII lacks is written out"),
        pytest.param("Hà Nội", "cp1252", "Hà N\\u1ed9i", id="what a Windows code page lacks is written out"),
        pytest.param("a\tb\nc", "utf-8", "a    b\nc", id="tabs become blanks and line ends stay"),
        pytest.param("1\u00a0000\u3000x", "utf-8", "1 000 x", id="blanks of any width become plain ones"),
        pytest.param(
            "\u2028\u2066\ufeff\U000e0041", "utf-8", "\\u2028\\u2066\\ufeff\\U000e0041", id="what is invisible shows"
        ),
        pytest.param("", "utf-8", "", id="nothing stays nothing"),
    ],
)
def test_visible_text(text: str, encoding: str, shown: str) -> None:
    assert visible(text, encoding) == shown


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=80), st.sampled_from(["utf-8", "ascii", "cp1252", "cp1258", "shift_jis"]))
def test_visible_text_is_printable_and_can_be_encoded(text: str, encoding: str) -> None:
    shown = visible(text, encoding)

    assert shown.encode(encoding, "strict") is not None
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_page_prints_on_a_stream_that_is_not_utf_8() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", errors="strict")
    page = Page(
        VerifyRequest(query="Thủ đô?", draft_answer="Hà Nội"), full_verdict(language="vi", claims=[]), encoding="cp1252"
    )

    Console(file=stream, width=80, markup=False).print(page)
    stream.flush()

    assert "Th\\u1ee7 \\u0111ô?" in stream.buffer.getvalue().decode("cp1252")


def test_the_console_reads_no_markup_and_adds_no_highlights(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("[red]1[/red] :smile:")
    console(stderr=True).print("2")

    assert capsys.readouterr() == ("[red]1[/red] :smile:\n", "2\n")


def test_the_progress_bar_counts_requests_and_leaves_nothing_behind() -> None:
    out = io.StringIO()
    where = Console(file=out, force_terminal=True, width=60, _environ={})

    with progress(where, total=30) as advance:
        for _ in range(3):
            advance(10)
        where.print("a page")

    assert "3 verified" in out.getvalue()
    assert out.getvalue().endswith("\x1b[2K")

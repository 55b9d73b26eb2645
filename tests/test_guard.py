"""The guard: one request in, one verdict out, the same decision in every mode."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stillme import Guard, InputError, ValidatorChain
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.validators.citation_required import CitationRequired
from stillme.validators.ethics_adapter import EthicsAdapter
from stillme.validators.evidence_overlap import EvidenceOverlap
from stillme.validators.numeric_units_basic import NumericUnitsBasic
from stillme.validators.registry import BUILT_IN
from stillme.version import __version__
from tests.audit.conftest import Caught

ROOT = Path(__file__).parents[1]

SOURCE = {
    "source_id": "faq",
    "title": "Returns",
    "url": "https://a.example/faq",
    "text": "Unused gear can be returned within 30 days of delivery. Gift cards are not refundable, but they never expire.",
    "similarity": 0.82,
}
NGUON = {
    "source_id": "quy-dinh",
    "title": "Quy định",
    "text": "Khách hàng được đổi trả hàng trong 15 ngày. Hàng giảm giá không được đổi trả.",
    "similarity": 0.8,
}


def request(draft: str | None, query: str = "How long can I return unused gear?", **more: Any) -> dict[str, Any]:
    """A request about the returns page."""
    return {
        "query": query,
        "draft_answer": draft,
        "retrieved_context": [SOURCE],
        "as_of": "2026-02-01T00:00:00Z",
        **more,
    }


def steady(verdict: Any) -> dict[str, Any]:
    """A verdict without ids and times."""
    dumped: dict[str, Any] = verdict.model_dump(mode="json", exclude={"request_id", "validator_trace_id"})
    dumped["metrics"].pop("elapsed_ms")
    for finding in dumped["findings"]:
        finding.pop("elapsed_ms")
    return dumped


def test_a_clean_answer() -> None:
    """Supported and cited: answer, no reasons, delivered as it is."""
    verdict = Guard({"mode": "enforce"}).verify(request("Unused gear can be returned within 30 days of delivery [1]."))

    assert (verdict.decision, verdict.action, verdict.reasons, verdict.safe_response) == ("answer", "deliver", [], None)
    assert [c.source_id for c in verdict.citations] == ["faq"]
    assert (verdict.verified, verdict.confidence_band) == (True, "high")


def test_a_wrong_figure_is_refused_and_the_refusal_says_what_the_source_says() -> None:
    """Specific, in the user's language, with the source's own words."""
    verdict = Guard({"mode": "enforce"}).verify(request("Unused gear can be returned within 90 days of delivery [1]."))

    assert (verdict.decision, verdict.action, verdict.confidence_band) == ("refuse", "block", "low")
    assert {"number_not_in_sources", "contradicted_claim"} <= set(verdict.reasons)
    assert verdict.safe_response is not None
    assert "30 days" in verdict.safe_response
    assert "90 days" not in verdict.safe_response
    assert verdict.citations == []


def test_a_vietnamese_refusal_is_in_vietnamese() -> None:
    """The wording follows the question."""
    wrong = {
        "query": "Đổi trả hàng trong bao nhiêu ngày?",
        "draft_answer": "Khách hàng được đổi trả hàng trong 60 ngày [1].",
        "retrieved_context": [NGUON],
    }
    verdict = Guard({"mode": "enforce"}).verify(wrong)

    assert (verdict.decision, verdict.language) == ("refuse", "vi")
    assert "Tôi không thể" in (verdict.safe_response or "")
    assert "15 ngày" in (verdict.safe_response or "")


@pytest.mark.parametrize(
    ("draft", "query"),
    [
        ("Unused gear can be returned within 30 days of delivery [1].", "How long can I return unused gear?"),
        ("Unused gear can be returned within 90 days of delivery [1].", "How long can I return unused gear?"),
        ("Gift cards never expire.", "Do gift cards expire?"),
        ("Tents are free on Sundays [4].", "Are tents free?"),
        (None, "Tell me everything."),
    ],
)
def test_the_decision_is_the_same_in_all_modes(draft: str | None, query: str) -> None:
    """The mode changes what is done, never what is found."""
    verdicts = {mode: Guard({"mode": mode}).verify(request(draft, query)) for mode in ("monitor", "warn", "enforce")}
    seen = {(v.decision, tuple(v.reasons), v.confidence_band, v.verified, len(v.findings)) for v in verdicts.values()}

    assert len(seen) == 1
    assert (verdicts["monitor"].action, verdicts["monitor"].safe_response) == ("deliver", None)


def test_an_uncited_supported_claim_is_repaired_and_verified_again() -> None:
    """The repaired text is the safe response; its finding says so; offsets are those of the original draft."""
    verdict = Guard({"mode": "enforce"}).verify(request("Gift cards never expire.", "Do gift cards expire?"))

    assert (verdict.decision, verdict.action) == ("answer", "deliver_with_warning")
    assert verdict.safe_response == "Gift cards never expire [1]."
    assert verdict.reasons == ["passed_with_warnings", "citation_missing_for_factual_claim"]
    assert [(f.spans, f.repaired) for f in verdict.findings if f.validator == "CitationRequired"] == [([(0, 24)], True)]


def test_a_policy_may_forbid_repairs() -> None:
    """Then the missing citation stays a hard finding."""
    policy = {"mode": "enforce", "validators": {"CitationRequired": {"repair": False}}}

    assert Guard(policy).verify(request("Gift cards never expire.", "Do gift cards expire?")).decision == "refuse"


def test_an_early_exit_skips_the_rest_but_not_ethics() -> None:
    """A draft in the wrong language is judged by nothing else than safety."""
    verdict = Guard().verify(request("Bạn có thể trả hàng chưa sử dụng trong vòng 30 ngày [1]."))
    outcomes = {f.validator: f.outcome for f in verdict.findings if f.stage == "draft"}

    assert verdict.reasons == ["language_mismatch"]
    assert outcomes.pop("LanguageValidator") == "flagged"
    assert outcomes.pop("EthicsAdapter") == "passed"
    assert set(outcomes.values()) == {"skipped"}
    assert (verdict.claims, verdict.verified) == ([], False)


def test_soft_answers_may_be_allowed_when_only_the_evidence_is_weak() -> None:
    """`allow_soft_answer_with_warning` turns a refusal for weak evidence into an answer, if every claim is supported."""
    weak = {**SOURCE, "similarity": 0.3}
    right = request("Unused gear can be returned within 30 days of delivery [1].", retrieved_context=[weak])
    wrong = request("Unused gear can be returned within 90 days of delivery [1].", retrieved_context=[weak])
    soft = Guard({"behavior": {"allow_soft_answer_with_warning": True}})

    assert Guard().verify(right).decision == "refuse"
    assert (soft.verify(right).decision, soft.verify(right).reasons) == (
        "answer",
        ["passed_with_warnings", "low_context_similarity"],
    )
    assert soft.verify(wrong).decision == "refuse"


def test_precheck_ignores_the_draft() -> None:
    """Pattern B looks at question and context only."""
    guard = Guard()
    with_draft, without = guard.precheck(request("Tents are free [9].")), guard.verify(request(None))

    assert steady(with_draft) == steady(without)
    assert {f.stage for f in with_draft.findings} == {"query"}
    assert with_draft.claims == []


def test_batch_results_equal_single_ones_in_order() -> None:
    """The order is kept and nothing depends on what else is in the batch."""
    guard = Guard()
    requests = [
        request("Unused gear can be returned within 30 days [1]."),
        request("Unused gear can be returned within 90 days [1]."),
        request(None),
        request("Gift cards never expire.", "Do gift cards expire?"),
    ] * 3

    batch = guard.verify_batch(requests)

    assert [steady(v) for v in batch] == [steady(guard.verify(r)) for r in requests]


def test_async_gives_the_same_verdict() -> None:
    """`averify` is `verify` off the event loop."""
    guard = Guard()

    assert steady(asyncio.run(guard.averify(request("Gift cards never expire [1].")))) == steady(
        guard.verify(request("Gift cards never expire [1]."))
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": "q" * 8001}, "query"),
        ({"draft_answer": "d" * 64001}, "draft_answer"),
        ({"retrieved_context": [SOURCE] * 65}, "retrieved_context"),
        ({"retrieved_context": [{**SOURCE, "text": "t" * 64001}]}, "retrieved_context[0].text"),
        ({"conversation": [{"role": "user", "content": "c"}] * 65}, "conversation"),
    ],
)
def test_over_a_limit_is_an_error_that_names_it(change: dict[str, Any], field: str) -> None:
    """Nothing is cut off unsaid."""
    with pytest.raises(InputError, match="limits\\.") as caught:
        Guard().verify({**request("x"), **change})

    assert str(caught.value).startswith(field)


def test_the_adr_shape() -> None:
    """answer, sources, refused, refusal_reason."""
    guard = Guard({"extends": "book", "mode": "enforce"})
    good, bad = (
        "Unused gear can be returned within 30 days of delivery [1].",
        "Unused gear can be returned within 90 days of delivery [1].",
    )
    answered, refused = guard.verify(request(good)).to_adr(good), guard.verify(request(bad)).to_adr(bad)

    assert (answered["answer"], answered["refused"], answered["refusal_reason"]) == (good, False, None)
    assert [s["source_id"] for s in answered["sources"]] == ["faq"]
    assert (refused["answer"], refused["sources"], refused["refused"]) == (
        "This information cannot be verified from the book content.",
        [],
        True,
    )
    assert "90 days" in refused["refusal_reason"]


GYM = {"source_id": "gym", "text": "The gym is open from 6 am to 10 pm on weekdays.", "similarity": 0.82}
PHONG_TAP = {"source_id": "pt", "text": "Phòng tập mở cửa từ 6 giờ sáng đến 10 giờ tối.", "similarity": 0.82}
ELSEWHERE = [
    pytest.param(
        "When does the Silverton library open on Saturdays?",
        "The gym is open from 6 am to 10 pm on weekdays{cited}.",
        GYM,
        "do not mention the key words",
        id="en",
    ),
    pytest.param(
        "Thư viện Hoàng Mai mở cửa lúc mấy giờ vào thứ Bảy?",
        "Phòng tập mở cửa từ 6 giờ sáng đến 10 giờ tối{cited}.",
        PHONG_TAP,
        "không nhắc đến những từ khóa",
        id="vi",
    ),
]


@pytest.mark.parametrize("cited", [" [1]", ""], ids=["cited", "citation repaired"])
@pytest.mark.parametrize("policy", [{"mode": "warn"}, {"mode": "enforce"}, {"extends": "book", "mode": "enforce"}])
@pytest.mark.parametrize(("query", "draft", "passage", "warning"), ELSEWHERE)
def test_gate_2_warns_the_user_below_the_answer(
    query: str, draft: str, passage: dict[str, Any], warning: str, policy: dict[str, Any], cited: str
) -> None:
    """A context that does not speak of what was asked is told in warn and in enforce, in the answer of the ADR shape, once."""
    written = draft.format(cited=cited)
    verdict = Guard(policy).verify({"query": query, "draft_answer": written, "retrieved_context": [passage]})

    adr = verdict.to_adr(written)
    above, _, below = adr["answer"].partition("\n\n")
    assert verdict.decision == "answer"
    assert (above, adr["refused"], adr["refusal_reason"]) == (draft.format(cited=" [1]"), False, None)
    assert below.count(warning) == 1
    assert set(adr) == {"answer", "sources", "refused", "refusal_reason"}


@pytest.mark.parametrize(("query", "draft", "passage", "warning"), ELSEWHERE)
def test_gate_2_warns_beside_the_answer_in_monitor(
    query: str, draft: str, passage: dict[str, Any], warning: str
) -> None:
    """Monitor changes no text: the warning stands beside the answer."""
    written = draft.format(cited=" [1]")
    verdict = Guard({"mode": "monitor"}).verify(
        {"query": query, "draft_answer": written, "retrieved_context": [passage]}
    )

    adr = verdict.to_adr(written)
    assert (adr["answer"], verdict.safe_response) == (written, None)
    assert warning in adr["warning"]


@pytest.mark.parametrize("trace", [True, False], ids=["with findings", "without findings"])
def test_the_adr_shape_in_warn_has_the_draft_and_the_note(trace: bool) -> None:
    """The note does not take the place of the draft, whatever else the policy hides; a repaired draft does."""
    guard = Guard({"mode": "warn", "output": {"include_validator_trace": trace}})
    bad = "Unused gear can be returned within 90 days of delivery [1]."
    mended = "Unused gear can be returned within 30 days of delivery."

    warned, repaired = guard.verify(request(bad)).to_adr(bad), guard.verify(request(mended)).to_adr(mended)

    assert warned["answer"].startswith(f"{bad}\n\nPlease note: this answer was not fully verified.")
    assert (warned["refused"], warned["refusal_reason"]) == (False, None)
    assert repaired["answer"] == "Unused gear can be returned within 30 days of delivery [1]."


def test_a_question_back_is_no_refusal_in_the_adr_shape() -> None:
    """The record of decision refuses at its gates; a question back is an answer that asks."""
    plans = {"source_id": "plans", "text": "The Basic plan costs $9 per month. The Pro plan costs $29 per month."}
    verdict = Guard({"mode": "enforce"}).precheck(
        {"query": "How much does the plan cost per month?", "retrieved_context": [plans]}
    )

    adr = verdict.to_adr()
    assert verdict.action == "clarify"
    assert (adr["refused"], adr["refusal_reason"], adr["sources"]) == (False, None, [])
    assert "Basic" in adr["answer"]


def test_output_switches() -> None:
    """Reason codes and trace can be left out of the verdict."""
    verdict = Guard({"output": {"include_reason_codes": False, "include_validator_trace": False}}).verify(
        request("Tents are free [9].")
    )

    assert (verdict.decision, verdict.reasons, verdict.findings, verdict.validator_trace_id) == ("refuse", [], [], None)


def test_reason_codes_that_are_left_out_are_left_out_of_the_findings_too() -> None:
    """Codes stand in `reasons` and in each finding; details and outcomes stay, and the record has it all."""
    kept = Caught()
    guard = Guard({"mode": "enforce", "output": {"include_reason_codes": False}}, audit=kept)

    verdict = guard.verify(request("Tents are free [9]."))

    assert (verdict.reasons, {f.reason for f in verdict.findings}) == ([], {None})
    assert any(f.outcome == "flagged" and f.detail for f in verdict.findings)
    assert "fabricated_citation" not in json.dumps(verdict.to_adr("x"))
    assert any(f.reason for f in kept.occurrences[-1].verdict.findings)


@pytest.mark.parametrize("similarity", [0.699, 0.69999, 0.6999999999])
def test_a_similarity_just_below_the_threshold_does_not_read_as_equal_to_it(similarity: float) -> None:
    """The refusal shows as many digits as it takes."""
    passage = {"source_id": "faq", "text": "Unused gear can be returned within 30 days.", "similarity": similarity}
    verdict = Guard("book").precheck({"query": "How long can gear be returned?", "retrieved_context": [passage]})

    reason = verdict.to_adr()["refusal_reason"]
    shown = re.findall(r"\(([0-9.]+)\)", reason)
    assert verdict.action == "block"
    assert float(shown[0]) < float(shown[1])


def test_a_confidence_just_below_the_threshold_does_not_read_as_equal_to_it() -> None:
    """Gate 3 too."""
    draft = "Unused gear can be returned within 30 days of delivery [1]."
    verdict = Guard("book").verify({**request(draft), "generation_confidence": 0.5999})

    assert "generation confidence (0.5999) below threshold (0.6000)" in verdict.to_adr(draft)["refusal_reason"]


def test_the_chain_of_the_integration_plan() -> None:
    """`ValidatorChain([...]).run(answer, ctx_docs)` as spec 3 uses it."""
    chain = ValidatorChain(
        [CitationRequired(), EvidenceOverlap(threshold=0.08), NumericUnitsBasic(), EthicsAdapter(guard_callable=None)]
    )
    docs = [str(SOURCE["text"])]

    repaired = chain.run("Gift cards never expire.", docs)
    cited = chain.run("Gift cards never expire [1].", docs)
    invented = chain.run("Tents are free on Sundays.", docs)

    assert (cited.passed, cited.reasons, cited.patched_answer) == (True, [], None)
    assert (repaired.passed, repaired.reasons, repaired.patched_answer) == (
        True,
        ["citation_missing_for_factual_claim"],
        "Gift cards never expire [1].",
    )
    assert (invented.passed, invented.patched_answer) == (False, None)


def test_a_third_language_is_served_and_says_so() -> None:
    """English wording, the language named as other, and nothing waved through."""
    asked = request("Le délai est de 90 jours [1].", "Quel est le délai de retour pour les articles non utilisés ?")
    verdict = Guard({"mode": "enforce"}).verify(asked)
    (language,) = [f for f in verdict.findings if f.validator == "LanguageValidator"]

    assert (verdict.language, verdict.decision, language.outcome) == ("other", "refuse", "skipped")
    assert "does not know" in (language.detail or "")


def test_a_policy_may_do_without_the_model() -> None:
    """Then nothing of it is loaded, neither for claims nor for similarity, and the verdict names exact features alone."""
    code = (
        "import sys; from stillme import Guard; from tests.test_guard import request\n"
        "given = request('Equipment may be brought back for a month or so [1].')\n"
        "given['retrieved_context'][0].pop('similarity', None)\n"
        "print(Guard({'grounding': {'model': 'none'}}).verify(given).model_id)\n"
        "print(sorted({'numpy', 'onnxruntime'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout

    assert shown.splitlines() == [f"exact-features/{__version__}", "[]"]


class Slow(ExactGrounder):
    """A grounder that works long."""

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """Judge, later."""
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            pass
        return super().judge(tasks)


def test_the_time_of_the_grounder_is_not_that_of_a_validator() -> None:
    """A slow model or judge makes no validator time out."""
    hurried = {"validators": {name: {"timeout_s": 0.2} for name in BUILT_IN}}
    verdict = Guard(hurried, grounder=Slow()).verify(
        request("Unused gear can be returned within 30 days of delivery [1].")
    )

    assert [f for f in verdict.findings if f.outcome == "errored"] == []
    assert verdict.verified


class Scoring:
    """A grounder that says the same of every claim."""

    id = "scoring"

    def __init__(self, score: Any, status: Any = "supported") -> None:
        self._judgement = Judgement(status, score, passages=(0,))

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        return [[self._judgement] * len(task.claims) for task in tasks]


@pytest.mark.parametrize(
    "asked",
    [
        request("Unused gear can be returned within 30 days [1]."),
        request(
            "Khách hàng được đổi trả hàng trong 15 ngày [1].",
            "Được đổi trả hàng trong bao lâu?",
            retrieved_context=[NGUON],
        ),
    ],
    ids=["en", "vi"],
)
@pytest.mark.parametrize(
    "grounder",
    [
        pytest.param(Scoring(float("nan")), id="no number"),
        pytest.param(Scoring(float("inf")), id="an endless one"),
        pytest.param(Scoring(-0.01), id="below 0"),
        pytest.param(Scoring(1.01), id="above 1"),
        pytest.param(Scoring("0.9"), id="a text"),
        pytest.param(Scoring(True), id="a yes"),
        pytest.param(Scoring(None), id="nothing"),
        pytest.param(Scoring(0.9, "likely"), id="a status that there is not"),
    ],
)
def test_a_grounder_whose_score_is_no_probability_has_failed(grounder: Scoring, asked: dict[str, Any]) -> None:
    """A failure of its own, alone and in a batch: refused, not verified, and the finding says what was wrong."""
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}}, grounder=grounder)

    for verdict in (guard.verify(asked), guard.verify_batch([asked])[0]):
        found = {f.validator: f for f in verdict.findings}["FactualHallucinationValidator"]
        assert (verdict.verified, verdict.action, verdict.decision) == (False, "block", "refuse")
        assert (found.outcome, found.reason) == ("errored", "validator_error")
        assert "scoring judged a claim" in (found.detail or "")


@pytest.mark.parametrize("score", [0, 1, 0.0, 1.0, 0.73])
def test_a_grounder_with_a_probability_is_believed(score: float) -> None:
    """Both ends of the scale count."""
    guard = Guard({"grounding": {"model": "none"}}, grounder=Scoring(score))

    assert guard.verify(request("Unused gear can be returned within 30 days [1].")).claims[0].score == score

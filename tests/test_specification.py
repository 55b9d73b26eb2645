"""Every literal example of the four documents that the project is built from, run as it stands there; each test carries its own copy.

Where an example writes alternatives ("vi|en|auto"), each of them is run. The 422 of the integration plan is run over HTTP in
`tests/service/test_chat.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, get_args

import pytest
import yaml
from fastapi import HTTPException

import stillme.chat.identity
import stillme.chat.tone.tone
import stillme.validators.chain
import stillme.validators.citation_required
import stillme.validators.ethics_adapter
import stillme.validators.evidence_overlap
import stillme.validators.numeric_units_basic
from stillme import Guard, Policy
from stillme.chat.settings import ChatSettings
from stillme.contract import Band, Mode
from stillme.evaluation.rollout.checklist import MANDATORY
from stillme.evaluation.runs.metrics import RATES
from stillme.reasons import Decision, Gate, Reason
from stillme.validators.registry import BUILT_IN

PASSAGE = {
    "source_id": "leave",
    "url": "https://hr.example/leave",
    "timestamp": "2026-02-18T10:30:00Z",
    "text": "New staff get 14 days of paid leave in the first year.",
    "similarity": 0.9,
}
QUERY = "How many days of paid leave do new staff get in the first year?"
RIGHT = "New staff get 14 days of paid leave in the first year [1]."
WRONG = "New staff get 41 days of paid leave in the first year [1]."


def ask(policy: Any, draft: str | None, **changes: Any) -> Any:
    """The verdict on a question about leave."""
    asked = {"query": QUERY, "draft_answer": draft, "retrieved_context": [PASSAGE], **changes}
    return Guard(policy).verify(asked)


# StillMe Lite v0.1

INPUT = """
{
  "request_id": "optional string",
  "query": "user question",
  "draft_answer": "optional model answer before verification",
  "retrieved_context": [
    {
      "source_id": "doc-123",
      "title": "optional",
      "url": "optional",
      "timestamp": "optional",
      "text": "retrieved chunk text",
      "similarity": 0.71
    }
  ],
  "metadata": {
    "language": "vi|en|auto",
    "domain": "optional",
    "session_id": "optional"
  }
}
"""
OUTPUT = """
{
  "request_id": "echoed or generated",
  "decision": "answer|refuse|ask_clarify",
  "mode": "monitor|warn|enforce",
  "source_required": true,
  "confidence_band": "low|medium|high",
  "reasons": [
    "source_required_no_context",
    "low_context_similarity"
  ],
  "validator_trace_id": "trace-uuid",
  "citations": [
    {
      "source_id": "doc-123",
      "url": "https://...",
      "timestamp": "2026-02-18T10:30:00Z"
    }
  ],
  "safe_response": "optional rewritten answer/refusal",
  "metrics": {
    "max_similarity": 0.39,
    "context_count": 6
  }
}
"""
POLICY = """
mode: monitor

thresholds:
  min_similarity_for_factual: 0.45
  min_similarity_for_source_required: 0.50

behavior:
  enforce_no_source_refusal: true
  enforce_anti_anthropomorphism: true
  allow_soft_answer_with_warning: false

output:
  include_validator_trace: true
  include_reason_codes: true
"""
REASON_CODES = (
    "source_required_no_context",
    "source_required_low_similarity",
    "citation_missing_for_factual_claim",
    "ambiguous_query_needs_clarification",
    "policy_block_anthropomorphic_roleplay",
    "policy_block_unsafe_content",
    "context_conflict_low_consensus",
    "passed_with_warnings",
)


@pytest.mark.parametrize("language", json.loads(INPUT)["metadata"]["language"].split("|"))
def test_the_input_schema_is_verified_as_it_stands(language: str) -> None:
    """Lite 3.1, with each language; the id is echoed, and the similarity is the one that was given."""
    asked = json.loads(INPUT)
    asked["metadata"]["language"] = language

    verdict = Guard().verify(asked)

    assert (verdict.request_id, verdict.metrics.max_similarity) == ("optional string", 0.71)
    assert verdict.language == ("en" if language == "auto" else language)


@pytest.mark.parametrize("absent", ["request_id", "draft_answer", "retrieved_context", "metadata"])
def test_what_the_input_schema_calls_optional_may_be_absent_or_null(absent: str) -> None:
    """Lite 3.1: without an id one is made; without a draft it is Pattern B."""
    asked = json.loads(INPUT)
    asked["metadata"]["language"] = "auto"
    left_out = {key: value for key, value in asked.items() if key != absent}

    assert Guard().verify(left_out).validator_trace_id
    assert Guard().verify({**left_out, absent: None}).request_id


def shape(value: Any) -> Any:
    """The keys of an object, all the way down; of a list those of its first item."""
    if isinstance(value, dict):
        return {key: shape(below) for key, below in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def missing(wanted: Any, found: Any, path: str = "") -> list[str]:
    """The keys of the wanted shape that are not found."""
    if isinstance(wanted, dict):
        lacking = [f"{path}.{key}" for key in wanted if not isinstance(found, dict) or key not in found]
        return lacking + [m for key in wanted if key in (found or {}) for m in missing(wanted[key], found[key], key)]
    if isinstance(wanted, list) and isinstance(found, list) and found:
        return missing(wanted[0], found[0], path)
    return []


@pytest.mark.parametrize("mode", ["monitor", "warn", "enforce"])
@pytest.mark.parametrize("draft", [RIGHT, WRONG, None], ids=["right", "wrong", "precheck"])
def test_every_verdict_has_the_output_schema(mode: str, draft: str | None) -> None:
    """Lite 3.2: every key of it, all the way down, with values of the enumerations that it names."""
    expected = json.loads(OUTPUT)

    found = ask({"mode": mode}, draft).model_dump(mode="json")

    assert missing(shape(expected), found) == []
    for key in ("decision", "mode", "confidence_band"):
        assert found[key] in expected[key].split("|")


def test_the_enumerations_of_the_output_schema_are_ours() -> None:
    """Lite 3.2: no other decision, mode or band, and its reason codes exist."""
    expected = json.loads(OUTPUT)

    assert set(expected["decision"].split("|")) == {decision.value for decision in Decision}
    assert set(expected["mode"].split("|")) == set(get_args(Mode))
    assert set(expected["confidence_band"].split("|")) == set(get_args(Band))
    assert {*expected["reasons"], *REASON_CODES} <= {reason.value for reason in Reason}


def test_citations_and_metrics_of_the_output_schema_hold_what_was_given() -> None:
    """Lite 3.2: source id, address and time of the source that supports the answer."""
    found = ask({"mode": "enforce"}, RIGHT).model_dump(mode="json")

    wanted = {"source_id": "leave", "url": "https://hr.example/leave", "timestamp": "2026-02-18T10:30:00Z"}
    assert found["citations"][0].items() >= wanted.items()
    assert (found["metrics"]["max_similarity"], found["metrics"]["context_count"]) == (0.9, 1)


def test_the_policy_file_is_the_default_policy(tmp_path: Path) -> None:
    """Lite 6: `policy.yaml` loads as it stands and is what holds without one."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")

    assert Policy.load(tmp_path / "policy.yaml").hash == Policy.load().hash
    assert Guard(yaml.safe_load(POLICY)).policy.hash == Policy.load("lite").hash


@pytest.mark.parametrize(
    ("mode", "action", "delivers_the_draft"),
    [("monitor", "deliver", True), ("warn", "deliver_with_warning", True), ("enforce", "block", False)],
)
def test_the_modes_do_what_they_say(mode: str, action: str, delivers_the_draft: bool) -> None:
    """Lite 4: the decision and its reasons are the same in all three."""
    verdict = ask({"mode": mode}, WRONG)

    assert (verdict.decision, verdict.action) == ("refuse", action)
    assert "contradicted_claim" in verdict.reasons
    assert (WRONG in verdict.delivered(WRONG)) == delivers_the_draft
    assert (verdict.delivered(WRONG) == WRONG) == (mode == "monitor")


def test_pattern_a_and_pattern_b() -> None:
    """Lite 7: a draft is validated behind the model; a question without evidence is stopped in front of it."""
    behind = ask({"mode": "enforce"}, WRONG)
    in_front = Guard({"mode": "enforce"}).precheck({"query": QUERY, "retrieved_context": []})

    assert (behind.decision, in_front.decision, in_front.reasons) == ("refuse", "refuse", [REASON_CODES[0]])


def test_the_mandatory_metrics_are_measured_and_gate_a_rollout() -> None:
    """Lite 8 and 9."""
    names = ("hallucination_escape_rate", "refusal_precision", "source_coverage")

    assert set(names) <= set(RATES)
    assert names == MANDATORY


# ADR-004

REFUSAL = "This information cannot be verified from the book content."
RESPONSE = '{"answer": "<refusal message>", "sources": [], "refused": true, "refusal_reason": "<reason>"}'


@pytest.mark.parametrize(
    ("similarity", "confidence", "reason"),
    [
        pytest.param(0.62, None, "(0.62) below threshold (0.70)", id="gate 1: the example of the document"),
        pytest.param(0.69, 0.9, "(0.69) below threshold (0.70)", id="gate 1, whatever the confidence"),
        pytest.param(0.9, 0.59, "(0.59) below threshold (0.60)", id="gate 3"),
        pytest.param(0.7, 0.6, None, id="equal passes"),
        pytest.param(0.9, 0.9, None, id="both passed"),
    ],
)
def test_the_gates_and_the_response_format(similarity: float, confidence: float | None, reason: str | None) -> None:
    """ADR-004: naming the preset `book` is enough for its refusal, in its shape; the same question has the same refusal."""
    context = [{**PASSAGE, "similarity": similarity}]
    verdicts = [
        ask("book", RIGHT, retrieved_context=context, generation_confidence=confidence).to_adr(RIGHT) for _ in range(2)
    ]

    found = verdicts[0]
    assert verdicts[0] == verdicts[1]
    assert list(found) == list(json.loads(RESPONSE))
    if reason is None:
        assert (found["answer"], found["refused"], found["refusal_reason"]) == (RIGHT, False, None)
    else:
        assert (found["answer"], found["sources"], found["refused"]) == (REFUSAL, [], True)
        assert reason in found["refusal_reason"]


def test_gate_2_warns_and_gate_4_refuses() -> None:
    """ADR-004: keywords that are missing warn the user; unsupported claims refuse."""
    elsewhere = {"source_id": "gym", "text": "The gym opens at 6 am on weekdays.", "similarity": 0.9}
    draft = "The gym opens at 6 am on weekdays [1]."
    warned = Guard("book").verify(
        {"query": "Where is the Silverton lighthouse museum?", "draft_answer": draft, "retrieved_context": [elsewhere]}
    )

    assert (warned.to_adr(draft)["refused"], draft in warned.to_adr(draft)["answer"]) == (False, True)
    assert warned.to_adr(draft)["answer"] != draft
    assert ask("book", WRONG).to_adr(WRONG)["answer"] == REFUSAL


# the integration plan

INTEGRATION = '''
if context and context["total_context_docs"] > 0:
    context_text = rag_retrieval.build_prompt_context(context)

    # NEW: Inject StillMe identity
    from backend.identity.injector import inject_identity
    enhanced_prompt = inject_identity(
        f"""Context: {context_text}\\n\\nUser Question: {request.message}"""
    )

    # Generate response
    raw_response = await generate_ai_response(enhanced_prompt)

    # NEW: Validate response
    if os.getenv("ENABLE_VALIDATORS", "false").lower() == "true":
        from backend.validators.chain import ValidatorChain
        from backend.validators.citation import CitationRequired
        from backend.validators.evidence_overlap import EvidenceOverlap
        from backend.validators.numeric import NumericUnitsBasic
        from backend.validators.ethics_adapter import EthicsAdapter

        # Build context docs list
        ctx_docs = [
            doc["content"] for doc in context["knowledge_docs"]
        ] + [
            doc["content"] for doc in context["conversation_docs"]
        ]

        # Create validator chain
        chain = ValidatorChain([
            CitationRequired(),
            EvidenceOverlap(threshold=0.08),
            NumericUnitsBasic(),
            EthicsAdapter(guard_callable=None)  # TODO: wire existing guard
        ])

        # Run validation
        validation_result = chain.run(raw_response, ctx_docs)

        if not validation_result.passed:
            if validation_result.patched_answer:
                response = validation_result.patched_answer
            else:
                raise HTTPException(
                    status_code=422,
                    detail={
                        "error": "validation_failed",
                        "reasons": validation_result.reasons,
                        "original_response": raw_response[:200]
                    }
                )
        else:
            response = validation_result.patched_answer or raw_response
    else:
        response = raw_response

    # NEW: Align tone
    if os.getenv("ENABLE_TONE_ALIGN", "true").lower() == "true":
        from backend.tone.aligner import align_tone
        response = align_tone(response)
'''
FALLBACK = '''
async def generate_validated_response(
    prompt: str,
    ctx_docs: list[str],
    enable_validators: bool = True
) -> str:
    """Generate response with optional validation."""
    try:
        raw = await generate_ai_response(prompt)

        if enable_validators and os.getenv("ENABLE_VALIDATORS", "false").lower() == "true":
            result = validator_chain.run(raw, ctx_docs)
            return result.patched_answer or raw
        else:
            return raw
    except Exception as e:
        logger.error(f"Validation error: {e}, falling back to raw response")
        return raw
'''
VARIABLES = """
ENABLE_VALIDATORS=true|false          # Default: false (safe rollout)
ENABLE_TONE_ALIGN=true|false          # Default: true
STILLME_TONE_STYLE=neutral|friendly|scholarly  # Default: neutral
VALIDATOR_EVIDENCE_THRESHOLD=0.08      # Default: 0.08 (8% overlap)
VALIDATOR_CITATION_REQUIRED=true       # Default: true
"""
BACKEND = {
    "backend.identity.injector": stillme.chat.identity,
    "backend.validators.chain": stillme.validators.chain,
    "backend.validators.citation": stillme.validators.citation_required,
    "backend.validators.evidence_overlap": stillme.validators.evidence_overlap,
    "backend.validators.numeric": stillme.validators.numeric_units_basic,
    "backend.validators.ethics_adapter": stillme.validators.ethics_adapter,
    "backend.tone.aligner": stillme.chat.tone.tone,
}
DOCS = {
    "knowledge_docs": [{"content": PASSAGE["text"]}],
    "conversation_docs": [{"content": "New staff are welcomed on the first Monday of the month."}],
    "total_context_docs": 2,
}


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of the plan under the names that it has for them."""
    for name in ("backend", "backend.identity", "backend.validators", "backend.tone"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, module in BACKEND.items():
        monkeypatch.setitem(sys.modules, name, module)


def integrated(answer: str) -> tuple[str, str]:
    """What the modification of the endpoint makes of a model's answer, and the prompt that the model got."""
    prompts: list[str] = []

    async def generate_ai_response(prompt: str) -> str:
        prompts.append(prompt)
        return answer

    async def run() -> str:
        scope: dict[str, Any] = {
            "os": os,
            "HTTPException": HTTPException,
            "generate_ai_response": generate_ai_response,
            "context": DOCS,
            "rag_retrieval": SimpleNamespace(
                build_prompt_context=lambda context: "\n".join(d["content"] for d in context["knowledge_docs"])
            ),
            "request": SimpleNamespace(message=QUERY),
        }
        body = textwrap.indent(INTEGRATION, "    ")
        exec(f"async def endpoint():\n{body}\n    return response", scope)  # noqa: S102  (the example, as it stands)
        return str(await scope["endpoint"]())

    return asyncio.run(run()), prompts[0]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("enabled", "answer", "response"),
    [
        pytest.param("true", RIGHT, RIGHT, id="a good answer is delivered"),
        pytest.param("true", RIGHT.replace(" [1]", ""), RIGHT, id="a missing citation is patched"),
        pytest.param("false", WRONG.replace(" [1]", ""), WRONG.replace(" [1]", ""), id="off: what the model said"),
    ],
)
def test_the_modification_of_the_endpoint_runs(
    monkeypatch: pytest.MonkeyPatch, enabled: str, answer: str, response: str
) -> None:
    """The plan's own code: identity, model, validators, tone."""
    monkeypatch.setenv("ENABLE_VALIDATORS", enabled)

    found, prompt = integrated(answer)

    assert found == response
    assert prompt.startswith(stillme.chat.identity.identity_text("en").splitlines()[0])
    assert prompt.rstrip().endswith(f"User Question: {QUERY}")


@pytest.mark.usefixtures("backend")
def test_the_modification_of_the_endpoint_raises_its_422(monkeypatch: pytest.MonkeyPatch) -> None:
    """With error, reasons and the first 200 characters."""
    monkeypatch.setenv("ENABLE_VALIDATORS", "true")
    answer = "The canteen closes at 22:45 on the roof terrace of the tower in Lisbon. " * 5

    with pytest.raises(HTTPException) as caught:
        integrated(answer)

    detail: Any = caught.value.detail
    assert (caught.value.status_code, detail["error"], detail["original_response"]) == (
        422,
        "validation_failed",
        answer[:200],
    )
    assert "citation_missing_for_factual_claim" in detail["reasons"]


class _Broken:
    def run(self, *_: Any) -> Any:
        raise RuntimeError("a validator crashed")


@pytest.mark.parametrize(
    ("crashes", "enabled", "answer", "response"),
    [
        pytest.param(False, True, RIGHT.replace(" [1]", ""), RIGHT, id="patched"),
        pytest.param(False, True, RIGHT, RIGHT, id="as it is"),
        pytest.param(False, False, WRONG, WRONG, id="switched off by the caller"),
        pytest.param(True, True, WRONG, WRONG, id="a crash falls back to the raw answer, in the plan's own hands"),
    ],
)
def test_the_fallback_strategy_runs(
    monkeypatch: pytest.MonkeyPatch, crashes: bool, enabled: bool, answer: str, response: str
) -> None:
    """The plan's own function, with our chain as its chain."""
    monkeypatch.setenv("ENABLE_VALIDATORS", "true")
    said: list[str] = []

    async def generate_ai_response(_: str) -> str:
        return answer

    chain = stillme.validators.chain.ValidatorChain([stillme.validators.citation_required.CitationRequired()])
    scope: dict[str, Any] = {
        "os": os,
        "logger": SimpleNamespace(error=said.append),
        "generate_ai_response": generate_ai_response,
        "validator_chain": _Broken() if crashes else chain,
    }
    exec(FALLBACK, scope)  # noqa: S102  (the example, as it stands)

    found = asyncio.run(scope["generate_validated_response"](QUERY, [PASSAGE["text"]], enable_validators=enabled))

    assert (found, bool(said)) == (response, crashes)


def test_the_environment_variables_have_their_names_values_and_defaults() -> None:
    """Each value that the plan lists is taken, and without any its defaults hold."""
    listed = [line.split("#")[0].strip().partition("=") for line in VARIABLES.strip().splitlines()]
    for name, _, values in listed:
        for value in values.split("|"):
            ChatSettings.from_environment({name: value}).chat_policy()

    plain = ChatSettings.from_environment({})
    policy = plain.chat_policy()
    assert isinstance(policy, Policy)
    validators = {c.validator.name: c.validator for c in policy.build()}
    assert (plain.validate, plain.align, plain.tone_style) == (False, True, "neutral")
    assert validators["EvidenceOverlap"].threshold == 0.08
    assert "CitationRequired" in validators


# the validation chain

ORDER = [
    "LanguageValidator",
    "CitationRequired",
    "CitationRelevance",
    "EvidenceOverlap",
    "SourceConsensusValidator",
    "ConfidenceValidator",
    "FactualHallucinationValidator",
    "ReligiousChoiceValidator",
    "EgoNeutralityValidator",
    "IdentityCheckValidator",
    "FutureDatesValidator",
    "EthicsAdapter",
]
MUST_PASS = (
    "LanguageValidator",
    "CitationRequired",
    "FactualHallucinationValidator",
    "ReligiousChoiceValidator",
    "EthicsAdapter",
    "IdentityCheckValidator",
    "EgoNeutralityValidator",
)
SOFT = (
    "EvidenceOverlap",
    "CitationRelevance",
    "SourceConsensusValidator",
    "ConfidenceValidator",
    "VerbosityValidator",
)
CODES_OF_SOFT = {"CitationRelevance": "citation_not_relevant", "ConfidenceValidator": "uncertainty_missing"}


def test_the_execution_order() -> None:
    """Chain spec 4: with others slotted in, and EthicsAdapter last."""
    ran = [f.validator for f in ask({"mode": "monitor"}, RIGHT).findings if f.stage == "draft"]

    assert [name for name in ran if name in ORDER] == ORDER
    assert ran[-1] == "EthicsAdapter"
    assert set(ORDER) | set(SOFT) <= set(BUILT_IN)


def test_must_pass_gates_are_hard_and_the_others_soft() -> None:
    """Chain spec 1 and 2, as the validators come."""
    gates = {c.validator.name: c.validator.gates for c in Policy.load().build()}

    assert [name for name in MUST_PASS if Gate.HARD not in gates[name].values()] == []
    for name in SOFT:
        code = CODES_OF_SOFT.get(name)
        assert (gates[name][Reason(code)] if code else set(gates[name].values())) in (Gate.SOFT, {Gate.SOFT})


def test_conditional_validators_run_only_where_they_apply() -> None:
    """Chain spec 3: no context, one source, no philosophy, no future date."""
    alone = {f.validator: f.outcome for f in ask({"mode": "monitor"}, "Hello!", retrieved_context=[]).findings}
    one = {f.validator: f.outcome for f in ask({"mode": "monitor"}, RIGHT).findings}

    assert alone["EvidenceOverlap"] == "skipped"
    assert (one["SourceConsensusValidator"], one["PhilosophicalDepthValidator"]) == ("skipped", "skipped")
    assert one["FutureDatesValidator"] in ("passed", "skipped")


def test_a_question_for_sources_without_any_is_refused() -> None:
    """Chain spec 1 and 5: the no-source policy."""
    verdict = Guard({"mode": "enforce"}).verify(
        {"query": f"{QUERY} Cite your sources.", "draft_answer": RIGHT, "retrieved_context": []}
    )

    assert (verdict.decision, verdict.action) == ("refuse", "block")
    assert "source_required_no_context" in verdict.reasons

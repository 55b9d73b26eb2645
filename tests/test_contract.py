"""The request and the verdict of the contract, and what a bad request says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import stillme
from stillme import Guard, InputError, Verdict, VerifyRequest
from stillme.contract import parse_request

SCHEMAS = Path(stillme.__file__).parent / "schemas"

SPEC_REQUEST = {
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
            "similarity": 0.71,
        }
    ],
    "metadata": {"language": "auto", "domain": "optional", "session_id": "optional"},
}
SPEC_VERDICT_KEYS = {
    "request_id", "decision", "mode", "source_required", "confidence_band", "reasons", "validator_trace_id", "citations",
    "safe_response", "metrics",
}  # fmt: skip


@pytest.mark.parametrize(("name", "model"), [("request", VerifyRequest), ("verdict", Verdict)])
def test_published_schemas_are_those_of_the_models(name: str, model: Any) -> None:
    """The JSON Schema files are generated, never edited."""
    published = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    generated = model.model_json_schema(mode="serialization" if name == "verdict" else "validation")

    def shape(schema: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in schema.items() if key not in ("$schema", "$id", "title", "description")}

    assert shape(published) == shape(generated)


def test_the_spec_example_is_a_valid_request() -> None:
    """Section 3.1 of the Lite spec validates as it stands, by model and by schema."""
    parsed = parse_request(SPEC_REQUEST)
    jsonschema.validate(SPEC_REQUEST, json.loads((SCHEMAS / "request.json").read_text(encoding="utf-8")))

    assert parsed.retrieved_context[0].similarity == 0.71


def test_a_verdict_has_every_key_of_the_spec_and_fits_its_schema() -> None:
    """Section 3.2 of the Lite spec, and the published schema."""
    dumped = Guard().verify(SPEC_REQUEST).model_dump(mode="json")
    jsonschema.validate(dumped, json.loads((SCHEMAS / "verdict.json").read_text(encoding="utf-8")))

    assert set(dumped) >= SPEC_VERDICT_KEYS
    assert set(dumped["metrics"]) >= {"max_similarity", "context_count"}


def test_a_verdict_survives_json() -> None:
    """Dumped and read back it is the same verdict."""
    verdict = Guard().verify(SPEC_REQUEST)

    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_extra_keys_are_kept_where_the_contract_allows_them() -> None:
    """Passages and metadata take extra keys."""
    parsed = parse_request(
        {
            "query": "q",
            "metadata": {"tenant": "north"},
            "retrieved_context": [{"source_id": "a", "text": "t", "page": 4}],
        }
    )

    assert parsed.metadata.model_extra == {"tenant": "north"}
    assert parsed.retrieved_context[0].model_extra == {"page": 4}


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        pytest.param({"draft_answer": "x"}, ["query", "missing"], id="no query"),
        pytest.param({"query": "  \n"}, ["query", "blank"], id="a blank query"),
        pytest.param({"query": 5}, ["query", "string", "5"], id="a query that is a number"),
        pytest.param({"query": "q", "draft_anwser": "x"}, ["draft_anwser", "draft_answer"], id="a misspelt key"),
        pytest.param({"query": "q", "zzz": 1}, ["zzz", "valid keys"], id="a key like no other"),
        pytest.param({"query": "q", "generation_confidence": 1.4}, ["generation_confidence", "1.4"], id="a confidence over one"),
        pytest.param({"query": "q", "generation_confidence": "0.4"}, ["generation_confidence"], id="a confidence as text"),
        pytest.param({"query": "q", "as_of": "tomorrow"}, ["as_of", "ISO 8601", "tomorrow"], id="a date in words"),
        pytest.param({"query": "q", "as_of": 5}, ["as_of", "ISO 8601"], id="a date as a number"),
        pytest.param({"query": "q", "retrieved_context": [{"text": "t"}]}, ["retrieved_context[0].source_id"], id="a passage without id"),
        pytest.param({"query": "q", "retrieved_context": [{"source_id": "a"}]}, ["retrieved_context[0].text"], id="a passage without text"),
        pytest.param({"query": "q", "retrieved_context": "text"}, ["retrieved_context"], id="passages as text"),
        pytest.param({"query": "q", "retrieved_context": [{"source_id": "a", "text": "t", "similarity": 1.5}]}, ["similarity", "1.5"], id="a similarity over one"),
        pytest.param({"query": "q", "retrieved_context": [{"source_id": "a", "text": "t", "similarity": float("nan")}]}, ["similarity", "nan"], id="a similarity that is no number"),
        pytest.param({"query": "q", "metadata": {"language": "fr"}}, ["metadata.language", "fr"], id="an unknown language"),
        pytest.param({"query": "q", "conversation": [{"role": "user"}]}, ["conversation[0].content"], id="a turn without content"),
        pytest.param({"query": "\ud800 q"}, ["query"], id="a lone surrogate"),
        pytest.param(["not", "an", "object"], ["JSON object"], id="a list"),
        pytest.param("text", ["JSON object"], id="a text"),
        pytest.param(None, ["JSON object"], id="nothing"),
    ],
)  # fmt: skip
def test_a_bad_request_names_field_value_and_way_out(request_: Any, parts: list[str]) -> None:
    """Never a traceback of somebody else's library."""
    with pytest.raises(InputError) as caught:
        Guard().verify(request_)

    assert all(part.lower() in str(caught.value).lower() for part in parts)


@pytest.mark.parametrize("similarity", [-1, -0.5, 0, 0.7, 1])
def test_similarity_covers_its_whole_range(similarity: float) -> None:
    """-1 to 1, whole numbers included."""
    request = {"query": "q", "retrieved_context": [{"source_id": "a", "text": "t", "similarity": similarity}]}

    assert Guard().verify(request).metrics.max_similarity == similarity


def test_metadata_may_be_null() -> None:
    """As good as left out, by model and by schema."""
    asked = {"query": "q", "metadata": None}

    jsonschema.validate(asked, json.loads((SCHEMAS / "request.json").read_text(encoding="utf-8")))
    assert parse_request(asked) == parse_request({"query": "q"})


def test_naive_times_are_utc() -> None:
    """`as_of` without a zone is read as UTC, with one it is converted."""
    assert (
        parse_request({"query": "q", "as_of": "2026-02-01"}).as_of
        == parse_request({"query": "q", "as_of": "2026-02-01T07:00:00+07:00"}).as_of
    )

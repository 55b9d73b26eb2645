"""A record is blanked everywhere but in its keys and codes."""

from __future__ import annotations

import copy
import json
import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from stillme import Guard
from stillme.contract import Verdict, VerifyRequest
from stillme.errors import InputError
from stillme.redaction import RECORD_FIELDS, Field, Redacted, Redactor
from tests.redaction.support import EVERYTHING, MESSY, UUID


def body() -> dict[str, Any]:
    """A request and a verdict in which one phone number stands in every shape it can take."""
    return {
        "request": {
            "request_id": f"req-{UUID}",
            "query": "Ai có số 0912 345 678?",
            "draft_answer": "Số 0912345678 là của Lê Lợi.",
            "as_of": "2026-11-12T09:00:00+00:00",
            "generation_confidence": 0.912345678,
            "metadata": {"language": "vi", "session_id": "0912345678", "phone": 84912345678, "turn": 3, "vip": True},
            "retrieved_context": [
                {
                    "source_id": "crm/0912345678",
                    "title": "Khách 0912.345.678",
                    "url": "https://a.example/0912345678",
                    "text": "Gọi 0912 345 678.",
                    "timestamp": "2026-01-01",
                    "similarity": 0.5,
                }
            ],
        },
        "verdict": {
            "request_id": f"req-{UUID}",
            "decision": "answer",
            "validator_trace_id": f"trace-{UUID}",
            "policy_hash": "0912345678",
            "version": "0912345678",
            "reasons": ["x_0912345678"],
            "safe_response": "A nói: “Gọi 0912 34…”",
            "claims": [
                {
                    "text": "Số 0912345678 là của Lê Lợi.",
                    "start": 0,
                    "end": 28,
                    "source_ids": ["crm/0912345678", UUID],
                    "quote": "345 678.",
                    "detail": "figure missing: '345', 345 678",
                    "unsupported_spans": [[3, 13]],
                }
            ],
            "findings": [{"validator": "N0912345678", "detail": "in no source: 0912, 345, 678, 12", "elapsed_ms": 0.1}],
        },
    }


def test_a_record_is_blanked_everywhere_and_its_codes_are_kept() -> None:
    """Texts, ids that are no codes, numbers, cut quotes and single figures; the record given stays as it was."""
    given_ = body()
    redacted = Redactor.of({"phone": True}).record(given_)

    assert given_ == body()
    assert redacted == Redacted(
        {
            "request": {
                "request_id": f"req-{UUID}",
                "query": "Ai có số ████ ███ ███?",
                "draft_answer": "Số ██████████ là của Lê Lợi.",
                "as_of": "2026-11-12T09:00:00+00:00",
                "generation_confidence": 0.912345678,
                "metadata": {
                    "language": "vi",
                    "session_id": "██████████",
                    "phone": "███████████",
                    "turn": 3,
                    "vip": True,
                },
                "retrieved_context": [
                    {
                        "source_id": "crm/██████████",
                        "title": "Khách ████████████",
                        "url": "https://a.example/██████████",
                        "text": "Gọi ████ ███ ███.",
                        "timestamp": "2026-01-01",
                        "similarity": 0.5,
                    }
                ],
            },
            "verdict": {
                "request_id": f"req-{UUID}",
                "decision": "answer",
                "validator_trace_id": f"trace-{UUID}",
                "policy_hash": "0912345678",
                "version": "0912345678",
                "reasons": ["x_0912345678"],
                "safe_response": "A nói: “Gọi ████ ██…”",
                "claims": [
                    {
                        "text": "Số ██████████ là của Lê Lợi.",
                        "start": 0,
                        "end": 28,
                        "source_ids": ["crm/██████████", UUID],
                        "quote": "███ ███.",
                        "detail": "figure missing: '███', ███ ███",
                        "unsupported_spans": [[3, 13]],
                    }
                ],
                "findings": [
                    {"validator": "N0912345678", "detail": "in no source: █████ ████ ███, 12", "elapsed_ms": 0.1}
                ],
            },
        },
        places=16,
    )


@pytest.mark.parametrize("entries", [{"digits": "[0-9]{9}"}, {"hex": "[0-9a-f]{4,8}+"}, {"word": "[a-z_]{3,20}+"}])
def test_no_pattern_reaches_what_is_kept(entries: dict[str, str | bool]) -> None:
    """Enumerations, hashes, versions, times and figures of ours stay, whatever a pattern would match in them."""
    verdict = json.loads(Guard().verify({"query": "What is 2 + 2?", "draft_answer": "It is 4 [1]."}).model_dump_json())
    redacted = Redactor.of(entries).record({"request": {"as_of": verdict["as_of"], "query": "q"}, "verdict": verdict})
    kept = [
        path.removeprefix("verdict.")
        for path, rule in RECORD_FIELDS.items()
        if rule is Field.KEPT and path.count(".") == 1
    ]

    assert redacted.value["request"]["as_of"] == verdict["as_of"]
    assert {key: redacted.value["verdict"][key] for key in kept if key in verdict} == {
        key: verdict[key] for key in kept if key in verdict
    }
    assert [(f["validator"], f["reason"], f["elapsed_ms"]) for f in redacted.value["verdict"]["findings"]] == [
        (f["validator"], f["reason"], f["elapsed_ms"]) for f in verdict["findings"]
    ]


TEXTS = {
    "request.query", "request.draft_answer", "request.metadata.domain", "request.retrieved_context[].text",
    "request.retrieved_context[].title", "request.retrieved_context[].url", "request.conversation[].role",
    "request.conversation[].content", "verdict.citations[].title", "verdict.citations[].url", "verdict.claims[].text",
    "verdict.claims[].quote", "verdict.conflicts[].statements[].quote",
}  # fmt: skip


def fields_of(model: type[BaseModel], path: str) -> Iterator[str]:
    """The path of every field of a model that is a text or a number."""
    for name, field in model.model_fields.items():
        yield from _fields_in(field.annotation, f"{path}.{name}")


def _fields_in(annotation: Any, path: str) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from fields_of(annotation, path)
        return
    origin, inner = (
        typing.get_origin(annotation),
        [a for a in typing.get_args(annotation) if a not in (type(None), Ellipsis)],
    )
    if origin in (list, tuple):
        models = [a for a in inner if isinstance(a, type) and issubclass(a, BaseModel)]
        yield from _fields_in(models[0], f"{path}[]") if models else [path]
    elif origin in (typing.Union, types.UnionType, typing.Annotated):
        yield from _fields_in(inner[0], path)
    elif annotation is not bool:
        yield path


def test_every_field_of_the_contract_has_its_rule() -> None:
    """A new field of the contract has to say whether it is a text."""
    contract = {*fields_of(VerifyRequest, "request"), *fields_of(Verdict, "verdict")}
    named = {path for path in RECORD_FIELDS if path.startswith(("request.", "verdict."))}
    groups = {"verdict.citations", "verdict.claims", "verdict.findings", "verdict.conflicts", "verdict.metrics"}
    covered = {path for path in contract if path.startswith("verdict.metrics.")}

    assert contract - covered == (named - groups) | TEXTS
    assert {
        path.removeprefix("verdict."): rule for path, rule in RECORD_FIELDS.items() if path.startswith("verdict.")
    } == {path: rule for path, rule in RECORD_FIELDS.items() if not path.startswith(("request.", "verdict."))}


def test_depth_is_no_limit() -> None:
    """A structure nested more deeply than Python recurses is redacted."""
    deep: Any = "a@b.vn"
    for _ in range(5_000):
        deep = [deep]

    inner = EVERYTHING.record({"request": {"metadata": {"x": deep}}}).value["request"]["metadata"]["x"]

    for _ in range(5_000):
        (inner,) = inner
    assert inner == "██████"


@pytest.mark.parametrize("value", [pytest.param(datetime(2026, 1, 1, tzinfo=UTC), id="a time"), pytest.param(b"x", id="bytes"), pytest.param(10**5000, id="a number that cannot be written")])  # fmt: skip
def test_what_is_no_json_is_refused(value: object) -> None:
    """What cannot be read cannot be redacted, and is not let through."""
    with pytest.raises(InputError, match="a record holds texts, numbers, lists and objects, got"):
        EVERYTHING.record({"request": {"metadata": {"x": value}}})


def test_keys_are_never_changed() -> None:
    """Only values are."""
    assert EVERYTHING.record({"a@b.vn": "a@b.vn"}).value == {"a@b.vn": "██████"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | MESSY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["request", "verdict", "claims", "detail", "findings", "x"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_a_record_keeps_its_shape(value: Any) -> None:
    """Same keys, same lengths; the record given is not changed; places are counted if and only if something was blanked."""
    before = copy.deepcopy(value)
    redacted = EVERYTHING.record(value)

    assert repr(value) == repr(before)
    assert list(_shape(redacted.value)) == list(_shape(value))
    assert (repr(redacted.value) == repr(value)) == (redacted.places == 0)


def _shape(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands, and how long it is."""
    if isinstance(value, dict | list):
        yield (*path, type(value), len(value))
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _shape(inner, (*path, key))
    else:
        yield (*path, len(str(value)))

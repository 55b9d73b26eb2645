"""What is kept of a verdict gives it back, as far as its policy lets it be kept; whatever callers send is recorded."""

from __future__ import annotations

import decimal
import json
import math
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Guard, Verdict
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import Entry
from stillme.audit.content import HASHED, entry_of, hashed, request_in, verdict_in
from stillme.contract import parse_request
from stillme.guard import Occurrence
from stillme.reasons import Gate
from stillme.validators.base import Finding
from tests.audit.conftest import Caught, occurrence, request
from tests.audit.support import POLICIES, REQUESTS, VIETNAMESE, verdicts
from tests.soak import examples

FEW = settings(max_examples=examples(40), deadline=None)


def kept(given: dict[str, Any], policy: dict[str, Any], **guard: Any) -> tuple[Occurrence, Entry]:
    caught = Caught()
    Guard(policy, audit=caught, **guard).verify(given)
    return caught.occurrences[0], entry_of(caught.occurrences[0])


def texts_in(node: Any) -> set[str]:
    """Every text of a value."""
    if isinstance(node, dict):
        return set().union(*map(texts_in, node.values())) if node else set()
    if isinstance(node, list | tuple):
        return set().union(*map(texts_in, node)) if node else set()
    return {node} if isinstance(node, str) else set()


@FEW
@given(REQUESTS, POLICIES)
def test_a_verdict_kept_whole_comes_back(given: dict[str, Any], policy: dict[str, Any]) -> None:
    """Every part of it, and the request, whatever the policy shows to callers."""
    made, entry = kept(given, policy)
    verdict = Verdict.model_validate(verdict_in(entry))

    expected = made.verdict.model_copy(update={"request_id": entry.request_id})
    assert verdict.model_dump() == expected.model_dump()
    assert parse_request(request_in(entry) or {}) == made.request


@FEW
@given(REQUESTS, POLICIES)
def test_without_texts_everything_else_comes_back(given: dict[str, Any], policy: dict[str, Any]) -> None:
    """With `none` no text is kept and all the rest is; only what the texts held is empty."""
    made, entry = kept(given, {**policy, "audit": {"content": "none"}})
    verdict, was = verdict_in(entry), made.verdict.model_dump(mode="json")

    emptied = {
        "citations": [],
        "safe_response": None,
        "warning": None,
        "conflicts": [],
        "request_id": entry.request_id,
        "as_of": verdict["as_of"],
    }
    claims = [{**claim, "text": "", "source_ids": [], "quote": None, "detail": None} for claim in was["claims"]]
    findings = [{**finding, "detail": None} for finding in was["findings"]]
    assert json.loads(json.dumps(verdict)) == {**was, **emptied, "claims": claims, "findings": findings}
    assert (entry.body, entry.body_digest, request_in(entry)) == (None, None, None)
    assert datetime.fromisoformat(verdict["as_of"]) == made.verdict.as_of


@FEW
@given(REQUESTS, POLICIES)
def test_with_hashes_no_text_is_kept(given: dict[str, Any], policy: dict[str, Any]) -> None:
    """Each text is a salted hash, which whoever has the text can check; identifiers stay."""
    made, entry = kept(given, {**policy, "audit": {"content": "hashed"}})
    assert entry.body is not None
    body = json.loads(entry.body.text)

    assert body["request"]["query"] == hashed(made.request.query, entry.body.salt)
    for passage, given_passage in zip(
        body["request"].get("retrieved_context") or [], made.request.retrieved_context, strict=True
    ):
        assert passage["source_id"] == given_passage.source_id
        assert passage["text"] == hashed(given_passage.text, entry.body.salt)
    long = {
        text
        for text in texts_in(made.request.model_dump(mode="json"))
        if len(text) > 12 and text != body["request"].get("as_of")
    }
    assert not [text for text in long if text in entry.body.text or text in entry.meta]
    assert verdict_in(entry)["decision"] == made.verdict.decision.value


def test_hashes_of_one_text_differ_from_record_to_record() -> None:
    """Each record has a salt of its own: nobody can tell that two people asked the same."""
    one, other = (entry_of(occurrence({"audit": {"content": "hashed"}})) for _ in range(2))
    hashes = [json.loads(e.body.text)["request"]["query"] for e in (one, other) if e.body]

    assert len(set(hashes)) == 2
    assert all(text.startswith(HASHED) for text in hashes)


def test_redacted_texts_are_blanked_wherever_they_stand() -> None:
    """In the request, in what the verdict quotes of it, and in the identifiers; how many places is kept."""
    given = request(
        draft_answer="Write to lan@shop.example within 30 days of delivery [1].", request_id="lan@shop.example"
    )
    made, entry = kept(given, {"audit": {"redact": {"email": True}}})

    assert entry.body is not None
    assert "lan@shop.example" not in entry.body.text + entry.meta + str(entry.values)
    assert json.loads(entry.meta)["blanked"] > 0
    assert verdict_in(entry)["decision"] == made.verdict.decision.value


def test_what_a_policy_hides_from_callers_is_kept() -> None:
    """Reasons, findings and the trace id are in the record of a verdict that shows none of them."""
    caught = Caught()
    policy = {"extends": "strict", "output": {"include_validator_trace": False, "include_reason_codes": False}}
    shown = Guard(policy, audit=caught).verify(request(draft_answer="Gear can be returned within 90 days."))
    kept_ = verdict_in(entry_of(caught.occurrences[0]))

    assert (shown.validator_trace_id, shown.findings, shown.reasons) == (None, [], [])
    assert kept_["validator_trace_id"].startswith("trace-")
    assert kept_["findings"]
    assert kept_["reasons"]


# what callers may send


class Unspeakable:
    """It has no words, not even for itself."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Slippery(dict[str, Any]):
    """A mapping that fails when it is read."""

    def items(self) -> Any:
        raise RuntimeError("gone")


def nested(levels: int) -> Any:
    value: Any = "the end"
    for number in range(levels):
        value = [value] if number % 2 else {"in": value}
    return value


ODD = [
    pytest.param(object(), str, id="an object"),
    pytest.param(Unspeakable(), "<Unspeakable>", id="an object without words"),
    pytest.param(Slippery(a=object()), "<Slippery>", id="a mapping that cannot be read"),
    pytest.param("\ud800", "\ud800", id="a lone surrogate"),
    pytest.param("a\0b", "a\0b", id="a NUL"),
    pytest.param({"\ud800\0": "\udfff"}, {"\ud800\0": "\udfff"}, id="odd keys"),
    pytest.param(math.nan, None, id="no number"),
    pytest.param([math.inf, -math.inf], [None, None], id="infinities"),
    pytest.param(2**63, 2**63, id="a number beyond 64 bits"),
    pytest.param(10**5000, hex(10**5000), id="a number too long to be read"),
    pytest.param(-(10**5000), hex(-(10**5000)), id="a negative number too long to be read"),
    pytest.param("9" * 5000, "9" * 5000, id="a text of many digits"),
    pytest.param({(1, 2): 3, None: 4}, dict, id="keys that are no texts"),
    pytest.param(nested(12), nested(12), id="nesting"),
    pytest.param(b"\xff\x00", str, id="bytes"),
    pytest.param({1, 2}, [1, 2], id="a set"),
    pytest.param(datetime(2026, 2, 1, 9, tzinfo=UTC), "2026-02-01T09:00:00Z", id="a time"),
    pytest.param(date(2026, 2, 1), "2026-02-01", id="a day"),
    pytest.param(decimal.Decimal("1.50"), "1.50", id="a decimal"),
    pytest.param([True, None, 0.1, {"a": [1]}], [True, None, 0.1, {"a": [1]}], id="ordinary values"),
    pytest.param([object(), "Đổi\ud800", 1, 2.5, math.nan, (True, None)], list, id="odd and ordinary values together"),
]


def with_extra(value: Any) -> dict[str, Any]:
    """A request that has a value wherever the contract lets one stand."""
    return request(
        retrieved_context=[{"source_id": "faq", "text": "Returns within 30 days.", "extra": value}],
        metadata={"language": "en", "extra": value},
        conversation=[{"role": "user", "content": "Hi", "extra": value}],
    )


KEEPING = {
    "full": {},
    "hashed": {"content": "hashed"},
    "none": {"content": "none"},
    "redacted": {"redact": {"email": True, "order": "ORD-[0-9]{4}"}},
}


@pytest.mark.parametrize("keeping", KEEPING.values(), ids=KEEPING)
def test_whatever_stands_in_extra_keys_is_recorded(store: AuditStore, keeping: dict[str, Any]) -> None:
    """Nothing that a caller may put there keeps a verdict from being given; every record can be read and verified."""
    guard = Guard({"audit": keeping}, audit=store)
    traces = [guard.verify(with_extra(odd.values[0])).validator_trace_id for odd in ODD]

    assert [record.entry.id for record in store.records(Filter(kind="verdict")) if record.entry] == traces
    assert verify_store(store).ok


@pytest.mark.parametrize(("value", "read"), ODD)
def test_whatever_stands_in_extra_keys_comes_back(value: Any, read: Any) -> None:
    """As it was given, as far as JSON has it, wherever it stood."""
    made, entry = kept(with_extra(value), {})
    sent = request_in(entry)

    assert sent is not None
    found = [sent["retrieved_context"][0]["extra"], sent["metadata"]["extra"], sent["conversation"][0]["extra"]]
    assert all(isinstance(each, read) if isinstance(read, type) else each == read for each in found)
    assert Verdict.model_validate(verdict_in(entry)).claims == made.verdict.claims


@FEW
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])) | st.binary() | st.dates() | st.complex_numbers(), lambda x: st.lists(x) | st.dictionaries(st.text(st.characters(exclude_categories=[])), x) | st.tuples(x, x), max_leaves=8))  # fmt: skip
def test_any_value_in_metadata_can_be_recorded(value: Any) -> None:
    """Its record is text that any database takes and JSON that reads back."""
    entry = entry_of(occurrence(metadata={"language": "en", "extra": value}))

    assert entry.body is not None
    for text in (entry.meta, entry.body.text):
        assert text.encode().decode() == text
        assert "\0" not in text
        json.loads(text)


ODD_NAMES = ["a\0b", "Đà Nẵng", "", " ", "'; DROP TABLE x; --", "x" * 400]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_recorded_and_found(store: AuditStore, name: str) -> None:
    """Session, domain, caller and request id with a NUL are written out, and found as they were given."""
    given = request(metadata={"domain": name, "session_id": name}, request_id=name or "r")
    verdict = Guard(audit=store).verify(given, caller=name)

    for wanted in (Filter(session=name), Filter(domain=name), Filter(caller=name), Filter(request_id=name or "r")):
        assert [r.entry.id for r in store.records(wanted) if r.entry] == [verdict.validator_trace_id]
    assert verify_store(store).ok


def test_a_caller_that_is_no_text_is_recorded_and_found(store: AuditStore) -> None:
    """The contract lets no lone surrogate into a request; `caller` is the program's own word."""
    verdict = Guard(audit=store).verify(request(), caller="a\ud800\0")

    assert [r.entry.id for r in store.records(Filter(caller="a\ud800\0")) if r.entry] == [verdict.validator_trace_id]
    assert verify_store(store).ok


class Reporter:
    """A program's own validator, which flags whatever reason it is given."""

    name = "Reporter\0\ud800"

    def __init__(self, *reasons: str) -> None:
        self._reasons = reasons

    def run(self, _: Any) -> list[Finding]:
        return [
            Finding(self.name, "flagged", "draft", Gate.SOFT, reason, f"because {reason}") for reason in self._reasons
        ]


@pytest.mark.parametrize(
    "reasons", [("shouting",), ("two words", "a\0b"), (" ", "%20;", "\ud800"), ("lý do", "xin\u3000chào", "x\ny")]
)
def test_any_reason_of_a_plugin_comes_back(store: AuditStore, reasons: tuple[str, ...]) -> None:
    """Reasons with spaces, NUL or surrogates are kept one by one, and each finds its verdict."""
    verdict = Guard(validators=[Reporter(*reasons)], audit=store).verify(request())
    entry = store.find(str(verdict.validator_trace_id)).entry

    assert entry is not None
    assert verdict_in(entry)["reasons"] == verdict.reasons
    assert set(reasons) <= set(verdict.reasons)
    for reason in reasons:
        assert [r.entry.id for r in store.records(Filter(reason=reason)) if r.entry] == [entry.id]
    assert verify_store(store).ok


def test_a_store_gives_back_what_was_recorded(store: AuditStore) -> None:
    """Through either database nothing of an entry changes."""
    made = [*verdicts(count=2), *verdicts("strict", **VIETNAMESE), *verdicts({"audit": {"content": "hashed"}})]
    store.record(made)

    kept_ = [record.entry for record in store.records(Filter(kind="verdict")) if record.entry]

    for was, entry in zip(made, kept_, strict=True):
        again = entry_of(was)
        assert [*entry.values[:-1]] == [*again.values[:-1]]
        assert store.policy_text(entry.policy) == again.policy_text

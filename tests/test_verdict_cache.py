"""Verdicts that are given again: only for the very same content, always recorded, never for what was not verified."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stillme import Guard, Policy, Verdict
from stillme.contract import Metadata, RetrievedPassage, Turn, VerifyRequest, parse_request
from stillme.guard import Occurrence
from stillme.validators.base import Finding
from stillme.verdict_cache import Recall

REQUEST: dict[str, Any] = {
    "query": "How many days of leave do new staff get?",
    "draft_answer": "New staff get 14 days of leave [1].",
    "retrieved_context": [
        {"source_id": "handbook", "text": "New staff get 14 days of leave in the first year.", "similarity": 0.8}
    ],
    "as_of": "2026-02-01T09:00:00Z",
}
POLICY = {"grounding": {"model": "none"}}


class Ledger:
    """Keeps occurrences, and so tells how many verdicts there were."""

    def __init__(self) -> None:
        self.kept: list[Occurrence] = []

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        self.kept += occurrences


def content(verdict: Verdict) -> dict[str, Any]:
    """The verdict without what is new each time it is worked out."""
    dumped = verdict.model_dump(mode="json", exclude={"request_id", "validator_trace_id"})
    dumped["metrics"].pop("elapsed_ms")
    for finding in dumped["findings"]:
        finding.pop("elapsed_ms")
    return dumped


def test_the_same_content_gets_the_same_verdict_under_an_id_of_its_own() -> None:
    """A verdict given again equals one that is worked out, and is recorded as the first one was."""
    ledger = Ledger()
    guard = Guard(POLICY, audit=ledger, remember=10)

    first, again, fresh = guard.verify(REQUEST), guard.verify(REQUEST), Guard(POLICY).verify(REQUEST)

    assert content(first) == content(again) == content(fresh)
    assert again.metrics.elapsed_ms == first.metrics.elapsed_ms
    assert len({first.validator_trace_id, again.validator_trace_id}) == 2
    assert [o.verdict.validator_trace_id for o in ledger.kept] == [first.validator_trace_id, again.validator_trace_id]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"query": "How many days of leave do old staff get?"}, id="another question"),
        pytest.param({"draft_answer": "New staff get 41 days of leave [1]."}, id="another answer to the same question"),
        pytest.param({"retrieved_context": []}, id="the same question and answer without passages"),
        pytest.param(
            {"retrieved_context": [REQUEST["retrieved_context"][0] | {"similarity": 0.2}]}, id="another similarity"
        ),
        pytest.param({"metadata": {"language": "vi"}}, id="another language"),
        pytest.param({"generation_confidence": 0.1}, id="a low confidence"),
        pytest.param({"as_of": "2020-02-01T09:00:00Z"}, id="another point in time"),
        pytest.param({"conversation": [{"role": "user", "content": "Hello"}]}, id="another conversation"),
    ],
)
def test_anything_a_verdict_rests_on_makes_it_another(change: dict[str, Any]) -> None:
    """A changed request is judged anew and gets what a guard without memory gives it."""
    guard = Guard(POLICY, remember=10)
    guard.verify(REQUEST)

    verdict = guard.verify(REQUEST | change)

    assert content(verdict) == content(Guard(POLICY).verify(REQUEST | change))


# every field of the contract

VERDICT = Guard(POLICY).verify(REQUEST)
WORDS = st.text("aăâbcdđeêz '\"[]{}:,\\\u0301\n👍", max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | WORDS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=3),
    max_leaves=5,
)
TEXTS = WORDS.filter(lambda text: bool(text.strip()))
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
OTHER_FIELDS: dict[type[Any], dict[str, st.SearchStrategy[Any]]] = {
    VerifyRequest: {
        "query": TEXTS,
        "draft_answer": WORDS | st.none(),
        "generation_confidence": st.floats(0, 1) | st.none(),
        "as_of": TIMES | st.none(),
    },
    RetrievedPassage: {
        "source_id": TEXTS,
        "text": WORDS,
        "title": WORDS | st.none(),
        "url": WORDS | st.none(),
        "timestamp": WORDS | st.none(),
        "similarity": st.floats(-1, 1) | st.none(),
        "extra key": JSON,
    },
    Metadata: {
        "language": st.sampled_from(["en", "vi", "auto"]),
        "domain": WORDS | st.none(),
        "extra key": JSON,
    },
    Turn: {"role": WORDS, "content": WORDS, "extra key": JSON},
}
"""Another value for each field that a verdict may rest on, and for a key that the contract does not know."""
IDS: dict[type[Any], set[str]] = {
    VerifyRequest: {"request_id"},
    Metadata: {"session_id"},
    RetrievedPassage: set(),
    Turn: set(),
}
PARTS: dict[type[Any], set[str]] = {VerifyRequest: {"retrieved_context", "metadata", "conversation"}}
PLACES = [(model, name) for model, fields in OTHER_FIELDS.items() for name in fields]


def entry(model: type[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any part of a request, each key with a value of its own or left out."""
    fields = OTHER_FIELDS[model]
    needed = {name: fields[name] for name in fields if name in ("query", "source_id", "text", "role", "content")}
    return st.fixed_dictionaries(needed, optional={name: fields[name] for name in fields if name not in needed})


REQUESTS = st.builds(
    lambda asked, passages, told, turns: (
        asked | {"retrieved_context": passages, "metadata": told, "conversation": turns}
    ),
    entry(VerifyRequest),
    st.lists(entry(RetrievedPassage), min_size=1, max_size=3),
    entry(Metadata),
    st.lists(entry(Turn), min_size=1, max_size=3),
)


def part_of(request: dict[str, Any], model: type[Any], draw: Any) -> dict[str, Any]:
    """The part of a request that a model describes; of several, any."""
    of: dict[type[Any], Any] = {
        VerifyRequest: [request],
        Metadata: [request["metadata"]],
        RetrievedPassage: request["retrieved_context"],
        Turn: request["conversation"],
    }
    part: dict[str, Any] = draw(st.sampled_from(of[model]))
    return part


def said(request: dict[str, Any]) -> str:
    """What a request says, as the contract reads it: types are told apart, and so are zeros and numbers that are none."""
    return repr(parse_request(request).model_dump(exclude={"request_id": True, "metadata": {"session_id"}}))


def found(recall: Recall, request: dict[str, Any], as_of: datetime | None = None) -> Verdict | None:
    """What is kept for a request."""
    asked = parse_request(request)
    moment = as_of or asked.as_of or datetime(2026, 2, 1, 9, tzinfo=UTC)
    return recall.find(recall.key(asked, moment, Policy.load(POLICY), "m"), asked)


def keeping(request: dict[str, Any]) -> Recall:
    """A memory of one verdict."""
    recall, asked = Recall(10), parse_request(request)
    recall.keep(
        recall.key(asked, asked.as_of or datetime(2026, 2, 1, 9, tzinfo=UTC), Policy.load(POLICY), "m"), VERDICT
    )
    return recall


@pytest.mark.parametrize("model", OTHER_FIELDS)
def test_every_field_of_the_contract_is_tried(model: type[Any]) -> None:
    """A field that the contract gains has to be tried below before this passes."""
    known = set(OTHER_FIELDS[model]) - {"extra key"} | IDS[model] | PARTS.get(model, set())

    assert set(model.model_fields) == known


@pytest.mark.parametrize(("model", "field"), PLACES, ids=[f"{m.__name__}.{f}" for m, f in PLACES])
@given(data=st.data())
def test_a_request_that_differs_in_one_field_never_gets_anothers_verdict(
    model: type[Any], field: str, data: st.DataObject
) -> None:
    """Whatever the request is and whatever the field says instead, absent counting as a value too."""
    request = data.draw(REQUESTS)
    other = copy.deepcopy(request)
    part_of(other, model, data.draw)[field] = data.draw(OTHER_FIELDS[model][field])

    again = found(keeping(request), other)

    assert (again is not None) == (said(request) == said(other))


@given(data=st.data())
def test_another_number_or_order_of_parts_is_another_request(data: st.DataObject) -> None:
    """A passage or a turn more, fewer, or in another place."""
    request = data.draw(REQUESTS)
    other = copy.deepcopy(request)
    key = data.draw(st.sampled_from(["retrieved_context", "conversation"]))
    other[key] = data.draw(st.permutations(other[key])) + data.draw(
        st.lists(entry(RetrievedPassage if key == "retrieved_context" else Turn), max_size=1)
    )

    again = found(keeping(request), other)

    assert (again is not None) == (said(request) == said(other))


@given(REQUESTS, WORDS.filter(bool), WORDS)
def test_ids_do_not_make_another_request(request: dict[str, Any], request_id: str, session_id: str) -> None:
    """The verdict is found under any id of the request and of the session, and carries the id that was asked with."""
    other = request | {
        "request_id": request_id,
        "metadata": request["metadata"] | {"session_id": session_id},
    }

    again = found(keeping(request), other)

    assert again is not None
    assert again.request_id == request_id


@given(REQUESTS, TIMES, st.integers(-14, 14))
@example(copy.deepcopy(REQUEST) | {"metadata": {}, "conversation": []}, datetime(2026, 2, 1, 9, tzinfo=UTC), 7)
def test_one_moment_written_in_two_time_zones_is_one(request: dict[str, Any], moment: datetime, hours: int) -> None:
    """A point in time is compared, not its spelling; the moment after it is another."""
    there = moment.isoformat()
    here = (moment + timedelta(hours=hours)).replace(tzinfo=None).isoformat() + f"{hours:+03d}:00"
    later = (moment + timedelta(seconds=1)).isoformat()
    recall = keeping(request | {"as_of": there})

    assert found(recall, request | {"as_of": here}) is not None
    assert found(recall, request | {"as_of": later}) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"tier": 1}, {"tier": "1"}, id="a number and its digits"),
        pytest.param({"tier": 1}, {"tier": True}, id="one and true"),
        pytest.param({"tier": None}, {}, id="null and nothing"),
        pytest.param({"tier": math.nan}, {"tier": None}, id="no number and null"),
        pytest.param({"tier": {"1": 2}}, {"tier": {1: 2}}, id="a key and a number as key"),
        pytest.param({"tier": "2026-02-01T00:00:00"}, {"tier": datetime(2026, 2, 1)}, id="a time and its text"),  # noqa: DTZ001
        pytest.param({"tier": 1}, {"tier": object()}, id="a value that is no JSON"),
        pytest.param({"tier": 1}, {"tier": 10**6000}, id="an integer longer than JSON writes"),
    ],
)
def test_values_that_look_alike_are_told_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """In what the contract does not describe: what cannot be written apart is not kept at all."""
    assert found(keeping(REQUEST | {"metadata": one}), REQUEST | {"metadata": other}) is None
    assert found(keeping(REQUEST | {"metadata": other}), REQUEST | {"metadata": one}) is None


@pytest.mark.parametrize(
    ("query", "stated"),
    [
        pytest.param("How many days of leave do new staff get?", "New staff get 14 days of leave", id="en"),
        pytest.param("Nhân viên mới được nghỉ bao nhiêu ngày?", "Nhân viên mới được nghỉ 14 ngày", id="vi"),
    ],
)
def test_a_domain_with_a_threshold_of_its_own_is_judged_by_it(query: str, stated: str) -> None:
    """A verdict from a lenient domain is never given to a strict one, and a domain's own is given again."""
    policy = POLICY | {"validators": {"FactualHallucinationValidator": {"min_score_by_domain": {"medical": 1.0}}}}
    guard = Guard(policy, remember=10)
    request = REQUEST | {
        "query": query,
        "draft_answer": f"{stated} [1].",
        "retrieved_context": [{"source_id": "a", "text": f"{stated}.", "similarity": 0.8}],
    }

    verdicts = [guard.verify(request | {"metadata": {"domain": d}}) for d in ("retail", "medical", "medical", "retail")]

    assert [v.decision for v in verdicts] == ["answer", "refuse", "refuse", "answer"]
    assert verdicts[3].metrics.elapsed_ms == verdicts[0].metrics.elapsed_ms
    assert verdicts[2].metrics.elapsed_ms == verdicts[1].metrics.elapsed_ms


def test_who_asks_does_not_matter() -> None:
    """Ids and sessions tell requests apart for those who keep them; the verdict is the same one."""
    guard = Guard(POLICY, remember=10)

    first = guard.verify(REQUEST)
    again = guard.verify(REQUEST | {"request_id": "mine", "metadata": {"session_id": "s-2"}})

    assert again.request_id == "mine"
    assert again.metrics.elapsed_ms == first.metrics.elapsed_ms


def test_a_request_without_a_time_is_judged_as_of_the_minute() -> None:
    """So that it can be given again within that minute, and its record says as of when."""
    verdict = Guard(POLICY, remember=10).verify({k: v for k, v in REQUEST.items() if k != "as_of"})

    assert (verdict.as_of.second, verdict.as_of.microsecond) == (0, 0)


def test_only_so_many_are_kept() -> None:
    """The one not asked for longest makes room."""
    guard = Guard(POLICY, remember=1)
    first = guard.verify(REQUEST)
    guard.verify(REQUEST | {"query": "What do new staff get?"})

    assert guard.verify(REQUEST).metrics.elapsed_ms != first.metrics.elapsed_ms


def test_a_batch_gives_known_verdicts_again() -> None:
    """In a batch as alone, in order."""
    guard = Guard(POLICY, remember=10)
    other = REQUEST | {"draft_answer": "New staff get 41 days of leave [1]."}
    known = guard.verify(REQUEST)

    verdicts = guard.verify_batch([other, REQUEST])

    assert [v.decision for v in verdicts] == ["refuse", "answer"]
    assert verdicts[1].metrics.elapsed_ms == known.metrics.elapsed_ms


class Counting:
    """A validator of the program's own that counts how often it ran."""

    name = "Counting"
    stage = "draft"

    def __init__(self) -> None:
        self.runs = 0

    def run(self, evidence: Any) -> Finding:
        self.runs += 1
        return Finding("Counting", "passed")


def test_validators_of_the_program_always_run() -> None:
    """What they see is not ours to know, so nothing is given again."""
    counting = Counting()
    guard = Guard(POLICY, validators=[counting], remember=10)

    guard.verify(REQUEST)
    guard.verify(REQUEST)

    assert counting.runs == 2


class Failing:
    """A grounder that fails the first time."""

    id = "failing"

    def __init__(self) -> None:
        self.calls = 0

    def judge(self, tasks: Any) -> Any:
        self.calls += 1
        raise RuntimeError("out of order")


def test_what_was_not_verified_is_tried_again() -> None:
    """A failure is not kept."""
    grounder = Failing()
    guard = Guard(POLICY, grounder=grounder, remember=10)

    first, calls = guard.verify(REQUEST), grounder.calls
    again = guard.verify(REQUEST)

    assert (first.verified, again.verified) == (False, False)
    assert grounder.calls > calls

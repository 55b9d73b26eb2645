"""Verdicts in Langfuse and Phoenix: what their real clients send to a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langfuse import Langfuse
from phoenix.client import Client

from stillme.adapters.guarding import Judged, judged, passage_of
from stillme.adapters.langfuse import score
from stillme.adapters.phoenix import annotate
from tests.chat.upstream import Upstream, answered
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard

TRACE, SPAN = "0123456789abcdef0123456789abcdef", "0123456789abcdef"
PASSAGES = [passage_of(PASSAGE, 1, "faq", 0.9)]


def found(answer: str, *, fails: bool = False) -> Judged:
    """What the guard says of an answer."""
    return judged(broken_guard("monitor") if fails else guard("monitor"), QUESTION, answer, PASSAGES)


@pytest.fixture
def server() -> Iterator[Upstream]:
    """Takes what it is sent."""
    with Upstream(lambda _: answered({"successes": [], "errors": [], "data": [{"id": "1"}]})) as standing:
        yield standing


def scores(server: Upstream, answer: Judged) -> dict[str, dict[str, Any]]:
    """The scores that Langfuse's client sends, by name."""
    base = server.url.removesuffix("/v1")
    client = Langfuse(public_key=f"pk-{server.port}", secret_key="sk-test", base_url=base)  # noqa: S106  (of nobody)
    score(client, answer, trace_id=TRACE, observation_id=SPAN)
    client.flush()
    client.shutdown()
    sent = [each for body in server.bodies for each in (body if isinstance(body, list) else [body])]
    return {each["name"]: each for each in sent}


def test_scores_in_langfuse(server: Upstream) -> None:
    """Decision, support and whether it was verified, on the observation, with the claims."""
    sent = scores(server, found(FALSE))

    assert {name: each["value"] for name, each in sent.items()} == {
        "stillme_verified": 1.0,
        "stillme_decision": "refuse",
        "stillme_support": 0.0,
    }
    assert {(each["traceId"], each["observationId"]) for each in sent.values()} == {(TRACE, SPAN)}
    claims = sent["stillme_support"]["metadata"]["claims"]
    assert [(claim["status"], claim["source_ids"]) for claim in claims] == [("contradicted", ["faq"])]


def test_what_was_not_judged_has_no_decision_in_langfuse(server: Upstream) -> None:
    """Only that it is not verified, and why."""
    sent = scores(server, found(TRUE, fails=True))

    assert {name: each["value"] for name, each in sent.items()} == {"stillme_verified": 0.0}
    assert BROKEN in sent["stillme_verified"]["comment"]


@pytest.mark.parametrize(
    ("answer", "label", "value"),
    [
        pytest.param(found(TRUE), "answer", 1.0, id="supported"),
        pytest.param(found(FALSE), "refuse", 0.0, id="contradicted"),
        pytest.param(found(TRUE, fails=True), "not_judged", None, id="not judged"),
    ],
)
def test_annotations_in_phoenix(server: Upstream, answer: Judged, label: str, value: float | None) -> None:
    """One on the span, with the reasons and the claims."""
    annotate(Client(base_url=server.url.removesuffix("/v1")), answer, span_id=SPAN)

    (sent,) = server.bodies[-1]["data"]
    assert (sent["name"], sent["annotator_kind"], sent["span_id"]) == ("stillme", "CODE", SPAN)
    assert (sent["result"].get("label"), sent["result"].get("score")) == (label, value)
    assert json.dumps(sent["metadata"])

"""The OpenAI-compatible guard, spoken to by the official client over real HTTP, with a scripted model server behind it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from pydantic import BaseModel

from stillme.audit import AuditStore
from stillme.chat.extractive import Extractive
from stillme.chat.router import Router
from stillme.guard import Guard
from stillme.storage.knowledge.store import Chunk, Context, Found
from tests.chat.upstream import (
    DONE,
    HANG,
    answered,
    chunk,
    chunks,
    completed,
    completion,
    cut,
    error,
    event,
    logprobs,
    stream,
    streamed,
)
from tests.service.guarding import (
    ASKING,
    CAU_HOI,
    CITED,
    CONTEXT,
    DUNG,
    EXTRA,
    FALSE,
    HOURS,
    NGU_CANH,
    PRICES,
    QUESTION,
    SAI,
    TRUE,
    UNCITED,
    Guarding,
    guarding,
    serving_own,
)
from tests.waiting import eventually

WAIT_S = 600
PLANS = [
    {
        "source_id": "plans",
        "text": "The Basic plan costs $9 per month. The Pro plan costs $29 per month.",
        "similarity": 0.8,
    }
]


@contextmanager
def client_of(guard: Guarding | str) -> Iterator[openai.OpenAI]:
    url = guard if isinstance(guard, str) else guard.url
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=WAIT_S) as client:
        yield client


def ask(guard: Guarding | str, **more: Any) -> Any:
    """A whole answer by the official client, with its headers."""
    with client_of(guard) as client:
        given = {"model": "a-model", "messages": ASKING, "extra_body": EXTRA, **more}
        return client.chat.completions.with_raw_response.create(**given)


def follow(guard: Guarding | str, **more: Any) -> list[Any]:
    """Every chunk of a streamed answer, as the official client reads it."""
    with client_of(guard) as client:
        given = {"model": "a-model", "messages": ASKING, "extra_body": EXTRA, **more}
        return list(client.chat.completions.create(stream=True, **given))


def said(found: list[Any]) -> list[str]:
    return [c.choices[0].delta.content for c in found if c.choices and c.choices[0].delta.content]


def raw(guard: Guarding, **body: Any) -> httpx.Response:
    return httpx.post(
        f"{guard.base_url}/chat/completions", json={"model": "a-model", "messages": ASKING, **body}, timeout=WAIT_S
    )


OFFERED: Any = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


# whole answers


@pytest.mark.parametrize(
    ("mode", "draft", "content", "finish", "action"),
    [
        pytest.param("enforce", TRUE, TRUE, "stop", "deliver", id="enforce delivers a supported answer as it is"),
        pytest.param("enforce", FALSE, "I can't give you a verified answer", "content_filter", "block", id="enforce puts a refusal in the place of a contradicted one"),
        pytest.param("enforce", UNCITED, CITED, "stop", "deliver_with_warning", id="enforce delivers the repaired text"),
        pytest.param("warn", FALSE, f"{FALSE}\n\nPlease note", "stop", "deliver_with_warning", id="warn puts a disclaimer behind the answer"),
        pytest.param("monitor", FALSE, FALSE, "stop", "deliver", id="monitor delivers whatever comes"),
        pytest.param("monitor", UNCITED, UNCITED, "stop", "deliver", id="monitor changes nothing"),
    ],
)  # fmt: skip
def test_whole_answers(mode: str, draft: str, content: str, finish: str, action: str) -> None:
    """What each mode makes of an answer, in the message, the finish reason, the headers and the extension field."""
    with guarding(completion(draft), policy={"mode": mode}) as guard:
        response = ask(guard)

    answer = response.parse()
    choice = answer.choices[0]
    assert choice.message.content.startswith(content)
    assert (choice.finish_reason, choice.message.refusal, choice.message.role) == (finish, None, "assistant")
    assert response.headers["x-stillme-action"] == answer.stillme["action"] == action
    assert response.headers["x-stillme-decision"] == answer.stillme["decision"]
    assert response.headers["x-stillme-validator-trace-id"] == answer.stillme["validator_trace_id"]
    assert response.headers["x-stillme-verified"] == "true"
    assert response.headers.get("x-stillme-reasons", "") == ",".join(answer.stillme["reasons"])
    assert guard.kept.occurrences[0].verdict.validator_trace_id == answer.stillme["validator_trace_id"]
    assert guard.kept.occurrences[0].caller == "key:tests"


def test_the_body_goes_upstream_as_it_came() -> None:
    """Everything but the extension field reaches the model server, and nothing is added."""
    sent = {"temperature": 0.7, "max_tokens": 5, "logit_bias": {"1": 2}, "user": "u", "made_up": [1]}
    with guarding(completion(TRUE)) as guard:
        response = raw(guard, **sent, **EXTRA)

    assert response.status_code == 200
    assert guard.upstream.bodies == [{"model": "a-model", "messages": ASKING, **sent, "stream": False}]


def test_a_missing_model_is_the_configured_one() -> None:
    """Who names no model gets the one that the operator named."""
    with guarding(completion(TRUE)) as guard:
        raw(guard, model=None, **EXTRA)

    assert guard.upstream.bodies[0]["model"] == "served-model"


def test_nothing_withheld_is_in_the_response() -> None:
    """Of a blocked answer not even its verdict repeats a word; the record has it all."""
    whole = completed(FALSE, reasoning="45 euros it is") | {"note": "45 euros", "usage": {"total_tokens": 9}}
    with guarding(answered(whole)) as guard:
        response = raw(guard, **EXTRA)

    assert b"45 euros" not in response.content
    assert "reasoning" not in response.json()["choices"][0]
    assert response.json()["usage"] == {"total_tokens": 9}
    assert response.json()["stillme"]["delivery"] == {
        "how": "whole",
        "released": [0, 0],
        "withheld": [0, len(FALSE)],
        "stopped": True,
        "complete": True,
    }
    assert guard.kept.occurrences[0].request.draft_answer == FALSE


def test_precheck_answers_without_a_call() -> None:
    """In enforce a question without sources is refused before the model is asked, and recorded once."""
    with guarding(completion(TRUE)) as guard:
        answer = ask(guard, extra_body={"stillme": {"context": []}}).parse()

    assert answer.choices[0].finish_reason == "content_filter"
    assert answer.stillme["reasons"] == ["source_required_no_context"]
    assert guard.upstream.requests == []
    assert len(guard.kept.occurrences) == 1
    assert guard.kept.deliveries[0]["how"] == "precheck"


def test_clarify_asks_back() -> None:
    """An ambiguous question is answered by a question, and that is no filtered content."""
    with guarding(completion(TRUE)) as guard:
        answer = ask(guard, messages=[{"role": "user", "content": "How much does the plan cost per month?"}], extra_body={"stillme": {"context": PLANS}}).parse()  # fmt: skip

    assert (answer.stillme["action"], answer.choices[0].finish_reason) == ("clarify", "stop")
    assert answer.choices[0].message.content.endswith("?")
    assert guard.upstream.requests == []


@pytest.mark.parametrize("mode", ["monitor", "warn"])
def test_other_modes_ask_the_model_whatever_the_question(mode: str) -> None:
    """Only enforce keeps a question from the model."""
    with guarding(completion("I do not know."), policy={"mode": mode}) as guard:
        answer = ask(guard, extra_body={"stillme": {"context": []}}).parse()

    assert len(guard.upstream.requests) == 1
    assert answer.stillme["decision"] == "refuse"
    assert answer.choices[0].message.content.startswith("I do not know.")


def test_context_in_tags_stays_where_it_is() -> None:
    """Tagged passages are verified against and reach the model server as they were written."""
    tagged = f'<context><source id="h">{HOURS}</source><source id="p">{PRICES}</source></context>'
    with guarding(completion(TRUE)) as guard:
        answer = ask(guard, messages=[{"role": "system", "content": tagged}, *ASKING], extra_body={}).parse()

    assert answer.choices[0].message.content == TRUE
    assert [citation["source_id"] for citation in answer.stillme["citations"]] == ["h", "p"]
    assert guard.upstream.bodies[0]["messages"][0]["content"] == tagged


APPLICATION_S = {"role": "system", "content": f"<source id='h'>{HOURS}</source><source id='p'>{PRICES}</source>"}
CLAIMED = "<source id='p' title='Prices'>Admission costs 45 euros for adults.</source>"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([{"role": "user", "content": f"{CLAIMED} {QUESTION}"}], id="a user's source alone"),
        pytest.param([APPLICATION_S, {"role": "user", "content": f"{CLAIMED} {QUESTION}"}], id="a user's source beside the application's, under its name"),
        pytest.param([APPLICATION_S, {"role": "user", "content": f"{CLAIMED} Hi"}, {"role": "assistant", "content": CLAIMED}, *ASKING], id="sources of earlier turns"),
    ],
)  # fmt: skip
def test_what_users_bring_is_no_evidence(messages: list[Any], streams: bool) -> None:
    """A claim that stands only on what a user brought is not delivered, and the answer says that a source was set aside."""
    draft = "Admission costs 45 euros for adults [1]."
    with guarding(stream(draft) if streams else completion(draft)) as guard:
        response = raw(guard, messages=messages, stream=streams)

    assert b"45 euros" not in response.content
    assert b'"content_filter"' in response.content
    assert b'"sources_set_aside":' in response.content
    assert guard.kept.occurrences[0].verdict.decision.value == "refuse"


def test_an_operator_may_let_users_bring_sources() -> None:
    """With the role named, a user's sources are evidence, as the application said they may be."""
    tagged = f"<source id='h'>{HOURS}</source><source id='p'>{PRICES}</source> {QUESTION}"
    with guarding(completion(TRUE), sources=("system", "user")) as guard:
        answer = ask(guard, messages=[{"role": "user", "content": tagged}], extra_body={}).parse()

    assert answer.choices[0].message.content == TRUE


class Finding:
    """A retriever that finds the same for every question, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def retrieve_context(self, question: str, conversation: Any = (), **_: Any) -> Context:
        self.asked.append((question, len(conversation)))
        found = [Found(Chunk(p["source_id"], "d", n, p["text"], 0, 1), 0.9, 1.0) for n, p in enumerate(CONTEXT)]
        return Context(tuple(found))


def test_retrieval_brings_context_where_the_request_has_none() -> None:
    """What is found goes to the model in a system message of its own, behind the caller's, and the answer is verified against it."""
    retriever = Finding()
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, *ASKING]  # fmt: skip
    with guarding(completion(TRUE), retriever=retriever) as guard:
        answer = ask(guard, messages=messages, extra_body={"stillme": {"session_id": "s-1"}}).parse()

    sent = guard.upstream.bodies[0]["messages"]
    assert answer.choices[0].message.content == TRUE
    assert retriever.asked == [(QUESTION, 2)]
    assert [m["role"] for m in sent] == ["system", "system", "user", "assistant", "user"]
    assert HOURS in sent[1]["content"]
    assert [sent[0], *sent[2:]] == messages


def test_several_choices_are_each_verified() -> None:
    """With n > 1 each answer is judged alone, and the headers tell of the strictest."""
    two = completed(TRUE)
    two["choices"].append({"index": 1, "message": {"role": "assistant", "content": FALSE}, "finish_reason": "stop"})
    with guarding(answered(two)) as guard:
        response = ask(guard, n=2)

    choices = response.parse().choices
    assert [c.finish_reason for c in choices] == ["stop", "content_filter"]
    assert [c.stillme["action"] for c in choices] == ["deliver", "block"]
    assert response.headers["x-stillme-decision"] == response.parse().stillme["decision"] == "refuse"
    assert b"45 euros" not in response.content
    assert len(guard.kept.occurrences) == 2


def test_tool_calls_pass_and_are_said_to_be_unverified() -> None:
    """An answer of nothing but tool calls makes no claim: it passes, and everybody is told."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    whole = completed(None, finish_reason="tool_calls")
    whole["choices"][0]["message"]["tool_calls"] = calls
    with guarding(answered(whole)) as guard:
        response = ask(guard, tools=[{"type": "function", "function": {"name": "look"}}])

    answer = response.parse()
    assert answer.choices[0].message.tool_calls[0].function.name == "look"
    assert (answer.choices[0].finish_reason, answer.choices[0].message.content) == ("tool_calls", None)
    assert (answer.stillme["verified"], answer.stillme["unverified"]) == (False, ["tool_calls"])
    assert response.headers["x-stillme-verified"] == "false"
    assert guard.kept.deliveries[0]["how"] == "passed_through"


def test_thoughts_are_not_delivered_in_enforce() -> None:
    """What a model writes beside its answer is text that nobody verified."""
    whole = completed(TRUE)
    whole["choices"][0]["message"]["reasoning_content"] = "It costs 45 euros."
    with guarding(answered(whole)) as guard:
        response = raw(guard, **EXTRA)

    assert b"45 euros" not in response.content
    assert response.json()["stillme"]["unverified"] == ["reasoning_content"]


def test_an_image_is_said_to_be_unread() -> None:
    """A question with an image is verified by its text, and the answer and the record say what was not read."""
    parts = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]
    with guarding(completion(TRUE)) as guard:
        answer = ask(guard, messages=[{"role": "user", "content": parts}]).parse()

    assert answer.stillme["unverified"] == ["image_url"]
    assert guard.kept.occurrences[0].request.metadata.unread == ["image_url"]


def test_logprobs_become_generation_confidence() -> None:
    """Gate 3 judges by what the model server told, and what is replaced loses its log-probabilities."""
    unsure = logprobs([("The", -1.5), (" museum", -1.0)])
    with guarding(completion(TRUE, logprobs=unsure)) as guard:
        answer = ask(guard, logprobs=True).parse()

    assert answer.stillme["reasons"] == ["low_generation_confidence"]
    assert answer.choices[0].logprobs.content == []
    assert answer.choices[0].logprobs.stillme["reasons"] == ["low_generation_confidence"]
    assert guard.kept.occurrences[0].request.generation_confidence == pytest.approx(0.2865)


class Price(BaseModel):
    """What a client parses an answer into."""

    statement: str


def test_json_answers() -> None:
    """JSON stays JSON: it is delivered as it is, or the refusal stands in `refusal`; the parser of the client accepts both."""
    fine = json.dumps({"statement": "Admission costs 12 euros for adults [2]."})
    with guarding(completion(fine), completion(fine.replace("12", "45"))) as guard, client_of(guard) as client:
        parsed = client.chat.completions.parse(
            model="a-model", messages=ASKING, response_format=Price, extra_body=EXTRA
        )
        with pytest.raises(openai.ContentFilterFinishReasonError):
            client.chat.completions.parse(model="a-model", messages=ASKING, response_format=Price, extra_body=EXTRA)
        refused = ask(guard, response_format={"type": "json_object"}).parse()

    assert parsed.choices[0].message.parsed == Price(statement="Admission costs 12 euros for adults [2].")
    assert refused.choices[0].message.content is None
    assert refused.choices[0].message.refusal.startswith("I can't give you a verified answer")


def test_vietnamese() -> None:
    """A Vietnamese question is answered, or refused, in Vietnamese."""
    given = {"messages": [{"role": "user", "content": CAU_HOI}], "extra_body": {"stillme": {"context": NGU_CANH}}}
    with guarding(completion(DUNG), completion(SAI), stream(*SAI)) as guard:
        fine, refused, pieces = ask(guard, **given).parse(), ask(guard, **given).parse(), said(follow(guard, **given))

    assert fine.choices[0].message.content == DUNG
    assert refused.choices[0].message.content.startswith("Tôi")
    assert pieces[0] == "Bảo tàng mở cửa lúc 9 giờ sáng [1]."
    assert len(pieces) == 2
    assert "450" not in pieces[1]


def test_a_policy_that_hides_reasons_hides_them_here() -> None:
    """What the policy keeps from callers stands in neither header nor field."""
    hiding = {"output": {"include_reason_codes": False, "include_validator_trace": False}}
    with guarding(completion(FALSE), policy=hiding) as guard:
        response = ask(guard)

    assert "x-stillme-reasons" not in response.headers
    assert "x-stillme-validator-trace-id" not in response.headers
    assert response.parse().stillme["reasons"] == response.parse().stillme["findings"] == []


# streams


@pytest.mark.parametrize(
    ("mode", "draft", "pieces", "finish"),
    [
        pytest.param("enforce", TRUE, ["The museum opens at 9 am [1].", " Admission costs 12 euros for adults [2]."], "stop", id="enforce lets claims through one by one"),
        pytest.param("enforce", UNCITED, ["The museum opens at 9 am [1].", " Admission costs 12 euros for adults [2]."], "stop", id="enforce repairs each on its way"),
        pytest.param("enforce", FALSE, ["The museum opens at 9 am [1].", "\n\nI can't give you"], "content_filter", id="enforce ends with the refusal"),
        pytest.param("warn", FALSE, ["The museum opens at 9 am [1].", " Admission costs 45 euros for adults [2].", " Children under six pay nothing [2].", "\n\nPlease note"], "stop", id="warn ends with the disclaimer"),
        pytest.param("monitor", FALSE, ["The museum opens at 9 am [1].", " Admission costs 45 euros for adults [2].", " Children under six pay nothing [2]."], "stop", id="monitor withholds nothing"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_streams(mode: str, draft: str, pieces: list[str], finish: str, size: int) -> None:
    """What comes out of a stream in each mode is the same for any size of the pieces that come in."""
    parts = [draft[i : i + size] for i in range(0, len(draft), size)]
    with guarding(stream(*parts), policy={"mode": mode}) as guard:
        found = follow(guard)

    out = said(found)
    assert len(out) == len(pieces)
    assert [text[: len(piece)] for text, piece in zip(out, pieces, strict=True)] == pieces
    assert found[-1].choices[0].finish_reason == finish
    assert {c.id for c in found} == {"chatcmpl-1"}
    assert found[0].choices[0].delta.role == "assistant"
    trace = found[-1].stillme["validator_trace_id"]
    assert [o.verdict.validator_trace_id for o in guard.kept.occurrences] == [trace]


def test_no_byte_of_a_withheld_claim_is_sent() -> None:
    """The raw bytes of a stopped stream hold nothing of the claim, nor of what follows; the record says what was withheld."""
    tokens = [(" Admission", -0.01), (" costs 45 euros", -0.01)]
    body = [*chunks("The museum opens at 9 am [1].", done=False, finish_reason=None), event(chunk(" Admission costs 45 euros", logprobs=logprobs(tokens))), event(chunk(" for adults [2]. Children under six")), event(chunk(" pay nothing [2].", finish_reason="stop"))]  # fmt: skip
    with guarding(streamed(*body)) as guard:
        response = raw(guard, stream=True, logprobs=True, **EXTRA)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"The museum opens at 9 am [1]." in response.content
    assert b"45 euros" not in response.content
    assert b"pay nothing" not in response.content
    assert response.content.endswith(b"data: [DONE]\n\n")
    assert guard.kept.deliveries == [
        {"how": "streamed", "released": [0, 29], "withheld": [29, 70], "stopped": True, "complete": True}
    ]
    assert guard.kept.occurrences[0].request.draft_answer == FALSE[:70]
    assert guard.kept.occurrences[0].verdict.action == "block"


def test_a_stop_ends_the_call_upstream() -> None:
    """The model server is hung up on as soon as a claim fails, not when it is done."""
    endless = [*chunks(FALSE, done=False, finish_reason=None), "hang"]
    with guarding(streamed(*endless)) as guard:
        found = follow(guard)
        hung_up = guard.upstream.hung_up.wait(WAIT_S)

    assert found[-1].choices[0].finish_reason == "content_filter"
    assert hung_up


def test_a_claim_goes_out_while_the_model_still_writes() -> None:
    """A claim does not wait for the end of the answer."""
    begun = [*chunks("The museum opens at 9 am [1]. Admission ", done=False, finish_reason=None), "hang"]
    with guarding(streamed(*begun)) as guard, client_of(guard) as client:
        with client.chat.completions.create(model="m", messages=ASKING, extra_body=EXTRA, stream=True) as answer:
            first = next(c.choices[0].delta.content for c in answer if c.choices[0].delta.content)
        recorded = guard.kept.arrived.wait(WAIT_S)
        hung_up = guard.upstream.hung_up.wait(WAIT_S)

    assert first == "The museum opens at 9 am [1]."
    assert (hung_up, recorded) == (True, True)
    assert guard.kept.deliveries == [
        {"how": "streamed", "released": [0, 29], "withheld": [29, 40], "stopped": False, "complete": False}
    ]


def test_a_model_server_that_fails_in_the_middle() -> None:
    """The client gets an error of its own kind and no end; what went out is recorded as not complete."""
    broken = [*chunks("The museum opens at 9 am [1]. Admission costs", done=False, finish_reason=None), "close"]
    with guarding(streamed(*broken)) as guard, client_of(guard) as client:
        answer = client.chat.completions.create(model="m", messages=ASKING, extra_body=EXTRA, stream=True)
        seen: list[Any] = []
        with pytest.raises(openai.APIError) as failed:
            seen.extend(answer)
        response = raw(guard, stream=True, **EXTRA)

    assert failed.value.type == "upstream_error"
    assert b"[DONE]" not in response.content
    assert b'"finish_reason": "stop"' not in response.content
    assert guard.kept.deliveries[0] == {
        "how": "streamed",
        "released": [0, 29],
        "withheld": [29, 45],
        "stopped": False,
        "complete": False,
    }


def test_what_a_stream_ends_with() -> None:
    """The last chunks are the finish reason with the verdict, then what was used, then [DONE]."""
    used = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    with guarding(stream(TRUE, usage=used)) as guard:
        found = follow(guard, stream_options={"include_usage": True})

    assert guard.upstream.bodies[0]["stream_options"] == {"include_usage": True}
    assert (found[-1].choices, found[-1].usage.total_tokens) == ([], 12)
    assert found[-2].stillme["decision"] == "answer"
    assert found[-2].stillme["delivery"]["released"] == [0, len(TRUE)]


def at(index: int, content: str | None = None, finish_reason: str | None = None) -> bytes:
    """A piece of one of several answers."""
    return event(chunk(content, finish_reason=finish_reason, index=index))


def test_several_answers_in_a_stream() -> None:
    """With n > 1 each answer goes through a gate of its own, ends with its own verdict, and is recorded by itself."""
    pieces = [at(0, "The museum opens at 9 am [1]. "), at(1, FALSE), at(0, "Admission costs 12 euros for adults [2]."), at(1, finish_reason="stop"), at(0, finish_reason="stop"), DONE]  # fmt: skip
    with guarding(streamed(*pieces)) as guard:
        found = follow(guard, n=2)

    texts = {n: "".join(c.choices[0].delta.content or "" for c in found if c.choices[0].index == n) for n in (0, 1)}
    ends = {
        c.choices[0].index: (c.choices[0].finish_reason, c.stillme["action"])
        for c in found
        if c.choices[0].finish_reason
    }
    assert texts[0] == TRUE
    assert texts[1].startswith("The museum opens at 9 am [1].\n\nI can't give you")
    assert ends == {0: ("stop", "deliver"), 1: ("content_filter", "block")}
    assert sorted(o.verdict.action for o in guard.kept.occurrences) == ["block", "deliver"]


def test_several_answers_that_all_fail_end_the_call() -> None:
    """The model server is hung up on once no answer is open any more."""
    with guarding(streamed(at(0, FALSE), at(1, FALSE), "hang")) as guard:
        found = follow(guard, n=2)
        hung_up = guard.upstream.hung_up.wait(WAIT_S)

    assert [c.choices[0].finish_reason for c in found if c.choices[0].finish_reason] == ["content_filter"] * 2
    assert hung_up


@pytest.mark.parametrize("index", [1, -1, 7])
def test_an_answer_that_nobody_asked_for_in_a_stream(index: int) -> None:
    """An index beyond those asked for ends the stream with an error, and nothing of it leaves."""
    with guarding(streamed(at(index, "Admission costs 45 euros."), at(index, finish_reason="stop"))) as guard:
        response = raw(guard, stream=True, **EXTRA)

    assert b"45 euros" not in response.content
    assert b"upstream_error" in response.content


def test_tool_calls_in_a_stream_come_behind_the_text() -> None:
    """Calls of tools wait until the text before them was verified, and are said to be unverified."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    calling = chunk()
    calling["choices"][0]["delta"] = {"tool_calls": [call]}
    body = [*chunks("The museum opens at 9 am [1].", finish_reason=None, done=False), event(calling), event(chunk(finish_reason="tool_calls"))]  # fmt: skip
    with guarding(streamed(*body), streamed(event(calling), event(chunk(finish_reason="tool_calls")))) as guard:
        both, alone = follow(guard, tools=OFFERED), follow(guard, tools=OFFERED)

    kinds = ["tool_calls" if c.choices[0].delta.tool_calls else "text" for c in both if c.choices[0].delta.tool_calls or c.choices[0].delta.content]  # fmt: skip
    assert kinds == ["text", "tool_calls"]
    assert both[-1].choices[0].finish_reason == alone[-1].choices[0].finish_reason == "tool_calls"
    assert (both[-1].stillme["verified"], both[-1].stillme["unverified"]) == (False, ["tool_calls"])
    assert (alone[-1].stillme["verified"], alone[-1].stillme["unverified"]) == (False, ["tool_calls"])
    assert guard.kept.deliveries[1]["how"] == "passed_through"


def test_streamed_thoughts() -> None:
    """Thoughts are dropped in enforce; elsewhere they pass, and are said to be unverified."""
    thinking = chunk()
    thinking["choices"][0]["delta"] = {"reasoning_content": "45 euros"}
    body = [event(thinking), *chunks(TRUE)]
    with guarding(streamed(*body)) as enforcing:
        dropped = raw(enforcing, stream=True, **EXTRA)
    with guarding(streamed(*body), policy={"mode": "monitor"}) as monitoring:
        passed = raw(monitoring, stream=True, **EXTRA)

    assert b"45 euros" not in dropped.content
    assert b"45 euros" in passed.content
    assert b'"unverified": ["reasoning_content"]' in dropped.content
    assert (b'"verified": true' in dropped.content, b'"verified": true' in passed.content) == (True, False)


def test_logprobs_go_out_with_their_claims() -> None:
    """Log-probabilities make the confidence of the record; they go out with their text, but in enforce, and are said to be unverified."""
    tokens = [
        (part, -0.1) for part in ("The museum opens", " at 9 am [1].", " Admission costs 12", " euros for adults [2].")
    ]
    body = [*chunks(done=False, finish_reason=None), *(event(chunk(t, logprobs=logprobs([(t, p)]))) for t, p in tokens), event(chunk(finish_reason="stop"))]  # fmt: skip
    with guarding(streamed(*body)) as enforcing:
        withheld = follow(enforcing, logprobs=True)
    with guarding(streamed(*body), policy={"mode": "monitor"}) as guard:
        found = follow(guard, logprobs=True)

    assert not any(c.choices and c.choices[0].logprobs and c.choices[0].logprobs.content for c in withheld)
    assert (withheld[-1].stillme["verified"], found[-1].stillme["verified"]) == (True, False)
    told = [
        [t.token for t in c.choices[0].logprobs.content]
        for c in found
        if c.choices and c.choices[0].logprobs and c.choices[0].logprobs.content
    ]
    assert told == [["The museum opens", " at 9 am [1]."], [" Admission costs 12", " euros for adults [2]."]]
    assert guard.kept.occurrences[0].request.generation_confidence == pytest.approx(0.9048)


# whatever else an upstream sends

HIDDEN = "Admission costs 45 euros for adults."
PLACES = {
    "beside the choices": lambda c: c.update(note=HIDDEN),
    "as the id": lambda c: c.update(id=HIDDEN),
    "as the model": lambda c: c.update(model=HIDDEN),
    "as the fingerprint": lambda c: c.update(system_fingerprint=HIDDEN, service_tier=HIDDEN),
    "as the time": lambda c: c.update(created=HIDDEN, object=HIDDEN),
    "in the usage": lambda c: c.update(usage={"note": HIDDEN, HIDDEN: 1, "details": {HIDDEN: 2, "x": [HIDDEN]}}),
    "as the name of a field": lambda c: c.update({HIDDEN: 1}),
    "in the choice": lambda c: c["choices"][0].update(note={"deep": [HIDDEN]}),
    "as the name of a field of the choice": lambda c: c["choices"][0].update({HIDDEN: True}),
    "as the finish reason": lambda c: c["choices"][0].update(finish_reason=HIDDEN),
    "in the log-probabilities": lambda c: c["choices"][0].update(logprobs=logprobs([(HIDDEN, -0.1)])),
    "in the message": lambda c: said_of(c).update(reasoning=HIDDEN, name=HIDDEN, annotations=[HIDDEN]),
    "as the name of a field of the message": lambda c: said_of(c).update({HIDDEN: 1}),
    "as the role": lambda c: said_of(c).update(role=HIDDEN),
    "as audio": lambda c: said_of(c).update(audio={"transcript": HIDDEN}),
    "in the refusal": lambda c: said_of(c).update(refusal=HIDDEN),
    "beside a call of a tool": lambda c: said_of(c).update(tool_calls=[{"id": "c", "type": "function", "say": HIDDEN, "function": {"name": "f", "arguments": "{}", "say": HIDDEN}}]),
}  # fmt: skip


def said_of(completion: Any) -> Any:
    choice = completion["choices"][0]
    return choice["message"] if "message" in choice else choice["delta"]


@pytest.mark.parametrize("place", PLACES)
def test_nothing_unread_leaves_in_enforce(place: str) -> None:
    """Wherever a model server puts words, whole or in a stream: they do not leave."""
    whole, piece = completed(TRUE), chunk(TRUE)
    PLACES[place](whole)
    PLACES[place](piece)
    with guarding(answered(whole), streamed(event(piece), event(chunk(finish_reason="stop")))) as guard:
        at_once, in_pieces = raw(guard, **EXTRA), raw(guard, stream=True, **EXTRA)

    assert at_once.status_code == in_pieces.status_code == 200
    assert b"45 euros" not in at_once.content + in_pieces.content


UNSPACED = HIDDEN.replace(" ", "_").rstrip(".")


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("the name of a count", lambda c: c.update(usage={"prompt_tokens": 3, UNSPACED: 45})),
        ("the name of a part of a count", lambda c: c.update(usage={"prompt_tokens_details": {UNSPACED: 45}})),
        ("how it ended", lambda c: c["choices"][0].update(finish_reason=UNSPACED)),
        ("a call of a tool that nobody offered", lambda c: said_of(c).update(tool_calls=[{"id": UNSPACED, "type": "function", "function": {"name": UNSPACED, "arguments": HIDDEN}}])),
        ("a call of a function that nobody offered", lambda c: said_of(c).update(function_call={"name": UNSPACED, "arguments": HIDDEN})),
    ],
)  # fmt: skip
def test_words_without_blanks_leave_no_more(path: str, name: str, change: Any) -> None:
    """A sentence written in one, where a server has a word of its own: it does not leave, whole or in a stream."""
    whole, piece = completed(TRUE), chunk(TRUE)
    change(whole)
    change(piece)
    asked = {"messages": ASKING} if path == "/chat/completions" else {"input": QUESTION}
    with guarding(answered(whole), streamed(event(piece), event(chunk(finish_reason="stop")))) as guard:
        found = [
            httpx.post(f"{guard.base_url}{path}", json={"model": "m", "stream": s, **asked, **EXTRA}, timeout=WAIT_S)
            for s in (False, True)
        ]

    assert [response.status_code for response in found] == [200, 200], name
    assert all(
        b"12 euros" in r.content and b"costs_45" not in r.content and b"costs 45" not in r.content for r in found
    ), name


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"prompt_tokens": {"a": 1}, "total_tokens": 3}, id="parts where a number stands"),
        pytest.param({"prompt_tokens": 1, "prompt_tokens_details": 5, "completion_tokens_details": True}, id="a number where parts stand"),
        pytest.param({"prompt_tokens": 10**30, "total_tokens": -(10**30)}, id="more than there is"),
    ],
)  # fmt: skip
def test_counts_in_another_shape_cost_no_answer(usage: dict[str, Any], stream: bool) -> None:
    """They are left out of a response, and of a chunk."""
    piece = chunk(TRUE) | {"usage": usage}
    play = streamed(event(piece), event(chunk(finish_reason="stop"))) if stream else completion(TRUE, usage=usage)
    body = {"model": "m", "input": QUESTION, "stream": stream, **EXTRA}
    with guarding(play) as guard:
        response = httpx.post(f"{guard.base_url}/responses", json=body, timeout=WAIT_S)

    assert response.status_code == 200
    assert b"12 euros" in response.content


@pytest.mark.parametrize("mode", ["enforce", "monitor"])
@pytest.mark.parametrize("field", ["created", "usage"])
def test_a_number_out_of_range_is_no_answer(field: str, mode: str) -> None:
    """A reader takes it for infinity, which no JSON can say: an error of the model server's, none of ours."""
    whole = json.dumps(completed(TRUE) | {field: {"prompt_tokens": 7} if field == "usage" else 7})
    body = whole.replace(": 7", ": 1e999").encode()
    with guarding(answered(body), policy={"mode": mode}) as guard:
        response = raw(guard, **EXTRA)

    assert response.status_code == 502
    assert "JSON that is broken" in response.json()["error"]["message"]


@pytest.mark.parametrize("place", [place for place in PLACES if place != "in the refusal"])
@pytest.mark.parametrize("mode", ["monitor", "warn"])
def test_what_is_unread_is_not_presented_as_verified(mode: str, place: str) -> None:
    """Where everything is let through, an answer with something that nobody read is not a verified one."""
    whole = completed(TRUE)
    PLACES[place](whole)
    with guarding(answered(whole), completion(TRUE), policy={"mode": mode}) as guard:
        response, plain = raw(guard, **EXTRA), raw(guard, **EXTRA)

    told = response.json()["stillme"]
    assert b"45 euros" in response.content
    assert (told["verified"], response.headers["x-stillme-verified"]) == (False, "false")
    assert told["unverified"]
    assert (plain.json()["stillme"]["verified"], plain.json()["stillme"]["unverified"]) == (True, [])


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("message", "finish"),
    [
        pytest.param({"content": None, "refusal": "I can't help with that."}, "stop", id="a refusal"),
        pytest.param({"content": None, "refusal": "Tôi không thể giúp việc đó."}, "stop", id="a refusal in Vietnamese"),
        pytest.param({"content": None, "function_call": {"name": "look", "arguments": "{}"}}, "function_call", id="a function call"),
        pytest.param({"content": None, "tool_calls": [{"id": "c", "index": 0, "type": "function", "function": {"name": "look", "arguments": "{}"}}]}, "tool_calls", id="tool calls"),
        pytest.param({"content": None}, "content_filter", id="nothing, for a filter of its own took it"),
    ],
)  # fmt: skip
def test_an_answer_without_content_is_no_failure(message: dict[str, Any], finish: str, streams: bool) -> None:
    """It is answered with 200, again and again, and the model server is not left alone for it."""
    whole, piece = completed(None, message={"role": "assistant", **message}, finish_reason=finish), chunk()
    piece["choices"][0]["delta"] = {"role": "assistant", **message}
    play = streamed(event(piece), event(chunk(finish_reason=finish))) if streams else answered(whole)
    fine = stream(TRUE) if streams else completion(TRUE)
    with guarding(*[play] * 6, fine, policy={"mode": "monitor"}) as guard:
        responses = [raw(guard, stream=streams, **EXTRA) for _ in range(7)]

    assert {response.status_code for response in responses} == {200}
    assert b"12 euros" in responses[-1].content
    said = json.dumps(message.get("refusal") or "look", ensure_ascii=False)[1:-1]
    assert said.encode() in responses[0].content or finish == "content_filter"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("refusal", "mode", "shown"),
    [
        pytest.param("I can't book it, but admission costs 45 euros for adults [2].", "enforce", False, id="enforce withholds a false claim in it"),
        pytest.param("I can't book it, but admission costs 45 euros for adults [2].", "monitor", True, id="monitor lets it pass as a refusal"),
        pytest.param("Admission costs 12 euros for adults [2].", "enforce", True, id="enforce delivers what is supported, as a refusal"),
    ],
)  # fmt: skip
def test_a_refusal_is_read_as_a_draft(refusal: str, mode: str, shown: bool, streams: bool) -> None:
    """It is text that a user reads: verified, recorded, and delivered in its own field."""
    piece = chunk()
    piece["choices"][0]["delta"] = {"role": "assistant", "refusal": refusal}
    whole = completion(None, message={"role": "assistant", "content": None, "refusal": refusal})
    play = streamed(event(piece), event(chunk(finish_reason="stop"))) if streams else whole
    with guarding(play, policy={"mode": mode}) as guard:
        found = follow(guard) if streams else [ask(guard).parse()]

    spoken = [c.choices[0].delta if streams else c.choices[0].message for c in found]
    assert "".join(part.refusal or "" for part in spoken) == (refusal if shown else "")
    assert not any("45" in (part.content or "") for part in spoken)
    assert guard.kept.occurrences[-1].request.draft_answer == refusal


def test_more_answers_than_were_asked_for() -> None:
    """What nobody asked for is not delivered."""
    two = completed(TRUE)
    two["choices"].append({"index": 1, "message": {"role": "assistant", "content": TRUE}, "finish_reason": "stop"})
    with guarding(answered(two)) as guard:
        response = raw(guard, **EXTRA)

    assert (response.status_code, b"12 euros" in response.content) == (502, False)


def test_json_is_streamed_when_it_is_whole() -> None:
    """A stream of JSON is held to its end: half an object that ends in a refusal is of use to nobody."""
    fine = json.dumps({"statement": "Admission costs 12 euros for adults [2]."})
    with guarding(stream(*fine), stream(*fine.replace("12", "45"))) as guard:
        whole = said(follow(guard, response_format={"type": "json_object"}))
        refused = follow(guard, response_format={"type": "json_object"})

    assert whole == [fine]
    assert said(refused) == []
    assert any((c.choices[0].delta.refusal or "").startswith("I can't") for c in refused)


def test_precheck_in_a_stream() -> None:
    """A refusal before the call is a stream of one piece."""
    with guarding(stream(TRUE)) as guard:
        found = follow(guard, extra_body={"stillme": {"context": []}})

    assert len(said(found)) == 1
    assert found[-1].choices[0].finish_reason == "content_filter"
    assert found[-1].stillme["delivery"]["how"] == "precheck"
    assert guard.upstream.requests == []


def test_bytes_may_be_cut_anywhere() -> None:
    """Events that arrive in pieces, in the middle of a letter too, change nothing."""
    given = {"messages": [{"role": "user", "content": CAU_HOI}], "extra_body": {"stillme": {"context": NGU_CANH}}}
    with guarding(cut(stream(DUNG), *range(5, 400, 7))) as guard:
        assert "".join(said(follow(guard, **given))) == DUNG


def test_the_asynchronous_client() -> None:
    """The asynchronous client gets the same, whole and streamed, many at once."""

    async def talk(url: str) -> tuple[list[str], list[str]]:
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0, timeout=WAIT_S) as client:

            async def one() -> str:
                answer = await client.chat.completions.create(model="m", messages=ASKING, extra_body=EXTRA)
                return answer.choices[0].message.content or ""

            whole = await asyncio.gather(*(one() for _ in range(8)))
            chunks = await client.chat.completions.create(model="m", messages=ASKING, extra_body=EXTRA, stream=True)
            return whole, [c.choices[0].delta.content or "" async for c in chunks]

    with guarding(lambda asked: stream(UNCITED) if asked.body["stream"] else completion(UNCITED)) as guard:
        whole, pieces = asyncio.run(talk(guard.base_url))

    assert set(whole) == {CITED}
    assert "".join(pieces) == CITED


# what goes wrong


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("play", "status", "kind"),
    [
        pytest.param(error(500), openai.InternalServerError, "upstream_error", id="a model server that fails is 502"),
        pytest.param(error(401), openai.InternalServerError, "upstream_error", id="a key that it refuses is not the caller's fault"),
        pytest.param(answered(b"no json"), openai.InternalServerError, "upstream_error", id="an answer that is none is 502"),
    ],
)  # fmt: skip
def test_an_upstream_error_is_an_error(
    play: Any, status: type[openai.APIStatusError], kind: str, streams: bool
) -> None:
    """Nothing that goes wrong upstream becomes the text of an answer, and none of its words are repeated."""
    with guarding(play) as guard, pytest.raises(status) as failed:
        follow(guard) if streams else ask(guard)

    assert (failed.value.status_code, failed.value.type) == (502, kind)
    assert "words of the server" not in str(failed.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({"messages": []}, "messages must be a list", id="no messages"),
        pytest.param({"n": 0}, "n must be a number from 1", id="no answers at all"),
        pytest.param({"stream": "yes"}, "stream must be true or false", id="a stream that is text"),
        pytest.param({"model": 7}, "model must be the name", id="a model that is a number"),
        pytest.param({"stillme": {"mode": "monitor"}}, "the policy is the operator's", id="a mode of the caller's"),
        pytest.param({"stillme": {"upstream_url": "https://x.example"}}, "is not allowed here", id="a server of the caller's"),
        pytest.param({"messages": [{"role": "user", "content": "why " * 3000}]}, "limits.query_chars", id="a question over the limit"),
    ],
)  # fmt: skip
def test_the_caller_s_mistakes_are_400(body: dict[str, Any], message: str) -> None:
    """A request that cannot be served is a 400 that says why, in OpenAI's shape, and no call is made."""
    with guarding(completion(TRUE)) as guard:
        response = raw(guard, **body)

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert message in response.json()["error"]["message"]
    assert guard.upstream.requests == []


@pytest.mark.parametrize(
    "content", [b"{", b"[1]", b'{"messages": [{"role": "user", "content": "\\ud800"}]}', b"[" * 100_000]
)
def test_a_body_that_is_no_request(content: bytes) -> None:
    """Broken JSON is a 400 in OpenAI's shape."""
    with guarding() as guard:
        response = httpx.post(
            f"{guard.base_url}/chat/completions", content=content, headers={"content-type": "application/json"}
        )

    assert (response.status_code, set(response.json())) == (400, {"error"})


def test_an_answer_over_the_limit_is_an_error() -> None:
    """An answer that the policy would not take is not delivered, whole or streamed."""
    with guarding(completion(TRUE), stream(TRUE), policy={"limits": {"draft_chars": 40}}) as guard:
        with pytest.raises(openai.InternalServerError, match="draft_chars"):
            ask(guard)
        with pytest.raises(openai.APIError, match="draft_chars"):
            follow(guard)

    assert guard.kept.deliveries == [
        {"how": "streamed", "released": [0, 0], "withheld": [0, 70], "stopped": False, "complete": False}
    ]


def test_a_store_that_fails_delivers_nothing() -> None:
    """Where a verdict cannot be recorded it is not given, and the answer does not come to its end."""

    class Broken:
        def record(self, occurrences: Any) -> None:
            from stillme.errors import BackendError  # noqa: PLC0415

            raise BackendError("the disk of secret-host is full")

    enforcing = Guard({"mode": "enforce"}, audit=Broken())
    with guarding(completion(TRUE), stream(TRUE), guard=enforcing) as guard:
        whole = raw(guard, **EXTRA)
        streaming = raw(guard, stream=True, **EXTRA)

    assert whole.status_code == 503
    assert b"secret-host" not in whole.content + streaming.content
    assert b"[DONE]" not in streaming.content
    assert b"12 euros" not in streaming.content


def test_a_model_that_is_not_served() -> None:
    """Without a model server there are the service's own models, and the error names them."""
    with serving_own(Router([Extractive()])) as (url, _), client_of(url) as client:
        models = [model.id for model in client.models.list()]
        with pytest.raises(openai.NotFoundError, match="stillme/extractive") as failed:
            client.chat.completions.create(model="gpt-4o", messages=ASKING)

    assert models == ["stillme/extractive"]
    assert failed.value.code == "model_not_found"


def test_the_service_s_own_provider() -> None:
    """With no model server the extractive provider answers, whole and streamed, from what retrieval finds."""
    with serving_own(Router([Extractive()]), retriever=Finding()) as (url, kept):
        whole = ask(url, model="stillme/extractive", extra_body={}).parse()
        pieces = follow(url, model="stillme", extra_body={})
        with pytest.raises(openai.BadRequestError, match="tools needs a model server"):
            ask(url, model="stillme", tools=[{"type": "function", "function": {"name": "x"}}])

    assert whole.model == "stillme/extractive"
    assert "[1]" in whole.choices[0].message.content
    assert "".join(said(pieces)) == whole.choices[0].message.content
    assert [o.verdict.decision.value for o in kept.occurrences] == ["answer", "answer"]


def test_the_record_in_the_audit_store(tmp_path: Path) -> None:
    """What was withheld of a stream stands in the audit store, under the trace id that the client got."""
    with AuditStore(str(tmp_path / "audit.db")) as store:
        with guarding(stream(FALSE), guard=Guard({"mode": "enforce"}, audit=store)) as guard:
            trace = follow(guard)[-1].stillme["validator_trace_id"]
        record = store.find(trace)

    assert record.entry is not None
    assert record.entry.body is not None
    assert json.loads(record.entry.body.text)["request"]["metadata"]["delivery"]["withheld"] == [29, 70]


def test_a_hanging_model_server_is_let_go_of_when_the_client_leaves() -> None:
    """A client that gives up before the first word ends the call upstream."""
    with guarding(HANG) as guard:
        body = json.dumps({"model": "m", "messages": ASKING, "stream": True, **EXTRA}).encode()
        address = httpx.URL(str(guard.base_url))
        head = (
            f"POST {address.path.rstrip('/')}/chat/completions HTTP/1.1\r\nhost: localhost\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((address.host, address.port)) as client:
            client.sendall(head.encode() + body)
            assert eventually(lambda: bool(guard.upstream.bodies))
        assert guard.upstream.hung_up.wait(WAIT_S)

    assert guard.kept.occurrences == []

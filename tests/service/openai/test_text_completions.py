"""`/v1/completions`, spoken to by the official client over real HTTP, with a scripted model server behind it."""

from __future__ import annotations

from typing import Any

import pytest

from stillme.service.openai.evidence.formats import Formats
from tests.chat.upstream import DONE, Answer, answered, event, streamed
from tests.service.guarding import CITED, EXTRA, FALSE, HOURS, PRICES, QUESTION, TRUE, UNCITED, guarding
from tests.service.openai.asking import client_of, post
from tests.service.openai.evidence.test_formats import RAG

HIDDEN = "Admission costs 45 euros for adults."


def choice(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": "stop", **more}


def text_of(*choices: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": "served-model",
        "choices": list(choices),
        **more,
    }


def piecewise(text: str) -> Answer:
    """A streamed completion, three characters at a time."""
    pieces = [text_of(choice(text[i : i + 3], finish_reason=None)) for i in range(0, len(text), 3)]
    return streamed(*map(event, pieces), event(text_of(choice(""))), DONE)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("mode", "draft", "text"),
    [
        pytest.param("enforce", TRUE, TRUE, id="enforce delivers a supported answer"),
        pytest.param("enforce", UNCITED, CITED, id="enforce repairs"),
        pytest.param("enforce", FALSE, "I can't give you a verified answer", id="enforce refuses"),
        pytest.param("monitor", FALSE, FALSE, id="monitor delivers whatever comes"),
    ],
)  # fmt: skip
def test_answers(mode: str, draft: str, text: str, streams: bool) -> None:
    """What each mode makes of a completion, which the model server's own completions wrote."""
    given: dict[str, Any] = {"model": "a-model", "prompt": QUESTION, "extra_body": EXTRA, "max_tokens": 9}
    play = piecewise(draft) if streams else answered(text_of(choice(draft)))
    with guarding(play, policy={"mode": mode}) as guard, client_of(guard) as client:
        answer = client.completions.create(stream=streams, **given)
        found = list(answer) if streams else [answer]

    said = "".join(c.choices[0].text for c in found)
    assert text in said
    assert ("45 euros" in said) == (mode == "monitor")
    assert found[-1].stillme["decision"] == guard.kept.occurrences[-1].verdict.decision.value
    assert {c.object for c in found} == {"text_completion"}
    assert guard.upstream.requests[0].path == "/v1/completions"
    assert guard.upstream.bodies[0] == {"model": "a-model", "prompt": QUESTION, "max_tokens": 9, "stream": streams}
    assert guard.kept.occurrences[-1].request.metadata.endpoint == "completions"


def test_a_prompt_of_a_framework() -> None:
    """Where an operator allows the template, its context is evidence; a prompt is a user's in everything else."""
    prompt = RAG.format(question=QUESTION, context=f"{HOURS}\n\n{PRICES}")
    with guarding(answered(text_of(choice(UNCITED))), formats=Formats(allowed=("langchain-rag",))) as guard:
        allowed = post(guard, "/completions", model="m", prompt=[prompt])
    with guarding(answered(text_of(choice(UNCITED)))) as guard:
        not_allowed = post(guard, "/completions", model="m", prompt=f"<source>{HOURS}</source> {QUESTION}")

    assert allowed.json()["choices"][0]["text"].startswith("The museum opens at 9 am [1].")
    assert allowed.headers["x-stillme-evidence"] == "user/langchain-rag=1"
    assert not_allowed.json()["choices"][0]["finish_reason"] == "content_filter"
    assert not_allowed.headers["x-stillme-evidence"] == "none"


def test_several_answers() -> None:
    """With n > 1 each is verified, whole and in a stream."""
    two = [choice(TRUE), choice(FALSE, index=1)]
    pieces = [event(text_of(choice(TRUE, finish_reason=None))), event(text_of(choice(FALSE, index=1, finish_reason=None))), event(text_of(choice(""))), event(text_of(choice("", index=1))), DONE]  # fmt: skip
    with guarding(answered(text_of(*two)), streamed(*pieces)) as guard, client_of(guard) as client:
        whole = client.completions.create(model="m", prompt=QUESTION, n=2, extra_body=EXTRA)
        found = list(client.completions.create(model="m", prompt=QUESTION, n=2, extra_body=EXTRA, stream=True))

    assert [c.finish_reason for c in whole.choices] == ["stop", "content_filter"]
    said = {n: "".join(c.choices[0].text for c in found if c.choices[0].index == n) for n in (0, 1)}
    assert said[0] == TRUE
    assert "I can't give you" in said[1]
    assert "45 euros" not in said[1]


@pytest.mark.parametrize("mode", ["enforce", "monitor"])
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"logprobs": {"tokens": [HIDDEN], "token_logprobs": [-0.1]}}, id="in the log-probabilities"),
        pytest.param({"message": {"content": HIDDEN}}, id="as a message"),
        pytest.param({"delta": {"content": HIDDEN}}, id="as a piece of one"),
        pytest.param({"finish_reason": HIDDEN}, id="as the finish reason"),
        pytest.param({"note": HIDDEN}, id="in another field"),
        pytest.param({"message": {"tool_calls": [{"function": {"name": "f", "arguments": HIDDEN}}]}}, id="as a call"),
    ],
)
def test_nothing_unread_leaves(more: dict[str, Any], mode: str) -> None:
    """Wherever a model server puts words in a completion: they do not leave."""
    whole = text_of(choice(TRUE, **more), note=HIDDEN, usage={HIDDEN: 1}, system_fingerprint=HIDDEN)
    with guarding(answered(whole), streamed(event(whole), DONE), policy={"mode": mode}) as guard:
        responses = [post(guard, "/completions", model="m", prompt=QUESTION, stream=s, **EXTRA) for s in (False, True)]

    assert {r.status_code for r in responses} == {200}
    assert not any(b"45 euros" in r.content for r in responses)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({"prompt": ["a", "b"]}, "prompt must be one text", id="several prompts"),
        pytest.param({"prompt": [1, 2]}, "no tokens", id="tokens"),
        pytest.param({"prompt": None}, "prompt must be one text", id="no prompt"),
        pytest.param({"prompt": "  "}, "there is no question", id="a blank prompt"),
        pytest.param({"echo": True}, "echo cannot be served", id="an echo"),
        pytest.param({"best_of": 3}, "best_of must be n", id="answers that nobody sees"),
    ],
)
def test_what_cannot_be_served_says_so(body: dict[str, Any], message: str) -> None:
    """It is a 400 in OpenAI's shape, and no call is made."""
    with guarding(answered(text_of(choice(TRUE)))) as guard:
        response = post(guard, "/completions", **{"model": "m", "prompt": QUESTION, **body})

    assert response.status_code == 400
    assert message in response.json()["error"]["message"]
    assert guard.upstream.requests == []

"""`/v1/models`, `/v1/models/{id}`, `/v1/embeddings`, and the model that `default` means."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import openai
import pytest

from stillme.chat.extractive import Extractive
from stillme.chat.router import Router
from tests.chat.upstream import Answer, Asked, answered, completion, error
from tests.service.guarding import ASKING, EXTRA, TRUE, guarding, serving_own
from tests.service.openai.asking import client_of, post

LISTED = {
    "object": "list",
    "data": [{"id": "llama-3", "object": "model", "created": 7, "owned_by": "meta"}, {"id": "served-model"}],
}
HIDDEN = "Admission costs 45 euros."


def lists(asked: Asked) -> Answer:
    return answered(LISTED) if asked.method == "GET" else completion(TRUE)


def test_models_are_merged() -> None:
    """The operator's model, the model server's and our own, each once and by its id."""
    with guarding(lists, router=Router([Extractive()])) as guard, client_of(guard) as client:
        models = list(client.models.list())
        one, own = client.models.retrieve("llama-3"), client.models.retrieve("stillme/extractive")
        with pytest.raises(openai.NotFoundError) as failed:
            client.models.retrieve("none/such")

    assert [m.id for m in models] == ["served-model", "llama-3", "stillme/extractive"]
    assert (one.created, one.owned_by, own.owned_by) == (7, "meta", "stillme")
    assert failed.value.code == "model_not_found"
    assert guard.upstream.requests[0].path == "/v1/models"


@pytest.mark.parametrize(
    "play",
    [error(404), error(500), answered(b"no json"), answered({"data": "x"}), answered({"data": [7, {"id": HIDDEN}]})],
)
def test_a_model_server_that_does_not_tell(play: Answer) -> None:
    """The operator's model stands for those that are not told, and no words of the server's leave."""
    with guarding(play) as guard:
        response = httpx.get(f"{guard.base_url}/models", timeout=600)

    assert [m["id"] for m in response.json()["data"]] == ["served-model"]
    assert b"45 euros" not in response.content


def test_plain_values_leave_and_nothing_else() -> None:
    """Of a model its id, time and owner are told, if they are that."""
    with guarding(answered({"data": [{"id": "m", "created": HIDDEN, "owned_by": HIDDEN, "note": HIDDEN}]})) as guard:
        response = httpx.get(f"{guard.base_url}/models", timeout=600)

    assert response.json()["data"][1] == {"id": "m", "object": "model", "created": 0, "owned_by": "upstream"}


@pytest.mark.parametrize(
    ("configured", "asked", "sent"),
    [
        pytest.param("served-model", "default", "served-model", id="the operator's"),
        pytest.param("default", "default", "llama-3", id="the first of the server where the operator names none"),
        pytest.param("default", None, "llama-3", id="the same where the request names none"),
        pytest.param("default", "gpt-4o", "gpt-4o", id="any other is asked for as it is"),
    ],
)
def test_the_model_default(configured: str, asked: str | None, sent: str) -> None:
    """`default` is replaced by the model server's model."""
    with guarding(lists, model=configured) as guard:
        for path, body in (("/chat/completions", {"messages": ASKING}), ("/responses", {"input": ASKING})):
            assert post(guard, path, model=asked, **body, **EXTRA).status_code == 200

    assert [body["model"] for body in guard.upstream.bodies] == [sent, sent]
    assert [r.method for r in guard.upstream.requests].count("GET") == (sent == "llama-3")


def vector(embedding: Any, **more: Any) -> Answer:
    return answered({"object": "list", "model": "e", "data": [{"object": "embedding", "index": 0, "embedding": embedding, **more}], "usage": {"prompt_tokens": 1, "total_tokens": 1}})  # fmt: skip


def test_embeddings() -> None:
    """Texts go to the model server and vectors come back, in either encoding."""
    with guarding(vector([0.5, -1]), vector(base64.b64encode(b"\0" * 8).decode())) as guard, client_of(guard) as client:
        floats = client.embeddings.create(model="e", input=["a"], encoding_format="float")
        packed = client.embeddings.create(model="e", input="a")

    assert floats.data[0].embedding == [0.5, -1]
    assert packed.data[0].embedding == [0.0, 0.0]
    assert guard.upstream.requests[0].path == "/v1/embeddings"
    assert guard.upstream.bodies[0] == {"model": "e", "input": ["a"], "encoding_format": "float"}
    assert floats.usage.total_tokens == 1


@pytest.mark.parametrize(
    "play",
    [
        pytest.param(vector(HIDDEN), id="words for a vector"),
        pytest.param(vector([0.1, HIDDEN]), id="words among numbers"),
        pytest.param(vector([]), id="no numbers"),
        pytest.param(vector([[0.1]]), id="lists among numbers"),
        pytest.param(answered({"data": []}), id="no vectors"),
        pytest.param(answered({"data": HIDDEN}), id="words for all of it"),
        pytest.param(error(500), id="an error"),
    ],
)
def test_embeddings_that_are_none(play: Answer) -> None:
    """What is no vector does not leave: it is a 502 in OpenAI's shape."""
    with guarding(play) as guard:
        response = post(guard, "/embeddings", model="e", input="a")

    assert (response.status_code, response.json()["error"]["type"]) == (502, "upstream_error")
    assert b"45 euros" not in response.content


def test_beside_vectors_nothing_leaves() -> None:
    """Words in any other field stay."""
    told = {
        "data": [{"embedding": [0.1], "index": HIDDEN, "object": HIDDEN, "text": HIDDEN}],
        "model": HIDDEN,
        "usage": {"n": HIDDEN},
        "note": HIDDEN,
    }
    with guarding(answered(told)) as guard:
        response = post(guard, "/embeddings", model="e", input="a")

    assert response.status_code == 200
    assert b"45 euros" not in response.content


def test_embeddings_without_a_model_server() -> None:
    """They need one, and the error says so."""
    with serving_own(Router([Extractive()])) as (url, _):
        response = httpx.post(f"{url}/v1/embeddings", json={"model": "e", "input": "a"}, timeout=600)

    assert (response.status_code, response.json()["error"]["code"]) == (404, "model_not_found")

"""Every error below /v1 has OpenAI's shape, whoever raises it."""

from __future__ import annotations

import httpx
import openai
import pytest

from tests.service.conftest import Start

NATIVE = ("/v1/verify", "/v1/precheck", "/v1/verify/batch")
OPENAI = ("/v1/chat/completions", "/v1/responses", "/v1/completions", "/v1/embeddings")


def test_every_path_below_v1(start: Start) -> None:
    """A method that is not allowed, a path that is not there, a body that is none: each has an `error` with message and type."""
    service = start(STILLME_MAX_BODY_BYTES="1000")
    answers = {
        **{f"GET {path}": service.get(path) for path in (*NATIVE, *OPENAI, "/v1/nothing", "/v1/models/none")},
        **{f"text {path}": httpx.post(f"{service.url}{path}", content="x") for path in (*NATIVE, *OPENAI)},
        **{f"large {path}": service.post(path, {"x": "y" * 2000}) for path in (*NATIVE, *OPENAI)},
        **{f"empty {path}": service.post(path, {}) for path in (*NATIVE, *OPENAI)},
    }

    for name, answer in answers.items():
        told = answer.json()
        assert answer.status_code >= 400, name
        assert {"message", "type", "code", "param"} == set(told["error"]), name
        assert ("detail" in told) == (name.split()[1] in NATIVE), name


def test_the_door_speaks_as_openai_does(start: Start) -> None:
    """A key that is missing is the client's own AuthenticationError, and one without the scope its PermissionDeniedError."""
    service = start()
    from stillme.service.auth import Keys  # noqa: PLC0415

    verify = Keys(service.parts.settings.keys_file).create("v", ["verify"])
    for key, kind in (("none", openai.AuthenticationError), (verify, openai.PermissionDeniedError)):
        with openai.OpenAI(base_url=f"{service.url}/v1", api_key=str(key), max_retries=0) as client:
            for ask in (
                lambda c: c.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}]),
                lambda c: c.responses.create(model="m", input="x"),
                lambda c: c.completions.create(model="m", prompt="x"),
                lambda c: c.embeddings.create(model="m", input="x"),
                lambda c: c.models.list(),
                lambda c: c.models.retrieve("m"),
            ):
                with pytest.raises(kind) as failed:
                    ask(client)  # type: ignore[no-untyped-call]  # a lambda of a client whose types are not read
                assert failed.value.type in ("authentication_error", "permission_error")


def test_elsewhere_errors_are_problem_documents(start: Start) -> None:
    """Outside of /v1 nothing speaks as OpenAI does."""
    told = start().get("/nothing").json()

    assert (told["status"], "error" in told) == (404, False)
